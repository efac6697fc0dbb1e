/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include "api/interface.h"
#include "base/check.h"

static void check_strides(const struct node *node, const char *func, const uint32_t *ldn,
			  const uint32_t *nn, size_t ndim)
{
	struct api_dim *dims = orr_alloc((ndim + 1) * sizeof(*dims));

	if (ldn[0] != 1)
		orr_die(node->rank,
			"%s: ldn[0] is %u; expected 1: elements of the first dimension "
			"are contiguous",
			func, ldn[0]);
	for (size_t i = 0; i < ndim; i++)
		dims[i] = (struct api_dim){nn[i], ldn[i]};
	if (api_dims_overlap(dims, ndim))
		orr_die(node->rank,
			"%s: with these strides (ldn) some of %zu dimensions overlap; "
			"expected ldn[i] of at least ldn[i - 1] * nn[i - 1]",
			func, ndim);
	free(dims);
}

void starpu_ndim_data_register(starpu_data_handle_t *handleptr, int home_node,
			       uintptr_t ptr, uint32_t *ldn, uint32_t *nn, size_t ndim,
			       size_t elemsize)
{
	api_given(__func__, "handleptr", handleptr);

	struct node *node = api_node(__func__);
	struct starpu_ndim_interface interface = {
		.id = STARPU_NDIM_INTERFACE_ID,
		.ptr = home_node >= 0 ? ptr : 0,
		.dev_handle = home_node >= 0 ? ptr : 0,
		.allocsize = elemsize,
		.nn = nn,
		.ldn = ldn,
		.ndim = ndim,
		.elemsize = elemsize,
	};

	if (ndim)
		api_given(__func__, "nn", nn);
	if (ndim && home_node >= 0)
		api_given(__func__, "ldn", ldn);
	for (size_t i = 0; i < ndim; i++)
		interface.allocsize =
			api_product_bytes(node, __func__, nn[i], interface.allocsize);
	if (ndim && home_node >= 0)
		check_strides(node, __func__, ldn, nn, ndim);
	api_given_memory(node, __func__, home_node, ptr, interface.allocsize);
	*handleptr = data_register(node, api_home(node, __func__, home_node), &interface,
				   &starpu_interface_ndim_ops);
}

uint32_t *starpu_ndim_get_nn(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, ndim, NDIM)->nn;
}

static size_t check_dimension(const char *func, starpu_data_handle_t handle, size_t i)
{
	const struct starpu_ndim_interface *ndim = handle->interface;

	if (i >= ndim->ndim)
		orr_die(handle->node->rank,
			"%s: dimension %zu; the data have %zu, counted from 0", func, i,
			ndim->ndim);
	return i;
}

uint32_t starpu_ndim_get_ni(starpu_data_handle_t handle, size_t i)
{
	const uint32_t *nn = starpu_ndim_get_nn(handle);

	return nn[check_dimension(__func__, handle, i)];
}

uint32_t *starpu_ndim_get_local_ldn(starpu_data_handle_t handle)
{
	return API_LOCAL_INTERFACE(handle, ndim, NDIM)->ldn;
}

uint32_t starpu_ndim_get_local_ldi(starpu_data_handle_t handle, size_t i)
{
	const uint32_t *ldn = starpu_ndim_get_local_ldn(handle);

	return ldn[check_dimension(__func__, handle, i)];
}

uintptr_t starpu_ndim_get_local_ptr(starpu_data_handle_t handle)
{
	return (uintptr_t)starpu_data_get_local_ptr(handle);
}

size_t starpu_ndim_get_ndim(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, ndim, NDIM)->ndim;
}

size_t starpu_ndim_get_elemsize(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, ndim, NDIM)->elemsize;
}

void starpu_ndim_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
			      uintptr_t dev_handle, size_t offset, uint32_t *ldn)
{
	struct starpu_ndim_interface *ndim = API_PLACE(ndim, NDIM);

	if (!ndim->ndim)
		return;
	api_given(__func__, "ldn", ldn);
	check_strides(handle->node, __func__, ldn, ndim->nn, ndim->ndim);
	ndim->ldn = orr_alloc(ndim->ndim * sizeof(*ldn)); /* See core/interface/ndim.c. */
	memcpy(ndim->ldn, ldn, ndim->ndim * sizeof(*ldn));
}
