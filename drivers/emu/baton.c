#define _GNU_SOURCE /* syscall */
#include "drivers/emu/baton.h"

#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { GATE_PASSAGE = 4 }; /* one passage, as it is counted in the word */

/* FUTEX_WAIT_BITSET, because its deadline is a moment and not a duration: a wait that is broken off
 * by a signal goes on until the same moment. Returns errno, or 0. */
static int futex_wait(uint32_t *word, uint32_t seen, const struct timespec *deadline) {
    long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, seen, deadline,
                          NULL, FUTEX_BITSET_MATCH_ANY);
    return result < 0 ? errno : 0;
}

/* There is one taker, so what it has seen is still there. */
static bool try_take(emu_baton *baton) {
    if (__atomic_load_n(&baton->word, __ATOMIC_ACQUIRE) == 0) return false;
    (void)__atomic_fetch_sub(&baton->word, 1, __ATOMIC_RELAXED);
    return true;
}

void emu_baton_give(emu_baton *baton) {
    (void)__atomic_fetch_add(&baton->word, 1, __ATOMIC_RELEASE);
    /* If the taker came at once, this wakes nobody, or looks at an address that is gone: the kernel
     * says so, and that is all. */
    (void)syscall(SYS_futex, &baton->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void emu_baton_take(emu_baton *baton) {
    while (!try_take(baton))
        (void)futex_wait(&baton->word, 0, NULL);
}

static struct timespec deadline_after(int64_t timeout_ns) {
    const int64_t second_ns = 1000000000;
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    int64_t ns = moment.tv_nsec + timeout_ns % second_ns;
    moment.tv_sec += (time_t)(timeout_ns / second_ns + ns / second_ns);
    moment.tv_nsec = (long)(ns % second_ns);
    return moment;
}

bool emu_baton_take_within(emu_baton *baton, int64_t timeout_ns) {
    assert(timeout_ns >= 0);
    struct timespec deadline = deadline_after(timeout_ns);
    while (!try_take(baton)) {
        if (futex_wait(&baton->word, 0, &deadline) == ETIMEDOUT) return try_take(baton);
    }
    return true;
}

emu_gate_side emu_gate_side_of(uint64_t look) {
    return (emu_gate_side)(look % GATE_PASSAGE);
}

uint64_t emu_gate_look(const emu_gate *gate) {
    return __atomic_load_n(&gate->word, __ATOMIC_ACQUIRE);
}

/* Only the thread that holds the baton passes the gate, so a passage can fail for one reason only:
 * the watchdog was faster. */
static bool pass(emu_gate *gate, emu_gate_side from, emu_gate_side to) {
    uint64_t seen = emu_gate_look(gate);
    if (emu_gate_side_of(seen) == EMU_GATE_ABANDONED) return false;
    assert(emu_gate_side_of(seen) == from);
    uint64_t next = seen - (uint64_t)from + (uint64_t)to + GATE_PASSAGE;
    return __atomic_compare_exchange_n(&gate->word, &seen, next, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

void emu_gate_leave(emu_gate *gate) {
    (void)pass(gate, EMU_GATE_INSIDE, EMU_GATE_OUTSIDE);
}

bool emu_gate_enter(emu_gate *gate) {
    return pass(gate, EMU_GATE_OUTSIDE, EMU_GATE_INSIDE);
}

bool emu_gate_abandon(emu_gate *gate, uint64_t look) {
    if (emu_gate_side_of(look) != EMU_GATE_OUTSIDE) return false;
    uint64_t next = look - EMU_GATE_OUTSIDE + EMU_GATE_ABANDONED;
    return __atomic_compare_exchange_n(&gate->word, &look, next, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}
