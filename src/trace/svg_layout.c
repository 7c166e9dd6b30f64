#include "src/trace/svg_layout.h"

#include <stdlib.h>

/* --- Which events --- */

/* Of a long trace, what comes before the anchor and a little of what comes after it. */
static void pick_events(svg_layout *layout, uint64_t anchor) {
    const uint32_t count = layout->trace->events.count;
    layout->first_event = 0;
    layout->end_event = count;
    if (count <= TUTTI_LANES_EVENTS_MAX) return;
    uint32_t end = count;
    if (anchor > 0 && anchor + TUTTI_LANES_EVENTS_MAX / 4 < count)
        end = (uint32_t)anchor + TUTTI_LANES_EVENTS_MAX / 4;
    if (end < TUTTI_LANES_EVENTS_MAX) end = TUTTI_LANES_EVENTS_MAX;
    layout->end_event = end;
    layout->first_event = end - TUTTI_LANES_EVENTS_MAX;
}

/* --- Which lanes --- */

/* Lanes of one rank stand together, the host first. */
static uint32_t lanes_of_rank(const tutti_trace *trace, uint32_t first) {
    uint32_t end = first + 1;
    while (end < trace->lanes.count && trace->lanes.at[end].rank == trace->lanes.at[first].rank)
        end++;
    return end - first;
}

static bool is_culprit(const tutti_trace *trace, int32_t rank) {
    const trace_finding *root = trace_root_finding(trace);
    for (uint32_t i = 0; root && i < root->rank_count; i++)
        if (trace->finding_ranks.at[root->first_rank + i] == rank) return true;
    return false;
}

static void show_ranks(svg_layout *layout, bool culprits) {
    const tutti_trace *trace = layout->trace;
    for (uint32_t i = 0; i < trace->lanes.count;) {
        const uint32_t count = lanes_of_rank(trace, i);
        const bool fits = layout->row_count + count <= TUTTI_LANES_MAX;
        if (is_culprit(trace, trace->lanes.at[i].rank) == culprits && fits) {
            for (uint32_t j = i; j < i + count; j++)
                layout->rows[j] = 0;
            layout->row_count += count;
        }
        i += count;
    }
}

static void pick_lanes(svg_layout *layout) {
    const uint32_t count = layout->trace->lanes.count;
    for (uint32_t i = 0; i < count; i++)
        layout->rows[i] = NONE;
    show_ranks(layout, true);
    show_ranks(layout, false);
    uint32_t row = 0;
    for (uint32_t i = 0; i < count; i++)
        if (layout->rows[i] != NONE) layout->rows[i] = row++;
    layout->hidden_lanes = count - row;
}

/* --- Operations that run at once --- */

/* Each takes the first level that is free when it begins. */
static void pick_levels(svg_layout *layout) {
    const tutti_trace *trace = layout->trace;
    const size_t lane_count = (size_t)trace->lanes.count + 1;
    uint32_t(*ends)[SVG_LEVELS_MAX] = calloc(lane_count, sizeof *ends);
    layout->failed = layout->failed || !ends;
    for (uint32_t i = 0; !layout->failed && i < trace->spans.count; i++) {
        const trace_span *span = &trace->spans.at[i];
        uint8_t level = 0;
        if (span->kind != SPAN_OPERATION || span->begun == NONE) continue;
        while (level + 1 < SVG_LEVELS_MAX && ends[span->lane][level] > span->begun)
            level++;
        ends[span->lane][level] = span->ended;
        layout->levels[i] = level;
        if (level >= layout->level_counts[span->lane])
            layout->level_counts[span->lane] = (uint8_t)(level + 1);
    }
    free(ends);
}

/* --- The whole --- */

void trace_svg_layout_make(svg_layout *layout, const tutti_trace *trace, uint64_t anchor) {
    *layout = (svg_layout){.trace = trace};
    layout->rows = calloc((size_t)trace->lanes.count + 1, sizeof *layout->rows);
    layout->level_counts = calloc((size_t)trace->lanes.count + 1, sizeof *layout->level_counts);
    layout->levels = calloc((size_t)trace->spans.count + 1, sizeof *layout->levels);
    layout->failed = !layout->rows || !layout->levels || !layout->level_counts;
    if (layout->failed) return;
    pick_events(layout, anchor);
    pick_lanes(layout);
    pick_levels(layout);
}

void trace_svg_layout_free(svg_layout *layout) {
    free(layout->rows);
    free(layout->levels);
    free(layout->level_counts);
}

int trace_svg_x(const svg_layout *layout, uint32_t event) {
    if (event != NONE && event < layout->first_event) return SVG_LEFT;
    if (event >= layout->end_event) return trace_svg_right(layout);
    return SVG_LEFT + (int)(event - layout->first_event) * SVG_STEP + SVG_STEP / 2;
}

bool trace_svg_event_is_shown(const svg_layout *layout, uint32_t event) {
    return event >= layout->first_event && event < layout->end_event;
}

bool trace_svg_is_shown(const svg_layout *layout, uint32_t lane, uint32_t from, uint32_t to) {
    return layout->rows[lane] != NONE && from < layout->end_event && to >= layout->first_event;
}

int trace_svg_y(const svg_layout *layout, uint32_t lane) {
    return SVG_TOP + (int)layout->rows[lane] * SVG_ROW;
}

uint32_t trace_svg_host_lane(const svg_layout *layout, int32_t rank) {
    uint32_t from = 0, to = layout->trace->lanes.count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (layout->trace->lanes.at[middle].rank < rank)
            from = middle + 1;
        else
            to = middle;
    }
    const bool found = from < layout->trace->lanes.count &&
                       layout->trace->lanes.at[from].rank == rank && layout->rows[from] != NONE;
    return found ? from : NONE;
}

int trace_svg_right(const svg_layout *layout) {
    return SVG_LEFT + (int)(layout->end_event - layout->first_event) * SVG_STEP + SVG_STEP;
}

int trace_svg_bottom(const svg_layout *layout) {
    return SVG_TOP + (int)layout->row_count * SVG_ROW;
}
