#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "drivers/emu/parallel.h"
#include "drivers/emu/rehearsal.h"

/* A rehearsal in real time: all ranks run at once. The thread that called tutti_rehearse() waits
 * for the end and is the watchdog, as in threads.c: a rank that does not come back is left behind,
 * and what it may still use is freed by whoever uses it last. */

#define WATCH_INTERVAL_NS_MIN INT64_C(1000000) /* a watchdog that looks more often disturbs */

typedef struct rehearsal_run {
    parallel_run parallel; /* first */
    parallel_host *ranks;
    atomic_uint references; /* the caller's, and one of each thread */
    tutti_rank_function *function;
    void *argument;
    uint64_t watched_progress; /* the engine's, when the watchdog last looked */
    uint32_t still_looks;      /* of the watchdog in a row, when all could only poll */
} rehearsal_run;

/* --- The run's memory --- */

static void run_free(rehearsal_run *run) {
    for (uint32_t i = 0; i < run->parallel.host_count; i++)
        parallel_host_free(&run->ranks[i]);
    parallel_free(&run->parallel);
    free(run->parallel.hosts);
    free(run->ranks);
    free(run);
}

static void run_release(rehearsal_run *run, uint32_t count) {
    if (atomic_fetch_sub_explicit(&run->references, count, memory_order_acq_rel) == count)
        run_free(run);
}

/* --- Ranks --- */

static parallel_host *rank_of(emu_cluster *cluster) {
    return (parallel_host *)emu_rank_of_thread(cluster);
}

static tutti_status rehearsal_call(emu_cluster *cluster, emu_call *call) {
    parallel_host *self = rank_of(cluster);
    if (self == NULL) return emu_refuse_stranger(call);
    return parallel_call((parallel_run *)cluster, self, call);
}

static int64_t rehearsal_now(emu_cluster *cluster) {
    parallel_host *self = rank_of(cluster);
    return self == NULL ? 0 : parallel_now((parallel_run *)cluster, self);
}

static bool rehearsal_enter(emu_cluster *cluster) {
    return rank_of(cluster) != NULL && parallel_enter(cluster);
}

static const emu_executor rehearsal_executor = {
    .call = rehearsal_call,
    .now = rehearsal_now,
    .enter = rehearsal_enter,
    .leave = parallel_leave,
};

/* Only this function's frame must outlive a longjmp, and it keeps nothing in variables. */
static void run_function(rehearsal_run *run, parallel_host *self) {
    self->can_unwind = true;
    if (setjmp(self->unwind) == 0) run->function(&self->base, run->argument);
    self->can_unwind = false;
}

static void rank_main(void *argument) {
    parallel_host *self = argument;
    rehearsal_run *run = (rehearsal_run *)self->base.cluster;
    emu_rank_of_thread_set(&self->base);
    parallel_begin(&run->parallel, self);
    run_function(run, self);
    parallel_exit(&run->parallel, self);
    emu_rank_of_thread_set(NULL);
    (void)pthread_mutex_lock(&run->parallel.lock);
    self->gone = true;
    (void)pthread_cond_signal(&run->parallel.end_signal);
    (void)pthread_mutex_unlock(&run->parallel.lock);
    run_release(run, 1);
}

/* --- The watchdog --- */

/* A rank that has been in its own code through several looks; NULL when there is none. */
static parallel_host *find_silent(rehearsal_run *run) {
    parallel_host *silent = NULL;
    for (uint32_t i = run->parallel.host_count; i-- > 0;) {
        parallel_host *host = &run->ranks[i];
        bool outside = !host->inside && !host->exited;
        bool quiet = outside && host->passages == host->seen_passages;
        host->seen_passages = host->passages;
        host->quiet_looks = quiet ? host->quiet_looks + 1 : 0;
        if (host->quiet_looks >= EMU_WATCHES_PER_LIMIT) silent = host;
    }
    return silent;
}

static bool all_poll(const rehearsal_run *run) {
    for (uint32_t i = 0; i < run->parallel.host_count; i++) {
        const parallel_host *host = &run->ranks[i];
        if (!host->blocked && !host->exited && !host->polls) return false;
    }
    return run->parallel.awake_count > 0;
}

/* Pollers are not blocked, so nobody but the watchdog sees that they wait in vain. */
static void look_at_pollers(rehearsal_run *run) {
    emu_engine *engine = run->parallel.cluster.engine;
    uint64_t progress = emu_engine_progress(engine);
    int64_t timer_ns = 0;
    bool still = progress == run->watched_progress && run->parallel.performing == 0 &&
                 !emu_engine_next_timer(engine, &timer_ns) && all_poll(run);
    run->watched_progress = progress;
    run->still_looks = still ? run->still_looks + 1 : 0;
    if (run->still_looks < EMU_WATCHES_PER_LIMIT) return;
    run->still_looks = 0;
    parallel_settle_pollers(&run->parallel);
}

static void give_up(rehearsal_run *run, const parallel_host *silent, int64_t limit_ns) {
    emu_engine_unresponsive(run->parallel.cluster.engine, silent->base.host, limit_ns);
    parallel_wake(&run->parallel);
    run->parallel.abandoned = true;
}

