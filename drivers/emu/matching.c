#include "drivers/emu/op_faults.h"

#include <stdlib.h>
#include <string.h>

/* How the parts of one operation find each other. Collectives: the n-th of a communicator on every
 * rank. Transfers: the n-th send of a pair meets the n-th recv. Arrivals commute: parts are
 * compared when all have started, and blame is found by majority, never by who came first. */

/* --- Collectives: a ring per group --- */

emu_collective *emu_group_collective(emu_group *group, uint64_t seq) {
    if (seq < group->first_seq || seq >= group->end_seq) return NULL;
    return group->ring[seq & (group->ring_room - 1)];
}

static bool emu_group_grow_ring(emu_group *group) {
    uint32_t room = group->ring_room == 0 ? EMU_RING_SLOTS_MIN : group->ring_room * 2;
    emu_collective **ring = calloc(room, sizeof *ring);
    if (ring == NULL) return false;
    for (uint64_t seq = group->first_seq; seq < group->end_seq; seq++)
        ring[seq & (room - 1)] = emu_group_collective(group, seq);
    free(group->ring);
    group->ring = ring;
    group->ring_room = room;
    return true;
}

static emu_collective *emu_collective_new(emu_group *group) {
    size_t parts_bytes = (size_t)group->rank_count * sizeof(emu_op *);
    emu_collective *collective = group->free_collectives;
    if (collective != NULL)
        group->free_collectives = collective->next;
    else
        collective = calloc(1, sizeof *collective + parts_bytes);
    if (collective == NULL) return NULL;
    void **pointers = collective->pointers;
    emu_order_record *records = collective->records;
    uint32_t record_room = collective->record_room;
    memset(collective, 0, sizeof *collective + parts_bytes);
    collective->pointers = pointers;
    collective->records = records;
    collective->record_room = record_room;
    collective->group = group;
    return collective;
}

static emu_collective *emu_group_append_collective(emu_group *group) {
    if (group->end_seq - group->first_seq >= group->ring_room && !emu_group_grow_ring(group))
        return NULL;
    emu_collective *collective = emu_collective_new(group);
    if (collective == NULL) return NULL;
    collective->seq = group->end_seq++;
    group->ring[collective->seq & (group->ring_room - 1)] = collective;
    return collective;
}

/* The oldest collectives that every member has finished are forgotten. */
static void emu_group_retire_collectives(emu_group *group) {
    while (group->first_seq < group->end_seq) {
        emu_collective *collective = emu_group_collective(group, group->first_seq);
        if (collective->done_count < group->rank_count) return;
        emu_races_forget_collective(collective);
        collective->next = group->free_collectives;
        group->free_collectives = collective;
        group->first_seq++;
    }
}

static void emu_collective_free_list(emu_collective *collective) {
    while (collective != NULL) {
        emu_collective *next = collective->next;
        free(collective->pointers);
        free(collective->records);
        free(collective);
        collective = next;
    }
}

void emu_group_destroy_collectives(emu_group *group) {
    for (uint64_t seq = group->first_seq; seq < group->end_seq; seq++) {
        emu_collective *collective = emu_group_collective(group, seq);
        collective->next = group->free_collectives;
        group->free_collectives = collective;
    }
    emu_collective_free_list(group->free_collectives);
    free(group->ring);
}

static bool emu_match_issue_collective(emu_op *op) {
    emu_group *group = op->comm->group;
    uint64_t seq = op->comm->collective_count + 1;
    emu_collective *collective = emu_group_collective(group, seq);
    if (collective == NULL) collective = emu_group_append_collective(group);
    if (collective == NULL) return false;
    assert(collective->seq == seq);
    op->comm->collective_count = seq;
    op->seq = seq;
    op->collective = collective;
    collective->parts[op->comm->base.rank] = op;
    collective->issued_count++;
    emu_order_issued(op);
    if (collective->issued_count < group->rank_count) return true;
    for (int32_t rank = 0; rank < group->rank_count; rank++) {
        group->members[rank]->connected = true;
        if (collective->parts[rank] != NULL) emu_op_connected(collective->parts[rank]);
    }
    return true;
}

/* --- Transfers: a channel per pair and direction --- */

