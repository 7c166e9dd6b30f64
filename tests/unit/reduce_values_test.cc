// The arithmetic of reductions, told by example. Rows are the checklist's.
#include "drivers/emu/reduce.h"

#include <cstdint>
#include <vector>

#include "tests/harness/oracle.h"
#include "tests/unit/reduce_support.h"
#include "gtest/gtest.h"

namespace {

using namespace reduce_support;

// Row 34.
TEST(ReduceValues, IntegersWrapBeforeTheDivision) {
    EXPECT_EQ(reduce_values<int8_t>(TUTTI_I8, TUTTI_SUM, {100, 100}), -56);
    EXPECT_EQ(reduce_values<int8_t>(TUTTI_I8, TUTTI_MEAN, {100, 100}), -28);
    EXPECT_EQ(reduce_values<uint8_t>(TUTTI_U8, TUTTI_MEAN, {200, 100}), 22);
    EXPECT_EQ(reduce_values<int32_t>(TUTTI_I32, TUTTI_SUM, {INT32_MAX, 1}), INT32_MIN);
    EXPECT_EQ(reduce_values<int32_t>(TUTTI_I32, TUTTI_PROD, {INT32_MIN, -1}), INT32_MIN);
    EXPECT_EQ(reduce_values<int64_t>(TUTTI_I64, TUTTI_SUM, {INT64_MIN, -1}), INT64_MAX);
    EXPECT_EQ(reduce_values<int64_t>(TUTTI_I64, TUTTI_PROD, {INT64_MIN, -1}), INT64_MIN);
    EXPECT_EQ(reduce_values<uint64_t>(TUTTI_U64, TUTTI_PROD, {UINT64_MAX, 3}), UINT64_MAX - 2);
    EXPECT_EQ(reduce_values<uint64_t>(TUTTI_U64, TUTTI_MEAN, {UINT64_MAX, 7}), 3U);
}

// Row 33.
TEST(ReduceValues, MeansOfIntegersTruncateTowardZero) {
    EXPECT_EQ(reduce_values<int8_t>(TUTTI_I8, TUTTI_MEAN, {-4, -3}), -3);
    EXPECT_EQ(reduce_values<int8_t>(TUTTI_I8, TUTTI_MEAN, {4, 3}), 3);
    EXPECT_EQ(reduce_values<int32_t>(TUTTI_I32, TUTTI_MEAN, {-1, 0, -1}), 0);
    EXPECT_EQ(reduce_values<int64_t>(TUTTI_I64, TUTTI_MEAN, {-7, 0, -1}), -2);
}

// 128 is no i8: as one it would be -128, and the mean 1.
TEST(ReduceValues, MoreRanksThanTheTypeCanCountDivideAllTheSame) {
    const std::vector<Bytes> ones(128, Bytes{0xFF});
    EXPECT_EQ(reduce(TUTTI_I8, TUTTI_MEAN, ones), Bytes{0xFF});
    const std::vector<Bytes> many(257, Bytes{1, 3});
    EXPECT_EQ(reduce(TUTTI_U8, TUTTI_MEAN, many), (Bytes{0, 0}));
}

TEST(ReduceValues, MinAndMaxOfIntegersKnowTheSign) {
    EXPECT_EQ(reduce_values<int8_t>(TUTTI_I8, TUTTI_MAX, {-1, 1, -128}), 1);
    EXPECT_EQ(reduce_values<uint8_t>(TUTTI_U8, TUTTI_MAX, {255, 1, 128}), 255);
    EXPECT_EQ(reduce_values<int64_t>(TUTTI_I64, TUTTI_MIN, {-1, 1, INT64_MIN}), INT64_MIN);
    EXPECT_EQ(reduce_values<uint64_t>(TUTTI_U64, TUTTI_MIN, {UINT64_MAX, 1}), 1U);
}

TEST(ReduceValues, HopsGoFromRankToRankAndRoundEachTime) {
    // f16 has no 2049: each 1 is lost when it comes alone, and counts when two come first.
    EXPECT_EQ(reduce_values<uint16_t>(TUTTI_F16, TUTTI_SUM, {0x6800, 0x3C00, 0x3C00}), 0x6800);
    EXPECT_EQ(reduce_values<uint16_t>(TUTTI_F16, TUTTI_SUM, {0x3C00, 0x3C00, 0x6800}), 0x6801);
    // bf16: 256 + 1 + 1.
    EXPECT_EQ(reduce_values<uint16_t>(TUTTI_BF16, TUTTI_SUM, {0x4380, 0x3F80, 0x3F80}), 0x4380);
    EXPECT_EQ(reduce_values<uint16_t>(TUTTI_BF16, TUTTI_SUM, {0x3F80, 0x3F80, 0x4380}), 0x4381);
    EXPECT_EQ(reduce_values<float>(TUTTI_F32, TUTTI_SUM, {0x1p24f, 1.0f, 1.0f}), 0x1p24f);
    EXPECT_EQ(reduce_values<double>(TUTTI_F64, TUTTI_SUM, {0x1p53, 1.0, 1.0}), 0x1p53);
    // f8e4m3: 16 + 1 + 1 is 16, though 18 exists.
    EXPECT_EQ(reduce_values<uint8_t>(TUTTI_F8E4M3, TUTTI_SUM, {0x58, 0x38, 0x38}), 0x58);
}

// Row 28: ten times 1/10 is one f32 step more than 1.
TEST(ReduceValues, MeansOfFloatsSumScaledInputs) {
    EXPECT_EQ(reduce_values<float>(TUTTI_F32, TUTTI_MEAN, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
              1.0f + 0x1p-23f);
    EXPECT_EQ(reduce_values<double>(TUTTI_F64, TUTTI_MEAN, {3, 3, 3}), 3.0);
    // No overflow, which sum-then-divide would have.
    EXPECT_EQ(reduce_values<uint16_t>(TUTTI_F16, TUTTI_MEAN, {0x7BFF, 0x7BFF}), 0x7BFF);
    // 1/3 in f8e5m2 is 0.3125.
    EXPECT_EQ(reduce_values<uint8_t>(TUTTI_F8E5M2, TUTTI_MEAN, {0x3C, 0x00, 0x00}), 0x35);
}

// 1/8283 is nearest to the f16 with code 0x07E9, but its nearest f32 is nearest to 0x07EA.
TEST(ReduceValues, TheFactorOfAMeanGoesThroughF32) {
    std::vector<Bytes> inputs(8283, bytes_of<uint16_t>({0}));
    inputs[0] = bytes_of<uint16_t>({0x3C00});
    EXPECT_EQ(reduce(TUTTI_F16, TUTTI_MEAN, inputs), bytes_of<uint16_t>({0x07EA}));
    EXPECT_EQ(oracle_reduce(TUTTI_F16, TUTTI_MEAN, inputs), bytes_of<uint16_t>({0x07EA}));
}

// Row 35.
TEST(ReduceValues, InfinitiesFollowTheirType) {
    const uint16_t infinity = 0x7C00;
    const uint16_t minus_infinity = 0xFC00;
    EXPECT_EQ(reduce_values<uint16_t>(TUTTI_F16, TUTTI_SUM, {0x7BFF, 0x7BFF}), infinity);
    EXPECT_EQ(reduce_values<uint16_t>(TUTTI_F16, TUTTI_SUM, {infinity, minus_infinity}), 0x7FFF);
    EXPECT_EQ(reduce_values<uint16_t>(TUTTI_F16, TUTTI_PROD, {infinity, 0}), 0x7FFF);
    EXPECT_EQ(reduce_values<uint16_t>(TUTTI_F16, TUTTI_MIN, {infinity, minus_infinity}),
              minus_infinity);
    EXPECT_EQ(reduce_values<uint16_t>(TUTTI_F16, TUTTI_MEAN, {infinity, 0x3C00}), infinity);
    EXPECT_EQ(reduce_values<uint8_t>(TUTTI_F8E4M3, TUTTI_SUM, {0x7E, 0x7E}), 0x7E);
    EXPECT_EQ(reduce_values<uint8_t>(TUTTI_F8E4M3, TUTTI_PROD, {0x7E, 0xFE}), 0xFE);
    // f8e5m2 has infinities, but no hop leaves one.
    EXPECT_EQ(reduce_values<uint8_t>(TUTTI_F8E5M2, TUTTI_SUM, {0x7C, 0x00}), 0x7B);
    EXPECT_EQ(reduce_values<uint8_t>(TUTTI_F8E5M2, TUTTI_MAX, {0x7C, 0x00}), 0x7B);
    EXPECT_EQ(reduce_values<uint8_t>(TUTTI_F8E5M2, TUTTI_MIN, {0xFC, 0x00}), 0xFB);
    EXPECT_EQ(reduce_values<uint8_t>(TUTTI_F8E5M2, TUTTI_MEAN, {0x7C, 0x00}), 0x7B);
}

// Row 35: signalling or quiet, with any sign and payload, on either side.
TEST(ReduceValues, NanWinsInSumsAndLosesInExtremes) {
    const uint32_t one = 0x3F800000;
    const uint32_t canonical = 0x7FFFFFFF;
    for (const uint32_t nan : {0x7F800001U, 0x7FC00000U, 0xFFC01234U, 0xFFFFFFFFU}) {
        for (const tutti_reduce_op op : {TUTTI_SUM, TUTTI_PROD, TUTTI_MEAN}) {
            EXPECT_EQ(reduce_values<uint32_t>(TUTTI_F32, op, {nan, one}), canonical);
            EXPECT_EQ(reduce_values<uint32_t>(TUTTI_F32, op, {one, nan}), canonical);
        }
        for (const tutti_reduce_op op : {TUTTI_MAX, TUTTI_MIN}) {
            EXPECT_EQ(reduce_values<uint32_t>(TUTTI_F32, op, {nan, one}), one);
            EXPECT_EQ(reduce_values<uint32_t>(TUTTI_F32, op, {one, nan}), one);
            EXPECT_EQ(reduce_values<uint32_t>(TUTTI_F32, op, {nan, nan, one, nan}), one);
            EXPECT_EQ(reduce_values<uint32_t>(TUTTI_F32, op, {nan, nan}), canonical);
        }
    }
}

TEST(ReduceValues, MinusZeroIsLessThanPlusZero) {
    for (const Type &type : kTypes) {
        if (type.exponent_mask == 0) continue;
        const Bytes plus(oracle_element_bytes(type.type));
        Bytes minus = plus;
        minus.at(minus.size() - 1) = 0x80;
        for (const auto &order : {std::vector<Bytes>{plus, minus}, {minus, plus}}) {
            EXPECT_EQ(reduce(type.type, TUTTI_MIN, order), minus) << type.name;
            EXPECT_EQ(reduce(type.type, TUTTI_MAX, order), plus) << type.name;
            EXPECT_EQ(reduce(type.type, TUTTI_SUM, order), plus) << type.name;
        }
        EXPECT_EQ(reduce(type.type, TUTTI_SUM, {minus, minus}), minus) << type.name;
    }
}

TEST(ReduceValues, SubnormalsAreKept) {
    EXPECT_EQ(reduce_values<uint32_t>(TUTTI_F32, TUTTI_SUM, {1, 2}), 3U);
    EXPECT_EQ(reduce_values<uint64_t>(TUTTI_F64, TUTTI_SUM, {1, 2}), 3U);
    EXPECT_EQ(reduce_values<uint16_t>(TUTTI_BF16, TUTTI_SUM, {1, 2}), 3U);
    EXPECT_EQ(reduce_values<uint16_t>(TUTTI_F16, TUTTI_SUM, {1, 2}), 3U);
    EXPECT_EQ(reduce_values<uint8_t>(TUTTI_F8E5M2, TUTTI_SUM, {1, 2}), 3U);
}

TEST(ReduceValues, OneRankIsACopyOfWhateverItHas) {
    for (const tutti_reduce_op op : kOps) {
        EXPECT_EQ(reduce_values<uint32_t>(TUTTI_F32, op, {0xFF800001}), 0xFF800001U);
        EXPECT_EQ(reduce_values<uint8_t>(TUTTI_F8E5M2, op, {0x7C}), 0x7CU);
        EXPECT_EQ(reduce_values<int8_t>(TUTTI_I8, op, {-5}), -5);
    }
}

} // namespace
