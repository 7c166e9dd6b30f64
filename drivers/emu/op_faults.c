#include "drivers/emu/op_faults.h"

#include <stdlib.h>

/* What faults do to operations that are on their way: parts that are lost, time that passes, bits
 * that flip. Calls, and what faults do to them, are in faults.c. */

/* What an operation takes on a healthy device or link, for slow(factor) only: else no time passes.
 */
enum { EMU_NOMINAL_LATENCY_NS = 1000, EMU_NOMINAL_BYTES_PER_NS = 10 };

struct emu_op_fault {
    emu_op_fault *next;        /* of the operation, in the order in which they acted */
    emu_op_fault *next_free;   /* of the free list */
    emu_op_fault *next_all;    /* of the engine */
    tutti_fault_action action; /* never off */
    int32_t culprit;           /* rank of the program where it acts */
    int32_t peer;              /* a link's other end, rank of the program; -1: not on a link */
    int32_t member;            /* the same as a rank of the group */
};

/* --- Keeping them --- */

static emu_engine *emu_op_engine(const emu_op *op) {
    return emu_device_of(op->stream->base.device)->engine;
}

static emu_op_fault *emu_op_fault_new(emu_engine *engine) {
    emu_op_fault *fault = engine->free_op_faults;
    if (fault != NULL) {
        engine->free_op_faults = fault->next_free;
        return fault;
    }
    fault = calloc(1, sizeof *fault);
    if (fault == NULL) {
        engine->out_of_memory = true;
        return NULL;
    }
    fault->next_all = engine->op_faults;
    engine->op_faults = fault;
    return fault;
}

static void emu_op_fault_add(emu_engine *engine, emu_op *op, const emu_op_fault *content) {
    emu_op_fault *fault = emu_op_fault_new(engine);
    if (fault == NULL) return;
    emu_op_fault *next_all = fault->next_all;
    *fault = *content;
    fault->next_all = next_all;
    fault->next = fault->next_free = NULL;
    emu_op_fault **link = &op->faults;
    while (*link != NULL)
        link = &(*link)->next;
    *link = fault;
}

void emu_op_faults_recycle(emu_engine *engine, emu_op *op) {
    while (op->faults != NULL) {
        emu_op_fault *fault = op->faults;
        op->faults = fault->next;
        fault->next_free = engine->free_op_faults;
        engine->free_op_faults = fault;
    }
}

void emu_op_faults_destroy(emu_engine *engine) {
    while (engine->op_faults != NULL) {
        emu_op_fault *next = engine->op_faults->next_all;
        free(engine->op_faults);
        engine->op_faults = next;
    }
}

/* --- Notes: what a fault did that the program is not told --- */

static uint64_t emu_fault_subject(const emu_op_fault *fault) {
    uint64_t subject = (uint64_t)(uint32_t)fault->action.rule << 32 | (uint32_t)fault->culprit;
    return (subject ^ UINT64_C(0xFA171)) * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)fault->peer;
}

void emu_text_add_rule(emu_text *text, int32_t rule) {
    emu_text_add(text, " (fault plan, rule %" PRId32 ")", rule + 1);
}

static void emu_text_add_fault_place(emu_text *text, const emu_op *op, const emu_op_fault *fault) {
    if (fault->peer >= 0)
        emu_text_add(text, "on the link from rank %" PRId32 " to rank %" PRId32 ", ",
                     fault->culprit, fault->peer);
    /* Its number in the communicator is not known yet when a group call collects it. */
    emu_text_add(text, "rank %" PRId32 "'s %s", fault->culprit, emu_op_name(op));
    emu_text_add_stream(text, op->stream);
    emu_text_add_place(text, op->place);
}

static bool emu_op_communicates(const emu_op *op) {
    return op->comm != NULL;
}

/* What is lost or altered on the quiet is a note that becomes the root of what comes of it. */
static void emu_note_silent(emu_engine *engine, const emu_op_fault *fault, const emu_text *text) {
    emu_finding *finding = emu_note_add(engine, TUTTI_VERDICT_WRONG, "fault",
                                        emu_fault_subject(fault), &fault->culprit, 1, text);
    if (finding != NULL) finding->is_fault = true;
}

