#ifndef TUTTI_TOOLS_TRACE_FILE_H
#define TUTTI_TOOLS_TRACE_FILE_H

/* The file that traces go to. It appears under its name when it is complete, and not before; what
 * stood there stays until then. */

#include "tutti/emu.h"

typedef struct trace_file trace_file;

/* Starts a trace. "-" is standard output; what is no regular file (a pipe, a device) is written to
 * directly.
 * Errors: TUTTI_SYSTEM: it cannot be written there; TUTTI_OUT_OF_MEMORY */
tutti_status trace_file_open(const char *name, trace_file **file_out, tutti_error *error);

/* Takes a piece of the trace; the context is the trace_file. What goes wrong is told at the end. */
tutti_trace_sink trace_file_write;

/* Ends the trace and gives the file its name; frees it whatever happens.
 * Errors: TUTTI_SYSTEM: it could not be written in full, and nothing has changed under its name */
tutti_status trace_file_close(trace_file *file, tutti_error *error);

/* Ends the trace and throws it away. NULL does nothing. */
void trace_file_discard(trace_file *file);

#endif
