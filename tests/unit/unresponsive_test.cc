// Ranks that do not come back from their own code are named and left behind. The one thing that
// only real time can tell, so the limits here are real, and short.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/emu/tsan.h"
#include "tests/unit/rehearsal_support.h"

namespace {

// Long enough for a rank that is only waiting for a CPU of a busy machine.
constexpr int64_t kLimitNs = 200000000;

// What stuck ranks wait for, and a count of their threads that have ended for good.
class Prison {
  public:
    ~Prison() {
        EXPECT_EQ(inside_, 0);
    }

    // The calling thread waits here until it is freed; from then on it is counted when it ends.
    void stay() {
        const bool first = enter();
        std::unique_lock<std::mutex> guard(lock_);
        if (first) inside_++;
        changed_.wait(guard, [&] { return open_; });
    }

    // Frees all, and waits until their threads are gone, and with them what they still used.
    void free_all() {
        std::unique_lock<std::mutex> guard(lock_);
        open_ = true;
        changed_.notify_all();
        changed_.wait(guard, [&] { return inside_ == 0; });
    }

  private:
    struct Leaver {
        Prison *prison = nullptr;
        ~Leaver() {
            if (prison != nullptr) prison->leave();
        }
    };

    // Whether this thread has not been here before. Fibers share what is the thread's, which TSan
    // would take for a race.
    EMU_NO_TSAN bool enter() {
        thread_local Leaver leaver;
        const bool first = leaver.prison != this;
        leaver.prison = this;
        return first;
    }

    void leave() {
        const std::lock_guard<std::mutex> guard(lock_);
        inside_--;
        changed_.notify_all();
    }

    std::mutex lock_;
    std::condition_variable changed_;
    bool open_ = false;
    int inside_ = 0;
};

class Unresponsive : public ::testing::TestWithParam<tutti_executor> {
  protected:
    static tutti_rehearsal_options options(uint32_t rank_count) {
        tutti_rehearsal_options options = options_for(rank_count, GetParam());
        options.unresponsive_ns = kLimitNs;
        return options;
    }
};

INSTANTIATE_TEST_SUITE_P(Executors, Unresponsive,
                         ::testing::Values(TUTTI_EXECUTOR_THREADS, TUTTI_EXECUTOR_PARALLEL,
                                           TUTTI_EXECUTOR_FIBERS),
                         [](const auto &test) {
                             return test.param == TUTTI_EXECUTOR_THREADS  ? "Threads"
                                    : test.param == TUTTI_EXECUTOR_FIBERS ? "Fibers"
                                                                          : "Parallel";
                         });

TEST_P(Unresponsive, RankThatNeverCallsIsNamed) {
    Prison prison;
    std::vector<tutti_status> statuses(3, TUTTI_OK);
    const RankBody body = [&](tutti_rank *self) {
        Member member(self);
        if (tutti_rank_index(self) == 1) {
            prison.stay();
            return;
        }
        (void)member.all_reduce();
        statuses[static_cast<size_t>(tutti_rank_index(self))] = member.synchronize();
    };
    const Report report = rehearse(options(3), body);
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_UNRESPONSIVE) << text_of(report.get());
    EXPECT_EQ(culprits_of(report.get()), (std::vector<int32_t>{1}));
    // Fibers share a thread: the others end when the one that is stuck does.
    if (GetParam() != TUTTI_EXECUTOR_FIBERS) {
        EXPECT_EQ(statuses[0], TUTTI_UNRESPONSIVE);
        EXPECT_EQ(statuses[2], TUTTI_UNRESPONSIVE);
    }
    prison.free_all();
}

