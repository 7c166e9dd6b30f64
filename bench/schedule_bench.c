/* Whole schedules per second: 4 ranks, 10 all_reduce each, on threads, on fibers and as a script,
 * and beside them the floor: as many bare handovers as the schedule has. One process, alternating,
 * medians.
 *
 *   schedule_bench [SECONDS [RANKS [ALL_REDUCES]]]      1, 4 and 10 when not given
 */
#define _GNU_SOURCE /* clock_gettime */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drivers/emu/baton.h"
#include "drivers/emu/fibers.h"
#include "drivers/emu/rehearsal.h"
#include "drivers/emu/script_run.h"

enum { ELEMENTS = 8, ROUNDS = 5, RANKS_MAX = 64, ALL_REDUCES_MAX = 100000 };

typedef struct bench {
    uint32_t ranks;
    int all_reduces;
    double seconds; /* of each measurement, divided among the rounds */
    emu_rehearsal rehearsal;
    emu_thread_pool *pool;
    emu_fiber_set *fibers;
    tutti_script *script;
    uint64_t handovers; /* of one schedule */
} bench;

static double now_ns(void) {
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (double)moment.tv_sec * 1e9 + (double)moment.tv_nsec;
}

static void stop(const char *what) {
    fprintf(stderr, "schedule_bench: %s\n", what);
    exit(1);
}

/* --- The program --- */

static void rank_main(tutti_rank *self, void *argument) {
    const int *all_reduces = argument;
    tutti_device *device = tutti_rank_device(self);
    tutti_comm *comm = NULL;
    tutti_stream *stream = NULL;
    tutti_buffer buffer;
    tutti_data_type type;
    size_t count = 0;
    const size_t bytes = ELEMENTS * sizeof(float);
    if (tutti_rank_join_world(self, NULL, &comm, NULL) != TUTTI_OK ||
        tutti_stream_create(device, NULL, &stream, NULL) != TUTTI_OK ||
        tutti_memory_allocate(device, bytes, &buffer, NULL) != TUTTI_OK ||
        tutti_data_type_of(device, TUTTI_F32, bytes, &type, &count, NULL) != TUTTI_OK ||
        tutti_fill(buffer, 0, stream, NULL) != TUTTI_OK)
        return;
    for (int i = 0; i < *all_reduces; i++) {
        (void)tutti_all_reduce(comm, buffer, buffer, type, count, TUTTI_SUM, stream, NULL);
        (void)tutti_stream_synchronize(stream, NULL);
    }
    (void)tutti_leave(comm, NULL);
    (void)tutti_memory_free(device, buffer, NULL);
    tutti_stream_destroy(stream);
}

static tutti_script *make_script(const bench *self) {
    char text[256];
    tutti_script *script = NULL;
    int bytes = snprintf(text, sizeof text,
                         "ranks %" PRIu32 "\nbuffer x f32 %d = 0\nrank *\n join world\n repeat %d\n"
                         "  all_reduce x sum\n  sync comm\n end\n leave world\n",
                         self->ranks, ELEMENTS, self->all_reduces);
    if (tutti_script_parse("bench", text, (size_t)bytes, &script, NULL) != TUTTI_OK)
        stop("the script cannot be read");
    return script;
}

/* --- Schedules --- */

static void check(tutti_status status, tutti_report *report) {
    bool well = status == TUTTI_OK && report->verdict == TUTTI_VERDICT_OK;
    if (status == TUTTI_OK) tutti_report_free(report);
    if (!well) stop("a run did not end well");
}

static void run_on_threads(bench *self) {
    tutti_report *report = NULL;
    tutti_status status = emu_rehearse_on_threads(&self->rehearsal, self->pool, &report, NULL);
    check(status, report);
}

static void run_on_fibers(bench *self) {
    tutti_report *report = NULL;
    tutti_status status =
        emu_rehearse_on_fibers(&self->rehearsal, self->pool, &self->fibers, &report, NULL);
    check(status, report);
}

static void run_as_data(bench *self) {
    tutti_report *report = NULL;
    const tutti_script_options options = {.struct_size = sizeof options, .faults = ""};
    tutti_status status = tutti_script_run(self->script, &options, &report, NULL);
    check(status, report);
}

/* How often the schedule goes on with another rank than the last. */
static uint64_t count_handovers(bench *self) {
    emu_step_log steps = {0};
    uint64_t count = 0;
    emu_step_log_reset(&steps, self->ranks);
    self->rehearsal.steps = &steps;
    run_on_threads(self);
    self->rehearsal.steps = NULL;
    for (uint32_t i = 1; i < steps.step_count; i++)
        count += steps.steps[i].host != steps.steps[i - 1].host;
    emu_step_log_free(&steps);
    return count;
}

/* --- The floor: bare handovers in a ring --- */

typedef struct ring_link {
    bench *bench;
    emu_baton *batons;
    emu_fiber_set *fibers;
    uint32_t place;
    uint64_t rounds;
} ring_link;

