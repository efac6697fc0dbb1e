/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "mpi/afar.h"
#include "mpi_world.h"

/*
 * Random programs on random numbers of ranks give the values of a sequential run:
 * tasks on owners and elsewhere, cache flushes, changes of owner, cache off and on,
 * ranks that leave out what does not concern them, small and large data.
 */

enum { DATA = 6, STEPS = 120, PROGRAMS = 60, LARGE_INTS = 100 };

enum step_kind {
	STEP_ADD,
	STEP_SET,
	STEP_FLUSH,
	STEP_FLUSH_ALL,
	STEP_MIGRATE,
	STEP_CACHE
};

struct step {
	enum step_kind kind;
	int from, to, node, priority, is_sync;
};

struct program {
	int nranks;
	unsigned nints[DATA];
	struct step steps[STEPS];
	int *values[WORLD_MAX][DATA];
	starpu_data_handle_t handles[WORLD_MAX][DATA];
};

static void add_to(void *buffers[], void *arg)
{
	const int *from = (const int *)STARPU_VECTOR_GET_PTR(buffers[0]);
	int *to = (int *)STARPU_VECTOR_GET_PTR(buffers[1]);
	unsigned n = STARPU_VECTOR_GET_NX(buffers[1]);

	(void)arg;
	for (unsigned i = 0; i < n; i++)
		to[i] = (int)(3u * (unsigned)to[i] + (unsigned)from[0] + 1u);
}

/* Written without being read. */
static void set_to(void *buffers[], void *arg)
{
	const int *from = (const int *)STARPU_VECTOR_GET_PTR(buffers[0]);
	int *to = (int *)STARPU_VECTOR_GET_PTR(buffers[1]);
	unsigned n = STARPU_VECTOR_GET_NX(buffers[1]);

	(void)arg;
	for (unsigned i = 0; i < n; i++)
		to[i] = (int)((unsigned)from[0] + 7u);
}

static struct starpu_codelet cl_add = {
	.cpu_funcs = {add_to}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "add_to"};
static struct starpu_codelet cl_set = {
	.cpu_funcs = {set_to}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "set_to"};

static unsigned random_below(unsigned *seed, unsigned limit)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % limit;
}

static void invent(struct program *program, unsigned *seed)
{
	program->nranks = 1 + (int)random_below(seed, 5);
	for (int i = 0; i < DATA; i++)
		program->nints[i] = random_below(seed, 2) ? 1 : LARGE_INTS;
	for (int i = 0; i < STEPS; i++) {
		struct step *step = &program->steps[i];
		unsigned kind = random_below(seed, 40);

		step->kind = kind < 26   ? STEP_ADD
			     : kind < 33 ? STEP_SET
			     : kind < 36 ? STEP_FLUSH
			     : kind < 37 ? STEP_FLUSH_ALL
			     : kind < 39 ? STEP_MIGRATE
					 : STEP_CACHE;
		step->from = (int)random_below(seed, DATA);
		step->to = (step->from + 1 + (int)random_below(seed, DATA - 1)) % DATA;
		step->node = -1;
		if (random_below(seed, 3) == 0 || step->kind == STEP_MIGRATE)
			step->node = (int)random_below(seed, (unsigned)program->nranks);
		step->priority = (int)random_below(seed, 5);
		step->is_sync = random_below(seed, 8) == 0;
	}
}

static int insert(struct mpi *mpi, struct starpu_codelet *cl, ...)
{
	struct arg_walk args;
	int ret;

	va_start(args.list, cl);
	ret = insert_task(mpi, 0, cl, &args);
	va_end(args.list);
	return ret;
}

static void migrate(struct mpi *mpi, starpu_data_handle_t handle, int node)
{
	struct fetch fetch = {.handle = handle, .to = node, .what = "test"};

	if (handle->owner == node)
		return;
	insert_fetch(mpi, &fetch);
	registry_register(mpi, handle, TAG_UNSET, node, 0, "test");
	cache_flush(mpi, handle);
}

