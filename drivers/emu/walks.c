#include "drivers/emu/walks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

uint32_t emu_question_host(const emu_question *question, uint32_t answer) {
    if (answer < question->ready->count)
        return emu_host_set_at(question->ready, question->from, answer);
    return emu_host_set_at(question->restless, 0, answer - question->ready->count);
}

/* --- Creation --- */

/* A permutation: priorities above all that changes will set. */
static void draw_priorities(emu_walk *walk, uint32_t depth) {
    for (uint32_t host = 0; host < walk->host_count; host++) {
        uint32_t other = emu_draw_below(&walk->state, host + 1);
        walk->weights[host] = walk->weights[other];
        walk->weights[other] = depth + host;
    }
}

bool emu_walk_init(emu_walk *walk, emu_walk_kind kind, uint32_t depth, uint64_t seed,
                   const emu_walk_facts *facts) {
    *walk = (emu_walk){.kind = kind, .state = seed, .host_count = facts->host_count};
    if (kind == EMU_WALK_EVEN) return true;
    walk->weights = malloc(facts->host_count * sizeof(*walk->weights));
    if (walk->weights == NULL) return false;
    if (kind == EMU_WALK_WEIGHTED) {
        memcpy(walk->weights, facts->step_counts, facts->host_count * sizeof(*walk->weights));
        return true;
    }
    assert(depth >= 1 && depth <= EMU_WALK_DEPTH_MAX);
    draw_priorities(walk, depth);
    walk->change_count = depth - 1;
    uint64_t choices = facts->choice_count > 0 ? facts->choice_count : 1;
    for (uint32_t i = 0; i < walk->change_count; i++)
        walk->changes[i] = emu_draw(&walk->state) % choices;
    return true;
}

void emu_walk_free(emu_walk *walk) {
    free(walk->weights);
    walk->weights = NULL;
}

/* --- Answering --- */

static uint32_t choose_weighted(emu_walk *walk, const emu_question *question) {
    uint64_t total = 0;
    for (uint32_t answer = 0; answer < question->answer_count; answer++)
        total += walk->weights[emu_question_host(question, answer)];
    uint64_t drawn = emu_draw(&walk->state) % total;
    uint32_t answer = 0;
    for (;; answer++) {
        uint32_t weight = walk->weights[emu_question_host(question, answer)];
        if (drawn < weight) break;
        drawn -= weight;
    }
    return answer;
}

static uint32_t most_important(const emu_walk *walk, const emu_question *question) {
    uint32_t best = 0;
    /* Those who only look again come last, whatever their priority. */
    for (uint32_t answer = 1; answer < question->ready->count; answer++)
        if (walk->weights[emu_question_host(question, answer)] >
            walk->weights[emu_question_host(question, best)])
            best = answer;
    return best;
}

static uint32_t choose_by_priority(emu_walk *walk, const emu_question *question) {
    uint32_t best = most_important(walk, question);
    for (uint32_t i = 0; i < walk->change_count; i++) {
        if (walk->changes[i] != walk->choice_count) continue;
        walk->weights[emu_question_host(question, best)] = walk->change_count - i;
        best = most_important(walk, question);
    }
    walk->choice_count++;
    return best;
}

/* A host that is named has one step less to go; there is always one to come, as far as one knows.
 */
static void count_down(emu_walk *walk, uint32_t host) {
    if (walk->weights[host] > 1) walk->weights[host]--;
}

uint32_t emu_walk_choose(void *context, const emu_question *question) {
    emu_walk *walk = context;
    uint32_t answer = 0;
    bool ranks = question->kind == EMU_CHOICE_RANK;
    if (question->kind == EMU_CHOICE_FAULT)
        return emu_draw_below(&walk->state, EMU_WALK_FAULT_TURNS) == 0 ? 1 : 0;
    if (!ranks || walk->kind == EMU_WALK_EVEN)
        return emu_draw_below(&walk->state, question->answer_count);
    if (question->answer_count > 1)
        answer = walk->kind == EMU_WALK_WEIGHTED ? choose_weighted(walk, question)
                                                 : choose_by_priority(walk, question);
    if (walk->kind == EMU_WALK_WEIGHTED) count_down(walk, emu_question_host(question, answer));
    return answer;
}
