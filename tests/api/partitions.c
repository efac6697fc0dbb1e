/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Synchronous partitions, and the parts that each predefined filter makes. */
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

enum { N = 24 };

static void start(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 2;
	conf.precedence_over_environment_variables = 1;
	if (starpu_init(&conf) != 0)
		exit(77);
}

static void add_cpu(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]), value;

	starpu_codelet_unpack_args(arg, &value);
	for (uint32_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] += value;
}

static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};

static void add_to(starpu_data_handle_t handle, int value)
{
	CLAIM_EQ(starpu_task_insert(&add, STARPU_RW, handle, STARPU_VALUE, &value,
				    sizeof(value), 0),
		 0);
}

static void number(int *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] = i;
}

static starpu_data_handle_t vector(int *x, int n)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, x ? STARPU_MAIN_RAM : -1, (uintptr_t)x,
				    (uint32_t)n, sizeof(*x));
	return handle;
}

/* ---- values ---------------------------------------------------------- */

static void parts_are_in_place(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = 5};
	starpu_data_handle_t whole;
	int x[N];

	start();
	number(x, N);
	whole = vector(x, N);
	add_to(whole, 100);
	CLAIM_EQ(starpu_data_get_nb_children(whole), 0);
	starpu_data_partition(whole, &f);
	CLAIM_EQ(starpu_data_get_nb_children(whole), 5);
	for (int i = 0, first = 0; i < 5; i++) {
		starpu_data_handle_t part = starpu_data_get_sub_data(whole, 1, i);

		CLAIM(part == starpu_data_get_child(whole, (unsigned)i));
		CLAIM_EQ(starpu_vector_get_nx(part), i < 4 ? 5 : 4);
		CLAIM(starpu_vector_get_local_ptr(part) == (uintptr_t)(x + first));
		first += (int)starpu_vector_get_nx(part);
		add_to(part, 1000 * (i + 1));
		add_to(part, 10000);
	}
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	CLAIM_EQ(starpu_data_get_nb_children(whole), 0);
	add_to(whole, 100000);
	starpu_data_unregister(whole);
	for (int i = 0; i < N; i++)
		CLAIM_EQ(x[i], 111100 + i + 1000 * (i / 5));
	starpu_shutdown();
}

/* Three levels: 2, then 3 each, then 2 each; twice. */
static void filters_are_mapped(void)
{
	struct starpu_data_filter f[3] = {
		{.filter_func = starpu_vector_filter_block, .nchildren = 2},
		{.filter_func = starpu_vector_filter_block, .nchildren = 3},
		{.filter_func = starpu_vector_filter_block, .nchildren = 2}};
	struct starpu_data_filter *each[3] = {&f[0], &f[1], &f[2]};
	starpu_data_handle_t whole;
	int x[N];

	start();
	memset(x, 0, sizeof(x));
	whole = vector(x, N);
	for (int round = 0; round < 3; round++) {
		if (round == 0)
			starpu_data_map_filters(whole, 3, &f[0], &f[1], &f[2]);
		else if (round == 1)
			starpu_data_map_filters_parray(whole, 3, each);
		else
			starpu_data_map_filters_array(whole, 3, f);
		for (int i = 0; i < 12; i++)
			add_to(starpu_data_get_sub_data(whole, 3, i / 6, i / 2 % 3,
							i % 2),
			       i);
		starpu_data_unpartition(starpu_data_get_sub_data(whole, 1, 1),
					STARPU_MAIN_RAM);
		add_to(starpu_data_get_sub_data(whole, 1, 1), 100);
		starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	}
	starpu_data_unregister(whole);
	for (int i = 0; i < N; i++)
		CLAIM_EQ(x[i], 3 * (i / 2 + (i >= N / 2 ? 100 : 0)));
	starpu_shutdown();
}

/* Memory that comes with the first use, of a vector without a home. */
static void homeless_data_are_partitioned(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = 3};
	starpu_data_handle_t whole;
	int first = -1, last = -1;

	start();
	whole = vector(NULL, N);
	starpu_data_partition(whole, &f);
	for (int i = 0; i < 3; i++) {
		starpu_data_handle_t part = starpu_data_get_child(whole, (unsigned)i);

		starpu_data_acquire(part, STARPU_W);
		for (int k = 0; k < N / 3; k++)
			((int *)starpu_data_get_local_ptr(part))[k] = 100 * i + k;
		starpu_data_release(part);
		add_to(part, 5);
	}
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_data_acquire(whole, STARPU_R);
	first = ((int *)starpu_data_get_local_ptr(whole))[0];
	last = ((int *)starpu_data_get_local_ptr(whole))[N - 1];
	starpu_data_release(whole);
	CLAIM_EQ(first, 5);
	CLAIM_EQ(last, 200 + N / 3 - 1 + 5);
	starpu_data_unregister(whole);
	starpu_shutdown();
}

