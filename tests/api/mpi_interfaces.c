/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Values of the interfaces that are no plain row of bytes, between two ranks or more. */
#include <stdint.h>

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

static const struct claim claims[] = {
	{"arrays of any dimension arrive", arrays_of_any_dimension_arrive},
	{"tensors arrive", tensors_arrive},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
