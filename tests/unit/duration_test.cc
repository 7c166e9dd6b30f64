// Durations as text.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tutti/fault.h"
#include "gtest/gtest.h"

namespace {

constexpr int64_t untouched = -77;

int64_t parsed(const std::string &text) {
    int64_t ns = untouched;
    EXPECT_EQ(TUTTI_OK, tutti_duration_parse(text.data(), text.size(), &ns)) << text;
    return ns;
}

tutti_status refusal_of(const std::string &text) {
    int64_t ns = untouched;
    const tutti_status status = tutti_duration_parse(text.data(), text.size(), &ns);
    EXPECT_EQ(untouched, ns) << text;
    return status;
}

std::string formatted(int64_t ns) {
    std::string text(tutti_duration_format(ns, nullptr, 0), '?');
    EXPECT_EQ(text.size(), tutti_duration_format(ns, &text[0], text.size() + 1));
    return text;
}

TEST(Duration, HasUnitsFromNanosecondsToHours) {
    EXPECT_EQ(7, parsed("7ns"));
    EXPECT_EQ(7000, parsed("7us"));
    EXPECT_EQ(7000000, parsed("7ms"));
    EXPECT_EQ(7000000000, parsed("7s"));
    EXPECT_EQ(420000000000, parsed("7m"));
    EXPECT_EQ(420000000000, parsed("7min"));
    EXPECT_EQ(25200000000000, parsed("7h"));
    EXPECT_EQ(0, parsed("0h"));
}

TEST(Duration, DecimalsAreExact) {
    EXPECT_EQ(1500000, parsed("1.5ms"));
    EXPECT_EQ(100, parsed("0.1us"));
    EXPECT_EQ(1, parsed("0.000000001s"));
    EXPECT_EQ(3, parsed("0.00000000005min"));
    EXPECT_EQ(9, parsed("0.0000000000025h"));
    EXPECT_EQ(1500000000, parsed("1.50000000000000000000000000000000000000s"));
    EXPECT_EQ(1000000001, parsed("00001.000000001s"));
}

TEST(Duration, BlanksAroundItsPartsAreIgnored) {
    EXPECT_EQ(5000000, parsed(" \t5 ms "));
}

TEST(Duration, OtherTextsAreRefused) {
    for (const char *text :
         {"",      " ",     "5",     "ms",    "5 ",      "-5ms",    "+5ms",
          "5.ms",  ".5ms",  "5,5ms", "5MS",   "5 sec",   "5ms 3ns", "1h30m",
          "0x5ms", "1e3ms", "5ms\n", "5\nms", "1.2.3ms", "inf",     "5\xC2\xB5s"}) {
        EXPECT_EQ(TUTTI_SYNTAX, refusal_of(text)) << text;
    }
    EXPECT_EQ(TUTTI_SYNTAX, refusal_of(std::string("5ms\0", 4)));
    EXPECT_EQ(TUTTI_SYNTAX, refusal_of(std::string(100000, '9')));
}

TEST(Duration, WhatNoNumberOfNanosecondsIsIsRefused) {
    for (const char *text : {"0.1ns", "0.0001us", "0.00000000001min", "0.33333333333333h",
                             "1.0000000000000000000000000001s"}) {
        EXPECT_EQ(TUTTI_INVALID_ARGUMENT, refusal_of(text)) << text;
    }
}

TEST(Duration, TheLongestIsAHundredYears) {
    EXPECT_EQ(TUTTI_DURATION_NS_MAX, parsed("876000h"));
    EXPECT_EQ(TUTTI_DURATION_NS_MAX, parsed("3153600000000000000ns"));
    EXPECT_EQ(TUTTI_DURATION_NS_MAX - 1, parsed("3153599999.999999999s"));
}

TEST(Duration, LongerOnesAreRefused) {
    for (const std::string &text :
         {std::string("3153600000000000001ns"), std::string("876000.0000000000025h"),
          std::string("876001h"), std::string("18446744073709551615ns"),
          std::string("18446744073709551616ns"), std::string("5124095576030432h"),
          std::string(100000, '9') + "ns"}) {
        EXPECT_EQ(TUTTI_INVALID_ARGUMENT, refusal_of(text)) << text.substr(0, 40);
    }
}

TEST(Duration, NothingIsReadBehindTheEnd) {
    const std::string text = " 1.5 ms";
    for (size_t bytes = 0; bytes <= text.size(); bytes++) {
        const std::vector<char> part(text.begin(), text.begin() + static_cast<long>(bytes));
        int64_t ns = untouched;
        EXPECT_EQ(bytes == text.size()       ? TUTTI_OK
                  : bytes == text.size() - 1 ? TUTTI_OK // minutes
                                             : TUTTI_SYNTAX,
                  tutti_duration_parse(part.data(), part.size(), &ns));
    }
    int64_t ns = untouched;
    EXPECT_EQ(TUTTI_INVALID_ARGUMENT, tutti_duration_parse(nullptr, 1, &ns));
    EXPECT_EQ(TUTTI_SYNTAX, tutti_duration_parse(nullptr, 0, &ns));
    EXPECT_EQ(TUTTI_INVALID_ARGUMENT, tutti_duration_parse("5ms", 3, nullptr));
}

TEST(Duration, IsWrittenInTheUnitThatSuitsIt) {
    const struct {
        int64_t ns;
        const char *text;
    } table[] = {
        {0, "0ns"},
        {999, "999ns"},
        {1000, "1us"},
        {1500, "1.5us"},
        {5000000, "5ms"},
        {5000001, "5.000001ms"},
        {1500000000, "1.5s"},
        {90000000000, "90s"},
        {60000000000, "1min"},
        {60000000001, "60.000000001s"},
        {1800000000000, "30min"},
        {5400000000000, "90min"},
        {3600000000000, "1h"},
        {TUTTI_DURATION_NS_MAX, "876000h"},
        {-1500000, "-1.5ms"},
        {INT64_MAX, "9223372036.854775807s"},
        {INT64_MIN, "-9223372036.854775808s"},
    };
    for (const auto &row : table) {
        EXPECT_EQ(row.text, formatted(row.ns));
    }
}

TEST(Duration, WhatIsWrittenReadsTheSame) {
    uint64_t word = 1;
    for (int i = 0; i < 20000; i++) {
        word = word * 6364136223846793005 + 1442695040888963407;
        const int64_t ns =
            static_cast<int64_t>((word >> 1) >> (word >> 58)) % (TUTTI_DURATION_NS_MAX + 1);
        EXPECT_EQ(ns, parsed(formatted(ns)));
    }
}

TEST(Duration, ShortBuffersGetTheBeginning) {
    char text[4] = "???";
    EXPECT_EQ(5U, tutti_duration_format(1500000, text, sizeof(text)));
    EXPECT_STREQ("1.5", text);
    EXPECT_EQ(5U, tutti_duration_format(1500000, text, 1));
    EXPECT_STREQ("", text);
}

} // namespace
