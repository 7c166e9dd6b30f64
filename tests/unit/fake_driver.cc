#include "tests/unit/fake_driver.h"

#include <cstdlib>

unsigned char fake_memory[64] __attribute__((aligned(16)));

tutti_buffer fake_buffer(size_t bytes) {
    return {fake_memory, bytes};
}

tutti_data_type fake_type(tutti_element_type type) {
    return {type, tutti_element_type_width_bytes(type), static_cast<int32_t>(type)};
}

namespace {

FakeDriver &of(tutti_driver *driver) {
    return *reinterpret_cast<FakeDriver *>(driver);
}

tutti_status fake_device_count(tutti_driver *driver, uint32_t *count_out, tutti_error *error) {
    const tutti_status status = of(driver).record("device_count", error);
    if (status != TUTTI_OK) return status;
    *count_out = 2;
    return TUTTI_OK;
}

tutti_status fake_device_open(tutti_driver *driver, uint32_t index, tutti_device **device_out,
                              tutti_error *error) {
    const tutti_status status = of(driver).record("device_open", error);
    if (status != TUTTI_OK) return status;
    *device_out = &of(driver).devices[index];
    return TUTTI_OK;
}

tutti_status fake_memory_allocate(tutti_device *device, size_t bytes, tutti_buffer *buffer_out,
                                  tutti_error *error) {
    const tutti_status status = of(device->driver).record("memory_allocate", error);
    if (status != TUTTI_OK) return status;
    *buffer_out = fake_buffer(bytes);
    return TUTTI_OK;
}

tutti_status fake_memory_free(tutti_device *device, tutti_buffer, tutti_error *error) {
    return of(device->driver).record("memory_free", error);
}

tutti_status fake_copy_to_device(tutti_buffer, const void *, size_t, tutti_stream *stream,
                                 tutti_error *error) {
    return of(stream->device->driver).record("copy_to_device", error);
}

tutti_status fake_copy_to_host(void *, tutti_buffer, size_t, tutti_stream *stream,
                               tutti_error *error) {
    return of(stream->device->driver).record("copy_to_host", error);
}

tutti_status fake_copy_on_device(tutti_buffer, tutti_buffer, size_t, tutti_stream *stream,
                                 tutti_error *error) {
    return of(stream->device->driver).record("copy_on_device", error);
}

tutti_status fake_fill(tutti_buffer, uint8_t, tutti_stream *stream, tutti_error *error) {
    return of(stream->device->driver).record("fill", error);
}

tutti_status fake_host_function(tutti_stream *stream, tutti_host_function *, void *,
                                const tutti_buffer *, size_t, const tutti_buffer *, size_t,
                                tutti_error *error) {
    return of(stream->device->driver).record("host_function", error);
}

tutti_status fake_stream_create(tutti_device *device, const tutti_stream_options *options,
                                tutti_stream **stream_out, tutti_error *error) {
    of(device->driver).stream_options = *options;
    const tutti_status status = of(device->driver).record("stream_create", error);
    if (status != TUTTI_OK) return status;
    *stream_out = &of(device->driver).streams[device->id.index];
    return TUTTI_OK;
}

void fake_stream_destroy(tutti_stream *stream) {
    of(stream->device->driver).record("stream_destroy", nullptr);
}

tutti_status fake_stream_synchronize(tutti_stream *stream, tutti_error *error) {
    return of(stream->device->driver).record("stream_synchronize", error);
}

tutti_status fake_stream_query(tutti_stream *stream, int *done_out, tutti_error *error) {
    const tutti_status status = of(stream->device->driver).record("stream_query", error);
    if (status != TUTTI_OK) return status;
    *done_out = 1;
    return TUTTI_OK;
}

tutti_status fake_event_create(tutti_device *device, tutti_event **event_out, tutti_error *error) {
    const tutti_status status = of(device->driver).record("event_create", error);
    if (status != TUTTI_OK) return status;
    *event_out = &of(device->driver).events[device->id.index];
    return TUTTI_OK;
}

void fake_event_destroy(tutti_event *event) {
    of(event->device->driver).record("event_destroy", nullptr);
}

tutti_status fake_event_record(tutti_event *event, tutti_stream *, tutti_error *error) {
    return of(event->device->driver).record("event_record", error);
}

tutti_status fake_event_wait(tutti_event *event, tutti_stream *, tutti_error *error) {
    return of(event->device->driver).record("event_wait", error);
}

tutti_status fake_event_query(tutti_event *event, int *done_out, tutti_error *error) {
    const tutti_status status = of(event->device->driver).record("event_query", error);
    if (status != TUTTI_OK) return status;
    *done_out = 1;
    return TUTTI_OK;
}

tutti_status fake_event_synchronize(tutti_event *event, tutti_error *error) {
    return of(event->device->driver).record("event_synchronize", error);
}

tutti_status fake_group_id(tutti_driver *driver, tutti_communication_id, tutti_unique_id *id_out,
                           tutti_error *error) {
    const tutti_status status = of(driver).record("group_id", error);
    if (status != TUTTI_OK) return status;
    *id_out = tutti_unique_id{};
    return TUTTI_OK;
}

tutti_status fake_join(tutti_device *device, const tutti_unique_id *, int32_t, int32_t rank,
                       const tutti_join_options *options, tutti_comm **comm_out,
                       tutti_error *error) {
    of(device->driver).join_options = *options;
    const tutti_status status = of(device->driver).record("join", error);
    if (status != TUTTI_OK) return status;
    *comm_out = &of(device->driver).comms[rank];
    return TUTTI_OK;
}

tutti_status fake_data_type(tutti_device *device, tutti_element_type type, size_t bytes,
                            tutti_data_type *data_type_out, size_t *count_out, tutti_error *error) {
    const tutti_status status = of(device->driver).record("data_type", error);
    if (status != TUTTI_OK) return status;
    *data_type_out = fake_type(type);
    *count_out = bytes / data_type_out->width_bytes;
    return TUTTI_OK;
}

tutti_status fake_all_reduce(tutti_comm *comm, tutti_buffer, tutti_buffer, tutti_data_type, size_t,
                             tutti_reduce_op, tutti_stream *, tutti_error *error) {
    return of(comm->device->driver).record("all_reduce", error);
}

tutti_status fake_send(tutti_comm *comm, tutti_buffer, tutti_data_type, size_t, int32_t,
                       tutti_stream *, tutti_error *error) {
    return of(comm->device->driver).record("send", error);
}

tutti_status fake_recv(tutti_comm *comm, tutti_buffer, tutti_data_type, size_t, int32_t,
                       tutti_stream *, tutti_error *error) {
    return of(comm->device->driver).record("recv", error);
}

tutti_status fake_leave(tutti_comm *comm, tutti_error *error) {
    return of(comm->device->driver).record("leave", error);
}

tutti_status fake_comm_abort(tutti_comm *comm, tutti_error *error) {
    return of(comm->device->driver).record("comm_abort", error);
}

tutti_status fake_comm_status(tutti_comm *comm, tutti_status *status_out, tutti_error *error) {
    const tutti_status status = of(comm->device->driver).record("comm_status", error);
    if (status != TUTTI_OK) return status;
    *status_out = TUTTI_OK;
    return TUTTI_OK;
}

tutti_status fake_comm_synchronize(tutti_comm *comm, tutti_error *error) {
    return of(comm->device->driver).record("comm_synchronize", error);
}

tutti_status fake_group_start(tutti_driver *driver, tutti_error *error) {
    return of(driver).record("group_start", error);
}

tutti_status fake_group_end(tutti_driver *driver, tutti_error *error) {
    return of(driver).record("group_end", error);
}

void fake_call_refused(tutti_driver *driver, const tutti_error *error) {
    of(driver).refused.push_back(*error);
}

tutti_status fake_memory_owner(tutti_driver *driver, const void *, tutti_device **device_out,
                               tutti_buffer *allocation_out, tutti_error *error) {
    const tutti_status status = of(driver).record("memory_owner", error);
    if (status != TUTTI_OK) return status;
    *device_out = &of(driver).devices[0];
    *allocation_out = fake_buffer(64);
    return TUTTI_OK;
}

tutti_status fake_comm_split(tutti_comm *comm, int32_t, int32_t, tutti_comm **comm_out,
                             tutti_error *error) {
    const tutti_status status = of(comm->device->driver).record("comm_split", error);
    if (status != TUTTI_OK) return status;
    *comm_out = comm;
    return TUTTI_OK;
}

tutti_status fake_comm_shrink(tutti_comm *comm, const int32_t *, size_t, tutti_comm **comm_out,
                              tutti_error *error) {
    const tutti_status status = of(comm->device->driver).record("comm_shrink", error);
    if (status != TUTTI_OK) return status;
    *comm_out = comm;
    return TUTTI_OK;
}

tutti_status fake_comm_revoke(tutti_comm *comm, tutti_error *error) {
    return of(comm->device->driver).record("comm_revoke", error);
}

tutti_status fake_broadcast(tutti_comm *comm, tutti_buffer, tutti_buffer, tutti_data_type, size_t,
                            int32_t, tutti_stream *, tutti_error *error) {
    return of(comm->device->driver).record("broadcast", error);
}

tutti_status fake_reduce(tutti_comm *comm, tutti_buffer, tutti_buffer, tutti_data_type, size_t,
                         tutti_reduce_op, int32_t, tutti_stream *, tutti_error *error) {
    return of(comm->device->driver).record("reduce", error);
}

tutti_status fake_all_gather(tutti_comm *comm, tutti_buffer, tutti_buffer, tutti_data_type, size_t,
                             tutti_stream *, tutti_error *error) {
    return of(comm->device->driver).record("all_gather", error);
}

tutti_status fake_reduce_scatter(tutti_comm *comm, tutti_buffer, tutti_buffer, tutti_data_type,
                                 size_t, tutti_reduce_op, tutti_stream *, tutti_error *error) {
    return of(comm->device->driver).record("reduce_scatter", error);
}

tutti_status fake_all_to_all(tutti_comm *comm, tutti_buffer, tutti_buffer, tutti_data_type, size_t,
                             tutti_stream *, tutti_error *error) {
    return of(comm->device->driver).record("all_to_all", error);
}

tutti_status fake_gather(tutti_comm *comm, tutti_buffer, tutti_buffer, tutti_data_type, size_t,
                         int32_t, tutti_stream *, tutti_error *error) {
    return of(comm->device->driver).record("gather", error);
}

tutti_status fake_scatter(tutti_comm *comm, tutti_buffer, tutti_buffer, tutti_data_type, size_t,
                          int32_t, tutti_stream *, tutti_error *error) {
    return of(comm->device->driver).record("scatter", error);
}

tutti_status fake_barrier(tutti_comm *comm, tutti_stream *, tutti_error *error) {
    return of(comm->device->driver).record("barrier", error);
}

} // namespace

