// Binding a driver: what is refused, what is copied, what stands where an operation is absent.
#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/fake_driver.h"
#include "tutti/operations.h"
#include "gtest/gtest.h"

namespace {

// The text with which a table is refused; *driver must not change.
std::string refusal_of(const tutti_driver_table *table) {
    tutti_driver driver, before;
    std::memset(&driver, 0x5A, sizeof(driver));
    std::memcpy(&before, &driver, sizeof(driver));
    tutti_error error;
    EXPECT_EQ(tutti_driver_bind(table, &driver, &error), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(error.status, TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(std::memcmp(&driver, &before, sizeof(driver)), 0);
    return error.message;
}

TEST(DriverBind, CopiesWhatTheDriverHas) {
    const tutti_driver_table table = FakeDriver::full_table();
    tutti_driver driver;
    tutti_error error;
    std::memset(&error, 0xA5, sizeof(error));
    EXPECT_EQ(tutti_driver_bind(&table, &driver, &error), TUTTI_OK);
    EXPECT_EQ(std::memcmp(&driver.table, &table, sizeof(table)), 0);
    EXPECT_EQ(error.status, TUTTI_OK);
    EXPECT_STREQ(error.message, "");
    EXPECT_EQ(tutti_driver_bind(&table, &driver, nullptr), TUTTI_OK);
}

TEST(DriverBind, LeavesNoNullInTheTable) {
    const tutti_driver_table table = FakeDriver::required_table();
    tutti_driver driver;
    ASSERT_EQ(tutti_driver_bind(&table, &driver, nullptr), TUTTI_OK);
    // As pointers, from the first operation to the end.
    const size_t first = offsetof(tutti_driver_table, device_count);
    ASSERT_EQ((sizeof(table) - first) % sizeof(void *), 0u);
    for (size_t at = first; at < sizeof(table); at += sizeof(void *)) {
        void *operation = nullptr;
        std::memcpy(&operation, reinterpret_cast<const char *>(&driver.table) + at, sizeof(void *));
        EXPECT_NE(operation, nullptr) << "at byte " << at;
    }
    EXPECT_EQ(driver.table.struct_size, sizeof(tutti_driver_table));
}

TEST(DriverBind, AShorterTableIsFilledUp) {
    tutti_driver_table table = FakeDriver::full_table();
    table.struct_size = offsetof(tutti_driver_table, group_start);
    const tutti_driver_table full = FakeDriver::full_table();
    tutti_driver driver;
    ASSERT_EQ(tutti_driver_bind(&table, &driver, nullptr), TUTTI_OK);
    EXPECT_EQ(driver.table.comm_synchronize, full.comm_synchronize);
    EXPECT_NE(driver.table.group_start, full.group_start) << "the driver did not know it";
    EXPECT_NE(driver.table.barrier, nullptr);
}

TEST(DriverBind, ALongerTableIsTakenAsFarAsItIsKnown) {
    struct Later {
        tutti_driver_table known;
        void *unknown[4];
    } later = {};
    later.known = FakeDriver::full_table();
    later.known.struct_size = sizeof(later);
    tutti_driver driver;
    ASSERT_EQ(tutti_driver_bind(&later.known, &driver, nullptr), TUTTI_OK);
    EXPECT_EQ(driver.table.barrier, later.known.barrier);
    EXPECT_EQ(driver.table.struct_size, sizeof(tutti_driver_table));
}

TEST(DriverBind, ABoundTableCanBeBoundAgain) {
    const tutti_driver_table table = FakeDriver::required_table();
    tutti_driver inner, outer;
    ASSERT_EQ(tutti_driver_bind(&table, &inner, nullptr), TUTTI_OK);
    ASSERT_EQ(tutti_driver_bind(&inner.table, &outer, nullptr), TUTTI_OK);
    EXPECT_EQ(std::memcmp(&inner, &outer, sizeof(inner)), 0);
}

TEST(DriverBind, EachRequiredOperationIsMissedByName) {
    const char *const names[] = {
        "device_count",   "device_open",   "memory_allocate",   "memory_free",
        "copy_to_device", "copy_to_host",  "copy_on_device",    "fill",
        "host_function",  "stream_create", "stream_destroy",    "stream_synchronize",
        "stream_query",   "event_create",  "event_destroy",     "event_record",
        "event_wait",     "event_query",   "event_synchronize", "group_id",
        "join",           "data_type",     "all_reduce",        "send",
        "recv",           "leave",
    };
    size_t at = offsetof(tutti_driver_table, device_count);
    for (const char *name : names) {
        tutti_driver_table table = FakeDriver::full_table();
        std::memset(reinterpret_cast<char *>(&table) + at, 0, sizeof(void *));
        EXPECT_EQ(refusal_of(&table), std::string("the driver \"fake\" lacks ") + name +
                                          ", which every driver must have");
        at += sizeof(void *);
    }
    EXPECT_EQ(at, TUTTI_DRIVER_TABLE_BYTES_MIN) << "an operation is not tested here";
}

TEST(DriverBind, ASizeThatNoVersionHadIsRefused) {
    tutti_driver_table table = FakeDriver::full_table();
    for (const size_t bytes : {size_t{0}, size_t{4}, size_t{TUTTI_DRIVER_TABLE_BYTES_MIN - 8},
                               size_t{TUTTI_DRIVER_TABLE_BYTES_MIN - 1}}) {
        table.struct_size = static_cast<uint32_t>(bytes);
        EXPECT_NE(refusal_of(&table).find("less than the"), std::string::npos) << bytes;
    }
    for (const uint32_t bytes :
         {uint32_t{sizeof(table) - 1}, uint32_t{sizeof(table) + 4}, uint32_t{70000}, UINT32_MAX}) {
        table.struct_size = bytes;
        EXPECT_NE(refusal_of(&table).find("which no version has"), std::string::npos) << bytes;
    }
}

// A driver of the size that it says, and no byte more: what lies behind must not be read.
TEST(DriverBind, ReadsNothingBehindTheTable) {
    const tutti_driver_table table = FakeDriver::full_table();
    std::vector<char> exact(TUTTI_DRIVER_TABLE_BYTES_MIN);
    std::memcpy(exact.data(), &table, exact.size());
    const uint32_t bytes = static_cast<uint32_t>(exact.size());
    std::memcpy(exact.data(), &bytes, sizeof(bytes));
    tutti_driver driver;
    EXPECT_EQ(tutti_driver_bind(reinterpret_cast<const tutti_driver_table *>(exact.data()), &driver,
                                nullptr),
              TUTTI_OK);
    std::vector<char> size_only(sizeof(uint32_t), 0);
    EXPECT_NE(
        refusal_of(reinterpret_cast<const tutti_driver_table *>(size_only.data())).find("0 bytes"),
        std::string::npos);
}

TEST(DriverBind, ATableWithoutNameOrWithReservedBitsIsRefused) {
    tutti_driver_table table = FakeDriver::full_table();
    table.name = nullptr;
    EXPECT_NE(refusal_of(&table).find("has no name"), std::string::npos);
    table.name = "";
    EXPECT_NE(refusal_of(&table).find("has no name"), std::string::npos);
    table = FakeDriver::full_table();
    table.reserved = 7;
    EXPECT_NE(refusal_of(&table).find("has 7 in its reserved field"), std::string::npos);
}

TEST(DriverBind, NullIsRefused) {
    const tutti_driver_table table = FakeDriver::full_table();
    EXPECT_EQ(refusal_of(nullptr), "table is NULL");
    tutti_error error;
    EXPECT_EQ(tutti_driver_bind(&table, nullptr, &error), TUTTI_INVALID_ARGUMENT);
    EXPECT_STREQ(error.message, "driver is NULL");
}

// Calls each optional operation of a driver that has none, with good arguments.
class AbsentOperation : public ::testing::Test {
  protected:
    // The driver learns of refusals, so that the tests see that it is told.
    static tutti_driver_table table() {
        tutti_driver_table table = FakeDriver::required_table();
        table.call_refused = FakeDriver::full_table().call_refused;
        return table;
    }

    void expect_absent(tutti_status status, const std::string &operation, int32_t rank) {
        EXPECT_EQ(status, TUTTI_UNSUPPORTED) << operation;
        EXPECT_EQ(error.status, TUTTI_UNSUPPORTED) << operation;
        EXPECT_EQ(error.message, "the driver \"plain\" does not offer " + operation);
        ASSERT_NE(error.operation, nullptr);
        EXPECT_EQ(error.operation, operation);
        EXPECT_EQ(error.rank, rank) << operation;
        ASSERT_EQ(driver.refused.size(), 1u) << operation;
        EXPECT_EQ(driver.refused[0].operation, operation);
        EXPECT_EQ(driver.refused[0].message, std::string(error.message));
        driver.refused.clear();
    }

    FakeDriver driver{table(), "plain"};
    tutti_comm *comm = &driver.comms[1];
    tutti_stream *stream = &driver.streams[1];
    tutti_buffer buffer = fake_buffer(8);
    tutti_data_type type = fake_type(TUTTI_F32);
    tutti_error error;
};

TEST_F(AbsentOperation, OfMembershipIsUnsupportedByName) {
    tutti_status status_out = TUTTI_DEVICE;
    tutti_comm *comm_out = nullptr;
    const int32_t excluded[] = {0};
    expect_absent(tutti_comm_abort(comm, &error), "comm_abort", 1);
    expect_absent(tutti_comm_status(comm, &status_out, &error), "comm_status", 1);
    expect_absent(tutti_comm_synchronize(comm, &error), "comm_synchronize", 1);
    expect_absent(tutti_group_start(&driver.base, &error), "group_start", -1);
    expect_absent(tutti_group_end(&driver.base, &error), "group_end", -1);
    expect_absent(tutti_comm_split(comm, 0, 0, &comm_out, &error), "comm_split", 1);
    expect_absent(tutti_comm_shrink(comm, excluded, 1, &comm_out, &error), "comm_shrink", 1);
    expect_absent(tutti_comm_revoke(comm, &error), "comm_revoke", 1);
    EXPECT_EQ(status_out, TUTTI_DEVICE);
    EXPECT_EQ(comm_out, nullptr);
    EXPECT_EQ(driver.names(), "");
}

TEST_F(AbsentOperation, OfCollectivesIsUnsupportedByName) {
    expect_absent(tutti_broadcast(comm, buffer, buffer, type, 1, 0, stream, &error), "broadcast",
                  1);
    expect_absent(tutti_reduce(comm, buffer, buffer, type, 1, TUTTI_SUM, 0, stream, &error),
                  "reduce", 1);
    expect_absent(tutti_all_gather(comm, buffer, buffer, type, 1, stream, &error), "all_gather", 1);
    expect_absent(tutti_reduce_scatter(comm, buffer, buffer, type, 1, TUTTI_SUM, stream, &error),
                  "reduce_scatter", 1);
    expect_absent(tutti_all_to_all(comm, buffer, buffer, type, 1, stream, &error), "all_to_all", 1);
    expect_absent(tutti_gather(comm, buffer, buffer, type, 1, 0, stream, &error), "gather", 1);
    expect_absent(tutti_scatter(comm, buffer, buffer, type, 1, 0, stream, &error), "scatter", 1);
    expect_absent(tutti_barrier(comm, stream, &error), "barrier", 1);
    EXPECT_EQ(driver.names(), "");
}

TEST_F(AbsentOperation, CalledThroughTheTableNamesItselfToo) {
    tutti_error_clear(&error);
    tutti_device *device = nullptr;
    tutti_buffer allocation = {nullptr, 0};
    const tutti_status status =
        driver.base.table.memory_owner(&driver.base, fake_memory, &device, &allocation, &error);
    expect_absent(status, "memory_owner", -1);
    EXPECT_EQ(device, nullptr);
    tutti_error_clear(&error);
    expect_absent(driver.base.table.barrier(comm, stream, &error), "barrier", 1);
}

TEST_F(AbsentOperation, WhoDoesNotWantToHearOfRefusalsNeedNot) {
    FakeDriver deaf(FakeDriver::required_table());
    EXPECT_EQ(tutti_barrier(&deaf.comms[0], &deaf.streams[0], &error), TUTTI_UNSUPPORTED);
    EXPECT_EQ(tutti_barrier(nullptr, &deaf.streams[0], &error), TUTTI_INVALID_ARGUMENT);
    EXPECT_TRUE(deaf.refused.empty());
}

} // namespace
