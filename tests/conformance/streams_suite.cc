// Streams, events, and the order between them.

#include "tests/harness/conformance.h"

namespace {

using namespace tutti_test;

tutti_status enqueue_sum(Rank &rank, tutti_comm *comm, tutti_buffer x, const char *on = "comm") {
    return tutti_all_reduce(comm, x, x, data_type(TUTTI_F32), x.bytes / 4, TUTTI_SUM,
                            rank.stream(on), nullptr);
}

void set_flag(void *flag) {
    *static_cast<int *>(flag) = 1;
}

// rows 51, 53 and 59: compute goes on, and calls return, while a peer is absent
TEST(Streams, ComputeGoesOnWhileACollectiveWaitsForItsPeer) {
    run_well(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const tutti_buffer x = rank.upload<float>({1});
        int computed = 0, done = 1;
        if (rank.index() == 1) tutti_rank_sleep(rank.self(), 2000000, nullptr);
        EXPECT_EQ(enqueue_sum(rank, world, x), TUTTI_OK);
        EXPECT_EQ(tutti_host_function_enqueue(rank.stream("compute"), set_flag, &computed, nullptr,
                                              0, nullptr, 0, nullptr),
                  TUTTI_OK);
        EXPECT_EQ(rank.sync("compute"), TUTTI_OK);
        EXPECT_EQ(computed, 1);
        if (rank.index() == 0 && target().has_virtual_time) {
            EXPECT_EQ(tutti_stream_query(rank.stream(), &done, nullptr), TUTTI_OK);
            EXPECT_EQ(done, 0);
        }
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(x)[0], 2);
    });
}