TEST_P(Unresponsive, RankThatComesBackLateStillHasItsHandles) {
    Prison prison;
    std::atomic<tutti_status> late{TUTTI_OK};
    std::atomic<int64_t> late_ns{-1};
    const RankBody body = [&](tutti_rank *self) {
        Member member(self);
        if (tutti_rank_index(self) != 0) return;
        prison.stay();
        tutti_error error;
        late = tutti_all_reduce(member.comm, member.buffer, member.buffer, member.data_type, 4,
                                TUTTI_SUM, member.stream, &error);
        EXPECT_NE(std::string(error.message).find("given up"), std::string::npos);
        EXPECT_GE(late_ns = tutti_rank_now(self), 0);
        static_cast<float *>(member.buffer.data)[0] = 1; // the memory is its own
        (void)member.leave();
    };
    const Report report = rehearse(options(2), body);
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_UNRESPONSIVE) << text_of(report.get());
    prison.free_all();
    EXPECT_EQ(late, TUTTI_UNRESPONSIVE);
}

TEST_P(Unresponsive, RankThatCallsForEverAfterwardsIsEnded) {
    Prison prison;
    const RankBody body = [&](tutti_rank *self) {
        Member member(self);
        if (tutti_rank_index(self) == 0) prison.stay();
        for (;;)
            (void)tutti_rank_sleep(self, 1000, nullptr);
    };
    const Report report = rehearse(options(3), body);
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_UNRESPONSIVE) << text_of(report.get());
    prison.free_all();
}

TEST_P(Unresponsive, LoopOnTheClockIsEndedToo) {
    Prison prison;
    const RankBody body = [&](tutti_rank *self) {
        Member member(self);
        if (tutti_rank_index(self) == 0) prison.stay();
        (void)member.all_reduce();
        (void)member.synchronize();
        while (tutti_rank_now(self) < INT64_MAX) {
        }
    };
    const Report report = rehearse(options(2), body);
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_UNRESPONSIVE) << text_of(report.get());
    prison.free_all();
}

TEST_P(Unresponsive, SeveralMayBeStuck) {
    Prison prison;
    const RankBody body = [&](tutti_rank *self) {
        Member member(self);
        (void)member.all_reduce();
        (void)member.synchronize();
        prison.stay(); // the first one in, or as many as are let go, and nobody comes back
    };
    const Report report = rehearse(options(3), body);
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_UNRESPONSIVE) << text_of(report.get());
    prison.free_all();
}

struct Inmate {
    Prison *prison;
    std::atomic<bool> ran{false};
};

TEST_P(Unresponsive, HostFunctionThatNeverReturnsIsNoticed) {
    Prison prison;
    Inmate inmate;
    inmate.prison = &prison;
    const RankBody body = [&](tutti_rank *self) {
        Member member(self);
        const auto stay = [](void *argument) {
            static_cast<Inmate *>(argument)->ran = true;
            static_cast<Inmate *>(argument)->prison->stay();
        };
        if (tutti_rank_index(self) == 1)
            (void)tutti_host_function_enqueue(member.stream, stay, &inmate, nullptr, 0, nullptr, 0,
                                              nullptr);
        (void)member.all_reduce();
        (void)member.synchronize();
    };
    const Report report = rehearse(options(2), body);
    EXPECT_TRUE(inmate.ran);
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_UNRESPONSIVE) << text_of(report.get());
    EXPECT_EQ(culprits_of(report.get()), (std::vector<int32_t>{1}));
    prison.free_all();
}

TEST_P(Unresponsive, RunsAfterwardsAreAsTheyAlwaysWere) {
    const Report before = rehearse(options(3), summing(2));
    Prison prison;
    const RankBody body = [&](tutti_rank *self) {
        if (tutti_rank_index(self) == 2) prison.stay();
    };
    EXPECT_EQ(rehearse(options(3), body)->verdict, TUTTI_VERDICT_UNRESPONSIVE);
    const Report after = rehearse(options(3), summing(2));
    EXPECT_EQ(after->verdict, TUTTI_VERDICT_OK) << text_of(after.get());
    if (GetParam() == TUTTI_EXECUTOR_THREADS) {
        EXPECT_EQ(before->trace_hash, after->trace_hash);
    }
    prison.free_all();
}

} // namespace
