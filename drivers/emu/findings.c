#include "drivers/emu/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Findings and the texts that they are made of. */

/* --- Texts --- */

void emu_text_add(emu_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof text->text - text->bytes;
    int wanted = vsnprintf(text->text + text->bytes, room, format, arguments);
    va_end(arguments);
    if (wanted < 0) return;
    text->bytes += (size_t)wanted < room ? (size_t)wanted : room - 1;
}

void emu_text_add_ranks(emu_text *text, const int32_t *ranks, uint32_t rank_count) {
    uint32_t named = rank_count < EMU_NAMED_RANKS_MAX ? rank_count : EMU_NAMED_RANKS_MAX;
    if (rank_count == 0) {
        emu_text_add(text, "an unknown rank");
        return;
    }
    emu_text_add(text, rank_count == 1 ? "rank " : "ranks ");
    for (uint32_t i = 0; i < named; i++) {
        bool last = i + 1 == rank_count;
        emu_text_add(text, "%s%" PRId32, i == 0 ? "" : last ? " and " : ", ", ranks[i]);
    }
    if (named < rank_count) emu_text_add(text, " and %" PRIu32 " more", rank_count - named);
}

static const char *emu_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

void emu_text_add_place(emu_text *text, tutti_place place) {
    if (place.file == NULL || place.line == 0) return;
    emu_text_add(text, " (%s:%" PRId32 ")", emu_file_name(place.file), place.line);
}

const char *emu_op_kind_name(emu_op_kind kind) {
    static const char *const names[] = {
        [EMU_OP_ALL_REDUCE] = "all_reduce",
        [EMU_OP_SEND] = "send",
        [EMU_OP_RECV] = "recv",
        [EMU_OP_COPY] = "copy",
        [EMU_OP_FILL] = "fill",
        [EMU_OP_KERNEL] = "kernel",
        [EMU_OP_RECORD] = "record",
        [EMU_OP_WAIT] = "wait",
        [EMU_OP_GROUP] = "group",
    };
    return names[kind];
}

const char *emu_op_name(const emu_op *op) {
    return emu_op_kind_name((emu_op_kind)op->kind);
}

void emu_text_add_stream(emu_text *text, const emu_stream *stream) {
    if (stream->name != NULL)
        emu_text_add(text, " on stream %s", stream->name);
    else
        emu_text_add(text, " on stream %" PRIu32, stream->index);
}

void emu_text_add_op(emu_text *text, const emu_op *op) {
    const char *type = tutti_element_type_name((tutti_element_type)op->element_type);
    emu_text_add(text, "%s", emu_op_name(op));
    if (op->kind == EMU_OP_ALL_REDUCE) {
        emu_text_add(text, " of %zu %s, %s, operation %" PRIu64 " of %s", op->count, type,
                     tutti_reduce_op_name((tutti_reduce_op)op->reduce_op), op->seq,
                     op->comm->group->name);
    } else if (op->kind == EMU_OP_SEND || op->kind == EMU_OP_RECV) {
        emu_text_add(text, " of %zu %s %s rank %" PRId32 " of %s", op->count, type,
                     op->kind == EMU_OP_SEND ? "to" : "from", op->peer, op->comm->group->name);
    }
    if (op->stream != NULL) emu_text_add_stream(text, op->stream);
    emu_text_add_place(text, op->place);
}

/* --- Adding --- */

