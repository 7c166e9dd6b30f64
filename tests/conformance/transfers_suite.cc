// send and recv.

#include "tests/harness/conformance.h"

namespace {

using namespace tutti_test;

tutti_status send(Rank &rank, tutti_comm *comm, tutti_buffer x, int peer, const char *on = "comm") {
    return tutti_send(comm, x, data_type(TUTTI_F32), x.bytes / 4, peer, rank.stream(on), nullptr);
}

tutti_status recv(Rank &rank, tutti_comm *comm, tutti_buffer x, int peer, const char *on = "comm") {
    return tutti_recv(comm, x, data_type(TUTTI_F32), x.bytes / 4, peer, rank.stream(on), nullptr);
}

// row 44
TEST(Transfers, ArriveForEveryPairBothWays) {
    run_well(4, [](Rank &rank) {
        tutti_comm *world = rank.world();
        std::vector<tutti_buffer> out(4), in(4);
        ASSERT_EQ(tutti_group_start(rank.driver(), nullptr), TUTTI_OK);
        for (int peer = 0; peer < 4; peer++) {
            out[peer] = rank.upload<float>({float(10 * rank.index() + peer)});
            in[peer] = rank.allocate(4);
            EXPECT_EQ(send(rank, world, out[peer], peer), TUTTI_OK);
            EXPECT_EQ(recv(rank, world, in[peer], peer), TUTTI_OK);
        }
        ASSERT_EQ(tutti_group_end(rank.driver(), nullptr), TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        for (int peer = 0; peer < 4; peer++)
            EXPECT_EQ(rank.download<float>(in[peer])[0], float(10 * peer + rank.index()));
    });
}

// rows 45 and 49
TEST(Transfers, OfAPairArriveInOrder) {
    run_well(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        std::vector<tutti_buffer> buffers;
        for (int i = 0; i < 50; i++) {
            buffers.push_back(rank.upload<float>({rank.index() == 0 ? float(i) : -1}));
            EXPECT_EQ(rank.index() == 0 ? send(rank, world, buffers[i], 1)
                                        : recv(rank, world, buffers[i], 0),
                      TUTTI_OK);
        }
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        for (int i = 0; i < 50; i++)
            EXPECT_EQ(rank.download<float>(buffers[i])[0], float(i));
    });
}

// row 46
TEST(Transfers, WorkWhicheverSideComesFirst) {
    for (const int late : {0, 1})
        run_well(2, [&](Rank &rank) {
            tutti_comm *world = rank.world();
            const tutti_buffer x = rank.upload<float>({float(7 - rank.index())});
            if (rank.index() == late) tutti_rank_sleep(rank.self(), 1000000, nullptr);
            EXPECT_EQ(rank.index() == 0 ? send(rank, world, x, 1) : recv(rank, world, x, 0),
                      TUTTI_OK);
            EXPECT_EQ(rank.sync(), TUTTI_OK);
            EXPECT_EQ(rank.download<float>(x)[0], 7);
        });
}

// row 47
TEST(Transfers, OppositeOnesInAGroupCallDoNotDeadlock) {
    run_well(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const tutti_buffer out = rank.upload<float>({float(rank.index())});
        const tutti_buffer in = rank.allocate(4);
        for (int round = 0; round < 100; round++) {
            ASSERT_EQ(tutti_group_start(rank.driver(), nullptr), TUTTI_OK);
            EXPECT_EQ(send(rank, world, out, 1 - rank.index()), TUTTI_OK);
            EXPECT_EQ(recv(rank, world, in, 1 - rank.index()), TUTTI_OK);
            ASSERT_EQ(tutti_group_end(rank.driver(), nullptr), TUTTI_OK);
            ASSERT_EQ(rank.sync(), TUTTI_OK);
        }
        EXPECT_EQ(rank.download<float>(in)[0], float(1 - rank.index()));
    });
}

// row 47: a communicator and a stream for each direction
TEST(Transfers, OppositeOnesOnTwoStreamsDoNotDeadlock) {
    run_well(2, [](Rank &rank) {
        tutti_comm *up = rank.join({0, 1}, TUTTI_PURPOSE_TRANSFERS), *down = rank.world();
        tutti_comm *first = rank.index() == 0 ? up : down, *second = rank.index() == 0 ? down : up;
        const tutti_buffer out = rank.upload<float>({float(rank.index())});
        const tutti_buffer in = rank.allocate(4);
        for (int round = 0; round < 100; round++) {
            EXPECT_EQ(send(rank, first, out, 1 - rank.index(), "out"), TUTTI_OK);
            EXPECT_EQ(recv(rank, second, in, 1 - rank.index(), "in"), TUTTI_OK);
            ASSERT_EQ(rank.sync("out"), TUTTI_OK);
            ASSERT_EQ(rank.sync("in"), TUTTI_OK);
        }
        EXPECT_EQ(rank.download<float>(in)[0], float(1 - rank.index()));
    });
}

