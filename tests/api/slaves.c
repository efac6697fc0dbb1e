/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Claims about a master and its slaves, with STARPU_NMPI_MS on three ranks or more: one
 * life, since slaves end with it.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <mpi.h>
#include <orrery.h>

#include "claim.h"

int claim_failures;

enum { N = 30000, BIG = 300000 };

/* ---- kernels --------------------------------------------------------- */

void slaves_fill(void *buffers[], void *arg);
void slaves_add(void *buffers[], void *arg);
void slaves_sum_argument(void *buffers[], void *arg);
void slaves_ndim(void *buffers[], void *arg);
void slaves_csr(void *buffers[], void *arg);

void slaves_fill(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]), value;

	starpu_codelet_unpack_args(arg, &value);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] = value + (int)i;
}

void slaves_add(void *buffers[], void *arg)
{
	const int *from = (const int *)STARPU_VECTOR_GET_PTR(buffers[1]);
	int *to = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		to[i] += from[i];
}

static void hidden_fill(void *buffers[], void *arg)
{
	slaves_fill(buffers, arg);
}

void slaves_sum_argument(void *buffers[], void *arg)
{
	const unsigned char *bytes = arg;
	long *sum = (long *)STARPU_VARIABLE_GET_PTR(buffers[0]);

	*sum = 0;
	for (int i = 0; i < BIG; i++)
		*sum += bytes[i];
}

/* Its dimensions are elsewhere, and come as well. */
void slaves_ndim(void *buffers[], void *arg)
{
	struct starpu_ndim_interface *ndim = buffers[0];
	int *x = (int *)ndim->ptr;

	(void)arg;
	for (unsigned j = 0; j < ndim->nn[1]; j++)
		for (unsigned i = 0; i < ndim->nn[0]; i++)
			x[j * ndim->ldn[1] + i] *= 2;
}

void slaves_csr(void *buffers[], void *arg)
{
	float *values = (float *)STARPU_CSR_GET_NZVAL(buffers[0]);
	const uint32_t *columns = STARPU_CSR_GET_COLIND(buffers[0]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_CSR_GET_NNZ(buffers[0]); i++)
		values[i] += (float)columns[i];
}

