/* What a rehearsal on threads costs: memory per rank, time per rank and all_reduce, and beside it
 * the bare cost of handing over from one thread to the next.
 *
 *   rehearsal_bench [RANKS [ALL_REDUCES]]      1024 and 100 when not given
 */
#define _GNU_SOURCE /* clock_gettime, getrusage */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "drivers/emu/baton.h"
#include "drivers/emu/thread_pool.h"
#include "tutti/emu.h"

enum {
    ELEMENTS = 8,
    RANKS_MAX = 30000, /* a process has few more threads */
    ALL_REDUCES_MAX = 1000000,
    SWITCHES = 200000, /* of the bare handover, in all */
};

static double now_ns(void) {
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (double)moment.tv_sec * 1e9 + (double)moment.tv_nsec;
}

static double peak_bytes(void) {
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

/* --- A rehearsal -------------------------------------------------------------------------------*/

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
        tutti_fill(buffer, 0, stream, NULL) != TUTTI_OK) {
        tutti_rank_wrong(self, "the benchmark could not set itself up");
        return;
    }
    for (int i = 0; i < *all_reduces; i++) {
        tutti_status status =
            tutti_all_reduce(comm, buffer, buffer, type, count, TUTTI_SUM, stream, NULL);
        if (status == TUTTI_OK) status = tutti_stream_synchronize(stream, NULL);
        if (status != TUTTI_OK) tutti_rank_wrong(self, "an all_reduce failed");
    }
    (void)tutti_leave(comm, NULL);
}

/* The time of one rehearsal, without making its report; negative when it did not work. */
static double rehearse(uint32_t ranks, int all_reduces) {
    tutti_rehearsal_options options;
    tutti_report *report = NULL;
    tutti_error error;
    tutti_rehearsal_options_init(&options, ranks);
    options.faults = "";
    if (tutti_rehearse(&options, rank_main, &all_reduces, &report, &error) != TUTTI_OK) {
        fprintf(stderr, "rehearsal_bench: %s\n", error.message);
        return -1;
    }
    double real_ns = report->verdict == TUTTI_VERDICT_OK ? (double)report->real_ns : -1;
    if (real_ns < 0) fprintf(stderr, "rehearsal_bench: the run was not ok\n");
    tutti_report_free(report);
    return real_ns;
}

/* --- The bare handover -------------------------------------------------------------------------*/

typedef struct ring {
    emu_baton *batons; /* one of each thread, and the last is the caller's */
    uint32_t count;
    int rounds;
} ring;

typedef struct link {
    ring *ring;
    uint32_t place;
} link_of_ring;

static void hand_on(void *argument) {
    const link_of_ring *self = argument;
    ring *all = self->ring;
    for (int round = 0; round < all->rounds; round++) {
        emu_baton_take(&all->batons[self->place]);
        bool last = round + 1 == all->rounds && self->place + 1 == all->count;
        emu_baton_give(&all->batons[last ? all->count : (self->place + 1) % all->count]);
    }
}

/* Nanoseconds of each handover in a ring; negative when there are no threads. */
static double measure_ring(uint32_t count, bool one_cpu) {
    const emu_thread_pool_options options = {.one_cpu = one_cpu};
    ring all = {calloc(count + 1, sizeof(emu_baton)), count, SWITCHES / (int)count + 1};
    link_of_ring *links = calloc(count, sizeof(*links));
    emu_thread_pool *pool = NULL;
    double ns = -1;
    if (all.batons != NULL && links != NULL &&
        emu_thread_pool_create(&options, &pool, NULL) == TUTTI_OK &&
        emu_thread_pool_reserve(pool, count, NULL) == TUTTI_OK) {
        for (uint32_t i = 0; i < count; i++) {
            links[i] = (link_of_ring){&all, i};
            emu_thread_pool_assign(pool, i, hand_on, &links[i]);
            emu_thread_pool_start(pool, i);
        }
        double start_ns = now_ns();
        emu_baton_give(&all.batons[0]);
        emu_baton_take(&all.batons[count]);
        ns = (now_ns() - start_ns) / ((double)all.rounds * count);
    }
    emu_thread_pool_destroy(pool);
    free(links);
    free(all.batons);
    return ns;
}

/* --- The program -------------------------------------------------------------------------------*/

static bool read_count(const char *text, long most, long *count_out) {
    char *end = NULL;
    long count = strtol(text, &end, 10);
    if (end == text || *end != '\0' || count < 1 || count > most) return false;
    *count_out = count;
    return true;
}

static int measure(uint32_t ranks, int all_reduces) {
    double bytes_before = peak_bytes();
    double empty_ns = rehearse(ranks, 0);
    double whole_ns = empty_ns < 0 ? -1 : rehearse(ranks, all_reduces);
    if (whole_ns < 0) return 1;
    double bytes = (peak_bytes() - bytes_before) / ranks;
    double operation_ns = (whole_ns - empty_ns) / ((double)ranks * all_reduces);
    double pinned_ns = measure_ring(ranks, true), free_ns = measure_ring(ranks, false);
    if (pinned_ns < 0 || free_ns < 0) return 1;
    printf("%" PRIu32 " ranks x %d all_reduces\n", ranks, all_reduces);
    printf("memory per rank            %8.1f KiB\n", bytes / 1024);
    printf("start and end of a rank    %8.2f us\n", empty_ns / ranks / 1000);
    printf("rank and all_reduce        %8.2f us\n", operation_ns / 1000);
    printf("bare handover, one CPU     %8.2f us    %.1f of them in an all_reduce\n",
           pinned_ns / 1000, operation_ns / pinned_ns);
    printf("bare handover, any CPU     %8.2f us\n", free_ns / 1000);
    return 0;
}

int main(int argument_count, char **arguments) {
    long ranks = 1024, all_reduces = 100;
    bool good = argument_count <= 3;
    if (good && argument_count > 1) good = read_count(arguments[1], RANKS_MAX, &ranks);
    if (good && argument_count > 2) good = read_count(arguments[2], ALL_REDUCES_MAX, &all_reduces);
    if (!good) {
        fprintf(stderr, "usage: rehearsal_bench [RANKS (1-%d) [ALL_REDUCES (1-%d)]]\n", RANKS_MAX,
                ALL_REDUCES_MAX);
        return 2;
    }
    return measure((uint32_t)ranks, (int)all_reduces);
}
