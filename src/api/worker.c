/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "base/check.h"
#include "core/task/codelet.h"
#include "core/sched/cores.h"
#include "core/sched/sched.h"
#include "core/sched/teams.h"
#include "core/lasting.h"

static struct worker *worker_at(const char *func, int id)
{
	struct node *node = api_node(func);

	if (id < 0 || id >= node->nworkers)
		orr_die(node->rank, "%s: there is no worker %d; expected 0 to %d", func,
			id, node->nworkers - 1);
	return &node->workers[id];
}

/* ---- how many there are: also before the first life and after the last ---- */

static struct shape shape_now(void)
{
	const struct shape *shape = &lasting_get()->shape;
	struct shape now = {.nmemories = orr_load(&shape->nmemories)};

	for (int i = 0; i < DEVICE_TYPES; i++)
		now.nworkers_of[i] = orr_load(&shape->nworkers_of[i]);
	for (int i = 0; i < now.nmemories; i++)
		now.kinds[i] = orr_load(&shape->kinds[i]);
	return now;
}

/* Number of the first worker of a type, and how many there are. */
static int range_of(struct shape shape, enum starpu_worker_archtype type, int *count)
{
	int first = 0;

	*count = 0;
	for (int i = 0; i < DEVICE_TYPES; i++) {
		if (type == STARPU_ANY_WORKER)
			*count += shape.nworkers_of[i];
		else if (device_order[i] != (unsigned)type)
			first += shape.nworkers_of[device_order[i]];
		else
			break;
	}
	if (type == STARPU_ANY_WORKER)
		return 0;
	if (device_type(type))
		*count = shape.nworkers_of[type];
	return first;
}

static unsigned count_of(enum starpu_worker_archtype type)
{
	return (unsigned)shape_now().nworkers_of[type];
}

unsigned starpu_worker_get_count(void)
{
	return (unsigned)starpu_worker_get_count_by_type(STARPU_ANY_WORKER);
}

unsigned starpu_cpu_worker_get_count(void)
{
	return count_of(STARPU_CPU_WORKER);
}

unsigned starpu_cuda_worker_get_count(void)
{
	return count_of(STARPU_CUDA_WORKER);
}

unsigned starpu_hip_worker_get_count(void)
{
	return 0;
}

unsigned starpu_opencl_worker_get_count(void)
{
	return 0;
}

unsigned starpu_mpi_ms_worker_get_count(void)
{
	return count_of(STARPU_MPI_MS_WORKER);
}

unsigned starpu_tcpip_ms_worker_get_count(void)
{
	return 0;
}

int starpu_worker_get_count_by_type(enum starpu_worker_archtype type)
{
	int count;

	if (type != STARPU_ANY_WORKER && (unsigned)type >= STARPU_NARCH)
		return -EINVAL;
	range_of(shape_now(), type, &count);
	return count;
}

unsigned starpu_worker_get_ids_by_type(enum starpu_worker_archtype type, int *workerids,
				       unsigned maxsize)
{
	int count, first = range_of(shape_now(), type, &count);

	if ((unsigned)count > maxsize)
		return (unsigned)-ERANGE;
	for (int i = 0; i < count; i++)
		workerids[i] = first + i;
	return (unsigned)count;
}

int starpu_worker_get_by_type(enum starpu_worker_archtype type, int num)
{
	int count, first = range_of(shape_now(), type, &count);

	return num >= 0 && num < count ? first + num : -1;
}

/* Of those of a device the first. */
int starpu_worker_get_by_devid(enum starpu_worker_archtype type, int devid)
{
	const struct node *node = plat_self();
	int count, first;

	if (type == STARPU_ANY_WORKER)
		return -1;
	first = range_of(shape_now(), type, &count);
	for (int i = 0; node && i < count; i++)
		if (node->workers[first + i].devid == devid)
			return first + i;
	/* Before and after, devices are numbered from 0. */
	return node ? -1 : starpu_worker_get_by_type(type, devid);
}