#define ON_SLAVES(codelet, function, n, ...)                                             \
	static struct starpu_codelet codelet = {.cpu_funcs = {function},                 \
						.cpu_funcs_name = {#function},           \
						.where = STARPU_MPI_MS,                  \
						.nbuffers = n,                           \
						.modes = {__VA_ARGS__},                  \
						.model = &starpu_perfmodel_nop,          \
						.name = #function}

ON_SLAVES(fill, slaves_fill, 1, STARPU_W);
ON_SLAVES(hidden, hidden_fill, 1, STARPU_W);
ON_SLAVES(add, slaves_add, 2, STARPU_RW, STARPU_R);
ON_SLAVES(sum_argument, slaves_sum_argument, 1, STARPU_W);
ON_SLAVES(twice, slaves_ndim, 1, STARPU_RW);
ON_SLAVES(csr, slaves_csr, 1, STARPU_RW);

/* Value-bearing runs only: a simulation without execution has no values. */
static int has_values(void)
{
	return starpu_worker_get_count_by_type(STARPU_CUDA_WORKER) == 0;
}

static int worker_of(int slave)
{
	return starpu_worker_get_by_devid(STARPU_MPI_MS_WORKER, slave);
}

/* ---- claims ---------------------------------------------------------- */

static void shapes_are_told(void)
{
	int n = (int)starpu_mpi_ms_worker_get_count(), devids[64], workers[64], seen = 0;
	int ndevids = starpu_worker_get_devids(STARPU_MPI_MS_WORKER, devids, 64);

	CLAIM(n > 0);
	CLAIM_EQ(starpu_worker_get_count_by_type(STARPU_MPI_MS_WORKER), n);
	CLAIM_EQ(starpu_memory_nodes_get_count_by_kind(STARPU_MPI_MS_RAM), ndevids);
	CLAIM_EQ(starpu_worker_get_devids(STARPU_MPI_MS_WORKER, devids, 1), 1);
	for (int i = 0; i < ndevids; i++) {
		int count = starpu_worker_get_stream_workerids((unsigned)i, workers,
							       STARPU_MPI_MS_WORKER);
		unsigned memory = starpu_worker_get_memory_node((unsigned)workers[0]);

		CLAIM_EQ(workers[0], worker_of(i));
		CLAIM_EQ(starpu_node_get_kind(memory), STARPU_MPI_MS_RAM);
		CLAIM_EQ(starpu_memory_node_get_devid(memory), i);
		for (int k = 0; k < count; k++, seen++) {
			CLAIM_EQ(starpu_worker_get_devid(workers[k]), i);
			CLAIM_EQ(starpu_worker_get_subworkerid(workers[k]), k);
			CLAIM_EQ(starpu_worker_get_memory_node((unsigned)workers[k]),
				 memory);
			CLAIM_EQ(starpu_worker_get_perf_archtype(workers[k], 0)
					 ->devices[0]
					 .type,
				 STARPU_MPI_MS_WORKER);
		}
	}
	CLAIM_EQ(seen, n);
	CLAIM_EQ(worker_of(ndevids), -1);
}

static void names_are_told(void)
{
	char text[64], expected[16];
	int id = worker_of(1);

	starpu_worker_get_name(id, text, sizeof(text));
	snprintf(expected, sizeof(expected), "MPI_MS 1.0 ");
	CLAIM_EQ(strncmp(text, expected, strlen(expected)), 0);
	starpu_memory_node_get_name(starpu_worker_get_memory_node((unsigned)id), text,
				    sizeof(text));
	CLAIM_EQ(strcmp(text, "MPI_MS 1"), 0);
}

/* From slave to slave and to the master, all pieces large or small. */
static void values_travel(void)
{
	int *memory = calloc(N, sizeof(*memory));

	for (unsigned n = 1; n <= N; n *= 30) {
		starpu_data_handle_t sum, part;
		int value = 5;

		starpu_vector_data_register(&sum, STARPU_MAIN_RAM, (uintptr_t)memory, n,
					    sizeof(*memory));
		starpu_vector_data_register(&part, -1, 0, n, sizeof(*memory));
		starpu_task_insert(&fill, STARPU_W, part, STARPU_VALUE, &value,
				   sizeof(value), STARPU_EXECUTE_ON_WORKER, worker_of(0),
				   0);
		starpu_task_insert(&fill, STARPU_W, sum, STARPU_VALUE, &value,
				   sizeof(value), STARPU_EXECUTE_ON_WORKER, worker_of(1),
				   0);
		for (int i = 0; i < 3; i++)
			starpu_task_insert(&add, STARPU_RW, sum, STARPU_R, part,
					   STARPU_EXECUTE_ON_WORKER, worker_of(i % 2), 0);
		starpu_data_unregister(part);
		starpu_data_unregister(sum);
		for (unsigned i = 0; i < n && has_values(); i++)
			CLAIM_EQ(memory[i], 4 * (5 + (int)i));
	}
	free(memory);
}

static void arguments_travel(void)
{
	starpu_data_handle_t handle;
	struct starpu_task *task = starpu_task_create();
	unsigned char *bytes = malloc(BIG);
	long sum = 0, expected = 0;

	for (int i = 0; i < BIG; i++) {
		bytes[i] = (unsigned char)(i * 7);
		expected += bytes[i];
	}
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&sum,
				      sizeof(sum));
	task->cl = &sum_argument;
	task->handles[0] = handle;
	task->cl_arg = bytes;
	task->cl_arg_size = BIG;
	CLAIM_EQ(starpu_task_submit(task), 0);
	starpu_data_unregister(handle);
	if (has_values())
		CLAIM_EQ(sum, expected);
	free(bytes);
}

static void kernels_without_symbol_are_found(void)
{
	int memory[100] = {0}, value = 3;
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)memory, 100,
				    sizeof(int));
	CLAIM_EQ(starpu_task_insert(&hidden, STARPU_W, handle, STARPU_VALUE, &value,
				    sizeof(value), 0),
		 0);
	starpu_data_unregister(handle);
	if (has_values())
		CLAIM_EQ(memory[99], 102);
}

