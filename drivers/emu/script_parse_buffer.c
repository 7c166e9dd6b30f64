#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "drivers/emu/script_parse.h"

/* --- Slices --- */

bool emu_parse_slice(emu_parser *parser, emu_script_slice *slice_out) {
    const emu_token at = *emu_parser_token(parser);
    emu_script_slice slice = {.count = EMU_SCRIPT_WHOLE};
    const emu_section_view *view;
    if (!emu_parse_buffer_name(parser, &slice.name) ||
        !emu_check_view(parser, &at, slice.name, &view))
        return false;
    *slice_out = slice;
    if (emu_parser_token(parser)->kind != EMU_TOKEN_OPEN) return true;
    emu_lexer_advance(&parser->lexer);
    const emu_token start = *emu_parser_token(parser);
    const char *close = "':' or ']'";
    if (!emu_parse_u64(parser, "the first element", 0, UINT64_MAX, &slice.first)) return false;
    slice.count = 1;
    if (emu_parser_token(parser)->kind == EMU_TOKEN_COLON) {
        uint64_t end;
        close = "']'";
        emu_lexer_advance(&parser->lexer);
        if (!emu_parse_u64(parser, "the element behind the last one", 0, UINT64_MAX, &end))
            return false;
        if (end < slice.first)
            return emu_parser_fail(parser, &start, "the slice ends before it starts");
        slice.count = end - slice.first;
    }
    *slice_out = slice;
    return emu_parser_take(parser, EMU_TOKEN_CLOSE, close) &&
           emu_check_bounds(parser, &start, &slice);
}

/* --- Fills --- */

static bool find_fill_word(const emu_token *token, bool unset_allowed,
                           emu_script_fill_kind *kind_out) {
    static const struct {
        const char *word;
        emu_script_fill_kind kind;
    } fills[] = {
        {"zero", EMU_SCRIPT_FILL_ZERO},
        {"rank", EMU_SCRIPT_FILL_RANK},
        {"iota", EMU_SCRIPT_FILL_IOTA},
        {"unset", EMU_SCRIPT_FILL_UNSET},
    };
    const size_t count = sizeof fills / sizeof fills[0] - !unset_allowed;
    for (size_t i = 0; i < count; i++) {
        if (!emu_token_is(token, fills[i].word)) continue;
        *kind_out = fills[i].kind;
        return true;
    }
    return false;
}

/* Takes numbers up to the end of the line into parser->values. */
static bool parse_values(emu_parser *parser, uint64_t types) {
    parser->value_count = 0;
    for (;;) {
        emu_script_value *grown =
            emu_arena_grow(&parser->scratch, parser->values, parser->value_count,
                           &parser->value_capacity, sizeof *grown);
        if (!grown) return emu_parser_no_memory(parser);
        parser->values = grown;
        if (!emu_parse_value(parser, types, &parser->values[parser->value_count])) return false;
        parser->value_count++;
        if (emu_parser_token(parser)->kind == EMU_TOKEN_LINE_END) return true;
        if (emu_parser_token(parser)->kind == EMU_TOKEN_COMMA) emu_lexer_advance(&parser->lexer);
    }
}

/* One value is for all elements; several are one each. */
static bool check_value_count(emu_parser *parser, const emu_token *at, uint64_t count_min,
                              uint64_t count_max) {
    const uint64_t listed = parser->value_count;
    if (listed == 1 || (listed == count_min && listed == count_max)) return true;
    if (count_min != count_max)
        return emu_parser_fail(parser, at,
                               "%llu values for %llu elements on some ranks and %llu on others",
                               (unsigned long long)listed, (unsigned long long)count_min,
                               (unsigned long long)count_max);
    return emu_parser_fail(parser, at, "%llu values for %llu elements", (unsigned long long)listed,
                           (unsigned long long)count_min);
}

/* Elements of types that nothing carries have no numbers here. */
static bool check_fill_types(emu_parser *parser, const emu_token *at, uint64_t types,
                             bool unset_allowed, emu_script_fill_kind kind) {
    const uint64_t uncarried = types >> TUTTI_CARRIED_TYPE_COUNT << TUTTI_CARRIED_TYPE_COUNT;
    if (!uncarried || kind == EMU_SCRIPT_FILL_ZERO || kind == EMU_SCRIPT_FILL_UNSET) return true;
    return emu_parser_fail(parser, at,
                           "expected 'zero'%s: elements of type %s have no numbers in scripts",
                           unset_allowed ? " or 'unset'" : "", emu_types_name(uncarried));
}

bool emu_parse_fill(emu_parser *parser, uint64_t types, uint64_t count_min, uint64_t count_max,
                    bool unset_allowed, emu_script_fill *fill_out) {
    const emu_token at = *emu_parser_token(parser);
    emu_script_fill fill = {.kind = EMU_SCRIPT_FILL_VALUES};
    if (find_fill_word(&at, unset_allowed, &fill.kind)) {
        emu_lexer_advance(&parser->lexer);
        *fill_out = fill;
        return check_fill_types(parser, &at, types, unset_allowed, fill.kind);
    }
    const bool number = at.kind == EMU_TOKEN_NUMBER || at.kind == EMU_TOKEN_MINUS ||
                        emu_token_is(&at, "inf") || emu_token_is(&at, "nan");
    if (!number)
        return emu_parser_expected(parser, unset_allowed
                                               ? "numbers, 'zero', 'rank', 'iota' or 'unset'"
                                               : "numbers, 'zero', 'rank' or 'iota'");
    if (!check_fill_types(parser, &at, types, unset_allowed, fill.kind) ||
        !parse_values(parser, types) || !check_value_count(parser, &at, count_min, count_max))
        return false;
    fill.value_count = parser->value_count;
    fill.values = emu_arena_copy(&parser->script->arena, parser->values, parser->value_count,
                                 sizeof *fill.values);
    *fill_out = fill;
    return fill.values || emu_parser_no_memory(parser);
}

