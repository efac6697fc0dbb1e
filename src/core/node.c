/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/environment.h"
#include "core/sched/contexts.h"
#include "core/sched/ranks.h"
#include "core/sched/teams.h"
#include "core/bound/bound.h"
#include "core/choice.h"
#include "core/counters.h"
#include "core/data/ahead.h"
#include "core/data/coherency.h"
#include "core/data/data.h"
#include "core/data/hollow.h"
#include "core/data/kept.h"
#include "core/model/model.h"
#include "core/model/model_own.h"
#include "core/data/routes.h"
#include "core/data/shapes.h"
#include "core/disk/disk.h"
#include "core/disk/swap.h"
#include "core/drive.h"
#include "core/lasting.h"
#include "core/hooks.h"
#include "core/pulse.h"
#include "core/sched/cores.h"
#include "core/task/breaks.h"
#include "core/task/fold.h"
#include "core/task/tags.h"
#include "core/task/transaction.h"
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
	orr_lock_init(&world->disk_lock);
	world->store.is_huge = 1;
	world->pools.store.is_wordless = 1;
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
	arena_end(world->disk_space);
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
	knobs_complain();
	settings = orr_alloc(sizeof(*settings));
	settings->nnodes = 1;
	settings->knobs = knobs;
	settings->models = model_store_new(&settings->knobs);
	settings->next = world->settings;
	return world->settings = settings;
}

/* Of what is set and read by nothing. */
static void complain_once(struct node *node)
{
	if (!node->machine->is_first || node->settings->unread_told ||
	    node_knobs(node)->silent)
		return;
	node->settings->unread_told = 1;
	environment_complain();
}

static void settings_leave(struct world *world, struct settings *settings)
{
	struct settings **at = &world->settings;

	if (--settings->nnodes > 0)
		return;
	while (*at != settings)
		at = &(*at)->next;
	*at = settings->next;
	while (settings->confs) {
		struct kept_conf *kept = settings->confs;

		settings->confs = kept->next;
		free(kept);
	}
	model_store_free(settings->models);
	knobs_free(&settings->knobs);
	free(settings);
}

static void world_leave(struct world *world)
{
	if (--world->nnodes > 0)
		return;
	chunk_store_free(&world->store);
	pool_commons_free(&world->pools);
	shapes_free(world);
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
	MERGE(nmpi_ms, nmpi_ms);
#undef MERGE
/* As with StarPU: starpu_conf_init() has read the environment. */
#define MERGE_UNSET(field, knob)                                                         \
	if (conf->field == -1)                                                           \
	conf->field = knobs->knob
	MERGE_UNSET(global_sched_ctx_min_priority, min_prio);
	MERGE_UNSET(global_sched_ctx_max_priority, max_prio);
#undef MERGE_UNSET
/* The field has no value that means "unset". */
#define MERGE_ANY(field, knob)                                                           \
	if (knobs->knob != -1 && !own)                                                   \
	conf->field = knobs->knob
	if (knobs->sched[0] && !(own && conf->sched_policy_name))
		conf->sched_policy_name = knobs->sched;
	MERGE_ANY(calibrate, calibrate);
	MERGE_ANY(bus_calibrate, bus_calibrate);
	MERGE_ANY(enable_map, enable_map);
	MERGE_ANY(catch_signals, catch_signals);
	MERGE_ANY(disable_asynchronous_copy, disabled_copies.all);
	MERGE_ANY(disable_asynchronous_cuda_copy, disabled_copies.cuda);
	MERGE_ANY(disable_asynchronous_hip_copy, disabled_copies.hip);
	MERGE_ANY(disable_asynchronous_opencl_copy, disabled_copies.opencl);
	MERGE_ANY(disable_asynchronous_max_fpga_copy, disabled_copies.max_fpga);
	MERGE_ANY(disable_asynchronous_mpi_ms_copy, disabled_copies.mpi_ms);
	MERGE_ANY(disable_asynchronous_tcpip_ms_copy, disabled_copies.tcpip_ms);
#undef MERGE_ANY
}

