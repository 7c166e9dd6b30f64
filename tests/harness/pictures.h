#ifndef TUTTI_TESTS_PICTURES_H
#define TUTTI_TESTS_PICTURES_H

// Traces and pictures, for tests.

#include <memory>
#include <string>

#include "tutti/trace.h"

namespace tutti_test {

struct TraceFreer {
    void operator()(tutti_trace *trace) const {
        tutti_trace_free(trace);
    }
};
using Trace = std::unique_ptr<tutti_trace, TraceFreer>;

// A trace; fails the test when it cannot be read.
Trace read_trace(const std::string &text, uint32_t number = 0);

// The message with which a text is refused; "" when it is read.
std::string trace_problem(const std::string &text, uint32_t number = 0);

// A picture; fails the test when there is none.
std::string picture_of(const tutti_trace *trace, tutti_trace_format format,
                       const char *title = nullptr, uint64_t critical_event = 0);

// What the file holds; fails the test when it cannot be read.
std::string file_text(const std::string &path);

} // namespace tutti_test

#endif
