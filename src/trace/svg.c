#include "src/trace/picture.h"
#include "src/trace/svg_layout.h"

#include <inttypes.h>
#include <string.h>

/* A lane for each rank and stream, as one SVG that needs nothing else: colours follow the reader's
 * light or dark scheme, details are tooltips. */

enum {
    HEAD_LINE = 16,
    LABELS = 3,            /* lines above the lanes for what was found */
    LABELS_SHOWN_MAX = 48, /* of findings */
    TIME_WIDTH = 70,       /* that a time's label takes */
    LETTER_WIDTH_TENTHS = 62,
    LEGEND = 44, /* below the lanes */
};

typedef struct svg_picture {
    trace_text *out;
    trace_text words; /* scratch */
    const tutti_trace *trace;
    const tutti_trace_picture *picture;
    svg_layout layout;
} svg_picture;

static const char style[] =
    "<style>\n"
    "svg{font-family:sans-serif;font-size:11px;background:#fff}\n"
    "text{fill:#222}.t{font-size:15px;font-weight:bold}.s{fill:#666}.c{pointer-events:none}\n"
    ".a{fill:#fff}.b{fill:#f3f5f8}.g{stroke:#d5d9e0}.n{fill:#666;font-size:9px}\n"
    ".k{fill:#8a94a6}.w{fill:#f2cf77;stroke:#b8860b}.q{stroke:#8a94a6;stroke-width:2}\n"
    ".o{fill:#8fc1ea;stroke:#1f6fb2}.m{fill:#cfe3c8;stroke:#4d8b3a}.x{fill:#f4a9a0;stroke:#c62828}"
    "\n"
    ".u{stroke-dasharray:4 3}.j{fill:none;stroke:#1f6fb2;stroke-opacity:.55}\n"
    ".r{fill:none;stroke:#6a3fb5}.h{fill:#6a3fb5}.e{fill:#c62828}.i{fill:#b8860b}\n"
    ".f{stroke:#c62828;stroke-dasharray:5 3}.d{stroke:#b8860b;stroke-dasharray:2 3}\n"
    ".v{fill:#8e24aa}.z{fill:#ff9800;fill-opacity:.25;stroke:#ff9800}\n"
    "@media (prefers-color-scheme:dark){\n"
    "svg{background:#16181d}text{fill:#e6e6e6}.s,.n{fill:#9aa3b2}.a{fill:#16181d}.b{fill:#1e2229}\n"
    ".g{stroke:#343a46}.w{fill:#7a5c14;stroke:#d9a92e}.o{fill:#1d4f7c;stroke:#63aee8}\n"
    ".m{fill:#2e4a26;stroke:#7fbf6a}.x{fill:#7a231d;stroke:#ff7b6e}.j{stroke:#63aee8}\n"
    ".r{stroke:#b497ea}.h{fill:#b497ea}.e{fill:#ff7b6e}.f{stroke:#ff7b6e}.i{fill:#d9a92e}\n"
    ".v{fill:#d98cf0}}\n"
    "</style>\n"
    "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
    "markerHeight=\"7\" orient=\"auto\"><path class=\"h\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n";

/* --- Pieces --- */

/* What stands in svg->words, as a text or a tooltip. */
static void add_words(svg_picture *svg) {
    trace_picture_add_quoted(svg->out, trace_text_add_xml_lines, &svg->words);
}

static void add_tooltip(svg_picture *svg) {
    trace_text_add_plain(svg->out, "<title>");
    add_words(svg);
    trace_text_add_plain(svg->out, "</title>");
}

static void begin_text(svg_picture *svg, const char *class_name, int x, int y) {
    trace_text_add(svg->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class_name, x, y);
}

static void end_text(svg_picture *svg) {
    add_words(svg);
    trace_text_add_plain(svg->out, "</text>\n");
}

/* --- Head and lanes --- */

