#ifndef TUTTI_EMU_STATE_H
#define TUTTI_EMU_STATE_H

/* The engine's state: every struct that more than one file of the engine touches; parts.h, at the
 * end, has what those files offer each other. Executors do not include this. Invariants:
 *   - an operation is in its stream's queue from issue to completion, and the first operation of a
 *     launch on a communicator is in that communicator's queue as well (its inner order);
 *   - nothing is started except by emu_streams_advance(), so there is one place of decision;
 *   - pools recycle: after the first operations nothing is allocated. */

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>

#include "drivers/emu/engine.h"
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
    EMU_TRACE_LINE_BYTES = 32 * 1024, /* of the trace */
    EMU_TRACE_GRAPHS_MAX = 16,        /* wait-for graphs that a trace holds: the first ones */
    EMU_NAMED_RANKS_MAX = 16,         /* written out in a text before "and N more" */
};

typedef struct emu_host emu_host;
typedef struct emu_group emu_group;
typedef struct emu_collective emu_collective;
typedef struct emu_op emu_op;
typedef struct emu_launch emu_launch;
typedef struct emu_allocation emu_allocation;
typedef struct emu_timer emu_timer;
typedef struct emu_finding emu_finding;
typedef struct emu_races emu_races;
typedef struct emu_range emu_range;
typedef struct emu_op_fault emu_op_fault; /* see op_faults.h */

/* --- Clock --- */

typedef enum emu_timer_kind {
    EMU_TIMER_HOST_WAKE,  /* sleep or a fault's delay is over */
    EMU_TIMER_HOST_LIMIT, /* a blocking wait has lasted too long */
    EMU_TIMER_KERNEL,     /* a kernel has run for its time */
    EMU_TIMER_COMM_LIMIT, /* a non-blocking join has lasted too long */
    EMU_TIMER_OP,         /* the time that a fault has made an operation take is over */
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
    EMU_WAIT_EVENT,   /* until wait_event's record wait_target is passed */
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
    bool is_ending;         /* its program has returned */
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
    uint64_t step_count;        /* of them, those that a fault at `step` could hit */
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
    const char *name;   /* interned, for texts and traces; NULL */
    uint32_t in_flight; /* operations that still use it */
    bool freed;         /* by the program; given back when in_flight is 0 */
    tutti_place place;
    tutti_place freed_place;
    uint32_t host;     /* that allocated it */
    emu_shadow shadow; /* who touched it, until it is given back; see races.c */
    emu_device *device;
    emu_allocation *next_freed; /* given back after it */
    emu_op *guarded;            /* operations that will write to it, by next_guarded: see guard.c */
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
    uint64_t issued_mark;
    uint64_t completed_mark; /* the newest that was passed; older ones may not be */
    emu_moment *moment;      /* of completed_mark; NULL */
    emu_op *waits;           /* that wait for a mark that is not passed, by next_in_channel */
    emu_op *records;         /* not yet passed, newest first, by next_in_channel */
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
    emu_op_fault *faults; /* what faults do to it; NULL: nothing */
    uint32_t host;        /* that issued it */
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
    bool is_guarded;
    emu_op *next_guarded; /* that will write to the same allocation: see guard.c */
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
    bool is_fault;     /* a fault did it: as a note, the same when data is not what it should be */
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
    emu_op_fault *op_faults, *free_op_faults;
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
    char *
        trace_line; /* EMU_TRACE_LINE_BYTES where lines are put together; NULL: nobody takes them */
    uint32_t trace_graph_count; /* wait-for graphs in the trace */
    int64_t trace_graph_ns;     /* when the latest was written, and in which round */
    uint32_t trace_graph_round;
    uint64_t call_count;
    uint32_t exited_count, hung_count;
    bool given_up;      /* a rank did not come back */
    bool out_of_memory; /* the run cannot be trusted any more: every call fails */
};

#include "drivers/emu/parts.h"

#endif
