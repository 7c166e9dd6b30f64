// Ranks that touch the same variable are a race, although a rehearsal runs one of them at a time:
// TSan sees it, and sees none where the interface promises an order.
#include <cstdlib>
#include <functional>

#include "drivers/emu/tsan.h"
#include "tests/unit/rehearsal_support.h"

namespace {

// All ranks reach it, and none passes before.
void meet(Member *member) {
    ASSERT_EQ(member->all_reduce(), TUTTI_OK);
    ASSERT_EQ(member->synchronize(), TUTTI_OK);
}

// Runs it in a program of its own, which TSan ends with this code when it has seen a race.
constexpr int kRaceSeen = 66;

void run_and_exit(const RankBody &body, tutti_executor executor = TUTTI_EXECUTOR_THREADS) {
    (void)rehearse(options_for(2, executor), body);
    std::exit(0);
}

TEST(RaceDeathTest, VariableThatTwoRanksWriteIsSeen) {
    if (!EMU_TSAN) GTEST_SKIP() << "TSan is off";
    int shared = 0;
    const RankBody body = [&](tutti_rank *self) { shared = tutti_rank_index(self); };
    EXPECT_EXIT(run_and_exit(body), ::testing::ExitedWithCode(kRaceSeen), "data race");
}

TEST(RaceDeathTest, VariableThatTwoFibersWriteIsSeen) {
    if (!EMU_TSAN) GTEST_SKIP() << "TSan is off";
    int shared = 0;
    const RankBody body = [&](tutti_rank *self) { shared = tutti_rank_index(self); };
    EXPECT_EXIT(run_and_exit(body, TUTTI_EXECUTOR_FIBERS), ::testing::ExitedWithCode(kRaceSeen),
                "data race");
}

TEST(RaceDeathTest, WritingBeforeTheOthersHaveReadIsSeen) {
    if (!EMU_TSAN) GTEST_SKIP() << "TSan is off";
    int shared = 0;
    const RankBody body = [&](tutti_rank *self) {
        Member member(self);
        if (tutti_rank_index(self) == 0) shared = 1;
        (void)member.all_reduce();
        if (tutti_rank_index(self) == 1) shared = 2; // it has not waited for rank 0's part
        (void)member.synchronize();
    };
    EXPECT_EXIT(run_and_exit(body), ::testing::ExitedWithCode(kRaceSeen), "data race");
}

TEST(Race, CollectiveOrdersWhatRanksDoBeforeAndAfter) {
    int shared = 0;
    const Report report = rehearse(options_for(3), [&](tutti_rank *self) {
        Member member(self);
        for (int turn = 0; turn < 3; turn++) {
            if (tutti_rank_index(self) == turn) shared++;
            meet(&member);
        }
        EXPECT_EQ(shared, 3);
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(Race, CollectiveOrdersWhatFibersDoBeforeAndAfter) {
    int shared = 0;
    const Report report = rehearse(options_for(3, TUTTI_EXECUTOR_FIBERS), [&](tutti_rank *self) {
        Member member(self);
        for (int turn = 0; turn < 3; turn++) {
            if (tutti_rank_index(self) == turn) shared++;
            meet(&member);
        }
        EXPECT_EQ(shared, 3);
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_NE(report->verdict, TUTTI_VERDICT_UNRESPONSIVE) << text_of(report.get());
}

TEST(Race, MessageOrdersSenderAndReceiver) {
    int shared = 0;
    const Report report = rehearse(options_for(2), [&](tutti_rank *self) {
        Member member(self);
        if (tutti_rank_index(self) == 0) {
            ASSERT_EQ(member.set(1), TUTTI_OK);
            shared = 7;
            ASSERT_EQ(tutti_send(member.comm, member.buffer, member.data_type, 4, 1, member.stream,
                                 nullptr),
                      TUTTI_OK);
        } else {
            ASSERT_EQ(tutti_recv(member.comm, member.buffer, member.data_type, 4, 0, member.stream,
                                 nullptr),
                      TUTTI_OK);
            int done = 0;
            while (done == 0)
                ASSERT_EQ(tutti_stream_query(member.stream, &done, nullptr), TUTTI_OK);
            EXPECT_EQ(shared, 7);
        }
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(Race, HostFunctionIsOrderedWithItsStream) {
    const Report report = rehearse(options_for(3), [](tutti_rank *self) {
        Member member(self);
        int mine = 5;
        const auto doubling = [](void *argument) { *static_cast<int *>(argument) *= 2; };
        ASSERT_EQ(member.all_reduce(), TUTTI_OK); // so that another rank's thread may carry it out
        ASSERT_EQ(tutti_host_function_enqueue(member.stream, doubling, &mine, nullptr, 0, nullptr,
                                              0, nullptr),
                  TUTTI_OK);
        ASSERT_EQ(member.synchronize(), TUTTI_OK);
        EXPECT_EQ(mine, 10);
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(Race, BufferMayBeReadWhenItsCopyIsOver) {
    const Report report = rehearse(options_for(2), summing(3));
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(Race, WhatRanksDidIsVisibleAfterTheRehearsal) {
    std::vector<int> values(8);
    for (int round = 0; round < 5; round++) {
        (void)rehearse(options_for(8), [&](tutti_rank *self) {
            values[static_cast<size_t>(tutti_rank_index(self))]++;
        });
        for (const int value : values)
            EXPECT_EQ(value, round + 1);
    }
}

} // namespace
