#include <assert.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/baton.h"
#include "drivers/emu/fibers.h"
#include "drivers/emu/rehearsal.h"
#include "drivers/emu/run_choices.h"
#include "drivers/emu/schedule.h"
#include "drivers/emu/tsan.h"
#include "src/place.h"

/* The executors on threads and on fibers: each rank's function runs on a stack of its own, one at a
 * time, and a rank that gives way hands the turn straight to the next. Who is next is the
 * schedule's business. On threads the turn is a baton; on fibers all ranks share one thread of the
 * pool.
 *
 * The thread that called tutti_rehearse() waits for the end and is the watchdog. Between calls a
 * rank is outside of the gate; when it stays there for too long, the watchdog abandons the gate,
 * and from then on nobody but the watchdog touches the engine. A rank that is stuck in its own code
 * is left behind: what it may still use is freed by whoever uses it last. */

enum { NOW_LOOKS_MAX = 100 }; /* at the clock, without a call; further ones let time pass */

#define WATCH_INTERVAL_NS_MIN INT64_C(1000000) /* a watchdog that looks more often disturbs */

/* A rank and its thread. */
typedef struct thread_rank {
    tutti_rank base;     /* first */
    emu_baton turn;      /* given when it is this rank's turn again */
    emu_baton gone;      /* given when it has ended in a run that was given up */
    bool started;        /* its thread has been told to begin */
    bool ended;          /* its function has returned and the engine knows */
    bool in_function;    /* carries out a host function of some stream */
    uint32_t dead_calls; /* in a row that were told that the rank is past help */
    uint32_t now_looks;  /* at the clock since the last call */
    bool let_go;         /* fibers: it is over, in a run that was given up too */
    jmp_buf unwind;      /* to the start of the thread, for ranks that do not return */
} thread_rank;

typedef struct thread_run {
    emu_cluster cluster; /* first */
    emu_gate gate;
    emu_baton end;            /* given when all ranks have ended */
    bool abandoned;           /* the gate is, and ranks that wait for their turn are to end */
    atomic_int function_host; /* whose host function is under way; -1: none's */
    atomic_uint references;   /* the caller's, and one of each thread that was started */
    emu_choices *choices;     /* borrowed until the caller returns */
    emu_schedule *schedule;
    emu_thread_pool *pool; /* borrowed until the caller returns */
    emu_fiber_set *fibers; /* NULL: ranks are threads */
    bool fibers_owned;     /* the caller has left them to the run */
    int32_t first_host;    /* fibers: that is named first */
    tutti_rank_function *function;
    void *argument;
    thread_rank *ranks;
    char interface_order; /* its address: where TSan is told what calls promise to order */
    char end_order;       /* and that ranks end before the rehearsal does */
} thread_run;

static thread_run *run_of(emu_cluster *cluster) {
    return (thread_run *)cluster;
}

static thread_rank *rank_of(emu_cluster *cluster) {
    return (thread_rank *)emu_rank_of_thread(cluster);
}

/* --- The run's memory --- */

static void run_free(thread_run *run) {
    if (run->fibers_owned) emu_fiber_set_destroy(run->fibers);
    emu_schedule_destroy(run->schedule);
    emu_cluster_free(&run->cluster);
    free(run->ranks);
    free(run);
}

static void run_release(thread_run *run) {
    if (atomic_fetch_sub_explicit(&run->references, 1, memory_order_acq_rel) == 1) run_free(run);
}

/* --- Whose turn it is --- */

static void hand_over(thread_run *run, int32_t host) {
    thread_rank *next = &run->ranks[host];
    if (next->started) {
        emu_baton_give(&next->turn);
        return;
    }
    next->started = true;
    atomic_fetch_add_explicit(&run->references, 1, memory_order_relaxed);
    emu_thread_pool_start(run->pool, (uint32_t)host);
}

/* Others go on, and this rank when it is its turn again. */
static void pass_turn(thread_run *run, thread_rank *self, int32_t next) {
    if (run->fibers == NULL) {
        hand_over(run, next);
        emu_baton_take(&self->turn);
        return;
    }
    run->ranks[next].started = true;
    /* A place was noted already when this is about an argument of another call. */
    const tutti_place place = tutti_place_take();
    emu_fiber_switch(run->fibers, (int32_t)self->base.host, next);
    tutti_place_note(place.file, place.line);
    emu_rank_of_thread_set(&self->base);
}

/* Goes on when the schedule has named this rank; false: the run was given up. */
static bool give_way(thread_run *run, thread_rank *self, int32_t next) {
    if (next == EMU_SCHEDULE_ABANDONED) return false;
    assert(next >= 0); /* a run is not finished while a rank has not ended */
    if ((uint32_t)next == self->base.host) return true;
    pass_turn(run, self, next);
    return !run->abandoned;
}

