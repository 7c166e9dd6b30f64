#include <assert.h>
#include <string.h>

#include "drivers/emu/script_parse.h"

/* --- Whole numbers --- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool emu_digits_to_u64(const char *text, size_t bytes, uint64_t *value_out) {
    if (bytes == 0) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (!is_digit(text[i])) return false;
        const uint64_t digit = (uint64_t)(text[i] - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *value_out = value;
    return true;
}

bool emu_token_is_digits(const emu_token *token) {
    if (token->kind != EMU_TOKEN_NUMBER) return false;
    for (size_t i = 0; i < token->bytes; i++)
        if (!is_digit(token->text[i])) return false;
    return true;
}

bool emu_parse_u64(emu_parser *parser, const char *what, uint64_t min, uint64_t max,
                   uint64_t *value_out) {
    const emu_token token = *emu_parser_token(parser);
    if (!emu_token_is_digits(&token)) return emu_parser_expected(parser, what);
    uint64_t value;
    if (!emu_digits_to_u64(token.text, token.bytes, &value) || value < min || value > max) {
        char found[64];
        emu_token_describe(&token, found, sizeof found);
        return emu_parser_fail(parser, &token, "expected %s from %llu to %llu, found %s", what,
                               (unsigned long long)min, (unsigned long long)max, found);
    }
    emu_lexer_advance(&parser->lexer);
    *value_out = value;
    return true;
}

bool emu_parse_i32(emu_parser *parser, const char *what, int32_t *value_out) {
    const bool negative = emu_parser_token(parser)->kind == EMU_TOKEN_MINUS;
    if (negative) {
        const emu_token minus = *emu_parser_token(parser);
        emu_lexer_advance(&parser->lexer);
        if (!emu_token_touches(&minus, emu_parser_token(parser)))
            return emu_parser_fail(parser, &minus, "expected %s, found '-'", what);
    }
    uint64_t value;
    if (!emu_parse_u64(parser, what, 0, INT32_MAX, &value)) return false;
    *value_out = negative ? -(int32_t)value : (int32_t)value;
    return true;
}

bool emu_parse_duration(emu_parser *parser, int64_t *ns_out) {
    const emu_token token = *emu_parser_token(parser);
    if (token.kind != EMU_TOKEN_NUMBER)
        return emu_parser_expected(parser, "a duration such as 5ms or 30s");
    const tutti_status status = tutti_duration_parse(token.text, token.bytes, ns_out);
    if (status == TUTTI_SYNTAX) return emu_parser_expected(parser, "a duration such as 5ms or 30s");
    if (status != TUTTI_OK)
        return emu_parser_expected(parser,
                                   "a duration in whole nanoseconds, of a hundred years at most");
    emu_lexer_advance(&parser->lexer);
    return true;
}

/* --- Decimal numbers ---------------------------------------------------------------------------
 * strtod() would read them by the caller's locale. So: the number is a quotient of two large
 * integers, of which as many binary digits are computed as an f64 has, and the rest decides the
 * rounding. Exact, and slow only in comparison. */

enum {
    EXPONENT10_MAX = 310,  /* larger numbers exceed f64 */
    EXPONENT10_MIN = -400, /* smaller ones are 0: the least f64 is 5e-324 */
    /* 10^464 (64 digits behind the point, then e-400) has 1542 bits, and so have both integers
     * once they are aligned; one more bit is needed while dividing. */
    LARGE_LIMBS = 50,
};

#define INFINITY_BITS (UINT64_C(0x7FF) << 52)

typedef struct large {
    uint32_t limbs[LARGE_LIMBS]; /* least first */
} large;

