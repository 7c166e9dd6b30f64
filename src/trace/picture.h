#ifndef TUTTI_TRACE_PICTURE_H
#define TUTTI_TRACE_PICTURE_H

/* What the pictures share: words for what they show, and the function of each. */

#include "src/trace/model.h"
#include "src/trace/text.h"

/* "all_reduce 3 of world", "send 1 to 2 of world", "kernel". */
void trace_picture_add_span(trace_text *text, const trace_span *span);

/* All that is known of it, a line each: for a tooltip. */
void trace_picture_add_details(trace_text *text, const tutti_trace *trace, const trace_span *span);

/* "deadlock", "mismatch (count)". */
void trace_picture_add_finding(trace_text *text, const trace_finding *finding);

/* "rank 0, host", "rank 0, stream comm". */
void trace_picture_add_lane(trace_text *text, const trace_lane *lane);

/* Adds a text, quoted, and empties it. */
void trace_picture_add_quoted(trace_text *out, text_quote *quote, trace_text *text);

/* Each writes a whole picture; what went wrong is in out->failed, and for Mermaid in the error. */
void trace_picture_chrome(trace_text *out, const tutti_trace *trace,
                          const tutti_trace_picture *picture);
void trace_picture_dot(trace_text *out, const tutti_trace *trace,
                       const tutti_trace_picture *picture);
void trace_picture_svg(trace_text *out, const tutti_trace *trace,
                       const tutti_trace_picture *picture);
tutti_status trace_picture_mermaid(trace_text *out, const tutti_trace *trace,
                                   const tutti_trace_picture *picture, tutti_error *error);

#endif
