/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What the environment and starpu_conf ask for, and which of them wins. */
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

static void start(struct starpu_conf *conf)
{
	if (starpu_init(conf) != 0)
		exit(77);
}

static const struct copies {
	const char *name;
	int (*disabled)(void);
	enum starpu_node_kind kind;
} copies[] = {
	{"STARPU_DISABLE_ASYNCHRONOUS_COPY", starpu_asynchronous_copy_disabled,
	 STARPU_UNUSED},
	{"STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY", starpu_asynchronous_cuda_copy_disabled,
	 STARPU_CUDA_RAM},
	{"STARPU_DISABLE_ASYNCHRONOUS_HIP_COPY", starpu_asynchronous_hip_copy_disabled,
	 STARPU_HIP_RAM},
	{"STARPU_DISABLE_ASYNCHRONOUS_OPENCL_COPY",
	 starpu_asynchronous_opencl_copy_disabled, STARPU_OPENCL_RAM},
	{"STARPU_DISABLE_ASYNCHRONOUS_MAX_FPGA_COPY",
	 starpu_asynchronous_max_fpga_copy_disabled, STARPU_MAX_FPGA_RAM},
	{"STARPU_DISABLE_ASYNCHRONOUS_MPI_MS_COPY",
	 starpu_asynchronous_mpi_ms_copy_disabled, STARPU_MPI_MS_RAM},
	{"STARPU_DISABLE_ASYNCHRONOUS_TCPIP_MS_COPY",
	 starpu_asynchronous_tcpip_ms_copy_disabled, STARPU_TCPIP_MS_RAM},
};

enum { NCOPIES = sizeof(copies) / sizeof(copies[0]) };

static void each_kind_of_copy_has_a_variable(void)
{
	for (int i = 0; i < NCOPIES; i++) {
		setenv(copies[i].name, "1", 1);
		start(NULL);
		for (int j = 0; j < NCOPIES; j++)
			CLAIM_EQ(copies[j].disabled(), i == j);
		if (copies[i].kind != STARPU_UNUSED)
			CLAIM_EQ(starpu_asynchronous_copy_disabled_for(copies[i].kind),
				 1);
		starpu_shutdown();
		unsetenv(copies[i].name);
	}
}

static void the_environment_wins_unless_told(void)
{
	const char *name = "STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY";
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	CLAIM_EQ(conf.disable_asynchronous_cuda_copy, 0);
	CLAIM_EQ(conf.calibrate, 0);
	conf.disable_asynchronous_cuda_copy = 1;
	start(&conf);
	CLAIM_EQ(starpu_asynchronous_cuda_copy_disabled(), 1);
	starpu_shutdown();
	setenv(name, "0", 1);
	start(&conf);
	CLAIM_EQ(starpu_asynchronous_cuda_copy_disabled(), 0);
	starpu_shutdown();
	conf.precedence_over_environment_variables = 1;
	start(&conf);
	CLAIM_EQ(starpu_asynchronous_cuda_copy_disabled(), 1);
	starpu_shutdown();
	setenv(name, "1", 1);
	starpu_conf_init(&conf);
	CLAIM_EQ(conf.disable_asynchronous_cuda_copy, 1);
	unsetenv(name);
}

static unsigned cpus_with(int reserved)
{
	struct starpu_conf conf;
	unsigned n;

	starpu_conf_init(&conf);
	conf.reserve_ncpus = reserved;
	start(&conf);
	n = starpu_cpu_worker_get_count();
	starpu_shutdown();
	return n;
}

static void cores_reserved_by_the_environment_win(void)
{
	unsigned all = cpus_with(0);

	CLAIM_EQ(cpus_with(1), all > 1 ? all - 1 : 1);
	setenv("STARPU_RESERVE_NCPU", "1", 1);
	CLAIM_EQ(cpus_with(0), all > 1 ? all - 1 : 1);
	setenv("STARPU_RESERVE_NCPU", "0", 1);
	CLAIM_EQ(cpus_with(1), all);
	unsetenv("STARPU_RESERVE_NCPU");
}

