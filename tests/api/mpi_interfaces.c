/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Values of the interfaces that are no plain row of bytes, between two ranks or more. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#include <orrery.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

static void send_and_receive(starpu_data_handle_t handle)
{
	if (RANK == 0)
		starpu_mpi_send(handle, 1, TAG, WORLD);
	else if (RANK == 1)
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
}

/* ---- arrays ---------------------------------------------------------- */

enum { MAX_DIMS = 7 };

/* Strides with gaps of their own on each rank; returns the cells, gaps included. */
static int strides(size_t ndim, const uint32_t *nn, uint32_t *ldn)
{
	int ncells = 1;

	for (size_t i = 0; i < ndim; i++) {
		ldn[i] = (uint32_t)ncells;
		ncells *= (int)nn[i] + (RANK ? 1 : (int)i % 2);
	}
	return ncells;
}

static int cell_of(size_t ndim, const uint32_t *nn, const uint32_t *ldn, int number)
{
	int at = 0;

	for (size_t i = 0; i < ndim; i++) {
		at += number % (int)nn[i] * (int)ldn[i];
		number /= (int)nn[i];
	}
	return at;
}

static void check_array(size_t ndim, uint32_t *nn, const uint32_t *ldn, const int *cells,
			int ncells)
{
	int n = 1, nset = 0;

	for (size_t i = 0; i < ndim; i++)
		n *= (int)nn[i];
	for (int i = 0; i < n; i++)
		CLAIM_EQ(cells[cell_of(ndim, nn, ldn, i)], i);
	for (int i = 0; i < ncells; i++)
		nset += cells[i] != -1;
	CLAIM_EQ(nset, n);
}

static void exchange_array(size_t ndim, uint32_t *nn)
{
	uint32_t ldn[MAX_DIMS];
	int ncells = strides(ndim, nn, ldn), n = 1;
	int *cells = malloc((size_t)ncells * sizeof(*cells));
	starpu_data_handle_t handle;

	for (size_t i = 0; i < ndim; i++)
		n *= (int)nn[i];
	for (int i = 0; i < ncells; i++)
		cells[i] = -1;
	for (int i = 0; RANK == 0 && i < n; i++)
		cells[cell_of(ndim, nn, ldn, i)] = i;
	starpu_ndim_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)cells, ldn, nn,
				  ndim, sizeof(*cells));
	send_and_receive(handle);
	starpu_data_unregister(handle);
	if (RANK <= 1)
		check_array(ndim, nn, ldn, cells, ncells);
	free(cells);
}

static void arrays_of_any_dimension_arrive(void)
{
	uint32_t small[] = {3, 2, 4, 2, 3, 2, 2}, large[] = {30, 12, 10, 4, 3, 2, 2};

	start();
	for (size_t ndim = 0; ndim <= MAX_DIMS; ndim++) {
		exchange_array(ndim, small);
		exchange_array(ndim, large);
	}
	stop();
}

static void tensors_arrive(void)
{
	uint32_t nn[] = {20, 10, 5, 7};
	uint32_t ldn[4];
	int ncells, *cells;
	starpu_data_handle_t handle;

	start();
	ncells = strides(4, nn, ldn);
	cells = malloc((size_t)ncells * sizeof(*cells));
	for (int i = 0; i < ncells; i++)
		cells[i] = -1;
	for (int i = 0; RANK == 0 && i < 7000; i++)
		cells[cell_of(4, nn, ldn, i)] = i;
	starpu_tensor_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)cells, ldn[1],
				    ldn[2], ldn[3], nn[0], nn[1], nn[2], nn[3],
				    sizeof(*cells));
	send_and_receive(handle);
	starpu_data_unregister(handle);
	if (RANK <= 1)
		check_array(4, nn, ldn, cells, ncells);
	free(cells);
	stop();
}

/* ---- sparse matrices ------------------------------------------------- */

enum { NROW = 50, MAX_NNZ = 5000 };

struct sparse {
	uint32_t colind[MAX_NNZ], rowptr[NROW + 1];
	double values[2 * MAX_NNZ];
};

static void fill_sparse(struct sparse *sparse, int nnz, int set)
{
	for (int i = 0; i < nnz; i++)
		sparse->colind[i] = set ? (uint32_t)(3 * i) : 0;
	for (int i = 0; i <= NROW; i++)
		sparse->rowptr[i] = set ? (uint32_t)(nnz * i / NROW) : 0;
	for (int i = 0; i < 2 * nnz; i++)
		sparse->values[i] = set ? i + 0.25 : 0;
}

static void check_sparse(const struct sparse *seen, int nnz, int nvalues, int has_rows)
{
	static struct sparse expected;
	size_t n = (size_t)nnz;

	fill_sparse(&expected, nnz, 1);
	CLAIM(memcmp(seen->colind, expected.colind, n * sizeof(uint32_t)) == 0);
	CLAIM(!has_rows || !memcmp(seen->rowptr, expected.rowptr, sizeof(seen->rowptr)));
	CLAIM(!memcmp(seen->values, expected.values, (size_t)nvalues * sizeof(double)));
}

