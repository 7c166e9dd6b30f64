#include "drivers/emu/script_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/script_expect.h"
#include "src/arguments.h"

/* What a statement of a script asks of the engine: its own calls, and those that must come before.
 */

void emu_script_call_begin(const emu_script_rank *rank, emu_call *call, emu_call_kind kind,
                           int32_t line) {
    memset(call, 0, sizeof *call);
    call->kind = kind;
    call->place = (tutti_place){rank->run->script->file, line};
}

static emu_device *emu_rank_device(const emu_script_rank *rank) {
    return emu_engine_host_device(rank->run->engine, (uint32_t)rank->rank);
}

/* A statement that cannot even be tried: the engine is told why. */
void emu_script_call_refuse(emu_script_rank *rank, emu_call *call,
                            const emu_script_statement *statement, tutti_status status,
                            const char *text) {
    tutti_error_set(&rank->run->refusal, status, "%s", text);
    rank->run->refusal.operation = emu_script_kind_name(statement->kind);
    emu_script_call_begin(rank, call, EMU_CALL_REFUSED, statement->line);
    call->refusal = &rank->run->refusal;
}

bool emu_script_call_allocate(emu_script_rank *rank, emu_call *call) {
    const emu_script *script = rank->run->script;
    for (; rank->next_buffer < script->buffer_name_count; rank->next_buffer++) {
        const emu_script_buffer *buffer =
            emu_script_buffer_of(script, rank->next_buffer, rank->rank);
        if (buffer == NULL) continue;
        emu_script_call_begin(rank, call, EMU_CALL_ALLOCATE, buffer->line);
        call->device = emu_rank_device(rank);
        call->count = (size_t)buffer->count * buffer->width_bytes;
        call->name = script->buffer_names[rank->next_buffer].name;
        call->writes = buffer->fill.kind != EMU_SCRIPT_FILL_UNSET;
        return true;
    }
    return false;
}

static tutti_buffer emu_rank_slice(const emu_script_rank *rank, const emu_script_slice *slice) {
    const emu_script *script = rank->run->script;
    const emu_script_buffer *buffer = emu_script_buffer_of(script, slice->name, rank->rank);
    tutti_buffer whole = {rank->buffers[slice->name], (size_t)buffer->count * buffer->width_bytes};
    return tutti_buffer_slice(whole, (size_t)slice->first,
                              (size_t)emu_script_slice_count(script, slice, rank->rank),
                              buffer->width_bytes);
}

/* --- Groups: the first use joins --- */

static bool emu_statement_joins(emu_script_kind kind) {
    return kind == EMU_SCRIPT_ALL_REDUCE || kind == EMU_SCRIPT_SEND || kind == EMU_SCRIPT_RECV ||
           kind == EMU_SCRIPT_JOIN || kind == EMU_SCRIPT_SYNC || kind == EMU_SCRIPT_POLL;
}

/* Why a rank can do nothing with a group; NULL when it can. */
static const char *emu_rank_group_problem(const emu_script_rank *rank,
                                          const emu_script_statement *statement, char *text,
                                          size_t text_bytes) {
    const emu_script_group *group = &rank->run->script->groups[statement->group];
    bool ends = statement->kind == EMU_SCRIPT_LEAVE || statement->kind == EMU_SCRIPT_ABORT;
    if (rank->comms[statement->group] != NULL && statement->kind == EMU_SCRIPT_JOIN &&
        rank->given_up[statement->group])
        snprintf(text, text_bytes, "%s was left or aborted before: a name that was stays so",
                 group->name);
    else if (rank->comms[statement->group] != NULL)
        return NULL;
    else if (emu_script_group_member(group, rank->rank) < 0)
        snprintf(text, text_bytes, "rank %" PRId32 " is no member of group %s", rank->rank,
                 group->name);
    else if (ends && !rank->tried[statement->group])
        snprintf(text, text_bytes, "this rank has not joined %s", group->name);
    else
        return NULL;
    return text;
}

/* The call that brings the rank into the statement's group: minting its identifier, then joining.
 */
