#define _POSIX_C_SOURCE 200809L /* strdup */
#include "drivers/emu/keeper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Where --- */

static char plain(char c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || c == '-' ? c : '_';
}

/* FOLDER/NAME, for free(); NULL when memory is out. */
static char *path_in(const char *folder, const char *name) {
    size_t folder_bytes = strlen(folder), name_bytes = strlen(name);
    char *path = malloc(folder_bytes + name_bytes + 2);
    if (path == NULL) return NULL;
    memcpy(path, folder, folder_bytes);
    path[folder_bytes] = '/';
    for (size_t i = 0; i < name_bytes; i++)
        path[folder_bytes + 1 + i] = plain(name[i]);
    path[folder_bytes + 1 + name_bytes] = '\0';
    return path;
}

static tutti_status pick_path(emu_keeper *keeper, const tutti_rehearsal_options *options,
                              tutti_error *error) {
    const char *folder = getenv("TUTTI_REPORT_FOLDER");
    const char *name =
        options->name != NULL && options->name[0] != '\0' ? options->name : "rehearsal";
    if (options->report_folder == NULL && (folder == NULL || folder[0] == '\0')) return TUTTI_OK;
    if (options->report_folder != NULL && options->report_folder[0] == '\0') return TUTTI_OK;
    keeper->path =
        options->report_folder != NULL ? strdup(options->report_folder) : path_in(folder, name);
    if (keeper->path == NULL)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for the report folder");
    return tutti_report_folder_check(keeper->path, error);
}

/* --- The trace --- */

static bool make_room(emu_keeper *keeper, size_t bytes) {
    enum { ROOM_FIRST = 1 << 16 };
    size_t room = keeper->trace_room > 0 ? keeper->trace_room : ROOM_FIRST;
    if (bytes > TUTTI_REPORT_TRACE_BYTES_MAX - keeper->trace_bytes) return false;
    while (room - keeper->trace_bytes < bytes)
        room *= 2;
    if (room == keeper->trace_room) return true;
    char *grown = realloc(keeper->trace, room);
    if (grown == NULL) return false;
    keeper->trace = grown;
    keeper->trace_room = room;
    return true;
}

static void take_trace(void *context, const char *text, size_t text_bytes) {
    emu_keeper *keeper = context;
    if (keeper->trace_sink != NULL) keeper->trace_sink(keeper->trace_context, text, text_bytes);
    keeper->is_whole = keeper->is_whole && make_room(keeper, text_bytes);
    if (!keeper->is_whole) return;
    memcpy(keeper->trace + keeper->trace_bytes, text, text_bytes);
    keeper->trace_bytes += text_bytes;
}

/* --- The whole --- */

tutti_status emu_keeper_begin(emu_keeper *keeper, tutti_rehearsal_options *options,
                              tutti_error *error) {
    *keeper = (emu_keeper){.is_whole = true};
    tutti_status status = pick_path(keeper, options, error);
    if (status != TUTTI_OK) {
        free(keeper->path);
        return status;
    }
    if (keeper->path == NULL) return TUTTI_OK;
    keeper->trace_sink = options->trace_sink;
    keeper->trace_context = options->trace_context;
    options->trace_sink = take_trace;
    options->trace_context = keeper;
    return TUTTI_OK;
}

tutti_status emu_keeper_end(emu_keeper *keeper, const tutti_report *report, tutti_error *error) {
    tutti_status status = TUTTI_OK;
    if (keeper->path != NULL && report != NULL && report->verdict != TUTTI_VERDICT_OK) {
        /* A trace that became too large would be cut anywhere: the report is left without it. */
        const tutti_report_folder folder = {.struct_size = sizeof folder,
                                            .report = report,
                                            .trace = keeper->is_whole ? keeper->trace : NULL,
                                            .trace_bytes = keeper->trace_bytes};
        status = tutti_report_folder_write(keeper->path, &folder, error);
    }
    free(keeper->path);
    free(keeper->trace);
    return status;
}
