#include "fuzz/programs/program_values.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "tests/harness/oracle.h"

namespace tutti_test {

bool is_float(tutti_element_type type) {
    return type == TUTTI_F64 || type == TUTTI_F32 || type == TUTTI_F16 || type == TUTTI_BF16 ||
           type == TUTTI_F8E4M3 || type == TUTTI_F8E5M2;
}

bool is_signed(tutti_element_type type) {
    return is_float(type) || type == TUTTI_I8 || type == TUTTI_I32 || type == TUTTI_I64;
}

void append_halves(tutti_element_type type, int64_t halves, Bytes &bytes) {
    const size_t width = oracle_element_bytes(type);
    uint64_t bits = static_cast<uint64_t>(halves / 2);
    if (is_float(type)) {
        const double value = static_cast<double>(halves) / 2;
        std::memcpy(&bits, &value, sizeof bits);
        bits = oracle_convert(TUTTI_F64, type, bits);
    }
    for (size_t i = 0; i < width; i++)
        bytes.push_back(static_cast<uint8_t>(bits >> (8 * i)));
}

std::string halves_text(int64_t halves) {
    const int64_t magnitude = halves < 0 ? -halves : halves;
    return (halves < 0 ? "-" : "") + std::to_string(magnitude / 2) +
           (magnitude % 2 != 0 ? ".5" : "");
}

static std::string float_text(tutti_element_type type, uint64_t bits) {
    const uint64_t wide = oracle_convert(type, TUTTI_F64, bits);
    double value;
    std::memcpy(&value, &wide, sizeof value);
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

static std::string element_text(tutti_element_type type, const uint8_t *element) {
    const size_t width = oracle_element_bytes(type);
    uint64_t bits = 0;
    for (size_t i = 0; i < width; i++)
        bits |= static_cast<uint64_t>(element[i]) << (8 * i);
    if (is_float(type)) return float_text(type, bits);
    if (!is_signed(type)) return std::to_string(bits);
    const unsigned unused = static_cast<unsigned>(64 - 8 * width);
    return std::to_string(static_cast<int64_t>(bits << unused) >> unused);
}

std::string values_text(tutti_element_type type, const uint8_t *elements, size_t count) {
    const size_t width = oracle_element_bytes(type);
    std::string text;
    for (size_t i = 0; i < count; i++)
        text += (i > 0 ? " " : "") + element_text(type, elements + i * width);
    return text;
}

} // namespace tutti_test
