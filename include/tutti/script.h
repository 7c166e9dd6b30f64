#ifndef TUTTI_SCRIPT_H
#define TUTTI_SCRIPT_H

/* Scripts: small multi-rank programs in `.tut` files, run on the emulated cluster. The language is
 * described in docs/scripts.md. */

#include "tutti/emu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A script that was read: a program for all ranks and the verdict that it must end with. */
typedef struct tutti_script tutti_script;

/* What carries a script out. Both give the same trace. */
typedef enum tutti_script_executor {
    TUTTI_SCRIPT_AS_DATA = 0,    /* interpreted, one host for all ranks: the fast way */
    TUTTI_SCRIPT_ON_THREADS = 1, /* a thread per rank, as a rehearsal of C functions */
} tutti_script_executor;

typedef struct tutti_script_options {
    uint32_t struct_size; /* sizeof(tutti_script_options) */
    tutti_script_executor executor;
    uint32_t random_schedule; /* 1: draw the schedule from seed; 0: the plain schedule */
    uint64_t seed;            /* of random schedules and of the faults' probabilities */
    const char *faults;       /* rules besides the script's own; NULL: what TUTTI_FAULTS holds */
    const char *repeat;       /* command that repeats the run, for the report; NULL */
    tutti_trace_sink *trace_sink; /* gets the trace as JSON lines; NULL: only its hash is kept */
    void *trace_context;
    const char *choices; /* the schedule, as a report has it; NULL: the plain or the random one */
} tutti_script_options;

/* Reads a script.
 * Memory:  file_name and text are copied as far as they are needed
 * Errors:  TUTTI_SYNTAX: the message starts with `file:line:column: expected ...`, the error's
 *          place is the same; TUTTI_UNSUPPORTED: nothing is wrong with it, but it needs what this
 *          version has not, which the message names; TUTTI_OUT_OF_MEMORY. Nothing is left to free.
 */
tutti_status tutti_script_parse(const char *file_name, const char *text, size_t text_bytes,
                                tutti_script **script_out, tutti_error *error);

/* Frees a script. NULL does nothing. */
void tutti_script_free(tutti_script *script);

/* The number of ranks that the script declares. */
uint32_t tutti_script_rank_count(const tutti_script *script);

/* The verdict that the script must end with (ok when it has none), and the ranks to blame; a count
 * of 0 means that the script does not say. The ranks belong to the script. */
tutti_verdict tutti_script_expected(const tutti_script *script, const int32_t **culprits_out,
                                    uint32_t *culprit_count_out);

/* Says whether a report ends as the script must. Returns 1 or 0. */
int tutti_script_ends_as_expected(const tutti_script *script, const tutti_report *report);

/* Runs a script to its end and tells how it went.
 * Memory:   *report_out is the caller's
 * Threads:  one script may be run by several threads at once
 * Errors:   TUTTI_SYNTAX (the fault plan, the choices), TUTTI_OUT_OF_MEMORY, TUTTI_SYSTEM:
 *           nothing ran */
tutti_status tutti_script_run(const tutti_script *script, const tutti_script_options *options,
                              tutti_report **report_out, tutti_error *error);

#ifdef __cplusplus
}
#endif

#endif
