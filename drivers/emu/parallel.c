#define _GNU_SOURCE /* pthread_condattr_setclock */
#include "drivers/emu/parallel.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "drivers/emu/rehearsal.h"

/* Time that no wait of ours reaches. */
#define FOREVER_NS INT64_MAX

/* --- Creation --- */

/* A condition whose deadlines are on the clock that nobody sets. */
static bool signal_init(pthread_cond_t *signal) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) return false;
    bool made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(signal, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return made;
}

tutti_status parallel_init(parallel_run *run, const emu_executor *executor,
                           const tutti_rehearsal_options *options, tutti_error *error) {
    memset(run, 0, sizeof(*run));
    if (pthread_mutex_init(&run->lock, NULL) != 0) goto no_lock;
    if (!signal_init(&run->end_signal)) goto no_signal;
    const emu_rehearsal rehearsal = {.options = *options};
    tutti_status status = emu_cluster_init(&run->cluster, executor, &rehearsal, error);
    if (status == TUTTI_OK) {
        run->start_ns = emu_real_now();
        return TUTTI_OK;
    }
    (void)pthread_cond_destroy(&run->end_signal);
    (void)pthread_mutex_destroy(&run->lock);
    return status;

no_signal:
    (void)pthread_mutex_destroy(&run->lock);
no_lock:
    return tutti_error_set(error, TUTTI_SYSTEM, "the system gives no lock for the cluster");
}

void parallel_free(parallel_run *run) {
    emu_cluster_free(&run->cluster);
    (void)pthread_cond_destroy(&run->end_signal);
    (void)pthread_mutex_destroy(&run->lock);
}

bool parallel_host_init(parallel_run *run, parallel_host *host) {
    memset(host, 0, sizeof(*host));
    if (!signal_init(&host->signal)) return false;
    host->base = (tutti_rank){.cluster = &run->cluster, .host = run->host_count};
    host->inside = true;
    run->hosts[run->host_count] = host;
    run->host_count++;
    run->awake_count++;
    return true;
}

void parallel_host_free(parallel_host *host) {
    (void)pthread_cond_destroy(&host->signal);
}

/* --- Waiting and waking --- */

void parallel_wait(pthread_cond_t *signal, pthread_mutex_t *lock, int64_t duration_ns) {
    const int64_t second_ns = 1000000000;
    if (duration_ns <= 0) return;
    int64_t now_ns = emu_real_now();
    int64_t until_ns = duration_ns < INT64_MAX - now_ns ? now_ns + duration_ns : INT64_MAX;
    const struct timespec until = {.tv_sec = (time_t)(until_ns / second_ns),
                                   .tv_nsec = (long)(until_ns % second_ns)};
    (void)pthread_cond_timedwait(signal, lock, &until);
}

static void put_to_blocked(parallel_run *run, parallel_host *host) {
    host->blocked = true;
    host->previous_blocked = NULL;
    host->next_blocked = run->blocked;
    if (run->blocked != NULL) run->blocked->previous_blocked = host;
    run->blocked = host;
    run->awake_count--;
}

static void take_from_blocked(parallel_run *run, parallel_host *host) {
    if (host->previous_blocked != NULL)
        host->previous_blocked->next_blocked = host->next_blocked;
    else
        run->blocked = host->next_blocked;
    if (host->next_blocked != NULL) host->next_blocked->previous_blocked = host->previous_blocked;
    host->blocked = false;
    run->awake_count++;
}

void parallel_wake(parallel_run *run) {
    int32_t index;
    while ((index = emu_engine_take_woken(run->cluster.engine)) >= 0) {
        parallel_host *host = run->hosts[index];
        assert(host->blocked);
        take_from_blocked(run, host);
        (void)pthread_cond_signal(&host->signal);
    }
}

void parallel_move_clock(parallel_run *run) {
    emu_engine_advance(run->cluster.engine, emu_real_now() - run->start_ns);
}

