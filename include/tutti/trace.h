#ifndef TUTTI_TRACE_H
#define TUTTI_TRACE_H

/* Traces and what can be made of them. A trace is a text, a JSON object a line: the header with the
 * version, then every event of a run in order. It is what a rehearsal's trace_sink gets; everything
 * else is derived from it. docs/traces.md describes the lines and the pictures. */

#include "tutti/emu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A trace that was read. */
typedef struct tutti_trace tutti_trace;

enum {
    TUTTI_TRACE_VERSION = 2,              /* of the lines, in the header */
    TUTTI_TRACE_LINE_BYTES_MAX = 1 << 16, /* of one line */
    TUTTI_TRACE_EVENTS_MAX = 1 << 26,     /* of one trace */
    TUTTI_LANES_MAX = 64,                 /* lanes in an SVG; the others are counted */
    TUTTI_LANES_EVENTS_MAX = 1500,        /* events in an SVG; the others are counted */
    TUTTI_WAITS_NODES_MAX = 300,          /* nodes in a DOT; the others are counted */
    TUTTI_SEQUENCE_RANKS_MAX = 8,         /* ranks in a Mermaid diagram; more are an error */
    TUTTI_SEQUENCE_LINES_MAX = 400,       /* lines in a Mermaid diagram; the others are counted */
};

/* Reads one of the traces in a text.
 * Units:   number: 1 is the first trace of the text; 0 means that it holds one only
 * Memory:  name and text are only read during the call; *trace_out is the caller's
 * Errors:  TUTTI_SYNTAX: it is no trace, or of another version, or ends in the middle of a line;
 * the message begins with `name:line:column: `, and the error's place says the same.
 *          TUTTI_INVALID_ARGUMENT: it holds fewer traces, or, with 0, several.
 *          TUTTI_UNSUPPORTED: more than TUTTI_TRACE_EVENTS_MAX events. TUTTI_OUT_OF_MEMORY.
 *          *trace_out is untouched then. */
tutti_status tutti_trace_read(const char *name, const char *text, size_t text_bytes,
                              uint32_t number, tutti_trace **trace_out, tutti_error *error);

/* Frees a trace. NULL does nothing. */
void tutti_trace_free(tutti_trace *trace);

/* How many events the trace has, as tutti_report counts them. */
uint64_t tutti_trace_event_count(const tutti_trace *trace);

/* What a trace can be turned into. Values are ABI. */
typedef enum tutti_trace_format {
    TUTTI_TRACE_CHROME = 0,  /* JSON for Perfetto and chrome://tracing */
    TUTTI_TRACE_DOT = 1,     /* who waits for whom, for Graphviz */
    TUTTI_TRACE_SVG = 2,     /* a lane for each rank and stream */
    TUTTI_TRACE_MERMAID = 3, /* a sequence diagram, for Markdown */
    TUTTI_TRACE_FORMAT_COUNT = 4,
} tutti_trace_format;

/* The word for a format ("chrome", "dot", "svg", "mermaid"); "unknown" for other values. */
const char *tutti_trace_format_name(tutti_trace_format format);

typedef struct tutti_trace_picture {
    uint32_t struct_size; /* sizeof(tutti_trace_picture) */
    tutti_trace_format format;
    const char *title;         /* over the picture; NULL: none */
    uint64_t critical_event;   /* SVG: the event, from 1, that followed from the critical choice;
                                  it is marked; 0: none */
    const char *critical_text; /* SVG: what was chosen there; NULL */
} tutti_trace_picture;

/* Takes a piece of a text. */
typedef void tutti_text_sink(void *context, const char *text, size_t text_bytes);

/* Writes a trace in another format. Equal traces give equal texts.
 * Memory:  everything is borrowed for the call; the sink gets the text in pieces, in order
 * Errors:  TUTTI_INVALID_ARGUMENT: the picture's fields; TUTTI_UNSUPPORTED: Mermaid, more than
 *          TUTTI_SEQUENCE_RANKS_MAX ranks; TUTTI_OUT_OF_MEMORY. The sink got nothing then. */
tutti_status tutti_trace_write(const tutti_trace *trace, const tutti_trace_picture *picture,
                               tutti_text_sink *sink, void *context, tutti_error *error);

/* --- JUnit --- */

/* One test case for CI systems: a script or a rehearsal. */
typedef struct tutti_junit_case {
    const char *name;
    const char *class_name; /* NULL: the suite's name */
    const char *failure;    /* in a line, what is wrong; NULL: it passed */
    const char *error;      /* in a line, why it could not be run; NULL: it was */
    const char *text;       /* the report; NULL */
    int64_t virtual_ns;     /* how long it took on the cluster's clock; negative: not known */
} tutti_junit_case;

/* Writes test cases as JUnit XML: one testsuite. What XML cannot carry becomes U+FFFD.
 * Memory:  as tutti_trace_write()
 * Errors:  TUTTI_OUT_OF_MEMORY */
tutti_status tutti_junit_write(const char *suite, const tutti_junit_case *cases, size_t case_count,
                               tutti_text_sink *sink, void *context, tutti_error *error);

#ifdef __cplusplus
}
#endif

#endif
