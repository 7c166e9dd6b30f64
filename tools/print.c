#include "tools/print.h"

#include <stdbool.h>

#include <errno.h>
#include <string.h>

enum {
    RANGES_SHOWN_MAX = 16, /* of ranks */
};

void text_print(FILE *out, const char *text) {
    for (const char *at = text; *at; at++) {
        const bool control =
            ((unsigned char)*at < 0x20 && *at != '\n' && *at != '\t') || *at == 0x7f;
        fputc(control ? '?' : *at, out);
    }
}

/* Characters that mean nothing to a shell, wherever they stand. */
static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_-./,:@%+", c));
}

void shell_print(FILE *out, const char *word) {
    const char *at = word;
    while (is_plain(*at))
        at++;
    if (*word && !*at) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (at = word; *at; at++) {
        if (*at == '\'')
            fputs("'\\''", out);
        else
            fputc(*at, out);
    }
    fputc('\'', out);
}

/* How many of the ranks from the first on are consecutive. Two are not worth a range. */
static uint32_t run_of_ranks(const int32_t *ranks, uint32_t count) {
    uint32_t run = 1;
    while (run < count && ranks[run] == ranks[run - 1] + 1)
        run++;
    return run == 2 ? 1 : run;
}

void ranks_print(FILE *out, const int32_t *ranks, uint32_t count) {
    uint32_t shown = 0;
    for (uint32_t i = 0; i < count; shown++) {
        if (i > 0) fputs(", ", out);
        if (shown == RANGES_SHOWN_MAX) {
            fprintf(out, "and %u more", (unsigned)(count - i));
            return;
        }
        const uint32_t run = run_of_ranks(ranks + i, count - i);
        fprintf(out, "%d", (int)ranks[i]);
        if (run > 1) fprintf(out, "-%d", (int)ranks[i + run - 1]);
        i += run;
    }
}

void verdict_print(FILE *out, tutti_verdict verdict, const char *detail, const int32_t *culprits,
                   uint32_t culprit_count) {
    fputs(tutti_verdict_name(verdict), out);
    if (*detail) fprintf(out, " (%s)", detail);
    if (culprit_count == 0) return;
    fputs(culprit_count == 1 ? ", culprit " : ", culprits ", out);
    ranks_print(out, culprits, culprit_count);
}

int output_finish(int status) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    fprintf(stderr, "tutti: standard output cannot be written: %s\n", strerror(errno));
    return EXIT_UNREADABLE;
}
