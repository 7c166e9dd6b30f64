/* A report as text. A label stands in the first column, what it says in the rest:
 *
 *   verdict   missing, culprit 1
 *
 *   finding   missing, rank 1
 *             ...
 *   follows   ...
 *   ranks     0  ...
 *             1  ...
 *   trace     ...
 *
 * Knows nothing of the engine: whatever fills a tutti_report can be printed. */

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tutti/emu.h"
#include "tutti/fault.h"

enum {
    LABEL_BYTES = 10,      /* the first column */
    ROOTS_SHOWN_MAX = 20,  /* findings that follow from none; the others are counted */
    FOLLOWS_SHOWN_MAX = 8, /* findings below one root */
    RANGES_SHOWN_MAX = 16, /* of ranks, in one line */
    RANK_LINES_MAX = 64,   /* the others are counted, */
    BLAMED_LINES_MAX = 16, /* but for so many of the culprits */
    EVERY_RANK_BELOW = 17, /* with fewer ranks, each has a line of its own */
    NUMBER_BYTES = 24,     /* of a number as text */
};

static const char *const verdict_names[TUTTI_VERDICT_COUNT] = {
    [TUTTI_VERDICT_OK] = "ok",
    [TUTTI_VERDICT_MISMATCH] = "mismatch",
    [TUTTI_VERDICT_MISSING] = "missing",
    [TUTTI_VERDICT_DEADLOCK] = "deadlock",
    [TUTTI_VERDICT_REFUSED] = "refused",
    [TUTTI_VERDICT_TIMEOUT] = "timeout",
    [TUTTI_VERDICT_RACE] = "race",
    [TUTTI_VERDICT_OVERLAP] = "overlap",
    [TUTTI_VERDICT_FREED] = "freed",
    [TUTTI_VERDICT_UNDEFINED] = "undefined",
    [TUTTI_VERDICT_MISUSE] = "misuse",
    [TUTTI_VERDICT_LEAK] = "leak",
    [TUTTI_VERDICT_KILLED] = "killed",
    [TUTTI_VERDICT_WRONG] = "wrong",
    [TUTTI_VERDICT_DIVERGENCE] = "divergence",
    [TUTTI_VERDICT_UNRESPONSIVE] = "unresponsive",
};

const char *tutti_verdict_name(tutti_verdict verdict) {
    return (unsigned)verdict < TUTTI_VERDICT_COUNT ? verdict_names[verdict] : "unknown";
}

/* --- Text that may not fit --- */

/* Takes everything, keeps what there is room for. */
typedef struct text_out {
    char *text;
    size_t room;  /* bytes at text, with the final NUL */
    size_t bytes; /* taken so far */
} text_out;

static void put_char(text_out *out, char c) {
    if (out->bytes + 1 < out->room) out->text[out->bytes] = c;
    out->bytes++;
}

/* Texts come from programs: what would move a terminal's cursor is shown as a question mark. */
static void put_text(text_out *out, const char *text) {
    for (const char *at = text; *at; at++) {
        const bool control = ((unsigned char)*at < 0x20 && *at != '\t') || *at == 0x7f;
        put_char(out, control ? '?' : *at);
    }
}

static void put_number(text_out *out, int64_t number) {
    char digits[NUMBER_BYTES];
    snprintf(digits, sizeof digits, "%" PRId64, number);
    put_text(out, digits);
}

static void put_spaces(text_out *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        put_char(out, ' ');
}

/* Starts a line. */
static void put_label(text_out *out, const char *label) {
    assert(strlen(label) < LABEL_BYTES);
    put_text(out, label);
    put_spaces(out, LABEL_BYTES - strlen(label));
}

/* Puts lines of text one below the other; the first one's column is where `out` stands. Newlines at
 * the end count for nothing. */
static void put_lines(text_out *out, const char *text, size_t indent) {
    size_t bytes = strlen(text);
    while (bytes > 0 && text[bytes - 1] == '\n')
        bytes--;
    for (size_t i = 0; i < bytes; i++) {
        const char piece[2] = {text[i], '\0'};
        if (text[i] != '\n') {
            put_text(out, piece);
            continue;
        }
        put_char(out, '\n');
        if (text[i + 1] != '\n') put_spaces(out, indent);
    }
    put_char(out, '\n');
}

static const char *text_or_empty(const char *text) {
    return text ? text : "";
}

/* "1 rank", "2 ranks". */
static void put_counted(text_out *out, uint64_t count, const char *noun) {
    char digits[NUMBER_BYTES];
    snprintf(digits, sizeof digits, "%" PRIu64, count);
    put_text(out, digits);
    put_char(out, ' ');
    put_text(out, noun);
    if (count != 1) put_char(out, 's');
}

/* --- Ranks --- */

/* How many of the ranks from the first on are consecutive. */
static uint32_t run_of_ranks(const int32_t *ranks, uint32_t count) {
    uint32_t run = 1;
    while (run < count && ranks[run] == ranks[run - 1] + 1)
        run++;
    return run;
}

