#include "drivers/emu/state.h"

#include <stdio.h>
#include <string.h>

/* Hosts: how calls end, block and wake. */

static const char *const emu_call_names[EMU_CALL_KIND_COUNT] = {
    [EMU_CALL_MINT] = "group_id",
    [EMU_CALL_JOIN] = "join",
    [EMU_CALL_LEAVE] = "leave",
    [EMU_CALL_ABORT] = "comm_abort",
    [EMU_CALL_COMM_STATUS] = "comm_status",
    [EMU_CALL_COMM_SYNC] = "comm_synchronize",
    [EMU_CALL_DATA_TYPE] = "data_type",
    [EMU_CALL_ALLOCATE] = "memory_allocate",
    [EMU_CALL_FREE] = "memory_free",
    [EMU_CALL_COPY] = "copy",
    [EMU_CALL_FILL] = "fill",
    [EMU_CALL_KERNEL] = "host_function",
    [EMU_CALL_STREAM_CREATE] = "stream_create",
    [EMU_CALL_STREAM_DESTROY] = "stream_destroy",
    [EMU_CALL_STREAM_SYNC] = "stream_synchronize",
    [EMU_CALL_STREAM_QUERY] = "stream_query",
    [EMU_CALL_EVENT_CREATE] = "event_create",
    [EMU_CALL_EVENT_DESTROY] = "event_destroy",
    [EMU_CALL_EVENT_RECORD] = "event_record",
    [EMU_CALL_EVENT_WAIT] = "event_wait",
    [EMU_CALL_EVENT_SYNC] = "event_synchronize",
    [EMU_CALL_EVENT_QUERY] = "event_query",
    [EMU_CALL_ALL_REDUCE] = "all_reduce",
    [EMU_CALL_SEND] = "send",
    [EMU_CALL_RECV] = "recv",
    [EMU_CALL_GROUP_START] = "group_start",
    [EMU_CALL_GROUP_END] = "group_end",
    [EMU_CALL_SLEEP] = "sleep",
    [EMU_CALL_HOST_ACCESS] = "host access",
    [EMU_CALL_WRONG] = "check",
    [EMU_CALL_REFUSED] = "refused",
    [EMU_CALL_EXIT] = "exit",
};

const char *emu_call_name(emu_call_kind kind) {
    assert(kind < EMU_CALL_KIND_COUNT);
    return emu_call_names[kind];
}

static void emu_call_fill_error(const emu_host *host, emu_call *call, const char *text) {
    tutti_error_set(call->error, call->status, "%s", text);
    if (call->error != NULL) call->error->rank = (int32_t)host->index;
}

/* A call that fails inside a group call spoils the group: its end returns the first failure. */
static void emu_host_note_failure(emu_host *host, tutti_status status) {
    if (host->group_depth > 0 && host->group_error == TUTTI_OK && status != TUTTI_IN_PROGRESS)
        host->group_error = status;
}

emu_outcome emu_call_ok(emu_host *host, emu_call *call) {
    (void)host;
    call->status = TUTTI_OK;
    return EMU_DONE;
}

