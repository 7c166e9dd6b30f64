#include "tutti/operations.h"

#include "src/arguments.h"
#include "src/call.h"

tutti_status tutti_device_count(tutti_driver *driver, uint32_t *count_out, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "device_count");
    tutti_status status = tutti_check_driver(driver, error);
    if (status == TUTTI_OK) status = tutti_check_output(count_out, "count_out", error);
    if (status != TUTTI_OK) return tutti_call_refused(driver, error);
    return tutti_call_end(driver->table.device_count(driver, count_out, error), error);
}

tutti_status tutti_device_open(tutti_driver *driver, uint32_t index, tutti_device **device_out,
                               tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "device_open");
    tutti_status status = tutti_check_driver(driver, error);
    if (status == TUTTI_OK) status = tutti_check_output(device_out, "device_out", error);
    if (status != TUTTI_OK) return tutti_call_refused(driver, error);
    uint32_t device_count = 0;
    status = driver->table.device_count(driver, &device_count, error);
    if (status != TUTTI_OK) return tutti_call_end(status, error);
    status = tutti_check_device_open(driver, index, device_count, error);
    if (status != TUTTI_OK) return tutti_call_refused(driver, error);
    return tutti_call_end(driver->table.device_open(driver, index, device_out, error), error);
}

tutti_status(tutti_memory_allocate)(tutti_device *device, size_t bytes, tutti_buffer *buffer_out,
                                    tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "memory_allocate");
    tutti_status status = tutti_check_device(device, error);
    if (status == TUTTI_OK) status = tutti_check_output(buffer_out, "buffer_out", error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_device(device), error);
    return tutti_call_end(device->driver->table.memory_allocate(device, bytes, buffer_out, error),
                          error);
}

tutti_status(tutti_memory_free)(tutti_device *device, tutti_buffer buffer, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "memory_free");
    const tutti_status status = tutti_check_memory_free(device, buffer, error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_device(device), error);
    return tutti_call_end(device->driver->table.memory_free(device, buffer, error), error);
}

tutti_status(tutti_copy_to_device)(tutti_buffer destination, const void *source, size_t bytes,
                                   tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "copy_to_device");
    const tutti_status status =
        tutti_check_copy_to_device(destination, source, bytes, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_stream(stream), error);
    return tutti_call_end(
        stream->device->driver->table.copy_to_device(destination, source, bytes, stream, error),
        error);
}

tutti_status(tutti_copy_to_host)(void *destination, tutti_buffer source, size_t bytes,
                                 tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "copy_to_host");
    const tutti_status status = tutti_check_copy_to_host(destination, source, bytes, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_stream(stream), error);
    return tutti_call_end(
        stream->device->driver->table.copy_to_host(destination, source, bytes, stream, error),
        error);
}

tutti_status(tutti_copy_on_device)(tutti_buffer destination, tutti_buffer source, size_t bytes,
                                   tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "copy_on_device");
    const tutti_status status =
        tutti_check_copy_on_device(destination, source, bytes, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_stream(stream), error);
    return tutti_call_end(
        stream->device->driver->table.copy_on_device(destination, source, bytes, stream, error),
        error);
}

tutti_status(tutti_fill)(tutti_buffer destination, uint8_t value, tutti_stream *stream,
                         tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "fill");
    const tutti_status status = tutti_check_fill(destination, stream, error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_stream(stream), error);
    return tutti_call_end(stream->device->driver->table.fill(destination, value, stream, error),
                          error);
}

tutti_status(tutti_host_function_enqueue)(tutti_stream *stream, tutti_host_function *function,
                                          void *argument, const tutti_buffer *reads,
                                          size_t read_count, const tutti_buffer *writes,
                                          size_t write_count, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "host_function");
    const tutti_status status =
        tutti_check_host_function(stream, function, reads, read_count, writes, write_count, error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_stream(stream), error);
    return tutti_call_end(stream->device->driver->table.host_function(stream, function, argument,
                                                                      reads, read_count, writes,
                                                                      write_count, error),
                          error);
}
