#include "tutti/types.h"

#include <string.h>

/* One element type. */
typedef struct type_entry {
    tutti_element_type type;
    uint32_t width_bytes; /* 0: not carried */
    const char *name;
} type_entry;

/* The carried types first, each at the index that is its value. */
static const type_entry TYPES[] = {
    {TUTTI_I8, 1, "i8"},         {TUTTI_U8, 1, "u8"},
    {TUTTI_I32, 4, "i32"},       {TUTTI_U32, 4, "u32"},
    {TUTTI_I64, 8, "i64"},       {TUTTI_U64, 8, "u64"},
    {TUTTI_F16, 2, "f16"},       {TUTTI_F32, 4, "f32"},
    {TUTTI_F64, 8, "f64"},       {TUTTI_BF16, 2, "bf16"},
    {TUTTI_F8E4M3, 1, "f8e4m3"}, {TUTTI_F8E5M2, 1, "f8e5m2"},
    {TUTTI_INDEX, 0, "index"},   {TUTTI_BOOL, 0, "bool"},
    {TUTTI_F4E2M1, 0, "f4e2m1"}, {TUTTI_F4E2M1X2, 0, "f4e2m1x2"},
    {TUTTI_F6E2M3, 0, "f6e2m3"}, {TUTTI_F6E3M2, 0, "f6e3m2"},
    {TUTTI_UE8M0, 0, "ue8m0"},   {TUTTI_FLEX32, 0, "flex32"},
    {TUTTI_TF32, 0, "tf32"},     {TUTTI_I16, 0, "i16"},
    {TUTTI_U16, 0, "u16"},       {TUTTI_COMPLEX, 0, "complex"},
};

enum { TYPE_COUNT = sizeof(TYPES) / sizeof(TYPES[0]) };

/* At the index that is the operation's value. */
static const char *const OPS[TUTTI_REDUCE_OP_COUNT] = {"sum", "prod", "max", "min", "mean"};

static int is_name(const char *candidate, const char *name, size_t name_bytes) {
    return strlen(candidate) == name_bytes && memcmp(candidate, name, name_bytes) == 0;
}

const char *tutti_element_type_name(tutti_element_type type) {
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (TYPES[i].type == type) return TYPES[i].name;
    }
    return "unknown";
}

uint32_t tutti_element_type_width_bytes(tutti_element_type type) {
    const unsigned index = (unsigned)type;
    return index < TUTTI_CARRIED_TYPE_COUNT ? TYPES[index].width_bytes : 0;
}

tutti_status tutti_element_type_parse(const char *name, size_t name_bytes,
                                      tutti_element_type *type_out) {
    if (name == NULL || type_out == NULL) return TUTTI_INVALID_ARGUMENT;
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (is_name(TYPES[i].name, name, name_bytes)) {
            *type_out = TYPES[i].type;
            return TUTTI_OK;
        }
    }
    return TUTTI_INVALID_ARGUMENT;
}

const char *tutti_reduce_op_name(tutti_reduce_op op) {
    const unsigned index = (unsigned)op;
    return index < TUTTI_REDUCE_OP_COUNT ? OPS[index] : "unknown";
}

tutti_status tutti_reduce_op_parse(const char *name, size_t name_bytes, tutti_reduce_op *op_out) {
    if (name == NULL || op_out == NULL) return TUTTI_INVALID_ARGUMENT;
    if (is_name("avg", name, name_bytes)) {
        *op_out = TUTTI_MEAN;
        return TUTTI_OK;
    }
    for (unsigned i = 0; i < TUTTI_REDUCE_OP_COUNT; i++) {
        if (is_name(OPS[i], name, name_bytes)) {
            *op_out = (tutti_reduce_op)i;
            return TUTTI_OK;
        }
    }
    return TUTTI_INVALID_ARGUMENT;
}
