#include "drivers/emu/script_step.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/script_calls.h"
#include "drivers/emu/script_expect.h"

/* --- What all ranks share --- */

static const uint32_t *emu_members_of(const emu_script_group *group) {
    uint32_t *hosts = calloc((size_t)group->rank_count + 1, sizeof *hosts);
    if (hosts == NULL) return NULL;
    for (uint32_t i = 0; i < group->members_count; i++) {
        const emu_script_members *run = &group->members[i];
        for (int32_t rank = run->first; rank <= run->last; rank++)
            hosts[run->first_member + rank - run->first] = (uint32_t)rank;
    }
    return hosts;
}

tutti_status emu_script_run_init(emu_script_run *run, const emu_script *script, emu_engine *engine,
                                 tutti_error *error) {
    *run = (emu_script_run){.script = script, .engine = engine};
    run->member_hosts = calloc(script->group_count, sizeof *run->member_hosts);
    run->group_names = calloc(script->group_count, sizeof *run->group_names);
    run->ids = calloc(script->group_count, sizeof *run->ids);
    bool complete = run->member_hosts != NULL && run->group_names != NULL && run->ids != NULL;
    for (uint32_t i = 0; complete && i < script->group_count; i++) {
        run->member_hosts[i] = emu_members_of(&script->groups[i]);
        run->group_names[i] = emu_engine_intern(engine, script->groups[i].name);
        complete = run->member_hosts[i] != NULL && run->group_names[i] != NULL;
    }
    if (complete) return TUTTI_OK;
    emu_script_run_free(run);
    return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for the script's groups");
}

void emu_script_run_free(emu_script_run *run) {
    for (uint32_t i = 0; run->member_hosts != NULL && i < run->script->group_count; i++)
        free((void *)(uintptr_t)run->member_hosts[i]);
    free(run->member_hosts);
    free(run->group_names);
    free(run->ids);
    run->ids = NULL;
    run->member_hosts = NULL;
    run->group_names = NULL;
}

/* --- One rank --- */

static const emu_script_statement *emu_rank_statement(const emu_script_rank *rank) {
    return &rank->run->script->statements[rank->statement];
}

/* Goes to the first section that names the rank, from the given one on, and its first statement. */
static void emu_rank_enter_section(emu_script_rank *rank, uint32_t from) {
    const emu_script *script = rank->run->script;
    rank->section = emu_script_next_section(script, rank->rank, from);
    if (rank->section < script->section_count)
        rank->statement = script->sections[rank->section].first_statement;
}

bool emu_script_rank_init(emu_script_rank *rank, emu_script_run *run, int32_t number) {
    const emu_script *script = run->script;
    *rank = (emu_script_rank){.run = run, .rank = number};
    size_t pointers = (size_t)script->buffer_name_count + script->group_count +
                      script->stream_count + script->event_count;
    size_t bytes = pointers * sizeof(void *) + script->loop_depth * sizeof(uint32_t) +
                   2 * script->group_count * sizeof(bool);
    void **block = calloc(1, bytes + sizeof(void *));
    if (block == NULL) return false;
    rank->buffers = block;
    rank->comms = (emu_comm **)(rank->buffers + script->buffer_name_count);
    rank->streams = (emu_stream **)(rank->comms + script->group_count);
    rank->events = (emu_event **)(rank->streams + script->stream_count);
    rank->counters = (uint32_t *)(rank->events + script->event_count);
    rank->given_up = (bool *)(rank->counters + script->loop_depth);
    rank->tried = rank->given_up + script->group_count;
    emu_rank_enter_section(rank, 0);
    return true;
}

void emu_script_rank_free(emu_script_rank *rank) {
    free(rank->buffers);
    free(rank->kernel);
    rank->buffers = NULL;
    rank->kernel = NULL;
}

/* --- Going from statement to statement --- */

/* The next statement that makes a call: repeats only count, and sections end. */
static void emu_rank_settle_position(emu_script_rank *rank) {
    const emu_script *script = rank->run->script;
    while (rank->section < script->section_count) {
        const emu_script_section *section = &script->sections[rank->section];
        if (rank->statement == section->first_statement + section->statement_count) {
            emu_rank_enter_section(rank, rank->section + 1);
            continue;
        }
        const emu_script_statement *statement = emu_rank_statement(rank);
        if (statement->kind == EMU_SCRIPT_REPEAT) {
            rank->counters[statement->loop] = statement->repeat_count;
            rank->statement =
                statement->repeat_count == 0 ? statement->partner + 1 : rank->statement + 1;
        } else if (statement->kind == EMU_SCRIPT_REPEAT_END) {
            bool again = --rank->counters[statement->loop] > 0;
            rank->run->step_count++;
            if (rank->run->step_count > EMU_SCRIPT_STEPS_MAX) return;
            rank->statement = again ? statement->partner + 1 : rank->statement + 1;
        } else {
            return;
        }
    }
    rank->ended = true;
}