static void large_multiply_add(large *number, uint32_t factor, uint32_t addend) {
    uint64_t carry = addend;
    for (int i = 0; i < LARGE_LIMBS; i++) {
        carry += (uint64_t)number->limbs[i] * factor;
        number->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    assert(carry == 0);
}

static int large_bits(const large *number) {
    for (int i = LARGE_LIMBS - 1; i >= 0; i--) {
        if (number->limbs[i] == 0) continue;
        int bits = 0;
        for (uint32_t rest = number->limbs[i]; rest; rest >>= 1)
            bits++;
        return i * 32 + bits;
    }
    return 0;
}

static void large_shift_left(large *number, int bits) {
    const int limbs = bits / 32;
    const int rest = bits % 32;
    for (int i = LARGE_LIMBS - 1; i >= 0; i--) {
        const uint64_t high = i >= limbs ? number->limbs[i - limbs] : 0;
        const uint64_t low = i >= limbs + 1 ? number->limbs[i - limbs - 1] : 0;
        number->limbs[i] = (uint32_t)(((high << 32 | low) << rest) >> 32);
    }
}

static int large_compare(const large *a, const large *b) {
    for (int i = LARGE_LIMBS - 1; i >= 0; i--)
        if (a->limbs[i] != b->limbs[i]) return a->limbs[i] < b->limbs[i] ? -1 : 1;
    return 0;
}

static void large_subtract(large *a, const large *b) {
    uint64_t borrow = 0;
    for (int i = 0; i < LARGE_LIMBS; i++) {
        const uint64_t difference = (uint64_t)a->limbs[i] - b->limbs[i] - borrow;
        a->limbs[i] = (uint32_t)difference;
        borrow = difference >> 63;
    }
    assert(borrow == 0);
}

/* The bits of the f64 nearest to numerator / denominator, both above 0; all exponent bits set when
 * it is too large. */
static uint64_t quotient_bits(large *numerator, large *denominator) {
    enum { FRACTION_BITS = 52, EXPONENT_BIAS = 1023 };
    int exponent = large_bits(numerator) - large_bits(denominator);
    if (exponent >= 0)
        large_shift_left(denominator, exponent);
    else
        large_shift_left(numerator, -exponent);
    if (large_compare(numerator, denominator) < 0) {
        large_shift_left(numerator, 1);
        exponent--;
    }
    /* Now 1 <= quotient < 2, to be scaled by 2^exponent; small exponents leave fewer bits. */
    const bool normal = exponent > -EXPONENT_BIAS;
    const int wanted =
        normal ? FRACTION_BITS + 1 : FRACTION_BITS + 1 - (1 - EXPONENT_BIAS - exponent);
    if (wanted < 0) return 0;
    uint64_t digits = 0;
    for (int i = 0; i < wanted; i++) {
        const bool one = large_compare(numerator, denominator) >= 0;
        digits = digits << 1 | one;
        if (one) large_subtract(numerator, denominator);
        large_shift_left(numerator, 1);
    }
    const int rest = large_compare(numerator, denominator); /* with one half of the last digit */
    if (rest > 0 || (rest == 0 && (digits & 1))) digits++;
    /* A carry out of the fraction steps the exponent, as it should. */
    if (!normal) return digits;
    return ((uint64_t)(exponent + EXPONENT_BIAS - 1) << FRACTION_BITS) + digits;
}

typedef struct decimal {
    large digits;    /* without the point */
    int digit_count; /* from the first one that is not 0 */
    int exponent;    /* of ten */
} decimal;

/* Reads `e [sign] digits` or nothing, up to the end of the text. Exponents beyond all bounds are
 * cut, so that they cannot overflow. */
static bool read_exponent(const char *at, const char *end, decimal *number) {
    enum { EXPONENT_CUT = 100000 };
    if (at == end) return true;
    if (*at != 'e' && *at != 'E') return false;
    at++;
    const bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end) return false;
    int exponent = 0;
    for (; at < end; at++) {
        if (!is_digit(*at)) return false;
        if (exponent < EXPONENT_CUT) exponent = exponent * 10 + (*at - '0');
    }
    number->exponent += negative ? -exponent : exponent;
    return true;
}

