#ifndef TUTTI_EMU_STATE_H
#define TUTTI_EMU_STATE_H

/* The engine's state: every struct that more than one file of the engine touches. Executors do not
 * include this. Invariants:
 *   - an operation is in its stream's queue from issue to completion, and the first operation of a
 *     launch on a communicator is in that communicator's queue as well (its inner order);
 *   - nothing is started except by emu_streams_advance(), so there is one place of decision;
 *   - pools recycle: after the first operations nothing is allocated. */

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>

#include "drivers/emu/engine.h"
#include "drivers/emu/races.h"
#include "drivers/emu/shadow.h"
#include "drivers/emu/strands.h"

enum {
    EMU_DEVICES_MAX = TUTTI_DEVICES_PER_RUN_MAX,
    EMU_HASH_SLOTS_MIN = 64,  /* of the table of channels; a power of two */
    EMU_RING_SLOTS_MIN = 4,   /* of a group's ring of collectives; a power of two */
    EMU_RECENT_ORDERS = 64,   /* collectives of a communicator whose issue order is remembered */
    EMU_GROUP_DEPTH_MAX = 64, /* nested group calls */
    EMU_FINDINGS_MAX = 1000,  /* kept; further ones are only counted */
    EMU_NOTES_MAX = 500,      /* of the findings kept: notes take no error's place */
    EMU_TEXT_BYTES = 4096,    /* of one finding's text */
    EMU_NAMED_RANKS_MAX = 16, /* written out in a text before "and N more" */
};

typedef struct emu_host emu_host;
typedef struct emu_group emu_group;
typedef struct emu_collective emu_collective;
typedef struct emu_op emu_op;
typedef struct emu_launch emu_launch;
typedef struct emu_allocation emu_allocation;
typedef struct emu_timer emu_timer;
typedef struct emu_finding emu_finding;

/* --- Clock --- */

typedef enum emu_timer_kind {
    EMU_TIMER_HOST_WAKE,  /* sleep or a fault's delay is over */
    EMU_TIMER_HOST_LIMIT, /* a blocking wait has lasted too long */
    EMU_TIMER_KERNEL,     /* a kernel has run for its time */
    EMU_TIMER_COMM_LIMIT, /* a non-blocking join has lasted too long */
} emu_timer_kind;

/* Embedded in what it wakes; pending while slot is not 0. */
struct emu_timer {
    int64_t when_ns;
    uint64_t order; /* of arming: breaks ties */
    void *owner;    /* host, operation or communicator, by kind */
    uint32_t slot;  /* place in the heap, from 1; 0: not pending */
    uint8_t kind;   /* emu_timer_kind */
};

typedef struct emu_clock {
    int64_t now_ns;
    uint64_t next_order;
    emu_timer **heap; /* from index 1 */
    uint32_t count, room;
} emu_clock;

/* --- Hosts --- */

typedef enum emu_host_state {
    EMU_HOST_RUNNING,
    EMU_HOST_BLOCKED, /* its call is kept in host->call */
    EMU_HOST_HUNG,    /* a fault: never comes back; let go at the very end */
    EMU_HOST_EXITED,
} emu_host_state;

typedef enum emu_wait_kind {
    EMU_WAIT_NONE,
    EMU_WAIT_TIME,    /* sleep, or a fault's delay */
    EMU_WAIT_STREAM,  /* until wait_stream->completed >= wait_target */
    EMU_WAIT_EVENT,   /* until wait_event->completed_mark >= wait_target */
    EMU_WAIT_COMM,    /* until wait_comm is formed (join, comm_sync) */
    EMU_WAIT_JOINS,   /* until pending_joins is 0 (end of a group call) */
    EMU_WAIT_PEERS,   /* until pending_peers is 0 (first use blocks) */
    EMU_WAIT_DRAINED, /* until wait_comm has no operation left (leave) */
} emu_wait_kind;

