/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Workers, memories and copies of CUDA devices, on the stand-in for CUDA, which is no
 * GPU.
 */
#include <math.h>

#include "../api/claim.h"
#include "on_device.h"

int claim_failures;

static void start(int ncpus, int ncuda)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = ncpus;
	conf.ncuda = ncuda;
	if (starpu_init(&conf) != 0)
		exit(77);
}

/* ---- codelets --------------------------------------------------------- */

static void scale_bytes(const struct launch *l)
{
	double *at = standin_at(l->ptr[0]);

	for (size_t k = 0; k < l->nz; k++)
		for (size_t j = 0; j < l->ny; j++)
			for (size_t i = 0; i < l->nx; i++)
				at[k * l->ldz + j * l->ldy + i] =
					l->factor * at[k * l->ldz + j * l->ldy + i] + 1;
}

static void scale_vector_cuda(void *buffers[], void *arg)
{
	launch_here((struct launch){.func = scale_bytes,
				    .nx = STARPU_VECTOR_GET_NX(buffers[0]),
				    .ny = 1,
				    .nz = 1,
				    .factor = *(double *)arg,
				    .ptr = {(char *)STARPU_VECTOR_GET_PTR(buffers[0])}});
}

static void scale_vector_and_wait(void *buffers[], void *arg)
{
	scale_vector_cuda(buffers, arg);
	cudaStreamSynchronize(starpu_cuda_get_local_stream());
}

static void scale_vector_cpu(void *buffers[], void *arg)
{
	double *at = (double *)STARPU_VECTOR_GET_PTR(buffers[0]);

	for (size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		at[i] = *(double *)arg * at[i] + 1;
}

static double two = 2;

static struct starpu_codelet waits = {.cuda_funcs = {scale_vector_and_wait},
				      .nbuffers = 1,
				      .modes = {STARPU_RW},
				      .name = "waits"};
/* Says that it has waited, and has not. */
static struct starpu_codelet careless = {.cuda_funcs = {scale_vector_cuda},
					 .nbuffers = 1,
					 .modes = {STARPU_RW},
					 .name = "careless"};
static struct starpu_codelet flies = {.cuda_funcs = {scale_vector_cuda},
				      .cuda_flags = {STARPU_CUDA_ASYNC},
				      .nbuffers = 1,
				      .modes = {STARPU_RW},
				      .name = "flies"};
static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
					.symbol = "standin_anywhere"};
static struct starpu_codelet anywhere = {.cpu_funcs = {scale_vector_cpu},
					 .cuda_funcs = {scale_vector_cuda},
					 .cuda_flags = {STARPU_CUDA_ASYNC},
					 .nbuffers = 1,
					 .modes = {STARPU_RW},
					 .model = &model,
					 .name = "anywhere"};
static struct starpu_codelet on_cpu = {.cpu_funcs = {scale_vector_cpu},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .name = "on_cpu"};

static void submit(struct starpu_codelet *cl, starpu_data_handle_t handle, int worker)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->handles[0] = handle;
	task->cl_arg = &two;
	if (worker >= 0) {
		task->execute_on_a_specific_worker = 1;
		task->workerid = (unsigned)worker;
	}
	STARPU_CHECK_RETURN_VALUE(starpu_task_submit(task), "starpu_task_submit");
}

/* x -> 2 x + 1, so often, from 0. */
static double after(int times)
{
	double x = 0;

	while (times-- > 0)
		x = 2 * x + 1;
	return x;
}

enum { ELEMENTS = 1000 };

static void claim_all(const double *x, size_t n, double expected)
{
	for (size_t i = 0; i < n; i++)
		if (x[i] != expected) {
			CLAIM_EQ(x[i], expected);
			return;
		}
}

/* ---- who is there ------------------------------------------------------ */