/* Waits for the end. With the lock. */
static void watch(rehearsal_run *run, int64_t limit_ns) {
    int64_t interval_ns = limit_ns / EMU_WATCHES_PER_LIMIT;
    if (interval_ns < WATCH_INTERVAL_NS_MIN) interval_ns = WATCH_INTERVAL_NS_MIN;
    int64_t look_ns = emu_real_now() + interval_ns;
    while (!run->parallel.finished && !run->parallel.abandoned) {
        parallel_wait(&run->parallel.end_signal, &run->parallel.lock, look_ns - emu_real_now());
        if (run->parallel.finished || emu_real_now() < look_ns) continue;
        look_ns = emu_real_now() + interval_ns;
        parallel_host *silent = find_silent(run);
        if (silent != NULL)
            give_up(run, silent, limit_ns);
        else
            look_at_pollers(run);
    }
}

/* Whether all have ended that may still be expected to. */
static bool all_gone(const rehearsal_run *run) {
    for (uint32_t i = 0; i < run->parallel.host_count; i++) {
        bool silent = run->ranks[i].quiet_looks >= EMU_WATCHES_PER_LIMIT;
        if (!run->ranks[i].gone && !silent) return false;
    }
    return true;
}

/* Waits until all ranks have ended, in a run that was given up only for some time, and leaves those
 * behind that have not. With the lock. */
static void wait_for_ranks(rehearsal_run *run, emu_thread_pool *pool, int64_t limit_ns) {
    int64_t until_ns = emu_real_now() + emu_let_go_budget(limit_ns);
    while (!all_gone(run)) {
        int64_t left_ns = run->parallel.abandoned ? until_ns - emu_real_now() : limit_ns;
        if (left_ns <= 0) break;
        parallel_wait(&run->parallel.end_signal, &run->parallel.lock, left_ns);
    }
    for (uint32_t i = 0; i < run->parallel.host_count; i++)
        if (!run->ranks[i].gone) emu_thread_pool_abandon(pool, i);
}

/* --- The rehearsal --- */

static tutti_status create_ranks(rehearsal_run *run, tutti_error *error) {
    uint32_t count = run->parallel.cluster.rank_count;
    run->ranks = calloc(count, sizeof(*run->ranks));
    run->parallel.hosts = calloc(count, sizeof(*run->parallel.hosts));
    if (run->ranks == NULL || run->parallel.hosts == NULL)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for %" PRIu32 " ranks",
                               count);
    for (uint32_t i = 0; i < count; i++)
        if (!parallel_host_init(&run->parallel, &run->ranks[i]))
            return tutti_error_set(error, TUTTI_SYSTEM,
                                   "the system gives no lock for rank %" PRIu32, i);
    return TUTTI_OK;
}

static tutti_status run_create(const emu_rehearsal *rehearsal, rehearsal_run **run_out,
                               tutti_error *error) {
    rehearsal_run *run = calloc(1, sizeof(*run));
    if (run == NULL)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for a rehearsal");
    run->function = rehearsal->function;
    run->argument = rehearsal->argument;
    tutti_status status =
        parallel_init(&run->parallel, &rehearsal_executor, &rehearsal->options, error);
    if (status != TUTTI_OK) {
        free(run);
        return status;
    }
    run->parallel.knows_hosts = true;
    atomic_init(&run->references, 1);
    status = create_ranks(run, error);
    if (status != TUTTI_OK) {
        run_free(run);
        return status;
    }
    *run_out = run;
    return TUTTI_OK;
}

static void start(rehearsal_run *run, emu_thread_pool *pool) {
    uint32_t count = run->parallel.host_count;
    atomic_store_explicit(&run->references, count + 1, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++)
        emu_thread_pool_assign(pool, i, rank_main, &run->ranks[i]);
    for (uint32_t i = 0; i < count; i++)
        emu_thread_pool_start(pool, i);
}

tutti_status emu_rehearse_in_parallel(const emu_rehearsal *rehearsal, emu_thread_pool *pool,
                                      tutti_report **report_out, tutti_error *error) {
    const tutti_rehearsal_options *options = &rehearsal->options;
    rehearsal_run *run = NULL;
    tutti_status status = run_create(rehearsal, &run, error);
    if (status != TUTTI_OK) return status;
    status = emu_thread_pool_reserve(pool, options->rank_count, error);
    if (status != TUTTI_OK) {
        run_free(run);
        return status;
    }
    start(run, pool);
    (void)pthread_mutex_lock(&run->parallel.lock);
    watch(run, options->unresponsive_ns);
    const emu_report_extra extra = {.choices = "",
                                    .name = options->name,
                                    .repeat = options->repeat,
                                    .real_ns = emu_real_now() - run->parallel.start_ns};
    status = emu_report_create(run->parallel.cluster.engine, &extra, report_out, error);
    wait_for_ranks(run, pool, options->unresponsive_ns);
    (void)pthread_mutex_unlock(&run->parallel.lock);
    run_release(run, 1);
    return status;
}
