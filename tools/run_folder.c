#define _POSIX_C_SOURCE 200809L

#include "tools/run_folder.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 100 };

/* The part of a file's name that stands for it. */
static const char *name_of(const char *file, size_t *bytes_out) {
    static const char ending[] = ".tut";
    const char *slash = strrchr(file, '/');
    const char *name = strcmp(file, "-") == 0 ? "stdin" : slash ? slash + 1 : file;
    size_t bytes = strlen(name);
    const size_t ending_bytes = sizeof ending - 1;
    if (bytes > ending_bytes && strcmp(name + bytes - ending_bytes, ending) == 0)
        bytes -= ending_bytes;
    *bytes_out = bytes < NAME_BYTES_MAX ? bytes : NAME_BYTES_MAX;
    return name;
}

/* What stands for a character in the folder's name. A first dot would hide it. */
static char plain(const char *name, size_t index) {
    const char c = name[index];
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || (c == '.' && index > 0);
    return good ? c : '_';
}

static bool is_equal(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
    if (a_bytes != b_bytes) return false;
    for (size_t i = 0; i < a_bytes; i++)
        if (plain(a, i) != plain(b, i)) return false;
    return true;
}

static size_t count_equal(const char *const *files, size_t index) {
    size_t bytes, other_bytes, count = 0;
    const char *name = name_of(files[index], &bytes);
    for (size_t i = 0; i < index; i++) {
        const char *other = name_of(files[i], &other_bytes);
        count += is_equal(name, bytes, other, other_bytes);
    }
    return count;
}

char *run_folder_path(const char *folder, const char *const *files, size_t index) {
    char *path = NULL;
    size_t path_bytes = 0, bytes;
    const char *name = name_of(files[index], &bytes);
    const size_t equal = count_equal(files, index);
    FILE *out = open_memstream(&path, &path_bytes);
    if (!out) return NULL;
    fprintf(out, "%s/", folder);
    for (size_t i = 0; i < bytes; i++)
        fputc(plain(name, i), out);
    if (equal > 0) fprintf(out, "~%zu", equal + 1); /* which no name has otherwise */
    if (fclose(out) == 0) return path;
    free(path);
    return NULL;
}
