#include <assert.h>

#include "drivers/emu/cluster.h"

/* The emulator's driver table: each operation becomes a call of the engine, and its executor sees
 * it through. Arguments are checked in src/ before; what they mean is written in tutti/driver.h. */

static emu_cluster *cluster_of_device(const tutti_device *device) {
    return emu_cluster_of(device->driver);
}

static emu_call call_of(emu_call_kind kind, tutti_error *error) {
    return (emu_call){.kind = kind, .error = error, .place = error->place};
}

/* --- Devices and memory --- */

static tutti_status emu_device_count(tutti_driver *driver, uint32_t *count_out,
                                     tutti_error *error) {
    (void)error;
    *count_out = emu_cluster_of(driver)->device_count;
    return TUTTI_OK;
}

static tutti_status emu_device_open(tutti_driver *driver, uint32_t index, tutti_device **device_out,
                                    tutti_error *error) {
    (void)error;
    *device_out = emu_device_base(emu_engine_device(emu_cluster_of(driver)->engine, index));
    return TUTTI_OK;
}

static tutti_status emu_memory_allocate(tutti_device *device, size_t bytes,
                                        tutti_buffer *buffer_out, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_ALLOCATE, error);
    call.device = emu_device_of(device);
    call.count = bytes;
    tutti_status status = emu_cluster_call(cluster_of_device(device), &call);
    if (status == TUTTI_OK) *buffer_out = call.buffer_out;
    return status;
}

static tutti_status emu_memory_free(tutti_device *device, tutti_buffer buffer, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_FREE, error);
    call.device = emu_device_of(device);
    call.destination = buffer;
    return emu_cluster_call(cluster_of_device(device), &call);
}

static tutti_status copy(tutti_buffer destination, tutti_buffer source, size_t bytes,
                         tutti_stream *stream, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_COPY, error);
    call.stream = emu_stream_of(stream);
    call.destination = destination;
    call.source = source;
    call.count = bytes;
    return emu_cluster_call(cluster_of_device(stream->device), &call);
}

static tutti_status emu_copy_to_device(tutti_buffer destination, const void *source, size_t bytes,
                                       tutti_stream *stream, tutti_error *error) {
    /* The engine only reads from it. */
    return copy(destination, (tutti_buffer){(void *)(uintptr_t)source, bytes}, bytes, stream,
                error);
}

static tutti_status emu_copy_to_host(void *destination, tutti_buffer source, size_t bytes,
                                     tutti_stream *stream, tutti_error *error) {
    return copy((tutti_buffer){destination, bytes}, source, bytes, stream, error);
}

static tutti_status emu_copy_on_device(tutti_buffer destination, tutti_buffer source, size_t bytes,
                                       tutti_stream *stream, tutti_error *error) {
    return copy(destination, source, bytes, stream, error);
}

static tutti_status emu_fill(tutti_buffer destination, uint8_t value, tutti_stream *stream,
                             tutti_error *error) {
    emu_call call = call_of(EMU_CALL_FILL, error);
    call.stream = emu_stream_of(stream);
    call.destination = destination;
    call.count = value;
    return emu_cluster_call(cluster_of_device(stream->device), &call);
}

static tutti_status emu_host_function_enqueue(tutti_stream *stream, tutti_host_function *function,
                                              void *argument, const tutti_buffer *reads,
                                              size_t read_count, const tutti_buffer *writes,
                                              size_t write_count, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_KERNEL, error);
    call.stream = emu_stream_of(stream);
    const emu_kernel kernel = {function, argument, reads, read_count, writes, write_count};
    call.kernel = &kernel;
    return emu_cluster_call(cluster_of_device(stream->device), &call);
}

static tutti_status emu_memory_owner(tutti_driver *driver, const void *address,
                                     tutti_device **device_out, tutti_buffer *allocation_out,
                                     tutti_error *error) {
    emu_cluster *cluster = emu_cluster_of(driver);
    emu_device *device = NULL;
    tutti_buffer allocation = {0};
    if (!cluster->executor->enter(cluster)) {
        emu_call call = call_of(EMU_CALL_ALLOCATE, error);
        return emu_refuse_stranger(&call);
    }
    bool found = emu_engine_memory_owner(cluster->engine, address, &device, &allocation);
    cluster->executor->leave(cluster);
    if (!found) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "the address %p is in no allocation of any device", address);
    }
    *device_out = emu_device_base(device);
    *allocation_out = allocation;
    return TUTTI_OK;
}

/* --- Streams and events --- */

