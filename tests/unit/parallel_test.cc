// The parallel executor: rehearsals in real time, and clusters for the caller's own threads.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/rehearsal_support.h"

namespace {

constexpr tutti_executor kParallel = TUTTI_EXECUTOR_PARALLEL;

TEST(Parallel, SumReachesEveryRank) {
    for (const uint32_t ranks : {1U, 2U, 3U, 16U}) {
        const Report report = rehearse(options_for(ranks, kParallel), summing(20));
        EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
    }
}

TEST(Parallel, ThousandRanksAreNotTooMany) {
    const Report report = rehearse(options_for(1024, kParallel), summing(2));
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(Parallel, RanksRunAtOnce) {
    std::atomic<int> arrived{0};
    const Report report = rehearse(options_for(2, kParallel), [&](tutti_rank *) {
        arrived++;
        while (arrived < 2) {
        }
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(Parallel, SleepTakesRealTime) {
    const Report report = rehearse(options_for(2, kParallel), [](tutti_rank *self) {
        const int64_t start_ns = tutti_rank_now(self);
        EXPECT_EQ(tutti_rank_sleep(self, 3000000, nullptr), TUTTI_OK);
        EXPECT_GE(tutti_rank_now(self) - start_ns, 3000000);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
    EXPECT_GE(report->real_ns, 3000000);
}

TEST(Parallel, DelayedRankIsWaitedFor) {
    tutti_rehearsal_options options = options_for(3, kParallel);
    options.faults = "all_reduce[rank=1]=delay(3ms)";
    const Report report = rehearse(options, summing(1));
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
    EXPECT_GE(report->virtual_ns, 3000000);
}

TEST(Parallel, RefusedJoinIsTriedAgain) {
    tutti_rehearsal_options options = options_for(3, kParallel);
    options.faults = "join[rank=1]=2*refuse(busy)->off";
    const Report report = rehearse(options, [](tutti_rank *self) {
        tutti_comm *comm = nullptr;
        tutti_error error;
        tutti_status status = TUTTI_REFUSED;
        while (status == TUTTI_REFUSED)
            status = tutti_rank_join_world(self, nullptr, &comm, &error);
        ASSERT_EQ(status, TUTTI_OK) << error.message;
        EXPECT_EQ(tutti_leave(comm, &error), TUTTI_OK) << error.message;
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(Parallel, MismatchIsFoundAtOnce) {
    const Report report = rehearse(options_for(3, kParallel), [](tutti_rank *self) {
        Member member(self);
        (void)member.all_reduce(tutti_rank_index(self) == 1 ? TUTTI_MAX : TUTTI_SUM);
        EXPECT_EQ(member.synchronize(), TUTTI_MISMATCH);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_MISMATCH) << text_of(report.get());
    EXPECT_EQ(culprits_of(report.get()), (std::vector<int32_t>{1}));
}

TEST(Parallel, MissingRankIsFoundWhenTheOthersAreStuck) {
    const Report report = rehearse(options_for(3, kParallel), [](tutti_rank *self) {
        Member member(self);
        if (tutti_rank_index(self) == 2) return;
        EXPECT_EQ(member.all_reduce(), TUTTI_OK);
        EXPECT_EQ(member.synchronize(), TUTTI_MISSING);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_MISSING) << text_of(report.get());
    EXPECT_EQ(culprits_of(report.get()), (std::vector<int32_t>{2}));
}

TEST(Parallel, KilledRankIsToldAndNamed) {
    tutti_rehearsal_options options = options_for(3, kParallel);
    options.faults = "all_reduce[rank=2]=kill";
    const Report report = rehearse(options, [](tutti_rank *self) {
        Member member(self);
        (void)member.all_reduce();
        const tutti_status status = member.synchronize();
        EXPECT_EQ(status == TUTTI_KILLED, tutti_rank_index(self) == 2);
        EXPECT_NE(status, TUTTI_OK);
        while (tutti_rank_index(self) == 2)
            (void)member.synchronize(); // it does not listen, and is ended
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_KILLED) << text_of(report.get());
    EXPECT_EQ(culprits_of(report.get()), (std::vector<int32_t>{2}));
}

TEST(Parallel, PollersOfWhatNeverComesLearnItAfterTheLimit) {
    tutti_rehearsal_options options = options_for(2, kParallel);
    options.unresponsive_ns = 50000000;
    const Report report = rehearse(options, [](tutti_rank *self) {
        Member member(self);
        if (tutti_rank_index(self) == 1) return;
        ASSERT_EQ(member.all_reduce(), TUTTI_OK);
        tutti_status status = TUTTI_OK;
        for (int done = 0; done == 0 && status == TUTTI_OK;)
            status = tutti_stream_query(member.stream, &done, nullptr);
        EXPECT_EQ(status, TUTTI_MISSING);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_MISSING) << text_of(report.get());
}

TEST(Parallel, HostFunctionsOfSeveralStreamsRun) {
    std::atomic<int> ran{0};
    const Report report = rehearse(options_for(4, kParallel), [&](tutti_rank *self) {
        Member member(self);
        const auto count = [](void *argument) { (*static_cast<std::atomic<int> *>(argument))++; };
        for (int i = 0; i < 50; i++)
            ASSERT_EQ(tutti_host_function_enqueue(member.stream, count, &ran, nullptr, 0, nullptr,
                                                  0, nullptr),
                      TUTTI_OK);
        EXPECT_EQ(member.synchronize(), TUTTI_OK);
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
    EXPECT_EQ(ran, 200);
}

TEST(Parallel, UnfinishedWorkIsFinishedAtTheEnd) {
    tutti_rehearsal_options options = options_for(2, kParallel);
    options.faults = "all_reduce[rank=0]=delay(1ms)";
    const Report report = rehearse(options, [](tutti_rank *self) {
        Member member(self);
        EXPECT_EQ(member.all_reduce(), TUTTI_OK); // and nobody waits for it
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(Parallel, OtherThreadsMayNotUseItsHandles) {
    const Report report = rehearse(options_for(1, kParallel), [](tutti_rank *self) {
        Member member(self);
        std::thread stranger(
            [&] { EXPECT_EQ(tutti_stream_synchronize(member.stream, nullptr), TUTTI_MISUSE); });
        stranger.join();
        EXPECT_EQ(member.leave(), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

// --- Clusters for the caller's own threads

struct ClusterFree {
    void operator()(tutti_cluster *cluster) const {
        tutti_cluster_destroy(cluster);
    }
};
using Cluster = std::unique_ptr<tutti_cluster, ClusterFree>;

Cluster make_cluster(const tutti_rehearsal_options &options) {
    tutti_cluster *cluster = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_cluster_create(&options, &cluster, &error), TUTTI_OK) << error.message;
    return Cluster(cluster);
}

Report report_of(tutti_cluster *cluster) {
    tutti_report *report = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_cluster_report(cluster, &report, &error), TUTTI_OK) << error.message;
    return Report(report);
}

// What a thread does as a member of a group over all devices; the status of the last call.
tutti_status take_part(tutti_driver *driver, uint32_t index, int32_t rank_count, int parts,
                       float *sum_out) {
    tutti_device *device = nullptr;
    tutti_unique_id id;
    tutti_comm *comm = nullptr;
    tutti_stream *stream = nullptr;
    tutti_buffer buffer = {};
    tutti_data_type type = {};
    size_t count = 0;
    float value = static_cast<float>(index);
    EXPECT_EQ(tutti_device_open(driver, index, &device, nullptr), TUTTI_OK);
    EXPECT_EQ(tutti_group_id(driver, 77, &id, nullptr), TUTTI_OK);
    const tutti_status joined =
        tutti_join(device, &id, rank_count, static_cast<int32_t>(index), nullptr, &comm, nullptr);
    if (joined != TUTTI_OK) return joined;
    EXPECT_EQ(tutti_stream_create(device, nullptr, &stream, nullptr), TUTTI_OK);
    EXPECT_EQ(tutti_memory_allocate(device, sizeof(value), &buffer, nullptr), TUTTI_OK);
    EXPECT_EQ(tutti_data_type_of(device, TUTTI_F32, sizeof(value), &type, &count, nullptr),
              TUTTI_OK);
    tutti_status status = TUTTI_OK;
    for (int part = 0; part < parts && status == TUTTI_OK; part++) {
        (void)tutti_copy_to_device(buffer, &value, sizeof(value), stream, nullptr);
        (void)tutti_all_reduce(comm, buffer, buffer, type, count, TUTTI_SUM, stream, nullptr);
        (void)tutti_copy_to_host(sum_out, buffer, sizeof(value), stream, nullptr);
        status = tutti_stream_synchronize(stream, nullptr);
    }
    if (status == TUTTI_OK) status = tutti_leave(comm, nullptr);
    tutti_stream_destroy(stream);
    (void)tutti_memory_free(device, buffer, nullptr);
    return status;
}

TEST(OwnThreads, AnyThreadMayUseAnyDevice) {
    const Cluster cluster = make_cluster(options_for(4));
    tutti_driver *driver = tutti_cluster_driver(cluster.get());
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 4; i++) {
        threads.emplace_back([=] {
            float sum = 0;
            EXPECT_EQ(take_part(driver, i, 4, 50, &sum), TUTTI_OK);
            EXPECT_EQ(sum, 6);
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    const Report report = report_of(cluster.get());
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(OwnThreads, WaitsAreBounded) {
    tutti_rehearsal_options options = options_for(2);
    options.wait_timeout_ns = 20000000;
    const Cluster cluster = make_cluster(options);
    float sum = 0;
    EXPECT_EQ(take_part(tutti_cluster_driver(cluster.get()), 0, 2, 1, &sum), TUTTI_TIMED_OUT);
    EXPECT_NE(report_of(cluster.get())->verdict, TUTTI_VERDICT_OK);
}

TEST(OwnThreads, SeveralClustersInOneThread) {
    const Cluster first = make_cluster(options_for(1)), second = make_cluster(options_for(1));
    for (int i = 0; i < 3; i++) {
        float sum = 0;
        EXPECT_EQ(take_part(tutti_cluster_driver(first.get()), 0, 1, 2, &sum), TUTTI_OK);
        EXPECT_EQ(take_part(tutti_cluster_driver(second.get()), 0, 1, 2, &sum), TUTTI_OK);
    }
    EXPECT_EQ(report_of(first.get())->verdict, TUTTI_VERDICT_OK);
    EXPECT_EQ(report_of(second.get())->verdict, TUTTI_VERDICT_OK);
}

TEST(OwnThreads, ThreadsComeAndGo) {
    const Cluster cluster = make_cluster(options_for(1));
    tutti_driver *driver = tutti_cluster_driver(cluster.get());
    for (int i = 0; i < 50; i++) {
        std::thread thread([=] {
            float sum = 0;
            EXPECT_EQ(take_part(driver, 0, 1, 1, &sum), TUTTI_OK);
        });
        thread.join();
    }
    EXPECT_EQ(report_of(cluster.get())->verdict, TUTTI_VERDICT_OK);
}

TEST(OwnThreads, UnusedClusterIsDestroyed) {
    (void)make_cluster(options_for(8));
    tutti_cluster_destroy(nullptr);
}

TEST(OwnThreads, BadArgumentsAreRefused) {
    tutti_cluster *cluster = nullptr;
    tutti_error error;
    tutti_rehearsal_options options = options_for(2);
    EXPECT_EQ(tutti_cluster_create(nullptr, &cluster, &error), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(tutti_cluster_create(&options, nullptr, &error), TUTTI_INVALID_ARGUMENT);
    options.rank_count = 0;
    EXPECT_EQ(tutti_cluster_create(&options, &cluster, &error), TUTTI_INVALID_ARGUMENT);
    options.rank_count = 2;
    options.faults = "join=";
    EXPECT_EQ(tutti_cluster_create(&options, &cluster, &error), TUTTI_SYNTAX);
    EXPECT_EQ(cluster, nullptr);
    const Cluster made = make_cluster(options_for(1));
    EXPECT_EQ(tutti_cluster_report(made.get(), nullptr, &error), TUTTI_INVALID_ARGUMENT);
}

} // namespace
