#include "drivers/emu/op_faults.h"

/* Virtual time: a binary heap of timers that are embedded in what they wake. Equal times fire in
 * the order of arming. */

static bool emu_timer_before(const emu_timer *a, const emu_timer *b) {
    if (a->when_ns != b->when_ns) return a->when_ns < b->when_ns;
    return a->order < b->order;
}

static void emu_clock_put(emu_clock *clock, uint32_t slot, emu_timer *timer) {
    clock->heap[slot] = timer;
    timer->slot = slot;
}

static void emu_clock_rise(emu_clock *clock, uint32_t slot, emu_timer *timer) {
    while (slot > 1 && emu_timer_before(timer, clock->heap[slot / 2])) {
        emu_clock_put(clock, slot, clock->heap[slot / 2]);
        slot /= 2;
    }
    emu_clock_put(clock, slot, timer);
}

static void emu_clock_sink(emu_clock *clock, uint32_t slot, emu_timer *timer) {
    for (;;) {
        uint32_t child = slot * 2;
        if (child > clock->count) break;
        if (child < clock->count && emu_timer_before(clock->heap[child + 1], clock->heap[child]))
            child++;
        if (!emu_timer_before(clock->heap[child], timer)) break;
        emu_clock_put(clock, slot, clock->heap[child]);
        slot = child;
    }
    emu_clock_put(clock, slot, timer);
}

bool emu_timer_arm(emu_engine *engine, emu_timer *timer, emu_timer_kind kind, void *owner,
                   int64_t duration_ns) {
    emu_clock *clock = &engine->clock;
    assert(timer->slot == 0);
    assert(duration_ns >= 0);
    if (!emu_grow(&clock->heap, clock->count + 1, &clock->room, sizeof(emu_timer *))) return false;
    bool endless = duration_ns > INT64_MAX - clock->now_ns;
    timer->when_ns = endless ? INT64_MAX : clock->now_ns + duration_ns;
    timer->order = clock->next_order++;
    timer->kind = (uint8_t)kind;
    timer->owner = owner;
    clock->count++;
    emu_clock_rise(clock, clock->count, timer);
    return true;
}

void emu_timer_cancel(emu_engine *engine, emu_timer *timer) {
    emu_clock *clock = &engine->clock;
    if (timer->slot == 0) return;
    uint32_t slot = timer->slot;
    emu_timer *last = clock->heap[clock->count--];
    timer->slot = 0;
    if (last == timer) return;
    if (slot > 1 && emu_timer_before(last, clock->heap[slot / 2]))
        emu_clock_rise(clock, slot, last);
    else
        emu_clock_sink(clock, slot, last);
}

int64_t emu_engine_now(const emu_engine *engine) {
    return engine->clock.now_ns;
}

bool emu_engine_next_timer(emu_engine *engine, int64_t *when_ns_out) {
    if (engine->clock.count == 0) return false;
    *when_ns_out = engine->clock.heap[1]->when_ns;
    return true;
}

static void emu_timer_fire(emu_engine *engine, emu_timer *timer) {
    emu_timer_cancel(engine, timer);
    engine->progress++;
    switch ((emu_timer_kind)timer->kind) {
    case EMU_TIMER_HOST_WAKE:
        emu_host_time_over(timer->owner);
        break;
    case EMU_TIMER_HOST_LIMIT:
        emu_host_limit_over(timer->owner);
        break;
    case EMU_TIMER_COMM_LIMIT:
        emu_comm_limit_over(timer->owner);
        break;
    case EMU_TIMER_KERNEL:
        emu_kernel_time_over(timer->owner);
        break;
    case EMU_TIMER_OP:
        emu_op_time_over(timer->owner);
        break;
    }
}

/* Time limits are explained while everybody still waits, and only then is anybody woken: so it does
 * not matter which of several limits of one moment comes first. Walks the due part of the heap. */
static void emu_clock_explain_limits(emu_engine *engine, int64_t now_ns) {
    const emu_clock *clock = &engine->clock;
    uint32_t slot = 1;
    while (slot != 0) {
        if (slot <= clock->count && clock->heap[slot]->when_ns <= now_ns) {
            emu_timer *timer = clock->heap[slot];
            if (timer->kind == EMU_TIMER_HOST_LIMIT)
                emu_diagnose_host_limit(timer->owner);
            else if (timer->kind == EMU_TIMER_COMM_LIMIT)
                emu_diagnose_comm_limit(timer->owner);
            slot *= 2;
            continue;
        }
        while ((slot & 1) != 0)
            slot >>= 1;
        if (slot != 0) slot++;
    }
}

void emu_engine_advance(emu_engine *engine, int64_t now_ns) {
    emu_clock *clock = &engine->clock;
    while (clock->count > 0 && clock->heap[1]->when_ns <= now_ns) {
        int64_t moment_ns = clock->heap[1]->when_ns;
        if (moment_ns > clock->now_ns) clock->now_ns = moment_ns;
        emu_clock_explain_limits(engine, moment_ns);
        while (clock->count > 0 && clock->heap[1]->when_ns <= moment_ns)
            emu_timer_fire(engine, clock->heap[1]);
        emu_streams_advance(engine);
    }
    if (now_ns > clock->now_ns) clock->now_ns = now_ns;
}
