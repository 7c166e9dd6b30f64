#ifndef TUTTI_TESTS_GOLDEN_TRACES_H
#define TUTTI_TESTS_GOLDEN_TRACES_H

// The traces that are kept as text: one for each script of the field.

#include <string>
#include <vector>

#include "tutti/trace.h"

namespace tutti_test {

// The names of the scripts.
std::vector<std::string> golden_names();

// The trace that the script gives now, with its hash in a last line.
std::string golden_trace(const std::string &name);

// The file in the workspace that keeps it.
std::string golden_file(const std::string &name);

// A picture of some of these traces in one of the formats that a trace can be turned into.
struct GoldenPicture {
    std::string name;
    tutti_trace_format format;
};

std::vector<GoldenPicture> golden_pictures();
std::string golden_picture(const GoldenPicture &picture);
std::string golden_file(const GoldenPicture &picture);

} // namespace tutti_test

#endif
