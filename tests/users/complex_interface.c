/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* An interface of the application's, of two arrays, with filters of its own, copies,
 * packing, duplicates and a reduction. */
#include <starpu.h>
#include <stdio.h>

struct starpu_complex_interface {
	enum starpu_data_interface_id id;
	uintptr_t ptr;
	double *real;
	double *imaginary;
	uint32_t nx;
};

#define STARPU_COMPLEX_GET_REAL(interface)                                               \
	(((struct starpu_complex_interface *)(interface))->real)
#define STARPU_COMPLEX_GET_IMAGINARY(interface)                                          \
	(((struct starpu_complex_interface *)(interface))->imaginary)
#define STARPU_COMPLEX_GET_NX(interface)                                                 \
	(((struct starpu_complex_interface *)(interface))->nx)

static void complex_register_data_handle(starpu_data_handle_t handle, int home_node,
					 void *data_interface)
{
	struct starpu_complex_interface *complex_interface = data_interface;
	int node;

	for (node = 0; node < STARPU_MAXNODES; node++) {
		struct starpu_complex_interface *local_interface =
			starpu_data_get_interface_on_node(handle, node);

		local_interface->nx = complex_interface->nx;
		if (node == home_node) {
			local_interface->real = complex_interface->real;
			local_interface->imaginary = complex_interface->imaginary;
		} else {
			local_interface->real = NULL;
			local_interface->imaginary = NULL;
		}
	}
}

static starpu_ssize_t complex_allocate_data_on_node(void *data_interface, unsigned node)
{
	struct starpu_complex_interface *complex_interface = data_interface;
	size_t requested_memory = complex_interface->nx * sizeof(double);
	double *addr_real = (double *)starpu_malloc_on_node(node, requested_memory);
	double *addr_imaginary;

	if (!addr_real)
		return -ENOMEM;
	addr_imaginary = (double *)starpu_malloc_on_node(node, requested_memory);
	if (!addr_imaginary) {
		starpu_free_on_node(node, (uintptr_t)addr_real, requested_memory);
		return -ENOMEM;
	}
	complex_interface->real = addr_real;
	complex_interface->imaginary = addr_imaginary;
	return 2 * requested_memory;
}

static void complex_free_data_on_node(void *data_interface, unsigned node)
{
	struct starpu_complex_interface *complex_interface = data_interface;
	size_t requested_memory = complex_interface->nx * sizeof(double);

	starpu_free_on_node(node, (uintptr_t)complex_interface->real, requested_memory);
	starpu_free_on_node(node, (uintptr_t)complex_interface->imaginary,
			    requested_memory);
	complex_interface->real = complex_interface->imaginary = NULL;
}

static size_t complex_get_size(starpu_data_handle_t handle)
{
	struct starpu_complex_interface *complex_interface =
		starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM);

	return complex_interface->nx * 2 * sizeof(double);
}

static uint32_t complex_footprint(starpu_data_handle_t handle)
{
	struct starpu_complex_interface *complex_interface =
		starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM);

	return starpu_hash_crc32c_be(complex_interface->nx, 0);
}

static void *complex_to_pointer(void *data_interface, unsigned node)
{
	struct starpu_complex_interface *complex_interface = data_interface;

	(void)node;
	return (void *)complex_interface->real;
}

static int complex_pack_data(starpu_data_handle_t handle, unsigned node, void **ptr,
			     starpu_ssize_t *count)
{
	struct starpu_complex_interface *complex_interface =
		starpu_data_get_interface_on_node(handle, node);
	size_t bytes = complex_interface->nx * sizeof(double);

	STARPU_ASSERT(starpu_data_test_if_allocated_on_node(handle, node));
	*count = complex_get_size(handle);
	if (ptr != NULL) {
		char *data = (void *)starpu_malloc_on_node_flags(node, *count, 0);

		*ptr = data;
		memcpy(data, complex_interface->real, bytes);
		memcpy(data + bytes, complex_interface->imaginary, bytes);
	}
	return 0;
}

