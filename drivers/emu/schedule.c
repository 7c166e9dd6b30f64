#include "drivers/emu/schedule.h"

#include <assert.h>
#include <stdlib.h>

#include "drivers/emu/host_set.h"

/* What the schedule knows of a host besides the sets that it is in. */
typedef struct host_record {
    emu_idle idle;
    const void *looks_at; /* what it looked at last that was not ready; NULL: nothing */
    uint32_t looks_again; /* at it, while others could go on */
} host_record;

/* A host is ready (the current one, too, while it runs), polling, or, in neither set, blocked or
 * gone. One that has never been named is ready. */
struct emu_schedule {
    emu_schedule_config config;
    emu_host_set ready;
    emu_host_set polling;
    emu_host_set restless; /* pollers that may look again before anything has moved */
    host_record *hosts;
    int32_t current;
    uint32_t turn_points;   /* points in a row of the current host */
    uint32_t rounds;        /* times that the clock was moved for pollers alone */
    uint32_t releases;      /* times that pollers looked again without that */
    uint64_t poll_progress; /* the engine's progress when pollers last looked */
    uint32_t settles;       /* times that the run was stuck */
    bool over;
    bool diverged; /* that the run is not the given one has been told */
};

/* --- Creation --- */

static bool perform_here(void *context, const emu_effect *effect) {
    (void)context;
    emu_effect_perform(effect);
    return true;
}

tutti_status emu_schedule_create(const emu_schedule_config *config, emu_schedule **schedule_out,
                                 tutti_error *error) {
    assert(config->host_count >= 1 && config->host_count <= TUTTI_RANKS_MAX);
    emu_schedule *schedule = calloc(1, sizeof(*schedule));
    if (schedule == NULL) goto out_of_memory;
    schedule->config = *config;
    if (config->perform == NULL) schedule->config.perform = perform_here;
    schedule->current = -1;
    schedule->hosts = calloc(config->host_count, sizeof(*schedule->hosts));
    if (schedule->hosts == NULL || !emu_host_set_init(&schedule->ready, config->host_count) ||
        !emu_host_set_init(&schedule->polling, config->host_count) ||
        !emu_host_set_init(&schedule->restless, config->host_count))
        goto out_of_memory;
    for (uint32_t host = 0; host < config->host_count; host++)
        emu_host_set_add(&schedule->ready, host);
    *schedule_out = schedule;
    return TUTTI_OK;

out_of_memory:
    emu_schedule_destroy(schedule);
    return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for the schedule of %u ranks",
                           config->host_count);
}

void emu_schedule_destroy(emu_schedule *schedule) {
    if (schedule == NULL) return;
    emu_host_set_free(&schedule->ready);
    emu_host_set_free(&schedule->polling);
    emu_host_set_free(&schedule->restless);
    free(schedule->hosts);
    free(schedule);
}

int32_t emu_schedule_current(const emu_schedule *schedule) {
    return schedule->current;
}

bool emu_schedule_is_over(const emu_schedule *schedule) {
    return schedule->over;
}

/* --- Kinds of calls --- */

enum {
    POINT = 1,   /* others may come before it */
    LOOKS = 2,   /* changes nothing */
    ENQUEUES = 4 /* when it succeeds, there is something that was not there before */
};

static const uint8_t call_traits[EMU_CALL_KIND_COUNT] = {
    [EMU_CALL_MINT] = POINT,
    [EMU_CALL_JOIN] = POINT | ENQUEUES,
    [EMU_CALL_LEAVE] = POINT | ENQUEUES,
    [EMU_CALL_ABORT] = POINT | ENQUEUES,
    [EMU_CALL_COMM_STATUS] = POINT | LOOKS,
    [EMU_CALL_COMM_SYNC] = POINT,
    [EMU_CALL_COPY] = POINT | ENQUEUES,
    [EMU_CALL_FILL] = POINT | ENQUEUES,
    [EMU_CALL_KERNEL] = POINT | ENQUEUES,
    [EMU_CALL_STREAM_SYNC] = POINT,
    [EMU_CALL_STREAM_QUERY] = POINT | LOOKS,
    [EMU_CALL_EVENT_RECORD] = POINT | ENQUEUES,
    [EMU_CALL_EVENT_WAIT] = POINT | ENQUEUES,
    [EMU_CALL_EVENT_SYNC] = POINT,
    [EMU_CALL_EVENT_QUERY] = POINT | LOOKS,
    [EMU_CALL_ALL_REDUCE] = POINT | ENQUEUES,
    [EMU_CALL_SEND] = POINT | ENQUEUES,
    [EMU_CALL_RECV] = POINT | ENQUEUES,
    [EMU_CALL_GROUP_END] = POINT,
    [EMU_CALL_SLEEP] = POINT,
    [EMU_CALL_EXIT] = POINT,
};

