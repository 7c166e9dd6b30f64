#ifndef TUTTI_FUZZ_PROGRAMS_PROGRAM_CHECKS_H
#define TUTTI_FUZZ_PROGRAMS_PROGRAM_CHECKS_H

// What must be true of random programs when they are run. Each check gives what is wrong, in words;
// "" when all is well.

#include <string>

#include "fuzz/programs/random_program.h"

namespace tutti_test {

// Whatever the program: both executors give one trace and one report, every time, on the plain
// schedule and on `seed_count` random ones; findings have texts and name ranks that exist.
std::string problem_of_runs(const std::string &text, int seed_count);

// A correct program ends well on the plain schedule and on `seed_count` random ones.
std::string problem_of_correct(const RandomProgram &program, int seed_count);

// Verdict and culprits do not depend on the schedule, unless the program does.
std::string problem_of_arbitrary(const ArbitraryProgram &program, int seed_count);

} // namespace tutti_test

#endif
