/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Ranks of one host, under one name, write one file for a model: it has what all of them
 * measured. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "mpi_claim.h"

int claim_failures, claim_rank, claim_size;

enum { NUMBER = 20, PATH_BYTES = 256 };

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static char top[sizeof("/tmp/orrery-models-XXXXXX")];

/* The same for all ranks, made by the first claim that is run. */
static void set_directory(void)
{
	char name[] = "/tmp/orrery-models-XXXXXX";

	if (*top)
		return;
	if (claim_rank == 0 && !mkdtemp(name))
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
	memcpy(top, name, sizeof(top));
	setenv("STARPU_PERF_MODEL_DIR", top, 1);
	setenv("STARPU_HOSTNAME", "here", 1);
}

/* A life of the library in which each rank measures. */
static void measure(const char *symbol, enum starpu_perfmodel_type type, double us,
		    unsigned number, int nsizes, int first)
{
	struct starpu_perfmodel model = {.type = type, .symbol = symbol};
	struct starpu_codelet codelet = {.cpu_funcs = {nothing},
					 .nbuffers = 1,
					 .modes = {STARPU_R},
					 .model = &model};
	static char bytes[1 << 16];
	int worker;

	set_directory();
	claim_init(2);
	worker = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
	for (int i = first; i < first + nsizes; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &codelet;
		starpu_vector_data_register(&task->handles[0], STARPU_MAIN_RAM,
					    (uintptr_t)bytes, 256U << i, 1);
		starpu_perfmodel_update_history_n(
			&model, task, starpu_worker_get_perf_archtype(worker, 0),
			(unsigned)worker, 0, us * (1 << i), number);
		starpu_data_unregister(task->handles[0]);
		task->destroy = 0;
		starpu_task_destroy(task);
	}
	starpu_mpi_shutdown();
	MPI_Barrier(MPI_COMM_WORLD);
}

struct found {
	int nentries;
	unsigned nsample, nfitted; /* of the entries, of the regression */
	double sum_us;
};

static struct found read_file(const char *symbol)
{
	struct found found = {0};
	char path[PATH_BYTES], line[512];
	FILE *f;

	/* StarPU's name for it, where no library runs: HOST is STARPU_HOSTNAME. */
	snprintf(path, sizeof(path), "%s/codelets/45/%s.here", top, symbol);
	f = fopen(path, "r");
	CLAIM(f != NULL);
	while (f && fgets(line, sizeof(line), f)) {
		double sum;
		unsigned nsample;

		if (sscanf(line, "%*8x %*u %*f %*f %*f %lf %*f %u", &sum, &nsample) ==
			    2 &&
		    strlen(line) > 60 && line[8] == '\t') {
			found.nentries++;
			found.nsample += nsample;
			found.sum_us += sum;
		}
		if (!strncmp(line, "# sumlnx", 8) && fgets(line, sizeof(line), f))
			sscanf(line, "%*f %*f %*f %*f %*f %*f %u", &found.nfitted);
	}
	if (f)
		fclose(f);
	return found;
}

static unsigned of_all(unsigned number)
{
	return (unsigned)claim_size * number;
}

static void what_all_measured_is_in_the_file(void)
{
	double sum_us = 0;
	struct found found;

	for (int rank = 0; rank < claim_size; rank++)
		sum_us += NUMBER * (250 + rank);
	for (int life = 1; life <= 2; life++) {
		measure("all", STARPU_HISTORY_BASED, 250 + claim_rank, NUMBER, 1, 0);
		found = read_file("all");
		CLAIM_EQ(found.nentries, 1);
		CLAIM_EQ(found.nsample, life * of_all(NUMBER));
		CLAIM(fabs(found.sum_us - life * sum_us) < 1e-5 * sum_us);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Each knows a size that no other does. */
static void sizes_of_all_are_in_the_file(void)
{
	measure("sizes", STARPU_HISTORY_BASED, 250, NUMBER, 1, claim_rank);
	CLAIM_EQ(read_file("sizes").nentries, claim_size);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void sums_of_regressions_are_those_of_all(void)
{
	measure("power", STARPU_REGRESSION_BASED, 250, NUMBER, 3, 0);
	CLAIM_EQ(read_file("power").nfitted, of_all(3 * NUMBER));
	MPI_Barrier(MPI_COMM_WORLD);
}

/* The kernel is ten times as slow now, for all of them. */
static void who_starts_afresh_leaves_out_what_was_before(void)
{
	struct found found;

	measure("afresh", STARPU_HISTORY_BASED, 250, NUMBER, 1, 0);
	measure("afresh", STARPU_HISTORY_BASED, 2500, of_all(NUMBER), 1, 0);
	/* So many were off that what was known is forgotten, and they with it. */
	measure("afresh", STARPU_HISTORY_BASED, 2500, NUMBER, 1, 0);
	found = read_file("afresh");
	CLAIM_EQ(found.nsample, of_all(NUMBER));
	CLAIM(fabs(found.sum_us - 2500 * of_all(NUMBER)) < 1);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void with_calibrate_2_former_runs_are_left_out(void)
{
	measure("former", STARPU_HISTORY_BASED, 250, NUMBER, 1, 0);
	setenv("STARPU_CALIBRATE", "2", 1);
	measure("former", STARPU_HISTORY_BASED, 250, NUMBER, 1, 0);
	unsetenv("STARPU_CALIBRATE");
	CLAIM_EQ(read_file("former").nsample, of_all(NUMBER));
	MPI_Barrier(MPI_COMM_WORLD);
}

static const struct claim claims[] = {
	{"what_all_measured_is_in_the_file", what_all_measured_is_in_the_file},
	{"sizes_of_all_are_in_the_file", sizes_of_all_are_in_the_file},
	{"sums_of_regressions_are_those_of_all", sums_of_regressions_are_those_of_all},
	{"who_starts_afresh_leaves_out_what_was_before",
	 who_starts_afresh_leaves_out_what_was_before},
	{"with_calibrate_2_former_runs_are_left_out",
	 with_calibrate_2_former_runs_are_left_out},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	char command[64];
	int failed = mpi_claims_run(argc, argv, claims);

	if (claim_rank > 0 || !*top)
		return failed;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command) != 0 || failed;
}
