#ifndef TUTTI_FUZZ_PROGRAMS_MUTATION_SITES_H
#define TUTTI_FUZZ_PROGRAMS_MUTATION_SITES_H

// Places in a program where a bug can be put, and what a rank's calls look like to its peers.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/programs/program_model.h"

namespace tutti_test {

// A statement of a rank.
struct Site {
    int rank = 0;
    std::vector<size_t> path; // index at top level, then in the bodies of blocks

    size_t index() const {
        return path[0];
    }
};

using StatementTest = std::function<bool(const Statement &)>;

Statement &statement_at(Program &program, const Site &site);
void remove_statement(Program &program, const Site &site);

// All statements that pass the test and are run, which those of `repeat 0` are not.
std::vector<Site> sites_of(const Program &program, const StatementTest &test);
std::vector<Site> sites_of(const Program &program, int rank, const StatementTest &test);

// What a rank runs, repeats being written out.
std::vector<const Statement *> run_order(const Program &program, int rank);

// What the members of a group compare, in the order of the calls: each of a rank's collectives that
// has elements; the transfers of a rank to or from a peer.
using Signatures = std::vector<std::string>;
Signatures collectives_of(const Program &program, int rank, int group);
Signatures transfers_of(const Program &program, int rank, int group, Statement::Kind kind,
                        int peer);

// Where two lists begin to differ although both go on; nothing if one is the beginning of the
// other.
std::optional<size_t> first_difference(const Signatures &a, const Signatures &b);

// A group's rank of a rank of the program; -1: no member.
int member_of(const Program &program, int group, int rank);
size_t member_count(const Program &program, int group);

// Elements that a statement moves at this rank.
int element_count(const Statement &statement);

// Whether others take part in it and wait for this part.
bool is_awaited(const Program &program, int rank, const Statement &statement);

// Where something can be added at the end of a rank's program: before its `exit`.
size_t end_of(const Program &program, int rank);

// Whether a rank is a member of the group for certain when it comes to a statement at top level;
// whether it ends its membership anywhere.
bool has_joined(const Program &program, int rank, size_t index, int group);
bool ends_membership(const Program &program, int rank, int group);

} // namespace tutti_test

#endif
