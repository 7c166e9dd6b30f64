#ifndef TUTTI_EMU_SCRIPT_PARSE_H
#define TUTTI_EMU_SCRIPT_PARSE_H

/* What the files of the script reader share: script_parse.c (lines), script_parse_header.c,
 * script_parse_statement.c, script_parse_clause.c, script_parse_buffer.c (what a line may say),
 * script_parse_holders.c (who has a buffer),
 * script_parse_ranks.c, script_parse_number.c, script_parse_names.c (what lines are made of),
 * script_parse_words.c (which words there are), script_check.c (what must fit together),
 * script_parse_finish.c (from the growing arrays here to the script).
 *
 * Functions that return bool return false when the script is refused; the error is then set and
 * reading is over. */

#include "drivers/emu/script.h"
#include "drivers/emu/script_lex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Names --- */

/* All names share one space, so that a misplaced one can be recognised. */
typedef enum emu_name_kind {
    EMU_NAME_BUFFER,
    EMU_NAME_GROUP,
    EMU_NAME_STREAM,
    EMU_NAME_EVENT,
} emu_name_kind;

typedef struct emu_name {
    const char *text; /* NUL terminated, in the script's arena */
    emu_name_kind kind;
    uint32_t index; /* in the script's array of that kind */
    int32_t line;   /* that brought it in; 0: predeclared */
} emu_name;

/* --- What is known while reading --- */

/* What the ranks of one section have under one name of buffers. Kept while nothing changes it. */
typedef struct emu_section_view {
    uint32_t section;   /* that this is about; EMU_SCRIPT_NONE: about none yet */
    uint64_t types;     /* bit `1 << type` of each */
    uint64_t count_min; /* elements of the smallest buffer */
    uint64_t count_max;
    int32_t smallest; /* a rank that has the smallest one */
} emu_section_view;

/* A name of buffers whose list of holders still grows. */
enum { EMU_HOLDER_RUNS_MAX = 24 }; /* more than binary digits in any number of holdings, plus one */
typedef struct emu_buffer_builder {
    const char *name;
    emu_script_holding *holdings; /* disjoint; in runs, by rank within each */
    uint32_t holding_count;
    uint32_t holding_capacity;
    uint32_t run_starts[EMU_HOLDER_RUNS_MAX];
    uint32_t run_count;
    emu_section_view view;
} emu_buffer_builder;

/* A repeat or a group call that waits for its end. */
typedef struct emu_open_block {
    uint32_t statement;
    emu_script_kind kind;
    int32_t line;
} emu_open_block;

/* A part of a `device` line. */
typedef struct emu_placement_line {
    emu_script_placement placement;
    emu_token at; /* its ranks */
} emu_placement_line;

/* Where something was said that may be said only once; 0: nowhere yet. */
typedef struct emu_once {
    int32_t capacity;
    int32_t timeout;
    int32_t first_use;
    int32_t tolerate;
} emu_once;

/* The first use of something that this version has not: told when all else is right. */
typedef struct emu_refusal {
    bool present;
    emu_token at;
    const char *kind; /* "" or "verdict " */
    char available[256];
} emu_refusal;

typedef struct emu_parser {
    emu_lexer lexer;
    tutti_error *error;
    tutti_status status;
    emu_arena scratch;  /* what is not needed any more when the script is read */
    emu_script *script; /* in its own arena; the arrays below become its arrays */
    emu_rank_set all_ranks;
    emu_once said;
    emu_refusal refusal;

    emu_name *names;
    uint32_t name_count, name_capacity;
    uint32_t *name_slots; /* open addressing: index in names + 1; 0: empty */
    uint32_t name_slot_count;

    emu_script_group *groups;
    uint32_t group_count, group_capacity;
    emu_script_name *streams;
    uint32_t stream_count, stream_capacity;
    emu_script_name *events;
    uint32_t event_count, event_capacity;
    emu_script_buffer *buffers;
    uint32_t buffer_count, buffer_capacity;
    emu_buffer_builder *buffer_names;
    uint32_t buffer_name_count, buffer_name_capacity;
    emu_script_section *sections;
    uint32_t section_count, section_capacity;
    emu_script_statement *statements;
    uint32_t statement_count, statement_capacity;
    emu_placement_line *placements;
    uint32_t placement_count, placement_capacity;
    char *faults; /* room for TUTTI_FAULT_TEXT_BYTES_MAX; NULL: no fault yet */
    size_t faults_bytes;
    int32_t faults_last_line; /* of the rule that was added last */

    emu_open_block open[EMU_SCRIPT_NESTING_MAX];
    uint32_t open_count;
    uint32_t open_repeats;   /* how many of them are repeats */
    uint64_t section_ranges; /* of all sections so far */
    uint64_t buffer_ranges;  /* of all declarations so far */
    uint64_t holder_checks;  /* so far */

    /* Lists of one line, emptied by whoever fills them. */
    emu_rank_range *ranges;
    uint32_t range_count, range_capacity;
    emu_script_value *values;
    uint32_t value_count, value_capacity;
    emu_script_slice *slices;
    uint32_t slice_count, slice_capacity;
} emu_parser;