/* --- What TSan is told --- */

/* What the interface promises to order is told coarsely: whatever a rank did before a call that
 * others can see comes before whatever a rank does after a call that waits or looks. That hides
 * some races between ranks, and invents none. */
static bool call_shows(emu_call_kind kind) {
    switch (kind) {
    case EMU_CALL_COMM_SYNC:
    case EMU_CALL_STREAM_SYNC:
    case EMU_CALL_EVENT_SYNC:
    case EMU_CALL_SLEEP:
    case EMU_CALL_EXIT:
        return false;
    default:
        return emu_call_is_point(kind) && !emu_call_is_look(kind);
    }
}

static bool call_sees(emu_call_kind kind) {
    switch (kind) {
    case EMU_CALL_MINT:
    case EMU_CALL_JOIN:
    case EMU_CALL_LEAVE:
    case EMU_CALL_COMM_SYNC:
    case EMU_CALL_STREAM_SYNC:
    case EMU_CALL_EVENT_SYNC:
    case EMU_CALL_GROUP_END:
        return true;
    default:
        return emu_call_is_look(kind);
    }
}

/* --- Calls --- */

typedef enum call_end {
    CALL_MADE,
    CALL_OVER,      /* not made: the hosts that are left have been given up */
    CALL_ABANDONED, /* the engine must not be touched any more */
} call_end;

/* The steps that schedule.h lists. */
static call_end make_call(thread_run *run, thread_rank *self, emu_call *call) {
    uint32_t host = self->base.host;
    emu_schedule *schedule = run->schedule;
    if (call->kind != EMU_CALL_EXIT && emu_schedule_is_over(schedule)) return CALL_OVER;
    if (emu_schedule_is_point(schedule, call->kind) &&
        !give_way(run, self, emu_schedule_point(schedule, call->kind)))
        return CALL_ABANDONED;
    if (emu_cluster_issue(&run->cluster, host, call) == EMU_BLOCKED) {
        emu_schedule_block(schedule, host);
        if (!give_way(run, self, emu_schedule_next(schedule))) return CALL_ABANDONED;
        if (call->kind != EMU_CALL_SLEEP) emu_tsan_acquire(&run->interface_order);
    }
    emu_cluster_note(&run->cluster, call);
    emu_schedule_done(schedule, host, call);
    return CALL_MADE;
}

/* A rank that is past help and calls on is not listened to for ever: its function is ended. */
static void count_dead_call(thread_rank *self) {
    if (++self->dead_calls >= EMU_DEAD_CALLS_MAX) longjmp(self->unwind, 1);
}

static tutti_status call_abandoned(thread_rank *self, emu_call *call) {
    tutti_status status = emu_refuse_abandoned(call);
    count_dead_call(self);
    return status;
}

static tutti_status threads_call(emu_cluster *cluster, emu_call *call) {
    thread_run *run = run_of(cluster);
    thread_rank *self = rank_of(cluster);
    if (self == NULL) return emu_refuse_stranger(call);
    if (self->in_function) return emu_refuse_in_function(call);
    if (!emu_gate_enter(&run->gate)) return call_abandoned(self, call);
    if (call_shows(call->kind)) emu_tsan_release(&run->interface_order);
    emu_tsan_hide_begin();
    self->now_looks = 0;
    call_end end = make_call(run, self, call);
    emu_tsan_hide_end();
    if (end == CALL_ABANDONED) return call_abandoned(self, call);
    emu_gate_leave(&run->gate);
    if (end == CALL_OVER) (void)emu_refuse_over(call);
    if (call_sees(call->kind)) emu_tsan_acquire(&run->interface_order);
    tutti_status status = call->status;
    if (end == CALL_OVER || status == TUTTI_KILLED || status == TUTTI_UNRESPONSIVE)
        count_dead_call(self);
    else
        self->dead_calls = 0;
    return status;
}

static bool threads_enter(emu_cluster *cluster) {
    thread_rank *self = rank_of(cluster);
    if (self == NULL || self->in_function || !emu_gate_enter(&run_of(cluster)->gate)) return false;
    emu_tsan_hide_begin();
    return true;
}

static void threads_leave(emu_cluster *cluster) {
    emu_tsan_hide_end();
    emu_gate_leave(&run_of(cluster)->gate);
}

