#ifndef TUTTI_EMU_ENGINE_H
#define TUTTI_EMU_ENGINE_H

/* The engine: the emulated cluster as a pure state machine. It starts no thread, takes no lock,
 * reads no clock, draws no random number and does no I/O. An executor tells it "host h issues this
 * call", carries out the effects that become due, moves its clock, and asks who may go on.
 *
 * Words: a *host* is a thread of control that makes calls, a rank of the program. A *device* has
 * memory and streams; usually host r drives device r. An *effect* is data to be moved. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/emu/choices.h"
#include "drivers/emu/steps.h"
#include "tutti/emu.h"
#include "tutti/fault.h"

typedef struct emu_engine emu_engine;
typedef struct emu_device emu_device;
typedef struct emu_stream emu_stream;
typedef struct emu_event emu_event;
typedef struct emu_comm emu_comm;
typedef struct emu_effect emu_effect;

/* Somebody who watches a run. All NULL: nobody. */
typedef struct emu_watch {
    /* A fault could act here; the plan is asked next. */
    void (*fault_site)(void *context, const tutti_fault_site *site);

    /* A rank's part of a collective is over, and well. `subject` is the collective: the same number
     * on all ranks, another for other collectives; `hash` is of what the rank has got. */
    void (*result)(void *context, uint64_t subject, int32_t rank, uint64_t hash);
    void *context; /* for both */
} emu_watch;

/* Told that the program must not touch some memory of a device from now on, or that it may again.
 */
typedef void emu_memory_guard(const void *data, size_t bytes, bool closed);

/* How a cluster is built. All durations in nanoseconds on the engine's clock. */
typedef struct emu_config {
    uint32_t host_count;
    uint32_t device_count;
    const uint32_t *host_devices; /* the device of each host, borrowed; NULL: host h has device h */
    uint32_t capacity;            /* collectives a device runs at once; 0: unlimited */
    bool first_use_blocks;
    bool tolerate_group_order;
    bool races_off;    /* nobody looks for races and undefined contents: for measurements */
    bool ignore_leaks; /* the end of the program gives back whatever is left, but for joins
                          that nobody has waited for */
    bool failed_calls_are_findings; /* scripts: nobody handles a refused call */
    bool examine_at_once;           /* real time: report a mismatch when it is complete, since
                                       nothing says when nothing can move any more */
    int64_t wait_timeout_ns;        /* of every blocking wait; 0: none */
    const tutti_fault_plan *faults; /* borrowed; NULL: none */
    uint64_t seed;                  /* of the plan's probabilities */
    emu_choices *choices;           /* answers what could go either way, borrowed; NULL: every
                                       answer is 0 */
    emu_memory_guard *memory_guard; /* NULL: nobody is told */
    emu_step_log *steps;            /* gets what depends on what, borrowed; NULL: nobody asks */
    tutti_trace_sink *trace_sink;   /* NULL: only the hash is kept */
    void *trace_context;
    emu_watch watch;
} emu_config;

typedef enum emu_call_kind {
    EMU_CALL_MINT,
    EMU_CALL_JOIN,
    EMU_CALL_LEAVE,
    EMU_CALL_ABORT,
    EMU_CALL_COMM_STATUS,
    EMU_CALL_COMM_SYNC,
    EMU_CALL_DATA_TYPE,
    EMU_CALL_ALLOCATE,
    EMU_CALL_FREE,
    EMU_CALL_COPY,
    EMU_CALL_FILL,
    EMU_CALL_KERNEL,
    EMU_CALL_STREAM_CREATE,
    EMU_CALL_STREAM_DESTROY,
    EMU_CALL_STREAM_SYNC,
    EMU_CALL_STREAM_QUERY,
    EMU_CALL_EVENT_CREATE,
    EMU_CALL_EVENT_DESTROY,
    EMU_CALL_EVENT_RECORD,
    EMU_CALL_EVENT_WAIT,
    EMU_CALL_EVENT_SYNC,
    EMU_CALL_EVENT_QUERY,
    EMU_CALL_ALL_REDUCE,
    EMU_CALL_SEND,
    EMU_CALL_RECV,
    EMU_CALL_GROUP_START,
    EMU_CALL_GROUP_END,
    EMU_CALL_SLEEP,
    EMU_CALL_HOST_ACCESS, /* the host reads or writes a buffer directly */
    EMU_CALL_WRONG,       /* the program found a result that is not what it should be */
    EMU_CALL_REFUSED,     /* a call was refused before it got here: error says why */
    EMU_CALL_EXIT,        /* the host's program is over */
    EMU_CALL_KIND_COUNT,
} emu_call_kind;

