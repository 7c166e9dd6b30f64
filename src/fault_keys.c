/* What stands between the brackets of a rule: keys and their values. */

#include "fault_internal.h"

#include <assert.h>
#include <string.h>

#include "tutti/types.h"

/* ---- values of keys ---- */

/* Reads `first [ "-" last ]`. */
static tutti_status read_range(fault_parser *parser, uint64_t value_max, uint64_t *first_out,
                               uint64_t *last_out) {
    fault_skip_blanks(parser);
    const size_t start = parser->at;

    tutti_status status =
        fault_read_integer(parser, "a number, a range like 1-3, or \"*\"", value_max, first_out);
    if (status != TUTTI_OK) {
        return status;
    }
    *last_out = *first_out;
    if (!fault_take(parser, '-')) {
        return TUTTI_OK;
    }
    status = fault_read_integer(parser, "the last number of the range", value_max, last_out);
    if (status == TUTTI_OK && *last_out < *first_out) {
        return fault_fail(parser, start, "this range runs backwards");
    }
    return status;
}

static tutti_status read_ranks(fault_parser *parser, int32_t *first_out, int32_t *last_out) {
    uint64_t first = 0;
    uint64_t last = 0;

    const tutti_status status = read_range(parser, TUTTI_FAULT_RANK_COUNT_MAX - 1, &first, &last);
    if (status == TUTTI_OK) {
        *first_out = (int32_t)first;
        *last_out = (int32_t)last;
    }
    return status;
}

static tutti_status read_sequence(fault_parser *parser, uint64_t *first_out, uint64_t *last_out) {
    fault_skip_blanks(parser);
    const size_t start = parser->at;

    const tutti_status status = read_range(parser, INT64_MAX, first_out, last_out);
    if (status == TUTTI_OK && *first_out == 0) {
        return fault_fail(parser, start, "operations are numbered from 1");
    }
    return status;
}

static size_t name_bytes(const fault_parser *parser) {
    size_t at = parser->at;

    while (at < parser->origin.text_bytes) {
        const char *text = parser->origin.text + at;
        const size_t bytes = fault_utf8_bytes(text, parser->origin.text_bytes - at);
        if (bytes == 0 || *text == 0x7F ||
            (bytes == 1 && (*text <= ' ' || strchr(",;=#\"*[]()", *text) != NULL))) {
            break;
        }
        at += bytes;
    }
    return at - parser->at;
}

/* Finds the name that starts at the parser's place, without reading it. */
static tutti_status find_name(fault_parser *parser, size_t *bytes_out) {
    fault_skip_blanks(parser);
    const size_t bytes = name_bytes(parser);

    if (bytes == 0) {
        return fault_fail_expected(parser, "a name or \"*\"");
    }
    if (bytes > TUTTI_FAULT_NAME_BYTES_MAX) {
        return fault_fail(parser, parser->at, "this name is too long: at most %d bytes",
                          TUTTI_FAULT_NAME_BYTES_MAX);
    }
    const size_t behind = parser->at + bytes;
    if (behind < parser->origin.text_bytes && parser->origin.text[behind] == '*') {
        return fault_fail(parser, behind,
                          "a name has no wildcard: only \"*\" alone stands for any");
    }
    *bytes_out = bytes;
    return TUTTI_OK;
}

static tutti_status read_name(fault_parser *parser, const char **name_out) {
    size_t bytes = 0;

    const tutti_status status = find_name(parser, &bytes);
    if (status == TUTTI_OK) {
        *name_out = fault_store(parser, parser->at, bytes);
        parser->at += bytes;
    }
    return status;
}

static tutti_status read_reduce_op(fault_parser *parser, const char **name_out) {
    const char *names[TUTTI_REDUCE_OP_COUNT];
    tutti_reduce_op op = TUTTI_SUM;
    size_t bytes = 0;

    const tutti_status status = find_name(parser, &bytes);
    if (status != TUTTI_OK) {
        return status;
    }
    if (tutti_reduce_op_parse(parser->origin.text + parser->at, bytes, &op) != TUTTI_OK) {
        for (int i = 0; i < TUTTI_REDUCE_OP_COUNT; i++) {
            names[i] = tutti_reduce_op_name((tutti_reduce_op)i);
        }
        return fault_fail_name(parser, "a reduction", names, TUTTI_REDUCE_OP_COUNT, true);
    }
    *name_out = tutti_reduce_op_name(op);
    parser->at += bytes;
    return TUTTI_OK;
}

/* ---- keys ---- */

static tutti_status read_value(fault_parser *parser, tutti_fault_key key) {
    tutti_fault_selector *selector = &parser->rule->selector;

    if (fault_take(parser, '*')) {
        return TUTTI_OK;
    }
    selector->keys |= UINT32_C(1) << key;
    switch (key) {
    case TUTTI_FAULT_KEY_RANK:
        return read_ranks(parser, &selector->rank_first, &selector->rank_last);
    case TUTTI_FAULT_KEY_PEER:
        return read_ranks(parser, &selector->peer_first, &selector->peer_last);
    case TUTTI_FAULT_KEY_SEQ:
        return read_sequence(parser, &selector->seq_first, &selector->seq_last);
    case TUTTI_FAULT_KEY_GROUP:
        return read_name(parser, &selector->group);
    case TUTTI_FAULT_KEY_OP:
        return read_reduce_op(parser, &selector->op);
    default:
        assert(key == TUTTI_FAULT_KEY_STREAM);
        return read_name(parser, &selector->stream);
    }
}

/* Reads `key "=" value`. */
static tutti_status read_key(fault_parser *parser, uint32_t *seen) {
    fault_skip_blanks(parser);
    const size_t bytes = fault_word_bytes(parser, parser->at);
    const char *const *names = fault_key_names();
    const uint32_t taken = tutti_fault_point_keys(parser->rule->point);

    const int key =
        fault_name_find(names, TUTTI_FAULT_KEY_COUNT, parser->origin.text + parser->at, bytes);
    if (key < 0) {
        return fault_fail_name(parser, "a key", names, TUTTI_FAULT_KEY_COUNT, true);
    }
    if ((taken >> key & 1) == 0) {
        return fault_fail_not_taken(parser, names[key], names, TUTTI_FAULT_KEY_COUNT, taken, NULL);
    }
    if ((*seen >> key & 1) != 0) {
        return fault_fail(parser, parser->at, "the key \"%s\" is given twice", names[key]);
    }
    *seen |= UINT32_C(1) << key;
    parser->at += bytes;
    if (!fault_take(parser, '=')) {
        return fault_fail_expected(parser, "\"=\" and a value");
    }
    return read_value(parser, (tutti_fault_key)key);
}

tutti_status fault_read_selector(fault_parser *parser) {
    uint32_t seen = 0;

    do { /* ends, because no key may come twice */
        const tutti_status status = read_key(parser, &seen);
        if (status != TUTTI_OK) {
            return status;
        }
    } while (fault_take(parser, ','));
    if (!fault_take(parser, ']')) {
        return fault_fail_expected(parser, "\",\" or \"]\"");
    }
    return TUTTI_OK;
}