/* --- script_parse.c --- */

/* Reads and checks a script as emu_script_parse() does, within memory_bytes_max for its arena and
 * as much again for what reading needs, and accepts what this version has not, too: *refusal_out
 * gets what emu_script_parse() would say about it (status TUTTI_OK when there is nothing to say).
 */
tutti_status emu_script_read(const char *text, size_t text_bytes, const char *file,
                             size_t memory_bytes_max, emu_script **script_out,
                             tutti_error *refusal_out, tutti_error *error);

/* Sets the error, at the token, with the message (printf's format). Returns false. */
bool emu_parser_fail(emu_parser *parser, const emu_token *at, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* "expected WHAT, found TOKEN", at the current token. Returns false. */
bool emu_parser_expected(emu_parser *parser, const char *what);

/* Memory is out. Returns false. */
bool emu_parser_no_memory(emu_parser *parser);

/* Goes behind a token of the given kind, which errors call `what`. */
bool emu_parser_take(emu_parser *parser, emu_token_kind kind, const char *what);

/* The line must be over. */
bool emu_parser_line_end(emu_parser *parser);

static inline const emu_token *emu_parser_token(const emu_parser *parser) {
    return &parser->lexer.token;
}

/* The section that statements go to. There must be one. */
static inline emu_script_section *emu_parser_section(emu_parser *parser) {
    return &parser->sections[parser->section_count - 1];
}

/* --- script_parse_words.c --- */

/* What follows the first word of a statement. */
typedef enum emu_operands {
    EMU_OPERANDS_NONE,
    EMU_OPERANDS_SOURCE,         /* x */
    EMU_OPERANDS_DESTINATION,    /* y */
    EMU_OPERANDS_MOVE,           /* x -> y */
    EMU_OPERANDS_MOVE_OPTIONAL,  /* x, or x -> y */
    EMU_OPERANDS_BUFFER,         /* x, all of it */
    EMU_OPERANDS_EXPECTATION,    /* x = values */
    EMU_OPERANDS_GROUP,          /* g */
    EMU_OPERANDS_EVENT_RECORDED, /* e */
    EMU_OPERANDS_EVENT,          /* e */
    EMU_OPERANDS_TARGET,         /* a stream, an event or a group */
    EMU_OPERANDS_TARGET_OPTIONAL,
    EMU_OPERANDS_DURATION, /* 5ms */
    EMU_OPERANDS_ROUNDS,   /* 3 */
} emu_operands;

/* What stands behind the operands, in any order, each at most once. */
typedef enum emu_clause {
    EMU_CLAUSE_OP = 1 << 0, /* sum, mean, ... */
    EMU_CLAUSE_ROOT = 1 << 1,
    EMU_CLAUSE_TO = 1 << 2,
    EMU_CLAUSE_FROM = 1 << 3,
    EMU_CLAUSE_READS = 1 << 4,
    EMU_CLAUSE_WRITES = 1 << 5,
    EMU_CLAUSE_IN = 1 << 6,
    EMU_CLAUSE_ON = 1 << 7,
    EMU_CLAUSE_FOR = 1 << 8,
    EMU_CLAUSE_COLOR = 1 << 9,
    EMU_CLAUSE_KEY = 1 << 10,
    EMU_CLAUSE_WITHOUT = 1 << 11,
    EMU_CLAUSE_AS = 1 << 12,
    EMU_CLAUSE_NONBLOCKING = 1 << 13,
    EMU_CLAUSE_COUNT = 14,
} emu_clause;

/* A refusal lists what there is instead, of the same family. */
typedef enum emu_family {
    EMU_FAMILY_COMMUNICATION,
    EMU_FAMILY_MEMBERSHIP,
    EMU_FAMILY_OTHER,
} emu_family;

typedef struct emu_statement_word {
    const char *name;
    emu_script_kind kind; /* of `end`: either end */
    emu_family family;
    emu_operands operands;
    uint32_t required; /* clauses */
    uint32_t optional;
    bool available; /* in this version */
} emu_statement_word;

/* The statement that starts with a word; NULL when there is none. */
const emu_statement_word *emu_statement_word_find(const emu_token *token);

/* The words of a clause in errors ("'in'", "a reduction (sum, ...)"). */
const char *emu_clause_text(emu_clause clause);

/* The clause, as one bit, that starts with a token; 0 when there is none. */
uint32_t emu_clause_find(const emu_token *token);

/* Remembers that the script needs a statement that is not available. */
void emu_refuse_statement(emu_parser *parser, const emu_statement_word *word, const emu_token *at);

/* Finds a verdict by its word, and remembers if it is not available. */
bool emu_verdict_find(emu_parser *parser, const emu_token *token, tutti_verdict *verdict_out);

/* Whether a word is one of the language's own and cannot be a name. */
bool emu_word_is_reserved(const emu_token *token);

/* A word that can start a line and looks much like the token; NULL when none does. */
const char *emu_line_word_near(const emu_token *token);

/* --- script_parse_names.c --- */

/* Takes a word that can be a name. what: "a name for the group", for errors. */
bool emu_parse_name(emu_parser *parser, const char *what, emu_token *token_out);

/* Brings in a name; the script must not know it yet. *text_out gets the script's copy. */
bool emu_name_add(emu_parser *parser, const emu_token *token, emu_name_kind kind, uint32_t index,
                  const char **text_out);

/* Finds a name; NULL when there is none. */
const emu_name *emu_name_find(const emu_parser *parser, const emu_token *token);

/* A known name has to be of the given kind. */
bool emu_name_check_kind(emu_parser *parser, const emu_token *token, const emu_name *name,
                         emu_name_kind kind);

/* Adds a group under a new name, as the last of groups. */
bool emu_group_add(emu_parser *parser, const emu_token *token, const emu_script_group *group,
                   uint32_t *index_out);

/* Adds a stream that needs no statement. */
bool emu_name_predeclare_stream(emu_parser *parser, const char *name);

/* Takes the name of a buffer, as an index in buffer_names, or of a group. */
bool emu_parse_buffer_name(emu_parser *parser, uint32_t *index_out);
bool emu_parse_group_name(emu_parser *parser, uint32_t *index_out);

/* Takes the name of a stream or an event, which comes into being if it is new. */
bool emu_parse_stream_name(emu_parser *parser, uint32_t *index_out);
bool emu_parse_event_name(emu_parser *parser, bool recorded, uint32_t *index_out);

/* Takes what sync and poll look at. */
bool emu_parse_target(emu_parser *parser, emu_script_statement *statement);

/* Takes the name of a group made by split or shrink, which several statements may make. */
bool emu_parse_derived_name(emu_parser *parser, uint32_t *index_out);

/* How many letters have to be changed, added, left out or swapped to make one of the other; at
 * most `limit` + 1. */
uint32_t emu_text_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes,
                           uint32_t limit);

