/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Interfaces of sparse matrices; part of starpu_data_interfaces.h, which includes this.
 * Indices are 32-bit; each value is of several arrays, which travel together.
 */

#ifndef STARPU_DATA_INTERFACES_SPARSE_H
#define STARPU_DATA_INTERFACES_SPARSE_H

#include <starpu_data_interfaces.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * CSR: of nrow rows, the nnz values that are not zero, row by row; row i has those from
 * rowptr[i] - firstentry to rowptr[i + 1] - firstentry - 1
 */

struct starpu_csr_interface {
	enum starpu_data_interface_id id;
	uint32_t nnz;
	uint32_t nrow;
	uintptr_t nzval;
	uint32_t *colind;
	uint32_t *rowptr;
	/* The same in main memory; NULL while they are not there. */
	uint32_t *ram_colind;
	uint32_t *ram_rowptr;
	uint32_t firstentry;
	size_t elemsize;
};

/**
 * Register a matrix; home_node as for starpu_data_register.
 *
 * @param nzval       nnz values of elemsize bytes
 * @param colind      nnz columns
 * @param rowptr      nrow + 1 places, the last is firstentry + nnz
 * @param firstentry  what rowptr counts from: 0 in C, 1 in Fortran
 */
void starpu_csr_data_register(starpu_data_handle_t *handle, int home_node, uint32_t nnz,
			      uint32_t nrow, uintptr_t nzval, uint32_t *colind,
			      uint32_t *rowptr, uint32_t firstentry, size_t elemsize);

/** Number of values, of rows, what rowptr counts from, bytes of a value. */
uint32_t starpu_csr_get_nnz(starpu_data_handle_t handle);
uint32_t starpu_csr_get_nrow(starpu_data_handle_t handle);
uint32_t starpu_csr_get_firstentry(starpu_data_handle_t handle);
size_t starpu_csr_get_elemsize(starpu_data_handle_t handle);

/** The arrays on the caller's memory node. */
uintptr_t starpu_csr_get_local_nzval(starpu_data_handle_t handle);
uint32_t *starpu_csr_get_local_colind(starpu_data_handle_t handle);
uint32_t *starpu_csr_get_local_rowptr(starpu_data_handle_t handle);

#define STARPU_CSR_CHECK(itf)                                                            \
	STARPU_ASSERT_MSG(STARPU_CSR_FIELD_(itf, id) == STARPU_CSR_INTERFACE_ID,         \
			  "the data is not a CSR matrix")
#define STARPU_CSR_FIELD_(itf, field) (((struct starpu_csr_interface *)(itf))->field)
#define STARPU_CSR_GET_NNZ(itf)       STARPU_CSR_FIELD_(itf, nnz)
#define STARPU_CSR_GET_NROW(itf)      STARPU_CSR_FIELD_(itf, nrow)
#define STARPU_CSR_GET_NZVAL(itf)     STARPU_CSR_FIELD_(itf, nzval)
/** The number of values, as StarPU has it. */
#define STARPU_CSR_GET_NZVAL_DEV_HANDLE(itf)  STARPU_CSR_FIELD_(itf, nnz)
#define STARPU_CSR_GET_COLIND(itf)            STARPU_CSR_FIELD_(itf, colind)
#define STARPU_CSR_GET_RAM_COLIND(itf)        STARPU_CSR_FIELD_(itf, ram_colind)
#define STARPU_CSR_GET_COLIND_DEV_HANDLE(itf) STARPU_CSR_FIELD_(itf, colind)
#define STARPU_CSR_GET_ROWPTR(itf)            STARPU_CSR_FIELD_(itf, rowptr)
#define STARPU_CSR_GET_RAM_ROWPTR(itf)        STARPU_CSR_FIELD_(itf, ram_rowptr)
#define STARPU_CSR_GET_ROWPTR_DEV_HANDLE(itf) STARPU_CSR_FIELD_(itf, rowptr)
#define STARPU_CSR_GET_OFFSET                 0
#define STARPU_CSR_GET_FIRSTENTRY(itf)        STARPU_CSR_FIELD_(itf, firstentry)
#define STARPU_CSR_GET_ELEMSIZE(itf)          STARPU_CSR_FIELD_(itf, elemsize)

/*
 * BCSR: the same of blocks of r rows and c columns; nnz, nrow, colind and rowptr count
 * blocks
 */

struct starpu_bcsr_interface {
	enum starpu_data_interface_id id;
	uint32_t nnz;
	uint32_t nrow;
	uintptr_t nzval;
	uint32_t *colind;
	uint32_t *rowptr;
	uint32_t *ram_colind;
	uint32_t *ram_rowptr;
	uint32_t firstentry;
	uint32_t r;
	uint32_t c;
	size_t elemsize;
};

/** Register a matrix as starpu_csr_data_register; nzval has nnz * r * c elements. */
void starpu_bcsr_data_register(starpu_data_handle_t *handle, int home_node, uint32_t nnz,
			       uint32_t nrow, uintptr_t nzval, uint32_t *colind,
			       uint32_t *rowptr, uint32_t firstentry, uint32_t r,
			       uint32_t c, size_t elemsize);

