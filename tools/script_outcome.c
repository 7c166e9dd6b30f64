#define _POSIX_C_SOURCE 200809L

#include "tools/script_outcome.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/print.h"
#include "tools/text_file.h"
#include "tutti/report_folder.h"

/* The command that repeats a run, for free(); NULL when memory is out. */
static char *repeat_command(const char *file, const script_settings *settings) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return NULL;
    fputs(settings->choices ? "tutti replay " : "tutti run ", out);
    if (*file == '-' && file[1]) fputs("./", out); /* or it would be an option */
    shell_print(out, file);
    if (settings->has_seed) fprintf(out, " --seed %" PRIu64, settings->seed);
    if (settings->choices) {
        fputs(" --choices ", out);
        shell_print(out, settings->choices);
    }
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

/* Where a script's events go. */
typedef struct trace_taker {
    output_file *file; /* NULL */
    FILE *kept;        /* NULL */
} trace_taker;

static void take_trace(void *context, const char *text, size_t text_bytes) {
    const trace_taker *taker = context;
    if (taker->file) output_file_write(taker->file, text, text_bytes);
    if (taker->kept) fwrite(text, 1, text_bytes, taker->kept);
}

/* What was kept is whole, or memory was out. */
static void finish_trace(trace_taker *taker, script_outcome *outcome) {
    if (!taker->kept) return;
    const bool good = !ferror(taker->kept);
    if (fclose(taker->kept) == 0 && good) return;
    free(outcome->trace);
    outcome->trace = NULL;
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
    options.choices = settings->choices;
    options.repeat = repeat;
    trace_taker taker = {settings->trace, NULL};
    if (settings->keeps_trace) taker.kept = open_memstream(&outcome->trace, &outcome->trace_bytes);
    options.trace_sink = taker.file || taker.kept ? take_trace : NULL;
    options.trace_context = &taker;
    if (tutti_script_run(outcome->script, &options, &outcome->report, &outcome->error) == TUTTI_OK)
        outcome->as_expected = tutti_script_ends_as_expected(outcome->script, outcome->report) != 0;
    finish_trace(&taker, outcome);
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
    free(outcome->trace);
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

tutti_status script_outcome_leave_folder(const script_outcome *outcome, const char *path,
                                         tutti_error *error) {
    const tutti_report_folder folder = {.struct_size = sizeof folder,
                                        .report = outcome->report,
                                        .title = outcome->file,
                                        .trace = outcome->trace,
                                        .trace_bytes = outcome->trace_bytes};
    if (!outcome->trace)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY,
                               "%s: no memory is left for the trace of %s", path, outcome->file);
    return tutti_report_folder_write(path, &folder, error);
}
