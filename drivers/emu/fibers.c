#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_STACK */
#include "drivers/emu/fibers.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drivers/emu/fiber_switch.h"
#include "drivers/emu/sanitize.h"

#if EMU_ASAN || EMU_TSAN
enum { STACK_BYTES_MIN = 512 * 1024 }; /* sanitizers make every frame larger */
#else
enum { STACK_BYTES_MIN = 64 * 1024 }; /* what the library itself needs, with a margin */
#endif

/* The exceptions that a thread is handling, as all C++ runtimes for our machines lay them out. A
 * program without C++ has no such function. */
typedef struct exceptions {
    void *caught;
    unsigned uncaught_count;
} exceptions;
exceptions *__cxa_get_globals(void) __attribute__((weak));

typedef struct fiber {
    emu_fiber_context context;
    char *stack; /* above its guard page; NULL: the thread's own */
    emu_fiber_function *function;
    void *argument;
    int error_number;   /* errno, while others run */
    exceptions handled; /* while others run: a rank may call from within a catch block */
    emu_sanitized_fiber sanitized;
} fiber;

struct emu_fiber_set {
    size_t stack_bytes;
    size_t page_bytes;
    fiber thread; /* that entered the set */
    fiber **fibers;
    uint32_t count, room;
    fiber *current;
};

/* A fiber that starts finds its set here: it is given no argument. */
static _Thread_local emu_fiber_set *set_of_thread;

/* --- Stacks --- */

tutti_status emu_fiber_set_create(size_t stack_bytes, emu_fiber_set **set_out, tutti_error *error) {
    emu_fiber_set *set = calloc(1, sizeof(*set));
    if (set == NULL) return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for fibers");
    long page = sysconf(_SC_PAGESIZE);
    set->page_bytes = page > 0 ? (size_t)page : 4096;
    if (stack_bytes < STACK_BYTES_MIN) stack_bytes = STACK_BYTES_MIN;
    set->stack_bytes = (stack_bytes + set->page_bytes - 1) / set->page_bytes * set->page_bytes;
    set->current = &set->thread;
    *set_out = set;
    return TUTTI_OK;
}

/* A stack grows down, into a page that cannot be touched. */
static char *make_stack(const emu_fiber_set *set) {
    void *memory = mmap(NULL, set->page_bytes + set->stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    if (mprotect(memory, set->page_bytes, PROT_NONE) != 0) {
        (void)munmap(memory, set->page_bytes + set->stack_bytes);
        return NULL;
    }
    return (char *)memory + set->page_bytes;
}

static fiber *make_fiber(const emu_fiber_set *set) {
    fiber *made = calloc(1, sizeof(*made));
    if (made == NULL) return NULL;
    made->stack = make_stack(set);
    if (made->stack != NULL) return made;
    free(made);
    return NULL;
}

static bool make_room(emu_fiber_set *set, uint32_t count) {
    if (count <= set->room) return true;
    fiber **fibers = realloc(set->fibers, count * sizeof(fiber *));
    if (fibers == NULL) return false;
    set->fibers = fibers;
    set->room = count;
    return true;
}

tutti_status emu_fiber_set_reserve(emu_fiber_set *set, uint32_t count, tutti_error *error) {
    bool made = make_room(set, count);
    while (made && set->count < count) {
        fiber *next = make_fiber(set);
        made = next != NULL;
        if (made) set->fibers[set->count++] = next;
    }
    if (made) return TUTTI_OK;
    return tutti_error_set(error, TUTTI_OUT_OF_MEMORY,
                           "no memory for the stacks of %u fibers; there are %u (see "
                           "vm.max_map_count, of which each takes two)",
                           count, set->count);
}

void emu_fiber_set_destroy(emu_fiber_set *set) {
    if (set == NULL) return;
    for (uint32_t i = 0; i < set->count; i++) {
        emu_sanitized_fiber_destroy(&set->fibers[i]->sanitized);
        (void)munmap(set->fibers[i]->stack - set->page_bytes, set->page_bytes + set->stack_bytes);
        free(set->fibers[i]);
    }
    free(set->fibers);
    free(set);
}

/* --- Turns --- */

EMU_NO_TSAN static fiber *fiber_at(emu_fiber_set *set, int32_t index) {
    return index == EMU_FIBER_NONE ? &set->thread : set->fibers[index];
}

/* What the thread has one of, and each fiber its own. */
EMU_NO_TSAN static void put_aside(fiber *self) {
    self->error_number = errno;
    if (__cxa_get_globals != NULL) self->handled = *__cxa_get_globals();
}

EMU_NO_TSAN static void put_back(const fiber *self) {
    errno = self->error_number;
    if (__cxa_get_globals != NULL) *__cxa_get_globals() = self->handled;
}

EMU_NO_TSAN static void fiber_entry(void) {
    emu_fiber_set *set = set_of_thread;
    fiber *self = set->current;
    emu_sanitized_fiber_entered(&self->sanitized, &set->thread.sanitized);
    put_back(self);
    self->function(self->argument);
    assert(0 && "a fiber's function returned");
    abort();
}

void emu_fiber_assign(emu_fiber_set *set, uint32_t index, emu_fiber_function *function,
                      void *argument) {
    fiber *assigned = set->fibers[index];
    assigned->function = function;
    assigned->argument = argument;
    assigned->error_number = 0;
    assigned->handled = (exceptions){0};
    emu_sanitized_fiber_create(&assigned->sanitized, assigned->stack, set->stack_bytes);
    emu_fiber_context_make(&assigned->context, assigned->stack, set->stack_bytes, fiber_entry);
}

EMU_NO_TSAN static void go_on(emu_fiber_set *set, fiber *from, fiber *to, bool ends) {
    if (from == to) return;
    set_of_thread = set;
    set->current = to;
    put_aside(from);
    emu_sanitized_fiber_leave(&from->sanitized, &to->sanitized, ends);
    emu_fiber_context_switch(&from->context, &to->context);
    emu_sanitized_fiber_entered(&from->sanitized, &set->thread.sanitized);
    put_back(from);
}

EMU_NO_TSAN void emu_fiber_switch(emu_fiber_set *set, int32_t from, int32_t to) {
    fiber *leaving = fiber_at(set, from);
    if (from == EMU_FIBER_NONE) emu_sanitized_fiber_here(&leaving->sanitized);
    go_on(set, leaving, fiber_at(set, to), false);
}

EMU_NO_TSAN void emu_fiber_end(emu_fiber_set *set, uint32_t from, int32_t to) {
    go_on(set, fiber_at(set, (int32_t)from), fiber_at(set, to), true);
    assert(0 && "a fiber that has ended was entered again");
    abort();
}
