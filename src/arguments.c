#include "src/arguments.h"

#include "src/device_text.h"

tutti_status tutti_check_driver(const tutti_driver *driver, tutti_error *error) {
    if (driver == NULL) return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "driver is NULL");
    if (driver->table.struct_size == 0) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "driver has an empty table: bind one with tutti_driver_bind()");
    }
    return TUTTI_OK;
}

static tutti_status refuse_null(const char *name, const char *maker, tutti_error *error) {
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "%s is NULL: pass one that %s gave", name,
                           maker);
}

/* A handle that leads nowhere: zeroed memory, or memory that was given back and used again. */
static tutti_status refuse_unowned(const char *name, const char *maker, tutti_error *error) {
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "%s belongs to no driver: pass one that %s gave and nothing has given "
                           "back",
                           name, maker);
}

tutti_status tutti_check_device(const tutti_device *device, tutti_error *error) {
    if (device == NULL) return refuse_null("device", "tutti_device_open()", error);
    if (device->driver == NULL) return refuse_unowned("device", "tutti_device_open()", error);
    return TUTTI_OK;
}

tutti_status tutti_check_stream(const tutti_stream *stream, tutti_error *error) {
    if (stream == NULL) return refuse_null("stream", "tutti_stream_create()", error);
    const int is_owned = stream->device != NULL && stream->device->driver != NULL;
    return is_owned ? TUTTI_OK : refuse_unowned("stream", "tutti_stream_create()", error);
}

tutti_status tutti_check_event(const tutti_event *event, tutti_error *error) {
    if (event == NULL) return refuse_null("event", "tutti_event_create()", error);
    const int is_owned = event->device != NULL && event->device->driver != NULL;
    return is_owned ? TUTTI_OK : refuse_unowned("event", "tutti_event_create()", error);
}

tutti_status tutti_check_comm(const tutti_comm *comm, tutti_error *error) {
    if (comm == NULL) return refuse_null("comm", "tutti_join()", error);
    const int is_owned = comm->device != NULL && comm->device->driver != NULL;
    return is_owned ? TUTTI_OK : refuse_unowned("comm", "tutti_join()", error);
}

tutti_status tutti_check_output(const void *output, const char *name, tutti_error *error) {
    if (output != NULL) return TUTTI_OK;
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "%s is NULL: pass the address that the result shall be written to",
                           name);
}

tutti_status tutti_check_buffer(tutti_buffer buffer, const char *name, tutti_error *error) {
    if (buffer.data != NULL || buffer.bytes == 0) return TUTTI_OK;
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "%s.data is NULL, and %s.bytes is %zu",
                           name, name, buffer.bytes);
}

/* Two devices in one call that belong to two drivers. `first` and `second` say whose they are. */
static tutti_status refuse_two_drivers(const char *first, const tutti_device *first_device,
                                       const char *second, const tutti_device *second_device,
                                       tutti_error *error) {
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "%s belongs to a driver \"%s\", %s to another one, \"%s\": a call takes "
                           "handles of one driver",
                           first, first_device->driver->table.name, second,
                           second_device->driver->table.name);
}

tutti_status tutti_check_same_device(const char *first, const tutti_device *first_device,
                                     const char *second, const tutti_device *second_device,
                                     tutti_error *error) {
    if (first_device == second_device) return TUTTI_OK;
    if (first_device->driver != second_device->driver) {
        return refuse_two_drivers(first, first_device, second, second_device, error);
    }
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "%s is on device %s, %s on device %s: pass two of one device", first,
                           tutti_device_text_of(first_device->id).text, second,
                           tutti_device_text_of(second_device->id).text);
}

tutti_status tutti_check_event_record(const tutti_event *event, const tutti_stream *stream,
                                      tutti_error *error) {
    tutti_status status = tutti_check_event(event, error);
    if (status == TUTTI_OK) status = tutti_check_stream(stream, error);
    if (status != TUTTI_OK) return status;
    return tutti_check_same_device("the event", event->device, "the stream", stream->device, error);
}

tutti_status tutti_check_event_wait(const tutti_event *event, const tutti_stream *stream,
                                    tutti_error *error) {
    tutti_status status = tutti_check_event(event, error);
    if (status == TUTTI_OK) status = tutti_check_stream(stream, error);
    if (status != TUTTI_OK) return status;
    if (event->device->driver == stream->device->driver) return TUTTI_OK;
    return refuse_two_drivers("the event", event->device, "the stream", stream->device, error);
}
