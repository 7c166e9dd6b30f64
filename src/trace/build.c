#include "src/trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Events become calls and operations with a beginning and an end, in lanes. A trace that says odd
 * things (an end without a beginning) is drawn as far as it makes sense. */

static uint32_t this_event(const trace_reader *reader) {
    return reader->trace->events.count - 1;
}

static int32_t field_rank(trace_reader *reader) {
    return (int32_t)trace_field_integer_needed(reader, "rank", 0, TUTTI_RANKS_MAX - 1);
}

/* --- Lanes --- */

static uint32_t add_lane(trace_reader *reader, const trace_lane *lane) {
    tutti_trace *trace = reader->trace;
    if (!trace_grow(&trace->lanes)) {
        trace_reader_no_memory(reader);
        return 0;
    }
    trace->lanes.at[trace->lanes.count] = *lane;
    trace->lanes.at[trace->lanes.count].order = trace->lanes.count;
    return trace->lanes.count++;
}

/* What is known of a host; NULL when memory is out. */
static trace_host *host_of(trace_reader *reader, int32_t rank) {
    while (reader->hosts.count <= (uint32_t)rank) {
        if (!trace_grow(&reader->hosts)) {
            trace_reader_no_memory(reader);
            return NULL;
        }
        reader->hosts.at[reader->hosts.count++] = (trace_host){0, 0};
    }
    trace_host *host = &reader->hosts.at[rank];
    if (host->lane == 0)
        host->lane = 1 + add_lane(reader, &(trace_lane){.rank = rank, .device = -1});
    return reader->status == TUTTI_OK ? host : NULL;
}

static uint32_t stream_lane(trace_reader *reader, int32_t rank) {
    const char *stream = trace_field_name_needed(reader, "stream");
    const int64_t device =
        trace_field_integer(reader, "device", 0, TUTTI_DEVICES_PER_RUN_MAX - 1, -1);
    const uint64_t key[TABLE_WORDS] = {(uint64_t)rank, (uint64_t)device, (uintptr_t)stream};
    bool is_new;
    if (reader->status != TUTTI_OK || !host_of(reader, rank)) return 0;
    table_entry *entry = trace_table_find(&reader->lane_table, key, &is_new);
    if (!entry) {
        trace_reader_no_memory(reader);
        return 0;
    }
    if (is_new) entry->first = add_lane(reader, &(trace_lane){rank, device, stream, 0});
    return entry->first;
}

