#ifndef TUTTI_EMU_H
#define TUTTI_EMU_H

/* The emulated cluster: a program for N ranks is rehearsed on one machine, without a GPU, and ends
 * with a report. A rank is a C function; it uses the ordinary operations (tutti/operations.h) on
 * the emulated devices. Late ranks, refused joins, killed ranks are data: a fault plan
 * (tutti/fault.h). Nothing here can hang: a program that is stuck is diagnosed instead, every
 * blocked call returns with an error, and the report names rank, call and cause. */

#include "tutti/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Findings and the report --- */

/* What a rehearsal can end with, and the kinds of findings. Values are ABI. */
typedef enum tutti_verdict {
    TUTTI_VERDICT_OK = 0,
    TUTTI_VERDICT_MISMATCH = 1,      /* parts of one operation do not agree */
    TUTTI_VERDICT_MISSING = 2,       /* a rank never made its part */
    TUTTI_VERDICT_DEADLOCK = 3,      /* ranks wait for each other in a cycle */
    TUTTI_VERDICT_REFUSED = 4,       /* a call was declined */
    TUTTI_VERDICT_TIMEOUT = 5,       /* a time limit passed */
    TUTTI_VERDICT_RACE = 6,          /* accesses to memory that nothing orders */
    TUTTI_VERDICT_OVERLAP = 7,       /* source and destination overlap, not in place */
    TUTTI_VERDICT_FREED = 8,         /* memory is used that is, or may be, freed */
    TUTTI_VERDICT_UNDEFINED = 9,     /* bytes are read that have no defined contents */
    TUTTI_VERDICT_MISUSE = 10,       /* a call that the contract does not allow */
    TUTTI_VERDICT_LEAK = 11,         /* a rank that has ended left something behind */
    TUTTI_VERDICT_KILLED = 12,       /* a rank was killed */
    TUTTI_VERDICT_WRONG = 13,        /* a result is not what was expected */
    TUTTI_VERDICT_DIVERGENCE = 14,   /* a run did not repeat another */
    TUTTI_VERDICT_UNRESPONSIVE = 15, /* a rank did not come back in real time */
    TUTTI_VERDICT_COUNT = 16,
} tutti_verdict;

/* The word for a verdict as scripts and reports use it ("mismatch"). */
const char *tutti_verdict_name(tutti_verdict verdict);

/* One thing that a run has shown. */
typedef struct tutti_finding {
    tutti_verdict kind;
    int32_t is_note;      /* 1: worth knowing, not a failure */
    int32_t follows;      /* index of the finding that this one follows from; -1: a root */
    const char *detail;   /* of mismatch: "count", "type", "op", "order", ...; else "" */
    const int32_t *ranks; /* to blame, ascending */
    uint32_t rank_count;
    const char *text; /* who, which call, where, why, and what to change; several lines */
} tutti_finding;

/* Where one rank stood when the run ended or could not go on. */
typedef struct tutti_rank_line {
    int32_t rank;
    const char *text; /* call, communicator, operation number, stream, count, type, op, place,
                         and what it waits for */
} tutti_rank_line;

/* How a rehearsal went. Owned by the caller, freed as a whole by tutti_report_free(). All
 * fields but `repeat` and `real_ns` are the same in every run of the same program, input and
 * choices. */
typedef struct tutti_report {
    tutti_verdict verdict;   /* the kind of the root finding */
    const int32_t *culprits; /* the root finding's ranks, ascending */
    uint32_t culprit_count;
    const tutti_finding *findings; /* root first */
    uint32_t finding_count;
    const tutti_rank_line *ranks;
    uint32_t rank_count;
    const char *faults_unfired; /* rules of the fault plan that never acted, a line each; "" */
    const char *choices;        /* the schedule, "" for the plain one */
    uint64_t trace_hash;        /* of all events of the run */
    uint64_t event_count;       /* events in the trace */
    uint64_t call_count;        /* calls that the ranks made */
    int64_t virtual_ns;         /* on the cluster's clock */
    const char *name;           /* of the program, if the caller gave one; "" */
    const char *repeat;         /* the command that repeats the run, if the caller gave one; "" */
    int64_t real_ns;            /* wall time that the run took; differs from run to run */
    uint32_t findings_dropped;  /* further findings, which were not kept: there are too many */
} tutti_report;

/* Writes the report as text for a person: verdict, findings, a line per rank, how to repeat it. NUL
 * terminated and cut at text_bytes. Returns the bytes that the whole text needs, without the NUL.
 */
size_t tutti_report_format(const tutti_report *report, char *text, size_t text_bytes);

/* Frees a report. NULL does nothing. */
void tutti_report_free(tutti_report *report);

