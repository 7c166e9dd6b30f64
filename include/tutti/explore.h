#ifndef TUTTI_EXPLORE_H
#define TUTTI_EXPLORE_H

/* Exploring: many schedules of one program, to find the one that breaks it. A ladder of searches,
 * from the plain run to every class of schedules and drawn ones; a failure comes with the choices
 * that repeat it, made as few as possible. */

#include "tutti/emu.h"
#include "tutti/script.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The rungs of the ladder, as bits. */
enum {
    TUTTI_EXPLORE_PLAIN = 1 << 0,    /* the plain schedule */
    TUTTI_EXPLORE_EXTREMES = 1 << 1, /* first use blocks or not, one collective at a time or all:
                                        what goes wrong only there is a hazard, not a failure */
    TUTTI_EXPLORE_CLASSES = 1 << 2,  /* one schedule of every class, up to a budget */
    TUTTI_EXPLORE_WALKS = 1 << 3,    /* drawn schedules, in five ways */
    TUTTI_EXPLORE_ALL = (1 << 4) - 1,
    TUTTI_EXPLORE_FAULTS = 1 << 4, /* the fault sweep (tutti/sweep.h), when it is asked for: the
                                      program has to bear that its calls fail */
};

enum {
    TUTTI_EXPLORE_CLASSES_DEFAULT = 10000,  /* schedules */
    TUTTI_EXPLORE_WALKS_DEFAULT = 1000,     /* schedules of each way */
    TUTTI_EXPLORE_FAULTS_DEFAULT = 1000,    /* faults of the sweep */
    TUTTI_EXPLORE_SELF_CHECK_DEFAULT = 100, /* every so many schedules */
    TUTTI_EXPLORE_FAILURES_MAX = 100,       /* different ones that are kept */
};

/* How far an exploration has come. */
typedef struct tutti_explore_state {
    const char *stage;      /* "classes" */
    uint64_t run_count;     /* schedules that the stage has run */
    uint64_t run_limit;     /* that it will run at most */
    uint64_t total_count;   /* schedules of all stages so far */
    uint32_t failure_count; /* different failures so far */
} tutti_explore_state;

/* Called after every schedule. Returns 0 to go on, anything else to stop. */
typedef int tutti_explore_progress(void *context, const tutti_explore_state *state);

typedef struct tutti_explore_options {
    uint32_t struct_size;         /* sizeof(tutti_explore_options) */
    uint32_t stages;              /* bits of TUTTI_EXPLORE_*; 0: all but faults */
    uint64_t class_limit;         /* schedules of the stage classes; 0: the default */
    uint64_t walk_limit;          /* schedules of each way of drawing; 0: the default */
    uint64_t fault_limit;         /* faults of the sweep; 0: the default */
    uint64_t seed;                /* of drawn schedules */
    uint32_t collect_all;         /* 1: go on after a failure, and group failures by cause */
    uint32_t keep_as_found;       /* 1: do not make failing schedules small */
    uint32_t self_check_interval; /* every so many schedules one is run twice, and must be the same;
                                     0: the default */
    uint32_t shard_index; /* which part of the drawn schedules to run; the other stages are */
    uint32_t shard_count; /* the first shard's; 0: what Bazel's TEST_SHARD_INDEX and
                             TEST_TOTAL_SHARDS say, or one shard */
    tutti_explore_progress *progress; /* NULL: none */
    void *progress_context;
} tutti_explore_options;

/* What one stage has done. */
typedef struct tutti_explore_stage {
    const char *name;         /* "plain", "extremes", "classes", "even walk", ... */
    uint64_t run_count;       /* schedules run */
    uint64_t redundant_count; /* schedules that were cut short, since they repeat a class */
    int32_t complete;         /* 1: there is nothing more of this kind to be run */
    const char *note;         /* what it can promise, or why it stopped; "" */
} tutti_explore_stage;

/* A way in which the program fails. All texts belong to the exploration. */
typedef struct tutti_explore_failure {
    tutti_report *report;      /* of the schedule below; its `choices` repeat it */
    const char *stage;         /* that found it */
    uint64_t times;            /* schedules that failed for this cause */
    const char *found_choices; /* the schedule that found it, before it was made small */
    const char *faults;        /* the rule of the sweep that found it; "" */
    const char *critical;      /* the choice that decides, in words; "" when not looked for */
    int32_t is_hazard;         /* 1: only under an extreme that the program did not ask for */
    const char *setting;       /* of a hazard: "one collective at a time"; "" */
} tutti_explore_failure;

typedef struct tutti_exploration {
    uint64_t run_count; /* schedules in all */
    uint64_t self_check_count;
    int32_t complete;    /* 1: every class was run, and nothing is left to be found but by faults */
    int32_t was_stopped; /* 1: the progress callback said so */
    const tutti_explore_stage *stages;
    uint32_t stage_count;
    const tutti_explore_failure *failures; /* in the order in which they were found */
    uint32_t failure_count;
    uint32_t hazard_count;     /* of the failures */
    uint64_t failures_dropped; /* different failures beyond TUTTI_EXPLORE_FAILURES_MAX */
} tutti_exploration;

/* Fills options with the defaults. */
void tutti_explore_options_init(tutti_explore_options *options);

/* Explores a function that runs on every rank, as tutti_rehearse() does. Any verdict but ok is a
 * failure. `rehearsal` says everything but the schedule. NULL for `options`: the defaults.
 * The function is run once per rank and schedule, and must do the same whenever it gets the same
 * answers: what it keeps between runs, and in `argument`, it has to reset.
 * Memory:   *exploration_out is the caller's, for tutti_exploration_free()
 * Blocking: until the search is over
 * Errors:   as tutti_rehearse(); TUTTI_INVALID_ARGUMENT for the executor parallel */
tutti_status tutti_explore(const tutti_rehearsal_options *rehearsal,
                           const tutti_explore_options *options, tutti_rank_function *function,
                           void *argument, tutti_exploration **exploration_out, tutti_error *error);

/* Explores a script. A schedule that does not end as the script's verdict says is a failure.
 * Memory, blocking, errors: as above and as tutti_script_run() */
tutti_status tutti_explore_script(const tutti_script *script,
                                  const tutti_script_options *script_options,
                                  const tutti_explore_options *options,
                                  tutti_exploration **exploration_out, tutti_error *error);

/* Makes a script that fails small: leaves lines out, takes ranks away, lowers numbers, as long as
 * it can be read and fails for the same cause. What comes out ends with the command that repeats
 * it. `failure` is one of an exploration of this text with these options. Memory:   *text_out is
 * the caller's, for free() Blocking: while it runs up to some thousands of schedules Errors:
 * TUTTI_INVALID_ARGUMENT, TUTTI_OUT_OF_MEMORY */
tutti_status tutti_shrink_script(const char *file_name, const char *text, size_t text_bytes,
                                 const tutti_script_options *options,
                                 const tutti_explore_failure *failure, char **text_out,
                                 tutti_error *error);

/* Writes what was done and found for a person. NUL terminated and cut at text_bytes. Returns the
 * bytes of the whole text, without the NUL. */
size_t tutti_exploration_format(const tutti_exploration *exploration, char *text,
                                size_t text_bytes);

/* Frees an exploration and its reports. NULL does nothing. */
void tutti_exploration_free(tutti_exploration *exploration);

#ifdef __cplusplus
}
#endif

#endif
