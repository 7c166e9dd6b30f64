#include "drivers/emu/op_faults.h"

#include <stdlib.h>
#include <string.h>

/* Growing arrays and the pools of operations, effects and launches. A pool hands out what was
 * recycled first; only when nothing is left does it cut a new block, so a program that is under way
 * allocates nothing. */

enum { EMU_POOL_BLOCK_BYTES = 8192 };

bool emu_grow(void *array_pointer, uint32_t count, uint32_t *room, size_t element_bytes) {
    if (count < *room) return true;
    uint32_t wanted = *room < 4 ? 4 : *room * 2;
    if (wanted <= *room) return false;
    void *old;
    memcpy(&old, array_pointer, sizeof old);
    void *grown = realloc(old, (size_t)wanted * element_bytes);
    if (grown == NULL) return false;
    memcpy(array_pointer, &grown, sizeof grown);
    *room = wanted;
    return true;
}

void *emu_engine_block(emu_engine *engine, size_t bytes) {
    if (!emu_grow(&engine->blocks, engine->block_count, &engine->block_room, sizeof(void *)))
        return NULL;
    void *block = malloc(bytes);
    if (block != NULL) engine->blocks[engine->block_count++] = block;
    return block;
}

emu_op *emu_op_new(emu_engine *engine) {
    if (engine->free_ops == NULL) {
        size_t count = EMU_POOL_BLOCK_BYTES / sizeof(emu_op);
        emu_op *block = emu_engine_block(engine, count * sizeof(emu_op));
        if (block == NULL) return NULL;
        for (size_t i = count; i-- > 0;) {
            block[i].next_in_launch = engine->free_ops;
            engine->free_ops = &block[i];
        }
    }
    emu_op *op = engine->free_ops;
    engine->free_ops = op->next_in_launch;
    memset(op, 0, sizeof *op);
    return op;
}

void emu_op_recycle(emu_engine *engine, emu_op *op) {
    assert(op->timer.slot == 0);
    emu_races_forget_op(engine, op);
    if (op->faults != NULL) emu_op_faults_recycle(engine, op);
    op->next_in_launch = engine->free_ops;
    engine->free_ops = op;
}

emu_effect *emu_effect_new(emu_engine *engine) {
    emu_effect *effect = engine->free_effects;
    if (effect != NULL)
        engine->free_effects = effect->next;
    else
        effect = emu_engine_block(engine, sizeof *effect);
    if (effect == NULL) return NULL;
    memset(effect, 0, sizeof *effect);
    return effect;
}

void emu_effect_recycle(emu_engine *engine, emu_effect *effect) {
    effect->next = engine->free_effects;
    engine->free_effects = effect;
}

emu_launch *emu_launch_new(emu_engine *engine) {
    emu_launch *launch = engine->free_launches;
    if (launch != NULL)
        engine->free_launches = launch->next;
    else
        launch = emu_engine_block(engine, sizeof *launch);
    if (launch == NULL) return NULL;
    memset(launch, 0, sizeof *launch);
    launch->parts_tail = &launch->parts;
    return launch;
}

void emu_launch_recycle(emu_engine *engine, emu_launch *launch) {
    launch->next = engine->free_launches;
    engine->free_launches = launch;
}