static void emu_note_drop(emu_engine *engine, const emu_op *op, const emu_op_fault *fault) {
    emu_text text = {0};
    emu_text_add(&text, fault->action.kind == TUTTI_FAULT_DROP
                            ? "a fault loses data: "
                            : "a fault holds data up for ever: ");
    emu_text_add_fault_place(&text, op, fault);
    emu_text_add_rule(&text, fault->action.rule);
    if (emu_op_communicates(op)) {
        emu_text_add(&text, ": others never get it");
        emu_note_add(engine, TUTTI_VERDICT_MISSING, "fault", emu_fault_subject(fault),
                     &fault->culprit, 1, &text);
        return;
    }
    emu_text_add(&text, ": it is over at once, did nothing, and nothing says so");
    emu_note_silent(engine, fault, &text);
}

static void emu_note_corrupt(emu_engine *engine, const emu_op *op, const emu_op_fault *fault) {
    emu_text text = {0};
    emu_text_add(&text, "a fault flips %" PRIu32 " bit%s: ", fault->action.bits,
                 fault->action.bits == 1 ? "" : "s");
    emu_text_add_fault_place(&text, op, fault);
    emu_text_add_rule(&text, fault->action.rule);
    emu_text_add(&text, "; nothing says so to the program");
    emu_note_silent(engine, fault, &text);
}

static void emu_note_op_fault(emu_engine *engine, const emu_op *op, const emu_op_fault *fault) {
    if (fault->action.kind == TUTTI_FAULT_DROP || fault->action.kind == TUTTI_FAULT_HANG)
        emu_note_drop(engine, op, fault);
    else if (fault->action.kind == TUTTI_FAULT_CORRUPT)
        emu_note_corrupt(engine, op, fault);
}

/* --- Faults of the call that enqueued it --- */

/* Some bytes that a kernel says it writes; the draw decides in which of its buffers. */
static void emu_kernel_take_target(emu_op *op, const emu_call *call) {
    const emu_kernel *kernel = call->kernel;
    emu_memory_problem problem;
    size_t bytes = 0;
    for (size_t i = 0; kernel != NULL && i < kernel->write_count; i++)
        bytes += kernel->writes[i].bytes;
    if (bytes == 0) return;
    uint64_t at = call->fault.draw % bytes;
    const tutti_buffer *buffer = kernel->writes;
    for (; at >= buffer->bytes; buffer++)
        at -= buffer->bytes;
    emu_device *device = emu_device_of(call->stream->base.device);
    if (!emu_memory_find(device, "buffer", buffer->data, buffer->bytes, &op->destination_memory,
                         &problem))
        return;
    op->destination = buffer->data;
    op->count = buffer->bytes;
    emu_memory_hold(op->destination_memory);
}

void emu_op_take_fault(emu_host *host, emu_op *op, const emu_call *call) {
    emu_op_fault content = {.action = call->fault, .peer = -1, .member = -1};
    if (call->fault.kind == TUTTI_FAULT_OFF && call->fault.factor_millionths == 0) return;
    content.culprit = op->comm != NULL ? emu_comm_rank(op->comm) : (int32_t)host->index;
    op->stream = call->stream;
    if (op->kind == EMU_OP_KERNEL && call->fault.kind == TUTTI_FAULT_CORRUPT)
        emu_kernel_take_target(op, call);
    if (call->fault.kind == TUTTI_FAULT_OFF || call->fault.kind == TUTTI_FAULT_SLOW) {
        content.action.kind = TUTTI_FAULT_SLOW;
        content.action.rule = call->fault.slow_rule;
    }
    emu_op_fault_add(host->engine, op, &content);
    emu_note_op_fault(host->engine, op, &content);
}

/* --- Faults of links --- */

static void emu_ask_link(emu_op *op, int32_t member) {
    emu_group *group = op->comm->group;
    emu_engine *engine = group->engine;
    emu_op_fault content = {.member = member};
    content.culprit = emu_comm_rank(op->comm);
    content.peer = emu_group_member_rank(group, member);
    tutti_fault_site site = tutti_fault_site_at(TUTTI_FAULT_AT_LINK, content.culprit);
    site.peer = content.peer;
    site.group = group->name;
    site.seq = op->collective != NULL ? op->comm->collective_count : op->comm->transfer_count;
    emu_faults_see(engine, &site);
    if (!tutti_fault_decide(engine->faults, &site, &content.action)) return;
    emu_trace_link_fault(engine, op, &content.action, content.peer);
    emu_op_fault_add(engine, op, &content);
    emu_note_op_fault(engine, op, &content);
}

