// What is no trace is refused with a place; what is odd is read as far as it makes sense; nothing
// crashes.

#include <gtest/gtest.h>

#include "tests/harness/pictures.h"
#include "tests/trace/grammar.h"

using tutti_test::picture_of;
using tutti_test::read_trace;
using tutti_test::trace_problem;

namespace {

const std::string header = "{\"tutti_trace\":2,\"ranks\":2,\"devices\":2}\n";

struct Refusal {
    const char *name;
    std::string text;
    const char *message; // the beginning
};

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithItsPlace) {
    const std::string problem = trace_problem(GetParam().text);
    EXPECT_EQ(problem.rfind(GetParam().message, 0), 0u) << problem;
}

const Refusal refusals[] = {
    {"Nothing", "", "t:1:1: expected a trace"},
    {"Blanks", "\n \n", "t:2:1: expected a trace"},
    {"NoJson", "ranks 2\n", "t:1:1: expected a trace"},
    {"Array", "[]\n", "t:1:1: expected a trace"},
    {"OlderVersion", "{\"tutti_trace\":1,\"ranks\":2,\"devices\":2}\n",
     "t:1:1: the trace is of version 1, and this program reads version 2"},
    {"LaterVersion", "{\"tutti_trace\":3,\"ranks\":2,\"devices\":2}\n", "t:1:1: the trace is of"},
    {"VersionIsText", "{\"tutti_trace\":\"2\"}\n", "t:1:2: \"tutti_trace\" must be a number"},
    {"HugeRanks", "{\"tutti_trace\":2,\"ranks\":99999999999,\"devices\":2}\n",
     "t:1:18: \"ranks\" must be a number from 0 to 1048576"},
    {"HugerThanAnInteger", "{\"tutti_trace\":2,\"ranks\":99999999999999999999,\"devices\":2}\n",
     "t:1:"},
    {"Truncated", header + "{\"t\":0,\"event\":\"call\",\"ra", "t:2:"},
    {"NoObject", header + "17\n", "t:2:"},
    {"List", header + "[1]\n", "t:2:1: expected an object"},
    {"Garbage", header + "\x01\xff\n", "t:2:"},
    {"DuplicateKey", header + "{\"t\":0,\"t\":1,\"event\":\"call\"}\n", "t:2:"},
    {"NoTime", header + "{\"event\":\"call\"}\n", "t:2:1: expected a \"t\""},
    {"NoEvent", header + "{\"t\":0}\n", "t:2:1: expected a \"event\""},
    {"NegativeTime", header + "{\"t\":-1,\"event\":\"call\"}\n", "t:2:2: \"t\" must be a number"},
    {"FractionalTime", header + "{\"t\":0.5,\"event\":\"call\"}\n", "t:2:2: \"t\" must be"},
    {"TimeGoesBack", header + "{\"t\":5,\"event\":\"x\"}\n{\"t\":4,\"event\":\"x\"}\n",
     "t:3:2: \"t\" must be a number from 5"},
    {"EndOfTime", header + "{\"t\":9223372036854775807,\"event\":\"x\"}\n", "t:2:2: \"t\" must be"},
    {"NoRank", header + "{\"t\":0,\"event\":\"call\",\"call\":\"join\"}\n",
     "t:2:1: expected a \"rank\""},
    {"HugeRank", header + "{\"t\":0,\"event\":\"call\",\"rank\":1048576,\"call\":\"join\"}\n",
     "t:2:23: \"rank\" must be a number from 0 to 1048575"},
    {"RankIsText", header + "{\"t\":0,\"event\":\"call\",\"rank\":\"0\",\"call\":\"join\"}\n",
     "t:2:23: \"rank\" must be a number"},
    {"CallIsNoText", header + "{\"t\":0,\"event\":\"call\",\"rank\":0,\"call\":[]}\n",
     "t:2:32: \"call\" must be a text"},
    {"NoteIsNoFlag", header + "{\"t\":0,\"event\":\"finding\",\"kind\":\"x\",\"note\":1}\n",
     "t:2:"},
    {"CulpritsAreTexts",
     header + "{\"t\":0,\"event\":\"finding\",\"kind\":\"x\",\"culprits\":[\"0\"]}\n", "t:2:"},
    {"NodeWithoutGraph", header + "{\"t\":0,\"event\":\"node\",\"node\":0}\n",
     "t:2:1: expected an event \"waits\""},
    {"NodeOutOfOrder",
     header + "{\"t\":0,\"event\":\"waits\",\"nodes\":9}\n"
              "{\"t\":0,\"event\":\"node\",\"node\":1,\"kind\":\"rank\",\"text\":\"\"}\n",
     "t:3:"},
    {"MoreNodesThanSaid",
     header + "{\"t\":0,\"event\":\"waits\",\"nodes\":0}\n"
              "{\"t\":0,\"event\":\"node\",\"node\":0,\"kind\":\"rank\",\"text\":\"\"}\n",
     "t:3:1: the graph was to have 0 nodes"},
    {"EdgeToNoNode",
     header + "{\"t\":0,\"event\":\"waits\",\"nodes\":0}\n"
              "{\"t\":0,\"event\":\"edge\",\"node\":0,\"to\":0,\"why\":\"\"}\n",
     "t:3:"},
    {"LongLine", header + "{\"t\":0,\"event\":\"" + std::string(70000, 'x') + "\"}\n",
     "t:2:65536: a line has at most 65536 bytes"},
    {"DeepNesting", header + std::string(60000, '[') + "\n", "t:2:"},
};

INSTANTIATE_TEST_SUITE_P(Trace, Refused, testing::ValuesIn(refusals),
                         [](const auto &test) { return test.param.name; });

