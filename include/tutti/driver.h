#ifndef TUTTI_DRIVER_H
#define TUTTI_DRIVER_H

/* The CollectiveDriver: the one contract that every driver fulfils, the emulated cluster and NCCL
 * alike. This file is the only place where the meaning of an operation is written; the conformance
 * suite in tests/conformance holds every driver to it.
 *
 * A driver gives away one symbol, a const table. tutti_driver_bind() copies it and fills what it
 * lacks with stubs that return TUTTI_UNSUPPORTED. Applications do not call the table: they call
 * the functions of tutti/operations.h, which check the arguments once, for every driver. So an
 * operation below may rely on what "Checked" says; drivers assert it.
 *
 * Every operation takes a tutti_error last. It is never NULL here: it comes in with the
 * operation's name and the caller's place filled in, which a driver may keep (for its trace, or
 * its flight recorder), and goes out with rank and message when the status is an error.
 *
 * Threads: operations on different objects may overlap. Operations on one communicator or one
 * stream may not, with the exception of comm_abort and comm_status. */

#include "tutti/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Handles ------------------------------------------------------------------------------------
 * A driver's own struct embeds the base as its first member and casts back in one function.
 * Fields are read-only for everybody but the driver. */

typedef struct tutti_driver tutti_driver;
typedef struct tutti_driver_table tutti_driver_table;

/* One device of a driver. Lives as long as the driver. */
typedef struct tutti_device {
    tutti_driver *driver;
    tutti_device_id id;
} tutti_device;

/* A queue of operations of one device, carried out in the order in which they were enqueued. */
typedef struct tutti_stream {
    tutti_device *device;
} tutti_stream;

/* A mark in a stream, for another stream or for the host to wait for. */
typedef struct tutti_event {
    tutti_device *device;
} tutti_event;

/* One device's membership of a group: joined once and kept. */
typedef struct tutti_comm {
    tutti_device *device;
    int32_t rank;       /* of this member, 0 to rank_count - 1 */
    int32_t rank_count; /* members of the group, at least 1 */
} tutti_comm;

typedef enum tutti_stream_flags {
    TUTTI_STREAM_DEFAULT = 0,
    TUTTI_STREAM_NON_BLOCKING = 1, /* never orders itself with the device's default stream */
} tutti_stream_flags;

typedef struct tutti_stream_options {
    uint32_t struct_size; /* sizeof(tutti_stream_options) */
    uint32_t flags;       /* tutti_stream_flags */
    int32_t priority;     /* lower numbers first, 0 is usual; a hint */
    const char *name;     /* for reports, copied; NULL: the driver numbers its streams */
} tutti_stream_options;

typedef struct tutti_join_options {
    uint32_t struct_size;  /* sizeof(tutti_join_options) */
    uint32_t non_blocking; /* 1: join returns TUTTI_IN_PROGRESS at once; see comm_status */
    int64_t timeout_ns;    /* of the whole join; 0: the driver's own limit, which may be none */
    const char *name;      /* of the group, for reports, copied; NULL: the driver numbers groups */
} tutti_join_options;

/* A host function that runs in a stream's order. It must not call any operation. */
typedef void tutti_host_function(void *argument);

/* --- The table ----------------------------------------------------------------------------------
 * Append only. Required operations first; those marked optional may be NULL. */
struct tutti_driver_table {
    uint32_t struct_size; /* of the table that the driver was compiled with */
    uint32_t reserved;    /* 0 */
    const char *name;     /* "emu", "nccl" */

    /* ---- Devices and memory ---- */

    /* How many devices there are; 0 is possible.
     * Blocking: no. */
    tutti_status (*device_count)(tutti_driver *driver, uint32_t *count_out, tutti_error *error);

    /* The device with the given place in the driver's list.
     * Checked: index < device_count.
     * Memory: the device belongs to the driver. Asking again gives the same pointer. */
    tutti_status (*device_open)(tutti_driver *driver, uint32_t index, tutti_device **device_out,
                                tutti_error *error);

    /* Allocates device memory with undefined contents, aligned for every element type.
     * Units:   bytes; 0 gives an empty buffer that memory_free accepts
     * Memory:  the caller's until memory_free
     * Errors:  TUTTI_OUT_OF_MEMORY, nothing is allocated */
    tutti_status (*memory_allocate)(tutti_device *device, size_t bytes, tutti_buffer *buffer_out,
                                    tutti_error *error);

    /* Frees what memory_allocate gave. Operations already enqueued on it still finish safely;
     * whether they see defined contents is the caller's concern. The emulated cluster reports it
     * when nothing says that they are over.
     * Errors:  TUTTI_MISUSE for memory that is not this device's, not the start of an allocation,
     *          or freed before; nothing changes */
    tutti_status (*memory_free)(tutti_device *device, tutti_buffer buffer, tutti_error *error);

