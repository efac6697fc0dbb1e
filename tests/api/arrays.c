/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Arrays of four and of any number of dimensions, parts of larger ones. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

static void start(void)
{
	claim_start(2);
}

#define ON_RAM(handle) starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM)

/* ---- a model of any array -------------------------------------------- */

enum { MAX_DIMS = 8, MAX_CELLS = 40000 };

struct array {
	size_t ndim;
	uint32_t nn[MAX_DIMS], ldn[MAX_DIMS];
	int ncells; /* with the gaps */
};

/* Gaps after each dimension that gap has a bit for. */
static struct array array_of(size_t ndim, const uint32_t *nn, unsigned gaps)
{
	struct array array = {.ndim = ndim, .ncells = 1};

	for (size_t i = 0; i < ndim; i++) {
		array.nn[i] = nn[i];
		array.ldn[i] = (uint32_t)array.ncells;
		array.ncells *= (int)(nn[i] + (gaps >> i & 1));
	}
	return array;
}

static int elements(const struct array *array)
{
	int n = 1;

	for (size_t i = 0; i < array->ndim; i++)
		n *= (int)array->nn[i];
	return n;
}

/* Where the number'th element is. */
static int cell_of(size_t ndim, const uint32_t *nn, const uint32_t *ldn, int number)
{
	int at = 0;

	for (size_t i = 0; i < ndim; i++) {
		at += number % (int)nn[i] * (int)ldn[i];
		number /= (int)nn[i];
	}
	return at;
}

/* Element i is i, what lies between them is gap. */
static void fill(const struct array *array, int *cells, int gap)
{
	for (int i = 0; i < array->ncells; i++)
		cells[i] = gap;
	for (int i = 0; i < elements(array); i++)
		cells[cell_of(array->ndim, array->nn, array->ldn, i)] = i;
}

static int is_filled(const struct array *array, const int *cells, int gap)
{
	static int expected[MAX_CELLS];

	fill(array, expected, gap);
	return memcmp(expected, cells, (size_t)array->ncells * sizeof(int)) == 0;
}

static void number_ndim(void *buffers[], void *arg)
{
	int *cells = (int *)STARPU_NDIM_GET_PTR(buffers[0]);
	size_t ndim = STARPU_NDIM_GET_NDIM(buffers[0]);
	uint32_t *nn = STARPU_NDIM_GET_NN(buffers[0]);
	int n = 1;

	(void)arg;
	STARPU_NDIM_CHECK(buffers[0]);
	for (size_t i = 0; i < ndim; i++)
		n *= (int)nn[i];
	for (int i = 0; i < n; i++)
		cells[cell_of(ndim, nn, STARPU_NDIM_GET_LDN(buffers[0]), i)] = i;
}

static struct starpu_codelet number = {.cpu_funcs = {number_ndim},
				       .nbuffers = 1,
				       .modes = {STARPU_W},
				       .model = &starpu_perfmodel_nop,
				       .name = "number"};

static starpu_data_handle_t register_at(struct array *array, int *cells)
{
	starpu_data_handle_t handle;

	starpu_ndim_data_register(&handle, cells ? STARPU_MAIN_RAM : -1, (uintptr_t)cells,
				  cells ? array->ldn : NULL, array->nn, array->ndim,
				  sizeof(int));
	return handle;
}

/* From a task to what the library allocates, to the gapped array, through a pack. */
static void take_around(size_t ndim, const uint32_t *nn, unsigned gaps)
{
	static int cells[MAX_CELLS];
	struct array array = array_of(ndim, nn, gaps);
	size_t bytes = (size_t)elements(&array) * sizeof(int);
	starpu_data_handle_t apart = register_at(&array, cells);
	starpu_data_handle_t dense = register_at(&array, NULL);
	starpu_ssize_t count = 0;
	void *packed;

	CLAIM(array.ncells <= MAX_CELLS);
	memset(cells, -1, sizeof(cells));
	CLAIM_EQ(starpu_task_insert(&number, STARPU_W, dense, 0), 0);
	CLAIM_EQ(starpu_data_cpy(apart, dense, 0, NULL, NULL), 0);
	starpu_data_acquire(dense, STARPU_RW);
	starpu_data_acquire(apart, STARPU_RW);
	CLAIM(is_filled(&array, cells, -1));
	memset((void *)starpu_ndim_get_local_ptr(dense), 0, bytes);
	CLAIM_EQ(starpu_data_pack(apart, NULL, &count), 0);
	CLAIM_EQ(count, bytes);
	CLAIM_EQ(starpu_data_pack(apart, &packed, &count), 0);
	CLAIM_EQ(count, bytes);
	CLAIM_EQ(starpu_data_peek(dense, packed, bytes), 0);
	CLAIM_EQ(starpu_data_peek(dense, packed, bytes + 4), -EINVAL);
	for (int i = 0; i < elements(&array); i++)
		CLAIM_EQ(((int *)starpu_ndim_get_local_ptr(dense))[i], i);
	for (int i = 0; i < array.ncells; i++)
		cells[i] = -2;
	CLAIM_EQ(starpu_data_unpack(apart, packed, bytes), 0);
	CLAIM(is_filled(&array, cells, -2));
	starpu_data_release(dense);
	starpu_data_release(apart);
	starpu_data_unregister(dense);
	starpu_data_unregister(apart);
}

