#ifndef TUTTI_EMU_ARENA_H
#define TUTTI_EMU_ARENA_H

/* An arena: memory that is handed out piece by piece and given back all at once. For data that is
 * built once and then only read. It knows nothing of what is in it. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct emu_arena_block emu_arena_block;

typedef struct emu_arena {
    emu_arena_block *newest; /* the block that the next piece comes from; NULL: none yet */
    size_t used_bytes;       /* of the newest block's room */
    size_t bytes_left;       /* that the arena may still ask the system for */
} emu_arena;

/* Makes an empty arena that never holds more than bytes_max, its own bookkeeping included. */
void emu_arena_init(emu_arena *arena, size_t bytes_max);

/* A piece for `count` items, all bytes 0, aligned for any type. Zero items give a piece too, which
 * must not be read. Lives until emu_arena_free().
 * Errors: NULL when the system or the arena's limit has no more */
void *emu_arena_alloc(emu_arena *arena, size_t count, size_t item_bytes);

/* A copy of `count` items. NULL when memory is out. */
void *emu_arena_copy(emu_arena *arena, const void *items, size_t count, size_t item_bytes);

/* A copy of a text, with a NUL behind it. NULL when memory is out. */
char *emu_arena_text(emu_arena *arena, const char *text, size_t text_bytes);

/* Room for one more item behind `count` items of a growing array: `items` itself when its capacity
 * suffices, otherwise a larger copy (the old one stays in the arena, so all copies together need
 * at most twice the last one's room).
 * Errors: NULL when memory is out or the array cannot grow; items and *capacity are untouched */
void *emu_arena_grow(emu_arena *arena, void *items, uint32_t count, uint32_t *capacity,
                     size_t item_bytes);

/* Gives everything back. The arena is then empty and can be used no more. */
void emu_arena_free(emu_arena *arena);

#ifdef __cplusplus
}
#endif

#endif
