// Fault plans at work: which rule acts at which site, and that nothing but the plan, the seed and
// a rank's own sites decides it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/fault_text.h"
#include "tutti/fault.h"
#include "gtest/gtest.h"

namespace {

using namespace fault_text;

// A plan and a state of it.
class Faults {
  public:
    explicit Faults(const std::string &text, int32_t rank_count = 4, uint64_t seed = 1)
        : plan_(plan_of(text)) {
        tutti_error error;
        EXPECT_EQ(TUTTI_OK,
                  tutti_fault_state_create(plan_.get(), rank_count, seed, &state_, &error))
            << error.message;
    }
    ~Faults() {
        tutti_fault_state_destroy(state_);
    }
    Faults(const Faults &) = delete;
    Faults &operator=(const Faults &) = delete;

    tutti_fault_action at(const tutti_fault_site &site) {
        tutti_fault_action action;
        const int acts = tutti_fault_decide(state_, &site, &action);
        EXPECT_EQ(acts != 0, action.kind != TUTTI_FAULT_OFF);
        EXPECT_EQ(acts != 0, action.rule >= 0);
        return action;
    }
    std::string name_at(tutti_fault_point point, int32_t rank) {
        return tutti_fault_kind_name(at(tutti_fault_site_at(point, rank)).kind);
    }
    // What happens at this many sites: a letter each, "." for nothing.
    std::string story(tutti_fault_point point, int32_t rank, int sites) {
        std::string letters;
        for (int i = 0; i < sites; i++) {
            const std::string name = name_at(point, rank);
            letters += name == "off" ? '.' : name[0];
        }
        return letters;
    }
    tutti_fault_state *state() {
        return state_;
    }
    uint64_t hits(uint32_t rule) const {
        return tutti_fault_state_hits(state_, rule);
    }
    uint64_t fired(uint32_t rule) const {
        return tutti_fault_state_fired(state_, rule);
    }

