// The schedule: who runs next, when time passes, when a run is over. Driven here by programs that
// are lists of calls, without any thread, as a script is; and compared with the same programs on
// threads.
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/rehearsal_support.h"

extern "C" {
#include "drivers/emu/engine.h"
}
#include "drivers/emu/schedule.h"

namespace {

// What a host's program is made of, one call after the other.
struct Call {
    std::function<void(emu_call *)> fill;
    std::function<bool(const emu_call &)> again = nullptr; // whether to make it once more
    std::function<void(const emu_call &)> after = nullptr;
};
using Program = std::vector<Call>;

// Carries programs out as schedule.h says.
class Machine {
  public:
    explicit Machine(uint32_t host_count, uint64_t seed = 0, const char *faults = nullptr) {
        emu_config config = {};
        tutti_error error;
        if (faults != nullptr) {
            EXPECT_EQ(tutti_fault_plan_parse(faults, strlen(faults), nullptr, &plan_, &error),
                      TUTTI_OK)
                << error.message;
        }
        config.host_count = config.device_count = host_count;
        config.faults = plan_;
        EXPECT_EQ(emu_engine_create(&config, nullptr, &engine, &error), TUTTI_OK);
        if (seed == 0)
            emu_choices_init_plain(&choices_);
        else
            emu_choices_init_random(&choices_, seed);
        emu_schedule_config schedule_config = {};
        schedule_config.engine = engine;
        schedule_config.host_count = host_count;
        schedule_config.choices = &choices_;
        EXPECT_EQ(emu_schedule_create(&schedule_config, &schedule, &error), TUTTI_OK);
        hosts_.resize(host_count);
    }

    ~Machine() {
        emu_schedule_destroy(schedule);
        emu_choices_free(&choices_);
        emu_engine_destroy(engine);
        tutti_fault_plan_destroy(plan_);
    }

    Machine(const Machine &) = delete;

    void set_program(uint32_t host, Program program) {
        hosts_[host].program = std::move(program);
    }

    Report run() {
        int32_t next = emu_schedule_next(schedule);
        while (next >= 0) {
            order.push_back(next);
            next = go_on(static_cast<uint32_t>(next));
        }
        EXPECT_EQ(next, EMU_SCHEDULE_FINISHED);
        for (uint32_t host = 0; host < hosts_.size(); host++)
            EXPECT_TRUE(emu_engine_host_exited(engine, host));
        std::string text(emu_choice_record_format(&choices_.record, nullptr, 0), '\0');
        (void)emu_choice_record_format(&choices_.record, &text[0], text.size() + 1);
        const emu_report_extra extra = {text.c_str(), nullptr, nullptr, 0};
        tutti_report *report = nullptr;
        EXPECT_EQ(emu_report_create(engine, &extra, &report, nullptr), TUTTI_OK);
        return Report(report);
    }

    emu_engine *engine = nullptr;
    emu_schedule *schedule = nullptr;
    std::vector<int32_t> order; // hosts, each when it followed on another

  private:
    enum class Phase { prepare, issue, finish };

    struct Host {
        Program program;
        size_t at = 0;
        Phase phase = Phase::prepare;
        emu_call call = {};
    };

    // One host, until another is named.
    int32_t go_on(uint32_t index) {
        Host &host = hosts_[index];
        for (;;) {
            int32_t next = static_cast<int32_t>(index);
            switch (host.phase) {
            case Phase::prepare:
                next = prepare(&host, next);
                break;
            case Phase::issue:
                host.phase = Phase::finish;
                if (emu_engine_issue(engine, index, &host.call) == EMU_DONE) break;
                emu_schedule_block(schedule, index);
                next = emu_schedule_next(schedule);
                break;
            case Phase::finish:
                emu_schedule_done(schedule, index, &host.call);
                host.phase = Phase::prepare;
                if (host.call.kind == EMU_CALL_EXIT) {
                    emu_schedule_exit(schedule, index);
                    return emu_schedule_next(schedule);
                }
                finish(&host);
                break;
            }
            if (next != static_cast<int32_t>(index)) return next;
        }
    }

