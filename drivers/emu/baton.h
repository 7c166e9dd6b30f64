#ifndef TUTTI_EMU_BATON_H
#define TUTTI_EMU_BATON_H

/* What rank threads hand over to each other with. baton.c is compiled without TSan even where TSan
 * is on: a handover that TSan sees would order everything that ranks do, and so hide every race of
 * theirs. What the interface really promises is told to TSan elsewhere (tsan.h). */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A token that one thread waits for, as often as it was given. All zero: not given. Only touched by
 * the functions below. */
typedef struct emu_baton {
    uint32_t word; /* a futex: times that it was given and not yet taken */
} emu_baton;

/* Gives the token once and wakes its taker. What happened before is visible to the taker, who may
 * free the baton at once. */
void emu_baton_give(emu_baton *baton);

/* Waits for the token and takes it. Sleeps at once, since the one that gives it needs the CPU. */
void emu_baton_take(emu_baton *baton);

/* The same, for `timeout_ns` of real time at most, from 0; false: it was not given. */
bool emu_baton_take_within(emu_baton *baton, int64_t timeout_ns);

/* Says whether the program's own code runs (outside) or the library's (inside), and lets a watchdog
 * lock the library for good while it is outside. All zero: inside, never passed. */
typedef struct emu_gate {
    uint64_t word; /* passages so far << 2 | emu_gate_side */
} emu_gate;

typedef enum emu_gate_side {
    EMU_GATE_INSIDE = 0,
    EMU_GATE_OUTSIDE = 1,
    EMU_GATE_ABANDONED = 2, /* for ever */
} emu_gate_side;

/* From inside to outside. Abandoned gates stay as they are. */
void emu_gate_leave(emu_gate *gate);

/* From outside to inside; false: the run was abandoned, and nothing of it may be touched. */
bool emu_gate_enter(emu_gate *gate);

/* What the watchdog compares: a gate that was not passed looks the same as before. */
uint64_t emu_gate_look(const emu_gate *gate);
emu_gate_side emu_gate_side_of(uint64_t look);

/* Abandons a gate that is outside and still as it looked then; false: it was passed. */
bool emu_gate_abandon(emu_gate *gate, uint64_t look);

#ifdef __cplusplus
}
#endif

#endif
