#ifndef TUTTI_TESTS_HARNESS_CONFORMANCE_H
#define TUTTI_TESTS_HARNESS_CONFORMANCE_H

// What the conformance suite is written against: a target (a driver and what carries it out), ranks
// that run a body on it, and what came of it. A registration file names the target; the suite knows
// no driver.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "tutti/tutti.h"

namespace tutti_test {

struct Target {
    const char *name;
    tutti_executor executor;
    bool has_virtual_time; // minutes pass in no time, and the same way every time
};

// Defined by the registration file that is linked with the suite.
const Target &target();

struct ReportFreer {
    void operator()(tutti_report *report) const {
        tutti_report_free(report);
    }
};
using Report = std::unique_ptr<tutti_report, ReportFreer>;

// One rank of a run, with what nearly every body needs. All calls are the public ones.
class Rank {
  public:
    explicit Rank(tutti_rank *self) : self_(self) {}

    int index() const {
        return tutti_rank_index(self_);
    }
    int count() const {
        return tutti_rank_count(self_);
    }
    tutti_rank *self() const {
        return self_;
    }
    tutti_driver *driver() const {
        return tutti_rank_driver(self_);
    }
    tutti_device *device(uint32_t number = UINT32_MAX) const;

    // Joins the group of all ranks; fails the test, and gives NULL, when that is refused.
    tutti_comm *world();

    // Joins a group of some ranks, as the place of this rank in the list.
    tutti_comm *join(const std::vector<int> &members,
                     tutti_group_purpose purpose = TUTTI_PURPOSE_COLLECTIVES);

    // A stream of the rank's device; the first call makes it.
    tutti_stream *stream(const char *name = "comm");

    tutti_buffer allocate(size_t bytes);

    // Device memory that holds these values, and the values that device memory holds; both wait.
    template <typename T> tutti_buffer upload(const std::vector<T> &values) {
        const tutti_buffer buffer = allocate(values.size() * sizeof(T));
        EXPECT_EQ(copy_in(buffer, values.data(), values.size() * sizeof(T)), TUTTI_OK);
        return buffer;
    }
    template <typename T> std::vector<T> download(tutti_buffer buffer) {
        std::vector<T> values(buffer.bytes / sizeof(T));
        EXPECT_EQ(copy_out(values.data(), buffer, values.size() * sizeof(T)), TUTTI_OK);
        return values;
    }

    // Enqueues and waits; the first status that is not ok.
    tutti_status sum(tutti_comm *comm, tutti_buffer source, tutti_buffer destination, size_t count);
    tutti_status sync(const char *stream_name = "comm");

  private:
    tutti_status copy_in(tutti_buffer buffer, const void *values, size_t bytes);
    tutti_status copy_out(void *values, tutti_buffer buffer, size_t bytes);

    tutti_rank *self_;
    std::vector<std::pair<std::string, tutti_stream *>> streams_;
};

struct RunOptions {
    const char *faults = "";
    uint32_t device_count = 0;
    uint32_t capacity = 0;
    bool first_use_blocks = false;
    bool tolerate_group_order = false;
    int64_t wait_timeout_ns = 0;
};

inline RunOptions with_faults(const char *faults) {
    RunOptions options;
    options.faults = faults;
    return options;
}

inline RunOptions with_devices(uint32_t device_count) {
    RunOptions options;
    options.device_count = device_count;
    return options;
}

inline RunOptions with_capacity(uint32_t capacity) {
    RunOptions options;
    options.capacity = capacity;
    return options;
}

inline RunOptions with_limit(int64_t wait_timeout_ns) {
    RunOptions options;
    options.wait_timeout_ns = wait_timeout_ns;
    return options;
}

// Runs a body on every rank of the target. A test that leaves its ranks waiting is not a hang: the
// run is diagnosed and the report says so.
Report run(uint32_t ranks, const std::function<void(Rank &)> &body, const RunOptions &options = {});

// Runs a body and expects that nothing is found.
void run_well(uint32_t ranks, const std::function<void(Rank &)> &body,
              const RunOptions &options = {});

// Expects a verdict, and the ranks to blame; prints the whole report if it is another one.
void expect_verdict(const tutti_report *report, tutti_verdict verdict,
                    std::initializer_list<int32_t> culprits);

tutti_data_type data_type(tutti_element_type type);

const int64_t one_minute_ns = INT64_C(60000000000);

} // namespace tutti_test

// Skips a test that needs minutes to pass at once, and says why.
#define TUTTI_NEEDS_VIRTUAL_TIME()                                                                 \
    if (!tutti_test::target().has_virtual_time)                                                    \
    GTEST_SKIP() << tutti_test::target().name << " runs in real time"

#endif