/* Each once. */
int starpu_worker_get_devids(enum starpu_worker_archtype type, int *devids, int num)
{
	const struct node *node = plat_self();
	int count, first = range_of(shape_now(), type, &count), n = 0;

	if (type == STARPU_ANY_WORKER)
		return 0;
	for (int i = 0; i < count && n < num; i++)
		if (!node)
			devids[n++] = i;
		else if (node->workers[first + i].index == 0)
			devids[n++] = node->workers[first + i].devid;
	return n;
}

int starpu_worker_get_stream_workerids(unsigned devid, int *workerids,
				       enum starpu_worker_archtype type)
{
	const struct node *node = plat_self();
	int id = starpu_worker_get_by_devid(type, (int)devid), n = 0;

	if (id < 0)
		return 0;
	do
		workerids[n++] = id++;
	while (node && id < node->nworkers && node->workers[id].index > 0);
	return n;
}

/* ---- who is calling -------------------------------------------------- */

int starpu_worker_get_id(void)
{
	struct node *node = plat_self();
	struct worker *worker = node ? plat_current_worker(node->plat) : NULL;

	return worker ? worker->id : -1;
}

unsigned _starpu_worker_get_id_check(const char *f, int l)
{
	int id = starpu_worker_get_id();

	if (id < 0)
		orr_die(api_rank(),
			"%s:%d: starpu_worker_get_id_check: not called from a worker", f,
			l);
	return (unsigned)id;
}

unsigned(starpu_worker_get_id_check)(void)
{
	return _starpu_worker_get_id_check("?", 0);
}

/* ---- one worker ------------------------------------------------------ */

int starpu_worker_get_bindid(int workerid)
{
	struct worker *worker = worker_at(__func__, workerid);

	/* Those of devices go where the system puts them. */
	return cores_has(worker) ? cores_core_of(worker) : -1;
}

/* A combined worker is of the kind of its first, and has its memory. */
static struct worker *first_of(const char *func, int id)
{
	const struct node *node = plat_self();
	const struct team *team =
		node && id >= node->nworkers ? teams_find(node, (unsigned)id) : NULL;

	return worker_at(func, team ? team->ids[0] : id);
}

enum starpu_worker_archtype starpu_worker_get_type(int id)
{
	return first_of(__func__, id)->type;
}

void starpu_worker_get_name(int id, char *dst, size_t maxlen)
{
	struct worker *worker;
	const struct plat_devices *devices;
	const struct plat_device *each;

	if (!plat_self()) { /* Nobody has a name yet. */
		if (maxlen > 0)
			*dst = '\0';
		return;
	}
	worker = worker_at(__func__, id);
	devices = &worker->node->machine->devices[worker->type];
	each = devices->each;
	if (each)
		each += (worker->id - worker->node->first_worker_of[worker->type]) /
			device_workers_each(worker->node, worker->type);
	if (!device_has_memory(worker->kind))
		snprintf(dst, maxlen, "%s %d", worker->kind->name, worker->devid);
	else if (each && each->total_bytes <= 0 && *each->bus)
		snprintf(dst, maxlen, "%s %d.%d (%s %s)", worker->kind->name,
			 worker->devid, worker->index, each->model, each->bus);
	else if (each)
		snprintf(dst, maxlen, "%s %d.%d (%s %.1f GiB%s%s)", worker->kind->name,
			 worker->devid, worker->index, each->model,
			 each->total_bytes / (1 << 30), *each->bus ? " " : "", each->bus);
	else
		snprintf(dst, maxlen, "%s %d.0 (%s %.1f GiB)", worker->kind->name,
			 worker->devid, devices->model,
			 devices->memory_bytes / (1 << 30));
}

int starpu_worker_get_devid(int id)
{
	return worker_at(__func__, id)->devid;
}

int starpu_worker_get_devnum(int id)
{
	return worker_at(__func__, id)->devid;
}

int starpu_worker_get_subworkerid(int id)
{
	return worker_at(__func__, id)->index;
}

unsigned starpu_worker_type_can_execute_task(enum starpu_worker_archtype worker_type,
					     const struct starpu_task *task)
{
	api_given(__func__, "task", task);

	unsigned where = task->cl ? task_where(task) : 0;

	return (where & STARPU_WORKER_TO_MASK(worker_type)) != 0;
}

