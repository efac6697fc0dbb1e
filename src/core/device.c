/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/device.h"

#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "core/node.h"

#define CONF(field)    offsetof(struct starpu_conf, field)
#define KNOB(field)    offsetof(struct knobs, field)
#define KERNELS(field) offsetof(struct starpu_codelet, field)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static const struct device_type types[DEVICE_TYPES] = {
	[STARPU_CPU_WORKER] = {.name = "CPU",
			       .in_variables = "CPU",
			       .memory = STARPU_CPU_RAM,
			       .memory_name = "NUMA",
			       .mask = STARPU_CPU,
			       .kernels = KERNELS(cpu_funcs),
			       .old_kernel = KERNELS(cpu_func),
			       .most = STARPU_MAXCPUS,
			       .wanted = CONF(ncpus),
			       .homogeneous = KNOB(homogeneous_cpu),
			       .limit_name = "STARPU_LIMIT_CPU_MEM",
			       .relative_speed = 1,
			       .e_max = 0.85,
			       .start_s = 3e-6},
	[STARPU_CUDA_WORKER] = {.name = "CUDA",
				.in_variables = "CUDA",
				.memory = STARPU_CUDA_RAM,
				.memory_name = "CUDA",
				.mask = STARPU_CUDA,
				.kernels = KERNELS(cuda_funcs),
				.old_kernel = KERNELS(cuda_func),
				.most = STARPU_MAXCUDADEVS,
				.wanted = CONF(ncuda),
				.homogeneous = KNOB(homogeneous_cuda),
				.pipeline = KNOB(cuda_pipeline),
				.limit_mib = KNOB(limit_cuda_mem_mib),
				.limits_mib = KNOB(limit_one_cuda_mem_mib),
				.limit_name = "STARPU_LIMIT_CUDA_MEM",
				.relative_speed = 13.33,
				.e_max = 0.80,
				.start_s = 20e-6},
	[STARPU_OPENCL_WORKER] = {.name = "OpenCL",
				  .in_variables = "OPENCL",
				  .memory = STARPU_OPENCL_RAM,
				  .memory_name = "OpenCL"},
	[STARPU_MAX_FPGA_WORKER] = {.name = "FPGA",
				    .in_variables = "FPGA",
				    .memory = STARPU_MAX_FPGA_RAM,
				    .memory_name = "FPGA"},
	[STARPU_MPI_MS_WORKER] = {.name = "MPI_MS",
				  .in_variables = "MPI_MS",
				  .memory = STARPU_MPI_MS_RAM,
				  .memory_name = "MPI_MS",
				  .mask = STARPU_MPI_MS,
				  .kernels = KERNELS(cpu_funcs_name),
				  .old_kernel = KERNELS(cpu_funcs_name),
				  .most = STARPU_NMAXWORKERS,
				  .homogeneous = KNOB(homogeneous_mpi_ms),
				  .pipeline = KNOB(mpi_ms_pipeline),
				  .relative_speed = 1,
				  .e_max = 0.85,
				  .start_s = 3e-6},
	[STARPU_TCPIP_MS_WORKER] = {.name = "TCPIP_MS",
				    .in_variables = "TCPIP_MS",
				    .memory = STARPU_TCPIP_MS_RAM,
				    .memory_name = "TCPIP_MS"},
	[STARPU_HIP_WORKER] = {.name = "HIP",
			       .in_variables = "HIP",
			       .memory = STARPU_HIP_RAM,
			       .memory_name = "HIP"},
};

/* What runs on a GPU of a slave: see struct plat_device. */
const struct device_type device_remote_gpu = {.name = "MPI_MS",
					      .in_variables = "MPI_MS",
					      .memory = STARPU_MPI_MS_RAM,
					      .memory_name = "MPI_MS",
					      .mask = STARPU_MPI_MS,
					      .kernels = KERNELS(cuda_funcs),
					      .old_kernel = KERNELS(cuda_func),
					      .most = STARPU_NMAXWORKERS,
					      .homogeneous = KNOB(homogeneous_mpi_ms),
					      .pipeline = KNOB(mpi_ms_pipeline),
					      .relative_speed = 13.33,
					      .e_max = 0.80,
					      .start_s = 20e-6};

