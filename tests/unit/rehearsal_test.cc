// Rehearsals on threads: what they promise to those who write tests with them.
#include <sys/resource.h>

#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/rehearsal_support.h"

namespace {

TEST(Rehearsal, SumReachesEveryRank) {
    const Report report = rehearse(options_for(2), summing(1));
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
    EXPECT_EQ(report->virtual_ns, 0) << "nothing takes time unless it is told to";
    EXPECT_STREQ(report->choices, "");
}

TEST(Rehearsal, OneRankIsEnough) {
    const Report report = rehearse(options_for(1), summing(3));
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(Rehearsal, ThousandRanksAreNotTooMany) {
    const Report report = rehearse(options_for(1024), summing(2));
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(Rehearsal, RanksKnowWhoTheyAre) {
    tutti_rehearsal_options options = options_for(3);
    options.device_count = 7;
    std::vector<int> seen(3);
    const Report report = rehearse(options, [&](tutti_rank *self) {
        EXPECT_EQ(tutti_rank_count(self), 3);
        seen[static_cast<size_t>(tutti_rank_index(self))]++;
        uint32_t count = 0;
        ASSERT_EQ(tutti_device_count(tutti_rank_driver(self), &count, nullptr), TUTTI_OK);
        EXPECT_EQ(count, 7U);
        tutti_device *device = nullptr;
        ASSERT_EQ(tutti_device_open(tutti_rank_driver(self),
                                    static_cast<uint32_t>(tutti_rank_index(self)), &device,
                                    nullptr),
                  TUTTI_OK);
        EXPECT_EQ(device, tutti_rank_device(self));
        Member member(self);
        EXPECT_EQ(member.status, TUTTI_OK) << member.error.message;
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
    EXPECT_EQ(seen, std::vector<int>(3, 1));
}

TEST(Rehearsal, OneRankRunsAtATimeAndInTheOrderOfItsNumber) {
    std::atomic<int> running{0};
    std::vector<int32_t> order;
    (void)rehearse(options_for(8), [&](tutti_rank *self) {
        EXPECT_EQ(running.fetch_add(1), 0);
        order.push_back(tutti_rank_index(self));
        EXPECT_EQ(running.fetch_sub(1), 1);
    });
    EXPECT_EQ(order, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

// --- Determinism

TEST(Rehearsal, SameProgramGivesTheSameTraceAgain) {
    const Report first = rehearse(options_for(5), summing(4));
    const Report second = rehearse(options_for(5), summing(4));
    EXPECT_EQ(first->trace_hash, second->trace_hash);
    EXPECT_EQ(first->event_count, second->event_count);
    EXPECT_EQ(first->call_count, second->call_count);
    const Report other = rehearse(options_for(5), summing(3));
    EXPECT_NE(first->trace_hash, other->trace_hash);
}

Report with_seed(uint64_t seed) {
    tutti_rehearsal_options options = options_for(5);
    options.random_schedule = 1;
    options.seed = seed;
    return rehearse(options, summing(4));
}

TEST(Rehearsal, SameSeedGivesTheSameScheduleAgain) {
    std::set<std::string> schedules;
    for (uint64_t seed = 0; seed < 10; seed++) {
        const Report first = with_seed(seed), second = with_seed(seed);
        EXPECT_EQ(first->verdict, TUTTI_VERDICT_OK);
        EXPECT_EQ(first->trace_hash, second->trace_hash);
        EXPECT_STREQ(first->choices, second->choices);
        schedules.insert(first->choices);
    }
    EXPECT_EQ(schedules.size(), 10U);
}

TEST(Rehearsal, SeveralAtOnceDoNotDisturbEachOther) {
    const Report alone = rehearse(options_for(6), summing(5));
    std::vector<std::thread> threads;
    std::atomic<int> equal{0};
    for (int i = 0; i < 4; i++) {
        threads.emplace_back([&] {
            for (int run = 0; run < 10; run++)
                if (rehearse(options_for(6), summing(5))->trace_hash == alone->trace_hash) equal++;
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(equal, 40);
}

TEST(Rehearsal, ARankMayRehearseSomethingElse) {
    const Report report = rehearse(options_for(2), [](tutti_rank *self) {
        Member member(self);
        const Report inner = rehearse(options_for(3), summing(2));
        EXPECT_EQ(inner->verdict, TUTTI_VERDICT_OK);
        EXPECT_EQ(member.all_reduce(), TUTTI_OK) << member.error.message;
        EXPECT_EQ(member.synchronize(), TUTTI_OK);
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

// --- Time

TEST(Rehearsal, SleepTakesVirtualTimeAndNoRealTime) {
    const int64_t hour_ns = INT64_C(3600000000000);
    const Report report = rehearse(options_for(3), [&](tutti_rank *self) {
        const int64_t duration_ns = hour_ns * (1 + tutti_rank_index(self));
        EXPECT_EQ(tutti_rank_now(self), 0);
        EXPECT_EQ(tutti_rank_sleep(self, duration_ns, nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_rank_now(self), duration_ns);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK);
    EXPECT_EQ(report->virtual_ns, 3 * hour_ns);
}

TEST(Rehearsal, NegativeSleepIsRefused) {
    const Report report = rehearse(options_for(1), [](tutti_rank *self) {
        tutti_error error;
        EXPECT_EQ(tutti_rank_sleep(self, -1, &error), TUTTI_INVALID_ARGUMENT);
        EXPECT_STREQ(error.message, "duration_ns is -1: time only passes, give 0 or more");
        EXPECT_STREQ(error.operation, "sleep");
        EXPECT_NE(error.place.line, 0);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_MISUSE) << text_of(report.get());
}

TEST(Rehearsal, DelayedRankIsWaitedFor) {
    tutti_rehearsal_options options = options_for(3);
    options.faults = "all_reduce[rank=1]=delay(7ms)";
    const Report report = rehearse(options, summing(1));
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
    EXPECT_EQ(report->virtual_ns, 7000000);
}

TEST(Rehearsal, LoopOnTheClockEnds) {
    const Report report = rehearse(options_for(2), [](tutti_rank *self) {
        while (tutti_rank_now(self) < 1000000000) {
        }
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK);
    EXPECT_GE(report->virtual_ns, 1000000000);
    EXPECT_LT(report->virtual_ns, 3000000000);
}

// --- Polling

TEST(Rehearsal, PollersSeeWhatTheyWaitFor) {
    const Report report = rehearse(options_for(4), [](tutti_rank *self) {
        Member member(self);
        ASSERT_EQ(member.all_reduce(), TUTTI_OK);
        for (int done = 0; done == 0;)
            ASSERT_EQ(tutti_stream_query(member.stream, &done, nullptr), TUTTI_OK);
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
    EXPECT_EQ(report->virtual_ns, 0) << "somebody could always go on";
}

TEST(Rehearsal, PollersWaitForTimersToo) {
    tutti_rehearsal_options options = options_for(2);
    options.faults = "all_reduce[rank=1]=delay(30min)";
    const Report report = rehearse(options, [](tutti_rank *self) {
        Member member(self);
        ASSERT_EQ(member.all_reduce(), TUTTI_OK);
        for (int done = 0; done == 0;)
            ASSERT_EQ(tutti_stream_query(member.stream, &done, nullptr), TUTTI_OK);
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
    EXPECT_EQ(report->virtual_ns, INT64_C(1800000000000));
}

TEST(Rehearsal, PollerMayGiveUpAtADeadlineOfItsOwn) {
    const Report report = rehearse(options_for(2), [](tutti_rank *self) {
        Member member(self);
        if (tutti_rank_index(self) == 1) {
            EXPECT_EQ(tutti_rank_sleep(self, 60000000000, nullptr), TUTTI_OK);
            (void)tutti_comm_abort(member.comm, nullptr);
            return;
        }
        ASSERT_EQ(member.all_reduce(), TUTTI_OK);
        const int64_t deadline_ns = tutti_rank_now(self) + 1000000000;
        int done = 0;
        while (done == 0 && tutti_rank_now(self) < deadline_ns)
            ASSERT_EQ(tutti_stream_query(member.stream, &done, nullptr), TUTTI_OK);
        EXPECT_EQ(done, 0);
        EXPECT_LT(tutti_rank_now(self), 60000000000);
        (void)tutti_comm_abort(member.comm, nullptr);
    });
    EXPECT_GE(report->virtual_ns, 60000000000);
}

TEST(Rehearsal, PollerOfWhatNeverComesLearnsIt) {
    tutti_status status = TUTTI_OK;
    const Report report = rehearse(options_for(2), [&](tutti_rank *self) {
        Member member(self);
        if (tutti_rank_index(self) == 1) return; // it never makes its part
        ASSERT_EQ(member.all_reduce(), TUTTI_OK);
        for (int done = 0; done == 0 && status == TUTTI_OK;)
            status = tutti_stream_query(member.stream, &done, nullptr);
    });
    EXPECT_EQ(status, TUTTI_MISSING);
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_MISSING) << text_of(report.get());
    EXPECT_EQ(culprits_of(report.get()), (std::vector<int32_t>{1}));
}

TEST(Rehearsal, NonBlockingJoinIsPolledUntilAllAreThere) {
    const Report report = rehearse(options_for(3), [](tutti_rank *self) {
        tutti_join_options join = {sizeof(tutti_join_options), 1, 0, nullptr};
        tutti_comm *comm = nullptr;
        tutti_error error;
        ASSERT_EQ(tutti_rank_join_world(self, &join, &comm, &error), TUTTI_IN_PROGRESS)
            << error.message;
        ASSERT_NE(comm, nullptr);
        tutti_status status = TUTTI_IN_PROGRESS;
        while (status == TUTTI_IN_PROGRESS)
            ASSERT_EQ(tutti_comm_status(comm, &status, &error), TUTTI_OK) << error.message;
        EXPECT_EQ(status, TUTTI_OK);
        EXPECT_EQ(tutti_leave(comm, &error), TUTTI_OK) << error.message;
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

// --- Programs that would never end

TEST(Rehearsal, LoopThatIgnoresAllStatusesIsEnded) {
    const Report report = rehearse(options_for(2), [](tutti_rank *self) {
        Member member(self);
        if (tutti_rank_index(self) == 1) return;
        for (int done = 0;;)
            (void)(member.all_reduce(), tutti_stream_query(member.stream, &done, nullptr));
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_MISSING) << text_of(report.get());
}

TEST(Rehearsal, LoopOnWhatIsOverIsEndedAndBlamed) {
    std::atomic<bool> never{false};
    const Report report = rehearse(options_for(2), [&](tutti_rank *self) {
        Member member(self);
        ASSERT_EQ(member.leave(), TUTTI_OK);
        tutti_stream *stream = nullptr;
        ASSERT_EQ(tutti_stream_create(tutti_rank_device(self), nullptr, &stream, nullptr),
                  TUTTI_OK);
        int done = 0;
        while (tutti_rank_index(self) == 0 && !never)
            (void)tutti_stream_query(stream, &done, nullptr);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_WRONG) << text_of(report.get());
    EXPECT_EQ(culprits_of(report.get()), (std::vector<int32_t>{0}));
}

TEST(Rehearsal, LoopOfRefusedCallsIsEnded) {
    const Report report = rehearse(options_for(1), [](tutti_rank *self) {
        while (tutti_stream_create(tutti_rank_device(self), nullptr, nullptr, nullptr) !=
               TUTTI_OK) {
        }
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_MISUSE) << text_of(report.get());
}

TEST(Rehearsal, LoopThatJoinsAgainAndAgainIsEnded) {
    const Report report = rehearse(options_for(2), [](tutti_rank *self) {
        tutti_comm *comm = nullptr;
        if (tutti_rank_index(self) == 1) return;
        while (tutti_rank_join_world(self, nullptr, &comm, nullptr) != TUTTI_OK) {
        }
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_MISSING) << text_of(report.get()).substr(0, 2000);
}

TEST(Rehearsal, LoopThatTriesSomethingNewEachTimeIsEnded) {
    const Report report = rehearse(options_for(2), [](tutti_rank *self) {
        if (tutti_rank_index(self) == 1) return;
        for (tutti_communication_id id = 1;; id++) {
            tutti_unique_id unique;
            tutti_comm *comm = nullptr;
            (void)tutti_group_id(tutti_rank_driver(self), id, &unique, nullptr);
            (void)tutti_join(tutti_rank_device(self), &unique, 2, 0, nullptr, &comm, nullptr);
        }
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_MISSING) << text_of(report.get()).substr(0, 2000);
}

TEST(Rehearsal, BusyRankDoesNotStarveOthers) {
    std::atomic<bool> seen{false};
    const Report report = rehearse(options_for(2), [&](tutti_rank *self) {
        Member member(self);
        if (tutti_rank_index(self) == 1) seen = true;
        while (!seen)
            ASSERT_EQ(tutti_fill(member.buffer, 0, member.stream, nullptr), TUTTI_OK);
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

// --- Failures

TEST(Rehearsal, RefusedJoinIsTriedAgain) {
    tutti_rehearsal_options options = options_for(3);
    options.faults = "join[rank=1]=2*refuse(busy)->off";
    int tries = 0;
    const Report report = rehearse(options, [&](tutti_rank *self) {
        tutti_comm *comm = nullptr;
        tutti_error error;
        tutti_status status = TUTTI_REFUSED;
        while (status == TUTTI_REFUSED) {
            status = tutti_rank_join_world(self, nullptr, &comm, &error);
            if (tutti_rank_index(self) == 1) tries++;
        }
        ASSERT_EQ(status, TUTTI_OK) << error.message;
        EXPECT_EQ(tutti_leave(comm, &error), TUTTI_OK) << error.message;
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
    EXPECT_EQ(tries, 3);
}

TEST(Rehearsal, KilledRankIsToldAndNamed) {
    tutti_rehearsal_options options = options_for(3);
    options.faults = "all_reduce[rank=2]=kill";
    std::vector<tutti_status> statuses(3);
    const Report report = rehearse(options, [&](tutti_rank *self) {
        Member member(self);
        (void)member.all_reduce();
        statuses[static_cast<size_t>(tutti_rank_index(self))] = member.synchronize();
    });
    EXPECT_EQ(statuses[2], TUTTI_KILLED);
    EXPECT_NE(statuses[0], TUTTI_OK);
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_KILLED) << text_of(report.get());
    EXPECT_EQ(culprits_of(report.get()), (std::vector<int32_t>{2}));
}

TEST(Rehearsal, KilledRankThatDoesNotReturnIsEnded) {
    tutti_rehearsal_options options = options_for(2);
    options.faults = "all_reduce[rank=1]=kill";
    const Report report = rehearse(options, [](tutti_rank *self) {
        Member member(self);
        do
            (void)member.all_reduce();
        while (member.synchronize() != TUTTI_OK && tutti_rank_index(self) == 1);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_KILLED) << text_of(report.get());
}

TEST(Rehearsal, MismatchIsFoundAndBlamed) {
    const Report report = rehearse(options_for(3), [](tutti_rank *self) {
        Member member(self);
        (void)member.all_reduce(tutti_rank_index(self) == 1 ? TUTTI_MAX : TUTTI_SUM);
        EXPECT_EQ(member.synchronize(), TUTTI_MISMATCH);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_MISMATCH) << text_of(report.get());
    EXPECT_EQ(culprits_of(report.get()), (std::vector<int32_t>{1}));
}

TEST(Rehearsal, WrongResultIsAFindingWithItsPlace) {
    const Report report = rehearse(options_for(2), [](tutti_rank *self) {
        if (tutti_rank_index(self) == 1) tutti_rank_wrong(self, "it is %d and not %d", 3, 4);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_WRONG);
    EXPECT_EQ(culprits_of(report.get()), (std::vector<int32_t>{1}));
    ASSERT_EQ(report->finding_count, 1U);
    const std::string text = report->findings[0].text;
    EXPECT_NE(text.find("it is 3 and not 4"), std::string::npos) << text;
    EXPECT_NE(text.find("rehearsal_test.cc"), std::string::npos) << text;
}

// --- Who may call

TEST(Rehearsal, OtherThreadsMayNotUseItsHandles) {
    const Report report = rehearse(options_for(1), [](tutti_rank *self) {
        Member member(self);
        tutti_error error;
        std::thread stranger(
            [&] { EXPECT_EQ(tutti_stream_synchronize(member.stream, &error), TUTTI_MISUSE); });
        stranger.join();
        EXPECT_NE(std::string(error.message).find("runs no rank of this rehearsal"),
                  std::string::npos);
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

struct Visitor {
    tutti_stream *stream;
    tutti_status status;
};

void call_from_function(void *argument) {
    Visitor *visitor = static_cast<Visitor *>(argument);
    visitor->status = tutti_stream_synchronize(visitor->stream, nullptr);
}

TEST(Rehearsal, HostFunctionsRunInOrderAndMayNotCall) {
    const Report report = rehearse(options_for(1), [](tutti_rank *self) {
        Member member(self);
        Visitor visitor = {member.stream, TUTTI_OK};
        ASSERT_EQ(tutti_host_function_enqueue(member.stream, call_from_function, &visitor,
                                              &member.buffer, 0, &member.buffer, 0, nullptr),
                  TUTTI_OK);
        ASSERT_EQ(member.synchronize(), TUTTI_OK);
        EXPECT_EQ(visitor.status, TUTTI_MISUSE);
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(Rehearsal, MemoryKnowsItsOwner) {
    const Report report = rehearse(options_for(2), [](tutti_rank *self) {
        Member member(self);
        tutti_driver *driver = tutti_rank_driver(self);
        tutti_device *device = nullptr;
        tutti_buffer allocation = {};
        tutti_error error;
        tutti_error_clear(&error);
        const char *inside = static_cast<char *>(member.buffer.data) + 5;
        ASSERT_EQ(driver->table.memory_owner(driver, inside, &device, &allocation, &error),
                  TUTTI_OK);
        EXPECT_EQ(device, tutti_rank_device(self));
        EXPECT_EQ(allocation.data, member.buffer.data);
        EXPECT_EQ(driver->table.memory_owner(driver, &device, &device, &allocation, &error),
                  TUTTI_INVALID_ARGUMENT);
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

// --- The call itself

TEST(Rehearsal, TraceIsLinesOfTextInOrder) {
    tutti_rehearsal_options options = options_for(2);
    std::string trace;
    options.trace_context = &trace;
    options.trace_sink = [](void *context, const char *text, size_t bytes) {
        static_cast<std::string *>(context)->append(text, bytes);
    };
    const Report first = rehearse(options, summing(1));
    const std::string seen = trace;
    trace.clear();
    const Report second = rehearse(options, summing(1));
    EXPECT_EQ(trace, seen);
    EXPECT_FALSE(seen.empty());
    EXPECT_EQ(seen.back(), '\n');
    EXPECT_EQ(first->trace_hash, second->trace_hash);
    EXPECT_EQ(first->trace_hash, rehearse(options_for(2), summing(1))->trace_hash);
}

TEST(Rehearsal, ReportTellsHowToRepeat) {
    tutti_rehearsal_options options = options_for(1);
    options.repeat = "try --again";
    EXPECT_STREQ(rehearse(options, summing(1))->repeat, "try --again");
}

TEST(Rehearsal, FaultsComeFromTheEnvironmentIfNotFromTheOptions) {
    ASSERT_EQ(setenv("TUTTI_FAULTS", "all_reduce[rank=0]=kill", 1), 0);
    tutti_rehearsal_options options = options_for(2);
    EXPECT_EQ(rehearse(options, summing(1))->verdict, TUTTI_VERDICT_OK);
    options.faults = nullptr;
    const Report report = rehearse(options, [](tutti_rank *self) {
        Member member(self);
        (void)member.all_reduce();
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_KILLED) << text_of(report.get());
    ASSERT_EQ(setenv("TUTTI_FAULTS", "nonsense", 1), 0);
    tutti_report *none = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_rehearse(&options, run_rank_body, nullptr, &none, &error), TUTTI_SYNTAX);
    EXPECT_EQ(std::string(error.message).find("TUTTI_FAULTS:1:1"), 0U) << error.message;
    ASSERT_EQ(unsetenv("TUTTI_FAULTS"), 0);
}

// How a rehearsal with these options is refused.
std::string refusal(const tutti_rehearsal_options &options, tutti_status expected) {
    tutti_report *report = nullptr;
    tutti_error error;
    EXPECT_EQ(
        tutti_rehearse(
            &options, [](tutti_rank *, void *) { FAIL() << "it ran"; }, nullptr, &report, &error),
        expected);
    EXPECT_EQ(report, nullptr);
    EXPECT_EQ(error.status, expected);
    return error.message;
}

TEST(RehearsalOptions, WhatIsNotAllowedIsRefusedByName) {
    const struct {
        const char *name;
        std::function<void(tutti_rehearsal_options *)> spoil;
    } cases[] = {
        {"struct_size", [](auto *o) { o->struct_size = 4; }},
        {"struct_size", [](auto *o) { o->struct_size += 8; }},
        {"rank_count", [](auto *o) { o->rank_count = 0; }},
        {"rank_count", [](auto *o) { o->rank_count = TUTTI_RANKS_MAX + 1; }},
        {"device_count", [](auto *o) { o->device_count = 1; }},
        {"device_count", [](auto *o) { o->device_count = TUTTI_DEVICES_PER_RUN_MAX + 1; }},
        {"executor", [](auto *o) { o->executor = static_cast<tutti_executor>(3); }},
        {"first_use_blocks", [](auto *o) { o->first_use_blocks = 2; }},
        {"tolerate_group_order", [](auto *o) { o->tolerate_group_order = 7; }},
        {"random_schedule", [](auto *o) { o->random_schedule = 2; }},
        {"random_schedule",
         [](auto *o) {
             o->random_schedule = 1;
             o->executor = TUTTI_EXECUTOR_PARALLEL;
         }},
        {"wait_timeout_ns", [](auto *o) { o->wait_timeout_ns = -1; }},
        {"wait_timeout_ns", [](auto *o) { o->wait_timeout_ns = INT64_MAX; }},
        {"unresponsive_ns", [](auto *o) { o->unresponsive_ns = -5; }},
        {"stack_bytes", [](auto *o) { o->stack_bytes = SIZE_MAX; }},
    };
    for (const auto &one : cases) {
        tutti_rehearsal_options options = options_for(2);
        one.spoil(&options);
        const std::string message = refusal(options, TUTTI_INVALID_ARGUMENT);
        EXPECT_NE(message.find(one.name), std::string::npos) << one.name << ": " << message;
    }
}

TEST(RehearsalOptions, BadFaultsAreRefused) {
    tutti_rehearsal_options options = options_for(2);
    options.faults = "join=explode";
    EXPECT_EQ(refusal(options, TUTTI_SYNTAX).find("faults:1:6"), 0U);
    options.faults = "join[rank=7]=refuse(busy)";
    EXPECT_NE(refusal(options, TUTTI_INVALID_ARGUMENT), "");
    options.faults = "alloc=drop";
    EXPECT_NE(refusal(options, TUTTI_SYNTAX).find("alloc does not take \"drop\""),
              std::string::npos);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

TEST(RehearsalOptions, TooFewThreadsIsAnErrorAndNothingRuns) {
    if (kSanitized) GTEST_SKIP() << "sanitizers need all of the address space";
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    const rlimit narrow = {rlim_t{4} << 30, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &narrow), 0);
    tutti_rehearsal_options options = options_for(64);
    options.stack_bytes = size_t{1} << 28;
    const std::string message = refusal(options, TUTTI_SYSTEM);
    EXPECT_NE(message.find("could not be made"), std::string::npos) << message;
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    options.stack_bytes = 0;
    EXPECT_EQ(rehearse(options, summing(1))->verdict, TUTTI_VERDICT_OK);
}

TEST(RehearsalOptions, NullArgumentsAreRefused) {
    tutti_report *report = nullptr;
    tutti_error error;
    const tutti_rehearsal_options options = options_for(1);
    EXPECT_EQ(tutti_rehearse(nullptr, run_rank_body, nullptr, &report, &error),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(tutti_rehearse(&options, nullptr, nullptr, &report, &error), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(tutti_rehearse(&options, run_rank_body, nullptr, nullptr, nullptr),
              TUTTI_INVALID_ARGUMENT);
}

} // namespace
