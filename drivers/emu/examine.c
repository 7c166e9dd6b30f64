#include "drivers/emu/state.h"

#include <stdlib.h>

/* Parts that do not agree: compared when nothing can move any more, so that it does not matter who
 * came first. The majority is right; between equals the class with the lowest rank is. */

enum { EMU_CLASSES_MAX = 16 /* different signatures that are told apart; more are lumped */ };

/* Members that say the same. */
typedef struct emu_class {
    int32_t first; /* rank of the group, or index of the joiner */
    int32_t size;
} emu_class;

typedef struct emu_classes {
    emu_class classes[EMU_CLASSES_MAX];
    int32_t count;
} emu_classes;

typedef bool emu_same(const void *context, int32_t a, int32_t b);

/* The class of a member, a new one if it is like nobody before it. */
static emu_class *emu_classes_of(emu_classes *classes, emu_same *same, const void *context,
                                 int32_t member) {
    for (int32_t i = 0; i < classes->count; i++)
        if (same(context, classes->classes[i].first, member)) return &classes->classes[i];
    if (classes->count == EMU_CLASSES_MAX) return &classes->classes[EMU_CLASSES_MAX - 1];
    emu_class *class = &classes->classes[classes->count++];
    *class = (emu_class){member, 0};
    return class;
}

static void emu_classes_build(emu_classes *classes, emu_same *same, const void *context,
                              int32_t member_count) {
    *classes = (emu_classes){.count = 0};
    for (int32_t member = 0; member < member_count; member++)
        emu_classes_of(classes, same, context, member)->size++;
}

static const emu_class *emu_classes_majority(const emu_classes *classes) {
    const emu_class *best = &classes->classes[0];
    for (int32_t i = 1; i < classes->count; i++)
        if (classes->classes[i].size > best->size) best = &classes->classes[i];
    return best;
}

/* Nobody has the majority: another class is as large. */
static bool emu_classes_are_tied(const emu_classes *classes, const emu_class *best) {
    for (int32_t i = 0; i < classes->count; i++)
        if (&classes->classes[i] != best && classes->classes[i].size == best->size) return true;
    return false;
}

/* --- Collectives --- */

static bool emu_collective_same(const void *context, int32_t a, int32_t b) {
    const emu_collective *collective = context;
    return emu_signature_equal(collective->parts[a], collective->parts[b]);
}

/* The wrong part is what the others do next: the calls were swapped. */
static bool emu_parts_are_swapped(const emu_collective *collective, int32_t right, int32_t wrong) {
    const emu_collective *next = emu_group_collective(collective->group, collective->seq + 1);
    if (next == NULL || next->parts[wrong] == NULL) return false;
    if (!emu_signature_equal(next->parts[wrong], collective->parts[right])) return false;
    return next->parts[right] == NULL ||
           emu_signature_equal(next->parts[right], collective->parts[wrong]);
}

static const char *emu_mismatch_detail(const emu_collective *collective, int32_t right,
                                       int32_t wrong) {
    const emu_op *a = collective->parts[right], *b = collective->parts[wrong];
    if (emu_parts_are_swapped(collective, right, wrong)) return "order";
    if (a->kind != b->kind) return "kind";
    if (a->element_type != b->element_type) return "type";
    if (a->count != b->count) return "count";
    return "op";
}

static void emu_text_add_class(emu_text *text, const emu_collective *collective,
                               emu_classes *classes, const emu_class *class, int32_t *scratch) {
    uint32_t count = 0;
    const emu_op *part = collective->parts[class->first];
    for (int32_t rank = 0; rank < collective->group->rank_count; rank++)
        if (emu_classes_of(classes, emu_collective_same, collective, rank) == class)
            scratch[count++] = emu_group_member_rank(collective->group, rank);
    count = emu_ranks_sort(scratch, count);
    emu_text_add(text, "\n  ");
    emu_text_add_ranks(text, scratch, count);
    emu_text_add(text, ": %zu %s, %s", part->count,
                 tutti_element_type_name((tutti_element_type)part->element_type),
                 tutti_reduce_op_name((tutti_reduce_op)part->reduce_op));
    emu_text_add_place(text, part->place);
}

static const char *emu_mismatch_advice(const char *detail) {
    if (detail[0] == 'o' && detail[1] == 'r')
        return "issue the operations in one order on all ranks";
    return detail[0] == 't'   ? "pass one element type on all ranks"
           : detail[0] == 'c' ? "pass one element count on all ranks"
                              : "pass one reduction on all ranks";
}

