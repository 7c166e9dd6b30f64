#ifndef TUTTI_EMU_EXPLORE_H
#define TUTTI_EMU_EXPLORE_H

/* What the parts of an exploration share. */

#include "drivers/emu/choices.h"
#include "drivers/emu/steps.h"
#include "tutti/explore.h"
#include "tutti/sweep.h"

/* How one schedule is to be run. */
typedef struct emu_trial {
    emu_choices *choices;
    emu_step_log *steps;          /* NULL: nobody asks */
    bool first_use_blocks;        /* whatever the program says */
    bool one_collective;          /* at a time, whatever the program says */
    tutti_trace_sink *trace_sink; /* NULL: none */
    void *trace_context;
    const char *repeat; /* command that repeats the run, for its report; NULL: none */
    const char *faults; /* rules besides the program's own; NULL: none */
} emu_trial;

/* A program that is explored. */
typedef struct emu_subject {
    void *context;
    uint32_t host_count;
    bool first_use_open; /* it does not say itself whether first use blocks, */
    bool capacity_open;  /* nor how many collectives a device runs at once */
    tutti_status (*run)(void *context, const emu_trial *trial, tutti_report **report_out,
                        tutti_error *error);
    bool (*ends_well)(void *context, const tutti_report *report);
    /* The command that repeats a schedule with more faults, for free(). */
    char *(*repeat)(void *context, const char *choices, const char *faults);
    /* Sweeps the program's faults. NULL: it is to fail without one, and nobody can say what it is
     * to do with one. */
    tutti_status (*sweep)(void *context, const tutti_sweep_options *options,
                          tutti_sweep_report **report_out, tutti_error *error);
} emu_subject;

typedef struct emu_explorer {
    const emu_subject *subject;
    tutti_explore_options options; /* complete */
    tutti_exploration *result;
    tutti_explore_stage *stages; /* of the result, which it can change */
    tutti_explore_failure *failures;
    tutti_explore_stage *stage; /* that is being run */
    uint64_t stage_limit;
    uint32_t *step_counts; /* by host, of the plain run */
    uint64_t choice_count; /* of the plain run */
    uint64_t until_self_check;
    bool stopped;
    tutti_error *error;
} emu_explorer;

enum { EMU_EXPLORE_STAGES_MAX = 16, EMU_EXPLORE_SWEPT_MAX = 20 /* failures of a sweep kept */ };

/* Runs the ladder.
 * Errors: as tutti_explore() */
tutti_status emu_explore(const emu_subject *subject, const tutti_explore_options *options,
                         tutti_exploration **exploration_out, tutti_error *error);

/* Options in full: defaults, shards from the environment.
 * Errors: TUTTI_INVALID_ARGUMENT */
tutti_status emu_explore_options_complete(const tutti_explore_options *options,
                                          tutti_explore_options *full_out, tutti_error *error);

/* --- explore_failures.c --- */

/* Keeps a report that did not end as it must, or counts it with those that fail for the same cause;
 * the report is the explorer's from here on. `setting` "" unless it is a hazard, `faults` "" unless
 * a sweep found it. False: memory. */
bool emu_explorer_keep(emu_explorer *explorer, tutti_report *report, const char *setting,
                       const char *faults);

/* Whether two reports fail for the same cause. */
bool emu_reports_alike(const tutti_report *a, const tutti_report *b);

/* A report that says only that a run could not be repeated. NULL: memory. */
tutti_report *emu_divergence_report(uint32_t host_count, uint32_t host, const char *text);

/* Runs the record's schedule twice more and says what differs; "" when nothing does. */
void emu_explorer_find_divergence(emu_explorer *explorer, const emu_choice_record *record,
                                  char *text, size_t text_bytes);

/* --- shrink_choices.c --- */

/* Makes a failing schedule small: fewer answers other than 0, and lower ones, as long as it fails
 * for the same cause; and finds the choice that decides. Changes the failure. */
tutti_status emu_shrink_failure(const emu_subject *subject, tutti_explore_failure *failure,
                                tutti_error *error);

char *emu_text_copy(const char *text);

#endif
