#include <stdio.h>
#include <string.h>

#include "drivers/emu/script_parse.h"

/* --- What there is, and what of it this version has --- */

#define OP          EMU_CLAUSE_OP
#define ROOT        EMU_CLAUSE_ROOT
#define TO          EMU_CLAUSE_TO
#define FROM        EMU_CLAUSE_FROM
#define READS       EMU_CLAUSE_READS
#define WRITES      EMU_CLAUSE_WRITES
#define IN          EMU_CLAUSE_IN
#define ON          EMU_CLAUSE_ON
#define FOR         EMU_CLAUSE_FOR
#define COLOR       EMU_CLAUSE_COLOR
#define KEY         EMU_CLAUSE_KEY
#define WITHOUT     EMU_CLAUSE_WITHOUT
#define AS          EMU_CLAUSE_AS
#define NONBLOCKING EMU_CLAUSE_NONBLOCKING

#define COMMUNICATION EMU_FAMILY_COMMUNICATION
#define MEMBERSHIP    EMU_FAMILY_MEMBERSHIP
#define OTHER         EMU_FAMILY_OTHER

/* All statements. Clauses that are required, then those that are not. A later version that has more
 * only turns a false into true. */
static const emu_statement_word statement_words[] = {
    {"all_reduce", EMU_SCRIPT_ALL_REDUCE, COMMUNICATION, EMU_OPERANDS_MOVE_OPTIONAL, OP, IN | ON,
     true},
    {"broadcast", EMU_SCRIPT_BROADCAST, COMMUNICATION, EMU_OPERANDS_MOVE_OPTIONAL, ROOT, IN | ON,
     false},
    {"reduce", EMU_SCRIPT_REDUCE, COMMUNICATION, EMU_OPERANDS_MOVE_OPTIONAL, OP | ROOT, IN | ON,
     false},
    {"all_gather", EMU_SCRIPT_ALL_GATHER, COMMUNICATION, EMU_OPERANDS_MOVE, 0, IN | ON, false},
    {"reduce_scatter", EMU_SCRIPT_REDUCE_SCATTER, COMMUNICATION, EMU_OPERANDS_MOVE, OP, IN | ON,
     false},
    {"all_to_all", EMU_SCRIPT_ALL_TO_ALL, COMMUNICATION, EMU_OPERANDS_MOVE, 0, IN | ON, false},
    {"gather", EMU_SCRIPT_GATHER, COMMUNICATION, EMU_OPERANDS_MOVE, ROOT, IN | ON, false},
    {"scatter", EMU_SCRIPT_SCATTER, COMMUNICATION, EMU_OPERANDS_MOVE, ROOT, IN | ON, false},
    {"barrier", EMU_SCRIPT_BARRIER, COMMUNICATION, EMU_OPERANDS_NONE, 0, IN | ON, false},
    {"send", EMU_SCRIPT_SEND, COMMUNICATION, EMU_OPERANDS_SOURCE, TO, IN | ON, true},
    {"recv", EMU_SCRIPT_RECV, COMMUNICATION, EMU_OPERANDS_DESTINATION, FROM, IN | ON, true},
    {"join", EMU_SCRIPT_JOIN, MEMBERSHIP, EMU_OPERANDS_GROUP, 0, NONBLOCKING, true},
    {"leave", EMU_SCRIPT_LEAVE, MEMBERSHIP, EMU_OPERANDS_GROUP, 0, 0, true},
    {"abort", EMU_SCRIPT_ABORT, MEMBERSHIP, EMU_OPERANDS_GROUP, 0, 0, true},
    {"split", EMU_SCRIPT_SPLIT, MEMBERSHIP, EMU_OPERANDS_GROUP, COLOR, KEY | AS, false},
    {"shrink", EMU_SCRIPT_SHRINK, MEMBERSHIP, EMU_OPERANDS_GROUP, WITHOUT | AS, 0, false},
    {"start", EMU_SCRIPT_GROUP_START, OTHER, EMU_OPERANDS_NONE, 0, 0, true},
    {"repeat", EMU_SCRIPT_REPEAT, OTHER, EMU_OPERANDS_ROUNDS, 0, 0, true},
    {"end", EMU_SCRIPT_GROUP_END, OTHER, EMU_OPERANDS_NONE, 0, 0, true},
    {"record", EMU_SCRIPT_RECORD, OTHER, EMU_OPERANDS_EVENT_RECORDED, 0, ON, true},
    {"wait", EMU_SCRIPT_WAIT, OTHER, EMU_OPERANDS_EVENT, 0, ON, true},
    {"kernel", EMU_SCRIPT_KERNEL, OTHER, EMU_OPERANDS_NONE, 0, READS | WRITES | ON | FOR, true},
    {"sync", EMU_SCRIPT_SYNC, OTHER, EMU_OPERANDS_TARGET_OPTIONAL, 0, 0, true},
    {"poll", EMU_SCRIPT_POLL, OTHER, EMU_OPERANDS_TARGET, 0, 0, true},
    {"host", EMU_SCRIPT_HOST, OTHER, EMU_OPERANDS_NONE, 0, READS | WRITES, true},
    {"free", EMU_SCRIPT_FREE, OTHER, EMU_OPERANDS_BUFFER, 0, 0, true},
    {"sleep", EMU_SCRIPT_SLEEP, OTHER, EMU_OPERANDS_DURATION, 0, 0, true},
    {"expect", EMU_SCRIPT_EXPECT, OTHER, EMU_OPERANDS_EXPECTATION, 0, 0, true},
    {"exit", EMU_SCRIPT_EXIT, OTHER, EMU_OPERANDS_NONE, 0, 0, true},
};

