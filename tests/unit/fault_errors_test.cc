// Fault plans that are wrong: what is said, where, and that nothing breaks.
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/fault_text.h"
#include "tutti/fault.h"
#include "gtest/gtest.h"

namespace {

using namespace fault_text;

TEST(FaultPlanErrors, TheMessageShowsTheLineAndACaret) {
    EXPECT_EQ("faults:1:14: expected an action (off, delay, refuse, hang, kill, drop, corrupt, "
              "fail, slow), found \"dely\"; did you mean \"delay\"?\n"
              "  join[rank=1]=dely(5ms)\n"
              "               ^",
              message_for("join[rank=1]=dely(5ms)"));
}

TEST(FaultPlanErrors, ThePlaceIsInTheNumbersOfTheSource) {
    const tutti_fault_source source = {"file", 7, 20};
    EXPECT_EQ("file:7:25: expected an action (off, delay, refuse, hang, kill, drop, corrupt, fail, "
              "slow), found the end\n  join=\n       ^",
              message_for("join=", &source));
    EXPECT_EQ("file:8:7: expected \"[\", or \"=\" and an action, found the end of the line\n"
              "   send \n        ^",
              message_for("join=kill\n send \nmint=off", &source));
    tutti_fault_plan *plan = nullptr;
    tutti_error error;
    ASSERT_EQ(TUTTI_SYNTAX, tutti_fault_plan_parse("\n\n?", 3, &source, &plan, &error));
    EXPECT_STREQ("file", error.place.file);
    EXPECT_EQ(9, error.place.line);
    EXPECT_EQ(-1, error.rank);
    EXPECT_EQ(0U, error.cause_count);
}

TEST(FaultPlanErrors, PointAtTheCharacterThatIsWrong) {
    const std::string actions = " (off, delay, refuse, hang, kill, drop, corrupt, fail, slow)";
    const std::string keys = " (rank, group, op, seq, stream, peer)";
    const std::vector<std::pair<std::string, std::string>> table = {
        // points
        {"allreduce=kill", "1: expected a fault point, found \"allreduce\"; did you mean "
                           "\"all_reduce\"?"},
        {" All_Reduce=kill", "2: expected a fault point, found \"All_Reduce\"; did you mean "
                             "\"all_reduce\"?"},
        {"join=kill;;  sned=off", "14: expected a fault point, found \"sned\"; did you mean "
                                  "\"send\"?"},
        {"join", "5: expected \"[\", or \"=\" and an action, found the end"},
        {"join kill", "6: expected \"[\", or \"=\" and an action, found \"kill\""},
        {"join[rank=1] kill", "14: expected \"=\" and an action, found \"kill\""},
        // keys
        {"join[]=kill", "6: expected a key" + keys + ", found \"]\""},
        {"join[rnak=1]=kill", "6: expected a key" + keys +
                                  ", found \"rnak\"; did you mean "
                                  "\"rank\"?"},
        {"join[rank=1,]=kill", "13: expected a key" + keys + ", found \"]\""},
        {"join[rank=1,rank=2]=kill", "13: the key \"rank\" is given twice"},
        {"join[rank=*,rank=2]=kill", "13: the key \"rank\" is given twice"},
        {"join[rank]=kill", "10: expected \"=\" and a value, found \"]\""},
        {"join[rank=1", "12: expected \",\" or \"]\", found the end"},
        {"join[rank=1\n]=kill", "12: expected \",\" or \"]\", found the end of the line"},
        {"join[rank=1 2]=kill", "13: expected \",\" or \"]\", found \"2\""},
        {"join[rank=1x]=kill", "12: expected \",\" or \"]\", found \"x\""},
        // values
        {"join[rank=]=kill", "11: expected a number, a range like 1-3, or \"*\", found \"]\""},
        {"join[rank=-1]=kill", "11: expected a number, a range like 1-3, or \"*\", found \"-\""},
        {"join[rank=two]=kill", "11: expected a number, a range like 1-3, or \"*\", found "
                                "\"two\""},
        {"join[rank=1-]=kill", "13: expected the last number of the range, found \"]\""},
        {"join[rank= 3-1]=kill", "12: this range runs backwards"},
        {"join[rank=1048576]=kill", "11: this number is too large: at most 1048575 is possible"},
        {"join[rank=1-99999999999999999999]=kill",
         "13: this number is too large: at most 1048575 is possible"},
        {"send[seq=0]=kill", "10: operations are numbered from 1"},
        {"send[seq=9223372036854775808]=kill",
         "10: this number is too large: at most 9223372036854775807 is possible"},
        {"join[group=]=kill", "12: expected a name or \"*\", found \"]\""},
        {"join[group=dp*]=kill", "14: a name has no wildcard: only \"*\" alone stands for any"},
        {"join[group=*dp]=kill", "13: expected \",\" or \"]\", found \"dp\""},
        {"join[group=\"dp\"]=kill", "12: expected a name or \"*\", found a quote"},
        {"join[group=" + std::string(128, 'g') + "]=kill",
         "12: this name is too long: at most 127 bytes"},
        {"reduce[op=summ]=kill", "11: expected a reduction (sum, prod, max, min, mean), found "
                                 "\"summ\"; did you mean \"sum\"?"},
        // terms
        {"join=", "6: expected an action" + actions + ", found the end"},
        {"join=;", "6: expected an action" + actions + ", found \";\""},
        {"join=->kill", "6: expected an action" + actions + ", found \"-\""},
        {"join=fial", "6: expected an action" + actions +
                          ", found \"fial\"; did you mean "
                          "\"fail\"?"},
        {"join=explode", "6: expected an action" + actions + ", found \"explode\""},
        {"join=2kill", "7: expected \"%\" or \"*\" after the number, found \"kill\""},
        {"join=2 ", "8: expected \"%\" or \"*\" after the number, found the end"},
        {"join=1.5.2%kill", "9: expected \"%\" or \"*\" after the number, found \".\""},
        {"join=5.%kill", "7: expected \"%\" or \"*\" after the number, found \".\""},
        {"join=.5%kill", "6: expected an action" + actions + ", found \".\""},
        {"join=0*kill", "6: a count is at least 1 and at most 1000000000"},
        {"join=1000000001*kill", "6: a count is at least 1 and at most 1000000000"},
        {"join=1.5*kill", "6: a count is a whole number"},
        {"join=2*3*kill", "8: a term has only one count"},
        {"join=100.1%kill", "6: a probability is at most 100%"},
        {"join=99999999999999999999999%kill", "6: a probability is at most 100%"},
        {"join=0.0000001%kill", "6: a probability has at most 6 decimals"},
        {"join=5%2*5%kill", "10: a term has only one probability"},
        {"join=2*->kill", "8: expected an action" + actions + ", found \"-\""},
        {"join=kill ->off", "11: nothing can follow a term that lasts for ever; give that one a "
                            "count, like 1*hang"},
        {"join=50%kill->off", "13: nothing can follow a term that lasts for ever; give that one a "
                              "count, like 1*hang"},
        {"join=2*off->", "13: expected an action" + actions + ", found the end"},
        {"join=2*off- >kill", "11: expected \"->\", \";\" or the end of the line, found \"-\""},
        {"join=kill mint=kill", "11: expected \"->\", \";\" or the end of the line, found "
                                "\"mint\""},
        {"join=kill)", "10: expected \"->\", \";\" or the end of the line, found \")\""},
        // arguments
        {"join=kill(now)", "10: \"kill\" takes no argument"},
        {"join=off()", "9: \"off\" takes no argument"},
        {"join=delay", "11: \"delay\" needs an argument, like delay(5ms)"},
        {"send=slow ; join=off", "10: \"slow\" needs an argument, like slow(2.5)"},
        {"join=delay()", "12: expected a duration like 5ms, found \")\""},
        {"join=delay(-5ms)", "12: expected a duration like 5ms, found \"-\""},
        {"join=delay(5)", "13: expected a unit of time (ns, us, ms, s, m, min, h), found \")\""},
        {"join=delay( 5 sec )", "15: expected a unit of time (ns, us, ms, s, m, min, h), found "
                                "\"sec\""},
        {"join=delay(0.5ns)", "12: a duration is a whole number of nanoseconds"},
        {"join=delay(876000.1h)", "12: this duration is too long: at most 876000h"},
        {"join=delay(5ms", "15: expected \")\", found the end"},
        {"join=delay(5\nms)", "13: expected a unit of time (ns, us, ms, s, m, min, h), found the "
                              "end of the line"},
        {"join=delay(5ms 6ms)", "16: expected \")\", found \"6ms\""},
        {"join=refuse( )", "14: expected a reason, or no parentheses, found \")\""},
        {"join=refuse(busy", "12: this \"(\" is not closed before the line ends"},
        {"join=refuse(a(b)\n)", "12: this \"(\" is not closed before the line ends"},
        {"join=refuse(a\x01)", "14: the byte 0x01 cannot be part of a reason"},
        {"join=refuse(a\xFF)", "14: the byte 0xff cannot be part of a reason"},
        {"join=refuse(" + std::string(128, 'r') + ")",
         "13: this reason is too long: at most 127 bytes"},
        {"send=corrupt(0)", "14: at least one bit must be corrupt"},
        {"send=corrupt(many)", "14: expected a number of bits, found \"many\""},
        {"send=corrupt(1048577)", "14: this number is too large: at most 1048576 is possible"},
        {"send=corrupt(1.5)", "15: expected \")\", found \".\""},
        {"send=fail()", "11: expected a status, like system, remote or timed_out, found \")\""},
        {"send=fail(remte)", "11: expected a status, like system, remote or timed_out, found "
                             "\"remte\"; did you mean \"remote\"?"},
        {"send=slow(0.5)", "11: a factor is at least 1 and at most 1000000"},
        {"send=slow(1000000.1)", "11: a factor is at least 1 and at most 1000000"},
        {"send=slow(1.0000001)", "11: a factor has at most 6 decimals"},
        {"send=slow(fast)", "11: expected a factor like 2.5, found \"fast\""},
        // what is no text
        {std::string("join=kill\0", 10), "10: expected \"->\", \";\" or the end of the line, found "
                                         "the byte 0x00"},
        {std::string("join\0=kill", 10),
         "5: expected \"[\", or \"=\" and an action, found the byte "
         "0x00"},
        {"join=\xC0\x80", "6: expected an action" + actions + ", found the byte 0xc0"},
        {"join=\xE2\x82\xAC", "6: expected an action" + actions + ", found \"\xE2\x82\xAC\""},
        {"join=\x7F", "6: expected an action" + actions + ", found the byte 0x7f"},
        {"join[group=\xC3\xA4\xC3\xB6]=?", "16: expected an action" + actions + ", found \"?\""},
    };
    for (const auto &[text, refusal] : table) {
        EXPECT_EQ("faults:1:" + refusal, refusal_of(text)) << text;
    }
}

TEST(FaultPlanErrors, AnUnknownPointListsThemAll) {
    std::string list;
    for (int i = 0; i < TUTTI_FAULT_POINT_COUNT; i++) {
        list += i == 0 ? "" : ", ";
        list += tutti_fault_point_name(static_cast<tutti_fault_point>(i));
    }
    EXPECT_EQ("faults:1:1: expected a fault point (" + list +
                  "), found \"frobnicate_everything_in\"\n"
                  "  frobnicate_everything_in=kill\n"
                  "  ^",
              message_for("frobnicate_everything_in=kill"));
}

TEST(FaultPlanErrors, LongLinesAreShownAroundThePlace) {
    const std::string before(1000, ' ');
    const std::string behind(1000, 'x');
    const std::string message = message_for("join=" + before + "off " + behind);
    const size_t first_end = message.find('\n');
    const size_t second_end = message.find('\n', first_end + 1);
    EXPECT_EQ("  ..." + std::string(36, ' ') + "off " + std::string(16, 'x') + "...",
              message.substr(first_end + 1, second_end - first_end - 1));
    EXPECT_EQ("  " + std::string(43, ' ') + "^", message.substr(second_end + 1));
    EXPECT_EQ(0U, message.find("faults:1:1010: "));
}

TEST(FaultPlanErrors, TheCaretCountsCharactersAndTabs) {
    EXPECT_EQ("faults:1:20: expected \"=\" and an action, found \"?\"\n"
              "   join[group=\xC3\xA4\xE2\x82\xAC\xF0\x9F\x99\x82 ]  ?\n"
              "                     ^",
              message_for("\tjoin[group=\xC3\xA4\xE2\x82\xAC\xF0\x9F\x99\x82\t]\t ?"));
}

TEST(FaultPlanErrors, LongNamesOfSourcesAreCutInFront) {
    const std::string name = "/very" + std::string(100, '/') + "long/plan.tut";
    const tutti_fault_source source = {name.c_str(), INT32_MAX, INT32_MAX - 10};
    const std::string message = message_for("frobnicate_everything_in=kill", &source);
    EXPECT_EQ(0U, message.find("..." + name.substr(name.size() - 60) + ":2147483647:2147483637: "));
    EXPECT_EQ('^', message.back());
    EXPECT_LT(message.size(), size_t{TUTTI_ERROR_MESSAGE_BYTES});
}

TEST(FaultPlanErrors, NothingNeedsAPlaceForTheError) {
    tutti_fault_plan *plan = nullptr;
    EXPECT_EQ(TUTTI_SYNTAX, tutti_fault_plan_parse("?", 1, nullptr, &plan, nullptr));
    EXPECT_EQ(TUTTI_INVALID_ARGUMENT, tutti_fault_plan_parse("", 0, nullptr, nullptr, nullptr));
    EXPECT_EQ(TUTTI_INVALID_ARGUMENT, tutti_fault_plan_parse(nullptr, 1, nullptr, &plan, nullptr));
    EXPECT_EQ(nullptr, plan);
}

TEST(FaultPlanErrors, OthersCanComplainAboutARule) {
    tutti_fault_plan *plan = nullptr;
    const tutti_fault_source source = {"job", 3, 1};
    const std::string text = "join=off\n link=drop";
    ASSERT_EQ(TUTTI_OK, tutti_fault_plan_parse(text.data(), text.size(), &source, &plan, nullptr));
    tutti_error error;
    EXPECT_EQ(TUTTI_UNSUPPORTED,
              tutti_fault_rule_error(plan, 1, TUTTI_UNSUPPORTED, "not on this cluster", &error));
    EXPECT_EQ(TUTTI_UNSUPPORTED, error.status);
    EXPECT_STREQ("job:4:2: not on this cluster\n   link=drop\n   ^", error.message);
    EXPECT_EQ(4, error.place.line);
    EXPECT_EQ(TUTTI_UNSUPPORTED,
              tutti_fault_rule_error(plan, 2, TUTTI_UNSUPPORTED, "no such rule", &error));
    EXPECT_STREQ("no such rule", error.message);
    EXPECT_EQ(TUTTI_UNSUPPORTED,
              tutti_fault_rule_error(plan, 1, TUTTI_UNSUPPORTED, "unheard", nullptr));
    tutti_fault_plan_destroy(plan);
}

// ---- limits and odd input ----

std::string repeated(const std::string &text, size_t times) {
    std::string whole;
    for (size_t i = 0; i < times; i++) {
        whole += text;
    }
    return whole;
}

TEST(FaultPlanLimits, RulesTermsAndTextEndWhereTheySay) {
    EXPECT_EQ(uint32_t{TUTTI_FAULT_RULES_MAX},
              tutti_fault_rule_count(plan_of(repeated("join=kill;", TUTTI_FAULT_RULES_MAX)).get()));
    EXPECT_EQ("faults:1:2561: a plan has at most 256 rules",
              refusal_of(repeated("join=kill;", TUTTI_FAULT_RULES_MAX + 1)));

    const std::string terms = "join=" + repeated("1*off->", TUTTI_FAULT_TERMS_MAX - 1);
    EXPECT_EQ(uint32_t{TUTTI_FAULT_TERMS_MAX},
              tutti_fault_rule_term_count(plan_of(terms + "1*kill").get(), 0));
    EXPECT_EQ("faults:1:453: a rule has at most 64 terms", refusal_of(terms + "1*kill->kill"));

    const std::string longest = "join=off;" + std::string(TUTTI_FAULT_TEXT_BYTES_MAX - 9, ' ');
    EXPECT_EQ("join=off", canonical(longest));
    EXPECT_EQ("faults:1:65537: the text of a fault plan ends here at the latest (65536 bytes)",
              refusal_of(longest + " "));
}

TEST(FaultPlanLimits, AMegabyteOfGarbageIsRefusedWithAPlace) {
    Numbers numbers(1);
    std::string garbage;
    while (garbage.size() < 1 << 20) {
        garbage += static_cast<char>(numbers.below(256));
    }
    EXPECT_NE(std::string::npos, refusal_of(garbage).find(": the text of a fault plan ends here"));
}

TEST(FaultPlanLimits, GarbageOfEveryKindIsRefusedWithAPlace) {
    Numbers numbers(2);
    for (int round = 0; round < 2000; round++) {
        std::string garbage = numbers.below(2) == 0 ? "join[rank=1]=2*refuse(" : "";
        const size_t length = numbers.below(200);
        for (size_t i = 0; i < length; i++) {
            garbage += static_cast<char>(1 + numbers.below(255));
        }
        tutti_fault_plan *plan = nullptr;
        tutti_error error;
        if (tutti_fault_plan_parse(garbage.data(), garbage.size(), nullptr, &plan, &error) ==
            TUTTI_OK) {
            EXPECT_EQ(canonical(plan), canonical(canonical(plan)));
        } else {
            EXPECT_EQ(0, std::strncmp("faults:", error.message, 7)) << error.message;
            EXPECT_GE(error.place.line, 1);
        }
        tutti_fault_plan_destroy(plan);
    }
}

TEST(FaultPlanLimits, DeepNestingNeedsNoStack) {
    const std::string deep = std::string(30000, '(') + std::string(30000, ')');
    EXPECT_EQ("faults:1:13: this reason is too long: at most 127 bytes",
              refusal_of("join=refuse(" + deep + ")"));
    EXPECT_EQ("faults:1:6: expected an action (off, delay, refuse, hang, kill, drop, corrupt, "
              "fail, slow), found \"(\"",
              refusal_of("join=" + deep));
    EXPECT_EQ("faults:1:6: expected a key (rank, group, op, seq, stream, peer), found \"[\"",
              refusal_of("join" + std::string(60000, '[')));
}

TEST(FaultPlanLimits, EveryBrokenOffRuleIsRefusedOrWhole) {
    const std::string text = "send[rank=1-3,stream=s1,peer=2]=12.5%2*refuse(a (b))->1*slow(2.5)";
    const std::set<size_t> whole = {0, text.find("(a"), text.find("->"), text.size()};
    for (size_t bytes = 0; bytes <= text.size(); bytes++) {
        // An exact copy, so that a sanitizer sees any read behind the end.
        const std::vector<char> part(text.begin(), text.begin() + static_cast<long>(bytes));
        tutti_fault_plan *plan = nullptr;
        EXPECT_EQ(whole.count(bytes) == 1 ? TUTTI_OK : TUTTI_SYNTAX,
                  tutti_fault_plan_parse(part.data(), part.size(), nullptr, &plan, nullptr))
            << text.substr(0, bytes);
        tutti_fault_plan_destroy(plan);
    }
}

} // namespace
