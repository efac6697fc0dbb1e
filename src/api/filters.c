/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/filters.h"

#include "api/api.h"
#include "base/check.h"

void starpu_filter_nparts_compute_chunk_size_and_offset(unsigned n, unsigned nparts,
							size_t elemsize, unsigned id,
							unsigned blocksize,
							unsigned *chunk_size,
							size_t *offset)
{
	unsigned chunk = nparts ? n / nparts : 0, longer = nparts ? n % nparts : 0;
	size_t start;

	if (id >= nparts)
		orr_die(api_rank(), "%s: there is no part %u of %u", __func__, id,
			nparts);
	start = (size_t)id * chunk + (id < longer ? id : longer);
	*chunk_size = chunk + (id < longer);
	if (offset)
		*offset = start * blocksize * elemsize;
}

static const char *kind_name(int kind)
{
	static const char *const names[] = {
		[STARPU_MATRIX_INTERFACE_ID] = "a matrix",
		[STARPU_BLOCK_INTERFACE_ID] = "a block",
		[STARPU_VECTOR_INTERFACE_ID] = "a vector",
		[STARPU_CSR_INTERFACE_ID] = "a CSR matrix",
		[STARPU_BCSR_INTERFACE_ID] = "a BCSR matrix",
		[STARPU_VARIABLE_INTERFACE_ID] = "a variable",
		[STARPU_COO_INTERFACE_ID] = "a COO matrix",
		[STARPU_TENSOR_INTERFACE_ID] = "a tensor",
		[STARPU_NDIM_INTERFACE_ID] = "an array of n dimensions",
	};

	if (kind >= 0 && kind < (int)(sizeof(names) / sizeof(names[0])) && names[kind])
		return names[kind];
	return "of another interface";
}

void filter_check_father(const char *func, const void *father, int kind)
{
	const struct plain_head *head = father;

	if ((int)head->id != kind && head->id < STARPU_MAX_INTERFACE_ID)
		orr_die(api_rank(),
			"%s: the datum is %s, and this filter cuts what is %s; give a "
			"filter of the datum's interface (filter_func)",
			func, kind_name((int)head->id), kind_name(kind));
}

void filter_check_argument(const char *func, const struct starpu_data_filter *f,
			   const char *what)
{
	if (!f->filter_arg_ptr)
		orr_die(api_rank(), "%s: filter_arg_ptr is NULL; expected %s", func,
			what);
}

unsigned filter_split(struct filter_range *range, unsigned shadow)
{
	size_t border = 2 * (size_t)shadow;
	unsigned chunk;

	if (range->n < border)
		orr_die(api_rank(),
			"%s: %u elements are fewer than two borders of %u "
			"(filter_arg_ptr)",
			range->func, range->n, shadow);
	if (range->nparts > range->n - border)
		orr_die(api_rank(),
			"%s: %zu elements cannot be cut into %u parts; give at most as "
			"many parts (nchildren)",
			range->func, range->n - border, range->nparts);
	starpu_filter_nparts_compute_chunk_size_and_offset(
		range->n - (unsigned)border, range->nparts, range->stride_bytes,
		range->id, 1, &chunk, &range->offset_bytes);
	return chunk + (unsigned)border;
}

unsigned filter_shadow(const struct starpu_data_filter *f)
{
	return (unsigned)(uintptr_t)f->filter_arg_ptr;
}

void filter_pick(struct filter_range *range, size_t position)
{
	if (position >= range->n)
		orr_die(api_rank(),
			"%s: part %u is at position %zu, and there are %u (from 0); see "
			"filter_arg_ptr and nchildren",
			range->func, range->id, position, range->n);
	range->offset_bytes += position * range->stride_bytes;
}

void filter_place(const void *father, void *child, size_t offset_bytes)
{
	const struct plain_head *from = father;
	struct plain_head *to = child;

	if (!from->ptr)
		return;
	to->ptr = from->ptr + offset_bytes;
	to->dev_handle = from->dev_handle;
	to->offset = from->offset + offset_bytes;
}

void filter_element(const void *father, void *child, size_t elemsize, size_t offset_bytes)
{
	struct starpu_variable_interface *variable = child;

	variable->id = STARPU_VARIABLE_INTERFACE_ID;
	variable->elemsize = elemsize;
	filter_place(father, variable, offset_bytes);
}