static void add_head(svg_picture *svg) {
    const svg_layout *layout = &svg->layout;
    const tutti_trace *trace = svg->trace;
    const uint32_t count = trace->events.count;
    const uint32_t shown = layout->end_step - layout->first_step;
    begin_text(svg, "t", 10, 22);
    trace_text_add_plain(&svg->words, svg->picture->title ? svg->picture->title : "trace");
    end_text(svg);
    begin_text(svg, "s", 10, 22 + HEAD_LINE);
    trace_text_add(&svg->words, "%" PRIu32 " events", count);
    if (count > 0) trace_text_add_plain(&svg->words, ", until ");
    if (count > 0) trace_text_add_time(&svg->words, trace->events.at[count - 1].t_ns);
    if (shown < layout->step_count)
        trace_text_add(&svg->words, "; %" PRIu32 " steps before and %" PRIu32 " after are left out",
                       layout->first_step, layout->step_count - layout->end_step);
    if (layout->hidden_lanes > 0)
        trace_text_add(&svg->words, "; %" PRIu32 " lanes are left out", layout->hidden_lanes);
    end_text(svg);
}

static void add_lanes(svg_picture *svg) {
    for (uint32_t i = 0; i < svg->trace->lanes.count; i++) {
        if (svg->layout.rows[i] == NONE) continue;
        const int y = trace_svg_y(&svg->layout, i);
        trace_text_add(svg->out,
                       "<rect class=\"%s\" x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
                       svg->trace->lanes.at[i].rank % 2 ? "b" : "a", y,
                       trace_svg_right(&svg->layout) + 10, SVG_ROW);
        begin_text(svg, "l", 10, y + SVG_ROW / 2 + 4);
        trace_picture_add_lane(&svg->words, &svg->trace->lanes.at[i]);
        end_text(svg);
    }
}

/* A line where time passes, and the time as far as there is room. */
static void add_times(svg_picture *svg) {
    const svg_layout *layout = &svg->layout;
    int free_from = 0;
    int64_t last_ns = -1;
    for (uint32_t i = 0; i < svg->trace->events.count; i++) {
        const int64_t t_ns = svg->trace->events.at[i].t_ns;
        const bool is_shown = layout->is_step[i] && trace_svg_event_is_shown(layout, i);
        if (!is_shown || t_ns == last_ns) continue;
        last_ns = t_ns;
        const int x = trace_svg_x(layout, i) - SVG_STEP / 2;
        trace_text_add(svg->out, "<line class=\"g\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", x,
                       SVG_TOP, x, trace_svg_bottom(layout) + 4);
        if (x < free_from) continue;
        free_from = x + TIME_WIDTH;
        begin_text(svg, "n", x + 2, trace_svg_bottom(layout) + 12);
        trace_text_add_time(&svg->words, t_ns);
        end_text(svg);
    }
}

/* --- Calls --- */

static void add_call(svg_picture *svg, const trace_span *span) {
    const svg_layout *layout = &svg->layout;
    const int y = trace_svg_y(layout, span->lane);
    if (!span->waits) {
        trace_text_add(svg->out, "<circle class=\"%s\" cx=\"%d\" cy=\"%d\" r=\"%d\">",
                       span->failed ? "e" : "k", trace_svg_x(layout, span->begun), y + SVG_ROW / 2,
                       span->failed ? 4 : 3);
    } else {
        const int x = trace_svg_x(layout, span->begun);
        trace_text_add(
            svg->out, "<rect class=\"%s%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"12\" rx=\"3\">",
            span->failed ? "x" : "w", span->ended == NONE ? " u" : "", x, y + SVG_ROW / 2 - 6,
            trace_svg_x(layout, span->ended) - x);
    }
    trace_picture_add_details(&svg->words, svg->trace, span);
    add_tooltip(svg);
    trace_text_add_plain(svg->out, span->waits ? "</rect>\n" : "</circle>\n");
}

/* --- Operations --- */

typedef struct svg_box {
    int x, y, width, height;
} svg_box;

