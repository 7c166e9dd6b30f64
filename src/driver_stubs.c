#include "src/driver_stubs.h"

/* Refuses a call of an operation that the driver lacks, and tells it. Like every refusal of ours it
 * has no rank but a communicator's. */
static tutti_status refuse_absent(tutti_driver *driver, int32_t rank, const char *operation,
                                  tutti_error *error) {
    if (error->operation == NULL) error->operation = operation;
    error->rank = rank;
    const tutti_status status =
        tutti_error_set(error, TUTTI_UNSUPPORTED, "the driver \"%s\" does not offer %s",
                        driver->table.name, operation);
    driver->table.call_refused(driver, error);
    return status;
}

static tutti_status refuse_absent_on(const tutti_comm *comm, const char *operation,
                                     tutti_error *error) {
    return refuse_absent(comm->device->driver, comm->rank, operation, error);
}

/* Stands for a driver that does not want to know. */
static void absent_call_refused(tutti_driver *driver, const tutti_error *error) {
    (void)driver;
    (void)error;
}

static tutti_status absent_comm_abort(tutti_comm *comm, tutti_error *error) {
    return refuse_absent_on(comm, "comm_abort", error);
}

static tutti_status absent_comm_status(tutti_comm *comm, tutti_status *status_out,
                                       tutti_error *error) {
    (void)status_out;
    return refuse_absent_on(comm, "comm_status", error);
}

static tutti_status absent_comm_synchronize(tutti_comm *comm, tutti_error *error) {
    return refuse_absent_on(comm, "comm_synchronize", error);
}

static tutti_status absent_group_start(tutti_driver *driver, tutti_error *error) {
    return refuse_absent(driver, -1, "group_start", error);
}

static tutti_status absent_group_end(tutti_driver *driver, tutti_error *error) {
    return refuse_absent(driver, -1, "group_end", error);
}

static tutti_status absent_memory_owner(tutti_driver *driver, const void *address,
                                        tutti_device **device_out, tutti_buffer *allocation_out,
                                        tutti_error *error) {
    (void)address;
    (void)device_out;
    (void)allocation_out;
    return refuse_absent(driver, -1, "memory_owner", error);
}

static tutti_status absent_comm_split(tutti_comm *comm, int32_t color, int32_t key,
                                      tutti_comm **comm_out, tutti_error *error) {
    (void)color;
    (void)key;
    (void)comm_out;
    return refuse_absent_on(comm, "comm_split", error);
}

static tutti_status absent_comm_shrink(tutti_comm *comm, const int32_t *excluded,
                                       size_t excluded_count, tutti_comm **comm_out,
                                       tutti_error *error) {
    (void)excluded;
    (void)excluded_count;
    (void)comm_out;
    return refuse_absent_on(comm, "comm_shrink", error);
}

static tutti_status absent_comm_revoke(tutti_comm *comm, tutti_error *error) {
    return refuse_absent_on(comm, "comm_revoke", error);
}

static tutti_status absent_broadcast(tutti_comm *comm, tutti_buffer source,
                                     tutti_buffer destination, tutti_data_type data_type,
                                     size_t count, int32_t root, tutti_stream *stream,
                                     tutti_error *error) {
    (void)source;
    (void)destination;
    (void)data_type;
    (void)count;
    (void)root;
    (void)stream;
    return refuse_absent_on(comm, "broadcast", error);
}

static tutti_status absent_reduce(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                                  tutti_data_type data_type, size_t count, tutti_reduce_op op,
                                  int32_t root, tutti_stream *stream, tutti_error *error) {
    (void)source;
    (void)destination;
    (void)data_type;
    (void)count;
    (void)op;
    (void)root;
    (void)stream;
    return refuse_absent_on(comm, "reduce", error);
}

static tutti_status absent_all_gather(tutti_comm *comm, tutti_buffer source,
                                      tutti_buffer destination, tutti_data_type data_type,
                                      size_t count, tutti_stream *stream, tutti_error *error) {
    (void)source;
    (void)destination;
    (void)data_type;
    (void)count;
    (void)stream;
    return refuse_absent_on(comm, "all_gather", error);
}

static tutti_status absent_reduce_scatter(tutti_comm *comm, tutti_buffer source,
                                          tutti_buffer destination, tutti_data_type data_type,
                                          size_t count, tutti_reduce_op op, tutti_stream *stream,
                                          tutti_error *error) {
    (void)source;
    (void)destination;
    (void)data_type;
    (void)count;
    (void)op;
    (void)stream;
    return refuse_absent_on(comm, "reduce_scatter", error);
}

static tutti_status absent_all_to_all(tutti_comm *comm, tutti_buffer source,
                                      tutti_buffer destination, tutti_data_type data_type,
                                      size_t count, tutti_stream *stream, tutti_error *error) {
    (void)source;
    (void)destination;
    (void)data_type;
    (void)count;
    (void)stream;
    return refuse_absent_on(comm, "all_to_all", error);
}

static tutti_status absent_gather(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                                  tutti_data_type data_type, size_t count, int32_t root,
                                  tutti_stream *stream, tutti_error *error) {
    (void)source;
    (void)destination;
    (void)data_type;
    (void)count;
    (void)root;
    (void)stream;
    return refuse_absent_on(comm, "gather", error);
}

static tutti_status absent_scatter(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                                   tutti_data_type data_type, size_t count, int32_t root,
                                   tutti_stream *stream, tutti_error *error) {
    (void)source;
    (void)destination;
    (void)data_type;
    (void)count;
    (void)root;
    (void)stream;
    return refuse_absent_on(comm, "scatter", error);
}

static tutti_status absent_barrier(tutti_comm *comm, tutti_stream *stream, tutti_error *error) {
    (void)stream;
    return refuse_absent_on(comm, "barrier", error);
}

void tutti_driver_fill_stubs(tutti_driver_table *table) {
    if (table->comm_abort == NULL) table->comm_abort = absent_comm_abort;
    if (table->comm_status == NULL) table->comm_status = absent_comm_status;
    if (table->comm_synchronize == NULL) table->comm_synchronize = absent_comm_synchronize;
    if (table->group_start == NULL) table->group_start = absent_group_start;
    if (table->group_end == NULL) table->group_end = absent_group_end;
    if (table->call_refused == NULL) table->call_refused = absent_call_refused;
    if (table->memory_owner == NULL) table->memory_owner = absent_memory_owner;
    if (table->comm_split == NULL) table->comm_split = absent_comm_split;
    if (table->comm_shrink == NULL) table->comm_shrink = absent_comm_shrink;
    if (table->comm_revoke == NULL) table->comm_revoke = absent_comm_revoke;
    if (table->broadcast == NULL) table->broadcast = absent_broadcast;
    if (table->reduce == NULL) table->reduce = absent_reduce;
    if (table->all_gather == NULL) table->all_gather = absent_all_gather;
    if (table->reduce_scatter == NULL) table->reduce_scatter = absent_reduce_scatter;
    if (table->all_to_all == NULL) table->all_to_all = absent_all_to_all;
    if (table->gather == NULL) table->gather = absent_gather;
    if (table->scatter == NULL) table->scatter = absent_scatter;
    if (table->barrier == NULL) table->barrier = absent_barrier;
}
