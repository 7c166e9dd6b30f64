#ifndef TUTTI_TOOLS_SCRIPT_OUTCOME_H
#define TUTTI_TOOLS_SCRIPT_OUTCOME_H

/* One script: read, run, and compared with how it must end. */

#include <stdbool.h>
#include <stdio.h>

#include "tools/output_file.h"
#include "tutti/script.h"

/* How to run scripts. */
typedef struct script_settings {
    tutti_script_executor executor;
    bool has_seed; /* then the schedule is drawn from seed */
    uint64_t seed;
    const char *faults;  /* NULL: what TUTTI_FAULTS holds */
    const char *choices; /* the schedule; NULL: plain or drawn */
    output_file *trace;  /* that events go to; NULL: none */
    bool keeps_trace;    /* in the outcome */
} script_settings;

/* How a script ended. */
typedef struct script_outcome {
    const char *file;     /* as the person wrote it */
    tutti_script *script; /* NULL: it could not be read */
    tutti_report *report; /* NULL: nothing ran */
    bool as_expected;     /* it ended as it must */
    char *trace;          /* every event, if that was asked for; NULL */
    size_t trace_bytes;
    const char *folder; /* where its report folder is, borrowed; NULL: there is none */
    tutti_error error;  /* why nothing ran */
} script_outcome;

/* Reads a file and runs it. "-" is standard input.
 * Memory: file is borrowed for ever; *outcome_out is the caller's, for script_outcome_free() */
void script_outcome_get(const char *file, const script_settings *settings,
                        script_outcome *outcome_out);

void script_outcome_free(script_outcome *outcome);

/* EXIT_AS_EXPECTED, EXIT_OTHERWISE or EXIT_UNREADABLE. */
int script_outcome_status(const script_outcome *outcome);

/* The report as text, for free(); NULL when memory is out. */
char *script_outcome_report(const script_outcome *outcome);

/* Leaves the report folder of a script that ran, whose trace was kept.
 * Errors: as tutti_report_folder_write() */
tutti_status script_outcome_leave_folder(const script_outcome *outcome, const char *path,
                                         tutti_error *error);

/* What the root finding says more precisely than the verdict ("count" of a mismatch); "". */
const char *script_outcome_detail(const script_outcome *outcome);

#endif
