#include "drivers/emu/state.h"

/* Memory that the program must keep its hands off: what was freed, and what an operation that has
 * been issued and is not over will write. Somebody outside is told (in builds with AddressSanitizer
 * it makes every access of the program an error); else nothing is done here. */

static void emu_guard(const emu_engine *engine, const void *data, size_t bytes, bool closed) {
    if (bytes > 0) engine->config.memory_guard(data, bytes, closed);
}

static size_t emu_written_bytes(const emu_op *op) {
    return op->comm != NULL ? op->count * op->width_bytes : op->count;
}

void emu_guard_allocation(const emu_allocation *allocation, bool closed) {
    const emu_engine *engine = allocation->device->engine;
    if (engine->config.memory_guard == NULL) return;
    emu_guard(engine, allocation->data, allocation->bytes, closed);
}

void emu_guard_issued(emu_engine *engine, emu_op *op) {
    emu_allocation *written = op->destination_memory;
    if (engine->config.memory_guard == NULL || written == NULL || op->is_guarded) return;
    op->is_guarded = true;
    op->next_guarded = written->guarded;
    written->guarded = op;
    emu_guard(engine, op->destination, emu_written_bytes(op), true);
}

/* Data is moved now, for one operation or for the parts of a collective. */
static void emu_guard_open(const emu_engine *engine, const emu_op *op) {
    if (op == NULL) return;
    if (op->source_memory != NULL) emu_guard(engine, op->source, emu_written_bytes(op), false);
    if (op->destination_memory != NULL)
        emu_guard(engine, op->destination, emu_written_bytes(op), false);
}

void emu_guard_effect(emu_engine *engine, const emu_effect *effect) {
    if (engine->config.memory_guard == NULL) return;
    if (effect->kind == EMU_EFFECT_REDUCE) {
        const emu_collective *collective = effect->subject;
        for (int32_t rank = 0; rank < collective->group->rank_count; rank++)
            emu_guard_open(engine, collective->parts[rank]);
        return;
    }
    const emu_op *op = effect->subject;
    emu_guard_open(engine, op);
    if (op->comm != NULL) emu_guard_open(engine, op->peer_op);
}

/* What overlaps stays closed, as long as that operation is not over. */
void emu_guard_over(emu_engine *engine, emu_op *op) {
    if (!op->is_guarded) return;
    emu_allocation *written = op->destination_memory;
    emu_op **link = &written->guarded;
    while (*link != op)
        link = &(*link)->next_guarded;
    *link = op->next_guarded;
    op->is_guarded = false;
    emu_guard(engine, op->destination, emu_written_bytes(op), false);
    for (const emu_op *other = written->guarded; other != NULL; other = other->next_guarded)
        if (other->state == EMU_OP_QUEUED || other->state == EMU_OP_STARTED)
            emu_guard(engine, other->destination, emu_written_bytes(other), true);
}
