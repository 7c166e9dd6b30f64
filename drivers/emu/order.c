#include "drivers/emu/state.h"

#include <stdlib.h>
#include <string.h>

/* Communicators that share members and are used in different orders: harmless as long as a device
 * can run everything at once, a deadlock when it cannot. A member that issues a collective records
 * what it has issued on its other communicators without waiting for it; when all members have
 * issued theirs, the orders are compared. So the answer does not depend on who came first. */

static void emu_order_remember(emu_comm *comm, const emu_op *op) {
    if (comm->recent_orders == NULL)
        comm->recent_orders = calloc(EMU_RECENT_ORDERS, sizeof *comm->recent_orders);
    if (comm->recent_orders != NULL) comm->recent_orders[op->seq % EMU_RECENT_ORDERS] = op->order;
}

static void emu_order_record_add(emu_collective *collective, const emu_op *op, emu_comm *other) {
    if (!emu_grow(&collective->records, collective->record_count, &collective->record_room,
                  sizeof *collective->records))
        return; /* only a note can get lost */
    emu_order_record *record = &collective->records[collective->record_count++];
    record->member = other;
    record->seq = other->collective_count;
    record->order = op->order;
    record->rank = op->comm->base.rank;
}

void emu_order_issued(emu_op *op) {
    emu_comm *comm = op->comm;
    emu_device *device = emu_device_of(op->stream->base.device);
    if (device->comm_count < 2) return;
    emu_order_remember(comm, op);
    for (emu_comm *other = device->unsynced; other != NULL; other = other->next_unsynced)
        if (other != comm) emu_order_record_add(op->collective, op, other);
    comm->last_stream = op->stream;
    if (comm->unsynced) return;
    comm->unsynced = true;
    comm->next_unsynced = device->unsynced;
    device->unsynced = comm;
}

void emu_order_synchronized(emu_stream *stream) {
    emu_comm **link = &emu_device_of(stream->base.device)->unsynced;
    while (*link != NULL) {
        emu_comm *comm = *link;
        if (comm->last_stream != stream || comm->order_head != NULL) {
            link = &comm->next_unsynced;
            continue;
        }
        comm->unsynced = false;
        *link = comm->next_unsynced;
    }
}

void emu_order_forget(emu_comm *comm) {
    if (!comm->unsynced) return;
    emu_comm **link = &emu_device_of(comm->base.device)->unsynced;
    while (*link != comm)
        link = &(*link)->next_unsynced;
    *link = comm->next_unsynced;
    comm->unsynced = false;
}

/* Whether the member issued the other group's collective only after its part of this one. */
static bool emu_order_is_reversed(const emu_comm *other, uint64_t seq, uint64_t own_order) {
    if (other->collective_count < seq) return true;
    if (other->collective_count - seq >= EMU_RECENT_ORDERS || other->recent_orders == NULL)
        return false;
    return other->recent_orders[seq % EMU_RECENT_ORDERS] > own_order;
}

static void emu_order_note(emu_collective *collective, const emu_order_record *record,
                           int32_t rank) {
    emu_group *group = collective->group;
    emu_group *other = record->member->group;
    const emu_op *op = collective->parts[record->rank];
    int32_t ranks[2] = {emu_group_member_rank(group, record->rank),
                        emu_group_member_rank(group, rank)};
    emu_text text = {0};
    emu_text_add(&text,
                 "rank %" PRId32 " issues operation %" PRIu64 " of %s and then operation %" PRIu64
                 " of %s",
                 ranks[0], record->seq, other->name, collective->seq, group->name);
    emu_text_add_place(&text, op->place);
    emu_text_add(&text, ", rank %" PRId32 " the other way round", ranks[1]);
    emu_text_add_place(&text, collective->parts[rank]->place);
    emu_text_add(&text, ". It went well because a device can run both at once; one that cannot "
                        "deadlocks.\nTo change: issue them in one order on all ranks, or wait for "
                        "the first before issuing the second.");
    emu_note_add(group->engine, TUTTI_VERDICT_DEADLOCK, "order", emu_group_subject(group, "order"),
                 ranks, 2, &text);
    group->order_noted = other->order_noted = true;
}

static void emu_order_check_record(emu_collective *collective, const emu_order_record *record) {
    emu_group *group = collective->group;
    emu_group *other = record->member->group;
    for (int32_t rank = 0; rank < other->rank_count; rank++) {
        emu_comm *member = other->members[rank];
        if (member != NULL) emu_device_of(member->base.device)->mark = member;
    }
    for (int32_t rank = 0; rank < group->rank_count && !group->order_noted; rank++) {
        emu_device *device = emu_device_of(group->members[rank]->base.device);
        const emu_comm *member = device->mark;
        if (member == NULL || member == record->member) continue;
        if (emu_order_is_reversed(member, record->seq, collective->parts[rank]->order))
            emu_order_note(collective, record, rank);
    }
    for (int32_t rank = 0; rank < other->rank_count; rank++) {
        emu_comm *member = other->members[rank];
        if (member != NULL) emu_device_of(member->base.device)->mark = NULL;
    }
}

void emu_order_check(emu_collective *collective) {
    for (uint32_t i = 0; i < collective->record_count && !collective->group->order_noted; i++)
        emu_order_check_record(collective, &collective->records[i]);
}
