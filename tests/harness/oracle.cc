#include "tests/harness/oracle.h"

#include <algorithm>
#include <stdexcept>

namespace {

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

// ---- Formats -----------------------------------------------------------------------------------

struct IntegerFormat {
    int bits;
    bool is_signed;
};

struct FloatFormat {
    int bits;           // of the whole element
    int precision;      // significant bits of a normal number
    int exponent_min;   // of the smallest normal number, 2^exponent_min
    int exponent_max;   // of the largest finite number
    uint64_t max_digit; // significand of the largest finite number, `precision` bits long
    bool has_infinity;
    bool saturates;

    int fraction_bits() const {
        return precision - 1;
    }
    int exponent_bits() const {
        return bits - precision;
    }
    uint64_t sign_bit() const {
        return uint64_t{1} << (bits - 1);
    }
    uint64_t nan() const {
        return sign_bit() - 1;
    }
    uint64_t infinity() const {
        return ((uint64_t{1} << exponent_bits()) - 1) << fraction_bits();
    }
};

bool is_integer(tutti_element_type type) {
    return type == TUTTI_I8 || type == TUTTI_U8 || type == TUTTI_I32 || type == TUTTI_U32 ||
           type == TUTTI_I64 || type == TUTTI_U64;
}

IntegerFormat integer_format(tutti_element_type type) {
    switch (type) {
    case TUTTI_I8:
        return {8, true};
    case TUTTI_U8:
        return {8, false};
    case TUTTI_I32:
        return {32, true};
    case TUTTI_U32:
        return {32, false};
    case TUTTI_I64:
        return {64, true};
    case TUTTI_U64:
        return {64, false};
    default:
        throw std::invalid_argument("oracle: not an integer type");
    }
}

FloatFormat float_format(tutti_element_type type) {
    switch (type) {
    case TUTTI_F64:
        return {64, 53, -1022, 1023, (uint64_t{1} << 53) - 1, true, false};
    case TUTTI_F32:
        return {32, 24, -126, 127, (uint64_t{1} << 24) - 1, true, false};
    case TUTTI_BF16:
        return {16, 8, -126, 127, 0xFF, true, false};
    case TUTTI_F16:
        return {16, 11, -14, 15, 0x7FF, true, false};
    case TUTTI_F8E5M2:
        return {8, 3, -14, 15, 7, true, true};
    case TUTTI_F8E4M3:
        return {8, 4, -6, 8, 14, false, true}; // 15 at that exponent is the NaN
    default:
        throw std::invalid_argument("oracle: not a float type");
    }
}

uint64_t low_bits(u128 value, int bits) {
    const uint64_t low = static_cast<uint64_t>(value);
    return bits == 64 ? low : low & ((uint64_t{1} << bits) - 1);
}

uint64_t read_element(const uint8_t *bytes, size_t width) {
    uint64_t value = 0;
    for (size_t i = 0; i < width; ++i)
        value |= uint64_t{bytes[i]} << (8 * i);
    return value;
}

void write_element(uint8_t *bytes, size_t width, uint64_t value) {
    for (size_t i = 0; i < width; ++i)
        bytes[i] = static_cast<uint8_t>(value >> (8 * i));
}

// ---- Exact numbers -----------------------------------------------------------------------------

struct Number {
    enum Kind { kNan, kInfinite, kFinite } kind;
    bool negative;
    u128 digits; // the value is digits * 2^exponent
    int exponent;
};

Number nan_number() {
    return {Number::kNan, false, 0, 0};
}

int bit_length(u128 value) {
    int length = 0;
    for (; value != 0; value >>= 1)
        ++length;
    return length;
}

Number decode(const FloatFormat &format, uint64_t bits) {
    const bool negative = (bits & format.sign_bit()) != 0;
    const uint64_t magnitude = bits & (format.sign_bit() - 1);
    if (format.has_infinity && magnitude == format.infinity()) {
        return {Number::kInfinite, negative, 0, 0};
    }
    const bool is_nan =
        format.has_infinity ? magnitude > format.infinity() : magnitude == format.nan();
    if (is_nan) return nan_number();
    const uint64_t hidden = uint64_t{1} << format.fraction_bits();
    const uint64_t field = magnitude >> format.fraction_bits();
    const uint64_t digits = (magnitude & (hidden - 1)) | (field == 0 ? 0 : hidden);
    const int steps = field == 0 ? 0 : static_cast<int>(field) - 1;
    return {Number::kFinite, negative, digits,
            format.exponent_min + steps - format.fraction_bits()};
}

// Cuts off `count` low bits, and makes the lowest bit that is left remember whether they were zero.
u128 shift_right_sticky(u128 value, int count) {
    if (count >= 128) return value != 0;
    const u128 kept = value >> count;
    return kept | ((kept << count) != value);
}

// Cuts off `count` low bits, to nearest, ties to even.
u128 shift_right_nearest(u128 value, int count) {
    if (count > 127) return 0; // no operand here reaches 2^127, so it is less than half
    const u128 kept = value >> count;
    const u128 rest = value - (kept << count);
    const u128 half = u128{1} << (count - 1);
    const bool up = rest > half || (rest == half && (kept & 1) != 0);
    return kept + (up ? 1 : 0);
}

uint64_t overflow(const FloatFormat &format) {
    if (!format.saturates) return format.infinity();
    const uint64_t field = static_cast<uint64_t>(format.exponent_max - format.exponent_min + 1);
    const uint64_t hidden = uint64_t{1} << format.fraction_bits();
    return (field << format.fraction_bits()) | (format.max_digit - hidden);
}

uint64_t encode_finite(const FloatFormat &format, u128 digits, int exponent) {
    if (digits == 0) return 0;
    const int top = exponent + bit_length(digits) - 1;
    int quantum = std::max(top, format.exponent_min) - format.fraction_bits();
    u128 kept = exponent >= quantum ? digits << (exponent - quantum)
                                    : shift_right_nearest(digits, quantum - exponent);
    if (kept >> format.precision != 0) {
        kept >>= 1; // rounding gave the next power of two, so what is cut off here is a zero
        ++quantum;
    }
    const int quantum_max = format.exponent_max - format.fraction_bits();
    if (quantum > quantum_max || (quantum == quantum_max && kept > format.max_digit)) {
        return overflow(format);
    }
    const u128 hidden = u128{1} << format.fraction_bits();
    if (kept < hidden) return static_cast<uint64_t>(kept);
    const int field = quantum + format.fraction_bits() - format.exponent_min + 1;
    return (static_cast<uint64_t>(field) << format.fraction_bits()) |
           static_cast<uint64_t>(kept - hidden);
}

uint64_t encode(const FloatFormat &format, const Number &number) {
    if (number.kind == Number::kNan) return format.nan();
    const uint64_t magnitude = number.kind == Number::kInfinite
                                   ? overflow(format)
                                   : encode_finite(format, number.digits, number.exponent);
    return magnitude | (number.negative ? format.sign_bit() : 0);
}

// Exact but for far apart operands, where the smaller one is cut 70 bits below the larger one's
// last bit and leaves a sticky bit, which no rounding here can tell from the truth.
Number add_finite(Number a, Number b) {
    if (a.digits == 0 && b.digits == 0) {
        return {Number::kFinite, a.negative && b.negative, 0, 0};
    }
    if (a.digits == 0) return b;
    if (b.digits == 0) return a;
    if (a.exponent < b.exponent) std::swap(a, b);
    const int distance = std::min(a.exponent - b.exponent, 70);
    const u128 far = a.digits << distance;
    const u128 near = shift_right_sticky(b.digits, a.exponent - b.exponent - distance);
    const int exponent = a.exponent - distance;
    if (a.negative == b.negative) return {Number::kFinite, a.negative, far + near, exponent};
    if (far == near) return {Number::kFinite, false, 0, 0};
    if (far > near) return {Number::kFinite, a.negative, far - near, exponent};
    return {Number::kFinite, b.negative, near - far, exponent};
}

Number add(const Number &a, const Number &b) {
    if (a.kind == Number::kNan || b.kind == Number::kNan) return nan_number();
    const bool a_infinite = a.kind == Number::kInfinite;
    const bool b_infinite = b.kind == Number::kInfinite;
    if (a_infinite && b_infinite) return a.negative == b.negative ? a : nan_number();
    if (a_infinite) return a;
    return b_infinite ? b : add_finite(a, b);
}

Number multiply(const Number &a, const Number &b) {
    if (a.kind == Number::kNan || b.kind == Number::kNan) return nan_number();
    const bool negative = a.negative != b.negative;
    const bool a_zero = a.kind == Number::kFinite && a.digits == 0;
    const bool b_zero = b.kind == Number::kFinite && b.digits == 0;
    if (a.kind == Number::kInfinite || b.kind == Number::kInfinite) {
        return a_zero || b_zero ? nan_number() : Number{Number::kInfinite, negative, 0, 0};
    }
    return {Number::kFinite, negative, a.digits * b.digits, a.exponent + b.exponent};
}

// ---- Hops --------------------------------------------------------------------------------------

// The type that a hop is computed in before its result becomes an element.
tutti_element_type hop_type(tutti_element_type type) {
    switch (type) {
    case TUTTI_F16:
    case TUTTI_BF16:
        return TUTTI_F32;
    case TUTTI_F8E4M3:
    case TUTTI_F8E5M2:
        return TUTTI_F16;
    default:
        return type;
    }
}

uint64_t finish_hop(tutti_element_type type, const Number &exact) {
    const FloatFormat wide = float_format(hop_type(type));
    return encode(float_format(type), decode(wide, encode(wide, exact)));
}

// Numbers in ascending order: from the largest negative one over -0 and +0 up.
int64_t rank_in_order(const FloatFormat &format, uint64_t bits) {
    const int64_t magnitude = static_cast<int64_t>(bits & (format.sign_bit() - 1));
    return (bits & format.sign_bit()) != 0 ? -magnitude - 1 : magnitude;
}

uint64_t extreme(tutti_element_type type, bool want_max, uint64_t a, uint64_t b) {
    const FloatFormat format = float_format(type);
    if (decode(format, a).kind == Number::kNan) return finish_hop(type, decode(format, b));
    if (decode(format, b).kind == Number::kNan) return finish_hop(type, decode(format, a));
    const bool a_is_larger = rank_in_order(format, a) > rank_in_order(format, b);
    return finish_hop(type, decode(format, a_is_larger == want_max ? a : b));
}

uint64_t float_hop(tutti_element_type type, tutti_reduce_op op, uint64_t a, uint64_t b) {
    const FloatFormat format = float_format(type);
    switch (op) {
    case TUTTI_SUM:
        return finish_hop(type, add(decode(format, a), decode(format, b)));
    case TUTTI_PROD:
        return finish_hop(type, multiply(decode(format, a), decode(format, b)));
    case TUTTI_MAX:
        return extreme(type, true, a, b);
    case TUTTI_MIN:
        return extreme(type, false, a, b);
    default:
        throw std::invalid_argument("oracle: not a hop");
    }
}

i128 integer_value(const IntegerFormat &format, uint64_t bits) {
    const i128 value = bits;
    const i128 modulus = i128{1} << format.bits;
    return format.is_signed && value >= modulus / 2 ? value - modulus : value;
}

uint64_t integer_hop(tutti_element_type type, tutti_reduce_op op, uint64_t a, uint64_t b) {
    const IntegerFormat format = integer_format(type);
    const bool a_is_larger = integer_value(format, a) > integer_value(format, b);
    switch (op) {
    case TUTTI_SUM:
        return low_bits(u128{a} + b, format.bits);
    case TUTTI_PROD:
        return low_bits(u128{a} * b, format.bits);
    case TUTTI_MAX:
        return a_is_larger ? a : b;
    case TUTTI_MIN:
        return a_is_larger ? b : a;
    default:
        throw std::invalid_argument("oracle: not a hop");
    }
}

uint64_t hop(tutti_element_type type, tutti_reduce_op op, uint64_t a, uint64_t b) {
    return is_integer(type) ? integer_hop(type, op, a, b) : float_hop(type, op, a, b);
}

uint64_t divide_integer(tutti_element_type type, uint64_t bits, size_t ranks) {
    const IntegerFormat format = integer_format(type);
    const i128 value = integer_value(format, bits);
    const i128 quotient =
        value < 0 ? -(-value / static_cast<i128>(ranks)) : value / static_cast<i128>(ranks);
    return low_bits(static_cast<u128>(quotient), format.bits);
}

// 1 / ranks, rounded to f64, then to f32 unless the type is f64, then to the type.
uint64_t mean_factor(tutti_element_type type, size_t ranks) {
    const u128 one = u128{1} << 120;
    const u128 quotient = one / ranks;
    const u128 sticky = quotient * ranks != one;
    const Number exact = {Number::kFinite, false, quotient | sticky, -120};
    const uint64_t factor = encode(float_format(TUTTI_F64), exact);
    if (type == TUTTI_F64) return factor;
    return oracle_convert(TUTTI_F32, type, oracle_convert(TUTTI_F64, TUTTI_F32, factor));
}

using Bytes = std::vector<uint8_t>;

Bytes sum_of_products(tutti_element_type type, const std::vector<uint64_t> &factors,
                      const std::vector<Bytes> &inputs) {
    const size_t width = oracle_element_bytes(type);
    Bytes result(inputs.at(0).size());
    for (size_t at = 0; at < result.size(); at += width) {
        uint64_t sum = 0;
        for (size_t rank = 0; rank < inputs.size(); ++rank) {
            const uint64_t input = read_element(&inputs[rank].at(at), width);
            const uint64_t product = hop(type, TUTTI_PROD, input, factors.at(rank));
            sum = rank == 0 ? product : hop(type, TUTTI_SUM, sum, product);
        }
        write_element(&result[at], width, sum);
    }
    return result;
}

} // namespace

