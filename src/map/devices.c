/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "map/devices.h"

#include <stdlib.h>

#include "base/check.h"

enum {
	CLASS_NETWORK = 0x02,
	CLASS_VGA = 0x0300,
	CLASS_3D = 0x0302,
	CLASS_DISPLAY = 0x0380,
	CLASS_ACCELERATOR = 0x1200,
	VENDOR_AMD = 0x1002,
	VENDOR_NVIDIA = 0x10de
};

/* The VGA controllers of management boards compute nothing. */
static int is_gpu(hwloc_obj_t device)
{
	unsigned class = device->attr->pcidev.class_id;
	unsigned vendor = device->attr->pcidev.vendor_id;

	return class == CLASS_3D || class == CLASS_DISPLAY ||
	       class == CLASS_ACCELERATOR ||
	       (class == CLASS_VGA && (vendor == VENDOR_NVIDIA || vendor == VENDOR_AMD));
}

static int is_nic(hwloc_obj_t device)
{
	return device->attr->pcidev.class_id >> 8 == CLASS_NETWORK;
}

static int compare_rows(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return x[0] != y[0] ? x[0] - y[0] : x[1] - y[1];
}

/* First PU and the one behind the last, for each device. */
static int list_devices(hwloc_topology_t topology, int are_gpus, int (*rows)[2])
{
	hwloc_obj_t device = NULL;
	int n = 0;

	while ((device = hwloc_get_next_pcidev(topology, device))) {
		hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, device), first;
		int count;

		if (!(are_gpus ? is_gpu(device) : is_nic(device)) || !near)
			continue;
		first = hwloc_get_obj_inside_cpuset_by_type(topology, near->cpuset,
							    HWLOC_OBJ_PU, 0);
		count = hwloc_get_nbobjs_inside_cpuset_by_type(topology, near->cpuset,
							       HWLOC_OBJ_PU);
		if (!first || count <= 0)
			continue;
		rows[n][0] = (int)first->logical_index;
		rows[n][1] = rows[n][0] + count;
		n++;
	}
	qsort(rows, (size_t)n, sizeof(*rows), compare_rows);
	return n;
}

static hwloc_obj_t core_of(hwloc_topology_t topology, int pu)
{
	return hwloc_get_ancestor_obj_by_type(
		topology, HWLOC_OBJ_CORE,
		hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, (unsigned)pu));
}

/* Does the PU belong to the same core as the one before it? */
static int is_inside_core(hwloc_topology_t topology, int pu)
{
	hwloc_obj_t core = core_of(topology, pu);

	return core && core == core_of(topology, pu - 1);
}

/* Shares out the cores of a row to ndevices; how many got some. */
static int share_out(hwloc_topology_t topology, const int *row, int ndevices, int *firsts,
		     int *counts)
{
	int first = row[0], used = 0;

	for (int i = 1; i <= ndevices; i++) {
		int next = row[0] + (int)((long)(row[1] - row[0]) * i / ndevices);

		while (i < ndevices && next > first && is_inside_core(topology, next))
			next--;
		if (next == first)
			continue;
		firsts[used] = first;
		counts[used++] = next - first;
		first = next;
	}
	return used;
}

int devices_near(hwloc_topology_t topology, int are_gpus, int *firsts, int *counts)
{
	int(*rows)[2], n = 0, total = 0;
	hwloc_obj_t device = NULL;

	while ((device = hwloc_get_next_pcidev(topology, device)))
		n++;
	rows = orr_alloc((size_t)(n + 1) * sizeof(*rows));
	n = list_devices(topology, are_gpus, rows);
	for (int i = 0, next; i < n; i = next) {
		int row[2] = {rows[i][0], rows[i][1]};

		for (next = i + 1; next < n && rows[next][0] < row[1]; next++)
			if (rows[next][1] > row[1])
				row[1] = rows[next][1];
		total += share_out(topology, row, next - i, firsts + total,
				   counts + total);
	}
	free(rows);
	return total;
}
