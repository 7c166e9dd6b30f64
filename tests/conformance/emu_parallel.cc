// Registers the suite for the emulated cluster's parallel executor.

#include "tests/harness/conformance.h"

const tutti_test::Target &tutti_test::target() {
    static const Target parallel = {"emu in parallel", TUTTI_EXECUTOR_PARALLEL, false};
    return parallel;
}
