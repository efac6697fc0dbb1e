/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Mistakes with partitions: each ends the process with a message that says what was found
 * and what to do.  Each is made in a process of its own.
 */
#include "dying.h"

enum { N = 12 };

static int x[N], others[N];
static starpu_data_handle_t whole, half[2], third[3];
static struct starpu_data_filter halves = {.filter_func = starpu_vector_filter_block,
					   .nchildren = 2};
static struct starpu_data_filter thirds = {.filter_func = starpu_vector_filter_block,
					   .nchildren = 3};

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet codelet = {
	.cpu_funcs = {nothing}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "use"};

static void write_to(starpu_data_handle_t handle)
{
	starpu_task_insert(&codelet, STARPU_RW, handle, 0);
}

static void plan_both(void)
{
	starpu_data_partition_plan(whole, &halves, half);
	starpu_data_partition_plan(whole, &thirds, third);
}

/* ---- synchronous ----------------------------------------------------- */

static void partitioned_in_task(void)
{
	starpu_data_partition(whole, &halves);
	write_to(whole);
}

static void partitioned_acquired(void)
{
	starpu_data_partition(whole, &halves);
	starpu_data_acquire(whole, STARPU_R);
}

static void partitioned_twice(void)
{
	starpu_data_partition(whole, &halves);
	starpu_data_partition(whole, &thirds);
}

static void partitioned_after_plan(void)
{
	plan_both();
	starpu_data_partition(whole, &halves);
}

static void partitioned_unregistered(void)
{
	starpu_data_partition(whole, &halves);
	starpu_data_unregister(whole);
}

static void part_unregistered(void)
{
	starpu_data_partition(whole, &halves);
	starpu_data_unregister(starpu_data_get_child(whole, 0));
}

static void no_such_part(void)
{
	starpu_data_partition(whole, &halves);
	starpu_data_get_sub_data(whole, 1, 2);
}

static void negative_part(void)
{
	starpu_data_partition(whole, &halves);
	starpu_data_get_sub_data(whole, 1, -1);
}

static void too_deep(void)
{
	starpu_data_partition(whole, &halves);
	starpu_data_get_sub_data(whole, 2, 0, 0);
}

static void never_partitioned(void)
{
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
}

static void gathered_nowhere(void)
{
	starpu_data_partition(whole, &halves);
	starpu_data_unpartition(whole, 77);
}

static void more_parts_than_elements(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = N + 1};

	starpu_data_partition(whole, &f);
}

static void no_parts(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block};

	starpu_data_partition(whole, &f);
}

static void no_function(void)
{
	struct starpu_data_filter f = {.nchildren = 2};

	starpu_data_partition(whole, &f);
}

static void too_long_list(void)
{
	uint32_t lengths[2] = {N, 1};
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_list,
				       .nchildren = 2,
				       .filter_arg_ptr = lengths};

	starpu_data_partition(whole, &f);
}

static void picked_outside(void)
{
	struct starpu_data_filter f = {
		.filter_func = starpu_vector_filter_pick_variable,
		.nchildren = 1,
		.get_child_ops = starpu_vector_filter_pick_variable_child_ops,
		.filter_arg_ptr = (void *)(uintptr_t)N};

	starpu_data_partition(whole, &f);
}

static void list_of_nothing(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_list,
				       .nchildren = 2};

	starpu_data_partition(whole, &f);
}

static void element_nowhere(void)
{
	struct starpu_data_filter f = {
		.filter_func = starpu_matrix_filter_pick_variable,
		.nchildren = 1,
		.get_child_ops = starpu_matrix_filter_pick_variable_child_ops};
	starpu_data_handle_t matrix;

	starpu_matrix_data_register(&matrix, STARPU_MAIN_RAM, (uintptr_t)others, 3, 3, 4,
				    sizeof others[0]);
	starpu_data_partition(matrix, &f);
}

static void filter_of_another_kind(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_matrix_filter_block,
				       .nchildren = 2};

	starpu_data_partition(whole, &f);
}

static void vector_as_rows(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_csr_filter_vertical_block,
				       .nchildren = 2};

	starpu_data_partition_plan(whole, &f, half);
}

static void parts_of_another_kind(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_pick_variable,
				       .nchildren = 2};

	starpu_data_partition(whole, &f);
}

/* ---- copies and acquisitions ------------------------------------------ */

