// Reductions against the oracle: all types, ops and shapes. Rows are the checklist's.
#include "drivers/emu/reduce.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/harness/oracle.h"
#include "tests/unit/reduce_support.h"
#include "gtest/gtest.h"

namespace {

using namespace reduce_support;

class Reduce : public ::testing::TestWithParam<Type> {};

INSTANTIATE_TEST_SUITE_P(Types, Reduce, ::testing::ValuesIn(kTypes),
                         [](const auto &type) { return type.param.name; });

// Rows 27, 28, 29, 31, 32, 35, 36; row 37 where count < ranks, row 38 with 5 elements.
TEST_P(Reduce, EveryOpRankCountAndCountMatchesTheOracle) {
    const Type &type = GetParam();
    const size_t piece = piece_of(type.type);
    const size_t width = oracle_element_bytes(type.type);
    uint64_t seed = 1;
    for (size_t ranks = 1; ranks <= 9; ++ranks) {
        for (const size_t count : {size_t{0}, size_t{1}, size_t{3}, size_t{5}, size_t{63},
                                   size_t{64}, size_t{127}, piece - 1, piece, piece + 1}) {
            const std::vector<Bytes> inputs = make_inputs(type, ranks, count, seed++);
            for (const tutti_reduce_op op : kOps) {
                ASSERT_TRUE(same(reduce(type.type, op, inputs),
                                 oracle_reduce(type.type, op, inputs), width))
                    << "op " << op << ", " << ranks << " ranks, " << count << " elements";
            }
        }
    }
}

TEST_P(Reduce, ManyRanksMatchTheOracle) {
    const Type &type = GetParam();
    for (const size_t ranks : {size_t{127}, size_t{128}, size_t{129}, size_t{255}, size_t{256},
                               size_t{300}, size_t{1000}}) {
        const std::vector<Bytes> inputs = make_inputs(type, ranks, 7, ranks);
        for (const tutti_reduce_op op : kOps) {
            ASSERT_TRUE(same(reduce(type.type, op, inputs), oracle_reduce(type.type, op, inputs),
                             oracle_element_bytes(type.type)))
                << "op " << op << ", " << ranks << " ranks";
        }
    }
}

TEST_P(Reduce, ScaledSumsMatchTheOracle) {
    const Type &type = GetParam();
    const size_t width = oracle_element_bytes(type.type);
    for (const size_t ranks : {size_t{1}, size_t{2}, size_t{5}}) {
        const size_t count = piece_of(type.type) + 3;
        const std::vector<Bytes> inputs = make_inputs(type, ranks, count, 70 + ranks);
        std::vector<Bytes> factors;
        std::vector<Bytes> outputs(ranks, Bytes(count * width));
        std::vector<const void *> factor_pointers;
        std::vector<const void *> sources;
        std::vector<void *> destinations;
        for (size_t rank = 0; rank < ranks; ++rank) {
            factors.push_back(make_input(type, 3, 90 + rank));
            factors[rank].erase(factors[rank].begin(), factors[rank].begin() + 2 * width);
        }
        for (size_t rank = 0; rank < ranks; ++rank) {
            factor_pointers.push_back(factors[rank].data());
            sources.push_back(inputs[rank].data());
            destinations.push_back(outputs[rank].data());
        }
        emu_reduce_scaled_range(type.type, factor_pointers.data(), sources.data(),
                                destinations.data(), ranks, 0, count);
        const Bytes expected = oracle_reduce_scaled(type.type, factors, inputs);
        for (const Bytes &output : outputs)
            ASSERT_TRUE(same(output, expected, width)) << ranks;
    }
}

// All pairs of the types that have few values; rows 32 and 35 without a gap.
TEST(ReduceBytes, EveryPairOfBytesMatchesTheOracle) {
    for (const auto type : {TUTTI_F8E4M3, TUTTI_F8E5M2, TUTTI_I8, TUTTI_U8}) {
        std::vector<Bytes> inputs(2);
        for (uint32_t pair = 0; pair < 1U << 16; ++pair) {
            inputs[0].push_back(static_cast<uint8_t>(pair >> 8));
            inputs[1].push_back(static_cast<uint8_t>(pair));
        }
        for (const tutti_reduce_op op : kOps) {
            ASSERT_TRUE(same(reduce(type, op, inputs), oracle_reduce(type, op, inputs), 1))
                << "type " << type << ", op " << op;
        }
    }
}

// Every 16-bit number with itself scattered, which meets each of them on both sides.
TEST(ReduceBytes, EveryHalfMatchesTheOracle) {
    for (const auto type : {TUTTI_F16, TUTTI_BF16}) {
        std::vector<Bytes> inputs(2, Bytes(1U << 17));
        for (uint32_t code = 0; code < 1U << 16; ++code) {
            const auto left = static_cast<uint16_t>(code);
            const auto right = static_cast<uint16_t>(code * 40503U + 12345U);
            std::memcpy(&inputs[0][2 * code], &left, 2);
            std::memcpy(&inputs[1][2 * code], &right, 2);
        }
        for (const tutti_reduce_op op : kOps) {
            ASSERT_TRUE(same(reduce(type, op, inputs), oracle_reduce(type, op, inputs), 2))
                << "type " << type << ", op " << op;
        }
    }
}

// FNV-1a.
uint64_t hash(uint64_t state, const Bytes &bytes) {
    for (const uint8_t byte : bytes)
        state = (state ^ byte) * 0x100000001B3U;
    return state;
}

// One number for all types, ops and many shapes. It was the same with gcc 12 and clang 14, at -O0,
// -O2 and -O3, with and without FMA and AVX-512; a compiler that gives another breaks the promise.
TEST(ReduceGolden, AllCompilersAndLevelsGiveTheseBits) {
    uint64_t state = 0xCBF29CE484222325U;
    for (const Type &type : kTypes) {
        for (const size_t ranks : {size_t{2}, size_t{3}, size_t{7}, size_t{16}}) {
            const std::vector<Bytes> inputs = make_inputs(type, ranks, 5003, 4242 + ranks);
            for (const tutti_reduce_op op : kOps) {
                state = hash(state, reduce(type.type, op, inputs));
            }
        }
    }
    EXPECT_EQ(state, 0x600C0B6DC42A64C6U) << std::hex << "the hash is 0x" << state;
}

} // namespace