static void exchange_sparse(int nnz)
{
	static struct sparse a, b, c;
	starpu_data_handle_t csr, bcsr, coo;
	uint32_t n = (uint32_t)nnz;

	fill_sparse(&a, nnz, RANK == 0);
	fill_sparse(&b, nnz, RANK == 0);
	fill_sparse(&c, nnz, RANK == 0);
	starpu_csr_data_register(&csr, STARPU_MAIN_RAM, n, NROW, (uintptr_t)a.values,
				 a.colind, a.rowptr, 0, sizeof(double));
	starpu_bcsr_data_register(&bcsr, STARPU_MAIN_RAM, n, NROW, (uintptr_t)b.values,
				  b.colind, b.rowptr, 0, 2, 1, sizeof(double));
	starpu_coo_data_register(&coo, STARPU_MAIN_RAM, 100, 100, n, c.colind, c.colind,
				 (uintptr_t)c.values, sizeof(double));
	send_and_receive(csr);
	send_and_receive(bcsr);
	send_and_receive(coo);
	starpu_data_unregister(csr);
	starpu_data_unregister(bcsr);
	starpu_data_unregister(coo);
	if (RANK > 1)
		return;
	check_sparse(&a, nnz, nnz, 1);
	check_sparse(&b, nnz, 2 * nnz, 1);
	check_sparse(&c, nnz, nnz, 0);
}

static void sparse_matrices_arrive(void)
{
	start();
	exchange_sparse(0);
	exchange_sparse(70);
	exchange_sparse(MAX_NNZ);
	stop();
}

/* ---- sizes that change -------------------------------------------------- */

enum { FEW = 40, NROUNDS = 4 };

static pthread_t inserter;
static atomic_int inserts, nasked, may_go;

/* As one that looks at what a kernel makes, larger and smaller, meanwhile. */
static size_t size_now(starpu_data_handle_t handle)
{
	if (atomic_load(&inserts) && pthread_equal(pthread_self(), inserter))
		atomic_fetch_add(&nasked, 1);
	return starpu_interface_vector_ops.get_size(handle);
}

static void hold_cpu(void *buffers[], void *arg)
{
	long *x = (long *)STARPU_VECTOR_GET_PTR(buffers[0]);

	(void)arg;
	while (!atomic_load(&may_go))
		sched_yield();
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] = i;
}

static void count_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*(long *)STARPU_VECTOR_GET_PTR(buffers[0]) += 1;
}

static void look_cpu(void *buffers[], void *arg)
{
	long number;

	starpu_codelet_unpack_args(arg, &number);
	CLAIM_EQ(*(long *)STARPU_VECTOR_GET_PTR(buffers[0]), number);
}

static struct starpu_codelet hold = {.cpu_funcs = {hold_cpu},
				     .nbuffers = 1,
				     .modes = {STARPU_W},
				     .model = &starpu_perfmodel_nop,
				     .name = "hold"};
static struct starpu_codelet count = {.cpu_funcs = {count_cpu},
				      .nbuffers = 1,
				      .modes = {STARPU_RW},
				      .model = &starpu_perfmodel_nop,
				      .name = "count"};
static struct starpu_codelet look = {.cpu_funcs = {look_cpu},
				     .nbuffers = 1,
				     .modes = {STARPU_R},
				     .model = &starpu_perfmodel_nop,
				     .name = "look"};

/* On all ranks, the later the more urgent; written again, here and there, and flushed. */
static void insert_users(starpu_data_handle_t handle)
{
	starpu_mpi_task_insert(WORLD, &hold, STARPU_W, handle, 0);
	for (long round = 0; round < NROUNDS; round++) {
		for (int i = 0; i < 2 * claim_size; i++)
			starpu_mpi_task_insert(WORLD, &look, STARPU_R, handle,
					       STARPU_VALUE, &round, sizeof(round),
					       STARPU_PRIORITY, i, STARPU_EXECUTE_ON_NODE,
					       i % claim_size, 0);
		starpu_mpi_task_insert(WORLD, &count, STARPU_RW, handle,
				       STARPU_EXECUTE_ON_NODE, (int)round % claim_size,
				       0);
		if (round == 1)
			starpu_mpi_cache_flush(WORLD, handle);
	}
}

/* Nobody may look at what others change: the size is asked for when the data are one's.
 */
static void sizes_are_asked_for_in_turn(void)
{
	struct starpu_data_interface_ops ops = starpu_interface_vector_ops;
	struct starpu_vector_interface vector = {.nx = FEW, .elemsize = sizeof(long)};
	starpu_data_handle_t handle;

	if (orrery_is_simulated()) /* Kernels wait for nobody there. */
		return;
	start();
	ops.interfaceid = starpu_data_interface_get_next_id();
	ops.get_alloc_size = NULL;
	ops.get_size = size_now;
	vector.id = ops.interfaceid;
	vector.allocsize = FEW * sizeof(long);
	starpu_data_register(&handle, -1, &vector, &ops);
	starpu_mpi_data_register(handle, TAG, 0);
	inserter = pthread_self();
	atomic_store(&nasked, 0);
	atomic_store(&may_go, 0);
	atomic_store(&inserts, 1);
	insert_users(handle);
	atomic_store(&inserts, 0);
	atomic_store(&may_go, 1);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(atomic_load(&nasked), 0);
	starpu_data_unregister(handle);
	stop();
}

static const struct claim claims[] = {
	{"arrays of any dimension arrive", arrays_of_any_dimension_arrive},
	{"tensors arrive", tensors_arrive},
	{"sparse matrices arrive", sparse_matrices_arrive},
	{"sizes are asked for in turn", sizes_are_asked_for_in_turn},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
