// What is refused before any driver is asked, and with which words.
#include <cstring>
#include <limits>
#include <string>

#include "tests/unit/fake_driver.h"
#include "tests/unit/odd_values.h"
#include "gtest/gtest.h"

extern "C" {
#include "src/arguments.h"
}

namespace {

const int32_t INT32_HIGHEST = std::numeric_limits<int32_t>::max();
const size_t SIZE_HIGHEST = std::numeric_limits<size_t>::max();

// Good arguments for every check; a test makes one of them bad.
class Arguments : public ::testing::Test {
  protected:
    // What a check has said; it must have refused.
    std::string text_of(tutti_status status) {
        EXPECT_EQ(status, TUTTI_INVALID_ARGUMENT);
        EXPECT_EQ(error.status, status);
        EXPECT_GT(std::strlen(error.message), 0u);
        return error.message;
    }

    std::string all_reduce() {
        return text_of(
            tutti_check_all_reduce(comm, source, destination, type, count, op, stream, &error));
    }

    FakeDriver driver;
    const tutti_device *device = &driver.devices[0];
    const tutti_comm *comm = &driver.comms[0];
    const tutti_stream *stream = &driver.streams[0];
    const tutti_event *event = &driver.events[0];
    tutti_buffer source = fake_buffer(32);
    tutti_buffer destination = fake_buffer(32);
    tutti_data_type type = fake_type(TUTTI_F32);
    size_t count = 8;
    tutti_reduce_op op = TUTTI_SUM;
    tutti_error error = {};
};

TEST_F(Arguments, GoodOnesPassAndLeaveTheErrorAlone) {
    tutti_error_set(&error, TUTTI_REMOTE, "what was before");
    EXPECT_EQ(tutti_check_all_reduce(comm, source, destination, type, 8, op, stream, &error),
              TUTTI_OK);
    EXPECT_EQ(tutti_check_send(comm, source, type, 8, 1, stream, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_recv(comm, source, type, 8, 1, stream, &error), TUTTI_OK);
    EXPECT_EQ(error.status, TUTTI_REMOTE);
    EXPECT_STREQ(error.message, "what was before");
}

TEST_F(Arguments, EveryCarriedTypeAndEveryOpPasses) {
    for (int t = 0; t < TUTTI_CARRIED_TYPE_COUNT; t++) {
        for (int o = 0; o < TUTTI_REDUCE_OP_COUNT; o++) {
            type = fake_type(static_cast<tutti_element_type>(t));
            EXPECT_EQ(tutti_check_all_reduce(comm, source, destination, type, 32 / type.width_bytes,
                                             static_cast<tutti_reduce_op>(o), stream, nullptr),
                      TUTTI_OK);
        }
    }
}

TEST_F(Arguments, TheErrorMayBeNull) {
    EXPECT_EQ(tutti_check_all_reduce(nullptr, source, destination, type, 8, op, stream, nullptr),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(tutti_check_all_reduce(comm, source, destination, type, 9, op, stream, nullptr),
              TUTTI_INVALID_ARGUMENT);
}

TEST_F(Arguments, AMissingHandleIsNamed) {
    EXPECT_EQ(text_of(tutti_check_driver(nullptr, &error)), "driver is NULL");
    EXPECT_EQ(text_of(tutti_check_device(nullptr, &error)),
              "device is NULL: pass one that tutti_device_open() gave");
    EXPECT_EQ(text_of(tutti_check_stream(nullptr, &error)),
              "stream is NULL: pass one that tutti_stream_create() gave");
    EXPECT_EQ(text_of(tutti_check_event(nullptr, &error)),
              "event is NULL: pass one that tutti_event_create() gave");
    EXPECT_EQ(text_of(tutti_check_comm(nullptr, &error)),
              "comm is NULL: pass one that tutti_join() gave");
}

TEST_F(Arguments, AHandleThatLeadsNowhereIsNamed) {
    const tutti_driver unbound = {};
    const tutti_device no_driver = {nullptr, {0, 0}};
    const tutti_stream no_device = {nullptr};
    const tutti_event lost_event = {const_cast<tutti_device *>(&no_driver)};
    const tutti_comm lost_comm = {const_cast<tutti_device *>(&no_driver), 0, 1};
    EXPECT_EQ(text_of(tutti_check_driver(&unbound, &error)),
              "driver has an empty table: bind one with tutti_driver_bind()");
    EXPECT_EQ(text_of(tutti_check_device(&no_driver, &error)),
              "device belongs to no driver: pass one that tutti_device_open() gave and nothing has "
              "given back");
    EXPECT_EQ(text_of(tutti_check_stream(&no_device, &error)).find("stream belongs to no"), 0u);
    EXPECT_EQ(text_of(tutti_check_event(&lost_event, &error)).find("event belongs to no"), 0u);
    EXPECT_EQ(text_of(tutti_check_comm(&lost_comm, &error)).find("comm belongs to no"), 0u);
    comm = &lost_comm;
    EXPECT_EQ(all_reduce().find("comm belongs to no driver"), 0u);
}

// row 40
TEST_F(Arguments, AStreamOfAnotherDeviceIsRefused) {
    stream = &driver.streams[1];
    const std::string text =
        "the stream is on device 1, the communicator on device 0: pass two of one device";
    EXPECT_EQ(all_reduce(), text);
    EXPECT_EQ(text_of(tutti_check_send(comm, source, type, 8, 1, stream, &error)), text);
    EXPECT_EQ(text_of(tutti_check_recv(comm, source, type, 8, 1, stream, &error)), text);
    EXPECT_EQ(text_of(tutti_check_barrier(comm, stream, &error)), text);
    driver.devices[1].id = {2, 7};
    EXPECT_EQ(all_reduce(), "the stream is on device 2:7, the communicator on device 0: pass two "
                            "of one device");
}

// row 76
TEST_F(Arguments, AStreamOfAnotherDriverIsRefused) {
    FakeDriver other(FakeDriver::full_table(), "other");
    stream = &other.streams[0];
    EXPECT_EQ(all_reduce(), "the stream belongs to a driver \"other\", the communicator to another "
                            "one, \"fake\": a call takes handles of one driver");
    FakeDriver twin; // a second cluster of the same name is another driver too
    stream = &twin.streams[0];
    EXPECT_EQ(all_reduce().find("the stream belongs to a driver \"fake\", the communicator to "
                                "another one, \"fake\""),
              0u);
}

// row 40, row 76
TEST_F(Arguments, AnEventIsRecordedOnItsDeviceAndWaitedForInItsDriver) {
    const tutti_stream *elsewhere = &driver.streams[1];
    EXPECT_EQ(tutti_check_event_record(event, stream, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_event_wait(event, stream, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_event_wait(event, elsewhere, &error), TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_event_record(event, elsewhere, &error)),
              "the event is on device 0, the stream on device 1: pass two of one device");
    FakeDriver other(FakeDriver::full_table(), "other");
    const std::string text = "the event belongs to a driver \"fake\", the stream to another one, "
                             "\"other\": a call takes handles of one driver";
    EXPECT_EQ(text_of(tutti_check_event_record(event, &other.streams[0], &error)), text);
    EXPECT_EQ(text_of(tutti_check_event_wait(event, &other.streams[0], &error)), text);
}

// row 23, row 24
TEST_F(Arguments, ATypeThatIsNotCarriedIsRefusedByName) {
    type = {TUTTI_COMPLEX, 8, 0};
    EXPECT_EQ(all_reduce(), "data_type is complex (43): collectives do not carry it, pass a type "
                            "that tutti_data_type_of() gave");
    type.element_type = TUTTI_BOOL;
    EXPECT_EQ(all_reduce().find("data_type is bool (33):"), 0u);
    for (const int value : {12, 31, 1000, -1}) {
        EXPECT_EQ(
            text_of(odd_check_all_reduce(comm, source, value, 4, count, TUTTI_SUM, stream, &error))
                .find("data_type is unknown (" + std::to_string(value) + "):"),
            0u);
    }
}

TEST_F(Arguments, AWidthThatIsNotTheTypesIsRefused) {
    for (const uint32_t width : {0u, 1u, 8u, 4000000000u}) {
        type.width_bytes = width;
        EXPECT_EQ(all_reduce(), "data_type.width_bytes is " + std::to_string(width) +
                                    ", and f32 has 4: pass a type that tutti_data_type_of() "
                                    "gave");
    }
}

TEST_F(Arguments, AnOpThatIsNotInTheListIsRefused) {
    for (const int value : {5, 7, 1000, -1}) {
        EXPECT_EQ(
            text_of(odd_check_all_reduce(comm, source, TUTTI_F32, 4, count, value, stream, &error)),
            "op is " + std::to_string(value) +
                ": the reductions are 0 to 4, sum, prod, max, min and mean");
    }
}

// row 39
TEST_F(Arguments, ABufferThatIsTooSmallIsRefusedInElementsAndBytes) {
    destination.bytes = 24;
    EXPECT_EQ(all_reduce(), "destination holds 6 f32 elements (24 bytes), the operation writes 8 "
                            "(32 bytes): pass a larger buffer or a smaller count");
    destination.bytes = 31; // 7 elements and a rest
    EXPECT_EQ(all_reduce().find("destination holds 7 f32 elements (31 bytes)"), 0u);
    source.bytes = 0;
    EXPECT_EQ(all_reduce(), "source holds 0 f32 elements (0 bytes), the operation reads 8 (32 "
                            "bytes): pass a larger buffer or a smaller count");
}

TEST_F(Arguments, ACountThatOverflowsIsRefused) {
    // Times 4 bytes these are 0, 4, and 4 less than all addresses.
    for (const size_t large : {SIZE_HIGHEST / 4 + 1, SIZE_HIGHEST / 4 + 2, SIZE_HIGHEST}) {
        count = large;
        EXPECT_EQ(all_reduce(), "count is " + std::to_string(large) +
                                    ": no source can hold so many f32 elements");
    }
    count = SIZE_HIGHEST / 8; // can be computed with, and is too much for 32 bytes
    EXPECT_EQ(all_reduce().find("source holds 8 f32 elements"), 0u);
}

TEST_F(Arguments, ACountThatOverflowsByTheNumberOfRanksIsRefused) {
    for (const size_t large : {SIZE_HIGHEST / 2 + 1, SIZE_HIGHEST / 16 + 1}) {
        const std::string text = text_of(
            tutti_check_reduce_scatter(comm, source, destination, type, large, op, stream, &error));
        EXPECT_EQ(text, "count is " + std::to_string(large) +
                            ": no source can hold so many f32 elements");
    }
}

TEST_F(Arguments, AnAddressThatIsMissingIsRefused) {
    source.data = nullptr;
    EXPECT_EQ(all_reduce(), "source.data is NULL, and source.bytes is 32");
    source = fake_buffer(32);
    destination.data = nullptr;
    EXPECT_EQ(all_reduce(), "destination.data is NULL, and destination.bytes is 32");
}

TEST_F(Arguments, ElementsThatAreNotAlignedAreRefused) {
    source = {fake_memory + 6, 40};
    EXPECT_EQ(all_reduce(), "source.data is 2 bytes behind a multiple of 4, the width of f32: "
                            "elements must be aligned");
    type = fake_type(TUTTI_F16);
    EXPECT_EQ(tutti_check_all_reduce(comm, source, destination, type, 8, op, stream, &error),
              TUTTI_OK);
}

// row 36
TEST_F(Arguments, ACountOfZeroNeedsNoBuffer) {
    const tutti_buffer none = {nullptr, 0};
    EXPECT_EQ(tutti_check_all_reduce(comm, none, none, type, 0, op, stream, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_send(comm, none, type, 0, 1, stream, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_recv(comm, none, type, 0, 1, stream, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_all_to_all(comm, none, none, type, 0, stream, &error), TUTTI_OK);
}

// row 48
TEST_F(Arguments, APeerOutsideOfTheCommunicatorIsRefused) {
    for (const int32_t peer : {-1, 2, INT32_HIGHEST, -INT32_HIGHEST - 1}) {
        const std::string text =
            "peer is " + std::to_string(peer) + ": the communicator has ranks 0 to 1";
        EXPECT_EQ(text_of(tutti_check_send(comm, source, type, 8, peer, stream, &error)), text);
        EXPECT_EQ(text_of(tutti_check_recv(comm, source, type, 8, peer, stream, &error)), text);
    }
    EXPECT_EQ(tutti_check_send(comm, source, type, 8, 0, stream, &error), TUTTI_OK)
        << "whether oneself has its partner, the driver knows";
}

TEST_F(Arguments, ARootOutsideOfTheCommunicatorIsRefused) {
    const std::string text = "root is 2: the communicator has ranks 0 to 1";
    EXPECT_EQ(text_of(tutti_check_broadcast(comm, source, source, type, 1, 2, stream, &error)),
              text);
    EXPECT_EQ(text_of(tutti_check_reduce(comm, source, source, type, 1, op, 2, stream, &error)),
              text);
    EXPECT_EQ(text_of(tutti_check_gather(comm, source, source, type, 1, 2, stream, &error)), text);
    EXPECT_EQ(text_of(tutti_check_scatter(comm, source, source, type, 1, 2, stream, &error)), text);
}

TEST_F(Arguments, BuffersForAllRanksHoldCountForEachRank) {
    const tutti_buffer one = fake_buffer(16), both = fake_buffer(32);
    EXPECT_EQ(tutti_check_all_gather(comm, one, both, type, 4, stream, &error), TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_all_gather(comm, one, one, type, 4, stream, &error)),
              "destination holds 4 f32 elements (16 bytes), the operation writes 8 (32 bytes): "
              "pass a larger buffer or a smaller count");
    EXPECT_EQ(tutti_check_reduce_scatter(comm, both, one, type, 4, op, stream, &error), TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_reduce_scatter(comm, one, one, type, 4, op, stream, &error))
                  .find("source holds 4 f32 elements"),
              0u);
    EXPECT_EQ(tutti_check_all_to_all(comm, both, both, type, 4, stream, &error), TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_all_to_all(comm, one, both, type, 4, stream, &error))
                  .find("source holds"),
              0u);
    EXPECT_EQ(text_of(tutti_check_all_to_all(comm, both, one, type, 4, stream, &error))
                  .find("destination holds"),
              0u);
}

TEST_F(Arguments, OnlyWhereTheRootIsItsBuffersCount) {
    const tutti_buffer none = {nullptr, 0};
    const tutti_buffer one = fake_buffer(16), both = fake_buffer(32);
    const int32_t here = 0, elsewhere = 1;
    EXPECT_EQ(tutti_check_broadcast(comm, none, one, type, 4, elsewhere, stream, &error), TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_broadcast(comm, none, one, type, 4, here, stream, &error))
                  .find("source holds 0"),
              0u);
    EXPECT_EQ(tutti_check_reduce(comm, one, none, type, 4, op, elsewhere, stream, &error),
              TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_reduce(comm, one, none, type, 4, op, here, stream, &error))
                  .find("destination holds 0"),
              0u);
    EXPECT_EQ(tutti_check_gather(comm, one, none, type, 4, elsewhere, stream, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_gather(comm, one, both, type, 4, here, stream, &error), TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_gather(comm, one, one, type, 4, here, stream, &error))
                  .find("destination holds 4"),
              0u);
    EXPECT_EQ(tutti_check_scatter(comm, none, one, type, 4, elsewhere, stream, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_scatter(comm, both, one, type, 4, here, stream, &error), TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_scatter(comm, one, one, type, 4, here, stream, &error))
                  .find("source holds 4"),
              0u);
}

// row 21
TEST_F(Arguments, AJoinOutsideOfItsGroupIsRefused) {
    const tutti_unique_id id = {};
    EXPECT_EQ(tutti_check_join(device, &id, 1, 0, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_join(device, &id, INT32_HIGHEST, INT32_HIGHEST - 1, &error), TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_join(device, &id, 4, 4, &error)),
              "rank is 4: a group of 4 has ranks 0 to 3");
    EXPECT_EQ(text_of(tutti_check_join(device, &id, 4, -1, &error)),
              "rank is -1: a group of 4 has ranks 0 to 3");
    EXPECT_EQ(text_of(tutti_check_join(device, &id, 0, 0, &error)),
              "rank_count is 0: a group has at least one rank");
    EXPECT_EQ(text_of(tutti_check_join(device, &id, -3, 0, &error)),
              "rank_count is -3: a group has at least one rank");
    EXPECT_EQ(text_of(tutti_check_join(device, nullptr, 4, 0, &error)),
              "id is NULL: pass the one that tutti_group_id() gave");
    EXPECT_EQ(text_of(tutti_check_join(nullptr, &id, 4, 0, &error)).find("device is NULL"), 0u);
}

TEST_F(Arguments, AShrinkNamesOthersOnly) {
    const int32_t other[] = {1}, self[] = {1, 0}, nobody[] = {2};
    EXPECT_EQ(tutti_check_comm_shrink(comm, other, 1, &error), TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_comm_shrink(comm, self, 2, &error)),
              "excluded[1] is 0, the calling rank: only those that stay make this call");
    EXPECT_EQ(text_of(tutti_check_comm_shrink(comm, nobody, 1, &error)),
              "excluded[0] is 2: the communicator has ranks 0 to 1");
    EXPECT_EQ(text_of(tutti_check_comm_shrink(comm, other, 0, &error)).find("excluded names no"),
              0u);
    EXPECT_EQ(text_of(tutti_check_comm_shrink(comm, nullptr, 1, &error)).find("excluded names no"),
              0u);
}

TEST_F(Arguments, ACopyStaysWithinItsBuffers) {
    unsigned char host[64] = {};
    EXPECT_EQ(tutti_check_copy_to_device(destination, host, 32, stream, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_copy_to_host(host, source, 32, stream, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_copy_on_device(destination, source, 32, stream, &error), TUTTI_OK);
    const std::string too_small = "destination has 32 bytes, the copy writes 33: pass a larger "
                                  "buffer or fewer bytes";
    EXPECT_EQ(text_of(tutti_check_copy_to_device(destination, host, 33, stream, &error)),
              too_small);
    EXPECT_EQ(text_of(tutti_check_copy_to_host(host, source, SIZE_HIGHEST, stream, &error)),
              "source has 32 bytes, the copy reads 18446744073709551615: pass a larger buffer or "
              "fewer bytes");
    EXPECT_EQ(text_of(tutti_check_copy_on_device(destination, source, 33, stream, &error)),
              too_small);
    destination.bytes = 40;
    EXPECT_EQ(text_of(tutti_check_copy_on_device(destination, source, 33, stream, &error))
                  .find("source has 32 bytes, the copy reads 33"),
              0u);
}

TEST_F(Arguments, ACopyNeedsAddresses) {
    const tutti_buffer none = {nullptr, 0}, lost = {nullptr, 32};
    EXPECT_EQ(tutti_check_copy_to_device(none, nullptr, 0, stream, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_copy_to_host(nullptr, none, 0, stream, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_copy_on_device(none, none, 0, stream, &error), TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_copy_to_device(destination, nullptr, 8, stream, &error)),
              "source is NULL, and bytes is 8: pass the address of host memory");
    EXPECT_EQ(text_of(tutti_check_copy_to_host(nullptr, source, 8, stream, &error)),
              "destination is NULL, and bytes is 8: pass the address of host memory");
    EXPECT_EQ(text_of(tutti_check_copy_on_device(lost, source, 8, stream, &error)),
              "destination.data is NULL, and destination.bytes is 32");
    EXPECT_EQ(text_of(tutti_check_copy_to_device(destination, fake_memory, 8, nullptr, &error))
                  .find("stream is NULL"),
              0u);
}

TEST_F(Arguments, FillAndFreeNeedAddresses) {
    const tutti_buffer none = {nullptr, 0}, lost = {nullptr, 32};
    EXPECT_EQ(tutti_check_fill(none, stream, &error), TUTTI_OK);
    EXPECT_EQ(tutti_check_memory_free(device, none, &error), TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_fill(lost, stream, &error)),
              "destination.data is NULL, and destination.bytes is 32");
    EXPECT_EQ(text_of(tutti_check_memory_free(device, lost, &error)),
              "buffer.data is NULL, and buffer.bytes is 32");
    EXPECT_EQ(text_of(tutti_check_memory_free(nullptr, none, &error)).find("device is NULL"), 0u);
}

void host_function(void *) {}

TEST_F(Arguments, AHostFunctionDeclaresWhatItTouches) {
    const tutti_buffer good[] = {fake_buffer(8), {nullptr, 0}};
    const tutti_buffer bad[] = {fake_buffer(8), {nullptr, 4}};
    EXPECT_EQ(tutti_check_host_function(stream, host_function, good, 2, nullptr, 0, &error),
              TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_host_function(stream, nullptr, good, 2, good, 2, &error)),
              "function is NULL: pass the function that the stream shall run");
    EXPECT_EQ(
        text_of(tutti_check_host_function(stream, host_function, nullptr, 2, good, 2, &error)),
        "reads is NULL, and read_count is 2");
    EXPECT_EQ(text_of(tutti_check_host_function(stream, host_function, good, 2, bad, 2, &error)),
              "writes[1].data is NULL, and writes[1].bytes is 4");
}

TEST_F(Arguments, AnIndexOfADeviceIsBelowTheirNumber) {
    EXPECT_EQ(tutti_check_device_open(&driver.base, 1, 2, &error), TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_device_open(&driver.base, 2, 2, &error)),
              "index is 2: the driver \"fake\" has devices 0 to 1");
    EXPECT_EQ(text_of(tutti_check_device_open(&driver.base, 0, 0, &error)),
              "index is 0: the driver \"fake\" has no device");
}

TEST_F(Arguments, AnOutputThatIsMissingIsNamed) {
    EXPECT_EQ(tutti_check_output(&error, "comm_out", &error), TUTTI_OK);
    EXPECT_EQ(text_of(tutti_check_output(nullptr, "comm_out", &error)),
              "comm_out is NULL: pass the address that the result shall be written to");
}

} // namespace
