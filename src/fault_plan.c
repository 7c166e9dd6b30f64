/* Fault plans: made from text, asked, destroyed. */

#include "fault_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How many rules and terms a text can have at most. */
static void count_parts(const char *text, size_t text_bytes, size_t *rules_out, size_t *terms_out) {
    size_t separators = 0;
    size_t arrows = 0;

    for (size_t i = 0; i < text_bytes; i++) {
        separators += text[i] == ';' || text[i] == '\n';
        arrows += text[i] == '>';
    }
    *rules_out = separators < TUTTI_FAULT_RULES_MAX ? separators + 1 : TUTTI_FAULT_RULES_MAX;
    *terms_out = *rules_out + arrows;
}

/* A plan without rules, with room for all that the text can hold. */
static tutti_fault_plan *create_empty(const char *text, size_t text_bytes) {
    size_t rules_max = 0;
    size_t terms_max = 0;

    count_parts(text, text_bytes, &rules_max, &terms_max);
    tutti_fault_plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL) {
        return NULL;
    }
    plan->text = malloc(text_bytes + 1);
    plan->strings = malloc(text_bytes + 1);
    plan->rules = calloc(rules_max, sizeof(*plan->rules));
    plan->terms = calloc(terms_max, sizeof(*plan->terms));
    if (plan->text == NULL || plan->strings == NULL || plan->rules == NULL || plan->terms == NULL) {
        tutti_fault_plan_destroy(plan);
        return NULL;
    }
    if (text_bytes > 0) {
        memcpy(plan->text, text, text_bytes);
    }
    plan->text[text_bytes] = '\0';
    plan->text_bytes = text_bytes;
    return plan;
}

static fault_origin origin_of(const tutti_fault_plan *plan) {
    const fault_origin origin = {plan->text, plan->text_bytes, plan->source};

    return origin;
}

static tutti_status read_into(tutti_fault_plan *plan, tutti_error *error) {
    fault_parser parser = {
        .origin = origin_of(plan),
        .position = {0, plan->source.line, plan->source.column},
        .plan = plan,
        .error = error,
    };

    return fault_parse_rules(&parser);
}

tutti_status tutti_fault_plan_parse(const char *text, size_t text_bytes,
                                    const tutti_fault_source *source, tutti_fault_plan **plan_out,
                                    tutti_error *error) {
    tutti_error_clear(error);
    if (plan_out == NULL || (text == NULL && text_bytes > 0)) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "a fault plan needs %s",
                               plan_out == NULL ? "a place to be put" : "a text");
    }
    if (text_bytes > TUTTI_FAULT_TEXT_BYTES_MAX) {
        const fault_origin origin = {text, TUTTI_FAULT_TEXT_BYTES_MAX,
                                     fault_source_or_default(source)};
        return fault_error_at(&origin, TUTTI_FAULT_TEXT_BYTES_MAX, TUTTI_SYNTAX,
                              "the text of a fault plan ends here at the latest (65536 bytes)",
                              error);
    }
    tutti_fault_plan *plan = create_empty(text, text_bytes);
    if (plan == NULL) {
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for a fault plan");
    }
    plan->source = fault_source_or_default(source);
    const tutti_status status = read_into(plan, error);
    if (status != TUTTI_OK) {
        tutti_fault_plan_destroy(plan);
        return status;
    }
    *plan_out = plan;
    return TUTTI_OK;
}

void tutti_fault_plan_destroy(tutti_fault_plan *plan) {
    if (plan == NULL) {
        return;
    }
    free(plan->text);
    free(plan->strings);
    free(plan->rules);
    free(plan->terms);
    free(plan);
}

uint32_t tutti_fault_rule_count(const tutti_fault_plan *plan) {
    return plan != NULL ? plan->rule_count : 0;
}

/* The rule with this number, or NULL. */
static const fault_rule *find_rule(const tutti_fault_plan *plan, uint32_t rule) {
    return rule < tutti_fault_rule_count(plan) ? &plan->rules[rule] : NULL;
}

tutti_fault_point tutti_fault_rule_point(const tutti_fault_plan *plan, uint32_t rule) {
    const fault_rule *found = find_rule(plan, rule);

    return found != NULL ? found->point : TUTTI_FAULT_POINT_COUNT;
}

const tutti_fault_selector *tutti_fault_rule_selector(const tutti_fault_plan *plan, uint32_t rule) {
    const fault_rule *found = find_rule(plan, rule);

    return found != NULL ? &found->selector : NULL;
}

uint32_t tutti_fault_rule_term_count(const tutti_fault_plan *plan, uint32_t rule) {
    const fault_rule *found = find_rule(plan, rule);

    return found != NULL ? found->term_count : 0;
}

const tutti_fault_term *tutti_fault_rule_term(const tutti_fault_plan *plan, uint32_t rule,
                                              uint32_t term) {
    const fault_rule *found = find_rule(plan, rule);

    return found != NULL && term < found->term_count ? &plan->terms[found->term_first + term]
                                                     : NULL;
}

tutti_fault_text tutti_fault_rule_text(const tutti_fault_plan *plan, uint32_t rule) {
    const fault_rule *found = find_rule(plan, rule);
    const tutti_fault_text nowhere = {"", 0, 0, 0, 0};

    return found != NULL ? found->place : nowhere;
}

tutti_status tutti_fault_rule_error(const tutti_fault_plan *plan, uint32_t rule,
                                    tutti_status status, const char *message, tutti_error *error) {
    const fault_rule *found = find_rule(plan, rule);

    if (found == NULL) {
        tutti_error_clear(error);
        return tutti_error_set(error, status, "%s", message);
    }
    const fault_origin origin = origin_of(plan);
    return fault_error_at(&origin, found->place.text_offset, status, message, error);
}