static svg_box box_of(const svg_picture *svg, const trace_span *span) {
    const svg_layout *layout = &svg->layout;
    const uint32_t number = (uint32_t)(span - svg->trace->spans.at);
    const int levels = layout->level_counts[span->lane] > 0 ? layout->level_counts[span->lane] : 1;
    const int height = (SVG_ROW - 9) / levels;
    const int x = trace_svg_x(layout, span->begun);
    const int width = trace_svg_x(layout, span->ended) - x;
    return (svg_box){x, trace_svg_y(layout, span->lane) + 3 + layout->levels[number] * height,
                     width > 0 ? width : 4, height - 1};
}

/* What stands in words, if a box has room for it. */
static void add_caption(svg_picture *svg, const svg_box *box) {
    if ((int)svg->words.bytes * LETTER_WIDTH_TENTHS / 10 + 6 > box->width || box->height < 10) {
        svg->words.bytes = 0;
        return;
    }
    begin_text(svg, "c", box->x + 4, box->y + box->height / 2 + 4);
    end_text(svg);
}

static void add_operation(svg_picture *svg, const trace_span *span) {
    const svg_box box = box_of(svg, span);
    const bool is_moment = span->begun == span->ended;
    trace_text_add(svg->out,
                   "<rect class=\"%s%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\">",
                   span->failed ? "x"
                   : span->comm ? "o"
                                : "m",
                   span->ended == NONE ? " u" : "", is_moment ? box.x - 2 : box.x, box.y, box.width,
                   box.height);
    trace_picture_add_details(&svg->words, svg->trace, span);
    add_tooltip(svg);
    trace_text_add_plain(svg->out, "</rect>\n");
    trace_picture_add_span(&svg->words, span);
    add_caption(svg, &box);
}

/* How long it stood in its stream before it started. */
static void add_queue(svg_picture *svg, const trace_span *span) {
    const svg_layout *layout = &svg->layout;
    const uint32_t until = span->begun != NONE ? span->begun : span->ended;
    const int y = trace_svg_y(layout, span->lane) + SVG_ROW - 4;
    if (until != NONE && until <= span->issued + 1 && span->begun != NONE) return;
    trace_text_add(svg->out, "<line class=\"q%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\">",
                   span->begun == NONE ? " u" : "", trace_svg_x(layout, span->issued), y,
                   trace_svg_x(layout, until), y);
    trace_picture_add_details(&svg->words, svg->trace, span);
    add_tooltip(svg);
    trace_text_add_plain(svg->out, "</line>\n");
}

static void add_spans(svg_picture *svg) {
    for (uint32_t i = 0; i < svg->trace->spans.count; i++) {
        const trace_span *span = &svg->trace->spans.at[i];
        if (!trace_svg_is_shown(&svg->layout, span->lane, span->issued,
                                span->kind == SPAN_CALL && !span->waits ? span->begun
                                                                        : span->ended))
            continue;
        if (span->kind == SPAN_CALL) {
            add_call(svg, span);
            continue;
        }
        add_queue(svg, span);
        if (span->begun != NONE && svg->layout.steps[span->begun] < svg->layout.end_step)
            add_operation(svg, span);
    }
}

/* --- Parts of one operation --- */

static bool has_point(const svg_picture *svg, const trace_span *span) {
    return span->begun != NONE && svg->layout.rows[span->lane] != NONE &&
           trace_svg_event_is_shown(&svg->layout, span->begun);
}

static void add_point(svg_picture *svg, const trace_span *span, bool is_first) {
    const svg_box box = box_of(svg, span);
    trace_text_add(svg->out, "%c%d %d", is_first ? 'M' : 'L', box.x, box.y + box.height / 2);
}

/* From the send to the receive. */
static void add_transfer(svg_picture *svg, const trace_set *set) {
    const trace_span *first = &svg->trace->spans.at[set->first];
    const trace_span *second = &svg->trace->spans.at[set->last];
    if (set->count != 2 || !has_point(svg, first) || !has_point(svg, second)) return;
    trace_text_add_plain(svg->out, "<path class=\"r\" marker-end=\"url(#tip)\" d=\"");
    add_point(svg, first->sends ? first : second, true);
    add_point(svg, first->sends ? second : first, false);
    trace_text_add_plain(svg->out, "\"/>\n");
}

