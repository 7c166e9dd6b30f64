#ifndef TUTTI_EMU_SMALL_FLOAT_H
#define TUTTI_EMU_SMALL_FLOAT_H

/* The 8- and 16-bit floats, held as codes in uint8_t and uint16_t, and their conversions.
 *
 * Rounding: to nearest, ties to even, once, from the exact value. f16 and bf16 overflow to
 *   infinity. The two 8-bit floats saturate, as CUDA's conversions with __NV_SATFINITE do: whatever
 *   is larger than the largest finite number, infinity included, becomes that number (448 and
 *   57344) with its sign.
 * NaN: every NaN becomes one pattern, the type's NaN with sign 0 and all other bits set, which is
 *   the NaN that NVIDIA's GPUs make (f64's follows the same rule). Sign and payload are dropped.
 * Subnormals are kept, in both directions.
 *
 * All functions are pure. The inline ones have no branch, so that loops over them become vector
 * code. They want the default floating-point environment: round to nearest. */

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    EMU_F16_NAN = 0x7FFF,
    EMU_BF16_NAN = 0x7FFF,
    EMU_F8E4M3_NAN = 0x7F,
    EMU_F8E5M2_NAN = 0x7F,
};
#define EMU_F32_NAN_BITS UINT32_C(0x7FFFFFFF)
#define EMU_F64_NAN_BITS UINT64_C(0x7FFFFFFFFFFFFFFF)

#define EMU_F32_SIGN_BIT      UINT32_C(0x80000000)
#define EMU_F32_INFINITY_BITS UINT32_C(0x7F800000)
#define EMU_F32_EXPONENT_ONE  UINT32_C(0x00800000) /* one step of the exponent */

static inline uint32_t emu_f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float emu_f32_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t emu_f64_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double emu_f64_of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* `yes` when the condition is 1, `no` when it is 0. With `?:`, gcc would move the float arithmetic
 * that only one side needs into a branch, and a loop with a branch gets no vector code. */
static inline uint32_t emu_either(int condition, uint32_t yes, uint32_t no) {
    const uint32_t mask = UINT32_C(0) - (uint32_t)condition;
    return (yes & mask) | (no & ~mask);
}

/* A float format whose every number is an f32 too, with fewer exponents. "Code" is the format's own
 * bits without the sign; "bits" are those of the same number as an f32. */
typedef struct emu_small_layout {
    uint32_t dropped_bits;    /* how many of f32's 23 fraction bits the format lacks */
    uint32_t sign_shift;      /* from the format's sign bit up to f32's */
    uint32_t min_normal_bits; /* the smallest normal number */
    uint32_t max_finite_bits; /* the largest finite number */
    uint32_t overflow_bits;   /* what larger numbers become */
    uint32_t infinity_code;   /* out of reach (0x80) when the format has no infinity */
    uint32_t nan_code;        /* the NaN that conversions make */
    float quantum;            /* the smallest subnormal; all subnormals are multiples of it */
    float aligner;            /* 2^23 quanta: a sum with it is a whole number of quanta in f32 */
} emu_small_layout;

static const emu_small_layout EMU_F16_LAYOUT = {
    13, 16, 0x38800000, 0x477FE000, 0x7F800000, 0x7C00, EMU_F16_NAN, 0x1p-24f, 0.5f};
static const emu_small_layout EMU_F8E4M3_LAYOUT = {
    20, 24, 0x3C800000, 0x43E00000, 0x43E00000, 0x80, EMU_F8E4M3_NAN, 0x1p-9f, 16384.0f};
static const emu_small_layout EMU_F8E5M2_LAYOUT = {
    21, 24, 0x38800000, 0x47600000, 0x47600000, 0x7C, EMU_F8E5M2_NAN, 0x1p-16f, 128.0f};

