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
#include "mpi/afar.h"
#include "mpi/finish.h"
#include "mpi/mpi.h"

enum { WORLD_MAX = 128, WORLD_EAGER_BYTES = 256 };

static struct node *world_nodes[WORLD_MAX];
static int world_size;

static inline void world_open(int size)
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

static inline void world_close(void)
{
	fake_run();
	for (int i = 0; i < world_size; i++) {
		fake_select(i);
		mpi_close_end(world_nodes[i]);
		starpu_shutdown();
	}
	fake_stop();
}

static inline struct mpi *world_mpi(int rank)
{
	fake_select(rank);
	return world_nodes[rank]->mpi;
}

static inline starpu_data_handle_t world_vector(int rank, int *values, unsigned n)
{
	starpu_data_handle_t handle;

	fake_select(rank);
	starpu_vector_data_register(&handle, values ? STARPU_MAIN_RAM : -1,
				    (uintptr_t)values, n, sizeof(int));
	return handle;
}

static inline void world_forget(int rank, starpu_data_handle_t handle)
{
	fake_select(rank);
	starpu_data_unregister(handle);
}

static inline struct request *world_post(int rank, enum request_kind kind,
					 starpu_data_handle_t handle, int peer,
					 int64_t tag)
{
	struct post what = {.kind = kind,
			    .handle = handle,
			    .peer = peer,
			    .tag = tag,
			    .is_waited = 1,
			    .what = "test"};

	return engine_post(world_mpi(rank), &what);
}

static inline void world_post_detached(int rank, struct post *what,
				       void (*callback)(void *), void *arg)
{
	what->callback = callback;
	what->arg = arg;
	what->what = "test";
	ORR_ASSERT(!engine_post(world_mpi(rank), what));
}

/* Both steps of an insertion, as starpu_mpi_task_insert() takes them. */
static inline int insert_task(struct mpi *mpi, int comm, struct starpu_codelet *cl,
			      struct arg_walk *args)
{
	enum afar seen = insert_look(mpi, comm, *args);

	return seen == AFAR_PASSED ? 0 : insert_closely(mpi, comm, cl, args, seen);
}

#endif