static emu_finding *emu_explain_mismatch(emu_collective *collective) {
    emu_group *group = collective->group;
    emu_classes classes;
    emu_text text = {0};
    int32_t *wrong = calloc((size_t)group->rank_count * 2, sizeof *wrong);
    if (wrong == NULL) return NULL;
    emu_classes_build(&classes, emu_collective_same, collective, group->rank_count);
    const emu_class *right = emu_classes_majority(&classes);
    uint32_t wrong_count = 0;
    int32_t first_wrong = -1;
    for (int32_t rank = 0; rank < group->rank_count; rank++) {
        if (emu_classes_of(&classes, emu_collective_same, collective, rank) == right) continue;
        if (first_wrong < 0) first_wrong = rank;
        wrong[wrong_count++] = emu_group_member_rank(group, rank);
    }
    const char *detail = emu_mismatch_detail(collective, right->first, first_wrong);
    emu_text_add(&text, "operation %" PRIu64 " of %s, all_reduce: the ranks disagree on the %s",
                 collective->seq, group->name, detail);
    for (int32_t i = 0; i < classes.count; i++)
        emu_text_add_class(&text, collective, &classes, &classes.classes[i],
                           wrong + group->rank_count);
    if (emu_classes_are_tied(&classes, right))
        emu_text_add(&text,
                     "\nNeither side has the majority: the one with the lowest rank counts as "
                     "right.");
    emu_text_add(&text, "\nNothing was written.\nTo change: %s.", emu_mismatch_advice(detail));
    emu_finding *finding =
        emu_finding_add(group->engine, TUTTI_VERDICT_MISMATCH, detail,
                        emu_collective_subject(collective), wrong, wrong_count, &text);
    free(wrong);
    return finding;
}

/* The suspect to look at first: a fixed order, whatever order they were found in. */
static emu_collective *emu_first_suspect(const emu_engine *engine) {
    emu_collective *first = engine->suspects;
    for (emu_collective *other = first; other != NULL; other = other->next) {
        if (other->group->index > first->group->index) continue;
        bool before = other->group->index < first->group->index ||
                      other->group->generation < first->group->generation ||
                      (other->group == first->group && other->seq < first->seq);
        if (before) first = other;
    }
    return first;
}

/* --- Transfers --- */

static emu_finding *emu_explain_sizes(const emu_op *send) {
    const emu_op *recv = send->peer_op;
    int32_t source = emu_comm_rank(send->comm), destination = emu_comm_rank(recv->comm);
    int32_t culprit = source > destination ? source : destination;
    const char *detail = send->element_type != recv->element_type ? "type" : "count";
    emu_text text = {0};
    emu_text_add(&text,
                 "transfer %" PRIu64 " from rank %" PRId32 " to rank %" PRId32
                 " of %s: the two sides disagree on the %s\n  rank %" PRId32 " sends %zu %s",
                 send->seq, source, destination, send->comm->group->name, detail, source,
                 send->count, tutti_element_type_name((tutti_element_type)send->element_type));
    emu_text_add_place(&text, send->place);
    emu_text_add(&text, "\n  rank %" PRId32 " receives %zu %s", destination, recv->count,
                 tutti_element_type_name((tutti_element_type)recv->element_type));
    emu_text_add_place(&text, recv->place);
    emu_text_add(&text, "\nNothing was written.\nTo change: pass the same type and count on both "
                        "sides; the n-th send to a peer meets its n-th recv.");
    return emu_finding_add(send->comm->group->engine, TUTTI_VERDICT_MISMATCH, detail,
                           emu_op_subject(send), &culprit, 1, &text);
}

static bool emu_send_before(const emu_op *a, const emu_op *b) {
    const emu_group *x = a->comm->group, *y = b->comm->group;
    if (x->index != y->index) return x->index < y->index;
    if (x->generation != y->generation) return x->generation < y->generation;
    if (a->comm->base.rank != b->comm->base.rank) return a->comm->base.rank < b->comm->base.rank;
    if (a->peer != b->peer) return a->peer < b->peer;
    return a->seq < b->seq;
}

static emu_op *emu_first_suspect_send(const emu_engine *engine) {
    emu_op *first = engine->suspect_sends;
    for (emu_op *other = first; other != NULL; other = other->next_in_channel)
        if (emu_send_before(other, first)) first = other;
    return first;
}

bool emu_match_examine(emu_engine *engine) {
    bool moved = false;
    while (engine->suspects != NULL) {
        emu_collective *suspect = emu_first_suspect(engine);
        emu_describe_ranks(engine);
        emu_group_fail(suspect->group, TUTTI_MISMATCH, emu_explain_mismatch(suspect));
        moved = true;
    }
    while (engine->suspect_sends != NULL) {
        emu_op *suspect = emu_first_suspect_send(engine);
        emu_describe_ranks(engine);
        emu_group_fail(suspect->comm->group, TUTTI_MISMATCH, emu_explain_sizes(suspect));
        moved = true;
    }
    return moved;
}

/* --- Joins that contradict each other --- */

typedef struct emu_joiners {
    emu_comm **comms;
    int32_t count;
} emu_joiners;

static int emu_joiner_compare(const void *a, const void *b) {
    const emu_comm *x = *(emu_comm *const *)a, *y = *(emu_comm *const *)b;
    if (x->host != y->host) return x->host < y->host ? -1 : 1;
    return (x->base.rank > y->base.rank) - (x->base.rank < y->base.rank);
}

