#ifndef TUTTI_EMU_RACES_H
#define TUTTI_EMU_RACES_H

/* What the engine tells the detector of races: what happened before what, and who touches which
 * bytes. All of it does nothing when the detector is switched off. Part of state.h. */

#include <stddef.h>

#include "drivers/emu/engine.h"
#include "drivers/emu/shadow.h"

typedef struct emu_allocation emu_allocation;
typedef struct emu_collective emu_collective;
typedef struct emu_group emu_group;
typedef struct emu_host emu_host;
typedef struct emu_launch emu_launch;
typedef struct emu_op emu_op;
typedef struct emu_races emu_races;
typedef struct emu_range emu_range;

typedef enum emu_access_kind {
    EMU_ACCESS_OP = 0, /* and up: an emu_op_kind */
    EMU_ACCESS_HOST = 32,
    EMU_ACCESS_ALLOCATE,
    EMU_ACCESS_FREE,
} emu_access_kind;

/* A part of an allocation that a kernel touches. */
struct emu_range {
    emu_allocation *memory;
    size_t begin, end;
    bool writes;
    emu_range *next; /* of the operation; and the free list */
};

bool emu_races_create(emu_engine *engine);
void emu_races_destroy(emu_engine *engine);

/* A host at the start of the run; one that joined it later. */
void emu_races_add_host(emu_host *host, bool later);
void emu_races_add_stream(emu_engine *engine, emu_stream *stream);

/* The host allocates, frees, reads or writes. `filled`: it writes all of what it allocates. */
void emu_races_allocated(emu_host *host, emu_allocation *allocation, bool filled);
void emu_races_freed(emu_host *host, emu_allocation *allocation);
void emu_races_host_access(emu_host *host, emu_allocation *allocation, tutti_buffer buffer,
                           bool writes, tutti_place place);

/* Adds what a kernel touches to its operation; false when memory is out. */
bool emu_races_add_range(emu_engine *engine, emu_op *op, emu_allocation *allocation,
                         tutti_buffer buffer, bool writes);

/* The host has put the operation into a stream. */
void emu_races_issued(emu_op *op);

/* An operation, or all parts of a group call, are about to start, and see what was before. */
void emu_races_start(emu_op *op);
void emu_races_start_launch(emu_launch *launch);

/* The operation is over, well or badly; all parts of a group call are. */
void emu_races_complete(emu_op *op);
void emu_races_launch_over(const emu_launch *launch);

/* Gives back what an operation or a collective holds. */
void emu_races_forget_op(emu_engine *engine, emu_op *op);
void emu_races_forget_collective(emu_collective *collective);
void emu_races_forget_memory(emu_allocation *allocation);

/* Records and waits, as they are issued and as a stream comes to them. */
void emu_races_wait_issued(emu_op *op);
void emu_races_record_passed(emu_op *op);
void emu_races_wait_passed(emu_op *op);

/* The host has waited for a stream, an event, the forming of a group, a member's operations. */
void emu_races_stream_over(emu_host *host, emu_stream *stream);
void emu_races_event_over(emu_host *host, const emu_event *event);
void emu_races_joins(emu_host *host, emu_group *group);
void emu_races_joined(emu_host *host, const emu_group *group);
void emu_races_joined_in_group_call(emu_host *host, const emu_group *group);
void emu_races_group_call_over(emu_host *host);
void emu_races_left(emu_host *host, emu_comm *comm);

/* --- races_text.c --- */

/* Adds the finding that two accesses clash. */
void emu_races_clash(emu_allocation *allocation, const emu_clash *clash);

/* Whether source and destination overlap other than as in place, where the source lies
 * `in_place_bytes` behind the start of the destination (or before it: negative); if so, ends the
 * call with the finding. */
bool emu_races_overlap(emu_host *host, emu_call *call, size_t source_bytes,
                       size_t destination_bytes, ptrdiff_t in_place_bytes,
                       emu_outcome *outcome_out);

/* --- leaks.c --- */

/* The run is over: whatever its ranks have not given back is a finding, if nothing else was. */
void emu_leaks_check(emu_engine *engine);

#endif