static void any_number_of_dimensions_keeps_its_gaps(void)
{
	static const uint32_t few[] = {5, 3, 4, 2, 3, 2, 2, 2}, one[] = {7},
			      ones[] = {1, 1, 1, 4}, none[] = {3, 0, 2};

	start();
	for (size_t ndim = 0; ndim <= MAX_DIMS; ndim++) {
		take_around(ndim, few, 0);
		take_around(ndim, few, ~0u);
		take_around(ndim, few, 0x55);
	}
	take_around(1, one, 1);
	take_around(4, ones, 7);
	take_around(3, none, 1);
	starpu_shutdown();
}

static void arrays_are_described(void)
{
	static int cells[MAX_CELLS];
	static const uint32_t nn[] = {3, 4, 5};
	struct array array = array_of(3, nn, 1), same = array_of(3, nn, 0);
	struct starpu_data_interface_ops *ops = &starpu_interface_ndim_ops;
	starpu_data_handle_t a, b, scalar;
	uint32_t hash = starpu_hash_crc32c_be(sizeof(int), 0);
	char text[64];

	start();
	a = register_at(&array, cells);
	array.nn[0] = array.ldn[1] = 0; /* Copied. */
	b = register_at(&same, NULL);
	starpu_ndim_data_register(&scalar, -1, 0, NULL, NULL, 0, 8);
	CLAIM_EQ(starpu_data_get_interface_id(a), STARPU_NDIM_INTERFACE_ID);
	CLAIM_EQ(starpu_ndim_get_ndim(a), 3);
	CLAIM_EQ(starpu_ndim_get_elemsize(a), sizeof(int));
	CLAIM_EQ(starpu_ndim_get_ni(a, 0), 3);
	CLAIM_EQ(starpu_ndim_get_nn(a)[2], 5);
	CLAIM_EQ(starpu_ndim_get_local_ldi(a, 1), 4);
	CLAIM_EQ(starpu_ndim_get_local_ldn(a)[2], 16);
	CLAIM_EQ(starpu_ndim_get_local_ptr(a), (uintptr_t)cells);
	CLAIM_EQ(starpu_ndim_get_local_ldi(b, 2), 12);
	CLAIM_EQ(STARPU_NDIM_GET_ELEMSIZE(ON_RAM(a)), sizeof(int));
	CLAIM_EQ(STARPU_NDIM_GET_DEV_HANDLE(ON_RAM(a)), (uintptr_t)cells);
	CLAIM_EQ(STARPU_NDIM_GET_OFFSET(ON_RAM(a)), 0);
	CLAIM_EQ(starpu_data_get_size(a), 240);
	CLAIM_EQ(starpu_data_get_alloc_size(a), 240);
	CLAIM_EQ(starpu_data_get_size(scalar), 8);
	CLAIM_EQ(ops->compare(ON_RAM(a), ON_RAM(b)), 1);
	CLAIM_EQ(ops->compare(ON_RAM(a), ON_RAM(scalar)), 0);
	CLAIM_EQ(ops->alloc_compare(ON_RAM(a), ON_RAM(b)), 1);
	for (int i = 0; i < 3; i++)
		hash = starpu_hash_crc32c_be(nn[i], hash);
	CLAIM_EQ(ops->footprint(a), hash);
	CLAIM_EQ(ops->footprint(b), hash);
	CLAIM_EQ(ops->describe(ON_RAM(a), text, sizeof(text)), 8);
	CLAIM(strcmp(text, "N3x4x5x4") == 0);
	CLAIM_EQ(ops->describe(ON_RAM(a), text, 4), 8);
	CLAIM(strcmp(text, "N3x") == 0);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	starpu_data_unregister(scalar);
	starpu_shutdown();
}

