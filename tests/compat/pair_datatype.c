/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* An interface of two arrays, allocated apart, whose MPI datatype holds their distance.
 */
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 3 /* packed, with a datatype, packed again */

struct pairs {
	int *x;
	double *y;
	int n;
};

static int nmade, nfreed;

static struct pairs *pairs_on(starpu_data_handle_t handle, unsigned node)
{
	return (struct pairs *)starpu_data_get_interface_on_node(handle, node);
}

static size_t pairs_bytes(const struct pairs *pairs)
{
	return (size_t)pairs->n * (sizeof(int) + sizeof(double));
}

static void pairs_register(starpu_data_handle_t handle, int home, void *interface)
{
	for (int node = 0; node < STARPU_MAXNODES; node++) {
		struct pairs *pairs = pairs_on(handle, (unsigned)node);

		*pairs = *(struct pairs *)interface;
		if (node != home)
			pairs->x = NULL, pairs->y = NULL;
	}
}

static starpu_ssize_t pairs_allocate(void *interface, unsigned node)
{
	struct pairs *pairs = interface;

	pairs->x = (int *)starpu_malloc_on_node(node, (size_t)pairs->n * sizeof(int));
	pairs->y =
		(double *)starpu_malloc_on_node(node, (size_t)pairs->n * sizeof(double));
	return pairs->x && pairs->y ? (starpu_ssize_t)pairs_bytes(pairs) : -ENOMEM;
}

static void pairs_free(void *interface, unsigned node)
{
	struct pairs *pairs = interface;

	starpu_free_on_node(node, (uintptr_t)pairs->x, (size_t)pairs->n * sizeof(int));
	starpu_free_on_node(node, (uintptr_t)pairs->y, (size_t)pairs->n * sizeof(double));
	pairs->x = NULL;
	pairs->y = NULL;
}

static int pairs_copy(void *from, unsigned from_node, void *to, unsigned to_node,
		      void *async)
{
	struct pairs *a = from, *b = to;
	int late = starpu_interface_copy((uintptr_t)a->x, 0, from_node, (uintptr_t)b->x,
					 0, to_node, (size_t)a->n * sizeof(int), async);

	late |= starpu_interface_copy((uintptr_t)a->y, 0, from_node, (uintptr_t)b->y, 0,
				      to_node, (size_t)a->n * sizeof(double), async);
	return late ? -EAGAIN : 0;
}

static size_t pairs_size(starpu_data_handle_t handle)
{
	return pairs_bytes(pairs_on(handle, STARPU_MAIN_RAM));
}

static uint32_t pairs_footprint(starpu_data_handle_t handle)
{
	return (uint32_t)pairs_on(handle, STARPU_MAIN_RAM)->n;
}

static void *pairs_pointer(void *interface, unsigned node)
{
	(void)node;
	return ((struct pairs *)interface)->x;
}

static int pairs_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
		      starpu_ssize_t *count)
{
	struct pairs *pairs = pairs_on(handle, node);
	size_t x_bytes = (size_t)pairs->n * sizeof(int);
	char *row;

	*count = (starpu_ssize_t)pairs_bytes(pairs);
	if (!ptr)
		return 0;
	row = (char *)starpu_malloc_on_node_flags(node, pairs_bytes(pairs), 0);
	memcpy(row, pairs->x, x_bytes);
	memcpy(row + x_bytes, pairs->y, (size_t)pairs->n * sizeof(double));
	*ptr = row;
	return 0;
}

static int pairs_unpack(starpu_data_handle_t handle, unsigned node, void *ptr,
			size_t count)
{
	struct pairs *pairs = pairs_on(handle, node);
	size_t x_bytes = (size_t)pairs->n * sizeof(int);

	memcpy(pairs->x, ptr, x_bytes);
	memcpy(pairs->y, (char *)ptr + x_bytes, (size_t)pairs->n * sizeof(double));
	starpu_free_on_node_flags(node, (uintptr_t)ptr, count, 0);
	return 0;
}

static const struct starpu_data_copy_methods pairs_methods = {.any_to_any = pairs_copy};

static struct starpu_data_interface_ops pairs_ops = {
	.register_data_handle = pairs_register,
	.allocate_data_on_node = pairs_allocate,
	.free_data_on_node = pairs_free,
	.copy_methods = &pairs_methods,
	.get_size = pairs_size,
	.footprint = pairs_footprint,
	.to_pointer = pairs_pointer,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct pairs),
	.pack_data = pairs_pack,
	.unpack_data = pairs_unpack,
};

