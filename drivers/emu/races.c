#include "drivers/emu/state.h"

#include <stdlib.h>

/* Races on memory: every access is compared with those before it, and two that no chain of edges
 * orders are a finding, whichever of them came first in this run. Edges are only those that the
 * contract promises:
 *
 *   a host's calls in their order; issue -> start; a stream's operations in their order;
 *   a communicator's operations in the order of their calls; record -> wait;
 *   what a synchronize, or a query that said done, looked at -> the host;
 *   every member's join -> the return of each; a member's operations -> its leave;
 *   all_reduce: the start of every part -> the end of each; send's start -> recv's end.
 *
 * An operation's accesses lie between its start and its end: what it is compared with has to be
 * known at its start, and its own time becomes known with its end. */

struct emu_races {
    emu_strands strands;
    emu_shadows shadows;
    emu_domain stranger_domain;
    emu_strand strangers; /* threads that showed up later: nobody can see how they are ordered, so
                             they count as one */
    emu_range *free_ranges;
    bool limit_told;
};

enum { EMU_RANGES_PER_BLOCK = 64 };

/* --- Creation --- */

bool emu_races_create(emu_engine *engine) {
    if (engine->config.races_off) return true;
    emu_races *races = calloc(1, sizeof *races);
    if (races == NULL) return false;
    engine->races = races;
    emu_strands_init(&races->strands, engine->config.device_count + 1);
    for (uint32_t i = 0; i < engine->device_count; i++)
        emu_domain_init(&engine->devices[i].domain, i);
    emu_domain_init(&races->stranger_domain, engine->config.device_count);
    emu_strand_init(&races->strands, &races->strangers, &races->stranger_domain);
    return !races->strands.out_of_memory;
}

void emu_races_destroy(emu_engine *engine) {
    emu_races *races = engine->races;
    if (races == NULL) return;
    for (uint32_t i = 0; i < engine->device_count; i++) {
        emu_device *device = &engine->devices[i];
        for (uint32_t j = 0; j < device->memory_count; j++)
            emu_races_forget_memory(device->memory[j]);
        for (uint32_t j = 0; j < device->domain.strand_count; j++)
            emu_strand_free(device->domain.strands[j]);
        emu_domain_free(&device->domain);
    }
    emu_strand_free(&races->strangers);
    emu_domain_free(&races->stranger_domain);
    emu_shadows_free(&races->shadows);
    emu_strands_free(&races->strands);
    free(races);
    engine->races = NULL;
}

static void emu_races_tell_limit(emu_engine *engine) {
    emu_text text = {0};
    emu_text_add(&text,
                 "the detector of races stopped here: the run has more streams, or a stream more "
                 "operations, than it can tell apart.\nTo change: create streams once and use them "
                 "again, or rehearse fewer steps.");
    engine->races->limit_told = true;
    emu_note_add(engine, TUTTI_VERDICT_RACE, "limit", 0, NULL, 0, &text);
}

/* The detector, as long as it can be trusted; NULL. */
static emu_races *emu_races_of(emu_engine *engine) {
    emu_races *races = engine->races;
    if (races == NULL) return NULL;
    if (races->strands.out_of_memory || races->shadows.out_of_memory) {
        engine->out_of_memory = true;
        return NULL;
    }
    if (!races->strands.exhausted) return races;
    if (!races->limit_told) emu_races_tell_limit(engine);
    return NULL;
}

static emu_engine *emu_stream_engine(const emu_stream *stream) {
    return emu_device_of(stream->base.device)->engine;
}

void emu_races_add_host(emu_host *host, bool later) {
    emu_races *races = host->engine->races;
    if (races == NULL) return;
    host->strand = later ? &races->strangers : &host->own_strand;
    if (!later)
        emu_strand_init(&races->strands, host->strand,
                        &emu_engine_host_device(host->engine, host->index)->domain);
}

void emu_races_add_stream(emu_engine *engine, emu_stream *stream) {
    if (engine->races != NULL)
        emu_strand_init(&engine->races->strands, &stream->strand,
                        &emu_device_of(stream->base.device)->domain);
}

/* --- Accesses --- */

static void emu_clash_found(void *context, const emu_clash *clash) {
    emu_races_clash(context, clash);
}

static void emu_clash_ignored(void *context, const emu_clash *clash) {
    (void)context;
    (void)clash;
}

