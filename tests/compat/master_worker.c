/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Jobs handed out by node 0: callbacks that post transfers and submit tasks. */
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define JOBS       24
#define N          500
#define TAG_JOB    0
#define TAG_RESULT 1

struct slot { /* of one worker, on both sides */
	starpu_data_handle_t job, result;
	int numbers[N];
	long sum;
	int node, left;
};

static int rank, size;
static volatile int running;
static long total;

static void fill_cpu(void *descr[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(descr[0]), left, i;

	starpu_codelet_unpack_args(arg, &left);
	for (i = 0; i < N; i++)
		x[i] = left;
}

static void sum_cpu(void *descr[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(descr[0]), i;
	long *sum = (long *)STARPU_VARIABLE_GET_PTR(descr[1]);

	(void)arg;
	for (i = 0, *sum = 0; i < N; i++)
		*sum += x[i];
}

static struct starpu_codelet fill_cl = {.cpu_funcs = {fill_cpu},
					.nbuffers = 1,
					.modes = {STARPU_W},
					.model = &starpu_perfmodel_nop,
					.name = "fill"};
static struct starpu_codelet sum_cl = {.cpu_funcs = {sum_cpu},
				       .nbuffers = 2,
				       .modes = {STARPU_R, STARPU_W},
				       .model = &starpu_perfmodel_nop,
				       .name = "sum"};

static void master_next(struct slot *slot);

/* Node 0: a result has been acquired. */
static void result_ready(void *arg)
{
	struct slot *slot = arg;

	STARPU_ATOMIC_ADDL(&total, slot->sum);
	starpu_data_release(slot->result);
	master_next(slot);
}

static void result_arrived(void *arg)
{
	struct slot *slot = arg;

	starpu_data_acquire_cb(slot->result, STARPU_R, result_ready, slot);
}

static void master_next(struct slot *slot)
{
	int ret;

	if (slot->left == 0) {
		STARPU_ATOMIC_ADD(&running, -1);
		return;
	}
	ret = starpu_task_insert(&fill_cl, STARPU_W, slot->job, STARPU_VALUE, &slot->left,
				 sizeof(slot->left), 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
	slot->left--;
	ret = starpu_mpi_isend_detached(slot->job, slot->node, TAG_JOB, MPI_COMM_WORLD,
					NULL, NULL);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_isend_detached");
	ret = starpu_mpi_irecv_detached(slot->result, slot->node, TAG_RESULT,
					MPI_COMM_WORLD, result_arrived, slot);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_irecv_detached");
}

/* Other nodes: a job has arrived. */
static void job_arrived(void *arg)
{
	struct slot *slot = arg;
	int ret;

	ret = starpu_task_insert(&sum_cl, STARPU_R, slot->job, STARPU_W, slot->result, 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
	ret = starpu_mpi_isend_detached(slot->result, 0, TAG_RESULT, MPI_COMM_WORLD, NULL,
					NULL);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_isend_detached");
	if (--slot->left > 0) {
		ret = starpu_mpi_irecv_detached(slot->job, 0, TAG_JOB, MPI_COMM_WORLD,
						job_arrived, slot);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_irecv_detached");
	} else {
		STARPU_ATOMIC_ADD(&running, -1);
	}
}

static void slot_open(struct slot *slot, int node)
{
	slot->node = node;
	slot->left = JOBS;
	starpu_vector_data_register(&slot->job, STARPU_MAIN_RAM, (uintptr_t)slot->numbers,
				    N, sizeof(int));
	starpu_variable_data_register(&slot->result, STARPU_MAIN_RAM,
				      (uintptr_t)&slot->sum, sizeof(long));
}

int main(int argc, char **argv)
{
	long sums[2] = {0, 0};
	struct slot *slots;
	int ret, i;

	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	slots = calloc(size, sizeof(*slots));
	running = rank ? 1 : size - 1;
	for (i = rank ? rank : 1; i < (rank ? rank + 1 : size); i++) {
		slot_open(&slots[i], i);
		if (rank == 0)
			master_next(&slots[i]);
		else
			starpu_mpi_irecv_detached(slots[i].job, 0, TAG_JOB,
						  MPI_COMM_WORLD, job_arrived, &slots[i]);
	}
	while (running)
		starpu_usleep(100);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (i = 0; i < size; i++)
		if (slots[i].job) {
			starpu_data_unregister(slots[i].job);
			starpu_data_unregister(slots[i].result);
		}
	/* The application's own collective. */
	sums[0] = total;
	MPI_Allreduce(&sums[0], &sums[1], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	ret = sums[1] != (long)(size - 1) * N * JOBS * (JOBS + 1) / 2;
#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES"))
		ret = 0;
#endif
	if (ret)
		fprintf(stderr, "[%d] sum %ld\n", rank, sums[1]);
	free(slots);
	starpu_mpi_shutdown();
	return ret;
}
