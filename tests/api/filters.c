/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* The parts that each predefined filter makes. */
#include <string.h>

#include "adding.h"

int claim_failures;

enum { N = 24 };

static void chunks_are_as_documented(void)
{
	unsigned chunk = 0, sum = 0;
	size_t offset = 0;

	for (unsigned id = 0; id < 4; id++) {
		starpu_filter_nparts_compute_chunk_size_and_offset(10, 4, 8, id, 3,
								   &chunk, &offset);
		CLAIM_EQ(chunk, id < 2 ? 3 : 2);
		CLAIM_EQ(offset, sum * 3 * 8);
		sum += chunk;
	}
	CLAIM_EQ(sum, 10);
}

static void vectors_are_cut(void)
{
	int x[N];
	struct starpu_vector_interface v = {.id = STARPU_VECTOR_INTERFACE_ID,
					    .ptr = (uintptr_t)x,
					    .dev_handle = (uintptr_t)x,
					    .nx = N,
					    .elemsize = sizeof(int)},
				       c = {0};
	uint32_t lengths[3] = {4, 7, 2};
	long longs[3] = {1, 2, 3};
	struct starpu_data_filter f = {.filter_arg_ptr = (void *)(uintptr_t)2};
	struct starpu_variable_interface element = {0};

	starpu_vector_filter_block_shadow(&v, &c, &f, 1, 4);
	CLAIM_EQ(c.nx, 5 + 4);
	CLAIM(c.ptr == (uintptr_t)(x + 5));
	CLAIM(c.dev_handle == (uintptr_t)x);
	CLAIM_EQ(c.offset, 5 * sizeof(int));
	f.filter_arg_ptr = lengths;
	starpu_vector_filter_list(&v, &c, &f, 2, 3);
	CLAIM_EQ(c.nx, 2);
	CLAIM(c.ptr == (uintptr_t)(x + 11));
	f.filter_arg_ptr = longs;
	starpu_vector_filter_list_long(&v, &c, &f, 2, 3);
	CLAIM_EQ(c.nx, 3);
	CLAIM(c.ptr == (uintptr_t)(x + 3));
	f.filter_arg = 10;
	starpu_vector_filter_divide_in_2(&v, &c, &f, 1, 2);
	CLAIM_EQ(c.nx, N - 10);
	CLAIM(c.ptr == (uintptr_t)(x + 10));
	f.filter_arg_ptr = (void *)(uintptr_t)3;
	starpu_vector_filter_pick_variable(&v, &element, &f, 4, 6);
	CLAIM(element.ptr == (uintptr_t)(x + 7));
	CLAIM_EQ(element.elemsize, sizeof(int));
	CLAIM(starpu_vector_filter_pick_variable_child_ops(&f, 0) ==
	      &starpu_interface_variable_ops);
}

/* x[column][row], with columns of 6 of which 5 are used. */
static void matrices_are_cut(void)
{
	int x[4][6];
	struct starpu_matrix_interface m = {.id = STARPU_MATRIX_INTERFACE_ID,
					    .ptr = (uintptr_t)x,
					    .dev_handle = (uintptr_t)x,
					    .nx = 5,
					    .ny = 4,
					    .ld = 6,
					    .elemsize = sizeof(int)},
				       c = {0};
	struct starpu_data_filter f = {.filter_arg_ptr = (void *)(uintptr_t)1};
	struct starpu_variable_interface element = {0};
	struct starpu_vector_interface column = {0};
	uint32_t at[2] = {3, 2};

	starpu_matrix_filter_block(&m, &c, &f, 1, 2);
	CLAIM(c.nx == 2 && c.ny == 4 && c.ld == 6 && c.allocsize == 8 * sizeof(int));
	CLAIM(c.ptr == (uintptr_t)&x[0][3]);
	starpu_matrix_filter_vertical_block(&m, &c, &f, 1, 3);
	CLAIM(c.nx == 5 && c.ny == 1 && c.ptr == (uintptr_t)&x[2][0]);
	starpu_matrix_filter_block_shadow(&m, &c, &f, 1, 3);
	CLAIM(c.nx == 3 && c.ny == 4 && c.ptr == (uintptr_t)&x[0][1]);
	starpu_matrix_filter_vertical_block_shadow(&m, &c, &f, 1, 2);
	CLAIM(c.nx == 5 && c.ny == 3 && c.ptr == (uintptr_t)&x[1][0]);
	starpu_matrix_filter_pick_vector_y(&m, &column, &f, 2, 3);
	CLAIM(column.nx == 5 && column.ptr == (uintptr_t)&x[3][0]);
	CLAIM(starpu_matrix_filter_pick_vector_child_ops(&f, 0) ==
	      &starpu_interface_vector_ops);
	f.filter_arg_ptr = at;
	starpu_matrix_filter_pick_variable(&m, &element, &f, 0, 1);
	CLAIM(element.ptr == (uintptr_t)&x[2][3]);
	CLAIM(starpu_matrix_filter_pick_variable_child_ops(&f, 0) ==
	      &starpu_interface_variable_ops);
}

