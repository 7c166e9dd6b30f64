#include "tools/words.h"

#include <string.h>

enum {
    WORD_BYTES_MAX = 31, /* longer ones are near to nothing */
};

/* --- Words that look alike --- */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* How many letters have to be inserted, deleted or replaced (Levenshtein). */
static size_t word_distance(const char *a, const char *b) {
    const size_t b_bytes = strlen(b);
    size_t row[WORD_BYTES_MAX + 1];
    for (size_t j = 0; j <= b_bytes; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_bytes; j++) {
            const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_bytes];
}

const char *word_near(const char *word, const char *const *words, size_t count) {
    const char *best = NULL;
    size_t limit = 1 + strlen(word) / 3;
    if (strlen(word) > WORD_BYTES_MAX) return NULL;
    for (size_t i = 0; i < count; i++) {
        const size_t distance = word_distance(word, words[i]);
        if (distance > limit || distance >= strlen(words[i]) || (best && distance == limit))
            continue;
        best = words[i];
        limit = distance;
    }
    return best;
}

/* --- Numbers --- */

bool number_parse(const char *text, uint64_t *number_out) {
    uint64_t number = 0;
    if (!*text) return false;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9') return false;
        const uint64_t digit = (uint64_t)(*at - '0');
        if (number > (UINT64_MAX - digit) / 10) return false;
        number = number * 10 + digit;
    }
    *number_out = number;
    return true;
}
