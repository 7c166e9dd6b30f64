#ifndef TUTTI_TESTING_H
#define TUTTI_TESTING_H

/* Rehearsals in tests with GoogleTest, in C++17: run a lambda on N ranks, say how it must end, and
 * fail every fault point in turn. All of it is in this header, over the C interface, without state
 * of its own. docs/writing_a_test.md shows it step by step.
 *
 *   EXPECT_REHEARSAL_OK(tutti::testing::rehearse(2, train_step));
 *   EXPECT_REHEARSAL(tutti::testing::rehearse(2, train_step, "join[rank=1]=kill"),
 *                    TUTTI_VERDICT_KILLED, 1);
 *   EXPECT_SURVIVES_EVERY_FAULT(2, train_step);
 *
 * A rank's function may be called many times. When one of its calls fails it must be able to
 * return; EXPECT_ and ADD_FAILURE() may be used in it, ASSERT_ returns from it. */

#ifndef __cplusplus
#error "tutti/testing.h is for tests in C++: from C, use tutti/emu.h and tutti/sweep.h"
#endif

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tutti/emu.h"
#include "tutti/sweep.h"

namespace tutti {
namespace testing {

/* What each rank does. */
using RankFunction = std::function<void(tutti_rank *self)>;

namespace internal {

struct FreeReport {
    void operator()(tutti_report *report) const {
        tutti_report_free(report);
    }
};

struct FreeSweep {
    void operator()(tutti_sweep_report *report) const {
        tutti_sweep_report_free(report);
    }
};

inline void run_rank(tutti_rank *self, void *function) {
    (*static_cast<const RankFunction *>(function))(self);
}

/* A text of one of the library's functions that write texts. */
template <typename Subject>
std::string text_of(const Subject *subject, size_t (*format)(const Subject *, char *, size_t)) {
    std::string text(format(subject, nullptr, 0), '\0');
    (void)format(subject, &text[0], text.size() + 1);
    return text;
}

inline std::string names_of(tutti_verdict verdict, const std::vector<int32_t> &culprits) {
    std::string text = tutti_verdict_name(verdict);
    for (size_t i = 0; i < culprits.size(); i++)
        text += (i == 0 ? ", culprit " : ", ") + std::to_string(culprits[i]);
    return text;
}

} // namespace internal

/* --- Rehearsals --- */

/* How a rehearsal is run; a tutti_rehearsal_options whose texts it keeps. */
class Rehearsal {
  public:
    explicit Rehearsal(uint32_t rank_count) {
        tutti_rehearsal_options_init(&options, rank_count);
        options.faults = "";
    }

    /* A fault plan. Without this call there are no faults, whatever TUTTI_FAULTS says. */
    Rehearsal &faults(std::string plan) {
        plan_ = std::move(plan);
        return *this;
    }

    /* Draws the schedule, and chances in the fault plan, from a seed. */
    Rehearsal &random_schedule(uint64_t seed) {
        options.random_schedule = 1;
        options.seed = seed;
        return *this;
    }

    /* Limits every blocking wait, on the cluster's clock. */
    Rehearsal &wait_timeout(int64_t duration_ns) {
        options.wait_timeout_ns = duration_ns;
        return *this;
    }

    /* For tutti_rehearse() and tutti_sweep(); lives as long as this object is not changed. */
    const tutti_rehearsal_options *get() {
        if (!plan_.empty()) options.faults = plan_.c_str();
        return &options;
    }

    tutti_rehearsal_options options; /* everything else may be set here */

  private:
    std::string plan_;
};

/* How a rehearsal ended. */
class Report {
  public:
    Report(tutti_report *report, std::string trouble)
        : report_(report), trouble_(std::move(trouble)) {}

    /* Why the rehearsal could not be run at all; "" when it was. */
    const std::string &trouble() const {
        return trouble_;
    }
    /* NULL when it could not be run. */
    const tutti_report *get() const {
        return report_.get();
    }
    const tutti_report *operator->() const {
        return report_.get();
    }
    tutti_verdict verdict() const {
        return report_ ? report_->verdict : TUTTI_VERDICT_COUNT;
    }
    std::vector<int32_t> culprits() const {
        if (!report_) return {};
        return {report_->culprits, report_->culprits + report_->culprit_count};
    }
    /* The whole report, as it is printed when an expectation fails. */
    std::string text() const {
        return report_ ? internal::text_of(report_.get(), tutti_report_format) : trouble_;
    }