// row 52: a collective behind an event sees what compute wrote
TEST(Streams, ACollectiveWaitsForTheComputeThatAnEventPutsBeforeIt) {
    run_well(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        tutti_event *ready = nullptr;
        const tutti_buffer x = rank.upload<float>({0});
        const float five = 5;
        ASSERT_EQ(tutti_event_create(rank.device(), &ready, nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_copy_to_device(x, &five, 4, rank.stream("compute"), nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_event_record(ready, rank.stream("compute"), nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_event_wait(ready, rank.stream(), nullptr), TUTTI_OK);
        EXPECT_EQ(enqueue_sum(rank, world, x), TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(x)[0], 10);
        tutti_event_destroy(ready);
    });
}

// rows 49, 54 and 55: later compute sees the result, and the host is not held up
TEST(Streams, ComputeBehindAnEventSeesTheResultAndTheHostIsNotBlocked) {
    run_well(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        tutti_event *reduced = nullptr;
        const tutti_buffer x = rank.upload<float>({1}), y = rank.allocate(4);
        ASSERT_EQ(tutti_event_create(rank.device(), &reduced, nullptr), TUTTI_OK);
        if (rank.index() == 1) tutti_rank_sleep(rank.self(), 2000000, nullptr);
        EXPECT_EQ(enqueue_sum(rank, world, x), TUTTI_OK);
        EXPECT_EQ(tutti_event_record(reduced, rank.stream(), nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_event_wait(reduced, rank.stream("compute"), nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_copy_on_device(y, x, 4, rank.stream("compute"), nullptr), TUTTI_OK);
        EXPECT_EQ(rank.sync("compute"), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(y)[0], 2);
    });
}

// row 56
TEST(Streams, OneWaitCoversManyCollectives) {
    run_well(3, [](Rank &rank) {
        tutti_comm *world = rank.world();
        std::vector<tutti_buffer> buffers;
        for (int i = 0; i < 8; i++) {
            buffers.push_back(rank.upload<float>({float(i)}));
            EXPECT_EQ(enqueue_sum(rank, world, buffers[i]), TUTTI_OK);
        }
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        for (int i = 0; i < 8; i++)
            EXPECT_EQ(rank.download<float>(buffers[i])[0], 3 * float(i));
    });
}

// row 57
TEST(Streams, WaitingForNothingIsFine) {
    run_well(1, [](Rank &rank) {
        int done = 0;
        tutti_event *event = nullptr;
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        EXPECT_EQ(tutti_stream_query(rank.stream(), &done, nullptr), TUTTI_OK);
        EXPECT_EQ(done, 1);
        ASSERT_EQ(tutti_event_create(rank.device(), &event, nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_event_synchronize(event, nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_event_wait(event, rank.stream(), nullptr), TUTTI_OK);
        done = 0;
        EXPECT_EQ(tutti_event_query(event, &done, nullptr), TUTTI_OK);
        EXPECT_EQ(done, 1);
    });
}

// row 58
TEST(Streams, MemoryFreedUnderARunningCollectiveStaysUntilItIsOverAndIsReported) {
    const Report report = run(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const tutti_buffer x = rank.upload(std::vector<float>(1000, 1));
        if (rank.index() == 1) tutti_rank_sleep(rank.self(), 1000000, nullptr);
        EXPECT_EQ(enqueue_sum(rank, world, x), TUTTI_OK);
        EXPECT_EQ(tutti_memory_free(rank.device(), x, nullptr), TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_OK);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_FREED, {0, 1});
}

TEST(Memory, FreedTwiceIsMisuse) {
    const Report report = run(1, [](Rank &rank) {
        const tutti_buffer x = rank.upload<float>({1, 2});
        const tutti_buffer inside = tutti_buffer_slice(x, 1, 1, 4);
        EXPECT_EQ(tutti_memory_free(rank.device(), inside, nullptr), TUTTI_MISUSE);
        EXPECT_EQ(tutti_memory_free(rank.device(), x, nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_memory_free(rank.device(), x, nullptr), TUTTI_MISUSE);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISUSE, {0});
}

TEST(Memory, IsFilledAndCopied) {
    run_well(1, [](Rank &rank) {
        const tutti_buffer x = rank.allocate(16), y = rank.allocate(16);
        EXPECT_EQ(tutti_fill(x, 0xAB, rank.stream(), nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_copy_on_device(y, x, 16, rank.stream(), nullptr), TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        EXPECT_EQ(rank.download<uint8_t>(y), std::vector<uint8_t>(16, 0xAB));
    });
}

TEST(Streams, AnEventRecordedAgainIsANewMark) {
    run_well(1, [](Rank &rank) {
        tutti_event *event = nullptr;
        ASSERT_EQ(tutti_event_create(rank.device(), &event, nullptr), TUTTI_OK);
        for (int i = 0; i < 3; i++) {
            int flag = 0;
            EXPECT_EQ(tutti_host_function_enqueue(rank.stream(), set_flag, &flag, nullptr, 0,
                                                  nullptr, 0, nullptr),
                      TUTTI_OK);
            EXPECT_EQ(tutti_event_record(event, rank.stream(), nullptr), TUTTI_OK);
            EXPECT_EQ(tutti_event_synchronize(event, nullptr), TUTTI_OK);
            EXPECT_EQ(flag, 1);
        }
    });
}

TEST(Streams, PollingSeesTheEnd) {
    run_well(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const tutti_buffer x = rank.upload<float>({1});
        if (rank.index() == 1) tutti_rank_sleep(rank.self(), 1000000, nullptr);
        EXPECT_EQ(enqueue_sum(rank, world, x), TUTTI_OK);
        for (int done = 0; !done;)
            ASSERT_EQ(tutti_stream_query(rank.stream(), &done, nullptr), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(x)[0], 2);
    });
}

TEST(GroupCall, NothingStartsBeforeItsEnd) {
    TUTTI_NEEDS_VIRTUAL_TIME();
    run_well(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const tutti_buffer x = rank.upload<float>({1});
        ASSERT_EQ(tutti_group_start(rank.driver(), nullptr), TUTTI_OK);
        EXPECT_EQ(enqueue_sum(rank, world, x), TUTTI_OK);
        tutti_rank_sleep(rank.self(), 1000000, nullptr);
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(x)[0], 1);
        ASSERT_EQ(tutti_group_end(rank.driver(), nullptr), TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(x)[0], 2);
    });
}

TEST(GroupCall, EndWithoutStartIsMisuse) {
    const Report report = run(
        1, [](Rank &rank) { EXPECT_EQ(tutti_group_end(rank.driver(), nullptr), TUTTI_MISUSE); });
    expect_verdict(report.get(), TUTTI_VERDICT_MISUSE, {0});
}

TEST(GroupCall, AnAbortInsideDropsAllOfIt) {
    run(1, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const tutti_buffer x = rank.upload<float>({1});
        tutti_error error;
        ASSERT_EQ(tutti_group_start(rank.driver(), nullptr), TUTTI_OK);
        ASSERT_EQ(tutti_all_reduce(world, x, x, data_type(TUTTI_F32), 1, TUTTI_SUM, rank.stream(),
                                   nullptr),
                  TUTTI_OK);
        ASSERT_EQ(tutti_comm_abort(world, nullptr), TUTTI_OK);
        EXPECT_NE(tutti_group_end(rank.driver(), &error), TUTTI_OK);
        EXPECT_NE(std::strstr(error.message, "aborted"), nullptr) << error.message;
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(x), std::vector<float>{1});
    });
}

TEST(GroupCall, AnErrorInsideDropsAllOfIt) {
    const Report report = run(1, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const tutti_buffer x = rank.upload<float>({3}), y = rank.upload<float>({4});
        ASSERT_EQ(tutti_group_start(rank.driver(), nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_all_reduce(world, x, y, data_type(TUTTI_F32), 1, TUTTI_SUM, rank.stream(),
                                   nullptr),
                  TUTTI_OK);
        const tutti_buffer foreign = {&rank, 4};
        EXPECT_EQ(tutti_all_reduce(world, foreign, y, data_type(TUTTI_F32), 1, TUTTI_SUM,
                                   rank.stream(), nullptr),
                  TUTTI_INVALID_ARGUMENT);
        EXPECT_EQ(tutti_group_end(rank.driver(), nullptr), TUTTI_INVALID_ARGUMENT);
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(y)[0], 4);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISUSE, {0});
}

} // namespace
