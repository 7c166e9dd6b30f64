#include "drivers/emu/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Device memory: a sorted list of allocations with known bounds. What a running operation uses
 * stays until it is over, however early the program frees it. */

enum {
    EMU_MEMORY_ALIGNMENT_BYTES = 64,
    EMU_MEMORY_PATTERN = 0xFF, /* fresh memory: NaN as any float, the same in every run */
    EMU_FREED_COUNT_MAX = 1 << 14,
};
#define EMU_FREED_BYTES_MAX (UINT64_C(256) << 20)

/* Of all devices of a cluster together: what a workstation can give. More is an error with a name,
 * where the operating system would end the process. */
#define EMU_MEMORY_BYTES_MAX (UINT64_C(8) << 30)

/* The first allocation that starts above the address; memory[result - 1] may hold it. */
static uint32_t emu_memory_above(const emu_device *device, const char *address) {
    uint32_t low = 0, high = device->memory_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((uintptr_t)device->memory[middle]->data <= (uintptr_t)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static emu_allocation *emu_memory_at(const emu_device *device, const void *address) {
    uint32_t above = emu_memory_above(device, address);
    if (above == 0) return NULL;
    emu_allocation *allocation = device->memory[above - 1];
    uintptr_t offset = (uintptr_t)address - (uintptr_t)allocation->data;
    return offset < allocation->bytes || offset == 0 ? allocation : NULL;
}

static emu_allocation *emu_allocation_new(size_t bytes) {
    if (bytes > SIZE_MAX - 2 * EMU_MEMORY_ALIGNMENT_BYTES) return NULL;
    size_t rounded =
        (bytes + EMU_MEMORY_ALIGNMENT_BYTES) & ~(size_t)(EMU_MEMORY_ALIGNMENT_BYTES - 1);
    emu_allocation *allocation = calloc(1, sizeof *allocation);
    if (allocation == NULL) return NULL;
    allocation->data = aligned_alloc(EMU_MEMORY_ALIGNMENT_BYTES, rounded);
    if (allocation->data == NULL) {
        free(allocation);
        return NULL;
    }
    memset(allocation->data, EMU_MEMORY_PATTERN, rounded);
    allocation->bytes = bytes;
    return allocation;
}

/* --- Freed memory ---
 *
 * An address that is used again right away would make it a matter of luck, and different from run
 * to run, whether a stale buffer is seen to be one. So freed memory is kept for a while, up to a
 * number of allocations and bytes. */

static void emu_memory_remove(emu_allocation *allocation) {
    emu_device *device = allocation->device;
    uint32_t at = emu_memory_above(device, allocation->data) - 1;
    assert(device->memory[at] == allocation);
    device->memory_count--;
    memmove(&device->memory[at], &device->memory[at + 1],
            (device->memory_count - at) * sizeof allocation);
    emu_guard_allocation(allocation, false);
    free(allocation->data);
    free(allocation);
}

/* Lets the oldest freed allocations go until the rest is within the limits. */
static void emu_freed_trim(emu_engine *engine, uint32_t count_max, uint64_t bytes_max) {
    while (engine->freed_count > count_max || engine->freed_bytes > bytes_max) {
        emu_allocation *oldest = engine->freed;
        engine->freed = oldest->next_freed;
        if (engine->freed == NULL) engine->freed_tail = &engine->freed;
        engine->freed_count--;
        engine->freed_bytes -= oldest->bytes;
        emu_memory_remove(oldest);
    }
}

static void emu_memory_give_back(emu_allocation *allocation) {
    emu_engine *engine = allocation->device->engine;
    engine->memory_bytes -= allocation->bytes;
    emu_races_forget_memory(allocation);
    if (allocation->bytes <= EMU_FREED_BYTES_MAX)
        memset(allocation->data, EMU_MEMORY_PATTERN, allocation->bytes);
    emu_guard_allocation(allocation, true);
    *engine->freed_tail = allocation;
    engine->freed_tail = &allocation->next_freed;
    engine->freed_count++;
    engine->freed_bytes += allocation->bytes;
    emu_freed_trim(engine, EMU_FREED_COUNT_MAX, EMU_FREED_BYTES_MAX);
}

/* --- Allocating and freeing --- */

/* The system may be out of memory only because freed memory is kept. */
static emu_allocation *emu_allocation_make(emu_engine *engine, size_t bytes) {
    emu_allocation *allocation = emu_allocation_new(bytes);
    if (allocation != NULL) return allocation;
    emu_freed_trim(engine, 0, 0);
    return emu_allocation_new(bytes);
}

static emu_outcome emu_no_room(emu_host *host, emu_call *call) {
    char reason[TUTTI_CAUSE_MESSAGE_BYTES];
    snprintf(reason, sizeof reason,
             "device %" PRIu32 " has no room for %zu bytes: the devices of a cluster have %" PRIu64
             " together, %" PRIu64 " of them in use",
             call->device->index, call->count, EMU_MEMORY_BYTES_MAX, host->engine->memory_bytes);
    emu_finding_refused(host, call, reason);
    return emu_call_end(host, call, TUTTI_OUT_OF_MEMORY, "%s", reason);
}

emu_outcome emu_allocate(emu_host *host, emu_call *call) {
    emu_device *device = call->device;
    emu_engine *engine = host->engine;
    emu_allocation *allocation = NULL;
    if (call->count > EMU_MEMORY_BYTES_MAX - engine->memory_bytes) return emu_no_room(host, call);
    if (emu_grow(&device->memory, device->memory_count, &device->memory_room, sizeof allocation))
        allocation = emu_allocation_make(engine, call->count);
    if (allocation == NULL) return emu_no_room(host, call);
    engine->memory_bytes += call->count;
    allocation->ordinal = device->next_ordinal++;
    allocation->name = emu_engine_intern(engine, call->name);
    allocation->place = call->place;
    allocation->device = device;
    uint32_t at = emu_memory_above(device, allocation->data);
    memmove(&device->memory[at + 1], &device->memory[at],
            (device->memory_count - at) * sizeof allocation);
    device->memory[at] = allocation;
    device->memory_count++;
    allocation->host = host->index;
    emu_races_allocated(host, allocation, call->writes);
    call->buffer_out.data = allocation->data;
    call->buffer_out.bytes = allocation->bytes;
    return emu_call_ok(host, call);
}

static emu_outcome emu_freed_twice(emu_host *host, emu_call *call,
                                   const emu_allocation *allocation) {
    emu_text text = {0};
    emu_text_add(&text, "this memory is freed already");
    emu_text_add_place(&text, allocation->freed_place);
    emu_finding_bad_call(host, call, TUTTI_VERDICT_FREED, text.text);
    return emu_call_end(host, call, TUTTI_MISUSE, "%s", text.text);
}

emu_outcome emu_free(emu_host *host, emu_call *call) {
    emu_device *device = call->device;
    if (call->destination.data == NULL) return emu_call_ok(host, call);
    emu_allocation *allocation = emu_memory_at(device, call->destination.data);
    if (allocation == NULL)
        return emu_call_misused(host, call, TUTTI_MISUSE,
                                "this is not memory of device %" PRIu32
                                ", or no longer: it was never allocated there or is freed already",
                                device->index);
    if (allocation->data != call->destination.data)
        return emu_call_misused(host, call, TUTTI_MISUSE,
                                "this is %zu bytes inside of an allocation of device %" PRIu32
                                ": free the buffer that memory_allocate gave",
                                (size_t)((char *)call->destination.data - allocation->data),
                                device->index);
    if (allocation->freed) return emu_freed_twice(host, call, allocation);
    allocation->freed = true;
    allocation->freed_place = call->place;
    emu_races_freed(host, allocation);
    if (allocation->in_flight == 0) emu_memory_give_back(allocation);
    return emu_call_ok(host, call);
}

/* Slow, for texts: which other device holds an address. */
static emu_device *emu_memory_other_owner(emu_device *device, const void *data) {
    emu_engine *engine = device->engine;
    for (uint32_t i = 0; i < engine->device_count; i++)
        if (emu_memory_at(&engine->devices[i], data) != NULL) return &engine->devices[i];
    return NULL;
}

bool emu_memory_is_known(emu_engine *engine, const void *address) {
    for (uint32_t i = 0; i < engine->device_count; i++)
        if (emu_memory_at(&engine->devices[i], address) != NULL) return true;
    return false;
}

bool emu_memory_find(emu_device *device, const char *argument, const void *data, size_t bytes,
                     emu_allocation **allocation_out, emu_memory_problem *problem) {
    *allocation_out = NULL;
    problem->freed = false;
    if (bytes == 0) return true;
    emu_allocation *allocation = emu_memory_at(device, data);
    if (allocation == NULL) {
        const emu_device *other = emu_memory_other_owner(device, data);
        if (other != NULL)
            snprintf(problem->reason, sizeof problem->reason,
                     "the %s is memory of device %" PRIu32 ", but the stream is on device %" PRIu32,
                     argument, other->index, device->index);
        else
            snprintf(problem->reason, sizeof problem->reason,
                     "the %s is not memory of device %" PRIu32
                     " (never allocated there, or freed already)",
                     argument, device->index);
        return false;
    }
    size_t offset = (size_t)((const char *)data - allocation->data);
    if (allocation->freed) {
        emu_text text = {0};
        emu_text_add(&text, "the %s is memory that was freed already", argument);
        emu_text_add_place(&text, allocation->freed_place);
        snprintf(problem->reason, sizeof problem->reason, "%.*s", (int)sizeof problem->reason - 1,
                 text.text);
        problem->freed = true;
        return false;
    }
    if (bytes > allocation->bytes - offset) {
        snprintf(problem->reason, sizeof problem->reason,
                 "the %s reaches %zu bytes beyond the end of its allocation of %zu bytes", argument,
                 bytes - (allocation->bytes - offset), allocation->bytes);
        return false;
    }
    *allocation_out = allocation;
    return true;
}

emu_outcome emu_call_bad_memory(emu_host *host, emu_call *call, const emu_memory_problem *problem) {
    emu_finding_bad_call(host, call, problem->freed ? TUTTI_VERDICT_FREED : TUTTI_VERDICT_MISUSE,
                         problem->reason);
    return emu_call_end(host, call, TUTTI_INVALID_ARGUMENT, "%s", problem->reason);
}

void emu_memory_hold(emu_allocation *allocation) {
    if (allocation != NULL) allocation->in_flight++;
}

void emu_memory_release(emu_allocation *allocation) {
    if (allocation == NULL) return;
    assert(allocation->in_flight > 0);
    allocation->in_flight--;
    if (allocation->in_flight == 0 && allocation->freed) emu_memory_give_back(allocation);
}

void emu_device_free_memory(emu_device *device) {
    for (uint32_t i = 0; i < device->memory_count; i++) {
        emu_guard_allocation(device->memory[i], false);
        free(device->memory[i]->data);
        free(device->memory[i]);
    }
    free(device->memory);
}

bool emu_engine_memory_owner(emu_engine *engine, const void *address, emu_device **device_out,
                             tutti_buffer *allocation_out) {
    for (uint32_t i = 0; i < engine->device_count; i++) {
        emu_allocation *allocation = emu_memory_at(&engine->devices[i], address);
        if (allocation == NULL || allocation->freed) continue;
        *device_out = &engine->devices[i];
        allocation_out->data = allocation->data;
        allocation_out->bytes = allocation->bytes;
        return true;
    }
    return false;
}