static int64_t next_timer(const parallel_run *run) {
    int64_t when_ns = 0;
    return emu_engine_next_timer(run->cluster.engine, &when_ns) ? when_ns : FOREVER_NS;
}

/* The keeper sleeps until the timer that was next when it went to sleep. */
static void remind_keeper(parallel_run *run) {
    if (run->keeper != NULL && next_timer(run) < run->keeper_until_ns)
        (void)pthread_cond_signal(&run->keeper->signal);
}

/* Waits until the call of a blocked host is over. One of those that wait keeps the time for all. */
static void wait_for_call(parallel_run *run, parallel_host *self) {
    while (self->blocked) {
        if (run->keeper == NULL) run->keeper = self;
        if (run->keeper == self) {
            run->keeper_until_ns = next_timer(run);
            if (run->keeper_until_ns == FOREVER_NS)
                (void)pthread_cond_wait(&self->signal, &run->lock);
            else
                parallel_wait(&self->signal, &run->lock,
                              run->keeper_until_ns - (emu_real_now() - run->start_ns));
        } else {
            (void)pthread_cond_wait(&self->signal, &run->lock);
        }
        if (!self->blocked || run->abandoned) continue;
        parallel_move_clock(run);
        parallel_service(run, self);
    }
    if (run->keeper == self) run->keeper = NULL;
    /* Whoever was asked to keep the time may not have to wait any more by the time it gets here, so
     * everybody who leaves asks the next one as long as nobody keeps it. */
    if (run->keeper == NULL && run->blocked != NULL)
        (void)pthread_cond_signal(&run->blocked->signal);
}

/* --- Effects, and the end of what can move --- */

/* Carries an effect out, without the lock. A host function is the program's own code: meanwhile the
 * host is outside, and may turn out to be unresponsive. */
static void perform(parallel_run *run, parallel_host *self, emu_effect *effect) {
    bool function = effect->kind == EMU_EFFECT_FUNCTION, was_inside = self->inside;
    run->performing++;
    self->inside = was_inside && !function;
    self->passages++;
    (void)pthread_mutex_unlock(&run->lock);
    self->in_function = function;
    emu_effect_perform(effect);
    self->in_function = false;
    (void)pthread_mutex_lock(&run->lock);
    self->inside = was_inside;
    self->passages++;
    run->performing--;
    if (!run->abandoned) emu_engine_effect_done(run->cluster.engine, effect);
}

static void count_settle(parallel_run *run) {
    run->settles++;
    if (run->settles >= EMU_SETTLES_MAX) run->over = true;
}

/* Nobody runs: real time may still bring something, but when all have exited nobody waits for it.
 */
static bool get_unstuck(parallel_run *run) {
    emu_engine *engine = run->cluster.engine;
    if (emu_engine_examine(engine)) return true;
    int64_t timer_ns = next_timer(run);
    if (timer_ns != FOREVER_NS) {
        if (run->exited_count < run->host_count) return false;
        emu_engine_advance(engine, timer_ns);
        return true;
    }
    if (!emu_engine_settle(engine, false)) return false;
    count_settle(run);
    return true;
}

void parallel_service(parallel_run *run, parallel_host *self) {
    for (;;) {
        if (run->abandoned) return;
        parallel_wake(run);
        emu_effect *effect = emu_engine_take_effect(run->cluster.engine);
        if (effect != NULL) {
            perform(run, self, effect);
            continue;
        }
        bool stuck = run->knows_hosts && run->awake_count == 0 && run->performing == 0;
        if (stuck && get_unstuck(run)) continue;
        if (stuck && run->exited_count == run->host_count) {
            run->finished = true;
            (void)pthread_cond_signal(&run->end_signal);
        }
        break;
    }
    remind_keeper(run);
}

