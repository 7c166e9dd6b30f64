#ifndef TUTTI_EMU_REDUCE_KERNELS_H
#define TUTTI_EMU_REDUCE_KERNELS_H

/* The loops of a reduction, a table of them per element type. A kernel runs over a piece of one
 * buffer; reduce.c strings them together. Elements and accumulators may have any alignment. */

#include <stddef.h>
#include <stdint.h>

#include "tutti/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EMU_REDUCE_COMBINE_COUNT = 4 }; /* sum, prod, max, min, numbered as tutti_reduce_op */

typedef struct emu_reduce_kernels {
    size_t element_bytes;     /* of an element in memory */
    size_t accumulator_bytes; /* of an accumulator, which may be a wider type */
    /* accumulators[i] = source[i] */
    void (*load)(unsigned char *accumulators, const unsigned char *source, size_t count);
    /* accumulators[i] = accumulators[i] op source[i], rounded to the element's type */
    void (*combine[EMU_REDUCE_COMBINE_COUNT])(unsigned char *accumulators,
                                              const unsigned char *source, size_t count);
    /* elements[i] = accumulators[i]; every NaN becomes the type's one NaN */
    void (*store)(unsigned char *elements, const unsigned char *accumulators, size_t count);
    /* scaled[i] = source[i] * factor, rounded to the element's type */
    void (*scale)(unsigned char *scaled, const unsigned char *source, const void *factor,
                  size_t count);
    /* elements[i] = elements[i] / divisor, toward zero; NULL for floats */
    void (*divide)(unsigned char *elements, uint64_t divisor, size_t count);
} emu_reduce_kernels;

/* The kernels of a carried type; any other type is a bug of the caller. */
const emu_reduce_kernels *emu_reduce_kernels_of_integer(tutti_element_type type);
const emu_reduce_kernels *emu_reduce_kernels_of_float(tutti_element_type type);

/* How many of count elements make whole blocks. Loops over whole blocks need no second, scalar loop
 * behind them, which is the only kind that gcc makes vector code of at -O2. */
static inline size_t emu_reduce_whole_blocks(size_t count) {
    return count & ~(size_t)63;
}

/* Calls span(arguments, first, end) for the whole blocks and for the rest. */
#define EMU_REDUCE_SPANS(span, count, ...)                                                         \
    const size_t whole = emu_reduce_whole_blocks(count);                                           \
    span(__VA_ARGS__, 0, whole);                                                                   \
    span(__VA_ARGS__, whole, count)

/* Defines name_combine_op(), the loop around the function name_op(). */
#define EMU_REDUCE_COMBINE(name, element, accumulator, op)                                         \
    static inline void name##_##op##_span(unsigned char *restrict accumulators,                    \
                                          const unsigned char *restrict source, size_t first,      \
                                          size_t end) {                                            \
        for (size_t i = first; i < end; ++i) {                                                     \
            accumulator into;                                                                      \
            element value;                                                                         \
            memcpy(&into, accumulators + i * sizeof into, sizeof into);                            \
            memcpy(&value, source + i * sizeof value, sizeof value);                               \
            into = name##_##op(into, name##_widen(value));                                         \
            memcpy(accumulators + i * sizeof into, &into, sizeof into);                            \
        }                                                                                          \
    }                                                                                              \
    static void name##_combine_##op(unsigned char *restrict accumulators,                          \
                                    const unsigned char *restrict source, size_t count) {          \
        EMU_REDUCE_SPANS(name##_##op##_span, count, accumulators, source);                         \
    }

/* Defines all kernels of a type but divide, and its table, around six functions on single values:
 * name_widen(element), name_narrow(accumulator), name_sum(), name_prod(), name_max(), name_min().
 * The memcpys are loads and stores that know neither alignment nor aliasing. */
#define EMU_REDUCE_KERNELS(name, element, accumulator, divide_or_null)                             \
    static inline void name##_load_span(unsigned char *restrict accumulators,                      \
                                        const unsigned char *restrict source, size_t first,        \
                                        size_t end) {                                              \
        for (size_t i = first; i < end; ++i) {                                                     \
            element value;                                                                         \
            memcpy(&value, source + i * sizeof value, sizeof value);                               \
            const accumulator into = name##_widen(value);                                          \
            memcpy(accumulators + i * sizeof into, &into, sizeof into);                            \
        }                                                                                          \
    }                                                                                              \
    static void name##_load(unsigned char *restrict accumulators,                                  \
                            const unsigned char *restrict source, size_t count) {                  \
        EMU_REDUCE_SPANS(name##_load_span, count, accumulators, source);                           \
    }                                                                                              \
    EMU_REDUCE_COMBINE(name, element, accumulator, sum)                                            \
    EMU_REDUCE_COMBINE(name, element, accumulator, prod)                                           \
    EMU_REDUCE_COMBINE(name, element, accumulator, max)                                            \
    EMU_REDUCE_COMBINE(name, element, accumulator, min)                                            \
    static inline void name##_store_span(unsigned char *restrict elements,                         \
                                         const unsigned char *restrict accumulators, size_t first, \
                                         size_t end) {                                             \
        for (size_t i = first; i < end; ++i) {                                                     \
            accumulator from;                                                                      \
            memcpy(&from, accumulators + i * sizeof from, sizeof from);                            \
            const element value = name##_narrow(from);                                             \
            memcpy(elements + i * sizeof value, &value, sizeof value);                             \
        }                                                                                          \
    }                                                                                              \
    static void name##_store(unsigned char *restrict elements,                                     \
                             const unsigned char *restrict accumulators, size_t count) {           \
        EMU_REDUCE_SPANS(name##_store_span, count, elements, accumulators);                        \
    }                                                                                              \
    static inline void name##_scale_span(unsigned char *restrict scaled,                           \
                                         const unsigned char *restrict source, accumulator factor, \
                                         size_t first, size_t end) {                               \
        for (size_t i = first; i < end; ++i) {                                                     \
            element value;                                                                         \
            memcpy(&value, source + i * sizeof value, sizeof value);                               \
            value = name##_narrow(name##_prod(name##_widen(value), factor));                       \
            memcpy(scaled + i * sizeof value, &value, sizeof value);                               \
        }                                                                                          \
    }                                                                                              \
    static void name##_scale(unsigned char *restrict scaled, const unsigned char *restrict source, \
                             const void *factor, size_t count) {                                   \
        element value;                                                                             \
        memcpy(&value, factor, sizeof value);                                                      \
        EMU_REDUCE_SPANS(name##_scale_span, count, scaled, source, name##_widen(value));           \
    }                                                                                              \
    static const emu_reduce_kernels name##_kernels = {                                             \
        .element_bytes = sizeof(element),                                                          \
        .accumulator_bytes = sizeof(accumulator),                                                  \
        .load = name##_load,                                                                       \
        .combine = {[TUTTI_SUM] = name##_combine_sum,                                              \
                    [TUTTI_PROD] = name##_combine_prod,                                            \
                    [TUTTI_MAX] = name##_combine_max,                                              \
                    [TUTTI_MIN] = name##_combine_min},                                             \
        .store = name##_store,                                                                     \
        .scale = name##_scale,                                                                     \
        .divide = (divide_or_null),                                                                \
    };

#ifdef __cplusplus
}
#endif

#endif
