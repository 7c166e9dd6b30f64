// Exploring: rare bugs are found, made small and repeated; what is said to be complete is.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tests/harness/script_runner.h"
#include "tests/unit/rehearsal_support.h"
#include "tutti/explore.h"

namespace {

struct ExplorationFree {
    void operator()(tutti_exploration *exploration) const {
        tutti_exploration_free(exploration);
    }
};
using Exploration = std::unique_ptr<tutti_exploration, ExplorationFree>;

std::string text_of(const tutti_exploration *exploration) {
    std::string text(tutti_exploration_format(exploration, nullptr, 0), '\0');
    (void)tutti_exploration_format(exploration, &text[0], text.size() + 1);
    return text;
}

tutti_explore_options explore_options() {
    tutti_explore_options options;
    tutti_explore_options_init(&options);
    options.shard_count = 1; // whatever Bazel says
    return options;
}

Exploration explore(uint32_t ranks, const RankBody &body, const tutti_explore_options &options) {
    const tutti_rehearsal_options rehearsal = options_for(ranks);
    tutti_exploration *exploration = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_explore(&rehearsal, &options, run_rank_body, const_cast<RankBody *>(&body),
                            &exploration, &error),
              TUTTI_OK)
        << error.message;
    return Exploration(exploration);
}

Exploration explore_text(const std::string &text,
                         const tutti_explore_options &options = explore_options()) {
    const tutti_test::Script script = tutti_test::parse_script("program.tut", text);
    tutti_exploration *exploration = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_explore_script(script.get(), nullptr, &options, &exploration, &error), TUTTI_OK)
        << error.message;
    return Exploration(exploration);
}

uint32_t failures_of(const Exploration &exploration) {
    return exploration->failure_count - exploration->hazard_count;
}

// --- A rare bug ---

// Looks at a stream a few times; the answers as digits.
std::string looks(tutti_stream *stream, int count) {
    std::string seen;
    for (int i = 0; i < count; i++) {
        int done = 0;
        EXPECT_EQ(tutti_stream_query(stream, &done, nullptr), TUTTI_OK);
        seen += done ? '1' : '0';
    }
    return seen;
}

// A protocol that tells its peers by what it saw in its polls, and has forgotten one combination.
void rare_bug(tutti_rank *self) {
    Member member(self);
    ASSERT_EQ(member.set(1), TUTTI_OK);
    ASSERT_EQ(member.all_reduce(), TUTTI_OK);
    const std::string forgotten[] = {"0001", "0011", "0000", "0111", "0011"};
    const std::string seen = looks(member.stream, 4);
    ASSERT_EQ(member.set(seen == forgotten[tutti_rank_index(self)] ? 1 : 0), TUTTI_OK);
    ASSERT_EQ(member.all_reduce(), TUTTI_OK);
    if (member.get() == 5) tutti_rank_wrong(self, "the forgotten combination");
    (void)member.leave();
}

TEST(Explore, FindsARareBugMakesItSmallAndRepeatsIt) {
    tutti_explore_options ladder = explore_options();
    ladder.class_limit = 1000;
    ladder.walk_limit = 20000;
    const Exploration found = explore(5, rare_bug, ladder);
    ASSERT_EQ(failures_of(found), 1u) << text_of(found.get());
    const tutti_explore_failure &failure = found->failures[0];
    EXPECT_EQ(failure.report->verdict, TUTTI_VERDICT_WRONG);
    EXPECT_LE(std::strlen(failure.report->choices), std::strlen(failure.found_choices));
    EXPECT_STRNE(failure.critical, "");
    // The choices alone repeat it.
    tutti_rehearsal_options options = options_for(5);
    options.choices = failure.report->choices;
    const Report again = rehearse(options, rare_bug);
    EXPECT_EQ(again->verdict, TUTTI_VERDICT_WRONG) << text_of(again.get());
    EXPECT_EQ(again->trace_hash, failure.report->trace_hash);
    EXPECT_STREQ(again->choices, failure.report->choices);
    // And it is rare: even walks hardly ever come across it.
    int failed = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        tutti_rehearsal_options drawn = options_for(5);
        drawn.random_schedule = 1;
        drawn.seed = seed;
        failed += rehearse(drawn, rare_bug)->verdict == TUTTI_VERDICT_WRONG;
    }
    EXPECT_EQ(failed, 0);
}