TEST(Transfers, TwoThatBothSendFirstDeadlock) {
    const Report report = run(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const tutti_buffer x = rank.upload<float>({1}), y = rank.allocate(4);
        EXPECT_EQ(send(rank, world, x, 1 - rank.index()), TUTTI_OK);
        EXPECT_EQ(recv(rank, world, y, 1 - rank.index()), TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_DEADLOCK);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_DEADLOCK, {0, 1});
}

// A communicator has an inner order, whatever streams its operations are on.
TEST(Transfers, TwoStreamsOfOneCommunicatorDoNotHelp) {
    const Report report = run(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const tutti_buffer x = rank.upload<float>({1}), y = rank.allocate(4);
        EXPECT_EQ(send(rank, world, x, 1 - rank.index(), "out"), TUTTI_OK);
        EXPECT_EQ(recv(rank, world, y, 1 - rank.index(), "in"), TUTTI_OK);
        EXPECT_EQ(rank.sync("in"), TUTTI_DEADLOCK);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_DEADLOCK, {0, 1});
}

// row 48
TEST(Transfers, AnInvalidPeerIsRefused) {
    const Report report = run(2, [](Rank &rank) {
        const tutti_buffer x = rank.upload<float>({1});
        tutti_comm *world = rank.world();
        if (rank.index() == 1) return;
        EXPECT_EQ(send(rank, world, x, 2), TUTTI_INVALID_ARGUMENT);
        EXPECT_EQ(recv(rank, world, x, -1), TUTTI_INVALID_ARGUMENT);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISUSE, {0});
}

// row 48
TEST(Transfers, ToOneselfNeedBothHalvesInOneGroupCall) {
    const Report report = run(1, [](Rank &rank) {
        const tutti_buffer x = rank.upload<float>({5}), y = rank.allocate(4);
        tutti_comm *world = rank.world();
        EXPECT_EQ(send(rank, world, x, 0), TUTTI_MISUSE);
        tutti_group_start(rank.driver(), nullptr);
        EXPECT_EQ(send(rank, world, x, 0), TUTTI_OK);
        EXPECT_EQ(tutti_group_end(rank.driver(), nullptr), TUTTI_MISUSE);
        tutti_group_start(rank.driver(), nullptr);
        EXPECT_EQ(send(rank, world, x, 0), TUTTI_OK);
        EXPECT_EQ(recv(rank, world, y, 0), TUTTI_OK);
        EXPECT_EQ(tutti_group_end(rank.driver(), nullptr), TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(y)[0], 5);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISUSE, {0});
}

// row 50
TEST(Transfers, ARefusedSendIsReportedAndItsReceiverIsTold) {
    const Report report = run(
        2,
        [](Rank &rank) {
            tutti_comm *world = rank.world();
            const tutti_buffer x = rank.upload<float>({1});
            if (rank.index() == 0) {
                EXPECT_EQ(send(rank, world, x, 1), TUTTI_REFUSED);
                return;
            }
            EXPECT_EQ(recv(rank, world, x, 0), TUTTI_OK);
            EXPECT_EQ(rank.sync(), TUTTI_MISSING);
        },
        with_faults("send[rank=0]=refuse(no route)"));
    expect_verdict(report.get(), TUTTI_VERDICT_REFUSED, {0});
}

TEST(Transfers, OfDifferentSizesAreAMismatch) {
    const Report report = run(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const tutti_buffer x = rank.upload(std::vector<float>(4 + rank.index(), 1));
        EXPECT_EQ(rank.index() == 0 ? send(rank, world, x, 1) : recv(rank, world, x, 0), TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_MISMATCH);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISMATCH, {1});
}

TEST(Transfers, OfNoBytesAreRealAndMustBeReceived) {
    const Report report = run(2, [](Rank &rank) {
        tutti_comm *world = rank.world();
        if (rank.index() == 1) return;
        EXPECT_EQ(send(rank, world, {}, 1), TUTTI_OK);
        EXPECT_EQ(rank.sync(), TUTTI_MISSING);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISSING, {1});
}

} // namespace
