#include "drivers/emu/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct emu_arena_block {
    emu_arena_block *older; /* NULL: the first one */
    size_t room_bytes;      /* behind the header */
};

enum {
    BLOCK_ROOM_MIN = 4096,    /* of the first block; each later one is twice as large */
    BLOCK_ROOM_MAX = 1 << 20, /* unless a single piece needs more */
    FIRST_CAPACITY = 16,      /* of a growing array, items */
};

#define ALIGNMENT    _Alignof(max_align_t)
#define HEADER_BYTES ((sizeof(emu_arena_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

void emu_arena_init(emu_arena *arena, size_t bytes_max) {
    arena->newest = NULL;
    arena->used_bytes = 0;
    arena->bytes_left = bytes_max;
}

static emu_arena_block *arena_add_block(emu_arena *arena, size_t piece_bytes) {
    size_t room = arena->newest ? arena->newest->room_bytes * 2 : BLOCK_ROOM_MIN;
    if (room > BLOCK_ROOM_MAX) room = BLOCK_ROOM_MAX;
    if (room < piece_bytes) room = piece_bytes;
    if (arena->bytes_left < HEADER_BYTES || arena->bytes_left - HEADER_BYTES < room) return NULL;
    emu_arena_block *block = malloc(HEADER_BYTES + room);
    if (!block) return NULL;
    block->older = arena->newest;
    block->room_bytes = room;
    arena->newest = block;
    arena->used_bytes = 0;
    arena->bytes_left -= HEADER_BYTES + room;
    return block;
}

void *emu_arena_alloc(emu_arena *arena, size_t count, size_t item_bytes) {
    assert(item_bytes > 0);
    if (count > (SIZE_MAX - HEADER_BYTES - ALIGNMENT) / item_bytes) return NULL;
    const size_t wanted = count * item_bytes;
    const size_t piece_bytes = (wanted + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    emu_arena_block *block = arena->newest;
    if (!block || block->room_bytes - arena->used_bytes < piece_bytes) {
        block = arena_add_block(arena, piece_bytes);
        if (!block) return NULL;
    }
    char *piece = (char *)block + HEADER_BYTES + arena->used_bytes;
    arena->used_bytes += piece_bytes;
    memset(piece, 0, piece_bytes);
    return piece;
}

void *emu_arena_copy(emu_arena *arena, const void *items, size_t count, size_t item_bytes) {
    void *copy = emu_arena_alloc(arena, count, item_bytes);
    if (copy && count > 0) memcpy(copy, items, count * item_bytes);
    return copy;
}

char *emu_arena_text(emu_arena *arena, const char *text, size_t text_bytes) {
    char *copy = emu_arena_alloc(arena, text_bytes + 1, 1);
    if (copy && text_bytes > 0) memcpy(copy, text, text_bytes);
    return copy;
}

void *emu_arena_grow(emu_arena *arena, void *items, uint32_t count, uint32_t *capacity,
                     size_t item_bytes) {
    assert(count <= *capacity);
    if (count < *capacity) return items;
    if (*capacity > UINT32_MAX / 2) return NULL;
    const uint32_t larger = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    void *grown = emu_arena_alloc(arena, larger, item_bytes);
    if (!grown) return NULL;
    if (count > 0) memcpy(grown, items, count * item_bytes);
    *capacity = larger;
    return grown;
}

void emu_arena_free(emu_arena *arena) {
    emu_arena_block *block = arena->newest;
    while (block) {
        emu_arena_block *older = block->older;
        free(block);
        block = older;
    }
    emu_arena_init(arena, 0);
}
