/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Parallel tasks: kernels that several workers run together. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include <orrery.h>
#include <starpu_sched_ctx.h>

#include "claim.h"

int claim_failures;

enum { NWORKERS = 4, NTASKS = 24, N = 1000 };

static int calls[NTASKS], sizes[NTASKS], ranks[NTASKS], ids[NTASKS];
static float vector[N];

static void note(void *buffers[], void *arg)
{
	int number = (int)(intptr_t)arg;

	(void)buffers;
	STARPU_ATOMIC_ADD(&calls[number], 1);
	STARPU_ATOMIC_ADD(&ranks[number], 1 << starpu_combined_worker_get_rank());
	/* Calls of one task write the same. */
	__atomic_store_n(&sizes[number], starpu_combined_worker_get_size(),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&ids[number], starpu_combined_worker_get_id(), __ATOMIC_RELAXED);
}

/* Each call does its share of the vector, as programs for StarPU do it. */
static void scale(void *buffers[], void *arg)
{
	float *values = (float *)STARPU_VECTOR_GET_PTR(buffers[0]);
	int n = (int)STARPU_VECTOR_GET_NX(buffers[0]);
	int size = starpu_combined_worker_get_size();
	int rank = starpu_combined_worker_get_rank(), share = (n + size - 1) / size;

	(void)arg;
	for (int i = rank * share; i < n && i < (rank + 1) * share; i++)
		values[i] *= 2;
}

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 1000;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "parallel"};
static struct starpu_codelet spmd = {.type = STARPU_SPMD,
				     .max_parallelism = INT_MAX,
				     .cpu_funcs = {note},
				     .cpu_funcs_name = {"note"},
				     .model = &model};
static struct starpu_codelet fork_join = {.type = STARPU_FORKJOIN,
					  .max_parallelism = INT_MAX,
					  .cpu_funcs = {note},
					  .cpu_funcs_name = {"note"},
					  .model = &model};
static struct starpu_codelet sequential = {
	.cpu_funcs = {note}, .cpu_funcs_name = {"note"}, .model = &model};
static struct starpu_codelet scale_cl = {.type = STARPU_SPMD,
					 .max_parallelism = INT_MAX,
					 .cpu_funcs = {scale},
					 .cpu_funcs_name = {"scale"},
					 .nbuffers = 1,
					 .modes = {STARPU_RW},
					 .model = &model};

static void begin(const char *policy)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = NWORKERS;
	conf.sched_policy_name = policy;
	if (starpu_init(&conf) != 0 || starpu_cpu_worker_get_count() != NWORKERS)
		exit(77);
	memset(calls, 0, sizeof(calls));
	memset(ranks, 0, sizeof(ranks));
	memset(sizes, 0, sizeof(sizes));
}

static struct starpu_task *make(struct starpu_codelet *cl, int number)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = (void *)(intptr_t)number;
	return task;
}

static void submit(struct starpu_codelet *cl, int number)
{
	CLAIM_EQ(starpu_task_submit(make(cl, number)), 0);
}

/* ---- claims ---------------------------------------------------------- */

static void sets_are_there_from_the_start(void)
{
	const char *policies[] = {"peager", "pheft", "modular-pheft"};

	for (int i = 0; i < 3; i++) {
		int size = 0, *members = NULL;

		begin(policies[i]);
		CLAIM(starpu_combined_worker_get_count() > 0);
		CLAIM_EQ(
			starpu_combined_worker_get_description(NWORKERS, &size, &members),
			0);
		CLAIM(size > 1 && size <= NWORKERS && members != NULL);
		CLAIM_EQ(starpu_worker_get_type(NWORKERS), STARPU_CPU_WORKER);
		CLAIM_EQ(starpu_worker_get_memory_node(NWORKERS), STARPU_MAIN_RAM);
		starpu_shutdown();
	}
}

static void spmd_kernels_are_called_by_each(void)
{
	begin("peager");
	for (int i = 0; i < NTASKS; i++)
		submit(&spmd, i);
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++) {
		CLAIM_EQ(calls[i], NWORKERS);
		CLAIM_EQ(sizes[i], NWORKERS);
		CLAIM_EQ(ranks[i], (1 << NWORKERS) - 1);
		CLAIM_EQ(starpu_worker_is_combined_worker(ids[i]), 1);
	}
	starpu_shutdown();
}

static void fork_join_kernels_are_called_once(void)
{
	begin("peager");
	for (int i = 0; i < NTASKS; i++)
		submit(i % 3 ? &fork_join : &sequential, i);
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++) {
		CLAIM_EQ(calls[i], 1);
		CLAIM_EQ(ranks[i], 1);
		CLAIM_EQ(sizes[i], i % 3 ? NWORKERS : 1);
		CLAIM_EQ(ids[i] >= NWORKERS, i % 3 != 0);
	}
	CLAIM_EQ(starpu_combined_worker_get_size(), 1);
	CLAIM_EQ(starpu_combined_worker_get_rank(), 0);
	CLAIM_EQ(starpu_combined_worker_get_id(), -1);
	starpu_shutdown();
}

