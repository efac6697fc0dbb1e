/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Filters of sparse matrices in compressed rows. */
#include "api/api.h"
#include "api/filters.h"
#include "base/check.h"

/* The rows of a part, and which values are theirs. */
struct rows {
	uint32_t first, n;
	uint32_t before, nnz; /* values of the father before the part's, the part's */
};

static struct rows rows_of(const struct filter_wish *wish, uint32_t nrow,
			   const uint32_t *rowptr, uint32_t firstentry)
{
	struct filter_range range = {.func = wish->func,
				     .n = nrow,
				     .id = wish->id,
				     .nparts = wish->nparts,
				     .stride_bytes = 1};
	struct rows rows = {.n = filter_split(&range, 0)};

	if (!rowptr)
		orr_die(api_rank(),
			"%s: where the rows begin (rowptr) is not in main memory; "
			"register the matrix with its arrays there, home node 0",
			wish->func);
	rows.first = (uint32_t)range.offset_bytes;
	rows.before = rowptr[rows.first] - firstentry;
	rows.nnz = rowptr[rows.first + rows.n] - rowptr[rows.first];
	return rows;
}

static uint32_t *from(uint32_t *array, uint32_t i)
{
	return array ? array + i : NULL;
}

/* Of a father and a child that have the same names for it: all but their sizes. */
#define FILL_ROWS(father, child, rows, bytes_of_value)                                   \
	do {                                                                             \
		(child)->id = (father)->id;                                              \
		(child)->nnz = (rows).nnz;                                               \
		(child)->nrow = (rows).n;                                                \
		(child)->firstentry = (father)->firstentry + (rows).before;              \
		(child)->elemsize = (father)->elemsize;                                  \
		(child)->colind = from((father)->colind, (rows).before);                 \
		(child)->rowptr = from((father)->rowptr, (rows).first);                  \
		(child)->ram_colind = from((father)->ram_colind, (rows).before);         \
		(child)->ram_rowptr = from((father)->ram_rowptr, (rows).first);          \
		if ((father)->nzval)                                                     \
			(child)->nzval = (father)->nzval +                               \
					 (rows).before * (size_t)(bytes_of_value);       \
	} while (0)

void starpu_csr_filter_vertical_block(FILTER_PARAMS)
{
	const struct starpu_csr_interface *father = father_interface;
	struct starpu_csr_interface *child = child_interface;
	struct rows rows;

	filter_check_father(__func__, father, FILTER_OF_csr);
	rows = rows_of(FILTER_WISH(0), father->nrow, father->ram_rowptr,
		       father->firstentry);
	FILL_ROWS(father, child, rows, father->elemsize);
}

void starpu_bcsr_filter_vertical_block(FILTER_PARAMS)
{
	const struct starpu_bcsr_interface *father = father_interface;
	struct starpu_bcsr_interface *child = child_interface;
	struct rows rows;

	filter_check_father(__func__, father, FILTER_OF_bcsr);
	rows = rows_of(FILTER_WISH(0), father->nrow, father->ram_rowptr,
		       father->firstentry);
	child->r = father->r;
	child->c = father->c;
	FILL_ROWS(father, child, rows, father->r * father->c * father->elemsize);
}

/* ---- blocks ---------------------------------------------------------- */

/* The elements of a block are those of a matrix, nothing is between blocks. */
void starpu_bcsr_filter_canonical_block(FILTER_PARAMS)
{
	const struct starpu_bcsr_interface *father = father_interface;
	struct starpu_matrix_interface *child = child_interface;
	size_t bytes = (size_t)father->r * father->c * father->elemsize;
	struct filter_range range = {.func = __func__,
				     .n = father->nnz,
				     .id = id,
				     .nparts = nparts,
				     .stride_bytes = bytes};

	(void)f;
	filter_check_father(__func__, father, FILTER_OF_bcsr);
	filter_pick(&range, id);
	child->id = STARPU_MATRIX_INTERFACE_ID;
	child->nx = father->c;
	child->ny = father->r;
	child->ld = father->c;
	child->elemsize = father->elemsize;
	child->allocsize = bytes;
	if (father->nzval)
		child->ptr = child->dev_handle = father->nzval + range.offset_bytes;
}

unsigned starpu_bcsr_filter_canonical_block_get_nchildren(struct starpu_data_filter *f,
							  starpu_data_handle_t handle)
{
	(void)f;
	return starpu_bcsr_get_nnz(handle);
}

FILTER_CHILDREN_ARE(bcsr_filter_canonical_block, matrix)