void emu_op_ask_links(emu_op *op) {
    const emu_engine *engine = op->comm->group->engine;
    bool asked = (tutti_fault_state_points(engine->faults) >> TUTTI_FAULT_AT_LINK & 1) != 0;
    if (!asked && engine->config.watch.fault_site == NULL) return;
    int32_t rank = op->comm->base.rank;
    if (op->kind == EMU_OP_SEND && op->peer != rank) emu_ask_link(op, op->peer);
    if (op->kind != EMU_OP_ALL_REDUCE) return;
    for (int32_t member = 0; member < op->comm->base.rank_count; member++)
        if (member != rank) emu_ask_link(op, member);
}

/* --- Lost parts --- */

static bool emu_fault_loses(const emu_op_fault *fault) {
    return fault->action.kind == TUTTI_FAULT_DROP || fault->action.kind == TUTTI_FAULT_HANG;
}

static const emu_op_fault *emu_op_loss(const emu_op *op) {
    const emu_op_fault *fault = op->faults;
    while (fault != NULL && !emu_fault_loses(fault))
        fault = fault->next;
    return fault;
}

bool emu_op_is_lost(const emu_op *op, int32_t *culprit_out) {
    const emu_op_fault *loss = emu_op_loss(op);
    if (loss == NULL) return false;
    *culprit_out = loss->culprit;
    return true;
}

void emu_text_add_loss(emu_text *text, const emu_op *op) {
    const emu_op_fault *loss = emu_op_loss(op);
    if (loss->peer >= 0)
        emu_text_add(text, " was here, but a fault lost its data on the way to rank %" PRId32,
                     loss->peer);
    else
        emu_text_add(text, " was here, but a fault lost its part");
    emu_text_add_rule(text, loss->action.rule);
}

/* --- Time --- */

int64_t emu_fault_scale(int64_t ns, uint64_t factor_millionths) {
    uint64_t whole = factor_millionths / TUTTI_FAULT_MILLION;
    uint64_t part = factor_millionths % TUTTI_FAULT_MILLION;
    if (factor_millionths == 0) return ns;
    if ((uint64_t)ns > (uint64_t)TUTTI_DURATION_NS_MAX / (whole + 1)) return TUTTI_DURATION_NS_MAX;
    uint64_t millions = (uint64_t)ns / TUTTI_FAULT_MILLION,
             rest = (uint64_t)ns % TUTTI_FAULT_MILLION;
    return (int64_t)((uint64_t)ns * whole + millions * part + rest * part / TUTTI_FAULT_MILLION);
}

/* What the operation would take without the fault. */
static int64_t emu_op_nominal_ns(const emu_op *op) {
    size_t bytes = op->comm != NULL ? op->count * op->width_bytes : op->count;
    if (op->kind == EMU_OP_KERNEL)
        return op->duration_ns > 0 ? op->duration_ns : EMU_NOMINAL_LATENCY_NS;
    return EMU_NOMINAL_LATENCY_NS + (int64_t)(bytes / EMU_NOMINAL_BYTES_PER_NS);
}

static int64_t emu_fault_extra_ns(const emu_op *op, const emu_op_fault *fault) {
    int64_t nominal_ns = emu_op_nominal_ns(op);
    uint64_t factor = fault->action.factor_millionths;
    if (fault->action.kind == TUTTI_FAULT_DELAY)
        return emu_fault_scale(fault->action.delay_ns, factor);
    return factor == 0 ? 0 : emu_fault_scale(nominal_ns, factor) - nominal_ns;
}

static const emu_op_fault *emu_op_slowest(const emu_op *op, int64_t *extra_ns) {
    const emu_op_fault *slowest = NULL;
    for (const emu_op_fault *fault = op->faults; fault != NULL; fault = fault->next) {
        int64_t ns = emu_fault_extra_ns(op, fault);
        if (ns <= *extra_ns) continue;
        *extra_ns = ns;
        slowest = fault;
    }
    return slowest;
}

