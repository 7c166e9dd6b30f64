#ifndef TUTTI_EMU_SCHEDULE_H
#define TUTTI_EMU_SCHEDULE_H

/* The schedule of a rehearsal: who runs next, when the clock moves, when the run is over. Pure code
 * over the engine, used by every executor in virtual time, so that the same program and the same
 * choices give the same trace on all of them.
 *
 * HOW AN EXECUTOR DRIVES A RUN. One host runs at a time, the *current* one.
 *
 *   The run starts: emu_schedule_next() names the first host; run its program. A program is not
 *   touched before its host is named for the first time; then it runs up to its first call.
 *
 *   A call of the current host h:
 *     0. If emu_schedule_is_over(), the call fails with TUTTI_DEADLOCK and nothing else is done,
 *        unless it is EMU_CALL_EXIT.
 *     1. If emu_schedule_is_point(), emu_schedule_point() names a host. If it is not h, go on with
 *        that one; h goes on with step 2 when it is named again.
 *     2. emu_engine_issue().
 *     3. If that is EMU_BLOCKED, emu_schedule_block(), then emu_schedule_next() names a host. If it
 *        is not h, go on with that one; when h is named again, its call is over.
 *     4. emu_schedule_done(), for every call that was issued. The program goes on.
 *
 *   The program of h has ended: a call of kind EMU_CALL_EXIT as above, emu_schedule_exit(), and
 *   emu_schedule_next() names the host to go on with, or says EMU_SCHEDULE_FINISHED. Nothing else
 *   ends a run: every host exits.
 *
 * WHO IS NEXT. Hosts that are ready are asked for in cyclic order, beginning with the current one:
 * answer 0 lets it go on, or, when it is not ready, takes the next ready one above it. A host that
 * looks again at what it has just seen not to be ready lets all others go first; the answers above
 * the ready hosts let it look again all the same, a few times. When nobody is ready, time passes
 * (see move_on in schedule.c). */

#include "drivers/emu/choices.h"
#include "drivers/emu/engine.h"
#include "drivers/emu/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    EMU_SCHEDULE_FINISHED = -1,  /* all hosts have exited and nothing is left to do */
    EMU_SCHEDULE_ABANDONED = -2, /* carrying out an effect said that the run is given up */
};

enum {
    EMU_POLL_INTERVAL_NS = 1000,  /* the clock moves so far when only pollers are left */
    EMU_POLL_ROUNDS = 200,        /* so often; then each time twice as far */
    EMU_POLL_DOUBLINGS = 45,      /* so often: beyond a year; then pollers count as stuck */
    EMU_POLL_RELEASES_MAX = 16,   /* looks in a row without moving the clock */
    EMU_LOOKS_AGAIN_MAX = 2,      /* looks in a row at the same thing while others can go on */
    EMU_IDLE_CALLS_MAX = 1 << 20, /* calls in a row of one host that do nothing: it polls, too */
    EMU_FAILED_CALL_WEIGHT = 64,  /* calls that do nothing, for each that fails */
    EMU_TURN_POINTS_MAX = 10000, /* calls in a row of a host while others are ready: it goes last */
    EMU_SETTLES_MAX = 10000,     /* times that a run gets stuck; then it is over */
};

/* How far a run may go without naming a host: more than there can be effects and timers. */
#define EMU_SCHEDULE_STEPS_MAX (UINT64_C(1) << 48)

typedef struct emu_schedule emu_schedule;

/* Carries an effect out; usually emu_effect_perform(). False: the run is given up, and the engine
 * must not be touched any more. */
typedef bool emu_schedule_perform(void *context, const emu_effect *effect);

typedef struct emu_schedule_config {
    emu_engine *engine;            /* borrowed, with host_count hosts */
    uint32_t host_count;           /* 1 to TUTTI_RANKS_MAX */
    emu_choices *choices;          /* borrowed */
    emu_step_log *steps;           /* borrowed; NULL: nobody asks */
    emu_schedule_perform *perform; /* NULL: emu_effect_perform */
    void *perform_context;
} emu_schedule_config;

/* Creates the schedule of a run: all hosts are ready, none has been named.
 * Errors: TUTTI_OUT_OF_MEMORY. Nothing is allocated after this. */
tutti_status emu_schedule_create(const emu_schedule_config *config, emu_schedule **schedule_out,
                                 tutti_error *error);

/* NULL does nothing. */
void emu_schedule_destroy(emu_schedule *schedule);

/* Whether a host may have to give way before it makes such a call. */
bool emu_call_is_point(emu_call_kind kind);

/* The same of the current host: when it has made too many calls that do nothing, all are points. */
bool emu_schedule_is_point(const emu_schedule *schedule, emu_call_kind kind);

/* The current host is about to make a call that is a point; the host to go on with, which becomes
 * the current one, or EMU_SCHEDULE_ABANDONED. */
int32_t emu_schedule_point(emu_schedule *schedule, emu_call_kind kind);

/* The current host waits for time to pass, in a loop; the host to go on with, as above. */
int32_t emu_schedule_poll(emu_schedule *schedule);

/* The host to go on with, which becomes the current one; EMU_SCHEDULE_FINISHED;
 * EMU_SCHEDULE_ABANDONED. At the start, and when the current host is blocked or has exited. */
int32_t emu_schedule_next(emu_schedule *schedule);

/* The current host; -1 before the first is named. */
int32_t emu_schedule_current(const emu_schedule *schedule);

/* A host's call was blocked by the engine. */
void emu_schedule_block(emu_schedule *schedule, uint32_t host);

/* A call that a host issued is over. If it looked at something that was not ready, others come
 * before the host looks again. */
void emu_schedule_done(emu_schedule *schedule, uint32_t host, const emu_call *call);

/* A host's program has ended, and the engine knows. */
void emu_schedule_exit(emu_schedule *schedule, uint32_t host);

/* How long a host has been making calls that do nothing. All zero at the start. */
typedef struct emu_idle {
    uint64_t progress; /* the engine's, when the count began */
    uint32_t calls;    /* in a row that did nothing while nothing moved; up to EMU_IDLE_CALLS_MAX */
} emu_idle;

/* Counts a call that is over, for executors that have no schedule. */
void emu_idle_count(uint64_t progress, const emu_call *call, emu_idle *idle);

/* Adds the finding that a host calls again and again, and nothing can move any more. */
void emu_schedule_blame(emu_engine *engine, uint32_t host);

/* Whether the hosts that are left have been given up: all that they do is to call again and again,
 * and nothing can move any more. */
bool emu_schedule_is_over(const emu_schedule *schedule);

#ifdef __cplusplus
}
#endif

#endif