/* Nodes that have the same share one. */
static const struct starpu_conf *keep_conf(struct settings *settings,
					   const struct starpu_conf *conf)
{
	struct kept_conf *kept;

	for (kept = settings->confs; kept; kept = kept->next)
		if (memcmp(&kept->conf, conf, sizeof(*conf)) == 0)
			return &kept->conf;
	kept = orr_alloc(sizeof(*kept));
	kept->conf = *conf;
	kept->next = settings->confs;
	settings->confs = kept;
	return &kept->conf;
}

static void take_conf(struct node *node, const struct starpu_conf *conf)
{
	struct starpu_conf merged = *conf;

	merge_environment(&merged, node_knobs(node));
	node->conf = keep_conf(node->settings, &merged);
	node->calibrate = node->conf->calibrate;
	node->catch_signals = node->conf->catch_signals;
	node->rest_calls.going_to_sleep = node->conf->callback_worker_going_to_sleep;
	node->rest_calls.waking_up = node->conf->callback_worker_waking_up;
	node->limit_min = node_knobs(node)->limit_min_submitted;
	node->limit_max = node_knobs(node)->limit_max_submitted;
}

void node_want_cpus(struct node *node, int ncpus)
{
	struct starpu_conf conf = *node->conf;

	conf.ncpus = ncpus;
	node->conf = keep_conf(node->settings, &conf);
}

/* ---- memories and workers -------------------------------------------- */

static struct memory *add_memory(struct node *node, const struct memory_driver *driver,
				 size_t capacity_bytes)
{
	struct memory *memory = &node->memories[node->nmemories];
	const struct knobs *knobs = node_knobs(node);

	memory->driver = driver;
	memory->capacity_bytes = capacity_bytes;
	memory->default_flags = (int)(STARPU_MALLOC_PINNED | STARPU_MALLOC_COUNT);
	memory->minimum_bytes = capacity_bytes / 100 * (size_t)knobs->minimum_available;
	memory->target_bytes = capacity_bytes / 100 * (size_t)knobs->target_available;
	if (memory->target_bytes < memory->minimum_bytes)
		memory->target_bytes = memory->minimum_bytes;
	orr_lock_init(&memory->lock);
	return memory;
}

/* What the system calls the device of this index. */
static int device_id(const struct node *node, enum starpu_worker_archtype type, int index)
{
	const struct plat_devices *devices = &node->machine->devices[type];

	return devices->each ? devices->each[index].id : index;
}

static void open_memory(struct node *node, enum starpu_worker_archtype type, int index)
{
	const struct device_type *row = device_type(type);
	struct memory *memory = add_memory(node, node->machine->devices[type].memory,
					   device_limit(node, type, index));

	memory->kind = row->memory;
	memory->name = row->memory_name;
	memory->limit_name = row->limit_name;
	memory->devid = device_id(node, type, index);
	node->nmemories++;
}

static void open_main_memories(struct node *node)
{
	for (int i = 0; i < node->machine->nnumas; i++)
		open_memory(node, STARPU_CPU_WORKER, i);
	node->nmains = node->nmemories;
	node->memories[STARPU_MAIN_RAM].is_booked =
		node->memories[STARPU_MAIN_RAM].capacity_bytes == 0;
	for (int i = 0; node->nmains > 1 && i < node->nmains; i++)
		node->memories[i].limit_name = "STARPU_LIMIT_CPU_NUMA_MEM";
}

/* Nobody works on it.  It is not counted yet. */
static void open_other_memory(struct node *node, const struct plat_memory *of)
{
	struct memory *memory = add_memory(node, of->driver, (size_t)of->bytes);

	memory->kind = (enum starpu_node_kind)of->kind;
	memory->name = of->name;
	memory->disk = of->disk;
	for (const struct memory *other = node->memories; other < memory; other++)
		memory->devid += other->kind == memory->kind;
}