/* The nearest number of the format, as an f32. NaN stays as it is. */
static inline float emu_small_round(float value, emu_small_layout layout) {
    const uint32_t bits = emu_f32_bits(value);
    const uint32_t magnitude = bits & ~EMU_F32_SIGN_BIT;
    const uint32_t unit = UINT32_C(1) << layout.dropped_bits;
    const uint32_t below_half = unit / 2 - 1;
    /* Adding just less than half a unit, or half when the last kept bit is odd, carries exactly
     * when the number has to go up; a carry out of the fraction steps the exponent, as it should.
     */
    const uint32_t odd = (magnitude >> layout.dropped_bits) & 1;
    const uint32_t normal = (magnitude + below_half + odd) & ~(unit - 1);
    const uint32_t subnormal =
        emu_f32_bits((emu_f32_of_bits(magnitude) + layout.aligner) - layout.aligner);
    uint32_t rounded = emu_either(magnitude < layout.min_normal_bits, subnormal, normal);
    rounded = emu_either(rounded > layout.max_finite_bits, layout.overflow_bits, rounded);
    rounded = emu_either(magnitude > EMU_F32_INFINITY_BITS, magnitude, rounded);
    return emu_f32_of_bits((bits & EMU_F32_SIGN_BIT) | rounded);
}

/* The code, with its sign, of a number that the format has. */
static inline uint32_t emu_small_encode(float number, emu_small_layout layout) {
    const uint32_t bits = emu_f32_bits(number);
    const uint32_t magnitude = bits & ~EMU_F32_SIGN_BIT;
    const uint32_t sign = (bits & EMU_F32_SIGN_BIT) >> layout.sign_shift;
    const uint32_t normal =
        (magnitude - layout.min_normal_bits + EMU_F32_EXPONENT_ONE) >> layout.dropped_bits;
    const uint32_t subnormal =
        emu_f32_bits(emu_f32_of_bits(magnitude) + layout.aligner) - emu_f32_bits(layout.aligner);
    uint32_t code = emu_either(magnitude < layout.min_normal_bits, subnormal, normal);
    code = emu_either(magnitude == EMU_F32_INFINITY_BITS, layout.infinity_code, code);
    return emu_either(magnitude > EMU_F32_INFINITY_BITS, layout.nan_code, sign | code);
}

/* The number that a code, with its sign, stands for. */
static inline float emu_small_decode(uint32_t signed_code, emu_small_layout layout) {
    const uint32_t sign = (signed_code << layout.sign_shift) & EMU_F32_SIGN_BIT;
    const uint32_t code = signed_code & ((EMU_F32_SIGN_BIT >> layout.sign_shift) - 1);
    const uint32_t normal =
        (code << layout.dropped_bits) + (layout.min_normal_bits - EMU_F32_EXPONENT_ONE);
    const uint32_t subnormal = emu_f32_bits((float)(int32_t)code * layout.quantum);
    uint32_t magnitude = emu_either(normal < layout.min_normal_bits, subnormal, normal);
    magnitude = emu_either(code == layout.infinity_code, EMU_F32_INFINITY_BITS, magnitude);
    /* The all-ones code is a NaN in every format, and the only one where there is no infinity. */
    const int is_nan = (code > layout.infinity_code) | (code == layout.nan_code);
    return emu_f32_of_bits(emu_either(is_nan, EMU_F32_NAN_BITS, sign | magnitude));
}

/* For each type T: the nearest number that T has, as an f32 (NaN stays as it is); T's code of an
 * f32; T's code of an f32 that is a number of T, or NaN, already, which saves the rounding; the
 * number that a code of T stands for. */

static inline float emu_f32_round_to_f16(float value) {
    return emu_small_round(value, EMU_F16_LAYOUT);
}
static inline uint16_t emu_f16_from_exact_f32(float number) {
    return (uint16_t)emu_small_encode(number, EMU_F16_LAYOUT);
}
static inline uint16_t emu_f16_from_f32(float value) {
    return emu_f16_from_exact_f32(emu_f32_round_to_f16(value));
}
static inline float emu_f32_from_f16(uint16_t code) {
    return emu_small_decode(code, EMU_F16_LAYOUT);
}

