/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/node.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data.h"
#include "core/model.h"
#include "core/model_own.h"
#include "core/sched.h"
#include "core/lasting.h"
#include "core/tags.h"
#include "core/wait.h"
#include "core/watchdog.h"

/* ---- the world ------------------------------------------------------- */

struct world *world_get(void)
{
	void **slot = (void **)plat_world();
	struct world *world = orr_load_ptr(slot);

	if (world)
		return world;
	world = orr_alloc(sizeof(*world));
	orr_lock_init(&world->lasting_lock);
	if (orr_cas_ptr(slot, NULL, world))
		return world;
	free(world); /* Another thread was first. */
	return orr_load_ptr(slot);
}

void world_end(void)
{
	struct world *world = *plat_world();
	struct lasting *lasting;
	size_t cursor = 0;

	if (!world)
		return;
	ORR_ASSERT(world->nnodes == 0);
	while ((lasting = table_next(&world->lasting, &cursor)))
		lasting_free(lasting);
	table_free(&world->lasting);
	*plat_world() = NULL;
	free(world);
}

static struct world *world_join(void)
{
	struct world *world = world_get();

	world->nnodes++;
	return world;
}

/* The environment may differ from what nodes that are still open have read. */
static struct settings *settings_join(struct world *world)
{
	struct settings *settings;
	struct knobs knobs;

	knobs_read(&knobs);
	for (settings = world->settings; settings; settings = settings->next) {
		if (!knobs_same(&settings->knobs, &knobs))
			continue;
		knobs_free(&knobs);
		settings->nnodes++;
		return settings;
	}
	settings = orr_alloc(sizeof(*settings));
	settings->nnodes = 1;
	settings->knobs = knobs;
	settings->models = model_store_new(&settings->knobs);
	settings->next = world->settings;
	return world->settings = settings;
}

static void settings_leave(struct world *world, struct settings *settings)
{
	struct settings **at = &world->settings;

	if (--settings->nnodes > 0)
		return;
	while (*at != settings)
		at = &(*at)->next;
	*at = settings->next;
	model_store_free(settings->models);
	knobs_free(&settings->knobs);
	free(settings);
}

static void world_leave(struct world *world)
{
	if (--world->nnodes > 0)
		return;
	chunk_store_free(&world->store);
}

/* ---- configuration --------------------------------------------------- */

/* The environment wins over the application's struct, unless that says otherwise. */
static void merge_environment(struct starpu_conf *conf, const struct knobs *knobs)
{
	int own = conf->precedence_over_environment_variables;

#define MERGE(field, knob)                                                               \
	if (knobs->knob != -1 && !(own && conf->field != -1))                            \
	conf->field = knobs->knob
	MERGE(ncpus, ncpu);
	MERGE(reserve_ncpus, reserve_ncpu);
	MERGE(ncuda, ncuda);
	MERGE(global_sched_ctx_min_priority, min_prio);
	MERGE(global_sched_ctx_max_priority, max_prio);
#undef MERGE
/* The field has no value that means "unset". */
#define MERGE_ANY(field, knob)                                                           \
	if (knobs->knob != -1 && !own)                                                   \
	conf->field = knobs->knob
	if (knobs->sched[0] && !(own && conf->sched_policy_name))
		conf->sched_policy_name = knobs->sched;
	MERGE_ANY(calibrate, calibrate);
	MERGE_ANY(bus_calibrate, bus_calibrate);
	MERGE_ANY(disable_asynchronous_copy, disabled_copies.all);
	MERGE_ANY(disable_asynchronous_cuda_copy, disabled_copies.cuda);
	MERGE_ANY(disable_asynchronous_hip_copy, disabled_copies.hip);
	MERGE_ANY(disable_asynchronous_opencl_copy, disabled_copies.opencl);
	MERGE_ANY(disable_asynchronous_max_fpga_copy, disabled_copies.max_fpga);
	MERGE_ANY(disable_asynchronous_mpi_ms_copy, disabled_copies.mpi_ms);
	MERGE_ANY(disable_asynchronous_tcpip_ms_copy, disabled_copies.tcpip_ms);
#undef MERGE_ANY
}

static int count_cpus(const struct node *node)
{
	int ncpus = node->conf.ncpus, most = node->machine->ncpus;
	int reserve = node->conf.reserve_ncpus > 0 ? node->conf.reserve_ncpus : 0;

	if (ncpus < 0) {
		ncpus = most - reserve;
		/* A machine with fewer cores than it needs still runs. */
		if (ncpus < 1 && most > 0)
			ncpus = 1;
	}
	if (ncpus > STARPU_MAXCPUS) {
		orr_complain(node->rank,
			     "%d CPU workers asked for: at most %d are supported", ncpus,
			     STARPU_MAXCPUS);
		ncpus = STARPU_MAXCPUS;
	}
	return ncpus;
}

static int count_gpus(const struct node *node)
{
	int ngpus = node->conf.ncuda, most = node->machine->ngpus;

	if (ngpus < 0 || ngpus > most)
		ngpus = most;
	return ngpus < STARPU_MAXCUDADEVS ? ngpus : STARPU_MAXCUDADEVS;
}

