#ifndef TUTTI_REPORT_FOLDER_H
#define TUTTI_REPORT_FOLDER_H

/* The folder that a failing run leaves behind, for whoever looks at it later and elsewhere:
 *
 *   report.txt    the report
 *   replay.txt    the one command that repeats the run
 *   trace.jsonl   every event
 *   trace.json    the same for Perfetto and chrome://tracing
 *   waitfor.dot   who waited for whom, for Graphviz
 *   lanes.svg     a lane for each rank and stream
 */

#include "tutti/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TUTTI_REPORT_TRACE_BYTES_MAX = 1 << 30, /* of a trace that is kept for a folder */
};

/* What a folder is made of. */
typedef struct tutti_report_folder {
    uint32_t struct_size; /* sizeof(tutti_report_folder) */
    const tutti_report *report;
    const char *title; /* over the pictures; NULL: the report's name, if it has one */
    const char *trace; /* the run's, as its sink got it; NULL: there is none, and no picture */
    size_t trace_bytes;
    const char *replay; /* the command; NULL: report->repeat, or how this process was started */
    uint64_t critical_event;   /* as in tutti_trace_picture; 0: not known */
    const char *critical_text; /* NULL */
} tutti_report_folder;

/* Writes a folder. It is written beside its place and gets its name when it is complete; a folder
 * that an earlier call has written there is replaced. Missing folders above it are made.
 * Memory:  everything is borrowed for the call
 * Errors:  TUTTI_INVALID_ARGUMENT: the fields; TUTTI_MISUSE: something else stands there, a file or
 *          a folder that holds what is not of a report. TUTTI_SYSTEM: it cannot be written.
 *          TUTTI_SYNTAX: the trace is none. TUTTI_OUT_OF_MEMORY. Messages name the path, and
 * nothing has changed there. */
tutti_status tutti_report_folder_write(const char *path, const tutti_report_folder *folder,
                                       tutti_error *error);

/* Says whether a folder could be written there, without changing anything.
 * Errors:  TUTTI_MISUSE, as above; TUTTI_INVALID_ARGUMENT: the path is NULL or empty */
tutti_status tutti_report_folder_check(const char *path, tutti_error *error);

#ifdef __cplusplus
}
#endif

#endif
