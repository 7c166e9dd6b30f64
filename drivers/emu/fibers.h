#ifndef TUTTI_EMU_FIBERS_H
#define TUTTI_EMU_FIBERS_H

/* Fibers: stacks of their own that take turns on one thread. Handing over is a handful of
 * instructions. A set of fibers belongs to one thread at a time; its stacks are used again and
 * again.
 *
 * Fibers share the thread's identity, and thread-local variables. errno, and the C++ exceptions
 * that are being handled, are kept apart. */

#include <stddef.h>
#include <stdint.h>

#include "tutti/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct emu_fiber_set emu_fiber_set;

/* What a fiber does. It must not return: it ends with emu_fiber_end(). */
typedef void emu_fiber_function(void *argument);

enum { EMU_FIBER_NONE = -1 }; /* not a fiber: the thread that entered the set */

/* An empty set. `stack_bytes` is raised to what the system, and sanitizers, need.
 * Errors: TUTTI_OUT_OF_MEMORY */
tutti_status emu_fiber_set_create(size_t stack_bytes, emu_fiber_set **set_out, tutti_error *error);

/* No fiber may be under way, or ever go on. NULL does nothing. */
void emu_fiber_set_destroy(emu_fiber_set *set);

/* Makes sure that there are stacks for fibers 0 to count - 1.
 * Errors: TUTTI_OUT_OF_MEMORY: the set has the stacks that it had before */
tutti_status emu_fiber_set_reserve(emu_fiber_set *set, uint32_t count, tutti_error *error);

/* Says what a fiber is to do when it is entered for the first time. */
void emu_fiber_assign(emu_fiber_set *set, uint32_t fiber, emu_fiber_function *function,
                      void *argument);

/* Goes on with fiber `to`, and comes back when somebody goes on with `from`; EMU_FIBER_NONE is the
 * thread. */
void emu_fiber_switch(emu_fiber_set *set, int32_t from, int32_t to);

/* The fiber is over; goes on with `to` for good. Does not return. */
void emu_fiber_end(emu_fiber_set *set, uint32_t from, int32_t to);

#ifdef __cplusplus
}
#endif

#endif
