// Random multi-rank programs. The first byte of an input says of what kind, the next eight are a
// seed, and the rest are the dice that make the program, until they are used up. See
// programs/random_program.h and programs/program_checks.h for what must be true of each kind.

#include "fuzz/entry.h"
#include "fuzz/programs/program_checks.h"
#include "fuzz/require.h"

namespace {

using namespace tutti_test;
using tutti_fuzz::require;

enum { kSeedBytes = 8, kSeedCount = 2 };

Dice take_dice(const uint8_t *data, size_t size) {
    uint64_t seed = 0;
    size_t used = 0;
    for (; used < kSeedBytes && used < size; used++)
        seed |= static_cast<uint64_t>(data[used]) << (8 * used);
    return Dice({data + used, data + size}, seed);
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const auto kind = static_cast<ProgramKind>(data[0] % kProgramKindCount);
    const Trial trial = try_program(kind, take_dice(data + 1, size - 1), kSeedCount);
    require(trial.problem.empty(), trial.text + "\n" + trial.problem);
    return 0;
}
