#ifndef TUTTI_TOOLS_PRINT_H
#define TUTTI_TOOLS_PRINT_H

/* How the command's programs write to people. */

#include <stdint.h>
#include <stdio.h>

#include "tutti/emu.h"

/* What a program of the command ends with. Worse is larger: of several scripts the worst one
 * decides. */
enum {
    EXIT_AS_EXPECTED = 0, /* each script ended as it must */
    EXIT_OTHERWISE = 1,   /* some script did not */
    EXIT_UNREADABLE = 2,  /* some script, option or file could not be used */
};

/* Prints a text that came from outside: what would move a terminal's cursor becomes "?". */
void text_print(FILE *out, const char *text);

/* Prints a word so that a POSIX shell reads it back: as it is, or in single quotes. */
void shell_print(FILE *out, const char *word);

/* Prints ascending numbers of ranks: "1", "0, 1", "0-3, 7", and after some "and 12 more". */
void ranks_print(FILE *out, const int32_t *ranks, uint32_t count);

/* Prints what a run ended with: "mismatch (count), culprit 1". */
void verdict_print(FILE *out, tutti_verdict verdict, const char *detail, const int32_t *culprits,
                   uint32_t culprit_count);

/* The last thing that a program does: sees whether everything printed has arrived, and says so if
 * not. Returns the status to exit with. */
int output_finish(int status);

#endif
