#ifndef TUTTI_FUZZ_PROGRAMS_SHORTEN_H
#define TUTTI_FUZZ_PROGRAMS_SHORTEN_H

#include <functional>
#include <string>

namespace tutti_test {

// Leaves lines out of a script as long as it stays bad. A script that is not bad stays as it is.
std::string shorten(const std::string &text,
                    const std::function<bool(const std::string &)> &is_bad);

} // namespace tutti_test

#endif
