// Every picture of every trace that the golden scripts give is well formed.

#include <gtest/gtest.h>

#include "tests/harness/pictures.h"
#include "tests/harness/script_runner.h"
#include "tests/trace/grammar.h"

using tutti_test::picture_of;
using tutti_test::read_trace;
using tutti_test::Trace;

namespace {

class Picture : public testing::TestWithParam<std::string> {
  protected:
    Trace trace() {
        return read_trace(tutti_test::file_text("tests/golden/" + GetParam() + ".jsonl"));
    }
};

TEST_P(Picture, ChromeNestsAndFlowsEnd) {
    EXPECT_EQ(chrome_problem(picture_of(trace().get(), TUTTI_TRACE_CHROME, "a \"title\"")), "");
}

TEST_P(Picture, SvgIsWellFormed) {
    EXPECT_EQ(xml_problem(picture_of(trace().get(), TUTTI_TRACE_SVG, "<a & b>", 3)), "");
}

TEST_P(Picture, DotFollowsItsGrammar) {
    EXPECT_EQ(dot_problem(picture_of(trace().get(), TUTTI_TRACE_DOT, "a \"title\" \\ \n b")), "");
}

TEST_P(Picture, MermaidNamesEachRank) {
    const std::string text = picture_of(trace().get(), TUTTI_TRACE_MERMAID);
    EXPECT_NE(text.find("sequenceDiagram\n"), std::string::npos);
    EXPECT_NE(text.find("participant R0 as rank 0\n"), std::string::npos) << text;
}

TEST_P(Picture, IsTheSameEveryTime) {
    for (int format = 0; format < TUTTI_TRACE_FORMAT_COUNT; format++)
        EXPECT_EQ(picture_of(trace().get(), static_cast<tutti_trace_format>(format)),
                  picture_of(trace().get(), static_cast<tutti_trace_format>(format)));
}

INSTANTIATE_TEST_SUITE_P(Field, Picture,
                         testing::ValuesIn(tutti_test::script_names("tests/scripts/field/")),
                         [](const auto &test) { return test.param; });

std::string trace_of(const std::string &script) {
    const tutti_test::Script parsed = tutti_test::parse_script("t.tut", script);
    return tutti_test::run_script(parsed.get(), TUTTI_SCRIPT_AS_DATA).trace;
}

size_t count_of(const std::string &text, const std::string &piece) {
    size_t count = 0;
    for (size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1))
        count++;
    return count;
}

TEST(Chrome, PartsOfOneOperationAreJoined) {
    const std::string text = picture_of(read_trace(trace_of("ranks 3\nbuffer x f32 4\nrank *\n"
                                                            "all_reduce x sum\nsync\n"))
                                            .get(),
                                        TUTTI_TRACE_CHROME);
    EXPECT_EQ(chrome_problem(text), "");
    EXPECT_EQ(count_of(text, "\"ph\":\"s\""), 1u);
    EXPECT_EQ(count_of(text, "\"ph\":\"t\""), 1u);
    EXPECT_EQ(count_of(text, "\"ph\":\"f\""), 1u);
}

TEST(Chrome, OperationsOfAGroupCallShareASlice) {
    const std::string text =
        picture_of(read_trace(trace_of("ranks 2\nbuffer x f32 4\nbuffer y f32 4\n"
                                       "rank 0\nstart\nsend x to 1\nrecv y from 1\nend\nsync\n"
                                       "rank 1\nstart\nsend x to 0\nrecv y from 0\nend\nsync\n"))
                       .get(),
                   TUTTI_TRACE_CHROME);
    EXPECT_EQ(chrome_problem(text), "");
    EXPECT_EQ(count_of(text, "\"name\":\"2 operations at once\""), 2u);
    EXPECT_EQ(count_of(text, "\"ph\":\"s\""), 2u) << "one for each transfer";
}

// A group's ranks are not the program's: halves find each other all the same.
TEST(Chrome, TransfersInAGroupAreJoined) {
    const std::string text =
        picture_of(read_trace(trace_of("ranks 4\nbuffer x f32 4\ngroup pair = 2 3\n"
                                       "rank 2\nsend x to 1 in pair\nsync\n"
                                       "rank 3\nrecv x from 0 in pair\nsync\n"))
                       .get(),
                   TUTTI_TRACE_CHROME);
    EXPECT_EQ(chrome_problem(text), "");
    EXPECT_EQ(count_of(text, "\"ph\":\"f\""), 1u);
}

