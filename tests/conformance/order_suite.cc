// Order and deadlock, ranks that are late, killed, hung or gone.

#include "tests/harness/conformance.h"

namespace {

using namespace tutti_test;

tutti_status enqueue_sum(Rank &rank, tutti_comm *comm, tutti_buffer x, const char *on = "comm") {
    return tutti_all_reduce(comm, x, x, data_type(TUTTI_F32), x.bytes / 4, TUTTI_SUM,
                            rank.stream(on), nullptr);
}

// row 60
TEST(Order, AHundredPartsOnOneDeviceBeforeTheNextDevicesFirst) {
    run_well(
        1,
        [](Rank &rank) {
            tutti_unique_id id;
            tutti_comm *comms[3];
            tutti_stream *streams[3];
            tutti_buffer buffers[3];
            ASSERT_EQ(tutti_group_id(rank.driver(), 9, &id, nullptr), TUTTI_OK);
            ASSERT_EQ(tutti_group_start(rank.driver(), nullptr), TUTTI_OK);
            for (int i = 0; i < 3; i++)
                ASSERT_EQ(tutti_join(rank.device(i), &id, 3, i, nullptr, &comms[i], nullptr),
                          TUTTI_OK);
            ASSERT_EQ(tutti_group_end(rank.driver(), nullptr), TUTTI_OK);
            for (int i = 0; i < 3; i++) {
                ASSERT_EQ(tutti_stream_create(rank.device(i), nullptr, &streams[i], nullptr),
                          TUTTI_OK);
                ASSERT_EQ(tutti_memory_allocate(rank.device(i), 4, &buffers[i], nullptr), TUTTI_OK);
                ASSERT_EQ(tutti_fill(buffers[i], 0, streams[i], nullptr), TUTTI_OK);
                for (int part = 0; part < 100; part++)
                    ASSERT_EQ(tutti_all_reduce(comms[i], buffers[i], buffers[i],
                                               data_type(TUTTI_F32), 1, TUTTI_SUM, streams[i],
                                               nullptr),
                              TUTTI_OK);
            }
            for (tutti_stream *stream : streams)
                EXPECT_EQ(tutti_stream_synchronize(stream, nullptr), TUTTI_OK);
        },
        with_devices(3));
}

// rows 61 and 64
TEST(Order, ReductionsBesideTransfersOnACommunicatorOfTheirOwn) {
    run_well(4, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const int peer = rank.index() ^ 1;
        tutti_comm *pair = rank.join({rank.index(), peer}, TUTTI_PURPOSE_TRANSFERS);
        const tutti_buffer x = rank.upload<float>({1}), out = rank.upload<float>({2});
        const tutti_buffer in = rank.allocate(4);
        for (int round = 0; round < 20; round++) {
            EXPECT_EQ(enqueue_sum(rank, world, x), TUTTI_OK);
            tutti_group_start(rank.driver(), nullptr);
            tutti_send(pair, out, data_type(TUTTI_F32), 1, 1 - pair->rank, rank.stream("pair"),
                       nullptr);
            tutti_recv(pair, in, data_type(TUTTI_F32), 1, 1 - pair->rank, rank.stream("pair"),
                       nullptr);
            EXPECT_EQ(tutti_group_end(rank.driver(), nullptr), TUTTI_OK);
        }
        EXPECT_EQ(rank.sync(), TUTTI_OK);
        EXPECT_EQ(rank.sync("pair"), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(in)[0], 2);
    });
}

// row 64: unrelated devices do not wait for a stuck group
TEST(Order, APairGoesOnBesideAStuckGroup) {
    const Report report = run(4, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const bool low = rank.index() < 2;
        tutti_comm *pair = rank.join(low ? std::vector<int>{0, 1} : std::vector<int>{2, 3});
        const tutti_buffer x = rank.upload<float>({1}), y = rank.upload<float>({1});
        if (rank.index() < 3) {
            EXPECT_EQ(enqueue_sum(rank, world, x, "world"), TUTTI_OK);
        }
        EXPECT_EQ(rank.sum(pair, y, y, 1), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(y)[0], 2);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISSING, {3});
}

