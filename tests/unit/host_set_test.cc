// A set of hosts that finds its next member: compared with std::set.
#include <set>

#include "drivers/emu/host_set.h"
#include "gtest/gtest.h"

namespace {

// The set under test beside a model of it.
struct Both {
    explicit Both(uint32_t room) {
        EXPECT_TRUE(emu_host_set_init(&set, room));
    }
    ~Both() {
        emu_host_set_free(&set);
    }
    Both(const Both &) = delete;
    void add(uint32_t host) {
        emu_host_set_add(&set, host);
        model.insert(host);
    }
    void remove(uint32_t host) {
        emu_host_set_remove(&set, host);
        model.erase(host);
    }
    uint32_t expected_at(uint32_t from, uint32_t place) const {
        auto it = model.lower_bound(from);
        for (;; ++it) {
            if (it == model.end()) it = model.begin();
            if (place-- == 0) return *it;
        }
    }
    void compare() const {
        ASSERT_EQ(set.count, model.size());
        for (uint32_t host = 0; host < set.room; host++)
            ASSERT_EQ(emu_host_set_has(&set, host), model.count(host) == 1);
        if (model.empty()) return;
        for (uint32_t from = 0; from <= set.room; from += 1 + set.room / 17)
            for (uint32_t place = 0; place < set.count; place += 1 + set.count / 5)
                ASSERT_EQ(emu_host_set_at(&set, from, place), expected_at(from, place));
        ASSERT_EQ(emu_host_set_next(&set, set.room), *model.begin());
        ASSERT_EQ(emu_host_set_next(&set, set.room - 1), expected_at(set.room - 1, 0));
    }
    emu_host_set set = {};
    std::set<uint32_t> model;
};

TEST(HostSet, BehavesAsASetOfNumbersWhateverItsSize) {
    for (const uint32_t room : {1U, 2U, 63U, 64U, 65U, 127U, 4095U, 4096U, 4097U, 9000U}) {
        Both both(room);
        uint32_t number = 1;
        for (int step = 0; step < 400; step++) {
            number = number * 1664525U + 1013904223U;
            const uint32_t host = (number >> 8) % room;
            if ((number & 3) != 0)
                both.add(host);
            else
                both.remove(host);
            if (step % 40 == 0) both.compare();
        }
        both.compare();
    }
}

TEST(HostSet, AddingAndRemovingTwiceIsOnce) {
    Both both(100);
    both.add(70);
    both.add(70);
    both.compare();
    both.remove(70);
    both.remove(70);
    both.compare();
}

TEST(HostSet, FullSetIsWalkedInACircle) {
    Both both(1000);
    for (uint32_t host = 0; host < 1000; host++)
        both.add(host);
    for (uint32_t place = 0; place < 1000; place++)
        EXPECT_EQ(emu_host_set_at(&both.set, 700, place), (700 + place) % 1000);
}

TEST(HostSet, MovingUnitesBothAndEmptiesTheFirst) {
    Both from(5000), to(5000);
    for (uint32_t host = 0; host < 5000; host += 7)
        from.add(host);
    for (uint32_t host = 0; host < 5000; host += 5)
        to.add(host);
    emu_host_set_move(&from.set, &to.set);
    to.model.insert(from.model.begin(), from.model.end());
    from.model.clear();
    from.compare();
    to.compare();
}

} // namespace
