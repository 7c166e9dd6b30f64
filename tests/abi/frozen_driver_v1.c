#include "tests/abi/frozen_driver_v1.h"

#include <stddef.h>
#include <string.h>

/* ---- What this driver was compiled with: version 1, up to `leave`. Never change it. ---- */

typedef int v1_status; /* 0 is success */

typedef struct v1_place {
    const char *file;
    int32_t line;
} v1_place;

typedef struct v1_cause {
    v1_status status;
    char message[160];
} v1_cause;

typedef struct v1_error {
    v1_status status;
    int32_t rank;
    const char *operation;
    v1_place place;
    const char *native_domain;
    int64_t native_code;
    uint32_t cause_count;
    v1_cause causes[4];
    char message[512];
} v1_error;

typedef struct v1_device_id {
    uint16_t type;
    uint16_t index;
} v1_device_id;

typedef struct v1_unique_id {
    uint8_t bytes[128];
} v1_unique_id;

typedef struct v1_data_type {
    int32_t element_type;
    uint32_t width_bytes;
    int32_t native;
} v1_data_type;

typedef struct v1_buffer {
    void *data;
    size_t bytes;
} v1_buffer;

typedef struct v1_device {
    void *driver;
    v1_device_id id;
} v1_device;

typedef struct v1_stream {
    v1_device *device;
} v1_stream;

typedef struct v1_event {
    v1_device *device;
} v1_event;

typedef struct v1_comm {
    v1_device *device;
    int32_t rank;
    int32_t rank_count;
} v1_comm;

typedef struct v1_stream_options {
    uint32_t struct_size;
    uint32_t flags;
    int32_t priority;
    const char *name;
} v1_stream_options;

typedef struct v1_join_options {
    uint32_t struct_size;
    uint32_t non_blocking;
    int64_t timeout_ns;
    const char *name;
} v1_join_options;

typedef struct v1_table {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;
    v1_status (*device_count)(void *driver, uint32_t *count_out, v1_error *error);
    v1_status (*device_open)(void *driver, uint32_t index, v1_device **device_out, v1_error *error);
    v1_status (*memory_allocate)(v1_device *device, size_t bytes, v1_buffer *buffer_out,
                                 v1_error *error);
    v1_status (*memory_free)(v1_device *device, v1_buffer buffer, v1_error *error);
    v1_status (*copy_to_device)(v1_buffer destination, const void *source, size_t bytes,
                                v1_stream *stream, v1_error *error);
    v1_status (*copy_to_host)(void *destination, v1_buffer source, size_t bytes, v1_stream *stream,
                              v1_error *error);
    v1_status (*copy_on_device)(v1_buffer destination, v1_buffer source, size_t bytes,
                                v1_stream *stream, v1_error *error);
    v1_status (*fill)(v1_buffer destination, uint8_t value, v1_stream *stream, v1_error *error);
    v1_status (*host_function)(v1_stream *stream, void (*function)(void *), void *argument,
                               const v1_buffer *reads, size_t read_count, const v1_buffer *writes,
                               size_t write_count, v1_error *error);
    v1_status (*stream_create)(v1_device *device, const v1_stream_options *options,
                               v1_stream **stream_out, v1_error *error);
    void (*stream_destroy)(v1_stream *stream);
    v1_status (*stream_synchronize)(v1_stream *stream, v1_error *error);
    v1_status (*stream_query)(v1_stream *stream, int *done_out, v1_error *error);
    v1_status (*event_create)(v1_device *device, v1_event **event_out, v1_error *error);
    void (*event_destroy)(v1_event *event);
    v1_status (*event_record)(v1_event *event, v1_stream *stream, v1_error *error);
    v1_status (*event_wait)(v1_event *event, v1_stream *stream, v1_error *error);
    v1_status (*event_query)(v1_event *event, int *done_out, v1_error *error);
    v1_status (*event_synchronize)(v1_event *event, v1_error *error);
    v1_status (*group_id)(void *driver, uint64_t communication_id, v1_unique_id *id_out,
                          v1_error *error);
    v1_status (*join)(v1_device *device, const v1_unique_id *id, int32_t rank_count, int32_t rank,
                      const v1_join_options *options, v1_comm **comm_out, v1_error *error);
    v1_status (*data_type)(v1_device *device, int element_type, size_t bytes,
                           v1_data_type *data_type_out, size_t *count_out, v1_error *error);
    v1_status (*all_reduce)(v1_comm *comm, v1_buffer source, v1_buffer destination,
                            v1_data_type data_type, size_t count, int op, v1_stream *stream,
                            v1_error *error);
    v1_status (*send)(v1_comm *comm, v1_buffer source, v1_data_type data_type, size_t count,
                      int32_t peer, v1_stream *stream, v1_error *error);
    v1_status (*recv)(v1_comm *comm, v1_buffer destination, v1_data_type data_type, size_t count,
                      int32_t peer, v1_stream *stream, v1_error *error);
    v1_status (*leave)(v1_comm *comm, v1_error *error);
} v1_table;

