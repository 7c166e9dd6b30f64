#include "drivers/emu/trace_line.h"

#include <stdio.h>
#include <stdlib.h>

/* The trace: every event of a run, in order. Its hash is always kept; lines of JSON are written
 * only when somebody takes them. Nothing in it depends on addresses, on real time or on where the
 * caller's source lies, so equal programs give equal traces. */

enum { EMU_TRACE_VERSION = 2, EMU_TRACE_WORDS = 8 };

static const char *const emu_trace_names[EMU_TRACE_KIND_COUNT] = {
    [EMU_TRACE_CALL] = "call",   [EMU_TRACE_BLOCK] = "block",     [EMU_TRACE_RETURN] = "return",
    [EMU_TRACE_ISSUE] = "issue", [EMU_TRACE_START] = "start",     [EMU_TRACE_COMPLETE] = "complete",
    [EMU_TRACE_FAULT] = "fault", [EMU_TRACE_FINDING] = "finding",
};

/* --- The hash --- */

static uint64_t emu_mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

static uint64_t emu_mix_text(uint64_t hash, const char *text) {
    for (; text != NULL && *text != '\0'; text++)
        hash = emu_mix(hash, (unsigned char)*text);
    return hash;
}

static void emu_trace_hash(emu_engine *engine, const uint64_t words[EMU_TRACE_WORDS]) {
    uint64_t hash = emu_mix(engine->trace_hash, (uint64_t)engine->clock.now_ns);
    for (int i = 0; i < EMU_TRACE_WORDS; i++)
        hash = emu_mix(hash, words[i]);
    engine->trace_hash = hash;
    engine->event_count++;
}

/* --- Events --- */

bool emu_trace_begin(emu_engine *engine) {
    const emu_config *config = &engine->config;
    engine->trace_hash = emu_mix(EMU_TRACE_VERSION, config->host_count);
    if (config->trace_sink == NULL) return true;
    engine->trace_line = malloc(EMU_TRACE_LINE_BYTES);
    if (engine->trace_line == NULL) return false;
    emu_line line = {engine, 0};
    emu_line_add(&line, "{\"tutti_trace\":%d,\"ranks\":%" PRIu32 ",\"devices\":%" PRIu32,
                 EMU_TRACE_VERSION, config->host_count, config->device_count);
    emu_line_send(&line);
    return true;
}

static uint64_t emu_group_word(const emu_group *group) {
    return ((uint64_t)group->index << 32) | group->generation;
}

/* Several groups may have one name: the number tells them apart. */
static void emu_line_add_group(emu_line *line, const emu_group *group) {
    emu_line_add_name(line, "comm", group->name);
    emu_line_add(line, ",\"group\":%" PRIu32, group->index);
    if (group->generation > 0) emu_line_add(line, ",\"generation\":%" PRIu32, group->generation);
}

/* The stream's name, and its device where that is not the one that the host uses first. */
static void emu_line_add_stream(emu_line *line, const emu_stream *stream, uint32_t host) {
    const emu_device *device = emu_device_of(stream->base.device);
    if (stream->name != NULL)
        emu_line_add_name(line, "stream", stream->name);
    else
        emu_line_add(line, ",\"stream\":%" PRIu32, stream->index);
    if (device != emu_engine_host_device(line->engine, host))
        emu_line_add(line, ",\"device\":%" PRIu32, device->index);
}

/* A join has no communicator yet: which group, as whom, of how many. */
static void emu_line_add_join(emu_line *line, const emu_host *host, const emu_call *call) {
    if (host->joining != NULL) emu_line_add_group(line, host->joining);
    emu_line_add(line, ",\"member\":%" PRId32 ",\"size\":%" PRId32, call->peer, call->rank_count);
}

