#include <assert.h>
#include <stdlib.h>

#include "drivers/emu/script_parse.h"

/* --- Ranks in a line --- */

bool emu_parse_rank(emu_parser *parser, const char *what, int32_t *rank_out) {
    const emu_token token = *emu_parser_token(parser);
    uint64_t rank = UINT64_MAX;
    if (!emu_token_is_digits(&token)) return emu_parser_expected(parser, what);
    const int32_t rank_count = parser->script->rank_count;
    if (!emu_digits_to_u64(token.text, token.bytes, &rank) || rank >= (uint64_t)rank_count) {
        const int shown = token.bytes > 20 ? 20 : (int)token.bytes;
        return emu_parser_fail(parser, &token, "rank %.*s%s is outside of 0 to %d", shown,
                               token.text, shown < (int)token.bytes ? "..." : "",
                               (int)rank_count - 1);
    }
    emu_lexer_advance(&parser->lexer);
    *rank_out = (int32_t)rank;
    return true;
}

/* One of `*`, 2 and 0-3. */
static bool parse_range(emu_parser *parser, const char *what, emu_rank_range *range_out) {
    const emu_token start = *emu_parser_token(parser);
    if (start.kind == EMU_TOKEN_STAR) {
        *range_out = (emu_rank_range){0, parser->script->rank_count - 1};
        emu_lexer_advance(&parser->lexer);
        return true;
    }
    if (!emu_parse_rank(parser, what, &range_out->first)) return false;
    range_out->last = range_out->first;
    if (emu_parser_token(parser)->kind != EMU_TOKEN_MINUS) return true;
    emu_lexer_advance(&parser->lexer);
    if (!emu_parse_rank(parser, "the last rank of the range", &range_out->last)) return false;
    if (range_out->first <= range_out->last) return true;
    return emu_parser_fail(parser, &start, "the range %d-%d ends before it starts",
                           (int)range_out->first, (int)range_out->last);
}

bool emu_parse_ranges(emu_parser *parser, const char *what) {
    parser->range_count = 0;
    for (;;) {
        emu_rank_range range;
        if (!parse_range(parser, what, &range)) return false;
        emu_rank_range *grown =
            emu_arena_grow(&parser->scratch, parser->ranges, parser->range_count,
                           &parser->range_capacity, sizeof *grown);
        if (!grown) return emu_parser_no_memory(parser);
        parser->ranges = grown;
        parser->ranges[parser->range_count++] = range;
        const emu_token_kind next = emu_parser_token(parser)->kind;
        if (next == EMU_TOKEN_COMMA)
            emu_lexer_advance(&parser->lexer);
        else if (next != EMU_TOKEN_NUMBER && next != EMU_TOKEN_STAR)
            return true;
    }
}

static int compare_ranges(const void *a, const void *b) {
    const emu_rank_range *left = a;
    const emu_rank_range *right = b;
    if (left->first != right->first) return left->first < right->first ? -1 : 1;
    return (left->last > right->last) - (left->last < right->last);
}

/* Sorts ranges and joins those that touch. Returns how many are left. */
static uint32_t ranges_normalize(emu_rank_range *ranges, uint32_t count) {
    assert(count > 0);
    qsort(ranges, count, sizeof *ranges, compare_ranges);
    uint32_t kept = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (ranges[i].first > ranges[kept].last + 1)
            ranges[++kept] = ranges[i];
        else if (ranges[i].last > ranges[kept].last)
            ranges[kept].last = ranges[i].last;
    }
    return kept + 1;
}

bool emu_parse_rank_set(emu_parser *parser, const char *what, emu_rank_set *set_out) {
    if (!emu_parse_ranges(parser, what)) return false;
    const uint32_t count = ranges_normalize(parser->ranges, parser->range_count);
    const emu_rank_range *ranges =
        emu_arena_copy(&parser->script->arena, parser->ranges, count, sizeof *ranges);
    if (!ranges) return emu_parser_no_memory(parser);
    *set_out = (emu_rank_set){ranges, count, 0};
    for (uint32_t i = 0; i < count; i++)
        set_out->rank_count += ranges[i].last - ranges[i].first + 1;
    return true;
}