    int32_t prepare(Host *host, int32_t index) {
        host->call = {};
        if (emu_schedule_is_over(schedule)) host->at = host->program.size();
        if (host->at < host->program.size())
            host->program[host->at].fill(&host->call);
        else
            host->call.kind = EMU_CALL_EXIT;
        host->phase = Phase::issue;
        if (!emu_schedule_is_point(schedule, host->call.kind)) return index;
        return emu_schedule_point(schedule, host->call.kind);
    }

    void finish(Host *host) {
        const Call &made = host->program[host->at];
        if (made.after) made.after(host->call);
        if (!made.again || !made.again(host->call)) host->at++;
    }

    tutti_fault_plan *plan_ = nullptr;
    emu_choices choices_ = {};
    std::vector<Host> hosts_;
};

Call pause(int64_t duration_ns) {
    return {[=](emu_call *call) {
        call->kind = EMU_CALL_SLEEP;
        call->duration_ns = duration_ns;
    }};
}

Call mint(tutti_communication_id id) {
    auto out = std::make_shared<tutti_unique_id>();
    return {[=](emu_call *call) {
        call->kind = EMU_CALL_MINT;
        call->communication_id = id;
        call->id_out = out.get();
    }};
}

// The objects of a rank.
struct Objects {
    tutti_unique_id id = {};
    emu_comm *comm = nullptr;
    emu_stream *stream = nullptr;
    tutti_buffer buffer = {};
    std::vector<float> values = std::vector<float>(4);
};

// What summing() does, as a list of calls.
Program summing_program(emu_engine *engine, uint32_t host, int32_t rank_count, int rounds,
                        const uint32_t *member_hosts, tutti_communication_id world) {
    auto mine = std::make_shared<Objects>();
    emu_device *device = emu_engine_device(engine, host);
    const size_t bytes = 4 * sizeof(float);
    Program program;
    program.push_back({[=](emu_call *call) {
        call->kind = EMU_CALL_MINT;
        call->communication_id = world;
        call->id_out = &mine->id;
    }});
    program.push_back({[=](emu_call *call) {
                           call->kind = EMU_CALL_JOIN;
                           call->device = device;
                           call->id = &mine->id;
                           call->rank_count = rank_count;
                           call->peer = static_cast<int32_t>(host);
                           call->name = "world";
                           call->member_hosts = member_hosts;
                       },
                       nullptr, [=](const emu_call &call) { mine->comm = call.comm; }});
    program.push_back({[=](emu_call *call) {
                           call->kind = EMU_CALL_STREAM_CREATE;
                           call->device = device;
                       },
                       nullptr, [=](const emu_call &call) { mine->stream = call.stream; }});
    program.push_back({[=](emu_call *call) {
                           call->kind = EMU_CALL_ALLOCATE;
                           call->device = device;
                           call->count = bytes;
                       },
                       nullptr, [=](const emu_call &call) { mine->buffer = call.buffer_out; }});
    program.push_back({[=](emu_call *call) {
        call->kind = EMU_CALL_DATA_TYPE;
        call->device = device;
        call->data_type = {TUTTI_F32, 4, TUTTI_F32};
    }});
    const Call synchronize = {[=](emu_call *call) {
        call->kind = EMU_CALL_STREAM_SYNC;
        call->stream = mine->stream;
    }};
    for (int round = 0; round < rounds; round++) {
        program.push_back({[=](emu_call *call) {
            mine->values.assign(4, static_cast<float>(host));
            call->kind = EMU_CALL_COPY;
            call->stream = mine->stream;
            call->source = {mine->values.data(), bytes};
            call->destination = mine->buffer;
            call->count = bytes;
        }});
        program.push_back(synchronize);
        program.push_back({[=](emu_call *call) {
            call->kind = EMU_CALL_ALL_REDUCE;
            call->comm = mine->comm;
            call->stream = mine->stream;
            call->source = call->destination = mine->buffer;
            call->data_type = {TUTTI_F32, 4, TUTTI_F32};
            call->count = 4;
            call->op = TUTTI_SUM;
        }});
        program.push_back({[=](emu_call *call) {
            call->kind = EMU_CALL_COPY;
            call->stream = mine->stream;
            call->source = mine->buffer;
            call->destination = {mine->values.data(), bytes};
            call->count = bytes;
        }});
        program.push_back(synchronize);
    }
    program.push_back({[=](emu_call *call) {
        call->kind = EMU_CALL_LEAVE;
        call->comm = mine->comm;
    }});
    program.push_back({[=](emu_call *call) {
        call->kind = EMU_CALL_STREAM_DESTROY;
        call->stream = mine->stream;
    }});
    program.push_back({[=](emu_call *call) {
        call->kind = EMU_CALL_FREE;
        call->device = device;
        call->destination = mine->buffer;
    }});
    return program;
}

Report sum_as_data(uint32_t host_count, int rounds, uint64_t seed = 0,
                   const char *faults = nullptr) {
    Machine machine(host_count, seed, faults);
    std::vector<uint32_t> members(host_count);
    for (uint32_t host = 0; host < host_count; host++)
        members[host] = host;
    for (uint32_t host = 0; host < host_count; host++)
        machine.set_program(host,
                            summing_program(machine.engine, host, static_cast<int32_t>(host_count),
                                            rounds, members.data(), 1));
    return machine.run();
}

Report sum_on_threads(uint32_t host_count, int rounds, uint64_t seed = 0,
                      const char *faults = nullptr) {
    tutti_rehearsal_options options = options_for(host_count);
    options.random_schedule = seed != 0;
    options.seed = seed;
    if (faults != nullptr) options.faults = faults;
    return rehearse(options, summing(rounds));
}

TEST(Schedule, PlainRunLetsEachHostGoOnUntilItWaits) {
    Machine machine(3);
    for (uint32_t host = 0; host < 3; host++)
        machine.set_program(host, {mint(1), mint(2), pause(10), mint(3)});
    const Report report = machine.run();
    EXPECT_EQ(machine.order, (std::vector<int32_t>{0, 1, 2, 0, 1}))
        << "all are woken at once, and host 2, the last that ran, goes on first";
    EXPECT_EQ(report->virtual_ns, 10);
    EXPECT_STREQ(report->choices, "");
}

TEST(Schedule, TheNextReadyHostAboveGoesOn) {
    Machine machine(4);
    machine.set_program(0, {pause(30)});
    machine.set_program(1, {pause(10), pause(10)});
    machine.set_program(2, {pause(20)});
    machine.set_program(3, {pause(20)});
    (void)machine.run();
    EXPECT_EQ(machine.order, (std::vector<int32_t>{0, 1, 2, 3, 1, 2, 3, 0}));
}

TEST(Schedule, TimeStandsStillWhileAnybodyIsReady) {
    Machine machine(2);
    std::vector<int64_t> seen;
    const auto note = [&](const emu_call &) { seen.push_back(emu_engine_now(machine.engine)); };
    machine.set_program(0, {pause(5)});
    Program busy(100, mint(1));
    for (Call &call : busy)
        call.after = note;
    machine.set_program(1, busy);
    (void)machine.run();
    EXPECT_EQ(seen, std::vector<int64_t>(100, 0));
}

TEST(Schedule, EveryScheduleFinishesAndCanBeRepeated) {
    for (uint64_t seed = 1; seed < 30; seed++) {
        const Report first = sum_as_data(4, 3, seed), second = sum_as_data(4, 3, seed);
        EXPECT_EQ(first->verdict, TUTTI_VERDICT_OK) << text_of(first.get());
        EXPECT_EQ(first->trace_hash, second->trace_hash);
        EXPECT_STRNE(first->choices, "");
    }
}

TEST(Schedule, SameTraceOnThreadsAndAsData) {
    for (const uint32_t hosts : {1U, 2U, 5U, 70U}) {
        for (uint64_t seed = 0; seed < 6; seed++) {
            const Report data = sum_as_data(hosts, 3, seed);
            const Report threads = sum_on_threads(hosts, 3, seed);
            EXPECT_EQ(data->trace_hash, threads->trace_hash) << hosts << " hosts, seed " << seed;
            EXPECT_STREQ(data->choices, threads->choices);
            EXPECT_EQ(data->call_count, threads->call_count);
        }
    }
}

TEST(Schedule, SameTraceOnThreadsAndAsDataWithFaults) {
    for (const char *faults : {"all_reduce[rank=1]=delay(3ms)", "join[rank=0]=delay(1ms)",
                               "mint=delay(1ms)", "sync=50%delay(2ms)"}) {
        for (uint64_t seed = 0; seed < 4; seed++) {
            const Report data = sum_as_data(3, 3, seed, faults);
            const Report threads = sum_on_threads(3, 3, seed, faults);
            EXPECT_EQ(data->verdict, TUTTI_VERDICT_OK) << text_of(data.get());
            if (strchr(faults, '%') != nullptr) continue; // drawn from the run's seed, not ours
            EXPECT_EQ(data->trace_hash, threads->trace_hash) << faults << ", seed " << seed;
        }
    }
}

// --- Polling

struct Poll {
    emu_comm *comm = nullptr;
    tutti_unique_id id = {};
    int looks = 0;
};

// Joins a group of two without blocking, as rank `host`, and looks until it is no longer forming.
Program polling_program(emu_engine *engine, uint32_t host, Poll *poll) {
    return {{[=](emu_call *call) {
                call->kind = EMU_CALL_MINT;
                call->communication_id = 9;
                call->id_out = &poll->id;
            }},
            {[=](emu_call *call) {
                 call->kind = EMU_CALL_JOIN;
                 call->device = emu_engine_device(engine, host);
                 call->id = &poll->id;
                 call->rank_count = 2;
                 call->peer = static_cast<int32_t>(host);
                 call->non_blocking = true;
             },
             nullptr, [=](const emu_call &call) { poll->comm = call.comm; }},
            {[=](emu_call *call) {
                 call->kind = EMU_CALL_COMM_STATUS;
                 call->comm = poll->comm;
             },
             [=](const emu_call &call) {
                 poll->looks++;
                 return call.polled;
             }}};
}

TEST(Schedule, PollersLetOthersGoFirst) {
    Machine machine(2);
    Poll polls[2];
    for (uint32_t host = 0; host < 2; host++)
        machine.set_program(host, polling_program(machine.engine, host, &polls[host]));
    const Report report = machine.run();
    EXPECT_EQ(polls[0].looks, 2);
    EXPECT_EQ(polls[1].looks, 1);
    EXPECT_EQ(report->virtual_ns, 0);
}

TEST(Schedule, ClockMovesInSmallStepsForPollersAndNotBeyondATimer) {
    Machine machine(2);
    Poll polls[2];
    machine.set_program(0, polling_program(machine.engine, 0, &polls[0]));
    Program late = polling_program(machine.engine, 1, &polls[1]);
    late.insert(late.begin(), pause(10 * EMU_POLL_INTERVAL_NS + 500));
    machine.set_program(1, late);
    const Report report = machine.run();
    EXPECT_EQ(report->virtual_ns, 10 * EMU_POLL_INTERVAL_NS + 500);
    EXPECT_GE(polls[0].looks, 11);
    EXPECT_LE(polls[0].looks, 15);
}

TEST(Schedule, ClockMovesInLargeStepsForPollersThatWaitLong) {
    Machine machine(2);
    Poll polls[2];
    const int64_t day_ns = INT64_C(86400000000000);
    machine.set_program(0, polling_program(machine.engine, 0, &polls[0]));
    Program late = polling_program(machine.engine, 1, &polls[1]);
    late.insert(late.begin(), pause(day_ns));
    machine.set_program(1, late);
    EXPECT_EQ(machine.run()->virtual_ns, day_ns);
    EXPECT_LT(polls[0].looks, EMU_POLL_ROUNDS + EMU_POLL_DOUBLINGS);
}

TEST(Schedule, PollersOfWhatNeverComesAreStuckInTheEnd) {
    Machine machine(2);
    Poll poll;
    machine.set_program(0, polling_program(machine.engine, 0, &poll));
    const Report report = machine.run();
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_MISSING) << text_of(report.get());
    EXPECT_FALSE(emu_schedule_is_over(machine.schedule)) << "it listened";
    const int64_t doublings_ns = ((INT64_C(1) << (EMU_POLL_DOUBLINGS + 1)) - 2) * 1000;
    EXPECT_EQ(report->virtual_ns, EMU_POLL_ROUNDS * EMU_POLL_INTERVAL_NS + doublings_ns);
}

