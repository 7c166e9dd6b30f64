#include "drivers/emu/script_lex.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Classes of bytes, on purpose without <ctype.h>, which depends on the locale. */
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_space(char c) {
    return c == ' ' || c == '\t';
}

static bool is_printable(char c) {
    return c >= 0x20 && c < 0x7f;
}

void emu_lexer_init(emu_lexer *lexer, const char *text, size_t text_bytes, const char *file) {
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    memset(lexer, 0, sizeof *lexer);
    lexer->file = file;
    lexer->text = text;
    lexer->end = text + text_bytes;
    if (text_bytes >= 3 && memcmp(text, byte_order_mark, 3) == 0) lexer->text += 3;
    lexer->next = lexer->text;
    lexer->first = lexer->last = lexer->at = lexer->text;
    lexer->token = (emu_token){EMU_TOKEN_LINE_END, lexer->text, 0, 1, 1};
}

/* Where the line that starts at `first` ends, its ending left out; `next` gets the next line. */
static const char *line_end(const char *first, const char *end, const char **next) {
    const char *newline = memchr(first, '\n', (size_t)(end - first));
    const char *last = newline ? newline : end;
    *next = newline ? newline + 1 : end;
    if (newline && last > first && last[-1] == '\r') last--;
    return last;
}

static emu_token end_token(const emu_lexer *lexer, emu_token_kind kind, const char *at) {
    const emu_token token = {kind, at, 0, lexer->line, (int32_t)(at - lexer->first) + 1};
    return token;
}

bool emu_lexer_next_line(emu_lexer *lexer) {
    if (lexer->next == lexer->end) {
        /* Behind a final newline the end is on a line of its own, as editors show it. */
        const bool on_new_line = lexer->line == 0 || lexer->end[-1] == '\n';
        if (on_new_line && lexer->token.kind != EMU_TOKEN_FILE_END) {
            lexer->line++;
            lexer->first = lexer->last = lexer->end;
        }
        lexer->at = lexer->last;
        lexer->token = end_token(lexer, EMU_TOKEN_FILE_END, lexer->last);
        return false;
    }
    lexer->first = lexer->next;
    lexer->last = line_end(lexer->first, lexer->end, &lexer->next);
    lexer->line++;
    lexer->at = lexer->first;
    emu_lexer_advance(lexer);
    return true;
}

static const char *word_end(const char *at, const char *last) {
    while (at < last) {
        const bool joins = *at == '-' && at + 1 < last && is_letter(at[1]);
        if (!is_letter(*at) && !is_digit(*at) && !joins) break;
        at++;
    }
    return at;
}

/* A number takes a sign only behind an e that is all there is beside digits and points, so that
 * 1-3 stays a range. */
static const char *number_end(const char *at, const char *last) {
    bool plain = true;
    while (at < last) {
        const bool exponent = plain && (*at == 'e' || *at == 'E');
        if (!is_letter(*at) && !is_digit(*at) && *at != '.') break;
        if (is_letter(*at)) plain = false;
        at++;
        if (exponent && last - at >= 2 && (*at == '-' || *at == '+') && is_digit(at[1])) at++;
    }
    return at;
}

static emu_token_kind punctuation(char c) {
    switch (c) {
    case '[':
        return EMU_TOKEN_OPEN;
    case ']':
        return EMU_TOKEN_CLOSE;
    case ':':
        return EMU_TOKEN_COLON;
    case '=':
        return EMU_TOKEN_EQUALS;
    case ',':
        return EMU_TOKEN_COMMA;
    case '*':
        return EMU_TOKEN_STAR;
    case '-':
        return EMU_TOKEN_MINUS;
    default:
        return EMU_TOKEN_OTHER;
    }
}

void emu_lexer_advance(emu_lexer *lexer) {
    const char *at = lexer->at;
    const char *last = lexer->last;
    while (at < last && is_space(*at))
        at++;
    if (at == last || *at == '#') {
        lexer->token = end_token(lexer, EMU_TOKEN_LINE_END, at);
        lexer->at = last;
        return;
    }
    emu_token token = end_token(lexer, EMU_TOKEN_WORD, at);
    const char *end = at + 1;
    if (is_letter(*at)) {
        end = word_end(at, last);
    } else if (is_digit(*at) || (*at == '.' && end < last && is_digit(*end))) {
        token.kind = EMU_TOKEN_NUMBER;
        end = number_end(at, last);
    } else if (*at == '-' && end < last && *end == '>') {
        token.kind = EMU_TOKEN_ARROW;
        end++;
    } else {
        token.kind = punctuation(*at);
    }
    token.bytes = (size_t)(end - at);
    lexer->token = token;
    lexer->at = end;
}

