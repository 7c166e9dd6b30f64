// What the tests of fault plans share: plans as text, and what fault.h says about points.
#ifndef TUTTI_TESTS_UNIT_FAULT_TEXT_H
#define TUTTI_TESTS_UNIT_FAULT_TEXT_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tutti/fault.h"
#include "gtest/gtest.h"

namespace fault_text {

using Plan = std::unique_ptr<tutti_fault_plan, void (*)(tutti_fault_plan *)>;

// The plan of a text, which must be right.
inline Plan plan_of(const std::string &text) {
    tutti_fault_plan *plan = nullptr;
    tutti_error error;
    EXPECT_EQ(TUTTI_OK, tutti_fault_plan_parse(text.data(), text.size(), nullptr, &plan, &error))
        << text << "\n"
        << error.message;
    EXPECT_EQ(TUTTI_OK, error.status);
    return Plan(plan, tutti_fault_plan_destroy);
}

// The whole message for a text, which must be wrong.
inline std::string message_for(const std::string &text,
                               const tutti_fault_source *source = nullptr) {
    tutti_fault_plan *plan = nullptr;
    tutti_error error;
    EXPECT_EQ(TUTTI_SYNTAX, tutti_fault_plan_parse(text.data(), text.size(), source, &plan, &error))
        << text;
    EXPECT_EQ(nullptr, plan);
    EXPECT_EQ(TUTTI_SYNTAX, error.status);
    tutti_fault_plan_destroy(plan);
    return error.message;
}

// The first line of the message for a text, which must be wrong.
inline std::string refusal_of(const std::string &text) {
    const std::string message = message_for(text);
    return message.substr(0, message.find('\n'));
}

inline std::string canonical(const tutti_fault_plan *plan) {
    std::string text(tutti_fault_plan_format(plan, nullptr, 0), '?');
    EXPECT_EQ(text.size(), tutti_fault_plan_format(plan, &text[0], text.size() + 1));
    return text;
}

inline std::string canonical(const std::string &text) {
    return canonical(plan_of(text).get());
}

// What fault.h says about points, said once more, in words.
struct PointFacts {
    const char *actions;
    const char *keys;
};

inline constexpr char call_actions[] = "off delay refuse hang kill fail";
inline constexpr char data_actions[] = "off delay refuse hang kill drop corrupt fail slow";
inline constexpr char barrier_actions[] = "off delay refuse hang kill drop fail slow";
inline constexpr char mark_actions[] = "off delay refuse hang kill drop fail";

inline const std::map<std::string, PointFacts> &point_facts() {
    static const std::map<std::string, PointFacts> facts = {
        {"mint", {call_actions, "rank group"}},
        {"join", {call_actions, "rank group"}},
        {"data_type", {call_actions, "rank"}},
        {"enqueue", {data_actions, "rank group op seq stream"}},
        {"all_reduce", {data_actions, "rank group op seq stream"}},
        {"broadcast", {data_actions, "rank group seq stream"}},
        {"reduce", {data_actions, "rank group op seq stream"}},
        {"all_gather", {data_actions, "rank group seq stream"}},
        {"reduce_scatter", {data_actions, "rank group op seq stream"}},
        {"all_to_all", {data_actions, "rank group seq stream"}},
        {"gather", {data_actions, "rank group seq stream"}},
        {"scatter", {data_actions, "rank group seq stream"}},
        {"barrier", {barrier_actions, "rank group seq stream"}},
        {"send", {data_actions, "rank group seq stream peer"}},
        {"recv", {data_actions, "rank group seq stream peer"}},
        {"leave", {call_actions, "rank group"}},
        {"abort", {call_actions, "rank group"}},
        {"split", {call_actions, "rank group"}},
        {"shrink", {call_actions, "rank group"}},
        {"sync", {call_actions, "rank stream"}},
        {"poll", {call_actions, "rank group stream"}},
        {"record", {mark_actions, "rank stream"}},
        {"wait", {mark_actions, "rank stream"}},
        {"copy", {data_actions, "rank stream"}},
        {"kernel", {data_actions, "rank stream"}},
        {"group", {call_actions, "rank"}},
        {"step", {"off delay refuse hang kill fail slow", "rank seq"}},
        {"alloc", {call_actions, "rank"}},
        {"stream", {call_actions, "rank stream"}},
        {"link", {"off delay hang drop corrupt fail slow", "rank group seq peer"}},
    };
    return facts;
}

inline bool has_word(const std::string &words, const std::string &word) {
    return (" " + words + " ").find(" " + word + " ") != std::string::npos;
}

// Numbers that look random, the same in every run.
class Numbers {
  public:
    explicit Numbers(uint64_t seed) : state_(seed) {}

    uint64_t below(uint64_t end) {
        state_ += 0x9E3779B97F4A7C15;
        uint64_t word = state_;
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9;
        word = (word ^ word >> 27) * 0x94D049BB133111EB;
        return (word ^ word >> 31) % end;
    }

    const std::string &one_of(const std::vector<std::string> &list) {
        return list[below(list.size())];
    }

  private:
    uint64_t state_;
};

} // namespace fault_text

#endif