TEST(Schedule, CallsThatDoNothingForEverAreAPollToo) {
    Machine machine(1);
    uint64_t calls = 0;
    Call useless = mint(1);
    useless.again = [&](const emu_call &) {
        calls++;
        return true;
    };
    machine.set_program(0, {useless});
    const Report report = machine.run();
    EXPECT_TRUE(emu_schedule_is_over(machine.schedule));
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_WRONG) << text_of(report.get());
    EXPECT_GE(calls, uint64_t{EMU_IDLE_CALLS_MAX});
    EXPECT_LE(calls, uint64_t{EMU_IDLE_CALLS_MAX} + EMU_POLL_ROUNDS + EMU_POLL_DOUBLINGS + 20);
}

TEST(Schedule, HostThatNeverWaitsGivesWayInTheEnd) {
    Machine machine(2);
    bool other_ran = false;
    int64_t calls = 0;
    auto stream = std::make_shared<emu_stream *>();
    const Call create = {[&](emu_call *call) {
                             call->kind = EMU_CALL_STREAM_CREATE;
                             call->device = emu_engine_device(machine.engine, 0);
                         },
                         nullptr, [=](const emu_call &call) { *stream = call.stream; }};
    const Call fill = {[=](emu_call *call) {
                           call->kind = EMU_CALL_FILL;
                           call->stream = *stream;
                       },
                       [&](const emu_call &) {
                           calls++;
                           return !other_ran;
                       }};
    Call note = mint(1);
    note.after = [&](const emu_call &) { other_ran = true; };
    machine.set_program(0, {create, fill});
    machine.set_program(1, {note});
    (void)machine.run();
    EXPECT_GE(calls, int64_t{EMU_TURN_POINTS_MAX} - 10);
    EXPECT_LE(calls, int64_t{EMU_TURN_POINTS_MAX} + 10);
}

