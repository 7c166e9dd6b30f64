#include "src/trace/picture.h"

#include <inttypes.h>
#include <stdlib.h>

/* A sequence diagram: a line for each operation when it is over, for each call that failed, for
 * each fault and finding; in the order of events. */

typedef enum line_kind { LINE_SET, LINE_CALL, LINE_FAULT, LINE_FINDING } line_kind;

/* What is told, and when. */
typedef struct mermaid_line {
    uint32_t event; /* NONE: never over, told last */
    uint32_t index; /* of the set, span, fault or finding */
    line_kind kind;
} mermaid_line;

typedef struct mermaid_picture {
    trace_text *out;
    trace_text words; /* scratch */
    const tutti_trace *trace;
    mermaid_line *lines;
    uint32_t line_count;
} mermaid_picture;

/* --- What is told --- */

static void add_line(mermaid_picture *mermaid, line_kind kind, uint32_t event, uint32_t index) {
    mermaid->lines[mermaid->line_count++] = (mermaid_line){event, index, kind};
}

/* When the last part was over; NONE while one is not. */
static uint32_t set_end(const tutti_trace *trace, const trace_set *set) {
    uint32_t end = 0;
    for (uint32_t at = set->first; at != NONE; at = trace->spans.at[at].next_part) {
        if (trace->spans.at[at].ended == NONE) return NONE;
        if (trace->spans.at[at].ended > end) end = trace->spans.at[at].ended;
    }
    return end;
}

