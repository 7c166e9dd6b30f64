#include "drivers/emu/sweep.h"

#include <stdlib.h>
#include <string.h>

/* --- Points --- */

void emu_sweep_points_see(emu_sweep_points *points, const tutti_fault_site *site) {
    if (site->step != 0) points->step = site->step;
    if (site->rank < 0 || points->too_many || points->out_of_memory) return;
    if (points->count == TUTTI_SWEEP_POINTS_MAX) {
        points->too_many = true;
        return;
    }
    if (points->count == points->room) {
        uint32_t room = points->room == 0 ? 64 : points->room * 2;
        emu_sweep_point *grown = realloc(points->points, room * sizeof *grown);
        points->out_of_memory = grown == NULL;
        if (grown == NULL) return;
        points->points = grown;
        points->room = room;
    }
    bool link = site->point == TUTTI_FAULT_AT_LINK;
    points->points[points->count] = (emu_sweep_point){.step = points->step,
                                                      .found = points->count,
                                                      .rank = site->rank,
                                                      .peer = link ? site->peer : -1,
                                                      .point = site->point};
    points->count++;
}

static int compare(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* By the rule that names them. */
static int compare_rules(const void *a, const void *b) {
    const emu_sweep_point *x = a, *y = b;
    int order = compare((uint64_t)x->rank, (uint64_t)y->rank);
    if (order == 0) order = compare(x->point, y->point);
    if (order == 0) order = compare((uint64_t)(x->peer + 1), (uint64_t)(y->peer + 1));
    if (order == 0) order = compare(x->found, y->found);
    return order;
}

/* By rank, calls before links, in the order in which they were found. */
static int compare_calls(const void *a, const void *b) {
    const emu_sweep_point *x = a, *y = b;
    int order = compare(x->point == TUTTI_FAULT_AT_LINK, y->point == TUTTI_FAULT_AT_LINK);
    if (order == 0) order = compare((uint64_t)x->rank, (uint64_t)y->rank);
    if (order == 0) order = compare(x->found, y->found);
    return order;
}

/* First what happens early, on all ranks, so that a sweep that is cut short has seen all ranks. */
static int compare_steps(const void *a, const void *b) {
    const emu_sweep_point *x = a, *y = b;
    int order = compare(x->step, y->step);
    if (order == 0) order = compare((uint64_t)x->rank, (uint64_t)y->rank);
    if (order == 0) order = compare(x->found, y->found);
    return order;
}

static bool one_rule(const emu_sweep_point *a, const emu_sweep_point *b) {
    return a->rank == b->rank && a->point == b->point && a->peer == b->peer;
}

void emu_sweep_points_finish(emu_sweep_points *points) {
    emu_sweep_point *list = points->points;
    if (points->count == 0) return;
    qsort(list, points->count, sizeof *list, compare_rules);
    for (uint32_t i = 0; i < points->count; i++)
        list[i].hit = i > 0 && one_rule(&list[i - 1], &list[i]) ? list[i - 1].hit + 1 : 1;
    /* A rule at `step` fits every call of the rank. */
    uint64_t calls = 0;
    qsort(list, points->count, sizeof *list, compare_calls);
    for (uint32_t i = 0; i < points->count && list[i].point != TUTTI_FAULT_AT_LINK; i++) {
        calls = i > 0 && list[i - 1].rank == list[i].rank ? calls + 1 : 1;
        if (list[i].point == TUTTI_FAULT_AT_STEP) list[i].hit = calls;
    }
    qsort(list, points->count, sizeof *list, compare_steps);
}

void emu_sweep_points_free(emu_sweep_points *points) {
    free(points->points);
    points->points = NULL;
    points->count = points->room = 0;
}

/* --- Results --- */

static emu_sweep_result *result_slot(const emu_sweep_results *results, uint64_t subject) {
    uint32_t mask = results->room - 1, at = (uint32_t)(subject >> 32 ^ subject) & mask;
    while (results->slots[at].subject != 0 && results->slots[at].subject != subject)
        at = (at + 1) & mask;
    return &results->slots[at];
}

static bool results_grow(emu_sweep_results *results) {
    emu_sweep_results grown = *results;
    grown.room = results->room == 0 ? 64 : results->room * 2;
    grown.slots = calloc(grown.room, sizeof *grown.slots);
    if (grown.slots == NULL) return false;
    for (uint32_t i = 0; i < results->room; i++)
        if (results->slots[i].subject != 0)
            *result_slot(&grown, results->slots[i].subject) = results->slots[i];
    free(results->slots);
    *results = grown;
    return true;
}

void emu_sweep_results_see(emu_sweep_results *results, uint64_t subject, int32_t rank,
                           uint64_t hash) {
    if (results->differ || results->out_of_memory) return;
    if (results->count * 2 >= results->room && !results_grow(results)) {
        results->out_of_memory = true;
        return;
    }
    emu_sweep_result *slot = result_slot(results, subject);
    if (slot->subject == 0) {
        *slot = (emu_sweep_result){subject, hash, rank};
        results->count++;
    } else if (slot->hash != hash) {
        results->differ = true;
        results->ranks[0] = slot->rank;
        results->ranks[1] = rank;
    }
}

void emu_sweep_results_clear(emu_sweep_results *results) {
    if (results->count > 0) memset(results->slots, 0, results->room * sizeof *results->slots);
    results->count = 0;
    results->differ = results->out_of_memory = false;
}

void emu_sweep_results_free(emu_sweep_results *results) {
    free(results->slots);
    results->slots = NULL;
    results->count = results->room = 0;
}
