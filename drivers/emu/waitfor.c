#include "drivers/emu/waitfor.h"

#include "drivers/emu/op_faults.h"

#include <stdlib.h>

/* --- Edges --- */

typedef struct emu_edge {
    emu_node_kind kind;
    void *object; /* NULL: nobody */
    int32_t rank; /* with nobody */
} emu_edge;

/* Which of several conditional edges is asked for: counts down to the one that is wanted. */
typedef struct emu_edge_picker {
    uint32_t skip;
    bool found;
    emu_edge edge;
} emu_edge_picker;

static bool emu_pick(emu_edge_picker *picker, emu_node_kind kind, void *object, int32_t rank) {
    if (picker->skip > 0) {
        picker->skip--;
        return false;
    }
    picker->found = true;
    picker->edge = (emu_edge){kind, object, rank};
    return true;
}

/* Parts of a group call that has not started are represented by its place in a stream; so are those
 * that were given up, which still wait for the others. */
static emu_op *emu_op_representative(emu_op *op) {
    if (op->launch == NULL || op->kind == EMU_OP_GROUP) return op;
    return op->launch->started && op->state != EMU_OP_DONE ? op : op->launch->places;
}

static bool emu_pick_op(emu_edge_picker *picker, emu_op *op) {
    return op != NULL && emu_pick(picker, EMU_NODE_OP, emu_op_representative(op), -1);
}

static bool emu_pick_host(emu_edge_picker *picker, emu_engine *engine, uint32_t host) {
    return emu_pick(picker, EMU_NODE_HOST, engine->hosts[host], -1);
}

/* The member who has not issued its part: its host, or nobody if it gave up its membership. */
static bool emu_pick_member(emu_edge_picker *picker, emu_group *group, int32_t rank) {
    const emu_comm *comm = group->members[rank];
    bool gone = comm->state == EMU_COMM_LEFT || comm->state == EMU_COMM_ABORTED;
    if (gone) return emu_pick(picker, EMU_NODE_HOST, NULL, emu_comm_rank(comm));
    return emu_pick_host(picker, group->engine, comm->host);
}

/* Nodes with many edges remember the rank at which to go on, so that a walk stays linear. */
static void emu_collective_edges(emu_edge_picker *picker, emu_collective *collective,
                                 uint32_t *cursor) {
    emu_group *group = collective->group;
    picker->skip = 0;
    for (int32_t rank = (int32_t)*cursor; rank < group->rank_count; rank++) {
        emu_op *part = collective->parts[rank];
        int32_t culprit;
        *cursor = (uint32_t)rank + 1;
        if (part != NULL && part->state != EMU_OP_QUEUED) {
            if (!emu_op_is_lost(part, &culprit)) continue;
            (void)emu_pick(picker, EMU_NODE_HOST, NULL, culprit);
            return;
        }
        if (part != NULL ? emu_pick_op(picker, part) : emu_pick_member(picker, group, rank)) return;
    }
}

static void emu_group_edges(emu_edge_picker *picker, emu_group *group, uint32_t *cursor) {
    picker->skip = 0;
    for (int32_t rank = (int32_t)*cursor; rank < group->rank_count; rank++) {
        *cursor = (uint32_t)rank + 1;
        if (group->members[rank] != NULL) continue;
        int32_t host = group->member_hosts != NULL ? (int32_t)group->member_hosts[rank] : -1;
        bool known = host >= 0 && (uint32_t)host < group->engine->host_count;
        if (known ? emu_pick_host(picker, group->engine, (uint32_t)host)
                  : emu_pick(picker, EMU_NODE_HOST, NULL, -1))
            return;
    }
}

/* The operations that fill the device. */
static void emu_capacity_edges(emu_edge_picker *picker, emu_device *device) {
    for (emu_stream *stream = device->streams; stream != NULL; stream = stream->next) {
        emu_op *head = stream->head;
        if (head == NULL || head->state != EMU_OP_STARTED) continue;
        bool resident = head->launch != NULL ? head->launch->resident : head->resident;
        if (resident && emu_pick_op(picker, head)) return;
    }
}

static void emu_place_edges(emu_edge_picker *picker, emu_op *place) {
    emu_launch *launch = place->launch;
    bool waits = false;
    for (emu_op *other = launch->places; other != NULL; other = other->next_in_launch) {
        if (other->stream->head == other) continue;
        waits = true;
        if (emu_pick_op(picker, other->stream->head)) return;
    }
    for (emu_op *part = launch->parts; part != NULL; part = part->next_in_launch) {
        if (part->comm->order_head->launch == launch) continue;
        waits = true;
        if (emu_pick_op(picker, part->comm->order_head)) return;
    }
    if (!waits) emu_capacity_edges(picker, launch->device);
}

