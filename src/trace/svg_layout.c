#include "src/trace/svg_layout.h"

#include <stdlib.h>

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

/* --- Which events --- */

static void add_step(svg_layout *layout, uint32_t event) {
    if (event != NONE) layout->is_step[event] = true;
}

static void find_steps(svg_layout *layout) {
    const tutti_trace *trace = layout->trace;
    for (uint32_t i = 0; i < trace->spans.count; i++) {
        const trace_span *span = &trace->spans.at[i];
        if (layout->rows[span->lane] == NONE) continue;
        add_step(layout, span->issued);
        add_step(layout, span->begun);
        add_step(layout, span->ended);
    }
    for (uint32_t i = 0; i < trace->findings.count; i++)
        add_step(layout, trace->findings.at[i].event);
    for (uint32_t i = 0; i < trace->faults.count; i++)
        add_step(layout, trace->faults.at[i].event);
    for (uint32_t i = 0; i < trace->events.count; i++) {
        layout->steps[i] = layout->step_count;
        layout->step_count += layout->is_step[i];
    }
}

/* Of a long trace, what comes before the anchor and a little of what comes after it. */
static void pick_steps(svg_layout *layout, uint64_t anchor) {
    enum { AFTER = TUTTI_LANES_EVENTS_MAX / 4 };
    const uint32_t count = layout->step_count;
    layout->end_step = count;
    if (anchor > 0) {
        const uint32_t after = layout->steps[anchor - 1] + AFTER;
        if (after < count) layout->end_step = after;
    }
    if (layout->end_step < TUTTI_LANES_EVENTS_MAX)
        layout->end_step = count < TUTTI_LANES_EVENTS_MAX ? count : TUTTI_LANES_EVENTS_MAX;
    if (layout->end_step > TUTTI_LANES_EVENTS_MAX)
        layout->first_step = layout->end_step - TUTTI_LANES_EVENTS_MAX;
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
    layout->steps = calloc((size_t)trace->events.count + 1, sizeof *layout->steps);
    layout->is_step = calloc((size_t)trace->events.count + 1, sizeof *layout->is_step);
    layout->failed = !layout->rows || !layout->levels || !layout->level_counts || !layout->steps ||
                     !layout->is_step;
    if (layout->failed) return;
    pick_lanes(layout);
    if (anchor > 0) add_step(layout, (uint32_t)(anchor - 1));
    find_steps(layout);
    pick_steps(layout, anchor);
    pick_levels(layout);
}

void trace_svg_layout_free(svg_layout *layout) {
    free(layout->rows);
    free(layout->steps);
    free(layout->is_step);
    free(layout->levels);
    free(layout->level_counts);
}

int trace_svg_x(const svg_layout *layout, uint32_t event) {
    if (event == NONE || layout->steps[event] >= layout->end_step) return trace_svg_right(layout);
    if (layout->steps[event] < layout->first_step) return SVG_LEFT;
    return SVG_LEFT + (int)(layout->steps[event] - layout->first_step) * SVG_STEP + SVG_STEP / 2;
}

bool trace_svg_event_is_shown(const svg_layout *layout, uint32_t event) {
    return event != NONE && layout->steps[event] >= layout->first_step &&
           layout->steps[event] < layout->end_step;
}

bool trace_svg_is_shown(const svg_layout *layout, uint32_t lane, uint32_t from, uint32_t to) {
    const bool begins = layout->steps[from] < layout->end_step;
    const bool lasts = to == NONE || layout->steps[to] >= layout->first_step;
    return layout->rows[lane] != NONE && begins && lasts;
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
    return SVG_LEFT + (int)(layout->end_step - layout->first_step) * SVG_STEP + SVG_STEP;
}

int trace_svg_bottom(const svg_layout *layout) {
    return SVG_TOP + (int)layout->row_count * SVG_ROW;
}