void emu_trace_call(emu_host *host, const emu_call *call, emu_trace_kind kind) {
    emu_engine *engine = host->engine;
    const emu_comm *comm = call->comm;
    bool looked = kind == EMU_TRACE_RETURN && emu_call_is_look(call->kind);
    uint64_t words[EMU_TRACE_WORDS] = {
        (uint64_t)kind,
        host->index,
        (uint64_t)call->kind,
        comm != NULL ? emu_group_word(comm->group) + 1 : 0,
        call->stream != NULL ? call->stream->index + UINT64_C(1) : 0,
        call->event != NULL ? call->event->index + UINT64_C(1) : 0,
        kind == EMU_TRACE_RETURN ? (uint64_t)call->status : 0,
        (uint64_t)call->duration_ns + (looked && !call->polled),
    };
    emu_trace_hash(engine, words);
    if (engine->config.trace_sink == NULL) return;
    emu_line line = emu_line_begin(engine, emu_trace_names[kind]);
    emu_line_add(&line, ",\"rank\":%" PRIu32 ",\"call\":\"%s\"", host->index,
                 emu_call_name(call->kind));
    if (kind == EMU_TRACE_CALL && call->kind == EMU_CALL_JOIN)
        emu_line_add_join(&line, host, call);
    else if (comm != NULL)
        emu_line_add_group(&line, comm->group);
    if (call->stream != NULL) emu_line_add_stream(&line, call->stream, host->index);
    if (call->event != NULL) emu_line_add(&line, ",\"mark\":%" PRIu32, call->event->index);
    if (call->duration_ns > 0) emu_line_add(&line, ",\"duration_ns\":%" PRId64, call->duration_ns);
    if (call->dropped) emu_line_add(&line, ",\"dropped\":true");
    if (kind == EMU_TRACE_CALL) emu_line_add_place(&line, call->place);
    if (kind == EMU_TRACE_RETURN)
        emu_line_add_name(&line, "status", tutti_status_name(call->status));
    if (looked) emu_line_add(&line, ",\"done\":%s", call->polled ? "false" : "true");
    emu_line_send(&line);
}

static void emu_line_add_memory(emu_line *line, const char *key, const emu_allocation *allocation,
                                const void *data) {
    if (allocation == NULL) return;
    emu_line_add(line, ",\"%s\":\"%" PRIu32 "+%zu\"", key, allocation->ordinal,
                 (size_t)((const char *)data - allocation->data));
    char name_key[32];
    snprintf(name_key, sizeof name_key, "%s_name", key);
    if (allocation->name != NULL) emu_line_add_name(line, name_key, allocation->name);
}

static uint64_t emu_memory_word(const emu_allocation *allocation, const void *data) {
    if (allocation == NULL) return 0;
    return ((uint64_t)(allocation->ordinal + 1) << 40) +
           (uint64_t)((const char *)data - allocation->data);
}

static void emu_line_add_signature(emu_line *line, const emu_op *op) {
    emu_line_add_group(line, op->comm->group);
    emu_line_add(line, ",\"seq\":%" PRIu64 ",\"type\":\"%s\",\"count\":%zu", op->seq,
                 tutti_element_type_name((tutti_element_type)op->element_type), op->count);
    if (op->kind == EMU_OP_ALL_REDUCE)
        emu_line_add(line, ",\"reduce\":\"%s\"",
                     tutti_reduce_op_name((tutti_reduce_op)op->reduce_op));
    else
        emu_line_add(line, ",\"peer\":%" PRId32, op->peer);
    if (op->comm->base.rank != (int32_t)op->host)
        emu_line_add(line, ",\"member\":%" PRId32, op->comm->base.rank);
}

void emu_trace_op(emu_engine *engine, const emu_op *op, emu_trace_kind kind) {
    uint64_t signature = ((uint64_t)op->kind << 24) | ((uint64_t)op->element_type << 16) |
                         ((uint64_t)op->reduce_op << 8) | (op->failed ? 1U : 0U);
    bool issue = kind == EMU_TRACE_ISSUE;
    uint64_t words[EMU_TRACE_WORDS] = {
        (uint64_t)kind | (signature << 8),
        ((uint64_t)op->host << 32) | op->stream->index,
        op->comm != NULL ? emu_group_word(op->comm->group) + 1 : 0,
        op->seq,
        op->count,
        issue ? emu_memory_word(op->source_memory, op->source) : 0,
        issue ? emu_memory_word(op->destination_memory, op->destination) : 0,
        ((uint64_t)(uint32_t)op->peer << 32) ^ op->mark,
    };
    emu_trace_hash(engine, words);
    if (engine->config.trace_sink == NULL) return;
    emu_line line = emu_line_begin(engine, emu_trace_names[kind]);
    emu_line_add(&line, ",\"rank\":%" PRIu32 ",\"op\":\"%s\"", op->host, emu_op_name(op));
    if (op->comm != NULL) emu_line_add_signature(&line, op);
    emu_line_add_stream(&line, op->stream, op->host);
    if (op->event != NULL)
        emu_line_add(&line, ",\"mark\":%" PRIu32 ",\"generation\":%" PRIu64, op->event->index,
                     op->mark);
    if (issue) {
        emu_line_add_memory(&line, "source", op->source_memory, op->source);
        emu_line_add_memory(&line, "destination", op->destination_memory, op->destination);
        emu_line_add_place(&line, op->place);
    }
    if (op->failed) emu_line_add(&line, ",\"failed\":true");
    emu_line_send(&line);
}

