/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Scheduling contexts: priorities of their own, one inside another, the end of submission
 * and who inherits the workers.  Prints what it sees.
 */
#include <stdio.h>

#include <starpu.h>

#define NTASKS 6
#define NMANY  30

static int order[NTASKS], nended;

static void kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static double cost(struct starpu_task *task, unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	return 300.;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = cost};

static struct starpu_codelet codelet = {
	.cpu_funcs = {kernel}, .model = &model, .name = "in_context"};

static void note(void *arg)
{
	int at = __sync_fetch_and_add(&nended, 1);

	if (at < NTASKS)
		order[at] = (int)(intptr_t)arg;
}

static void count(void *arg)
{
	(void)__sync_fetch_and_add((int *)arg, 1);
}

static void show_order(const char *what)
{
	printf("%s:", what);
	for (int i = 0; i < NTASKS; i++)
		printf(" %d", order[i]);
	printf("\n");
	nended = 0;
}

/* One worker runs them one after the other. */
static void by_priority(unsigned ctx, const char *what)
{
	static const int prios[NTASKS] = {0, 2, -1, 1, 2, -2};

	starpu_pause();
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&codelet, STARPU_SCHED_CTX, ctx, STARPU_PRIORITY,
				   prios[i], STARPU_CALLBACK_WITH_ARG_NFREE, note,
				   (void *)(intptr_t)prios[i], 0);
	starpu_resume();
	starpu_task_wait_for_all_in_ctx(ctx);
	show_order(what);
}

static void priorities(void)
{
	int workers[1] = {0};
	unsigned ctx = starpu_sched_ctx_create(workers, 1, "sorted",
					       STARPU_SCHED_CTX_POLICY_NAME, "prio",
					       STARPU_SCHED_CTX_POLICY_MIN_PRIO, -2,
					       STARPU_SCHED_CTX_POLICY_MAX_PRIO, 2, 0);
	unsigned plain = starpu_sched_ctx_create(
		workers, 1, "plain", STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);

	printf("from %d to %d, set: %d %d\n", starpu_sched_ctx_get_min_priority(ctx),
	       starpu_sched_ctx_get_max_priority(ctx),
	       starpu_sched_ctx_min_priority_is_set(ctx) != 0,
	       starpu_sched_ctx_max_priority_is_set(ctx) != 0);
	by_priority(ctx, "sorted");
	by_priority(plain, "plain");
	starpu_sched_ctx_finished_submit(plain);
	starpu_sched_ctx_delete(plain);
	starpu_sched_ctx_delete(ctx);
}

static void nested(void)
{
	int both[2] = {0, 1}, one[1] = {1}, nouter = 0, ninner = 0, nglobal = 0;
	unsigned outer = starpu_sched_ctx_create(
		both, 2, "outer", STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);
	unsigned inner =
		starpu_sched_ctx_create(one, 1, "inner", STARPU_SCHED_CTX_POLICY_NAME,
					"prio", STARPU_SCHED_CTX_NESTED, outer, 0);
	unsigned current;

	printf("outer has %u, inner %u, shared %u; worker 1 in inner: %u, worker 0: %u\n",
	       starpu_sched_ctx_get_nworkers(outer), starpu_sched_ctx_get_nworkers(inner),
	       starpu_sched_ctx_get_nshared_workers(outer, inner),
	       starpu_sched_ctx_contains_worker(1, inner),
	       starpu_sched_ctx_contains_worker(0, inner));
	starpu_sched_ctx_set_inheritor(inner, outer);
	printf("inherits: %d\n", starpu_sched_ctx_get_inheritor(inner) == outer);
	for (int i = 0; i < NMANY; i++) {
		starpu_task_insert(&codelet, STARPU_SCHED_CTX, outer,
				   STARPU_CALLBACK_WITH_ARG_NFREE, count, &nouter, 0);
		starpu_task_insert(&codelet, STARPU_SCHED_CTX, inner,
				   STARPU_CALLBACK_WITH_ARG_NFREE, count, &ninner, 0);
		starpu_task_insert(&codelet, STARPU_CALLBACK_WITH_ARG_NFREE, count,
				   &nglobal, 0);
	}
	starpu_sched_ctx_finished_submit(inner);
	starpu_task_wait_for_all_in_ctx(inner);
	printf("inner: %d\n", ninner);
	current = outer;
	starpu_sched_ctx_set_context(&current);
	starpu_task_insert(&codelet, STARPU_CALLBACK_WITH_ARG_NFREE, count, &nouter, 0);
	current = 0;
	starpu_sched_ctx_set_context(&current);
	starpu_sched_ctx_finished_submit(outer);
	starpu_task_wait_for_all_in_ctx(outer);
	starpu_task_wait_for_all_in_ctx(0);
	printf("all: %d %d %d\n", nouter, ninner, nglobal);
	starpu_sched_ctx_delete(inner);
	starpu_sched_ctx_delete(outer);
	for (int i = 0; i < NMANY; i++)
		starpu_task_insert(&codelet, STARPU_CALLBACK_WITH_ARG_NFREE, count,
				   &nglobal, 0);
	starpu_task_wait_for_all();
	printf("afterwards: %d, workers %u\n", nglobal, starpu_sched_ctx_get_nworkers(0));
}

int main(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 2;
	conf.ncuda = conf.nopencl = 0;
	if (starpu_init(&conf) != 0)
		return 77;
	if (starpu_worker_get_count() < 2) {
		starpu_shutdown();
		return 77;
	}
	priorities();
	nested();
	starpu_shutdown();
	return 0;
}
