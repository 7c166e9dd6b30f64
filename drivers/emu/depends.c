#include "drivers/emu/state.h"

/* Tells the step log what calls have to do with each other, and asks the chooser what could go
 * either way. Both do nothing when nobody listens. */

uint32_t emu_engine_choose(emu_engine *engine, emu_choice_kind kind, uint32_t answer_count) {
    const emu_question question = {.kind = kind, .answer_count = answer_count};
    return engine->config.choices == NULL ? 0 : emu_choose(engine->config.choices, &question);
}

/* --- Polls --- */

/* A poll may come a moment too early to see what is over, once for each thing that there is to see.
 * Nobody who has seen it can come to see it otherwise. */
bool emu_poll_is_early(emu_engine *engine, emu_sight *sight, uint64_t mark) {
    if (mark <= sight->seen || mark <= sight->missed) return false;
    if (emu_engine_choose(engine, EMU_CHOICE_POLL, 2) == 0) return false;
    sight->missed = mark;
    return true;
}

/* --- Tokens --- */

static uint64_t emu_group_key(const emu_group *group) {
    return (uint64_t)group->generation << 32 | group->index;
}

static uint64_t emu_op_token(const emu_op *op) {
    uint64_t group = emu_group_key(op->comm->group);
    if (op->kind == EMU_OP_ALL_REDUCE) return emu_token(EMU_TOKEN_COLLECTIVE, group, op->seq, 0);
    uint64_t rank = (uint64_t)op->comm->base.rank, peer = (uint64_t)op->peer;
    bool sends = op->kind == EMU_OP_SEND;
    return emu_token(EMU_TOKEN_TRANSFER, group, sends ? rank << 32 | peer : peer << 32 | rank,
                     op->seq);
}

static uint64_t emu_forming_token(const emu_group *group) {
    return emu_token(EMU_TOKEN_FORMING, emu_group_key(group), 0, 0);
}

static uint64_t emu_usable_token(const emu_group *group) {
    return emu_token(EMU_TOKEN_USABLE, emu_group_key(group), 0, 0);
}

/* --- Who arrives, ends, looks and waits --- */

void emu_steps_arrived(emu_op *op) {
    emu_step_log *steps = op->comm->group->engine->config.steps;
    if (steps == NULL) return;
    uint64_t token = emu_op_token(op);
    emu_step_touch(steps, emu_usable_token(op->comm->group), EMU_TOUCH_READ);
    emu_step_touch(steps, token, EMU_TOUCH_ADD);
    op->stream->depends = emu_depend_on(steps, op->stream->depends, token);
    op->comm->depends = emu_depend_on(steps, op->comm->depends, token);
}

void emu_steps_await_peers(emu_host *host, const emu_op *op) {
    emu_step_log *steps = host->engine->config.steps;
    if (steps != NULL) host->depends = emu_depend_on(steps, host->depends, emu_op_token(op));
}

void emu_steps_joined(emu_host *host, const emu_group *group) {
    emu_step_log *steps = host->engine->config.steps;
    if (steps == NULL) return;
    emu_step_touch(steps, emu_forming_token(group), EMU_TOUCH_ADD);
    if (host->group_depth > 0)
        host->depends = emu_depend_on(steps, host->depends, emu_forming_token(group));
}

void emu_steps_ended(const emu_comm *comm, bool aborted) {
    emu_step_touch(comm->group->engine->config.steps, emu_usable_token(comm->group),
                   aborted ? EMU_TOUCH_WRITE : EMU_TOUCH_ADD);
    /* It never comes, if it has not come yet. */
    if (aborted && comm->state == EMU_COMM_FORMING)
        emu_step_touch(comm->group->engine->config.steps, emu_forming_token(comm->group),
                       EMU_TOUCH_WRITE);
}

void emu_steps_room(emu_device *device) {
    emu_step_touch(device->engine->config.steps, emu_token(EMU_TOKEN_ROOM, device->index, 0, 0),
                   EMU_TOUCH_WRITE);
}

void emu_steps_looked(emu_engine *engine, uint32_t list) {
    emu_step_touch_all(engine->config.steps, list, EMU_TOUCH_READ);
}

void emu_steps_looked_at_join(const emu_comm *comm) {
    emu_step_touch(comm->group->engine->config.steps, emu_forming_token(comm->group),
                   EMU_TOUCH_READ);
}

void emu_steps_synchronized(emu_engine *engine, uint32_t list) {
    emu_step_touch_all(engine->config.steps, list, EMU_TOUCH_AWAIT);
}

/* --- Waits that are over --- */

static uint32_t emu_wait_list(emu_host *host) {
    emu_step_log *steps = host->engine->config.steps;
    switch ((emu_wait_kind)host->wait) {
    case EMU_WAIT_STREAM:
        return host->wait_stream->depends;
    case EMU_WAIT_EVENT:
        return host->wait_event->depends;
    case EMU_WAIT_COMM:
        return emu_depend_on(steps, 0, emu_forming_token(host->wait_comm->group));
    case EMU_WAIT_DRAINED:
        return host->wait_comm->depends;
    case EMU_WAIT_JOINS:
    case EMU_WAIT_PEERS:
        return host->depends;
    case EMU_WAIT_TIME:
    case EMU_WAIT_NONE:
        break;
    }
    return 0;
}

void emu_steps_woken(emu_host *host) {
    emu_step_log *steps = host->engine->config.steps;
    if (steps == NULL) return;
    emu_step_await_later(steps, host->index, emu_wait_list(host));
    host->depends = 0;
}