static int compare_lines(const void *a, const void *b) {
    const mermaid_line *x = a, *y = b;
    if (x->event != y->event) return x->event < y->event ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void collect_lines(mermaid_picture *mermaid) {
    const tutti_trace *trace = mermaid->trace;
    for (uint32_t i = 0; i < trace->sets.count; i++)
        add_line(mermaid, LINE_SET, set_end(trace, &trace->sets.at[i]), i);
    for (uint32_t i = 0; i < trace->spans.count; i++) {
        const trace_span *span = &trace->spans.at[i];
        const bool is_stuck = span->waits && span->ended == NONE;
        if (span->kind == SPAN_CALL && (span->failed || is_stuck))
            add_line(mermaid, LINE_CALL, is_stuck || span->waits ? span->ended : span->begun, i);
    }
    for (uint32_t i = 0; i < trace->faults.count; i++)
        add_line(mermaid, LINE_FAULT, trace->faults.at[i].event, i);
    for (uint32_t i = 0; i < trace->findings.count; i++)
        add_line(mermaid, LINE_FINDING, trace->findings.at[i].event, i);
    if (mermaid->line_count > 0)
        qsort(mermaid->lines, mermaid->line_count, sizeof *mermaid->lines, compare_lines);
}

/* --- Lines --- */

static void end_line(mermaid_picture *mermaid) {
    trace_picture_add_quoted(mermaid->out, trace_text_add_mermaid, &mermaid->words);
    trace_text_add_plain(mermaid->out, "\n");
}

static void begin_note(mermaid_picture *mermaid, int32_t first, int32_t last) {
    trace_text_add(mermaid->out, "  Note over R%" PRId32, first);
    if (last != first) trace_text_add(mermaid->out, ",R%" PRId32, last);
    trace_text_add_plain(mermaid->out, ": ");
}

static void add_signature(trace_text *words, const trace_span *span) {
    if (span->count < 0 || !span->type) return;
    trace_text_add(words, ": %" PRId64 " ", span->count);
    trace_text_add_plain(words, span->type);
    if (!span->reduce) return;
    trace_text_add_plain(words, ", ");
    trace_text_add_plain(words, span->reduce);
}

/* The first part that failed; else the first that is not over; else the first. */
static const trace_span *speaking_part(const tutti_trace *trace, const trace_set *set) {
    const trace_span *open = NULL;
    for (uint32_t at = set->first; at != NONE; at = trace->spans.at[at].next_part) {
        const trace_span *span = &trace->spans.at[at];
        if (span->failed) return span;
        if (span->ended == NONE && !open) open = span;
    }
    return open ? open : &trace->spans.at[set->first];
}

static void add_outcome(trace_text *words, const trace_span *span) {
    if (span->failed)
        trace_text_add_plain(words, " (given up)");
    else if (span->ended == NONE)
        trace_text_add_plain(words, " (never over)");
}

/* Both halves are there: an arrow. */
static void add_arrow(mermaid_picture *mermaid, const trace_span *first, const trace_span *second) {
    const trace_span *send = first->sends ? first : second;
    const trace_span *recv = first->sends ? second : first;
    const bool good = !send->failed && !recv->failed && send->ended != NONE && recv->ended != NONE;
    trace_text_add(mermaid->out, "  R%" PRId32 "%sR%" PRId32 ": ", send->rank, good ? "->>" : "-x",
                   recv->rank);
    trace_text_add(&mermaid->words, "send %" PRId64 " of ", send->seq);
    trace_text_add_plain(&mermaid->words, send->comm);
    add_signature(&mermaid->words, send);
    add_outcome(&mermaid->words, send->failed || send->ended == NONE ? send : recv);
    end_line(mermaid);
}

static void add_collective(mermaid_picture *mermaid, const trace_set *set) {
    const tutti_trace *trace = mermaid->trace;
    const trace_span *span = speaking_part(trace, set);
    int32_t first = INT32_MAX, last = 0;
    for (uint32_t at = set->first; at != NONE; at = trace->spans.at[at].next_part) {
        if (trace->spans.at[at].rank < first) first = trace->spans.at[at].rank;
        if (trace->spans.at[at].rank > last) last = trace->spans.at[at].rank;
    }
    begin_note(mermaid, first, last);
    trace_picture_add_span(&mermaid->words, span);
    add_signature(&mermaid->words, span);
    add_outcome(&mermaid->words, span);
    if (span->failed || span->ended == NONE)
        trace_text_add(&mermaid->words, "\n%" PRIu32 " parts, %" PRIu32 " of them started",
                       set->count, set->started);
    end_line(mermaid);
}

static void add_set(mermaid_picture *mermaid, const trace_set *set) {
    const trace_span *first = &mermaid->trace->spans.at[set->first];
    const trace_span *second = &mermaid->trace->spans.at[set->last];
    if (first->is_transfer && set->count == 2 && first->sends != second->sends)
        add_arrow(mermaid, first, second);
    else
        add_collective(mermaid, set);
}

static void add_call(mermaid_picture *mermaid, const trace_span *span) {
    begin_note(mermaid, span->rank, span->rank);
    trace_picture_add_span(&mermaid->words, span);
    trace_text_add_plain(&mermaid->words, ": ");
    trace_text_add_plain(&mermaid->words, span->status ? span->status : "never over");
    end_line(mermaid);
}

static void add_fault(mermaid_picture *mermaid, const trace_fault *fault) {
    begin_note(mermaid, fault->rank, fault->rank);
    trace_text_add_plain(&mermaid->words, "fault: ");
    trace_text_add_plain(&mermaid->words, fault->action);
    trace_text_add_plain(&mermaid->words, " in ");
    trace_text_add_plain(&mermaid->words, fault->call);
    end_line(mermaid);
}

static void add_finding(mermaid_picture *mermaid, const trace_finding *finding) {
    int32_t first = mermaid->trace->lanes.at[0].rank, last = first;
    if (finding->rank_count > 0) {
        const int32_t *ranks = mermaid->trace->finding_ranks.at + finding->first_rank;
        first = ranks[0];
        last = ranks[finding->rank_count - 1];
    }
    begin_note(mermaid, first, last);
    trace_text_add_plain(&mermaid->words, finding->is_note ? "note: " : "finding: ");
    trace_picture_add_finding(&mermaid->words, finding);
    if (finding->text) trace_text_add_plain(&mermaid->words, "\n");
    if (finding->text) trace_text_add_plain(&mermaid->words, finding->text);
    end_line(mermaid);
}

static void add_lines(mermaid_picture *mermaid) {
    const tutti_trace *trace = mermaid->trace;
    const uint32_t count = mermaid->line_count;
    const uint32_t shown = count < TUTTI_SEQUENCE_LINES_MAX ? count : TUTTI_SEQUENCE_LINES_MAX;
    /* The end says more than the beginning. */
    for (uint32_t i = count - shown; i < count; i++) {
        const mermaid_line *line = &mermaid->lines[i];
        if (i == count - shown && shown < count)
            trace_text_add(mermaid->out,
                           "  Note over R%" PRId32 ": %" PRIu32 " lines before are left out\n",
                           trace->lanes.at[0].rank, count - shown);
        if (line->kind == LINE_SET)
            add_set(mermaid, &trace->sets.at[line->index]);
        else if (line->kind == LINE_CALL)
            add_call(mermaid, &trace->spans.at[line->index]);
        else if (line->kind == LINE_FAULT)
            add_fault(mermaid, &trace->faults.at[line->index]);
        else
            add_finding(mermaid, &trace->findings.at[line->index]);
    }
}

/* --- The whole --- */

/* Returns how many ranks there are. */
static uint32_t add_participants(mermaid_picture *mermaid) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < mermaid->trace->lanes.count; i++) {
        const trace_lane *lane = &mermaid->trace->lanes.at[i];
        if (lane->stream) continue;
        trace_text_add(mermaid->out, "  participant R%" PRId32 " as rank %" PRId32 "\n", lane->rank,
                       lane->rank);
        count++;
    }
    return count;
}

tutti_status trace_picture_mermaid(trace_text *out, const tutti_trace *trace,
                                   const tutti_trace_picture *picture, tutti_error *error) {
    mermaid_picture mermaid = {.out = out, .trace = trace};
    if (picture->title) {
        trace_text_add_plain(out, "%% ");
        trace_text_add_first_line(out, trace_text_add_mermaid, picture->title);
        trace_text_add_plain(out, "\n");
    }
    trace_text_add_plain(out, "sequenceDiagram\n");
    const uint32_t rank_count = add_participants(&mermaid);
    if (rank_count > TUTTI_SEQUENCE_RANKS_MAX)
        return tutti_error_set(error, TUTTI_UNSUPPORTED,
                               "a sequence diagram shows at most %d ranks, and the trace has "
                               "%" PRIu32 ": take svg or chrome instead",
                               TUTTI_SEQUENCE_RANKS_MAX, rank_count);
    mermaid.lines = calloc((size_t)trace->sets.count + trace->spans.count + trace->faults.count +
                               trace->findings.count + 1,
                           sizeof *mermaid.lines);
    out->failed = out->failed || !mermaid.lines;
    if (!out->failed && rank_count > 0) {
        collect_lines(&mermaid);
        add_lines(&mermaid);
    }
    free(mermaid.lines);
    trace_text_free(&mermaid.words);
    return TUTTI_OK;
}
