#ifndef TUTTI_TOOLS_RUN_FOLDER_H
#define TUTTI_TOOLS_RUN_FOLDER_H

/* Which folder a script's report goes to. */

#include <stddef.h>

/* FOLDER/NAME, for free(): the name is that of files[index] without folders and ending, and with a
 * number where an earlier file has the same ("reuse~2"). What is awkward in a folder's name becomes
 * "_". NULL when memory is out. */
char *run_folder_path(const char *folder, const char *const *files, size_t index);

#endif
