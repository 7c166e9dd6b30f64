#include "drivers/emu/choices.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By emu_choice_kind. */
static const char LETTERS[] = "rspfd";
static const char *const NAMES[EMU_CHOICE_KIND_COUNT] = {
    "which rank runs", "which stream's operation starts", "what a poll sees",
    "whether a fault happens", "a value of the program's input"};

const char *emu_choice_kind_name(emu_choice_kind kind) {
    assert((uint32_t)kind < EMU_CHOICE_KIND_COUNT);
    return NAMES[kind];
}

/* --- Choosers --- */

void emu_choices_init_plain(emu_choices *choices) {
    memset(choices, 0, sizeof(*choices));
}

void emu_choices_init_random(emu_choices *choices, uint64_t seed) {
    emu_choices_init_plain(choices);
    choices->mode = EMU_CHOICES_RANDOM;
    choices->state = seed;
}

void emu_choices_init_replay(emu_choices *choices, const emu_choice_record *record, bool lenient) {
    emu_choices_init_plain(choices);
    choices->mode = EMU_CHOICES_REPLAY;
    choices->replay = record;
    choices->lenient = lenient;
}

void emu_choices_init_strategy(emu_choices *choices, emu_strategy *strategy, void *context) {
    emu_choices_init_plain(choices);
    choices->mode = EMU_CHOICES_STRATEGY;
    choices->strategy = strategy;
    choices->strategy_context = context;
}

void emu_choices_free(emu_choices *choices) {
    emu_choice_record_free(&choices->record);
}

/* SplitMix64 (Steele, Lea and Flood, 2014): a counter with a step that is odd, and a mix of its
 * bits in which each depends on all. Any seed is a good one, 0 too. */
