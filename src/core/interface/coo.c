/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/arrays.h"

#include "base/application.h"
#include "core/model/hash.h"

/* Coordinates: a column, a row and a value for each of n_values. */

static struct arrays coo_arrays(const void *interface)
{
	const struct starpu_coo_interface *coo = interface;

	return (struct arrays){3,
			       {{offsetof(struct starpu_coo_interface, columns),
				 coo->n_values * sizeof(uint32_t)},
				{offsetof(struct starpu_coo_interface, rows),
				 coo->n_values * sizeof(uint32_t)},
				{offsetof(struct starpu_coo_interface, values),
				 coo->n_values * coo->elemsize}}};
}

INTERFACE_BY_ARRAYS(coo, COO);

static void coo_reuse(void *interface, const void *cached, unsigned memory)
{
	(void)memory;
	arrays_reuse(coo_arrays, interface, cached);
}

static starpu_ssize_t coo_allocate(void *interface, unsigned memory)
{
	return arrays_allocate(coo_arrays, interface, memory);
}

static void *coo_pointer(void *interface, unsigned memory)
{
	(void)memory;
	return (void *)((struct starpu_coo_interface *)interface)->values;
}

/* As StarPU has it: of the matrix if it were full.  What moves is the allocated size. */
static size_t coo_size(starpu_data_handle_t handle)
{
	const struct starpu_coo_interface *coo = handle->interface;

	return (size_t)coo->nx * coo->ny * coo->elemsize;
}

static uint32_t coo_footprint(starpu_data_handle_t handle)
{
	const struct starpu_coo_interface *coo = handle->interface;

	return hash_crc32c_be(coo->nx * coo->ny, 0);
}

static starpu_ssize_t coo_describe(void *interface, char *buf, size_t size)
{
	const struct starpu_coo_interface *coo = interface;

	return snprintf(buf, size, "M%ux%ux%ux%zu", coo->nx, coo->ny, coo->n_values,
			coo->elemsize);
}

static int coo_compare(void *a, void *b)
{
	const struct starpu_coo_interface *x = a, *y = b;

	return x->nx == y->nx && x->ny == y->ny && x->n_values == y->n_values &&
	       x->elemsize == y->elemsize;
}

static void coo_display(starpu_data_handle_t handle, FILE *f)
{
	const struct starpu_coo_interface *coo = handle->interface;

	fprintf(f, "%u\t%u\t%u\t", coo->nx, coo->ny, coo->n_values);
}

APPLICATION_OBJECT struct starpu_data_interface_ops starpu_interface_coo_ops = {
	INTERFACE_OPS_BY_ARRAYS(coo, COO)};
