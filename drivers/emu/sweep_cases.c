#include "drivers/emu/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Which faults are tried at a point, and the plans that say so. */

#define BIT(name) (UINT32_C(1) << TUTTI_FAULT_##name)

enum {
    PLAN_BYTES = 256, /* of the rule that a case adds */
    ACTIONS_DEFAULT = BIT(FAIL) | BIT(REFUSE) | BIT(KILL) | BIT(DELAY) | BIT(HANG) | BIT(DROP),
    /* Where a loss is not seen by anybody, no program could notice. */
    POINTS_OF_SILENT_LOSS = BIT(AT_COPY) | BIT(AT_KERNEL) | BIT(AT_RECORD) | BIT(AT_WAIT),
};

static uint32_t actions_at(const emu_sweep *sweep, tutti_fault_point point) {
    uint32_t wanted = sweep->options.actions != 0 ? sweep->options.actions : ACTIONS_DEFAULT;
    uint32_t actions = wanted & tutti_fault_point_actions(point) & ~BIT(OFF);
    if (((uint32_t)POINTS_OF_SILENT_LOSS >> point & 1) != 0) actions &= ~BIT(DROP);
    return actions;
}

/* A rank that is dead, or never comes back, passes no point again. */
static bool happens_once(tutti_fault_kind action) {
    return action == TUTTI_FAULT_KILL || action == TUTTI_FAULT_HANG;
}

static bool is_swept(const emu_sweep *sweep, const emu_sweep_point *point) {
    return sweep->options.points == 0 || (sweep->options.points >> point->point & 1) != 0;
}

/* --- Plans --- */

static void put_action(const emu_sweep *sweep, tutti_fault_kind action, char *text, size_t bytes) {
    char delay[64];
    const char *name = tutti_fault_kind_name(action);
    switch (action) {
    case TUTTI_FAULT_DELAY:
        tutti_duration_format(sweep->options.delay_ns, delay, sizeof delay);
        snprintf(text, bytes, "%s(%s)", name, delay);
        break;
    case TUTTI_FAULT_REFUSE:
        snprintf(text, bytes, "%s(sweep)", name);
        break;
    case TUTTI_FAULT_FAIL:
        snprintf(text, bytes, "%s(%s)", name, tutti_status_name(sweep->options.fail_status));
        break;
    case TUTTI_FAULT_SLOW:
        snprintf(text, bytes, "%s(1000)", name);
        break;
    default:
        snprintf(text, bytes, "%s", name);
    }
}

static void put_plan(const emu_sweep *sweep, const tutti_sweep_case *fault, char *text,
                     size_t bytes) {
    char action[128], peer[32] = "", before[64] = "";
    put_action(sweep, fault->action, action, sizeof action);
    if (fault->peer >= 0) snprintf(peer, sizeof peer, ",peer=%" PRId32, fault->peer);
    if (fault->hit > 1) snprintf(before, sizeof before, "%" PRIu64 "*off->", fault->hit - 1);
    snprintf(text, bytes, "%s[rank=%" PRId32 "%s]=%s%s%s", tutti_fault_point_name(fault->point),
             fault->rank, peer, before, fault->for_ever ? "" : "1*", action);
}

/* --- Cases --- */

static bool add_case(emu_sweep *sweep, const emu_sweep_point *point, tutti_fault_kind action,
                     bool for_ever, uint32_t *capacity) {
    char plan[PLAN_BYTES];
    emu_arena *arena = &sweep->report->arena;
    uint64_t number = sweep->case_count + sweep->report->base.elsewhere_count;
    if (number % sweep->options.shard_count != sweep->options.shard_index) {
        sweep->report->base.elsewhere_count++;
        return true;
    }
    tutti_sweep_case *grown =
        emu_arena_grow(arena, sweep->cases, sweep->case_count, capacity, sizeof *grown);
    if (grown == NULL) return false;
    sweep->cases = grown;
    tutti_sweep_case *fault = &grown[sweep->case_count];
    *fault = (tutti_sweep_case){.point = point->point,
                                .action = action,
                                .rank = point->rank,
                                .peer = point->peer,
                                .hit = point->hit,
                                .for_ever = for_ever,
                                .result = TUTTI_SWEEP_NOT_RUN,
                                .reason = "",
                                .report = ""};
    put_plan(sweep, fault, plan, sizeof plan);
    fault->plan = emu_arena_text(arena, plan, strlen(plan));
    if (fault->plan == NULL) return false;
    sweep->case_count++;
    return true;
}

bool emu_sweep_make_cases(emu_sweep *sweep) {
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < sweep->points.count; i++) {
        const emu_sweep_point *point = &sweep->points.points[i];
        if (!is_swept(sweep, point)) continue;
        uint32_t actions = actions_at(sweep, point->point);
        for (int kind = 0; kind < TUTTI_FAULT_KIND_COUNT; kind++) {
            tutti_fault_kind action = (tutti_fault_kind)kind;
            if ((actions >> kind & 1) == 0) continue;
            if (!add_case(sweep, point, action, false, &capacity)) return false;
            if (happens_once(action) || sweep->options.once_only != 0) continue;
            if (!add_case(sweep, point, action, true, &capacity)) return false;
        }
    }
    return true;
}
