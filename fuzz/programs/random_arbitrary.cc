// Programs that may be wrong in any way that the language allows.

#include "fuzz/programs/random_program.h"
#include "tutti/fault.h"

namespace tutti_test {

namespace {

const std::vector<std::string> streams = {"comm", "compute", "s1", "s2"};
const std::vector<std::string> events = {"e", "f"};

class Arbitrary {
  public:
    explicit Arbitrary(const Dice &dice) : dice_(dice) {}

    ArbitraryProgram build();

  private:
    using Lines = std::vector<std::string>;

    void add_head();
    void add_groups();
    void add_buffers();
    void add_fault();
    void add_section();
    std::string fault_term(const std::string &point);
    std::string rank_list();

    Lines statement(int depth);
    Lines block(const std::string &start, int depth);
    std::string communication();
    std::string transfer();
    std::string membership();
    std::string waiting();
    std::string events_statement();
    std::string host_statement();
    std::string slice();
    std::string where();
    std::string on();
    std::string duration();
    std::string any_rank() {
        return std::to_string(dice_.below(rank_count_));
    }
    std::string any_group() {
        return dice_.pick(groups_);
    }

    Dice dice_;
    ArbitraryProgram program_;
    std::string text_;
    int rank_count_ = 1;
    int buffer_count_ = 1;
    bool timid_ = false; // nothing whose outcome depends on who comes first
    bool single_stream_ = false;
    Lines groups_;
};

// --- The head ---

void Arbitrary::add_groups() {
    groups_.push_back("world");
    for (int i = dice_.below(4); i > 0; i--) {
        std::vector<int> members;
        for (int rank = 0; rank < rank_count_; rank++)
            members.push_back(rank);
        dice_.shuffle(members);
        members.resize(static_cast<size_t>(dice_.between(1, rank_count_)));
        if (dice_.chance(5)) members.push_back(members[0]); // refused
        groups_.push_back("g" + std::to_string(i));
        text_ += "group " + groups_.back() + " =";
        for (const int member : members)
            text_ += " " + std::to_string(member);
        text_ += "\n";
    }
}

void Arbitrary::add_buffers() {
    static const Lines fills = {"zero", "rank", "iota", "unset", "1"};
    static const std::vector<int> counts = {0, 1, 3, 8, 8, 17, 1000};
    const int common = dice_.below(TUTTI_CARRIED_TYPE_COUNT);
    buffer_count_ = dice_.between(1, 4);
    for (int i = 0; i < buffer_count_; i++) {
        const int own = dice_.below(TUTTI_CARRIED_TYPE_COUNT);
        const auto type = static_cast<tutti_element_type>(dice_.chance(70) ? common : own);
        const bool carried = !dice_.chance(3);
        text_ += "buffer b" + std::to_string(i) + " " +
                 (carried ? tutti_element_type_name(type) : "bool") + " " +
                 std::to_string(dice_.pick(counts)) + " = " +
                 (carried ? dice_.pick(fills) : "zero") + "\n";
    }
}

bool is_readable(const std::string &plan) {
    tutti_fault_plan *read = nullptr;
    const tutti_status status =
        tutti_fault_plan_parse(plan.data(), plan.size(), nullptr, &read, nullptr);
    tutti_fault_plan_destroy(read);
    return status == TUTTI_OK;
}

// The term's action is one that the plan's reader takes at the point.
std::string Arbitrary::fault_term(const std::string &point) {
    static const Lines actions = {
        "off",          "delay(3ms)",   "delay(1ns)",          "delay(100000h)", "refuse(busy)",
        "fail(remote)", "fail(system)", "fail(out_of_memory)", "hang",           "drop",
        "drop",         "corrupt(3)",   "slow(2.5)",           "slow(1000)",     "kill"};
    std::string text;
    if (!timid_ && dice_.chance(20)) text += "50%";
    for (;;) {
        const std::string action = timid_ || !dice_.chance(20) ? dice_.pick(actions) : "kill";
        if (timid_ && action == "kill") continue;
        if (is_readable(point + "=" + action)) return text + action;
    }
}

void Arbitrary::add_fault() {
    static const Lines points = {"mint",   "join",  "data_type", "enqueue", "all_reduce", "send",
                                 "recv",   "leave", "abort",     "sync",    "poll",       "record",
                                 "wait",   "copy",  "kernel",    "group",   "step",       "alloc",
                                 "stream", "link",  "link"};
    std::string point = dice_.pick(points);
    // A group call that cannot be ended stays open, and joins inside of it do not wait.
    if (timid_ && (point == "group" || point == "step")) point = "enqueue";
    std::string rule = "fault " + point;
    if (dice_.chance(70)) rule += "[rank=" + any_rank() + "]";
    rule += "=";
    for (int i = dice_.below(3); i > 0; i--)
        rule += std::to_string(dice_.between(1, 3)) + "*" + fault_term(point) + "->";
    text_ += rule + fault_term(point) + "\n";
}

void Arbitrary::add_head() {
    rank_count_ = dice_.between(1, dice_.chance(80) ? 4 : 8);
    timid_ = dice_.chance(50);
    single_stream_ = dice_.chance(30);
    text_ = "ranks " + std::to_string(rank_count_) + "\n";
    add_groups();
    add_buffers();
    if (!timid_ && dice_.chance(40)) {
        static const Lines limits = {"1ns", "1ms", "5ms", "50ms", "1h", "876000h"};
        text_ += "timeout " + dice_.pick(limits) + "\n";
    }
    if ((!timid_ || single_stream_) && dice_.chance(40))
        text_ += "capacity " + std::to_string(dice_.between(1, 3)) + "\n";
    if (dice_.chance(25)) text_ += "first-use blocks\n";
    if (dice_.chance(20)) text_ += "tolerate group-order\n";
    if (rank_count_ > 1 && dice_.chance(5)) text_ += "device 1 = 0\n";
    for (int i = dice_.below(5) - 2; i > 0; i--)
        add_fault();
}

// --- Statements ---

std::string Arbitrary::slice() {
    const std::string name = "b" + std::to_string(dice_.below(buffer_count_));
    return name + (dice_.chance(15) ? "[0:0]" : "");
}

std::string Arbitrary::on() {
    return single_stream_ || dice_.chance(50) ? "" : " on " + dice_.pick(streams);
}

std::string Arbitrary::where() {
    const std::string group = any_group();
    return (group == "world" ? "" : " in " + group) + on();
}

std::string Arbitrary::duration() {
    static const Lines durations = {"0s", "1ns", "1us", "1ms", "3ms", "5ms", "60ms", "876000h"};
    return dice_.pick(durations);
}

std::string Arbitrary::transfer() {
    const bool sends = dice_.chance(50);
    return (sends ? "send " : "recv ") + slice() + (sends ? " to " : " from ") + any_rank() +
           where();
}

std::string Arbitrary::communication() {
    if (dice_.chance(40)) return transfer();
    static const Lines ops = {"sum", "mean", "prod", "min", "max"};
    const std::string op = dice_.chance(80) ? "sum" : dice_.pick(ops);
    return "all_reduce " + slice() + " " + op + where();
}

std::string Arbitrary::membership() {
    const std::string group = any_group();
    const int kind = dice_.below(10);
    if (kind < 4) return "join " + group;
    if (kind < 7) return "leave " + group;
    if (timid_) return "sync " + group;
    return kind < 9 ? "join " + group + " nonblocking" : "abort " + group;
}

std::string Arbitrary::waiting() {
    const std::string target = dice_.chance(60)   ? dice_.pick(streams)
                               : dice_.chance(50) ? dice_.pick(events)
                                                  : any_group();
    if (dice_.chance(30)) return "sync";
    return (timid_ || dice_.chance(60) ? "sync " : "poll ") + target;
}

std::string Arbitrary::events_statement() {
    return (dice_.chance(50) ? "record " : "wait ") + dice_.pick(events) + on();
}

std::string Arbitrary::host_statement() {
    const std::string buffer = "b" + std::to_string(dice_.below(buffer_count_));
    switch (dice_.below(7)) {
    case 0:
        return "sleep " + duration();
    case 1:
        return "host reads " + buffer;
    case 2:
        return "host writes " + buffer;
    case 3:
        return dice_.chance(30) ? "free " + buffer : "kernel for " + duration();
    case 4:
        return "expect " + buffer + " = zero";
    case 5:
        return dice_.chance(20) ? "exit" : "sync";
    default:
        return "kernel reads " + buffer + " writes " + slice() + on() + " for " + duration();
    }
}

Arbitrary::Lines Arbitrary::block(const std::string &start, int depth) {
    Lines lines = {start};
    for (int i = dice_.below(5); i > 0; i--)
        for (const std::string &line : statement(depth + 1))
            lines.push_back("  " + line);
    lines.push_back("end");
    return lines;
}

Arbitrary::Lines Arbitrary::statement(int depth) {
    const int kind = dice_.below(100);
    if (depth < 3 && kind < 10) return block("start", depth);
    if (depth < 3 && kind < 15) return block("repeat " + std::to_string(dice_.below(4)), depth);
    if (kind < 55) return {communication()};
    if (kind < 65) return {membership()};
    if (kind < 80) return {waiting()};
    if (kind < 88) return {events_statement()};
    return {host_statement()};
}

std::string Arbitrary::rank_list() {
    if (dice_.chance(50)) return "*";
    std::string list = any_rank();
    if (dice_.chance(30)) list += " " + any_rank();
    return list;
}

void Arbitrary::add_section() {
    text_ += "rank " + rank_list() + "\n";
    for (int i = dice_.between(1, 8); i > 0; i--)
        for (const std::string &line : statement(0))
            text_ += "  " + line + "\n";
}

ArbitraryProgram Arbitrary::build() {
    add_head();
    // Names that are first used by `sync` would be streams.
    text_ += "rank 0\n  repeat 0\n    record e\n    record f\n  end\n";
    for (int i = dice_.between(1, 5); i > 0; i--)
        add_section();
    program_.text = text_;
    program_.depends_on_schedule = !timid_;
    return program_;
}

} // namespace

ArbitraryProgram arbitrary_program(const Dice &dice) {
    return Arbitrary(dice).build();
}

} // namespace tutti_test
