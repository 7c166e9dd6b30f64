// How an error shows its place, and what is too much for a script.

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/script_support.h"

namespace {

TEST(ScriptPlaces, TheLineIsShownWithACaretBelow) {
    EXPECT_EQ(parse_error("ranks 2\nbuffer x f32 8\nrank *\n  all_reduce x add # never\nexit"),
              "t.tut:4:16: expected a reduction (sum, mean, prod, min or max), found 'add'\n"
              "  all_reduce x add # never\n"
              "               ^");
}

TEST(ScriptPlaces, TheEndOfALineAndOfAFileArePlaces) {
    EXPECT_EQ(parse_error("ranks   "),
              "t.tut:1:9: expected the number of ranks, found end of line\n"
              "ranks   \n"
              "        ^");
    EXPECT_EQ(parse_error("ranks 1\nrank 0\nstart\n"),
              "t.tut:4:1: expected 'end' for the 'start' of line 3, found end of file\n"
              "\n"
              "^");
}

TEST(ScriptPlaces, ATabIsOneColumnAndOtherBytesDoNotMoveTheCaret) {
    EXPECT_EQ(parse_error("ranks 1\n\t\trank\t7 # \xC3\xA9\x01\r\n"),
              "t.tut:2:8: rank 7 is outside of 0 to 0\n"
              "  rank 7 # ???\n"
              "       ^");
}

TEST(ScriptPlaces, TheByteOrderMarkIsNoColumn) {
    EXPECT_EQ(parse_error("\xEF\xBB\xBFranks"),
              "t.tut:1:6: expected the number of ranks, found end of line\n"
              "ranks\n"
              "     ^");
}

TEST(ScriptPlaces, OfALongLineThePartAroundThePlaceIsShown) {
    const std::string blanks(200, ' ');
    EXPECT_EQ(parse_error("ranks " + blanks + "x" + blanks + "#"),
              "t.tut:1:207: expected the number of ranks, found 'x'\n"
              "...                                   x                                  ...\n"
              "                                      ^");
    EXPECT_EQ(parse_error("x" + blanks + "#"),
              "t.tut:1:1: expected 'ranks' and their number, before all else, found 'x'\n"
              "x                                                                        ...\n"
              "^");
    EXPECT_EQ(parse_error("ranks" + blanks),
              "t.tut:1:206: expected the number of ranks, found end of line\n"
              "...                                                                         \n" +
                  std::string(76, ' ') + "^");
}

TEST(ScriptPlaces, LongWordsAndFileNamesAreCut) {
    const std::string word(100, 'w');
    EXPECT_EQ(first_line(parse_error("ranks 1\n" + word)),
              "t.tut:2:1: expected a statement, found '" + word.substr(0, 40) + "...'");
    const std::string file(300, 'f');
    const std::string message = parse_error("ranks", file.c_str());
    EXPECT_EQ(message, "..." + file.substr(0, 117) +
                           ":1:6: expected the number of ranks, found end of line\n"
                           "ranks\n"
                           "     ^");
}

TEST(ScriptPlaces, NoMessageIsCutAtItsEnd) {
    const std::string file(300, 'f');
    const std::string message = parse_error(
        "ranks 2\n" + std::string(30000, ' ') + "verdict " + std::string(300, 'v'), file.c_str());
    EXPECT_EQ(message.back(), '^');
    EXPECT_LT(message.size(), static_cast<size_t>(TUTTI_ERROR_MESSAGE_BYTES));
    EXPECT_NE(message.find("leak or divergence, found 'vvvv"), std::string::npos) << message;
}

TEST(ScriptPlaces, AnErrorHasStatusAndPlace) {
    static const char file[] = "place.tut";
    static const char text[] = "ranks 2\nrank *\n  syn";
    emu_script *script = nullptr;
    tutti_error error;
    EXPECT_EQ(emu_script_parse(text, strlen(text), file, &script, &error), TUTTI_SYNTAX);
    EXPECT_EQ(script, nullptr);
    EXPECT_EQ(error.status, TUTTI_SYNTAX);
    EXPECT_EQ(error.place.file, file);
    EXPECT_EQ(error.place.line, 3);
    EXPECT_EQ(error.rank, -1);
    EXPECT_EQ(error.cause_count, 0u);
    EXPECT_EQ(emu_script_parse(text, strlen(text), nullptr, &script, nullptr), TUTTI_SYNTAX);
    EXPECT_EQ(emu_script_parse(nullptr, 5, file, &script, &error), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(emu_script_parse(nullptr, 0, file, &script, &error), TUTTI_SYNTAX);
    EXPECT_EQ(first_line(parse_error("ranks", nullptr)),
              "script:1:6: expected the number of ranks, found end of line");
}

TEST(ScriptPlaces, WhatComesLaterIsUnsupportedAndAllElseIsCheckedFirst) {
    static const char text[] = "ranks 2\nverdict divergence\nrank *\nbarrier";
    emu_script *script = nullptr;
    tutti_error error;
    EXPECT_EQ(emu_script_parse(text, strlen(text), "t.tut", &script, &error), TUTTI_UNSUPPORTED);
    EXPECT_EQ(script, nullptr);
    EXPECT_EQ(error.status, TUTTI_UNSUPPORTED);
    EXPECT_EQ(error.place.line, 2);
    const Reading reading = read_script(text);
    EXPECT_EQ(reading.status, TUTTI_OK);
    EXPECT_EQ(reading.refusal.status, TUTTI_UNSUPPORTED);
    EXPECT_STREQ(reading.refusal.message, error.message);
    EXPECT_EQ(reading.script->statement_count, 1u);
    EXPECT_EQ(first_line(parse_error(std::string(text) + " x")),
              "t.tut:4:9: expected 'in', 'on' or end of line, found 'x'");
}

TEST(ScriptPlaces, SuccessLeavesAClearError) {
    static const char text[] = "ranks 2";
    emu_script *script = nullptr;
    tutti_error error;
    tutti_error_set(&error, TUTTI_MISUSE, "old");
    ASSERT_EQ(emu_script_parse(text, strlen(text), "t.tut", &script, &error), TUTTI_OK);
    EXPECT_EQ(error.status, TUTTI_OK);
    EXPECT_STREQ(error.message, "");
    emu_script_free(script);
}

// --- Limits ---

std::string times(const std::string &text, int count) {
    std::string all;
    all.reserve(text.size() * static_cast<size_t>(count));
    for (int i = 0; i < count; i++)
        all += text;
    return all;
}

TEST(ScriptLimits, OfALine) {
    const std::string most = "ranks 2" + std::string(EMU_SCRIPT_LINE_BYTES_MAX - 7, ' ');
    EXPECT_EQ(parse_error(most), "");
    EXPECT_EQ(parse_error(most + "\r\n"), "");
    EXPECT_EQ(first_line(parse_error(most + " ")),
              "t.tut:1:1: the line has 65537 bytes; at most 65536 are read");
}

TEST(ScriptLimits, OfAFile) {
    std::string text = "ranks 2\n" + times(std::string(1023, '#') + "\n", 16383);
    text += std::string(EMU_SCRIPT_BYTES_MAX - text.size(), '\n');
    EXPECT_EQ(parse_error(text), "");
    EXPECT_EQ(first_line(parse_error(text + "\n")),
              "t.tut:1:1: the script has 16777217 bytes; at most 16777216 are read");
}

TEST(ScriptLimits, OfStatements) {
    const std::string most = "ranks 2\nrank *\n" + times("exit\n", EMU_SCRIPT_STATEMENTS_MAX);
    EXPECT_EQ(parse_error(most), "");
    EXPECT_EQ(first_line(parse_error(most + "sync")),
              "t.tut:1048579:1: a script has at most 1048576 statements");
}

TEST(ScriptLimits, OfNames) {
    std::string text = "ranks 2\n";
    for (int i = 3; i < EMU_SCRIPT_NAMES_MAX; i++)
        text += "group g" + std::to_string(i) + " = 0\n";
    EXPECT_EQ(parse_error(text), "");
    EXPECT_EQ(first_line(parse_error(text + "group g = 0")),
              "t.tut:65535:7: a script has at most 65536 names");
}

TEST(ScriptLimits, OfBuffers) {
    std::string text = "ranks 65537\n";
    for (int i = EMU_SCRIPT_BUFFERS_MAX; i > 0; i--)
        text += "rank " + std::to_string(i) + "\nbuffer b f32 1\n";
    EXPECT_EQ(parse_error(text), "");
    EXPECT_EQ(first_line(parse_error(text + "rank 0\nbuffer b f32 1")),
              "t.tut:131075:8: a script declares at most 65536 buffers");
}

TEST(ScriptLimits, OfRangesOfRanks) {
    std::string ranks;
    for (int i = 0; i < 16384; i += 2)
        ranks += " " + std::to_string(i); // 8192 ranges
    const std::string section = "rank" + ranks + "\n";
    const std::string sections = "ranks 16384\n" + times(section, 128);
    EXPECT_EQ(parse_error(sections), "");
    EXPECT_EQ(first_line(parse_error(sections + "rank 0")),
              "t.tut:130:1: the sections of a script name at most 1048576 ranges of ranks");

    std::string buffers = "ranks 16384\n" + section;
    for (int i = 0; i < 32; i++)
        buffers += "buffer b" + std::to_string(i) + " f32 1\n";
    EXPECT_EQ(parse_error(buffers), "");
    EXPECT_EQ(first_line(parse_error(buffers + "buffer b f32 1")),
              "t.tut:35:8: the buffers of a script are for at most 262144 ranges of ranks");
}

TEST(ScriptLimits, OfChecksOfWhoHasWhichBuffer) {
    std::string text = "ranks 16384\n";
    for (int i = 0; i < 16384; i++)
        text += "rank " + std::to_string(i) + "\nbuffer b f32 1\n";
    text += times("rank *\nsend b to 1\n", 1024);
    EXPECT_EQ(parse_error(text), "");
    EXPECT_EQ(first_line(parse_error(text + "rank 0\nsend b to 1")),
              "t.tut:34819:6: more than 16777216 checks of who has which buffer; declare buffers "
              "for more ranks at once");
}

TEST(ScriptLimits, OfAGroup) {
    const std::string ranks = "ranks 1048576\ngroup g = ";
    EXPECT_EQ(parse_error(ranks + "0-1048575"), "");
    EXPECT_EQ(first_line(parse_error(ranks + "0-1048575 0")),
              "t.tut:2:11: a group has at most 1048576 ranks");
    EXPECT_EQ(first_line(parse_error(ranks + times("* ", 30000))),
              "t.tut:2:11: a group has at most 1048576 ranks");
}

TEST(ScriptLimits, OfNesting) {
    const std::string header = "ranks 2\nrank *\n";
    EXPECT_EQ(parse_error(header + times("repeat 2\nstart\n", 16) + times("end\n", 32)), "");
    EXPECT_EQ(first_line(parse_error(header + times("repeat 2\n", 1000000))),
              "t.tut:35:1: at most 32 'repeat' and 'start' are open at once");
    const Reading deepest = read_script(header + times("repeat 2\n", 32) + times("end\n", 32));
    EXPECT_EQ(deepest.script->loop_depth, 32u);
}

TEST(ScriptLimits, OfFaults) {
    std::string rules = "ranks 2\n" + times("fault send=off\n", TUTTI_FAULT_RULES_MAX);
    EXPECT_EQ(parse_error(rules), "");
    EXPECT_EQ(first_line(parse_error(rules + "fault send=off")).substr(0, 10), "t.tut:258:");
    EXPECT_EQ(parse_error("ranks 2\nfault send=off" + times("\n", 65520) + "fault send=off"),
              "t.tut:65522:7: the faults of a script have at most 65536 bytes, a byte for each "
              "line between them included\nfault send=off\n      ^");
}

} // namespace