/* x[z][y][x]: 3 x 4 x 5, with room for 6 and 5. */
static void blocks_are_cut(void)
{
	int x[3][5][6];
	struct starpu_block_interface b = {.id = STARPU_BLOCK_INTERFACE_ID,
					   .ptr = (uintptr_t)x,
					   .dev_handle = (uintptr_t)x,
					   .nx = 5,
					   .ny = 4,
					   .nz = 3,
					   .ldy = 6,
					   .ldz = 30,
					   .elemsize = sizeof(int)},
				      c = {0};
	struct starpu_data_filter f = {.filter_arg_ptr = (void *)(uintptr_t)1};
	struct starpu_variable_interface element = {0};
	struct starpu_matrix_interface plane = {0};
	uint32_t at[3] = {4, 3, 2};

	starpu_block_filter_block(&b, &c, &f, 1, 2);
	CLAIM(c.nx == 2 && c.ny == 4 && c.nz == 3 && c.ldy == 6 && c.ldz == 30);
	CLAIM(c.ptr == (uintptr_t)&x[0][0][3]);
	starpu_block_filter_vertical_block(&b, &c, &f, 1, 2);
	CLAIM(c.nx == 5 && c.ny == 2 && c.nz == 3 && c.ptr == (uintptr_t)&x[0][2][0]);
	starpu_block_filter_depth_block(&b, &c, &f, 2, 3);
	CLAIM(c.nx == 5 && c.ny == 4 && c.nz == 1 && c.ptr == (uintptr_t)&x[2][0][0]);
	starpu_block_filter_block_shadow(&b, &c, &f, 2, 3);
	CLAIM(c.nx == 3 && c.ny == 4 && c.ptr == (uintptr_t)&x[0][0][2]);
	starpu_block_filter_vertical_block_shadow(&b, &c, &f, 1, 2);
	CLAIM(c.ny == 3 && c.ptr == (uintptr_t)&x[0][1][0]);
	starpu_block_filter_depth_block_shadow(&b, &c, &f, 0, 1);
	CLAIM(c.nz == 3 && c.ptr == (uintptr_t)x);
	starpu_block_filter_pick_matrix_z(&b, &plane, &f, 1, 2);
	CLAIM(plane.nx == 5 && plane.ny == 4 && plane.ld == 6);
	CLAIM(plane.ptr == (uintptr_t)&x[2][0][0]);
	starpu_block_filter_pick_matrix_y(&b, &plane, &f, 1, 2);
	CLAIM(plane.nx == 5 && plane.ny == 3 && plane.ld == 30);
	CLAIM(plane.ptr == (uintptr_t)&x[0][2][0]);
	CLAIM(starpu_block_filter_pick_matrix_child_ops(&f, 0) ==
	      &starpu_interface_matrix_ops);
	f.filter_arg_ptr = at;
	starpu_block_filter_pick_variable(&b, &element, &f, 0, 1);
	CLAIM(element.ptr == (uintptr_t)&x[2][3][4]);
	CLAIM(starpu_block_filter_pick_variable_child_ops(&f, 0) ==
	      &starpu_interface_variable_ops);
}