static void copied_into_less(void)
{
	starpu_data_handle_t less;

	starpu_vector_data_register(&less, -1, 0, N - 1, sizeof x[0]);
	starpu_data_cpy(less, whole, 0, NULL, NULL);
}

/* Of as many elements, but its columns are elsewhere. */
static void copied_into_another_shape(void)
{
	starpu_data_handle_t row, square;

	starpu_matrix_data_register(&row, STARPU_MAIN_RAM, (uintptr_t)others, 1, 1, 9,
				    sizeof others[0]);
	starpu_matrix_data_register(&square, -1, 0, 3, 3, 3, sizeof others[0]);
	starpu_data_cpy(square, row, 0, NULL, NULL);
}

static void reader_goes_on_writing(void)
{
	starpu_data_acquire(whole, STARPU_R);
	starpu_data_release_to(whole, STARPU_W);
}

/* ---- planned --------------------------------------------------------- */

static void planned_after_partition(void)
{
	starpu_data_partition(whole, &halves);
	plan_both();
}

static void not_open(void)
{
	starpu_data_set_sequential_consistency_flag(whole, 0);
	plan_both();
	write_to(half[0]);
}

static void open_another_way(void)
{
	starpu_data_set_sequential_consistency_flag(whole, 0);
	plan_both();
	starpu_data_partition_submit(whole, 2, half);
	write_to(third[0]);
}

static void open_for_reading(void)
{
	starpu_data_set_sequential_consistency_flag(whole, 0);
	plan_both();
	starpu_data_partition_readonly_submit(whole, 2, half);
	write_to(half[0]);
}

static void whole_while_open(void)
{
	starpu_data_set_sequential_consistency_flag(whole, 0);
	plan_both();
	starpu_data_partition_submit(whole, 2, half);
	write_to(whole);
}

static void whole_and_part(void)
{
	plan_both();
	starpu_task_insert(&codelet, STARPU_RW, half[0], STARPU_R, whole, 0);
}

static void opened_twice(void)
{
	plan_both();
	starpu_data_partition_submit(whole, 2, half);
	starpu_data_partition_submit(whole, 2, half);
}

static void closed_twice(void)
{
	plan_both();
	starpu_data_unpartition_submit(whole, 2, half, -1);
}

static void upgraded_closed(void)
{
	plan_both();
	starpu_data_partition_readwrite_upgrade_submit(whole, 2, half);
}

static void cleaned_twice(void)
{
	plan_both();
	starpu_data_partition_clean(whole, 2, half);
	starpu_data_partition_clean(whole, 2, half);
}

static void cleaned_in_use(void)
{
	starpu_data_handle_t inner[2];

	plan_both();
	starpu_data_partition_plan(half[1], &halves, inner);
	starpu_data_partition_clean(whole, 2, half);
}

static void other_parts(void)
{
	plan_both();
	starpu_data_partition_submit(whole, 2, third);
}

static void parts_of_another(void)
{
	starpu_data_handle_t another;

	plan_both();
	starpu_vector_data_register(&another, STARPU_MAIN_RAM, (uintptr_t)others, N,
				    sizeof others[0]);
	starpu_data_partition_submit(another, 2, half);
}

static void planned_unregistered(void)
{
	plan_both();
	starpu_data_unregister_submit(whole);
}

static void gathered_elsewhere(void)
{
	plan_both();
	starpu_data_partition_submit(whole, 2, half);
	starpu_data_unpartition_submit(whole, 2, half, 5);
}

static void plan_left_below(void)
{
	starpu_data_partition(whole, &halves);
	starpu_data_partition_plan(starpu_data_get_child(whole, 1), &thirds, third);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
}

static void cut_array(void (*func)(STARPU_FILTER_PARAMS_), unsigned dimension)
{
	struct starpu_data_filter filter = {
		.filter_func = func, .nchildren = 2, .filter_arg = dimension};
	uint32_t nn[3] = {3, 2, 2}, ldn[3] = {1, 3, 6};
	starpu_data_handle_t array;

	starpu_ndim_data_register(&array, STARPU_MAIN_RAM, (uintptr_t)others, ldn, nn, 3,
				  sizeof others[0]);
	starpu_data_partition(array, &filter);
}

static void array_of_other_dimensions(void)
{
	cut_array(starpu_ndim_filter_4d_pick_block, 0);
}

static void array_without_dimension(void)
{
	cut_array(starpu_ndim_filter_block, 3);
}

static void array_is_no_element(void)
{
	cut_array(starpu_ndim_filter_to_variable, 0);
}