  private:
    Plan plan_;
    tutti_fault_state *state_ = nullptr;
};

// ---- terms ----

TEST(FaultState, RefusesAJoinTwice) {
    Faults faults("join[rank=1]=2*refuse(busy)->off");
    const tutti_fault_site site = tutti_fault_site_at(TUTTI_FAULT_AT_JOIN, 1);
    for (int i = 0; i < 2; i++) {
        const tutti_fault_action action = faults.at(site);
        EXPECT_EQ(TUTTI_FAULT_REFUSE, action.kind);
        EXPECT_EQ(TUTTI_REFUSED, action.status);
        EXPECT_STREQ("busy", action.reason);
        EXPECT_EQ(0, action.rule);
    }
    EXPECT_EQ("....", faults.story(TUTTI_FAULT_AT_JOIN, 1, 4));
    EXPECT_EQ("....", faults.story(TUTTI_FAULT_AT_JOIN, 0, 4));
}

TEST(FaultState, FailsTheSeventeenthAllReduce) {
    Faults faults("all_reduce[rank=2]=16*off->1*fail(remote)");
    EXPECT_EQ("................f...", faults.story(TUTTI_FAULT_AT_ALL_REDUCE, 2, 20));
}

TEST(FaultState, TermsFollowEachOther) {
    Faults faults("send=1*delay(1ms)->2*off->3*kill->1*hang; recv=2*off->drop");
    EXPECT_EQ("d..kkkh....", faults.story(TUTTI_FAULT_AT_SEND, 0, 11));
    EXPECT_EQ("..ddddd", faults.story(TUTTI_FAULT_AT_RECV, 0, 7));
}

TEST(FaultState, EachRankHasItsOwnCounts) {
    Faults faults("mint=2*hang");
    EXPECT_EQ("h", faults.story(TUTTI_FAULT_AT_MINT, 3, 1));
    EXPECT_EQ("hh.", faults.story(TUTTI_FAULT_AT_MINT, 0, 3));
    EXPECT_EQ("h.", faults.story(TUTTI_FAULT_AT_MINT, 3, 2));
    EXPECT_EQ(6U, faults.hits(0));
    EXPECT_EQ(4U, faults.fired(0));
}

TEST(FaultState, UnknownRanksShareOneCountAndFitNoRank) {
    Faults faults("mint=2*hang; mint[rank=0-9]=kill", 2);
    EXPECT_EQ("h", faults.story(TUTTI_FAULT_AT_MINT, -1, 1));
    EXPECT_EQ("h.", faults.story(TUTTI_FAULT_AT_MINT, 2, 2));
    EXPECT_EQ(".", faults.story(TUTTI_FAULT_AT_MINT, INT32_MAX, 1));
    EXPECT_EQ(".", faults.story(TUTTI_FAULT_AT_MINT, INT32_MIN, 1));
    EXPECT_EQ("hhk", faults.story(TUTTI_FAULT_AT_MINT, 1, 3));
    EXPECT_EQ(3U, faults.hits(1));
}

// ---- which rule ----

TEST(FaultState, TheFirstRuleThatIsNotOffActs) {
    Faults faults("join=1*kill; join=off; join=1*hang->1*off->2*hang; join=delay(1s)");
    EXPECT_EQ("kdhhddd", faults.story(TUTTI_FAULT_AT_JOIN, 0, 7));
    EXPECT_EQ(7U, faults.hits(0));
    EXPECT_EQ(1U, faults.fired(0));
    EXPECT_EQ(7U, faults.hits(1));
    EXPECT_EQ(0U, faults.fired(1));
    EXPECT_EQ(2U, faults.fired(2)); // its first hang fell to the kill
    EXPECT_EQ(4U, faults.fired(3));
    EXPECT_EQ(0U, faults.hits(4));
    EXPECT_EQ(0U, faults.fired(4));
}

TEST(FaultState, AnEarlierRuleShiftsNoCount) {
    Faults alone("send=3*off->1*drop");
    Faults behind("send=2*kill; send=3*off->1*drop");
    EXPECT_EQ("...d.", alone.story(TUTTI_FAULT_AT_SEND, 0, 5));
    EXPECT_EQ("kk.d.", behind.story(TUTTI_FAULT_AT_SEND, 0, 5));
}

TEST(FaultState, EveryKeyNarrows) {
    tutti_fault_site site = tutti_fault_site_at(TUTTI_FAULT_AT_SEND, 2);
    site.peer = 3;
    site.seq = 5;
    site.group = "pair";
    site.stream = "s1";
    for (const char *keys :
         {"", "[rank=2]", "[rank=1-3]", "[peer=3]", "[peer=0-3]", "[seq=5]", "[seq=1-5]",
          "[group=pair]", "[stream=s1]", "[rank=2,group=pair,seq=5,stream=s1,peer=3]"}) {
        EXPECT_EQ(TUTTI_FAULT_KILL, Faults(std::string("send") + keys + "=kill").at(site).kind)
            << keys;
    }
    for (const char *keys :
         {"[rank=1]", "[rank=3]", "[peer=2]", "[seq=4]", "[seq=6-9]", "[group=pai]",
          "[group=pairs]", "[stream=s2]", "[rank=2,group=pair,seq=5,stream=s1,peer=1]"}) {
        EXPECT_EQ(TUTTI_FAULT_OFF, Faults(std::string("send") + keys + "=kill").at(site).kind)
            << keys;
    }
    site = tutti_fault_site_at(TUTTI_FAULT_AT_ALL_REDUCE, 2);
    site.op = "mean";
    EXPECT_EQ(TUTTI_FAULT_KILL, Faults("all_reduce[op=avg]=kill").at(site).kind);
    EXPECT_EQ(TUTTI_FAULT_OFF, Faults("all_reduce[op=sum]=kill").at(site).kind);
}

TEST(FaultState, WhatASiteDoesNotHaveFitsNoKey) {
    const tutti_fault_site site = tutti_fault_site_at(TUTTI_FAULT_AT_SEND, 0);
    for (const char *keys : {"[peer=0]", "[seq=1-9]", "[group=pair]", "[stream=s1]"}) {
        Faults faults(std::string("send") + keys + "=kill");
        EXPECT_EQ(TUTTI_FAULT_OFF, faults.at(site).kind) << keys;
        EXPECT_EQ(0U, faults.hits(0));
    }
    EXPECT_EQ(TUTTI_FAULT_KILL, Faults("send[peer=*,seq=*,group=*]=kill").at(site).kind);
}

TEST(FaultState, EnqueueFitsWhatIsEnqueued) {
    for (int i = 0; i < TUTTI_FAULT_POINT_COUNT; i++) {
        const auto point = static_cast<tutti_fault_point>(i);
        const std::string name = tutti_fault_point_name(point);
        const bool can_be = name == "enqueue" || name == "record" || name == "wait" ||
                            name == "copy" || name == "kernel" ||
                            (point >= TUTTI_FAULT_AT_ALL_REDUCE && point <= TUTTI_FAULT_AT_RECV);
        tutti_fault_site site = tutti_fault_site_at(point, 0);
        Faults faults("enqueue=hang");
        EXPECT_EQ(name == "enqueue", faults.at(site).kind == TUTTI_FAULT_HANG) << name;
        site.enqueued = 1;
        EXPECT_EQ(can_be, faults.at(site).kind == TUTTI_FAULT_HANG) << name;
    }
}

TEST(FaultState, EnqueueLeavesOutWhereItsActionsOrKeysMakeNoSense) {
    const auto fits = [](const std::string &rule, tutti_fault_point point) {
        Faults faults(rule);
        tutti_fault_site site = tutti_fault_site_at(point, 0);
        site.enqueued = 1;
        site.seq = 1;
        site.op = "sum";
        site.stream = "s";
        return faults.at(site).kind != TUTTI_FAULT_OFF;
    };
    EXPECT_TRUE(fits("enqueue=corrupt", TUTTI_FAULT_AT_SEND));
    EXPECT_TRUE(fits("enqueue=corrupt", TUTTI_FAULT_AT_COPY));
    EXPECT_FALSE(fits("enqueue=corrupt", TUTTI_FAULT_AT_BARRIER));
    EXPECT_FALSE(fits("enqueue=corrupt", TUTTI_FAULT_AT_RECORD));
    EXPECT_TRUE(fits("enqueue=slow(2)", TUTTI_FAULT_AT_BARRIER));
    EXPECT_FALSE(fits("enqueue=slow(2)", TUTTI_FAULT_AT_WAIT));
    EXPECT_TRUE(fits("enqueue[op=sum]=kill", TUTTI_FAULT_AT_REDUCE));
    EXPECT_FALSE(fits("enqueue[op=sum]=kill", TUTTI_FAULT_AT_BROADCAST));
    EXPECT_TRUE(fits("enqueue[seq=1]=kill", TUTTI_FAULT_AT_BROADCAST));
    EXPECT_FALSE(fits("enqueue[seq=1]=kill", TUTTI_FAULT_AT_COPY));
}

TEST(FaultState, ACountAtEnqueueGoesOverAllOperations) {
    Faults faults("enqueue=2*off->1*drop");
    tutti_fault_site send = tutti_fault_site_at(TUTTI_FAULT_AT_SEND, 0);
    tutti_fault_site recv = tutti_fault_site_at(TUTTI_FAULT_AT_RECV, 0);
    send.enqueued = recv.enqueued = 1;
    EXPECT_EQ(TUTTI_FAULT_OFF, faults.at(send).kind);
    EXPECT_EQ(TUTTI_FAULT_OFF, faults.at(recv).kind);
    EXPECT_EQ(TUTTI_FAULT_DROP, faults.at(send).kind);
    EXPECT_EQ(TUTTI_FAULT_OFF, faults.at(recv).kind);
}

TEST(FaultState, EveryPointIsAskedForItself) {
    for (int i = 0; i < TUTTI_FAULT_POINT_COUNT; i++) {
        Faults faults(std::string(tutti_fault_point_name(static_cast<tutti_fault_point>(i))) +
                      "=delay(3ns)");
        EXPECT_EQ(1U << i, tutti_fault_state_points(faults.state()));
        for (int j = 0; j < TUTTI_FAULT_POINT_COUNT; j++) {
            const tutti_fault_action action =
                faults.at(tutti_fault_site_at(static_cast<tutti_fault_point>(j), 0));
            EXPECT_EQ(i == j ? 3 : 0, action.delay_ns);
        }
    }
}

TEST(FaultState, StepFitsEveryCallByItsNumber) {
    Faults any("step=1*off->1*kill"), third("step[rank=2,seq=3]=kill");
    tutti_fault_site call = tutti_fault_site_at(TUTTI_FAULT_AT_SEND, 2);
    call.seq = 3; // in its communicator: another number
    EXPECT_EQ(TUTTI_FAULT_OFF, any.at(call).kind);
    EXPECT_EQ(0U, tutti_fault_state_hits(any.state(), 0));
    for (uint64_t step = 1; step <= 4; step++) {
        call.step = step;
        call.point = step == 2 ? TUTTI_FAULT_AT_STEP : TUTTI_FAULT_AT_POLL;
        EXPECT_EQ(step == 2, any.at(call).kind == TUTTI_FAULT_KILL) << step;
        EXPECT_EQ(step == 3, third.at(call).kind == TUTTI_FAULT_KILL) << step;
    }
    EXPECT_EQ(4U, tutti_fault_state_hits(any.state(), 0));
}

TEST(FaultState, SlowActsBesideTheFirstOtherAction) {
    Faults faults("step=slow(2); send=delay(3ns); step=slow(5); send=kill");
    tutti_fault_site send = tutti_fault_site_at(TUTTI_FAULT_AT_SEND, 0);
    send.step = 1;
    const tutti_fault_action both = faults.at(send);
    EXPECT_EQ(TUTTI_FAULT_DELAY, both.kind);
    EXPECT_EQ(1, both.rule);
    EXPECT_EQ(3, both.delay_ns);
    EXPECT_EQ(2000000U, both.factor_millionths);
    EXPECT_EQ(0, both.slow_rule);
    send.point = TUTTI_FAULT_AT_STEP;
    const tutti_fault_action alone = faults.at(send);
    EXPECT_EQ(TUTTI_FAULT_SLOW, alone.kind);
    EXPECT_EQ(0, alone.rule);
    EXPECT_EQ(2U, tutti_fault_state_fired(faults.state(), 0));
    EXPECT_EQ(1U, tutti_fault_state_fired(faults.state(), 1));
    EXPECT_EQ(0U, tutti_fault_state_fired(faults.state(), 2));
    EXPECT_EQ(0U, tutti_fault_state_fired(faults.state(), 3));
}

TEST(FaultState, CorruptDrawsFromItsOwnStream) {
    const auto draws = [](const std::string &plan, uint32_t rule) {
        Faults faults(plan);
        std::vector<uint64_t> numbers;
        for (int32_t rank = 0; rank < 3; rank++) {
            for (int hit = 0; hit < 4; hit++) {
                const tutti_fault_action action =
                    faults.at(tutti_fault_site_at(TUTTI_FAULT_AT_COPY, rank));
                if (action.rule == static_cast<int32_t>(rule)) numbers.push_back(action.draw);
            }
        }
        return numbers;
    };
    const std::vector<uint64_t> alone = draws("copy=corrupt(8)", 0);
    EXPECT_EQ(12U, std::set<uint64_t>(alone.begin(), alone.end()).size());
    EXPECT_EQ(alone, draws("send=50%kill; copy=corrupt(8)", 1)); // another rule shifts none
    EXPECT_NE(alone, draws("copy=corrupt(9)", 0));
}

TEST(FaultState, StrangeSitesMeetNothing) {
    Faults faults("join=kill; enqueue=kill");
    for (const int point : {-1, static_cast<int>(TUTTI_FAULT_POINT_COUNT), 31, 32, 1 << 30}) {
        tutti_fault_site site = tutti_fault_site_at(TUTTI_FAULT_AT_JOIN, 0);
        static_assert(sizeof(site.point) == sizeof(point), "C's enumerations are ints");
        std::memcpy(&site.point, &point, sizeof(point)); // C++ itself allows no such value
        site.enqueued = 1;
        EXPECT_EQ(TUTTI_FAULT_OFF, faults.at(site).kind);
    }
}

// ---- nothing to do ----

TEST(FaultState, WithoutRulesNothingHappens) {
    Faults empty("");
    EXPECT_EQ("...", empty.story(TUTTI_FAULT_AT_JOIN, 0, 3));
    EXPECT_EQ(0U, tutti_fault_state_points(empty.state()));

    tutti_fault_state *state = nullptr;
    ASSERT_EQ(TUTTI_OK, tutti_fault_state_create(nullptr, 1, 0, &state, nullptr));
    tutti_fault_action action;
    const tutti_fault_site site = tutti_fault_site_at(TUTTI_FAULT_AT_JOIN, 0);
    EXPECT_EQ(0, tutti_fault_decide(state, &site, &action));
    EXPECT_EQ(0U, tutti_fault_state_hits(state, 0));
    tutti_fault_state_reset(state, 1);
    tutti_fault_state_destroy(state);

    EXPECT_EQ(0, tutti_fault_decide(nullptr, &site, &action));
    EXPECT_EQ(TUTTI_FAULT_OFF, action.kind);
    EXPECT_EQ(-1, action.rule);
    EXPECT_EQ(0U, tutti_fault_state_points(nullptr));
    EXPECT_EQ(0U, tutti_fault_state_hits(nullptr, 0));
    EXPECT_EQ(0U, tutti_fault_state_fired(nullptr, 0));
    tutti_fault_state_reset(nullptr, 0);
    tutti_fault_state_destroy(nullptr);
}

// ---- create ----

std::string creation_error(const std::string &text, int32_t rank_count) {
    const Plan plan = plan_of(text);
    tutti_fault_state *state = nullptr;
    tutti_error error;
    EXPECT_EQ(TUTTI_INVALID_ARGUMENT,
              tutti_fault_state_create(plan.get(), rank_count, 0, &state, &error));
    EXPECT_EQ(nullptr, state);
    return error.message;
}

TEST(FaultState, RulesThatCouldNeverActAreRefused) {
    EXPECT_EQ("faults:1:11: this rule names rank 4, but the last of the 4 ranks is 3\n"
              "  join=kill;mint[rank=4]=off\n"
              "            ^",
              creation_error("join=kill;mint[rank=4]=off", 4));
    EXPECT_EQ("faults:2:2: this rule names peer 7, but the last of the 1 ranks is 0\n"
              "   send[peer=7-9]=off\n"
              "   ^",
              creation_error("\n send[peer=7-9]=off", 1));
    Faults partly("join[rank=1-100]=kill", 2);
    EXPECT_EQ("k", partly.story(TUTTI_FAULT_AT_JOIN, 1, 1));
}

TEST(FaultState, RankCountsHaveLimits) {
    for (const int32_t rank_count : {0, -1, INT32_MIN, TUTTI_FAULT_RANK_COUNT_MAX + 1, INT32_MAX}) {
        EXPECT_EQ("a fault state serves 1 to 1048576 ranks, not " + std::to_string(rank_count),
                  creation_error("join=kill", rank_count));
    }
    EXPECT_EQ(TUTTI_INVALID_ARGUMENT, tutti_fault_state_create(nullptr, 1, 0, nullptr, nullptr));
}

TEST(FaultState, ARuleThatNamesARankNeedsNoRoomForTheOthers) {
    // Counters for all ranks would take more than a terabyte, and reset() goes over all of them.
    std::string text;
    for (int i = 0; i < TUTTI_FAULT_RULES_MAX; i++) {
        text += "join[rank=" + std::to_string(i) + "]=kill;";
    }
    const Plan plan = plan_of(text);
    std::vector<tutti_fault_state *> states(200);
    for (tutti_fault_state *&state : states) {
        ASSERT_EQ(TUTTI_OK, tutti_fault_state_create(plan.get(), TUTTI_FAULT_RANK_COUNT_MAX, 0,
                                                     &state, nullptr));
        tutti_fault_state_reset(state, 1);
    }
    for (tutti_fault_state *state : states) {
        tutti_fault_state_destroy(state);
    }
}

TEST(FaultState, TheLastOfManyRanksIsCounted) {
    Faults faults("join=1*kill; join[rank=1048575]=2*hang", TUTTI_FAULT_RANK_COUNT_MAX);
    EXPECT_EQ("kh.", faults.story(TUTTI_FAULT_AT_JOIN, TUTTI_FAULT_RANK_COUNT_MAX - 1, 3));
    EXPECT_EQ("k.", faults.story(TUTTI_FAULT_AT_JOIN, 0, 2));
    EXPECT_EQ("k.", faults.story(TUTTI_FAULT_AT_JOIN, -1, 2));
    EXPECT_EQ(7U, faults.hits(0));
}

TEST(FaultState, ResetStartsAgain) {
    Faults faults("join=1*kill; send=50%drop", 4, 9);
    const std::string first = faults.story(TUTTI_FAULT_AT_SEND, 1, 64);
    EXPECT_EQ("k.", faults.story(TUTTI_FAULT_AT_JOIN, 1, 2));
    tutti_fault_state_reset(faults.state(), 9);
    EXPECT_EQ(0U, faults.hits(0));
    EXPECT_EQ(0U, faults.fired(1));
    EXPECT_EQ("k.", faults.story(TUTTI_FAULT_AT_JOIN, 1, 2));
    EXPECT_EQ(first, faults.story(TUTTI_FAULT_AT_SEND, 1, 64));
    tutti_fault_state_reset(faults.state(), 10);
    EXPECT_NE(first, faults.story(TUTTI_FAULT_AT_SEND, 1, 64));
}

// ---- probabilities ----

long count_of(const std::string &story, char letter) {
    return std::count(story.begin(), story.end(), letter);
}

TEST(FaultProbability, DrawsAreTheSameOnEveryMachine) {
    Faults faults("all_reduce=50%hang");
    EXPECT_EQ("hh.hh.h.......hh..h.hh..h....h..hh...hh....h..h...hhhhhhh.h..hhh",
              faults.story(TUTTI_FAULT_AT_ALL_REDUCE, 0, 64));
    EXPECT_EQ("hh.h.....hhhhhh..hh.hhh.h.h..hhhh.hh.h...hhhh...h.h..h.hh.hhh...",
              faults.story(TUTTI_FAULT_AT_ALL_REDUCE, 1, 64));
}

TEST(FaultProbability, IsWhatItSays) {
    const int sites = 20000;
    for (const double percent : {0.5, 5.0, 12.5, 50.0, 99.0}) {
        Faults faults("send=" + std::to_string(percent) + "%drop");
        const double share = percent / 100;
        const double deviation = std::sqrt(share * (1 - share) * sites);
        for (int32_t rank = 0; rank < 4; rank++) {
            const std::string story = faults.story(TUTTI_FAULT_AT_SEND, rank, sites);
            EXPECT_NEAR(share * sites, static_cast<double>(count_of(story, 'd')), 4 * deviation);
        }
    }
}

TEST(FaultProbability, NeverAndAlwaysAreMeantSo) {
    Faults faults("send=0%drop; recv=100%drop; copy=0%3*off->drop", 1);
    EXPECT_EQ(0, count_of(faults.story(TUTTI_FAULT_AT_SEND, 0, 10000), 'd'));
    EXPECT_EQ(10000, count_of(faults.story(TUTTI_FAULT_AT_RECV, 0, 10000), 'd'));
    EXPECT_EQ(0, count_of(faults.story(TUTTI_FAULT_AT_COPY, 0, 10000), 'd'));
}

TEST(FaultProbability, WithACountItEndsAfterSoManyActs) {
    const std::string endless = Faults("send=50%drop").story(TUTTI_FAULT_AT_SEND, 0, 100);
    const std::string three = Faults("send=50%3*drop").story(TUTTI_FAULT_AT_SEND, 0, 100);
    EXPECT_EQ(3, count_of(three, 'd'));
    EXPECT_GT(count_of(three.substr(0, three.rfind('d')), '.'), 0);
    EXPECT_GT(count_of(endless, 'd'), 30);
    const std::string then = Faults("send=50%3*drop->kill").story(TUTTI_FAULT_AT_SEND, 0, 100);
    const size_t third = then.rfind('d');
    EXPECT_EQ(3, count_of(then, 'd'));
    EXPECT_EQ(std::string::npos, then.substr(0, third).find('k'));
    EXPECT_EQ(std::string(99 - third, 'k'), then.substr(third + 1));
    EXPECT_EQ(three, Faults("send=3*50%drop").story(TUTTI_FAULT_AT_SEND, 0, 100));
}

// How many of the sites two stories agree at, in parts of all.
double agreement(const std::string &a, const std::string &b) {
    EXPECT_EQ(a.size(), b.size());
    long same = 0;
    for (size_t i = 0; i < a.size(); i++) {
        same += (a[i] == '.') == (b[i] == '.');
    }
    return static_cast<double>(same) / static_cast<double>(a.size());
}

TEST(FaultProbability, DrawsOfDifferentSeedsRanksRulesAndHitsAreIndependent) {
    const int sites = 10000;
    const auto story = [&](const std::string &text, int32_t rank, uint64_t seed) {
        return Faults(text, 100, seed).story(TUTTI_FAULT_AT_SEND, rank, sites);
    };
    const std::string base = story("send=50%drop", 0, 1);
    const double tolerance = 0.02; // four standard deviations
    for (const uint64_t seed : {uint64_t{0}, uint64_t{2}, uint64_t{3}, uint64_t{1} << 32,
                                uint64_t{1} << 63, UINT64_MAX}) {
        EXPECT_NEAR(0.5, agreement(base, story("send=50%drop", 0, seed)), tolerance) << seed;
    }
    for (const int32_t rank : {-1, 1, 2, 3, 64, 99}) {
        EXPECT_NEAR(0.5, agreement(base, story("send=50%drop", rank, 1)), tolerance) << rank;
    }
    for (const char *rule : {"send=50%hang", "send[rank=0]=50%drop", "send=50%1000000*drop",
                             "send=50%delay(1ms)", "send=50%delay(2ms)"}) {
        EXPECT_NEAR(0.5, agreement(base, story(rule, 0, 1)), tolerance) << rule;
    }
    for (const size_t shift : {1, 2, 3, 7, 64}) {
        EXPECT_NEAR(0.5, agreement(base.substr(shift), base.substr(0, base.size() - shift)),
                    tolerance)
            << shift;
    }
}

TEST(FaultProbability, TheSameRuleTwiceDrawsTwice) {
    const int sites = 10000;
    const std::string one = Faults("send=10%drop").story(TUTTI_FAULT_AT_SEND, 0, sites);
    Faults both("send=10%drop; send = 10 % drop");
    const std::string two = both.story(TUTTI_FAULT_AT_SEND, 0, sites);
    EXPECT_NEAR(1000, static_cast<double>(count_of(one, 'd')), 120);
    EXPECT_NEAR(1900, static_cast<double>(count_of(two, 'd')), 160);
    EXPECT_EQ(static_cast<uint64_t>(count_of(one, 'd')), both.fired(0));
}

TEST(FaultProbability, OtherRulesShiftNoDraw) {
    const std::string alone = Faults("send=30%drop").story(TUTTI_FAULT_AT_SEND, 1, 500);
    for (const char *text :
         {"send=30%drop; send=20%kill", "recv=kill; enqueue=50%off; send=30%drop",
          "send[rank=2]=50%kill\n\n send = 30.0 % drop # same",
          "send=50%off;send=30%drop;send=30%drop"}) {
        Faults faults(text);
        std::string story;
        for (int i = 0; i < 500; i++) {
            faults.story(TUTTI_FAULT_AT_RECV, 1, 1);
            faults.story(TUTTI_FAULT_AT_SEND, 2, 1);
            story += faults.story(TUTTI_FAULT_AT_SEND, 1, 1);
        }
        for (size_t i = 0; i < alone.size(); i++) {
            EXPECT_TRUE(alone[i] == '.' || story[i] == 'd') << text << " at " << i;
        }
    }
}

TEST(FaultProbability, TheOrderInWhichRanksArriveDecidesNothing) {
    const std::string text = "send=40%5*drop->2*kill->30%hang; send[rank=1-2]=25%delay(1ms)";
    std::vector<std::string> expected(4);
    for (int32_t rank = 0; rank < 4; rank++) {
        expected[static_cast<size_t>(rank)] = Faults(text).story(TUTTI_FAULT_AT_SEND, rank, 50);
    }
    for (uint64_t seed = 0; seed < 50; seed++) {
        Numbers numbers(seed);
        Faults faults(text);
        std::vector<std::string> stories(4);
        for (int i = 0; i < 200; i++) {
            const auto rank = static_cast<int32_t>(numbers.below(4));
            stories[static_cast<size_t>(rank)] += faults.story(TUTTI_FAULT_AT_SEND, rank, 1);
        }
        for (size_t rank = 0; rank < 4; rank++) {
            const size_t length = std::min<size_t>(50, stories[rank].size());
            EXPECT_EQ(expected[rank].substr(0, length), stories[rank].substr(0, length));
        }
    }
}

// ---- against a model ----

// A rule as a list of what it does at a rank's first, second, ... hit; then `rest` for ever.
struct Model {
    std::string point;
    int32_t rank; // -1: all
    std::vector<std::string> terms;
    std::string rest;
    std::vector<size_t> hits = std::vector<size_t>(3);

