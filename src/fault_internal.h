#ifndef TUTTI_SRC_FAULT_INTERNAL_H
#define TUTTI_SRC_FAULT_INTERNAL_H

/* What the files of fault plans share: the grammar (fault_parse.c, fault_keys.c, fault_actions.c),
 * tokens (fault_lexer.c), numbers (duration.c), errors with their place (fault_error.c), names
 * (fault_names.c) and canonical text (fault_text.c). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti/fault.h"

enum {
    FAULT_ENQUEUED_BIT = 1 << TUTTI_FAULT_AT_ENQUEUE,
    FAULT_STEP_BIT = 1 << TUTTI_FAULT_AT_STEP,
    FAULT_LIST_BYTES = 320, /* holds the names of all points, written as a list */
    FAULT_WORD_BYTES = 24,  /* of a found word that messages repeat, and that is corrected */
};

/* One rule of a plan. */
typedef struct fault_rule {
    tutti_fault_point point;
    uint32_t sites; /* bits of the points whose sites it fits */
    tutti_fault_selector selector;
    uint32_t term_first;    /* index into the plan's terms */
    uint32_t term_count;    /* at least 1 */
    uint64_t text_hash;     /* of its canonical text */
    uint32_t copy;          /* rules before it that have the same text */
    tutti_fault_text place; /* in the plan's text */
} fault_rule;

struct tutti_fault_plan {
    char *text; /* as it was given, owned */
    size_t text_bytes;
    char *strings;        /* names and reasons, NUL terminated, owned */
    size_t strings_bytes; /* of strings, in use */
    fault_rule *rules;    /* owned */
    uint32_t rule_count;
    tutti_fault_term *terms; /* of all rules, owned */
    uint32_t term_count;
    tutti_fault_source source; /* with its defaults filled in */
};

/* ---- names ---- */

/* Finds a word among `count` names; names may have holes (NULL). Returns its index, or -1. */
int fault_name_find(const char *const *names, int count, const char *word, size_t word_bytes);

/* The name that a mistyped word most likely means, or NULL. */
const char *fault_name_suggest(const char *const *names, int count, const char *word,
                               size_t word_bytes);

/* Tables in the order of the enumerations. */
const char *const *fault_point_names(void);
const char *const *fault_kind_names(void);
const char *const *fault_key_names(void);

/* Why a point does not take an action that it does not take; NULL when there is nothing to say. */
const char *fault_action_obstacle(tutti_fault_point point, tutti_fault_kind kind);

/* The points whose operations a rule at `enqueue` can fit, as bits. */
uint32_t fault_enqueued_points(void);

/* ---- bounded text ---- */

/* Writes into a buffer of fixed size and counts what the whole text needs. */
typedef struct fault_writer {
    char *text; /* may be NULL when text_bytes is 0 */
    size_t text_bytes;
    size_t length; /* bytes that the text so far needs, without the NUL */
    uint64_t hash; /* FNV-1a of the text so far, also of what is cut, from where it started */
} fault_writer;

void fault_put_bytes(fault_writer *writer, const char *bytes, size_t count);
void fault_put_text(fault_writer *writer, const char *text);
void fault_put_number(fault_writer *writer, uint64_t number);
void fault_put_decimal(fault_writer *writer, uint64_t value, uint64_t unit);
void fault_put_duration(fault_writer *writer, int64_t ns);

/* Writes those names whose bit is set, separated by ", ". */
void fault_put_names(fault_writer *writer, const char *const *names, int count, uint32_t bits);

/* Ends the text with a NUL, where there is room for one. Returns its length. */
size_t fault_put_end(fault_writer *writer);

void fault_put_rule(fault_writer *writer, const tutti_fault_plan *plan, uint32_t rule);

/* The length of the well-formed UTF-8 character at the start of a text; 0 when there is none. */
size_t fault_utf8_bytes(const char *text, size_t text_bytes);

/* ---- numbers ---- */

/* What is wrong with a number. */
typedef enum fault_number_problem {
    FAULT_NUMBER_OK,
    FAULT_NUMBER_MISSING,  /* there is no digit */
    FAULT_NUMBER_NO_UNIT,  /* a duration without unit */
    FAULT_NUMBER_BAD_UNIT, /* a duration with an unknown unit */
    FAULT_NUMBER_TOO_FINE, /* not a whole number of units */
    FAULT_NUMBER_TOO_LARGE
} fault_number_problem;

