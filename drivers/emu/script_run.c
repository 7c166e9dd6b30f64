#include "drivers/emu/script_run.h"

#include "drivers/emu/run_choices.h"

#include <stdlib.h>
#include <string.h>

/* The public face of scripts: reading, running, and whether one ended as it must. */

static bool emu_script_take_culprits(tutti_script *script) {
    const emu_rank_set *set = &script->parsed->verdict.culprits;
    script->culprits = calloc((size_t)set->rank_count + 1, sizeof *script->culprits);
    if (script->culprits == NULL) return false;
    for (uint32_t i = 0; i < set->range_count; i++)
        for (int32_t rank = set->ranges[i].first; rank <= set->ranges[i].last; rank++)
            script->culprits[script->culprit_count++] = rank;
    return true;
}

tutti_status tutti_script_parse(const char *file_name, const char *text, size_t text_bytes,
                                tutti_script **script_out, tutti_error *error) {
    if (script_out == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "script_out is NULL");
    tutti_script *script = calloc(1, sizeof *script);
    if (script == NULL) return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory");
    tutti_status status = emu_script_parse(text, text_bytes, file_name, &script->parsed, error);
    if (status == TUTTI_OK && !emu_script_take_culprits(script))
        status = tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for the script");
    if (status != TUTTI_OK) {
        tutti_script_free(script);
        return status;
    }
    *script_out = script;
    return TUTTI_OK;
}

void tutti_script_free(tutti_script *script) {
    if (script == NULL) return;
    emu_script_free(script->parsed);
    free(script->culprits);
    free(script);
}

uint32_t tutti_script_rank_count(const tutti_script *script) {
    return (uint32_t)script->parsed->rank_count;
}

tutti_verdict tutti_script_expected(const tutti_script *script, const int32_t **culprits_out,
                                    uint32_t *culprit_count_out) {
    if (culprits_out != NULL) *culprits_out = script->culprits;
    if (culprit_count_out != NULL) *culprit_count_out = script->culprit_count;
    return script->parsed->verdict.kind;
}

int tutti_script_ends_as_expected(const tutti_script *script, const tutti_report *report) {
    if (report->verdict != script->parsed->verdict.kind) return 0;
    if (script->culprit_count == 0) return 1;
    if (report->culprit_count != script->culprit_count) return 0;
    return memcmp(report->culprits, script->culprits,
                  script->culprit_count * sizeof *script->culprits) == 0;
}

/* --- Setting a run up --- */

tutti_status emu_script_devices(const emu_script *script, uint32_t **devices_out,
                                tutti_error *error) {
    *devices_out = NULL;
    if (script->placement_count == 0) return TUTTI_OK;
    uint32_t *devices = calloc((size_t)script->rank_count, sizeof *devices);
    if (devices == NULL)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for the script's devices");
    for (int32_t rank = 0; rank < script->rank_count; rank++)
        devices[rank] = (uint32_t)emu_script_device_of(script, rank);
    *devices_out = devices;
    return TUTTI_OK;
}

static tutti_status emu_parse_both(const emu_script *script, const char *more,
                                   tutti_fault_plan **plan_out, tutti_error *error) {
    const tutti_fault_source source = {script->file, script->faults_line, 1};
    size_t more_bytes = strlen(more);
    char *text = malloc(script->faults_bytes + more_bytes + 2);
    if (text == NULL) return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for faults");
    memcpy(text, script->faults, script->faults_bytes);
    text[script->faults_bytes] = '\n';
    memcpy(text + script->faults_bytes + 1, more, more_bytes + 1);
    tutti_status status = tutti_fault_plan_parse(text, script->faults_bytes + 1 + more_bytes,
                                                 &source, plan_out, error);
    free(text);
    return status;
}

