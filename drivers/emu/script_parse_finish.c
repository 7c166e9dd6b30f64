#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/script_parse.h"

/* --- Devices --- */

static int compare_placements(const void *a, const void *b) {
    const emu_placement_line *left = a;
    const emu_placement_line *right = b;
    if (left->placement.first != right->placement.first)
        return left->placement.first < right->placement.first ? -1 : 1;
    return (left->at.line > right->at.line) - (left->at.line < right->at.line);
}

static bool finish_placements(emu_parser *parser) {
    const uint32_t count = parser->placement_count;
    emu_placement_line *lines = parser->placements;
    if (count > 1) qsort(lines, count, sizeof *lines, compare_placements);
    for (uint32_t i = 1; i < count; i++) {
        if (lines[i].placement.first > lines[i - 1].placement.last) continue;
        const bool second = lines[i].at.line > lines[i - 1].at.line;
        const emu_placement_line *later = second ? &lines[i] : &lines[i - 1];
        const emu_placement_line *earlier = second ? &lines[i - 1] : &lines[i];
        return emu_parser_fail(parser, &later->at, "rank %d has a device already (line %d)",
                               (int)lines[i].placement.first, (int)earlier->at.line);
    }
    emu_script_placement *placements =
        emu_arena_alloc(&parser->script->arena, count, sizeof *placements);
    if (!placements) return emu_parser_no_memory(parser);
    for (uint32_t i = 0; i < count; i++)
        placements[i] = lines[i].placement;
    parser->script->placements = placements;
    parser->script->placement_count = count;
    return true;
}

/* --- Faults --- */

static bool stream_is_known(const emu_parser *parser, const char *name) {
    for (uint32_t i = 0; i < parser->stream_count; i++)
        if (strcmp(parser->streams[i].name, name) == 0) return true;
    return false;
}

static bool group_is_known(const emu_parser *parser, const char *name) {
    for (uint32_t i = 0; i < parser->group_count; i++)
        if (strcmp(parser->groups[i].name, name) == 0) return true;
    return false;
}

/* A rule for a group or a stream that is nowhere would never act. */
static bool check_fault_names(emu_parser *parser, const tutti_fault_plan *plan, uint32_t rule) {
    const tutti_fault_selector *keys = tutti_fault_rule_selector(plan, rule);
    char message[TUTTI_FAULT_NAME_BYTES_MAX + 64];
    if (keys->group && !group_is_known(parser, keys->group))
        snprintf(message, sizeof message, "unknown group '%s' in a fault", keys->group);
    else if (keys->stream && !stream_is_known(parser, keys->stream))
        snprintf(message, sizeof message, "no statement uses the fault's stream '%s'",
                 keys->stream);
    else
        return true;
    parser->status = tutti_fault_rule_error(plan, rule, TUTTI_SYNTAX, message, parser->error);
    return false;
}

/* Reads all rules as one plan, as the run will. */
static bool finish_faults(emu_parser *parser) {
    emu_script *script = parser->script;
    if (!parser->faults) script->faults_line = 1;
    script->faults =
        emu_arena_text(&script->arena, parser->faults ? parser->faults : "", parser->faults_bytes);
    script->faults_bytes = parser->faults_bytes;
    if (!script->faults) return emu_parser_no_memory(parser);
    const char *file = parser->lexer.file ? parser->lexer.file : "script";
    const tutti_fault_source source = {file, script->faults_line, 1};
    tutti_fault_plan *plan = NULL;
    parser->status =
        tutti_fault_plan_parse(script->faults, script->faults_bytes, &source, &plan, parser->error);
    if (parser->status != TUTTI_OK) return false;
    bool good = true;
    for (uint32_t i = 0; good && i < tutti_fault_rule_count(plan); i++)
        good = check_fault_names(parser, plan, i);
    tutti_fault_plan_destroy(plan);
    return good;
}

/* --- The index of sections ---------------------------------------------------------------------
 * A segment tree: node 1 is all ranks, nodes 2n and 2n + 1 are the halves of node n, and leaf_count
 * + rank is one rank. Each range of a section is the union of few nodes, where the section is then
 * entered; a rank finds its sections in the nodes from its leaf up to the root. */

/* Enters a range. Without entries only counts, in counts[node]; with them counts[node] is where
 * the node's next entry goes. */