uint64_t emu_draw(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t bits = *state;
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/* The upper half of the product of a fraction and the limit. With 2^32 fractions and at most 2^20
 * answers, no answer is preferred by more than one part in 4096. */
uint32_t emu_draw_below(uint64_t *state, uint32_t limit) {
    return (uint32_t)(((emu_draw(state) >> 32) * limit) >> 32);
}

/* --- Records --- */

static bool make_room(emu_choice_record *record) {
    if (record->run_count < record->run_room) return true;
    if (record->run_room >= EMU_CHOICE_RUNS_MAX) return false;
    uint32_t room = record->run_room == 0 ? 64 : 2 * record->run_room;
    emu_choice_run *runs = realloc(record->runs, room * sizeof(*runs));
    if (runs == NULL) return false;
    record->runs = runs;
    record->run_room = room;
    return true;
}

/* Adds an answer `count` times; false when there is no room. */
static bool append(emu_choice_record *record, uint32_t kind, uint32_t answer, uint64_t count) {
    emu_choice_run *last = record->run_count > 0 ? &record->runs[record->run_count - 1] : NULL;
    if (last != NULL && last->kind == kind && last->answer == answer &&
        last->count <= UINT64_MAX - count) {
        last->count += count;
        return true;
    }
    if (!make_room(record)) return false;
    record->runs[record->run_count++] =
        (emu_choice_run){.count = count, .answer = answer, .kind = kind};
    return true;
}

bool emu_choice_record_append(emu_choice_record *record, emu_choice_kind kind, uint32_t answer,
                              uint64_t count) {
    return append(record, (uint32_t)kind, answer, count);
}

/* --- Replaying --- */

static const emu_choice_run *next_given(const emu_choices *choices) {
    if (choices->replay_run >= choices->replay->run_count) return NULL;
    return &choices->replay->runs[choices->replay_run];
}

static void use_given(emu_choices *choices, uint64_t count) {
    choices->replay_used += count;
    if (choices->replay_used < choices->replay->runs[choices->replay_run].count) return;
    choices->replay_used = 0;
    choices->replay_run++;
}

static void diverge(emu_choices *choices, const emu_question *question,
                    const emu_choice_run *given) {
    choices->divergence = (emu_divergence){.happened = true, .choice = choices->asked - 1};
    choices->divergence.given = *given;
    if (question == NULL) return;
    choices->divergence.asked_kind = question->kind;
    choices->divergence.asked_count = question->answer_count;
}

static uint32_t replay(emu_choices *choices, const emu_question *question) {
    const emu_choice_run *given = next_given(choices);
    while (choices->lenient && given != NULL && given->kind != (uint32_t)question->kind) {
        use_given(choices, given->count - choices->replay_used);
        given = next_given(choices);
    }
    if (given == NULL || choices->divergence.happened) return 0;
    bool fits = given->kind == (uint32_t)question->kind && given->answer < question->answer_count;
    if (!fits && !choices->lenient) {
        diverge(choices, question, given);
        return 0;
    }
    uint32_t answer = fits ? given->answer : question->answer_count - 1;
    use_given(choices, 1);
    return answer;
}

void emu_choices_end(emu_choices *choices) {
    if (choices->mode != EMU_CHOICES_REPLAY || choices->lenient) return;
    while (!choices->divergence.happened && next_given(choices) != NULL) {
        const emu_choice_run *given = next_given(choices);
        choices->asked++;
        if (given->answer != 0) diverge(choices, NULL, given);
        use_given(choices, given->count - choices->replay_used);
    }
}

void emu_divergence_format(const emu_divergence *divergence, char *text, size_t text_bytes) {
    if (text_bytes > 0) text[0] = '\0';
    if (!divergence->happened) return;
    const char *given = NAMES[divergence->given.kind];
    unsigned long long place = (unsigned long long)divergence->choice + 1;
    if (divergence->asked_count == 0)
        snprintf(text, text_bytes,
                 "choice %llu is given (%s: %u), but the run ended without asking for it", place,
                 given, divergence->given.answer);
    else if (divergence->given.kind != (uint32_t)divergence->asked_kind)
        snprintf(text, text_bytes, "choice %llu is given for %s, but the run asks %s", place, given,
                 NAMES[divergence->asked_kind]);
    else
        snprintf(text, text_bytes,
                 "choice %llu (%s) is given as %u, but there are only the answers 0 to %u", place,
                 given, divergence->given.answer, divergence->asked_count - 1);
}

/* --- Choosing --- */

static uint32_t answer_to(emu_choices *choices, const emu_question *question) {
    switch (choices->mode) {
    case EMU_CHOICES_RANDOM:
        if (question->kind == EMU_CHOICE_FAULT) return 0; /* the plan's own draws are random */
        return emu_draw_below(&choices->state, question->answer_count);
    case EMU_CHOICES_REPLAY:
        return replay(choices, question);
    case EMU_CHOICES_STRATEGY:
        return choices->strategy(choices->strategy_context, question);
    case EMU_CHOICES_PLAIN:
        break;
    }
    return 0;
}

uint32_t emu_choose(emu_choices *choices, const emu_question *question) {
    assert(question->answer_count >= 1);
    assert(question->answer_count - 1 <= EMU_CHOICE_ANSWER_MAX);
    assert((uint32_t)question->kind < EMU_CHOICE_KIND_COUNT);
    if (question->answer_count == 1) {
        if (choices->mode == EMU_CHOICES_STRATEGY && question->kind == EMU_CHOICE_RANK)
            (void)choices->strategy(choices->strategy_context, question);
        return 0;
    }
    choices->asked++;
    uint32_t answer = answer_to(choices, question);
    assert(answer < question->answer_count);
    emu_choice_record *record = &choices->record;
    if (!record->cut) record->cut = !append(record, (uint32_t)question->kind, answer, 1);
    return answer;
}

/* --- Records as text --- */

void emu_choice_record_free(emu_choice_record *record) {
    free(record->runs);
    memset(record, 0, sizeof(*record));
}

/* A text of fixed size, and what the whole of it needs. */
typedef struct writer {
    char *text;
    size_t text_bytes;
    size_t length;
} writer;

static void put(writer *out, char c) {
    if (out->length + 1 < out->text_bytes) out->text[out->length] = c;
    out->length++;
}

static void put_number(writer *out, uint64_t number) {
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0)
        put(out, digits[--count]);
}