static void emu_queued_edges(emu_edge_picker *picker, emu_op *op) {
    if (op->kind == EMU_OP_GROUP)
        emu_place_edges(picker, op);
    else if (op->stream->head != op)
        (void)emu_pick_op(picker, op->stream->head);
    else if (op->kind == EMU_OP_WAIT)
        (void)emu_pick_op(picker, emu_event_record(op->event, op->mark));
    else if (op->comm != NULL && op->comm->order_head != op)
        (void)emu_pick_op(picker, op->comm->order_head);
    else if (op->comm != NULL)
        emu_capacity_edges(picker, emu_device_of(op->stream->base.device));
}

static void emu_transfer_edges(emu_edge_picker *picker, emu_op *op) {
    emu_group *group = op->comm->group;
    int32_t culprit;
    if (emu_op_is_lost(op, &culprit) ||
        (op->peer_op != NULL && op->peer_op->state != EMU_OP_QUEUED &&
         emu_op_is_lost(op->peer_op, &culprit)))
        (void)emu_pick(picker, EMU_NODE_HOST, NULL, culprit);
    else if (op->peer_op == NULL && op->orphaned)
        (void)emu_pick(picker, EMU_NODE_HOST, NULL, emu_group_member_rank(group, op->peer));
    else if (op->peer_op == NULL)
        (void)emu_pick_member(picker, group, op->peer);
    else if (op->peer_op->state == EMU_OP_QUEUED)
        (void)emu_pick_op(picker, op->peer_op);
}

static void emu_op_edges(emu_edge_picker *picker, emu_op *op) {
    if (op->state == EMU_OP_QUEUED) {
        emu_queued_edges(picker, op);
    } else if (op->state == EMU_OP_STARTED && op->kind == EMU_OP_GROUP) {
        for (emu_op *part = op->launch->parts; part != NULL; part = part->next_in_launch)
            if (part->state == EMU_OP_STARTED && emu_pick_op(picker, part)) return;
    } else if (op->state == EMU_OP_STARTED && op->collective != NULL) {
        (void)emu_pick(picker, EMU_NODE_COLLECTIVE, op->collective, -1);
    } else if (op->state == EMU_OP_STARTED && op->comm != NULL) {
        emu_transfer_edges(picker, op);
    }
}

static void emu_join_edges(emu_edge_picker *picker, const emu_host *host) {
    for (emu_comm *comm = host->engine->all_comms; comm != NULL; comm = comm->next_all)
        if (comm->joining_host == host && emu_pick(picker, EMU_NODE_GROUP, comm->group, -1)) return;
}

static void emu_peer_edges(emu_edge_picker *picker, const emu_host *host) {
    for (emu_op *op = host->connecting; op != NULL; op = op->next_connecting) {
        if (op->collective != NULL) {
            if (emu_pick(picker, EMU_NODE_COLLECTIVE, op->collective, -1)) return;
        } else if (emu_pick_member(picker, op->comm->group, op->peer)) {
            return;
        }
    }
}

static void emu_host_edges(emu_edge_picker *picker, const emu_host *host, bool pollers_are_stuck) {
    emu_wait_kind wait = EMU_WAIT_NONE;
    if (host->state == EMU_HOST_BLOCKED)
        wait = (emu_wait_kind)host->wait;
    else if (host->state == EMU_HOST_RUNNING && pollers_are_stuck)
        wait = (emu_wait_kind)host->poll;
    switch (wait) {
    case EMU_WAIT_STREAM:
        (void)emu_pick_op(picker, host->wait_stream->head);
        break;
    case EMU_WAIT_EVENT:
        (void)emu_pick_op(picker, emu_host_awaited_record(host));
        break;
    case EMU_WAIT_COMM:
        (void)emu_pick(picker, EMU_NODE_GROUP, host->wait_comm->group, -1);
        break;
    case EMU_WAIT_JOINS:
        emu_join_edges(picker, host);
        break;
    case EMU_WAIT_PEERS:
        emu_peer_edges(picker, host);
        break;
    case EMU_WAIT_DRAINED:
        (void)emu_pick_op(picker, host->wait_comm->order_head);
        break;
    case EMU_WAIT_TIME:
    case EMU_WAIT_NONE:
        break;
    }
}

bool emu_waitfor_edge(const emu_waitfor *graph, const emu_node *node, uint32_t *cursor,
                      emu_node_kind *kind_out, void **object_out, int32_t *rank_out) {
    emu_edge_picker picker = {.skip = *cursor};
    switch ((emu_node_kind)node->kind) {
    case EMU_NODE_HOST:
        emu_host_edges(&picker, node->object, graph->pollers_are_stuck);
        ++*cursor;
        break;
    case EMU_NODE_OP:
        emu_op_edges(&picker, node->object);
        ++*cursor;
        break;
    case EMU_NODE_COLLECTIVE:
        emu_collective_edges(&picker, node->object, cursor);
        break;
    case EMU_NODE_GROUP:
        emu_group_edges(&picker, node->object, cursor);
        break;
    }
    *kind_out = picker.edge.kind;
    *object_out = picker.edge.object;
    *rank_out = picker.edge.rank;
    return picker.found;
}

