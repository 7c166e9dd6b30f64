// What faults do to operations, in figures; fault_coverage_test.cc goes through all of them.

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/rehearsal_support.h"
#include "tutti/operations.h"
#include "gtest/gtest.h"

namespace {

constexpr int64_t kMillisecond = 1000000;

// Rank 0 sends to rank 1. What both had of it.
struct Transfer {
    tutti_status sent = TUTTI_INTERNAL;
    tutti_status received = TUTTI_INTERNAL;
    float value = 0;
};

Report send_one(const std::string &faults, Transfer *transfer, int64_t wait_timeout_ns = 0) {
    tutti_rehearsal_options options = options_for(2);
    options.faults = faults.c_str();
    options.wait_timeout_ns = wait_timeout_ns;
    return rehearse(options, [transfer](tutti_rank *self) {
        Member member(self);
        ASSERT_EQ(member.status, TUTTI_OK);
        ASSERT_EQ(member.set(tutti_rank_index(self) == 0 ? 7 : 1), TUTTI_OK);
        if (tutti_rank_index(self) == 0) {
            (void)tutti_send(member.comm, member.buffer, member.data_type, 4, 1, member.stream,
                             nullptr);
            transfer->sent = member.synchronize();
        } else {
            (void)tutti_recv(member.comm, member.buffer, member.data_type, 4, 0, member.stream,
                             nullptr);
            transfer->received = member.synchronize();
            // When the wait has ended too early, the memory is still the operation's.
            if (transfer->received != TUTTI_TIMED_OUT)
                std::memcpy(&transfer->value, member.buffer.data, sizeof(float));
        }
        (void)member.leave();
    });
}

TEST(FaultEffects, AMessageThatIsLostIsOverForTheSenderOnly) {
    for (const char *plan : {"send=drop", "link[rank=0,peer=1]=drop"}) {
        Transfer transfer;
        const Report report = send_one(plan, &transfer);
        EXPECT_EQ(transfer.sent, TUTTI_OK) << plan;
        EXPECT_EQ(transfer.received, TUTTI_MISSING) << plan;
        EXPECT_EQ(transfer.value, 1) << plan;
        EXPECT_EQ(report->verdict, TUTTI_VERDICT_MISSING) << text_of(report.get());
        EXPECT_EQ(culprits_of(report.get()), std::vector<int32_t>{0}) << text_of(report.get());
    }
}

TEST(FaultEffects, AMessageThatIsLostOrHeldAtTheReceiverIsOverForNobody) {
    for (const auto &[plan, culprit] :
         std::vector<std::pair<std::string, int32_t>>{{"recv=drop", 1}, {"link[rank=0]=hang", 0}}) {
        Transfer transfer;
        const Report report = send_one(plan, &transfer);
        EXPECT_EQ(transfer.sent, TUTTI_MISSING) << plan;
        EXPECT_EQ(transfer.received, TUTTI_MISSING) << plan;
        EXPECT_EQ(culprits_of(report.get()), std::vector<int32_t>{culprit}) << plan;
    }
}

TEST(FaultEffects, ALinkOfTheOtherDirectionIsNotUsed) {
    Transfer transfer;
    const Report report = send_one("link[rank=1,peer=0]=drop", &transfer);
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
    EXPECT_NE(std::string(report->faults_unfired), "");
    EXPECT_EQ(transfer.value, 7);
}

TEST(FaultEffects, ALinkThatFailsFailsTheCommunicator) {
    Transfer transfer;
    const Report report = send_one("link=fail(remote)", &transfer);
    EXPECT_EQ(transfer.sent, TUTTI_REMOTE);
    EXPECT_EQ(transfer.received, TUTTI_REMOTE);
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_REFUSED) << text_of(report.get());
    EXPECT_EQ(culprits_of(report.get()), std::vector<int32_t>{0});
}

TEST(FaultEffects, TheSlowestOfAllPartsCounts) {
    Transfer transfer;
    EXPECT_EQ(send_one("link=delay(3ms)", &transfer)->virtual_ns, 3 * kMillisecond);
    // 16 bytes take 1,001 ns on a healthy link, of which no clock is kept.
    EXPECT_EQ(send_one("link=slow(3)", &transfer)->virtual_ns, 2 * 1001);
    EXPECT_EQ(send_one("recv=slow(11)", &transfer)->virtual_ns, 10 * 1001);
    EXPECT_EQ(send_one("send=slow(3); recv=slow(11)", &transfer)->virtual_ns, 10 * 1001);
    EXPECT_EQ(send_one("link=slow(1)", &transfer)->virtual_ns, 0);
    EXPECT_EQ(transfer.value, 7);
}

