// Numbers in scripts: exact, in range, and independent of the locale.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/script_support.h"

namespace {

uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void expect_decimal(const std::string &text) {
    double value = -1;
    ASSERT_TRUE(emu_decimal_to_f64(text.data(), text.size(), &value)) << text;
    EXPECT_EQ(bits_of(value), bits_of(strtod(text.c_str(), nullptr))) << text;
}

TEST(ScriptDecimal, IsTheNearestF64) {
    for (const char *text : {"0",
                             "0.0",
                             "00.10",
                             "1",
                             "1.5",
                             ".5",
                             "7.",
                             "0.1",
                             "0.3",
                             "123456789.123456789",
                             "1e5",
                             "1E+5",
                             "1e-5",
                             "2.5e300",
                             "9007199254740993",
                             "9007199254740992.5",
                             "5e-324",
                             "2.4703282292062327e-324",
                             "2.4703282292062328e-324",
                             "7.4e-324",
                             "2.2250738585072014e-308",
                             "2.2250738585072011e-308",
                             "2.225073858507201e-308",
                             "1.7976931348623157e308",
                             "1.7976931348623158e308",
                             "1.7976931348623159e308",
                             "1e309",
                             "2e999999999999",
                             "1.8e308",
                             "1e-400",
                             "1e-99999",
                             "0e99999",
                             "1e22",
                             "1e23",
                             "8.5e-310",
                             "1.00000000000000011102230246251565404236316680908203125",
                             "1.00000000000000011102230246251565404236316680908203124",
                             "1.00000000000000011102230246251565404236316680908203126",
                             "0.0000000000000000000000000000000000000000000000000000001e55",
                             "179769313486231570000000000000000000000000000000000000000000e249"})
        expect_decimal(text);
}

TEST(ScriptDecimal, IsTheNearestF64ForManyNumbers) {
    std::mt19937_64 numbers(3);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = numbers();
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!std::isfinite(value)) continue;
        char text[64];
        snprintf(text, sizeof text, "%.*e", static_cast<int>(numbers() % 20), std::fabs(value));
        expect_decimal(text);
    }
}

TEST(ScriptDecimal, RefusesWhatIsNone) {
    double value = 42;
    for (const char *text :
         {"", ".", "e5", "1e", "1e+", "1e-", "1.2.3", "1x", "-1", "0x10", "1e5.5", "1e5x", "inf"}) {
        EXPECT_FALSE(emu_decimal_to_f64(text, strlen(text), &value)) << text;
    }
    const std::string longest(EMU_DECIMAL_BYTES_MAX, '1');
    EXPECT_TRUE(emu_decimal_to_f64(longest.data(), longest.size(), &value));
    EXPECT_FALSE(emu_decimal_to_f64((longest + "1").data(), longest.size() + 1, &value));
}

// The fill of `buffer b TYPE COUNT = TEXT`.
struct Fill {
    Script script;
    const emu_script_fill *operator->() const {
        return &script->buffers[0].fill;
    }
};

Fill fill_of(const std::string &type_and_count, const std::string &text) {
    Reading reading = read_script("ranks 1\nbuffer b " + type_and_count + " " + text);
    EXPECT_EQ(reading.status, TUTTI_OK) << reading.error.message;
    return {std::move(reading.script)};
}

TEST(ScriptFill, HasAWordForWhatIsUsual) {
    EXPECT_EQ(fill_of("f32 8", "")->kind, EMU_SCRIPT_FILL_ZERO);
    EXPECT_EQ(fill_of("f32 8", "= zero")->kind, EMU_SCRIPT_FILL_ZERO);
    EXPECT_EQ(fill_of("f32 8", "= rank")->kind, EMU_SCRIPT_FILL_RANK);
    EXPECT_EQ(fill_of("f32 8", "=iota")->kind, EMU_SCRIPT_FILL_IOTA);
    EXPECT_EQ(fill_of("f32 8", "= unset")->kind, EMU_SCRIPT_FILL_UNSET);
    EXPECT_EQ(fill_of("f32 8", "= unset")->value_count, 0u);
}