// Two communicators over the same four ranks, in opposing orders.
void opposing_orders(Rank &rank, tutti_status expected) {
    tutti_comm *rows = rank.world(), *columns = rank.join({0, 1, 2, 3}, TUTTI_PURPOSE_TRANSFERS);
    const tutti_buffer a = rank.upload<float>({1}), b = rank.upload<float>({1});
    const bool rows_first = rank.index() % 2 == 0;
    EXPECT_EQ(enqueue_sum(rank, rows_first ? rows : columns, a, "first"), TUTTI_OK);
    EXPECT_EQ(enqueue_sum(rank, rows_first ? columns : rows, b, "second"), TUTTI_OK);
    EXPECT_EQ(rank.sync("first"), expected);
    EXPECT_EQ(rank.sync("second"), expected);
}

// row 62
TEST(Order, OpposingOrdersOfTwoCommunicatorsWorkWhereADeviceRunsBoth) {
    const Report report = run(4, [](Rank &rank) { opposing_orders(rank, TUTTI_OK); });
    expect_verdict(report.get(), TUTTI_VERDICT_OK, {});
    ASSERT_EQ(report->finding_count, 1u); // a note about the order
    EXPECT_EQ(report->findings[0].is_note, 1);
    EXPECT_STREQ(report->findings[0].detail, "order");
}

// row 62
TEST(Order, OpposingOrdersOfTwoCommunicatorsDeadlockWhereADeviceRunsOne) {
    const Report report = run(
        4, [](Rank &rank) { opposing_orders(rank, TUTTI_DEADLOCK); }, with_capacity(1));
    expect_verdict(report.get(), TUTTI_VERDICT_DEADLOCK, {0, 1, 2, 3});
}

// row 63
TEST(Order, AThreadPerDeviceForAHundredRounds) {
    run_well(4, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const tutti_buffer one = rank.upload<float>({1}), x = rank.allocate(4);
        for (int round = 0; round < 100; round++)
            ASSERT_EQ(rank.sum(world, one, x, 1), TUTTI_OK);
        EXPECT_EQ(rank.download<float>(x)[0], 4);
    });
}

