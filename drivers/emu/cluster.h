#ifndef TUTTI_EMU_CLUSTER_H
#define TUTTI_EMU_CLUSTER_H

/* What a cluster is to whoever uses it through the driver's table: the engine, and an executor that
 * carries calls to it. */

#include "drivers/emu/engine.h"

enum {
    EMU_DEAD_CALLS_MAX = 1000, /* calls of a rank that is past help; then its function is ended */
    EMU_WATCHES_PER_LIMIT = 4, /* looks at a rank before it counts as unresponsive */
    EMU_LET_GO_LIMITS = 4,     /* unresponsive_ns that all ranks of a given up run get to end */
};

typedef struct emu_cluster emu_cluster;

/* What carries out the calls that threads make. */
typedef struct emu_executor {
    /* Issues a call for the calling thread's host and waits until it is over; returns its status.
     * A thread that has no host in this cluster is refused with TUTTI_MISUSE. */
    tutti_status (*call)(emu_cluster *cluster, emu_call *call);

    /* The time on the cluster's clock, as the calling thread sees it. */
    int64_t (*now)(emu_cluster *cluster);

    /* Between the two, the calling thread may look at the engine; not for long. False: it may not,
     * and leave is not called. */
    bool (*enter)(emu_cluster *cluster);
    void (*leave)(emu_cluster *cluster);
} emu_executor;

struct emu_cluster {
    tutti_driver base; /* first: a handle leads to it */
    const emu_executor *executor;
    emu_engine *engine;
    tutti_fault_plan *faults; /* owned; NULL: none */
    uint32_t rank_count;      /* hosts at the start */
    uint32_t device_count;
    tutti_communication_id world_id; /* of the first devices of all ranks */
    uint32_t *world_hosts;           /* the host of each rank of the world: owned */
    tutti_unique_id world;           /* the identifier of world_id, once it is minted */
    bool world_minted;
};

/* A rank of a rehearsal. Executors embed it first. */
struct tutti_rank {
    emu_cluster *cluster;
    uint32_t host;
};

/* The driver's table. */
extern const tutti_driver_table tutti_emu_driver_table;

typedef struct emu_rehearsal emu_rehearsal;

/* Fills a cluster: its faults (those of the options, or of TUTTI_FAULTS), its engine, its driver.
 * What the rehearsal points to is borrowed as long as calls are made.
 * Errors: as tutti_rehearse; *cluster needs no emu_cluster_free() then */
tutti_status emu_cluster_init(emu_cluster *cluster, const emu_executor *executor,
                              const emu_rehearsal *rehearsal, tutti_error *error);
void emu_cluster_free(emu_cluster *cluster);

/* Hands a call to the engine, and says that one is over, for executors. So the cluster knows by
 * which identifier the world is joined, and fills in its names. */
emu_outcome emu_cluster_issue(emu_cluster *cluster, uint32_t host, emu_call *call);
void emu_cluster_note(emu_cluster *cluster, const emu_call *call);

/* Runs a call of the calling thread. */
tutti_status emu_cluster_call(emu_cluster *cluster, emu_call *call);

/* The cluster of a driver that is the emulator's, and of its handles. */
emu_cluster *emu_cluster_of(tutti_driver *driver);

/* The rank that the calling thread runs, if it is one of this cluster's; NULL. Only for executors
 * that run ranks on threads of their own. */
tutti_rank *emu_rank_of_thread(const emu_cluster *cluster);
void emu_rank_of_thread_set(tutti_rank *rank);

/* Why a call is refused before the engine sees it. Each returns the status that the call gets. */
tutti_status emu_refuse_stranger(emu_call *call);
tutti_status emu_refuse_in_function(emu_call *call);
tutti_status emu_refuse_abandoned(emu_call *call);
tutti_status emu_refuse_over(emu_call *call);

#endif