/* The distance up to which another word is worth proposing; 0: none is. */
uint32_t emu_text_distance_limit(size_t bytes);

/* --- script_parse_number.c --- */

/* Takes a whole number. what: "the number of ranks", for errors. */
bool emu_parse_u64(emu_parser *parser, const char *what, uint64_t min, uint64_t max,
                   uint64_t *value_out);

/* Takes a whole number that may be negative and fits 32 bits. */
bool emu_parse_i32(emu_parser *parser, const char *what, int32_t *value_out);

/* Takes a number for elements of any of these types (bits `1 << type`). */
bool emu_parse_value(emu_parser *parser, uint64_t types, emu_script_value *value_out);

/* Takes a duration such as 5ms. */
bool emu_parse_duration(emu_parser *parser, int64_t *ns_out);

/* Whether the token has digits only. */
bool emu_token_is_digits(const emu_token *token);

/* Reads all of a text as decimal digits; false when it is something else or exceeds 64 bits. */
bool emu_digits_to_u64(const char *text, size_t bytes, uint64_t *value_out);

/* The f64 that is nearest to `digits [. digits] [e [sign] digits]`, ties to even, whatever the
 * locale is; infinity when it is too large. False: it is something else, or longer than
 * EMU_DECIMAL_BYTES_MAX. */
