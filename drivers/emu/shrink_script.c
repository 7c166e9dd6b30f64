#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/class_search.h"
#include "drivers/emu/explore.h"
#include "drivers/emu/script_run.h"
#include "drivers/emu/state.h"

/* Making a failing script small: lines are left out, ranks are taken away, numbers are lowered, as
 * long as the script can be read and fails for the same cause on the schedule that is known, or on
 * one of a few classes. It works on the text, so that what comes out is what a person would write.
 */

enum {
    CANDIDATES_MAX = 2000,
    CLASSES_PER_CANDIDATE = 100,
    LINE_WORDS_MAX = 64,
};

typedef struct line_list {
    char **lines; /* owned; without their ends */
    uint32_t count, room;
} line_list;

typedef struct reducer {
    const char *file;
    const tutti_script_options *options;
    const tutti_report *model;
    line_list best;
    line_list candidate;
    char *choices; /* on which the best fails */
    uint32_t candidate_count;
    tutti_status status;
    tutti_error *error;
} reducer;

/* --- Lines --- */

static bool line_add(line_list *list, const char *text, size_t bytes) {
    char *copy = malloc(bytes + 1);
    if (copy == NULL || !emu_grow(&list->lines, list->count, &list->room, sizeof(char *))) {
        free(copy);
        return false;
    }
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    list->lines[list->count++] = copy;
    return true;
}

static void lines_clear(line_list *list) {
    for (uint32_t i = 0; i < list->count; i++)
        free(list->lines[i]);
    list->count = 0;
}

static bool lines_copy(line_list *to, const line_list *from) {
    lines_clear(to);
    for (uint32_t i = 0; i < from->count; i++)
        if (!line_add(to, from->lines[i], strlen(from->lines[i]))) return false;
    return true;
}

/* Lines that say something, without comments. */
static bool lines_split(line_list *list, const char *text, size_t bytes) {
    for (size_t start = 0; start < bytes;) {
        size_t end = start;
        while (end < bytes && text[end] != '\n')
            end++;
        const char *comment = memchr(text + start, '#', end - start);
        size_t length = comment != NULL ? (size_t)(comment - (text + start)) : end - start;
        while (length > 0 && strchr(" \t\r", text[start + length - 1]) != NULL)
            length--;
        if (length > 0 && !line_add(list, text + start, length)) return false;
        start = end + 1;
    }
    return true;
}

static char *lines_join(const line_list *list) {
    size_t bytes = 1;
    for (uint32_t i = 0; i < list->count; i++)
        bytes += strlen(list->lines[i]) + 1;
    char *text = malloc(bytes);
    if (text == NULL) return NULL;
    char *end = text;
    for (uint32_t i = 0; i < list->count; i++)
        end += sprintf(end, "%s\n", list->lines[i]);
    *end = '\0';
    return text;
}

/* Whether a line's first word is this one. */
static bool begins_with(const char *line, const char *word) {
    line += strspn(line, " \t");
    size_t bytes = strlen(word);
    return strncmp(line, word, bytes) == 0 && strchr(" \t", line[bytes]) != NULL;
}

/* --- Judging --- */

static bool out_of_memory(reducer *self) {
    self->status = tutti_error_set(self->error, TUTTI_OUT_OF_MEMORY, "no memory to shrink");
    return false;
}

/* What one run of the candidate needs. */
typedef struct trial_setup {
    const tutti_script *script;
    uint32_t *devices;
    tutti_fault_plan *faults;
} trial_setup;

/* Runs it; true when it fails as the model does. The choices are then the best's. */
static bool fails_alike(reducer *self, const trial_setup *setup, emu_choices *choices,
                        emu_step_log *steps) {
    tutti_report *report = NULL;
    const emu_script *parsed = setup->script->parsed;
    emu_config config = emu_script_config(parsed, self->options, setup->devices, setup->faults);
    config.choices = choices;
    config.steps = steps;
    if (emu_script_run_as_data(parsed, self->options, &config, &report, NULL) != TUTTI_OK)
        return false;
    bool alike = emu_reports_alike(report, self->model) &&
                 tutti_script_ends_as_expected(setup->script, report) == 0;
    char *text = alike ? emu_text_copy(report->choices) : NULL;
    tutti_report_free(report);
    if (text == NULL) return false;
    if (self->choices != NULL && self->choices[0] != '\0') free(self->choices);
    self->choices = text;
    return true;
}

