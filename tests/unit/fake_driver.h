#ifndef TUTTI_TESTS_UNIT_FAKE_DRIVER_H
#define TUTTI_TESTS_UNIT_FAKE_DRIVER_H

// A driver that does nothing but write down what it was called with. It shows which calls get
// through to a driver, with what, and which ones a driver is only told of.

#include <string>
#include <vector>

#include "tutti/driver.h"

// One call that reached the driver.
struct FakeCall {
    std::string name;      // the table's name of the operation
    std::string operation; // what the error said that it is
    std::string file;      // "" without a place
    int line;
};

// The driver's object, its base first, with two devices and what a test needs on each.
struct FakeDriver {
    tutti_driver base;
    tutti_device devices[2];
    tutti_stream streams[2]; // one on each device
    tutti_event events[2];   // one on each device
    tutti_comm comms[2];     // of one group of two, a member on each device

    std::vector<FakeCall> calls;
    std::vector<tutti_error> refused; // what call_refused was told
    tutti_join_options join_options;  // of the last join
    tutti_stream_options stream_options;

    tutti_status answer = TUTTI_OK; // of every call
    std::string message;            // of every failure; "" leaves the error without one
    bool writes_error = true;       // false: the driver forgets to fill the error at all

    // `table` is bound: one of the two below, or a variation of them.
    explicit FakeDriver(const tutti_driver_table &table, const char *name = nullptr);
    FakeDriver();
    FakeDriver(const FakeDriver &) = delete;
    FakeDriver &operator=(const FakeDriver &) = delete;

    // What every operation does.
    tutti_status record(const char *name, tutti_error *error);

    // Names of the calls so far, separated by spaces.
    std::string names() const;

    // A table with every operation, and one with the required ones only.
    static tutti_driver_table full_table();
    static tutti_driver_table required_table();
};

// 64 bytes, aligned for every type.
extern unsigned char fake_memory[64];

// A buffer of so many bytes of it.
tutti_buffer fake_buffer(size_t bytes);

// What tutti_data_type_of() gives for a carried type.
tutti_data_type fake_type(tutti_element_type type);

#endif
