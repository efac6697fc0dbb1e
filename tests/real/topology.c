/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* The machine as hwloc sees it, and where the workers are in it. */
#include <string.h>

#include "../api/claim.h"

int claim_failures;

static void start(void)
{
	if (starpu_init(NULL) != 0)
		exit(77);
}

static void a_worker_is_where_it_is_bound(void)
{
	start();
	for (int i = 0; i < (int)starpu_worker_get_count(); i++) {
		hwloc_cpuset_t set = starpu_worker_get_hwloc_cpuset(i);
		hwloc_obj_t place = starpu_worker_get_hwloc_obj(i);
		int core = starpu_worker_get_bindid(i);

		CLAIM(hwloc_bitmap_isequal(set, place->cpuset));
		if (core >= 0) {
			CLAIM_EQ(place->type, HWLOC_OBJ_PU);
			CLAIM_EQ(place->logical_index, core);
			CLAIM_EQ(hwloc_bitmap_weight(set), 1);
		}
		hwloc_bitmap_free(set);
	}
	starpu_shutdown();
}

static void an_unbound_worker_is_anywhere(void)
{
	hwloc_cpuset_t set;

	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	start();
	set = starpu_worker_get_hwloc_cpuset(0);
	CLAIM_EQ(starpu_worker_get_hwloc_obj(0)->type, HWLOC_OBJ_MACHINE);
	CLAIM(hwloc_bitmap_isequal(set, starpu_worker_get_hwloc_obj(0)->cpuset));
	hwloc_bitmap_free(set);
	starpu_shutdown();
	unsetenv("STARPU_WORKERS_NOBIND");
}

static void cores_have_two_numbers(void)
{
	start();
	for (int i = 0; i < (int)starpu_worker_get_count(); i++) {
		int core = starpu_worker_get_bindid(i);

		if (core < 0)
			continue;
		CLAIM_EQ(starpu_cpu_os_index(core),
			 starpu_worker_get_hwloc_obj(i)->os_index);
		CLAIM_EQ(starpu_get_pu_os_index((unsigned)core),
			 starpu_worker_get_hwloc_obj(i)->os_index);
	}
	CLAIM_EQ(starpu_cpu_os_index(-1), -1);
	CLAIM_EQ(starpu_cpu_os_index(1 << 20), -1);
	starpu_shutdown();
}

static void the_topology_is_the_callers(void)
{
	hwloc_topology_t mine, other;

	start();
	mine = starpu_get_hwloc_topology();
	other = starpu_get_hwloc_topology();
	CLAIM(mine != other);
	CLAIM(hwloc_bitmap_isincluded(starpu_worker_get_hwloc_obj(0)->cpuset,
				      hwloc_topology_get_topology_cpuset(mine)));
	hwloc_topology_destroy(other);
	starpu_shutdown();
	/* It outlives the library. */
	CLAIM(hwloc_get_nbobjs_by_type(mine, HWLOC_OBJ_PU) > 0);
	hwloc_topology_destroy(mine);
}

static const struct claim claims[] = {
	{"a worker is where it is bound", a_worker_is_where_it_is_bound},
	{"an unbound worker is anywhere", an_unbound_worker_is_anywhere},
	{"cores have two numbers", cores_have_two_numbers},
	{"the topology is the caller's", the_topology_is_the_callers},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