static void array_with_gaps(void)
{
	cut_array(starpu_ndim_filter_3d_pick_matrix, 0);
}

static void rows_nowhere(void)
{
	struct starpu_data_filter filter = {
		.filter_func = starpu_csr_filter_vertical_block, .nchildren = 2};
	starpu_data_handle_t csr;

	starpu_csr_data_register(&csr, -1, 4, 2, 0, NULL, NULL, 0, sizeof others[0]);
	starpu_data_partition(csr, &filter);
}

/* ---- filters of the application's ------------------------------------- */

/* Two parts of seven elements each, and two that end behind the parent. */
static void sevens(void *father, void *child, struct starpu_data_filter *f, unsigned id,
		   unsigned nparts)
{
	const struct starpu_vector_interface *from = father;
	struct starpu_vector_interface *to = child;
	unsigned first = f->filter_arg + id * 5;

	(void)nparts;
	*to = *from;
	to->nx = 7;
	to->ptr = from->ptr + first * from->elemsize;
	to->dev_handle = to->ptr;
}

static struct starpu_data_filter overlapping = {.filter_func = sevens, .nchildren = 2};

static void told_of_overlap(void)
{
	starpu_data_partition(whole, &overlapping);
	starpu_task_insert(&codelet, STARPU_R, starpu_data_get_child(whole, 0), 0);
	write_to(starpu_data_get_child(whole, 1));
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_shutdown();
}

static void told_of_overlap_planned(void)
{
	starpu_data_partition_plan(whole, &overlapping, half);
	write_to(half[1]);
	starpu_data_partition_clean(whole, 2, half);
	starpu_shutdown();
}

static void told_of_bytes_outside(void)
{
	struct starpu_data_filter f = {
		.filter_func = sevens, .nchildren = 2, .filter_arg = 3};

	starpu_data_partition_plan(whole, &f, half);
	starpu_data_partition_clean(whole, 2, half);
	starpu_shutdown();
}

/* Columns of a matrix, which lie between each other. */
static void told_of_columns(void)
{
	struct starpu_data_filter f = {.filter_func =
					       starpu_matrix_filter_vertical_block_shadow,
				       .nchildren = 2,
				       .filter_arg_ptr = (void *)(uintptr_t)1};
	starpu_data_handle_t matrix;

	starpu_matrix_data_register(&matrix, STARPU_MAIN_RAM, (uintptr_t)others, 2, 2, 6,
				    sizeof others[0]);
	starpu_data_partition_plan(matrix, &f, half);
	write_to(half[0]);
	starpu_data_partition_clean(matrix, 2, half);
	starpu_shutdown();
}

/* Boxes of 2 in each of ndim dimensions of 3, from both ends: they share the middle. */
static void corners(void *father, void *child, struct starpu_data_filter *f, unsigned id,
		    unsigned nparts)
{
	const struct starpu_ndim_interface *from = father;
	struct starpu_ndim_interface *to = child;
	size_t first = 0;

	(void)nparts;
	*to = *from;
	to->nn = malloc(from->ndim * sizeof(*to->nn));
	to->ldn = malloc(from->ndim * sizeof(*to->ldn));
	for (size_t i = 0; i < from->ndim; i++) {
		to->nn[i] = 2 - (uint32_t)f->filter_arg;
		to->ldn[i] = from->ldn[i];
		first += id * from->ldn[i] * (1 + f->filter_arg);
	}
	to->allocsize = to->elemsize << from->ndim;
	if (from->ptr)
		to->ptr = to->dev_handle = from->ptr + first * from->elemsize;
}

static void write_to_corners(size_t ndim, unsigned apart)
{
	uint32_t nn[] = {3, 3, 3, 3}, ldn[] = {1, 4, 17, 60};
	struct starpu_data_filter f = {
		.filter_func = corners, .nchildren = 2, .filter_arg = apart};
	static int cells[300];
	starpu_data_handle_t box;

	starpu_ndim_data_register(&box, STARPU_MAIN_RAM, (uintptr_t)cells, ldn, nn, ndim,
				  sizeof(*cells));
	starpu_data_partition_plan(box, &f, half);
	write_to(half[1]);
	starpu_data_partition_clean(box, 2, half);
	starpu_data_unregister(box);
}

static void told_of_boxes_in_3_dimensions(void)
{
	write_to_corners(3, 1); /* These do not. */
	write_to_corners(3, 0);
	starpu_shutdown();
}