/* What a kernel does. */
typedef struct emu_kernel {
    tutti_host_function *function; /* NULL: nothing */
    void *argument;
    const tutti_buffer *reads;
    size_t read_count;
    const tutti_buffer *writes;
    size_t write_count;
} emu_kernel;

/* One call of a host, with its arguments and, when it is over, its results. Lives until the call
 * is over: a blocked call is kept by the engine. The fields that a kind uses stand beside it. */
typedef struct emu_call {
    emu_call_kind kind;
    tutti_place place;
    tutti_error *error; /* gets rank and message of a failure; NULL: the status is enough */

    emu_device *device;       /* mint: none; join, allocate, free, data_type, *_create */
    emu_comm *comm;           /* leave, abort, comm_*, all_reduce, send, recv */
    emu_stream *stream;       /* whatever is enqueued, stream_*, event_record, event_wait */
    emu_event *event;         /* event_* */
    tutti_buffer source;      /* all_reduce, send, copy; data may be host memory for copy */
    tutti_buffer destination; /* all_reduce, recv, copy, fill, free, host_access, wrong */
    tutti_data_type data_type;
    size_t count;                            /* elements; allocate: bytes; fill: the byte's value */
    tutti_reduce_op op;                      /* all_reduce */
    int32_t peer;                            /* send, recv; join: the rank */
    int32_t rank_count;                      /* join */
    bool non_blocking;                       /* join */
    bool writes;                             /* host_access; allocate: its contents are defined */
    uint8_t dropped;                         /* set by the engine: a collective of zero elements */
    int64_t duration_ns;                     /* sleep, kernel; join: its own time limit or 0 */
    tutti_communication_id communication_id; /* mint */
    const tutti_unique_id *id;               /* join */
    const char *name;                        /* join: of the group; stream_create; allocate: of
                                                the buffer; wrong: the text; a literal or interned;
                                                NULL */
    const uint32_t *member_hosts; /* join: the host of each rank, for reports; NULL: unknown */
    const emu_kernel *kernel;     /* kernel, borrowed for the call; NULL: takes time only */
    const tutti_error *refusal;   /* refused: borrowed for the call */

    /* results */
    tutti_status status;
    tutti_unique_id *id_out;  /* mint: where the identifier goes */
    tutti_buffer buffer_out;  /* allocate */
    tutti_status status_out;  /* comm_status */
    int done_out;             /* *_query */
    bool polled;              /* the call looked at something that is not ready yet */
    bool faults_applied;      /* engine: the fault plan has had its say */
    tutti_fault_action fault; /* engine: what it does to what the call enqueues, or how long it
                                 makes it; off, and a factor of 0: nothing */
} emu_call;

typedef enum emu_outcome {
    EMU_DONE,    /* the call is over, its results are set */
    EMU_BLOCKED, /* the engine keeps the call; the host is named by emu_engine_take_woken later */
} emu_outcome;

/* What has to be done to data. Filled by the engine, carried out by emu_effect_perform. */
typedef enum emu_effect_kind {
    EMU_EFFECT_REDUCE,
    EMU_EFFECT_COPY,
    EMU_EFFECT_FILL,
    EMU_EFFECT_FUNCTION,
} emu_effect_kind;

struct emu_effect {
    emu_effect *next; /* engine: the queue of due effects */
    void *subject;    /* engine: what is complete when this is done */
    emu_effect_kind kind;
    uint8_t fill_value;
    uint32_t host;                   /* function: whose it is */
    tutti_element_type element_type; /* reduce */
    tutti_reduce_op op;              /* reduce */
    size_t count;                    /* reduce: elements; copy, fill: bytes */
    size_t rank_count;               /* reduce: entries of the two lists */
    const void *const *sources;      /* reduce: by rank; copy: one */
    void *const *destinations;       /* reduce: by rank; copy, fill: one */
    const void *source;              /* copy */
    void *destination;               /* copy, fill */
    tutti_host_function *function;   /* function */
    void *argument;
};

/* Creates a cluster: hosts running, devices empty, clock at 0.
 * Errors: TUTTI_OUT_OF_MEMORY, TUTTI_INVALID_ARGUMENT */
tutti_status emu_engine_create(const emu_config *config, tutti_driver *driver,
                               emu_engine **engine_out, tutti_error *error);

/* Frees everything, device memory too. NULL does nothing. */
void emu_engine_destroy(emu_engine *engine);

/* The device with the given index; asserts index < device_count. */
emu_device *emu_engine_device(emu_engine *engine, uint32_t index);

/* The device that a host uses first. */
emu_device *emu_engine_host_device(emu_engine *engine, uint32_t host);

