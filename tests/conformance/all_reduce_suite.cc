// all_reduce and data_type: values, types, shapes, refusals.

#include "tests/harness/conformance.h"
#include "tests/harness/oracle.h"

namespace {

using namespace tutti_test;

const std::vector<tutti_element_type> carried = {TUTTI_F64,    TUTTI_F32,    TUTTI_F16, TUTTI_BF16,
                                                 TUTTI_F8E4M3, TUTTI_F8E5M2, TUTTI_I8,  TUTTI_I32,
                                                 TUTTI_I64,    TUTTI_U8,     TUTTI_U32, TUTTI_U64};
const std::vector<tutti_reduce_op> all_ops = {TUTTI_SUM, TUTTI_MEAN, TUTTI_PROD, TUTTI_MIN,
                                              TUTTI_MAX};

// Bytes that any type can be made of; the same in every run.
std::vector<uint8_t> mixed_bytes(size_t bytes, uint64_t seed) {
    std::vector<uint8_t> values(bytes);
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (uint8_t &value : values) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        value = static_cast<uint8_t>(state >> 56);
    }
    return values;
}

// Reduces `count` elements on `ranks` ranks and compares every byte with the oracle.
void expect_oracle(uint32_t ranks, tutti_element_type type, tutti_reduce_op op, size_t count) {
    const tutti_data_type element = data_type(type);
    std::vector<std::vector<uint8_t>> inputs, results(ranks);
    for (uint32_t rank = 0; rank < ranks; rank++)
        inputs.push_back(mixed_bytes(count * element.width_bytes, rank + 1));
    run_well(ranks, [&](Rank &rank) {
        const tutti_buffer x = rank.upload(inputs[rank.index()]);
        const tutti_buffer y = rank.allocate(x.bytes);
        EXPECT_EQ(tutti_all_reduce(rank.world(), x, y, element, count, op, rank.stream(), nullptr),
                  TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        results[rank.index()] = rank.download<uint8_t>(y);
        EXPECT_EQ(rank.download<uint8_t>(x), inputs[rank.index()]); // row 31
    });
    const std::vector<uint8_t> expected = oracle_reduce(type, op, inputs);
    for (uint32_t rank = 0; rank < ranks; rank++)
        EXPECT_EQ(results[rank], expected)
            << tutti_element_type_name(type) << " " << tutti_reduce_op_name(op) << " rank " << rank;
}

// rows 22 and 25
TEST(DataType, NamesTheCarriedTypesAndCountsTheirElements) {
    run_well(1, [](Rank &rank) {
        for (const tutti_element_type type : carried) {
            tutti_data_type named;
            size_t count = 0;
            const uint32_t width = tutti_element_type_width_bytes(type);
            EXPECT_EQ(tutti_data_type_of(rank.device(), type, 5 * width + width - 1, &named, &count,
                                         nullptr),
                      TUTTI_OK);
            EXPECT_EQ(named.element_type, type);
            EXPECT_EQ(named.width_bytes, width);
            EXPECT_EQ(count, 5u);
            EXPECT_EQ(tutti_data_type_of(rank.device(), type, 0, &named, &count, nullptr),
                      TUTTI_OK);
            EXPECT_EQ(count, 0u);
        }
    });
}

// rows 23, 24 and 26
TEST(DataType, RefusesTheOthersByNameAndTheGroupLivesOn) {
    const Report report = run(2, [](Rank &rank) {
        for (int type = TUTTI_INDEX; type <= TUTTI_COMPLEX; type++) {
            tutti_data_type named;
            size_t count;
            tutti_error error;
            EXPECT_EQ(tutti_data_type_of(rank.device(), static_cast<tutti_element_type>(type), 64,
                                         &named, &count, &error),
                      TUTTI_UNSUPPORTED);
            const char *name = tutti_element_type_name(static_cast<tutti_element_type>(type));
            EXPECT_NE(std::strstr(error.message, name), nullptr) << error.message;
        }
        const tutti_buffer x = rank.upload<float>({1});
        EXPECT_EQ(rank.sum(rank.world(), x, x, 1), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK);
}

// rows 27, 28, 29, 31, 32, 34 and 35: random bits hold NaNs and infinities, too
TEST(AllReduce, IsWhatTheOracleSaysForEveryTypeAndOp) {
    for (const tutti_element_type type : carried)
        for (const tutti_reduce_op op : all_ops)
            expect_oracle(3, type, op, 65);
}

// row 27
TEST(AllReduce, IsRightOnTwoToEightRanks) {
    for (uint32_t ranks = 2; ranks <= 8; ranks++)
        expect_oracle(ranks, TUTTI_F32, TUTTI_SUM, 100);
}

// rows 36, 37 and 38
TEST(AllReduce, TakesCountsThatRanksDoNotDivide) {
    for (const size_t count : {1u, 2u, 3u, 5u, 7u, 1023u, 4097u})
        expect_oracle(4, TUTTI_BF16, TUTTI_MEAN, count);
}

// row 36
TEST(AllReduce, TakesTenMillionElements) {
    const size_t count = 10000000;
    run_well(2, [&](Rank &rank) {
        const tutti_buffer x = rank.upload(std::vector<int8_t>(count, 3));
        EXPECT_EQ(tutti_all_reduce(rank.world(), x, x, data_type(TUTTI_I8), count, TUTTI_SUM,
                                   rank.stream(), nullptr),
                  TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        EXPECT_EQ(rank.download<int8_t>(x), std::vector<int8_t>(count, 6));
    });
}

// row 30
TEST(AllReduce, WorksInPlace) {
    run_well(4, [](Rank &rank) {
        const tutti_buffer x = rank.upload<float>({float(rank.index()), 1, -2});
        EXPECT_EQ(rank.sum(rank.world(), x, x, 3), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(x), (std::vector<float>{6, 4, -8}));
    });
}

// row 33
TEST(AllReduce, MeanOfIntegersTruncatesTowardZeroAfterWrapping) {
    run_well(2, [](Rank &rank) {
        const tutti_buffer x = rank.upload<int8_t>({100, -3, 1});
        const tutti_buffer zero = rank.upload<int8_t>({100, 0, 0});
        const tutti_buffer mine = rank.index() == 0 ? x : zero;
        EXPECT_EQ(tutti_all_reduce(rank.world(), mine, x, data_type(TUTTI_I8), 3, TUTTI_MEAN,
                                   rank.stream(), nullptr),
                  TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        EXPECT_EQ(rank.download<int8_t>(x), (std::vector<int8_t>{-28, -1, 0}));
    });
}

// row 36
TEST(AllReduce, OfNothingOnAllRanksIsNothing) {
    run_well(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        EXPECT_EQ(rank.sum(world, {}, {}, 0), TUTTI_OK);
        const tutti_buffer x = rank.upload<float>({1});
        EXPECT_EQ(rank.sum(world, x, x, 1), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(x)[0], 2);
    });
}

TEST(AllReduce, OfNothingOnOneRankLeavesTheOthersWaiting) {
    const Report report = run(2, [](Rank &rank) {
        const tutti_buffer x = rank.upload<float>({1});
        EXPECT_EQ(rank.sum(rank.world(), x, x, rank.index() == 0 ? 0 : 1),
                  rank.index() == 0 ? TUTTI_OK : TUTTI_MISSING);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISSING, {0});
}

// row 39
TEST(AllReduce, RefusesADestinationThatIsTooSmall) {
    const Report report = run(1, [](Rank &rank) {
        const tutti_buffer x = rank.upload<float>({1, 2, 3, 4});
        const tutti_buffer whole = rank.upload<float>({7, 7, 7, 7});
        const tutti_buffer small = tutti_buffer_slice(whole, 0, 3, sizeof(float));
        tutti_error error;
        EXPECT_EQ(tutti_all_reduce(rank.world(), x, small, data_type(TUTTI_F32), 4, TUTTI_SUM,
                                   rank.stream(), &error),
                  TUTTI_INVALID_ARGUMENT);
        EXPECT_NE(std::strstr(error.message, "destination"), nullptr) << error.message;
        EXPECT_EQ(rank.download<float>(whole), (std::vector<float>{7, 7, 7, 7}));
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISUSE, {0});
}

// row 40
TEST(AllReduce, RefusesMemoryOfAnotherDevice) {
    const Report report = run(
        1,
        [](Rank &rank) {
            tutti_buffer foreign;
            tutti_error error;
            const tutti_buffer x = rank.upload<float>({1});
            ASSERT_EQ(tutti_memory_allocate(rank.device(1), 4, &foreign, nullptr), TUTTI_OK);
            tutti_comm *alone = rank.join({0});
            EXPECT_EQ(tutti_all_reduce(alone, x, foreign, data_type(TUTTI_F32), 1, TUTTI_SUM,
                                       rank.stream(), &error),
                      TUTTI_INVALID_ARGUMENT);
            EXPECT_NE(std::strstr(error.message, "device 1"), nullptr) << error.message;
        },
        with_devices(2));
    expect_verdict(report.get(), TUTTI_VERDICT_MISUSE, {0});
}

// row 40
TEST(AllReduce, RefusesAStreamOfAnotherDevice) {
    const Report report = run(
        1,
        [](Rank &rank) {
            tutti_stream *foreign = nullptr;
            tutti_error error;
            const tutti_buffer x = rank.upload<float>({1});
            ASSERT_EQ(tutti_stream_create(rank.device(1), nullptr, &foreign, nullptr), TUTTI_OK);
            EXPECT_EQ(tutti_all_reduce(rank.join({0}), x, x, data_type(TUTTI_F32), 1, TUTTI_SUM,
                                       foreign, &error),
                      TUTTI_INVALID_ARGUMENT);
            EXPECT_NE(std::strstr(error.message, "device"), nullptr) << error.message;
        },
        with_devices(2));
    expect_verdict(report.get(), TUTTI_VERDICT_MISUSE, {0});
}

// rows 41 and 42
TEST(AllReduce, AHundredInARowOfChangingShapesAreNotMixedUp) {
    run_well(3, [](Rank &rank) {
        tutti_comm *world = rank.world();
        std::vector<tutti_buffer> buffers;
        for (int i = 0; i < 100; i++) {
            buffers.push_back(rank.upload(std::vector<float>(1 + i % 7, float(i))));
            EXPECT_EQ(tutti_all_reduce(world, buffers[i], buffers[i], data_type(TUTTI_F32),
                                       1 + i % 7, TUTTI_SUM, rank.stream(), nullptr),
                      TUTTI_OK);
        }
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        for (int i = 0; i < 100; i++)
            EXPECT_EQ(rank.download<float>(buffers[i]),
                      std::vector<float>(1 + i % 7, 3 * float(i)));
    });
}

struct Part {
    size_t count;
    tutti_element_type type;
    tutti_reduce_op op;
};

// Three ranks, one of which passes something else: all are told, nothing is written.
void expect_mismatch(const Part &right, const Part &wrong, int odd_rank, const char *detail) {
    const Report report = run(3, [&](Rank &rank) {
        const Part &part = rank.index() == odd_rank ? wrong : right;
        const std::vector<uint8_t> before = mixed_bytes(64, 5);
        const tutti_buffer x = rank.upload(before);
        EXPECT_EQ(tutti_all_reduce(rank.world(), x, x, data_type(part.type), part.count, part.op,
                                   rank.stream(), nullptr),
                  TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_MISMATCH);
        EXPECT_EQ(rank.download<uint8_t>(x), before);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISMATCH, {odd_rank});
    EXPECT_STREQ(report->findings[0].detail, detail);
}

// row 43
TEST(AllReduce, DisagreementIsDiagnosedAndNothingIsWritten) {
    const Part right = {8, TUTTI_F32, TUTTI_SUM};
    expect_mismatch(right, {6, TUTTI_F32, TUTTI_SUM}, 1, "count");
    expect_mismatch(right, {8, TUTTI_I32, TUTTI_SUM}, 2, "type");
    expect_mismatch(right, {8, TUTTI_F32, TUTTI_MAX}, 0, "op");
}

TEST(AllReduce, AfterADisagreementTheCommunicatorIsOfNoUse) {
    const Report report = run(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const tutti_buffer x = rank.upload<float>({1, 2});
        EXPECT_EQ(rank.sum(world, x, x, 1 + rank.index()), TUTTI_MISMATCH);
        EXPECT_EQ(rank.sum(world, x, x, 1), TUTTI_MISMATCH);
        EXPECT_EQ(tutti_comm_abort(world, nullptr), TUTTI_OK);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISMATCH, {1});
}

} // namespace
