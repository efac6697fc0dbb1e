/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Sparse matrices: described, allocated, copied, packed. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "claim.h"

int claim_failures;

/* 3 rows, of 2, 0 and 3 values. */
enum { NNZ = 5, NROW = 3, R = 2, C = 3, NVALUES = NNZ * R * C };

static uint32_t colind[NNZ] = {0, 7, 2, 3, 9}, rowptr[NROW + 1] = {1, 3, 3, 6};
static double values[NVALUES];

static void start(void)
{
	claim_start(2);
	for (int i = 0; i < NVALUES; i++)
		values[i] = i + 0.5;
}

#define ON_RAM(handle) starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM)

static void register_csr(starpu_data_handle_t *handle, int home)
{
	int in_ram = home >= 0;

	starpu_csr_data_register(handle, home, NNZ, NROW, in_ram ? (uintptr_t)values : 0,
				 in_ram ? colind : NULL, in_ram ? rowptr : NULL, 1,
				 sizeof(double));
}

static void register_bcsr(starpu_data_handle_t *handle, int home)
{
	int in_ram = home >= 0;

	starpu_bcsr_data_register(handle, home, NNZ, NROW, in_ram ? (uintptr_t)values : 0,
				  in_ram ? colind : NULL, in_ram ? rowptr : NULL, 1, R, C,
				  sizeof(double));
}

static void register_coo(starpu_data_handle_t *handle, int home)
{
	int in_ram = home >= 0;

	starpu_coo_data_register(handle, home, 10, NROW, NNZ, in_ram ? colind : NULL,
				 in_ram ? colind : NULL, in_ram ? (uintptr_t)values : 0,
				 sizeof(double));
}

static void expect_text(starpu_data_handle_t handle, const char *expected)
{
	char text[64];

	starpu_data_get_interface_ops(handle)->describe(ON_RAM(handle), text,
							sizeof(text));
	CLAIM(strcmp(text, expected) == 0);
}

/* As an interface that has one of these in it adds up. */
static void expect_allocated(void (*register_it)(starpu_data_handle_t *, int),
			     size_t bytes)
{
	struct starpu_data_interface_ops *ops;
	starpu_data_handle_t handle;
	void *interface;

	register_it(&handle, -1);
	ops = starpu_data_get_interface_ops(handle);
	interface = malloc(ops->interface_size);
	memcpy(interface, ON_RAM(handle), ops->interface_size);
	CLAIM_EQ(ops->allocate_data_on_node(interface, STARPU_MAIN_RAM), bytes);
	ops->free_data_on_node(interface, STARPU_MAIN_RAM);
	free(interface);
	starpu_data_unregister(handle);
}

/* ---- shapes ---------------------------------------------------------- */

static void rows_are_described(void)
{
	struct starpu_data_interface_ops *ops = &starpu_interface_csr_ops;
	starpu_data_handle_t a, b;

	start();
	register_csr(&a, STARPU_MAIN_RAM);
	register_csr(&b, -1);
	CLAIM_EQ(starpu_data_get_interface_id(a), STARPU_CSR_INTERFACE_ID);
	CLAIM_EQ(starpu_csr_get_nnz(b), NNZ);
	CLAIM_EQ(starpu_csr_get_nrow(b), NROW);
	CLAIM_EQ(starpu_csr_get_firstentry(b), 1);
	CLAIM_EQ(starpu_csr_get_elemsize(b), sizeof(double));
	CLAIM_EQ(starpu_csr_get_local_nzval(a), (uintptr_t)values);
	CLAIM(starpu_csr_get_local_colind(a) == colind);
	CLAIM(starpu_csr_get_local_rowptr(a) == rowptr);
	CLAIM(starpu_csr_get_local_rowptr(b) == NULL);
	CLAIM(STARPU_CSR_GET_RAM_COLIND(ON_RAM(a)) == colind);
	CLAIM(STARPU_CSR_GET_RAM_ROWPTR(ON_RAM(a)) == rowptr);
	CLAIM(STARPU_CSR_GET_COLIND_DEV_HANDLE(ON_RAM(a)) == colind);
	CLAIM(STARPU_CSR_GET_ROWPTR_DEV_HANDLE(ON_RAM(a)) == rowptr);
	CLAIM_EQ(STARPU_CSR_GET_NZVAL_DEV_HANDLE(ON_RAM(a)), NNZ);
	CLAIM_EQ(STARPU_CSR_GET_OFFSET, 0);
	CLAIM_EQ(starpu_data_get_local_ptr(a) == values, 1);
	CLAIM_EQ(starpu_data_get_size(b), 9 * sizeof(uint32_t) + NNZ * sizeof(double));
	CLAIM_EQ(ops->footprint(b), starpu_hash_crc32c_be(NNZ, 0));
	CLAIM_EQ(ops->compare(ON_RAM(a), ON_RAM(b)), 1);
	expect_text(a, "C5x3x8");
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	starpu_shutdown();
}

