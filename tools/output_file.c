#define _GNU_SOURCE /* O_TMPFILE, realpath */

#include "tools/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENDING_BYTES = 24 }; /* room for what makes a temporary name of a name */

struct output_file {
    FILE *out;
    char *name;      /* that it gets in the end, links followed; NULL: it has its name already */
    char *temporary; /* a name for the time before, with room for one; NULL likewise */
    bool is_named;   /* it has the temporary one */
    char *shown;     /* as the person wrote it */
    int write_error; /* errno of the first failure; 0: none */
};

static tutti_status fail(const char *name, int number, tutti_error *error) {
    const tutti_status status =
        tutti_error_set(error, TUTTI_SYSTEM, "%s: cannot be written: %s", name, strerror(number));
    error->native_domain = "errno";
    error->native_code = number;
    return status;
}

static void output_file_free(output_file *file) {
    free(file->name);
    free(file->temporary);
    free(file->shown);
    free(file);
}

/* --- The file before it is complete --- */

static mode_t mode_of_new(const struct stat *old) {
    const mode_t hidden = umask(0);
    umask(hidden);
    return old ? old->st_mode & 0777 : 0666 & ~hidden;
}

/* A file without a name in the folder of the one that it will replace; -1 where there are none. */
static int open_nameless(const output_file *file) {
    char link[64];
    char *folder = strdup(file->name);
    if (!folder) return -1;
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = '\0';
    const int descriptor = open(slash ? folder : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    free(folder);
    if (descriptor < 0) return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    if (access(link, F_OK) == 0) return descriptor; /* it can be named later */
    close(descriptor);
    return -1;
}

/* A new file beside the one that it will replace, with the rights that a new file gets, or those of
 * the old one. Returns errno. */
static int open_temporary(output_file *file, const struct stat *old) {
    const size_t bytes = strlen(file->name) + ENDING_BYTES;
    file->temporary = malloc(bytes);
    if (!file->temporary) return ENOMEM;
    snprintf(file->temporary, bytes, "%s.XXXXXX", file->name);
    int descriptor = open_nameless(file);
    file->is_named = descriptor < 0;
    if (file->is_named) descriptor = mkstemp(file->temporary);
    if (descriptor < 0) return errno;
    file->out = fchmod(descriptor, mode_of_new(old)) == 0 ? fdopen(descriptor, "wb") : NULL;
    if (file->out) return 0;
    const int number = errno;
    close(descriptor);
    if (file->is_named) unlink(file->temporary);
    return number;
}

/* Gives a file without a name the temporary one: only a name can replace another. A name that
 * nobody has is found by making a file of it. Returns errno. */
static int name_temporary(output_file *file) {
    enum { TRIES_MAX = 100 };
    char link[64];
    if (file->is_named) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(file->out));
    for (int i = 0; i < TRIES_MAX; i++) {
        snprintf(file->temporary + strlen(file->name), ENDING_BYTES, ".part%d", i);
        if (linkat(AT_FDCWD, link, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0) {
            file->is_named = true;
            return 0;
        }
        if (errno != EEXIST) return errno;
    }
    return EEXIST;
}

/* Returns errno. */
static int open_named(output_file *file, const char *name) {
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

tutti_status output_file_open(const char *name, output_file **file_out, tutti_error *error) {
    output_file *file = calloc(1, sizeof *file);
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
        output_file_free(file);
        return status;
    }
    *file_out = file;
    return TUTTI_OK;
}

void output_file_write(void *context, const char *text, size_t text_bytes) {
    output_file *file = context;
    if (file->write_error != 0 || text_bytes == 0) return;
    errno = 0;
    if (fwrite(text, 1, text_bytes, file->out) != text_bytes)
        file->write_error = errno ? errno : EIO;
}

/* Everything is written, and the file gets its name. Returns errno. */
static int finish_writing(output_file *file) {
    int number = file->write_error;
    const bool is_output = file->out == stdout;
    errno = 0;
    if (fflush(file->out) != 0 && number == 0) number = errno ? errno : EIO;
    if (number == 0 && file->temporary) number = name_temporary(file);
    errno = 0;
    if (!is_output && fclose(file->out) != 0 && number == 0) number = errno ? errno : EIO;
    return number;
}

tutti_status output_file_close(output_file *file, tutti_error *error) {
    int number = finish_writing(file);
    tutti_status status = TUTTI_OK;
    tutti_error_clear(error);
    if (number == 0 && file->temporary && rename(file->temporary, file->name) != 0) number = errno;
    if (number != 0) {
        if (file->is_named) unlink(file->temporary);
        status = fail(file->shown, number, error);
    }
    output_file_free(file);
    return status;
}

void output_file_discard(output_file *file) {
    if (!file) return;
    if (file->out != stdout) fclose(file->out);
    if (file->is_named) unlink(file->temporary);
    output_file_free(file);
}
