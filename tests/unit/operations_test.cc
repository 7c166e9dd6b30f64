// What stands around every call: the error, the place, the refusal, and what gets through.
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/operations_fixture.h"
#include "gtest/gtest.h"

namespace {

// One call of an operation, with good arguments, and its line.
struct Call {
    const char *name; // the table's
    int line;         // 0: the operation has no macro, so no place
    std::function<tutti_status(tutti_error *)> run;
};

#define CALL(name, ...)                                                                            \
    {                                                                                              \
        name, __LINE__, [&](tutti_error *error) { return __VA_ARGS__; }                            \
    }

// Every operation that returns a status.
class EveryOperation : public Operations {
  protected:
    static constexpr int32_t EXCLUDED[] = {1};
    const tutti_stream_options stream_options = {sizeof(stream_options), 0, 0, nullptr};
    const std::vector<Call> calls = {
        {"device_count", 0,
         [&](tutti_error *error) { return tutti_device_count(&driver.base, &count_out, error); }},
        {"device_open", 0,
         [&](tutti_error *error) {
             return tutti_device_open(&driver.base, 1, &device_out, error);
         }},
        CALL("memory_allocate", tutti_memory_allocate(device, 8, &buffer_out, error)),
        CALL("memory_free", tutti_memory_free(device, buffer, error)),
        CALL("copy_to_device", tutti_copy_to_device(buffer, fake_memory, 8, stream, error)),
        CALL("copy_to_host", tutti_copy_to_host(fake_memory, buffer, 8, stream, error)),
        CALL("copy_on_device", tutti_copy_on_device(buffer, buffer, 8, stream, error)),
        CALL("fill", tutti_fill(buffer, 7, stream, error)),
        CALL("host_function", tutti_host_function_enqueue(stream, host_function, nullptr, &buffer,
                                                          1, nullptr, 0, error)),
        CALL("stream_create", tutti_stream_create(device, &stream_options, &stream_out, error)),
        CALL("stream_synchronize", tutti_stream_synchronize(stream, error)),
        CALL("stream_query", tutti_stream_query(stream, &done_out, error)),
        CALL("event_create", tutti_event_create(device, &event_out, error)),
        CALL("event_record", tutti_event_record(event, stream, error)),
        CALL("event_wait", tutti_event_wait(event, stream, error)),
        CALL("event_query", tutti_event_query(event, &done_out, error)),
        CALL("event_synchronize", tutti_event_synchronize(event, error)),
        CALL("group_id", tutti_group_id(&driver.base, 5, &id_out, error)),
        CALL("join", tutti_join(device, &id, 2, 1, nullptr, &comm_out, error)),
        CALL("data_type",
             tutti_data_type_of(device, TUTTI_F32, 7, &type_out, &elements_out, error)),
        CALL("all_reduce",
             tutti_all_reduce(comm, buffer, buffer, type, 2, TUTTI_SUM, stream, error)),
        CALL("send", tutti_send(comm, buffer, type, 2, 1, stream, error)),
        CALL("recv", tutti_recv(comm, buffer, type, 2, 1, stream, error)),
        CALL("leave", tutti_leave(comm, error)),
        CALL("comm_abort", tutti_comm_abort(comm, error)),
        CALL("comm_status", tutti_comm_status(comm, &status_out, error)),
        CALL("comm_synchronize", tutti_comm_synchronize(comm, error)),
        CALL("group_start", tutti_group_start(&driver.base, error)),
        CALL("group_end", tutti_group_end(&driver.base, error)),
        CALL("broadcast", tutti_broadcast(comm, buffer, buffer, type, 2, 0, stream, error)),
        CALL("reduce", tutti_reduce(comm, buffer, buffer, type, 2, TUTTI_SUM, 0, stream, error)),
        CALL("all_gather", tutti_all_gather(comm, buffer, buffer, type, 2, stream, error)),
        CALL("reduce_scatter",
             tutti_reduce_scatter(comm, buffer, buffer, type, 2, TUTTI_SUM, stream, error)),
        CALL("all_to_all", tutti_all_to_all(comm, buffer, buffer, type, 2, stream, error)),
        CALL("gather", tutti_gather(comm, buffer, buffer, type, 2, 0, stream, error)),
        CALL("scatter", tutti_scatter(comm, buffer, buffer, type, 2, 0, stream, error)),
        CALL("barrier", tutti_barrier(comm, stream, error)),
        CALL("comm_split", tutti_comm_split(comm, 0, 0, &comm_out, error)),
        CALL("comm_shrink", tutti_comm_shrink(comm, EXCLUDED, 1, &comm_out, error)),
        CALL("comm_revoke", tutti_comm_revoke(comm, error)),
    };
};

TEST_F(EveryOperation, IsCalledHere) {
    // The table's operations but the two destroys, call_refused and memory_owner.
    const size_t first = offsetof(tutti_driver_table, device_count);
    EXPECT_EQ(calls.size(), (sizeof(tutti_driver_table) - first) / sizeof(void *) - 4);
}

TEST_F(EveryOperation, ReachesTheDriverWithItsNameAndPlace) {
    for (const Call &call : calls) {
        driver.calls.clear();
        EXPECT_EQ(call.run(&last), TUTTI_OK) << call.name;
        ASSERT_FALSE(driver.calls.empty()) << call.name;
        const FakeCall &reached = driver.calls.back();
        EXPECT_EQ(reached.name, call.name);
        EXPECT_EQ(reached.operation, call.name);
        EXPECT_EQ(reached.file, call.line == 0 ? "" : __FILE__) << call.name;
        EXPECT_EQ(reached.line > 0, call.line > 0) << call.name;
        EXPECT_LE(std::abs(reached.line - call.line), 1) << call.name;
    }
    EXPECT_TRUE(driver.refused.empty());
}

TEST_F(EveryOperation, SuccessLeavesAnEmptyError) {
    for (const Call &call : calls) {
        std::memset(&last, 0xA5, sizeof(last));
        EXPECT_EQ(call.run(&last), TUTTI_OK) << call.name;
        EXPECT_EQ(last.status, TUTTI_OK) << call.name;
        EXPECT_EQ(last.rank, -1) << call.name;
        EXPECT_EQ(last.operation, nullptr) << call.name;
        EXPECT_EQ(last.place.file, nullptr) << call.name;
        EXPECT_EQ(last.native_domain, nullptr) << call.name;
        EXPECT_EQ(last.cause_count, 0u) << call.name;
        EXPECT_STREQ(last.message, "") << call.name;
    }
}

TEST_F(EveryOperation, GivesTheDriversFailureOn) {
    driver.answer = TUTTI_REMOTE;
    driver.message = "rank 1 is on fire";
    for (const Call &call : calls) {
        EXPECT_EQ(call.run(&last), TUTTI_REMOTE) << call.name;
        EXPECT_EQ(last.status, TUTTI_REMOTE) << call.name;
        EXPECT_STREQ(last.message, "rank 1 is on fire") << call.name;
        EXPECT_EQ(last.rank, 1) << call.name;
        EXPECT_STREQ(last.operation, call.name);
        EXPECT_EQ(last.place.file != nullptr, call.line > 0) << call.name;
    }
    EXPECT_TRUE(driver.refused.empty()) << "a driver knows of its own failures";
}

TEST_F(EveryOperation, WorksWithoutAnError) {
    for (const Call &call : calls)
        EXPECT_EQ(call.run(nullptr), TUTTI_OK) << call.name;
    driver.answer = TUTTI_REFUSED;
    for (const Call &call : calls)
        EXPECT_EQ(call.run(nullptr), TUTTI_REFUSED) << call.name;
    for (const FakeCall &call : driver.calls)
        EXPECT_NE(call.operation, "") << call.name;
}

TEST_F(EveryOperation, AFailureIsNeverWithoutAText) {
    driver.answer = TUTTI_DEVICE;
    for (const Call &call : calls) {
        EXPECT_EQ(call.run(&last), TUTTI_DEVICE) << call.name;
        EXPECT_STREQ(last.message, tutti_status_text(TUTTI_DEVICE)) << call.name;
    }
    driver.writes_error = false;
    for (const Call &call : calls) {
        EXPECT_EQ(call.run(&last), TUTTI_DEVICE) << call.name;
        EXPECT_EQ(last.status, TUTTI_DEVICE) << call.name;
        EXPECT_STREQ(last.message, tutti_status_text(TUTTI_DEVICE)) << call.name;
    }
}

TEST_F(Operations, TheMacroFillsThePlaceAndTheFunctionLeavesItEmpty) {
    driver.answer = TUTTI_REFUSED;
    const int line = __LINE__ + 1;
    tutti_all_reduce(comm, buffer, buffer, type, 2, TUTTI_SUM, stream, &last);
    EXPECT_STREQ(last.place.file, __FILE__);
    EXPECT_EQ(last.place.line, line);
    EXPECT_EQ(driver.calls.back().line, line);
    reduce_all(&last);
    EXPECT_EQ(last.place.file, nullptr) << "the place of the call before must not stay";
    EXPECT_EQ(last.place.line, 0);
    EXPECT_EQ(driver.calls.back().file, "");
}

TEST_F(Operations, ARefusedCallTakesItsPlaceWithIt) {
    const int line = __LINE__ + 1;
    tutti_send(comm, buffer, type, 2, 9, stream, &last);
    EXPECT_EQ(last.place.line, line);
    EXPECT_EQ(driver.refused.at(0).place.line, line);
    reduce_all(nullptr);
    EXPECT_EQ(driver.calls.back().line, 0);
}

TEST_F(Operations, APlaceBelongsToTheThreadThatNotedIt) {
    tutti_place_note("here.c", 5);
    std::thread([&] { reduce_all(nullptr); }).join();
    EXPECT_EQ(driver.calls.back().file, "");
    reduce_all(nullptr);
    EXPECT_EQ(driver.calls.back().file, "here.c");
    EXPECT_EQ(driver.calls.back().line, 5);
}

TEST_F(Operations, AnInnerCallNeverLendsItsPlaceToTheOuterOne) {
    const auto count_of = [&] {
        tutti_data_type_of(device, TUTTI_F32, 8, &type_out, &elements_out, nullptr);
        return elements_out;
    };
    tutti_all_reduce(comm, buffer, buffer, type, count_of(), TUTTI_SUM, stream, nullptr);
    EXPECT_EQ(driver.names(), "data_type all_reduce");
    EXPECT_EQ(driver.calls.back().file, "");
}

TEST_F(Operations, ResultsComeBack) {
    EXPECT_EQ(tutti_device_count(&driver.base, &count_out, &last), TUTTI_OK);
    EXPECT_EQ(count_out, 2u);
    EXPECT_EQ(tutti_device_open(&driver.base, 1, &device_out, &last), TUTTI_OK);
    EXPECT_EQ(device_out, &driver.devices[1]);
    EXPECT_EQ(tutti_memory_allocate(device, 24, &buffer_out, &last), TUTTI_OK);
    EXPECT_EQ(buffer_out.bytes, 24u);
    EXPECT_EQ(tutti_data_type_of(device, TUTTI_F32, 7, &type_out, &elements_out, &last), TUTTI_OK);
    EXPECT_EQ(elements_out, 1u); // row 25
    EXPECT_EQ(type_out.width_bytes, 4u);
    EXPECT_EQ(tutti_join(device, &id, 2, 1, nullptr, &comm_out, &last), TUTTI_OK);
    EXPECT_EQ(comm_out, &driver.comms[1]);
}

TEST_F(Operations, AnIndexBeyondTheDevicesIsRefused) {
    EXPECT_EQ(tutti_device_open(&driver.base, 2, &device_out, &last), TUTTI_INVALID_ARGUMENT);
    EXPECT_STREQ(last.message, "index is 2: the driver \"fake\" has devices 0 to 1");
    EXPECT_EQ(device_out, nullptr);
    EXPECT_EQ(driver.names(), "device_count") << "asked how many, and not for one more";
    EXPECT_EQ(driver.refused.size(), 1u);
}

TEST_F(Operations, OptionsReachTheDriverInFull) {
    EXPECT_EQ(tutti_join(device, &id, 2, 1, nullptr, &comm_out, &last), TUTTI_OK);
    EXPECT_EQ(driver.join_options.struct_size, sizeof(tutti_join_options));
    EXPECT_EQ(driver.join_options.timeout_ns, 0);
    const tutti_join_options older = {16, 1, 5000, "a name that this version did not have"};
    EXPECT_EQ(tutti_join(device, &id, 2, 1, &older, &comm_out, &last), TUTTI_OK);
    EXPECT_EQ(driver.join_options.struct_size, sizeof(tutti_join_options));
    EXPECT_EQ(driver.join_options.non_blocking, 1u);
    EXPECT_EQ(driver.join_options.timeout_ns, 5000);
    EXPECT_EQ(driver.join_options.name, nullptr);
    EXPECT_EQ(tutti_stream_create(device, nullptr, &stream_out, &last), TUTTI_OK);
    EXPECT_EQ(driver.stream_options.struct_size, sizeof(tutti_stream_options));
    EXPECT_EQ(stream_out, stream);
}

TEST_F(Operations, AJoinInProgressKeepsItsStatus) {
    driver.answer = TUTTI_IN_PROGRESS;
    EXPECT_EQ(tutti_join(device, &id, 2, 1, nullptr, &comm_out, &last), TUTTI_IN_PROGRESS);
    EXPECT_EQ(last.status, TUTTI_IN_PROGRESS);
    EXPECT_STREQ(last.message, tutti_status_text(TUTTI_IN_PROGRESS));
}

TEST_F(Operations, DestroyingNothingDoesNothing) {
    tutti_stream_destroy(nullptr);
    tutti_event_destroy(nullptr);
    EXPECT_EQ(driver.names(), "");
    tutti_stream_destroy(stream);
    tutti_event_destroy(event);
    EXPECT_EQ(driver.names(), "stream_destroy event_destroy");
}

} // namespace
