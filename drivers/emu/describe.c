#include "drivers/emu/op_faults.h"

#include <stdlib.h>
#include <string.h>

/* Where each rank stands: a line per rank, written when a run cannot go on, or at its end. */

static void emu_text_add_position(emu_text *text, const emu_op *op) {
    if (op == NULL) return;
    emu_text_add(text, "; the stream is at ");
    if (op->kind == EMU_OP_GROUP && op->launch->parts != NULL) {
        emu_text_add(text, "a group call that begins with ");
        op = op->launch->parts;
    }
    emu_text_add_op(text, op);
    emu_text_add(text, op->state == EMU_OP_STARTED ? ", started" : ", not started");
}

/* Who is still to come, for groups small enough that a list helps. */
static void emu_text_add_awaited(emu_text *text, const emu_op *op) {
    int32_t ranks[EMU_NAMED_RANKS_MAX];
    uint32_t count = 0;
    if (op == NULL || op->state != EMU_OP_STARTED || op->comm == NULL) return;
    if (op->collective == NULL) {
        if (op->peer_op != NULL && op->peer_op->state != EMU_OP_QUEUED) return;
        ranks[count++] = emu_group_member_rank(op->comm->group, op->peer);
    } else {
        const emu_group *group = op->comm->group;
        for (int32_t rank = 0; rank < group->rank_count && count < EMU_NAMED_RANKS_MAX; rank++) {
            const emu_op *part = op->collective->parts[rank];
            int32_t culprit;
            if (part == NULL || part->state == EMU_OP_QUEUED || emu_op_is_lost(part, &culprit))
                ranks[count++] = emu_group_member_rank(group, rank);
        }
    }
    if (count == 0) return;
    emu_text_add(text, ", waits for ");
    emu_text_add_ranks(text, ranks, count);
}

static const char *emu_wait_words(const emu_host *host) {
    if (host->resume) return "held up by a fault in ";
    return host->wait == EMU_WAIT_TIME ? "asleep in " : "waits in ";
}

void emu_text_add_standing(emu_text *text, const emu_host *host) {
    if (host->state == EMU_HOST_BLOCKED) {
        emu_text_add(text, "%s%s", emu_wait_words(host), emu_call_name(host->call->kind));
        emu_text_add_place(text, host->last_place);
        return;
    }
    if (host->killed)
        emu_text_add(text, "killed");
    else if (host->state == EMU_HOST_HUNG)
        emu_text_add(text, "hangs");
    else if (host->state == EMU_HOST_EXITED)
        emu_text_add(text, "ended");
    else
        emu_text_add(text, "running");
    emu_text_add(text, " after %" PRIu64 " calls", host->call_count);
    if (host->last_call[0] != '\0' && host->state != EMU_HOST_EXITED) {
        emu_text_add(text, ", the last one %s", host->last_call);
        emu_text_add_place(text, host->last_place);
    }
}

static void emu_describe_blocked(emu_text *text, const emu_host *host) {
    emu_text_add_standing(text, host);
    const emu_op *head = NULL;
    if (host->wait == EMU_WAIT_STREAM)
        head = host->wait_stream->head;
    else if (host->wait == EMU_WAIT_DRAINED)
        head = host->wait_comm->order_head;
    else if (host->wait == EMU_WAIT_EVENT && emu_host_awaited_record(host) != NULL)
        head = emu_host_awaited_record(host)->stream->head;
    else if (host->wait == EMU_WAIT_PEERS)
        head = host->connecting;
    if (host->wait == EMU_WAIT_COMM)
        emu_text_add(text, " of group %s", host->wait_comm->group->name);
    emu_text_add_position(text, head);
    emu_text_add_awaited(text, head);
}

/* A rank that has ended may have left operations behind that can never finish. */
static const emu_op *emu_host_unfinished(const emu_host *host) {
    const emu_engine *engine = host->engine;
    for (uint32_t i = host->index; i < engine->device_count; i += engine->config.host_count) {
        const emu_stream *stream = engine->devices[i].streams;
        for (; stream != NULL; stream = stream->next)
            if (stream->head != NULL && stream->head->host == host->index) return stream->head;
        if (engine->config.host_count == 0) break;
    }
    return NULL;
}

static void emu_describe_host(emu_text *text, const emu_host *host) {
    if (host->state == EMU_HOST_BLOCKED) {
        emu_describe_blocked(text, host);
        return;
    }
    emu_text_add_standing(text, host);
    const emu_op *unfinished = emu_host_unfinished(host);
    emu_text_add_position(text, unfinished);
    emu_text_add_awaited(text, unfinished);
}

void emu_describe_ranks(emu_engine *engine) {
    if (engine->rank_lines != NULL) return;
    engine->rank_lines = calloc((size_t)engine->host_count + 1, sizeof(char *));
    if (engine->rank_lines == NULL) return;
    engine->rank_line_count = engine->host_count;
    for (uint32_t i = 0; i < engine->host_count; i++) {
        emu_text text = {0};
        emu_describe_host(&text, engine->hosts[i]);
        engine->rank_lines[i] = malloc(text.bytes + 1);
        if (engine->rank_lines[i] != NULL) memcpy(engine->rank_lines[i], text.text, text.bytes + 1);
    }
}
