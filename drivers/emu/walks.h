#ifndef TUTTI_EMU_WALKS_H
#define TUTTI_EMU_WALKS_H

/* Ways of drawing a schedule. All are made from a seed. What is not a choice between ranks is drawn
 * with equal probability. Pure. */

#include "drivers/emu/choices.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum emu_walk_kind {
    EMU_WALK_EVEN,     /* every rank that can run is as likely as every other */
    EMU_WALK_WEIGHTED, /* as likely as it has steps left: every schedule of independent steps is
                          equally likely (uniform random walk) */
    EMU_WALK_PRIORITY, /* ranks have priorities, which change at a few places drawn before: finds
                          each bug that needs `depth` steps in one order with a probability of at
                          least 1 / (ranks * choices^(depth - 1)) (probabilistic concurrency
                          testing; Burckhardt, Kothari, Musuvathi, Nagarakatte, 2010) */
} emu_walk_kind;

enum {
    EMU_WALK_DEPTH_MAX = 8,
    EMU_WALK_FAULT_TURNS = 8, /* one in so many draws of a fault plan is turned around */
};

typedef struct emu_walk {
    emu_walk_kind kind;
    uint64_t state; /* of the generator */
    uint32_t host_count;
    uint32_t *weights;     /* weighted: steps of each host that are expected still; priority: its
                              priority, greater goes first */
    uint64_t choice_count; /* between ranks, so far */
    uint32_t change_count;
    uint64_t changes[EMU_WALK_DEPTH_MAX]; /* priority: before which choice it changes */
} emu_walk;

/* What is known of a program from earlier runs: how many steps each host makes (borrowed for the
 * call), and how many choices between ranks there are. */
typedef struct emu_walk_facts {
    uint32_t host_count;
    const uint32_t *step_counts;
    uint64_t choice_count;
} emu_walk_facts;

/* `depth` counts for priorities only: 1 to EMU_WALK_DEPTH_MAX. False when memory is out. */
bool emu_walk_init(emu_walk *walk, emu_walk_kind kind, uint32_t depth, uint64_t seed,
                   const emu_walk_facts *facts);
void emu_walk_free(emu_walk *walk);

/* The chooser of a run, with the walk as its context. */
uint32_t emu_walk_choose(void *walk, const emu_question *question);

/* The host that an answer to a question between ranks names. */
uint32_t emu_question_host(const emu_question *question, uint32_t answer);

#ifdef __cplusplus
}
#endif

#endif