static int64_t threads_now(emu_cluster *cluster) {
    thread_run *run = run_of(cluster);
    thread_rank *self = rank_of(cluster);
    if (self == NULL || self->in_function) return 0;
    if (!emu_gate_enter(&run->gate)) {
        count_dead_call(self);
        return 0;
    }
    emu_tsan_hide_begin();
    bool over = emu_schedule_is_over(run->schedule), alive = true;
    /* A loop that looks at the clock waits for time to pass, which it only does when nobody runs.
     */
    if (!over && ++self->now_looks > NOW_LOOKS_MAX)
        alive = give_way(run, self, emu_schedule_poll(run->schedule));
    int64_t now_ns = alive ? emu_engine_now(run->cluster.engine) : 0;
    emu_tsan_hide_end();
    emu_gate_leave(&run->gate);
    if (over || !alive) count_dead_call(self);
    return now_ns;
}

static const emu_executor threads_executor = {
    .call = threads_call,
    .now = threads_now,
    .enter = threads_enter,
    .leave = threads_leave,
};

/* A host function is the program's own code: outside of the gate, seen by TSan, and it may hang. */
static bool perform(void *context, const emu_effect *effect) {
    thread_run *run = context;
    if (effect->kind != EMU_EFFECT_FUNCTION) {
        emu_effect_perform(effect);
        return true;
    }
    thread_rank *self = rank_of(&run->cluster);
    assert(self != NULL); /* before the first rank runs, nothing is due */
    self->in_function = true;
    emu_tsan_hide_end();
    emu_tsan_acquire(&run->interface_order);
    atomic_store_explicit(&run->function_host, (int)effect->host, memory_order_relaxed);
    emu_gate_leave(&run->gate);
    emu_effect_perform(effect);
    bool alive = emu_gate_enter(&run->gate);
    atomic_store_explicit(&run->function_host, -1, memory_order_relaxed);
    emu_tsan_release(&run->interface_order);
    emu_tsan_hide_begin();
    self->in_function = false;
    return alive;
}

/* --- A rank from start to end --- */

/* Only this function's frame must outlive a longjmp, and it keeps nothing in variables. */
static void run_function(thread_run *run, thread_rank *self) {
    if (setjmp(self->unwind) == 0) run->function(&self->base, run->argument);
}

/* The engine learns that the rank has ended. Who goes on, or an emu_schedule number below 0. */
static int32_t exit_rank(thread_run *run, thread_rank *self) {
    emu_call call = {.kind = EMU_CALL_EXIT};
    if (make_call(run, self, &call) == CALL_ABANDONED) return EMU_SCHEDULE_ABANDONED;
    emu_schedule_exit(run->schedule, self->base.host);
    int32_t next = emu_schedule_next(run->schedule);
    if (next != EMU_SCHEDULE_ABANDONED) self->ended = true;
    return next;
}

/* The rank from its first turn to its last. Who goes on, as above. */
static int32_t run_rank(thread_run *run, thread_rank *self) {
    int32_t next = EMU_SCHEDULE_ABANDONED;
    emu_rank_of_thread_set(&self->base);
    emu_gate_leave(&run->gate);
    run_function(run, self);
    if (emu_gate_enter(&run->gate)) {
        emu_tsan_release(&run->end_order);
        emu_tsan_hide_begin();
        next = exit_rank(run, self);
        emu_tsan_hide_end();
    }
    emu_rank_of_thread_set(NULL);
    return next;
}

static void thread_main(void *argument) {
    thread_rank *self = argument;
    thread_run *run = run_of(self->base.cluster);
    int32_t next = run_rank(run, self);
    emu_tsan_hide_begin();
    if (next == EMU_SCHEDULE_FINISHED)
        emu_baton_give(&run->end);
    else if (next >= 0)
        hand_over(run, next);
    emu_tsan_hide_end();
    emu_baton_give(&self->gone);
    run_release(run);
}

/* --- Fibers --- */

/* In a run that was given up, the ranks that wait for their turn end one after the other, when the
 * one that was stuck has ended after all. */
static int32_t next_to_let_go(thread_run *run, const thread_rank *self) {
    for (uint32_t host = 0; host < run->cluster.rank_count; host++) {
        const thread_rank *rank = &run->ranks[host];
        if (rank != self && rank->started && !rank->ended && !rank->let_go) return (int32_t)host;
    }
    return EMU_FIBER_NONE;
}

