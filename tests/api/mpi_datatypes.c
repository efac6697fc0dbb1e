/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Datatypes of the application for an interface of its own: points with gaps. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

/* ---- the interface ---------------------------------------------------- */

struct point {
	double x;
	int id;
	char mark;
};

struct points {
	char *ptr;
	uint32_t n, stride; /* in points: this rank's own */
};

enum { POINT_BYTES = sizeof(double) + sizeof(int) + 1, FEW = 5, MANY = 5000 };

/* How often this rank's functions were called. */
static int nasked, nfreed, npacked, nunpacked, nrefused;
static unsigned asked_node;

static struct points *points_in(starpu_data_handle_t handle, unsigned node)
{
	return starpu_data_get_interface_on_node(handle, node);
}

static struct point *point(const struct points *points, uint32_t i)
{
	return (struct point *)(void *)(points->ptr +
					i * points->stride * sizeof(struct point));
}

static size_t extent(const struct points *points)
{
	return (size_t)points->n * points->stride * sizeof(struct point);
}

static void points_register(starpu_data_handle_t handle, int home, void *interface)
{
	for (int node = 0; node < STARPU_MAXNODES; node++) {
		struct points *points = points_in(handle, (unsigned)node);

		*points = *(struct points *)interface;
		if (node != home)
			points->ptr = NULL;
	}
}

static starpu_ssize_t points_allocate(void *interface, unsigned node)
{
	struct points *points = interface;

	points->ptr = (char *)starpu_malloc_on_node(node, extent(points));
	return points->ptr ? (starpu_ssize_t)extent(points) : -ENOMEM;
}

static void points_free(void *interface, unsigned node)
{
	struct points *points = interface;

	starpu_free_on_node(node, (uintptr_t)points->ptr, extent(points));
	points->ptr = NULL;
}

static int points_copy(void *from, unsigned from_node, void *to, unsigned to_node,
		       void *async_data)
{
	struct points *a = from, *b = to;

	return starpu_interface_copy((uintptr_t)a->ptr, 0, from_node, (uintptr_t)b->ptr,
				     0, to_node, extent(a), async_data);
}

static void *points_pointer(void *interface, unsigned node)
{
	(void)node;
	return ((struct points *)interface)->ptr;
}

static size_t points_size(starpu_data_handle_t handle)
{
	return extent(points_in(handle, STARPU_MAIN_RAM));
}

static uint32_t points_footprint(starpu_data_handle_t handle)
{
	return points_in(handle, STARPU_MAIN_RAM)->n;
}

static int points_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
		       starpu_ssize_t *count)
{
	struct points *points = points_in(handle, node);
	char *at;

	*count = (starpu_ssize_t)points->n * POINT_BYTES;
	if (!ptr)
		return 0;
	npacked++;
	at = *ptr = (void *)starpu_malloc_on_node_flags(node, (size_t)*count, 0);
	for (uint32_t i = 0; i < points->n; i++, at += POINT_BYTES)
		memcpy(at, point(points, i), POINT_BYTES);
	return 0;
}

static int points_unpack(starpu_data_handle_t handle, unsigned node, void *ptr,
			 size_t count)
{
	struct points *points = points_in(handle, node);
	char *at = ptr;

	nunpacked++;
	CLAIM_EQ(count, points->n * POINT_BYTES);
	for (uint32_t i = 0; i < points->n; i++, at += POINT_BYTES)
		memcpy(point(points, i), at, POINT_BYTES);
	starpu_free_on_node_flags(node, (uintptr_t)ptr, count, 0);
	return 0;
}

static const struct starpu_data_copy_methods points_methods = {.any_to_any = points_copy};

static struct starpu_data_interface_ops points_ops = {
	.register_data_handle = points_register,
	.allocate_data_on_node = points_allocate,
	.free_data_on_node = points_free,
	.copy_methods = &points_methods,
	.to_pointer = points_pointer,
	.get_size = points_size,
	.footprint = points_footprint,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct points),
	.pack_data = points_pack,
	.unpack_data = points_unpack,
	.name = (char *)"points",
};

/* ---- its datatypes ---------------------------------------------------- */