static void other_interfaces_travel(void)
{
	int array[6 * 4];
	unsigned nn[2] = {5, 4}, ld[2] = {1, 6};
	float values[3] = {10, 20, 30};
	uint32_t columns[3] = {0, 2, 1}, rows[3] = {0, 2, 3};
	starpu_data_handle_t ndim, sparse;

	for (int i = 0; i < 24; i++)
		array[i] = i;
	starpu_ndim_data_register(&ndim, STARPU_MAIN_RAM, (uintptr_t)array, ld, nn, 2,
				  sizeof(int));
	starpu_csr_data_register(&sparse, STARPU_MAIN_RAM, 3, 2, (uintptr_t)values,
				 columns, rows, 0, sizeof(float));
	for (int i = 0; i < 2; i++) {
		starpu_task_insert(&twice, STARPU_RW, ndim, STARPU_EXECUTE_ON_WORKER,
				   worker_of(i), 0);
		starpu_task_insert(&csr, STARPU_RW, sparse, STARPU_EXECUTE_ON_WORKER,
				   worker_of(i), 0);
	}
	starpu_data_unregister(ndim);
	starpu_data_unregister(sparse);
	for (int i = 0; i < 24 && has_values(); i++)
		CLAIM_EQ(array[i], i % 6 == 5 ? i : 4 * i);
	for (int i = 0; i < 3 && has_values(); i++)
		CLAIM_EQ((int)values[i], 10 * (i + 1) + 2 * (int)columns[i]);
}

static void parts_travel(void)
{
	int *memory = calloc(N, sizeof(*memory)), value = 1;
	struct starpu_data_filter filter = {.filter_func = starpu_vector_filter_block,
					    .nchildren = 7};
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)memory, N,
				    sizeof(*memory));
	starpu_data_partition(handle, &filter);
	for (int i = 0; i < 7; i++)
		starpu_task_insert(&fill, STARPU_W,
				   starpu_data_get_sub_data(handle, 1, i), STARPU_VALUE,
				   &value, sizeof(value), STARPU_EXECUTE_ON_WORKER,
				   worker_of(i % 2), 0);
	starpu_data_unpartition(handle, STARPU_MAIN_RAM);
	starpu_data_unregister(handle);
	if (has_values())
		CLAIM_EQ(memory[N - 1], N / 7);
	free(memory);
}

/* StarPU's rule: who has no name for slaves has no kernel for them. */
static void kernels_without_name_stay(void)
{
	struct starpu_codelet unnamed = {.cpu_funcs = {hidden_fill},
					 .nbuffers = 1,
					 .modes = {STARPU_W},
					 .model = &starpu_perfmodel_nop};
	struct starpu_task *task = starpu_task_create();
	int memory[4], value = 2;
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)memory, 4,
				    sizeof(int));
	task->cl = &unnamed;
	task->handles[0] = handle;
	CLAIM_EQ(starpu_worker_can_execute_task((unsigned)worker_of(0), task, 0), 0);
	CLAIM_EQ(starpu_worker_type_can_execute_task(STARPU_MPI_MS_WORKER, task), 0);
	task->execute_on_a_specific_worker = 1;
	task->workerid = (unsigned)worker_of(0);
	CLAIM_EQ(starpu_task_submit(task), -ENODEV);
	task->destroy = 0;
	starpu_task_destroy(task);
	if (starpu_cpu_worker_get_count() > 0)
		CLAIM_EQ(starpu_task_insert(&unnamed, STARPU_W, handle, STARPU_VALUE,
					    &value, sizeof(value), 0),
			 0);
	starpu_data_unregister(handle);
}

static void memory_is_given(void)
{
	unsigned memory = starpu_worker_get_memory_node((unsigned)worker_of(0));
	uintptr_t block = starpu_malloc_on_node(memory, 8 << 20);

	CLAIM(block != 0);
	starpu_free_on_node(memory, block, 8 << 20);
	CLAIM_EQ(starpu_malloc_on_node(memory, 8 << 20) == block, 1);
	starpu_free_on_node(memory, block, 8 << 20);
}

enum { TASK_US = 10, MANY_TASKS = 200 };

void slaves_nothing(void *buffers[], void *arg);

void slaves_nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static double ten_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		     unsigned implementation)
{
	(void)task;
	(void)arch;
	(void)implementation;
	return TASK_US;
}

static struct starpu_perfmodel short_model = {
	.type = STARPU_PER_ARCH, .arch_cost_function = ten_us, .symbol = "slaves_short"};
static struct starpu_codelet nothing = {.cpu_funcs = {slaves_nothing},
					.cpu_funcs_name = {"slaves_nothing"},
					.where = STARPU_MPI_MS,
					.model = &short_model,
					.name = "nothing"};

