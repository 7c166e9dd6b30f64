#ifndef TUTTI_SRC_ARGUMENTS_H
#define TUTTI_SRC_ARGUMENTS_H

/* The one place where arguments are checked, for every driver. A check is a function without a
 * call, so that the functions of tutti/operations.h and the interpreter of scripts refuse the same
 * arguments with the same words.
 *
 * Each takes the arguments of the operation of its name, without the outputs. It returns TUTTI_OK,
 * and error is as it was, or TUTTI_INVALID_ARGUMENT and error says in this order: which argument
 * is wrong, how, and what to change. The first one that is wrong is reported, handles first. No
 * check allocates, waits, or reads data. error may be NULL. */

#include "tutti/driver.h"

/* --- Parts (arguments.c) ------------------------------------------------------------------------
 * What the checks below are made of. A handle is refused when it is NULL or leads to no driver. */

tutti_status tutti_check_driver(const tutti_driver *driver, tutti_error *error);
tutti_status tutti_check_device(const tutti_device *device, tutti_error *error);
tutti_status tutti_check_stream(const tutti_stream *stream, tutti_error *error);
tutti_status tutti_check_event(const tutti_event *event, tutti_error *error);
tutti_status tutti_check_comm(const tutti_comm *comm, tutti_error *error);

/* Refuses a NULL pointer for a result; `name` is the parameter's. */
tutti_status tutti_check_output(const void *output, const char *name, tutti_error *error);

/* Refuses a buffer that says it has bytes, and no address. */
tutti_status tutti_check_buffer(tutti_buffer buffer, const char *name, tutti_error *error);

/* Refuses two objects of different devices or drivers; `first` and `second` name them in the text
 * ("the stream"). Both devices have a driver. */
tutti_status tutti_check_same_device(const char *first, const tutti_device *first_device,
                                     const char *second, const tutti_device *second_device,
                                     tutti_error *error);

/* --- Memory (arguments_memory.c) --- */

tutti_status tutti_check_device_open(const tutti_driver *driver, uint32_t index,
                                     uint32_t device_count, tutti_error *error);
tutti_status tutti_check_memory_free(const tutti_device *device, tutti_buffer buffer,
                                     tutti_error *error);
tutti_status tutti_check_copy_to_device(tutti_buffer destination, const void *source, size_t bytes,
                                        const tutti_stream *stream, tutti_error *error);
tutti_status tutti_check_copy_to_host(const void *destination, tutti_buffer source, size_t bytes,
                                      const tutti_stream *stream, tutti_error *error);
tutti_status tutti_check_copy_on_device(tutti_buffer destination, tutti_buffer source, size_t bytes,
                                        const tutti_stream *stream, tutti_error *error);
tutti_status tutti_check_fill(tutti_buffer destination, const tutti_stream *stream,
                              tutti_error *error);
tutti_status tutti_check_host_function(const tutti_stream *stream, tutti_host_function *function,
                                       const tutti_buffer *reads, size_t read_count,
                                       const tutti_buffer *writes, size_t write_count,
                                       tutti_error *error);

/* --- Streams and events (arguments.c) --- */

/* An event is recorded on a stream of its own device, and waited for on any stream of its driver.
 */
tutti_status tutti_check_event_record(const tutti_event *event, const tutti_stream *stream,
                                      tutti_error *error);
tutti_status tutti_check_event_wait(const tutti_event *event, const tutti_stream *stream,
                                    tutti_error *error);

/* --- Membership (arguments_membership.c) --- */

/* The options of a call in full, as this version knows them: the defaults for NULL and for fields
 * that the caller's version did not have yet.
 * Errors: a struct_size that no version had, a value that is not allowed, or one other than 0 in a
 *         field that only a later version knows; *full_out is then untouched */
tutti_status tutti_complete_stream_options(const tutti_stream_options *options,
                                           tutti_stream_options *full_out, tutti_error *error);
tutti_status tutti_complete_join_options(const tutti_join_options *options,
                                         tutti_join_options *full_out, tutti_error *error);

tutti_status tutti_check_join(const tutti_device *device, const tutti_unique_id *id,
                              int32_t rank_count, int32_t rank, tutti_error *error);
tutti_status tutti_check_comm_shrink(const tutti_comm *comm, const int32_t *excluded,
                                     size_t excluded_count, tutti_error *error);

/* --- Collectives and transfers (arguments_collectives.c) ---------------------------------------
 * A buffer that the operation does not touch is not looked at: on other ranks than the root a
 * broadcast's source and a reduce's destination, for instance, and any buffer when nothing is to be
 * moved. Shapes of those whose meaning tutti/driver.h leaves open are NCCL's: count is what one
 * rank gives or gets of one peer. */

tutti_status tutti_check_all_reduce(const tutti_comm *comm, tutti_buffer source,
                                    tutti_buffer destination, tutti_data_type data_type,
                                    size_t count, tutti_reduce_op op, const tutti_stream *stream,
                                    tutti_error *error);
tutti_status tutti_check_send(const tutti_comm *comm, tutti_buffer source,
                              tutti_data_type data_type, size_t count, int32_t peer,
                              const tutti_stream *stream, tutti_error *error);
tutti_status tutti_check_recv(const tutti_comm *comm, tutti_buffer destination,
                              tutti_data_type data_type, size_t count, int32_t peer,
                              const tutti_stream *stream, tutti_error *error);

/* source[count] at the root -> destination[count] everywhere */
tutti_status tutti_check_broadcast(const tutti_comm *comm, tutti_buffer source,
                                   tutti_buffer destination, tutti_data_type data_type,
                                   size_t count, int32_t root, const tutti_stream *stream,
                                   tutti_error *error);
/* source[count] everywhere -> destination[count] at the root */
tutti_status tutti_check_reduce(const tutti_comm *comm, tutti_buffer source,
                                tutti_buffer destination, tutti_data_type data_type, size_t count,
                                tutti_reduce_op op, int32_t root, const tutti_stream *stream,
                                tutti_error *error);
/* source[count] -> destination[count * rank_count] */
tutti_status tutti_check_all_gather(const tutti_comm *comm, tutti_buffer source,
                                    tutti_buffer destination, tutti_data_type data_type,
                                    size_t count, const tutti_stream *stream, tutti_error *error);
/* source[count * rank_count] -> destination[count] */
tutti_status tutti_check_reduce_scatter(const tutti_comm *comm, tutti_buffer source,
                                        tutti_buffer destination, tutti_data_type data_type,
                                        size_t count, tutti_reduce_op op,
                                        const tutti_stream *stream, tutti_error *error);
/* source[count * rank_count] -> destination[count * rank_count] */
tutti_status tutti_check_all_to_all(const tutti_comm *comm, tutti_buffer source,
                                    tutti_buffer destination, tutti_data_type data_type,
                                    size_t count, const tutti_stream *stream, tutti_error *error);
/* source[count] -> destination[count * rank_count] at the root */
tutti_status tutti_check_gather(const tutti_comm *comm, tutti_buffer source,
                                tutti_buffer destination, tutti_data_type data_type, size_t count,
                                int32_t root, const tutti_stream *stream, tutti_error *error);
/* source[count * rank_count] at the root -> destination[count] */
tutti_status tutti_check_scatter(const tutti_comm *comm, tutti_buffer source,
                                 tutti_buffer destination, tutti_data_type data_type, size_t count,
                                 int32_t root, const tutti_stream *stream, tutti_error *error);
tutti_status tutti_check_barrier(const tutti_comm *comm, const tutti_stream *stream,
                                 tutti_error *error);

#endif
