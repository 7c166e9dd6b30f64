#include "drivers/emu/state.h"

/* Group calls: operations are collected, one launch per device, and issued by the outermost end. */

emu_outcome emu_group_start_call(emu_host *host, emu_call *call) {
    if (host->group_depth >= EMU_GROUP_DEPTH_MAX)
        return emu_call_misused(host, call, TUTTI_MISUSE,
                                "group calls are nested more than %d deep", EMU_GROUP_DEPTH_MAX);
    host->group_depth++;
    return emu_call_ok(host, call);
}

static void emu_launch_discard(emu_engine *engine, emu_launch *launch) {
    emu_op *part = launch->parts;
    while (part != NULL) {
        emu_op *next = part->next_in_launch;
        emu_memory_release(part->source_memory);
        emu_memory_release(part->destination_memory);
        emu_op_recycle(engine, part);
        part = next;
    }
    emu_launch_recycle(engine, launch);
}

void emu_host_discard_group(emu_host *host, tutti_status status) {
    while (host->launches != NULL) {
        emu_launch *launch = host->launches;
        host->launches = launch->next;
        emu_launch_discard(host->engine, launch);
    }
    host->group_depth = 0;
    host->group_error = TUTTI_OK;
    if (host->pending_joins > 0) emu_host_drop_joins(host, status, NULL);
    host->join_status = TUTTI_OK;
    host->join_finding = NULL;
}

/* A send to oneself needs its recv in the same group call, and the other way round. */
static const emu_op *emu_launch_lonely_self_transfer(const emu_launch *launch) {
    for (const emu_op *part = launch->parts; part != NULL; part = part->next_in_launch) {
        if (part->kind == EMU_OP_ALL_REDUCE || part->peer != part->comm->base.rank) continue;
        int64_t balance = 0;
        for (const emu_op *other = launch->parts; other != NULL; other = other->next_in_launch)
            if (other->comm == part->comm && other->peer == part->peer)
                balance += other->kind == EMU_OP_SEND ? 1 : other->kind == EMU_OP_RECV ? -1 : 0;
        if (balance != 0) return part;
    }
    return NULL;
}

/* A communicator that ended or failed while operations on it were collected: aborted in between,
 * or given up because others disagreed. NULL: all can be used. */
static const emu_comm *emu_host_lost_comm(const emu_host *host) {
    for (const emu_launch *launch = host->launches; launch != NULL; launch = launch->next)
        for (const emu_op *part = launch->parts; part != NULL; part = part->next_in_launch)
            if (part->comm->state != EMU_COMM_READY) return part->comm;
    return NULL;
}

/* --- Tolerating another order of collectives inside one group call --- */

/* NCCL sorts the collectives of a group by size, so that swapped calls often work by accident. */
static bool emu_part_sorts_before(const emu_op *a, const emu_op *b) {
    if (a->comm != b->comm) return false;
    bool a_collective = a->kind == EMU_OP_ALL_REDUCE, b_collective = b->kind == EMU_OP_ALL_REDUCE;
    if (a_collective != b_collective) return a_collective;
    if (!a_collective) return false;
    size_t a_bytes = a->count * a->width_bytes, b_bytes = b->count * b->width_bytes;
    if (a_bytes != b_bytes) return a_bytes > b_bytes;
    if (a->element_type != b->element_type) return a->element_type < b->element_type;
    return a->reduce_op < b->reduce_op;
}

/* A stable insertion sort: on demand only, and groups are short. */
static void emu_launch_sort(emu_launch *launch) {
    emu_op *rest = launch->parts;
    launch->parts = NULL;
    while (rest != NULL) {
        emu_op *part = rest;
        rest = rest->next_in_launch;
        emu_op **link = &launch->parts;
        while (*link != NULL && !emu_part_sorts_before(part, *link))
            link = &(*link)->next_in_launch;
        part->next_in_launch = *link;
        *link = part;
    }
}

/* --- Issuing --- */

/* A launch takes one turn in the inner order of each communicator that it uses. */
static void emu_launch_take_turn(emu_launch *launch, emu_op *part) {
    const emu_op *last = part->comm->order_tail;
    if (last == NULL || last->launch != launch) emu_comm_order_append(part);
}

