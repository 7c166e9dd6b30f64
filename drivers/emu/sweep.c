#include "drivers/emu/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/rehearsal.h"
#include "drivers/emu/script_run.h"

/* The fault sweep: the run without a fault, then a run for each case. */

enum { REASON_BYTES = 512 };

#define REPORT_BYTES_MAX ((size_t)1 << 30) /* of all cases, with their texts */

const char *tutti_sweep_result_name(tutti_sweep_result result) {
    static const char *const names[TUTTI_SWEEP_RESULT_COUNT] = {"passed", "failed", "not run",
                                                                "excluded"};
    return (unsigned)result < TUTTI_SWEEP_RESULT_COUNT ? names[result] : "unknown";
}

void tutti_sweep_options_init(tutti_sweep_options *options) {
    memset(options, 0, sizeof(*options));
    options->struct_size = sizeof(*options);
}

/* --- Checks of arguments --- */

static tutti_status check_numbers(const tutti_sweep_options *options, tutti_error *error) {
    if (options->shard_count > TUTTI_SWEEP_SHARDS_MAX ||
        options->shard_index >= (options->shard_count == 0 ? 1 : options->shard_count))
        return tutti_error_set(
            error, TUTTI_INVALID_ARGUMENT,
            "there is no shard %" PRIu32 " of %" PRIu32 ": give 0 to %" PRIu32 " of at most %d",
            options->shard_index, options->shard_count,
            options->shard_count == 0 ? 0 : options->shard_count - 1, TUTTI_SWEEP_SHARDS_MAX);
    if (options->delay_ns < 0 || options->delay_ns > TUTTI_DURATION_NS_MAX)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "delay_ns is %" PRId64 ": give 0 to %" PRId64 " nanoseconds",
                               options->delay_ns, TUTTI_DURATION_NS_MAX);
    if (options->actions >> TUTTI_FAULT_KIND_COUNT != 0 ||
        options->points >> TUTTI_FAULT_POINT_COUNT != 0)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "actions and points are bits, and there is none beyond the last");
    if (strcmp(tutti_status_name(options->fail_status), "unknown") == 0 ||
        options->fail_status == TUTTI_IN_PROGRESS)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "fail_status is %d: give a status that is a failure",
                               (int)options->fail_status);
    return TUTTI_OK;
}

static tutti_status complete_options(const tutti_sweep_options *given, tutti_sweep_options *full,
                                     tutti_error *error) {
    tutti_sweep_options_init(full);
    if (given != NULL && given->struct_size != sizeof *given)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "struct_size of the sweep's options is %" PRIu32
                               ", and this version has %zu: fill them with "
                               "tutti_sweep_options_init()",
                               given->struct_size, sizeof *given);
    if (given != NULL) *full = *given;
    tutti_status status = check_numbers(full, error);
    if (full->shard_count == 0) full->shard_count = 1;
    if (full->run_count_max == 0) full->run_count_max = TUTTI_SWEEP_RUNS_DEFAULT;
    if (full->delay_ns == 0) full->delay_ns = TUTTI_SWEEP_DELAY_NS_DEFAULT;
    if (full->fail_status == TUTTI_OK) full->fail_status = TUTTI_SYSTEM;
    return status;
}

/* --- One run --- */

static void see_point(void *context, const tutti_fault_site *site) {
    emu_sweep_points_see(&((emu_sweep *)context)->points, site);
}

static void see_result(void *context, uint64_t subject, int32_t rank, uint64_t hash) {
    emu_sweep_results_see(&((emu_sweep *)context)->results, subject, rank, hash);
}

static tutti_status run_program(emu_sweep *sweep, const char *faults, const emu_watch *watch,
                                tutti_report **report_out, tutti_error *error) {
    const emu_sweep_program *program = &sweep->program;
    emu_sweep_results_clear(&sweep->results);
    sweep->report->base.run_count++;
    if (program->script != NULL) {
        tutti_script_options options = *program->script_options;
        options.faults = faults;
        options.trace_sink = NULL;
        return emu_script_run_watched(program->script, &options, watch, report_out, error);
    }
    tutti_rehearsal_options options = *program->rehearsal;
    options.faults = faults;
    options.trace_sink = NULL;
    return emu_rehearse_watched(&options, program->function, program->argument, watch, report_out,
                                error);
}