typedef struct verdict_word {
    const char *name;
    tutti_verdict verdict;
    bool available;
} verdict_word;

/* All verdicts that a script may ask for. */
static const verdict_word verdict_words[] = {
    {"ok", TUTTI_VERDICT_OK, true},
    {"mismatch", TUTTI_VERDICT_MISMATCH, true},
    {"missing", TUTTI_VERDICT_MISSING, true},
    {"deadlock", TUTTI_VERDICT_DEADLOCK, true},
    {"refused", TUTTI_VERDICT_REFUSED, true},
    {"timeout", TUTTI_VERDICT_TIMEOUT, true},
    {"misuse", TUTTI_VERDICT_MISUSE, true},
    {"killed", TUTTI_VERDICT_KILLED, true},
    {"wrong", TUTTI_VERDICT_WRONG, true},
    {"race", TUTTI_VERDICT_RACE, true},
    {"overlap", TUTTI_VERDICT_OVERLAP, true},
    {"freed", TUTTI_VERDICT_FREED, true},
    {"undefined", TUTTI_VERDICT_UNDEFINED, true},
    {"leak", TUTTI_VERDICT_LEAK, true},
    {"divergence", TUTTI_VERDICT_DIVERGENCE, false},
};

/* Words that start lines which are no statements. */
static const char *const header_words[] = {
    "ranks", "buffer",   "group",  "capacity", "timeout", "first-use",
    "fault", "tolerate", "device", "rank",     "verdict",
};

/* Each clause's first word; the last is no clause. OP has several, none of them here. */
static const char *const clause_words[EMU_CLAUSE_COUNT] = {
    NULL, "root", "to",    "from", "reads",   "writes", "in",
    "on", "for",  "color", "key",  "without", "as",     "nonblocking",
};

static const char *const clause_texts[EMU_CLAUSE_COUNT] = {
    "a reduction (sum, mean, prod, min or max)",
    "'root'",
    "'to'",
    "'from'",
    "'reads'",
    "'writes'",
    "'in'",
    "'on'",
    "'for'",
    "'color'",
    "'key'",
    "'without'",
    "'as'",
    "'nonblocking'",
};

/* Other words that would be misread if they were names. */
static const char *const value_words[] = {
    "zero", "iota", "unset", "inf", "nan", "none", "culprit", "blocks", "group-order",
};

enum {
    STATEMENT_WORD_COUNT = sizeof statement_words / sizeof statement_words[0],
    VERDICT_WORD_COUNT = sizeof verdict_words / sizeof verdict_words[0],
    HEADER_WORD_COUNT = sizeof header_words / sizeof header_words[0],
    VALUE_WORD_COUNT = sizeof value_words / sizeof value_words[0],
};

/* --- Looking words up --- */

const emu_statement_word *emu_statement_word_find(const emu_token *token) {
    for (uint32_t i = 0; i < STATEMENT_WORD_COUNT; i++)
        if (emu_token_is(token, statement_words[i].name)) return &statement_words[i];
    return NULL;
}

const char *emu_script_kind_name(emu_script_kind kind) {
    if (kind == EMU_SCRIPT_REPEAT_END) return "end";
    for (uint32_t i = 0; i < STATEMENT_WORD_COUNT; i++)
        if (statement_words[i].kind == kind) return statement_words[i].name;
    return "unknown";
}

static uint32_t clause_index(uint32_t clause) {
    uint32_t index = 0;
    while (index + 1 < EMU_CLAUSE_COUNT && !(clause & (1u << index)))
        index++;
    return index;
}

