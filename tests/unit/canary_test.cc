// One planted bug per detector proves that its alarm works, and a corrected twin that it is quiet
// when nothing is wrong. A detector without a canary here has none.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/harness/script_runner.h"

namespace {

struct Canary {
    const char *detector;
    tutti_verdict verdict;
    const char *detail;
    const char *planted;
    const char *corrected;
};

// All of them have this head; `a` and `b` are buffers of four and two elements.
const std::string head = "ranks 3\nbuffer a f32 4 = 1\nbuffer b f32 2 = 1\nbuffer c i32 4 = 1\n"
                         "group twin = 0 1 2\n";

const std::vector<Canary> canaries = {
    {"mismatch of counts", TUTTI_VERDICT_MISMATCH, "count",
     "rank 0 1\n all_reduce a sum\nrank 2\n all_reduce b sum\n",
     "rank 0 1\n all_reduce b sum\nrank 2\n all_reduce b sum\n"},
    {"mismatch of types", TUTTI_VERDICT_MISMATCH, "type",
     "rank 0 1\n all_reduce a sum\nrank 2\n all_reduce c sum\n",
     "rank 0 1\n all_reduce c sum\nrank 2\n all_reduce c sum\n"},
    {"mismatch of reductions", TUTTI_VERDICT_MISMATCH, "op",
     "rank 0 1\n all_reduce a sum\nrank 2\n all_reduce a max\n",
     "rank 0 1\n all_reduce a max\nrank 2\n all_reduce a max\n"},
    {"mismatch of order", TUTTI_VERDICT_MISMATCH, "order",
     "rank 0 1\n all_reduce a sum\n all_reduce b sum\nrank 2\n all_reduce b sum\n all_reduce a "
     "sum\n",
     "rank 0 1\n all_reduce a sum\n all_reduce b sum\nrank 2\n all_reduce a sum\n all_reduce b "
     "sum\n"},
    {"mismatch of a transfer", TUTTI_VERDICT_MISMATCH, "count",
     "rank 0\n send a to 1\nrank 1\n recv b from 0\nrank 2\n join world\n",
     "rank 0\n send b to 1\nrank 1\n recv b from 0\nrank 2\n join world\n"},
    {"a rank that makes one call fewer", TUTTI_VERDICT_MISSING, "",
     "rank *\n all_reduce a sum\nrank 0 1\n all_reduce a sum\n",
     "rank *\n all_reduce a sum\nrank 0 1 2\n all_reduce a sum\n"},
    {"a rank that never joins", TUTTI_VERDICT_MISSING, "", "rank 0 1\n join world\n",
     "rank *\n join world\n"},
    {"a receive that is missing", TUTTI_VERDICT_MISSING, "",
     "rank *\n join world\nrank 0\n send a to 1\n",
     "rank *\n join world\nrank 0\n send a to 1\nrank 1\n recv a from 0\n"},
    {"a cycle of transfers", TUTTI_VERDICT_DEADLOCK, "",
     "rank *\n join world\nrank 0\n send a to 1\n recv a from 1\n"
     "rank 1\n send a to 0\n recv a from 0\n",
     "rank *\n join world\nrank 0\n send a to 1\n recv a from 1\n"
     "rank 1\n recv a from 0\n send a to 0\n"},
    {"a cycle of streams", TUTTI_VERDICT_DEADLOCK, "",
     "rank *\n join world\n join twin\nrank 0 1\n all_reduce a sum on s\n all_reduce b sum in twin "
     "on "
     "s\nrank 2\n all_reduce b sum in twin on s\n all_reduce a sum on s\n",
     "rank *\n join world\n join twin\nrank 0 1\n all_reduce a sum on s\n all_reduce b sum in twin "
     "on "
     "s\nrank 2\n all_reduce a sum on s\n all_reduce b sum in twin on s\n"},
    {"a cycle of joins", TUTTI_VERDICT_DEADLOCK, "",
     "rank 0 1\n join world\n join twin\nrank 2\n join twin\n join world\n",
     "rank *\n join world\n join twin\n"},
    {"a refused join", TUTTI_VERDICT_REFUSED, "join",
     "fault join[rank=1]=refuse(full)\nrank *\n join world\n",
     "fault join[rank=1]=off\nrank *\n join world\n"},
    {"two ranks on one device", TUTTI_VERDICT_REFUSED, "join",
     "device 1 = 0\nrank *\n join world\n", "device 1 = 1\nrank *\n join world\n"},
    {"a time limit", TUTTI_VERDICT_TIMEOUT, "",
     "timeout 2ms\nrank 1\n sleep 3ms\nrank *\n all_reduce a sum\n sync\n",
     "timeout 4ms\nrank 1\n sleep 3ms\nrank *\n all_reduce a sum\n sync\n"},
    {"a killed rank", TUTTI_VERDICT_KILLED, "",
     "fault sync[rank=2]=kill\nrank *\n all_reduce a sum\n sync\n",
     "fault sync[rank=2]=1*off\nrank *\n all_reduce a sum\n sync\n"},
    {"use after leaving", TUTTI_VERDICT_MISUSE, "",
     "rank *\n all_reduce a sum\n leave world\nrank 0\n all_reduce a sum\n",
     "rank *\n all_reduce a sum\n all_reduce a sum\n leave world\n"},
    {"use before ready", TUTTI_VERDICT_MISUSE, "",
     "rank 0\n join world nonblocking\n all_reduce a sum\n",
     "rank *\n join world nonblocking\n sync world\n all_reduce a sum\n"},
    {"memory that was freed", TUTTI_VERDICT_FREED, "", "rank *\n free a\n all_reduce a sum\n",
     "rank *\n all_reduce a sum\n sync\n free a\n"},
    {"memory that is freed twice", TUTTI_VERDICT_FREED, "", "rank *\n free a\n free a\n",
     "rank *\n free a\n free b\n"},
    {"memory that is freed while it is in use", TUTTI_VERDICT_FREED, "",
     "rank *\n all_reduce a sum\n free a\n", "rank *\n all_reduce a sum\n sync comm\n free a\n"},
    {"a race of two streams", TUTTI_VERDICT_RACE, "",
     "rank *\n all_reduce a sum\n kernel reads a on s\n",
     "rank *\n all_reduce a sum\n record e on comm\n wait e on s\n kernel reads a on s\n"},
    {"a race on a part of a buffer", TUTTI_VERDICT_RACE, "",
     "rank 0\n kernel writes a[1:3] on s\n kernel reads a[2:4] on t\n",
     "rank 0\n kernel writes a[1:3] on s\n kernel reads a[3:4] on t\n"},
    {"a race of the host with a stream", TUTTI_VERDICT_RACE, "",
     "rank *\n all_reduce a sum\n host reads a\n",
     "rank *\n all_reduce a sum\n sync comm\n host reads a\n"},
    {"a race of a poll that was not looked at", TUTTI_VERDICT_RACE, "",
     "rank 0\n kernel writes a on s for 1ms\n poll s\n host reads a\n",
     "rank 0\n kernel writes a on s for 1ms\n sleep 2ms\n poll s\n host reads a\n"},
    {"a race with what a transfer does not order", TUTTI_VERDICT_RACE, "",
     "rank *\n join world\nrank 0\n kernel writes b on s\n recv a from 1 on s\n"
     " record e on s\n host reads b\nrank 1\n send a to 0\n",
     "rank *\n join world\nrank 0\n kernel writes b on s\n recv a from 1 on s\n"
     " record e on s\n sync e\n host reads b\nrank 1\n send a to 0\n"},
    {"a race inside of a group call", TUTTI_VERDICT_RACE, "",
     "rank *\n join world\nrank 0\n send a to 1\nrank 1\n start\n  recv a from 0\n"
     "  send a to 2\n end\nrank 2\n recv a from 1\n",
     "rank *\n join world\nrank 0\n send a to 1\nrank 1\n recv a from 0\n send a to 2\n"
     "rank 2\n recv a from 1\n"},
    {"an overlap", TUTTI_VERDICT_OVERLAP, "", "rank *\n all_reduce a[0:3] -> a[1:4] sum\n",
     "rank *\n all_reduce a[0:2] -> a[2:4] sum\n"},
    {"contents that nothing has written", TUTTI_VERDICT_UNDEFINED, "",
     "buffer u f32 4 = unset\nrank *\n all_reduce u sum\n",
     "buffer u f32 4 = unset\nrank *\n all_reduce a -> u sum\n sync\n host reads u\n"},
    {"contents of a part that nothing has written", TUTTI_VERDICT_UNDEFINED, "",
     "buffer u f32 4 = unset\nrank 0\n host writes u[0:3]\n host reads u[2:4]\n",
     "buffer u f32 4 = unset\nrank 0\n host writes u[0:3]\n host reads u[1:3]\n"},
    {"contents after an abort", TUTTI_VERDICT_UNDEFINED, "",
     "rank *\n join world\nrank 0\n all_reduce a sum\n abort world\n sync\n host reads a\n",
     "rank *\n join world\nrank 0\n all_reduce a sum\n abort world\n sync\n host writes a\n"
     " host reads a\n"},
    {"a send to oneself without its recv", TUTTI_VERDICT_MISUSE, "",
     "rank *\n start\n  send a to 0\n end\n",
     "rank *\n join world\nrank 0\n start\n  send a to 0\n  recv a from 0\n end\n"},
    {"a wrong result", TUTTI_VERDICT_WRONG, "", "rank *\n all_reduce a sum\n sync\n expect a = 2\n",
     "rank *\n all_reduce a sum\n sync\n expect a = 3\n"},
};

tutti_test::Outcome outcome_of(const std::string &program) {
    // What a canary adds to the head comes before the first section.
    const tutti_test::Script script = tutti_test::parse_script("canary.tut", head + program);
    return tutti_test::run_script(script.get(), TUTTI_SCRIPT_AS_DATA);
}

TEST(Canaries, SingForEveryPlantedBug) {
    for (const Canary &canary : canaries) {
        const tutti_test::Outcome outcome = outcome_of(canary.planted);
        EXPECT_STREQ(tutti_verdict_name(outcome.report->verdict),
                     tutti_verdict_name(canary.verdict))
            << canary.detector << "\n"
            << tutti_test::text_of(outcome.report.get());
        ASSERT_GE(outcome.report->finding_count, 1u) << canary.detector;
        EXPECT_STREQ(outcome.report->findings[0].detail, canary.detail) << canary.detector;
        EXPECT_GE(outcome.report->culprit_count, 1u) << canary.detector;
    }
}

TEST(Canaries, AreQuietInTheCorrectedTwin) {
    for (const Canary &canary : canaries) {
        const tutti_test::Outcome outcome = outcome_of(canary.corrected);
        EXPECT_EQ(outcome.report->finding_count, 0u) << canary.detector << "\n"
                                                     << tutti_test::text_of(outcome.report.get());
    }
}

} // namespace
