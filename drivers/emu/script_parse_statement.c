#include <assert.h>
#include <string.h>

#include "drivers/emu/script_parse.h"

/* --- Blocks --- */

bool emu_check_blocks_closed(emu_parser *parser) {
    if (parser->open_count == 0) return true;
    const emu_open_block *block = &parser->open[parser->open_count - 1];
    char found[64];
    emu_token_describe(emu_parser_token(parser), found, sizeof found);
    return emu_parser_fail(parser, emu_parser_token(parser),
                           "expected 'end' for the '%s' of line %d, found %s",
                           emu_script_kind_name(block->kind), (int)block->line, found);
}

static bool open_block(emu_parser *parser, emu_script_statement *statement, const emu_token *at) {
    if (parser->open_count == EMU_SCRIPT_NESTING_MAX)
        return emu_parser_fail(parser, at, "at most %d 'repeat' and 'start' are open at once",
                               EMU_SCRIPT_NESTING_MAX);
    statement->loop = statement->kind == EMU_SCRIPT_REPEAT ? parser->open_repeats : 0;
    parser->open[parser->open_count++] =
        (emu_open_block){parser->statement_count, statement->kind, statement->line};
    if (statement->kind == EMU_SCRIPT_REPEAT) parser->open_repeats++;
    if (parser->open_repeats > parser->script->loop_depth)
        parser->script->loop_depth = parser->open_repeats;
    return true;
}

static bool close_block(emu_parser *parser, emu_script_statement *end, const emu_token *at) {
    if (parser->open_count == 0)
        return emu_parser_fail(parser, at,
                               "'end' closes nothing: no 'repeat' or 'start' is open here");
    const emu_open_block block = parser->open[--parser->open_count];
    emu_script_statement *start = &parser->statements[block.statement];
    start->partner = parser->statement_count;
    end->partner = block.statement;
    end->kind = EMU_SCRIPT_GROUP_END;
    if (block.kind == EMU_SCRIPT_REPEAT) {
        end->kind = EMU_SCRIPT_REPEAT_END;
        end->loop = start->loop;
        parser->open_repeats--;
    }
    return true;
}

/* --- Operands --- */

/* The slices of one statement live as long as the script. */
static const emu_script_slice *keep_slice(emu_parser *parser, const emu_script_slice *slice) {
    const emu_script_slice *kept = emu_arena_copy(&parser->script->arena, slice, 1, sizeof *kept);
    if (!kept) emu_parser_no_memory(parser);
    return kept;
}

static bool parse_source(emu_parser *parser, emu_script_statement *statement) {
    emu_script_slice slice;
    if (!emu_parse_slice(parser, &slice)) return false;
    statement->reads = keep_slice(parser, &slice);
    statement->read_count = 1;
    return statement->reads != NULL;
}

static bool parse_destination(emu_parser *parser, emu_script_statement *statement) {
    emu_script_slice slice;
    if (!emu_parse_slice(parser, &slice)) return false;
    statement->writes = keep_slice(parser, &slice);
    statement->write_count = 1;
    return statement->writes != NULL;
}

/* x -> y, or x alone when it is optional: in place. */
static bool parse_move(emu_parser *parser, emu_script_statement *statement, bool optional) {
    if (!parse_source(parser, statement)) return false;
    if (optional && emu_parser_token(parser)->kind != EMU_TOKEN_ARROW) {
        statement->writes = statement->reads;
        statement->write_count = 1;
        return true;
    }
    if (!emu_parser_take(parser, EMU_TOKEN_ARROW, "'->' and a destination")) return false;
    const emu_token at = *emu_parser_token(parser);
    return parse_destination(parser, statement) &&
           emu_check_same_type(parser, &at, statement->reads->name, statement->writes->name);
}

static bool parse_whole_buffer(emu_parser *parser, emu_script_statement *statement) {
    const emu_token at = *emu_parser_token(parser);
    emu_script_slice whole = {.count = EMU_SCRIPT_WHOLE};
    const emu_section_view *view;
    if (!emu_parse_buffer_name(parser, &whole.name) ||
        !emu_check_view(parser, &at, whole.name, &view))
        return false;
    if (emu_parser_token(parser)->kind == EMU_TOKEN_OPEN)
        return emu_parser_fail(parser, emu_parser_token(parser),
                               "expected end of line, found '['; a buffer is freed as a whole");
    statement->writes = keep_slice(parser, &whole);
    statement->write_count = 1;
    return statement->writes != NULL;
}

static bool parse_expectation(emu_parser *parser, emu_script_statement *statement) {
    const emu_token at = *emu_parser_token(parser);
    if (!parse_source(parser, statement)) return false;
    const emu_script_slice *slice = statement->reads;
    const emu_section_view *view;
    if (!emu_check_view(parser, &at, slice->name, &view)) return false;
    const bool whole = slice->count == EMU_SCRIPT_WHOLE;
    const uint64_t count_min = whole ? view->count_min : slice->count;
    const uint64_t count_max = whole ? view->count_max : slice->count;
    emu_script_fill fill;
    if (!emu_parser_take(parser, EMU_TOKEN_EQUALS, "'=' and the values") ||
        !emu_parse_fill(parser, view->types, count_min, count_max, false, &fill))
        return false;
    statement->expected = emu_arena_copy(&parser->script->arena, &fill, 1, sizeof fill);
    return statement->expected || emu_parser_no_memory(parser);
}

