/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Parallel workers: starpu_parallel_worker.h. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>
#include <orrery.h>
#include <starpu.h>

#include "claim.h"

/* Of the OpenMP that the program is linked with. */
int omp_get_max_threads(void);

int claim_failures;

enum { NWORKERS = 4, NTASKS = 24 };

static int ran_on[NWORKERS], most_threads, most_cores, ncreated[NWORKERS];

static void raise_to(int *most, int n)
{
	int seen = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (n > seen && !__atomic_compare_exchange_n(
				   most, &seen, n, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void note(void *buffers[], void *arg)
{

	(void)buffers;
	(void)arg;
	STARPU_ATOMIC_ADD(&ran_on[starpu_worker_get_id_check()], 1);
	raise_to(&most_threads, omp_get_max_threads());
}

static double by_arch_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
			 unsigned implementation)
{
	(void)task;
	(void)implementation;
	raise_to(&most_cores, arch->devices[0].ncores);
	return 1200.0 / arch->devices[0].ncores;
}

static struct starpu_perfmodel model = {.type = STARPU_PER_ARCH,
					.arch_cost_function = by_arch_us,
					.symbol = "parallel_workers"};
static struct starpu_codelet cl = {
	.cpu_funcs = {note}, .cpu_funcs_name = {"note"}, .model = &model};

static void begin(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = NWORKERS;
	conf.sched_policy_name = "eager";
	if (starpu_init(&conf) != 0 || starpu_cpu_worker_get_count() != NWORKERS)
		exit(77);
}

/* The workers that run them, as a mask. */
static unsigned run_tasks(void)
{
	unsigned mask = 0;

	for (int i = 0; i < NWORKERS; i++)
		ran_on[i] = 0;
	most_threads = most_cores = 0;
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&cl, 0), 0);
	CLAIM_EQ(starpu_task_wait_for_all(), 0);
	for (int i = 0; i < NWORKERS; i++)
		mask |= (unsigned)(ran_on[i] > 0) << i;
	return mask;
}

static void created(void *arg)
{
	CLAIM_EQ((intptr_t)arg, 7);
	STARPU_ATOMIC_ADD(&ncreated[starpu_worker_get_id_check()], 1);
}

