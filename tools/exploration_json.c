#include "tools/exploration_json.h"

#include <stdlib.h>

#include "tools/report_json.h"

static json_t *stage_json(const tutti_explore_stage *stage) {
    json_t *object = put(json_object(), "name", text_json(stage->name));
    object = put(object, "schedules", json_integer((json_int_t)stage->run_count));
    object = put(object, "redundant", json_integer((json_int_t)stage->redundant_count));
    object = put(object, "complete", json_boolean(stage->complete));
    return put(object, "note", text_json(stage->note));
}

static json_t *failure_json(const tutti_explore_failure *failure) {
    json_t *object = put_report(json_object(), failure->report);
    object = put(object, "stage", text_json(failure->stage));
    object = put(object, "times", json_integer((json_int_t)failure->times));
    object = put(object, "found_choices", text_json(failure->found_choices));
    object = put(object, "faults", text_json(failure->faults));
    object = put(object, "critical", text_json(failure->critical));
    object = put(object, "hazard", json_boolean(failure->is_hazard));
    return put(object, "setting", text_json(failure->setting));
}

static json_t *exploration_json(const char *file, const tutti_exploration *exploration) {
    json_t *stages = json_array(), *failures = json_array();
    for (uint32_t i = 0; stages && i < exploration->stage_count; i++)
        stages = append(stages, stage_json(&exploration->stages[i]));
    for (uint32_t i = 0; failures && i < exploration->failure_count; i++)
        failures = append(failures, failure_json(&exploration->failures[i]));
    json_t *object = put(json_object(), "file", text_json(file));
    object = put(object, "schedules", json_integer((json_int_t)exploration->run_count));
    object = put(object, "complete", json_boolean(exploration->complete));
    object = put(object, "stages", stages);
    return put(object, "failures", failures);
}

bool exploration_print_json(FILE *out, const char *file, const tutti_exploration *exploration) {
    json_t *object = exploration_json(file, exploration);
    char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (!line) return false;
    fprintf(out, "%s\n", line); /* output_finish() sees whether it arrived */
    free(line);
    return true;
}