static double run_many_us(int n)
{
	double start_us = starpu_timing_now();

	for (int i = 0; i < n; i++)
		CLAIM_EQ(starpu_task_insert(&nothing, STARPU_EXECUTE_ON_WORKER,
					    worker_of(0), 0),
			 0);
	starpu_task_wait_for_all();
	return starpu_timing_now() - start_us;
}

/* Short tasks wait at the slave: most of their way there and back takes no time of it. */
static void short_tasks_queue_at_the_slave(void)
{
	double alone_us = run_many_us(1), many_us = run_many_us(MANY_TASKS);

	if (orrery_is_simulated())
		CLAIM(many_us >= MANY_TASKS * TASK_US &&
		      many_us < MANY_TASKS * (TASK_US + alone_us) / 2);
}

static int does_not_run(void *buffer, void *arg)
{
	(void)buffer;
	(void)arg;
	return 0;
}

/* As on the master's own workers. */
static void epochs_that_do_not_run_are_left_out(void)
{
	struct starpu_transaction *transaction;
	starpu_data_handle_t sum, part;
	int x[100] = {7}, y[100] = {1};

	if (starpu_cpu_worker_get_count() == 0)
		return; /* Nobody is asked then. */
	starpu_vector_data_register(&sum, STARPU_MAIN_RAM, (uintptr_t)x, 100, sizeof(*x));
	starpu_vector_data_register(&part, STARPU_MAIN_RAM, (uintptr_t)y, 100,
				    sizeof(*y));
	transaction = starpu_transaction_open(does_not_run, NULL);
	CLAIM_EQ(starpu_task_insert(&add, STARPU_TRANSACTION, transaction, STARPU_RW, sum,
				    STARPU_R, part, 0),
		 0);
	starpu_transaction_close(transaction);
	starpu_data_unregister(part);
	starpu_data_unregister(sum);
	CLAIM_EQ(x[0], 7);
}

static const struct claim claims[] = {
	{"shapes of slaves are told", shapes_are_told},
	{"names of slaves are told", names_are_told},
	{"values travel", values_travel},
	{"arguments travel", arguments_travel},
	{"kernels without a symbol are found", kernels_without_symbol_are_found},
	{"other interfaces travel", other_interfaces_travel},
	{"parts travel", parts_travel},
	{"kernels without a name stay", kernels_without_name_stay},
	{"memory is given", memory_is_given},
	{"short tasks queue at the slave", short_tasks_queue_at_the_slave},
	{"epochs that do not run are left out", epochs_that_do_not_run_are_left_out},
	{NULL, NULL},
};

static struct starpu_perfmodel learns = {.type = STARPU_HISTORY_BASED,
					 .symbol = "slaves_learns"};
static struct starpu_codelet learning = {.cpu_funcs = {slaves_nothing},
					 .cpu_funcs_name = {"slaves_nothing"},
					 .where = STARPU_MPI_MS,
					 .model = &learns,
					 .name = "learning"};

/* Where it is not called, the kernel's duration is not that. */
static void what_is_not_called_is_not_learnt(void)
{
	struct starpu_perfmodel_arch *arch =
		starpu_worker_get_perf_archtype(worker_of(0), 0);

	for (int i = 0; i < 40; i++)
		CLAIM_EQ(starpu_task_insert(&learning, STARPU_EXECUTE_ON_WORKER,
					    worker_of(0), 0),
			 0);
	starpu_task_wait_for_all();
	CLAIM(isnan(starpu_perfmodel_history_based_expected_perf(&learns, arch, 0)));
}

static const struct claim disabled_claims[] = {
	{"what is not called is not learnt", what_is_not_called_is_not_learnt},
	{NULL, NULL},
};

/* With an argument, the program starts MPI itself, and ends it. */
int main(int argc, char **argv)
{
	int status, has_mpi = argc > 1, level;

	if (has_mpi)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
	if (starpu_initialize(NULL, &argc, &argv) != 0)
		return 77;
	if (worker_of(1) < 0) {
		printf("FAIL two slaves: set STARPU_NMPI_MS to 2 on three ranks\n");
		return 1;
	}
	status = claims_run(getenv("STARPU_DISABLE_KERNELS") ? disabled_claims : claims,
			    0);
	starpu_shutdown();
	if (has_mpi)
		MPI_Finalize();
	return status;
}
