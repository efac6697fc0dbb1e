/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Policy heteroprio as programs use it: told by a callback, in the initial context and in
 * others; or by itself. */
#include <schedulers/starpu_heteroprio.h>
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

enum { NTASKS = 30, NBUCKETS = 3 };

static int nran, order[NTASKS], ncalls;

static void note(void *buffers[], void *arg)
{
	(void)buffers;
	order[STARPU_ATOMIC_ADD(&nran, 1) - 1] = (int)(intptr_t)arg;
}

static struct starpu_codelet codelet = {.cpu_funcs = {note}, .cpu_funcs_name = {"note"}};

/* Bucket 2, then 0, then 1. */
static void tell(unsigned ctx)
{
	ncalls++;
	starpu_heteroprio_set_nb_prios(ctx, STARPU_CPU_WORKER, NBUCKETS);
	for (unsigned i = 0; i < NBUCKETS; i++)
		starpu_heteroprio_set_mapping(ctx, STARPU_CPU_WORKER, i, (i + 2) % 3);
	starpu_heteroprio_set_faster_arch(ctx, STARPU_CPU_WORKER, 1);
	starpu_heteroprio_set_arch_slow_factor(ctx, STARPU_CUDA_WORKER, 1, 4.5f);
}

static void begin(const char *policy, void (*callback)(unsigned))
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 1;
	conf.sched_policy_name = policy;
	conf.sched_policy_callback = callback;
	conf.precedence_over_environment_variables = 1;
	ncalls = nran = 0;
	if (starpu_init(&conf) != 0)
		exit(77);
}

/* All are there when the worker begins. */
static void run(unsigned ctx)
{
	starpu_pause();
	for (int i = 0; i < NTASKS; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &codelet;
		task->cl_arg = (void *)(intptr_t)i;
		task->priority = i % NBUCKETS;
		CLAIM_EQ(starpu_task_submit_to_ctx(task, ctx), 0);
	}
	starpu_resume();
	starpu_task_wait_for_all();
	CLAIM_EQ(nran, NTASKS);
}

static void expect_buckets(int first, int second, int third)
{
	const int buckets[NBUCKETS] = {first, second, third};
	int k = 0;

	for (int b = 0; b < NBUCKETS; b++)
		for (int i = 0; i < NTASKS; i++)
			if (i % NBUCKETS == buckets[b])
				CLAIM_EQ(order[k++], i);
}

static void the_callback_tells_the_order(void)
{
	begin("heteroprio", tell);
	CLAIM_EQ(ncalls, 1);
	CLAIM_EQ(starpu_sched_get_min_priority(), 0);
	CLAIM_EQ(starpu_sched_get_max_priority(), 99);
	run(0);
	expect_buckets(2, 0, 1);
	starpu_shutdown();
}

static void other_policies_do_not_call_it(void)
{
	begin("prio", tell);
	CLAIM_EQ(ncalls, 0);
	starpu_shutdown();
}

static void contexts_are_told_of_theirs(void)
{
	int ids[1] = {0};
	unsigned ctx;

	begin("eager", NULL);
	ctx = starpu_sched_ctx_create(ids, 1, "buckets", STARPU_SCHED_CTX_POLICY_NAME,
				      "heteroprio", STARPU_SCHED_CTX_POLICY_INIT, tell,
				      0);
	CLAIM_EQ(ncalls, 1);
	run(ctx);
	expect_buckets(2, 0, 1);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

/* One type of workers: nothing gains, and the urgent go first. */
static void by_itself_the_urgent_go_first(void)
{
	begin("heteroprio", NULL);
	run(0);
	expect_buckets(2, 1, 0);
	starpu_shutdown();
}

static void groups_are_printed(void)
{
	char line[80] = "";
	FILE *file;

	begin("heteroprio", NULL);
	starpu_heteroprio_map_wgroup_memory_nodes(0);
	starpu_heteroprio_set_use_locality(0, 0);
	file = tmpfile();
	starpu_heteroprio_print_wgroups(file, 0);
	rewind(file);
	CLAIM(fgets(line, sizeof(line), file) != NULL);
	CLAIM(strncmp(line, "group 0, memory ", 16) == 0);
	CLAIM(strstr(line, ": 0\n") != NULL);
	fclose(file);
	starpu_shutdown();
}

int main(void)
{
	const struct claim claims[] = {
		{"the_callback_tells_the_order", the_callback_tells_the_order},
		{"other_policies_do_not_call_it", other_policies_do_not_call_it},
		{"contexts_are_told_of_theirs", contexts_are_told_of_theirs},
		{"by_itself_the_urgent_go_first", by_itself_the_urgent_go_first},
		{"groups_are_printed", groups_are_printed},
		{NULL, NULL}};

	return claims_run(claims, 0);
}