bool emu_decimal_to_f64(const char *text, size_t bytes, double *value_out);
enum { EMU_DECIMAL_BYTES_MAX = 64 };

/* --- script_parse_ranks.c --- */

/* Takes ranks, `*`, 2, 0-3, several of them, into parser->ranges in the order of the line. */
bool emu_parse_ranges(emu_parser *parser, const char *what);

/* Takes ranks as a set. */
bool emu_parse_rank_set(emu_parser *parser, const char *what, emu_rank_set *set_out);

/* Takes one rank, 0 to the number of ranks - 1. */
bool emu_parse_rank(emu_parser *parser, const char *what, int32_t *rank_out);

/* Takes the members of a group, in order. */
bool emu_parse_members(emu_parser *parser, emu_script_group *group);

/* Makes the group of all ranks, and fills it when their number is known. */
bool emu_make_world(emu_parser *parser);
bool emu_fill_world(emu_parser *parser, int32_t rank_count);

/* --- script_parse_buffer.c --- */

/* Takes what follows `buffer`. */
bool emu_parse_buffer(emu_parser *parser, const emu_token *word);

/* Takes what follows `=`: for `count_min` to `count_max` elements, a list has to fit both, of any
 * of these types. */
bool emu_parse_fill(emu_parser *parser, uint64_t types, uint64_t count_min, uint64_t count_max,
                    bool unset_allowed, emu_script_fill *fill_out);

/* Takes a buffer and perhaps a slice of it, and checks it against the section's ranks. */
bool emu_parse_slice(emu_parser *parser, emu_script_slice *slice_out);

/* --- script_parse_holders.c --- */

/* The holding with the lowest ranks of those that have ranks of the range; NULL without any. */
const emu_script_holding *emu_holders_in(const emu_buffer_builder *builder, emu_rank_range range);

/* Adds ranks, none of which holds a buffer of the name yet. */
bool emu_holders_add(emu_parser *parser, emu_buffer_builder *builder, const emu_rank_set *ranks,
                     uint32_t buffer);

/* Makes one run of all. */
void emu_holders_finish(emu_buffer_builder *builder);

/* --- script_check.c --- */

/* What the current section's ranks have under a name; every one of them must have it. */
bool emu_check_view(emu_parser *parser, const emu_token *at, uint32_t name,
                    const emu_section_view **view_out);

/* The slice must be inside of every rank's buffer. */
bool emu_check_bounds(emu_parser *parser, const emu_token *at, const emu_script_slice *slice);

/* On each rank, both must have one type. */
bool emu_check_same_type(emu_parser *parser, const emu_token *at, uint32_t source,
                         uint32_t destination);

/* The name of the only type of a set of one; "several types" otherwise. */
const char *emu_types_name(uint64_t types);

/* --- script_parse_header.c, script_parse_statement.c, script_parse_clause.c --- */

/* Takes a line that is no statement (ranks, buffer, rank, verdict, ...); *found_out says whether
 * the line started with such a word. */
bool emu_parse_header(emu_parser *parser, bool *found_out);

/* Takes a statement. */
bool emu_parse_statement(emu_parser *parser, const emu_statement_word *word);

/* Takes the clauses up to the end of the line. */
bool emu_parse_clauses(emu_parser *parser, const emu_statement_word *word,
                       emu_script_statement *statement);

/* Every block must be closed before whatever the current token starts. */
bool emu_check_blocks_closed(emu_parser *parser);

/* --- script_parse_finish.c --- */

/* Checks what only the whole script shows, and moves the arrays into the script. */
bool emu_parser_finish(emu_parser *parser);

#ifdef __cplusplus
}
#endif

#endif
