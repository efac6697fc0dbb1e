/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "mpi/afar.h"
#include "mpi_world.h"

/* What data_gist() shall be, from what it stands for. */
static unsigned expected_gist(starpu_data_handle_t handle)
{
	unsigned gist;

	if (!(handle->flags & DATUM_MPI) || handle->owner < 0)
		return 0;
	gist = ((unsigned)handle->owner + 1) * 4;
	if (handle->flags & (DATUM_CONTRIBUTED | DATUM_KIN))
		gist |= GIST_READERS | GIST_WRITERS;
	if (handle->flags & (DATUM_SENT | DATUM_RECEIVED))
		gist |= GIST_WRITERS;
	return gist;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

static void change(struct mpi *mpi, starpu_data_handle_t handle, uint64_t *random)
{
	int rank = (int)(next_random(random) % WORLD_MAX);

	switch (next_random(random) % 9) {
	case 0:
	case 1:
		registry_register(mpi, handle, TAG_UNSET, rank, 0, "test");
		break;
	case 2:
		registry_register(mpi, handle, TAG_UNSET, OWNER_PER_NODE, 0, "test");
		break;
	case 3:
		cache_note_sent(mpi, handle, rank);
		break;
	case 4:
		cache_note_received(mpi, handle);
		break;
	case 5:
		cache_clear(mpi, handle);
		break;
	case 6:
		if (handle->owner >= 0)
			reduce_note(mpi, 0, handle, rank, "test");
		break;
	case 7:
		reduce_forget(mpi, handle);
		break;
	default:
		cache_flush(mpi, handle);
	}
}

/* After any change, in whatever order, and after the handle's memory is used again. */
static void gist_is_what_the_datum_says(void **state)
{
	enum { HANDLES = 200, CHANGES = 20000 };
	starpu_data_handle_t handles[HANDLES];
	int values[HANDLES];
	uint64_t random = 1;
	struct mpi *mpi;

	(void)state;
	world_open(WORLD_MAX);
	mpi = world_mpi(1);
	for (int i = 0; i < HANDLES; i++) {
		handles[i] = world_vector(1, &values[i], 1);
		assert_int_equal(data_gist(handles[i]), 0);
		registry_register(mpi, handles[i], i, i % 3 - 1, 0, "test");
		assert_int_equal(data_gist(handles[i]), expected_gist(handles[i]));
	}
	for (int i = 0; i < CHANGES; i++) {
		int which = (int)(next_random(&random) % HANDLES);

		if (next_random(&random) % 50 == 0) {
			reduce_forget(mpi, handles[which]);
			world_forget(1, handles[which]);
			assert_int_equal(data_gist(handles[which]), 0);
			handles[which] = world_vector(1, &values[which], 1);
			assert_int_equal(data_gist(handles[which]), 0);
			registry_register(mpi, handles[which], which, which % 5, 0,
					  "test");
		} else {
			change(mpi, handles[which], &random);
		}
		assert_int_equal(data_gist(handles[which]),
				 expected_gist(handles[which]));
	}
	for (int i = 0; i < HANDLES; i++) {
		reduce_forget(mpi, handles[i]);
		world_forget(1, handles[i]);
	}
	world_close();
}

static int nran;

static void count(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	nran++;
}

static struct starpu_codelet writes = {
	.cpu_funcs = {count}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "writes"};

static int insert(struct starpu_codelet *cl, ...)
{
	struct arg_walk args;
	int ret;

	va_start(args.list, cl);
	ret = insert_task(world_mpi(0), 0, cl, &args);
	va_end(args.list);
	return ret;
}

/* What both looks at a list say: the short one as the long one, or that it does not know.
 */
static enum afar look(int is_long, ...)
{
	const struct mpi_comm *members = comm_at(&world_mpi(0)->comms, 0);
	struct arg_walk straight, any;
	enum afar seen, all;

	va_start(straight.list, is_long);
	seen = afar_look_straight(members, straight);
	va_end(straight.list);
	va_start(any.list, is_long);
	all = afar_look(members, &any);
	va_end(any.list);
	if (!is_long || seen != AFAR_LONGER)
		assert_int_equal(seen, all);
	return all;
}

static void look_at_shapes(unsigned a, starpu_data_handle_t x, unsigned b,
			   starpu_data_handle_t y, unsigned c, starpu_data_handle_t z)
{
	enum afar three = look(0, a, x, b, y, c, z, 0), two = look(0, a, x, b, y, 0);

	assert_int_equal(look(0, a, x, b, y, c, z, STARPU_PRIORITY, 1, 0), three);
	assert_int_equal(look(0, a, x, b, y, c, z, STARPU_FLOPS, 2.0, 0), three);
	assert_int_equal(
		look(0, a, x, b, y, c, z, STARPU_PRIORITY, 1, STARPU_FLOPS, 2.0, 0),
		three);
	assert_int_equal(
		look(1, a, x, b, y, c, z, STARPU_FLOPS, 2.0, STARPU_PRIORITY, 1, 0),
		three);
	assert_int_equal(look(1, STARPU_PRIORITY, 1, a, x, b, y, c, z, 0), three);
	assert_int_equal(look(1, a, x, STARPU_FLOPS, 1.0, b, y, STARPU_PRIORITY, 1, c, z,
			      STARPU_NAME, "longer", 0),
			 three);
	assert_int_equal(look(1, a, x, b, y, c, z, c, z, 0), three);
	assert_int_equal(look(0, a, x, b, y, STARPU_PRIORITY, 1, 0), two);
	assert_int_equal(look(0, a, x, b, y, STARPU_FLOPS, 2.0, 0), two);
	look(0, a, x, 0);
	look(0, a, x, STARPU_PRIORITY, 1, STARPU_FLOPS, 2.0, 0);
	look(1, a, x, b, y, c, z, STARPU_EXECUTE_ON_NODE, 1, 0);
	look(1, STARPU_EXECUTE_ON_NODE, 0, a, x, b, y, 0);
	look(1, a, x, STARPU_SCRATCH, z, b, y, 0);
	look(1, a, x, STARPU_REDUX, y, 0);
}

/* Whatever the owners and the modes, and whatever is remembered of the data. */
static void short_lists_are_seen_as_any(void **state)
{
	enum { HANDLES = 6, ROUNDS = 3000 };
	starpu_data_handle_t handles[HANDLES + 1];
	int values[HANDLES], nseen[AFAR_PASSED] = {0};
	uint64_t random = 7;
	struct mpi *mpi;

	(void)state;
	world_open(WORLD_MAX);
	mpi = world_mpi(0);
	/* The last but one never has an owner, and the last one is not known here. */
	for (int i = 0; i < HANDLES; i++) {
		handles[i] = world_vector(0, &values[i], 1);
		if (i < HANDLES - 1)
			registry_register(mpi, handles[i], i, i % 3, 0, "test");
	}
	handles[HANDLES] = NULL;
	for (int i = 0; i < ROUNDS; i++) {
		starpu_data_handle_t at[3];
		unsigned modes[3];

		for (int j = 0; j < 3; j++) {
			at[j] = handles[next_random(&random) % (HANDLES + 1)];
			modes[j] = 1 + (unsigned)(next_random(&random) % 3);
		}
		/* Many have an owner, and are no more than that. */
		if (at[0] && at[0] != handles[HANDLES - 1])
			change(mpi, at[0], &random);
		if (at[1] && at[1] != handles[HANDLES - 1]) {
			reduce_forget(mpi, at[1]);
			cache_clear(mpi, at[1]);
			registry_register(mpi, at[1], TAG_UNSET, i % 3, 0, "test");
		}
		look_at_shapes(modes[0], at[0], modes[1], at[1], modes[2], at[2]);
		nseen[look(0, modes[0], at[0], modes[1], at[1], modes[2], at[2], 0)]++;
	}
	assert_true(nseen[AFAR_UNKNOWN] > 0 && nseen[AFAR_FOREIGN] > 0);
	for (int i = 0; i < HANDLES; i++) {
		reduce_forget(mpi, handles[i]);
		world_forget(0, handles[i]);
	}
	world_close();
}

/* A lie in the datum itself shows what was read of it. */
static void foreign_tasks_read_the_gist_alone(void **state)
{
	starpu_data_handle_t handle;
	struct mpi *mpi;
	int value = 0;

	(void)state;
	world_open(2);
	mpi = world_mpi(0);
	handle = world_vector(0, &value, 1);
	registry_register(mpi, handle, 3, 1, 0, "test");
	handle->owner = 0;
	nran = 0;
	assert_int_equal(insert(&writes, STARPU_PRIORITY, 1, STARPU_RW, handle,
				STARPU_FLOPS, 2.0, STARPU_NAME, "foreign", 0),
			 0);
	fake_run();
	assert_int_equal(nran, 0);
	/* Now it says the same. */
	registry_register(mpi, handle, TAG_UNSET, 0, 0, "test");
	assert_int_equal(insert(&writes, STARPU_RW, handle, 0), 0);
	fake_run();
	assert_int_equal(nran, 1);
	world_forget(0, handle);
	world_close();
}

/* A struct that fits in no pool: the datum is looked at. */
static void large_data_have_none(void **state)
{
	static struct starpu_data_interface_ops large;
	starpu_data_handle_t handle;
	char content[1000] = {0};
	struct mpi *mpi;

	(void)state;
	world_open(2);
	mpi = world_mpi(0);
	large = starpu_interface_variable_ops;
	large.interface_size = sizeof(content);
	handle = data_register(mpi->node, -1, content, &large);
	registry_register(mpi, handle, 3, 1, 0, "test");
	assert_false(data_has_gist(handle));
	assert_int_equal(data_gist(handle), 0);
	cache_note_received(mpi, handle);
	cache_clear(mpi, handle);
	data_free(mpi->node, handle);
	world_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gist_is_what_the_datum_says),
		cmocka_unit_test(foreign_tasks_read_the_gist_alone),
		cmocka_unit_test(short_lists_are_seen_as_any),
		cmocka_unit_test(large_data_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
