/* The grammar of fault plans, as fault.h documents it: a rule at a time, from left to right, each
 * part checked against what its point takes where it stands. */

#include "fault_internal.h"

#include <string.h>

/* ---- terms ---- */

/* Takes a number that "%" follows. */
static tutti_status take_probability(fault_parser *parser, size_t bytes, bool *seen,
                                     tutti_fault_term *term) {
    uint64_t probability = 0;

    if (*seen) {
        return fault_fail(parser, parser->at, "a term has only one probability");
    }
    const fault_number_problem problem =
        fault_decimal_scale(parser->origin.text + parser->at, bytes, TUTTI_FAULT_MILLION,
                            TUTTI_FAULT_ALWAYS, &probability);
    if (problem == FAULT_NUMBER_TOO_FINE) {
        return fault_fail(parser, parser->at, "a probability has at most 6 decimals");
    }
    if (problem != FAULT_NUMBER_OK) {
        return fault_fail(parser, parser->at, "a probability is at most 100%%");
    }
    *seen = true;
    term->probability = (uint32_t)probability;
    return TUTTI_OK;
}

/* Takes a number that "*" follows. */
static tutti_status take_times(fault_parser *parser, size_t bytes, tutti_fault_term *term) {
    const char *text = parser->origin.text + parser->at;
    uint64_t times = 0;

    if (term->times > 0) {
        return fault_fail(parser, parser->at, "a term has only one count");
    }
    if (memchr(text, '.', bytes) != NULL) {
        return fault_fail(parser, parser->at, "a count is a whole number");
    }
    if (fault_decimal_scale(text, bytes, 1, TUTTI_FAULT_TIMES_MAX, &times) != FAULT_NUMBER_OK ||
        times == 0) {
        return fault_fail(parser, parser->at, "a count is at least 1 and at most %d",
                          TUTTI_FAULT_TIMES_MAX);
    }
    term->times = (uint32_t)times;
    return TUTTI_OK;
}

/* Reads the numbers before an action. At most one probability and one count come. */
static tutti_status read_modifiers(fault_parser *parser, tutti_fault_term *term) {
    bool probability_seen = false;

    for (;;) {
        fault_skip_blanks(parser);
        const size_t start = parser->at;
        const size_t bytes =
            fault_decimal_bytes(parser->origin.text + start, parser->origin.text_bytes - start);
        if (bytes == 0) {
            return TUTTI_OK;
        }
        tutti_status status = TUTTI_OK;
        parser->at += bytes;
        fault_skip_blanks(parser);
        const size_t sign = parser->at;
        const char next = fault_peek(parser);
        parser->at = start;
        if (next == '%') {
            status = take_probability(parser, bytes, &probability_seen, term);
        } else if (next == '*') {
            status = take_times(parser, bytes, term);
        } else {
            parser->at = sign;
            status = fault_fail_expected(parser, "\"%\" or \"*\" after the number");
        }
        if (status != TUTTI_OK) {
            return status;
        }
        parser->at = sign + 1;
    }
}

static tutti_status read_term(fault_parser *parser) {
    tutti_fault_plan *plan = parser->plan;
    tutti_fault_term *term = &plan->terms[plan->term_count];

    *term = (tutti_fault_term){.probability = TUTTI_FAULT_ALWAYS};
    tutti_status status = read_modifiers(parser, term);
    if (status == TUTTI_OK) {
        status = fault_read_action(parser, &term->action);
    }
    if (status == TUTTI_OK) {
        plan->term_count++;
        parser->rule->term_count++;
    }
    return status;
}

/* Reads "->" if it comes, and fails where no term could follow. */
static tutti_status read_arrow(fault_parser *parser, bool *found_out) {
    const size_t before = parser->at;

    fault_skip_blanks(parser);
    const size_t start = parser->at;
    *found_out = fault_take(parser, '-') && fault_peek(parser) == '>';
    if (!*found_out) {
        parser->at = before;
        return TUTTI_OK;
    }
    if (parser->plan->terms[parser->plan->term_count - 1].times == 0) {
        return fault_fail(parser, start,
                          "nothing can follow a term that lasts for ever; give that one a count, "
                          "like 1*hang");
    }
    if (parser->rule->term_count == TUTTI_FAULT_TERMS_MAX) {
        return fault_fail(parser, start, "a rule has at most %d terms", TUTTI_FAULT_TERMS_MAX);
    }
    parser->at++;
    return TUTTI_OK;
}

static tutti_status read_terms(fault_parser *parser) {
    bool more = true;

    while (more) {
        tutti_status status = read_term(parser);
        if (status == TUTTI_OK) {
            status = read_arrow(parser, &more);
        }
        if (status != TUTTI_OK) {
            return status;
        }
    }
    return TUTTI_OK;
}

/* ---- rules ---- */

