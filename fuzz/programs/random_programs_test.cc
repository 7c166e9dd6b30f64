// Some random programs of every kind, the same in every run. The search for more is
// //fuzz:program_fuzz.

#include <gtest/gtest.h>

#include <cstdlib>

#include "fuzz/programs/program_checks.h"

namespace {

using namespace tutti_test;

enum { kSeedCount = 3 };

// TUTTI_PROGRAMS=FIRST-LAST tries other programs than the first few.
std::pair<uint64_t, uint64_t> programs() {
    const char *text = std::getenv("TUTTI_PROGRAMS");
    if (text == nullptr) return {0, 99};
    char *rest;
    const uint64_t first = std::strtoull(text, &rest, 10);
    return {first, *rest == '-' ? std::strtoull(rest + 1, nullptr, 10) : first};
}

template <typename Check> void try_programs(Check check) {
    const auto [first, last] = programs();
    for (uint64_t seed = first; seed <= last; seed++)
        check(seed);
}

TEST(CorrectPrograms, GetNoFindingOnAnySchedule) {
    try_programs([](uint64_t seed) {
        const RandomProgram program = correct_program(Dice(seed));
        EXPECT_EQ(problem_of_correct(program, kSeedCount), "") << seed << "\n" << program.text;
        EXPECT_EQ(problem_of_runs(program.text, 1), "") << seed << "\n" << program.text;
    });
}

TEST(ArbitraryPrograms, EndAndGiveOneTraceOnBothExecutors) {
    try_programs([](uint64_t seed) {
        const ArbitraryProgram program = arbitrary_program(Dice(seed));
        EXPECT_EQ(problem_of_runs(program.text, 1), "") << seed << "\n" << program.text;
    });
}

TEST(ArbitraryPrograms, HaveOneVerdictUnlessTheyPoll) {
    try_programs([](uint64_t seed) {
        const ArbitraryProgram program = arbitrary_program(Dice(seed));
        EXPECT_EQ(problem_of_arbitrary(program, kSeedCount), "") << seed << "\n" << program.text;
    });
}

TEST(MutatedPrograms, AreFoundOutAndBlamedOnWhoeverHasTheBug) {
    try_programs([](uint64_t seed) {
        const MutatedProgram program = mutated_program(Dice(seed));
        EXPECT_EQ(problem_of_mutated(program, kSeedCount), "") << seed << "\n" << program.text;
        EXPECT_EQ(problem_of_runs(program.text, 1), "") << seed << "\n" << program.text;
    });
}

} // namespace
