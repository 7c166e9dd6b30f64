// Every fault point with every action that it takes: each pair is made to act in a program that
// passes every point, and must do what docs/faults.md says. At the end the table of pairs that
// acted is compared with the library's own tables: a pair that no test has made act fails.

#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/rehearsal_support.h"
#include "tutti/fault.h"
#include "tutti/operations.h"
#include "gtest/gtest.h"

namespace {

constexpr int32_t kRanks = 3;
constexpr int64_t kMillisecond = 1000000;
constexpr size_t kCount = 64;

// Points that no program can pass yet, and why. Reviewed: when the operation comes, the test below
// fails until the point is taken out here and gets its tests.
const std::set<tutti_fault_point> &points_without_operation() {
    static const std::set<tutti_fault_point> points = {
        TUTTI_FAULT_AT_BROADCAST,  TUTTI_FAULT_AT_REDUCE,         TUTTI_FAULT_AT_ALL_GATHER,
        TUTTI_FAULT_AT_ALL_TO_ALL, TUTTI_FAULT_AT_REDUCE_SCATTER, TUTTI_FAULT_AT_GATHER,
        TUTTI_FAULT_AT_SCATTER,    TUTTI_FAULT_AT_BARRIER,        TUTTI_FAULT_AT_SPLIT,
        TUTTI_FAULT_AT_SHRINK,
    };
    return points;
}

// The pairs that have acted.
std::set<std::pair<int, int>> &acted() {
    static std::set<std::pair<int, int>> pairs;
    return pairs;
}

// --- A program that passes every point ---

void add_one(void *data) {
    for (size_t i = 0; i < kCount; i++)
        static_cast<float *>(data)[i] += 1;
}

class Program {
  public:
    explicit Program(tutti_rank *self)
        : self_(self), rank_(tutti_rank_index(self)), device_(tutti_rank_device(self)),
          next_((rank_ + 1) % kRanks), previous_((rank_ + kRanks - 1) % kRanks) {}

    void run() {
        if (set_up() && reduce() && pass_on() && group_call() && marks()) tear_down();
    }

  private:
    // Tries a call once more when it was refused or failed.
    template <typename Call> bool attempt(Call call) {
        status_ = call();
        if (status_ == TUTTI_REFUSED || status_ == TUTTI_SYSTEM) status_ = call();
        return status_ == TUTTI_OK;
    }

    bool set_up() {
        return attempt([&] { return tutti_rank_sleep(self_, kMillisecond, nullptr); }) &&
               attempt([&] { return tutti_rank_join_world(self_, nullptr, &world_, nullptr); }) &&
               attempt([&] { return tutti_stream_create(device_, nullptr, &stream_, nullptr); }) &&
               attempt([&] { return tutti_stream_create(device_, nullptr, &other_, nullptr); }) &&
               attempt([&] { return tutti_event_create(device_, &event_, nullptr); }) &&
               attempt([&] {
                   return tutti_memory_allocate(device_, kCount * sizeof(float), &x_, nullptr);
               }) &&
               attempt([&] {
                   return tutti_data_type_of(device_, TUTTI_F32, x_.bytes, &f32_, &count_, nullptr);
               });
    }

    bool synchronize() {
        return attempt([&] { return tutti_stream_synchronize(stream_, nullptr); });
    }

    // What the buffer holds, on every element; the copy is the program's second or later one.
    bool check(float expected, const char *what) {
        std::array<float, kCount> values;
        if (!synchronize()) return false;
        std::memcpy(values.data(), x_.data, x_.bytes); // device memory is the host's here
        for (size_t i = 0; i < kCount; i++) {
            if (values[i] == expected) continue;
            tutti_rank_wrong(self_, "%s: element %zu is not %d", what, i,
                             static_cast<int>(expected));
            return true;
        }
        return true;
    }

    // 1, then 2 by the kernel, then the sum 6 of all ranks.
    bool reduce() {
        std::array<float, kCount> ones;
        ones.fill(1);
        if (!attempt(
                [&] { return tutti_copy_to_device(x_, ones.data(), x_.bytes, stream_, nullptr); }))
            return false;
        if (!attempt([&] {
                return tutti_host_function_enqueue(stream_, add_one, x_.data, &x_, 1, &x_, 1,
                                                   nullptr);
            }))
            return false;
        if (!check(2, "kernel")) return false;
        if (!attempt([&] {
                return tutti_all_reduce(world_, x_, x_, f32_, kCount, TUTTI_SUM, stream_, nullptr);
            }))
            return false;
        return check(2 * kRanks, "all_reduce");
    }

    bool send() {
        return attempt(
            [&] { return tutti_send(world_, x_, f32_, kCount, next_, stream_, nullptr); });
    }

    bool recv() {
        return attempt(
            [&] { return tutti_recv(world_, x_, f32_, kCount, previous_, stream_, nullptr); });
    }

    // Around the ring: rank 0 begins.
    bool pass_on() {
        if (rank_ == 0) return send() && recv() && check(2 * kRanks, "recv");
        return recv() && check(2 * kRanks, "recv") && send() && synchronize();
    }

