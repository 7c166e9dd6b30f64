#ifndef TUTTI_TRACE_FOLDER_H
#define TUTTI_TRACE_FOLDER_H

/* A folder of files that appears as a whole. Knows nothing of what is in it but the names. */

#include <stdbool.h>
#include <stddef.h>

#include "tutti/status.h"

/* What makes a folder ours: it is empty, or holds nothing but files of these names, and the one
 * that proves it begins as it must. */
typedef struct trace_folder_kind {
    const char *const *names;
    size_t name_count;
    const char *proof;       /* one of the names */
    const char *proof_start; /* what the file begins with */
} trace_folder_kind;

typedef struct trace_folder {
    const trace_folder_kind *kind;
    const char *path;
    char *temporary; /* beside it */
    int descriptor;  /* of the temporary one */
} trace_folder;

/* Says whether the path is free or holds a folder of ours. */
tutti_status trace_folder_check(const trace_folder_kind *kind, const char *path,
                                tutti_error *error);

/* Makes an empty folder beside the path. */
tutti_status trace_folder_begin(trace_folder *folder, const trace_folder_kind *kind,
                                const char *path, tutti_error *error);

/* Writes a file into it. */
tutti_status trace_folder_add(trace_folder *folder, const char *name, const char *text,
                              size_t bytes, tutti_error *error);

/* Puts it in its place; what of ours stood there is gone. Frees it whatever happens. */
tutti_status trace_folder_finish(trace_folder *folder, tutti_error *error);

/* Throws it away. */
void trace_folder_discard(trace_folder *folder);

#endif