static bool read_decimal(const char *text, size_t bytes, decimal *number) {
    memset(number, 0, sizeof *number);
    const char *end = text + bytes;
    const char *at = text;
    bool any = false, behind_point = false;
    for (; at < end && (is_digit(*at) || (*at == '.' && !behind_point)); at++) {
        if (*at == '.') {
            behind_point = true;
            continue;
        }
        any = true;
        large_multiply_add(&number->digits, 10, (uint32_t)(*at - '0'));
        if (number->digit_count > 0 || *at != '0') number->digit_count++;
        if (behind_point) number->exponent--;
    }
    return any && read_exponent(at, end, number);
}

bool emu_decimal_to_f64(const char *text, size_t bytes, double *value_out) {
    decimal number;
    if (bytes > EMU_DECIMAL_BYTES_MAX || !read_decimal(text, bytes, &number)) return false;
    const int magnitude = number.digit_count + number.exponent;
    uint64_t bits = 0;
    if (magnitude > EXPONENT10_MAX && number.digit_count > 0) {
        bits = INFINITY_BITS;
    } else if (magnitude >= EXPONENT10_MIN && number.digit_count > 0) {
        large denominator = {{1}};
        for (int i = 0; i < number.exponent; i++)
            large_multiply_add(&number.digits, 10, 0);
        for (int i = 0; i > number.exponent; i--)
            large_multiply_add(&denominator, 10, 0);
        bits = quotient_bits(&number.digits, &denominator);
        if (bits > INFINITY_BITS) bits = INFINITY_BITS;
    }
    memcpy(value_out, &bits, sizeof bits);
    return true;
}

/* --- Values of elements --- */

#define TYPE_BIT(type) (UINT64_C(1) << (type))

/* What fits an integer type: from -negative_max to max. */
typedef struct integer_range {
    tutti_element_type type;
    uint64_t negative_max;
    uint64_t max;
} integer_range;

static const integer_range integer_ranges[] = {
    {TUTTI_I8, 128, INT8_MAX},
    {TUTTI_U8, 0, UINT8_MAX},
    {TUTTI_I32, UINT64_C(1) << 31, INT32_MAX},
    {TUTTI_U32, 0, UINT32_MAX},
    {TUTTI_I64, UINT64_C(1) << 63, INT64_MAX},
    {TUTTI_U64, 0, UINT64_MAX},
};

enum { INTEGER_RANGE_COUNT = sizeof integer_ranges / sizeof integer_ranges[0] };

static const integer_range *first_integer(uint64_t types) {
    for (int i = 0; i < INTEGER_RANGE_COUNT; i++)
        if (types & TYPE_BIT(integer_ranges[i].type)) return &integer_ranges[i];
    return NULL;
}

/* A number with its sign, as one token. */
static emu_token with_sign(const emu_token *first, const emu_token *number) {
    emu_token whole = *number;
    whole.text = first->text;
    whole.bytes = (size_t)(number->text + number->bytes - first->text);
    whole.column = first->column;
    return whole;
}

/* A whole number must fit every integer type there is. */
static bool check_integer(emu_parser *parser, const emu_token *whole, uint64_t types, bool negative,
                          bool fits_u64, uint64_t magnitude) {
    for (int i = 0; i < INTEGER_RANGE_COUNT; i++) {
        const integer_range *range = &integer_ranges[i];
        if (!(types & TYPE_BIT(range->type))) continue;
        if (fits_u64 && magnitude <= (negative ? range->negative_max : range->max)) continue;
        char found[64];
        emu_token_describe(whole, found, sizeof found);
        return emu_parser_fail(
            parser, whole, "expected a number from %s%llu to %llu for %s, found %s",
            range->negative_max ? "-" : "", (unsigned long long)range->negative_max,
            (unsigned long long)range->max, tutti_element_type_name(range->type), found);
    }
    return true;
}