static void index_enter(uint32_t leaf_count, emu_rank_range range, uint32_t section,
                        uint32_t *counts, uint32_t *entries) {
    uint32_t left = leaf_count + (uint32_t)range.first;
    uint32_t right = leaf_count + (uint32_t)range.last + 1;
    while (left < right) {
        if (left & 1) {
            if (entries) entries[counts[left]] = section;
            counts[left++]++;
        }
        if (right & 1) {
            right--;
            if (entries) entries[counts[right]] = section;
            counts[right]++;
        }
        left /= 2;
        right /= 2;
    }
}

static void index_enter_all(const emu_parser *parser, uint32_t leaf_count, uint32_t *counts,
                            uint32_t *entries) {
    for (uint32_t s = 0; s < parser->section_count; s++) {
        const emu_rank_set *ranks = &parser->sections[s].ranks;
        for (uint32_t i = 0; i < ranks->range_count; i++)
            index_enter(leaf_count, ranks->ranges[i], s, counts, entries);
    }
}

static bool finish_sections(emu_parser *parser) {
    uint32_t leaf_count = 1;
    while (leaf_count < (uint32_t)parser->script->rank_count)
        leaf_count *= 2;
    const uint32_t node_count = leaf_count * 2;
    emu_arena *arena = &parser->script->arena;
    uint32_t *starts = emu_arena_alloc(arena, node_count + 1, sizeof *starts);
    uint32_t *next = emu_arena_alloc(&parser->scratch, node_count, sizeof *next);
    if (!starts || !next) return emu_parser_no_memory(parser);
    index_enter_all(parser, leaf_count, next, NULL);
    for (uint32_t node = 0; node < node_count; node++) {
        starts[node + 1] = starts[node] + next[node];
        next[node] = starts[node];
    }
    uint32_t *sections = emu_arena_alloc(arena, starts[node_count], sizeof *sections);
    if (!sections) return emu_parser_no_memory(parser);
    index_enter_all(parser, leaf_count, next, sections);
    parser->script->section_index = (emu_script_section_index){leaf_count, starts, sections};
    return true;
}

/* --- Everything else --- */

static bool finish_buffer_names(emu_parser *parser) {
    emu_arena *arena = &parser->script->arena;
    const uint32_t count = parser->buffer_name_count;
    emu_script_buffer_name *names = emu_arena_alloc(arena, count, sizeof *names);
    if (!names) return emu_parser_no_memory(parser);
    for (uint32_t i = 0; i < count; i++) {
        emu_buffer_builder *builder = &parser->buffer_names[i];
        emu_holders_finish(builder);
        names[i].name = builder->name;
        names[i].holding_count = builder->holding_count;
        names[i].holdings = emu_arena_copy(arena, builder->holdings, builder->holding_count,
                                           sizeof *builder->holdings);
        if (!names[i].holdings) return emu_parser_no_memory(parser);
    }
    parser->script->buffer_names = names;
    parser->script->buffer_name_count = count;
    return true;
}

static bool finish_arrays(emu_parser *parser) {
    emu_script *script = parser->script;
    emu_arena *arena = &script->arena;
    script->groups =
        emu_arena_copy(arena, parser->groups, parser->group_count, sizeof *parser->groups);
    script->streams =
        emu_arena_copy(arena, parser->streams, parser->stream_count, sizeof *parser->streams);
    script->events =
        emu_arena_copy(arena, parser->events, parser->event_count, sizeof *parser->events);
    script->buffers =
        emu_arena_copy(arena, parser->buffers, parser->buffer_count, sizeof *parser->buffers);
    script->sections =
        emu_arena_copy(arena, parser->sections, parser->section_count, sizeof *parser->sections);
    script->statements = emu_arena_copy(arena, parser->statements, parser->statement_count,
                                        sizeof *parser->statements);
    script->group_count = parser->group_count;
    script->stream_count = parser->stream_count;
    script->event_count = parser->event_count;
    script->buffer_count = parser->buffer_count;
    script->section_count = parser->section_count;
    script->statement_count = parser->statement_count;
    return (script->groups && script->streams && script->events && script->buffers &&
            script->sections && script->statements) ||
           emu_parser_no_memory(parser);
}

bool emu_parser_finish(emu_parser *parser) {
    return finish_placements(parser) && finish_faults(parser) && finish_buffer_names(parser) &&
           finish_sections(parser) && finish_arrays(parser);
}
