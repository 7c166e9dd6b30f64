#include "drivers/emu/op_faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The engine as its executors see it: creation, calls, effects, the end. */

/* --- Names --- */

const char *emu_engine_intern(emu_engine *engine, const char *name) {
    if (name == NULL) return NULL;
    uint32_t low = 0, high = engine->name_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(engine->names[middle], name);
        if (order == 0) return engine->names[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (!emu_grow(&engine->names, engine->name_count, &engine->name_room, sizeof(char *)))
        return NULL;
    char *copy = malloc(strlen(name) + 1);
    if (copy == NULL) return NULL;
    memcpy(copy, name, strlen(name) + 1);
    memmove(&engine->names[low + 1], &engine->names[low],
            (engine->name_count - low) * sizeof(char *));
    engine->names[low] = copy;
    engine->name_count++;
    return copy;
}

const char *emu_engine_number_name(emu_engine *engine, const char *word, uint32_t number) {
    char name[64];
    snprintf(name, sizeof name, "%s %" PRIu32, word, number);
    const char *interned = emu_engine_intern(engine, name);
    return interned != NULL ? interned : word;
}

/* --- Creation --- */

static void emu_device_init(emu_engine *engine, uint32_t index) {
    emu_device *device = &engine->devices[index];
    device->base.driver = engine->driver;
    device->base.id.type = (uint16_t)(index >> 16); /* an id's index has 16 bits */
    device->base.id.index = (uint16_t)index;
    device->engine = engine;
    device->index = index;
    device->streams_tail = &device->streams;
    device->starved_tail = &device->starved;
}

static emu_host *emu_host_new(emu_engine *engine) {
    if (!emu_grow(&engine->hosts, engine->host_count, &engine->host_room, sizeof(emu_host *)))
        return NULL;
    emu_host *host = calloc(1, sizeof *host);
    if (host == NULL) return NULL;
    host->engine = engine;
    host->index = engine->host_count;
    host->last_call = "";
    engine->hosts[engine->host_count++] = host;
    return host;
}

uint32_t emu_engine_add_host(emu_engine *engine) {
    emu_host *host = emu_host_new(engine);
    if (host == NULL) return UINT32_MAX;
    emu_races_add_host(host, true);
    return host->index;
}

static bool emu_engine_populate(emu_engine *engine) {
    engine->devices = calloc(engine->config.device_count, sizeof *engine->devices);
    if (engine->devices == NULL && engine->config.device_count > 0) return false;
    engine->device_count = engine->config.device_count;
    for (uint32_t i = 0; i < engine->device_count; i++)
        emu_device_init(engine, i);
    if (!emu_races_create(engine)) return false;
    for (uint32_t i = 0; i < engine->config.host_count; i++) {
        emu_host *host = emu_host_new(engine);
        if (host == NULL) return false;
        emu_races_add_host(host, false);
    }
    return true;
}

tutti_status emu_engine_create(const emu_config *config, tutti_driver *driver,
                               emu_engine **engine_out, tutti_error *error) {
    if (config->device_count > EMU_DEVICES_MAX)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "a cluster has at most %d devices, not %" PRIu32, EMU_DEVICES_MAX,
                               config->device_count);
    emu_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory");
    engine->config = *config;
    engine->driver = driver;
    engine->dirty_tail = &engine->dirty;
    engine->effects_tail = &engine->effects;
    engine->freed_tail = &engine->freed;
    engine->woken_tail = &engine->woken;
    tutti_status status = TUTTI_OK;
    if (!emu_engine_populate(engine))
        status = tutti_error_set(error, TUTTI_OUT_OF_MEMORY,
                                 "no memory for %" PRIu32 " ranks and %" PRIu32 " devices",
                                 config->host_count, config->device_count);
    else
        status = emu_faults_create(engine, error);
    if (status == TUTTI_OK && !emu_trace_begin(engine))
        status = tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for the trace");
    if (status != TUTTI_OK) {
        emu_engine_destroy(engine);
        return status;
    }
    *engine_out = engine;
    return TUTTI_OK;
}

static void emu_device_destroy(emu_device *device) {
    while (device->streams != NULL) {
        emu_stream *next = device->streams->next;
        free(device->streams);
        device->streams = next;
    }
    emu_device_free_memory(device);
}

static void emu_engine_destroy_comms(emu_engine *engine) {
    while (engine->all_comms != NULL) {
        emu_comm *next = engine->all_comms->next_all;
        free(engine->all_comms->peer_connected);
        free(engine->all_comms->recent_orders);
        free(engine->all_comms);
        engine->all_comms = next;
    }
    for (uint32_t i = 0; i < engine->group_count; i++)
        emu_group_destroy(engine->groups[i]);
    free(engine->groups);
    emu_channels_destroy(engine);
}

