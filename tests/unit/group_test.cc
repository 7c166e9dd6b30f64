// Who belongs to a group: its identity and its ranks.
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/odd_values.h"
#include "tutti/group.h"
#include "gtest/gtest.h"

namespace {

using Devices = std::vector<tutti_device_id>;

tutti_device_id device(int index) {
    return {0, static_cast<uint16_t>(index)};
}

Devices devices(std::initializer_list<int> indices) {
    Devices list;
    for (const int index : indices)
        list.push_back(device(index));
    return list;
}

uint64_t id_of(const Devices &list, tutti_group_purpose purpose = TUTTI_PURPOSE_COLLECTIVES) {
    tutti_communication_id id = 0;
    tutti_error error;
    EXPECT_EQ(tutti_communication_id_of(list.data(), list.size(), purpose, &id, &error), TUTTI_OK)
        << error.message;
    return id;
}

int32_t rank_of(const Devices &list, tutti_device_id self) {
    int32_t rank = -1;
    tutti_error error;
    EXPECT_EQ(tutti_group_rank(list.data(), list.size(), self, &rank, &error), TUTTI_OK)
        << error.message;
    return rank;
}

// The text with which a list is refused as a group, by both functions alike.
std::string refusal_of(const Devices &list) {
    tutti_error error;
    tutti_communication_id id = 77;
    EXPECT_EQ(
        tutti_communication_id_of(list.data(), list.size(), TUTTI_PURPOSE_COLLECTIVES, &id, &error),
        TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(id, 77u);
    const std::string text = error.message;
    int32_t rank = 77;
    EXPECT_EQ(tutti_group_rank(list.data(), list.size(), device(0), &rank, &error),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(rank, 77);
    EXPECT_EQ(error.message, text);
    return text;
}

// row 1
TEST(CommunicationId, IsTheSameForAnyOrder) {
    Devices list = devices({2, 5, 7});
    const uint64_t id = id_of(list);
    while (std::next_permutation(list.begin(), list.end(),
                                 [](auto a, auto b) { return a.index < b.index; })) {
        EXPECT_EQ(id_of(list), id);
    }
}

// row 2
TEST(CommunicationId, DiffersForOtherSets) {
    EXPECT_NE(id_of(devices({0, 1})), id_of(devices({0, 2})));
    EXPECT_NE(id_of(devices({0})), id_of(devices({0, 1})));
    std::set<uint64_t> ids; // every set of 14 devices, for both purposes
    for (unsigned set = 1; set < 1u << 14; set++) {
        Devices list;
        for (int i = 0; i < 14; i++) {
            if (set >> i & 1) list.push_back(device(i));
        }
        ids.insert(id_of(list));
        ids.insert(id_of(list, TUTTI_PURPOSE_TRANSFERS));
    }
    EXPECT_EQ(ids.size(), 2 * ((1u << 14) - 1));
}

// row 3
TEST(CommunicationId, CoversTypeAndIndex) {
    const Devices a = {{0, 0}, {0, 1}};
    const Devices b = {{1, 0}, {1, 1}};
    const Devices c = {{0, 0}, {1, 1}};
    EXPECT_NE(id_of(a), id_of(b));
    EXPECT_NE(id_of(a), id_of(c));
    EXPECT_NE(id_of({{0, 1}}), id_of({{1, 0}}));
}

// row 4
TEST(CommunicationId, DiffersForOtherPurposes) {
    const Devices pair = devices({3, 8});
    EXPECT_NE(id_of(pair, TUTTI_PURPOSE_COLLECTIVES), id_of(pair, TUTTI_PURPOSE_TRANSFERS));
}

TEST(CommunicationId, HasItsValueForEver) {
    // Two processes of one job may run two versions of Tutti: these numbers never change.
    EXPECT_EQ(id_of(devices({0})), UINT64_C(0x321E367E446FBFA0));
    EXPECT_EQ(id_of(devices({0, 1})), UINT64_C(0x5053694CCD7A3E81));
    EXPECT_EQ(id_of(devices({1, 0}), TUTTI_PURPOSE_TRANSFERS), UINT64_C(0x21B23368BA240E79));
    EXPECT_EQ(id_of(devices({7, 2, 5})), UINT64_C(0x27E2C346B7AD2DC8));
    EXPECT_EQ(id_of({{3, 0}, {0, 65535}, {65535, 65535}}), UINT64_C(0x5DBBB0D80C42396C));
    Devices many;
    for (int i = 4095; i >= 0; i--)
        many.push_back(device(i));
    EXPECT_EQ(id_of(many), UINT64_C(0x16CF33E71DA645CC));
}

TEST(CommunicationId, RefusesAPurposeThatIsNone) {
    const Devices list = devices({0, 1});
    tutti_communication_id id = 77;
    tutti_error error;
    EXPECT_EQ(odd_communication_id_of(list.data(), list.size(), 5, &id, &error),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_STREQ(error.message, "purpose is 5: it is 0 for collectives or 1 for transfers");
    EXPECT_EQ(odd_communication_id_of(list.data(), list.size(), -1, &id, &error),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(id, 77u);
}

// row 5
TEST(DeviceIdCompare, SortsByTypeThenIndex) {
    const Devices sorted = {{0, 0}, {0, 1}, {0, 65535}, {1, 0}, {1, 2}, {65535, 0}, {65535, 65535}};
    for (size_t i = 0; i < sorted.size(); i++) {
        for (size_t j = 0; j < sorted.size(); j++) {
            const int order = tutti_device_id_compare(sorted[i], sorted[j]);
            EXPECT_EQ((order > 0) - (order < 0), (i > j) - (i < j)) << i << " and " << j;
        }
    }
}

// row 6
TEST(GroupRank, IsThePlaceInTheSortedList) {
    Devices list = devices({2, 5, 7});
    do {
        EXPECT_EQ(rank_of(list, device(2)), 0);
        EXPECT_EQ(rank_of(list, device(5)), 1);
        EXPECT_EQ(rank_of(list, device(7)), 2);
    } while (std::next_permutation(list.begin(), list.end(),
                                   [](auto a, auto b) { return a.index < b.index; }));
}

TEST(GroupRank, OfThousandsOfDevicesIsFound) {
    Devices list;
    for (int i = 0; i < 60000; i++)
        list.push_back(device(i * 7919 % 60000));
    EXPECT_EQ(rank_of(list, device(0)), 0);
    EXPECT_EQ(rank_of(list, device(43210)), 43210);
    EXPECT_EQ(rank_of(list, device(59999)), 59999);
}

// row 7
TEST(GroupRank, ADeviceOutsideOfTheListIsRefusedWithTheList) {
    const Devices list = devices({7, 2, 5});
    int32_t rank = 77;
    tutti_error error;
    EXPECT_EQ(tutti_group_rank(list.data(), list.size(), device(4), &rank, &error),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(rank, 77);
    EXPECT_STREQ(error.message, "device 4 is not one of the 3 in the list [2, 5, 7]: a device "
                                "joins only groups that it belongs to");
    EXPECT_EQ(tutti_group_rank(list.data(), list.size(), device(4), &rank, nullptr),
              TUTTI_INVALID_ARGUMENT);
}

TEST(GroupRank, ALongListIsNotWrittenOut) {
    Devices list;
    for (int i = 0; i < 5000; i++)
        list.push_back({65000, static_cast<uint16_t>(60000 + i)});
    int32_t rank = 77;
    tutti_error error;
    EXPECT_EQ(tutti_group_rank(list.data(), list.size(), device(4), &rank, &error),
              TUTTI_INVALID_ARGUMENT);
    const std::string text = error.message;
    EXPECT_NE(text.find("device 4 is not one of the 5000"), std::string::npos) << text;
    EXPECT_NE(text.find("65000:60015, ...]: a device joins only"), std::string::npos) << text;
}

// row 8
TEST(GroupRank, TheSameIndexOfAnotherTypeIsAnotherMember) {
    const Devices list = {{1, 0}, {0, 1}, {0, 0}};
    EXPECT_EQ(rank_of(list, {0, 0}), 0);
    EXPECT_EQ(rank_of(list, {0, 1}), 1);
    EXPECT_EQ(rank_of(list, {1, 0}), 2);
    int32_t rank = 77;
    tutti_error error;
    EXPECT_EQ(tutti_group_rank(list.data(), list.size(), {1, 1}, &rank, &error),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.message)
                  .find("device 1:1 is not one of the 3 in the list "
                        "[0, 1, 1:0]"),
              std::string::npos)
        << error.message;
}

// row 9
TEST(GroupPeer, IsTheOtherOne) {
    int32_t peer = 77;
    EXPECT_EQ(tutti_group_peer(device(3), device(8), &peer, nullptr), TUTTI_OK);
    EXPECT_EQ(peer, 1);
    EXPECT_EQ(rank_of(devices({3, 8}), device(8)), peer);
    EXPECT_EQ(tutti_group_peer(device(8), device(3), &peer, nullptr), TUTTI_OK);
    EXPECT_EQ(peer, 0);
    EXPECT_EQ(tutti_group_peer({1, 3}, {0, 3}, &peer, nullptr), TUTTI_OK);
    EXPECT_EQ(peer, 0);
}

// row 9
TEST(GroupPeer, APairOfOneDeviceWithItselfIsRefused) {
    int32_t peer = 77;
    tutti_error error;
    EXPECT_EQ(tutti_group_peer(device(4), device(4), &peer, &error), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(peer, 77);
    EXPECT_STREQ(error.message, "device 4 is both ends of the pair: a transfer needs two devices");
}

// row 10
TEST(Group, ADuplicateIsRefusedByName) {
    EXPECT_EQ(refusal_of(devices({0, 0, 1})), "device 0 is in the list more than once: name each "
                                              "device of a group once");
    EXPECT_EQ(refusal_of({{2, 9}, {0, 1}, {2, 9}}),
              "device 2:9 is in the list more than once: name each device of a group once");
    Devices many(100000, device(1)); // no quadratic search
    EXPECT_NE(refusal_of(many).find("device 1 is in the list"), std::string::npos);
}

TEST(Group, AnEmptyListIsRefused) {
    EXPECT_EQ(refusal_of({}), "the list of devices is empty");
}

TEST(Group, PointersThatAreMissingAreRefused) {
    const Devices list = devices({0, 1});
    tutti_error error;
    tutti_communication_id id = 77;
    int32_t rank = 77;
    EXPECT_EQ(tutti_communication_id_of(nullptr, 2, TUTTI_PURPOSE_COLLECTIVES, &id, &error),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_STREQ(error.message, "the list of devices is NULL");
    EXPECT_EQ(tutti_group_rank(nullptr, 2, device(0), &rank, &error), TUTTI_INVALID_ARGUMENT);
    EXPECT_STREQ(error.message, "the list of devices is NULL");
    EXPECT_EQ(tutti_communication_id_of(list.data(), 2, TUTTI_PURPOSE_COLLECTIVES, nullptr, &error),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_STREQ(error.message, "id_out is NULL");
    EXPECT_EQ(tutti_group_rank(list.data(), 2, device(0), nullptr, &error), TUTTI_INVALID_ARGUMENT);
    EXPECT_STREQ(error.message, "rank_out is NULL");
    EXPECT_EQ(tutti_group_peer(device(0), device(1), nullptr, &error), TUTTI_INVALID_ARGUMENT);
    EXPECT_STREQ(error.message, "peer_out is NULL");
}

TEST(Group, MoreDevicesThanRanksAreRefusedBeforeTheyAreRead) {
    const Devices list = devices({0});
    tutti_error error;
    int32_t rank = 77;
    EXPECT_EQ(tutti_group_rank(list.data(), size_t{1} << 31, device(0), &rank, &error),
              TUTTI_INVALID_ARGUMENT);
    EXPECT_STREQ(error.message,
                 "device_count is 2147483648: a group has at most 2147483647 members");
}

TEST(Group, SuccessLeavesAnEmptyError) {
    const Devices list = devices({0, 1});
    tutti_error error;
    std::memset(&error, 0xA5, sizeof(error));
    int32_t rank = 77;
    EXPECT_EQ(tutti_group_rank(list.data(), list.size(), device(1), &rank, &error), TUTTI_OK);
    EXPECT_EQ(error.status, TUTTI_OK);
    EXPECT_STREQ(error.message, "");
    EXPECT_EQ(error.operation, nullptr);
}

// A sanitizer's own memory would be limited, too.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const bool MEMORY_CAN_BE_LIMITED = false;
#elif !defined(__has_feature)
const bool MEMORY_CAN_BE_LIMITED = true;
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
const bool MEMORY_CAN_BE_LIMITED = false;
#else
const bool MEMORY_CAN_BE_LIMITED = true;
#endif

// Ends the process with 0 if a list that is too long for the memory is refused for that reason.
void rank_without_memory(const Devices &list) {
    const rlimit nothing_more = {1, 1};
    setrlimit(RLIMIT_AS, &nothing_more);
    tutti_error error;
    int32_t rank = 77;
    const tutti_status status =
        tutti_group_rank(list.data(), list.size(), device(0), &rank, &error);
    const bool is_right = status == TUTTI_OUT_OF_MEMORY && rank == 77 &&
                          std::strstr(error.message, "no memory is left") != nullptr;
    std::_Exit(is_right ? 0 : 1);
}

TEST(GroupDeathTest, WithoutMemoryTheCallSaysSo) {
    if (!MEMORY_CAN_BE_LIMITED) GTEST_SKIP() << "a sanitizer needs memory of its own";
    const Devices list(size_t{1} << 22, device(0));
    EXPECT_EXIT(rank_without_memory(list), ::testing::ExitedWithCode(0), "");
}

} // namespace
