#include "tutti/operations.h"

#include "src/arguments.h"
#include "src/call.h"

tutti_status(tutti_group_id)(tutti_driver *driver, tutti_communication_id communication_id,
                             tutti_unique_id *id_out, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "group_id");
    tutti_status status = tutti_check_driver(driver, error);
    if (status == TUTTI_OK) status = tutti_check_output(id_out, "id_out", error);
    if (status != TUTTI_OK) return tutti_call_refused(driver, error);
    return tutti_call_end(driver->table.group_id(driver, communication_id, id_out, error), error);
}

tutti_status(tutti_join)(tutti_device *device, const tutti_unique_id *id, int32_t rank_count,
                         int32_t rank, const tutti_join_options *options, tutti_comm **comm_out,
                         tutti_error *error) {
    tutti_error own;
    tutti_join_options full;
    error = tutti_call_begin(error, &own, "join");
    tutti_status status = tutti_check_join(device, id, rank_count, rank, error);
    if (status == TUTTI_OK) status = tutti_complete_join_options(options, &full, error);
    if (status == TUTTI_OK) status = tutti_check_output(comm_out, "comm_out", error);
    if (status != TUTTI_OK) return tutti_call_refused(tutti_driver_of_device(device), error);
    return tutti_call_end(
        device->driver->table.join(device, id, rank_count, rank, &full, comm_out, error), error);
}

tutti_status(tutti_leave)(tutti_comm *comm, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "leave");
    const tutti_status status = tutti_check_comm(comm, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, NULL, error);
    return tutti_call_end(comm->device->driver->table.leave(comm, error), error);
}

tutti_status(tutti_comm_abort)(tutti_comm *comm, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "comm_abort");
    const tutti_status status = tutti_check_comm(comm, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, NULL, error);
    return tutti_call_end(comm->device->driver->table.comm_abort(comm, error), error);
}

tutti_status(tutti_comm_status)(tutti_comm *comm, tutti_status *status_out, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "comm_status");
    tutti_status status = tutti_check_comm(comm, error);
    if (status == TUTTI_OK) status = tutti_check_output(status_out, "status_out", error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, NULL, error);
    return tutti_call_end(comm->device->driver->table.comm_status(comm, status_out, error), error);
}

tutti_status(tutti_comm_synchronize)(tutti_comm *comm, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "comm_synchronize");
    const tutti_status status = tutti_check_comm(comm, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, NULL, error);
    return tutti_call_end(comm->device->driver->table.comm_synchronize(comm, error), error);
}

tutti_status(tutti_comm_split)(tutti_comm *comm, int32_t color, int32_t key, tutti_comm **comm_out,
                               tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "comm_split");
    tutti_status status = tutti_check_comm(comm, error);
    if (status == TUTTI_OK) status = tutti_check_output(comm_out, "comm_out", error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, NULL, error);
    return tutti_call_end(comm->device->driver->table.comm_split(comm, color, key, comm_out, error),
                          error);
}

tutti_status(tutti_comm_shrink)(tutti_comm *comm, const int32_t *excluded, size_t excluded_count,
                                tutti_comm **comm_out, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "comm_shrink");
    tutti_status status = tutti_check_comm_shrink(comm, excluded, excluded_count, error);
    if (status == TUTTI_OK) status = tutti_check_output(comm_out, "comm_out", error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, NULL, error);
    return tutti_call_end(
        comm->device->driver->table.comm_shrink(comm, excluded, excluded_count, comm_out, error),
        error);
}

tutti_status(tutti_comm_revoke)(tutti_comm *comm, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "comm_revoke");
    const tutti_status status = tutti_check_comm(comm, error);
    if (status != TUTTI_OK) return tutti_call_refused_on(comm, NULL, error);
    return tutti_call_end(comm->device->driver->table.comm_revoke(comm, error), error);
}

tutti_status(tutti_group_start)(tutti_driver *driver, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "group_start");
    const tutti_status status = tutti_check_driver(driver, error);
    if (status != TUTTI_OK) return tutti_call_refused(driver, error);
    return tutti_call_end(driver->table.group_start(driver, error), error);
}

tutti_status(tutti_group_end)(tutti_driver *driver, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "group_end");
    const tutti_status status = tutti_check_driver(driver, error);
    if (status != TUTTI_OK) return tutti_call_refused(driver, error);
    return tutti_call_end(driver->table.group_end(driver, error), error);
}