static bool fails_on_known(reducer *self, const trial_setup *setup) {
    emu_choice_record record;
    emu_choices choices;
    if (emu_choice_record_parse(self->choices, strlen(self->choices), &record, NULL) != TUTTI_OK)
        return false;
    emu_choices_init_replay(&choices, &record, true);
    bool fails = fails_alike(self, setup, &choices, NULL);
    emu_choices_free(&choices);
    emu_choice_record_free(&record);
    return fails;
}

static bool fails_on_some_class(reducer *self, const trial_setup *setup) {
    uint32_t rank_count = tutti_script_rank_count(setup->script);
    if (rank_count > EMU_CLASS_HOSTS_MAX) return false;
    emu_class_search *search = emu_class_search_create(rank_count);
    bool fails = false;
    for (int i = 0; search != NULL && !fails && i < CLASSES_PER_CANDIDATE; i++) {
        emu_choices choices;
        if (!emu_class_search_begin(search)) break;
        emu_choices_init_strategy(&choices, emu_class_search_choose, search);
        fails = fails_alike(self, setup, &choices, emu_class_search_log(search));
        emu_choices_free(&choices);
        if (!fails) emu_class_search_end(search);
    }
    emu_class_search_destroy(search);
    return fails;
}

static bool script_fails(reducer *self, const tutti_script *script) {
    trial_setup setup = {.script = script};
    bool fails =
        emu_script_devices(script->parsed, &setup.devices, NULL) == TUTTI_OK &&
        emu_script_faults(script->parsed, self->options, &setup.faults, NULL) == TUTTI_OK &&
        (fails_on_known(self, &setup) || fails_on_some_class(self, &setup));
    tutti_fault_plan_destroy(setup.faults);
    free(setup.devices);
    return fails;
}

/* Takes the candidate for the best if it fails alike. */
static bool try_candidate(reducer *self) {
    tutti_script *script = NULL;
    if (self->status != TUTTI_OK || self->candidate_count++ >= CANDIDATES_MAX) return false;
    char *text = lines_join(&self->candidate);
    if (text == NULL) return out_of_memory(self);
    bool fails = tutti_script_parse(self->file, text, strlen(text), &script, NULL) == TUTTI_OK &&
                 script_fails(self, script);
    tutti_script_free(script);
    free(text);
    if (!fails) return false;
    line_list old = self->best;
    self->best = self->candidate;
    self->candidate = old;
    return true;
}

/* --- Leaving lines out --- */

static bool copy_without(reducer *self, uint32_t first, uint32_t count, uint32_t also) {
    lines_clear(&self->candidate);
    for (uint32_t i = 0; i < self->best.count; i++) {
        const char *line = self->best.lines[i];
        bool left_out = (i >= first && i - first < count) || i == also;
        if (left_out && begins_with(line, "verdict")) left_out = false;
        if (!left_out && !line_add(&self->candidate, line, strlen(line)))
            return out_of_memory(self);
    }
    return self->candidate.count < self->best.count;
}

static bool leave_out_pieces(reducer *self, uint32_t piece) {
    bool any = false;
    uint32_t end = self->best.count;
    while (end > 1 && self->status == TUTTI_OK) {
        if (end > self->best.count) end = self->best.count;
        uint32_t first = end > piece + 1 ? end - piece : 1; /* the line `ranks` stays */
        if (end <= first) break;
        if (copy_without(self, first, end - first, UINT32_MAX) && try_candidate(self)) any = true;
        end = first;
    }
    return any;
}

/* The `end` of a block that begins in a line; 0: the line begins none. */
static uint32_t end_of_block(const line_list *list, uint32_t line) {
    int depth = 0;
    for (uint32_t i = line; i < list->count; i++) {
        const char *word = list->lines[i] + strspn(list->lines[i], " \t");
        bool opens = begins_with(list->lines[i], "repeat") || strcmp(word, "start") == 0;
        if (opens) depth++;
        if (strcmp(word, "end") == 0) depth--;
        if (depth == 0) return i == line ? 0 : i;
    }
    return 0;
}

