#ifndef TUTTI_EMU_REHEARSAL_H
#define TUTTI_EMU_REHEARSAL_H

/* A rehearsal as its executors get it: everything checked, every default filled in. */

#include "drivers/emu/choices.h"
#include "drivers/emu/cluster.h"
#include "drivers/emu/fibers.h"
#include "drivers/emu/steps.h"
#include "drivers/emu/thread_pool.h"

struct emu_rehearsal {
    tutti_rehearsal_options options; /* complete; what it points to is borrowed */
    tutti_rank_function *function;
    void *argument;
    const emu_config *engine_config; /* of the engine, on threads; NULL: what the options say */
    emu_choices *choices;            /* answers what could go either way; borrowed */
    emu_step_log *steps;             /* NULL: nobody asks; borrowed */
    const emu_watch *watch;          /* NULL: nobody watches; borrowed */
};

/* As tutti_rehearse(), watched; watch may be NULL. */
tutti_status emu_rehearse_watched(const tutti_rehearsal_options *options,
                                  tutti_rank_function *function, void *argument,
                                  const emu_watch *watch, tutti_report **report_out,
                                  tutti_error *error);

/* The options of a call in full, checked. `ranks_are_hosts`: each rank runs on a thread of ours,
 * has a device, and there is an executor; otherwise rank_count only counts devices. Errors:
 * TUTTI_INVALID_ARGUMENT; *full_out is then untouched */
tutti_status emu_options_complete(const tutti_rehearsal_options *options, bool ranks_are_hosts,
                                  tutti_rehearsal_options *full_out, tutti_error *error);

/* Real time since some moment, in nanoseconds; for limits and for the report, never for results. */
int64_t emu_real_now(void);

/* How long all ranks of a run that was given up may take to end, together. */
int64_t emu_let_go_budget(int64_t limit_ns);

/* Runs a rehearsal that is set up, on a pool of its own.
 * Errors: as tutti_rehearse */
tutti_status emu_rehearse(const emu_rehearsal *rehearsal, tutti_report **report_out,
                          tutti_error *error);

/* Each runs a rehearsal on threads of the pool, which has none to do. When it returns, the pool can
 * be used again.
 * Errors: as tutti_rehearse; nothing ran */
tutti_status emu_rehearse_on_threads(const emu_rehearsal *rehearsal, emu_thread_pool *pool,
                                     tutti_report **report_out, tutti_error *error);
/* On fibers, which are made when *fibers is NULL and kept for the next run; *fibers is NULL again
 * when a run had to be given up. The pool gives one thread. */
tutti_status emu_rehearse_on_fibers(const emu_rehearsal *rehearsal, emu_thread_pool *pool,
                                    emu_fiber_set **fibers, tutti_report **report_out,
                                    tutti_error *error);
tutti_status emu_rehearse_in_parallel(const emu_rehearsal *rehearsal, emu_thread_pool *pool,
                                      tutti_report **report_out, tutti_error *error);

#endif
