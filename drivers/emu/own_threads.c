#include <inttypes.h>
#include <stdlib.h>

#include "drivers/emu/parallel.h"
#include "drivers/emu/rehearsal.h"

/* Clusters for the caller's own threads: each thread that makes a call is a host from then on,
 * until it ends. Nobody knows which threads are still to come, so nothing is ever declared stuck:
 * waits are bounded by their time limit instead. */

struct tutti_cluster {
    parallel_run parallel; /* first */
    pthread_key_t key;     /* the calling thread's host */
    uint32_t host_room;
};

static tutti_cluster *cluster_of(emu_cluster *cluster) {
    return (tutti_cluster *)cluster;
}

/* --- Threads become hosts --- */

/* The system calls this when a thread ends that has made a call. */
static void thread_ends(void *argument) {
    parallel_host *self = argument;
    parallel_exit((parallel_run *)self->base.cluster, self);
}

/* With the lock. */
static bool make_room(tutti_cluster *cluster) {
    if (cluster->parallel.host_count < cluster->host_room) return true;
    uint32_t room = cluster->host_room == 0 ? 16 : 2 * cluster->host_room;
    parallel_host **hosts = realloc(cluster->parallel.hosts, room * sizeof(parallel_host *));
    if (hosts == NULL) return false;
    cluster->parallel.hosts = hosts;
    cluster->host_room = room;
    return true;
}

/* With the lock. The engine numbers its hosts as we do. */
static parallel_host *add_host(tutti_cluster *cluster) {
    parallel_run *run = &cluster->parallel;
    parallel_host *host = malloc(sizeof(*host));
    if (host == NULL || !make_room(cluster) || !parallel_host_init(run, host)) {
        free(host);
        return NULL;
    }
    if (emu_engine_add_host(run->cluster.engine) == UINT32_MAX) {
        run->host_count--;
        run->awake_count--;
        parallel_host_free(host);
        free(host);
        return NULL;
    }
    return host;
}

/* The calling thread's host, made on its first call; NULL when memory is out. */
static parallel_host *host_of_thread(tutti_cluster *cluster) {
    parallel_host *host = pthread_getspecific(cluster->key);
    if (host != NULL) return host;
    (void)pthread_mutex_lock(&cluster->parallel.lock);
    host = add_host(cluster);
    (void)pthread_mutex_unlock(&cluster->parallel.lock);
    if (host != NULL && pthread_setspecific(cluster->key, host) != 0) {
        parallel_exit(&cluster->parallel, host);
        return NULL;
    }
    return host;
}

static tutti_status own_call(emu_cluster *cluster, emu_call *call) {
    parallel_host *self = host_of_thread(cluster_of(cluster));
    if (self == NULL) {
        call->status = TUTTI_OUT_OF_MEMORY;
        return tutti_error_set(call->error, call->status,
                               "no memory for another thread of the cluster");
    }
    return parallel_call((parallel_run *)cluster, self, call);
}

static int64_t own_now(emu_cluster *cluster) {
    return emu_real_now() - ((parallel_run *)cluster)->start_ns;
}

static const emu_executor own_executor = {
    .call = own_call,
    .now = own_now,
    .enter = parallel_enter,
    .leave = parallel_leave,
};

/* --- The cluster --- */

static tutti_status create(const tutti_rehearsal_options *options, tutti_cluster **cluster_out,
                           tutti_error *error) {
    tutti_cluster *cluster = calloc(1, sizeof(*cluster));
    if (cluster == NULL)
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory for a cluster");
    if (pthread_key_create(&cluster->key, thread_ends) != 0) {
        free(cluster);
        return tutti_error_set(error, TUTTI_SYSTEM,
                               "the system has no key for another cluster: there may be as many at "
                               "once as PTHREAD_KEYS_MAX");
    }
    tutti_status status = parallel_init(&cluster->parallel, &own_executor, options, error);
    if (status != TUTTI_OK) {
        (void)pthread_key_delete(cluster->key);
        free(cluster);
        return status;
    }
    *cluster_out = cluster;
    return TUTTI_OK;
}

tutti_status tutti_cluster_create(const tutti_rehearsal_options *options,
                                  tutti_cluster **cluster_out, tutti_error *error) {
    tutti_rehearsal_options full;
    tutti_error_clear(error);
    if (error != NULL) error->operation = "cluster_create";
    if (cluster_out == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "cluster_out is NULL: give a place for the cluster");
    tutti_status status = emu_options_complete(options, false, &full, error);
    if (status != TUTTI_OK) return status;
    full.rank_count = 0;
    full.executor = TUTTI_EXECUTOR_PARALLEL;
    if (full.wait_timeout_ns == 0) full.wait_timeout_ns = TUTTI_UNRESPONSIVE_NS_DEFAULT;
    status = create(&full, cluster_out, error);
    if (status == TUTTI_OK) tutti_error_clear(error);
    return status;
}

tutti_driver *tutti_cluster_driver(tutti_cluster *cluster) {
    return &cluster->parallel.cluster.base;
}

tutti_status tutti_cluster_report(tutti_cluster *cluster, tutti_report **report_out,
                                  tutti_error *error) {
    parallel_run *run = &cluster->parallel;
    tutti_error_clear(error);
    if (error != NULL) error->operation = "cluster_report";
    if (report_out == NULL)
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "report_out is NULL: give a place for the report");
    (void)pthread_mutex_lock(&run->lock);
    parallel_move_clock(run);
    const emu_report_extra extra = {.choices = "", .real_ns = emu_real_now() - run->start_ns};
    tutti_status status = emu_report_create(run->cluster.engine, &extra, report_out, error);
    (void)pthread_mutex_unlock(&run->lock);
    if (status == TUTTI_OK) tutti_error_clear(error);
    return status;
}

void tutti_cluster_destroy(tutti_cluster *cluster) {
    if (cluster == NULL) return;
    (void)pthread_key_delete(cluster->key);
    for (uint32_t i = 0; i < cluster->parallel.host_count; i++) {
        parallel_host_free(cluster->parallel.hosts[i]);
        free(cluster->parallel.hosts[i]);
    }
    parallel_free(&cluster->parallel);
    free(cluster->parallel.hosts);
    free(cluster);
}