emu_outcome emu_call_end(emu_host *host, emu_call *call, tutti_status status, const char *format,
                         ...) {
    char text[TUTTI_ERROR_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    call->status = status;
    if (status != TUTTI_IN_PROGRESS) host->was_failed = true;
    emu_call_fill_error(host, call, text);
    emu_host_note_failure(host, status);
    emu_trace_call(host, call, EMU_TRACE_RETURN);
    return EMU_DONE;
}

emu_outcome emu_call_misused(emu_host *host, emu_call *call, tutti_status status,
                             const char *format, ...) {
    char reason[TUTTI_ERROR_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    emu_finding_misuse(host, call, reason);
    return emu_call_end(host, call, status, "%s", reason);
}

emu_outcome emu_call_refused(emu_host *host, emu_call *call, const char *format, ...) {
    char reason[TUTTI_ERROR_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    emu_finding_refused(host, call, reason);
    return emu_call_end(host, call, TUTTI_REFUSED, "%s", reason);
}

emu_outcome emu_call_failed_for(emu_host *host, emu_call *call, tutti_status status,
                                const emu_finding *finding) {
    const char *text = finding != NULL ? finding->text : tutti_status_text(status);
    return emu_call_end(host, call, status, "%s", text);
}

static void emu_host_push_woken(emu_host *host) {
    emu_engine *engine = host->engine;
    host->next_woken = NULL;
    *engine->woken_tail = host;
    engine->woken_tail = &host->next_woken;
}

int32_t emu_engine_take_woken(emu_engine *engine) {
    emu_host *host = engine->woken;
    if (host == NULL) return -1;
    engine->woken = host->next_woken;
    if (engine->woken == NULL) engine->woken_tail = &engine->woken;
    return (int32_t)host->index;
}

emu_outcome emu_host_block(emu_host *host, emu_call *call, emu_wait_kind wait) {
    emu_engine *engine = host->engine;
    assert(host->state == EMU_HOST_RUNNING);
    int64_t limit_ns = engine->config.wait_timeout_ns;
    if (call->kind == EMU_CALL_JOIN && call->duration_ns > 0) limit_ns = call->duration_ns;
    if (wait != EMU_WAIT_TIME && limit_ns > 0 &&
        !emu_timer_arm(engine, &host->timer, EMU_TIMER_HOST_LIMIT, host, limit_ns))
        engine->out_of_memory = true;
    host->state = EMU_HOST_BLOCKED;
    host->wait = (uint8_t)wait;
    host->call = call;
    emu_trace_call(host, call, EMU_TRACE_BLOCK);
    return EMU_BLOCKED;
}

void emu_host_wake(emu_host *host, tutti_status status, const emu_finding *finding) {
    emu_call *call = host->call;
    assert(host->state == EMU_HOST_BLOCKED || host->state == EMU_HOST_HUNG);
    emu_timer_cancel(host->engine, &host->timer);
    emu_steps_woken(host);
    host->state = EMU_HOST_RUNNING;
    host->wait = EMU_WAIT_NONE;
    host->call = NULL;
    host->limit_finding = NULL;
    host->engine->progress++;
    if (status == TUTTI_OK) {
        call->status = TUTTI_OK;
        emu_trace_call(host, call, EMU_TRACE_RETURN);
    } else {
        (void)emu_call_failed_for(host, call, status, finding);
    }
    emu_host_push_woken(host);
}

static void emu_list_remove(emu_host **list, emu_host *host) {
    while (*list != NULL && *list != host)
        list = &(*list)->next_waiter;
    if (*list == host) *list = host->next_waiter;
    host->next_waiter = NULL;
}

void emu_host_unlink(emu_host *host) {
    switch ((emu_wait_kind)host->wait) {
    case EMU_WAIT_STREAM:
        emu_list_remove(&host->wait_stream->waiters, host);
        break;
    case EMU_WAIT_EVENT:
        emu_list_remove(&host->wait_event->waiters, host);
        break;
    case EMU_WAIT_COMM:
    case EMU_WAIT_DRAINED:
        emu_list_remove(&host->wait_comm->waiters, host);
        break;
    case EMU_WAIT_JOINS:
    case EMU_WAIT_PEERS:
    case EMU_WAIT_TIME:
    case EMU_WAIT_NONE:
        break;
    }
}

/* The call was only held up by a fault: it is issued again now, and may block on its own. */
static void emu_host_resume(emu_host *host) {
    emu_call *call = host->call;
    host->state = EMU_HOST_RUNNING;
    host->wait = EMU_WAIT_NONE;
    host->call = NULL;
    host->resume = false;
    if (emu_engine_dispatch(host, call) == EMU_DONE) {
        if (call->status == TUTTI_OK) emu_trace_call(host, call, EMU_TRACE_RETURN);
        emu_host_push_woken(host);
    }
}

void emu_host_time_over(emu_host *host) {
    assert(host->state == EMU_HOST_BLOCKED && host->wait == EMU_WAIT_TIME);
    if (host->resume)
        emu_host_resume(host);
    else
        emu_host_wake(host, TUTTI_OK, NULL);
}

void emu_host_limit_over(emu_host *host) {
    emu_finding *finding = host->limit_finding;
    emu_comm *joined = host->call->kind == EMU_CALL_JOIN ? host->wait_comm : NULL;
    if (joined != NULL) {
        emu_comm_unjoin(joined, TUTTI_TIMED_OUT, finding);
        return;
    }
    if (host->wait == EMU_WAIT_JOINS) {
        emu_host_drop_joins(host, TUTTI_TIMED_OUT, finding);
        return;
    }
    emu_host_unlink(host);
    emu_host_wake(host, TUTTI_TIMED_OUT, finding);
}

static tutti_status emu_take_failure(tutti_status *failure, emu_finding **failed_for,
                                     emu_finding **finding_out) {
    tutti_status status = *failure;
    *finding_out = *failed_for;
    *failure = TUTTI_OK;
    *failed_for = NULL;
    return status;
}

void emu_stream_wake_waiters(emu_stream *stream) {
    emu_host **list = &stream->waiters;
    while (*list != NULL) {
        emu_host *host = *list;
        if (stream->completed < host->wait_target) {
            list = &host->next_waiter;
            continue;
        }
        *list = host->next_waiter;
        emu_finding *finding;
        tutti_status status = emu_take_failure(&stream->failure, &stream->failed_for, &finding);
        if (status == TUTTI_OK) emu_order_synchronized(stream);
        stream->sight.seen = stream->completed;
        emu_races_stream_over(host, stream);
        emu_host_wake(host, status, finding);
        if (stream->completed == stream->issued) stream->depends = 0;
    }
}

void emu_event_wake_waiters(emu_event *event) {
    emu_host **list = &event->waiters;
    while (*list != NULL) {
        emu_host *host = *list;
        if (emu_event_record(event, host->wait_target) != NULL) {
            list = &host->next_waiter;
            continue;
        }
        *list = host->next_waiter;
        event->sight.seen = event->completed_mark;
        emu_races_event_over(host, event);
        emu_host_wake(host, event->failure, event->failed_for);
    }
}

/* The communicator has left the state that its waiters waited in. */
void emu_comm_wake_waiters(emu_comm *comm) {
    emu_host *host = comm->waiters;
    comm->waiters = NULL;
    while (host != NULL) {
        emu_host *next = host->next_waiter;
        bool joined = comm->state == EMU_COMM_READY;
        if (host->call->kind == EMU_CALL_JOIN) host->call->comm = joined ? comm : NULL;
        if (joined) comm->sight.seen = 1;
        if (joined) emu_races_joined(host, comm->group);
        if (comm->state == EMU_COMM_LEFT) emu_races_left(host, comm);
        emu_host_wake(host, comm->failure, comm->failed_for);
        host = next;
    }
    if (comm->joining_host != NULL) emu_host_joined(comm->joining_host, comm);
    comm->joining_host = NULL;
}

/* One of the joins of a host's group call is through, well or badly. */
void emu_host_joined(emu_host *host, const emu_comm *comm) {
    assert(host->pending_joins > 0);
    host->pending_joins--;
    if (comm->state == EMU_COMM_READY) emu_races_joined_in_group_call(host, comm->group);
    if (comm->failure != TUTTI_OK && host->join_status == TUTTI_OK) {
        host->join_status = comm->failure;
        host->join_finding = comm->failed_for;
    }
    if (host->pending_joins > 0 || host->wait != EMU_WAIT_JOINS) return;
    tutti_status status = host->join_status;
    host->join_status = TUTTI_OK;
    emu_races_group_call_over(host);
    emu_host_wake(host, status, host->join_finding);
}
