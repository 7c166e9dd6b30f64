#include "drivers/emu/explore.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/class_search.h"
#include "drivers/emu/walks.h"

/* The ladder. Each stage runs schedules through one function, try_schedule(), which counts them,
 * keeps those that fail, and now and then runs one twice. */

/* --- One schedule --- */

static bool is_over(const emu_explorer *explorer) {
    bool failed = explorer->result->failure_count > explorer->result->hazard_count;
    return explorer->stopped || (failed && explorer->options.collect_all == 0);
}

static void tell_progress(emu_explorer *explorer) {
    const tutti_explore_options *options = &explorer->options;
    if (options->progress == NULL) return;
    const tutti_explore_state state = {
        .stage = explorer->stage->name,
        .run_count = explorer->stage->run_count,
        .run_limit = explorer->stage_limit,
        .total_count = explorer->result->run_count,
        .failure_count = explorer->result->failure_count,
    };
    if (options->progress(options->progress_context, &state) == 0) return;
    explorer->stopped = true;
    explorer->result->was_stopped = 1;
}

static tutti_status keep(emu_explorer *explorer, tutti_report *report, const char *setting) {
    if (emu_explorer_keep(explorer, report, setting, "")) return TUTTI_OK;
    return tutti_error_set(explorer->error, TUTTI_OUT_OF_MEMORY, "no memory for a failure");
}

static tutti_status keep_divergence(emu_explorer *explorer, const char *text) {
    tutti_report *report = emu_divergence_report(explorer->subject->host_count, 0, text);
    if (report == NULL)
        return tutti_error_set(explorer->error, TUTTI_OUT_OF_MEMORY, "no memory for a report");
    return keep(explorer, report, "");
}

/* Runs a schedule again from its record: the trace must be the same. */
static tutti_status check_again(emu_explorer *explorer, const emu_trial *trial,
                                const tutti_report *report) {
    emu_choices again;
    emu_trial second = *trial;
    tutti_report *repeated = NULL;
    if (trial->choices->record.cut) return TUTTI_OK;
    emu_choices_init_replay(&again, &trial->choices->record, false);
    second.choices = &again;
    second.steps = NULL;
    tutti_status status =
        explorer->subject->run(explorer->subject->context, &second, &repeated, explorer->error);
    emu_choices_free(&again);
    if (status != TUTTI_OK) return status;
    explorer->result->self_check_count++;
    bool same = repeated->trace_hash == report->trace_hash && repeated->verdict == report->verdict;
    bool told = repeated->verdict == TUTTI_VERDICT_DIVERGENCE;
    if (!same && told) return keep(explorer, repeated, "");
    tutti_report_free(repeated);
    if (same) return TUTTI_OK;
    char text[1024];
    emu_explorer_find_divergence(explorer, &trial->choices->record, text, sizeof(text));
    return keep_divergence(explorer, text);
}

/* Runs one schedule and judges it. `redundant`: nobody is to look at how it ended; NULL: never. */
static tutti_status try_schedule(emu_explorer *explorer, const emu_trial *trial,
                                 const char *setting, tutti_report **report_out) {
    const emu_subject *subject = explorer->subject;
    tutti_report *report = NULL;
    tutti_status status = subject->run(subject->context, trial, &report, explorer->error);
    if (status != TUTTI_OK) return status;
    explorer->stage->run_count++;
    explorer->result->run_count++;
    bool well = subject->ends_well(subject->context, report);
    if (--explorer->until_self_check == 0) {
        explorer->until_self_check = explorer->options.self_check_interval;
        status = check_again(explorer, trial, report);
    }
    if (report_out != NULL) *report_out = report;
    if (status == TUTTI_OK && !well) {
        status = keep(explorer, report, setting);
        if (report_out != NULL) *report_out = NULL;
    } else if (report_out == NULL) {
        tutti_report_free(report);
    }
    tell_progress(explorer);
    return status;
}

/* --- Stages --- */

static void begin_stage(emu_explorer *explorer, const char *name, uint64_t limit) {
    assert(explorer->result->stage_count < EMU_EXPLORE_STAGES_MAX);
    explorer->stage = &explorer->stages[explorer->result->stage_count++];
    *explorer->stage = (tutti_explore_stage){.name = name, .note = ""};
    explorer->stage_limit = limit;
}

/* Words for a stage, as an own copy. */
static void note(emu_explorer *explorer, const char *text) {
    char *copy = emu_text_copy(text);
    if (copy != NULL) explorer->stage->note = copy;
}

