// Every statement of the script language does what docs/scripts.md says. Each case is a script that
// checks itself with `expect` and ends with its verdict; it runs on both executors.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/harness/script_runner.h"

namespace {

using tutti_test::Outcome;
using tutti_test::Script;

// Runs a script on both executors; each must end as it says.
Outcome ends_as_it_says(const std::string &text) {
    const Script script = tutti_test::parse_script("case.tut", text);
    Outcome data = tutti_test::run_script(script.get(), TUTTI_SCRIPT_AS_DATA);
    const Outcome threads = tutti_test::run_script(script.get(), TUTTI_SCRIPT_ON_THREADS);
    EXPECT_TRUE(tutti_script_ends_as_expected(script.get(), data.report.get()))
        << text << tutti_test::text_of(data.report.get());
    EXPECT_EQ(data.trace, threads.trace) << text;
    return data;
}

TEST(Buffers, AreFilledAsDeclared) {
    ends_as_it_says("ranks 3\n"
                    "buffer r f32 3 = rank\nbuffer i i32 4 = iota\nbuffer c bf16 2 = -1.5\n"
                    "buffer l u8 3 = 1 2 255\nbuffer z f64 2\nbuffer big u64 1 = "
                    "18446744073709551615\n"
                    "rank 2\n expect r = 2\n"
                    "rank *\n expect i = 0 1 2 3\n expect i[1:3] = 1 2\n expect c = -1.5\n"
                    " expect l = 1 2 255\n expect z = zero\n expect big = 18446744073709551615\n");
}

TEST(Buffers, MayDifferFromRankToRank) {
    ends_as_it_says("ranks 2\n"
                    "rank 0\n buffer x f32 2 = 1\n all_reduce x sum\n sync\n expect x = 3\n"
                    "rank 1\n buffer x f32 2 = 2\n all_reduce x sum\n sync\n expect x = 3\n");
}

TEST(AllReduce, HasEveryOpAndLeavesTheSourceAlone) {
    ends_as_it_says("ranks 3\nbuffer x i32 2 = rank\nbuffer y i32 2\n"
                    "rank *\n"
                    " all_reduce x -> y sum\n sync\n expect y = 3\n expect x = rank\n"
                    " all_reduce x -> y mean\n sync\n expect y = 1\n"
                    " all_reduce x -> y max\n sync\n expect y = 2\n"
                    " all_reduce x -> y min\n sync\n expect y = 0\n"
                    " all_reduce x -> y prod\n sync\n expect y = 0\n");
}

TEST(AllReduce, TakesSlicesAndGroupsThatNumberTheirRanksAsListed) {
    ends_as_it_says("ranks 4\nbuffer x f32 4 = rank\ngroup odd = 3 1\n"
                    "rank 1 3\n all_reduce x[1:3] sum in odd\n sync\n"
                    "rank 1\n expect x = 1 4 4 1\n"
                    "rank 3\n expect x = 3 4 4 3\n");
}

TEST(AllReduce, RefusesADestinationThatIsTooSmallAndGoesOn) {
    ends_as_it_says("ranks 1\nbuffer x f32 4 = 1\nbuffer y f32 4\n"
                    "rank *\n all_reduce x -> y[0:2] sum\n expect y = 0\n"
                    " all_reduce x -> y sum\n sync\n expect y = 1\nverdict misuse culprit 0\n");
}

TEST(AllReduce, RefusesTypesThatAreNotCarriedByName) {
    const Outcome outcome = ends_as_it_says("ranks 1\nbuffer x bool 4\nrank *\n all_reduce x sum\n"
                                            "verdict refused culprit 0\n");
    EXPECT_NE(tutti_test::text_of(outcome.report.get()).find("bool"), std::string::npos);
}

TEST(Transfers, MoveSlicesBothWaysInAGroupCall) {
    ends_as_it_says("ranks 2\nbuffer x i64 2 = rank\nbuffer y i64 2 = 9\n"
                    "rank 0\n start\n  send x to 1\n  recv y[1:2] from 1\n end\n sync\n"
                    " expect y = 9 1\n"
                    "rank 1\n start\n  recv y from 0\n  send x[0:1] to 0\n end\n sync\n"
                    " expect y = 0\n");
}

TEST(GroupCalls, NestAndStartNothingBeforeTheOutermostEnd) {
    ends_as_it_says("ranks 2\nbuffer x f32 1 = 1\n"
                    "rank *\n start\n  start\n   all_reduce x sum\n  end\n  expect x = 1\n end\n"
                    " sync\n expect x = 2\n");
}

TEST(GroupCalls, JoinEveryGroupThatTheyUse) {
    ends_as_it_says("ranks 2\nbuffer x f32 1 = 1\nbuffer y f32 1 = 1\ngroup a = 0 1\n"
                    "group b = 1 0\n"
                    "rank *\n start\n  all_reduce x sum in a\n  all_reduce y sum in b\n end\n"
                    " sync\n expect x = 2\n expect y = 2\n");
}

TEST(Repeat, NestsAndMayBeOfNothing) {
    ends_as_it_says("ranks 2\nbuffer x f64 1 = 1\n"
                    "rank *\n repeat 3\n  repeat 2\n   all_reduce x sum\n  end\n end\n"
                    " repeat 0\n  exit\n end\n sync\n expect x = 64\n");
}

TEST(Time, PassesForKernelsAndSleepsOnly) {
    const Outcome outcome =
        ends_as_it_says("ranks 2\nbuffer x f32 1 = 1\n"
                        "rank 0\n sleep 5ms\n"
                        "rank *\n kernel reads x writes x on c for 3ms\n record e on c\n"
                        " wait e on comm\n all_reduce x sum\n sync\n expect x = 2\n");
    EXPECT_EQ(outcome.report->virtual_ns, 8000000);
}

TEST(Time, OfTwoKernelsOnTwoStreamsRunsAtOnce) {
    const Outcome outcome = ends_as_it_says(
        "ranks 1\nrank *\n kernel on a for 3ms\n kernel on b for 4ms\n kernel on a for 3ms\n"
        " sync\n");
    EXPECT_EQ(outcome.report->virtual_ns, 6000000);
}

TEST(Events, OrderStreamsAndAreWaitedForByTheHost) {
    ends_as_it_says("ranks 1\nrank *\n wait never on s\n sync s\n"
                    " kernel on a for 2ms\n record e on a\n poll e\n sync e\n poll a\n");
}

TEST(Poll, LooksAndGoesOn) {
    ends_as_it_says("ranks 2\nbuffer x f32 1 = 1\n"
                    "rank 0\n sleep 3ms\n"
                    "rank 1\n repeat 5\n  poll comm\n end\n"
                    "rank *\n all_reduce x sum\n poll comm\n sync comm\n expect x = 2\n");
}

TEST(Timeout, LimitsEveryWait) {
    ends_as_it_says("ranks 2\ntimeout 1ms\nbuffer x f32 1\n"
                    "rank *\n join world\n"
                    "rank 1\n sleep 2ms\n"
                    "rank *\n all_reduce x sum\n sync\nverdict timeout culprit 1\n");
    ends_as_it_says("ranks 1\ntimeout 1ms\nrank *\n kernel on a for 2ms\n sync a\n"
                    "verdict timeout culprit 0\n");
}

TEST(Capacity, OfOneDeadlocksWhereTwoWouldDo) {
    const std::string program =
        "buffer a f32 1\nbuffer b f32 1\ngroup g = 0 1\n"
        "rank *\n join world\n join g\n"
        "rank 0\n all_reduce a sum on s1\n all_reduce b sum in g on s2\n sync\n"
        "rank 1\n all_reduce b sum in g on s2\n all_reduce a sum on s1\n sync\n";
    ends_as_it_says("ranks 2\ncapacity 1\n" + program + "verdict deadlock culprit 0-1\n");
    ends_as_it_says("ranks 2\ncapacity 2\n" + program);
}

TEST(FirstUse, BlocksTheHostUntilThePeerComes) {
    const std::string program = "buffer x f32 1\n"
                                "rank *\n join world\n"
                                "rank 0\n all_reduce x sum on a\n kernel on b for 5ms\n sync b\n"
                                "rank 1\n sleep 5ms\n all_reduce x sum on a\n"
                                "rank *\n sync\n";
    EXPECT_EQ(ends_as_it_says("ranks 2\nfirst-use blocks\n" + program).report->virtual_ns,
              10000000);
    EXPECT_EQ(ends_as_it_says("ranks 2\n" + program).report->virtual_ns, 5000000);
}

TEST(FirstUse, OfPeersInACircleDeadlocks) {
    ends_as_it_says("ranks 2\nfirst-use blocks\nbuffer x f32 1\nbuffer y f32 1\n"
                    "rank *\n join world\n"
                    "rank 0\n send x to 1 on a\n recv y from 1 on b\n"
                    "rank 1\n send x to 0 on a\n recv y from 0 on b\n"
                    "verdict deadlock culprit 0-1\n");
}

TEST(Free, UnderARunningCollectiveIsSafeAndTheNameIsGone) {
    ends_as_it_says("ranks 2\nbuffer x f32 64 = 1\n"
                    "rank 1\n sleep 1ms\n"
                    "rank *\n all_reduce x sum\n free x\n sync\n all_reduce x sum\n"
                    "verdict freed culprit 0 1\n");
}

TEST(Membership, ANameThatWasLeftStaysSo) {
    ends_as_it_says("ranks 2\nbuffer x f32 1 = 1\n"
                    "rank *\n all_reduce x sum\n leave world\n"
                    "rank 1\n join world\nverdict misuse culprit 1\n");
}

TEST(Membership, WhatAFailedJoinDidNotGiveMayBeGivenUp) {
    ends_as_it_says("ranks 3\ntimeout 30s\nrank 0 1\n join world\n abort world\n"
                    "verdict timeout culprit 2\n");
    ends_as_it_says("ranks 2\nfault join[rank=1]=refuse(no)\nrank *\n join world\n leave world\n"
                    "verdict refused culprit 1\n");
    ends_as_it_says("ranks 1\nrank *\n abort world\nverdict misuse culprit 0\n");
}

TEST(Verdict, IsWhatTheRestFollowsFrom) {
    // After its wait is over, rank 0 does something that is wrong by itself.
    ends_as_it_says("ranks 2\ntimeout 1s\nbuffer x f32 1\nrank *\n join world\n"
                    "rank 0\n all_reduce x sum\n sync\n free x\n free x\n"
                    "verdict timeout culprit 1\n");
}

TEST(Membership, ANonMemberIsTold) {
    ends_as_it_says("ranks 3\nbuffer x f32 1 = 1\ngroup pair = 0 1\n"
                    "rank *\n all_reduce x sum in pair\n sync\nverdict misuse culprit 2\n");
}

TEST(Exit, IsForGood) {
    ends_as_it_says("ranks 2\nbuffer x f32 1 = 1\n"
                    "rank *\n all_reduce x sum\n sync\n"
                    "rank 1\n exit\n"
                    "rank *\n all_reduce x sum\n sync\nverdict missing culprit 1\n");
}

TEST(Expect, NamesTheFirstElementThatDiffers) {
    const Outcome outcome = ends_as_it_says("ranks 1\nbuffer x f32 4 = iota\n"
                                            "rank *\n expect x[1:4] = 1 7 3\nverdict wrong\n");
    EXPECT_NE(tutti_test::text_of(outcome.report.get()).find("x[2] is 2, and 7 was expected"),
              std::string::npos);
}

TEST(Limits, MoreMemoryThanThereIsIsRefusedWithItsSize) {
    const Outcome outcome = ends_as_it_says("ranks 2\nbuffer x f64 100000000000\nrank *\n"
                                            " all_reduce x sum\nverdict refused culprit 0\n");
    EXPECT_NE(tutti_test::text_of(outcome.report.get()).find("no room for 800000000000 bytes"),
              std::string::npos);
}

TEST(Limits, AnEndlessRepeatIsStoppedAndSaysSo) {
    ends_as_it_says("ranks 1\nrank *\n repeat 1000000000\n  repeat 1000000000\n  end\n end\n"
                    "verdict misuse culprit 0\n");
}

TEST(Limits, FindingsThatAreNotKeptAreCounted) {
    const Outcome outcome = ends_as_it_says("ranks 1\nbuffer x f32 1 = 1\nrank *\n repeat 1003\n"
                                            "  expect x = 2\n end\nverdict wrong\n");
    EXPECT_EQ(outcome.report->finding_count, 1000u);
    EXPECT_EQ(outcome.report->findings_dropped, 3u);
    EXPECT_NE(tutti_test::text_of(outcome.report.get()).find("3 more findings that were not kept"),
              std::string::npos);
}

// Each action does what docs/faults.md says, at calls of every kind.
TEST(Faults, ActAtEveryPoint) {
    const std::string head = "ranks 2\nbuffer x f32 1 = 1\n";
    const std::string body = "rank *\n join world\n all_reduce x sum\n sync\n record e\n wait e\n"
                             " kernel for 1us\n start\n  send x to 0\n  recv x from 0\n end\n"
                             " sync\n poll comm\n leave world\n";
    const std::string alone = "ranks 1\nbuffer x f32 1 = 1\n";
    for (const char *point :
         {"mint", "join", "data_type", "all_reduce", "enqueue", "sync", "record", "wait", "kernel",
          "group", "send", "recv", "poll", "leave"}) {
        const std::string at = std::string("fault ") + point + "[rank=0]=";
        ends_as_it_says(alone + at + "1*off->1*delay(3ms)\n" + body);
        ends_as_it_says(alone + at + "1*refuse(no)\n" + body + "verdict refused culprit 0\n");
        ends_as_it_says(alone + at + "1*fail(remote)\n" + body + "verdict refused culprit 0\n");
        ends_as_it_says(alone + at + "kill\n" + body + "verdict killed culprit 0\n");
        ends_as_it_says(alone + at + "hang\n" + body + "verdict missing culprit 0\n");
    }
    ends_as_it_says(head + "fault all_reduce[rank=1,seq=2,op=sum,group=world,stream=comm]=kill\n"
                           "rank *\n repeat 3\n  all_reduce x sum\n  sync\n end\n"
                           "verdict killed culprit 1\n");
}

} // namespace
