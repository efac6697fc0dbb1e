/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <string.h>

#include "api/api.h"
#include "base/check.h"
#include "core/interface/interface.h"
#include "core/lasting.h"

/* ---- registration ---------------------------------------------------- */

static int check_home(const struct node *node, const char *func, int home)
{
	if (home < -1 || home >= node->nmemories)
		orr_die(node->rank,
			"%s: home node %d; expected -1 (no value yet) or 0 to %d (0: "
			"main memory)",
			func, home, node->nmemories - 1);
	return home;
}

/* The bytes of so many elements, which must be a number that exists. */
static size_t checked_bytes(const struct node *node, const char *func, size_t nelements,
			    size_t element_bytes)
{
	size_t bytes;

	if (__builtin_mul_overflow(nelements, element_bytes, &bytes))
		orr_die(node->rank,
			"%s: %zu elements of %zu bytes are more than any memory holds; "
			"check the sizes",
			func, nelements, element_bytes);
	return bytes;
}

/* Memory that is given must exist, unless there is nothing in it. */
static void check_given(const struct node *node, const char *func, int home,
			uintptr_t ptr, size_t bytes)
{
	if (home >= 0 && !ptr && bytes && node->machine->executes)
		orr_die(node->rank,
			"%s: home node %d but no memory (NULL); give its address, or "
			"home node -1",
			func, home);
}

void starpu_data_register_ops(struct starpu_data_interface_ops *ops)
{
	if (ops->interfaceid == STARPU_UNKNOWN_INTERFACE_ID)
		ops->interfaceid = (enum starpu_data_interface_id)
			starpu_data_interface_get_next_id();
}

void starpu_data_register(starpu_data_handle_t *handleptr, int home_node,
			  void *data_interface, struct starpu_data_interface_ops *ops)
{
	api_given(__func__, "handleptr", handleptr);

	struct node *node = api_node(__func__);

	starpu_data_register_ops(ops);
	*handleptr = data_register(node, check_home(node, __func__, home_node),
				   data_interface, ops);
}

void starpu_variable_data_register(starpu_data_handle_t *handle, int home_node,
				   uintptr_t ptr, size_t size)
{
	api_given(__func__, "handle", handle);

	struct node *node = api_node(__func__);
	struct starpu_variable_interface variable = {
		.id = STARPU_VARIABLE_INTERFACE_ID,
		.ptr = home_node >= 0 ? ptr : 0,
		.dev_handle = home_node >= 0 ? ptr : 0,
		.elemsize = size,
	};

	check_given(node, __func__, home_node, ptr, size);
	*handle = data_register(node, check_home(node, __func__, home_node), &variable,
				&starpu_interface_variable_ops);
}

void starpu_vector_data_register_allocsize(starpu_data_handle_t *handle, int home_node,
					   uintptr_t ptr, uint32_t nx, size_t elemsize,
					   size_t allocsize)
{
	api_given(__func__, "handle", handle);

	struct node *node = api_node(__func__);
	struct starpu_vector_interface vector = {
		.id = STARPU_VECTOR_INTERFACE_ID,
		.ptr = home_node >= 0 ? ptr : 0,
		.dev_handle = home_node >= 0 ? ptr : 0,
		.nx = nx,
		.elemsize = elemsize,
		.allocsize = allocsize,
	};

	check_given(node, __func__, home_node, ptr,
		    checked_bytes(node, __func__, nx, elemsize));
	*handle = data_register(node, check_home(node, __func__, home_node), &vector,
				&starpu_interface_vector_ops);
}

void starpu_vector_data_register(starpu_data_handle_t *handle, int home_node,
				 uintptr_t ptr, uint32_t nx, size_t elemsize)
{
	starpu_vector_data_register_allocsize(handle, home_node, ptr, nx, elemsize,
					      nx * elemsize);
}

void starpu_matrix_data_register_allocsize(starpu_data_handle_t *handle, int home_node,
					   uintptr_t ptr, uint32_t ld, uint32_t nx,
					   uint32_t ny, size_t elemsize, size_t allocsize)
{
	api_given(__func__, "handle", handle);

	struct node *node = api_node(__func__);
	struct starpu_matrix_interface matrix = {
		.id = STARPU_MATRIX_INTERFACE_ID,
		.ptr = home_node >= 0 ? ptr : 0,
		.dev_handle = home_node >= 0 ? ptr : 0,
		.nx = nx,
		.ny = ny,
		.ld = ld,
		.elemsize = elemsize,
		.allocsize = allocsize,
	};

	if (home_node >= 0 && ld < nx)
		orr_die(node->rank,
			"%s: leading dimension %u is less than the %u elements of a "
			"column",
			__func__, ld, nx);
	checked_bytes(node, __func__, (size_t)ld * ny, elemsize);
	check_given(node, __func__, home_node, ptr,
		    checked_bytes(node, __func__, (size_t)nx * ny, elemsize));
	*handle = data_register(node, check_home(node, __func__, home_node), &matrix,
				&starpu_interface_matrix_ops);
}

