#include "drivers/emu/op_faults.h"

#include <stdio.h>

/* Where the fault plan has its say: at the calls of hosts. */

/* What a plan leaves to chance is a choice: to go by its draw, or the other way. */
static int emu_fault_chance(void *context, int drawn) {
    emu_engine *engine = context;
    bool turned = emu_engine_choose(engine, EMU_CHOICE_FAULT, 2) == 1;
    return (drawn != 0) != turned;
}

tutti_status emu_faults_create(emu_engine *engine, tutti_error *error) {
    const tutti_fault_plan *plan = engine->config.faults;
    uint32_t ranks = engine->config.host_count > engine->device_count ? engine->config.host_count
                                                                      : engine->device_count;
    tutti_status status =
        tutti_fault_state_create(plan, (int32_t)ranks, engine->config.seed, &engine->faults, error);
    if (status == TUTTI_OK) tutti_fault_state_set_chance(engine->faults, emu_fault_chance, engine);
    return status;
}

/* The point that a call passes; TUTTI_FAULT_AT_STEP when it has none of its own, and
 * TUTTI_FAULT_POINT_COUNT when no fault can act at it. */
static tutti_fault_point emu_call_point(const emu_call *call, int32_t *enqueued_out) {
    *enqueued_out = 1;
    switch (call->kind) {
    case EMU_CALL_ALL_REDUCE:
        return TUTTI_FAULT_AT_ALL_REDUCE;
    case EMU_CALL_SEND:
        return TUTTI_FAULT_AT_SEND;
    case EMU_CALL_RECV:
        return TUTTI_FAULT_AT_RECV;
    case EMU_CALL_COPY:
    case EMU_CALL_FILL:
        return TUTTI_FAULT_AT_COPY;
    case EMU_CALL_KERNEL:
        return TUTTI_FAULT_AT_KERNEL;
    case EMU_CALL_EVENT_RECORD:
        return TUTTI_FAULT_AT_RECORD;
    case EMU_CALL_EVENT_WAIT:
        return TUTTI_FAULT_AT_WAIT;
    default:
        break;
    }
    *enqueued_out = 0;
    switch (call->kind) {
    case EMU_CALL_MINT:
        return TUTTI_FAULT_AT_MINT;
    case EMU_CALL_JOIN:
        return TUTTI_FAULT_AT_JOIN;
    case EMU_CALL_DATA_TYPE:
        return TUTTI_FAULT_AT_DATA_TYPE;
    case EMU_CALL_LEAVE:
        return TUTTI_FAULT_AT_LEAVE;
    case EMU_CALL_ABORT:
        return TUTTI_FAULT_AT_ABORT;
    case EMU_CALL_STREAM_SYNC:
    case EMU_CALL_EVENT_SYNC:
    case EMU_CALL_COMM_SYNC:
        return TUTTI_FAULT_AT_SYNC;
    case EMU_CALL_STREAM_QUERY:
    case EMU_CALL_EVENT_QUERY:
    case EMU_CALL_COMM_STATUS:
        return TUTTI_FAULT_AT_POLL;
    case EMU_CALL_GROUP_END:
        return TUTTI_FAULT_AT_GROUP;
    case EMU_CALL_ALLOCATE:
        return TUTTI_FAULT_AT_ALLOC;
    case EMU_CALL_STREAM_CREATE:
    case EMU_CALL_EVENT_CREATE:
        return TUTTI_FAULT_AT_STREAM;
    case EMU_CALL_WRONG:
    case EMU_CALL_REFUSED:
    case EMU_CALL_EXIT:
        return TUTTI_FAULT_POINT_COUNT; /* reports of the program, and its end: no calls of it */
    case EMU_CALL_STREAM_DESTROY:
    case EMU_CALL_EVENT_DESTROY:
        return TUTTI_FAULT_POINT_COUNT; /* they cannot fail: the contract gives them no status */
    default:
        return TUTTI_FAULT_AT_STEP;
    }
}

/* Parts that the host has collected on the communicator in an open group call. */
static uint64_t emu_host_collected(const emu_host *host, const emu_comm *comm, bool collectives) {
    uint64_t count = 0;
    for (const emu_launch *launch = host->launches; launch != NULL; launch = launch->next)
        for (const emu_op *part = launch->parts; part != NULL; part = part->next_in_launch)
            if (part->comm == comm && (part->kind == EMU_OP_ALL_REDUCE) == collectives) count++;
    return count;
}