static bool emu_joiners_collect(const emu_group *group, emu_joiners *joiners) {
    joiners->count = 0;
    for (emu_comm *comm = group->joiners; comm != NULL; comm = comm->next_joiner)
        joiners->count++;
    joiners->comms = calloc((size_t)joiners->count + 1, sizeof *joiners->comms);
    if (joiners->comms == NULL) return false;
    int32_t at = 0;
    for (emu_comm *comm = group->joiners; comm != NULL; comm = comm->next_joiner)
        joiners->comms[at++] = comm;
    qsort(joiners->comms, (size_t)joiners->count, sizeof *joiners->comms, emu_joiner_compare);
    return true;
}

static bool emu_joiners_same_count(const void *context, int32_t a, int32_t b) {
    const emu_joiners *joiners = context;
    return joiners->comms[a]->base.rank_count == joiners->comms[b]->base.rank_count;
}

/* Whether another joiner claims the same rank, or sits on the same device. */
static bool emu_joiner_collides(const emu_joiners *joiners, int32_t index, bool by_device) {
    const emu_comm *comm = joiners->comms[index];
    for (int32_t i = 0; i < joiners->count; i++) {
        const emu_comm *other = joiners->comms[i];
        bool same = by_device ? other->base.device == comm->base.device
                              : other->base.rank == comm->base.rank;
        if (i != index && same) return true;
    }
    return false;
}

static uint32_t emu_colliding_ranks(const emu_joiners *joiners, bool by_device, int32_t *ranks) {
    uint32_t count = 0;
    for (int32_t i = 0; i < joiners->count; i++)
        if (emu_joiner_collides(joiners, i, by_device))
            ranks[count++] = (int32_t)joiners->comms[i]->host;
    return emu_ranks_sort(ranks, count);
}

static uint32_t emu_miscounting_ranks(const emu_joiners *joiners, int32_t *ranks) {
    emu_classes classes;
    emu_classes_build(&classes, emu_joiners_same_count, joiners, joiners->count);
    const emu_class *right = emu_classes_majority(&classes);
    uint32_t count = 0;
    for (int32_t i = 0; i < joiners->count; i++)
        if (!emu_joiners_same_count(joiners, i, right->first))
            ranks[count++] = (int32_t)joiners->comms[i]->host;
    return emu_ranks_sort(ranks, count);
}

static emu_finding *emu_explain_joiners(emu_group *group, const emu_joiners *joiners,
                                        int32_t *ranks) {
    emu_text text = {0};
    const char *why = "the ranks disagree on how many they are";
    const char *advice = "give one rank_count on all ranks";
    uint32_t count = emu_miscounting_ranks(joiners, ranks);
    if (count == 0) {
        count = emu_colliding_ranks(joiners, false, ranks);
        why = "one rank number was given twice";
        advice = "give every member a rank of its own";
    }
    if (count == 0) {
        count = emu_colliding_ranks(joiners, true, ranks);
        why = "two ranks are on one device";
        advice = "give every rank a device of its own";
    }
    emu_text_add(&text, "the join of group %s was refused to everybody: %s", group->name, why);
    for (int32_t i = 0; i < joiners->count && i < EMU_NAMED_RANKS_MAX; i++) {
        const emu_comm *comm = joiners->comms[i];
        emu_text_add(&text,
                     "\n  rank %" PRIu32 ": rank %" PRId32 " of %" PRId32 " on device %" PRIu32,
                     comm->host, comm->base.rank, comm->base.rank_count,
                     emu_device_of(comm->base.device)->index);
        emu_text_add_place(&text, comm->joined_place);
    }
    emu_text_add(&text, "\nTo change: %s.", advice);
    return emu_finding_add(group->engine, TUTTI_VERDICT_REFUSED, "join",
                           emu_group_subject(group, "contradiction"), ranks, count, &text);
}

static void emu_group_examine(emu_group *group) {
    emu_joiners joiners;
    emu_finding *finding = NULL;
    if (emu_joiners_collect(group, &joiners)) {
        int32_t *ranks = calloc((size_t)joiners.count + 1, sizeof *ranks);
        if (ranks != NULL) finding = emu_explain_joiners(group, &joiners, ranks);
        free(ranks);
    }
    free(joiners.comms);
    emu_describe_ranks(group->engine);
    emu_group_break(group, finding);
}

/* In real time nothing says when nothing can move any more. Collectives are examined as soon as all
 * their parts have started, which is all there is to know. Joins could be blamed on whoever came
 * last, so they wait for the moment when all hosts wait, if the hosts are known. */
void emu_engine_examine_at_once(emu_engine *engine) {
    bool joins = engine->contradictory_count > 0 && engine->config.host_count == 0;
    if (joins)
        (void)emu_engine_examine(engine);
    else if (emu_match_examine(engine))
        emu_streams_advance(engine);
}

bool emu_engine_examine(emu_engine *engine) {
    bool moved = engine->contradictory_count > 0;
    for (uint32_t i = 0; moved && i < engine->group_count; i++)
        for (emu_group *group = engine->groups[i]; group != NULL; group = group->successor)
            if (group->state == EMU_GROUP_CONTRADICTORY) emu_group_examine(group);
    if (emu_match_examine(engine)) moved = true;
    if (!moved) return false;
    engine->round++; /* what is found after this follows from it */
    emu_streams_advance(engine);
    return true;
}