static void emu_engine_destroy_findings(emu_engine *engine) {
    for (uint32_t i = 0; i < engine->finding_count; i++) {
        free(engine->findings[i]->ranks);
        free(engine->findings[i]->text);
        free(engine->findings[i]);
    }
    free(engine->findings);
    for (uint32_t i = 0; engine->rank_lines != NULL && i < engine->rank_line_count; i++)
        free(engine->rank_lines[i]);
    free(engine->rank_lines);
}

void emu_engine_destroy(emu_engine *engine) {
    if (engine == NULL) return;
    emu_races_destroy(engine);
    emu_engine_destroy_comms(engine);
    for (uint32_t i = 0; i < engine->device_count; i++)
        emu_device_destroy(&engine->devices[i]);
    free(engine->devices);
    for (uint32_t i = 0; i < engine->host_count; i++)
        free(engine->hosts[i]);
    free(engine->hosts);
    while (engine->all_events != NULL) {
        emu_event *next = engine->all_events->next_all;
        free(engine->all_events);
        engine->all_events = next;
    }
    emu_engine_destroy_findings(engine);
    for (uint32_t i = 0; i < engine->block_count; i++)
        free(engine->blocks[i]);
    free(engine->blocks);
    for (uint32_t i = 0; i < engine->name_count; i++)
        free(engine->names[i]);
    free(engine->names);
    free(engine->clock.heap);
    free(engine->trace_line);
    tutti_fault_state_destroy(engine->faults);
    emu_op_faults_destroy(engine);
    free(engine);
}

/* --- Handles --- */

emu_device *emu_engine_device(emu_engine *engine, uint32_t index) {
    assert(index < engine->device_count);
    return &engine->devices[index];
}

emu_device *emu_engine_host_device(emu_engine *engine, uint32_t host) {
    const uint32_t *host_devices = engine->config.host_devices;
    uint32_t index = host_devices != NULL ? host_devices[host] : host % engine->device_count;
    return emu_engine_device(engine, index);
}

tutti_device *emu_device_base(emu_device *device) {
    return &device->base;
}

tutti_stream *emu_stream_base(emu_stream *stream) {
    return &stream->base;
}

tutti_event *emu_event_base(emu_event *event) {
    return &event->base;
}

tutti_comm *emu_comm_base(emu_comm *comm) {
    return &comm->base;
}

emu_device *emu_device_of(tutti_device *device) {
    return (emu_device *)device;
}

emu_stream *emu_stream_of(tutti_stream *stream) {
    return (emu_stream *)stream;
}

emu_event *emu_event_of(tutti_event *event) {
    return (emu_event *)event;
}

emu_comm *emu_comm_of(tutti_comm *comm) {
    return (emu_comm *)comm;
}

emu_engine *emu_device_engine(const emu_device *device) {
    return device->engine;
}

/* --- Calls that need no file of their own --- */

static emu_outcome emu_data_type_call(emu_host *host, emu_call *call) {
    (void)host;
    /* The names of carried types are the contract's own; the caller has looked them up. */
    return emu_call_ok(host, call);
}

static emu_outcome emu_sleep_call(emu_host *host, emu_call *call) {
    host->resume = false;
    emu_outcome outcome = emu_host_block(host, call, EMU_WAIT_TIME);
    int64_t ns = emu_fault_scale(call->duration_ns, call->fault.factor_millionths);
    if (!emu_timer_arm(host->engine, &host->timer, EMU_TIMER_HOST_WAKE, host, ns))
        host->engine->out_of_memory = true;
    return outcome;
}

static emu_outcome emu_host_access_call(emu_host *host, emu_call *call) {
    emu_memory_problem problem;
    emu_allocation *allocation;
    emu_device *device = call->device;
    if (!emu_memory_find(device, "buffer", call->destination.data, call->destination.bytes,
                         &allocation, &problem))
        return emu_call_bad_memory(host, call, &problem);
    emu_races_host_access(host, allocation, call->destination, call->writes, call->place);
    return emu_call_ok(host, call);
}

static emu_outcome emu_wrong_call(emu_host *host, emu_call *call) {
    emu_text text = {0};
    int32_t rank = (int32_t)host->index;
    emu_text_add(&text, "rank %" PRId32, rank);
    emu_text_add_place(&text, call->place);
    emu_text_add(&text, ": %s", call->name);
    emu_finding_add(host->engine, TUTTI_VERDICT_WRONG, "", 0, &rank, 1, &text);
    return emu_call_ok(host, call);
}

