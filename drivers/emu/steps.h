#ifndef TUTTI_EMU_STEPS_H
#define TUTTI_EMU_STEPS_H

/* What the steps of a run have to do with each other: the material from which the exhaustive search
 * finds out which orders of steps can make a difference. Pure.
 *
 * A *step* is what a host does from the moment it is named until the next host is. A step touches
 * *tokens*, the things that steps share: a collective, a transfer, the forming of a group, whether
 * a communicator is usable, the room of a device. Two steps of different hosts commute, unless both
 * touch a token in ways that do not:
 *
 *             add   read  write  await
 *     add     yes   no    no     no       a part arrives: arrivals commute
 *     read    no    yes   no     yes      a poll looks at what the arrivals bring about
 *     write   no    no    no     no       an abort
 *     await   no    yes   no     yes      a wait is over, and could not have been before
 *
 * An await is an order that cannot be turned around. So is a *barrier*: the clock moved, or
 * everything that could be compared was. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum emu_touch_mode {
    EMU_TOUCH_ADD,
    EMU_TOUCH_READ,
    EMU_TOUCH_WRITE,
    EMU_TOUCH_AWAIT,
} emu_touch_mode;

typedef enum emu_token_kind {
    EMU_TOKEN_COLLECTIVE = 1,
    EMU_TOKEN_TRANSFER,
    EMU_TOKEN_FORMING, /* of a group */
    EMU_TOKEN_USABLE,  /* a group's communicators: nobody has aborted */
    EMU_TOKEN_ROOM,    /* of a device of limited capacity */
} emu_token_kind;

typedef struct emu_touch {
    uint64_t token;
    emu_touch_mode mode;
} emu_touch;

typedef struct emu_step {
    uint32_t host;
    uint32_t first_touch;
    uint32_t touch_count;
    bool after_barrier; /* everything before comes before it and before all that follow */
    bool after_all;     /* everything before comes before it */
} emu_step;

/* A list of tokens that grows at its head and is shared by its tails: what a stream, an event or a
 * communicator depends on. */
typedef struct emu_dependence {
    uint64_t token;
    uint32_t next;   /* place of the rest; 0: none */
    uint32_t branch; /* place of another list; 0: none */
    uint32_t visit;
} emu_dependence;

typedef struct emu_step_log {
    emu_step *steps;
    uint32_t step_count, step_room;
    emu_touch *touches;
    uint32_t touch_count, touch_room;
    emu_dependence *dependences; /* from 1 */
    uint32_t dependence_count, dependence_room;
    uint32_t *awaited; /* by host: the list whose wait was over since its last step; 0: none;
                          EMU_AWAITS_ALL */
    uint32_t host_room;
    uint32_t *walk; /* scratch: lists that are still to be gone through */
    uint32_t walk_room;
    uint32_t visit;
    bool barrier; /* before the next step */
    bool cut;     /* memory is out, or there were too many: the log is of no use */
} emu_step_log;

#define EMU_AWAITS_ALL UINT32_MAX

enum {
    EMU_STEPS_MAX = 1 << 20,   /* of a run; beyond, its log is cut */
    EMU_TOUCHES_MAX = 1 << 24, /* and of those, and of dependences */
};

/* All zero is an empty log. Forgets everything and keeps the memory. */
void emu_step_log_reset(emu_step_log *log, uint32_t host_count);
void emu_step_log_free(emu_step_log *log);

/* All of these do nothing when log is NULL. */
void emu_step_begin(emu_step_log *log, uint32_t host);
void emu_step_barrier(emu_step_log *log);
void emu_step_touch(emu_step_log *log, uint64_t token, emu_touch_mode mode);

/* The host could not have made its next step before everything that has happened by now. */
void emu_step_await_all(emu_step_log *log, uint32_t host);

/* Touches all tokens of a list. */
void emu_step_touch_all(emu_step_log *log, uint32_t list, emu_touch_mode mode);

/* A wait of the host for a list is over: its next step awaits it. */
void emu_step_await_later(emu_step_log *log, uint32_t host, uint32_t list);

/* Adds a token, or all of another list, to a list; the new list. */
uint32_t emu_depend_on(emu_step_log *log, uint32_t list, uint64_t token);
uint32_t emu_depend_on_all(emu_step_log *log, uint32_t list, uint32_t other);

uint64_t emu_token(emu_token_kind kind, uint64_t a, uint64_t b, uint64_t c);

/* Whether two touches of one token commute; whether their order can be turned around. */
bool emu_touches_commute(emu_touch_mode a, emu_touch_mode b);
bool emu_touches_reversible(emu_touch_mode a, emu_touch_mode b);

#ifdef __cplusplus
}
#endif

#endif
