#include "tools/report_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text whose bytes are not all UTF-8: those that are not become U+FFFD. */
static json_t *repaired_text(const char *text) {
    static const char replacement[] = "\xEF\xBF\xBD";
    enum { SEQUENCE_BYTES_MAX = 4 };
    char *repaired = malloc(strlen(text) * strlen(replacement) + 1);
    char *end = repaired;
    while (repaired && *text) {
        json_t *valid = NULL;
        size_t bytes = 0;
        while (!valid && bytes < SEQUENCE_BYTES_MAX && text[bytes])
            valid = json_stringn(text, ++bytes);
        const char *piece = valid ? text : replacement;
        const size_t piece_bytes = valid ? bytes : strlen(replacement);
        memcpy(end, piece, piece_bytes);
        end += piece_bytes;
        text += valid ? bytes : 1;
        json_decref(valid);
    }
    json_t *string = repaired ? json_stringn(repaired, (size_t)(end - repaired)) : NULL;
    free(repaired);
    return string;
}

json_t *text_json(const char *text) {
    json_t *string = json_string(text ? text : "");
    return string ? string : repaired_text(text);
}

json_t *put(json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) == 0) return object;
    json_decref(object);
    return NULL;
}

json_t *append(json_t *array, json_t *value) {
    if (json_array_append_new(array, value) == 0) return array;
    json_decref(array);
    return NULL;
}

json_t *ranks_json(const int32_t *ranks, uint32_t count) {
    json_t *array = json_array();
    for (uint32_t i = 0; array && i < count; i++)
        array = append(array, json_integer(ranks[i]));
    return array;
}

static json_t *finding_json(const tutti_finding *finding) {
    json_t *object = json_object();
    object = put(object, "kind", text_json(tutti_verdict_name(finding->kind)));
    object = put(object, "detail", text_json(finding->detail));
    object = put(object, "ranks", ranks_json(finding->ranks, finding->rank_count));
    object = put(object, "text", text_json(finding->text));
    object = put(object, "note", json_boolean(finding->is_note));
    return put(object, "follows",
               finding->follows >= 0 ? json_integer(finding->follows) : json_null());
}

static json_t *findings_json(const tutti_report *report) {
    json_t *array = json_array();
    for (uint32_t i = 0; array && i < report->finding_count; i++)
        array = append(array, finding_json(&report->findings[i]));
    return array;
}

json_t *put_report(json_t *object, const tutti_report *report) {
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, report->trace_hash);
    object = put(object, "verdict", text_json(tutti_verdict_name(report->verdict)));
    object = put(object, "culprits", ranks_json(report->culprits, report->culprit_count));
    object = put(object, "findings", findings_json(report));
    object = put(object, "findings_dropped", json_integer(report->findings_dropped));
    object = put(object, "choices", text_json(report->choices));
    object = put(object, "trace_hash", text_json(hash));
    object = put(object, "virtual_ns", json_integer(report->virtual_ns));
    object = put(object, "unfired", text_json(report->faults_unfired));
    return put(object, "repeat", text_json(report->repeat));
}
