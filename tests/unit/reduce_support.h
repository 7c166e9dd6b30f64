#ifndef TUTTI_TESTS_UNIT_REDUCE_SUPPORT_H
#define TUTTI_TESTS_UNIT_REDUCE_SUPPORT_H

// What the tests of reductions share: inputs, and one call that looks at everything around it.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "drivers/emu/reduce.h"
#include "tests/harness/oracle.h"
#include "gtest/gtest.h"

namespace reduce_support {

using Bytes = std::vector<uint8_t>;

inline const tutti_reduce_op kOps[] = {TUTTI_SUM, TUTTI_PROD, TUTTI_MAX, TUTTI_MIN, TUTTI_MEAN};

struct Type {
    tutti_element_type type;
    std::string name;
    int exponent_shift; // of a float's exponent field
    int exponent_mask;
};

inline void PrintTo(const Type &type, std::ostream *out) {
    *out << type.name;
}

inline const Type kTypes[] = {
    {TUTTI_I8, "i8", 0, 0},          {TUTTI_U8, "u8", 0, 0},
    {TUTTI_I32, "i32", 0, 0},        {TUTTI_U32, "u32", 0, 0},
    {TUTTI_I64, "i64", 0, 0},        {TUTTI_U64, "u64", 0, 0},
    {TUTTI_F16, "f16", 10, 0x1F},    {TUTTI_F32, "f32", 23, 0xFF},
    {TUTTI_F64, "f64", 52, 0x7FF},   {TUTTI_BF16, "bf16", 7, 0xFF},
    {TUTTI_F8E4M3, "f8e4m3", 3, 15}, {TUTTI_F8E5M2, "f8e5m2", 2, 0x1F},
};

// Well mixed bits that depend on nothing but the number (splitmix64's steps).
inline uint64_t scatter(uint64_t number) {
    uint64_t x = number + 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

// Zeros, infinities, NaNs with and without payload, and the ends of the range.
inline uint64_t special(const Type &type, uint64_t random) {
    const size_t bits = oracle_element_bytes(type.type) * 8;
    const uint64_t sign = (random & 64) != 0 ? uint64_t{1} << (bits - 1) : 0;
    const uint64_t infinity = static_cast<uint64_t>(type.exponent_mask) << type.exponent_shift;
    switch (random % 8) {
    case 0:
        return sign;
    case 1:
        return sign | infinity;
    case 2:
        return sign | infinity | 1;
    case 3:
        return sign | ((uint64_t{1} << (bits - 1)) - 1);
    case 4:
        return sign | 1;
    case 5:
        return sign | (infinity - 1);
    case 6:
        return sign | (infinity == 0 ? 2 : uint64_t{1} << type.exponent_shift);
    default:
        return sign | (infinity / 2);
    }
}

// A float with an exponent around that of 1, where sums and products stay in range and round.
inline uint64_t moderate(const Type &type, uint64_t random) {
    const auto mask = static_cast<uint64_t>(type.exponent_mask) << type.exponent_shift;
    const uint64_t exponent = static_cast<uint64_t>(type.exponent_mask / 2) - 2 + (random >> 8) % 5;
    return (random & ~mask) | (exponent << type.exponent_shift);
}

inline Bytes make_input(const Type &type, size_t count, uint64_t seed) {
    const size_t width = oracle_element_bytes(type.type);
    Bytes bytes(count * width);
    for (size_t i = 0; i < count; ++i) {
        const uint64_t random = scatter(seed * 1000003 + i);
        uint64_t value = random;
        if (i % 4 == 1 && random % 4 == 0) value = special(type, random >> 8);
        if (i % 4 >= 2 && type.exponent_mask != 0) value = moderate(type, random);
        std::memcpy(&bytes[i * width], &value, width);
    }
    return bytes;
}

inline std::vector<Bytes> make_inputs(const Type &type, size_t ranks, size_t count, uint64_t seed) {
    std::vector<Bytes> inputs;
    for (size_t rank = 0; rank < ranks; ++rank) {
        inputs.push_back(make_input(type, count, seed * 64 + rank));
    }
    return inputs;
}

// Few elements of any integral value type, as bytes.
template <typename T> Bytes bytes_of(std::initializer_list<T> values) {
    Bytes bytes(values.size() * sizeof(T));
    if (values.size() > 0) std::memcpy(bytes.data(), values.begin(), bytes.size());
    return bytes;
}

constexpr size_t kCanaryBytes = 16;
constexpr uint8_t kCanary = 0xC5;

// Reduces out of place and returns what all ranks got; sees to it that they got the same (row 29),
// that inputs are left alone (row 31) and that nothing is written beyond the end.
inline Bytes reduce(tutti_element_type type, tutti_reduce_op op, const std::vector<Bytes> &inputs) {
    const std::vector<Bytes> before = inputs;
    const size_t bytes = inputs.at(0).size();
    std::vector<Bytes> outputs(inputs.size(), Bytes(bytes + kCanaryBytes, kCanary));
    std::vector<const void *> sources;
    std::vector<void *> destinations;
    for (size_t rank = 0; rank < inputs.size(); ++rank) {
        sources.push_back(inputs[rank].data());
        destinations.push_back(outputs[rank].data());
    }
    emu_reduce(type, op, sources.data(), destinations.data(), inputs.size(),
               bytes / oracle_element_bytes(type));
    EXPECT_TRUE(inputs == before);
    for (const Bytes &output : outputs)
        EXPECT_TRUE(output == outputs[0]);
    for (size_t i = 0; i < kCanaryBytes; ++i)
        EXPECT_EQ(outputs[0][bytes + i], kCanary);
    outputs[0].resize(bytes);
    return outputs[0];
}

template <typename T>
T reduce_values(tutti_element_type type, tutti_reduce_op op, std::initializer_list<T> by_rank) {
    std::vector<Bytes> inputs;
    for (const T value : by_rank)
        inputs.push_back(bytes_of({value}));
    const Bytes result = reduce(type, op, inputs);
    T value;
    std::memcpy(&value, result.data(), sizeof value);
    return value;
}

inline ::testing::AssertionResult same(const Bytes &got, const Bytes &expected, size_t width) {
    if (got == expected) return ::testing::AssertionSuccess();
    size_t at = 0;
    while (at < got.size() && got[at] == expected[at])
        ++at;
    at = at / width * width;
    ::testing::AssertionResult failure = ::testing::AssertionFailure();
    failure << "element " << at / width << " is 0x" << std::hex;
    for (size_t i = width; i-- > 0;)
        failure << (got[at + i] >> 4) << (got[at + i] & 15);
    failure << ", was to be 0x";
    for (size_t i = width; i-- > 0;)
        failure << (expected[at + i] >> 4) << (expected[at + i] & 15);
    return failure;
}

// How many elements a reduction takes at a time.
inline size_t piece_of(tutti_element_type type) {
    const size_t width = oracle_element_bytes(type);
    const bool is_integer = type <= TUTTI_U64;
    return EMU_REDUCE_SCRATCH_BYTES / (is_integer ? width : std::max(width, size_t{4}));
}

} // namespace reduce_support

#endif