void parallel_settle_pollers(parallel_run *run) {
    emu_engine *engine = run->cluster.engine;
    if (emu_engine_settle(engine, true)) {
        count_settle(run);
    } else {
        for (uint32_t i = 0; i < run->host_count && run->settles == 0; i++)
            if (!run->hosts[i]->blocked && !run->hosts[i]->exited) emu_schedule_blame(engine, i);
        run->over = true;
    }
    parallel_wake(run);
    /* Somebody else than the watchdog carries out what is due now. */
    if (run->keeper != NULL) (void)pthread_cond_signal(&run->keeper->signal);
}

/* --- Calls --- */

static void note_polling(parallel_run *run, parallel_host *self, const emu_call *call) {
    emu_idle_count(emu_engine_progress(run->cluster.engine), call, &self->idle);
    self->polls = call->polled || self->idle.calls >= EMU_IDLE_CALLS_MAX;
}

static void make_call(parallel_run *run, parallel_host *self, emu_call *call) {
    parallel_move_clock(run);
    parallel_wake(run);
    self->polls = false;
    bool blocked = emu_cluster_issue(&run->cluster, self->base.host, call) == EMU_BLOCKED;
    if (blocked) put_to_blocked(run, self);
    parallel_service(run, self);
    if (blocked) wait_for_call(run, self);
    if (run->abandoned) return;
    emu_cluster_note(&run->cluster, call);
    note_polling(run, self, call);
}

/* A rank that is past help and calls on is not listened to for ever: its function is ended, where
 * it is ours to end. */
static void count_dead_call(parallel_host *self) {
    if (++self->dead_calls >= EMU_DEAD_CALLS_MAX && self->can_unwind) longjmp(self->unwind, 1);
}

static void pass(parallel_host *self, bool inside) {
    self->inside = inside;
    self->passages++;
}

tutti_status parallel_call(parallel_run *run, parallel_host *self, emu_call *call) {
    if (self->in_function) return emu_refuse_in_function(call);
    (void)pthread_mutex_lock(&run->lock);
    pass(self, true);
    bool over = run->over && call->kind != EMU_CALL_EXIT;
    if (!over && !run->abandoned) make_call(run, self, call);
    bool abandoned = run->abandoned;
    pass(self, false);
    (void)pthread_mutex_unlock(&run->lock);
    if (abandoned)
        (void)emu_refuse_abandoned(call);
    else if (over)
        (void)emu_refuse_over(call);
    tutti_status status = call->status;
    if (abandoned || over || status == TUTTI_KILLED || status == TUTTI_UNRESPONSIVE)
        count_dead_call(self);
    else
        self->dead_calls = 0;
    return status;
}

int64_t parallel_now(parallel_run *run, parallel_host *self) {
    if (self->in_function) return emu_real_now() - run->start_ns;
    (void)pthread_mutex_lock(&run->lock);
    self->passages++;
    bool dead = run->abandoned || run->over;
    (void)pthread_mutex_unlock(&run->lock);
    if (dead) count_dead_call(self);
    return emu_real_now() - run->start_ns;
}

bool parallel_enter(emu_cluster *cluster) {
    parallel_run *run = (parallel_run *)cluster;
    (void)pthread_mutex_lock(&run->lock);
    if (!run->abandoned) return true;
    (void)pthread_mutex_unlock(&run->lock);
    return false;
}

void parallel_leave(emu_cluster *cluster) {
    (void)pthread_mutex_unlock(&((parallel_run *)cluster)->lock);
}

void parallel_begin(parallel_run *run, parallel_host *self) {
    (void)pthread_mutex_lock(&run->lock);
    pass(self, false);
    (void)pthread_mutex_unlock(&run->lock);
}

void parallel_exit(parallel_run *run, parallel_host *self) {
    emu_call call = {.kind = EMU_CALL_EXIT};
    (void)pthread_mutex_lock(&run->lock);
    pass(self, true);
    if (!run->abandoned) make_call(run, self, &call);
    self->exited = true;
    run->exited_count++;
    run->awake_count--;
    parallel_service(run, self);
    (void)pthread_mutex_unlock(&run->lock);
}
