#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "drivers/emu/script_parse.h"

/* Each takes what follows the word that starts its line. */
typedef bool parse_function(emu_parser *parser, const emu_token *word);

/* Something that may be said once only. *line is where it was said. */
static bool say_once(emu_parser *parser, const emu_token *word, int32_t *line) {
    if (*line > 0)
        return emu_parser_fail(parser, word, "'%.*s' is there already (line %d)", (int)word->bytes,
                               word->text, (int)*line);
    *line = word->line;
    return true;
}

static bool take_word(emu_parser *parser, const char *word) {
    if (emu_token_is(emu_parser_token(parser), word)) {
        emu_lexer_advance(&parser->lexer);
        return true;
    }
    char what[32];
    snprintf(what, sizeof what, "'%s'", word);
    return emu_parser_expected(parser, what);
}

static bool parse_ranks(emu_parser *parser, const emu_token *word) {
    if (parser->script->rank_count > 0)
        return emu_parser_fail(parser, word, "'ranks' is there already; a script says it once");
    uint64_t count;
    if (!emu_parse_u64(parser, "the number of ranks", 1, TUTTI_SCRIPT_RANKS_MAX, &count))
        return false;
    parser->script->rank_count = (int32_t)count;
    return emu_fill_world(parser, (int32_t)count);
}

static bool parse_group(emu_parser *parser, const emu_token *word) {
    (void)word;
    emu_token name;
    if (!emu_parse_name(parser, "a name for the group", &name)) return false;
    emu_script_group group = {.line = name.line};
    uint32_t index;
    const emu_name *known = emu_name_find(parser, &name);
    if (known) return emu_group_add(parser, &name, &group, &index); /* which says why not */
    return emu_parser_take(parser, EMU_TOKEN_EQUALS, "'='") && emu_parse_members(parser, &group) &&
           emu_group_add(parser, &name, &group, &index);
}

static bool parse_capacity(emu_parser *parser, const emu_token *word) {
    uint64_t capacity;
    if (!say_once(parser, word, &parser->said.capacity) ||
        !emu_parse_u64(parser, "the number of collectives that a device runs at once", 1,
                       EMU_SCRIPT_CAPACITY_MAX, &capacity))
        return false;
    parser->script->capacity = (uint32_t)capacity;
    return true;
}

static bool parse_timeout(emu_parser *parser, const emu_token *word) {
    const emu_token at = *emu_parser_token(parser);
    if (!say_once(parser, word, &parser->said.timeout) ||
        !emu_parse_duration(parser, &parser->script->timeout_ns))
        return false;
    if (parser->script->timeout_ns > 0) return true;
    return emu_parser_fail(parser, &at,
                           "expected a time limit above 0; without 'timeout' there is "
                           "none");
}

static bool parse_first_use(emu_parser *parser, const emu_token *word) {
    parser->script->first_use_blocks = true;
    return say_once(parser, word, &parser->said.first_use) && take_word(parser, "blocks");
}

static bool parse_tolerate(emu_parser *parser, const emu_token *word) {
    parser->script->tolerate_group_order = true;
    return say_once(parser, word, &parser->said.tolerate) && take_word(parser, "group-order");
}

/* --- Faults --- */

/* The rule goes into the plan's text where it stands in the file, counted from the first rule's
 * line, so that whoever reads the plan knows its places. */
static bool add_fault(emu_parser *parser, const emu_token *rule) {
    if (!parser->faults) {
        parser->faults = emu_arena_alloc(&parser->scratch, TUTTI_FAULT_TEXT_BYTES_MAX, 1);
        if (!parser->faults) return emu_parser_no_memory(parser);
        parser->script->faults_line = parser->faults_last_line = rule->line;
    }
    const size_t lines = (size_t)(rule->line - parser->faults_last_line);
    const size_t blanks = (size_t)(rule->column - 1);
    if (parser->faults_bytes + lines + blanks + rule->bytes > TUTTI_FAULT_TEXT_BYTES_MAX)
        return emu_parser_fail(parser, rule,
                               "the faults of a script have at most %d bytes, a byte for each line "
                               "between them included",
                               TUTTI_FAULT_TEXT_BYTES_MAX);
    char *end = parser->faults + parser->faults_bytes;
    memset(end, '\n', lines);
    memset(end + lines, ' ', blanks);
    memcpy(end + lines + blanks, rule->text, rule->bytes);
    parser->faults_bytes += lines + blanks + rule->bytes;
    parser->faults_last_line = rule->line;
    return true;
}

/* Each rank and peer that a rule names must exist. */
static bool check_fault_ranks(emu_parser *parser, const emu_token *at,
                              const tutti_fault_selector *keys) {
    const int32_t last = parser->script->rank_count - 1;
    if ((keys->keys & 1u << TUTTI_FAULT_KEY_RANK) && keys->rank_last > last)
        return emu_parser_fail(parser, at, "rank %d of the fault is outside of 0 to %d",
                               (int)keys->rank_last, (int)last);
    if ((keys->keys & 1u << TUTTI_FAULT_KEY_PEER) && keys->peer_last > last)
        return emu_parser_fail(parser, at, "peer %d of the fault is outside of 0 to %d",
                               (int)keys->peer_last, (int)last);
    return true;
}