static uint64_t emu_subject_mix(uint64_t subject, uint64_t word) {
    subject = (subject ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return subject ^ (subject >> 29);
}

uint64_t emu_group_subject(const emu_group *group, const char *aspect) {
    uint64_t subject = emu_subject_mix(emu_subject_mix(1, group->index), group->generation);
    for (; *aspect != '\0'; aspect++)
        subject = emu_subject_mix(subject, (unsigned char)*aspect);
    return subject;
}

uint64_t emu_collective_subject(const emu_collective *collective) {
    return emu_subject_mix(emu_group_subject(collective->group, "collective"), collective->seq);
}

/* Both halves of a transfer are one subject. */
uint64_t emu_op_subject(const emu_op *op) {
    if (op->collective != NULL) return emu_collective_subject(op->collective);
    uint64_t subject = emu_subject_mix(2, op->host);
    if (op->comm == NULL) return emu_subject_mix(subject, op->order);
    int32_t rank = op->comm->base.rank;
    bool sends = op->kind == EMU_OP_SEND;
    subject = emu_group_subject(op->comm->group, "transfer");
    subject = emu_subject_mix(subject, (uint64_t)(sends ? rank : op->peer));
    subject = emu_subject_mix(subject, (uint64_t)(sends ? op->peer : rank));
    return emu_subject_mix(subject, op->seq);
}

emu_finding *emu_finding_of(emu_engine *engine, uint64_t subject) {
    if (subject == 0) return NULL;
    for (uint32_t i = 0; i < engine->finding_count; i++)
        if (engine->findings[i]->subject == subject) return engine->findings[i];
    return NULL;
}

static int emu_rank_compare(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts and drops what comes twice; the new count. */
uint32_t emu_ranks_sort(int32_t *ranks, uint32_t count) {
    uint32_t kept = 0;
    if (count > 0) qsort(ranks, count, sizeof *ranks, emu_rank_compare);
    for (uint32_t i = 0; i < count; i++)
        if (ranks[i] >= 0 && (kept == 0 || ranks[kept - 1] != ranks[i])) ranks[kept++] = ranks[i];
    return kept;
}

static bool emu_ranks_overlap(const emu_finding *a, const emu_finding *b) {
    for (uint32_t i = 0; i < a->rank_count; i++)
        for (uint32_t j = 0; j < b->rank_count; j++)
            if (a->ranks[i] == b->ranks[j]) return true;
    return false;
}

bool emu_verdict_is_of_data(uint8_t kind) {
    return kind == TUTTI_VERDICT_WRONG || kind == TUTTI_VERDICT_RACE ||
           kind == TUTTI_VERDICT_UNDEFINED;
}

/* A declined call was the program's to handle. Now a rank that it was declined to is missed: it did
 * not, so the refusal is a failure, and the root of this one. In the same way, data that is not
 * what it should be follows from what faults did to data before. */
static bool emu_finding_leads_to(const emu_finding *finding, const emu_finding *consequence) {
    if (finding->pending && emu_ranks_overlap(finding, consequence)) return true;
    return finding->is_note && finding->is_fault && emu_verdict_is_of_data(consequence->kind);
}

static void emu_findings_promote(emu_engine *engine, const emu_finding *consequence) {
    for (uint32_t i = 0; i < engine->finding_count; i++) {
        emu_finding *finding = engine->findings[i];
        if (!emu_finding_leads_to(finding, consequence)) continue;
        finding->pending = false;
        finding->is_note = false;
        engine->note_count--;
    }
}

static emu_finding *emu_finding_new(const char *text, const int32_t *ranks, uint32_t rank_count) {
    emu_finding *finding = calloc(1, sizeof *finding);
    if (finding == NULL) return NULL;
    finding->ranks = calloc(rank_count + 1, sizeof *ranks);
    finding->text = malloc(strlen(text) + 1);
    if (finding->ranks == NULL || finding->text == NULL) {
        free(finding->ranks);
        free(finding->text);
        free(finding);
        return NULL;
    }
    if (rank_count > 0) memcpy(finding->ranks, ranks, rank_count * sizeof *ranks);
    finding->rank_count = emu_ranks_sort(finding->ranks, rank_count);
    memcpy(finding->text, text, strlen(text) + 1);
    return finding;
}

static emu_finding *emu_finding_keep(emu_engine *engine, tutti_verdict kind, const char *detail,
                                     uint64_t subject, const int32_t *ranks, uint32_t rank_count,
                                     const emu_text *text, bool is_note, bool pending) {
    emu_finding *known = emu_finding_of(engine, subject);
    if (known != NULL) return known;
    emu_finding *finding = NULL;
    bool room = is_note ? engine->note_count < EMU_NOTES_MAX
                        : engine->finding_count - engine->note_count < EMU_FINDINGS_MAX;
    if (room &&
        emu_grow(&engine->findings, engine->finding_count, &engine->finding_room, sizeof finding))
        finding = emu_finding_new(text->text, ranks, rank_count);
    if (finding == NULL) {
        engine->findings_dropped++;
        return NULL;
    }
    finding->kind = (uint8_t)kind;
    finding->detail = detail;
    finding->subject = subject;
    finding->round = engine->round;
    finding->when_ns = engine->clock.now_ns;
    finding->is_note = is_note;
    finding->pending = pending;
    finding->index = engine->finding_count;
    engine->findings[engine->finding_count++] = finding;
    engine->note_count += is_note;
    if (!is_note) emu_findings_promote(engine, finding);
    emu_trace_finding(engine, finding);
    return finding;
}

emu_finding *emu_finding_add(emu_engine *engine, tutti_verdict kind, const char *detail,
                             uint64_t subject, const int32_t *ranks, uint32_t rank_count,
                             const emu_text *text) {
    return emu_finding_keep(engine, kind, detail, subject, ranks, rank_count, text, false, false);
}

emu_finding *emu_note_add(emu_engine *engine, tutti_verdict kind, const char *detail,
                          uint64_t subject, const int32_t *ranks, uint32_t rank_count,
                          const emu_text *text) {
    return emu_finding_keep(engine, kind, detail, subject, ranks, rank_count, text, true, false);
}

void emu_finding_blame(emu_finding *finding, int32_t rank) {
    uint32_t low = 0, high = finding->rank_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (finding->ranks[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < finding->rank_count && finding->ranks[low] == rank) return;
    if (finding->rank_count >= finding->rank_room) {
        uint32_t room = 2 * finding->rank_count + 2;
        int32_t *grown = realloc(finding->ranks, room * sizeof *grown);
        if (grown == NULL) return; /* the others are blamed all the same */
        finding->ranks = grown;
        finding->rank_room = room;
    }
    memmove(&finding->ranks[low + 1], &finding->ranks[low],
            (finding->rank_count - low) * sizeof rank);
    finding->ranks[low] = rank;
    finding->rank_count++;
}

/* --- Findings about one call --- */

/* The name of the operation that a call is, or would have been. */
static const char *emu_call_operation(const emu_call *call) {
    if (call->kind != EMU_CALL_REFUSED || call->refusal->operation == NULL)
        return emu_call_name(call->kind);
    return call->refusal->operation;
}

static void emu_text_add_call(emu_text *text, const emu_host *host, const emu_call *call) {
    emu_text_add(text, "rank %" PRIu32 ": %s", host->index, emu_call_operation(call));
    emu_text_add_place(text, call->place);
}

/* What a rank does wrong after it was told of a failure, more likely than not, follows from it. */
static void emu_mark_aftermath(const emu_host *host, emu_finding *finding) {
    if (finding != NULL) finding->is_aftermath = host->was_failed;
}

emu_finding *emu_finding_bad_call(emu_host *host, const emu_call *call, tutti_verdict kind,
                                  const char *reason) {
    emu_text text = {0};
    int32_t rank = (int32_t)host->index;
    emu_text_add_call(&text, host, call);
    emu_text_add(&text, ": %s", reason);
    emu_finding *finding = emu_finding_add(host->engine, kind, "", 0, &rank, 1, &text);
    emu_mark_aftermath(host, finding);
    return finding;
}

void emu_finding_misuse(emu_host *host, const emu_call *call, const char *reason) {
    emu_finding_bad_call(host, call, TUTTI_VERDICT_MISUSE, reason);
}

void emu_engine_diverged(emu_engine *engine, uint32_t host, const char *what) {
    emu_text text = {0};
    int32_t rank = (int32_t)host;
    emu_text_add(&text,
                 "the run does not go as the given choices say: %s; they are of another program or "
                 "another version of it, or it depends on something that the schedule does not "
                 "decide: a clock of its own, randomness, an address, another thread; the last to "
                 "run was rank %" PRId32,
                 what, rank);
    if (engine->hosts[host]->last_call[0] != '\0') {
        emu_text_add(&text, ", whose last call was %s", engine->hosts[host]->last_call);
        emu_text_add_place(&text, engine->hosts[host]->last_place);
    }
    emu_finding_add(engine, TUTTI_VERDICT_DIVERGENCE, "", 0, &rank, 1, &text);
}

/* Equal for two calls that ask for the same; only ever compared within one host. */
static uint64_t emu_call_key(const emu_call *call) {
    uint64_t key = emu_subject_mix(3, (uint64_t)call->kind);
    key = emu_subject_mix(key, call->communication_id);
    for (size_t i = 0; call->id != NULL && i < TUTTI_UNIQUE_ID_BYTES; i++)
        key = emu_subject_mix(key, call->id->bytes[i]);
    if (call->comm != NULL && call->kind != EMU_CALL_JOIN)
        key = emu_subject_mix(key, emu_group_subject(call->comm->group, "call"));
    key = emu_subject_mix(key, call->count);
    key = emu_subject_mix(key, (uint64_t)call->data_type.element_type);
    key = emu_subject_mix(key, (uint64_t)call->op);
    key = emu_subject_mix(key, (uint64_t)call->peer);
    key = emu_subject_mix(key, (uintptr_t)call->source.data);
    return emu_subject_mix(key, (uintptr_t)call->destination.data);
}

/* The host's refusal of a call that asked for the same, not tried again with success; NULL. */
static emu_finding *emu_finding_pending(const emu_host *host, uint64_t call_key) {
    const emu_engine *engine = host->engine;
    if (host->refusal_count == 0) return NULL;
    for (uint32_t i = 0; i < engine->finding_count; i++) {
        emu_finding *finding = engine->findings[i];
        if (finding->pending && finding->call_key == call_key &&
            finding->ranks[0] == (int32_t)host->index)
            return finding;
    }
    return NULL;
}

void emu_findings_settle(emu_host *host, const emu_call *call) {
    if (host->refusal_count == 0) return;
    emu_finding *finding = emu_finding_pending(host, emu_call_key(call));
    if (finding == NULL) return;
    finding->pending = false;
    finding->is_fault = false; /* nothing comes of it any more */
    host->refusal_count--;
}

emu_finding *emu_finding_refused(emu_host *host, const emu_call *call, const char *reason) {
    emu_text text = {0};
    int32_t rank = (int32_t)host->index;
    bool note = !host->engine->config.failed_calls_are_findings;
    /* What the driver has not at all cannot be tried again, and nothing is said to follow from it.
     */
    bool pending = note && call->kind != EMU_CALL_REFUSED;
    uint64_t key = pending ? emu_call_key(call) : 0;
    emu_finding *known = pending ? emu_finding_pending(host, key) : NULL;
    if (known != NULL) {
        known->times++; /* a loop that tries again and again is told once */
        return known;
    }
    emu_text_add_call(&text, host, call);
    if (call->kind == EMU_CALL_JOIN && call->name != NULL)
        emu_text_add(&text, " of group %s", call->name);
    emu_text_add(&text, " was refused: %s", reason);
    if (call->kind == EMU_CALL_JOIN || call->kind == EMU_CALL_MINT)
        emu_text_add(&text,
                     "\nTo change: try it again, or let the others go on without this rank.");
    emu_finding *finding =
        emu_finding_keep(host->engine, TUTTI_VERDICT_REFUSED, emu_call_operation(call), 0, &rank, 1,
                         &text, note, pending);
    emu_mark_aftermath(host, finding);
    if (finding == NULL || !pending) return finding;
    finding->call_key = key;
    finding->times = 1;
    host->refusal_count++;
    return finding;
}

/* --- Notes on transfers --- */

void emu_note_swapped(const emu_op *send, const emu_op *recv) {
    int32_t ranks[2] = {emu_comm_rank(send->comm), emu_comm_rank(recv->comm)};
    emu_text text = {0};
    emu_text_add(&text,
                 "two transfers from rank %" PRId32 " to rank %" PRId32
                 " in one group call name their buffers in opposite orders: sent from allocation "
                 "%" PRIu32 " and received into allocation %" PRIu32 ", and the other way round",
                 ranks[0], ranks[1], send->source_memory->ordinal,
                 recv->destination_memory->ordinal);
    emu_text_add_place(&text, recv->place);
    emu_text_add(&text, ". Transfers of a pair meet in the order of their calls, so the contents "
                        "are swapped.\nTo change: call recv in the order of the sends, if that is "
                        "not meant.");
    emu_note_add(send->comm->group->engine, TUTTI_VERDICT_MISMATCH, "order",
                 emu_group_subject(send->comm->group, "swap"), ranks, 2, &text);
}

void emu_note_types(const emu_op *send, const emu_op *recv) {
    int32_t ranks[2] = {emu_comm_rank(send->comm), emu_comm_rank(recv->comm)};
    emu_text text = {0};
    emu_text_add(&text, "rank %" PRId32 " sends %zu %s and rank %" PRId32 " receives %zu %s",
                 ranks[0], send->count,
                 tutti_element_type_name((tutti_element_type)send->element_type), ranks[1],
                 recv->count, tutti_element_type_name((tutti_element_type)recv->element_type));
    emu_text_add_place(&text, recv->place);
    emu_text_add(&text, ": the bytes are equal, so they are moved as they are and not converted.");
    emu_note_add(send->comm->group->engine, TUTTI_VERDICT_MISMATCH, "type",
                 emu_group_subject(send->comm->group, "types"), ranks, 2, &text);
}
