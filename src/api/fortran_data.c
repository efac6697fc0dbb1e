/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* For Fortran: arrays of handles, buffers in kernels, filters. */
#include <stdlib.h>

#include "api/api.h"
#include "api/fortran.h"
#include "base/check.h"

static enum starpu_data_access_mode mode_of(const void *constant)
{
	return (enum starpu_data_access_mode)fortran_value(constant);
}

void fstarpu_data_acquire(starpu_data_handle_t handle, void *mode)
{
	if (starpu_data_acquire(handle, mode_of(mode)) < 0)
		orr_die(api_rank(), "%s: the data could not be acquired", __func__);
}

/* ---- arrays ---------------------------------------------------------- */

static void *array_of(const char *func, int nb, size_t bytes)
{
	if (nb <= 0)
		orr_die(api_rank(), "%s: %d elements: expected at least 1", func, nb);
	return orr_alloc((size_t)nb * bytes);
}

starpu_data_handle_t *fstarpu_data_handle_array_alloc(int nb)
{
	return array_of(__func__, nb, sizeof(starpu_data_handle_t));
}

void fstarpu_data_handle_array_free(starpu_data_handle_t *handles)
{
	free(handles);
}

void fstarpu_data_handle_array_set(starpu_data_handle_t *handles, int i,
				   starpu_data_handle_t handle)
{
	api_given(__func__, "handles", handles);
	handles[i] = handle;
}

struct starpu_data_descr *fstarpu_data_descr_array_alloc(int nb)
{
	return array_of(__func__, nb, sizeof(struct starpu_data_descr));
}

struct starpu_data_descr *fstarpu_data_descr_alloc(void)
{
	return fstarpu_data_descr_array_alloc(1);
}

void fstarpu_data_descr_array_free(struct starpu_data_descr *descrs)
{
	free(descrs);
}

void fstarpu_data_descr_free(struct starpu_data_descr *descr)
{
	free(descr);
}

void fstarpu_data_descr_array_set(struct starpu_data_descr *descrs, int i,
				  starpu_data_handle_t handle, void *mode)
{
	api_given(__func__, "descrs", descrs);
	fstarpu_data_descr_set(&descrs[i], handle, mode);
}

void fstarpu_data_descr_set(struct starpu_data_descr *descr, starpu_data_handle_t handle,
			    void *mode)
{
	api_given(__func__, "descr", descr);
	descr->handle = handle;
	descr->mode = mode_of(mode);
}

/* ---- buffers in kernels ---------------------------------------------- */

#define POINTER(kind, KIND)                                                              \
	void *fstarpu_##kind##_get_ptr(void **buffers, int i)                            \
	{                                                                                \
		return (void *)STARPU_##KIND##_GET_PTR(buffers[i]);                      \
	}
#define NUMBER(kind, KIND, field, FIELD)                                                 \
	int fstarpu_##kind##_get_##field(void **buffers, int i)                          \
	{                                                                                \
		return (int)STARPU_##KIND##_GET_##FIELD(buffers[i]);                     \
	}

POINTER(variable, VARIABLE)
POINTER(vector, VECTOR)
NUMBER(vector, VECTOR, nx, NX)
POINTER(matrix, MATRIX)
NUMBER(matrix, MATRIX, ld, LD)
NUMBER(matrix, MATRIX, nx, NX)
NUMBER(matrix, MATRIX, ny, NY)
POINTER(block, BLOCK)
NUMBER(block, BLOCK, ldy, LDY)
NUMBER(block, BLOCK, ldz, LDZ)
NUMBER(block, BLOCK, nx, NX)
NUMBER(block, BLOCK, ny, NY)
NUMBER(block, BLOCK, nz, NZ)
POINTER(tensor, TENSOR)
NUMBER(tensor, TENSOR, ldy, LDY)
NUMBER(tensor, TENSOR, ldz, LDZ)
NUMBER(tensor, TENSOR, ldt, LDT)
NUMBER(tensor, TENSOR, nx, NX)
NUMBER(tensor, TENSOR, ny, NY)
NUMBER(tensor, TENSOR, nz, NZ)
NUMBER(tensor, TENSOR, nt, NT)

/* ---- filters --------------------------------------------------------- */

struct starpu_data_filter *fstarpu_data_filter_allocate(void)
{
	return orr_alloc(sizeof(struct starpu_data_filter));
}

void fstarpu_data_filter_free(struct starpu_data_filter *filter)
{
	free(filter);
}

#define FILTER(name)                                                                     \
	struct starpu_data_filter *fstarpu_df_alloc_##name(void)                         \
	{                                                                                \
		struct starpu_data_filter *filter = fstarpu_data_filter_allocate();      \
		filter->filter_func = starpu_##name;                                     \
		return filter;                                                           \
	}

FILTER(csr_filter_vertical_block)
FILTER(matrix_filter_block)
FILTER(matrix_filter_block_shadow)
FILTER(matrix_filter_vertical_block)
FILTER(matrix_filter_vertical_block_shadow)
FILTER(vector_filter_block)
FILTER(vector_filter_block_shadow)
FILTER(vector_filter_list)
FILTER(vector_filter_divide_in_2)
FILTER(block_filter_block)
FILTER(block_filter_block_shadow)
FILTER(block_filter_vertical_block)
FILTER(block_filter_vertical_block_shadow)

struct starpu_data_filter *fstarpu_df_alloc_bcsr_filter_canonical_block(void)
{
	struct starpu_data_filter *filter = fstarpu_data_filter_allocate();

	filter->filter_func = starpu_bcsr_filter_canonical_block;
	filter->get_nchildren = starpu_bcsr_filter_canonical_block_get_nchildren;
	filter->get_child_ops = starpu_bcsr_filter_canonical_block_child_ops;
	return filter;
}

void fstarpu_data_filter_set_filter_func(struct starpu_data_filter *filter,
					 void (*func)(void *, void *,
						      struct starpu_data_filter *,
						      unsigned, unsigned))
{
	api_given(__func__, "filter", filter);
	filter->filter_func = func;
}

void fstarpu_data_filter_set_nchildren(struct starpu_data_filter *filter, int nchildren)
{
	api_given(__func__, "filter", filter);
	filter->nchildren = (unsigned)nchildren;
}

void fstarpu_data_filter_set_get_nchildren_func(
	struct starpu_data_filter *filter,
	unsigned (*func)(struct starpu_data_filter *, starpu_data_handle_t))
{
	api_given(__func__, "filter", filter);
	filter->get_nchildren = func;
}

void fstarpu_data_filter_set_get_child_ops_func(
	struct starpu_data_filter *filter,
	struct starpu_data_interface_ops *(*func)(struct starpu_data_filter *, unsigned))
{
	api_given(__func__, "filter", filter);
	filter->get_child_ops = func;
}

void fstarpu_data_filter_set_filter_arg(struct starpu_data_filter *filter, int arg)
{
	api_given(__func__, "filter", filter);
	filter->filter_arg = (unsigned)arg;
}

void fstarpu_data_filter_set_filter_arg_ptr(struct starpu_data_filter *filter, void *arg)
{
	api_given(__func__, "filter", filter);
	filter->filter_arg_ptr = arg;
}

starpu_data_handle_t fstarpu_data_get_sub_data(starpu_data_handle_t root, int depth,
					       int *indices)
{
	for (int i = 0; i < depth; i++)
		root = starpu_data_get_child(root, (unsigned)indices[i]);
	return root;
}

void fstarpu_data_map_filters(starpu_data_handle_t root, int nfilters,
			      struct starpu_data_filter **filters)
{
	starpu_data_map_filters_parray(root, nfilters, filters);
}
