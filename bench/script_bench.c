/* What a rank costs as a script: memory per rank, and time per rank and all_reduce.
 *
 *   ./bazelw run -c opt //bench:script_bench [-- RANKS ALL_REDUCES]
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tutti/script.h"

enum {
    RANKS_DEFAULT = 10000,
    ALL_REDUCES_DEFAULT = 100,
    RUNS = 3, /* the fastest counts */
};

/* The process's largest resident memory so far. getrusage() would count what the launching process
 * had before exec. */
static long peak_memory_kib(void) {
    char line[256];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    if (status == NULL) return 0;
    while (fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmHWM: %ld", &kib) == 1) break;
    fclose(status);
    return kib;
}

static tutti_script *program(long ranks, long all_reduces) {
    char text[256];
    tutti_error error;
    tutti_script *script = NULL;
    snprintf(text, sizeof text,
             "ranks %ld\n"
             "buffer x f32 8 = 1\n"
             "rank *\n"
             "  repeat %ld\n"
             "    all_reduce x max\n"
             "    sync\n"
             "  end\n"
             "  expect x = 1\n",
             ranks, all_reduces);
    if (tutti_script_parse("bench", text, strlen(text), &script, &error) == TUTTI_OK) return script;
    fprintf(stderr, "%s\n", error.message);
    return NULL;
}

/* The real time of one run, in nanoseconds; -1 when it did not end well. */
static int64_t run_once(const tutti_script *script) {
    tutti_error error;
    tutti_report *report = NULL;
    const tutti_script_options options = {.struct_size = sizeof options, .faults = ""};
    if (tutti_script_run(script, &options, &report, &error) != TUTTI_OK) {
        fprintf(stderr, "%s\n", error.message);
        return -1;
    }
    int64_t real_ns = report->verdict == TUTTI_VERDICT_OK ? report->real_ns : -1;
    tutti_report_free(report);
    return real_ns;
}

int main(int argument_count, char **arguments) {
    long ranks = argument_count > 1 ? strtol(arguments[1], NULL, 10) : RANKS_DEFAULT;
    long all_reduces = argument_count > 2 ? strtol(arguments[2], NULL, 10) : ALL_REDUCES_DEFAULT;
    tutti_script *script = program(ranks, all_reduces);
    if (script == NULL) return EXIT_FAILURE;
    long before_kib = peak_memory_kib();
    int64_t best_ns = INT64_MAX;
    for (int run = 0; run < RUNS; run++) {
        int64_t real_ns = run_once(script);
        if (real_ns < 0) return EXIT_FAILURE;
        if (real_ns < best_ns) best_ns = real_ns;
    }
    double operations = (double)ranks * (double)all_reduces;
    double rank_bytes = (double)(peak_memory_kib() - before_kib) * 1024 / (double)ranks;
    printf("script executor, %ld ranks, %ld all_reduce of 8 f32 with a wait each, best of %d\n",
           ranks, all_reduces, RUNS);
    printf("  time    %8.3f us per rank and all_reduce\n", (double)best_ns / 1e3 / operations);
    printf("  memory  %8.0f bytes per rank\n", rank_bytes);
    tutti_script_free(script);
    return EXIT_SUCCESS;
}
