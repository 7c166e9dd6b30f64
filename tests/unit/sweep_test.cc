// The fault sweep: what it finds in programs that are right, and in programs that are not.

#include "tutti/sweep.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/rehearsal_support.h"
#include "tutti/operations.h"
#include "tutti/script.h"
#include "gtest/gtest.h"

namespace {

struct SweepFree {
    void operator()(tutti_sweep_report *report) const {
        tutti_sweep_report_free(report);
    }
};
using Sweep = std::unique_ptr<tutti_sweep_report, SweepFree>;

std::string text_of(const Sweep &sweep) {
    std::string text(tutti_sweep_report_format(sweep.get(), nullptr, 0), '\0');
    (void)tutti_sweep_report_format(sweep.get(), text.data(), text.size() + 1);
    return text;
}

tutti_sweep_options sweep_options() {
    tutti_sweep_options options;
    tutti_sweep_options_init(&options);
    return options;
}

Sweep sweep(uint32_t rank_count, const RankBody &body,
            const tutti_sweep_options &options = sweep_options(), const char *faults = "") {
    tutti_rehearsal_options rehearsal = options_for(rank_count);
    rehearsal.faults = faults;
    tutti_sweep_report *report = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_sweep(&rehearsal, run_rank_body, const_cast<RankBody *>(&body), &options,
                          &report, &error),
              TUTTI_OK)
        << error.message;
    return Sweep(report);
}

std::vector<std::string> plans_of(const Sweep &sweep) {
    std::vector<std::string> plans;
    for (uint64_t i = 0; i < sweep->case_count; i++)
        plans.emplace_back(sweep->cases[i].plan);
    return plans;
}

// Ends at the first call that fails, which is what the sweep wants of a program.
void careful(tutti_rank *self) {
    Member member(self);
    if (member.status != TUTTI_OK) return;
    if (member.set(1) != TUTTI_OK || member.all_reduce() != TUTTI_OK) return;
    const float sum = member.get();
    if (member.status != TUTTI_OK) return;
    if (sum != static_cast<float>(tutti_rank_count(self))) tutti_rank_wrong(self, "sum");
    (void)member.leave();
}

// Takes no notice of failures.
void careless(tutti_rank *self) {
    Member member(self);
    if (member.status != TUTTI_OK) return;
    (void)member.set(1);
    (void)member.all_reduce();
    const float sum = member.get();
    if (member.status != TUTTI_OK) return;
    if (sum != static_cast<float>(tutti_rank_count(self))) tutti_rank_wrong(self, "sum");
    (void)member.leave();
}

// --- Programs that are right ---

TEST(Sweep, FailsEveryPointOfAProgramInTurn) {
    const Sweep result = sweep(3, careful);
    EXPECT_EQ(result->failed_count, 0U) << text_of(result);
    EXPECT_EQ(result->not_run_count, 0U) << text_of(result);
    EXPECT_EQ(result->excluded_count, 0U);
    EXPECT_EQ(result->passed_count, result->case_count);
    EXPECT_GT(result->point_count, 30U);
    EXPECT_EQ(result->run_count, 1 + 2 * result->case_count);
    std::set<tutti_fault_point> points;
    for (uint64_t i = 0; i < result->case_count; i++)
        points.insert(result->cases[i].point);
    for (const tutti_fault_point point :
         {TUTTI_FAULT_AT_MINT, TUTTI_FAULT_AT_JOIN, TUTTI_FAULT_AT_DATA_TYPE,
          TUTTI_FAULT_AT_ALL_REDUCE, TUTTI_FAULT_AT_COPY, TUTTI_FAULT_AT_SYNC, TUTTI_FAULT_AT_LEAVE,
          TUTTI_FAULT_AT_ALLOC, TUTTI_FAULT_AT_STREAM, TUTTI_FAULT_AT_LINK, TUTTI_FAULT_AT_STEP})
        EXPECT_EQ(points.count(point), 1U) << tutti_fault_point_name(point);
}

TEST(Sweep, EveryCaseIsRepeatedByItsPlan) {
    const Sweep result = sweep(2, careful);
    for (uint64_t i = 0; i < result->case_count; i++) {
        const tutti_sweep_case &fault = result->cases[i];
        tutti_rehearsal_options options = options_for(2);
        options.faults = fault.plan;
        const Report report = rehearse(options, careful);
        EXPECT_STREQ(report->faults_unfired, "") << fault.plan;
        EXPECT_EQ(report->verdict, fault.verdict) << fault.plan;
    }
}

