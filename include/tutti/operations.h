#ifndef TUTTI_OPERATIONS_H
#define TUTTI_OPERATIONS_H

/* What applications call: the operations of the driver contract, for any driver, with their
 * arguments checked. What each one means is written in tutti/driver.h, under the same name.
 *
 * All of them: NULL handles, buffers that are too small or whose elements are not aligned, ranks
 * out of range, types that are not carried, handles of two drivers or devices in one call are
 * refused with TUTTI_INVALID_ARGUMENT and a text that says which argument and why; nothing has
 * happened then, and the driver is told (call_refused). `error` may be NULL. Options may be NULL
 * for the defaults. Outputs are written on success only.
 *
 * Each function is also a macro of the same name that notes the caller's file and line, so that a
 * finding can name it. Put the name in parentheses to get at the function itself. */

#include "tutti/driver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Notes the place of the operation that this thread calls next; the macros below call it. */
void tutti_place_note(const char *file, int32_t line);

tutti_status tutti_device_count(tutti_driver *driver, uint32_t *count_out, tutti_error *error);
tutti_status tutti_device_open(tutti_driver *driver, uint32_t index, tutti_device **device_out,
                               tutti_error *error);

tutti_status tutti_memory_allocate(tutti_device *device, size_t bytes, tutti_buffer *buffer_out,
                                   tutti_error *error);
tutti_status tutti_memory_free(tutti_device *device, tutti_buffer buffer, tutti_error *error);
tutti_status tutti_copy_to_device(tutti_buffer destination, const void *source, size_t bytes,
                                  tutti_stream *stream, tutti_error *error);
tutti_status tutti_copy_to_host(void *destination, tutti_buffer source, size_t bytes,
                                tutti_stream *stream, tutti_error *error);
tutti_status tutti_copy_on_device(tutti_buffer destination, tutti_buffer source, size_t bytes,
                                  tutti_stream *stream, tutti_error *error);
tutti_status tutti_fill(tutti_buffer destination, uint8_t value, tutti_stream *stream,
                        tutti_error *error);
tutti_status tutti_host_function_enqueue(tutti_stream *stream, tutti_host_function *function,
                                         void *argument, const tutti_buffer *reads,
                                         size_t read_count, const tutti_buffer *writes,
                                         size_t write_count, tutti_error *error);

tutti_status tutti_stream_create(tutti_device *device, const tutti_stream_options *options,
                                 tutti_stream **stream_out, tutti_error *error);
void tutti_stream_destroy(tutti_stream *stream); /* NULL does nothing */
tutti_status tutti_stream_synchronize(tutti_stream *stream, tutti_error *error);
tutti_status tutti_stream_query(tutti_stream *stream, int *done_out, tutti_error *error);

tutti_status tutti_event_create(tutti_device *device, tutti_event **event_out, tutti_error *error);
void tutti_event_destroy(tutti_event *event); /* NULL does nothing */
tutti_status tutti_event_record(tutti_event *event, tutti_stream *stream, tutti_error *error);
tutti_status tutti_event_wait(tutti_event *event, tutti_stream *stream, tutti_error *error);
tutti_status tutti_event_query(tutti_event *event, int *done_out, tutti_error *error);
tutti_status tutti_event_synchronize(tutti_event *event, tutti_error *error);

tutti_status tutti_group_id(tutti_driver *driver, tutti_communication_id communication_id,
                            tutti_unique_id *id_out, tutti_error *error);
tutti_status tutti_join(tutti_device *device, const tutti_unique_id *id, int32_t rank_count,
                        int32_t rank, const tutti_join_options *options, tutti_comm **comm_out,
                        tutti_error *error);
tutti_status tutti_data_type_of(tutti_device *device, tutti_element_type element_type, size_t bytes,
                                tutti_data_type *data_type_out, size_t *count_out,
                                tutti_error *error);
tutti_status tutti_all_reduce(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                              tutti_data_type data_type, size_t count, tutti_reduce_op op,
                              tutti_stream *stream, tutti_error *error);
tutti_status tutti_send(tutti_comm *comm, tutti_buffer source, tutti_data_type data_type,
                        size_t count, int32_t peer, tutti_stream *stream, tutti_error *error);
tutti_status tutti_recv(tutti_comm *comm, tutti_buffer destination, tutti_data_type data_type,
                        size_t count, int32_t peer, tutti_stream *stream, tutti_error *error);

tutti_status tutti_leave(tutti_comm *comm, tutti_error *error);
tutti_status tutti_comm_abort(tutti_comm *comm, tutti_error *error);
tutti_status tutti_comm_status(tutti_comm *comm, tutti_status *status_out, tutti_error *error);
tutti_status tutti_comm_synchronize(tutti_comm *comm, tutti_error *error);
tutti_status tutti_group_start(tutti_driver *driver, tutti_error *error);
tutti_status tutti_group_end(tutti_driver *driver, tutti_error *error);

tutti_status tutti_broadcast(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                             tutti_data_type data_type, size_t count, int32_t root,
                             tutti_stream *stream, tutti_error *error);
tutti_status tutti_reduce(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                          tutti_data_type data_type, size_t count, tutti_reduce_op op, int32_t root,
                          tutti_stream *stream, tutti_error *error);
tutti_status tutti_all_gather(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                              tutti_data_type data_type, size_t count, tutti_stream *stream,
                              tutti_error *error);
tutti_status tutti_reduce_scatter(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                                  tutti_data_type data_type, size_t count, tutti_reduce_op op,
                                  tutti_stream *stream, tutti_error *error);
tutti_status tutti_all_to_all(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                              tutti_data_type data_type, size_t count, tutti_stream *stream,
                              tutti_error *error);
