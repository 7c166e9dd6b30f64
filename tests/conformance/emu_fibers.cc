// Registers the suite for the emulated cluster's rehearsal on fibers.

#include "tests/harness/conformance.h"

const tutti_test::Target &tutti_test::target() {
    static const Target fibers = {"emu on fibers", TUTTI_EXECUTOR_FIBERS, true};
    return fibers;
}