/* src/ said no before the call got here: the finding is the same as if the engine had. */
static emu_outcome emu_refused_call(emu_host *host, emu_call *call) {
    const tutti_error *refusal = call->refusal;
    bool declined = refusal->status == TUTTI_UNSUPPORTED || refusal->status == TUTTI_REFUSED;
    if (declined)
        emu_finding_refused(host, call, refusal->message);
    else
        emu_finding_misuse(host, call, refusal->message);
    return emu_call_end(host, call, refusal->status, "%s", refusal->message);
}

static emu_outcome emu_exit_call(emu_host *host, emu_call *call) {
    if (host->group_depth > 0 && !host->killed) {
        emu_finding_misuse(host, call,
                           "the program ends inside of a group call, whose operations were never "
                           "issued: call group_end before");
        emu_host_discard_group(host, TUTTI_MISUSE);
    }
    emu_trace_call(host, call, EMU_TRACE_CALL);
    host->state = EMU_HOST_EXITED;
    host->is_ending = true;
    host->engine->exited_count++;
    host->engine->progress++;
    return emu_call_ok(host, call);
}

/* --- Issuing --- */

typedef emu_outcome emu_call_function(emu_host *host, emu_call *call);

static emu_call_function *const emu_call_functions[EMU_CALL_KIND_COUNT] = {
    [EMU_CALL_MINT] = emu_mint_call,
    [EMU_CALL_JOIN] = emu_join_call,
    [EMU_CALL_LEAVE] = emu_leave_call,
    [EMU_CALL_ABORT] = emu_abort_call,
    [EMU_CALL_COMM_STATUS] = emu_comm_status_call,
    [EMU_CALL_COMM_SYNC] = emu_comm_sync_call,
    [EMU_CALL_DATA_TYPE] = emu_data_type_call,
    [EMU_CALL_ALLOCATE] = emu_allocate,
    [EMU_CALL_FREE] = emu_free,
    [EMU_CALL_COPY] = emu_copy_call,
    [EMU_CALL_FILL] = emu_fill_call,
    [EMU_CALL_KERNEL] = emu_kernel_call,
    [EMU_CALL_STREAM_CREATE] = emu_stream_create_call,
    [EMU_CALL_STREAM_DESTROY] = emu_stream_destroy_call,
    [EMU_CALL_STREAM_SYNC] = emu_stream_sync_call,
    [EMU_CALL_STREAM_QUERY] = emu_stream_query_call,
    [EMU_CALL_EVENT_CREATE] = emu_event_create_call,
    [EMU_CALL_EVENT_DESTROY] = emu_event_destroy_call,
    [EMU_CALL_EVENT_RECORD] = emu_event_record_call,
    [EMU_CALL_EVENT_WAIT] = emu_event_wait_call,
    [EMU_CALL_EVENT_SYNC] = emu_event_sync_call,
    [EMU_CALL_EVENT_QUERY] = emu_event_query_call,
    [EMU_CALL_ALL_REDUCE] = emu_all_reduce_call,
    [EMU_CALL_SEND] = emu_transfer_call,
    [EMU_CALL_RECV] = emu_transfer_call,
    [EMU_CALL_GROUP_START] = emu_group_start_call,
    [EMU_CALL_GROUP_END] = emu_group_end_call,
    [EMU_CALL_SLEEP] = emu_sleep_call,
    [EMU_CALL_HOST_ACCESS] = emu_host_access_call,
    [EMU_CALL_WRONG] = emu_wrong_call,
    [EMU_CALL_REFUSED] = emu_refused_call,
    [EMU_CALL_EXIT] = emu_exit_call,
};

emu_outcome emu_engine_dispatch(emu_host *host, emu_call *call) {
    return emu_call_functions[call->kind](host, call);
}

/* Calls whose making is worth an event of its own; operations are traced when they are issued, and
 * joins when they are entered. */
static bool emu_call_is_traced(emu_call_kind kind) {
    switch (kind) {
    case EMU_CALL_MINT:
    case EMU_CALL_LEAVE:
    case EMU_CALL_ABORT:
    case EMU_CALL_COMM_STATUS:
    case EMU_CALL_COMM_SYNC:
    case EMU_CALL_ALLOCATE:
    case EMU_CALL_FREE:
    case EMU_CALL_STREAM_SYNC:
    case EMU_CALL_STREAM_QUERY:
    case EMU_CALL_EVENT_SYNC:
    case EMU_CALL_EVENT_QUERY:
    case EMU_CALL_GROUP_START:
    case EMU_CALL_GROUP_END:
    case EMU_CALL_SLEEP:
        return true;
    default:
        return false;
    }
}

