#ifndef TUTTI_TRACE_SVG_LAYOUT_H
#define TUTTI_TRACE_SVG_LAYOUT_H

/* Where things stand in the picture of lanes: which events and lanes are shown, and at which place.
 * From left to right an event of a shown lane is a step, and time is not drawn to scale: most of
 * what matters happens at one moment. */

#include "src/trace/model.h"

enum {
    SVG_LEFT = 190,     /* of the first event; names of lanes stand before it. All in pixels */
    SVG_STEP = 18,      /* from event to event */
    SVG_ROW = 30,       /* from lane to lane */
    SVG_TOP = 96,       /* of the first lane */
    SVG_LEVELS_MAX = 4, /* operations of one lane that run at once and do not cover each other */
};

typedef struct svg_layout {
    const tutti_trace *trace;
    uint32_t *steps;               /* by event: steps before it */
    bool *is_step;                 /* by event: something of a shown lane happens then */
    uint32_t step_count;           /* of the whole trace */
    uint32_t first_step, end_step; /* shown */
    uint32_t *rows;                /* by lane; NONE: hidden */
    uint32_t row_count, hidden_lanes;
    uint8_t *levels;       /* by span */
    uint8_t *level_counts; /* by lane */
    bool failed;           /* memory was out */
} svg_layout;

/* `anchor`: the event, from 1, that has to be seen; 0: none. */
void trace_svg_layout_make(svg_layout *layout, const tutti_trace *trace, uint64_t anchor);
void trace_svg_layout_free(svg_layout *layout);

/* The middle of an event's step; events outside stand at the edge. NONE is the right edge. */
int trace_svg_x(const svg_layout *layout, uint32_t event);

/* Whether something from one event to another has a part that is shown, in a lane that is. */
bool trace_svg_is_shown(const svg_layout *layout, uint32_t lane, uint32_t from, uint32_t to);
bool trace_svg_event_is_shown(const svg_layout *layout, uint32_t event);

/* The upper edge of a lane; the row of a rank's host, NONE when hidden. */
int trace_svg_y(const svg_layout *layout, uint32_t lane);
uint32_t trace_svg_host_lane(const svg_layout *layout, int32_t rank);

int trace_svg_right(const svg_layout *layout);
int trace_svg_bottom(const svg_layout *layout);

#endif
