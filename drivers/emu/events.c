#include "drivers/emu/state.h"

#include <stdlib.h>

/* Events: a mark is a number that counts an event's records. Whoever waits, waits for the record
 * that was the newest then; what is recorded later, and perhaps passed earlier, does not matter. */

emu_op *emu_event_record(const emu_event *event, uint64_t mark) {
    emu_op *record = event->records;
    while (record != NULL && record->mark != mark)
        record = record->next_in_channel;
    return record;
}

emu_op *emu_host_awaited_record(const emu_host *host) {
    bool blocked = host->state == EMU_HOST_BLOCKED;
    return emu_event_record(host->wait_event,
                            blocked ? host->wait_target : host->wait_event->issued_mark);
}

emu_outcome emu_event_create_call(emu_host *host, emu_call *call) {
    emu_device *device = call->device;
    emu_event *event = calloc(1, sizeof *event);
    if (event == NULL)
        return emu_call_end(host, call, TUTTI_OUT_OF_MEMORY, "no memory for another event");
    event->base.device = &device->base;
    event->index = device->next_event++;
    event->host = host->index;
    event->place = call->place;
    event->next_all = host->engine->all_events;
    host->engine->all_events = event;
    call->event = event;
    return emu_call_ok(host, call);
}

static bool emu_event_usable(emu_host *host, emu_call *call, emu_outcome *outcome_out) {
    if (call->event->destroyed)
        *outcome_out = emu_call_misused(host, call, TUTTI_MISUSE, "the event was destroyed before");
    else if (call->stream != NULL && call->stream->destroyed)
        *outcome_out =
            emu_call_misused(host, call, TUTTI_MISUSE, "the stream was destroyed before");
    else
        return true;
    return false;
}

emu_outcome emu_event_destroy_call(emu_host *host, emu_call *call) {
    emu_outcome outcome;
    if (!emu_event_usable(host, call, &outcome)) return outcome;
    call->event->destroyed = true;
    return emu_call_ok(host, call);
}

static emu_outcome emu_event_enqueue(emu_host *host, emu_call *call, emu_op_kind kind,
                                     uint64_t mark) {
    emu_op *op = emu_op_new(host->engine);
    if (op == NULL)
        return emu_call_end(host, call, TUTTI_OUT_OF_MEMORY, "no memory for another operation");
    op->kind = (uint8_t)kind;
    op->host = host->index;
    op->place = call->place;
    op->event = call->event;
    op->mark = mark;
    op->order = ++host->launch_count;
    if (kind == EMU_OP_RECORD) {
        call->event->issued_mark = mark;
        op->next_in_channel = call->event->records;
        call->event->records = op;
        call->event->depends = call->stream->depends;
    } else {
        call->stream->depends = emu_depend_on_all(host->engine->config.steps, call->stream->depends,
                                                  call->event->depends);
    }
    emu_stream_append(call->stream, op);
    if (kind == EMU_OP_WAIT) emu_races_wait_issued(op);
    return emu_call_ok(host, call);
}

emu_outcome emu_event_record_call(emu_host *host, emu_call *call) {
    emu_outcome outcome;
    if (!emu_event_usable(host, call, &outcome)) return outcome;
    return emu_event_enqueue(host, call, EMU_OP_RECORD, call->event->issued_mark + 1);
}

emu_outcome emu_event_wait_call(emu_host *host, emu_call *call) {
    emu_outcome outcome;
    if (!emu_event_usable(host, call, &outcome)) return outcome;
    return emu_event_enqueue(host, call, EMU_OP_WAIT, call->event->issued_mark);
}

static emu_outcome emu_event_report(emu_host *host, emu_call *call) {
    emu_event *event = call->event;
    event->sight.seen = event->completed_mark;
    emu_races_event_over(host, event);
    if (event->failure != TUTTI_OK)
        return emu_call_failed_for(host, call, event->failure, event->failed_for);
    return emu_call_ok(host, call);
}

emu_outcome emu_event_sync_call(emu_host *host, emu_call *call) {
    emu_outcome outcome;
    emu_event *event = call->event;
    if (!emu_event_usable(host, call, &outcome)) return outcome;
    if (emu_event_record(event, event->issued_mark) == NULL) {
        emu_steps_synchronized(host->engine, event->depends);
        return emu_event_report(host, call);
    }
    host->wait_event = event;
    host->wait_target = event->issued_mark;
    host->next_waiter = event->waiters;
    event->waiters = host;
    return emu_host_block(host, call, EMU_WAIT_EVENT);
}

emu_outcome emu_event_query_call(emu_host *host, emu_call *call) {
    emu_outcome outcome;
    emu_event *event = call->event;
    if (!emu_event_usable(host, call, &outcome)) return outcome;
    emu_steps_looked(host->engine, event->depends);
    call->done_out = emu_event_record(event, event->issued_mark) == NULL &&
                     !emu_poll_is_early(host->engine, &event->sight, event->issued_mark);
    call->polled = !call->done_out;
    host->poll = call->polled ? EMU_WAIT_EVENT : EMU_WAIT_NONE;
    host->wait_event = event;
    return call->done_out ? emu_event_report(host, call) : emu_call_ok(host, call);
}

void emu_event_pass(emu_op *op) {
    emu_event *event = op->event;
    emu_races_record_passed(op);
    if (op->mark > event->completed_mark) {
        event->completed_mark = op->mark;
        event->failure = op->stream->failure;
        event->failed_for = op->stream->failed_for;
    }
    emu_op **link = &event->records;
    while (*link != op)
        link = &(*link)->next_in_channel;
    *link = op->next_in_channel;
    emu_op_complete(op);
    emu_event_wake_waiters(event);
    emu_stream *stream = event->stream_waiters;
    event->stream_waiters = NULL;
    while (stream != NULL) {
        emu_stream *next = stream->next_event_waiter;
        stream->event_waiting = false;
        emu_stream_mark_dirty(stream);
        stream = next;
    }
}

bool emu_event_try_pass_wait(emu_op *op) {
    emu_event *event = op->event;
    if (emu_event_record(event, op->mark) == NULL) {
        emu_races_wait_passed(op);
        emu_op_complete(op);
        return true;
    }
    if (!op->stream->event_waiting) {
        op->stream->event_waiting = true;
        op->stream->next_event_waiter = event->stream_waiters;
        event->stream_waiters = op->stream;
    }
    return false;
}