static void add_collective(svg_picture *svg, const trace_set *set) {
    uint32_t count = 0;
    for (uint32_t at = set->first; at != NONE; at = svg->trace->spans.at[at].next_part)
        count += has_point(svg, &svg->trace->spans.at[at]);
    if (count < 2) return;
    trace_text_add_plain(svg->out, "<path class=\"j\" d=\"");
    bool is_first = true;
    for (uint32_t at = set->first; at != NONE; at = svg->trace->spans.at[at].next_part) {
        const trace_span *span = &svg->trace->spans.at[at];
        if (!has_point(svg, span)) continue;
        add_point(svg, span, is_first);
        is_first = false;
    }
    trace_text_add_plain(svg->out, "\"/>\n");
}

static void add_sets(svg_picture *svg) {
    for (uint32_t i = 0; i < svg->trace->sets.count; i++) {
        const trace_set *set = &svg->trace->sets.at[i];
        if (svg->trace->spans.at[set->first].is_transfer)
            add_transfer(svg, set);
        else
            add_collective(svg, set);
    }
}

/* --- Marks --- */

static void add_vertical(svg_picture *svg, const char *class_name, int x) {
    trace_text_add(svg->out, "<line class=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
                   class_name, x, SVG_TOP - 6, x, trace_svg_bottom(&svg->layout));
}

/* A diamond at each culprit. */
static void add_culprit(svg_picture *svg, const trace_finding *finding, int32_t rank) {
    const uint32_t lane = trace_svg_host_lane(&svg->layout, rank);
    if (lane == NONE) return;
    const int x = trace_svg_x(&svg->layout, finding->event);
    const int y = trace_svg_y(&svg->layout, lane) + SVG_ROW / 2;
    trace_text_add(svg->out, "<path class=\"%s\" d=\"M%d %dl7 7l-7 7l-7 -7z\">",
                   finding->is_note ? "i" : "e", x, y - 7);
    trace_picture_add_finding(&svg->words, finding);
    if (finding->text) trace_text_add_plain(&svg->words, "\n");
    if (finding->text) trace_text_add_plain(&svg->words, finding->text);
    add_tooltip(svg);
    trace_text_add_plain(svg->out, "</path>\n");
}

static void add_finding(svg_picture *svg, const trace_finding *finding, uint32_t label) {
    const int x = trace_svg_x(&svg->layout, finding->event);
    add_vertical(svg, finding->is_note ? "d" : "f", x);
    for (uint32_t i = 0; i < finding->rank_count; i++)
        add_culprit(svg, finding, svg->trace->finding_ranks.at[finding->first_rank + i]);
    if (label >= LABELS_SHOWN_MAX) return;
    begin_text(svg, finding->is_note ? "i" : "e", x + 4, SVG_TOP - 8 - (int)(label % LABELS) * 12);
    trace_text_add_plain(&svg->words, finding->is_note ? "note: " : "");
    trace_picture_add_finding(&svg->words, finding);
    end_text(svg);
}

static void add_findings(svg_picture *svg) {
    uint32_t label = 0;
    for (uint32_t i = 0; i < svg->trace->findings.count; i++)
        if (trace_svg_event_is_shown(&svg->layout, svg->trace->findings.at[i].event))
            add_finding(svg, &svg->trace->findings.at[i], label++);
}

static void add_faults(svg_picture *svg) {
    for (uint32_t i = 0; i < svg->trace->faults.count; i++) {
        const trace_fault *fault = &svg->trace->faults.at[i];
        const uint32_t lane = trace_svg_host_lane(&svg->layout, fault->rank);
        if (lane == NONE || !trace_svg_event_is_shown(&svg->layout, fault->event)) continue;
        trace_text_add(svg->out, "<path class=\"v\" d=\"M%d %dl6 11l-12 0z\">",
                       trace_svg_x(&svg->layout, fault->event),
                       trace_svg_y(&svg->layout, lane) + 3);
        trace_text_add(&svg->words, "fault in rank %" PRId32 "'s ", fault->rank);
        trace_text_add_plain(&svg->words, fault->call);
        trace_text_add_plain(&svg->words, ": ");
        trace_text_add_plain(&svg->words, fault->action);
        add_tooltip(svg);
        trace_text_add_plain(svg->out, "</path>\n");
    }
}

