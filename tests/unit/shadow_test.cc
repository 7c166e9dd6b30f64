// Segments of accesses, compared with a model that remembers every access to every byte.

#include "drivers/emu/shadow.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <vector>

namespace {

constexpr size_t kBytes = 48;

// Some strands of one domain that touch one allocation.
class Memory {
  public:
    explicit Memory(size_t strand_count, bool defined = true) {
        emu_strands_init(&strands_, 1);
        emu_domain_init(&domain_, 0);
        for (size_t i = 0; i < strand_count; i++) {
            all_.push_back(std::make_unique<emu_strand>());
            emu_strand_init(&strands_, all_.back().get(), &domain_);
        }
        emu_access first = access(0);
        first.undefined = !defined;
        emu_shadow_init(&shadow, kBytes, &first);
        for (Byte &byte : model_)
            byte.write = first;
    }
    ~Memory() {
        emu_shadow_free(&shadows, &shadow);
        emu_shadows_free(&shadows);
        for (const auto &strand : all_)
            emu_strand_free(strand.get());
        emu_domain_free(&domain_);
        emu_strands_free(&strands_);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    void learn(size_t strand, size_t from) {
        emu_moment *moment = emu_strand_moment(&strands_, all_[from].get());
        emu_strand_learn(&strands_, all_[strand].get(), moment);
        emu_moment_release(&strands_, moment);
        emu_strand_tick(&strands_, all_[from].get(), 1);
    }

    // The bytes that clash: by order, or because they are undefined.
    struct Clashes {
        std::set<size_t> ordered, undefined;
    };
    Clashes touch(size_t strand, size_t begin, size_t end, bool writes, bool undefined = false) {
        emu_strand_tick(&strands_, all_[strand].get(), 1);
        emu_touching touching = {};
        Clashes found;
        touching.access = access(strand);
        touching.access.undefined = undefined;
        touching.begin = begin;
        touching.end = end;
        touching.writes = writes;
        touching.strands = &strands_;
        touching.asks = all_[strand].get();
        touching.context = &found;
        touching.clash = [](void *context, const emu_clash *clash) {
            auto *clashes = static_cast<Clashes *>(context);
            for (size_t byte = clash->begin; byte < clash->end; byte++)
                (clash->undefined ? clashes->undefined : clashes->ordered).insert(byte);
        };
        emu_shadow_touch(&shadows, &shadow, &touching);
        expect_whole();
        return found;
    }

    // What the model says of the same access, which it remembers.
    Clashes expected(size_t strand, size_t begin, size_t end, bool writes, bool undefined = false) {
        Clashes clashes;
        for (size_t i = begin; i < end; i++) {
            Byte &byte = model_[i];
            bool clash = !is_over(strand, byte.write);
            if (!clash && !writes && byte.write.undefined) clashes.undefined.insert(i);
            for (const emu_access &read : byte.reads)
                clash = clash || (writes && !is_over(strand, read));
            if (clash) clashes.ordered.insert(i);
            emu_access now = access(strand);
            now.undefined = undefined;
            if (writes) byte.reads.clear();
            if (writes)
                byte.write = now;
            else
                byte.reads.push_back(now);
        }
        return clashes;
    }

    emu_shadow shadow;
    emu_shadows shadows = {};

  private:
    struct Byte {
        emu_access write = {};
        std::vector<emu_access> reads;
    };

    emu_access access(size_t strand) const {
        emu_access made = {};
        made.strand = all_[strand].get();
        made.time = emu_strand_now(all_[strand].get());
        return made;
    }
    bool is_over(size_t strand, const emu_access &earlier) const {
        return emu_strand_knows(&strands_, all_[strand].get(), earlier.strand, earlier.time);
    }
    void expect_whole() const {
        ASSERT_GE(shadow.count, 1u);
        EXPECT_EQ(shadow.segments[0].begin, 0u);
        for (uint32_t i = 1; i < shadow.count; i++)
            EXPECT_LT(shadow.segments[i - 1].begin, shadow.segments[i].begin);
        EXPECT_LT(shadow.segments[shadow.count - 1].begin, kBytes);
    }

    emu_strands strands_;
    emu_domain domain_;
    std::vector<std::unique_ptr<emu_strand>> all_;
    Byte model_[kBytes];
};

std::set<size_t> bytes(size_t begin, size_t end) {
    std::set<size_t> all;
    for (size_t i = begin; i < end; i++)
        all.insert(i);
    return all;
}

TEST(Shadow, TellsTheBytesOfAPartialOverlap) {
    Memory memory(3);
    memory.learn(1, 0);
    memory.learn(2, 0);
    EXPECT_EQ(memory.touch(1, 0, 20, true).ordered, bytes(0, 0));
    EXPECT_EQ(memory.touch(2, 10, 30, false).ordered, bytes(10, 20));
    EXPECT_EQ(memory.shadow.count, 4u) << "0-10, 10-20, 20-30 and the rest";
}

TEST(Shadow, IsOneSegmentAgainAfterAWriteOfAll) {
    Memory memory(2);
    for (size_t i = 0; i < 10; i++)
        (void)memory.touch(0, 3 * i, 3 * i + 2, i % 2 == 0);
    EXPECT_GT(memory.shadow.count, 10u);
    memory.learn(1, 0);
    EXPECT_EQ(memory.touch(1, 0, kBytes, true).ordered, bytes(0, 0));
    EXPECT_EQ(memory.shadow.count, 1u);
}

TEST(Shadow, JoinsPiecesOfOneAccess) {
    Memory memory(1);
    (void)memory.touch(0, 10, 20, true);
    (void)memory.touch(0, 0, kBytes, false);
    EXPECT_EQ(memory.shadow.count, 3u);
    (void)memory.touch(0, 5, 25, true);
    EXPECT_EQ(memory.shadow.count, 3u) << "before, written, behind";
}

TEST(Shadow, RemembersReadsThatHaveNoOrder) {
    Memory memory(6);
    for (size_t strand = 1; strand < 6; strand++) {
        memory.learn(strand, 0);
        EXPECT_EQ(memory.touch(strand, 0, 8, false).ordered, bytes(0, 0));
    }
    for (size_t strand = 1; strand < 5; strand++)
        memory.learn(0, strand);
    EXPECT_EQ(memory.touch(0, 4, 12, true).ordered, bytes(4, 8)) << "strand 5 is not over";
}

TEST(Shadow, KnowsWhatIsUndefined) {
    Memory memory(1, false);
    (void)memory.touch(0, 0, 20, true);
    EXPECT_EQ(memory.touch(0, 16, 24, false).undefined, bytes(20, 24));
    (void)memory.touch(0, 4, 8, true, true);
    EXPECT_EQ(memory.touch(0, 0, 20, false).undefined, bytes(4, 8));
    size_t end = 0;
    EXPECT_TRUE(emu_shadow_is_undefined(&memory.shadow, 5, &end));
    EXPECT_EQ(end, 8u);
}

TEST(Shadow, IsWhatAModelOfEveryByteSays) {
    for (uint32_t seed = 0; seed < 300; seed++) {
        std::mt19937 engine(seed);
        const auto below = [&](size_t limit) { return static_cast<size_t>(engine()) % limit; };
        const size_t strand_count = 1 + below(8);
        Memory memory(strand_count, below(2) == 0);
        for (int step = 0; step < 120; step++) {
            const size_t strand = below(strand_count);
            if (below(3) == 0) {
                memory.learn(strand, below(strand_count));
                continue;
            }
            const size_t begin = below(kBytes), end = begin + 1 + below(kBytes - begin);
            const bool writes = below(2) == 0, undefined = writes && below(8) == 0;
            const auto found = memory.touch(strand, begin, end, writes, undefined);
            const auto wanted = memory.expected(strand, begin, end, writes, undefined);
            ASSERT_EQ(found.ordered, wanted.ordered) << "seed " << seed << ", step " << step;
            ASSERT_EQ(found.undefined, wanted.undefined) << "seed " << seed << ", step " << step;
        }
        EXPECT_FALSE(memory.shadows.out_of_memory);
    }
}

} // namespace