emu_token emu_lexer_take_rest(emu_lexer *lexer) {
    emu_token rest = lexer->token;
    const char *end = lexer->last;
    while (end > rest.text && is_space(end[-1]))
        end--;
    rest.bytes = (size_t)(end - rest.text);
    lexer->at = lexer->last;
    lexer->token = end_token(lexer, EMU_TOKEN_LINE_END, end);
    return rest;
}

bool emu_token_touches(const emu_token *left, const emu_token *right) {
    return left->text + left->bytes == right->text;
}

bool emu_token_is(const emu_token *token, const char *word) {
    return token->kind == EMU_TOKEN_WORD && strlen(word) == token->bytes &&
           memcmp(token->text, word, token->bytes) == 0;
}

void emu_token_describe(const emu_token *token, char *text, size_t text_bytes) {
    enum { SHOWN_BYTES_MAX = 40 };
    if (token->kind == EMU_TOKEN_LINE_END) {
        snprintf(text, text_bytes, "end of line");
    } else if (token->kind == EMU_TOKEN_FILE_END) {
        snprintf(text, text_bytes, "end of file");
    } else if (token->kind == EMU_TOKEN_OTHER && !is_printable(*token->text)) {
        snprintf(text, text_bytes, "byte 0x%02x", (unsigned)(unsigned char)*token->text);
    } else {
        const bool cut = token->bytes > SHOWN_BYTES_MAX;
        snprintf(text, text_bytes, "'%.*s%s'", cut ? SHOWN_BYTES_MAX : (int)token->bytes,
                 token->text, cut ? "..." : "");
    }
}

/* --- Errors --- */

/* Together they fit TUTTI_ERROR_MESSAGE_BYTES with the numbers, the two line breaks and the NUL. */
enum {
    FILE_BYTES_MAX = 120,    /* of a longer name the end is shown */
    MESSAGE_BYTES_MAX = 200, /* longer ones are cut */
    EXCERPT_BYTES_MAX = 76,  /* of the script's line, around the place */
    NUMBERS_BYTES_MAX = 32,  /* colons, line and column */
};
_Static_assert(FILE_BYTES_MAX + MESSAGE_BYTES_MAX + 2 * (EXCERPT_BYTES_MAX + 1) +
                       NUMBERS_BYTES_MAX <
                   TUTTI_ERROR_MESSAGE_BYTES,
               "a message with its excerpt is never cut");

/* Part of a line, one character a byte, so that the caret stands right whatever the bytes are. */
typedef struct excerpt {
    char text[EXCERPT_BYTES_MAX + 1];
    int caret; /* spaces before it */
} excerpt;

/* The part of the line that holds the byte at `offset`; "..." where something is left out. */
static excerpt excerpt_of(const char *line, size_t line_bytes, size_t offset) {
    excerpt shown;
    size_t from = 0;
    size_t count = line_bytes;
    if (line_bytes > EXCERPT_BYTES_MAX) {
        const size_t half = EXCERPT_BYTES_MAX / 2;
        from = offset > half ? offset - half : 0;
        if (from > line_bytes - EXCERPT_BYTES_MAX) from = line_bytes - EXCERPT_BYTES_MAX;
        count = EXCERPT_BYTES_MAX;
    }
    for (size_t i = 0; i < count; i++) {
        const char c = line[from + i];
        shown.text[i] = is_printable(c) ? c : c == '\t' ? ' ' : '?';
    }
    shown.text[count] = '\0';
    if (from > 0) memset(shown.text, '.', 3);
    if (from + count < line_bytes) memset(shown.text + count - 3, '.', 3);
    shown.caret = (int)(offset - from);
    return shown;
}

tutti_status emu_lexer_error(const emu_lexer *lexer, const emu_token *at, tutti_status status,
                             tutti_error *error, const char *format, ...) {
    assert(at->column >= 1);
    char message[MESSAGE_BYTES_MAX + 1];
    va_list arguments;
    va_start(arguments, format);
    const int wanted = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (wanted > MESSAGE_BYTES_MAX) memset(message + MESSAGE_BYTES_MAX - 3, '.', 3);

    const size_t offset = (size_t)(at->column - 1);
    const char *line = at->text - offset;
    const char *next;
    const size_t line_bytes = (size_t)(line_end(line, lexer->end, &next) - line);
    const excerpt shown = excerpt_of(line, line_bytes, offset);

    const char *file = lexer->file ? lexer->file : "script";
    const size_t file_bytes = strlen(file);
    const bool cut = file_bytes > FILE_BYTES_MAX;
    tutti_error_clear(error);
    if (error) error->place = (tutti_place){lexer->file, at->line};
    return tutti_error_set(error, status, "%s%s:%d:%d: %s\n%s\n%*s^", cut ? "..." : "",
                           cut ? file + file_bytes - (FILE_BYTES_MAX - 3) : file, (int)at->line,
                           (int)at->column, message, shown.text, shown.caret, "");
}
