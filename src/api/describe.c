/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Kinds of workers and memories: their names and how they belong together. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "base/check.h"

static const struct device_type *row_of(int i)
{
	return device_type((enum starpu_worker_archtype)i);
}

unsigned starpu_worker_archtype_is_valid(enum starpu_worker_archtype type)
{
	return device_type(type) != NULL;
}

const char *starpu_worker_get_type_as_string(enum starpu_worker_archtype type)
{
	return device_type(type) ? device_type(type)->name : "unknown";
}

const char *starpu_worker_get_type_as_env_var(enum starpu_worker_archtype type)
{
	return device_type(type) ? device_type(type)->in_variables : "UNKNOWN";
}

enum starpu_worker_archtype starpu_worker_get_type_from_string(const char *type)
{
	for (int i = 0; i < DEVICE_TYPES; i++) {
		const struct device_type *row = row_of(i);

		if (row && (strcmp(type, row->name) == 0 ||
			    strcmp(type, row->in_variables) == 0))
			return (enum starpu_worker_archtype)i;
	}
	return STARPU_UNKNOWN_WORKER;
}

enum starpu_worker_archtype starpu_arch_mask_to_worker_archtype(unsigned mask)
{
	for (int i = 0; i < DEVICE_TYPES; i++)
		if (row_of(i) && mask == (unsigned)STARPU_WORKER_TO_MASK(i))
			return (enum starpu_worker_archtype)i;
	orr_die(api_rank(), "%s: mask %#x; expected one bit, such as STARPU_CPU (%#x)",
		__func__, mask, (unsigned)STARPU_CPU);
}

enum starpu_worker_archtype
starpu_memory_node_get_worker_archtype(enum starpu_node_kind node_kind)
{
	for (int i = 0; i < DEVICE_TYPES; i++)
		if (row_of(i) && row_of(i)->memory == node_kind)
			return (enum starpu_worker_archtype)i;
	return STARPU_UNKNOWN_WORKER;
}

enum starpu_node_kind starpu_worker_get_memory_node_kind(enum starpu_worker_archtype type)
{
	return device_type(type) ? device_type(type)->memory : STARPU_UNUSED;
}

/* ---- lists ----------------------------------------------------------- */

void starpu_worker_display_names(FILE *output, enum starpu_worker_archtype type)
{
	int n = starpu_worker_get_count_by_type(type);

	if (n <= 0)
		fprintf(output, "No %s worker\n", starpu_worker_get_type_as_string(type));
	else
		fprintf(output, "%d %s worker%s:\n", n,
			starpu_worker_get_type_as_string(type), n == 1 ? "" : "s");
	for (int i = 0; i < n; i++) {
		char name[128];

		starpu_worker_get_name(starpu_worker_get_by_type(type, i), name,
				       sizeof(name));
		fprintf(output, "\t%s\n", name);
	}
}

void starpu_worker_display_count(FILE *output, enum starpu_worker_archtype type)
{
	int n = starpu_worker_get_count_by_type(type);

	fprintf(output, "%d %s worker%s\n", n, starpu_worker_get_type_as_string(type),
		n == 1 ? "" : "s");
}

void starpu_worker_display_all(FILE *output)
{
	for (int i = 0; i < DEVICE_TYPES; i++)
		if (row_of(i) &&
		    starpu_worker_get_count_by_type((enum starpu_worker_archtype)i) > 0)
			starpu_worker_display_names(output,
						    (enum starpu_worker_archtype)i);
}

void starpu_worker_wait_for_initialisation(void)
{
	api_node(__func__);
}

/* ---- memories -------------------------------------------------------- */

int starpu_memory_node_get_devid(unsigned memory)
{
	const struct node *node = api_node(__func__);

	if (memory >= (unsigned)node_nmemories(node))
		orr_die(node->rank, "%s: there is no memory node %u; expected 0 to %d",
			__func__, memory, node_nmemories(node) - 1);
	return node->memories[memory].devid;
}

unsigned starpu_memory_node_get_ids_by_type(enum starpu_node_kind kind,
					    unsigned *memory_nodes_ids, unsigned maxsize)
{
	unsigned n = 0;

	for (unsigned i = 0; i < starpu_memory_nodes_get_count(); i++) {
		if (starpu_node_get_kind(i) != kind)
			continue;
		if (n == maxsize)
			return (unsigned)-ERANGE;
		memory_nodes_ids[n++] = i;
	}
	return n;
}

/* Where all processors' memories are one memory node, it has the system's first number.
 */
int starpu_memory_nodes_numa_id_to_devid(int osid)
{
	const struct node *node = plat_self();

	if (!node || node->nmains == 1)
		return osid == 0 ? STARPU_MAIN_RAM : -1;
	for (int i = 0; i < node->nmains; i++)
		if (node->machine->numas[i].os_index == osid)
			return i;
	return -1;
}

int starpu_memory_nodes_numa_devid_to_id(unsigned id)
{
	const struct node *node = plat_self();

	if (!node || node->nmains == 1)
		return id == STARPU_MAIN_RAM ? 0 : -1;
	return memory_is_main(node, id) ? node->machine->numas[id].os_index : -1;
}

/* ---- copies ---------------------------------------------------------- */

#define ASKED_FOR(name, field)                                                           \
	int name(void)                                                                   \
	{                                                                                \
		const struct node *node = plat_self();                                   \
                                                                                         \
		return node && node->conf->field != 0;                                   \
	}

ASKED_FOR(starpu_asynchronous_copy_disabled, disable_asynchronous_copy)
ASKED_FOR(starpu_asynchronous_cuda_copy_disabled, disable_asynchronous_cuda_copy)
ASKED_FOR(starpu_asynchronous_hip_copy_disabled, disable_asynchronous_hip_copy)
ASKED_FOR(starpu_asynchronous_opencl_copy_disabled, disable_asynchronous_opencl_copy)
ASKED_FOR(starpu_asynchronous_max_fpga_copy_disabled, disable_asynchronous_max_fpga_copy)
ASKED_FOR(starpu_asynchronous_mpi_ms_copy_disabled, disable_asynchronous_mpi_ms_copy)
ASKED_FOR(starpu_asynchronous_tcpip_ms_copy_disabled, disable_asynchronous_tcpip_ms_copy)

int starpu_asynchronous_copy_disabled_for(enum starpu_node_kind kind)
{
	switch (kind) {
	case STARPU_CUDA_RAM:
		return starpu_asynchronous_cuda_copy_disabled();
	case STARPU_HIP_RAM:
		return starpu_asynchronous_hip_copy_disabled();
	case STARPU_OPENCL_RAM:
		return starpu_asynchronous_opencl_copy_disabled();
	case STARPU_MAX_FPGA_RAM:
		return starpu_asynchronous_max_fpga_copy_disabled();
	case STARPU_MPI_MS_RAM:
		return starpu_asynchronous_mpi_ms_copy_disabled();
	case STARPU_TCPIP_MS_RAM:
		return starpu_asynchronous_tcpip_ms_copy_disabled();
	default:
		return 0;
	}
}

ASKED_FOR(starpu_map_enabled, enable_map)
