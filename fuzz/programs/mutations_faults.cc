// Faults that a program does not survive.

#include "fuzz/programs/mutator.h"

namespace tutti_test {

// Lets a fault act at one of a rank's calls of a kind; of those only that others wait for, if so
// said. Rules that come first are asked first.
bool Mutator::add_fault(Statement::Kind kind, const std::string &action, bool awaited) {
    static const char *const points[] = {"all_reduce", "send", "recv"};
    const auto site = pick_site([&](const Statement &statement) { return statement.kind == kind; });
    if (!site) return false;
    std::vector<int> places;
    int calls = 0;
    for (const Statement *statement : run_order(program_, site->rank)) {
        if (statement->kind != kind) continue;
        if (!awaited || is_awaited(program_, site->rank, *statement)) places.push_back(calls);
        calls++;
    }
    if (places.empty()) return false;
    const int place = dice_.pick(places);
    const std::string rule =
        "fault " + std::string(points[kind]) + "[rank=" + std::to_string(site->rank) +
        "]=" + (place > 0 ? std::to_string(place) + "*off->" : "") + "1*" + action;
    program_.head.insert(program_.head.begin(), rule);
    bug(rule);
    endings_.push_back({TUTTI_VERDICT_OK, {site->rank}, false});
    return true;
}

bool Mutator::killed() {
    if (!add_fault(static_cast<Statement::Kind>(dice_.below(3)), "kill", false)) return false;
    endings_.back().verdict = TUTTI_VERDICT_KILLED;
    return true;
}

bool Mutator::hanging() {
    if (!add_fault(static_cast<Statement::Kind>(dice_.below(3)), "hang", false)) return false;
    endings_.back().verdict = TUTTI_VERDICT_MISSING;
    return true;
}

bool Mutator::refused() {
    const std::string action = dice_.chance(50) ? "refuse(busy)" : "fail(remote)";
    if (!add_fault(static_cast<Statement::Kind>(dice_.below(3)), action, false)) return false;
    endings_.back().verdict = TUTTI_VERDICT_REFUSED;
    return true;
}

bool Mutator::refused_join() {
    const auto site =
        pick_site([](const Statement &statement) { return statement.communicates(); });
    if (!site) return false;
    const std::string rule = "fault " + std::string(dice_.chance(70) ? "join" : "mint") +
                             "[rank=" + std::to_string(site->rank) + "]=1*refuse(busy)";
    program_.head.insert(program_.head.begin(), rule);
    bug(rule);
    may_end(TUTTI_VERDICT_REFUSED, {site->rank});
    return true;
}

bool Mutator::too_late() {
    if (!add_fault(Statement::kAllReduce, "delay(40h)", true)) return false;
    program_.head.push_back("timeout 1h");
    endings_.back().verdict = TUTTI_VERDICT_TIMEOUT;
    return true;
}

} // namespace tutti_test
