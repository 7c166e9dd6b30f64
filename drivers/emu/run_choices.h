#ifndef TUTTI_EMU_RUN_CHOICES_H
#define TUTTI_EMU_RUN_CHOICES_H

/* The chooser of one run, as its options say: the plain schedule, one drawn from a seed, or the one
 * that a text gives. */

#include "drivers/emu/choices.h"

typedef struct emu_run_choices {
    emu_choice_record given; /* what the text gave */
    emu_choices choices;
} emu_run_choices;

/* Errors: TUTTI_SYNTAX (the text), TUTTI_INVALID_ARGUMENT (text and random_schedule),
 *         TUTTI_OUT_OF_MEMORY; nothing is left to free then */
tutti_status emu_run_choices_init(emu_run_choices *run, const char *text, bool random_schedule,
                                  uint64_t seed, tutti_error *error);
void emu_run_choices_free(emu_run_choices *run);

/* The text of what was chosen; the caller frees it. NULL when memory is out. */
char *emu_choices_text(const emu_choices *choices);

#endif
