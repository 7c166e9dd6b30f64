// Conversions of the 8- and 16-bit floats, against a table of all their values that is made here,
// and against the oracle.
#include "drivers/emu/small_float.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/harness/oracle.h"
#include "gtest/gtest.h"

namespace {

// A format and the functions under test, codes as uint32_t.
struct Format {
    std::string name;
    tutti_element_type type;
    int bits;
    int fraction_bits;
    int bias;
    bool has_infinity; // an all-ones exponent is infinity and NaN; otherwise only all ones is NaN
    uint32_t nan;
    uint32_t overflow; // the code that too large numbers get
    float (*to_f32)(uint32_t code);
    uint32_t (*from_f32)(float value);
    uint32_t (*from_exact_f32)(float value);
    uint32_t (*from_f64)(double value);
    float (*round)(float value);

    uint32_t sign_bit() const {
        return 1U << (bits - 1);
    }
    uint32_t code_count() const {
        return 1U << bits;
    }
};

#define FORMAT(name, type, code, bits, fraction_bits, bias, has_infinity, nan, overflow)           \
    Format {                                                                                       \
#name, type, bits, fraction_bits, bias, has_infinity, nan, overflow,                       \
            [](uint32_t c) { return emu_f32_from_##name(static_cast<code>(c)); },                  \
            [](float v) -> uint32_t { return emu_##name##_from_f32(v); },                          \
            [](float v) -> uint32_t { return emu_##name##_from_exact_f32(v); },                    \
            [](double v) -> uint32_t { return emu_##name##_from_f64(v); },                         \
            [](float v) { return emu_f32_round_to_##name(v); }       \
    }

const Format kFormats[] = {
    FORMAT(f16, TUTTI_F16, uint16_t, 16, 10, 15, true, 0x7FFF, 0x7C00),
    FORMAT(bf16, TUTTI_BF16, uint16_t, 16, 7, 127, true, 0x7FFF, 0x7F80),
    FORMAT(f8e4m3, TUTTI_F8E4M3, uint8_t, 8, 3, 7, false, 0x7F, 0x7E),
    FORMAT(f8e5m2, TUTTI_F8E5M2, uint8_t, 8, 2, 15, true, 0x7F, 0x7B),
};

class SmallFloat : public ::testing::TestWithParam<Format> {};

INSTANTIATE_TEST_SUITE_P(Formats, SmallFloat, ::testing::ValuesIn(kFormats),
                         [](const auto &format) { return format.param.name; });

// What a code means, by the definition of the format.
double value_of(const Format &format, uint32_t code) {
    const double sign = (code & format.sign_bit()) != 0 ? -1.0 : 1.0;
    const uint32_t magnitude = code & (format.sign_bit() - 1);
    const int exponent = static_cast<int>(magnitude >> format.fraction_bits);
    const int fraction = static_cast<int>(magnitude & ((1U << format.fraction_bits) - 1));
    const int one = 1 << format.fraction_bits;
    const int exponent_mask = (1 << (format.bits - 1 - format.fraction_bits)) - 1;
    const bool special =
        format.has_infinity ? exponent == exponent_mask : magnitude == format.sign_bit() - 1;
    if (special && format.has_infinity && fraction == 0) {
        return sign * std::numeric_limits<double>::infinity();
    }
    if (special) return std::numeric_limits<double>::quiet_NaN();
    const int scale = 1 - format.bias - format.fraction_bits;
    if (exponent == 0) return sign * std::ldexp(fraction, scale);
    return sign * std::ldexp(one + fraction, scale + exponent - 1);
}

TEST_P(SmallFloat, EveryCodeHasTheValueOfItsDefinition) {
    const Format &format = GetParam();
    for (uint32_t code = 0; code < format.code_count(); ++code) {
        const double expected = value_of(format, code);
        const float value = format.to_f32(code);
        const uint64_t by_oracle = oracle_convert(format.type, TUTTI_F32, code);
        ASSERT_EQ(emu_f32_bits(value), by_oracle) << std::hex << code;
        if (std::isnan(expected)) {
            ASSERT_EQ(emu_f32_bits(value), EMU_F32_NAN_BITS) << std::hex << code;
        } else {
            ASSERT_EQ(static_cast<double>(value), expected) << std::hex << code;
            ASSERT_EQ(std::signbit(value), std::signbit(expected)) << std::hex << code;
        }
    }
}

TEST_P(SmallFloat, EveryNumberComesBackAsItsCode) {
    const Format &format = GetParam();
    for (uint32_t code = 0; code < format.code_count(); ++code) {
        const float value = format.to_f32(code);
        const bool saturates = std::isinf(value) && format.bits == 8;
        const uint32_t kept = std::isnan(value) ? format.nan : code;
        const uint32_t sign = code & format.sign_bit();
        const uint32_t expected = saturates ? sign | format.overflow : kept;
        ASSERT_EQ(format.from_f32(value), expected) << std::hex << code;
        ASSERT_EQ(format.from_f64(value), expected) << std::hex << code;
        ASSERT_EQ(format.from_exact_f32(value), kept) << std::hex << code;
        if (saturates || std::isnan(value)) continue;
        ASSERT_EQ(emu_f32_bits(format.round(value)), emu_f32_bits(value)) << std::hex << code;
    }
}

// Rounding is monotonic, so to be right at every boundary between two neighbours, and just beside
// it, is to be right everywhere.
TEST_P(SmallFloat, EveryBoundaryBetweenNeighboursIsRoundedToNearestEven) {
    const Format &format = GetParam();
    for (uint32_t code = 0; std::isfinite(value_of(format, code + 1)); ++code) {
        const double low = value_of(format, code);
        const double high = value_of(format, code + 1);
        const double middle = low + (high - low) / 2;
        const auto single = static_cast<float>(middle);
        ASSERT_EQ(static_cast<double>(single), middle);
        const uint32_t even = code + (code & 1);
        for (const uint32_t sign : {0U, format.sign_bit()}) {
            const double way = sign != 0 ? -1 : 1;
            const auto way_single = static_cast<float>(way);
            EXPECT_EQ(format.from_f64(way * middle), sign | even);
            EXPECT_EQ(format.from_f64(way * std::nextafter(middle, low)), sign | code);
            EXPECT_EQ(format.from_f64(way * std::nextafter(middle, high)), sign | (code + 1));
            EXPECT_EQ(format.from_f32(way_single * single), sign | even);
            const float below = std::nextafterf(single, static_cast<float>(low));
            const float above = std::nextafterf(single, static_cast<float>(high));
            EXPECT_EQ(format.from_f32(way_single * below), sign | code);
            EXPECT_EQ(format.from_f32(way_single * above), sign | (code + 1));
            ASSERT_FALSE(HasFailure()) << "between codes " << code << " and " << code + 1;
        }
    }
}

TEST_P(SmallFloat, WhatIsTooLargeOverflows) {
    const Format &format = GetParam();
    uint32_t largest = 0;
    while (std::isfinite(value_of(format, largest + 1)))
        ++largest;
    const double step = value_of(format, largest) - value_of(format, largest - 1);
    const double boundary = value_of(format, largest) + step / 2; // an odd code: the tie goes up
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(format.from_f64(std::nextafter(boundary, 0.0)), largest);
    for (const double value : {std::nextafter(boundary, infinity), 1e300, infinity}) {
        EXPECT_EQ(format.from_f64(value), format.overflow) << value;
        EXPECT_EQ(format.from_f64(-value), format.sign_bit() | format.overflow) << value;
        EXPECT_EQ(format.from_f32(static_cast<float>(value)), format.overflow) << value;
    }
}

TEST_P(SmallFloat, EveryNanBecomesTheOneNan) {
    const Format &format = GetParam();
    for (const uint32_t bits : {0x7F800001U, 0x7FC00000U, 0x7FFFFFFFU, 0xFF800001U, 0xFFFFFFFFU}) {
        EXPECT_EQ(format.from_f32(emu_f32_of_bits(bits)), format.nan) << std::hex << bits;
        EXPECT_TRUE(std::isnan(format.round(emu_f32_of_bits(bits)))) << std::hex << bits;
    }
    for (const uint64_t bits : {0x7FF0000000000001U, 0x7FF8000000000000U, 0xFFFFFFFFFFFFFFFFU}) {
        EXPECT_EQ(format.from_f64(emu_f64_of_bits(bits)), format.nan) << std::hex << bits;
    }
}

TEST_P(SmallFloat, ConversionsOfSinglesAgreeWithTheOracle) {
    const Format &format = GetParam();
    // All signs and exponents; fractions that a multiplication scatters.
    for (uint32_t i = 0; i < 1U << 18; ++i) {
        const uint32_t bits = (i << 23) | ((i * 2654435761U) >> 9);
        const uint64_t expected = oracle_convert(TUTTI_F32, format.type, bits);
        const float value = emu_f32_of_bits(bits);
        ASSERT_EQ(format.from_f32(value), expected) << std::hex << bits;
        if (!std::isnan(value)) {
            ASSERT_EQ(format.from_exact_f32(format.round(value)), expected) << std::hex << bits;
        }
    }
}

TEST_P(SmallFloat, ConversionsOfDoublesAgreeWithTheOracle) {
    const Format &format = GetParam();
    for (uint64_t i = 0; i < 1U << 18; ++i) {
        const uint64_t bits = (i << 52) | ((i * 0x9E3779B97F4A7C15U) >> 12);
        // Doubles of which most are far out of range say little: take them with f32's exponents
        // too.
        const uint64_t near = (bits & 0x800FFFFFFFFFFFFFU) | ((0x3FF - 150 + i % 300) << 52);
        for (const uint64_t input : {bits, near}) {
            const double value = emu_f64_of_bits(input);
            const uint64_t expected = oracle_convert(TUTTI_F64, format.type, input);
            ASSERT_EQ(format.from_f64(value), expected) << std::hex << input;
            ASSERT_EQ(emu_f32_bits(emu_f32_from_f64(value)),
                      oracle_convert(TUTTI_F64, TUTTI_F32, input))
                << std::hex << input;
        }
    }
}

TEST(SmallFloatHalf, EveryHalfBecomesTheRightByteAndBack) {
    for (uint32_t code = 0; code < 1U << 16; ++code) {
        const auto half = static_cast<uint16_t>(code);
        ASSERT_EQ(emu_f8e4m3_from_f16(half), oracle_convert(TUTTI_F16, TUTTI_F8E4M3, code));
        ASSERT_EQ(emu_f8e5m2_from_f16(half), oracle_convert(TUTTI_F16, TUTTI_F8E5M2, code));
    }
    for (uint32_t code = 0; code < 1U << 8; ++code) {
        const auto byte = static_cast<uint8_t>(code);
        ASSERT_EQ(emu_f16_from_f8e4m3(byte), oracle_convert(TUTTI_F8E4M3, TUTTI_F16, code));
        ASSERT_EQ(emu_f16_from_f8e5m2(byte), oracle_convert(TUTTI_F8E5M2, TUTTI_F16, code));
    }
}

// reduce_float.c rests on this: a hop of 8-bit floats may leave out the rounding to f16 in between.
TEST(SmallFloatHalf, AHopThroughHalfIsOneRounding) {
    for (uint32_t pair = 0; pair < 1U << 16; ++pair) {
        const auto left = static_cast<uint8_t>(pair >> 8);
        const auto right = static_cast<uint8_t>(pair);
        const float a4 = emu_f32_from_f8e4m3(left);
        const float b4 = emu_f32_from_f8e4m3(right);
        const float a5 = emu_f32_from_f8e5m2(left);
        const float b5 = emu_f32_from_f8e5m2(right);
        for (const float exact : {a4 + b4, a4 * b4}) {
            ASSERT_EQ(emu_f8e4m3_from_f16(emu_f16_from_f32(exact)), emu_f8e4m3_from_f32(exact));
        }
        for (const float exact : {a5 + b5, a5 * b5}) {
            ASSERT_EQ(emu_f8e5m2_from_f16(emu_f16_from_f32(exact)), emu_f8e5m2_from_f32(exact));
        }
    }
}

} // namespace
