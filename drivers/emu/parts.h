#ifndef TUTTI_EMU_PARTS_H
#define TUTTI_EMU_PARTS_H

/* What the files of the engine offer each other, file by file. Included by state.h, which has the
 * structs. */

#include "drivers/emu/state.h"

/* "group 3" as an interned name. */
const char *emu_engine_number_name(emu_engine *engine, const char *word, uint32_t number);

/* --- alloc.c: growing arrays and pools --- */

/* Makes room for one more element; false when memory is out (the array stays as it was). */
bool emu_grow(void *array_pointer, uint32_t count, uint32_t *room, size_t element_bytes);

/* Memory that lives as long as the engine; NULL when memory is out. */
void *emu_engine_block(emu_engine *engine, size_t bytes);

emu_op *emu_op_new(emu_engine *engine);
void emu_op_recycle(emu_engine *engine, emu_op *op);
emu_effect *emu_effect_new(emu_engine *engine);
void emu_effect_recycle(emu_engine *engine, emu_effect *effect);
emu_launch *emu_launch_new(emu_engine *engine);
void emu_launch_recycle(emu_engine *engine, emu_launch *launch);

/* --- clock.c --- */

/* Arms a timer `duration_ns` from now; saturates at the end of time. False when memory is out. */
bool emu_timer_arm(emu_engine *engine, emu_timer *timer, emu_timer_kind kind, void *owner,
                   int64_t duration_ns);
void emu_timer_cancel(emu_engine *engine, emu_timer *timer);

/* --- hosts.c: blocking, waking, failing --- */

/* Ends a call with a status and, for errors, a text that names the rank. */
emu_outcome emu_call_end(emu_host *host, emu_call *call, tutti_status status, const char *format,
                         ...) __attribute__((format(printf, 4, 5)));
emu_outcome emu_call_ok(emu_host *host, emu_call *call);

/* As emu_call_end with TUTTI_MISUSE or TUTTI_INVALID_ARGUMENT, and adds the finding. */
emu_outcome emu_call_misused(emu_host *host, emu_call *call, tutti_status status,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));

