#define _POSIX_C_SOURCE 200809L
#include "tutti/report_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/trace/folder.h"
#include "src/trace/text.h"

static const char *const file_names[] = {
    "report.txt", "replay.txt", "trace.jsonl", "trace.json", "waitfor.dot", "lanes.svg",
};

static const trace_folder_kind report_kind = {file_names, sizeof file_names / sizeof file_names[0],
                                              "trace.jsonl", "{\"tutti_trace\":"};

/* --- What repeats the run --- */

/* A word as a POSIX shell reads it back. */
static void add_shell_word(trace_text *text, const char *word, size_t bytes) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./,:@%+=";
    if (bytes > 0 && strspn(word, plain) >= bytes) {
        trace_text_add_bytes(text, word, bytes);
        return;
    }
    trace_text_add_plain(text, "'");
    for (size_t i = 0; i < bytes; i++) {
        if (word[i] == '\'')
            trace_text_add_plain(text, "'\\''");
        else
            trace_text_add_bytes(text, word + i, 1);
    }
    trace_text_add_plain(text, "'");
}

/* How this process was started, as the kernel tells it: words that each end with a NUL. */
static void add_own_command(trace_text *text) {
    char words[8192];
    const int descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = descriptor < 0 ? -1 : read(descriptor, words, sizeof words - 1);
    if (descriptor >= 0) close(descriptor);
    if (bytes <= 0) {
        trace_text_add_plain(text, "# how the program was started is not known");
        return;
    }
    words[bytes] = '\0';
    for (ssize_t at = 0; at < bytes;) {
        const size_t word_bytes = strlen(words + at);
        if (at > 0) trace_text_add_plain(text, " ");
        add_shell_word(text, words + at, word_bytes);
        at += (ssize_t)word_bytes + 1;
    }
}

/* The command, and nothing else: a program may run it. */
static void add_replay(trace_text *text, const tutti_report_folder *folder) {
    const char *target = getenv("TEST_TARGET"); /* Bazel's, of the test that runs */
    const char *given = folder->replay ? folder->replay : folder->report->repeat;
    if (given && *given) {
        trace_text_add_plain(text, given);
    } else if (target && *target) {
        trace_text_add_plain(text, "bazel test ");
        add_shell_word(text, target, strlen(target));
    } else {
        add_own_command(text);
    }
    trace_text_add_plain(text, "\n");
}

/* --- Files --- */

static void take_text(void *context, const char *text, size_t bytes) {
    trace_text_add_bytes(context, text, bytes);
}

static tutti_status add_text(trace_folder *out, const char *name, trace_text *text,
                             tutti_error *error) {
    const tutti_status status =
        text->failed
            ? tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "%s: no memory is left for its %s",
                              out->path, name)
            : trace_folder_add(out, name, text->text ? text->text : "", text->bytes, error);
    trace_text_free(text);
    return status;
}

static tutti_status add_report(trace_folder *out, const tutti_report_folder *folder,
                               tutti_error *error) {
    trace_text text = {0};
    const size_t bytes = tutti_report_format(folder->report, NULL, 0) + 1;
    char *report = malloc(bytes);
    if (report) {
        tutti_report_format(folder->report, report, bytes);
        trace_text_add_plain(&text, report);
    }
    if (!folder->trace)
        trace_text_add_plain(&text, "\nThe trace was not kept, so there are no pictures.\n");
    text.failed = text.failed || !report;
    free(report);
    tutti_status status = add_text(out, "report.txt", &text, error);
    if (status != TUTTI_OK) return status;
    add_replay(&text, folder);
    return add_text(out, "replay.txt", &text, error);
}

static tutti_status add_picture(trace_folder *out, const char *name, const tutti_trace *trace,
                                const tutti_report_folder *folder, tutti_trace_format format,
                                tutti_error *error) {
    trace_text text = {0};
    const char *title = folder->title ? folder->title : folder->report->name;
    const tutti_trace_picture picture = {.struct_size = sizeof picture,
                                         .format = format,
                                         .title = title && *title ? title : NULL,
                                         .critical_event = folder->critical_event,
                                         .critical_text = folder->critical_text};
    const tutti_status status = tutti_trace_write(trace, &picture, take_text, &text, error);
    if (status == TUTTI_OK) return add_text(out, name, &text, error);
    trace_text_free(&text);
    return status;
}

static tutti_status add_pictures(trace_folder *out, const tutti_report_folder *folder,
                                 tutti_error *error) {
    tutti_trace *trace;
    tutti_status status =
        tutti_trace_read("trace.jsonl", folder->trace, folder->trace_bytes, 0, &trace, error);
    if (status != TUTTI_OK)
        return tutti_error_wrap(error, status, "%s: no picture can be made", out->path);
    status = add_picture(out, "trace.json", trace, folder, TUTTI_TRACE_CHROME, error);
    if (status == TUTTI_OK)
        status = add_picture(out, "waitfor.dot", trace, folder, TUTTI_TRACE_DOT, error);
    if (status == TUTTI_OK)
        status = add_picture(out, "lanes.svg", trace, folder, TUTTI_TRACE_SVG, error);
    tutti_trace_free(trace);
    return status;
}

/* --- The whole --- */

tutti_status tutti_report_folder_check(const char *path, tutti_error *error) {
    tutti_error_clear(error);
    if (!path || !*path)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "the path of a folder is %s",
                               path ? "empty" : "NULL");
    return trace_folder_check(&report_kind, path, error);
}

static tutti_status check_fields(const tutti_report_folder *folder, tutti_error *error) {
    if (!folder) return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "folder is NULL");
    if (folder->struct_size != sizeof *folder)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "struct_size of the folder is %u, and this version has %zu",
                               (unsigned)folder->struct_size, sizeof *folder);
    if (!folder->report)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "the folder's report is NULL");
    return TUTTI_OK;
}

tutti_status tutti_report_folder_write(const char *path, const tutti_report_folder *folder,
                                       tutti_error *error) {
    trace_folder out;
    tutti_status status = tutti_report_folder_check(path, error);
    if (status == TUTTI_OK) status = check_fields(folder, error);
    if (status == TUTTI_OK) status = trace_folder_begin(&out, &report_kind, path, error);
    if (status != TUTTI_OK) return status;
    /* The trace is in every folder, even if it holds nothing: it proves whose the folder is. */
    static const char no_trace[] = "{\"tutti_trace\":2,\"ranks\":0,\"devices\":0}\n";
    status = folder->trace
                 ? trace_folder_add(&out, "trace.jsonl", folder->trace, folder->trace_bytes, error)
                 : trace_folder_add(&out, "trace.jsonl", no_trace, sizeof no_trace - 1, error);
    if (status == TUTTI_OK) status = add_report(&out, folder, error);
    if (status == TUTTI_OK && folder->trace) status = add_pictures(&out, folder, error);
    if (status == TUTTI_OK) return trace_folder_finish(&out, error);
    trace_folder_discard(&out);
    return status;
}
