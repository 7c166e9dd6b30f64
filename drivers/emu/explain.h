#ifndef TUTTI_EMU_EXPLAIN_H
#define TUTTI_EMU_EXPLAIN_H

/* From the wait-for graph to findings that a person can act on. */

#include "drivers/emu/waitfor.h"

/* The ranks that something waits for and that do not come by themselves. */
typedef struct emu_absent {
    int32_t *ranks;         /* in the program; -1: not known */
    const emu_host **hosts; /* of each; NULL: its membership has ended */
    uint32_t count;
    uint32_t room, host_room;
} emu_absent;

/* Fills what a node waits for directly; false when there is nobody. */
bool emu_absent_collect(const emu_waitfor *graph, const emu_node *node, emu_absent *absent);
void emu_absent_free(emu_absent *absent);

emu_finding *emu_explain_cycle(emu_waitfor *graph, uint32_t component);
emu_finding *emu_explain_missing(emu_waitfor *graph, const emu_node *node,
                                 const emu_absent *absent);
emu_finding *emu_explain_limit(emu_waitfor *graph, const emu_node *node, const emu_absent *absent);

/* A limit that passed although everybody is at work: a kernel that takes longer. */
emu_finding *emu_explain_slow_wait(emu_waitfor *graph, const emu_host *host);

emu_finding *emu_explain_hung(const emu_host *host);
emu_finding *emu_explain_internal(const emu_host *host);
emu_finding *emu_explain_unresponsive(const emu_host *host, int64_t limit_ns);

#endif