/* As emu_call_end with TUTTI_REFUSED, and adds the finding. */
emu_outcome emu_call_refused(emu_host *host, emu_call *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As emu_call_end for something that an earlier finding explains. */
emu_outcome emu_call_failed_for(emu_host *host, emu_call *call, tutti_status status,
                                const emu_finding *finding);

/* Keeps the call until emu_host_wake; the wait's object is set by the caller. Arms the limit. */
emu_outcome emu_host_block(emu_host *host, emu_call *call, emu_wait_kind wait);

/* Ends a blocked host's call. The host must be off its waiter list. */
void emu_host_wake(emu_host *host, tutti_status status, const emu_finding *finding);

/* Takes a blocked host off whatever list it waits in. */
void emu_host_unlink(emu_host *host);

/* Wakes the waiters of a stream, event or communicator whose wait is over. */
void emu_stream_wake_waiters(emu_stream *stream);
void emu_event_wake_waiters(emu_event *event);
void emu_comm_wake_waiters(emu_comm *comm);

/* One of the joins of a host's group call is over; gives up those that are not. */
void emu_host_joined(emu_host *host, const emu_comm *comm);
void emu_host_drop_joins(emu_host *host, tutti_status status, emu_finding *finding);

/* Carries a call out, its faults being settled. */
emu_outcome emu_engine_dispatch(emu_host *host, emu_call *call);

const char *emu_call_name(emu_call_kind kind);

/* A host's sleep or delay is over; the limit of its wait has passed. */
void emu_host_time_over(emu_host *host);
void emu_host_limit_over(emu_host *host);

/* --- memory.c --- */

emu_outcome emu_allocate(emu_host *host, emu_call *call);
emu_outcome emu_free(emu_host *host, emu_call *call);

/* Why a range cannot be used. */
typedef struct emu_memory_problem {
    bool freed; /* it could be, until it was freed */
    char reason[TUTTI_ERROR_MESSAGE_BYTES];
} emu_memory_problem;

/* Finds the live allocation of the device that holds the whole range. An empty range is fine and
 * gives NULL. On failure the problem is told, which names the argument. */
bool emu_memory_find(emu_device *device, const char *argument, const void *data, size_t bytes,
                     emu_allocation **allocation_out, emu_memory_problem *problem);

/* Ends a call that names such a range, with the finding. */
emu_outcome emu_call_bad_memory(emu_host *host, emu_call *call, const emu_memory_problem *problem);

/* Whether the address is, or was until it was freed, memory of some device. */
bool emu_memory_is_known(emu_engine *engine, const void *address);

void emu_memory_hold(emu_allocation *allocation);
void emu_memory_release(emu_allocation *allocation);
void emu_device_free_memory(emu_device *device);

/* --- guard.c: memory that the program must keep its hands off --- */

/* All of an allocation, when it is freed, and before it goes. */
void emu_guard_allocation(const emu_allocation *allocation, bool closed);

/* An operation was issued; its data is moved; it is over. */
void emu_guard_issued(emu_engine *engine, emu_op *op);
void emu_guard_effect(emu_engine *engine, const emu_effect *effect);
void emu_guard_over(emu_engine *engine, emu_op *op);

/* --- streams.c, events.c --- */

emu_outcome emu_stream_create_call(emu_host *host, emu_call *call);
emu_outcome emu_stream_destroy_call(emu_host *host, emu_call *call);
emu_outcome emu_stream_sync_call(emu_host *host, emu_call *call);
emu_outcome emu_stream_query_call(emu_host *host, emu_call *call);
emu_outcome emu_copy_call(emu_host *host, emu_call *call);
emu_outcome emu_fill_call(emu_host *host, emu_call *call);
emu_outcome emu_kernel_call(emu_host *host, emu_call *call);
emu_outcome emu_event_create_call(emu_host *host, emu_call *call);
emu_outcome emu_event_destroy_call(emu_host *host, emu_call *call);
emu_outcome emu_event_record_call(emu_host *host, emu_call *call);
emu_outcome emu_event_wait_call(emu_host *host, emu_call *call);
emu_outcome emu_event_sync_call(emu_host *host, emu_call *call);
emu_outcome emu_event_query_call(emu_host *host, emu_call *call);

/* Puts an operation at the tail of its stream and traces the issue. */
void emu_stream_append(emu_stream *stream, emu_op *op);
void emu_stream_mark_dirty(emu_stream *stream);

/* Starts and completes whatever can be, until nothing moves: the only place that decides it. */
void emu_streams_advance(emu_engine *engine);

/* An operation's work is over (its effect, its time, or it failed). */
void emu_op_complete(emu_op *op);

/* All parts of a collective or transfer have started: makes the effect due. */
void emu_collective_move(emu_collective *collective);
void emu_transfer_move(emu_op *send, emu_op *recv);

/* A kernel runs now. */
void emu_kernel_start(emu_engine *engine, emu_op *op);

/* A kernel's time is over. */
void emu_kernel_time_over(emu_op *op);

/* One part of a group call is done; a stream has passed its place in it. */
void emu_launch_part_done(emu_engine *engine, emu_launch *launch);
void emu_launch_place_done(emu_engine *engine, emu_op *place);

/* The record with a mark, and the one that a host waits for or polls; NULL when it was passed. */
emu_op *emu_event_record(const emu_event *event, uint64_t mark);
emu_op *emu_host_awaited_record(const emu_host *host);

/* The stream has come to a record; to a wait: false when it has to. */
void emu_event_pass(emu_op *op);
bool emu_event_try_pass_wait(emu_op *op);

/* Moves the operation's data: makes an effect due whose end completes it. */
void emu_op_push_effect(emu_op *op, emu_effect_kind kind);
void emu_effect_push(emu_engine *engine, emu_effect *effect);

/* --- communicator.c --- */

emu_outcome emu_mint_call(emu_host *host, emu_call *call);
emu_outcome emu_join_call(emu_host *host, emu_call *call);
emu_outcome emu_leave_call(emu_host *host, emu_call *call);
emu_outcome emu_abort_call(emu_host *host, emu_call *call);
emu_outcome emu_comm_status_call(emu_host *host, emu_call *call);
emu_outcome emu_comm_sync_call(emu_host *host, emu_call *call);

/* A leaving member's last operation is over. */
void emu_comm_drained(emu_comm *comm);

/* The limit of a non-blocking join has passed. */
void emu_comm_limit_over(emu_comm *comm);

/* Ends a forming membership: the slot is empty again, the join's caller gets the status. */
void emu_comm_unjoin(emu_comm *comm, tutti_status status, emu_finding *finding);

/* The group can do nothing any more: its members fail, their operations end without an effect. */
void emu_group_fail(emu_group *group, tutti_status status, emu_finding *finding);

/* Ends every operation of one member without an effect. */
void emu_comm_drop_operations(emu_comm *comm);

/* The number by which reports call a member or a host: a rank of the program. */
int32_t emu_comm_rank(const emu_comm *comm);

/* The same for a rank of a group that may not have joined; -1 when nobody knows. */
int32_t emu_group_member_rank(const emu_group *group, int32_t rank);

/* Joins that contradict each other: the identifier is of no use any more. */
void emu_group_break(emu_group *group, emu_finding *finding);

/* Whether operations can be issued on call->comm; if not, *outcome_out says how the call ended. */
bool emu_comm_usable(emu_host *host, emu_call *call, emu_outcome *outcome_out);

void emu_group_destroy_collectives(emu_group *group);
void emu_group_destroy(emu_group *group);

/* --- matching.c: parts of one operation find each other --- */

/* Gives the operation its sequence number and its collective, or its other half. False when
 * memory is out; nothing has changed then. */
bool emu_match_issue(emu_op *op);

/* Whether two parts of one collective agree. */
bool emu_signature_equal(const emu_op *a, const emu_op *b);

/* The operation has started: if its peers have too, compares and makes the effect due. */
void emu_match_start(emu_op *op);

/* The operation is over: forgets it. */
void emu_match_done(emu_op *op);

/* Looks at collectives and transfers whose parts do not agree; true when there was one. */
bool emu_match_examine(emu_engine *engine);

/* The same when time is real, after every call. */
void emu_engine_examine_at_once(emu_engine *engine);

emu_collective *emu_group_collective(emu_group *group, uint64_t seq);
void emu_channels_destroy(emu_engine *engine);

/* --- collective.c: the calls that enqueue, and group calls --- */

emu_outcome emu_all_reduce_call(emu_host *host, emu_call *call);
emu_outcome emu_transfer_call(emu_host *host, emu_call *call);
emu_outcome emu_group_start_call(emu_host *host, emu_call *call);
emu_outcome emu_group_end_call(emu_host *host, emu_call *call);

/* Puts an operation at the end of its communicator's inner order. */
void emu_comm_order_append(emu_op *op);

/* Notes that the host has to wait if this is its first use of peers that have not come yet. */
void emu_connect(emu_host *host, emu_op *op);

/* Gives up the group call that a host has open, its operations and its joins. */
void emu_host_discard_group(emu_host *host, tutti_status status);

/* Counts down the hosts that wait for the peers of an operation. */
void emu_op_connected(emu_op *op);

/* --- order.c: communicators that members use in different orders --- */

/* A collective was issued: remembers what else of its device is not synchronised with the host. */
void emu_order_issued(emu_op *op);

/* The host has waited for everything in a stream. */
void emu_order_synchronized(emu_stream *stream);

/* The communicator has ended or failed. */
void emu_order_forget(emu_comm *comm);

/* All members have issued the collective: compares their orders, may add a note. */
void emu_order_check(emu_collective *collective);

/* --- depends.c: choices, and what steps have to do with each other --- */

/* Whether a poll comes too early to see that something has got as far as the mark. */
bool emu_poll_is_early(emu_engine *engine, emu_sight *sight, uint64_t mark);

/* An operation was matched; the host will wait for its peers; the host joins a group; a member has
 * left or aborts; the room of a device ran out or became free. */
void emu_steps_arrived(emu_op *op);
void emu_steps_await_peers(emu_host *host, const emu_op *op);
void emu_steps_joined(emu_host *host, const emu_group *group);
void emu_steps_ended(const emu_comm *comm, bool aborted);
void emu_steps_room(emu_device *device);

/* A poll looks; a wait had nothing to wait for any more; a blocked host's wait is over. */
void emu_steps_looked(emu_engine *engine, uint32_t list);
void emu_steps_looked_at_join(const emu_comm *comm);
void emu_steps_synchronized(emu_engine *engine, uint32_t list);
void emu_steps_woken(emu_host *host);

/* --- faults.c --- */

/* Asks the fault plan about a call. Returns true when the call goes on as it is; otherwise
 * *outcome_out says how it ended or that it waits. */
bool emu_faults_apply(emu_host *host, emu_call *call, emu_outcome *outcome_out);
tutti_status emu_faults_create(emu_engine *engine, tutti_error *error);

/* --- findings.c --- */

/* Where a finding's text is put together. */
typedef struct emu_text {
    size_t bytes;
    char text[EMU_TEXT_BYTES];
} emu_text;

void emu_text_add(emu_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "rank 3", "ranks 0, 2 and 5", with "and N more" when there are many. */
void emu_text_add_ranks(emu_text *text, const int32_t *ranks, uint32_t rank_count);

/* " (train.c:12)", or nothing when the place is unknown. */
void emu_text_add_place(emu_text *text, tutti_place place);

/* "all_reduce of 8 f32, sum, operation 3 of world on stream comm". */
void emu_text_add_op(emu_text *text, const emu_op *op);

/* The contract's word for an operation ("all_reduce"). */
const char *emu_op_name(const emu_op *op);
const char *emu_op_kind_name(emu_op_kind kind);

/* " on stream comm". */
void emu_text_add_stream(emu_text *text, const emu_stream *stream);

/* Sorts ranks, dropping negative ones and what comes twice; the new count. */
uint32_t emu_ranks_sort(int32_t *ranks, uint32_t count);

/* What findings are about, as numbers that are the same in every run and never used again. */
uint64_t emu_group_subject(const emu_group *group, const char *aspect);
uint64_t emu_collective_subject(const emu_collective *collective);
uint64_t emu_op_subject(const emu_op *op);

/* Adds a finding; the text is copied, the ranks too (sorted). A subject that has a finding
 * keeps it, and that one is returned. NULL when there is no room: it is counted. */
emu_finding *emu_finding_add(emu_engine *engine, tutti_verdict kind, const char *detail,
                             uint64_t subject, const int32_t *ranks, uint32_t rank_count,
                             const emu_text *text);
emu_finding *emu_note_add(emu_engine *engine, tutti_verdict kind, const char *detail,
                          uint64_t subject, const int32_t *ranks, uint32_t rank_count,
                          const emu_text *text);
/* A call that the contract does not allow: blames the caller. */
void emu_note_swapped(const emu_op *send, const emu_op *recv);
void emu_note_types(const emu_op *send, const emu_op *recv);
void emu_finding_misuse(emu_host *host, const emu_call *call, const char *reason);
/* The same of another kind. */
emu_finding *emu_finding_bad_call(emu_host *host, const emu_call *call, tutti_verdict kind,
                                  const char *reason);

/* Whether such a finding says that data is not what it should be. */
bool emu_verdict_is_of_data(uint8_t kind);

/* The call went well: if it was refused before, that is settled. */
void emu_findings_settle(emu_host *host, const emu_call *call);

/* A call that was declined. Returned to a program that can handle it, it is a note until something
 * follows from it; nobody handles it in a script. */
emu_finding *emu_finding_refused(emu_host *host, const emu_call *call, const char *reason);
emu_finding *emu_finding_of(emu_engine *engine, uint64_t subject);

/* Adds a rank to those that a finding blames. */
void emu_finding_blame(emu_finding *finding, int32_t rank);

/* --- diagnosis.c: who waits for whom --- */

/* Explains a time limit that passes at this moment, before anybody is woken: sets limit_finding. */
void emu_diagnose_host_limit(emu_host *host);
void emu_diagnose_comm_limit(emu_comm *comm);

/* Explains why nothing can move; fails what is stuck. True when there was something. */
bool emu_diagnose_stuck(emu_engine *engine, bool pollers_are_stuck);

/* "waits in stream_synchronize (train.c:12)", "killed after 5 calls". */
void emu_text_add_standing(emu_text *text, const emu_host *host);

/* Writes where each rank stands into engine->rank_lines, once. */
void emu_describe_ranks(emu_engine *engine);

/* --- races.c: what happened before what, and who touches which bytes. All of it does nothing when
 * it is switched off. --- */

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

/* --- trace.c --- */

typedef enum emu_trace_kind {
    EMU_TRACE_CALL,     /* a host made a call that enqueues nothing */
    EMU_TRACE_BLOCK,    /* ... and has to wait */
    EMU_TRACE_RETURN,   /* a call was over with something else than ok, or after a wait */
    EMU_TRACE_ISSUE,    /* an operation entered a stream */
    EMU_TRACE_START,    /* it started */
    EMU_TRACE_COMPLETE, /* it is over */
    EMU_TRACE_FAULT,    /* a fault acted */
    EMU_TRACE_FINDING,  /* something was found */
    EMU_TRACE_KIND_COUNT,
} emu_trace_kind;

/* False when memory is out. */
bool emu_trace_begin(emu_engine *engine);
void emu_trace_call(emu_host *host, const emu_call *call, emu_trace_kind kind);
void emu_trace_op(emu_engine *engine, const emu_op *op, emu_trace_kind kind);
void emu_trace_fault(emu_host *host, const emu_call *call, const tutti_fault_action *action);
void emu_trace_link_fault(emu_engine *engine, const emu_op *op, const tutti_fault_action *action,
                          int32_t peer);
void emu_trace_finding(emu_engine *engine, const emu_finding *finding);

#endif
