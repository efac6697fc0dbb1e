/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/interface.h"
#include "core/interface/methods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/application.h"
#include "base/check.h"
#include "core/model/hash.h"

/*
 * Any number of dimensions, also none: dimension i has nn[i] elements, ldn[i] apart.
 *
 * A datum has one block of three arrays that the structs of all memories point to: nn,
 * the strides of what the library allocates, those of its home.  Other strides, of
 * starpu_ndim_ptr_register(), are their copy's own.  A part has the arrays that filters
 * allocated, as the application's may do: two for where its parent is, two for elsewhere.
 */
INTERFACE_BEGINS_AS_PLAIN(ndim);

/* ---- where it lies --------------------------------------------------- */

/* So many dimensions are one layout, whatever their strides are. */
enum { NDIM_LAYOUT_DIMS = LAYOUT_MAX_DIMS + 1 };

static size_t elements(const uint32_t *nn, size_t from, size_t to)
{
	size_t n = 1;

	for (size_t i = from; i < to; i++)
		n *= nn[i];
	return n;
}

static size_t inner_dims(const struct starpu_ndim_interface *ndim)
{
	return ndim->ndim < NDIM_LAYOUT_DIMS ? ndim->ndim : NDIM_LAYOUT_DIMS;
}

static int repeat(const struct starpu_ndim_interface *ndim,
		  const struct starpu_ndim_interface *at, size_t ndims,
		  struct layout *layout)
{
	int ret = 0;

	layout_flat(layout, (void *)at->ptr, ndim->elemsize);
	for (size_t i = 0; i < ndims && ret == 0; i++)
		ret = layout_repeat(layout, ndim->nn[i],
				    (size_t)at->ldn[i] * ndim->elemsize);
	return ret;
}

static int ndim_layout(const void *shape, const void *place, struct layout *layout)
{
	const struct starpu_ndim_interface *ndim = shape;

	return repeat(ndim, place, ndim->ndim, layout);
}

static size_t ndim_element_bytes(const void *interface)
{
	return ((const struct starpu_ndim_interface *)interface)->elemsize;
}

/* The inner dimensions at the number'th place of the outer ones. */
static struct layout part_of(const struct starpu_ndim_interface *ndim,
			     const struct starpu_ndim_interface *at, size_t number)
{
	size_t offset = 0;
	struct layout part;
	int ret = repeat(ndim, at, inner_dims(ndim), &part);

	ORR_ASSERT(ret == 0);
	for (size_t i = inner_dims(ndim); i < ndim->ndim; i++) {
		offset += number % ndim->nn[i] * at->ldn[i];
		number /= ndim->nn[i];
	}
	if (part.base)
		part.base += offset * ndim->elemsize;
	return part;
}

static size_t count_parts(const struct starpu_ndim_interface *ndim)
{
	return elements(ndim->nn, inner_dims(ndim), ndim->ndim);
}

static size_t bytes_of(const struct starpu_ndim_interface *ndim)
{
	return elements(ndim->nn, 0, ndim->ndim) * ndim->elemsize;
}

/* ---- registration ---------------------------------------------------- */

/* Without check it is known later that nothing is there. */
static void fill_dense(uint32_t *ldn, const uint32_t *nn, size_t ndim, int checks)
{
	for (size_t i = 0; i < ndim; i++) {
		size_t whole = elements(nn, 0, i);
		uint32_t stride = interface_stride(whole, checks ? nn[i] : 1);

		if (ldn[i] != stride) /* Others may be reading the shape. */
			ldn[i] = stride;
	}
}

static void ndim_register(starpu_data_handle_t handle, int home, void *interface)
{
	const struct starpu_ndim_interface *given = interface;
	size_t n = given->ndim, bytes = n * sizeof(uint32_t);
	uint32_t *nn = orr_alloc(3 * bytes + sizeof(uint32_t));

	if (n) /* Arrays of nothing may be NULL. */
		memcpy(nn, given->nn, bytes);
	fill_dense(nn + n, nn, n, 0);
	if (n && home >= 0)
		memcpy(nn + 2 * n, given->ldn, bytes);
	for (unsigned memory = 0; memory < NODE_MAX_MEMORIES; memory++) {
		struct starpu_ndim_interface *ndim = data_interface(handle, memory);

		if ((int)memory == home)
			*ndim = *given;
		else
			interface_copy_shape(ndim, given, sizeof(*given));
		ndim->nn = nn;
		ndim->ldn = (int)memory == home ? nn + 2 * n : nn + n;
	}
}

/* Once each, and not what lies inside the block of a datum that is no part. */
static int note_array(starpu_data_handle_t handle, uint32_t **arrays, int n,
		      uint32_t *array)
{
	const struct starpu_ndim_interface *ndim = handle->interface;
	int is_inside = !(data_flags(handle) & DATUM_PART) && array > ndim->nn &&
			array <= ndim->nn + 2 * ndim->ndim;

	for (int i = 0; i < n && !is_inside; i++)
		is_inside = arrays[i] == array;
	if (!is_inside)
		arrays[n++] = array;
	return n;
}

