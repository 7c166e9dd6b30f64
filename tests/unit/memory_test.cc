// What was freed is seen to be freed: its address is not given out again at once.

#include "tests/unit/rehearsal_support.h"

namespace {

tutti_buffer allocate(tutti_rank *self, size_t bytes) {
    tutti_buffer buffer{};
    EXPECT_EQ(tutti_memory_allocate(tutti_rank_device(self), bytes, &buffer, nullptr), TUTTI_OK);
    return buffer;
}

TEST(FreedMemory, IsNotGivenOutAgainRightAway) {
    const Report report = rehearse(options_for(1), [](tutti_rank *self) {
        for (int i = 0; i < 100; i++) {
            const tutti_buffer first = allocate(self, 4096);
            ASSERT_EQ(tutti_memory_free(tutti_rank_device(self), first, nullptr), TUTTI_OK);
            const tutti_buffer second = allocate(self, 4096);
            EXPECT_NE(first.data, second.data);
            ASSERT_EQ(tutti_memory_free(tutti_rank_device(self), second, nullptr), TUTTI_OK);
        }
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

TEST(FreedMemory, CannotBeCopied) {
    const Report report = rehearse(options_for(1), [](tutti_rank *self) {
        const tutti_buffer freed = allocate(self, 64);
        const tutti_buffer kept = allocate(self, 64);
        tutti_stream *stream = nullptr;
        tutti_error error;
        ASSERT_EQ(tutti_stream_create(tutti_rank_device(self), nullptr, &stream, nullptr),
                  TUTTI_OK);
        ASSERT_EQ(tutti_memory_free(tutti_rank_device(self), freed, nullptr), TUTTI_OK);
        EXPECT_NE(tutti_copy_on_device(kept, freed, 64, stream, &error), TUTTI_OK);
        EXPECT_NE(std::string(error.message).find("freed"), std::string::npos) << error.message;
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_FREED) << text_of(report.get());
}

// More than is kept: the oldest are let go, and nothing grows without end.
TEST(FreedMemory, IsKeptForAWhileOnly) {
    const Report report = rehearse(options_for(1), [](tutti_rank *self) {
        for (int i = 0; i < 20000; i++)
            ASSERT_EQ(tutti_memory_free(tutti_rank_device(self), allocate(self, 8), nullptr),
                      TUTTI_OK);
        for (int i = 0; i < 40; i++)
            ASSERT_EQ(tutti_memory_free(tutti_rank_device(self), allocate(self, 16 << 20), nullptr),
                      TUTTI_OK);
    });
    EXPECT_EQ(report->verdict, TUTTI_VERDICT_OK) << text_of(report.get());
}

} // namespace
