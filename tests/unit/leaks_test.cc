// What ranks leave behind when they end, and what C programs do with undefined contents.

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/rehearsal_support.h"

namespace {

enum Kept { kNothing, kMemory, kStream, kEvent, kCommunicator };

// Everything that a rank can have, given back but for one thing.
void keep(tutti_rank *self, Kept kept) {
    tutti_device *device = tutti_rank_device(self);
    tutti_comm *comm = nullptr;
    tutti_stream *stream = nullptr;
    tutti_event *event = nullptr;
    tutti_buffer buffer = {};
    ASSERT_EQ(tutti_rank_join_world(self, nullptr, &comm, nullptr), TUTTI_OK);
    ASSERT_EQ(tutti_stream_create(device, nullptr, &stream, nullptr), TUTTI_OK);
    ASSERT_EQ(tutti_event_create(device, &event, nullptr), TUTTI_OK);
    ASSERT_EQ(tutti_memory_allocate(device, 8, &buffer, nullptr), TUTTI_OK);
    if (kept != kMemory) {
        EXPECT_EQ(tutti_memory_free(device, buffer, nullptr), TUTTI_OK);
    }
    if (kept != kStream) tutti_stream_destroy(stream);
    if (kept != kEvent) tutti_event_destroy(event);
    if (kept != kCommunicator) {
        EXPECT_EQ(tutti_leave(comm, nullptr), TUTTI_OK);
    }
}

tutti_rehearsal_options strict(uint32_t rank_count) {
    tutti_rehearsal_options options = options_for(rank_count);
    options.ignore_leaks = 0;
    return options;
}

TEST(Leaks, OfEachKindAreFoundOnceForAllRanks) {
    const struct {
        Kept kept;
        const char *text;
    } cases[] = {{kMemory, "left behind memory of 8 bytes, from memory_allocate (leaks_test.cc:"},
                 {kStream, "left behind a stream, from stream_create (leaks_test.cc:"},
                 {kEvent, "left behind an event, from event_create (leaks_test.cc:"},
                 {kCommunicator, "left behind a communicator, world, from join (leaks_test.cc:"}};
    for (const auto &leak : cases) {
        const Report report = rehearse(strict(3), [&](tutti_rank *self) { keep(self, leak.kept); });
        EXPECT_EQ(report->verdict, TUTTI_VERDICT_LEAK) << text_of(report.get());
        EXPECT_EQ(culprits_of(report.get()), (std::vector<int32_t>{0, 1, 2}));
        ASSERT_EQ(report->finding_count, 1u);
        EXPECT_NE(std::string(report->findings[0].text).find(leak.text), std::string::npos)
            << report->findings[0].text;
    }
}

TEST(Leaks, AreNoneWhenAllIsGivenBackOrNobodyAsks) {
    const Report clean = rehearse(strict(2), [](tutti_rank *self) { keep(self, kNothing); });
    EXPECT_EQ(clean->verdict, TUTTI_VERDICT_OK) << text_of(clean.get());
    const Report ignored = rehearse(options_for(2), [](tutti_rank *self) { keep(self, kMemory); });
    EXPECT_EQ(ignored->verdict, TUTTI_VERDICT_OK) << text_of(ignored.get());
}

TEST(Leaks, AreNoConcernOfARunThatFails) {
    const Report report = rehearse(strict(2), [](tutti_rank *self) {
        keep(self, kMemory);
        if (tutti_rank_index(self) == 1) tutti_rank_wrong(self, "no");
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_WRONG);
    EXPECT_EQ(report->finding_count, 1u) << text_of(report.get());
}

TEST(Leaks, TheOptionIsZeroOrOneAndAbsentInOlderPrograms) {
    tutti_rehearsal_options options = strict(1);
    options.ignore_leaks = 2;
    tutti_report *report = nullptr;
    const RankBody body = [](tutti_rank *) {};
    tutti_error error;
    EXPECT_EQ(
        tutti_rehearse(&options, run_rank_body, const_cast<RankBody *>(&body), &report, &error),
        TUTTI_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.message).find("ignore_leaks"), std::string::npos);
    options.struct_size = offsetof(tutti_rehearsal_options, ignore_leaks);
    const Report older = rehearse(options, body);
    EXPECT_EQ(older->verdict, TUTTI_VERDICT_OK);
}

// --- Undefined contents ---

// A device with two buffers of 16 bytes, of which the first half of the first is written.
struct Halves {
    explicit Halves(tutti_rank *self) : device(tutti_rank_device(self)) {
        EXPECT_EQ(tutti_stream_create(device, nullptr, &stream, nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_memory_allocate(device, 16, &from, nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_memory_allocate(device, 16, &to, nullptr), TUTTI_OK);
        EXPECT_EQ(tutti_fill(tutti_buffer_slice(from, 0, 8, 1), 7, stream, nullptr), TUTTI_OK);
    }
    tutti_status to_host(tutti_buffer buffer) {
        char bytes[16];
        (void)tutti_copy_to_host(bytes, buffer, buffer.bytes, stream, nullptr);
        return tutti_stream_synchronize(stream, nullptr);
    }
    tutti_device *device;
    tutti_stream *stream = nullptr;
    tutti_buffer from = {}, to = {};
};

TEST(Undefined, WhatNothingHasWrittenMustNotReachTheHost) {
    const Report report = rehearse(options_for(1), [](tutti_rank *self) {
        Halves halves(self);
        EXPECT_EQ(halves.to_host(tutti_buffer_slice(halves.from, 0, 8, 1)), TUTTI_OK);
        EXPECT_EQ(halves.to_host(halves.from), TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_UNDEFINED);
    ASSERT_EQ(report->finding_count, 1u) << text_of(report.get());
    EXPECT_NE(std::string(report->findings[0].text).find("bytes 8 to 15"), std::string::npos);
}

TEST(Undefined, CopiesOnTheDeviceMoveItWithoutAWord) {
    const Report fine = rehearse(options_for(1), [](tutti_rank *self) {
        Halves halves(self);
        EXPECT_EQ(tutti_copy_on_device(halves.to, halves.from, 16, halves.stream, nullptr),
                  TUTTI_OK);
        EXPECT_EQ(halves.to_host(tutti_buffer_slice(halves.to, 0, 8, 1)), TUTTI_OK);
    });
    EXPECT_EQ(fine->verdict, TUTTI_VERDICT_OK) << text_of(fine.get());
    const Report bad = rehearse(options_for(1), [](tutti_rank *self) {
        Halves halves(self);
        EXPECT_EQ(tutti_copy_on_device(halves.to, halves.from, 16, halves.stream, nullptr),
                  TUTTI_OK);
        EXPECT_EQ(halves.to_host(halves.to), TUTTI_OK);
    });
    EXPECT_EQ(bad->verdict, TUTTI_VERDICT_UNDEFINED) << text_of(bad.get());
}

TEST(Overlap, OfACopyIsRefused) {
    const Report report = rehearse(options_for(1), [](tutti_rank *self) {
        Halves halves(self);
        EXPECT_EQ(tutti_copy_on_device(tutti_buffer_slice(halves.from, 4, 8, 1),
                                       tutti_buffer_slice(halves.from, 0, 8, 1), 8, halves.stream,
                                       nullptr),
                  TUTTI_INVALID_ARGUMENT);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OVERLAP) << text_of(report.get());
}

} // namespace
