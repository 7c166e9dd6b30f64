#define _GNU_SOURCE /* open_memstream */
#include "tools/command.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/command_explore.h"
#include "tools/command_run.h"
#include "tools/command_trace.h"
#include "tools/print.h"
#include "tools/words.h"
#include "tools/working_folder.h"

/* argp's interface: what --version prints. */
const char *argp_program_version = "tutti " COMMAND_VERSION;

typedef int command_function(int argc, char **argv);

typedef struct command {
    const char *name;
    const char *summary;
    command_function *run; /* NULL: a later version has it */
} command;

static command_function command_help;

static const command commands[] = {
    {"run", "Run scripts on the emulated cluster and say how they end", command_run},
    {"explore", "Run many schedules of a script, to find one that ends otherwise", command_explore},
    {"replay", "Repeat one schedule of a script", command_replay},
    {"trace", "Turn a trace into a picture: Chrome, SVG, DOT, Mermaid", command_trace},
    {"help", "Show this, or what a command does: tutti help run", command_help},
    {"explain", "Say what a dump or a trace shows", NULL},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const command *command_find(const char *name) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static void list_commands(FILE *out) {
    fputs("Commands:\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].run) fprintf(out, "  %-10s%s\n", commands[i].name, commands[i].summary);
    fputs("Not in this version yet:", out);
    const char *separator = " ";
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (commands[i].run) continue;
        fprintf(out, "%s%s", separator, commands[i].name);
        separator = ", ";
    }
    fputs("\n", out);
}

/* There is no such command, or not yet. */
static int refuse_command(const char *name) {
    const command *later = command_find(name);
    fputs("tutti: ", stderr);
    if (later) {
        fprintf(stderr, "the command '%s' is not in this version yet\n", later->name);
    } else {
        const char *names[COMMAND_COUNT];
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            names[i] = commands[i].name;
        const char *near = word_near(name, names, COMMAND_COUNT);
        fputs("there is no command '", stderr);
        text_print(stderr, name);
        fputs("'", stderr);
        if (near) fprintf(stderr, "; did you mean '%s'?", near);
        /* Somebody who gives a script only has forgotten the command. */
        if (!near && strchr(name, '.'))
            fputs("; to run a script, write 'tutti run' before it", stderr);
        fputs("\n", stderr);
    }
    list_commands(stderr);
    return EXIT_UNREADABLE;
}

/* Runs a command whose name is argv[0]. */
static int dispatch(int argc, char **argv) {
    char name[32];
    const command *found = command_find(argv[0]);
    if (!found || !found->run) return refuse_command(argv[0]);
    snprintf(name, sizeof name, "tutti %s", found->name);
    argv[0] = name; /* argp calls the program so in its texts */
    return found->run(argc, argv);
}

/* --- Options before the command --- */

/* Puts the list of commands behind argp's own help. */
static char *filter_help(int key, const char *text, void *input) {
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC) return (char *)text; /* argp's signature */
    char *list = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&list, &bytes);
    if (!out) return NULL;
    list_commands(out);
    fputs("\n'tutti COMMAND --help' tells more about one. docs/scripts.md describes scripts.", out);
    return fclose(out) == 0 ? list : NULL; /* argp frees it */
}

static error_t parse_main(int key, char *argument, struct argp_state *state) {
    int *command_index = state->input;
    (void)argument;
    switch (key) {
    case ARGP_KEY_ARG: /* the rest is the command's */
        *command_index = state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "expected a command, such as 'run'");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp main_parser = {
    .parser = parse_main,
    .args_doc = "COMMAND [ARGUMENT...]",
    .doc = "Rehearses collective communication on an emulated cluster.\v",
    .help_filter = filter_help,
};

static int command_help(int argc, char **argv) {
    char program[] = "tutti";
    if (argc < 2 || strcmp(argv[1], "help") == 0) {
        argp_help(&main_parser, stdout, ARGP_HELP_STD_HELP, program);
        return output_finish(EXIT_AS_EXPECTED);
    }
    char option[] = "--help";
    char *arguments[] = {argv[1], option, NULL};
    return dispatch(2, arguments);
}

int command_main(int argc, char **argv) {
    int command_index = 0;
    argp_err_exit_status = EXIT_UNREADABLE;
    if (!working_folder_enter()) return EXIT_UNREADABLE;
    const error_t error = argp_parse(&main_parser, argc, argv, ARGP_IN_ORDER, NULL, &command_index);
    if (error || command_index == 0) {
        fprintf(stderr, "tutti: the arguments cannot be read: %s\n", strerror(error));
        return EXIT_UNREADABLE;
    }
    return dispatch(argc - command_index, argv + command_index);
}