    bool group_call() {
        tutti_driver *driver = tutti_rank_driver(self_);
        return attempt([&] { return tutti_group_start(driver, nullptr); }) && attempt([&] {
                   return tutti_all_reduce(world_, x_, x_, f32_, kCount, TUTTI_MAX, stream_,
                                           nullptr);
               }) &&
               attempt([&] { return tutti_group_end(driver, nullptr); }) &&
               check(2 * kRanks, "group");
    }

    bool marks() {
        int done = 0;
        return attempt([&] { return tutti_event_record(event_, stream_, nullptr); }) &&
               attempt([&] { return tutti_event_wait(event_, other_, nullptr); }) &&
               attempt([&] { return tutti_stream_query(other_, &done, nullptr); }) &&
               attempt([&] { return tutti_stream_synchronize(other_, nullptr); });
    }

    // Leaves, joins once more, and aborts that.
    void tear_down() {
        bool joined = attempt([&] { return tutti_leave(world_, nullptr); }) && attempt([&] {
                          return tutti_rank_join_world(self_, nullptr, &world_, nullptr);
                      });
        if (joined && attempt([&] { return tutti_comm_abort(world_, nullptr); })) {
            tutti_event_destroy(event_);
            tutti_stream_destroy(other_);
            tutti_stream_destroy(stream_);
            (void)attempt([&] { return tutti_memory_free(device_, x_, nullptr); });
        }
    }