static int compare_lanes(const void *a, const void *b) {
    const trace_lane *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if ((x->stream == NULL) != (y->stream == NULL)) return x->stream == NULL ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

void trace_build_finish(trace_reader *reader) {
    tutti_trace *trace = reader->trace;
    const uint32_t count = trace->lanes.count;
    if (count == 0) return;
    uint32_t *places = malloc(count * sizeof *places);
    if (!places) {
        trace_reader_no_memory(reader);
        return;
    }
    qsort(trace->lanes.at, count, sizeof *trace->lanes.at, compare_lanes);
    for (uint32_t i = 0; i < count; i++)
        places[trace->lanes.at[i].order] = i;
    for (uint32_t i = 0; i < trace->spans.count; i++)
        trace->spans.at[i].lane = places[trace->spans.at[i].lane];
    free(places);
}

/* --- Spans --- */

static trace_span *add_span(trace_reader *reader, span_kind kind, int32_t rank, uint32_t lane,
                            const char *name) {
    tutti_trace *trace = reader->trace;
    if (reader->status == TUTTI_OK && !trace_grow(&trace->spans)) trace_reader_no_memory(reader);
    if (reader->status != TUTTI_OK) return NULL;
    trace_span *span = &trace->spans.at[trace->spans.count++];
    *span =
        (trace_span){.kind = (uint8_t)kind,
                     .rank = rank,
                     .peer = -1,
                     .member = (int32_t)trace_field_integer(reader, "member", -1, INT32_MAX, rank),
                     .lane = lane,
                     .issued = this_event(reader),
                     .begun = NONE,
                     .ended = NONE,
                     .set = NONE,
                     .next_part = NONE,
                     .next_open = NONE,
                     .seq = trace_field_integer(reader, "seq", 0, INT64_MAX, -1),
                     .count = trace_field_integer(reader, "count", 0, INT64_MAX, -1),
                     .group = trace_field_integer(reader, "group", 0, INT64_MAX, -1),
                     .generation = trace_field_integer(reader, "generation", 0, INT64_MAX, 0),
                     .duration_ns = trace_field_integer(reader, "duration_ns", 0, INT64_MAX, 0),
                     .name = name,
                     .comm = trace_field_name(reader, "comm"),
                     .type = trace_field_name(reader, "type"),
                     .reduce = trace_field_name(reader, "reduce"),
                     .at = trace_field_name(reader, "at")};
    return span;
}

/* --- Calls --- */

/* The host's call that is not over; NULL. */
static trace_span *open_call(trace_reader *reader, const trace_host *host) {
    return host->call == 0 ? NULL : &reader->trace->spans.at[host->call - 1];
}

/* A call that waits is over without a word when its host does something else. */
static void close_call(trace_reader *reader, trace_host *host) {
    trace_span *open = open_call(reader, host);
    if (open && open->waits && open->ended == NONE) open->ended = this_event(reader);
    host->call = 0;
}

static void start_call(trace_reader *reader, trace_host *host, int32_t rank, const char *name) {
    close_call(reader, host);
    trace_span *span = add_span(reader, SPAN_CALL, rank, host->lane - 1, name);
    if (!span) return;
    span->begun = span->issued;
    host->call = reader->trace->spans.count;
}

void trace_build_call(trace_reader *reader) {
    const int32_t rank = field_rank(reader);
    const char *name = trace_field_name_needed(reader, "call");
    trace_host *host = reader->status == TUTTI_OK ? host_of(reader, rank) : NULL;
    if (!host) return;
    trace_span *open = open_call(reader, host);
    /* A call that a fault has held up is made again. */
    if (open && open->waits && open->name == name) {
        if (!open->comm) open->comm = trace_field_name(reader, "comm");
        return;
    }
    start_call(reader, host, rank, name);
}

void trace_build_block(trace_reader *reader) {
    const int32_t rank = field_rank(reader);
    const char *name = trace_field_name_needed(reader, "call");
    trace_host *host = reader->status == TUTTI_OK ? host_of(reader, rank) : NULL;
    if (!host) return;
    trace_span *open = open_call(reader, host);
    if (!open || open->name != name) start_call(reader, host, rank, name);
    open = open_call(reader, host);
    if (open) open->waits = true;
}

void trace_build_return(trace_reader *reader) {
    const int32_t rank = field_rank(reader);
    const char *name = trace_field_name_needed(reader, "call");
    trace_host *host = reader->status == TUTTI_OK ? host_of(reader, rank) : NULL;
    if (!host) return;
    trace_span *open = open_call(reader, host);
    if (!open || open->name != name) start_call(reader, host, rank, name);
    open = open_call(reader, host);
    if (!open) return;
    open->status = trace_field_name_needed(reader, "status");
    open->failed = strcmp(open->status, "ok") != 0 && strcmp(open->status, "in_progress") != 0;
    if (open->waits) open->ended = this_event(reader);
    if (!open->comm) open->comm = trace_field_name(reader, "comm");
    host->call = 0;
}

/* --- Operations --- */

/* Operations with one identity complete in the order in which they were issued. */
static table_entry *open_entry(trace_reader *reader, uint32_t lane, const char *name) {
    const uint64_t key[TABLE_WORDS] = {
        (uint64_t)lane << 32 |
            (uint64_t)(trace_field_integer(reader, "peer", -1, INT32_MAX, -1) + 1),
        (uintptr_t)name,
        (uint64_t)trace_field_integer(reader, "group", 0, INT64_MAX, -1),
        (uint64_t)trace_field_integer(reader, "generation", 0, INT64_MAX, 0),
        (uint64_t)trace_field_integer(reader, "seq", 0, INT64_MAX, -1),
        (uint64_t)trace_field_integer(reader, "mark", 0, INT64_MAX, -1)};
    bool is_new;
    if (reader->status != TUTTI_OK) return NULL;
    table_entry *entry = trace_table_find(&reader->open_table, key, &is_new);
    if (!entry) trace_reader_no_memory(reader);
    if (entry && is_new) entry->first = entry->last = entry->waiting = NONE;
    return entry;
}

/* A collective's parts have its number; the halves of a transfer have their pair's. */
static void join_set(trace_reader *reader, uint32_t number) {
    tutti_trace *trace = reader->trace;
    trace_span *span = &trace->spans.at[number];
    if (!span->comm || span->seq < 0) return;
    const int32_t from = !span->is_transfer ? -1 : span->sends ? span->member : span->peer;
    const int32_t to = !span->is_transfer ? -1 : span->sends ? span->peer : span->member;
    const uint64_t key[TABLE_WORDS] = {(uintptr_t)span->comm,
                                       (uint64_t)span->group,
                                       (uint64_t)span->generation,
                                       (uint64_t)span->seq,
                                       (uint64_t)from << 32 | (uint32_t)to,
                                       span->is_transfer};
    bool is_new;
    table_entry *entry = trace_table_find(&reader->set_table, key, &is_new);
    if (!entry || (is_new && !trace_grow(&trace->sets))) {
        trace_reader_no_memory(reader);
        return;
    }
    if (is_new) {
        entry->first = trace->sets.count;
        trace->sets.at[trace->sets.count++] = (trace_set){number, number, 0, 0};
    }
    trace_set *set = &trace->sets.at[entry->first];
    if (set->count > 0) trace->spans.at[set->last].next_part = number;
    set->last = number;
    set->count++;
    span->set = entry->first;
}

static const char *field_memory(trace_reader *reader, const char *key, const char *name_key) {
    const char *place = trace_field_name(reader, key);
    const char *name = trace_field_name(reader, name_key);
    if (!place || !name) return place;
    const char *offset = strrchr(place, '+');
    char text[512];
    const int bytes = snprintf(text, sizeof text, "%.255s%.32s", name, offset ? offset : "");
    const char *kept = trace_names_keep(&reader->trace->names, text, (size_t)bytes);
    if (!kept) trace_reader_no_memory(reader);
    return kept ? kept : "";
}

/* Adds an operation that is to be found again by its identity; its number, or NONE. */
static uint32_t issue_operation(trace_reader *reader, int32_t rank, uint32_t lane,
                                const char *name) {
    trace_span *span = add_span(reader, SPAN_OPERATION, rank, lane, name);
    if (!span) return NONE;
    const uint32_t number = reader->trace->spans.count - 1;
    span->sends = strcmp(name, "send") == 0;
    span->is_transfer = span->sends || strcmp(name, "recv") == 0;
    span->peer = (int32_t)trace_field_integer(reader, "peer", -1, INT32_MAX, -1);
    span->source = field_memory(reader, "source", "source_name");
    span->destination = field_memory(reader, "destination", "destination_name");
    join_set(reader, number);
    table_entry *entry = open_entry(reader, lane, name);
    if (!entry) return NONE;
    if (entry->first == NONE)
        entry->first = number;
    else
        reader->trace->spans.at[entry->last].next_open = number;
    entry->last = number;
    if (entry->waiting == NONE) entry->waiting = number;
    return number;
}

static void start_operation(trace_reader *reader, table_entry *entry) {
    tutti_trace *trace = reader->trace;
    trace_span *span = &trace->spans.at[entry->waiting];
    entry->waiting = span->next_open;
    span->begun = this_event(reader);
    if (span->set != NONE) trace->sets.at[span->set].started++;
}

/* Some operations (records, waits, those of a group that failed) complete without a start; only
 * the former were at work. */
static void complete_operation(trace_reader *reader, table_entry *entry) {
    trace_span *span = &reader->trace->spans.at[entry->first];
    if (entry->waiting == entry->first) entry->waiting = span->next_open;
    entry->first = span->next_open;
    span->ended = this_event(reader);
    span->failed = trace_field_flag(reader, "failed");
    if (span->begun == NONE && !span->failed) span->begun = span->ended;
}

void trace_build_operation(trace_reader *reader, const char *event) {
    const int32_t rank = field_rank(reader);
    const char *name = trace_field_name_needed(reader, "op");
    /* A group call's place in a stream neither starts nor ends: its parts do. */
    if (reader->status != TUTTI_OK || strcmp(name, "group") == 0) return;
    const uint32_t lane = stream_lane(reader, rank);
    const bool issues = strcmp(event, "issue") == 0, starts = strcmp(event, "start") == 0;
    table_entry *entry = reader->status == TUTTI_OK ? open_entry(reader, lane, name) : NULL;
    if (!entry) return;
    if (issues) close_call(reader, &reader->hosts.at[rank]);
    if (issues || (starts ? entry->waiting : entry->first) == NONE) {
        if (issue_operation(reader, rank, lane, name) == NONE) return;
        entry = open_entry(reader, lane, name); /* the table may have grown */
    }
    if (!entry || issues) return;
    if (starts)
        start_operation(reader, entry);
    else
        complete_operation(reader, entry);
}

/* --- What was found, what was provoked --- */

void trace_build_fault(trace_reader *reader) {
    tutti_trace *trace = reader->trace;
    if (!trace_grow(&trace->faults)) {
        trace_reader_no_memory(reader);
        return;
    }
    const trace_fault fault = {.event = this_event(reader),
                               .rank = field_rank(reader),
                               .call = trace_field_name_needed(reader, "call"),
                               .action = trace_field_name_needed(reader, "action"),
                               .rule = trace_field_integer(reader, "rule", 0, INT64_MAX, 0)};
    if (reader->status != TUTTI_OK || !host_of(reader, fault.rank)) return;
    trace->faults.at[trace->faults.count++] = fault;
}

static void add_culprits(trace_reader *reader, trace_finding *finding) {
    tutti_trace *trace = reader->trace;
    const json_t *ranks = json_object_get(reader->object, "culprits");
    for (size_t i = 0; i < json_array_size(ranks); i++) {
        const json_t *rank = json_array_get(ranks, i);
        const int64_t number = json_integer_value(rank);
        if (!json_is_integer(rank) || number < 0 || number >= TUTTI_RANKS_MAX) {
            trace_reader_fail(reader, 1, "\"culprits\" must be a list of ranks");
            return;
        }
        if (!trace_grow(&trace->finding_ranks)) {
            trace_reader_no_memory(reader);
            return;
        }
        if (!host_of(reader, (int32_t)number)) return;
        trace->finding_ranks.at[trace->finding_ranks.count++] = (int32_t)number;
        finding->rank_count++;
    }
}

void trace_build_finding(trace_reader *reader) {
    tutti_trace *trace = reader->trace;
    trace_finding finding = {.event = this_event(reader),
                             .is_note = trace_field_flag(reader, "note"),
                             .kind = trace_field_name_needed(reader, "kind"),
                             .detail = trace_field_name(reader, "detail"),
                             .text = trace_field_name(reader, "text"),
                             .first_rank = trace->finding_ranks.count};
    add_culprits(reader, &finding);
    /* What nobody is to blame for stands with rank 0. */
    if (finding.rank_count == 0) (void)host_of(reader, 0);
    if (reader->status == TUTTI_OK && !trace_grow(&trace->findings)) trace_reader_no_memory(reader);
    if (reader->status != TUTTI_OK) return;
    trace->findings.at[trace->findings.count++] = finding;
}

/* --- Wait-for graphs --- */

void trace_build_graph(trace_reader *reader, int64_t t_ns) {
    tutti_trace *trace = reader->trace;
    if (!trace_grow(&trace->graphs)) {
        trace_reader_no_memory(reader);
        return;
    }
    trace->graphs.at[trace->graphs.count++] = (trace_graph){
        .event = trace->events.count,
        .t_ns = t_ns,
        .first_node = trace->nodes.count,
        .nodes_said = (uint32_t)trace_field_integer_needed(reader, "nodes", 0, UINT32_MAX - 1),
        .first_edge = trace->edges.count};
}

/* The graph that the line belongs to; NULL, and failed, when there is none. */
static trace_graph *this_graph(trace_reader *reader) {
    tutti_trace *trace = reader->trace;
    if (trace->graphs.count == 0)
        trace_reader_fail(reader, 1, "expected an event \"waits\" before a node or an edge");
    return reader->status == TUTTI_OK ? &trace->graphs.at[trace->graphs.count - 1] : NULL;
}

void trace_build_node(trace_reader *reader) {
    tutti_trace *trace = reader->trace;
    trace_graph *graph = this_graph(reader);
    if (!graph) return;
    const trace_node node = {
        .kind = trace_field_name_needed(reader, "kind"),
        .text = trace_field_name_needed(reader, "text"),
        .rank = (int32_t)trace_field_integer(reader, "rank", 0, TUTTI_RANKS_MAX - 1, -1),
        .cycle = (uint32_t)trace_field_integer(reader, "cycle", 1, UINT32_MAX - 1, 0)};
    /* Numbered from 0, and before the first edge. */
    trace_field_integer_needed(reader, "node", graph->node_count, graph->node_count);
    if (reader->status == TUTTI_OK && graph->node_count >= graph->nodes_said)
        trace_reader_fail(reader, 1, "the graph was to have %u nodes", (unsigned)graph->nodes_said);
    if (reader->status == TUTTI_OK && !trace_grow(&trace->nodes)) trace_reader_no_memory(reader);
    if (reader->status != TUTTI_OK) return;
    trace->nodes.at[trace->nodes.count++] = node;
    graph->node_count++;
}

void trace_build_edge(trace_reader *reader) {
    tutti_trace *trace = reader->trace;
    trace_graph *graph = this_graph(reader);
    if (!graph) return;
    const int64_t last = (int64_t)graph->node_count - 1;
    const int64_t to = trace_field_integer(reader, "to", 0, last, -1);
    const trace_edge edge = {
        .from = (uint32_t)trace_field_integer_needed(reader, "node", 0, last),
        .to = to < 0 ? NONE : (uint32_t)to,
        .gone = (int32_t)trace_field_integer(reader, "gone", 0, TUTTI_RANKS_MAX - 1, -1),
        .why = trace_field_name_needed(reader, "why")};
    if (reader->status == TUTTI_OK && !trace_grow(&trace->edges)) trace_reader_no_memory(reader);
    if (reader->status != TUTTI_OK) return;
    trace->edges.at[trace->edges.count++] = edge;
    graph->edge_count++;
}