static int type_allocate(starpu_data_handle_t handle, MPI_Datatype *type)
{
	struct pairs *pairs = pairs_on(handle, STARPU_MAIN_RAM);
	int lengths[] = {pairs->n, pairs->n};
	MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
	MPI_Aint x, y, at[2];

	MPI_Get_address(pairs->x, &x);
	MPI_Get_address(pairs->y, &y);
	at[0] = 0;
	at[1] = y - x;
	MPI_Type_create_struct(2, lengths, at, types, type);
	MPI_Type_commit(type);
	(void)STARPU_ATOMIC_ADD(&nmade, 1);
	return 0;
}

static void type_free(MPI_Datatype *type)
{
	MPI_Type_free(type);
	(void)STARPU_ATOMIC_ADD(&nfreed, 1);
}

static void add_cpu(void *buffers[], void *arg)
{
	struct pairs *pairs = buffers[0];
	int by;

	starpu_codelet_unpack_args(arg, &by);
	for (int i = 0; i < pairs->n; i++) {
		pairs->x[i] += by;
		pairs->y[i] += 0.5 * by;
	}
}

static struct starpu_codelet add_cl = {
	.cpu_funcs = {add_cpu},
	.nbuffers = 1,
	.modes = {STARPU_RW},
	.name = "add",
	.model = &starpu_perfmodel_nop,
};

static starpu_data_handle_t pairs_of(int n, int *x, double *y)
{
	struct pairs pairs = {.x = x, .y = y, .n = n};
	starpu_data_handle_t handle;

	starpu_data_register(&handle, x ? STARPU_MAIN_RAM : -1, &pairs, &pairs_ops);
	return handle;
}

static int differs(starpu_data_handle_t handle, int expected)
{
	struct pairs *pairs;
	int bad = 0;

	starpu_data_acquire(handle, STARPU_R);
	pairs = pairs_on(handle, STARPU_MAIN_RAM);
#ifdef STARPU_SIMGRID
	if (getenv("CHECK_VALUES"))
#endif
		for (int i = 0; i < pairs->n && !bad; i++)
			bad = pairs->x[i] != expected || pairs->y[i] != 0.5 * expected;
	if (bad)
		fprintf(stderr, "%d: %d pairs, not %d\n", starpu_mpi_world_rank(),
			pairs->n, expected);
	starpu_data_release(handle);
	return bad;
}

/* Each node adds in turn, twice; then the last one sends the value on. */
static int turns(int n, int rank, int size)
{
	int *x = rank == 0 ? calloc((size_t)n, sizeof(int)) : NULL;
	double *y = rank == 0 ? calloc((size_t)n, sizeof(double)) : NULL;
	starpu_data_handle_t handle = pairs_of(n, x, y), other = pairs_of(n, NULL, NULL);
	int expected = size * (2 * size + 1), bad = 0;

	starpu_mpi_data_register(handle, n, 0);
	for (int by = 1; by <= 2 * size; by++) {
		int ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &add_cl, STARPU_RW,
						 handle, STARPU_VALUE, &by, sizeof(by),
						 STARPU_EXECUTE_ON_NODE, by % size, 0);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_task_insert");
	}
	if (rank == 0)
		starpu_mpi_isend_detached(handle, size - 1, 7, MPI_COMM_WORLD, NULL,
					  NULL);
	if (rank == size - 1) {
		starpu_mpi_recv(other, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		bad = differs(other, expected);
	}
	if (rank == 0)
		bad |= differs(handle, expected);
	starpu_data_unregister(handle);
	starpu_data_unregister(other);
	free(x);
	free(y);
	return bad;
}

int main(int argc, char **argv)
{
	static const int sizes[] = {3, 500, 40000};
	int ret, rank, size, bad = 0;

	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	rank = starpu_mpi_world_rank();
	size = starpu_mpi_world_size();
	pairs_ops.interfaceid = starpu_data_interface_get_next_id();
	for (int round = 0; round < ROUNDS; round++) {
		if (round == 1)
			starpu_mpi_interface_datatype_register(pairs_ops.interfaceid,
							       type_allocate, type_free);
		if (round == 2)
			starpu_mpi_interface_datatype_unregister(pairs_ops.interfaceid);
		for (int i = 0; i < 3; i++)
			bad |= turns(sizes[i], rank, size);
		starpu_mpi_barrier(MPI_COMM_WORLD);
	}
	if (size > 1 && (nmade == 0 || nmade != nfreed)) {
		fprintf(stderr, "%d: %d datatypes, %d freed\n", rank, nmade, nfreed);
		bad = 1;
	}
	starpu_mpi_shutdown();
	return bad;
}
