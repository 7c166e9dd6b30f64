#include "drivers/emu/explain.h"

#include "drivers/emu/op_faults.h"

#include <stdlib.h>
#include <string.h>

/* --- Who does not come --- */

static bool emu_absent_add(emu_absent *absent, int32_t rank, const emu_host *host) {
    if (!emu_grow(&absent->ranks, absent->count, &absent->room, sizeof *absent->ranks) ||
        !emu_grow(&absent->hosts, absent->count, &absent->host_room, sizeof *absent->hosts))
        return false;
    absent->ranks[absent->count] = rank;
    absent->hosts[absent->count++] = host;
    return true;
}

/* The rank whose part is missing: with many devices per host it is not the host's number. */
static int32_t emu_missing_member_rank(const emu_node *node, uint32_t cursor, int32_t fallback) {
    if (node->kind == EMU_NODE_COLLECTIVE)
        return emu_group_member_rank(((const emu_collective *)node->object)->group,
                                     (int32_t)cursor - 1);
    if (node->kind != EMU_NODE_OP) return fallback;
    const emu_op *op = node->object;
    bool transfers = op->kind == EMU_OP_SEND || op->kind == EMU_OP_RECV;
    return transfers ? emu_group_member_rank(op->comm->group, op->peer) : fallback;
}

bool emu_absent_collect(const emu_waitfor *graph, const emu_node *node, emu_absent *absent) {
    emu_node_kind kind;
    void *object;
    int32_t rank;
    uint32_t cursor = 0;
    while (emu_waitfor_edge(graph, node, &cursor, &kind, &object, &rank)) {
        const emu_host *host = object;
        if (object == NULL)
            (void)emu_absent_add(absent, rank, NULL);
        else if (kind == EMU_NODE_HOST && emu_host_is_terminal(graph, host))
            (void)emu_absent_add(absent,
                                 emu_missing_member_rank(node, cursor, (int32_t)host->index), host);
    }
    return absent->count > 0;
}

void emu_absent_free(emu_absent *absent) {
    free(absent->ranks);
    free(absent->hosts);
}

/* --- Words --- */

static void emu_text_add_duration(emu_text *text, int64_t duration_ns) {
    char words[64];
    tutti_duration_format(duration_ns, words, sizeof words);
    emu_text_add(text, "%s", words);
}

static void emu_text_add_host_state(emu_text *text, const emu_host *host) {
    if (host->killed)
        emu_text_add(text, "was killed");
    else if (host->state == EMU_HOST_EXITED)
        emu_text_add(text, "has ended its program");
    else if (host->state == EMU_HOST_HUNG)
        emu_text_add(text, "hangs in %s", host->last_call);
    else if (host->state == EMU_HOST_BLOCKED && host->resume)
        emu_text_add(text, "is held up by a fault in %s", host->last_call);
    else if (host->state == EMU_HOST_BLOCKED)
        emu_text_add(text, "sleeps");
    else
        emu_text_add(text, "goes on elsewhere, last call %s", host->last_call);
    emu_text_add_place(text, host->last_place);
}

/* What somebody who waits waits for. */
static void emu_text_add_subject(emu_text *text, const emu_node *node) {
    if (node->kind == EMU_NODE_COLLECTIVE) {
        const emu_collective *collective = node->object;
        const emu_op *part = NULL;
        for (int32_t rank = 0; rank < collective->group->rank_count && part == NULL; rank++)
            part = collective->parts[rank];
        if (part != NULL) emu_text_add_op(text, part);
    } else if (node->kind == EMU_NODE_GROUP) {
        const emu_group *group = node->object;
        emu_text_add(text, "join of group %s (%" PRId32 " of %" PRId32 " ranks have joined)",
                     group->name, group->joined_count, group->rank_count);
    } else {
        const emu_op *op = node->object;
        emu_text_add(text, "rank %" PRId32 "'s ", emu_node_rank(node));
        emu_text_add_op(text, op);
    }
}

