#include "src/trace/picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The wait-for graph as Graphviz draws it: who waits for whom, and why. Red is a cycle; filled is
 * whoever could move and does not. */

typedef struct dot_picture {
    trace_text *out;
    const tutti_trace *trace;
    const trace_graph *graph;
    const trace_node *nodes; /* the graph's */
    const trace_edge *edges;
    bool *waits; /* by node: it waits for something */
    bool *shown; /* by node */
    uint32_t shown_count;
} dot_picture;

/* The graph from which the root finding was made: the last one before it; else the last. */
static const trace_graph *pick_graph(const tutti_trace *trace) {
    const trace_finding *root = trace_root_finding(trace);
    const trace_graph *picked = NULL;
    for (uint32_t i = 0; i < trace->graphs.count; i++)
        if (!root || !picked || trace->graphs.at[i].event <= root->event)
            picked = &trace->graphs.at[i];
    return picked;
}

/* --- Which nodes --- */

static void show(dot_picture *dot, uint32_t node) {
    if (dot->shown[node] || dot->shown_count == TUTTI_WAITS_NODES_MAX) return;
    dot->shown[node] = true;
    dot->shown_count++;
}

/* Of large graphs, first what explains: cycles, then those who do not come and who needs them. */
static void pick_nodes(dot_picture *dot) {
    for (uint32_t i = 0; i < dot->graph->edge_count; i++)
        dot->waits[dot->edges[i].from] = true;
    for (uint32_t i = 0; i < dot->graph->node_count; i++)
        if (dot->nodes[i].cycle != 0) show(dot, i);
    for (uint32_t i = 0; i < dot->graph->edge_count; i++) {
        const trace_edge *edge = &dot->edges[i];
        if (edge->to != NONE && dot->waits[edge->to]) continue;
        show(dot, edge->from);
        if (edge->to != NONE) show(dot, edge->to);
    }
    for (uint32_t i = 0; i < dot->graph->node_count; i++)
        show(dot, i);
}

/* --- Lines --- */

static const char *shape_of(const trace_node *node) {
    switch (*node->kind) {
    case 'c': /* collective */
        return "ellipse";
    case 'g': /* group */
        return "hexagon";
    case 'o': /* operation */
        return "box\" style=\"rounded";
    default:
        return "box";
    }
}

/* Long texts make wide pictures: broken at blanks. */
static void add_wrapped(trace_text *out, const char *text) {
    enum { LINE_BYTES = 34 };
    while (*text) {
        char line[LINE_BYTES * 4];
        size_t bytes = strcspn(text, "\n");
        if (bytes > LINE_BYTES) bytes = LINE_BYTES + strcspn(text + LINE_BYTES, " \n");
        if (bytes >= sizeof line) bytes = sizeof line - 1;
        memcpy(line, text, bytes);
        line[bytes] = '\0';
        trace_text_add_dot(out, line);
        text += bytes;
        if (*text == ' ' || *text == '\n') text++;
        if (*text) trace_text_add_plain(out, "\\n");
    }
}

static void add_node(dot_picture *dot, uint32_t index) {
    const trace_node *node = &dot->nodes[index];
    trace_text_add(dot->out, "  n%" PRIu32 " [shape=\"%s\"", index, shape_of(node));
    if (node->cycle != 0) trace_text_add_plain(dot->out, " color=\"#c62828\" penwidth=\"2\"");
    if (!dot->waits[index])
        trace_text_add_plain(dot->out,
                             " style=\"filled\" fillcolor=\"#ffcc80\" fontcolor=\"#000000\"");
    trace_text_add_plain(dot->out, " label=\"");
    if (node->rank >= 0) trace_text_add(dot->out, "rank %" PRId32 "\\n", node->rank);
    add_wrapped(dot->out, node->text);
    trace_text_add_plain(dot->out, "\"];\n");
}

