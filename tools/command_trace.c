#include "tools/command_trace.h"

#include <argp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/output_file.h"
#include "tools/print.h"
#include "tools/text_file.h"
#include "tools/words.h"
#include "tutti/trace.h"

/* --- Options --- */

enum {
    KEY_FORMAT = 256, /* beyond the letters */
    KEY_NUMBER,
    KEY_CRITICAL,
    KEY_TITLE,
};

static const struct argp_option trace_options[] = {
    {"format", KEY_FORMAT, "NAME", 0, "chrome (the default), svg, dot or mermaid", 0},
    {"output", 'o', "FILE", 0, "Write to FILE, not to standard output", 0},
    {"number", KEY_NUMBER, "N", 0, "Which trace, if the file holds several; from 1", 0},
    {"critical", KEY_CRITICAL, "N", 0, "Mark event N as the critical choice (svg); from 1", 0},
    {"title", KEY_TITLE, "TEXT", 0, "What stands over the picture; the file's name", 0},
    {0},
};

static const char trace_doc[] =
    "Turns a trace, as 'tutti run --trace' writes it, into a picture: chrome for "
    "https://ui.perfetto.dev and chrome://tracing, svg with a lane for each rank and stream, dot "
    "with who waits for whom, mermaid for Markdown. FILE may be - for standard input.\v"
    "Exit status: 0, or 2 if the trace cannot be read or the picture not be written.\n\n"
    "Examples:\n"
    "  tutti run two_groups.tut --trace two_groups.jsonl\n"
    "  tutti trace two_groups.jsonl --format svg -o two_groups.svg\n"
    "  tutti trace two_groups.jsonl --format dot | dot -Tpng >waits.png\n\n"
    "docs/traces.md describes the formats.";

typedef struct trace_arguments {
    tutti_trace_picture picture;
    const char *file;
    const char *output; /* NULL: standard output */
    uint32_t number;    /* 0: the only one */
} trace_arguments;

static void parse_format(trace_arguments *arguments, const char *text, struct argp_state *state) {
    const char *names[TUTTI_TRACE_FORMAT_COUNT];
    for (int i = 0; i < TUTTI_TRACE_FORMAT_COUNT; i++) {
        names[i] = tutti_trace_format_name((tutti_trace_format)i);
        if (strcmp(text, names[i]) != 0) continue;
        arguments->picture.format = (tutti_trace_format)i;
        return;
    }
    const char *near = word_near(text, names, TUTTI_TRACE_FORMAT_COUNT);
    argp_error(state, "--format: expected chrome, svg, dot or mermaid, found '%s'%s%s%s", text,
               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static uint64_t parse_number(const char *option, const char *text, struct argp_state *state) {
    uint64_t number = 0;
    if (!number_parse(text, &number) || number < 1 || number > UINT32_MAX)
        argp_error(state, "%s: expected a number from 1 to %u, found '%s'", option,
                   (unsigned)UINT32_MAX, text);
    return number;
}

static error_t parse_trace(int key, char *argument, struct argp_state *state) {
    trace_arguments *arguments = state->input;
    switch (key) {
    case KEY_FORMAT:
        parse_format(arguments, argument, state);
        return 0;
    case 'o':
        arguments->output = argument;
        return 0;
    case KEY_NUMBER:
        arguments->number = (uint32_t)parse_number("--number", argument, state);
        return 0;
    case KEY_CRITICAL:
        arguments->picture.critical_event = parse_number("--critical", argument, state);
        return 0;
    case KEY_TITLE:
        arguments->picture.title = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->file) argp_error(state, "one trace at a time: '%s' is too many", argument);
        arguments->file = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "expected a trace, as 'tutti run --trace FILE' writes it");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- The picture --- */

static const char *file_title(const char *file) {
    const char *slash = strrchr(file, '/');
    return strcmp(file, "-") == 0 ? "<stdin>" : slash ? slash + 1 : file;
}

static tutti_status write_picture(const trace_arguments *arguments, const tutti_trace *trace,
                                  tutti_error *error) {
    output_file *out;
    tutti_status status =
        output_file_open(arguments->output ? arguments->output : "-", &out, error);
    if (status != TUTTI_OK) return status;
    status = tutti_trace_write(trace, &arguments->picture, output_file_write, out, error);
    if (status == TUTTI_OK) return output_file_close(out, error);
    output_file_discard(out);
    return status;
}

static tutti_status make_picture(const trace_arguments *arguments, tutti_error *error) {
    text_file text;
    tutti_trace *trace;
    tutti_status status = text_file_read(arguments->file, TRACE_BYTES_MAX, &text, error);
    if (status != TUTTI_OK) return status;
    const char *name = strcmp(arguments->file, "-") == 0 ? "<stdin>" : arguments->file;
    status = tutti_trace_read(name, text.text, text.bytes, arguments->number, &trace, error);
    free(text.text);
    if (status != TUTTI_OK) return status;
    status = write_picture(arguments, trace, error);
    tutti_trace_free(trace);
    return status;
}

int command_trace(int argc, char **argv) {
    static const struct argp parser = {
        .options = trace_options, .parser = parse_trace, .args_doc = "FILE", .doc = trace_doc};
    trace_arguments arguments = {.picture.struct_size = sizeof arguments.picture};
    tutti_error problem;
    const error_t error = argp_parse(&parser, argc, argv, 0, NULL, &arguments);
    if (error) {
        fprintf(stderr, "%s: the arguments cannot be read: %s\n", argv[0], strerror(error));
        return EXIT_UNREADABLE;
    }
    if (!arguments.picture.title) arguments.picture.title = file_title(arguments.file);
    if (make_picture(&arguments, &problem) == TUTTI_OK) return output_finish(EXIT_AS_EXPECTED);
    text_print(stderr, problem.message);
    fputs("\n", stderr);
    return EXIT_UNREADABLE;
}
