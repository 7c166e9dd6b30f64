// Fault plans as text: what is read, and what it means.
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "tests/unit/fault_text.h"
#include "tutti/fault.h"
#include "tutti/types.h"
#include "gtest/gtest.h"

namespace {

using namespace fault_text;

const tutti_fault_term &term_of(const Plan &plan, uint32_t rule, uint32_t term) {
    static const tutti_fault_term missing = {};
    const tutti_fault_term *found = tutti_fault_rule_term(plan.get(), rule, term);
    EXPECT_NE(nullptr, found);
    return found == nullptr ? missing : *found;
}

const tutti_fault_action &action_of(const Plan &plan) {
    return term_of(plan, 0, 0).action;
}

const std::map<std::string, std::string> &action_texts() {
    static const std::map<std::string, std::string> texts = {
        {"off", "off"},
        {"delay", "delay(5ms)"},
        {"refuse", "refuse(busy)"},
        {"hang", "hang"},
        {"kill", "kill"},
        {"drop", "drop"},
        {"corrupt", "corrupt(3)"},
        {"fail", "fail(remote)"},
        {"slow", "slow(2.5)"},
    };
    return texts;
}

const std::map<std::string, std::string> &key_texts() {
    static const std::map<std::string, std::string> texts = {
        {"rank", "rank=1"}, {"group", "group=pair"}, {"op", "op=sum"},
        {"seq", "seq=17"},  {"stream", "stream=s1"}, {"peer", "peer=0-3"},
    };
    return texts;
}

TEST(FaultPlan, NothingIsAPlanWithoutRules) {
    for (const char *text : {"", " ", "\n", ";", " ; ;\n;\t", "# nothing goes wrong", "\r\n"}) {
        const Plan plan = plan_of(text);
        EXPECT_EQ(0U, tutti_fault_rule_count(plan.get())) << text;
        EXPECT_EQ("", canonical(plan.get()));
    }
}

TEST(FaultPlan, NoTextAtAllIsAnEmptyPlan) {
    tutti_fault_plan *plan = nullptr;
    ASSERT_EQ(TUTTI_OK, tutti_fault_plan_parse(nullptr, 0, nullptr, &plan, nullptr));
    EXPECT_EQ(0U, tutti_fault_rule_count(plan));
    tutti_fault_plan_destroy(plan);
}

TEST(FaultPlan, TheExamplesOfTheHeaderSayWhatTheyShould) {
    const Plan plan = plan_of("join[rank=1]=2*refuse(busy)->off\n"
                              "all_reduce[rank=2]=16*off->1*fail(remote)\n"
                              "send[rank=0-3,peer=4]=10%delay(1.5ms)\n");
    ASSERT_EQ(3U, tutti_fault_rule_count(plan.get()));

    EXPECT_EQ(TUTTI_FAULT_AT_JOIN, tutti_fault_rule_point(plan.get(), 0));
    ASSERT_EQ(2U, tutti_fault_rule_term_count(plan.get(), 0));
    EXPECT_EQ(2U, term_of(plan, 0, 0).times);
    EXPECT_EQ(TUTTI_FAULT_REFUSE, term_of(plan, 0, 0).action.kind);
    EXPECT_EQ(TUTTI_REFUSED, term_of(plan, 0, 0).action.status);
    EXPECT_STREQ("busy", term_of(plan, 0, 0).action.reason);
    EXPECT_EQ(0U, term_of(plan, 0, 1).times);
    EXPECT_EQ(TUTTI_FAULT_OFF, term_of(plan, 0, 1).action.kind);

    EXPECT_EQ(TUTTI_FAULT_AT_ALL_REDUCE, tutti_fault_rule_point(plan.get(), 1));
    EXPECT_EQ(16U, term_of(plan, 1, 0).times);
    EXPECT_EQ(TUTTI_REMOTE, term_of(plan, 1, 1).action.status);
    EXPECT_EQ(1, term_of(plan, 1, 1).action.rule);

    const tutti_fault_selector *selector = tutti_fault_rule_selector(plan.get(), 2);
    ASSERT_NE(nullptr, selector);
    EXPECT_EQ(1U << TUTTI_FAULT_KEY_RANK | 1U << TUTTI_FAULT_KEY_PEER, selector->keys);
    EXPECT_EQ(0, selector->rank_first);
    EXPECT_EQ(3, selector->rank_last);
    EXPECT_EQ(4, selector->peer_first);
    EXPECT_EQ(4, selector->peer_last);
    EXPECT_EQ(10U * TUTTI_FAULT_MILLION, term_of(plan, 2, 0).probability);
    EXPECT_EQ(1500000, term_of(plan, 2, 0).action.delay_ns);
}

TEST(FaultPlan, EveryPointTakesExactlyTheActionsThatMakeSenseThere) {
    ASSERT_EQ(size_t{TUTTI_FAULT_POINT_COUNT}, point_facts().size());
    for (const auto &[point, facts] : point_facts()) {
        for (const auto &[action, text] : action_texts()) {
            const std::string rule = point + "=" + text;
            if (has_word(facts.actions, action)) {
                EXPECT_EQ(rule, canonical(rule));
                continue;
            }
            const std::string place = std::to_string(point.size() + 2);
            EXPECT_EQ(0U, refusal_of(rule).find("faults:1:" + place + ": " + point +
                                                " does not take \"" + action + "\", but: off, "))
                << refusal_of(rule);
        }
    }
}

TEST(FaultPlan, EveryPointTakesExactlyTheKeysThatMakeSenseThere) {
    for (const auto &[point, facts] : point_facts()) {
        for (const auto &[key, text] : key_texts()) {
            const std::string rule = point + "[" + text + "]=off";
            if (has_word(facts.keys, key)) {
                EXPECT_EQ(rule, canonical(rule));
                continue;
            }
            const std::string place = std::to_string(point.size() + 2);
            EXPECT_EQ(0U, refusal_of(rule).find("faults:1:" + place + ": " + point +
                                                " does not take \"" + key + "\", but: rank"))
                << refusal_of(rule);
        }
    }
}

TEST(FaultPlan, TheTablesOfWhatPointsTakeCanBeAsked) {
    std::set<std::string> names;
    for (int i = 0; i < TUTTI_FAULT_POINT_COUNT; i++) {
        const auto point = static_cast<tutti_fault_point>(i);
        const std::string name = tutti_fault_point_name(point);
        ASSERT_EQ(1U, point_facts().count(name)) << name;
        names.insert(name);
        const PointFacts &facts = point_facts().at(name);
        for (int kind = 0; kind < TUTTI_FAULT_KIND_COUNT; kind++) {
            const char *kind_name = tutti_fault_kind_name(static_cast<tutti_fault_kind>(kind));
            EXPECT_EQ(has_word(facts.actions, kind_name),
                      (tutti_fault_point_actions(point) >> kind & 1) != 0)
                << name << " " << kind_name;
        }
        for (int key = 0; key < TUTTI_FAULT_KEY_COUNT; key++) {
            const char *key_name = tutti_fault_key_name(static_cast<tutti_fault_key>(key));
            EXPECT_EQ(has_word(facts.keys, key_name),
                      (tutti_fault_point_keys(point) >> key & 1) != 0)
                << name << " " << key_name;
        }
    }
    EXPECT_EQ(size_t{TUTTI_FAULT_POINT_COUNT}, names.size());
}

TEST(FaultPlan, ValuesOutsideOfTheListsAreUnknownAndTakeNothing) {
    EXPECT_STREQ("unknown", tutti_fault_point_name(TUTTI_FAULT_POINT_COUNT));
    EXPECT_STREQ("unknown", tutti_fault_kind_name(TUTTI_FAULT_KIND_COUNT));
    EXPECT_STREQ("unknown", tutti_fault_key_name(TUTTI_FAULT_KEY_COUNT));
    EXPECT_EQ(0U, tutti_fault_point_actions(TUTTI_FAULT_POINT_COUNT));
    EXPECT_EQ(0U, tutti_fault_point_keys(TUTTI_FAULT_POINT_COUNT));
}

TEST(FaultPlan, ArgumentsReachTheAction) {
    EXPECT_EQ(5000000, action_of(plan_of("sync=delay(5ms)")).delay_ns);
    EXPECT_EQ(0, action_of(plan_of("sync=delay(0s)")).delay_ns);
    EXPECT_EQ(TUTTI_DURATION_NS_MAX, action_of(plan_of("sync=delay(876000h)")).delay_ns);
    EXPECT_EQ(7U, action_of(plan_of("send=corrupt(7)")).bits);
    EXPECT_EQ(TUTTI_TIMED_OUT, action_of(plan_of("send=fail(timed_out)")).status);
    EXPECT_EQ(2500000U, action_of(plan_of("send=slow(2.5)")).factor_millionths);
    EXPECT_EQ(1000000U, action_of(plan_of("send=slow(1)")).factor_millionths);
    EXPECT_EQ(1000000000000U, action_of(plan_of("send=slow(1000000)")).factor_millionths);
    EXPECT_EQ(TUTTI_KILLED, action_of(plan_of("send=kill")).status);
    EXPECT_EQ(TUTTI_OK, action_of(plan_of("send=hang")).status);
    EXPECT_EQ(nullptr, action_of(plan_of("send=hang")).reason);
}

TEST(FaultPlan, ArgumentsThatCanBeLeftOutHaveAMeaning) {
    EXPECT_EQ("mint=fail(system)", canonical("mint=fail"));
    EXPECT_EQ("mint=refuse(fault plan)", canonical("mint=refuse"));
    EXPECT_EQ("send=corrupt(1)", canonical("send=corrupt"));
}

TEST(FaultPlan, EveryStatusThatIsAFailureCanBeFailedWith) {
#define CHECK_STATUS(name, value, text, description)                                               \
    if (TUTTI_##name != TUTTI_OK && TUTTI_##name != TUTTI_IN_PROGRESS) {                           \
        EXPECT_EQ(TUTTI_##name, action_of(plan_of("join=fail(" text ")")).status);                 \
    }
    TUTTI_STATUS_LIST(CHECK_STATUS)
#undef CHECK_STATUS
    EXPECT_EQ("faults:1:11: \"ok\" is no failure", refusal_of("join=fail(ok)"));
    EXPECT_EQ("faults:1:11: \"in_progress\" is no failure", refusal_of("join=fail(in_progress)"));
}

TEST(FaultPlan, ReasonsAreAnyTextWhoseParenthesesBalance) {
    for (const char *reason : {"busy", "no memory (again)", "a; b -> c # d = [e] \"f\" 5%",
                               "((()))", "n\xC3\xB6, \xE2\x82\xAC", "two  blanks\tand a tab"}) {
        const std::string rule = std::string("join=refuse(") + reason + ")";
        EXPECT_STREQ(reason, action_of(plan_of(rule)).reason);
        EXPECT_EQ(rule, canonical(rule));
    }
    EXPECT_STREQ("busy", action_of(plan_of("join=refuse( \t busy  ) ; ")).reason);
}

TEST(FaultPlan, RangesAndStars) {
    const Plan plan = plan_of("send[rank = 1 - 3, peer=*, seq=5-9223372036854775807, group=*]=off");
    const tutti_fault_selector *selector = tutti_fault_rule_selector(plan.get(), 0);
    ASSERT_NE(nullptr, selector);
    EXPECT_EQ(1U << TUTTI_FAULT_KEY_RANK | 1U << TUTTI_FAULT_KEY_SEQ, selector->keys);
    EXPECT_EQ(1, selector->rank_first);
    EXPECT_EQ(3, selector->rank_last);
    EXPECT_EQ(5U, selector->seq_first);
    EXPECT_EQ(uint64_t{INT64_MAX}, selector->seq_last);
    EXPECT_EQ("send=off", canonical("send[rank=*,group=*,seq=*,stream=*,peer=*]=off"));
    EXPECT_EQ("send[rank=4]=off", canonical("send[rank=4-4]=off"));
    EXPECT_EQ("send[rank=1048575]=off", canonical("send[rank=0001048575]=off"));
}

TEST(FaultPlan, NamesAreFreeButForWhatTheGrammarNeeds) {
    for (const char *name : {"world", "dp-0", "tp/1:x.y", "7", "a->b",
                             "gr\xC3\xBC\xC3\x9F"
                             "e",
                             "!?'&|{}<>"}) {
        const std::string rule = std::string("join[group=") + name + "]=kill";
        const Plan plan = plan_of(rule);
        EXPECT_STREQ(name, tutti_fault_rule_selector(plan.get(), 0)->group);
        EXPECT_EQ(rule, canonical(plan.get()));
    }
}

TEST(FaultPlan, ReductionsHaveTheNamesOfTheContract) {
    for (int op = 0; op < TUTTI_REDUCE_OP_COUNT; op++) {
        const std::string name = tutti_reduce_op_name(static_cast<tutti_reduce_op>(op));
        EXPECT_EQ("reduce[op=" + name + "]=drop", canonical("reduce[op=" + name + "]=drop"));
    }
    EXPECT_EQ("reduce[op=mean]=drop", canonical("reduce[op=avg]=drop"));
}

TEST(FaultPlan, BlanksAreFreeBetweenTokens) {
    const std::string dense = "send[rank=1-3,stream=s1]=12.5%2*refuse(busy)->delay(5ms)";
    EXPECT_EQ(dense, canonical(dense));
    EXPECT_EQ(dense,
              canonical(" \tsend [ rank = 1 - 3 , stream = s1 ] = 12.5 % 2 * refuse ( busy ) "
                        "-> delay ( 5 ms ) \r"));
}

TEST(FaultPlan, RulesAreSeparatedBySemicolonsAndLines) {
    const std::string two = "join=kill; mint=hang";
    EXPECT_EQ(two, canonical("join=kill;mint=hang"));
    EXPECT_EQ(two, canonical("join=kill\nmint=hang"));
    EXPECT_EQ(two, canonical("\r\njoin=kill ;\r\n;; mint=hang;\r\n"));
    EXPECT_EQ(two, canonical("# first\njoin=kill # it dies; mint=kill\n mint=hang# end"));
}

TEST(FaultPlan, ProbabilityAndCountComeInAnyOrder) {
    EXPECT_EQ("join=50%3*kill", canonical("join=3*50%kill"));
    EXPECT_EQ("join=kill", canonical("join=100%kill"));
    EXPECT_EQ("join=0%kill", canonical("join=0.000000%kill"));
    EXPECT_EQ("join=0.000001%kill", canonical("join=0.000001%kill"));
    EXPECT_EQ("join=99.999999%1000000000*kill", canonical("join=99.999999%1000000000*kill"));
    EXPECT_EQ("join=33.3%kill", canonical("join=033.3000000000000000000000000000%kill"));
}

TEST(FaultPlan, RulesKnowTheirTextAndPlace) {
    const std::string text =
        " join = kill ;mint=hang # x\n\n\tsend[group=\xC3\xA4] = drop  ; send=off";
    const tutti_fault_source source = {"job.tut", 7, 20};
    tutti_fault_plan *plan = nullptr;
    ASSERT_EQ(TUTTI_OK, tutti_fault_plan_parse(text.data(), text.size(), &source, &plan, nullptr));
    const Plan owner(plan, tutti_fault_plan_destroy);
    const struct {
        const char *text;
        int line;
        int column;
    } expected[] = {
        {"join = kill", 7, 21},
        {"mint=hang", 7, 34},
        {"send[group=\xC3\xA4] = drop", 9, 2},
        {"send=off", 9, 26},
    };
    ASSERT_EQ(4U, tutti_fault_rule_count(plan));
    for (uint32_t rule = 0; rule < 4; rule++) {
        const tutti_fault_text place = tutti_fault_rule_text(plan, rule);
        EXPECT_EQ(expected[rule].text, std::string(place.text, place.text_bytes));
        EXPECT_EQ(expected[rule].text, text.substr(place.text_offset, place.text_bytes));
        EXPECT_EQ(expected[rule].line, place.line);
        EXPECT_EQ(expected[rule].column, place.column);
    }
}

TEST(FaultPlan, RulesThatDoNotExistHaveNothing) {
    const Plan plan = plan_of("join=kill");
    for (const tutti_fault_plan *asked : {static_cast<const tutti_fault_plan *>(plan.get()),
                                          static_cast<const tutti_fault_plan *>(nullptr)}) {
        EXPECT_EQ(TUTTI_FAULT_POINT_COUNT, tutti_fault_rule_point(asked, 1));
        EXPECT_EQ(nullptr, tutti_fault_rule_selector(asked, 1));
        EXPECT_EQ(0U, tutti_fault_rule_term_count(asked, 1));
        EXPECT_EQ(nullptr, tutti_fault_rule_term(asked, 1, 0));
        EXPECT_EQ(0U, tutti_fault_rule_text(asked, 1).text_bytes);
        EXPECT_EQ(0U, tutti_fault_rule_format(asked, 1, nullptr, 0));
    }
    EXPECT_EQ(nullptr, tutti_fault_rule_term(plan.get(), 0, 1));
    EXPECT_EQ(0U, tutti_fault_rule_count(nullptr));
    EXPECT_EQ(0U, tutti_fault_plan_format(nullptr, nullptr, 0));
    tutti_fault_plan_destroy(nullptr);
}

TEST(FaultPlan, ThePlanOutlivesItsText) {
    std::string text = "join[group=pair]=refuse(busy)";
    const Plan plan = plan_of(text);
    std::memset(&text[0], 'x', text.size());
    EXPECT_EQ("join[group=pair]=refuse(busy)", canonical(plan.get()));
    EXPECT_EQ("join[group=pair]=refuse(busy)",
              std::string(tutti_fault_rule_text(plan.get(), 0).text,
                          tutti_fault_rule_text(plan.get(), 0).text_bytes));
}

} // namespace