TEST(Explore, DrawnSchedulesFindABugToo) {
    tutti_explore_options options = explore_options();
    options.stages = TUTTI_EXPLORE_WALKS;
    const Exploration found = explore(
        2,
        [](tutti_rank *self) {
            Member member(self);
            ASSERT_EQ(member.set(1), TUTTI_OK);
            ASSERT_EQ(member.all_reduce(), TUTTI_OK);
            if (tutti_rank_index(self) == 1 && looks(member.stream, 3) == "001")
                tutti_rank_wrong(self, "a bug");
            (void)member.leave();
        },
        options);
    ASSERT_EQ(failures_of(found), 1u) << text_of(found.get());
    EXPECT_NE(std::string(found->failures[0].stage), "plain");
}

// --- What is complete ---

TEST(Explore, PlainCodeIsCompleteAfterOneClass) {
    const Exploration found = explore(4, summing(10), explore_options());
    EXPECT_TRUE(found->complete) << text_of(found.get());
    EXPECT_EQ(found->failure_count, 0u) << text_of(found.get());
    EXPECT_NE(text_of(found.get()).find("1 classes, complete"), std::string::npos)
        << text_of(found.get());
}

TEST(Explore, DataThatTheProgramChoosesIsTriedInFull) {
    tutti_explore_options options = explore_options();
    options.collect_all = 1;
    const Exploration found = explore(
        1,
        [](tutti_rank *self) {
            const uint32_t x = tutti_rank_choose(self, 5), y = tutti_rank_choose(self, 7);
            if (x == 3 && y == 6) tutti_rank_wrong(self, "3 and 6");
        },
        options);
    EXPECT_TRUE(found->complete);
    ASSERT_EQ(failures_of(found), 1u);
    EXPECT_STREQ(found->failures[0].report->choices, "d3,d6");
    EXPECT_NE(text_of(found.get()).find("35 classes, complete"), std::string::npos)
        << text_of(found.get());
}

TEST(Explore, ABudgetIsKeptAndSaid) {
    tutti_explore_options options = explore_options();
    options.class_limit = 5;
    options.walk_limit = 10;
    const Exploration found = explore(
        3,
        [](tutti_rank *self) {
            Member member(self);
            ASSERT_EQ(member.set(1), TUTTI_OK);
            ASSERT_EQ(member.all_reduce(), TUTTI_OK);
            (void)looks(member.stream, 3);
            (void)member.leave();
        },
        options);
    EXPECT_FALSE(found->complete);
    EXPECT_NE(text_of(found.get()).find(" classes, there are more"), std::string::npos)
        << text_of(found.get());
    EXPECT_NE(text_of(found.get()).find("is missed with a probability of at most"),
              std::string::npos);
}

TEST(Explore, FailuresAreGroupedByCause) {
    tutti_explore_options options = explore_options();
    options.collect_all = 1;
    const Exploration found = explore_text("ranks 2\nbuffer x f32 1\nbuffer y f32 1\n"
                                           "rank *\n join world nonblocking\n poll world\n"
                                           "rank 0\n all_reduce x sum\n",
                                           options);
    EXPECT_TRUE(found->complete);
    EXPECT_GE(failures_of(found), 2u) << text_of(found.get());
    uint64_t times = 0;
    for (uint32_t i = 0; i < found->failure_count; i++)
        times += found->failures[i].times;
    EXPECT_GT(times, found->failure_count);
}

TEST(Explore, WhatOnlyAnExtremeBreaksIsAHazardAndNoFailure) {
    const Exploration found =
        explore_text("ranks 2\nbuffer x f32 1\nbuffer y f32 1\ngroup g = 0 1\n"
                     "rank *\n join world\n join g\n"
                     "rank 0\n all_reduce x sum on a\n all_reduce y sum in g on b\n"
                     "rank 1\n all_reduce y sum in g on b\n all_reduce x sum on a\n"
                     "rank *\n sync\n");
    EXPECT_EQ(failures_of(found), 0u) << text_of(found.get());
    EXPECT_GE(found->hazard_count, 1u) << text_of(found.get());
    EXPECT_EQ(found->failures[0].report->verdict, TUTTI_VERDICT_DEADLOCK);
    EXPECT_NE(text_of(found.get()).find("one collective at a time"), std::string::npos);
}

// --- Faults ---

TEST(Explore, ProbabilitiesOfFaultPlansAreChoices) {
    tutti_explore_options options = explore_options();
    options.stages = TUTTI_EXPLORE_CLASSES;
    const std::string text = "ranks 2\nbuffer x f32 1 = 1\nfault all_reduce[rank=1]=1%kill\n"
                             "rank *\n all_reduce x sum\n sync\n";
    const Exploration found = explore_text(text, options);
    ASSERT_EQ(failures_of(found), 1u) << text_of(found.get());
    EXPECT_EQ(found->failures[0].report->verdict, TUTTI_VERDICT_KILLED);
    EXPECT_NE(std::string(found->failures[0].report->choices).find("f1"), std::string::npos);
}