FakeDriver::FakeDriver() : FakeDriver(full_table()) {}

FakeDriver::FakeDriver(const tutti_driver_table &table, const char *name) {
    tutti_driver_table named = table;
    if (name != nullptr) named.name = name;
    if (tutti_driver_bind(&named, &base, nullptr) != TUTTI_OK) std::abort();
    for (uint16_t i = 0; i < 2; i++) {
        devices[i] = {&base, {0, i}};
        streams[i] = {&devices[i]};
        events[i] = {&devices[i]};
        comms[i] = {&devices[i], i, 2};
    }
}

tutti_status FakeDriver::record(const char *name, tutti_error *error) {
    FakeCall call = {name, "", "", 0};
    if (error != nullptr) {
        call.operation = error->operation == nullptr ? "" : error->operation;
        call.file = error->place.file == nullptr ? "" : error->place.file;
        call.line = error->place.line;
    }
    calls.push_back(call);
    if (answer != TUTTI_OK && error != nullptr && writes_error) {
        error->rank = 1;
        tutti_error_set(error, answer, "%s", message.c_str());
    }
    return answer;
}

std::string FakeDriver::names() const {
    std::string all;
    for (const FakeCall &call : calls)
        all += (all.empty() ? "" : " ") + call.name;
    return all;
}