TEST(Schedule, ThousandsOfHostsTakeTheirTurns) {
    Machine machine(5000);
    for (uint32_t host = 0; host < 5000; host++)
        machine.set_program(host, {pause(5000 - host), pause(1)});
    const Report report = machine.run();
    EXPECT_EQ(report->virtual_ns, 5001);
    EXPECT_EQ(machine.order.size(), 9999U) << "the last one waits twice and goes on by itself";
}

TEST(Schedule, GivenUpEffectEndsTheRun) {
    Machine machine(1);
    emu_choices choices;
    emu_choices_init_plain(&choices);
    emu_schedule_config config = {};
    config.engine = machine.engine;
    config.host_count = 1;
    config.choices = &choices;
    config.perform = [](void *, const emu_effect *) { return false; };
    emu_schedule *schedule = nullptr;
    ASSERT_EQ(emu_schedule_create(&config, &schedule, nullptr), TUTTI_OK);
    ASSERT_EQ(emu_schedule_next(schedule), 0);
    emu_call call = {};
    call.kind = EMU_CALL_STREAM_CREATE;
    call.device = emu_engine_device(machine.engine, 0);
    ASSERT_EQ(emu_engine_issue(machine.engine, 0, &call), EMU_DONE);
    float values[2] = {1, 2};
    emu_call allocate = {};
    allocate.kind = EMU_CALL_ALLOCATE;
    allocate.device = call.device;
    allocate.count = sizeof(values);
    ASSERT_EQ(emu_engine_issue(machine.engine, 0, &allocate), EMU_DONE);
    emu_call copy = {};
    copy.kind = EMU_CALL_COPY;
    copy.stream = call.stream;
    copy.source = {values, sizeof(values)};
    copy.destination = allocate.buffer_out;
    copy.count = sizeof(values);
    ASSERT_EQ(emu_engine_issue(machine.engine, 0, &copy), EMU_DONE);
    EXPECT_EQ(emu_schedule_next(schedule), EMU_SCHEDULE_ABANDONED);
    emu_schedule_destroy(schedule);
    emu_choices_free(&choices);
}

TEST(Schedule, CallsThatOnlyLookArePoints) {
    int looks = 0, points = 0;
    for (int kind = 0; kind < EMU_CALL_KIND_COUNT; kind++) {
        const auto one = static_cast<emu_call_kind>(kind);
        looks += emu_call_is_look(one);
        points += emu_call_is_point(one);
        EXPECT_TRUE(!emu_call_is_look(one) || emu_call_is_point(one));
    }
    EXPECT_EQ(looks, 3);
    EXPECT_EQ(points, 21);
}

} // namespace
