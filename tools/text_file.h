#ifndef TUTTI_TOOLS_TEXT_FILE_H
#define TUTTI_TOOLS_TEXT_FILE_H

/* A file as one text in memory. */

#include <stddef.h>

#include "tutti/status.h"

enum { TEXT_FILE_BYTES_MAX = 16 * 1024 * 1024 }; /* as much as a script may have */

typedef struct text_file {
    char *text; /* never NULL; for free() */
    size_t bytes;
} text_file;

/* Reads a whole file; "-" is standard input.
 * Memory: file_out->text is the caller's
 * Errors: TUTTI_SYSTEM: it cannot be opened or read, or is a folder; TUTTI_INVALID_ARGUMENT: it
 *         holds more than TEXT_FILE_BYTES_MAX; TUTTI_OUT_OF_MEMORY. The message starts with the
 *         name. *file_out is untouched then. */
tutti_status text_file_read(const char *name, text_file *file_out, tutti_error *error);

#endif