static void rows_of_blocks_are_described(void)
{
	uint32_t hash = starpu_hash_crc32c_be(NNZ, 0);
	starpu_data_handle_t a;

	start();
	register_bcsr(&a, STARPU_MAIN_RAM);
	CLAIM_EQ(starpu_data_get_interface_id(a), STARPU_BCSR_INTERFACE_ID);
	CLAIM_EQ(starpu_bcsr_get_nnz(a), NNZ);
	CLAIM_EQ(starpu_bcsr_get_nrow(a), NROW);
	CLAIM_EQ(starpu_bcsr_get_firstentry(a), 1);
	CLAIM_EQ(starpu_bcsr_get_r(a), R);
	CLAIM_EQ(starpu_bcsr_get_c(a), C);
	CLAIM_EQ(starpu_bcsr_get_elemsize(a), sizeof(double));
	CLAIM_EQ(starpu_bcsr_get_local_nzval(a), (uintptr_t)values);
	CLAIM(starpu_bcsr_get_local_colind(a) == colind);
	CLAIM(starpu_bcsr_get_local_rowptr(a) == rowptr);
	CLAIM(STARPU_BCSR_GET_RAM_COLIND(ON_RAM(a)) == colind);
	CLAIM(STARPU_BCSR_GET_RAM_ROWPTR(ON_RAM(a)) == rowptr);
	CLAIM_EQ(STARPU_BCSR_GET_OFFSET, 0);
	CLAIM_EQ(starpu_data_get_size(a), 9 * sizeof(uint32_t) + sizeof(values));
	hash = starpu_hash_crc32c_be(R, starpu_hash_crc32c_be(C, hash));
	CLAIM_EQ(starpu_interface_bcsr_ops.footprint(a), hash);
	expect_text(a, "b5x3x2x3x8");
	starpu_data_unregister(a);
	starpu_shutdown();
}

static void coordinates_are_described(void)
{
	starpu_data_handle_t a;

	start();
	register_coo(&a, STARPU_MAIN_RAM);
	CLAIM_EQ(starpu_data_get_interface_id(a), STARPU_COO_INTERFACE_ID);
	CLAIM_EQ(STARPU_COO_GET_NX(ON_RAM(a)), 10);
	CLAIM_EQ(STARPU_COO_GET_NY(ON_RAM(a)), NROW);
	CLAIM_EQ(STARPU_COO_GET_NVALUES(ON_RAM(a)), NNZ);
	CLAIM_EQ(STARPU_COO_GET_ELEMSIZE(ON_RAM(a)), sizeof(double));
	CLAIM(STARPU_COO_GET_ROWS_DEV_HANDLE(ON_RAM(a)) == colind);
	CLAIM(STARPU_COO_GET_COLUMNS_DEV_HANDLE(ON_RAM(a)) == colind);
	CLAIM_EQ(STARPU_COO_GET_VALUES_DEV_HANDLE(ON_RAM(a)), (uintptr_t)values);
	CLAIM_EQ(STARPU_COO_GET_OFFSET, 0);
	CLAIM_EQ(starpu_data_get_size(a), 240);
	CLAIM_EQ(starpu_data_get_alloc_size(a),
		 2 * NNZ * sizeof(uint32_t) + NNZ * sizeof(double));
	CLAIM_EQ(starpu_interface_coo_ops.footprint(a), starpu_hash_crc32c_be(30, 0));
	expect_text(a, "M10x3x5x8");
	starpu_data_unregister(a);
	starpu_shutdown();
}

/* ---- values ---------------------------------------------------------- */

/* What matters of a struct of any of the three. */
struct seen {
	const uint32_t *first, *second;
	uint32_t nsecond;
	const double *values;
	int nvalues;
};

static struct seen look(starpu_data_handle_t handle)
{
	void *at = ON_RAM(handle);

	switch (starpu_data_get_interface_id(handle)) {
	case STARPU_CSR_INTERFACE_ID:
		STARPU_CSR_CHECK(at);
		CLAIM(STARPU_CSR_GET_RAM_COLIND(at) == STARPU_CSR_GET_COLIND(at));
		return (struct seen){STARPU_CSR_GET_COLIND(at), STARPU_CSR_GET_ROWPTR(at),
				     NROW + 1, (double *)STARPU_CSR_GET_NZVAL(at), NNZ};
	case STARPU_BCSR_INTERFACE_ID:
		STARPU_BCSR_CHECK(at);
		CLAIM(STARPU_BCSR_GET_RAM_ROWPTR(at) == STARPU_BCSR_GET_ROWPTR(at));
		return (struct seen){STARPU_BCSR_GET_COLIND(at),
				     STARPU_BCSR_GET_ROWPTR(at), NROW + 1,
				     (double *)STARPU_BCSR_GET_NZVAL(at), NVALUES};
	default:
		STARPU_COO_CHECK(at);
		return (struct seen){STARPU_COO_GET_COLUMNS(at), STARPU_COO_GET_ROWS(at),
				     NNZ, (double *)STARPU_COO_GET_VALUES(at), NNZ};
	}
}