struct emu_host {
    emu_engine *engine;
    uint32_t index;
    uint8_t state; /* emu_host_state */
    uint8_t wait;  /* emu_wait_kind, when blocked */
    bool killed;
    bool was_failed;        /* some call of it returned an error */
    uint32_t refusal_count; /* refused calls that it has not tried again with success */
    bool resume;            /* time is up: the call is to be issued again, its faults applied */
    uint8_t group_depth;
    emu_call *call; /* blocked: the call; else NULL */
    emu_host *next_waiter, *next_woken;
    emu_stream *wait_stream;
    emu_event *wait_event;
    emu_comm *wait_comm;
    uint64_t wait_target;
    uint32_t pending_joins, pending_peers;
    uint8_t poll;             /* emu_wait_kind of what it looked at last and found not ready */
    uint32_t visit;           /* of the wait-for graph; 0: not yet */
    emu_op *connecting;       /* operations whose peers it waits for, by next_connecting */
    tutti_status join_status; /* first failure of the joins of a group call */
    emu_finding *join_finding;
    emu_finding *limit_finding; /* why its wait's limit passes now */
    emu_timer timer;            /* of the wait or of its limit */
    emu_launch *launches;       /* the group call being collected, one per device, newest first */
    tutti_status group_error;   /* of the first call that failed inside the group call */
    uint64_t call_count;        /* calls made */
    uint64_t launch_count;      /* launches of operations: its own issue order */
    tutti_place last_place;     /* of its latest call */
    const char *last_call;      /* name of its latest call; "" before the first */
    emu_group *joining;         /* last group it tried to join, for texts; NULL */
    emu_strand own_strand;      /* see races.c */
    emu_strand *strand;         /* own_strand, or one that it shares */
    emu_gathering joined;       /* by joins of the group call that is open */
    uint32_t depends; /* what the group call that it collects or ends waits for: see steps.h */
};

/* --- Devices, memory, streams, events --- */

/* What polls have seen of something that gets on by marks. */
typedef struct emu_sight {
    uint64_t seen;   /* somebody knows that it has got so far */
    uint64_t missed; /* a poll came too early for this one */
} emu_sight;

struct emu_allocation {
    char *data;         /* aligned to EMU_MEMORY_ALIGNMENT_BYTES */
    size_t bytes;       /* what was asked for */
    uint32_t ordinal;   /* n-th allocation of its device, from 0: names it in texts and traces */
    uint32_t in_flight; /* operations that still use it */
    bool freed;         /* by the program; given back when in_flight is 0 */
    tutti_place place;
    tutti_place freed_place;
    uint32_t host;     /* that allocated it */
    const char *name;  /* for texts; NULL */
    emu_shadow shadow; /* who touched it, until it is given back; see races.c */
    emu_device *device;
    emu_allocation *next_freed; /* given back after it */
};

struct emu_device {
    tutti_device base;
    emu_engine *engine;
    uint32_t index;
    uint32_t resident;       /* launches that run now and count against the capacity */
    emu_allocation **memory; /* sorted by address */
    uint32_t memory_count, memory_room;
    uint32_t next_ordinal; /* of allocations */
    uint32_t next_stream, next_event;
    emu_stream *streams, **streams_tail; /* in order of creation */
    emu_domain domain;                   /* of its streams and its host */
    const void *mark;                    /* scratch: whoever looks for devices that come twice */
    uint32_t comm_count;                 /* communicators that are joined now */
    emu_comm *unsynced;                  /* see emu_comm.next_unsynced */
    emu_stream *starved, **starved_tail; /* streams whose head waits for capacity, in order */
};

struct emu_stream {
    tutti_stream base;
    uint32_t index; /* on the device */
    uint32_t host;  /* that created it */
    tutti_place place;
    emu_strand strand; /* see races.c */
    const char *name;
    emu_op *head, *tail;
    uint64_t issued, completed; /* operations */
    emu_host *waiters;
    emu_stream *next; /* of the device */
    emu_stream *next_dirty, *next_starved, *next_event_waiter;
    bool dirty, starved, destroyed;
    bool event_waiting;      /* in an event's list of waiting streams */
    tutti_status failure;    /* of an operation since the last synchronize; ok: none */
    emu_finding *failed_for; /* its finding; NULL */
    emu_sight sight;         /* of completed */
    uint32_t depends;        /* what its operations wait for: see steps.h */
};

struct emu_event {
    tutti_event base;
    uint32_t index; /* on the device */
    uint32_t host;  /* that created it */
    tutti_place place;
    uint64_t issued_mark, completed_mark;
    emu_moment *moment;  /* of completed_mark; NULL */
    emu_op *waits;       /* that wait for a mark that is not passed, by next_in_channel */
    emu_op *last_record; /* not yet passed; NULL */
    emu_host *waiters;
    emu_stream *stream_waiters;
    tutti_status failure; /* of what stood before the mark */
    emu_finding *failed_for;
    bool destroyed;
    emu_event *next_all;
    emu_sight sight;  /* of completed_mark */
    uint32_t depends; /* what its last record waits for: see steps.h */
};

/* --- Operations --- */

