#ifndef TUTTI_EMU_KEEPER_H
#define TUTTI_EMU_KEEPER_H

/* Keeps what a rehearsal's report folder is made of, where one was asked for. */

#include <stdbool.h>

#include "tutti/report_folder.h"

typedef struct emu_keeper {
    char *path; /* NULL: nobody asked */
    char *trace;
    size_t trace_bytes, trace_room;
    bool is_whole;                /* all of the trace was kept */
    tutti_trace_sink *trace_sink; /* the caller's; NULL */
    void *trace_context;
} emu_keeper;

/* Finds out whether a folder is wanted: options->report_folder, or the rehearsal's name in the
 * folder that TUTTI_REPORT_FOLDER names. If so, the options' trace goes to the keeper, which hands
 * it on.
 * Errors: as tutti_report_folder_check(); TUTTI_OUT_OF_MEMORY. There is nothing to end then. */
tutti_status emu_keeper_begin(emu_keeper *keeper, tutti_rehearsal_options *options,
                              tutti_error *error);

/* The rehearsal is over: leaves the folder if it did not end well. `report` NULL: nothing ran.
 * Errors: as tutti_report_folder_write() */
tutti_status emu_keeper_end(emu_keeper *keeper, const tutti_report *report, tutti_error *error);

#endif
