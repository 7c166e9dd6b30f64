// Whatever the text: the reader either accepts it, and what it gives is sound, or says where the
// first error is. Nothing crashes, leaks or reads outside of the text (run this with sanitizers).

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/script_support.h"

namespace {

const char whole_language[] = "ranks 6 # six\n"
                              "buffer x f32 8 = rank\n"
                              "buffer y f32 8 = 1 -2 3.5 inf nan 1e3, 7 0\n"
                              "buffer i i64 2 = -9223372036854775808 5\n"
                              "group pair = 0 1\n"
                              "group odd = 5 1-3 1\n"
                              "capacity 2\n"
                              "timeout 30s\n"
                              "first-use blocks\n"
                              "tolerate group-order\n"
                              "device 1 4-5 = 0\n"
                              "fault all_reduce[rank=2]=1*off->delay(5ms)\n"
                              "rank 0-2, 4\n"
                              "  buffer z bf16 8 = unset\n"
                              "  join world nonblocking\n"
                              "  sync world\n"
                              "  all_reduce x -> y sum in pair on s1\n"
                              "  all_reduce z[0:6] mean\n"
                              "  repeat 3\n"
                              "    start\n"
                              "      send x[1] to 1 on s2\n"
                              "      recv y from 0\n"
                              "    end\n"
                              "  end\n"
                              "rank 3 5\n"
                              "  buffer z f16 4\n"
                              "  kernel reads x, y[0:4] writes z on s1 for 3ms\n"
                              "  record e on s1\n"
                              "  wait e on s2\n"
                              "  poll s1\n"
                              "rank *\n"
                              "  split world color 1 key -2 as half\n"
                              "  shrink world without 2 as rest\n"
                              "  reduce x -> y sum root 0 in half\n"
                              "  host reads y writes x\n"
                              "  expect y = 6 6 6 6 6 6 6 6\n"
                              "  expect z[0:4] = 1\n"
                              "  free x\n"
                              "  sleep 5ms\n"
                              "  leave world\n"
                              "  exit\n"
                              "verdict mismatch culprit 1\n";

const char *const pieces[] = {
    "ranks",
    "rank",
    "*",
    "0",
    "1-3",
    "buffer",
    "f32",
    "bool",
    "=",
    "x",
    "y",
    "z",
    "pair",
    "world",
    "half",
    "sum",
    "->",
    "[",
    "]",
    ":",
    ",",
    "in",
    "on",
    "to",
    "from",
    "root",
    "start",
    "end",
    "repeat 2",
    "expect",
    "sync",
    "kernel",
    "reads",
    "writes",
    "for",
    "3ms",
    "-",
    "-1",
    "1e5",
    "1e999",
    "inf",
    "nan",
    "unset",
    "iota",
    "#",
    "\n",
    "\r\n",
    "\t",
    "\xff",
    "fault",
    "fault send=off",
    "verdict",
    "culprit",
    "ok",
    "race",
    "split",
    "as",
    "color",
    "none",
    "key",
    "without",
    "device",
    "99999999999999999999",
    "group",
    "send x to 1",
    "rank 4 0",
    "exit",
    "18446744073709551615",
};

class Mutator {
  public:
    explicit Mutator(uint32_t seed) : numbers_(seed) {}

    std::string mutate(std::string text) {
        for (size_t left = 1 + below(3); left > 0; left--)
            mutate_once(text);
        return text;
    }

  private:
    size_t below(size_t limit) {
        return limit == 0 ? 0 : numbers_() % limit;
    }

    void mutate_once(std::string &text) {
        const size_t at = below(text.size() + 1);
        const size_t length = std::min(text.size() - at, below(12));
        switch (below(7)) {
        case 0:
            text.erase(at, length);
            break;
        case 1:
            text.insert(at, 1, static_cast<char>(below(256)));
            break;
        case 2:
            if (at < text.size()) text[at] = static_cast<char>(below(256));
            break;
        case 3:
            text.insert(below(text.size() + 1), text.substr(at, length));
            break;
        case 4:
            replace_word(text, at);
            break;
        case 5:
            swap_lines(text);
            break;
        default:
            text.resize(at);
        }
    }

    void replace_word(std::string &text, size_t at) {
        const char *piece = pieces[below(sizeof pieces / sizeof pieces[0])];
        const size_t start = std::min(text.find_last_of(" \n", at) + 1, text.size());
        const size_t end = std::min(text.find_first_of(" \n", start), text.size());
        text.replace(start, end - start, piece);
    }