TEST(Read, SaysWhichOfSeveralTracesIsMeant) {
    const std::string two = header + "{\"t\":0,\"event\":\"x\"}\n" + header;
    EXPECT_NE(trace_problem(two).find("it holds 2 traces"), std::string::npos);
    EXPECT_NE(trace_problem(two, 3).find("there is no trace number 3"), std::string::npos);
    EXPECT_EQ(tutti_trace_event_count(read_trace(two, 1).get()), 1u);
    EXPECT_EQ(tutti_trace_event_count(read_trace(two, 2).get()), 0u);
}

// Every picture of a trace, each well formed.
void draw_all(const std::string &text) {
    const tutti_test::Trace trace = read_trace(text);
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(chrome_problem(picture_of(trace.get(), TUTTI_TRACE_CHROME)), "") << text;
    EXPECT_EQ(xml_problem(picture_of(trace.get(), TUTTI_TRACE_SVG)), "") << text;
    EXPECT_EQ(dot_problem(picture_of(trace.get(), TUTTI_TRACE_DOT)), "") << text;
}

TEST(Read, ATraceWithoutEventsHasPictures) {
    draw_all(header);
    EXPECT_EQ(picture_of(read_trace(header).get(), TUTTI_TRACE_MERMAID), "sequenceDiagram\n");
}

TEST(Read, TakesOddEventsAsTheyAre) {
    const std::string op =
        "\"rank\":0,\"op\":\"all_reduce\",\"comm\":\"c\",\"seq\":1,\"stream\":0}\n";
    draw_all(header + "{\"t\":0,\"event\":\"complete\"," + op);
    draw_all(header + "{\"t\":0,\"event\":\"start\"," + op);
    draw_all(header + "{\"t\":0,\"event\":\"issue\"," + op + "{\"t\":0,\"event\":\"issue\"," + op +
             "{\"t\":0,\"event\":\"complete\"," + op + "{\"t\":0,\"event\":\"start\"," + op);
    draw_all(header +
             "{\"t\":0,\"event\":\"return\",\"rank\":1,\"call\":\"join\",\"status\":\"ok\"}\n");
    draw_all(header + "{\"t\":0,\"event\":\"block\",\"rank\":1,\"call\":\"join\"}\n");
    draw_all(header + "{\"t\":0,\"event\":\"finding\",\"kind\":\"k\",\"culprits\":[]}\n");
    draw_all(header + "{\"t\":0,\"event\":\"waits\",\"nodes\":5}\n");
    draw_all(header + "{\"t\":0,\"event\":\"an event of a later day\"}\n{\"trace_hash\":\"00\"}\n");
}

TEST(Read, QuotesWhatProgramsNameTheirThings) {
    const std::string name = "<a>&\\\"b\\\\n\\u0001;#%% \\u2028 \xF0\x9F\x98\x80 --> ]]> \\ufffe";
    draw_all(header + "{\"t\":0,\"event\":\"issue\",\"rank\":0,\"op\":\"all_reduce\",\"comm\":\"" +
             name + "\",\"seq\":1,\"stream\":\"" + name + "\",\"at\":\"" + name + "\"}\n" +
             "{\"t\":0,\"event\":\"waits\",\"nodes\":1}\n{\"t\":0,\"event\":\"node\",\"node\":0,"
             "\"kind\":\"rank\",\"text\":\"" +
             name + "\"}\n" + "{\"t\":0,\"event\":\"edge\",\"node\":0,\"why\":\"" + name + "\"}\n" +
             "{\"t\":0,\"event\":\"finding\",\"kind\":\"" + name + "\",\"text\":\"" + name +
             "\"}\n");
}

// A trace that ends anywhere, and one with any byte replaced: read, or refused with a place.
TEST(Read, SurvivesAnyCutAndAnyByte) {
    const std::string whole = tutti_test::file_text("tests/golden/send_cycle.jsonl");
    for (size_t bytes = 0; bytes < whole.size(); bytes++) {
        const std::string problem = trace_problem(whole.substr(0, bytes));
        EXPECT_TRUE(problem.empty() || problem.rfind("t:", 0) == 0) << bytes << ": " << problem;
    }
    for (size_t at = 0; at < whole.size(); at++) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ (1 + at % 127));
        if (trace_problem(changed).empty() && at % 64 == 0) draw_all(changed);
    }
}

TEST(Read, ManyEventsAreReadInLinearTime) {
    std::string text = header;
    for (int i = 1; i <= 33333; i++)
        for (const char *event : {"issue", "start", "complete"})
            text += "{\"t\":" + std::to_string(i) + ",\"event\":\"" + event +
                    "\",\"rank\":0,\"op\":\"kernel\",\"stream\":0}\n";
    const tutti_test::Trace trace = read_trace(text);
    EXPECT_EQ(tutti_trace_event_count(trace.get()), 99999u);
    EXPECT_EQ(chrome_problem(picture_of(trace.get(), TUTTI_TRACE_CHROME)), "");
    EXPECT_EQ(xml_problem(picture_of(trace.get(), TUTTI_TRACE_SVG)), "");
}

// All at once, so that every table and list is as long as it can be.
TEST(Read, ManyOpenOperationsAreReadInLinearTime) {
    std::string text = header;
    for (const char *event : {"issue", "start", "complete"})
        for (int i = 0; i < 33333; i++)
            text += std::string("{\"t\":0,\"event\":\"") + event +
                    "\",\"rank\":0,\"op\":\"kernel\",\"stream\":0}\n";
    const tutti_test::Trace trace = read_trace(text);
    EXPECT_EQ(chrome_problem(picture_of(trace.get(), TUTTI_TRACE_CHROME)), "");
    EXPECT_EQ(xml_problem(picture_of(trace.get(), TUTTI_TRACE_SVG)), "");
}

} // namespace
