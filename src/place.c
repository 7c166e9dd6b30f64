#include "src/place.h"

#include "tutti/operations.h"

/* Between a macro's note and the call in the same expression, on one thread: a thread's own
 * variable is the only state that C11 offers for it. */
static _Thread_local tutti_place noted;

void tutti_place_note(const char *file, int32_t line) {
    noted.file = file;
    noted.line = line;
}

tutti_place tutti_place_take(void) {
    const tutti_place place = noted;
    noted.file = NULL;
    noted.line = 0;
    return place;
}
