// Registers the suite for the emulated cluster's rehearsal on threads.

#include "tests/harness/conformance.h"

const tutti_test::Target &tutti_test::target() {
    static const Target threads = {"emu on threads", TUTTI_EXECUTOR_THREADS, true};
    return threads;
}
