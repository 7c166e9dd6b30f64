// How a test of your own looks: two ranks, one of them late, one refused at first. Copy it.

#include <gtest/gtest.h>

#include <string>

#include "tutti/tutti.h"

namespace {

// What each rank does. A refused join is tried again; everything else is reported by the rehearsal.
void train_step(tutti_rank *self, void *) {
    tutti_comm *world = nullptr;
    tutti_stream *stream = nullptr;
    tutti_buffer gradient = {};
    tutti_device *device = tutti_rank_device(self);
    const tutti_data_type f32 = {TUTTI_F32, 4, TUTTI_F32};
    while (tutti_rank_join_world(self, nullptr, &world, nullptr) == TUTTI_REFUSED) {
    }
    if (tutti_stream_create(device, nullptr, &stream, nullptr) != TUTTI_OK) return;
    if (tutti_memory_allocate(device, 8 * sizeof(float), &gradient, nullptr) != TUTTI_OK) return;
    tutti_fill(gradient, 0, stream, nullptr);
    tutti_all_reduce(world, gradient, gradient, f32, 8, TUTTI_MEAN, stream, nullptr);
    tutti_stream_synchronize(stream, nullptr);
    tutti_memory_free(device, gradient, nullptr);
    tutti_stream_destroy(stream);
    tutti_leave(world, nullptr);
}

// Rehearses train_step on two ranks under a fault plan; all waits are limited to 30 s. With a seed,
// who runs next is drawn from it.
tutti_report *rehearse(const char *faults, const uint64_t *seed = nullptr) {
    tutti_rehearsal_options options;
    tutti_rehearsal_options_init(&options, 2);
    options.faults = faults;
    options.wait_timeout_ns = INT64_C(30000000000);
    if (seed != nullptr) {
        options.random_schedule = 1;
        options.seed = *seed;
    }
    tutti_report *report = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_rehearse(&options, train_step, nullptr, &report, &error), TUTTI_OK)
        << error.message;
    return report;
}

// What a failing test should print.
std::string text_of(const tutti_report *report) {
    std::string text(tutti_report_format(report, nullptr, 0), '\0');
    tutti_report_format(report, text.data(), text.size() + 1);
    return text;
}

TEST(TrainStep, SurvivesALateRankAndARefusedJoin) {
    tutti_report *report = rehearse("join[rank=1]=2*refuse(busy); all_reduce[rank=0]=delay(5s)");
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report);
    EXPECT_EQ(report->virtual_ns, INT64_C(5000000000));
    tutti_report_free(report);
}

TEST(TrainStep, EndsWellOnEverySchedule) {
    for (uint64_t seed = 0; seed < 100; seed++) {
        tutti_report *report = rehearse("join[rank=1]=1*refuse(busy)", &seed);
        EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report);
        tutti_report_free(report);
    }
}

TEST(TrainStep, BlamesARankThatIsFarTooLate) {
    tutti_report *report = rehearse("all_reduce[rank=0]=delay(40min)");
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_TIMEOUT);
    ASSERT_EQ(report->culprit_count, 1u);
    EXPECT_EQ(report->culprits[0], 0);
    tutti_report_free(report);
}

} // namespace
