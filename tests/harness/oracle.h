#ifndef TUTTI_TESTS_HARNESS_ORACLE_H
#define TUTTI_TESTS_HARNESS_ORACLE_H

// What a reduction must give, bit for bit. It calls no code of the library (it takes nothing but
// enumerators from its headers) and works in another way: all numbers are exact integers times a
// power of two, a result is rounded by looking at the bits that are cut off, and no floating-point
// instruction is executed. Slow, and meant to be.

#include <cstdint>
#include <vector>

#include "tutti/types.h"

// The bytes of one element.
size_t oracle_element_bytes(tutti_element_type type);

// The bytes that every rank must have after a reduction of these inputs, which are of one size, a
// whole number of elements. The rules are NCCL's, and those of drivers/emu/reduce.h.
std::vector<uint8_t> oracle_reduce(tutti_element_type type, tutti_reduce_op op,
                                   const std::vector<std::vector<uint8_t>> &inputs_by_rank);

// The same for a scaled sum; factors_by_rank has one element per rank.
std::vector<uint8_t> oracle_reduce_scaled(tutti_element_type type,
                                          const std::vector<std::vector<uint8_t>> &factors_by_rank,
                                          const std::vector<std::vector<uint8_t>> &inputs_by_rank);

// One element of a float type (its bits), converted to another float type.
uint64_t oracle_convert(tutti_element_type from, tutti_element_type to, uint64_t bits);

// An integer as a float type has it: rounded once, to nearest, ties to even.
uint64_t oracle_from_integer(tutti_element_type to, bool negative, uint64_t magnitude);

#endif