tutti_driver_table FakeDriver::required_table() {
    tutti_driver_table table = {};
    table.struct_size = sizeof(table);
    table.name = "fake";
    table.device_count = fake_device_count;
    table.device_open = fake_device_open;
    table.memory_allocate = fake_memory_allocate;
    table.memory_free = fake_memory_free;
    table.copy_to_device = fake_copy_to_device;
    table.copy_to_host = fake_copy_to_host;
    table.copy_on_device = fake_copy_on_device;
    table.fill = fake_fill;
    table.host_function = fake_host_function;
    table.stream_create = fake_stream_create;
    table.stream_destroy = fake_stream_destroy;
    table.stream_synchronize = fake_stream_synchronize;
    table.stream_query = fake_stream_query;
    table.event_create = fake_event_create;
    table.event_destroy = fake_event_destroy;
    table.event_record = fake_event_record;
    table.event_wait = fake_event_wait;
    table.event_query = fake_event_query;
    table.event_synchronize = fake_event_synchronize;
    table.group_id = fake_group_id;
    table.join = fake_join;
    table.data_type = fake_data_type;
    table.all_reduce = fake_all_reduce;
    table.send = fake_send;
    table.recv = fake_recv;
    table.leave = fake_leave;
    return table;
}

tutti_driver_table FakeDriver::full_table() {
    tutti_driver_table table = required_table();
    table.comm_abort = fake_comm_abort;
    table.comm_status = fake_comm_status;
    table.comm_synchronize = fake_comm_synchronize;
    table.group_start = fake_group_start;
    table.group_end = fake_group_end;
    table.call_refused = fake_call_refused;
    table.memory_owner = fake_memory_owner;
    table.comm_split = fake_comm_split;
    table.comm_shrink = fake_comm_shrink;
    table.comm_revoke = fake_comm_revoke;
    table.broadcast = fake_broadcast;
    table.reduce = fake_reduce;
    table.all_gather = fake_all_gather;
    table.reduce_scatter = fake_reduce_scatter;
    table.all_to_all = fake_all_to_all;
    table.gather = fake_gather;
    table.scatter = fake_scatter;
    table.barrier = fake_barrier;
    return table;
}
