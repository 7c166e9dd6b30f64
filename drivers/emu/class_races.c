#include "drivers/emu/class_races.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/state.h"

#define NO_STEP UINT32_MAX

/* What the functions below share while they go through a run. */
typedef struct walk {
    emu_class_races *races;
    const emu_step_log *log;
    uint32_t host_count;
    emu_class_race_found *found;
    void *context;
} walk;

/* --- Memory --- */

static bool reserve(emu_class_races *races, const emu_step_log *log, uint32_t step_count,
                    uint32_t host_count) {
    size_t pasts = (size_t)step_count * host_count;
    if (pasts > races->past_room) {
        uint32_t *grown = realloc(races->pasts, 2 * pasts * sizeof(*grown));
        if (grown == NULL) return false;
        races->pasts = grown;
        races->past_room = 2 * pasts;
    }
    if (host_count > races->host_room) {
        uint32_t *grown = realloc(races->last_steps, 4 * host_count * sizeof(*grown));
        if (grown == NULL) return false;
        races->last_steps = grown;
        races->host_room = host_count;
    }
    races->counts = races->last_steps + races->host_room;
    races->counts_then = races->counts + races->host_room;
    races->counts_at_barrier = races->counts_then + races->host_room;
    uint32_t slots = EMU_HASH_SLOTS_MIN;
    while (slots < 2 * log->touch_count)
        slots *= 2;
    if (slots > races->slot_room) {
        free(races->slots);
        races->slot_room = 0;
        races->slots = malloc(slots * sizeof(*races->slots));
        if (races->slots == NULL) return false;
        races->slot_room = slots;
    }
    memset(races->slots, 0, races->slot_room * sizeof(*races->slots));
    races->use_count = 0;
    return true;
}

void emu_class_races_free(emu_class_races *races) {
    free(races->pasts);
    free(races->last_steps);
    free(races->slots);
    free(races->uses);
    free(races->rivals);
    *races = (emu_class_races){0};
}

/* --- What comes before a step --- */

static uint32_t *past_of(const walk *at, uint32_t step) {
    return &at->races->pasts[(size_t)step * at->host_count];
}

static void join_past(const walk *at, uint32_t step, uint32_t earlier) {
    uint32_t *past = past_of(at, step);
    const uint32_t *other = past_of(at, earlier);
    for (uint32_t host = 0; host < at->host_count; host++)
        if (other[host] > past[host]) past[host] = other[host];
}

/* The order that does not come from tokens: of the host's own steps, and of barriers. */
static void begin_past(const walk *at, uint32_t step) {
    emu_class_races *races = at->races;
    const emu_step *made = &at->log->steps[step];
    uint32_t *past = past_of(at, step);
    size_t bytes = at->host_count * sizeof(*past);
    if (made->after_barrier) memcpy(races->counts_at_barrier, races->counts, bytes);
    memcpy(past, made->after_all ? races->counts : races->counts_at_barrier, bytes);
    uint32_t last = races->last_steps[made->host];
    if (last != NO_STEP) join_past(at, step, last);
    past[made->host] = ++races->counts[made->host];
    races->last_steps[made->host] = step;
}

static bool comes_before(const walk *at, uint32_t earlier, uint32_t step) {
    uint32_t host = at->log->steps[earlier].host;
    return past_of(at, step)[host] >= past_of(at, earlier)[host];
}

/* --- Who has touched a token --- */

static emu_token_slot *slot_of(const emu_class_races *races, uint64_t token) {
    uint32_t slot = (uint32_t)token & (races->slot_room - 1);
    while (races->slots[slot].token != 0 && races->slots[slot].token != token)
        slot = (slot + 1) & (races->slot_room - 1);
    return &races->slots[slot];
}

static bool use_token(emu_class_races *races, const emu_touch *touch, uint32_t host,
                      uint32_t step) {
    emu_token_slot *slot = slot_of(races, touch->token);
    slot->token = touch->token;
    for (uint32_t use = slot->first_use; use != 0; use = races->uses[use - 1].next) {
        emu_token_use *at = &races->uses[use - 1];
        if (at->host != host || at->mode != (uint8_t)touch->mode) continue;
        at->step = step;
        return true;
    }
    if (!emu_grow(&races->uses, races->use_count, &races->use_room, sizeof(*races->uses)))
        return false;
    races->uses[races->use_count++] = (emu_token_use){
        .step = step, .host = (uint8_t)host, .mode = (uint8_t)touch->mode, .next = slot->first_use};
    slot->first_use = races->use_count;
    return true;
}

