/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * topology.c - the part of the public interface that speaks hwloc.  A simulated machine
 * has no hwloc topology, so it is the real flavour's alone.
 */
#define STARPU_HAVE_HWLOC 1

#include <starpu.h>

#include "base/check.h"
#include "core/worker.h"
#include "real/real.h"

struct node *real_node_for(const char *func)
{
	struct node *node = plat_self();

	if (!node)
		orr_die(ORR_NO_RANK,
			"%s: the library is not initialised; call starpu_init() first",
			func);
	return node;
}

hwloc_topology_t starpu_get_hwloc_topology(void)
{
	struct node *node = real_node_for(__func__);
	hwloc_topology_t copy;

	if (hwloc_topology_dup(&copy, node->plat->cores.topology) < 0)
		orr_die(node->rank, "%s: hwloc cannot copy the topology: no memory",
			__func__);
	return copy;
}

/* What the worker is bound to: its PU, or without binding the machine. */
static hwloc_obj_t place_of(const char *func, int workerid)
{
	struct node *node = real_node_for(func);
	hwloc_topology_t topology = node->plat->cores.topology;
	int pu;

	if (workerid < 0 || workerid >= node->nworkers)
		orr_die(node->rank, "%s: no worker %d, expected 0 to %d", func, workerid,
			node->nworkers - 1);
	pu = device_has_memory(node->workers[workerid].kind)
		     ? -1 /* Workers of devices go where the system puts them. */
		     : plat_worker_bindid(node->plat, node->workers[workerid].devid);
	return pu < 0 ? hwloc_get_root_obj(topology)
		      : hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, (unsigned)pu);
}

hwloc_cpuset_t starpu_worker_get_hwloc_cpuset(int workerid)
{
	return hwloc_bitmap_dup(place_of(__func__, workerid)->cpuset);
}

hwloc_obj_t starpu_worker_get_hwloc_obj(int workerid)
{
	return place_of(__func__, workerid);
}
