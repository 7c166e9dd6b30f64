#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "drivers/emu/script_parse.h"

/* --- Errors and tokens --- */

bool emu_parser_fail(emu_parser *parser, const emu_token *at, const char *format, ...) {
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    parser->status =
        emu_lexer_error(&parser->lexer, at, TUTTI_SYNTAX, parser->error, "%s", message);
    return false;
}

bool emu_parser_expected(emu_parser *parser, const char *what) {
    char found[64];
    emu_token_describe(emu_parser_token(parser), found, sizeof found);
    return emu_parser_fail(parser, emu_parser_token(parser), "expected %s, found %s", what, found);
}

bool emu_parser_no_memory(emu_parser *parser) {
    parser->status = emu_lexer_error(&parser->lexer, emu_parser_token(parser), TUTTI_OUT_OF_MEMORY,
                                     parser->error, "no memory is left to read the script");
    return false;
}

bool emu_parser_take(emu_parser *parser, emu_token_kind kind, const char *what) {
    if (emu_parser_token(parser)->kind != kind) return emu_parser_expected(parser, what);
    emu_lexer_advance(&parser->lexer);
    return true;
}

bool emu_parser_line_end(emu_parser *parser) {
    if (emu_parser_token(parser)->kind == EMU_TOKEN_LINE_END) return true;
    return emu_parser_expected(parser, "end of line");
}

/* --- Lines --- */

static bool parse_unknown_line(emu_parser *parser) {
    const emu_token *word = emu_parser_token(parser);
    const char *near = word->kind == EMU_TOKEN_WORD ? emu_line_word_near(word) : NULL;
    if (!near) return emu_parser_expected(parser, "a statement");
    char found[64];
    emu_token_describe(word, found, sizeof found);
    return emu_parser_fail(parser, word, "expected a statement, found %s; did you mean '%s'?",
                           found, near);
}

static bool parse_line(emu_parser *parser) {
    const emu_token word = *emu_parser_token(parser);
    if (parser->script->rank_count == 0 && !emu_token_is(&word, "ranks"))
        return emu_parser_expected(parser, "'ranks' and their number, before all else");
    bool found;
    if (!emu_parse_header(parser, &found)) return false;
    if (found) return emu_parser_line_end(parser);
    const emu_statement_word *statement = emu_statement_word_find(&word);
    if (!statement) return parse_unknown_line(parser);
    if (parser->section_count == 0)
        return emu_parser_fail(parser, &word,
                               "'%s' needs ranks that run it: write 'rank *' on a line above it",
                               statement->name);
    return emu_parse_statement(parser, statement) && emu_parser_line_end(parser);
}

static bool check_line_length(emu_parser *parser) {
    const size_t bytes = (size_t)(parser->lexer.last - parser->lexer.first);
    if (bytes <= EMU_SCRIPT_LINE_BYTES_MAX) return true;
    return emu_parser_fail(parser, emu_parser_token(parser),
                           "the line has %zu bytes; at most %d are read", bytes,
                           EMU_SCRIPT_LINE_BYTES_MAX);
}

static bool parse_lines(emu_parser *parser) {
    while (emu_lexer_next_line(&parser->lexer)) {
        if (!check_line_length(parser)) return false;
        if (emu_parser_token(parser)->kind == EMU_TOKEN_LINE_END) continue;
        if (!parse_line(parser)) return false;
    }
    if (parser->script->rank_count == 0)
        return emu_parser_expected(parser, "'ranks' and their number, before all else");
    return emu_check_blocks_closed(parser);
}

/* --- The script's memory --- */

static emu_script *script_create(const char *file, size_t memory_bytes_max) {
    emu_arena arena;
    emu_arena_init(&arena, memory_bytes_max);
    emu_script *script = emu_arena_alloc(&arena, 1, sizeof *script);
    const char *shown = file ? file : "script";
    const char *copy = emu_arena_text(&arena, shown, strlen(shown));
    if (!script || !copy) {
        emu_arena_free(&arena);
        return NULL;
    }
    script->file = copy;
    script->arena = arena;
    return script;
}

void emu_script_free(emu_script *script) {
    if (!script) return;
    emu_arena arena = script->arena; /* the script itself is in it */
    emu_arena_free(&arena);
}

/* --- Reading --- */

static bool parse_script(emu_parser *parser, size_t text_bytes) {
    if (text_bytes > EMU_SCRIPT_BYTES_MAX) {
        const emu_token start = {EMU_TOKEN_OTHER, parser->lexer.text, 0, 1, 1};
        return emu_parser_fail(parser, &start, "the script has %zu bytes; at most %d are read",
                               text_bytes, EMU_SCRIPT_BYTES_MAX);
    }
    return emu_make_world(parser) && emu_name_predeclare_stream(parser, "compute") &&
           emu_name_predeclare_stream(parser, "comm") && parse_lines(parser) &&
           emu_parser_finish(parser);
}

static void tell_refusal(emu_parser *parser, tutti_error *refusal_out) {
    tutti_error_clear(refusal_out);
    const emu_refusal *refusal = &parser->refusal;
    if (!refusal->present) return;
    emu_lexer_error(&parser->lexer, &refusal->at, TUTTI_UNSUPPORTED, refusal_out,
                    "%s'%.*s' is not in this version yet; it has %s", refusal->kind,
                    (int)refusal->at.bytes, refusal->at.text, refusal->available);
}

tutti_status emu_script_read(const char *text, size_t text_bytes, const char *file,
                             size_t memory_bytes_max, emu_script **script_out,
                             tutti_error *refusal_out, tutti_error *error) {
    assert(text || text_bytes == 0);
    emu_parser parser;
    memset(&parser, 0, sizeof parser);
    parser.error = error;
    emu_lexer_init(&parser.lexer, text ? text : "", text_bytes, file);
    parser.script = script_create(file, memory_bytes_max);
    tutti_error_clear(error);
    if (!parser.script)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory is left to read %s",
                               file ? file : "script");
    emu_arena_init(&parser.scratch, memory_bytes_max);
    if (parse_script(&parser, text_bytes)) {
        tell_refusal(&parser, refusal_out);
        *script_out = parser.script;
    } else {
        emu_script_free(parser.script);
    }
    emu_arena_free(&parser.scratch);
    return parser.status;
}

tutti_status emu_script_parse(const char *text, size_t text_bytes, const char *file,
                              emu_script **script_out, tutti_error *error) {
    tutti_error_clear(error);
    if (!text && text_bytes > 0)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "text is NULL but has %zu bytes",
                               text_bytes);
    emu_script *script = NULL;
    tutti_error refusal;
    const tutti_status status =
        emu_script_read(text, text_bytes, file, SIZE_MAX, &script, &refusal, error);
    if (status != TUTTI_OK) return status;
    if (refusal.status != TUTTI_OK) {
        if (error) *error = refusal;
        emu_script_free(script);
        return refusal.status;
    }
    *script_out = script;
    return TUTTI_OK;
}