static void each_device_has_a_worker_and_a_memory(void)
{
	const struct cudaDeviceProp *properties;
	char name[128];
	int id;

	start(1, -1);
	CLAIM_EQ(starpu_cuda_worker_get_count(), 2);
	CLAIM_EQ(starpu_memory_nodes_get_count(), 3);
	id = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 1);
	starpu_worker_get_name(id, name, sizeof(name));
	CLAIM(!strcmp(name, "CUDA 1.0 (Stand-in 1 0.1 GiB 0000:01:00.0)"));
	CLAIM_EQ(starpu_worker_get_devid(id), 1);
	CLAIM_EQ(starpu_worker_get_bindid(id), -1);
	CLAIM_EQ(starpu_node_get_kind(starpu_worker_get_memory_node((unsigned)id)),
		 STARPU_CUDA_RAM);
	CLAIM(starpu_memory_get_total(starpu_worker_get_memory_node((unsigned)id)) >
	      (32 << 20));
	properties = starpu_cuda_get_device_properties((unsigned)id);
	CLAIM(!strcmp(properties->name, "Stand-in 1"));
	CLAIM(properties == starpu_cuda_get_device_properties((unsigned)id));
	starpu_shutdown();
}

static void devices_are_chosen_by_number(void)
{
	setenv("STARPU_WORKERS_CUDAID", "1", 1);
	start(1, -1);
	CLAIM_EQ(starpu_cuda_worker_get_count(), 1);
	CLAIM_EQ(starpu_worker_get_devid(0), 1);
	CLAIM_EQ(starpu_worker_get_by_devid(STARPU_CUDA_WORKER, 1), 0);
	CLAIM_EQ(starpu_worker_get_by_devid(STARPU_CUDA_WORKER, 0), -1);
	CLAIM_EQ(starpu_memory_node_get_devid(starpu_worker_get_memory_node(0)), 1);
	starpu_shutdown();
	setenv("STARPU_WORKERS_CUDAID", "1 0-1", 1);
	start(1, -1);
	CLAIM_EQ(starpu_cuda_worker_get_count(), 2);
	CLAIM_EQ(starpu_worker_get_devid(0), 1);
	starpu_shutdown();
	setenv("STARPU_WORKERS_CUDAID", "0-", 1);
	start(1, -1);
	CLAIM_EQ(starpu_cuda_worker_get_count(), 2);
	starpu_shutdown();
	unsetenv("STARPU_WORKERS_CUDAID");
	start(1, 0);
	CLAIM_EQ(starpu_cuda_worker_get_count(), 0);
	starpu_shutdown();
}

static void device_in_kernel(void *buffers[], void *arg)
{
	(void)buffers;
	cudaGetDevice((int *)arg);
}

static void a_kernel_has_its_device(void)
{
	struct starpu_codelet cl = {.cuda_funcs = {device_in_kernel}, .name = "device"};

	start(1, 2);
	for (int i = 0; i < 2; i++) {
		struct starpu_task *task = starpu_task_create();
		int seen = -1;

		task->cl = &cl;
		task->cl_arg = &seen;
		task->synchronous = 1;
		task->execute_on_a_specific_worker = 1;
		task->workerid = (unsigned)i;
		CLAIM_EQ(starpu_task_submit(task), 0);
		CLAIM_EQ(seen, i);
	}
	starpu_shutdown();
}

/* ---- kernels ----------------------------------------------------------- */

static void values_come_back_from(struct starpu_codelet *cl, int times)
{
	double x[ELEMENTS] = {0};
	starpu_data_handle_t handle;

	start(1, 2);
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x, ELEMENTS,
				    sizeof(*x));
	for (int i = 0; i < times; i++)
		submit(cl, handle, -1);
	starpu_data_unregister(handle);
	claim_all(x, ELEMENTS, after(times));
	starpu_shutdown();
}

static void kernels_that_wait(void)
{
	values_come_back_from(&waits, 5);
}

static void kernels_that_should_have_waited(void)
{
	values_come_back_from(&careless, 5);
}

static void kernels_that_do_not_wait(void)
{
	values_come_back_from(&flies, 20);
}

enum { DATA = 24 };

static void kernels_are_queued_behind_each_other(void)
{
	static double x[DATA][ELEMENTS];
	starpu_data_handle_t handles[DATA];

	memset(x, 0, sizeof(x));
	start(1, 1);
	for (int i = 0; i < DATA; i++)
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)x[i],
					    ELEMENTS, sizeof(x[i][0]));
	for (int round = 0; round < 4; round++)
		for (int i = 0; i < DATA; i++)
			submit(&flies, handles[i], -1);
	for (int i = 0; i < DATA; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
	for (int i = 0; i < DATA; i++)
		claim_all(x[i], ELEMENTS, after(4));
	CLAIM_EQ(standin_most_queued(), 2);
}