  private:
    std::unique_ptr<tutti_report, internal::FreeReport> report_;
    std::string trouble_;
};

/* Runs a function on every rank. */
inline Report rehearse(Rehearsal rehearsal, const RankFunction &function) {
    tutti_report *report = nullptr;
    tutti_error error;
    tutti_error_clear(&error);
    RankFunction copy = function;
    const tutti_status status =
        tutti_rehearse(rehearsal.get(), internal::run_rank, &copy, &report, &error);
    if (status == TUTTI_OK) return Report(report, "");
    return Report(nullptr, std::string("the rehearsal could not be run: ") + error.message);
}

inline Report rehearse(uint32_t rank_count, const RankFunction &function,
                       const std::string &faults = "") {
    return rehearse(Rehearsal(rank_count).faults(faults), function);
}

/* Whether a rehearsal ended with the verdict, and blames these ranks; no ranks: whoever it blames.
 */
inline ::testing::AssertionResult ends_with(const Report &report, tutti_verdict verdict,
                                            const std::vector<int32_t> &culprits = {}) {
    if (report.get() == nullptr) return ::testing::AssertionFailure() << report.trouble();
    const bool blamed = culprits.empty() || culprits == report.culprits();
    if (report.verdict() == verdict && blamed) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << "expected " << internal::names_of(verdict, culprits) << "; it ended with "
           << internal::names_of(report.verdict(), report.culprits()) << "\n"
           << report.text();
}

/* The verdict, and then the ranks to blame, ascending; without any, they are not looked at. */
template <typename... Ranks>
::testing::AssertionResult ends_as(const Report &report, tutti_verdict verdict, Ranks... ranks) {
    return ends_with(report, verdict, std::vector<int32_t>{static_cast<int32_t>(ranks)...});
}

/* --- Shards --- */

/* The part of a sweep that a test run is to do. */
struct Shard {
    uint32_t index = 0;
    uint32_t count = 1;
};

/* What Bazel asks for with shard_count: reads TEST_SHARD_INDEX and TEST_TOTAL_SHARDS, and touches
 * TEST_SHARD_STATUS_FILE, which says that sharding is supported. Bazel tells GoogleTest too, which
 * deals whole tests among the shards; a sweep must not be divided a second time then. So this is
 * the whole unless GoogleTest was told not to, by share_sweeps(). */
inline Shard shard_of_environment() {
    Shard shard;
    const char *index = std::getenv("TEST_SHARD_INDEX");
    const char *count = std::getenv("TEST_TOTAL_SHARDS");
    const char *status = std::getenv("TEST_SHARD_STATUS_FILE");
    if (index == nullptr || count == nullptr || std::getenv("GTEST_TOTAL_SHARDS") != nullptr)
        return shard;
    shard.index = static_cast<uint32_t>(std::strtoul(index, nullptr, 10));
    shard.count = static_cast<uint32_t>(std::strtoul(count, nullptr, 10));
    if (status != nullptr) {
        std::FILE *file = std::fopen(status, "a");
        if (file != nullptr) (void)std::fclose(file);
    }
    return shard;
}

/* To be called in main() before ::testing::InitGoogleTest(): every shard runs every test, and
 * sweeps divide their cases. */
inline void share_sweeps() {
    for (const char *name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE"})
        (void)unsetenv(name);
}

/* --- Sweeps --- */

/* Says why a run with a fault did not end well; "" when it did. */
using Judge = std::function<std::string(const tutti_sweep_case &, const tutti_report &)>;

/* The reviewed reason why a case is not run; "" when it is. */
using Exclude = std::function<std::string(const tutti_sweep_case &)>;

/* How a sweep is done; a tutti_sweep_options with functions of C++. */
class Sweep {
  public:
    Sweep() {
        tutti_sweep_options_init(&options);
        const Shard shard = shard_of_environment();
        options.shard_index = shard.index;
        options.shard_count = shard.count;
    }

    Sweep &actions(std::initializer_list<tutti_fault_kind> kinds) {
        options.actions = 0;
        for (const tutti_fault_kind kind : kinds)
            options.actions |= UINT32_C(1) << kind;
        return *this;
    }
    Sweep &points(std::initializer_list<tutti_fault_point> points) {
        options.points = 0;
        for (const tutti_fault_point point : points)
            options.points |= UINT32_C(1) << point;
        return *this;
    }
    /* Instead of tutti_sweep_judge_default(). */
    Sweep &judge(Judge judge) {
        judge_ = std::move(judge);
        return *this;
    }
    Sweep &exclude(Exclude exclude) {
        exclude_ = std::move(exclude);
        return *this;
    }
    /* Runs with a fault; when there are more cases than that, the sweep fails: it is not complete.
     */
    Sweep &run_count_max(uint64_t count) {
        options.run_count_max = count;
        return *this;
    }

    /* For tutti_sweep(); lives as long as this object is neither changed nor moved. */
    const tutti_sweep_options *get() {
        options.context = this;
        options.judge = judge_ ? call_judge : nullptr;
        options.exclude = exclude_ ? call_exclude : nullptr;
        return &options;
    }

    tutti_sweep_options options; /* everything else may be set here */

  private:
    static const char *call_judge(void *context, const tutti_sweep_case *fault,
                                  const tutti_report *report) {
        auto *self = static_cast<Sweep *>(context);
        self->text_ = self->judge_(*fault, *report);
        return self->text_.empty() ? nullptr : self->text_.c_str();
    }
    static const char *call_exclude(void *context, const tutti_sweep_case *fault) {
        auto *self = static_cast<Sweep *>(context);
        self->text_ = self->exclude_(*fault);
        return self->text_.empty() ? nullptr : self->text_.c_str();
    }

    Judge judge_;
    Exclude exclude_;
    std::string text_; /* the last answer of either */
};

/* How a sweep went. */
class SweepReport {
  public:
    SweepReport(tutti_sweep_report *report, std::string trouble)
        : report_(report), trouble_(std::move(trouble)) {}

    const std::string &trouble() const {
        return trouble_;
    }
    const tutti_sweep_report *get() const {
        return report_.get();
    }
    const tutti_sweep_report *operator->() const {
        return report_.get();
    }
    std::string text() const {
        return report_ ? internal::text_of(report_.get(), tutti_sweep_report_format) : trouble_;
    }

  private:
    std::unique_ptr<tutti_sweep_report, internal::FreeSweep> report_;
    std::string trouble_;
};

/* Fails every fault point of a function in turn. */
inline SweepReport sweep(Rehearsal rehearsal, const RankFunction &function, Sweep how = Sweep()) {
    tutti_sweep_report *report = nullptr;
    tutti_error error;
    tutti_error_clear(&error);
    RankFunction copy = function;
    const tutti_status status =
        tutti_sweep(rehearsal.get(), internal::run_rank, &copy, how.get(), &report, &error);
    if (status == TUTTI_OK) return SweepReport(report, "");
    return SweepReport(nullptr, std::string("the sweep could not be run: ") + error.message);
}

inline SweepReport sweep(uint32_t rank_count, const RankFunction &function, Sweep how = Sweep()) {
    return sweep(Rehearsal(rank_count), function, std::move(how));
}

/* Whether all cases were run and passed, but for those that are excluded. */
inline ::testing::AssertionResult is_survived(const SweepReport &report) {
    if (report.get() == nullptr) return ::testing::AssertionFailure() << report.trouble();
    if (report->failed_count == 0 && report->not_run_count == 0)
        return ::testing::AssertionSuccess() << report.text();
    return ::testing::AssertionFailure() << report.text();
}

} // namespace testing
} // namespace tutti

/* A rehearsal, or what rehearse() gave, ended without anything being found. */
#define EXPECT_REHEARSAL_OK(...)                                                                   \
    EXPECT_TRUE(::tutti::testing::ends_with((__VA_ARGS__), TUTTI_VERDICT_OK))
#define ASSERT_REHEARSAL_OK(...)                                                                   \
    ASSERT_TRUE(::tutti::testing::ends_with((__VA_ARGS__), TUTTI_VERDICT_OK))

/* A report, the verdict that it must have, and the ranks to blame: EXPECT_REHEARSAL(report,
 * TUTTI_VERDICT_MISSING, 1). */
#define EXPECT_REHEARSAL(...) EXPECT_TRUE(::tutti::testing::ends_as(__VA_ARGS__))
#define ASSERT_REHEARSAL(...) ASSERT_TRUE(::tutti::testing::ends_as(__VA_ARGS__))

/* As sweep(): every fault is survived. */
#define EXPECT_SURVIVES_EVERY_FAULT(...)                                                           \
    EXPECT_TRUE(::tutti::testing::is_survived(::tutti::testing::sweep(__VA_ARGS__)))

#endif