TEST(Sweep, IsTheSameEachTime) {
    const Sweep first = sweep(2, careful), second = sweep(2, careful);
    EXPECT_EQ(plans_of(first), plans_of(second));
    EXPECT_EQ(text_of(first), text_of(second));
    const std::vector<std::string> plans = plans_of(first);
    EXPECT_EQ(std::set<std::string>(plans.begin(), plans.end()).size(), plans.size());
}

TEST(Sweep, ShardsTogetherAreTheWhole) {
    const std::vector<std::string> whole = plans_of(sweep(2, careful));
    std::vector<std::string> found(whole.size());
    for (uint32_t shard = 0; shard < 3; shard++) {
        tutti_sweep_options options = sweep_options();
        options.shard_index = shard;
        options.shard_count = 3;
        const Sweep part = sweep(2, careful, options);
        EXPECT_EQ(part->case_count + part->elsewhere_count, whole.size());
        const std::vector<std::string> plans = plans_of(part);
        for (size_t i = 0; i < plans.size(); i++)
            found[i * 3 + shard] = plans[i];
    }
    EXPECT_EQ(found, whole);
}

// --- Programs that are not ---

TEST(Sweep, FindsAFailureThatIsNotLookedAt) {
    const Sweep result = sweep(2, careless);
    EXPECT_GT(result->failed_count, 0U);
    EXPECT_NE(text_of(result).find("copy[rank=1]=refuse(sweep)\n          it goes on with a wrong"),
              std::string::npos)
        << text_of(result);
    // The one that is told and takes no notice is to blame, not the one that gets a wrong sum.
    for (uint64_t i = 0; i < result->case_count; i++) {
        if (result->cases[i].result != TUTTI_SWEEP_FAILED) continue;
        EXPECT_EQ(result->cases[i].verdict, TUTTI_VERDICT_REFUSED) << result->cases[i].report;
        const std::string culprit = ", culprit " + std::to_string(result->cases[i].rank) + "\n";
        EXPECT_NE(std::string(result->cases[i].report).find(culprit), std::string::npos)
            << result->cases[i].report;
    }
}

TEST(Sweep, FindsARankThatIsBlamedForAnother) {
    // Rank 0 has no patience: when rank 1 is late, it goes and leaves rank 1 alone.
    tutti_sweep_options options = sweep_options();
    options.actions = 1U << TUTTI_FAULT_DELAY;
    options.points = 1U << TUTTI_FAULT_AT_ALL_REDUCE;
    const Sweep result = sweep(
        2,
        [](tutti_rank *self) {
            Member member(self);
            if (member.status != TUTTI_OK || member.all_reduce() != TUTTI_OK) return;
            int done = tutti_rank_index(self) == 0 ? 0 : 1;
            while (done == 0 && tutti_rank_now(self) < 1000000)
                if (tutti_stream_query(member.stream, &done, nullptr) != TUTTI_OK) return;
            if (done == 0) (void)tutti_comm_abort(member.comm, nullptr);
            if (done != 0 && member.synchronize() == TUTTI_OK) (void)member.leave();
        },
        options);
    EXPECT_EQ(result->failed_count, 2U) << text_of(result); // once, and for ever
    EXPECT_NE(text_of(result).find("all_reduce[rank=1]=1*delay(10ms)\n"
                                   "          a rank is to blame that had no fault"),
              std::string::npos)
        << text_of(result);
}

TEST(Sweep, FindsWhatIsLeftOverInTheProcess) {
    int attempts = 0;
    const Sweep result = sweep(1, [&attempts](tutti_rank *self) {
        tutti_stream *stream = nullptr;
        attempts++;
        if (attempts > 2 && tutti_rank_sleep(self, 5, nullptr) != TUTTI_OK) return;
        if (tutti_stream_create(tutti_rank_device(self), nullptr, &stream, nullptr) != TUTTI_OK)
            return;
        tutti_stream_destroy(stream);
    });
    EXPECT_NE(text_of(result).find("a fresh start without the fault"), std::string::npos)
        << text_of(result);
}

TEST(Sweep, FindsThatAProgramDoesNotDoTheSameAgain) {
    int runs = 0;
    tutti_sweep_options options = sweep_options();
    options.actions = 1U << TUTTI_FAULT_KILL;
    options.no_fresh_start = 1;
    const Sweep result = sweep(
        1,
        [&runs](tutti_rank *self) {
            for (int i = runs++; i < 3; i++)
                (void)tutti_rank_sleep(self, 5, nullptr);
        },
        options);
    EXPECT_NE(text_of(result).find("the fault did not act"), std::string::npos) << text_of(result);
}