static int complex_peek_data(starpu_data_handle_t handle, unsigned node, void *ptr,
			     size_t count)
{
	struct starpu_complex_interface *complex_interface =
		starpu_data_get_interface_on_node(handle, node);
	size_t bytes = complex_interface->nx * sizeof(double);

	STARPU_ASSERT(count == 2 * bytes);
	memcpy(complex_interface->real, ptr, bytes);
	memcpy(complex_interface->imaginary, (char *)ptr + bytes, bytes);
	return 0;
}

static int complex_unpack_data(starpu_data_handle_t handle, unsigned node, void *ptr,
			       size_t count)
{
	complex_peek_data(handle, node, ptr, count);
	starpu_free_on_node_flags(node, (uintptr_t)ptr, count, 0);
	return 0;
}

static starpu_ssize_t complex_describe(void *data_interface, char *buf, size_t size)
{
	struct starpu_complex_interface *complex_interface = data_interface;

	return snprintf(buf, size, "Complex%d", complex_interface->nx);
}

static int complex_compare(void *data_interface_a, void *data_interface_b)
{
	struct starpu_complex_interface *a = data_interface_a, *b = data_interface_b;

	return a->nx == b->nx;
}

static int complex_copy_any_to_any(void *src_interface, unsigned src_node,
				   void *dst_interface, unsigned dst_node,
				   void *async_data)
{
	struct starpu_complex_interface *src = src_interface, *dst = dst_interface;
	size_t bytes = src->nx * sizeof(double);
	int ret = 0;

	if (starpu_interface_copy((uintptr_t)src->real, 0, src_node, (uintptr_t)dst->real,
				  0, dst_node, bytes, async_data))
		ret = -EAGAIN;
	if (starpu_interface_copy((uintptr_t)src->imaginary, 0, src_node,
				  (uintptr_t)dst->imaginary, 0, dst_node, bytes,
				  async_data))
		ret = -EAGAIN;
	return ret;
}

static struct starpu_data_copy_methods complex_copy_methods = {
	.any_to_any = complex_copy_any_to_any};

static struct starpu_data_interface_ops interface_complex_ops = {
	.register_data_handle = complex_register_data_handle,
	.allocate_data_on_node = complex_allocate_data_on_node,
	.free_data_on_node = complex_free_data_on_node,
	.copy_methods = &complex_copy_methods,
	.get_size = complex_get_size,
	.footprint = complex_footprint,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct starpu_complex_interface),
	.to_pointer = complex_to_pointer,
	.pack_data = complex_pack_data,
	.peek_data = complex_peek_data,
	.unpack_data = complex_unpack_data,
	.describe = complex_describe,
	.compare = complex_compare,
};

static void starpu_complex_data_register(starpu_data_handle_t *handleptr, int home_node,
					 double *real, double *imaginary, int nx)
{
	struct starpu_complex_interface complex_if = {
		.real = real, .imaginary = imaginary, .nx = nx};

	starpu_data_register(handleptr, home_node, &complex_if, &interface_complex_ops);
}

/* ---- filters: blocks, and the real part as a vector ------------------- */

static void filter_complex_block(void *father_interface, void *child_interface,
				 struct starpu_data_filter *f, unsigned id,
				 unsigned nchunks)
{
	struct starpu_complex_interface *father = father_interface,
					*child = child_interface;
	uint32_t nx = father->nx;
	unsigned child_nx;
	size_t offset;

	(void)f;
	starpu_filter_nparts_compute_chunk_size_and_offset(nx, nchunks, sizeof(double),
							   id, 1, &child_nx, &offset);
	child->nx = child_nx;
	if (father->real) {
		child->real = (void *)((uintptr_t)father->real + offset);
		child->imaginary = (void *)((uintptr_t)father->imaginary + offset);
	}
}

