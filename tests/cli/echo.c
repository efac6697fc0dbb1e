/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Rank 0 writes its arguments, each with a zero after it; all end as ECHO_END says. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	const char *end = getenv("ECHO_END");
	volatile int go_on = 1;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 1; i < argc && rank == 0; i++)
		fwrite(argv[i], 1, strlen(argv[i]) + 1, stdout);
	fflush(stdout);
	if (!end)
		end = "";
	if (!strcmp(end, "abort"))
		abort();
	if (!strcmp(end, "crash"))
		raise(SIGSEGV);
	while (!strcmp(end, "spin") && go_on)
		continue;
	MPI_Finalize();
	return !strcmp(end, "seven") ? 7 : 0;
}