/* --- Rivals: earlier steps that a step does not commute with --- */

static bool add_rival(emu_class_races *races, uint32_t step, bool reversible) {
    for (uint32_t i = 0; i < races->rival_count; i++) {
        if (races->rivals[i].step != step) continue;
        races->rivals[i].reversible = races->rivals[i].reversible && reversible;
        return true;
    }
    if (!emu_grow(&races->rivals, races->rival_count, &races->rival_room, sizeof(*races->rivals)))
        return false;
    races->rivals[races->rival_count++] = (struct emu_rival){step, reversible};
    return true;
}

/* Latest first; there are few. */
static void sort_rivals(emu_class_races *races) {
    for (uint32_t i = 1; i < races->rival_count; i++) {
        struct emu_rival moved = races->rivals[i];
        uint32_t place = i;
        for (; place > 0 && races->rivals[place - 1].step < moved.step; place--)
            races->rivals[place] = races->rivals[place - 1];
        races->rivals[place] = moved;
    }
}

static bool find_rivals(const walk *at, uint32_t step) {
    emu_class_races *races = at->races;
    const emu_step *made = &at->log->steps[step];
    races->rival_count = 0;
    for (uint32_t i = 0; i < made->touch_count; i++) {
        const emu_touch *touch = &at->log->touches[made->first_touch + i];
        uint32_t use = slot_of(races, touch->token)->first_use;
        for (; use != 0; use = races->uses[use - 1].next) {
            const emu_token_use *earlier = &races->uses[use - 1];
            emu_touch_mode mode = (emu_touch_mode)earlier->mode;
            if (earlier->host == made->host || emu_touches_commute(mode, touch->mode)) continue;
            if (!add_rival(races, earlier->step, emu_touches_reversible(mode, touch->mode)))
                return false;
        }
    }
    sort_rivals(races);
    return true;
}

/* --- Pairs --- */

/* How many steps each host has made up to a step. */
static void count_steps(const walk *at, uint32_t step) {
    uint32_t *counts = at->races->counts_then;
    memset(counts, 0, at->host_count * sizeof(*counts));
    for (uint32_t i = 0; i <= step; i++)
        counts[at->log->steps[i].host]++;
}

/* Who could run in the place of `first`: whose next step, of those up to `second` that do not
 * follow from `first`, follows from none of the others either. */
static uint64_t initials_of(const walk *at, uint32_t first, uint32_t second) {
    const uint32_t *then = at->races->counts_then;
    uint64_t seen = 0, initials = 0;
    count_steps(at, first);
    for (uint32_t step = first + 1; step <= second; step++) {
        uint32_t host = at->log->steps[step].host;
        if ((seen & UINT64_C(1) << host) != 0) continue;
        if (step != second && comes_before(at, first, step)) continue;
        seen |= UINT64_C(1) << host;
        const uint32_t *past = past_of(at, step);
        bool is_initial = true;
        for (uint32_t other = 0; is_initial && other < at->host_count; other++)
            is_initial = other == host || past[other] <= then[other];
        if (is_initial) initials |= UINT64_C(1) << host;
    }
    return initials;
}

static void settle_rivals(const walk *at, uint32_t step) {
    const emu_class_races *races = at->races;
    for (uint32_t i = 0; i < races->rival_count; i++) {
        uint32_t earlier = races->rivals[i].step;
        if (comes_before(at, earlier, step)) continue;
        if (races->rivals[i].reversible) {
            const emu_class_race race = {
                .first_step = earlier,
                .second_step = step,
                .second_host = at->log->steps[step].host,
                .initials = initials_of(at, earlier, step),
            };
            at->found(at->context, &race);
        }
        join_past(at, step, earlier);
    }
}

bool emu_class_races_find(emu_class_races *races, const emu_step_log *log, uint32_t step_count,
                          uint32_t host_count, emu_class_race_found *found, void *context) {
    assert(host_count <= 64);
    if (!reserve(races, log, step_count, host_count)) return false;
    for (uint32_t host = 0; host < host_count; host++) {
        races->last_steps[host] = NO_STEP;
        races->counts[host] = races->counts_at_barrier[host] = 0;
    }
    const walk at = {races, log, host_count, found, context};
    for (uint32_t step = 0; step < step_count; step++) {
        const emu_step *made = &log->steps[step];
        begin_past(&at, step);
        if (!find_rivals(&at, step)) return false;
        settle_rivals(&at, step);
        for (uint32_t i = 0; i < made->touch_count; i++)
            if (!use_token(races, &log->touches[made->first_touch + i], made->host, step))
                return false;
    }
    return true;
}