/* In simulation on a machine with GPUs; the first one's limit is its own. */
static void each_gpu_may_have_its_limit(void)
{
	setenv("STARPU_LIMIT_CUDA_0_MEM", "7", 1);
	setenv("STARPU_LIMIT_CUDA_MEM", "9", 1);
	start(NULL);
	if (starpu_memory_nodes_get_count() > 1)
		CLAIM_EQ(starpu_memory_get_total(1), 7 << 20);
	if (starpu_memory_nodes_get_count() > 2)
		CLAIM_EQ(starpu_memory_get_total(2), 9 << 20);
	starpu_shutdown();
	unsetenv("STARPU_LIMIT_CUDA_0_MEM");
	unsetenv("STARPU_LIMIT_CUDA_MEM");
	setenv("STARPU_LIMIT_CPU_NUMA_MEM", "5", 1);
	start(NULL);
	CLAIM_EQ(starpu_memory_get_total(STARPU_MAIN_RAM), 5 << 20);
	starpu_shutdown();
	unsetenv("STARPU_LIMIT_CPU_NUMA_MEM");
}

/* ---- the watchdog of tasks -------------------------------------------- */

#ifndef STARPU_SIMGRID
static int nbarks;

static void bark(void *arg)
{
	__atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

static int barks(void)
{
	return __atomic_load_n(&nbarks, __ATOMIC_SEQ_CST);
}

/* The task cannot end before the watchdog has spoken twice. */
static void until_two_barks(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	while (barks() < 2)
		starpu_usleep(100);
}

static struct starpu_codelet slow = {.cpu_funcs = {until_two_barks}, .name = "slow"};

static void the_watchdog_calls_the_hook(void)
{
	int after;

	starpu_task_watchdog_set_hook(bark, &nbarks);
	setenv("STARPU_WATCHDOG_TIMEOUT", "2000", 1);
	setenv("STARPU_WATCHDOG_DELAY", "1000", 1);
	start(NULL);
	starpu_task_insert(&slow, 0);
	starpu_task_wait_for_all();
	after = barks();
	CLAIM(after >= 2);
	starpu_shutdown();
	unsetenv("STARPU_WATCHDOG_TIMEOUT");
	unsetenv("STARPU_WATCHDOG_DELAY");
	starpu_task_watchdog_set_hook(NULL, NULL);
}
#endif

/* ---- counts of a codelet --------------------------------------------- */

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static const struct starpu_codelet counted = {.cpu_funcs = {nothing},
					      .cpu_funcs_name = {"nothing"},
					      .model = &starpu_perfmodel_nop,
					      .name = "counted"};

/* The same, where workers can write what they count. */
static struct starpu_codelet written = {.cpu_funcs = {nothing},
					.cpu_funcs_name = {"nothing"},
					.model = &starpu_perfmodel_nop};

static unsigned long written_executions(void)
{
	unsigned long n = 0;

	for (unsigned i = 0; i < STARPU_NMAXWORKERS; i++)
		n += written.per_worker_stats[i];
	return n;
}

/* The number of executions that are shown, or -1. */
static long executions(void)
{
	FILE *shown = tmpfile(), *before = stderr;
	char line[256];
	long n = -1, total;

	stderr = shown;
	starpu_codelet_display_stats((struct starpu_codelet *)(uintptr_t)&counted);
	stderr = before;
	rewind(shown);
	while (fgets(line, sizeof(line), shown)) {
		const char *slash = strchr(line, '/');

		if (slash && sscanf(slash, "/ %ld", &total) == 1)
			n = total;
	}
	fclose(shown);
	return n;
}

static void codelets_are_counted_unless_told(void)
{
	for (int wanted = 1; wanted >= 0; wanted--) {
		setenv("STARPU_CODELET_PROFILING", wanted ? "1" : "0", 1);
		start(NULL);
		for (int i = 0; i < 3; i++) {
			starpu_task_insert((struct starpu_codelet *)(uintptr_t)&counted,
					   0);
			starpu_task_insert(&written, 0);
		}
		starpu_task_wait_for_all();
		CLAIM_EQ(executions(), wanted ? 3 : 0);
		CLAIM_EQ(written_executions(), 3);
		starpu_shutdown();
	}
	unsetenv("STARPU_CODELET_PROFILING");
}

static const struct claim claims[] = {
	{"each kind of copy has a variable", each_kind_of_copy_has_a_variable},
	{"the environment wins unless told", the_environment_wins_unless_told},
	{"cores reserved by the environment win", cores_reserved_by_the_environment_win},
	{"each GPU may have its limit", each_gpu_may_have_its_limit},
	{"codelets are counted unless told", codelets_are_counted_unless_told},
#ifndef STARPU_SIMGRID
	{"the watchdog calls the hook", the_watchdog_calls_the_hook},
#endif
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