static bool call_has(emu_call_kind kind, unsigned trait) {
    assert((uint32_t)kind < EMU_CALL_KIND_COUNT);
    return (call_traits[kind] & trait) != 0;
}

bool emu_call_is_point(emu_call_kind kind) {
    return call_has(kind, POINT);
}

bool emu_call_is_look(emu_call_kind kind) {
    return call_has(kind, LOOKS);
}

bool emu_schedule_is_point(const emu_schedule *schedule, emu_call_kind kind) {
    assert(schedule->current >= 0);
    return emu_call_is_point(kind) ||
           schedule->hosts[schedule->current].idle.calls >= EMU_IDLE_CALLS_MAX;
}

/* --- What hosts do --- */

void emu_schedule_block(emu_schedule *schedule, uint32_t host) {
    emu_host_set_remove(&schedule->ready, host);
}

void emu_schedule_exit(emu_schedule *schedule, uint32_t host) {
    emu_host_set_remove(&schedule->ready, host);
    emu_host_set_remove(&schedule->polling, host);
    emu_host_set_remove(&schedule->restless, host);
}

/* Adds a call to those that do nothing, if it is one. Made for ever while nothing moves, they are a
 * poll too: a loop on an operation that is over, on a communicator that has failed, on a variable
 * that another rank would set. */
void emu_idle_count(uint64_t progress, const emu_call *call, emu_idle *idle) {
    bool enqueued = call->status == TUTTI_OK && call_has(call->kind, ENQUEUES);
    if (progress != idle->progress || enqueued) {
        idle->progress = progress;
        idle->calls = 0;
        return;
    }
    bool failed = call->status != TUTTI_OK && call->status != TUTTI_IN_PROGRESS;
    idle->calls += failed ? EMU_FAILED_CALL_WEIGHT : 1;
    if (idle->calls > EMU_IDLE_CALLS_MAX) idle->calls = EMU_IDLE_CALLS_MAX;
}

/* What a call looks at: one of these is set. */
static const void *looked_at(const emu_call *call) {
    if (call->event != NULL) return call->event;
    return call->comm != NULL ? (const void *)call->comm : (const void *)call->stream;
}

void emu_schedule_done(emu_schedule *schedule, uint32_t host, const emu_call *call) {
    host_record *record = &schedule->hosts[host];
    emu_idle_count(emu_engine_progress(schedule->config.engine), call, &record->idle);
    if (!call_has(call->kind, LOOKS)) return;
    if (call->polled) {
        record->looks_at = looked_at(call);
    } else if (record->looks_at == looked_at(call)) {
        /* It got what it waited for: the next wait starts with small steps again. */
        record->looks_at = NULL;
        schedule->rounds = 0;
    }
}

/* Lets pollers look again. */
static void release_pollers(emu_schedule *schedule) {
    schedule->poll_progress = emu_engine_progress(schedule->config.engine);
    while (schedule->polling.count > 0) {
        uint32_t host = emu_host_set_next(&schedule->polling, 0);
        if (!emu_host_set_has(&schedule->restless, host))
            emu_step_await_all(schedule->config.steps, host);
        schedule->hosts[host].looks_again = 0;
        emu_host_set_remove(&schedule->polling, host);
        emu_host_set_remove(&schedule->restless, host);
        emu_host_set_add(&schedule->ready, host);
    }
}

static bool has_news(const emu_schedule *schedule) {
    return emu_engine_progress(schedule->config.engine) != schedule->poll_progress;
}

