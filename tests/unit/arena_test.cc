#include "drivers/emu/arena.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

TEST(Arena, PiecesAreZeroAlignedAndApart) {
    emu_arena arena;
    emu_arena_init(&arena, SIZE_MAX);
    std::vector<unsigned char *> pieces;
    for (size_t bytes = 1; bytes < 3000; bytes += 7) {
        auto *piece = static_cast<unsigned char *>(emu_arena_alloc(&arena, bytes, 1));
        ASSERT_NE(piece, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % alignof(std::max_align_t), 0u);
        for (size_t i = 0; i < bytes; i++)
            ASSERT_EQ(piece[i], 0);
        memset(piece, static_cast<int>(pieces.size() % 251 + 1), bytes);
        pieces.push_back(piece);
    }
    for (size_t n = 0; n < pieces.size(); n++)
        for (size_t i = 0; i < 1 + 7 * n; i++)
            ASSERT_EQ(pieces[n][i], n % 251 + 1);
    emu_arena_free(&arena);
}

TEST(Arena, LargePiecesGetTheirRoom) {
    emu_arena arena;
    emu_arena_init(&arena, SIZE_MAX);
    void *large = emu_arena_alloc(&arena, 3, 5000000);
    ASSERT_NE(large, nullptr);
    memset(large, 1, 15000000);
    EXPECT_NE(emu_arena_alloc(&arena, 1, 8), nullptr);
    EXPECT_EQ(emu_arena_alloc(&arena, SIZE_MAX, 1), nullptr);
    EXPECT_EQ(emu_arena_alloc(&arena, SIZE_MAX / 8, 16), nullptr);
    emu_arena_free(&arena);
}

TEST(Arena, NothingIsAPieceToo) {
    emu_arena arena;
    emu_arena_init(&arena, SIZE_MAX);
    EXPECT_NE(emu_arena_alloc(&arena, 0, 16), nullptr);
    EXPECT_NE(emu_arena_copy(&arena, nullptr, 0, 16), nullptr);
    EXPECT_STREQ(emu_arena_text(&arena, nullptr, 0), "");
    emu_arena_free(&arena);
    emu_arena_free(&arena);
}

TEST(Arena, TheLimitIsKept) {
    emu_arena arena;
    emu_arena_init(&arena, 10000);
    size_t bytes = 0;
    while (emu_arena_alloc(&arena, 1, 100))
        bytes += 100;
    EXPECT_GT(bytes, 3500u);
    EXPECT_LE(bytes, 10000u);
    emu_arena_free(&arena);
    emu_arena_init(&arena, 0);
    EXPECT_EQ(emu_arena_alloc(&arena, 1, 1), nullptr);
    emu_arena_free(&arena);
}

TEST(Arena, TextsAreCopiedWithTheirEnd) {
    emu_arena arena;
    emu_arena_init(&arena, SIZE_MAX);
    EXPECT_STREQ(emu_arena_text(&arena, "overture", 4), "over");
    emu_arena_free(&arena);
}

TEST(Arena, GrowingArraysKeepTheirItems) {
    emu_arena arena;
    emu_arena_init(&arena, SIZE_MAX);
    uint32_t *items = nullptr;
    uint32_t capacity = 0;
    for (uint32_t count = 0; count < 1000; count++) {
        items =
            static_cast<uint32_t *>(emu_arena_grow(&arena, items, count, &capacity, sizeof *items));
        ASSERT_NE(items, nullptr);
        ASSERT_GT(capacity, count);
        items[count] = count;
    }
    for (uint32_t i = 0; i < 1000; i++)
        ASSERT_EQ(items[i], i);
    emu_arena_free(&arena);
}

TEST(Arena, AnArrayThatCannotGrowStaysAsItIs) {
    emu_arena arena;
    emu_arena_init(&arena, 0);
    uint32_t capacity = 0;
    EXPECT_EQ(emu_arena_grow(&arena, nullptr, 0, &capacity, 4), nullptr);
    EXPECT_EQ(capacity, 0u);
    emu_arena_free(&arena);
}

} // namespace