/* ---- memories and workers -------------------------------------------- */

/* 0: as much as the system gives. */
static size_t main_limit(const struct node *node)
{
	int mib = node_knobs(node)->limit_cpu_mem_mib;

	return mib > 0 ? (size_t)mib << 20 : 0;
}

static size_t gpu_limit(const struct node *node, int device)
{
	const struct knobs *knobs = node_knobs(node);
	double limit = node->machine->gpu_memory_bytes;
	int mib = knobs->limit_one_cuda_mem_mib[device];

	if (mib < 0)
		mib = knobs->limit_cuda_mem_mib;
	if (mib >= 0 && (limit == 0 || mib * 1048576.0 < limit))
		limit = mib * 1048576.0;
	return (size_t)limit;
}

static void open_memories(struct node *node)
{
	node->nmemories = 1 + node->ngpu_workers;
	node->memories = orr_alloc((size_t)node->nmemories * sizeof(*node->memories));
	for (int i = 0; i < node->nmemories; i++) {
		struct memory *memory = &node->memories[i];

		memory->kind = i == 0 ? STARPU_CPU_RAM : STARPU_CUDA_RAM;
		memory->devid = i == 0 ? 0 : i - 1;
		memory->capacity_bytes =
			i == 0 ? main_limit(node) : gpu_limit(node, i - 1);
		memory->default_flags = (int)(STARPU_MALLOC_PINNED | STARPU_MALLOC_COUNT);
		orr_lock_init(&memory->lock);
	}
}

static void open_worker(struct node *node, int id)
{
	struct worker *worker = &node->workers[id];
	const struct knobs *knobs = node_knobs(node);
	int is_gpu = id < node->ngpu_workers;
	int shared = is_gpu ? knobs->homogeneous_cuda : knobs->homogeneous_cpu;

	worker->node = node;
	worker->caller.worker = worker;
	worker->id = id;
	worker->idle = 1;
	worker->type = is_gpu ? STARPU_CUDA_WORKER : STARPU_CPU_WORKER;
	worker->devid = is_gpu ? id : id - node->ngpu_workers;
	worker->memory = is_gpu ? 1 + (unsigned)id : STARPU_MAIN_RAM;
	/* Beside GPUs, data of a CPU's next task may have to come from one. */
	worker->depth = is_gpu                   ? 1 + knobs->cuda_pipeline
			: node->ngpu_workers > 0 ? 2
						 : 1;
	if (!knobs->prefetch)
		worker->depth = 1;
	worker->device = (struct starpu_perfmodel_device){worker->type,
							  shared ? 0 : worker->devid, 1};
	worker->arch = (struct starpu_perfmodel_arch){1, &worker->device};
	orr_lock_init(&worker->lock);
}

static int open_workers(struct node *node)
{
	node->ncpu_workers = count_cpus(node);
	node->ngpu_workers = count_gpus(node);
	node->nworkers = node->ncpu_workers + node->ngpu_workers;
	if (node->nworkers == 0) {
		orr_complain(node->rank,
			     "starpu_init: there is no worker: %d CPU workers are asked "
			     "for (STARPU_NCPU, conf.ncpus), and this machine has %d "
			     "GPUs; ask for one at least",
			     node->conf.ncpus, node->machine->ngpus);
		return -ENODEV;
	}
	node->workers = orr_alloc((size_t)node->nworkers * sizeof(*node->workers));
	for (int i = 0; i < node->nworkers; i++)
		open_worker(node, i);
	node->nidle = node->nworkers;
	node->arch_mask = (node->ncpu_workers ? (unsigned)STARPU_CPU : 0) |
			  (node->ngpu_workers ? (unsigned)STARPU_CUDA : 0);
	return 0;
}

static void init_pools(struct node *node)
{
	orr_lock_init(&node->pool_lock);
	orr_lock_init(&node->wait_lock);
	node->wait_limit[0] = node->wait_limit[1] = -1;
	orr_lock_init(&node->waits_lock);
	list_init(&node->waits);
	orr_lock_init(&node->duplicates_lock);
	orr_lock_init(&node->links_lock);
	orr_lock_init(&node->combinations.lock);
	pool_init(&node->job_pool, sizeof(struct job));
	pool_init(&node->body_pool, sizeof(struct data_body));
}

static void free_pools(struct node *node)
{
	data_free_retired(node);
	pool_free(&node->job_pool);
	pool_free(&node->task_pool);
	pool_free(&node->body_pool);
	pool_free(&node->link_pool);
	pool_free(&node->point_pool);
	for (int i = 0; i < 8; i++)
		pool_free(&node->datum_pools[i]);
}

/* What was set before holds now, and what may be asked afterwards is noted. */
static void begin_life(struct node *node)
{
	struct lasting *lasting = node->lasting;

	if (node_knobs(node)->profiling)
		orr_store(&lasting->profiling, 1);
	orr_store(&lasting->shape.ncpu_workers, node->ncpu_workers);
	orr_store(&lasting->shape.ngpu_workers, node->ngpu_workers);
	orr_store(&lasting->shape.nmemories, node->nmemories);
	lasting_give_tags(lasting, node);
}