static void emu_rank_advance(emu_script_rank *rank) {
    rank->statement++;
    rank->step = 0;
    rank->minted = false;
}

/* --- Calls --- */

static bool emu_call_limit(emu_script_rank *rank, emu_call *call) {
    char text[128];
    emu_script_run *run = rank->run;
    if (run->step_count <= EMU_SCRIPT_STEPS_MAX) return false;
    rank->ended = true;
    if (run->exhausted) return false;
    run->exhausted = true;
    snprintf(text, sizeof text,
             "the run has carried out %" PRIu64 " statements, which is the limit: repeat less",
             EMU_SCRIPT_STEPS_MAX);
    emu_script_call_refuse(rank, call, emu_rank_statement(rank), TUTTI_MISUSE, text);
    return true;
}

void emu_script_next_call(emu_script_rank *rank, emu_call *call) {
    if (emu_script_call_allocate(rank, call)) return;
    for (;;) {
        if (!rank->ended) emu_rank_settle_position(rank);
        if (!rank->ended && emu_call_limit(rank, call)) return;
        if (rank->ended) break;
        const emu_script_statement *statement = emu_rank_statement(rank);
        if (emu_script_call_prepare(rank, call, statement)) return;
        if (emu_script_call_statement(rank, call, statement)) return;
        rank->run->step_count++;
        if (!rank->ended) emu_rank_advance(rank);
    }
    emu_script_call_begin(rank, call, EMU_CALL_EXIT, 0);
    call->place = (tutti_place){NULL, 0};
}

/* --- Results --- */

static void emu_rank_take_buffer(emu_script_rank *rank, const emu_call *call) {
    const emu_script_buffer *buffer =
        emu_script_buffer_of(rank->run->script, rank->next_buffer, rank->rank);
    rank->buffers[rank->next_buffer++] = call->buffer_out.data;
    if (call->status == TUTTI_OK)
        emu_script_fill_buffer(buffer, call->buffer_out, rank->rank);
    else
        rank->ended = true;
}

/* Whether more calls of the same statement follow a call that went well. */
static bool emu_statement_goes_on(const emu_script_rank *rank, const emu_call *call) {
    const emu_script_statement *statement = emu_rank_statement(rank);
    bool syncs_all = statement->kind == EMU_SCRIPT_SYNC && call->kind == EMU_CALL_STREAM_SYNC &&
                     statement->stream == EMU_SCRIPT_NONE;
    if (syncs_all) return true;
    if (call->status != TUTTI_OK) return false;
    return call->kind == EMU_CALL_DATA_TYPE || call->kind == EMU_CALL_HOST_ACCESS;
}

void emu_script_call_done(emu_script_rank *rank, const emu_call *call) {
    const emu_script *script = rank->run->script;
    if (call->kind == EMU_CALL_EXIT) return;
    if (call->kind == EMU_CALL_ALLOCATE) {
        emu_rank_take_buffer(rank, call);
        return;
    }
    const emu_script_statement *statement = &script->statements[rank->statement];
    bool before_group_call =
        statement->kind == EMU_SCRIPT_GROUP_START && call->kind != EMU_CALL_GROUP_START;
    if (before_group_call) statement += 1 + rank->step;
    bool ok = call->status == TUTTI_OK || call->status == TUTTI_IN_PROGRESS;
    bool dead = call->status == TUTTI_KILLED || call->status == TUTTI_UNRESPONSIVE ||
                call->status == TUTTI_OUT_OF_MEMORY;
    rank->run->step_count++;
    if (dead) rank->ended = true;
    if (ok && call->kind == EMU_CALL_MINT) {
        rank->minted = true;
        return;
    }
    if (call->kind == EMU_CALL_JOIN) {
        rank->tried[statement->group] = true;
        rank->minted = false; /* the next group, perhaps of the same statement, has its own */
    }
    if (ok && call->kind == EMU_CALL_JOIN) rank->comms[statement->group] = call->comm;
    if (ok && call->kind == EMU_CALL_JOIN && statement->kind != EMU_SCRIPT_JOIN) return;
    if (ok && call->kind == EMU_CALL_STREAM_CREATE) {
        rank->streams[statement->stream] = call->stream;
        return;
    }
    if (ok && call->kind == EMU_CALL_EVENT_CREATE) {
        rank->events[statement->event] = call->event;
        return;
    }
    if (call->kind == EMU_CALL_LEAVE || call->kind == EMU_CALL_ABORT)
        rank->given_up[statement->group] = true;
    if (ok && call->kind == EMU_CALL_GROUP_START) rank->group_depth++;
    if (call->kind == EMU_CALL_GROUP_END && rank->group_depth > 0) rank->group_depth--;
    if (before_group_call || emu_statement_goes_on(rank, call))
        rank->step++;
    else
        emu_rank_advance(rank);
}
