#include "tools/command_explore.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/exploration_json.h"
#include "tools/print.h"
#include "tools/text_file.h"
#include "tools/words.h"

/* --- Options --- */

enum {
    KEY_JSON = 256,
    KEY_SEED,
    KEY_FAULTS,
    KEY_EXECUTOR,
    KEY_CLASSES,
    KEY_WALKS,
    KEY_SWEEP,
    KEY_ALL,
    KEY_AS_FOUND,
    KEY_SHARD,
    KEY_SAVE,
    KEY_PROGRESS,
};

static const struct argp_option explore_options[] = {
    {"json", KEY_JSON, NULL, 0, "Print one JSON object per script, each on a line", 0},
    {"quiet", 'q', NULL, 0, "Print nothing but what stops a script from being explored", 0},
    {"seed", KEY_SEED, "N", 0, "Draw schedules from N", 0},
    {"faults", KEY_FAULTS, "PLAN", 0,
     "Rules besides the scripts' own; without it those in TUTTI_FAULTS", 0},
    {"executor", KEY_EXECUTOR, "NAME", 0, "How ranks run: script (the default) or threads", 0},
    {"classes", KEY_CLASSES, "N", 0,
     "Run at most N schedules of different classes; 0: none (10000 when not given)", 0},
    {"walks", KEY_WALKS, "N", 0,
     "Draw N schedules in each of five ways; 0: none (1000 when not given)", 0},
    {"sweep", KEY_SWEEP, "N", 0,
     "Run the program with at most N different faults, one at a time; 0: none (1000 when not "
     "given)",
     0},
    {"all", KEY_ALL, NULL, 0, "Go on after a failure, and group failures by cause", 0},
    {"as-found", KEY_AS_FOUND, NULL, 0, "Do not make failing schedules small", 0},
    {"shard", KEY_SHARD, "I/N", 0,
     "Be the I-th of N that share the work, from 0; without it what Bazel's TEST_SHARD_INDEX and "
     "TEST_TOTAL_SHARDS say",
     0},
    {"save", KEY_SAVE, "FILE", 0,
     "Make the first failing script as small as can be, and write it to FILE", 0},
    {"progress", KEY_PROGRESS, NULL, 0, "Say on standard error how far it is", 0},
    {0},
};

static const char explore_doc[] =
    "Runs many schedules of scripts: the plain one, the extremes, one of every class of schedules "
    "that can differ, and drawn ones; then the plain one with each fault in turn; says how many, "
    "and whether those were all. A schedule that "
    "does not end as the script's verdict says is a failure; it is made small, and the choice that "
    "decides is named.\v"
    "Exit status: 0 if no schedule failed, 1 if one did, 2 if a script could not be read or "
    "run.\n\n"
    "Examples:\n"
    "  tutti explore polling.tut\n"
    "  tutti explore polling.tut --all --walks 100000 --progress\n"
    "  tutti explore polling.tut --save small.tut";

typedef struct explore_arguments {
    tutti_script_options script;
    tutti_explore_options explore;
    bool json, quiet, progress;
    const char *save; /* NULL: do not */
    const char **files;
    size_t file_count;
    tutti_status trouble;
} explore_arguments;

static uint64_t parse_number(const char *option, const char *text, struct argp_state *state) {
    uint64_t number = 0;
    if (!number_parse(text, &number))
        argp_error(state, "%s: expected a number from 0 to 18446744073709551615, found '%s'",
                   option, text);
    return number;
}

static void parse_executor(explore_arguments *arguments, const char *text,
                           struct argp_state *state) {
    if (strcmp(text, "script") == 0)
        arguments->script.executor = TUTTI_SCRIPT_AS_DATA;
    else if (strcmp(text, "threads") == 0)
        arguments->script.executor = TUTTI_SCRIPT_ON_THREADS;
    else
        argp_error(state, "--executor: expected script or threads, found '%s'", text);
}

/* A limit of 0 leaves the stage out. */
static uint64_t parse_limit(explore_arguments *arguments, uint32_t stage, const char *option,
                            const char *text, struct argp_state *state) {
    uint64_t limit = parse_number(option, text, state);
    if (limit == 0) arguments->explore.stages &= ~stage;
    return limit;
}

