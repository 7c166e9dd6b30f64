#include "src/trace/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- The model's memory --- */

bool trace_grow_bytes(void **elements, uint32_t count, uint32_t *room, size_t element_bytes) {
    enum { ROOM_FIRST = 16 };
    if (count < *room) return true;
    const uint32_t larger = *room ? *room * 2 : ROOM_FIRST;
    if (*room > NONE / 2 - 1 || larger > SIZE_MAX / element_bytes) return false;
    void *grown = realloc(*elements, larger * element_bytes);
    if (!grown) return false;
    *elements = grown;
    *room = larger;
    return true;
}

void tutti_trace_free(tutti_trace *trace) {
    if (!trace) return;
    free(trace->events.at);
    free(trace->lanes.at);
    free(trace->spans.at);
    free(trace->sets.at);
    free(trace->findings.at);
    free(trace->finding_ranks.at);
    free(trace->faults.at);
    free(trace->graphs.at);
    free(trace->nodes.at);
    free(trace->edges.at);
    trace_names_free(&trace->names);
    free(trace);
}

uint64_t tutti_trace_event_count(const tutti_trace *trace) {
    return trace->events.count;
}

int64_t trace_shown_ns(const tutti_trace *trace, uint32_t event) {
    if (event < trace->events.count) return trace->events.at[event].shown_ns;
    const uint32_t count = trace->events.count;
    return count == 0 ? 0 : trace->events.at[count - 1].shown_ns + 1;
}

const trace_finding *trace_root_finding(const tutti_trace *trace) {
    for (uint32_t i = 0; i < trace->findings.count; i++)
        if (!trace->findings.at[i].is_note) return &trace->findings.at[i];
    return NULL;
}

/* --- Lines --- */

static const char header_start[] = "{\"tutti_trace\":";

static bool is_header(const char *line, size_t bytes) {
    const size_t start_bytes = sizeof header_start - 1;
    return bytes >= start_bytes && memcmp(line, header_start, start_bytes) == 0;
}

/* The text's lines, one after the other. */
typedef struct line_walk {
    const char *at, *end;
    const char *line;
    size_t bytes;    /* without the newline */
    uint32_t number; /* from 1 */
} line_walk;

static bool next_line(line_walk *walk) {
    if (walk->at == walk->end || walk->number == UINT32_MAX) return false;
    const char *newline = memchr(walk->at, '\n', (size_t)(walk->end - walk->at));
    walk->line = walk->at;
    walk->bytes = (size_t)((newline ? newline : walk->end) - walk->at);
    walk->at = newline ? newline + 1 : walk->end;
    walk->number++;
    return true;
}

static bool is_blank(const char *line, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') return false;
    return true;
}

static void take_line(trace_reader *reader, const line_walk *walk) {
    reader->line = walk->line;
    reader->line_bytes = walk->bytes;
    reader->line_number = walk->number;
    if (walk->bytes > TUTTI_TRACE_LINE_BYTES_MAX)
        trace_reader_fail(reader, TUTTI_TRACE_LINE_BYTES_MAX, "a line has at most %d bytes",
                          TUTTI_TRACE_LINE_BYTES_MAX);
}

/* --- Which of several traces --- */

/* Stops before the first line that is wanted. False when there is no such trace. */
static tutti_status find_trace(trace_reader *reader, line_walk *walk, uint32_t number) {
    line_walk ahead = *walk, found = *walk;
    uint32_t count = 0;
    for (line_walk before = ahead; next_line(&ahead); before = ahead) {
        if (!is_header(ahead.line, ahead.bytes)) continue;
        if (++count == (number ? number : 1)) found = before;
    }
    if (count < number)
        return tutti_error_set(reader->error, TUTTI_INVALID_ARGUMENT,
                               "%s: there is no trace number %" PRIu32 ": it holds %" PRIu32,
                               reader->name, number, count);
    if (number == 0 && count > 1)
        return tutti_error_set(reader->error, TUTTI_INVALID_ARGUMENT,
                               "%s: it holds %" PRIu32 " traces: say which, from 1", reader->name,
                               count);
    *walk = found;
    return TUTTI_OK;
}

static void read_header(trace_reader *reader, line_walk *walk) {
    static const char expected[] = "expected a trace, whose first line is "
                                   "{\"tutti_trace\":2,\"ranks\":...,\"devices\":...}";
    while (next_line(walk) && is_blank(walk->line, walk->bytes)) {
    }
    take_line(reader, walk);
    if (reader->status != TUTTI_OK) return;
    if (walk->number == 0 || !is_header(walk->line, walk->bytes)) {
        if (walk->number == 0) reader->line_number = 1;
        trace_reader_fail(reader, 1, "%s", expected);
        return;
    }
    if (!trace_reader_parse_line(reader)) return;
    const int64_t version = trace_field_integer_needed(reader, "tutti_trace", 0, INT64_MAX);
    if (reader->status == TUTTI_OK && version != TUTTI_TRACE_VERSION)
        trace_reader_fail(reader, 1,
                          "the trace is of version %" PRId64
                          ", and this program reads version %d: write "
                          "it anew",
                          version, TUTTI_TRACE_VERSION);
    reader->trace->rank_count = trace_field_integer_needed(reader, "ranks", 0, TUTTI_RANKS_MAX);
    reader->trace->device_count =
        trace_field_integer_needed(reader, "devices", 0, TUTTI_DEVICES_PER_RUN_MAX);
}

