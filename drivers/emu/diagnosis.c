#include "drivers/emu/explain.h"
#include "drivers/emu/waitfor.h"

#include <stdlib.h>

/* A hang is an answer: who waits for whom says why nothing can move. Everything is explained before
 * anything is failed, so that no explanation depends on the order of the others. */

enum {
    EMU_ROUNDS_MAX = 100000 /* of settling in one run: a program that never gives up is stopped */
};

/* What is to be failed once all is explained. */
typedef struct emu_verdicts {
    struct emu_sentence {
        emu_group *group; /* NULL: the operation alone */
        emu_op *op;
        tutti_status status;
        emu_finding *finding;
    } * sentences;
    uint32_t count, room;
} emu_verdicts;

static void emu_verdicts_add(emu_verdicts *verdicts, emu_group *group, emu_op *op,
                             tutti_status status, emu_finding *finding) {
    for (uint32_t i = 0; i < verdicts->count; i++)
        if (group != NULL && verdicts->sentences[i].group == group) return;
    if (!emu_grow(&verdicts->sentences, verdicts->count, &verdicts->room,
                  sizeof *verdicts->sentences))
        return;
    verdicts->sentences[verdicts->count++] = (struct emu_sentence){group, op, status, finding};
}

/* Joins that wait for a group that cannot form. */
static void emu_group_unjoin_all(emu_group *group, tutti_status status, emu_finding *finding) {
    for (int32_t rank = 0; rank < group->rank_count; rank++)
        if (group->members[rank] != NULL) emu_comm_unjoin(group->members[rank], status, finding);
}

/* An operation of no communicator can only be part of a cycle as a wait: it is let through. */
static void emu_op_let_through(emu_op *op, tutti_status status, emu_finding *finding) {
    if (op->state == EMU_OP_DONE || op->kind != EMU_OP_WAIT) return;
    if (op->stream->failure == TUTTI_OK) {
        op->stream->failure = status;
        op->stream->failed_for = finding;
    }
    op->failed = true;
    emu_op_complete(op);
}

static void emu_verdicts_carry_out(emu_engine *engine, emu_verdicts *verdicts) {
    for (uint32_t i = 0; i < verdicts->count; i++) {
        const struct emu_sentence *sentence = &verdicts->sentences[i];
        if (sentence->group == NULL)
            emu_op_let_through(sentence->op, sentence->status, sentence->finding);
        else if (sentence->group->state == EMU_GROUP_FORMED)
            emu_group_fail(sentence->group, sentence->status, sentence->finding);
        else
            emu_group_unjoin_all(sentence->group, sentence->status, sentence->finding);
    }
    emu_streams_advance(engine);
    free(verdicts->sentences);
}

/* The operation whose peers a host waits for (first use); NULL. */
static emu_op *emu_host_connecting(const emu_node *node) {
    const emu_host *host = node->object;
    bool connects = host->state == EMU_HOST_BLOCKED && host->wait == EMU_WAIT_PEERS;
    return connects ? host->connecting : NULL;
}

/* The group that a node belongs to; NULL: none. */
static emu_group *emu_node_group(const emu_node *node) {
    if (node->kind == EMU_NODE_GROUP) return node->object;
    if (node->kind == EMU_NODE_COLLECTIVE) return ((emu_collective *)node->object)->group;
    const emu_op *op = node->kind == EMU_NODE_HOST ? emu_host_connecting(node) : node->object;
    if (op == NULL) return NULL;
    if (op->kind == EMU_OP_GROUP) return op->launch->parts->comm->group;
    return op->comm != NULL ? op->comm->group : NULL;
}

/* --- Cycles --- */

static void emu_judge_cycle(emu_waitfor *graph, uint32_t component, emu_verdicts *verdicts) {
    emu_finding *finding = emu_explain_cycle(graph, component);
    bool cut = false;
    for (uint32_t i = 0; i < graph->count; i++) {
        const emu_node *node = &graph->nodes[i];
        emu_group *group = node->component == component ? emu_node_group(node) : NULL;
        if (group == NULL) continue;
        emu_verdicts_add(verdicts, group, NULL, TUTTI_DEADLOCK, finding);
        cut = true;
    }
    /* What waits for a group goes on when that fails; to let it go on before would be wrong. */
    for (uint32_t i = 0; !cut && i < graph->count; i++) {
        const emu_node *node = &graph->nodes[i];
        if (node->component == component && node->kind == EMU_NODE_OP)
            emu_verdicts_add(verdicts, NULL, node->object, TUTTI_DEADLOCK, finding);
    }
}