/* ---- shapes ------------------------------------------------------------ */

static void scale_matrix_cuda(void *buffers[], void *arg)
{
	launch_here((struct launch){.func = scale_bytes,
				    .nx = STARPU_MATRIX_GET_NX(buffers[0]),
				    .ny = STARPU_MATRIX_GET_NY(buffers[0]),
				    .nz = 1,
				    .ldy = STARPU_MATRIX_GET_LD(buffers[0]),
				    .factor = *(double *)arg,
				    .ptr = {(char *)STARPU_MATRIX_GET_PTR(buffers[0])}});
}

static void scale_block_cuda(void *buffers[], void *arg)
{
	launch_here((struct launch){.func = scale_bytes,
				    .nx = STARPU_BLOCK_GET_NX(buffers[0]),
				    .ny = STARPU_BLOCK_GET_NY(buffers[0]),
				    .nz = STARPU_BLOCK_GET_NZ(buffers[0]),
				    .ldy = STARPU_BLOCK_GET_LDY(buffers[0]),
				    .ldz = STARPU_BLOCK_GET_LDZ(buffers[0]),
				    .factor = *(double *)arg,
				    .ptr = {(char *)STARPU_BLOCK_GET_PTR(buffers[0])}});
}

static struct starpu_codelet on_matrix = {.cuda_funcs = {scale_matrix_cuda},
					  .cuda_flags = {STARPU_CUDA_ASYNC},
					  .nbuffers = 1,
					  .modes = {STARPU_RW},
					  .name = "on_matrix"};
static struct starpu_codelet on_block = {.cuda_funcs = {scale_block_cuda},
					 .cuda_flags = {STARPU_CUDA_ASYNC},
					 .nbuffers = 1,
					 .modes = {STARPU_RW},
					 .name = "on_block"};

/* Around the value nothing is written. */
static void matrices_in_larger_ones(void)
{
	enum { NX = 30, NY = 20, LD = 47 };
	static double x[LD * NY];
	starpu_data_handle_t handle;

	memset(x, 0, sizeof(x));
	start(1, 2);
	starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x, LD, NX, NY,
				    sizeof(*x));
	for (int i = 0; i < 4; i++)
		submit(&on_matrix, handle, i % 2);
	starpu_data_unregister(handle);
	starpu_shutdown();
	for (int j = 0; j < NY; j++)
		for (int i = 0; i < LD; i++)
			CLAIM_EQ(x[j * LD + i], i < NX ? after(4) : 0);
}

static void blocks_in_larger_ones(void)
{
	enum { NX = 7, NY = 6, NZ = 5, LDY = 11, LDZ = 101 };
	static double x[LDZ * NZ];
	starpu_data_handle_t handle;

	memset(x, 0, sizeof(x));
	start(1, 2);
	starpu_block_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x, LDY, LDZ, NX,
				   NY, NZ, sizeof(*x));
	for (int i = 0; i < 4; i++)
		submit(&on_block, handle, i % 2);
	starpu_data_unregister(handle);
	starpu_shutdown();
	for (int k = 0; k < NZ; k++)
		for (int j = 0; j < LDZ; j++)
			CLAIM_EQ(x[k * LDZ + j],
				 j / LDY < NY && j % LDY < NX ? after(4) : 0);
}

static void parts_of_a_matrix(void)
{
	enum { N = 24, PARTS = 4 };
	static double x[N * N];
	struct starpu_data_filter rows = {.filter_func = starpu_matrix_filter_block,
					  .nchildren = PARTS};
	starpu_data_handle_t handle;

	memset(x, 0, sizeof(x));
	start(1, 2);
	starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x, N, N, N,
				    sizeof(*x));
	starpu_data_partition(handle, &rows);
	for (int i = 0; i < 3 * PARTS; i++)
		submit(&on_matrix, starpu_data_get_sub_data(handle, 1, i % PARTS), -1);
	starpu_data_unpartition(handle, STARPU_MAIN_RAM);
	submit(&on_matrix, handle, 0);
	starpu_data_unregister(handle);
	starpu_shutdown();
	claim_all(x, N * N, after(4));
}

