#include "src/call.h"

#include <assert.h>

#include "src/place.h"

tutti_error *tutti_call_begin(tutti_error *error, tutti_error *own, const char *operation) {
    tutti_error *used = error == NULL ? own : error;
    tutti_error_clear(used);
    used->operation = operation;
    used->place = tutti_place_take();
    return used;
}

tutti_status tutti_call_refused(tutti_driver *driver, tutti_error *error) {
    assert(error->status != TUTTI_OK);
    /* A driver that was never bound has an empty table, and that is what may have been refused. */
    const int can_be_told = driver != NULL && driver->table.call_refused != NULL;
    if (can_be_told) driver->table.call_refused(driver, error);
    return error->status;
}

tutti_status tutti_call_refused_on(const tutti_comm *comm, const tutti_stream *stream,
                                   tutti_error *error) {
    if (comm != NULL) error->rank = comm->rank;
    tutti_driver *driver = tutti_driver_of_comm(comm);
    return tutti_call_refused(driver == NULL ? tutti_driver_of_stream(stream) : driver, error);
}

tutti_status tutti_call_end(tutti_status status, tutti_error *error) {
    if (status == TUTTI_OK) {
        tutti_error_clear(error);
        return TUTTI_OK;
    }
    if (error->message[0] == '\0') {
        (void)tutti_error_set(error, status, "%s", tutti_status_text(status));
    }
    error->status = status;
    return status;
}

tutti_driver *tutti_driver_of_device(const tutti_device *device) {
    return device == NULL ? NULL : device->driver;
}

tutti_driver *tutti_driver_of_stream(const tutti_stream *stream) {
    return stream == NULL ? NULL : tutti_driver_of_device(stream->device);
}

tutti_driver *tutti_driver_of_event(const tutti_event *event) {
    return event == NULL ? NULL : tutti_driver_of_device(event->device);
}

tutti_driver *tutti_driver_of_comm(const tutti_comm *comm) {
    return comm == NULL ? NULL : tutti_driver_of_device(comm->device);
}