/* The struct itself can be written down and read again. */
static void shapes_travel_apart(void)
{
	static int cells[60];
	static const uint32_t nn[] = {3, 4, 5};
	struct array array = array_of(3, nn, 0);
	struct starpu_data_interface_ops *ops = &starpu_interface_ndim_ops;
	struct starpu_ndim_interface *again;
	starpu_data_handle_t a, b;
	starpu_ssize_t count, used;
	void *meta, *unpacked;

	start();
	a = register_at(&array, cells);
	CLAIM_EQ(ops->pack_meta(ON_RAM(a), &meta, &count), 0);
	CLAIM_EQ(ops->unpack_meta(&unpacked, meta, &used), 0);
	again = unpacked;
	CLAIM_EQ(used, count);
	CLAIM(again->nn != starpu_ndim_get_nn(a));
	CLAIM_EQ(ops->compare(again, ON_RAM(a)), 1);
	CLAIM_EQ(again->ldn[2], 12);
	CLAIM_EQ(ops->free_meta(again), 0);
	free(again);
	free(meta);
	/* A second one of the kind has arrays of its own. */
	starpu_data_register_same(&b, a);
	starpu_data_unregister(a);
	CLAIM_EQ(starpu_ndim_get_ni(b, 2), 5);
	CLAIM_EQ(starpu_task_insert(&number, STARPU_W, b, 0), 0);
	starpu_data_unregister(b);
	starpu_shutdown();
}

/* ---- tensors --------------------------------------------------------- */

static void number_tensor(void *buffers[], void *arg)
{
	void *tensor = buffers[0];
	uint32_t nn[] = {STARPU_TENSOR_GET_NX(tensor), STARPU_TENSOR_GET_NY(tensor),
			 STARPU_TENSOR_GET_NZ(tensor), STARPU_TENSOR_GET_NT(tensor)};
	uint32_t ldn[] = {1, STARPU_TENSOR_GET_LDY(tensor), STARPU_TENSOR_GET_LDZ(tensor),
			  STARPU_TENSOR_GET_LDT(tensor)};
	int *cells = (int *)STARPU_TENSOR_GET_PTR(tensor);

	(void)arg;
	STARPU_TENSOR_CHECK(tensor);
	for (int i = 0; i < (int)(nn[0] * nn[1] * nn[2] * nn[3]); i++)
		cells[cell_of(4, nn, ldn, i)] = i;
}

static struct starpu_codelet number_it = {.cpu_funcs = {number_tensor},
					  .nbuffers = 1,
					  .modes = {STARPU_W},
					  .model = &starpu_perfmodel_nop,
					  .name = "number tensor"};

static void tensors_are_described(void)
{
	static int cells[MAX_CELLS];
	struct starpu_data_interface_ops *ops = &starpu_interface_tensor_ops;
	starpu_data_handle_t a, b;
	uint32_t hash = 0;
	char text[64];

	start();
	starpu_tensor_data_register(&a, STARPU_MAIN_RAM, (uintptr_t)cells, 4, 20, 140, 3,
				    4, 5, 6, sizeof(int));
	starpu_tensor_data_register(&b, -1, 0, 0, 0, 0, 3, 4, 5, 6, sizeof(int));
	CLAIM_EQ(starpu_data_get_interface_id(a), STARPU_TENSOR_INTERFACE_ID);
	CLAIM_EQ(starpu_tensor_get_nx(a), 3);
	CLAIM_EQ(starpu_tensor_get_ny(a), 4);
	CLAIM_EQ(starpu_tensor_get_nz(a), 5);
	CLAIM_EQ(starpu_tensor_get_nt(a), 6);
	CLAIM_EQ(starpu_tensor_get_local_ldy(a), 4);
	CLAIM_EQ(starpu_tensor_get_local_ldz(a), 20);
	CLAIM_EQ(starpu_tensor_get_local_ldt(a), 140);
	CLAIM_EQ(starpu_tensor_get_local_ptr(a), (uintptr_t)cells);
	CLAIM_EQ(starpu_tensor_get_elemsize(a), sizeof(int));
	CLAIM_EQ(STARPU_TENSOR_GET_ELEMSIZE(ON_RAM(a)), sizeof(int));
	CLAIM_EQ(STARPU_TENSOR_GET_DEV_HANDLE(ON_RAM(a)), (uintptr_t)cells);
	CLAIM_EQ(STARPU_TENSOR_GET_OFFSET(ON_RAM(a)), 0);
	CLAIM_EQ(starpu_data_get_size(a), 1440);
	CLAIM_EQ(ops->compare(ON_RAM(a), ON_RAM(b)), 1);
	for (uint32_t n = 3; n <= 6; n++)
		hash = starpu_hash_crc32c_be(n, hash);
	CLAIM_EQ(ops->footprint(b), hash);
	ops->describe(ON_RAM(a), text, sizeof(text));
	CLAIM(strcmp(text, "T3x4x5x6x4") == 0);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	starpu_shutdown();
}