static void put_range(text_out *out, int32_t first, int32_t last) {
    put_number(out, first);
    if (last == first) return;
    put_char(out, '-');
    put_number(out, last);
}

/* "rank 1", "ranks 0-3, 7"; with the noun in front. */
static void put_ranks(text_out *out, const char *noun, const int32_t *ranks, uint32_t count) {
    put_text(out, noun);
    if (count != 1) put_char(out, 's');
    put_char(out, ' ');
    uint32_t shown = 0;
    for (uint32_t i = 0; i < count;) {
        if (i > 0) put_text(out, ", ");
        if (shown++ == RANGES_SHOWN_MAX) {
            put_text(out, "and ");
            put_number(out, (int64_t)(count - i));
            put_text(out, " more");
            return;
        }
        uint32_t run = run_of_ranks(ranks + i, count - i);
        if (run == 2) run = 1; /* 0, 1 reads better than 0-1 */
        put_range(out, ranks[i], ranks[i + run - 1]);
        i += run;
    }
}

static void put_what(text_out *out, tutti_verdict kind, const char *detail, const char *noun,
                     const int32_t *ranks, uint32_t rank_count) {
    put_text(out, tutti_verdict_name(kind));
    if (*text_or_empty(detail)) {
        put_text(out, " (");
        put_text(out, detail);
        put_char(out, ')');
    }
    if (rank_count == 0) return;
    put_text(out, ", ");
    put_ranks(out, noun, ranks, rank_count);
}

/* --- Findings --- */

/* The finding that this one comes from in the end; itself, if there is none or the chain closes. */
static uint32_t root_of(const tutti_report *report, uint32_t index) {
    uint32_t at = index;
    for (uint32_t steps = 0; steps < report->finding_count; steps++) {
        const int32_t next = report->findings[at].follows;
        if (next < 0 || (uint32_t)next >= report->finding_count) return at;
        at = (uint32_t)next;
    }
    return index;
}

static void put_finding(text_out *out, const tutti_finding *finding, const char *label) {
    put_label(out, label);
    put_what(out, finding->kind, finding->detail, "rank", finding->ranks, finding->rank_count);
    put_char(out, '\n');
    const char *text = text_or_empty(finding->text);
    if (!*text) return;
    put_spaces(out, LABEL_BYTES);
    put_lines(out, text, LABEL_BYTES);
}

static void put_more(text_out *out, uint64_t count, const char *noun) {
    if (count == 0) return;
    put_spaces(out, LABEL_BYTES);
    put_text(out, "and ");
    put_counted(out, count, noun);
    put_text(out, " more");
    put_char(out, '\n');
}

static void put_followers(text_out *out, const tutti_report *report, uint32_t root) {
    uint32_t shown = 0, hidden = 0;
    for (uint32_t i = 0; i < report->finding_count; i++) {
        if (i == root || root_of(report, i) != root) continue;
        if (shown == FOLLOWS_SHOWN_MAX) {
            hidden++;
            continue;
        }
        put_finding(out, &report->findings[i], "follows");
        shown++;
    }
    put_more(out, hidden, "finding");
}

/* Those that follow from none, with what follows from each: failures, or notes. */
static void put_roots(text_out *out, const tutti_report *report, bool notes) {
    uint32_t shown = 0, hidden = 0;
    for (uint32_t i = 0; i < report->finding_count; i++) {
        const bool is_note = report->findings[i].is_note != 0;
        if (is_note != notes || root_of(report, i) != i) continue;
        if (shown == ROOTS_SHOWN_MAX) {
            hidden++;
            continue;
        }
        put_char(out, '\n');
        put_finding(out, &report->findings[i], notes ? "note" : "finding");
        put_followers(out, report, i);
        shown++;
    }
    put_more(out, hidden, notes ? "note" : "finding");
}

static void put_dropped(text_out *out, const tutti_report *report) {
    if (report->findings_dropped == 0) return;
    put_char(out, '\n');
    put_label(out, "dropped");
    put_text(out, "and ");
    put_counted(out, report->findings_dropped, "more finding");
    put_text(out, report->findings_dropped == 1 ? " that was not kept" : " that were not kept");
    put_char(out, '\n');
}

static void put_verdict(text_out *out, const tutti_report *report) {
    const bool named = report->finding_count > 0 && !report->findings[0].is_note &&
                       report->findings[0].kind == report->verdict;
    uint32_t note_count = 0;
    for (uint32_t i = 0; i < report->finding_count; i++)
        note_count += report->findings[i].is_note != 0;
    put_label(out, "verdict");
    put_what(out, report->verdict, named ? report->findings[0].detail : "", "culprit",
             report->culprits, report->culprit_count);
    if (note_count > 0) {
        put_text(out, ", ");
        put_counted(out, note_count, "note");
    }
    put_char(out, '\n');
}

/* --- Ranks --- */

