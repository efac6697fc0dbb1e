/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Pi by dice: each node throws, node 0 gathers the counts of all. */
#include <starpu_mpi.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TASKS 8 /* on each node */
#define SHOTS 20000L

static int gathered;

static void shoot_cpu(void *descr[], void *arg)
{
	long *inside = (long *)STARPU_VARIABLE_GET_PTR(descr[0]), shots, i;
	unsigned short seed[3];

	starpu_codelet_unpack_args(arg, &shots, seed);
	for (i = 0; i < shots; i++) {
		double x = starpu_erand48(seed), y = starpu_erand48(seed);

		*inside += x * x + y * y < 1;
	}
}

static struct starpu_codelet shoot_cl = {
	.cpu_funcs = {shoot_cpu},
	.cpu_funcs_name = {"shoot_cpu"},
	.nbuffers = 1,
	.modes = {STARPU_RW},
	.name = "shoot",
	.model = &starpu_perfmodel_nop,
};

static void arrived(void *arg)
{
	(void)arg;
	STARPU_ATOMIC_ADD(&gathered, 1);
}

static void shoot_all(starpu_data_handle_t *handles, int size)
{
	long shots = SHOTS;
	int i, t, ret;

	for (t = 0; t < TASKS; t++)
		for (i = 0; i < size; i++) {
			unsigned short seed[3] = {(unsigned short)(3 * i + 1),
						  (unsigned short)(7 * t + 5), 0x330e};

			ret = starpu_mpi_task_insert(
				MPI_COMM_WORLD, &shoot_cl, STARPU_RW, handles[i],
				STARPU_VALUE, &shots, sizeof(shots), STARPU_VALUE, seed,
				sizeof(seed), STARPU_EXECUTE_ON_NODE, i, 0);
			STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_task_insert");
		}
}

static int estimate(starpu_data_handle_t *handles, int size)
{
	long total = 0;
	double pi;
	int i;

	for (i = 0; i < size; i++) {
		starpu_data_acquire(handles[i], STARPU_R);
		total += *(long *)starpu_variable_get_local_ptr(handles[i]);
		starpu_data_release(handles[i]);
	}
	pi = 4.0 * total / ((double)size * TASKS * SHOTS);
	printf("pi is about %f, %d of %d counts came from others\n", pi, gathered, size);
	if (gathered != size - 1)
		return 1;
#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES"))
		return 0;
#endif
	return fabs(pi - 3.14159265) > 0.02;
}

int main(int argc, char **argv)
{
	starpu_data_handle_t *handles;
	long mine = 0;
	int ret, rank, size, i;

	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	handles = calloc(size, sizeof(*handles));
	for (i = 0; i < size; i++) {
		starpu_variable_data_register(
			&handles[i], i == rank ? STARPU_MAIN_RAM : -1,
			i == rank ? (uintptr_t)&mine : 0, sizeof(mine));
		starpu_mpi_data_register(handles[i], i, i);
	}
	shoot_all(handles, size);
	for (i = 1; i < size; i++)
		starpu_mpi_get_data_on_node_detached(MPI_COMM_WORLD, handles[i], 0,
						     arrived, NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	ret = rank == 0 ? estimate(handles, size) : 0;
	for (i = 0; i < size; i++)
		starpu_data_unregister(handles[i]);
	free(handles);
	starpu_mpi_shutdown();
	return ret;
}