/* --- Rehearsals --- */

typedef enum tutti_executor {
    TUTTI_EXECUTOR_THREADS = 0,  /* one rank at a time, virtual time, deterministic */
    TUTTI_EXECUTOR_PARALLEL = 1, /* all ranks at once, real time */
    /* As on threads, the same traces, but all ranks are fibers of one thread: many times more
     * schedules, and thousands of ranks. Ranks then share thread-local variables and the thread's
     * identity (errno, and exceptions that are being handled, are kept apart), and a mutex that is
     * held across a call deadlocks, which the watchdog reports. When one rank does not come back,
     * all are left behind with it, and end after it: `argument` must live as long. */
    TUTTI_EXECUTOR_FIBERS = 2,
} tutti_executor;

/* Takes a piece of the trace: whole lines of JSON, in order. */
typedef void tutti_trace_sink(void *context, const char *text, size_t text_bytes);

typedef struct tutti_rehearsal_options {
    uint32_t struct_size;    /* sizeof(tutti_rehearsal_options) */
    uint32_t rank_count;     /* ranks, each a thread of control; 1 to TUTTI_RANKS_MAX */
    uint32_t device_count;   /* 0: one per rank; otherwise rank r drives devices r, r + rank_count,
                                r + 2 * rank_count, ... */
    uint32_t capacity;       /* collectives that a device can run at once; 0: unlimited */
    tutti_executor executor; /* how ranks run */
    uint32_t first_use_blocks;     /* 1: the first operation with a peer blocks until it comes */
    uint32_t tolerate_group_order; /* 1: the order of collectives in a group call is free */
    uint32_t random_schedule;      /* 1: draw the schedule from seed; 0: the plain schedule */
    uint64_t seed;                 /* of random schedules and of a fault plan's probabilities */
    int64_t wait_timeout_ns;       /* of every blocking wait, on the cluster's clock; 0: none */
    int64_t unresponsive_ns;       /* real time after which a rank that never comes back is named;
                                      0: TUTTI_UNRESPONSIVE_NS_DEFAULT */
    size_t stack_bytes;            /* of a rank's thread; 0: TUTTI_STACK_BYTES_DEFAULT */
    const char *faults;            /* a fault plan; NULL: what TUTTI_FAULTS holds, if anything */
    const char *name;              /* of the program, for the report; NULL */
    const char *repeat;            /* command that repeats the run, printed by the report; NULL */
    tutti_trace_sink *trace_sink;  /* gets the trace as JSON lines; NULL: only its hash is kept */
    void *trace_context;           /* for trace_sink */
    const char *choices;           /* the schedule, as an earlier report's `choices` has it; NULL:
                                      what TUTTI_CHOICES holds, if anything, on the plain one. A run
                                      that asks something else than they answer ends with the
                                      verdict divergence */
    uint32_t ignore_leaks;         /* 1: ranks may end without giving back what they have */
    /* Where a rehearsal that does not end with verdict ok leaves its report folder (see
     * tutti/report_folder.h), which replaces the one that an earlier run has left there. NULL: in
     * the folder that TUTTI_REPORT_FOLDER names, under the name, if that is set; "": nowhere. Of a
     * cluster (tutti_cluster_create) there is none. */
    const char *report_folder;
} tutti_rehearsal_options;

enum {
    TUTTI_RANKS_MAX = 1 << 20, /* of a cluster; a rehearsal on threads ends much earlier */
    TUTTI_DEVICES_PER_RUN_MAX = 1 << 20,
    TUTTI_CHOICE_ANSWERS_MAX = 1 << 20,
    TUTTI_STACK_BYTES_DEFAULT = 128 * 1024,
};
#define TUTTI_UNRESPONSIVE_NS_DEFAULT INT64_C(20000000000)

/* One rank of a running rehearsal, given to its function. Belongs to the rehearsal. */
typedef struct tutti_rank tutti_rank;

/* What a rank does. Runs on a thread of its own (small stack: no large local arrays). When a call
 * returns TUTTI_KILLED the rank is dead and every later call says so too: return. A function that
 * goes on calling all the same is left after a thousand such calls by longjmp: what it holds is not
 * given back, and C++ destructors do not run. */
typedef void tutti_rank_function(tutti_rank *self, void *argument);

/* Fills options with the defaults: the plain schedule, no faults but TUTTI_FAULTS, no limit. */
void tutti_rehearsal_options_init(tutti_rehearsal_options *options, uint32_t rank_count);