/* All parts work at the same time: the slowest one counts. NULL: no time passes. */
static const emu_op_fault *emu_parts_slowest(const emu_op *op, int64_t *extra_ns) {
    *extra_ns = 0;
    const emu_op_fault *slowest = emu_op_slowest(op, extra_ns), *other = NULL;
    if (op->peer_op != NULL) other = emu_op_slowest(op->peer_op, extra_ns);
    if (other != NULL) slowest = other;
    if (op->collective == NULL) return slowest;
    for (int32_t rank = 0; rank < op->collective->group->rank_count; rank++) {
        const emu_op *part = op->collective->parts[rank];
        other = part != NULL && part != op ? emu_op_slowest(part, extra_ns) : NULL;
        if (other != NULL) slowest = other;
    }
    return slowest;
}

bool emu_text_add_slow_op(emu_text *text, const emu_op *op, int32_t *culprit_out) {
    int64_t extra_ns;
    char words[64];
    const emu_op_fault *slowest = emu_parts_slowest(op, &extra_ns);
    if (slowest == NULL) return false;
    tutti_duration_format(extra_ns, words, sizeof words);
    emu_text_add(text, " for the %s, which a fault makes %s longer", emu_op_name(op), words);
    if (slowest->peer >= 0)
        emu_text_add(text, " on the link from rank %" PRId32 " to rank %" PRId32, slowest->culprit,
                     slowest->peer);
    else
        emu_text_add(text, " on rank %" PRId32, slowest->culprit);
    emu_text_add_rule(text, slowest->action.rule);
    *culprit_out = slowest->culprit;
    return true;
}

static void emu_op_take_time(emu_op *op, int64_t extra_ns) {
    emu_engine *engine = emu_op_engine(op);
    if (!emu_timer_arm(engine, &op->timer, EMU_TIMER_OP, op, extra_ns))
        engine->out_of_memory = true;
}

bool emu_op_start_faulty(emu_op *op) {
    int64_t extra_ns = 0;
    if (emu_op_loss(op) != NULL) {
        emu_op_complete(op);
        return true;
    }
    (void)emu_op_slowest(op, &extra_ns);
    if (extra_ns == 0) return false;
    op->state = EMU_OP_STARTED;
    emu_trace_op(emu_op_engine(op), op, EMU_TRACE_START);
    if (op->kind == EMU_OP_COPY || op->kind == EMU_OP_FILL || op->kind == EMU_OP_KERNEL)
        emu_races_start(op);
    emu_op_take_time(op, extra_ns);
    return true;
}

/* --- Communication: all parts have started --- */

static const emu_op_fault *emu_op_failure(const emu_op *op) {
    const emu_op_fault *fault = op->faults;
    while (fault != NULL && fault->action.kind != TUTTI_FAULT_FAIL)
        fault = fault->next;
    return fault;
}

/* The failure of the lowest rank; NULL: none. */
static const emu_op_fault *emu_collective_failure(const emu_collective *collective) {
    const emu_op_fault *failure = NULL;
    for (int32_t rank = 0; rank < collective->group->rank_count && failure == NULL; rank++)
        failure = emu_op_failure(collective->parts[rank]);
    return failure;
}

static bool emu_collective_has_faults(const emu_collective *collective) {
    for (int32_t rank = 0; rank < collective->group->rank_count; rank++)
        if (collective->parts[rank]->faults != NULL) return true;
    return false;
}

bool emu_collective_held_up(emu_collective *collective) {
    int64_t extra_ns = 0;
    if (collective->group->engine->op_faults == NULL || !emu_collective_has_faults(collective))
        return false;
    for (int32_t rank = 0; rank < collective->group->rank_count; rank++)
        if (emu_op_loss(collective->parts[rank]) != NULL) return true;
    (void)emu_parts_slowest(collective->parts[0], &extra_ns);
    /* A failure waits for a timer too, so that it never comes while streams are being advanced. */
    if (extra_ns == 0 && emu_collective_failure(collective) == NULL) return false;
    emu_op_take_time(collective->parts[0], extra_ns);
    return true;
}