static void ndim_unregister(starpu_data_handle_t handle)
{
	uint32_t *arrays[2 * (NODE_MAX_MEMORIES + 1)];
	struct starpu_ndim_interface image;
	int n = 0;

	data_fill_interface(handle, &image);
	n = note_array(handle, arrays, n, image.nn);
	n = note_array(handle, arrays, n, image.ldn);
	for (unsigned i = 0; handle->body && i < (unsigned)node_nmemories(handle->node);
	     i++) {
		struct copy_state *copy = data_find_copy(handle, i);
		struct starpu_ndim_interface *ndim = copy ? copy->interface : NULL;

		if (!ndim)
			continue;
		n = note_array(handle, arrays, n, ndim->nn);
		n = note_array(handle, arrays, n, ndim->ldn);
	}
	while (n > 0)
		free(arrays[--n]);
}

/* ---- memory and copies ----------------------------------------------- */

static starpu_ssize_t ndim_allocate(void *interface, unsigned memory)
{
	struct starpu_ndim_interface *ndim = interface;
	starpu_ssize_t ret = interface_allocate(ndim, memory, ndim->allocsize);

	if (ret >= 0)
		fill_dense(ndim->ldn, ndim->nn, ndim->ndim, 1);
	return ret;
}

static void ndim_free(void *interface, unsigned memory)
{
	struct starpu_ndim_interface *ndim = interface;

	interface_free(ndim, memory, ndim->allocsize);
}

/* The arrays are the datum's, and end with it. */
static void ndim_cache(void *cached, void *interface, unsigned memory)
{
	struct starpu_ndim_interface *to = cached;

	interface_cache(cached, interface, memory);
	to->allocsize = ((struct starpu_ndim_interface *)interface)->allocsize;
	to->nn = to->ldn = NULL;
}

static void ndim_reuse(void *interface, const void *cached, unsigned memory)
{
	struct starpu_ndim_interface *ndim = interface;

	interface_reuse(interface, cached, memory);
	fill_dense(ndim->ldn, ndim->nn, ndim->ndim, 1);
}

static void *ndim_pointer(void *interface, unsigned memory)
{
	return interface_pointer(interface, memory);
}

/* The strides are the application's, too. */
static int ndim_map(void *from, unsigned from_memory, void *to, unsigned to_memory)
{
	return interface_map(from, from_memory, to, to_memory,
			     sizeof(struct starpu_ndim_interface));
}

static int ndim_copy(void *from, unsigned from_memory, void *to, unsigned to_memory,
		     void *async_data)
{
	const struct starpu_ndim_interface *ndim = from;
	int ret = 0;

	for (size_t i = 0; i < count_parts(ndim); i++) {
		struct layout source = part_of(ndim, from, i);
		struct layout target = part_of(ndim, to, i);

		if (methods_move(async_data, from_memory, to_memory, &source, &target) ==
		    -EAGAIN)
			ret = -EAGAIN;
	}
	return ret;
}

static int ndim_pack(starpu_data_handle_t handle, unsigned memory, void **ptr,
		     starpu_ssize_t *count)
{
	const struct starpu_ndim_interface *ndim = data_copy(handle, memory)->interface;
	char *at;

	*count = (starpu_ssize_t)bytes_of(ndim);
	if (!ptr)
		return 0;
	*ptr = at = interface_buffer_get(memory, (size_t)*count);
	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < count_parts(ndim); i++) {
		struct layout part = part_of(ndim, ndim, i), packed;

		layout_flat(&packed, at, layout_bytes(&part));
		methods_move(NULL, memory, memory, &part, &packed);
		at += layout_bytes(&part);
	}
	return 0;
}

static int ndim_peek(starpu_data_handle_t handle, unsigned memory, void *ptr,
		     size_t count)
{
	const struct starpu_ndim_interface *ndim = data_copy(handle, memory)->interface;
	char *at = ptr;

	if (count != bytes_of(ndim))
		return -EINVAL;
	for (size_t i = 0; i < count_parts(ndim); i++) {
		struct layout part = part_of(ndim, ndim, i), packed;

		layout_flat(&packed, at, layout_bytes(&part));
		methods_move(NULL, memory, memory, &packed, &part);
		at += layout_bytes(&part);
	}
	return 0;
}

static int ndim_unpack(starpu_data_handle_t handle, unsigned memory, void *ptr,
		       size_t count)
{
	int ret = ndim_peek(handle, memory, ptr, count);

	interface_buffer_put(memory, ptr, count);
	return ret;
}

/* ---- the struct itself ----------------------------------------------- */