TEST(FaultEffects, AWaitThatEndsTooEarlyBlamesTheSlowLink) {
    Transfer transfer;
    const Report report = send_one("link=delay(5s)", &transfer, 1000 * kMillisecond);
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_TIMEOUT) << text_of(report.get());
    EXPECT_EQ(culprits_of(report.get()), std::vector<int32_t>{0});
    EXPECT_NE(text_of(report.get())
                  .find("which a fault makes 5s longer on the link from rank 0 to "
                        "rank 1 (fault plan, rule 1)"),
              std::string::npos)
        << text_of(report.get());
}

TEST(FaultEffects, ASlowRankTakesLongerForSleepsKernelsAndDelays) {
    const auto virtual_ns = [](const char *faults) {
        tutti_rehearsal_options options = options_for(1);
        options.faults = faults;
        return rehearse(options,
                        [](tutti_rank *self) {
                            tutti_stream *stream = nullptr;
                            (void)tutti_rank_sleep(self, kMillisecond, nullptr);
                            (void)tutti_stream_create(tutti_rank_device(self), nullptr, &stream,
                                                      nullptr);
                            (void)tutti_stream_synchronize(stream, nullptr);
                            tutti_stream_destroy(stream);
                        })
            ->virtual_ns;
    };
    EXPECT_EQ(virtual_ns(""), kMillisecond);
    EXPECT_EQ(virtual_ns("step=slow(2.5)"), 2500000);
    EXPECT_EQ(virtual_ns("sync=delay(1ms)"), 2 * kMillisecond);
    EXPECT_EQ(virtual_ns("sync=delay(1ms); step=slow(3)"), 6 * kMillisecond);
}

TEST(FaultEffects, CorruptFlipsSoManyBitsAndTheSameOnesEachTime) {
    const auto corrupted = [](const std::string &faults) {
        std::array<unsigned char, 64> bytes = {};
        tutti_rehearsal_options options = options_for(1);
        options.faults = faults.c_str();
        const Report report = rehearse(options, [&bytes](tutti_rank *self) {
            Member member(self, 16);
            (void)tutti_fill(member.buffer, 0, member.stream, nullptr);
            (void)member.synchronize();
            std::memcpy(bytes.data(), member.buffer.data, bytes.size());
            (void)member.leave();
        });
        EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get()); // nobody looked
        return bytes;
    };
    const auto bits = [](const std::array<unsigned char, 64> &bytes) {
        int count = 0;
        for (const unsigned char byte : bytes)
            for (int bit = 0; bit < 8; bit++)
                count += byte >> bit & 1;
        return count;
    };
    for (const int wanted : {1, 2, 7, 64, 511, 512})
        EXPECT_EQ(bits(corrupted("copy=corrupt(" + std::to_string(wanted) + ")")), wanted);
    EXPECT_EQ(bits(corrupted("copy=corrupt(100000)")), 512); // all that there are
    EXPECT_EQ(corrupted("copy=corrupt(5)"), corrupted("copy=corrupt(5)"));
    EXPECT_EQ(corrupted("copy=corrupt(5)"), corrupted("send=50%drop; copy=corrupt(5)"));
}

TEST(FaultEffects, AFaultThatIsSettledExplainsNothing) {
    tutti_rehearsal_options options = options_for(1);
    options.faults = "sync=1*refuse(busy)";
    const Report report = rehearse(options, [](tutti_rank *self) {
        Member member(self);
        if (member.synchronize() == TUTTI_REFUSED) (void)member.synchronize();
        tutti_rank_wrong(self, "of its own");
        (void)member.leave();
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_WRONG) << text_of(report.get());
}

// What a dead rank's streams still hold must not touch the memory of the program.
TEST(FaultEffects, AKilledRankRunsNoMoreHostFunctionsAndCopiesToNoMemory) {
    float value = 1;
    bool ran = false;
    tutti_rehearsal_options options = options_for(2);
    options.faults = "sync[rank=0]=kill; all_reduce[rank=1]=delay(5ms)"; // it comes too late
    const Report report = rehearse(options, [&](tutti_rank *self) {
        Member member(self);
        if (member.status != TUTTI_OK) return;
        // Late, so that rank 0 dies while its stream still waits.
        if (tutti_rank_index(self) == 1) (void)tutti_rank_sleep(self, kMillisecond, nullptr);
        if (member.all_reduce() != TUTTI_OK) return;
        if (tutti_rank_index(self) == 0) {
            (void)tutti_host_function_enqueue(
                member.stream, [](void *flag) { *static_cast<bool *>(flag) = true; }, &ran, nullptr,
                0, nullptr, 0, nullptr);
            (void)tutti_copy_to_host(&value, member.buffer, sizeof value, member.stream, nullptr);
        }
        (void)member.synchronize();
        if (tutti_rank_index(self) == 1) (void)member.leave();
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_KILLED) << text_of(report.get());
    EXPECT_EQ(value, 1);
    EXPECT_FALSE(ran);
}

} // namespace