int32_t emu_schedule_poll(emu_schedule *schedule) {
    assert(schedule->current >= 0);
    emu_host_set_remove(&schedule->ready, (uint32_t)schedule->current);
    emu_host_set_add(&schedule->polling, (uint32_t)schedule->current);
    return emu_schedule_next(schedule);
}

int32_t emu_schedule_point(emu_schedule *schedule, emu_call_kind kind) {
    assert(schedule->current >= 0);
    const host_record *record = &schedule->hosts[schedule->current];
    bool looks_again = record->looks_at != NULL && call_has(kind, LOOKS);
    schedule->turn_points++;
    if (kind == EMU_CALL_EXIT)
        emu_engine_host_ends(schedule->config.engine, (uint32_t)schedule->current);
    /* A host that is never held up must not keep pollers from what it did for them. */
    if (schedule->turn_points >= EMU_TURN_POINTS_MAX && has_news(schedule))
        release_pollers(schedule);
    bool idle = record->idle.calls >= EMU_IDLE_CALLS_MAX;
    if (!looks_again && !idle) return emu_schedule_next(schedule);
    if (!idle && record->looks_again < EMU_LOOKS_AGAIN_MAX)
        emu_host_set_add(&schedule->restless, (uint32_t)schedule->current);
    return emu_schedule_poll(schedule);
}

/* --- Nobody is ready: time passes --- */

/* Moves the clock for pollers, who may wait for nothing but time: in small steps, so that they see
 * whatever happens early, and then in larger ones. Never beyond the next timer. */
static bool force_round(emu_schedule *schedule) {
    emu_engine *engine = schedule->config.engine;
    if (schedule->rounds >= EMU_POLL_ROUNDS + EMU_POLL_DOUBLINGS) return false;
    int64_t step_ns = EMU_POLL_INTERVAL_NS;
    if (schedule->rounds >= EMU_POLL_ROUNDS) step_ns <<= schedule->rounds - EMU_POLL_ROUNDS + 1;
    int64_t now_ns = emu_engine_now(engine), timer_ns = 0;
    if (step_ns > INT64_MAX - now_ns) return false;
    int64_t target_ns = now_ns + step_ns;
    if (emu_engine_next_timer(engine, &timer_ns) && timer_ns < target_ns) target_ns = timer_ns;
    schedule->rounds++;
    schedule->releases = 0;
    emu_step_barrier(schedule->config.steps);
    emu_engine_advance(engine, target_ns);
    return true;
}

static bool advance_to_timer(emu_schedule *schedule) {
    int64_t timer_ns = 0;
    if (!emu_engine_next_timer(schedule->config.engine, &timer_ns)) return false;
    schedule->releases = 0;
    emu_step_barrier(schedule->config.steps);
    emu_engine_advance(schedule->config.engine, timer_ns);
    return true;
}

void emu_schedule_blame(emu_engine *engine, uint32_t host) {
    emu_call call = {.kind = EMU_CALL_WRONG,
                     .name = "calls again and again, and nothing can move any more: a loop that "
                             "waits for something that no operation brings about"};
    (void)emu_engine_issue(engine, host, &call);
}

/* Programs that nothing but their own end could stop, and that nothing was wrong with until now. */
static void blame_pollers(emu_schedule *schedule) {
    for (uint32_t host = 0; host < schedule->config.host_count; host++)
        if (emu_host_set_has(&schedule->polling, host))
            emu_schedule_blame(schedule->config.engine, host);
}

/* Neither time nor anybody's call can move anything. */
static bool get_unstuck(emu_schedule *schedule) {
    bool pollers = schedule->polling.count > 0;
    emu_step_barrier(schedule->config.steps);
    if (emu_engine_settle(schedule->config.engine, pollers)) {
        schedule->settles++;
        if (schedule->settles >= EMU_SETTLES_MAX) schedule->over = true;
        return true;
    }
    if (!pollers) return false;
    if (schedule->settles == 0) blame_pollers(schedule);
    schedule->over = true;
    return true;
}

