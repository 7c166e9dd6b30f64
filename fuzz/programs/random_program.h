#ifndef TUTTI_FUZZ_PROGRAMS_RANDOM_PROGRAM_H
#define TUTTI_FUZZ_PROGRAMS_RANDOM_PROGRAM_H

// Random programs for the emulated cluster, as scripts. Each depends on its dice alone.

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/programs/program_model.h"
#include "tutti/emu.h"

namespace tutti_test {

struct RandomProgram {
    std::string text;
};

// A program in which nothing is wrong, however it is scheduled, with `expect` for what comes out of
// it: it must end ok, with no finding but notes.
//
// Why it is right: all that ranks do together is a list of steps, and every rank makes its parts in
// the order of the list; so does every stream and every communicator. Hence the first step that is
// not over can always go on. Group calls only make parts start together that follow each other, and
// may then name them in another order. Whatever touches a buffer waits for what touched it before.
RandomProgram correct_program(const Dice &dice);

// Anything that the language allows. Most are wrong in many ways; they must end all the same.
struct ArbitraryProgram : RandomProgram {
    bool depends_on_schedule = false; // its verdict may: it polls, has time limits, kills or aborts
};
ArbitraryProgram arbitrary_program(const Dice &dice);

// A correct program with one bug in it, and what must be found.
struct MutatedProgram : RandomProgram {
    std::string bug; // what was changed, in words; "" when the program offered no place for a bug

    // One way in which the run may end.
    struct Ending {
        tutti_verdict verdict = TUTTI_VERDICT_OK;
        std::vector<int32_t> culprits; // ascending
        bool more_allowed = false;     // whoever else is part of it may be named as well
    };
    std::vector<Ending> endings;

    bool may_end_as(const tutti_report *report) const;
};
MutatedProgram mutated_program(const Dice &dice);

// --- For the generators ---

// What a correct program may have in it.
struct CorrectOptions {
    bool expects = true;
    bool faults = true;       // delays
    bool ends = true;         // leave, abort, free
    bool final_syncs = false; // every rank waits for all that it has enqueued
    int stream_count_max = 4;
    int rank_count_min = 1;
};
Program correct_model(const Dice &dice, const CorrectOptions &options);

} // namespace tutti_test

#endif
