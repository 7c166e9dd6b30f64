#include "drivers/emu/op_faults.h"

#include <stdlib.h>

/* The calls that enqueue collectives and transfers, alone or in a group call. */

static emu_op *emu_part_new(emu_host *host, emu_call *call, emu_op_kind kind) {
    emu_op *op = emu_op_new(host->engine);
    if (op == NULL) return NULL;
    op->kind = (uint8_t)kind;
    op->host = host->index;
    op->place = call->place;
    op->comm = call->comm;
    op->stream = call->stream;
    op->count = call->count;
    op->peer = call->peer;
    op->element_type = (uint8_t)call->data_type.element_type;
    op->reduce_op = (uint8_t)call->op;
    op->width_bytes = (uint8_t)call->data_type.width_bytes;
    emu_op_take_fault(host, op, call);
    return op;
}

static void emu_part_take_buffers(emu_op *op, const emu_call *call, emu_allocation *source,
                                  emu_allocation *destination) {
    op->source = call->source.data;
    op->destination = call->destination.data;
    op->source_memory = source;
    op->destination_memory = destination;
    emu_memory_hold(source);
    emu_memory_hold(destination);
}

static void emu_part_discard(emu_engine *engine, emu_op *op) {
    emu_memory_release(op->source_memory);
    emu_memory_release(op->destination_memory);
    emu_op_recycle(engine, op);
}

/* --- The inner order of a communicator --- */

void emu_comm_order_append(emu_op *op) {
    emu_comm *comm = op->comm;
    op->in_order = true;
    op->next_in_comm = NULL;
    if (comm->order_tail != NULL)
        comm->order_tail->next_in_comm = op;
    else
        comm->order_head = op;
    comm->order_tail = op;
}

/* --- First use --- */

static bool emu_first_use(emu_op *op) {
    emu_comm *comm = op->comm;
    if (!comm->group->engine->config.first_use_blocks) return false;
    if (op->kind == EMU_OP_ALL_REDUCE) return !comm->connected;
    if (comm->peer_connected == NULL)
        comm->peer_connected = calloc((size_t)comm->base.rank_count, sizeof(bool));
    if (comm->peer_connected == NULL) return false;
    bool first = !comm->peer_connected[op->peer];
    comm->peer_connected[op->peer] = true;
    return first;
}

/* The host has to wait if the operation is the first with peers who have not issued theirs. */
void emu_connect(emu_host *host, emu_op *op) {
    if (!emu_first_use(op)) return;
    bool complete = op->kind == EMU_OP_ALL_REDUCE
                        ? op->collective->issued_count == op->comm->base.rank_count
                        : op->peer_op != NULL;
    if (complete) return;
    emu_steps_await_peers(host, op);
    op->connecting = host;
    op->next_connecting = host->connecting;
    host->connecting = op;
    host->pending_peers++;
}

void emu_op_connected(emu_op *op) {
    emu_host *host = op->connecting;
    if (host == NULL) return;
    op->connecting = NULL;
    emu_op **link = &host->connecting;
    while (*link != op)
        link = &(*link)->next_connecting;
    *link = op->next_connecting;
    assert(host->pending_peers > 0);
    if (--host->pending_peers > 0 || host->wait != EMU_WAIT_PEERS) return;
    emu_host_wake(host, op->failed ? op->comm->failure : TUTTI_OK, op->comm->failed_for);
}

/* --- Issuing --- */

static emu_outcome emu_issue_failed(emu_host *host, emu_call *call) {
    return emu_call_end(host, call, TUTTI_OUT_OF_MEMORY, "no memory for another operation");
}

static emu_outcome emu_issue_alone(emu_host *host, emu_call *call, emu_op *op) {
    op->order = host->launch_count + 1;
    if (!emu_match_issue(op)) {
        emu_part_discard(host->engine, op);
        return emu_issue_failed(host, call);
    }
    host->launch_count++;
    emu_connect(host, op);
    emu_comm_order_append(op);
    emu_stream_append(op->stream, op);
    if (host->pending_peers > 0) return emu_host_block(host, call, EMU_WAIT_PEERS);
    return emu_call_ok(host, call);
}