/* Numbers and marks, no gaps: no nested strides, so MPI packs it. */
static int members(starpu_data_handle_t handle, MPI_Datatype *type)
{
	const struct points *points = points_in(handle, STARPU_MAIN_RAM);
	int lengths[] = {1, 1, 1};
	MPI_Aint at[] = {offsetof(struct point, x), offsetof(struct point, id),
			 offsetof(struct point, mark)};
	MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR}, one, wide;
	MPI_Aint stride = (MPI_Aint)(points->stride * sizeof(struct point));

	nasked++;
	MPI_Type_create_struct(3, lengths, at, types, &one);
	MPI_Type_create_resized(one, 0, stride, &wide);
	MPI_Type_contiguous((int)points->n, wide, type);
	MPI_Type_commit(type);
	MPI_Type_free(&one);
	MPI_Type_free(&wide);
	return 0;
}

/* The first bytes of each point, as strides can say it. */
static int rows(starpu_data_handle_t handle, MPI_Datatype *type)
{
	const struct points *points = points_in(handle, STARPU_MAIN_RAM);
	MPI_Aint stride = (MPI_Aint)(points->stride * sizeof(struct point));

	nasked++;
	MPI_Type_create_hvector((int)points->n, POINT_BYTES, stride, MPI_BYTE, type);
	return MPI_Type_commit(type);
}

static int rows_on(starpu_data_handle_t handle, unsigned node, MPI_Datatype *type)
{
	asked_node = node;
	return rows(handle, type);
}

static int refuse(starpu_data_handle_t handle, MPI_Datatype *type)
{
	(void)handle;
	(void)type;
	nrefused++;
	return -1;
}

static void free_type(MPI_Datatype *type)
{
	nfreed++;
	MPI_Type_free(type);
}

/* ---- values ----------------------------------------------------------- */

static void number(void)
{
	if (points_ops.interfaceid == STARPU_UNKNOWN_INTERFACE_ID)
		points_ops.interfaceid = (enum starpu_data_interface_id)
			starpu_data_interface_get_next_id();
	nasked = nfreed = npacked = nunpacked = nrefused = 0;
	asked_node = 99;
}

static starpu_data_handle_t points_of(uint32_t n, int has_memory)
{
	struct points points = {.n = n, .stride = 1 + (uint32_t)RANK};
	starpu_data_handle_t handle;

	if (has_memory)
		points.ptr = calloc(1, extent(&points));
	for (uint32_t i = 0; points.ptr && RANK == 0 && i < n; i++)
		*point(&points, i) =
			(struct point){.x = i + 0.5, .id = (int)i, .mark = (char)(i % 7)};
	starpu_data_register(&handle, has_memory ? STARPU_MAIN_RAM : -1, &points,
			     &points_ops);
	return handle;
}

static int nwrong(const struct points *points)
{
	int n = 0;

	for (uint32_t i = 0; i < points->n; i++) {
		const struct point *p = point(points, i);

		n += p->x != i + 0.5 || p->id != (int)i || p->mark != (char)(i % 7);
	}
	return n;
}

static void forget(starpu_data_handle_t handle)
{
	void *memory = points_in(handle, STARPU_MAIN_RAM)->ptr;

	starpu_data_unregister(handle);
	free(memory);
}

static void check_and_forget(starpu_data_handle_t handle)
{
	struct points points;

	starpu_data_acquire(handle, STARPU_R);
	points = *points_in(handle, STARPU_MAIN_RAM);
	CLAIM_EQ(nwrong(&points), 0);
	starpu_data_release(handle);
	forget(handle);
}

/* From rank 0 to rank 1; late: the message comes before its receive. */
static void exchange(uint32_t n, int late)
{
	starpu_data_handle_t handle;

	if (RANK > 1)
		return;
	handle = points_of(n, 1);
	if (RANK == 0)
		starpu_mpi_isend_detached(handle, 1, TAG, WORLD, NULL, NULL);
	else if (late)
		starpu_sleep(0.01f);
	if (RANK == 1)
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	starpu_mpi_wait_for_all(WORLD);
	check_and_forget(handle);
}

static void exchange_all(void)
{
	exchange(FEW, 0);
	exchange(FEW, 1);
	exchange(MANY, 0);
	exchange(MANY, 1);
}

/* ---- claims ----------------------------------------------------------- */

static void without_a_function_values_are_packed(void)
{
	number();
	start();
	exchange_all();
	CLAIM_EQ(npacked, RANK == 0 ? 4 : 0);
	CLAIM_EQ(nunpacked, RANK == 1 ? 4 : 0);
	stop();
}

static void expect_asked(void)
{
	CLAIM(RANK > 1 || nasked >= 4);
	CLAIM_EQ(nfreed, nasked);
	CLAIM_EQ(npacked + nunpacked, 0);
}

