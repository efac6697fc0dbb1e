/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <hwloc.h>
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "real/real.h"

/*
 * numa.c - which NUMA nodes are memories, what is near to them, and how fast copies
 * between them are.
 *
 * With STARPU_USE_NUMA=1 those count that are near to a core where a worker may be bound,
 * in hwloc's order; a rank that its launcher bound to one of them has one main memory.
 */
enum { PROBE_BYTES = 1 << 20, PROBES = 2 };

static hwloc_obj_t numa_node(const struct plat *plat, int i)
{
	return hwloc_get_obj_by_type(plat->cores.topology, HWLOC_OBJ_NUMANODE,
				     plat->numas.logical[i]);
}

static hwloc_obj_t pu_of(const struct plat *plat, int id)
{
	return id < 0 ? NULL
		      : hwloc_get_obj_by_type(plat->cores.topology, HWLOC_OBJ_PU,
					      (unsigned)id);
}

/* The cores of all workers that there may be. */
static hwloc_bitmap_t used_set(const struct plat *plat)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();

	for (int i = 0; i < plat->cores.nids; i++) {
		hwloc_obj_t pu = pu_of(plat, plat->cores.ids[i]);

		if (pu)
			hwloc_bitmap_or(set, set, pu->cpuset);
	}
	return set;
}

static int find_nodes(struct plat *plat)
{
	hwloc_topology_t topology = plat->cores.topology;
	int there = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE), n = 0;
	hwloc_bitmap_t used = used_set(plat);

	for (int i = 0; i < there; i++) {
		hwloc_obj_t node =
			hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, (unsigned)i);

		if (!node->cpuset || !hwloc_bitmap_intersects(node->cpuset, used))
			continue;
		if (n < STARPU_MAXNUMANODES) {
			plat->numas.logical[n] = (unsigned)i;
			plat->machine.numas[n].os_index = (int)node->os_index;
		}
		n++;
	}
	hwloc_bitmap_free(used);
	return n;
}

/* ---- how fast copies are --------------------------------------------- */

/* Of one copy, the better of some; whoever runs this is near to one of the two at most.
 */
static double measure(struct plat *plat, void *to, const void *from)
{
	double best_s = INFINITY;

	for (int i = 0; i < PROBES; i++) {
		double start_s = plat_now_s(plat);

		memcpy(to, from, PROBE_BYTES);
		best_s = fmin(best_s, plat_now_s(plat) - start_s);
	}
	return PROBE_BYTES / fmax(best_s, 1e-9);
}

static void measure_all(struct plat *plat)
{
	const struct memory_driver *ram = plat_main_memory();
	int n = plat->machine.nnumas;
	void *probes[STARPU_MAXNUMANODES];

	for (int i = 0; i < n; i++) {
		probes[i] = ram->allocate(plat, (unsigned)i, PROBE_BYTES);
		if (probes[i])
			memset(probes[i], i, PROBE_BYTES);
	}
	for (int from = 0; from < n; from++)
		for (int to = 0; to < n; to++)
			if (from != to && probes[from] && probes[to])
				plat->numas.bytes_per_s[from][to] =
					measure(plat, probes[to], probes[from]);
	for (int i = 0; i < n; i++)
		ram->release(plat, (unsigned)i, probes[i], PROBE_BYTES);
}

double numas_expected_s(struct plat *plat, unsigned from, unsigned to, size_t bytes)
{
	double rate = plat->numas.bytes_per_s[from][to];

	return from == to || rate <= 0 ? 0 : (double)bytes / rate;
}

/* ---- life ------------------------------------------------------------ */

void numas_open(struct plat *plat)
{
	int n = node_knobs(plat->node)->use_numa ? find_nodes(plat) : 1;

	plat->machine.nnumas = n > 1 ? n : 1;
	if (n > STARPU_MAXNUMANODES) {
		orr_complain(
			plat->node->rank,
			"STARPU_USE_NUMA: its cores have %d NUMA nodes: the first %d "
			"are memories of their own; workers near to the others use "
			"the first",
			n, STARPU_MAXNUMANODES);
		plat->machine.nnumas = STARPU_MAXNUMANODES;
	}
	if (plat->machine.nnumas > 1)
		measure_all(plat);
}

unsigned plat_worker_memory(struct plat *plat, int cpu_worker)
{
	const struct cores *cores = &plat->cores;
	hwloc_obj_t pu =
		cores->nids ? pu_of(plat, cores->ids[cpu_worker % cores->nids]) : NULL;

	for (int i = 0; pu && i < plat->machine.nnumas; i++)
		if (hwloc_bitmap_intersects(numa_node(plat, i)->cpuset, pu->cpuset))
			return (unsigned)i;
	return STARPU_MAIN_RAM;
}

void numas_bind_thread(struct plat *plat, unsigned memory)
{
	if (plat->cores.can_bind)
		hwloc_set_cpubind(plat->cores.topology,
				  numa_node(plat, (int)memory)->cpuset,
				  HWLOC_CPUBIND_THREAD);
}

/* ---- where bytes lie ------------------------------------------------- */

static void complain_refused(struct plat *plat)
{
	if (orr_cas(&real_get()->is_refusal_told, 0, 1))
		orr_complain(plat->node->rank,
			     "STARPU_USE_NUMA: the system refuses to place memory on a "
			     "NUMA node (%s): it is placed where it is first touched; "
			     "leave the ranks the nodes of their cores (cpuset.mems), or "
			     "unset STARPU_USE_NUMA",
			     strerror(errno));
}

/* A preference: what has no room on its node lies elsewhere. */
void numas_place(struct plat *plat, unsigned memory, void *ptr, size_t bytes)
{
	hwloc_membind_policy_t policy = memory == PLAT_INTERLEAVED
						? HWLOC_MEMBIND_INTERLEAVE
						: HWLOC_MEMBIND_BIND;
	hwloc_bitmap_t nodes = hwloc_bitmap_alloc();

	for (int i = 0; i < plat->machine.nnumas; i++)
		if (memory == PLAT_INTERLEAVED || (int)memory == i)
			hwloc_bitmap_set(nodes,
					 (unsigned)plat->machine.numas[i].os_index);
	if (hwloc_set_area_membind(plat->cores.topology, ptr, bytes, nodes, policy,
				   HWLOC_MEMBIND_BYNODESET) < 0)
		complain_refused(plat);
	hwloc_bitmap_free(nodes);
}

long plat_memory_location(struct plat *plat, const void *ptr, size_t bytes)
{
	hwloc_topology_t topology = plat->cores.topology;
	hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
	long found = 0;

	if (hwloc_get_area_memlocation(topology, ptr, bytes, nodes,
				       HWLOC_MEMBIND_BYNODESET) == 0)
		for (int i = 0;
		     i < hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE); i++)
			if (i < (int)(8 * sizeof(found)) - 1 &&
			    hwloc_bitmap_isset(nodes,
					       hwloc_get_obj_by_type(topology,
								     HWLOC_OBJ_NUMANODE,
								     (unsigned)i)
						       ->os_index))
				found |= 1L << i;
	hwloc_bitmap_free(nodes);
	return found ? found : -1;
}
