#include "drivers/emu/class_search.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/class_races.h"
#include "drivers/emu/state.h"

/* What a host's step touched when it was tried from a node, as far as is known. */
typedef struct footprint {
    emu_touch *touches;
    uint32_t touch_count, touch_room;
} footprint;

/* A host that need not be tried below a node: what it would do there has been tried before, and
 * nothing that has happened since makes it come out otherwise. */
typedef struct sleeper {
    uint32_t host;
    footprint print;
} sleeper;

/* A question of the current run. */
typedef struct node {
    bool is_rank;
    uint32_t answer_count;
    uint32_t chosen;    /* rank: the host; else the answer */
    uint32_t step;      /* rank: that it begins */
    uint64_t enabled;   /* rank: a bit for each host that could be named */
    uint64_t restless;  /* of those, the ones that only look again */
    uint64_t backtrack; /* of those, the ones to be tried */
    uint64_t done;      /* and the ones that have been */
    footprint print;    /* of the chosen host's step */
    sleeper *sleepers;  /* asleep on entry, then the done ones */
    uint32_t sleeper_count, sleeper_room;
    uint64_t asleep; /* their bits */
} node;

struct emu_class_search {
    uint32_t host_count;
    node *nodes; /* node_room of them, whose memory is used again */
    uint32_t node_count, node_room;
    uint32_t at;        /* questions asked in the current run */
    uint32_t last_rank; /* place of the last question of kind rank, plus 1; 0: none yet */
    bool started, blocked;
    emu_step_log log;
    emu_class_races races;
    emu_class_count count;
    emu_divergence divergence;
};

static uint64_t bit_of(uint32_t host) {
    return UINT64_C(1) << host;
}

static void stop(emu_class_search *search, const char *reason) {
    if (search->count.reason == NULL) search->count.reason = reason;
}

static const char out_of_memory[] = "memory ran out";

/* --- Footprints --- */

static bool footprint_add(footprint *print, emu_touch touch) {
    for (uint32_t i = 0; i < print->touch_count; i++)
        if (print->touches[i].token == touch.token && print->touches[i].mode == touch.mode)
            return true;
    if (!emu_grow(&print->touches, print->touch_count, &print->touch_room, sizeof touch))
        return false;
    print->touches[print->touch_count++] = touch;
    return true;
}

static bool footprint_add_step(footprint *print, const emu_step_log *log, uint32_t step) {
    if (step >= log->step_count) return true;
    const emu_step *made = &log->steps[step];
    for (uint32_t i = 0; i < made->touch_count; i++)
        if (!footprint_add(print, log->touches[made->first_touch + i])) return false;
    return true;
}

static bool footprint_copy(footprint *to, const footprint *from) {
    to->touch_count = 0;
    for (uint32_t i = 0; i < from->touch_count; i++)
        if (!footprint_add(to, from->touches[i])) return false;
    return true;
}

static bool commutes_with_step(const footprint *print, const emu_step_log *log, uint32_t step) {
    const emu_step *made = &log->steps[step];
    for (uint32_t i = 0; i < made->touch_count; i++) {
        const emu_touch *touch = &log->touches[made->first_touch + i];
        for (uint32_t k = 0; k < print->touch_count; k++)
            if (print->touches[k].token == touch->token &&
                !emu_touches_commute(print->touches[k].mode, touch->mode))
                return false;
    }
    return true;
}

/* --- Nodes --- */

static node *push_node(emu_class_search *search) {
    uint32_t room = search->node_room;
    if (!emu_grow(&search->nodes, search->node_count, &search->node_room, sizeof(node))) {
        stop(search, out_of_memory);
        return NULL;
    }
    if (search->node_room > room)
        memset(&search->nodes[room], 0, (search->node_room - room) * sizeof(node));
    node *made = &search->nodes[search->node_count++];
    made->done = made->backtrack = made->enabled = made->restless = made->asleep = 0;
    made->sleeper_count = made->print.touch_count = 0;
    return made;
}

static bool add_sleeper(node *at, uint32_t host, const footprint *print) {
    uint32_t room = at->sleeper_room;
    if (!emu_grow(&at->sleepers, at->sleeper_count, &at->sleeper_room, sizeof(sleeper)))
        return false;
    if (at->sleeper_room > room)
        memset(&at->sleepers[room], 0, (at->sleeper_room - room) * sizeof(sleeper));
    sleeper *made = &at->sleepers[at->sleeper_count];
    if (!footprint_copy(&made->print, print)) return false;
    made->host = host;
    at->sleeper_count++;
    at->asleep |= bit_of(host);
    return true;
}

