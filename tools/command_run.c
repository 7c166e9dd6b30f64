#include "tools/command_run.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "tools/junit_log.h"
#include "tools/outcome_json.h"
#include "tools/outcome_text.h"
#include "tools/output_file.h"
#include "tools/print.h"
#include "tools/run_folder.h"
#include "tools/terminal.h"
#include "tools/words.h"
#include "tutti/fault.h"

/* --- Options --- */

enum {
    KEY_JSON = 256, /* beyond the letters */
    KEY_SEED,
    KEY_FAULTS,
    KEY_TRACE,
    KEY_EXECUTOR,
    KEY_CHOICES,
    KEY_JUNIT,
    KEY_REPORT_FOLDER,
};

/* Those of `tutti replay`; `tutti run` has all but the first. */
static const struct argp_option replay_options[] = {
    {"choices", KEY_CHOICES, "S", 0, "The schedule, as a report or --json prints it", 0},
    {"json", KEY_JSON, NULL, 0, "Print one JSON object per script, each on a line", 0},
    {"quiet", 'q', NULL, 0, "Print nothing but what stops a script from being run", 0},
    {"verbose", 'v', NULL, 0, "Print the whole report of every script", 0},
    {"seed", KEY_SEED, "N", 0, "Draw the schedule, and chances in fault plans, from N", 0},
    {"faults", KEY_FAULTS, "PLAN", 0,
     "Rules besides the scripts' own; without it those in TUTTI_FAULTS", 0},
    {"trace", KEY_TRACE, "FILE", 0, "Write all events to FILE, a JSON object per line", 0},
    {"report-folder", KEY_REPORT_FOLDER, "DIR", 0,
     "Leave a folder DIR/SCRIPT for each script that does not end as it must", 0},
    {"junit", KEY_JUNIT, "FILE", 0, "Write how each script ended to FILE, as JUnit XML", 0},
    {"executor", KEY_EXECUTOR, "NAME", 0,
     "How ranks run: script (the default) or threads; both end the same", 0},
    {0},
};

static const char replay_doc[] =
    "Repeats one schedule of a script: the one that --choices gives. A run that does not ask what "
    "they answer ends with the verdict divergence. FILE may be - for standard input.\v"
    "Exit status: 0 if the script ended as it must, 1 if not, 2 if it could not be read or run.\n\n"
    "Examples:\n"
    "  tutti replay race.tut --choices r0x4,r1\n"
    "  tutti replay race.tut --choices r0x4,r1 --trace - --quiet";

static const char run_doc[] =
    "Runs scripts on the emulated cluster and says whether each ends as its verdict says. FILE may "
    "be - for standard input.\v"
    "Exit status: 0 if each script ended as it must, 1 if some did not, 2 if some could not be "
    "read or run.\n\n"
    "Examples:\n"
    "  tutti run two_groups.tut\n"
    "  tutti run two_groups.tut --faults 'all_reduce[rank=1]=delay(5ms)'\n"
    "  tutti run --json *.tut | jq .verdict\n\n"
    "docs/scripts.md describes scripts, docs/faults.md fault plans.";

typedef struct run_arguments {
    script_settings settings;
    outcome_style style;
    bool json;
    bool quiet;
    bool replays;              /* choices must be given, for one file */
    const char *trace;         /* NULL: none */
    const char *junit;         /* NULL: none */
    const char *report_folder; /* NULL: none */
    junit_log *junit_log;      /* NULL: none */
    const char **files;
    size_t file_count;
    tutti_status trouble; /* while reading the arguments: out of memory */
} run_arguments;

static void parse_seed(run_arguments *arguments, const char *text, struct argp_state *state) {
    arguments->settings.has_seed = true;
    if (!number_parse(text, &arguments->settings.seed))
        argp_error(state, "--seed: expected a number from 0 to 18446744073709551615, found '%s'",
                   text);
}

static void parse_executor(run_arguments *arguments, const char *text, struct argp_state *state) {
    if (strcmp(text, "script") == 0)
        arguments->settings.executor = TUTTI_SCRIPT_AS_DATA;
    else if (strcmp(text, "threads") == 0)
        arguments->settings.executor = TUTTI_SCRIPT_ON_THREADS;
    else
        argp_error(state, "--executor: expected script or threads, found '%s'", text);
}

