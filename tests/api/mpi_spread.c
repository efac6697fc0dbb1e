/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Values with gaps of all proportions, to places with and without them: between ranks of
 * one host the receiver may read them, by rows, or gaps and all. */
#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

enum { GAP = 0x5a, FIRST = 1 };

/* A tensor of bytes; nx alone in a row. */
struct shape {
	size_t nx, ny, nz, nt, ldy, ldz, ldt;
};

static size_t extent_of(const struct shape *shape)
{
	return shape->ldt * shape->nt;
}

static size_t place_of(const struct shape *shape, size_t i)
{
	size_t x = i % shape->nx, y = i / shape->nx % shape->ny;
	size_t z = i / shape->nx / shape->ny % shape->nz;
	size_t t = i / shape->nx / shape->ny / shape->nz;

	return x + y * shape->ldy + z * shape->ldz + t * shape->ldt;
}

static size_t bytes_of(const struct shape *shape)
{
	return shape->nx * shape->ny * shape->nz * shape->nt;
}

static struct shape without_gaps(const struct shape *shape)
{
	return (struct shape){shape->nx,
			      shape->ny,
			      shape->nz,
			      shape->nt,
			      shape->nx,
			      shape->nx * shape->ny,
			      shape->nx * shape->ny * shape->nz};
}

static starpu_data_handle_t tensor(unsigned char *at, const struct shape *shape)
{
	starpu_data_handle_t handle;

	starpu_tensor_data_register(
		&handle, STARPU_MAIN_RAM, (uintptr_t)at, (uint32_t)shape->ldy,
		(uint32_t)shape->ldz, (uint32_t)shape->ldt, (uint32_t)shape->nx,
		(uint32_t)shape->ny, (uint32_t)shape->nz, (uint32_t)shape->nt, 1);
	return handle;
}

static void check(const unsigned char *at, const struct shape *shape, unsigned seed)
{
	size_t nwrong = 0, ngaps = 0;

	for (size_t i = 0; i < bytes_of(shape); i++)
		nwrong += at[place_of(shape, i)] != pattern(i, seed);
	for (size_t i = 0; i < extent_of(shape); i++)
		ngaps += at[i] == GAP;
	CLAIM_EQ(nwrong, 0);
	CLAIM(ngaps >= extent_of(shape) - bytes_of(shape));
}

static void travel(const struct shape *from, const struct shape *to, unsigned seed)
{
	const struct shape *shape = RANK == 0 ? from : to;
	unsigned char *at = malloc(extent_of(shape));
	starpu_data_handle_t handle;

	memset(at, GAP, extent_of(shape));
	for (size_t i = 0; RANK == 0 && i < bytes_of(shape); i++)
		at[place_of(shape, i)] = pattern(i, seed);
	handle = tensor(at, shape);
	if (RANK == 0)
		starpu_mpi_send(handle, 1, TAG, WORLD);
	else if (RANK == 1)
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	starpu_data_unregister(handle);
	if (RANK == 1)
		check(at, to, seed);
	free(at);
}

static const struct shape shapes[] = {
	{1000, 300, 1, 1, 1063, 1063 * 300, 1063 * 300}, /* short rows, small gaps */
	{100, 3000, 1, 1, 190, 190 * 3000, 190 * 3000},  /* half of it */
	{100, 3000, 1, 1, 300, 300 * 3000, 300 * 3000},  /* most of it */
	{5000, 70, 1, 1, 5100, 5100 * 70, 5100 * 70},    /* rows of more than a page */
	{5000, 70, 1, 1, 15000, 15000 * 70, 15000 * 70},
	{20000, 30, 1, 1, 20001, 20001 * 30, 20001 * 30}, /* long rows */
	{200000, 3, 1, 1, 200007, 200007 * 3, 200007 * 3},
	{60, 70, 60, 2, 64, 64 * 80, 64 * 80 * 70}, /* gaps in three dimensions */
	{2, 40000, 9, 1, 3, 130000, 1300000},
	{1000, 300, 3, 1, 1010, 503000,
	 1509000}, /* gaps larger than what is read at once */
};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void values_with_gaps_arrive(void)
{
	start();
	for (unsigned i = 0; i < SHAPES; i++) {
		struct shape flat = without_gaps(&shapes[i]);

		travel(&shapes[i], &shapes[i], FIRST + i);
		travel(&shapes[i], &flat, FIRST + i);
		travel(&flat, &shapes[i], FIRST + i);
	}
	stop();
}

/* The sender may not go on with a value before it is read. */
static void writers_wait(void)
{
	const struct shape *shape = &shapes[0];
	unsigned char *at = malloc(extent_of(shape));
	starpu_data_handle_t handle;
	starpu_mpi_req request;

	start();
	memset(at, GAP, extent_of(shape));
	for (size_t i = 0; RANK == 0 && i < bytes_of(shape); i++)
		at[place_of(shape, i)] = pattern(i, FIRST);
	handle = tensor(at, shape);
	if (RANK == 0) {
		starpu_mpi_isend(handle, &request, 1, TAG, WORLD);
		starpu_mpi_barrier(WORLD);
		starpu_data_acquire(handle, STARPU_W);
		memset(at, 0, extent_of(shape));
		starpu_data_release(handle);
		starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
	} else {
		starpu_mpi_barrier(WORLD);
	}
	if (RANK == 1)
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	starpu_data_unregister(handle);
	if (RANK == 1)
		check(at, shape, FIRST);
	free(at);
	stop();
}

static const struct claim claims[] = {
	{"values with gaps arrive, and gaps stay what they are", values_with_gaps_arrive},
	{"who writes a value with gaps waits until it is read", writers_wait},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
