/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Data of the application's own kind between nodes: particles, of which a swarm is an
 * array.  An MPI datatype says what of them travels: position and velocity, while the
 * force is each node's own.  Small swarms are packed instead: the datatype refuses them.
 * usage: user_datatype, on any number of nodes; swarms go round them.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_mpi.h>

enum { STEPS = 8, FEW = 3, MANY = 1000, TRAVELS = 2 /* numbers of a particle */ };

struct particle {
	double position, velocity;
	double force; /* does not travel */
};

struct swarm {
	struct particle *particles;
	uint32_t n;
};

static int ntypes, npacked; /* of this node */

static struct swarm *swarm_on(starpu_data_handle_t handle, unsigned node)
{
	return starpu_data_get_interface_on_node(handle, node);
}

static size_t swarm_bytes(const struct swarm *swarm)
{
	return swarm->n * sizeof(struct particle);
}

/* ---- what the library asks of any kind of data ------------------------- */

static void swarm_register(starpu_data_handle_t handle, int home, void *interface)
{
	for (int node = 0; node < STARPU_MAXNODES; node++) {
		struct swarm *swarm = swarm_on(handle, (unsigned)node);

		*swarm = *(struct swarm *)interface;
		if (node != home)
			swarm->particles = NULL;
	}
}

static starpu_ssize_t swarm_allocate(void *interface, unsigned node)
{
	struct swarm *swarm = interface;

	swarm->particles = (void *)starpu_malloc_on_node(node, swarm_bytes(swarm));
	return swarm->particles ? (starpu_ssize_t)swarm_bytes(swarm) : -ENOMEM;
}

static void swarm_free(void *interface, unsigned node)
{
	struct swarm *swarm = interface;

	starpu_free_on_node(node, (uintptr_t)swarm->particles, swarm_bytes(swarm));
	swarm->particles = NULL;
}

static int swarm_copy(void *from, unsigned from_node, void *to, unsigned to_node,
		      void *async_data)
{
	struct swarm *a = from, *b = to;

	return starpu_interface_copy((uintptr_t)a->particles, 0, from_node,
				     (uintptr_t)b->particles, 0, to_node, swarm_bytes(a),
				     async_data);
}

static void *swarm_pointer(void *interface, unsigned node)
{
	(void)node;
	return ((struct swarm *)interface)->particles;
}

static size_t swarm_size(starpu_data_handle_t handle)
{
	return swarm_bytes(swarm_on(handle, STARPU_MAIN_RAM));
}

static uint32_t swarm_footprint(starpu_data_handle_t handle)
{
	return starpu_hash_crc32c_be(swarm_on(handle, STARPU_MAIN_RAM)->n, 0);
}

/* ---- how it travels: as a datatype, or packed ---------------------------- */

static int swarm_datatype(starpu_data_handle_t handle, MPI_Datatype *type)
{
	const struct swarm *swarm = swarm_on(handle, STARPU_MAIN_RAM);

	if (swarm->n < MANY)
		return -1;
	ntypes++;
	MPI_Type_vector((int)swarm->n, TRAVELS, sizeof(struct particle) / sizeof(double),
			MPI_DOUBLE, type);
	return MPI_Type_commit(type);
}

static void swarm_free_datatype(MPI_Datatype *type)
{
	MPI_Type_free(type);
}

static int swarm_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
		      starpu_ssize_t *count)
{
	const struct swarm *swarm = swarm_on(handle, node);
	double *at;

	*count = (starpu_ssize_t)(swarm->n * TRAVELS * sizeof(double));
	if (!ptr) /* Only the size is asked for. */
		return 0;
	at = *ptr = (void *)starpu_malloc_on_node_flags(node, (size_t)*count, 0);
	if (!at)
		return -ENOMEM;
	npacked++;
	for (uint32_t i = 0; i < swarm->n; i++) {
		*at++ = swarm->particles[i].position;
		*at++ = swarm->particles[i].velocity;
	}
	return 0;
}

