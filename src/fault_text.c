/* Fault plans as canonical text, and the bounded writer that makes it. */

#include "fault_internal.h"

#include <assert.h>
#include <string.h>

void fault_put_bytes(fault_writer *writer, const char *bytes, size_t count) {
    if (writer->length < writer->text_bytes) {
        const size_t room = writer->text_bytes - writer->length;
        memcpy(writer->text + writer->length, bytes, count < room ? count : room);
    }
    writer->length += count;
    for (size_t i = 0; i < count; i++) {
        writer->hash = (writer->hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001B3);
    }
}

void fault_put_text(fault_writer *writer, const char *text) {
    fault_put_bytes(writer, text, strlen(text));
}

void fault_put_number(fault_writer *writer, uint64_t number) {
    char digits[20]; /* of 2^64 - 1 */
    size_t first = sizeof(digits);

    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    fault_put_bytes(writer, digits + first, sizeof(digits) - first);
}

/* Writes value / unit without zeros at the end; unit is a power of ten. */
void fault_put_decimal(fault_writer *writer, uint64_t value, uint64_t unit) {
    uint64_t rest = value % unit;

    fault_put_number(writer, value / unit);
    if (rest > 0) {
        fault_put_text(writer, ".");
    }
    while (rest > 0) {
        unit /= 10;
        const char digit = (char)('0' + rest / unit);
        fault_put_bytes(writer, &digit, 1);
        rest %= unit;
    }
}

void fault_put_names(fault_writer *writer, const char *const *names, int count, uint32_t bits) {
    const char *separator = "";

    assert(count <= 32);
    for (int i = 0; i < count; i++) {
        if ((bits >> i & 1) != 0) {
            fault_put_text(writer, separator);
            fault_put_text(writer, names[i]);
            separator = ", ";
        }
    }
}

size_t fault_put_end(fault_writer *writer) {
    if (writer->text_bytes > 0) {
        const size_t last = writer->text_bytes - 1;
        writer->text[writer->length < last ? writer->length : last] = '\0';
    }
    return writer->length;
}

/* Writes "key=", after "[" for the first key of a rule and "," for the others. */
static void put_key(fault_writer *writer, tutti_fault_key key, const char **separator) {
    fault_put_text(writer, *separator);
    fault_put_text(writer, tutti_fault_key_name(key));
    fault_put_text(writer, "=");
    *separator = ",";
}

static void put_range(fault_writer *writer, uint64_t first, uint64_t last) {
    fault_put_number(writer, first);
    if (last != first) {
        fault_put_text(writer, "-");
        fault_put_number(writer, last);
    }
}

static void put_value(fault_writer *writer, const tutti_fault_selector *selector,
                      tutti_fault_key key) {
    switch (key) {
    case TUTTI_FAULT_KEY_RANK:
        put_range(writer, (uint64_t)selector->rank_first, (uint64_t)selector->rank_last);
        break;
    case TUTTI_FAULT_KEY_PEER:
        put_range(writer, (uint64_t)selector->peer_first, (uint64_t)selector->peer_last);
        break;
    case TUTTI_FAULT_KEY_SEQ:
        put_range(writer, selector->seq_first, selector->seq_last);
        break;
    case TUTTI_FAULT_KEY_GROUP:
        fault_put_text(writer, selector->group);
        break;
    case TUTTI_FAULT_KEY_OP:
        fault_put_text(writer, selector->op);
        break;
    default:
        assert(key == TUTTI_FAULT_KEY_STREAM);
        fault_put_text(writer, selector->stream);
        break;
    }
}

static void put_selector(fault_writer *writer, const tutti_fault_selector *selector) {
    const char *separator = "[";

    for (int key = 0; key < TUTTI_FAULT_KEY_COUNT; key++) {
        if ((selector->keys >> key & 1) != 0) {
            put_key(writer, (tutti_fault_key)key, &separator);
            put_value(writer, selector, (tutti_fault_key)key);
        }
    }
    if (selector->keys != 0) {
        fault_put_text(writer, "]");
    }
}

static void put_argument(fault_writer *writer, const tutti_fault_action *action) {
    switch (action->kind) {
    case TUTTI_FAULT_DELAY:
        fault_put_duration(writer, action->delay_ns);
        break;
    case TUTTI_FAULT_REFUSE:
        fault_put_text(writer, action->reason);
        break;
    case TUTTI_FAULT_CORRUPT:
        fault_put_number(writer, action->bits);
        break;
    case TUTTI_FAULT_FAIL:
        fault_put_text(writer, tutti_status_name(action->status));
        break;
    default:
        assert(action->kind == TUTTI_FAULT_SLOW);
        fault_put_decimal(writer, action->factor_millionths, TUTTI_FAULT_MILLION);
        break;
    }
}

static void put_term(fault_writer *writer, const tutti_fault_term *term) {
    const uint32_t without_argument = 1u << TUTTI_FAULT_OFF | 1u << TUTTI_FAULT_HANG |
                                      1u << TUTTI_FAULT_KILL | 1u << TUTTI_FAULT_DROP;

    if (term->probability != TUTTI_FAULT_ALWAYS) {
        fault_put_decimal(writer, term->probability, TUTTI_FAULT_MILLION);
        fault_put_text(writer, "%");
    }
    if (term->times > 0) {
        fault_put_number(writer, term->times);
        fault_put_text(writer, "*");
    }
    fault_put_text(writer, tutti_fault_kind_name(term->action.kind));
    if ((without_argument >> term->action.kind & 1) == 0) {
        fault_put_text(writer, "(");
        put_argument(writer, &term->action);
        fault_put_text(writer, ")");
    }
}

void fault_put_rule(fault_writer *writer, const tutti_fault_plan *plan, uint32_t rule) {
    const fault_rule *subject = &plan->rules[rule];

    assert(rule < plan->rule_count);
    fault_put_text(writer, tutti_fault_point_name(subject->point));
    put_selector(writer, &subject->selector);
    for (uint32_t i = 0; i < subject->term_count; i++) {
        fault_put_text(writer, i == 0 ? "=" : "->");
        put_term(writer, &plan->terms[subject->term_first + i]);
    }
}

size_t tutti_fault_plan_format(const tutti_fault_plan *plan, char *text, size_t text_bytes) {
    fault_writer writer = {.text = text, .text_bytes = text_bytes};
    const uint32_t rule_count = tutti_fault_rule_count(plan);

    for (uint32_t rule = 0; rule < rule_count; rule++) {
        fault_put_text(&writer, rule == 0 ? "" : "; ");
        fault_put_rule(&writer, plan, rule);
    }
    return fault_put_end(&writer);
}

size_t tutti_fault_rule_format(const tutti_fault_plan *plan, uint32_t rule, char *text,
                               size_t text_bytes) {
    fault_writer writer = {.text = text, .text_bytes = text_bytes};

    if (rule < tutti_fault_rule_count(plan)) {
        fault_put_rule(&writer, plan, rule);
    }
    return fault_put_end(&writer);
}