/* Who sleeps on: those whose step commutes with the one that was made. After a barrier, nobody. */
static bool inherit_sleepers(emu_class_search *search, node *made) {
    const emu_step_log *log = &search->log;
    if (search->last_rank == 0 || log->barrier) return true;
    const node *before = &search->nodes[search->last_rank - 1];
    for (uint32_t i = 0; i < before->sleeper_count; i++) {
        const sleeper *one = &before->sleepers[i];
        if (one->host == before->chosen) continue;
        if (!commutes_with_step(&one->print, log, before->step)) continue;
        if (!add_sleeper(made, one->host, &one->print)) return false;
    }
    return true;
}

/* --- Answering --- */

static uint32_t host_of_answer(const emu_question *question, uint32_t answer) {
    if (answer < question->ready->count)
        return emu_host_set_at(question->ready, question->from, answer);
    return emu_host_set_at(question->restless, 0, answer - question->ready->count);
}

static uint32_t answer_of_host(const emu_question *question, uint32_t host) {
    for (uint32_t answer = 0; answer < question->answer_count; answer++)
        if (host_of_answer(question, answer) == host) return answer;
    return UINT32_MAX;
}

static uint64_t hosts_of(const emu_question *question, uint32_t from) {
    uint64_t enabled = 0;
    for (uint32_t answer = from; answer < question->answer_count; answer++)
        enabled |= bit_of(host_of_answer(question, answer));
    return enabled;
}

static void diverge(emu_class_search *search, const emu_question *question, const node *at) {
    if (search->divergence.happened) return;
    search->divergence = (emu_divergence){
        .happened = true,
        .choice = search->at - 1,
        .given = {.count = 1, .answer = at->chosen, .kind = at->is_rank ? 0 : EMU_CHOICE_DATA},
        .asked_kind = question->kind,
        .asked_count = question->answer_count,
    };
    stop(search, "a run did not repeat its beginning");
}

static uint32_t answer_again(emu_class_search *search, const emu_question *question) {
    node *at = &search->nodes[search->at - 1];
    bool is_rank = question->kind == EMU_CHOICE_RANK;
    bool same = at->is_rank == is_rank && at->answer_count == question->answer_count &&
                (!is_rank || at->enabled == hosts_of(question, 0));
    if (!same) {
        diverge(search, question, at);
        return 0;
    }
    if (!is_rank) return at->chosen;
    at->step = search->log.step_count;
    search->last_rank = search->at;
    return answer_of_host(question, at->chosen);
}

static uint32_t answer_newly(emu_class_search *search, const emu_question *question) {
    node *made = push_node(search);
    if (made == NULL) return 0;
    made->is_rank = question->kind == EMU_CHOICE_RANK;
    made->answer_count = question->answer_count;
    made->chosen = 0;
    if (!made->is_rank) return 0;
    if (!inherit_sleepers(search, made)) stop(search, out_of_memory);
    made->step = search->log.step_count;
    made->enabled = hosts_of(question, 0);
    made->restless = hosts_of(question, question->ready->count);
    for (uint32_t answer = 0; answer < question->answer_count; answer++) {
        uint32_t host = host_of_answer(question, answer);
        if ((made->asleep & bit_of(host)) != 0) continue;
        made->chosen = host;
        made->backtrack = bit_of(host);
        search->last_rank = search->node_count;
        return answer;
    }
    /* Whatever comes now has been seen: the rest of the run is of no interest. */
    search->blocked = true;
    search->node_count--;
    return 0;
}

/* Time has passed, or all was compared. Who looks again only now could have looked before, and the
 * pairs of steps do not tell, since a barrier is between. */
static void look_before_barrier(emu_class_search *search) {
    if (search->last_rank == 0) return;
    node *before = &search->nodes[search->last_rank - 1];
    before->backtrack |= before->restless;
}

uint32_t emu_class_search_choose(void *context, const emu_question *question) {
    emu_class_search *search = context;
    if (search->blocked || search->count.reason != NULL) return 0;
    search->at++;
    if (search->log.barrier) look_before_barrier(search);
    if (search->at <= search->node_count) return answer_again(search, question);
    return answer_newly(search, question);
}

/* --- After a run --- */

