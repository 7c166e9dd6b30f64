/* Fault plans at work: how far each rank has come in each rule, and what is due at a site. Nothing
 * here depends on anything but the plan, the seed and the sites that each rank has met. */

#include "fault_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How far one rank has come in one rule. */
typedef struct fault_counter {
    uint64_t hits;  /* sites that the rule fitted; the number of the last hit, from 1 */
    uint64_t fired; /* of them, those at which it acted */
    uint32_t used;  /* how often the term was applied */
    uint32_t term;  /* in the rule; its term_count when the rule is off */
} fault_counter;

static_assert(sizeof(fault_counter) == 24, "fault.h promises this");

/* One rule's part of a state. */
typedef struct fault_track {
    uint64_t key;         /* of the rule's random draws */
    size_t counter_first; /* index into the state's counters */
    size_t counter_count; /* one a rank that the rule can fit, then one for unknown ranks */
    int32_t rank_first;   /* the rank that the first counter is for */
    int32_t rank_count;   /* ranks that the rule can fit */
} fault_track;

struct tutti_fault_state {
    uint32_t points;              /* see tutti_fault_state_points() */
    int32_t rank_count;           /* in the cluster */
    const tutti_fault_plan *plan; /* borrowed; NULL is an empty one */
    fault_track *tracks;          /* one a rule, owned */
    fault_counter *counters;      /* owned */
    size_t counter_count;
    tutti_fault_chance *chance; /* NULL: draws decide */
    void *chance_context;
};

/* ---- random draws ---- */

/* Spreads every bit over the whole word: the finaliser of SplitMix64 (Steele, Lea and Flood 2014,
 * with the constants of Stafford's variant 13). A bijection. */
static uint64_t mix(uint64_t word) {
    word = (word ^ word >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ word >> 27) * UINT64_C(0x94D049BB133111EB);
    return word ^ word >> 31;
}

/* 2^64 divided by the golden ratio, and odd: the step of SplitMix64. */
static const uint64_t golden_step = UINT64_C(0x9E3779B97F4A7C15);

/* The key of a rule's draws. Copies of a rule draw differently, or they would only hit together. */
static uint64_t track_key(const fault_rule *rule, uint64_t seed) {
    return mix(rule->text_hash + rule->copy * golden_step) ^ mix(seed);
}

/* The number that a rule draws for a rank at a hit. */
static uint64_t draw_number(uint64_t key, int32_t rank, uint64_t hit) {
    const uint64_t stream = mix(key + (uint64_t)(rank + INT64_C(2)) * golden_step);

    return mix(stream + hit * golden_step);
}

/* Whether a term with a probability applies at this hit. */
static bool draw(uint64_t key, int32_t rank, uint64_t hit, uint32_t probability) {
    const uint64_t number = draw_number(key, rank, hit);

    return number < (uint64_t)probability * (UINT64_MAX / TUTTI_FAULT_ALWAYS);
}

/* ---- create, reset, destroy ---- */

static bool names_rank(const fault_rule *rule) {
    return (rule->selector.keys >> TUTTI_FAULT_KEY_RANK & 1) != 0;
}

/* Fails when a rule names only ranks or peers that do not exist. */
static tutti_status check_ranks(const tutti_fault_plan *plan, uint32_t rule, int32_t rank_count,
                                tutti_error *error) {
    const tutti_fault_selector *selector = &plan->rules[rule].selector;
    const bool peer_exists = selector->peer_first < rank_count; /* 0 without the key */
    char message[96];
    fault_writer writer = {.text = message, .text_bytes = sizeof(message)};

    if (selector->rank_first < rank_count && peer_exists) {
        return TUTTI_OK;
    }
    fault_put_text(&writer, peer_exists ? "this rule names rank " : "this rule names peer ");
    fault_put_number(&writer,
                     (uint64_t)(peer_exists ? selector->rank_first : selector->peer_first));
    fault_put_text(&writer, ", but the last of the ");
    fault_put_number(&writer, (uint64_t)rank_count);
    fault_put_text(&writer, " ranks is ");
    fault_put_number(&writer, (uint64_t)rank_count - 1);
    fault_put_end(&writer);
    return tutti_fault_rule_error(plan, rule, TUTTI_INVALID_ARGUMENT, message, error);
}

static tutti_status check_arguments(const tutti_fault_plan *plan, int32_t rank_count,
                                    tutti_fault_state **state_out, tutti_error *error) {
    if (state_out == NULL) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "a fault state needs a place");
    }
    if (rank_count < 1 || rank_count > TUTTI_FAULT_RANK_COUNT_MAX) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "a fault state serves 1 to %d ranks, not %ld",
                               TUTTI_FAULT_RANK_COUNT_MAX, (long)rank_count);
    }
    for (uint32_t rule = 0; rule < tutti_fault_rule_count(plan); rule++) {
        const tutti_status status = check_ranks(plan, rule, rank_count, error);
        if (status != TUTTI_OK) {
            return status;
        }
    }
    return TUTTI_OK;
}

