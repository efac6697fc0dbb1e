/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_UNIT_MPI_WORLD_H
#define ORR_TESTS_UNIT_MPI_WORLD_H

/*
 * mpi_world.h - nodes with their MPI layer on the fake platform, for unit tests.
 *
 * One thread plays all nodes, so the layer is closed without its barrier.
 */
#include <starpu.h>
#include <string.h>

#include "base/check.h"
#include "fake.h"
#include "mpi/finish.h"
#include "mpi/mpi.h"

enum { WORLD_MAX = 128, WORLD_EAGER_BYTES = 256 };

static struct node *world_nodes[WORLD_MAX];
static int world_size;

static void world_open(int size)
{
	world_size = size;
	fake_start(size, 1e-6, 1e9);
	for (int i = 0; i < size; i++) {
		struct net_config config = {.name = "",
					    .rank = i,
					    .size = size,
					    .eager_bytes = WORLD_EAGER_BYTES};
		struct starpu_conf conf;

		fake_select(i);
		starpu_conf_init(&conf);
		ORR_ASSERT(starpu_init(&conf) == 0);
		world_nodes[i] = plat_self();
		ORR_ASSERT(mpi_open(world_nodes[i], &config) == 0);
	}
}

static void world_close(void)
{
	fake_run();
	for (int i = 0; i < world_size; i++) {
		fake_select(i);
		mpi_close_end(world_nodes[i]);
		starpu_shutdown();
	}
	fake_stop();
}

static struct mpi *world_mpi(int rank)
{
	fake_select(rank);
	return world_nodes[rank]->mpi;
}

static starpu_data_handle_t world_vector(int rank, int *values, unsigned n)
{
	starpu_data_handle_t handle;

	fake_select(rank);
	starpu_vector_data_register(&handle, values ? STARPU_MAIN_RAM : -1,
				    (uintptr_t)values, n, sizeof(int));
	return handle;
}

static void world_forget(int rank, starpu_data_handle_t handle)
{
	fake_select(rank);
	starpu_data_unregister(handle);
}

#endif
