/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Contexts that the application watches, and resizes. */
#include <string.h>

#include "claim.h"

int claim_failures;

enum { NWORKERS = 4, NTASKS = 120 };

static struct tally {
	int pushed[STARPU_NMAXWORKERS], popped[STARPU_NMAXWORKERS];
	int submitted, executed, empty, deleted, moved;
	long long flops, bytes, tags, idle_us;
	unsigned context, footprint;
} seen;

#define ADD(field, n) ((void)__atomic_add_fetch(&seen.field, n, __ATOMIC_SEQ_CST))

static void on_idle(unsigned context, int worker, double idle_us)
{
	CLAIM(context == seen.context && worker == 1 && idle_us > 0);
	ADD(idle_us, (long long)idle_us);
}

static void on_popped(unsigned context, int worker)
{
	CLAIM(context == seen.context && worker == starpu_worker_get_id());
	ADD(popped[worker], 1);
}

static void on_pushed(unsigned context, int worker)
{
	CLAIM(context == seen.context && worker >= 0 && worker < NWORKERS);
	ADD(pushed[worker], 1);
}

static void on_executed(struct starpu_task *task, size_t bytes, uint32_t footprint,
			int tag, double flops)
{
	CLAIM(task->sched_ctx == seen.context && footprint == 0);
	ADD(executed, 1);
	ADD(bytes, (long long)bytes);
	ADD(tags, tag);
	ADD(flops, (long long)flops);
}

static void on_submitted(struct starpu_task *task, uint32_t footprint, size_t bytes)
{
	CLAIM(task->sched_ctx == seen.context && footprint == 0);
	CLAIM(bytes == (task->cl->nbuffers ? 40 : 0));
	ADD(submitted, 1);
}

static void on_empty(unsigned context, struct starpu_task *task)
{
	int first = 1;

	CLAIM(context == seen.context && task->sched_ctx == context);
	ADD(empty, 1);
	starpu_sched_ctx_add_workers(&first, 1, context);
}

static void on_deleted(unsigned context)
{
	CLAIM_EQ(context, seen.context);
	CLAIM_EQ(starpu_sched_ctx_get_nworkers(context), 0);
	ADD(deleted, 1);
}

static struct starpu_sched_ctx_performance_counters counters = {
	.notify_poped_task = on_popped,
	.notify_pushed_task = on_pushed,
	.notify_post_exec_task = on_executed,
	.notify_submitted_job = on_submitted,
	.notify_empty_ctx = on_empty,
	.notify_delete_context = on_deleted};

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet plain = {.cpu_funcs = {nothing}, .name = "plain"};
static struct starpu_codelet update = {
	.cpu_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "update"};

static unsigned watched(int *workers, int n, const char *policy)
{
	seen = (struct tally){0};
	seen.context = starpu_sched_ctx_create(workers, n, "watched",
					       STARPU_SCHED_CTX_POLICY_NAME, policy, 0);
	starpu_sched_ctx_set_perf_counters(seen.context, &counters);
	return seen.context;
}

static void submit(struct starpu_codelet *cl, unsigned context, int i,
		   starpu_data_handle_t datum)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->handles[0] = datum;
	task->flops = 100;
	task->hypervisor_tag = 3;
	if (i % 5 == 4) {
		task->execute_on_a_specific_worker = 1;
		task->workerid = 2;
	}
	CLAIM_EQ(starpu_task_submit_to_ctx(task, context), 0);
}

static int sum(const int *of)
{
	int all = 0;

	for (int i = 0; i < NWORKERS; i++)
		all += of[i];
	return all;
}

