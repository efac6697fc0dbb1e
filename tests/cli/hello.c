/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Each rank says its number, what it was given, and what the launcher told it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const char *or_none(const char *text)
{
	return text ? text : "none";
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	printf("rank %d of %d, argument %s, transport %s, execute %s\n", rank, size,
	       argc > 1 ? argv[1] : "none", or_none(getenv("ORRERY_TRANSPORT")),
	       or_none(getenv("ORRERY_EXECUTE")));
	MPI_Finalize();
	return argc > 2 ? 3 : 0;
}
