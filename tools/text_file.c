#define _POSIX_C_SOURCE 200809L

#include "tools/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tutti_status fail(const char *name, int number, tutti_error *error) {
    const tutti_status status =
        tutti_error_set(error, TUTTI_SYSTEM, "%s: cannot be read: %s", name, strerror(number));
    error->native_domain = "errno";
    error->native_code = number;
    return status;
}

/* Takes what is there, up to one byte more than is allowed. */
static tutti_status read_all(FILE *in, const char *name, size_t bytes_max, text_file *file,
                             tutti_error *error) {
    enum { BYTES_FIRST = 16 * 1024 };
    size_t room = 0;
    for (;;) {
        if (file->bytes == room) {
            room = room ? room * 2 : BYTES_FIRST;
            char *grown = realloc(file->text, room);
            if (!grown)
                return tutti_error_set(error, TUTTI_OUT_OF_MEMORY,
                                       "%s: no memory is left to read it", name);
            file->text = grown;
        }
        errno = 0;
        const size_t bytes = fread(file->text + file->bytes, 1, room - file->bytes, in);
        file->bytes += bytes;
        if (file->bytes > bytes_max)
            return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                                   "%s: has more than the %zu MiB that it may have", name,
                                   bytes_max / 1024 / 1024);
        if (ferror(in)) return fail(name, errno, error);
        if (bytes == 0) return TUTTI_OK;
    }
}

tutti_status text_file_read(const char *name, size_t bytes_max, text_file *file_out,
                            tutti_error *error) {
    const int is_input = strcmp(name, "-") == 0;
    FILE *in = is_input ? stdin : fopen(name, "rb");
    text_file file = {NULL, 0};
    tutti_error_clear(error);
    if (!in) return fail(name, errno, error);
    const tutti_status status = read_all(in, is_input ? "<stdin>" : name, bytes_max, &file, error);
    if (!is_input) fclose(in);
    if (status != TUTTI_OK) {
        free(file.text);
        return status;
    }
    *file_out = file;
    return TUTTI_OK;
}
