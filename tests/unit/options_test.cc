// Options of callers that were compiled against an older or a later version.
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

extern "C" {
#include "src/arguments.h"
}

namespace {

tutti_join_options join_options(uint32_t struct_size) {
    return {struct_size, 1, 5000, "pair"};
}

std::string join_refusal(const tutti_join_options *options) {
    tutti_join_options full = {1, 2, 3, "untouched"};
    tutti_error error = {};
    EXPECT_EQ(tutti_complete_join_options(options, &full, &error), TUTTI_INVALID_ARGUMENT);
    EXPECT_STREQ(full.name, "untouched");
    return error.message;
}

TEST(JoinOptions, NullMeansTheDefaults) {
    tutti_join_options full = {1, 2, 3, "old"};
    EXPECT_EQ(tutti_complete_join_options(nullptr, &full, nullptr), TUTTI_OK);
    EXPECT_EQ(full.struct_size, sizeof(full));
    EXPECT_EQ(full.non_blocking, 0u);
    EXPECT_EQ(full.timeout_ns, 0);
    EXPECT_EQ(full.name, nullptr);
}

TEST(JoinOptions, AreTakenInFull) {
    const tutti_join_options options = join_options(sizeof(options));
    tutti_join_options full;
    EXPECT_EQ(tutti_complete_join_options(&options, &full, nullptr), TUTTI_OK);
    EXPECT_EQ(full.struct_size, sizeof(full));
    EXPECT_EQ(full.non_blocking, 1u);
    EXPECT_EQ(full.timeout_ns, 5000);
    EXPECT_STREQ(full.name, "pair");
}

TEST(JoinOptions, FieldsBeyondAnOlderVersionAreDefaults) {
    const tutti_join_options options = join_options(offsetof(tutti_join_options, timeout_ns));
    tutti_join_options full;
    EXPECT_EQ(tutti_complete_join_options(&options, &full, nullptr), TUTTI_OK);
    EXPECT_EQ(full.struct_size, sizeof(full));
    EXPECT_EQ(full.non_blocking, 1u);
    EXPECT_EQ(full.timeout_ns, 0);
    EXPECT_EQ(full.name, nullptr);
}

TEST(JoinOptions, AnOlderStructIsNotReadBeyondItsEnd) {
    const size_t bytes = offsetof(tutti_join_options, timeout_ns);
    auto *exact = static_cast<uint32_t *>(std::malloc(bytes)); // a sanitizer guards its end
    ASSERT_NE(exact, nullptr);
    exact[0] = static_cast<uint32_t>(bytes);
    exact[1] = 0;
    tutti_join_options full;
    EXPECT_EQ(
        tutti_complete_join_options(reinterpret_cast<tutti_join_options *>(exact), &full, nullptr),
        TUTTI_OK);
    std::free(exact);
}

struct LaterOptions {
    tutti_join_options known;
    uint64_t unknown[2];
};

TEST(JoinOptions, UnknownFieldsOfALaterVersionMayBeZeroOnly) {
    LaterOptions later = {join_options(sizeof(LaterOptions)), {0, 0}};
    tutti_join_options full;
    EXPECT_EQ(tutti_complete_join_options(&later.known, &full, nullptr), TUTTI_OK);
    EXPECT_EQ(full.struct_size, sizeof(full));
    EXPECT_EQ(full.timeout_ns, 5000);
    later.unknown[1] = 1;
    EXPECT_EQ(join_refusal(&later.known),
              "options has a value at byte 32, behind the 24 bytes of tutti_join_options that this "
              "version knows: leave fields of later versions 0");
}

TEST(JoinOptions, ASizeThatNoVersionHadIsRefused) {
    for (const uint32_t bytes : {0u, 4u, 12u, 23u, 5000u, 0xFFFFFFF8u}) {
        const tutti_join_options options = join_options(bytes);
        EXPECT_EQ(join_refusal(&options), "options->struct_size is " + std::to_string(bytes) +
                                              ": set it to sizeof(tutti_join_options), which is "
                                              "24 here");
    }
}

TEST(JoinOptions, ValuesThatMeanNothingAreRefused) {
    tutti_join_options options = join_options(sizeof(options));
    options.non_blocking = 2;
    EXPECT_EQ(join_refusal(&options), "options->non_blocking is 2: it is 0 or 1");
    options = join_options(sizeof(options));
    options.timeout_ns = -5;
    EXPECT_EQ(join_refusal(&options), "options->timeout_ns is -5: it is a number of nanoseconds, "
                                      "or 0 for the driver's own limit");
}

TEST(StreamOptions, NullMeansTheDefaults) {
    tutti_stream_options full = {1, 2, 3, "old"};
    EXPECT_EQ(tutti_complete_stream_options(nullptr, &full, nullptr), TUTTI_OK);
    EXPECT_EQ(full.struct_size, sizeof(full));
    EXPECT_EQ(full.flags, static_cast<uint32_t>(TUTTI_STREAM_DEFAULT));
    EXPECT_EQ(full.priority, 0);
    EXPECT_EQ(full.name, nullptr);
}

TEST(StreamOptions, AreTakenInFull) {
    const tutti_stream_options options = {sizeof(options), TUTTI_STREAM_NON_BLOCKING, -2, "comm"};
    tutti_stream_options full;
    EXPECT_EQ(tutti_complete_stream_options(&options, &full, nullptr), TUTTI_OK);
    EXPECT_EQ(full.flags, static_cast<uint32_t>(TUTTI_STREAM_NON_BLOCKING));
    EXPECT_EQ(full.priority, -2);
    EXPECT_STREQ(full.name, "comm");
}

TEST(StreamOptions, AnUnknownFlagIsRefused) {
    const tutti_stream_options options = {sizeof(options), 6, 0, nullptr};
    tutti_stream_options full = {1, 2, 3, "untouched"};
    tutti_error error = {};
    EXPECT_EQ(tutti_complete_stream_options(&options, &full, &error), TUTTI_INVALID_ARGUMENT);
    EXPECT_STREQ(error.message,
                 "options->flags is 6: the one flag there is, TUTTI_STREAM_NON_BLOCKING, is 1");
    EXPECT_STREQ(full.name, "untouched");
}

} // namespace