bool emu_host_is_terminal(const emu_waitfor *graph, const emu_host *host) {
    if (host->state == EMU_HOST_BLOCKED) return host->wait == EMU_WAIT_TIME;
    if (host->state == EMU_HOST_RUNNING && graph->pollers_are_stuck)
        return host->poll == EMU_WAIT_NONE;
    return true;
}

int32_t emu_node_rank(const emu_node *node) {
    if (node->kind == EMU_NODE_HOST) return (int32_t)((const emu_host *)node->object)->index;
    if (node->kind != EMU_NODE_OP) return -1;
    const emu_op *op = node->object;
    return op->comm != NULL ? emu_comm_rank(op->comm) : (int32_t)op->host;
}

/* --- Nodes --- */

static uint32_t *emu_visit_of(emu_node_kind kind, void *object) {
    switch (kind) {
    case EMU_NODE_HOST:
        return &((emu_host *)object)->visit;
    case EMU_NODE_OP:
        return &((emu_op *)object)->visit;
    case EMU_NODE_COLLECTIVE:
        return &((emu_collective *)object)->visit;
    case EMU_NODE_GROUP:
        return &((emu_group *)object)->visit;
    }
    return NULL;
}

void emu_waitfor_init(emu_waitfor *graph, emu_engine *engine, bool pollers_are_stuck) {
    *graph = (emu_waitfor){.engine = engine, .pollers_are_stuck = pollers_are_stuck};
}

void emu_waitfor_free(emu_waitfor *graph) {
    for (uint32_t i = 0; i < graph->count; i++)
        *emu_visit_of((emu_node_kind)graph->nodes[i].kind, graph->nodes[i].object) = 0;
    free(graph->nodes);
    free(graph->stack);
    free(graph->component_sizes);
}

emu_node *emu_waitfor_find(const emu_waitfor *graph, emu_node_kind kind, const void *object) {
    union {
        const void *constant;
        void *plain;
    } shared = {object};
    uint32_t visit = *emu_visit_of(kind, shared.plain);
    return visit == 0 ? NULL : &graph->nodes[visit - 1];
}

/* The number of a new node, which is on Tarjan's stack; UINT32_MAX when memory is out. */
static uint32_t emu_waitfor_add(emu_waitfor *graph, emu_node_kind kind, void *object,
                                uint32_t parent) {
    if (!emu_grow(&graph->nodes, graph->count, &graph->room, sizeof *graph->nodes) ||
        !emu_grow(&graph->stack, graph->stack_count, &graph->stack_room, sizeof *graph->stack) ||
        !emu_grow(&graph->component_sizes, graph->count + 1, &graph->component_room,
                  sizeof *graph->component_sizes)) {
        graph->failed = true;
        return UINT32_MAX;
    }
    uint32_t number = graph->count++;
    graph->nodes[number] = (emu_node){
        .object = object, .kind = (uint8_t)kind, .on_stack = true, .low = number, .parent = parent};
    graph->stack[graph->stack_count++] = number;
    *emu_visit_of(kind, object) = number + 1;
    return number;
}

static void emu_waitfor_close_component(emu_waitfor *graph, uint32_t root) {
    uint32_t component = ++graph->component_count;
    uint32_t size = 0, number;
    do {
        number = graph->stack[--graph->stack_count];
        graph->nodes[number].on_stack = false;
        graph->nodes[number].component = component;
        size++;
    } while (number != root);
    graph->component_sizes[component] = size;
}

static void emu_lower(emu_node *node, uint32_t low) {
    if (low < node->low) node->low = low;
}

/* One step of the walk from node `at`: down an edge, or back up. The node to go on with, or
 * UINT32_MAX at the end. */
static uint32_t emu_waitfor_step(emu_waitfor *graph, uint32_t at) {
    emu_node_kind kind;
    void *object;
    int32_t rank;
    emu_node *node = &graph->nodes[at];
    if (emu_waitfor_edge(graph, node, &node->cursor, &kind, &object, &rank)) {
        if (object == NULL) return at;
        uint32_t visit = *emu_visit_of(kind, object);
        if (visit == 0) return emu_waitfor_add(graph, kind, object, at);
        if (graph->nodes[visit - 1].on_stack) emu_lower(node, visit - 1);
        return at;
    }
    if (node->low == at) emu_waitfor_close_component(graph, at);
    if (node->parent != UINT32_MAX) emu_lower(&graph->nodes[node->parent], node->low);
    return node->parent;
}

void emu_waitfor_explore(emu_waitfor *graph, emu_node_kind kind, void *object) {
    if (graph->failed || *emu_visit_of(kind, object) != 0) return;
    uint32_t at = emu_waitfor_add(graph, kind, object, UINT32_MAX);
    while (at != UINT32_MAX)
        at = emu_waitfor_step(graph, at);
}
