#ifndef TUTTI_TOOLS_OUTCOME_JSON_H
#define TUTTI_TOOLS_OUTCOME_JSON_H

/* How a script ended, for programs. docs/scripts.md describes the object. */

#include <stdbool.h>

#include "tools/script_outcome.h"

/* Prints one object on a line of its own. False when memory is out: nothing is printed then. */
bool outcome_print_json(FILE *out, const script_outcome *outcome);

#endif
