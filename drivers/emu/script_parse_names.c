#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "drivers/emu/script_parse.h"

/* --- The table of names --- */

static const char *kind_text(emu_name_kind kind) {
    switch (kind) {
    case EMU_NAME_BUFFER:
        return "buffer";
    case EMU_NAME_GROUP:
        return "group";
    case EMU_NAME_STREAM:
        return "stream";
    case EMU_NAME_EVENT:
        return "event";
    }
    return "name";
}

static const char *kind_with_article(emu_name_kind kind) {
    switch (kind) {
    case EMU_NAME_BUFFER:
        return "a buffer";
    case EMU_NAME_GROUP:
        return "a group";
    case EMU_NAME_STREAM:
        return "a stream";
    case EMU_NAME_EVENT:
        return "an event";
    }
    return "a name";
}

/* FNV-1a, by Fowler, Noll and Vo. */
static uint32_t hash_text(const char *text, size_t bytes) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

/* The slot of a name, or the empty one where it would go. There are always empty slots. */
static uint32_t name_slot(const emu_parser *parser, const char *text, size_t bytes) {
    const uint32_t mask = parser->name_slot_count - 1;
    uint32_t slot = hash_text(text, bytes) & mask;
    while (parser->name_slots[slot]) {
        const char *known = parser->names[parser->name_slots[slot] - 1].text;
        if (strncmp(known, text, bytes) == 0 && known[bytes] == '\0') break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Keeps at least half of the slots empty. */
static bool name_slots_grow(emu_parser *parser) {
    enum { SLOT_COUNT_MIN = 64 };
    if (parser->name_count * 2 < parser->name_slot_count) return true;
    const uint32_t count = parser->name_slot_count ? parser->name_slot_count * 2 : SLOT_COUNT_MIN;
    uint32_t *slots = emu_arena_alloc(&parser->scratch, count, sizeof *slots);
    if (!slots) return emu_parser_no_memory(parser);
    parser->name_slots = slots;
    parser->name_slot_count = count;
    for (uint32_t i = 0; i < parser->name_count; i++) {
        const char *text = parser->names[i].text;
        slots[name_slot(parser, text, strlen(text))] = i + 1;
    }
    return true;
}

const emu_name *emu_name_find(const emu_parser *parser, const emu_token *token) {
    if (parser->name_slot_count == 0) return NULL;
    const uint32_t index = parser->name_slots[name_slot(parser, token->text, token->bytes)];
    return index ? &parser->names[index - 1] : NULL;
}

static bool fail_known(emu_parser *parser, const emu_token *token, const emu_name *name) {
    char where[32] = "";
    if (name->line > 0) snprintf(where, sizeof where, " (line %d)", (int)name->line);
    return emu_parser_fail(parser, token, "'%s' is already %s%s", name->text,
                           kind_with_article(name->kind), where);
}

bool emu_name_check_kind(emu_parser *parser, const emu_token *token, const emu_name *name,
                         emu_name_kind kind) {
    if (name->kind == kind) return true;
    char where[32] = "";
    if (name->line > 0) snprintf(where, sizeof where, " (line %d)", (int)name->line);
    return emu_parser_fail(parser, token, "'%s' is %s%s, not %s", name->text,
                           kind_with_article(name->kind), where, kind_with_article(kind));
}

bool emu_name_add(emu_parser *parser, const emu_token *token, emu_name_kind kind, uint32_t index,
                  const char **text_out) {
    const emu_name *known = emu_name_find(parser, token);
    if (known) return fail_known(parser, token, known);
    if (parser->name_count == EMU_SCRIPT_NAMES_MAX)
        return emu_parser_fail(parser, token, "a script has at most %d names",
                               EMU_SCRIPT_NAMES_MAX);
    if (!name_slots_grow(parser)) return false;
    emu_name *grown = emu_arena_grow(&parser->scratch, parser->names, parser->name_count,
                                     &parser->name_capacity, sizeof *grown);
    const char *text = emu_arena_text(&parser->script->arena, token->text, token->bytes);
    if (!grown || !text) return emu_parser_no_memory(parser);
    parser->names = grown;
    parser->names[parser->name_count] = (emu_name){text, kind, index, token->line};
    parser->name_slots[name_slot(parser, token->text, token->bytes)] = ++parser->name_count;
    *text_out = text;
    return true;
}

/* --- Names that look alike --- */

uint32_t emu_text_distance_limit(size_t bytes) {
    return bytes <= 1 ? 0 : bytes <= 3 ? 1 : bytes <= 6 ? 2 : 3;
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Damerau's distance in the form where swapped letters are not touched again: three rows of the
 * usual table are enough. */
uint32_t emu_text_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes,
                           uint32_t limit) {
    enum { BYTES_MAX = EMU_SCRIPT_NAME_BYTES_MAX };
    if (a_bytes > BYTES_MAX || b_bytes > BYTES_MAX) return limit + 1;
    if (a_bytes > b_bytes + limit || b_bytes > a_bytes + limit) return limit + 1;
    uint32_t rows[3][BYTES_MAX + 1];
    for (uint32_t j = 0; j <= b_bytes; j++)
        rows[0][j] = j;
    for (uint32_t i = 1; i <= a_bytes; i++) {
        uint32_t *row = rows[i % 3];
        const uint32_t *above = rows[(i + 2) % 3];
        const uint32_t *above_that = rows[(i + 1) % 3];
        row[0] = i;
        for (uint32_t j = 1; j <= b_bytes; j++) {
            row[j] = least(above[j], row[j - 1]) + 1;
            row[j] = least(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], above_that[j - 2] + 1);
        }
    }
    return least(rows[a_bytes % 3][b_bytes], limit + 1);
}

/* The known name of a kind that is nearest; NULL when none is near. */
static const char *name_near(const emu_parser *parser, const emu_token *token, emu_name_kind kind) {
    const char *best = NULL;
    uint32_t limit = emu_text_distance_limit(token->bytes);
    for (uint32_t i = 0; i < parser->name_count; i++) {
        const emu_name *name = &parser->names[i];
        if (name->kind != kind) continue;
        const uint32_t distance =
            emu_text_distance(token->text, token->bytes, name->text, strlen(name->text), limit);
        if (distance > limit) continue;
        best = name->text;
        if (distance <= 1) break;
        limit = distance - 1;
    }
    return best;
}

/* Writes "; there are x, y and 7 more" about the names of a kind. */
static void list_names(const emu_parser *parser, emu_name_kind kind, char *text, size_t bytes) {
    enum { SHOWN_MAX = 5, SHOWN_BYTES_MAX = 20 };
    uint32_t total = 0;
    for (uint32_t i = 0; i < parser->name_count; i++)
        total += parser->names[i].kind == kind;
    if (total == 0) {
        snprintf(text, bytes, "; no %s is declared", kind_text(kind));
        return;
    }
    const uint32_t shown_count = total > SHOWN_MAX ? SHOWN_MAX - 1 : total;
    size_t length = (size_t)snprintf(text, bytes, "; there %s ", total == 1 ? "is" : "are");
    uint32_t shown = 0;
    for (uint32_t i = 0; i < parser->name_count && shown < shown_count; i++) {
        if (parser->names[i].kind != kind) continue;
        const char *separator = shown == 0 ? "" : shown + 1 == total ? " and " : ", ";
        length += (size_t)snprintf(text + length, bytes - length, "%s%.*s", separator,
                                   SHOWN_BYTES_MAX, parser->names[i].text);
        shown++;
    }
    if (shown < total)
        snprintf(text + length, bytes - length, " and %u more", (unsigned)(total - shown));
}

static bool fail_unknown(emu_parser *parser, const emu_token *token, emu_name_kind kind) {
    char found[64], hint[192];
    emu_token_describe(token, found, sizeof found);
    const char *near = name_near(parser, token, kind);
    if (near)
        snprintf(hint, sizeof hint, "; did you mean '%s'?", near);
    else
        list_names(parser, kind, hint, sizeof hint);
    return emu_parser_fail(parser, token, "unknown %s %s%s", kind_text(kind), found, hint);
}

/* --- Names in lines --- */

bool emu_parse_name(emu_parser *parser, const char *what, emu_token *token_out) {
    const emu_token token = *emu_parser_token(parser);
    if (token.kind != EMU_TOKEN_WORD) return emu_parser_expected(parser, what);
    char found[64];
    emu_token_describe(&token, found, sizeof found);
    if (emu_word_is_reserved(&token))
        return emu_parser_fail(parser, &token, "expected %s, found %s, a word of the language",
                               what, found);
    if (memchr(token.text, '-', token.bytes))
        return emu_parser_fail(parser, &token,
                               "expected %s, found %s; names are made of letters, digits and _",
                               what, found);
    if (token.bytes > EMU_SCRIPT_NAME_BYTES_MAX)
        return emu_parser_fail(parser, &token, "the name has %zu bytes; at most %d are read",
                               token.bytes, EMU_SCRIPT_NAME_BYTES_MAX);
    emu_lexer_advance(&parser->lexer);
    *token_out = token;
    return true;
}

bool emu_parse_buffer_name(emu_parser *parser, uint32_t *index_out) {
    emu_token token;
    if (!emu_parse_name(parser, "a buffer", &token)) return false;
    const emu_name *name = emu_name_find(parser, &token);
    if (!name) return fail_unknown(parser, &token, EMU_NAME_BUFFER);
    if (!emu_name_check_kind(parser, &token, name, EMU_NAME_BUFFER)) return false;
    *index_out = name->index;
    return true;
}

bool emu_parse_group_name(emu_parser *parser, uint32_t *index_out) {
    emu_token token;
    if (!emu_parse_name(parser, "a group", &token)) return false;
    const emu_name *name = emu_name_find(parser, &token);
    if (!name) return fail_unknown(parser, &token, EMU_NAME_GROUP);
    if (!emu_name_check_kind(parser, &token, name, EMU_NAME_GROUP)) return false;
    *index_out = name->index;
    return true;
}

/* Adds a stream or an event. */
static bool add_by_use(emu_parser *parser, const emu_token *token, emu_name_kind kind,
                       uint32_t *index_out) {
    const bool is_stream = kind == EMU_NAME_STREAM;
    emu_script_name **items = is_stream ? &parser->streams : &parser->events;
    uint32_t *count = is_stream ? &parser->stream_count : &parser->event_count;
    uint32_t *capacity = is_stream ? &parser->stream_capacity : &parser->event_capacity;
    emu_script_name *grown =
        emu_arena_grow(&parser->scratch, *items, *count, capacity, sizeof *grown);
    if (!grown) return emu_parser_no_memory(parser);
    *items = grown;
    emu_script_name added = {NULL, token->line, false};
    if (!emu_name_add(parser, token, kind, *count, &added.name)) return false;
    grown[*count] = added;
    *index_out = (*count)++;
    return true;
}

bool emu_group_add(emu_parser *parser, const emu_token *token, const emu_script_group *group,
                   uint32_t *index_out) {
    const uint32_t index = parser->group_count;
    emu_script_group *grown = emu_arena_grow(&parser->scratch, parser->groups, index,
                                             &parser->group_capacity, sizeof *grown);
    if (!grown) return emu_parser_no_memory(parser);
    parser->groups = grown;
    grown[index] = *group;
    if (!emu_name_add(parser, token, EMU_NAME_GROUP, index, &grown[index].name)) return false;
    parser->group_count++;
    *index_out = index;
    return true;
}

bool emu_name_predeclare_stream(emu_parser *parser, const char *name) {
    const emu_token token = {EMU_TOKEN_WORD, name, strlen(name), 0, 1};
    uint32_t index;
    return add_by_use(parser, &token, EMU_NAME_STREAM, &index);
}

static bool use_name(emu_parser *parser, const emu_token *token, emu_name_kind kind,
                     uint32_t *index_out) {
    const emu_name *name = emu_name_find(parser, token);
    if (!name) return add_by_use(parser, token, kind, index_out);
    if (!emu_name_check_kind(parser, token, name, kind)) return false;
    *index_out = name->index;
    return true;
}

bool emu_parse_stream_name(emu_parser *parser, uint32_t *index_out) {
    emu_token token;
    return emu_parse_name(parser, "a stream", &token) &&
           use_name(parser, &token, EMU_NAME_STREAM, index_out);
}

bool emu_parse_event_name(emu_parser *parser, bool recorded, uint32_t *index_out) {
    emu_token token;
    if (!emu_parse_name(parser, "an event", &token) ||
        !use_name(parser, &token, EMU_NAME_EVENT, index_out))
        return false;
    if (recorded) parser->events[*index_out].produced = true;
    return true;
}

bool emu_parse_target(emu_parser *parser, emu_script_statement *statement) {
    emu_token token;
    if (!emu_parse_name(parser, "a stream, an event or a group", &token)) return false;
    const emu_name *name = emu_name_find(parser, &token);
    if (name && name->kind == EMU_NAME_BUFFER)
        return emu_parser_fail(parser, &token,
                               "'%s' is a buffer (line %d), not a stream, an event or a group",
                               name->text, (int)name->line);
    if (name && name->kind == EMU_NAME_GROUP) {
        statement->group = name->index;
        return true;
    }
    if (name && name->kind == EMU_NAME_EVENT) {
        statement->event = name->index;
        return true;
    }
    return use_name(parser, &token, EMU_NAME_STREAM, &statement->stream);
}

bool emu_parse_derived_name(emu_parser *parser, uint32_t *index_out) {
    emu_token token;
    if (!emu_parse_name(parser, "a name for the new group", &token)) return false;
    const emu_name *name = emu_name_find(parser, &token);
    if (name && name->kind == EMU_NAME_GROUP && parser->groups[name->index].derived) {
        *index_out = name->index;
        return true;
    }
    const emu_script_group group = {.line = token.line, .derived = true, .repeated_rank = -1};
    return emu_group_add(parser, &token, &group, index_out);
}
