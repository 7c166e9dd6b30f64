#include "drivers/emu/script_run.h"

#include <stdlib.h>

#include "drivers/emu/cluster.h"
#include "drivers/emu/rehearsal.h"

/* A script on a thread per rank: the same calls as the script executor makes, seen through by the
 * rehearsal on threads. That both give one trace is a test of either. */

typedef struct emu_thread_script {
    const emu_script *script;
    emu_script_run shared; /* set up by whichever rank comes first */
    bool ready;
    bool failed;
    tutti_error failure; /* why it could not be set up */
} emu_thread_script;

/* One rank runs at a time, and only between enter and leave may it touch what all share. */
static bool emu_thread_enter(emu_cluster *cluster) {
    return cluster->executor->enter(cluster);
}

static void emu_thread_leave(emu_cluster *cluster) {
    cluster->executor->leave(cluster);
}

static bool emu_thread_script_prepare(emu_thread_script *run, emu_engine *engine,
                                      emu_script_rank *rank, int32_t number) {
    if (!run->ready && !run->failed) {
        run->failed =
            emu_script_run_init(&run->shared, run->script, engine, &run->failure) != TUTTI_OK;
        run->ready = !run->failed;
    }
    if (run->ready && emu_script_rank_init(rank, &run->shared, number)) return true;
    if (!run->failed) tutti_error_set(&run->failure, TUTTI_OUT_OF_MEMORY, "no memory for a rank");
    run->failed = true;
    return false;
}

/* Takes the rank one call further; false: it was the last. */
static bool emu_thread_step(emu_cluster *cluster, emu_script_rank *rank) {
    emu_call call;
    if (!emu_thread_enter(cluster)) return false;
    emu_script_next_call(rank, &call);
    emu_thread_leave(cluster);
    if (call.kind == EMU_CALL_EXIT) return false; /* the executor makes that call itself */
    (void)emu_cluster_call(cluster, &call);
    if (!emu_thread_enter(cluster)) return false;
    emu_script_call_done(rank, &call);
    emu_thread_leave(cluster);
    return call.status != TUTTI_DEADLOCK || !rank->ended;
}

static void emu_thread_rank(tutti_rank *self, void *argument) {
    emu_thread_script *run = argument;
    emu_cluster *cluster = self->cluster;
    emu_script_rank rank = {0};
    if (!emu_thread_enter(cluster)) return;
    bool prepared = emu_thread_script_prepare(run, cluster->engine, &rank, tutti_rank_index(self));
    emu_thread_leave(cluster);
    while (prepared && emu_thread_step(cluster, &rank)) {
    }
    emu_script_rank_free(&rank);
}

tutti_status emu_script_run_on_threads(const emu_script *script,
                                       const tutti_script_options *options,
                                       const emu_config *config, tutti_report **report_out,
                                       tutti_error *error) {
    emu_thread_script run = {.script = script};
    emu_rehearsal rehearsal = {.function = emu_thread_rank,
                               .argument = &run,
                               .engine_config = config,
                               .choices = config->choices,
                               .steps = config->steps};
    tutti_rehearsal_options wanted;
    tutti_rehearsal_options_init(&wanted, (uint32_t)script->rank_count);
    wanted.repeat = options->repeat;
    tutti_status status = emu_options_complete(&wanted, true, &rehearsal.options, error);
    if (status == TUTTI_OK) status = emu_rehearse(&rehearsal, report_out, error);
    if (status == TUTTI_OK && run.failed) {
        tutti_report_free(*report_out);
        *report_out = NULL;
        if (error != NULL) *error = run.failure;
        status = run.failure.status;
    }
    if (run.ready) emu_script_run_free(&run.shared);
    return status;
}
