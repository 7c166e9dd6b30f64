#include "drivers/emu/reduce_kernels.h"

#include <assert.h>
#include <float.h>
#include <string.h>

#include "drivers/emu/small_float.h"

/* Results are promised bit by bit: no wider intermediate results, no reordering, no fused multiply
 * and add. There is no expression here that could be fused (scale and sum are kernels of their own,
 * with memory between them), and clang is told all the same. */
_Static_assert(FLT_EVAL_METHOD == 0, "float expressions must be evaluated in their own type");
#ifdef __FAST_MATH__
#error "reductions promise their bits: do not compile them with fast-math"
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* f32 values are accumulated as such, and so are those of all smaller types: see widen and narrow.
 * Where max and min find neither less nor greater, the two are equal, and then they differ in at
 * most the sign of a zero, or one is NaN. */

static inline float f32_widen(uint32_t bits) {
    return emu_f32_of_bits(bits);
}
static inline uint32_t f32_narrow(float value) {
    const uint32_t bits = emu_f32_bits(value);
    return (bits & ~EMU_F32_SIGN_BIT) > EMU_F32_INFINITY_BITS ? EMU_F32_NAN_BITS : bits;
}
static inline float f32_sum(float a, float b) {
    return a + b;
}
static inline float f32_prod(float a, float b) {
    return a * b;
}
static inline float f32_max(float a, float b) {
    const uint32_t a_bits = emu_f32_bits(a);
    const uint32_t b_bits = emu_f32_bits(b);
    uint32_t bits = a_bits & b_bits;
    bits = a > b ? a_bits : bits;
    bits = a < b ? b_bits : bits;
    bits = a != a ? b_bits : bits;
    bits = b != b ? a_bits : bits;
    return emu_f32_of_bits(bits);
}
static inline float f32_min(float a, float b) {
    const uint32_t a_bits = emu_f32_bits(a);
    const uint32_t b_bits = emu_f32_bits(b);
    uint32_t bits = a_bits | b_bits;
    bits = a < b ? a_bits : bits;
    bits = a > b ? b_bits : bits;
    bits = a != a ? b_bits : bits;
    bits = b != b ? a_bits : bits;
    return emu_f32_of_bits(bits);
}
EMU_REDUCE_KERNELS(f32, uint32_t, float, NULL)

static inline double f64_widen(uint64_t bits) {
    return emu_f64_of_bits(bits);
}
static inline uint64_t f64_narrow(double value) {
    return value != value ? EMU_F64_NAN_BITS : emu_f64_bits(value);
}
static inline double f64_sum(double a, double b) {
    return a + b;
}
static inline double f64_prod(double a, double b) {
    return a * b;
}
static inline double f64_max(double a, double b) {
    const uint64_t a_bits = emu_f64_bits(a);
    const uint64_t b_bits = emu_f64_bits(b);
    uint64_t bits = a_bits & b_bits;
    bits = a > b ? a_bits : bits;
    bits = a < b ? b_bits : bits;
    bits = a != a ? b_bits : bits;
    bits = b != b ? a_bits : bits;
    return emu_f64_of_bits(bits);
}
static inline double f64_min(double a, double b) {
    const uint64_t a_bits = emu_f64_bits(a);
    const uint64_t b_bits = emu_f64_bits(b);
    uint64_t bits = a_bits | b_bits;
    bits = a < b ? a_bits : bits;
    bits = a > b ? b_bits : bits;
    bits = a != a ? b_bits : bits;
    bits = b != b ? a_bits : bits;
    return emu_f64_of_bits(bits);
}
EMU_REDUCE_KERNELS(f64, uint64_t, double, NULL)

/* A 16-bit float: the accumulator is an f32 that always holds a number of the type. */
#define HALF_KERNELS(name)                                                                         \
    static inline float name##_widen(uint16_t code) {                                              \
        return emu_f32_from_##name(code);                                                          \
    }                                                                                              \
    static inline uint16_t name##_narrow(float value) {                                            \
        return emu_##name##_from_exact_f32(value);                                                 \
    }                                                                                              \
    static inline float name##_sum(float a, float b) {                                             \
        return emu_f32_round_to_##name(a + b);                                                     \
    }                                                                                              \
    static inline float name##_prod(float a, float b) {                                            \
        return emu_f32_round_to_##name(a * b);                                                     \
    }                                                                                              \
    static inline float name##_max(float a, float b) {                                             \
        return f32_max(a, b);                                                                      \
    }                                                                                              \
    static inline float name##_min(float a, float b) {                                             \
        return f32_min(a, b);                                                                      \
    }                                                                                              \
    EMU_REDUCE_KERNELS(name, uint16_t, float, NULL)

HALF_KERNELS(f16)
HALF_KERNELS(bf16)

/* An 8-bit float. The rounding to f16 that belongs to each hop is left out: f16 has so many more
 * fraction bits that rounding to it first never changes what the 8-bit type gets, and what
 * overflows to infinity in f16 saturates anyhow (SmallFloatHalf.AHopThroughHalfIsOneRounding goes
 * through all pairs). Max and min are converted back to the type as well, which is what makes a
 * finite number of an infinity that f8e5m2 inputs hold. */
#define QUARTER_KERNELS(name)                                                                      \
    static inline float name##_widen(uint8_t code) {                                               \
        return emu_f32_from_##name(code);                                                          \
    }                                                                                              \
    static inline uint8_t name##_narrow(float value) {                                             \
        return emu_##name##_from_exact_f32(value);                                                 \
    }                                                                                              \
    static inline float name##_sum(float a, float b) {                                             \
        return emu_f32_round_to_##name(a + b);                                                     \
    }                                                                                              \
    static inline float name##_prod(float a, float b) {                                            \
        return emu_f32_round_to_##name(a * b);                                                     \
    }                                                                                              \
    static inline float name##_max(float a, float b) {                                             \
        return emu_f32_round_to_##name(f32_max(a, b));                                             \
    }                                                                                              \
    static inline float name##_min(float a, float b) {                                             \
        return emu_f32_round_to_##name(f32_min(a, b));                                             \
    }                                                                                              \
    EMU_REDUCE_KERNELS(name, uint8_t, float, NULL)

QUARTER_KERNELS(f8e4m3)
QUARTER_KERNELS(f8e5m2)

const emu_reduce_kernels *emu_reduce_kernels_of_float(tutti_element_type type) {
    switch (type) {
    case TUTTI_F32:
        return &f32_kernels;
    case TUTTI_F64:
        return &f64_kernels;
    case TUTTI_F16:
        return &f16_kernels;
    case TUTTI_BF16:
        return &bf16_kernels;
    case TUTTI_F8E4M3:
        return &f8e4m3_kernels;
    default:
        assert(type == TUTTI_F8E5M2);
        return &f8e5m2_kernels;
    }
}
