/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/knobs.h"
#include "core/choice.h"
#include "plat/places.h"
#include "real/real.h"

static int load_topology(struct plat *plat)
{
	struct cores *cores = &plat->cores;
	const struct knobs *knobs = node_knobs(plat->node);

	if (hwloc_topology_init(&cores->topology) < 0)
		return -ENODEV;
	if (knobs->hwloc_input[0] &&
	    hwloc_topology_set_xml(cores->topology, knobs->hwloc_input) < 0) {
		orr_complain(plat->node->rank,
			     "STARPU_HWLOC_INPUT: hwloc cannot read \"%s\"; using the "
			     "topology of this machine",
			     knobs->hwloc_input);
	}
	if (hwloc_topology_load(cores->topology) < 0) {
		orr_complain(plat->node->rank, "hwloc cannot tell this machine's cores");
		hwloc_topology_destroy(cores->topology);
		cores->topology = NULL;
		return -ENODEV;
	}
	cores->can_bind =
		hwloc_topology_is_thissystem(cores->topology) && !knobs->workers_nobind;
	return 0;
}

/* The PUs that the process may use. */
static hwloc_bitmap_t allowed_set(const struct cores *cores, int getbind)
{
	hwloc_const_bitmap_t all = hwloc_topology_get_allowed_cpuset(cores->topology);
	hwloc_bitmap_t set = hwloc_bitmap_alloc();

	if (getbind && hwloc_topology_is_thissystem(cores->topology) &&
	    hwloc_get_cpubind(cores->topology, set, HWLOC_CPUBIND_PROCESS) == 0)
		hwloc_bitmap_and(set, set, all);
	if (hwloc_bitmap_iszero(set))
		hwloc_bitmap_copy(set, all);
	return set;
}

static hwloc_obj_t core_of(const struct cores *cores, int pu)
{
	return hwloc_get_ancestor_obj_by_type(
		cores->topology, HWLOC_OBJ_CORE,
		hwloc_get_obj_by_type(cores->topology, HWLOC_OBJ_PU, (unsigned)pu));
}

/* Logical PUs in the set, so many of each core (STARPU_NTHREADS_PER_CORE). */
static void list_cores(struct plat *plat, hwloc_const_bitmap_t allowed)
{
	struct cores *cores = &plat->cores;
	int npus = hwloc_get_nbobjs_by_type(cores->topology, HWLOC_OBJ_PU);
	int most = node_knobs(plat->node)->nthreads_per_core, taken = 0;
	hwloc_obj_t last_core = NULL;

	cores->ids = orr_alloc((size_t)(npus > 0 ? npus : 1) * sizeof(*cores->ids));
	for (int i = 0; i < npus; i++) {
		hwloc_obj_t pu =
			hwloc_get_obj_by_type(cores->topology, HWLOC_OBJ_PU, (unsigned)i);
		hwloc_obj_t core = core_of(cores, i);

		if (!hwloc_bitmap_isset(allowed, pu->os_index))
			continue;
		if (!core || core != last_core)
			taken = 0;
		last_core = core;
		if (taken++ < most)
			cores->ids[cores->nids++] = i;
	}
	cores->ncores = cores->nids;
}

/*
 * Ranks that the launcher has not bound would all bind their first worker to the first
 * core: each keeps its share of the cores; with fewer cores than ranks, nobody binds.
 */
static void keep_share(struct plat *plat)
{
	const struct knobs *knobs = node_knobs(plat->node);
	struct cores *cores = &plat->cores;
	int nranks = knobs->local_size, rank = knobs->local_rank, first, last;

	if (nranks < 2 || rank >= nranks)
		return;
	if (cores->nids < nranks) {
		cores->can_bind = 0;
		cores->nids = cores->ncores = cores->nids > 0;
		return;
	}
	first = (int)((long)cores->nids * rank / nranks);
	last = (int)((long)cores->nids * (rank + 1) / nranks);
	memmove(cores->ids, cores->ids + first,
		(size_t)(last - first) * sizeof(*cores->ids));
	cores->nids = cores->ncores = last - first;
}

static void add_id(struct cores *cores, int *room, long id)
{
	if (cores->nids == *room) {
		*room = 2 * *room + 16;
		cores->ids = orr_realloc(cores->ids, (size_t)*room * sizeof(*cores->ids));
	}
	cores->ids[cores->nids++] = (int)id;
}