static bool parse_fault(emu_parser *parser, const emu_token *word) {
    (void)word;
    if (emu_parser_token(parser)->kind == EMU_TOKEN_LINE_END)
        return emu_parser_expected(parser, "a rule such as all_reduce[rank=1]=delay(5ms)");
    const emu_token rule = emu_lexer_take_rest(&parser->lexer);
    const char *file = parser->lexer.file ? parser->lexer.file : "script";
    const tutti_fault_source source = {file, rule.line, rule.column};
    tutti_fault_plan *plan = NULL;
    parser->status = tutti_fault_plan_parse(rule.text, rule.bytes, &source, &plan, parser->error);
    if (parser->status != TUTTI_OK) return false;
    bool good = true;
    for (uint32_t i = 0; good && i < tutti_fault_rule_count(plan); i++)
        good = check_fault_ranks(parser, &rule, tutti_fault_rule_selector(plan, i));
    tutti_fault_plan_destroy(plan);
    return good && add_fault(parser, &rule);
}

/* --- Devices --- */

static bool add_placement(emu_parser *parser, const emu_placement_line *placement) {
    emu_placement_line *grown =
        emu_arena_grow(&parser->scratch, parser->placements, parser->placement_count,
                       &parser->placement_capacity, sizeof *grown);
    if (!grown) return emu_parser_no_memory(parser);
    parser->placements = grown;
    parser->placements[parser->placement_count++] = *placement;
    return true;
}

static bool parse_device(emu_parser *parser, const emu_token *word) {
    (void)word;
    const emu_token at = *emu_parser_token(parser);
    emu_rank_set ranks;
    int32_t device;
    if (!emu_parse_rank_set(parser, "the ranks that use the device", &ranks) ||
        !emu_parser_take(parser, EMU_TOKEN_EQUALS, "'='") ||
        !emu_parse_rank(parser, "the rank whose device is used", &device))
        return false;
    for (uint32_t i = 0; i < ranks.range_count; i++) {
        const emu_placement_line placement = {{ranks.ranges[i].first, ranks.ranges[i].last, device},
                                              at};
        if (!add_placement(parser, &placement)) return false;
    }
    return true;
}

/* --- Sections and the verdict --- */

static bool parse_section(emu_parser *parser, const emu_token *word) {
    emu_script_section section = {.line = word->line, .first_statement = parser->statement_count};
    if (!emu_parse_rank_set(parser, "the ranks that run what follows ('*', 0 2, 1-3)",
                            &section.ranks))
        return false;
    parser->section_ranges += section.ranks.range_count;
    if (parser->section_ranges > EMU_SCRIPT_RANGES_MAX)
        return emu_parser_fail(parser, word,
                               "the sections of a script name at most %d ranges of "
                               "ranks",
                               EMU_SCRIPT_RANGES_MAX);
    emu_script_section *grown =
        emu_arena_grow(&parser->scratch, parser->sections, parser->section_count,
                       &parser->section_capacity, sizeof *grown);
    if (!grown) return emu_parser_no_memory(parser);
    parser->sections = grown;
    parser->sections[parser->section_count++] = section;
    return true;
}

static bool parse_verdict(emu_parser *parser, const emu_token *word) {
    emu_script_verdict *verdict = &parser->script->verdict;
    const emu_token kind = *emu_parser_token(parser);
    if (!say_once(parser, word, &verdict->line) || !emu_verdict_find(parser, &kind, &verdict->kind))
        return false;
    emu_lexer_advance(&parser->lexer);
    if (emu_parser_token(parser)->kind == EMU_TOKEN_LINE_END) return true;
    if (!emu_token_is(emu_parser_token(parser), "culprit"))
        return emu_parser_expected(parser, "'culprit' or end of line");
    if (verdict->kind == TUTTI_VERDICT_OK)
        return emu_parser_fail(parser, emu_parser_token(parser), "an ok script has no culprit");
    emu_lexer_advance(&parser->lexer);
    return emu_parse_rank_set(parser, "the ranks to blame", &verdict->culprits);
}

/* --- Which word starts what --- */

typedef struct header_word {
    const char *name;
    parse_function *parse;
    bool before_sections; /* only there */
} header_word;

static const header_word words[] = {
    {"ranks", parse_ranks, true},         {"group", parse_group, true},
    {"capacity", parse_capacity, true},   {"timeout", parse_timeout, true},
    {"first-use", parse_first_use, true}, {"tolerate", parse_tolerate, true},
    {"device", parse_device, true},       {"fault", parse_fault, false},
    {"buffer", emu_parse_buffer, false},  {"rank", parse_section, false},
    {"verdict", parse_verdict, false},
};

static bool check_position(emu_parser *parser, const header_word *header, const emu_token *word) {
    if (header->before_sections && parser->section_count > 0)
        return emu_parser_fail(parser, word,
                               "'%s' stands before the first 'rank' (line %d); after it there are "
                               "only 'buffer', 'fault', 'rank', 'verdict' and statements",
                               header->name, (int)parser->sections[0].line);
    return emu_check_blocks_closed(parser);
}

bool emu_parse_header(emu_parser *parser, bool *found_out) {
    const emu_token word = *emu_parser_token(parser);
    *found_out = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!emu_token_is(&word, words[i].name)) continue;
        *found_out = true;
        if (!check_position(parser, &words[i], &word)) return false;
        emu_lexer_advance(&parser->lexer);
        return words[i].parse(parser, &word);
    }
    return true;
}