/* x[t][z][y][x]: 2 x 3 x 4 x 5, with room for 6 and 5. */
static void tensors_are_cut(void)
{
	int x[2][3][5][6];
	struct starpu_tensor_interface t = {.id = STARPU_TENSOR_INTERFACE_ID,
					    .ptr = (uintptr_t)x,
					    .dev_handle = (uintptr_t)x,
					    .nx = 5,
					    .ny = 4,
					    .nz = 3,
					    .nt = 2,
					    .ldy = 6,
					    .ldz = 30,
					    .ldt = 90,
					    .elemsize = sizeof(int)},
				       c = {0};
	struct starpu_data_filter f = {.filter_arg_ptr = (void *)(uintptr_t)1};
	struct starpu_variable_interface element = {0};
	struct starpu_block_interface b = {0};
	uint32_t at[4] = {4, 3, 2, 1};

	starpu_tensor_filter_block(&t, &c, &f, 1, 2);
	CLAIM(c.nx == 2 && c.ny == 4 && c.nz == 3 && c.nt == 2);
	CLAIM(c.ldy == 6 && c.ldz == 30 && c.ldt == 90);
	CLAIM(c.ptr == (uintptr_t)&x[0][0][0][3]);
	starpu_tensor_filter_vertical_block(&t, &c, &f, 1, 2);
	CLAIM(c.ny == 2 && c.ptr == (uintptr_t)&x[0][0][2][0]);
	starpu_tensor_filter_depth_block(&t, &c, &f, 2, 3);
	CLAIM(c.nz == 1 && c.nt == 2 && c.ptr == (uintptr_t)&x[0][2][0][0]);
	starpu_tensor_filter_time_block(&t, &c, &f, 1, 2);
	CLAIM(c.nz == 3 && c.nt == 1 && c.ptr == (uintptr_t)&x[1][0][0][0]);
	starpu_tensor_filter_block_shadow(&t, &c, &f, 2, 3);
	CLAIM(c.nx == 3 && c.ptr == (uintptr_t)&x[0][0][0][2]);
	starpu_tensor_filter_vertical_block_shadow(&t, &c, &f, 1, 2);
	CLAIM(c.ny == 3 && c.ptr == (uintptr_t)&x[0][0][1][0]);
	starpu_tensor_filter_depth_block_shadow(&t, &c, &f, 0, 1);
	CLAIM(c.nz == 3 && c.ptr == (uintptr_t)x);
	t.nt = 3;
	starpu_tensor_filter_time_block_shadow(&t, &c, &f, 0, 1);
	CLAIM(c.nt == 3 && c.ptr == (uintptr_t)x);
	t.nt = 2;
	starpu_tensor_filter_pick_block_t(&t, &b, &f, 0, 1);
	CLAIM(b.ny == 4 && b.nz == 3 && b.ldy == 6 && b.ldz == 30);
	CLAIM(b.ptr == (uintptr_t)&x[1][0][0][0]);
	starpu_tensor_filter_pick_block_z(&t, &b, &f, 1, 2);
	CLAIM(b.ny == 4 && b.nz == 2 && b.ldy == 6 && b.ldz == 90);
	CLAIM(b.ptr == (uintptr_t)&x[0][2][0][0]);
	starpu_tensor_filter_pick_block_y(&t, &b, &f, 1, 2);
	CLAIM(b.ny == 3 && b.nz == 2 && b.ldy == 30 && b.ldz == 90);
	CLAIM(b.ptr == (uintptr_t)&x[0][0][2][0]);
	CLAIM(starpu_tensor_filter_pick_block_child_ops(&f, 0) ==
	      &starpu_interface_block_ops);
	f.filter_arg_ptr = at;
	starpu_tensor_filter_pick_variable(&t, &element, &f, 0, 1);
	CLAIM(element.ptr == (uintptr_t)&x[1][2][3][4]);
	CLAIM(starpu_tensor_filter_pick_variable_child_ops(&f, 0) ==
	      &starpu_interface_variable_ops);
}