static const emu_comm *emu_collective_member(const emu_node *node, int32_t program_rank) {
    if (node->kind != EMU_NODE_COLLECTIVE) return NULL;
    const emu_group *group = ((const emu_collective *)node->object)->group;
    for (int32_t rank = 0; rank < group->rank_count; rank++)
        if (emu_comm_rank(group->members[rank]) == program_rank) return group->members[rank];
    return NULL;
}

/* The operation of an absent rank that was there, and that a fault has lost; NULL. */
static const emu_op *emu_lost_op(const emu_node *node, int32_t program_rank) {
    int32_t culprit;
    if (node->kind == EMU_NODE_OP) {
        const emu_op *op = node->object;
        const emu_op *peer = op->peer_op;
        if (emu_op_is_lost(op, &culprit) && culprit == program_rank) return op;
        bool peer_lost = peer != NULL && emu_op_is_lost(peer, &culprit);
        return peer_lost && culprit == program_rank ? peer : NULL;
    }
    if (node->kind != EMU_NODE_COLLECTIVE) return NULL;
    const emu_collective *collective = node->object;
    for (int32_t rank = 0; rank < collective->group->rank_count; rank++) {
        const emu_op *part = collective->parts[rank];
        if (part != NULL && emu_op_is_lost(part, &culprit) && culprit == program_rank) return part;
    }
    return NULL;
}

static void emu_text_add_member_history(emu_text *text, const emu_comm *comm) {
    if (comm->state == EMU_COMM_LEFT || comm->state == EMU_COMM_ABORTED) {
        emu_text_add(text, " has %s the communicator",
                     comm->state == EMU_COMM_LEFT ? "left" : "aborted");
        emu_text_add_place(text, comm->ended_place);
    } else {
        const emu_host *host = comm->group->engine->hosts[comm->host];
        emu_text_add(text, " ");
        emu_text_add_host_state(text, host);
    }
    emu_text_add(text, ", after %" PRIu64 " operation%s there", comm->collective_count,
                 comm->collective_count == 1 ? "" : "s");
    if (comm->dropped_count == 0) return;
    emu_text_add(text, "; %" PRIu64 " of its calls passed 0 elements", comm->dropped_count);
    emu_text_add_place(text, comm->dropped_place);
    emu_text_add(text, " and were dropped on the spot, so they count for nothing");
}

/* A line for each absent rank: what became of it. */
static void emu_text_add_absent(emu_text *text, const emu_node *node, const emu_absent *absent) {
    uint32_t named = absent->count < EMU_NAMED_RANKS_MAX ? absent->count : EMU_NAMED_RANKS_MAX;
    for (uint32_t i = 0; i < named; i++) {
        const emu_comm *comm = emu_collective_member(node, absent->ranks[i]);
        if (absent->ranks[i] < 0) {
            emu_text_add(text, "\n  a member whose rank in the program is not known never joined");
            continue;
        }
        const emu_op *lost = emu_lost_op(node, absent->ranks[i]);
        emu_text_add(text, "\n  rank %" PRId32, absent->ranks[i]);
        if (lost != NULL) {
            emu_text_add_loss(text, lost);
        } else if (comm != NULL) {
            emu_text_add_member_history(text, comm);
        } else if (absent->hosts[i] != NULL) {
            emu_text_add(text, " ");
            emu_text_add_host_state(text, absent->hosts[i]);
        } else {
            emu_text_add(text, " has given its membership up");
        }
    }
    if (named < absent->count)
        emu_text_add(text, "\n  and %" PRIu32 " more", absent->count - named);
}