static tutti_status emu_stream_create(tutti_device *device, const tutti_stream_options *options,
                                      tutti_stream **stream_out, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_STREAM_CREATE, error);
    call.device = emu_device_of(device);
    call.name = options->name;
    tutti_status status = emu_cluster_call(cluster_of_device(device), &call);
    if (status == TUTTI_OK) *stream_out = emu_stream_base(call.stream);
    return status;
}

static void emu_stream_destroy(tutti_stream *stream) {
    emu_call call = {.kind = EMU_CALL_STREAM_DESTROY, .stream = emu_stream_of(stream)};
    (void)emu_cluster_call(cluster_of_device(stream->device), &call);
}

static tutti_status emu_stream_synchronize(tutti_stream *stream, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_STREAM_SYNC, error);
    call.stream = emu_stream_of(stream);
    return emu_cluster_call(cluster_of_device(stream->device), &call);
}

static tutti_status emu_stream_query(tutti_stream *stream, int *done_out, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_STREAM_QUERY, error);
    call.stream = emu_stream_of(stream);
    tutti_status status = emu_cluster_call(cluster_of_device(stream->device), &call);
    if (status == TUTTI_OK) *done_out = call.done_out;
    return status;
}

static tutti_status emu_event_create(tutti_device *device, tutti_event **event_out,
                                     tutti_error *error) {
    emu_call call = call_of(EMU_CALL_EVENT_CREATE, error);
    call.device = emu_device_of(device);
    tutti_status status = emu_cluster_call(cluster_of_device(device), &call);
    if (status == TUTTI_OK) *event_out = emu_event_base(call.event);
    return status;
}

static void emu_event_destroy(tutti_event *event) {
    emu_call call = {.kind = EMU_CALL_EVENT_DESTROY, .event = emu_event_of(event)};
    (void)emu_cluster_call(cluster_of_device(event->device), &call);
}

static tutti_status call_on_both(emu_call_kind kind, tutti_event *event, tutti_stream *stream,
                                 tutti_error *error) {
    emu_call call = call_of(kind, error);
    call.event = emu_event_of(event);
    call.stream = emu_stream_of(stream);
    return emu_cluster_call(cluster_of_device(stream->device), &call);
}

static tutti_status emu_event_record(tutti_event *event, tutti_stream *stream, tutti_error *error) {
    return call_on_both(EMU_CALL_EVENT_RECORD, event, stream, error);
}

static tutti_status emu_event_wait(tutti_event *event, tutti_stream *stream, tutti_error *error) {
    return call_on_both(EMU_CALL_EVENT_WAIT, event, stream, error);
}

static tutti_status emu_event_query(tutti_event *event, int *done_out, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_EVENT_QUERY, error);
    call.event = emu_event_of(event);
    tutti_status status = emu_cluster_call(cluster_of_device(event->device), &call);
    if (status == TUTTI_OK) *done_out = call.done_out;
    return status;
}

static tutti_status emu_event_synchronize(tutti_event *event, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_EVENT_SYNC, error);
    call.event = emu_event_of(event);
    return emu_cluster_call(cluster_of_device(event->device), &call);
}

/* --- Groups --- */

static tutti_status emu_group_id(tutti_driver *driver, tutti_communication_id communication_id,
                                 tutti_unique_id *id_out, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_MINT, error);
    tutti_unique_id id;
    call.communication_id = communication_id;
    call.id_out = &id;
    tutti_status status = emu_cluster_call(emu_cluster_of(driver), &call);
    if (status == TUTTI_OK) *id_out = id;
    return status;
}

static tutti_status emu_join(tutti_device *device, const tutti_unique_id *id, int32_t rank_count,
                             int32_t rank, const tutti_join_options *options, tutti_comm **comm_out,
                             tutti_error *error) {
    emu_call call = call_of(EMU_CALL_JOIN, error);
    call.device = emu_device_of(device);
    call.id = id;
    call.rank_count = rank_count;
    call.peer = rank;
    call.non_blocking = options->non_blocking != 0;
    call.duration_ns = options->timeout_ns;
    call.name = options->name;
    tutti_status status = emu_cluster_call(cluster_of_device(device), &call);
    if (status == TUTTI_OK || status == TUTTI_IN_PROGRESS) *comm_out = emu_comm_base(call.comm);
    return status;
}

static tutti_status call_on_comm(emu_call *call, tutti_comm *comm) {
    call->comm = emu_comm_of(comm);
    return emu_cluster_call(cluster_of_device(comm->device), call);
}

static tutti_status emu_leave(tutti_comm *comm, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_LEAVE, error);
    return call_on_comm(&call, comm);
}

static tutti_status emu_comm_abort(tutti_comm *comm, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_ABORT, error);
    return call_on_comm(&call, comm);
}