/* Blocks are opened: their first and last lines go, what is inside stays. */
static bool open_blocks(reducer *self) {
    bool any = false;
    for (uint32_t i = 1; i < self->best.count && self->status == TUTTI_OK; i++) {
        uint32_t end = end_of_block(&self->best, i);
        if (end != 0 && copy_without(self, i, 1, end) && try_candidate(self)) any = true;
    }
    return any;
}

/* --- Numbers --- */

/* A line with one of its words replaced; false: it has no such word. */
static bool replace_word(const char *line, unsigned place, const char *word, char *out,
                         size_t out_bytes) {
    size_t at = strspn(line, " \t");
    for (unsigned i = 0; i < place; i++) {
        at += strcspn(line + at, " \t");
        at += strspn(line + at, " \t");
    }
    if (line[at] == '\0') return false;
    size_t bytes = strcspn(line + at, " \t");
    int length = snprintf(out, out_bytes, "%.*s%s%s", (int)at, line, word, line + at + bytes);
    return length > 0 && (size_t)length < out_bytes;
}

static uint64_t number_in(const char *line, unsigned place) {
    size_t at = strspn(line, " \t");
    for (unsigned i = 0; i < place; i++) {
        at += strcspn(line + at, " \t");
        at += strspn(line + at, " \t");
    }
    return strtoull(line + at, NULL, 10);
}

static bool try_number(reducer *self, uint32_t line, unsigned place, uint64_t number) {
    char word[24], text[1024];
    snprintf(word, sizeof(word), "%" PRIu64, number);
    if (!replace_word(self->best.lines[line], place, word, text, sizeof(text))) return false;
    if (!lines_copy(&self->candidate, &self->best)) return out_of_memory(self);
    char *copy = emu_text_copy(text);
    if (copy == NULL) return out_of_memory(self);
    free(self->candidate.lines[line]);
    self->candidate.lines[line] = copy;
    return try_candidate(self);
}

/* `repeat N` and `buffer NAME TYPE N`: as low as can be. */
static bool lower_numbers(reducer *self) {
    bool any = false;
    for (uint32_t i = 0; i < self->best.count && self->status == TUTTI_OK; i++) {
        bool repeats = begins_with(self->best.lines[i], "repeat");
        if (!repeats && !begins_with(self->best.lines[i], "buffer")) continue;
        unsigned place = repeats ? 1 : 3;
        uint64_t now = number_in(self->best.lines[i], place);
        for (uint64_t lower = 1; lower < now; lower *= 2) {
            if (!try_number(self, i, place, lower)) continue;
            any = true;
            break;
        }
    }
    return any;
}

/* --- Ranks --- */

/* Whether a line says `key` and then this rank: "to 3", "rank=3". */
static bool says_rank(const char *line, const char *key, uint64_t rank) {
    for (const char *at = strstr(line, key); at != NULL; at = strstr(at + 1, key)) {
        char *end;
        const char *number = at + strlen(key);
        if (*number < '0' || *number > '9') continue;
        if (strtoull(number, &end, 10) == rank && (*end < '0' || *end > '9')) return true;
    }
    return false;
}

static bool speaks_of_rank(const char *line, uint64_t rank) {
    static const char *const keys[] = {" to ", " from ", " root ", "rank=", "peer="};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (says_rank(line, keys[i], rank)) return true;
    return false;
}

/* The list of ranks behind `rank` or `group g =` without the last rank; false: nothing is left. */
static bool list_without(const char *line, uint64_t last, char *out, size_t out_bytes) {
    size_t bytes = 0, words = 0;
    const char *at = line + strspn(line, " \t");
    bool is_group = begins_with(line, "group");
    unsigned head = is_group ? 3 : 1, place = 0;
    for (; *at != '\0'; at += strspn(at, " \t"), place++) {
        size_t length = strcspn(at, " \t");
        char word[64], *rest;
        snprintf(word, sizeof(word), "%.*s", (int)length, at);
        at += length;
        uint64_t first = strtoull(word, &rest, 10);
        bool is_range = place >= head && *rest == '-' && rest != word;
        uint64_t to = is_range ? strtoull(rest + 1, NULL, 10) : first;
        bool numeric = place >= head && word[0] >= '0' && word[0] <= '9';
        if (numeric && first == last) continue;
        if (numeric && is_range && to >= last)
            snprintf(word, sizeof(word), "%" PRIu64 "-%" PRIu64, first, last - 1);
        if (place >= head) words++;
        int written = snprintf(out + bytes, out_bytes - bytes, "%s%s", place > 0 ? " " : "", word);
        if (written < 0 || (size_t)written >= out_bytes - bytes) return false;
        bytes += (size_t)written;
    }
    return words > 0;
}