static void emu_text_add_missing_advice(emu_text *text, const emu_node *node,
                                        const emu_absent *absent) {
    for (uint32_t i = 0; i < absent->count; i++) {
        const emu_comm *comm = emu_collective_member(node, absent->ranks[i]);
        if (absent->hosts[i] != NULL && absent->hosts[i]->killed) {
            emu_text_add(text, "\nTo change: survivors must notice, abort the communicator and go "
                               "on without the rank.");
            return;
        }
        if (emu_lost_op(node, absent->ranks[i]) != NULL) {
            emu_text_add(text, "\nTo change: limit the wait, abort the communicator when it does "
                               "not end, and start again.");
            return;
        }
        if (comm == NULL || comm->dropped_count == 0) continue;
        emu_text_add(text, "\nTo change: pass 0 elements on all ranks or on none.");
        return;
    }
    if (node->kind == EMU_NODE_GROUP)
        emu_text_add(text, "\nTo change: every rank of the group has to join it.");
    else
        emu_text_add(text, "\nTo change: every member has to make the same calls, equally often.");
}

static uint64_t emu_node_subject(const emu_node *node) {
    if (node->kind == EMU_NODE_COLLECTIVE) return emu_collective_subject(node->object);
    if (node->kind == EMU_NODE_GROUP) return emu_group_subject(node->object, "join");
    return emu_op_subject(node->object);
}

/* --- Missing, late --- */

emu_finding *emu_explain_missing(emu_waitfor *graph, const emu_node *node,
                                 const emu_absent *absent) {
    emu_text text = {0};
    emu_text_add_subject(&text, node);
    emu_text_add(&text, " waits for ");
    emu_text_add_ranks(&text, absent->ranks, absent->count);
    emu_text_add(&text, ", which never %s:", absent->count == 1 ? "comes" : "come");
    emu_text_add_absent(&text, node, absent);
    emu_text_add_missing_advice(&text, node, absent);
    return emu_finding_add(graph->engine, TUTTI_VERDICT_MISSING, "", emu_node_subject(node),
                           absent->ranks, absent->count, &text);
}

emu_finding *emu_explain_limit(emu_waitfor *graph, const emu_node *node, const emu_absent *absent) {
    emu_text text = {0};
    emu_text_add(&text, "a time limit passed at ");
    emu_text_add_duration(&text, graph->engine->clock.now_ns);
    emu_text_add(&text, " on the cluster's clock: ");
    emu_text_add_subject(&text, node);
    emu_text_add(&text, " still waits for ");
    emu_text_add_ranks(&text, absent->ranks, absent->count);
    emu_text_add(&text, ":");
    emu_text_add_absent(&text, node, absent);
    const emu_engine *engine = graph->engine;
    uint32_t first = absent->count > 0 ? (uint32_t)absent->ranks[0] : 0;
    bool ended = first < engine->host_count && engine->hosts[first]->state == EMU_HOST_EXITED;
    emu_text_add(&text, ended ? "\nTo change: let it take part, or go on without it."
                              : "\nTo change: find out why it is late, or allow more time.");
    return emu_finding_add(graph->engine, TUTTI_VERDICT_TIMEOUT, "", emu_node_subject(node),
                           absent->ranks, absent->count, &text);
}

emu_finding *emu_explain_slow_wait(emu_waitfor *graph, const emu_host *host) {
    emu_text text = {0};
    int32_t rank = (int32_t)host->index;
    emu_text_add(&text, "a time limit passed at ");
    emu_text_add_duration(&text, graph->engine->clock.now_ns);
    emu_text_add(&text, " on the cluster's clock: rank %" PRId32 " waits in %s", rank,
                 host->last_call);
    emu_text_add_place(&text, host->last_place);
    for (uint32_t i = 0; i < graph->count; i++) {
        if (graph->nodes[i].kind != EMU_NODE_OP) continue;
        const emu_op *op = graph->nodes[i].object;
        if (op->state != EMU_OP_STARTED) continue;
        if (emu_text_add_slow_op(&text, op, &rank)) break;
        if (op->kind != EMU_OP_KERNEL) continue;
        emu_text_add(&text, " for a kernel that runs for ");
        emu_text_add_duration(&text, op->duration_ns);
        emu_text_add_place(&text, op->place);
        rank = (int32_t)op->host;
        break;
    }
    emu_text_add(&text, ".\nTo change: allow more time, or wait for less.");
    return emu_finding_add(graph->engine, TUTTI_VERDICT_TIMEOUT, "", 0, &rank, 1, &text);
}