/* One letter forgotten, and a script would be overwritten. */
static void parse_output(const char **place, const char *option, const char *text,
                         struct argp_state *state) {
    const size_t bytes = strlen(text);
    if (bytes >= 4 && strcmp(text + bytes - 4, ".tut") == 0)
        argp_error(state, "%s: '%s' has the name of a script, and would be overwritten", option,
                   text);
    *place = text;
}

static void add_file(run_arguments *arguments, const char *file, const struct argp_state *state) {
    if (!arguments->files) arguments->files = calloc((size_t)state->argc, sizeof *arguments->files);
    if (arguments->files)
        arguments->files[arguments->file_count++] = file;
    else
        arguments->trouble = TUTTI_OUT_OF_MEMORY;
}

static void check_arguments(const run_arguments *arguments, struct argp_state *state) {
    size_t inputs = 0;
    for (size_t i = 0; i < arguments->file_count; i++)
        inputs += strcmp(arguments->files[i], "-") == 0;
    if (inputs > 1) argp_error(state, "standard input (-) can be read once");
    if (arguments->quiet && (arguments->json || arguments->style.verbose))
        argp_error(state, "--quiet goes with neither --json nor --verbose");
    if (arguments->json && arguments->style.verbose)
        argp_error(state, "--json says everything already; --verbose does not go with it");
    if (arguments->replays && !arguments->settings.choices)
        argp_error(state, "expected --choices; they may be empty, for the plain schedule");
    if (arguments->replays && arguments->file_count > 1)
        argp_error(state, "a schedule is of one script; there are %zu", arguments->file_count);
    if (arguments->settings.choices && arguments->settings.has_seed)
        argp_error(state, "--choices and --seed both give the schedule");
    if (arguments->trace && strcmp(arguments->trace, "-") == 0 && !arguments->quiet)
        argp_error(state, "--trace - needs --quiet, or results and trace would be mixed");
    if (arguments->junit && strcmp(arguments->junit, "-") == 0 &&
        (!arguments->quiet || (arguments->trace && strcmp(arguments->trace, "-") == 0)))
        argp_error(state,
                   "--junit - needs --quiet, and no --trace -, or two outputs would be mixed");
}

