#include "drivers/emu/state.h"

#include <stdio.h>

/* Where the fault plan has its say: at the calls of hosts. */

/* Points and actions that come with a later version are refused by name when a cluster starts. */
static const tutti_fault_point emu_points_later[] = {TUTTI_FAULT_AT_STEP, TUTTI_FAULT_AT_ALLOC,
                                                     TUTTI_FAULT_AT_STREAM, TUTTI_FAULT_AT_LINK};
static const tutti_fault_kind emu_actions_later[] = {TUTTI_FAULT_DROP, TUTTI_FAULT_CORRUPT,
                                                     TUTTI_FAULT_SLOW};

static bool emu_point_is_later(tutti_fault_point point) {
    for (size_t i = 0; i < sizeof emu_points_later / sizeof *emu_points_later; i++)
        if (emu_points_later[i] == point) return true;
    return false;
}

static bool emu_action_is_later(tutti_fault_kind kind) {
    for (size_t i = 0; i < sizeof emu_actions_later / sizeof *emu_actions_later; i++)
        if (emu_actions_later[i] == kind) return true;
    return false;
}

static tutti_status emu_rule_check(const tutti_fault_plan *plan, uint32_t rule,
                                   tutti_error *error) {
    char message[128];
    if (emu_point_is_later(tutti_fault_rule_point(plan, rule))) {
        snprintf(message, sizeof message, "the point '%s' is not in this version yet",
                 tutti_fault_point_name(tutti_fault_rule_point(plan, rule)));
        return tutti_fault_rule_error(plan, rule, TUTTI_UNSUPPORTED, message, error);
    }
    for (uint32_t i = 0; i < tutti_fault_rule_term_count(plan, rule); i++) {
        tutti_fault_kind kind = tutti_fault_rule_term(plan, rule, i)->action.kind;
        if (!emu_action_is_later(kind)) continue;
        snprintf(message, sizeof message, "the action '%s' is not in this version yet",
                 tutti_fault_kind_name(kind));
        return tutti_fault_rule_error(plan, rule, TUTTI_UNSUPPORTED, message, error);
    }
    return TUTTI_OK;
}

tutti_status emu_faults_create(emu_engine *engine, tutti_error *error) {
    const tutti_fault_plan *plan = engine->config.faults;
    for (uint32_t rule = 0; rule < tutti_fault_rule_count(plan); rule++) {
        tutti_status status = emu_rule_check(plan, rule, error);
        if (status != TUTTI_OK) return status;
    }
    uint32_t ranks = engine->config.host_count > engine->device_count ? engine->config.host_count
                                                                      : engine->device_count;
    return tutti_fault_state_create(plan, (int32_t)ranks, engine->config.seed, &engine->faults,
                                    error);
}

/* The point that a call passes; TUTTI_FAULT_POINT_COUNT when it has none. */
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
    default:
        return TUTTI_FAULT_POINT_COUNT;
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
    if (call->kind == EMU_CALL_JOIN)
        site.group = call->name;
    else if (call->comm != NULL)
        emu_site_add_comm(&site, host, call);
    if (call->stream != NULL) site.stream = call->stream->name;
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

static emu_outcome emu_fault_hang(emu_host *host, emu_call *call) {
    emu_text text = {0};
    int32_t rank = (int32_t)host->index;
    emu_text_add(&text, "a fault makes rank %" PRId32 " hang in its %s", rank,
                 emu_call_name(call->kind));
    emu_text_add_place(&text, call->place);
    emu_text_add(&text, ": it never comes back");
    emu_note_add(host->engine, TUTTI_VERDICT_MISSING, "hang", 0, &rank, 1, &text);
    host->state = EMU_HOST_HUNG;
    host->call = call;
    host->engine->hung_count++;
    emu_trace_call(host, call, EMU_TRACE_BLOCK);
    return EMU_BLOCKED;
}

static emu_outcome emu_fault_kill(emu_host *host, emu_call *call) {
    emu_text text = {0};
    int32_t rank = (int32_t)host->index;
    emu_text_add(&text, "a fault kills rank %" PRId32 " in its %s", rank,
                 emu_call_name(call->kind));
    emu_text_add_place(&text, call->place);
    emu_text_add(&text, ": it makes no call from there on; what it had enqueued still runs");
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
    emu_finding_refused(host, call, reason);
    return emu_call_end(host, call, action->status, "%s", reason);
}

bool emu_faults_apply(emu_host *host, emu_call *call, emu_outcome *outcome_out) {
    int32_t enqueued;
    tutti_fault_action action;
    if (call->faults_applied) return true;
    call->faults_applied = true;
    uint32_t points = tutti_fault_state_points(host->engine->faults);
    if (points == 0) return true;
    tutti_fault_point point = emu_call_point(call, &enqueued);
    if (point == TUTTI_FAULT_POINT_COUNT) return true;
    uint32_t asked = UINT32_C(1) << point | (enqueued ? UINT32_C(1) << TUTTI_FAULT_AT_ENQUEUE : 0);
    if ((points & asked) == 0) return true;
    tutti_fault_site site = emu_call_site(host, call, point, enqueued);
    if (!tutti_fault_decide(host->engine->faults, &site, &action)) return true;
    emu_trace_fault(host, call, &action);
    if (action.kind == TUTTI_FAULT_DELAY)
        *outcome_out = emu_fault_delay(host, call, action.delay_ns);
    else if (action.kind == TUTTI_FAULT_HANG)
        *outcome_out = emu_fault_hang(host, call);
    else if (action.kind == TUTTI_FAULT_KILL)
        *outcome_out = emu_fault_kill(host, call);
    else
        *outcome_out = emu_fault_fail(host, call, &action);
    return false;
}
