#ifndef TUTTI_EMU_SANITIZE_H
#define TUTTI_EMU_SANITIZE_H

/* What sanitizers are told about fibers: nothing where they are off. */

#include <stdbool.h>
#include <stddef.h>

#include "drivers/emu/tsan.h"

#if defined(__SANITIZE_ADDRESS__)
#define EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ASAN 1
#endif
#endif
#ifndef EMU_ASAN
#define EMU_ASAN 0
#endif

#if EMU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if EMU_TSAN
/* Of TSan's runtime. */
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_set_fiber_name(void *fiber, const char *name);
enum { EMU_TSAN_NO_SYNC = 1 }; /* a switch orders nothing: only the interface's edges do */
#endif

/* Makes every access to memory an error while it is closed, where ASan is on. NULL where it is off.
 */
typedef void emu_asan_guard(const void *data, size_t bytes, bool closed);

#if EMU_ASAN
static inline void emu_asan_close(const void *data, size_t bytes, bool closed) {
    if (closed)
        __asan_poison_memory_region(data, bytes);
    else
        __asan_unpoison_memory_region(data, bytes);
}
#endif

static inline emu_asan_guard *emu_asan_guard_or_null(void) {
#if EMU_ASAN
    return emu_asan_close;
#else
    return NULL;
#endif
}

typedef struct emu_sanitized_fiber {
#if EMU_ASAN
    const void *stack; /* unknown for a thread, until a fiber was entered from it */
    size_t stack_bytes;
    void *fake_stack;
#endif
#if EMU_TSAN
    void *tsan;
#endif
    char unused; /* a struct has a member */
} emu_sanitized_fiber;

static inline void emu_sanitized_fiber_destroy(emu_sanitized_fiber *fiber) {
#if EMU_TSAN
    if (fiber->tsan != NULL) __tsan_destroy_fiber(fiber->tsan);
    fiber->tsan = NULL;
#endif
    (void)fiber;
}

/* A fiber that has not run yet, on a stack. */
static inline void emu_sanitized_fiber_create(emu_sanitized_fiber *fiber, const void *stack,
                                              size_t stack_bytes) {
#if EMU_ASAN
    __asan_unpoison_memory_region(stack, stack_bytes); /* what ended there has not cleaned up */
    fiber->stack = stack;
    fiber->stack_bytes = stack_bytes;
    fiber->fake_stack = NULL;
#endif
#if EMU_TSAN
    emu_sanitized_fiber_destroy(fiber);
    fiber->tsan = __tsan_create_fiber(0);
#endif
    (void)fiber, (void)stack, (void)stack_bytes;
}

/* The calling thread is about to enter fibers. */
EMU_NO_TSAN static inline void emu_sanitized_fiber_here(emu_sanitized_fiber *thread) {
#if EMU_ASAN
    thread->stack = NULL;
    thread->stack_bytes = 0;
#endif
#if EMU_TSAN
    thread->tsan = __tsan_get_current_fiber();
#endif
    (void)thread;
}

/* The last thing before a switch; `ends`: it is for good. */
EMU_NO_TSAN static inline void emu_sanitized_fiber_leave(emu_sanitized_fiber *from,
                                                         emu_sanitized_fiber *to, bool ends) {
#if EMU_ASAN
    __sanitizer_start_switch_fiber(ends ? NULL : &from->fake_stack, to->stack, to->stack_bytes);
#endif
#if EMU_TSAN
    __tsan_switch_to_fiber(to->tsan, EMU_TSAN_NO_SYNC);
#endif
    (void)from, (void)to, (void)ends;
}

/* The first thing after it, on the other side. */
EMU_NO_TSAN static inline void emu_sanitized_fiber_entered(emu_sanitized_fiber *fiber,
                                                           emu_sanitized_fiber *thread) {
#if EMU_ASAN
    const void *left = NULL;
    size_t left_bytes = 0;
    __sanitizer_finish_switch_fiber(fiber->fake_stack, &left, &left_bytes);
    /* The first to be left is the thread, whose stack nobody knew. */
    if (thread->stack == NULL) {
        thread->stack = left;
        thread->stack_bytes = left_bytes;
    }
#endif
    (void)fiber, (void)thread;
}

#endif
