#include "drivers/emu/state.h"

#include <stdlib.h>
#include <string.h>

/* The report of a run: one block of memory that holds everything. */

/* Of findings of one round of settling, those further up are what the others follow from. */
static int emu_kind_priority(uint8_t kind) {
    static const uint8_t priorities[TUTTI_VERDICT_COUNT] = {
        [TUTTI_VERDICT_UNRESPONSIVE] = 1, [TUTTI_VERDICT_KILLED] = 2,
        [TUTTI_VERDICT_REFUSED] = 3,      [TUTTI_VERDICT_MISUSE] = 4,
        [TUTTI_VERDICT_OVERLAP] = 5,      [TUTTI_VERDICT_FREED] = 6,
        [TUTTI_VERDICT_RACE] = 7,         [TUTTI_VERDICT_MISMATCH] = 8,
        [TUTTI_VERDICT_DEADLOCK] = 9,     [TUTTI_VERDICT_MISSING] = 10,
        [TUTTI_VERDICT_TIMEOUT] = 11,     [TUTTI_VERDICT_UNDEFINED] = 12,
        [TUTTI_VERDICT_WRONG] = 13,       [TUTTI_VERDICT_LEAK] = 14,
    };
    return priorities[kind] == 0 ? TUTTI_VERDICT_COUNT : priorities[kind];
}

static int emu_compare_u32(uint32_t a, uint32_t b) {
    return (a > b) - (a < b);
}

/* A fault altered data on the quiet: of all that is wrong with data, the cause. */
static bool emu_altered_data(const emu_finding *finding) {
    return finding->is_fault && finding->kind == TUTTI_VERDICT_WRONG;
}

/* Errors before notes; then by time, since no cause comes after what follows from it; then by round
 * of settling, by whether their rank had failed before, by kind and first rank; the order of
 * discovery last. */
static int emu_finding_compare(const void *a, const void *b) {
    const emu_finding *x = *(emu_finding *const *)a, *y = *(emu_finding *const *)b;
    if (x->is_note != y->is_note) return x->is_note ? 1 : -1;
    int order = (x->when_ns > y->when_ns) - (x->when_ns < y->when_ns);
    if (order == 0) order = emu_compare_u32(x->round, y->round);
    if (order == 0) order = (int)emu_altered_data(y) - (int)emu_altered_data(x);
    if (order == 0) order = (int)x->is_aftermath - (int)y->is_aftermath;
    if (order == 0) order = emu_kind_priority(x->kind) - emu_kind_priority(y->kind);
    if (order == 0 && x->rank_count > 0 && y->rank_count > 0)
        order = emu_compare_u32((uint32_t)x->ranks[0], (uint32_t)y->ranks[0]);
    if (order == 0) order = emu_compare_u32(x->index, y->index);
    return order;
}

static bool emu_findings_share_a_rank(const emu_finding *a, const emu_finding *b) {
    for (uint32_t i = 0; i < a->rank_count; i++)
        for (uint32_t j = 0; j < b->rank_count; j++)
            if (a->ranks[i] == b->ranks[j]) return true;
    return false;
}

/* Whatever is found after the root, about its ranks or in a later round, follows from it. */
static int32_t emu_finding_follows(const emu_finding *root, const emu_finding *finding) {
    if (finding == root || finding->is_note || root->is_note) return -1;
    if (root->is_fault && emu_verdict_is_of_data(finding->kind)) return 0;
    return finding->round > root->round || emu_findings_share_a_rank(root, finding) ? 0 : -1;
}

/* --- One block --- */

/* Hands out parts of a block; in a first pass, without one, only their sizes are added up. */
typedef struct emu_block {
    char *memory; /* NULL: counting */
    size_t bytes;
} emu_block;

static void *emu_block_take(emu_block *block, size_t bytes) {
    size_t rounded = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    void *part = block->memory != NULL ? block->memory + block->bytes : NULL;
    block->bytes += rounded;
    return part;
}

static const char *emu_block_text(emu_block *block, const char *text) {
    size_t bytes = text == NULL ? 1 : strlen(text) + 1;
    char *copy = emu_block_take(block, bytes);
    if (copy == NULL) return "";
    memcpy(copy, text == NULL ? "" : text, bytes);
    return copy;
}

static const int32_t *emu_block_ranks(emu_block *block, const int32_t *ranks, uint32_t count) {
    int32_t *copy = emu_block_take(block, (count + 1) * sizeof *copy);
    if (copy != NULL && count > 0) memcpy(copy, ranks, count * sizeof *copy);
    return copy;
}

