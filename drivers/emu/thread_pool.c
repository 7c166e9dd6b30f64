#define _GNU_SOURCE /* sched_getcpu, cpu_set_t */
#include "drivers/emu/thread_pool.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/emu/baton.h"
#include "drivers/emu/tsan.h"

#if EMU_TSAN || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
enum { STACK_BYTES_MIN = 512 * 1024 }; /* sanitizers make every frame larger */
#else
enum { STACK_BYTES_MIN = 64 * 1024 }; /* what the library itself needs, with a margin */
#endif

typedef enum thread_order {
    ORDER_WORK,  /* wait for the next job */
    ORDER_END,   /* the pool joins the thread */
    ORDER_LEAVE, /* nobody joins the thread: it frees its own record */
} thread_order;

/* One thread. Every token of the baton is a job if `started`, and an order otherwise. */
typedef struct pool_thread {
    emu_baton baton;
    atomic_bool started;
    thread_order order;
    int cpu; /* to stay on; -1: any */
    emu_thread_job *job;
    void *argument;
    pthread_t id;
} pool_thread;

struct emu_thread_pool {
    emu_thread_pool_options options;
    int cpu;
    pool_thread **threads; /* by number; NULL: given up */
    uint32_t thread_count;
    uint32_t thread_room;
};

/* --- The threads --- */

static void stay_on(int cpu) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    /* It only makes handing over cheaper, so it may fail. */
    (void)sched_setaffinity(0, sizeof(set), &set);
}

static void *thread_main(void *argument) {
    pool_thread *self = argument;
    stay_on(self->cpu);
    for (;;) {
        emu_baton_take(&self->baton);
        emu_tsan_acquire(self);
        if (!atomic_exchange_explicit(&self->started, false, memory_order_relaxed)) break;
        self->job(self->argument);
        emu_tsan_release(self);
    }
    if (self->order == ORDER_LEAVE) free(self);
    return NULL;
}

static tutti_status complain(tutti_error *error, int code, uint32_t thread) {
    const char *advice = code == EAGAIN
                             ? ": the system gives no more of them (see ulimit -u, kernel.pid_max, "
                               "vm.max_map_count), or there is no memory for another stack"
                             : "";
    (void)tutti_error_set(error, TUTTI_SYSTEM, "thread %u could not be made%s", thread, advice);
    if (error != NULL) {
        error->native_domain = "errno";
        error->native_code = code;
    }
    return TUTTI_SYSTEM;
}

static int make_thread(const emu_thread_pool *pool, pool_thread *thread) {
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code != 0) return code;
    code = pthread_attr_setstacksize(&attributes, pool->options.stack_bytes);
    if (code == 0) code = pthread_create(&thread->id, &attributes, thread_main, thread);
    (void)pthread_attr_destroy(&attributes);
    return code;
}

/* --- The pool --- */

static size_t stack_bytes_for(size_t wanted) {
    long least = sysconf(_SC_THREAD_STACK_MIN), page = sysconf(_SC_PAGESIZE);
    size_t bytes = wanted;
    if (bytes < STACK_BYTES_MIN) bytes = STACK_BYTES_MIN;
    if (least > 0 && bytes < (size_t)least) bytes = (size_t)least;
    size_t page_bytes = page > 0 ? (size_t)page : 4096;
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

tutti_status emu_thread_pool_create(const emu_thread_pool_options *options,
                                    emu_thread_pool **pool_out, tutti_error *error) {
    emu_thread_pool *pool = calloc(1, sizeof(*pool));
    if (pool == NULL)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for a pool of threads");
    pool->options = *options;
    pool->options.stack_bytes = stack_bytes_for(options->stack_bytes);
    pool->cpu = options->one_cpu ? sched_getcpu() : -1;
    *pool_out = pool;
    return TUTTI_OK;
}

static void give_order(pool_thread *thread, thread_order order) {
    emu_tsan_acquire(thread);
    thread->order = order;
    emu_tsan_release(thread);
    emu_baton_give(&thread->baton);
}

void emu_thread_pool_destroy(emu_thread_pool *pool) {
    if (pool == NULL) return;
    for (uint32_t i = 0; i < pool->thread_count; i++)
        if (pool->threads[i] != NULL) give_order(pool->threads[i], ORDER_END);
    for (uint32_t i = 0; i < pool->thread_count; i++) {
        if (pool->threads[i] == NULL) continue;
        (void)pthread_join(pool->threads[i]->id, NULL);
        free(pool->threads[i]);
    }
    free(pool->threads);
    free(pool);
}

static bool make_room(emu_thread_pool *pool, uint32_t count) {
    if (count <= pool->thread_room) return true;
    pool_thread **threads = realloc(pool->threads, count * sizeof(*threads));
    if (threads == NULL) return false;
    pool->threads = threads;
    pool->thread_room = count;
    return true;
}

static tutti_status add_thread(emu_thread_pool *pool, uint32_t place, tutti_error *error) {
    pool_thread *thread = calloc(1, sizeof(*thread));
    if (thread == NULL)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for thread %u", place);
    thread->cpu = pool->cpu;
    int code = make_thread(pool, thread);
    if (code != 0) {
        free(thread);
        return complain(error, code, place);
    }
    pool->threads[place] = thread;
    return TUTTI_OK;
}

tutti_status emu_thread_pool_reserve(emu_thread_pool *pool, uint32_t count, tutti_error *error) {
    if (!make_room(pool, count))
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for %u threads", count);
    for (uint32_t i = 0; i < count; i++) {
        if (i < pool->thread_count && pool->threads[i] != NULL) continue;
        tutti_status status = add_thread(pool, i, error);
        if (status != TUTTI_OK) return status;
        if (i == pool->thread_count) pool->thread_count++;
    }
    return TUTTI_OK;
}

void emu_thread_pool_assign(emu_thread_pool *pool, uint32_t thread, emu_thread_job *job,
                            void *argument) {
    assert(thread < pool->thread_count);
    pool_thread *assigned = pool->threads[thread];
    emu_tsan_acquire(assigned);
    assigned->job = job;
    assigned->argument = argument;
    emu_tsan_release(assigned);
}

void emu_thread_pool_start(emu_thread_pool *pool, uint32_t thread) {
    pool_thread *started = pool->threads[thread];
    atomic_store_explicit(&started->started, true, memory_order_relaxed);
    emu_baton_give(&started->baton);
}

void emu_thread_pool_abandon(emu_thread_pool *pool, uint32_t thread) {
    assert(thread < pool->thread_count);
    pool_thread *abandoned = pool->threads[thread];
    pool->threads[thread] = NULL;
    (void)pthread_detach(abandoned->id);
    /* Behind its job, the thread finds the order and frees its record. */
    give_order(abandoned, ORDER_LEAVE);
}
