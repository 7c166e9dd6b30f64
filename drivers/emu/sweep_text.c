/* A sweep's report as text, in the layout of report_text.c. Knows nothing of the engine. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tutti/sweep.h"

enum {
    LABEL_BYTES = 10,       /* the first column */
    FAILED_SHOWN_MAX = 100, /* the others are counted */
    REASONS_SHOWN_MAX = 16, /* of cases that were not run, or are excluded */
};

/* Takes everything, keeps what there is room for. */
typedef struct text_out {
    char *text;
    size_t text_bytes;
    size_t length;
} text_out;

static void put(text_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(text_out *out, const char *format, ...) {
    size_t room = out->length < out->text_bytes ? out->text_bytes - out->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(room > 0 ? out->text + out->length : NULL, room, format, arguments);
    va_end(arguments);
    if (wanted > 0) out->length += (size_t)wanted;
}

/* A text of several lines, each behind the first column. */
static void put_lines(text_out *out, const char *text) {
    while (text[0] != '\0') {
        size_t bytes = strcspn(text, "\n");
        if (bytes > 0) put(out, "%*s%.*s\n", LABEL_BYTES, "", (int)bytes, text);
        if (bytes == 0) put(out, "\n");
        text += bytes + (text[bytes] == '\n' ? 1 : 0);
    }
}

static void put_counts(text_out *out, const tutti_sweep_report *report) {
    put(out,
        "%-*s%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " not run, %" PRIu64 " excluded",
        LABEL_BYTES, "sweep", report->passed_count, report->failed_count, report->not_run_count,
        report->excluded_count);
    if (report->elsewhere_count > 0)
        put(out, ", %" PRIu64 " of other shards", report->elsewhere_count);
    put(out, "; %" PRIu64 " points, %" PRIu64 " runs\n", report->point_count, report->run_count);
}

static void put_failed(text_out *out, const tutti_sweep_report *report) {
    uint64_t shown = 0;
    for (uint64_t i = 0; i < report->case_count && shown < FAILED_SHOWN_MAX; i++) {
        const tutti_sweep_case *fault = &report->cases[i];
        if (fault->result != TUTTI_SWEEP_FAILED) continue;
        shown++;
        put(out, "\n%-*s%s\n%*s%s\n", LABEL_BYTES, "failed", fault->plan, LABEL_BYTES, "",
            fault->reason);
        put_lines(out, fault->report);
    }
    uint64_t without_fault = report->trouble[0] != '\0' ? 1 : 0;
    if (shown + without_fault < report->failed_count)
        put(out, "\n%-*sand %" PRIu64 " more\n", LABEL_BYTES, "failed",
            report->failed_count - shown - without_fault);
}

/* How many cases have the result for each reason, in the order of the first of them. */
static void put_reasons(text_out *out, const tutti_sweep_report *report,
                        tutti_sweep_result result) {
    const char *reasons[REASONS_SHOWN_MAX];
    uint64_t counts[REASONS_SHOWN_MAX] = {0}, others = 0;
    int count = 0;
    for (uint64_t i = 0; i < report->case_count; i++) {
        if (report->cases[i].result != result) continue;
        int at = 0;
        while (at < count && strcmp(reasons[at], report->cases[i].reason) != 0)
            at++;
        if (at == REASONS_SHOWN_MAX) {
            others++;
            continue;
        }
        if (at == count) reasons[count++] = report->cases[i].reason;
        counts[at]++;
    }
    for (int i = 0; i < count; i++)
        put(out, "%-*s%" PRIu64 ": %s\n", LABEL_BYTES, tutti_sweep_result_name(result), counts[i],
            reasons[i]);
    if (others > 0)
        put(out, "%-*s%" PRIu64 " for other reasons\n", LABEL_BYTES,
            tutti_sweep_result_name(result), others);
}

size_t tutti_sweep_report_format(const tutti_sweep_report *report, char *text, size_t text_bytes) {
    text_out out = {.text = text, .text_bytes = text_bytes};
    put_counts(&out, report);
    if (report->trouble[0] != '\0') {
        put(&out, "\n%-*swithout any fault\n", LABEL_BYTES, "failed");
        put_lines(&out, report->trouble);
    }
    put_failed(&out, report);
    put_reasons(&out, report, TUTTI_SWEEP_NOT_RUN);
    put_reasons(&out, report, TUTTI_SWEEP_EXCLUDED);
    if (text_bytes > 0 && out.length >= text_bytes) text[text_bytes - 1] = '\0';
    if (text_bytes > 0 && out.length == 0) text[0] = '\0';
    return out.length;
}