/** Number of blocks, of rows of blocks, what rowptr counts from, bytes of an element. */
uint32_t starpu_bcsr_get_nnz(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_nrow(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_firstentry(starpu_data_handle_t handle);
size_t starpu_bcsr_get_elemsize(starpu_data_handle_t handle);

/** Rows and columns of a block. */
uint32_t starpu_bcsr_get_r(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_c(starpu_data_handle_t handle);

/** The arrays on the caller's memory node. */
uintptr_t starpu_bcsr_get_local_nzval(starpu_data_handle_t handle);
uint32_t *starpu_bcsr_get_local_colind(starpu_data_handle_t handle);
uint32_t *starpu_bcsr_get_local_rowptr(starpu_data_handle_t handle);

#define STARPU_BCSR_CHECK(itf)                                                           \
	STARPU_ASSERT_MSG(STARPU_BCSR_FIELD_(itf, id) == STARPU_BCSR_INTERFACE_ID,       \
			  "the data is not a BCSR matrix")
#define STARPU_BCSR_FIELD_(itf, field) (((struct starpu_bcsr_interface *)(itf))->field)
#define STARPU_BCSR_GET_NNZ(itf)       STARPU_BCSR_FIELD_(itf, nnz)
#define STARPU_BCSR_GET_NROW(itf)      STARPU_BCSR_FIELD_(itf, nrow)
#define STARPU_BCSR_GET_NZVAL(itf)     STARPU_BCSR_FIELD_(itf, nzval)
/** The number of blocks, as StarPU has it. */
#define STARPU_BCSR_GET_NZVAL_DEV_HANDLE(itf)  STARPU_BCSR_FIELD_(itf, nnz)
#define STARPU_BCSR_GET_COLIND(itf)            STARPU_BCSR_FIELD_(itf, colind)
#define STARPU_BCSR_GET_RAM_COLIND(itf)        STARPU_BCSR_FIELD_(itf, ram_colind)
#define STARPU_BCSR_GET_COLIND_DEV_HANDLE(itf) STARPU_BCSR_FIELD_(itf, colind)
#define STARPU_BCSR_GET_ROWPTR(itf)            STARPU_BCSR_FIELD_(itf, rowptr)
#define STARPU_BCSR_GET_RAM_ROWPTR(itf)        STARPU_BCSR_FIELD_(itf, ram_rowptr)
#define STARPU_BCSR_GET_ROWPTR_DEV_HANDLE(itf) STARPU_BCSR_FIELD_(itf, rowptr)
#define STARPU_BCSR_GET_OFFSET                 0
#define STARPU_BCSR_GET_FIRSTENTRY(itf)        STARPU_BCSR_FIELD_(itf, firstentry)
#define STARPU_BCSR_GET_R(itf)                 STARPU_BCSR_FIELD_(itf, r)
#define STARPU_BCSR_GET_C(itf)                 STARPU_BCSR_FIELD_(itf, c)
#define STARPU_BCSR_GET_ELEMSIZE(itf)          STARPU_BCSR_FIELD_(itf, elemsize)

/*
 * COO: of nx by ny elements, n_values that are not zero, each with its column and row
 */

struct starpu_coo_interface {
	enum starpu_data_interface_id id;
	uint32_t *columns;
	uint32_t *rows;
	uintptr_t values;
	uint32_t nx;
	uint32_t ny;
	uint32_t n_values;
	size_t elemsize;
};

/**
 * Register a matrix of n_values values of elemsize bytes; home_node as for
 * starpu_data_register.  Its starpu_data_get_size() is nx * ny * elemsize, as StarPU has
 * it; what is allocated and moved is starpu_data_get_alloc_size().
 */
void starpu_coo_data_register(starpu_data_handle_t *handleptr, int home_node, uint32_t nx,
			      uint32_t ny, uint32_t n_values, uint32_t *columns,
			      uint32_t *rows, uintptr_t values, size_t elemsize);

#define STARPU_COO_CHECK(itf)                                                            \
	STARPU_ASSERT_MSG(STARPU_COO_FIELD_(itf, id) == STARPU_COO_INTERFACE_ID,         \
			  "the data is not a COO matrix")
#define STARPU_COO_FIELD_(itf, field) (((struct starpu_coo_interface *)(itf))->field)

#define STARPU_COO_GET_COLUMNS(itf)            STARPU_COO_FIELD_(itf, columns)
#define STARPU_COO_GET_COLUMNS_DEV_HANDLE(itf) STARPU_COO_FIELD_(itf, columns)
#define STARPU_COO_GET_ROWS(itf)               STARPU_COO_FIELD_(itf, rows)
#define STARPU_COO_GET_ROWS_DEV_HANDLE(itf)    STARPU_COO_FIELD_(itf, rows)
#define STARPU_COO_GET_VALUES(itf)             STARPU_COO_FIELD_(itf, values)
#define STARPU_COO_GET_VALUES_DEV_HANDLE(itf)  STARPU_COO_FIELD_(itf, values)
#define STARPU_COO_GET_OFFSET                  0
#define STARPU_COO_GET_NX(itf)                 STARPU_COO_FIELD_(itf, nx)
#define STARPU_COO_GET_NY(itf)                 STARPU_COO_FIELD_(itf, ny)
#define STARPU_COO_GET_NVALUES(itf)            STARPU_COO_FIELD_(itf, n_values)
#define STARPU_COO_GET_ELEMSIZE(itf)           STARPU_COO_FIELD_(itf, elemsize)

extern struct starpu_data_interface_ops starpu_interface_csr_ops;
extern struct starpu_data_interface_ops starpu_interface_bcsr_ops;
extern struct starpu_data_interface_ops starpu_interface_coo_ops;

#ifdef __cplusplus
}
#endif

#endif /* STARPU_DATA_INTERFACES_SPARSE_H */