static void emu_judge_cycles(emu_waitfor *graph, emu_verdicts *verdicts) {
    for (uint32_t component = 1; component <= graph->component_count; component++)
        if (graph->component_sizes[component] > 1) emu_judge_cycle(graph, component, verdicts);
}

/* --- Missing ranks --- */

/* What is said to wait: of a host that waits for peers (first use), its operation. False: a host
 * that waits for nobody else. */
static bool emu_missing_subject(const emu_node *node, emu_node *subject_out) {
    *subject_out = *node;
    if (node->kind != EMU_NODE_HOST) return true;
    *subject_out = (emu_node){.object = emu_host_connecting(node), .kind = EMU_NODE_OP};
    return subject_out->object != NULL;
}

static void emu_judge_missing(emu_waitfor *graph, emu_verdicts *verdicts) {
    for (uint32_t i = 0; i < graph->count; i++) {
        const emu_node *node = &graph->nodes[i];
        emu_node subject;
        emu_absent absent = {0};
        if (!emu_missing_subject(node, &subject)) continue;
        if (emu_absent_collect(graph, node, &absent)) {
            emu_finding *finding = emu_explain_missing(graph, &subject, &absent);
            emu_op *op = node->kind == EMU_NODE_OP ? node->object : NULL;
            emu_verdicts_add(verdicts, emu_node_group(node), op, TUTTI_MISSING, finding);
        }
        emu_absent_free(&absent);
    }
}

/* --- Time limits --- */

static bool emu_host_is_stuck(const emu_host *host, bool pollers_are_stuck) {
    if (host->state == EMU_HOST_BLOCKED) return host->wait != EMU_WAIT_TIME;
    return pollers_are_stuck && host->state == EMU_HOST_RUNNING && host->poll != EMU_WAIT_NONE;
}

static void emu_waitfor_explore_all(emu_waitfor *graph) {
    emu_engine *engine = graph->engine;
    for (uint32_t i = 0; i < engine->host_count; i++)
        if (emu_host_is_stuck(engine->hosts[i], graph->pollers_are_stuck))
            emu_waitfor_explore(graph, EMU_NODE_HOST, engine->hosts[i]);
    for (uint32_t i = 0; i < engine->device_count; i++)
        for (emu_stream *stream = engine->devices[i].streams; stream != NULL; stream = stream->next)
            if (stream->head != NULL) emu_waitfor_explore(graph, EMU_NODE_OP, stream->head);
    for (emu_comm *comm = engine->all_comms; comm != NULL; comm = comm->next_all)
        if (comm->state == EMU_COMM_FORMING)
            emu_waitfor_explore(graph, EMU_NODE_GROUP, comm->group);
}

/* Everybody's waits as they are now, for the trace: a limit is explained from one rank's only. */
static void emu_trace_all_waits(emu_engine *engine) {
    emu_waitfor graph;
    if (!emu_trace_wants_waits(engine)) return;
    emu_waitfor_init(&graph, engine, false);
    emu_waitfor_explore_all(&graph);
    emu_trace_waits(&graph);
    emu_waitfor_free(&graph);
}

/* The first thing in the graph that waits for somebody who does not come. */
static emu_finding *emu_judge_limit(emu_waitfor *graph, const emu_host *host) {
    for (uint32_t component = 1; component <= graph->component_count; component++)
        if (graph->component_sizes[component] > 1) return emu_explain_cycle(graph, component);
    for (uint32_t i = 0; i < graph->count; i++) {
        emu_absent absent = {0};
        emu_finding *finding = NULL;
        emu_node subject;
        if (emu_missing_subject(&graph->nodes[i], &subject) &&
            emu_absent_collect(graph, &graph->nodes[i], &absent))
            finding = emu_explain_limit(graph, &subject, &absent);
        emu_absent_free(&absent);
        if (finding != NULL) return finding;
    }
    return emu_explain_slow_wait(graph, host);
}