static emu_launch *emu_host_launch(emu_host *host, emu_device *device) {
    for (emu_launch *launch = host->launches; launch != NULL; launch = launch->next)
        if (launch->device == device) return launch;
    emu_launch *launch = emu_launch_new(host->engine);
    if (launch == NULL) return NULL;
    launch->device = device;
    launch->host = host;
    launch->next = host->launches;
    host->launches = launch;
    return launch;
}

static emu_outcome emu_collect(emu_host *host, emu_call *call, emu_op *op) {
    emu_launch *launch = emu_host_launch(host, emu_device_of(op->stream->base.device));
    if (launch == NULL) {
        emu_part_discard(host->engine, op);
        return emu_issue_failed(host, call);
    }
    op->launch = launch;
    *launch->parts_tail = op;
    launch->parts_tail = &op->next_in_launch;
    launch->part_count++;
    return emu_call_ok(host, call);
}

static emu_outcome emu_enqueue(emu_host *host, emu_call *call, emu_op_kind kind,
                               emu_allocation *source, emu_allocation *destination) {
    emu_op *op = emu_part_new(host, call, kind);
    if (op == NULL) return emu_issue_failed(host, call);
    emu_part_take_buffers(op, call, source, destination);
    if (host->group_depth > 0) return emu_collect(host, call, op);
    return emu_issue_alone(host, call, op);
}

/* What every operation on a communicator has to fulfil. False: *outcome_out says how it ended. */
static bool emu_enqueue_allowed(emu_host *host, emu_call *call, emu_outcome *outcome_out) {
    if (!emu_comm_usable(host, call, outcome_out)) return false;
    if (!call->stream->destroyed) return true;
    *outcome_out = emu_call_misused(host, call, TUTTI_MISUSE, "the stream was destroyed before");
    return false;
}

/* A collective of no elements is dropped on the spot, as NCCL does: it has no place in the order.
 */
static emu_outcome emu_drop_empty(emu_host *host, emu_call *call) {
    call->comm->dropped_count++;
    call->comm->dropped_place = call->place;
    call->dropped = true;
    emu_trace_call(host, call, EMU_TRACE_CALL);
    return emu_call_ok(host, call);
}

emu_outcome emu_all_reduce_call(emu_host *host, emu_call *call) {
    emu_outcome outcome;
    emu_memory_problem problem;
    emu_allocation *source, *destination;
    emu_device *device = emu_device_of(call->stream->base.device);
    size_t bytes = call->count * call->data_type.width_bytes;
    if (!emu_enqueue_allowed(host, call, &outcome)) return outcome;
    if (!emu_memory_find(device, "source", call->source.data, bytes, &source, &problem) ||
        !emu_memory_find(device, "destination", call->destination.data, bytes, &destination,
                         &problem))
        return emu_call_bad_memory(host, call, &problem);
    if (call->count == 0) return emu_drop_empty(host, call);
    if (emu_races_overlap(host, call, bytes, bytes, 0, &outcome)) return outcome;
    return emu_enqueue(host, call, EMU_OP_ALL_REDUCE, source, destination);
}

emu_outcome emu_transfer_call(emu_host *host, emu_call *call) {
    emu_outcome outcome;
    emu_memory_problem problem;
    emu_allocation *memory;
    bool sends = call->kind == EMU_CALL_SEND;
    const void *data = sends ? call->source.data : call->destination.data;
    size_t bytes = call->count * call->data_type.width_bytes;
    emu_device *device = emu_device_of(call->stream->base.device);
    if (!emu_enqueue_allowed(host, call, &outcome)) return outcome;
    if (call->peer == call->comm->base.rank && host->group_depth == 0)
        return emu_call_misused(host, call, TUTTI_MISUSE,
                                "a rank can %s itself only inside of a group call that holds the "
                                "%s as well",
                                sends ? "send to" : "receive from", sends ? "recv" : "send");
    if (!emu_memory_find(device, sends ? "source" : "destination", data, bytes, &memory, &problem))
        return emu_call_bad_memory(host, call, &problem);
    return emu_enqueue(host, call, sends ? EMU_OP_SEND : EMU_OP_RECV, sends ? memory : NULL,
                       sends ? NULL : memory);
}