/* Of the whole machine two halves: their masters alone take tasks. */
static void halves(void)
{
	struct starpu_parallel_worker_config *config;
	double start_s;

	begin();
	config = starpu_parallel_worker_init(
		HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_NB, 2,
		STARPU_PARALLEL_WORKER_CREATE_FUNC, created,
		STARPU_PARALLEL_WORKER_CREATE_FUNC_ARG, (void *)(intptr_t)7, 0);
	CLAIM(config != NULL);
	CLAIM(ncreated[0] == 1 && ncreated[1] == 0 && ncreated[2] == 1 &&
	      ncreated[3] == 0);
	start_s = orrery_virtual_time();
	CLAIM((run_tasks() & ~5u) == 0);
	/* Two at a time, on two cores each. */
	if (orrery_is_simulated()) {
		CLAIM_EQ(most_cores, 2);
		CLAIM(fabs(orrery_virtual_time() - start_s - NTASKS / 2 * 600e-6) < 1e-4);
	}
	CLAIM_EQ(starpu_parallel_worker_print(config), 0);
	CLAIM_EQ(starpu_parallel_worker_shutdown(config), 0);
	run_tasks();
	if (orrery_is_simulated())
		CLAIM_EQ(most_cores, 1);
	starpu_shutdown();
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* Programs of StarPU 1.3 call them clusters. */
static void old_names(void)
{
	struct starpu_cluster_machine *clusters;

	begin();
	ncreated[0] = ncreated[2] = 0;
	clusters = starpu_cluster_machine(
		HWLOC_OBJ_MACHINE, STARPU_CLUSTER_NB, 2, STARPU_CLUSTER_CREATE_FUNC,
		created, STARPU_CLUSTER_CREATE_FUNC_ARG, (void *)(intptr_t)7,
		STARPU_CLUSTER_TYPE, STARPU_CLUSTER_OPENMP, 0);
	CLAIM(clusters != NULL);
	CLAIM(ncreated[0] == 1 && ncreated[2] == 1);
	CLAIM((run_tasks() & ~5u) == 0);
	CLAIM_EQ(starpu_cluster_print(clusters), 0);
	CLAIM_EQ(starpu_uncluster_machine(clusters), 0);
	starpu_shutdown();
}
#pragma GCC diagnostic pop

/* The arguments mean the same by both names. */
static void old_arguments(void)
{
	CLAIM_EQ(STARPU_CLUSTER, STARPU_PARALLEL_WORKER);
	CLAIM_EQ(STARPU_CLUSTER_MIN_NB, STARPU_PARALLEL_WORKER_MIN_NB);
	CLAIM_EQ(STARPU_CLUSTER_MAX_NB, STARPU_PARALLEL_WORKER_MAX_NB);
	CLAIM_EQ(STARPU_CLUSTER_PREFERE_MIN, STARPU_PARALLEL_WORKER_PREFERE_MIN);
	CLAIM_EQ(STARPU_CLUSTER_KEEP_HOMOGENEOUS,
		 STARPU_PARALLEL_WORKER_KEEP_HOMOGENEOUS);
	CLAIM_EQ(STARPU_CLUSTER_POLICY_NAME, STARPU_PARALLEL_WORKER_POLICY_NAME);
	CLAIM_EQ(STARPU_CLUSTER_POLICY_STRUCT, STARPU_PARALLEL_WORKER_POLICY_STRUCT);
	CLAIM_EQ(STARPU_CLUSTER_AWAKE_WORKERS, STARPU_PARALLEL_WORKER_AWAKE_WORKERS);
	CLAIM_EQ(STARPU_CLUSTER_PARTITION_ONE, STARPU_PARALLEL_WORKER_PARTITION_ONE);
	CLAIM_EQ(STARPU_CLUSTER_NEW, STARPU_PARALLEL_WORKER_NEW);
	CLAIM_EQ(STARPU_CLUSTER_NCORES, STARPU_PARALLEL_WORKER_NCORES);
	CLAIM_EQ((int)STARPU_CLUSTER_INTEL_OPENMP_MKL,
		 (int)STARPU_PARALLEL_WORKER_INTEL_OPENMP_MKL);
	CLAIM_EQ((int)STARPU_CLUSTER_GNU_OPENMP_MKL,
		 (int)STARPU_PARALLEL_WORKER_GNU_OPENMP_MKL);
	CLAIM(starpu_parallel_worker_intel_openmp_mkl_prologue ==
	      starpu_parallel_worker_openmp_prologue);
}

static unsigned sizes(struct starpu_parallel_worker_config *config)
{
	unsigned all = 0;

	CLAIM(config != NULL);
	for (unsigned ctx = 1; ctx < 1 + NWORKERS; ctx++) {
		unsigned n = 0;

		for (int i = 0; i < NWORKERS; i++)
			n += starpu_sched_ctx_master_get_context(i) == ctx
				     ? starpu_sched_ctx_get_nworkers(ctx)
				     : 0;
		all = 10 * all + n;
	}
	CLAIM_EQ(starpu_parallel_worker_shutdown(config), 0);
	return all;
}

/* Numbers of workers of each, as digits. */
static void partitions(void)
{
	begin();
	CLAIM_EQ(sizes(starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, 0)), 4000);
	CLAIM_EQ(sizes(starpu_parallel_worker_init(HWLOC_OBJ_MACHINE,
						   STARPU_PARALLEL_WORKER_NB, 3, 0)),
		 2110);
	CLAIM_EQ(sizes(starpu_parallel_worker_init(
			 HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_NB, 3,
			 STARPU_PARALLEL_WORKER_KEEP_HOMOGENEOUS, 1, 0)),
		 1110);
	CLAIM_EQ(sizes(starpu_parallel_worker_init(HWLOC_OBJ_MACHINE,
						   STARPU_PARALLEL_WORKER_MIN_NB, 2,
						   STARPU_PARALLEL_WORKER_MAX_NB, 9, 0)),
		 1111);
	CLAIM_EQ(sizes(starpu_parallel_worker_init(
			 HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_MIN_NB, 2,
			 STARPU_PARALLEL_WORKER_MAX_NB, 9,
			 STARPU_PARALLEL_WORKER_PREFERE_MIN, 1, 0)),
		 2200);
	CLAIM_EQ(sizes(starpu_parallel_worker_init(
			 HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_PARTITION_ONE,
			 STARPU_PARALLEL_WORKER_NEW, STARPU_PARALLEL_WORKER_NCORES, 3,
			 STARPU_PARALLEL_WORKER_NEW, 0)),
		 3100);
	starpu_shutdown();
}

