#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tutti/explore.h"

/* An exploration as text. */

typedef struct text_out {
    char *text;
    size_t room, bytes;
} text_out;

static void put(text_out *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (out->bytes + 1 < out->room) out->text[out->bytes] = *text;
        out->bytes++;
    }
}

static void put_number(text_out *out, uint64_t number) {
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRIu64, number);
    put(out, digits);
}

static void put_stage(text_out *out, const tutti_explore_stage *stage) {
    put(out, "stage     ");
    put(out, stage->name);
    put(out, ": ");
    put_number(out, stage->run_count);
    put(out, stage->run_count == 1 ? " schedule" : " schedules");
    if (stage->note[0] != '\0') put(out, "; ");
    put(out, stage->note);
    if (stage->redundant_count > 0) {
        put(out, "; ");
        put_number(out, stage->redundant_count);
        put(out, " cut short, since they repeat a class");
    }
    put(out, "\n");
}

static void put_report(text_out *out, const tutti_report *report) {
    size_t bytes = tutti_report_format(report, NULL, 0) + 1;
    char *text = malloc(bytes);
    if (text == NULL) return;
    (void)tutti_report_format(report, text, bytes);
    put(out, text);
    free(text);
}

static void put_failure(text_out *out, const tutti_explore_failure *failure) {
    put(out, failure->is_hazard ? "\nhazard    " : "\nfailure   ");
    put(out, tutti_verdict_name(failure->report->verdict));
    put(out, ", found by ");
    put(out, failure->stage);
    if (failure->times > 1) {
        put(out, ", ");
        put_number(out, failure->times);
        put(out, " times");
    }
    put(out, "\n");
    if (failure->is_hazard) {
        put(out, "          only with ");
        put(out, failure->setting);
        put(out, ", which the program does not ask for\n");
    }
    if (failure->faults[0] != '\0') {
        put(out, "fault     ");
        put(out, failure->faults);
        put(out, "\n");
    }
    if (failure->critical[0] != '\0') {
        put(out, "critical  ");
        put(out, failure->critical);
        put(out, "\n");
    }
    put_report(out, failure->report);
}

static void put_summary(text_out *out, const tutti_exploration *exploration) {
    uint32_t failures = exploration->failure_count - exploration->hazard_count;
    put(out, "explored  ");
    put_number(out, exploration->run_count);
    put(out, exploration->run_count == 1 ? " schedule, " : " schedules, ");
    put_number(out, failures);
    put(out, failures == 1 ? " failure" : " failures");
    if (exploration->hazard_count > 0) {
        put(out, ", ");
        put_number(out, exploration->hazard_count);
        put(out, exploration->hazard_count == 1 ? " hazard" : " hazards");
    }
    if (exploration->complete) put(out, "; every class of schedules was run");
    if (exploration->was_stopped) put(out, "; stopped before the end");
    if (exploration->failures_dropped > 0) {
        put(out, "; ");
        put_number(out, exploration->failures_dropped);
        put(out, " more that differ from these were not kept");
    }
    put(out, "\n");
}

size_t tutti_exploration_format(const tutti_exploration *exploration, char *text,
                                size_t text_bytes) {
    text_out out = {text, text_bytes, 0};
    put_summary(&out, exploration);
    for (uint32_t i = 0; i < exploration->stage_count; i++)
        put_stage(&out, &exploration->stages[i]);
    for (uint32_t i = 0; i < exploration->failure_count; i++)
        put_failure(&out, &exploration->failures[i]);
    if (text_bytes > 0) text[out.bytes < text_bytes ? out.bytes : text_bytes - 1] = '\0';
    return out.bytes;
}