/* --- Cycles --- */

/* The first edge of a node that stays in its component. */
static const emu_node *emu_cycle_next(const emu_waitfor *graph, const emu_node *node) {
    emu_node_kind kind;
    void *object;
    int32_t rank;
    uint32_t cursor = 0;
    while (emu_waitfor_edge(graph, node, &cursor, &kind, &object, &rank)) {
        if (object == NULL) continue;
        const emu_node *next = emu_waitfor_find(graph, kind, object);
        if (next != NULL && next->component == node->component) return next;
    }
    return NULL;
}

/* The component's node to start from: the lowest rank, operations before hosts. */
static const emu_node *emu_cycle_start(const emu_waitfor *graph, uint32_t component) {
    const emu_node *best = NULL;
    for (uint32_t i = 0; i < graph->count; i++) {
        const emu_node *node = &graph->nodes[i];
        if (node->component != component || emu_node_rank(node) < 0) continue;
        bool better = best == NULL || emu_node_rank(node) < emu_node_rank(best) ||
                      (emu_node_rank(node) == emu_node_rank(best) && node->kind > best->kind);
        if (better) best = node;
    }
    return best;
}

/* Every walk inside a component ends in a cycle; the node where it closes. */
static const emu_node *emu_cycle_enter(const emu_waitfor *graph, const emu_node *start) {
    const emu_node *slow = start, *fast = start;
    do {
        slow = emu_cycle_next(graph, slow);
        fast = emu_cycle_next(graph, emu_cycle_next(graph, fast));
    } while (slow != fast);
    for (slow = start; slow != fast;) {
        slow = emu_cycle_next(graph, slow);
        fast = emu_cycle_next(graph, fast);
    }
    return slow;
}

static void emu_text_add_waiter(emu_text *text, const emu_node *node) {
    emu_text_add(text, "\n  rank %" PRId32 ": ", emu_node_rank(node));
    if (node->kind == EMU_NODE_HOST) {
        const emu_host *host = node->object;
        emu_text_add(text, "its program waits in %s", host->last_call);
        emu_text_add_place(text, host->last_place);
        return;
    }
    const emu_op *op = node->object;
    emu_text_add_op(text, op);
    if (op->state == EMU_OP_STARTED) {
        emu_text_add(text, " has started and waits for its peers");
        return;
    }
    bool ready = op->stream->head == op && op->comm != NULL && op->comm->order_head == op;
    if (ready)
        emu_text_add(text, " cannot start: the device is full (capacity %" PRIu32 ")",
                     op->comm->group->engine->config.capacity);
    else if (op->stream->head == op && op->kind == EMU_OP_WAIT)
        emu_text_add(text, " waits for an event that was not reached");
    else
        emu_text_add(text, " stands behind it");
}

static void emu_text_add_cycle_advice(emu_text *text, const emu_waitfor *graph,
                                      uint32_t component) {
    bool transfers = false, first_group_seen = false, several_groups = false;
    const emu_group *first_group = NULL;
    for (uint32_t i = 0; i < graph->count; i++) {
        const emu_node *node = &graph->nodes[i];
        if (node->component != component || node->kind != EMU_NODE_OP) continue;
        const emu_op *op = node->object;
        if (op->kind == EMU_OP_SEND || op->kind == EMU_OP_RECV) transfers = true;
        if (op->comm == NULL) continue;
        if (first_group_seen && op->comm->group != first_group) several_groups = true;
        first_group = op->comm->group;
        first_group_seen = true;
    }
    if (several_groups)
        emu_text_add(text, "\nTo change: issue the communicators' operations in one order on all "
                           "ranks, or wait for one before issuing the other.");
    else if (transfers)
        emu_text_add(text, "\nTo change: put the send and the recv of a rank into one group call, "
                           "or let one side receive first.");
    else
        emu_text_add(text, "\nTo change: let all ranks make these calls in one order.");
}

