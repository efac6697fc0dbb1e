/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A program for tests/cli/report.py as slow.c is, slow for reasons that lie in how it
 * uses the library.
 *
 * usage: misuse overwrites|updates|coarse|cores|context|acquires|messages|barriers
 */
#include <stdlib.h>
#include <string.h>

#include <starpu_mpi.h>

enum { NTASKS = 40 };

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static double microseconds(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 1000;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON,
					.cost_function = microseconds};
static struct starpu_codelet updates = {.cpu_funcs = {nothing},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.model = &model,
					.name = "update"};
static struct starpu_codelet writes = {.cpu_funcs = {nothing},
				       .nbuffers = 1,
				       .modes = {STARPU_W},
				       .model = &model,
				       .name = "write"};
static struct starpu_codelet reads = {.cpu_funcs = {nothing},
				      .nbuffers = 2,
				      .modes = {STARPU_RW, STARPU_R},
				      .model = &model,
				      .name = "read"};
static struct starpu_codelet updates_both = {.cpu_funcs = {nothing},
					     .nbuffers = 2,
					     .modes = {STARPU_RW, STARPU_RW},
					     .model = &model,
					     .name = "update both"};

static starpu_data_handle_t data[NTASKS];
static int rank, size;

/* All intermediate values are kept in one place. */
static void run_overwrites(void)
{
	for (int i = size; i < NTASKS; i++) {
		starpu_task_insert(&writes, STARPU_W, data[rank], 0);
		starpu_task_insert(&reads, STARPU_RW, data[i], STARPU_R, data[rank], 0);
	}
}

/* What tasks share is only read, but they do not say so. */
static void run_updates(void)
{
	for (int i = size; i < NTASKS; i++)
		starpu_task_insert(&updates_both, STARPU_RW, data[i], STARPU_RW,
				   data[rank], 0);
}

static void run_coarse(void)
{
	for (int i = 0; i < 3; i++)
		starpu_task_insert(&updates, STARPU_RW, data[i], 0);
}

static void run_cores(void)
{
	for (int i = 0; i < 4 * NTASKS; i++)
		starpu_task_insert(&updates, STARPU_RW, data[i % NTASKS], 0);
}

static void run_context(void)
{
	int worker = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
	unsigned context = starpu_sched_ctx_create(
		&worker, 1, "small", STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);

	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&updates, STARPU_RW, data[i], STARPU_SCHED_CTX,
				   context, 0);
	starpu_task_wait_for_all();
	starpu_sched_ctx_delete(context);
}

static void run_acquires(void)
{
	for (int i = 0; i < NTASKS; i++) {
		starpu_task_insert(&updates, STARPU_RW, data[i], 0);
		starpu_data_acquire(data[i], STARPU_R);
		starpu_data_release(data[i]);
	}
}

/* Two ranks take turns to make a value for both. */
static void run_messages(void)
{
	for (int i = 0; i < NTASKS; i++)
		if (rank == i % 2) {
			starpu_task_insert(&updates, STARPU_RW, data[i], 0);
			starpu_mpi_send(data[i], 1 - rank, 100, MPI_COMM_WORLD);
		} else if (rank < 2) {
			starpu_mpi_recv(data[i], 1 - rank, 100, MPI_COMM_WORLD,
					MPI_STATUS_IGNORE);
			starpu_task_insert(&updates, STARPU_RW, data[i], 0);
		}
}

static void run_barriers(void)
{
	for (int i = 0; i < NTASKS; i++) {
		for (int k = 0; k < 5 && rank == i % size; k++)
			starpu_task_insert(&updates, STARPU_RW, data[0], 0);
		starpu_mpi_wait_for_all(MPI_COMM_WORLD);
		starpu_task_wait_for_all();
		starpu_mpi_barrier(MPI_COMM_WORLD);
	}
}

static const struct {
	const char *why;
	void (*run)(void);
} cases[] = {{"overwrites", run_overwrites}, {"updates", run_updates},
	     {"coarse", run_coarse},         {"cores", run_cores},
	     {"context", run_context},       {"acquires", run_acquires},
	     {"messages", run_messages},     {"barriers", run_barriers}};

int main(int argc, char **argv)
{
	const char *why = argc > 1 ? argv[1] : "";
	static float values[NTASKS];

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	rank = starpu_mpi_world_rank();
	size = starpu_mpi_world_size();
	for (int i = 0; i < NTASKS; i++)
		starpu_vector_data_register(&data[i], STARPU_MAIN_RAM,
					    (uintptr_t)&values[i], 1, sizeof(values[0]));
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(cases[i].why, why) == 0)
			cases[i].run();
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++)
		starpu_data_unregister(data[i]);
	starpu_mpi_shutdown();
	return 0;
}