static void emu_call_join(emu_script_rank *rank, emu_call *call,
                          const emu_script_statement *statement) {
    const emu_script_group *group = &rank->run->script->groups[statement->group];
    if (!rank->minted) {
        emu_script_call_begin(rank, call, EMU_CALL_MINT, statement->line);
        call->communication_id = statement->group + UINT64_C(1);
        call->id_out = &rank->run->ids[statement->group];
        return;
    }
    emu_script_call_begin(rank, call, EMU_CALL_JOIN, statement->line);
    call->device = emu_rank_device(rank);
    call->id = &rank->run->ids[statement->group];
    call->rank_count = group->rank_count;
    call->peer = emu_script_group_member(group, rank->rank);
    call->non_blocking = statement->kind == EMU_SCRIPT_JOIN && statement->non_blocking;
    call->name = rank->run->group_names[statement->group];
    call->member_hosts = rank->run->member_hosts[statement->group];
}

/* Makes sure that the statement's group can be used. True: the call is filled, for that or to say
 * why not. */
static bool emu_call_prepare_group(emu_script_rank *rank, emu_call *call,
                                   const emu_script_statement *statement) {
    char text[160];
    if (statement->group == EMU_SCRIPT_NONE) return false;
    const emu_script_group *group = &rank->run->script->groups[statement->group];
    const char *problem = emu_rank_group_problem(rank, statement, text, sizeof text);
    if (problem != NULL) {
        emu_script_call_refuse(rank, call, statement, TUTTI_MISUSE, problem);
        return true;
    }
    bool explicit_join = statement->kind == EMU_SCRIPT_JOIN;
    if (!emu_statement_joins(statement->kind)) return false;
    if (rank->comms[statement->group] != NULL && !explicit_join) return false;
    if (group->repeated_rank >= 0) {
        snprintf(text, sizeof text, "group %s lists rank %" PRId32 " twice: each member once",
                 group->name, group->repeated_rank);
        emu_script_call_refuse(rank, call, statement, TUTTI_REFUSED, text);
        return true;
    }
    if (rank->group_depth > 0 && !explicit_join) {
        snprintf(text, sizeof text, "%s is not joined, and a group call is no place to do it",
                 group->name);
        emu_script_call_refuse(rank, call, statement, TUTTI_MISUSE, text);
        return true;
    }
    emu_call_join(rank, call, statement);
    return true;
}

/* What a group call uses is joined before it starts: inside, a join would not be through in time.
 * `step` counts the statements inside that were looked at. True: the call is filled. */
static bool emu_call_prepare_group_call(emu_script_rank *rank, emu_call *call,
                                        const emu_script_statement *start) {
    const emu_script_statement *end = &rank->run->script->statements[start->partner];
    if (start->kind != EMU_SCRIPT_GROUP_START || rank->group_depth > 0) return false;
    for (; start + 1 + rank->step < end; rank->step++) {
        const emu_script_statement *inside = start + 1 + rank->step;
        bool communicates = inside->kind == EMU_SCRIPT_ALL_REDUCE ||
                            inside->kind == EMU_SCRIPT_SEND || inside->kind == EMU_SCRIPT_RECV;
        if (communicates && emu_call_prepare_group(rank, call, inside)) return true;
    }
    return false;
}

static bool emu_call_prepare_stream(emu_script_rank *rank, emu_call *call,
                                    const emu_script_statement *statement) {
    if (statement->stream == EMU_SCRIPT_NONE || rank->streams[statement->stream] != NULL)
        return false;
    emu_script_call_begin(rank, call, EMU_CALL_STREAM_CREATE, statement->line);
    call->device = emu_rank_device(rank);
    call->name = rank->run->script->streams[statement->stream].name;
    return true;
}

static bool emu_call_prepare_event(emu_script_rank *rank, emu_call *call,
                                   const emu_script_statement *statement) {
    if (statement->event == EMU_SCRIPT_NONE || rank->events[statement->event] != NULL) return false;
    emu_script_call_begin(rank, call, EMU_CALL_EVENT_CREATE, statement->line);
    call->device = emu_rank_device(rank);
    return true;
}

