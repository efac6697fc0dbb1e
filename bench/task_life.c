/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What a task costs from its insertion to its end, when its kernel does nothing.
 *
 * usage: task_life [NTASKS [own]], with STARPU_NCPU and STARPU_SCHED; own: under a policy
 * written to the public hooks, a queue behind a mutex
 */
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_scheduler.h>

#include "bench.h"

enum { NDATA = 64, ROUNDS = 5 };

static unsigned long nexecuted; /* atomic */

/* Next to nothing: counts, so that tasks which did not run are noticed. */
static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	__atomic_fetch_add(&nexecuted, 1, __ATOMIC_RELAXED);
}

static struct starpu_codelet no_data = {.cpu_funcs = {nothing}, .nbuffers = 0};
static struct starpu_codelet one = {
	.cpu_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_RW}};
static struct starpu_codelet three = {
	.cpu_funcs = {nothing}, .nbuffers = 3, .modes = {STARPU_R, STARPU_R, STARPU_RW}};

static starpu_data_handle_t data[NDATA];

/* ---- a policy of the application's ----------------------------------- */

static struct {
	starpu_pthread_mutex_t mutex;
	struct starpu_task_list tasks;
} queue;

static void own_init(unsigned sched_ctx_id)
{
	(void)sched_ctx_id;
	starpu_pthread_mutex_init(&queue.mutex, NULL);
	starpu_task_list_init(&queue.tasks);
}

static void own_deinit(unsigned sched_ctx_id)
{
	(void)sched_ctx_id;
	starpu_pthread_mutex_destroy(&queue.mutex);
}

static int own_push(struct starpu_task *task)
{
	starpu_pthread_mutex_lock(&queue.mutex);
	starpu_task_list_push_back(&queue.tasks, task);
	starpu_push_task_end(task);
	starpu_pthread_mutex_unlock(&queue.mutex);
	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		starpu_wake_worker_relax_light(i);
	return 0;
}

static struct starpu_task *own_pop(unsigned sched_ctx_id)
{
	struct starpu_task *task = NULL;

	(void)sched_ctx_id;
	starpu_pthread_mutex_lock(&queue.mutex);
	if (!starpu_task_list_empty(&queue.tasks))
		task = starpu_task_list_pop_front(&queue.tasks);
	starpu_pthread_mutex_unlock(&queue.mutex);
	return task;
}

static struct starpu_sched_policy own = {
	.init_sched = own_init,
	.deinit_sched = own_deinit,
	.push_task = own_push,
	.pop_task = own_pop,
	.policy_name = "own",
	.policy_description = "one queue behind a mutex",
};

/* ---- kinds of tasks --------------------------------------------------- */

static void insert_empty(unsigned i)
{
	(void)i;
	starpu_task_insert(&no_data, 0);
}

static void insert_chain(unsigned i)
{
	(void)i;
	starpu_task_insert(&one, STARPU_RW, data[0], 0);
}

static void insert_independent(unsigned i)
{
	starpu_task_insert(&one, STARPU_RW, data[i % NDATA], 0);
}

static void insert_three(unsigned i)
{
	/* Three different data each time: 1, 9 and 25 apart from a moving start. */
	starpu_task_insert(&three, STARPU_R, data[(5 * i + 9) % NDATA], STARPU_R,
			   data[(5 * i + 25) % NDATA], STARPU_RW, data[5 * i % NDATA], 0);
}

/* The fastest of several rounds, after one that warms up. */
static void measure(const char *name, void (*insert)(unsigned), unsigned ntasks)
{
	double best_total_s = 1e9, best_insert_s = 1e9;
	char text[64];

	for (int round = 0; round <= ROUNDS; round++) {
		unsigned long before = nexecuted;
		double start = bench_now_s(), inserted, end;

		for (unsigned i = 0; i < ntasks; i++)
			insert(i);
		inserted = bench_now_s();
		starpu_task_wait_for_all();
		end = bench_now_s();
		if (nexecuted - before != ntasks) {
			fprintf(stderr, "task_life: %lu of %u tasks were executed\n",
				nexecuted - before, ntasks);
			exit(1);
		}
		if (round && end - start < best_total_s) {
			best_total_s = end - start;
			best_insert_s = inserted - start;
		}
	}
	bench_print("task_life", name, "us/task", best_total_s / ntasks * 1e6);
	snprintf(text, sizeof text, "%s (insertion)", name);
	bench_print("task_life", text, "us/task", best_insert_s / ntasks * 1e6);
}

int main(int argc, char **argv)
{
	unsigned ntasks = argc > 1 ? atoi(argv[1]) : 20000;
	float values[NDATA] = {0};
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	if (argc > 2 && strcmp(argv[2], "own") == 0)
		conf.sched_policy = &own;
	if (starpu_init(&conf))
		return 77;
	for (int i = 0; i < NDATA; i++)
		starpu_variable_data_register(&data[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof values[i]);
	measure("no data", insert_empty, ntasks);
	measure("chain", insert_chain, ntasks);
	measure("independent RW", insert_independent, ntasks);
	measure("three data", insert_three, ntasks);
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(data[i]);
	starpu_shutdown();
	return 0;
}
