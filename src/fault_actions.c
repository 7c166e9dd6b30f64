/* What a rule does: actions and their arguments. */

#include "fault_internal.h"

#include <string.h>

/* The reason of a refuse without one. */
static const char default_reason[] = "fault plan";

/* ---- arguments of actions ---- */

static tutti_status read_delay(fault_parser *parser, tutti_fault_action *action) {
    fault_skip_blanks(parser);
    size_t bytes = 0;

    switch (fault_duration_scan(parser->origin.text + parser->at,
                                parser->origin.text_bytes - parser->at, &action->delay_ns,
                                &bytes)) {
    case FAULT_NUMBER_OK:
        parser->at += bytes;
        return TUTTI_OK;
    case FAULT_NUMBER_TOO_FINE:
        return fault_fail(parser, parser->at, "a duration is a whole number of nanoseconds");
    case FAULT_NUMBER_TOO_LARGE:
        return fault_fail(parser, parser->at, "this duration is too long: at most 876000h");
    case FAULT_NUMBER_MISSING:
        return fault_fail_expected(parser, "a duration like 5ms");
    case FAULT_NUMBER_NO_UNIT:
    case FAULT_NUMBER_BAD_UNIT:
        break;
    }
    parser->at += bytes;
    return fault_fail_expected(parser, "a unit of time (ns, us, ms, s, m, min, h)");
}

static bool is_control(char byte) {
    return ((unsigned char)byte < 0x20 && byte != '\t') || byte == 0x7F;
}

/* Finds the ")" that closes a reason. Fails when the line ends before, and at what is no text. */
static tutti_status find_reason_end(const fault_parser *parser, size_t *end_out) {
    size_t depth = 1;
    size_t at = parser->at;

    while (at < parser->origin.text_bytes && parser->origin.text[at] != '\n') {
        const char *text = parser->origin.text + at;
        const size_t bytes = fault_utf8_bytes(text, parser->origin.text_bytes - at);
        if (bytes == 0 || is_control(*text)) {
            return fault_fail(parser, at, "the byte 0x%02x cannot be part of a reason",
                              (unsigned)(unsigned char)*text);
        }
        if (*text == '(') {
            depth++;
        } else if (*text == ')' && --depth == 0) {
            *end_out = at;
            return TUTTI_OK;
        }
        at += bytes;
    }
    return fault_fail(parser, parser->at - 1, "this \"(\" is not closed before the line ends");
}

/* Reads a reason up to its ")". */
static tutti_status read_reason(fault_parser *parser, tutti_fault_action *action) {
    size_t end = 0;

    const tutti_status status = find_reason_end(parser, &end);
    if (status != TUTTI_OK) {
        return status;
    }
    const size_t close = end;
    fault_skip_blanks(parser);
    while (end > parser->at && strchr(" \t", parser->origin.text[end - 1]) != NULL) {
        end--;
    }
    if (end == parser->at) {
        return fault_fail_expected(parser, "a reason, or no parentheses");
    }
    if (end - parser->at > TUTTI_FAULT_REASON_BYTES_MAX) {
        return fault_fail(parser, parser->at, "this reason is too long: at most %d bytes",
                          TUTTI_FAULT_REASON_BYTES_MAX);
    }
    action->reason = fault_store(parser, parser->at, end - parser->at);
    parser->at = close;
    return TUTTI_OK;
}

static tutti_status read_bits(fault_parser *parser, tutti_fault_action *action) {
    uint64_t bits = 0;

    fault_skip_blanks(parser);
    const size_t start = parser->at;
    const tutti_status status =
        fault_read_integer(parser, "a number of bits", TUTTI_FAULT_BITS_MAX, &bits);
    if (status != TUTTI_OK) {
        return status;
    }
    if (bits == 0) {
        return fault_fail(parser, start, "at least one bit must be corrupt");
    }
    action->bits = (uint32_t)bits;
    return TUTTI_OK;
}

static tutti_status read_status(fault_parser *parser, tutti_fault_action *action) {
    static const char *const names[] = {
#define STATUS_NAME(name, value, text, description) [value] = (text),
        TUTTI_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    };

    fault_skip_blanks(parser);
    const size_t bytes = fault_word_bytes(parser, parser->at);
    tutti_status failure = TUTTI_OK;
    if (tutti_status_parse(parser->origin.text + parser->at, bytes, &failure) != TUTTI_OK) {
        return fault_fail_name(parser, "a status, like system, remote or timed_out", names,
                               (int)(sizeof(names) / sizeof(names[0])), false);
    }
    if (failure == TUTTI_OK || failure == TUTTI_IN_PROGRESS) {
        return fault_fail(parser, parser->at, "\"%s\" is no failure", tutti_status_name(failure));
    }
    action->status = failure;
    parser->at += bytes;
    return TUTTI_OK;
}