static void filter_complex_parts(void *father_interface, void *child_interface,
				 struct starpu_data_filter *f, unsigned id,
				 unsigned nchunks)
{
	struct starpu_complex_interface *father = father_interface;
	struct starpu_vector_interface *child = child_interface;

	(void)f;
	(void)nchunks;
	child->id = STARPU_VECTOR_INTERFACE_ID;
	child->nx = father->nx;
	child->elemsize = sizeof(double);
	child->slice_base = 0;
	child->allocsize = child->nx * child->elemsize;
	if (father->real) {
		child->ptr = (uintptr_t)(id ? father->imaginary : father->real);
		child->dev_handle = child->ptr;
		child->offset = 0;
	}
}

static unsigned two_parts(struct starpu_data_filter *f, starpu_data_handle_t handle)
{
	(void)f;
	STARPU_ASSERT(starpu_data_get_size(handle) > 0);
	return 2;
}

static struct starpu_data_interface_ops *parts_are_vectors(struct starpu_data_filter *f,
							   unsigned id)
{
	(void)f;
	STARPU_ASSERT(id < 2);
	return &starpu_interface_vector_ops;
}

/* ---- tasks ------------------------------------------------------------ */

static void scal_cpu(void *buffers[], void *cl_arg)
{
	double *re = STARPU_COMPLEX_GET_REAL(buffers[0]);
	double *im = STARPU_COMPLEX_GET_IMAGINARY(buffers[0]);
	unsigned i;

	(void)cl_arg;
	for (i = 0; i < STARPU_COMPLEX_GET_NX(buffers[0]); i++) {
		re[i] *= 2;
		im[i] *= 3;
	}
}

static void add_cpu(void *buffers[], void *cl_arg)
{
	unsigned i;

	(void)cl_arg;
	for (i = 0; i < STARPU_COMPLEX_GET_NX(buffers[0]); i++) {
		STARPU_COMPLEX_GET_REAL(buffers[0])
		[i] += STARPU_COMPLEX_GET_REAL(buffers[1])[i];
		STARPU_COMPLEX_GET_IMAGINARY(buffers[0])
		[i] += STARPU_COMPLEX_GET_IMAGINARY(buffers[1])[i];
	}
}

static void zero_cpu(void *buffers[], void *cl_arg)
{
	unsigned i;

	(void)cl_arg;
	for (i = 0; i < STARPU_COMPLEX_GET_NX(buffers[0]); i++)
		STARPU_COMPLEX_GET_REAL(buffers[0])
	[i] = STARPU_COMPLEX_GET_IMAGINARY(buffers[0])[i] = 0;
}

static void ones_cpu(void *buffers[], void *cl_arg)
{
	unsigned i;

	(void)cl_arg;
	for (i = 0; i < STARPU_COMPLEX_GET_NX(buffers[0]); i++)
		STARPU_COMPLEX_GET_REAL(buffers[0])[i] += 1;
}

static void vector_cpu(void *buffers[], void *cl_arg)
{
	double *v = (double *)STARPU_VECTOR_GET_PTR(buffers[0]);
	unsigned i;

	(void)cl_arg;
	for (i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i] += 0.5;
}

static struct starpu_codelet
	scal_cl = {.cpu_funcs = {scal_cpu}, .nbuffers = 1, .modes = {STARPU_RW}},
	add_cl = {.cpu_funcs = {add_cpu},
		  .nbuffers = 2,
		  .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R}},
	zero_cl = {.cpu_funcs = {zero_cpu}, .nbuffers = 1, .modes = {STARPU_W}},
	ones_cl = {.cpu_funcs = {ones_cpu}, .nbuffers = 1, .modes = {STARPU_REDUX}},
	vector_cl = {.cpu_funcs = {vector_cpu}, .nbuffers = 1, .modes = {STARPU_RW}};

#define N 7

