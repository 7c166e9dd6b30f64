#define _POSIX_C_SOURCE 200809L

#include "tools/working_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool working_folder_enter(void) {
    const char *folder = getenv("BUILD_WORKING_DIRECTORY");
    /* A test that `bazel run` runs hands the variable down, but names files from where it is. */
    if (!folder || getenv("TEST_SRCDIR")) return true;
    if (chdir(folder) == 0) return true;
    fprintf(stderr, "tutti: cannot go to BUILD_WORKING_DIRECTORY, %s: %s\n", folder,
            strerror(errno));
    return false;
}
