#include "drivers/emu/op_faults.h"

#include <stdlib.h>
#include <string.h>

/* Streams: queues of operations. emu_streams_advance() is the only place where anything starts. */

enum { EMU_NAMESAKES_LOOKED_AT = 256 }; /* streams of a device that may have the same name */

/* The name that the host gives the stream; with its number where it has given the name before. */
static const char *emu_stream_take_name(const emu_host *host, const emu_call *call,
                                        uint32_t index) {
    uint32_t looked_at = 0;
    const char *name = emu_engine_intern(host->engine, call->name);
    if (name == NULL) return NULL;
    for (const emu_stream *other = call->device->streams; other != NULL; other = other->next) {
        if (other->name == name && other->host == host->index)
            return emu_engine_number_name(host->engine, name, index);
        if (++looked_at == EMU_NAMESAKES_LOOKED_AT) break;
    }
    return name;
}

emu_outcome emu_stream_create_call(emu_host *host, emu_call *call) {
    emu_device *device = call->device;
    emu_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return emu_call_end(host, call, TUTTI_OUT_OF_MEMORY, "no memory for another stream");
    stream->base.device = &device->base;
    stream->index = device->next_stream++;
    stream->host = host->index;
    stream->place = call->place;
    stream->name = emu_stream_take_name(host, call, stream->index);
    *device->streams_tail = stream;
    device->streams_tail = &stream->next;
    emu_races_add_stream(host->engine, stream);
    call->stream = stream;
    return emu_call_ok(host, call);
}

emu_outcome emu_stream_destroy_call(emu_host *host, emu_call *call) {
    if (call->stream->destroyed)
        return emu_call_misused(host, call, TUTTI_MISUSE, "this stream is destroyed already");
    call->stream->destroyed = true;
    return emu_call_ok(host, call);
}

/* Says no to a stream that is gone. */
static bool emu_stream_usable(emu_host *host, emu_call *call, emu_outcome *outcome_out) {
    if (!call->stream->destroyed) return true;
    *outcome_out = emu_call_misused(host, call, TUTTI_MISUSE, "the stream was destroyed before");
    return false;
}

static emu_outcome emu_stream_report(emu_host *host, emu_call *call) {
    emu_stream *stream = call->stream;
    tutti_status status = stream->failure;
    emu_finding *finding = stream->failed_for;
    stream->failure = TUTTI_OK;
    stream->failed_for = NULL;
    if (status != TUTTI_OK) return emu_call_failed_for(host, call, status, finding);
    emu_order_synchronized(stream);
    stream->sight.seen = stream->completed;
    return emu_call_ok(host, call);
}

emu_outcome emu_stream_sync_call(emu_host *host, emu_call *call) {
    emu_outcome outcome;
    emu_stream *stream = call->stream;
    if (!emu_stream_usable(host, call, &outcome)) return outcome;
    if (stream->completed == stream->issued) {
        emu_steps_synchronized(host->engine, stream->depends);
        stream->depends = 0;
        emu_races_stream_over(host, stream);
        return emu_stream_report(host, call);
    }
    host->wait_stream = stream;
    host->wait_target = stream->issued;
    host->next_waiter = stream->waiters;
    stream->waiters = host;
    return emu_host_block(host, call, EMU_WAIT_STREAM);
}

emu_outcome emu_stream_query_call(emu_host *host, emu_call *call) {
    emu_outcome outcome;
    if (!emu_stream_usable(host, call, &outcome)) return outcome;
    emu_stream *stream = call->stream;
    bool done = stream->completed == stream->issued;
    emu_steps_looked(host->engine, stream->depends);
    if (done && stream->failure == TUTTI_OK)
        done = !emu_poll_is_early(host->engine, &stream->sight, stream->completed);
    if (done) stream->depends = 0;
    if (done) emu_races_stream_over(host, stream);
    call->done_out = done;
    call->polled = !done;
    host->poll = call->polled ? EMU_WAIT_STREAM : EMU_WAIT_NONE;
    host->wait_stream = stream;
    if (stream->failure != TUTTI_OK || done) return emu_stream_report(host, call);
    return emu_call_ok(host, call);
}

/* --- Enqueueing --- */