/* --- Declarations --- */

static bool parse_type(emu_parser *parser, emu_script_buffer *buffer) {
    const emu_token *token = emu_parser_token(parser);
    if (token->kind != EMU_TOKEN_WORD ||
        tutti_element_type_parse(token->text, token->bytes, &buffer->type) != TUTTI_OK)
        return emu_parser_expected(parser, "an element type such as f32, bf16 or i64");
    buffer->width_bytes = emu_script_type_width_bytes(buffer->type);
    assert(buffer->width_bytes > 0);
    emu_lexer_advance(&parser->lexer);
    return true;
}

/* Takes type, count and fill. */
static bool parse_contents(emu_parser *parser, emu_script_buffer *buffer) {
    if (!parse_type(parser, buffer)) return false;
    const uint64_t count_max = EMU_SCRIPT_BUFFER_BYTES_MAX / buffer->width_bytes;
    if (!emu_parse_u64(parser, "the number of elements", 0, count_max, &buffer->count))
        return false;
    buffer->fill.kind = EMU_SCRIPT_FILL_ZERO;
    if (emu_parser_token(parser)->kind == EMU_TOKEN_LINE_END) return true;
    return emu_parser_take(parser, EMU_TOKEN_EQUALS, "'=' or end of line") &&
           emu_parse_fill(parser, UINT64_C(1) << buffer->type, buffer->count, buffer->count, true,
                          &buffer->fill);
}

/* Finds or makes the builder of a name, as an index. */
static bool builder_of(emu_parser *parser, const emu_token *token, uint32_t *index_out) {
    const emu_name *name = emu_name_find(parser, token);
    if (name && name->kind == EMU_NAME_BUFFER) {
        *index_out = name->index;
        return true;
    }
    const uint32_t index = parser->buffer_name_count;
    emu_buffer_builder *grown = emu_arena_grow(&parser->scratch, parser->buffer_names, index,
                                               &parser->buffer_name_capacity, sizeof *grown);
    if (!grown) return emu_parser_no_memory(parser);
    parser->buffer_names = grown;
    memset(&grown[index], 0, sizeof grown[index]);
    grown[index].view.section = EMU_SCRIPT_NONE;
    if (!emu_name_add(parser, token, EMU_NAME_BUFFER, index, &grown[index].name)) return false;
    parser->buffer_name_count++;
    *index_out = index;
    return true;
}

/* No rank may have a buffer of the name already. */
static bool check_unheld(emu_parser *parser, const emu_token *at, const emu_buffer_builder *builder,
                         const emu_rank_set *ranks) {
    for (uint32_t i = 0; i < ranks->range_count; i++) {
        const emu_rank_range range = ranks->ranges[i];
        const emu_script_holding *holding = emu_holders_in(builder, range);
        if (!holding) continue;
        const int32_t rank = holding->first > range.first ? holding->first : range.first;
        return emu_parser_fail(parser, at, "rank %d has a buffer '%s' already (line %d)", (int)rank,
                               builder->name, (int)parser->buffers[holding->buffer].line);
    }
    return true;
}

static bool add_buffer(emu_parser *parser, const emu_token *at, const emu_script_buffer *buffer) {
    if (parser->buffer_count == EMU_SCRIPT_BUFFERS_MAX)
        return emu_parser_fail(parser, at, "a script declares at most %d buffers",
                               EMU_SCRIPT_BUFFERS_MAX);
    parser->buffer_ranges += buffer->ranks.range_count;
    if (parser->buffer_ranges > EMU_SCRIPT_BUFFER_RANGES_MAX)
        return emu_parser_fail(parser, at,
                               "the buffers of a script are for at most %d ranges of "
                               "ranks",
                               EMU_SCRIPT_BUFFER_RANGES_MAX);
    emu_script_buffer *grown =
        emu_arena_grow(&parser->scratch, parser->buffers, parser->buffer_count,
                       &parser->buffer_capacity, sizeof *grown);
    if (!grown) return emu_parser_no_memory(parser);
    parser->buffers = grown;
    emu_buffer_builder *builder = &parser->buffer_names[buffer->name];
    if (!check_unheld(parser, at, builder, &buffer->ranks) ||
        !emu_holders_add(parser, builder, &buffer->ranks, parser->buffer_count))
        return false;
    parser->buffers[parser->buffer_count++] = *buffer;
    return true;
}

bool emu_parse_buffer(emu_parser *parser, const emu_token *word) {
    emu_token name;
    emu_script_buffer buffer;
    memset(&buffer, 0, sizeof buffer);
    buffer.line = word->line;
    buffer.column = word->column;
    buffer.ranks =
        parser->section_count > 0 ? emu_parser_section(parser)->ranks : parser->all_ranks;
    return emu_parse_name(parser, "a name for the buffer", &name) &&
           builder_of(parser, &name, &buffer.name) && parse_contents(parser, &buffer) &&
           add_buffer(parser, &name, &buffer);
}