/* Gives every rule its place among the counters. */
static void lay_out(tutti_fault_state *state) {
    for (uint32_t i = 0; i < tutti_fault_rule_count(state->plan); i++) {
        const fault_rule *rule = &state->plan->rules[i];
        fault_track *track = &state->tracks[i];
        int32_t rank_last = state->rank_count - 1;
        if (names_rank(rule)) {
            track->rank_first = rule->selector.rank_first;
            rank_last = rule->selector.rank_last < rank_last ? rule->selector.rank_last : rank_last;
        }
        track->rank_count = rank_last - track->rank_first + 1;
        track->counter_count = (size_t)track->rank_count + !names_rank(rule);
        track->counter_first = state->counter_count;
        state->counter_count += track->counter_count;
        state->points |= UINT32_C(1) << rule->point;
    }
}

static void set_seed(tutti_fault_state *state, uint64_t seed) {
    for (uint32_t i = 0; i < tutti_fault_rule_count(state->plan); i++) {
        state->tracks[i].key = track_key(&state->plan->rules[i], seed);
    }
}

tutti_status tutti_fault_state_create(const tutti_fault_plan *plan, int32_t rank_count,
                                      uint64_t seed, tutti_fault_state **state_out,
                                      tutti_error *error) {
    tutti_error_clear(error);
    const tutti_status status = check_arguments(plan, rank_count, state_out, error);
    if (status != TUTTI_OK) {
        return status;
    }
    tutti_fault_state *state = calloc(1, sizeof(*state));
    if (state == NULL) {
        goto no_memory;
    }
    state->plan = plan;
    state->rank_count = rank_count;
    state->tracks = calloc((size_t)tutti_fault_rule_count(plan) + 1, sizeof(*state->tracks));
    if (state->tracks == NULL) {
        goto no_memory;
    }
    lay_out(state);
    state->counters = calloc(state->counter_count + 1, sizeof(*state->counters));
    if (state->counters == NULL) {
        goto no_memory;
    }
    set_seed(state, seed); /* the counters are zero already; touching them would cost memory */
    *state_out = state;
    return TUTTI_OK;

no_memory:
    tutti_fault_state_destroy(state);
    return tutti_error_set(error, TUTTI_OUT_OF_MEMORY,
                           "no memory for the counters of a fault plan");
}

void tutti_fault_state_destroy(tutti_fault_state *state) {
    if (state == NULL) {
        return;
    }
    free(state->tracks);
    free(state->counters);
    free(state);
}

void tutti_fault_state_reset(tutti_fault_state *state, uint64_t seed) {
    if (state == NULL) {
        return;
    }
    memset(state->counters, 0, state->counter_count * sizeof(*state->counters));
    set_seed(state, seed);
}

/* ---- decide ---- */

static bool fits_name(const char *wanted, const char *name) {
    return wanted == NULL || (name != NULL && strcmp(wanted, name) == 0);
}

static bool fits_keys(const tutti_fault_selector *selector, const tutti_fault_site *site,
                      uint64_t seq) {
    const uint32_t keys = selector->keys;

    if (keys == 0) {
        return true;
    }
    if ((keys >> TUTTI_FAULT_KEY_RANK & 1) != 0 &&
        (site->rank < selector->rank_first || site->rank > selector->rank_last)) {
        return false;
    }
    if ((keys >> TUTTI_FAULT_KEY_PEER & 1) != 0 &&
        (site->peer < selector->peer_first || site->peer > selector->peer_last)) {
        return false;
    }
    if ((keys >> TUTTI_FAULT_KEY_SEQ & 1) != 0 &&
        (seq < selector->seq_first || seq > selector->seq_last)) {
        return false;
    }
    return fits_name(selector->group, site->group) && fits_name(selector->op, site->op) &&
           fits_name(selector->stream, site->stream);
}

static bool fits(const fault_rule *rule, const tutti_fault_site *site) {
    if (rule->point == TUTTI_FAULT_AT_STEP) {
        return (site->step != 0 || site->point == TUTTI_FAULT_AT_STEP) &&
               fits_keys(&rule->selector, site, site->step);
    }
    const bool asked = rule->point == site->point ||
                       (rule->point == TUTTI_FAULT_AT_ENQUEUE && site->enqueued != 0);

    return asked && (rule->sites >> site->point & 1) != 0 &&
           fits_keys(&rule->selector, site, site->seq);
}

/* The counter of a rank, -1 if unknown, in a rule; NULL when the rule cannot fit it. */
static fault_counter *find_counter(const tutti_fault_state *state, uint32_t rule, int32_t rank) {
    const fault_track *track = &state->tracks[rule];
    const int32_t index = rank < 0 ? track->rank_count : rank - track->rank_first;

    if (index < 0 || (size_t)index >= track->counter_count) {
        return NULL;
    }
    return &state->counters[track->counter_first + (size_t)index];
}

/* Whether a term with a probability applies, as drawn or as somebody else decides. */
static bool applies(const tutti_fault_state *state, uint64_t key, int32_t rank, uint64_t hit,
                    uint32_t probability) {
    const bool drawn = draw(key, rank, hit, probability);

    return state->chance != NULL ? state->chance(state->chance_context, drawn) != 0 : drawn;
}