static void put_run(writer *out, const emu_choice_run *run) {
    put(out, LETTERS[run->kind]);
    put_number(out, run->answer);
    if (run->count > 1) {
        put(out, 'x');
        put_number(out, run->count);
    }
}

size_t emu_choice_record_format(const emu_choice_record *record, char *text, size_t text_bytes) {
    uint32_t run_count = record->run_count;
    /* What follows the end of a record is 0 anyway, unless nobody knows what follows. */
    while (!record->cut && run_count > 0 && record->runs[run_count - 1].answer == 0)
        run_count--;
    writer out = {text, text_bytes, 0};
    for (uint32_t i = 0; i < run_count; i++) {
        if (i > 0) put(&out, ',');
        put_run(&out, &record->runs[i]);
    }
    for (int i = 0; record->cut && i < 3; i++)
        put(&out, '.');
    if (text_bytes > 0) text[out.length < text_bytes ? out.length : text_bytes - 1] = '\0';
    return out.length;
}

/* --- Reading a record --- */

typedef struct reader {
    const char *text;
    size_t text_bytes;
    size_t at;
    tutti_error *error;
} reader;

static tutti_status complain(const reader *in, const char *expected) {
    return tutti_error_set(in->error, TUTTI_SYNTAX, "choices:1:%zu: expected %s", in->at + 1,
                           expected);
}

/* A number from `least` to `most`; false, and nothing is read, when there is none. */
static bool read_number(reader *in, uint64_t least, uint64_t most, uint64_t *number_out) {
    uint64_t number = 0;
    size_t at = in->at;
    for (; at < in->text_bytes && in->text[at] >= '0' && in->text[at] <= '9'; at++) {
        uint64_t digit = (uint64_t)(in->text[at] - '0');
        if (number > (most - digit) / 10) return false;
        number = number * 10 + digit;
    }
    if (at == in->at || number < least) return false;
    in->at = at;
    *number_out = number;
    return true;
}

static bool read_char(reader *in, char c) {
    if (in->at >= in->text_bytes || in->text[in->at] != c) return false;
    in->at++;
    return true;
}

static tutti_status read_run(reader *in, emu_choice_record *record) {
    char letter = in->at < in->text_bytes ? in->text[in->at] : '\0';
    const char *place = letter != '\0' ? strchr(LETTERS, letter) : NULL;
    if (place == NULL) return complain(in, "the letter of a kind of choice: r, s, p, f or d");
    in->at++;
    uint64_t answer = 0;
    if (!read_number(in, 0, EMU_CHOICE_ANSWER_MAX, &answer))
        return complain(in, "an answer, a number from 0 to 1048575");
    uint64_t count = 1;
    if (read_char(in, 'x') && !read_number(in, 1, UINT64_MAX, &count))
        return complain(in, "how often the answer is given, a number from 1");
    if (!append(record, (uint32_t)(place - LETTERS), (uint32_t)answer, count)) {
        return tutti_error_set(in->error, TUTTI_OUT_OF_MEMORY,
                               "no memory for a record of more than %u different choices",
                               record->run_count);
    }
    return TUTTI_OK;
}

tutti_status emu_choice_record_parse(const char *text, size_t text_bytes,
                                     emu_choice_record *record_out, tutti_error *error) {
    reader in = {text, text_bytes, 0, error};
    emu_choice_record record = {0};
    tutti_status status = TUTTI_OK;
    while (status == TUTTI_OK && in.at < text_bytes) {
        status = read_run(&in, &record);
        if (status != TUTTI_OK || in.at == text_bytes) break;
        if (!read_char(&in, ','))
            status = complain(&in, "\",\" and the next choice, or the end");
        else if (in.at == text_bytes)
            status = complain(&in, "a choice after the \",\"");
    }
    if (status != TUTTI_OK) {
        emu_choice_record_free(&record);
        return status;
    }
    *record_out = record;
    tutti_error_clear(error);
    return TUTTI_OK;
}
