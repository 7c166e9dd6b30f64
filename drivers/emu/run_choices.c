#include "drivers/emu/run_choices.h"

#include <stdlib.h>
#include <string.h>

tutti_status emu_run_choices_init(emu_run_choices *run, const char *text, bool random_schedule,
                                  uint64_t seed, tutti_error *error) {
    *run = (emu_run_choices){0};
    if (text != NULL && random_schedule)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "choices and random_schedule are both given: a schedule is either "
                               "repeated or drawn");
    if (text != NULL) {
        tutti_status status = emu_choice_record_parse(text, strlen(text), &run->given, error);
        if (status != TUTTI_OK) return status;
        emu_choices_init_replay(&run->choices, &run->given, false);
    } else if (random_schedule) {
        emu_choices_init_random(&run->choices, seed);
    } else {
        emu_choices_init_plain(&run->choices);
    }
    return TUTTI_OK;
}

void emu_run_choices_free(emu_run_choices *run) {
    emu_choices_free(&run->choices);
    emu_choice_record_free(&run->given);
}

char *emu_choices_text(const emu_choices *choices) {
    size_t bytes = emu_choice_record_format(&choices->record, NULL, 0) + 1;
    char *text = malloc(bytes);
    if (text != NULL) (void)emu_choice_record_format(&choices->record, text, bytes);
    return text;
}
