/* Errors that show where in the text of a plan they are: name, line, column, the line itself and a
 * caret below the character. */

#include "fault_internal.h"

#include <assert.h>
#include <string.h>

enum {
    NAME_BYTES_MAX = 60,    /* of a source's name; of longer ones the end is shown */
    EXCERPT_BYTES_MAX = 56, /* of the line that is shown, ... */
    EXCERPT_LEAD_BYTES = 40 /* ... at most so many of them before the caret */
};

static bool is_continuation(char byte) {
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Overlong forms, surrogates and what lies beyond U+10FFFF are not well-formed (RFC 3629); they
 * show in the second byte. */
static bool second_byte_fits(unsigned char first, unsigned char second) {
    switch (first) {
    case 0xE0:
        return second >= 0xA0;
    case 0xED:
        return second < 0xA0;
    case 0xF0:
        return second >= 0x90;
    case 0xF4:
        return second < 0x90;
    default:
        return true;
    }
}

size_t fault_utf8_bytes(const char *text, size_t text_bytes) {
    const unsigned char first = text_bytes > 0 ? (unsigned char)text[0] : 0xFF;
    const size_t bytes = first < 0x80   ? 1
                         : first < 0xC2 ? 0
                         : first < 0xE0 ? 2
                         : first < 0xF0 ? 3
                         : first < 0xF5 ? 4
                                        : 0;

    if (bytes == 0 || bytes > text_bytes) {
        return 0;
    }
    for (size_t i = 1; i < bytes; i++) {
        if (!is_continuation(text[i])) {
            return 0;
        }
    }
    return bytes == 1 || second_byte_fits(first, (unsigned char)text[1]) ? bytes : 0;
}

/* What counts as one column: a character, or a byte that is part of none. */
static size_t column_bytes(const char *text, size_t text_bytes) {
    const size_t bytes = fault_utf8_bytes(text, text_bytes);

    return bytes > 0 ? bytes : 1;
}

void fault_position_advance(fault_position *position, const fault_origin *origin, size_t offset) {
    assert(offset <= origin->text_bytes);
    while (position->offset < offset) {
        const char *text = origin->text + position->offset;
        if (*text == '\n') {
            position->line++;
            position->column = 1;
        } else {
            position->column++;
        }
        position->offset += column_bytes(text, origin->text_bytes - position->offset);
    }
}

/* Writes a text in which every character takes one column. Returns how many there are. */
static size_t put_columns(fault_writer *writer, const char *text, size_t text_bytes) {
    size_t columns = 0;

    for (size_t at = 0; at < text_bytes; columns++) {
        const size_t bytes = fault_utf8_bytes(text + at, text_bytes - at);
        const unsigned char byte = (unsigned char)text[at];
        if (byte == '\t') {
            fault_put_text(writer, " ");
        } else if (bytes == 0 || byte < 0x20 || byte == 0x7F) {
            fault_put_text(writer, "?");
        } else {
            fault_put_bytes(writer, text + at, bytes);
        }
        at += bytes > 0 ? bytes : 1;
    }
    return columns;
}

static void put_place(fault_writer *writer, const tutti_fault_source *source,
                      const fault_position *position) {
    const char *name = source->name;
    const size_t name_bytes = strlen(name);

    if (name_bytes > NAME_BYTES_MAX) {
        name += name_bytes - NAME_BYTES_MAX;
        fault_put_text(writer, "...");
    }
    put_columns(writer, name, strlen(name));
    fault_put_text(writer, ":");
    fault_put_number(writer, (uint64_t)position->line);
    fault_put_text(writer, ":");
    fault_put_number(writer, (uint64_t)position->column);
    fault_put_text(writer, ": ");
}

/* The line around an offset: first byte, and the byte behind its last. */
static void find_line(const fault_origin *origin, size_t offset, size_t *start, size_t *end) {
    *start = offset;
    while (*start > 0 && origin->text[*start - 1] != '\n') {
        (*start)--;
    }
    *end = offset;
    while (*end < origin->text_bytes && origin->text[*end] != '\n') {
        (*end)++;
    }
    if (*end > offset && origin->text[*end - 1] == '\r') {
        (*end)--;
    }
}

/* The part of the line around offset that is shown: first byte, and the byte behind its last. */
static void find_excerpt(const fault_origin *origin, size_t offset, size_t *start, size_t *end) {
    find_line(origin, offset, start, end);
    if (offset - *start > EXCERPT_LEAD_BYTES) {
        *start = offset - EXCERPT_LEAD_BYTES;
        while (*start < offset && is_continuation(origin->text[*start])) {
            (*start)++;
        }
    }
    if (*end - *start > EXCERPT_BYTES_MAX) {
        *end = *start + EXCERPT_BYTES_MAX;
        while (*end > offset && is_continuation(origin->text[*end])) {
            (*end)--;
        }
    }
}

/* Writes the part of the line around offset, and the caret in a line below. */
static void put_excerpt(fault_writer *writer, const fault_origin *origin, size_t offset) {
    size_t line_start = 0;
    size_t line_end = 0;
    size_t start = 0;
    size_t end = 0;

    find_line(origin, offset, &line_start, &line_end);
    find_excerpt(origin, offset, &start, &end);
    size_t columns = start > line_start ? 3 : 0;
    fault_put_text(writer, columns > 0 ? "\n  ..." : "\n  ");
    columns += put_columns(writer, origin->text + start, offset - start);
    put_columns(writer, origin->text + offset, end - offset);
    fault_put_text(writer, end < line_end ? "...\n  " : "\n  ");
    for (; columns > 0; columns--) {
        fault_put_text(writer, " ");
    }
    fault_put_text(writer, "^");
}

tutti_fault_source fault_source_or_default(const tutti_fault_source *source) {
    tutti_fault_source result = {"faults", 1, 1};

    if (source != NULL) {
        result.name = source->name != NULL ? source->name : result.name;
        result.line = source->line > 0 ? source->line : result.line;
        result.column = source->column > 0 ? source->column : result.column;
    }
    return result;
}

tutti_status fault_error_at(const fault_origin *origin, size_t offset, tutti_status status,
                            const char *message, tutti_error *error) {
    fault_position position = {0, origin->source.line, origin->source.column};
    char text[TUTTI_ERROR_MESSAGE_BYTES];
    fault_writer writer = {.text = text, .text_bytes = sizeof(text)};

    assert(offset <= origin->text_bytes);
    if (error == NULL) {
        return status;
    }
    fault_position_advance(&position, origin, offset);
    put_place(&writer, &origin->source, &position);
    fault_put_text(&writer, message);
    put_excerpt(&writer, origin, offset);
    fault_put_end(&writer);
    tutti_error_clear(error);
    tutti_error_set(error, status, "%s", text);
    error->place.file = origin->source.name;
    error->place.line = position.line;
    return status;
}