static void emu_races_touch(emu_races *races, emu_allocation *memory, emu_touching *touch,
                            const void *data, size_t bytes) {
    if (bytes == 0 || memory == NULL || memory->shadow.count == 0) return;
    touch->begin = (size_t)((const char *)data - memory->data);
    touch->end = touch->begin + bytes;
    touch->strands = &races->strands;
    touch->context = memory;
    emu_shadow_touch(&races->shadows, &memory->shadow, touch);
}

static emu_touching emu_host_touching(emu_races *races, emu_host *host, emu_access_kind kind,
                                      tutti_place place) {
    /* Whoever was told of the present time was told before this access. */
    if (host->strand->moment != NULL) emu_strand_tick(&races->strands, host->strand, 1);
    return (emu_touching){.access = {.strand = host->strand,
                                     .file = place.file,
                                     .line = place.line,
                                     .time = emu_strand_now(host->strand),
                                     .order = (uint32_t)host->launch_count,
                                     .host = host->index,
                                     .kind = (uint8_t)kind},
                          .asks = host->strand,
                          .clash = emu_clash_found};
}

void emu_races_allocated(emu_host *host, emu_allocation *allocation, bool filled) {
    emu_races *races = emu_races_of(host->engine);
    if (races == NULL || allocation->bytes == 0) return;
    emu_touching touch = emu_host_touching(races, host, EMU_ACCESS_ALLOCATE, allocation->place);
    touch.access.undefined = !filled;
    emu_shadow_init(&allocation->shadow, allocation->bytes, &touch.access);
}

void emu_races_freed(emu_host *host, emu_allocation *allocation) {
    emu_races *races = emu_races_of(host->engine);
    if (races == NULL) return;
    emu_touching touch = emu_host_touching(races, host, EMU_ACCESS_FREE, allocation->freed_place);
    touch.writes = touch.access.undefined = true;
    emu_races_touch(races, allocation, &touch, allocation->data, allocation->bytes);
}

void emu_races_host_access(emu_host *host, emu_allocation *allocation, tutti_buffer buffer,
                           bool writes, tutti_place place) {
    emu_races *races = emu_races_of(host->engine);
    if (races == NULL) return;
    emu_touching touch = emu_host_touching(races, host, EMU_ACCESS_HOST, place);
    touch.writes = writes;
    emu_races_touch(races, allocation, &touch, buffer.data, buffer.bytes);
}

void emu_races_forget_memory(emu_allocation *allocation) {
    emu_races *races = allocation->device->engine->races;
    if (races != NULL && allocation->shadow.count > 0)
        emu_shadow_free(&races->shadows, &allocation->shadow);
}

/* --- What operations touch --- */

static emu_touching emu_op_touching(const emu_op *op, uint32_t time) {
    return (emu_touching){.access = {.strand = &op->stream->strand,
                                     .file = op->place.file,
                                     .line = op->place.line,
                                     .time = time,
                                     .order = (uint32_t)op->order,
                                     .host = op->host,
                                     .kind = op->kind},
                          .asks = &op->stream->strand,
                          .clash = emu_clash_found};
}

static size_t emu_op_byte_count(const emu_op *op) {
    return op->comm != NULL ? op->count * op->width_bytes : op->count;
}

/* A copy moves what is undefined, too, instead of looking at it. */
static void emu_races_copy_undefined(emu_races *races, const emu_op *op, emu_touching *touch) {
    const emu_allocation *source = op->source_memory;
    size_t base = (size_t)((const char *)op->source - source->data), end;
    for (size_t at = base; at < base + op->count; at = end) {
        bool undefined = emu_shadow_is_undefined(&source->shadow, at, &end);
        if (end > base + op->count) end = base + op->count;
        touch->access.undefined = true;
        if (undefined)
            emu_races_touch(races, op->destination_memory, touch,
                            (const char *)op->destination + (at - base), end - at);
    }
}

