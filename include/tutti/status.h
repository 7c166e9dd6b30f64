#ifndef TUTTI_STATUS_H
#define TUTTI_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The outcome of every fallible call. Values are ABI: append, never renumber.
 *
 * X(NAME, value, name, text). Three kinds, never mixed: the caller broke the contract (1-9), the
 * world failed (10-29), our own bug (30). */
#define TUTTI_STATUS_LIST(X)                                                                       \
    X(OK, 0, "ok", "the call did what it says")                                                    \
    X(INVALID_ARGUMENT, 1, "invalid_argument", "an argument is outside of what the call accepts")  \
    X(MISUSE, 2, "misuse", "the call is not allowed in the state that its object is in")           \
    X(UNSUPPORTED, 3, "unsupported", "the driver does not offer this operation or type")           \
    X(SYNTAX, 4, "syntax", "a text could not be read; the message gives line and column")          \
    X(IN_PROGRESS, 10, "in_progress", "not finished yet; nothing is wrong")                        \
    X(REFUSED, 11, "refused", "the driver declined; the same call may succeed later")              \
    X(MISSING, 12, "missing", "a member never made its part of the operation")                     \
    X(MISMATCH, 13, "mismatch", "the members' parts of one operation do not agree")                \
    X(DEADLOCK, 14, "deadlock", "the members wait for each other in a cycle")                      \
    X(TIMED_OUT, 15, "timed_out", "the time limit passed before the wait was over")                \
    X(ABORTED, 16, "aborted", "the communicator was aborted; what it wrote is undefined")          \
    X(KILLED, 17, "killed", "the calling rank was killed; all its calls fail from there on")       \
    X(REMOTE, 18, "remote", "another member failed")                                               \
    X(SYSTEM, 19, "system", "the operating system or the network failed")                          \
    X(OUT_OF_MEMORY, 20, "out_of_memory", "no memory is left for what was asked")                  \
    X(DEVICE, 21, "device", "the accelerator or its runtime failed")                               \
    X(UNRESPONSIVE, 22, "unresponsive", "a rank did not come back within the real-time limit")     \
    X(INTERNAL, 30, "internal", "a bug of the library or of the driver; please report it")

typedef enum tutti_status {
#define TUTTI_STATUS_VALUE(name, value, text, description) TUTTI_##name = (value),
    TUTTI_STATUS_LIST(TUTTI_STATUS_VALUE)
#undef TUTTI_STATUS_VALUE
} tutti_status;

/* Where in the caller's source a call stands. Both fields are empty when nobody said. */
typedef struct tutti_place {
    const char
        *file;    /* borrowed for ever: a string literal or a name that outlives the run; NULL */
    int32_t line; /* from 1; 0 when unknown */
} tutti_place;

enum {
    TUTTI_ERROR_MESSAGE_BYTES = 512, /* with the final NUL; longer texts are cut */
    TUTTI_ERROR_CAUSES_MAX = 4,      /* deeper chains keep the outermost ones and the root */
    TUTTI_CAUSE_MESSAGE_BYTES = 160, /* with the final NUL */
};

/* One earlier failure that led to an error. */
typedef struct tutti_cause {
    tutti_status status;
    char message[TUTTI_CAUSE_MESSAGE_BYTES];
} tutti_cause;

/* What went wrong, in full. The caller owns it, nothing in it is allocated, and every call accepts
 * NULL for it. A call that succeeds leaves it as tutti_error_clear() would. */
typedef struct tutti_error {
    tutti_status status;
    int32_t rank;              /* in the communicator or the cluster; -1 when none is concerned */
    const char *operation;     /* the contract's name of the call, a literal; NULL */
    tutti_place place;         /* where the failing call stands, if it is known */
    const char *native_domain; /* "nccl", "cuda", "errno": whose number native_code is; NULL */
    int64_t native_code;       /* 0 without native_domain */
    uint32_t cause_count;      /* entries of causes that are in use */
    tutti_cause causes[TUTTI_ERROR_CAUSES_MAX]; /* nearest first; the last one is the root */
    char message[TUTTI_ERROR_MESSAGE_BYTES];    /* who failed, where, why, and what to change */
} tutti_error;

/* The short name of a status ("refused"), for logs, scripts and fault plans; "unknown" for values
 * outside of the list. */
const char *tutti_status_name(tutti_status status);

/* One sentence on what a status means; for values outside of the list it says so. */
const char *tutti_status_text(tutti_status status);

/* Finds the status with the given short name.
 * Errors: TUTTI_INVALID_ARGUMENT when there is none; *status_out is then untouched. */
tutti_status tutti_status_parse(const char *name, size_t name_bytes, tutti_status *status_out);

/* Empties an error: status ok, rank -1, no operation, no place, no message, no cause.
 * Memory: NULL is accepted and does nothing. */
void tutti_error_clear(tutti_error *error);

/* Sets status and message (printf's format) and empties the chain of causes; operation, place, rank
 * and native code stay. Returns the status: `return tutti_error_set(...)` may end a function.
 * Memory: error may be NULL; the message is cut at TUTTI_ERROR_MESSAGE_BYTES. */
tutti_status tutti_error_set(tutti_error *error, tutti_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Makes what error holds the cause of a new failure with the given status and message: callers
 * prefix what they were doing, they do not rewrite who failed. An error that holds nothing is no
 * cause. Returns the status.
 * Memory: error may be NULL. */
tutti_status tutti_error_wrap(tutti_error *error, tutti_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Says whether the error, or any cause in its chain, has the given status. An empty chain and NULL
 * have only what error->status says. Returns 1 or 0. */
int tutti_error_has(const tutti_error *error, tutti_status status);

/* Writes the error and its chain as text, a line each ("refused: ..." then "  caused by ..."), NUL
 * terminated and cut at text_bytes. The first line ends with what is known of the call, in
 * brackets: " [all_reduce, rank 3, train.c:12, nccl 5]".
 * Returns the number of bytes that the whole text needs, without the NUL. */
size_t tutti_error_format(const tutti_error *error, char *text, size_t text_bytes);

#ifdef __cplusplus
}
#endif

#endif
