#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/explore.h"
#include "drivers/emu/state.h"

/* --- Causes --- */

static bool same_ranks(const tutti_report *a, const tutti_report *b) {
    return a->culprit_count == b->culprit_count &&
           memcmp(a->culprits, b->culprits, a->culprit_count * sizeof(*a->culprits)) == 0;
}

/* The kind and detail of the root finding and whom it blames; texts differ from run to run in
 * numbers that do not matter. */
bool emu_reports_alike(const tutti_report *a, const tutti_report *b) {
    if (a->verdict != b->verdict || !same_ranks(a, b)) return false;
    if (a->finding_count == 0 || b->finding_count == 0) return a->finding_count == b->finding_count;
    return strcmp(a->findings[0].detail, b->findings[0].detail) == 0;
}

static tutti_explore_failure *find_alike(emu_explorer *explorer, const tutti_report *report,
                                         const char *setting) {
    for (uint32_t i = 0; i < explorer->result->failure_count; i++) {
        tutti_explore_failure *failure = &explorer->failures[i];
        if (strcmp(failure->setting, setting) == 0 && emu_reports_alike(failure->report, report))
            return failure;
    }
    return NULL;
}

bool emu_explorer_keep(emu_explorer *explorer, tutti_report *report, const char *setting,
                       const char *faults) {
    tutti_exploration *result = explorer->result;
    tutti_explore_failure *failure = find_alike(explorer, report, setting);
    if (failure != NULL || result->failure_count >= TUTTI_EXPLORE_FAILURES_MAX) {
        if (failure != NULL)
            failure->times++;
        else
            result->failures_dropped++;
        tutti_report_free(report);
        return true;
    }
    failure = &explorer->failures[result->failure_count];
    *failure = (tutti_explore_failure){
        .report = report,
        .stage = explorer->stage->name,
        .times = 1,
        .found_choices = emu_text_copy(report->choices),
        .faults = emu_text_copy(faults),
        .critical = "",
        .is_hazard = setting[0] != '\0',
        .setting = setting,
    };
    if (failure->found_choices == NULL || failure->faults == NULL) {
        if (failure->found_choices != NULL && failure->found_choices[0] != '\0')
            free((void *)(uintptr_t)failure->found_choices);
        tutti_report_free(report);
        return false;
    }
    result->failure_count++;
    if (failure->is_hazard) result->hazard_count++;
    return true;
}

/* --- Divergence --- */

tutti_report *emu_divergence_report(uint32_t host_count, uint32_t host, const char *text) {
    const emu_config config = {.host_count = host_count, .device_count = host_count};
    const emu_report_extra extra = {.choices = "", .name = NULL, .repeat = NULL};
    tutti_driver driver = {0};
    emu_engine *engine;
    tutti_report *report = NULL;
    if (emu_engine_create(&config, &driver, &engine, NULL) != TUTTI_OK) return NULL;
    emu_engine_diverged(engine, host, text);
    if (emu_report_create(engine, &extra, &report, NULL) != TUTTI_OK) report = NULL;
    emu_engine_destroy(engine);
    return report;
}

/* A trace in memory. */
typedef struct trace_text {
    char *text;
    size_t bytes, room;
    bool cut;
} trace_text;

enum { TRACE_BYTES_MAX = 1 << 26 };

static void take_trace(void *context, const char *text, size_t text_bytes) {
    trace_text *trace = context;
    if (trace->cut) return;
    if (trace->bytes + text_bytes + 1 > trace->room) {
        size_t room = 2 * trace->room + text_bytes + 4096;
        char *grown = room <= TRACE_BYTES_MAX ? realloc(trace->text, room) : NULL;
        trace->cut = grown == NULL;
        if (trace->cut) return;
        trace->text = grown;
        trace->room = room;
    }
    memcpy(trace->text + trace->bytes, text, text_bytes);
    trace->bytes += text_bytes;
    trace->text[trace->bytes] = '\0';
}

static void run_traced(const emu_subject *subject, const emu_choice_record *record,
                       trace_text *trace) {
    emu_choices choices;
    tutti_report *report = NULL;
    emu_choices_init_replay(&choices, record, false);
    const emu_trial trial = {.choices = &choices, .trace_sink = take_trace, .trace_context = trace};
    if (subject->run(subject->context, &trial, &report, NULL) == TUTTI_OK)
        tutti_report_free(report);
    emu_choices_free(&choices);
}

/* A line of a trace without its end, and its number. */
static void describe_difference(const char *a, const char *b, char *text, size_t text_bytes) {
    size_t line = 1, start = 0, at = 0;
    for (; a[at] != '\0' && a[at] == b[at]; at++) {
        if (a[at] != '\n') continue;
        line++;
        start = at + 1;
    }
    if (a[at] == b[at]) return;
    int a_bytes = (int)strcspn(a + start, "\n"), b_bytes = (int)strcspn(b + start, "\n");
    enum { LINE_BYTES_MAX = 300 };
    snprintf(text, text_bytes,
             "the same schedule was run twice, and the traces differ from line %zu on: one has "
             "%.*s, the other %.*s",
             line, a_bytes < LINE_BYTES_MAX ? a_bytes : LINE_BYTES_MAX, a + start,
             b_bytes < LINE_BYTES_MAX ? b_bytes : LINE_BYTES_MAX, b + start);
}

void emu_explorer_find_divergence(emu_explorer *explorer, const emu_choice_record *record,
                                  char *text, size_t text_bytes) {
    enum { ATTEMPTS = 4 };
    trace_text first = {0};
    snprintf(text, text_bytes, "the same schedule was run twice, and did not go the same way");
    run_traced(explorer->subject, record, &first);
    for (int i = 0; i < ATTEMPTS && first.text != NULL; i++) {
        trace_text other = {0};
        run_traced(explorer->subject, record, &other);
        bool differs = other.text != NULL && strcmp(first.text, other.text) != 0;
        if (differs) describe_difference(first.text, other.text, text, text_bytes);
        free(other.text);
        if (differs) break;
    }
    free(first.text);
}
