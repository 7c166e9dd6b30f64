#ifndef TUTTI_EMU_PARALLEL_H
#define TUTTI_EMU_PARALLEL_H

/* The parallel executor: all threads run at once, in real time, and take a lock to use the engine.
 * Data is moved outside of the lock, by whoever finds that it is due. Used by rehearsals that ask
 * for it (parallel.c, parallel_rehearsal.c) and by clusters for the caller's own threads
 * (own_threads.c). */

#include <pthread.h>
#include <setjmp.h>

#include "drivers/emu/cluster.h"
#include "drivers/emu/schedule.h"

typedef struct parallel_host parallel_host;
typedef struct parallel_run parallel_run;

/* A thread of control. All fields but in_function, dead_calls and unwind are guarded by the lock.
 */
struct parallel_host {
    tutti_rank base;       /* first */
    pthread_cond_t signal; /* to this host, when it is blocked */
    parallel_host *next_blocked, *previous_blocked;
    bool blocked;           /* its call is: the engine keeps it */
    bool inside;            /* in a call: what takes long is the library's doing */
    bool polls;             /* all it does is to look at what is not ready */
    bool exited;            /* its program has ended and the engine knows */
    bool gone;              /* its thread does not touch the run any more, but to release it */
    emu_idle idle;          /* calls that do nothing */
    uint64_t passages;      /* into a call or out of one */
    uint64_t seen_passages; /* the watchdog's */
    uint32_t quiet_looks;   /* of the watchdog, in a row */
    bool in_function;       /* the thread carries out a host function */
    bool can_unwind;        /* unwind leads to the start of the thread */
    uint32_t dead_calls;    /* in a row that were told that the rank is past help */
    jmp_buf unwind;
};

struct parallel_run {
    emu_cluster cluster; /* first */
    pthread_mutex_t lock;
    pthread_cond_t end_signal; /* to who waits for the end */
    int64_t start_ns;          /* real time at which the clock was 0 */
    bool knows_hosts;      /* all hosts there will ever be: it can be told when they are stuck */
    parallel_host **hosts; /* owned by whoever fills the run */
    uint32_t host_count;   /* hosts so far */
    uint32_t awake_count;  /* that neither are blocked nor have exited */
    uint32_t exited_count;
    uint32_t performing;     /* effects that threads are carrying out */
    parallel_host *blocked;  /* list */
    parallel_host *keeper;   /* the blocked host that waits for the next timer; NULL: nobody */
    int64_t keeper_until_ns; /* on the clock */
    uint32_t settles;        /* times that the run was stuck */
    bool finished;           /* all have exited, and nothing is left to do */
    bool abandoned;          /* a rank did not come back: nobody touches the engine any more */
    bool over;               /* the hosts that are left have been given up */
};

/* Fills a run; its executor and hosts are the caller's business.
 * Errors: as tutti_rehearse; *run needs no parallel_free() then */
tutti_status parallel_init(parallel_run *run, const emu_executor *executor,
                           const tutti_rehearsal_options *options, tutti_error *error);
void parallel_free(parallel_run *run);

/* Fills a host that runs from now on, inside of a call, and puts it into the run's list, which has
 * room. With the lock. False when the system has no signal for it. */
bool parallel_host_init(parallel_run *run, parallel_host *host);
void parallel_host_free(parallel_host *host);

/* The executor's functions, once it is known which host the calling thread is. */
tutti_status parallel_call(parallel_run *run, parallel_host *self, emu_call *call);
int64_t parallel_now(parallel_run *run, parallel_host *self);
bool parallel_enter(emu_cluster *cluster);
void parallel_leave(emu_cluster *cluster);

/* The thread of a host begins with the program; the host's program has ended. */
void parallel_begin(parallel_run *run, parallel_host *self);
void parallel_exit(parallel_run *run, parallel_host *self);

/* Waits for a signal, for some real time at most. With the lock. */
void parallel_wait(pthread_cond_t *signal, pthread_mutex_t *lock, int64_t duration_ns);

/* With the lock: the clock is set to now; who was woken goes on; effects are carried out (the lock
 * is given up meanwhile; `self` is the calling thread's host); who is stuck is diagnosed. */
void parallel_move_clock(parallel_run *run);
void parallel_wake(parallel_run *run);
void parallel_service(parallel_run *run, parallel_host *self);

/* With the lock: calls are made again and again, and nothing moves. */
void parallel_settle_pollers(parallel_run *run);

#endif
