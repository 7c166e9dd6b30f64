#ifndef TUTTI_EMU_HOST_SET_H
#define TUTTI_EMU_HOST_SET_H

/* A set of hosts that finds its next member quickly: a bit per host, and a bit per 64 of those.
 * Pure; allocates nothing but on creation. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct emu_host_set {
    uint64_t *bits;  /* by host; owned */
    uint64_t *words; /* by word of bits: whether it has a member; in the same allocation */
    uint32_t room;   /* hosts that may be members: 0 to room - 1 */
    uint32_t count;  /* members */
} emu_host_set;

/* Makes an empty set; false when memory is out. */
bool emu_host_set_init(emu_host_set *set, uint32_t room);
void emu_host_set_free(emu_host_set *set);

void emu_host_set_add(emu_host_set *set, uint32_t host);
void emu_host_set_remove(emu_host_set *set, uint32_t host);
bool emu_host_set_has(const emu_host_set *set, uint32_t host);

/* The first member at or above `from`, or else the first of all. Asserts that there is one. */
uint32_t emu_host_set_next(const emu_host_set *set, uint32_t from);

/* The member with the given place in the cyclic order that begins at `from`; 0 is
 * emu_host_set_next(). Asserts place < count. */
uint32_t emu_host_set_at(const emu_host_set *set, uint32_t from, uint32_t place);

/* Moves all members of one set into another of the same room. */
void emu_host_set_move(emu_host_set *from, emu_host_set *to);

#ifdef __cplusplus
}
#endif

#endif
