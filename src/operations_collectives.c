#include "tutti/operations.h"

#include "src/arguments.h"
#include "src/call.h"

tutti_status(tutti_data_type_of)(tutti_device *device, tutti_element_type element_type,
                                 size_t bytes, tutti_data_type *data_type_out, size_t *count_out,
                                 tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "data_type");
    tutti_status status = tutti_check_device(device, error);
    if (status == TUTTI_OK) status = tutti_check_output(data_type_out, "data_type_out", error);
    if (status == TUTTI_OK) status = tutti_check_output(count_out, "count_out", error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_device(device), error);
    return tutti_call_end(device->driver->table.data_type(device, element_type, bytes,
                                                          data_type_out, count_out, error),
                          error);
}

tutti_status(tutti_all_reduce)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                               tutti_data_type data_type, size_t count, tutti_reduce_op op,
                               tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "all_reduce");
    const tutti_status status =
        tutti_check_all_reduce(comm, source, destination, data_type, count, op, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, stream, error);
    return tutti_call_end(comm->device->driver->table.all_reduce(
                              comm, source, destination, data_type, count, op, stream, error),
                          error);
}

tutti_status(tutti_send)(tutti_comm *comm, tutti_buffer source, tutti_data_type data_type,
                         size_t count, int32_t peer, tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "send");
    const tutti_status status =
        tutti_check_send(comm, source, data_type, count, peer, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, stream, error);
    return tutti_call_end(
        comm->device->driver->table.send(comm, source, data_type, count, peer, stream, error),
        error);
}

tutti_status(tutti_recv)(tutti_comm *comm, tutti_buffer destination, tutti_data_type data_type,
                         size_t count, int32_t peer, tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "recv");
    const tutti_status status =
        tutti_check_recv(comm, destination, data_type, count, peer, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, stream, error);
    return tutti_call_end(
        comm->device->driver->table.recv(comm, destination, data_type, count, peer, stream, error),
        error);
}

tutti_status(tutti_broadcast)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                              tutti_data_type data_type, size_t count, int32_t root,
                              tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "broadcast");
    const tutti_status status =
        tutti_check_broadcast(comm, source, destination, data_type, count, root, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, stream, error);
    return tutti_call_end(comm->device->driver->table.broadcast(
                              comm, source, destination, data_type, count, root, stream, error),
                          error);
}

tutti_status(tutti_reduce)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                           tutti_data_type data_type, size_t count, tutti_reduce_op op,
                           int32_t root, tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "reduce");
    const tutti_status status =
        tutti_check_reduce(comm, source, destination, data_type, count, op, root, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, stream, error);
    return tutti_call_end(comm->device->driver->table.reduce(comm, source, destination, data_type,
                                                             count, op, root, stream, error),
                          error);
}

tutti_status(tutti_all_gather)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                               tutti_data_type data_type, size_t count, tutti_stream *stream,
                               tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "all_gather");
    const tutti_status status =
        tutti_check_all_gather(comm, source, destination, data_type, count, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, stream, error);
    return tutti_call_end(comm->device->driver->table.all_gather(comm, source, destination,
                                                                 data_type, count, stream, error),
                          error);
}

tutti_status(tutti_reduce_scatter)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                                   tutti_data_type data_type, size_t count, tutti_reduce_op op,
                                   tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "reduce_scatter");
    const tutti_status status =
        tutti_check_reduce_scatter(comm, source, destination, data_type, count, op, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, stream, error);
    return tutti_call_end(comm->device->driver->table.reduce_scatter(
                              comm, source, destination, data_type, count, op, stream, error),
                          error);
}

tutti_status(tutti_all_to_all)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                               tutti_data_type data_type, size_t count, tutti_stream *stream,
                               tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "all_to_all");
    const tutti_status status =
        tutti_check_all_to_all(comm, source, destination, data_type, count, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, stream, error);
    return tutti_call_end(comm->device->driver->table.all_to_all(comm, source, destination,
                                                                 data_type, count, stream, error),
                          error);
}

tutti_status(tutti_gather)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                           tutti_data_type data_type, size_t count, int32_t root,
                           tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "gather");
    const tutti_status status =
        tutti_check_gather(comm, source, destination, data_type, count, root, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, stream, error);
    return tutti_call_end(comm->device->driver->table.gather(comm, source, destination, data_type,
                                                             count, root, stream, error),
                          error);
}

tutti_status(tutti_scatter)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                            tutti_data_type data_type, size_t count, int32_t root,
                            tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "scatter");
    const tutti_status status =
        tutti_check_scatter(comm, source, destination, data_type, count, root, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, stream, error);
    return tutti_call_end(comm->device->driver->table.scatter(comm, source, destination, data_type,
                                                              count, root, stream, error),
                          error);
}

tutti_status(tutti_barrier)(tutti_comm *comm, tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "barrier");
    const tutti_status status = tutti_check_barrier(comm, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, stream, error);
    return tutti_call_end(comm->device->driver->table.barrier(comm, stream, error), error);
}