    void swap_lines(std::string &text) {
        std::vector<std::string> lines;
        for (size_t at = 0; at < text.size();) {
            const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
            lines.push_back(text.substr(at, end - at));
            at = end;
        }
        if (lines.empty()) return;
        std::swap(lines[below(lines.size())], lines[below(lines.size())]);
        text.clear();
        for (const std::string &line : lines)
            text += line;
    }

    std::mt19937 numbers_;
};

// --- What must hold for every script that is accepted ---

void check_set(const emu_script *script, const emu_rank_set &set) {
    int32_t last = -2, rank_count = 0;
    for (uint32_t i = 0; i < set.range_count; i++) {
        ASSERT_GT(set.ranges[i].first, last + 1);
        ASSERT_GE(set.ranges[i].last, set.ranges[i].first);
        last = set.ranges[i].last;
        rank_count += last - set.ranges[i].first + 1;
    }
    ASSERT_LT(last, script->rank_count);
    ASSERT_EQ(rank_count, set.rank_count);
}

void check_slice(const emu_script *script, const emu_script_slice &slice, int32_t rank) {
    ASSERT_LT(slice.name, script->buffer_name_count);
    const emu_script_buffer *buffer = emu_script_buffer_of(script, slice.name, rank);
    ASSERT_NE(buffer, nullptr);
    ASSERT_TRUE(emu_rank_set_has(&buffer->ranks, rank));
    const uint64_t count = emu_script_slice_count(script, &slice, rank);
    ASSERT_LE(slice.first, buffer->count);
    ASSERT_LE(count, buffer->count - slice.first);
}

void check_fill(const emu_script_fill &fill, uint64_t element_count) {
    if (fill.kind != EMU_SCRIPT_FILL_VALUES) {
        ASSERT_EQ(fill.value_count, 0u);
        return;
    }
    ASSERT_TRUE(fill.value_count == 1 || fill.value_count == element_count);
}

void check_block(const emu_script *script, const emu_script_section &section, uint32_t index) {
    const emu_script_statement &statement = script->statements[index];
    const bool start =
        statement.kind == EMU_SCRIPT_REPEAT || statement.kind == EMU_SCRIPT_GROUP_START;
    const bool end =
        statement.kind == EMU_SCRIPT_REPEAT_END || statement.kind == EMU_SCRIPT_GROUP_END;
    if (!start && !end) {
        ASSERT_EQ(statement.partner, EMU_SCRIPT_NONE);
        return;
    }
    ASSERT_GE(statement.partner, section.first_statement);
    ASSERT_LT(statement.partner, section.first_statement + section.statement_count);
    ASSERT_EQ(statement.partner > index, start);
    ASSERT_EQ(script->statements[statement.partner].partner, index);
    ASSERT_EQ(script->statements[statement.partner].loop, statement.loop);
    if (statement.kind == EMU_SCRIPT_REPEAT) {
        ASSERT_LT(statement.loop, script->loop_depth);
    }
}

void check_statement(const emu_script *script, const emu_script_section &section, uint32_t index) {
    const emu_script_statement &statement = script->statements[index];
    ASSERT_LT(statement.kind, EMU_SCRIPT_KIND_COUNT);
    ASSERT_GT(statement.line, section.line);
    ASSERT_GE(statement.column, 1);
    ASSERT_TRUE(statement.group < script->group_count || statement.group == EMU_SCRIPT_NONE);
    ASSERT_TRUE(statement.stream < script->stream_count || statement.stream == EMU_SCRIPT_NONE);
    ASSERT_TRUE(statement.event < script->event_count || statement.event == EMU_SCRIPT_NONE);
    ASSERT_LT(statement.peer, script->rank_count);
    ASSERT_GE(statement.duration_ns, 0);
    check_block(script, section, index);
    for (int32_t rank = 0; rank < script->rank_count; rank++) {
        if (!emu_rank_set_has(&section.ranks, rank)) continue;
        for (uint32_t i = 0; i < statement.read_count; i++)
            check_slice(script, statement.reads[i], rank);
        for (uint32_t i = 0; i < statement.write_count; i++)
            check_slice(script, statement.writes[i], rank);
        if (statement.expected)
            check_fill(*statement.expected,
                       emu_script_slice_count(script, &statement.reads[0], rank));
    }
}

void check_script(const emu_script *script) {
    ASSERT_GE(script->rank_count, 1);
    if (script->rank_count > 1000) return; // sound as well, but too slow to look at
    check_set(script, script->verdict.culprits);
    for (uint32_t i = 0; i < script->buffer_count; i++) {
        check_set(script, script->buffers[i].ranks);
        check_fill(script->buffers[i].fill, script->buffers[i].count);
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < script->section_count; i++) {
        const emu_script_section &section = script->sections[i];
        check_set(script, section.ranks);
        ASSERT_EQ(section.first_statement, next);
        next += section.statement_count;
        for (uint32_t s = section.first_statement; s < next; s++)
            check_statement(script, section, s);
    }
    ASSERT_EQ(next, script->statement_count);
}

// --- What must hold for every error ---

void check_error(const std::string &text, const Reading &reading) {
    ASSERT_EQ(reading.status, TUTTI_SYNTAX);
    ASSERT_EQ(reading.error.status, TUTTI_SYNTAX);
    const int32_t line_count = 1 + static_cast<int32_t>(std::count(text.begin(), text.end(), '\n'));
    ASSERT_GE(reading.error.place.line, 1);
    ASSERT_LE(reading.error.place.line, line_count);
    const std::string message = reading.error.message;
    const std::string place = "t.tut:" + std::to_string(reading.error.place.line) + ":";
    ASSERT_EQ(message.compare(0, place.size(), place), 0) << message;
    ASSERT_EQ(std::count(message.begin(), message.end(), '\n'), 2) << message;
    ASSERT_EQ(message.back(), '^') << message;
}

void check_text(const std::string &text) {
    const Reading reading = read_script(text);
    if (reading.status == TUTTI_OK)
        check_script(reading.script.get());
    else
        check_error(text, reading);
    if (::testing::Test::HasFatalFailure()) ADD_FAILURE() << "the text is:\n" << text;
}

TEST(ScriptMutations, TheUnchangedScriptIsAccepted) {
    const Reading reading = read_script(whole_language);
    ASSERT_EQ(reading.status, TUTTI_OK) << reading.error.message;
    check_script(reading.script.get());
}

TEST(ScriptMutations, ChangedScriptsAreReadOrRefused) {
    Mutator mutator(1);
    for (int i = 0; i < 20000 && !HasFatalFailure(); i++)
        check_text(mutator.mutate(whole_language));
}

TEST(ScriptMutations, ChangesOfChangesAreReadOrRefused) {
    Mutator mutator(2);
    std::string text = whole_language;
    for (int i = 0; i < 5000 && !HasFatalFailure(); i++) {
        const std::string changed = mutator.mutate(text);
        check_text(changed);
        // What is still a script is the next start, so that mutations pile up.
        if (changed.size() < 4000 && read_script(changed).status == TUTTI_OK) text = changed;
    }
}

TEST(ScriptMutations, EveryBeginningIsReadOrRefused) {
    const std::string text = whole_language;
    for (size_t bytes = 0; bytes <= text.size(); bytes++)
        check_text(text.substr(0, bytes));
}

TEST(ScriptMutations, SoupIsReadOrRefused) {
    std::mt19937 numbers(3);
    for (int i = 0; i < 5000; i++) {
        std::string text = numbers() % 4 ? "ranks 4\nbuffer x f32 8\nrank *\n" : "";
        for (uint32_t left = numbers() % 30; left > 0; left--) {
            text += pieces[numbers() % (sizeof pieces / sizeof pieces[0])];
            if (numbers() % 4) text += " ";
        }
        check_text(text);
    }
}

TEST(ScriptMutations, MemoryThatEndsAnywhereIsAnErrorAndLeavesNothing) {
    size_t refused = 0;
    for (size_t bytes = 0; bytes < 1000000; bytes += 97) {
        const Reading reading = read_script(whole_language, "t.tut", bytes);
        if (reading.status == TUTTI_OK) break;
        ASSERT_EQ(reading.status, TUTTI_OUT_OF_MEMORY);
        ASSERT_EQ(reading.script, nullptr);
        refused++;
    }
    EXPECT_GT(refused, 20u);
    EXPECT_LT(refused, 10000u);
}

} // namespace