/* A line for each rule of the fault plan that never acted. */
static void emu_describe_unfired(const emu_engine *engine, emu_text *text) {
    char rule_text[256];
    const tutti_fault_plan *plan = engine->config.faults;
    for (uint32_t rule = 0; rule < tutti_fault_rule_count(plan); rule++) {
        if (tutti_fault_state_fired(engine->faults, rule) > 0) continue;
        tutti_fault_rule_format(plan, rule, rule_text, sizeof rule_text);
        emu_text_add(text, "rule %" PRIu32 ": %s\n", rule + 1, rule_text);
    }
}

/* A finding's text, and how often the same was found. */
static const char *emu_finding_text(const emu_finding *finding, emu_text *text) {
    if (finding->times < 2) return finding->text;
    emu_text_add(text, "%s\nThe same call was refused %" PRIu64 " times in all.", finding->text,
                 finding->times);
    return text->text;
}

static void emu_report_fill_findings(const emu_engine *engine, emu_block *block,
                                     tutti_report *report) {
    tutti_finding *findings = emu_block_take(block, (engine->finding_count + 1) * sizeof *findings);
    for (uint32_t i = 0; i < engine->finding_count; i++) {
        const emu_finding *from = engine->findings[i];
        const int32_t *ranks = emu_block_ranks(block, from->ranks, from->rank_count);
        const char *detail = emu_block_text(block, from->detail);
        emu_text counted = {0};
        const char *text = emu_block_text(block, emu_finding_text(from, &counted));
        if (findings == NULL) continue;
        findings[i] = (tutti_finding){.kind = (tutti_verdict)from->kind,
                                      .is_note = from->is_note,
                                      .follows = emu_finding_follows(engine->findings[0], from),
                                      .detail = detail,
                                      .ranks = ranks,
                                      .rank_count = from->rank_count,
                                      .text = text};
    }
    report->findings = findings;
    report->finding_count = engine->finding_count;
    report->findings_dropped = engine->findings_dropped;
}

static void emu_report_fill_ranks(const emu_engine *engine, emu_block *block,
                                  tutti_report *report) {
    uint32_t count = engine->rank_lines == NULL ? 0 : engine->rank_line_count;
    tutti_rank_line *lines = emu_block_take(block, (count + 1) * sizeof *lines);
    for (uint32_t i = 0; i < count; i++) {
        const char *text = emu_block_text(block, engine->rank_lines[i]);
        if (lines != NULL) lines[i] = (tutti_rank_line){(int32_t)i, text};
    }
    report->ranks = lines;
    report->rank_count = count;
}

static void emu_report_fill(const emu_engine *engine, const emu_report_extra *extra,
                            const char *unfired, emu_block *block, tutti_report *report) {
    emu_report_fill_findings(engine, block, report);
    emu_report_fill_ranks(engine, block, report);
    report->faults_unfired = emu_block_text(block, unfired);
    report->choices = emu_block_text(block, extra->choices);
    report->name = emu_block_text(block, extra->name);
    report->repeat = emu_block_text(block, extra->repeat);
    report->trace_hash = engine->trace_hash;
    report->event_count = engine->event_count;
    report->call_count = engine->call_count;
    report->virtual_ns = engine->clock.now_ns;
    report->real_ns = extra->real_ns;
    if (block->memory == NULL || report->finding_count == 0) return;
    const tutti_finding *root = &report->findings[0];
    if (root->is_note) return;
    report->verdict = root->kind;
    report->culprits = root->ranks;
    report->culprit_count = root->rank_count;
}

tutti_status emu_report_create(emu_engine *engine, const emu_report_extra *extra,
                               tutti_report **report_out, tutti_error *error) {
    emu_text unfired = {0};
    emu_block block = {NULL, 0};
    tutti_report counted = {0};
    emu_leaks_check(engine);
    emu_describe_ranks(engine);
    emu_describe_unfired(engine, &unfired);
    if (engine->finding_count > 0)
        qsort(engine->findings, engine->finding_count, sizeof *engine->findings,
              emu_finding_compare);
    emu_report_fill(engine, extra, unfired.text, &block, &counted);
    size_t bytes = block.bytes + sizeof(max_align_t) + sizeof(tutti_report);
    block.memory = calloc(1, bytes);
    if (block.memory == NULL)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for the report");
    block.bytes = 0;
    tutti_report *report = emu_block_take(&block, sizeof *report);
    emu_report_fill(engine, extra, unfired.text, &block, report);
    *report_out = report;
    return TUTTI_OK;
}

void tutti_report_free(tutti_report *report) {
    free(report);
}