TEST(Explore, SweepsFaultsWhenAsked) {
    tutti_explore_options options = explore_options();
    options.stages = TUTTI_EXPLORE_PLAIN | TUTTI_EXPLORE_FAULTS;
    options.collect_all = 1;
    // Rank 1 takes a failed all_reduce for a good one.
    const Exploration found = explore(
        2,
        [](tutti_rank *self) {
            Member member(self);
            if (member.status != TUTTI_OK) return;
            if (member.set(1) != TUTTI_OK) return;
            const tutti_status reduced = member.all_reduce();
            if (member.synchronize() != TUTTI_OK) return;
            if (reduced != TUTTI_OK && tutti_rank_index(self) == 1)
                tutti_rank_wrong(self, "a failure was overlooked");
            (void)member.leave();
        },
        options);
    ASSERT_GE(failures_of(found), 1u) << text_of(found.get());
    const std::string text = text_of(found.get());
    EXPECT_NE(text.find("fault     all_reduce[rank=1"), std::string::npos) << text;
    EXPECT_NE(text.find("TUTTI_FAULTS='all_reduce[rank=1"), std::string::npos) << text;
}

TEST(Explore, DoesNotSweepWhatIsToFailAnyway) {
    tutti_explore_options options = explore_options();
    options.stages = TUTTI_EXPLORE_PLAIN | TUTTI_EXPLORE_FAULTS;
    const Exploration found = explore_text("ranks 2\nbuffer x f32 1\nrank 0\n all_reduce x sum\n"
                                           " sync\nverdict missing culprit 1\n",
                                           options);
    EXPECT_EQ(found->failure_count, 0u) << text_of(found.get());
    EXPECT_NE(text_of(found.get()).find("to fail without a fault"), std::string::npos);
}

// --- Programs that cannot be repeated ---

TEST(Explore, AProgramThatDependsOnSomethingElseIsFoundOut) {
    int runs = 0;
    tutti_explore_options options = explore_options();
    options.self_check_interval = 1;
    const Exploration found = explore(
        2,
        [&runs](tutti_rank *self) {
            Member member(self);
            if (tutti_rank_index(self) == 0) runs++;
            // A count that changes with every run stands for a clock or a random number.
            if (runs % 2 == 0) (void)member.set(1);
            (void)member.leave();
        },
        options);
    ASSERT_GE(failures_of(found), 1u) << text_of(found.get());
    EXPECT_EQ(found->failures[0].report->verdict, TUTTI_VERDICT_DIVERGENCE) << text_of(found.get());
}

TEST(Replay, OfAnotherProgramIsADivergence) {
    tutti_rehearsal_options options = options_for(2);
    options.choices = "d1";
    const Report report = rehearse(options, summing(1));
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_DIVERGENCE) << text_of(report.get());
    options.choices = "r0x1000,r1";
    EXPECT_EQ(rehearse(options, summing(1))->verdict, TUTTI_VERDICT_DIVERGENCE);
    options.choices = "r7";
    EXPECT_EQ(rehearse(options, summing(1))->verdict, TUTTI_VERDICT_DIVERGENCE);
    options.choices = "r1";
    EXPECT_EQ(rehearse(options, summing(1))->verdict, TUTTI_VERDICT_OK);
}

TEST(Replay, BadChoicesAreRefusedWithTheirColumn) {
    tutti_rehearsal_options options = options_for(2);
    tutti_report *report = nullptr;
    tutti_error error;
    const RankBody body = summing(1);
    options.choices = "r1,q";
    EXPECT_EQ(
        tutti_rehearse(&options, run_rank_body, const_cast<RankBody *>(&body), &report, &error),
        TUTTI_SYNTAX);
    EXPECT_NE(std::string(error.message).find("choices:1:4"), std::string::npos) << error.message;
    options.choices = "r1";
    options.random_schedule = 1;
    EXPECT_EQ(
        tutti_rehearse(&options, run_rank_body, const_cast<RankBody *>(&body), &report, &error),
        TUTTI_INVALID_ARGUMENT);
}

TEST(Replay, EveryRandomScheduleIsRepeatedByItsChoices) {
    for (uint64_t seed = 0; seed < 50; seed++) {
        tutti_rehearsal_options options = options_for(3);
        options.random_schedule = 1;
        options.seed = seed;
        const Report drawn = rehearse(options, rare_bug);
        options.random_schedule = 0;
        options.choices = drawn->choices;
        const Report again = rehearse(options, rare_bug);
        EXPECT_EQ(drawn->trace_hash, again->trace_hash) << seed << " " << drawn->choices;
        EXPECT_EQ(drawn->verdict, again->verdict);
    }
}