/* --- Members of a group --- */

static int compare_members(const void *a, const void *b) {
    const emu_script_members *left = a;
    const emu_script_members *right = b;
    if (left->first != right->first) return left->first < right->first ? -1 : 1;
    return (left->first_member > right->first_member) - (left->first_member < right->first_member);
}

/* Sorts members by rank and cuts off what an earlier entry has already, so that they are disjoint.
 * Returns how many are left; *repeated_out gets the lowest rank that was there twice, or -1. */
static uint32_t members_normalize(emu_script_members *members, uint32_t count,
                                  int32_t *repeated_out) {
    qsort(members, count, sizeof *members, compare_members);
    *repeated_out = -1;
    uint32_t kept = 0;
    int32_t last = -1; /* of all so far */
    for (uint32_t i = 0; i < count; i++) {
        emu_script_members next = members[i];
        if (next.first <= last) {
            if (*repeated_out < 0) *repeated_out = next.first;
            if (next.last <= last) continue;
            next.first_member += last + 1 - next.first;
            next.first = last + 1;
        }
        last = next.last;
        members[kept++] = next;
    }
    return kept;
}

static bool fill_members(emu_parser *parser, emu_script_members *members) {
    int64_t member_count = 0;
    for (uint32_t i = 0; i < parser->range_count; i++) {
        const emu_rank_range range = parser->ranges[i];
        members[i] = (emu_script_members){range.first, range.last, (int32_t)member_count};
        member_count += range.last - range.first + 1;
        if (member_count > TUTTI_SCRIPT_RANKS_MAX) return false;
    }
    return true;
}

bool emu_make_world(emu_parser *parser) {
    static const emu_token token = {EMU_TOKEN_WORD, "world", 5, 0, 1};
    const emu_script_group world = {.repeated_rank = -1};
    uint32_t index;
    return emu_group_add(parser, &token, &world, &index);
}

bool emu_fill_world(emu_parser *parser, int32_t rank_count) {
    emu_arena *arena = &parser->script->arena;
    const emu_script_members all_members = {0, rank_count - 1, 0};
    const emu_rank_range all_range = {0, rank_count - 1};
    const emu_script_members *all = emu_arena_copy(arena, &all_members, 1, sizeof *all);
    const emu_rank_range *range = emu_arena_copy(arena, &all_range, 1, sizeof *range);
    if (!all || !range) return emu_parser_no_memory(parser);
    parser->all_ranks = (emu_rank_set){range, 1, rank_count};
    emu_script_group *world = &parser->groups[EMU_SCRIPT_WORLD];
    world->members = world->by_rank = all;
    world->members_count = world->by_rank_count = 1;
    world->rank_count = rank_count;
    return true;
}

bool emu_parse_members(emu_parser *parser, emu_script_group *group) {
    const emu_token at = *emu_parser_token(parser);
    if (!emu_parse_ranges(parser, "a rank of the group")) return false;
    const uint32_t count = parser->range_count;
    emu_arena *arena = &parser->script->arena;
    emu_script_members *members = emu_arena_alloc(arena, count, sizeof *members);
    if (!members) return emu_parser_no_memory(parser);
    if (!fill_members(parser, members))
        return emu_parser_fail(parser, &at, "a group has at most %d ranks", TUTTI_SCRIPT_RANKS_MAX);
    emu_script_members *by_rank = emu_arena_copy(arena, members, count, sizeof *members);
    if (!by_rank) return emu_parser_no_memory(parser);
    const emu_script_members *end = &members[count - 1];
    group->members = members;
    group->members_count = count;
    group->by_rank = by_rank;
    group->by_rank_count = members_normalize(by_rank, count, &group->repeated_rank);
    group->rank_count = end->first_member + (end->last - end->first) + 1;
    return true;
}