static tutti_status run_plain(emu_explorer *explorer) {
    emu_choices choices;
    emu_step_log steps = {0};
    begin_stage(explorer, "plain", 1);
    emu_step_log_reset(&steps, explorer->subject->host_count);
    emu_choices_init_plain(&choices);
    const emu_trial trial = {.choices = &choices, .steps = &steps};
    tutti_status status = try_schedule(explorer, &trial, "", NULL);
    for (uint32_t i = 0; i < steps.step_count; i++)
        explorer->step_counts[steps.steps[i].host]++;
    explorer->choice_count = choices.asked;
    explorer->stage->complete = choices.asked == 0;
    emu_choices_free(&choices);
    emu_step_log_free(&steps);
    return status;
}

static tutti_status run_extreme(emu_explorer *explorer, bool blocks, bool one_collective) {
    static const char *const settings[2][2] = {
        {"", "one collective at a time on a device"},
        {"the first use of a peer blocks",
         "the first use of a peer blocks, and one collective at a "
         "time on a device"},
    };
    const emu_subject *subject = explorer->subject;
    if ((blocks && !subject->first_use_open) || (one_collective && !subject->capacity_open))
        return TUTTI_OK;
    emu_choices choices;
    emu_choices_init_plain(&choices);
    const emu_trial trial = {
        .choices = &choices, .first_use_blocks = blocks, .one_collective = one_collective};
    tutti_status status =
        try_schedule(explorer, &trial, settings[blocks ? 1 : 0][one_collective ? 1 : 0], NULL);
    emu_choices_free(&choices);
    return status;
}

static tutti_status run_extremes(emu_explorer *explorer) {
    begin_stage(explorer, "extremes", 3);
    tutti_status status = run_extreme(explorer, false, true);
    if (status == TUTTI_OK) status = run_extreme(explorer, true, false);
    if (status == TUTTI_OK) status = run_extreme(explorer, true, true);
    explorer->stage->complete = 1;
    return status;
}

/* --- Every class --- */

static tutti_status run_class(emu_explorer *explorer, emu_class_search *search) {
    emu_choices choices;
    tutti_report *report = NULL;
    emu_choices_init_strategy(&choices, emu_class_search_choose, search);
    const emu_trial trial = {.choices = &choices, .steps = emu_class_search_log(search)};
    tutti_status status = try_schedule(explorer, &trial, "", &report);
    tutti_report_free(report);
    if (status == TUTTI_OK) emu_class_search_end(search);
    emu_choices_free(&choices);
    return status;
}

static tutti_status end_classes(emu_explorer *explorer, const emu_class_search *search) {
    char text[160];
    emu_class_count count = emu_class_search_count(search);
    tutti_explore_stage *stage = explorer->stage;
    stage->redundant_count = count.redundant;
    stage->complete = count.complete;
    explorer->result->complete = count.complete;
    const char *how_far = count.complete         ? "complete"
                          : count.reason != NULL ? count.reason
                          : is_over(explorer)    ? "stopped at a failure"
                                                 : "there are more";
    snprintf(text, sizeof(text), "%" PRIu64 " classes, %s", count.classes, how_far);
    note(explorer, text);
    const emu_divergence *divergence = emu_class_search_divergence(search);
    if (!divergence->happened) return TUTTI_OK;
    char words[EMU_DIVERGENCE_BYTES];
    emu_divergence_format(divergence, words, sizeof(words));
    return keep_divergence(explorer, words);
}

static tutti_status run_classes(emu_explorer *explorer) {
    begin_stage(explorer, "classes", explorer->options.class_limit);
    if (explorer->subject->host_count > EMU_CLASS_HOSTS_MAX) {
        note(explorer, "not run: the program has more than 64 ranks");
        return TUTTI_OK;
    }
    emu_class_search *search = emu_class_search_create(explorer->subject->host_count);
    if (search == NULL)
        return tutti_error_set(explorer->error, TUTTI_OUT_OF_MEMORY, "no memory for a search");
    tutti_status status = TUTTI_OK;
    while (status == TUTTI_OK && !is_over(explorer) && emu_class_search_begin(search)) {
        if (explorer->stage->run_count >= explorer->stage_limit) break;
        status = run_class(explorer, search);
    }
    if (status == TUTTI_OK) status = end_classes(explorer, search);
    emu_class_search_destroy(search);
    return status;
}

/* --- Drawn schedules --- */

typedef struct walk_stage {
    const char *name;
    emu_walk_kind kind;
    uint32_t depth;
} walk_stage;

