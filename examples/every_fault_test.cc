// A test that fails every call of a program in turn: copy it. Each rank gives a number, and all get
// the sum; whatever goes wrong, a rank that is told so gives up and goes home.

#include "tutti/testing.h"

#include "tutti/tutti.h"

namespace {

using tutti::testing::Rehearsal;
using tutti::testing::rehearse;
using tutti::testing::sweep;
using tutti::testing::Sweep;

// What a rank holds; given back however it ends.
struct Holdings {
    explicit Holdings(tutti_device *of_rank) : device(of_rank) {}
    ~Holdings() {
        if (world != nullptr) (void)tutti_comm_abort(world, nullptr);
        tutti_stream_destroy(stream);
        if (x.data != nullptr) (void)tutti_memory_free(device, x, nullptr);
    }
    Holdings(const Holdings &) = delete;
    Holdings &operator=(const Holdings &) = delete;

    tutti_device *device;
    tutti_comm *world = nullptr;
    tutti_stream *stream = nullptr;
    tutti_buffer x = {};
};

// Every call that can fail is looked at, and the first failure ends the program.
bool add_up(tutti_rank *self, Holdings *own, float *value) {
    tutti_data_type f32 = {};
    size_t count = 0;
    return tutti_rank_join_world(self, nullptr, &own->world, nullptr) == TUTTI_OK &&
           tutti_stream_create(own->device, nullptr, &own->stream, nullptr) == TUTTI_OK &&
           tutti_memory_allocate(own->device, sizeof *value, &own->x, nullptr) == TUTTI_OK &&
           tutti_data_type_of(own->device, TUTTI_F32, own->x.bytes, &f32, &count, nullptr) ==
               TUTTI_OK &&
           tutti_copy_to_device(own->x, value, sizeof *value, own->stream, nullptr) == TUTTI_OK &&
           tutti_all_reduce(own->world, own->x, own->x, f32, count, TUTTI_SUM, own->stream,
                            nullptr) == TUTTI_OK &&
           tutti_copy_to_host(value, own->x, sizeof *value, own->stream, nullptr) == TUTTI_OK &&
           tutti_stream_synchronize(own->stream, nullptr) == TUTTI_OK;
}

void program(tutti_rank *self) {
    Holdings own(tutti_rank_device(self));
    float value = 1;
    if (!add_up(self, &own, &value)) return;
    if (value != static_cast<float>(tutti_rank_count(self)))
        tutti_rank_wrong(self, "the sum is %d", static_cast<int>(value));
    if (tutti_leave(own.world, nullptr) == TUTTI_OK) own.world = nullptr;
}

TEST(Program, AddsUp) {
    EXPECT_REHEARSAL_OK(rehearse(3, program));
}

TEST(Program, NamesARankThatDies) {
    EXPECT_REHEARSAL(rehearse(3, program, "all_reduce[rank=1]=kill"), TUTTI_VERDICT_KILLED, 1);
}

TEST(Program, TakesALateRankInItsStride) {
    EXPECT_REHEARSAL_OK(
        rehearse(Rehearsal(3).faults("step[rank=2]=10%delay(5ms)").random_schedule(7), program));
}

TEST(Program, SurvivesEveryFault) {
    EXPECT_SURVIVES_EVERY_FAULT(3, program);
}

TEST(Program, NoticesFlippedBits) {
    EXPECT_SURVIVES_EVERY_FAULT(2, program, Sweep().actions({TUTTI_FAULT_CORRUPT}));
}

} // namespace