/* Adds a host to a running cluster (threads of the caller that show up); its index.
 * Errors: UINT32_MAX when memory is out. */
uint32_t emu_engine_add_host(emu_engine *engine);

/* A copy of a name that lives as long as the engine; equal names give equal pointers. NULL stays
 * NULL, and when memory is out. */
const char *emu_engine_intern(emu_engine *engine, const char *name);

/* Whether such a call only looks: made again and again, nothing happens. */
bool emu_call_is_look(emu_call_kind kind);

/* Host `host` issues a call. It must be running: not blocked, not exited. */
emu_outcome emu_engine_issue(emu_engine *engine, uint32_t host, emu_call *call);

/* Takes the next effect that is due; NULL when there is none. It must be carried out and then
 * reported; until then what depends on it waits. Several may be out at once. */
emu_effect *emu_engine_take_effect(emu_engine *engine);
void emu_effect_perform(const emu_effect *effect);
void emu_engine_effect_done(emu_engine *engine, emu_effect *effect);

/* Takes the next host whose blocked call is over; -1 when there is none. In a fixed order. */
int32_t emu_engine_take_woken(emu_engine *engine);

/* The clock. The next timer's time goes to *when_ns_out; false when none is pending. Advancing
 * fires every timer that is due; time never goes back. */
int64_t emu_engine_now(const emu_engine *engine);
bool emu_engine_next_timer(emu_engine *engine, int64_t *when_ns_out);
void emu_engine_advance(emu_engine *engine, int64_t now_ns);

/* Asks the chooser: 0 to answer_count - 1, which is at least 1. */
uint32_t emu_engine_choose(emu_engine *engine, emu_choice_kind kind, uint32_t answer_count);

/* A run did not do what the given choices say: the program is not the one that they were recorded
 * from, or it depends on something that is not chosen here. Adds the finding. */
void emu_engine_diverged(emu_engine *engine, uint32_t host, const char *text);

/* Counts everything that has moved; for pollers, to see whether looking again is worth it. */
uint64_t emu_engine_progress(const emu_engine *engine);

/* No host can run and no effect is due: compares what can be compared (parts that do not agree,
 * joins that contradict each other). To be called before the clock is moved.
 * Returns true when that moved something. */
bool emu_engine_examine(emu_engine *engine);

/* No host can run, no effect is due and no timer is pending, or all hosts have exited: if anything
 * is unfinished, finds out why, reports it and lets whoever is blocked go on with an error.
 * `pollers_are_stuck`: hosts that only look again and again count as blocked.
 * Returns true when that moved something; false: there is nothing left to do. */
bool emu_engine_settle(emu_engine *engine, bool pollers_are_stuck);

/* The real-time watchdog speaks: host `host` has not come back from its own code. Adds the finding
 * and marks the engine as given up: every blocked call is over with TUTTI_UNRESPONSIVE. */
void emu_engine_unresponsive(emu_engine *engine, uint32_t host, int64_t limit_ns);

/* The host's program has returned: its own memory may be gone. It exits next. */
void emu_engine_host_ends(emu_engine *engine, uint32_t host);

bool emu_engine_host_exited(const emu_engine *engine, uint32_t host);

/* Whether the host was killed by a fault (all its calls fail). */
bool emu_engine_host_killed(const emu_engine *engine, uint32_t host);

/* What the report is made of beside the engine's own state. */
typedef struct emu_report_extra {
    const char *choices; /* borrowed for the call */
    const char *name;    /* of the program, borrowed for the call; NULL */
    const char *repeat;  /* borrowed for the call; NULL */
    int64_t real_ns;
} emu_report_extra;

/* Makes the report of a run that is over: one allocation, freed by tutti_report_free().
 * Errors: TUTTI_OUT_OF_MEMORY */
tutti_status emu_report_create(emu_engine *engine, const emu_report_extra *extra,
                               tutti_report **report_out, tutti_error *error);

/* --- The bases of the handles, cast back --- */

tutti_device *emu_device_base(emu_device *device);
tutti_stream *emu_stream_base(emu_stream *stream);
tutti_event *emu_event_base(emu_event *event);
tutti_comm *emu_comm_base(emu_comm *comm);
emu_device *emu_device_of(tutti_device *device);
emu_stream *emu_stream_of(tutti_stream *stream);
emu_event *emu_event_of(tutti_event *event);
emu_comm *emu_comm_of(tutti_comm *comm);
emu_engine *emu_device_engine(const emu_device *device);

/* The allocation that holds an address, on whatever device.
 * Returns false when there is none. */
bool emu_engine_memory_owner(emu_engine *engine, const void *address, emu_device **device_out,
                             tutti_buffer *allocation_out);

#endif
