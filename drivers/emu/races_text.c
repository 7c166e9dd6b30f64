#include "drivers/emu/state.h"

#include <string.h>

/* What is said of clashing accesses: both of them, the bytes, whose memory it is, and the edge that
 * is missing. */

/* One of the two, as texts name it. */
typedef struct emu_side {
    const emu_access *access;
    bool writes;
} emu_side;

static bool emu_side_is_op(const emu_side *side) {
    return side->access->kind < EMU_ACCESS_HOST;
}

static const emu_stream *emu_side_stream(const emu_side *side) {
    assert(emu_side_is_op(side));
    return (const emu_stream *)(const void *)((const char *)side->access->strand -
                                              offsetof(emu_stream, strand));
}

/* "the all_reduce", "the host". */
static const char *emu_side_noun(const emu_side *side) {
    switch (side->access->kind) {
    case EMU_ACCESS_HOST:
        return "access by the host";
    case EMU_ACCESS_ALLOCATE:
        return emu_call_name(EMU_CALL_ALLOCATE);
    case EMU_ACCESS_FREE:
        return emu_call_name(EMU_CALL_FREE);
    default:
        return emu_op_kind_name((emu_op_kind)side->access->kind);
    }
}

static const char *emu_side_verb(const emu_side *side) {
    if (side->access->kind == EMU_ACCESS_ALLOCATE) return "allocates";
    if (side->access->kind == EMU_ACCESS_FREE) return "frees";
    return side->writes ? "writes" : "reads";
}

static void emu_text_add_side(emu_text *text, const emu_side *side) {
    if (side->access->kind == EMU_ACCESS_HOST)
        emu_text_add(text, "the host");
    else
        emu_text_add(text, "%s", emu_side_noun(side));
    if (emu_side_is_op(side)) emu_text_add_stream(text, emu_side_stream(side));
    emu_text_add_place(text, (tutti_place){side->access->file, side->access->line});
}

static void emu_text_add_bytes(emu_text *text, size_t begin, size_t end) {
    if (end - begin == 1)
        emu_text_add(text, "byte %zu", begin);
    else
        emu_text_add(text, "bytes %zu to %zu", begin, end - 1);
}

/* "x, allocation 0 of device 1, 32 bytes (train.c:12)". */
static void emu_text_add_memory(emu_text *text, const emu_allocation *allocation) {
    if (allocation->name != NULL) emu_text_add(text, "%s, ", allocation->name);
    emu_text_add(text, "allocation %" PRIu32 " of device %" PRIu32 ", %zu bytes",
                 allocation->ordinal, allocation->device->index, allocation->bytes);
    emu_text_add_place(text, allocation->place);
}

static void emu_text_add_line(emu_text *text, const emu_side *side, bool names_rank) {
    emu_text_add(text, "  ");
    if (names_rank) emu_text_add(text, "rank %" PRIu32 ": ", side->access->host);
    emu_text_add_side(text, side);
    emu_text_add(text, " %s it\n", emu_side_verb(side));
}

/* --- The edge to add --- */

static void emu_text_add_stream_name(emu_text *text, const emu_stream *stream) {
    if (stream->name != NULL)
        emu_text_add(text, "stream %s", stream->name);
    else
        emu_text_add(text, "stream %" PRIu32, stream->index);
}

static void emu_text_add_edge_to_host(emu_text *text, const emu_side *op, const emu_side *host) {
    emu_text_add(text, "synchronize ");
    emu_text_add_stream_name(text, emu_side_stream(op));
    emu_text_add(text, " after the %s and before the %s", emu_side_noun(op), emu_side_noun(host));
    emu_text_add(text, host->access->kind == EMU_ACCESS_HOST ? "." : " call.");
}

