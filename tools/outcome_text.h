#ifndef TUTTI_TOOLS_OUTCOME_TEXT_H
#define TUTTI_TOOLS_OUTCOME_TEXT_H

/* How a script ended, for people. */

#include "tools/script_outcome.h"

/* What to print. */
typedef struct outcome_style {
    bool colours;
    bool verbose; /* the report of every script, not only of those that end otherwise */
} outcome_style;

/* Prints one line, the report behind it if there is a reason to look at it, and on stderr why
 * nothing ran. */
void outcome_print(const script_outcome *outcome, const outcome_style *style);

/* Prints only why nothing ran, if so; on stderr. */
void outcome_print_error(const script_outcome *outcome);

#endif
