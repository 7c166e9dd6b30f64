// Single elements as numbers.
#include "drivers/emu/element.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "drivers/emu/small_float.h"
#include "tests/harness/oracle.h"
#include "gtest/gtest.h"

namespace {

const double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

const tutti_element_type kIntegers[] = {TUTTI_I8,  TUTTI_U8,  TUTTI_I32,
                                        TUTTI_U32, TUTTI_I64, TUTTI_U64};
const tutti_element_type kFloats[] = {TUTTI_F16,  TUTTI_F32,    TUTTI_F64,
                                      TUTTI_BF16, TUTTI_F8E4M3, TUTTI_F8E5M2};

// An element in memory that is not aligned, between bytes that nothing may touch.
class Cell {
  public:
    Cell() {
        std::memset(bytes_, 0xA5, sizeof bytes_);
    }
    uint8_t *element() {
        return bytes_ + 1;
    }

    uint64_t bits(tutti_element_type type) {
        const size_t width = oracle_element_bytes(type);
        uint64_t value = 0;
        for (size_t i = 0; i < width; ++i)
            value |= uint64_t{bytes_[1 + i]} << (8 * i);
        EXPECT_EQ(bytes_[0], 0xA5);
        EXPECT_EQ(bytes_[1 + width], 0xA5);
        return value;
    }

