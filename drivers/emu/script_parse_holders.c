#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/script_parse.h"

/* Who holds buffers of one name. Declarations come in any order, so the holdings are kept as a few
 * sorted runs, each at least twice as long as the next: adding takes amortised O(log^2) steps and
 * looking up as many. When the script is read there is one run. */

static const emu_script_holding *run_first(const emu_buffer_builder *builder, uint32_t run) {
    return builder->holdings + builder->run_starts[run];
}

static uint32_t run_length(const emu_buffer_builder *builder, uint32_t run) {
    const uint32_t end =
        run + 1 < builder->run_count ? builder->run_starts[run + 1] : builder->holding_count;
    return end - builder->run_starts[run];
}

/* The first holding of a run that does not end before the rank; the run's end without one. */
static const emu_script_holding *run_search(const emu_buffer_builder *builder, uint32_t run,
                                            int32_t rank) {
    const emu_script_holding *first = run_first(builder, run);
    uint32_t low = 0, high = run_length(builder, run);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (first[middle].last < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return first + low;
}

const emu_script_holding *emu_holders_in(const emu_buffer_builder *builder, emu_rank_range range) {
    const emu_script_holding *best = NULL;
    for (uint32_t run = 0; run < builder->run_count; run++) {
        const emu_script_holding *found = run_search(builder, run, range.first);
        const bool is_end = found == run_first(builder, run) + run_length(builder, run);
        if (is_end || found->first > range.last) continue;
        if (!best || found->first < best->first) best = found;
    }
    return best;
}

static int compare_holdings(const void *a, const void *b) {
    const emu_script_holding *left = a;
    const emu_script_holding *right = b;
    return (left->first > right->first) - (left->first < right->first);
}

/* Sorts the last two runs into one. */
static void merge_last_runs(emu_buffer_builder *builder) {
    assert(builder->run_count >= 2);
    builder->run_count--;
    const uint32_t start = builder->run_starts[builder->run_count - 1];
    qsort(builder->holdings + start, builder->holding_count - start, sizeof *builder->holdings,
          compare_holdings);
}

void emu_holders_finish(emu_buffer_builder *builder) {
    if (builder->run_count <= 1) return;
    builder->run_count = 1;
    qsort(builder->holdings, builder->holding_count, sizeof *builder->holdings, compare_holdings);
}

static bool reserve(emu_parser *parser, emu_buffer_builder *builder, uint32_t wanted) {
    if (wanted <= builder->holding_capacity) return true;
    const uint32_t doubled = builder->holding_capacity * 2;
    const uint32_t capacity = wanted > doubled ? wanted : doubled;
    emu_script_holding *larger = emu_arena_alloc(&parser->scratch, capacity, sizeof *larger);
    if (!larger) return emu_parser_no_memory(parser);
    if (builder->holding_count > 0)
        memcpy(larger, builder->holdings, builder->holding_count * sizeof *larger);
    builder->holdings = larger;
    builder->holding_capacity = capacity;
    return true;
}

bool emu_holders_add(emu_parser *parser, emu_buffer_builder *builder, const emu_rank_set *ranks,
                     uint32_t buffer) {
    const uint32_t old = builder->holding_count;
    if (!reserve(parser, builder, old + ranks->range_count)) return false;
    for (uint32_t i = 0; i < ranks->range_count; i++)
        builder->holdings[builder->holding_count++] =
            (emu_script_holding){ranks->ranges[i].first, ranks->ranges[i].last, buffer};
    builder->view.section = EMU_SCRIPT_NONE;
    /* Ascending declarations just make the last run longer. */
    const bool ascending = old > 0 && builder->holdings[old - 1].last < ranks->ranges[0].first;
    if (!ascending) {
        assert(builder->run_count < EMU_HOLDER_RUNS_MAX);
        builder->run_starts[builder->run_count++] = old;
    }
    while (builder->run_count >= 2 && run_length(builder, builder->run_count - 2) <
                                          2 * run_length(builder, builder->run_count - 1))
        merge_last_runs(builder);
    return true;
}
