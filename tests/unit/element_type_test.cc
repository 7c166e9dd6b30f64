// Element types and reductions by value and by name.
#include <cstring>

#include "tests/unit/odd_values.h"
#include "tutti/types.h"
#include "gtest/gtest.h"

namespace {

struct TypeRow {
    tutti_element_type type;
    int value;
    const char *name;
    uint32_t width_bytes; // 0: not carried
};

// The carried types with the widths that the contract fixes, then those that are refused by name.
const TypeRow TYPES[] = {
    {TUTTI_I8, 0, "i8", 1},          {TUTTI_U8, 1, "u8", 1},
    {TUTTI_I32, 2, "i32", 4},        {TUTTI_U32, 3, "u32", 4},
    {TUTTI_I64, 4, "i64", 8},        {TUTTI_U64, 5, "u64", 8},
    {TUTTI_F16, 6, "f16", 2},        {TUTTI_F32, 7, "f32", 4},
    {TUTTI_F64, 8, "f64", 8},        {TUTTI_BF16, 9, "bf16", 2},
    {TUTTI_F8E4M3, 10, "f8e4m3", 1}, {TUTTI_F8E5M2, 11, "f8e5m2", 1},
    {TUTTI_INDEX, 32, "index", 0},   {TUTTI_BOOL, 33, "bool", 0},
    {TUTTI_F4E2M1, 34, "f4e2m1", 0}, {TUTTI_F4E2M1X2, 35, "f4e2m1x2", 0},
    {TUTTI_F6E2M3, 36, "f6e2m3", 0}, {TUTTI_F6E3M2, 37, "f6e3m2", 0},
    {TUTTI_UE8M0, 38, "ue8m0", 0},   {TUTTI_FLEX32, 39, "flex32", 0},
    {TUTTI_TF32, 40, "tf32", 0},     {TUTTI_I16, 41, "i16", 0},
    {TUTTI_U16, 42, "u16", 0},       {TUTTI_COMPLEX, 43, "complex", 0},
};

const struct {
    tutti_reduce_op op;
    int value;
    const char *name;
} OPS[] = {{TUTTI_SUM, 0, "sum"},
           {TUTTI_PROD, 1, "prod"},
           {TUTTI_MAX, 2, "max"},
           {TUTTI_MIN, 3, "min"},
           {TUTTI_MEAN, 4, "mean"}};

// row 22
TEST(ElementType, ValuesNamesAndWidthsAreThoseOfTheContract) {
    int carried = 0;
    for (const TypeRow &row : TYPES) {
        EXPECT_EQ(static_cast<int>(row.type), row.value) << row.name;
        EXPECT_STREQ(tutti_element_type_name(row.type), row.name);
        EXPECT_EQ(tutti_element_type_width_bytes(row.type), row.width_bytes) << row.name;
        carried += row.width_bytes > 0 ? 1 : 0;
    }
    EXPECT_EQ(carried, int{TUTTI_CARRIED_TYPE_COUNT});
}

// row 23
TEST(ElementType, AValueOutsideOfTheListIsUnknown) {
    for (const int value : {12, 13, 31, 44, 1000, -1}) {
        EXPECT_STREQ(odd_element_type_name(value), "unknown") << value;
        EXPECT_EQ(odd_element_type_width_bytes(value), 0u) << value;
    }
}

TEST(ElementType, EveryNameIsFoundAgain) {
    for (const TypeRow &row : TYPES) {
        tutti_element_type found = TUTTI_CARRIED_TYPE_COUNT;
        EXPECT_EQ(tutti_element_type_parse(row.name, std::strlen(row.name), &found), TUTTI_OK);
        EXPECT_EQ(found, row.type) << row.name;
    }
}

TEST(ElementType, AnUnknownNameLeavesTheOutputAlone) {
    for (const char *name : {"", "f3", "f322", "F32", "float", "unknown"}) {
        tutti_element_type found = TUTTI_U64;
        EXPECT_EQ(tutti_element_type_parse(name, std::strlen(name), &found),
                  TUTTI_INVALID_ARGUMENT);
        EXPECT_EQ(found, TUTTI_U64) << name;
    }
    tutti_element_type found = TUTTI_U64;
    EXPECT_EQ(tutti_element_type_parse(nullptr, 3, &found), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(tutti_element_type_parse("f32", 3, nullptr), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(tutti_element_type_parse("f32[8]", 3, &found), TUTTI_OK);
    EXPECT_EQ(found, TUTTI_F32) << "only name_bytes are read";
}

TEST(ReduceOp, ValuesAndNamesAreThoseOfTheContract) {
    for (const auto &row : OPS) {
        EXPECT_EQ(static_cast<int>(row.op), row.value) << row.name;
        EXPECT_STREQ(tutti_reduce_op_name(row.op), row.name);
        tutti_reduce_op found = TUTTI_REDUCE_OP_COUNT;
        EXPECT_EQ(tutti_reduce_op_parse(row.name, std::strlen(row.name), &found), TUTTI_OK);
        EXPECT_EQ(found, row.op) << row.name;
    }
    EXPECT_EQ(sizeof(OPS) / sizeof(OPS[0]), size_t{TUTTI_REDUCE_OP_COUNT});
}

TEST(ReduceOp, AvgIsMean) {
    tutti_reduce_op found = TUTTI_SUM;
    EXPECT_EQ(tutti_reduce_op_parse("avg", 3, &found), TUTTI_OK);
    EXPECT_EQ(found, TUTTI_MEAN);
}

TEST(ReduceOp, WhatIsNotInTheListIsUnknown) {
    for (const int value : {5, 1000, -1})
        EXPECT_STREQ(odd_reduce_op_name(value), "unknown");
    tutti_reduce_op found = TUTTI_MAX;
    for (const char *name : {"", "su", "summ", "Sum", "unknown"}) {
        EXPECT_EQ(tutti_reduce_op_parse(name, std::strlen(name), &found), TUTTI_INVALID_ARGUMENT);
        EXPECT_EQ(found, TUTTI_MAX) << name;
    }
    EXPECT_EQ(tutti_reduce_op_parse(nullptr, 3, &found), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(tutti_reduce_op_parse("sum", 3, nullptr), TUTTI_INVALID_ARGUMENT);
}

TEST(BufferSlice, IsWhereItsElementsAre) {
    double memory[8];
    const tutti_buffer slice = tutti_buffer_slice({memory, sizeof(memory)}, 2, 3, sizeof(double));
    EXPECT_EQ(slice.data, &memory[2]);
    EXPECT_EQ(slice.bytes, 3 * sizeof(double));
}

} // namespace
