#include "drivers/emu/script_run.h"

#include <stdlib.h>

#include "drivers/emu/cluster.h"
#include "drivers/emu/rehearsal.h"
#include "drivers/emu/run_choices.h"
#include "drivers/emu/schedule.h"

/* The script executor: one loop for all ranks, no thread and no stack per rank. It follows the
 * steps that schedule.h lays down for every executor. */

typedef struct emu_data_rank {
    emu_script_rank rank;
    emu_call *call; /* of a rank whose call is under way: taken from the pool; NULL */
    bool issued;    /* the engine has it: it is over when the rank is named again */
} emu_data_rank;

typedef struct emu_data_run {
    emu_engine *engine;
    emu_schedule *schedule;
    emu_script_run shared;
    emu_data_rank *ranks;
    uint32_t rank_count;
    emu_call **free_calls; /* calls that no rank needs now */
    uint32_t free_call_count;
} emu_data_run;

static emu_call *emu_data_call_take(emu_data_run *run) {
    if (run->free_call_count > 0) return run->free_calls[--run->free_call_count];
    return calloc(1, sizeof(emu_call));
}

static void emu_data_call_give_back(emu_data_run *run, emu_data_rank *rank) {
    run->free_calls[run->free_call_count++] = rank->call;
    rank->call = NULL;
}

/* What a call that is over leaves to do. The host to go on with. */
static int32_t emu_data_over(emu_data_run *run, uint32_t host) {
    emu_data_rank *rank = &run->ranks[host];
    emu_call_kind kind = rank->call->kind;
    emu_schedule_done(run->schedule, host, rank->call);
    emu_script_call_done(&rank->rank, rank->call);
    emu_data_call_give_back(run, rank);
    rank->issued = false;
    if (kind != EMU_CALL_EXIT) return (int32_t)host;
    emu_schedule_exit(run->schedule, host);
    return emu_schedule_next(run->schedule);
}

static int32_t emu_data_issue(emu_data_run *run, uint32_t host) {
    emu_data_rank *rank = &run->ranks[host];
    rank->issued = true;
    if (emu_schedule_is_over(run->schedule) && rank->call->kind != EMU_CALL_EXIT) {
        rank->call->status = TUTTI_DEADLOCK;
        rank->rank.ended = true;
        emu_script_call_done(&rank->rank, rank->call);
        emu_data_call_give_back(run, rank);
        rank->issued = false;
        return (int32_t)host;
    }
    if (emu_engine_issue(run->engine, host, rank->call) == EMU_DONE)
        return emu_data_over(run, host);
    emu_schedule_block(run->schedule, host);
    return emu_schedule_next(run->schedule);
}

/* Takes the named host one call further. The host to go on with. */
static int32_t emu_data_step(emu_data_run *run, uint32_t host, bool *failed) {
    emu_data_rank *rank = &run->ranks[host];
    if (rank->call != NULL)
        return rank->issued ? emu_data_over(run, host) : emu_data_issue(run, host);
    rank->call = emu_data_call_take(run);
    if (rank->call == NULL) {
        *failed = true;
        return EMU_SCHEDULE_FINISHED;
    }
    emu_script_next_call(&rank->rank, rank->call);
    bool is_over = emu_schedule_is_over(run->schedule);
    if (!is_over && emu_schedule_is_point(run->schedule, rank->call->kind)) {
        int32_t next = emu_schedule_point(run->schedule, rank->call->kind);
        if (next != (int32_t)host) return next;
    }
    return emu_data_issue(run, host);
}

static tutti_status emu_data_loop(emu_data_run *run, tutti_error *error) {
    bool failed = false;
    int32_t host = emu_schedule_next(run->schedule);
    while (host >= 0)
        host = emu_data_step(run, (uint32_t)host, &failed);
    if (failed) return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for the run");
    return TUTTI_OK;
}

static bool emu_data_init(emu_data_run *run, const emu_script *script) {
    run->rank_count = (uint32_t)script->rank_count;
    run->ranks = calloc(run->rank_count, sizeof *run->ranks);
    run->free_calls = calloc(run->rank_count + 1, sizeof *run->free_calls);
    if (run->ranks == NULL || run->free_calls == NULL) return false;
    for (uint32_t i = 0; i < run->rank_count; i++)
        if (!emu_script_rank_init(&run->ranks[i].rank, &run->shared, (int32_t)i)) return false;
    return true;
}

static void emu_data_free(emu_data_run *run) {
    for (uint32_t i = 0; run->ranks != NULL && i < run->rank_count; i++) {
        emu_script_rank_free(&run->ranks[i].rank);
        free(run->ranks[i].call);
    }
    for (uint32_t i = 0; i < run->free_call_count; i++)
        free(run->free_calls[i]);
    free(run->free_calls);
    free(run->ranks);
    emu_schedule_destroy(run->schedule);
    emu_script_run_free(&run->shared);
}

static tutti_status emu_data_report(emu_data_run *run, const tutti_script_options *options,
                                    const emu_choices *choices, int64_t started_ns,
                                    tutti_report **report_out, tutti_error *error) {
    char *text = emu_choices_text(choices);
    if (text == NULL) return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for a report");
    emu_report_extra extra = {
        .choices = text, .repeat = options->repeat, .real_ns = emu_real_now() - started_ns};
    tutti_status status = emu_report_create(run->engine, &extra, report_out, error);
    free(text);
    return status;
}

static tutti_status emu_data_start(emu_data_run *run, const emu_script *script,
                                   const emu_config *config, tutti_error *error) {
    tutti_status status = emu_script_run_init(&run->shared, script, run->engine, error);
    if (status != TUTTI_OK) return status;
    emu_schedule_config schedule_config = {.engine = run->engine,
                                           .host_count = (uint32_t)script->rank_count,
                                           .choices = config->choices,
                                           .steps = config->steps};
    status = emu_schedule_create(&schedule_config, &run->schedule, error);
    if (status != TUTTI_OK) return status;
    if (emu_data_init(run, script)) return TUTTI_OK;
    return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for %d ranks",
                           (int)script->rank_count);
}

tutti_status emu_script_run_as_data(const emu_script *script, const tutti_script_options *options,
                                    const emu_config *config, tutti_report **report_out,
                                    tutti_error *error) {
    int64_t started_ns = emu_real_now();
    emu_data_run run = {0};
    tutti_driver driver;
    tutti_status status = tutti_driver_bind(&tutti_emu_driver_table, &driver, error);
    if (status == TUTTI_OK) status = emu_engine_create(config, &driver, &run.engine, error);
    if (status != TUTTI_OK) return status;
    status = emu_data_start(&run, script, config, error);
    if (status == TUTTI_OK) status = emu_data_loop(&run, error);
    if (status == TUTTI_OK)
        status = emu_data_report(&run, options, config->choices, started_ns, report_out, error);
    emu_data_free(&run);
    emu_engine_destroy(run.engine);
    return status;
}
