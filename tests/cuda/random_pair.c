/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <string.h>

#include "random.h"

/*
 * random_pair.c - an interface of the application's: two vectors.  Of its variants one
 * copies by itself on streams, one by itself and at once, and one by the library.
 */
static struct starpu_data_interface_ops pair_ops[PAIR_VARIANTS];

int is_pair(const void *interface)
{
	const struct pair_interface *pair = interface;

	for (int i = 0; i < PAIR_VARIANTS; i++)
		if (pair_ops[i].interfaceid == pair->id && pair_ops[i].interface_size)
			return 1;
	return 0;
}

static size_t bytes_of(const struct pair_interface *pair)
{
	return pair->n * sizeof(uint64_t);
}

static void register_pair(starpu_data_handle_t handle, int home, void *interface)
{
	for (unsigned node = 0; node < STARPU_MAXNODES; node++) {
		struct pair_interface *pair =
			starpu_data_get_interface_on_node(handle, node);

		*pair = *(struct pair_interface *)interface;
		if ((int)node != home)
			pair->first = pair->second = NULL;
	}
}

static starpu_ssize_t allocate(void *interface, unsigned node)
{
	struct pair_interface *pair = interface;
	size_t bytes = bytes_of(pair);

	pair->first = (uint64_t *)starpu_malloc_on_node(node, bytes);
	if (!pair->first)
		return -ENOMEM;
	pair->second = (uint64_t *)starpu_malloc_on_node(node, bytes);
	if (!pair->second) {
		starpu_free_on_node(node, (uintptr_t)pair->first, bytes);
		pair->first = NULL;
		return -ENOMEM;
	}
	return (starpu_ssize_t)(2 * bytes);
}

static void release(void *interface, unsigned node)
{
	struct pair_interface *pair = interface;

	starpu_free_on_node(node, (uintptr_t)pair->first, bytes_of(pair));
	starpu_free_on_node(node, (uintptr_t)pair->second, bytes_of(pair));
	pair->first = pair->second = NULL;
}

static size_t pair_size(starpu_data_handle_t handle)
{
	const struct pair_interface *pair =
		starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM);

	return 2 * bytes_of(pair);
}

static uint32_t footprint(starpu_data_handle_t handle)
{
	return (uint32_t)pair_size(handle);
}

static int compare(void *a, void *b)
{
	return ((struct pair_interface *)a)->n == ((struct pair_interface *)b)->n;
}

/* ---- copies --------------------------------------------------------------- */

static int within_main(void *from, unsigned from_node, void *to, unsigned to_node)
{
	const struct pair_interface *source = from, *target = to;

	(void)from_node;
	(void)to_node;
	memcpy(target->first, source->first, bytes_of(source));
	memcpy(target->second, source->second, bytes_of(source));
	return 0;
}

static int start(const void *from, const void *to, enum cudaMemcpyKind kind,
		 cudaStream_t stream)
{
	const struct pair_interface *source = from, *target = to;
	cudaError_t status = cudaMemcpyAsync(target->first, source->first,
					     bytes_of(source), kind, stream);

	if (status == cudaSuccess)
		status = cudaMemcpyAsync(target->second, source->second, bytes_of(source),
					 kind, stream);
	if (status != cudaSuccess)
		STARPU_CUDA_REPORT_ERROR(status);
	return -EAGAIN;
}

static int start_in(void *from, unsigned from_node, void *to, unsigned to_node,
		    cudaStream_t stream)
{
	(void)from_node;
	(void)to_node;
	return start(from, to, cudaMemcpyHostToDevice, stream);
}

static int start_out(void *from, unsigned from_node, void *to, unsigned to_node,
		     cudaStream_t stream)
{
	(void)from_node;
	(void)to_node;
	return start(from, to, cudaMemcpyDeviceToHost, stream);
}

static int start_between(void *from, unsigned from_node, void *to, unsigned to_node,
			 cudaStream_t stream)
{
	(void)from_node;
	(void)to_node;
	return start(from, to, cudaMemcpyDeviceToDevice, stream);
}

static int copy(const void *from, const void *to, enum cudaMemcpyKind kind)
{
	const struct pair_interface *source = from, *target = to;
	cudaError_t status =
		cudaMemcpy(target->first, source->first, bytes_of(source), kind);

	if (status == cudaSuccess)
		status = cudaMemcpy(target->second, source->second, bytes_of(source),
				    kind);
	if (status != cudaSuccess)
		STARPU_CUDA_REPORT_ERROR(status);
	return 0;
}

static int copy_in(void *from, unsigned from_node, void *to, unsigned to_node)
{
	(void)from_node;
	(void)to_node;
	return copy(from, to, cudaMemcpyHostToDevice);
}

static int copy_out(void *from, unsigned from_node, void *to, unsigned to_node)
{
	(void)from_node;
	(void)to_node;
	return copy(from, to, cudaMemcpyDeviceToHost);
}

static int by_library(void *from, unsigned from_node, void *to, unsigned to_node,
		      void *async_data)
{
	const struct pair_interface *source = from, *target = to;
	int first = starpu_interface_copy((uintptr_t)source->first, 0, from_node,
					  (uintptr_t)target->first, 0, to_node,
					  bytes_of(source), async_data),
	    second = starpu_interface_copy((uintptr_t)source->second, 0, from_node,
					   (uintptr_t)target->second, 0, to_node,
					   bytes_of(source), async_data);

	return first ? first : second;
}

static const struct starpu_data_copy_methods on_streams = {.ram_to_ram = within_main,
							   .ram_to_cuda_async = start_in,
							   .cuda_to_ram_async = start_out,
							   .cuda_to_cuda_async =
								   start_between,
							   .any_to_any = by_library},
					     at_once = {.ram_to_ram = within_main,
							.ram_to_cuda = copy_in,
							.cuda_to_ram = copy_out,
							.any_to_any = by_library},
					     not_itself = {.any_to_any = by_library};

static void make_ops(int variant)
{
	static const struct starpu_data_copy_methods *const methods[PAIR_VARIANTS] = {
		&on_streams, &at_once, &not_itself};
	struct starpu_data_interface_ops *ops = &pair_ops[variant];

	ops->register_data_handle = register_pair;
	ops->allocate_data_on_node = allocate;
	ops->free_data_on_node = release;
	ops->copy_methods = methods[variant];
	ops->get_size = pair_size;
	ops->footprint = footprint;
	ops->compare = compare;
	ops->interfaceid =
		(enum starpu_data_interface_id)starpu_data_interface_get_next_id();
	ops->interface_size = sizeof(struct pair_interface);
	ops->name = (char *)"pair";
}

void pair_register(starpu_data_handle_t *handle, struct pair_interface *pair, int home,
		   int variant)
{
	if (!pair_ops[variant].interface_size)
		make_ops(variant);
	pair->id = pair_ops[variant].interfaceid;
	starpu_data_register(handle, home, pair, &pair_ops[variant]);
}
