#include "fuzz/programs/mutation_sites.h"

#include "tests/harness/oracle.h"

namespace tutti_test {

namespace {

using Statements = std::vector<Statement>;

Statements &body_at(Program &program, const Site &site) {
    Statements *body = &program.ranks[static_cast<size_t>(site.rank)];
    for (size_t depth = 0; depth + 1 < site.path.size(); depth++)
        body = &(*body)[site.path[depth]].body;
    return *body;
}

bool is_block(const Statement &statement) {
    return statement.kind == Statement::kGroupCall || statement.kind == Statement::kRepeat;
}

bool is_run(const Statement &statement) {
    return statement.kind != Statement::kRepeat || statement.rounds > 0;
}

void collect_sites(const Statements &body, const StatementTest &test, Site at,
                   std::vector<Site> &found) {
    at.path.push_back(0);
    for (size_t i = 0; i < body.size(); i++) {
        at.path.back() = i;
        if (!is_run(body[i])) continue;
        if (test(body[i])) found.push_back(at);
        if (is_block(body[i])) collect_sites(body[i].body, test, at, found);
    }
}

void collect_run(const Statements &body, std::vector<const Statement *> &order) {
    for (const Statement &statement : body) {
        const int rounds = statement.kind == Statement::kRepeat ? statement.rounds : 1;
        if (!is_block(statement)) order.push_back(&statement);
        for (int round = 0; round < rounds; round++)
            collect_run(statement.body, order);
    }
}

const BufferShape &shape_of(const Program &program, const Slice &slice) {
    return program.buffers[static_cast<size_t>(slice.buffer)];
}

const Slice &moved_slice(const Statement &statement) {
    return statement.kind == Statement::kRecv ? statement.destination : statement.source;
}

bool ends_group(const Statement &statement, const std::string &group) {
    return statement.text == "leave " + group || statement.text == "abort " + group;
}

} // namespace

Statement &statement_at(Program &program, const Site &site) {
    return body_at(program, site)[site.path.back()];
}

void remove_statement(Program &program, const Site &site) {
    Statements &body = body_at(program, site);
    body.erase(body.begin() + static_cast<long>(site.path.back()));
}

std::vector<Site> sites_of(const Program &program, int rank, const StatementTest &test) {
    std::vector<Site> found;
    collect_sites(program.ranks[static_cast<size_t>(rank)], test, {rank, {}}, found);
    return found;
}

std::vector<Site> sites_of(const Program &program, const StatementTest &test) {
    std::vector<Site> found;
    for (int rank = 0; rank < program.rank_count; rank++)
        for (const Site &site : sites_of(program, rank, test))
            found.push_back(site);
    return found;
}

std::vector<const Statement *> run_order(const Program &program, int rank) {
    std::vector<const Statement *> order;
    collect_run(program.ranks[static_cast<size_t>(rank)], order);
    return order;
}

Signatures collectives_of(const Program &program, int rank, int group) {
    Signatures signatures;
    for (const Statement *statement : run_order(program, rank)) {
        if (statement->kind != Statement::kAllReduce || statement->group != group) continue;
        if (statement->source.count == 0) continue;
        signatures.push_back(tutti_element_type_name(shape_of(program, statement->source).type) +
                             std::string(" ") + std::to_string(statement->source.count) + " " +
                             tutti_reduce_op_name(statement->op));
    }
    return signatures;
}

Signatures transfers_of(const Program &program, int rank, int group, Statement::Kind kind,
                        int peer) {
    Signatures signatures;
    for (const Statement *statement : run_order(program, rank)) {
        if (statement->kind != kind || statement->group != group || statement->peer != peer)
            continue;
        const Slice &slice = moved_slice(*statement);
        signatures.push_back(std::to_string(oracle_element_bytes(shape_of(program, slice).type) *
                                            static_cast<size_t>(slice.count)));
    }
    return signatures;
}

std::optional<size_t> first_difference(const Signatures &a, const Signatures &b) {
    for (size_t i = 0; i < a.size() && i < b.size(); i++)
        if (a[i] != b[i]) return i;
    return std::nullopt;
}

int member_of(const Program &program, int group, int rank) {
    const std::vector<int> &members = program.groups[static_cast<size_t>(group)].members;
    for (size_t i = 0; i < members.size(); i++)
        if (members[i] == rank) return static_cast<int>(i);
    return -1;
}

size_t member_count(const Program &program, int group) {
    return program.groups[static_cast<size_t>(group)].members.size();
}

int element_count(const Statement &statement) {
    return statement.communicates() ? moved_slice(statement).count : 0;
}

bool is_awaited(const Program &program, int rank, const Statement &statement) {
    if (!statement.communicates()) return false;
    if (statement.kind == Statement::kAllReduce)
        return statement.source.count > 0 && member_count(program, statement.group) > 1;
    return member_of(program, statement.group, rank) != statement.peer;
}

size_t end_of(const Program &program, int rank) {
    const Statements &statements = program.ranks[static_cast<size_t>(rank)];
    const bool exits = !statements.empty() && statements.back().text == "exit";
    return statements.size() - (exits ? 1 : 0);
}

bool has_joined(const Program &program, int rank, size_t index, int group) {
    const std::string &name = program.groups[static_cast<size_t>(group)].name;
    for (const Site &site : sites_of(program, rank, [&](const Statement &statement) {
             return (statement.communicates() && statement.group == group) ||
                    statement.text == "join " + name || statement.text == "sync " + name;
         }))
        if (site.index() < index) return true;
    return false;
}

bool ends_membership(const Program &program, int rank, int group) {
    const std::string &name = program.groups[static_cast<size_t>(group)].name;
    return !sites_of(program, rank, [&](const Statement &statement) {
                return ends_group(statement, name);
            }).empty();
}

} // namespace tutti_test
