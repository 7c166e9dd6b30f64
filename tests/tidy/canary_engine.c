/* Breaks the rules that the engine keeps, so that a test can see the alarm go off: it prints, and
 * it keeps state from one call to the next. */
#include <stdio.h>

int canary_engine_step(void);

static int steps;

int canary_engine_step(void) {
    puts("a step");
    return ++steps;
}