const char *emu_clause_text(emu_clause clause) {
    return clause_texts[clause_index(clause)];
}

uint32_t emu_clause_find(const emu_token *token) {
    tutti_reduce_op op;
    if (token->kind != EMU_TOKEN_WORD) return 0;
    if (tutti_reduce_op_parse(token->text, token->bytes, &op) == TUTTI_OK) return EMU_CLAUSE_OP;
    for (uint32_t i = 0; i < EMU_CLAUSE_COUNT; i++)
        if (clause_words[i] && emu_token_is(token, clause_words[i])) return 1u << i;
    return 0;
}

static bool is_among(const emu_token *token, const char *const *words, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (emu_token_is(token, words[i])) return true;
    return false;
}

bool emu_word_is_reserved(const emu_token *token) {
    return emu_statement_word_find(token) || emu_clause_find(token) ||
           is_among(token, header_words, HEADER_WORD_COUNT) ||
           is_among(token, value_words, VALUE_WORD_COUNT);
}

/* Keeps the word if it is nearer to the token than the best one so far. */
static void consider(const emu_token *token, const char *word, const char **best,
                     uint32_t *distance) {
    const uint32_t limit = *distance - 1;
    const uint32_t found = emu_text_distance(token->text, token->bytes, word, strlen(word), limit);
    if (found > limit) return;
    *best = word;
    *distance = found;
}

const char *emu_line_word_near(const emu_token *token) {
    const char *best = NULL;
    uint32_t distance = emu_text_distance_limit(token->bytes) + 1;
    for (uint32_t i = 0; i < STATEMENT_WORD_COUNT && distance > 0; i++)
        consider(token, statement_words[i].name, &best, &distance);
    for (uint32_t i = 0; i < HEADER_WORD_COUNT && distance > 0; i++)
        consider(token, header_words[i], &best, &distance);
    return best;
}

/* --- What this version has not --- */

/* Adds one of `count` words to a list that reads "a, b and c"; last: " and ". */
static void list_add(char *list, size_t list_bytes, const char *word, uint32_t index,
                     uint32_t count, const char *last) {
    const char *separator = index == 0 ? "" : index + 1 == count ? last : ", ";
    const size_t length = strlen(list);
    snprintf(list + length, list_bytes - length, "%s%s", separator, word);
}

static emu_refusal *refusal_start(emu_parser *parser, const char *kind, const emu_token *at) {
    if (parser->refusal.present) return NULL; /* only the first one is told */
    parser->refusal.present = true;
    parser->refusal.at = *at;
    parser->refusal.kind = kind;
    return &parser->refusal;
}

void emu_refuse_statement(emu_parser *parser, const emu_statement_word *word, const emu_token *at) {
    emu_refusal *refusal = refusal_start(parser, "", at);
    if (!refusal) return;
    uint32_t count = 0, index = 0;
    for (uint32_t i = 0; i < STATEMENT_WORD_COUNT; i++)
        count += statement_words[i].available && statement_words[i].family == word->family;
    for (uint32_t i = 0; i < STATEMENT_WORD_COUNT; i++)
        if (statement_words[i].available && statement_words[i].family == word->family)
            list_add(refusal->available, sizeof refusal->available, statement_words[i].name,
                     index++, count, " and ");
}

static void refuse_verdict(emu_parser *parser, const emu_token *at) {
    emu_refusal *refusal = refusal_start(parser, "verdict ", at);
    if (!refusal) return;
    uint32_t count = 0, index = 0;
    for (uint32_t i = 0; i < VERDICT_WORD_COUNT; i++)
        count += verdict_words[i].available;
    for (uint32_t i = 0; i < VERDICT_WORD_COUNT; i++)
        if (verdict_words[i].available)
            list_add(refusal->available, sizeof refusal->available, verdict_words[i].name, index++,
                     count, " and ");
}

bool emu_verdict_find(emu_parser *parser, const emu_token *token, tutti_verdict *verdict_out) {
    char list[256] = "a verdict: ";
    for (uint32_t i = 0; i < VERDICT_WORD_COUNT; i++) {
        if (emu_token_is(token, verdict_words[i].name)) {
            *verdict_out = verdict_words[i].verdict;
            if (!verdict_words[i].available) refuse_verdict(parser, token);
            return true;
        }
    }
    for (uint32_t i = 0; i < VERDICT_WORD_COUNT; i++)
        list_add(list, sizeof list, verdict_words[i].name, i, VERDICT_WORD_COUNT, " or ");
    return emu_parser_expected(parser, list);
}
