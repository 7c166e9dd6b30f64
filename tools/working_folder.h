#ifndef TUTTI_TOOLS_WORKING_FOLDER_H
#define TUTTI_TOOLS_WORKING_FOLDER_H

/* Where file names on the command line start from. */

#include <stdbool.h>

/* `bazel run` starts programs in a folder of its own: goes back to where the person stands, so that
 * file names mean what they say. Does nothing elsewhere. False, and a message, when the folder is
 * gone. */
bool working_folder_enter(void);

#endif