static void codelets_limit_their_width(void)
{
	static struct starpu_codelet two, one;

	two = spmd;
	two.max_parallelism = 2;
	one = spmd;
	one.max_parallelism = 0;
	begin("peager");
	for (int i = 0; i < NTASKS; i++)
		submit(i % 2 ? &two : &one, i);
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(calls[i], i % 2 ? 2 : 1);
	/* All, and both halves. */
	CLAIM_EQ(starpu_combined_worker_get_count(), 3);
	starpu_shutdown();
}

static void data_are_whole(void)
{
	static const char *const policies[] = {"peager", "pheft"};
	starpu_data_handle_t handle;

	for (int k = 0; k < 2; k++) {
		begin(policies[k]);
		for (int i = 0; i < N; i++)
			vector[i] = (float)i;
		starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)vector,
					    N, sizeof(vector[0]));
		for (int i = 0; i < 10; i++) {
			CLAIM_EQ(starpu_task_insert(&scale_cl, STARPU_RW, handle, 0), 0);
			submit(&sequential, i);
		}
		starpu_data_unregister(handle);
		starpu_task_wait_for_all();
		for (int i = 0; i < N; i++)
			CLAIM(vector[i] == (float)i * 1024);
		starpu_shutdown();
	}
}

/* Under any policy; once they are there, no more. */
static void programs_ask_for_the_usual_sets(void)
{
	int size, *members;

	begin("eager");
	CLAIM_EQ(starpu_combined_worker_get_count(), 0);
	for (int i = 0; i < 2; i++) {
		starpu_sched_find_all_worker_combinations();
		CLAIM_EQ(starpu_combined_worker_get_count(), 3);
	}
	for (unsigned i = 0; i < 3; i++) {
		int id = (int)(starpu_worker_get_count() + i);

		CLAIM(starpu_worker_is_combined_worker(id));
		CLAIM_EQ(starpu_combined_worker_get_description(id, &size, &members), 0);
		CLAIM_EQ(size, i == 0 ? 4 : 2);
	}
	starpu_shutdown();
}

/* A task for one combined worker, under any policy. */
static void programs_choose_the_workers(void)
{
	int outer[2] = {3, 1}, inner[2] = {1, 2}, size, *members, a, b;

	begin("lws");
	CLAIM_EQ(starpu_combined_worker_get_count(), 0);
	a = starpu_combined_worker_assign_workerid(2, outer);
	b = starpu_combined_worker_assign_workerid(2, inner);
	CLAIM_EQ(a, NWORKERS);
	CLAIM_EQ(b, NWORKERS + 1);
	CLAIM_EQ(starpu_combined_worker_assign_workerid(2, outer), a);
	CLAIM_EQ(starpu_combined_worker_get_description(a, &size, &members), 0);
	CLAIM_EQ(size, 2);
	CLAIM(members[0] == 1 && members[1] == 3);
	CLAIM_EQ(starpu_combined_worker_get_description(0, NULL, NULL), -EINVAL);
	inner[0] = 2;
	CLAIM_EQ(starpu_combined_worker_assign_workerid(2, inner), -EINVAL);
	CLAIM_EQ(starpu_worker_get_perf_archtype(a, 0)->devices[0].ncores, 2);
	for (int i = 0; i < NTASKS; i++) {
		struct starpu_task *task = make(i % 3 ? &spmd : &sequential, i);

		if (i % 3) {
			task->execute_on_a_specific_worker = 1;
			task->workerid = (unsigned)(i % 3 == 1 ? a : b);
			CLAIM_EQ(starpu_combined_worker_can_execute_task(task->workerid,
									 task, 0),
				 1);
		}
		CLAIM_EQ(starpu_task_submit(task), 0);
	}
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++) {
		CLAIM_EQ(calls[i], i % 3 ? 2 : 1);
		CLAIM_EQ(ids[i], i % 3 == 0 ? -1 : i % 3 == 1 ? a : b);
	}
	starpu_shutdown();
}

/* With fewer workers, as long as one; all that wait in between go on. */
static void contexts_have_their_own(void)
{
	int left[2] = {0, 1}, others[3] = {1, 2, 3};
	unsigned one, two;

	begin("lws");
	one = starpu_sched_ctx_create(left, 2, "left", STARPU_SCHED_CTX_POLICY_NAME,
				      "peager", 0);
	two = starpu_sched_ctx_create(others, 3, "others", STARPU_SCHED_CTX_POLICY_NAME,
				      "pheft", 0);
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_submit_to_ctx(make(i % 3 ? &spmd : &sequential, i),
						   i % 2 ? one : two),
			 0);
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++)
		CLAIM(calls[i] == (i % 3 == 0 ? 1 : sizes[i]) && sizes[i] <= 3 - i % 2);
	starpu_sched_ctx_delete(one);
	starpu_sched_ctx_delete(two);
	starpu_shutdown();
}

