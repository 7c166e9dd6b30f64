// What an error can tell: names and texts of statuses, messages, the chain of causes.
#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "tests/unit/odd_values.h"
#include "tutti/status.h"
#include "gtest/gtest.h"

namespace {

const tutti_status ALL[] = {
#define ALL_ENTRY(name, value, text, description) TUTTI_##name,
    TUTTI_STATUS_LIST(ALL_ENTRY)
#undef ALL_ENTRY
};

// A value that the list leaves free.
const tutti_status NO_STATUS = static_cast<tutti_status>(29);

tutti_error fresh() {
    tutti_error error;
    std::memset(&error, 0xA5, sizeof(error)); // as on a stack: everything must be set
    tutti_error_clear(&error);
    return error;
}

std::string format(const tutti_error *error) {
    char text[4096];
    const size_t length = tutti_error_format(error, text, sizeof(text));
    EXPECT_EQ(length, std::strlen(text));
    return text;
}

// row 71
TEST(Status, EveryStatusHasANameAndATextOfItsOwn) {
    std::set<std::string> names, texts;
    for (const tutti_status status : ALL) {
        EXPECT_STRNE(tutti_status_name(status), "unknown");
        EXPECT_GT(std::strlen(tutti_status_text(status)), 10u);
        EXPECT_TRUE(names.insert(tutti_status_name(status)).second) << tutti_status_name(status);
        EXPECT_TRUE(texts.insert(tutti_status_text(status)).second) << tutti_status_text(status);
    }
}

TEST(Status, ValuesAreThoseThatWereReleased) {
    EXPECT_EQ(TUTTI_OK, 0);
    EXPECT_EQ(TUTTI_INVALID_ARGUMENT, 1);
    EXPECT_EQ(TUTTI_UNSUPPORTED, 3);
    EXPECT_EQ(TUTTI_IN_PROGRESS, 10);
    EXPECT_EQ(TUTTI_REFUSED, 11);
    EXPECT_EQ(TUTTI_UNRESPONSIVE, 22);
    EXPECT_EQ(TUTTI_INTERNAL, 30);
}

TEST(Status, AValueOutsideOfTheListSaysSo) {
    EXPECT_STREQ(tutti_status_name(NO_STATUS), "unknown");
    for (const int value : {5, 9, 31, 1000, -1})
        EXPECT_STREQ(odd_status_name(value), "unknown");
    EXPECT_NE(std::string(tutti_status_text(NO_STATUS)).find("not the value"), std::string::npos);
}

TEST(Status, EveryNameIsFoundAgain) {
    for (const tutti_status status : ALL) {
        const char *name = tutti_status_name(status);
        tutti_status found = NO_STATUS;
        EXPECT_EQ(tutti_status_parse(name, std::strlen(name), &found), TUTTI_OK);
        EXPECT_EQ(found, status) << name;
    }
}

TEST(Status, AnUnknownNameLeavesTheOutputAlone) {
    for (const char *name : {"", "refuse", "refusedx", "REFUSED", "unknown"}) {
        tutti_status found = TUTTI_DEVICE;
        EXPECT_EQ(tutti_status_parse(name, std::strlen(name), &found), TUTTI_INVALID_ARGUMENT);
        EXPECT_EQ(found, TUTTI_DEVICE) << name;
    }
    tutti_status found = TUTTI_DEVICE;
    EXPECT_EQ(tutti_status_parse(nullptr, 0, &found), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(tutti_status_parse("ok", 2, nullptr), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(tutti_status_parse("okay", 2, &found), TUTTI_OK) << "only name_bytes are read";
}

TEST(ErrorClear, EmptiesEverything) {
    const tutti_error error = fresh();
    EXPECT_EQ(error.status, TUTTI_OK);
    EXPECT_EQ(error.rank, -1);
    EXPECT_EQ(error.operation, nullptr);
    EXPECT_EQ(error.place.file, nullptr);
    EXPECT_EQ(error.place.line, 0);
    EXPECT_EQ(error.native_domain, nullptr);
    EXPECT_EQ(error.native_code, 0);
    EXPECT_EQ(error.cause_count, 0u);
    EXPECT_STREQ(error.message, "");
    tutti_error_clear(nullptr);
}

TEST(ErrorSet, ReturnsTheStatusAndKeepsTheCircumstances) {
    tutti_error error = fresh();
    error.rank = 3;
    error.operation = "all_reduce";
    error.place = {"train.c", 12};
    error.native_domain = "nccl";
    error.native_code = 5;
    tutti_error_set(&error, TUTTI_DEVICE, "first");
    tutti_error_wrap(&error, TUTTI_REMOTE, "second");
    EXPECT_EQ(tutti_error_set(&error, TUTTI_REFUSED, "rank %d is %s", 3, "busy"), TUTTI_REFUSED);
    EXPECT_EQ(error.status, TUTTI_REFUSED);
    EXPECT_STREQ(error.message, "rank 3 is busy");
    EXPECT_EQ(error.cause_count, 0u);
    EXPECT_EQ(error.rank, 3);
    EXPECT_STREQ(error.operation, "all_reduce");
    EXPECT_EQ(error.place.line, 12);
    EXPECT_EQ(error.native_code, 5);
}

TEST(ErrorSet, AcceptsNull) {
    EXPECT_EQ(tutti_error_set(nullptr, TUTTI_REFUSED, "rank %d", 3), TUTTI_REFUSED);
    EXPECT_EQ(tutti_error_wrap(nullptr, TUTTI_REMOTE, "rank %d", 3), TUTTI_REMOTE);
}

TEST(ErrorSet, AMessageMayBeMadeOfTheOldOne) {
    tutti_error error = fresh();
    tutti_error_set(&error, TUTTI_REFUSED, "rank 3 is busy");
    tutti_error_set(&error, TUTTI_REFUSED, "again: %s", error.message);
    EXPECT_STREQ(error.message, "again: rank 3 is busy");
    tutti_error_wrap(&error, TUTTI_REMOTE, "while joining: %s", error.message);
    EXPECT_STREQ(error.message, "while joining: again: rank 3 is busy");
    EXPECT_STREQ(error.causes[0].message, "again: rank 3 is busy");
}

TEST(ErrorSet, LongMessagesAreCut) {
    tutti_error error = fresh();
    const std::string text(2000, 'x');
    tutti_error_set(&error, TUTTI_SYSTEM, "%s", text.c_str());
    EXPECT_EQ(std::strlen(error.message), size_t{TUTTI_ERROR_MESSAGE_BYTES - 1});
    tutti_error_wrap(&error, TUTTI_REMOTE, "%s", text.c_str());
    EXPECT_EQ(std::strlen(error.causes[0].message), size_t{TUTTI_CAUSE_MESSAGE_BYTES - 1});
}

TEST(ErrorSet, ACutSplitsNoCharacter) {
    // At each offset, so that the cut falls on every byte of a character of 2, 3 and 4 bytes.
    for (const std::string character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
        for (size_t before = 0; before < 5; before++) {
            std::string text(before, 'x');
            while (text.size() < 1000)
                text += character;
            tutti_error error = fresh();
            tutti_error_set(&error, TUTTI_SYSTEM, "%s", text.c_str());
            const size_t length = std::strlen(error.message);
            EXPECT_EQ((length - before) % character.size(), 0u) << before;
            EXPECT_GE(length + character.size(), size_t{TUTTI_ERROR_MESSAGE_BYTES});
        }
    }
    const std::string broken(1000, '\x80'); // no UTF-8: cut somewhere near the end
    tutti_error error = fresh();
    tutti_error_set(&error, TUTTI_SYSTEM, "%s", broken.c_str());
    EXPECT_GE(std::strlen(error.message), size_t{TUTTI_ERROR_MESSAGE_BYTES - 4});
}

TEST(ErrorWrap, WhatFailedBecomesTheCause) {
    tutti_error error = fresh();
    tutti_error_set(&error, TUTTI_REFUSED, "rank 1 is busy");
    EXPECT_EQ(tutti_error_wrap(&error, TUTTI_MISSING, "rank 0 joins"), TUTTI_MISSING);
    EXPECT_EQ(error.status, TUTTI_MISSING);
    EXPECT_STREQ(error.message, "rank 0 joins");
    ASSERT_EQ(error.cause_count, 1u);
    EXPECT_EQ(error.causes[0].status, TUTTI_REFUSED);
    EXPECT_STREQ(error.causes[0].message, "rank 1 is busy");
}

TEST(ErrorWrap, AnEmptyErrorIsNoCause) {
    tutti_error error = fresh();
    tutti_error_wrap(&error, TUTTI_MISSING, "rank 0 joins");
    EXPECT_EQ(error.status, TUTTI_MISSING);
    EXPECT_EQ(error.cause_count, 0u);
}

TEST(ErrorWrap, ALongChainKeepsTheNearestAndTheRoot) {
    tutti_error error = fresh();
    tutti_error_set(&error, TUTTI_REFUSED, "0");
    for (const char *message : {"1", "2", "3", "4", "5", "6"}) {
        tutti_error_wrap(&error, TUTTI_REMOTE, "%s", message);
    }
    ASSERT_EQ(error.cause_count, uint32_t{TUTTI_ERROR_CAUSES_MAX});
    EXPECT_STREQ(error.message, "6");
    EXPECT_STREQ(error.causes[0].message, "5");
    EXPECT_STREQ(error.causes[1].message, "4");
    EXPECT_STREQ(error.causes[2].message, "3");
    EXPECT_STREQ(error.causes[3].message, "0");
    EXPECT_TRUE(tutti_error_has(&error, TUTTI_REFUSED));
}

// row 72
TEST(ErrorHas, AsksTheWholeChain) {
    const struct {
        std::initializer_list<tutti_status> chain; // root first
        int is_refusal;
    } cases[] = {
        {{}, 0},
        {{TUTTI_REFUSED}, 1},
        {{TUTTI_REMOTE}, 0},
        {{TUTTI_REFUSED, TUTTI_REMOTE}, 1},
        {{TUTTI_REMOTE, TUTTI_REFUSED}, 1},
        {{TUTTI_DEVICE, TUTTI_REMOTE, TUTTI_MISSING}, 0},
        {{TUTTI_REFUSED, TUTTI_MISSING, TUTTI_REMOTE, TUTTI_ABORTED, TUTTI_SYSTEM}, 1},
        {{TUTTI_REFUSED, TUTTI_MISSING, TUTTI_REMOTE, TUTTI_ABORTED, TUTTI_SYSTEM, TUTTI_KILLED},
         1},
    };
    for (const auto &one : cases) {
        tutti_error error = fresh();
        for (const tutti_status status : one.chain)
            tutti_error_wrap(&error, status, "why");
        EXPECT_EQ(tutti_error_has(&error, TUTTI_REFUSED), one.is_refusal) << format(&error);
    }
}

// row 72
TEST(ErrorHas, AnEmptyChainAndNullHaveOnlyTheStatus) {
    const tutti_error error = fresh();
    EXPECT_TRUE(tutti_error_has(&error, TUTTI_OK));
    EXPECT_FALSE(tutti_error_has(&error, TUTTI_REFUSED));
    EXPECT_TRUE(tutti_error_has(nullptr, TUTTI_OK));
    EXPECT_FALSE(tutti_error_has(nullptr, TUTTI_REFUSED));
}

TEST(ErrorHas, AnImpossibleNumberOfCausesIsBounded) {
    tutti_error error = fresh();
    for (int i = 0; i < 8; i++)
        tutti_error_wrap(&error, TUTTI_REMOTE, "%d", i);
    error.cause_count = 4'000'000'000u;
    EXPECT_FALSE(tutti_error_has(&error, TUTTI_KILLED));
    EXPECT_NE(format(&error).find("caused by"), std::string::npos);
    tutti_error_wrap(&error, TUTTI_ABORTED, "and on");
    EXPECT_EQ(error.cause_count, uint32_t{TUTTI_ERROR_CAUSES_MAX});
}

// row 71
TEST(ErrorFormat, PrintsTheChainALineEach) {
    tutti_error error = fresh();
    tutti_error_set(&error, TUTTI_DEVICE, "rank 2: the card fell off the bus");
    tutti_error_wrap(&error, TUTTI_REMOTE, "rank 2 failed");
    tutti_error_wrap(&error, TUTTI_ABORTED, "all_reduce gave up");
    EXPECT_EQ(format(&error), "aborted: all_reduce gave up\n"
                              "  caused by remote: rank 2 failed\n"
                              "  caused by device: rank 2: the card fell off the bus");
}

TEST(ErrorFormat, SaysWhatIsKnownOfTheCall) {
    tutti_error error = fresh();
    tutti_error_set(&error, TUTTI_REFUSED, "busy");
    EXPECT_EQ(format(&error), "refused: busy");
    error.rank = 0;
    EXPECT_EQ(format(&error), "refused: busy [rank 0]");
    error.operation = "join";
    error.place = {"train.c", 12};
    error.native_domain = "nccl";
    error.native_code = -5;
    EXPECT_EQ(format(&error), "refused: busy [join, rank 0, train.c:12, nccl -5]");
}

TEST(ErrorFormat, AnErrorWithoutMessageGetsTheStatusText) {
    tutti_error error = fresh();
    EXPECT_EQ(format(&error), "ok: the call did what it says");
    EXPECT_EQ(format(nullptr), "ok: the call did what it says");
    error.status = TUTTI_REMOTE;
    EXPECT_EQ(format(&error), "remote: another member failed");
}

TEST(ErrorFormat, ASmallBufferIsCutAndTheLengthIsTold) {
    tutti_error error = fresh();
    tutti_error_set(&error, TUTTI_REFUSED, "busy");
    const std::string whole = format(&error);
    for (size_t bytes = 0; bytes <= whole.size() + 2; bytes++) {
        std::string text(whole.size() + 4, '#');
        EXPECT_EQ(tutti_error_format(&error, &text[0], bytes), whole.size());
        const size_t kept = bytes == 0 ? 0 : std::min(bytes - 1, whole.size());
        EXPECT_EQ(text.substr(0, kept), whole.substr(0, kept));
        if (bytes > 0) {
            EXPECT_EQ(text[kept], '\0');
        }
        EXPECT_EQ(text.find_first_not_of('#', bytes), std::string::npos) << "wrote too far";
    }
    EXPECT_EQ(tutti_error_format(&error, nullptr, 100), whole.size());
}

} // namespace