static bool emu_launch_take_place(emu_host *host, emu_launch *launch, emu_op *part) {
    emu_stream *stream = part->stream;
    if (stream->tail != NULL && stream->tail->launch == launch) return true;
    emu_op *place = emu_op_new(host->engine);
    if (place == NULL) return false;
    place->kind = EMU_OP_GROUP;
    place->host = host->index;
    place->place = part->place;
    place->order = launch->order;
    place->launch = launch;
    place->next_in_launch = launch->places;
    launch->places = place;
    emu_stream_append(stream, place);
    return true;
}

/* Out of memory in the middle of a group cannot be undone: the run is over. */
static void emu_launch_issue(emu_host *host, emu_launch *launch) {
    emu_engine *engine = host->engine;
    launch->order = ++host->launch_count;
    if (engine->config.tolerate_group_order) emu_launch_sort(launch);
    for (emu_op *part = launch->parts; part != NULL; part = part->next_in_launch) {
        part->order = launch->order;
        if (!emu_match_issue(part) || !emu_launch_take_place(host, launch, part)) {
            engine->out_of_memory = true;
            return;
        }
        emu_guard_issued(engine, part);
        emu_trace_op(engine, part, EMU_TRACE_ISSUE);
        emu_launch_take_turn(launch, part);
        emu_connect(host, part);
    }
}

static emu_launch *emu_launches_reversed(emu_launch *launch) {
    emu_launch *reversed = NULL;
    while (launch != NULL) {
        emu_launch *next = launch->next;
        launch->next = reversed;
        reversed = launch;
        launch = next;
    }
    return reversed;
}

static void emu_group_issue(emu_host *host) {
    emu_launch *launch = emu_launches_reversed(host->launches);
    host->launches = NULL;
    while (launch != NULL) {
        emu_launch *next = launch->next;
        emu_launch_issue(host, launch);
        launch = next;
    }
}

/* The group call cannot be issued: all of it is dropped, since a part of it would hang others. */
static emu_outcome emu_group_lost(emu_host *host, emu_call *call, const emu_comm *comm) {
    tutti_status status = comm->failure != TUTTI_OK ? comm->failure : TUTTI_MISUSE;
    const emu_finding *finding = comm->failed_for;
    emu_host_discard_group(host, status);
    if (finding != NULL) return emu_call_failed_for(host, call, status, finding);
    return emu_call_end(host, call, status,
                        "%s was aborted or left inside of this group call, so all of its "
                        "operations are dropped",
                        comm->group->name);
}

static emu_outcome emu_group_wait(emu_host *host, emu_call *call) {
    if (host->pending_joins > 0) return emu_host_block(host, call, EMU_WAIT_JOINS);
    if (host->join_status != TUTTI_OK)
        return emu_call_failed_for(host, call, host->join_status, host->join_finding);
    emu_races_group_call_over(host);
    if (host->pending_peers > 0) return emu_host_block(host, call, EMU_WAIT_PEERS);
    return emu_call_ok(host, call);
}

emu_outcome emu_group_end_call(emu_host *host, emu_call *call) {
    if (host->group_depth == 0)
        return emu_call_misused(host, call, TUTTI_MISUSE, "group_end without a group_start");
    if (--host->group_depth > 0) return emu_call_ok(host, call);
    tutti_status failure = host->group_error;
    if (failure != TUTTI_OK) {
        emu_host_discard_group(host, failure);
        return emu_call_end(host, call, failure,
                            "a call inside of this group call failed, so all of its operations "
                            "are dropped");
    }
    const emu_comm *lost = emu_host_lost_comm(host);
    if (lost != NULL) return emu_group_lost(host, call, lost);
    for (const emu_launch *launch = host->launches; launch != NULL; launch = launch->next) {
        const emu_op *lonely = emu_launch_lonely_self_transfer(launch);
        if (lonely == NULL) continue;
        bool sends = lonely->kind == EMU_OP_SEND;
        emu_host_discard_group(host, TUTTI_MISUSE);
        return emu_call_misused(host, call, TUTTI_MISUSE,
                                "a %s oneself needs its %s in the same group call; all of its "
                                "operations are dropped",
                                sends ? "send to" : "recv from", sends ? "recv" : "send");
    }
    emu_group_issue(host);
    emu_outcome outcome = emu_group_wait(host, call);
    if (outcome == EMU_DONE) host->join_status = TUTTI_OK;
    return outcome;
}