static emu_outcome emu_call_of_the_dead(emu_host *host, emu_call *call) {
    call->polled = false;
    if (host->killed)
        return emu_call_end(host, call, TUTTI_KILLED, "rank %" PRIu32 " was killed by a fault",
                            host->index);
    if (host->engine->given_up)
        return emu_call_end(host, call, TUTTI_UNRESPONSIVE, "the run was given up");
    return emu_call_end(host, call, TUTTI_OUT_OF_MEMORY, "the emulated cluster ran out of memory");
}

emu_outcome emu_engine_issue(emu_engine *engine, uint32_t host_index, emu_call *call) {
    assert(host_index < engine->host_count);
    emu_host *host = engine->hosts[host_index];
    emu_outcome outcome;
    assert(host->state == EMU_HOST_RUNNING);
    engine->call_count++;
    host->call_count++;
    if (call->kind != EMU_CALL_EXIT) {
        host->last_place = call->place;
        host->last_call = emu_call_name(call->kind);
    }
    call->status = TUTTI_OK;
    call->faults_applied = call->polled = false;
    call->dropped = 0;
    call->fault.kind = TUTTI_FAULT_OFF;
    call->fault.factor_millionths = 0;
    host->poll = EMU_WAIT_NONE;
    bool dead = host->killed || engine->given_up || engine->out_of_memory;
    if (dead && call->kind != EMU_CALL_EXIT) return emu_call_of_the_dead(host, call);
    if (emu_call_is_traced(call->kind)) emu_trace_call(host, call, EMU_TRACE_CALL);
    if (emu_faults_apply(host, call, &outcome)) outcome = emu_engine_dispatch(host, call);
    if (outcome == EMU_DONE && call->status == TUTTI_OK && emu_call_is_look(call->kind))
        emu_trace_call(host, call, EMU_TRACE_RETURN);
    if (call->status == TUTTI_OK || call->status == TUTTI_IN_PROGRESS)
        emu_findings_settle(host, call);
    emu_streams_advance(engine);
    if (engine->config.examine_at_once) emu_engine_examine_at_once(engine);
    return outcome;
}

static void emu_note_unfinished(emu_engine *engine, const emu_op *op) {
    emu_text text = {0};
    int32_t rank = (int32_t)op->host;
    emu_text_add(&text, "rank %" PRId32 " ends before its ", rank);
    emu_text_add_op(&text, op);
    emu_text_add(&text, " is made: the memory of the program that it names may be gone by then, so "
                        "it is not made.\nTo change: wait for the stream before the memory goes.");
    emu_note_add(engine, TUTTI_VERDICT_MISUSE, "unfinished", emu_op_subject(op), &rank, 1, &text);
}

void emu_engine_host_ends(emu_engine *engine, uint32_t host) {
    engine->hosts[host]->is_ending = true;
}

/* Memory of the program, as opposed to a device's, may be gone with the rank that gave it: what its
 * streams still hold must not touch it. Its host functions are the program's own code, which a rank
 * that was killed does not run any more. */
static void emu_effect_spare_the_dead(emu_engine *engine, emu_effect *effect) {
    const emu_op *op = effect->subject;
    const emu_host *host = engine->hosts[op->host];
    bool function = effect->kind == EMU_EFFECT_FUNCTION;
    bool dead = host->killed || (host->is_ending && !function);
    bool on_device = op->source_memory != NULL && op->destination_memory != NULL;
    if (!dead || op->comm != NULL || (on_device && !function)) return;
    if (!function && effect->count == 0) return;
    if (!host->killed) emu_note_unfinished(engine, op);
    effect->kind = EMU_EFFECT_COPY;
    effect->count = 0;
}

emu_effect *emu_engine_take_effect(emu_engine *engine) {
    emu_effect *effect = engine->effects;
    if (effect == NULL) return NULL;
    engine->effects = effect->next;
    if (engine->effects == NULL) engine->effects_tail = &engine->effects;
    engine->effects_out++;
    if (effect->kind == EMU_EFFECT_COPY || effect->kind == EMU_EFFECT_FUNCTION)
        emu_effect_spare_the_dead(engine, effect);
    emu_guard_effect(engine, effect);
    return effect;
}

uint64_t emu_engine_progress(const emu_engine *engine) {
    return engine->progress;
}

bool emu_engine_host_exited(const emu_engine *engine, uint32_t host) {
    return engine->hosts[host]->state == EMU_HOST_EXITED;
}

bool emu_engine_host_killed(const emu_engine *engine, uint32_t host) {
    return engine->hosts[host]->killed;
}