typedef enum emu_op_kind {
    EMU_OP_ALL_REDUCE,
    EMU_OP_SEND,
    EMU_OP_RECV,
    EMU_OP_COPY,
    EMU_OP_FILL,
    EMU_OP_KERNEL,
    EMU_OP_RECORD,
    EMU_OP_WAIT,
    EMU_OP_GROUP, /* a group call's place in a stream; its parts are in the launch */
} emu_op_kind;

typedef enum emu_op_state {
    EMU_OP_QUEUED,
    EMU_OP_STARTED, /* waits for its peers, its time or its effect */
    EMU_OP_EFFECT,  /* data is being moved */
    EMU_OP_DONE,
} emu_op_state;

struct emu_op {
    emu_op *next_in_stream;
    emu_op *next_in_comm;   /* the communicator's inner order: launches */
    emu_op *next_in_launch; /* parts of a group call; and the free list */
    emu_stream *stream;
    emu_comm *comm;             /* all_reduce, send, recv; NULL */
    emu_launch *launch;         /* NULL: alone */
    emu_collective *collective; /* all_reduce */
    emu_op *peer_op;            /* transfers: the other half, once issued */
    emu_op *next_in_channel;
    emu_event *event; /* record, wait */
    emu_op *next_connecting;
    emu_host *connecting; /* host that waits for this operation's peers to come (first use) */
    emu_allocation *source_memory, *destination_memory; /* counted in flight; NULL */
    emu_range *ranges;   /* kernels: what is touched, counted in flight; NULL */
    emu_moment *seen;    /* of its host when it was issued, until it starts; NULL */
    emu_moment *awaited; /* of whatever else it is ordered behind: an event's mark, a send; NULL */
    emu_moment *begun;   /* send: of its stream when it started; NULL */
    emu_known *knew;     /* all_reduce: of its stream when it started; NULL */
    const void *source;
    void *destination;
    size_t count;   /* elements; copy, fill: bytes */
    uint64_t mark;  /* record, wait: of the event */
    uint64_t seq;   /* n-th collective of the communicator, or n-th transfer of the pair, from 1 */
    uint64_t order; /* of the host's launches, from 1 */
    tutti_place place;
    tutti_host_function *function;
    void *argument;
    int64_t duration_ns;
    emu_timer timer;
    uint32_t host; /* that issued it */
    int32_t peer;
    uint32_t visit; /* of the wait-for graph; 0: not yet */
    uint8_t kind, state;
    uint8_t element_type, reduce_op;
    uint8_t width_bytes;
    uint8_t fill_value;
    bool failed;   /* completes without an effect */
    bool resident; /* counts against its device's capacity */
    bool orphaned; /* transfers: the other half was given up */
    bool in_order; /* stands in its communicator's inner order */
};

/* A group call: several parts that start together, once every stream that they use has come to it.
 */
struct emu_launch {
    emu_op *parts, **parts_tail;
    emu_op *places;      /* EMU_OP_GROUP operations, by next_in_launch */
    uint32_t part_count; /* parts that are not done */
    bool started;
    bool resident;      /* counts against its device's capacity */
    emu_device *device; /* one launch never spans devices */
    emu_host *host;
    uint64_t order;   /* of the host's launches, from 1 */
    emu_launch *next; /* of the host's group call; and the free list */
};

/* --- Groups, communicators, matching --- */

typedef enum emu_comm_state {
    EMU_COMM_FORMING,
    EMU_COMM_READY,
    EMU_COMM_FAILED, /* see failure */
    EMU_COMM_LEAVING,
    EMU_COMM_LEFT,
    EMU_COMM_ABORTED,
    EMU_COMM_UNJOINED, /* its join ended with an error */
} emu_comm_state;

struct emu_comm {
    tutti_comm base;
    emu_group *group;
    uint32_t host; /* that joined it */
    uint8_t state; /* emu_comm_state */
    bool non_blocking;
    bool connected;                  /* first use is over */
    uint64_t collective_count;       /* issued */
    uint64_t transfer_count;         /* issued */
    bool *peer_connected;            /* by rank, first use of transfers; NULL: none yet */
    uint64_t dropped_count;          /* collectives of zero elements, dropped on the spot */
    tutti_place dropped_place;       /* of the last one */
    emu_op *order_head, *order_tail; /* unfinished launches in issue order */
    emu_host *waiters;
    emu_host *joining_host; /* a group call's join: whose pending_joins to count down */
    tutti_status failure;
    emu_finding *failed_for;
    emu_finding *limit_finding; /* why the limit of its join passes now */
    tutti_place joined_place, ended_place;
    emu_timer timer;       /* limit of a non-blocking join */
    emu_moment *done;      /* of the stream of its last operation that is over; NULL */
    emu_comm *next_joiner; /* of the group, in order of arrival */
    emu_comm *next_all;
    emu_comm *next_free;     /* of the free list */
    emu_comm *next_unsynced; /* of the device: collectives that the host has not waited for */
    bool unsynced;
    emu_stream *last_stream; /* of its latest collective */
    emu_sight sight;         /* of its being formed: mark 1 */
    uint32_t depends;        /* what its operations wait for: see steps.h */
    uint64_t *recent_orders; /* launch orders of the latest EMU_RECENT_ORDERS collectives; NULL */
};