static void emu_site_add_comm(tutti_fault_site *site, const emu_host *host, const emu_call *call) {
    const emu_comm *comm = call->comm;
    bool reduces = call->kind == EMU_CALL_ALL_REDUCE;
    bool transfers = call->kind == EMU_CALL_SEND || call->kind == EMU_CALL_RECV;
    site->rank = emu_comm_rank(comm);
    site->group = comm->group->name;
    if (reduces) site->op = tutti_reduce_op_name(call->op);
    if (reduces) site->seq = comm->collective_count + 1 + emu_host_collected(host, comm, true);
    if (transfers) site->seq = comm->transfer_count + 1 + emu_host_collected(host, comm, false);
    if (transfers) site->peer = emu_group_member_rank(comm->group, call->peer);
}

static tutti_fault_site emu_call_site(const emu_host *host, const emu_call *call,
                                      tutti_fault_point point, int32_t enqueued) {
    tutti_fault_site site = tutti_fault_site_at(point, (int32_t)host->index);
    site.enqueued = enqueued;
    site.step = host->step_count;
    if (call->kind == EMU_CALL_JOIN)
        site.group = call->name;
    else if (call->comm != NULL)
        emu_site_add_comm(&site, host, call);
    if (call->kind == EMU_CALL_STREAM_CREATE)
        site.stream = call->name;
    else if (call->stream != NULL && point != TUTTI_FAULT_AT_STREAM)
        site.stream = call->stream->name;
    return site;
}

/* --- Acting --- */

static emu_outcome emu_fault_delay(emu_host *host, emu_call *call, int64_t delay_ns) {
    host->resume = true;
    emu_outcome outcome = emu_host_block(host, call, EMU_WAIT_TIME);
    if (!emu_timer_arm(host->engine, &host->timer, EMU_TIMER_HOST_WAKE, host, delay_ns))
        host->engine->out_of_memory = true;
    return outcome;
}

static emu_outcome emu_fault_hang(emu_host *host, emu_call *call,
                                  const tutti_fault_action *action) {
    emu_text text = {0};
    int32_t rank = (int32_t)host->index;
    emu_text_add(&text, "a fault makes rank %" PRId32 " hang in its %s", rank,
                 emu_call_name(call->kind));
    emu_text_add_place(&text, call->place);
    emu_text_add(&text, ": it never comes back");
    emu_text_add_rule(&text, action->rule);
    emu_note_add(host->engine, TUTTI_VERDICT_MISSING, "hang", 0, &rank, 1, &text);
    host->state = EMU_HOST_HUNG;
    host->call = call;
    host->engine->hung_count++;
    emu_trace_call(host, call, EMU_TRACE_BLOCK);
    return EMU_BLOCKED;
}

static emu_outcome emu_fault_kill(emu_host *host, emu_call *call,
                                  const tutti_fault_action *action) {
    emu_text text = {0};
    int32_t rank = (int32_t)host->index;
    emu_text_add(&text, "a fault kills rank %" PRId32 " in its %s", rank,
                 emu_call_name(call->kind));
    emu_text_add_place(&text, call->place);
    emu_text_add(&text, ": it makes no call from there on; what it had enqueued still runs");
    emu_text_add_rule(&text, action->rule);
    emu_finding_add(host->engine, TUTTI_VERDICT_KILLED, "", 0, &rank, 1, &text);
    emu_host_discard_group(host, TUTTI_KILLED);
    host->killed = true;
    return emu_call_end(host, call, TUTTI_KILLED, "rank %" PRId32 " was killed by a fault", rank);
}

