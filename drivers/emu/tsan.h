#ifndef TUTTI_EMU_TSAN_H
#define TUTTI_EMU_TSAN_H

/* What TSan is told about a rehearsal on threads; nothing where TSan is off.
 *
 * Ranks hand over in a way that TSan does not see (baton.h), so it takes them for concurrent, as
 * they would be on a real cluster. Then two things must be said. The engine and what drives it are
 * touched by one rank after the other, which is no race: what is done between emu_tsan_hide_begin()
 * and _end() is not looked at. And what the interface promises to order is an edge from an
 * emu_tsan_release() to the emu_tsan_acquire()s of the same address that come later. */

#if defined(__SANITIZE_THREAD__)
#define EMU_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EMU_TSAN 1
#endif
#endif
#ifndef EMU_TSAN
#define EMU_TSAN 0
#endif

/* For functions that begin on one fiber and end on another, and for those that touch thread-local
 * variables, which fibers share: TSan must neither count them nor look at what they touch. */
#if EMU_TSAN
#define EMU_NO_TSAN __attribute__((no_sanitize_thread))
#else
#define EMU_NO_TSAN
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if EMU_TSAN

/* Of TSan's runtime, which has no header for the first four. */
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void __tsan_acquire(void *address);
void __tsan_release(void *address);

static inline void emu_tsan_hide_begin(void) {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

static inline void emu_tsan_hide_end(void) {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

static inline void emu_tsan_acquire(void *address) {
    __tsan_acquire(address);
}

static inline void emu_tsan_release(void *address) {
    __tsan_release(address);
}

#else

static inline void emu_tsan_hide_begin(void) {}

static inline void emu_tsan_hide_end(void) {}

static inline void emu_tsan_acquire(void *address) {
    (void)address;
}

static inline void emu_tsan_release(void *address) {
    (void)address;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