static void emu_races_touch_all(emu_races *races, const emu_op *op, uint32_t time) {
    size_t bytes = emu_op_byte_count(op);
    bool moves = op->kind == EMU_OP_COPY && op->source_memory != NULL &&
                 op->destination_memory != NULL && op->source_memory->shadow.count > 0;
    emu_touching touch = emu_op_touching(op, time);
    touch.copies = moves;
    emu_races_touch(races, op->source_memory, &touch, op->source, bytes);
    for (const emu_range *range = op->ranges; range != NULL; range = range->next) {
        touch.writes = range->writes;
        emu_races_touch(races, range->memory, &touch, range->memory->data + range->begin,
                        range->end - range->begin);
    }
    touch.writes = true;
    emu_races_touch(races, op->destination_memory, &touch, op->destination, bytes);
    if (moves && bytes > 0) emu_races_copy_undefined(races, op, &touch);
}

/* NCCL drops a transfer to oneself whose two ends are the same memory: it touches nothing. */
static bool emu_part_is_nothing(const emu_op *part) {
    const emu_op *other = part->peer_op;
    if (other == NULL || other->launch != part->launch || other->comm != part->comm) return false;
    const void *source = part->kind == EMU_OP_SEND ? part->source : other->source;
    const void *destination = part->kind == EMU_OP_SEND ? other->destination : part->destination;
    return source == destination && emu_op_byte_count(part) == emu_op_byte_count(other);
}

static bool emu_op_touches(const emu_op *op) {
    return op->source_memory != NULL || op->destination_memory != NULL || op->ranges != NULL;
}

bool emu_races_add_range(emu_engine *engine, emu_op *op, emu_allocation *allocation,
                         tutti_buffer buffer, bool writes) {
    emu_races *races = emu_races_of(engine);
    if (races == NULL || allocation == NULL) return true;
    if (races->free_ranges == NULL) {
        emu_range *block = emu_engine_block(engine, EMU_RANGES_PER_BLOCK * sizeof *block);
        for (size_t i = EMU_RANGES_PER_BLOCK; block != NULL && i-- > 0;) {
            block[i].next = races->free_ranges;
            races->free_ranges = &block[i];
        }
    }
    emu_range *range = races->free_ranges;
    if (range == NULL) return false;
    races->free_ranges = range->next;
    range->memory = allocation;
    range->begin = (size_t)((const char *)buffer.data - allocation->data);
    range->end = range->begin + buffer.bytes;
    range->writes = writes;
    emu_range **link = &op->ranges;
    while (*link != NULL && !(*link)->writes)
        link = &(*link)->next;
    range->next = *link;
    *link = range;
    emu_memory_hold(allocation);
    return true;
}

/* --- Issue --- */

void emu_races_issued(emu_op *op) {
    emu_engine *engine = emu_stream_engine(op->stream);
    emu_races *races = emu_races_of(engine);
    if (races != NULL)
        op->seen = emu_strand_moment(&races->strands, engine->hosts[op->host]->strand);
}

static void emu_moment_drop(emu_races *races, emu_moment **moment) {
    emu_moment_release(&races->strands, *moment);
    *moment = NULL;
}

void emu_races_forget_op(emu_engine *engine, emu_op *op) {
    emu_races *races = engine->races;
    if (races == NULL) return;
    emu_moment_drop(races, &op->seen);
    emu_moment_drop(races, &op->awaited);
    emu_moment_drop(races, &op->begun);
    if (op->knew != NULL) emu_knowledge_release(&races->strands, op->knew);
    op->knew = NULL;
    while (op->ranges != NULL) {
        emu_range *range = op->ranges;
        op->ranges = range->next;
        emu_memory_release(range->memory);
        range->next = races->free_ranges;
        races->free_ranges = range;
    }
}

void emu_races_forget_collective(emu_collective *collective) {
    emu_races *races = collective->group->engine->races;
    if (races != NULL) emu_gathering_clear(&races->strands, &collective->begun);
}

/* --- Edges of operations --- */

/* Whether the operation's start is promised to come before the end of other parts, and whether its
 * own end comes behind the starts of others. */
static bool emu_op_gives(const emu_op *op) {
    return op->kind == EMU_OP_ALL_REDUCE || op->kind == EMU_OP_SEND;
}

static bool emu_op_takes(const emu_op *op) {
    return op->kind == EMU_OP_ALL_REDUCE || op->kind == EMU_OP_RECV;
}

static void emu_op_give(emu_races *races, emu_op *op) {
    emu_strand *strand = &op->stream->strand;
    if (op->collective != NULL) {
        op->knew = emu_strand_knowledge(strand);
        if (emu_op_gives(op)) emu_gathering_add(&races->strands, &op->collective->begun, strand);
    } else if (emu_op_gives(op)) {
        op->begun = emu_strand_moment(&races->strands, strand);
    }
}

