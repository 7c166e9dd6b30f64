#include "drivers/emu/cluster.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/rehearsal.h"
#include "drivers/emu/sanitize.h"
#include "tutti/group.h"

/* --- Which rank a thread runs --- */

/* A rank of a rehearsal may be told by its handles alone only who it talks to, not who it is. */
static _Thread_local tutti_rank *rank_of_thread;

EMU_NO_TSAN tutti_rank *emu_rank_of_thread(const emu_cluster *cluster) {
    tutti_rank *rank = rank_of_thread;
    return rank != NULL && rank->cluster == cluster ? rank : NULL;
}

EMU_NO_TSAN void emu_rank_of_thread_set(tutti_rank *rank) {
    rank_of_thread = rank;
}

/* --- Creation --- */

static tutti_status parse_faults(const char *given, tutti_fault_plan **plan_out,
                                 tutti_error *error) {
    static const tutti_fault_source of_options = {"faults", 1, 1};
    static const tutti_fault_source of_environment = {"TUTTI_FAULTS", 1, 1};
    const char *text = given != NULL ? given : getenv("TUTTI_FAULTS");
    *plan_out = NULL;
    if (text == NULL || text[0] == '\0') return TUTTI_OK;
    return tutti_fault_plan_parse(text, strlen(text), given != NULL ? &of_options : &of_environment,
                                  plan_out, error);
}

/* The group of all ranks: rank r on its first device, which is device r. */
static tutti_status describe_world(emu_cluster *cluster, tutti_error *error) {
    uint32_t count = cluster->rank_count;
    if (count == 0) return TUTTI_OK;
    cluster->world_hosts = malloc(count * sizeof(*cluster->world_hosts));
    tutti_device_id *devices = malloc(count * sizeof(*devices));
    if (cluster->world_hosts == NULL || devices == NULL) {
        free(devices);
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for %" PRIu32 " ranks",
                               count);
    }
    for (uint32_t i = 0; i < count; i++) {
        cluster->world_hosts[i] = i;
        devices[i] = emu_device_base(emu_engine_device(cluster->engine, i))->id;
    }
    tutti_status status = tutti_communication_id_of(devices, count, TUTTI_PURPOSE_COLLECTIVES,
                                                    &cluster->world_id, error);
    free(devices);
    return status;
}

static emu_config config_of(const emu_cluster *cluster, const tutti_rehearsal_options *options) {
    return (emu_config){
        .host_count = cluster->rank_count,
        .device_count = cluster->device_count,
        .capacity = options->capacity,
        .first_use_blocks = options->first_use_blocks != 0,
        .tolerate_group_order = options->tolerate_group_order != 0,
        .ignore_leaks = options->ignore_leaks != 0,
        .examine_at_once = options->executor == TUTTI_EXECUTOR_PARALLEL,
        .wait_timeout_ns = options->wait_timeout_ns,
        .faults = cluster->faults,
        .seed = options->seed,
        .trace_sink = options->trace_sink,
        .trace_context = options->trace_context,
    };
}

tutti_status emu_cluster_init(emu_cluster *cluster, const emu_executor *executor,
                              const emu_rehearsal *rehearsal, tutti_error *error) {
    const tutti_rehearsal_options *options = &rehearsal->options;
    const emu_config *config = rehearsal->engine_config;
    memset(cluster, 0, sizeof(*cluster));
    cluster->executor = executor;
    cluster->rank_count = options->rank_count;
    cluster->device_count = options->device_count;
    tutti_status status = tutti_driver_bind(&tutti_emu_driver_table, &cluster->base, error);
    if (status == TUTTI_OK && config == NULL)
        status = parse_faults(options->faults, &cluster->faults, error);
    if (status == TUTTI_OK) {
        emu_config own = config != NULL ? *config : config_of(cluster, options);
        own.choices = rehearsal->choices;
        if (config == NULL) own.memory_guard = emu_asan_guard_or_null();
        own.steps = rehearsal->steps;
        if (rehearsal->watch != NULL) own.watch = *rehearsal->watch;
        status = emu_engine_create(&own, &cluster->base, &cluster->engine, error);
    }
    if (status == TUTTI_OK) status = describe_world(cluster, error);
    if (status != TUTTI_OK) emu_cluster_free(cluster);
    return status;
}

void emu_cluster_free(emu_cluster *cluster) {
    emu_engine_destroy(cluster->engine);
    tutti_fault_plan_destroy(cluster->faults);
    free(cluster->world_hosts);
    cluster->engine = NULL;
    cluster->faults = NULL;
    cluster->world_hosts = NULL;
}

emu_cluster *emu_cluster_of(tutti_driver *driver) {
    return (emu_cluster *)driver;
}

/* --- Calls --- */

static bool joins_world(const emu_cluster *cluster, const emu_call *call) {
    return cluster->world_minted && (uint32_t)call->rank_count == cluster->rank_count &&
           memcmp(call->id, &cluster->world, sizeof(cluster->world)) == 0;
}

emu_outcome emu_cluster_issue(emu_cluster *cluster, uint32_t host, emu_call *call) {
    if (call->kind == EMU_CALL_JOIN && joins_world(cluster, call)) {
        call->member_hosts = cluster->world_hosts;
        if (call->name == NULL) call->name = "world";
    }
    return emu_engine_issue(cluster->engine, host, call);
}

void emu_cluster_note(emu_cluster *cluster, const emu_call *call) {
    bool mints_world = call->kind == EMU_CALL_MINT && cluster->rank_count > 0 &&
                       call->communication_id == cluster->world_id;
    if (!mints_world || call->status != TUTTI_OK) return;
    cluster->world = *call->id_out;
    cluster->world_minted = true;
}

tutti_status emu_cluster_call(emu_cluster *cluster, emu_call *call) {
    return cluster->executor->call(cluster, call);
}

/* --- Refusals that the engine does not see --- */

static tutti_status refuse(emu_call *call, tutti_status status, const char *text) {
    call->status = status;
    return tutti_error_set(call->error, status, "%s", text);
}

tutti_status emu_refuse_stranger(emu_call *call) {
    return refuse(call, TUTTI_MISUSE,
                  "the calling thread runs no rank of this rehearsal: its driver and handles may "
                  "only be used by the thread that a rank's function runs on, and until that "
                  "function returns");
}

tutti_status emu_refuse_in_function(emu_call *call) {
    return refuse(call, TUTTI_MISUSE,
                  "a host function that runs in a stream must not call any operation: let it set a "
                  "variable, and make the call where the stream is synchronized");
}

tutti_status emu_refuse_abandoned(emu_call *call) {
    return refuse(call, TUTTI_UNRESPONSIVE,
                  "the rehearsal was given up, since a rank did not come back from its own code "
                  "within the real-time limit");
}

tutti_status emu_refuse_over(emu_call *call) {
    return refuse(call, TUTTI_DEADLOCK,
                  "the rehearsal is over: nothing can move any more, and the ranks that are left "
                  "only call again and again");
}
