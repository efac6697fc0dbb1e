/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Sparse matrices: compressed rows (CSR), of blocks (BCSR), coordinates (COO). */
#include "api/interface.h"

/* n indices at home must be there. */
static void check_indices(const struct node *node, const char *func, int home,
			  const uint32_t *indices, size_t n)
{
	api_given_memory(node, func, home, (uintptr_t)indices, n * sizeof(*indices));
}

/* ---- compressed rows ------------------------------------------------- */

void starpu_csr_data_register(starpu_data_handle_t *handle, int home_node, uint32_t nnz,
			      uint32_t nrow, uintptr_t nzval, uint32_t *colind,
			      uint32_t *rowptr, uint32_t firstentry, size_t elemsize)
{
	api_given(__func__, "handle", handle);

	struct node *node = api_node(__func__);
	int in_ram = home_node >= 0 && memory_is_main(node, (unsigned)home_node);
	struct starpu_csr_interface csr = {
		.id = STARPU_CSR_INTERFACE_ID,
		.nnz = nnz,
		.nrow = nrow,
		.nzval = nzval,
		.colind = colind,
		.rowptr = rowptr,
		.ram_colind = in_ram ? colind : NULL,
		.ram_rowptr = in_ram ? rowptr : NULL,
		.firstentry = firstentry,
		.elemsize = elemsize,
	};

	api_home(node, __func__, home_node);
	api_given_memory(node, __func__, home_node, nzval,
			 api_product_bytes(node, __func__, nnz, elemsize));
	check_indices(node, __func__, home_node, colind, nnz);
	check_indices(node, __func__, home_node, rowptr, (size_t)nrow + 1);
	*handle = data_register(node, home_node, &csr, &starpu_interface_csr_ops);
}

uint32_t starpu_csr_get_nnz(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, csr, CSR)->nnz;
}

uint32_t starpu_csr_get_nrow(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, csr, CSR)->nrow;
}

uint32_t starpu_csr_get_firstentry(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, csr, CSR)->firstentry;
}

uintptr_t starpu_csr_get_local_nzval(starpu_data_handle_t handle)
{
	return API_LOCAL_INTERFACE(handle, csr, CSR)->nzval;
}

uint32_t *starpu_csr_get_local_colind(starpu_data_handle_t handle)
{
	return API_LOCAL_INTERFACE(handle, csr, CSR)->colind;
}

uint32_t *starpu_csr_get_local_rowptr(starpu_data_handle_t handle)
{
	return API_LOCAL_INTERFACE(handle, csr, CSR)->rowptr;
}

size_t starpu_csr_get_elemsize(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, csr, CSR)->elemsize;
}

/* ---- compressed rows of blocks --------------------------------------- */

static void check_bcsr(const struct node *node, const char *func, int home,
		       const struct starpu_bcsr_interface *bcsr)
{
	size_t block_bytes =
		api_product_bytes(node, func, (size_t)bcsr->r * bcsr->c, bcsr->elemsize);

	api_home(node, func, home);
	api_given_memory(node, func, home, bcsr->nzval,
			 api_product_bytes(node, func, bcsr->nnz, block_bytes));
	check_indices(node, func, home, bcsr->colind, bcsr->nnz);
	check_indices(node, func, home, bcsr->rowptr, (size_t)bcsr->nrow + 1);
}

void starpu_bcsr_data_register(starpu_data_handle_t *handle, int home_node, uint32_t nnz,
			       uint32_t nrow, uintptr_t nzval, uint32_t *colind,
			       uint32_t *rowptr, uint32_t firstentry, uint32_t r,
			       uint32_t c, size_t elemsize)
{
	api_given(__func__, "handle", handle);

	struct node *node = api_node(__func__);
	int in_ram = home_node >= 0 && memory_is_main(node, (unsigned)home_node);
	struct starpu_bcsr_interface bcsr = {
		.id = STARPU_BCSR_INTERFACE_ID,
		.nnz = nnz,
		.nrow = nrow,
		.nzval = nzval,
		.colind = colind,
		.rowptr = rowptr,
		.ram_colind = in_ram ? colind : NULL,
		.ram_rowptr = in_ram ? rowptr : NULL,
		.firstentry = firstentry,
		.r = r,
		.c = c,
		.elemsize = elemsize,
	};

	check_bcsr(node, __func__, home_node, &bcsr);
	*handle = data_register(node, home_node, &bcsr, &starpu_interface_bcsr_ops);
}

uint32_t starpu_bcsr_get_nnz(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, bcsr, BCSR)->nnz;
}

uint32_t starpu_bcsr_get_nrow(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, bcsr, BCSR)->nrow;
}

uint32_t starpu_bcsr_get_firstentry(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, bcsr, BCSR)->firstentry;
}

uintptr_t starpu_bcsr_get_local_nzval(starpu_data_handle_t handle)
{
	return API_LOCAL_INTERFACE(handle, bcsr, BCSR)->nzval;
}

uint32_t *starpu_bcsr_get_local_colind(starpu_data_handle_t handle)
{
	return API_LOCAL_INTERFACE(handle, bcsr, BCSR)->colind;
}

uint32_t *starpu_bcsr_get_local_rowptr(starpu_data_handle_t handle)
{
	return API_LOCAL_INTERFACE(handle, bcsr, BCSR)->rowptr;
}

uint32_t starpu_bcsr_get_r(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, bcsr, BCSR)->r;
}

uint32_t starpu_bcsr_get_c(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, bcsr, BCSR)->c;
}

size_t starpu_bcsr_get_elemsize(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, bcsr, BCSR)->elemsize;
}

/* ---- coordinates ----------------------------------------------------- */

void starpu_coo_data_register(starpu_data_handle_t *handleptr, int home_node, uint32_t nx,
			      uint32_t ny, uint32_t n_values, uint32_t *columns,
			      uint32_t *rows, uintptr_t values, size_t elemsize)
{
	api_given(__func__, "handleptr", handleptr);

	struct node *node = api_node(__func__);
	struct starpu_coo_interface coo = {
		.id = STARPU_COO_INTERFACE_ID,
		.columns = columns,
		.rows = rows,
		.values = values,
		.nx = nx,
		.ny = ny,
		.n_values = n_values,
		.elemsize = elemsize,
	};

	api_home(node, __func__, home_node);
	api_given_memory(node, __func__, home_node, values,
			 api_product_bytes(node, __func__, n_values, elemsize));
	check_indices(node, __func__, home_node, columns, n_values);
	check_indices(node, __func__, home_node, rows, n_values);
	*handleptr = data_register(node, home_node, &coo, &starpu_interface_coo_ops);
}