/* The length of `digits [ "." digits ]` at the start of a text; 0 when there is none. */
size_t fault_decimal_bytes(const char *text, size_t text_bytes);

/* Multiplies a decimal number, as fault_decimal_bytes() found it, by unit: exactly, or not at all.
 * unit is at most UINT64_MAX / 20. */
fault_number_problem fault_decimal_scale(const char *text, size_t text_bytes, uint64_t unit,
                                         uint64_t value_max, uint64_t *value_out);

/* Reads a duration at the start of a text. *bytes_out is the length of what was read; when there
 * is a problem, the offset of it. */
fault_number_problem fault_duration_scan(const char *text, size_t text_bytes, int64_t *ns_out,
                                         size_t *bytes_out);

/* ---- errors with their place ---- */

/* A text that is being read, and where it comes from. */
typedef struct fault_origin {
    const char *text;
    size_t text_bytes;
    tutti_fault_source source; /* with its defaults filled in */
} fault_origin;

tutti_fault_source fault_source_or_default(const tutti_fault_source *source);

/* Line and column of an offset. */
typedef struct fault_position {
    size_t offset; /* bytes from the start of the text */
    int32_t line;
    int32_t column;
} fault_position;

/* Moves a position forward to an offset that is not before it. */
void fault_position_advance(fault_position *position, const fault_origin *origin, size_t offset);

/* Fills an error: place, message, the line, and a caret below the character at offset. */
tutti_status fault_error_at(const fault_origin *origin, size_t offset, tutti_status status,
                            const char *message, tutti_error *error);

/* ---- tokens ---- */

/* A plan while it is being read. Functions that read something skip the blanks before it, and
 * leave `at` behind it. */
typedef struct fault_parser {
    fault_origin origin;
    size_t at;               /* offset of the next character */
    fault_position position; /* of the rule that was read last */
    tutti_fault_plan *plan;  /* gets the rules */
    fault_rule *rule;        /* the one that is being read, in the plan */
    tutti_error *error;      /* may be NULL */
} fault_parser;

void fault_skip_blanks(fault_parser *parser);

/* The next character; a NUL at the end. A NUL in the text is never what is expected either. */
char fault_peek(const fault_parser *parser);

/* Reads this character if it is the next one after blanks; otherwise reads nothing at all. */
bool fault_take(fault_parser *parser, char character);

/* The length of the letters, digits and underscores at an offset. */
size_t fault_word_bytes(const fault_parser *parser, size_t offset);

/* Fails with a message of printf's format about the character at offset. */
tutti_status fault_fail(const fault_parser *parser, size_t offset, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Fails with "expected ..., found ..." about the next token. */
tutti_status fault_fail_expected(fault_parser *parser, const char *expected);

/* Fails like fault_fail_expected() where one of `count` names must stand; says which there are,
 * unless names has holes, and which was meant. */
tutti_status fault_fail_name(fault_parser *parser, const char *expected, const char *const *names,
                             int count, bool list);

/* Fails because the rule's point does not take the key or the action that is the next token. */
tutti_status fault_fail_not_taken(const fault_parser *parser, const char *name,
                                  const char *const *names, int count, uint32_t taken,
                                  const char *why);

/* Reads an integer of 0 .. value_max. `expected` says what must stand there. */
tutti_status fault_read_integer(fault_parser *parser, const char *expected, uint64_t value_max,
                                uint64_t *value_out);

/* Copies a text of the plan into the plan's strings and ends it with a NUL. */
const char *fault_store(fault_parser *parser, size_t offset, size_t bytes);

/* ---- grammar ---- */

/* Reads the keys of a rule, up to "]"; "[" was read before. */
tutti_status fault_read_selector(fault_parser *parser);

/* Reads `action [ "(" argument ")" ]`. */
tutti_status fault_read_action(fault_parser *parser, tutti_fault_action *action_out);

/* Reads the rules of a whole plan. */
tutti_status fault_parse_rules(fault_parser *parser);

#endif
