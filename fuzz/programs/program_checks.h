#ifndef TUTTI_FUZZ_PROGRAMS_PROGRAM_CHECKS_H
#define TUTTI_FUZZ_PROGRAMS_PROGRAM_CHECKS_H

// What must be true of random programs when they are run. Each check gives what is wrong, in words;
// "" when all is well.

#include <string>

#include "fuzz/programs/random_program.h"

namespace tutti_test {

// Whatever the program: all executors give one trace and one report, or one refusal, every time, on
// the plain schedule and on `seed_count` random ones; findings have texts and name ranks that
// exist. Without `on_threads` only those are tried that need no thread for a rank.
std::string problem_of_runs(const std::string &text, int seed_count, bool on_threads = true);

// A correct program ends well on the plain schedule and on `seed_count` random ones.
std::string problem_of_correct(const RandomProgram &program, int seed_count);

// Verdict and culprits do not depend on the schedule, unless the program does, or several ranks are
// wrong by themselves.
std::string problem_of_arbitrary(const ArbitraryProgram &program, int seed_count);

// The bug is found, and blamed on whoever has it.
std::string problem_of_mutated(const MutatedProgram &program, int seed_count);

// --- All checks of a program of one kind ---

enum ProgramKind { kCorrectProgram, kArbitraryProgram, kMutatedProgram, kProgramKindCount };

// "correct", "arbitrary", "mutated".
const char *program_kind_name(ProgramKind kind);

struct Trial {
    std::string text;    // the script
    std::string problem; // "" when all is well
};
Trial try_program(ProgramKind kind, const Dice &dice, int seed_count);

} // namespace tutti_test

#endif
