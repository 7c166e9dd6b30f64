// Equal program, equal trace: byte for byte, whatever compiler and level built this test. After a
// change that means to change traces: ./bazelw run //tests/golden:update, and read the difference.

#include "tests/golden/golden_traces.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace {

class GoldenTrace : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTrace, IsWhatItWas) {
    std::ifstream file(tutti_test::golden_file(GetParam()), std::ios::binary);
    ASSERT_TRUE(file.good()) << "no golden trace; ./bazelw run //tests/golden:update makes it";
    const std::string golden{std::istreambuf_iterator<char>(file),
                             std::istreambuf_iterator<char>()};
    EXPECT_EQ(tutti_test::golden_trace(GetParam()), golden);
}

INSTANTIATE_TEST_SUITE_P(Field, GoldenTrace, testing::ValuesIn(tutti_test::golden_names()),
                         [](const auto &test) { return test.param; });

} // namespace