/* ---- The driver ---- */

enum { V1_F32 = 7, V1_MEAN = 4 };

static const char *const NAMES[FROZEN_V1_OPERATIONS] = {
    "device_count",   "device_open",   "memory_allocate",   "memory_free",
    "copy_to_device", "copy_to_host",  "copy_on_device",    "fill",
    "host_function",  "stream_create", "stream_destroy",    "stream_synchronize",
    "stream_query",   "event_create",  "event_destroy",     "event_record",
    "event_wait",     "event_query",   "event_synchronize", "group_id",
    "join",           "data_type",     "all_reduce",        "send",
    "recv",           "leave",
};

static int calls[FROZEN_V1_OPERATIONS];
static int arguments_arrived = 1;
static v1_status next_status;
static unsigned char memory[64];
static v1_device device = {NULL, {0, 0}};
static v1_stream stream = {&device};
static v1_event event = {&device};
static v1_comm comm = {&device, 1, 4};

int frozen_v1_calls(uint32_t place) {
    return calls[place];
}
const char *frozen_v1_name(uint32_t place) {
    return NAMES[place];
}
int frozen_v1_arguments_arrived(void) {
    return arguments_arrived;
}
void frozen_v1_fail_next(int status) {
    next_status = status;
}
void frozen_v1_attach(void *driver) {
    device.driver = driver;
}
void *frozen_v1_stream(void) {
    return &stream;
}
void *frozen_v1_comm(void) {
    return &comm;
}

static void expect(int is_right) {
    if (!is_right) arguments_arrived = 0;
}

/* What every operation ends with. An opening asks for the number of devices in its own name. */
static v1_status done(uint32_t place, v1_error *error) {
    calls[place]++;
    const char *operation = error->operation == NULL ? "" : error->operation;
    const int is_opening = place == 0 && strcmp(operation, "device_open") == 0;
    expect(is_opening || strcmp(operation, NAMES[place]) == 0);
    const v1_status status = next_status;
    next_status = 0;
    if (status == 0) return 0;
    error->status = status;
    error->rank = 1;
    memcpy(error->message, "frozen", sizeof("frozen"));
    return status;
}

static int is_memory(v1_buffer buffer, size_t bytes) {
    return buffer.data == memory && buffer.bytes == bytes;
}

static int is_f32(v1_data_type type) {
    return type.element_type == V1_F32 && type.width_bytes == 4 && type.native == 77;
}

static v1_status device_count(void *driver, uint32_t *count_out, v1_error *error) {
    expect(driver == device.driver);
    *count_out = 1;
    return done(0, error);
}

static v1_status device_open(void *driver, uint32_t index, v1_device **device_out,
                             v1_error *error) {
    expect(driver == device.driver && index == 0);
    *device_out = &device;
    return done(1, error);
}

static v1_status memory_allocate(v1_device *on, size_t bytes, v1_buffer *buffer_out,
                                 v1_error *error) {
    expect(on == &device && bytes == 64);
    buffer_out->data = memory;
    buffer_out->bytes = bytes;
    return done(2, error);
}

static v1_status memory_free(v1_device *on, v1_buffer buffer, v1_error *error) {
    expect(on == &device && is_memory(buffer, 64));
    return done(3, error);
}

static v1_status copy_to_device(v1_buffer destination, const void *source, size_t bytes,
                                v1_stream *on, v1_error *error) {
    expect(is_memory(destination, 64) && source != NULL && bytes == 8 && on == &stream);
    return done(4, error);
}

static v1_status copy_to_host(void *destination, v1_buffer source, size_t bytes, v1_stream *on,
                              v1_error *error) {
    expect(destination != NULL && is_memory(source, 64) && bytes == 8 && on == &stream);
    return done(5, error);
}

static v1_status copy_on_device(v1_buffer destination, v1_buffer source, size_t bytes,
                                v1_stream *on, v1_error *error) {
    expect(is_memory(destination, 64) && is_memory(source, 32) && bytes == 8 && on == &stream);
    return done(6, error);
}

static v1_status fill(v1_buffer destination, uint8_t value, v1_stream *on, v1_error *error) {
    expect(is_memory(destination, 64) && value == 0xA5 && on == &stream);
    return done(7, error);
}

static v1_status host_function(v1_stream *on, void (*function)(void *), void *argument,
                               const v1_buffer *reads, size_t read_count, const v1_buffer *writes,
                               size_t write_count, v1_error *error) {
    expect(on == &stream && read_count == 2 && is_memory(reads[1], 32));
    expect(write_count == 1 && is_memory(writes[0], 64));
    function(argument);
    return done(8, error);
}

