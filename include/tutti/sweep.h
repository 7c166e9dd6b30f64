#ifndef TUTTI_SWEEP_H
#define TUTTI_SWEEP_H

/* The fault sweep: a program is run once to find the points where a fault could act, and then again
 * for each of them with a fault there, first once, then from there on for ever. After each run it
 * is checked that the fault acted, that nothing hung or leaked, that ranks with a result have the
 * same one, that only the faulty rank is blamed, and that a fresh start without the fault ends as
 * before. Equal programs and options give the same cases in the same order. */

#include "tutti/emu.h"
#include "tutti/fault.h"
#include "tutti/script.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tutti_sweep_result {
    TUTTI_SWEEP_PASSED = 0,
    TUTTI_SWEEP_FAILED = 1,
    TUTTI_SWEEP_NOT_RUN = 2,  /* the reason says why not */
    TUTTI_SWEEP_EXCLUDED = 3, /* by the caller, for a reason that somebody has reviewed */
    TUTTI_SWEEP_RESULT_COUNT = 4,
} tutti_sweep_result;

/* The word for a result as reports use it ("not run"). */
const char *tutti_sweep_result_name(tutti_sweep_result result);

/* One fault of a sweep, and how its run went. */
typedef struct tutti_sweep_case {
    tutti_fault_point point;
    tutti_fault_kind action;
    int32_t rank;     /* where it acts; of a link: the source */
    int32_t peer;     /* a link's other end; -1: no link */
    uint64_t hit;     /* when the rank passes the point for the n-th time, from 1 */
    int32_t for_ever; /* 1: then, and every time after that; 0: then only */
    tutti_sweep_result result;
    tutti_verdict verdict; /* of its run; ok when there was none */
    const char *plan;      /* the fault plan that repeats it, one line */
    const char *reason;    /* why it failed, was not run, or is excluded; "" when it passed */
    const char *report;    /* the whole report of a run that failed, as text; else "" */
} tutti_sweep_case;

/* How a sweep went. Owned by the caller, freed as a whole by tutti_sweep_report_free(). */
typedef struct tutti_sweep_report {
    const tutti_sweep_case *cases; /* of this shard, by the step and the rank at which they act */
    uint64_t case_count;
    uint64_t passed_count;
    uint64_t failed_count; /* 1 at least if the run without a fault does not end well */
    uint64_t not_run_count;
    uint64_t excluded_count;
    uint64_t elsewhere_count; /* cases of other shards: not in the list */
    uint64_t point_count;     /* of the run: what a fault could act at, over all ranks */
    uint64_t run_count;       /* runs of the program, with and without a fault */
    const char *trouble; /* why the run without a fault does not end well, and its report; "" */
} tutti_sweep_report;

/* Says whether a run ended well, instead of the default. NULL: it did; else why not, a text that is
 * copied at once. `fault` has no result yet. Not asked about what is never well: a fault that did
 * not act, ranks with different results, a rank that did not come back, a fresh start that fails.
 */
typedef const char *tutti_sweep_judge(void *context, const tutti_sweep_case *fault,
                                      const tutti_report *report);

/* Says that a case is not to be run. NULL: it is; else the reviewed reason, which is copied. */
typedef const char *tutti_sweep_exclude(void *context, const tutti_sweep_case *fault);

/* Told after each case. Returns 0 to go on; otherwise the rest is not run. */
typedef int tutti_sweep_progress(void *context, const tutti_sweep_case *done, uint64_t done_count,
                                 uint64_t total_count);

enum {
    TUTTI_SWEEP_RUNS_DEFAULT = 20000,   /* runs with a fault */
    TUTTI_SWEEP_POINTS_MAX = 1 << 16,   /* that a run may pass, over all ranks */
    TUTTI_SWEEP_SHARDS_MAX = 1 << 16,   /* of one sweep */
    TUTTI_SWEEP_REPORTS_MAX = 32,       /* failed cases whose whole report is kept */
    TUTTI_SWEEP_TEXT_BYTES_MAX = 65536, /* of a report that is kept; the rest is cut */
};
#define TUTTI_SWEEP_DELAY_NS_DEFAULT INT64_C(10000000)