/* While they are listed that the user names for the workers. */
struct listing {
	struct plat *plat;
	hwloc_obj_type_t type; /* of what is named */
	int room;
};

static void add_listed(void *arg, int id)
{
	struct listing *listing = arg;
	struct plat *plat = listing->plat;
	struct cores *cores = &plat->cores;
	hwloc_obj_t core;
	int nthreads = node_knobs(plat->node)->nthreads_per_core;

	if (listing->type == HWLOC_OBJ_PU) {
		add_id(cores, &listing->room, id);
		return;
	}
	core = hwloc_get_obj_by_type(cores->topology, listing->type, (unsigned)id);
	for (int i = 0; i < nthreads; i++) {
		hwloc_obj_t pu = hwloc_get_obj_inside_cpuset_by_type(
			cores->topology, core->cpuset, HWLOC_OBJ_PU, (unsigned)i);

		if (pu)
			add_id(cores, &listing->room, pu->logical_index);
	}
}

/* The application's choice of cores, through the environment or starpu_conf. */
static void choose_ids(struct plat *plat)
{
	struct choice_places places = choice_places(plat->node);
	struct cores *cores = &plat->cores;
	struct listing listing = {plat, places.are_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU,
				  0};

	if (!places.ids && !*places.text)
		return;
	free(cores->ids);
	cores->ids = NULL;
	cores->nids = 0;
	if (!places.ids)
		choice_read_places(
			plat->node, &places,
			hwloc_get_nbobjs_by_type(cores->topology, listing.type),
			add_listed, &listing);
	for (int i = 0; places.ids && i < STARPU_NMAXWORKERS; i++)
		add_id(cores, &listing.room, places.ids[i]);
}

/* A place that the environment names for one thread; cpu goes before core. */
struct named_core {
	int cpu, core; /* logical hardware thread, logical core; or -1 */
	const char *cpu_variable, *core_variable;
};

/* The logical PU that is meant, or -1. */
static int named_pu(struct plat *plat, const struct named_core *named)
{
	int is_cpu = named->cpu >= 0;
	int id = is_cpu ? named->cpu : named->core;
	int n = hwloc_get_nbobjs_by_type(plat->cores.topology,
					 is_cpu ? HWLOC_OBJ_PU : HWLOC_OBJ_CORE);

	if (id < 0)
		return -1;
	if (id >= n)
		orr_die(plat->node->rank, "%s is %d: expected a logical %s from 0 to %d",
			is_cpu ? named->cpu_variable : named->core_variable, id,
			is_cpu ? "hardware thread" : "core", n - 1);
	return is_cpu ? id : cores_pu_of_core(plat, id);
}

/* What the user thread is to be bound to: a logical PU, or -1. */
static int choose_main(struct plat *plat)
{
	const struct knobs *knobs = node_knobs(plat->node);
	const struct cores *cores = &plat->cores;
	const struct named_core named = {
		knobs->main_thread_cpuid, knobs->main_thread_coreid,
		"STARPU_MAIN_THREAD_CPUID", "STARPU_MAIN_THREAD_COREID"};
	int pu = named_pu(plat, &named);

	if (pu < 0 && knobs->main_thread_bind && cores->ncores > 1)
		return cores->ids[0];
	return pu;
}

/* No worker shares the core of the PU, unless that is the only one. */
static void leave_core_of(struct cores *cores, int pu)
{
	int nkept = 0, *kept = orr_alloc((size_t)(cores->nids + 1) * sizeof(*kept));
	hwloc_obj_t core = core_of(cores, pu);

	for (int i = 0; i < cores->nids; i++)
		if (cores->ids[i] != pu &&
		    (!core || core_of(cores, cores->ids[i]) != core))
			kept[nkept++] = cores->ids[i];
	if (nkept > 0) {
		memcpy(cores->ids, kept, (size_t)nkept * sizeof(*kept));
		cores->nids = cores->ncores = nkept;
	}
	free(kept);
}

/* Keep a core for the user thread, when there is another. */
static void reserve_main(struct plat *plat)
{
	struct cores *cores = &plat->cores;

	cores->main_pu = choose_main(plat);
	if (cores->main_pu < 0)
		return;
	leave_core_of(cores, cores->main_pu);
	if (!hwloc_topology_is_thissystem(cores->topology))
		return;
	cores->main_set = hwloc_bitmap_alloc();
	hwloc_get_cpubind(cores->topology, cores->main_set, HWLOC_CPUBIND_THREAD);
	cores_bind(plat, cores->main_pu);
}