static tutti_status emu_comm_status(tutti_comm *comm, tutti_status *status_out,
                                    tutti_error *error) {
    emu_call call = call_of(EMU_CALL_COMM_STATUS, error);
    tutti_status status = call_on_comm(&call, comm);
    if (status == TUTTI_OK) *status_out = call.status_out;
    return status;
}

static tutti_status emu_comm_synchronize(tutti_comm *comm, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_COMM_SYNC, error);
    return call_on_comm(&call, comm);
}

static tutti_status emu_group_start(tutti_driver *driver, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_GROUP_START, error);
    return emu_cluster_call(emu_cluster_of(driver), &call);
}

static tutti_status emu_group_end(tutti_driver *driver, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_GROUP_END, error);
    return emu_cluster_call(emu_cluster_of(driver), &call);
}

static void emu_note_refused_call(tutti_driver *driver, const tutti_error *error) {
    emu_call call = {.kind = EMU_CALL_REFUSED, .place = error->place, .refusal = error};
    (void)emu_cluster_call(emu_cluster_of(driver), &call);
}

/* --- Operations --- */

static tutti_status emu_data_type(tutti_device *device, tutti_element_type element_type,
                                  size_t bytes, tutti_data_type *data_type_out, size_t *count_out,
                                  tutti_error *error) {
    uint32_t width_bytes = tutti_element_type_width_bytes(element_type);
    if (width_bytes == 0) {
        return tutti_error_set(error, TUTTI_UNSUPPORTED,
                               "element type %s (%d) is not carried: convert to one that is, f32 "
                               "for instance",
                               tutti_element_type_name(element_type), (int)element_type);
    }
    emu_call call = call_of(EMU_CALL_DATA_TYPE, error);
    call.device = emu_device_of(device);
    call.data_type = (tutti_data_type){element_type, width_bytes, (int32_t)element_type};
    tutti_status status = emu_cluster_call(cluster_of_device(device), &call);
    if (status != TUTTI_OK) return status;
    *data_type_out = call.data_type;
    *count_out = bytes / width_bytes;
    return TUTTI_OK;
}

static tutti_status emu_all_reduce(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                                   tutti_data_type data_type, size_t count, tutti_reduce_op op,
                                   tutti_stream *stream, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_ALL_REDUCE, error);
    call.source = source;
    call.destination = destination;
    call.data_type = data_type;
    call.count = count;
    call.op = op;
    call.stream = emu_stream_of(stream);
    return call_on_comm(&call, comm);
}

static tutti_status emu_send(tutti_comm *comm, tutti_buffer source, tutti_data_type data_type,
                             size_t count, int32_t peer, tutti_stream *stream, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_SEND, error);
    call.source = source;
    call.data_type = data_type;
    call.count = count;
    call.peer = peer;
    call.stream = emu_stream_of(stream);
    return call_on_comm(&call, comm);
}

static tutti_status emu_recv(tutti_comm *comm, tutti_buffer destination, tutti_data_type data_type,
                             size_t count, int32_t peer, tutti_stream *stream, tutti_error *error) {
    emu_call call = call_of(EMU_CALL_RECV, error);
    call.destination = destination;
    call.data_type = data_type;
    call.count = count;
    call.peer = peer;
    call.stream = emu_stream_of(stream);
    return call_on_comm(&call, comm);
}

/* --- The table --- */

const tutti_driver_table tutti_emu_driver_table = {
    .struct_size = sizeof(tutti_driver_table),
    .name = "emu",
    .device_count = emu_device_count,
    .device_open = emu_device_open,
    .memory_allocate = emu_memory_allocate,
    .memory_free = emu_memory_free,
    .copy_to_device = emu_copy_to_device,
    .copy_to_host = emu_copy_to_host,
    .copy_on_device = emu_copy_on_device,
    .fill = emu_fill,
    .host_function = emu_host_function_enqueue,
    .stream_create = emu_stream_create,
    .stream_destroy = emu_stream_destroy,
    .stream_synchronize = emu_stream_synchronize,
    .stream_query = emu_stream_query,
    .event_create = emu_event_create,
    .event_destroy = emu_event_destroy,
    .event_record = emu_event_record,
    .event_wait = emu_event_wait,
    .event_query = emu_event_query,
    .event_synchronize = emu_event_synchronize,
    .group_id = emu_group_id,
    .join = emu_join,
    .data_type = emu_data_type,
    .all_reduce = emu_all_reduce,
    .send = emu_send,
    .recv = emu_recv,
    .leave = emu_leave,
    .comm_abort = emu_comm_abort,
    .comm_status = emu_comm_status,
    .comm_synchronize = emu_comm_synchronize,
    .group_start = emu_group_start,
    .group_end = emu_group_end,
    .call_refused = emu_note_refused_call,
    .memory_owner = emu_memory_owner,
};