typedef enum emu_group_state {
    EMU_GROUP_FORMING,
    EMU_GROUP_CONTRADICTORY, /* joins that contradict each other: refused when examined */
    EMU_GROUP_BROKEN,        /* refused; for ever */
    EMU_GROUP_FORMED,
} emu_group_state;

struct emu_group {
    emu_engine *engine;
    uint32_t index; /* of the minted identifier */
    const char *name;
    tutti_communication_id communication_id;
    uint32_t generation;  /* 0; each reuse of the identifier after leaving makes the next one */
    emu_group *successor; /* the next generation; NULL */
    uint8_t state;
    int32_t rank_count; /* as its first member said; 0 before */
    int32_t joined_count;
    emu_comm **members;           /* by rank; NULL: not joined */
    emu_comm *joiners;            /* everyone who tried, newest first */
    const uint32_t *member_hosts; /* by rank, borrowed from the program; NULL */
    emu_collective **ring;        /* by seq & (ring_room - 1) */
    uint32_t ring_room;
    uint64_t first_seq, end_seq; /* collectives in the ring: first_seq <= seq < end_seq */
    emu_collective *free_collectives;
    emu_finding *failed_for; /* why it failed or was refused; NULL */
    emu_gathering joined;    /* what its members knew when they joined */
    bool order_noted;        /* its members were seen to use it and another in different orders */
    uint32_t visit;
};

/* What a member had issued before a collective without waiting for it: see order.c. */
typedef struct emu_order_record {
    emu_comm *member; /* of the other group */
    uint64_t seq;     /* its latest collective by then */
    uint64_t order;   /* the member's launch of the collective that holds the record */
    int32_t rank;     /* of the member in the collective's group */
} emu_order_record;

/* One collective operation of a group: the parts of all its members. */
struct emu_collective {
    emu_group *group;
    uint64_t seq;
    int32_t issued_count, started_count, done_count;
    bool suspect;   /* all parts have started and do not agree */
    bool abandoned; /* a member gave up: it never completes */
    bool moving;    /* its effect is due or under way */
    uint32_t visit;
    emu_collective *next; /* free list, or the engine's list of suspects */
    emu_effect effect;
    emu_gathering begun;       /* what the streams of the parts knew when they started */
    emu_order_record *records; /* of members that use several communicators */
    uint32_t record_count, record_room;
    void **pointers; /* 2 * rank_count: sources, then destinations; NULL until needed */
    emu_op *parts[]; /* by rank; NULL: not issued */
};

/* The transfers from one rank to another of a group. */
typedef struct emu_channel {
    emu_group *group; /* NULL: the slot is free */
    int32_t source_rank, destination_rank;
    uint64_t send_count, recv_count;
    emu_op *sends, *sends_tail; /* not yet matched */
    emu_op *recvs, *recvs_tail;
    struct {
        uint64_t send_order, recv_order; /* launches of the last pair, 0: not in a group call */
        uint32_t source_ordinal, destination_ordinal;
    } last;
} emu_channel;

/* --- Findings --- */

struct emu_finding {
    uint8_t kind; /* tutti_verdict */
    bool is_note;
    bool is_aftermath; /* its rank had been told of a failure before */
    bool pending;      /* a note that becomes an error when something follows from it */
    uint64_t call_key; /* pending: what a call must be that tries the same again */
    uint64_t times;    /* pending: how often the call was refused */
    uint32_t round;    /* of settling, in which it was found */
    int64_t when_ns;   /* on the clock */
    const char *detail;
    uint64_t subject; /* what it is about: at most one finding per subject; 0: none */
    int32_t *ranks;   /* to blame */
    uint32_t rank_count, rank_room;
    char *text;
    emu_finding *follows;
    uint32_t index; /* in the report */
};

/* --- The engine --- */