static void told_of_boxes_in_4_dimensions(void)
{
	write_to_corners(4, 0);
	starpu_shutdown();
}

/* It forgets the last one. */
static void two_of_three(void *father, void *child, struct starpu_data_filter *f,
			 unsigned id, unsigned nparts)
{
	if (id < 2)
		starpu_vector_filter_block(father, child, f, id, nparts);
}

static void told_of_a_missing_part(void)
{
	struct starpu_data_filter f = {.filter_func = two_of_three, .nchildren = 3};

	starpu_data_partition(whole, &f);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_shutdown();
}

/* Unpartitioning waits for who holds a part, which is the same thread. */
static void part_acquired(void)
{
	starpu_data_partition(whole, &halves);
	starpu_data_acquire(starpu_data_get_child(whole, 1), STARPU_R);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
}

static void unpartition_whole(void *arg)
{
	(void)arg;
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
}

static void unpartitioned_in_callback(void)
{
	starpu_data_partition(whole, &halves);
	starpu_task_insert(&codelet, STARPU_RW, starpu_data_get_child(whole, 0),
			   STARPU_CALLBACK, unpartition_whole, 0);
	starpu_task_wait_for_all();
}

/* ---- longer than strides of 32 bits ---------------------------------- */

/* Where the library has memory from before. */
static void block_beyond_strides(void)
{
	struct starpu_block_interface block = {.nx = 1 << 16,
					       .ny = 1 << 16,
					       .nz = 2,
					       .elemsize = 1},
				      before = block;

	starpu_interface_block_ops.reuse_data_on_node(&block, &before, STARPU_MAIN_RAM);
}

static void tensor_beyond_strides(void)
{
	struct starpu_tensor_interface tensor = {.nx = 1 << 16,
						 .ny = 1 << 15,
						 .nz = 4,
						 .nt = 2,
						 .elemsize = 1},
				       before = tensor;

	starpu_interface_tensor_ops.reuse_data_on_node(&tensor, &before, STARPU_MAIN_RAM);
}

static void array_beyond_strides(void)
{
	uint32_t n[] = {1 << 16, 1 << 16, 2}, ld[3];
	struct starpu_ndim_interface array = {
		.nn = n, .ldn = ld, .ndim = 3, .elemsize = 1};
	struct starpu_ndim_interface before = array;

	starpu_interface_ndim_ops.reuse_data_on_node(&array, &before, STARPU_MAIN_RAM);
}

static void one_beyond_strides(void)
{
	struct starpu_tensor_interface tensor = {.nx = 1 << 16,
						 .ny = 1 << 15,
						 .nz = 4,
						 .nt = 1,
						 .elemsize = 1},
				       before = tensor;

	starpu_interface_tensor_ops.reuse_data_on_node(&tensor, &before, STARPU_MAIN_RAM);
	if (tensor.ldz != 1u << 31)
		abort();
}

/* ---- what must be said ------------------------------------------------ */

