/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Which hardware threads the environment gives to workers, on a machine of four cores
 * with two each. */
#include <string.h>
#include <unistd.h>

#include "said.h"

int claim_failures;

/* The workers are bound to those, and to no others; the list ends with -1. */
static void expect_of(struct starpu_conf *conf, const int *pus)
{
	unsigned n = 0;

	if (starpu_init(conf) != 0)
		exit(77);
	while (pus[n] >= 0)
		n++;
	CLAIM_EQ(starpu_cpu_worker_get_count(), n);
	for (unsigned i = 0; i < n && i < starpu_cpu_worker_get_count(); i++)
		CLAIM_EQ(starpu_worker_get_bindid((int)i), pus[i]);
	starpu_shutdown();
}

static void expect(const int *pus)
{
	expect_of(NULL, pus);
}

static void expect_with(const char *variable, const char *value, const int *pus)
{
	setenv(variable, value, 1);
	expect(pus);
	unsetenv(variable);
}

static void a_worker_for_each_core(void)
{
	expect((int[]){0, 2, 4, 6, -1});
}

static void or_for_each_hardware_thread(void)
{
	expect_with("STARPU_NTHREADS_PER_CORE", "2", (int[]){0, 1, 2, 3, 4, 5, 6, 7, -1});
	/* No core has more of them. */
	expect_with("STARPU_NTHREADS_PER_CORE", "5", (int[]){0, 1, 2, 3, 4, 5, 6, 7, -1});
}

static void cores_are_chosen(void)
{
	setenv("STARPU_NCPU", "2", 1);
	expect_with("STARPU_WORKERS_COREID", "3 1", (int[]){6, 2, -1});
	setenv("STARPU_NTHREADS_PER_CORE", "2", 1);
	expect_with("STARPU_WORKERS_COREID", "2-", (int[]){4, 5, -1});
	unsetenv("STARPU_NTHREADS_PER_CORE");
	setenv("STARPU_WORKERS_CPUID", "7 3", 1);
	expect_with("STARPU_WORKERS_COREID", "0 1", (int[]){7, 3, -1});
	unsetenv("STARPU_WORKERS_CPUID");
	unsetenv("STARPU_NCPU");
}

static void the_main_thread_has_a_core(void)
{
	expect_with("STARPU_MAIN_THREAD_BIND", "1", (int[]){2, 4, 6, -1});
	expect_with("STARPU_MAIN_THREAD_COREID", "2", (int[]){0, 2, 6, -1});
	expect_with("STARPU_MAIN_THREAD_CPUID", "3", (int[]){0, 4, 6, -1});
	setenv("STARPU_MAIN_THREAD_CPUID", "1", 1);
	expect_with("STARPU_MAIN_THREAD_COREID", "2", (int[]){2, 4, 6, -1});
	unsetenv("STARPU_MAIN_THREAD_CPUID");
	setenv("STARPU_NTHREADS_PER_CORE", "2", 1);
	expect_with("STARPU_MAIN_THREAD_CPUID", "7", (int[]){0, 1, 2, 3, 4, 5, -1});
	unsetenv("STARPU_NTHREADS_PER_CORE");
}

static void expect_with_mpi(int ncpus, const int *pus)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.will_use_mpi = 1;
	conf.ncpus = ncpus;
	expect_of(&conf, pus);
}

static void the_thread_of_communication_has_a_core(void)
{
	setenv("STARPU_MPI_THREAD_COREID", "1", 1);
	expect_with_mpi(-1, (int[]){0, 4, 6, -1});
	/* Who says how many workers there are gets them. */
	expect_with_mpi(4, (int[]){0, 2, 4, 6, -1});
	/* No messages, no thread. */
	expect((int[]){0, 2, 4, 6, -1});
	setenv("STARPU_MPI_THREAD_CPUID", "7", 1);
	expect_with_mpi(-1, (int[]){0, 2, 4, -1});
	unsetenv("STARPU_MPI_THREAD_CPUID");
	/* The first worker is that thread. */
	setenv("STARPU_MPI_DRIVER_CALL_FREQUENCY", "1", 1);
	expect_with_mpi(-1, (int[]){2, 0, 4, 6, -1});
	unsetenv("STARPU_MPI_DRIVER_CALL_FREQUENCY");
	unsetenv("STARPU_MPI_THREAD_COREID");
}

