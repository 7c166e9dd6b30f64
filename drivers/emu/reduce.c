#include "drivers/emu/reduce.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "drivers/emu/element.h"
#include "drivers/emu/reduce_kernels.h"

enum { ELEMENT_BYTES_MAX = 8 };

/* What stays the same over all pieces of a reduction. */
typedef struct emu_reduction {
    const emu_reduce_kernels *kernels; /* of the element type */
    tutti_reduce_op combine;           /* how hops are made: any op but mean */
    const void *const *sources;        /* one per rank */
    void *const *destinations;         /* one per rank, or NULL */
    size_t rank_count;                 /* from 1 */
    const void *const *factors;        /* by which each rank's input is scaled first; NULL */
    const void *common_factor;         /* the same for all ranks; NULL */
    uint64_t divisor;                  /* of the result; 0: it is not divided */
} emu_reduction;

static int is_integer(tutti_element_type type) {
    return type <= TUTTI_U64;
}

static const emu_reduce_kernels *kernels_of(tutti_element_type type) {
    return is_integer(type) ? emu_reduce_kernels_of_integer(type)
                            : emu_reduce_kernels_of_float(type);
}

/* One rank's input from a byte offset on: where it lies or, when it has to be scaled, in staging.
 */
static const unsigned char *input_of(const emu_reduction *reduction, size_t rank, size_t offset,
                                     size_t count, unsigned char *staging) {
    const unsigned char *source = (const unsigned char *)reduction->sources[rank] + offset;
    const void *factor = reduction->factors ? reduction->factors[rank] : reduction->common_factor;
    if (!factor) return source;
    reduction->kernels->scale(staging, source, factor, count);
    return staging;
}

/* Reduces one piece. All sources are read before anything is written, so that sources and
 * destinations can be the same memory. */
static void reduce_piece(const emu_reduction *reduction, size_t first, size_t count) {
    const emu_reduce_kernels *kernels = reduction->kernels;
    const size_t offset = first * kernels->element_bytes;
    const size_t bytes = count * kernels->element_bytes;
    unsigned char accumulators[EMU_REDUCE_SCRATCH_BYTES];
    unsigned char elements[EMU_REDUCE_SCRATCH_BYTES];

    assert(count * kernels->accumulator_bytes <= sizeof accumulators);
    kernels->load(accumulators, input_of(reduction, 0, offset, count, elements), count);
    for (size_t rank = 1; rank < reduction->rank_count; ++rank) {
        const unsigned char *input = input_of(reduction, rank, offset, count, elements);
        kernels->combine[reduction->combine](accumulators, input, count);
    }
    kernels->store(elements, accumulators, count);
    if (reduction->divisor) kernels->divide(elements, reduction->divisor, count);
    for (size_t rank = 0; rank < reduction->rank_count; ++rank) {
        unsigned char *destination = reduction->destinations[rank];
        if (destination) memcpy(destination + offset, elements, bytes);
    }
}

static void reduce_pieces(const emu_reduction *reduction, size_t first, size_t count) {
    const size_t piece_max = EMU_REDUCE_SCRATCH_BYTES / reduction->kernels->accumulator_bytes;
    while (count > 0) {
        const size_t piece = count < piece_max ? count : piece_max;
        reduce_piece(reduction, first, piece);
        first += piece;
        count -= piece;
    }
}

static void copy_only_rank(tutti_element_type type, const void *source, void *destination,
                           size_t first, size_t count) {
    const size_t element_bytes = kernels_of(type)->element_bytes;
    if (!destination || destination == source || count == 0) return;
    memcpy((unsigned char *)destination + first * element_bytes,
           (const unsigned char *)source + first * element_bytes, count * element_bytes);
}

/* Writes 1 / rank_count, rounded as NCCL does. */
static void write_mean_factor(tutti_element_type type, size_t rank_count, void *factor_out) {
    const double exact = 1.0 / (double)rank_count;
    const double factor = type == TUTTI_F64 ? exact : (double)(float)exact;
    emu_element_from_double(type, factor, factor_out);
}

void emu_reduce(tutti_element_type type, tutti_reduce_op op, const void *const *sources,
                void *const *destinations, size_t rank_count, size_t element_count) {
    emu_reduce_range(type, op, sources, destinations, rank_count, 0, element_count);
}

void emu_reduce_range(tutti_element_type type, tutti_reduce_op op, const void *const *sources,
                      void *const *destinations, size_t rank_count, size_t first_element,
                      size_t element_count) {
    assert(type < TUTTI_CARRIED_TYPE_COUNT);
    assert(op < TUTTI_REDUCE_OP_COUNT);
    assert(rank_count > 0);
    if (rank_count == 1) {
        copy_only_rank(type, sources[0], destinations[0], first_element, element_count);
        return;
    }
    emu_reduction reduction = {
        .kernels = kernels_of(type),
        .combine = op == TUTTI_MEAN ? TUTTI_SUM : op,
        .sources = sources,
        .destinations = destinations,
        .rank_count = rank_count,
    };
    unsigned char factor[ELEMENT_BYTES_MAX];
    if (op == TUTTI_MEAN && is_integer(type)) reduction.divisor = rank_count;
    if (op == TUTTI_MEAN && !is_integer(type)) {
        write_mean_factor(type, rank_count, factor);
        reduction.common_factor = factor;
    }
    reduce_pieces(&reduction, first_element, element_count);
}

void emu_reduce_scaled_range(tutti_element_type type, const void *const *factors,
                             const void *const *sources, void *const *destinations,
                             size_t rank_count, size_t first_element, size_t element_count) {
    assert(type < TUTTI_CARRIED_TYPE_COUNT);
    assert(rank_count > 0);
    const emu_reduction reduction = {
        .kernels = kernels_of(type),
        .combine = TUTTI_SUM,
        .sources = sources,
        .destinations = destinations,
        .rank_count = rank_count,
        .factors = factors,
    };
    reduce_pieces(&reduction, first_element, element_count);
}
