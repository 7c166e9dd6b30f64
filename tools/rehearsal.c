/* The program behind `bazelw run //:rehearsal`: failures that people met in production are
 * rehearsed, one script each, and it shows how each ended and, for one, the whole report. */

#define _DEFAULT_SOURCE /* scandir */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/print.h"
#include "tools/script_outcome.h"
#include "tools/terminal.h"
#include "tutti/fault.h"

enum {
    PATH_BYTES = 512,
    RUNS = 3, /* the fastest counts */
};

static const char field_folder[] = "tests/scripts/field";
static const char later_folder[] = "tests/scripts/field/later";
static const char shown_in_full[] = "two_groups.tut";

/* --- Folders --- */

static int is_script(const struct dirent *entry) {
    const char *ending = strrchr(entry->d_name, '.');
    return ending && strcmp(ending, ".tut") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

typedef bool script_visitor(const char *path, const char *name);

/* Visits the scripts of a folder in the order of their names. False: some visit said so, or there
 * is no script, which must not look like success. */
static bool visit_folder(const char *folder, script_visitor *visit) {
    struct dirent **entries = NULL;
    bool good = true;
    const int count = scandir(folder, &entries, is_script, by_name);
    if (count <= 0) {
        fprintf(stderr, "%s: there are no scripts: %s\n", folder,
                count < 0 ? strerror(errno) : "the folder is empty");
        free(entries);
        return false;
    }
    for (int i = 0; i < count; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (!visit(path, entries[i]->d_name)) good = false;
        free(entries[i]);
    }
    free(entries);
    return good;
}

/* --- The table --- */

static void print_duration(int64_t ns) {
    char text[64];
    if (ns >= 10000000)
        snprintf(text, sizeof text, "%.1f ms", (double)ns / 1e6);
    else
        snprintf(text, sizeof text, "%.1f us", (double)ns / 1e3);
    printf("%10s", text);
}

static void print_verdict(const tutti_report *report, const char *detail) {
    char text[64];
    const char *name = tutti_verdict_name(report->verdict);
    if (detail[0] != '\0')
        snprintf(text, sizeof text, "%s (%s)", name, detail);
    else
        snprintf(text, sizeof text, "%s", name);
    printf("%-20s", text);
}

static void print_culprits(const tutti_report *report) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out) {
        if (report->culprit_count == 0) fputs("-", out);
        ranks_print(out, report->culprits, report->culprit_count);
        fclose(out);
    }
    printf("%-10s", text ? text : "?");
    free(text);
}

static void print_row(const script_outcome *outcome, const char *name, int64_t real_ns) {
    char virtual_time[64];
    const bool colours = terminal_has_colours(stdout);
    const tutti_report *report = outcome->report;
    terminal_print(stdout, colours, outcome->as_expected ? TERMINAL_GOOD : TERMINAL_BAD,
                   outcome->as_expected ? "ok  " : "FAIL");
    printf("  %-28.*s", (int)(strlen(name) - strlen(".tut")), name);
    print_verdict(report, script_outcome_detail(outcome));
    print_culprits(report);
    tutti_duration_format(report->virtual_ns, virtual_time, sizeof virtual_time);
    printf("%10s", virtual_time);
    print_duration(real_ns);
    fputs("\n", stdout);
}

/* The fastest of some runs; -1 when one ended differently from the first. */
static int64_t best_real_ns(const char *path, const script_outcome *first) {
    const script_settings settings = {.faults = ""};
    int64_t best_ns = first->report->real_ns;
    for (int run = 1; run < RUNS; run++) {
        script_outcome again;
        script_outcome_get(path, &settings, &again);
        const bool same = again.report && again.report->trace_hash == first->report->trace_hash;
        if (same && again.report->real_ns < best_ns) best_ns = again.report->real_ns;
        script_outcome_free(&again);
        if (!same) return -1;
    }
    return best_ns;
}

static bool show_script(const char *path, const char *name) {
    const script_settings settings = {.faults = ""};
    script_outcome outcome;
    script_outcome_get(path, &settings, &outcome);
    bool good = outcome.report && outcome.as_expected;
    if (!outcome.report) {
        text_print(stdout, outcome.error.message);
        fputs("\n", stdout);
    } else {
        const int64_t real_ns = best_real_ns(path, &outcome);
        print_row(&outcome, name, real_ns);
        if (real_ns < 0) {
            printf("      %s: two runs gave different traces\n", name);
            good = false;
        }
    }
    script_outcome_free(&outcome);
    return good;
}

/* --- What is below the table --- */

static bool show_report(void) {
    char path[PATH_BYTES];
    const script_settings settings = {.faults = ""};
    script_outcome outcome;
    snprintf(path, sizeof path, "%s/%s", field_folder, shown_in_full);
    script_outcome_get(path, &settings, &outcome);
    char *text = outcome.report ? script_outcome_report(&outcome) : NULL;
    printf("\nThe whole report of %s:\n\n%s", shown_in_full, text ? text : "there is none\n");
    const bool good = text != NULL;
    free(text);
    script_outcome_free(&outcome);
    return good;
}

/* Why a script has to wait: the first line of what the parser says, behind its place. */
static bool show_later(const char *path, const char *name) {
    const script_settings settings = {.faults = ""};
    script_outcome outcome;
    script_outcome_get(path, &settings, &outcome);
    const bool waits = !outcome.report && outcome.error.status == TUTTI_UNSUPPORTED;
    const char *message = outcome.error.message;
    const char *reason = strstr(message, ": ");
    const int bytes = (int)strcspn(reason ? reason + 2 : message, ";\n");
    if (waits)
        printf("  %-28.*s%.*s\n", (int)(strlen(name) - strlen(".tut")), name, bytes,
               reason ? reason + 2 : message);
    else
        printf("  %s: it can be run now, and belongs into %s\n", name, field_folder);
    script_outcome_free(&outcome);
    return waits;
}

int main(void) {
    puts("Failures from the field, rehearsed on an emulated cluster. Real time: the best of 3 "
         "runs.\n");
    printf("      %-28s%-20s%-10s%10s%10s\n", "script", "verdict", "culprits", "virtual", "real");
    bool good = visit_folder(field_folder, show_script);
    if (!show_report()) good = false;
    puts("\nWaiting for a later version:");
    if (!visit_folder(later_folder, show_later)) good = false;
    puts(good ? "\nEvery script ended as it must." : "\nSome script did not end as it must.");
    return output_finish(good ? EXIT_AS_EXPECTED : EXIT_OTHERWISE);
}