tutti_status tutti_gather(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                          tutti_data_type data_type, size_t count, int32_t root,
                          tutti_stream *stream, tutti_error *error);
tutti_status tutti_scatter(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                           tutti_data_type data_type, size_t count, int32_t root,
                           tutti_stream *stream, tutti_error *error);
tutti_status tutti_barrier(tutti_comm *comm, tutti_stream *stream, tutti_error *error);
tutti_status tutti_comm_split(tutti_comm *comm, int32_t color, int32_t key, tutti_comm **comm_out,
                              tutti_error *error);
tutti_status tutti_comm_shrink(tutti_comm *comm, const int32_t *excluded, size_t excluded_count,
                               tutti_comm **comm_out, tutti_error *error);
tutti_status tutti_comm_revoke(tutti_comm *comm, tutti_error *error);

#ifdef __cplusplus
}
#endif

#define TUTTI_AT_PLACE(call) (tutti_place_note(__FILE__, __LINE__), (call))

#define tutti_memory_allocate(...)       TUTTI_AT_PLACE((tutti_memory_allocate)(__VA_ARGS__))
#define tutti_memory_free(...)           TUTTI_AT_PLACE((tutti_memory_free)(__VA_ARGS__))
#define tutti_copy_to_device(...)        TUTTI_AT_PLACE((tutti_copy_to_device)(__VA_ARGS__))
#define tutti_copy_to_host(...)          TUTTI_AT_PLACE((tutti_copy_to_host)(__VA_ARGS__))
#define tutti_copy_on_device(...)        TUTTI_AT_PLACE((tutti_copy_on_device)(__VA_ARGS__))
#define tutti_fill(...)                  TUTTI_AT_PLACE((tutti_fill)(__VA_ARGS__))
#define tutti_host_function_enqueue(...) TUTTI_AT_PLACE((tutti_host_function_enqueue)(__VA_ARGS__))
#define tutti_stream_create(...)         TUTTI_AT_PLACE((tutti_stream_create)(__VA_ARGS__))
#define tutti_stream_synchronize(...)    TUTTI_AT_PLACE((tutti_stream_synchronize)(__VA_ARGS__))
#define tutti_stream_query(...)          TUTTI_AT_PLACE((tutti_stream_query)(__VA_ARGS__))
#define tutti_event_create(...)          TUTTI_AT_PLACE((tutti_event_create)(__VA_ARGS__))
#define tutti_event_record(...)          TUTTI_AT_PLACE((tutti_event_record)(__VA_ARGS__))
#define tutti_event_wait(...)            TUTTI_AT_PLACE((tutti_event_wait)(__VA_ARGS__))
#define tutti_event_query(...)           TUTTI_AT_PLACE((tutti_event_query)(__VA_ARGS__))
#define tutti_event_synchronize(...)     TUTTI_AT_PLACE((tutti_event_synchronize)(__VA_ARGS__))
#define tutti_group_id(...)              TUTTI_AT_PLACE((tutti_group_id)(__VA_ARGS__))
#define tutti_join(...)                  TUTTI_AT_PLACE((tutti_join)(__VA_ARGS__))
#define tutti_data_type_of(...)          TUTTI_AT_PLACE((tutti_data_type_of)(__VA_ARGS__))
#define tutti_all_reduce(...)            TUTTI_AT_PLACE((tutti_all_reduce)(__VA_ARGS__))
#define tutti_send(...)                  TUTTI_AT_PLACE((tutti_send)(__VA_ARGS__))
#define tutti_recv(...)                  TUTTI_AT_PLACE((tutti_recv)(__VA_ARGS__))
#define tutti_leave(...)                 TUTTI_AT_PLACE((tutti_leave)(__VA_ARGS__))
#define tutti_comm_abort(...)            TUTTI_AT_PLACE((tutti_comm_abort)(__VA_ARGS__))
#define tutti_comm_status(...)           TUTTI_AT_PLACE((tutti_comm_status)(__VA_ARGS__))
#define tutti_comm_synchronize(...)      TUTTI_AT_PLACE((tutti_comm_synchronize)(__VA_ARGS__))
#define tutti_group_start(...)           TUTTI_AT_PLACE((tutti_group_start)(__VA_ARGS__))
#define tutti_group_end(...)             TUTTI_AT_PLACE((tutti_group_end)(__VA_ARGS__))
#define tutti_broadcast(...)             TUTTI_AT_PLACE((tutti_broadcast)(__VA_ARGS__))
#define tutti_reduce(...)                TUTTI_AT_PLACE((tutti_reduce)(__VA_ARGS__))
#define tutti_all_gather(...)            TUTTI_AT_PLACE((tutti_all_gather)(__VA_ARGS__))
#define tutti_reduce_scatter(...)        TUTTI_AT_PLACE((tutti_reduce_scatter)(__VA_ARGS__))
#define tutti_all_to_all(...)            TUTTI_AT_PLACE((tutti_all_to_all)(__VA_ARGS__))
#define tutti_gather(...)                TUTTI_AT_PLACE((tutti_gather)(__VA_ARGS__))
#define tutti_scatter(...)               TUTTI_AT_PLACE((tutti_scatter)(__VA_ARGS__))
#define tutti_barrier(...)               TUTTI_AT_PLACE((tutti_barrier)(__VA_ARGS__))
#define tutti_comm_split(...)            TUTTI_AT_PLACE((tutti_comm_split)(__VA_ARGS__))
#define tutti_comm_shrink(...)           TUTTI_AT_PLACE((tutti_comm_shrink)(__VA_ARGS__))
#define tutti_comm_revoke(...)           TUTTI_AT_PLACE((tutti_comm_revoke)(__VA_ARGS__))

#endif
