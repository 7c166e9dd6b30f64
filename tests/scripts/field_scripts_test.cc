// The scripts of tests/scripts/field end as they say: with the right verdict and culprits, the same
// way on both executors and every time, and on every schedule.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/harness/script_runner.h"

namespace {

using tutti_test::Outcome;
using tutti_test::Script;
using tutti_test::text_of;

const std::string folder = "tests/scripts/field/";
const uint64_t seeds = 50;

Script field_script(const std::string &name) {
    return tutti_test::read_script(folder + name + ".tut");
}

Outcome run(const Script &script, tutti_script_executor executor, const uint64_t *seed = nullptr) {
    return tutti_test::run_script(script.get(), executor, seed);
}

class FieldScript : public testing::TestWithParam<std::string> {};

TEST_P(FieldScript, EndsAsItMust) {
    const Script script = field_script(GetParam());
    const Outcome plain = run(script, TUTTI_SCRIPT_AS_DATA);
    EXPECT_TRUE(tutti_script_ends_as_expected(script.get(), plain.report.get()))
        << text_of(plain.report.get());
}

TEST_P(FieldScript, GivesOneTraceOnBothExecutors) {
    const Script script = field_script(GetParam());
    const Outcome data = run(script, TUTTI_SCRIPT_AS_DATA);
    const Outcome threads = run(script, TUTTI_SCRIPT_ON_THREADS);
    EXPECT_EQ(data.trace, threads.trace);
    EXPECT_EQ(data.report->trace_hash, threads.report->trace_hash);
    EXPECT_EQ(text_of(data.report.get()), text_of(threads.report.get()));
}

TEST_P(FieldScript, GivesTheSameTraceEveryTime) {
    const Script script = field_script(GetParam());
    for (const tutti_script_executor executor : {TUTTI_SCRIPT_AS_DATA, TUTTI_SCRIPT_ON_THREADS})
        EXPECT_EQ(run(script, executor).trace, run(script, executor).trace);
}

// Arrivals commute: who came first decides neither verdict nor blame.
TEST_P(FieldScript, EndsAsItMustOnEverySchedule) {
    const Script script = field_script(GetParam());
    for (uint64_t seed = 0; seed < seeds; seed++) {
        const Outcome random = run(script, TUTTI_SCRIPT_AS_DATA, &seed);
        EXPECT_TRUE(tutti_script_ends_as_expected(script.get(), random.report.get()))
            << "tutti run --seed " << seed << "\n"
            << text_of(random.report.get());
    }
}

TEST_P(FieldScript, DrawsOneScheduleFromASeedOnBothExecutors) {
    const Script script = field_script(GetParam());
    for (uint64_t seed = 0; seed < 5; seed++)
        EXPECT_EQ(run(script, TUTTI_SCRIPT_AS_DATA, &seed).trace,
                  run(script, TUTTI_SCRIPT_ON_THREADS, &seed).trace);
}

INSTANTIATE_TEST_SUITE_P(Field, FieldScript, testing::ValuesIn(tutti_test::script_names(folder)),
                         [](const auto &test) { return test.param; });

// What the reports of some must say, in words.
TEST(FieldReports, NameRankCallAndCause) {
    const std::map<std::string, std::vector<std::string>> phrases = {
        {"count", {"mismatch (count), culprit 1", "rank 0: 8 f32", "rank 1: 6 f32"}},
        {"type", {"mismatch (type), culprit 1", "rank 0:", "bf16", "one element type"}},
        {"order", {"mismatch (order)", "in one order"}},
        {"uneven", {"operation 3 of world", "rank 1 has left", "after 2 operations"}},
        {"zero", {"passed 0 elements", "dropped on the spot", "zero.tut:7"}},
        {"send_cycle", {"wait for each other in a cycle", "send of", "group call"}},
        {"two_groups", {"the device is full (capacity 1)", "in one order on all ranks"}},
        {"two_groups_capacity_2", {"note", "the other way round"}},
        {"half_init", {"join of group world (2 of 3 ranks have joined)", "rank 2 sleeps"}},
        {"same_device", {"two ranks are on one device"}},
        {"early_use", {"is not ready, its join is in progress"}},
        {"twice_left", {"was left before", "a communicator ends once"}},
        {"dead_peer", {"a fault kills rank 2 in its all_reduce", "rank 2 was killed"}},
        {"late_rank", {"30min", "rank 3"}},
        {"same_peer", {"note", "contents are swapped"}},
    };
    for (const auto &[name, wanted] : phrases) {
        const Script script = field_script(name);
        const Outcome plain = run(script, TUTTI_SCRIPT_AS_DATA);
        const std::string text = text_of(plain.report.get());
        for (const std::string &phrase : wanted)
            EXPECT_NE(text.find(phrase), std::string::npos)
                << name << " does not say \"" << phrase << "\":\n"
                << text;
    }
}

} // namespace
