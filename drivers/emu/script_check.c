#include <assert.h>
#include <stdio.h>

#include "drivers/emu/script_parse.h"

/* --- Who holds what --- */

const char *emu_types_name(uint64_t types) {
    if (types == 0 || (types & (types - 1))) return "several";
    uint32_t type = 0;
    while (!(types & 1)) {
        types >>= 1;
        type++;
    }
    return tutti_element_type_name((tutti_element_type)type);
}

static const emu_script_holding *holding_of(const emu_buffer_builder *builder, int32_t rank) {
    const emu_rank_range range = {rank, rank};
    return emu_holders_in(builder, range);
}

static bool fail_unheld(emu_parser *parser, const emu_token *at, const emu_buffer_builder *builder,
                        int32_t rank) {
    const emu_script_buffer *other = &parser->buffers[builder->holdings[0].buffer];
    return emu_parser_fail(parser, at, "rank %d has no buffer '%s'; line %d declares it for others",
                           (int)rank, builder->name, (int)other->line);
}

/* Takes one buffer of some of the section's ranks, `rank` among them, into account. */
static void view_add(emu_section_view *view, const emu_script_buffer *buffer, int32_t rank) {
    view->types |= UINT64_C(1) << buffer->type;
    if (buffer->count < view->count_min) {
        view->count_min = buffer->count;
        view->smallest = rank;
    }
    if (buffer->count > view->count_max) view->count_max = buffer->count;
}

/* Counts one look at a holder: sections times holders must stay within bounds. */
static bool count_check(emu_parser *parser, const emu_token *at) {
    if (parser->holder_checks++ < EMU_SCRIPT_HOLDER_CHECKS_MAX) return true;
    return emu_parser_fail(parser, at,
                           "more than %d checks of who has which buffer; declare buffers for more "
                           "ranks at once",
                           EMU_SCRIPT_HOLDER_CHECKS_MAX);
}

/* Takes one range of the section's ranks into account. */
static bool view_add_range(emu_parser *parser, const emu_token *at,
                           const emu_buffer_builder *builder, emu_rank_range range,
                           emu_section_view *view) {
    int32_t rank = range.first;
    while (rank <= range.last) {
        if (!count_check(parser, at)) return false;
        const emu_script_holding *holding = holding_of(builder, rank);
        if (!holding) return fail_unheld(parser, at, builder, rank);
        view_add(view, &parser->buffers[holding->buffer], rank);
        rank = holding->last + 1;
    }
    return true;
}

bool emu_check_view(emu_parser *parser, const emu_token *at, uint32_t name,
                    const emu_section_view **view_out) {
    emu_buffer_builder *builder = &parser->buffer_names[name];
    const uint32_t section = parser->section_count - 1;
    *view_out = &builder->view;
    if (builder->view.section == section) return true;
    const emu_rank_set *ranks = &emu_parser_section(parser)->ranks;
    emu_section_view view = {.section = section, .count_min = UINT64_MAX, .smallest = -1};
    for (uint32_t i = 0; i < ranks->range_count; i++)
        if (!view_add_range(parser, at, builder, ranks->ranges[i], &view)) return false;
    builder->view = view;
    return true;
}

bool emu_check_bounds(emu_parser *parser, const emu_token *at, const emu_script_slice *slice) {
    const emu_buffer_builder *builder = &parser->buffer_names[slice->name];
    const uint64_t size = builder->view.count_min;
    assert(builder->view.section == parser->section_count - 1);
    if (slice->first <= size && slice->count <= size - slice->first) return true;
    char whose[32] = "";
    if (builder->view.count_min != builder->view.count_max)
        snprintf(whose, sizeof whose, " on rank %d", (int)builder->view.smallest);
    return emu_parser_fail(parser, at, "the slice is outside of '%s', which has %llu elements%s",
                           builder->name, (unsigned long long)size, whose);
}

/* --- Types on every rank --- */

static bool fail_types(emu_parser *parser, const emu_token *at, const emu_buffer_builder *source,
                       const emu_buffer_builder *destination, int32_t rank) {
    const tutti_element_type from = parser->buffers[holding_of(source, rank)->buffer].type;
    const tutti_element_type to = parser->buffers[holding_of(destination, rank)->buffer].type;
    return emu_parser_fail(parser, at, "'%s' is %s, but '%s' is %s on rank %d", source->name,
                           tutti_element_type_name(from), destination->name,
                           tutti_element_type_name(to), (int)rank);
}

/* The ranks of a range, all of which hold both buffers, must have one type in the two. */
static bool check_range_types(emu_parser *parser, const emu_token *at, const emu_buffer_builder *a,
                              const emu_buffer_builder *b, emu_rank_range range) {
    int32_t rank = range.first;
    while (rank <= range.last) {
        if (!count_check(parser, at)) return false;
        const emu_script_holding *of_a = holding_of(a, rank);
        const emu_script_holding *of_b = holding_of(b, rank);
        if (parser->buffers[of_a->buffer].type != parser->buffers[of_b->buffer].type)
            return fail_types(parser, at, a, b, rank);
        rank = (of_a->last < of_b->last ? of_a->last : of_b->last) + 1;
    }
    return true;
}

bool emu_check_same_type(emu_parser *parser, const emu_token *at, uint32_t source,
                         uint32_t destination) {
    const emu_buffer_builder *a = &parser->buffer_names[source];
    const emu_buffer_builder *b = &parser->buffer_names[destination];
    const emu_rank_set *ranks = &emu_parser_section(parser)->ranks;
    assert(a->view.section == parser->section_count - 1);
    assert(b->view.section == parser->section_count - 1);
    const uint64_t types = a->view.types | b->view.types;
    if ((types & (types - 1)) == 0) return true; /* one type everywhere */
    for (uint32_t i = 0; i < ranks->range_count; i++)
        if (!check_range_types(parser, at, a, b, ranks->ranges[i])) return false;
    return true;
}
