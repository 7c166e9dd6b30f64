#ifndef TUTTI_TOOLS_OUTPUT_FILE_H
#define TUTTI_TOOLS_OUTPUT_FILE_H

/* A file that the command writes. It appears under its name when it is complete, and not before;
 * what stood there stays until then. A command that is killed leaves nothing behind, where the
 * filesystem has files without a name. */

#include <stddef.h>

#include "tutti/status.h"

typedef struct output_file output_file;

/* Starts a file. "-" is standard output; what is no regular file (a pipe, a device) is written to
 * directly.
 * Errors: TUTTI_SYSTEM: it cannot be written there; TUTTI_OUT_OF_MEMORY */
tutti_status output_file_open(const char *name, output_file **file_out, tutti_error *error);

/* Takes a piece of it; the context is the output_file. What goes wrong is told at the end. */
void output_file_write(void *context, const char *text, size_t text_bytes);

/* Ends the file and gives it its name; frees it whatever happens.
 * Errors: TUTTI_SYSTEM: it could not be written in full, and nothing has changed under its name */
tutti_status output_file_close(output_file *file, tutti_error *error);

/* Ends the file and throws it away. NULL does nothing. */
void output_file_discard(output_file *file);

#endif
