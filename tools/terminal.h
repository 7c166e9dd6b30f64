#ifndef TUTTI_TOOLS_TERMINAL_H
#define TUTTI_TOOLS_TERMINAL_H

/* Colours, where there is a terminal that shows them. */

#include <stdbool.h>
#include <stdio.h>

typedef enum terminal_colour {
    TERMINAL_PLAIN,
    TERMINAL_GOOD,
    TERMINAL_BAD,
    TERMINAL_STRONG,
} terminal_colour;

/* Whether a stream is a terminal that shows colours, and nobody has asked for none (NO_COLOR). */
bool terminal_has_colours(FILE *out);

/* Prints a word, coloured if `colours` says so. */
void terminal_print(FILE *out, bool colours, terminal_colour colour, const char *word);

#endif