static void each_task_is_told(void)
{
	static const char *const policies[] = {
		"eager",  "prio",   "lws",   "ws",         "dmda",         "dmdas",
		"random", "peager", "pheft", "heteroprio", "modular-eager"};
	static int values[10];
	starpu_data_handle_t datum;
	int workers[] = {1, 2};

	claim_start(NWORKERS);
	starpu_vector_data_register(&datum, STARPU_MAIN_RAM, (uintptr_t)values, 10, 4);
	for (size_t p = 0; p < sizeof(policies) / sizeof(policies[0]); p++) {
		unsigned context = watched(workers, 2, policies[p]);

		for (int i = 0; i < NTASKS; i++) {
			submit(i % 3 ? &plain : &update, context, i, datum);
			submit(&plain, 0, 0, NULL);
		}
		starpu_task_wait_for_all();
		starpu_sched_ctx_delete(context);
		CLAIM_EQ(seen.submitted, NTASKS);
		CLAIM_EQ(sum(seen.pushed), NTASKS);
		CLAIM_EQ(sum(seen.popped), NTASKS);
		CLAIM(seen.popped[2] >= NTASKS / 5);
		CLAIM_EQ(seen.popped[0] + seen.popped[3], 0);
		CLAIM_EQ(seen.executed, NTASKS);
		CLAIM_EQ(seen.flops, 100 * NTASKS);
		CLAIM_EQ(seen.tags, 3 * NTASKS);
		CLAIM_EQ(seen.bytes, 40 * NTASKS / 3);
		CLAIM_EQ(seen.deleted, 1);
		CLAIM_EQ(seen.empty, 0);
	}
	starpu_data_unregister(datum);
	starpu_shutdown();
}

static void who_is_told_no_more(void)
{
	int workers[] = {1, 2};
	unsigned context;

	claim_start(NWORKERS);
	context = watched(workers, 2, "eager");
	submit(&plain, context, 0, NULL);
	starpu_task_wait_for_all();
	starpu_sched_ctx_set_perf_counters(context, NULL);
	submit(&plain, context, 0, NULL);
	starpu_task_wait_for_all();
	starpu_sched_ctx_call_pushed_task_cb(1, context);
	CLAIM_EQ(seen.executed, 1);
	CLAIM_EQ(sum(seen.pushed), 1);
	starpu_sched_ctx_set_perf_counters(context, &counters);
	starpu_sched_ctx_call_pushed_task_cb(1, context);
	CLAIM_EQ(sum(seen.pushed), 2);
	starpu_sched_ctx_delete(context);
	starpu_shutdown();
}

static void an_empty_context_gets_a_worker(void)
{
	unsigned context;

	claim_start(NWORKERS);
	context = watched(NULL, 0, "dmda");
	for (int i = 0; i < 10; i++)
		submit(&plain, context, 0, NULL);
	starpu_task_wait_for_all();
	CLAIM_EQ(seen.empty, 1);
	CLAIM_EQ(seen.popped[1], 10);
	CLAIM_EQ(seen.pushed[1], 10);
	starpu_sched_ctx_delete(context);
	starpu_shutdown();
}

static void ready_flops_are_counted(void)
{
	static int value;
	starpu_data_handle_t datum;
	int worker = 2;
	unsigned context;

	claim_start(NWORKERS);
	starpu_variable_data_register(&datum, STARPU_MAIN_RAM, (uintptr_t)&value, 40);
	context = starpu_sched_ctx_create(NULL, 0, "waits", STARPU_SCHED_CTX_POLICY_NAME,
					  "eager", 0);
	for (int i = 0; i < 3; i++)
		submit(&plain, context, 0, NULL);
	for (int i = 0; i < 2; i++) /* The second waits for the first. */
		submit(&update, context, 0, datum);
	CLAIM_EQ(starpu_sched_ctx_get_nready_tasks(context), 4);
	CLAIM_EQ(starpu_sched_ctx_get_nready_flops(context), 400);
	starpu_sched_ctx_add_workers(&worker, 1, context);
	starpu_task_wait_for_all();
	CLAIM_EQ(starpu_sched_ctx_get_nready_flops(context), 0);
	starpu_data_unregister(datum);
	starpu_sched_ctx_delete(context);
	starpu_shutdown();
}

/* ---- a program that resizes its contexts ----------------------------- */

static unsigned halves[2];
static int left[2]; /* of the tasks of each half */

static int is_moving;

/* Of a half that has fewer tasks left, worker 1 or 3 goes to the other. */
static void resize(struct starpu_task *task, size_t bytes, uint32_t footprint, int tag,
		   double flops)
{
	int half = task->sched_ctx == halves[1], rest, other;

	(void)bytes;
	(void)footprint;
	(void)tag;
	(void)flops;
	rest = __atomic_sub_fetch(&left[half], 1, __ATOMIC_SEQ_CST);
	other = __atomic_load_n(&left[!half], __ATOMIC_SEQ_CST);
	if (rest >= other || __atomic_exchange_n(&is_moving, 1, __ATOMIC_SEQ_CST))
		return;
	for (int worker = 1; worker < NWORKERS; worker += 2) {
		if (!starpu_sched_ctx_contains_worker(worker, halves[half]))
			continue;
		starpu_sched_ctx_add_workers(&worker, 1, halves[!half]);
		starpu_sched_ctx_remove_workers(&worker, 1, halves[half]);
		ADD(moved, 1);
	}
	__atomic_store_n(&is_moving, 0, __ATOMIC_SEQ_CST);
}

