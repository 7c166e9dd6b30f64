#include <assert.h>
#include <string.h>

#include "drivers/emu/script.h"

uint32_t emu_script_type_width_bytes(tutti_element_type type) {
    const uint32_t carried = tutti_element_type_width_bytes(type);
    if (carried > 0) return carried;
    switch (type) {
    case TUTTI_INDEX:
    case TUTTI_COMPLEX:
        return 8;
    case TUTTI_TF32:
    case TUTTI_FLEX32:
        return 4;
    case TUTTI_I16:
    case TUTTI_U16:
        return 2;
    case TUTTI_BOOL:
    case TUTTI_F4E2M1:
    case TUTTI_F4E2M1X2:
    case TUTTI_F6E2M3:
    case TUTTI_F6E3M2:
    case TUTTI_UE8M0:
        return 1;
    default:
        return 0;
    }
}

bool emu_rank_set_has(const emu_rank_set *set, int32_t rank) {
    uint32_t low = 0, high = set->range_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (set->ranges[middle].last < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->range_count && set->ranges[low].first <= rank;
}

int32_t emu_script_group_member(const emu_script_group *group, int32_t world_rank) {
    uint32_t low = 0, high = group->by_rank_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (group->by_rank[middle].last < world_rank)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == group->by_rank_count || group->by_rank[low].first > world_rank) return -1;
    return group->by_rank[low].first_member + (world_rank - group->by_rank[low].first);
}

int32_t emu_script_group_world_rank(const emu_script_group *group, int32_t member) {
    if (member < 0 || member >= group->rank_count) return -1;
    uint32_t low = 0, high = group->members_count; /* the last that starts at or before it */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (group->members[middle].first_member <= member)
            low = middle;
        else
            high = middle;
    }
    return group->members[low].first + (member - group->members[low].first_member);
}

const emu_script_buffer *emu_script_buffer_of(const emu_script *script, uint32_t name,
                                              int32_t rank) {
    assert(name < script->buffer_name_count);
    const emu_script_buffer_name *known = &script->buffer_names[name];
    uint32_t low = 0, high = known->holding_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (known->holdings[middle].last < rank)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == known->holding_count || known->holdings[low].first > rank) return NULL;
    return &script->buffers[known->holdings[low].buffer];
}

uint64_t emu_script_slice_count(const emu_script *script, const emu_script_slice *slice,
                                int32_t rank) {
    if (slice->count != EMU_SCRIPT_WHOLE) return slice->count;
    const emu_script_buffer *buffer = emu_script_buffer_of(script, slice->name, rank);
    return buffer ? buffer->count : 0;
}

int32_t emu_script_device_of(const emu_script *script, int32_t rank) {
    uint32_t low = 0, high = script->placement_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (script->placements[middle].last < rank)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == script->placement_count || script->placements[low].first > rank) return rank;
    return script->placements[low].device;
}

uint32_t emu_script_group_find(const emu_script *script, const char *name, size_t name_bytes) {
    for (uint32_t i = 0; i < script->group_count; i++) {
        const char *known = script->groups[i].name;
        if (strlen(known) == name_bytes && memcmp(known, name, name_bytes) == 0) return i;
    }
    return EMU_SCRIPT_NONE;
}

/* The first entry of a node that is at least `from`; `none` without one. */
static uint32_t node_next(const emu_script_section_index *index, uint32_t node, uint32_t from,
                          uint32_t none) {
    uint32_t low = index->starts[node];
    const uint32_t end = index->starts[node + 1];
    uint32_t high = end;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (index->sections[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end ? index->sections[low] : none;
}

uint32_t emu_script_next_section(const emu_script *script, int32_t rank, uint32_t from) {
    assert(rank >= 0 && rank < script->rank_count);
    const emu_script_section_index *index = &script->section_index;
    uint32_t best = script->section_count;
    for (uint32_t node = index->leaf_count + (uint32_t)rank; node > 0; node /= 2) {
        const uint32_t next = node_next(index, node, from, script->section_count);
        if (next < best) best = next;
    }
    return best;
}
