/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/data/shapes.h"
#include "mpi_world.h"

/* A matrix of so many rows somewhere else. */
static starpu_data_handle_t elsewhere(int rank, unsigned nx)
{
	struct starpu_matrix_interface matrix = {.id = STARPU_MATRIX_INTERFACE_ID,
						 .nx = nx,
						 .ny = 3,
						 .ld = nx,
						 .elemsize = 4,
						 .allocsize = (size_t)nx * 12};

	return data_register(world_mpi(rank)->node, -1, &matrix,
			     &starpu_interface_matrix_ops);
}

static const struct starpu_matrix_interface *struct_of(starpu_data_handle_t handle)
{
	return handle->interface;
}

static int is_shared(starpu_data_handle_t handle)
{
	return shapes_have(handle->node->world, handle->interface);
}

/* Those of all nodes, until a node uses the datum: then it has one of its own. */
static void unused_data_share_a_struct(void **state)
{
	starpu_data_handle_t a, b, c;
	struct starpu_matrix_interface *own;

	(void)state;
	world_open(2);
	a = elsewhere(0, 5);
	b = elsewhere(1, 5);
	c = elsewhere(1, 6);
	assert_true(is_shared(a) && is_shared(b) && is_shared(c));
	assert_ptr_equal(a->interface, b->interface);
	assert_ptr_not_equal(b->interface, c->interface);
	assert_int_equal(struct_of(c)->nx, 6);

	own = data_copy(a, STARPU_MAIN_RAM)->interface;
	assert_false(is_shared(a));
	assert_ptr_equal(a->interface, own);
	assert_int_equal(own->nx, 5);
	own->ptr = 4096;
	assert_int_equal(struct_of(b)->ptr, 0);
	assert_true(is_shared(b));
	own->ptr = 0;

	world_forget(0, a);
	world_forget(1, b);
	world_forget(1, c);
	world_close();
}

/* Memory that the application gave, and what reaches it, is nobody else's. */
static void data_with_memory_share_nothing(void **state)
{
	starpu_data_handle_t here, there;
	int values[4] = {0};

	(void)state;
	world_open(2);
	here = world_vector(0, values, 4);
	there = data_register(world_mpi(1)->node, -1, here->interface, here->ops);
	assert_false(is_shared(here));
	assert_true(is_shared(there));
	assert_int_equal(((struct starpu_vector_interface *)there->interface)->ptr, 0);
	world_forget(0, here);
	world_forget(1, there);
	world_close();
}

/* One node shares with nobody; and more shapes than are kept have their own. */
static void shares_end(void **state)
{
	enum { MANY = 1000 };
	starpu_data_handle_t handles[MANY];
	int nshared = 0;

	(void)state;
	world_open(1);
	handles[0] = elsewhere(0, 5);
	assert_false(is_shared(handles[0]));
	world_forget(0, handles[0]);
	world_close();

	world_open(2);
	for (unsigned i = 0; i < MANY; i++) {
		handles[i] = elsewhere(0, i + 1);
		nshared += is_shared(handles[i]);
	}
	assert_in_range(nshared, 16, 64);
	for (int round = 0; round < 2; round++)
		for (unsigned i = 0; i < MANY; i++) {
			assert_int_equal(struct_of(handles[i])->nx, i + 1);
			assert_int_equal(data_bytes(handles[i]), 12 * (i + 1));
			if (i % 3 == 0)
				data_body(handles[i]);
			assert_true(round == 0 || i % 3 || !is_shared(handles[i]));
		}
	for (int i = 0; i < MANY; i++)
		world_forget(0, handles[i]);
	world_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unused_data_share_a_struct),
		cmocka_unit_test(data_with_memory_share_nothing),
		cmocka_unit_test(shares_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
