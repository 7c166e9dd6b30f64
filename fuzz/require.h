#ifndef TUTTI_FUZZ_REQUIRE_H
#define TUTTI_FUZZ_REQUIRE_H

// How a target says that something is wrong: in words, and by a crash, which fuzzers look for.

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tutti_fuzz {

inline void require(bool holds, const std::string &what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what.c_str());
    std::abort();
}

} // namespace tutti_fuzz

#endif
