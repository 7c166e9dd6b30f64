#include "src/trace/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tutti/fault.h"

enum { ROOM_FIRST = 4096, PIECE_BYTES_MAX = 512, FIRST_LINE_BYTES_MAX = 512 };

void trace_text_free(trace_text *text) {
    free(text->text);
    memset(text, 0, sizeof *text);
}

static bool make_room(trace_text *text, size_t bytes) {
    size_t room = text->room ? text->room : ROOM_FIRST;
    if (text->failed) return false;
    while (room - text->bytes < bytes && room <= SIZE_MAX / 2)
        room *= 2;
    if (room == text->room) return true;
    char *grown = room - text->bytes < bytes ? NULL : realloc(text->text, room);
    text->failed = grown == NULL;
    if (text->failed) return false;
    text->text = grown;
    text->room = room;
    return true;
}

void trace_text_add_bytes(trace_text *text, const char *piece, size_t bytes) {
    if (bytes == 0 || !make_room(text, bytes)) return;
    memcpy(text->text + text->bytes, piece, bytes);
    text->bytes += bytes;
}

void trace_text_add_plain(trace_text *text, const char *piece) {
    trace_text_add_bytes(text, piece, strlen(piece));
}

void trace_text_add(trace_text *text, const char *format, ...) {
    char piece[PIECE_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (wanted < 0) return;
    trace_text_add_bytes(text, piece,
                         (size_t)wanted < sizeof piece ? (size_t)wanted : sizeof piece - 1);
}

/* --- Characters --- */

/* Takes the next character of UTF-8 (RFC 3629); 0xFFFD for a byte that begins none. */
static uint32_t take_character(const char **at) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)*at;
    int length = bytes[0] < 0x80   ? 1
                 : bytes[0] < 0xC2 ? 0
                 : bytes[0] < 0xE0 ? 2
                 : bytes[0] < 0xF0 ? 3
                 : bytes[0] < 0xF5 ? 4
                                   : 0;
    uint32_t character = length == 1 ? bytes[0] : bytes[0] & (0x7FU >> length);
    for (int i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80) length = 0; /* a final NUL ends here, too */
        character = character << 6 | (bytes[i < length ? i : 0] & 0x3FU);
    }
    const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
    if (length == 0 || character < least[length] || surrogate || character > 0x10FFFF) {
        (*at)++;
        return 0xFFFD;
    }
    *at += length;
    return character;
}

static bool is_control(uint32_t character) {
    return character < 0x20 || (character >= 0x7F && character < 0xA0) || character == 0xFFFE ||
           character == 0xFFFF;
}

static void add_replacement(trace_text *text) {
    trace_text_add_plain(text, "\xEF\xBF\xBD");
}

/* Adds what no format treats specially; from ... to is the character as it came. */
static void add_character(trace_text *text, uint32_t character, const char *from, const char *to) {
    if (character == 0xFFFD || is_control(character))
        add_replacement(text);
    else
        trace_text_add_bytes(text, from, (size_t)(to - from));
}

/* Newlines and tabs stay as they are only between elements; attributes would make blanks of them.
 */
static void add_xml(trace_text *text, const char *piece, bool is_attribute) {
    while (*piece) {
        const char *from = piece;
        const uint32_t character = take_character(&piece);
        if (character == '<')
            trace_text_add_plain(text, "&lt;");
        else if (character == '>') /* "]]>" may not stand in a text */
            trace_text_add_plain(text, "&gt;");
        else if (character == '&')
            trace_text_add_plain(text, "&amp;");
        else if (character == '"')
            trace_text_add_plain(text, "&quot;");
        else if (character != '\n' && character != '\t')
            add_character(text, character, from, piece);
        else if (is_attribute)
            trace_text_add(text, "&#%u;", (unsigned)character);
        else
            trace_text_add_bytes(text, from, 1);
    }
}

void trace_text_add_xml(trace_text *text, const char *piece) {
    add_xml(text, piece, true);
}

void trace_text_add_xml_lines(trace_text *text, const char *piece) {
    add_xml(text, piece, false);
}

void trace_text_add_json(trace_text *text, const char *piece) {
    while (*piece) {
        const char *from = piece;
        const uint32_t character = take_character(&piece);
        if (character == '"' || character == '\\')
            trace_text_add(text, "\\%c", (int)character);
        else if (character == '\n')
            trace_text_add_plain(text, "\\n");
        else if (character < 0x20 || character == 0x7F)
            trace_text_add(text, "\\u%04x", (unsigned)character);
        else
            add_character(text, character, from, piece);
    }
}

void trace_text_add_dot(trace_text *text, const char *piece) {
    while (*piece) {
        const char *from = piece;
        const uint32_t character = take_character(&piece);
        if (character == '"' || character == '\\')
            trace_text_add(text, "\\%c", (int)character);
        else if (character == '\n')
            trace_text_add_plain(text, "\\n");
        else
            add_character(text, character, from, piece);
    }
}

void trace_text_add_mermaid(trace_text *text, const char *piece) {
    while (*piece) {
        const char *from = piece;
        const uint32_t character = take_character(&piece);
        if (character == '\n')
            trace_text_add_plain(text, "<br/>");
        else if (character < 0x80 && character && strchr("#;<>%\"{}", (int)character))
            trace_text_add(text, "#%u;", (unsigned)character);
        else
            add_character(text, character, from, piece);
    }
}

void trace_text_add_first_line(trace_text *text, text_quote *quote, const char *piece) {
    char line[FIRST_LINE_BYTES_MAX];
    const size_t bytes = strcspn(piece, "\n");
    const bool fits = bytes < sizeof line;
    snprintf(line, sizeof line, "%.*s", (int)(fits ? bytes : sizeof line - 1), piece);
    quote(text, line);
    if (!fits) trace_text_add_plain(text, "...");
}

void trace_text_add_time(trace_text *text, int64_t ns) {
    char words[64];
    tutti_duration_format(ns, words, sizeof words);
    trace_text_add_plain(text, words);
}