struct emu_engine {
    emu_config config;
    tutti_driver *driver;
    emu_clock clock;
    emu_host **hosts;
    uint32_t host_count, host_room;
    emu_device *devices;
    uint32_t device_count;
    uint64_t memory_bytes;               /* allocated on all devices */
    emu_allocation *freed, **freed_tail; /* given back, oldest first: their addresses are kept */
    uint64_t freed_bytes;
    uint32_t freed_count;
    emu_group **groups; /* by minted index */
    uint32_t group_count, group_room;
    emu_comm *all_comms;
    emu_event *all_events;
    emu_op *free_ops;
    emu_launch *free_launches;
    emu_effect *free_effects;
    void **blocks; /* what the pools of operations and launches were cut from */
    uint32_t block_count, block_room;
    emu_channel *channels; /* open addressing */
    uint32_t channel_count, channel_room;
    emu_stream *dirty, **dirty_tail; /* streams to look at */
    emu_effect *effects, **effects_tail;
    uint32_t effects_out; /* taken, not yet done */
    emu_host *woken, **woken_tail;
    emu_collective *suspects;     /* all parts started, and they do not agree */
    emu_op *suspect_sends;        /* the same for transfers; by next_in_channel */
    emu_comm *free_comms;         /* of joins that ended without a communicator; by next_free */
    uint32_t contradictory_count; /* groups in that state */
    tutti_fault_state *faults;
    emu_races *races; /* NULL: switched off */
    emu_finding **findings;
    uint32_t finding_count, finding_room;
    uint32_t note_count; /* of the findings */
    uint32_t findings_dropped;
    char **rank_lines; /* by host: where it stood at the first settling; NULL before */
    uint32_t rank_line_count;
    char **names; /* interned, sorted */
    uint32_t name_count, name_room;
    uint32_t round; /* of settling */
    uint64_t progress;
    uint64_t trace_hash, event_count;
    uint64_t call_count;
    uint32_t exited_count, hung_count;
    bool given_up;      /* a rank did not come back */
    bool out_of_memory; /* the run cannot be trusted any more: every call fails */
};

/* "group 3" as an interned name. */
const char *emu_engine_number_name(emu_engine *engine, const char *word, uint32_t number);

/* --- alloc.c: growing arrays and pools --- */

/* Makes room for one more element; false when memory is out (the array stays as it was). */
bool emu_grow(void *array_pointer, uint32_t count, uint32_t *room, size_t element_bytes);

/* Memory that lives as long as the engine; NULL when memory is out. */
void *emu_engine_block(emu_engine *engine, size_t bytes);

emu_op *emu_op_new(emu_engine *engine);
void emu_op_recycle(emu_engine *engine, emu_op *op);
emu_effect *emu_effect_new(emu_engine *engine);
void emu_effect_recycle(emu_engine *engine, emu_effect *effect);
emu_launch *emu_launch_new(emu_engine *engine);
void emu_launch_recycle(emu_engine *engine, emu_launch *launch);

/* --- clock.c --- */

/* Arms a timer `duration_ns` from now; saturates at the end of time. False when memory is out. */
bool emu_timer_arm(emu_engine *engine, emu_timer *timer, emu_timer_kind kind, void *owner,
                   int64_t duration_ns);
void emu_timer_cancel(emu_engine *engine, emu_timer *timer);

/* --- hosts.c: blocking, waking, failing --- */

/* Ends a call with a status and, for errors, a text that names the rank. */
emu_outcome emu_call_end(emu_host *host, emu_call *call, tutti_status status, const char *format,
                         ...) __attribute__((format(printf, 4, 5)));
emu_outcome emu_call_ok(emu_host *host, emu_call *call);

/* As emu_call_end with TUTTI_MISUSE or TUTTI_INVALID_ARGUMENT, and adds the finding. */
emu_outcome emu_call_misused(emu_host *host, emu_call *call, tutti_status status,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));