/* Ten contributions, then the packed value is given to the copy. */
static int reduce_and_pack(starpu_data_handle_t handle, starpu_data_handle_t copy)
{
	starpu_ssize_t count;
	void *packed;
	double *real, *imaginary;
	int i, bad = 0;

	starpu_data_set_reduction_methods(handle, &add_cl, &zero_cl);
	for (i = 0; i < 10; i++)
		starpu_task_insert(&ones_cl, STARPU_REDUX, handle, 0);
	starpu_data_acquire(handle, STARPU_R);
	starpu_data_pack(handle, &packed, &count);
	STARPU_ASSERT(count == 2 * N * (starpu_ssize_t)sizeof(double));
	real = STARPU_COMPLEX_GET_REAL(starpu_data_get_interface_on_node(handle, 0));
	imaginary = STARPU_COMPLEX_GET_IMAGINARY(
		starpu_data_get_interface_on_node(handle, 0));
	for (i = 0; i < N; i++)
		bad += real[i] != 4 * i + 10 || imaginary[i] != 90 * i + 1.5;
	starpu_data_release(handle);
	starpu_data_acquire(copy, STARPU_RW);
	real = STARPU_COMPLEX_GET_REAL(starpu_data_get_interface_on_node(copy, 0));
	imaginary =
		STARPU_COMPLEX_GET_IMAGINARY(starpu_data_get_interface_on_node(copy, 0));
	for (i = 0; i < N; i++)
		bad += real[i] != 4 * i || imaginary[i] != 90 * i + 1.5;
	starpu_data_unpack(copy, packed, count);
	for (i = 0; i < N; i++)
		bad += real[i] != 4 * i + 10;
	starpu_data_release(copy);
	return bad;
}

int main(void)
{
	double real[N], imaginary[N], real2[N], imaginary2[N];
	starpu_data_handle_t handle, copy, same, read_only, halves[2];
	int i, bad = 0;

	if (starpu_init(NULL) != 0)
		return 77;
	for (i = 0; i < N; i++) {
		real[i] = i;
		imaginary[i] = 10 * i;
		real2[i] = imaginary2[i] = -1;
	}
	starpu_data_register_ops(&interface_complex_ops);
	STARPU_ASSERT((int)interface_complex_ops.interfaceid >= STARPU_MAX_INTERFACE_ID);
	starpu_complex_data_register(&handle, STARPU_MAIN_RAM, real, imaginary, N);
	starpu_complex_data_register(&copy, STARPU_MAIN_RAM, real2, imaginary2, N);
	STARPU_ASSERT(starpu_data_get_interface_id(handle) ==
		      interface_complex_ops.interfaceid);
	STARPU_ASSERT(starpu_data_handle_to_pointer(handle, STARPU_MAIN_RAM) == real);
	struct starpu_data_filter f = {.filter_func = filter_complex_block,
				       .nchildren = 3};
	starpu_data_partition(handle, &f);
	for (i = 0; i < 3; i++)
		starpu_task_insert(&scal_cl, STARPU_RW,
				   starpu_data_get_sub_data(handle, 1, i), 0);
	starpu_data_unpartition(handle, STARPU_MAIN_RAM);
	/* 2 i, 30 i */
	struct starpu_data_filter p = {.filter_func = filter_complex_parts,
				       .get_nchildren = two_parts,
				       .get_child_ops = parts_are_vectors};
	starpu_data_partition_plan(handle, &p, halves);
	starpu_task_insert(&vector_cl, STARPU_RW, halves[1], 0);
	starpu_task_insert(&scal_cl, STARPU_RW, handle, 0);
	starpu_data_partition_clean(handle, 2, halves);
	/* 4 i, 90 i + 1.5 */
	starpu_data_register_same(&same, handle);
	starpu_data_cpy(same, handle, 1, NULL, NULL);
	starpu_data_dup_ro(&read_only, same, 1);
	starpu_data_cpy(copy, read_only, 0, NULL, NULL);
	starpu_data_unregister_submit(read_only);
	starpu_data_unregister(same);
	bad += reduce_and_pack(handle, copy);
	starpu_data_unregister(handle);
	starpu_data_unregister(copy);
	starpu_shutdown();
	if (bad)
		fprintf(stderr, "%d values are wrong\n", bad);
	return bad != 0;
}
