/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Parts of parts: a tensor down to columns, lists of lengths, and parts that are cut
 * again while others are not. */
#include <starpu.h>
#include <stdio.h>

#define NX 4
#define NY 4
#define NZ 2
#define NT 3

static int x[NX * NY * NZ * NT], v[20];

static void inc_vector(void *buffers[], void *arg)
{
	int *p = (int *)STARPU_VECTOR_GET_PTR(buffers[0]), by;
	unsigned i;

	starpu_codelet_unpack_args(arg, &by);
	for (i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		p[i] += by;
}

static void inc_variable(void *buffers[], void *arg)
{
	int by;

	starpu_codelet_unpack_args(arg, &by);
	*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) += by;
}

static struct starpu_codelet vec = {.cpu_funcs = {inc_vector},
				    .nbuffers = 1,
				    .modes = {STARPU_RW}},
			     var = {.cpu_funcs = {inc_variable},
				    .nbuffers = 1,
				    .modes = {STARPU_RW}};

static void add(struct starpu_codelet *cl, starpu_data_handle_t handle, int by)
{
	int ret = starpu_task_insert(cl, STARPU_RW, handle, STARPU_VALUE, &by, sizeof(by),
				     0);

	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
}

static void lists(void)
{
	starpu_data_handle_t vector;
	uint32_t lengths[3] = {5, 12, 3};
	long longs[2] = {4, 8};

	/* lists of lengths, a list in a list, and in two */
	starpu_vector_data_register(&vector, STARPU_MAIN_RAM, (uintptr_t)v, 20,
				    sizeof(int));
	struct starpu_data_filter list = {.filter_func = starpu_vector_filter_list,
					  .nchildren = 3,
					  .filter_arg_ptr = lengths};
	struct starpu_data_filter list_long = {.filter_func =
						       starpu_vector_filter_list_long,
					       .nchildren = 2,
					       .filter_arg_ptr = longs};
	struct starpu_data_filter halves = {.filter_func =
						    starpu_vector_filter_divide_in_2,
					    .nchildren = 2,
					    .filter_arg = 1};
	starpu_data_partition(vector, &list);
	starpu_data_partition(starpu_data_get_sub_data(vector, 1, 1), &list_long);
	starpu_data_partition(starpu_data_get_sub_data(vector, 1, 2), &halves);
	add(&vec, starpu_data_get_sub_data(vector, 1, 0), 1);
	add(&vec, starpu_data_get_sub_data(vector, 2, 1, 0), 2);
	add(&vec, starpu_data_get_sub_data(vector, 2, 1, 1), 3);
	add(&vec, starpu_data_get_sub_data(vector, 2, 2, 0), 4);
	add(&vec, starpu_data_get_sub_data(vector, 2, 2, 1), 5);
	starpu_data_unpartition(vector, STARPU_MAIN_RAM);
	starpu_data_unregister(vector);
}

int main(void)
{
	starpu_data_handle_t tensor;
	int t, z, y, i, bad = 0;

	if (starpu_init(NULL) != 0)
		return 77;
	starpu_tensor_data_register(&tensor, STARPU_MAIN_RAM, (uintptr_t)x, NX, NX * NY,
				    NX * NY * NZ, NX, NY, NZ, NT, sizeof(int));
	struct starpu_data_filter blocks = {
		.filter_func = starpu_tensor_filter_pick_block_t,
		.nchildren = NT,
		.get_child_ops = starpu_tensor_filter_pick_block_child_ops};
	struct starpu_data_filter planes = {
		.filter_func = starpu_block_filter_pick_matrix_z,
		.nchildren = NZ,
		.get_child_ops = starpu_block_filter_pick_matrix_child_ops};
	struct starpu_data_filter columns = {
		.filter_func = starpu_matrix_filter_pick_vector_y,
		.nchildren = NY,
		.get_child_ops = starpu_matrix_filter_pick_vector_child_ops};
	struct starpu_data_filter elements = {
		.filter_func = starpu_vector_filter_pick_variable,
		.nchildren = 2,
		.filter_arg_ptr = (void *)(uintptr_t)1,
		.get_child_ops = starpu_vector_filter_pick_variable_child_ops};
	struct starpu_data_filter *filters[] = {&blocks, &planes, &columns};
	starpu_data_map_filters_parray(tensor, 3, filters);
	for (t = 0; t < NT; t++)
		for (z = 0; z < NZ; z++)
			for (y = 0; y < NY; y++)
				add(&vec, starpu_data_get_sub_data(tensor, 3, t, z, y),
				    100 * t + 10 * z + y);
	/* one column, further */
	starpu_data_handle_t column = starpu_data_get_sub_data(tensor, 3, 1, 1, 2);
	starpu_data_partition(column, &elements);
	add(&var, starpu_data_get_sub_data(tensor, 4, 1, 1, 2, 0), 1000);
	add(&var, starpu_data_get_child(column, 1), 2000);
	starpu_data_unpartition(column, STARPU_MAIN_RAM);
	add(&vec, column, 5000);
	starpu_data_unpartition(tensor, STARPU_MAIN_RAM);
	starpu_data_unregister(tensor);
	lists();
	starpu_shutdown();
	for (i = 0; i < 20; i++)
		bad += v[i] != (i < 5 ? 1 : i < 9 ? 2 : i < 17 ? 3 : i < 18 ? 4 : 5);
	for (i = 0; i < NX * NY * NZ * NT; i++) {
		int expected = 100 * (i / (NX * NY * NZ)) + 10 * (i / (NX * NY) % NZ) +
			       i / NX % NY;

		if (expected == 112)
			expected += 5000 + (i % NX == 1 ? 1000 : i % NX == 2 ? 2000 : 0);
		bad += x[i] != expected;
	}
	if (bad)
		fprintf(stderr, "%d elements are wrong\n", bad);
	return bad != 0;
}