static void hand_baton_on(void *argument) {
    const ring_link *self = argument;
    uint32_t count = self->bench->ranks;
    for (uint64_t round = 0; round < self->rounds; round++) {
        emu_baton_take(&self->batons[self->place]);
        bool last = round + 1 == self->rounds && self->place + 1 == count;
        emu_baton_give(&self->batons[last ? count : (self->place + 1) % count]);
    }
}

static void switch_on(void *argument) {
    const ring_link *self = argument;
    uint32_t count = self->bench->ranks;
    int32_t next = (int32_t)((self->place + 1) % count);
    for (uint64_t round = 1; round < self->rounds; round++)
        emu_fiber_switch(self->fibers, (int32_t)self->place, next);
    emu_fiber_end(self->fibers, self->place, self->place + 1 == count ? EMU_FIBER_NONE : next);
}

/* Nanoseconds of as many handovers as a schedule has. */
static double floor_ns(bench *self, bool on_fibers) {
    ring_link links[RANKS_MAX];
    emu_baton batons[RANKS_MAX + 1];
    uint64_t rounds = on_fibers ? 100000 : 5000;
    memset(batons, 0, sizeof batons);
    for (uint32_t i = 0; i < self->ranks; i++)
        links[i] = (ring_link){self, batons, self->fibers, i, rounds};
    double start_ns = now_ns();
    for (uint32_t i = 0; i < self->ranks && on_fibers; i++)
        emu_fiber_assign(self->fibers, i, switch_on, &links[i]);
    for (uint32_t i = 0; i < self->ranks && !on_fibers; i++) {
        emu_thread_pool_assign(self->pool, i, hand_baton_on, &links[i]);
        emu_thread_pool_start(self->pool, i);
    }
    if (on_fibers)
        emu_fiber_switch(self->fibers, EMU_FIBER_NONE, 0);
    else
        emu_baton_give(&batons[0]);
    if (!on_fibers) emu_baton_take(&batons[self->ranks]);
    double handovers = (double)rounds * self->ranks;
    return (now_ns() - start_ns) / handovers * (double)self->handovers;
}

/* --- Measuring --- */

static double schedule_ns(bench *self, void (*run)(bench *self)) {
    double start_ns = now_ns(), until_ns = start_ns + self->seconds * 1e9 / ROUNDS, end_ns;
    uint64_t count = 0;
    do {
        run(self);
        count++;
        end_ns = now_ns();
    } while (end_ns < until_ns);
    return (end_ns - start_ns) / (double)count;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values) {
    qsort(values, ROUNDS, sizeof *values, ascending);
    return values[ROUNDS / 2];
}

static void print_line(const char *name, double ns, double floor) {
    printf("%-10s %12.0f schedules/s %10.2f us each", name, 1e9 / ns, ns / 1e3);
    if (floor > 0) printf(", the floor is %.2f us: %.0f %% of it", floor / 1e3, 100 * floor / ns);
    printf("\n");
}

static void measure(bench *self) {
    double threads[ROUNDS], fibers[ROUNDS], data[ROUNDS], batons[ROUNDS], switches[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        threads[round] = schedule_ns(self, run_on_threads);
        batons[round] = floor_ns(self, false);
        fibers[round] = schedule_ns(self, run_on_fibers);
        switches[round] = floor_ns(self, true);
        data[round] = schedule_ns(self, run_as_data);
    }
    printf("%" PRIu32 " ranks, %d all_reduce each: %" PRIu64 " handovers a schedule\n", self->ranks,
           self->all_reduces, self->handovers);
    print_line("threads", median(threads), median(batons));
    print_line("fibers", median(fibers), median(switches));
    print_line("script", median(data), 0);
}

int main(int argc, char **argv) {
    emu_choices choices;
    bench self = {.seconds = argc > 1 ? strtod(argv[1], NULL) : 1,
                  .ranks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 4,
                  .all_reduces = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 10};
    if (self.ranks < 1 || self.ranks > RANKS_MAX || self.all_reduces < 1 ||
        self.all_reduces > ALL_REDUCES_MAX || !(self.seconds > 0 && self.seconds < 3600))
        stop("usage: schedule_bench [SECONDS [RANKS (1 to 64) [ALL_REDUCES (1 to 100000)]]]");
    tutti_rehearsal_options options;
    const emu_thread_pool_options pool_options = {.one_cpu = true};
    tutti_rehearsal_options_init(&options, self.ranks);
    options.faults = "";
    emu_choices_init_plain(&choices);
    self.rehearsal =
        (emu_rehearsal){.function = rank_main, .argument = &self.all_reduces, .choices = &choices};
    if (emu_options_complete(&options, true, &self.rehearsal.options, NULL) != TUTTI_OK ||
        emu_thread_pool_create(&pool_options, &self.pool, NULL) != TUTTI_OK)
        stop("it cannot be set up");
    self.script = make_script(&self);
    self.handovers = count_handovers(&self);
    run_on_fibers(&self);
    measure(&self);
    tutti_script_free(self.script);
    emu_thread_pool_destroy(self.pool);
    emu_fiber_set_destroy(self.fibers);
    emu_choices_free(&choices);
    return 0;
}