static void add_csr_cuda(void *buffers[], void *arg)
{
	launch_here((struct launch){.func = scale_bytes,
				    .nx = STARPU_CSR_GET_NNZ(buffers[0]),
				    .ny = 1,
				    .nz = 1,
				    .factor = *(double *)arg,
				    .ptr = {(char *)STARPU_CSR_GET_NZVAL(buffers[0])}});
}

static void sparse_matrices(void)
{
	double values[5] = {0};
	uint32_t columns[5] = {0, 1, 2, 0, 2}, rows[4] = {0, 2, 3, 5};
	struct starpu_codelet cl = {.cuda_funcs = {add_csr_cuda},
				    .cuda_flags = {STARPU_CUDA_ASYNC},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .name = "on_csr"};
	starpu_data_handle_t handle;

	start(1, 2);
	starpu_csr_data_register(&handle, STARPU_MAIN_RAM, 5, 3, (uintptr_t)values,
				 columns, rows, 0, sizeof(*values));
	submit(&cl, handle, 0);
	submit(&cl, handle, 1);
	starpu_data_unregister(handle);
	starpu_shutdown();
	claim_all(values, 5, after(2));
	CLAIM_EQ(columns[4], 2);
	CLAIM_EQ(rows[3], 5);
}

/* ---- copies ------------------------------------------------------------ */

static void from_device_to_device(void)
{
	static double x[1 << 15];
	starpu_data_handle_t handle;

	memset(x, 0, sizeof(x));
	start(1, 2);
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x, 1 << 15,
				    sizeof(*x));
	for (int i = 0; i < 9; i++)
		submit(&flies, handle, i % 2);
	starpu_data_unregister(handle);
	starpu_shutdown();
	claim_all(x, 1 << 15, after(9));
}

static void by_main_memory(void)
{
	setenv("STARPU_ENABLE_CUDA_GPU_GPU_DIRECT", "0", 1);
	from_device_to_device();
	unsetenv("STARPU_ENABLE_CUDA_GPU_GPU_DIRECT");
}

static void copies_that_wait(void)
{
	setenv("STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY", "1", 1);
	from_device_to_device();
	matrices_in_larger_ones();
	unsetenv("STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY");
}

static void data_are_copied_on_a_device(void)
{
	double x[ELEMENTS] = {0}, y[ELEMENTS] = {0};
	starpu_data_handle_t from, to;

	start(0, 1);
	starpu_vector_data_register(&from, STARPU_MAIN_RAM, (uintptr_t)x, ELEMENTS,
				    sizeof(*x));
	starpu_vector_data_register(&to, STARPU_MAIN_RAM, (uintptr_t)y, ELEMENTS,
				    sizeof(*y));
	submit(&flies, from, -1);
	starpu_data_cpy(to, from, 0, NULL, NULL);
	starpu_data_unregister(from);
	starpu_data_unregister(to);
	starpu_shutdown();
	claim_all(y, ELEMENTS, after(1));
}

static void pinned_and_not(void)
{
	double *pinned, *plain = calloc(1 << 15, sizeof(*plain));
	starpu_data_handle_t handles[2];

	start(1, 2);
	starpu_malloc((void **)&pinned, sizeof(*pinned) << 15);
	memset(pinned, 0, sizeof(*pinned) << 15);
	CLAIM_EQ(starpu_memory_pin(plain, sizeof(*plain) << 15), 0);
	starpu_vector_data_register(&handles[0], STARPU_MAIN_RAM, (uintptr_t)pinned,
				    1 << 15, sizeof(*pinned));
	starpu_vector_data_register(&handles[1], STARPU_MAIN_RAM, (uintptr_t)plain,
				    1 << 15, sizeof(*plain));
	for (int i = 0; i < 8; i++)
		submit(&flies, handles[i % 2], -1);
	starpu_data_unregister(handles[0]);
	starpu_data_unregister(handles[1]);
	claim_all(pinned, 1 << 15, after(4));
	claim_all(plain, 1 << 15, after(4));
	CLAIM_EQ(starpu_memory_unpin(plain, sizeof(*plain) << 15), 0);
	starpu_free_noflag(pinned, sizeof(*pinned) << 15);
	starpu_shutdown();
	free(plain);
}

