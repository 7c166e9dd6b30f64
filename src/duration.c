/* Durations and decimal numbers as text, exact: no floating point, no locale. */

#include "fault_internal.h"

#include <assert.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
#define MINUTE_NS (60 * SECOND_NS)
#define HOUR_NS   (60 * MINUTE_NS)

typedef struct duration_unit {
    const char *name;
    uint64_t ns;
} duration_unit;

static const duration_unit units[] = {
    {"ns", 1},        {"us", 1000},       {"ms", 1000000}, {"s", SECOND_NS},
    {"m", MINUTE_NS}, {"min", MINUTE_NS}, {"h", HOUR_NS},
};

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\r'; /* a newline ends a rule */
}

static size_t digit_count(const char *text, size_t text_bytes) {
    size_t count = 0;

    while (count < text_bytes && is_digit(text[count])) {
        count++;
    }
    return count;
}

size_t fault_decimal_bytes(const char *text, size_t text_bytes) {
    const size_t whole = digit_count(text, text_bytes);

    if (whole == 0 || whole + 1 >= text_bytes || text[whole] != '.') {
        return whole;
    }
    const size_t fraction = digit_count(text + whole + 1, text_bytes - whole - 1);
    return fraction == 0 ? whole : whole + 1 + fraction;
}

/* Multiplies "0." digits by unit. From the last digit to the first, each partial product must be a
 * multiple of ten, or the whole could not be an integer. */
static fault_number_problem scale_fraction(const char *digits, size_t count, uint64_t unit,
                                           uint64_t *value_out) {
    uint64_t value = 0;

    while (count > 0) {
        count--;
        value += (uint64_t)(digits[count] - '0') * unit;
        if (value % 10 != 0) {
            return FAULT_NUMBER_TOO_FINE;
        }
        value /= 10;
    }
    *value_out = value;
    return FAULT_NUMBER_OK;
}

fault_number_problem fault_decimal_scale(const char *text, size_t text_bytes, uint64_t unit,
                                         uint64_t value_max, uint64_t *value_out) {
    const size_t whole_bytes = digit_count(text, text_bytes);
    const uint64_t whole_max = value_max / unit;
    uint64_t whole = 0;
    uint64_t fraction = 0;

    assert(whole_bytes > 0);
    assert(unit > 0 && unit <= UINT64_MAX / 20);
    for (size_t i = 0; i < whole_bytes; i++) {
        const uint64_t digit = (uint64_t)(text[i] - '0');
        if (digit > whole_max || whole > (whole_max - digit) / 10) {
            return FAULT_NUMBER_TOO_LARGE;
        }
        whole = whole * 10 + digit;
    }
    if (whole_bytes < text_bytes) {
        const fault_number_problem problem =
            scale_fraction(text + whole_bytes + 1, text_bytes - whole_bytes - 1, unit, &fraction);
        if (problem != FAULT_NUMBER_OK) {
            return problem;
        }
    }
    if (fraction > value_max - whole * unit) {
        return FAULT_NUMBER_TOO_LARGE;
    }
    *value_out = whole * unit + fraction;
    return FAULT_NUMBER_OK;
}

static size_t skip_blanks(const char *text, size_t text_bytes, size_t at) {
    while (at < text_bytes && is_blank(text[at])) {
        at++;
    }
    return at;
}

/* The unit that a word names, or NULL. */
static const duration_unit *find_unit(const char *word, size_t word_bytes) {
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].name) == word_bytes && memcmp(units[i].name, word, word_bytes) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

static size_t letter_count(const char *text, size_t text_bytes) {
    size_t count = 0;

    while (count < text_bytes && ((text[count] >= 'a' && text[count] <= 'z') ||
                                  (text[count] >= 'A' && text[count] <= 'Z'))) {
        count++;
    }
    return count;
}

fault_number_problem fault_duration_scan(const char *text, size_t text_bytes, int64_t *ns_out,
                                         size_t *bytes_out) {
    const size_t number_bytes = fault_decimal_bytes(text, text_bytes);
    uint64_t ns = 0;

    *bytes_out = 0;
    if (number_bytes == 0) {
        return FAULT_NUMBER_MISSING;
    }
    const size_t at = skip_blanks(text, text_bytes, number_bytes);
    const size_t unit_bytes = letter_count(text + at, text_bytes - at);
    if (unit_bytes == 0) {
        *bytes_out = number_bytes;
        return FAULT_NUMBER_NO_UNIT;
    }
    const duration_unit *unit = find_unit(text + at, unit_bytes);
    if (unit == NULL) {
        *bytes_out = at;
        return FAULT_NUMBER_BAD_UNIT;
    }
    const fault_number_problem problem =
        fault_decimal_scale(text, number_bytes, unit->ns, (uint64_t)TUTTI_DURATION_NS_MAX, &ns);
    if (problem == FAULT_NUMBER_OK) {
        *ns_out = (int64_t)ns;
        *bytes_out = at + unit_bytes;
    }
    return problem;
}

tutti_status tutti_duration_parse(const char *text, size_t text_bytes, int64_t *ns_out) {
    int64_t ns = 0;
    size_t used = 0;

    if (ns_out == NULL || (text == NULL && text_bytes > 0)) {
        return TUTTI_INVALID_ARGUMENT;
    }
    if (text_bytes == 0) {
        return TUTTI_SYNTAX;
    }
    const size_t start = skip_blanks(text, text_bytes, 0);
    const fault_number_problem problem =
        fault_duration_scan(text + start, text_bytes - start, &ns, &used);
    if (problem == FAULT_NUMBER_TOO_FINE || problem == FAULT_NUMBER_TOO_LARGE) {
        return TUTTI_INVALID_ARGUMENT;
    }
    if (problem != FAULT_NUMBER_OK || skip_blanks(text, text_bytes, start + used) != text_bytes) {
        return TUTTI_SYNTAX;
    }
    *ns_out = ns;
    return TUTTI_OK;
}

/* Hours and minutes only where they come out whole; below a minute always a decimal of the largest
 * unit that gives one at least. */
void fault_put_duration(fault_writer *writer, int64_t ns) {
    const uint64_t size = ns < 0 ? UINT64_C(0) - (uint64_t)ns : (uint64_t)ns;
    size_t unit = 3;

    if (ns < 0) {
        fault_put_text(writer, "-");
    }
    if (size >= HOUR_NS && size % HOUR_NS == 0) {
        fault_put_number(writer, size / HOUR_NS);
        fault_put_text(writer, "h");
        return;
    }
    if (size >= MINUTE_NS && size % MINUTE_NS == 0) {
        fault_put_number(writer, size / MINUTE_NS);
        fault_put_text(writer, "min");
        return;
    }
    while (unit > 0 && size < units[unit].ns) {
        unit--;
    }
    fault_put_decimal(writer, size, units[unit].ns);
    fault_put_text(writer, units[unit].name);
}

size_t tutti_duration_format(int64_t ns, char *text, size_t text_bytes) {
    fault_writer writer = {.text = text, .text_bytes = text_bytes};

    fault_put_duration(&writer, ns);
    return fault_put_end(&writer);
}
