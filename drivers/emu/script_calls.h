#ifndef TUTTI_EMU_SCRIPT_CALLS_H
#define TUTTI_EMU_SCRIPT_CALLS_H

/* From the statement that a rank has come to, to calls of the engine. */

#include "drivers/emu/script_step.h"

/* An empty call of a kind, made in a line of the script. */
void emu_script_call_begin(const emu_script_rank *rank, emu_call *call, emu_call_kind kind,
                           int32_t line);

/* A statement that cannot even be tried: the call tells the engine why. */
void emu_script_call_refuse(emu_script_rank *rank, emu_call *call,
                            const emu_script_statement *statement, tutti_status status,
                            const char *text);

/* The allocation of the rank's next buffer. False: it has all of them. */
bool emu_script_call_allocate(emu_script_rank *rank, emu_call *call);

/* What must come before the statement's own calls: its group is joined, its stream and its event
 * exist. False: nothing. */
bool emu_script_call_prepare(emu_script_rank *rank, emu_call *call,
                             const emu_script_statement *statement);

/* The statement's next own call. False: it needs none, or none any more. */
bool emu_script_call_statement(emu_script_rank *rank, emu_call *call,
                               const emu_script_statement *statement);

#endif
