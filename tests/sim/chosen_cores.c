/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Which simulated cores the user gives to workers: their numbers, the memories near to
 * them, and what is said of those that two workers have.  On two_numas.xml, with
 * STARPU_USE_NUMA=1. */
#include <string.h>

#include "../api/said.h"

int claim_failures;

/* Workers are on these cores, each with the memory beside it; the list ends with -1. */
static void expect_of(struct starpu_conf *conf, const int *cores)
{
	unsigned n = 0;
	int *ids;

	CLAIM_EQ(starpu_init(conf), 0);
	while (cores[n] >= 0)
		n++;
	CLAIM_EQ(starpu_cpu_worker_get_count(), n);
	for (unsigned i = 0; i < n; i++) {
		int worker = starpu_worker_get_by_type(STARPU_CPU_WORKER, (int)i);

		CLAIM_EQ(starpu_worker_get_bindid(worker), cores[i]);
		CLAIM_EQ(starpu_worker_get_memory_node((unsigned)worker),
			 (unsigned)cores[i] / 2);
		CLAIM(starpu_bindid_get_workerids(cores[i], &ids) >= 1);
		CLAIM_EQ(ids[0], worker);
	}
	starpu_shutdown();
}

static void expect(const int *cores)
{
	expect_of(NULL, cores);
}

static void workers_are_on_cores_in_their_order(void)
{
	expect((int[]){0, 1, 2, 3, -1});
}

static void the_environment_names_cores(void)
{
	setenv("STARPU_NCPU", "2", 1);
	setenv("STARPU_WORKERS_COREID", "3 1", 1);
	expect((int[]){3, 1, -1});
	setenv("STARPU_WORKERS_CPUID", "2-", 1);
	expect((int[]){2, 3, -1});
	unsetenv("STARPU_WORKERS_COREID");
	setenv("STARPU_WORKERS_CPUID", "1,0,2", 1);
	expect((int[]){1, 0, -1});
	unsetenv("STARPU_WORKERS_CPUID");
	unsetenv("STARPU_NCPU");
}

static void so_does_a_configuration(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 3;
	conf.use_explicit_workers_bindid = 1;
	for (unsigned i = 0; i < STARPU_NMAXWORKERS; i++)
		conf.workers_bindid[i] = 3 - i % 4;
	expect_of(&conf, (int[]){3, 2, 1, -1});
	setenv("STARPU_WORKERS_CPUID", "2 0 1", 1);
	expect_of(&conf, (int[]){2, 0, 1, -1});
	conf.precedence_over_environment_variables = 1;
	expect_of(&conf, (int[]){3, 2, 1, -1});
	unsetenv("STARPU_WORKERS_CPUID");
}

/* Does starting say this? */
static int says(struct starpu_conf *conf, const char *words)
{
	struct said said;

	said_begin(&said);
	CLAIM_EQ(starpu_init(conf), 0);
	starpu_shutdown();
	return strstr(said_end(&said), words) != NULL;
}

static void a_core_of_two_workers_is_told(void)
{
	unsetenv("STARPU_SILENT");
	setenv("STARPU_WORKERS_COREID", "0 2", 1);
	setenv("STARPU_NCPU", "2", 1);
	CLAIM(!says(NULL, "puts CPU workers"));
	setenv("STARPU_NCPU", "3", 1);
	CLAIM(says(NULL,
		   "STARPU_WORKERS_COREID puts CPU workers 0 and 2 on core 0: expected "
		   "a core for each of 3; name others, or say how many workers there are "
		   "to be (STARPU_NCPU). Here each takes the time that it takes alone"));
	CLAIM(!says(NULL, "puts CPU workers"));
	unsetenv("STARPU_NCPU");
	unsetenv("STARPU_WORKERS_COREID");
	setenv("STARPU_SILENT", "1", 1);
}

/* Once: nodes of one program make one mistake together. */
static void one_that_is_not_there_is_told(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 2;
	conf.use_explicit_workers_bindid = 1;
	conf.workers_bindid[0] = 3;
	conf.workers_bindid[1] = 9;
	CLAIM(says(&conf,
		   "conf.workers_bindid[1] is 9: expected a logical core from 0 to 3; "
		   "that worker is on core 1"));
	CLAIM(!says(&conf, "workers_bindid[1]"));
	expect_of(&conf, (int[]){3, 1, -1});
}

int main(void)
{
	static const struct claim claims[] = {
		{"one that is not there is told", one_that_is_not_there_is_told},
		{"workers are on cores in their order",
		 workers_are_on_cores_in_their_order},
		{"the environment names cores", the_environment_names_cores},
		{"so does a configuration", so_does_a_configuration},
		{"a core of two workers is told", a_core_of_two_workers_is_told},
		{NULL, NULL},
	};

	return claims_run(claims, 0);
}
