#define _POSIX_C_SOURCE 200809L

#include "tools/script_outcome.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/print.h"
#include "tools/text_file.h"

/* The command that repeats a run, for free(); NULL when memory is out. */
static char *repeat_command(const char *file, const script_settings *settings) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return NULL;
    fputs("tutti run ", out);
    if (*file == '-' && file[1]) fputs("./", out); /* or it would be an option */
    shell_print(out, file);
    if (settings->has_seed) fprintf(out, " --seed %" PRIu64, settings->seed);
    /* TUTTI_FAULTS may be another one tomorrow. */
    const char *faults = settings->faults ? settings->faults : getenv("TUTTI_FAULTS");
    const bool needed = settings->faults ? *faults || getenv("TUTTI_FAULTS") : faults && *faults;
    if (needed) {
        fputs(" --faults ", out);
        shell_print(out, faults);
    }
    if (settings->executor == TUTTI_SCRIPT_ON_THREADS) fputs(" --executor threads", out);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

static void run_script(const script_settings *settings, script_outcome *outcome) {
    char *repeat = repeat_command(outcome->file, settings);
    tutti_script_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.executor = settings->executor;
    options.random_schedule = settings->has_seed;
    options.seed = settings->has_seed ? settings->seed : 0;
    options.faults = settings->faults;
    options.repeat = repeat;
    options.trace_sink = settings->trace ? output_file_write : NULL;
    options.trace_context = settings->trace;
    if (tutti_script_run(outcome->script, &options, &outcome->report, &outcome->error) == TUTTI_OK)
        outcome->as_expected = tutti_script_ends_as_expected(outcome->script, outcome->report) != 0;
    free(repeat);
}

void script_outcome_get(const char *file, const script_settings *settings,
                        script_outcome *outcome_out) {
    memset(outcome_out, 0, sizeof *outcome_out);
    outcome_out->file = file;
    text_file text;
    if (text_file_read(file, SCRIPT_BYTES_MAX, &text, &outcome_out->error) != TUTTI_OK) return;
    const char *name = strcmp(file, "-") == 0 ? "<stdin>" : file;
    const tutti_status status =
        tutti_script_parse(name, text.text, text.bytes, &outcome_out->script, &outcome_out->error);
    free(text.text);
    if (status == TUTTI_OK) run_script(settings, outcome_out);
}

void script_outcome_free(script_outcome *outcome) {
    tutti_report_free(outcome->report);
    tutti_script_free(outcome->script);
}

int script_outcome_status(const script_outcome *outcome) {
    if (!outcome->report) return EXIT_UNREADABLE;
    return outcome->as_expected ? EXIT_AS_EXPECTED : EXIT_OTHERWISE;
}

char *script_outcome_report(const script_outcome *outcome) {
    const size_t bytes = tutti_report_format(outcome->report, NULL, 0) + 1;
    char *text = malloc(bytes);
    if (text) tutti_report_format(outcome->report, text, bytes);
    return text;
}

const char *script_outcome_detail(const script_outcome *outcome) {
    const tutti_report *report = outcome->report;
    if (report->finding_count == 0 || report->findings[0].kind != report->verdict) return "";
    if (report->findings[0].is_note || !report->findings[0].detail) return "";
    return report->findings[0].detail;
}