void emu_stream_mark_dirty(emu_stream *stream) {
    emu_engine *engine = emu_device_of(stream->base.device)->engine;
    if (stream->dirty) return;
    stream->dirty = true;
    stream->next_dirty = NULL;
    *engine->dirty_tail = stream;
    engine->dirty_tail = &stream->next_dirty;
}

void emu_stream_append(emu_stream *stream, emu_op *op) {
    op->stream = stream;
    op->next_in_stream = NULL;
    if (stream->tail != NULL)
        stream->tail->next_in_stream = op;
    else
        stream->head = op;
    stream->tail = op;
    stream->issued++;
    emu_guard_issued(emu_device_of(stream->base.device)->engine, op);
    emu_trace_op(emu_device_of(stream->base.device)->engine, op, EMU_TRACE_ISSUE);
    emu_races_issued(op);
    if (stream->head == op) emu_stream_mark_dirty(stream);
}

static emu_op *emu_simple_op(emu_host *host, emu_call *call, emu_op_kind kind) {
    emu_op *op = emu_op_new(host->engine);
    if (op == NULL) return NULL;
    op->kind = (uint8_t)kind;
    op->host = host->index;
    op->place = call->place;
    op->order = ++host->launch_count;
    emu_op_take_fault(host, op, call);
    return op;
}

static emu_outcome emu_no_memory(emu_host *host, emu_call *call) {
    return emu_call_end(host, call, TUTTI_OUT_OF_MEMORY, "no memory for another operation");
}

/* A copy's two ends may be host memory: only what belongs to some device is held and checked. */
static bool emu_copy_end(emu_device *device, const char *argument, const void *data, size_t bytes,
                         emu_allocation **allocation_out, emu_memory_problem *problem) {
    *allocation_out = NULL;
    if (bytes == 0 || !emu_memory_is_known(device->engine, data)) return true;
    return emu_memory_find(device, argument, data, bytes, allocation_out, problem);
}

emu_outcome emu_copy_call(emu_host *host, emu_call *call) {
    emu_outcome outcome;
    emu_memory_problem problem;
    emu_allocation *source, *destination;
    emu_device *device = emu_device_of(call->stream->base.device);
    if (!emu_stream_usable(host, call, &outcome)) return outcome;
    if (!emu_copy_end(device, "source", call->source.data, call->count, &source, &problem) ||
        !emu_copy_end(device, "destination", call->destination.data, call->count, &destination,
                      &problem))
        return emu_call_bad_memory(host, call, &problem);
    if (source != NULL && destination != NULL &&
        emu_races_overlap(host, call, call->count, call->count, PTRDIFF_MAX, &outcome))
        return outcome;
    emu_op *op = emu_simple_op(host, call, EMU_OP_COPY);
    if (op == NULL) return emu_no_memory(host, call);
    op->source = call->source.data;
    op->destination = call->destination.data;
    op->source_memory = source;
    op->destination_memory = destination;
    op->count = call->count;
    emu_memory_hold(source);
    emu_memory_hold(destination);
    emu_stream_append(call->stream, op);
    return emu_call_ok(host, call);
}

emu_outcome emu_fill_call(emu_host *host, emu_call *call) {
    emu_outcome outcome;
    emu_memory_problem problem;
    emu_allocation *destination;
    emu_device *device = emu_device_of(call->stream->base.device);
    if (!emu_stream_usable(host, call, &outcome)) return outcome;
    if (!emu_memory_find(device, "destination", call->destination.data, call->destination.bytes,
                         &destination, &problem))
        return emu_call_bad_memory(host, call, &problem);
    emu_op *op = emu_simple_op(host, call, EMU_OP_FILL);
    if (op == NULL) return emu_no_memory(host, call);
    op->destination = call->destination.data;
    op->destination_memory = destination;
    op->count = call->destination.bytes;
    op->fill_value = (uint8_t)call->count;
    emu_memory_hold(destination);
    emu_stream_append(call->stream, op);
    return emu_call_ok(host, call);
}