TEST(Order, EventsThatWaitForEachOtherAcrossRanksDeadlock) {
    const Report report = run(2, [](Rank &rank) {
        tutti_comm *world = rank.world(), *other = rank.join({0, 1}, TUTTI_PURPOSE_TRANSFERS);
        const tutti_buffer a = rank.upload<float>({1}), b = rank.upload<float>({1});
        tutti_event *event = nullptr;
        tutti_comm *first = rank.index() == 0 ? world : other;
        tutti_comm *second = rank.index() == 0 ? other : world;
        ASSERT_EQ(tutti_event_create(rank.device(), &event, nullptr), TUTTI_OK);
        EXPECT_EQ(enqueue_sum(rank, first, a, "one"), TUTTI_OK);
        EXPECT_EQ(tutti_event_record(event, rank.stream("one"), nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_event_wait(event, rank.stream("two"), nullptr), TUTTI_OK);
        EXPECT_EQ(enqueue_sum(rank, second, b, "two"), TUTTI_OK);
        EXPECT_EQ(rank.sync("two"), TUTTI_DEADLOCK);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_DEADLOCK, {0, 1});
}

// row 65
TEST(Stuck, ACollectiveIsNamedWithItsRanksAfterALimit) {
    TUTTI_NEEDS_VIRTUAL_TIME();
    const Report report = run(
        3,
        [](Rank &rank) {
            tutti_comm *world = rank.world();
            const tutti_buffer x = rank.upload<float>({1});
            if (rank.index() == 2) tutti_rank_sleep(rank.self(), 40 * one_minute_ns, nullptr);
            EXPECT_EQ(enqueue_sum(rank, world, x), TUTTI_OK);
            EXPECT_EQ(rank.sync(), rank.index() == 2 ? TUTTI_OK : TUTTI_TIMED_OUT);
        },
        with_limit(30 * one_minute_ns));
    expect_verdict(report.get(), TUTTI_VERDICT_TIMEOUT, {2});
    EXPECT_NE(std::strstr(report->findings[0].text, "operation 1 of world"), nullptr);
    EXPECT_NE(std::strstr(report->findings[0].text, "sleeps"), nullptr);
}

TEST(Stuck, ARankThatLeavesEarlyIsMissed) {
    const Report report = run(3, [](Rank &rank) {
        tutti_comm *world = rank.world();
        const tutti_buffer x = rank.upload<float>({1});
        EXPECT_EQ(rank.sum(world, x, x, 1), TUTTI_OK);
        if (rank.index() == 1) return;
        EXPECT_EQ(rank.sum(world, x, x, 1), TUTTI_MISSING);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_MISSING, {1});
}

TEST(Stuck, FirstUseBlocksTheHostUntilThePeerComes) {
    TUTTI_NEEDS_VIRTUAL_TIME();
    RunOptions options;
    options.first_use_blocks = true;
    run_well(
        2,
        [](Rank &rank) {
            tutti_comm *world = rank.world();
            const tutti_buffer x = rank.upload<float>({1});
            if (rank.index() == 1) tutti_rank_sleep(rank.self(), one_minute_ns, nullptr);
            EXPECT_EQ(enqueue_sum(rank, world, x), TUTTI_OK);
            EXPECT_GE(tutti_rank_now(rank.self()), one_minute_ns);
            EXPECT_EQ(rank.sync(), TUTTI_OK);
        },
        options);
}

TEST(Faults, AKilledRankMakesNoCallAndIsTheRootCause) {
    const Report report = run(
        4,
        [](Rank &rank) {
            tutti_comm *world = rank.world();
            const tutti_buffer x = rank.upload<float>({1});
            EXPECT_EQ(rank.sum(world, x, x, 1), TUTTI_OK);
            const bool dead = rank.index() == 2;
            EXPECT_EQ(rank.sum(world, x, x, 1), dead ? TUTTI_KILLED : TUTTI_MISSING);
            if (dead) {
                EXPECT_EQ(tutti_rank_sleep(rank.self(), 1, nullptr), TUTTI_KILLED);
            }
        },
        with_faults("all_reduce[rank=2]=1*off->kill"));
    expect_verdict(report.get(), TUTTI_VERDICT_KILLED, {2});
}

TEST(Faults, AHungRankIsMissed) {
    const Report report = run(
        3,
        [](Rank &rank) {
            tutti_comm *world = rank.world();
            const tutti_buffer x = rank.upload<float>({1});
            EXPECT_EQ(rank.sum(world, x, x, 1), rank.index() == 1 ? TUTTI_KILLED : TUTTI_MISSING);
        },
        with_faults("all_reduce[rank=1]=hang"));
    expect_verdict(report.get(), TUTTI_VERDICT_MISSING, {1});
}

TEST(Faults, AFailedCallReturnsItsStatusAndDoesNotAdvanceTheOrder) {
    run_well(
        2,
        [](Rank &rank) {
            tutti_comm *world = rank.world();
            const tutti_buffer x = rank.upload<float>({1});
            if (rank.index() == 1) {
                EXPECT_EQ(enqueue_sum(rank, world, x), TUTTI_REMOTE);
            }
            EXPECT_EQ(rank.sum(world, x, x, 1), TUTTI_OK);
            EXPECT_EQ(rank.download<float>(x)[0], 2);
        },
        with_faults("all_reduce[rank=1]=1*fail(remote)"));
}

// A refusal that was tried again with success is settled: what goes wrong later has other causes.
TEST(Faults, ARefusalThatWasHandledIsNotBlamedForWhatFollows) {
    const Report report = run(
        2,
        [](Rank &rank) {
            tutti_comm *world = nullptr;
            while (tutti_rank_join_world(rank.self(), nullptr, &world, nullptr) == TUTTI_REFUSED) {
            }
            const tutti_buffer x = rank.upload<float>({1, 2});
            while (enqueue_sum(rank, world, x) == TUTTI_REFUSED) {
            }
            EXPECT_EQ(rank.sync(), TUTTI_OK);
            EXPECT_EQ(rank.sum(world, x, x, 2 - rank.index()), TUTTI_MISMATCH);
        },
        with_faults("join[rank=1]=2*refuse(busy); all_reduce[rank=1]=1*refuse(busy)"));
    expect_verdict(report.get(), TUTTI_VERDICT_MISMATCH, {1});
}

TEST(Faults, ARefusalThatWasNotHandledIsTheRootOfWhatFollows) {
    const Report report = run(
        2,
        [](Rank &rank) {
            tutti_comm *world = rank.world();
            const tutti_buffer x = rank.upload<float>({1, 2}), y = rank.upload<float>({1});
            enqueue_sum(rank, world, x); // refused on rank 1, which goes on with the next one
            enqueue_sum(rank, world, y);
            EXPECT_EQ(rank.sync(), TUTTI_MISMATCH);
        },
        with_faults("all_reduce[rank=1]=1*refuse(busy)"));
    expect_verdict(report.get(), TUTTI_VERDICT_REFUSED, {1});
}

// Whoever tries again for ever is found, however often that is noted.
TEST(Faults, ARefusalForEverIsTheRootOfTheLoopThatTriesAgain) {
    TUTTI_NEEDS_VIRTUAL_TIME();
    const Report report = run(
        2,
        [](Rank &rank) {
            tutti_comm *world = nullptr;
            while (tutti_rank_join_world(rank.self(), nullptr, &world, nullptr) == TUTTI_REFUSED) {
            }
        },
        with_faults("join[rank=1]=refuse(busy)"));
    expect_verdict(report.get(), TUTTI_VERDICT_REFUSED, {1});
    EXPECT_LT(report->finding_count, 10u);
    EXPECT_NE(std::string(report->findings[0].text).find("times in all"), std::string::npos);
}

TEST(Faults, AnyNumberOfNotesLeavesRoomForAFailure) {
    const Report report = run(
        2,
        [](Rank &rank) {
            tutti_comm *world = rank.world();
            const tutti_buffer x = rank.upload<float>({1, 2});
            for (int round = 0; round < 3000; round++) {
                while (enqueue_sum(rank, world, x) == TUTTI_REFUSED) {
                }
                EXPECT_EQ(rank.sync(), TUTTI_OK);
            }
            EXPECT_EQ(rank.sum(world, x, x, 2 - rank.index()), TUTTI_MISMATCH);
        },
        with_faults("all_reduce[rank=1,seq=1-3000]=50%refuse(busy)"));
    expect_verdict(report.get(), TUTTI_VERDICT_MISMATCH, {1});
}

TEST(Faults, ADelayTakesTimeOnTheClusterAndNothingElse) {
    TUTTI_NEEDS_VIRTUAL_TIME();
    const Report report = run(
        2,
        [](Rank &rank) {
            tutti_comm *world = rank.world();
            const tutti_buffer x = rank.upload<float>({1});
            EXPECT_EQ(rank.sum(world, x, x, 1), TUTTI_OK);
        },
        with_faults("all_reduce[rank=1]=delay(40min)"));
    expect_verdict(report.get(), TUTTI_VERDICT_OK, {});
    EXPECT_EQ(report->virtual_ns, 40 * one_minute_ns);
}

TEST(Faults, ARuleThatNeverActedIsReported) {
    const Report report = run(
        1, [](Rank &) {}, with_faults("send[rank=0]=kill"));
    EXPECT_NE(std::strstr(report->faults_unfired, "send"), nullptr);
}

TEST(Wrong, AProgramMayReportAResult) {
    const Report report = run(2, [](Rank &rank) {
        if (rank.index() == 1) tutti_rank_wrong(rank.self(), "got %d", 7);
    });
    expect_verdict(report.get(), TUTTI_VERDICT_WRONG, {1});
    EXPECT_NE(std::strstr(report->findings[0].text, "got 7"), nullptr);
}

} // namespace