static uint64_t emu_channel_hash(const emu_group *group, int32_t source, int32_t destination) {
    uint64_t key = ((uint64_t)group->index << 40) ^ ((uint64_t)group->generation << 56) ^
                   ((uint64_t)(uint32_t)source << 20) ^ (uint64_t)(uint32_t)destination;
    key *= UINT64_C(0x9E3779B97F4A7C15);
    return key ^ (key >> 32);
}

static emu_channel *emu_channel_slot(emu_channel *channels, uint32_t room, const emu_group *group,
                                     int32_t source, int32_t destination) {
    uint32_t slot = (uint32_t)emu_channel_hash(group, source, destination) & (room - 1);
    while (channels[slot].group != NULL &&
           (channels[slot].group != group || channels[slot].source_rank != source ||
            channels[slot].destination_rank != destination))
        slot = (slot + 1) & (room - 1);
    return &channels[slot];
}

static bool emu_channels_grow(emu_engine *engine) {
    uint32_t room = engine->channel_room == 0 ? EMU_HASH_SLOTS_MIN : engine->channel_room * 2;
    emu_channel *channels = calloc(room, sizeof *channels);
    if (channels == NULL) return false;
    for (uint32_t i = 0; i < engine->channel_room; i++) {
        const emu_channel *old = &engine->channels[i];
        if (old->group != NULL)
            *emu_channel_slot(channels, room, old->group, old->source_rank, old->destination_rank) =
                *old;
    }
    free(engine->channels);
    engine->channels = channels;
    engine->channel_room = room;
    return true;
}

static emu_channel *emu_channel_of(emu_engine *engine, emu_group *group, int32_t source,
                                   int32_t destination) {
    if (engine->channel_count * 2 >= engine->channel_room && !emu_channels_grow(engine))
        return NULL;
    emu_channel *channel =
        emu_channel_slot(engine->channels, engine->channel_room, group, source, destination);
    if (channel->group == NULL) {
        channel->group = group;
        channel->source_rank = source;
        channel->destination_rank = destination;
        engine->channel_count++;
    }
    return channel;
}

void emu_channels_destroy(emu_engine *engine) {
    free(engine->channels);
}

static emu_channel *emu_op_channel(const emu_op *op) {
    emu_group *group = op->comm->group;
    int32_t rank = op->comm->base.rank;
    bool sends = op->kind == EMU_OP_SEND;
    return emu_channel_of(group->engine, group, sends ? rank : op->peer, sends ? op->peer : rank);
}

static void emu_queue_push(emu_op **head, emu_op **tail, emu_op *op) {
    op->next_in_channel = NULL;
    if (*tail != NULL)
        (*tail)->next_in_channel = op;
    else
        *head = op;
    *tail = op;
}

static emu_op *emu_queue_take(emu_op **head, emu_op **tail) {
    emu_op *op = *head;
    if (op == NULL) return NULL;
    *head = op->next_in_channel;
    if (*head == NULL) *tail = NULL;
    op->next_in_channel = NULL;
    return op;
}

static void emu_queue_remove(emu_op **head, emu_op **tail, const emu_op *op) {
    emu_op *before = NULL;
    for (emu_op *at = *head; at != op; at = at->next_in_channel) {
        if (at == NULL) return;
        before = at;
    }
    if (before == NULL)
        *head = op->next_in_channel;
    else
        before->next_in_channel = op->next_in_channel;
    if (*tail == op) *tail = before;
}

static uint32_t emu_memory_ordinal(const emu_allocation *allocation) {
    return allocation == NULL ? UINT32_MAX : allocation->ordinal;
}

/* Two transfers of one group call whose buffers are given in opposite orders on the two sides: they
 * pair up in the order of the calls, so the contents end up swapped. */
static void emu_channel_note_swap(emu_channel *channel, const emu_op *send, const emu_op *recv) {
    uint64_t send_order = send->launch != NULL ? send->order : 0;
    uint64_t recv_order = recv->launch != NULL ? recv->order : 0;
    uint32_t source = emu_memory_ordinal(send->source_memory);
    uint32_t destination = emu_memory_ordinal(recv->destination_memory);
    bool same_calls = send_order != 0 && send_order == channel->last.send_order &&
                      recv_order != 0 && recv_order == channel->last.recv_order;
    if (same_calls && source != destination && source == channel->last.destination_ordinal &&
        destination == channel->last.source_ordinal)
        emu_note_swapped(send, recv);
    channel->last.send_order = send_order;
    channel->last.recv_order = recv_order;
    channel->last.source_ordinal = source;
    channel->last.destination_ordinal = destination;
}

