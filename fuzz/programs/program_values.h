#ifndef TUTTI_FUZZ_PROGRAMS_PROGRAM_VALUES_H
#define TUTTI_FUZZ_PROGRAMS_PROGRAM_VALUES_H

// The contents of buffers in random programs, as bytes and as scripts write them. Calls no code of
// the library.

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/types.h"

namespace tutti_test {

using Bytes = std::vector<uint8_t>;

bool is_float(tutti_element_type type);
bool is_signed(tutti_element_type type);

// `halves` / 2 as an element: rounded for floats; for integers halves is even, and the number
// wraps.
void append_halves(tutti_element_type type, int64_t halves, Bytes &bytes);

// The same as a script has it: "3", "-0.5".
std::string halves_text(int64_t halves);

// The elements as a script lists them: "1 2.5 nan".
std::string values_text(tutti_element_type type, const uint8_t *elements, size_t count);

} // namespace tutti_test

#endif
