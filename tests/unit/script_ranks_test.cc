// Who runs what and who is who: sets of ranks, sections, members of groups, holders of buffers,
// each against a slow and obvious way to find out.

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/script_support.h"

namespace {

Script read(const std::string &text) {
    Reading reading = read_script(text);
    EXPECT_EQ(reading.status, TUTTI_OK) << reading.error.message;
    return std::move(reading.script);
}

TEST(ScriptRanks, SetsAreSortedAndJoined) {
    const struct {
        const char *written;
        const char *set;
        int32_t rank_count;
    } cases[] = {
        {"*", "0-9", 10},
        {"0", "0", 1},
        {"2 0", "0 2", 2},
        {"1-3", "1-3", 3},
        {"1-3 2-5", "1-5", 5},
        {"5 4 3", "3-5", 3},
        {"0 2 4, 6-7", "0 2 4 6-7", 5},
        {"9,9 9", "9", 1},
        {"3 *", "0-9", 10},
        {"0-8 3-4", "0-8", 9},
    };
    for (const auto &one : cases) {
        const Script script = read(std::string("ranks 10\nrank ") + one.written);
        EXPECT_EQ(set_text(script->sections[0].ranks), one.set) << one.written;
        EXPECT_EQ(script->sections[0].ranks.rank_count, one.rank_count) << one.written;
    }
}

TEST(ScriptRanks, AllOfAHundredThousandAreOneRange) {
    const Script script = read("ranks 100000\nbuffer x f32 1\nrank *\nall_reduce x sum");
    EXPECT_EQ(script->sections[0].ranks.range_count, 1u);
    EXPECT_EQ(script->buffer_names[0].holding_count, 1u);
    EXPECT_EQ(emu_script_next_section(script.get(), 99999, 0), 0u);
    EXPECT_EQ(emu_script_next_section(script.get(), 99999, 1), 1u);
}

// Ranks as a line lists them, and as a set.
std::string random_ranks(std::mt19937 &numbers, int rank_count, std::set<int> *members) {
    std::string text;
    const unsigned items = 1 + numbers() % 4;
    for (unsigned i = 0; i < items; i++) {
        const int first = static_cast<int>(numbers() % static_cast<unsigned>(rank_count));
        const int last =
            std::min(rank_count - 1, first + static_cast<int>(numbers() % 3 ? 0 : numbers() % 9));
        text += " " + std::to_string(first);
        if (last > first) text += "-" + std::to_string(last);
        for (int rank = first; rank <= last; rank++)
            members->insert(rank);
    }
    return text;
}

TEST(ScriptRanks, ARanksProgramIsEverySectionThatNamesItInOrder) {
    std::mt19937 numbers(1);
    for (int rank_count : {1, 2, 3, 5, 8, 31, 64, 100}) {
        std::string text = "ranks " + std::to_string(rank_count) + "\n";
        std::vector<std::set<int>> sections(40);
        for (auto &members : sections)
            text += "rank" + random_ranks(numbers, rank_count, &members) + "\n";
        const Script script = read(text);
        for (int rank = 0; rank < rank_count; rank++) {
            uint32_t found = emu_script_next_section(script.get(), rank, 0);
            for (uint32_t s = 0; s < sections.size(); s++) {
                const bool named = sections[s].count(rank) > 0;
                EXPECT_EQ(emu_rank_set_has(&script->sections[s].ranks, rank), named);
                if (!named) continue;
                EXPECT_EQ(found, s) << "rank " << rank << " of " << rank_count;
                found = emu_script_next_section(script.get(), rank, found + 1);
            }
            EXPECT_EQ(found, script->section_count);
        }
    }
}

TEST(ScriptRanks, SetsHaveNoRankOutsideOfThem) {
    const Script script = read("ranks 10\nrank 2-4 7");
    EXPECT_FALSE(emu_rank_set_has(&script->sections[0].ranks, -1));
    EXPECT_FALSE(emu_rank_set_has(&script->sections[0].ranks, 10));
    const emu_rank_set empty = {nullptr, 0, 0};
    EXPECT_FALSE(emu_rank_set_has(&empty, 0));
}

TEST(ScriptRanks, MembersOfAGroupAreNumberedAsListed) {
    const Script script = read("ranks 10\ngroup g = 7 0-2, 9 4-5");
    const uint32_t index = emu_script_group_find(script.get(), "g", 1);
    ASSERT_EQ(index, 1u);
    const emu_script_group *group = &script->groups[index];
    const int32_t listed[] = {7, 0, 1, 2, 9, 4, 5};
    EXPECT_EQ(group->rank_count, 7);
    EXPECT_EQ(group->repeated_rank, -1);
    EXPECT_FALSE(group->derived);
    for (int32_t i = 0; i < 7; i++) {
        EXPECT_EQ(emu_script_group_world_rank(group, i), listed[i]);
        EXPECT_EQ(emu_script_group_member(group, listed[i]), i);
    }
    for (int32_t outside : {-1, 3, 6, 8, 10})
        EXPECT_EQ(emu_script_group_member(group, outside), -1);
    EXPECT_EQ(emu_script_group_world_rank(group, -1), -1);
    EXPECT_EQ(emu_script_group_world_rank(group, 7), -1);
    EXPECT_EQ(emu_script_group_find(script.get(), "h", 1), EMU_SCRIPT_NONE);
    EXPECT_EQ(emu_script_group_find(script.get(), "world", 5), 0u);
}

TEST(ScriptRanks, ARankListedTwiceIsLeftToTheJoin) {
    const Script pair = read("ranks 2\ngroup pair = 0 0");
    EXPECT_EQ(pair->groups[1].rank_count, 2);
    EXPECT_EQ(pair->groups[1].repeated_rank, 0);
    EXPECT_EQ(emu_script_group_member(&pair->groups[1], 0), 0);
    EXPECT_EQ(emu_script_group_world_rank(&pair->groups[1], 1), 0);

    const Script overlap = read("ranks 9\ngroup g = 6 1-8 2-3 0");
    const emu_script_group *group = &overlap->groups[1];
    EXPECT_EQ(group->rank_count, 12);
    EXPECT_EQ(group->repeated_rank, 2);
    const int32_t members[] = {11, 1, 2, 3, 4, 5, 6, 7, 8};
    for (int32_t rank = 0; rank < 9; rank++)
        EXPECT_EQ(emu_script_group_member(group, rank), members[rank]) << rank;
}

TEST(ScriptRanks, BuffersMayDifferFromRankToRank) {
    const Script script = read("ranks 6\n"
                               "rank 4 1\n"
                               "buffer z bf16 8\n"
                               "rank 0 2-3\n"
                               "buffer z f32 6\n"
                               "rank 0-4\n"
                               "all_reduce z[0:6] sum\n");
    ASSERT_EQ(script->buffer_name_count, 1u);
    const int32_t buffers[] = {1, 0, 1, 1, 0, -1};
    for (int32_t rank = 0; rank < 6; rank++) {
        const emu_script_buffer *buffer = emu_script_buffer_of(script.get(), 0, rank);
        const emu_script_buffer *wanted =
            buffers[rank] < 0 ? nullptr : &script->buffers[buffers[rank]];
        EXPECT_EQ(buffer, wanted) << rank;
    }
    const emu_script_slice whole = {0, 0, EMU_SCRIPT_WHOLE};
    EXPECT_EQ(emu_script_slice_count(script.get(), &whole, 1), 8u);
    EXPECT_EQ(emu_script_slice_count(script.get(), &whole, 2), 6u);
    EXPECT_EQ(emu_script_slice_count(script.get(), script->statements[0].reads, 1), 6u);
    EXPECT_EQ(set_text(script->buffers[0].ranks), "1 4");
}

TEST(ScriptRanks, HoldersAreFoundWhateverTheOrderOfTheirLines) {
    std::mt19937 numbers(2);
    for (int round = 0; round < 50; round++) {
        const int rank_count = 40;
        std::vector<int> owner(rank_count, -1);
        std::string text = "ranks " + std::to_string(rank_count) + "\n";
        int declared = 0;
        for (int section = 0; section < 12; section++) {
            std::set<int> members;
            const std::string ranks = random_ranks(numbers, rank_count, &members);
            bool free = true;
            for (int rank : members)
                free = free && owner[static_cast<size_t>(rank)] < 0;
            if (!free) continue;
            for (int rank : members)
                owner[static_cast<size_t>(rank)] = declared;
            text += "rank" + ranks + "\nbuffer b f32 " + std::to_string(++declared) + "\n";
        }
        const Script script = read(text);
        for (int rank = 0; rank < rank_count; rank++) {
            const emu_script_buffer *buffer = emu_script_buffer_of(script.get(), 0, rank);
            const int found = buffer ? static_cast<int>(buffer->count) - 1 : -1;
            EXPECT_EQ(found, owner[static_cast<size_t>(rank)]) << text << "rank " << rank;
        }
    }
}

} // namespace