static void play_step(struct program *program, int rank, const struct step *step)
{
	struct mpi *mpi = world_mpi(rank);
	starpu_data_handle_t from = program->handles[rank][step->from];
	starpu_data_handle_t to = program->handles[rank][step->to];
	int sync = step->is_sync ? STARPU_SSEND : 0, ret = 0;

	switch (step->kind) {
	case STEP_ADD:
		ret = insert(mpi, &cl_add, STARPU_EXECUTE_ON_NODE, step->node,
			     STARPU_R | sync, from, STARPU_RW, to, STARPU_PRIORITY,
			     step->priority, 0);
		break;
	case STEP_SET:
		ret = insert(mpi, &cl_set, STARPU_R, from, STARPU_W, to,
			     STARPU_EXECUTE_ON_NODE, step->node, 0);
		break;
	case STEP_FLUSH:
		cache_flush(mpi, from);
		break;
	case STEP_FLUSH_ALL:
		cache_flush_all(mpi);
		break;
	case STEP_MIGRATE:
		migrate(mpi, from, step->node);
		break;
	case STEP_CACHE:
		cache_set(mpi, !mpi->cache.is_on);
		break;
	}
	assert_int_equal(ret, 0);
}

static void play_alone(const struct program *program, int *values)
{
	for (int i = 0; i < DATA; i++)
		values[i] = i;
	for (int i = 0; i < STEPS; i++) {
		const struct step *step = &program->steps[i];

		if (step->kind == STEP_ADD)
			values[step->to] = (int)(3u * (unsigned)values[step->to] +
						 (unsigned)values[step->from] + 1u);
		else if (step->kind == STEP_SET)
			values[step->to] = (int)((unsigned)values[step->from] + 7u);
	}
}

static void open_data(struct program *program)
{
	for (int rank = 0; rank < program->nranks; rank++) {
		for (int i = 0; i < DATA; i++) {
			int owner = i % program->nranks, *values = NULL;

			if (owner == rank) {
				values = calloc(program->nints[i], sizeof(int));
				for (unsigned k = 0; k < program->nints[i]; k++)
					values[k] = i;
			}
			program->values[rank][i] = values;
			program->handles[rank][i] =
				world_vector(rank, values, program->nints[i]);
			registry_register(world_mpi(rank), program->handles[rank][i],
					  1000 + i, owner, 0, "test");
		}
	}
}

static void check_data(struct program *program, int number)
{
	int expected[DATA];

	play_alone(program, expected);
	for (int i = 0; i < DATA; i++) {
		int owner = program->handles[0][i]->owner;
		starpu_data_handle_t handle = program->handles[owner][i];
		const int *values;

		fake_select(owner);
		assert_int_equal(starpu_data_acquire(handle, STARPU_R), 0);
		values = starpu_data_get_local_ptr(handle);
		for (unsigned k = 0; k < program->nints[i]; k++)
			if (values[k] != expected[i])
				fail_msg("program %d, %d ranks: datum %d is %d, expected "
					 "%d",
					 number, program->nranks, i, values[k],
					 expected[i]);
		starpu_data_release(handle);
	}
}

static void close_data(struct program *program)
{
	for (int rank = 0; rank < program->nranks; rank++) {
		assert_int_equal(world_mpi(rank)->engine.npending, 0);
		assert_int_equal(world_mpi(rank)->engine.earlies.unmatched.nentries, 0);
		for (int i = 0; i < DATA; i++) {
			world_forget(rank, program->handles[rank][i]);
			free(program->values[rank][i]);
		}
		assert_true(list_is_empty(&world_mpi(rank)->engine.all));
	}
}

static void random_programs(void **state)
{
	struct program *program = calloc(1, sizeof(*program));
	unsigned seed = 20261;

	(void)state;
	for (int number = 0; number < PROGRAMS; number++) {
		invent(program, &seed);
		world_open(program->nranks);
		open_data(program);
		/* One rank after the other submits all: the others' messages are early.
		 */
		for (int rank = program->nranks - 1; rank >= 0; rank--) {
			for (int i = 0; i < STEPS; i++)
				play_step(program, rank, &program->steps[i]);
			if (number % 2)
				fake_run();
		}
		fake_run();
		check_data(program, number);
		close_data(program);
		world_close();
	}
	free(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