size_t oracle_element_bytes(tutti_element_type type) {
    return static_cast<size_t>(is_integer(type) ? integer_format(type).bits
                                                : float_format(type).bits) /
           8;
}

std::vector<uint8_t> oracle_reduce(tutti_element_type type, tutti_reduce_op op,
                                   const std::vector<std::vector<uint8_t>> &inputs_by_rank) {
    const size_t ranks = inputs_by_rank.size();
    if (ranks == 1) return inputs_by_rank[0];
    if (op == TUTTI_MEAN && !is_integer(type)) {
        const std::vector<uint64_t> factors(ranks, mean_factor(type, ranks));
        return sum_of_products(type, factors, inputs_by_rank);
    }
    const size_t width = oracle_element_bytes(type);
    Bytes result(inputs_by_rank.at(0).size());
    for (size_t at = 0; at < result.size(); at += width) {
        uint64_t value = read_element(&inputs_by_rank[0][at], width);
        for (size_t rank = 1; rank < ranks; ++rank) {
            const uint64_t input = read_element(&inputs_by_rank[rank].at(at), width);
            value = hop(type, op == TUTTI_MEAN ? TUTTI_SUM : op, value, input);
        }
        if (op == TUTTI_MEAN) value = divide_integer(type, value, ranks);
        write_element(&result[at], width, value);
    }
    return result;
}

std::vector<uint8_t> oracle_reduce_scaled(tutti_element_type type,
                                          const std::vector<std::vector<uint8_t>> &factors_by_rank,
                                          const std::vector<std::vector<uint8_t>> &inputs_by_rank) {
    const size_t width = oracle_element_bytes(type);
    std::vector<uint64_t> factors;
    for (const Bytes &factor : factors_by_rank)
        factors.push_back(read_element(&factor.at(0), width));
    return sum_of_products(type, factors, inputs_by_rank);
}

uint64_t oracle_convert(tutti_element_type from, tutti_element_type to, uint64_t bits) {
    return encode(float_format(to), decode(float_format(from), bits));
}

uint64_t oracle_from_integer(tutti_element_type to, bool negative, uint64_t magnitude) {
    return encode(float_format(to), {Number::kFinite, negative && magnitude != 0, magnitude, 0});
}