/* x[t][z][y][x]: 2 x 3 x 4 x 5, with room for 6 and 5. */
static void arrays_are_cut(void)
{
	int x[2][3][5][6];
	uint32_t nn[4] = {5, 4, 3, 2}, ldn[4] = {1, 6, 30, 90}, at[4] = {4, 3, 2, 1};
	struct starpu_ndim_interface a = {.id = STARPU_NDIM_INTERFACE_ID,
					  .ptr = (uintptr_t)x,
					  .dev_handle = (uintptr_t)x,
					  .nn = nn,
					  .ldn = ldn,
					  .ndim = 4,
					  .elemsize = sizeof(int)},
				     c = {0};
	struct starpu_data_filter f = {.filter_arg = 1};
	struct starpu_tensor_interface t = {0};
	struct starpu_variable_interface element = {0};

	starpu_ndim_filter_block(&a, &c, &f, 1, 2);
	CLAIM(c.ndim == 4 && c.nn[0] == 5 && c.nn[1] == 2 && c.nn[3] == 2);
	CLAIM(c.ldn[0] == 1 && c.ldn[1] == 6 && c.ldn[3] == 90);
	CLAIM(c.ptr == (uintptr_t)&x[0][0][2][0]);
	CLAIM_EQ(c.allocsize, 5 * 2 * 3 * 2 * sizeof(int));
	CLAIM_EQ(c.offset, 12 * sizeof(int));
	free(c.nn);
	free(c.ldn);
	f.filter_arg_ptr = (void *)(uintptr_t)1;
	starpu_ndim_filter_block_shadow(&a, &c, &f, 1, 2);
	CLAIM(c.nn[1] == 3 && c.ptr == (uintptr_t)&x[0][0][1][0]);
	free(c.nn);
	free(c.ldn);
	starpu_ndim_filter_pick_ndim(&a, &c, &f, 2, 3);
	CLAIM(c.ndim == 3 && c.nn[0] == 5 && c.nn[1] == 3 && c.nn[2] == 2);
	CLAIM(c.ldn[1] == 30 && c.ldn[2] == 90);
	CLAIM(c.ptr == (uintptr_t)&x[0][0][3][0]);
	free(c.nn);
	free(c.ldn);
	f.filter_arg = 3;
	starpu_ndim_filter_to_tensor(&a, &t, &f, 1, 2);
	CLAIM(t.nx == 5 && t.ny == 4 && t.nz == 3 && t.nt == 1);
	CLAIM(t.ldy == 6 && t.ldz == 30 && t.ldt == 90);
	CLAIM(t.ptr == (uintptr_t)&x[1][0][0][0]);
	f.filter_arg_ptr = at;
	starpu_ndim_filter_pick_variable(&a, &element, &f, 0, 1);
	CLAIM(element.ptr == (uintptr_t)&x[1][2][3][4]);
}