/* Before the initialisation, and for two lives. */
static void any_datatype_arrives(void)
{
	number();
	starpu_mpi_interface_datatype_register(points_ops.interfaceid, members,
					       free_type);
	for (int life = 0; life < 2; life++) {
		start();
		exchange_all();
		expect_asked();
		stop();
	}
	starpu_mpi_interface_datatype_register(points_ops.interfaceid, rows, free_type);
	start();
	exchange_all();
	expect_asked();
	stop();
	starpu_mpi_interface_datatype_unregister(points_ops.interfaceid);
	starpu_mpi_interface_datatype_unregister(points_ops.interfaceid);
}

static void the_memory_is_told(void)
{
	starpu_data_handle_t handle;

	number();
	start();
	handle = points_of(FEW, 1);
	starpu_mpi_datatype_node_register(handle, rows_on, free_type);
	exchange_all();
	expect_asked();
	CLAIM(RANK > 1 || asked_node == STARPU_MAIN_RAM);
	starpu_mpi_datatype_unregister(handle);
	exchange(FEW, 0);
	CLAIM_EQ(npacked, RANK == 0);
	starpu_mpi_interface_datatype_node_register(points_ops.interfaceid, rows_on,
						    free_type);
	starpu_mpi_datatype_unregister(handle);
	exchange(FEW, 0);
	CLAIM_EQ(npacked, RANK == 0 ? 2 : 0);
	forget(handle);
	stop();
}

static void a_refusal_is_packed(void)
{
	starpu_data_handle_t handle;

	number();
	start();
	handle = points_of(FEW, 1);
	starpu_mpi_datatype_register(handle, refuse, free_type);
	exchange_all();
	CLAIM(RANK > 1 || nrefused >= 4);
	CLAIM_EQ(npacked, RANK == 0 ? 4 : 0);
	CLAIM_EQ(nunpacked, RANK == 1 ? 4 : 0);
	CLAIM_EQ(nfreed, 0);
	starpu_mpi_datatype_unregister(handle);
	forget(handle);
	stop();
}

static void touch_cpu(void *buffers[], void *arg)
{
	struct points *points = buffers[0];

	(void)arg;
	for (uint32_t i = 0; i < points->n; i++)
		*point(points, i) =
			(struct point){.x = i + 0.5, .id = (int)i, .mark = (char)(i % 7)};
}

static void look_cpu(void *buffers[], void *arg)
{
	(void)arg;
	CLAIM_EQ(nwrong(buffers[0]), 0);
}

static struct starpu_codelet touch = {.cpu_funcs = {touch_cpu},
				      .nbuffers = 1,
				      .modes = {STARPU_W},
				      .model = &starpu_perfmodel_nop,
				      .name = "touch"};
static struct starpu_codelet look = {.cpu_funcs = {look_cpu},
				     .nbuffers = 1,
				     .modes = {STARPU_R},
				     .model = &starpu_perfmodel_nop,
				     .name = "look"};

/* Sent from where tasks end, to all, into memory of the library. */
static void tasks_pass_them_on(void)
{
	static const starpu_mpi_datatype_allocate_func_t functions[] = {members, rows};

	number();
	start();
	for (int i = 0; i < 2; i++) {
		starpu_data_handle_t handle = points_of(MANY, 0);

		starpu_mpi_data_register(handle, TAG, 0);
		starpu_mpi_datatype_register(handle, functions[i], free_type);
		starpu_mpi_task_insert(WORLD, &touch, STARPU_W, handle, 0);
		for (int rank = 0; rank < claim_size; rank++)
			starpu_mpi_task_insert(WORLD, &look, STARPU_R, handle,
					       STARPU_EXECUTE_ON_NODE, rank, 0);
		starpu_mpi_wait_for_all(WORLD);
		starpu_mpi_datatype_unregister(handle);
		starpu_data_unregister(handle);
	}
	CLAIM_EQ(npacked + nunpacked, 0);
	CLAIM(nasked >= 2);
	CLAIM_EQ(nfreed, nasked);
	stop();
}

static const struct claim claims[] = {
	{"without a function values are packed", without_a_function_values_are_packed},
	{"any datatype arrives", any_datatype_arrives},
	{"the memory is told", the_memory_is_told},
	{"a refusal is packed", a_refusal_is_packed},
	{"tasks pass them on", tasks_pass_them_on},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