void starpu_matrix_data_register(starpu_data_handle_t *handle, int home_node,
				 uintptr_t ptr, uint32_t ld, uint32_t nx, uint32_t ny,
				 size_t elemsize)
{
	starpu_matrix_data_register_allocsize(handle, home_node, ptr, ld, nx, ny,
					      elemsize, (size_t)nx * ny * elemsize);
}

void starpu_void_data_register(starpu_data_handle_t *handle)
{
	api_given(__func__, "handle", handle);

	*handle = data_register(api_node(__func__), STARPU_MAIN_RAM, NULL,
				&starpu_interface_void_ops);
}

void starpu_data_register_same(starpu_data_handle_t *handledst,
			       starpu_data_handle_t handlesrc)
{
	api_given(__func__, "handledst", handledst);

	struct node *node = api_node(__func__);

	api_check_handle(node, __func__, handlesrc);
	*handledst = data_register(node, -1, handlesrc->interface, handlesrc->ops);
}

int starpu_data_interface_get_next_id(void)
{
	return orr_add(&lasting_get()->next_interface_id, 1) - 1;
}

/* ---- questions ------------------------------------------------------- */

void *starpu_data_get_interface_on_node(starpu_data_handle_t handle, unsigned memory_node)
{
	api_check_registered(api_node(__func__), __func__, handle);

	void *interface;

	orr_lock(&handle->lock);
	interface = data_interface(handle, memory_node);
	orr_unlock(&handle->lock);
	return interface;
}

enum starpu_data_interface_id starpu_data_get_interface_id(starpu_data_handle_t handle)
{
	api_check_registered(api_node(__func__), __func__, handle);

	return handle->ops->interfaceid;
}

size_t starpu_data_get_size(starpu_data_handle_t handle)
{
	api_check_registered(api_node(__func__), __func__, handle);

	return data_bytes(handle);
}

size_t starpu_data_get_alloc_size(starpu_data_handle_t handle)
{
	api_check_registered(api_node(__func__), __func__, handle);

	return handle->ops->get_alloc_size ? handle->ops->get_alloc_size(handle)
					   : data_bytes(handle);
}

starpu_ssize_t starpu_data_get_max_size(starpu_data_handle_t handle)
{
	return handle->ops->get_max_size
		       ? (starpu_ssize_t)handle->ops->get_max_size(handle)
		       : -1;
}

int starpu_data_get_home_node(starpu_data_handle_t handle)
{
	api_check_registered(api_node(__func__), __func__, handle);

	return handle->home;
}

void *starpu_data_handle_to_pointer(starpu_data_handle_t handle, unsigned memory)
{
	api_check_registered(api_node(__func__), __func__, handle);

	struct copy_state *copy;
	int allocated;

	orr_lock(&handle->lock);
	copy = data_find_copy(handle, memory);
	allocated = copy && copy->allocated;
	orr_unlock(&handle->lock);
	if (!allocated)
		return NULL;
	if (handle->ops->to_pointer)
		return handle->ops->to_pointer(copy->interface, memory);
	return handle->ops->handle_to_pointer
		       ? handle->ops->handle_to_pointer(handle, memory)
		       : NULL;
}

void *starpu_data_get_local_ptr(starpu_data_handle_t handle)
{
	return starpu_data_handle_to_pointer(handle,
					     starpu_worker_get_local_memory_node());
}

/* Its own number or that in its struct says what an interface is; a copied and changed
 * table of operations may have another one. */
static void *interface_of(const char *func, starpu_data_handle_t handle,
			  enum starpu_data_interface_id id, const char *kind)
{
	const struct starpu_data_interface_ops *ops = handle->ops;
	char what[128];

	if (ops->interfaceid != id &&
	    (ops->interface_size < sizeof(id) ||
	     *(enum starpu_data_interface_id *)handle->interface != id))
		orr_die(handle->node->rank, "%s: %s is no %s but of interface %s", func,
			data_describe(handle, what, sizeof(what)), kind,
			ops->name ? ops->name : "(without a name)");
	return handle->interface;
}