/* --- Statements --- */

static tutti_data_type emu_buffer_type(const emu_script_buffer *buffer) {
    return (tutti_data_type){buffer->type, buffer->width_bytes, (int32_t)buffer->type};
}

static tutti_status emu_check_communication(emu_script_rank *rank, const emu_call *call) {
    tutti_comm *comm = emu_comm_base(call->comm);
    tutti_stream *stream = emu_stream_base(call->stream);
    tutti_error_clear(&rank->run->refusal);
    if (call->kind == EMU_CALL_ALL_REDUCE)
        return tutti_check_all_reduce(comm, call->source, call->destination, call->data_type,
                                      call->count, call->op, stream, &rank->run->refusal);
    if (call->kind == EMU_CALL_SEND)
        return tutti_check_send(comm, call->source, call->data_type, call->count, call->peer,
                                stream, &rank->run->refusal);
    return tutti_check_recv(comm, call->destination, call->data_type, call->count, call->peer,
                            stream, &rank->run->refusal);
}

static void emu_script_refuse_checked(emu_script_rank *rank, emu_call *call,
                                      const emu_script_statement *statement) {
    rank->run->refusal.operation = emu_script_kind_name(statement->kind);
    emu_script_call_begin(rank, call, EMU_CALL_REFUSED, statement->line);
    call->refusal = &rank->run->refusal;
}

static void emu_call_communicate(emu_script_rank *rank, emu_call *call,
                                 const emu_script_statement *statement, emu_call_kind kind) {
    const emu_script *script = rank->run->script;
    const emu_script_slice *first =
        statement->read_count > 0 ? &statement->reads[0] : &statement->writes[0];
    const emu_script_buffer *buffer = emu_script_buffer_of(script, first->name, rank->rank);
    if (tutti_element_type_width_bytes(buffer->type) == 0) {
        char text[160];
        snprintf(text, sizeof text,
                 "element type %s is not carried by collectives: use one of the types that are",
                 tutti_element_type_name(buffer->type));
        emu_script_call_refuse(rank, call, statement, TUTTI_UNSUPPORTED, text);
        return;
    }
    if (rank->step == 0) {
        emu_script_call_begin(rank, call, EMU_CALL_DATA_TYPE, statement->line);
        call->device = emu_rank_device(rank);
        call->data_type = emu_buffer_type(buffer);
        return;
    }
    emu_script_call_begin(rank, call, kind, statement->line);
    call->comm = rank->comms[statement->group];
    call->stream = rank->streams[statement->stream];
    call->data_type = emu_buffer_type(buffer);
    call->count = (size_t)emu_script_slice_count(script, first, rank->rank);
    call->op = statement->op;
    call->peer = statement->peer;
    if (statement->read_count > 0) call->source = emu_rank_slice(rank, &statement->reads[0]);
    if (statement->write_count > 0) call->destination = emu_rank_slice(rank, &statement->writes[0]);
    if (emu_check_communication(rank, call) != TUTTI_OK)
        emu_script_refuse_checked(rank, call, statement);
}

/* What a kernel touches lies behind it, since its call may be held up. False when memory is out. */
static bool emu_rank_kernel_room(emu_script_rank *rank, uint32_t count) {
    if (rank->kernel != NULL && count <= rank->kernel_room) return true;
    emu_kernel *kernel = realloc(rank->kernel, sizeof *kernel + count * sizeof(tutti_buffer));
    if (kernel == NULL) return false;
    rank->kernel = kernel;
    rank->kernel_room = count;
    return true;
}