/* Adds what a kernel declares to its operation: it must be memory of its device. */
static bool emu_kernel_touches(emu_op *op, emu_device *device, const tutti_buffer *buffers,
                               size_t count, bool writes, emu_memory_problem *problem) {
    const char *argument = writes ? "buffer that is written" : "buffer that is read";
    for (size_t i = 0; i < count; i++) {
        emu_allocation *allocation;
        if (!emu_memory_find(device, argument, buffers[i].data, buffers[i].bytes, &allocation,
                             problem))
            return false;
        if (!emu_races_add_range(device->engine, op, allocation, buffers[i], writes))
            device->engine->out_of_memory = true;
    }
    return true;
}

static bool emu_kernel_take(emu_op *op, emu_device *device, const emu_kernel *kernel,
                            emu_memory_problem *problem) {
    if (kernel == NULL) return true;
    op->function = kernel->function;
    op->argument = kernel->argument;
    return emu_kernel_touches(op, device, kernel->reads, kernel->read_count, false, problem) &&
           emu_kernel_touches(op, device, kernel->writes, kernel->write_count, true, problem);
}

emu_outcome emu_kernel_call(emu_host *host, emu_call *call) {
    emu_outcome outcome;
    emu_memory_problem problem;
    emu_device *device = emu_device_of(call->stream->base.device);
    if (!emu_stream_usable(host, call, &outcome)) return outcome;
    emu_op *op = emu_simple_op(host, call, EMU_OP_KERNEL);
    if (op == NULL) return emu_no_memory(host, call);
    if (!emu_kernel_take(op, device, call->kernel, &problem)) {
        host->launch_count--;
        emu_op_recycle(host->engine, op);
        return emu_call_bad_memory(host, call, &problem);
    }
    op->duration_ns = call->duration_ns;
    emu_stream_append(call->stream, op);
    return emu_call_ok(host, call);
}

/* --- Starting --- */

void emu_effect_push(emu_engine *engine, emu_effect *effect) {
    effect->next = NULL;
    *engine->effects_tail = effect;
    engine->effects_tail = &effect->next;
}

void emu_op_push_effect(emu_op *op, emu_effect_kind kind) {
    emu_engine *engine = emu_device_of(op->stream->base.device)->engine;
    emu_effect *effect = emu_effect_new(engine);
    op->state = EMU_OP_EFFECT;
    if (effect == NULL) {
        engine->out_of_memory = true;
        return;
    }
    effect->kind = kind;
    effect->subject = op;
    effect->count =
        kind == EMU_EFFECT_COPY && op->comm != NULL ? op->count * op->width_bytes : op->count;
    effect->source = op->source;
    effect->destination = op->peer_op != NULL ? op->peer_op->destination : op->destination;
    effect->fill_value = op->fill_value;
    effect->host = op->host;
    effect->function = op->function;
    effect->argument = op->argument;
    emu_effect_push(engine, effect);
}

void emu_kernel_time_over(emu_op *op) {
    if (op->function != NULL) {
        emu_op_push_effect(op, EMU_EFFECT_FUNCTION);
        return;
    }
    emu_op_corrupt(op);
    emu_op_complete(op);
}

void emu_kernel_start(emu_engine *engine, emu_op *op) {
    if (op->duration_ns == 0) {
        emu_kernel_time_over(op);
        return;
    }
    if (!emu_timer_arm(engine, &op->timer, EMU_TIMER_KERNEL, op, op->duration_ns)) {
        engine->out_of_memory = true;
        emu_op_complete(op);
    }
}

/* Whether the device has room for one more collective; if not, the stream is told when it has. */
static bool emu_device_has_room(emu_device *device, emu_stream *stream) {
    uint32_t capacity = device->engine->config.capacity;
    if (capacity == 0 || device->resident + 1 < capacity) return true;
    emu_steps_room(device);
    if (device->resident < capacity) return true;
    if (!stream->starved) {
        stream->starved = true;
        stream->next_starved = NULL;
        *device->starved_tail = stream;
        device->starved_tail = &stream->next_starved;
    }
    return false;
}

/* Which of the streams that wait for room gets it: the one that has waited longest, or another. */
static void emu_device_choose_starved(emu_device *device) {
    uint32_t count = 0;
    for (const emu_stream *stream = device->starved; stream != NULL; stream = stream->next_starved)
        count++;
    if (count < 2) return;
    uint32_t answer = emu_engine_choose(device->engine, EMU_CHOICE_STREAM, count);
    emu_stream **link = &device->starved;
    for (; answer > 0; answer--)
        link = &(*link)->next_starved;
    emu_stream *chosen = *link;
    *link = chosen->next_starved;
    chosen->next_starved = device->starved;
    device->starved = chosen;
}

