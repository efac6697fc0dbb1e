/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Copies of several dimensions to, from and between CUDA devices, on the stand-in for
 * CUDA, which is no GPU: values of any shape arrive, and by as few copies as CUDA allows.
 */
#include <errno.h>

#include "../api/claim.h"
#include "on_device.h"

int claim_failures;

static void start(const char *direct)
{
	struct starpu_conf conf;

	setenv("STARPU_ENABLE_CUDA_GPU_GPU_DIRECT", direct, 1);
	starpu_conf_init(&conf);
	conf.ncpus = 0;
	conf.ncuda = 2;
	if (starpu_init(&conf) != 0)
		exit(77);
	for (int i = 1; i <= 3; i++)
		standin_ncopies(i); /* from here on */
}

/* ---- shapes -------------------------------------------------------------- */

enum { DIMS = 4 };

/* An array in a larger one; distances of elements, the innermost first. */
struct shape {
	unsigned n[DIMS], ld[DIMS];
};

static struct shape shape_of(void *buffer)
{
	const struct starpu_tensor_interface *t = buffer;

	return (struct shape){{t->nx, t->ny, t->nz, t->nt}, {1, t->ldy, t->ldz, t->ldt}};
}

static size_t extent(const struct shape *s)
{
	return (size_t)s->ld[3] * s->n[3];
}

/* Is element number i one of the array, and not between its rows? */
static int is_inside(const struct shape *s, size_t i)
{
	for (int d = DIMS - 1; d >= 0; d--) {
		if (i / s->ld[d] >= s->n[d])
			return 0;
		i %= s->ld[d];
	}
	return 1;
}

static void add_one(const struct launch *launch)
{
	struct shape s = shape_of(launch->ptr[1]);
	int *at = standin_at(launch->ptr[0]);

	for (size_t i = 0; i < extent(&s) - (s.ld[3] - s.ld[2] * s.n[2]); i++)
		if (is_inside(&s, i))
			at[i] += 1;
}

static void add_cuda(void *buffers[], void *arg)
{
	(void)arg;
	launch_here((struct launch){
		.func = add_one,
		.ptr = {(char *)STARPU_TENSOR_GET_PTR(buffers[0]), (char *)buffers[0]}});
	/* The interface is there until the task ends. */
	cudaStreamSynchronize(starpu_cuda_get_local_stream());
}

static struct starpu_codelet adds = {
	.cuda_funcs = {add_cuda}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "adds"};

/* By way of both devices, so often; around the array nothing is written. */
static void travel(const struct shape *s, int times)
{
	int *x = calloc(extent(s), sizeof(*x)), nwrong = 0;
	starpu_data_handle_t handle;

	starpu_tensor_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x, s->ld[1],
				    s->ld[2], s->ld[3], s->n[0], s->n[1], s->n[2],
				    s->n[3], sizeof(*x));
	for (int i = 0; i < times; i++)
		starpu_task_insert(&adds, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER,
				   i % 2, 0);
	starpu_data_unregister(handle);
	for (size_t i = 0; i < extent(s); i++)
		nwrong += x[i] != (is_inside(s, i) ? times : 0);
	CLAIM_EQ(nwrong, 0);
	if (nwrong)
		printf("shape %u %u %u %u, distances %u %u %u\n", s->n[0], s->n[1],
		       s->n[2], s->n[3], s->ld[1], s->ld[2], s->ld[3]);
	free(x);
}

/* Distances are whole numbers of the next smaller ones, or are not. */
static struct shape draw(unsigned *random)
{
	struct shape s = {.ld = {1}};

	for (int d = 0; d < DIMS; d++)
		s.n[d] = 1 + (unsigned)rand_r(random) % 6;
	for (int d = 1; d < DIMS; d++) {
		unsigned least = s.ld[d - 1] * s.n[d - 1],
			 more = (unsigned)rand_r(random) % 3;

		s.ld[d] = rand_r(random) % 2 ? least + more * s.ld[d - 1] : least + more;
	}
	return s;
}

static void any_shape(void)
{
	unsigned random = 1;

	for (int direct = 0; direct < 2; direct++) {
		start(direct ? "1" : "0");
		for (int i = 0; i < 150; i++) {
			struct shape s = draw(&random);

			travel(&s, 1 + i % 3);
		}
		CLAIM(standin_ncopies(3) > 0);
		starpu_shutdown();
	}
}

static void expect_copies(const struct shape *s, int flat, int rows, int planes)
{
	travel(s, 2);
	CLAIM_EQ(standin_ncopies(1), flat);
	CLAIM_EQ(standin_ncopies(2), rows);
	CLAIM_EQ(standin_ncopies(3), planes);
}