/* The PU is that of the first worker. */
static void put_first(struct cores *cores, int pu)
{
	int at = 0;

	if (cores->nids == 0)
		return;
	for (int i = 0; i < cores->nids; i++)
		if (cores->ids[i] == pu)
			at = i;
	memmove(cores->ids + 1, cores->ids, (size_t)at * sizeof(*cores->ids));
	cores->ids[0] = pu;
}

/* The thread of communication has the core that the user names for it. */
static void reserve_polling(struct plat *plat)
{
	const struct knobs *knobs = node_knobs(plat->node);
	const struct named_core named = {
		knobs->mpi_thread_cpuid, knobs->mpi_thread_coreid,
		"STARPU_MPI_THREAD_CPUID", "STARPU_MPI_THREAD_COREID"};
	int pu = named_pu(plat, &named);

	plat->machine.polling_pu = pu;
	if (pu < 0)
		return;
	if (named.cpu >= 0 && named.core >= 0)
		orr_complain(plat->node->rank,
			     "STARPU_MPI_THREAD_CPUID is %d and STARPU_MPI_THREAD_COREID "
			     "is %d: the former is taken; unset one of them",
			     named.cpu, named.core);
	if (knobs->mpi_driver_call_frequency > 0 || knobs->mpi_explicit)
		put_first(&plat->cores, pu); /* That worker is this thread. */
	else if (plat->node->conf->will_use_mpi > 0 && plat->node->conf->ncpus == -1)
		leave_core_of(&plat->cores, pu);
}

static void describe_cpu(struct plat *plat)
{
	hwloc_obj_t package =
		hwloc_get_obj_by_type(plat->cores.topology, HWLOC_OBJ_PACKAGE, 0);
	const char *model =
		package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;

	if (model)
		strncpy(plat->machine.devices[STARPU_CPU_WORKER].model, model,
			sizeof(plat->machine.devices[STARPU_CPU_WORKER].model) - 1);
}

/* hwloc reads it wherever it is used; what is left of a test, or of a description of
 * another machine, makes workers share cores. */
static void tell_described(struct plat *plat)
{
	static const char *const sources[] = {"HWLOC_SYNTHETIC", "HWLOC_XMLFILE",
					      "HWLOC_FSROOT", "HWLOC_CPUID_PATH"};
	const struct knobs *knobs = node_knobs(plat->node);
	const char *source = *knobs->hwloc_input ? "STARPU_HWLOC_INPUT" : "hwloc";
	long nonline = sysconf(_SC_NPROCESSORS_ONLN);

	if (!plat->machine.is_first || knobs->silent || nonline <= 0 ||
	    plat->node->conf->ncpus != -1 || plat->cores.ncores <= nonline)
		return;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (knobs_raw(sources[i])) {
			source = sources[i];
			break;
		}
	orr_complain(plat->node->rank,
		     "%s describes a machine of which %d cores may be used, and this one "
		     "has %ld: workers are made for all of these, and share what there "
		     "is; unset it, or say how many workers (STARPU_NCPU); not said with "
		     "STARPU_SILENT=1",
		     source, plat->cores.ncores, nonline);
}

int cores_open(struct plat *plat)
{
	struct cores *cores = &plat->cores;
	hwloc_bitmap_t allowed;
	int ret = load_topology(plat);

	if (ret < 0)
		return ret;
	allowed = allowed_set(cores, node_knobs(plat->node)->workers_getbind);
	list_cores(plat, allowed);
	if (node_knobs(plat->node)->workers_getbind &&
	    hwloc_bitmap_isequal(allowed,
				 hwloc_topology_get_allowed_cpuset(cores->topology)))
		keep_share(plat);
	hwloc_bitmap_free(allowed);
	reserve_main(plat);
	reserve_polling(plat);
	choose_ids(plat);
	cores->rebound = orr_alloc(STARPU_NMAXWORKERS * sizeof(*cores->rebound));
	describe_cpu(plat);
	tell_described(plat);
	plat->machine.devices[STARPU_CPU_WORKER].count = cores->ncores;
	return 0;
}

void cores_close(struct plat *plat)
{
	struct cores *cores = &plat->cores;

	if (!cores->topology)
		return;
	if (cores->main_set) {
		hwloc_set_cpubind(cores->topology, cores->main_set, HWLOC_CPUBIND_THREAD);
		hwloc_bitmap_free(cores->main_set);
	}
	hwloc_topology_destroy(cores->topology);
	free(cores->rebound);
	free(cores->ids);
	cores->topology = NULL;
}