/* Nobody is ready and no effect is due. In this order: pollers look again if there is news; what
 * can be compared is compared; the clock moves, for pollers a little, else to the next timer; what
 * is stuck is diagnosed. False: there is nothing left to do. */
static bool move_on(emu_schedule *schedule) {
    bool pollers = schedule->polling.count > 0;
    bool look = schedule->releases < EMU_POLL_RELEASES_MAX && has_news(schedule);
    if (pollers && (look || schedule->over)) {
        schedule->releases++;
        release_pollers(schedule);
        return true;
    }
    if (emu_engine_examine(schedule->config.engine)) {
        emu_step_barrier(schedule->config.steps);
        return true;
    }
    if (pollers && force_round(schedule)) {
        release_pollers(schedule);
        return true;
    }
    return advance_to_timer(schedule) || get_unstuck(schedule);
}

/* --- Who is next --- */

/* Carries out what is due; false when the run is given up. */
static bool carry_out_effects(emu_schedule *schedule) {
    const emu_schedule_config *config = &schedule->config;
    emu_effect *effect;
    while ((effect = emu_engine_take_effect(config->engine)) != NULL) {
        if (!config->perform(config->perform_context, effect)) return false;
        emu_engine_effect_done(config->engine, effect);
    }
    return true;
}

static void take_woken(emu_schedule *schedule) {
    int32_t host;
    while ((host = emu_engine_take_woken(schedule->config.engine)) >= 0) {
        emu_host_set_add(&schedule->ready, (uint32_t)host);
        schedule->rounds = 0;
    }
}

/* A poller that looks again although others could go on. */
static uint32_t wake_restless(emu_schedule *schedule, uint32_t place) {
    uint32_t host = emu_host_set_at(&schedule->restless, 0, place);
    emu_host_set_remove(&schedule->restless, host);
    emu_host_set_remove(&schedule->polling, host);
    emu_host_set_add(&schedule->ready, host);
    schedule->hosts[host].looks_again++;
    return host;
}

static void tell_divergence(emu_schedule *schedule) {
    char text[EMU_DIVERGENCE_BYTES];
    const emu_divergence *divergence = &schedule->config.choices->divergence;
    if (!divergence->happened || schedule->diverged) return;
    schedule->diverged = true;
    emu_divergence_format(divergence, text, sizeof(text));
    uint32_t host = schedule->current < 0 ? 0 : (uint32_t)schedule->current;
    emu_engine_diverged(schedule->config.engine, host, text);
}

static int32_t pick(emu_schedule *schedule) {
    uint32_t from = schedule->current < 0 ? 0 : (uint32_t)schedule->current;
    if (schedule->turn_points >= EMU_TURN_POINTS_MAX) from++;
    const emu_question question = {
        .kind = EMU_CHOICE_RANK,
        .answer_count = schedule->ready.count + schedule->restless.count,
        .ready = &schedule->ready,
        .restless = &schedule->restless,
        .from = from,
    };
    uint32_t answer = emu_choose(schedule->config.choices, &question);
    tell_divergence(schedule);
    int32_t host = answer < schedule->ready.count
                       ? (int32_t)emu_host_set_at(&schedule->ready, from, answer)
                       : (int32_t)wake_restless(schedule, answer - schedule->ready.count);
    if (host != schedule->current || schedule->turn_points >= EMU_TURN_POINTS_MAX)
        schedule->turn_points = 0;
    schedule->current = host;
    emu_step_begin(schedule->config.steps, (uint32_t)host);
    return host;
}

static int32_t finish(emu_schedule *schedule) {
    emu_choices_end(schedule->config.choices);
    tell_divergence(schedule);
    return EMU_SCHEDULE_FINISHED;
}

int32_t emu_schedule_next(emu_schedule *schedule) {
    for (uint64_t step = 0; step < EMU_SCHEDULE_STEPS_MAX; step++) {
        if (!carry_out_effects(schedule)) return EMU_SCHEDULE_ABANDONED;
        take_woken(schedule);
        if (schedule->ready.count > 0) return pick(schedule);
        if (!move_on(schedule)) return finish(schedule);
    }
    assert(0 && "the engine goes on without getting anywhere");
    return EMU_SCHEDULE_FINISHED;
}
