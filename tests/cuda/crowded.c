/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * CUDA devices of which others take memory, on the stand-in for CUDA, which is no GPU:
 * values leave a device that has less than it said, and tasks go on; ranks that use the
 * same device divide it.
 */
#include <math.h>
#include <unistd.h>

#include <starpu_mpi.h>

#include "../api/claim.h"
#include "on_device.h"

int claim_failures;

enum { MIB = 1 << 20, DEVICE_MIB = 64, N = MIB / 8, MANY = 40, ROUNDS = 3 };

static double *values;
static starpu_data_handle_t handles[MANY];

static void add(const struct launch *launch)
{
	double *x = standin_at(launch->ptr[0]);
	const double *y = launch->ptr[1] ? standin_at(launch->ptr[1]) : NULL;

	for (size_t i = 0; i < N; i++)
		x[i] += y ? y[i] : 1;
}

static void add_cuda(void *buffers[], void *arg)
{
	(void)arg;
	launch_here((struct launch){.func = add,
				    .ptr = {(char *)STARPU_VECTOR_GET_PTR(buffers[0])}});
}

static void add_other_cuda(void *buffers[], void *arg)
{
	(void)arg;
	launch_here((struct launch){.func = add,
				    .ptr = {(char *)STARPU_VECTOR_GET_PTR(buffers[0]),
					    (char *)STARPU_VECTOR_GET_PTR(buffers[1])}});
}

static struct starpu_codelet adds = {.cuda_funcs = {add_cuda},
				     .cuda_flags = {STARPU_CUDA_ASYNC},
				     .nbuffers = 1,
				     .modes = {STARPU_RW},
				     .name = "adds"},
			     adds_other = {.cuda_funcs = {add_other_cuda},
					   .cuda_flags = {STARPU_CUDA_ASYNC},
					   .nbuffers = 3,
					   .modes = {STARPU_RW, STARPU_R, STARPU_SCRATCH},
					   .name = "adds_other"};

static void begin(void)
{
	values = calloc((size_t)N * MANY, sizeof(*values));
	for (int i = 0; i < MANY; i++)
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)(values + (size_t)i * N), N,
					    sizeof(*values));
}

static void use_all(void)
{
	for (int i = 0; i < MANY; i++)
		CLAIM_EQ(starpu_task_insert(&adds, STARPU_RW, handles[i], 0), 0);
}

static void end(double expected)
{
	int nwrong = 0;

	for (int i = 0; i < MANY; i++)
		starpu_data_unregister(handles[i]);
	for (size_t i = 0; i < (size_t)N * MANY; i++)
		nwrong += fabs(values[i] - expected) > 0;
	CLAIM_EQ(nwrong, 0);
	free(values);
}

/* ---- others ---------------------------------------------------------------- */

static void start(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 0;
	conf.ncuda = 1;
	if (starpu_init(&conf) != 0)
		exit(77);
}

/* All values were there when others come, and take what these leave. */
static void others_come_in_the_middle(void)
{
	start();
	begin();
	use_all();
	starpu_task_wait_for_all();
	standin_others(0, (size_t)(DEVICE_MIB - 4) * MIB);
	for (int i = 1; i < ROUNDS; i++)
		use_all();
	end(ROUNDS);
	CLAIM(starpu_memory_get_used(1) == 0);
	standin_others(0, 0);
	starpu_shutdown();
}

