#define _GNU_SOURCE /* renameat2 */
#include "src/trace/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tutti_status fail(const char *path, const char *what, int number, tutti_error *error) {
    const tutti_status status =
        tutti_error_set(error, TUTTI_SYSTEM, "%s: %s: %s", path, what, strerror(number));
    if (error) {
        error->native_domain = "errno";
        error->native_code = number;
    }
    return status;
}

/* --- Whether it is ours --- */

static bool is_known(const trace_folder_kind *kind, const char *name) {
    for (size_t i = 0; i < kind->name_count; i++)
        if (strcmp(kind->names[i], name) == 0) return true;
    return false;
}

static bool has_proof(const trace_folder_kind *kind, int folder) {
    char start[64];
    const size_t wanted = strlen(kind->proof_start);
    const int descriptor =
        openat(folder, kind->proof, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) return false;
    const ssize_t bytes = read(descriptor, start, wanted < sizeof start ? wanted : sizeof start);
    close(descriptor);
    return bytes == (ssize_t)wanted && memcmp(start, kind->proof_start, wanted) == 0;
}

static tutti_status check_entries(const trace_folder_kind *kind, const char *path, DIR *folder,
                                  tutti_error *error) {
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        count++;
        if (!is_known(kind, entry->d_name))
            return tutti_error_set(error, TUTTI_MISUSE,
                                   "%s: holds '%s', which is not of a report: nothing was changed; "
                                   "name another folder",
                                   path, entry->d_name);
    }
    if (count == 0 || has_proof(kind, dirfd(folder))) return TUTTI_OK;
    return tutti_error_set(error, TUTTI_MISUSE,
                           "%s: is no folder of a report (its %s is missing or another one): "
                           "nothing was changed; name another folder",
                           path, kind->proof);
}

tutti_status trace_folder_check(const trace_folder_kind *kind, const char *path,
                                tutti_error *error) {
    struct stat what;
    if (lstat(path, &what) != 0)
        return errno == ENOENT ? TUTTI_OK : fail(path, "cannot be looked at", errno, error);
    if (!S_ISDIR(what.st_mode))
        return tutti_error_set(error, TUTTI_MISUSE,
                               "%s: is no folder: nothing was changed; name another place", path);
    DIR *folder = opendir(path);
    if (!folder) return fail(path, "cannot be looked into", errno, error);
    const tutti_status status = check_entries(kind, path, folder, error);
    closedir(folder);
    return status;
}

/* --- Beside its place --- */

/* Makes the folders above, as far as they are missing. */
static tutti_status make_parents(char *path, tutti_error *error) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool good = mkdir(path, 0777) == 0 || errno == EEXIST;
        const int number = errno;
        if (!good) {
            const tutti_status status = fail(path, "this folder cannot be made", number, error);
            *slash = '/';
            return status;
        }
        *slash = '/';
    }
    return TUTTI_OK;
}

/* A name that nobody has is found by making a folder of it. */
static tutti_status make_temporary(trace_folder *folder, size_t bytes, tutti_error *error) {
    enum { TRIES_MAX = 1000 };
    const size_t path_bytes = strlen(folder->temporary);
    for (int i = 0; i < TRIES_MAX; i++) {
        snprintf(folder->temporary + path_bytes, bytes - path_bytes, ".part%d", i);
        if (mkdir(folder->temporary, 0777) == 0) break;
        if (errno != EEXIST || i + 1 == TRIES_MAX)
            return fail(folder->path, "no folder can be made beside it", errno, error);
    }
    folder->descriptor = open(folder->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->descriptor >= 0) return TUTTI_OK;
    const int number = errno;
    rmdir(folder->temporary);
    return fail(folder->temporary, "cannot be opened", number, error);
}

tutti_status trace_folder_begin(trace_folder *folder, const trace_folder_kind *kind,
                                const char *path, tutti_error *error) {
    tutti_status status = trace_folder_check(kind, path, error);
    if (status != TUTTI_OK) return status;
    const size_t bytes = strlen(path) + sizeof ".part1000";
    *folder = (trace_folder){kind, path, malloc(bytes), -1};
    if (!folder->temporary)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "%s: no memory is left", path);
    memcpy(folder->temporary, path, strlen(path) + 1);
    for (char *end = folder->temporary + strlen(path);
         end > folder->temporary + 1 && end[-1] == '/';)
        *--end = '\0';
    status = make_parents(folder->temporary, error);
    if (status == TUTTI_OK) status = make_temporary(folder, bytes, error);
    if (status != TUTTI_OK) free(folder->temporary);
    return status;
}

/* Returns errno. */
static int write_all(int descriptor, const char *text, size_t bytes) {
    while (bytes > 0) {
        const ssize_t written = write(descriptor, text, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written < 0 ? errno : EIO;
        text += written;
        bytes -= (size_t)written;
    }
    return 0;
}

tutti_status trace_folder_add(trace_folder *folder, const char *name, const char *text,
                              size_t bytes, tutti_error *error) {
    char what[128];
    const int descriptor =
        openat(folder->descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int number = descriptor < 0 ? errno : write_all(descriptor, text, bytes);
    if (descriptor >= 0 && close(descriptor) != 0 && number == 0) number = errno;
    if (number == 0) return TUTTI_OK;
    snprintf(what, sizeof what, "its %s cannot be written", name);
    return fail(folder->path, what, number, error);
}

/* --- In its place --- */

/* Deletes a folder and the files of ours in it. What somebody else has put there meanwhile stays,
 * and the folder with it. */
static void delete_folder(const trace_folder_kind *kind, const char *path) {
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0) return;
    for (size_t i = 0; i < kind->name_count; i++)
        unlinkat(folder, kind->names[i], 0);
    close(folder);
    rmdir(path);
}

/* Where the filesystem cannot swap two folders: for a moment, none stands there. Returns errno. */
static int replace_in_steps(const trace_folder *folder) {
    const size_t bytes = strlen(folder->temporary) + sizeof ".old";
    char *old = malloc(bytes);
    if (!old) return ENOMEM;
    snprintf(old, bytes, "%s.old", folder->temporary);
    int number = rename(folder->path, old) == 0 ? 0 : errno;
    if (number == 0 && rename(folder->temporary, folder->path) != 0) {
        number = errno;
        (void)rename(old, folder->path);
    }
    if (number == 0) delete_folder(folder->kind, old);
    free(old);
    return number;
}

/* Returns errno. */
static int take_place(const trace_folder *folder) {
    if (rename(folder->temporary, folder->path) == 0) return 0; /* nothing, or an empty one */
    if (errno != ENOTEMPTY && errno != EEXIST) return errno;
    if (renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->path, RENAME_EXCHANGE) == 0) {
        delete_folder(folder->kind, folder->temporary); /* the old one has this name now */
        return 0;
    }
    return errno == EINVAL || errno == ENOSYS ? replace_in_steps(folder) : errno;
}

tutti_status trace_folder_finish(trace_folder *folder, tutti_error *error) {
    tutti_status status = trace_folder_check(folder->kind, folder->path, error);
    int number = 0;
    close(folder->descriptor);
    if (status == TUTTI_OK) number = take_place(folder);
    if (number != 0) status = fail(folder->path, "cannot be put in its place", number, error);
    if (status != TUTTI_OK) delete_folder(folder->kind, folder->temporary);
    free(folder->temporary);
    return status;
}

void trace_folder_discard(trace_folder *folder) {
    close(folder->descriptor);
    delete_folder(folder->kind, folder->temporary);
    free(folder->temporary);
}
