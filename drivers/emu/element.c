#include "drivers/emu/element.h"

#include <assert.h>
#include <string.h>

#include "drivers/emu/small_float.h"

enum {
    F64_FRACTION_BITS = 52,
    F64_EXPONENT_MASK = 0x7FF,
    F64_EXPONENT_BIAS = 1023,
    F64_PRECISION_BITS = 53,
};

/* The value's integer part modulo 2^64, in two's complement. */
static uint64_t integer_of_double(double value) {
    const uint64_t bits = emu_f64_bits(value);
    const int exponent = (int)((bits >> F64_FRACTION_BITS) & F64_EXPONENT_MASK);
    if (exponent == F64_EXPONENT_MASK) return 0; /* NaN and infinities */
    const uint64_t one = UINT64_C(1) << F64_FRACTION_BITS;
    const uint64_t significand = (bits & (one - 1)) | (exponent == 0 ? 0 : one);
    const int shift = exponent - F64_EXPONENT_BIAS - F64_FRACTION_BITS;
    uint64_t magnitude = 0;
    if (shift >= 0 && shift < 64) magnitude = significand << shift;
    if (shift < 0 && shift > -64) magnitude = significand >> -shift;
    return bits >> 63 ? UINT64_C(0) - magnitude : magnitude;
}

/* A double that rounds to any narrower format as the integer itself does: the bits that a double
 * has no room for are remembered by making its last bit 1. */
static double odd_double_of_magnitude(uint64_t magnitude) {
    const int extra_bits = 64 - F64_PRECISION_BITS;
    if (magnitude >> F64_PRECISION_BITS == 0) return (double)magnitude;
    const uint64_t lost = magnitude & ((UINT64_C(1) << extra_bits) - 1);
    return (double)((magnitude >> extra_bits) | (lost != 0)) * (double)(1 << extra_bits);
}

static void write_float(tutti_element_type type, double value, void *element) {
    uint8_t code8;
    uint16_t code16;
    float single;
    switch (type) {
    case TUTTI_F8E4M3:
        code8 = emu_f8e4m3_from_f64(value);
        memcpy(element, &code8, sizeof code8);
        return;
    case TUTTI_F8E5M2:
        code8 = emu_f8e5m2_from_f64(value);
        memcpy(element, &code8, sizeof code8);
        return;
    case TUTTI_F16:
        code16 = emu_f16_from_f64(value);
        memcpy(element, &code16, sizeof code16);
        return;
    case TUTTI_BF16:
        code16 = emu_bf16_from_f64(value);
        memcpy(element, &code16, sizeof code16);
        return;
    case TUTTI_F32:
        single = emu_f32_from_f64(value);
        memcpy(element, &single, sizeof single);
        return;
    default:
        assert(type == TUTTI_F64);
        if (value != value) value = emu_f64_of_bits(EMU_F64_NAN_BITS);
        memcpy(element, &value, sizeof value);
    }
}

/* Returns 1 when the type is an integer, and writes the low bits then. */
static int write_integer(tutti_element_type type, uint64_t value, void *element) {
    const uint8_t low8 = (uint8_t)value;
    const uint32_t low32 = (uint32_t)value;
    switch (type) {
    case TUTTI_I8:
    case TUTTI_U8:
        memcpy(element, &low8, sizeof low8);
        return 1;
    case TUTTI_I32:
    case TUTTI_U32:
        memcpy(element, &low32, sizeof low32);
        return 1;
    case TUTTI_I64:
    case TUTTI_U64:
        memcpy(element, &value, sizeof value);
        return 1;
    default:
        return 0;
    }
}

/* Returns 1 when the type is an integer, and gives its value modulo 2^64 then. */
static int read_integer(tutti_element_type type, const void *element, uint64_t *value_out) {
    uint8_t low8;
    uint32_t low32;
    switch (type) {
    case TUTTI_I8:
        memcpy(&low8, element, sizeof low8);
        *value_out = (uint64_t)(int8_t)low8;
        return 1;
    case TUTTI_U8:
        memcpy(&low8, element, sizeof low8);
        *value_out = low8;
        return 1;
    case TUTTI_I32:
        memcpy(&low32, element, sizeof low32);
        *value_out = (uint64_t)(int32_t)low32;
        return 1;
    case TUTTI_U32:
        memcpy(&low32, element, sizeof low32);
        *value_out = low32;
        return 1;
    case TUTTI_I64:
    case TUTTI_U64:
        memcpy(value_out, element, sizeof *value_out);
        return 1;
    default:
        return 0;
    }
}

static double read_float(tutti_element_type type, const void *element) {
    uint8_t code8;
    uint16_t code16;
    float single;
    double value;
    switch (type) {
    case TUTTI_F8E4M3:
        memcpy(&code8, element, sizeof code8);
        value = emu_f32_from_f8e4m3(code8);
        break;
    case TUTTI_F8E5M2:
        memcpy(&code8, element, sizeof code8);
        value = emu_f32_from_f8e5m2(code8);
        break;
    case TUTTI_F16:
        memcpy(&code16, element, sizeof code16);
        value = emu_f32_from_f16(code16);
        break;
    case TUTTI_BF16:
        memcpy(&code16, element, sizeof code16);
        value = emu_f32_from_bf16(code16);
        break;
    case TUTTI_F32:
        memcpy(&single, element, sizeof single);
        value = single;
        break;
    default:
        assert(type == TUTTI_F64);
        memcpy(&value, element, sizeof value);
    }
    return value != value ? emu_f64_of_bits(EMU_F64_NAN_BITS) : value;
}

double emu_element_to_double(tutti_element_type type, const void *element) {
    uint64_t integer;
    if (!read_integer(type, element, &integer)) return read_float(type, element);
    const int is_unsigned = type == TUTTI_U8 || type == TUTTI_U32 || type == TUTTI_U64;
    return is_unsigned ? (double)integer : (double)(int64_t)integer;
}

void emu_element_from_double(tutti_element_type type, double value, void *element) {
    if (!write_integer(type, integer_of_double(value), element)) write_float(type, value, element);
}

void emu_element_from_i64(tutti_element_type type, int64_t value, void *element) {
    if (write_integer(type, (uint64_t)value, element)) return;
    if (type == TUTTI_F64) {
        write_float(type, (double)value, element);
        return;
    }
    const uint64_t magnitude = value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;
    const double rounded = odd_double_of_magnitude(magnitude);
    write_float(type, value < 0 ? -rounded : rounded, element);
}

void emu_element_from_u64(tutti_element_type type, uint64_t value, void *element) {
    if (write_integer(type, value, element)) return;
    write_float(type, type == TUTTI_F64 ? (double)value : odd_double_of_magnitude(value), element);
}

int64_t emu_element_to_i64(tutti_element_type type, const void *element) {
    return (int64_t)emu_element_to_u64(type, element);
}

uint64_t emu_element_to_u64(tutti_element_type type, const void *element) {
    uint64_t integer;
    if (read_integer(type, element, &integer)) return integer;
    return integer_of_double(read_float(type, element));
}
