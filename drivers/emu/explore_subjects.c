#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/explore.h"
#include "drivers/emu/rehearsal.h"
#include "drivers/emu/script_run.h"

/* What can be explored: a function that every rank runs, and a script. */

/* --- A function --- */

typedef struct function_subject {
    emu_rehearsal rehearsal;
    emu_thread_pool *pool;
    emu_fiber_set *fibers; /* NULL: none yet */
} function_subject;

static tutti_status run_function(void *context, const emu_trial *trial, tutti_report **report_out,
                                 tutti_error *error) {
    function_subject *subject = context;
    emu_rehearsal rehearsal = subject->rehearsal;
    tutti_rehearsal_options *options = &rehearsal.options;
    rehearsal.choices = trial->choices;
    rehearsal.steps = trial->steps;
    if (trial->first_use_blocks) options->first_use_blocks = 1;
    if (trial->one_collective) options->capacity = 1;
    options->trace_sink = trial->trace_sink;
    options->trace_context = trial->trace_context;
    if (trial->repeat != NULL) options->repeat = trial->repeat;
    if (options->executor == TUTTI_EXECUTOR_FIBERS)
        return emu_rehearse_on_fibers(&rehearsal, subject->pool, &subject->fibers, report_out,
                                      error);
    return emu_rehearse_on_threads(&rehearsal, subject->pool, report_out, error);
}

static bool function_ends_well(void *context, const tutti_report *report) {
    (void)context;
    return report->verdict == TUTTI_VERDICT_OK;
}

/* What the caller says repeats the run, with the schedule before it. */
static char *repeat_function(void *context, const char *choices) {
    const function_subject *subject = context;
    const char *command = subject->rehearsal.options.repeat;
    if (command == NULL) command = "run this program";
    size_t bytes = strlen(command) + strlen(choices) + sizeof("TUTTI_CHOICES='' ");
    char *text = malloc(bytes);
    if (text != NULL) snprintf(text, bytes, "TUTTI_CHOICES='%s' %s", choices, command);
    return text;
}

static tutti_status explore_function(function_subject *subject,
                                     const tutti_explore_options *options,
                                     tutti_exploration **exploration_out, tutti_error *error) {
    const tutti_rehearsal_options *rehearsal = &subject->rehearsal.options;
    const emu_subject explored = {
        .context = subject,
        .host_count = rehearsal->rank_count,
        .first_use_open = rehearsal->first_use_blocks == 0,
        .capacity_open = rehearsal->capacity == 0,
        .run = run_function,
        .ends_well = function_ends_well,
        .repeat = repeat_function,
    };
    const emu_thread_pool_options pool_options = {.stack_bytes = rehearsal->stack_bytes,
                                                  .one_cpu = true};
    tutti_status status = emu_thread_pool_create(&pool_options, &subject->pool, error);
    if (status != TUTTI_OK) return status;
    status = emu_explore(&explored, options, exploration_out, error);
    emu_thread_pool_destroy(subject->pool);
    emu_fiber_set_destroy(subject->fibers);
    return status;
}

static tutti_status check_function(const tutti_rehearsal_options *rehearsal,
                                   tutti_rank_function *function,
                                   tutti_exploration **exploration_out, tutti_error *error) {
    if (function == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "function is NULL: give what each rank is to do");
    if (exploration_out == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "exploration_out is NULL: give a place for the result");
    if (rehearsal != NULL && rehearsal->executor == TUTTI_EXECUTOR_PARALLEL)
        return tutti_error_set(
            error, TUTTI_INVALID_ARGUMENT,
            "TUTTI_EXECUTOR_PARALLEL cannot be explored, since real time decides "
            "who runs: use TUTTI_EXECUTOR_THREADS");
    return TUTTI_OK;
}