/* The whole plan of a case: its rule first, so that it acts. NULL when memory is out. */
static char *plan_of(const emu_sweep *sweep, const tutti_sweep_case *fault) {
    size_t bytes = strlen(fault->plan) + strlen(sweep->program.base_faults) + 2;
    char *text = malloc(bytes);
    if (text != NULL) snprintf(text, bytes, "%s\n%s", fault->plan, sweep->program.base_faults);
    return text;
}

/* --- The results of a case --- */

static const char *keep_text(emu_sweep *sweep, const char *text) {
    const char *copy = emu_arena_text(&sweep->report->arena, text, strlen(text));
    return copy != NULL ? copy : "no memory for the reason";
}

static const char *keep_report(emu_sweep *sweep, const tutti_report *report) {
    if (report == NULL || sweep->reports_kept >= TUTTI_SWEEP_REPORTS_MAX) return "";
    size_t bytes = tutti_report_format(report, NULL, 0) + 1;
    if (bytes > TUTTI_SWEEP_TEXT_BYTES_MAX) bytes = TUTTI_SWEEP_TEXT_BYTES_MAX;
    char *text = emu_arena_alloc(&sweep->report->arena, bytes, 1);
    if (text == NULL) return "";
    (void)tutti_report_format(report, text, bytes);
    sweep->reports_kept++;
    return text;
}

static void set_result(emu_sweep *sweep, tutti_sweep_case *fault, tutti_sweep_result result,
                       const char *reason) {
    tutti_sweep_report *report = &sweep->report->base;
    fault->result = result;
    fault->reason = reason[0] == '\0' ? "" : keep_text(sweep, reason);
    report->passed_count += result == TUTTI_SWEEP_PASSED;
    report->failed_count += result == TUTTI_SWEEP_FAILED;
    report->not_run_count += result == TUTTI_SWEEP_NOT_RUN;
    report->excluded_count += result == TUTTI_SWEEP_EXCLUDED;
}

/* Runs the program without the fault. Why that does not end as it did at first; NULL: it does. */
static const char *fresh_start_fails(emu_sweep *sweep) {
    tutti_error error;
    tutti_report *report = NULL;
    if (sweep->options.no_fresh_start != 0) return NULL;
    tutti_error_clear(&error);
    if (run_program(sweep, sweep->program.base_faults, NULL, &report, &error) != TUTTI_OK)
        return "the program cannot be started once more, without the fault";
    bool same = report->verdict == sweep->base_verdict && report->trace_hash == sweep->base_hash;
    tutti_report_free(report);
    return same ? NULL
                : "a fresh start without the fault does not do what the first one did: something "
                  "is left over in the process";
}

static void run_case(emu_sweep *sweep, tutti_sweep_case *fault) {
    char text[REASON_BYTES];
    tutti_error error;
    tutti_report *report = NULL;
    const emu_watch watch = {.result = see_result, .context = sweep};
    char *plan = plan_of(sweep, fault);
    tutti_error_clear(&error);
    sweep->fault_run_count++;
    tutti_status status =
        plan == NULL ? tutti_error_set(&error, TUTTI_OUT_OF_MEMORY, "no memory for a fault plan")
                     : run_program(sweep, plan, &watch, &report, &error);
    free(plan);
    if (status != TUTTI_OK) {
        set_result(sweep, fault, TUTTI_SWEEP_NOT_RUN, error.message);
        return;
    }
    fault->verdict = report->verdict;
    if (sweep->rule > 1 && !emu_sweep_fault_acted(sweep, report)) {
        set_result(sweep, fault, TUTTI_SWEEP_NOT_RUN, "a fault of the script itself acts there");
        tutti_report_free(report);
        return;
    }
    const char *trouble = emu_sweep_check(sweep, fault, report, text, sizeof text);
    if (trouble == NULL) trouble = fresh_start_fails(sweep);
    set_result(sweep, fault, trouble == NULL ? TUTTI_SWEEP_PASSED : TUTTI_SWEEP_FAILED,
               trouble == NULL ? "" : trouble);
    if (trouble != NULL) fault->report = keep_report(sweep, report);
    tutti_report_free(report);
}

