#include "tools/outcome_json.h"

#include <stdlib.h>

#include "tools/report_json.h"

static json_t *expected_json(const tutti_script *script) {
    const int32_t *culprits = NULL;
    uint32_t culprit_count = 0;
    const tutti_verdict verdict = tutti_script_expected(script, &culprits, &culprit_count);
    json_t *object = put(json_object(), "verdict", text_json(tutti_verdict_name(verdict)));
    return put(object, "culprits", ranks_json(culprits, culprit_count));
}

static json_t *error_json(const tutti_error *error) {
    const int32_t line = error->place.line;
    json_t *object = put(json_object(), "status", text_json(tutti_status_name(error->status)));
    object = put(object, "message", text_json(error->message));
    return put(object, "line", line > 0 ? json_integer(line) : json_null());
}

static json_t *outcome_json(const script_outcome *outcome) {
    json_t *object = put(json_object(), "file", text_json(outcome->file));
    if (outcome->report)
        object = put_report(object, outcome->report);
    else
        object = put(object, "verdict", json_null());
    if (outcome->script) object = put(object, "expected", expected_json(outcome->script));
    object = put(object, "as_expected", json_boolean(outcome->as_expected));
    if (outcome->folder) object = put(object, "report_folder", text_json(outcome->folder));
    if (!outcome->report) object = put(object, "error", error_json(&outcome->error));
    return object;
}

bool outcome_print_json(FILE *out, const script_outcome *outcome) {
    json_t *object = outcome_json(outcome);
    char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (!line) return false;
    fprintf(out, "%s\n", line); /* output_finish() sees whether it arrived */
    free(line);
    return true;
}