void emu_diagnose_host_limit(emu_host *host) {
    emu_waitfor graph;
    emu_describe_ranks(host->engine);
    emu_trace_all_waits(host->engine);
    emu_waitfor_init(&graph, host->engine, false);
    emu_waitfor_explore(&graph, EMU_NODE_HOST, host);
    host->limit_finding = emu_judge_limit(&graph, host);
    emu_waitfor_free(&graph);
}

void emu_diagnose_comm_limit(emu_comm *comm) {
    emu_waitfor graph;
    emu_engine *engine = comm->group->engine;
    emu_describe_ranks(engine);
    emu_trace_all_waits(engine);
    emu_waitfor_init(&graph, engine, false);
    emu_waitfor_explore(&graph, EMU_NODE_GROUP, comm->group);
    comm->limit_finding = emu_judge_limit(&graph, engine->hosts[comm->host]);
    emu_waitfor_free(&graph);
}

/* --- Settling --- */

/* Ranks that a fault made hang come back at the very end, as killed ones, so that their threads
 * can end. If nothing was said about one so far, it is said now: it never came back. */
static bool emu_release_hung(emu_engine *engine) {
    bool moved = false;
    for (uint32_t i = 0; i < engine->host_count; i++) {
        emu_host *host = engine->hosts[i];
        if (host->state != EMU_HOST_HUNG) continue;
        emu_finding *finding = emu_explain_hung(host);
        emu_host_discard_group(host, TUTTI_KILLED);
        host->killed = true;
        engine->hung_count--;
        emu_host_wake(host, TUTTI_KILLED, finding);
        moved = true;
    }
    return moved;
}

/* Nothing explains why these hosts wait: a bug of the engine, which must not become a hang. */
static bool emu_release_unexplained(emu_engine *engine) {
    bool moved = false;
    for (uint32_t i = 0; i < engine->host_count; i++) {
        emu_host *host = engine->hosts[i];
        if (host->state != EMU_HOST_BLOCKED || host->wait == EMU_WAIT_TIME) continue;
        emu_finding *finding = emu_explain_internal(host);
        emu_host_unlink(host);
        emu_host_wake(host, TUTTI_INTERNAL, finding);
        moved = true;
    }
    return moved;
}

bool emu_diagnose_stuck(emu_engine *engine, bool pollers_are_stuck) {
    emu_waitfor graph;
    emu_verdicts verdicts = {0};
    emu_waitfor_init(&graph, engine, pollers_are_stuck);
    emu_waitfor_explore_all(&graph);
    if (graph.count > 0) emu_describe_ranks(engine);
    emu_trace_waits(&graph);
    emu_judge_cycles(&graph, &verdicts);
    emu_judge_missing(&graph, &verdicts);
    emu_waitfor_free(&graph);
    /* Not how many sentences there are: one that changes nothing would be passed again for ever. */
    uint64_t before = engine->progress;
    emu_verdicts_carry_out(engine, &verdicts);
    return engine->progress != before;
}

bool emu_engine_settle(emu_engine *engine, bool pollers_are_stuck) {
    if (emu_engine_examine(engine)) return true;
    if (engine->round >= EMU_ROUNDS_MAX) engine->given_up = true;
    bool moved = emu_diagnose_stuck(engine, pollers_are_stuck) || emu_release_unexplained(engine) ||
                 emu_release_hung(engine);
    if (moved) engine->round++;
    return moved;
}

void emu_engine_unresponsive(emu_engine *engine, uint32_t host_index, int64_t limit_ns) {
    emu_describe_ranks(engine);
    emu_finding *finding = emu_explain_unresponsive(engine->hosts[host_index], limit_ns);
    engine->given_up = true;
    for (uint32_t i = 0; i < engine->host_count; i++) {
        emu_host *host = engine->hosts[i];
        if (host->state != EMU_HOST_BLOCKED && host->state != EMU_HOST_HUNG) continue;
        emu_host_unlink(host);
        emu_host_wake(host, TUTTI_UNRESPONSIVE, finding);
    }
}