static bool parse_rounds(emu_parser *parser, emu_script_statement *statement) {
    uint64_t rounds;
    if (!emu_parse_u64(parser, "the number of rounds", 0, EMU_SCRIPT_REPEAT_MAX, &rounds))
        return false;
    statement->repeat_count = (uint32_t)rounds;
    return true;
}

static bool parse_operands(emu_parser *parser, emu_operands operands,
                           emu_script_statement *statement) {
    switch (operands) {
    case EMU_OPERANDS_NONE:
        return true;
    case EMU_OPERANDS_SOURCE:
        return parse_source(parser, statement);
    case EMU_OPERANDS_DESTINATION:
        return parse_destination(parser, statement);
    case EMU_OPERANDS_MOVE:
        return parse_move(parser, statement, false);
    case EMU_OPERANDS_MOVE_OPTIONAL:
        return parse_move(parser, statement, true);
    case EMU_OPERANDS_BUFFER:
        return parse_whole_buffer(parser, statement);
    case EMU_OPERANDS_EXPECTATION:
        return parse_expectation(parser, statement);
    case EMU_OPERANDS_GROUP:
        return emu_parse_group_name(parser, &statement->group);
    case EMU_OPERANDS_EVENT_RECORDED:
        return emu_parse_event_name(parser, true, &statement->event);
    case EMU_OPERANDS_EVENT:
        return emu_parse_event_name(parser, false, &statement->event);
    case EMU_OPERANDS_TARGET_OPTIONAL:
        if (emu_parser_token(parser)->kind == EMU_TOKEN_LINE_END) return true;
        return emu_parse_target(parser, statement);
    case EMU_OPERANDS_TARGET:
        return emu_parse_target(parser, statement);
    case EMU_OPERANDS_DURATION:
        return emu_parse_duration(parser, &statement->duration_ns);
    case EMU_OPERANDS_ROUNDS:
        return parse_rounds(parser, statement);
    }
    return true;
}

/* --- Statements --- */

static emu_script_statement empty_statement(const emu_statement_word *word, const emu_token *at) {
    const bool communicates = (word->optional & EMU_CLAUSE_IN) != 0;
    const bool on_stream = (word->optional & EMU_CLAUSE_ON) != 0;
    emu_script_statement statement;
    memset(&statement, 0, sizeof statement);
    statement.kind = word->kind;
    statement.line = at->line;
    statement.column = at->column;
    statement.group = communicates ? EMU_SCRIPT_WORLD : EMU_SCRIPT_NONE;
    statement.stream = EMU_SCRIPT_NONE;
    if (on_stream)
        statement.stream = communicates ? EMU_SCRIPT_STREAM_COMM : EMU_SCRIPT_STREAM_COMPUTE;
    statement.event = EMU_SCRIPT_NONE;
    statement.peer = -1;
    statement.partner = EMU_SCRIPT_NONE;
    return statement;
}

static bool add_statement(emu_parser *parser, const emu_script_statement *statement,
                          const emu_token *at) {
    if (parser->statement_count == EMU_SCRIPT_STATEMENTS_MAX)
        return emu_parser_fail(parser, at, "a script has at most %d statements",
                               EMU_SCRIPT_STATEMENTS_MAX);
    emu_script_statement *grown =
        emu_arena_grow(&parser->scratch, parser->statements, parser->statement_count,
                       &parser->statement_capacity, sizeof *grown);
    if (!grown) return emu_parser_no_memory(parser);
    parser->statements = grown;
    parser->statements[parser->statement_count++] = *statement;
    emu_parser_section(parser)->statement_count++;
    return true;
}

/* Whatever names a stream with `on`, or could, puts something there. */
static void note_stream_use(emu_parser *parser, const emu_statement_word *word,
                            const emu_script_statement *statement) {
    if (word->optional & EMU_CLAUSE_ON) parser->streams[statement->stream].produced = true;
}

bool emu_parse_statement(emu_parser *parser, const emu_statement_word *word) {
    const emu_token at = *emu_parser_token(parser);
    emu_script_statement statement = empty_statement(word, &at);
    emu_lexer_advance(&parser->lexer);
    if (!parse_operands(parser, word->operands, &statement) ||
        !emu_parse_clauses(parser, word, &statement))
        return false;
    const bool opens = word->kind == EMU_SCRIPT_REPEAT || word->kind == EMU_SCRIPT_GROUP_START;
    if (opens && !open_block(parser, &statement, &at)) return false;
    if (word->kind == EMU_SCRIPT_GROUP_END && !close_block(parser, &statement, &at)) return false;
    if (!word->available) emu_refuse_statement(parser, word, &at);
    note_stream_use(parser, word, &statement);
    return add_statement(parser, &statement, &at);
}