/* ---- memory that is too small ------------------------------------------- */

static void values_leave_a_full_device(void)
{
	enum { N = 1 << 15, MANY = 24 }; /* 256 KiB each, 6 MiB; 1 MiB is there */
	double *x = calloc((size_t)N * MANY, sizeof(*x));
	starpu_data_handle_t handles[MANY];

	setenv("STARPU_LIMIT_CUDA_MEM", "1", 1);
	start(1, 2);
	for (int i = 0; i < MANY; i++)
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)(x + (size_t)i * N), N,
					    sizeof(*x));
	for (int round = 0; round < 5; round++)
		for (int i = 0; i < MANY; i++)
			submit(&flies, handles[i], -1);
	for (int i = 0; i < MANY; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
	unsetenv("STARPU_LIMIT_CUDA_MEM");
	claim_all(x, (size_t)N * MANY, after(5));
	free(x);
}

/* ---- together ------------------------------------------------------------ */

static void processors_and_devices(const char *policy, int profiling)
{
	static double x[DATA][ELEMENTS];
	starpu_data_handle_t handles[DATA];

	setenv("STARPU_SCHED", policy, 1);
	memset(x, 0, sizeof(x));
	start(2, 2);
	if (profiling)
		starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	for (int i = 0; i < DATA; i++)
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)x[i],
					    ELEMENTS, sizeof(x[i][0]));
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < DATA; i++)
			submit((round + i) % 3 == 0   ? &on_cpu
			       : (round + i) % 3 == 1 ? &flies
						      : &anywhere,
			       handles[i], -1);
	for (int i = 0; i < DATA; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
	unsetenv("STARPU_SCHED");
	for (int i = 0; i < DATA; i++)
		claim_all(x[i], ELEMENTS, after(20));
}

static void with_dmdas(void)
{
	processors_and_devices("dmdas", 0);
}

static void with_lws_and_profiling(void)
{
	processors_and_devices("lws", 1);
}

static void with_heteroprio(void)
{
	processors_and_devices("heteroprio", 0);
}

/* ---- reductions ---------------------------------------------------------- */

static void zero(const struct launch *l)
{
	*(double *)standin_at(l->ptr[0]) = 0;
}

static void add_one(const struct launch *l)
{
	*(double *)standin_at(l->ptr[0]) += 1;
}

static void add_other(const struct launch *l)
{
	*(double *)standin_at(l->ptr[0]) += *(double *)standin_at(l->ptr[1]);
}

#define VARIABLE(i) ((char *)STARPU_VARIABLE_GET_PTR(buffers[i]))

static void zero_cuda(void *buffers[], void *arg)
{
	(void)arg;
	launch_here((struct launch){.func = zero, .ptr = {VARIABLE(0)}});
}

static void one_cuda(void *buffers[], void *arg)
{
	(void)arg;
	launch_here((struct launch){.func = add_one, .ptr = {VARIABLE(0)}});
}

static void sum_cuda(void *buffers[], void *arg)
{
	(void)arg;
	launch_here(
		(struct launch){.func = add_other, .ptr = {VARIABLE(0), VARIABLE(1)}});
}

static void zero_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*(double *)VARIABLE(0) = 0;
}

static void one_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*(double *)VARIABLE(0) += 1;
}

static void sum_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*(double *)VARIABLE(0) += *(double *)VARIABLE(1);
}