/* A refusal (a container's cpuset) only costs speed, so it is not an error. */
void cores_bind(struct plat *plat, int pu)
{
	struct cores *cores = &plat->cores;
	hwloc_obj_t obj;

	if (pu < 0 || !hwloc_topology_is_thissystem(cores->topology))
		return;
	obj = hwloc_get_obj_by_type(cores->topology, HWLOC_OBJ_PU, (unsigned)pu);
	if (obj)
		hwloc_set_cpubind(cores->topology, obj->cpuset, HWLOC_CPUBIND_THREAD);
}

int cores_pu_of_core(struct plat *plat, int core)
{
	hwloc_obj_t obj = hwloc_get_obj_by_type(plat->cores.topology, HWLOC_OBJ_CORE,
						(unsigned)core);

	while (obj && obj->type != HWLOC_OBJ_PU)
		obj = obj->first_child;
	return obj ? (int)obj->logical_index : -1;
}

int plat_bind_thread(struct plat *plat, int core)
{
	if (core == PLAT_MAIN_CORE) {
		cores_bind(plat, plat->cores.main_pu);
		return 0;
	}
	if (core < 0 ||
	    core >= hwloc_get_nbobjs_by_type(plat->cores.topology, HWLOC_OBJ_PU))
		return -1;
	cores_bind(plat, core);
	return 0;
}

int plat_core_os_index(struct plat *plat, int core)
{
	hwloc_obj_t pu = core < 0 ? NULL
				  : hwloc_get_obj_by_type(plat->cores.topology,
							  HWLOC_OBJ_PU, (unsigned)core);

	return pu ? (int)pu->os_index : -1;
}

int plat_worker_bindid(struct plat *plat, int cpu_worker)
{
	const struct cores *cores = &plat->cores;

	if (!cores->can_bind || cores->nids == 0)
		return -1;
	if (cpu_worker < STARPU_NMAXWORKERS && orr_load(&cores->rebound[cpu_worker]) > 0)
		return orr_load(&cores->rebound[cpu_worker]) - 1;
	return cores->ids[cpu_worker % cores->nids];
}

int plat_worker_place(struct plat *plat, int cpu_worker, enum plat_level level)
{
	static const hwloc_obj_type_t types[PLAT_NLEVELS] = {
		[PLAT_MACHINE] = HWLOC_OBJ_MACHINE,    [PLAT_PACKAGE] = HWLOC_OBJ_PACKAGE,
		[PLAT_NUMA_NODE] = HWLOC_OBJ_NUMANODE, [PLAT_L3] = HWLOC_OBJ_L3CACHE,
		[PLAT_L2] = HWLOC_OBJ_L2CACHE,         [PLAT_L1] = HWLOC_OBJ_L1CACHE,
		[PLAT_CORE] = HWLOC_OBJ_CORE,          [PLAT_PU] = HWLOC_OBJ_PU};
	hwloc_topology_t topology = plat->cores.topology;
	int core = plat_worker_bindid(plat, cpu_worker);
	hwloc_obj_t pu = NULL;

	if (level == PLAT_MACHINE)
		return 0;
	if (core >= 0)
		pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, (unsigned)core);
	for (int i = 0; pu && i < hwloc_get_nbobjs_by_type(topology, types[level]); i++) {
		hwloc_obj_t object =
			hwloc_get_obj_by_type(topology, types[level], (unsigned)i);

		if (object->cpuset && hwloc_bitmap_isincluded(pu->cpuset, object->cpuset))
			return i;
	}
	return -1;
}

int plat_bind_worker(struct worker *worker, int core)
{
	struct plat *plat = worker->node->plat;
	struct cores *cores = &plat->cores;
	hwloc_obj_t pu = NULL;

	if (core >= 0 && cores->can_bind && cores->nids > 0)
		pu = hwloc_get_obj_by_type(cores->topology, HWLOC_OBJ_PU, (unsigned)core);
	/* The threads of the application's drivers are bound by the application. */
	if (!pu || worker->devid >= STARPU_NMAXWORKERS || orr_load(&worker->driven))
		return -1;
	if (hwloc_set_thread_cpubind(cores->topology, plat->threads[worker->id],
				     pu->cpuset, 0) < 0)
		return -1;
	orr_store(&cores->rebound[worker->devid], core + 1);
	return 0;
}