emu_finding *emu_explain_cycle(emu_waitfor *graph, uint32_t component) {
    emu_text text = {0};
    const emu_node *start = emu_cycle_start(graph, component);
    const emu_node *entry = emu_cycle_enter(graph, start);
    uint32_t size = graph->component_sizes[component], count = 0;
    int32_t *ranks = calloc(size, sizeof *ranks);
    if (ranks == NULL) return NULL;
    for (uint32_t i = 0; i < graph->count; i++)
        if (graph->nodes[i].component == component)
            ranks[count++] = emu_node_rank(&graph->nodes[i]);
    count = emu_ranks_sort(ranks, count);
    emu_text_add_ranks(&text, ranks, count);
    emu_text_add(&text, count == 1 ? " waits for itself:" : " wait for each other in a cycle:");
    const emu_node *node = entry;
    do {
        if (emu_node_rank(node) >= 0) emu_text_add_waiter(&text, node);
        node = emu_cycle_next(graph, node);
    } while (node != entry);
    emu_text_add_cycle_advice(&text, graph, component);
    uint64_t subject = start->kind == EMU_NODE_OP ? emu_op_subject(start->object) : 0;
    emu_finding *finding =
        emu_finding_add(graph->engine, TUTTI_VERDICT_DEADLOCK, "", subject, ranks, count, &text);
    free(ranks);
    return finding;
}

/* --- Ranks that never come back --- */

static bool emu_is_blamed(const emu_engine *engine, int32_t rank) {
    for (uint32_t i = 0; i < engine->finding_count; i++) {
        const emu_finding *finding = engine->findings[i];
        for (uint32_t j = 0; !finding->is_note && j < finding->rank_count; j++)
            if (finding->ranks[j] == rank) return true;
    }
    return false;
}

emu_finding *emu_explain_hung(const emu_host *host) {
    emu_text text = {0};
    int32_t rank = (int32_t)host->index;
    if (emu_is_blamed(host->engine, rank)) return NULL;
    emu_text_add(&text, "rank %" PRId32 " never comes back from its %s", rank, host->last_call);
    emu_text_add_place(&text, host->last_place);
    emu_text_add(&text, ", where a fault makes it hang. No other rank needed it.");
    return emu_finding_add(host->engine, TUTTI_VERDICT_MISSING, "hang", 0, &rank, 1, &text);
}

emu_finding *emu_explain_internal(const emu_host *host) {
    emu_text text = {0};
    int32_t rank = (int32_t)host->index;
    emu_text_add(&text, "rank %" PRId32 " waits in %s", rank, host->last_call);
    emu_text_add_place(&text, host->last_place);
    emu_text_add(&text, " and the emulated cluster cannot say for what: please report this");
    return emu_finding_add(host->engine, TUTTI_VERDICT_DEADLOCK, "internal", 0, &rank, 1, &text);
}

emu_finding *emu_explain_unresponsive(const emu_host *host, int64_t limit_ns) {
    emu_text text = {0};
    int32_t rank = (int32_t)host->index;
    emu_text_add(&text, "rank %" PRId32 " has not come back from its own code for ", rank);
    emu_text_add_duration(&text, limit_ns);
    emu_text_add(&text, " of real time");
    if (host->last_call[0] != '\0') {
        emu_text_add(&text, ", after its %s", host->last_call);
        emu_text_add_place(&text, host->last_place);
    }
    emu_text_add(&text, ". It loops, or waits for something that only another rank can do.\n"
                        "To change: ranks may wait for each other only through the library's "
                        "calls; or allow more time (unresponsive_ns).");
    return emu_finding_add(host->engine, TUTTI_VERDICT_UNRESPONSIVE, "", 0, &rank, 1, &text);
}
