#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "drivers/emu/script_parse.h"

/* --- Lists of slices --- */

/* Takes `x, y[0:2] z`, up to a clause or the end of the line. */
static bool parse_slices(emu_parser *parser, const emu_script_slice **slices_out,
                         uint32_t *count_out) {
    parser->slice_count = 0;
    for (;;) {
        emu_script_slice slice;
        if (!emu_parse_slice(parser, &slice)) return false;
        emu_script_slice *grown =
            emu_arena_grow(&parser->scratch, parser->slices, parser->slice_count,
                           &parser->slice_capacity, sizeof *grown);
        if (!grown) return emu_parser_no_memory(parser);
        parser->slices = grown;
        parser->slices[parser->slice_count++] = slice;
        const emu_token *next = emu_parser_token(parser);
        if (next->kind == EMU_TOKEN_COMMA)
            emu_lexer_advance(&parser->lexer);
        else if (next->kind != EMU_TOKEN_WORD || emu_clause_find(next))
            break;
    }
    *slices_out = emu_arena_copy(&parser->script->arena, parser->slices, parser->slice_count,
                                 sizeof **slices_out);
    *count_out = parser->slice_count;
    return *slices_out || emu_parser_no_memory(parser);
}

/* --- Clauses --- */

static bool parse_op(emu_parser *parser, emu_script_statement *statement) {
    const emu_token *token = emu_parser_token(parser);
    const tutti_status status = tutti_reduce_op_parse(token->text, token->bytes, &statement->op);
    assert(status == TUTTI_OK); /* or it would not be this clause */
    (void)status;
    emu_lexer_advance(&parser->lexer);
    return true;
}

static bool parse_color(emu_parser *parser, emu_script_derivation *derivation) {
    if (emu_token_is(emu_parser_token(parser), "none")) {
        emu_lexer_advance(&parser->lexer);
        return true;
    }
    uint64_t color;
    if (!emu_parse_u64(parser, "a color", 0, INT32_MAX, &color)) return false;
    derivation->color = (int32_t)color;
    return true;
}

static bool parse_derivation_clause(emu_parser *parser, emu_clause clause,
                                    emu_script_derivation *derivation) {
    switch (clause) {
    case EMU_CLAUSE_COLOR:
        return parse_color(parser, derivation);
    case EMU_CLAUSE_KEY:
        return emu_parse_i32(parser, "a key", &derivation->key);
    case EMU_CLAUSE_WITHOUT:
        return emu_parse_rank_set(parser, "the ranks to leave out", &derivation->without);
    default:
        return emu_parse_derived_name(parser, &derivation->group);
    }
}

static bool parse_clause(emu_parser *parser, emu_clause clause, emu_script_statement *statement,
                         emu_script_derivation *derivation) {
    if (clause == EMU_CLAUSE_OP) return parse_op(parser, statement);
    emu_lexer_advance(&parser->lexer);
    switch (clause) {
    case EMU_CLAUSE_ROOT:
        return emu_parse_rank(parser, "the root's rank", &statement->peer);
    case EMU_CLAUSE_TO:
        return emu_parse_rank(parser, "the receiver's rank", &statement->peer);
    case EMU_CLAUSE_FROM:
        return emu_parse_rank(parser, "the sender's rank", &statement->peer);
    case EMU_CLAUSE_READS:
        return parse_slices(parser, &statement->reads, &statement->read_count);
    case EMU_CLAUSE_WRITES:
        return parse_slices(parser, &statement->writes, &statement->write_count);
    case EMU_CLAUSE_IN:
        return emu_parse_group_name(parser, &statement->group);
    case EMU_CLAUSE_ON:
        return emu_parse_stream_name(parser, &statement->stream);
    case EMU_CLAUSE_FOR:
        return emu_parse_duration(parser, &statement->duration_ns);
    case EMU_CLAUSE_NONBLOCKING:
        statement->non_blocking = true;
        return true;
    default:
        return parse_derivation_clause(parser, clause, derivation);
    }
}

/* "expected 'in', 'on' or end of line, found X": one of the clauses, or the end if that is right.
 */
static bool fail_clause(emu_parser *parser, uint32_t clauses, bool end_is_right) {
    char list[192] = "";
    size_t length = 0;
    uint32_t listed = 0, total = end_is_right;
    for (uint32_t i = 0; i < EMU_CLAUSE_COUNT; i++)
        total += (clauses >> i) & 1;
    for (uint32_t i = 0; i < EMU_CLAUSE_COUNT; i++) {
        if (!(clauses & 1u << i)) continue;
        const char *separator = listed == 0 ? "" : listed + 1 == total ? " or " : ", ";
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", separator,
                                   emu_clause_text((emu_clause)(1u << i)));
        listed++;
    }
    if (end_is_right)
        snprintf(list + length, sizeof list - length, "%send of line", listed ? " or " : "");
    return emu_parser_expected(parser, list);
}

static uint32_t lowest_bit(uint32_t bits) {
    return bits & (~bits + 1);
}

static bool lacks_access(const emu_statement_word *word, uint32_t seen) {
    return word->kind == EMU_SCRIPT_HOST && !(seen & (EMU_CLAUSE_READS | EMU_CLAUSE_WRITES));
}

/* Takes one clause that the statement may have and has not yet. */
static bool take_clause(emu_parser *parser, const emu_statement_word *word,
                        emu_script_statement *statement, emu_script_derivation *derivation,
                        uint32_t *seen) {
    const emu_token at = *emu_parser_token(parser);
    const uint32_t clause = emu_clause_find(&at);
    if (clause & *seen)
        return emu_parser_fail(parser, &at, "%s is there already",
                               emu_clause_text((emu_clause)clause));
    const uint32_t missing = word->required & ~*seen;
    const uint32_t allowed = missing | (word->optional & ~*seen);
    if (!(clause & allowed))
        return fail_clause(parser, missing ? lowest_bit(missing) : allowed,
                           !missing && !lacks_access(word, *seen));
    *seen |= clause;
    return parse_clause(parser, (emu_clause)clause, statement, derivation);
}

/* At the end of the line: what is missing? */
static bool check_clauses(emu_parser *parser, const emu_statement_word *word, uint32_t seen,
                          const emu_script_derivation *derivation) {
    const uint32_t missing = word->required & ~seen;
    if (missing) return fail_clause(parser, lowest_bit(missing), false);
    if (lacks_access(word, seen))
        return fail_clause(parser, EMU_CLAUSE_READS | EMU_CLAUSE_WRITES, false);
    if (word->kind == EMU_SCRIPT_SPLIT && derivation->color >= 0 && !(seen & EMU_CLAUSE_AS))
        return fail_clause(parser, EMU_CLAUSE_AS, false);
    return true;
}

bool emu_parse_clauses(emu_parser *parser, const emu_statement_word *word,
                       emu_script_statement *statement) {
    emu_script_derivation derivation = {.group = EMU_SCRIPT_NONE, .color = -1};
    uint32_t seen = 0;
    while (emu_parser_token(parser)->kind != EMU_TOKEN_LINE_END)
        if (!take_clause(parser, word, statement, &derivation, &seen)) return false;
    if (!check_clauses(parser, word, seen, &derivation)) return false;
    if (word->kind != EMU_SCRIPT_SPLIT && word->kind != EMU_SCRIPT_SHRINK) return true;
    statement->derivation =
        emu_arena_copy(&parser->script->arena, &derivation, 1, sizeof derivation);
    return statement->derivation || emu_parser_no_memory(parser);
}