/* Several workers of one device compute from one memory, which the first one brings. */
static void take_place(struct worker *worker, const struct plat_device *device)
{
	worker->devid = device->id;
	worker->index += device->index;
	if (device->like)
		worker->like = device->like;
	if (device->kind)
		worker->kind = device->kind;
}

static void open_worker(struct node *node, enum starpu_worker_archtype type, int number)
{
	struct worker *worker = &node->workers[node->nworkers];
	const struct plat_device *each = node->machine->devices[type].each;
	const struct knobs *knobs = node_knobs(node);
	int n = device_workers_each(node, type), index = number / n, shared;

	worker->node = node;
	worker->caller.worker = worker;
	worker->id = node->nworkers++;
	worker->next_order = 1;
	worker->idle = worker->told_idle = 1;
	worker->type = type;
	worker->kind = device_type(type);
	worker->driver = node->machine->devices[type].worker;
	worker->devid = index;
	worker->index = number % n;
	worker->like = worker;
	worker->memory = STARPU_MAIN_RAM;
	if (each)
		take_place(worker, &each[index]);
	if (device_has_memory(worker->kind)) {
		if (worker->index == 0)
			open_memory(node, type, index);
		worker->memory = (unsigned)node->nmemories - 1;
	} else if (node->nmains > 1) {
		worker->memory = plat_worker_memory(node->plat, index);
	}
	shared = device_is_homogeneous(worker->kind, knobs);
	worker->device =
		(struct starpu_perfmodel_device){type, shared ? 0 : worker->devid, 1};
	worker->arch = (struct starpu_perfmodel_arch){1, &worker->device};
	orr_lock_init(&worker->lock);
	orr_lock_init(&worker->turn);
}

static void set_depths(struct node *node)
{
	const struct knobs *knobs = node_knobs(node);

	for (int i = 0; i < node->nworkers; i++) {
		struct worker *worker = &node->workers[i];

		int depth = 1, most = 1 + device_pipeline(worker->kind, knobs);

		/* Data of the next task may have to come from another memory. */
		if (knobs->prefetch && node->nmemories > 1)
			depth = most;
		if (!worker->pipeline)
			worker->pipeline = most <= WORKER_OWN_PIPELINE
						   ? worker->own_pipeline
						   : orr_alloc((size_t)most *
							       sizeof(*worker->pipeline));
		orr_store(&worker->depth, depth);
	}
}

static void free_workers(struct node *node)
{
	for (int i = 0; i < node->nworkers; i++)
		if (node->workers[i].pipeline != node->workers[i].own_pipeline)
			free(node->workers[i].pipeline);
	free(node->workers);
}

static int count_memories(const struct node *node)
{
	int n = node->machine->nnumas + node->machine->nmemories;

	for (int type = 0; type < DEVICE_TYPES; type++) {
		const struct device_type *row = device_type(type);

		if (row && device_has_memory(row))
			n += device_count(node, type);
	}
	return n;
}

/* Main memories are the first; each device with a memory of its own brings the next. */
static int open_workers(struct node *node)
{
	int n = 0;

	for (int type = 0; type < DEVICE_TYPES; type++) {
		node->nworkers_of[type] =
			device_count(node, type) * device_workers_each(node, type);
		n += node->nworkers_of[type];
	}
	if (n == 0) {
		/* Ranks are known from starpu_mpi_init() on. */
		orr_complain(node->size > 1 ? node->rank : ORR_NO_RANK,
			     "starpu_init: there is no worker: %d CPU workers are asked "
			     "for (STARPU_NCPU, conf.ncpus), and machine %s has %d "
			     "GPUs; ask for one at least",
			     node->conf->ncpus, node->machine->hostname,
			     node->machine->devices[STARPU_CUDA_WORKER].count);
		return -ENODEV;
	}
	node->workers = orr_alloc_lines((size_t)n * sizeof(*node->workers));
	/* Some may be added later. */
	node->most_memories = count_memories(node) + PLAT_MAX_MEMORIES;
	node->memories = orr_alloc((size_t)node->most_memories * sizeof(*node->memories));
	open_main_memories(node);
	for (int i = 0; i < DEVICE_TYPES; i++) {
		enum starpu_worker_archtype type = device_order[i];

		node->first_worker_of[type] = node->nworkers;
		for (int k = 0; k < node->nworkers_of[type]; k++)
			open_worker(node, type, k);
		if (node->nworkers_of[type] > 0)
			node->arch_mask |= (unsigned)STARPU_WORKER_TO_MASK(type);
	}
	for (int i = 0; i < node->machine->nmemories; i++, node->nmemories++)
		open_other_memory(node, &node->machine->memories[i]);
	set_depths(node);
	choice_tell_shared(node);
	node->nidle = node->nworkers;
	routes_make(node, (unsigned)node->nmemories);
	return 0;
}