void tutti_fault_state_set_chance(tutti_fault_state *state, tutti_fault_chance *chance,
                                  void *context) {
    if (state == NULL) {
        return;
    }
    state->chance = chance;
    state->chance_context = context;
}

/* Counts a hit. Returns what the rule does at it, or NULL when that is nothing. */
static const tutti_fault_action *count_hit(const tutti_fault_state *state, uint32_t rule,
                                           int32_t rank, fault_counter *counter) {
    const fault_rule *subject = &state->plan->rules[rule];

    counter->hits++;
    if (counter->term == subject->term_count) {
        return NULL;
    }
    const tutti_fault_term *term = &state->plan->terms[subject->term_first + counter->term];
    if (term->probability != TUTTI_FAULT_ALWAYS &&
        !applies(state, state->tracks[rule].key, rank, counter->hits, term->probability)) {
        return NULL;
    }
    if (term->times > 0) {
        counter->used++;
        if (counter->used == term->times) {
            counter->used = 0;
            counter->term++;
        }
    }
    return term->action.kind != TUTTI_FAULT_OFF ? &term->action : NULL;
}

/* What acts at a site. */
typedef struct acting {
    const tutti_fault_action *first; /* that is not slow; NULL: none */
    const tutti_fault_action *slow;  /* NULL: none */
    uint64_t draw;                   /* of a corrupt */
} acting;

/* Notes an action, if it is the first one of its sort. */
static bool take(acting *found, const tutti_fault_action *action) {
    const tutti_fault_action **place =
        action->kind == TUTTI_FAULT_SLOW ? &found->slow : &found->first;

    if (*place != NULL) {
        return false;
    }
    *place = action;
    return true;
}

static int combine(const acting *found, tutti_fault_action *action_out) {
    if (found->first != NULL) {
        *action_out = *found->first;
        action_out->draw = found->draw;
    } else if (found->slow != NULL) {
        *action_out = *found->slow;
    }
    if (found->slow != NULL) {
        action_out->factor_millionths = found->slow->factor_millionths;
        action_out->slow_rule = found->slow->rule;
    }
    return found->first != NULL || found->slow != NULL;
}

/* All rules see the site, also behind the one that acts: see fault.h, RULES. Not inlined, or sites
 * without any rule would pay for the registers that it saves. */
__attribute__((noinline)) static int ask_rules(const tutti_fault_state *state,
                                               const tutti_fault_site *site,
                                               tutti_fault_action *action_out) {
    const int32_t rank = site->rank >= 0 && site->rank < state->rank_count ? site->rank : -1;
    acting found = {NULL, NULL, 0};

    for (uint32_t rule = 0; rule < state->plan->rule_count; rule++) {
        if (!fits(&state->plan->rules[rule], site)) {
            continue;
        }
        fault_counter *counter = find_counter(state, rule, rank);
        if (counter == NULL) {
            continue;
        }
        const tutti_fault_action *action = count_hit(state, rule, rank, counter);
        if (action != NULL && take(&found, action)) {
            counter->fired++;
            if (action->kind == TUTTI_FAULT_CORRUPT) {
                found.draw = draw_number(~state->tracks[rule].key, rank, counter->hits);
            }
        }
    }
    return combine(&found, action_out);
}

int tutti_fault_decide(tutti_fault_state *state, const tutti_fault_site *site,
                       tutti_fault_action *action_out) {
    static const tutti_fault_action nothing = {.kind = TUTTI_FAULT_OFF, .rule = -1};
    const unsigned point = (unsigned)site->point;

    *action_out = nothing;
    if (state == NULL || state->points == 0 || point >= TUTTI_FAULT_POINT_COUNT) {
        return 0;
    }
    const uint32_t asked = UINT32_C(1) << point |
                           (site->enqueued != 0 ? (uint32_t)FAULT_ENQUEUED_BIT : 0) |
                           (site->step != 0 ? (uint32_t)FAULT_STEP_BIT : 0);
    return (state->points & asked) != 0 ? ask_rules(state, site, action_out) : 0;
}

/* ---- what has happened ---- */

uint32_t tutti_fault_state_points(const tutti_fault_state *state) {
    return state != NULL ? state->points : 0;
}

/* The sums over a rule's counters: hits, and how often it acted. */
static fault_counter sum_counters(const tutti_fault_state *state, uint32_t rule) {
    fault_counter sum = {0};

    if (state == NULL || rule >= tutti_fault_rule_count(state->plan)) {
        return sum;
    }
    const fault_track *track = &state->tracks[rule];
    const fault_counter *counters = &state->counters[track->counter_first];
    for (size_t i = 0; i < track->counter_count; i++) {
        sum.hits += counters[i].hits;
        sum.fired += counters[i].fired;
    }
    return sum;
}

uint64_t tutti_fault_state_hits(const tutti_fault_state *state, uint32_t rule) {
    return sum_counters(state, rule).hits;
}

uint64_t tutti_fault_state_fired(const tutti_fault_state *state, uint32_t rule) {
    return sum_counters(state, rule).fired;
}
