/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DEVICE_H
#define ORR_CORE_DEVICE_H

/*
 * device.h - what differs between the types of devices that run kernels: one row each.
 *
 * How many of a type the machine has, and how fast they are, it says itself (struct
 * plat_devices).  Outside this table nobody asks for a type by name.
 */
#include <starpu.h>

#include "plat/plat.h"

struct knobs;
struct node;

typedef void (*kernel_t)(void *buffers[], void *arg);

struct device_type {
	const char *name, *in_variables; /* NULL: the number has no type */
	enum starpu_node_kind memory;    /* that its workers compute from */
	const char *memory_name;         /* as files of buses say it */
	unsigned mask;                   /* STARPU_CPU | ... */
	/* A codelet's kernels and the deprecated field for one of them, by their offsets;
	 * 0: it has none for this type, which has no workers. */
	size_t kernels, old_kernel;
	int most; /* workers of a node */
	/* Fields of struct starpu_conf (how many; -1: all that there are) and of struct
	 * knobs, by their offsets: do all share the models of the first; tasks whose data
	 * travel while another one runs; limits of memory in MiB (-1: none), for all and
	 * by device; 0: no such knob. */
	size_t wanted, homogeneous, pipeline, limit_mib, limits_mib;
	const char *limit_name; /* the variable */
	/* Rate of a device before anything is known, that of a core being 1. */
	double relative_speed;
	/* Of the roofline; see roofline.c. */
	double e_max, start_s;
};

enum { DEVICE_TYPES = STARPU_NARCH };

/* The types in the order of their workers and memories: processors last. */
extern const unsigned char device_order[DEVICE_TYPES];

/* The types that codelets cl have kernels for, and their fields, as the rows say: known
 * when codelet.c is compiled, since this is asked for each task. */
#define DEVICES_WITH_KERNELS(ROW)                                                        \
	ROW((unsigned)STARPU_CPU, cpu_funcs, (const void *)cl->cpu_func)                 \
	ROW((unsigned)STARPU_CUDA, cuda_funcs, (const void *)cl->cuda_func)              \
	ROW((unsigned)STARPU_MPI_MS, cpu_funcs_name, NULL)

/* The row of a slave's GPUs, of type MPI_MS as well. */
extern const struct device_type device_remote_gpu;

/* In the deprecated field: look at the others. */
#define DEVICE_MANY_KERNELS ((const void *)(intptr_t)-1)

/* The row, or NULL when there is no such type. */
const struct device_type *device_type(enum starpu_worker_archtype type);
/* The row whose workers compute from this kind of memory, or NULL. */
const struct device_type *device_of_memory(enum starpu_node_kind kind);
/* Have its workers memories of their own? */
static inline int device_has_memory(const struct device_type *type)
{
	return type->memory != STARPU_CPU_RAM;
}

/* How many workers of the type the node is to have. */
int device_workers_each(const struct node *node, enum starpu_worker_archtype type);
int device_count(const struct node *node, enum starpu_worker_archtype type);
/* Do all devices of the type share the models of the first? */
int device_is_homogeneous(const struct device_type *type, const struct knobs *knobs);
/* Tasks that a worker takes beside the one that runs, when data have to travel. */
int device_pipeline(const struct device_type *type, const struct knobs *knobs);
/* What the machine says of the device of a worker or of a model's arch: how fast it is,
 * and the name under which its models are looked up where they are not measured here. */
const struct plat_pace *device_pace(const struct plat_machine *machine,
				    const struct starpu_perfmodel_device *device);
const char *device_model(const struct plat_machine *machine,
			 const struct starpu_perfmodel_device *device);
/* The number of a device in a file of models with this name: the machine's, and where the
 * file has the device's own name the number among those that are called so. */
int device_number(const struct plat_machine *machine,
		  const struct starpu_perfmodel_device *device, const char *file);
/* May the device with that number in such a file speak for this one?  Not one of this
 * machine that is of another kind. */
int device_may_speak(const struct plat_machine *machine,
		     const struct starpu_perfmodel_device *device, const char *file,
		     int number);
/* The first device that is as fast. */
int device_first_like(const struct plat_machine *machine,
		      const struct starpu_perfmodel_device *device);
/* Bytes that may be used of the memory of a device, or of a seat's; with type CPU, of the
 * main memory with this number.  0: as much as there is. */
size_t device_limit(const struct node *node, enum starpu_worker_archtype type, int devid);

#endif
