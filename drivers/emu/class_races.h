#ifndef TUTTI_EMU_CLASS_RACES_H
#define TUTTI_EMU_CLASS_RACES_H

/* Finds, in the steps of one run, the pairs that could have come the other way round: steps of two
 * hosts that do not commute, with no step between that keeps them in this order. Pure. */

#include "drivers/emu/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct emu_class_race {
    uint32_t first_step; /* of the pair */
    uint32_t second_step;
    uint32_t second_host;
    uint64_t initials; /* a bit for each host that could run in the place of the first step, on the
                          way to a run where the second comes before it */
} emu_class_race;

typedef void emu_class_race_found(void *context, const emu_class_race *race);

/* The last step of a host that touched a token in a mode. */
typedef struct emu_token_use {
    uint32_t step;
    uint8_t host;
    uint8_t mode;
    uint32_t next; /* place of the token's next use, plus 1; 0: none */
} emu_token_use;

typedef struct emu_token_slot {
    uint64_t token;     /* 0: free */
    uint32_t first_use; /* place plus 1 */
} emu_token_slot;

/* Memory that is used again from run to run. All zero is empty. */
typedef struct emu_class_races {
    uint32_t *pasts; /* steps x hosts: how many steps of each host come before or are this one */
    size_t past_room;
    uint32_t *last_steps, *counts, *counts_then, *counts_at_barrier; /* by host */
    uint32_t host_room;
    emu_token_slot *slots;
    uint32_t slot_room;
    emu_token_use *uses;
    uint32_t use_count, use_room;
    struct emu_rival {
        uint32_t step;
        bool reversible;
    } * rivals; /* of the step that is looked at */
    uint32_t rival_count, rival_room;
} emu_class_races;

/* Calls `found` for each pair in the first step_count steps, by their second step.
 * Returns false when memory is out. Asserts host_count <= 64. */
bool emu_class_races_find(emu_class_races *races, const emu_step_log *log, uint32_t step_count,
                          uint32_t host_count, emu_class_race_found *found, void *context);
void emu_class_races_free(emu_class_races *races);

#ifdef __cplusplus
}
#endif

#endif