  private:
    uint8_t bytes_[10];
};

uint64_t from_double(tutti_element_type type, double value) {
    Cell cell;
    emu_element_from_double(type, value, cell.element());
    return cell.bits(type);
}

uint64_t from_i64(tutti_element_type type, int64_t value) {
    Cell cell;
    emu_element_from_i64(type, value, cell.element());
    return cell.bits(type);
}

uint64_t from_u64(tutti_element_type type, uint64_t value) {
    Cell cell;
    emu_element_from_u64(type, value, cell.element());
    return cell.bits(type);
}

TEST(Element, SmallIntegersGoThroughEveryTypeUnchanged) {
    for (int type = 0; type < TUTTI_CARRIED_TYPE_COUNT; ++type) {
        const auto element_type = static_cast<tutti_element_type>(type);
        for (const int value : {0, 1, 2, 3, 7, 8}) {
            Cell cell;
            emu_element_from_double(element_type, value, cell.element());
            EXPECT_EQ(emu_element_to_double(element_type, cell.element()), value) << type;
            EXPECT_EQ(emu_element_to_i64(element_type, cell.element()), value) << type;
            EXPECT_EQ(from_i64(element_type, value), cell.bits(element_type)) << type;
            EXPECT_EQ(from_u64(element_type, static_cast<uint64_t>(value)), cell.bits(element_type))
                << type;
        }
    }
}

TEST(Element, IntegersThatDoNotFitWrap) {
    EXPECT_EQ(from_double(TUTTI_I8, 200.0), 200U); // the bits of -56
    EXPECT_EQ(from_double(TUTTI_U8, -1.0), 0xFFU);
    EXPECT_EQ(from_double(TUTTI_U8, 256.0), 0U);
    EXPECT_EQ(from_double(TUTTI_I32, 4294967297.0), 1U);
    EXPECT_EQ(from_double(TUTTI_I32, -2147483649.0), 0x7FFFFFFFU);
    EXPECT_EQ(from_double(TUTTI_I64, 0x1p63), uint64_t{1} << 63);
    EXPECT_EQ(from_double(TUTTI_U64, -0x1p63), uint64_t{1} << 63);
    EXPECT_EQ(from_double(TUTTI_U64, 0x1.8p64), uint64_t{1} << 63);
    EXPECT_EQ(from_double(TUTTI_U64, 0x1p64), 0U);
    EXPECT_EQ(from_double(TUTTI_U64, 0x1.fffffffffffffp+115), 0xFFFFFFFFFFFFFFFFU << 63);
    EXPECT_EQ(from_double(TUTTI_U64, std::numeric_limits<double>::max()), 0U);
    EXPECT_EQ(from_i64(TUTTI_I8, -129), 0x7FU);
    EXPECT_EQ(from_i64(TUTTI_U32, -1), 0xFFFFFFFFU);
    EXPECT_EQ(from_u64(TUTTI_I8, 0x1FF), 0xFFU);
}

TEST(Element, IntegersLoseTheFractionTowardZero) {
    EXPECT_EQ(from_double(TUTTI_I8, -3.99), 0xFDU);
    EXPECT_EQ(from_double(TUTTI_I8, 3.99), 3U);
    EXPECT_EQ(from_double(TUTTI_U64, 0.999), 0U);
    EXPECT_EQ(from_double(TUTTI_I64, -0x1p-1074), 0U);
    EXPECT_EQ(from_double(TUTTI_I32, -0.0), 0U);
}

TEST(Element, IntegersHaveNeitherNanNorInfinity) {
    for (const auto type : kIntegers) {
        EXPECT_EQ(from_double(type, kNan), 0U) << type;
        EXPECT_EQ(from_double(type, kInfinity), 0U) << type;
        EXPECT_EQ(from_double(type, -kInfinity), 0U) << type;
    }
}

TEST(Element, TheEndsOfTheIntegersAreExact) {
    const int64_t lowest = std::numeric_limits<int64_t>::min();
    const uint64_t highest = std::numeric_limits<uint64_t>::max();
    Cell cell;
    emu_element_from_i64(TUTTI_I64, lowest, cell.element());
    EXPECT_EQ(emu_element_to_i64(TUTTI_I64, cell.element()), lowest);
    EXPECT_EQ(emu_element_to_double(TUTTI_I64, cell.element()), -0x1p63);
    emu_element_from_u64(TUTTI_U64, highest, cell.element());
    EXPECT_EQ(emu_element_to_u64(TUTTI_U64, cell.element()), highest);
    EXPECT_EQ(emu_element_to_double(TUTTI_U64, cell.element()), 0x1p64);
    emu_element_from_i64(TUTTI_I8, -128, cell.element());
    EXPECT_EQ(emu_element_to_double(TUTTI_I8, cell.element()), -128.0);
    EXPECT_EQ(emu_element_to_i64(TUTTI_I8, cell.element()), -128);
    emu_element_from_i64(TUTTI_I32, -5, cell.element());
    EXPECT_EQ(emu_element_to_i64(TUTTI_I32, cell.element()), -5);
    emu_element_from_i64(TUTTI_U32, -1, cell.element());
    EXPECT_EQ(emu_element_to_double(TUTTI_U32, cell.element()), 4294967295.0);
    emu_element_from_i64(TUTTI_U8, -1, cell.element());
    EXPECT_EQ(emu_element_to_double(TUTTI_U8, cell.element()), 255.0);
}

TEST(Element, DoublesAreRoundedOnceToEveryFloat) {
    for (const auto type : kFloats) {
        for (uint64_t i = 0; i < 20000; ++i) {
            const uint64_t scattered = i * 0x9E3779B97F4A7C15U;
            const uint64_t near = (scattered & 0x800FFFFFFFFFFFFFU) | ((0x3FF - 40 + i % 80) << 52);
            for (const uint64_t bits : {scattered, near}) {
                const double value = emu_f64_of_bits(bits);
                ASSERT_EQ(from_double(type, value), oracle_convert(TUTTI_F64, type, bits))
                    << type << ' ' << value;
            }
        }
    }
}

TEST(Element, IntegersAreRoundedOnceToEveryFloat) {
    // A leading one, a few bits where a format's last ones are (bf16's, f32's), and one bit or none
    // at the very end: what a conversion in two roundings gets wrong.
    for (const int last_bits : {55, 39}) {
        for (uint64_t i = 0; i < 64 * 256; ++i) {
            const uint64_t head = (UINT64_C(1) << 63 | i % 256 << last_bits) >> i / 256;
            for (const uint64_t magnitude : {head, head | 1, head - 1}) {
                const auto value = static_cast<int64_t>(magnitude);
                const uint64_t absolute = value < 0 ? 0 - magnitude : magnitude;
                for (const auto type : kFloats) {
                    ASSERT_EQ(from_u64(type, magnitude),
                              oracle_from_integer(type, false, magnitude))
                        << type << ' ' << magnitude;
                    ASSERT_EQ(from_i64(type, value), oracle_from_integer(type, value < 0, absolute))
                        << type << ' ' << value;
                }
            }
        }
    }
}

TEST(Element, EveryFloatBecomesItsDouble) {
    for (const auto type : kFloats) {
        for (uint32_t i = 0; i < 1U << 16; ++i) {
            const int spread = static_cast<int>(oracle_element_bytes(type)) * 8 - 16;
            const uint64_t bits = spread > 0 ? uint64_t{i} << spread | i : i;
            Cell cell;
            std::memcpy(cell.element(), &bits, oracle_element_bytes(type));
            const uint64_t element = cell.bits(type);
            ASSERT_EQ(emu_f64_bits(emu_element_to_double(type, cell.element())),
                      oracle_convert(type, TUTTI_F64, element))
                << type << ' ' << std::hex << element;
        }
    }
}

TEST(Element, FloatsBecomeIntegersWithoutTheirFraction) {
    Cell cell;
    emu_element_from_double(TUTTI_F64, -2.75, cell.element());
    EXPECT_EQ(emu_element_to_i64(TUTTI_F64, cell.element()), -2);
    emu_element_from_double(TUTTI_F16, 6.5, cell.element());
    EXPECT_EQ(emu_element_to_u64(TUTTI_F16, cell.element()), 6U);
    emu_element_from_double(TUTTI_BF16, kInfinity, cell.element());
    EXPECT_EQ(emu_element_to_i64(TUTTI_BF16, cell.element()), 0);
    emu_element_from_double(TUTTI_F8E4M3, kNan, cell.element());
    EXPECT_EQ(emu_element_to_i64(TUTTI_F8E4M3, cell.element()), 0);
}

TEST(Element, InfinityStaysInfiniteWhereTheTypeDoesNotSaturate) {
    EXPECT_EQ(from_double(TUTTI_F16, -kInfinity), 0xFC00U);
    EXPECT_EQ(from_double(TUTTI_BF16, kInfinity), 0x7F80U);
    EXPECT_EQ(from_double(TUTTI_F32, kInfinity), 0x7F800000U);
    EXPECT_EQ(from_double(TUTTI_F64, -kInfinity), 0xFFF0000000000000U);
    EXPECT_EQ(from_double(TUTTI_F8E4M3, kInfinity), 0x7EU);
    EXPECT_EQ(from_double(TUTTI_F8E5M2, -kInfinity), 0xFBU);
}

TEST(Element, NanIsOnePatternPerType) {
    for (const double nan : {kNan, -kNan, emu_f64_of_bits(0x7FF0000000000001U)}) {
        EXPECT_EQ(from_double(TUTTI_F8E4M3, nan), 0x7FU);
        EXPECT_EQ(from_double(TUTTI_F8E5M2, nan), 0x7FU);
        EXPECT_EQ(from_double(TUTTI_F16, nan), 0x7FFFU);
        EXPECT_EQ(from_double(TUTTI_BF16, nan), 0x7FFFU);
        EXPECT_EQ(from_double(TUTTI_F32, nan), 0x7FFFFFFFU);
        EXPECT_EQ(from_double(TUTTI_F64, nan), 0x7FFFFFFFFFFFFFFFU);
    }
}

} // namespace