    std::string text() const {
        std::string rule = point + (rank < 0 ? "" : "[rank=" + std::to_string(rank) + "]") + "=";
        for (const std::string &term : terms) {
            rule += "1*" + term + "->";
        }
        return rule + rest;
    }
    // Counts a hit; what the rule does there.
    std::string hit(int32_t at_rank) {
        const size_t number = hits[static_cast<size_t>(at_rank)]++;
        return number < terms.size() ? terms[number] : rest;
    }
};

TEST(FaultState, DoesWhatAModelOfItDoes) {
    const std::vector<std::string> points = {"join", "send", "enqueue"};
    const std::vector<std::string> actions = {"off", "off", "kill", "hang"};
    for (uint64_t seed = 0; seed < 300; seed++) {
        Numbers numbers(seed);
        std::vector<Model> models(1 + numbers.below(5));
        std::string text;
        for (Model &model : models) {
            model.point = numbers.one_of(points);
            model.rank = static_cast<int32_t>(numbers.below(4)) - 1;
            model.terms.resize(numbers.below(8));
            for (std::string &term : model.terms) {
                term = numbers.one_of(actions);
            }
            model.rest = numbers.one_of(actions);
            text += model.text() + ";";
        }
        Faults faults(text, 3);
        for (int i = 0; i < 100; i++) {
            const bool send = numbers.below(2) == 0;
            const auto rank = static_cast<int32_t>(numbers.below(3));
            std::string expected = "off";
            for (Model &model : models) {
                const bool fits = send ? model.point != "join" : model.point == "join";
                if (!fits || (model.rank >= 0 && model.rank != rank)) continue;
                const std::string action = model.hit(rank);
                expected = expected == "off" ? action : expected;
            }
            tutti_fault_site site =
                tutti_fault_site_at(send ? TUTTI_FAULT_AT_SEND : TUTTI_FAULT_AT_JOIN, rank);
            site.enqueued = send;
            ASSERT_EQ(expected, tutti_fault_kind_name(faults.at(site).kind))
                << "seed " << seed << ", site " << i << ": " << text;
        }
    }
}

} // namespace