#pragma GCC diagnostic pop

const unsigned char device_order[DEVICE_TYPES] = {
	STARPU_CUDA_WORKER,     STARPU_HIP_WORKER,
	STARPU_OPENCL_WORKER,   3,
	STARPU_MAX_FPGA_WORKER, STARPU_MPI_MS_WORKER,
	STARPU_TCPIP_MS_WORKER, STARPU_CPU_WORKER,
};

const struct device_type *device_type(enum starpu_worker_archtype type)
{
	return (unsigned)type < DEVICE_TYPES && types[type].name ? &types[type] : NULL;
}

const struct device_type *device_of_memory(enum starpu_node_kind kind)
{
	for (int i = 0; i < DEVICE_TYPES; i++)
		if (types[i].name && types[i].memory == kind)
			return &types[i];
	return NULL;
}

/* ---- knobs ----------------------------------------------------------- */

static int field(const void *of, size_t offset)
{
	return *(const int *)((const char *)of + offset);
}

/* A machine with fewer cores than it needs still runs, on one. */
static int all_cpus(const struct node *node, int most)
{
	int reserve = node->conf->reserve_ncpus > 0 ? node->conf->reserve_ncpus : 0;
	int left = most - reserve;

	return left < 1 && most > 0 ? 1 : left;
}

int device_workers_each(const struct node *node, enum starpu_worker_archtype type)
{
	int n = node->machine->devices[type].nworkers_each;

	return n > 1 ? n : 1;
}

int device_count(const struct node *node, enum starpu_worker_archtype type)
{
	const struct device_type *row = device_type(type);
	int there = node->machine->devices[type].count, count;

	if (!row || !row->kernels)
		return 0;
	count = row->wanted ? field(node->conf, row->wanted) : -1;
	if (count < 0)
		count = type == STARPU_CPU_WORKER ? all_cpus(node, there) : there;
	/* Processors may be shared by more threads than there are. */
	if (device_has_memory(row) && count > there)
		count = there;
	if (count <= row->most)
		return count;
	/* Nodes of one environment make one mistake together. */
	if (!node->settings->too_many_told)
		orr_complain(node->rank,
			     "%d %s workers asked for (STARPU_NCPU, STARPU_NCUDA, or as "
			     "many as there are): at most %d are supported, and so many "
			     "run",
			     count, row->name, row->most);
	node->settings->too_many_told = 1;
	return row->most;
}

int device_is_homogeneous(const struct device_type *type, const struct knobs *knobs)
{
	return type->homogeneous && field(knobs, type->homogeneous);
}

int device_pipeline(const struct device_type *type, const struct knobs *knobs)
{
	return type->pipeline ? field(knobs, type->pipeline) : 1;
}

/* ---- Devices of a type that are not alike ------------------------------ */

/* Either all devices of a type have a pace of their own or none has, as a slave's cores,
 * of which there may be thousands. */
static int nrows_of(const struct plat_devices *devices)
{
	return devices->each && devices->count > 0 && devices->each->pace
		       ? devices->count + devices->nothers
		       : 0;
}

/* NULL: the type speaks for it. */
static const struct plat_device *row_of(const struct plat_devices *devices, int devid)
{
	for (int i = 0, n = nrows_of(devices); i < n; i++)
		if (devices->each[i].id == devid)
			return &devices->each[i];
	return NULL;
}

const struct plat_pace *device_pace(const struct plat_machine *machine,
				    const struct starpu_perfmodel_device *device)
{
	const struct plat_devices *devices = &machine->devices[device->type];
	const struct plat_device *row = row_of(devices, device->devid);

	return row ? row->pace : &devices->pace;
}

const char *device_model(const struct plat_machine *machine,
			 const struct starpu_perfmodel_device *device)
{
	const struct plat_devices *devices = &machine->devices[device->type];
	const struct plat_device *row = row_of(devices, device->devid);

	return row ? row->model : devices->model;
}

