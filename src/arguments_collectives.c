#include "src/arguments.h"

#include <assert.h>
#include <inttypes.h>

/* Which of the two handles is wrong, and how. */
static tutti_status examine_handles(const tutti_comm *comm, const tutti_stream *stream,
                                    tutti_error *error) {
    tutti_status status = tutti_check_comm(comm, error);
    if (status == TUTTI_OK) status = tutti_check_stream(stream, error);
    if (status != TUTTI_OK) return status;
    return tutti_check_same_device("the stream", stream->device, "the communicator", comm->device,
                                   error);
}

/* The handles, which every operation has. Right ones pass at a glance: this is every call's way. */
static inline tutti_status check_handles(const tutti_comm *comm, const tutti_stream *stream,
                                         tutti_error *error) {
    const int are_right = comm != NULL && stream != NULL && comm->device == stream->device &&
                          comm->device != NULL && comm->device->driver != NULL;
    return are_right ? TUTTI_OK : examine_handles(comm, stream, error);
}

static tutti_status refuse_data_type(tutti_data_type data_type, uint32_t width_bytes,
                                     tutti_error *error) {
    const char *name = tutti_element_type_name(data_type.element_type);
    if (width_bytes == 0) {
        return tutti_error_set(
            error, TUTTI_INVALID_ARGUMENT,
            "data_type is %s (%d): collectives do not carry it, pass a type that "
            "tutti_data_type_of() gave",
            name, (int)data_type.element_type);
    }
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "data_type.width_bytes is %" PRIu32 ", and %s has %" PRIu32
                           ": pass a type that tutti_data_type_of() gave",
                           data_type.width_bytes, name, width_bytes);
}

/* The width is compared since it is what ranges are computed with. */
static tutti_status check_data_type(tutti_data_type data_type, tutti_error *error) {
    const uint32_t width_bytes = tutti_element_type_width_bytes(data_type.element_type);
    if (width_bytes != 0 && width_bytes == data_type.width_bytes) return TUTTI_OK;
    return refuse_data_type(data_type, width_bytes, error);
}

static tutti_status check_op(tutti_reduce_op op, tutti_error *error) {
    if ((unsigned)op < TUTTI_REDUCE_OP_COUNT) return TUTTI_OK;
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "op is %d: the reductions are 0 to %d, sum, prod, max, min and mean",
                           (int)op, TUTTI_REDUCE_OP_COUNT - 1);
}

/* A rank of the communicator; `name` is the parameter's, "peer" or "root". */
static tutti_status check_rank(const tutti_comm *comm, int32_t rank, const char *name,
                               tutti_error *error) {
    if (rank >= 0 && rank < comm->rank_count) return TUTTI_OK;
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "%s is %" PRId32 ": the communicator has ranks 0 to %" PRId32, name,
                           rank, comm->rank_count - 1);
}

/* What an operation does with one of its buffers. */
typedef struct buffer_use {
    const char *name; /* the parameter's */
    const char *verb; /* "reads" or "writes" */
} buffer_use;

static const buffer_use SOURCE = {"source", "reads"};
static const buffer_use DESTINATION = {"destination", "writes"};

static tutti_status refuse_too_small(tutti_buffer buffer, tutti_data_type data_type, size_t count,
                                     const buffer_use *use, tutti_error *error) {
    const char *type_name = tutti_element_type_name(data_type.element_type);
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "%s holds %zu %s elements (%zu bytes), the operation %s %zu (%zu "
                           "bytes): pass a larger buffer or a smaller count",
                           use->name, buffer.bytes / data_type.width_bytes, type_name, buffer.bytes,
                           use->verb, count, count * data_type.width_bytes);
}

/* Elements that can be counted in bytes whatever their type: no width is larger than 8 bytes, so
 * the hot path compares with one constant and divides nothing. */
#define ELEMENTS_MAX (SIZE_MAX / 8)

static tutti_status refuse_overflow(tutti_data_type data_type, size_t count, const buffer_use *use,
                                    tutti_error *error) {
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "count is %zu: no %s can hold so many %s elements", count, use->name,
                           tutti_element_type_name(data_type.element_type));
}

