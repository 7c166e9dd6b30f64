#ifndef TUTTI_EMU_SWEEP_H
#define TUTTI_EMU_SWEEP_H

/* What the parts of a fault sweep share: the points of a run (sweep_points.c), the cases made of
 * them (sweep_cases.c), what is checked after a run (sweep_checks.c), and the runs (sweep.c). */

#include "drivers/emu/arena.h"
#include "drivers/emu/engine.h"
#include "tutti/sweep.h"

/* --- Points --- */

/* A fault could act here. */
typedef struct emu_sweep_point {
    uint64_t step;  /* of the rank's calls, the one that passes it, from 1 */
    uint64_t hit;   /* the rule that names the point fits here for the n-th time, from 1 */
    uint32_t found; /* its place among all that were found */
    int32_t rank;
    int32_t peer; /* of a link; -1 */
    tutti_fault_point point;
} emu_sweep_point;

typedef struct emu_sweep_points {
    emu_sweep_point *points;
    uint32_t count, room;
    uint64_t step; /* of the call that was seen last */
    bool too_many;
    bool out_of_memory;
} emu_sweep_points;

/* Notes a point; an emu_watch's fault_site, with the points as its context. */
void emu_sweep_points_see(emu_sweep_points *points, const tutti_fault_site *site);

/* Numbers the points and puts them into the order in which they are swept. */
void emu_sweep_points_finish(emu_sweep_points *points);

void emu_sweep_points_free(emu_sweep_points *points);

/* --- Results of collectives --- */

/* What the first rank has got of a collective. */
typedef struct emu_sweep_result {
    uint64_t subject; /* 0: the slot is free */
    uint64_t hash;
    int32_t rank;
} emu_sweep_result;

typedef struct emu_sweep_results {
    emu_sweep_result *slots; /* open addressing; a power of two */
    uint32_t count, room;
    bool differ;      /* two ranks have different results of one collective: */
    int32_t ranks[2]; /* these */
    bool out_of_memory;
} emu_sweep_results;

void emu_sweep_results_see(emu_sweep_results *results, uint64_t subject, int32_t rank,
                           uint64_t hash);
void emu_sweep_results_clear(emu_sweep_results *results);
void emu_sweep_results_free(emu_sweep_results *results);

/* --- The sweep --- */

/* What is run. */
typedef struct emu_sweep_program {
    const tutti_rehearsal_options *rehearsal; /* complete; NULL: a script */
    tutti_rank_function *function;
    void *argument;
    const tutti_script *script; /* NULL: a function */
    const tutti_script_options *script_options;
    const char *base_faults; /* that act in every run; "" */
} emu_sweep_program;

typedef struct emu_sweep_report {
    tutti_sweep_report base; /* first */
    emu_arena arena;         /* holds all that the report points to */
} emu_sweep_report;

typedef struct emu_sweep {
    emu_sweep_program program;
    tutti_sweep_options options; /* complete */
    emu_sweep_points points;
    emu_sweep_results results;
    tutti_sweep_case *cases; /* of this shard, in the report's arena */
    uint32_t case_count;
    uint64_t fault_run_count; /* runs with a fault, so far */
    bool stopped;             /* by the caller */
    uint32_t reports_kept;
    uint32_t rule;              /* number of the rule that a case adds, in reports: from 1 */
    tutti_verdict base_verdict; /* of the run without a fault */
    uint64_t base_hash;
    emu_sweep_report *report;
} emu_sweep;

/* Makes the cases of this shard. False when memory is out. */
bool emu_sweep_make_cases(emu_sweep *sweep);

/* Whether the run without a fault ends as it should. */
bool emu_sweep_base_is_well(const emu_sweep *sweep, const tutti_report *report);

/* Whether the fault of the case has acted. */
bool emu_sweep_fault_acted(const emu_sweep *sweep, const tutti_report *report);

/* Why a run with a fault did not end well; NULL when it did. `text` may hold it. */
const char *emu_sweep_check(const emu_sweep *sweep, const tutti_sweep_case *fault,
                            const tutti_report *report, char *text, size_t text_bytes);

#endif