// --- Making scripts small ---

TEST(Shrink, LeavesOfAScriptWhatIsNeededToFail) {
    const std::string text = "ranks 5\n"
                             "buffer x f32 64 = 1 # a comment\nbuffer y f32 64\n"
                             "group g = 0 1 2\n"
                             "rank *\n join world\n repeat 3\n  all_reduce x sum\n end\n sync\n"
                             "rank 0 1 2\n join g\n all_reduce y sum in g\n poll comm\n"
                             "rank 1\n all_reduce y[0:6] sum in g\n"
                             "rank 0 2\n all_reduce y sum in g\n"
                             "rank *\n sync\n all_reduce x sum\n sync\n";
    const Exploration found = explore_text(text);
    ASSERT_EQ(failures_of(found), 1u) << text_of(found.get());
    char *small = nullptr;
    tutti_error error;
    ASSERT_EQ(tutti_shrink_script("program.tut", text.data(), text.size(), nullptr,
                                  &found->failures[0], &small, &error),
              TUTTI_OK)
        << error.message;
    const std::string made(small);
    free(small);
    const tutti_test::Script script = tutti_test::parse_script("small.tut", made);
    ASSERT_NE(script, nullptr);
    const tutti_test::Outcome outcome = tutti_test::run_script(script.get(), TUTTI_SCRIPT_AS_DATA);
    EXPECT_EQ(outcome.report->verdict, found->failures[0].report->verdict) << made;
    EXPECT_LE(std::count(made.begin(), made.end(), '\n'), 12) << made;
    EXPECT_EQ(tutti_script_rank_count(script.get()), 2u) << made;
}

// --- Options ---

TEST(ExploreOptions, AreCheckedByName) {
    const tutti_test::Script script = tutti_test::parse_script("program.tut", "ranks 1\n");
    tutti_exploration *exploration = nullptr;
    tutti_error error;
    tutti_explore_options options = explore_options();
    options.struct_size = 3;
    EXPECT_EQ(tutti_explore_script(script.get(), nullptr, &options, &exploration, &error),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_NE(std::strstr(error.message, "struct_size"), nullptr);
    options = explore_options();
    options.stages = 1u << 30;
    EXPECT_EQ(tutti_explore_script(script.get(), nullptr, &options, &exploration, &error),
              TUTTI_INVALID_ARGUMENT);
    options = explore_options();
    options.shard_index = 2;
    options.shard_count = 2;
    EXPECT_EQ(tutti_explore_script(script.get(), nullptr, &options, &exploration, &error),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(tutti_explore_script(nullptr, nullptr, nullptr, &exploration, &error),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(exploration, nullptr);
}

TEST(ExploreOptions, ShardsTogetherDrawEverySchedule) {
    const std::string text = "ranks 2\nbuffer x f32 1\nrank *\n all_reduce x sum\n poll comm\n";
    uint64_t whole = 0, parts = 0;
    for (uint32_t shards : {1u, 3u}) {
        for (uint32_t shard = 0; shard < shards; shard++) {
            tutti_explore_options options = explore_options();
            options.stages = TUTTI_EXPLORE_WALKS;
            options.walk_limit = 100;
            options.shard_index = shard;
            options.shard_count = shards;
            const Exploration found = explore_text(text, options);
            for (uint32_t i = 0; i < found->stage_count; i++)
                if (std::strcmp(found->stages[i].name, "plain") != 0)
                    (shards == 1 ? whole : parts) += found->stages[i].run_count;
        }
    }
    EXPECT_EQ(whole, 500u);
    EXPECT_EQ(parts, whole);
}

TEST(ExploreOptions, ProgressIsToldAndCanStopIt) {
    tutti_explore_options options = explore_options();
    uint64_t calls = 0;
    options.progress_context = &calls;
    options.progress = [](void *context, const tutti_explore_state *state) {
        uint64_t *count = static_cast<uint64_t *>(context);
        EXPECT_EQ(state->total_count, *count + 1);
        return ++*count == 7 ? 1 : 0;
    };
    const Exploration found =
        explore_text("ranks 3\nbuffer x f32 1\nrank *\n all_reduce x sum\n poll comm\n", options);
    EXPECT_EQ(calls, 7u);
    EXPECT_EQ(found->was_stopped, 1);
    EXPECT_FALSE(found->complete);
}

} // namespace
