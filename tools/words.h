#ifndef TUTTI_TOOLS_WORDS_H
#define TUTTI_TOOLS_WORDS_H

/* What a person typed: words and numbers. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The word of a list that was most likely meant; NULL when none is near. */
const char *word_near(const char *word, const char *const *words, size_t count);

/* Reads a number of decimal digits and nothing else: no sign, no blank, no overflow. False when it
 * is none; *number_out is then untouched. */
bool number_parse(const char *text, uint64_t *number_out);

#endif
