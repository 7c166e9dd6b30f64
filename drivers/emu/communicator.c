#include "drivers/emu/state.h"

#include <stdlib.h>
#include <string.h>

/* Communicators: minting, joining, leaving, aborting, and what becomes of a group that fails. */

static const uint8_t emu_id_magic[8] = {'T', 'U', 'T', 'T', 'I', 'E', 'M', 'U'};

/* Layout of an identifier: magic, index of the group, communication id, zeros. */
enum { EMU_ID_INDEX_AT = 8, EMU_ID_COMMUNICATION_AT = 16 };

static void emu_put_u64(uint8_t *bytes, uint64_t value) {
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t emu_get_u64(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static void emu_id_write(const emu_group *group, tutti_unique_id *id) {
    memset(id, 0, sizeof *id);
    memcpy(id->bytes, emu_id_magic, sizeof emu_id_magic);
    emu_put_u64(id->bytes + EMU_ID_INDEX_AT, group->index);
    emu_put_u64(id->bytes + EMU_ID_COMMUNICATION_AT, group->communication_id);
}

static emu_group *emu_id_read(emu_engine *engine, const tutti_unique_id *id) {
    uint64_t index = emu_get_u64(id->bytes + EMU_ID_INDEX_AT);
    if (memcmp(id->bytes, emu_id_magic, sizeof emu_id_magic) != 0) return NULL;
    if (index >= engine->group_count) return NULL;
    emu_group *group = engine->groups[index];
    tutti_unique_id minted;
    emu_id_write(group, &minted);
    return memcmp(&minted, id, sizeof minted) == 0 ? group : NULL;
}

static emu_group *emu_group_new(emu_engine *engine, uint32_t index, tutti_communication_id id) {
    emu_group *group = calloc(1, sizeof *group);
    if (group == NULL) return NULL;
    group->engine = engine;
    group->index = index;
    group->communication_id = id;
    group->first_seq = group->end_seq = 1;
    return group;
}

emu_outcome emu_mint_call(emu_host *host, emu_call *call) {
    emu_engine *engine = host->engine;
    for (uint32_t i = engine->group_count; i-- > 0;) {
        if (engine->groups[i]->communication_id != call->communication_id) continue;
        emu_id_write(engine->groups[i], call->id_out);
        return emu_call_ok(host, call);
    }
    emu_group *group = NULL;
    if (emu_grow(&engine->groups, engine->group_count, &engine->group_room, sizeof group))
        group = emu_group_new(engine, engine->group_count, call->communication_id);
    if (group == NULL)
        return emu_call_end(host, call, TUTTI_OUT_OF_MEMORY, "no memory for another group");
    engine->groups[engine->group_count++] = group;
    emu_id_write(group, call->id_out);
    return emu_call_ok(host, call);
}

/* --- Joining --- */

static bool emu_comm_is_gone(const emu_comm *comm) {
    return comm->state == EMU_COMM_LEFT || comm->state == EMU_COMM_ABORTED;
}

/* The generation that this rank joins now: after leaving, the identifier serves again. */
static emu_group *emu_group_generation(emu_group *group, int32_t rank) {
    while (group->state == EMU_GROUP_FORMED && rank < group->rank_count &&
           group->members[rank] != NULL && emu_comm_is_gone(group->members[rank])) {
        if (group->successor == NULL) {
            emu_group *next = emu_group_new(group->engine, group->index, group->communication_id);
            if (next == NULL) return NULL;
            next->generation = group->generation + 1;
            next->name = group->name;
            group->successor = next;
        }
        group = group->successor;
    }
    return group;
}

static emu_comm *emu_comm_new(emu_host *host, emu_call *call, emu_group *group) {
    emu_engine *engine = host->engine;
    emu_comm *comm = engine->free_comms;
    if (comm != NULL) {
        engine->free_comms = comm->next_free;
        emu_comm *next_all = comm->next_all;
        memset(comm, 0, sizeof *comm);
        comm->next_all = next_all;
    } else {
        comm = calloc(1, sizeof *comm);
        if (comm == NULL) return NULL;
        comm->next_all = engine->all_comms;
        engine->all_comms = comm;
    }
    comm->base.device = &call->device->base;
    comm->base.rank = call->peer;
    comm->base.rank_count = call->rank_count;
    comm->group = group;
    comm->host = host->index;
    comm->non_blocking = call->non_blocking;
    comm->joined_place = call->place;
    comm->next_joiner = group->joiners;
    group->joiners = comm;
    return comm;
}

static void emu_group_contradict(emu_group *group) {
    if (group->state != EMU_GROUP_FORMING) return;
    group->state = EMU_GROUP_CONTRADICTORY;
    group->engine->contradictory_count++;
}

/* Two members on one device cannot form a group; marks go through the devices once. */
static bool emu_group_shares_device(emu_group *group) {
    bool shared = false;
    for (int32_t rank = 0; rank < group->rank_count; rank++) {
        emu_device *device = emu_device_of(group->members[rank]->base.device);
        if (device->mark == group) shared = true;
        device->mark = group;
    }
    for (int32_t rank = 0; rank < group->rank_count; rank++)
        emu_device_of(group->members[rank]->base.device)->mark = NULL;
    return shared;
}

static void emu_group_form(emu_group *group) {
    if (emu_group_shares_device(group)) {
        emu_group_contradict(group);
        return;
    }
    group->state = EMU_GROUP_FORMED;
    group->engine->progress++;
    for (int32_t rank = 0; rank < group->rank_count; rank++) {
        emu_comm *comm = group->members[rank];
        comm->state = EMU_COMM_READY;
        emu_timer_cancel(group->engine, &comm->timer);
        emu_device *device = emu_device_of(comm->base.device);
        device->comm_count++;
        emu_comm_wake_waiters(comm);
    }
}

/* Enters the member, or notes that it contradicts those who came before. False: no memory. */
static bool emu_group_enter(emu_group *group, emu_comm *comm) {
    int32_t rank = comm->base.rank;
    if (group->rank_count == 0) {
        group->members = calloc((size_t)comm->base.rank_count, sizeof(emu_comm *));
        if (group->members == NULL) return false;
        group->rank_count = comm->base.rank_count;
    }
    if (comm->base.rank_count != group->rank_count || group->members[rank] != NULL) {
        emu_group_contradict(group);
        return true;
    }
    group->members[rank] = comm;
    group->joined_count++;
    return true;
}

static void emu_group_forget_joiner(emu_group *group, const emu_comm *comm) {
    emu_comm **link = &group->joiners;
    while (*link != NULL && *link != comm)
        link = &(*link)->next_joiner;
    if (*link != NULL) *link = comm->next_joiner;
}

static void emu_comm_give_back(emu_comm *comm) {
    emu_engine *engine = comm->group->engine;
    emu_group_forget_joiner(comm->group, comm);
    comm->next_free = engine->free_comms;
    engine->free_comms = comm;
}

static emu_outcome emu_join_wait(emu_host *host, emu_call *call, emu_comm *comm) {
    emu_engine *engine = host->engine;
    if (host->group_depth > 0 && !call->non_blocking) {
        comm->joining_host = host;
        host->pending_joins++;
        call->comm = comm;
        return emu_call_ok(host, call);
    }
    if (call->non_blocking) {
        int64_t limit_ns =
            call->duration_ns > 0 ? call->duration_ns : engine->config.wait_timeout_ns;
        if (limit_ns > 0 && comm->state == EMU_COMM_FORMING &&
            !emu_timer_arm(engine, &comm->timer, EMU_TIMER_COMM_LIMIT, comm, limit_ns))
            engine->out_of_memory = true;
        call->comm = comm;
        call->status = TUTTI_IN_PROGRESS;
        return EMU_DONE;
    }
    host->wait_comm = comm;
    host->next_waiter = comm->waiters;
    comm->waiters = host;
    return emu_host_block(host, call, EMU_WAIT_COMM);
}

/* The caller has this very place in the group. Whether the group has formed meanwhile must not
 * matter, so this is no contradiction among joiners. */
static bool emu_join_is_repeated(const emu_host *host, const emu_call *call,
                                 const emu_group *group) {
    if (group->state == EMU_GROUP_BROKEN || call->peer >= group->rank_count) return false;
    const emu_comm *member = group->members[call->peer];
    return member != NULL && member->host == host->index &&
           member->base.device == &call->device->base;
}

static emu_outcome emu_join_again(emu_host *host, emu_call *call, const emu_group *group) {
    return emu_call_refused(host, call,
                            "rank %" PRId32 " of group %s has joined already; a communicator is "
                            "joined once and kept",
                            call->peer, group->name);
}

/* A join that can never be right, whoever else comes. */
static emu_outcome emu_join_check(emu_host *host, emu_call *call, emu_group *group, bool *ok_out) {
    *ok_out = false;
    if (group->state == EMU_GROUP_BROKEN)
        return emu_call_failed_for(host, call, TUTTI_REFUSED, group->failed_for);
    if (emu_join_is_repeated(host, call, group)) return emu_join_again(host, call, group);
    if (group->state == EMU_GROUP_FORMED && call->rank_count != group->rank_count)
        return emu_call_refused(
            host, call, "group %s was formed with %" PRId32 " ranks, this join says %" PRId32,
            group->name, group->rank_count, call->rank_count);
    if (group->state == EMU_GROUP_FORMED) return emu_join_again(host, call, group);
    *ok_out = true;
    return EMU_DONE;
}

static void emu_group_take_description(emu_group *group, const emu_call *call) {
    if (group->name == NULL) group->name = emu_engine_intern(group->engine, call->name);
    if (group->name == NULL)
        group->name = emu_engine_number_name(group->engine, "group", group->index);
    if (group->member_hosts == NULL) group->member_hosts = call->member_hosts;
}

emu_outcome emu_join_call(emu_host *host, emu_call *call) {
    bool ok;
    emu_group *minted = emu_id_read(host->engine, call->id);
    call->comm = NULL;
    if (minted == NULL)
        return emu_call_misused(host, call, TUTTI_INVALID_ARGUMENT,
                                "this identifier was not minted by this cluster: use the one that "
                                "group_id gives");
    emu_group *group = emu_group_generation(minted, call->peer);
    if (group == NULL)
        return emu_call_end(host, call, TUTTI_OUT_OF_MEMORY, "no memory for another group");
    emu_group_take_description(group, call);
    host->joining = group;
    emu_outcome outcome = emu_join_check(host, call, group, &ok);
    if (!ok) return outcome;
    emu_comm *comm = emu_comm_new(host, call, group);
    if (comm == NULL || !emu_group_enter(group, comm)) {
        if (comm != NULL) emu_comm_give_back(comm);
        return emu_call_end(host, call, TUTTI_OUT_OF_MEMORY, "no memory for another communicator");
    }
    emu_trace_call(host, call, EMU_TRACE_CALL);
    emu_steps_joined(host, group);
    emu_races_joins(host, group);
    outcome = emu_join_wait(host, call, comm);
    if (group->state == EMU_GROUP_FORMING && group->joined_count == group->rank_count)
        emu_group_form(group);
    return outcome;
}

void emu_comm_unjoin(emu_comm *comm, tutti_status status, emu_finding *finding) {
    emu_group *group = comm->group;
    emu_engine *engine = group->engine;
    assert(comm->state == EMU_COMM_FORMING);
    if (comm->base.rank < group->rank_count && group->members[comm->base.rank] == comm) {
        group->members[comm->base.rank] = NULL;
        group->joined_count--;
    }
    bool handle_is_out = comm->non_blocking || comm->joining_host != NULL;
    comm->state = EMU_COMM_UNJOINED;
    comm->failure = status;
    comm->failed_for = finding;
    emu_timer_cancel(engine, &comm->timer);
    engine->progress++;
    emu_comm_wake_waiters(comm);
    if (!handle_is_out) emu_comm_give_back(comm);
}

/* The joins of a host's group call that are not through are given up. */
void emu_host_drop_joins(emu_host *host, tutti_status status, emu_finding *finding) {
    for (emu_comm *comm = host->engine->all_comms; comm != NULL; comm = comm->next_all)
        if (comm->joining_host == host) emu_comm_unjoin(comm, status, finding);
}

void emu_comm_limit_over(emu_comm *comm) {
    if (comm->state == EMU_COMM_FORMING)
        emu_comm_unjoin(comm, TUTTI_TIMED_OUT, comm->limit_finding);
}

/* --- Status, leaving, aborting --- */

static emu_outcome emu_comm_gone(emu_host *host, emu_call *call) {
    const emu_comm *comm = call->comm;
    const char *how = comm->state == EMU_COMM_ABORTED ? "aborted" : "left";
    emu_text text = {0};
    emu_text_add(&text, "%s was %s before", comm->group->name, how);
    emu_text_add_place(&text, comm->ended_place);
    emu_text_add(&text, ": a communicator ends once, and nothing can be done with it afterwards");
    return emu_call_misused(host, call, TUTTI_MISUSE, "%s", text.text);
}

static bool emu_comm_has_ended(const emu_comm *comm) {
    return emu_comm_is_gone(comm) || comm->state == EMU_COMM_LEAVING;
}

bool emu_comm_usable(emu_host *host, emu_call *call, emu_outcome *outcome_out) {
    emu_comm *comm = call->comm;
    if (comm->state == EMU_COMM_READY) return true;
    if (comm->state == EMU_COMM_FORMING)
        *outcome_out = emu_call_misused(
            host, call, TUTTI_MISUSE,
            "%s is not ready, its join is in progress: wait until comm_status says ok, or use "
            "comm_synchronize",
            comm->group->name);
    else if (comm->state == EMU_COMM_FAILED || comm->state == EMU_COMM_UNJOINED)
        *outcome_out = emu_call_failed_for(host, call, comm->failure, comm->failed_for);
    else
        *outcome_out = emu_comm_gone(host, call);
    return false;
}

emu_outcome emu_comm_status_call(emu_host *host, emu_call *call) {
    emu_comm *comm = call->comm;
    if (emu_comm_has_ended(comm)) return emu_comm_gone(host, call);
    emu_steps_looked_at_join(comm);
    call->polled =
        comm->state == EMU_COMM_FORMING ||
        (comm->state == EMU_COMM_READY && emu_poll_is_early(host->engine, &comm->sight, 1));
    if (!call->polled) comm->sight.seen = 1;
    if (!call->polled && comm->state == EMU_COMM_READY) emu_races_joined(host, comm->group);
    host->poll = call->polled ? EMU_WAIT_COMM : EMU_WAIT_NONE;
    host->wait_comm = comm;
    call->status_out = call->polled ? TUTTI_IN_PROGRESS : comm->failure;
    return emu_call_ok(host, call);
}

emu_outcome emu_comm_sync_call(emu_host *host, emu_call *call) {
    emu_comm *comm = call->comm;
    if (emu_comm_has_ended(comm)) return emu_comm_gone(host, call);
    if (comm->state != EMU_COMM_FORMING) {
        comm->sight.seen = 1;
        if (comm->state == EMU_COMM_READY) emu_races_joined(host, comm->group);
        if (comm->failure == TUTTI_OK) return emu_call_ok(host, call);
        return emu_call_failed_for(host, call, comm->failure, comm->failed_for);
    }
    host->wait_comm = comm;
    host->next_waiter = comm->waiters;
    comm->waiters = host;
    return emu_host_block(host, call, EMU_WAIT_COMM);
}

static void emu_comm_end(emu_comm *comm, emu_comm_state state) {
    emu_steps_ended(comm, state == EMU_COMM_ABORTED);
    comm->state = (uint8_t)state;
    emu_order_forget(comm);
    emu_device_of(comm->base.device)->comm_count--;
    comm->group->engine->progress++;
}

void emu_comm_drained(emu_comm *comm) {
    emu_comm_end(comm, EMU_COMM_LEFT);
    emu_comm_wake_waiters(comm);
}

emu_outcome emu_leave_call(emu_host *host, emu_call *call) {
    emu_comm *comm = call->comm;
    if (emu_comm_has_ended(comm)) return emu_comm_gone(host, call);
    if (host->group_depth > 0)
        return emu_call_misused(host, call, TUTTI_MISUSE,
                                "leaving is not possible in a group call");
    if (comm->state == EMU_COMM_FORMING)
        return emu_call_misused(
            host, call, TUTTI_MISUSE,
            "%s is not ready, its join is in progress: wait for it, or abort it",
            comm->group->name);
    comm->ended_place = call->place;
    if (comm->state == EMU_COMM_UNJOINED) {
        comm->state = EMU_COMM_LEFT;
        return emu_call_ok(host, call);
    }
    if (comm->order_head == NULL) {
        emu_races_left(host, comm);
        emu_comm_end(comm, EMU_COMM_LEFT);
        return emu_call_ok(host, call);
    }
    comm->state = EMU_COMM_LEAVING;
    host->wait_comm = comm;
    host->next_waiter = comm->waiters;
    comm->waiters = host;
    return emu_host_block(host, call, EMU_WAIT_DRAINED);
}

emu_outcome emu_abort_call(emu_host *host, emu_call *call) {
    emu_comm *comm = call->comm;
    if (emu_comm_is_gone(comm)) return emu_comm_gone(host, call);
    comm->ended_place = call->place;
    if (comm->state == EMU_COMM_FORMING) {
        emu_steps_ended(comm, true);
        emu_comm_unjoin(comm, TUTTI_ABORTED, NULL);
    }
    if (comm->state == EMU_COMM_UNJOINED) {
        comm->state = EMU_COMM_ABORTED;
        return emu_call_ok(host, call);
    }
    emu_comm_end(comm, EMU_COMM_ABORTED);
    comm->failure = TUTTI_ABORTED;
    emu_comm_drop_operations(comm);
    emu_comm_wake_waiters(comm);
    return emu_call_ok(host, call);
}

/* --- Failing --- */

/* Ends one operation without an effect. One whose data is being moved ends by itself. */
static void emu_op_drop(emu_op *op) {
    bool moving = op->collective != NULL && op->collective->moving;
    if (op->state == EMU_OP_DONE || op->state == EMU_OP_EFFECT || moving) return;
    if (op->peer_op != NULL && op->peer_op->state == EMU_OP_EFFECT) return;
    op->failed = true;
    if (op->comm->failed_for != NULL && op->stream->failure == TUTTI_OK) {
        op->stream->failure = op->comm->failure;
        op->stream->failed_for = op->comm->failed_for;
    }
    emu_op_complete(op);
}

void emu_comm_drop_operations(emu_comm *comm) {
    emu_op *op = comm->order_head;
    while (op != NULL) {
        emu_op *next = op->next_in_comm;
        if (op->launch == NULL) {
            emu_op_drop(op);
        } else {
            /* The launch may end with its last part: hold it until all have been looked at. */
            emu_launch *launch = op->launch;
            launch->part_count++;
            for (emu_op *part = launch->parts; part != NULL; part = part->next_in_launch)
                if (part->comm == comm) emu_op_drop(part);
            emu_launch_part_done(comm->group->engine, launch);
        }
        op = next;
    }
}

void emu_group_fail(emu_group *group, tutti_status status, emu_finding *finding) {
    if (group->state != EMU_GROUP_FORMED) return;
    if (group->failed_for == NULL) group->failed_for = finding;
    for (int32_t rank = 0; rank < group->rank_count; rank++) {
        emu_comm *comm = group->members[rank];
        if (comm->state != EMU_COMM_READY && comm->state != EMU_COMM_LEAVING) continue;
        if (comm->state == EMU_COMM_READY) comm->state = EMU_COMM_FAILED;
        comm->failure = status;
        comm->failed_for = finding;
        emu_order_forget(comm);
        emu_comm_drop_operations(comm);
    }
}

void emu_group_break(emu_group *group, emu_finding *finding) {
    group->state = EMU_GROUP_BROKEN;
    group->failed_for = finding;
    group->engine->contradictory_count--;
    while (group->joiners != NULL) {
        emu_comm *comm = group->joiners;
        group->joiners = comm->next_joiner;
        if (comm->state == EMU_COMM_FORMING) emu_comm_unjoin(comm, TUTTI_REFUSED, finding);
    }
}

/* --- Names and numbers --- */

int32_t emu_comm_rank(const emu_comm *comm) {
    const emu_engine *engine = comm->group->engine;
    if (engine->device_count > engine->config.host_count)
        return (int32_t)emu_device_of(comm->base.device)->index;
    return (int32_t)comm->host;
}

int32_t emu_group_member_rank(const emu_group *group, int32_t rank) {
    if (rank < group->rank_count && group->members[rank] != NULL)
        return emu_comm_rank(group->members[rank]);
    if (group->member_hosts != NULL) return (int32_t)group->member_hosts[rank];
    return -1;
}

void emu_group_destroy(emu_group *group) {
    while (group != NULL) {
        emu_group *successor = group->successor;
        emu_group_destroy_collectives(group);
        free(group->members);
        free(group);
        group = successor;
    }
}
