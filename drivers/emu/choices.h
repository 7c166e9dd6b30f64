#ifndef TUTTI_EMU_CHOICES_H
#define TUTTI_EMU_CHOICES_H

/* The chooser: answers every question that a run could answer in more than one way, and keeps a
 * record of the answers, from which the run can be repeated. Pure: the only randomness is a
 * generator of our own, started from a seed.
 *
 * Answer 0 is always the dullest one (go on with the same rank, no fault, the earliest timer), so
 * the plain run is the one whose answers are all 0, and its record is the empty text. */

#include <stdbool.h>

#include "drivers/emu/host_set.h"
#include "tutti/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is chosen. The letter stands for the kind in the text of a record. Append only. */
typedef enum emu_choice_kind {
    EMU_CHOICE_RANK = 0,   /* r: which rank runs next; also who joins first, and who goes on when
                              the timers of several fire at one moment */
    EMU_CHOICE_STREAM = 1, /* s: which stream's operation starts, when capacity is short */
    EMU_CHOICE_POLL = 2,   /* p: whether a poll sees already what is over */
    EMU_CHOICE_FAULT = 3,  /* f: 1 turns around what a fault plan has drawn */
    EMU_CHOICE_DATA = 4,   /* d: a value of the program's own input */
    EMU_CHOICE_KIND_COUNT = 5,
} emu_choice_kind;

enum {
    EMU_CHOICE_RUNS_MAX = 1 << 22,         /* of a record; what follows is not kept */
    EMU_CHOICE_ANSWER_MAX = (1 << 20) - 1, /* the largest answer: there are at most 2^20 ranks */
    EMU_DIVERGENCE_BYTES = 256,            /* of the words for one */
};

/* The same answer to the same kind of question, several times in a row. */
typedef struct emu_choice_run {
    uint64_t count;  /* at least 1 */
    uint32_t answer; /* 0 to EMU_CHOICE_ANSWER_MAX */
    uint32_t kind;   /* emu_choice_kind */
} emu_choice_run;

/* A list of answers, in order. All zero: empty. */
typedef struct emu_choice_record {
    emu_choice_run *runs; /* owned */
    uint32_t run_count;
    uint32_t run_room;
    bool cut; /* more answers were given than are kept here */
} emu_choice_record;

/* A question that a run asks. */
typedef struct emu_question {
    emu_choice_kind kind;
    uint32_t answer_count;     /* at least 1 */
    const emu_host_set *ready; /* rank: who can run; answer a is emu_host_set_at(ready, from, a) */
    const emu_host_set *restless; /* rank: who else can; the answers above those, from 0 */
    uint32_t from;                /* rank */
} emu_question;

/* Answers questions in the place of a chooser: 0 to question->answer_count - 1. Questions of kind
 * rank are put to it even when there is only one answer: each is the beginning of a step. */
typedef uint32_t emu_strategy(void *context, const emu_question *question);

/* Where a run did not ask what the given record answers. */
typedef struct emu_divergence {
    bool happened;
    uint64_t choice; /* place in the record, from 0 */
    emu_choice_run given;
    emu_choice_kind asked_kind;
    uint32_t asked_count;
} emu_divergence;

typedef enum emu_choices_mode {
    EMU_CHOICES_PLAIN,    /* every answer is 0 */
    EMU_CHOICES_RANDOM,   /* every answer is drawn */
    EMU_CHOICES_REPLAY,   /* answers come from a record, and then are 0 */
    EMU_CHOICES_STRATEGY, /* somebody else answers */
} emu_choices_mode;

/* A chooser. Filled by emu_choices_init_*(), given back by emu_choices_free(). */
typedef struct emu_choices {
    emu_choices_mode mode;
    bool lenient;                    /* replay: what does not fit is taken as far as it does */
    uint64_t state;                  /* random: of the generator */
    const emu_choice_record *replay; /* borrowed */
    uint32_t replay_run;             /* replay: where it stands */
    uint64_t replay_used;            /* replay: of that run's count */
    emu_strategy *strategy;
    void *strategy_context;
    uint64_t asked; /* questions with more than one answer so far */
    emu_choice_record record;
    emu_divergence divergence; /* the first */
} emu_choices;

/* A chooser that always answers 0. */
void emu_choices_init_plain(emu_choices *choices);

/* A chooser that draws every answer from `seed`, each with the same probability. */
void emu_choices_init_random(emu_choices *choices, uint64_t seed);

/* A chooser that answers as a record says, and with 0 after its end. A question of another kind
 * than the record's, or with fewer answers, is a divergence; it and all that follow are answered
 * with 0. `lenient`: no divergence; answers of another kind are passed over, and one that is too
 * large becomes the largest. The record is borrowed. */
void emu_choices_init_replay(emu_choices *choices, const emu_choice_record *record, bool lenient);

/* A chooser that passes every question on. */
void emu_choices_init_strategy(emu_choices *choices, emu_strategy *strategy, void *context);

void emu_choices_free(emu_choices *choices);

/* Answers a question: 0 to answer_count - 1. Questions with one answer only are not counted and not
 * recorded. Never fails: when memory for the record is out, the record is cut.
 * Asserts 1 <= answer_count <= EMU_CHOICE_ANSWER_MAX + 1. */
uint32_t emu_choose(emu_choices *choices, const emu_question *question);

/* A replay is over: that answers other than 0 are left is a divergence too. */
void emu_choices_end(emu_choices *choices);

/* What differed, in words; "" when nothing did. NUL terminated and cut at text_bytes. */
void emu_divergence_format(const emu_divergence *divergence, char *text, size_t text_bytes);

/* "rank", "stream", ...: what is chosen. */
const char *emu_choice_kind_name(emu_choice_kind kind);

/* Draws 0 to limit - 1 from a generator's state, which moves on. */
uint32_t emu_draw_below(uint64_t *state, uint32_t limit);
uint64_t emu_draw(uint64_t *state);

/* Adds an answer `count` times to a record; false when there is no room. */
bool emu_choice_record_append(emu_choice_record *record, emu_choice_kind kind, uint32_t answer,
                              uint64_t count);

/* Writes a record as text: "r0x12,r2,r1x3" is twelve times 0, then 2, then three times 1, all of
 * kind r. Zeros at the end are left out, so the plain run is "". A cut record ends in "...".
 * NUL terminated and cut at text_bytes. Returns the bytes of the whole text, without the NUL. */
size_t emu_choice_record_format(const emu_choice_record *record, char *text, size_t text_bytes);

/* Reads such a text.
 * Memory: *record_out is the caller's, for emu_choice_record_free()
 * Errors: TUTTI_SYNTAX: the message names the column; TUTTI_OUT_OF_MEMORY. *record_out is
 *         untouched then. */
tutti_status emu_choice_record_parse(const char *text, size_t text_bytes,
                                     emu_choice_record *record_out, tutti_error *error);

void emu_choice_record_free(emu_choice_record *record);

#ifdef __cplusplus
}
#endif

#endif