/* --- Events --- */

static void add_event(trace_reader *reader, int64_t t_ns) {
    tutti_trace *trace = reader->trace;
    const uint32_t count = trace->events.count;
    int64_t shown_ns = t_ns;
    if (count >= TUTTI_TRACE_EVENTS_MAX) {
        reader->status =
            tutti_error_set(reader->error, TUTTI_UNSUPPORTED, "%s: a trace has at most %d events",
                            reader->name, TUTTI_TRACE_EVENTS_MAX);
        return;
    }
    if (!trace_grow(&trace->events)) {
        trace_reader_no_memory(reader);
        return;
    }
    if (count > 0 && shown_ns <= trace->events.at[count - 1].shown_ns)
        shown_ns = trace->events.at[count - 1].shown_ns + 1;
    trace->events.at[trace->events.count++] = (trace_event){t_ns, shown_ns};
}

static int64_t last_time(const tutti_trace *trace) {
    return trace->events.count == 0 ? 0 : trace->events.at[trace->events.count - 1].t_ns;
}

static void read_event(trace_reader *reader, const char *event, int64_t t_ns) {
    add_event(reader, t_ns);
    if (reader->status != TUTTI_OK) return;
    if (strcmp(event, "call") == 0)
        trace_build_call(reader);
    else if (strcmp(event, "block") == 0)
        trace_build_block(reader);
    else if (strcmp(event, "return") == 0)
        trace_build_return(reader);
    else if (strcmp(event, "issue") == 0 || strcmp(event, "start") == 0 ||
             strcmp(event, "complete") == 0)
        trace_build_operation(reader, event);
    else if (strcmp(event, "fault") == 0)
        trace_build_fault(reader);
    else if (strcmp(event, "finding") == 0)
        trace_build_finding(reader);
    /* Others are of a later version of the same format: they only take their place in time. */
}

/* Times beyond this could not be kept apart (shown_ns). */
#define TIME_NS_MAX (INT64_MAX - 2 * (int64_t)TUTTI_TRACE_EVENTS_MAX)

static void read_line(trace_reader *reader) {
    if (!trace_reader_parse_line(reader)) return;
    if (json_object_get(reader->object, "trace_hash")) {
        trace_field_name_needed(reader,
                                "trace_hash"); /* of a trace that was kept: says nothing of it */
        return;
    }
    const int64_t t_ns =
        trace_field_integer_needed(reader, "t", last_time(reader->trace), TIME_NS_MAX);
    const char *event = trace_field_name_needed(reader, "event");
    if (reader->status != TUTTI_OK) return;
    if (strcmp(event, "waits") == 0)
        trace_build_graph(reader, t_ns);
    else if (strcmp(event, "node") == 0)
        trace_build_node(reader);
    else if (strcmp(event, "edge") == 0)
        trace_build_edge(reader);
    else
        read_event(reader, event, t_ns);
}

static void drop_object(trace_reader *reader) {
    union {
        const json_t *constant;
        json_t *plain;
    } shared = {reader->object};
    json_decref(shared.plain);
    reader->object = NULL;
}

static void read_lines(trace_reader *reader, line_walk *walk) {
    read_header(reader, walk);
    drop_object(reader);
    while (reader->status == TUTTI_OK && next_line(walk)) {
        if (is_header(walk->line, walk->bytes)) break;
        if (is_blank(walk->line, walk->bytes)) continue;
        take_line(reader, walk);
        if (reader->status == TUTTI_OK) read_line(reader);
        drop_object(reader);
    }
    if (reader->status == TUTTI_OK) trace_build_finish(reader);
}

tutti_status tutti_trace_read(const char *name, const char *text, size_t text_bytes,
                              uint32_t number, tutti_trace **trace_out, tutti_error *error) {
    trace_reader reader = {.name = name ? name : "trace", .error = error};
    line_walk walk = {text, text ? text + text_bytes : text, NULL, 0, 0};
    tutti_error_clear(error);
    if (!trace_out) return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "trace_out is NULL");
    tutti_status status = find_trace(&reader, &walk, number);
    if (status != TUTTI_OK) return status;
    reader.trace = calloc(1, sizeof *reader.trace);
    if (reader.trace)
        read_lines(&reader, &walk);
    else
        trace_reader_no_memory(&reader);
    trace_table_free(&reader.lane_table);
    trace_table_free(&reader.open_table);
    trace_table_free(&reader.set_table);
    free(reader.hosts.at);
    if (reader.status == TUTTI_OK)
        *trace_out = reader.trace;
    else
        tutti_trace_free(reader.trace);
    return reader.status;
}
