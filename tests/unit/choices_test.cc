// The chooser and its record: the plain run is the empty text, and a text says all that was chosen.
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "drivers/emu/choices.h"
#include "gtest/gtest.h"

namespace {

std::string text_of(const emu_choice_record &record) {
    std::string text(emu_choice_record_format(&record, nullptr, 0), '\0');
    EXPECT_EQ(emu_choice_record_format(&record, &text[0], text.size() + 1), text.size());
    return text;
}

// A chooser that is freed.
struct Chooser {
    Chooser() {
        emu_choices_init_plain(&choices);
    }
    explicit Chooser(uint64_t seed) {
        emu_choices_init_random(&choices, seed);
    }
    ~Chooser() {
        emu_choices_free(&choices);
    }
    Chooser(const Chooser &) = delete;
    uint32_t choose(uint32_t answer_count, emu_choice_kind kind = EMU_CHOICE_RANK) {
        emu_question question = {};
        question.kind = kind;
        question.answer_count = answer_count;
        return emu_choose(&choices, &question);
    }
    std::string text() const {
        return text_of(choices.record);
    }
    emu_choices choices;
};

struct Reading {
    tutti_status status;
    std::string text; // written again
    std::string message;
};

Reading read(const std::string &text) {
    emu_choice_record record = {};
    tutti_error error;
    tutti_error_clear(&error);
    // A block of exactly the text's size, so that a sanitizer sees a read behind its end.
    const std::vector<char> block(text.begin(), text.end());
    Reading reading;
    reading.status = emu_choice_record_parse(block.data(), block.size(), &record, &error);
    reading.message = error.message;
    if (reading.status == TUTTI_OK) reading.text = text_of(record);
    emu_choice_record_free(&record);
    return reading;
}

TEST(Choices, PlainRunAnswersZeroAndIsTheEmptyText) {
    Chooser chooser;
    for (uint32_t answers = 1; answers < 100; answers++)
        EXPECT_EQ(chooser.choose(answers), 0U);
    EXPECT_EQ(chooser.text(), "");
    EXPECT_EQ(chooser.choices.asked, 98U);
}

TEST(Choices, QuestionsWithOneAnswerAreNotRecorded) {
    Chooser chooser(1);
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(chooser.choose(1), 0U);
    EXPECT_EQ(chooser.choices.asked, 0U);
    EXPECT_EQ(chooser.text(), "");
}

TEST(Choices, SameSeedGivesSameAnswersOnEveryMachine) {
    Chooser chooser(42);
    for (int i = 0; i < 12; i++)
        (void)chooser.choose(4);
    EXPECT_EQ(chooser.text(), "r2,r0,r1x2,r0,r3,r0,r3,r1,r2,r0,r1");
}

TEST(Choices, DifferentSeedsGiveDifferentAnswers) {
    std::set<std::string> texts;
    for (uint64_t seed = 0; seed < 100; seed++) {
        Chooser chooser(seed);
        for (int i = 0; i < 32; i++)
            (void)chooser.choose(8);
        texts.insert(chooser.text());
    }
    EXPECT_EQ(texts.size(), 100U);
}

TEST(Choices, RandomAnswersUseAllThereAreAboutAsOften) {
    for (const uint32_t answers : {2U, 3U, 7U, 64U, 1000U}) {
        Chooser chooser(answers);
        std::vector<int> counts(answers);
        for (uint32_t i = 0; i < 1000 * answers; i++) {
            const uint32_t answer = chooser.choose(answers);
            ASSERT_LT(answer, answers);
            counts[answer]++;
        }
        for (const int count : counts) {
            EXPECT_GT(count, 800);
            EXPECT_LT(count, 1200);
        }
    }
}

TEST(Choices, LargestQuestionIsAnswered) {
    Chooser chooser(5);
    EXPECT_LE(chooser.choose(EMU_CHOICE_ANSWER_MAX + 1U),
              static_cast<uint32_t>(EMU_CHOICE_ANSWER_MAX));
}

TEST(ChoiceRecord, KindsHaveLettersOfTheirOwn) {
    emu_choice_record record = {};
    for (int kind = 0; kind < EMU_CHOICE_KIND_COUNT; kind++)
        ASSERT_TRUE(emu_choice_record_append(&record, static_cast<emu_choice_kind>(kind), 1, 1));
    EXPECT_EQ(text_of(record), "r1,s1,p1,f1,d1");
    emu_choice_record_free(&record);
}

// A plan's probabilities are drawn by the plan; a random schedule does not turn them around.
TEST(Choices, RandomOnesLeaveFaultsAsTheyAreDrawn) {
    Chooser chooser(7);
    for (int i = 0; i < 1000; i++)
        EXPECT_EQ(chooser.choose(2, EMU_CHOICE_FAULT), 0U);
}

TEST(ChoiceRecord, TextsSurviveReading) {
    for (const char *text : {"", "r1", "r0x12,r2,r1x3", "r0,s1", "s5,p1,r1048575,f1,d7x9",
                             "r1x18446744073709551615", "r0x1000000,r1"})
        EXPECT_EQ(read(text).text, text);
}

TEST(ChoiceRecord, ReadingMakesTextsShort) {
    EXPECT_EQ(read("r1,r1,r1x2").text, "r1x4");
    EXPECT_EQ(read("r1,r0,r0x3").text, "r1");
    EXPECT_EQ(read("r0,s0").text, "");
    EXPECT_EQ(read("r007").text, "r7");
    EXPECT_EQ(read("r1x18446744073709551615,r1").text, "r1x18446744073709551615,r1");
}

TEST(ChoiceRecord, RandomRecordsSurviveReading) {
    for (uint64_t seed = 0; seed < 50; seed++) {
        Chooser chooser(seed);
        for (uint32_t i = 0; i < 500; i++)
            (void)chooser.choose(1 + i % 5, static_cast<emu_choice_kind>(i / 100));
        EXPECT_EQ(read(chooser.text()).text, chooser.text());
    }
}

TEST(ChoiceRecord, BadTextsAreRefusedWithTheirColumn) {
    const struct {
        const char *text, *message;
    } bad[] = {
        {"x", "choices:1:1: expected the letter of a kind of choice: r, s, p, f or d"},
        {"1", "choices:1:1: expected the letter of a kind of choice: r, s, p, f or d"},
        {"r", "choices:1:2: expected an answer, a number from 0 to 1048575"},
        {"r1048576", "choices:1:2: expected an answer, a number from 0 to 1048575"},
        {"r99999999999999999999999", "choices:1:2: expected an answer, a number from 0 to 1048575"},
        {"r-1", "choices:1:2: expected an answer, a number from 0 to 1048575"},
        {"r1x0", "choices:1:4: expected how often the answer is given, a number from 1"},
        {"r1x", "choices:1:4: expected how often the answer is given, a number from 1"},
        {"r1x18446744073709551616",
         "choices:1:4: expected how often the answer is given, a number from 1"},
        {"r1 r2", "choices:1:3: expected \",\" and the next choice, or the end"},
        {"r1,", "choices:1:4: expected a choice after the \",\""},
        {",", "choices:1:1: expected the letter of a kind of choice: r, s, p, f or d"},
        {"r1,...", "choices:1:4: expected the letter of a kind of choice: r, s, p, f or d"},
    };
    for (const auto &one : bad) {
        const Reading reading = read(one.text);
        EXPECT_EQ(reading.status, TUTTI_SYNTAX) << one.text;
        EXPECT_EQ(reading.message, one.message) << one.text;
    }
    EXPECT_EQ(read(std::string("r1\0", 3)).status, TUTTI_SYNTAX);
    EXPECT_EQ(read(std::string("\0", 1)).status, TUTTI_SYNTAX);
}

TEST(ChoiceRecord, ErrorMayBeNull) {
    emu_choice_record record = {};
    EXPECT_EQ(emu_choice_record_parse("q", 1, &record, nullptr), TUTTI_SYNTAX);
}

TEST(ChoiceRecord, FormattingIsCutAtTheBufferAndEnds) {
    Chooser chooser(9);
    for (int i = 0; i < 20; i++)
        (void)chooser.choose(5);
    const std::string whole = chooser.text();
    for (size_t bytes = 1; bytes <= whole.size() + 2; bytes++) {
        std::vector<char> text(bytes, '#');
        EXPECT_EQ(emu_choice_record_format(&chooser.choices.record, text.data(), bytes),
                  whole.size());
        EXPECT_EQ(std::string(text.data()), whole.substr(0, bytes - 1));
    }
}

TEST(ChoiceRecord, CutRecordSaysSoAndCannotBeRead) {
    Chooser chooser(9);
    while (chooser.choose(2) == 0) {
    }
    chooser.choices.record.cut = true;
    const std::string text = chooser.text();
    EXPECT_EQ(text.substr(text.size() - 3), "...");
    EXPECT_EQ(read(text).status, TUTTI_SYNTAX);
}

} // namespace
