// Calls with arguments that are refused: the driver is not called, and it is told.
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/operations_fixture.h"
#include "gtest/gtest.h"

namespace {

// One call with a bad argument, and what its text begins with.
struct BadCall {
    const char *name;
    const char *text;
    std::function<tutti_status(tutti_error *)> run;
};

#define BAD(name, text, ...)                                                                       \
    {                                                                                              \
        name, text, [&](tutti_error *error) { return __VA_ARGS__; }                                \
    }

class RefusedOperation : public Operations {
  protected:
    const tutti_buffer none = {nullptr, 0};
    const tutti_stream_options bad_options = {3, 0, 0, nullptr};
    const tutti_join_options bad_join = {sizeof(bad_join), 0, -1, nullptr};

    // The driver can be told of all of these.
    const std::vector<BadCall> calls = {
        BAD("device_count", "count_out is NULL", tutti_device_count(&driver.base, nullptr, error)),
        BAD("device_open", "device_out is NULL",
            tutti_device_open(&driver.base, 0, nullptr, error)),
        BAD("memory_allocate", "buffer_out is NULL",
            tutti_memory_allocate(device, 8, nullptr, error)),
        BAD("memory_free", "buffer.data is NULL",
            tutti_memory_free(device, tutti_buffer{nullptr, 8}, error)),
        BAD("copy_to_device", "destination has 64 bytes",
            tutti_copy_to_device(buffer, fake_memory, 65, stream, error)),
        BAD("copy_to_host", "source has 64 bytes",
            tutti_copy_to_host(fake_memory, buffer, 65, stream, error)),
        BAD("copy_on_device", "source has 0 bytes",
            tutti_copy_on_device(buffer, none, 1, stream, error)),
        BAD("fill", "destination.data is NULL",
            tutti_fill(tutti_buffer{nullptr, 8}, 7, stream, error)),
        BAD("host_function", "function is NULL",
            tutti_host_function_enqueue(stream, nullptr, nullptr, nullptr, 0, nullptr, 0, error)),
        BAD("stream_create", "options->struct_size is 3",
            tutti_stream_create(device, &bad_options, &stream_out, error)),
        BAD("stream_create", "stream_out is NULL",
            tutti_stream_create(device, nullptr, nullptr, error)),
        BAD("stream_query", "done_out is NULL", tutti_stream_query(stream, nullptr, error)),
        BAD("event_create", "event_out is NULL", tutti_event_create(device, nullptr, error)),
        BAD("event_record", "event is NULL", tutti_event_record(nullptr, stream, error)),
        BAD("event_record", "stream is NULL", tutti_event_record(event, nullptr, error)),
        BAD("event_record", "the event is on device 0",
            tutti_event_record(event, &driver.streams[1], error)),
        BAD("event_wait", "event is NULL", tutti_event_wait(nullptr, stream, error)),
        BAD("event_query", "done_out is NULL", tutti_event_query(event, nullptr, error)),
        BAD("group_id", "id_out is NULL", tutti_group_id(&driver.base, 5, nullptr, error)),
        BAD("join", "rank is 2", tutti_join(device, &id, 2, 2, nullptr, &comm_out, error)),
        BAD("join", "options->timeout_ns is -1",
            tutti_join(device, &id, 2, 0, &bad_join, &comm_out, error)),
        BAD("join", "comm_out is NULL", tutti_join(device, &id, 2, 0, nullptr, nullptr, error)),
        BAD("data_type", "data_type_out is NULL",
            tutti_data_type_of(device, TUTTI_F32, 8, nullptr, &elements_out, error)),
        BAD("data_type", "count_out is NULL",
            tutti_data_type_of(device, TUTTI_F32, 8, &type_out, nullptr, error)),
        BAD("all_reduce", "destination holds 0",
            tutti_all_reduce(comm, buffer, none, type, 2, TUTTI_SUM, stream, error)),
        BAD("all_reduce", "stream is NULL",
            tutti_all_reduce(comm, buffer, buffer, type, 2, TUTTI_SUM, nullptr, error)),
        BAD("all_reduce", "comm is NULL",
            tutti_all_reduce(nullptr, buffer, buffer, type, 2, TUTTI_SUM, stream, error)),
        BAD("send", "peer is 2", tutti_send(comm, buffer, type, 2, 2, stream, error)),
        BAD("recv", "peer is -1", tutti_recv(comm, buffer, type, 2, -1, stream, error)),
        BAD("comm_status", "status_out is NULL", tutti_comm_status(comm, nullptr, error)),
        BAD("broadcast", "root is 2",
            tutti_broadcast(comm, buffer, buffer, type, 2, 2, stream, error)),
        BAD("reduce", "root is 2",
            tutti_reduce(comm, buffer, buffer, type, 2, TUTTI_SUM, 2, stream, error)),
        BAD("all_gather", "destination holds 16",
            tutti_all_gather(comm, buffer, buffer, type, 9, stream, error)),
        BAD("reduce_scatter", "source holds 16",
            tutti_reduce_scatter(comm, buffer, buffer, type, 9, TUTTI_SUM, stream, error)),
        BAD("all_to_all", "source holds 16",
            tutti_all_to_all(comm, buffer, buffer, type, 9, stream, error)),
        BAD("gather", "destination holds 16",
            tutti_gather(comm, buffer, buffer, type, 9, 0, stream, error)),
        BAD("scatter", "source holds 16",
            tutti_scatter(comm, buffer, buffer, type, 9, 0, stream, error)),
        BAD("barrier", "stream is NULL", tutti_barrier(comm, nullptr, error)),
        BAD("comm_split", "comm_out is NULL", tutti_comm_split(comm, 0, 0, nullptr, error)),
        BAD("comm_shrink", "excluded names no rank",
            tutti_comm_shrink(comm, nullptr, 0, &comm_out, error)),
    };
};

TEST_F(RefusedOperation, NeverReachesTheDriverWhichIsTold) {
    for (const BadCall &call : calls) {
        driver.refused.clear();
        std::memset(&last, 0xA5, sizeof(last));
        EXPECT_EQ(call.run(&last), TUTTI_INVALID_ARGUMENT) << call.text;
        EXPECT_EQ(last.status, TUTTI_INVALID_ARGUMENT) << call.text;
        EXPECT_EQ(std::string(last.message).find(call.text), 0u) << last.message;
        EXPECT_STREQ(last.operation, call.name);
        ASSERT_EQ(driver.refused.size(), 1u) << call.text;
        const tutti_error &told = driver.refused[0];
        EXPECT_EQ(told.status, TUTTI_INVALID_ARGUMENT) << call.text;
        EXPECT_STREQ(told.message, last.message);
        EXPECT_STREQ(told.operation, call.name);
        EXPECT_EQ(told.place.line, last.place.line) << call.text;
    }
    EXPECT_EQ(driver.names(), "");
    EXPECT_EQ(comm_out, nullptr);
    EXPECT_EQ(stream_out, nullptr);
}

TEST_F(RefusedOperation, IsToldWithoutACallersErrorToo) {
    for (const BadCall &call : calls) {
        driver.refused.clear();
        EXPECT_EQ(call.run(nullptr), TUTTI_INVALID_ARGUMENT) << call.text;
        ASSERT_EQ(driver.refused.size(), 1u) << call.text;
        EXPECT_EQ(std::string(driver.refused[0].message).find(call.text), 0u) << call.text;
    }
    EXPECT_EQ(driver.names(), "");
}

TEST_F(RefusedOperation, OfACommunicatorNamesItsRank) {
    EXPECT_EQ(tutti_send(&driver.comms[1], buffer, type, 2, 9, &driver.streams[1], &last),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(last.rank, 1);
    EXPECT_EQ(driver.refused.at(0).rank, 1);
}

// row 16
TEST_F(RefusedOperation, WithoutAnyHandleIsRefusedToo) {
    const std::vector<BadCall> lost = {
        BAD("device_count", "driver is NULL", tutti_device_count(nullptr, &count_out, error)),
        BAD("device_open", "driver is NULL", tutti_device_open(nullptr, 0, &device_out, error)),
        BAD("memory_allocate", "device is NULL",
            tutti_memory_allocate(nullptr, 8, &buffer_out, error)),
        BAD("memory_free", "device is NULL", tutti_memory_free(nullptr, buffer, error)),
        BAD("copy_to_device", "stream is NULL",
            tutti_copy_to_device(buffer, fake_memory, 8, nullptr, error)),
        BAD("copy_to_host", "stream is NULL",
            tutti_copy_to_host(fake_memory, buffer, 8, nullptr, error)),
        BAD("copy_on_device", "stream is NULL",
            tutti_copy_on_device(buffer, buffer, 8, nullptr, error)),
        BAD("fill", "stream is NULL", tutti_fill(buffer, 7, nullptr, error)),
        BAD("host_function", "stream is NULL",
            tutti_host_function_enqueue(nullptr, host_function, nullptr, nullptr, 0, nullptr, 0,
                                        error)),
        BAD("stream_create", "device is NULL",
            tutti_stream_create(nullptr, nullptr, &stream_out, error)),
        BAD("stream_synchronize", "stream is NULL", tutti_stream_synchronize(nullptr, error)),
        BAD("stream_query", "stream is NULL", tutti_stream_query(nullptr, &done_out, error)),
        BAD("event_create", "device is NULL", tutti_event_create(nullptr, &event_out, error)),
        BAD("event_record", "event is NULL", tutti_event_record(nullptr, nullptr, error)),
        BAD("event_wait", "event is NULL", tutti_event_wait(nullptr, nullptr, error)),
        BAD("event_query", "event is NULL", tutti_event_query(nullptr, &done_out, error)),
        BAD("event_synchronize", "event is NULL", tutti_event_synchronize(nullptr, error)),
        BAD("group_id", "driver is NULL", tutti_group_id(nullptr, 5, &id_out, error)),
        BAD("join", "device is NULL", tutti_join(nullptr, &id, 2, 0, nullptr, &comm_out, error)),
        BAD("data_type", "device is NULL",
            tutti_data_type_of(nullptr, TUTTI_F32, 8, &type_out, &elements_out, error)),
        BAD("all_reduce", "comm is NULL",
            tutti_all_reduce(nullptr, buffer, buffer, type, 2, TUTTI_SUM, nullptr, error)),
        BAD("send", "comm is NULL", tutti_send(nullptr, buffer, type, 2, 1, nullptr, error)),
        BAD("recv", "comm is NULL", tutti_recv(nullptr, buffer, type, 2, 1, nullptr, error)),
        BAD("leave", "comm is NULL", tutti_leave(nullptr, error)),
        BAD("comm_abort", "comm is NULL", tutti_comm_abort(nullptr, error)),
        BAD("comm_status", "comm is NULL", tutti_comm_status(nullptr, &status_out, error)),
        BAD("comm_synchronize", "comm is NULL", tutti_comm_synchronize(nullptr, error)),
        BAD("group_start", "driver is NULL", tutti_group_start(nullptr, error)),
        BAD("group_end", "driver is NULL", tutti_group_end(nullptr, error)),
        BAD("broadcast", "comm is NULL",
            tutti_broadcast(nullptr, buffer, buffer, type, 2, 0, nullptr, error)),
        BAD("reduce", "comm is NULL",
            tutti_reduce(nullptr, buffer, buffer, type, 2, TUTTI_SUM, 0, nullptr, error)),
        BAD("all_gather", "comm is NULL",
            tutti_all_gather(nullptr, buffer, buffer, type, 2, nullptr, error)),
        BAD("reduce_scatter", "comm is NULL",
            tutti_reduce_scatter(nullptr, buffer, buffer, type, 2, TUTTI_SUM, nullptr, error)),
        BAD("all_to_all", "comm is NULL",
            tutti_all_to_all(nullptr, buffer, buffer, type, 2, nullptr, error)),
        BAD("gather", "comm is NULL",
            tutti_gather(nullptr, buffer, buffer, type, 2, 0, nullptr, error)),
        BAD("scatter", "comm is NULL",
            tutti_scatter(nullptr, buffer, buffer, type, 2, 0, nullptr, error)),
        BAD("barrier", "comm is NULL", tutti_barrier(nullptr, nullptr, error)),
        BAD("comm_split", "comm is NULL", tutti_comm_split(nullptr, 0, 0, &comm_out, error)),
        BAD("comm_shrink", "comm is NULL",
            tutti_comm_shrink(nullptr, nullptr, 0, &comm_out, error)),
        BAD("comm_revoke", "comm is NULL", tutti_comm_revoke(nullptr, error)),
    };
    for (const BadCall &call : lost) {
        EXPECT_EQ(call.run(&last), TUTTI_INVALID_ARGUMENT) << call.name;
        EXPECT_EQ(std::string(last.message).find(call.text), 0u) << last.message;
        EXPECT_STREQ(last.operation, call.name);
        EXPECT_EQ(call.run(nullptr), TUTTI_INVALID_ARGUMENT) << call.name;
    }
    EXPECT_TRUE(driver.refused.empty());
}

TEST_F(RefusedOperation, OfADriverThatWasNeverBoundIsRefused) {
    tutti_driver unbound = {};
    EXPECT_EQ(tutti_group_start(&unbound, &last), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(last.message).find("driver has an empty table"), 0u);
}

// row 76
TEST_F(RefusedOperation, WithHandlesOfTwoDriversIsToldToTheCommunicators) {
    FakeDriver other(FakeDriver::full_table(), "other");
    EXPECT_EQ(tutti_barrier(comm, &other.streams[0], &last), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(driver.refused.size(), 1u);
    EXPECT_TRUE(other.refused.empty());
    EXPECT_EQ(driver.names() + other.names(), "");
}

} // namespace