/* The first four dimensions of the same, and what is picked from them. */
static void arrays_become_others(void)
{
	int x[2][2][3][4][5];
	uint32_t nn[5] = {5, 4, 3, 2, 2}, ldn[5] = {1, 5, 20, 60, 120};
	struct starpu_ndim_interface a = {.id = STARPU_NDIM_INTERFACE_ID,
					  .ptr = (uintptr_t)x,
					  .nn = nn,
					  .ldn = ldn,
					  .ndim = 5,
					  .elemsize = sizeof(int)};
	struct starpu_data_filter f = {.filter_arg = 4};
	struct starpu_tensor_interface t = {0};
	struct starpu_block_interface b = {0};
	struct starpu_matrix_interface m = {0};
	struct starpu_vector_interface v = {0};
	struct starpu_variable_interface e = {0};

	starpu_ndim_filter_5d_pick_tensor(&a, &t, &f, 1, 2);
	CLAIM(t.nt == 2 && t.ldt == 60 && t.ptr == (uintptr_t)&x[1][0][0][0][0]);
	a.ndim = 4;
	f.filter_arg = 1;
	starpu_ndim_filter_4d_pick_block(&a, &b, &f, 3, 4);
	CLAIM(b.nx == 5 && b.ny == 3 && b.nz == 2 && b.ldy == 20 && b.ldz == 60);
	CLAIM(b.ptr == (uintptr_t)&x[0][0][0][3][0]);
	a.ndim = 3;
	f.filter_arg = 0;
	starpu_ndim_filter_to_block(&a, &b, &f, 1, 2);
	CLAIM(b.nx == 2 && b.ny == 4 && b.nz == 3 && b.ldz == 20);
	CLAIM(b.ptr == (uintptr_t)&x[0][0][0][0][3]);
	f.filter_arg = 2;
	f.filter_arg_ptr = (void *)(uintptr_t)1;
	starpu_ndim_filter_3d_pick_matrix(&a, &m, &f, 1, 2);
	CLAIM(m.nx == 5 && m.ny == 4 && m.ld == 5 && m.allocsize == 20 * sizeof(int));
	CLAIM(m.ptr == (uintptr_t)&x[0][0][2][0][0]);
	a.ndim = 2;
	f.filter_arg = 1;
	starpu_ndim_filter_to_matrix(&a, &m, &f, 1, 2);
	CLAIM(m.nx == 5 && m.ny == 2 && m.ptr == (uintptr_t)&x[0][0][0][2][0]);
	starpu_ndim_filter_2d_pick_vector(&a, &v, &f, 1, 2);
	CLAIM(v.nx == 5 && v.ptr == (uintptr_t)&x[0][0][0][2][0]);
	a.ndim = 1;
	f.filter_arg = 0;
	starpu_ndim_filter_to_vector(&a, &v, &f, 1, 2);
	CLAIM(v.nx == 2 && v.ptr == (uintptr_t)&x[0][0][0][0][3]);
	starpu_ndim_filter_1d_pick_variable(&a, &e, &f, 2, 3);
	CLAIM(e.elemsize == sizeof(int) && e.ptr == (uintptr_t)&x[0][0][0][0][3]);
	a.ndim = 0;
	starpu_ndim_filter_to_variable(&a, &e, &f, 0, 1);
	CLAIM(e.ptr == (uintptr_t)x);
}

static void children_have_interfaces(void)
{
	CLAIM(starpu_ndim_filter_to_tensor_child_ops(NULL, 0) ==
	      &starpu_interface_tensor_ops);
	CLAIM(starpu_ndim_filter_to_block_child_ops(NULL, 0) ==
	      &starpu_interface_block_ops);
	CLAIM(starpu_ndim_filter_to_matrix_child_ops(NULL, 0) ==
	      &starpu_interface_matrix_ops);
	CLAIM(starpu_ndim_filter_to_vector_child_ops(NULL, 0) ==
	      &starpu_interface_vector_ops);
	CLAIM(starpu_ndim_filter_to_variable_child_ops(NULL, 0) ==
	      &starpu_interface_variable_ops);
	CLAIM(starpu_ndim_filter_pick_tensor_child_ops(NULL, 0) ==
	      &starpu_interface_tensor_ops);
	CLAIM(starpu_ndim_filter_pick_block_child_ops(NULL, 0) ==
	      &starpu_interface_block_ops);
	CLAIM(starpu_ndim_filter_pick_matrix_child_ops(NULL, 0) ==
	      &starpu_interface_matrix_ops);
	CLAIM(starpu_ndim_filter_pick_vector_child_ops(NULL, 0) ==
	      &starpu_interface_vector_ops);
	CLAIM(starpu_ndim_filter_pick_variable_child_ops(NULL, 0) ==
	      &starpu_interface_variable_ops);
	CLAIM(starpu_bcsr_filter_canonical_block_child_ops(NULL, 0) ==
	      &starpu_interface_matrix_ops);
}

