// Which edges order accesses, and what is said when none does.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/harness/script_runner.h"

namespace {

using tutti_test::Outcome;

const std::string head = "ranks 3\nbuffer a f32 4 = 1\nbuffer b f32 4 = 1\nbuffer c f32 4 = 1\n"
                         "group twin = 0 1 2\nrank *\n join world\n join twin\n";

Outcome run(const std::string &program, const uint64_t *seed = nullptr) {
    const tutti_test::Script script = tutti_test::parse_script("races.tut", head + program);
    return tutti_test::run_script(script.get(), TUTTI_SCRIPT_AS_DATA, seed);
}

std::string verdict_of(const Outcome &outcome) {
    std::string text = tutti_verdict_name(outcome.report->verdict);
    for (uint32_t i = 0; i < outcome.report->culprit_count; i++)
        text += " " + std::to_string(outcome.report->culprits[i]);
    return text;
}

// The same on the plain schedule and on random ones.
void expect_verdict(const std::string &program, const std::string &verdict) {
    const Outcome plain = run(program);
    EXPECT_EQ(verdict_of(plain), verdict) << program << tutti_test::text_of(plain.report.get());
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const Outcome outcome = run(program, &seed);
        EXPECT_EQ(verdict_of(outcome), verdict)
            << "seed " << seed << "\n"
            << program << tutti_test::text_of(outcome.report.get());
    }
}

// --- Edges ---

TEST(Edges, AStreamIsInOrder) {
    expect_verdict("rank 0\n kernel writes b on s\n kernel reads b on s\n kernel writes b on s\n",
                   "ok");
}

TEST(Edges, TheHostIsBeforeWhatItIssues) {
    expect_verdict("rank 0\n host writes b\n kernel writes b on s\n", "ok");
    expect_verdict("rank 0\n kernel writes b on s\n host writes b\n", "race 0");
}

TEST(Edges, TwoReadsAreNoRace) {
    expect_verdict("rank 0\n kernel reads b on s\n kernel reads b on t\n host reads b\n", "ok");
    expect_verdict("rank 0\n kernel reads b on s\n kernel reads b on t\n sync s\n host writes b\n",
                   "race 0");
}

TEST(Edges, AWaitIsForTheMarkThatWasThere) {
    expect_verdict("rank 0\n record e on s\n kernel writes b on s\n wait e on t\n"
                   " kernel writes b on t\n",
                   "race 0");
    expect_verdict("rank 0\n kernel writes b on s\n record e on s\n wait e on t\n"
                   " kernel writes c on s\n record e on s\n kernel writes b on t\n",
                   "ok");
    expect_verdict("rank 0\n kernel writes b on s\n record e on s\n wait e on t\n"
                   " kernel writes c on s for 1ms\n record e on s\n kernel writes c on t\n",
                   "race 0");
}

TEST(Edges, AnEventOrdersTheHost) {
    expect_verdict("rank 0\n kernel writes b on s\n record e on s\n kernel writes c on s\n"
                   " sync e\n host writes b\n",
                   "ok");
    expect_verdict("rank 0\n kernel writes b on s\n record e on s\n kernel writes c on s\n"
                   " sync e\n host writes c\n",
                   "race 0");
}

TEST(Edges, ACommunicatorIsInOrderWhateverTheStream) {
    expect_verdict("rank *\n all_reduce b sum on s\n all_reduce b sum on t\n", "ok");
    expect_verdict("rank *\n all_reduce b sum on s\n all_reduce b sum in twin on t\n",
                   "race 0 1 2");
}

TEST(Edges, LeavingWaitsForTheMembersOwnOperations) {
    expect_verdict("rank *\n all_reduce b sum on s\n leave world\n host writes b\n", "ok");
    expect_verdict("rank *\n all_reduce b sum on s\n kernel writes c on s for 1ms\n leave world\n"
                   " host writes c\n",
                   "race 0 1 2");
}

TEST(Edges, AGroupCallIsOnePointOfOrderOnAllItsStreams) {
    const std::string group =
        " start\n  all_reduce a sum on s\n  all_reduce b sum in twin on t\n end\n";
    expect_verdict("rank *\n kernel writes c on s\n" + group + " kernel writes c on t\n", "ok");
    expect_verdict("rank *\n" + group + " kernel writes a on t\n kernel writes b on s\n", "ok");
    expect_verdict("rank *\n" + group + " kernel writes a on u\n", "race 0 1 2");
}

TEST(Edges, PartsOfAGroupCallHaveNoOrder) {
    expect_verdict("rank *\n start\n  all_reduce a sum\n  all_reduce a sum in twin\n end\n",
                   "race 0 1 2");
    expect_verdict(
        "rank *\n start\n  all_reduce a sum on s\n  all_reduce a sum in twin on t\n end\n",
        "race 0 1 2");
    expect_verdict(
        "rank *\n start\n  all_reduce a -> b sum\n  all_reduce a -> c sum in twin\n end\n", "ok");
}

