#include "drivers/emu/state.h"

/* What ranks that have ended did not give back. Only when nothing else was found: a program that
 * failed half way has other worries. */

/* One kind of thing: what it is, how it came into being, and what gives it back. */
typedef struct emu_leak_kind {
    const char *noun;
    const char *made_by;
    const char *remedy;
} emu_leak_kind;

static const emu_leak_kind emu_leak_memory = {"memory", "memory_allocate",
                                              "call memory_free when it is not needed any more"};
static const emu_leak_kind emu_leak_stream = {"a stream", "stream_create",
                                              "call stream_destroy when it is not needed any more"};
static const emu_leak_kind emu_leak_event = {"an event", "event_create",
                                             "call event_destroy when it is not needed any more"};
static const emu_leak_kind emu_leak_comm = {"a communicator", "join",
                                            "call leave, or comm_abort, before the rank ends"};
static uint64_t emu_leak_mix(uint64_t subject, uint64_t word) {
    subject = (subject ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return subject ^ (subject >> 29);
}

/* Things of one kind from one place are one leak, however many there are. */
static uint64_t emu_leak_subject(const emu_leak_kind *kind, tutti_place place, uint32_t host) {
    uint64_t subject = 7;
    for (const char *c = kind->noun; *c != '\0'; c++)
        subject = emu_leak_mix(subject, (unsigned char)*c);
    if (place.file == NULL) return emu_leak_mix(subject, host);
    for (const char *c = place.file; *c != '\0'; c++)
        subject = emu_leak_mix(subject, (unsigned char)*c);
    return emu_leak_mix(subject, (uint64_t)place.line);
}

static void emu_leak_add(emu_engine *engine, const emu_leak_kind *kind, const char *name,
                         size_t bytes, tutti_place place, uint32_t host) {
    emu_text text = {0};
    int32_t rank = (int32_t)host;
    uint64_t subject = emu_leak_subject(kind, place, host);
    emu_finding *known = emu_finding_of(engine, subject);
    if (known != NULL) {
        emu_finding_blame(known, rank);
        return;
    }
    emu_text_add(&text, "rank %" PRId32 " has ended and left behind %s", rank, kind->noun);
    if (bytes > 0) emu_text_add(&text, " of %zu bytes", bytes);
    if (name != NULL) emu_text_add(&text, ", %s", name);
    emu_text_add(&text, ", from %s", kind->made_by);
    emu_text_add_place(&text, place);
    emu_text_add(&text,
                 ".\nTo change: %s; or set ignore_leaks in the rehearsal's options, if the end of "
                 "the program is to give everything back.",
                 kind->remedy);
    emu_finding_add(engine, TUTTI_VERDICT_LEAK, "", subject, &rank, 1, &text);
}

static void emu_leaks_of_device(emu_engine *engine, const emu_device *device) {
    for (uint32_t i = 0; i < device->memory_count; i++) {
        const emu_allocation *allocation = device->memory[i];
        if (!allocation->freed)
            emu_leak_add(engine, &emu_leak_memory, allocation->name, allocation->bytes,
                         allocation->place, allocation->host);
    }
    for (const emu_stream *stream = device->streams; stream != NULL; stream = stream->next)
        if (!stream->destroyed)
            emu_leak_add(engine, &emu_leak_stream, stream->name, 0, stream->place, stream->host);
}

static void emu_leaks_of_comms(emu_engine *engine) {
    for (const emu_comm *comm = engine->all_comms; comm != NULL; comm = comm->next_all)
        if (comm->state == EMU_COMM_READY)
            emu_leak_add(engine, &emu_leak_comm, comm->group->name, 0, comm->joined_place,
                         comm->host);
}

static bool emu_run_is_over_and_well(const emu_engine *engine) {
    return engine->exited_count == engine->config.host_count &&
           engine->host_count == engine->config.host_count && engine->config.host_count > 0 &&
           engine->finding_count == engine->note_count && !engine->given_up &&
           !engine->out_of_memory;
}

void emu_leaks_check(emu_engine *engine) {
    if (engine->config.ignore_leaks || !emu_run_is_over_and_well(engine)) return;
    emu_leaks_of_comms(engine);
    for (uint32_t i = 0; i < engine->device_count; i++)
        emu_leaks_of_device(engine, &engine->devices[i]);
    for (const emu_event *event = engine->all_events; event != NULL; event = event->next_all)
        if (!event->destroyed)
            emu_leak_add(engine, &emu_leak_event, NULL, 0, event->place, event->host);
}
