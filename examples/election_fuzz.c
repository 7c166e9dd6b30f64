/* A fuzz target for a protocol of one's own: ranks in a ring elect the one with the largest number.
 * The input decides how many ranks there are, their numbers, the schedule, and what goes wrong.
 * docs/fuzzing.md goes through it. */

#include <stdio.h>
#include <stdlib.h>

#include "fuzz/entry.h"
#include "tutti/tutti.h"

enum { RANKS_MAX = 6, TRIES_MAX = 3, SEED_BYTES = 8, PLAN_BYTES = 128 };

/* --- The protocol --- */

struct election {
    int32_t numbers[RANKS_MAX]; /* of each rank; ties go to the higher rank */
    int32_t leaders[RANKS_MAX]; /* what each rank found out; -1: nothing */
};

struct member {
    tutti_rank *self;
    tutti_device *device;
    tutti_comm *ring;
    tutti_stream *stream;
    tutti_buffer mine, theirs;
    tutti_data_type i32;
};

/* Passes the best number so far to the next rank, and hears that of the one before. */
static int exchange(struct member *member, int32_t *best) {
    int32_t rank = tutti_rank_index(member->self), count = tutti_rank_count(member->self), heard;
    tutti_driver *driver = tutti_rank_driver(member->self);
    tutti_stream *stream = member->stream;
    if (tutti_copy_to_device(member->mine, best, sizeof *best, stream, NULL) != TUTTI_OK) return 0;
    tutti_group_start(driver, NULL);
    tutti_send(member->ring, member->mine, member->i32, 1, (rank + 1) % count, stream, NULL);
    tutti_recv(member->ring, member->theirs, member->i32, 1, (rank + count - 1) % count, stream,
               NULL);
    if (tutti_group_end(driver, NULL) != TUTTI_OK) return 0;
    if (tutti_copy_to_host(&heard, member->theirs, sizeof heard, stream, NULL) != TUTTI_OK)
        return 0;
    if (tutti_stream_synchronize(stream, NULL) != TUTTI_OK) return 0;
    if (heard > *best) *best = heard;
    return 1;
}

static void run_election(struct member *member, struct election *election) {
    int32_t rank = tutti_rank_index(member->self), count = tutti_rank_count(member->self);
    int32_t best = election->numbers[rank] * RANKS_MAX + rank;
    for (int32_t round = 1; round < count; round++)
        if (!exchange(member, &best)) return;
    election->leaders[rank] = best % RANKS_MAX;
}

/* A refused join is tried again, a few times. */
static int join_ring(struct member *member) {
    for (int tries = 0; tries < TRIES_MAX; tries++) {
        tutti_status status = tutti_rank_join_world(member->self, NULL, &member->ring, NULL);
        if (status != TUTTI_REFUSED) return status == TUTTI_OK;
    }
    return 0;
}

static void elect(tutti_rank *self, void *argument) {
    struct member member = {.self = self, .device = tutti_rank_device(self)};
    size_t count;
    if (!join_ring(&member)) return;
    if (tutti_stream_create(member.device, NULL, &member.stream, NULL) != TUTTI_OK ||
        tutti_memory_allocate(member.device, sizeof(int32_t), &member.mine, NULL) != TUTTI_OK ||
        tutti_memory_allocate(member.device, sizeof(int32_t), &member.theirs, NULL) != TUTTI_OK ||
        tutti_data_type_of(member.device, TUTTI_I32, sizeof(int32_t), &member.i32, &count, NULL))
        return;
    run_election(&member, argument);
    tutti_leave(member.ring, NULL);
    tutti_memory_free(member.device, member.theirs, NULL);
    tutti_memory_free(member.device, member.mine, NULL);
    tutti_stream_destroy(member.stream);
}

/* --- The input --- */

struct input {
    const uint8_t *data;
    size_t size;
};

/* The next byte, below a limit; 0 when the input is used up. */
static int32_t take(struct input *input, int32_t limit) {
    if (input->size == 0) return 0;
    input->size--;
    return *input->data++ % limit;
}

/* What goes wrong. Returns the rank that is killed; -1: none is. */
static int32_t take_faults(struct input *input, int32_t rank_count, char *plan) {
    static const char *const survived[] = {
        "join[rank=%d]=2*refuse(busy)",
        "join[rank=%d]=delay(3s)",
        "send[rank=%d]=50%%delay(5ms)",
        "group[rank=%d]=1*off->1*delay(1h)",
    };
    int32_t kind = take(input, 6), rank = take(input, rank_count), calls = take(input, 4);
    plan[0] = '\0';
    if (kind < 4) snprintf(plan, PLAN_BYTES, survived[kind], (int)rank);
    if (kind != 4) return -1;
    if (calls == 0)
        snprintf(plan, PLAN_BYTES, "join[rank=%d]=kill", (int)rank);
    else if (calls == 1)
        snprintf(plan, PLAN_BYTES, "sync[rank=%d]=kill", (int)rank);
    else
        snprintf(plan, PLAN_BYTES, "sync[rank=%d]=%d*off->kill", (int)rank, (int)calls - 1);
    return calls < rank_count ? rank : -1; /* it has as many sync calls as there are other ranks */
}

/* --- What must be true --- */

static void fail(const tutti_report *report, const char *what) {
    char text[16384];
    tutti_report_format(report, text, sizeof text);
    fprintf(stderr, "%s\n%s", what, text);
    abort();
}

/* Nobody died: all agree on the largest number. */
static void check_agreement(const struct election *election, const tutti_report *report,
                            int32_t rank_count) {
    int32_t leader = 0;
    for (int32_t rank = 1; rank < rank_count; rank++)
        if (election->numbers[rank] >= election->numbers[leader]) leader = rank;
    if (report->verdict != TUTTI_VERDICT_OK) fail(report, "the election failed");
    for (int32_t rank = 0; rank < rank_count; rank++)
        if (election->leaders[rank] != leader) fail(report, "a rank follows another leader");
}

/* Somebody died: the report blames nobody else. */
static void check_blame(const tutti_report *report, int32_t killed) {
    if (report->verdict != TUTTI_VERDICT_KILLED || report->culprit_count != 1 ||
        report->culprits[0] != killed)
        fail(report, "a rank was killed, and something else is blamed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input input = {data, size};
    struct election election;
    tutti_rehearsal_options options;
    tutti_report *report;
    tutti_error error;
    char plan[PLAN_BYTES];
    int32_t rank_count = 2 + take(&input, RANKS_MAX - 1);
    int32_t killed = take_faults(&input, rank_count, plan);
    tutti_rehearsal_options_init(&options, (uint32_t)rank_count);
    options.faults = plan;
    options.name = "election";
    options.random_schedule = 1;
    for (int i = 0; i < SEED_BYTES; i++)
        options.seed = options.seed << 8 | (uint64_t)take(&input, 256);
    for (int i = 0; i < RANKS_MAX; i++) {
        election.numbers[i] = take(&input, 256);
        election.leaders[i] = -1;
    }
    if (tutti_rehearse(&options, elect, &election, &report, &error) != TUTTI_OK) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    if (killed < 0)
        check_agreement(&election, report, rank_count);
    else
        check_blame(report, killed);
    tutti_report_free(report);
    return 0;
}
