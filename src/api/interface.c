/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>

#include "api/interface.h"
#include "base/check.h"
#include "core/data/data_ops.h"
#include "core/lasting.h"

/* ---- registration ---------------------------------------------------- */

int api_home(const struct node *node, const char *func, int home)
{
	if (home < -1 || home >= node_nmemories(node))
		orr_die(node->rank,
			"%s: home node %d; expected -1 (no value yet) or 0 to %d (0: "
			"main memory)",
			func, home, node_nmemories(node) - 1);
	return home;
}

size_t api_product_bytes(const struct node *node, const char *func, size_t nelements,
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

void api_given_memory(const struct node *node, const char *func, int home, uintptr_t ptr,
		      size_t bytes)
{
	if (home >= 0 && !ptr && bytes && node->machine->executes)
		orr_die(node->rank,
			"%s: home node %d but no memory (NULL); give its address, or "
			"home node -1",
			func, home);
}

static int by_ld(const void *a, const void *b)
{
	const struct api_dim *x = a, *y = b;

	return (x->ld > y->ld) - (x->ld < y->ld);
}

/* Parts may lie between those of other dimensions: it is the smaller strides that are
 * the inner ones. */
int api_dims_overlap(struct api_dim *dims, size_t ndims)
{
	size_t extent = 1; /* of the inner dimensions, in elements */

	for (size_t i = 0; i < ndims; i++)
		if (dims[i].n == 0)
			return 0;
	qsort(dims, ndims, sizeof(*dims), by_ld);
	for (size_t i = 0; i < ndims; i++) {
		if (dims[i].n > 1 && dims[i].ld < extent)
			return 1;
		extent += (dims[i].n - 1) * dims[i].ld;
	}
	return 0;
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

	api_given(__func__, "ops", ops);
	if (ops->interface_size)
		api_given(__func__, "data_interface", data_interface);
	api_given(__func__, "ops->register_data_handle", ops->register_data_handle);
	api_given(__func__, "ops->get_size", ops->get_size);
	if (ops->is_multiformat)
		api_given(__func__, "ops->get_mf_ops", ops->get_mf_ops);
	starpu_data_register_ops(ops);
	*handleptr = data_register(node, api_home(node, __func__, home_node),
				   data_interface, ops);
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
	const struct node *node = api_node(__func__);

	api_check_registered(node, __func__, handle);
	if (memory_node >= NODE_MAX_MEMORIES)
		orr_die(node->rank, "%s: memory node %u; expected 0 to %d", __func__,
			memory_node, NODE_MAX_MEMORIES - 1);

	void *interface;
	struct copy_state *copy = NULL;

	if (!(data_flags(handle) & DATUM_REGISTERING))
		copy = data_find_copy(handle, memory_node);
	/* Operations of interfaces ask with the datum locked. */
	if (copy)
		return copy->interface;
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

	return data_alloc_bytes(handle);
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

static int has_buffer(starpu_data_handle_t handle, unsigned memory)
{
	const struct copy_state *copy;
	int allocated;

	orr_lock(&handle->lock);
	copy = data_find_copy(handle, memory);
	allocated = copy && copy->allocated;
	orr_unlock(&handle->lock);
	return allocated;
}

void *starpu_data_handle_to_pointer(starpu_data_handle_t handle, unsigned memory)
{
	api_check_registered(api_node(__func__), __func__, handle);

	if (!has_buffer(handle, memory))
		return NULL;
	if (handle->ops->to_pointer)
		return handle->ops->to_pointer(data_interface(handle, memory), memory);
	return handle->ops->handle_to_pointer
		       ? handle->ops->handle_to_pointer(handle, memory)
		       : NULL;
}

/* Where the caller looks for the value when it names no memory. */
static unsigned local_memory(const char *func, starpu_data_handle_t handle)
{
	api_check_registered(api_node(func), func, handle);
	return data_memory_at_hand(handle, starpu_worker_get_local_memory_node());
}

void *starpu_data_get_local_ptr(starpu_data_handle_t handle)
{
	unsigned memory = local_memory(__func__, handle);
	char what[128];

	if (!has_buffer(handle, memory))
		orr_die(handle->node->rank,
			"%s: %s has no buffer in memory node %u, where the caller is: "
			"acquire it there, or use it in a task",
			__func__, data_describe(handle, what, sizeof(what)), memory);
	return starpu_data_handle_to_pointer(handle, memory);
}

void *api_interface_of(const char *func, starpu_data_handle_t handle,
		       enum starpu_data_interface_id id, const char *kind)
{
	const char *name = handle->ops->name;
	char what[128];

	if (!interface_is(handle, id))
		orr_die(handle->node->rank, "%s: %s is no %s but of interface %s", func,
			data_describe(handle, what, sizeof(what)), kind,
			name ? name : "(without a name)");
	return handle->interface;
}

const void *api_local_interface(const char *func, starpu_data_handle_t handle,
				enum starpu_data_interface_id id, const char *kind)
{
	api_check_registered(api_node(func), func, handle);
	api_interface_of(func, handle, id, kind);
	return starpu_data_get_interface_on_node(handle, local_memory(func, handle));
}

/* ---- memory of the application's ------------------------------------- */

static void adopt(const char *func, starpu_data_handle_t handle, unsigned memory)
{
	struct node *node = api_node(func);
	char what[128];

	api_check_handle(node, func, handle);
	if (memory >= (unsigned)node_nmemories(node))
		orr_die(node->rank, "%s: there is no memory node %u; expected 0 to %d",
			func, memory, node_nmemories(node) - 1);
	if (data_adopt(handle, memory) < 0)
		orr_die(node->rank,
			"%s: %s has memory in memory node %u already; give it some "
			"before the data are used there",
			func, data_describe(handle, what, sizeof(what)), memory);
}

void starpu_data_ptr_register(starpu_data_handle_t handle, unsigned node)
{
	adopt(__func__, handle, node);
}

void *api_place(const char *func, starpu_data_handle_t handle,
		enum starpu_data_interface_id id, const char *kind,
		const struct api_place *place)
{
	struct plain_head *head;

	api_check_registered(api_node(func), func, handle);
	api_interface_of(func, handle, id, kind);
	adopt(func, handle, place->memory);
	head = starpu_data_get_interface_on_node(handle, place->memory);
	head->ptr = place->ptr;
	head->dev_handle = place->dev_handle;
	head->offset = place->offset;
	return head;
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
	return starpu_data_pack_node(handle, local_memory(__func__, handle), ptr, count);
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
	return starpu_data_peek_node(handle, local_memory(__func__, handle), ptr, count);
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
	return starpu_data_unpack_node(handle, local_memory(__func__, handle), ptr,
				       count);
}
