#ifndef TUTTI_FUZZ_PROGRAMS_MUTATOR_H
#define TUTTI_FUZZ_PROGRAMS_MUTATOR_H

// Plants one bug in a correct program. For random_mutation.cc and mutations_*.cc only.

#include <string>
#include <vector>

#include "fuzz/programs/mutation_sites.h"
#include "fuzz/programs/random_program.h"

namespace tutti_test {

class Mutator {
  public:
    Mutator(const Program &program, uint64_t seed) : dice_(seed), program_(program) {}

    // Each plants a bug and says how the run may end; false: the program offers no place for it,
    // and is of no use any more.

    // Calls that do not fit those of the peers: mutations_calls.cc.
    bool wrong_count();
    bool wrong_op();
    bool wrong_type();
    bool wrong_transfer_count();
    bool collective_left_out();
    bool collectives_swapped();
    bool transfer_left_out();
    bool peer_changed();
    bool collective_too_many();
    bool send_cycle();
    bool groups_in_two_orders();
    bool device_too_small();

    // What a rank does with its own things: mutations_lifetimes.cc.
    bool exit_too_early();
    bool leave_too_early();
    bool leave_twice();
    bool use_before_ready();
    bool freed_memory_used();
    bool wrong_expectation();
    bool stranger_to_the_group();
    bool unordered_access();
    bool host_access_too_early();

    // Faults that the program does not survive: mutations_faults.cc.
    bool killed();
    bool hanging();
    bool refused();
    bool refused_join();
    bool too_late();

    // The program with its bug.
    MutatedProgram result() const;

  private:
    using Ending = MutatedProgram::Ending;

    void bug(const std::string &what) {
        bug_ = what;
    }
    void may_end(tutti_verdict verdict, std::vector<int32_t> culprits, bool more_allowed = false);
    // The parts of a collective, or the two halves of a transfer, do not agree.
    void may_end_in_mismatch(int group, int rank);
    void may_end_in_size_mismatch(int rank, int peer_rank);
    // A rank's calls are not where its peers expect them.
    void may_end_in_deadlock_with(int rank);

    std::optional<Site> pick_site(const StatementTest &test);
    std::optional<Site> pick_awaited_site();
    std::optional<Site> pick_collective();
    std::optional<Site> pick_transfer();
    // Two different ranks; false: there is only one.
    bool pick_pair(int *first, int *second);
    void describe(const Site &site, const std::string &what);

    int add_buffer(tutti_element_type type, int count);
    int add_group(int first, int second);
    void insert(int rank, size_t index, const Statement &statement);
    void insert(int rank, size_t index, const std::string &text) {
        insert(rank, index, other_statement(text));
    }
    void append(int rank, const Statement &statement) {
        insert(rank, end_of(program_, rank), statement);
    }
    void append(int rank, const std::string &text) {
        append(rank, other_statement(text));
    }
    Statement all_reduce(int buffer, int group, const std::string &stream) const;
    Statement transfer(Statement::Kind kind, int buffer, int group, int peer) const;
    bool add_fault(Statement::Kind kind, const std::string &action, bool awaited);

    const std::string &group_name(int group) const {
        return program_.groups[static_cast<size_t>(group)].name;
    }
    int member(int group, int index) const {
        return program_.groups[static_cast<size_t>(group)].members[static_cast<size_t>(index)];
    }
    const BufferShape &shape(int buffer) const {
        return program_.buffers[static_cast<size_t>(buffer)];
    }

    Dice dice_;
    Program program_;
    std::string bug_;
    std::vector<Ending> endings_;
};

} // namespace tutti_test

#endif