static tutti_status read_factor(fault_parser *parser, tutti_fault_action *action) {
    fault_skip_blanks(parser);
    const char *text = parser->origin.text + parser->at;
    const size_t bytes = fault_decimal_bytes(text, parser->origin.text_bytes - parser->at);
    const uint64_t value_max = (uint64_t)TUTTI_FAULT_FACTOR_MAX * TUTTI_FAULT_MILLION;

    if (bytes == 0) {
        return fault_fail_expected(parser, "a factor like 2.5");
    }
    const fault_number_problem problem = fault_decimal_scale(text, bytes, TUTTI_FAULT_MILLION,
                                                             value_max, &action->factor_millionths);
    if (problem == FAULT_NUMBER_TOO_FINE) {
        return fault_fail(parser, parser->at, "a factor has at most 6 decimals");
    }
    if (problem != FAULT_NUMBER_OK || action->factor_millionths < TUTTI_FAULT_MILLION) {
        return fault_fail(parser, parser->at, "a factor is at least 1 and at most %d",
                          TUTTI_FAULT_FACTOR_MAX);
    }
    parser->at += bytes;
    return TUTTI_OK;
}

/* How the argument of an action is read, and what an action without one gets. */
typedef struct argument_rule {
    tutti_status (*read)(fault_parser *parser, tutti_fault_action *action); /* NULL: takes none */
    const char *example; /* of an action that needs one; else NULL */
} argument_rule;

static const argument_rule arguments[TUTTI_FAULT_KIND_COUNT] = {
    [TUTTI_FAULT_DELAY] = {read_delay, "delay(5ms)"}, [TUTTI_FAULT_REFUSE] = {read_reason, NULL},
    [TUTTI_FAULT_CORRUPT] = {read_bits, NULL},        [TUTTI_FAULT_FAIL] = {read_status, NULL},
    [TUTTI_FAULT_SLOW] = {read_factor, "slow(2.5)"},
};

/* An action as it is without an argument. */
static tutti_fault_action plain_action(const fault_parser *parser, tutti_fault_kind kind) {
    tutti_fault_action action = {.kind = kind};

    action.rule = (int32_t)(parser->rule - parser->plan->rules);
    switch (kind) {
    case TUTTI_FAULT_REFUSE:
        action.status = TUTTI_REFUSED;
        action.reason = default_reason;
        break;
    case TUTTI_FAULT_KILL:
        action.status = TUTTI_KILLED;
        break;
    case TUTTI_FAULT_CORRUPT:
        action.bits = 1;
        break;
    case TUTTI_FAULT_FAIL:
        action.status = TUTTI_SYSTEM;
        break;
    default:
        break;
    }
    return action;
}

static tutti_status read_argument(fault_parser *parser, tutti_fault_action *action) {
    const argument_rule *rule = &arguments[action->kind];
    const char *name = tutti_fault_kind_name(action->kind);

    if (!fault_take(parser, '(')) {
        if (rule->example == NULL) {
            return TUTTI_OK;
        }
        return fault_fail(parser, parser->at, "\"%s\" needs an argument, like %s", name,
                          rule->example);
    }
    if (rule->read == NULL) {
        return fault_fail(parser, parser->at - 1, "\"%s\" takes no argument", name);
    }
    const tutti_status status = rule->read(parser, action);
    if (status != TUTTI_OK) {
        return status;
    }
    return fault_take(parser, ')') ? TUTTI_OK : fault_fail_expected(parser, "\")\"");
}

tutti_status fault_read_action(fault_parser *parser, tutti_fault_action *action_out) {
    fault_skip_blanks(parser);
    const size_t bytes = fault_word_bytes(parser, parser->at);
    const char *const *names = fault_kind_names();
    const uint32_t taken = tutti_fault_point_actions(parser->rule->point);

    const int kind =
        fault_name_find(names, TUTTI_FAULT_KIND_COUNT, parser->origin.text + parser->at, bytes);
    if (kind < 0) {
        return fault_fail_name(parser, "an action", names, TUTTI_FAULT_KIND_COUNT, true);
    }
    if ((taken >> kind & 1) == 0) {
        return fault_fail_not_taken(
            parser, names[kind], names, TUTTI_FAULT_KIND_COUNT, taken,
            fault_action_obstacle(parser->rule->point, (tutti_fault_kind)kind));
    }
    parser->at += bytes;
    *action_out = plain_action(parser, (tutti_fault_kind)kind);
    return read_argument(parser, action_out);
}