typedef struct tutti_sweep_options {
    uint32_t struct_size; /* sizeof(tutti_sweep_options) */
    uint32_t actions;     /* bits `1 << tutti_fault_kind`; 0: fail, refuse, kill, delay, hang and
                             drop. A drop is swept where others wait for what is lost */
    uint32_t points;      /* bits `1 << tutti_fault_point`; 0: all. Calls without a point of their
                             own are `step` */
    uint32_t once_only;   /* 1: no fault acts for ever */
    uint32_t no_fresh_start; /* 1: after a run with a fault, none without it is made */
    uint32_t shard_index;   /* 0 to shard_count - 1: the cases that are run, every shard_count-th */
    uint32_t shard_count;   /* 0: one */
    uint64_t run_count_max; /* runs with a fault; further cases are not run. 0:
                               TUTTI_SWEEP_RUNS_DEFAULT */
    int64_t delay_ns;       /* of a delay; 0: TUTTI_SWEEP_DELAY_NS_DEFAULT */
    tutti_status fail_status;      /* of a fail; ok: TUTTI_SYSTEM */
    const tutti_verdict *verdicts; /* how a run may end; NULL: see tutti_sweep_judge_default() */
    uint32_t verdict_count;
    tutti_sweep_judge *judge;       /* NULL: the default */
    tutti_sweep_exclude *exclude;   /* NULL: nothing is excluded */
    tutti_sweep_progress *progress; /* NULL */
    void *context;                  /* for the three */
} tutti_sweep_options;

/* Fills options with the defaults. */
void tutti_sweep_options_init(tutti_sweep_options *options);

/* The default: a run ends well with ok, or with a verdict that blames nobody but the faulty rank,
 * or the two ends of the faulty link. It never ends well with a wrong result (unless the fault was
 * to corrupt data), with a divergence, an unresponsive rank, or a leak. With `verdicts`, the
 * verdict must also be ok or one of them. Parameters: as tutti_sweep_judge's, options as context.
 */
const char *tutti_sweep_judge_default(const tutti_sweep_options *options,
                                      const tutti_sweep_case *fault, const tutti_report *report);

/* Sweeps a rehearsal: `rehearsal`, `function` and `argument` as for tutti_rehearse(). The rehearsal
 * may have faults of its own, which act in every run, and a random schedule; its trace is not
 * written. `options` may be NULL.
 * Memory:   *report_out is the caller's. A function whose calls fail must still return what it
 *           holds of the process: it is run many times.
 * Blocking: until all is run
 * Errors:   as tutti_rehearse(), about the run without a fault; TUTTI_INVALID_ARGUMENT (options; a
 *           parallel executor; choices; a run that passes more than TUTTI_SWEEP_POINTS_MAX points)
 */
tutti_status tutti_sweep(const tutti_rehearsal_options *rehearsal, tutti_rank_function *function,
                         void *argument, const tutti_sweep_options *options,
                         tutti_sweep_report **report_out, tutti_error *error);

/* The same for a script. Its run without a fault must end as the script says; so may all others.
 * `script_options` and `options` may be NULL.
 * Errors: as tutti_script_run() and tutti_sweep() */
tutti_status tutti_sweep_script(const tutti_script *script,
                                const tutti_script_options *script_options,
                                const tutti_sweep_options *options, tutti_sweep_report **report_out,
                                tutti_error *error);

/* Writes counts, what failed and how to repeat it, what was not run, what is excluded. NUL
 * terminated and cut at text_bytes. Returns the bytes that the whole text needs, without the NUL.
 */
size_t tutti_sweep_report_format(const tutti_sweep_report *report, char *text, size_t text_bytes);

/* Frees a report. NULL does nothing. */
void tutti_sweep_report_free(tutti_sweep_report *report);

#ifdef __cplusplus
}
#endif

#endif