static void fiber_main(void *argument) {
    thread_rank *self = argument;
    thread_run *run = run_of(self->base.cluster);
    int32_t next = run_rank(run, self);
    emu_tsan_hide_begin();
    self->let_go = true;
    if (next == EMU_SCHEDULE_ABANDONED) {
        run->abandoned = true; /* the watchdog has said so too, but on another thread */
        next = next_to_let_go(run, self);
    }
    if (next == EMU_SCHEDULE_FINISHED) next = EMU_FIBER_NONE;
    if (next >= 0) run->ranks[next].started = true;
    emu_fiber_set *fibers = run->fibers;
    uint32_t host = self->base.host;
    emu_tsan_hide_end();
    emu_tsan_release(&run->end_order); /* the thread ends after its fibers, however they end */
    emu_fiber_end(fibers, host, next);
}

/* The thread on which all ranks run. */
static void fibers_main(void *argument) {
    thread_run *run = argument;
    emu_tsan_hide_begin();
    run->ranks[run->first_host].started = true;
    emu_fiber_switch(run->fibers, EMU_FIBER_NONE, run->first_host);
    emu_tsan_acquire(&run->end_order);
    emu_baton_give(&run->end);
    run_release(run);
    emu_tsan_hide_end();
}

/* --- The watchdog --- */

/* Waits for the end; false: a rank did not come back, and the gate is abandoned. It counts looks
 * and not time, so that a program that was stopped and goes on is not blamed for the pause. */
static bool wait_for_end(thread_run *run, int64_t limit_ns) {
    int64_t interval_ns = limit_ns / EMU_WATCHES_PER_LIMIT;
    if (interval_ns < WATCH_INTERVAL_NS_MIN) interval_ns = WATCH_INTERVAL_NS_MIN;
    uint64_t seen = emu_gate_look(&run->gate);
    int quiet_looks = 0;
    while (!emu_baton_take_within(&run->end, interval_ns)) {
        uint64_t look = emu_gate_look(&run->gate);
        bool quiet = look == seen && emu_gate_side_of(look) == EMU_GATE_OUTSIDE;
        quiet_looks = quiet ? quiet_looks + 1 : 0;
        seen = look;
        if (quiet_looks >= EMU_WATCHES_PER_LIMIT && emu_gate_abandon(&run->gate, look))
            return false;
    }
    return true;
}

/* Lets one rank end, whose calls all fail now; false: it did not within the given time. */
static bool let_go(thread_rank *rank, int64_t limit_ns) {
    emu_baton_give(&rank->turn);
    return emu_baton_take_within(&rank->gone, limit_ns);
}

/* Lets the ranks that wait for their turn end, one after the other, and leaves behind those that do
 * not come back; the first of those is the current one. */
static void let_all_go(thread_run *run, int64_t limit_ns) {
    int32_t stuck = emu_schedule_current(run->schedule);
    int64_t until_ns = emu_real_now() + emu_let_go_budget(limit_ns);
    run->abandoned = true;
    for (uint32_t host = 0; host < run->cluster.rank_count; host++) {
        thread_rank *rank = &run->ranks[host];
        if (!rank->started || rank->ended) continue;
        int64_t left_ns = until_ns - emu_real_now();
        if (left_ns > limit_ns) left_ns = limit_ns;
        bool gone = (int32_t)host != stuck && let_go(rank, left_ns > 0 ? left_ns : 0);
        if (!gone) emu_thread_pool_abandon(run->pool, host);
    }
}

/* --- The rehearsal --- */

static tutti_status create_ranks(thread_run *run, tutti_error *error) {
    uint32_t count = run->cluster.rank_count;
    run->ranks = calloc(count, sizeof(*run->ranks));
    if (run->ranks == NULL)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for %" PRIu32 " ranks",
                               count);
    for (uint32_t host = 0; host < count; host++)
        run->ranks[host].base = (tutti_rank){.cluster = &run->cluster, .host = host};
    if (run->fibers == NULL) return emu_thread_pool_reserve(run->pool, count, error);
    tutti_status status = emu_thread_pool_reserve(run->pool, 1, error);
    return status == TUTTI_OK ? emu_fiber_set_reserve(run->fibers, count, error) : status;
}

static tutti_status create_schedule(thread_run *run, const emu_rehearsal *rehearsal,
                                    tutti_error *error) {
    const emu_schedule_config config = {
        .engine = run->cluster.engine,
        .host_count = run->cluster.rank_count,
        .choices = rehearsal->choices,
        .steps = rehearsal->steps,
        .perform = perform,
        .perform_context = run,
    };
    return emu_schedule_create(&config, &run->schedule, error);
}

