// What was released stays where it was: sizes, offsets and values that programs and drivers have
// compiled into them. A line here is never changed; what is appended gets a new one.
#include <cstddef>
#include <cstdint>

#include "tutti/driver.h"
#include "tutti/group.h"
#include "gtest/gtest.h"

namespace {

static_assert(sizeof(void *) == 8, "these are the numbers of 64-bit machines");

// The table, up to the end of version 1's required part ...
static_assert(offsetof(tutti_driver_table, struct_size) == 0);
static_assert(offsetof(tutti_driver_table, reserved) == 4);
static_assert(offsetof(tutti_driver_table, name) == 8);
static_assert(offsetof(tutti_driver_table, device_count) == 16);
static_assert(offsetof(tutti_driver_table, device_open) == 24);
static_assert(offsetof(tutti_driver_table, memory_allocate) == 32);
static_assert(offsetof(tutti_driver_table, memory_free) == 40);
static_assert(offsetof(tutti_driver_table, copy_to_device) == 48);
static_assert(offsetof(tutti_driver_table, copy_to_host) == 56);
static_assert(offsetof(tutti_driver_table, copy_on_device) == 64);
static_assert(offsetof(tutti_driver_table, fill) == 72);
static_assert(offsetof(tutti_driver_table, host_function) == 80);
static_assert(offsetof(tutti_driver_table, stream_create) == 88);
static_assert(offsetof(tutti_driver_table, stream_destroy) == 96);
static_assert(offsetof(tutti_driver_table, stream_synchronize) == 104);
static_assert(offsetof(tutti_driver_table, stream_query) == 112);
static_assert(offsetof(tutti_driver_table, event_create) == 120);
static_assert(offsetof(tutti_driver_table, event_destroy) == 128);
static_assert(offsetof(tutti_driver_table, event_record) == 136);
static_assert(offsetof(tutti_driver_table, event_wait) == 144);
static_assert(offsetof(tutti_driver_table, event_query) == 152);
static_assert(offsetof(tutti_driver_table, event_synchronize) == 160);
static_assert(offsetof(tutti_driver_table, group_id) == 168);
static_assert(offsetof(tutti_driver_table, join) == 176);
static_assert(offsetof(tutti_driver_table, data_type) == 184);
static_assert(offsetof(tutti_driver_table, all_reduce) == 192);
static_assert(offsetof(tutti_driver_table, send) == 200);
static_assert(offsetof(tutti_driver_table, recv) == 208);
static_assert(offsetof(tutti_driver_table, leave) == 216);
static_assert(TUTTI_DRIVER_TABLE_BYTES_MIN == 224);
// ... and the optional part.
static_assert(offsetof(tutti_driver_table, comm_abort) == 224);
static_assert(offsetof(tutti_driver_table, comm_status) == 232);
static_assert(offsetof(tutti_driver_table, comm_synchronize) == 240);
static_assert(offsetof(tutti_driver_table, group_start) == 248);
static_assert(offsetof(tutti_driver_table, group_end) == 256);
static_assert(offsetof(tutti_driver_table, call_refused) == 264);
static_assert(offsetof(tutti_driver_table, memory_owner) == 272);
static_assert(offsetof(tutti_driver_table, comm_split) == 280);
static_assert(offsetof(tutti_driver_table, comm_shrink) == 288);
static_assert(offsetof(tutti_driver_table, comm_revoke) == 296);
static_assert(offsetof(tutti_driver_table, broadcast) == 304);
static_assert(offsetof(tutti_driver_table, reduce) == 312);
static_assert(offsetof(tutti_driver_table, all_gather) == 320);
static_assert(offsetof(tutti_driver_table, reduce_scatter) == 328);
static_assert(offsetof(tutti_driver_table, all_to_all) == 336);
static_assert(offsetof(tutti_driver_table, gather) == 344);
static_assert(offsetof(tutti_driver_table, scatter) == 352);
static_assert(offsetof(tutti_driver_table, barrier) == 360);
static_assert(sizeof(tutti_driver_table) >= 368);

// Handles: a driver's own struct begins where the base ends, so bases never grow.
static_assert(sizeof(tutti_device) == 16);
static_assert(offsetof(tutti_device, id) == 8);
static_assert(sizeof(tutti_stream) == 8);
static_assert(sizeof(tutti_event) == 8);
static_assert(sizeof(tutti_comm) == 16);
static_assert(offsetof(tutti_comm, rank) == 8);
static_assert(offsetof(tutti_comm, rank_count) == 12);
static_assert(offsetof(tutti_driver, table) == 0);

// What is passed by value.
static_assert(sizeof(tutti_device_id) == 4);
static_assert(sizeof(tutti_unique_id) == 128);
static_assert(sizeof(tutti_data_type) == 12);
static_assert(offsetof(tutti_data_type, width_bytes) == 4);
static_assert(offsetof(tutti_data_type, native) == 8);
static_assert(sizeof(tutti_buffer) == 16);
static_assert(offsetof(tutti_buffer, bytes) == 8);
static_assert(sizeof(tutti_communication_id) == 8);
static_assert(sizeof(tutti_status) == 4);

// Options, which grow at the end.
static_assert(offsetof(tutti_stream_options, flags) == 4);
static_assert(offsetof(tutti_stream_options, priority) == 8);
static_assert(offsetof(tutti_stream_options, name) == 16);
static_assert(sizeof(tutti_stream_options) >= 24);
static_assert(offsetof(tutti_join_options, non_blocking) == 4);
static_assert(offsetof(tutti_join_options, timeout_ns) == 8);
static_assert(offsetof(tutti_join_options, name) == 16);
static_assert(sizeof(tutti_join_options) >= 24);

// Errors, which callers allocate.
static_assert(offsetof(tutti_error, status) == 0);
static_assert(offsetof(tutti_error, rank) == 4);
static_assert(offsetof(tutti_error, operation) == 8);
static_assert(offsetof(tutti_error, place) == 16);
static_assert(offsetof(tutti_place, line) == 8);
static_assert(sizeof(tutti_place) == 16);
static_assert(offsetof(tutti_error, native_domain) == 32);
static_assert(offsetof(tutti_error, native_code) == 40);
static_assert(offsetof(tutti_error, cause_count) == 48);
static_assert(offsetof(tutti_error, causes) == 52);
static_assert(sizeof(tutti_cause) == 164);
static_assert(offsetof(tutti_error, message) == 708);
static_assert(sizeof(tutti_error) == 1224);

struct StatusRow {
    tutti_status status;
    int value;
};

TEST(Layout, StatusesHaveTheValuesThatWereReleased) {
    const StatusRow rows[] = {
        {TUTTI_OK, 0},         {TUTTI_INVALID_ARGUMENT, 1},
        {TUTTI_MISUSE, 2},     {TUTTI_UNSUPPORTED, 3},
        {TUTTI_SYNTAX, 4},     {TUTTI_IN_PROGRESS, 10},
        {TUTTI_REFUSED, 11},   {TUTTI_MISSING, 12},
        {TUTTI_MISMATCH, 13},  {TUTTI_DEADLOCK, 14},
        {TUTTI_TIMED_OUT, 15}, {TUTTI_ABORTED, 16},
        {TUTTI_KILLED, 17},    {TUTTI_REMOTE, 18},
        {TUTTI_SYSTEM, 19},    {TUTTI_OUT_OF_MEMORY, 20},
        {TUTTI_DEVICE, 21},    {TUTTI_UNRESPONSIVE, 22},
        {TUTTI_INTERNAL, 30},
    };
    for (const StatusRow &row : rows) {
        EXPECT_EQ(static_cast<int>(row.status), row.value) << tutti_status_name(row.status);
    }
}

TEST(Layout, FlagsAndPurposesHaveTheValuesThatWereReleased) {
    EXPECT_EQ(TUTTI_STREAM_DEFAULT, 0);
    EXPECT_EQ(TUTTI_STREAM_NON_BLOCKING, 1);
    EXPECT_EQ(TUTTI_PURPOSE_COLLECTIVES, 0);
    EXPECT_EQ(TUTTI_PURPOSE_TRANSFERS, 1);
    EXPECT_EQ(TUTTI_UNIQUE_ID_BYTES, 128);
}

} // namespace