static const walk_stage walk_stages[] = {
    {"even walk", EMU_WALK_EVEN, 1},
    {"weighted walk", EMU_WALK_WEIGHTED, 1},
    {"priorities, depth 1", EMU_WALK_PRIORITY, 1},
    {"priorities, depth 2", EMU_WALK_PRIORITY, 2},
    {"priorities, depth 3", EMU_WALK_PRIORITY, 3},
};

/* Seeds that no two schedules of an exploration share. */
static uint64_t seed_of(const emu_explorer *explorer, const walk_stage *stage, uint64_t run) {
    uint64_t state = explorer->options.seed;
    uint64_t seed = emu_draw(&state) ^ ((uint64_t)(stage - walk_stages + 1) << 56) ^ run;
    return emu_draw(&seed);
}

static tutti_status run_walk(emu_explorer *explorer, const walk_stage *stage, uint64_t run) {
    emu_walk walk;
    emu_choices choices;
    const emu_walk_facts facts = {.host_count = explorer->subject->host_count,
                                  .step_counts = explorer->step_counts,
                                  .choice_count = explorer->choice_count};
    if (!emu_walk_init(&walk, stage->kind, stage->depth, seed_of(explorer, stage, run), &facts))
        return tutti_error_set(explorer->error, TUTTI_OUT_OF_MEMORY, "no memory for a walk");
    emu_choices_init_strategy(&choices, emu_walk_choose, &walk);
    const emu_trial trial = {.choices = &choices};
    tutti_status status = try_schedule(explorer, &trial, "", NULL);
    emu_choices_free(&choices);
    emu_walk_free(&walk);
    return status;
}

/* How likely it is that a bug of this depth was missed: (1 - p)^runs. No libm: by squaring. */
static void note_miss(emu_explorer *explorer, uint32_t depth) {
    char text[160];
    double p = 1.0 / explorer->subject->host_count;
    for (uint32_t i = 1; i < depth; i++)
        p /= explorer->choice_count > 0 ? (double)explorer->choice_count : 1;
    double missed = 1, base = 1 - p;
    for (uint64_t runs = explorer->stage->run_count; runs > 0; runs /= 2) {
        if (runs % 2 == 1) missed *= base;
        base *= base;
    }
    snprintf(text, sizeof(text),
             "a bug of depth %" PRIu32 " is missed with a probability of at most %.2g", depth,
             missed);
    note(explorer, text);
}

static tutti_status run_walks(emu_explorer *explorer, const walk_stage *stage) {
    const tutti_explore_options *options = &explorer->options;
    begin_stage(explorer, stage->name, options->walk_limit / options->shard_count + 1);
    tutti_status status = TUTTI_OK;
    for (uint64_t run = 0; run < options->walk_limit && status == TUTTI_OK; run++) {
        if (is_over(explorer)) break;
        if (run % options->shard_count == options->shard_index)
            status = run_walk(explorer, stage, run);
    }
    if (stage->kind == EMU_WALK_PRIORITY && status == TUTTI_OK) note_miss(explorer, stage->depth);
    return status;
}

/* --- Faults --- */

static int sweep_goes_on(void *context, const tutti_sweep_case *done, uint64_t done_count,
                         uint64_t total_count) {
    emu_explorer *explorer = context;
    (void)done;
    explorer->stage->run_count = done_count;
    explorer->stage_limit = total_count;
    tell_progress(explorer);
    return explorer->stopped ? 1 : 0;
}

/* A case that failed, run once more for its report. */
static tutti_status keep_swept(emu_explorer *explorer, const tutti_sweep_case *failed) {
    const emu_subject *subject = explorer->subject;
    emu_choices choices;
    tutti_report *report = NULL;
    emu_choices_init_plain(&choices);
    char *repeat = subject->repeat(subject->context, "", failed->plan);
    const emu_trial trial = {.choices = &choices, .faults = failed->plan, .repeat = repeat};
    tutti_status status = subject->run(subject->context, &trial, &report, explorer->error);
    if (status == TUTTI_OK && !emu_explorer_keep(explorer, report, "", failed->plan))
        status = tutti_error_set(explorer->error, TUTTI_OUT_OF_MEMORY, "no memory for a failure");
    emu_choices_free(&choices);
    free(repeat);
    return status;
}

static tutti_status end_sweep(emu_explorer *explorer, const tutti_sweep_report *swept) {
    char text[256];
    uint32_t kept = 0;
    tutti_status status = TUTTI_OK;
    snprintf(text, sizeof(text),
             "%" PRIu64 " faults: %" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " not run",
             swept->case_count, swept->passed_count, swept->failed_count, swept->not_run_count);
    note(explorer, text);
    explorer->stage->run_count = swept->run_count;
    explorer->result->run_count += swept->run_count;
    explorer->stage->complete = swept->not_run_count == 0;
    for (uint64_t i = 0; i < swept->case_count && status == TUTTI_OK; i++)
        if (swept->cases[i].result == TUTTI_SWEEP_FAILED && kept++ < EMU_EXPLORE_SWEPT_MAX)
            status = keep_swept(explorer, &swept->cases[i]);
    return status;
}

