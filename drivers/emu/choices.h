#ifndef TUTTI_EMU_CHOICES_H
#define TUTTI_EMU_CHOICES_H

/* The chooser: answers every question that a run could answer in more than one way, and keeps a
 * record of the answers, from which the run can be repeated. Pure: the only randomness is a
 * generator of our own, started from a seed.
 *
 * Answer 0 is always the dullest one (go on with the same rank, no fault, the earliest timer), so
 * the plain run is the one whose answers are all 0, and its record is the empty text. */

#include <stdbool.h>

#include "tutti/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is chosen. The letter stands for the kind in the text of a record. Append only. */
typedef enum emu_choice_kind {
    EMU_CHOICE_RANK = 0,   /* r: which rank runs next */
    EMU_CHOICE_STREAM = 1, /* s: which stream's operation starts, when capacity is short */
    EMU_CHOICE_TIMER = 2,  /* t: which of several timers of one moment fires first */
    EMU_CHOICE_POLL = 3,   /* p: what a poll sees */
    EMU_CHOICE_JOIN = 4,   /* j: whose join arrives first */
    EMU_CHOICE_FAULT = 5,  /* f: whether a fault happens */
    EMU_CHOICE_DATA = 6,   /* d: a value of the program's own input */
    EMU_CHOICE_KIND_COUNT = 7,
} emu_choice_kind;

enum {
    EMU_CHOICE_RUNS_MAX = 1 << 22,         /* of a record; what follows is not kept */
    EMU_CHOICE_ANSWER_MAX = (1 << 20) - 1, /* the largest answer: there are at most 2^20 ranks */
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

/* A chooser. Filled by emu_choices_init(), given back by emu_choices_free(). */
typedef struct emu_choices {
    bool random;    /* false: every answer is 0 */
    uint64_t state; /* of the generator */
    uint64_t asked; /* questions with more than one answer so far */
    emu_choice_record record;
} emu_choices;

/* A chooser that always answers 0. */
void emu_choices_init_plain(emu_choices *choices);

/* A chooser that draws every answer from `seed`, each with the same probability. */
void emu_choices_init_random(emu_choices *choices, uint64_t seed);

void emu_choices_free(emu_choices *choices);

/* Answers a question: 0 to answer_count - 1. Questions with one answer only are not counted and not
 * recorded. Never fails: when memory for the record is out, the record is cut.
 * Asserts 1 <= answer_count <= EMU_CHOICE_ANSWER_MAX + 1. */
uint32_t emu_choose(emu_choices *choices, emu_choice_kind kind, uint32_t answer_count);

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
