/* What the detector of races costs: per access, and on a whole rehearsal beside one without it.
 *
 *   ./bazelw run -c opt //bench:races_bench [-- RANKS STEPS]
 */

#define _GNU_SOURCE /* clock_gettime */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drivers/emu/run_choices.h"
#include "drivers/emu/script_run.h"
#include "drivers/emu/shadow.h"

enum {
    RANKS_DEFAULT = 1000,
    STEPS_DEFAULT = 100,
    RUNS = 5, /* the fastest counts */
    TOUCHES = 2000000,
    CHUNKS = 64,
    CHUNK_BYTES = 4096,
};

static double now_ns(void) {
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (double)moment.tv_sec * 1e9 + (double)moment.tv_nsec;
}

/* --- Accesses --- */

typedef struct setting {
    emu_strands strands;
    emu_domain domain;
    emu_strand compute, comm;
    emu_shadows shadows;
    emu_shadow shadow;
    long clashes;
} setting;

static void count_clash(void *context, const emu_clash *clash) {
    setting *all = context;
    (void)clash;
    all->clashes++;
}

static void touch(setting *all, emu_strand *strand, size_t begin, size_t end, bool writes) {
    emu_strand_tick(&all->strands, strand, 1);
    const emu_touching touching = {
        .access = {.strand = strand, .time = emu_strand_now(strand), .line = writes ? 1 : 2},
        .begin = begin,
        .end = end,
        .writes = writes,
        .strands = &all->strands,
        .asks = strand,
        .clash = count_clash,
        .context = all};
    emu_shadow_touch(&all->shadows, &all->shadow, &touching);
}

static void learn(setting *all, emu_strand *strand, emu_strand *from) {
    emu_moment *moment = emu_strand_moment(&all->strands, from);
    emu_strand_learn(&all->strands, strand, moment);
    emu_moment_release(&all->strands, moment);
}

/* A gradient is computed in chunks on one stream and reduced as a whole on another. */
static double access_ns(int chunks) {
    setting all = {0};
    emu_strands_init(&all.strands, 1);
    emu_domain_init(&all.domain, 0);
    emu_strand_init(&all.strands, &all.compute, &all.domain);
    emu_strand_init(&all.strands, &all.comm, &all.domain);
    const emu_access none = {.strand = &all.compute, .time = emu_strand_now(&all.compute)};
    const size_t bytes = (size_t)chunks * CHUNK_BYTES;
    emu_shadow_init(&all.shadow, bytes, &none);
    long touches = 0;
    const double start_ns = now_ns();
    while (touches < TOUCHES) {
        for (int chunk = 0; chunk < chunks; chunk++)
            touch(&all, &all.compute, (size_t)chunk * CHUNK_BYTES,
                  (size_t)(chunk + 1) * CHUNK_BYTES, true);
        learn(&all, &all.comm, &all.compute);
        touch(&all, &all.comm, 0, bytes, false);
        touch(&all, &all.comm, 0, bytes, true);
        learn(&all, &all.compute, &all.comm);
        touches += chunks + 2;
    }
    const double ns = (now_ns() - start_ns) / (double)touches;
    const bool good = all.clashes == 0 && !all.shadows.out_of_memory && !all.strands.out_of_memory;
    emu_shadow_free(&all.shadows, &all.shadow);
    emu_shadows_free(&all.shadows);
    emu_domain_free(&all.domain);
    emu_strands_free(&all.strands);
    return good ? ns : -1;
}

/* --- Whole rehearsals --- */

typedef struct program {
    const char *name;
    const char *step;
} program;

static const program programs[] = {
    {"all_reduce, wait", "    all_reduce x max\n    sync\n"},
    {"kernel, all_reduce, kernel",
     "    kernel reads w writes x on compute\n    record ready on compute\n    wait ready on comm\n"
     "    all_reduce x max\n    record reduced on comm\n    wait reduced on compute\n"
     "    kernel reads x writes w on compute\n    sync\n"},
};

static emu_script *parse(long ranks, long steps, const char *step) {
    char text[1024];
    tutti_error error;
    emu_script *script = NULL;
    snprintf(text, sizeof text,
             "ranks %ld\nbuffer x f32 8 = 1\nbuffer w f32 8 = 1\nrank *\n  repeat %ld\n%s  end\n",
             ranks, steps, step);
    if (emu_script_parse(text, strlen(text), "bench", &script, &error) == TUTTI_OK) return script;
    fprintf(stderr, "races_bench: %s\n", error.message);
    return NULL;
}

/* The real time of a run, in nanoseconds; -1 when it did not end well. */
static double run_once(const emu_script *script, bool threads, bool races_off) {
    tutti_error error;
    tutti_report *report = NULL;
    const tutti_script_options options = {.struct_size = sizeof options, .faults = ""};
    emu_run_choices chosen;
    tutti_status status = emu_run_choices_init(&chosen, NULL, false, 0, &error);
    if (status != TUTTI_OK) return -1;
    emu_config config = emu_script_config(script, &options, NULL, NULL);
    config.choices = &chosen.choices;
    config.races_off = races_off;
    status = threads ? emu_script_run_on_threads(script, &options, &config, &report, &error)
                     : emu_script_run_as_data(script, &options, &config, &report, &error);
    emu_run_choices_free(&chosen);
    if (status != TUTTI_OK) {
        fprintf(stderr, "races_bench: %s\n", error.message);
        return -1;
    }
    const double ns = report->verdict == TUTTI_VERDICT_OK ? (double)report->real_ns : -1;
    tutti_report_free(report);
    return ns;
}

static bool compare(const program *of, long ranks, long steps, bool threads) {
    double best[2] = {-1, -1};
    emu_script *script = parse(ranks, steps, of->step);
    if (script == NULL) return false;
    /* In turn, so that a machine that slows down slows both. */
    for (int run = 0; run < 2 * RUNS; run++) {
        const int off = run % 2;
        const double ns = run_once(script, threads, off != 0);
        if (ns >= 0 && (best[off] < 0 || ns < best[off])) best[off] = ns;
    }
    emu_script_free(script);
    if (best[0] < 0 || best[1] < 0) return false;
    const double parts = (double)ranks * (double)steps * 1e3;
    printf("  %-28s %-7s %8.3f %8.3f %6.2f\n", of->name, threads ? "threads" : "data",
           best[1] / parts, best[0] / parts, best[0] / best[1]);
    return true;
}

int main(int argument_count, char **arguments) {
    const long ranks = argument_count > 1 ? strtol(arguments[1], NULL, 10) : RANKS_DEFAULT;
    const long steps = argument_count > 2 ? strtol(arguments[2], NULL, 10) : STEPS_DEFAULT;
    const double whole_ns = access_ns(1), chunks_ns = access_ns(CHUNKS);
    if (whole_ns < 0 || chunks_ns < 0) return EXIT_FAILURE;
    printf("an access, two streams that wait for each other\n");
    printf("  of a whole buffer            %8.1f ns\n", whole_ns);
    printf("  %d chunks, then all of it    %8.1f ns\n", CHUNKS, chunks_ns);
    printf("rehearsals of %ld ranks, %ld steps, best of %d: us per rank and step\n", ranks, steps,
           RUNS);
    printf("                                       without     with  ratio\n");
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (!compare(&programs[i], ranks, steps, false)) return EXIT_FAILURE;
    return compare(&programs[0], ranks, steps, true) ? EXIT_SUCCESS : EXIT_FAILURE;
}