/* Rows of 2, 0, 3 and 1 values, counted from 1 as in Fortran. */
static void sparse_matrices_are_cut(void)
{
	int values[6 * 4];
	uint32_t columns[6], rows[5] = {1, 3, 3, 6, 7};
	struct starpu_csr_interface a = {.id = STARPU_CSR_INTERFACE_ID,
					 .nnz = 6,
					 .nrow = 4,
					 .nzval = (uintptr_t)values,
					 .colind = columns,
					 .rowptr = rows,
					 .ram_colind = columns,
					 .ram_rowptr = rows,
					 .firstentry = 1,
					 .elemsize = sizeof(int)},
				    c = {0};
	struct starpu_bcsr_interface b = {.id = STARPU_BCSR_INTERFACE_ID,
					  .nnz = 6,
					  .nrow = 4,
					  .nzval = (uintptr_t)values,
					  .colind = columns,
					  .rowptr = rows,
					  .ram_rowptr = rows,
					  .firstentry = 1,
					  .r = 2,
					  .c = 2,
					  .elemsize = sizeof(int)},
				     d = {0};
	struct starpu_matrix_interface m = {0};
	struct starpu_data_filter f = {0};

	starpu_csr_filter_vertical_block(&a, &c, &f, 1, 2);
	CLAIM(c.nrow == 2 && c.nnz == 4 && c.firstentry == 3);
	CLAIM(c.rowptr == rows + 2 && c.colind == columns + 2);
	CLAIM(c.ram_rowptr == rows + 2 && c.ram_colind == columns + 2);
	CLAIM(c.nzval == (uintptr_t)(values + 2));
	starpu_bcsr_filter_vertical_block(&b, &d, &f, 1, 2);
	CLAIM(d.nrow == 2 && d.nnz == 4 && d.firstentry == 3 && d.r == 2 && d.c == 2);
	CLAIM(d.nzval == (uintptr_t)(values + 2 * 4));
	b.r = 1;
	b.c = 4;
	starpu_bcsr_filter_canonical_block(&b, &m, &f, 3, 6);
	CLAIM(m.nx == 4 && m.ny == 1 && m.ld == 4 && m.allocsize == 4 * sizeof(int));
	CLAIM(m.ptr == (uintptr_t)(values + 3 * 4));
}

/* ---- values ---------------------------------------------------------- */

/* Tasks on the elements of an array that is cut down to its vectors. */
static void elements_are_reached(void)
{
	struct starpu_data_filter
		halves = {.filter_func = starpu_ndim_filter_block,
			  .nchildren = 2,
			  .filter_arg = 2},
		planes = {.filter_func = starpu_ndim_filter_pick_ndim,
			  .nchildren = 2,
			  .filter_arg = 2},
		rows = {.filter_func = starpu_ndim_filter_2d_pick_vector,
			.nchildren = 3,
			.filter_arg = 1,
			.get_child_ops = starpu_ndim_filter_pick_vector_child_ops};
	uint32_t nn[3] = {5, 3, 4}, ldn[3] = {1, 6, 20};
	int x[4][20];
	starpu_data_handle_t whole;

	start();
	memset(x, 0, sizeof(x));
	starpu_ndim_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t)x, ldn, nn, 3,
				  sizeof(int));
	starpu_data_map_filters(whole, 3, &halves, &planes, &rows);
	for (int i = 0; i < 2 * 2 * 3; i++) {
		starpu_data_handle_t row =
			starpu_data_get_sub_data(whole, 3, i / 6, i / 3 % 2, i % 3);

		CLAIM_EQ(starpu_vector_get_nx(row), 5);
		add_to(row, i + 1);
	}
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_data_unregister(whole);
	for (int z = 0; z < 4; z++)
		for (int i = 0; i < 20; i++)
			CLAIM_EQ(x[z][i], i < 18 && i % 6 < 5 ? z * 3 + i / 6 + 1 : 0);
	starpu_shutdown();
}

static void add_csr(void *buffers[], void *arg)
{
	const uint32_t *rowptr = STARPU_CSR_GET_ROWPTR(buffers[0]);
	const uint32_t *colind = STARPU_CSR_GET_COLIND(buffers[0]);
	uint32_t first = STARPU_CSR_GET_FIRSTENTRY(buffers[0]);
	int *values = (int *)STARPU_CSR_GET_NZVAL(buffers[0]);

	(void)arg;
	for (uint32_t row = 0; row < STARPU_CSR_GET_NROW(buffers[0]); row++)
		for (uint32_t i = rowptr[row] - first; i < rowptr[row + 1] - first; i++)
			values[i] += (int)(100 * (row + 1) + colind[i]);
}

static struct starpu_codelet number_csr = {.cpu_funcs = {add_csr},
					   .nbuffers = 1,
					   .modes = {STARPU_RW},
					   .model = &starpu_perfmodel_nop};

