#include "src/place.h"

#include "tutti/operations.h"

/* Between a macro's note and the call in the same expression, on one thread: a thread's own
 * variable is the only state that C11 offers for it. */
static _Thread_local tutti_place noted;

/* Fibers share it, one after the other, which TSan would take for a race. */
#if defined(__SANITIZE_THREAD__)
#define NO_TSAN __attribute__((no_sanitize_thread))
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NO_TSAN __attribute__((no_sanitize_thread))
#endif
#endif
#ifndef NO_TSAN
#define NO_TSAN
#endif

NO_TSAN void tutti_place_note(const char *file, int32_t line) {
    noted.file = file;
    noted.line = line;
}

NO_TSAN tutti_place tutti_place_take(void) {
    const tutti_place place = noted;
    noted.file = NULL;
    noted.line = 0;
    return place;
}