int device_number(const struct plat_machine *machine,
		  const struct starpu_perfmodel_device *device, const char *file)
{
	const struct plat_devices *devices = &machine->devices[device->type];
	const struct plat_device *row = row_of(devices, device->devid);
	int number = 0;

	if (!row || strcmp(row->model, file) != 0)
		return device->devid;
	for (int i = 0, n = nrows_of(devices); i < n; i++)
		number += devices->each[i].id < row->id &&
			  strcmp(devices->each[i].model, file) == 0;
	return number;
}

int device_may_speak(const struct plat_machine *machine,
		     const struct starpu_perfmodel_device *device, const char *file,
		     int number)
{
	const struct plat_devices *devices = &machine->devices[device->type];
	const struct plat_pace *pace = device_pace(machine, device);
	int has_its_name = strcmp(device_model(machine, device), file) == 0;

	for (int i = 0, n = nrows_of(devices); i < n; i++) {
		const struct plat_device *row = &devices->each[i];
		struct starpu_perfmodel_device other = {device->type, row->id, 1};

		if ((!has_its_name || strcmp(row->model, file) == 0) &&
		    device_number(machine, &other, file) == number)
			return row->pace == pace;
	}
	return 1;
}

int device_first_like(const struct plat_machine *machine,
		      const struct starpu_perfmodel_device *device)
{
	const struct plat_devices *devices = &machine->devices[device->type];
	const struct plat_pace *pace = device_pace(machine, device);
	int n = nrows_of(devices), first = n > 0 ? device->devid : 0;

	for (int i = 0; i < n; i++)
		if (devices->each[i].pace == pace && devices->each[i].id < first)
			first = devices->each[i].id;
	return first;
}

/* ---- knobs, by device -------------------------------------------------- */

/* Of the variables that limit main memory, the one that counts; -1: none is set. */
static int main_limit_mib(const struct node *node, int numa)
{
	const struct knobs *knobs = node_knobs(node);
	int n = node->machine->nnumas, one, index = 0;

	if (n > 1)
		index = node->machine->numas[numa].os_index;
	one = index < KNOBS_NUMA_NODES ? knobs->limit_one_numa_mem_mib[index] : -1;
	/* The whole is named first where there is only the whole. */
	if (n == 1 && knobs->limit_cpu_mem_mib >= 0)
		return knobs->limit_cpu_mem_mib;
	if (n > 1 && one >= 0)
		return one;
	if (knobs->limit_numa_mem_mib >= 0)
		return knobs->limit_numa_mem_mib;
	if (n == 1)
		return one;
	return knobs->limit_cpu_mem_mib < 0 ? -1 : (knobs->limit_cpu_mem_mib + n - 1) / n;
}

static int limit_mib(const struct node *node, const struct device_type *row, int devid)
{
	const struct knobs *knobs = node_knobs(node);
	int mib = -1;

	if (!device_has_memory(row))
		return main_limit_mib(node, devid);
	if (row->limits_mib && devid < KNOBS_CUDA_DEVICES)
		mib = field(knobs, row->limits_mib + (size_t)devid * sizeof(int));
	return mib < 0 && row->limit_mib ? field(knobs, row->limit_mib) : mib;
}

size_t device_limit(const struct node *node, enum starpu_worker_archtype type, int index)
{
	const struct device_type *row = device_type(type);
	const struct plat_devices *devices = &node->machine->devices[type];
	double limit = devices->memory_bytes;
	int mib = limit_mib(node, row, devices->each ? devices->each[index].id : index);

	if (devices->each)
		limit = devices->each[index].memory_bytes;
	if (!device_has_memory(row) && node->machine->nnumas > 1)
		limit = node->machine->numas[index].bytes;
	if (mib >= 0 && (limit == 0 || mib * 1048576.0 < limit))
		limit = mib * 1048576.0;
	return (size_t)limit;
}