static void tensors_keep_what_lies_between(void)
{
	static int cells[MAX_CELLS];
	static const uint32_t nn[] = {3, 4, 5, 6};
	struct array array = array_of(4, nn, 5);
	starpu_data_handle_t apart, dense;

	start();
	memset(cells, -1, sizeof(cells));
	starpu_tensor_data_register(&apart, STARPU_MAIN_RAM, (uintptr_t)cells,
				    array.ldn[1], array.ldn[2], array.ldn[3], 3, 4, 5, 6,
				    sizeof(int));
	starpu_data_register_same(&dense, apart);
	CLAIM_EQ(starpu_task_insert(&number_it, STARPU_W, dense, 0), 0);
	CLAIM_EQ(starpu_data_cpy(apart, dense, 0, NULL, NULL), 0);
	starpu_data_acquire(dense, STARPU_R);
	CLAIM_EQ(starpu_tensor_get_local_ldy(dense), 3);
	CLAIM_EQ(starpu_tensor_get_local_ldz(dense), 12);
	CLAIM_EQ(starpu_tensor_get_local_ldt(dense), 60);
	for (int i = 0; i < 360; i++)
		CLAIM_EQ(((int *)starpu_tensor_get_local_ptr(dense))[i], i);
	starpu_data_release(dense);
	starpu_data_acquire(apart, STARPU_R);
	CLAIM(is_filled(&array, cells, -1));
	starpu_data_release(apart);
	starpu_data_unregister(apart);
	starpu_data_unregister(dense);
	starpu_shutdown();
}

/* ---- memory of the application's for data without a home --------------- */

static void copies_go_to_given_memory(void)
{
	static int cells[MAX_CELLS], few[100], one;
	static const uint32_t nn[] = {3, 4, 5, 6};
	struct array array = array_of(4, nn, 5), six;
	static const uint32_t twos[] = {2, 2, 2, 2, 2, 2};
	starpu_data_handle_t tensor, ndim, block, matrix, vector, variable;

	start();
	memset(cells, -1, sizeof(cells));
	starpu_tensor_data_register(&tensor, -1, 0, 0, 0, 0, 3, 4, 5, 6, sizeof(int));
	starpu_tensor_ptr_register(tensor, 0, (uintptr_t)cells, (uintptr_t)cells, 0,
				   array.ldn[1], array.ldn[2], array.ldn[3]);
	CLAIM_EQ(starpu_data_test_if_allocated_on_node(tensor, 0), 1);
	CLAIM_EQ(starpu_task_insert(&number_it, STARPU_W, tensor, 0), 0);
	starpu_data_acquire(tensor, STARPU_R);
	CLAIM(is_filled(&array, cells, -1));
	starpu_data_release(tensor);
	starpu_data_unregister(tensor);

	memset(cells, -1, sizeof(cells));
	six = array_of(6, twos, ~0u);
	ndim = register_at(&six, NULL);
	starpu_ndim_ptr_register(ndim, 0, (uintptr_t)cells, (uintptr_t)cells, 0, six.ldn);
	CLAIM_EQ(starpu_task_insert(&number, STARPU_W, ndim, 0), 0);
	starpu_data_acquire(ndim, STARPU_R);
	CLAIM(is_filled(&six, cells, -1));
	starpu_data_release(ndim);
	starpu_data_unregister(ndim);

	starpu_block_data_register(&block, -1, 0, 0, 0, 2, 2, 2, sizeof(int));
	starpu_block_ptr_register(block, 0, (uintptr_t)few, (uintptr_t)few, 0, 3, 9);
	starpu_matrix_data_register(&matrix, -1, 0, 2, 2, 2, sizeof(int));
	starpu_matrix_ptr_register(matrix, 0, (uintptr_t)few, (uintptr_t)few, 0, 7);
	starpu_vector_data_register(&vector, -1, 0, 4, sizeof(int));
	starpu_vector_ptr_register(vector, 0, (uintptr_t)few, (uintptr_t)few, 0);
	starpu_variable_data_register(&variable, -1, 0, sizeof(int));
	starpu_variable_ptr_register(variable, 0, (uintptr_t)&one, (uintptr_t)&one, 0);
	CLAIM_EQ(starpu_block_get_local_ldz(block), 9);
	CLAIM_EQ(starpu_matrix_get_local_ld(matrix), 7);
	starpu_data_acquire(vector, STARPU_W);
	CLAIM(starpu_data_get_local_ptr(vector) == few);
	starpu_data_release(vector);
	starpu_data_acquire(variable, STARPU_W);
	*(int *)starpu_variable_get_local_ptr(variable) = 12;
	starpu_data_release(variable);
	starpu_data_unregister(block);
	starpu_data_unregister(matrix);
	starpu_data_unregister(vector);
	starpu_data_unregister(variable);
	CLAIM_EQ(one, 12);
	starpu_shutdown();
}