/* --- All cases --- */

/* Why a case is not run; NULL: it is. */
static const char *obstacle(const emu_sweep *sweep) {
    if (sweep->report->base.trouble[0] != '\0') return "the run without a fault does not end well";
    if (sweep->stopped) return "the caller has stopped the sweep";
    if (sweep->fault_run_count >= sweep->options.run_count_max)
        return "as many runs were made as the options allow";
    return NULL;
}

static void sweep_case(emu_sweep *sweep, uint32_t index) {
    const tutti_sweep_options *options = &sweep->options;
    tutti_sweep_case *fault = &sweep->cases[index];
    const char *excluded =
        options->exclude != NULL ? options->exclude(options->context, fault) : NULL;
    const char *reason = obstacle(sweep);
    if (excluded != NULL)
        set_result(sweep, fault, TUTTI_SWEEP_EXCLUDED, excluded);
    else if (reason != NULL)
        set_result(sweep, fault, TUTTI_SWEEP_NOT_RUN, reason);
    else
        run_case(sweep, fault);
    if (options->progress == NULL || sweep->stopped) return;
    sweep->stopped =
        options->progress(options->context, fault, index + UINT64_C(1), sweep->case_count) != 0;
}

/* What is wrong without any fault, if anything is. */
static void judge_base(emu_sweep *sweep, const tutti_report *report) {
    tutti_sweep_report *swept = &sweep->report->base;
    swept->trouble = "";
    sweep->base_verdict = report->verdict;
    sweep->base_hash = report->trace_hash;
    if (sweep->results.differ)
        swept->trouble = "without any fault, ranks have different results of one collective";
    else if (!emu_sweep_base_is_well(sweep, report))
        swept->trouble = keep_report(sweep, report);
    if (swept->trouble[0] != '\0') swept->failed_count++;
}

static tutti_status run_base(emu_sweep *sweep, tutti_error *error) {
    tutti_report *report = NULL;
    const emu_watch watch = {see_point, see_result, sweep};
    tutti_status status = run_program(sweep, sweep->program.base_faults, &watch, &report, error);
    if (status != TUTTI_OK) return status;
    judge_base(sweep, report);
    tutti_report_free(report);
    if (sweep->points.too_many)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "the program passes more than %d points where a fault could act: "
                               "sweep a smaller one",
                               TUTTI_SWEEP_POINTS_MAX);
    if (sweep->points.out_of_memory)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for the points of a run");
    sweep->report->base.point_count = sweep->points.count;
    emu_sweep_points_finish(&sweep->points);
    if (!emu_sweep_make_cases(sweep))
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for the cases of a sweep");
    return TUTTI_OK;
}

static tutti_status sweep_all(emu_sweep *sweep, tutti_sweep_report **report_out,
                              tutti_error *error) {
    sweep->report = calloc(1, sizeof *sweep->report);
    if (sweep->report == NULL)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for a sweep");
    emu_arena_init(&sweep->report->arena, REPORT_BYTES_MAX);
    sweep->report->base.trouble = "";
    tutti_status status = run_base(sweep, error);
    for (uint32_t i = 0; status == TUTTI_OK && i < sweep->case_count; i++)
        sweep_case(sweep, i);
    sweep->report->base.cases = sweep->cases;
    sweep->report->base.case_count = sweep->case_count;
    emu_sweep_points_free(&sweep->points);
    emu_sweep_results_free(&sweep->results);
    if (status == TUTTI_OK)
        *report_out = &sweep->report->base;
    else
        tutti_sweep_report_free(&sweep->report->base);
    return status;
}