/* ---- memories -------------------------------------------------------- */

unsigned starpu_worker_get_local_memory_node(void)
{
	struct node *node = plat_self();
	struct worker *worker = node ? plat_current_worker(node->plat) : NULL;

	return worker ? worker->memory : STARPU_MAIN_RAM;
}

unsigned starpu_worker_get_memory_node(unsigned workerid)
{
	return first_of(__func__, (int)workerid)->memory;
}

static enum starpu_node_kind kind_of(const struct shape *shape, unsigned memory)
{
	if (memory >= (unsigned)shape->nmemories)
		return STARPU_UNUSED;
	return (enum starpu_node_kind)shape->kinds[memory];
}

unsigned starpu_memory_nodes_get_count(void)
{
	return (unsigned)shape_now().nmemories;
}

unsigned starpu_memory_nodes_get_count_by_kind(enum starpu_node_kind kind)
{
	const struct shape shape = shape_now();
	unsigned n = 0;

	for (int i = 0; i < shape.nmemories; i++)
		n += kind_of(&shape, (unsigned)i) == kind;
	return n;
}

unsigned starpu_memory_nodes_get_numa_count(void)
{
	return starpu_memory_nodes_get_count_by_kind(STARPU_CPU_RAM);
}

enum starpu_node_kind starpu_node_get_kind(unsigned memory)
{
	const struct shape shape = shape_now();

	return kind_of(&shape, memory);
}

int starpu_memory_node_get_name(unsigned memory, char *name, size_t size)
{
	struct node *node = api_node(__func__);

	if (memory >= (unsigned)node_nmemories(node))
		return snprintf(name, size, "unknown");
	return snprintf(name, size, "%s %d", node->memories[memory].name,
			node->memories[memory].devid);
}

/* ---- scheduling ------------------------------------------------------ */

struct starpu_sched_policy **starpu_sched_get_predefined_policies(void)
{
	return (struct starpu_sched_policy **)sched_objects();
}

/* Without a node there is no policy, which knows one priority then. */
int starpu_sched_get_min_priority(void)
{
	const struct node *node = plat_self();

	return node ? node->scheds[0]->min_priority : STARPU_DEFAULT_PRIO;
}

int starpu_sched_get_max_priority(void)
{
	const struct node *node = plat_self();

	return node ? node->scheds[0]->max_priority : STARPU_DEFAULT_PRIO;
}

int starpu_sched_set_min_priority(int min_prio)
{
	api_node(__func__);
	return starpu_sched_ctx_set_min_priority(0, min_prio);
}

int starpu_sched_set_max_priority(int max_prio)
{
	api_node(__func__);
	return starpu_sched_ctx_set_max_priority(0, max_prio);
}

int starpu_worker_can_execute_task_impl(unsigned workerid, struct starpu_task *task,
					unsigned *impl_mask)
{
	api_given(__func__, "task", task);

	unsigned mask = 0;

	for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
		if (starpu_worker_can_execute_task(workerid, task, i))
			mask |= 1u << i;
	if (mask && impl_mask)
		*impl_mask = mask;
	return mask != 0;
}

int starpu_worker_can_execute_task(unsigned workerid, struct starpu_task *task,
				   unsigned nimpl)
{
	api_given(__func__, "task", task);

	struct worker *worker = worker_at(__func__, (int)workerid);
	const struct starpu_codelet *cl = task->cl;

	return starpu_worker_type_can_execute_task(worker->type, task) &&
	       worker_is_listed(worker, task) && nimpl < STARPU_MAXIMPLEMENTATIONS &&
	       codelet_kernel(cl, worker->kind, nimpl) &&
	       (!cl->can_execute || cl->can_execute(workerid, task, nimpl));
}

int starpu_worker_can_execute_task_first_impl(unsigned workerid, struct starpu_task *task,
					      unsigned *nimpl)
{
	api_given(__func__, "task", task);

	for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
		if (starpu_worker_can_execute_task(workerid, task, i)) {
			if (nimpl)
				*nimpl = i;
			return 1;
		}
	return 0;
}