static tutti_status refuse_misaligned(tutti_data_type data_type, uintptr_t excess_bytes,
                                      const buffer_use *use, tutti_error *error) {
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "%s.data is %u bytes behind a multiple of %" PRIu32 ", the width of "
                           "%s: elements must be aligned",
                           use->name, (unsigned)excess_bytes, data_type.width_bytes,
                           tutti_element_type_name(data_type.element_type));
}

/* A buffer of which an operation uses `count` elements. Widths are powers of two. */
static tutti_status check_data(tutti_buffer buffer, tutti_data_type data_type, size_t count,
                               const buffer_use *use, tutti_error *error) {
    if (count == 0) return TUTTI_OK;
    if (count > ELEMENTS_MAX) return refuse_overflow(data_type, count, use, error);
    if (buffer.bytes < count * data_type.width_bytes) {
        return refuse_too_small(buffer, data_type, count, use, error);
    }
    const uintptr_t excess_bytes = (uintptr_t)buffer.data & (data_type.width_bytes - 1);
    if (excess_bytes != 0) return refuse_misaligned(data_type, excess_bytes, use, error);
    return buffer.data != NULL ? TUTTI_OK : tutti_check_buffer(buffer, use->name, error);
}

/* As check_data(), for a buffer that holds `count` elements for each rank. */
static tutti_status check_data_of_all(tutti_buffer buffer, const tutti_comm *comm,
                                      tutti_data_type data_type, size_t count,
                                      const buffer_use *use, tutti_error *error) {
    assert(comm->rank_count >= 1);
    const size_t rank_count = (size_t)comm->rank_count;
    if (count > ELEMENTS_MAX / rank_count) return refuse_overflow(data_type, count, use, error);
    return check_data(buffer, data_type, count * rank_count, use, error);
}

tutti_status tutti_check_all_reduce(const tutti_comm *comm, tutti_buffer source,
                                    tutti_buffer destination, tutti_data_type data_type,
                                    size_t count, tutti_reduce_op op, const tutti_stream *stream,
                                    tutti_error *error) {
    tutti_status status = check_handles(comm, stream, error);
    if (status == TUTTI_OK) status = check_data_type(data_type, error);
    if (status == TUTTI_OK) status = check_op(op, error);
    if (status == TUTTI_OK) status = check_data(source, data_type, count, &SOURCE, error);
    if (status == TUTTI_OK) status = check_data(destination, data_type, count, &DESTINATION, error);
    return status;
}

tutti_status tutti_check_send(const tutti_comm *comm, tutti_buffer source,
                              tutti_data_type data_type, size_t count, int32_t peer,
                              const tutti_stream *stream, tutti_error *error) {
    tutti_status status = check_handles(comm, stream, error);
    if (status == TUTTI_OK) status = check_data_type(data_type, error);
    if (status == TUTTI_OK) status = check_rank(comm, peer, "peer", error);
    if (status == TUTTI_OK) status = check_data(source, data_type, count, &SOURCE, error);
    return status;
}

tutti_status tutti_check_recv(const tutti_comm *comm, tutti_buffer destination,
                              tutti_data_type data_type, size_t count, int32_t peer,
                              const tutti_stream *stream, tutti_error *error) {
    tutti_status status = check_handles(comm, stream, error);
    if (status == TUTTI_OK) status = check_data_type(data_type, error);
    if (status == TUTTI_OK) status = check_rank(comm, peer, "peer", error);
    if (status == TUTTI_OK) status = check_data(destination, data_type, count, &DESTINATION, error);
    return status;
}

tutti_status tutti_check_broadcast(const tutti_comm *comm, tutti_buffer source,
                                   tutti_buffer destination, tutti_data_type data_type,
                                   size_t count, int32_t root, const tutti_stream *stream,
                                   tutti_error *error) {
    tutti_status status = check_handles(comm, stream, error);
    if (status == TUTTI_OK) status = check_data_type(data_type, error);
    if (status == TUTTI_OK) status = check_rank(comm, root, "root", error);
    if (status != TUTTI_OK) return status;
    if (comm->rank == root) status = check_data(source, data_type, count, &SOURCE, error);
    if (status == TUTTI_OK) status = check_data(destination, data_type, count, &DESTINATION, error);
    return status;
}