/* There, to the other device, and back. */
static void one_copy_where_CUDA_can(void)
{
	start("1");
	expect_copies(&(struct shape){{5, 4, 3, 1}, {1, 5, 20, 60}}, 3, 0, 0);
	expect_copies(&(struct shape){{5, 4, 1, 1}, {1, 7, 28, 28}}, 1, 2, 0);
	expect_copies(&(struct shape){{5, 4, 3, 1}, {1, 7, 35, 105}}, 1, 0, 2);
	/* Planes at a distance that is no number of rows. */
	expect_copies(&(struct shape){{5, 4, 3, 1}, {1, 7, 31, 93}}, 1, 6, 0);
	/* Four dimensions are some of three. */
	expect_copies(&(struct shape){{5, 4, 3, 2}, {1, 7, 35, 210}}, 1, 0, 4);
	starpu_shutdown();
}

static void rows_that_are_too_far(void)
{
	setenv("STANDIN_PITCH", "64", 1);
	start("1");
	expect_copies(&(struct shape){{5, 4, 3, 1}, {1, 17, 68, 204}}, 25, 0, 0);
	expect_copies(&(struct shape){{5, 4, 3, 1}, {1, 16, 80, 240}}, 1, 0, 2);
	starpu_shutdown();
	unsetenv("STANDIN_PITCH");
}

/* ---- what applications call ----------------------------------------------- */

enum { NX = 5, NY = 4, NZ = 3, LDY = 8, LDZ = 48, ROOM = LDZ * NZ, BYTES = NX * NY * NZ };

/* The bytes that are in the array. */
static int is_copied(int ndims, int i)
{
	if (ndims == 1)
		return i < NX;
	return i % LDZ / LDY < NY && i % LDY < NX && (ndims == 3 || i < LDZ);
}

static int copy(int ndims, char *from, unsigned from_node, char *to, unsigned to_node,
		cudaStream_t stream)
{
	switch (ndims) {
	case 1:
		return starpu_cuda_copy_async_sync(from, from_node, to, to_node, NX,
						   stream, cudaMemcpyDefault);
	case 2:
		return starpu_cuda_copy2d_async_sync(from, from_node, to, to_node, NX, NY,
						     LDY, LDY, stream, cudaMemcpyDefault);
	default:
		return starpu_cuda_copy3d_async_sync(from, from_node, to, to_node, NX, NY,
						     LDY, LDY, NZ, LDZ, LDZ, stream,
						     cudaMemcpyDefault);
	}
}

/* Main memory, device 0, itself, device 1, main memory: each time on a stream, or not. */
static void go_round(int ndims, cudaStream_t stream)
{
	static char first[ROOM], last[ROOM];
	char *on_0 = (char *)starpu_malloc_on_node(1, ROOM),
	     *also = (char *)starpu_malloc_on_node(1, ROOM),
	     *on_1 = (char *)starpu_malloc_on_node(2, ROOM);
	int expected = stream ? -EAGAIN : 0;

	for (int i = 0; i < ROOM; i++) {
		first[i] = (char)(i + 1);
		last[i] = 0;
	}
	CLAIM_EQ(copy(ndims, first, 0, on_0, 1, stream), expected);
	CLAIM_EQ(copy(ndims, on_0, 1, also, 1, stream), expected);
	CLAIM_EQ(copy(ndims, also, 1, on_1, 2, stream), expected);
	CLAIM_EQ(copy(ndims, on_1, 2, last, 0, stream), expected);
	if (stream)
		cudaStreamSynchronize(stream);
	for (int i = 0; i < ROOM; i++)
		CLAIM_EQ(last[i], is_copied(ndims, i) ? first[i] : 0);
	starpu_free_on_node(1, (uintptr_t)on_0, ROOM);
	starpu_free_on_node(1, (uintptr_t)also, ROOM);
	starpu_free_on_node(2, (uintptr_t)on_1, ROOM);
}

static void on_my_stream(void *arg)
{
	(void)arg;
	for (int ndims = 1; ndims <= 3; ndims++)
		go_round(ndims, starpu_cuda_get_local_stream());
}

static void copies_of_applications(void)
{
	unsigned worker = 0;

	start("1");
	CLAIM_EQ(starpu_memory_nodes_get_count(), 3);
	for (int ndims = 1; ndims <= 3; ndims++)
		go_round(ndims, NULL);
	starpu_execute_on_specific_workers(on_my_stream, NULL, 1, &worker, "copies");
	starpu_shutdown();
}

int main(void)
{
	static const struct claim claims[] = {
		{"arrays of any shape arrive", any_shape},
		{"they take one copy where CUDA can", one_copy_where_CUDA_can},
		{"rows that are too far from each other", rows_that_are_too_far},
		{"copies that applications ask for", copies_of_applications},
		{NULL, NULL}};

	standin_use();
	return claims_run(claims, 0);
}
