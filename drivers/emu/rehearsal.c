#define _GNU_SOURCE /* clock_gettime */
#include "drivers/emu/rehearsal.h"

#include "drivers/emu/keeper.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drivers/emu/run_choices.h"

/* Stacks beyond this are a mistake: a thousand of them would be a terabyte. */
#define STACK_BYTES_MAX ((size_t)1 << 30)

/* The options of the first version; shorter ones never existed. */
#define OPTIONS_BYTES_MIN offsetof(tutti_rehearsal_options, choices)

int64_t emu_real_now(void) {
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (int64_t)moment.tv_sec * 1000000000 + moment.tv_nsec;
}

int64_t emu_let_go_budget(int64_t limit_ns) {
    int64_t limit_ns_max = INT64_MAX / 2 / EMU_LET_GO_LIMITS; /* half of all time is left for now */
    return EMU_LET_GO_LIMITS * (limit_ns < limit_ns_max ? limit_ns : limit_ns_max);
}

void tutti_rehearsal_options_init(tutti_rehearsal_options *options, uint32_t rank_count) {
    memset(options, 0, sizeof(*options));
    options->struct_size = sizeof(*options);
    options->rank_count = rank_count;
}

/* --- Checks --- */

static tutti_status check_size(const tutti_rehearsal_options *options, tutti_error *error) {
    if (options == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "options is NULL: fill one with tutti_rehearsal_options_init()");
    if (options->struct_size < OPTIONS_BYTES_MIN)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "options->struct_size is %" PRIu32 ", less than the %zu of the "
                               "first version: fill them with tutti_rehearsal_options_init()",
                               options->struct_size, OPTIONS_BYTES_MIN);
    if (options->struct_size > sizeof(*options))
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "options->struct_size is %" PRIu32 ", more than the %zu that this "
                               "version knows: fill them with tutti_rehearsal_options_init()",
                               options->struct_size, sizeof(*options));
    return TUTTI_OK;
}

static tutti_status check_counts(const tutti_rehearsal_options *options, bool ranks_are_hosts,
                                 tutti_error *error) {
    if (options->rank_count < 1 || options->rank_count > TUTTI_RANKS_MAX)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "rank_count is %" PRIu32 ": a rehearsal has 1 to %d ranks",
                               options->rank_count, TUTTI_RANKS_MAX);
    if (options->device_count > TUTTI_DEVICES_PER_RUN_MAX)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "device_count is %" PRIu32 ": a cluster has at most %d devices",
                               options->device_count, TUTTI_DEVICES_PER_RUN_MAX);
    if (ranks_are_hosts && options->device_count != 0 &&
        options->device_count < options->rank_count)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "device_count is %" PRIu32 " for %" PRIu32 " ranks, and each needs "
                               "a device: give 0 for one each, or more",
                               options->device_count, options->rank_count);
    return TUTTI_OK;
}

static tutti_status check_flag(uint32_t value, const char *name, tutti_error *error) {
    if (value <= 1) return TUTTI_OK;
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "%s is %" PRIu32 ": it is 0 or 1", name,
                           value);
}

static tutti_status check_flags(const tutti_rehearsal_options *options, tutti_error *error) {
    tutti_status status = check_flag(options->first_use_blocks, "first_use_blocks", error);
    if (status == TUTTI_OK)
        status = check_flag(options->tolerate_group_order, "tolerate_group_order", error);
    if (status == TUTTI_OK) status = check_flag(options->random_schedule, "random_schedule", error);
    if (status == TUTTI_OK &&
        options->struct_size > offsetof(tutti_rehearsal_options, ignore_leaks))
        status = check_flag(options->ignore_leaks, "ignore_leaks", error);
    return status;
}

static tutti_status check_time(int64_t value_ns, const char *name, tutti_error *error) {
    if (value_ns >= 0 && value_ns <= TUTTI_DURATION_NS_MAX) return TUTTI_OK;
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "%s is %" PRId64 ": give 0 to %" PRId64 " nanoseconds", name, value_ns,
                           TUTTI_DURATION_NS_MAX);
}

static tutti_status check_executor(const tutti_rehearsal_options *options, tutti_error *error) {
    if (options->executor != TUTTI_EXECUTOR_THREADS &&
        options->executor != TUTTI_EXECUTOR_PARALLEL && options->executor != TUTTI_EXECUTOR_FIBERS)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "executor is %d: it is TUTTI_EXECUTOR_THREADS, "
                               "TUTTI_EXECUTOR_PARALLEL or TUTTI_EXECUTOR_FIBERS",
                               (int)options->executor);
    if (options->random_schedule != 0 && options->executor == TUTTI_EXECUTOR_PARALLEL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "random_schedule is 1 with TUTTI_EXECUTOR_PARALLEL, where real time "
                               "decides who runs: use TUTTI_EXECUTOR_THREADS");
    if (options->choices != NULL && options->executor == TUTTI_EXECUTOR_PARALLEL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "choices are given with TUTTI_EXECUTOR_PARALLEL, where real time "
                               "decides who runs: use TUTTI_EXECUTOR_THREADS");
    return TUTTI_OK;
}

