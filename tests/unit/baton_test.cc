// The baton that rank threads hand on, and the gate that a watchdog can lock.
#include <atomic>
#include <thread>
#include <vector>

#include "drivers/emu/baton.h"
#include "gtest/gtest.h"

namespace {

TEST(Baton, WhatWasGivenIsTaken) {
    emu_baton baton = {};
    emu_baton_give(&baton);
    emu_baton_take(&baton);
    EXPECT_FALSE(emu_baton_take_within(&baton, 0));
}

TEST(Baton, IsTakenAsOftenAsItWasGiven) {
    emu_baton baton = {};
    for (int i = 0; i < 3; i++)
        emu_baton_give(&baton);
    for (int i = 0; i < 3; i++)
        EXPECT_TRUE(emu_baton_take_within(&baton, 0));
    EXPECT_FALSE(emu_baton_take_within(&baton, 0));
}

TEST(Baton, WaitingEndsAfterItsTime) {
    emu_baton baton = {};
    EXPECT_FALSE(emu_baton_take_within(&baton, 1000000));
    emu_baton_give(&baton);
    EXPECT_TRUE(emu_baton_take_within(&baton, INT64_MAX / 2));
}

TEST(Baton, WaiterIsWoken) {
    emu_baton to = {}, back = {};
    std::thread waiter([&] {
        emu_baton_take(&to);
        emu_baton_give(&back);
    });
    emu_baton_give(&to);
    emu_baton_take(&back);
    waiter.join();
}

TEST(Baton, RingOfThreadsTakesTurns) {
    constexpr int kThreads = 5, kRounds = 2000;
    std::vector<emu_baton> batons(kThreads);
    // Only who has the baton touches it. TSan does not see the handovers, so for its sake it is
    // atomic.
    std::atomic<int> turns{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < kRounds; round++) {
                emu_baton_take(&batons[i]);
                const int seen = turns.load(std::memory_order_relaxed);
                EXPECT_EQ(seen, round * kThreads + i);
                turns.store(seen + 1, std::memory_order_relaxed);
                emu_baton_give(&batons[(i + 1) % kThreads]);
            }
        });
    }
    emu_baton_give(&batons[0]);
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(turns, kThreads * kRounds);
}

TEST(Gate, IsPassedInBothDirections) {
    emu_gate gate = {};
    EXPECT_EQ(emu_gate_side_of(emu_gate_look(&gate)), EMU_GATE_INSIDE);
    emu_gate_leave(&gate);
    EXPECT_EQ(emu_gate_side_of(emu_gate_look(&gate)), EMU_GATE_OUTSIDE);
    EXPECT_TRUE(emu_gate_enter(&gate));
    EXPECT_EQ(emu_gate_side_of(emu_gate_look(&gate)), EMU_GATE_INSIDE);
}

TEST(Gate, LooksDifferentAfterEachPassage) {
    emu_gate gate = {};
    emu_gate_leave(&gate);
    const uint64_t look = emu_gate_look(&gate);
    EXPECT_EQ(emu_gate_look(&gate), look);
    EXPECT_TRUE(emu_gate_enter(&gate));
    emu_gate_leave(&gate);
    EXPECT_NE(emu_gate_look(&gate), look);
}

TEST(Gate, IsAbandonedOnlyFromOutsideAndIfItWasNotPassed) {
    emu_gate gate = {};
    EXPECT_FALSE(emu_gate_abandon(&gate, emu_gate_look(&gate)));
    emu_gate_leave(&gate);
    const uint64_t look = emu_gate_look(&gate);
    EXPECT_TRUE(emu_gate_enter(&gate));
    emu_gate_leave(&gate);
    EXPECT_FALSE(emu_gate_abandon(&gate, look));
    EXPECT_TRUE(emu_gate_abandon(&gate, emu_gate_look(&gate)));
}

TEST(Gate, StaysAbandoned) {
    emu_gate gate = {};
    emu_gate_leave(&gate);
    ASSERT_TRUE(emu_gate_abandon(&gate, emu_gate_look(&gate)));
    EXPECT_FALSE(emu_gate_enter(&gate));
    emu_gate_leave(&gate);
    EXPECT_FALSE(emu_gate_enter(&gate));
    EXPECT_EQ(emu_gate_side_of(emu_gate_look(&gate)), EMU_GATE_ABANDONED);
    EXPECT_FALSE(emu_gate_abandon(&gate, emu_gate_look(&gate)));
}

TEST(Gate, EitherTheWatchdogOrTheRankGetsIt) {
    for (int i = 0; i < 500; i++) {
        emu_gate gate = {};
        emu_gate_leave(&gate);
        const uint64_t look = emu_gate_look(&gate);
        bool entered = false;
        std::thread rank([&] { entered = emu_gate_enter(&gate); });
        const bool abandoned = emu_gate_abandon(&gate, look);
        rank.join();
        EXPECT_NE(entered, abandoned);
    }
}

} // namespace
