// A driver that was compiled against version 1 of the interface works with today's code.
#include <string>

#include "tests/abi/frozen_driver_v1.h"
#include "tutti/operations.h"
#include "gtest/gtest.h"

namespace {

void set_to_one(void *argument) {
    *static_cast<int *>(argument) = 1;
}

class FrozenDriverV1 : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto *table = static_cast<const tutti_driver_table *>(frozen_v1_table());
        ASSERT_EQ(tutti_driver_bind(table, &driver, &error), TUTTI_OK) << error.message;
        frozen_v1_attach(&driver);
    }

    // Handles that the driver gave away before.
    tutti_stream *stream() {
        return static_cast<tutti_stream *>(frozen_v1_stream());
    }
    tutti_comm *comm() {
        return static_cast<tutti_comm *>(frozen_v1_comm());
    }

    void expect_absent(tutti_status status, const std::string &operation) {
        EXPECT_EQ(status, TUTTI_UNSUPPORTED) << operation;
        EXPECT_EQ(error.message, "the driver \"frozen\" does not offer " + operation);
        EXPECT_EQ(error.operation, operation);
    }

    tutti_driver driver;
    tutti_error error;
};

TEST_F(FrozenDriverV1, EveryRequiredOperationArrives) {
    // The device and its memory.
    uint32_t device_count = 0;
    tutti_device *opened = nullptr;
    tutti_buffer buffer = {};
    ASSERT_EQ(tutti_device_count(&driver, &device_count, &error), TUTTI_OK);
    EXPECT_EQ(device_count, 1u);
    ASSERT_EQ(tutti_device_open(&driver, 0, &opened, &error), TUTTI_OK);
    ASSERT_EQ(tutti_memory_allocate(opened, 64, &buffer, &error), TUTTI_OK);
    EXPECT_EQ(buffer.bytes, 64u);
    const tutti_buffer half = {buffer.data, 32};

    // A stream and what runs on it.
    const tutti_stream_options stream_options = {sizeof(stream_options), TUTTI_STREAM_NON_BLOCKING,
                                                 -2, "comm"};
    tutti_stream *queue = nullptr;
    ASSERT_EQ(tutti_stream_create(opened, &stream_options, &queue, &error), TUTTI_OK);
    unsigned char host[8] = {};
    const tutti_buffer reads[] = {buffer, half};
    int was_run = 0;
    EXPECT_EQ(tutti_copy_to_device(buffer, host, 8, queue, &error), TUTTI_OK);
    EXPECT_EQ(tutti_copy_to_host(host, buffer, 8, queue, &error), TUTTI_OK);
    EXPECT_EQ(tutti_copy_on_device(buffer, half, 8, queue, &error), TUTTI_OK);
    EXPECT_EQ(tutti_fill(buffer, 0xA5, queue, &error), TUTTI_OK);
    EXPECT_EQ(
        tutti_host_function_enqueue(queue, set_to_one, &was_run, reads, 2, &buffer, 1, &error),
        TUTTI_OK);
    EXPECT_EQ(was_run, 1);
    int done = 0;
    EXPECT_EQ(tutti_stream_query(queue, &done, &error), TUTTI_OK);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(tutti_stream_synchronize(queue, &error), TUTTI_OK);

    // An event.
    tutti_event *event = nullptr;
    ASSERT_EQ(tutti_event_create(opened, &event, &error), TUTTI_OK);
    EXPECT_EQ(tutti_event_record(event, queue, &error), TUTTI_OK);
    EXPECT_EQ(tutti_event_wait(event, queue, &error), TUTTI_OK);
    EXPECT_EQ(tutti_event_query(event, &done, &error), TUTTI_OK);
    EXPECT_EQ(tutti_event_synchronize(event, &error), TUTTI_OK);
    tutti_event_destroy(event);

    // The group and its collectives.
    tutti_unique_id id = {};
    tutti_comm *joined = nullptr;
    const tutti_join_options join_options = {sizeof(join_options), 1, 5000000000, "world"};
    ASSERT_EQ(tutti_group_id(&driver, 0x1122334455667788, &id, &error), TUTTI_OK);
    ASSERT_EQ(tutti_join(opened, &id, 4, 1, &join_options, &joined, &error), TUTTI_OK);
    tutti_data_type type = {};
    size_t count = 0;
    ASSERT_EQ(tutti_data_type_of(opened, TUTTI_F32, 64, &type, &count, &error), TUTTI_OK);
    EXPECT_EQ(count, 16u);
    EXPECT_EQ(tutti_all_reduce(joined, half, buffer, type, 8, TUTTI_MEAN, queue, &error), TUTTI_OK);
    EXPECT_EQ(tutti_send(joined, buffer, type, 8, 3, queue, &error), TUTTI_OK);
    EXPECT_EQ(tutti_recv(joined, buffer, type, 8, 3, queue, &error), TUTTI_OK);
    EXPECT_EQ(tutti_leave(joined, &error), TUTTI_OK);
    EXPECT_EQ(tutti_memory_free(opened, buffer, &error), TUTTI_OK);
    tutti_stream_destroy(queue);

    for (uint32_t place = 0; place < FROZEN_V1_OPERATIONS; place++) {
        const bool is_device_count = place == 0; // an opening asks for it, too
        EXPECT_EQ(frozen_v1_calls(place), is_device_count ? 2 : 1) << frozen_v1_name(place);
    }
    EXPECT_TRUE(frozen_v1_arguments_arrived());
}