/* With a policy tasks go to a context that has it, until the end. */
static void with_policy(void)
{
	struct starpu_parallel_worker_config *config;

	begin();
	config = starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_NB,
					     2, STARPU_PARALLEL_WORKER_POLICY_NAME,
					     "dmda", STARPU_PARALLEL_WORKER_TYPE,
					     STARPU_PARALLEL_WORKER_GNU_OPENMP_MKL, 0);
	CLAIM(config != NULL);
	CLAIM_EQ(strcmp(starpu_sched_ctx_get_sched_policy(starpu_sched_ctx_get_context())
				->policy_name,
			"dmda"),
		 0);
	/* The masters, by their model: no core else. */
	CLAIM((run_tasks() & ~5u) == 0);
	CLAIM_EQ(most_cores, 2);
	if (!orrery_is_simulated())
		CLAIM_EQ(most_threads, 2);
	CLAIM_EQ(starpu_parallel_worker_shutdown(config), 0);
	CLAIM_EQ(starpu_sched_ctx_get_context(), STARPU_NMAX_SCHED_CTXS);
	starpu_shutdown();
}

static void with_policy_of_its_own(void)
{
	struct starpu_parallel_worker_config *config;
	struct starpu_sched_policy *policy;

	begin();
	policy = starpu_sched_get_predefined_policies()[0];
	config = starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_NB,
					     2, STARPU_PARALLEL_WORKER_POLICY_STRUCT,
					     policy, STARPU_PARALLEL_WORKER_TYPE,
					     STARPU_PARALLEL_WORKER_OPENMP, 0);
	CLAIM(config != NULL);
	CLAIM(starpu_sched_ctx_get_sched_policy(starpu_sched_ctx_get_context()) ==
	      policy);
	CLAIM((run_tasks() & ~5u) == 0);
	CLAIM_EQ(starpu_parallel_worker_shutdown(config), 0);
	starpu_shutdown();
}

/* Others take tasks, too, when they are to. */
static void awake(void)
{
	struct starpu_parallel_worker_config *config;

	begin();
	config = starpu_parallel_worker_init(HWLOC_OBJ_MACHINE,
					     STARPU_PARALLEL_WORKER_AWAKE_WORKERS, 1, 0);
	run_tasks();
	if (orrery_is_simulated())
		CLAIM_EQ(most_cores, 1);
	CLAIM_EQ(starpu_parallel_worker_shutdown(config), 0);
	starpu_shutdown();
}

static void refusals(void)
{
	unsigned ctxs[STARPU_NMAX_SCHED_CTXS];
	int n = STARPU_NMAX_SCHED_CTXS - 3;

	begin();
	CLAIM_EQ(starpu_parallel_worker_shutdown(NULL), -EINVAL);
	CLAIM_EQ(starpu_parallel_worker_print(NULL), -EINVAL);
	CLAIM(!starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_NEW,
					   STARPU_PARALLEL_WORKER_NCORES, 5, 0));
	/* No object of it is in the machine. */
	CLAIM(!starpu_parallel_worker_init(HWLOC_OBJ_BRIDGE, 0));
	for (int i = 0; i < n; i++)
		ctxs[i] = starpu_sched_ctx_create(NULL, 0, "one more", 0);
	CLAIM(!starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_NB,
					   3, 0));
	for (int i = 0; i < n; i++)
		starpu_sched_ctx_delete(ctxs[i]);
	CLAIM_EQ(sizes(starpu_parallel_worker_init(HWLOC_OBJ_MACHINE,
						   STARPU_PARALLEL_WORKER_NB, 3, 0)),
		 2110);
	starpu_shutdown();
}

static void *bind(void *arg)
{
	starpu_sched_ctx_bind_current_thread_to_cpuid(0);
	return arg;
}

/* OpenMP makes such threads; in simulation they belong to no rank. */
static void threads_of_others(void)
{
	pthread_t thread;

	begin();
	CLAIM_EQ(pthread_create(&thread, NULL, bind, NULL), 0);
	CLAIM_EQ(pthread_join(thread, NULL), 0);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"two halves of a machine: masters alone take tasks", halves},
	{"clusters are the same", old_names},
	{"old names of arguments", old_arguments},
	{"tasks go to a context with a policy's struct", with_policy_of_its_own},
	{"parts are as many and as large as asked for", partitions},
	{"tasks go to a context with the policy", with_policy},
	{"the other cores take tasks when they are to", awake},
	{"what cannot be made is refused", refusals},
	{"threads of others may bind themselves", threads_of_others},
	{NULL, NULL}};

int main(void)
{
	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	return claims_run(claims, 0);
}
