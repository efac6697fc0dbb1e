/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/arrays.h"

#include "base/application.h"
#include "core/model/hash.h"

/* Compressed sparse rows: nnz columns and values, and where each of nrow rows begins. */

static struct arrays csr_arrays(const void *interface)
{
	const struct starpu_csr_interface *csr = interface;

	return (struct arrays){3,
			       {{offsetof(struct starpu_csr_interface, colind),
				 csr->nnz * sizeof(uint32_t)},
				{offsetof(struct starpu_csr_interface, rowptr),
				 ((size_t)csr->nrow + 1) * sizeof(uint32_t)},
				{offsetof(struct starpu_csr_interface, nzval),
				 csr->nnz * csr->elemsize}}};
}

INTERFACE_BY_ARRAYS(csr, CSR);

static void note_main(struct starpu_csr_interface *csr, unsigned memory)
{
	if (interface_is_in_main(memory)) {
		csr->ram_colind = csr->colind;
		csr->ram_rowptr = csr->rowptr;
	}
}

static void csr_reuse(void *interface, const void *cached, unsigned memory)
{
	arrays_reuse(csr_arrays, interface, cached);
	note_main(interface, memory);
}

static starpu_ssize_t csr_allocate(void *interface, unsigned memory)
{
	struct starpu_csr_interface *csr = interface;
	starpu_ssize_t ret = arrays_allocate(csr_arrays, csr, memory);

	if (ret >= 0)
		note_main(csr, memory);
	return ret;
}

static void *csr_pointer(void *interface, unsigned memory)
{
	(void)memory;
	return (void *)((struct starpu_csr_interface *)interface)->nzval;
}

static size_t csr_size(starpu_data_handle_t handle)
{
	return csr_alloc_size(handle);
}

static uint32_t csr_footprint(starpu_data_handle_t handle)
{
	return hash_crc32c_be(((struct starpu_csr_interface *)handle->interface)->nnz, 0);
}

static starpu_ssize_t csr_describe(void *interface, char *buf, size_t size)
{
	const struct starpu_csr_interface *csr = interface;

	return snprintf(buf, size, "C%ux%ux%zu", csr->nnz, csr->nrow, csr->elemsize);
}

static int csr_compare(void *a, void *b)
{
	const struct starpu_csr_interface *x = a, *y = b;

	return x->nnz == y->nnz && x->nrow == y->nrow && x->elemsize == y->elemsize;
}

static void csr_display(starpu_data_handle_t handle, FILE *f)
{
	const struct starpu_csr_interface *csr = handle->interface;

	fprintf(f, "%u\t%u\t", csr->nnz, csr->nrow);
}

APPLICATION_OBJECT struct starpu_data_interface_ops starpu_interface_csr_ops = {
	INTERFACE_OPS_BY_ARRAYS(csr, CSR)};