/* The points whose sites a rule fits. One at `enqueue` must be possible there as a whole, or it
 * would use up its counts where it can do nothing. */
static uint32_t rule_sites(const tutti_fault_plan *plan, const fault_rule *rule) {
    const uint32_t candidates = fault_enqueued_points();
    uint32_t actions = 0;
    uint32_t sites = 0;

    if (rule->point != TUTTI_FAULT_AT_ENQUEUE) {
        return UINT32_C(1) << rule->point;
    }
    for (uint32_t i = 0; i < rule->term_count; i++) {
        actions |= UINT32_C(1) << plan->terms[rule->term_first + i].action.kind;
    }
    for (int i = 0; i < TUTTI_FAULT_POINT_COUNT; i++) {
        const tutti_fault_point point = (tutti_fault_point)i;
        if ((candidates >> i & 1) != 0 && (actions & ~tutti_fault_point_actions(point)) == 0 &&
            (rule->selector.keys & ~tutti_fault_point_keys(point)) == 0) {
            sites |= UINT32_C(1) << i;
        }
    }
    return sites;
}

/* Says which rule this is, whatever other rules there are and however it was written. */
static void identify(const tutti_fault_plan *plan, fault_rule *rule) {
    fault_writer writer = {.hash = UINT64_C(0xCBF29CE484222325)}; /* FNV's offset basis */

    fault_put_rule(&writer, plan, (uint32_t)(rule - plan->rules));
    rule->text_hash = writer.hash;
    for (const fault_rule *before = plan->rules; before < rule; before++) {
        rule->copy += before->text_hash == rule->text_hash;
    }
}

static tutti_status read_point(fault_parser *parser) {
    const size_t bytes = fault_word_bytes(parser, parser->at);
    const char *const *names = fault_point_names();

    const int point =
        fault_name_find(names, TUTTI_FAULT_POINT_COUNT, parser->origin.text + parser->at, bytes);
    if (point < 0) {
        return fault_fail_name(parser, "a fault point", names, TUTTI_FAULT_POINT_COUNT, true);
    }
    parser->rule->point = (tutti_fault_point)point;
    parser->at += bytes;
    return TUTTI_OK;
}

static tutti_status read_rule_parts(fault_parser *parser) {
    tutti_status status = read_point(parser);

    if (status == TUTTI_OK && fault_take(parser, '[')) {
        status = fault_read_selector(parser);
    }
    if (status != TUTTI_OK) {
        return status;
    }
    if (!fault_take(parser, '=')) {
        return fault_fail_expected(parser, parser->rule->selector.keys != 0
                                               ? "\"=\" and an action"
                                               : "\"[\", or \"=\" and an action");
    }
    return read_terms(parser);
}

/* Reads the rule that starts at the parser's place. */
static tutti_status read_rule(fault_parser *parser) {
    tutti_fault_plan *plan = parser->plan;

    if (plan->rule_count == TUTTI_FAULT_RULES_MAX) {
        return fault_fail(parser, parser->at, "a plan has at most %d rules", TUTTI_FAULT_RULES_MAX);
    }
    fault_rule *rule = &plan->rules[plan->rule_count];
    *rule = (fault_rule){.term_first = plan->term_count};
    fault_position_advance(&parser->position, &parser->origin, parser->at);
    rule->place.text = plan->text + parser->at;
    rule->place.text_offset = parser->at;
    rule->place.line = parser->position.line;
    rule->place.column = parser->position.column;
    parser->rule = rule;
    const tutti_status status = read_rule_parts(parser);
    if (status == TUTTI_OK) {
        rule->place.text_bytes = parser->at - rule->place.text_offset;
        rule->sites = rule_sites(plan, rule);
        plan->rule_count++;
        identify(plan, rule);
    }
    return status;
}

/* Skips empty rules, line ends and comments. */
static void skip_separators(fault_parser *parser) {
    const char *text = parser->origin.text;
    bool comment = false;

    for (; parser->at < parser->origin.text_bytes; parser->at++) {
        const char next = text[parser->at];
        if (next == '\n') {
            comment = false;
        } else if (next == '#') {
            comment = true;
        } else if (!comment && (next == '\0' || strchr(" \t\r;", next) == NULL)) {
            return;
        }
    }
}

tutti_status fault_parse_rules(fault_parser *parser) {
    skip_separators(parser);
    while (parser->at < parser->origin.text_bytes) {
        const tutti_status status = read_rule(parser);
        if (status != TUTTI_OK) {
            return status;
        }
        fault_skip_blanks(parser);
        const char next = fault_peek(parser);
        if (parser->at < parser->origin.text_bytes && next != ';' && next != '\n' && next != '#') {
            return fault_fail_expected(parser, "\"->\", \";\" or the end of the line");
        }
        skip_separators(parser);
    }
    return TUTTI_OK;
}
