/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Less common calls: scratch, temporaries, migration, arrays of messages, own MPI. */
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void scratch_cpu(void *descr[], void *arg)
{
	int *x = (int *)STARPU_VARIABLE_GET_PTR(descr[0]);
	int *tmp = (int *)STARPU_VECTOR_GET_PTR(descr[1]), i, first, last;

	starpu_codelet_unpack_args(arg, &first, &last);
	for (i = first; i <= last; i++)
		tmp[i] = i;
	for (i = first; i <= last; i++)
		*x += tmp[i];
}

static void copy_cpu(void *descr[], void *arg)
{
	(void)arg;
	*(int *)STARPU_VARIABLE_GET_PTR(descr[1]) =
		*(int *)STARPU_VARIABLE_GET_PTR(descr[0]) + 1;
}

static struct starpu_codelet scratch_cl = {
	.cpu_funcs = {scratch_cpu},
	.nbuffers = 2,
	.modes = {STARPU_RW, STARPU_SCRATCH},
	.model = &starpu_perfmodel_nop,
};

static struct starpu_codelet copy_cl = {
	.cpu_funcs = {copy_cpu},
	.nbuffers = 2,
	.modes = {STARPU_R, STARPU_W},
	.model = &starpu_perfmodel_nop,
};

static int differs(int found, int expected, const char *what)
{
#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES"))
		return 0;
#endif
	if (found != expected)
		fprintf(stderr, "[%d] %s: %d, expected %d\n", rank, what, found,
			expected);
	return found != expected;
}

/* Local tasks: packed arguments, a scratch buffer, a datum that lives only here. */
static int local(void)
{
	starpu_data_handle_t x, scratch, tmp;
	struct starpu_task *task;
	int value = 0, first = 1, last = 9, ret;
	void *args;
	size_t args_size;

	starpu_variable_data_register(&x, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	starpu_vector_data_register(&scratch, -1, 0, 10, sizeof(int));
	starpu_variable_data_register(&tmp, -1, 0, sizeof(int));
	starpu_codelet_pack_args(&args, &args_size, STARPU_VALUE, &first, sizeof(first),
				 STARPU_VALUE, &last, sizeof(last), 0);
	task = starpu_task_build(&scratch_cl, STARPU_RW, x, STARPU_SCRATCH, scratch, 0);
	task->cl_arg = args;
	task->cl_arg_size = args_size;
	task->cl_arg_free = 1;
	ret = starpu_task_submit(task);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
	ret = starpu_task_insert(&copy_cl, STARPU_R, x, STARPU_W, tmp, STARPU_NAME, "out",
				 STARPU_EXECUTE_WHERE, (unsigned long long)STARPU_CPU, 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
	ret = starpu_task_insert(&copy_cl, STARPU_R, tmp, STARPU_W, x,
				 STARPU_TASK_SYNCHRONOUS, 1, STARPU_EXECUTE_ON_WORKER,
				 starpu_worker_get_by_type(STARPU_CPU_WORKER, 0), 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
	starpu_data_invalidate_submit(tmp);
	starpu_data_unregister_submit(tmp);
	starpu_data_unregister_submit(scratch);
	starpu_data_unregister(x);
	return differs(value, 47, "scratch");
}

/* A token moves to each node in turn, with its owner. */
static int migrate(void)
{
	starpu_data_handle_t token, seed;
	int value = 0, ret, i, bad, zero = 0;

	starpu_vector_data_register(&seed, STARPU_MAIN_RAM, (uintptr_t)&zero, 1,
				    sizeof(int));
	starpu_mpi_data_register(seed, 70, STARPU_MPI_PER_NODE);
	starpu_variable_data_register(&token, rank == 0 ? STARPU_MAIN_RAM : -1,
				      rank == 0 ? (uintptr_t)&value : 0, sizeof(int));
	starpu_mpi_data_register(token, 71, 0);
	for (i = 0; i < 2 * size; i++) {
		ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &scratch_cl, STARPU_RW,
					     token, STARPU_SCRATCH, seed, STARPU_VALUE,
					     &zero, sizeof(zero), STARPU_VALUE, &zero,
					     sizeof(zero), 0);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_task_insert");
		starpu_mpi_data_migrate(MPI_COMM_WORLD, token, (i + 1) % size);
		STARPU_ASSERT(starpu_mpi_data_get_rank(token) == (i + 1) % size);
	}
	starpu_mpi_get_data_on_node(MPI_COMM_WORLD, token, size - 1);
	bad = 0;
	if (rank == size - 1) {
		starpu_data_acquire(token, STARPU_R);
		bad = differs(*(int *)starpu_data_get_local_ptr(token), 0, "token");
		starpu_data_release(token);
	}
	starpu_data_unregister(token);
	starpu_data_unregister(seed);
	return bad;
}

/* Arrays of messages, whose completion is a tag, between neighbours. */
static int arrays(void)
{
	starpu_data_handle_t out[3], in[3];
	int sent[3], received[3] = {-1, -1, -1}, to[3], from[3], i, bad = 0;
	starpu_mpi_tag_t tags[3];
	MPI_Comm comms[3];

	for (i = 0; i < 3; i++) {
		sent[i] = 10 * rank + i;
		to[i] = (rank + 1) % size;
		from[i] = (rank + size - 1) % size;
		tags[i] = 500 + i;
		comms[i] = MPI_COMM_WORLD;
		starpu_variable_data_register(&out[i], STARPU_MAIN_RAM,
					      (uintptr_t)&sent[i], sizeof(int));
		starpu_variable_data_register(&in[i], STARPU_MAIN_RAM,
					      (uintptr_t)&received[i], sizeof(int));
	}
	starpu_mpi_irecv_array_detached_unlock_tag(3, in, from, tags, comms, 901);
	starpu_mpi_isend_array_detached_unlock_tag(3, out, to, tags, comms, 900);
	starpu_tag_wait(900);
	starpu_tag_wait(901);
	for (i = 0; i < 3; i++) {
		starpu_data_unregister(out[i]);
		starpu_data_unregister(in[i]);
		bad |= differs(received[i], 10 * from[i] + i, "array");
	}
	return bad;
}

/* The application's own messages in the same communicator, with the same tags. */
static int own_messages(void)
{
	int out = rank, in = -1, sum = 0, all[64];

	MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 500, &in, 1, MPI_INT,
		     (rank + size - 1) % size, 500, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Gather(&out, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Bcast(&out, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
	return in != (rank + size - 1) % size || sum != size * (size - 1) / 2 ||
	       out != size - 1 || (rank == 0 && all[size - 1] != size - 1);
}

int main(int argc, char **argv)
{
	struct starpu_conf conf;
	int ret, bad, provided, round;
	double start;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	bad = 0;
	for (round = 0; round < 2; round++) { /* MPI outlives the library */
		starpu_conf_init(&conf);
		conf.ncpus = 1 + round;
		ret = starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, &conf);
		if (ret == -ENODEV)
			return 77;
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &size);
		start = MPI_Wtime();
		bad |= local();
		bad |= migrate() << 1;
		bad |= arrays() << 2;
		bad |= own_messages() << 3;
		starpu_mpi_barrier(MPI_COMM_WORLD);
		bad |= (MPI_Wtime() < start) << 4;
		starpu_mpi_shutdown();
	}
	MPI_Finalize();
	if (bad)
		fprintf(stderr, "[%d] %x\n", rank, (unsigned)bad);
	return bad != 0;
}