static emu_outcome emu_fault_fail(emu_host *host, emu_call *call,
                                  const tutti_fault_action *action) {
    char reason[TUTTI_ERROR_MESSAGE_BYTES];
    if (action->kind == TUTTI_FAULT_REFUSE)
        snprintf(reason, sizeof reason, "%s (fault plan, rule %" PRId32 ")", action->reason,
                 action->rule + 1);
    else
        snprintf(reason, sizeof reason, "it failed with status %s (fault plan, rule %" PRId32 ")",
                 tutti_status_name(action->status), action->rule + 1);
    emu_finding *finding = emu_finding_refused(host, call, reason);
    if (finding != NULL) finding->is_fault = true;
    /* A group call that was not ended stays open, and nothing that it has collected is spoiled. */
    tutti_status group_error = host->group_error;
    emu_outcome outcome = emu_call_end(host, call, action->status, "%s", reason);
    if (call->kind == EMU_CALL_GROUP_END) host->group_error = group_error;
    return outcome;
}

/* A mark that is lost was never put on its stream. */
static emu_outcome emu_fault_drop_mark(emu_host *host, emu_call *call) {
    emu_text text = {0};
    int32_t rank = (int32_t)host->index;
    emu_text_add(&text, "a fault loses rank %" PRId32 "'s %s", rank, emu_call_name(call->kind));
    emu_text_add_place(&text, call->place);
    emu_text_add(&text, ": it is not on the stream, and nothing says so");
    emu_text_add_rule(&text, call->fault.rule);
    emu_finding *finding =
        emu_note_add(host->engine, TUTTI_VERDICT_WRONG, "fault", 0, &rank, 1, &text);
    if (finding != NULL) finding->is_fault = true;
    return emu_call_ok(host, call);
}

/* The call goes on, and what it enqueues takes the fault along. */
static bool emu_fault_attach(emu_host *host, emu_call *call, emu_outcome *outcome_out) {
    bool mark = call->kind == EMU_CALL_EVENT_RECORD || call->kind == EMU_CALL_EVENT_WAIT;
    if (!mark || call->fault.kind != TUTTI_FAULT_DROP) return true;
    *outcome_out = emu_fault_drop_mark(host, call);
    return false;
}

/* True when the call goes on, now. */
static bool emu_fault_act(emu_host *host, emu_call *call, const tutti_fault_action *action,
                          emu_outcome *outcome_out) {
    call->fault = *action;
    switch (action->kind) {
    case TUTTI_FAULT_DROP:
    case TUTTI_FAULT_CORRUPT:
    case TUTTI_FAULT_SLOW:
        return emu_fault_attach(host, call, outcome_out);
    case TUTTI_FAULT_DELAY:
        *outcome_out = emu_fault_delay(
            host, call, emu_fault_scale(action->delay_ns, action->factor_millionths));
        call->fault.kind = TUTTI_FAULT_OFF; /* it is over when the call goes on */
        return false;
    case TUTTI_FAULT_HANG:
        *outcome_out = emu_fault_hang(host, call, action);
        return false;
    case TUTTI_FAULT_KILL:
        *outcome_out = emu_fault_kill(host, call, action);
        return false;
    default:
        *outcome_out = emu_fault_fail(host, call, action);
        return false;
    }
}

void emu_faults_see(const emu_engine *engine, const tutti_fault_site *site) {
    const emu_watch *watch = &engine->config.watch;
    if (watch->fault_site != NULL) watch->fault_site(watch->context, site);
}

bool emu_faults_apply(emu_host *host, emu_call *call, emu_outcome *outcome_out) {
    int32_t enqueued;
    tutti_fault_action action;
    const emu_engine *engine = host->engine;
    if (call->faults_applied) return true;
    call->faults_applied = true;
    uint32_t points = tutti_fault_state_points(engine->faults);
    bool watched = engine->config.watch.fault_site != NULL;
    if (points == 0 && !watched) return true;
    tutti_fault_point point = emu_call_point(call, &enqueued);
    if (point == TUTTI_FAULT_POINT_COUNT) return true;
    host->step_count++;
    uint32_t asked = UINT32_C(1) << point | UINT32_C(1) << TUTTI_FAULT_AT_STEP |
                     (enqueued ? UINT32_C(1) << TUTTI_FAULT_AT_ENQUEUE : 0);
    if ((points & asked) == 0 && !watched) return true;
    tutti_fault_site site = emu_call_site(host, call, point, enqueued);
    emu_faults_see(engine, &site);
    if (!tutti_fault_decide(engine->faults, &site, &action)) return true;
    emu_trace_fault(host, call, &action);
    return emu_fault_act(host, call, &action, outcome_out);
}