static void contributions_of_devices(void)
{
	struct starpu_codelet begin = {.cpu_funcs = {zero_cpu},
				       .cuda_funcs = {zero_cuda},
				       .cuda_flags = {STARPU_CUDA_ASYNC},
				       .nbuffers = 1,
				       .modes = {STARPU_W},
				       .name = "zero"};
	struct starpu_codelet one = {.cpu_funcs = {one_cpu},
				     .cuda_funcs = {one_cuda},
				     .cuda_flags = {STARPU_CUDA_ASYNC},
				     .nbuffers = 1,
				     .modes = {STARPU_REDUX},
				     .name = "one"};
	struct starpu_codelet sum = {.cpu_funcs = {sum_cpu},
				     .cuda_funcs = {sum_cuda},
				     .cuda_flags = {STARPU_CUDA_ASYNC},
				     .nbuffers = 2,
				     .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
				     .name = "sum"};
	double total = 100;
	starpu_data_handle_t handle;

	start(2, 2);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&total,
				      sizeof(total));
	starpu_data_set_reduction_methods(handle, &sum, &begin);
	for (int i = 0; i < 60; i++)
		submit(&one, handle, -1);
	starpu_data_unregister(handle);
	starpu_shutdown();
	CLAIM_EQ(total, 160);
}

/* ---- what does not run ------------------------------------------------ */

static struct starpu_perfmodel skipped_model = {.type = STARPU_HISTORY_BASED,
						.symbol = "standin_skipped"};
static struct starpu_codelet skipped = {.cuda_funcs = {scale_vector_cuda},
					.cuda_flags = {STARPU_CUDA_ASYNC},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.model = &skipped_model,
					.name = "skipped"};

static int does_not_run(void *buffer, void *arg)
{
	(void)buffer;
	(void)arg;
	return 0;
}

static void what_is_skipped_teaches_nothing(void)
{
	struct starpu_transaction *transaction;
	struct starpu_task like = {.cl = &skipped};
	double values[4] = {1, 2, 3, 4};

	setenv("STARPU_CALIBRATE", "2", 1);
	start(1, 1);
	starpu_vector_data_register(&like.handles[0], STARPU_MAIN_RAM, (uintptr_t)values,
				    4, sizeof values[0]);
	transaction = starpu_transaction_open(does_not_run, NULL);
	for (int i = 0; i < 20; i++)
		CLAIM_EQ(starpu_task_insert(&skipped, STARPU_TRANSACTION, transaction,
					    STARPU_RW, like.handles[0],
					    STARPU_CL_ARGS_NFREE, &two, sizeof two, 0),
			 0);
	starpu_transaction_close(transaction);
	starpu_task_wait_for_all();
	CLAIM(isnan(starpu_perfmodel_history_based_expected_perf(
		&skipped_model,
		starpu_worker_get_perf_archtype(0, STARPU_NMAX_SCHED_CTXS),
		starpu_task_data_footprint(&like))));
	starpu_data_unregister(like.handles[0]);
	CLAIM(values[0] == 1);
	starpu_shutdown();
	unsetenv("STARPU_CALIBRATE");
}

int main(void)
{
	static const struct claim claims[] = {
		{"models learn nothing of kernels that do not run",
		 what_is_skipped_teaches_nothing},
		{"each device has a worker and a memory",
		 each_device_has_a_worker_and_a_memory},
		{"devices are chosen by number", devices_are_chosen_by_number},
		{"a kernel has its device", a_kernel_has_its_device},
		{"kernels that wait", kernels_that_wait},
		{"kernels that should have waited", kernels_that_should_have_waited},
		{"kernels that do not wait", kernels_that_do_not_wait},
		{"kernels are queued behind each other",
		 kernels_are_queued_behind_each_other},
		{"matrices in larger ones", matrices_in_larger_ones},
		{"blocks in larger ones", blocks_in_larger_ones},
		{"parts of a matrix", parts_of_a_matrix},
		{"sparse matrices", sparse_matrices},
		{"from device to device", from_device_to_device},
		{"by main memory", by_main_memory},
		{"copies that wait", copies_that_wait},
		{"data are copied on a device", data_are_copied_on_a_device},
		{"memory is pinned, and not", pinned_and_not},
		{"values leave a full device", values_leave_a_full_device},
		{"processors and devices, dmdas", with_dmdas},
		{"processors and devices, lws and profiling", with_lws_and_profiling},
		{"processors and devices, heteroprio", with_heteroprio},
		{"contributions of devices", contributions_of_devices},
		{NULL, NULL}};

	standin_use();
	return claims_run(claims, 0);
}
