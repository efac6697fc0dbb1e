/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/arrays.h"

#include "base/application.h"
#include "core/model/hash.h"

/* Compressed sparse rows of blocks of r by c: nnz and nrow count blocks. */

static struct arrays bcsr_arrays(const void *interface)
{
	const struct starpu_bcsr_interface *bcsr = interface;

	return (struct arrays){
		3,
		{{offsetof(struct starpu_bcsr_interface, colind),
		  bcsr->nnz * sizeof(uint32_t)},
		 {offsetof(struct starpu_bcsr_interface, rowptr),
		  ((size_t)bcsr->nrow + 1) * sizeof(uint32_t)},
		 {offsetof(struct starpu_bcsr_interface, nzval),
		  (size_t)bcsr->nnz * bcsr->r * bcsr->c * bcsr->elemsize}}};
}

INTERFACE_BY_ARRAYS(bcsr, BCSR);

static void note_main(struct starpu_bcsr_interface *bcsr, unsigned memory)
{
	if (interface_is_in_main(memory)) {
		bcsr->ram_colind = bcsr->colind;
		bcsr->ram_rowptr = bcsr->rowptr;
	}
}

static void bcsr_reuse(void *interface, const void *cached, unsigned memory)
{
	arrays_reuse(bcsr_arrays, interface, cached);
	note_main(interface, memory);
}

static starpu_ssize_t bcsr_allocate(void *interface, unsigned memory)
{
	struct starpu_bcsr_interface *bcsr = interface;
	starpu_ssize_t ret = arrays_allocate(bcsr_arrays, bcsr, memory);

	if (ret >= 0)
		note_main(bcsr, memory);
	return ret;
}

static void *bcsr_pointer(void *interface, unsigned memory)
{
	(void)memory;
	return (void *)((struct starpu_bcsr_interface *)interface)->nzval;
}

static size_t bcsr_size(starpu_data_handle_t handle)
{
	return bcsr_alloc_size(handle);
}

static uint32_t bcsr_footprint(starpu_data_handle_t handle)
{
	const struct starpu_bcsr_interface *bcsr = handle->interface;
	uint32_t hash = hash_crc32c_be(bcsr->nnz, 0);

	return hash_crc32c_be(bcsr->r, hash_crc32c_be(bcsr->c, hash));
}

static starpu_ssize_t bcsr_describe(void *interface, char *buf, size_t size)
{
	const struct starpu_bcsr_interface *bcsr = interface;

	return snprintf(buf, size, "b%ux%ux%ux%ux%zu", bcsr->nnz, bcsr->nrow, bcsr->r,
			bcsr->c, bcsr->elemsize);
}

static int bcsr_compare(void *a, void *b)
{
	const struct starpu_bcsr_interface *x = a, *y = b;

	return x->nnz == y->nnz && x->nrow == y->nrow && x->r == y->r && x->c == y->c &&
	       x->elemsize == y->elemsize;
}

static void bcsr_display(starpu_data_handle_t handle, FILE *f)
{
	const struct starpu_bcsr_interface *bcsr = handle->interface;

	fprintf(f, "%u\t%u\t%u\t%u\t", bcsr->nnz, bcsr->nrow, bcsr->r, bcsr->c);
}

APPLICATION_OBJECT struct starpu_data_interface_ops starpu_interface_bcsr_ops = {
	INTERFACE_OPS_BY_ARRAYS(bcsr, BCSR)};
