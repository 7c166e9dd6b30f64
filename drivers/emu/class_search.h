#ifndef TUTTI_EMU_CLASS_SEARCH_H
#define TUTTI_EMU_CLASS_SEARCH_H

/* The exhaustive search: one run of every class of schedules. Two schedules are of one class when
 * one can be made from the other by swapping neighbouring steps that commute (see steps.h).
 *
 * The method is dynamic partial-order reduction with source sets and sleep sets (Abdulla, Aronis,
 * Jonsson, Sagonas, 2014): a run is taken apart afterwards into pairs of steps that do not commute
 * and could have come the other way round, and each such pair is a reason to branch before its
 * first step. Choices that are not between ranks are tried in full. Pure.
 *
 *     while (emu_class_search_begin(search)) {
 *         ... a run whose chooser is emu_class_search_choose, with the log ...
 *         emu_class_search_end(search);
 *     }
 */

#include "drivers/emu/choices.h"
#include "drivers/emu/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    EMU_CLASS_HOSTS_MAX = 64,    /* of a program that is searched in full */
    EMU_CLASS_STEPS_MAX = 20000, /* of each of its runs */
};

typedef struct emu_class_search emu_class_search;

/* NULL when memory is out. Asserts 1 <= host_count <= EMU_CLASS_HOSTS_MAX. */
emu_class_search *emu_class_search_create(uint32_t host_count);
void emu_class_search_destroy(emu_class_search *search);

/* Prepares the next run, and resets the log; false: there is none, or the search had to stop. */
bool emu_class_search_begin(emu_class_search *search);

/* The run's chooser, with the search as its context; where its steps are to be logged. */
uint32_t emu_class_search_choose(void *search, const emu_question *question);
emu_step_log *emu_class_search_log(emu_class_search *search);

/* The run is over. */
void emu_class_search_end(emu_class_search *search);

typedef struct emu_class_count {
    uint64_t classes;   /* runs, each of another class */
    uint64_t redundant; /* runs that turned out to repeat a class, and were not counted */
    bool complete;      /* there are no more classes */
    const char *reason; /* why the search had to stop before; NULL: it had not */
} emu_class_count;

emu_class_count emu_class_search_count(const emu_class_search *search);

/* Whether the run that is over is one of those that repeat a class. */
bool emu_class_search_was_redundant(const emu_class_search *search);

/* Where a run did not repeat its beginning; happened is false when all did. */
const emu_divergence *emu_class_search_divergence(const emu_class_search *search);

#ifdef __cplusplus
}
#endif

#endif