TEST(Sweep, OfAProgramThatIsWrongWithoutAnyFaultRunsNothing) {
    const Sweep result = sweep(2, [](tutti_rank *self) {
        Member member(self);
        if (tutti_rank_index(self) == 0) (void)member.all_reduce();
        (void)member.synchronize();
    });
    EXPECT_EQ(result->failed_count, 1U);
    EXPECT_EQ(result->passed_count, 0U);
    EXPECT_EQ(result->not_run_count, result->case_count);
    EXPECT_NE(std::string(result->trouble).find("missing"), std::string::npos);
    EXPECT_NE(text_of(result).find("the run without a fault does not end well"), std::string::npos);
}

// --- What the caller says ---

TEST(Sweep, RunsNoMoreThanItIsAllowed) {
    tutti_sweep_options options = sweep_options();
    options.run_count_max = 5;
    const Sweep result = sweep(2, careful, options);
    EXPECT_EQ(result->passed_count, 5U);
    EXPECT_EQ(result->not_run_count, result->case_count - 5);
    EXPECT_NE(text_of(result).find("as many runs were made as the options allow"),
              std::string::npos);
}

struct Caller {
    uint64_t told = 0;
    uint64_t stop_at = 0;
    std::vector<std::string> judged;
};

TEST(Sweep, StopsWhenTheCallerSaysSo) {
    Caller caller;
    caller.stop_at = 7;
    tutti_sweep_options options = sweep_options();
    options.context = &caller;
    options.progress = [](void *context, const tutti_sweep_case *fault, uint64_t done,
                          uint64_t total) {
        auto *self = static_cast<Caller *>(context);
        self->told++;
        EXPECT_EQ(done, self->told);
        EXPECT_GT(total, done);
        EXPECT_EQ(fault->result, TUTTI_SWEEP_PASSED);
        return done == self->stop_at ? 1 : 0;
    };
    const Sweep result = sweep(2, careful, options);
    EXPECT_EQ(caller.told, 7U);
    EXPECT_EQ(result->passed_count, 7U);
    EXPECT_NE(text_of(result).find("the caller has stopped the sweep"), std::string::npos);
}

TEST(Sweep, LeavesOutWhatIsExcludedAndSaysWhy) {
    tutti_sweep_options options = sweep_options();
    options.exclude = [](void *, const tutti_sweep_case *fault) {
        return fault->point == TUTTI_FAULT_AT_ALLOC ? "memory never runs out here" : nullptr;
    };
    const Sweep result = sweep(2, careful, options);
    EXPECT_GT(result->excluded_count, 0U);
    EXPECT_EQ(result->passed_count + result->excluded_count, result->case_count);
    EXPECT_NE(text_of(result).find("memory never runs out here"), std::string::npos);
}

TEST(Sweep, AsksTheCallerWhatIsWell) {
    Caller caller;
    tutti_sweep_options options = sweep_options();
    options.context = &caller;
    options.actions = 1U << TUTTI_FAULT_KILL;
    options.points = 1U << TUTTI_FAULT_AT_ALL_REDUCE;
    options.judge = [](void *context, const tutti_sweep_case *fault, const tutti_report *report) {
        static_cast<Caller *>(context)->judged.emplace_back(fault->plan);
        EXPECT_EQ(report->verdict, TUTTI_VERDICT_KILLED);
        return fault->rank == 1 ? "not rank 1" : nullptr;
    };
    const Sweep result = sweep(2, careful, options);
    EXPECT_EQ(caller.judged,
              (std::vector<std::string>{"all_reduce[rank=0]=1*kill", "all_reduce[rank=1]=1*kill"}));
    EXPECT_EQ(result->passed_count, 1U);
    EXPECT_EQ(result->failed_count, 1U);
    EXPECT_STREQ(result->cases[1].reason, "not rank 1");
}

TEST(Sweep, TakesAListOfVerdicts) {
    static const tutti_verdict verdicts[] = {TUTTI_VERDICT_REFUSED};
    tutti_sweep_options options = sweep_options();
    options.actions = 1U << TUTTI_FAULT_KILL | 1U << TUTTI_FAULT_REFUSE;
    options.points = 1U << TUTTI_FAULT_AT_ALL_REDUCE;
    options.verdicts = verdicts;
    options.verdict_count = 1;
    const Sweep result = sweep(2, careful, options);
    EXPECT_EQ(result->failed_count, 2U) << text_of(result); // the two kills
    EXPECT_EQ(result->passed_count, 4U) << text_of(result);
}

TEST(Sweep, FaultsOfTheRehearsalActInEveryRun) {
    const Sweep result = sweep(2, careful, sweep_options(), "copy[rank=0]=delay(3ms)");
    EXPECT_EQ(result->failed_count, 0U) << text_of(result);
    EXPECT_EQ(result->passed_count, result->case_count);
}

