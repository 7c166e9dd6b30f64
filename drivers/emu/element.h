#ifndef TUTTI_EMU_ELEMENT_H
#define TUTTI_EMU_ELEMENT_H

/* Single elements of the carried types, as numbers: what scripts, reports and tests read and write.
 *
 * `element` points to tutti_element_type_width_bytes() bytes, without any need for alignment. Types
 * that are not carried are a bug of the caller (assert). All functions are pure. */

#include <stdint.h>

#include "tutti/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The element's value. Exact for all types but i64 and u64, which round to nearest, ties to even;
 * NaN is always the one NaN of small_float.h. */
double emu_element_to_double(tutti_element_type type, const void *element);

/* Writes the element that is nearest to the value.
 * Floats: one rounding, to nearest, ties to even; overflow and NaN as in small_float.h.
 * Integers: the fraction is cut off (toward zero); what is then outside of the type wraps modulo
 *   2^bits; NaN and infinities give 0. */
void emu_element_from_double(tutti_element_type type, double value, void *element);

/* Writes an integer: wrapped modulo 2^bits for integer types, rounded once for floats. */
void emu_element_from_i64(tutti_element_type type, int64_t value, void *element);
void emu_element_from_u64(tutti_element_type type, uint64_t value, void *element);

/* The element as an integer, modulo 2^64: exact, but for negative ones read as uint64_t and for
 * those of u64 from 2^63 on read as int64_t. Floats lose their fraction (toward zero); NaN and
 * infinities give 0. */
int64_t emu_element_to_i64(tutti_element_type type, const void *element);
uint64_t emu_element_to_u64(tutti_element_type type, const void *element);

#ifdef __cplusplus
}
#endif

#endif