// Rank 0 sends on one stream and gets an answer on another: what came before the send is over, if
// rank 1 has received before it answers, and not if it answers first.
TEST(Edges, GoThroughOtherRanks) {
    const std::string rank_0 = "rank 0\n kernel writes b on s\n send a to 1 on s\n"
                               " recv c from 1 in twin on t\n kernel writes b on t\n";
    expect_verdict(rank_0 + "rank 1\n recv c from 0\n send a to 0 in twin\n", "ok");
    expect_verdict(rank_0 + "rank 1\n send a to 0 in twin\n recv c from 0\n", "race 0");
}

// A recv says nothing to its sender.
TEST(Edges, OfATransferGoFromSenderToReceiver) {
    const std::string rank_0 = "rank 0\n kernel writes b on s\n recv c from 1 on s\n"
                               " recv c from 1 in twin on t\n kernel writes b on t\n";
    expect_verdict(rank_0 + "rank 1\n send a to 0\n send a to 0 in twin\n", "race 0");
}

TEST(Edges, OfAllReduceGoFromEveryStartToEveryEnd) {
    const std::string rank_0 = "rank 0\n kernel writes b on s\n all_reduce a sum on s\n"
                               " recv c from 1 in twin on t\n kernel writes b on t\n";
    expect_verdict(rank_0 + "rank 1\n all_reduce a sum\n send b to 0 in twin\n"
                            "rank 2\n all_reduce a sum\n",
                   "ok");
    expect_verdict(rank_0 + "rank 1\n send b to 0 in twin\n all_reduce a sum\n"
                            "rank 2\n all_reduce a sum\n",
                   "race 0");
}

TEST(Edges, AJoinOrdersItsMembersHosts) {
    const std::string program = "ranks 2\ndevice 1 = 0\nbuffer b f32 4 = 1\ngroup one = 0\n"
                                "rank *\n host reads b\n";
    const tutti_test::Script script = tutti_test::parse_script("races.tut", program);
    const Outcome outcome = tutti_test::run_script(script.get(), TUTTI_SCRIPT_AS_DATA);
    EXPECT_EQ(verdict_of(outcome), "ok") << "each has a buffer of its own, on one device";
}

// --- What is said ---

std::vector<std::string> findings_of(const std::string &program) {
    const Outcome outcome = run(program);
    std::vector<std::string> texts;
    for (uint32_t i = 0; i < outcome.report->finding_count; i++)
        texts.push_back(outcome.report->findings[i].text);
    return texts;
}

TEST(RaceFindings, NameBothAccessesTheBytesTheMemoryAndTheEdge) {
    const auto texts =
        findings_of("rank 1\n kernel writes b[1:4] on s\n kernel reads b[0:3] on t\n");
    ASSERT_EQ(texts.size(), 1u);
    EXPECT_EQ(texts[0],
              "rank 1: bytes 4 to 11 of b, allocation 1 of device 1, 16 bytes (races.tut:3), are "
              "used twice, and nothing says which comes first:\n"
              "  kernel on stream s (races.tut:10) writes it\n"
              "  kernel on stream t (races.tut:11) reads it\n"
              "To change: record an event on stream s after the kernel, and let stream t wait for "
              "it before the kernel.");
}

TEST(RaceFindings, OfTheHostNameTheMissingSync) {
    const auto texts = findings_of("rank 1\n kernel writes b on s\n host reads b\n");
    ASSERT_EQ(texts.size(), 1u);
    EXPECT_NE(texts[0].find("To change: synchronize stream s after the kernel and before the "
                            "access by the host."),
              std::string::npos)
        << texts[0];
}

TEST(RaceFindings, ComeOncePerPairOfPlaces) {
    EXPECT_EQ(findings_of("rank *\n repeat 50\n  all_reduce b sum on s\n  kernel reads b on t\n"
                          " end\n")
                  .size(),
              2u)
        << "the kernel with the all_reduce before it, and the next all_reduce with the kernel";
}

TEST(RaceFindings, SayTheSameWhicheverCameFirst) {
    const std::string program = "rank 1\n kernel writes b on s for 1ms\n kernel writes b on t\n";
    const Outcome plain = run("rank 1\n sleep 1ms\n" + program);
    for (uint64_t seed = 0; seed < 10; seed++) {
        const Outcome outcome = run("rank 1\n sleep 1ms\n" + program, &seed);
        EXPECT_STREQ(outcome.report->findings[0].text, plain.report->findings[0].text);
    }
}

TEST(UndefinedFindings, SayWhoLeftTheContentsUndefined) {
    const auto texts =
        findings_of("rank 0\n all_reduce a sum\n abort world\n sync\n host reads a\n");
    ASSERT_EQ(texts.size(), 1u);
    EXPECT_NE(texts[0].find("which have no defined contents since an operation on them was given "
                            "up: all_reduce on stream comm (races.tut:10)"),
              std::string::npos)
        << texts[0];
}

} // namespace