static tutti_status run_create(const emu_rehearsal *rehearsal, emu_thread_pool *pool,
                               emu_fiber_set *fibers, thread_run **run_out, tutti_error *error) {
    thread_run *run = calloc(1, sizeof(*run));
    if (run == NULL)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for a rehearsal");
    atomic_init(&run->references, 1);
    atomic_init(&run->function_host, -1);
    run->pool = pool;
    run->fibers = fibers;
    run->function = rehearsal->function;
    run->argument = rehearsal->argument;
    run->choices = rehearsal->choices;
    tutti_status status = emu_cluster_init(&run->cluster, &threads_executor, rehearsal, error);
    if (status == TUTTI_OK) status = create_ranks(run, error);
    if (status == TUTTI_OK) status = create_schedule(run, rehearsal, error);
    if (status != TUTTI_OK) {
        run_release(run);
        return status;
    }
    *run_out = run;
    return TUTTI_OK;
}

static tutti_status create_report(thread_run *run, const tutti_rehearsal_options *options,
                                  int64_t real_ns, tutti_report **report_out, tutti_error *error) {
    char *choices = emu_choices_text(run->choices);
    if (choices == NULL)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for the report");
    const emu_report_extra extra = {
        .choices = choices, .name = options->name, .repeat = options->repeat, .real_ns = real_ns};
    tutti_status status = emu_report_create(run->cluster.engine, &extra, report_out, error);
    free(choices);
    return status;
}

static void start_threads(thread_run *run) {
    for (uint32_t host = 0; host < run->cluster.rank_count; host++)
        emu_thread_pool_assign(run->pool, host, thread_main, &run->ranks[host]);
    emu_tsan_hide_begin();
    hand_over(run, emu_schedule_next(run->schedule));
    emu_tsan_hide_end();
}

static void start_fibers(thread_run *run) {
    for (uint32_t host = 0; host < run->cluster.rank_count; host++)
        emu_fiber_assign(run->fibers, host, fiber_main, &run->ranks[host]);
    emu_tsan_hide_begin();
    run->first_host = emu_schedule_next(run->schedule);
    emu_tsan_hide_end();
    atomic_fetch_add_explicit(&run->references, 1, memory_order_relaxed);
    emu_thread_pool_assign(run->pool, 0, fibers_main, run);
    emu_thread_pool_start(run->pool, 0);
}

/* Whose code does not come back: a host function is its issuer's, whichever thread runs it. */
static uint32_t stuck_host(thread_run *run) {
    int host = atomic_load_explicit(&run->function_host, memory_order_relaxed);
    return host >= 0 ? (uint32_t)host : (uint32_t)emu_schedule_current(run->schedule);
}

/* The caller is alone with the fibers again; or they are the run's, whose thread may still be on
 * one of them. */
static void leave_fibers(thread_run *run, emu_fiber_set **fibers) {
    run->abandoned = true;
    run->fibers_owned = true;
    *fibers = NULL;
    emu_thread_pool_abandon(run->pool, 0);
}

static tutti_status rehearse(const emu_rehearsal *rehearsal, emu_thread_pool *pool,
                             emu_fiber_set **fibers, tutti_report **report_out,
                             tutti_error *error) {
    const tutti_rehearsal_options *options = &rehearsal->options;
    int64_t start_ns = emu_real_now();
    thread_run *run = NULL;
    emu_fiber_set *set = fibers != NULL ? *fibers : NULL;
    tutti_status status = run_create(rehearsal, pool, set, &run, error);
    if (status != TUTTI_OK) return status;
    if (fibers != NULL)
        start_fibers(run);
    else
        start_threads(run);
    bool ended = wait_for_end(run, options->unresponsive_ns);
    emu_tsan_acquire(&run->end_order);
    emu_tsan_hide_begin();
    if (!ended)
        emu_engine_unresponsive(run->cluster.engine, stuck_host(run), options->unresponsive_ns);
    /* Before anybody else ends: the report tells how it was when the run was given up. */
    status = create_report(run, options, emu_real_now() - start_ns, report_out, error);
    if (!ended && fibers != NULL)
        leave_fibers(run, fibers);
    else if (!ended)
        let_all_go(run, options->unresponsive_ns);
    emu_tsan_hide_end();
    run_release(run);
    return status;
}

tutti_status emu_rehearse_on_threads(const emu_rehearsal *rehearsal, emu_thread_pool *pool,
                                     tutti_report **report_out, tutti_error *error) {
    return rehearse(rehearsal, pool, NULL, report_out, error);
}

tutti_status emu_rehearse_on_fibers(const emu_rehearsal *rehearsal, emu_thread_pool *pool,
                                    emu_fiber_set **fibers, tutti_report **report_out,
                                    tutti_error *error) {
    tutti_status status = TUTTI_OK;
    if (*fibers == NULL)
        status = emu_fiber_set_create(rehearsal->options.stack_bytes, fibers, error);
    return status == TUTTI_OK ? rehearse(rehearsal, pool, fibers, report_out, error) : status;
}