/* Runs `function` on every rank of a new emulated cluster and tells how it went.
 * Memory:   options and what they point to are only read; *report_out is the caller's
 * Threads:  rehearsals are independent; several may run at once
 * Blocking: until all ranks have returned. It cannot hang: a program that is stuck is diagnosed,
 *           and a rank that does not come back is named after unresponsive_ns and left behind.
 * Errors:   TUTTI_INVALID_ARGUMENT, TUTTI_SYNTAX (the fault plan), TUTTI_OUT_OF_MEMORY,
 *           TUTTI_SYSTEM (no more threads),
 *           TUTTI_MISUSE (something else stands where the report folder is to be): nothing ran.
 *           A report folder that cannot be written is an error, too, and the only one with which
 *           *report_out is set. A program that fails is not an error of this call: its report says
 *           so. */
tutti_status tutti_rehearse(const tutti_rehearsal_options *options, tutti_rank_function *function,
                            void *argument, tutti_report **report_out, tutti_error *error);

/* The rank's number, 0 to rank_count - 1. */
int32_t tutti_rank_index(const tutti_rank *self);

/* How many ranks the rehearsal has. */
int32_t tutti_rank_count(const tutti_rank *self);

/* The cluster's driver. */
tutti_driver *tutti_rank_driver(const tutti_rank *self);

/* The rank's (first) device. */
tutti_device *tutti_rank_device(const tutti_rank *self);

/* The communication id of the group of all ranks, for tutti_group_id(). */
tutti_communication_id tutti_rank_world_id(const tutti_rank *self);

/* Mints or looks up the identifier of the group of all ranks and joins it as this rank.
 * Blocking, errors: as tutti_group_id() and tutti_join(); after TUTTI_REFUSED it may be tried again
 */
tutti_status tutti_rank_join_world(tutti_rank *self, const tutti_join_options *options,
                                   tutti_comm **comm_out, tutti_error *error);

/* Lets time pass on the cluster's clock. In a rehearsal this takes no real time.
 * Errors: TUTTI_INVALID_ARGUMENT for a negative duration, TUTTI_KILLED */
tutti_status tutti_rank_sleep(tutti_rank *self, int64_t duration_ns, tutti_error *error);

/* A value of the program's own input, 0 to answer_count - 1, as the schedule has it: 0 on the plain
 * one, drawn on a random one, every one in an exhaustive exploration. So a program can let what it
 * does be chosen, and the choice is repeated with the run.
 * Errors: 0 when answer_count is 0 or more than TUTTI_CHOICE_ANSWERS_MAX, or where time is real. */
uint32_t tutti_rank_choose(tutti_rank *self, uint32_t answer_count);

/* The time on the cluster's clock since the start, in nanoseconds. */
int64_t tutti_rank_now(tutti_rank *self);

/* Reports a result that is not what it should be: a finding of kind wrong, blamed on this rank.
 * Units: text is printf's format */
void tutti_rank_wrong(tutti_rank *self, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* --- A cluster for the caller's own threads (parallel executor) --- */

/* An emulated cluster whose devices any thread of the caller may use, in real time. */
typedef struct tutti_cluster tutti_cluster;

/* Creates a cluster. options->rank_count is the number of devices unless device_count says
 * otherwise; options->executor is ignored. A wait_timeout_ns of 0 means
 * TUTTI_UNRESPONSIVE_NS_DEFAULT here, since nobody can know which threads are still to come.
 * Errors: as tutti_rehearse */
tutti_status tutti_cluster_create(const tutti_rehearsal_options *options,
                                  tutti_cluster **cluster_out, tutti_error *error);

/* The cluster's driver, for tutti_device_open() and tutti_group_id(). */
tutti_driver *tutti_cluster_driver(tutti_cluster *cluster);

/* The report so far. No call may be in progress.
 * Errors: TUTTI_OUT_OF_MEMORY */
tutti_status tutti_cluster_report(tutti_cluster *cluster, tutti_report **report_out,
                                  tutti_error *error);

/* Gives everything back. No thread may be inside a call, hold a handle, or be just ending after it
 * used the cluster: join such threads before. NULL does nothing. */
void tutti_cluster_destroy(tutti_cluster *cluster);

#ifdef __cplusplus
}
#endif

#define tutti_rank_join_world(...)                                                                 \
    (tutti_place_note(__FILE__, __LINE__), (tutti_rank_join_world)(__VA_ARGS__))
#define tutti_rank_sleep(...)                                                                      \
    (tutti_place_note(__FILE__, __LINE__), (tutti_rank_sleep)(__VA_ARGS__))
#define tutti_rank_wrong(...)                                                                      \
    (tutti_place_note(__FILE__, __LINE__), (tutti_rank_wrong)(__VA_ARGS__))

#endif