/* The candidate is the best without its last rank. */
static bool drop_last_rank(reducer *self) {
    char text[4096];
    uint64_t last = number_in(self->best.lines[0], 1) - 1;
    bool skips = false;
    lines_clear(&self->candidate);
    snprintf(text, sizeof(text), "ranks %" PRIu64, last);
    if (!line_add(&self->candidate, text, strlen(text))) return out_of_memory(self);
    for (uint32_t i = 1; i < self->best.count; i++) {
        const char *line = self->best.lines[i];
        bool is_section = begins_with(line, "rank");
        if (begins_with(line, "verdict")) skips = false;
        bool has_list = is_section || begins_with(line, "group");
        bool kept = !has_list || list_without(line, last, text, sizeof(text));
        if (is_section) skips = !kept;
        if (!kept || skips || speaks_of_rank(line, last)) continue;
        const char *made = has_list ? text : line;
        if (!line_add(&self->candidate, made, strlen(made))) return out_of_memory(self);
    }
    return true;
}

static bool drop_ranks(reducer *self) {
    bool any = false;
    while (self->status == TUTTI_OK && begins_with(self->best.lines[0], "ranks") &&
           number_in(self->best.lines[0], 1) > 1 && drop_last_rank(self) && try_candidate(self))
        any = true;
    return any;
}

/* --- All of it --- */

static void reduce(reducer *self) {
    bool any = true;
    while (any && self->status == TUTTI_OK && self->candidate_count < CANDIDATES_MAX) {
        any = drop_ranks(self);
        for (uint32_t piece = self->best.count / 2; piece > 0; piece /= 2)
            any = leave_out_pieces(self, piece) || any;
        any = open_blocks(self) || any;
        any = lower_numbers(self) || any;
    }
}

static char *write_small(const reducer *self) {
    char *body = lines_join(&self->best);
    size_t bytes = body == NULL ? 0 : strlen(body) + strlen(self->choices) + 512;
    char *text = body == NULL ? NULL : malloc(bytes);
    if (text != NULL)
        snprintf(text, bytes,
                 "%s# Made small by tutti explore. On some schedule it ends: %s.\n"
                 "# tutti replay FILE --choices '%s'\n",
                 body, tutti_verdict_name(self->model->verdict), self->choices);
    free(body);
    return text;
}

static tutti_status check_shrink(const char *text, const tutti_explore_failure *failure,
                                 char **text_out, tutti_error *error) {
    if (text == NULL || failure == NULL || text_out == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "%s is NULL",
                               text == NULL      ? "text"
                               : failure == NULL ? "failure"
                                                 : "text_out");
    return TUTTI_OK;
}

tutti_status tutti_shrink_script(const char *file_name, const char *text, size_t text_bytes,
                                 const tutti_script_options *options,
                                 const tutti_explore_failure *failure, char **text_out,
                                 tutti_error *error) {
    static const tutti_script_options defaults = {.struct_size = sizeof defaults};
    tutti_status status = check_shrink(text, failure, text_out, error);
    if (status == TUTTI_OK) status = emu_script_options_check(options, error);
    if (status != TUTTI_OK) return status;
    reducer self = {.file = file_name != NULL ? file_name : "script",
                    .options = options != NULL ? options : &defaults,
                    .model = failure->report,
                    .choices = emu_text_copy(failure->report->choices),
                    .error = error};
    if (self.choices == NULL || !lines_split(&self.best, text, text_bytes) || self.best.count == 0)
        (void)out_of_memory(&self);
    if (self.status == TUTTI_OK) reduce(&self);
    if (self.status == TUTTI_OK && (*text_out = write_small(&self)) == NULL)
        (void)out_of_memory(&self);
    lines_clear(&self.best);
    lines_clear(&self.candidate);
    free(self.best.lines);
    free(self.candidate.lines);
    if (self.choices != NULL && self.choices[0] != '\0') free(self.choices);
    return self.status;
}
