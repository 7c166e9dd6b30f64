#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/explore.h"

/* The options of an exploration, and what it leaves to be freed. */

void tutti_explore_options_init(tutti_explore_options *options) {
    memset(options, 0, sizeof(*options));
    options->struct_size = sizeof(*options);
}

/* A number from the environment; false when there is none. */
static bool read_number(const char *name, uint32_t *number_out) {
    const char *text = getenv(name);
    char *end = NULL;
    if (text == NULL || text[0] < '0' || text[0] > '9') return false;
    unsigned long number = strtoul(text, &end, 10);
    if (*end != '\0' || number > UINT32_MAX) return false;
    *number_out = (uint32_t)number;
    return true;
}

static void complete_shards(tutti_explore_options *options) {
    if (options->shard_count != 0) return;
    uint32_t index = 0, count = 0;
    options->shard_count = 1;
    options->shard_index = 0;
    if (!read_number("TEST_TOTAL_SHARDS", &count) || !read_number("TEST_SHARD_INDEX", &index))
        return;
    if (count == 0 || index >= count) return;
    options->shard_count = count;
    options->shard_index = index;
}

static tutti_status check_options(const tutti_explore_options *options, tutti_error *error) {
    if (options->struct_size != sizeof(*options))
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "options->struct_size is %" PRIu32
                               ", and this version has %zu: fill "
                               "them with tutti_explore_options_init()",
                               options->struct_size, sizeof(*options));
    if ((options->stages & ~(uint32_t)(TUTTI_EXPLORE_ALL | TUTTI_EXPLORE_FAULTS)) != 0)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "stages is 0x%" PRIx32 ": this version has the bits of 0x%x",
                               options->stages, TUTTI_EXPLORE_ALL | TUTTI_EXPLORE_FAULTS);
    if (options->shard_count != 0 && options->shard_index >= options->shard_count)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "shard_index is %" PRIu32 " of %" PRIu32 " shards: they count from "
                               "0",
                               options->shard_index, options->shard_count);
    return TUTTI_OK;
}

tutti_status emu_explore_options_complete(const tutti_explore_options *options,
                                          tutti_explore_options *full_out, tutti_error *error) {
    tutti_explore_options_init(full_out);
    if (options != NULL) {
        tutti_status status = check_options(options, error);
        if (status != TUTTI_OK) return status;
        *full_out = *options;
    }
    if (full_out->stages == 0) full_out->stages = TUTTI_EXPLORE_ALL;
    if (full_out->class_limit == 0) full_out->class_limit = TUTTI_EXPLORE_CLASSES_DEFAULT;
    if (full_out->walk_limit == 0) full_out->walk_limit = TUTTI_EXPLORE_WALKS_DEFAULT;
    if (full_out->fault_limit == 0) full_out->fault_limit = TUTTI_EXPLORE_FAULTS_DEFAULT;
    if (full_out->self_check_interval == 0)
        full_out->self_check_interval = TUTTI_EXPLORE_SELF_CHECK_DEFAULT;
    complete_shards(full_out);
    return TUTTI_OK;
}

/* The empty text is nobody's, and is not freed. */
char *emu_text_copy(const char *text) {
    if (text[0] == '\0') return (char *)(uintptr_t) "";
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    if (copy != NULL) memcpy(copy, text, bytes);
    return copy;
}

/* Texts are "" (nobody's) or copies. */
static void free_text(const char *text) {
    if (text != NULL && text[0] != '\0') free((void *)(uintptr_t)text);
}

void tutti_exploration_free(tutti_exploration *exploration) {
    if (exploration == NULL) return;
    for (uint32_t i = 0; i < exploration->failure_count; i++) {
        const tutti_explore_failure *failure = &exploration->failures[i];
        tutti_report_free(failure->report);
        free_text(failure->found_choices);
        free_text(failure->critical);
        free_text(failure->faults);
    }
    for (uint32_t i = 0; i < exploration->stage_count; i++)
        free_text(exploration->stages[i].note);
    free((void *)(uintptr_t)exploration->failures);
    free((void *)(uintptr_t)exploration->stages);
    free(exploration);
}