static void init_locks(struct node *node)
{
	orr_lock_init(&node->pool_lock);
	orr_lock_init(&node->returned_lock);
	orr_lock_init(&node->transfer_lock);
	orr_lock_init(&node->wait_lock);
	node->wait_limit[0] = node->wait_limit[1] = -1;
	orr_lock_init(&node->waits_lock);
	list_init(&node->waits);
	orr_lock_init(&node->duplicates_lock);
	orr_lock_init(&node->energy_lock);
	orr_lock_init(&node->rest_calls.lock);
	orr_lock_init(&node->foresight.lock);
	orr_lock_init(&node->views_lock);
	orr_lock_init(&node->constants_lock);
	orr_lock_init(&node->uniques_lock);
	orr_lock_init(&node->links_lock);
	orr_lock_init(&node->combinations.lock);
}

static void init_pools(struct node *node)
{
	if (node->machine->one_environment) {
		node->commons = &node->world->pools;
		/* One alone waits longer for huge pages than it gains by them. */
		node->commons->store.is_huge = node->world->nnodes > 1;
	}
	node->store = node->commons ? &node->commons->store : NULL;
	pool_init_in(&node->job_pool, sizeof(struct roomy_job), node->store);
	pool_init_in(&node->body_pool, sizeof(struct data_body), node->store);
}

static void free_pools(struct node *node)
{
	data_free_retired(node);
	pool_free(&node->job_pool);
	pool_free(&node->task_pool);
	fold_close(node);
	pool_free(&node->body_pool);
	pool_free(&node->transfer_pool);
	pool_free(&node->link_pool);
	pool_free(&node->point_pool);
	while (node->spare_wipings) {
		void *next = *(void **)node->spare_wipings;

		free(node->spare_wipings);
		node->spare_wipings = next;
	}
	for (int i = 0; i < 8; i++)
		pool_free(&node->datum_pools[i]);
}

static void note_memories(struct node *node)
{
	struct lasting *lasting = node->lasting;

	for (int i = 0; i < node->nmemories; i++)
		orr_store(&lasting->shape.kinds[i], (int)node->memories[i].kind);
	orr_store(&lasting->shape.nmemories, node->nmemories);
}

int node_add_memory(struct node *node, const struct plat_memory *of)
{
	int number = node->nmemories;

	if (number >= node->most_memories || number >= NODE_MAX_MEMORIES) {
		orr_complain(
			node->rank,
			"no memory node can be added to the %d there are: at most %d "
			"are supported, and %d that are added",
			number, (int)NODE_MAX_MEMORIES, (int)PLAT_MAX_MEMORIES);
		return -ENOSPC;
	}
	open_other_memory(node, of);
	routes_make(node, (unsigned)number + 1);
	orr_store(&node->nmemories, number + 1);
	note_memories(node);
	set_depths(node);
	return number;
}

