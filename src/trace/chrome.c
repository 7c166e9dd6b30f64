#include "src/trace/picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Chrome's trace format:
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU A process is a
 * rank, a thread its host or a stream. Complete events (X) of a thread must nest or be disjoint, so
 * operations that run at once (those of a group call) share one and are asynchronous events (b, e)
 * themselves. Flows (s, t, f) join the parts of one operation. Times are microseconds of the
 * cluster's clock; events at one moment are a nanosecond apart, in their order, so that none hides
 * another (args say the exact time). */

enum { TID_HOST = 1 }; /* streams come after it; 0 means an idle thread to some viewers */

/* An operation that takes room in its track. */
typedef struct chrome_slice {
    uint32_t lane, span;
    int64_t from_ns, to_ns; /* as they are shown */
} chrome_slice;

typedef struct chrome_picture {
    trace_text *out;
    trace_text words; /* scratch */
    const tutti_trace *trace;
    uint32_t *tids;       /* by lane */
    chrome_slice *slices; /* by lane, then by when they begin */
    uint32_t slice_count;
    bool first; /* no event is written so far */
} chrome_picture;

/* --- Events --- */

static void begin_event(chrome_picture *chrome, const char *phase, int32_t pid, uint32_t tid) {
    trace_text_add_plain(chrome->out, chrome->first ? "\n" : ",\n");
    chrome->first = false;
    trace_text_add(chrome->out, "{\"ph\":\"%s\",\"pid\":%" PRId32 ",\"tid\":%" PRIu32, phase, pid,
                   tid);
}

