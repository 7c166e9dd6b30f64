#ifndef TUTTI_TESTS_UNIT_REHEARSAL_SUPPORT_H
#define TUTTI_TESTS_UNIT_REHEARSAL_SUPPORT_H

// Rehearsals in tests: ranks as lambdas, reports that free themselves, and the usual objects of a
// rank.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/emu.h"
#include "gtest/gtest.h"

struct ReportFree {
    void operator()(tutti_report *report) const {
        tutti_report_free(report);
    }
};
using Report = std::unique_ptr<tutti_report, ReportFree>;

using RankBody = std::function<void(tutti_rank *)>;

inline void run_rank_body(tutti_rank *self, void *body) {
    (*static_cast<const RankBody *>(body))(self);
}

inline std::string text_of(const tutti_report *report) {
    std::string text(tutti_report_format(report, nullptr, 0), '\0');
    (void)tutti_report_format(report, &text[0], text.size() + 1);
    return text;
}

inline tutti_rehearsal_options options_for(uint32_t rank_count,
                                           tutti_executor executor = TUTTI_EXECUTOR_THREADS) {
    tutti_rehearsal_options options;
    tutti_rehearsal_options_init(&options, rank_count);
    options.executor = executor;
    options.ignore_leaks = 1;
    options.faults = ""; // whatever the environment says
    return options;
}

// A rehearsal that runs; its report.
inline Report rehearse(const tutti_rehearsal_options &options, const RankBody &body) {
    tutti_report *report = nullptr;
    tutti_error error;
    const tutti_status status =
        tutti_rehearse(&options, run_rank_body, const_cast<RankBody *>(&body), &report, &error);
    EXPECT_EQ(status, TUTTI_OK) << error.message;
    return Report(report);
}

inline std::vector<int32_t> culprits_of(const tutti_report *report) {
    return {report->culprits, report->culprits + report->culprit_count};
}

// What a rank has in most tests: membership of the world, a stream, a buffer of floats.
class Member {
  public:
    explicit Member(tutti_rank *self, size_t count = 4) : self_(self), count_(count) {
        status = tutti_rank_join_world(self, nullptr, &comm, &error);
        if (status == TUTTI_OK) status = make_objects();
    }

    tutti_status make_objects() {
        tutti_device *device = tutti_rank_device(self_);
        const size_t bytes = count_ * sizeof(float);
        status = tutti_stream_create(device, nullptr, &stream, &error);
        if (status != TUTTI_OK) return status;
        status = tutti_memory_allocate(device, bytes, &buffer, &error);
        if (status != TUTTI_OK) return status;
        status = tutti_data_type_of(device, TUTTI_F32, bytes, &data_type, &count_, &error);
        return status;
    }

    // Sets every element, on the host's side of the stream.
    tutti_status set(float value) {
        const std::vector<float> values(count_, value);
        is_set_ = true;
        status = tutti_copy_to_device(buffer, values.data(), buffer.bytes, stream, &error);
        return status == TUTTI_OK ? synchronize() : status;
    }

    // The first one finds zeros where nothing was set.
    tutti_status all_reduce(tutti_reduce_op op = TUTTI_SUM) {
        if (!is_set_) (void)tutti_fill(buffer, 0, stream, &error);
        is_set_ = true;
        status = tutti_all_reduce(comm, buffer, buffer, data_type, count_, op, stream, &error);
        return status;
    }

    tutti_status synchronize() {
        status = tutti_stream_synchronize(stream, &error);
        return status;
    }

    // An element, after everything on the stream.
    float get(size_t index = 0) {
        std::vector<float> values(count_);
        status = tutti_copy_to_host(values.data(), buffer, buffer.bytes, stream, &error);
        if (status == TUTTI_OK) status = synchronize();
        return values[index];
    }

    tutti_status leave() {
        status = tutti_leave(comm, &error);
        tutti_stream_destroy(stream);
        (void)tutti_memory_free(tutti_rank_device(self_), buffer, nullptr);
        return status;
    }

    tutti_comm *comm = nullptr;
    tutti_stream *stream = nullptr;
    tutti_buffer buffer = {};
    tutti_data_type data_type = {};
    tutti_status status = TUTTI_OK; // of the latest call
    tutti_error error;

  private:
    tutti_rank *self_;
    size_t count_;
    bool is_set_ = false;
};

// Every rank gives its number, and all get the sum, `rounds` times.
inline RankBody summing(int rounds) {
    return [rounds](tutti_rank *self) {
        const auto ranks = static_cast<float>(tutti_rank_count(self));
        Member member(self);
        ASSERT_EQ(member.status, TUTTI_OK) << member.error.message;
        for (int round = 0; round < rounds; round++) {
            ASSERT_EQ(member.set(static_cast<float>(tutti_rank_index(self))), TUTTI_OK);
            ASSERT_EQ(member.all_reduce(), TUTTI_OK) << member.error.message;
            EXPECT_EQ(member.get(), ranks * (ranks - 1) / 2);
        }
        EXPECT_EQ(member.leave(), TUTTI_OK) << member.error.message;
    };
}

#endif
