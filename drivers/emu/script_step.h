#ifndef TUTTI_EMU_SCRIPT_STEP_H
#define TUTTI_EMU_SCRIPT_STEP_H

/* A rank's way through a script, one call at a time. It knows no executor: whoever drives it asks
 * for the next call, sees it through, and reports that it is over. */

#include "drivers/emu/engine.h"
#include "drivers/emu/script.h"

/* Statements that all ranks of one run may carry out together: repeats are not endless. */
#define EMU_SCRIPT_STEPS_MAX (UINT64_C(1) << 26)

/* What all ranks of a run share. */
typedef struct emu_script_run {
    const emu_script *script;
    emu_engine *engine;
    const uint32_t **member_hosts; /* by group: the world rank of each of its ranks */
    const char **group_names;      /* interned */
    tutti_unique_id *ids;          /* by group, once minted */
    tutti_error refusal;           /* why the call under way is refused before the engine sees it */
    uint64_t step_count;           /* statements that were begun */
    bool exhausted;                /* the limit was reached, and said so */
} emu_script_run;

/* Where one rank stands. Its handles lie in one block of its own. */
typedef struct emu_script_rank {
    emu_script_run *run;
    int32_t rank;
    uint32_t section;     /* index; section_count: the program is over */
    uint32_t statement;   /* index */
    uint32_t step;        /* of the statement: calls of it that are over */
    uint32_t group_depth; /* open group calls */
    uint32_t next_buffer; /* name whose buffer is still to be allocated */
    bool ended;           /* exit, killed, or at the end */
    bool minted;          /* the identifier of the statement's group */
    uint32_t *counters;   /* by nesting: rounds of a repeat that are left */
    void **buffers;       /* by name: data; NULL: none */
    emu_comm **comms;     /* by group */
    bool *given_up;       /* by group: left or aborted */
    bool *tried;          /* by group: a join was made, and may have failed */
    emu_stream **streams; /* by name; NULL: not yet */
    emu_event **events;   /* by name */
    emu_kernel *kernel;   /* of the kernel under way, followed by what it touches; NULL */
    uint32_t kernel_room; /* buffers behind it */
} emu_script_rank;

/* Errors: TUTTI_OUT_OF_MEMORY; nothing is left to free. */
tutti_status emu_script_run_init(emu_script_run *run, const emu_script *script, emu_engine *engine,
                                 tutti_error *error);
void emu_script_run_free(emu_script_run *run);

/* False when memory is out. */
bool emu_script_rank_init(emu_script_rank *rank, emu_script_run *run, int32_t number);
void emu_script_rank_free(emu_script_rank *rank);

/* Fills the rank's next call. The last one is EMU_CALL_EXIT. */
void emu_script_next_call(emu_script_rank *rank, emu_call *call);

/* The call is over: takes its results, and goes on. */
void emu_script_call_done(emu_script_rank *rank, const emu_call *call);

#endif