tutti_status tutti_explore(const tutti_rehearsal_options *rehearsal,
                           const tutti_explore_options *options, tutti_rank_function *function,
                           void *argument, tutti_exploration **exploration_out,
                           tutti_error *error) {
    function_subject subject = {.rehearsal = {.function = function, .argument = argument}};
    tutti_error_clear(error);
    if (error != NULL) error->operation = "explore";
    tutti_status status = check_function(rehearsal, function, exploration_out, error);
    if (status == TUTTI_OK)
        status = emu_options_complete(rehearsal, true, &subject.rehearsal.options, error);
    if (status == TUTTI_OK) status = explore_function(&subject, options, exploration_out, error);
    if (status == TUTTI_OK) tutti_error_clear(error);
    return status;
}

/* --- A script --- */

typedef struct script_subject {
    const tutti_script *script;
    tutti_script_options options;
    uint32_t *devices;
    tutti_fault_plan *faults;
} script_subject;

static tutti_status run_script(void *context, const emu_trial *trial, tutti_report **report_out,
                               tutti_error *error) {
    const script_subject *subject = context;
    tutti_script_options options = subject->options;
    options.trace_sink = trial->trace_sink;
    options.trace_context = trial->trace_context;
    options.repeat = trial->repeat;
    const emu_script *parsed = subject->script->parsed;
    emu_config config = emu_script_config(parsed, &options, subject->devices, subject->faults);
    config.choices = trial->choices;
    config.steps = trial->steps;
    if (trial->first_use_blocks) config.first_use_blocks = true;
    if (trial->one_collective) config.capacity = 1;
    if (options.executor == TUTTI_SCRIPT_ON_THREADS)
        return emu_script_run_on_threads(parsed, &options, &config, report_out, error);
    return emu_script_run_as_data(parsed, &options, &config, report_out, error);
}

static bool script_ends_well(void *context, const tutti_report *report) {
    const script_subject *subject = context;
    return tutti_script_ends_as_expected(subject->script, report) != 0;
}

static char *repeat_script(void *context, const char *choices) {
    const script_subject *subject = context;
    const char *file = subject->script->parsed->file, *faults = subject->options.faults;
    bool with_faults = faults != NULL && faults[0] != '\0';
    if (!with_faults) faults = "";
    size_t bytes = strlen(file) + strlen(choices) + strlen(faults) +
                   sizeof("tutti replay '' --choices '' --faults ''");
    char *text = malloc(bytes);
    if (text == NULL) return NULL;
    snprintf(text, bytes, "tutti replay '%s' --choices '%s'%s%s%s", file, choices,
             with_faults ? " --faults '" : "", faults, with_faults ? "'" : "");
    return text;
}

static tutti_status explore_script(script_subject *subject, const tutti_explore_options *options,
                                   tutti_exploration **exploration_out, tutti_error *error) {
    const emu_script *parsed = subject->script->parsed;
    const emu_subject explored = {
        .context = subject,
        .host_count = (uint32_t)parsed->rank_count,
        .first_use_open = !parsed->first_use_blocks,
        .capacity_open = parsed->capacity == 0,
        .run = run_script,
        .ends_well = script_ends_well,
        .repeat = repeat_script,
    };
    tutti_status status = emu_script_devices(parsed, &subject->devices, error);
    if (status == TUTTI_OK)
        status = emu_script_faults(parsed, &subject->options, &subject->faults, error);
    if (status == TUTTI_OK) status = emu_explore(&explored, options, exploration_out, error);
    tutti_fault_plan_destroy(subject->faults);
    free(subject->devices);
    return status;
}

tutti_status tutti_explore_script(const tutti_script *script,
                                  const tutti_script_options *script_options,
                                  const tutti_explore_options *options,
                                  tutti_exploration **exploration_out, tutti_error *error) {
    static const tutti_script_options defaults = {.struct_size = sizeof defaults};
    script_subject subject = {.script = script};
    if (script == NULL || exploration_out == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "%s is NULL",
                               script == NULL ? "script" : "exploration_out");
    tutti_status status = emu_script_options_check(script_options, error);
    if (status != TUTTI_OK) return status;
    subject.options = script_options != NULL ? *script_options : defaults;
    return explore_script(&subject, options, exploration_out, error);
}