/* Reads the current token's digits, point and exponent. */
static bool read_magnitude(emu_parser *parser, double *magnitude_out) {
    const emu_token token = *emu_parser_token(parser);
    if (token.bytes > EMU_DECIMAL_BYTES_MAX)
        return emu_parser_fail(parser, &token, "the number has %zu letters; at most %d are read",
                               token.bytes, EMU_DECIMAL_BYTES_MAX);
    if (token.kind != EMU_TOKEN_NUMBER ||
        !emu_decimal_to_f64(token.text, token.bytes, magnitude_out))
        return emu_parser_expected(parser, "a number");
    uint64_t bits;
    memcpy(&bits, magnitude_out, sizeof bits);
    if (bits == INFINITY_BITS) return emu_parser_expected(parser, "a number below 1.8e308, or inf");
    return true;
}

static emu_script_value float_value(double magnitude, bool negative) {
    emu_script_value value = {.kind = EMU_SCRIPT_VALUE_F64};
    value.as.f64 = negative ? -magnitude : magnitude;
    return value;
}

static bool take_whole(emu_parser *parser, const emu_token *first, uint64_t types, bool negative,
                       emu_script_value *value_out) {
    const emu_token token = *emu_parser_token(parser);
    const emu_token whole = with_sign(first, &token);
    uint64_t magnitude = 0;
    const bool fits = emu_digits_to_u64(token.text, token.bytes, &magnitude);
    if (!check_integer(parser, &whole, types, negative, fits, magnitude)) return false;
    if (fits && !negative) {
        value_out->kind = EMU_SCRIPT_VALUE_U64;
        value_out->as.u64 = magnitude;
    } else if (fits && magnitude <= UINT64_C(1) << 63) {
        value_out->kind = EMU_SCRIPT_VALUE_I64;
        value_out->as.i64 = magnitude > INT64_MAX ? INT64_MIN : -(int64_t)magnitude;
    } else {
        double rounded;
        if (!read_magnitude(parser, &rounded)) return false;
        *value_out = float_value(rounded, negative);
    }
    emu_lexer_advance(&parser->lexer);
    return true;
}

/* A number with point or exponent, inf or nan. */
static bool take_float(emu_parser *parser, const emu_token *first, uint64_t types, bool negative,
                       emu_script_value *value_out) {
    static const uint64_t infinity_bits = INFINITY_BITS;
    static const uint64_t nan_bits = UINT64_C(0x7FFFFFFFFFFFFFFF); /* as in small_float.h */
    const emu_token token = *emu_parser_token(parser);
    double magnitude;
    if (emu_token_is(&token, "inf"))
        memcpy(&magnitude, &infinity_bits, sizeof magnitude);
    else if (emu_token_is(&token, "nan") && !negative)
        memcpy(&magnitude, &nan_bits, sizeof magnitude);
    else if (!read_magnitude(parser, &magnitude))
        return false;
    const integer_range *integer = first_integer(types);
    if (integer) {
        const emu_token whole = with_sign(first, &token);
        char found[64];
        emu_token_describe(&whole, found, sizeof found);
        return emu_parser_fail(parser, first, "expected a whole number for %s, found %s",
                               tutti_element_type_name(integer->type), found);
    }
    *value_out = float_value(magnitude, negative);
    emu_lexer_advance(&parser->lexer);
    return true;
}

bool emu_parse_value(emu_parser *parser, uint64_t types, emu_script_value *value_out) {
    const emu_token at = *emu_parser_token(parser);
    const bool negative = at.kind == EMU_TOKEN_MINUS;
    if (negative) {
        emu_lexer_advance(&parser->lexer);
        if (!emu_token_touches(&at, emu_parser_token(parser)))
            return emu_parser_fail(parser, &at, "expected a number, found '-'");
    }
    if (emu_token_is_digits(emu_parser_token(parser)))
        return take_whole(parser, &at, types, negative, value_out);
    return take_float(parser, &at, types, negative, value_out);
}
