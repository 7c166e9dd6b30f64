// Fibers by themselves, and rehearsals on them: the same traces as on threads.

#include <gtest/gtest.h>

#include <cerrno>
#include <exception>
#include <string>
#include <vector>

#include "drivers/emu/fibers.h"
#include "drivers/emu/tsan.h"
#include "tests/unit/rehearsal_support.h"

namespace {

// --- By themselves ---

struct Ring {
    emu_fiber_set *set = nullptr;
    int32_t count = 0;
    int rounds = 0;
    std::vector<int> log;
};

struct Link {
    Ring *ring;
    int32_t place;
};

// Says its number and hands on, a few times; the last one goes back to the thread.
void hand_on(void *argument) {
    const Link *self = static_cast<const Link *>(argument);
    Ring *ring = self->ring;
    volatile double kept = self->place + 0.5; // a register that must survive
    const int32_t next = (self->place + 1) % ring->count;
    for (int round = 0; round < ring->rounds; round++) {
        ring->log.push_back(self->place);
        errno = self->place + 1;
        const bool last = round + 1 == ring->rounds;
        if (last && self->place + 1 == ring->count) break;
        if (last) emu_fiber_end(ring->set, static_cast<uint32_t>(self->place), next);
        emu_fiber_switch(ring->set, self->place, next);
        EXPECT_EQ(errno, self->place + 1);
        EXPECT_EQ(kept, self->place + 0.5);
    }
    emu_fiber_end(ring->set, static_cast<uint32_t>(self->place), EMU_FIBER_NONE);
}

void run_ring(Ring &ring) {
    std::vector<Link> links;
    for (int32_t i = 0; i < ring.count; i++)
        links.push_back({&ring, i});
    ASSERT_EQ(emu_fiber_set_reserve(ring.set, static_cast<uint32_t>(ring.count), nullptr),
              TUTTI_OK);
    for (int32_t i = 0; i < ring.count; i++)
        emu_fiber_assign(ring.set, static_cast<uint32_t>(i), hand_on, &links[i]);
    emu_fiber_switch(ring.set, EMU_FIBER_NONE, 0);
    ASSERT_EQ(ring.log.size(), static_cast<size_t>(ring.count * ring.rounds));
    for (size_t i = 0; i < ring.log.size(); i++)
        EXPECT_EQ(ring.log[i], static_cast<int>(i) % ring.count);
}

TEST(Fibers, TakeTurnsAndKeepWhatTheyHave) {
    if (EMU_TSAN) GTEST_SKIP() << "for TSan a switch orders nothing, and the log would be a race";
    Ring ring;
    ring.count = 5;
    ring.rounds = 100;
    ASSERT_EQ(emu_fiber_set_create(0, &ring.set, nullptr), TUTTI_OK);
    run_ring(ring);
    // The stacks are used again.
    ring.log.clear();
    run_ring(ring);
    emu_fiber_set_destroy(ring.set);
}

TEST(Fibers, ThereMayBeThousands) {
    if (EMU_TSAN) GTEST_SKIP() << "for TSan a switch orders nothing, and the log would be a race";
    Ring ring;
    ring.count = 3000;
    ring.rounds = 2;
    ASSERT_EQ(emu_fiber_set_create(0, &ring.set, nullptr), TUTTI_OK);
    run_ring(ring);
    emu_fiber_set_destroy(ring.set);
}

TEST(Fibers, ASetOfNoneIsDestroyed) {
    emu_fiber_set *set = nullptr;
    ASSERT_EQ(emu_fiber_set_create(1, &set, nullptr), TUTTI_OK);
    emu_fiber_set_destroy(set);
    emu_fiber_set_destroy(nullptr);
}

// --- Rehearsals ---

std::string trace_of(tutti_rehearsal_options options, const RankBody &body) {
    std::string trace;
    options.trace_context = &trace;
    options.trace_sink = [](void *context, const char *text, size_t bytes) {
        static_cast<std::string *>(context)->append(text, bytes);
    };
    const Report report = rehearse(options, body);
    return trace + text_of(report.get());
}

TEST(RehearsalOnFibers, HasTheTraceOfThreads) {
    for (uint32_t ranks : {1u, 2u, 7u}) {
        for (uint64_t seed = 0; seed < 10; seed++) {
            tutti_rehearsal_options threads = options_for(ranks);
            threads.random_schedule = seed > 0;
            threads.seed = seed;
            tutti_rehearsal_options fibers = threads;
            fibers.executor = TUTTI_EXECUTOR_FIBERS;
            EXPECT_EQ(trace_of(threads, summing(3)), trace_of(fibers, summing(3)));
        }
    }
}

TEST(RehearsalOnFibers, ExplainsAStuckProgramAsThreadsDo) {
    const RankBody stuck = [](tutti_rank *self) {
        Member member(self);
        (void)member.set(1);
        if (tutti_rank_index(self) != 1) (void)member.all_reduce();
        (void)member.synchronize();
    };
    tutti_rehearsal_options options = options_for(3);
    const std::string threads = trace_of(options, stuck);
    options.executor = TUTTI_EXECUTOR_FIBERS;
    EXPECT_EQ(trace_of(options, stuck), threads);
    EXPECT_EQ(rehearse(options, stuck)->verdict, TUTTI_VERDICT_MISSING);
}

// The macro notes the place of a call before its arguments are evaluated: here, others run then.
TEST(RehearsalOnFibers, NamesThePlaceOfACallWhoseArgumentsGiveWay) {
    const RankBody body = [](tutti_rank *self) {
        Member member(self);
        const auto late_count = [self] {
            for (int i = 0; i < 200; i++)
                (void)tutti_rank_now(self);
            return static_cast<size_t>(tutti_rank_index(self)) + 1;
        };
        (void)tutti_all_reduce(member.comm, member.buffer, member.buffer, member.data_type,
                               late_count(), TUTTI_SUM, member.stream, nullptr);
        (void)member.synchronize();
    };
    tutti_rehearsal_options options = options_for(3);
    const std::string threads = trace_of(options, body);
    EXPECT_NE(threads.find("fibers_test.cc:"), std::string::npos) << threads;
    options.executor = TUTTI_EXECUTOR_FIBERS;
    EXPECT_EQ(trace_of(options, body), threads);
}

TEST(RehearsalOnFibers, KeepsExceptionsOfRanksApart) {
    const RankBody body = [](tutti_rank *self) {
        const int32_t index = tutti_rank_index(self);
        Member member(self);
        try {
            throw index;
        } catch (const int32_t &caught) {
            EXPECT_EQ(member.set(1), TUTTI_OK);
            EXPECT_EQ(member.all_reduce(), TUTTI_OK);
            EXPECT_EQ(member.synchronize(), TUTTI_OK); // others throw and catch meanwhile
            EXPECT_EQ(caught, index);
            try {
                throw; // the one that this rank handles
            } catch (int32_t again) {
                EXPECT_EQ(again, index);
            }
        }
        EXPECT_EQ(std::current_exception(), nullptr);
        EXPECT_EQ(member.leave(), TUTTI_OK);
    };
    const Report report = rehearse(options_for(4, TUTTI_EXECUTOR_FIBERS), body);
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(RehearsalOnFibers, TakesAThousandRanks) {
    tutti_rehearsal_options options = options_for(1000, TUTTI_EXECUTOR_FIBERS);
    const Report report = rehearse(options, summing(2));
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(RehearsalOnFibers, EndsARankThatDoesNotReturnWhenItIsKilled) {
    tutti_rehearsal_options options = options_for(2, TUTTI_EXECUTOR_FIBERS);
    options.faults = "all_reduce[rank=1]=kill";
    const Report report = rehearse(options, [](tutti_rank *self) {
        Member member(self);
        (void)member.set(1);
        for (;;)
            if (member.all_reduce() == TUTTI_OK && tutti_rank_index(self) == 0) break;
        (void)member.synchronize();
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_KILLED) << text_of(report.get());
}

} // namespace
