#ifndef TUTTI_EMU_FIBER_SWITCH_H
#define TUTTI_EMU_FIBER_SWITCH_H

/* Saving and going on with what runs on a stack: by a few instructions of our own where we know the
 * machine, else by the C library. */

#include <stddef.h>

#if !defined(EMU_FIBER_PORTABLE) && (defined(__x86_64__) || defined(__aarch64__)) &&               \
    !defined(__ILP32__)
#define EMU_FIBER_PORTABLE 0
#elif !defined(EMU_FIBER_PORTABLE)
#define EMU_FIBER_PORTABLE 1
#endif

#if EMU_FIBER_PORTABLE
#include <ucontext.h>
typedef ucontext_t emu_fiber_context;
#else
typedef struct emu_fiber_context {
    void *stack_pointer; /* below it lies all that is to be kept */
} emu_fiber_context;
#endif

/* A context that calls `entry` on a stack, which must not return. */
void emu_fiber_context_make(emu_fiber_context *context, void *stack, size_t stack_bytes,
                            void (*entry)(void));

/* Saves one and goes on with the other. */
void emu_fiber_context_switch(emu_fiber_context *from, emu_fiber_context *to);

#endif