static void rows_are_reached(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_csr_filter_vertical_block,
				       .nchildren = 2};
	int values[6] = {0}, expected[6] = {107, 108, 101, 102, 103, 209};
	uint32_t columns[6] = {7, 8, 1, 2, 3, 9}, rows[5] = {1, 3, 3, 6, 7};
	starpu_data_handle_t whole, planned[2];

	start();
	starpu_csr_data_register(&whole, STARPU_MAIN_RAM, 6, 4, (uintptr_t)values,
				 columns, rows, 1, sizeof(int));
	starpu_data_partition(whole, &f);
	for (int i = 0; i < 2; i++)
		starpu_task_insert(&number_csr, STARPU_RW,
				   starpu_data_get_sub_data(whole, 1, i), 0);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_data_partition_plan(whole, &f, planned);
	CLAIM_EQ(starpu_csr_get_nnz(planned[1]), 4);
	starpu_task_insert(&number_csr, STARPU_RW, planned[1], 0);
	starpu_data_partition_clean(whole, 2, planned);
	starpu_data_unregister(whole);
	for (int i = 0; i < 6; i++)
		CLAIM_EQ(values[i], expected[i] * (i < 2 ? 1 : 2));
	starpu_shutdown();
}

static void add_matrix(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_MATRIX_GET_PTR(buffers[0]), value;

	starpu_codelet_unpack_args(arg, &value);
	for (uint32_t j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
		for (uint32_t i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); i++)
			x[j * STARPU_MATRIX_GET_LD(buffers[0]) + i] += value;
}

static struct starpu_codelet number_matrix = {.cpu_funcs = {add_matrix},
					      .nbuffers = 1,
					      .modes = {STARPU_RW},
					      .model = &starpu_perfmodel_nop};

/* Three block rows of 1, 0 and 2 blocks, cut into rows and then into blocks. */
static void blocks_are_reached(void)
{
	struct starpu_data_filter
		rows = {.filter_func = starpu_bcsr_filter_vertical_block, .nchildren = 3},
		blocks = {.filter_func = starpu_bcsr_filter_canonical_block,
			  .get_nchildren =
				  starpu_bcsr_filter_canonical_block_get_nchildren,
			  .get_child_ops = starpu_bcsr_filter_canonical_block_child_ops};
	int values[3 * 6] = {0}, nblocks[3] = {1, 0, 2};
	uint32_t columns[3] = {0, 0, 1}, rowptr[4] = {0, 1, 1, 3};
	starpu_data_handle_t whole;

	start();
	starpu_bcsr_data_register(&whole, STARPU_MAIN_RAM, 3, 3, (uintptr_t)values,
				  columns, rowptr, 0, 2, 3, sizeof(int));
	starpu_data_map_filters(whole, 2, &rows, &blocks);
	for (int i = 0, value = 1; i < 3; i++) {
		starpu_data_handle_t row = starpu_data_get_sub_data(whole, 1, i);

		CLAIM_EQ(starpu_data_get_nb_children(row), nblocks[i]);
		for (int j = 0; j < nblocks[i]; j++, value++)
			starpu_task_insert(&number_matrix, STARPU_RW,
					   starpu_data_get_sub_data(whole, 2, i, j),
					   STARPU_VALUE, &value, sizeof(value), 0);
	}
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_data_unregister(whole);
	for (int i = 0; i < 3 * 6; i++)
		CLAIM_EQ(values[i], i / 6 + 1);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"chunks are as documented", chunks_are_as_documented},
	{"vectors are cut", vectors_are_cut},
	{"matrices are cut", matrices_are_cut},
	{"blocks are cut", blocks_are_cut},
	{"tensors are cut", tensors_are_cut},
	{"arrays of n dimensions are cut", arrays_are_cut},
	{"arrays of n dimensions become others", arrays_become_others},
	{"children have their interfaces", children_have_interfaces},
	{"sparse matrices are cut", sparse_matrices_are_cut},
	{"elements of a nested array are reached", elements_are_reached},
	{"rows of a sparse matrix are reached", rows_are_reached},
	{"blocks of a sparse matrix are reached", blocks_are_reached},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
