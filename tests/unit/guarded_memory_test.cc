// With AddressSanitizer, the program's own access to memory that was freed, or that an operation
// under way will write, is an error at once, with the line that made it.

#include <gtest/gtest.h>

#include "drivers/emu/sanitize.h"
#include "tests/unit/rehearsal_support.h"

namespace {

float *floats_of(tutti_buffer buffer) {
    return static_cast<float *>(buffer.data);
}

void run_and_exit(const RankBody &body, tutti_executor executor) {
    (void)rehearse(options_for(2, executor), body);
    std::exit(0);
}

class GuardedMemoryDeathTest : public ::testing::TestWithParam<tutti_executor> {
  protected:
    void expect_error(const RankBody &body) {
        EXPECT_EXIT(run_and_exit(body, GetParam()), ::testing::ExitedWithCode(1),
                    "use-after-poison");
    }
};

INSTANTIATE_TEST_SUITE_P(Executors, GuardedMemoryDeathTest,
                         ::testing::Values(TUTTI_EXECUTOR_THREADS, TUTTI_EXECUTOR_FIBERS));

TEST_P(GuardedMemoryDeathTest, ReadingWhatACollectiveWillWriteIsSeen) {
    if (!EMU_ASAN) GTEST_SKIP() << "ASan is off";
    expect_error([](tutti_rank *self) {
        Member member(self);
        (void)member.set(1);
        if (tutti_rank_index(self) == 1) return; // so that it stays under way
        (void)member.all_reduce();
        volatile float seen = *floats_of(member.buffer); // volatile: read for sure
        (void)seen;
    });
}

TEST_P(GuardedMemoryDeathTest, WritingWhatACollectiveWillWriteIsSeen) {
    if (!EMU_ASAN) GTEST_SKIP() << "ASan is off";
    expect_error([](tutti_rank *self) {
        Member member(self);
        (void)member.set(1);
        if (tutti_rank_index(self) == 1) return;
        (void)member.all_reduce();
        floats_of(member.buffer)[3] = 7;
    });
}

TEST_P(GuardedMemoryDeathTest, ReadingWhatWasFreedIsSeen) {
    if (!EMU_ASAN) GTEST_SKIP() << "ASan is off";
    expect_error([](tutti_rank *self) {
        Member member(self);
        (void)member.set(1);
        (void)tutti_memory_free(tutti_rank_device(self), member.buffer, nullptr);
        volatile float seen = *floats_of(member.buffer); // volatile: read for sure
        (void)seen;
    });
}

class GuardedMemory : public ::testing::TestWithParam<tutti_executor> {};

INSTANTIATE_TEST_SUITE_P(Executors, GuardedMemory,
                         ::testing::Values(TUTTI_EXECUTOR_THREADS, TUTTI_EXECUTOR_FIBERS));

// The corrected twins: after a wait everything may be touched, also beside what is under way.
TEST_P(GuardedMemory, IsOpenAgainWhenTheOperationIsOver) {
    const Report report = rehearse(options_for(2, GetParam()), [](tutti_rank *self) {
        Member member(self, 8);
        ASSERT_EQ(member.set(1), TUTTI_OK);
        for (int round = 0; round < 3; round++) {
            ASSERT_EQ(member.all_reduce(), TUTTI_OK);
            ASSERT_EQ(member.all_reduce(), TUTTI_OK);
            ASSERT_EQ(member.synchronize(), TUTTI_OK);
            EXPECT_EQ(floats_of(member.buffer)[7], static_cast<float>(4 << (2 * round)));
        }
        const tutti_buffer half = {member.buffer.data, 16};
        ASSERT_EQ(tutti_all_reduce(member.comm, half, half, member.data_type, 4, TUTTI_SUM,
                                   member.stream, nullptr),
                  TUTTI_OK);
        EXPECT_EQ(floats_of(member.buffer)[7], 64); // the other half
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_NE(report->verdict, TUTTI_VERDICT_UNRESPONSIVE) << text_of(report.get());
}

TEST_P(GuardedMemory, OfAFailedCollectiveIsOpenAgain) {
    const Report report = rehearse(options_for(2, GetParam()), [](tutti_rank *self) {
        Member member(self, tutti_rank_index(self) == 0 ? 8 : 6);
        ASSERT_EQ(member.set(1), TUTTI_OK);
        ASSERT_EQ(member.all_reduce(), TUTTI_OK);
        EXPECT_EQ(member.synchronize(), TUTTI_MISMATCH);
        EXPECT_EQ(floats_of(member.buffer)[0], 1);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_MISMATCH) << text_of(report.get());
}

} // namespace
