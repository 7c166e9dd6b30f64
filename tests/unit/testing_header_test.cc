// tutti/testing.h: what it says when an expectation fails, and how sweeps are divided.

#include "tutti/testing.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tutti/operations.h"

namespace {

using namespace tutti::testing;

void quiet(tutti_rank *self) {
    (void)tutti_rank_sleep(self, 10, nullptr);
}

void join(tutti_rank *self) {
    tutti_comm *world = nullptr;
    if (tutti_rank_join_world(self, nullptr, &world, nullptr) != TUTTI_OK) return;
    if (tutti_leave(world, nullptr) != TUTTI_OK) (void)tutti_comm_abort(world, nullptr);
}

TEST(TestingHeader, SaysWhatWasExpectedAndPrintsTheReport) {
    const Report report = rehearse(2, join, "join[rank=1]=kill");
    EXPECT_REHEARSAL(report, TUTTI_VERDICT_KILLED, 1);
    EXPECT_REHEARSAL(report, TUTTI_VERDICT_KILLED);
    const ::testing::AssertionResult result = ends_with(report, TUTTI_VERDICT_MISSING, {0, 1});
    ASSERT_FALSE(result);
    const std::string message = result.message();
    EXPECT_EQ(message.find("expected missing, culprit 0, 1; it ended with killed, culprit 1\n"), 0U)
        << message;
    EXPECT_NE(message.find("a fault kills rank 1 in its join"), std::string::npos) << message;
    EXPECT_FALSE(ends_with(report, TUTTI_VERDICT_KILLED, {0}));
}

TEST(TestingHeader, SaysWhyARehearsalCouldNotBeRun) {
    const Report report = rehearse(2, quiet, "join=explode");
    EXPECT_EQ(report.get(), nullptr);
    const ::testing::AssertionResult result = ends_with(report, TUTTI_VERDICT_OK);
    ASSERT_FALSE(result);
    EXPECT_NE(std::string(result.message()).find("faults:1:6"), std::string::npos)
        << result.message();
    EXPECT_EQ(sweep(Rehearsal(2).faults("join=explode"), quiet).get(), nullptr);
}

TEST(TestingHeader, TakesOptionsOfARehearsal) {
    Rehearsal late = Rehearsal(2).faults("step[rank=0]=1*delay(5s)").wait_timeout(1000000000);
    EXPECT_REHEARSAL(rehearse(late, join), TUTTI_VERDICT_TIMEOUT, 0);
    EXPECT_REHEARSAL_OK(rehearse(Rehearsal(3).random_schedule(5), join));
}

TEST(TestingHeader, SweepsWithFunctions) {
    EXPECT_SURVIVES_EVERY_FAULT(2, join);
    const SweepReport report =
        sweep(2, join,
              Sweep()
                  .actions({TUTTI_FAULT_KILL})
                  .points({TUTTI_FAULT_AT_JOIN, TUTTI_FAULT_AT_LEAVE})
                  .judge([](const tutti_sweep_case &fault, const tutti_report &) {
                      return std::string(fault.rank == 1 ? "not rank 1" : "");
                  })
                  .exclude([](const tutti_sweep_case &fault) {
                      return std::string(fault.point == TUTTI_FAULT_AT_LEAVE ? "reviewed" : "");
                  }));
    ASSERT_NE(report.get(), nullptr) << report.trouble();
    EXPECT_EQ(report->passed_count, 1U);
    EXPECT_EQ(report->failed_count, 1U);
    EXPECT_EQ(report->excluded_count, 2U);
    const ::testing::AssertionResult result = is_survived(report);
    EXPECT_FALSE(result);
    EXPECT_NE(std::string(result.message()).find("join[rank=1]=1*kill"), std::string::npos);
}

TEST(TestingHeader, ASweepFindsWhatIsNotGivenBack) {
    const SweepReport report = sweep(2, [](tutti_rank *self) {
        tutti_comm *world = nullptr;
        if (tutti_rank_join_world(self, nullptr, &world, nullptr) == TUTTI_OK)
            (void)tutti_leave(world, nullptr); // may be refused, and the communicator stays
    });
    EXPECT_EQ(report->failed_count, 8U) << report.text();
    EXPECT_NE(report.text().find("leave[rank=1]=1*refuse(sweep)\n"
                                 "          something is not given back"),
              std::string::npos)
        << report.text();
}

TEST(TestingHeader, ASweepThatIsCutShortIsNotSurvived) {
    EXPECT_FALSE(is_survived(sweep(2, join, Sweep().run_count_max(3))));
}

TEST(TestingHeader, TakesItsShardFromBazelUnlessGoogleTestDoes) {
    const std::string status = ::testing::TempDir() + "/shard_status";
    (void)std::remove(status.c_str());
    (void)setenv("TEST_SHARD_INDEX", "1", 1);
    (void)setenv("TEST_TOTAL_SHARDS", "3", 1);
    (void)setenv("TEST_SHARD_STATUS_FILE", status.c_str(), 1);
    (void)setenv("GTEST_TOTAL_SHARDS", "3", 1);
    EXPECT_EQ(shard_of_environment().count, 1U);
    share_sweeps();
    EXPECT_EQ(shard_of_environment().index, 1U);
    EXPECT_EQ(shard_of_environment().count, 3U);
    EXPECT_TRUE(std::ifstream(status).good());
    const SweepReport part = sweep(2, join);
    ASSERT_NE(part.get(), nullptr) << part.trouble();
    EXPECT_GT(part->elsewhere_count, part->case_count);
    for (const char *name : {"TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS", "TEST_SHARD_STATUS_FILE"})
        (void)unsetenv(name);
    EXPECT_EQ(shard_of_environment().count, 1U);
}

} // namespace