static int is_the_matrix(starpu_data_handle_t handle)
{
	struct seen seen = look(handle);
	const uint32_t *second = seen.nsecond == NNZ ? colind : rowptr;

	return memcmp(seen.first, colind, sizeof(colind)) == 0 &&
	       memcmp(seen.second, second, seen.nsecond * sizeof(uint32_t)) == 0 &&
	       memcmp(seen.values, values, (size_t)seen.nvalues * sizeof(double)) == 0;
}

/* To memory of the library's, by a copy and by a pack. */
static void take_around(void (*enter)(starpu_data_handle_t *, int))
{
	starpu_data_handle_t given, copied, unpacked;
	starpu_ssize_t count, asked;
	void *packed;

	start();
	enter(&given, STARPU_MAIN_RAM);
	enter(&copied, -1);
	starpu_data_register_same(&unpacked, given);
	CLAIM_EQ(starpu_data_cpy(copied, given, 0, NULL, NULL), 0);
	starpu_data_acquire(copied, STARPU_R);
	starpu_data_acquire(unpacked, STARPU_W);
	CLAIM(look(copied).values != values);
	CLAIM(is_the_matrix(copied));
	CLAIM_EQ(starpu_data_pack(copied, NULL, &asked), 0);
	CLAIM_EQ(starpu_data_pack(copied, &packed, &count), 0);
	CLAIM_EQ(count, starpu_data_get_alloc_size(copied));
	CLAIM_EQ(asked, count);
	CLAIM(memcmp(packed, colind, sizeof(colind)) == 0);
	CLAIM_EQ(starpu_data_peek(unpacked, packed, (size_t)count - 1), -EINVAL);
	CLAIM_EQ(starpu_data_unpack(unpacked, packed, (size_t)count), 0);
	CLAIM(is_the_matrix(unpacked));
	starpu_data_release(copied);
	starpu_data_release(unpacked);
	starpu_data_unregister(given);
	starpu_data_unregister(copied);
	starpu_data_unregister(unpacked);
	starpu_shutdown();
}

static void rows_are_moved(void)
{
	take_around(register_csr);
}

static void rows_of_blocks_are_moved(void)
{
	take_around(register_bcsr);
}

static void coordinates_are_moved(void)
{
	take_around(register_coo);
}

static void matrices_may_be_empty(void)
{
	static uint32_t nothing[1] = {0};
	starpu_data_handle_t csr, bcsr, coo, copy;

	start();
	starpu_csr_data_register(&csr, STARPU_MAIN_RAM, 0, 0, 0, NULL, nothing, 0, 8);
	starpu_bcsr_data_register(&bcsr, STARPU_MAIN_RAM, 0, 0, 0, NULL, nothing, 0, 2, 2,
				  8);
	starpu_coo_data_register(&coo, STARPU_MAIN_RAM, 0, 0, 0, NULL, NULL, 0, 8);
	starpu_data_register_same(&copy, coo);
	CLAIM_EQ(starpu_data_cpy(copy, coo, 0, NULL, NULL), 0);
	CLAIM_EQ(starpu_data_get_size(csr), sizeof(uint32_t));
	starpu_data_unregister(csr);
	starpu_data_unregister(bcsr);
	starpu_data_unregister(coo);
	starpu_data_unregister(copy);
	starpu_shutdown();
}

static void allocations_say_their_bytes(void)
{
	size_t index = sizeof(uint32_t);

	start();
	expect_allocated(register_csr,
			 NNZ * (sizeof(double) + index) + (NROW + 1) * index);
	expect_allocated(register_bcsr,
			 NVALUES * sizeof(double) + (NNZ + NROW + 1) * index);
	expect_allocated(register_coo, NNZ * (sizeof(double) + 2 * index));
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"rows are described", rows_are_described},
	{"rows of blocks are described", rows_of_blocks_are_described},
	{"coordinates are described", coordinates_are_described},
	{"rows are moved", rows_are_moved},
	{"rows of blocks are moved", rows_of_blocks_are_moved},
	{"coordinates are moved", coordinates_are_moved},
	{"matrices may be empty", matrices_may_be_empty},
	{"allocations say their bytes", allocations_say_their_bytes},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
