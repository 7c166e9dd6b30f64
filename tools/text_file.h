#ifndef TUTTI_TOOLS_TEXT_FILE_H
#define TUTTI_TOOLS_TEXT_FILE_H

/* A file as one text in memory. */

#include <stddef.h>

#include "tutti/status.h"

enum {
    SCRIPT_BYTES_MAX = 16 * 1024 * 1024,  /* as much as a script may have */
    TRACE_BYTES_MAX = 1024 * 1024 * 1024, /* as much as a trace may have */
};

typedef struct text_file {
    char *text; /* never NULL; for free() */
    size_t bytes;
} text_file;

/* Reads a whole file of up to bytes_max; "-" is standard input.
 * Memory: file_out->text is the caller's
 * Errors: TUTTI_SYSTEM: it cannot be opened or read, or is a folder; TUTTI_INVALID_ARGUMENT: it
 *         holds more than bytes_max; TUTTI_OUT_OF_MEMORY. The message starts with the
 *         name. *file_out is untouched then. */
tutti_status text_file_read(const char *name, size_t bytes_max, text_file *file_out,
                            tutti_error *error);

#endif
