#include <gtest/gtest.h>

#include <vector>

#include "tests/trace/grammar.h"
#include "tutti/trace.h"

namespace {

std::string junit_of(const std::vector<tutti_junit_case> &cases) {
    std::string text;
    tutti_error error;
    EXPECT_EQ(tutti_junit_write(
                  "a <suite>", cases.data(), cases.size(),
                  [](void *context, const char *piece, size_t bytes) {
                      static_cast<std::string *>(context)->append(piece, bytes);
                  },
                  &text, &error),
              TUTTI_OK)
        << error.message;
    return text;
}

TEST(Junit, CountsWhatPassedFailedAndCouldNotRun) {
    const std::string text =
        junit_of({{"good", nullptr, nullptr, nullptr, nullptr, 1500000000},
                  {"bad", "own", "ended as missing", nullptr, "the report\n", 0},
                  {"unreadable", nullptr, nullptr, "x.tut:1:1: expected", nullptr, -1}});
    EXPECT_EQ(xml_problem(text), "");
    EXPECT_EQ(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<testsuites>\n"
                    "  <testsuite name=\"a &lt;suite&gt;\" tests=\"3\" failures=\"1\" errors=\"1\" "
                    "skipped=\"0\">\n"
                    "    <testcase name=\"good\" classname=\"a &lt;suite&gt;\" "
                    "time=\"1.500000000\"/>\n"
                    "    <testcase name=\"bad\" classname=\"own\" time=\"0.000000000\">\n"
                    "      <failure message=\"ended as missing\">the report\n"
                    "</failure>\n"
                    "    </testcase>\n"
                    "    <testcase name=\"unreadable\" classname=\"a &lt;suite&gt;\">\n"
                    "      <error message=\"x.tut:1:1: expected\"></error>\n"
                    "    </testcase>\n"
                    "  </testsuite>\n"
                    "</testsuites>\n");
}

TEST(Junit, CarriesAnyBytes) {
    std::string all;
    for (int byte = 1; byte < 256; byte++)
        all += static_cast<char>(byte);
    all += "]]> \xF4\x90\x80\x80 \xED\xA0\x80 \xEF\xBF\xBF \xC0\x80 \xE2\x82";
    const std::string text =
        junit_of({{all.c_str(), all.c_str(), all.c_str(), nullptr, all.c_str(), -1}});
    EXPECT_EQ(xml_problem(text), "");
    EXPECT_NE(text.find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(Junit, ASuiteMayBeEmpty) {
    EXPECT_EQ(xml_problem(junit_of({})), "");
}

} // namespace