/* The node that began a step; NULL: the step is of the part of a run that is of no interest. */
static node *node_of_step(emu_class_search *search, uint32_t step) {
    uint32_t from = 0, to = search->node_count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        uint32_t rank_node = middle;
        while (rank_node > from && !search->nodes[rank_node].is_rank)
            rank_node--;
        const node *at = &search->nodes[rank_node];
        if (!at->is_rank || at->step < step)
            from = middle + 1;
        else if (at->step == step)
            return &search->nodes[rank_node];
        else
            to = rank_node;
    }
    return NULL;
}

/* A pair of steps that could have come the other way round. */
static void branch(void *context, const emu_class_race *race) {
    emu_class_search *search = context;
    node *at = node_of_step(search, race->first_step);
    if (at == NULL) return;
    if ((race->initials & (at->backtrack | at->done | at->asleep)) != 0) return;
    uint64_t possible = race->initials & at->enabled;
    if ((possible & bit_of(race->second_host)) != 0) possible = bit_of(race->second_host);
    at->backtrack |= possible != 0 ? possible & (~possible + 1) : at->enabled;
}

static bool keep_footprints(emu_class_search *search) {
    for (uint32_t i = 0; i < search->node_count; i++) {
        node *at = &search->nodes[i];
        if (at->is_rank && !footprint_add_step(&at->print, &search->log, at->step)) return false;
    }
    return true;
}

void emu_class_search_end(emu_class_search *search) {
    if (search->log.cut) stop(search, "a run has too many steps to be compared with others");
    if (search->count.reason != NULL) return;
    if (search->blocked)
        search->count.redundant++;
    else
        search->count.classes++;
    uint32_t step_count = search->log.step_count;
    if (search->blocked && search->last_rank > 0)
        step_count = search->nodes[search->last_rank - 1].step + 1;
    if (step_count > EMU_CLASS_STEPS_MAX)
        stop(search, "a run has too many steps to be compared with others");
    else if (!keep_footprints(search) ||
             !emu_class_races_find(&search->races, &search->log, step_count, search->host_count,
                                   branch, search))
        stop(search, out_of_memory);
}

/* --- The next run --- */

/* Another host, or another answer; false: the node has none left. */
static bool advance_node(emu_class_search *search, node *at) {
    if (!at->is_rank) {
        if (at->chosen + 1 >= at->answer_count) return false;
        at->chosen++;
        return true;
    }
    at->done |= bit_of(at->chosen);
    if (!add_sleeper(at, at->chosen, &at->print)) stop(search, out_of_memory);
    at->print.touch_count = 0;
    uint64_t left = at->backtrack & ~at->done & ~at->asleep;
    if (left == 0) return false;
    for (at->chosen = 0; (left & bit_of(at->chosen)) == 0;)
        at->chosen++;
    return true;
}

bool emu_class_search_begin(emu_class_search *search) {
    if (search->count.reason != NULL || search->count.complete) return false;
    while (search->started && search->node_count > 0 &&
           !advance_node(search, &search->nodes[search->node_count - 1]))
        search->node_count--;
    if (search->started && search->node_count == 0) search->count.complete = true;
    search->started = true;
    search->at = search->last_rank = 0;
    search->blocked = false;
    emu_step_log_reset(&search->log, search->host_count);
    return !search->count.complete && search->count.reason == NULL;
}

/* --- Creation --- */

emu_class_search *emu_class_search_create(uint32_t host_count) {
    assert(host_count >= 1 && host_count <= EMU_CLASS_HOSTS_MAX);
    emu_class_search *search = calloc(1, sizeof(*search));
    if (search != NULL) search->host_count = host_count;
    return search;
}

void emu_class_search_destroy(emu_class_search *search) {
    if (search == NULL) return;
    for (uint32_t i = 0; i < search->node_room; i++) {
        node *at = &search->nodes[i];
        for (uint32_t k = 0; k < at->sleeper_room; k++)
            free(at->sleepers[k].print.touches);
        free(at->sleepers);
        free(at->print.touches);
    }
    free(search->nodes);
    emu_class_races_free(&search->races);
    emu_step_log_free(&search->log);
    free(search);
}

emu_step_log *emu_class_search_log(emu_class_search *search) {
    return &search->log;
}

emu_class_count emu_class_search_count(const emu_class_search *search) {
    return search->count;
}

bool emu_class_search_was_redundant(const emu_class_search *search) {
    return search->blocked;
}

const emu_divergence *emu_class_search_divergence(const emu_class_search *search) {
    return &search->divergence;
}
