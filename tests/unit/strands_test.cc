// What strands know of each other, compared with whole vectors of times.

#include "drivers/emu/strands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace {

// Some domains with some strands each; beside each strand, a vector that has a time for every one.
class World {
  public:
    World(uint32_t domain_count, uint32_t strands_per_domain)
        : domains_(domain_count), per_domain_(strands_per_domain) {
        emu_strands_init(&strands, domain_count);
        for (uint32_t i = 0; i < domain_count; i++)
            emu_domain_init(&domains_[i], i);
        // One after the other in each domain, as streams come into being.
        for (uint32_t i = 0; i < domain_count * per_domain_; i++) {
            all.push_back(std::make_unique<emu_strand>());
            emu_strand_init(&strands, all.back().get(), &domains_[i % domain_count]);
        }
        model.assign(all.size(), std::vector<uint32_t>(all.size(), 0));
        for (size_t i = 0; i < all.size(); i++)
            model[i][i] = 1;
    }
    ~World() {
        for (const auto &strand : all)
            emu_strand_free(strand.get());
        for (emu_domain &domain : domains_)
            emu_domain_free(&domain);
        emu_strands_free(&strands);
    }
    World(const World &) = delete;
    World &operator=(const World &) = delete;

    void tick(size_t strand, uint32_t steps = 1) {
        emu_strand_tick(&strands, all[strand].get(), steps);
        model[strand][strand] += steps;
    }
    void learn(size_t strand, size_t from) {
        emu_moment *moment = emu_strand_moment(&strands, all[from].get());
        emu_strand_learn(&strands, all[strand].get(), moment);
        emu_moment_release(&strands, moment);
        raise(strand, model[from]);
    }
    // All of them learn what each of them knows.
    void meet(const std::vector<size_t> &members) {
        emu_gathering gathering = {};
        std::vector<emu_known *> before;
        std::vector<uint32_t> gathered(all.size(), 0);
        for (const size_t member : members) {
            before.push_back(emu_strand_knowledge(all[member].get()));
            emu_gathering_add(&strands, &gathering, all[member].get());
            for (size_t i = 0; i < gathered.size(); i++)
                gathered[i] = std::max(gathered[i], model[member][i]);
        }
        for (size_t i = 0; i < members.size(); i++) {
            emu_strand_learn_gathered(&strands, all[members[i]].get(), &gathering, before[i]);
            emu_knowledge_release(&strands, before[i]);
            raise(members[i], gathered);
        }
        emu_gathering_clear(&strands, &gathering);
    }
    void expect_equal() const {
        for (size_t i = 0; i < all.size(); i++) {
            for (size_t j = 0; j < all.size(); j++) {
                EXPECT_TRUE(knows(i, j, model[i][j])) << i << " of " << j;
                EXPECT_FALSE(knows(i, j, model[i][j] + 1)) << i << " of " << j;
            }
        }
        EXPECT_FALSE(strands.out_of_memory);
        EXPECT_FALSE(strands.exhausted);
    }
    bool knows(size_t strand, size_t other, uint32_t time) const {
        return emu_strand_knows(&strands, all[strand].get(), all[other].get(), time);
    }

    emu_strands strands;
    std::vector<std::unique_ptr<emu_strand>> all;
    std::vector<std::vector<uint32_t>> model;

  private:
    void raise(size_t strand, const std::vector<uint32_t> &times) {
        for (size_t i = 0; i < times.size(); i++)
            model[strand][i] = std::max(model[strand][i], times[i]);
    }

    std::vector<emu_domain> domains_;
    uint32_t per_domain_;
};

TEST(Strands, KnowNothingOfEachOtherAtFirst) {
    World world(2, 2);
    world.expect_equal();
}

TEST(Strands, LearnWhatWasBeforeAMomentAndNotWhatCameAfter) {
    World world(1, 2);
    emu_moment *moment = emu_strand_moment(&world.strands, world.all[0].get());
    world.tick(0);
    emu_strand_learn(&world.strands, world.all[1].get(), moment);
    emu_moment_release(&world.strands, moment);
    EXPECT_TRUE(world.knows(1, 0, 1));
    EXPECT_FALSE(world.knows(1, 0, 2));
}

TEST(Strands, LearnOfTheirOwnDomainThroughAnother) {
    World world(2, 2); // strands 0 and 2 are of one domain, 1 and 3 of the other
    world.tick(0);
    world.learn(1, 0);
    world.learn(2, 1);
    EXPECT_TRUE(world.knows(2, 0, 2));
    world.expect_equal();
}

TEST(Strands, OfAGatheringAllKnowAll) {
    World world(300, 2);
    std::vector<size_t> members;
    for (size_t i = 0; i < 300; i++)
        members.push_back(i);
    for (int round = 0; round < 3; round++) {
        for (const size_t member : members)
            world.tick(member, 1 + static_cast<uint32_t>(member) % 3);
        world.meet(members);
        world.learn(300, 0);
        world.learn(7, 300);
    }
    world.expect_equal();
}

TEST(Strands, AreWhatVectorsSayInRandomHistories) {
    for (uint32_t seed = 0; seed < 60; seed++) {
        std::mt19937 engine(seed);
        const auto below = [&](size_t limit) { return static_cast<size_t>(engine()) % limit; };
        World world(static_cast<uint32_t>(1 + below(20)), static_cast<uint32_t>(1 + below(7)));
        const size_t count = world.all.size();
        for (int step = 0; step < 150; step++) {
            const size_t kind = below(10);
            if (kind < 4) {
                world.tick(below(count));
            } else if (kind < 8) {
                world.learn(below(count), below(count));
            } else {
                std::vector<size_t> members;
                for (size_t i = 0; i < count; i++)
                    if (below(3) == 0) members.push_back(i);
                world.meet(members);
            }
        }
        world.expect_equal();
        if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
    }
}

TEST(Strands, NeedNoMoreMemoryAfterTheFirstRounds) {
    World world(100, 2);
    std::vector<size_t> members;
    for (size_t i = 0; i < 100; i++)
        members.push_back(i);
    uint32_t blocks = 0;
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < 100; i++) {
            world.tick(100 + i);
            world.learn(i, 100 + i);
        }
        world.meet(members);
        for (size_t i = 0; i < 100; i++)
            world.learn(100 + i, i);
        if (round == 10) blocks = world.strands.block_count;
    }
    EXPECT_EQ(world.strands.block_count, blocks);
}

} // namespace
