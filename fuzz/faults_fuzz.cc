// Fault plans: any text is read or refused with its place; what was read has a canonical text that
// gives the same plan again; and any state that it starts can be asked at every point.

#include <vector>

#include "fuzz/entry.h"
#include "fuzz/require.h"
#include "tutti/fault.h"

namespace {

using tutti_fuzz::require;

enum { kRankCount = 4, kAsks = 3 };

tutti_fault_plan *parse(const std::string &text, tutti_error *error) {
    const tutti_fault_source source = {"plan", 1, 1};
    tutti_fault_plan *plan = nullptr;
    const tutti_status status =
        tutti_fault_plan_parse(text.data(), text.size(), &source, &plan, error);
    require((status == TUTTI_OK) == (plan != nullptr), "a status and its plan disagree");
    return plan;
}

std::string format(const tutti_fault_plan *plan) {
    std::string text(tutti_fault_plan_format(plan, nullptr, 0) + 1, '\0');
    tutti_fault_plan_format(plan, text.data(), text.size());
    text.pop_back();
    return text;
}

void check_error(const tutti_error &error) {
    require(error.message[0] != '\0', "an error without words");
    if (error.status == TUTTI_SYNTAX)
        require(std::string(error.message).rfind("plan:", 0) == 0 && error.place.line >= 1,
                std::string("a syntax error without its place: ") + error.message);
}

void check_round_trip(const tutti_fault_plan *plan) {
    tutti_error error;
    const std::string text = format(plan);
    // Arguments that are written out may make a text longer than one may be.
    if (text.size() > TUTTI_FAULT_TEXT_BYTES_MAX) return;
    tutti_fault_plan *again = parse(text, &error);
    require(again != nullptr, "its own text cannot be read: " + text + "\n" + error.message);
    require(format(again) == text, "its text changes: " + text + "\n" + format(again));
    require(tutti_fault_rule_count(again) == tutti_fault_rule_count(plan), "rules are lost");
    tutti_fault_plan_destroy(again);
}

void check_rules(const tutti_fault_plan *plan) {
    for (uint32_t rule = 0; rule < tutti_fault_rule_count(plan); rule++) {
        const tutti_fault_point point = tutti_fault_rule_point(plan, rule);
        const uint32_t actions = tutti_fault_point_actions(point);
        require(point < TUTTI_FAULT_POINT_COUNT, "a rule has no point");
        require(tutti_fault_rule_text(plan, rule).text_bytes > 0, "a rule has no text");
        require(tutti_fault_rule_term_count(plan, rule) > 0, "a rule has no term");
        for (uint32_t i = 0; i < tutti_fault_rule_term_count(plan, rule); i++) {
            const tutti_fault_term *term = tutti_fault_rule_term(plan, rule, i);
            require((actions >> term->action.kind & 1) != 0, "a point has an action it cannot do");
            require(term->action.delay_ns >= 0, "a delay is negative");
        }
    }
}

void ask_everywhere(tutti_fault_state *state, std::vector<int> *kinds) {
    for (int i = 0; i < kAsks * TUTTI_FAULT_POINT_COUNT * kRankCount; i++) {
        tutti_fault_action action;
        tutti_fault_site site = tutti_fault_site_at(
            static_cast<tutti_fault_point>(i % TUTTI_FAULT_POINT_COUNT), i % kRankCount);
        site.enqueued = i % 2;
        site.peer = i % 3;
        site.seq = static_cast<uint64_t>(i);
        site.group = "world";
        site.op = i % 5 == 0 ? "sum" : nullptr;
        site.stream = "comm";
        const int acts = tutti_fault_decide(state, &site, &action);
        require((acts != 0) == (action.kind != TUTTI_FAULT_OFF), "nothing acts, or off does");
        kinds->push_back(action.kind);
    }
}

// The same seed gives the same decisions.
void check_state(const tutti_fault_plan *plan) {
    tutti_error error;
    tutti_fault_state *state = nullptr;
    std::vector<int> first, second;
    if (tutti_fault_state_create(plan, kRankCount, 7, &state, &error) != TUTTI_OK) {
        require(error.message[0] != '\0', "an error without words");
        return;
    }
    ask_everywhere(state, &first);
    tutti_fault_state_reset(state, 7);
    ask_everywhere(state, &second);
    require(first == second, "two runs with one seed decide differently");
    tutti_fault_state_destroy(state);
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tutti_error error;
    const std::string text(reinterpret_cast<const char *>(data), size);
    tutti_fault_plan *plan = parse(text, &error);
    if (plan == nullptr) {
        check_error(error);
        return 0;
    }
    check_rules(plan);
    check_round_trip(plan);
    check_state(plan);
    tutti_fault_plan_destroy(plan);
    return 0;
}