    /* Copies host memory into device memory, in the stream's order.
     * Checked:  destination is large enough
     * Memory:   source is borrowed until the stream has passed the copy
     * Blocking: no */
    tutti_status (*copy_to_device)(tutti_buffer destination, const void *source, size_t bytes,
                                   tutti_stream *stream, tutti_error *error);

    /* Copies device memory into host memory, in the stream's order.
     * Checked:  source is large enough
     * Memory:   destination is borrowed until the stream has passed the copy
     * Blocking: no */
    tutti_status (*copy_to_host)(void *destination, tutti_buffer source, size_t bytes,
                                 tutti_stream *stream, tutti_error *error);

    /* Copies within the stream's device.
     * Checked: both are large enough
     * Order:   overlapping ranges are undefined */
    tutti_status (*copy_on_device)(tutti_buffer destination, tutti_buffer source, size_t bytes,
                                   tutti_stream *stream, tutti_error *error);

    /* Sets every byte of a buffer, in the stream's order. */
    tutti_status (*fill)(tutti_buffer destination, uint8_t value, tutti_stream *stream,
                         tutti_error *error);

    /* Runs a function on the host when the stream reaches it; the stream goes on when it returned.
     * It stands for a kernel: what it reads and writes is declared, so that races are found. Bytes
     * that it writes and does not declare count as undefined.
     * Memory:   argument is borrowed until the function has returned; the two lists only for the
     *           call
     * Threads:  the function may run on any thread
     * Blocking: no */
    tutti_status (*host_function)(tutti_stream *stream, tutti_host_function *function,
                                  void *argument, const tutti_buffer *reads, size_t read_count,
                                  const tutti_buffer *writes, size_t write_count,
                                  tutti_error *error);

    /* ---- Streams and events ---- */

    /* Creates an empty stream on a device. */
    tutti_status (*stream_create)(tutti_device *device, const tutti_stream_options *options,
                                  tutti_stream **stream_out, tutti_error *error);

    /* Gives a stream back. What is enqueued still finishes. */
    void (*stream_destroy)(tutti_stream *stream);

    /* Waits until everything that was enqueued before the call has finished.
     * Blocking: until then; bounded by the driver's wait limit, if it has one
     * Errors:   what made an operation of this stream fail since the last call (the operation's
     *           destination is then undefined), TUTTI_TIMED_OUT; the stream stays usable */
    tutti_status (*stream_synchronize)(tutti_stream *stream, tutti_error *error);

    /* *done_out = 1 when everything enqueued has finished, else 0.
     * Blocking: no
     * Errors:   as stream_synchronize */
    tutti_status (*stream_query)(tutti_stream *stream, int *done_out, tutti_error *error);

    /* Creates an event that nothing has recorded; waiting for it waits for nothing. */
    tutti_status (*event_create)(tutti_device *device, tutti_event **event_out, tutti_error *error);

    void (*event_destroy)(tutti_event *event);

    /* Marks the stream's present end. A later record replaces the mark. */
    tutti_status (*event_record)(tutti_event *event, tutti_stream *stream, tutti_error *error);

    /* What is enqueued on the stream from now on starts only when the latest mark is passed.
     * Blocking: the stream, never the host */
    tutti_status (*event_wait)(tutti_event *event, tutti_stream *stream, tutti_error *error);

    /* *done_out = 1 when the latest mark is passed, or there is none.
     * Blocking: no */
    tutti_status (*event_query)(tutti_event *event, int *done_out, tutti_error *error);

    /* Waits until the latest mark is passed.
     * Blocking: as stream_synchronize
     * Errors:   as stream_synchronize, for what stood before the mark */
    tutti_status (*event_synchronize)(tutti_event *event, tutti_error *error);

    /* ---- The seeds' six ---- */

    /* The identifier that the group with this communication id joins under.
     * Every caller in the process gets the same: whoever asks first mints, the driver remembers.
     * Errors:  TUTTI_REFUSED: none was minted and a later call may succeed
     * Source:  CollectiveDriver::group_id */
    tutti_status (*group_id)(tutti_driver *driver, tutti_communication_id communication_id,
                             tutti_unique_id *id_out, tutti_error *error);