static void emu_transfer_pair(emu_channel *channel, emu_op *send, emu_op *recv) {
    send->peer_op = recv;
    recv->peer_op = send;
    emu_op_connected(send);
    emu_op_connected(recv);
    emu_channel_note_swap(channel, send, recv);
}

static bool emu_match_issue_transfer(emu_op *op) {
    emu_channel *channel = emu_op_channel(op);
    if (channel == NULL) return false;
    op->comm->transfer_count++;
    if (op->kind == EMU_OP_SEND) {
        op->seq = ++channel->send_count;
        emu_op *recv = emu_queue_take(&channel->recvs, &channel->recvs_tail);
        if (recv == NULL)
            emu_queue_push(&channel->sends, &channel->sends_tail, op);
        else
            emu_transfer_pair(channel, op, recv);
    } else {
        op->seq = ++channel->recv_count;
        emu_op *send = emu_queue_take(&channel->sends, &channel->sends_tail);
        if (send == NULL)
            emu_queue_push(&channel->recvs, &channel->recvs_tail, op);
        else
            emu_transfer_pair(channel, send, op);
    }
    return true;
}

bool emu_match_issue(emu_op *op) {
    bool issued = op->kind == EMU_OP_ALL_REDUCE ? emu_match_issue_collective(op)
                                                : emu_match_issue_transfer(op);
    if (!issued) return false;
    emu_op_ask_links(op);
    emu_steps_arrived(op);
    return true;
}

/* --- Starting --- */

bool emu_signature_equal(const emu_op *a, const emu_op *b) {
    return a->kind == b->kind && a->count == b->count && a->element_type == b->element_type &&
           a->reduce_op == b->reduce_op;
}

static bool emu_collective_agrees(const emu_collective *collective) {
    for (int32_t rank = 1; rank < collective->group->rank_count; rank++)
        if (!emu_signature_equal(collective->parts[0], collective->parts[rank])) return false;
    return true;
}

void emu_collective_move(emu_collective *collective) {
    emu_group *group = collective->group;
    size_t rank_count = (size_t)group->rank_count;
    if (collective->pointers == NULL)
        collective->pointers = malloc(2 * rank_count * sizeof(void *));
    if (collective->pointers == NULL) {
        group->engine->out_of_memory = true;
        return;
    }
    for (size_t rank = 0; rank < rank_count; rank++) {
        union {
            const void *constant;
            void *plain;
        } source = {collective->parts[rank]->source};
        collective->pointers[rank] = source.plain;
        collective->pointers[rank_count + rank] = collective->parts[rank]->destination;
    }
    emu_effect *effect = &collective->effect;
    effect->kind = EMU_EFFECT_REDUCE;
    effect->subject = collective;
    effect->element_type = (tutti_element_type)collective->parts[0]->element_type;
    effect->op = (tutti_reduce_op)collective->parts[0]->reduce_op;
    effect->count = collective->parts[0]->count;
    effect->rank_count = rank_count;
    effect->sources = (const void *const *)collective->pointers;
    effect->destinations = collective->pointers + rank_count;
    collective->moving = true;
    emu_effect_push(group->engine, effect);
}

static void emu_match_start_collective(emu_op *op) {
    emu_collective *collective = op->collective;
    emu_group *group = collective->group;
    collective->started_count++;
    if (collective->started_count < group->rank_count || collective->abandoned) return;
    emu_order_check(collective);
    if (emu_collective_agrees(collective)) {
        if (!emu_collective_held_up(collective)) emu_collective_move(collective);
        return;
    }
    collective->suspect = true;
    collective->next = group->engine->suspects;
    group->engine->suspects = collective;
}

void emu_transfer_move(emu_op *send, emu_op *recv) {
    recv->state = EMU_OP_EFFECT;
    emu_op_push_effect(send, EMU_EFFECT_COPY);
}

static size_t emu_op_bytes(const emu_op *op) {
    return op->count * op->width_bytes;
}