/* Four cores take a quarter of the time. */
static void simulated_tasks_are_faster(void)
{
	double begin_us, seen_us;

	begin("peager");
	begin_us = starpu_timing_now();
	submit(&fork_join, 0);
	starpu_task_wait_for_all();
	seen_us = starpu_timing_now() - begin_us;
	CLAIM(!orrery_is_simulated() || (seen_us > 249 && seen_us < 300));
	starpu_shutdown();
}

static void a_master_has_the_cores_of_its_context(void)
{
	int cores[3] = {1, 2, 3};
	unsigned ctx;

	begin("lws");
	ctx = starpu_sched_ctx_create(cores, 3, "cores", 0);
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_submit_to_ctx(
				 make(i % 2 ? &fork_join : &sequential, i), ctx),
			 0);
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(sizes[i], i % 2 ? 3 : 1);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

static int nwide, most_wide;

static void counted_kernel(void *buffers[], void *arg)
{
	int n = __atomic_add_fetch(&nwide, 1, __ATOMIC_SEQ_CST);

	(void)buffers;
	(void)arg;
	if (n > __atomic_load_n(&most_wide, __ATOMIC_SEQ_CST))
		__atomic_store_n(&most_wide, n, __ATOMIC_SEQ_CST);
	starpu_usleep(200);
	__atomic_add_fetch(&nwide, -1, __ATOMIC_SEQ_CST);
}

/* The sets that are declared share a worker then. */
static void one_parallel_task_at_a_time(void)
{
	struct starpu_codelet pair = {.type = STARPU_FORKJOIN,
				      .max_parallelism = 2,
				      .cpu_funcs = {counted_kernel},
				      .model = &model};
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = NWORKERS;
	conf.sched_policy_name = "peager";
	conf.single_combined_worker = 1;
	most_wide = 0;
	if (starpu_init(&conf) != 0)
		exit(77);
	CLAIM_EQ(starpu_combined_worker_get_count(), NWORKERS - 1);
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_submit(make(&pair, i)), 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(most_wide, 1);
	starpu_shutdown();
}

static int nplain[STARPU_NMAXWORKERS], nbegun, nbefore;

static void plain_kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	STARPU_ATOMIC_ADD(&nbegun, 1);
	STARPU_ATOMIC_ADD(&nplain[starpu_worker_get_id()], 1);
}

static void wide_kernel(void *buffers[], void *arg)
{
	int none = -1, n = __atomic_load_n(&nbegun, __ATOMIC_SEQ_CST);

	note(buffers, arg);
	__atomic_compare_exchange_n(&nbefore, &none, n, 0, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
}

/* In turns with parallel tasks, which others would wait for; but the first of these waits
 * for few. */
static void plain_tasks_pass_parallel_ones(const char *policy)
{
	struct starpu_codelet plain = {.cpu_funcs = {plain_kernel}, .model = &model},
			      wide = spmd;

	wide.cpu_funcs[0] = wide_kernel;
	memset(nplain, 0, sizeof(nplain));
	nbegun = 0;
	nbefore = -1;
	begin(policy);
	starpu_pause();
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_submit(make(i % 2 ? &wide : &plain, i)), 0);
	starpu_resume();
	starpu_task_wait_for_all();
	starpu_shutdown();
	CLAIM_EQ(nbegun, NTASKS / 2);
	CLAIM(nbefore >= 1 && nbefore <= NWORKERS);
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(calls[i], i % 2 ? NWORKERS : 0);
	for (int i = 0; i < NWORKERS; i++)
		CLAIM(!orrery_is_simulated() || nplain[i] == NTASKS / 2 / NWORKERS);
}

static void plain_tasks_pass_under_peager(void)
{
	plain_tasks_pass_parallel_ones("peager");
}

static void plain_tasks_pass_under_pheft(void)
{
	plain_tasks_pass_parallel_ones("pheft");
}

static const struct claim claims[] = {
	{"sets are there from the start", sets_are_there_from_the_start},
	{"SPMD kernels are called by each", spmd_kernels_are_called_by_each},
	{"fork-join kernels are called once", fork_join_kernels_are_called_once},
	{"codelets limit their width", codelets_limit_their_width},
	{"data are whole", data_are_whole},
	{"programs ask for the usual sets", programs_ask_for_the_usual_sets},
	{"programs choose the workers", programs_choose_the_workers},
	{"contexts have their own", contexts_have_their_own},
	{"simulated tasks are faster", simulated_tasks_are_faster},
	{"a master has the cores of its context", a_master_has_the_cores_of_its_context},
	{"one parallel task at a time", one_parallel_task_at_a_time},
	{"plain tasks pass under peager", plain_tasks_pass_under_peager},
	{"plain tasks pass under pheft", plain_tasks_pass_under_pheft},
	{NULL, NULL}};

int main(void)
{
	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	return claims_run(claims, 0);
}