static v1_status stream_create(v1_device *on, const v1_stream_options *options,
                               v1_stream **stream_out, v1_error *error) {
    expect(on == &device && options->struct_size >= sizeof(v1_stream_options));
    expect(options->flags == 1 && options->priority == -2 && strcmp(options->name, "comm") == 0);
    *stream_out = &stream;
    return done(9, error);
}

static void stream_destroy(v1_stream *destroyed) {
    expect(destroyed == &stream);
    calls[10]++;
}

static v1_status stream_synchronize(v1_stream *on, v1_error *error) {
    expect(on == &stream);
    return done(11, error);
}

static v1_status stream_query(v1_stream *on, int *done_out, v1_error *error) {
    expect(on == &stream);
    *done_out = 1;
    return done(12, error);
}

static v1_status event_create(v1_device *on, v1_event **event_out, v1_error *error) {
    expect(on == &device);
    *event_out = &event;
    return done(13, error);
}

static void event_destroy(v1_event *destroyed) {
    expect(destroyed == &event);
    calls[14]++;
}

static v1_status event_record(v1_event *recorded, v1_stream *on, v1_error *error) {
    expect(recorded == &event && on == &stream);
    return done(15, error);
}

static v1_status event_wait(v1_event *awaited, v1_stream *on, v1_error *error) {
    expect(awaited == &event && on == &stream);
    return done(16, error);
}

static v1_status event_query(v1_event *asked, int *done_out, v1_error *error) {
    expect(asked == &event);
    *done_out = 1;
    return done(17, error);
}

static v1_status event_synchronize(v1_event *awaited, v1_error *error) {
    expect(awaited == &event);
    return done(18, error);
}

static v1_status group_id(void *driver, uint64_t communication_id, v1_unique_id *id_out,
                          v1_error *error) {
    expect(driver == device.driver && communication_id == UINT64_C(0x1122334455667788));
    memset(id_out->bytes, 0x42, sizeof(id_out->bytes));
    return done(19, error);
}

static v1_status join(v1_device *on, const v1_unique_id *id, int32_t rank_count, int32_t rank,
                      const v1_join_options *options, v1_comm **comm_out, v1_error *error) {
    expect(on == &device && id->bytes[0] == 0x42 && id->bytes[127] == 0x42);
    expect(rank_count == 4 && rank == 1 && options->struct_size >= sizeof(v1_join_options));
    expect(options->non_blocking == 1 && options->timeout_ns == INT64_C(5000000000));
    expect(strcmp(options->name, "world") == 0);
    *comm_out = &comm;
    return done(20, error);
}

static v1_status data_type(v1_device *on, int element_type, size_t bytes,
                           v1_data_type *data_type_out, size_t *count_out, v1_error *error) {
    expect(on == &device && element_type == V1_F32 && bytes == 64);
    data_type_out->element_type = element_type;
    data_type_out->width_bytes = 4;
    data_type_out->native = 77;
    *count_out = bytes / 4;
    return done(21, error);
}

static v1_status all_reduce(v1_comm *in, v1_buffer source, v1_buffer destination, v1_data_type type,
                            size_t count, int op, v1_stream *on, v1_error *error) {
    expect(in == &comm && is_memory(source, 32) && is_memory(destination, 64) && is_f32(type));
    expect(count == 8 && op == V1_MEAN && on == &stream);
    return done(22, error);
}

static v1_status send(v1_comm *in, v1_buffer source, v1_data_type type, size_t count, int32_t peer,
                      v1_stream *on, v1_error *error) {
    expect(in == &comm && is_memory(source, 64) && is_f32(type));
    expect(count == 8 && peer == 3 && on == &stream);
    return done(23, error);
}

static v1_status recv(v1_comm *in, v1_buffer destination, v1_data_type type, size_t count,
                      int32_t peer, v1_stream *on, v1_error *error) {
    expect(in == &comm && is_memory(destination, 64) && is_f32(type));
    expect(count == 8 && peer == 3 && on == &stream);
    return done(24, error);
}

static v1_status leave(v1_comm *in, v1_error *error) {
    expect(in == &comm);
    return done(25, error);
}

static const v1_table TABLE = {
    sizeof(v1_table),
    0,
    "frozen",
    device_count,
    device_open,
    memory_allocate,
    memory_free,
    copy_to_device,
    copy_to_host,
    copy_on_device,
    fill,
    host_function,
    stream_create,
    stream_destroy,
    stream_synchronize,
    stream_query,
    event_create,
    event_destroy,
    event_record,
    event_wait,
    event_query,
    event_synchronize,
    group_id,
    join,
    data_type,
    all_reduce,
    send,
    recv,
    leave,
};

const void *frozen_v1_table(void) {
    return &TABLE;
}