/* The step that followed from the critical choice. */
static void add_critical(svg_picture *svg) {
    const uint64_t number = svg->picture->critical_event;
    if (number == 0 || !trace_svg_event_is_shown(&svg->layout, (uint32_t)(number - 1))) return;
    const int x = trace_svg_x(&svg->layout, (uint32_t)(number - 1)) - SVG_STEP / 2;
    const char *text = svg->picture->critical_text;
    trace_text_add(
        svg->out, "<rect id=\"critical\" class=\"z\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">",
        x, SVG_TOP - 50, SVG_STEP, trace_svg_bottom(&svg->layout) - SVG_TOP + 50);
    trace_text_add(&svg->words, "critical choice, event %" PRIu64, number);
    if (text) trace_text_add_plain(&svg->words, "\n");
    if (text) trace_text_add_plain(&svg->words, text);
    add_tooltip(svg);
    trace_text_add_plain(svg->out, "</rect>\n");
    begin_text(svg, "l", x + SVG_STEP + 3, SVG_TOP - 42);
    trace_text_add_plain(&svg->words, "critical choice");
    if (text) trace_text_add_plain(&svg->words, ": ");
    if (text) trace_text_add_first_line(&svg->words, trace_text_add_plain, text);
    end_text(svg);
}

/* --- Legend --- */

static void add_legend(svg_picture *svg) {
    static const struct {
        const char *class_name, *text;
    } entries[] = {
        {"w", "host waits"},
        {"o", "operation"},
        {"m", "kernel, copy, event"},
        {"x", "failed or given up"},
        {"e", "finding"},
        {"i", "note"},
        {"v", "fault"},
        {"k", "host's call"},
    };
    const int y = trace_svg_bottom(&svg->layout) + LEGEND - 14;
    int x = 10;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        trace_text_add(svg->out,
                       "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"10\" height=\"10\"/>",
                       entries[i].class_name, x, y - 9);
        begin_text(svg, "s", x + 14, y);
        trace_text_add_plain(&svg->words, entries[i].text);
        end_text(svg);
        x += 30 + (int)strlen(entries[i].text) * LETTER_WIDTH_TENTHS / 10;
    }
}

/* --- The whole --- */

/* The event that must be seen: the critical one, else where the root finding was made. */
static uint64_t anchor_of(const tutti_trace *trace, const tutti_trace_picture *picture) {
    const trace_finding *root = trace_root_finding(trace);
    if (picture->critical_event > 0) return picture->critical_event;
    return root ? (uint64_t)root->event + 1 : 0;
}

static void add_everything(svg_picture *svg) {
    const int right = trace_svg_right(&svg->layout) + 10;
    const int width = right < 760 ? 760 : right; /* room for the legend */
    const int height = trace_svg_bottom(&svg->layout) + LEGEND;
    trace_text_add(
        svg->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%d\" "
        "viewBox=\"0 0 %d %d\">\n",
        width, height, width, height);
    trace_text_add_plain(svg->out, style);
    add_head(svg);
    add_lanes(svg);
    add_times(svg);
    add_critical(svg);
    add_spans(svg);
    add_sets(svg);
    add_faults(svg);
    add_findings(svg);
    add_legend(svg);
    trace_text_add_plain(svg->out, "</svg>\n");
}

void trace_picture_svg(trace_text *out, const tutti_trace *trace,
                       const tutti_trace_picture *picture) {
    svg_picture svg = {.out = out, .trace = trace, .picture = picture};
    trace_svg_layout_make(&svg.layout, trace, anchor_of(trace, picture));
    out->failed = out->failed || svg.layout.failed;
    if (!out->failed) add_everything(&svg);
    trace_svg_layout_free(&svg.layout);
    trace_text_free(&svg.words);
}
