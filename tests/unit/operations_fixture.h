#ifndef TUTTI_TESTS_UNIT_OPERATIONS_FIXTURE_H
#define TUTTI_TESTS_UNIT_OPERATIONS_FIXTURE_H

// What the tests of the checked calls share.

#include "tests/unit/fake_driver.h"
#include "tutti/operations.h"
#include "gtest/gtest.h"

// Good arguments for every operation.
class Operations : public ::testing::Test {
  protected:
    static void host_function(void *) {}

    // An all_reduce that notes no place.
    tutti_status reduce_all(tutti_error *error) {
        return (tutti_all_reduce)(comm, buffer, buffer, type, 2, TUTTI_SUM, stream, error);
    }

    FakeDriver driver;
    tutti_device *device = &driver.devices[0];
    tutti_stream *stream = &driver.streams[0];
    tutti_event *event = &driver.events[0];
    tutti_comm *comm = &driver.comms[0];
    tutti_buffer buffer = fake_buffer(64);
    tutti_data_type type = fake_type(TUTTI_F32);
    tutti_unique_id id = {};
    tutti_error last = {};

    // Outputs.
    uint32_t count_out = 0;
    size_t elements_out = 0;
    int done_out = 0;
    tutti_status status_out = TUTTI_DEVICE;
    tutti_device *device_out = nullptr;
    tutti_stream *stream_out = nullptr;
    tutti_event *event_out = nullptr;
    tutti_comm *comm_out = nullptr;
    tutti_buffer buffer_out = {};
    tutti_data_type type_out = {};
    tutti_unique_id id_out = {};
};

#endif
