#include <stdio.h>
#include <tutti/tutti.h>

/* What each rank does: join, put its number + 1 into device memory, and add them all up. */
static void program(tutti_rank *self, void *argument) {
    float *sums = argument, mine = (float)(tutti_rank_index(self) + 1);
    tutti_device *device = tutti_rank_device(self);
    tutti_data_type f32;
    tutti_buffer x;
    tutti_stream *stream;
    tutti_comm *world;
    size_t count;
    while (tutti_rank_join_world(self, NULL, &world, NULL) == TUTTI_REFUSED) {
    }
    if (tutti_stream_create(device, NULL, &stream, NULL) != TUTTI_OK) return;
    if (tutti_memory_allocate(device, sizeof mine, &x, NULL) != TUTTI_OK) return;
    tutti_data_type_of(device, TUTTI_F32, x.bytes, &f32, &count, NULL);
    tutti_copy_to_device(x, &mine, sizeof mine, stream, NULL);
    tutti_all_reduce(world, x, x, f32, count, TUTTI_SUM, stream, NULL);
    tutti_copy_to_host(&sums[tutti_rank_index(self)], x, sizeof mine, stream, NULL);
    tutti_stream_synchronize(stream, NULL);
    tutti_memory_free(device, x, NULL);
    tutti_stream_destroy(stream);
    tutti_leave(world, NULL);
}

int main(void) {
    float sums[2] = {0, 0};
    char text[4096];
    tutti_report *report;
    tutti_rehearsal_options options;
    tutti_rehearsal_options_init(&options, 2);
    options.faults = "join[rank=1]=1*refuse(busy); all_reduce[rank=0]=delay(5ms)";
    if (tutti_rehearse(&options, program, sums, &report, NULL) != TUTTI_OK) return 2;
    tutti_report_format(report, text, sizeof text);
    printf("%ssums %g and %g\n", text, (double)sums[0], (double)sums[1]);
    int good = report->verdict == TUTTI_VERDICT_OK && sums[0] == 3 && sums[1] == 3;
    tutti_report_free(report);
    return good ? 0 : 1;
}
