#include "src/arguments.h"

#include <inttypes.h>

tutti_status tutti_check_device_open(const tutti_driver *driver, uint32_t index,
                                     uint32_t device_count, tutti_error *error) {
    if (index < device_count) return TUTTI_OK;
    if (device_count == 0) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "index is %" PRIu32 ": the driver \"%s\" has no device", index,
                               driver->table.name);
    }
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "index is %" PRIu32 ": the driver \"%s\" has devices 0 to %" PRIu32,
                           index, driver->table.name, device_count - 1);
}

tutti_status tutti_check_memory_free(const tutti_device *device, tutti_buffer buffer,
                                     tutti_error *error) {
    const tutti_status status = tutti_check_device(device, error);
    if (status != TUTTI_OK) return status;
    return tutti_check_buffer(buffer, "buffer", error);
}

/* The device's side of a copy. `verb` is what the copy does with it. */
static tutti_status check_range(tutti_buffer buffer, size_t bytes, const char *name,
                                const char *verb, tutti_error *error) {
    if (bytes == 0) return TUTTI_OK;
    if (buffer.bytes < bytes) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "%s has %zu bytes, the copy %s %zu: pass a larger buffer or fewer "
                               "bytes",
                               name, buffer.bytes, verb, bytes);
    }
    return tutti_check_buffer(buffer, name, error);
}

static tutti_status check_host_memory(const void *memory, size_t bytes, const char *name,
                                      tutti_error *error) {
    if (memory != NULL || bytes == 0) return TUTTI_OK;
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "%s is NULL, and bytes is %zu: pass the address of host memory", name,
                           bytes);
}

tutti_status tutti_check_copy_to_device(tutti_buffer destination, const void *source, size_t bytes,
                                        const tutti_stream *stream, tutti_error *error) {
    tutti_status status = tutti_check_stream(stream, error);
    if (status == TUTTI_OK)
        status = check_range(destination, bytes, "destination", "writes", error);
    if (status == TUTTI_OK) status = check_host_memory(source, bytes, "source", error);
    return status;
}

tutti_status tutti_check_copy_to_host(const void *destination, tutti_buffer source, size_t bytes,
                                      const tutti_stream *stream, tutti_error *error) {
    tutti_status status = tutti_check_stream(stream, error);
    if (status == TUTTI_OK) status = check_host_memory(destination, bytes, "destination", error);
    if (status == TUTTI_OK) status = check_range(source, bytes, "source", "reads", error);
    return status;
}

tutti_status tutti_check_copy_on_device(tutti_buffer destination, tutti_buffer source, size_t bytes,
                                        const tutti_stream *stream, tutti_error *error) {
    tutti_status status = tutti_check_stream(stream, error);
    if (status == TUTTI_OK)
        status = check_range(destination, bytes, "destination", "writes", error);
    if (status == TUTTI_OK) status = check_range(source, bytes, "source", "reads", error);
    return status;
}

tutti_status tutti_check_fill(tutti_buffer destination, const tutti_stream *stream,
                              tutti_error *error) {
    const tutti_status status = tutti_check_stream(stream, error);
    if (status != TUTTI_OK) return status;
    return tutti_check_buffer(destination, "destination", error);
}

/* A list of what a host function touches. */
static tutti_status check_accesses(const tutti_buffer *buffers, size_t count, const char *name,
                                   const char *count_name, tutti_error *error) {
    if (buffers == NULL && count > 0) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "%s is NULL, and %s is %zu", name,
                               count_name, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (buffers[i].data != NULL || buffers[i].bytes == 0) continue;
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "%s[%zu].data is NULL, and %s[%zu].bytes is %zu", name, i, name, i,
                               buffers[i].bytes);
    }
    return TUTTI_OK;
}

tutti_status tutti_check_host_function(const tutti_stream *stream, tutti_host_function *function,
                                       const tutti_buffer *reads, size_t read_count,
                                       const tutti_buffer *writes, size_t write_count,
                                       tutti_error *error) {
    tutti_status status = tutti_check_stream(stream, error);
    if (status != TUTTI_OK) return status;
    if (function == NULL) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "function is NULL: pass the function that the stream shall run");
    }
    status = check_accesses(reads, read_count, "reads", "read_count", error);
    if (status != TUTTI_OK) return status;
    return check_accesses(writes, write_count, "writes", "write_count", error);
}
