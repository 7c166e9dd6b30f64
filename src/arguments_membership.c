#include "src/arguments.h"

#include <inttypes.h>
#include <string.h>

/* Options of every version fit in here; a larger struct_size was never set. */
enum { OPTIONS_BYTES_MAX = 4096 };

/* Copies what caller and library both know of a struct of options over the defaults in `full`.
 * `alignment` is the struct's: each sizeof is a multiple of it, and no field is cut. */
static tutti_status complete(const void *options, void *full, size_t full_bytes, size_t alignment,
                             const char *type_name, tutti_error *error) {
    uint32_t options_bytes; /* struct_size, the first field of every such struct */
    memcpy(&options_bytes, options, sizeof(options_bytes));
    const int is_a_size = options_bytes >= alignment && options_bytes % alignment == 0 &&
                          options_bytes <= OPTIONS_BYTES_MAX;
    if (!is_a_size) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "options->struct_size is %" PRIu32 ": set it to sizeof(%s), which "
                               "is %zu here",
                               options_bytes, type_name, full_bytes);
    }
    const unsigned char *bytes = options;
    for (size_t i = full_bytes; i < options_bytes; i++) {
        if (bytes[i] == 0) continue;
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "options has a value at byte %zu, behind the %zu bytes of %s that "
                               "this version knows: leave fields of later versions 0",
                               i, full_bytes, type_name);
    }
    memcpy(full, options, options_bytes < full_bytes ? options_bytes : full_bytes);
    return TUTTI_OK;
}

tutti_status tutti_complete_stream_options(const tutti_stream_options *options,
                                           tutti_stream_options *full_out, tutti_error *error) {
    tutti_stream_options full = {sizeof(full), TUTTI_STREAM_DEFAULT, 0, NULL};
    if (options != NULL) {
        const tutti_status status =
            complete(options, &full, sizeof(full), _Alignof(tutti_stream_options),
                     "tutti_stream_options", error);
        if (status != TUTTI_OK) return status;
    }
    const uint32_t known_flags = TUTTI_STREAM_NON_BLOCKING;
    if ((full.flags & ~known_flags) != 0) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "options->flags is %" PRIu32 ": the one flag there is, "
                               "TUTTI_STREAM_NON_BLOCKING, is %d",
                               full.flags, (int)TUTTI_STREAM_NON_BLOCKING);
    }
    full.struct_size = sizeof(full);
    *full_out = full;
    return TUTTI_OK;
}

static tutti_status check_join_values(const tutti_join_options *options, tutti_error *error) {
    if (options->non_blocking > 1) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "options->non_blocking is %" PRIu32 ": it is 0 or 1",
                               options->non_blocking);
    }
    if (options->timeout_ns < 0) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "options->timeout_ns is %" PRId64 ": it is a number of nanoseconds, "
                               "or 0 for the driver's own limit",
                               options->timeout_ns);
    }
    return TUTTI_OK;
}

tutti_status tutti_complete_join_options(const tutti_join_options *options,
                                         tutti_join_options *full_out, tutti_error *error) {
    tutti_join_options full = {sizeof(full), 0, 0, NULL};
    if (options != NULL) {
        tutti_status status = complete(options, &full, sizeof(full), _Alignof(tutti_join_options),
                                       "tutti_join_options", error);
        if (status == TUTTI_OK) status = check_join_values(&full, error);
        if (status != TUTTI_OK) return status;
    }
    full.struct_size = sizeof(full);
    *full_out = full;
    return TUTTI_OK;
}

tutti_status tutti_check_join(const tutti_device *device, const tutti_unique_id *id,
                              int32_t rank_count, int32_t rank, tutti_error *error) {
    const tutti_status status = tutti_check_device(device, error);
    if (status != TUTTI_OK) return status;
    if (id == NULL) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "id is NULL: pass the one that tutti_group_id() gave");
    }
    if (rank_count < 1) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "rank_count is %" PRId32 ": a group has at least one rank",
                               rank_count);
    }
    if (rank < 0 || rank >= rank_count) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "rank is %" PRId32 ": a group of %" PRId32
                               " has ranks 0 to %" PRId32,
                               rank, rank_count, rank_count - 1);
    }
    return TUTTI_OK;
}

tutti_status tutti_check_comm_shrink(const tutti_comm *comm, const int32_t *excluded,
                                     size_t excluded_count, tutti_error *error) {
    const tutti_status status = tutti_check_comm(comm, error);
    if (status != TUTTI_OK) return status;
    if (excluded == NULL || excluded_count == 0) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "excluded names no rank: pass those that the new group is without");
    }
    for (size_t i = 0; i < excluded_count; i++) {
        if (excluded[i] < 0 || excluded[i] >= comm->rank_count) {
            return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                                   "excluded[%zu] is %" PRId32
                                   ": the communicator has ranks 0 to %" PRId32,
                                   i, excluded[i], comm->rank_count - 1);
        }
        if (excluded[i] == comm->rank) {
            return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                                   "excluded[%zu] is %" PRId32
                                   ", the calling rank: only those that "
                                   "stay make this call",
                                   i, excluded[i]);
        }
    }
    return TUTTI_OK;
}
