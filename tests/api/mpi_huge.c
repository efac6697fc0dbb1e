/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Messages of more bytes than an int counts, on a real machine: what nobody writes to has
 * no pages, so that only the receiver needs the memory. */
#include <sys/mman.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

#define GIB   ((size_t)1 << 30)
#define BYTES (2 * GIB + 4099)

/* Around what an int, and a piece of MPI's, counts. */
static const size_t places[] = {
	0, 1, GIB - 1, GIB, 2 * GIB - 1, 2 * GIB, 2 * GIB + 1, 2 * GIB + 4096, BYTES - 1};

enum { PLACES = sizeof(places) / sizeof(places[0]) };

static char *untouched(void)
{
	char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void mark(char *at)
{
	for (int i = 0; i < PLACES; i++)
		at[places[i]] = (char)(i + 1);
}

static void check_marks(const char *at)
{
	for (int i = 0; i < PLACES; i++)
		CLAIM_EQ(at[places[i]], i + 1);
}

static unsigned long long available_kib(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	unsigned long long kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

/* All ranks alike. */
static void start_with_memory(void)
{
	int has = available_kib() > 2 * BYTES / 1024, all = 0;

	MPI_Allreduce(&has, &all, 1, MPI_INT, MPI_MIN, WORLD);
	if (!all) {
		if (RANK == 0)
			printf("skipped: less than %zu MiB of memory are available\n",
			       2 * BYTES >> 20);
		MPI_Finalize();
		exit(77);
	}
	start();
}

/* ---- in place -------------------------------------------------------------- */

static void vectors_arrive(void)
{
	starpu_data_handle_t handle;
	char *at = untouched();

	start_with_memory();
	if (RANK == 0)
		mark(at);
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)at,
				    (uint32_t)BYTES, 1);
	if (RANK == 0)
		starpu_mpi_send(handle, 1, TAG, WORLD);
	else if (RANK == 1)
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	starpu_data_unregister(handle);
	if (RANK == 1)
		check_marks(at);
	munmap(at, BYTES);
	stop();
}

/* ---- packed ---------------------------------------------------------------- */

static int nunpacked;

static int pack_huge(starpu_data_handle_t handle, unsigned memory, void **ptr,
		     starpu_ssize_t *count)
{
	(void)handle;
	*count = (starpu_ssize_t)BYTES;
	if (!ptr)
		return 0;
	*ptr = (void *)starpu_malloc_on_node_flags(memory, BYTES, 0);
	if (!*ptr)
		return -1;
	mark(*ptr);
	return 0;
}

static int peek_huge(starpu_data_handle_t handle, unsigned memory, void *ptr,
		     size_t count)
{
	(void)handle;
	(void)memory;
	CLAIM_EQ(count, BYTES);
	check_marks(ptr);
	nunpacked++;
	return 0;
}

static void what_is_packed_arrives(void)
{
	static struct starpu_data_interface_ops ops;
	static long small[4];
	struct starpu_vector_interface vector = {.nx = 4,
						 .elemsize = sizeof(long),
						 .ptr = (uintptr_t)small,
						 .dev_handle = (uintptr_t)small,
						 .allocsize = sizeof(small)};
	starpu_data_handle_t handle;

	start_with_memory();
	nunpacked = 0;
	ops = starpu_interface_vector_ops;
	ops.interfaceid = starpu_data_interface_get_next_id();
	ops.pack_data = pack_huge;
	ops.peek_data = peek_huge;
	vector.id = ops.interfaceid;
	starpu_data_register(&handle, STARPU_MAIN_RAM, &vector, &ops);
	starpu_mpi_data_register(handle, TAG, 0);
	starpu_mpi_get_data_on_node(WORLD, handle, 1);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nunpacked, RANK == 1);
	starpu_data_unregister(handle);
	stop();
}

static const struct claim claims[] = {
	{"vectors of more than 2 GiB arrive", vectors_arrive},
	{"what is packed into more than 2 GiB arrives", what_is_packed_arrives},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