    /* Joins a group as rank `rank` of `rank_count`. When the call returns, every rank has joined.
     * Order:    all ranks give the same id and rank_count, each rank once, each on a device of its
     *           own; otherwise all of them are refused
     * Memory:   the communicator is the caller's until leave or abort
     * Blocking: until all ranks have joined; bounded by options->timeout_ns. Inside a group call
     *           until the group's end, so that one thread can join several devices.
     * Errors:   TUTTI_REFUSED (this rank has not joined and may try again; the others see it never
     *           arriving), TUTTI_TIMED_OUT, TUTTI_MISSING, TUTTI_ABORTED; no communicator then
     *           TUTTI_IN_PROGRESS (non_blocking only): *comm_out is set; until comm_status says
     *           TUTTI_OK nothing but comm_status, comm_synchronize and abort is allowed on it
     * Checked:  0 <= rank < rank_count, options complete
     * Source:   CollectiveDriver::join */
    tutti_status (*join)(tutti_device *device, const tutti_unique_id *id, int32_t rank_count,
                         int32_t rank, const tutti_join_options *options, tutti_comm **comm_out,
                         tutti_error *error);

    /* How the driver names an element type, and how many elements `bytes` hold, rounded down.
     * Errors:  TUTTI_UNSUPPORTED with the type's name: never fatal, pick another type
     * Source:  CollectiveDriver::data_type */
    tutti_status (*data_type)(tutti_device *device, tutti_element_type element_type, size_t bytes,
                              tutti_data_type *data_type_out, size_t *count_out,
                              tutti_error *error);

