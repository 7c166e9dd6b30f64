// Equal program, equal trace: byte for byte, whatever compiler and level built this test. After a
// change that means to change traces or pictures: ./bazelw run //tests/golden:update, and read the
// difference.

#include "tests/golden/golden_traces.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/harness/pictures.h"

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

class GoldenPicture : public testing::TestWithParam<tutti_test::GoldenPicture> {};

TEST_P(GoldenPicture, IsWhatItWas) {
    EXPECT_EQ(tutti_test::golden_picture(GetParam()),
              tutti_test::file_text(tutti_test::golden_file(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Field, GoldenPicture, testing::ValuesIn(tutti_test::golden_pictures()),
                         [](const auto &test) {
                             return test.param.name + "_" +
                                    tutti_trace_format_name(test.param.format);
                         });

} // namespace