static void emu_text_add_edge(emu_text *text, const emu_side *first, const emu_side *second) {
    bool same_host = first->access->host == second->access->host;
    emu_text_add(text, "To change: ");
    if (!emu_side_is_op(first) && !emu_side_is_op(second)) {
        emu_text_add(text, "let one rank wait for the other, by a transfer from the first to the "
                           "second and a wait for it, or keep the memory to one rank.");
    } else if (!emu_side_is_op(second)) {
        emu_text_add_edge_to_host(text, first, second);
    } else if (!emu_side_is_op(first)) {
        emu_text_add_edge_to_host(text, second, first);
    } else if (same_host && first->access->order == second->access->order) {
        emu_text_add(text,
                     "the two are in one group call, which has no order inside: end the "
                     "group call between the %s and the %s.",
                     emu_side_noun(first), emu_side_noun(second));
    } else {
        emu_text_add(text, "record an event on ");
        emu_text_add_stream_name(text, emu_side_stream(first));
        emu_text_add(text, " after the %s, and let ", emu_side_noun(first));
        emu_text_add_stream_name(text, emu_side_stream(second));
        emu_text_add(text, " wait for it before the %s.", emu_side_noun(second));
    }
}

/* --- Findings --- */

static uint64_t emu_mix_word(uint64_t subject, uint64_t word) {
    subject = (subject ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return subject ^ (subject >> 29);
}

/* Two accesses from the same two places are one finding, however often they clash and on however
 * many ranks. Without a place, it is the stream's number that counts. */
static uint64_t emu_mix_side(uint64_t subject, const emu_side *side) {
    const emu_access *access = side->access;
    subject = emu_mix_word(subject, access->kind);
    if (access->file == NULL) return emu_mix_word(subject, access->strand->index);
    for (const char *c = access->file; *c != '\0'; c++)
        subject = emu_mix_word(subject, (unsigned char)*c);
    return emu_mix_word(subject, (uint64_t)access->line);
}

static uint64_t emu_clash_subject(tutti_verdict kind, const emu_side *first,
                                  const emu_side *second) {
    uint64_t subject = emu_mix_side(emu_mix_word(5, (uint64_t)kind), first);
    return emu_mix_side(emu_mix_word(subject, 6), second);
}

/* As the program has them, whatever order this run had: by issue, or by rank. */
static bool emu_side_comes_before(const emu_side *a, const emu_side *b) {
    if (a->access->host != b->access->host) return a->access->host < b->access->host;
    if (a->access->order != b->access->order) return a->access->order < b->access->order;
    if (emu_side_is_op(a) != emu_side_is_op(b)) return emu_side_is_op(a);
    return a->access->time <= b->access->time;
}

static void emu_clash_add(emu_engine *engine, tutti_verdict kind, const emu_side *first,
                          const emu_side *second, const emu_text *text) {
    uint64_t subject = emu_clash_subject(kind, first, second);
    emu_finding *known = emu_finding_of(engine, subject);
    uint32_t hosts[2] = {first->access->host, second->access->host};
    int32_t ranks[2] = {(int32_t)hosts[0], (int32_t)hosts[1]};
    uint32_t rank_count = kind == TUTTI_VERDICT_UNDEFINED ? 1 : 2;
    if (kind == TUTTI_VERDICT_UNDEFINED) ranks[0] = ranks[1];
    if (known != NULL) {
        for (uint32_t i = 0; i < rank_count; i++)
            emu_finding_blame(known, ranks[i]);
        return;
    }
    emu_finding *finding = emu_finding_add(engine, kind, "", subject, ranks, rank_count, text);
    if (finding != NULL)
        finding->is_aftermath =
            engine->hosts[hosts[0]]->was_failed || engine->hosts[hosts[1]]->was_failed;
}

static void emu_clash_race(emu_allocation *allocation, const emu_clash *clash,
                           const emu_side *first, const emu_side *second) {
    emu_text text = {0};
    bool freed = first->access->kind == EMU_ACCESS_FREE || second->access->kind == EMU_ACCESS_FREE;
    bool two_ranks = first->access->host != second->access->host;
    if (!two_ranks) emu_text_add(&text, "rank %" PRIu32 ": ", first->access->host);
    emu_text_add_bytes(&text, clash->begin, clash->end);
    emu_text_add(&text, " of ");
    emu_text_add_memory(&text, allocation);
    emu_text_add(&text, freed ? ", are freed while they may still be in use:\n"
                              : ", are used twice, and nothing says which comes first:\n");
    emu_text_add_line(&text, first, two_ranks);
    emu_text_add_line(&text, second, two_ranks);
    emu_text_add_edge(&text, first, second);
    emu_clash_add(allocation->device->engine, freed ? TUTTI_VERDICT_FREED : TUTTI_VERDICT_RACE,
                  first, second, &text);
}

static void emu_clash_undefined(emu_allocation *allocation, const emu_clash *clash,
                                const emu_side *write, const emu_side *read) {
    emu_text text = {0};
    bool fresh = write->access->kind == EMU_ACCESS_ALLOCATE;
    bool copied = write->access->kind == EMU_OP_COPY;
    emu_text_add(&text, "rank %" PRIu32 ": ", read->access->host);
    emu_text_add_side(&text, read);
    emu_text_add(&text, " reads ");
    emu_text_add_bytes(&text, clash->begin, clash->end);
    emu_text_add(&text, " of ");
    emu_text_add_memory(&text, allocation);
    if (fresh) {
        emu_text_add(&text, ", which nothing has written.\nTo change: write them before, or read "
                            "less.");
    } else {
        emu_text_add(&text, copied ? ", where undefined contents were copied to by "
                                   : ", which have no defined contents since an operation on them "
                                     "was given up: ");
        emu_text_add_side(&text, write);
        emu_text_add(&text, ".\nTo change: write them before they are read%s.",
                     copied ? ", or copy less" : " again");
    }
    emu_clash_add(allocation->device->engine, TUTTI_VERDICT_UNDEFINED, write, read, &text);
}

void emu_races_clash(emu_allocation *allocation, const emu_clash *clash) {
    emu_side earlier = {clash->earlier, clash->earlier_writes};
    emu_side later = {clash->later, clash->later_writes};
    if (clash->undefined)
        emu_clash_undefined(allocation, clash, &earlier, &later);
    else if (emu_side_comes_before(&earlier, &later))
        emu_clash_race(allocation, clash, &earlier, &later);
    else
        emu_clash_race(allocation, clash, &later, &earlier);
}

/* --- Overlap within one operation --- */

static void emu_text_add_overlap(emu_text *text, const emu_call *call, size_t source_bytes,
                                 size_t destination_bytes, ptrdiff_t in_place_bytes) {
    ptrdiff_t distance = (const char *)call->source.data - (const char *)call->destination.data;
    emu_text_add(text,
                 "the source of %zu bytes begins %td bytes %s the destination of %zu bytes, so the "
                 "two overlap: what is read is undefined",
                 source_bytes, distance < 0 ? -distance : distance,
                 distance < 0 ? "before" : "behind the start of", destination_bytes);
    if (in_place_bytes == PTRDIFF_MAX)
        emu_text_add(text, ".\nTo change: copy to memory that is not part of the source.");
    else
        emu_text_add(text,
                     ".\nTo change: give memory that does not overlap or, for the operation in "
                     "place, a source that begins %td bytes behind the start of the destination.",
                     in_place_bytes);
}

bool emu_races_overlap(emu_host *host, emu_call *call, size_t source_bytes,
                       size_t destination_bytes, ptrdiff_t in_place_bytes,
                       emu_outcome *outcome_out) {
    uintptr_t source = (uintptr_t)call->source.data;
    uintptr_t destination = (uintptr_t)call->destination.data;
    bool apart = source + source_bytes <= destination || destination + destination_bytes <= source;
    if (apart || source_bytes == 0 || destination_bytes == 0) return false;
    if ((ptrdiff_t)(source - destination) == in_place_bytes) return false;
    emu_text text = {0}; /* late: most calls need no text, and it is large */
    emu_text_add_overlap(&text, call, source_bytes, destination_bytes, in_place_bytes);
    emu_finding_bad_call(host, call, TUTTI_VERDICT_OVERLAP, text.text);
    *outcome_out = emu_call_end(host, call, TUTTI_INVALID_ARGUMENT, "%s", text.text);
    return true;
}