/* The sender is done with a message that is lost on its way; the receiver never gets it. */
static void emu_transfer_lose(emu_op *send, emu_op *recv) {
    emu_op_fault content = *emu_op_loss(send);
    emu_op_fault_add(emu_op_engine(recv), recv, &content);
    emu_op_complete(send);
}

bool emu_transfer_held_up(emu_op *send, emu_op *recv) {
    int64_t extra_ns = 0;
    if (send->faults == NULL && recv->faults == NULL) return false;
    const emu_op_fault *loss = emu_op_loss(send);
    if (emu_op_loss(recv) != NULL) return true;
    if (loss != NULL) {
        if (loss->action.kind == TUTTI_FAULT_DROP) emu_transfer_lose(send, recv);
        return true;
    }
    (void)emu_parts_slowest(send, &extra_ns);
    if (extra_ns == 0 && emu_op_failure(send) == NULL) return false;
    emu_op_take_time(send, extra_ns);
    return true;
}

static void emu_link_fail(emu_op *op, const emu_op_fault *failure) {
    emu_text text = {0};
    emu_text_add(&text, "a fault fails ");
    emu_text_add_fault_place(&text, op, failure);
    emu_text_add(&text, ", with status %s", tutti_status_name(failure->action.status));
    emu_text_add_rule(&text, failure->action.rule);
    emu_finding *finding = emu_finding_add(emu_op_engine(op), TUTTI_VERDICT_REFUSED, "link",
                                           emu_op_subject(op), &failure->culprit, 1, &text);
    emu_group_fail(op->comm->group, failure->action.status, finding);
}

static void emu_collective_time_over(emu_collective *collective) {
    if (collective->abandoned) return;
    const emu_op_fault *failure = emu_collective_failure(collective);
    if (failure == NULL)
        emu_collective_move(collective);
    else
        emu_link_fail(collective->parts[0], failure);
}

static void emu_transfer_time_over(emu_op *send) {
    emu_op *recv = send->peer_op;
    if (recv == NULL) return;
    const emu_op_fault *failure = emu_op_failure(send);
    if (failure == NULL)
        emu_transfer_move(send, recv);
    else
        emu_link_fail(send, failure);
}

void emu_op_time_over(emu_op *op) {
    if (op->kind == EMU_OP_ALL_REDUCE)
        emu_collective_time_over(op->collective);
    else if (op->kind == EMU_OP_SEND)
        emu_transfer_time_over(op);
    else if (op->kind == EMU_OP_KERNEL)
        emu_kernel_start(emu_op_engine(op), op);
    else
        emu_op_push_effect(op, op->kind == EMU_OP_FILL ? EMU_EFFECT_FILL : EMU_EFFECT_COPY);
}

/* --- Flipped bits --- */

static uint64_t emu_common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Different bits all over the range: a walk whose step has no divisor in common with it. */
static void emu_flip_bits(void *data, size_t bytes, uint32_t bits, uint64_t draw) {
    unsigned char *target = data;
    uint64_t total = (uint64_t)bytes * 8;
    if (total == 0) return;
    uint64_t count = bits < total ? bits : total, at = draw % total;
    uint64_t step = (draw >> 20) % total + 1;
    while (emu_common_divisor(step, total) != 1)
        step++;
    for (uint64_t i = 0; i < count; i++) {
        target[at / 8] ^= (unsigned char)(1U << at % 8);
        at = (at + step) % total;
    }
}

/* The operation in whose destination a fault shows. */
static const emu_op *emu_corrupt_target(const emu_op *op, const emu_op_fault *fault) {
    if (op->kind == EMU_OP_SEND) return op->peer_op;
    if (op->collective == NULL || fault->member < 0) return op;
    return op->collective->parts[fault->member];
}

void emu_op_corrupt(const emu_op *op) {
    for (const emu_op_fault *fault = op->faults; fault != NULL; fault = fault->next) {
        if (fault->action.kind != TUTTI_FAULT_CORRUPT || op->failed) continue;
        const emu_op *target = emu_corrupt_target(op, fault);
        size_t bytes = target->comm != NULL ? target->count * target->width_bytes : target->count;
        bool writes = target->destination != NULL;
        if (writes)
            emu_flip_bits(target->destination, bytes, fault->action.bits, fault->action.draw);
    }
}