/* As emu_call_end with TUTTI_REFUSED, and adds the finding. */
emu_outcome emu_call_refused(emu_host *host, emu_call *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As emu_call_end for something that an earlier finding explains. */
emu_outcome emu_call_failed_for(emu_host *host, emu_call *call, tutti_status status,
                                const emu_finding *finding);

/* Keeps the call until emu_host_wake; the wait's object is set by the caller. Arms the limit. */
emu_outcome emu_host_block(emu_host *host, emu_call *call, emu_wait_kind wait);

/* Ends a blocked host's call. The host must be off its waiter list. */
void emu_host_wake(emu_host *host, tutti_status status, const emu_finding *finding);

/* Takes a blocked host off whatever list it waits in. */
void emu_host_unlink(emu_host *host);

/* Wakes the waiters of a stream, event or communicator whose wait is over. */
void emu_stream_wake_waiters(emu_stream *stream);
void emu_event_wake_waiters(emu_event *event);
void emu_comm_wake_waiters(emu_comm *comm);

/* One of the joins of a host's group call is over; gives up those that are not. */
void emu_host_joined(emu_host *host, const emu_comm *comm);
void emu_host_drop_joins(emu_host *host, tutti_status status, emu_finding *finding);

/* Carries a call out, its faults being settled. */
emu_outcome emu_engine_dispatch(emu_host *host, emu_call *call);

const char *emu_call_name(emu_call_kind kind);

/* A host's sleep or delay is over; the limit of its wait has passed. */
void emu_host_time_over(emu_host *host);
void emu_host_limit_over(emu_host *host);

/* --- memory.c --- */

emu_outcome emu_allocate(emu_host *host, emu_call *call);
emu_outcome emu_free(emu_host *host, emu_call *call);

/* Why a range cannot be used. */
typedef struct emu_memory_problem {
    bool freed; /* it could be, until it was freed */
    char reason[TUTTI_ERROR_MESSAGE_BYTES];
} emu_memory_problem;

/* Finds the live allocation of the device that holds the whole range. An empty range is fine and
 * gives NULL. On failure the problem is told, which names the argument. */
bool emu_memory_find(emu_device *device, const char *argument, const void *data, size_t bytes,
                     emu_allocation **allocation_out, emu_memory_problem *problem);

/* Ends a call that names such a range, with the finding. */
emu_outcome emu_call_bad_memory(emu_host *host, emu_call *call, const emu_memory_problem *problem);

/* Whether the address is, or was until it was freed, memory of some device. */
bool emu_memory_is_known(emu_engine *engine, const void *address);

void emu_memory_hold(emu_allocation *allocation);
void emu_memory_release(emu_allocation *allocation);
void emu_device_free_memory(emu_device *device);

/* --- streams.c, events.c --- */

emu_outcome emu_stream_create_call(emu_host *host, emu_call *call);
emu_outcome emu_stream_destroy_call(emu_host *host, emu_call *call);
emu_outcome emu_stream_sync_call(emu_host *host, emu_call *call);
emu_outcome emu_stream_query_call(emu_host *host, emu_call *call);
emu_outcome emu_copy_call(emu_host *host, emu_call *call);
emu_outcome emu_fill_call(emu_host *host, emu_call *call);
emu_outcome emu_kernel_call(emu_host *host, emu_call *call);
emu_outcome emu_event_create_call(emu_host *host, emu_call *call);
emu_outcome emu_event_destroy_call(emu_host *host, emu_call *call);
emu_outcome emu_event_record_call(emu_host *host, emu_call *call);
emu_outcome emu_event_wait_call(emu_host *host, emu_call *call);
emu_outcome emu_event_sync_call(emu_host *host, emu_call *call);
emu_outcome emu_event_query_call(emu_host *host, emu_call *call);

/* Puts an operation at the tail of its stream and traces the issue. */
void emu_stream_append(emu_stream *stream, emu_op *op);
void emu_stream_mark_dirty(emu_stream *stream);

/* Starts and completes whatever can be, until nothing moves: the only place that decides it. */
void emu_streams_advance(emu_engine *engine);

/* An operation's work is over (its effect, its time, or it failed). */
void emu_op_complete(emu_op *op);

/* A kernel's time is over. */
void emu_kernel_time_over(emu_op *op);

/* One part of a group call is done; a stream has passed its place in it. */
void emu_launch_part_done(emu_engine *engine, emu_launch *launch);
void emu_launch_place_done(emu_engine *engine, emu_op *place);

/* The stream has come to a record; to a wait: false when it has to. */
void emu_event_pass(emu_op *op);
bool emu_event_try_pass_wait(emu_op *op);

/* Moves the operation's data: makes an effect due whose end completes it. */
void emu_op_push_effect(emu_op *op, emu_effect_kind kind);
void emu_effect_push(emu_engine *engine, emu_effect *effect);

/* --- communicator.c --- */

emu_outcome emu_mint_call(emu_host *host, emu_call *call);
emu_outcome emu_join_call(emu_host *host, emu_call *call);
emu_outcome emu_leave_call(emu_host *host, emu_call *call);
emu_outcome emu_abort_call(emu_host *host, emu_call *call);
emu_outcome emu_comm_status_call(emu_host *host, emu_call *call);
emu_outcome emu_comm_sync_call(emu_host *host, emu_call *call);

/* A leaving member's last operation is over. */
void emu_comm_drained(emu_comm *comm);

/* The limit of a non-blocking join has passed. */
void emu_comm_limit_over(emu_comm *comm);

/* Ends a forming membership: the slot is empty again, the join's caller gets the status. */
void emu_comm_unjoin(emu_comm *comm, tutti_status status, emu_finding *finding);

/* The group can do nothing any more: its members fail, their operations end without an effect. */
void emu_group_fail(emu_group *group, tutti_status status, emu_finding *finding);

/* Ends every operation of one member without an effect. */
void emu_comm_drop_operations(emu_comm *comm);

/* The number by which reports call a member or a host: a rank of the program. */
int32_t emu_comm_rank(const emu_comm *comm);

/* The same for a rank of a group that may not have joined; -1 when nobody knows. */
int32_t emu_group_member_rank(const emu_group *group, int32_t rank);

/* Joins that contradict each other: the identifier is of no use any more. */
void emu_group_break(emu_group *group, emu_finding *finding);

/* Whether operations can be issued on call->comm; if not, *outcome_out says how the call ended. */
bool emu_comm_usable(emu_host *host, emu_call *call, emu_outcome *outcome_out);

void emu_group_destroy_collectives(emu_group *group);
void emu_group_destroy(emu_group *group);

/* --- matching.c: parts of one operation find each other --- */

/* Gives the operation its sequence number and its collective, or its other half. False when
 * memory is out; nothing has changed then. */
bool emu_match_issue(emu_op *op);

/* Whether two parts of one collective agree. */
bool emu_signature_equal(const emu_op *a, const emu_op *b);

/* The operation has started: if its peers have too, compares and makes the effect due. */
void emu_match_start(emu_op *op);

/* The operation is over: forgets it. */
void emu_match_done(emu_op *op);

/* Looks at collectives and transfers whose parts do not agree; true when there was one. */
bool emu_match_examine(emu_engine *engine);

/* The same when time is real, after every call. */
void emu_engine_examine_at_once(emu_engine *engine);

emu_collective *emu_group_collective(emu_group *group, uint64_t seq);
void emu_channels_destroy(emu_engine *engine);

/* --- collective.c: the calls that enqueue, and group calls --- */

emu_outcome emu_all_reduce_call(emu_host *host, emu_call *call);
emu_outcome emu_transfer_call(emu_host *host, emu_call *call);
emu_outcome emu_group_start_call(emu_host *host, emu_call *call);
emu_outcome emu_group_end_call(emu_host *host, emu_call *call);

/* Puts an operation at the end of its communicator's inner order. */
void emu_comm_order_append(emu_op *op);

/* Notes that the host has to wait if this is its first use of peers that have not come yet. */
void emu_connect(emu_host *host, emu_op *op);

/* Gives up the group call that a host has open, its operations and its joins. */
void emu_host_discard_group(emu_host *host, tutti_status status);

/* Counts down the hosts that wait for the peers of an operation. */
void emu_op_connected(emu_op *op);

/* --- order.c: communicators that members use in different orders --- */

/* A collective was issued: remembers what else of its device is not synchronised with the host. */
void emu_order_issued(emu_op *op);

/* The host has waited for everything in a stream. */
void emu_order_synchronized(emu_stream *stream);

/* The communicator has ended or failed. */
void emu_order_forget(emu_comm *comm);

/* All members have issued the collective: compares their orders, may add a note. */
void emu_order_check(emu_collective *collective);

/* --- depends.c: choices, and what steps have to do with each other --- */

/* Whether a poll comes too early to see that something has got as far as the mark. */
bool emu_poll_is_early(emu_engine *engine, emu_sight *sight, uint64_t mark);

/* An operation was matched; the host will wait for its peers; the host joins a group; a member has
 * left or aborts; the room of a device ran out or became free. */
void emu_steps_arrived(emu_op *op);
void emu_steps_await_peers(emu_host *host, const emu_op *op);
void emu_steps_joined(emu_host *host, const emu_group *group);
void emu_steps_ended(const emu_comm *comm, bool aborted);
void emu_steps_room(emu_device *device);

/* A poll looks; a wait had nothing to wait for any more; a blocked host's wait is over. */
void emu_steps_looked(emu_engine *engine, uint32_t list);
void emu_steps_looked_at_join(const emu_comm *comm);
void emu_steps_synchronized(emu_engine *engine, uint32_t list);
void emu_steps_woken(emu_host *host);

/* --- faults.c --- */

/* Asks the fault plan about a call. Returns true when the call goes on as it is; otherwise
 * *outcome_out says how it ended or that it waits. */
bool emu_faults_apply(emu_host *host, emu_call *call, emu_outcome *outcome_out);
tutti_status emu_faults_create(emu_engine *engine, tutti_error *error);

/* --- findings.c --- */

/* Where a finding's text is put together. */
typedef struct emu_text {
    size_t bytes;
    char text[EMU_TEXT_BYTES];
} emu_text;

void emu_text_add(emu_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "rank 3", "ranks 0, 2 and 5", with "and N more" when there are many. */
void emu_text_add_ranks(emu_text *text, const int32_t *ranks, uint32_t rank_count);

/* " (train.c:12)", or nothing when the place is unknown. */
void emu_text_add_place(emu_text *text, tutti_place place);

/* "all_reduce of 8 f32, sum, operation 3 of world on stream comm". */
void emu_text_add_op(emu_text *text, const emu_op *op);

/* The contract's word for an operation ("all_reduce"). */
const char *emu_op_name(const emu_op *op);
const char *emu_op_kind_name(emu_op_kind kind);

/* " on stream comm". */
void emu_text_add_stream(emu_text *text, const emu_stream *stream);

/* Sorts ranks, dropping negative ones and what comes twice; the new count. */
uint32_t emu_ranks_sort(int32_t *ranks, uint32_t count);

/* What findings are about, as numbers that are the same in every run and never used again. */
uint64_t emu_group_subject(const emu_group *group, const char *aspect);
uint64_t emu_collective_subject(const emu_collective *collective);
uint64_t emu_op_subject(const emu_op *op);

/* Adds a finding; the text is copied, the ranks too (sorted). A subject that has a finding
 * keeps it, and that one is returned. NULL when there is no room: it is counted. */
emu_finding *emu_finding_add(emu_engine *engine, tutti_verdict kind, const char *detail,
                             uint64_t subject, const int32_t *ranks, uint32_t rank_count,
                             const emu_text *text);
emu_finding *emu_note_add(emu_engine *engine, tutti_verdict kind, const char *detail,
                          uint64_t subject, const int32_t *ranks, uint32_t rank_count,
                          const emu_text *text);
/* A call that the contract does not allow: blames the caller. */
void emu_note_swapped(const emu_op *send, const emu_op *recv);
void emu_note_types(const emu_op *send, const emu_op *recv);
void emu_finding_misuse(emu_host *host, const emu_call *call, const char *reason);
/* The same of another kind. */
emu_finding *emu_finding_bad_call(emu_host *host, const emu_call *call, tutti_verdict kind,
                                  const char *reason);

/* The call went well: if it was refused before, that is settled. */
void emu_findings_settle(emu_host *host, const emu_call *call);

/* A call that was declined. Returned to a program that can handle it, it is a note until something
 * follows from it; nobody handles it in a script. */
void emu_finding_refused(emu_host *host, const emu_call *call, const char *reason);
emu_finding *emu_finding_of(emu_engine *engine, uint64_t subject);

/* Adds a rank to those that a finding blames. */
void emu_finding_blame(emu_finding *finding, int32_t rank);

/* --- diagnosis.c: who waits for whom --- */

/* Explains a time limit that passes at this moment, before anybody is woken: sets limit_finding. */
void emu_diagnose_host_limit(emu_host *host);
void emu_diagnose_comm_limit(emu_comm *comm);

/* Explains why nothing can move; fails what is stuck. True when there was something. */
bool emu_diagnose_stuck(emu_engine *engine, bool pollers_are_stuck);

/* Writes where each rank stands into engine->rank_lines, once. */
void emu_describe_ranks(emu_engine *engine);

/* --- trace.c --- */

typedef enum emu_trace_kind {
    EMU_TRACE_CALL,     /* a host made a call that enqueues nothing */
    EMU_TRACE_BLOCK,    /* ... and has to wait */
    EMU_TRACE_RETURN,   /* a call was over with something else than ok, or after a wait */
    EMU_TRACE_ISSUE,    /* an operation entered a stream */
    EMU_TRACE_START,    /* it started */
    EMU_TRACE_COMPLETE, /* it is over */
    EMU_TRACE_FAULT,    /* a fault acted */
    EMU_TRACE_FINDING,  /* something was found */
    EMU_TRACE_KIND_COUNT,
} emu_trace_kind;

void emu_trace_begin(emu_engine *engine);
void emu_trace_call(emu_host *host, const emu_call *call, emu_trace_kind kind);
void emu_trace_op(emu_engine *engine, const emu_op *op, emu_trace_kind kind);
void emu_trace_fault(emu_host *host, const emu_call *call, const tutti_fault_action *action);
void emu_trace_finding(emu_engine *engine, const emu_finding *finding);

#endif
