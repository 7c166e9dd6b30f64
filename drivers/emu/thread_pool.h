#ifndef TUTTI_EMU_THREAD_POOL_H
#define TUTTI_EMU_THREAD_POOL_H

/* Threads that wait for work and are used again and again: a rehearsal needs one per rank, and
 * making a thread costs more than most rehearsals do. Whoever makes a pool may use it for one run
 * after the other. Not for several threads at once, but for emu_thread_pool_start(). */

#include <stdbool.h>

#include "tutti/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct emu_thread_pool emu_thread_pool;

typedef void emu_thread_job(void *argument);

typedef struct emu_thread_pool_options {
    size_t stack_bytes; /* of each thread; raised to what the system, and sanitizers, need */
    bool one_cpu;       /* all threads stay on the CPU of whoever makes them: right when only one of
                           them runs at a time, since waking a thread on another CPU takes longer */
} emu_thread_pool_options;

/* Creates a pool without threads.
 * Errors: TUTTI_OUT_OF_MEMORY */
tutti_status emu_thread_pool_create(const emu_thread_pool_options *options,
                                    emu_thread_pool **pool_out, tutti_error *error);

/* Ends all threads, which must not be at work, and frees the pool. NULL does nothing. */
void emu_thread_pool_destroy(emu_thread_pool *pool);

/* Makes sure that there are threads 0 to count - 1.
 * Errors: TUTTI_SYSTEM (native code: errno's), TUTTI_OUT_OF_MEMORY: the pool has the threads that
 * it had before */
tutti_status emu_thread_pool_reserve(emu_thread_pool *pool, uint32_t count, tutti_error *error);

/* Says what a thread is to do, once it is started. What the caller did before is visible to the
 * job. */
void emu_thread_pool_assign(emu_thread_pool *pool, uint32_t thread, emu_thread_job *job,
                            void *argument);

/* Lets a thread do what it was assigned, once. From any thread: it does not touch the pool. */
void emu_thread_pool_start(emu_thread_pool *pool, uint32_t thread);

/* Gives a thread up that is at work and may never come back: it ends with its job, and the pool has
 * room for another one in its place. */
void emu_thread_pool_abandon(emu_thread_pool *pool, uint32_t thread);

#ifdef __cplusplus
}
#endif

#endif
