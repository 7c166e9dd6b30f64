#ifndef TUTTI_EMU_WAITFOR_H
#define TUTTI_EMU_WAITFOR_H

/* The wait-for graph: who cannot go on before whom. Nodes are hosts, operations, collectives (one
 * node for all their parts, so that the graph stays small) and groups that are forming. A node
 * without an edge is a rank that could move but does not: it left, was killed, hangs, or is late.
 * A cycle is a deadlock, since every edge must be satisfied. */

#include "drivers/emu/state.h"

typedef enum emu_node_kind {
    EMU_NODE_HOST,
    EMU_NODE_OP,
    EMU_NODE_COLLECTIVE,
    EMU_NODE_GROUP,
} emu_node_kind;

typedef struct emu_node {
    void *object;
    uint8_t kind; /* emu_node_kind */
    bool on_stack;
    uint32_t low;       /* Tarjan: smallest node number that it reaches */
    uint32_t component; /* number of its strongly connected component, from 1; 0: not yet */
    uint32_t cursor;    /* edges that were followed */
    uint32_t parent;    /* of the walk */
} emu_node;

typedef struct emu_waitfor {
    emu_engine *engine;
    bool pollers_are_stuck;
    bool failed; /* memory was out */
    emu_node *nodes;
    uint32_t count, room;
    uint32_t *stack; /* Tarjan's */
    uint32_t stack_count, stack_room;
    uint32_t component_count;
    uint32_t *component_sizes; /* by component number; entry 0 unused */
    uint32_t component_room;
} emu_waitfor;

void emu_waitfor_init(emu_waitfor *graph, emu_engine *engine, bool pollers_are_stuck);
void emu_waitfor_free(emu_waitfor *graph);

/* Adds a node and everything that it waits for, and finds the components. */
void emu_waitfor_explore(emu_waitfor *graph, emu_node_kind kind, void *object);

/* The next edge of a node; *cursor starts at 0 and is moved. False when there are no more. An edge
 * to nobody
 * (*object_out NULL) is a member who has left the group, aborted it, or is not known; *rank_out is
 * then its rank in the program or -1. */
bool emu_waitfor_edge(const emu_waitfor *graph, const emu_node *node, uint32_t *cursor,
                      emu_node_kind *kind_out, void **object_out, int32_t *rank_out);

/* The node of an object; NULL when it was not reached. */
emu_node *emu_waitfor_find(const emu_waitfor *graph, emu_node_kind kind, const void *object);

/* trace_waits.c: writes the graph into the trace, once a moment, and only the first
 * EMU_TRACE_GRAPHS_MAX of a run. */
bool emu_trace_wants_waits(const emu_engine *engine);
void emu_trace_waits(emu_waitfor *graph);

/* A host that could move by itself, or never will. */
bool emu_host_is_terminal(const emu_waitfor *graph, const emu_host *host);

/* The rank that a node belongs to; -1 for collectives and groups. */
int32_t emu_node_rank(const emu_node *node);

#endif
