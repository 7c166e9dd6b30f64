/* The tokens of fault plans, and the messages for tokens that are not the expected ones. */

#include "fault_internal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MESSAGE_BYTES = 384, /* longest message before place and line are added */
    FOUND_BYTES = 48,    /* longest description of a token that was found */
    SHORT_LIST_BYTES = 100
};

void fault_skip_blanks(fault_parser *parser) {
    for (char next = fault_peek(parser); next == ' ' || next == '\t' || next == '\r';
         next = fault_peek(parser)) {
        parser->at++;
    }
}

char fault_peek(const fault_parser *parser) {
    return parser->at < parser->origin.text_bytes ? parser->origin.text[parser->at] : '\0';
}

bool fault_take(fault_parser *parser, char character) {
    const size_t before = parser->at;

    assert(character != '\0');
    fault_skip_blanks(parser);
    if (fault_peek(parser) == character) {
        parser->at++;
        return true;
    }
    parser->at = before;
    return false;
}

static bool is_word(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

size_t fault_word_bytes(const fault_parser *parser, size_t offset) {
    size_t bytes = 0;

    while (offset + bytes < parser->origin.text_bytes &&
           is_word(parser->origin.text[offset + bytes])) {
        bytes++;
    }
    return bytes;
}

tutti_status fault_fail(const fault_parser *parser, size_t offset, const char *format, ...) {
    char message[MESSAGE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    return fault_error_at(&parser->origin, offset, TUTTI_SYNTAX, message, parser->error);
}

static void put_quoted(fault_writer *writer, const char *text, size_t bytes) {
    const size_t shown = bytes < FAULT_WORD_BYTES ? bytes : FAULT_WORD_BYTES;

    fault_put_text(writer, "\"");
    fault_put_bytes(writer, text, shown);
    fault_put_text(writer, shown < bytes ? "...\"" : "\"");
}

static void put_byte(fault_writer *writer, unsigned char byte) {
    static const char digits[] = "0123456789abcdef";
    const char hex[2] = {digits[byte >> 4], digits[byte & 15]};

    fault_put_text(writer, "the byte 0x");
    fault_put_bytes(writer, hex, sizeof(hex));
}

/* Describes what stands at the parser's place: a word, a character, a byte, or an end. */
static void put_found(fault_writer *writer, const fault_parser *parser) {
    const char *text = parser->origin.text + parser->at;
    const size_t rest = parser->origin.text_bytes - parser->at;
    const size_t word_bytes = fault_word_bytes(parser, parser->at);
    const size_t character_bytes = fault_utf8_bytes(text, rest);

    if (rest == 0) {
        fault_put_text(writer, "the end");
    } else if (*text == '\n') {
        fault_put_text(writer, "the end of the line");
    } else if (word_bytes > 0) {
        put_quoted(writer, text, word_bytes);
    } else if (*text == '"') {
        fault_put_text(writer, "a quote");
    } else if (character_bytes == 0 || (unsigned char)*text < 0x20 || *text == 0x7F) {
        put_byte(writer, (unsigned char)*text);
    } else {
        put_quoted(writer, text, character_bytes);
    }
}

tutti_status fault_fail_expected(fault_parser *parser, const char *expected) {
    char found[FOUND_BYTES];
    fault_writer writer = {.text = found, .text_bytes = sizeof(found)};

    fault_skip_blanks(parser);
    put_found(&writer, parser);
    fault_put_end(&writer);
    return fault_fail(parser, parser->at, "expected %s, found %s", expected, found);
}

tutti_status fault_fail_name(fault_parser *parser, const char *expected, const char *const *names,
                             int count, bool list) {
    char found[FOUND_BYTES];
    char all[FAULT_LIST_BYTES] = "";
    fault_writer found_writer = {.text = found, .text_bytes = sizeof(found)};
    fault_writer all_writer = {.text = all, .text_bytes = sizeof(all)};

    fault_skip_blanks(parser);
    put_found(&found_writer, parser);
    fault_put_end(&found_writer);
    const char *meant = fault_name_suggest(names, count, parser->origin.text + parser->at,
                                           fault_word_bytes(parser, parser->at));
    if (list) {
        fault_put_text(&all_writer, " (");
        fault_put_names(&all_writer, names, count, (uint32_t)((UINT64_C(1) << count) - 1));
        fault_put_text(&all_writer, ")");
        fault_put_end(&all_writer);
    }
    if (meant == NULL) {
        return fault_fail(parser, parser->at, "expected %s%s, found %s", expected, all, found);
    }
    return fault_fail(parser, parser->at, "expected %s%s, found %s; did you mean \"%s\"?", expected,
                      all_writer.length < SHORT_LIST_BYTES ? all : "", found, meant);
}

tutti_status fault_fail_not_taken(const fault_parser *parser, const char *name,
                                  const char *const *names, int count, uint32_t taken,
                                  const char *why) {
    char list[FAULT_LIST_BYTES];
    fault_writer writer = {.text = list, .text_bytes = sizeof(list)};

    fault_put_names(&writer, names, count, taken);
    fault_put_end(&writer);
    return fault_fail(parser, parser->at, "%s does not take \"%s\", but: %s%s%s",
                      tutti_fault_point_name(parser->rule->point), name, list,
                      why != NULL ? "; " : "", why != NULL ? why : "");
}

tutti_status fault_read_integer(fault_parser *parser, const char *expected, uint64_t value_max,
                                uint64_t *value_out) {
    fault_skip_blanks(parser);
    const char *text = parser->origin.text + parser->at;
    size_t bytes = 0;

    while (parser->at + bytes < parser->origin.text_bytes && text[bytes] >= '0' &&
           text[bytes] <= '9') {
        bytes++;
    }
    if (bytes == 0) {
        return fault_fail_expected(parser, expected);
    }
    if (fault_decimal_scale(text, bytes, 1, value_max, value_out) != FAULT_NUMBER_OK) {
        return fault_fail(parser, parser->at, "this number is too large: at most %llu is possible",
                          (unsigned long long)value_max);
    }
    parser->at += bytes;
    return TUTTI_OK;
}

const char *fault_store(fault_parser *parser, size_t offset, size_t bytes) {
    tutti_fault_plan *plan = parser->plan;
    char *stored = plan->strings + plan->strings_bytes;

    /* In the text every string is followed by a character of its own, which leaves room for the
     * NUL: the strings never need more than the text. */
    assert(plan->strings_bytes + bytes + 1 <= plan->text_bytes);
    memcpy(stored, parser->origin.text + offset, bytes);
    stored[bytes] = '\0';
    plan->strings_bytes += bytes + 1;
    return stored;
}
