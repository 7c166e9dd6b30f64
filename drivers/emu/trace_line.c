#include "drivers/emu/trace_line.h"

#include <stdio.h>
#include <string.h>

enum { EMU_TRACE_NAME_BYTES_MAX = 256 };

/* A finding's text is the longest thing in a line; each of its bytes may take six. */
static_assert(EMU_TRACE_LINE_BYTES >= 6 * (EMU_TEXT_BYTES + 3 * EMU_TRACE_NAME_BYTES_MAX) + 1024,
              "every line fits");

void emu_line_add(emu_line *line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = EMU_TRACE_LINE_BYTES - line->bytes;
    int wanted = vsnprintf(line->engine->trace_line + line->bytes, room, format, arguments);
    va_end(arguments);
    assert(wanted >= 0 && (size_t)wanted < room);
    line->bytes += (size_t)wanted;
}

emu_line emu_line_begin(emu_engine *engine, const char *event) {
    emu_line line = {engine, 0};
    emu_line_add(&line, "{\"t\":%" PRId64 ",\"event\":\"%s\"", engine->clock.now_ns, event);
    return line;
}

/* The bytes of the character that begins here; 0 when that is no UTF-8 (RFC 3629). */
static size_t emu_character_bytes(const unsigned char *at) {
    static const struct {
        unsigned char first, last;            /* of the first byte */
        unsigned char second_min, second_max; /* the rest is 0x80 to 0xBF */
        unsigned char bytes;
    } forms[] = {
        {0x01, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (at[0] < forms[i].first || at[0] > forms[i].last) continue;
        if (forms[i].bytes == 1) return 1;
        if (at[1] < forms[i].second_min || at[1] > forms[i].second_max) return 0;
        for (size_t j = 2; j < forms[i].bytes; j++)
            if (at[j] < 0x80 || at[j] > 0xBF) return 0;
        return forms[i].bytes;
    }
    return 0;
}

static void emu_line_add_character(emu_line *line, const char *at, size_t bytes) {
    unsigned char first = (unsigned char)*at;
    if (bytes == 0)
        emu_line_add(line, "\\ufffd");
    else if (first == '"' || first == '\\')
        emu_line_add(line, "\\%c", first);
    else if (first == '\n')
        emu_line_add(line, "\\n");
    else if (first < 0x20 || first == 0x7F)
        emu_line_add(line, "\\u%04x", first);
    else
        emu_line_add(line, "%.*s", (int)bytes, at);
}

/* Text up to a number of bytes, never half a character. */
static void emu_line_add_cut(emu_line *line, const char *key, const char *text, size_t bytes_max) {
    size_t taken = 0;
    emu_line_add(line, ",\"%s\":\"", key);
    while (text[taken] != '\0') {
        size_t bytes = emu_character_bytes((const unsigned char *)text + taken);
        size_t step = bytes == 0 ? 1 : bytes;
        if (taken + step > bytes_max) {
            emu_line_add(line, "...");
            break;
        }
        emu_line_add_character(line, text + taken, bytes);
        taken += step;
    }
    emu_line_add(line, "\"");
}

void emu_line_add_text(emu_line *line, const char *key, const char *text) {
    emu_line_add_cut(line, key, text, EMU_TEXT_BYTES);
}

void emu_line_add_name(emu_line *line, const char *key, const char *name) {
    emu_line_add_cut(line, key, name, EMU_TRACE_NAME_BYTES_MAX);
}

void emu_line_add_place(emu_line *line, tutti_place place) {
    if (place.file == NULL || place.line == 0) return;
    char text[EMU_TRACE_NAME_BYTES_MAX];
    const char *slash = strrchr(place.file, '/');
    snprintf(text, sizeof text, "%s:%" PRId32, slash == NULL ? place.file : slash + 1, place.line);
    emu_line_add_name(line, "at", text);
}

void emu_line_send(emu_line *line) {
    emu_line_add(line, "}\n");
    line->engine->config.trace_sink(line->engine->config.trace_context, line->engine->trace_line,
                                    line->bytes);
}
