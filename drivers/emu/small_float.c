#include "drivers/emu/small_float.h"

/* Rounds to one of the two neighbouring f32s: to the number itself when it is one, else to the one
 * whose last bit is 1. That bit remembers "there was more", so a second rounding, to a format with
 * at least two fraction bits less, ends where a single one would have. */
static float f32_to_odd(double value) {
    const float nearest = (float)value;
    uint32_t bits = emu_f32_bits(nearest);
    const int exact = (double)nearest == value || value != value;
    if (exact || (bits & 1)) return nearest;
    const double magnitude = value < 0 ? -value : value;
    const double nearest_magnitude = nearest < 0 ? -(double)nearest : (double)nearest;
    bits = nearest_magnitude > magnitude ? bits - 1 : bits + 1;
    return emu_f32_of_bits(bits);
}

float emu_f32_from_f64(double value) {
    return value != value ? emu_f32_of_bits(EMU_F32_NAN_BITS) : (float)value;
}

uint16_t emu_f16_from_f64(double value) {
    return emu_f16_from_f32(f32_to_odd(value));
}

uint16_t emu_bf16_from_f64(double value) {
    return emu_bf16_from_f32(f32_to_odd(value));
}

uint8_t emu_f8e4m3_from_f64(double value) {
    return emu_f8e4m3_from_f32(f32_to_odd(value));
}

uint8_t emu_f8e5m2_from_f64(double value) {
    return emu_f8e5m2_from_f32(f32_to_odd(value));
}