static int swarm_unpack(starpu_data_handle_t handle, unsigned node, void *ptr,
			size_t count)
{
	struct swarm *swarm = swarm_on(handle, node);
	const double *at = ptr;

	for (uint32_t i = 0; i < swarm->n; i++) {
		swarm->particles[i].position = *at++;
		swarm->particles[i].velocity = *at++;
	}
	starpu_free_on_node_flags(node, (uintptr_t)ptr, count, 0);
	return 0;
}

static const struct starpu_data_copy_methods swarm_methods = {.any_to_any = swarm_copy};

static struct starpu_data_interface_ops swarm_ops = {
	.register_data_handle = swarm_register,
	.allocate_data_on_node = swarm_allocate,
	.free_data_on_node = swarm_free,
	.copy_methods = &swarm_methods,
	.to_pointer = swarm_pointer,
	.get_size = swarm_size,
	.footprint = swarm_footprint,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct swarm),
	.pack_data = swarm_pack,
	.unpack_data = swarm_unpack,
	.name = (char *)"swarm",
};

/* ---- what is computed ------------------------------------------------------ */

static void move_cpu(void *buffers[], void *arg)
{
	struct swarm *swarm = buffers[0];

	(void)arg;
	for (uint32_t i = 0; i < swarm->n; i++) {
		struct particle *particle = &swarm->particles[i];

		particle->force = 1; /* gravity */
		particle->velocity += particle->force;
		particle->position += particle->velocity;
	}
}

static struct starpu_codelet move = {.cpu_funcs = {move_cpu},
				     .nbuffers = 1,
				     .modes = {STARPU_RW},
				     .model = &starpu_perfmodel_nop,
				     .name = "move"};

/* Both swarms belong to node 0. */
static starpu_data_handle_t register_swarm(int rank, struct particle *particles,
					   uint32_t n, starpu_mpi_tag_t tag)
{
	struct swarm given = {.particles = rank == 0 ? particles : NULL, .n = n};
	starpu_data_handle_t handle;

	starpu_data_register(&handle, rank == 0 ? STARPU_MAIN_RAM : -1, &given,
			     &swarm_ops);
	starpu_mpi_data_register(handle, tag, 0);
	return handle;
}

static int count_wrong(const struct particle *particles, int n)
{
	int nwrong = 0;

	for (int i = 0; i < n; i++)
		nwrong += particles[i].velocity != STEPS ||
			  particles[i].position != STEPS * (STEPS + 1) / 2.0;
	return nwrong;
}

int main(int argc, char **argv)
{
	static struct particle few[FEW], many[MANY];
	starpu_data_handle_t swarms[2];
	int rank, size, nwrong = 0;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0)
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	swarm_ops.interfaceid =
		(enum starpu_data_interface_id)starpu_data_interface_get_next_id();
	starpu_mpi_interface_datatype_register(swarm_ops.interfaceid, swarm_datatype,
					       swarm_free_datatype);
	swarms[0] = register_swarm(rank, few, FEW, 0);
	swarms[1] = register_swarm(rank, many, MANY, 1);
	for (int step = 0; step < STEPS; step++)
		for (int i = 0; i < 2; i++)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &move, STARPU_RW,
					       swarms[i], STARPU_EXECUTE_ON_NODE,
					       step % size, 0);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(swarms[i]);
	starpu_mpi_shutdown();
	if (rank == 0)
		nwrong = count_wrong(few, FEW) + count_wrong(many, MANY);
	/* Alone, nothing travels; nor to nodes that have no step. */
	if (size > 1 && rank < STEPS && (ntypes == 0 || npacked == 0))
		nwrong++;
	printf("node %d: %d datatypes, packed %d times, %d wrong\n", rank, ntypes,
	       npacked, nwrong);
	return nwrong != 0;
}