void tutti_sweep_report_free(tutti_sweep_report *report) {
    emu_sweep_report *whole = (emu_sweep_report *)report;
    if (report == NULL) return;
    emu_arena_free(&whole->arena);
    free(whole);
}

/* --- The calls --- */

static const char *faults_of(const char *given) {
    const char *text = given != NULL ? given : getenv("TUTTI_FAULTS");
    return text != NULL ? text : "";
}

static tutti_status refuse_choices(const char *choices, tutti_error *error) {
    if (choices == NULL) return TUTTI_OK;
    return tutti_error_set(
        error, TUTTI_INVALID_ARGUMENT,
        "choices are given: a run with a fault asks for others than one without, "
        "so a sweep cannot repeat them");
}

static tutti_status check_rehearsal(const tutti_rehearsal_options *rehearsal,
                                    tutti_rank_function *function, tutti_rehearsal_options *full,
                                    tutti_error *error) {
    if (function == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "function is NULL: give what each rank is to do");
    tutti_status status = emu_options_complete(rehearsal, true, full, error);
    if (status == TUTTI_OK && full->executor == TUTTI_EXECUTOR_PARALLEL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "the executor is TUTTI_EXECUTOR_PARALLEL, where no two runs are the "
                               "same: sweep with another one");
    return status == TUTTI_OK ? refuse_choices(full->choices, error) : status;
}

tutti_status tutti_sweep(const tutti_rehearsal_options *rehearsal, tutti_rank_function *function,
                         void *argument, const tutti_sweep_options *options,
                         tutti_sweep_report **report_out, tutti_error *error) {
    tutti_rehearsal_options full;
    emu_sweep sweep = {.program = {.rehearsal = &full, .function = function, .argument = argument},
                       .rule = 1};
    tutti_error_clear(error);
    if (report_out == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "report_out is NULL");
    tutti_status status = check_rehearsal(rehearsal, function, &full, error);
    if (status == TUTTI_OK) status = complete_options(options, &sweep.options, error);
    if (status != TUTTI_OK) return status;
    sweep.program.base_faults = faults_of(full.faults);
    return sweep_all(&sweep, report_out, error);
}

/* A script's own faults come first in the plan of a run. */
static tutti_status count_own_rules(const tutti_script *script, uint32_t *rule_out,
                                    tutti_error *error) {
    static const tutti_script_options none = {.struct_size = sizeof none, .faults = ""};
    tutti_fault_plan *plan;
    tutti_status status = emu_script_faults(script->parsed, &none, &plan, error);
    if (status != TUTTI_OK) return status;
    *rule_out = tutti_fault_rule_count(plan) + 1;
    tutti_fault_plan_destroy(plan);
    return TUTTI_OK;
}

tutti_status tutti_sweep_script(const tutti_script *script,
                                const tutti_script_options *script_options,
                                const tutti_sweep_options *options, tutti_sweep_report **report_out,
                                tutti_error *error) {
    static const tutti_script_options defaults = {.struct_size = sizeof defaults};
    if (script_options == NULL) script_options = &defaults;
    emu_sweep sweep = {.program = {.script = script, .script_options = script_options}};
    tutti_error_clear(error);
    if (script == NULL || report_out == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "%s is NULL",
                               script == NULL ? "script" : "report_out");
    if (script_options->struct_size != sizeof *script_options)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "struct_size of the script's options is %" PRIu32
                               ", and this version has %zu",
                               script_options->struct_size, sizeof *script_options);
    tutti_status status = refuse_choices(script_options->choices, error);
    if (status == TUTTI_OK) status = complete_options(options, &sweep.options, error);
    if (status != TUTTI_OK) return status;
    sweep.program.base_faults = faults_of(script_options->faults);
    status = count_own_rules(script, &sweep.rule, error);
    if (status != TUTTI_OK) return status;
    return sweep_all(&sweep, report_out, error);
}