static const struct dying mistakes[] = {
#define CASE(name, found, remedy)                                                        \
	{                                                                                \
#name, {found, remedy }, name, 0                                         \
	}
#define TOLD(name, found, remedy)                                                        \
	{                                                                                \
#name, {found, remedy }, name, 1                                         \
	}
	TOLD(told_of_overlap, "task \"use\"", "part 0 and part 1 do"),
	TOLD(told_of_overlap_planned, "whose parts share bytes", "only read parts"),
	TOLD(told_of_bytes_outside, "lies at bytes 32 to 60", "of which there are 48"),
	TOLD(told_of_columns, "whose parts share bytes", "part 0 and part 1 do"),
	TOLD(told_of_boxes_in_3_dimensions, "whose parts share bytes",
	     "part 0 and part 1 do"),
	TOLD(told_of_boxes_in_4_dimensions, "whose parts share bytes",
	     "part 0 and part 1 do"),
	TOLD(told_of_a_missing_part, "part 2 of", "is missing: filter_func"),
	CASE(part_acquired, "nothing can happen any more", "data"),
	CASE(unpartitioned_in_callback, "starpu_data_unpartition", "callback"),
	CASE(partitioned_in_task, "task \"use\"", "starpu_data_unpartition()"),
	CASE(partitioned_acquired, "which is partitioned into 2 parts",
	     "starpu_data_get_sub_data"),
	CASE(partitioned_twice, "starpu_data_partition: data", "starpu_data_unpartition"),
	CASE(partitioned_after_plan, "has planned partitions",
	     "starpu_data_partition_plan()"),
	CASE(partitioned_unregistered, "has a partition into 2 parts",
	     "starpu_data_unpartition()"),
	CASE(part_unregistered, "is a part of another datum",
	     "starpu_data_unpartition()"),
	CASE(no_such_part, "has no part 2", "expected 0 to 1"),
	CASE(negative_part, "has no part -1", "expected 0 to 1"),
	CASE(too_deep, "is not partitioned", "starpu_data_partition()"),
	CASE(never_partitioned, "starpu_data_unpartition: data",
	     "starpu_data_partition() has not been called"),
	CASE(gathered_nowhere, "memory node 77", "expected 0"),
	CASE(more_parts_than_elements, "12 elements cannot be cut into 13 parts",
	     "nchildren"),
	CASE(no_parts, "into 0 parts", "expected at least 1"),
	CASE(no_function, "starpu_data_partition: the filter", "no filter_func"),
	CASE(too_long_list, "together 13", "12 elements"),
	CASE(picked_outside, "at position 12", "filter_arg_ptr"),
	CASE(list_of_nothing, "starpu_vector_filter_list: filter_arg_ptr is NULL",
	     "lengths of the parts"),
	CASE(element_nowhere, "filter_arg_ptr is NULL", "positions"),
	CASE(filter_of_another_kind, "the datum is a vector", "what is a matrix"),
	CASE(vector_as_rows, "the datum is a vector", "what is a CSR matrix"),
	CASE(parts_of_another_kind, "made part 0 of data", "get_child_ops"),
	CASE(copied_into_less, "starpu_data_cpy: data", "48 bytes of 44"),
	CASE(copied_into_another_shape, "does not fit into data", "same shape"),
	CASE(reader_goes_on_writing, "acquired with mode 0x1", "cannot become 0x2"),
	CASE(planned_after_partition, "is partitioned into 2 parts",
	     "starpu_data_unpartition()"),
	CASE(not_open, "whose partition is not open", "starpu_data_partition_submit()"),
	CASE(open_another_way, "whose partition is not open", "a part of data"),
	CASE(open_for_reading, "open for reading only", "a part of data"),
	CASE(whole_while_open, "into 2 parts is open",
	     "starpu_data_unpartition_submit()"),
	CASE(whole_and_part, "task \"use\"", "in separate tasks"),
	CASE(opened_twice, "into 2 parts is open", "expected: closed"),
	CASE(closed_twice, "into 2 parts is closed", "expected: open"),
	CASE(upgraded_closed, "is closed", "starpu_data_partition_readonly_submit"),
	CASE(cleaned_twice, "children[0] is no part", "starpu_data_partition_clean()"),
	CASE(cleaned_in_use, "have partitions themselves", "clean those before"),
	CASE(other_parts, "these 2 handles are not the 3 parts",
	     "starpu_data_partition_plan() wrote"),
	CASE(parts_of_another, "no part of a planned partition of",
	     "starpu_data_partition_plan() wrote"),
	CASE(planned_unregistered, "starpu_data_unregister_submit: data",
	     "starpu_data_partition_clean()"),
	CASE(gathered_elsewhere, "memory node 5", "or -1"),
	CASE(plan_left_below, "part 1, data", "starpu_data_partition_clean()"),
	CASE(array_of_other_dimensions, "an array of 3 dimensions", "expected 4"),
	CASE(array_without_dimension, "dimension 3 of an array of 3", "from 0"),
	CASE(array_is_no_element, "an array of 3 dimensions in 2 parts", "nchildren"),
	CASE(array_with_gaps, "are 3 elements apart", "filter_arg"),
	CASE(rows_nowhere, "(rowptr) is not in main memory", "home node 0"),
	CASE(block_beyond_strides, "them 4294967296 elements apart", "32 bits"),
	CASE(tensor_beyond_strides, "them 8589934592 elements apart", "32 bits"),
	CASE(array_beyond_strides, "them 4294967296 elements apart", "32 bits"),
	{"what no stride is for may be longer", {"", ""}, one_beyond_strides, 1},
};

static void prepare(void)
{
	starpu_vector_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t)x, N,
				    sizeof x[0]);
}

int main(void)
{
	return dying_run(mistakes, sizeof mistakes / sizeof mistakes[0], prepare);
}