static void a_configuration_binds_workers(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 3;
	conf.use_explicit_workers_bindid = 1;
	for (unsigned i = 0; i < STARPU_NMAXWORKERS; i++)
		conf.workers_bindid[i] = 7 - i % 4;
	expect_of(&conf, (int[]){7, 6, 5, -1});
	/* The environment goes before, unless it must not. */
	setenv("STARPU_WORKERS_CPUID", "2 0 4", 1);
	expect_of(&conf, (int[]){2, 0, 4, -1});
	conf.precedence_over_environment_variables = 1;
	expect_of(&conf, (int[]){7, 6, 5, -1});
	unsetenv("STARPU_WORKERS_CPUID");
	/* Without the flag the numbers say nothing. */
	conf.use_explicit_workers_bindid = 0;
	expect_of(&conf, (int[]){0, 2, 4, -1});
}

/* Does starting with as many cores say this? */
static int says(long ncores, const char *words)
{
	char synthetic[32];
	struct said said;

	snprintf(synthetic, sizeof(synthetic), "core:%ld pu:1", ncores);
	setenv("HWLOC_SYNTHETIC", synthetic, 1);
	said_begin(&said);
	CLAIM_EQ(starpu_init(NULL), 0);
	starpu_shutdown();
	setenv("HWLOC_SYNTHETIC", "core:4 pu:2", 1);
	return strstr(said_end(&said), words) != NULL;
}

static void more_cores_than_there_are_are_told(void)
{
	static const char words[] = "HWLOC_SYNTHETIC describes a machine of which ";
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (n >= 64)
		return; /* of workers there may be too many */
	unsetenv("STARPU_SILENT");
	CLAIM(says(n + 1, words));
	CLAIM(!says(n, words));
	setenv("STARPU_NCPU", "1", 1);
	CLAIM(!says(n + 1, words));
	unsetenv("STARPU_NCPU");
	setenv("STARPU_SILENT", "1", 1);
	CLAIM(!says(n + 1, words));
}

static void a_core_of_two_workers_is_told(void)
{
	unsetenv("STARPU_SILENT");
	setenv("STARPU_NCPU", "2", 1);
	setenv("STARPU_WORKERS_CPUID", "1 0", 1);
	CLAIM(!says(2, "puts CPU workers"));
	setenv("STARPU_WORKERS_CPUID", "1 1", 1);
	CLAIM(says(2, "STARPU_WORKERS_CPUID puts CPU workers 0 and 1 on core 1: expected "
		      "a core for each of 2; name others, or say how many workers there "
		      "are to be (STARPU_NCPU); not said"));
	unsetenv("STARPU_WORKERS_CPUID");
	unsetenv("STARPU_NCPU");
	setenv("STARPU_SILENT", "1", 1);
}

int main(void)
{
	static const struct claim claims[] = {
		{"a worker for each core", a_worker_for_each_core},
		{"or for each hardware thread", or_for_each_hardware_thread},
		{"cores are chosen", cores_are_chosen},
		{"the main thread has a core", the_main_thread_has_a_core},
		{"the thread of communication has a core",
		 the_thread_of_communication_has_a_core},
		{"a configuration binds workers", a_configuration_binds_workers},
		{"more cores than there are are told",
		 more_cores_than_there_are_are_told},
		{"a core of two workers is told", a_core_of_two_workers_is_told},
		{NULL, NULL},
	};

	setenv("HWLOC_SYNTHETIC", "core:4 pu:2", 1);
	setenv("STARPU_SILENT", "1", 1); /* that the machine has fewer */
	setenv("HWLOC_THISSYSTEM", "1", 1);
	setenv("STARPU_WORKERS_GETBIND", "0", 1);
	return claims_run(claims, 0);
}
