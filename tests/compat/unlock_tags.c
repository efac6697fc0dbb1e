/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A pipeline across nodes: received data unlock tags, tags start tasks. */
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define WAVES       12
#define RECEIVED(w) ((starpu_tag_t)(1000 + (w)))
#define COMPUTED(w) ((starpu_tag_t)(2000 + (w)))
#define SENT(w)     ((starpu_tag_t)(3000 + (w)))

static void grow_cpu(void *descr[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(descr[0]), by = *(int *)arg;
	unsigned i;

	for (i = 0; i < STARPU_VECTOR_GET_NX(descr[0]); i++)
		x[i] += by;
}

static struct starpu_codelet grow_cl = {
	.cpu_funcs = {grow_cpu},
	.nbuffers = 1,
	.modes = {STARPU_RW},
	.model = &starpu_perfmodel_nop,
};

static void compute(starpu_data_handle_t handle, int wave, int rank)
{
	struct starpu_task *task = starpu_task_create();
	int ret;

	task->cl = &grow_cl;
	task->cl_arg = malloc(sizeof(int));
	*(int *)task->cl_arg = rank + 1;
	task->cl_arg_size = sizeof(int);
	task->cl_arg_free = 1;
	task->handles[0] = handle;
	task->use_tag = 1;
	task->tag_id = COMPUTED(wave);
	task->priority = WAVES - wave;
	if (rank > 0)
		starpu_tag_declare_deps(COMPUTED(wave), 1, RECEIVED(wave));
	ret = starpu_task_submit(task);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
}

static void wave(starpu_data_handle_t handle, int w, int rank, int size)
{
	int ret;

	if (rank > 0) {
		ret = starpu_mpi_irecv_detached_unlock_tag(handle, rank - 1, w,
							   MPI_COMM_WORLD, RECEIVED(w));
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_irecv_detached_unlock_tag");
	}
	compute(handle, w, rank);
	if (rank < size - 1) {
		ret = starpu_mpi_isend_detached_unlock_tag(handle, rank + 1, w,
							   MPI_COMM_WORLD, SENT(w));
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_isend_detached_unlock_tag");
	}
}

int main(int argc, char **argv)
{
	starpu_data_handle_t handle[WAVES];
	int x[WAVES][100] = {{0}}, ret, rank, size, w, bad = 0;

	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	for (w = 0; w < WAVES; w++) {
		starpu_vector_data_register(&handle[w], STARPU_MAIN_RAM, (uintptr_t)x[w],
					    100, sizeof(int));
		wave(handle[w], w, rank, size);
	}
	for (w = 0; w < WAVES; w++)
		starpu_tag_wait(rank < size - 1 ? SENT(w) : COMPUTED(w));
	for (w = 0; w < WAVES; w++)
		starpu_data_unregister(handle[w]);
#ifdef STARPU_SIMGRID
	if (getenv("CHECK_VALUES"))
#endif
		for (w = 0; w < WAVES; w++)
			bad |= x[w][w] != (rank + 1) * (rank + 2) / 2;
	if (bad)
		fprintf(stderr, "[%d] %d\n", rank, x[0][0]);
	starpu_mpi_shutdown();
	return bad;
}
