#ifndef TUTTI_TRACE_READER_H
#define TUTTI_TRACE_READER_H

/* How a trace is read: line by line, each one checked in itself (fields), then put into the model
 * (build). */

#include <jansson.h>

#include "src/trace/model.h"

/* What a host is doing, while reading. */
typedef struct trace_host {
    uint32_t lane; /* 0: none yet; else one more than its number */
    uint32_t call; /* one more than the number of the call that is not over; 0: none */
} trace_host;

typedef struct trace_reader {
    const char *name;
    const char *line; /* the one being read, line_bytes of it */
    size_t line_bytes;
    uint32_t line_number;
    const json_t *object; /* the line's */
    tutti_trace *trace;
    trace_table lane_table, open_table, set_table;
    TRACE_ARRAY(trace_host) hosts;
    tutti_error *error;
    tutti_status status; /* the first failure; nothing is read any more */
} trace_reader;

/* --- fields.c --- */

/* Fails at a column of the current line (printf's format). */
void trace_reader_fail(trace_reader *reader, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void trace_reader_no_memory(trace_reader *reader);

/* Parses the current line. False, and failed, when it is no object. */
bool trace_reader_parse_line(trace_reader *reader);

/* A field of the line. Wrong types and values fail; absent ones give `absent`, and *_needed fails.
 */
int64_t trace_field_integer(trace_reader *reader, const char *key, int64_t least, int64_t most,
                            int64_t absent);
int64_t trace_field_integer_needed(trace_reader *reader, const char *key, int64_t least,
                                   int64_t most);
const char *trace_field_name(trace_reader *reader, const char *key); /* NULL: absent */
const char *trace_field_name_needed(trace_reader *reader, const char *key);
bool trace_field_flag(trace_reader *reader, const char *key);

/* --- build.c --- */

/* Puts the current line's event, the latest of the trace, into the model. */
void trace_build_call(trace_reader *reader);
void trace_build_block(trace_reader *reader);
void trace_build_return(trace_reader *reader);
void trace_build_operation(trace_reader *reader, const char *event);
void trace_build_fault(trace_reader *reader);
void trace_build_finding(trace_reader *reader);

/* The same for lines of a wait-for graph, which are no events. */
void trace_build_graph(trace_reader *reader, int64_t t_ns);
void trace_build_node(trace_reader *reader);
void trace_build_edge(trace_reader *reader);

/* Puts the lanes in order, once all is read. */
void trace_build_finish(trace_reader *reader);

#endif