static void emu_op_take(emu_races *races, emu_op *op) {
    emu_strand *strand = &op->stream->strand;
    if (op->collective != NULL) {
        if (emu_op_takes(op))
            emu_strand_learn_gathered(&races->strands, strand, &op->collective->begun, op->knew);
    } else if (op->awaited != NULL) {
        emu_strand_learn(&races->strands, strand, op->awaited);
    }
    /* A send is over before its recv is. */
    emu_op *recv = op->kind == EMU_OP_SEND ? op->peer_op : NULL;
    if (recv == NULL || !emu_op_takes(recv)) return;
    emu_moment_drop(races, &recv->awaited);
    recv->awaited = emu_moment_retain(op->begun);
}

void emu_races_start(emu_op *op) {
    emu_races *races = emu_races_of(emu_stream_engine(op->stream));
    if (races == NULL) return;
    emu_strand *strand = &op->stream->strand;
    emu_strand_learn(&races->strands, strand, op->seen);
    if (op->comm != NULL) {
        emu_strand_learn(&races->strands, strand, op->comm->done);
        emu_op_give(races, op);
    }
    if (!emu_op_touches(op)) return;
    emu_races_touch_all(races, op, emu_strand_now(strand) + 1);
    emu_strand_tick(&races->strands, strand, 1);
}

/* All streams of a group call are one point of order, at its start and at its end. */
static void emu_launch_meet(emu_races *races, const emu_launch *launch) {
    const emu_op *first = launch->places;
    if (first == NULL || first->next_in_launch == NULL) return;
    for (const emu_op *place = first->next_in_launch; place != NULL;
         place = place->next_in_launch) {
        emu_moment *moment = emu_strand_moment(&races->strands, &place->stream->strand);
        emu_strand_learn(&races->strands, &first->stream->strand, moment);
        emu_moment_release(&races->strands, moment);
    }
    emu_moment *moment = emu_strand_moment(&races->strands, &first->stream->strand);
    for (const emu_op *place = first->next_in_launch; place != NULL; place = place->next_in_launch)
        emu_strand_learn(&races->strands, &place->stream->strand, moment);
    emu_moment_release(&races->strands, moment);
}

void emu_races_start_launch(emu_launch *launch) {
    emu_races *races = emu_races_of(launch->device->engine);
    if (races == NULL) return;
    emu_strands *strands = &races->strands;
    for (const emu_op *place = launch->places; place != NULL; place = place->next_in_launch)
        emu_strand_learn(strands, &place->stream->strand, place->seen);
    for (const emu_op *part = launch->parts; part != NULL; part = part->next_in_launch)
        emu_strand_learn(strands, &part->stream->strand, part->comm->done);
    emu_launch_meet(races, launch);
    for (emu_op *part = launch->parts; part != NULL; part = part->next_in_launch)
        if (part->state != EMU_OP_DONE) emu_op_give(races, part);
    /* Each part has a time of its own that no other part knows: they have no order. */
    uint32_t steps = 0;
    for (const emu_op *part = launch->parts; part != NULL; part = part->next_in_launch)
        if (part->state != EMU_OP_DONE && !emu_part_is_nothing(part))
            emu_races_touch_all(races, part, emu_strand_now(&part->stream->strand) + ++steps);
    for (const emu_op *place = launch->places; place != NULL; place = place->next_in_launch)
        emu_strand_tick(strands, &place->stream->strand, steps);
}

/* --- The end of operations --- */

/* The destination of an operation that was given up has no defined contents. It may not even have
 * started, and what it would have been ordered behind is unknown: so it clashes with nothing that
 * was before, and stands at time 0, which is over for everybody. */
static void emu_op_undefine(emu_races *races, emu_op *op) {
    if (op->destination_memory == NULL) return;
    emu_touching touch = emu_op_touching(op, 0);
    touch.writes = touch.access.undefined = true;
    touch.clash = emu_clash_ignored;
    emu_races_touch(races, op->destination_memory, &touch, op->destination, emu_op_byte_count(op));
}

static void emu_comm_done_with(emu_races *races, const emu_op *op) {
    emu_moment_drop(races, &op->comm->done);
    op->comm->done = emu_strand_moment(&races->strands, &op->stream->strand);
}

