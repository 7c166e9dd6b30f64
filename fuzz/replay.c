/* Runs a fuzz target once on every file that is an argument, and on every file of the folders that
 * are, in the order of their names. A folder without files is a failure: nothing was tried. */
#define _POSIX_C_SOURCE 200809L

#include "fuzz/entry.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096 };

static void stop(const char *path, const char *what) {
    fprintf(stderr, "%s: %s\n", path, what);
    exit(1);
}

/* Exactly as many bytes as the file has, so that a sanitizer sees a read beyond them. */
static uint8_t *read_whole(const char *path, size_t *bytes_out) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) stop(path, "cannot be opened");
    long length = ftell(file);
    if (length < 0 || fseek(file, 0, SEEK_SET) != 0) stop(path, "has no length");
    size_t bytes = (size_t)length;
    uint8_t *data = malloc(bytes > 0 ? bytes : 1);
    if (data == NULL) stop(path, "does not fit into memory");
    if (fread(data, 1, bytes, file) != bytes) stop(path, "cannot be read");
    fclose(file);
    *bytes_out = bytes;
    return data;
}

static void replay_file(const char *path) {
    size_t bytes;
    uint8_t *data = read_whole(path, &bytes);
    printf("%s (%zu bytes)\n", path, bytes);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, bytes);
    free(data);
}

static int is_input(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void replay_folder(const char *folder) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_input, alphasort);
    if (count < 0) stop(folder, "is not a folder that can be read");
    if (count == 0) stop(folder, "holds no input");
    for (int i = 0; i < count; i++) {
        char path[PATH_BYTES];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (length < 0 || (size_t)length >= sizeof path)
            stop(folder, "has an input with too long a name");
        replay_file(path);
        free(entries[i]);
    }
    free(entries);
}

static void replay(const char *path) {
    struct stat about;
    if (stat(path, &about) != 0) stop(path, "is not there");
    if (S_ISDIR(about.st_mode))
        replay_folder(path);
    else
        replay_file(path);
}

int main(int argc, char **argv) {
    if (argc < 2) stop(argv[0], "wants inputs, or the folders that hold them");
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    return 0;
}
