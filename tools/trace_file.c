#define _DEFAULT_SOURCE /* realpath, besides POSIX */

#include "tools/trace_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct trace_file {
    FILE *out;
    char *name;      /* that it gets in the end, links followed; NULL: it has its name already */
    char *temporary; /* that it has until then; NULL likewise */
    char *shown;     /* as the person wrote it */
    int write_error; /* errno of the first failure; 0: none */
};

static tutti_status fail(const char *name, int number, tutti_error *error) {
    const tutti_status status = tutti_error_set(
        error, TUTTI_SYSTEM, "%s: the trace cannot be written: %s", name, strerror(number));
    error->native_domain = "errno";
    error->native_code = number;
    return status;
}

static void trace_file_free(trace_file *file) {
    free(file->name);
    free(file->temporary);
    free(file->shown);
    free(file);
}

/* A new file beside the one that it will replace, with the rights that a new file gets, or those of
 * the old one. Returns errno. */
static int open_temporary(trace_file *file, const struct stat *old) {
    static const char ending[] = ".XXXXXX";
    const size_t bytes = strlen(file->name) + sizeof ending;
    file->temporary = malloc(bytes);
    if (!file->temporary) return ENOMEM;
    snprintf(file->temporary, bytes, "%s%s", file->name, ending);
    const int descriptor = mkstemp(file->temporary);
    if (descriptor < 0) return errno;
    const mode_t hidden = umask(0);
    umask(hidden);
    const mode_t mode = old ? old->st_mode & 0777 : 0666 & ~hidden;
    file->out = fchmod(descriptor, mode) == 0 ? fdopen(descriptor, "wb") : NULL;
    if (file->out) return 0;
    const int number = errno;
    close(descriptor);
    unlink(file->temporary);
    return number;
}

/* Returns errno. */
static int open_named(trace_file *file, const char *name) {
    struct stat old;
    const bool there = stat(name, &old) == 0;
    if (there && !S_ISREG(old.st_mode)) {
        file->out = S_ISDIR(old.st_mode) ? NULL : fopen(name, "wb");
        return file->out ? 0 : S_ISDIR(old.st_mode) ? EISDIR : errno;
    }
    if (there && access(name, W_OK) != 0) return errno;
    file->name = there ? realpath(name, NULL) : strdup(name);
    if (!file->name) return errno;
    return open_temporary(file, there ? &old : NULL);
}

tutti_status trace_file_open(const char *name, trace_file **file_out, tutti_error *error) {
    trace_file *file = calloc(1, sizeof *file);
    tutti_error_clear(error);
    if (!file || !(file->shown = strdup(name))) {
        free(file);
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "%s: no memory is left", name);
    }
    int number = 0;
    if (strcmp(name, "-") == 0)
        file->out = stdout;
    else
        number = *name ? open_named(file, name) : ENOENT;
    if (number != 0) {
        const tutti_status status = fail(name, number, error);
        trace_file_free(file);
        return status;
    }
    *file_out = file;
    return TUTTI_OK;
}

void trace_file_write(void *context, const char *text, size_t text_bytes) {
    trace_file *file = context;
    if (file->write_error != 0 || text_bytes == 0) return;
    errno = 0;
    if (fwrite(text, 1, text_bytes, file->out) != text_bytes)
        file->write_error = errno ? errno : EIO;
}

/* Returns errno. */
static int finish_writing(trace_file *file) {
    int number = file->write_error;
    errno = 0;
    const bool is_output = file->out == stdout;
    if ((is_output ? fflush(stdout) : fclose(file->out)) != 0 && number == 0)
        number = errno ? errno : EIO;
    return number;
}

tutti_status trace_file_close(trace_file *file, tutti_error *error) {
    int number = finish_writing(file);
    tutti_status status = TUTTI_OK;
    tutti_error_clear(error);
    if (number == 0 && file->temporary && rename(file->temporary, file->name) != 0) number = errno;
    if (number != 0) {
        if (file->temporary) unlink(file->temporary);
        status = fail(file->shown, number, error);
    }
    trace_file_free(file);
    return status;
}

void trace_file_discard(trace_file *file) {
    if (!file) return;
    finish_writing(file);
    if (file->temporary) unlink(file->temporary);
    trace_file_free(file);
}
