#ifndef TUTTI_EMU_REDUCE_H
#define TUTTI_EMU_REDUCE_H

/* The arithmetic of reductions: pure functions over memory, without thread, clock, allocation or
 * state.
 *
 * Order: ((input of rank 0 op input of rank 1) op input of rank 2) ..., each hop rounded to the
 *   element's type, element by element. Neither the compiler nor how a range is cut changes a bit.
 * Integers: sum and product wrap modulo 2^bits. The mean is the wrapped sum divided by the number
 *   of ranks, toward zero (i8: 100 and 100 give -28).
 * f32, f64: IEEE 754, to nearest even, products and sums never fused.
 * f16, bf16: each hop is done in f32 and rounded to the type.
 * f8e4m3, f8e5m2: each hop is done in f16, so rounded to f16, where it may overflow to infinity,
 *   and converted back to the type, saturating: a hop never gives an infinity.
 * Mean of floats: each input is multiplied by 1 / ranks, rounded to the type, then they are summed.
 *   As in NCCL, 1 / ranks itself is rounded to f64, to f32 (but for f64), and to the type.
 * Max, min: a NaN loses against a number; -0 is less than +0, whoever holds it.
 * NaN: a NaN that comes out of a hop has the one pattern of its type (small_float.h).
 * One rank: sum, product, max, min and mean copy the bytes, whatever they are.
 *
 * The calling thread is in the default floating-point environment: rounding to nearest, subnormals
 * not flushed to zero.
 * Source: NCCL 2.28.9, rings and trees. */

#include <stddef.h>

#include "tutti/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A reduction works in pieces that fit into two buffers of this size on the stack. */
enum { EMU_REDUCE_SCRATCH_BYTES = 2048 };

/* Reduces sources[0 .. rank_count) element by element and writes the same bits to every one of
 * destinations[0 .. rank_count).
 *
 * Shapes: element_count elements each; 0 does nothing. A destination that is NULL is left out, so
 *   that a reduce to one root has one destination. Any destination may equal any source, and
 *   sources or destinations may repeat; ranges that overlap otherwise are not allowed.
 * Memory: borrowed during the call; no alignment is needed.
 * Errors: none; a type that is not carried, an unknown op, rank_count 0: bugs of the caller. */
void emu_reduce(tutti_element_type type, tutti_reduce_op op, const void *const *sources,
                void *const *destinations, size_t rank_count, size_t element_count);

/* emu_reduce() on elements [first_element, first_element + element_count) of the same pointers:
 * threads that take disjoint ranges do together what one call does.
 * Threads: calls on ranges that do not overlap may run at once. */
void emu_reduce_range(tutti_element_type type, tutti_reduce_op op, const void *const *sources,
                      void *const *destinations, size_t rank_count, size_t first_element,
                      size_t element_count);

/* The sum of every rank's input times that rank's own factor: the product is rounded to the type
 * (integers wrap), then summed as above. factors[r] points to one element of the type. One rank
 * gets its product.
 * All else is as in emu_reduce_range(). */
void emu_reduce_scaled_range(tutti_element_type type, const void *const *factors,
                             const void *const *sources, void *const *destinations,
                             size_t rank_count, size_t first_element, size_t element_count);

#ifdef __cplusplus
}
#endif

#endif
