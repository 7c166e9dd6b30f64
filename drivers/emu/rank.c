#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "drivers/emu/cluster.h"
#include "src/arguments.h"
#include "src/call.h"
#include "src/place.h"

/* What a rank of a rehearsal asks of the rehearsal itself. */

int32_t tutti_rank_index(const tutti_rank *self) {
    return (int32_t)self->host;
}

int32_t tutti_rank_count(const tutti_rank *self) {
    return (int32_t)self->cluster->rank_count;
}

tutti_driver *tutti_rank_driver(const tutti_rank *self) {
    return &self->cluster->base;
}

tutti_device *tutti_rank_device(const tutti_rank *self) {
    return emu_device_base(emu_engine_host_device(self->cluster->engine, self->host));
}

tutti_communication_id tutti_rank_world_id(const tutti_rank *self) {
    return self->cluster->world_id;
}

uint32_t tutti_rank_choose(tutti_rank *self, uint32_t answer_count) {
    emu_cluster *cluster = self->cluster;
    if (answer_count < 1 || answer_count > TUTTI_CHOICE_ANSWERS_MAX) return 0;
    if (!cluster->executor->enter(cluster)) return 0;
    uint32_t answer = emu_engine_choose(cluster->engine, EMU_CHOICE_DATA, answer_count);
    cluster->executor->leave(cluster);
    return answer;
}

/* A caller's options in full, with the name that the world has. Options that are not allowed are
 * left as they are, for tutti_join() to say so. */
static const tutti_join_options *world_options(const tutti_join_options *options,
                                               tutti_join_options *full) {
    if (tutti_complete_join_options(options, full, NULL) != TUTTI_OK) return options;
    if (full->name == NULL) full->name = "world";
    return full;
}

tutti_status(tutti_rank_join_world)(tutti_rank *self, const tutti_join_options *options,
                                    tutti_comm **comm_out, tutti_error *error) {
    tutti_place place = tutti_place_take();
    tutti_join_options full;
    tutti_unique_id id;
    tutti_place_note(place.file, place.line);
    tutti_status status =
        (tutti_group_id)(tutti_rank_driver(self), tutti_rank_world_id(self), &id, error);
    if (status != TUTTI_OK) return status;
    tutti_place_note(place.file, place.line);
    return (tutti_join)(tutti_rank_device(self), &id, tutti_rank_count(self),
                        tutti_rank_index(self), world_options(options, &full), comm_out, error);
}

tutti_status(tutti_rank_sleep)(tutti_rank *self, int64_t duration_ns, tutti_error *error) {
    tutti_error own;
    error = tutti_call_begin(error, &own, "sleep");
    if (duration_ns < 0) {
        (void)tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                              "duration_ns is %" PRId64 ": time only passes, give 0 or more",
                              duration_ns);
        return tutti_call_refused(&self->cluster->base, error);
    }
    emu_call call = {
        .kind = EMU_CALL_SLEEP, .error = error, .place = error->place, .duration_ns = duration_ns};
    return tutti_call_end(emu_cluster_call(self->cluster, &call), error);
}

int64_t tutti_rank_now(tutti_rank *self) {
    return self->cluster->executor->now(self->cluster);
}

void(tutti_rank_wrong)(tutti_rank *self, const char *format, ...) {
    char text[TUTTI_ERROR_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    /* The engine copies the text into the finding. */
    emu_call call = {.kind = EMU_CALL_WRONG, .place = tutti_place_take(), .name = text};
    (void)emu_cluster_call(self->cluster, &call);
}