TEST_F(FrozenDriverV1, ADriversFailureArrivesInTheCallersError) {
    frozen_v1_fail_next(TUTTI_DEVICE);
    EXPECT_EQ(tutti_stream_synchronize(stream(), &error), TUTTI_DEVICE);
    EXPECT_EQ(error.status, TUTTI_DEVICE);
    EXPECT_EQ(error.rank, 1);
    EXPECT_STREQ(error.message, "frozen");
    EXPECT_STREQ(error.operation, "stream_synchronize");
    EXPECT_STREQ(error.place.file, __FILE__);
}

TEST_F(FrozenDriverV1, WhatCameLaterIsUnsupportedByName) {
    tutti_status status_out = TUTTI_OK;
    tutti_comm *comm_out = nullptr;
    const int32_t excluded[] = {0};
    const tutti_buffer none = {nullptr, 0};
    const tutti_data_type type = {TUTTI_F32, 4, 77};
    expect_absent(tutti_comm_abort(comm(), &error), "comm_abort");
    expect_absent(tutti_comm_status(comm(), &status_out, &error), "comm_status");
    expect_absent(tutti_comm_synchronize(comm(), &error), "comm_synchronize");
    expect_absent(tutti_group_start(&driver, &error), "group_start");
    expect_absent(tutti_group_end(&driver, &error), "group_end");
    expect_absent(tutti_comm_split(comm(), 0, 0, &comm_out, &error), "comm_split");
    expect_absent(tutti_comm_shrink(comm(), excluded, 1, &comm_out, &error), "comm_shrink");
    expect_absent(tutti_comm_revoke(comm(), &error), "comm_revoke");
    expect_absent(tutti_broadcast(comm(), none, none, type, 0, 0, stream(), &error), "broadcast");
    expect_absent(tutti_reduce(comm(), none, none, type, 0, TUTTI_SUM, 0, stream(), &error),
                  "reduce");
    expect_absent(tutti_all_gather(comm(), none, none, type, 0, stream(), &error), "all_gather");
    expect_absent(tutti_reduce_scatter(comm(), none, none, type, 0, TUTTI_SUM, stream(), &error),
                  "reduce_scatter");
    expect_absent(tutti_all_to_all(comm(), none, none, type, 0, stream(), &error), "all_to_all");
    expect_absent(tutti_gather(comm(), none, none, type, 0, 0, stream(), &error), "gather");
    expect_absent(tutti_scatter(comm(), none, none, type, 0, 0, stream(), &error), "scatter");
    expect_absent(tutti_barrier(comm(), stream(), &error), "barrier");
    tutti_device *device_out = nullptr;
    tutti_buffer allocation = {};
    tutti_error_clear(&error);
    expect_absent(driver.table.memory_owner(&driver, &error, &device_out, &allocation, &error),
                  "memory_owner");
}

} // namespace
