/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A program for one machine that uses the cores of others, too: started on several ranks
 * with STARPU_NMPI_MS, only rank 0 comes out of starpu_init(), and has their cores as
 * workers.  It integrates 4 / (1 + x * x) from 0 to 1, a task for each slice.
 *
 *     STARPU_NMPI_MS=2 mpirun -np 3 slaves
 */
#include <math.h>
#include <stdio.h>

#include <orrery.h>
#include <starpu.h>

enum { SLICES = 40, STEPS = 20000 };

/* By its name slaves find it in their own program: it is not static. */
void slaves_integrate(void *buffers[], void *arg);

void slaves_integrate(void *buffers[], void *arg)
{
	double *sum = (double *)STARPU_VARIABLE_GET_PTR(buffers[0]);
	int slice;

	starpu_codelet_unpack_args(arg, &slice);
	*sum = 0;
	for (int i = 0; i < STEPS; i++) {
		double x = (slice + (i + 0.5) / STEPS) / SLICES;

		*sum += 4 / (1 + x * x) / STEPS / SLICES;
	}
}

static struct starpu_codelet integrate = {.cpu_funcs = {slaves_integrate},
					  .cpu_funcs_name = {"slaves_integrate"},
					  .nbuffers = 1,
					  .modes = {STARPU_W},
					  .model = &starpu_perfmodel_nop,
					  .name = "integrate"};

int main(int argc, char **argv)
{
	starpu_data_handle_t handles[SLICES];
	double sums[SLICES], pi = 0;
	int executes;

	if (starpu_initialize(NULL, &argc, &argv))
		return 77;
	executes = !orrery_is_simulated() ||
		   starpu_getenv_number_default("ORRERY_EXECUTE", 0);
	printf("slaves: %u workers here, %u on other ranks\n",
	       starpu_cpu_worker_get_count(), starpu_mpi_ms_worker_get_count());
	for (int i = 0; i < SLICES; i++) {
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&sums[i], sizeof sums[i]);
		starpu_task_insert(&integrate, STARPU_W, handles[i], STARPU_VALUE, &i,
				   sizeof i, 0);
	}
	for (int i = 0; i < SLICES; i++) {
		starpu_data_unregister(handles[i]); /* waits, and brings the value */
		pi += sums[i];
	}
	if (executes)
		printf("slaves: the integral is %.9f\n", pi);
	starpu_shutdown();
	return executes && fabs(pi - 3.141592654) > 1e-8;
}