#define INTERFACE_OF(handle, kind, KIND)                                                 \
	((struct starpu_##kind##_interface *)interface_of(                               \
		__func__, handle, STARPU_##KIND##_INTERFACE_ID, #kind))

size_t starpu_variable_get_elemsize(starpu_data_handle_t handle)
{
	api_check_registered(api_node(__func__), __func__, handle);

	return INTERFACE_OF(handle, variable, VARIABLE)->elemsize;
}

uintptr_t starpu_variable_get_local_ptr(starpu_data_handle_t handle)
{
	return (uintptr_t)starpu_data_get_local_ptr(handle);
}

uint32_t starpu_vector_get_nx(starpu_data_handle_t handle)
{
	api_check_registered(api_node(__func__), __func__, handle);

	return INTERFACE_OF(handle, vector, VECTOR)->nx;
}

size_t starpu_vector_get_elemsize(starpu_data_handle_t handle)
{
	api_check_registered(api_node(__func__), __func__, handle);

	return INTERFACE_OF(handle, vector, VECTOR)->elemsize;
}

size_t starpu_vector_get_allocsize(starpu_data_handle_t handle)
{
	api_check_registered(api_node(__func__), __func__, handle);

	return INTERFACE_OF(handle, vector, VECTOR)->allocsize;
}

uintptr_t starpu_vector_get_local_ptr(starpu_data_handle_t handle)
{
	return (uintptr_t)starpu_data_get_local_ptr(handle);
}

uint32_t starpu_matrix_get_nx(starpu_data_handle_t handle)
{
	api_check_registered(api_node(__func__), __func__, handle);

	return INTERFACE_OF(handle, matrix, MATRIX)->nx;
}

uint32_t starpu_matrix_get_ny(starpu_data_handle_t handle)
{
	api_check_registered(api_node(__func__), __func__, handle);

	return INTERFACE_OF(handle, matrix, MATRIX)->ny;
}

uint32_t starpu_matrix_get_local_ld(starpu_data_handle_t handle)
{
	api_check_registered(api_node(__func__), __func__, handle);

	unsigned memory = starpu_worker_get_local_memory_node();

	return ((struct starpu_matrix_interface *)starpu_data_get_interface_on_node(
			handle, memory))
		->ld;
}

uintptr_t starpu_matrix_get_local_ptr(starpu_data_handle_t handle)
{
	return (uintptr_t)starpu_data_get_local_ptr(handle);
}

size_t starpu_matrix_get_elemsize(starpu_data_handle_t handle)
{
	api_check_registered(api_node(__func__), __func__, handle);

	return INTERFACE_OF(handle, matrix, MATRIX)->elemsize;
}

size_t starpu_matrix_get_allocsize(starpu_data_handle_t handle)
{
	api_check_registered(api_node(__func__), __func__, handle);

	return INTERFACE_OF(handle, matrix, MATRIX)->allocsize;
}

/* ---- packing --------------------------------------------------------- */

static void check_op(starpu_data_handle_t handle, const char *func, int exists)
{
	char what[128];

	if (!exists)
		orr_die(handle->node->rank,
			"%s: the interface of %s cannot do that: give it the "
			"operation in its struct starpu_data_interface_ops",
			func, data_describe(handle, what, sizeof(what)));
}

int starpu_data_pack_node(starpu_data_handle_t handle, unsigned memory, void **ptr,
			  starpu_ssize_t *count)
{
	api_check_registered(api_node(__func__), __func__, handle);

	check_op(handle, __func__, handle->ops->pack_data != NULL);
	return handle->ops->pack_data(handle, memory, ptr, count);
}

int starpu_data_pack(starpu_data_handle_t handle, void **ptr, starpu_ssize_t *count)
{
	return starpu_data_pack_node(handle, starpu_worker_get_local_memory_node(), ptr,
				     count);
}

int starpu_data_peek_node(starpu_data_handle_t handle, unsigned memory, void *ptr,
			  size_t count)
{
	api_check_registered(api_node(__func__), __func__, handle);

	check_op(handle, __func__, handle->ops->peek_data != NULL);
	return handle->ops->peek_data(handle, memory, ptr, count);
}

int starpu_data_peek(starpu_data_handle_t handle, void *ptr, size_t count)
{
	return starpu_data_peek_node(handle, starpu_worker_get_local_memory_node(), ptr,
				     count);
}

int starpu_data_unpack_node(starpu_data_handle_t handle, unsigned memory, void *ptr,
			    size_t count)
{
	api_check_registered(api_node(__func__), __func__, handle);

	check_op(handle, __func__, handle->ops->unpack_data != NULL);
	return handle->ops->unpack_data(handle, memory, ptr, count);
}

int starpu_data_unpack(starpu_data_handle_t handle, void *ptr, size_t count)
{
	return starpu_data_unpack_node(handle, starpu_worker_get_local_memory_node(), ptr,
				       count);
}

/* ---- copies for user-defined interfaces: memories that the host can reach ---- */

int starpu_interface_copy(uintptr_t src, size_t src_offset, unsigned src_node,
			  uintptr_t dst, size_t dst_offset, unsigned dst_node,
			  size_t size, void *async_data)
{
	(void)src_node;
	(void)dst_node;
	(void)async_data;
	memcpy((char *)dst + dst_offset, (char *)src + src_offset, size);
	return 0;
}

int starpu_interface_copy2d(uintptr_t src, size_t src_offset, unsigned src_node,
			    uintptr_t dst, size_t dst_offset, unsigned dst_node,
			    size_t blocksize, size_t numblocks, size_t ld_src,
			    size_t ld_dst, void *async_data)
{
	for (size_t i = 0; i < numblocks; i++)
		starpu_interface_copy(src, src_offset + i * ld_src, src_node, dst,
				      dst_offset + i * ld_dst, dst_node, blocksize,
				      async_data);
	return 0;
}