tutti_status emu_script_faults(const emu_script *script, const tutti_script_options *options,
                               tutti_fault_plan **plan_out, tutti_error *error) {
    const tutti_fault_source of_options = {"faults", 1, 1};
    const tutti_fault_source of_environment = {"TUTTI_FAULTS", 1, 1};
    const char *more = options->faults != NULL ? options->faults : getenv("TUTTI_FAULTS");
    *plan_out = NULL;
    if (more == NULL) more = "";
    if (more[0] != '\0') {
        /* Read by itself first, so that an error in it has its own name and column. */
        const tutti_fault_source *source = options->faults != NULL ? &of_options : &of_environment;
        tutti_fault_plan *alone;
        tutti_status status = tutti_fault_plan_parse(more, strlen(more), source, &alone, error);
        if (status != TUTTI_OK) return status;
        if (script->faults_bytes == 0) {
            *plan_out = alone;
            return TUTTI_OK;
        }
        tutti_fault_plan_destroy(alone);
    }
    if (script->faults_bytes == 0) return TUTTI_OK;
    return emu_parse_both(script, more, plan_out, error);
}

emu_config emu_script_config(const emu_script *script, const tutti_script_options *options,
                             const uint32_t *devices, const tutti_fault_plan *plan) {
    return (emu_config){.host_count = (uint32_t)script->rank_count,
                        .device_count = (uint32_t)script->rank_count,
                        .host_devices = devices,
                        .capacity = script->capacity,
                        .first_use_blocks = script->first_use_blocks,
                        .tolerate_group_order = script->tolerate_group_order,
                        .failed_calls_are_findings = true,
                        .ignore_leaks = true,
                        .wait_timeout_ns = script->timeout_ns,
                        .faults = plan,
                        .seed = options->seed,
                        .trace_sink = options->trace_sink,
                        .trace_context = options->trace_context};
}

static tutti_status emu_script_run_set_up(const emu_script *script,
                                          const tutti_script_options *options,
                                          const uint32_t *devices, emu_choices *choices,
                                          const emu_watch *watch, tutti_report **report_out,
                                          tutti_error *error) {
    tutti_fault_plan *plan;
    tutti_status status = emu_script_faults(script, options, &plan, error);
    if (status != TUTTI_OK) return status;
    emu_config config = emu_script_config(script, options, devices, plan);
    config.choices = choices;
    if (watch != NULL) config.watch = *watch;
    status = options->executor == TUTTI_SCRIPT_ON_THREADS
                 ? emu_script_run_on_threads(script, options, &config, report_out, error)
                 : emu_script_run_as_data(script, options, &config, report_out, error);
    tutti_fault_plan_destroy(plan);
    return status;
}

tutti_status emu_script_options_check(const tutti_script_options *options, tutti_error *error) {
    if (options == NULL) return TUTTI_OK;
    if (options->struct_size != sizeof *options)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "struct_size of the options is %u, and this version has %zu",
                               (unsigned)options->struct_size, sizeof *options);
    if (options->executor != TUTTI_SCRIPT_AS_DATA && options->executor != TUTTI_SCRIPT_ON_THREADS)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "there is no executor %d",
                               (int)options->executor);
    return TUTTI_OK;
}

tutti_status emu_script_run_watched(const tutti_script *script, const tutti_script_options *options,
                                    const emu_watch *watch, tutti_report **report_out,
                                    tutti_error *error) {
    static const tutti_script_options defaults = {.struct_size = sizeof defaults};
    if (script == NULL || report_out == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "%s is NULL",
                               script == NULL ? "script" : "report_out");
    emu_run_choices chosen;
    tutti_status status = emu_script_options_check(options, error);
    if (status != TUTTI_OK) return status;
    if (options == NULL) options = &defaults;
    status = emu_run_choices_init(&chosen, options->choices, options->random_schedule != 0,
                                  options->seed, error);
    if (status != TUTTI_OK) return status;
    uint32_t *devices;
    status = emu_script_devices(script->parsed, &devices, error);
    if (status == TUTTI_OK) {
        status = emu_script_run_set_up(script->parsed, options, devices, &chosen.choices, watch,
                                       report_out, error);
        free(devices);
    }
    emu_run_choices_free(&chosen);
    return status;
}

tutti_status tutti_script_run(const tutti_script *script, const tutti_script_options *options,
                              tutti_report **report_out, tutti_error *error) {
    return emu_script_run_watched(script, options, NULL, report_out, error);
}