TEST(ScriptFill, IntegersAreExact) {
    EXPECT_EQ(fill_of("u64 1", "= 18446744073709551615")->values[0].as.u64, UINT64_MAX);
    EXPECT_EQ(fill_of("i64 1", "= 9223372036854775807")->values[0].as.u64,
              UINT64_C(1) << 63 ^ ~UINT64_C(0));
    const Fill least = fill_of("i64 1", "= -9223372036854775808");
    EXPECT_EQ(least->values[0].kind, EMU_SCRIPT_VALUE_I64);
    EXPECT_EQ(least->values[0].as.i64, INT64_MIN);
    EXPECT_EQ(fill_of("i8 1", "= -128")->values[0].as.i64, -128);
    EXPECT_EQ(fill_of("u8 1", "= -0")->values[0].as.i64, 0);
}

TEST(ScriptFill, FloatsTakeEveryNumber) {
    const Fill list = fill_of("f32 7", "= 1 -2, 0.5 -1.5e3 inf -inf nan");
    ASSERT_EQ(list->value_count, 7u);
    EXPECT_EQ(list->values[0].kind, EMU_SCRIPT_VALUE_U64);
    EXPECT_EQ(list->values[1].as.i64, -2);
    EXPECT_EQ(list->values[2].as.f64, 0.5);
    EXPECT_EQ(list->values[3].as.f64, -1500.0);
    EXPECT_EQ(list->values[4].as.f64, INFINITY);
    EXPECT_EQ(list->values[5].as.f64, -INFINITY);
    EXPECT_TRUE(std::isnan(list->values[6].as.f64));
    EXPECT_EQ(bits_of(fill_of("f64 1", "= -0.0")->values[0].as.f64), UINT64_C(1) << 63);
    EXPECT_EQ(fill_of("f64 1", "= 100000000000000000000")->values[0].as.f64, 1e20);
    EXPECT_EQ(fill_of("f64 1", "= -18446744073709551615")->values[0].as.f64, -0x1p64);
}

TEST(ScriptFill, OneValueIsForAllElements) {
    EXPECT_EQ(fill_of("f32 8", "= 3")->value_count, 1u);
    EXPECT_EQ(fill_of("f32 0", "= 3")->value_count, 1u);
    EXPECT_EQ(fill_of("f32 2", "= 3 4")->value_count, 2u);
}

TEST(ScriptBuffer, EveryTypeHasAWidth) {
    const struct {
        const char *type;
        uint32_t width_bytes;
    } types[] = {
        {"f64", 8},   {"f32", 4},  {"f16", 2},    {"bf16", 2},     {"f8e4m3", 1}, {"f8e5m2", 1},
        {"i8", 1},    {"i32", 4},  {"i64", 8},    {"u8", 1},       {"u32", 4},    {"u64", 8},
        {"index", 8}, {"bool", 1}, {"f4e2m1", 1}, {"f4e2m1x2", 1}, {"f6e2m3", 1}, {"f6e3m2", 1},
        {"ue8m0", 1}, {"i16", 2},  {"u16", 2},    {"complex", 8},  {"tf32", 4},   {"flex32", 4},
    };
    for (const auto &one : types) {
        const Fill fill = fill_of(std::string(one.type) + " 3", "= zero");
        const emu_script_buffer &buffer = fill.script->buffers[0];
        EXPECT_STREQ(tutti_element_type_name(buffer.type), one.type);
        EXPECT_EQ(buffer.width_bytes, one.width_bytes) << one.type;
        EXPECT_EQ(buffer.count, 3u);
    }
    EXPECT_EQ(emu_script_type_width_bytes(TUTTI_CARRIED_TYPE_COUNT), 0u);
}

TEST(ScriptExpect, TakesWordsOneValueOrOneForEach) {
    Reading reading = read_script("ranks 2\nbuffer x f32 3\nrank *\n"
                                  "expect x = 6\nexpect x[1:3] = 6, 7\nexpect x = rank\n"
                                  "expect x[0] = -inf\nexpect x[2:2] = 5\nexpect x = iota");
    ASSERT_EQ(reading.status, TUTTI_OK) << reading.error.message;
    const emu_script_statement *statements = reading.script->statements;
    EXPECT_EQ(statements[0].expected->kind, EMU_SCRIPT_FILL_VALUES);
    EXPECT_EQ(statements[0].expected->value_count, 1u);
    EXPECT_EQ(statements[0].expected->values[0].as.u64, 6u);
    EXPECT_EQ(statements[1].expected->value_count, 2u);
    EXPECT_EQ(statements[1].reads[0].first, 1u);
    EXPECT_EQ(statements[2].expected->kind, EMU_SCRIPT_FILL_RANK);
    EXPECT_EQ(statements[5].expected->kind, EMU_SCRIPT_FILL_IOTA);
}

} // namespace
