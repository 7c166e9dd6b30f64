#define _POSIX_C_SOURCE 200809L

#include "tools/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool terminal_has_colours(FILE *out) {
    const char *refused = getenv("NO_COLOR"); /* https://no-color.org: set and not empty */
    const char *terminal = getenv("TERM");
    if (refused && *refused) return false;
    return terminal && strcmp(terminal, "dumb") != 0 && isatty(fileno(out));
}

void terminal_print(FILE *out, bool colours, terminal_colour colour, const char *word) {
    static const char *const codes[] = {
        [TERMINAL_PLAIN] = "0",
        [TERMINAL_GOOD] = "32",
        [TERMINAL_BAD] = "1;31",
        [TERMINAL_STRONG] = "1",
    };
    if (colours && colour != TERMINAL_PLAIN)
        fprintf(out, "\033[%sm%s\033[0m", codes[colour], word);
    else
        fputs(word, out);
}
