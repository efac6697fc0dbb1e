/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * An interface of the application's own: complex numbers as two arrays, one of real
 * parts, one of imaginary parts.  Each operation below is called by the library; tasks
 * get the struct of the memory where they run.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

struct complex_interface {
	double *real, *imaginary;
	uint32_t nx;
};

static struct complex_interface *in_ram(starpu_data_handle_t handle)
{
	return starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM);
}

static size_t part_bytes(const struct complex_interface *complex)
{
	return complex->nx * sizeof(double);
}

static void complex_register(starpu_data_handle_t handle, int home_node, void *interface)
{
	for (int node = 0; node < STARPU_MAXNODES; node++) {
		struct complex_interface *complex =
			starpu_data_get_interface_on_node(handle, (unsigned)node);

		*complex = *(struct complex_interface *)interface;
		if (node != home_node)
			complex->real = complex->imaginary = NULL;
	}
}

static void complex_free(void *interface, unsigned node)
{
	struct complex_interface *complex = interface;

	starpu_free_on_node(node, (uintptr_t)complex->real, part_bytes(complex));
	starpu_free_on_node(node, (uintptr_t)complex->imaginary, part_bytes(complex));
	complex->real = complex->imaginary = NULL;
}

static starpu_ssize_t complex_allocate(void *interface, unsigned node)
{
	struct complex_interface *complex = interface;
	size_t bytes = part_bytes(complex);

	complex->real = (double *)starpu_malloc_on_node(node, bytes);
	complex->imaginary = (double *)starpu_malloc_on_node(node, bytes);
	if (complex->real && complex->imaginary)
		return (starpu_ssize_t)(2 * bytes);
	complex_free(complex, node);
	return -ENOMEM;
}

static int complex_copy(void *from, unsigned from_node, void *to, unsigned to_node,
			void *async_data)
{
	struct complex_interface *a = from, *b = to;
	int ret = starpu_interface_copy((uintptr_t)a->real, 0, from_node,
					(uintptr_t)b->real, 0, to_node, part_bytes(a),
					async_data);

	return ret ? ret
		   : starpu_interface_copy((uintptr_t)a->imaginary, 0, from_node,
					   (uintptr_t)b->imaginary, 0, to_node,
					   part_bytes(a), async_data);
}

static size_t complex_size(starpu_data_handle_t handle)
{
	return 2 * part_bytes(in_ram(handle));
}

static uint32_t complex_footprint(starpu_data_handle_t handle)
{
	return starpu_hash_crc32c_be(in_ram(handle)->nx, 0);
}

static int complex_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
			starpu_ssize_t *count)
{
	struct complex_interface *complex =
		starpu_data_get_interface_on_node(handle, node);
	size_t bytes = part_bytes(complex);

	*count = (starpu_ssize_t)(2 * bytes);
	if (!ptr) /* Only the size is asked for. */
		return 0;
	*ptr = (void *)starpu_malloc_on_node_flags(node, 2 * bytes, 0);
	if (!*ptr)
		return -ENOMEM;
	memcpy(*ptr, complex->real, bytes);
	memcpy((char *)*ptr + bytes, complex->imaginary, bytes);
	return 0;
}

static int complex_peek(starpu_data_handle_t handle, unsigned node, void *ptr,
			size_t count)
{
	struct complex_interface *complex =
		starpu_data_get_interface_on_node(handle, node);
	size_t bytes = part_bytes(complex);

	if (count != 2 * bytes)
		return -EINVAL;
	memcpy(complex->real, ptr, bytes);
	memcpy(complex->imaginary, (char *)ptr + bytes, bytes);
	return 0;
}

static int complex_unpack(starpu_data_handle_t handle, unsigned node, void *ptr,
			  size_t count)
{
	int ret = complex_peek(handle, node, ptr, count);

	starpu_free_on_node_flags(node, (uintptr_t)ptr, count, 0);
	return ret;
}

static const struct starpu_data_copy_methods complex_methods = {.any_to_any =
									complex_copy};

static struct starpu_data_interface_ops complex_ops = {
	.register_data_handle = complex_register,
	.allocate_data_on_node = complex_allocate,
	.free_data_on_node = complex_free,
	.copy_methods = &complex_methods,
	.get_size = complex_size,
	.footprint = complex_footprint,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct complex_interface),
	.pack_data = complex_pack,
	.peek_data = complex_peek,
	.unpack_data = complex_unpack,
	.name = (char *)"complex",
};

static void square_cpu(void *buffers[], void *arg)
{
	struct complex_interface *x = buffers[0];

	(void)arg;
	for (uint32_t i = 0; i < x->nx; i++) {
		double re = x->real[i], im = x->imaginary[i];

		x->real[i] = re * re - im * im;
		x->imaginary[i] = 2 * re * im;
	}
}

static struct starpu_codelet square = {.cpu_funcs = {square_cpu},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .model = &starpu_perfmodel_nop,
				       .name = "square"};

int main(void)
{
	double real[] = {1, 0, 3}, imaginary[] = {0, 1, 4};
	struct complex_interface given = {real, imaginary, 3};
	starpu_data_handle_t a, b;
	starpu_ssize_t count;
	void *packed;
	int right;

	if (starpu_init(NULL) != 0)
		return 77;
	starpu_data_register(&a, STARPU_MAIN_RAM, &given, &complex_ops);
	starpu_data_register_same(&b, a);
	starpu_data_cpy(b, a, 1, NULL, NULL);
	starpu_task_insert(&square, STARPU_RW, b, 0);
	starpu_data_acquire(b, STARPU_R);
	starpu_data_pack(b, &packed, &count);
	starpu_data_release(b);
	starpu_data_acquire(a, STARPU_W);
	starpu_data_unpack(a, packed, (size_t)count);
	starpu_data_release(a);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	starpu_shutdown();
	for (int i = 0; i < 3; i++)
		printf("%g %+gi\n", real[i], imaginary[i]);
	right = real[1] == -1 && real[2] == -7 && imaginary[2] == 24;
	return right ? 0 : 1;
}