void emu_races_complete(emu_op *op) {
    if (op->comm == NULL) return;
    emu_races *races = emu_races_of(emu_stream_engine(op->stream));
    if (races == NULL) return;
    if (op->failed)
        emu_op_undefine(races, op);
    else
        emu_op_take(races, op);
    if (op->launch == NULL) emu_comm_done_with(races, op);
}

void emu_races_launch_over(const emu_launch *launch) {
    emu_races *races = emu_races_of(launch->device->engine);
    if (races == NULL || !launch->started) return;
    emu_launch_meet(races, launch);
    for (const emu_op *part = launch->parts; part != NULL; part = part->next_in_launch)
        emu_comm_done_with(races, part);
}

/* --- Events --- */

/* A wait is for the mark that the event has now, whatever is recorded until a stream comes to it.
 */
void emu_races_wait_issued(emu_op *op) {
    emu_event *event = op->event;
    if (emu_races_of(emu_stream_engine(op->stream)) == NULL) return;
    if (emu_event_record(event, op->mark) == NULL) {
        op->awaited = emu_moment_retain(event->moment);
        return;
    }
    op->next_in_channel = event->waits;
    event->waits = op;
}

void emu_races_record_passed(emu_op *op) {
    emu_event *event = op->event;
    emu_races *races = emu_races_of(emu_stream_engine(op->stream));
    if (races == NULL) return;
    emu_strand_learn(&races->strands, &op->stream->strand, op->seen);
    emu_moment *moment = emu_strand_moment(&races->strands, &op->stream->strand);
    emu_op **link = &event->waits;
    while (*link != NULL) {
        emu_op *wait = *link;
        if (wait->mark != op->mark) {
            link = &wait->next_in_channel;
            continue;
        }
        *link = wait->next_in_channel;
        wait->awaited = emu_moment_retain(moment);
    }
    bool newest = op->mark > event->completed_mark;
    emu_moment_drop(races, newest ? &event->moment : &moment);
    if (newest) event->moment = moment;
}

void emu_races_wait_passed(emu_op *op) {
    emu_races *races = emu_races_of(emu_stream_engine(op->stream));
    if (races == NULL) return;
    emu_strand_learn(&races->strands, &op->stream->strand, op->seen);
    emu_strand_learn(&races->strands, &op->stream->strand, op->awaited);
}

/* --- Hosts that waited --- */

void emu_races_stream_over(emu_host *host, emu_stream *stream) {
    emu_races *races = emu_races_of(host->engine);
    if (races == NULL) return;
    emu_moment *moment = emu_strand_moment(&races->strands, &stream->strand);
    emu_strand_learn(&races->strands, host->strand, moment);
    emu_moment_release(&races->strands, moment);
}

void emu_races_event_over(emu_host *host, const emu_event *event) {
    emu_races *races = emu_races_of(host->engine);
    if (races != NULL) emu_strand_learn(&races->strands, host->strand, event->moment);
}

void emu_races_joins(emu_host *host, emu_group *group) {
    emu_races *races = emu_races_of(host->engine);
    if (races == NULL) return;
    emu_gathering_add(&races->strands, &group->joined, host->strand);
    emu_strand_tick(&races->strands, host->strand, 1);
}

void emu_races_joined(emu_host *host, const emu_group *group) {
    emu_races *races = emu_races_of(host->engine);
    if (races != NULL)
        emu_strand_learn_gathered(&races->strands, host->strand, &group->joined, NULL);
}

void emu_races_joined_in_group_call(emu_host *host, const emu_group *group) {
    emu_races *races = emu_races_of(host->engine);
    if (races != NULL) emu_gathering_merge(&races->strands, &host->joined, &group->joined);
}

void emu_races_group_call_over(emu_host *host) {
    emu_races *races = emu_races_of(host->engine);
    if (races == NULL || host->joined.known == NULL) return;
    emu_strand_learn_gathered(&races->strands, host->strand, &host->joined, NULL);
    emu_gathering_clear(&races->strands, &host->joined);
}

void emu_races_left(emu_host *host, emu_comm *comm) {
    emu_races *races = emu_races_of(host->engine);
    if (races == NULL) return;
    emu_strand_learn(&races->strands, host->strand, comm->done);
    emu_moment_drop(races, &comm->done);
}
