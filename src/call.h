#ifndef TUTTI_SRC_CALL_H
#define TUTTI_SRC_CALL_H

/* The frame around every checked call, the same for all of tutti/operations.h:
 *
 *     tutti_error own;
 *     error = tutti_call_begin(error, &own, "all_reduce");
 *     if (tutti_check_...(..., error) != TUTTI_OK) return tutti_call_refused(driver, error);
 *     return tutti_call_end(driver->table...(..., error), error);
 */

#include "tutti/driver.h"

/* Picks the error that the call works with, the caller's or `own` where that is NULL: empty but
 * for the operation's name and the place that was noted for this call. */
tutti_error *tutti_call_begin(tutti_error *error, tutti_error *own, const char *operation);

/* Ends a call whose arguments were refused: error says why. The driver, if one is known, is told.
 * Returns the error's status. */
tutti_status tutti_call_refused(tutti_driver *driver, tutti_error *error);

/* As tutti_call_refused(), of a call on a communicator, whose rank the error gets. The stream's
 * driver is told where the communicator leads to none; stream may be NULL. */
tutti_status tutti_call_refused_on(const tutti_comm *comm, const tutti_stream *stream,
                                   tutti_error *error);

/* Ends a call that a driver answered with `status`. Success empties the error; a failure is never
 * without a text. Returns status. */
tutti_status tutti_call_end(tutti_status status, tutti_error *error);

/* The driver of a handle; NULL when the handle leads to none. */
tutti_driver *tutti_driver_of_device(const tutti_device *device);
tutti_driver *tutti_driver_of_stream(const tutti_stream *stream);
tutti_driver *tutti_driver_of_event(const tutti_event *event);
tutti_driver *tutti_driver_of_comm(const tutti_comm *comm);

#endif