static void parse_shard(explore_arguments *arguments, char *text, struct argp_state *state) {
    char *slash = strchr(text, '/');
    uint64_t index = 0, count = 0;
    bool read = slash != NULL;
    if (read) *slash = '\0';
    read = read && number_parse(text, &index) && number_parse(slash + 1, &count);
    if (!read || index >= count || count > UINT32_MAX)
        argp_error(state, "--shard: expected I/N with I less than N, such as 0/4");
    arguments->explore.shard_index = (uint32_t)index;
    arguments->explore.shard_count = (uint32_t)count;
}

static void add_file(explore_arguments *arguments, const char *file,
                     const struct argp_state *state) {
    if (!arguments->files) arguments->files = calloc((size_t)state->argc, sizeof *arguments->files);
    if (arguments->files)
        arguments->files[arguments->file_count++] = file;
    else
        arguments->trouble = TUTTI_OUT_OF_MEMORY;
}

static error_t parse_explore(int key, char *argument, struct argp_state *state) {
    explore_arguments *arguments = state->input;
    tutti_explore_options *explore = &arguments->explore;
    switch (key) {
    case KEY_JSON:
        arguments->json = true;
        return 0;
    case 'q':
        arguments->quiet = true;
        return 0;
    case KEY_SEED:
        explore->seed = parse_number("--seed", argument, state);
        arguments->script.seed = explore->seed;
        return 0;
    case KEY_FAULTS:
        arguments->script.faults = argument;
        return 0;
    case KEY_EXECUTOR:
        parse_executor(arguments, argument, state);
        return 0;
    case KEY_CLASSES:
        explore->class_limit =
            parse_limit(arguments, TUTTI_EXPLORE_CLASSES, "--classes", argument, state);
        return 0;
    case KEY_WALKS:
        explore->walk_limit =
            parse_limit(arguments, TUTTI_EXPLORE_WALKS, "--walks", argument, state);
        return 0;
    case KEY_SWEEP:
        explore->fault_limit =
            parse_limit(arguments, TUTTI_EXPLORE_FAULTS, "--sweep", argument, state);
        return 0;
    case KEY_ALL:
        explore->collect_all = 1;
        return 0;
    case KEY_AS_FOUND:
        explore->keep_as_found = 1;
        return 0;
    case KEY_SHARD:
        parse_shard(arguments, argument, state);
        return 0;
    case KEY_SAVE:
        arguments->save = argument;
        return 0;
    case KEY_PROGRESS:
        arguments->progress = true;
        return 0;
    case ARGP_KEY_ARG:
        add_file(arguments, argument, state);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "expected a script to explore");
        return 0;
    case ARGP_KEY_SUCCESS:
        if (arguments->quiet && arguments->json)
            argp_error(state, "--quiet does not go with --json");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- Exploring --- */

static void print_trouble(const char *file, const tutti_error *error) {
    fflush(stdout);
    if (error->place.line <= 0 && strncmp(error->message, file, strlen(file)) != 0)
        fprintf(stderr, "%s: ", file);
    text_print(stderr, error->message);
    fputs("\n", stderr);
}

/* A line that is written over, on a terminal; else one now and then. */
static int show_progress(void *context, const tutti_explore_state *state) {
    enum { RUNS_BETWEEN = 1024 };
    (void)context;
    if (state->run_count % RUNS_BETWEEN != 0) return 0;
    const bool terminal = isatty(STDERR_FILENO) == 1;
    fprintf(stderr,
            "%s%s: %" PRIu64 " of at most %" PRIu64 " schedules, %" PRIu64 " in all, %" PRIu32
            " failures%s",
            terminal ? "\r" : "", state->stage, state->run_count, state->run_limit,
            state->total_count, state->failure_count, terminal ? " " : "\n");
    fflush(stderr);
    return 0;
}

static void print_exploration(const char *file, const tutti_exploration *exploration) {
    const size_t bytes = tutti_exploration_format(exploration, NULL, 0) + 1;
    char *text = malloc(bytes);
    if (!text) return;
    tutti_exploration_format(exploration, text, bytes);
    printf("%s\n", file);
    text_print(stdout, text);
    free(text);
}

static const tutti_explore_failure *first_failure(const tutti_exploration *exploration) {
    for (uint32_t i = 0; i < exploration->failure_count; i++)
        if (!exploration->failures[i].is_hazard) return &exploration->failures[i];
    return NULL;
}

static bool save_small(const explore_arguments *arguments, const char *file, const text_file *text,
                       const tutti_explore_failure *failure) {
    char *small = NULL;
    tutti_error error;
    tutti_status status = tutti_shrink_script(file, text->text, text->bytes, &arguments->script,
                                              failure, &small, &error);
    FILE *out = status == TUTTI_OK ? fopen(arguments->save, "w") : NULL;
    bool saved = out != NULL && fputs(small, out) >= 0;
    saved = (out != NULL && fclose(out) == 0) && saved;
    free(small);
    if (status != TUTTI_OK)
        print_trouble(file, &error);
    else if (!saved)
        fprintf(stderr, "%s: cannot be written\n", arguments->save);
    return saved;
}

static int report(const explore_arguments *arguments, const char *file, const text_file *text,
                  const tutti_exploration *exploration) {
    const tutti_explore_failure *failure = first_failure(exploration);
    if (arguments->json)
        exploration_print_json(stdout, file, exploration);
    else if (!arguments->quiet)
        print_exploration(file, exploration);
    if (failure && arguments->save && !save_small(arguments, file, text, failure))
        return EXIT_UNREADABLE;
    return failure ? EXIT_OTHERWISE : EXIT_AS_EXPECTED;
}

static int explore_text(const explore_arguments *arguments, const char *file,
                        const text_file *text) {
    tutti_error error;
    tutti_script *script = NULL;
    tutti_exploration *exploration = NULL;
    const char *name = strcmp(file, "-") == 0 ? "<stdin>" : file;
    int result = EXIT_UNREADABLE;
    tutti_status status = tutti_script_parse(name, text->text, text->bytes, &script, &error);
    if (status == TUTTI_OK)
        status = tutti_explore_script(script, &arguments->script, &arguments->explore, &exploration,
                                      &error);
    if (arguments->progress && isatty(STDERR_FILENO) == 1) fputs("\n", stderr);
    if (status == TUTTI_OK)
        result = report(arguments, name, text, exploration);
    else
        print_trouble(name, &error);
    tutti_exploration_free(exploration);
    tutti_script_free(script);
    return result;
}

static int explore_files(const explore_arguments *arguments) {
    int worst = EXIT_AS_EXPECTED;
    for (size_t i = 0; i < arguments->file_count; i++) {
        text_file text;
        tutti_error error;
        int status = EXIT_UNREADABLE;
        if (text_file_read(arguments->files[i], SCRIPT_BYTES_MAX, &text, &error) == TUTTI_OK) {
            status = explore_text(arguments, arguments->files[i], &text);
            free(text.text);
        } else {
            print_trouble(arguments->files[i], &error);
        }
        if (status > worst) worst = status;
    }
    return worst;
}

int command_explore(int argc, char **argv) {
    static const struct argp parser = {.options = explore_options,
                                       .parser = parse_explore,
                                       .args_doc = "FILE...",
                                       .doc = explore_doc};
    explore_arguments arguments;
    memset(&arguments, 0, sizeof arguments);
    arguments.script.struct_size = sizeof arguments.script;
    tutti_explore_options_init(&arguments.explore);
    arguments.explore.stages = TUTTI_EXPLORE_ALL | TUTTI_EXPLORE_FAULTS;
    const error_t error = argp_parse(&parser, argc, argv, 0, NULL, &arguments);
    int status = EXIT_UNREADABLE;
    if (arguments.progress) arguments.explore.progress = show_progress;
    if (error || arguments.trouble != TUTTI_OK)
        fprintf(stderr, "%s: the arguments cannot be read: %s\n", argv[0],
                error ? strerror(error) : tutti_status_text(arguments.trouble));
    else
        status = explore_files(&arguments);
    free(arguments.files);
    return output_finish(status);
}
