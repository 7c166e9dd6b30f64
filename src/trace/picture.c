#include "src/trace/picture.h"

#include <inttypes.h>

/* --- Words --- */

void trace_picture_add_span(trace_text *text, const trace_span *span) {
    trace_text_add_plain(text, span->name);
    if (span->kind == SPAN_OPERATION && span->seq >= 0)
        trace_text_add(text, " %" PRId64, span->seq);
    if (span->is_transfer)
        trace_text_add(text, span->sends ? " to %" PRId32 : " from %" PRId32, span->peer);
    if (!span->comm) return;
    trace_text_add_plain(text, " of ");
    trace_text_add_plain(text, span->comm);
}

static void add_line(trace_text *text, const char *what, const char *value) {
    if (!value) return;
    trace_text_add(text, "\n%s ", what);
    trace_text_add_plain(text, value);
}

static void add_moment(trace_text *text, const tutti_trace *trace, const char *what,
                       uint32_t event) {
    trace_text_add(text, "\n%s", what);
    if (event == NONE) {
        trace_text_add_plain(text, ": never");
        return;
    }
    trace_text_add_plain(text, " at ");
    trace_text_add_time(text, trace->events.at[event].t_ns);
    trace_text_add(text, ", event %" PRIu32, event + 1);
}

static void add_signature(trace_text *text, const trace_span *span) {
    if (span->count < 0 || !span->type) return;
    trace_text_add(text, "\n%" PRId64 " ", span->count);
    trace_text_add_plain(text, span->type);
    if (!span->reduce) return;
    trace_text_add_plain(text, ", ");
    trace_text_add_plain(text, span->reduce);
}

void trace_picture_add_details(trace_text *text, const tutti_trace *trace, const trace_span *span) {
    trace_text_add(text, "rank %" PRId32 ": ", span->rank);
    trace_picture_add_span(text, span);
    add_signature(text, span);
    add_line(text, "from", span->source);
    add_line(text, "to", span->destination);
    if (span->kind == SPAN_OPERATION) {
        add_moment(text, trace, "issued", span->issued);
        add_moment(text, trace, "started", span->begun);
        add_moment(text, trace, span->failed ? "given up" : "complete", span->ended);
    } else {
        add_moment(text, trace, "called", span->issued);
        if (span->waits) add_moment(text, trace, "over", span->ended);
        add_line(text, "status", span->status);
    }
    add_line(text, "in", span->at);
}

void trace_picture_add_finding(trace_text *text, const trace_finding *finding) {
    trace_text_add_plain(text, finding->kind);
    if (!finding->detail || !*finding->detail) return;
    trace_text_add_plain(text, " (");
    trace_text_add_plain(text, finding->detail);
    trace_text_add_plain(text, ")");
}

void trace_picture_add_lane(trace_text *text, const trace_lane *lane) {
    trace_text_add(text, "rank %" PRId32 ", ", lane->rank);
    trace_text_add_plain(text, lane->stream ? "stream " : "host");
    if (lane->stream) trace_text_add_plain(text, lane->stream);
    if (lane->device >= 0) trace_text_add(text, " of device %" PRId64, lane->device);
}

void trace_picture_add_quoted(trace_text *out, text_quote *quote, trace_text *text) {
    trace_text_add_bytes(text, "", 1); /* its final NUL */
    if (!text->failed) quote(out, text->text);
    out->failed = out->failed || text->failed;
    text->bytes = 0;
}

/* --- The call --- */

static const char *const format_names[TUTTI_TRACE_FORMAT_COUNT] = {
    [TUTTI_TRACE_CHROME] = "chrome",
    [TUTTI_TRACE_DOT] = "dot",
    [TUTTI_TRACE_SVG] = "svg",
    [TUTTI_TRACE_MERMAID] = "mermaid",
};

const char *tutti_trace_format_name(tutti_trace_format format) {
    return (unsigned)format < TUTTI_TRACE_FORMAT_COUNT ? format_names[format] : "unknown";
}

static tutti_status check_picture(const tutti_trace *trace, const tutti_trace_picture *picture,
                                  tutti_text_sink *sink, tutti_error *error) {
    if (!trace || !picture || !sink)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "%s is NULL",
                               !trace     ? "trace"
                               : !picture ? "picture"
                                          : "sink");
    if (picture->struct_size != sizeof *picture)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "struct_size of the picture is %u, and this version has %zu",
                               (unsigned)picture->struct_size, sizeof *picture);
    if ((unsigned)picture->format >= TUTTI_TRACE_FORMAT_COUNT)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "there is no format %d",
                               (int)picture->format);
    if (picture->critical_event > trace->events.count)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "critical_event is %" PRIu64 ", and the trace has %" PRIu32
                               " events",
                               picture->critical_event, trace->events.count);
    return TUTTI_OK;
}

static tutti_status draw(trace_text *out, const tutti_trace *trace,
                         const tutti_trace_picture *picture, tutti_error *error) {
    switch (picture->format) {
    case TUTTI_TRACE_CHROME:
        trace_picture_chrome(out, trace, picture);
        break;
    case TUTTI_TRACE_DOT:
        trace_picture_dot(out, trace, picture);
        break;
    case TUTTI_TRACE_SVG:
        trace_picture_svg(out, trace, picture);
        break;
    case TUTTI_TRACE_MERMAID:
        return trace_picture_mermaid(out, trace, picture, error);
    case TUTTI_TRACE_FORMAT_COUNT:
        break;
    }
    return TUTTI_OK;
}

tutti_status tutti_trace_write(const tutti_trace *trace, const tutti_trace_picture *picture,
                               tutti_text_sink *sink, void *context, tutti_error *error) {
    trace_text out = {0};
    tutti_error_clear(error);
    tutti_status status = check_picture(trace, picture, sink, error);
    if (status != TUTTI_OK) return status;
    status = draw(&out, trace, picture, error);
    if (status == TUTTI_OK && out.failed)
        status = tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory is left for the picture");
    if (status == TUTTI_OK) sink(context, out.text, out.bytes);
    trace_text_free(&out);
    return status;
}
