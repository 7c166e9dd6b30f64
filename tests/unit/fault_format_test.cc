// The canonical text of fault plans: reading it again gives the same plan.
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "tests/unit/fault_text.h"
#include "tutti/fault.h"
#include "gtest/gtest.h"

namespace {

using namespace fault_text;

std::vector<std::string> words_of(const std::string &words) {
    std::vector<std::string> list;
    for (size_t start = 0; start < words.size();) {
        const size_t end = std::min(words.find(' ', start), words.size());
        list.push_back(words.substr(start, end - start));
        start = end + 1;
    }
    return list;
}

// A rule of the grammar, with blanks wherever they are allowed.
class Writer {
  public:
    explicit Writer(uint64_t seed) : numbers_(seed) {}

    std::string plan() {
        std::string text = blank();
        const uint64_t rules = numbers_.below(6);
        for (uint64_t i = 0; i < rules; i++) {
            text += rule() + numbers_.one_of({";", "\n", " ;; \n", "# so\n", "\t;"});
        }
        return text;
    }

  private:
    std::string blank() {
        return numbers_.one_of({"", "", "", " ", "\t", "  "});
    }

    std::string number(uint64_t end) {
        return std::to_string(numbers_.below(numbers_.below(2) == 0 ? 10 : end));
    }

    std::string decimal(uint64_t end, int places) {
        std::string text = number(end);
        const uint64_t digits = numbers_.below(static_cast<uint64_t>(places) + 1);
        for (uint64_t i = 0; i < digits; i++) {
            text += i == 0 ? "." : "";
            text += std::to_string(numbers_.below(10));
        }
        return text;
    }

    std::string value(const std::string &key) {
        if (numbers_.below(8) == 0) return "*";
        if (key == "op") return numbers_.one_of({"sum", "prod", "max", "min", "mean", "avg"});
        if (key == "group" || key == "stream") {
            return numbers_.one_of({"world", "s1", "dp-0",
                                    "gr\xC3\xBC"
                                    "n",
                                    "a/b"});
        }
        const uint64_t first = 1 + numbers_.below(1000);
        const std::string range =
            blank() + "-" + blank() + std::to_string(first + numbers_.below(9));
        return std::to_string(first) + (numbers_.below(2) == 0 ? range : "");
    }

    std::string argument(const std::string &action) {
        if (action == "delay") {
            static const std::vector<std::string> units = {"us", "ms", "s", "m", "min", "h"};
            return "(" + blank() + decimal(800000, 3) + blank() + numbers_.one_of(units) + blank() +
                   ")";
        }
        if (action == "slow")
            return "(" + std::to_string(1 + numbers_.below(9)) + "." + number(999999) + ")";
        if (numbers_.below(3) == 0) return "";
        if (action == "refuse")
            return "(" + blank() + numbers_.one_of({"busy", "a (b)", "x;y", "#"}) + ")";
        if (action == "corrupt") return "(" + std::to_string(1 + numbers_.below(1000)) + ")";
        if (action == "fail") return "(" + numbers_.one_of({"system", "remote", "timed_out"}) + ")";
        return "";
    }

    std::string term(const std::vector<std::string> &actions, bool counted) {
        std::string text = blank();
        const std::string count =
            std::to_string(1 + numbers_.below(1000)) + blank() + "*" + blank();
        const std::string chance = decimal(99, 6) + blank() + "%" + blank();
        const uint64_t shape = numbers_.below(4);
        if (shape == 1) text += chance;
        if (counted || shape == 2) text += count;
        if (shape == 3) text += chance;
        const std::string action = numbers_.one_of(actions);
        return text + action + blank() + argument(action) + blank();
    }

    std::string rule() {
        auto entry = point_facts().begin();
        std::advance(entry, static_cast<long>(numbers_.below(point_facts().size())));
        std::string text = entry->first + blank();
        std::string separator = "[";
        for (const std::string &key : words_of(entry->second.keys)) {
            if (numbers_.below(3) != 0) continue;
            text += separator + blank() + key + blank() + "=" + blank() + value(key) + blank();
            separator = ",";
        }
        text += separator == "," ? "]" : "";
        text += blank() + "=";
        const uint64_t terms = numbers_.below(4);
        for (uint64_t i = 0; i < terms; i++) {
            text += term(words_of(entry->second.actions), true) + "->";
        }
        return text + term(words_of(entry->second.actions), false);
    }