    tutti_rank *self_;
    int32_t rank_;
    tutti_device *device_;
    int32_t next_, previous_;
    tutti_comm *world_ = nullptr;
    tutti_stream *stream_ = nullptr, *other_ = nullptr;
    tutti_event *event_ = nullptr;
    tutti_buffer x_ = {};
    tutti_data_type f32_ = {};
    size_t count_ = 0;
    tutti_status status_ = TUTTI_OK;
};

Report run(const std::string &faults) {
    tutti_rehearsal_options options = options_for(kRanks);
    options.faults = faults.c_str();
    options.seed = 11;
    return rehearse(options, [](tutti_rank *self) { Program(self).run(); });
}

// --- What each action must have done ---

const char *argument_of(tutti_fault_kind kind) {
    static const std::map<tutti_fault_kind, const char *> arguments = {
        {TUTTI_FAULT_DELAY, "delay(7ms)"},
        {TUTTI_FAULT_REFUSE, "refuse(busy)"},
        {TUTTI_FAULT_CORRUPT, "corrupt(3)"},
        {TUTTI_FAULT_SLOW, "slow(3)"},
    };
    const auto found = arguments.find(kind);
    return found != arguments.end() ? found->second : tutti_fault_kind_name(kind);
}

bool is_mark(tutti_fault_point point) {
    return point == TUTTI_FAULT_AT_RECORD || point == TUTTI_FAULT_AT_WAIT;
}

// Whether what is lost there is something that others wait for.
bool is_communication(tutti_fault_point point) {
    return point == TUTTI_FAULT_AT_ALL_REDUCE || point == TUTTI_FAULT_AT_SEND ||
           point == TUTTI_FAULT_AT_RECV || point == TUTTI_FAULT_AT_LINK;
}

void expect_blame(const Report &report, tutti_verdict verdict) {
    EXPECT_EQ(report->verdict, verdict) << text_of(report.get());
    EXPECT_EQ(culprits_of(report.get()), std::vector<int32_t>{1}) << text_of(report.get());
    EXPECT_NE(text_of(report.get()).find("fault plan, rule 1"), std::string::npos)
        << text_of(report.get());
}

// The program handles it: nothing but a note is left.
void expect_handled(const Report &report) {
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
    EXPECT_NE(text_of(report.get()).find("fault plan, rule 1"), std::string::npos)
        << text_of(report.get());
}

void expect_effect(const Report &report, tutti_fault_point point, tutti_fault_kind kind) {
    switch (kind) {
    case TUTTI_FAULT_DELAY:
        EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
        EXPECT_GE(report->virtual_ns, 7 * kMillisecond);
        break;
    case TUTTI_FAULT_SLOW:
        EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
        EXPECT_GT(report->virtual_ns, kMillisecond);
        break;
    case TUTTI_FAULT_FAIL:
        if (point == TUTTI_FAULT_AT_LINK)
            expect_blame(report, TUTTI_VERDICT_REFUSED);
        else
            expect_handled(report);
        break;
    case TUTTI_FAULT_REFUSE:
        expect_handled(report);
        break;
    case TUTTI_FAULT_HANG:
        expect_blame(report, TUTTI_VERDICT_MISSING);
        break;
    case TUTTI_FAULT_KILL:
        expect_blame(report, TUTTI_VERDICT_KILLED);
        break;
    case TUTTI_FAULT_DROP:
        if (is_mark(point))
            expect_handled(report);
        else
            expect_blame(report,
                         is_communication(point) ? TUTTI_VERDICT_MISSING : TUTTI_VERDICT_WRONG);
        break;
    case TUTTI_FAULT_CORRUPT:
        expect_blame(report, TUTTI_VERDICT_WRONG);
        break;
    default:
        ADD_FAILURE() << "no expectation for " << tutti_fault_kind_name(kind);
    }
}

class FaultPair : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(FaultPair, ActsAsDescribed) {
    const auto point = static_cast<tutti_fault_point>(GetParam().first);
    const auto kind = static_cast<tutti_fault_kind>(GetParam().second);
    const std::string times = kind == TUTTI_FAULT_SLOW ? "" : "1*";
    const std::string plan =
        std::string(tutti_fault_point_name(point)) + "[rank=1]=" + times + argument_of(kind);
    const Report report = run(plan);
    if (kind == TUTTI_FAULT_OFF) {
        EXPECT_EQ(report->trace_hash, run("")->trace_hash);
        EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
        acted().insert(GetParam());
        return;
    }
    expect_effect(report, point, kind);
    if (std::string(report->faults_unfired).empty())
        acted().insert(GetParam());
    else
        ADD_FAILURE() << plan << " did not act";
    EXPECT_EQ(report->trace_hash, run(plan)->trace_hash) << plan;
}

std::vector<std::pair<int, int>> declared_pairs() {
    std::vector<std::pair<int, int>> pairs;
    for (int point = 0; point < TUTTI_FAULT_POINT_COUNT; point++) {
        const auto at = static_cast<tutti_fault_point>(point);
        if (points_without_operation().count(at) != 0) continue;
        for (int kind = 0; kind < TUTTI_FAULT_KIND_COUNT; kind++)
            if ((tutti_fault_point_actions(at) >> kind & 1) != 0) pairs.emplace_back(point, kind);
    }
    return pairs;
}

std::string pair_name(const ::testing::TestParamInfo<std::pair<int, int>> &info) {
    return std::string(tutti_fault_point_name(static_cast<tutti_fault_point>(info.param.first))) +
           "_" + tutti_fault_kind_name(static_cast<tutti_fault_kind>(info.param.second));
}

INSTANTIATE_TEST_SUITE_P(AllOf, FaultPair, ::testing::ValuesIn(declared_pairs()), pair_name);

// --- What is left out, and that nothing else is ---

TEST(FaultCoverage, PointsAreLeftOutOnlyWhileTheirOperationIsMissing) {
    const Report report = rehearse(options_for(1), [](tutti_rank *self) {
        const tutti_driver_table *table = &tutti_rank_driver(self)->table;
        Member member(self);
        const tutti_buffer x = member.buffer;
        const tutti_data_type type = member.data_type;
        const tutti_status unsupported = TUTTI_UNSUPPORTED;
        tutti_error error;
        tutti_comm *comm = nullptr;
        EXPECT_EQ(table->broadcast(member.comm, x, x, type, 1, 0, member.stream, &error),
                  unsupported);
        EXPECT_EQ(table->reduce(member.comm, x, x, type, 1, TUTTI_SUM, 0, member.stream, &error),
                  unsupported);
        EXPECT_EQ(table->all_gather(member.comm, x, x, type, 1, member.stream, &error),
                  unsupported);
        EXPECT_EQ(
            table->reduce_scatter(member.comm, x, x, type, 1, TUTTI_SUM, member.stream, &error),
            unsupported);
        EXPECT_EQ(table->all_to_all(member.comm, x, x, type, 1, member.stream, &error),
                  unsupported);
        EXPECT_EQ(table->gather(member.comm, x, x, type, 1, 0, member.stream, &error), unsupported);
        EXPECT_EQ(table->scatter(member.comm, x, x, type, 1, 0, member.stream, &error),
                  unsupported);
        EXPECT_EQ(table->barrier(member.comm, member.stream, &error), unsupported);
        EXPECT_EQ(table->comm_split(member.comm, 0, 0, &comm, &error), unsupported);
        EXPECT_EQ(table->comm_shrink(member.comm, nullptr, 0, &comm, &error), unsupported);
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
}

TEST(FaultCoverage, ARuleAtAPointThatIsNeverPassedIsToldToHaveNeverActed) {
    for (const tutti_fault_point point : points_without_operation()) {
        const Report report = run(std::string(tutti_fault_point_name(point)) + "=kill");
        EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK);
        EXPECT_NE(std::string(report->faults_unfired), "") << tutti_fault_point_name(point);
    }
}

// Runs after all tests. A run of only some tests proves nothing about the others.
class EveryPairActed : public ::testing::Environment {
  public:
    void TearDown() override {
        const ::testing::UnitTest *unit = ::testing::UnitTest::GetInstance();
        if (unit->test_to_run_count() < unit->total_test_count()) return;
        for (const auto &pair : declared_pairs())
            EXPECT_EQ(acted().count(pair), 1U)
                << "no test has made " << tutti_fault_kind_name(tutti_fault_kind(pair.second))
                << " act at " << tutti_fault_point_name(tutti_fault_point(pair.first));
    }
};

const ::testing::Environment *const every_pair_acted =
    ::testing::AddGlobalTestEnvironment(new EveryPairActed);

} // namespace