static void emu_device_release_room(emu_device *device) {
    assert(device->resident > 0);
    device->resident--;
    if (device->starved != NULL) emu_steps_room(device);
    emu_device_choose_starved(device);
    emu_stream *stream = device->starved;
    device->starved = NULL;
    device->starved_tail = &device->starved;
    while (stream != NULL) {
        emu_stream *next = stream->next_starved;
        stream->starved = false;
        emu_stream_mark_dirty(stream);
        stream = next;
    }
}

static bool emu_comm_op_try_start(emu_engine *engine, emu_op *op) {
    emu_device *device = emu_device_of(op->stream->base.device);
    if (op->comm->order_head != op) return false;
    if (!emu_device_has_room(device, op->stream)) return false;
    device->resident++;
    op->resident = true;
    op->state = EMU_OP_STARTED;
    emu_trace_op(engine, op, EMU_TRACE_START);
    emu_races_start(op);
    emu_match_start(op);
    return true;
}

/* All streams of a group call have come to it, and it is its turn on every communicator. */
static bool emu_launch_is_ready(const emu_launch *launch) {
    for (const emu_op *place = launch->places; place != NULL; place = place->next_in_launch)
        if (place->stream->head != place) return false;
    for (const emu_op *part = launch->parts; part != NULL; part = part->next_in_launch)
        if (part->comm->order_head->launch != launch) return false;
    return true;
}

static bool emu_launch_try_start(emu_engine *engine, emu_launch *launch, emu_stream *stream) {
    if (launch->started) return true;
    if (!emu_launch_is_ready(launch)) return false;
    if (!emu_device_has_room(launch->device, stream)) return false;
    launch->device->resident++;
    launch->resident = true;
    launch->started = true;
    for (emu_op *place = launch->places; place != NULL; place = place->next_in_launch)
        place->state = EMU_OP_STARTED;
    /* A part that completes at once may end the launch: it must not do so before all started. */
    launch->part_count++;
    emu_races_start_launch(launch);
    for (emu_op *part = launch->parts; part != NULL; part = part->next_in_launch) {
        if (part->state == EMU_OP_DONE) continue;
        part->state = EMU_OP_STARTED;
        emu_trace_op(engine, part, EMU_TRACE_START);
        emu_match_start(part);
    }
    emu_launch_part_done(engine, launch);
    return true;
}

/* The head of a stream: starts if it may. False: it has to wait. */
static bool emu_op_try_start(emu_engine *engine, emu_op *op) {
    if (op->faults != NULL && op->comm == NULL && emu_op_start_faulty(op)) return true;
    switch ((emu_op_kind)op->kind) {
    case EMU_OP_COPY:
        emu_races_start(op);
        emu_op_push_effect(op, EMU_EFFECT_COPY);
        return true;
    case EMU_OP_FILL:
        emu_races_start(op);
        emu_op_push_effect(op, EMU_EFFECT_FILL);
        return true;
    case EMU_OP_KERNEL:
        op->state = EMU_OP_STARTED;
        emu_trace_op(engine, op, EMU_TRACE_START);
        emu_races_start(op);
        emu_kernel_start(engine, op);
        return true;
    case EMU_OP_RECORD:
        emu_event_pass(op);
        return true;
    case EMU_OP_WAIT:
        return emu_event_try_pass_wait(op);
    case EMU_OP_GROUP:
        return emu_launch_try_start(engine, op->launch, op->stream);
    case EMU_OP_ALL_REDUCE:
    case EMU_OP_SEND:
    case EMU_OP_RECV:
        return emu_comm_op_try_start(engine, op);
    }
    return false;
}

static void emu_stream_pop(emu_engine *engine, emu_stream *stream) {
    emu_op *op = stream->head;
    stream->head = op->next_in_stream;
    if (stream->head == NULL) stream->tail = NULL;
    stream->completed++;
    if (op->launch != NULL)
        emu_launch_place_done(engine, op);
    else
        emu_op_recycle(engine, op);
    emu_stream_wake_waiters(stream);
}

