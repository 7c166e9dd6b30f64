// Bugs in what a rank does with its own things: memberships, memory, values.

#include "fuzz/programs/mutator.h"

namespace tutti_test {

namespace {

enum { kElements = 4 }; // of buffers that are added

} // namespace

// --- Memberships ---

bool Mutator::exit_too_early() {
    const auto site = pick_awaited_site();
    if (!site) return false;
    describe(*site, "is never reached, the rank exits before it");
    auto &statements = program_.ranks[static_cast<size_t>(site->rank)];
    const size_t left = static_cast<size_t>(dice_.between(0, static_cast<int>(site->index())));
    statements.resize(left);
    statements.push_back(other_statement("exit"));
    may_end(TUTTI_VERDICT_MISSING, {site->rank});
    return true;
}

bool Mutator::leave_too_early() {
    const auto site = pick_site([](const Statement &statement) {
        return statement.communicates() && element_count(statement) > 0;
    });
    if (!site) return false;
    const int group = statement_at(program_, *site).group;
    if (!has_joined(program_, site->rank, site->index(), group)) return false;
    describe(*site, "comes after the group was left");
    const bool aborts = dice_.chance(30);
    insert(site->rank, site->index(), (aborts ? "abort " : "leave ") + group_name(group));
    if (aborts) insert(site->rank, site->index(), "sync");
    may_end(TUTTI_VERDICT_MISUSE, {site->rank});
    return true;
}

bool Mutator::leave_twice() {
    const auto site = pick_site([](const Statement &statement) {
        return statement.communicates() && element_count(statement) > 0;
    });
    if (!site) return false;
    const int group = statement_at(program_, *site).group;
    bug("rank " + std::to_string(site->rank) + " leaves " + group_name(group) + " twice");
    if (!ends_membership(program_, site->rank, group))
        append(site->rank, "leave " + group_name(group));
    append(site->rank, "leave " + group_name(group));
    may_end(TUTTI_VERDICT_MISUSE, {site->rank});
    return true;
}

// Another member comes an hour later, so that the group cannot be ready.
bool Mutator::use_before_ready() {
    const auto site =
        pick_site([](const Statement &statement) { return statement.text.rfind("join ", 0) == 0; });
    if (!site) return false;
    const std::string text = statement_at(program_, *site).text;
    const std::string name = text.substr(5, text.find(' ', 5) - 5);
    int group = 0;
    while (group_name(group) != name)
        group++;
    const int count = static_cast<int>(member_count(program_, group));
    if (count < 2) return false;
    const int other =
        (member_of(program_, group, site->rank) + dice_.between(1, count - 1)) % count;
    describe(*site, "is used before it is ready");
    program_.head.insert(program_.head.begin(),
                         "fault join[rank=" + std::to_string(member(group, other)) +
                             ",group=" + name + "]=delay(1h)");
    statement_at(program_, *site) = other_statement("join " + name + " nonblocking");
    insert(site->rank, site->index() + 1,
           all_reduce(add_buffer(TUTTI_F32, kElements), group, "comm"));
    insert(site->rank, site->index() + 2, "sync " + name);
    may_end(TUTTI_VERDICT_MISUSE, {site->rank});
    return true;
}

bool Mutator::stranger_to_the_group() {
    const int rank = dice_.below(program_.rank_count);
    std::vector<int> groups;
    for (int group = 1; group < static_cast<int>(program_.groups.size()); group++)
        if (member_of(program_, group, rank) < 0) groups.push_back(group);
    if (groups.empty()) return false;
    const int group = dice_.pick(groups);
    bug("rank " + std::to_string(rank) + " uses " + group_name(group) + " without being a member");
    append(rank, all_reduce(add_buffer(TUTTI_F32, kElements), group, "comm"));
    may_end(TUTTI_VERDICT_MISUSE, {rank});
    return true;
}

// --- Memory and values ---

bool Mutator::freed_memory_used() {
    const auto site = pick_site([](const Statement &statement) {
        return statement.communicates() && element_count(statement) > 0;
    });
    if (!site) return false;
    describe(*site, "uses memory that was freed before");
    const Statement &statement = statement_at(program_, *site);
    const int buffer =
        statement.kind == Statement::kRecv ? statement.destination.buffer : statement.source.buffer;
    insert(site->rank, site->index(), "free " + shape(buffer).name);
    insert(site->rank, site->index(), "sync");
    may_end(TUTTI_VERDICT_MISUSE, {site->rank});
    may_end(TUTTI_VERDICT_FREED, {site->rank});
    return true;
}

bool Mutator::wrong_expectation() {
    const auto site = pick_site(
        [](const Statement &statement) { return statement.text.rfind("expect ", 0) == 0; });
    if (!site) return false;
    describe(*site, "its last value is changed");
    std::string &text = statement_at(program_, *site).text;
    const size_t last = text.rfind(' ') + 1;
    text = text.substr(0, last) + (text.substr(last) == "7" ? "5" : "7");
    may_end(TUTTI_VERDICT_WRONG, {site->rank});
    return true;
}

// --- Races ---

bool Mutator::unordered_access() {
    const int rank = dice_.below(program_.rank_count);
    const std::string buffer = shape(add_buffer(TUTTI_F32, kElements)).name;
    const bool reads = dice_.chance(50);
    const size_t index =
        static_cast<size_t>(dice_.between(0, static_cast<int>(end_of(program_, rank))));
    bug("rank " + std::to_string(rank) + " touches " + buffer + " on two streams, unordered");
    insert(rank, index, "kernel " + std::string(reads ? "reads " : "writes ") + buffer + " on s2");
    insert(rank, index, "kernel writes " + buffer + " on s1 for 1ms");
    may_end(TUTTI_VERDICT_RACE, {rank});
    return true;
}

bool Mutator::host_access_too_early() {
    const int rank = dice_.below(program_.rank_count);
    const std::string buffer = shape(add_buffer(TUTTI_F32, kElements)).name;
    const bool reads = dice_.chance(50);
    const size_t index =
        static_cast<size_t>(dice_.between(0, static_cast<int>(end_of(program_, rank))));
    bug("rank " + std::to_string(rank) + " touches " + buffer + " while a kernel may still do so");
    insert(rank, index, std::string(reads ? "host reads " : "host writes ") + buffer);
    insert(rank, index, "kernel writes " + buffer + " on s1 for 1ms");
    may_end(TUTTI_VERDICT_RACE, {rank});
    return true;
}

} // namespace tutti_test
