#ifndef TUTTI_TOOLS_JUNIT_LOG_H
#define TUTTI_TOOLS_JUNIT_LOG_H

/* How the scripts of a run ended, for CI systems: JUnit XML. */

#include "tools/script_outcome.h"

typedef struct junit_log junit_log;

/* Starts a log whose file appears when it is complete.
 * Errors: as output_file_open() */
tutti_status junit_log_open(const char *name, junit_log **log_out, tutti_error *error);

/* Adds a script: what is kept of it is copied. A shortage of memory is told at the end. */
void junit_log_add(junit_log *log, const script_outcome *outcome);

/* Writes the file; frees the log whatever happens.
 * Errors: as output_file_close(); TUTTI_OUT_OF_MEMORY */
tutti_status junit_log_close(junit_log *log, tutti_error *error);

#endif