/* What was set before holds now, and what may be asked afterwards is noted. */
static void begin_life(struct node *node)
{
	struct lasting *lasting = node->lasting;

	if (node_knobs(node)->profiling)
		orr_store(&lasting->profiling, 1);
	for (int i = 0; i < DEVICE_TYPES; i++)
		orr_store(&lasting->shape.nworkers_of[i], node->nworkers_of[i]);
	note_memories(node);
	lasting_give_tags(lasting, node);
	breaks_open(node);
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
	return node_open_extended(node_out, conf, NULL, NULL);
}

int node_open_extended(struct node **node_out, struct starpu_conf *conf,
		       int (*extend)(struct node *node, void *arg), void *arg)
{
	struct node *node = orr_alloc_lines(sizeof(*node));
	int ret;

	node->lasting = lasting_get();
	node->world = world_join();
	node->settings = settings_join(node->world);
	node->size = 1;
	take_conf(node, conf);
	init_locks(node);
	ret = plat_open(&node->plat, node);
	if (ret < 0)
		goto leave_world;
	node->machine = plat_machine(node->plat);
	init_pools(node);
	complain_once(node);
	ret = extend ? extend(node, arg) : 0;
	if (ret < 0)
		goto close_plat;
	node->start_s = plat_now_s(node->plat);
	ret = open_workers(node);
	if (ret < 0)
		goto end_extension;
	drive_open(node);
	events_open(node);
	node->measures_energy = energy_open(node);
	teams_open(node);
	contexts_open(node);
	begin_life(node);
	plat_set_self(node);
	contexts_begin(node);
	ret = plat_workers_start(node->plat, node->workers, node->nworkers);
	if (ret < 0)
		goto close_contexts;
	swap_open(node);
	hooks_open(node);
	watchdog_start(node);
	pulse_start(node);
	*node_out = node;
	return 0;

close_contexts:
	contexts_close(node);
	teams_close(node);
	hide(node);
	events_free(&node->events);
	routes_free(node);
	free(node->memories);
	free_workers(node);
end_extension:
	if (node->on_close)
		node->on_close(node);
close_plat:
	plat_close(node->plat);
	free_pools(node);
leave_world:
	settings_leave(node->world, node->settings);
	world_leave(node->world);
	free(node);
	return ret;
}

void node_close(struct node *node)
{
	coherency_settle_all(node);
	drive_close(node);
	hooks_close(node);
	plat_workers_stop(node->plat);
	hooks_closed(node->lasting);
	model_store_save(node->settings->models, node);
	bound_free(node);
	combinations_clear(node);
	contexts_close(node);
	ranks_free(node);
	teams_close(node);
	for (int i = 0; i < node->nworkers; i++)
		levels_free(&node->workers[i].bound);
	tags_close(node);
	transactions_clear(node);
	table_free(&node->tags);
	ahead_close(node);
	kept_close(node);
	hollow_close(node);
	if (node->on_close)
		node->on_close(node);
	hide(node);
	wait_leave_all(node);
	counters_free(node);
	plat_close(node->plat);
	pulse_end(node);
	disks_end(node);
	events_free(&node->events);
	routes_free(node);
	free(node->memories);
	for (int i = 0; i < node->nworkers; i++)
		table_free(&node->workers[i].counts);
	free_workers(node);
	free(node->conditions);
	cores_free(node);
	free_pools(node);
	settings_leave(node->world, node->settings);
	world_leave(node->world);
	free(node);
}

/* Of threads that come at the same time one acts. */
void node_begin_insertion(struct node *node)
{
	if (!orr_cas(&node->insertion, INSERTION_NONE, INSERTION_CHANGES))
		return;
	node->inserting_since_s = plat_now_s(node->plat);
	orr_store(&node->insertion, INSERTION_GOES_ON);
}

void node_end_insertion(struct node *node)
{
	if (orr_load(&node->insertion) != INSERTION_GOES_ON ||
	    !orr_cas(&node->insertion, INSERTION_GOES_ON, INSERTION_CHANGES))
		return;
	node->inserting_s += plat_now_s(node->plat) - node->inserting_since_s;
	orr_store(&node->insertion, INSERTION_NONE);
}
