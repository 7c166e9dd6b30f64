#include <stdio.h>
#include <stdlib.h>

#include "tutti/tutti.h"

/* Rank 1 gives up when its first look comes too early. */
static void impatient(tutti_rank *self, void *argument) {
    (void)argument;
    tutti_device *device = tutti_rank_device(self);
    tutti_comm *world = NULL;
    tutti_stream *stream = NULL;
    tutti_buffer x;
    tutti_data_type f32;
    size_t count = 0;
    int done = 0;
    if (tutti_rank_join_world(self, NULL, &world, NULL) != TUTTI_OK ||
        tutti_stream_create(device, NULL, &stream, NULL) != TUTTI_OK ||
        tutti_memory_allocate(device, 16, &x, NULL) != TUTTI_OK ||
        tutti_data_type_of(device, TUTTI_F32, 16, &f32, &count, NULL) != TUTTI_OK)
        return;
    (void)tutti_fill(x, 0, stream, NULL);
    (void)tutti_all_reduce(world, x, x, f32, count, TUTTI_SUM, stream, NULL);
    (void)tutti_stream_query(stream, &done, NULL);
    if (!done && tutti_rank_index(self) == 1) tutti_rank_wrong(self, "gave up too early");
    (void)tutti_stream_synchronize(stream, NULL);
    (void)tutti_leave(world, NULL);
    (void)tutti_memory_free(device, x, NULL);
    tutti_stream_destroy(stream);
}

int main(void) {
    tutti_rehearsal_options rehearsal;
    tutti_exploration *exploration = NULL;
    tutti_error error;
    tutti_rehearsal_options_init(&rehearsal, 2);
    if (tutti_explore(&rehearsal, NULL, impatient, NULL, &exploration, &error) != TUTTI_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 2;
    }
    size_t bytes = tutti_exploration_format(exploration, NULL, 0) + 1;
    char *text = malloc(bytes);
    if (text != NULL) {
        tutti_exploration_format(exploration, text, bytes);
        fputs(text, stdout);
    }
    free(text);
    tutti_exploration_free(exploration);
    return 0;
}