/* Tasks of several data, one of them without a value; hints that find no room. */
static void others_leave_room_for_a_task(void)
{
	starpu_data_handle_t scratch;

	start();
	begin();
	starpu_vector_data_register(&scratch, -1, 0, N, sizeof(double));
	standin_others(0, (size_t)(DEVICE_MIB - 3) * MIB);
	use_all();
	for (int i = 0; i < MANY; i++) {
		starpu_data_prefetch_on_node(handles[(i + 5) % MANY], 1, 1);
		CLAIM_EQ(starpu_task_insert(&adds_other, STARPU_RW, handles[i], STARPU_R,
					    handles[(i + MANY - 1) % MANY],
					    STARPU_SCRATCH, scratch, 0),
			 0);
	}
	starpu_task_wait_for_all();
	CLAIM(starpu_memory_get_total(1) < 4 * MIB);
	for (int i = 0; i < MANY; i++) {
		starpu_data_acquire(handles[i], STARPU_RW);
		CLAIM_EQ(values[(size_t)i * N], i + 2);
		for (int k = 0; k < N; k++)
			values[(size_t)i * N + (size_t)k] = 7;
		starpu_data_release(handles[i]);
	}
	starpu_data_unregister(scratch);
	end(7);
	standin_others(0, 0);
	starpu_shutdown();
}

static void alone(void)
{
	static const struct claim claims[] = {
		{"others take a device's memory in the middle",
		 others_come_in_the_middle},
		{"others leave room for one task", others_leave_room_for_a_task},
		{NULL, NULL}};

	exit(claims_run(claims, 0));
}

/* ---- ranks ------------------------------------------------------------------- */

static int rank, size;

/* So much of a device is a rank's, when n share it: of nine tenths of what was free when
 * the others were just measuring it. */
static void expect_part(unsigned memory, int n)
{
	double part = 0.9 * DEVICE_MIB * MIB / n;

	CLAIM(fabs((double)starpu_memory_get_total(memory) - part) < 0.15 * part);
}

static void start_ranks(int ncuda)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 1;
	conf.ncuda = ncuda;
	conf.precedence_over_environment_variables = 1;
	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, &conf) != 0)
		exit(77);
}

static void ranks_divide_a_device(void)
{
	start_ranks(1);
	expect_part(1, size);
	begin();
	for (int i = 0; i < ROUNDS; i++)
		use_all();
	end(ROUNDS);
	starpu_mpi_shutdown();
}

static void each_rank_has_its_device(void)
{
	setenv("STARPU_WORKERS_CUDAID", rank == 0 ? "0" : "1", 1);
	start_ranks(1);
	expect_part(1, rank == 0 ? 1 : size - 1);
	starpu_mpi_shutdown();
	unsetenv("STARPU_WORKERS_CUDAID");
}

static void some_have_none(void)
{
	start_ranks(rank == 0 ? 2 : 0);
	if (rank == 0)
		expect_part(1, 1);
	starpu_mpi_shutdown();
}

/* CUDA says of none which it is: then each rank takes what it finds. */
static void no_device_is_known(void)
{
	start_ranks(2);
	expect_part(1, 1);
	expect_part(2, 1);
	starpu_mpi_shutdown();
}

static void limits_stay(void)
{
	setenv("STARPU_LIMIT_CUDA_MEM", "5", 1);
	start_ranks(1);
	CLAIM_EQ(starpu_memory_get_total(1), 5 * MIB);
	starpu_mpi_shutdown();
	unsetenv("STARPU_LIMIT_CUDA_MEM");
}

/* All are together in the first: what one takes, another has not. */
int main(int argc, char **argv)
{
	static const struct claim claims[] = {
		{"ranks divide a device", ranks_divide_a_device},
		{"each rank has its device", each_rank_has_its_device},
		{"some ranks have none", some_have_none},
		{"limits stay what they are", limits_stay},
		{NULL, NULL}};
	static const struct claim unknown[] = {
		{"devices that nobody knows are not divided", no_device_is_known},
		{NULL, NULL}};
	char path[64];
	int level, status;

	standin_use();
	if (argc > 1 && !strcmp(argv[1], "alone"))
		alone();
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(path, sizeof(path), "/tmp/standin-%d", (int)getpid());
	MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD);
	setenv("STANDIN_SHARED", path, 1);
	status = claims_run(getenv("STANDIN_FAIL") ? unknown : claims, rank != 0);
	MPI_Barrier(MPI_COMM_WORLD);
	unlink(path);
	MPI_Finalize();
	return status;
}