    Numbers numbers_;
};

bool same_text(const char *a, const char *b) {
    return a == nullptr || b == nullptr ? a == b : std::strcmp(a, b) == 0;
}

void expect_equal_selectors(const tutti_fault_selector &a, const tutti_fault_selector &b) {
    EXPECT_EQ(a.keys, b.keys);
    EXPECT_EQ(a.rank_first, b.rank_first);
    EXPECT_EQ(a.rank_last, b.rank_last);
    EXPECT_EQ(a.peer_first, b.peer_first);
    EXPECT_EQ(a.peer_last, b.peer_last);
    EXPECT_EQ(a.seq_first, b.seq_first);
    EXPECT_EQ(a.seq_last, b.seq_last);
    EXPECT_TRUE(same_text(a.group, b.group));
    EXPECT_TRUE(same_text(a.op, b.op));
    EXPECT_TRUE(same_text(a.stream, b.stream));
}

void expect_equal_terms(const tutti_fault_term &a, const tutti_fault_term &b) {
    EXPECT_EQ(a.probability, b.probability);
    EXPECT_EQ(a.times, b.times);
    EXPECT_EQ(a.action.kind, b.action.kind);
    EXPECT_EQ(a.action.rule, b.action.rule);
    EXPECT_EQ(a.action.status, b.action.status);
    EXPECT_EQ(a.action.bits, b.action.bits);
    EXPECT_EQ(a.action.delay_ns, b.action.delay_ns);
    EXPECT_EQ(a.action.factor_millionths, b.action.factor_millionths);
    EXPECT_TRUE(same_text(a.action.reason, b.action.reason));
}

void expect_equal_plans(const tutti_fault_plan *a, const tutti_fault_plan *b) {
    ASSERT_EQ(tutti_fault_rule_count(a), tutti_fault_rule_count(b));
    for (uint32_t rule = 0; rule < tutti_fault_rule_count(a); rule++) {
        EXPECT_EQ(tutti_fault_rule_point(a, rule), tutti_fault_rule_point(b, rule));
        expect_equal_selectors(*tutti_fault_rule_selector(a, rule),
                               *tutti_fault_rule_selector(b, rule));
        ASSERT_EQ(tutti_fault_rule_term_count(a, rule), tutti_fault_rule_term_count(b, rule));
        for (uint32_t term = 0; term < tutti_fault_rule_term_count(a, rule); term++) {
            expect_equal_terms(*tutti_fault_rule_term(a, rule, term),
                               *tutti_fault_rule_term(b, rule, term));
        }
    }
}

TEST(FaultPlanFormat, ReadingTheCanonicalTextGivesAnEqualPlan) {
    for (uint64_t seed = 0; seed < 3000; seed++) {
        const std::string text = Writer(seed).plan();
        const Plan plan = plan_of(text);
        const std::string formatted = canonical(plan.get());
        const Plan again = plan_of(formatted);
        expect_equal_plans(plan.get(), again.get());
        EXPECT_EQ(formatted, canonical(again.get()));
        if (HasFailure()) FAIL() << "seed " << seed << ": " << text;
    }
}

TEST(FaultPlanFormat, ShortBuffersGetTheBeginning) {
    const Plan plan = plan_of("join[rank=1]=2*refuse(busy)->off; mint=kill");
    const std::string whole = canonical(plan.get());
    for (size_t bytes = 0; bytes <= whole.size() + 1; bytes++) {
        std::vector<char> buffer(bytes, '?');
        EXPECT_EQ(whole.size(), tutti_fault_plan_format(plan.get(), buffer.data(), bytes));
        if (bytes > 0) {
            EXPECT_EQ(whole.substr(0, bytes - 1), std::string(buffer.data()));
        }
    }
}

TEST(FaultPlanFormat, ARuleCanBeWrittenAlone) {
    const Plan plan = plan_of("join=kill;send[peer=3]=drop");
    char text[64];
    EXPECT_EQ(17U, tutti_fault_rule_format(plan.get(), 1, text, sizeof(text)));
    EXPECT_STREQ("send[peer=3]=drop", text);
}

} // namespace