static void emu_call_kernel(emu_script_rank *rank, emu_call *call,
                            const emu_script_statement *statement) {
    uint32_t reads = statement->read_count, writes = statement->write_count;
    if (!emu_rank_kernel_room(rank, reads + writes)) {
        emu_script_call_refuse(rank, call, statement, TUTTI_OUT_OF_MEMORY,
                               "no memory for what the kernel touches");
        return;
    }
    tutti_buffer *buffers = (tutti_buffer *)(rank->kernel + 1);
    for (uint32_t i = 0; i < reads; i++)
        buffers[i] = emu_rank_slice(rank, &statement->reads[i]);
    for (uint32_t i = 0; i < writes; i++)
        buffers[reads + i] = emu_rank_slice(rank, &statement->writes[i]);
    *rank->kernel = (emu_kernel){
        .reads = buffers, .read_count = reads, .writes = buffers + reads, .write_count = writes};
    emu_script_call_begin(rank, call, EMU_CALL_KERNEL, statement->line);
    call->stream = rank->streams[statement->stream];
    call->duration_ns = statement->duration_ns;
    call->kernel = rank->kernel;
}

/* The host touches several slices; each is a call of its own. False: all have been. */
static bool emu_call_touch_next(emu_script_rank *rank, emu_call *call,
                                const emu_script_statement *statement) {
    uint32_t reads = statement->read_count;
    if (rank->step >= reads + statement->write_count) return false;
    bool writes = rank->step >= reads;
    const emu_script_slice *slice =
        writes ? &statement->writes[rank->step - reads] : &statement->reads[rank->step];
    emu_script_call_begin(rank, call, EMU_CALL_HOST_ACCESS, statement->line);
    call->device = emu_rank_device(rank);
    call->destination = emu_rank_slice(rank, slice);
    call->writes = writes;
    return true;
}

/* `sync` alone waits for all streams, one after the other. False: all have been. */
static bool emu_call_sync_next(emu_script_rank *rank, emu_call *call,
                               const emu_script_statement *statement) {
    const emu_script *script = rank->run->script;
    while (rank->step < script->stream_count && rank->streams[rank->step] == NULL)
        rank->step++;
    if (rank->step >= script->stream_count) return false;
    emu_script_call_begin(rank, call, EMU_CALL_STREAM_SYNC, statement->line);
    call->stream = rank->streams[rank->step];
    return true;
}

static void emu_call_look(emu_script_rank *rank, emu_call *call,
                          const emu_script_statement *statement, bool waits) {
    emu_call_kind kind;
    if (statement->stream != EMU_SCRIPT_NONE)
        kind = waits ? EMU_CALL_STREAM_SYNC : EMU_CALL_STREAM_QUERY;
    else if (statement->event != EMU_SCRIPT_NONE)
        kind = waits ? EMU_CALL_EVENT_SYNC : EMU_CALL_EVENT_QUERY;
    else
        kind = waits ? EMU_CALL_COMM_SYNC : EMU_CALL_COMM_STATUS;
    emu_script_call_begin(rank, call, kind, statement->line);
    if (statement->stream != EMU_SCRIPT_NONE) call->stream = rank->streams[statement->stream];
    if (statement->event != EMU_SCRIPT_NONE) call->event = rank->events[statement->event];
    if (statement->group != EMU_SCRIPT_NONE) call->comm = rank->comms[statement->group];
}

/* Leaving or aborting what a failed join did not give is allowed, and nothing: as NCCL has it for a
 * communicator that is NULL. */
static bool emu_call_end_group(emu_script_rank *rank, emu_call *call,
                               const emu_script_statement *statement, emu_call_kind kind) {
    if (rank->comms[statement->group] == NULL) return false;
    emu_script_call_begin(rank, call, kind, statement->line);
    call->comm = rank->comms[statement->group];
    return true;
}

static void emu_call_on_event(emu_script_rank *rank, emu_call *call,
                              const emu_script_statement *statement, emu_call_kind kind) {
    emu_script_call_begin(rank, call, kind, statement->line);
    call->stream = rank->streams[statement->stream];
    call->event = rank->events[statement->event];
}

static void emu_call_free(emu_script_rank *rank, emu_call *call,
                          const emu_script_statement *statement) {
    emu_script_call_begin(rank, call, EMU_CALL_FREE, statement->line);
    call->device = emu_rank_device(rank);
    call->destination = emu_rank_slice(rank, &statement->writes[0]);
}

