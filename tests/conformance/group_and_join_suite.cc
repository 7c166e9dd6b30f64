// Group identity, joining and leaving.

#include "tests/harness/conformance.h"

namespace {

using namespace tutti_test;

// row 11
TEST(GroupId, IsTheSameForEverybodyWhoAsks) {
    std::vector<tutti_unique_id> ids(8);
    run_well(8, [&](Rank &rank) {
        EXPECT_EQ(tutti_group_id(rank.driver(), 77, &ids[rank.index()], nullptr), TUTTI_OK);
    });
    for (const tutti_unique_id &id : ids)
        EXPECT_EQ(std::memcmp(&id, &ids[0], sizeof id), 0);
}

// row 12
TEST(GroupId, IsRememberedAndDiffersFromThatOfAnotherGroup) {
    run_well(1, [](Rank &rank) {
        tutti_unique_id first, other, again;
        EXPECT_EQ(tutti_group_id(rank.driver(), 1, &first, nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_group_id(rank.driver(), 2, &other, nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_group_id(rank.driver(), 1, &again, nullptr), TUTTI_OK);
        EXPECT_EQ(std::memcmp(&first, &again, sizeof first), 0);
        EXPECT_NE(std::memcmp(&first, &other, sizeof first), 0);
    });
}

// row 13
TEST(GroupId, RefusedOnceMayBeAskedForAgain) {
    run_well(
        2,
        [](Rank &rank) {
            tutti_unique_id id;
            tutti_error error;
            if (rank.index() == 0) {
                EXPECT_EQ(tutti_group_id(rank.driver(), 5, &id, &error), TUTTI_REFUSED);
                EXPECT_NE(std::strstr(error.message, "busy"), nullptr) << error.message;
            }
            EXPECT_EQ(tutti_group_id(rank.driver(), 5, &id, nullptr), TUTTI_OK);
        },
        with_faults("mint[rank=0]=1*refuse(busy)"));
}

// row 15
TEST(Join, TwiceIsRefused) {
    const Report report = run(2, [](Rank &rank) {
        tutti_comm *again = nullptr;
        ASSERT_NE(rank.world(), nullptr);
        tutti_error error;
        EXPECT_EQ(tutti_rank_join_world(rank.self(), nullptr, &again, &error), TUTTI_REFUSED);
        EXPECT_NE(std::strstr(error.message, "has joined already"), nullptr) << error.message;
        EXPECT_EQ(again, nullptr);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK);
}

// row 15: also while the others are not there yet, and nobody else hears of it
TEST(Join, TwiceWhileItIsInProgressIsRefused) {
    const Report report = run(2, [](Rank &rank) {
        tutti_unique_id id;
        tutti_comm *first = nullptr, *again = nullptr;
        tutti_join_options options = {sizeof options, 1, 0, "pair"};
        ASSERT_EQ(tutti_group_id(rank.driver(), 9, &id, nullptr), TUTTI_OK);
        ASSERT_EQ(tutti_join(rank.device(), &id, 2, rank.index(), &options, &first, nullptr),
                  TUTTI_IN_PROGRESS);
        EXPECT_EQ(tutti_join(rank.device(), &id, 2, rank.index(), &options, &again, nullptr),
                  TUTTI_REFUSED);
        EXPECT_EQ(tutti_comm_synchronize(first, nullptr), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK);
}

// row 16
TEST(Join, NothingWorksWithoutIt) {
    const Report report = run(1, [](Rank &rank) {
        tutti_error error;
        const tutti_buffer x = rank.upload<float>({1});
        EXPECT_EQ(tutti_all_reduce(nullptr, x, x, data_type(TUTTI_F32), 1, TUTTI_SUM, rank.stream(),
                                   &error),
                  TUTTI_INVALID_ARGUMENT);
        EXPECT_STRNE(error.message, "");
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISUSE, {0});
}

// row 17
TEST(Join, RefusedMayBeTriedAgain) {
    run_well(
        2,
        [](Rank &rank) {
            tutti_comm *comm = nullptr;
            if (rank.index() == 1) {
                EXPECT_EQ(tutti_rank_join_world(rank.self(), nullptr, &comm, nullptr),
                          TUTTI_REFUSED);
                EXPECT_EQ(comm, nullptr);
            }
            EXPECT_NE(rank.world(), nullptr);
        },
        with_faults("join[rank=1]=1*refuse(busy)"));
}

// rows 17 and 50: the others see the refused rank never arriving
TEST(Join, RefusedForGoodIsMissedByTheOthers) {
    const Report report = run(
        3,
        [](Rank &rank) {
            tutti_comm *comm = nullptr;
            EXPECT_EQ(tutti_rank_join_world(rank.self(), nullptr, &comm, nullptr),
                      rank.index() == 1 ? TUTTI_REFUSED : TUTTI_MISSING);
        },
        with_faults("join[rank=1]=refuse(full)"));
    expect_verdict(report.get(), TUTTI_VERDICT_REFUSED, {1});
}

// row 18
TEST(Join, OneThreadJoinsSeveralDevicesInAGroupCall) {
    run_well(
        1,
        [](Rank &rank) {
            tutti_unique_id id;
            std::vector<tutti_comm *> comms(4);
            ASSERT_EQ(tutti_group_id(rank.driver(), 9, &id, nullptr), TUTTI_OK);
            ASSERT_EQ(tutti_group_start(rank.driver(), nullptr), TUTTI_OK);
            for (int32_t i = 0; i < 4; i++)
                EXPECT_EQ(tutti_join(rank.device(i), &id, 4, i, nullptr, &comms[i], nullptr),
                          TUTTI_OK);
            ASSERT_EQ(tutti_group_end(rank.driver(), nullptr), TUTTI_OK);
            for (tutti_comm *comm : comms) {
                tutti_status status;
                EXPECT_EQ(tutti_comm_status(comm, &status, nullptr), TUTTI_OK);
                EXPECT_EQ(status, TUTTI_OK);
            }
        },
        with_devices(4));
}

// row 18
TEST(Join, OneThreadJoinsSeveralDevicesWithoutBlocking) {
    run_well(
        1,
        [](Rank &rank) {
            tutti_unique_id id;
            std::vector<tutti_comm *> comms(4);
            tutti_join_options options = {sizeof options, 1, 0, "devices"};
            ASSERT_EQ(tutti_group_id(rank.driver(), 9, &id, nullptr), TUTTI_OK);
            for (int32_t i = 0; i < 4; i++)
                EXPECT_EQ(tutti_join(rank.device(i), &id, 4, i, &options, &comms[i], nullptr),
                          TUTTI_IN_PROGRESS);
            for (tutti_comm *comm : comms)
                EXPECT_EQ(tutti_comm_synchronize(comm, nullptr), TUTTI_OK);
        },
        with_devices(4));
}

// row 19
TEST(Join, OverlappingGroupsCoexist) {
    run_well(4, [](Rank &rank) {
        const bool low = rank.index() < 2;
        tutti_comm *pair = rank.join(low ? std::vector<int>{0, 1} : std::vector<int>{2, 3});
        tutti_comm *all = rank.join({0, 1, 2, 3});
        ASSERT_NE(pair, nullptr);
        ASSERT_NE(all, nullptr);
        const tutti_buffer x = rank.upload<float>({1});
        EXPECT_EQ(rank.sum(pair, x, x, 1), TUTTI_OK);
        EXPECT_EQ(rank.sum(all, x, x, 1), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(x)[0], 8);
    });
}

// row 20
TEST(Join, AGroupOfOneWorks) {
    run_well(1, [](Rank &rank) {
        tutti_comm *world = rank.world();
        for (const tutti_reduce_op op : {TUTTI_SUM, TUTTI_MEAN, TUTTI_MIN, TUTTI_MAX, TUTTI_PROD}) {
            const tutti_buffer x = rank.upload<float>({3, -4});
            EXPECT_EQ(
                tutti_all_reduce(world, x, x, data_type(TUTTI_F32), 2, op, rank.stream(), nullptr),
                TUTTI_OK);
            EXPECT_EQ(rank.sync(), TUTTI_OK);
            EXPECT_EQ(rank.download<float>(x), (std::vector<float>{3, -4}));
        }
    });
}

// row 21
TEST(Join, ImpossibleNumbersAreRefusedOnTheSpot) {
    const Report report = run(1, [](Rank &rank) {
        tutti_unique_id id;
        tutti_comm *comm = nullptr;
        ASSERT_EQ(tutti_group_id(rank.driver(), 3, &id, nullptr), TUTTI_OK);
        const int32_t bad[][2] = {{2, 2}, {2, -1}, {0, 0}, {-1, 0}};
        for (const auto &[ranks, number] : bad)
            EXPECT_EQ(tutti_join(rank.device(), &id, ranks, number, nullptr, &comm, nullptr),
                      TUTTI_INVALID_ARGUMENT)
                << ranks << " " << number;
        EXPECT_EQ(comm, nullptr);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISUSE, {0});
}

// A join as rank `number` of `ranks`, on the rank's own device.
tutti_status join_as(Rank &rank, int32_t ranks, int32_t number, tutti_device *device) {
    tutti_unique_id id;
    tutti_comm *comm = nullptr;
    EXPECT_EQ(tutti_group_id(rank.driver(), 4, &id, nullptr), TUTTI_OK);
    return tutti_join(device, &id, ranks, number, nullptr, &comm, nullptr);
}

// row 21
TEST(Join, TheSameRankTwiceIsRefusedToEverybody) {
    const Report report = run(3, [](Rank &rank) {
        EXPECT_EQ(join_as(rank, 3, rank.index() == 2 ? 0 : rank.index(), rank.device()),
                  TUTTI_REFUSED);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_REFUSED, {0, 2});
}

// row 21
TEST(Join, DifferingRankCountsAreRefusedToEverybody) {
    const Report report = run(3, [](Rank &rank) {
        EXPECT_EQ(join_as(rank, rank.index() == 1 ? 4 : 3, rank.index(), rank.device()),
                  TUTTI_REFUSED);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_REFUSED, {1});
}

TEST(Join, TwoRanksOnOneDeviceAreRefusedToEverybody) {
    const Report report =
        run(2,
            [](Rank &rank) {
                EXPECT_EQ(join_as(rank, 2, rank.index(), rank.device(0)), TUTTI_REFUSED);
            },
            {});
    expect_verdict(report.get(), TUTTI_VERDICT_REFUSED, {0, 1});
}

// row 76
TEST(Join, AnIdentifierOfNowhereIsRefused) {
    const Report report = run(1, [](Rank &rank) {
        const tutti_unique_id nowhere = {};
        tutti_comm *comm = nullptr;
        EXPECT_EQ(tutti_join(rank.device(), &nowhere, 1, 0, nullptr, &comm, nullptr),
                  TUTTI_INVALID_ARGUMENT);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISUSE, {0});
}

TEST(Join, HasATimeLimit) {
    const int64_t limit_ns = target().has_virtual_time ? 30 * one_minute_ns : 2000000;
    const Report report = run(3, [&](Rank &rank) {
        tutti_comm *comm = nullptr;
        tutti_join_options options = {sizeof options, 0, limit_ns, nullptr};
        if (rank.index() == 2) {
            tutti_rank_sleep(rank.self(), 2 * limit_ns, nullptr);
            return;
        }
        EXPECT_EQ(tutti_rank_join_world(rank.self(), &options, &comm, nullptr), TUTTI_TIMED_OUT);
    });
    if (target().has_virtual_time) {
        expect_verdict(report.get(), TUTTI_VERDICT_TIMEOUT, {2});
        return;
    }
    // In real time a rank may be started so late that it is missed as well; rank 2 always is.
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_TIMEOUT);
    ASSERT_GE(report->culprit_count, 1u);
    EXPECT_EQ(report->culprits[report->culprit_count - 1], 2);
}

TEST(Leave, TheSameDevicesCanFormTheGroupAgain) {
    run_well(2, [](Rank &rank) {
        for (int round = 0; round < 3; round++) {
            const tutti_buffer x = rank.upload<float>({1});
            tutti_comm *world = rank.world();
            ASSERT_NE(world, nullptr);
            EXPECT_EQ(rank.sum(world, x, x, 1), TUTTI_OK);
            EXPECT_EQ(tutti_leave(world, nullptr), TUTTI_OK);
        }
    });
}

TEST(Leave, WaitsForWhatIsOutstanding) {
    run_well(2, [](Rank &rank) {
        const tutti_buffer x = rank.upload<float>({1});
        tutti_comm *world = rank.world();
        EXPECT_EQ(tutti_all_reduce(world, x, x, data_type(TUTTI_F32), 1, TUTTI_SUM, rank.stream(),
                                   nullptr),
                  TUTTI_OK);
        EXPECT_EQ(tutti_leave(world, nullptr), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(x)[0], 2);
    });
}

TEST(Leave, TwiceIsMisuse) {
    const Report report = run(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        EXPECT_EQ(tutti_leave(world, nullptr), TUTTI_OK);
        const tutti_status again = rank.index() == 1 ? tutti_leave(world, nullptr) : TUTTI_MISUSE;
        EXPECT_EQ(again, TUTTI_MISUSE);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISUSE, {1});
}

TEST(Abort, EndsAJoinInProgressAndWaitsForNobody) {
    const Report report = run(2, [](Rank &rank) {
        tutti_comm *comm = nullptr;
        tutti_join_options options = {sizeof options, 1, 0, nullptr};
        if (rank.index() == 1) return;
        EXPECT_EQ(tutti_rank_join_world(rank.self(), &options, &comm, nullptr), TUTTI_IN_PROGRESS);
        EXPECT_EQ(tutti_comm_abort(comm, nullptr), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK);
}

TEST(Abort, LetsTheStreamGoOn) {
    const Report report = run(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        if (rank.index() == 1) return;
        const tutti_buffer x = rank.upload<float>({1});
        EXPECT_EQ(tutti_all_reduce(world, x, x, data_type(TUTTI_F32), 1, TUTTI_SUM, rank.stream(),
                                   nullptr),
                  TUTTI_OK);
        EXPECT_EQ(tutti_comm_abort(world, nullptr), TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_OK); // with undefined contents, and without an error
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK);
}

// row 66
TEST(NonBlocking, UseBeforeReadyIsRefusedOnTheCaller) {
    const Report report = run(2, [](Rank &rank) {
        tutti_comm *comm = nullptr;
        tutti_join_options options = {sizeof options, 1, 0, nullptr};
        const tutti_buffer x = rank.upload<float>({1});
        if (rank.index() == 1) return;
        EXPECT_EQ(tutti_rank_join_world(rank.self(), &options, &comm, nullptr), TUTTI_IN_PROGRESS);
        EXPECT_EQ(tutti_all_reduce(comm, x, x, data_type(TUTTI_F32), 1, TUTTI_SUM, rank.stream(),
                                   nullptr),
                  TUTTI_MISUSE);
        EXPECT_EQ(tutti_comm_abort(comm, nullptr), TUTTI_OK);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISUSE, {0});
}

} // namespace
