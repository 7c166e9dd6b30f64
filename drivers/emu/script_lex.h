#ifndef TUTTI_EMU_SCRIPT_LEX_H
#define TUTTI_EMU_SCRIPT_LEX_H

/* The words of a script, one line at a time, and errors that show where in the text they are. Knows
 * characters and lines, nothing of what statements there are. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum emu_token_kind {
    EMU_TOKEN_LINE_END, /* the line, or what stands before its comment, is over */
    EMU_TOKEN_FILE_END,
    EMU_TOKEN_WORD,   /* letter or _, then letters, digits, _; parts may be joined by single `-` */
    EMU_TOKEN_NUMBER, /* digit, or a point and a digit, then what can belong to it: 8, 1.5e-3, 30s
                       */
    EMU_TOKEN_OPEN,   /* [ */
    EMU_TOKEN_CLOSE,  /* ] */
    EMU_TOKEN_COLON,
    EMU_TOKEN_EQUALS,
    EMU_TOKEN_COMMA,
    EMU_TOKEN_STAR,
    EMU_TOKEN_MINUS,
    EMU_TOKEN_ARROW, /* -> */
    EMU_TOKEN_OTHER, /* one byte that starts nothing */
} emu_token_kind;

typedef struct emu_token {
    emu_token_kind kind;
    const char *text; /* in the script's text, not NUL terminated */
    size_t bytes;     /* 0 for the two ends */
    int32_t line;     /* from 1 */
    int32_t column;   /* in bytes from 1 */
} emu_token;

typedef struct emu_lexer {
    const char *file;  /* for errors; NULL: "script" */
    const char *text;  /* the whole script */
    const char *end;   /* of the text */
    const char *first; /* of the current line */
    const char *last;  /* one behind the current line, its ending left out */
    const char *next;  /* the next line */
    const char *at;    /* what follows the current token */
    int32_t line;      /* number of the current one; 0 before the first */
    emu_token token;   /* the current one */
} emu_lexer;

/* Starts before the first line. A byte order mark is skipped. */
void emu_lexer_init(emu_lexer *lexer, const char *text, size_t text_bytes, const char *file);

/* Goes to the first token of the next line; false, and a FILE_END token, when there is none. */
bool emu_lexer_next_line(emu_lexer *lexer);

/* Goes to the next token of the line; stays at its end. */
void emu_lexer_advance(emu_lexer *lexer);

/* Takes everything from the current token to the end of the line, a comment too but no space at its
 * end, as one token, and goes to the line's end. */
emu_token emu_lexer_take_rest(emu_lexer *lexer);

/* Whether the token follows the other one without a space between. */
bool emu_token_touches(const emu_token *left, const emu_token *right);

/* Whether it is the given word. */
bool emu_token_is(const emu_token *token, const char *word);

/* Writes how an error calls a token ("'->'", "end of line", "byte 0x00"), cut to text_bytes. */
void emu_token_describe(const emu_token *token, char *text, size_t text_bytes);

/* Sets an error that names the file and the token's line and column, with the message (printf's
 * format), and shows the line with a caret. Returns the status. error may be NULL. */
tutti_status emu_lexer_error(const emu_lexer *lexer, const emu_token *at, tutti_status status,
                             tutti_error *error, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 5, 6)))
#endif
    ;

#ifdef __cplusplus
}
#endif

#endif
