#ifndef TUTTI_EMU_OP_FAULTS_H
#define TUTTI_EMU_OP_FAULTS_H

/* What faults do to operations that are on their way, for the files of the engine that start and
 * complete them. An operation without faults has a NULL list, and all of this is skipped. */

#include "drivers/emu/state.h"

/* The operation was made by a call that a fault acts on: keeps the fault with it, and notes it. */
void emu_op_take_fault(emu_host *host, emu_op *op, const emu_call *call);

/* The operation has got its number: asks the plan about each link that its data takes. */
void emu_op_ask_links(emu_op *op);

/* Forgets an operation's faults; frees all that there ever were. */
void emu_op_faults_recycle(emu_engine *engine, emu_op *op);
void emu_op_faults_destroy(emu_engine *engine);

/* Whether a fault has lost the operation's part, so that it never completes. The culprit is a rank
 * of the program. */
bool emu_op_is_lost(const emu_op *op, int32_t *culprit_out);

/* " was here, but a fault lost its part (fault plan, rule 1)", about one that is lost. */
void emu_text_add_loss(emu_text *text, const emu_op *op);

/* " (fault plan, rule 1)" for the rule with index 0. */
void emu_text_add_rule(emu_text *text, int32_t rule);

/* A duration, so many times longer; a factor of 0 is none. */
int64_t emu_fault_scale(int64_t ns, uint64_t factor_millionths);

/* " for the copy, which a fault makes 5ms longer on rank 1 (fault plan, rule 1)"; false when no
 * fault makes it longer. */
bool emu_text_add_slow_op(emu_text *text, const emu_op *op, int32_t *culprit_out);

/* A copy, fill or kernel with faults starts: true when it is over, or goes on in a while. */
bool emu_op_start_faulty(emu_op *op);

/* All parts have started and agree: true when a fault keeps the data from being moved now. */
bool emu_collective_held_up(emu_collective *collective);
bool emu_transfer_held_up(emu_op *send, emu_op *recv);

/* The time that a fault has made it take is over. */
void emu_op_time_over(emu_op *op);

/* The data of an operation with faults is where it should be: some of it is altered. */
void emu_op_corrupt(const emu_op *op);

/* A point is passed where a fault could act: tells whoever wants to know. */
void emu_faults_see(const emu_engine *engine, const tutti_fault_site *site);

#endif