static int ndim_pack_meta(void *interface, void **ptr, starpu_ssize_t *count)
{
	const struct starpu_ndim_interface *ndim = interface;
	size_t bytes = ndim->ndim * sizeof(uint32_t);
	char *at;

	*count = (starpu_ssize_t)(sizeof(*ndim) + 2 * bytes);
	*ptr = at = orr_alloc((size_t)*count);
	memcpy(at, ndim, sizeof(*ndim));
	if (bytes) {
		memcpy(at + sizeof(*ndim), ndim->nn, bytes);
		memcpy(at + sizeof(*ndim) + bytes, ndim->ldn, bytes);
	}
	return 0;
}

static int ndim_unpack_meta(void **interface, void *ptr, starpu_ssize_t *count)
{
	struct starpu_ndim_interface *ndim = orr_alloc(sizeof(*ndim));
	size_t bytes;

	memcpy(ndim, ptr, sizeof(*ndim));
	bytes = ndim->ndim * sizeof(uint32_t);
	ndim->nn = orr_alloc(2 * bytes + sizeof(uint32_t));
	ndim->ldn = ndim->nn + ndim->ndim;
	memcpy(ndim->nn, (char *)ptr + sizeof(*ndim), 2 * bytes);
	*interface = ndim;
	*count = (starpu_ssize_t)(sizeof(*ndim) + 2 * bytes);
	return 0;
}

static int ndim_free_meta(void *interface)
{
	struct starpu_ndim_interface *ndim = interface;

	free(ndim->nn);
	ndim->nn = ndim->ldn = NULL;
	return 0;
}

/* ---- sizes and texts ------------------------------------------------- */

static size_t ndim_size(starpu_data_handle_t handle)
{
	return bytes_of(handle->interface);
}

static size_t ndim_alloc_size(starpu_data_handle_t handle)
{
	return ((struct starpu_ndim_interface *)handle->interface)->allocsize;
}

static uint32_t ndim_footprint(starpu_data_handle_t handle)
{
	const struct starpu_ndim_interface *ndim = handle->interface;
	uint32_t hash = hash_crc32c_be((uint32_t)ndim->elemsize, 0);

	for (size_t i = 0; i < ndim->ndim; i++)
		hash = hash_crc32c_be(ndim->nn[i], hash);
	return hash;
}

static uint32_t ndim_alloc_footprint(starpu_data_handle_t handle)
{
	return hash_crc32c_be((uint32_t)ndim_alloc_size(handle), 0);
}

/* As snprintf(), behind what used bytes of buf hold already. */
#define APPEND(buf, size, used, ...)                                                     \
	snprintf((used) < (size) ? (buf) + (used) : NULL,                                \
		 (used) < (size) ? (size) - (used) : 0, __VA_ARGS__)

static starpu_ssize_t ndim_describe(void *interface, char *buf, size_t size)
{
	const struct starpu_ndim_interface *ndim = interface;
	size_t used = (size_t)APPEND(buf, size, 0, "N");

	for (size_t i = 0; i < ndim->ndim; i++)
		used += (size_t)APPEND(buf, size, used, "%ux", ndim->nn[i]);
	used += (size_t)APPEND(buf, size, used, "%zu", ndim->elemsize);
	return (starpu_ssize_t)used;
}

static int ndim_compare(void *a, void *b)
{
	const struct starpu_ndim_interface *x = a, *y = b;

	return x->ndim == y->ndim && x->elemsize == y->elemsize &&
	       (x->ndim == 0 || memcmp(x->nn, y->nn, x->ndim * sizeof(*x->nn)) == 0);
}

static int ndim_alloc_compare(void *a, void *b)
{
	const struct starpu_ndim_interface *x = a, *y = b;

	return x->allocsize == y->allocsize;
}

static void ndim_display(starpu_data_handle_t handle, FILE *f)
{
	const struct starpu_ndim_interface *ndim = handle->interface;

	for (size_t i = 0; i < ndim->ndim; i++)
		fprintf(f, "%u\t", ndim->nn[i]);
}

const struct interface_kind interface_ndim = {.id = STARPU_NDIM_INTERFACE_ID,
					      .layout = ndim_layout,
					      .element_bytes = ndim_element_bytes,
					      .pack = ndim_pack,
					      .peek = ndim_peek,
					      .unpack = ndim_unpack};

static const struct starpu_data_copy_methods ndim_methods = {.any_to_any = ndim_copy};

APPLICATION_OBJECT struct starpu_data_interface_ops starpu_interface_ndim_ops = {
	.register_data_handle = ndim_register,
	INTERFACE_OPS(ndim, NDIM),
	INTERFACE_MAPS(ndim),
	.unregister_data_handle = ndim_unregister,
	.cache_data_on_node = ndim_cache,
	.reuse_data_on_node = ndim_reuse,
	.get_alloc_size = ndim_alloc_size,
	.alloc_footprint = ndim_alloc_footprint,
	.alloc_compare = ndim_alloc_compare,
	.pack_meta = ndim_pack_meta,
	.unpack_meta = ndim_unpack_meta,
	.free_meta = ndim_free_meta,
};
