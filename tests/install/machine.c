/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A client that asks for hwloc's view of the machine where the package says there is one.
 */
#include <starpu.h>

int main(void)
{
#ifdef STARPU_HAVE_HWLOC
	hwloc_topology_t topology;

	if (starpu_init(NULL) != 0)
		return 77;
	topology = starpu_get_hwloc_topology();
	printf("machine: %s\n",
	       hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU) > 0 ? "known" : "empty");
	hwloc_topology_destroy(topology);
	starpu_shutdown();
#else
	printf("machine: simulated\n");
#endif
	return 0;
}
