/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What a model says of some devices, and combinations of devices by number. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "api/api.h"
#include "base/check.h"
#include "core/model/model_own.h"

enum { MAX_DEVICES = STARPU_NMAXWORKERS };

/* The caller's devices, given as numbers up to -1. */
struct device_list {
	struct starpu_perfmodel_device devices[MAX_DEVICES];
	struct starpu_perfmodel_arch arch;
};

static void read_devices(const char *func, struct device_list *list, va_list args)
{
	int n = 0, type;

	while ((type = va_arg(args, int)) != -1) {
		struct starpu_perfmodel_device *device = &list->devices[n];

		if (n == MAX_DEVICES ||
		    !starpu_worker_archtype_is_valid((enum starpu_worker_archtype)type))
			orr_die(api_rank(),
				"%s: device %d has type %d; expected type, number and "
				"cores of each device, such as STARPU_CPU_WORKER, 0, 1, "
				"and -1 after the last",
				func, n, type);
		device->type = (enum starpu_worker_archtype)type;
		device->devid = va_arg(args, int);
		device->ncores = va_arg(args, int);
		n++;
	}
	list->arch = (struct starpu_perfmodel_arch){n, list->devices};
}

static struct starpu_perfmodel_per_arch *
place_of(const char *func, struct starpu_perfmodel *model,
	 const struct starpu_perfmodel_arch *arch, long implementation)
{
	struct node *node = api_node(func);

	api_given(func, "model", model);
	api_given(func, "arch", arch);
	if (arch->ndevices < 1 || implementation < 0 ||
	    implementation >= STARPU_MAXIMPLEMENTATIONS)
		orr_die(node->rank,
			"%s: implementation %ld on %d devices; expected an "
			"implementation below %d and at least one device",
			func, implementation, arch->ndevices, STARPU_MAXIMPLEMENTATIONS);
	combinations_find(node, arch, 1);
	return model_own_place(node, model, arch, (unsigned)implementation);
}

struct starpu_perfmodel_per_arch *
starpu_perfmodel_get_model_per_arch(struct starpu_perfmodel *model,
				    struct starpu_perfmodel_arch *arch, unsigned impl)
{
	return place_of(__func__, model, arch, impl);
}

struct starpu_perfmodel_per_arch *
starpu_perfmodel_get_model_per_devices(struct starpu_perfmodel *model, int impl, ...)
{
	struct device_list list;
	va_list args;

	va_start(args, impl);
	read_devices(__func__, &list, args);
	va_end(args);
	return place_of(__func__, model, &list.arch, impl);
}

int starpu_perfmodel_set_per_devices_cost_function(
	struct starpu_perfmodel *model, int impl,
	starpu_perfmodel_per_arch_cost_function func, ...)
{
	struct device_list list;
	va_list args;

	va_start(args, func);
	read_devices(__func__, &list, args);
	va_end(args);
	place_of(__func__, model, &list.arch, impl)->cost_function = func;
	return 0;
}

int starpu_perfmodel_set_per_devices_size_base(struct starpu_perfmodel *model, int impl,
					       starpu_perfmodel_per_arch_size_base func,
					       ...)
{
	struct device_list list;
	va_list args;

	va_start(args, func);
	read_devices(__func__, &list, args);
	va_end(args);
	place_of(__func__, model, &list.arch, impl)->size_base = func;
	return 0;
}

/* ---- combinations ---------------------------------------------------- */

int starpu_perfmodel_get_narch_combs(void)
{
	return combinations_count(api_node(__func__));
}

int starpu_perfmodel_arch_comb_add(int ndevices, struct starpu_perfmodel_device *devices)
{
	const struct starpu_perfmodel_arch arch = {ndevices, devices};

	return combinations_find(api_node(__func__), &arch, 1);
}

int starpu_perfmodel_arch_comb_get(int ndevices, struct starpu_perfmodel_device *devices)
{
	const struct starpu_perfmodel_arch arch = {ndevices, devices};

	return combinations_find(api_node(__func__), &arch, 0);
}

struct starpu_perfmodel_arch *starpu_perfmodel_arch_comb_fetch(int comb)
{
	return combinations_get(api_node(__func__), comb);
}

const char *starpu_perfmodel_get_archtype_name(enum starpu_worker_archtype archtype)
{
	static const char *const names[STARPU_NARCH] = {
		[STARPU_CPU_WORKER] = "cpu",       [STARPU_CUDA_WORKER] = "cuda",
		[STARPU_OPENCL_WORKER] = "opencl", [STARPU_MAX_FPGA_WORKER] = "max_fpga",
		[STARPU_MPI_MS_WORKER] = "mpi_ms", [STARPU_TCPIP_MS_WORKER] = "tcpip_ms",
		[STARPU_HIP_WORKER] = "hip"};

	return starpu_worker_archtype_is_valid(archtype) ? names[archtype] : "unknown";
}

void starpu_perfmodel_get_arch_name(struct starpu_perfmodel_arch *arch, char *archname,
				    size_t maxlen, unsigned nimpl)
{
	struct node *node = api_node(__func__);
	size_t at = 0;

	api_given(__func__, "arch", arch);
	if (maxlen == 0)
		return;
	*archname = '\0';
	for (int i = 0; i < arch->ndevices && at < maxlen; i++)
		at += (size_t)snprintf(
			archname + at, maxlen - at, "%s%d_",
			starpu_perfmodel_get_archtype_name(arch->devices[i].type),
			arch->devices[i].devid);
	if (at < maxlen)
		snprintf(archname + at, maxlen - at, "impl%u (Comb%d)", nimpl,
			 combinations_find(node, arch, 0));
}
