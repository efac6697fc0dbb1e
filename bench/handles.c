/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Bytes of memory of a handle that is registered and not used, of each interface, without
 * those of the interface's struct.
 *
 * usage: handles [BYTES], which ends with 1 when one takes more
 */
#include <stdlib.h>
#include <unistd.h>

#include <starpu.h>

#include "bench.h"

enum { N = 100000 };

static starpu_data_handle_t handles[N];
static double most_bytes = 1e9;
static int x[64];
static uint32_t indices[8] = {0, 1, 2, 3, 4};

/* ---- an application's interface --------------------------------------- */

struct own {
	uintptr_t ptr;
	size_t bytes;
};

static void own_register(starpu_data_handle_t handle, int home, void *interface)
{
	for (int node = 0; node < STARPU_MAXNODES; node++) {
		struct own *own = starpu_data_get_interface_on_node(handle, node);

		*own = *(struct own *)interface;
		if (node != home)
			own->ptr = 0;
	}
}

static size_t own_size(starpu_data_handle_t handle)
{
	return ((struct own *)starpu_data_get_interface_on_node(handle, 0))->bytes;
}

static uint32_t own_footprint(starpu_data_handle_t handle)
{
	return (uint32_t)own_size(handle);
}

static struct starpu_data_interface_ops own_ops = {
	.register_data_handle = own_register,
	.get_size = own_size,
	.footprint = own_footprint,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct own),
};

/* ---- one handle of each ------------------------------------------------ */

static void own(starpu_data_handle_t *handle)
{
	struct own own = {(uintptr_t)x, sizeof(x)};

	starpu_data_register(handle, STARPU_MAIN_RAM, &own, &own_ops);
}

static void variable(starpu_data_handle_t *handle)
{
	starpu_variable_data_register(handle, STARPU_MAIN_RAM, (uintptr_t)x, sizeof(x));
}

static void vector(starpu_data_handle_t *handle)
{
	starpu_vector_data_register(handle, STARPU_MAIN_RAM, (uintptr_t)x, 64,
				    sizeof(*x));
}

static void matrix(starpu_data_handle_t *handle)
{
	starpu_matrix_data_register(handle, STARPU_MAIN_RAM, (uintptr_t)x, 8, 8, 8,
				    sizeof(*x));
}

static void block(starpu_data_handle_t *handle)
{
	starpu_block_data_register(handle, STARPU_MAIN_RAM, (uintptr_t)x, 4, 16, 4, 4, 4,
				   sizeof(*x));
}

#if STARPU_MINOR_VERSION >= 4
static void tensor(starpu_data_handle_t *handle)
{
	starpu_tensor_data_register(handle, STARPU_MAIN_RAM, (uintptr_t)x, 2, 4, 8, 2, 2,
				    2, 2, sizeof(*x));
}

static void ndim(starpu_data_handle_t *handle)
{
	static uint32_t dims[3] = {2, 2, 2}, strides[3] = {1, 2, 4};

	starpu_ndim_data_register(handle, STARPU_MAIN_RAM, (uintptr_t)x, strides, dims, 3,
				  sizeof(*x));
}

#endif

static void csr(starpu_data_handle_t *handle)
{
	starpu_csr_data_register(handle, STARPU_MAIN_RAM, 4, 4, (uintptr_t)x, indices,
				 indices, 0, sizeof(*x));
}

static void bcsr(starpu_data_handle_t *handle)
{
	starpu_bcsr_data_register(handle, STARPU_MAIN_RAM, 4, 4, (uintptr_t)x, indices,
				  indices, 0, 2, 2, sizeof(*x));
}

static void coo(starpu_data_handle_t *handle)
{
	starpu_coo_data_register(handle, STARPU_MAIN_RAM, 4, 4, 4, indices, indices,
				 (uintptr_t)x, sizeof(*x));
}

static void multiformat(starpu_data_handle_t *handle)
{
	static struct starpu_multiformat_data_interface_ops formats = {
		.cpu_elemsize = sizeof(*x)};

	starpu_multiformat_data_register(handle, STARPU_MAIN_RAM, x, 64, &formats);
}

static void nothing(starpu_data_handle_t *handle)
{
	starpu_void_data_register(handle);
}

/* ---- what they take ----------------------------------------------------- */

static double resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	double pages = 0;

	if (!f || fscanf(f, "%*f %lf", &pages) != 1)
		exit(77);
	fclose(f);
	return pages * (double)sysconf(_SC_PAGESIZE);
}

static int measure(const char *name, void (*make)(starpu_data_handle_t *handle))
{
	double before = resident_bytes(), each;

	for (int i = 0; i < N; i++)
		make(&handles[i]);
	each = (resident_bytes() - before) / N -
	       (double)starpu_data_get_interface_ops(handles[0])->interface_size;
	bench_print("handles", name, "bytes", each);
	return each > most_bytes;
}

int main(int argc, char **argv)
{
	int over = 0;

	if (argc > 1)
		most_bytes = atof(argv[1]);
	for (int i = 0; i < N; i++)
		handles[i] = NULL; /* These pages are not the library's. */
	if (starpu_init(NULL) != 0)
		return 77;
	over += measure("variable", variable);
	over += measure("vector", vector);
	over += measure("matrix", matrix);
	over += measure("block", block);
#if STARPU_MINOR_VERSION >= 4
	over += measure("tensor", tensor);
	over += measure("ndim", ndim);
#endif
	over += measure("CSR", csr);
	over += measure("BCSR", bcsr);
	over += measure("COO", coo);
	over += measure("multiformat", multiformat);
	over += measure("void", nothing);
	over += measure("the application's", own);
	_exit(over != 0); /* What is measured is not the end of 1.2 million handles. */
}