TEST(Sweep, CorruptDataMayEndInAWrongResult) {
    tutti_sweep_options options = sweep_options();
    options.actions = 1U << TUTTI_FAULT_CORRUPT | 1U << TUTTI_FAULT_SLOW;
    const Sweep result = sweep(2, careful, options);
    EXPECT_EQ(result->failed_count, 0U) << text_of(result);
    bool wrong = false;
    for (uint64_t i = 0; i < result->case_count; i++)
        wrong = wrong || result->cases[i].verdict == TUTTI_VERDICT_WRONG;
    EXPECT_TRUE(wrong);
}

TEST(Sweep, RefusesOptionsThatMakeNoSense) {
    const auto refused = [](const std::function<void(tutti_sweep_options *)> &spoil) {
        tutti_sweep_options options = sweep_options();
        const tutti_rehearsal_options rehearsal = options_for(2);
        const RankBody body = careful;
        tutti_sweep_report *report = nullptr;
        spoil(&options);
        return tutti_sweep(&rehearsal, run_rank_body, const_cast<RankBody *>(&body), &options,
                           &report, nullptr) == TUTTI_INVALID_ARGUMENT;
    };
    EXPECT_TRUE(refused([](tutti_sweep_options *options) { options->struct_size = 3; }));
    EXPECT_TRUE(refused([](tutti_sweep_options *options) { options->shard_index = 1; }));
    EXPECT_TRUE(refused([](tutti_sweep_options *options) { options->delay_ns = -1; }));
    EXPECT_TRUE(refused([](tutti_sweep_options *options) { options->actions = 1U << 20; }));
    EXPECT_TRUE(refused([](tutti_sweep_options *options) { options->points = 1U << 31; }));
    tutti_rehearsal_options parallel = options_for(2, TUTTI_EXECUTOR_PARALLEL);
    tutti_sweep_report *report = nullptr;
    const RankBody body = careful;
    EXPECT_EQ(tutti_sweep(&parallel, run_rank_body, const_cast<RankBody *>(&body), nullptr, &report,
                          nullptr),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(tutti_sweep(nullptr, run_rank_body, nullptr, nullptr, &report, nullptr),
              TUTTI_INVALID_ARGUMENT);
}

// --- Scripts ---

struct ScriptFree {
    void operator()(tutti_script *script) const {
        tutti_script_free(script);
    }
};

Sweep sweep_script(const std::string &text, tutti_script_executor executor = TUTTI_SCRIPT_AS_DATA) {
    tutti_script *parsed = nullptr;
    tutti_sweep_report *report = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_script_parse("test.tut", text.data(), text.size(), &parsed, &error), TUTTI_OK)
        << error.message;
    const std::unique_ptr<tutti_script, ScriptFree> script(parsed);
    tutti_script_options script_options = {};
    script_options.struct_size = sizeof script_options;
    script_options.executor = executor;
    script_options.faults = "";
    EXPECT_EQ(tutti_sweep_script(script.get(), &script_options, nullptr, &report, &error), TUTTI_OK)
        << error.message;
    return Sweep(report);
}

constexpr char two_ranks[] = "ranks 2\n"
                             "buffer x f32 4 = 1\n"
                             "rank *\n"
                             "  all_reduce x sum\n"
                             "  sync\n"
                             "  leave world\n";

TEST(SweepScript, FailsEveryPointInTurn) {
    const Sweep data = sweep_script(two_ranks);
    EXPECT_EQ(data->failed_count, 0U) << text_of(data);
    EXPECT_EQ(data->passed_count, data->case_count);
    const Sweep threads = sweep_script(two_ranks, TUTTI_SCRIPT_ON_THREADS);
    EXPECT_EQ(text_of(data), text_of(threads));
    EXPECT_EQ(plans_of(data), plans_of(threads));
}

TEST(SweepScript, MayEndAsItSays) {
    const Sweep result = sweep_script("ranks 2\n"
                                      "buffer x f32 4 = 1\n"
                                      "rank 0\n"
                                      "  all_reduce x sum\n"
                                      "  sync\n"
                                      "rank 1\n"
                                      "  join world\n"
                                      "verdict missing culprit 1\n");
    EXPECT_STREQ(result->trouble, "");
    EXPECT_GT(result->passed_count, 0U);
}

TEST(SweepScript, LeavesTheScriptsOwnFaultsToItself) {
    const Sweep result =
        sweep_script(std::string(two_ranks).insert(8, "fault all_reduce[rank=1]=delay(3ms)\n"));
    EXPECT_EQ(result->failed_count, 0U) << text_of(result);
    EXPECT_GT(result->not_run_count, 0U);
    EXPECT_NE(text_of(result).find("a fault of the script itself acts there"), std::string::npos);
}

} // namespace
