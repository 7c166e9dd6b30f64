#include "tutti/operations.h"

#include "src/arguments.h"
#include "src/call.h"

/* Ends a refused call that has an event and a stream: the event's driver is told, or else the
 * stream's. */
static tutti_status refused_at(const tutti_event *event, const tutti_stream *stream,
                               tutti_error *error) {
    tutti_driver *driver = tutti_driver_of_event(event);
    return tutti_call_refused(driver == NULL ? tutti_driver_of_stream(stream) : driver, error);
}

tutti_status(tutti_stream_create)(tutti_device *device, const tutti_stream_options *options,
                                  tutti_stream **stream_out, tutti_error *error) {
    tutti_error own;
    tutti_stream_options full;
    error = tutti_call_begin(error, &own, "stream_create");
    tutti_status status = tutti_check_device(device, error);
    if (status == TUTTI_OK) status = tutti_complete_stream_options(options, &full, error);
    if (status == TUTTI_OK) status = tutti_check_output(stream_out, "stream_out", error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_device(device), error);
    return tutti_call_end(device->driver->table.stream_create(device, &full, stream_out, error),
                          error);
}

void tutti_stream_destroy(tutti_stream *stream) {
    if (stream != NULL) stream->device->driver->table.stream_destroy(stream);
}

tutti_status(tutti_stream_synchronize)(tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "stream_synchronize");
    const tutti_status status = tutti_check_stream(stream, error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_stream(stream), error);
    return tutti_call_end(stream->device->driver->table.stream_synchronize(stream, error), error);
}

tutti_status(tutti_stream_query)(tutti_stream *stream, int *done_out, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "stream_query");
    tutti_status status = tutti_check_stream(stream, error);
    if (status == TUTTI_OK) status = tutti_check_output(done_out, "done_out", error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_stream(stream), error);
    return tutti_call_end(stream->device->driver->table.stream_query(stream, done_out, error),
                          error);
}

tutti_status(tutti_event_create)(tutti_device *device, tutti_event **event_out,
                                 tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "event_create");
    tutti_status status = tutti_check_device(device, error);
    if (status == TUTTI_OK) status = tutti_check_output(event_out, "event_out", error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_device(device), error);
    return tutti_call_end(device->driver->table.event_create(device, event_out, error), error);
}

void tutti_event_destroy(tutti_event *event) {
    if (event != NULL) event->device->driver->table.event_destroy(event);
}

tutti_status(tutti_event_record)(tutti_event *event, tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "event_record");
    const tutti_status status = tutti_check_event_record(event, stream, error);
    if (status != TUTTI_OK) return refused_at(event, stream, error);
    return tutti_call_end(event->device->driver->table.event_record(event, stream, error), error);
}

tutti_status(tutti_event_wait)(tutti_event *event, tutti_stream *stream, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "event_wait");
    const tutti_status status = tutti_check_event_wait(event, stream, error);
    if (status != TUTTI_OK) return refused_at(event, stream, error);
    return tutti_call_end(event->device->driver->table.event_wait(event, stream, error), error);
}

tutti_status(tutti_event_query)(tutti_event *event, int *done_out, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "event_query");
    tutti_status status = tutti_check_event(event, error);
    if (status == TUTTI_OK) status = tutti_check_output(done_out, "done_out", error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_event(event), error);
    return tutti_call_end(event->device->driver->table.event_query(event, done_out, error), error);
}

tutti_status(tutti_event_synchronize)(tutti_event *event, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "event_synchronize");
    const tutti_status status = tutti_check_event(event, error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_event(event), error);
    return tutti_call_end(event->device->driver->table.event_synchronize(event, error), error);
}