static error_t parse_run(int key, char *argument, struct argp_state *state) {
    run_arguments *arguments = state->input;
    switch (key) {
    case KEY_JSON:
        arguments->json = true;
        return 0;
    case 'q':
        arguments->quiet = true;
        return 0;
    case 'v':
        arguments->style.verbose = true;
        return 0;
    case KEY_SEED:
        parse_seed(arguments, argument, state);
        return 0;
    case KEY_FAULTS:
        arguments->settings.faults = argument;
        return 0;
    case KEY_TRACE:
        parse_output(&arguments->trace, "--trace", argument, state);
        return 0;
    case KEY_JUNIT:
        parse_output(&arguments->junit, "--junit", argument, state);
        return 0;
    case KEY_REPORT_FOLDER:
        if (!*argument) argp_error(state, "--report-folder: expected a folder, found nothing");
        arguments->report_folder = argument;
        arguments->settings.keeps_trace = true;
        return 0;
    case KEY_EXECUTOR:
        parse_executor(arguments, argument, state);
        return 0;
    case KEY_CHOICES:
        arguments->settings.choices = argument;
        return 0;
    case ARGP_KEY_ARG:
        add_file(arguments, argument, state);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "expected a script to run");
        return 0;
    case ARGP_KEY_SUCCESS:
        check_arguments(arguments, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- Running --- */

static void print_trouble(const char *prefix, const tutti_error *error) {
    fflush(stdout);
    fputs(prefix, stderr);
    text_print(stderr, error->message);
    fputs("\n", stderr);
}

/* A plan that cannot be read is told once, and not for every script. */
static bool check_faults(const run_arguments *arguments) {
    const char *given = arguments->settings.faults;
    const char *text = given ? given : getenv("TUTTI_FAULTS");
    const tutti_fault_source source = {given ? "--faults" : "TUTTI_FAULTS", 1, 1};
    tutti_fault_plan *plan = NULL;
    tutti_error error;
    if (!text) return true;
    if (tutti_fault_plan_parse(text, strlen(text), &source, &plan, &error) != TUTTI_OK) {
        print_trouble("", &error);
        return false;
    }
    tutti_fault_plan_destroy(plan);
    return true;
}

static void print_outcome(const run_arguments *arguments, const script_outcome *outcome) {
    if (arguments->quiet)
        outcome_print_error(outcome);
    else if (!arguments->json)
        outcome_print(outcome, &arguments->style);
    else if (!outcome_print_json(stdout, outcome))
        fprintf(stderr, "%s: no memory is left for its JSON object\n", outcome->file);
}

static void print_summary(const size_t *counts) {
    const size_t total = counts[0] + counts[1] + counts[2];
    printf("%zu scripts: %zu ended as they must", total, counts[EXIT_AS_EXPECTED]);
    if (counts[EXIT_OTHERWISE] > 0) printf(", %zu did not", counts[EXIT_OTHERWISE]);
    if (counts[EXIT_UNREADABLE] > 0) printf(", %zu could not be run", counts[EXIT_UNREADABLE]);
    fputs("\n", stdout);
}

/* Runs one script and says how it ended; its status. */
static int run_file(const run_arguments *arguments, size_t index) {
    script_outcome outcome;
    tutti_error error;
    char *folder = NULL;
    script_outcome_get(arguments->files[index], &arguments->settings, &outcome);
    int status = script_outcome_status(&outcome);
    if (arguments->report_folder && status == EXIT_OTHERWISE) {
        folder = run_folder_path(arguments->report_folder, arguments->files, index);
        if (!folder)
            tutti_error_set(&error, TUTTI_OUT_OF_MEMORY, "no memory is left");
        else if (script_outcome_leave_folder(&outcome, folder, &error) == TUTTI_OK)
            outcome.folder = folder;
        if (!outcome.folder) status = EXIT_UNREADABLE;
    }
    print_outcome(arguments, &outcome);
    if (arguments->report_folder && !outcome.folder && outcome.report && !outcome.as_expected)
        print_trouble("--report-folder ", &error);
    if (arguments->junit_log) junit_log_add(arguments->junit_log, &outcome);
    script_outcome_free(&outcome);
    free(folder);
    return status;
}

static int run_files(const run_arguments *arguments) {
    int worst = EXIT_AS_EXPECTED;
    size_t counts[3] = {0}; /* by exit status */
    for (size_t i = 0; i < arguments->file_count; i++) {
        const int status = run_file(arguments, i);
        counts[status]++;
        if (status > worst) worst = status;
    }
    if (arguments->file_count > 1 && !arguments->json && !arguments->quiet) print_summary(counts);
    return worst;
}

static int run_with_trace(run_arguments *arguments) {
    tutti_error error;
    if (!arguments->trace) return run_files(arguments);
    if (output_file_open(arguments->trace, &arguments->settings.trace, &error) != TUTTI_OK) {
        print_trouble("--trace ", &error);
        return EXIT_UNREADABLE;
    }
    const int status = run_files(arguments);
    if (output_file_close(arguments->settings.trace, &error) == TUTTI_OK) return status;
    print_trouble("--trace ", &error);
    return EXIT_UNREADABLE;
}

static int run_with_junit(run_arguments *arguments) {
    tutti_error error;
    if (!arguments->junit) return run_with_trace(arguments);
    if (junit_log_open(arguments->junit, &arguments->junit_log, &error) != TUTTI_OK) {
        print_trouble("--junit ", &error);
        return EXIT_UNREADABLE;
    }
    const int status = run_with_trace(arguments);
    if (junit_log_close(arguments->junit_log, &error) == TUTTI_OK) return status;
    print_trouble("--junit ", &error);
    return EXIT_UNREADABLE;
}

static int run_command(const struct argp *parser, bool replays, int argc, char **argv) {
    run_arguments arguments;
    memset(&arguments, 0, sizeof arguments);
    arguments.replays = replays;
    arguments.style.colours = terminal_has_colours(stdout);
    const error_t error = argp_parse(parser, argc, argv, 0, NULL, &arguments);
    int status = EXIT_UNREADABLE;
    if (error || arguments.trouble != TUTTI_OK)
        fprintf(stderr, "%s: the arguments cannot be read: %s\n", argv[0],
                error ? strerror(error) : tutti_status_text(arguments.trouble));
    else if (check_faults(&arguments))
        status = run_with_junit(&arguments);
    free(arguments.files);
    return output_finish(status);
}

int command_run(int argc, char **argv) {
    static const struct argp parser = {
        .options = &replay_options[1], .parser = parse_run, .args_doc = "FILE...", .doc = run_doc};
    return run_command(&parser, false, argc, argv);
}

int command_replay(int argc, char **argv) {
    static const struct argp parser = {
        .options = replay_options, .parser = parse_run, .args_doc = "FILE", .doc = replay_doc};
    return run_command(&parser, true, argc, argv);
}