static void add_microseconds(chrome_picture *chrome, const char *key, int64_t ns) {
    trace_text_add(chrome->out, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void add_time(chrome_picture *chrome, uint32_t event) {
    add_microseconds(chrome, "ts", trace_shown_ns(chrome->trace, event));
}

/* `,"key":"..."` with what stands in chrome->words. */
static void add_words(chrome_picture *chrome, const char *key) {
    trace_text_add(chrome->out, ",\"%s\":\"", key);
    trace_picture_add_quoted(chrome->out, trace_text_add_json, &chrome->words);
    trace_text_add_plain(chrome->out, "\"");
}

static void add_text(chrome_picture *chrome, const char *key, const char *text) {
    if (!text) return;
    trace_text_add_plain(&chrome->words, text);
    add_words(chrome, key);
}

static void end_event(chrome_picture *chrome) {
    trace_text_add_plain(chrome->out, "}");
}

/* --- Names of tracks --- */

static void add_metadata(chrome_picture *chrome, const char *what, int32_t pid, uint32_t tid) {
    begin_event(chrome, "M", pid, tid);
    trace_text_add(chrome->out, ",\"name\":\"%s\",\"args\":{\"name\":\"", what);
    trace_picture_add_quoted(chrome->out, trace_text_add_json, &chrome->words);
    trace_text_add_plain(chrome->out, "\"}}");
}

static void add_sort_index(chrome_picture *chrome, const char *what, int32_t pid, uint32_t tid,
                           uint32_t index) {
    begin_event(chrome, "M", pid, tid);
    trace_text_add(chrome->out, ",\"name\":\"%s\",\"args\":{\"sort_index\":%" PRIu32 "}}", what,
                   index);
}

static void add_tracks(chrome_picture *chrome) {
    for (uint32_t i = 0; i < chrome->trace->lanes.count; i++) {
        const trace_lane *lane = &chrome->trace->lanes.at[i];
        const bool is_host = lane->stream == NULL;
        chrome->tids[i] = is_host ? TID_HOST : chrome->tids[i - 1] + 1;
        if (is_host) {
            trace_text_add(&chrome->words, "rank %" PRId32, lane->rank);
            add_metadata(chrome, "process_name", lane->rank, TID_HOST);
            add_sort_index(chrome, "process_sort_index", lane->rank, TID_HOST,
                           (uint32_t)lane->rank);
        }
        trace_text_add_plain(&chrome->words, is_host ? "host" : "stream ");
        if (!is_host) trace_text_add_plain(&chrome->words, lane->stream);
        if (lane->device >= 0) trace_text_add(&chrome->words, " of device %" PRId64, lane->device);
        add_metadata(chrome, "thread_name", lane->rank, chrome->tids[i]);
        add_sort_index(chrome, "thread_sort_index", lane->rank, chrome->tids[i], chrome->tids[i]);
    }
}

/* --- Calls and operations --- */

static void add_arguments(chrome_picture *chrome, const trace_span *span) {
    const tutti_trace *trace = chrome->trace;
    trace_text_add(chrome->out, ",\"args\":{\"t_ns\":%" PRId64,
                   trace->events.at[span->issued].t_ns);
    if (span->ended != NONE)
        trace_text_add(chrome->out, ",\"end_ns\":%" PRId64, trace->events.at[span->ended].t_ns);
    if (span->seq >= 0) trace_text_add(chrome->out, ",\"seq\":%" PRId64, span->seq);
    if (span->count >= 0) trace_text_add(chrome->out, ",\"count\":%" PRId64, span->count);
    add_text(chrome, "type", span->type);
    add_text(chrome, "reduce", span->reduce);
    add_text(chrome, "source", span->source);
    add_text(chrome, "destination", span->destination);
    add_text(chrome, "status", span->status);
    add_text(chrome, "at", span->at);
    if (span->failed) trace_text_add_plain(chrome->out, ",\"failed\":true");
    if (span->ended == NONE && (span->waits || span->kind == SPAN_OPERATION))
        trace_text_add_plain(chrome->out, ",\"unfinished\":true");
    trace_text_add_plain(chrome->out, "}");
}

static void add_span_name(chrome_picture *chrome, const trace_span *span) {
    trace_picture_add_span(&chrome->words, span);
    add_words(chrome, "name");
}

static int32_t pid_of(const chrome_picture *chrome, const trace_span *span) {
    return chrome->trace->lanes.at[span->lane].rank;
}

static void add_slice(chrome_picture *chrome, const trace_span *span) {
    const int64_t from_ns = trace_shown_ns(chrome->trace, span->begun);
    begin_event(chrome, "X", pid_of(chrome, span), chrome->tids[span->lane]);
    trace_text_add_plain(chrome->out,
                         span->kind == SPAN_CALL ? ",\"cat\":\"call\"" : ",\"cat\":\"operation\"");
    add_span_name(chrome, span);
    add_microseconds(chrome, "ts", from_ns);
    add_microseconds(chrome, "dur", trace_shown_ns(chrome->trace, span->ended) - from_ns);
    add_arguments(chrome, span);
    end_event(chrome);
}

static void add_instant(chrome_picture *chrome, const trace_span *span) {
    begin_event(chrome, "i", pid_of(chrome, span), chrome->tids[span->lane]);
    trace_text_add_plain(chrome->out, ",\"s\":\"t\"");
    add_span_name(chrome, span);
    add_time(chrome, span->begun);
    add_arguments(chrome, span);
    end_event(chrome);
}

/* Both ends of an asynchronous event. */
static void add_overlapping(chrome_picture *chrome, const trace_span *span, const char *category,
                            uint32_t from, uint32_t to) {
    const uint32_t number = (uint32_t)(span - chrome->trace->spans.at);
    for (int end = 0; end < 2; end++) {
        begin_event(chrome, end ? "e" : "b", pid_of(chrome, span), chrome->tids[span->lane]);
        trace_text_add(chrome->out, ",\"cat\":\"%s\",\"id\":\"%s%" PRIu32 "\"", category, category,
                       number);
        add_span_name(chrome, span);
        add_time(chrome, end ? to : from);
        if (!end) add_arguments(chrome, span);
        end_event(chrome);
    }
}

static void add_calls(chrome_picture *chrome) {
    for (uint32_t i = 0; i < chrome->trace->spans.count; i++) {
        const trace_span *span = &chrome->trace->spans.at[i];
        if (span->kind != SPAN_CALL) continue;
        if (span->waits)
            add_slice(chrome, span);
        else
            add_instant(chrome, span);
    }
}

/* --- Operations that run at once --- */

/* Whether the operation takes room in its track: records and waits are moments. */
static bool has_slice(const trace_span *span) {
    return span->kind == SPAN_OPERATION && span->begun != NONE && span->begun != span->ended;
}

static int compare_slices(const void *a, const void *b) {
    const chrome_slice *x = a, *y = b;
    if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static void collect_slices(chrome_picture *chrome) {
    const tutti_trace *trace = chrome->trace;
    for (uint32_t i = 0; i < trace->spans.count; i++) {
        const trace_span *span = &trace->spans.at[i];
        if (!has_slice(span)) continue;
        chrome->slices[chrome->slice_count++] = (chrome_slice){
            span->lane, i, trace_shown_ns(trace, span->begun), trace_shown_ns(trace, span->ended)};
    }
    if (chrome->slice_count > 0)
        qsort(chrome->slices, chrome->slice_count, sizeof *chrome->slices, compare_slices);
}

/* How many slices from the first on run into one another; *to_ns_out is where they end. */
static uint32_t run_of_slices(const chrome_picture *chrome, uint32_t first, int64_t *to_ns_out) {
    int64_t to_ns = chrome->slices[first].to_ns;
    uint32_t next = first + 1;
    while (next < chrome->slice_count && chrome->slices[next].lane == chrome->slices[first].lane &&
           chrome->slices[next].from_ns < to_ns) {
        if (chrome->slices[next].to_ns > to_ns) to_ns = chrome->slices[next].to_ns;
        next++;
    }
    *to_ns_out = to_ns;
    return next - first;
}

/* One complete event for all of them: flows need one to start from. */
static void add_shared_slice(chrome_picture *chrome, const chrome_slice *first, uint32_t count,
                             int64_t to_ns) {
    const trace_span *span = &chrome->trace->spans.at[first->span];
    begin_event(chrome, "X", pid_of(chrome, span), chrome->tids[span->lane]);
    trace_text_add(chrome->out,
                   ",\"cat\":\"operation\",\"name\":\"%" PRIu32 " operations at once\"", count);
    add_microseconds(chrome, "ts", first->from_ns);
    add_microseconds(chrome, "dur", to_ns - first->from_ns);
    end_event(chrome);
}

static void add_operations(chrome_picture *chrome) {
    const trace_span *spans = chrome->trace->spans.at;
    for (uint32_t i = 0; i < chrome->slice_count;) {
        int64_t to_ns;
        const chrome_slice *run = &chrome->slices[i];
        const uint32_t count = run_of_slices(chrome, i, &to_ns);
        if (count > 1) add_shared_slice(chrome, run, count, to_ns);
        for (uint32_t j = 0; j < count; j++) {
            const trace_span *span = &spans[run[j].span];
            if (count > 1)
                add_overlapping(chrome, span, "operation", span->begun, span->ended);
            else
                add_slice(chrome, span);
        }
        i += count;
    }
}

/* Records and waits, and how long operations stood in their stream before they started. */
static void add_queues(chrome_picture *chrome) {
    for (uint32_t i = 0; i < chrome->trace->spans.count; i++) {
        const trace_span *span = &chrome->trace->spans.at[i];
        if (span->kind != SPAN_OPERATION) continue;
        const uint32_t until = span->begun != NONE ? span->begun : span->ended;
        if (span->begun != NONE && span->begun == span->ended) add_instant(chrome, span);
        if (until == NONE || until > span->issued + 1)
            add_overlapping(chrome, span, "queued", span->issued, until);
    }
}

/* --- Flows --- */

static void add_flow(chrome_picture *chrome, const trace_span *span, const char *phase,
                     uint32_t set) {
    begin_event(chrome, phase, pid_of(chrome, span), chrome->tids[span->lane]);
    trace_text_add(chrome->out, ",\"cat\":\"parts\",\"id\":%" PRIu32, set + 1);
    if (*phase == 'f') trace_text_add_plain(chrome->out, ",\"bp\":\"e\"");
    trace_text_add_plain(chrome->out, ",\"name\":\"parts of one operation\"");
    add_time(chrome, span->begun);
    end_event(chrome);
}

static int compare_begun(const void *a, const void *b) {
    const chrome_slice *x = a, *y = b;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* From the part that began first to the one that began last. */
static void add_flows(chrome_picture *chrome) {
    const tutti_trace *trace = chrome->trace;
    for (uint32_t i = 0; i < trace->sets.count; i++) {
        uint32_t count = 0;
        for (uint32_t at = trace->sets.at[i].first; at != NONE; at = trace->spans.at[at].next_part)
            if (has_slice(&trace->spans.at[at]))
                chrome->slices[count++] =
                    (chrome_slice){0, at, trace_shown_ns(trace, trace->spans.at[at].begun), 0};
        if (count < 2) continue;
        qsort(chrome->slices, count, sizeof *chrome->slices, compare_begun);
        for (uint32_t j = 0; j < count; j++)
            add_flow(chrome, &trace->spans.at[chrome->slices[j].span],
                     j == 0           ? "s"
                     : j + 1 == count ? "f"
                                      : "t",
                     i);
    }
}

/* --- Findings and faults --- */

static void add_mark(chrome_picture *chrome, int32_t rank, uint32_t event, const char *category,
                     const char *scope) {
    begin_event(chrome, "i", rank, TID_HOST);
    trace_text_add(chrome->out, ",\"s\":\"%s\",\"cat\":\"%s\"", scope, category);
    add_words(chrome, "name");
    add_time(chrome, event);
}

static void add_finding(chrome_picture *chrome, const trace_finding *finding, int32_t rank,
                        const char *scope) {
    trace_text_add_plain(&chrome->words, finding->is_note ? "note: " : "finding: ");
    trace_picture_add_finding(&chrome->words, finding);
    add_mark(chrome, rank, finding->event, "finding", scope);
    trace_text_add(chrome->out, ",\"args\":{\"t_ns\":%" PRId64,
                   chrome->trace->events.at[finding->event].t_ns);
    add_text(chrome, "text", finding->text);
    trace_text_add_plain(chrome->out, "}}");
}

static void add_findings(chrome_picture *chrome) {
    const tutti_trace *trace = chrome->trace;
    for (uint32_t i = 0; i < trace->findings.count; i++) {
        const trace_finding *finding = &trace->findings.at[i];
        for (uint32_t j = 0; j < finding->rank_count; j++)
            add_finding(chrome, finding, trace->finding_ranks.at[finding->first_rank + j], "p");
        if (finding->rank_count == 0) add_finding(chrome, finding, 0, "g");
    }
    for (uint32_t i = 0; i < trace->faults.count; i++) {
        const trace_fault *fault = &trace->faults.at[i];
        trace_text_add_plain(&chrome->words, "fault: ");
        trace_text_add_plain(&chrome->words, fault->action);
        trace_text_add_plain(&chrome->words, " in ");
        trace_text_add_plain(&chrome->words, fault->call);
        add_mark(chrome, fault->rank, fault->event, "fault", "t");
        trace_text_add(chrome->out, ",\"args\":{\"rule\":%" PRId64 "}}", fault->rule);
    }
}

/* --- The whole --- */

static void add_events(chrome_picture *chrome) {
    collect_slices(chrome);
    add_tracks(chrome);
    add_calls(chrome);
    add_operations(chrome);
    add_queues(chrome);
    add_flows(chrome); /* uses the room of the slices */
    add_findings(chrome);
}

static void add_head(chrome_picture *chrome, const tutti_trace_picture *picture) {
    trace_text_add(chrome->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tutti_trace\":\"%d\"",
                   TUTTI_TRACE_VERSION);
    add_text(chrome, "title", picture->title);
    trace_text_add_plain(chrome->out, "},\"traceEvents\":[");
}

void trace_picture_chrome(trace_text *out, const tutti_trace *trace,
                          const tutti_trace_picture *picture) {
    chrome_picture chrome = {.out = out, .trace = trace, .first = true};
    chrome.tids = calloc((size_t)trace->lanes.count + 1, sizeof *chrome.tids);
    chrome.slices = calloc((size_t)trace->spans.count + 1, sizeof *chrome.slices);
    out->failed = out->failed || !chrome.tids || !chrome.slices;
    add_head(&chrome, picture);
    if (!out->failed) add_events(&chrome);
    trace_text_add_plain(out, "\n]}\n");
    free(chrome.tids);
    free(chrome.slices);
    trace_text_free(&chrome.words);
}
