#ifndef TUTTI_TYPES_H
#define TUTTI_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "tutti/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The types that elements of a buffer can have. The first twelve are carried by collectives, in
 * NCCL's order; the others are named so that they can be refused by name. Values are ABI. */
typedef enum tutti_element_type {
    TUTTI_I8 = 0,
    TUTTI_U8 = 1,
    TUTTI_I32 = 2,
    TUTTI_U32 = 3,
    TUTTI_I64 = 4,
    TUTTI_U64 = 5,
    TUTTI_F16 = 6,
    TUTTI_F32 = 7,
    TUTTI_F64 = 8,
    TUTTI_BF16 = 9,
    TUTTI_F8E4M3 = 10,
    TUTTI_F8E5M2 = 11,
    TUTTI_CARRIED_TYPE_COUNT = 12, /* not a type: those below it are carried */
    TUTTI_INDEX = 32,
    TUTTI_BOOL = 33,
    TUTTI_F4E2M1 = 34,
    TUTTI_F4E2M1X2 = 35,
    TUTTI_F6E2M3 = 36,
    TUTTI_F6E3M2 = 37,
    TUTTI_UE8M0 = 38,
    TUTTI_FLEX32 = 39,
    TUTTI_TF32 = 40,
    TUTTI_I16 = 41,
    TUTTI_U16 = 42,
    TUTTI_COMPLEX = 43,
} tutti_element_type;

/* How elements are combined. Values are NCCL's and ABI; TUTTI_MEAN is NCCL's avg. */
typedef enum tutti_reduce_op {
    TUTTI_SUM = 0,
    TUTTI_PROD = 1,
    TUTTI_MAX = 2,
    TUTTI_MIN = 3,
    TUTTI_MEAN = 4,
    TUTTI_REDUCE_OP_COUNT = 5, /* not an operation */
} tutti_reduce_op;

/* A device's identity, equal in every process. */
typedef struct tutti_device_id {
    uint16_t type;  /* kind of device; the driver says which kinds it has */
    uint16_t index; /* among the devices of that kind */
} tutti_device_id;

/* Names a group of devices and a purpose; equal in every process (see tutti_communication_id). */
typedef uint64_t tutti_communication_id;

enum { TUTTI_UNIQUE_ID_BYTES = 128 };

/* The identifier that every rank of a group joins under. Copied by value; opaque. */
typedef struct tutti_unique_id {
    uint8_t bytes[TUTTI_UNIQUE_ID_BYTES];
} tutti_unique_id;

/* How a driver names an element type. Copied by value. */
typedef struct tutti_data_type {
    tutti_element_type element_type;
    uint32_t width_bytes; /* of one element */
    int32_t native;       /* the driver's own number for it */
} tutti_data_type;

/* A range of device memory, borrowed: the seeds' DeviceResource. A slice of an allocation is a
 * buffer too. */
typedef struct tutti_buffer {
    void *data;   /* first byte, in the device's memory; NULL only when bytes is 0 */
    size_t bytes; /* length */
} tutti_buffer;

/* The name of a type as documents write it ("f32", "bf16"), "unknown" outside of the list. */
const char *tutti_element_type_name(tutti_element_type type);

/* The width of one element of a carried type; 0 for types that are not carried. */
uint32_t tutti_element_type_width_bytes(tutti_element_type type);

/* Finds a type, carried or not, by its name.
 * Errors: TUTTI_INVALID_ARGUMENT when there is none; *type_out is then untouched. */
tutti_status tutti_element_type_parse(const char *name, size_t name_bytes,
                                      tutti_element_type *type_out);

/* The name of a reduction ("sum", "mean"), "unknown" outside of the list. */
const char *tutti_reduce_op_name(tutti_reduce_op op);

/* Finds a reduction by its name; "avg" is understood as mean.
 * Errors: TUTTI_INVALID_ARGUMENT when there is none; *op_out is then untouched. */
tutti_status tutti_reduce_op_parse(const char *name, size_t name_bytes, tutti_reduce_op *op_out);

/* The part of a buffer that starts at element `first` and holds `count` elements of the given
 * width, without any check: the call that receives it checks the bounds. */
static inline tutti_buffer tutti_buffer_slice(tutti_buffer buffer, size_t first, size_t count,
                                              uint32_t width_bytes) {
    tutti_buffer slice;
    slice.data = (char *)buffer.data + first * width_bytes;
    slice.bytes = count * width_bytes;
    return slice;
}

#ifdef __cplusplus
}
#endif

#endif