/* ---- for interfaces of the application's ------------------------------ */

static void copies_of_any_dimension_are_helped(void)
{
	static const uint32_t few[] = {3, 2, 4, 2, 3, 2};
	static int from[MAX_CELLS], to[MAX_CELLS];

	start();
	for (size_t ndim = 0; ndim <= 6; ndim++) {
		struct array a = array_of(ndim, few, 0x2a), b = array_of(ndim, few, 0x15);

		fill(&a, from, -1);
		for (int i = 0; i < b.ncells; i++)
			to[i] = -2;
		CLAIM_EQ(starpu_interface_copynd((uintptr_t)from, 0, 0, (uintptr_t)to, 0,
						 0, sizeof(int), ndim, a.nn, a.ldn, b.ldn,
						 NULL),
			 0);
		CLAIM(is_filled(&b, to, -2));
	}
	starpu_shutdown();
}

static void copies_of_blocks_are_helped(void)
{
	static const char from[] = "abXcdXXefXghXX|ijXklXXmnXopXX";
	char to[40];
	double date = 0;

	start();
	memset(to, '.', sizeof(to));
	CLAIM_EQ(starpu_interface_copy4d((uintptr_t)from, 0, 0, (uintptr_t)to, 1, 0, 2, 2,
					 3, 2, 2, 7, 5, 2, 15, 10, NULL),
		 0);
	CLAIM(memcmp(to, ".abcd.efgh.ijkl.mnop.", 21) == 0);
	CLAIM_EQ(starpu_interface_copy3d((uintptr_t)from, 15, 0, (uintptr_t)to, 0, 0, 2,
					 2, 3, 2, 2, 7, 4, NULL),
		 0);
	CLAIM(memcmp(to, "ijklmnop", 8) == 0);
	CLAIM_EQ(starpu_interface_copy2d((uintptr_t)from, 0, 0, (uintptr_t)to, 0, 0, 1, 3,
					 3, 1, NULL),
		 0);
	CLAIM(memcmp(to, "acXlmnop", 8) == 0);
	starpu_interface_start_driver_copy_async(0, 0, &date);
	starpu_interface_data_copy(0, 0, 8);
	starpu_interface_end_driver_copy_async(0, 0, date);
	CLAIM(date >= 0);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"any number of dimensions keeps its gaps",
	 any_number_of_dimensions_keeps_its_gaps},
	{"arrays are described", arrays_are_described},
	{"shapes travel apart", shapes_travel_apart},
	{"tensors are described", tensors_are_described},
	{"tensors keep what lies between", tensors_keep_what_lies_between},
	{"copies go to given memory", copies_go_to_given_memory},
	{"copies of any dimension are helped", copies_of_any_dimension_are_helped},
	{"copies of blocks are helped", copies_of_blocks_are_helped},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
