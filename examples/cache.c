/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What the cache of values saves: tasks on all nodes read a number of node 0 several
 * times between its changes.  A node that has the value is not sent it again; without the
 * cache it travels for each task.
 */
#include <stdio.h>

#include <orrery.h>
#include <starpu_mpi.h>

enum { CHANGES = 3, READS = 10, NUMBER_TAG = 0, FIRST_SUM_TAG = 1, MAX_NODES = 64 };

static void add_one_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) += 1;
}

static void add_to_sum_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*(int *)STARPU_VARIABLE_GET_PTR(buffers[1]) +=
		*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet add_one = {.cpu_funcs = {add_one_cpu},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.model = &starpu_perfmodel_nop,
					.name = "add_one"};
static struct starpu_codelet add_to_sum = {.cpu_funcs = {add_to_sum_cpu},
					   .nbuffers = 2,
					   .modes = {STARPU_R, STARPU_RW},
					   .model = &starpu_perfmodel_nop,
					   .name = "add_to_sum"};

/* Messages that this node sends meanwhile. */
static unsigned long count_messages(starpu_data_handle_t number,
				    const starpu_data_handle_t *sums, int size)
{
	struct orrery_stats before, after;

	orrery_get_stats(&before);
	for (int change = 0; change < CHANGES; change++) {
		starpu_mpi_task_insert(MPI_COMM_WORLD, &add_one, STARPU_RW, number, 0);
		for (int read = 0; read < READS; read++)
			for (int node = 0; node < size; node++)
				starpu_mpi_task_insert(MPI_COMM_WORLD, &add_to_sum,
						       STARPU_R, number, STARPU_RW,
						       sums[node], 0);
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	orrery_get_stats(&after);
	return after.messages_sent - before.messages_sent;
}

int main(int argc, char **argv)
{
	starpu_data_handle_t number, sums[MAX_NODES];
	int rank, size, number_value = 0, sum = 0, expected = 0, nwrong = 0;
	unsigned long with, without, nreaders;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	if (size > MAX_NODES)
		size = MAX_NODES;
	starpu_variable_data_register(&number, rank == 0 ? STARPU_MAIN_RAM : -1,
				      (uintptr_t)(rank == 0 ? &number_value : NULL),
				      sizeof(int));
	starpu_mpi_data_register(number, NUMBER_TAG, 0);
	for (int node = 0; node < size; node++) {
		starpu_variable_data_register(
			&sums[node], node == rank ? STARPU_MAIN_RAM : -1,
			(uintptr_t)(node == rank ? &sum : NULL), sizeof(int));
		starpu_mpi_data_register(sums[node], FIRST_SUM_TAG + node, node);
	}

	with = count_messages(number, sums, size);
	starpu_mpi_cache_set(0); /* on all nodes, at the same place */
	without = count_messages(number, sums, size);
	starpu_mpi_cache_set(1);

	starpu_data_unregister(number);
	for (int node = 0; node < size; node++)
		starpu_data_unregister(sums[node]);
	for (int change = 1; change <= 2 * CHANGES; change++)
		expected += READS * change;
	if (!orrery_is_simulated() || starpu_getenv_number_default("ORRERY_EXECUTE", 0))
		nwrong += rank < size && sum != expected;
	nreaders = rank == 0 ? (unsigned long)size - 1 : 0;
	nwrong += with != CHANGES * nreaders || without != CHANGES * READS * nreaders;
	if (rank == 0 || nwrong)
		printf("cache: node %d sent %lu messages with the cache, %lu without; "
		       "%d wrong\n",
		       rank, with, without, nwrong);
	starpu_mpi_shutdown();
	return nwrong != 0;
}