static void emu_match_start_transfer(emu_op *op) {
    emu_op *send = op->kind == EMU_OP_SEND ? op : op->peer_op;
    emu_op *recv = op->kind == EMU_OP_SEND ? op->peer_op : op;
    if (send == NULL || recv == NULL) return;
    if (send->state != EMU_OP_STARTED || recv->state != EMU_OP_STARTED) return;
    emu_engine *engine = op->comm->group->engine;
    if (emu_op_bytes(send) != emu_op_bytes(recv)) {
        send->next_in_channel = engine->suspect_sends;
        engine->suspect_sends = send;
        return;
    }
    if (send->element_type != recv->element_type) emu_note_types(send, recv);
    if (!emu_transfer_held_up(send, recv)) emu_transfer_move(send, recv);
}

void emu_match_start(emu_op *op) {
    if (op->kind == EMU_OP_ALL_REDUCE)
        emu_match_start_collective(op);
    else
        emu_match_start_transfer(op);
}

/* --- Ending --- */

static void emu_suspect_forget(emu_collective *collective) {
    emu_collective **link = &collective->group->engine->suspects;
    while (*link != collective)
        link = &(*link)->next;
    *link = collective->next;
    collective->suspect = false;
}

static void emu_suspect_send_forget(emu_engine *engine, emu_op *send) {
    emu_op **link = &engine->suspect_sends;
    while (*link != NULL && *link != send)
        link = &(*link)->next_in_channel;
    if (*link == send) *link = send->next_in_channel;
}

static void emu_match_done_collective(emu_op *op) {
    emu_collective *collective = op->collective;
    emu_group *group = collective->group;
    if (collective->suspect) emu_suspect_forget(collective);
    if (op->failed) collective->abandoned = true;
    collective->parts[op->comm->base.rank] = NULL;
    collective->done_count++;
    emu_group_retire_collectives(group);
}

static void emu_match_done_transfer(emu_op *op) {
    emu_op *peer = op->peer_op;
    if (peer == NULL) {
        emu_channel *channel = emu_op_channel(op);
        if (op->kind == EMU_OP_SEND)
            emu_queue_remove(&channel->sends, &channel->sends_tail, op);
        else
            emu_queue_remove(&channel->recvs, &channel->recvs_tail, op);
        return;
    }
    emu_suspect_send_forget(op->comm->group->engine, op->kind == EMU_OP_SEND ? op : peer);
    peer->peer_op = NULL;
    peer->orphaned = op->failed;
}

void emu_match_done(emu_op *op) {
    if (op->connecting != NULL) emu_op_connected(op);
    if (op->kind == EMU_OP_ALL_REDUCE)
        emu_match_done_collective(op);
    else if (op->kind == EMU_OP_SEND || op->kind == EMU_OP_RECV)
        emu_match_done_transfer(op);
}

/* What each member has got, as a number. */
static void emu_tell_results(const emu_collective *collective) {
    const emu_watch *watch = &collective->group->engine->config.watch;
    for (int32_t rank = 0; rank < collective->group->rank_count; rank++) {
        const emu_op *part = collective->parts[rank];
        const unsigned char *bytes = part->destination;
        uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a, of 64 bits */
        for (size_t i = 0; i < emu_op_bytes(part); i++)
            hash = (hash ^ bytes[i]) * UINT64_C(0x100000001B3);
        watch->result(watch->context, emu_collective_subject(collective), emu_comm_rank(part->comm),
                      hash);
    }
}

void emu_engine_effect_done(emu_engine *engine, emu_effect *effect) {
    assert(engine->effects_out > 0);
    engine->effects_out--;
    if (effect->kind == EMU_EFFECT_REDUCE) {
        emu_collective *collective = effect->subject;
        int32_t rank_count = collective->group->rank_count;
        /* The last part to complete retires the collective: nothing of it is used after that. */
        for (int32_t rank = 0; rank < rank_count; rank++)
            emu_op_corrupt(collective->parts[rank]);
        if (engine->config.watch.result != NULL) emu_tell_results(collective);
        for (int32_t rank = 0; rank < rank_count; rank++)
            emu_op_complete(collective->parts[rank]);
    } else {
        emu_op *op = effect->subject;
        emu_op *recv = op->kind == EMU_OP_SEND ? op->peer_op : NULL;
        emu_effect_recycle(engine, effect);
        emu_op_corrupt(op);
        if (recv != NULL) emu_op_corrupt(recv);
        emu_op_complete(op);
        if (recv != NULL) emu_op_complete(recv);
    }
    emu_streams_advance(engine);
}
