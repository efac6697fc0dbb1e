/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* What a node costs that does nothing: bytes that malloc() has given out, from one point
 * where all ranks meet to another.  Blocks with pages of their own are not among them:
 * these are tables of the whole run.  And where many nodes are, the heap has grown in
 * huge pages. */
/* SMPI has macros of these names, which the header does not go with. */
#undef malloc
#undef calloc
#undef realloc
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <starpu.h>
#include <starpu_mpi.h>

/* With the 20 workers of the platform. */
enum { MOST_BYTES = 32768 };

static size_t allocated(void)
{
	return mallinfo2().uordblks;
}

static int has_huge_pages(void)
{
	return access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) == 0;
}

/* Of the last mapping of the heap: are its pages to be huge? */
static int is_heap_huge(void)
{
	FILE *smaps = fopen("/proc/self/smaps", "r");
	int in_heap = 0, is_huge = 0;
	char line[512];

	while (smaps && fgets(line, sizeof(line), smaps)) {
		if (strstr(line, "[heap]"))
			in_heap = 1;
		if (strncmp(line, "VmFlags:", 8) != 0)
			continue;
		if (in_heap)
			is_huge = strstr(line, " hg") != NULL;
		in_heap = 0;
	}
	if (smaps)
		(void)fclose(smaps);
	return is_huge;
}

static int check_heap(void)
{
	int failed = has_huge_pages() && !is_heap_huge();

	printf("%s the heap of many nodes is in huge pages%s\n", failed ? "FAIL" : "PASS",
	       has_huge_pages() ? "" : ", of which there are none");
	return failed;
}

int main(int argc, char **argv)
{
	size_t before = 0, each;
	int rank, size, failed = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	/* What the first message of MPI allocates is not ours. */
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		before = allocated();
	MPI_Barrier(MPI_COMM_WORLD);
	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		each = (allocated() - before) / (size_t)size;
		failed = each > MOST_BYTES;
		printf("%s a node of %u workers that does nothing has %zu bytes, at most "
		       "%d\n",
		       failed ? "FAIL" : "PASS", starpu_worker_get_count(), each,
		       MOST_BYTES);
		failed += check_heap();
	}
	starpu_mpi_barrier(MPI_COMM_WORLD);
	starpu_mpi_shutdown();
	MPI_Finalize();
	return failed;
}
