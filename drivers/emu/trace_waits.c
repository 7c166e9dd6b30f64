#include "drivers/emu/trace_line.h"
#include "drivers/emu/waitfor.h"

/* The wait-for graph in the trace: who waits for whom when nothing can move any more, or when a
 * time limit passes. It follows from the events before, so it counts neither in the hash nor among
 * the events; it is there so that pictures can be drawn of a trace alone. */

/* --- What a node is --- */

static const char *emu_node_word(const emu_node *node) {
    static const char *const words[] = {
        [EMU_NODE_HOST] = "rank",
        [EMU_NODE_OP] = "operation",
        [EMU_NODE_COLLECTIVE] = "collective",
        [EMU_NODE_GROUP] = "group",
    };
    return words[node->kind];
}

static void emu_text_add_collective(emu_text *text, const emu_collective *collective) {
    const emu_op *part = NULL;
    for (int32_t rank = 0; rank < collective->group->rank_count && part == NULL; rank++)
        part = collective->parts[rank];
    emu_text_add(text, "%s, operation %" PRIu64 " of %s: %" PRId32 " of %" PRId32 " parts started",
                 part == NULL ? "collective" : emu_op_name(part), collective->seq,
                 collective->group->name, collective->started_count, collective->group->rank_count);
}

static void emu_text_add_node(emu_text *text, const emu_node *node) {
    if (node->kind == EMU_NODE_HOST) {
        emu_text_add_standing(text, node->object);
    } else if (node->kind == EMU_NODE_COLLECTIVE) {
        emu_text_add_collective(text, node->object);
    } else if (node->kind == EMU_NODE_GROUP) {
        const emu_group *group = node->object;
        emu_text_add(text, "join of %s: %" PRId32 " of %" PRId32 " ranks", group->name,
                     group->joined_count, group->rank_count);
    } else {
        const emu_op *op = node->object;
        if (op->kind == EMU_OP_GROUP && op->launch->parts != NULL) {
            emu_text_add(text, "group call that begins with ");
            op = op->launch->parts;
        }
        emu_text_add_op(text, op);
    }
}

static void emu_trace_node(emu_waitfor *graph, uint32_t index) {
    const emu_node *node = &graph->nodes[index];
    emu_text text = {0};
    emu_line line = emu_line_begin(graph->engine, "node");
    int32_t rank = emu_node_rank(node);
    emu_line_add(&line, ",\"node\":%" PRIu32 ",\"kind\":\"%s\"", index, emu_node_word(node));
    if (rank >= 0) emu_line_add(&line, ",\"rank\":%" PRId32, rank);
    if (graph->component_sizes[node->component] > 1)
        emu_line_add(&line, ",\"cycle\":%" PRIu32, node->component);
    emu_text_add_node(&text, node);
    emu_line_add_text(&line, "text", text.text);
    emu_line_send(&line);
}

/* --- Why it waits --- */

static const char *emu_host_reason(const emu_host *host) {
    emu_wait_kind wait = (emu_wait_kind)(host->state == EMU_HOST_BLOCKED ? host->wait : host->poll);
    switch (wait) {
    case EMU_WAIT_STREAM:
        return "waits for its stream";
    case EMU_WAIT_EVENT:
        return "waits for an event";
    case EMU_WAIT_COMM:
    case EMU_WAIT_JOINS:
        return "waits for the group to form";
    case EMU_WAIT_PEERS:
        return "first use: waits for peers";
    case EMU_WAIT_DRAINED:
        return "waits for its operations to end";
    case EMU_WAIT_TIME:
    case EMU_WAIT_NONE:
        break;
    }
    return "waits";
}

static const char *emu_queued_reason(const emu_op *op) {
    if (op->stream->head != op) return "stands behind";
    if (op->kind == EMU_OP_GROUP) return "the group call starts as one, after";
    if (op->kind == EMU_OP_WAIT) return "waits for the event's record";
    bool ordered = op->comm != NULL && op->comm->order_head != op;
    return ordered ? "was issued later in its communicator" : "the device is full";
}

static const char *emu_op_reason(const emu_op *op, emu_node_kind to) {
    if (op->state == EMU_OP_QUEUED) return emu_queued_reason(op);
    if (op->kind == EMU_OP_GROUP) return "has started";
    if (op->collective != NULL) return "is its part of";
    return to == EMU_NODE_HOST ? "its other half was not issued" : "its other half has not started";
}

static const char *emu_edge_reason(const emu_node *from, emu_node_kind to) {
    if (from->kind == EMU_NODE_HOST) return emu_host_reason(from->object);
    if (from->kind == EMU_NODE_OP) return emu_op_reason(from->object, to);
    if (from->kind == EMU_NODE_GROUP) return "has not joined";
    return to == EMU_NODE_HOST ? "its part was not issued" : "its part has not started";
}

/* Nobody at the other end: a member that is gone, or whose rank in the program is not known. */
static void emu_trace_edge(emu_waitfor *graph, uint32_t from, emu_node_kind kind, void *object,
                           int32_t rank) {
    const emu_node *to = object == NULL ? NULL : emu_waitfor_find(graph, kind, object);
    emu_line line = emu_line_begin(graph->engine, "edge");
    emu_line_add(&line, ",\"node\":%" PRIu32, from);
    if (to != NULL)
        emu_line_add(&line, ",\"to\":%" PRIu32, (uint32_t)(to - graph->nodes));
    else if (rank >= 0)
        emu_line_add(&line, ",\"gone\":%" PRId32, rank);
    emu_line_add_name(&line, "why", emu_edge_reason(&graph->nodes[from], kind));
    emu_line_send(&line);
}

bool emu_trace_wants_waits(const emu_engine *engine) {
    if (engine->config.trace_sink == NULL) return false;
    if (engine->trace_graph_count >= EMU_TRACE_GRAPHS_MAX) return false;
    bool said = engine->trace_graph_count > 0 && engine->trace_graph_ns == engine->clock.now_ns &&
                engine->trace_graph_round == engine->round;
    return !said;
}

void emu_trace_waits(emu_waitfor *graph) {
    emu_engine *engine = graph->engine;
    if (graph->count == 0 || graph->failed || !emu_trace_wants_waits(engine)) return;
    engine->trace_graph_count++;
    engine->trace_graph_ns = engine->clock.now_ns;
    engine->trace_graph_round = engine->round;
    emu_line line = emu_line_begin(engine, "waits");
    emu_line_add(&line, ",\"nodes\":%" PRIu32, graph->count);
    emu_line_send(&line);
    for (uint32_t i = 0; i < graph->count; i++)
        emu_trace_node(graph, i);
    for (uint32_t i = 0; i < graph->count; i++) {
        emu_node_kind kind;
        void *object;
        int32_t rank;
        uint32_t cursor = 0;
        while (emu_waitfor_edge(graph, &graph->nodes[i], &cursor, &kind, &object, &rank))
            emu_trace_edge(graph, i, kind, object, rank);
    }
}
