#include "tools/outcome_text.h"

#include <stdlib.h>
#include <string.h>

#include "tools/print.h"
#include "tools/terminal.h"

/* Counts findings that are notes, or those that are not. */
static uint32_t count_findings(const tutti_report *report, bool notes) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < report->finding_count; i++)
        count += (report->findings[i].is_note != 0) == notes;
    return count;
}

static void print_notes(const tutti_report *report) {
    const uint32_t count = count_findings(report, true);
    if (count > 0) printf(", %u note%s", (unsigned)count, count == 1 ? "" : "s");
}

static void print_expected(const tutti_script *script) {
    const int32_t *culprits = NULL;
    uint32_t culprit_count = 0;
    const tutti_verdict verdict = tutti_script_expected(script, &culprits, &culprit_count);
    fputs("; must end as ", stdout);
    verdict_print(stdout, verdict, "", culprits, culprit_count);
}

static void print_line(const script_outcome *outcome, const outcome_style *style) {
    const tutti_report *report = outcome->report;
    const bool good = outcome->as_expected;
    terminal_print(stdout, style->colours, good ? TERMINAL_GOOD : TERMINAL_BAD,
                   good ? "ok" : "FAIL");
    fputs(good ? "    " : "  ", stdout);
    text_print(stdout, outcome->file);
    fputs(": ", stdout);
    verdict_print(stdout, report->verdict, script_outcome_detail(outcome), report->culprits,
                  report->culprit_count);
    print_notes(report);
    if (!good) print_expected(outcome->script);
    fputs("\n", stdout);
}

static void print_report(const script_outcome *outcome) {
    char *report = script_outcome_report(outcome);
    fputs("\n", stdout);
    text_print(stdout, report ? report : "No memory is left for the report.\n");
    fputs("\n", stdout);
    free(report);
}

/* A fault that never acted is most likely a mistake, even where the script ends as it must. */
static void print_unfired(const tutti_report *report) {
    if (!report->faults_unfired) return;
    for (const char *at = report->faults_unfired; *at;) {
        const size_t bytes = strcspn(at, "\n");
        printf("      note: this fault never acted: %.*s\n", (int)bytes, at);
        at += bytes + (at[bytes] == '\n');
    }
}

static void print_folder(const script_outcome *outcome) {
    if (!outcome->folder) return;
    fputs("      report folder: ", stdout);
    text_print(stdout, outcome->folder);
    fputs("\n\n", stdout);
}

void outcome_print_error(const script_outcome *outcome) {
    const tutti_error *error = &outcome->error;
    if (outcome->report) return;
    fflush(stdout);        /* what was printed before stays before */
    if (outcome->script) { /* the message is about the run and does not name the file */
        text_print(stderr, outcome->file);
        fputs(": cannot be run: ", stderr);
    }
    text_print(stderr, error->message);
    fputs("\n", stderr);
}

void outcome_print(const script_outcome *outcome, const outcome_style *style) {
    if (!outcome->report) {
        outcome_print_error(outcome);
        return;
    }
    print_line(outcome, style);
    if (style->verbose || !outcome->as_expected)
        print_report(outcome);
    else
        print_unfired(outcome->report);
    print_folder(outcome);
}
