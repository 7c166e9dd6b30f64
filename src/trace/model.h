#ifndef TUTTI_TRACE_MODEL_H
#define TUTTI_TRACE_MODEL_H

/* A trace in memory: events in order, what they say of calls and operations, and the wait-for
 * graphs. Numbers of things are places in arrays; NONE is no place. Names are kept once: equal
 * pointers are equal texts. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/trace/table.h"
#include "tutti/trace.h"

#define NONE UINT32_MAX

typedef struct trace_event {
    int64_t t_ns; /* on the cluster's clock */
    int64_t
        shown_ns; /* the same, but later than the event before: events at one moment stay apart */
} trace_event;

/* A row of a picture: a rank's host, or one of its streams. */
typedef struct trace_lane {
    int32_t rank;
    int64_t device;     /* -1: the one that the rank uses first */
    const char *stream; /* NULL: the host */
    uint32_t order;     /* of appearance */
} trace_lane;

typedef enum span_kind {
    SPAN_CALL,      /* a host's call: begun, and over when it is not 'waits' */
    SPAN_OPERATION, /* of a stream: issued, started, complete */
} span_kind;

/* A call or an operation. Texts are NULL where the trace does not say. */
typedef struct trace_span {
    uint8_t kind;
    bool failed;
    bool waits;       /* calls: the host was blocked */
    bool is_transfer; /* operations: send, recv */
    bool sends;       /* of transfers */
    int32_t rank;     /* in the program */
    int32_t peer;     /* transfers: in the communicator; else -1 */
    int32_t member;   /* in the communicator */
    uint32_t lane;
    uint32_t issued;    /* event; calls: the call */
    uint32_t begun;     /* event; NONE: never started. Calls: when it was blocked, or the call */
    uint32_t ended;     /* event; NONE: never */
    uint32_t set;       /* the operation that it is a part of; NONE */
    uint32_t next_part; /* of the set; NONE */
    uint32_t next_open; /* while reading: with the same identity */
    int64_t seq, count, group, generation; /* -1: not said */
    int64_t duration_ns;
    const char *name; /* "all_reduce", "join" */
    const char *comm, *type, *reduce;
    const char *source, *destination; /* "x+16" */
    const char *status;               /* of calls; NULL: never over, or ok at once */
    const char *at;
} trace_span;

/* All parts of one collective, or both halves of a transfer. */
typedef struct trace_set {
    uint32_t first, last; /* spans, by next_part */
    uint32_t count;
    uint32_t started; /* parts that were */
} trace_set;

typedef struct trace_finding {
    uint32_t event;
    bool is_note;
    const char *kind, *detail, *text;
    uint32_t first_rank, rank_count; /* in finding_ranks */
} trace_finding;

typedef struct trace_fault {
    uint32_t event;
    int32_t rank;
    const char *call, *action;
    int64_t rule;
} trace_fault;

typedef struct trace_node {
    const char *kind, *text; /* "rank", "operation", "collective", "group" */
    int32_t rank;            /* -1 */
    uint32_t cycle;          /* number; 0: in none */
} trace_node;

typedef struct trace_edge {
    uint32_t from, to; /* nodes of the graph; to NONE: nobody who could come */
    int32_t gone;      /* with NONE: the rank, -1: not known */
    const char *why;
} trace_edge;

typedef struct trace_graph {
    uint32_t event; /* before which it stands */
    int64_t t_ns;
    uint32_t first_node, node_count, nodes_said; /* said: by its first line */
    uint32_t first_edge, edge_count;
} trace_graph;

#define TRACE_ARRAY(type)                                                                          \
    struct {                                                                                       \
        type *at;                                                                                  \
        uint32_t count, room;                                                                      \
    }

struct tutti_trace {
    int64_t rank_count, device_count;
    TRACE_ARRAY(trace_event) events;
    TRACE_ARRAY(trace_lane) lanes; /* by rank, the host first, then as they appear */
    TRACE_ARRAY(trace_span) spans; /* in the order of their first event */
    TRACE_ARRAY(trace_set) sets;
    TRACE_ARRAY(trace_finding) findings;
    TRACE_ARRAY(int32_t) finding_ranks;
    TRACE_ARRAY(trace_fault) faults;
    TRACE_ARRAY(trace_graph) graphs;
    TRACE_ARRAY(trace_node) nodes;
    TRACE_ARRAY(trace_edge) edges;
    trace_names names;
};

/* Makes room for one more element of a TRACE_ARRAY; false when memory is out or the array is as
 * large as NONE allows. */
#define trace_grow(array)                                                                          \
    trace_grow_bytes((void **)&(array)->at, (array)->count, &(array)->room, sizeof *(array)->at)
bool trace_grow_bytes(void **elements, uint32_t count, uint32_t *room, size_t element_bytes);

/* When an event is shown; for NONE, a moment after the last one. */
int64_t trace_shown_ns(const tutti_trace *trace, uint32_t event);

/* The first finding that is no note; NULL. */
const trace_finding *trace_root_finding(const tutti_trace *trace);

#endif
