// What reductions do to memory: aliasing, ranges, edges. Rows are the checklist's.
#include "drivers/emu/reduce.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/harness/oracle.h"
#include "tests/unit/reduce_support.h"
#include "gtest/gtest.h"

namespace {

using namespace reduce_support;

class ReduceMemory : public ::testing::TestWithParam<Type> {};

INSTANTIATE_TEST_SUITE_P(Types, ReduceMemory, ::testing::ValuesIn(kTypes),
                         [](const auto &type) { return type.param.name; });

struct Memory {
    std::vector<Bytes> buffers;
    std::vector<const void *> sources;
    std::vector<void *> destinations;
};

// Row 30.
TEST_P(ReduceMemory, InPlaceGivesTheSame) {
    const Type &type = GetParam();
    const size_t count = 2 * piece_of(type.type) + 5;
    for (const size_t ranks : {size_t{1}, size_t{2}, size_t{4}}) {
        for (const tutti_reduce_op op : kOps) {
            Memory memory;
            memory.buffers = make_inputs(type, ranks, count, 5);
            const Bytes expected = reduce(type.type, op, memory.buffers);
            for (Bytes &buffer : memory.buffers) {
                memory.sources.push_back(buffer.data());
                memory.destinations.push_back(buffer.data());
            }
            emu_reduce(type.type, op, memory.sources.data(), memory.destinations.data(), ranks,
                       count);
            for (const Bytes &buffer : memory.buffers)
                ASSERT_TRUE(buffer == expected) << op;
        }
    }
}

TEST_P(ReduceMemory, SourcesAndDestinationsMayBeEachOthers) {
    const Type &type = GetParam();
    const size_t count = piece_of(type.type) + 1;
    Memory memory;
    memory.buffers = make_inputs(type, 3, count, 6);
    const std::vector<Bytes> inputs = {memory.buffers[0], memory.buffers[1], memory.buffers[0]};
    const Bytes expected = reduce(type.type, TUTTI_SUM, inputs);
    void *const a = memory.buffers[0].data();
    void *const b = memory.buffers[1].data();
    void *const c = memory.buffers[2].data();
    memory.sources = {a, b, a};
    memory.destinations = {b, c, b};
    emu_reduce(type.type, TUTTI_SUM, memory.sources.data(), memory.destinations.data(), 3, count);
    EXPECT_TRUE(memory.buffers[0] == inputs[0]);
    EXPECT_TRUE(memory.buffers[1] == expected);
    EXPECT_TRUE(memory.buffers[2] == expected);
}

TEST_P(ReduceMemory, NothingNeedsToBeAligned) {
    const Type &type = GetParam();
    const size_t count = piece_of(type.type) + 9;
    const std::vector<Bytes> inputs = make_inputs(type, 2, count, 7);
    const Bytes expected = reduce(type.type, TUTTI_MEAN, inputs);
    Memory memory;
    for (size_t rank = 0; rank < 2; ++rank) {
        memory.buffers.emplace_back(1 + rank);
        memory.buffers[rank].insert(memory.buffers[rank].end(), inputs[rank].begin(),
                                    inputs[rank].end());
    }
    for (size_t rank = 0; rank < 2; ++rank) {
        memory.sources.push_back(memory.buffers[rank].data() + 1 + rank);
        memory.destinations.push_back(memory.buffers[rank].data() + 1 + rank);
    }
    emu_reduce(type.type, TUTTI_MEAN, memory.sources.data(), memory.destinations.data(), 2, count);
    EXPECT_EQ(std::memcmp(memory.destinations[0], expected.data(), expected.size()), 0);
    EXPECT_EQ(std::memcmp(memory.destinations[1], expected.data(), expected.size()), 0);
}

TEST_P(ReduceMemory, RangesInAnyOrderMakeTheWhole) {
    const Type &type = GetParam();
    const size_t count = 2 * piece_of(type.type) + 77;
    const size_t width = oracle_element_bytes(type.type);
    const size_t cuts[] = {0, 1, 64, piece_of(type.type) + 3, count};
    for (const size_t ranks : {size_t{1}, size_t{3}}) {
        for (const tutti_reduce_op op : kOps) {
            const std::vector<Bytes> inputs = make_inputs(type, ranks, count, 8);
            const Bytes expected = reduce(type.type, op, inputs);
            Memory memory;
            memory.buffers.assign(ranks, Bytes(count * width, 0xEE));
            for (size_t rank = 0; rank < ranks; ++rank) {
                memory.sources.push_back(inputs[rank].data());
                memory.destinations.push_back(memory.buffers[rank].data());
            }
            for (size_t cut = 4; cut-- > 0;) {
                emu_reduce_range(type.type, op, memory.sources.data(), memory.destinations.data(),
                                 ranks, cuts[cut], cuts[cut + 1] - cuts[cut]);
            }
            for (const Bytes &buffer : memory.buffers) {
                ASSERT_TRUE(same(buffer, expected, width)) << "op " << op;
            }
        }
    }
}

TEST(ReduceEdges, DestinationsThatAreNullAreLeftOut) {
    const int32_t inputs[] = {1, 2, 4};
    int32_t output = 0;
    const void *sources[] = {&inputs[0], &inputs[1], &inputs[2]};
    void *root_only[] = {nullptr, &output, nullptr};
    emu_reduce(TUTTI_I32, TUTTI_SUM, sources, root_only, 3, 1);
    EXPECT_EQ(output, 7);
    void *nobody[] = {nullptr};
    emu_reduce(TUTTI_I32, TUTTI_SUM, sources, nobody, 1, 1);
}

TEST(ReduceEdges, NoElementsNeedNoMemory) {
    const void *sources[] = {nullptr, nullptr};
    void *destinations[] = {nullptr, nullptr};
    for (const Type &type : kTypes) {
        for (const tutti_reduce_op op : kOps) {
            emu_reduce(type.type, op, sources, destinations, 2, 0);
            emu_reduce(type.type, op, sources, destinations, 1, 0);
        }
    }
}

// Row 36: a huge count.
TEST(ReduceEdges, TenMillionElements) {
    const size_t count = 10000000;
    std::vector<Bytes> inputs(3, Bytes(count));
    for (size_t i = 0; i < count; ++i) {
        inputs[0][i] = static_cast<uint8_t>(i);
        inputs[1][i] = static_cast<uint8_t>(i >> 8);
        inputs[2][i] = static_cast<uint8_t>(i >> 16);
    }
    const Bytes result = reduce(TUTTI_U8, TUTTI_SUM, inputs);
    size_t wrong = 0;
    for (size_t i = 0; i < count; ++i) {
        wrong += result[i] != static_cast<uint8_t>(i + (i >> 8) + (i >> 16)) ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0U);
}

TEST(ReduceDeathTest, ATypeThatIsNotCarriedIsABug) {
    const void *sources[] = {nullptr, nullptr};
    void *destinations[] = {nullptr, nullptr};
    EXPECT_DEATH(emu_reduce(TUTTI_BOOL, TUTTI_SUM, sources, destinations, 2, 1), "type");
    EXPECT_DEATH(emu_reduce(TUTTI_F32, TUTTI_REDUCE_OP_COUNT, sources, destinations, 2, 1), "op");
    EXPECT_DEATH(emu_reduce(TUTTI_F32, TUTTI_SUM, sources, destinations, 0, 1), "rank_count");
}

} // namespace