static tutti_status check_stack(const tutti_rehearsal_options *options, tutti_error *error) {
    if (options->stack_bytes <= STACK_BYTES_MAX) return TUTTI_OK;
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "stack_bytes is %zu: a rank's stack has at most %zu bytes",
                           options->stack_bytes, STACK_BYTES_MAX);
}

tutti_status emu_options_complete(const tutti_rehearsal_options *given, bool ranks_are_hosts,
                                  tutti_rehearsal_options *full_out, tutti_error *error) {
    tutti_rehearsal_options all = {0}; /* what an older version has not is 0 */
    const tutti_rehearsal_options *options = &all;
    tutti_status status = check_size(given, error);
    if (status == TUTTI_OK) memcpy(&all, given, given->struct_size);
    all.struct_size = sizeof all;
    if (status == TUTTI_OK) status = check_counts(options, ranks_are_hosts, error);
    if (status == TUTTI_OK) status = check_flags(options, error);
    if (status == TUTTI_OK && ranks_are_hosts) status = check_executor(options, error);
    if (status == TUTTI_OK) status = check_stack(options, error);
    if (status == TUTTI_OK) status = check_time(options->wait_timeout_ns, "wait_timeout_ns", error);
    if (status == TUTTI_OK) status = check_time(options->unresponsive_ns, "unresponsive_ns", error);
    if (status != TUTTI_OK) return status;
    *full_out = *options;
    if (full_out->device_count == 0) full_out->device_count = options->rank_count;
    if (full_out->unresponsive_ns == 0) full_out->unresponsive_ns = TUTTI_UNRESPONSIVE_NS_DEFAULT;
    if (full_out->stack_bytes == 0) full_out->stack_bytes = TUTTI_STACK_BYTES_DEFAULT;
    return TUTTI_OK;
}

/* --- The call --- */

static tutti_status check_arguments(tutti_rank_function *function, tutti_report **report_out,
                                    tutti_error *error) {
    if (function == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "function is NULL: give what each rank is to do");
    if (report_out == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "report_out is NULL: give a place for the report");
    return TUTTI_OK;
}

tutti_status emu_rehearse(const emu_rehearsal *rehearsal, tutti_report **report_out,
                          tutti_error *error) {
    bool parallel = rehearsal->options.executor == TUTTI_EXECUTOR_PARALLEL;
    const emu_thread_pool_options pool_options = {
        .stack_bytes = rehearsal->options.stack_bytes,
        .one_cpu = !parallel,
    };
    emu_thread_pool *pool = NULL;
    tutti_status status = emu_thread_pool_create(&pool_options, &pool, error);
    if (status != TUTTI_OK) return status;
    emu_fiber_set *fibers = NULL;
    if (parallel)
        status = emu_rehearse_in_parallel(rehearsal, pool, report_out, error);
    else if (rehearsal->options.executor == TUTTI_EXECUTOR_FIBERS)
        status = emu_rehearse_on_fibers(rehearsal, pool, &fibers, report_out, error);
    else
        status = emu_rehearse_on_threads(rehearsal, pool, report_out, error);
    emu_thread_pool_destroy(pool);
    emu_fiber_set_destroy(fibers);
    return status;
}

static tutti_status rehearse_chosen(emu_rehearsal *rehearsal, tutti_report **report_out,
                                    tutti_error *error) {
    const tutti_rehearsal_options *options = &rehearsal->options;
    emu_run_choices chosen;
    bool random = options->random_schedule != 0;
    const char *given = options->choices;
    if (given == NULL && !random && options->executor != TUTTI_EXECUTOR_PARALLEL)
        given = getenv("TUTTI_CHOICES");
    tutti_status status = emu_run_choices_init(&chosen, given, random, options->seed, error);
    if (status != TUTTI_OK) return status;
    rehearsal->choices = &chosen.choices;
    status = emu_rehearse(rehearsal, report_out, error);
    emu_run_choices_free(&chosen);
    return status;
}

tutti_status emu_rehearse_watched(const tutti_rehearsal_options *options,
                                  tutti_rank_function *function, void *argument,
                                  const emu_watch *watch, tutti_report **report_out,
                                  tutti_error *error) {
    emu_rehearsal rehearsal = {.function = function, .argument = argument, .watch = watch};
    emu_keeper keeper = {0};
    tutti_report *report = NULL;
    tutti_error_clear(error);
    if (error != NULL) error->operation = "rehearse";
    tutti_status status = check_arguments(function, report_out, error);
    if (status == TUTTI_OK) status = emu_options_complete(options, true, &rehearsal.options, error);
    if (status == TUTTI_OK) status = emu_keeper_begin(&keeper, &rehearsal.options, error);
    if (status != TUTTI_OK) return status;
    status = rehearse_chosen(&rehearsal, &report, error);
    if (status == TUTTI_OK) {
        tutti_error_clear(error);
        *report_out = report;
    }
    tutti_status left = emu_keeper_end(&keeper, report, error);
    return status == TUTTI_OK ? left : status;
}

tutti_status tutti_rehearse(const tutti_rehearsal_options *options, tutti_rank_function *function,
                            void *argument, tutti_report **report_out, tutti_error *error) {
    return emu_rehearse_watched(options, function, argument, NULL, report_out, error);
}
