#ifndef TUTTI_TOOLS_EXPLORATION_JSON_H
#define TUTTI_TOOLS_EXPLORATION_JSON_H

/* What an exploration found, for programs. */

#include <stdbool.h>
#include <stdio.h>

#include "tutti/explore.h"

/* Prints one object on a line. False when memory is out. */
bool exploration_print_json(FILE *out, const char *file, const tutti_exploration *exploration);

#endif