/* An application's own: every other element cannot be, but pairs from both ends can. */
static void ends_filter(void *father_interface, void *child_interface,
			struct starpu_data_filter *f, unsigned id, unsigned nparts)
{
	struct starpu_vector_interface *father = father_interface,
				       *child = child_interface;
	unsigned nx = father->nx / nparts, at = (nparts - 1 - id) * nx;

	(void)f;
	child->nx = nx;
	child->elemsize = father->elemsize;
	if (father->dev_handle) {
		if (father->ptr)
			child->ptr = father->ptr + at * father->elemsize;
		child->dev_handle = father->dev_handle;
		child->offset = father->offset + at * father->elemsize;
	}
}

static unsigned half(struct starpu_data_filter *f, starpu_data_handle_t handle)
{
	(void)f;
	return starpu_vector_get_nx(handle) / 2;
}

static void own_filters_are_called(void)
{
	struct starpu_data_filter f = {.filter_func = ends_filter, .get_nchildren = half};
	starpu_data_handle_t whole;
	int x[N];

	start();
	number(x, N);
	whole = vector(x, N);
	starpu_data_partition(whole, &f);
	CLAIM_EQ(starpu_data_get_nb_children(whole), N / 2);
	for (int i = 0; i < N / 2; i++)
		add_to(starpu_data_get_child(whole, (unsigned)i), 100 * i);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_data_unregister(whole);
	for (int i = 0; i < N; i++)
		CLAIM_EQ(x[i], i + 100 * (N / 2 - 1 - i / 2));
	starpu_shutdown();
}

static void parts_inherit(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = 4};
	int x[N] = {0}, at[5] = {0};
	starpu_data_handle_t whole;

	start();
	whole = vector(x, N);
	starpu_data_set_coordinates(whole, 2, 7, 8);
	starpu_data_set_sequential_consistency_flag(whole, 0);
	starpu_data_partition(whole, &f);
	CLAIM_EQ(
		starpu_data_get_coordinates_array(starpu_data_get_child(whole, 3), 5, at),
		3);
	CLAIM_EQ(at[0], 7);
	CLAIM_EQ(at[2], 3);
	CLAIM_EQ(starpu_data_get_sequential_consistency_flag(
			 starpu_data_get_child(whole, 1)),
		 0);
	starpu_data_set_sequential_consistency_flag(whole, 1);
	CLAIM_EQ(starpu_data_get_sequential_consistency_flag(
			 starpu_data_get_child(whole, 1)),
		 1);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_data_unregister(whole);
	starpu_shutdown();
}

/* ---- what the filters make ------------------------------------------- */

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

/* Parts of another interface than the parent's, on columns that are apart. */
static void columns_are_vectors(void)
{
	struct starpu_data_filter f = {
		.filter_func = starpu_matrix_filter_pick_vector_y,
		.nchildren = 3,
		.get_child_ops = starpu_matrix_filter_pick_vector_child_ops};
	starpu_data_handle_t whole;
	int x[3][4];

	start();
	memset(x, 0, sizeof(x));
	starpu_matrix_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t)x, 4, 2, 3,
				    sizeof(int));
	starpu_data_partition(whole, &f);
	for (int i = 0; i < 3; i++)
		add_to(starpu_data_get_child(whole, (unsigned)i), i + 1);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_data_unregister(whole);
	for (int j = 0; j < 3; j++)
		for (int i = 0; i < 4; i++)
			CLAIM_EQ(x[j][i], i < 2 ? j + 1 : 0);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"parts of a vector are in place", parts_are_in_place},
	{"filters are mapped level by level", filters_are_mapped},
	{"data without a home are partitioned", homeless_data_are_partitioned},
	{"own filters are called", own_filters_are_called},
	{"parts inherit", parts_inherit},
	{"chunks are as documented", chunks_are_as_documented},
	{"vectors are cut", vectors_are_cut},
	{"matrices are cut", matrices_are_cut},
	{"blocks are cut", blocks_are_cut},
	{"tensors are cut", tensors_are_cut},
	{"columns of a matrix are vectors", columns_are_vectors},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