static bool same_text(const tutti_rank_line *a, const tutti_rank_line *b) {
    return strcmp(text_or_empty(a->text), text_or_empty(b->text)) == 0;
}

/* How many lines from `first` on can share one: neighbours that stand alike, on large clusters. */
static uint32_t run_of_lines(const tutti_report *report, uint32_t first) {
    const tutti_rank_line *lines = report->ranks;
    uint32_t run = 1;
    if (report->rank_count < EVERY_RANK_BELOW) return run;
    while (first + run < report->rank_count &&
           lines[first + run].rank == lines[first].rank + (int32_t)run &&
           same_text(&lines[first + run], &lines[first]))
        run++;
    return run;
}

/* Whether a rank is to blame. */
static bool is_culprit(const tutti_report *report, int32_t rank) {
    uint32_t from = 0, to = report->culprit_count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (report->culprits[middle] < rank)
            from = middle + 1;
        else
            to = middle;
    }
    return from < report->culprit_count && report->culprits[from] == rank;
}

/* Goes through the lines that are shown: the first ones, and those of ranks to blame. */
typedef struct rank_lines {
    const tutti_report *report;
    uint32_t next;
    uint32_t first; /* of the current line's ranks, in report->ranks */
    uint32_t run;   /* how many */
    uint32_t shown, blamed, hidden;
} rank_lines;

static bool next_rank_line(rank_lines *lines) {
    while (lines->next < lines->report->rank_count) {
        lines->first = lines->next;
        lines->run = run_of_lines(lines->report, lines->first);
        lines->next += lines->run;
        if (lines->shown < RANK_LINES_MAX) {
            lines->shown++;
            return true;
        }
        const int32_t rank = lines->report->ranks[lines->first].rank;
        if (lines->blamed < BLAMED_LINES_MAX && is_culprit(lines->report, rank)) {
            lines->blamed++;
            return true;
        }
        lines->hidden += lines->run;
    }
    return false;
}

static void put_line_ranks(text_out *out, const rank_lines *lines) {
    const tutti_rank_line *line = &lines->report->ranks[lines->first];
    put_range(out, line->rank, line[lines->run - 1].rank);
}

static size_t ranks_width(const tutti_report *report) {
    size_t width = 0;
    rank_lines lines = {.report = report};
    while (next_rank_line(&lines)) {
        text_out range = {NULL, 0, 0};
        put_line_ranks(&range, &lines);
        if (range.bytes > width) width = range.bytes;
    }
    return width;
}

static void put_rank_lines(text_out *out, const tutti_report *report) {
    const size_t width = ranks_width(report);
    rank_lines lines = {.report = report};
    if (report->rank_count > 0) put_char(out, '\n');
    while (next_rank_line(&lines)) {
        const char *text = text_or_empty(report->ranks[lines.first].text);
        put_label(out, lines.first == 0 ? "ranks" : "");
        const size_t start = out->bytes;
        put_line_ranks(out, &lines);
        if (*text) put_spaces(out, width - (out->bytes - start) + 2);
        put_lines(out, text, LABEL_BYTES + width + 2);
    }
    put_more(out, lines.hidden, "rank");
}

/* --- The rest --- */

static void put_trace(text_out *out, const tutti_report *report) {
    char text[NUMBER_BYTES];
    put_label(out, "trace");
    snprintf(text, sizeof text, "%016" PRIx64, report->trace_hash);
    put_text(out, text);
    put_text(out, ", ");
    put_counted(out, report->event_count, "event");
    put_text(out, ", ");
    put_counted(out, report->call_count, "call");
    put_text(out, ", ");
    tutti_duration_format(report->virtual_ns, text, sizeof text);
    put_text(out, text);
    put_text(out, " of virtual time");
    put_char(out, '\n');
}

static void put_labelled(text_out *out, const char *label, const char *text) {
    if (!*text_or_empty(text)) return;
    put_label(out, label);
    put_lines(out, text, LABEL_BYTES);
}

size_t tutti_report_format(const tutti_report *report, char *text, size_t text_bytes) {
    assert(report);
    assert(text || text_bytes == 0);
    text_out out = {text, text_bytes, 0};
    put_verdict(&out, report);
    put_roots(&out, report, false);
    put_roots(&out, report, true);
    put_dropped(&out, report);
    put_rank_lines(&out, report);
    put_char(&out, '\n');
    if (*text_or_empty(report->faults_unfired)) {
        put_label(&out, "unfired");
        put_text(&out, "rules of the fault plan that never acted:");
        put_char(&out, '\n');
        put_labelled(&out, "", report->faults_unfired);
    }
    put_labelled(&out, "choices", report->choices);
    put_trace(&out, report);
    put_labelled(&out, "program", report->name);
    put_labelled(&out, "repeat", report->repeat);
    if (text_bytes > 0) text[out.bytes < text_bytes ? out.bytes : text_bytes - 1] = '\0';
    return out.bytes;
}
