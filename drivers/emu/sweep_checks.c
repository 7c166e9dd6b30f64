#include "drivers/emu/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What must be true after a run with a fault. */

static bool is_faulty(const tutti_sweep_case *fault, int32_t rank) {
    return rank == fault->rank || (fault->peer >= 0 && rank == fault->peer);
}

static bool blames_others(const tutti_sweep_case *fault, const tutti_report *report) {
    for (uint32_t i = 0; i < report->culprit_count; i++)
        if (!is_faulty(fault, report->culprits[i])) return true;
    return false;
}

static bool has_finding(const tutti_report *report, tutti_verdict kind) {
    for (uint32_t i = 0; i < report->finding_count; i++)
        if (report->findings[i].kind == kind && !report->findings[i].is_note) return true;
    return false;
}

/* What was not taken back is not held against the program: there is nothing more that it can do. */
static bool refused_to_take_back(const tutti_report *report) {
    for (uint32_t i = 0; i < report->finding_count; i++)
        if (report->findings[i].kind == TUTTI_VERDICT_REFUSED &&
            (strcmp(report->findings[i].detail, "memory_free") == 0 ||
             strcmp(report->findings[i].detail, "comm_abort") == 0))
            return true;
    return false;
}

static bool is_listed(const tutti_sweep_options *options, tutti_verdict verdict) {
    if (options->verdicts == NULL || verdict == TUTTI_VERDICT_OK) return true;
    for (uint32_t i = 0; i < options->verdict_count; i++)
        if (options->verdicts[i] == verdict) return true;
    return false;
}

/* A script cannot react to a failure: that a value is not what it expects is held against it only
 * when nothing else has gone wrong before. */
static const char *judge_report(const tutti_sweep_options *options, const tutti_sweep_case *fault,
                                const tutti_report *report, bool is_script) {
    bool wrong = is_script ? report->verdict == TUTTI_VERDICT_WRONG
                           : has_finding(report, TUTTI_VERDICT_WRONG);
    if (has_finding(report, TUTTI_VERDICT_LEAK) && !refused_to_take_back(report))
        return "something is not given back";
    if (report->verdict == TUTTI_VERDICT_OK) return NULL;
    if (report->verdict == TUTTI_VERDICT_UNRESPONSIVE) return "a rank does not come back";
    if (report->verdict == TUTTI_VERDICT_DIVERGENCE) return "it does not do the same in every run";
    if (wrong && fault->action != TUTTI_FAULT_CORRUPT) return "it goes on with a wrong result";
    if (report->finding_count > 0 && strcmp(report->findings[0].detail, "internal") == 0)
        return "the emulated cluster cannot explain how it ends: please report this";
    if (blames_others(fault, report)) return "a rank is to blame that had no fault";
    if (!is_listed(options, report->verdict)) return "it ends with a verdict that is not allowed";
    return NULL;
}

const char *tutti_sweep_judge_default(const tutti_sweep_options *options,
                                      const tutti_sweep_case *fault, const tutti_report *report) {
    return judge_report(options, fault, report, false);
}

bool emu_sweep_base_is_well(const emu_sweep *sweep, const tutti_report *report) {
    if (sweep->program.script != NULL)
        return tutti_script_ends_as_expected(sweep->program.script, report) != 0;
    return report->verdict == TUTTI_VERDICT_OK;
}

/* The report lists the rules that never acted, a line each. */
bool emu_sweep_fault_acted(const emu_sweep *sweep, const tutti_report *report) {
    char rule[32];
    size_t bytes = (size_t)snprintf(rule, sizeof rule, "rule %" PRIu32 ":", sweep->rule);
    const char *line = report->faults_unfired;
    while (line != NULL && line[0] != '\0') {
        if (strncmp(line, rule, bytes) == 0) return false;
        line = strchr(line, '\n');
        if (line != NULL) line++;
    }
    return true;
}

static const char *judge(const emu_sweep *sweep, const tutti_sweep_case *fault,
                         const tutti_report *report) {
    const tutti_sweep_options *options = &sweep->options;
    if (options->judge != NULL) return options->judge(options->context, fault, report);
    bool is_script = sweep->program.script != NULL;
    if (is_script && emu_sweep_base_is_well(sweep, report)) return NULL;
    return judge_report(options, fault, report, is_script);
}

const char *emu_sweep_check(const emu_sweep *sweep, const tutti_sweep_case *fault,
                            const tutti_report *report, char *text, size_t text_bytes) {
    const emu_sweep_results *results = &sweep->results;
    if (!emu_sweep_fault_acted(sweep, report))
        return "the fault did not act: the program does not do the same in every run";
    if (report->verdict == TUTTI_VERDICT_UNRESPONSIVE)
        return "a rank does not come back from its own code";
    if (results->differ && fault->action != TUTTI_FAULT_CORRUPT) {
        snprintf(text, text_bytes,
                 "ranks %" PRId32 " and %" PRId32 " have different results of one collective",
                 results->ranks[0], results->ranks[1]);
        return text;
    }
    return judge(sweep, fault, report);
}
