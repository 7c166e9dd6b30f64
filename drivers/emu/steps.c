#include "drivers/emu/steps.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/emu/state.h"

/* --- Memory --- */

/* Room for one more in an array; false, and the log is cut, when there is none. */
static bool room_for(emu_step_log *log, void *array_pointer, uint32_t count, uint32_t *room,
                     uint32_t limit, size_t element_bytes) {
    if (log->cut) return false;
    log->cut = count >= limit || !emu_grow(array_pointer, count, room, element_bytes);
    return !log->cut;
}

void emu_step_log_reset(emu_step_log *log, uint32_t host_count) {
    log->step_count = log->touch_count = 0;
    log->dependence_count = 1;
    log->visit = 0;
    log->barrier = log->cut = false;
    if (host_count > log->host_room) {
        uint32_t *awaited = realloc(log->awaited, host_count * sizeof(*awaited));
        log->cut = awaited == NULL;
        if (log->cut) return;
        log->awaited = awaited;
        log->host_room = host_count;
    }
    memset(log->awaited, 0, host_count * sizeof(*log->awaited));
}

void emu_step_log_free(emu_step_log *log) {
    free(log->steps);
    free(log->touches);
    free(log->dependences);
    free(log->awaited);
    free(log->walk);
    *log = (emu_step_log){0};
}

/* --- Steps --- */

void emu_step_begin(emu_step_log *log, uint32_t host) {
    if (log == NULL || !room_for(log, &log->steps, log->step_count, &log->step_room, EMU_STEPS_MAX,
                                 sizeof(*log->steps)))
        return;
    uint32_t awaited = log->awaited[host];
    log->awaited[host] = 0;
    log->steps[log->step_count++] = (emu_step){
        .host = host,
        .first_touch = log->touch_count,
        .after_barrier = log->barrier,
        .after_all = awaited == EMU_AWAITS_ALL,
    };
    log->barrier = false;
    if (awaited != EMU_AWAITS_ALL) emu_step_touch_all(log, awaited, EMU_TOUCH_AWAIT);
}

void emu_step_barrier(emu_step_log *log) {
    if (log != NULL) log->barrier = true;
}

static bool is_touched(const emu_step_log *log, const emu_step *step, uint64_t token,
                       emu_touch_mode mode) {
    for (uint32_t i = step->touch_count; i > 0; i--) {
        const emu_touch *touch = &log->touches[step->first_touch + i - 1];
        if (touch->token == token && touch->mode == mode) return true;
    }
    return false;
}

void emu_step_touch(emu_step_log *log, uint64_t token, emu_touch_mode mode) {
    if (log == NULL || log->cut || log->step_count == 0) return;
    emu_step *step = &log->steps[log->step_count - 1];
    if (log->barrier || is_touched(log, step, token, mode)) return;
    if (!room_for(log, &log->touches, log->touch_count, &log->touch_room, EMU_TOUCHES_MAX,
                  sizeof(*log->touches)))
        return;
    log->touches[log->touch_count++] = (emu_touch){token, mode};
    step->touch_count++;
}

/* --- Dependences --- */

static uint32_t new_dependence(emu_step_log *log, emu_dependence made) {
    if (!room_for(log, &log->dependences, log->dependence_count, &log->dependence_room,
                  EMU_TOUCHES_MAX, sizeof(*log->dependences)))
        return 0;
    log->dependences[log->dependence_count] = made;
    return log->dependence_count++;
}

uint32_t emu_depend_on(emu_step_log *log, uint32_t list, uint64_t token) {
    if (log == NULL) return 0;
    if (list != 0 && log->dependences[list].token == token) return list;
    return new_dependence(log, (emu_dependence){.token = token, .next = list});
}

uint32_t emu_depend_on_all(emu_step_log *log, uint32_t list, uint32_t other) {
    if (log == NULL || other == 0 || other == list) return list;
    if (list == 0) return other;
    return new_dependence(log, (emu_dependence){.next = list, .branch = other});
}

/* Keeps a list for later; false when memory is out. */
static bool walk_later(emu_step_log *log, uint32_t count, uint32_t list) {
    if (!room_for(log, &log->walk, count, &log->walk_room, EMU_TOUCHES_MAX, sizeof(*log->walk)))
        return false;
    log->walk[count] = list;
    return true;
}

void emu_step_touch_all(emu_step_log *log, uint32_t list, emu_touch_mode mode) {
    if (log == NULL || list == 0 || log->cut) return;
    uint32_t waiting = 0;
    log->visit++;
    for (;;) {
        while (list != 0 && log->dependences[list].visit != log->visit) {
            emu_dependence *at = &log->dependences[list];
            at->visit = log->visit;
            if (at->token != 0) emu_step_touch(log, at->token, mode);
            if (at->branch != 0 && walk_later(log, waiting, at->branch)) waiting++;
            list = at->next;
        }
        if (waiting == 0) return;
        list = log->walk[--waiting];
    }
}

void emu_step_await_later(emu_step_log *log, uint32_t host, uint32_t list) {
    if (log == NULL || log->cut || host >= log->host_room) return;
    if (log->awaited[host] == EMU_AWAITS_ALL) return;
    log->awaited[host] = emu_depend_on_all(log, log->awaited[host], list);
}

void emu_step_await_all(emu_step_log *log, uint32_t host) {
    if (log != NULL && host < log->host_room) log->awaited[host] = EMU_AWAITS_ALL;
}

/* --- Tokens --- */

/* Mixes numbers into one; 0 stands for no token. */
uint64_t emu_token(emu_token_kind kind, uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t numbers[] = {(uint64_t)kind, a, b, c};
    uint64_t token = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        token = (token ^ numbers[i]) * UINT64_C(0x9E3779B97F4A7C15);
        token ^= token >> 29;
    }
    return token != 0 ? token : 1;
}

bool emu_touches_commute(emu_touch_mode a, emu_touch_mode b) {
    if (a == EMU_TOUCH_WRITE || b == EMU_TOUCH_WRITE) return false;
    return (a == EMU_TOUCH_ADD) == (b == EMU_TOUCH_ADD);
}

bool emu_touches_reversible(emu_touch_mode a, emu_touch_mode b) {
    return a != EMU_TOUCH_AWAIT && b != EMU_TOUCH_AWAIT;
}
