#include "drivers/emu/reduce_kernels.h"

#include <assert.h>
#include <string.h>

/* Arithmetic on the unsigned type of the same width wraps; converting back to a signed type keeps
 * the bits (gcc and clang define that). The quotient is computed in 64 bits, since the number of
 * ranks may not fit into the type. */
#define INTEGER_KERNELS(name, element, bits, wide)                                                 \
    static inline element name##_widen(element value) {                                            \
        return value;                                                                              \
    }                                                                                              \
    static inline element name##_narrow(element value) {                                           \
        return value;                                                                              \
    }                                                                                              \
    static inline element name##_sum(element a, element b) {                                       \
        return (element)(bits)((bits)a + (bits)b);                                                 \
    }                                                                                              \
    static inline element name##_prod(element a, element b) {                                      \
        return (element)(bits)((bits)a * (bits)b);                                                 \
    }                                                                                              \
    static inline element name##_max(element a, element b) {                                       \
        return a > b ? a : b;                                                                      \
    }                                                                                              \
    static inline element name##_min(element a, element b) {                                       \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    static void name##_divide(unsigned char *elements, uint64_t divisor, size_t count) {           \
        for (size_t i = 0; i < count; ++i) {                                                       \
            element value;                                                                         \
            memcpy(&value, elements + i * sizeof value, sizeof value);                             \
            value = (element)((wide)value / (wide)divisor);                                        \
            memcpy(elements + i * sizeof value, &value, sizeof value);                             \
        }                                                                                          \
    }                                                                                              \
    EMU_REDUCE_KERNELS(name, element, element, name##_divide)

INTEGER_KERNELS(i8, int8_t, uint8_t, int64_t)
INTEGER_KERNELS(u8, uint8_t, uint8_t, uint64_t)
INTEGER_KERNELS(i32, int32_t, uint32_t, int64_t)
INTEGER_KERNELS(u32, uint32_t, uint32_t, uint64_t)
INTEGER_KERNELS(i64, int64_t, uint64_t, int64_t)
INTEGER_KERNELS(u64, uint64_t, uint64_t, uint64_t)

const emu_reduce_kernels *emu_reduce_kernels_of_integer(tutti_element_type type) {
    switch (type) {
    case TUTTI_I8:
        return &i8_kernels;
    case TUTTI_U8:
        return &u8_kernels;
    case TUTTI_I32:
        return &i32_kernels;
    case TUTTI_U32:
        return &u32_kernels;
    case TUTTI_I64:
        return &i64_kernels;
    default:
        assert(type == TUTTI_U64);
        return &u64_kernels;
    }
}