/* bf16 has f32's exponents, so its numbers are f32s with 16 fraction bits that are zero. */
static inline float emu_f32_round_to_bf16(float value) {
    const uint32_t bits = emu_f32_bits(value);
    const uint32_t magnitude = bits & ~EMU_F32_SIGN_BIT;
    const uint32_t odd = (bits >> 16) & 1;
    const uint32_t rounded = (bits + 0x7FFF + odd) & UINT32_C(0xFFFF0000);
    return emu_f32_of_bits(emu_either(magnitude > EMU_F32_INFINITY_BITS, bits, rounded));
}
static inline uint16_t emu_bf16_from_exact_f32(float number) {
    const uint32_t bits = emu_f32_bits(number);
    const uint32_t magnitude = bits & ~EMU_F32_SIGN_BIT;
    return (uint16_t)emu_either(magnitude > EMU_F32_INFINITY_BITS, EMU_BF16_NAN, bits >> 16);
}
static inline uint16_t emu_bf16_from_f32(float value) {
    return emu_bf16_from_exact_f32(emu_f32_round_to_bf16(value));
}
static inline float emu_f32_from_bf16(uint16_t code) {
    const uint32_t bits = (uint32_t)code << 16;
    const uint32_t magnitude = bits & ~EMU_F32_SIGN_BIT;
    return emu_f32_of_bits(emu_either(magnitude > EMU_F32_INFINITY_BITS, EMU_F32_NAN_BITS, bits));
}

static inline float emu_f32_round_to_f8e4m3(float value) {
    return emu_small_round(value, EMU_F8E4M3_LAYOUT);
}
static inline uint8_t emu_f8e4m3_from_exact_f32(float number) {
    return (uint8_t)emu_small_encode(number, EMU_F8E4M3_LAYOUT);
}
static inline uint8_t emu_f8e4m3_from_f32(float value) {
    return emu_f8e4m3_from_exact_f32(emu_f32_round_to_f8e4m3(value));
}
static inline float emu_f32_from_f8e4m3(uint8_t code) {
    return emu_small_decode(code, EMU_F8E4M3_LAYOUT);
}
static inline uint8_t emu_f8e4m3_from_f16(uint16_t code) {
    return emu_f8e4m3_from_f32(emu_f32_from_f16(code));
}
static inline uint16_t emu_f16_from_f8e4m3(uint8_t code) {
    return emu_f16_from_exact_f32(emu_f32_from_f8e4m3(code));
}

static inline float emu_f32_round_to_f8e5m2(float value) {
    return emu_small_round(value, EMU_F8E5M2_LAYOUT);
}
static inline uint8_t emu_f8e5m2_from_exact_f32(float number) {
    return (uint8_t)emu_small_encode(number, EMU_F8E5M2_LAYOUT);
}
static inline uint8_t emu_f8e5m2_from_f32(float value) {
    return emu_f8e5m2_from_exact_f32(emu_f32_round_to_f8e5m2(value));
}
static inline float emu_f32_from_f8e5m2(uint8_t code) {
    return emu_small_decode(code, EMU_F8E5M2_LAYOUT);
}
static inline uint8_t emu_f8e5m2_from_f16(uint16_t code) {
    return emu_f8e5m2_from_f32(emu_f32_from_f16(code));
}
static inline uint16_t emu_f16_from_f8e5m2(uint8_t code) {
    return emu_f16_from_exact_f32(emu_f32_from_f8e5m2(code));
}

/* From a double in one rounding. emu_f32_from_f64() gives the one NaN too, other than a cast. */
float emu_f32_from_f64(double value);
uint16_t emu_f16_from_f64(double value);
uint16_t emu_bf16_from_f64(double value);
uint8_t emu_f8e4m3_from_f64(double value);
uint8_t emu_f8e5m2_from_f64(double value);

#ifdef __cplusplus
}
#endif

#endif