TEST(Svg, MarksTheCriticalChoice) {
    const Trace trace = read_trace(trace_of("ranks 2\nbuffer x f32 4\nrank *\nall_reduce x sum\n"));
    const std::string text = picture_of(trace.get(), TUTTI_TRACE_SVG, nullptr, 4);
    EXPECT_EQ(count_of(text, "id=\"critical\""), 1u);
    EXPECT_EQ(count_of(text, "critical choice, event 4"), 1u);
    EXPECT_EQ(count_of(picture_of(trace.get(), TUTTI_TRACE_SVG), "id=\"critical\""), 0u);
    tutti_trace_picture picture = {};
    picture.struct_size = sizeof picture;
    picture.format = TUTTI_TRACE_SVG;
    picture.critical_event = tutti_trace_event_count(trace.get()) + 1;
    EXPECT_EQ(tutti_trace_write(
                  trace.get(), &picture, [](void *, const char *, size_t) {}, nullptr, nullptr),
              TUTTI_INVALID_ARGUMENT);
}

TEST(Svg, ShowsUpToItsLanesAndSaysHowManyMore) {
    const Trace trace = read_trace(trace_of("ranks 100\nbuffer x f32 4\nrank *\nall_reduce x sum\n"
                                            "sync\nrank 99\nall_reduce x sum\nsync\n"));
    const std::string text = picture_of(trace.get(), TUTTI_TRACE_SVG);
    EXPECT_EQ(xml_problem(text), "");
    EXPECT_EQ(count_of(text, "class=\"l\""), static_cast<size_t>(TUTTI_LANES_MAX));
    EXPECT_NE(text.find("; 136 lanes are left out"), std::string::npos);
    EXPECT_EQ(count_of(text, ">rank 0, host<"), 1u) << "the culprits come first";
}

TEST(Svg, CutsLongTracesAroundTheFinding) {
    const Trace trace = read_trace(trace_of("ranks 2\nbuffer x f32 4\nrank *\nrepeat 300\n"
                                            "all_reduce x sum\nend\nsync\nrank 1\n"
                                            "all_reduce x sum\nsync\n"));
    const std::string text = picture_of(trace.get(), TUTTI_TRACE_SVG);
    EXPECT_EQ(xml_problem(text), "");
    EXPECT_NE(text.find(" after are left out"), std::string::npos);
    EXPECT_NE(text.find(">missing<"), std::string::npos);
}

TEST(Dot, ShowsTheCycleAndWhy) {
    const std::string text = picture_of(
        read_trace(tutti_test::file_text("tests/golden/send_cycle.jsonl")).get(), TUTTI_TRACE_DOT);
    EXPECT_NE(text.find("its other half has not started"), std::string::npos) << text;
    EXPECT_NE(text.find("color=\"#c62828\""), std::string::npos);
    EXPECT_EQ(picture_of(read_trace(tutti_test::file_text("tests/golden/integer_mean.jsonl")).get(),
                         TUTTI_TRACE_DOT)
                  .find(" -> "),
              std::string::npos);
}

TEST(Dot, CutsLargeGraphsButKeepsWhoIsMissing) {
    const std::string text =
        picture_of(read_trace(trace_of("ranks 1000\nbuffer x f32 4\nrank 0-998\nall_reduce x sum\n"
                                       "sync\n"))
                       .get(),
                   TUTTI_TRACE_DOT);
    EXPECT_EQ(dot_problem(text), "");
    EXPECT_NE(text.find("rank 999\\n"), std::string::npos);
    EXPECT_NE(text.find(" more\"]"), std::string::npos);
}

TEST(Mermaid, RefusesMoreRanksThanItShows) {
    const Trace trace = read_trace(trace_of("ranks 9\nbuffer x f32 4\nrank *\nall_reduce x sum\n"));
    tutti_trace_picture picture = {};
    picture.struct_size = sizeof picture;
    picture.format = TUTTI_TRACE_MERMAID;
    tutti_error error;
    EXPECT_EQ(tutti_trace_write(
                  trace.get(), &picture, [](void *, const char *, size_t) {}, nullptr, &error),
              TUTTI_UNSUPPORTED);
    EXPECT_NE(std::string(error.message).find("at most 8 ranks, and the trace has 9"),
              std::string::npos);
}

TEST(Mermaid, DrawsATransferAsAnArrow) {
    const std::string text = picture_of(
        read_trace(trace_of("ranks 2\nbuffer x f32 4\nrank 0\nsend x to 1\nsync\nrank 1\n"
                            "recv x from 0\nsync\n"))
            .get(),
        TUTTI_TRACE_MERMAID);
    EXPECT_NE(text.find("R0->>R1: send 1 of world: 4 f32\n"), std::string::npos) << text;
}

} // namespace
