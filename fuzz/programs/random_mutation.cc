// Correct programs with one bug in them: which bugs there are, and what they share.

#include <algorithm>

#include "fuzz/programs/mutator.h"

namespace tutti_test {

namespace {

CorrectOptions with_everything() {
    CorrectOptions options;
    options.rank_count_min = 2;
    return options;
}

// A call that is not where the peers expect it can meet another that looks the same: wrong values
// are then found before anything else is. Without `expect` nothing is.
CorrectOptions without_expects() {
    CorrectOptions options = with_everything();
    options.expects = false;
    return options;
}

CorrectOptions with_final_syncs() {
    CorrectOptions options = with_everything();
    options.final_syncs = true;
    return options;
}

CorrectOptions with_one_stream() {
    CorrectOptions options = with_everything();
    options.stream_count_max = 1;
    return options;
}

struct Mutation {
    bool (Mutator::*plant)();
    CorrectOptions (*options)();
};

const Mutation mutations[] = {
    {&Mutator::wrong_count, with_everything},
    {&Mutator::wrong_op, with_everything},
    {&Mutator::wrong_type, with_everything},
    {&Mutator::wrong_transfer_count, with_everything},
    {&Mutator::collective_left_out, without_expects},
    {&Mutator::collectives_swapped, without_expects},
    {&Mutator::transfer_left_out, without_expects},
    {&Mutator::peer_changed, without_expects},
    {&Mutator::collective_too_many, with_everything},
    {&Mutator::send_cycle, with_everything},
    {&Mutator::groups_in_two_orders, with_everything},
    {&Mutator::device_too_small, with_one_stream},
    {&Mutator::exit_too_early, with_everything},
    {&Mutator::leave_too_early, with_everything},
    {&Mutator::leave_twice, with_everything},
    {&Mutator::use_before_ready, with_everything},
    {&Mutator::freed_memory_used, with_everything},
    {&Mutator::wrong_expectation, with_everything},
    {&Mutator::stranger_to_the_group, with_everything},
    {&Mutator::killed, with_everything},
    {&Mutator::hanging, with_everything},
    {&Mutator::refused, with_everything},
    {&Mutator::refused_join, with_everything},
    {&Mutator::too_late, with_final_syncs},
    {&Mutator::unordered_access, with_everything},
    {&Mutator::host_access_too_early, with_everything},
};

enum { kTriesMax = 20 };

} // namespace

MutatedProgram mutated_program(const Dice &given) {
    Dice dice = given;
    for (int tries = 0; tries < kTriesMax; tries++) {
        const Mutation &mutation = mutations[dice.below(static_cast<int>(std::size(mutations)))];
        const uint64_t seed = dice.next();
        Mutator mutator(correct_model(dice, mutation.options()), seed);
        if ((mutator.*mutation.plant)()) return mutator.result();
    }
    MutatedProgram none;
    none.text = correct_program(dice).text;
    none.endings.emplace_back();
    return none;
}

bool MutatedProgram::may_end_as(const tutti_report *report) const {
    const std::vector<int32_t> found(report->culprits, report->culprits + report->culprit_count);
    return std::any_of(endings.begin(), endings.end(), [&](const Ending &ending) {
        if (ending.verdict != report->verdict) return false;
        if (!ending.more_allowed) return ending.culprits == found;
        return std::includes(found.begin(), found.end(), ending.culprits.begin(),
                             ending.culprits.end());
    });
}

// --- What mutations share ---

MutatedProgram Mutator::result() const {
    MutatedProgram made;
    Program program = program_;
    // Without a time limit, what is stuck is diagnosed as what it is.
    auto &head = program.head;
    head.erase(std::remove_if(head.begin(), head.end(),
                              [](const std::string &line) { return line == "timeout 50h"; }),
               head.end());
    made.text = tutti_test::text_of(program);
    made.bug = bug_;
    made.endings = endings_;
    return made;
}

void Mutator::may_end(tutti_verdict verdict, std::vector<int32_t> culprits, bool more_allowed) {
    std::sort(culprits.begin(), culprits.end());
    culprits.erase(std::unique(culprits.begin(), culprits.end()), culprits.end());
    endings_.push_back({verdict, culprits, more_allowed});
}

// The majority is right; of two members, the first.
void Mutator::may_end_in_mismatch(int group, int rank) {
    const bool two = member_count(program_, group) == 2;
    may_end(TUTTI_VERDICT_MISMATCH, {two ? member(group, 1) : rank});
}

void Mutator::may_end_in_size_mismatch(int rank, int peer_rank) {
    may_end(TUTTI_VERDICT_MISMATCH, {std::max(rank, peer_rank)});
}

// Whoever waits for a call that comes at the wrong place may be waited for by it.
void Mutator::may_end_in_deadlock_with(int rank) {
    may_end(TUTTI_VERDICT_DEADLOCK, {rank}, true);
}

std::optional<Site> Mutator::pick_site(const StatementTest &test) {
    const std::vector<Site> sites = sites_of(program_, test);
    if (sites.empty()) return std::nullopt;
    return dice_.pick(sites);
}

std::optional<Site> Mutator::pick_collective() {
    return pick_site([&](const Statement &statement) {
        return statement.kind == Statement::kAllReduce && statement.source.count > 0 &&
               member_count(program_, statement.group) > 1;
    });
}

std::optional<Site> Mutator::pick_transfer() {
    return pick_site([](const Statement &statement) {
        return statement.kind == Statement::kSend || statement.kind == Statement::kRecv;
    });
}

std::optional<Site> Mutator::pick_awaited_site() {
    std::vector<Site> found;
    for (int rank = 0; rank < program_.rank_count; rank++)
        for (const Site &site : sites_of(program_, rank, [&](const Statement &statement) {
                 return is_awaited(program_, rank, statement);
             }))
            found.push_back(site);
    if (found.empty()) return std::nullopt;
    return dice_.pick(found);
}

bool Mutator::pick_pair(int *first, int *second) {
    if (program_.rank_count < 2) return false;
    *first = dice_.below(program_.rank_count);
    *second = (*first + dice_.between(1, program_.rank_count - 1)) % program_.rank_count;
    return true;
}

void Mutator::describe(const Site &site, const std::string &what) {
    std::string text = text_of(program_, statement_at(program_, site), 0);
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    bug("rank " + std::to_string(site.rank) + ", `" + text + "`: " + what);
}

// A buffer that nothing else uses.
int Mutator::add_buffer(tutti_element_type type, int count) {
    const size_t index = program_.buffers.size();
    program_.buffers.push_back({"m" + std::to_string(index), type, count});
    program_.fills.push_back({""});
    return static_cast<int>(index);
}

int Mutator::add_group(int first, int second) {
    const size_t index = program_.groups.size();
    program_.groups.push_back({"n" + std::to_string(index), {first, second}});
    return static_cast<int>(index);
}

void Mutator::insert(int rank, size_t index, const Statement &statement) {
    auto &statements = program_.ranks[static_cast<size_t>(rank)];
    statements.insert(statements.begin() + static_cast<long>(index), statement);
}

Statement Mutator::all_reduce(int buffer, int group, const std::string &stream) const {
    Statement statement;
    statement.kind = Statement::kAllReduce;
    statement.group = group;
    statement.source = statement.destination = {buffer, 0, shape(buffer).count};
    statement.in_place = true;
    statement.stream = stream;
    return statement;
}

Statement Mutator::transfer(Statement::Kind kind, int buffer, int group, int peer) const {
    Statement statement;
    statement.kind = kind;
    statement.group = group;
    statement.source = statement.destination = {buffer, 0, shape(buffer).count};
    statement.peer = peer;
    statement.stream = "comm";
    return statement;
}

} // namespace tutti_test
