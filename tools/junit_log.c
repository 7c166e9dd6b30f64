#define _POSIX_C_SOURCE 200809L

#include "tools/junit_log.h"

#include <stdlib.h>
#include <string.h>

#include "tools/output_file.h"
#include "tools/print.h"
#include "tutti/trace.h"

struct junit_log {
    output_file *out;
    tutti_junit_case *cases; /* their texts are the log's */
    size_t count, room;
    bool failed; /* memory was out */
};

static void case_free(const tutti_junit_case *one) {
    free((char *)one->name);
    free((char *)one->failure);
    free((char *)one->error);
    free((char *)one->text);
}

static void junit_log_free(junit_log *log) {
    for (size_t i = 0; i < log->count; i++)
        case_free(&log->cases[i]);
    free(log->cases);
    free(log);
}

tutti_status junit_log_open(const char *name, junit_log **log_out, tutti_error *error) {
    junit_log *log = calloc(1, sizeof *log);
    if (!log) return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "%s: no memory is left", name);
    const tutti_status status = output_file_open(name, &log->out, error);
    if (status == TUTTI_OK)
        *log_out = log;
    else
        free(log);
    return status;
}

/* "ended as missing, culprit 1, and must end as ok"; for free(). */
static char *failure_text(const script_outcome *outcome) {
    char *text = NULL;
    size_t bytes = 0;
    const int32_t *culprits = NULL;
    uint32_t culprit_count = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return NULL;
    const tutti_verdict expected =
        tutti_script_expected(outcome->script, &culprits, &culprit_count);
    fputs("ended as ", out);
    verdict_print(out, outcome->report->verdict, script_outcome_detail(outcome),
                  outcome->report->culprits, outcome->report->culprit_count);
    fputs(", and must end as ", out);
    verdict_print(out, expected, "", culprits, culprit_count);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

static bool fill_case(const script_outcome *outcome, tutti_junit_case *one) {
    one->virtual_ns = outcome->report ? outcome->report->virtual_ns : -1;
    one->name = strdup(outcome->file);
    if (!outcome->report) {
        one->error = strdup(outcome->error.message);
        return one->name && one->error;
    }
    one->text = script_outcome_report(outcome);
    if (!outcome->as_expected) one->failure = failure_text(outcome);
    return one->name && one->text && (outcome->as_expected || one->failure);
}

void junit_log_add(junit_log *log, const script_outcome *outcome) {
    if (log->count == log->room) {
        const size_t room = log->room ? log->room * 2 : 16;
        tutti_junit_case *grown = realloc(log->cases, room * sizeof *grown);
        log->failed = log->failed || !grown;
        if (!grown) return;
        log->cases = grown;
        log->room = room;
    }
    tutti_junit_case *one = &log->cases[log->count++];
    memset(one, 0, sizeof *one);
    if (!fill_case(outcome, one)) log->failed = true;
}

tutti_status junit_log_close(junit_log *log, tutti_error *error) {
    tutti_status status = TUTTI_OK;
    if (log->failed)
        status =
            tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory is left for the JUnit file");
    if (status == TUTTI_OK)
        status =
            tutti_junit_write("tutti", log->cases, log->count, output_file_write, log->out, error);
    if (status == TUTTI_OK)
        status = output_file_close(log->out, error);
    else
        output_file_discard(log->out);
    junit_log_free(log);
    return status;
}
