/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Tasks of a master on a slave's GPUs, which are of several kinds: each takes what it
 * takes there.  On odd_gpus.xml, STARPU_NMPI_MS=1 on two ranks, the slave with the GPUs
 * that STARPU_WORKERS_CUDAID says, as the words behind the program do.
 */
#include <math.h>
#include <stdlib.h>

#include "../api/claim.h"
#include "now.h"

int claim_failures;

/* Of a task of 1e13 operations, by number: a fast GPU, a small one, a fast and a plain
 * one; the small one needs half a second for a launch. */
static const double task_s[] = {0.3125, 13, 0.3125, 12.5};

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
					.symbol = "slave_gpus"};
static struct starpu_codelet compute = {.cuda_funcs = {(starpu_cuda_func_t)1},
					.cuda_flags = {STARPU_CUDA_ASYNC},
					.where = STARPU_MPI_MS,
					.model = &model,
					.name = "compute"};

static double run_s(int worker)
{
	double begin_s = now_s();

	CLAIM_EQ(starpu_task_insert(&compute, STARPU_FLOPS, 1e13,
				    STARPU_EXECUTE_ON_WORKER, worker, 0),
		 0);
	starpu_task_wait_for_all();
	return now_s() - begin_s;
}

int main(int argc, char **argv)
{
	int ids[STARPU_NMAXWORKERS], n, ncores;

	CLAIM_EQ(starpu_initialize(NULL, &argc, &argv), 0);
	since_s = now_s();
	n = starpu_worker_get_ids_by_type(STARPU_MPI_MS_WORKER, ids, STARPU_NMAXWORKERS);
	ncores = n - (argc - 1);
	CLAIM(ncores >= 1); /* They come before its GPUs. */
	for (int i = 1; i < argc && ncores >= 1; i++) {
		double expected_s = task_s[atoi(argv[i])];
		double found_s = run_s(ids[ncores + i - 1]);

		if (fabs(found_s / expected_s - 1) > 0.1)
			printf("GPU %s: %g s, %g expected\n", argv[i], found_s,
			       expected_s);
		CLAIM(fabs(found_s / expected_s - 1) < 0.1);
	}
	starpu_shutdown();
	return claim_failures > 0;
}