/* From now on other threads find no node; see lasting_get(). */
static void hide(struct node *node)
{
	orr_lock(&node->world->lasting_lock);
	plat_set_self(NULL);
	orr_unlock(&node->world->lasting_lock);
}

int node_open(struct node **node_out, struct starpu_conf *conf)
{
	struct node *node = orr_alloc(sizeof(*node));
	int ret;

	node->lasting = lasting_get();
	node->world = world_join();
	node->settings = settings_join(node->world);
	node->size = 1;
	node->conf = *conf;
	merge_environment(&node->conf, node_knobs(node));
	node->limit_min = node_knobs(node)->limit_min_submitted;
	node->limit_max = node_knobs(node)->limit_max_submitted;
	init_pools(node);
	ret = plat_open(&node->plat, node);
	if (ret < 0)
		goto leave_world;
	node->machine = plat_machine(node->plat);
	node->start_s = plat_now_s(node->plat);
	ret = open_workers(node);
	if (ret < 0)
		goto close_plat;
	open_memories(node);
	node->sched = sched_open(node);
	begin_life(node);
	plat_set_self(node);
	ret = plat_workers_start(node->plat, node->workers, node->nworkers);
	if (ret < 0)
		goto close_sched;
	watchdog_start(node);
	*node_out = node;
	return 0;

close_sched:
	hide(node);
	node->sched->ops->close(node->sched);
	free(node->memories);
	free(node->workers);
close_plat:
	plat_close(node->plat);
leave_world:
	free_pools(node);
	settings_leave(node->world, node->settings);
	world_leave(node->world);
	free(node);
	return ret;
}

void node_close(struct node *node)
{
	plat_workers_stop(node->plat);
	model_store_save(node->settings->models, node);
	combinations_clear(node);
	node->sched->ops->close(node->sched);
	for (int i = 0; i < node->nworkers; i++)
		levels_free(&node->workers[i].bound);
	tags_clear(node);
	table_free(&node->tags);
	hide(node);
	plat_close(node->plat);
	free(node->memories);
	for (int i = 0; i < node->nworkers; i++)
		table_free(&node->workers[i].counts);
	free(node->workers);
	free_pools(node);
	settings_leave(node->world, node->settings);
	world_leave(node->world);
	free(node);
}

/* ---- waiting for counters -------------------------------------------- */

struct count_waiter {
	struct count_waiter *next;
	int limit, ready_only;
	struct plat_gate gate;
};

static int count_now(const struct node *node, int ready_only)
{
	int blocked = ready_only ? orr_load(&node->nblocked) : 0;

	return orr_load(&node->nsubmitted) - blocked;
}

/* Of those who wait now; node->wait_lock is taken. */
static void note_limits(struct node *node)
{
	int limit[2] = {-1, -1};

	for (const struct count_waiter *waiter = node->waiters; waiter;
	     waiter = waiter->next)
		if (waiter->limit > limit[waiter->ready_only])
			limit[waiter->ready_only] = waiter->limit;
	for (int i = 0; i < 2; i++)
		orr_store(&node->wait_limit[i], limit[i]);
}

void node_counted(struct node *node)
{
	struct count_waiter **at, *waiter;

	if (count_now(node, 0) > orr_load(&node->wait_limit[0]) &&
	    (orr_load(&node->wait_limit[1]) < 0 ||
	     count_now(node, 1) > orr_load(&node->wait_limit[1])))
		return;
	orr_lock(&node->wait_lock);
	for (at = &node->waiters; (waiter = *at);) {
		if (count_now(node, waiter->ready_only) > waiter->limit) {
			at = &waiter->next;
			continue;
		}
		*at = waiter->next;
		plat_gate_open(node->plat, &waiter->gate);
	}
	note_limits(node);
	orr_unlock(&node->wait_lock);
}

/* Nothing will open its gate. */
static void forget_waiter(struct node *node, struct count_waiter *waiter)
{
	struct count_waiter **at = &node->waiters;

	orr_lock(&node->wait_lock);
	while (*at && *at != waiter)
		at = &(*at)->next;
	if (*at)
		*at = waiter->next;
	note_limits(node);
	orr_unlock(&node->wait_lock);
}

static int wait_count(struct node *node, int limit, int ready_only)
{
	struct count_waiter waiter = {.limit = limit, .ready_only = ready_only};
	int ret;

	if (count_now(node, ready_only) <= limit)
		return 0;
	plat_gate_init(&waiter.gate);
	orr_lock(&node->wait_lock);
	waiter.next = node->waiters;
	node->waiters = &waiter;
	note_limits(node);
	orr_unlock(&node->wait_lock);
	/* The counter may have come down before the limit was seen. */
	orr_fence();
	node_counted(node);
	ret = wait_at(node, &waiter.gate, ready_only ? WAIT_READY : WAIT_ENDED, NULL);
	if (ret < 0)
		forget_waiter(node, &waiter);
	return ret;
}

int node_wait_submitted(struct node *node, int limit)
{
	return wait_count(node, limit, 0);
}

int node_wait_ready(struct node *node, int limit)
{
	return wait_count(node, limit, 1);
}