    /* Every rank's destination holds the elementwise reduction over all ranks' sources, bit for bit
     * the same on every rank.
     * Shapes:   source[count] -> destination[count]; in place when both are the same range, any
     *           other overlap is undefined
     * Units:    count in elements; 0 is dropped on the spot, so all ranks must pass 0 or none
     * Order:    n-th collective of the communicator on every rank: same operation, type, count
     *           and op. A communicator's operations run in the order of their calls, whatever
     *           streams they are on.
     * Memory:   both borrowed until the stream has passed the operation
     * Blocking: no; the first use of a communicator may wait for its peers
     * Errors:   refused to enqueue: nothing is enqueued and the rank's order does not advance.
     *           What goes wrong later is comm_status, and an error of stream_synchronize.
     * Arithmetic: in the element's own type, rounding at each step. Integers wrap; their mean is
     *           the wrapped sum divided by rank_count, truncated toward zero. The mean of floats
     *           multiplies each input by 1/rank_count rounded to the type, then sums. f16 and bf16
     *           round at every step, f8 goes through half and saturates. min and max pass over
     *           NaN when the other operand is a number.
     * Checked:  both hold count elements, aligned; the op is in the list, the type is carried
     * Source:   CollectiveDriver::all_reduce; NCCL user guide, ncclAllReduce */
    tutti_status (*all_reduce)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                               tutti_data_type data_type, size_t count, tutti_reduce_op op,
                               tutti_stream *stream, tutti_error *error);

    /* Sends `count` elements to a peer, which must call recv with the same count.
     * Units:    elements; 0 is a real message and must be received
     * Order:    the n-th send to a peer meets its n-th recv from this rank. Outside of a group
     *           call, a send completes only when the peer's recv has started, so two ranks that
     *           both send first deadlock; inside one group call the order does not matter.
     * Memory:   borrowed until the stream has passed the operation
     * Errors:   as all_reduce. To oneself: TUTTI_MISUSE unless the same group call holds the recv
     * Checked:  peer is a rank of the communicator, the source holds count elements
     * Source:   CollectiveDriver::send; NCCL user guide, ncclSend */
    tutti_status (*send)(tutti_comm *comm, tutti_buffer source, tutti_data_type data_type,
                         size_t count, int32_t peer, tutti_stream *stream, tutti_error *error);

    /* Receives `count` elements from a peer. Everything as send, the other way round.
     * Source:   CollectiveDriver::recv; NCCL user guide, ncclRecv */
    tutti_status (*recv)(tutti_comm *comm, tutti_buffer destination, tutti_data_type data_type,
                         size_t count, int32_t peer, tutti_stream *stream, tutti_error *error);

    /* ---- Membership ---- */

    /* Leaves the group: waits for this member's own outstanding operations, then the handle is
     * gone.
     * Errors:   TUTTI_MISUSE when it was left or aborted before (the emulated cluster detects it,
     *           other drivers may crash), or what made an outstanding operation fail; the handle
     *           is gone in every case */
    tutti_status (*leave)(tutti_comm *comm, tutti_error *error);

    /* ==== The end of version 1's required part; everything below may be NULL ==== */

    /* Gives the communicator up without waiting for any peer: its operations end, their
     * destinations are undefined, streams go on. Peers are not told. A join in progress returns
     * TUTTI_ABORTED. May come from any thread. The handle is gone. */
    tutti_status (*comm_abort)(tutti_comm *comm, tutti_error *error);

    /* *status_out is TUTTI_OK, TUTTI_IN_PROGRESS while the group is forming, or what made the
     * communicator fail; a failed one accepts nothing but leave and abort.
     * Blocking: no. May come from any thread. */
    tutti_status (*comm_status)(tutti_comm *comm, tutti_status *status_out, tutti_error *error);

    /* Waits until comm_status is no longer TUTTI_IN_PROGRESS.
     * Blocking: until then; bounded by the join's time limit
     * Errors:   what made the communicator fail */
    tutti_status (*comm_synchronize)(tutti_comm *comm, tutti_error *error);

    /* Opens a group call on the calling thread; may be nested. Joins, sends, receives and
     * collectives up to the outermost end are taken in, and nothing starts before it. */
    tutti_status (*group_start)(tutti_driver *driver, tutti_error *error);

    /* Closes a group call. The outermost end issues everything at once: all streams that it uses
     * are one point of order, and nothing inside has an order of its own.
     * Blocking: until the joins inside are through
     * Errors:   TUTTI_MISUSE without a start; otherwise the first error of a call inside, and then
     *           every operation of the group is dropped */
    tutti_status (*group_end)(tutti_driver *driver, tutti_error *error);

    /* Tells the driver that a call was refused before it got here (bad arguments, an absent
     * operation), so that it can report it: error says which call, why and where. */
    void (*call_refused)(tutti_driver *driver, const tutti_error *error);

    /* The device that owns an address.
     * Errors: TUTTI_INVALID_ARGUMENT when no device does */
    tutti_status (*memory_owner)(tutti_driver *driver, const void *address,
                                 tutti_device **device_out, tutti_buffer *allocation_out,
                                 tutti_error *error);

    /* Room for the other collectives. Their meaning is fixed with the first driver that has them;
     * until then every driver leaves them NULL. */
    tutti_status (*comm_split)(tutti_comm *comm, int32_t color, int32_t key, tutti_comm **comm_out,
                               tutti_error *error);
    tutti_status (*comm_shrink)(tutti_comm *comm, const int32_t *excluded, size_t excluded_count,
                                tutti_comm **comm_out, tutti_error *error);
    tutti_status (*comm_revoke)(tutti_comm *comm, tutti_error *error);
    tutti_status (*broadcast)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                              tutti_data_type data_type, size_t count, int32_t root,
                              tutti_stream *stream, tutti_error *error);
    tutti_status (*reduce)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                           tutti_data_type data_type, size_t count, tutti_reduce_op op,
                           int32_t root, tutti_stream *stream, tutti_error *error);
    tutti_status (*all_gather)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                               tutti_data_type data_type, size_t count, tutti_stream *stream,
                               tutti_error *error);
    tutti_status (*reduce_scatter)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                                   tutti_data_type data_type, size_t count, tutti_reduce_op op,
                                   tutti_stream *stream, tutti_error *error);
    tutti_status (*all_to_all)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                               tutti_data_type data_type, size_t count, tutti_stream *stream,
                               tutti_error *error);
    tutti_status (*gather)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                           tutti_data_type data_type, size_t count, int32_t root,
                           tutti_stream *stream, tutti_error *error);
    tutti_status (*scatter)(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                            tutti_data_type data_type, size_t count, int32_t root,
                            tutti_stream *stream, tutti_error *error);
    tutti_status (*barrier)(tutti_comm *comm, tutti_stream *stream, tutti_error *error);
};

/* The bytes of a table that a driver must bring: everything up to and including leave. */
#define TUTTI_DRIVER_TABLE_BYTES_MIN offsetof(struct tutti_driver_table, comm_abort)

/* A bound driver: the base of a driver's own process-wide or cluster-wide object. Its table has no
 * NULL in it. */
struct tutti_driver {
    tutti_driver_table table;
};

/* Copies a driver's table into `driver`, as much of it as both sides know, and fills the rest with
 * stubs that return TUTTI_UNSUPPORTED and name the operation and the driver.
 * Memory:   table is only read; driver is the caller's
 * Errors:   TUTTI_INVALID_ARGUMENT when struct_size is smaller than TUTTI_DRIVER_TABLE_BYTES_MIN
 *           or larger than a sane table, the name is missing, reserved is not 0, or a required
 *           operation is NULL (the message names it); *driver is then untouched */
tutti_status tutti_driver_bind(const tutti_driver_table *table, tutti_driver *driver,
                               tutti_error *error);

#ifdef __cplusplus
}
#endif

#endif