static tutti_status run_sweep(emu_explorer *explorer) {
    tutti_sweep_options options;
    tutti_sweep_report *swept = NULL;
    begin_stage(explorer, "faults", explorer->options.fault_limit);
    if (explorer->subject->sweep == NULL) {
        note(explorer, "not run, since the program is to fail without a fault");
        return TUTTI_OK;
    }
    tutti_sweep_options_init(&options);
    options.run_count_max = explorer->options.fault_limit;
    options.shard_index = explorer->options.shard_index;
    options.shard_count = explorer->options.shard_count;
    options.progress = sweep_goes_on;
    options.context = explorer;
    tutti_status status =
        explorer->subject->sweep(explorer->subject->context, &options, &swept, explorer->error);
    if (status != TUTTI_OK) return status;
    status = end_sweep(explorer, swept);
    tutti_sweep_report_free(swept);
    return status;
}

/* --- The ladder --- */

static bool wants(const emu_explorer *explorer, uint32_t stage) {
    return (explorer->options.stages & stage) != 0 && !is_over(explorer);
}

static tutti_status climb(emu_explorer *explorer) {
    bool first = explorer->options.shard_index == 0;
    tutti_status status = run_plain(explorer); /* always: it says what walks need to know */
    if (status == TUTTI_OK && first && wants(explorer, TUTTI_EXPLORE_EXTREMES))
        status = run_extremes(explorer);
    if (status == TUTTI_OK && first && wants(explorer, TUTTI_EXPLORE_CLASSES))
        status = run_classes(explorer);
    bool draws = !explorer->result->complete; /* else there is nothing left to be drawn */
    for (size_t i = 0; draws && i < sizeof walk_stages / sizeof *walk_stages; i++)
        if (status == TUTTI_OK && wants(explorer, TUTTI_EXPLORE_WALKS))
            status = run_walks(explorer, &walk_stages[i]);
    if (status == TUTTI_OK && wants(explorer, TUTTI_EXPLORE_FAULTS)) status = run_sweep(explorer);
    return status;
}

static tutti_status shrink_all(emu_explorer *explorer) {
    tutti_status status = TUTTI_OK;
    if (explorer->options.keep_as_found) return status;
    for (uint32_t i = 0; i < explorer->result->failure_count && status == TUTTI_OK; i++)
        if (!explorer->failures[i].is_hazard && explorer->failures[i].faults[0] == '\0')
            status = emu_shrink_failure(explorer->subject, &explorer->failures[i], explorer->error);
    return status;
}

static tutti_status explorer_init(emu_explorer *explorer) {
    explorer->result = calloc(1, sizeof(*explorer->result));
    explorer->stages = calloc(EMU_EXPLORE_STAGES_MAX, sizeof(*explorer->stages));
    explorer->failures = calloc(TUTTI_EXPLORE_FAILURES_MAX, sizeof(*explorer->failures));
    explorer->step_counts = calloc(explorer->subject->host_count, sizeof(*explorer->step_counts));
    explorer->until_self_check = explorer->options.self_check_interval;
    bool made = explorer->result != NULL && explorer->stages != NULL &&
                explorer->failures != NULL && explorer->step_counts != NULL;
    if (!made) {
        free(explorer->stages);
        free(explorer->failures);
        free(explorer->result);
        free(explorer->step_counts);
        return tutti_error_set(explorer->error, TUTTI_OUT_OF_MEMORY, "no memory to explore");
    }
    explorer->result->stages = explorer->stages;
    explorer->result->failures = explorer->failures;
    return TUTTI_OK;
}

tutti_status emu_explore(const emu_subject *subject, const tutti_explore_options *options,
                         tutti_exploration **exploration_out, tutti_error *error) {
    emu_explorer explorer = {.subject = subject, .error = error};
    tutti_status status = emu_explore_options_complete(options, &explorer.options, error);
    if (status == TUTTI_OK) status = explorer_init(&explorer);
    if (status != TUTTI_OK) return status;
    status = climb(&explorer);
    if (status == TUTTI_OK) status = shrink_all(&explorer);
    free(explorer.step_counts);
    if (status == TUTTI_OK)
        *exploration_out = explorer.result;
    else
        tutti_exploration_free(explorer.result);
    return status;
}