/* First that the slice is memory that exists, then what is in it. False: it is as expected. */
static bool emu_call_expect(emu_script_rank *rank, emu_call *call,
                            const emu_script_statement *statement) {
    char text[TUTTI_ERROR_MESSAGE_BYTES];
    const emu_script *script = rank->run->script;
    const emu_script_slice *slice = &statement->reads[0];
    if (rank->step == 0) return emu_call_touch_next(rank, call, statement);
    const emu_script_buffer *buffer = emu_script_buffer_of(script, slice->name, rank->rank);
    tutti_buffer data = emu_rank_slice(rank, slice);
    if (emu_script_expect(statement, buffer->type, buffer->width_bytes, data, rank->rank,
                          script->buffer_names[slice->name].name, slice->first, text, sizeof text))
        return false;
    emu_script_call_begin(rank, call, EMU_CALL_WRONG, statement->line);
    call->name = emu_engine_intern(rank->run->engine, text);
    if (call->name == NULL) call->name = "a result is not what was expected";
    return true;
}

/* Fills the statement's next own call. False: it needs none, or none any more. */
bool emu_script_call_statement(emu_script_rank *rank, emu_call *call,
                               const emu_script_statement *statement) {
    switch (statement->kind) {
    case EMU_SCRIPT_ALL_REDUCE:
        emu_call_communicate(rank, call, statement, EMU_CALL_ALL_REDUCE);
        return true;
    case EMU_SCRIPT_SEND:
        emu_call_communicate(rank, call, statement, EMU_CALL_SEND);
        return true;
    case EMU_SCRIPT_RECV:
        emu_call_communicate(rank, call, statement, EMU_CALL_RECV);
        return true;
    case EMU_SCRIPT_GROUP_START:
        emu_script_call_begin(rank, call, EMU_CALL_GROUP_START, statement->line);
        return true;
    case EMU_SCRIPT_GROUP_END:
        emu_script_call_begin(rank, call, EMU_CALL_GROUP_END, statement->line);
        return true;
    case EMU_SCRIPT_RECORD:
        emu_call_on_event(rank, call, statement, EMU_CALL_EVENT_RECORD);
        return true;
    case EMU_SCRIPT_WAIT:
        emu_call_on_event(rank, call, statement, EMU_CALL_EVENT_WAIT);
        return true;
    case EMU_SCRIPT_KERNEL:
        emu_call_kernel(rank, call, statement);
        return true;
    case EMU_SCRIPT_HOST:
        return emu_call_touch_next(rank, call, statement);
    case EMU_SCRIPT_SYNC:
        if (statement->stream == EMU_SCRIPT_NONE && statement->event == EMU_SCRIPT_NONE &&
            statement->group == EMU_SCRIPT_NONE)
            return emu_call_sync_next(rank, call, statement);
        emu_call_look(rank, call, statement, true);
        return true;
    case EMU_SCRIPT_POLL:
        emu_call_look(rank, call, statement, false);
        return true;
    case EMU_SCRIPT_FREE:
        emu_call_free(rank, call, statement);
        return true;
    case EMU_SCRIPT_SLEEP:
        emu_script_call_begin(rank, call, EMU_CALL_SLEEP, statement->line);
        call->duration_ns = statement->duration_ns;
        return true;
    case EMU_SCRIPT_LEAVE:
        return emu_call_end_group(rank, call, statement, EMU_CALL_LEAVE);
    case EMU_SCRIPT_ABORT:
        return emu_call_end_group(rank, call, statement, EMU_CALL_ABORT);
    case EMU_SCRIPT_EXPECT:
        return emu_call_expect(rank, call, statement);
    case EMU_SCRIPT_EXIT:
        rank->ended = true;
        return false;
    default:
        return false; /* what this version has not, the parser has refused */
    }
}

bool emu_script_call_prepare(emu_script_rank *rank, emu_call *call,
                             const emu_script_statement *statement) {
    return emu_call_prepare_group_call(rank, call, statement) ||
           emu_call_prepare_group(rank, call, statement) ||
           emu_call_prepare_stream(rank, call, statement) ||
           emu_call_prepare_event(rank, call, statement);
}