static void contexts_are_resized(void)
{
	static struct starpu_sched_ctx_performance_counters resizing = {
		.notify_post_exec_task = resize};
	int workers[2][2] = {{0, 1}, {2, 3}}, all;

	claim_start(NWORKERS);
	seen = (struct tally){0};
	CLAIM_EQ(starpu_sched_ctx_check_if_hypervisor_exists(), 0);
	starpu_sched_ctx_notify_hypervisor_exists();
	CLAIM_EQ(starpu_sched_ctx_check_if_hypervisor_exists(), 1);
	for (int i = 0; i < 2; i++) {
		halves[i] = starpu_sched_ctx_create(workers[i], 2, "half",
						    STARPU_SCHED_CTX_POLICY_NAME,
						    i ? "dmda" : "lws", 0);
		starpu_sched_ctx_set_perf_counters(halves[i], &resizing);
		left[i] = i ? NTASKS / 10 : 10 * NTASKS;
	}
	all = left[0] + left[1];
	for (int i = 0; i < all; i++)
		submit(&plain, halves[i % 110 == 0 && i / 110 < NTASKS / 10], 0, NULL);
	starpu_task_wait_for_all();
	CLAIM_EQ(left[0], 0);
	CLAIM_EQ(left[1], 0);
	CLAIM(seen.moved >= 1);
	CLAIM_EQ(starpu_sched_ctx_get_nworkers(halves[0]) +
			 starpu_sched_ctx_get_nworkers(halves[1]),
		 NWORKERS);
	for (int i = 0; i < 2; i++)
		starpu_sched_ctx_delete(halves[i]);
	starpu_shutdown();
}

static void idle_time_is_told(void)
{
	static struct starpu_sched_ctx_performance_counters idling = {.notify_idle_cycle =
									      on_idle};
	int workers[] = {1};
	double begin_us;
	long long idle_us;
	unsigned context;

	claim_start(NWORKERS);
	begin_us = starpu_timing_now();
	context = watched(workers, 1, "eager");
	starpu_sched_ctx_set_perf_counters(context, &idling);
	for (int i = 0; i < 3; i++) {
		submit(&plain, context, 0, NULL);
		starpu_task_wait_for_all();
		starpu_sleep(0.002f);
	}
	submit(&plain, context, 0, NULL);
	starpu_task_wait_for_all();
	/* The worker may be about to tell more. */
	idle_us = __atomic_load_n(&seen.idle_us, __ATOMIC_SEQ_CST);
	CLAIM(idle_us > 5000);
	CLAIM((double)idle_us <= starpu_timing_now() - begin_us + 1);
	starpu_sched_ctx_set_perf_counters(context, NULL);
	starpu_sched_ctx_delete(context);
	starpu_shutdown();
}

static void streams_have_a_worker(void)
{
	int workers[] = {2, 3};
	unsigned context;

	claim_start(NWORKERS);
	context =
		starpu_sched_ctx_create(workers, 2, "stream", STARPU_SCHED_CTX_CUDA_NSMS,
					3, STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);
	CLAIM_EQ(starpu_sched_ctx_get_stream_worker(context), 2);
	CLAIM_EQ(starpu_worker_get_sched_ctx_id_stream(3), context);
	CLAIM_EQ(starpu_worker_get_sched_ctx_id_stream(0), STARPU_NMAX_SCHED_CTXS);
	starpu_sched_ctx_delete(context);
	CLAIM_EQ(starpu_worker_get_sched_ctx_id_stream(3), STARPU_NMAX_SCHED_CTXS);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"each task is told", each_task_is_told},
	{"who is told no more", who_is_told_no_more},
	{"an empty context gets a worker", an_empty_context_gets_a_worker},
	{"ready flops are counted", ready_flops_are_counted},
	{"contexts are resized", contexts_are_resized},
	{"idle time is told", idle_time_is_told},
	{"streams have a worker", streams_have_a_worker},
	{NULL, NULL}};

int main(void)
{
	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	return claims_run(claims, 0);
}