/* Whether both ends are in one cycle. */
static bool is_in_cycle(const dot_picture *dot, const trace_edge *edge) {
    const uint32_t cycle = dot->nodes[edge->from].cycle;
    return edge->to != NONE && cycle != 0 && cycle == dot->nodes[edge->to].cycle;
}

static void add_gone(dot_picture *dot, uint32_t number, const trace_edge *edge) {
    trace_text_add(dot->out,
                   "  gone%" PRIu32 " [shape=\"box\" style=\"filled\" fillcolor=\"#ffcc80\" "
                   "fontcolor=\"#000000\" label=\"",
                   number);
    if (edge->gone >= 0)
        trace_text_add(dot->out, "rank %" PRId32 "\\nis no member any more", edge->gone);
    else
        trace_text_add_plain(dot->out, "a member that never joined");
    trace_text_add_plain(dot->out, "\"];\n");
}

static void add_edge(dot_picture *dot, uint32_t number) {
    const trace_edge *edge = &dot->edges[number];
    if (!dot->shown[edge->from] || (edge->to != NONE && !dot->shown[edge->to])) return;
    if (edge->to == NONE) add_gone(dot, number, edge);
    trace_text_add(dot->out, "  n%" PRIu32 " -> %s%" PRIu32 " [label=\"", edge->from,
                   edge->to == NONE ? "gone" : "n", edge->to == NONE ? number : edge->to);
    trace_text_add_dot(dot->out, edge->why);
    trace_text_add_plain(dot->out, "\"");
    if (is_in_cycle(dot, edge))
        trace_text_add_plain(dot->out, " color=\"#c62828\" fontcolor=\"#c62828\" penwidth=\"2\"");
    trace_text_add_plain(dot->out, "];\n");
}

static void add_graph(dot_picture *dot) {
    pick_nodes(dot);
    for (uint32_t i = 0; i < dot->graph->node_count; i++)
        if (dot->shown[i]) add_node(dot, i);
    for (uint32_t i = 0; i < dot->graph->edge_count; i++)
        add_edge(dot, i);
    const uint32_t hidden = dot->graph->node_count - dot->shown_count;
    if (hidden > 0)
        trace_text_add(dot->out, "  more [shape=\"plaintext\" label=\"and %" PRIu32 " more\"];\n",
                       hidden);
}

/* --- The whole --- */

static void add_label(trace_text *out, const trace_graph *graph,
                      const tutti_trace_picture *picture) {
    trace_text_add_plain(out, "  label=\"");
    if (picture->title) trace_text_add_dot(out, picture->title);
    if (picture->title) trace_text_add_plain(out, "\\n");
    trace_text_add_plain(out, graph ? "who waits for whom at " : "nobody was stuck");
    if (graph) trace_text_add_time(out, graph->t_ns);
    trace_text_add_plain(out, "\";\n");
}

void trace_picture_dot(trace_text *out, const tutti_trace *trace,
                       const tutti_trace_picture *picture) {
    dot_picture dot = {.out = out, .trace = trace, .graph = pick_graph(trace)};
    trace_text_add_plain(out, "digraph waits {\n  rankdir=\"TB\";\n  labelloc=\"t\";\n"
                              "  node [fontname=\"sans-serif\" fontsize=\"11\"];\n"
                              "  edge [fontname=\"sans-serif\" fontsize=\"9\"];\n");
    add_label(out, dot.graph, picture);
    if (dot.graph) {
        if (dot.graph->node_count > 0) dot.nodes = trace->nodes.at + dot.graph->first_node;
        if (dot.graph->edge_count > 0) dot.edges = trace->edges.at + dot.graph->first_edge;
        dot.waits = calloc((size_t)dot.graph->node_count + 1, sizeof *dot.waits);
        dot.shown = calloc((size_t)dot.graph->node_count + 1, sizeof *dot.shown);
        out->failed = out->failed || !dot.waits || !dot.shown;
        if (!out->failed) add_graph(&dot);
        free(dot.waits);
        free(dot.shown);
    }
    trace_text_add_plain(out, "}\n");
}
