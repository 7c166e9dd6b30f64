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

/* Rules of a plan, and of another one after it; the environment's when the first is NULL. */
static bool join_faults(const char *own, const char *more, char **joined_out) {
    if (own == NULL) own = getenv("TUTTI_FAULTS");
    if (own == NULL) own = "";
    size_t bytes = strlen(own) + strlen(more) + 2;
    *joined_out = malloc(bytes);
    if (*joined_out == NULL) return false;
    snprintf(*joined_out, bytes, "%s\n%s", own, more);
    return true;
}

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
    char *faults = NULL;
    if (trial->faults != NULL && !join_faults(options->faults, trial->faults, &faults))
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for faults");
    if (faults != NULL) options->faults = faults;
    tutti_status status =
        options->executor == TUTTI_EXECUTOR_FIBERS
            ? emu_rehearse_on_fibers(&rehearsal, subject->pool, &subject->fibers, report_out, error)
            : emu_rehearse_on_threads(&rehearsal, subject->pool, report_out, error);
    free(faults);
    return status;
}

static bool function_ends_well(void *context, const tutti_report *report) {
    (void)context;
    return report->verdict == TUTTI_VERDICT_OK;
}

/* What the caller says repeats the run, with the schedule before it. */
static char *repeat_function(void *context, const char *choices, const char *faults) {
    const function_subject *subject = context;
    const char *command = subject->rehearsal.options.repeat;
    if (command == NULL) command = "run this program";
    size_t bytes = strlen(command) + strlen(choices) + strlen(faults) +
                   sizeof("TUTTI_CHOICES='' TUTTI_FAULTS='' ");
    char *text = malloc(bytes);
    if (text == NULL) return NULL;
    bool with_faults = faults[0] != '\0';
    snprintf(text, bytes, "TUTTI_CHOICES='%s' %s%s%s%s", choices,
             with_faults ? "TUTTI_FAULTS='" : "", faults, with_faults ? "' " : "", command);
    return text;
}

static tutti_status sweep_function(void *context, const tutti_sweep_options *options,
                                   tutti_sweep_report **report_out, tutti_error *error) {
    const function_subject *subject = context;
    tutti_rehearsal_options rehearsal = subject->rehearsal.options;
    rehearsal.choices = NULL;
    return tutti_sweep(&rehearsal, subject->rehearsal.function, subject->rehearsal.argument,
                       options, report_out, error);
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
        .sweep = sweep_function,
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

/* The script's plan with more rules. */
static tutti_status more_faults(const script_subject *subject, const char *faults,
                                tutti_fault_plan **plan_out, tutti_error *error) {
    char *joined = NULL;
    tutti_script_options options = subject->options;
    if (!join_faults(options.faults, faults, &joined))
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for faults");
    options.faults = joined;
    tutti_status status = emu_script_faults(subject->script->parsed, &options, plan_out, error);
    free(joined);
    return status;
}

static tutti_status run_script(void *context, const emu_trial *trial, tutti_report **report_out,
                               tutti_error *error) {
    const script_subject *subject = context;
    tutti_script_options options = subject->options;
    options.trace_sink = trial->trace_sink;
    options.trace_context = trial->trace_context;
    options.repeat = trial->repeat;
    const emu_script *parsed = subject->script->parsed;
    tutti_fault_plan *more = NULL;
    tutti_status status = TUTTI_OK;
    if (trial->faults != NULL) status = more_faults(subject, trial->faults, &more, error);
    if (status != TUTTI_OK) return status;
    emu_config config = emu_script_config(parsed, &options, subject->devices,
                                          more != NULL ? more : subject->faults);
    config.choices = trial->choices;
    config.steps = trial->steps;
    if (trial->first_use_blocks) config.first_use_blocks = true;
    if (trial->one_collective) config.capacity = 1;
    status = options.executor == TUTTI_SCRIPT_ON_THREADS
                 ? emu_script_run_on_threads(parsed, &options, &config, report_out, error)
                 : emu_script_run_as_data(parsed, &options, &config, report_out, error);
    tutti_fault_plan_destroy(more);
    return status;
}

static bool script_ends_well(void *context, const tutti_report *report) {
    const script_subject *subject = context;
    return tutti_script_ends_as_expected(subject->script, report) != 0;
}

/* A word for a shell, in quotes; the caller frees it. */
static char *quoted(const char *word) {
    char *text = malloc(4 * strlen(word) + 3);
    char *end = text;
    if (text == NULL) return NULL;
    *end++ = '\'';
    for (; *word != '\0'; word++) {
        if (*word != '\'') {
            *end++ = *word;
            continue;
        }
        memcpy(end, "'\\''", 4);
        end += 4;
    }
    *end++ = '\'';
    *end = '\0';
    return text;
}

static char *repeat_script(void *context, const char *choices, const char *faults) {
    const script_subject *subject = context;
    char *all = NULL;
    if (!join_faults(subject->options.faults, faults, &all)) return NULL;
    const char *plan = all[0] == '\n' ? all + 1 : all;
    char *file_word = quoted(subject->script->parsed->file), *plan_word = quoted(plan);
    bool with_faults = strcspn(plan, "\n") > 0;
    size_t bytes = strlen(all) * 4 + strlen(choices) + 64;
    if (file_word != NULL) bytes += strlen(file_word);
    char *text = file_word != NULL && plan_word != NULL ? malloc(bytes) : NULL;
    if (text != NULL)
        snprintf(text, bytes, "tutti replay %s --choices '%s'%s%s", file_word, choices,
                 with_faults ? " --faults " : "", with_faults ? plan_word : "");
    free(all);
    free(file_word);
    free(plan_word);
    return text;
}

static tutti_status sweep_script(void *context, const tutti_sweep_options *options,
                                 tutti_sweep_report **report_out, tutti_error *error) {
    const script_subject *subject = context;
    tutti_script_options script = subject->options;
    script.choices = NULL;
    return tutti_sweep_script(subject->script, &script, options, report_out, error);
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
        .sweep = parsed->verdict.kind == TUTTI_VERDICT_OK ? sweep_script : NULL,
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
