// Bugs in calls that do not fit those of the peers.

#include <algorithm>
#include <cstdint>

#include "fuzz/programs/mutator.h"

namespace tutti_test {

namespace {

enum { kElements = 4 }; // of buffers that are added

} // namespace

// --- Parts that do not agree ---

bool Mutator::wrong_count() {
    const auto site = pick_collective();
    if (!site) return false;
    describe(*site, "gets another count");
    Statement &statement = statement_at(program_, *site);
    const int most =
        std::min(shape(statement.source.buffer).count, shape(statement.destination.buffer).count);
    if (most < 2) return false;
    int count = dice_.between(1, most - 1);
    if (count >= statement.source.count) count++;
    statement.source = {statement.source.buffer, 0, count};
    statement.destination = {statement.destination.buffer, 0, count};
    may_end_in_mismatch(statement.group, site->rank);
    return true;
}

bool Mutator::wrong_op() {
    const auto site = pick_collective();
    if (!site) return false;
    describe(*site, "gets another reduction");
    Statement &statement = statement_at(program_, *site);
    const int shift = dice_.between(1, TUTTI_REDUCE_OP_COUNT - 1);
    statement.op = static_cast<tutti_reduce_op>((statement.op + shift) % TUTTI_REDUCE_OP_COUNT);
    may_end_in_mismatch(statement.group, site->rank);
    return true;
}

bool Mutator::wrong_type() {
    const auto site = pick_collective();
    if (!site) return false;
    describe(*site, "gets another type");
    Statement &statement = statement_at(program_, *site);
    const int count = statement.source.count;
    const int shift = dice_.between(1, TUTTI_CARRIED_TYPE_COUNT - 1);
    const int type = (shape(statement.source.buffer).type + shift) % TUTTI_CARRIED_TYPE_COUNT;
    const int buffer = add_buffer(static_cast<tutti_element_type>(type), count);
    statement.source = statement.destination = {buffer, 0, count};
    statement.in_place = true;
    may_end_in_mismatch(statement.group, site->rank);
    return true;
}

bool Mutator::wrong_transfer_count() {
    const auto site = pick_transfer();
    if (!site) return false;
    describe(*site, "gets another count");
    Statement &statement = statement_at(program_, *site);
    const bool sends = statement.kind == Statement::kSend;
    const int old_buffer = sends ? statement.source.buffer : statement.destination.buffer;
    const int count = element_count(statement);
    int changed = dice_.below(count + 3);
    if (changed >= count) changed++;
    const int buffer = add_buffer(shape(old_buffer).type, changed);
    (sends ? statement.source : statement.destination) = {buffer, 0, changed};
    may_end_in_size_mismatch(site->rank, member(statement.group, statement.peer));
    return true;
}

// --- Calls that are not there, or not in their place ---

bool Mutator::collective_left_out() {
    const auto site = pick_collective();
    if (!site) return false;
    describe(*site, "is left out");
    const int group = statement_at(program_, *site).group;
    const Signatures others = collectives_of(program_, site->rank, group);
    remove_statement(program_, *site);
    const Signatures mine = collectives_of(program_, site->rank, group);
    if (first_difference(others, mine))
        may_end_in_mismatch(group, site->rank);
    else
        may_end(TUTTI_VERDICT_MISSING, {site->rank});
    may_end_in_deadlock_with(site->rank);
    may_end(TUTTI_VERDICT_UNDEFINED, {site->rank}); // nothing else has written what it would have
    if (!has_joined(program_, site->rank, SIZE_MAX, group))
        may_end(TUTTI_VERDICT_MISUSE, {site->rank}); // it leaves what it has never joined
    return true;
}

bool Mutator::collectives_swapped() {
    const auto site = pick_collective();
    if (!site) return false;
    const int group = statement_at(program_, *site).group;
    const Signatures others = collectives_of(program_, site->rank, group);
    const auto sites = sites_of(program_, site->rank, [&](const Statement &statement) {
        return statement.kind == Statement::kAllReduce && statement.group == group &&
               statement.source.count > 0;
    });
    const Site &other = dice_.pick(sites);
    describe(*site,
             "changes places with `" + text_of(program_, statement_at(program_, other), 0) + "`");
    std::swap(statement_at(program_, *site), statement_at(program_, other));
    if (!first_difference(others, collectives_of(program_, site->rank, group))) return false;
    may_end_in_mismatch(group, site->rank);
    may_end_in_deadlock_with(site->rank);
    may_end(TUTTI_VERDICT_UNDEFINED, {site->rank}); // it may read what it has not got yet
    may_end(TUTTI_VERDICT_RACE, {site->rank});      // what kept it apart from others did not move
    return true;
}

bool Mutator::transfer_left_out() {
    const auto site = pick_transfer();
    if (!site) return false;
    describe(*site, "is left out");
    const Statement gone = statement_at(program_, *site);
    if (member_of(program_, gone.group, site->rank) == gone.peer)
        may_end(TUTTI_VERDICT_MISUSE, {site->rank}); // to itself, without the other half
    const Signatures peers = transfers_of(program_, site->rank, gone.group, gone.kind, gone.peer);
    remove_statement(program_, *site);
    const Signatures mine = transfers_of(program_, site->rank, gone.group, gone.kind, gone.peer);
    if (first_difference(peers, mine))
        may_end_in_size_mismatch(site->rank, member(gone.group, gone.peer));
    else
        may_end(TUTTI_VERDICT_MISSING, {site->rank});
    may_end_in_deadlock_with(site->rank);
    may_end(TUTTI_VERDICT_UNDEFINED, {site->rank}); // nothing else has written what it would have
    return true;
}

// Neither the old peer nor the new one gets what it should.
bool Mutator::peer_changed() {
    const auto site = pick_transfer();
    if (!site) return false;
    Statement &statement = statement_at(program_, *site);
    const int group = statement.group, count = static_cast<int>(member_count(program_, group));
    if (count < 2) return false;
    const int before = statement.peer, after = (before + dice_.between(1, count - 1)) % count;
    describe(*site, "gets peer " + std::to_string(after));
    const Signatures expected_before =
        transfers_of(program_, site->rank, group, statement.kind, before);
    const Signatures expected_after =
        transfers_of(program_, site->rank, group, statement.kind, after);
    statement.peer = after;
    if (first_difference(expected_before,
                         transfers_of(program_, site->rank, group, statement.kind, before)))
        may_end_in_size_mismatch(site->rank, member(group, before));
    if (first_difference(expected_after,
                         transfers_of(program_, site->rank, group, statement.kind, after)))
        may_end_in_size_mismatch(site->rank, member(group, after));
    const int self = member_of(program_, group, site->rank);
    if (self == before || self == after)
        may_end(TUTTI_VERDICT_MISUSE, {site->rank}); // to itself, without the other half
    may_end(TUTTI_VERDICT_MISSING, {site->rank});
    may_end(TUTTI_VERDICT_MISSING, {member(group, after)});
    may_end_in_deadlock_with(site->rank);
    return true;
}

bool Mutator::collective_too_many() {
    const auto site = pick_collective();
    if (!site) return false;
    const int group = statement_at(program_, *site).group;
    if (ends_membership(program_, site->rank, group)) return false;
    bug("rank " + std::to_string(site->rank) + " reduces once more in " + group_name(group));
    append(site->rank, all_reduce(add_buffer(TUTTI_F32, kElements), group, "comm"));
    std::vector<int32_t> others;
    for (size_t i = 0; i < member_count(program_, group); i++)
        if (member(group, static_cast<int>(i)) != site->rank)
            others.push_back(member(group, static_cast<int>(i)));
    may_end(TUTTI_VERDICT_MISSING, others);
    return true;
}

// --- Cycles ---

bool Mutator::send_cycle() {
    int ranks[2];
    if (!pick_pair(&ranks[0], &ranks[1])) return false;
    const int group = add_group(ranks[0], ranks[1]);
    const int buffer = add_buffer(TUTTI_F32, kElements);
    bug("two ranks send to each other before they receive");
    for (int i = 0; i < 2; i++) {
        append(ranks[i], transfer(Statement::kSend, buffer, group, 1 - i));
        append(ranks[i], transfer(Statement::kRecv, buffer, group, 1 - i));
    }
    may_end(TUTTI_VERDICT_DEADLOCK, {ranks[0], ranks[1]});
    return true;
}

bool Mutator::groups_in_two_orders() {
    int ranks[2];
    if (!pick_pair(&ranks[0], &ranks[1])) return false;
    const int groups[2] = {add_group(ranks[0], ranks[1]), add_group(ranks[1], ranks[0])};
    const int buffer = add_buffer(TUTTI_F32, kElements);
    const bool joined = dice_.chance(50);
    bug("two ranks use two groups in different orders");
    for (int i = 0; i < 2; i++) {
        for (int j = 0; joined && j < 2; j++)
            append(ranks[i], "join " + group_name(groups[j]));
        append(ranks[i], all_reduce(buffer, groups[i], "comm"));
        append(ranks[i], all_reduce(buffer, groups[1 - i], "comm"));
    }
    may_end(TUTTI_VERDICT_DEADLOCK, {ranks[0], ranks[1]});
    return true;
}

// On streams of their own the same two orders are right, unless a device runs one at a time.
bool Mutator::device_too_small() {
    int ranks[2];
    if (!pick_pair(&ranks[0], &ranks[1])) return false;
    const int groups[2] = {add_group(ranks[0], ranks[1]), add_group(ranks[1], ranks[0])};
    const int buffers[2] = {add_buffer(TUTTI_F32, kElements), add_buffer(TUTTI_F32, kElements)};
    const char *const streams[2] = {"s1", "s2"};
    bug("two ranks use two groups in different orders, on devices that run one at a time");
    auto &head = program_.head;
    head.erase(
        std::remove_if(head.begin(), head.end(),
                       [](const std::string &line) { return line.rfind("capacity", 0) == 0; }),
        head.end());
    head.push_back("capacity 1");
    for (int i = 0; i < 2; i++) {
        append(ranks[i], "sync");
        for (int j = 0; j < 2; j++)
            append(ranks[i], "join " + group_name(groups[j]));
        for (const int j : {i, 1 - i})
            append(ranks[i], all_reduce(buffers[j], groups[j], streams[j]));
    }
    may_end(TUTTI_VERDICT_DEADLOCK, {ranks[0], ranks[1]});
    return true;
}

} // namespace tutti_test