tutti_status tutti_check_reduce(const tutti_comm *comm, tutti_buffer source,
                                tutti_buffer destination, tutti_data_type data_type, size_t count,
                                tutti_reduce_op op, int32_t root, const tutti_stream *stream,
                                tutti_error *error) {
    tutti_status status = check_handles(comm, stream, error);
    if (status == TUTTI_OK) status = check_data_type(data_type, error);
    if (status == TUTTI_OK) status = check_op(op, error);
    if (status == TUTTI_OK) status = check_rank(comm, root, "root", error);
    if (status == TUTTI_OK) status = check_data(source, data_type, count, &SOURCE, error);
    if (status != TUTTI_OK || comm->rank != root) return status;
    return check_data(destination, data_type, count, &DESTINATION, error);
}

tutti_status tutti_check_all_gather(const tutti_comm *comm, tutti_buffer source,
                                    tutti_buffer destination, tutti_data_type data_type,
                                    size_t count, const tutti_stream *stream, tutti_error *error) {
    tutti_status status = check_handles(comm, stream, error);
    if (status == TUTTI_OK) status = check_data_type(data_type, error);
    if (status == TUTTI_OK) status = check_data(source, data_type, count, &SOURCE, error);
    if (status != TUTTI_OK) return status;
    return check_data_of_all(destination, comm, data_type, count, &DESTINATION, error);
}

tutti_status tutti_check_reduce_scatter(const tutti_comm *comm, tutti_buffer source,
                                        tutti_buffer destination, tutti_data_type data_type,
                                        size_t count, tutti_reduce_op op,
                                        const tutti_stream *stream, tutti_error *error) {
    tutti_status status = check_handles(comm, stream, error);
    if (status == TUTTI_OK) status = check_data_type(data_type, error);
    if (status == TUTTI_OK) status = check_op(op, error);
    if (status != TUTTI_OK) return status;
    status = check_data_of_all(source, comm, data_type, count, &SOURCE, error);
    if (status == TUTTI_OK) status = check_data(destination, data_type, count, &DESTINATION, error);
    return status;
}

tutti_status tutti_check_all_to_all(const tutti_comm *comm, tutti_buffer source,
                                    tutti_buffer destination, tutti_data_type data_type,
                                    size_t count, const tutti_stream *stream, tutti_error *error) {
    tutti_status status = check_handles(comm, stream, error);
    if (status == TUTTI_OK) status = check_data_type(data_type, error);
    if (status != TUTTI_OK) return status;
    status = check_data_of_all(source, comm, data_type, count, &SOURCE, error);
    if (status != TUTTI_OK) return status;
    return check_data_of_all(destination, comm, data_type, count, &DESTINATION, error);
}

tutti_status tutti_check_gather(const tutti_comm *comm, tutti_buffer source,
                                tutti_buffer destination, tutti_data_type data_type, size_t count,
                                int32_t root, const tutti_stream *stream, tutti_error *error) {
    tutti_status status = check_handles(comm, stream, error);
    if (status == TUTTI_OK) status = check_data_type(data_type, error);
    if (status == TUTTI_OK) status = check_rank(comm, root, "root", error);
    if (status == TUTTI_OK) status = check_data(source, data_type, count, &SOURCE, error);
    if (status != TUTTI_OK || comm->rank != root) return status;
    return check_data_of_all(destination, comm, data_type, count, &DESTINATION, error);
}

tutti_status tutti_check_scatter(const tutti_comm *comm, tutti_buffer source,
                                 tutti_buffer destination, tutti_data_type data_type, size_t count,
                                 int32_t root, const tutti_stream *stream, tutti_error *error) {
    tutti_status status = check_handles(comm, stream, error);
    if (status == TUTTI_OK) status = check_data_type(data_type, error);
    if (status == TUTTI_OK) status = check_rank(comm, root, "root", error);
    if (status != TUTTI_OK) return status;
    if (comm->rank == root) {
        status = check_data_of_all(source, comm, data_type, count, &SOURCE, error);
    }
    if (status == TUTTI_OK) status = check_data(destination, data_type, count, &DESTINATION, error);
    return status;
}

tutti_status tutti_check_barrier(const tutti_comm *comm, const tutti_stream *stream,
                                 tutti_error *error) {
    return check_handles(comm, stream, error);
}