static void emu_stream_advance(emu_engine *engine, emu_stream *stream) {
    while (stream->head != NULL) {
        emu_op *op = stream->head;
        if (op->state == EMU_OP_QUEUED && !emu_op_try_start(engine, op)) return;
        if (op->state != EMU_OP_DONE) return;
        emu_stream_pop(engine, stream);
    }
}

void emu_streams_advance(emu_engine *engine) {
    while (engine->dirty != NULL) {
        emu_stream *stream = engine->dirty;
        engine->dirty = stream->next_dirty;
        if (engine->dirty == NULL) engine->dirty_tail = &engine->dirty;
        stream->dirty = false;
        emu_stream_advance(engine, stream);
    }
}

/* --- Completing --- */

/* The next launch on a communicator may start; whoever waits for the last one to end is woken. */
static void emu_comm_next_turn(emu_comm *comm) {
    emu_op *done = comm->order_head;
    comm->order_head = done->next_in_comm;
    if (comm->order_head == NULL) {
        comm->order_tail = NULL;
        if (comm->state == EMU_COMM_LEAVING) emu_comm_drained(comm);
        return;
    }
    emu_op *next = comm->order_head;
    if (next->launch == NULL) {
        emu_stream_mark_dirty(next->stream);
        return;
    }
    for (emu_op *place = next->launch->places; place != NULL; place = place->next_in_launch)
        emu_stream_mark_dirty(place->stream);
}

/* Takes a finished launch out of the inner order, wherever it stands in it. */
static void emu_comm_order_remove(emu_comm *comm, const emu_op *op) {
    if (comm->order_head == op) {
        emu_comm_next_turn(comm);
        return;
    }
    emu_op *before = comm->order_head;
    while (before->next_in_comm != op)
        before = before->next_in_comm;
    before->next_in_comm = op->next_in_comm;
    if (comm->order_tail == op) comm->order_tail = before;
}

/* The parts of a group call are all done: its places in the streams are, too. */
void emu_launch_part_done(emu_engine *engine, emu_launch *launch) {
    assert(launch->part_count > 0);
    if (--launch->part_count > 0) return;
    emu_races_launch_over(launch);
    for (emu_op *part = launch->parts; part != NULL; part = part->next_in_launch)
        if (part->in_order) emu_comm_order_remove(part->comm, part);
    if (launch->resident) emu_device_release_room(launch->device);
    launch->resident = false;
    for (emu_op *place = launch->places; place != NULL; place = place->next_in_launch) {
        place->state = EMU_OP_DONE;
        emu_stream_mark_dirty(place->stream);
    }
    emu_op *part = launch->parts;
    launch->parts = NULL;
    while (part != NULL) {
        emu_op *next = part->next_in_launch;
        emu_op_recycle(engine, part);
        part = next;
    }
}

/* A stream has passed its place in a group call; the last one ends the launch. */
void emu_launch_place_done(emu_engine *engine, emu_op *place) {
    emu_launch *launch = place->launch;
    emu_op **link = &launch->places;
    while (*link != place)
        link = &(*link)->next_in_launch;
    *link = place->next_in_launch;
    emu_op_recycle(engine, place);
    if (launch->places == NULL) emu_launch_recycle(engine, launch);
}

void emu_op_complete(emu_op *op) {
    emu_device *device = emu_device_of(op->stream->base.device);
    emu_engine *engine = device->engine;
    assert(op->state != EMU_OP_DONE);
    op->state = EMU_OP_DONE;
    emu_timer_cancel(engine, &op->timer);
    engine->progress++;
    emu_trace_op(engine, op, EMU_TRACE_COMPLETE);
    emu_races_complete(op);
    emu_guard_over(engine, op);
    emu_memory_release(op->source_memory);
    emu_memory_release(op->destination_memory);
    if (op->comm != NULL) emu_match_done(op);
    if (op->launch != NULL) {
        emu_launch_part_done(engine, op->launch);
        return;
    }
    if (op->in_order) emu_comm_order_remove(op->comm, op);
    if (op->resident) emu_device_release_room(device);
    emu_stream_mark_dirty(op->stream);
}