void emu_trace_fault(emu_host *host, const emu_call *call, const tutti_fault_action *action) {
    emu_engine *engine = host->engine;
    uint64_t words[EMU_TRACE_WORDS] = {
        EMU_TRACE_FAULT,          host->index,
        (uint64_t)call->kind,     (uint64_t)action->kind,
        (uint64_t)action->rule,   (uint64_t)action->delay_ns,
        (uint64_t)action->status, action->factor_millionths ^ action->draw};
    emu_trace_hash(engine, words);
    if (engine->config.trace_sink == NULL) return;
    emu_line line = emu_line_begin(engine, emu_trace_names[EMU_TRACE_FAULT]);
    emu_line_add(&line, ",\"rank\":%" PRIu32 ",\"call\":\"%s\",\"action\":\"%s\",\"rule\":%" PRId32,
                 host->index, emu_call_name(call->kind), tutti_fault_kind_name(action->kind),
                 action->rule + 1);
    emu_line_send(&line);
}

void emu_trace_link_fault(emu_engine *engine, const emu_op *op, const tutti_fault_action *action,
                          int32_t peer) {
    uint64_t words[EMU_TRACE_WORDS] = {
        EMU_TRACE_FAULT | UINT64_C(1) << 32, /* apart from a call's */
        ((uint64_t)op->host << 32) | (uint32_t)peer,
        emu_group_word(op->comm->group) + 1,
        ((uint64_t)action->kind << 32) | (uint32_t)action->rule,
        op->seq,
        (uint64_t)action->delay_ns,
        (uint64_t)action->status,
        action->factor_millionths ^ action->draw,
    };
    emu_trace_hash(engine, words);
    if (engine->config.trace_sink == NULL) return;
    emu_line line = emu_line_begin(engine, emu_trace_names[EMU_TRACE_FAULT]);
    emu_line_add(&line, ",\"rank\":%" PRIu32 ",\"op\":\"%s\"", op->host, emu_op_name(op));
    emu_line_add_group(&line, op->comm->group);
    emu_line_add(&line, ",\"seq\":%" PRIu64 ",\"link\":%" PRId32, op->seq, peer);
    emu_line_add(&line, ",\"action\":\"%s\",\"rule\":%" PRId32, tutti_fault_kind_name(action->kind),
                 action->rule + 1);
    emu_line_send(&line);
}

void emu_trace_finding(emu_engine *engine, const emu_finding *finding) {
    uint64_t words[EMU_TRACE_WORDS] = {EMU_TRACE_FINDING,
                                       finding->kind,
                                       finding->is_note,
                                       finding->round,
                                       emu_mix_text(0, finding->detail),
                                       finding->rank_count};
    for (uint32_t i = 0; i < finding->rank_count; i++)
        words[6] = emu_mix(words[6], (uint64_t)finding->ranks[i]);
    emu_trace_hash(engine, words);
    if (engine->config.trace_sink == NULL) return;
    emu_line line = emu_line_begin(engine, emu_trace_names[EMU_TRACE_FINDING]);
    emu_line_add_name(&line, "kind", tutti_verdict_name((tutti_verdict)finding->kind));
    emu_line_add_name(&line, "detail", finding->detail);
    emu_line_add(&line, ",\"note\":%s,\"culprits\":[", finding->is_note ? "true" : "false");
    for (uint32_t i = 0; i < finding->rank_count && i < EMU_NAMED_RANKS_MAX; i++)
        emu_line_add(&line, "%s%" PRId32, i == 0 ? "" : ",", finding->ranks[i]);
    emu_line_add(&line, "]");
    emu_line_add_text(&line, "text", finding->text);
    emu_line_send(&line);
}
