/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* What each policy promises: by hand, worker for worker, and in whole runs. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#include "core/sched/contexts.h"
#include "core/sched/sched_modular.h"
#include "core/sched/teams.h"
#include "sched_by_hand.h"

enum { NWORKERS = 4, NTASKS = 60 };

/* Worker w takes numbers that w divides. */
static int divides(unsigned worker, struct starpu_task *task, unsigned implementation)
{
	(void)implementation;
	return worker > 0 && (intptr_t)task->cl_arg % worker == 0;
}

static struct starpu_codelet picky = {.cpu_funcs = {note_worker}, .can_execute = divides};

/* As from a callback of a task that ran on the worker. */
static void push_from(int worker, struct starpu_codelet *cl, int number, int priority)
{
	fake_get()->worker = &one.node->workers[worker];
	push(cl, number, priority);
	fake_get()->worker = NULL;
}

/* Hands tasks to workers before they ask, so that later ones do not go before. */
static int is_modular(const struct sched_ops *ops)
{
	return strncmp(ops->object.policy_name, "modular-", 8) == 0;
}

static void policies_are_found_by_name(void **state)
{
	const char *const names[] = {"eager",  "prio",       "random",    "lws",
				     "ws",     "dm",         "dmda",      "dmdap",
				     "dmdar",  "dmdas",      "dmdasd",    "pheft",
				     "peager", "heteroprio", "graph_test"};
	int nnames = sizeof(names) / sizeof(names[0]), n = 0;

	(void)state;
	while (sched_at(n) && is_modular(sched_at(n)))
		n++;
	assert_int_equal(n, NMODULARS);
	for (int i = 0; i < nnames; i++, n++) {
		assert_ptr_equal(sched_objects()[n], &sched_at(n)->object);
		assert_string_equal(sched_at(n)->object.policy_name, names[i]);
		assert_ptr_equal(sched_find(names[i]), sched_at(n));
	}
	assert_null(sched_at(n));
	assert_null(sched_objects()[n]);
	assert_null(sched_find("no such policy"));
	assert_int_equal(sched_find("eager")->most, 0);
	assert_int_equal(sched_find("dmda")->most, 0);
	assert_int_equal(sched_find("pheft")->most, 1);
	assert_int_equal(sched_find("dmdap")->most, INT_MAX);
	assert_int_equal(sched_find("dmdar")->most, 0);
	assert_int_equal(sched_find("dmdas")->most, INT_MAX);
	assert_int_equal(sched_find("dmdasd")->most, INT_MAX);
	assert_int_equal(sched_find("ws")->most, INT_MAX);
	assert_int_equal(sched_find("random")->most, 0);
	assert_int_equal(sched_find("dm")->most, 0);
}

/* One worker: the order of a policy is plain. */
static void best_first_then_oldest(void **state)
{
	static const int priorities[] = {0, 5, 0, -3, 5, 0, 9, 5};
	static const int sorted[] = {6, 1, 4, 7, 0, 2, 5, 3};

	(void)state;
	for (int i = NMODULARS; sched_at(i); i++) {
		by_hand(sched_at(i)->object.policy_name, 1, 0);
		for (int k = 0; k < 8; k++)
			push(k % 3 ? &on_cpu : &anywhere, k, priorities[k]);
		for (int k = 0; k < 8; k++)
			assert_int_equal(pop(0), policy->most ? sorted[k] : k);
		assert_int_equal(pop(0), -1);
		one_close();
	}
}

/* Those who may not take a task leave it where it is. */
static void nothing_that_fits_is_nothing(void **state)
{
	static uint32_t only_third[1] = {1u << 3};

	(void)state;
	for (int i = 0; sched_at(i); i++) {
		struct starpu_task *bound;

		by_hand(sched_at(i)->object.policy_name, 2, 2); /* workers 0, 1: GPUs */
		bound = make(&on_cpu, 70, 100);
		bound->workerids = only_third;
		bound->workerids_len = 1;
		push_task(bound);
		push(&picky, 6, 50); /* of 2 and 3 */
		push(&picky, 8, 60); /* of 2 */
		for (int round = 0; round < 2; round++) {
			assert_int_equal(pop(0), -1);
			assert_int_equal(pop(1), -1);
		}
		if (strncmp(policy->object.policy_name, "dm", 2) == 0 ||
		    policy == &sched_random || is_modular(policy)) {
			/* To each what was given to it, and all of it. */
			int n2 = 0, n3 = 0;

			while (pop(2) >= 0)
				n2++;
			while (pop(3) >= 0)
				n3++;
			assert_int_equal(n2 + n3, 3);
			assert_true(n2 >= 1 && n3 >= 1);
		} else {
			assert_int_equal(pop(3), 70);
			assert_int_equal(pop(3), 6);
			assert_int_equal(pop(3), -1);
			assert_int_equal(pop(2), 8);
			assert_int_equal(pop(2), -1);
		}
		one_close();
	}
}

/* ---- lws -------------------------------------------------------------- */

static void lws_deals_round(void **state)
{
	(void)state;
	by_hand("lws", NWORKERS, 0);
	for (int i = 0; i < 2 * NWORKERS; i++)
		push(&on_cpu, i, 0);
	for (int w = 0; w < NWORKERS; w++)
		assert_int_equal(pop(w), w);
	/* Skipping who cannot run it. */
	for (int w = 0; w < NWORKERS; w++)
		assert_int_equal(pop(w), NWORKERS + w);
	assert_int_equal(pop(0), -1);
	push(&picky, 30, 0); /* next would be 0, who divides nothing: to 1 */
	push(&on_cpu, 31, 0);
	assert_int_equal(pop(2), 31);
	assert_int_equal(pop(1), 30);
	one_close();
}

static void lws_keeps_what_a_worker_made_ready(void **state)
{
	(void)state;
	by_hand("lws", NWORKERS, 0);
	push_from(2, &on_cpu, 1, 0);
	push_from(2, &on_cpu, 2, 7);
	push_from(2, &on_cpu, 3, 0);
	push(&on_cpu, 4, 9); /* to 0 */
	assert_int_equal(pop(2), 2);
	assert_int_equal(pop(2), 1);
	assert_int_equal(pop(2), 3);
	assert_int_equal(pop(2), 4);
	/* Not what it cannot run itself. */
	push_from(3, &picky, 4, 0); /* 1 takes it; 3 does not divide 4 */
	push_from(1, &on_cpu, 5, 0);
	assert_int_equal(pop(1), 4);
	assert_int_equal(pop(1), 5);
	one_close();
}

static void lws_steals_from_the_nearest(void **state)
{
	(void)state;
	by_hand("lws", 5, 0);
	push_from(0, &on_cpu, 100, 9);
	push_from(4, &on_cpu, 104, 5);
	push_from(3, &on_cpu, 103, 0);
	push_from(3, &on_cpu, 113, 1);
	push_from(2, &on_cpu, 102, 0);
	assert_int_equal(pop(1), 102); /* 2 and 0 are as near: up first */
	assert_int_equal(pop(1), 100);
	assert_int_equal(pop(1), 113); /* its best */
	assert_int_equal(pop(1), 103);
	assert_int_equal(pop(1), 104);
	assert_int_equal(pop(1), -1);
	/* Over the head of who has nothing for it. */
	push_from(3, &picky, 9, 9); /* of 1 and 3 */
	push_from(4, &on_cpu, 104, 0);
	assert_int_equal(pop(2), 104);
	assert_int_equal(pop(2), -1);
	assert_int_equal(pop(1), 9);
	one_close();
}

/* The owner is woken when it sleeps; else whoever does may come and steal. */
static void lws_says_whom_to_wake(void **state)
{
	(void)state;
	by_hand("lws", 2, 0);
	fake_run();
	assert_int_equal(one.node->workers[0].parked, 1);
	assert_ptr_equal(push(&on_cpu, 1, 0), &one.node->workers[0]);
	one.node->workers[1].parked = 0;
	assert_null(push(&on_cpu, 2, 0));
	one.node->workers[1].parked = 1;
	assert_int_equal(pop(0), 1);
	assert_int_equal(pop(0), 2);
	one_close();
}

/* ---- ws --------------------------------------------------------------- */

static void ws_steals_from_who_has_most(void **state)
{
	(void)state;
	by_hand("ws", 5, 0);
	push_from(1, &on_cpu, 101, 0);
	push_from(1, &on_cpu, 111, 4);
	push_from(3, &on_cpu, 103, 0);
	push_from(3, &on_cpu, 113, 0);
	push_from(3, &on_cpu, 123, 9);
	push_from(4, &on_cpu, 104, 5);
	push_from(4, &on_cpu, 114, 5);
	assert_int_equal(pop(0), 123); /* its best */
	assert_int_equal(pop(0), 111); /* 1, 3 and 4 have two: the first */
	assert_int_equal(pop(4), 104); /* its own before others' */
	assert_int_equal(pop(0), 103);
	assert_int_equal(pop(0), 101);
	assert_int_equal(pop(0), 113);
	assert_int_equal(pop(0), 114);
	assert_int_equal(pop(0), -1);
	one_close();
}

/* Over the heads of those who have nothing for it, as long as their queues are. */
static void ws_steals_what_fits(void **state)
{
	(void)state;
	by_hand("ws", 5, 0);
	for (int k = 1; k <= 3; k++)
		push_from(3, &picky, 3 * k, 0); /* of 1 and 3; one of 2, too */
	for (int k = 1; k <= 2; k++)
		push_from(2, &picky, 2 * (2 * k - 1), 0);
	push_from(1, &on_cpu, 50, 0);
	push_from(0, &on_cpu, 51, 0);
	assert_int_equal(pop(4), 51); /* of two queues as long, the first */
	assert_int_equal(pop(4), 50);
	assert_int_equal(pop(4), -1);
	for (int k = 1; k <= 3; k++)
		assert_int_equal(pop(3), 3 * k);
	assert_int_equal(pop(3), 6);
	assert_int_equal(pop(1), 2);
	assert_int_equal(pop(1), -1);
	one_close();
}

/* ---- random ----------------------------------------------------------- */

/* A GPU counts for 13.33 cores. */
static void random_follows_the_speeds(void **state)
{
	enum { N = 8600 };
	int count[3] = {0};

	(void)state;
	by_hand("random", 2, 1); /* worker 0: a GPU */
	for (int i = 0; i < N; i++)
		count[push(&anywhere, i, 0)->id]++;
	assert_in_range(count[1], 0.9 * N / 15.33, 1.1 * N / 15.33);
	assert_in_range(count[2], 0.9 * N / 15.33, 1.1 * N / 15.33);
	for (int i = 0; i < 100; i++)
		count[push(&on_cpu, i, 0)->id] += N;
	assert_true(count[0] < N && count[1] > 40 * N && count[2] > 40 * N);
	for (int w = 0; w < 3; w++)
		while (pop(w) >= 0)
			continue;
	one_close();
}

static void random_runs_repeat(void **state)
{
	enum { N = 64 };
	struct sched *other;
	struct job *job;
	int first[N], nalike = 0;

	(void)state;
	by_hand("random", NWORKERS, 0);
	for (int i = 0; i < N; i++)
		first[i] = push(&on_cpu, i, 0)->id;
	for (int i = 1; i < N; i++)
		nalike += first[i] == first[i - 1];
	assert_in_range(nalike, 6, 30); /* It does not deal round. */
	for (int w = 0; w < NWORKERS; w++)
		while (pop(w) >= 0)
			continue;
	one_close();
	/* Whatever another one draws meanwhile. */
	by_hand("random", NWORKERS + 1, 0);
	other = contexts_create(one.node, policy,
				(struct starpu_sched_policy *)&policy->object);
	contexts_start(other);
	contexts_move(&one.node->workers[NWORKERS], other);
	for (int i = 0; i < N; i++) {
		job = task_job(one.node, make(&on_cpu, i, 0));
		assert_int_equal(policy->push(other, job)->id, NWORKERS);
		assert_int_equal(push(&on_cpu, i, 0)->id, first[i]);
	}
	while ((job = policy->pop(other, &one.node->workers[NWORKERS])))
		task_destroy(job->task);
	for (int w = 0; w < NWORKERS; w++)
		while (pop(w) >= 0)
			continue;
	one_close();
}

/* ---- dmda, dm --------------------------------------------------------- */

static double cost_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		      unsigned implementation)
{
	(void)task;
	(void)implementation;
	return arch->devices[0].type == STARPU_CUDA_WORKER ? 10 : 25;
}

static void dmdap_gives_to_who_ends_first(void **state)
{
	struct starpu_perfmodel model = {
		.type = STARPU_PER_ARCH, .arch_cost_function = cost_us, .symbol = "test"};
	struct starpu_codelet known = anywhere;

	(void)state;
	by_hand("dmdap", 1, 1); /* worker 0: a GPU; 10 us against 25 */
	known.model = &model;
	assert_int_equal(push(&known, 0, 0)->id, 0);
	assert_int_equal(push(&known, 1, 0)->id, 0);
	assert_int_equal(push(&known, 2, 0)->id, 1); /* 25 before 30 */
	assert_int_equal(push(&known, 3, 9)->id, 0);
	assert_int_equal(push(&known, 4, 0)->id, 0);
	/* Nobody takes another's, whatever its priority. */
	assert_int_equal(pop(1), 2);
	assert_int_equal(pop(1), -1);
	assert_int_equal(pop(0), 3);
	assert_int_equal(pop(0), 0);
	/* What has been taken counts no longer: two are left, 20 us. */
	assert_int_equal(push(&known, 5, 0)->id, 1);
	assert_int_equal(pop(1), 5);
	assert_int_equal(pop(0), 1);
	assert_int_equal(pop(0), 4);
	one_close();
}

/* The value has to come from main memory: only dmda minds. */
static void dm_ignores_transfers(void **state)
{
	static const char *const names[] = {"dm", "dmda"};
	struct starpu_perfmodel model = {
		.type = STARPU_PER_ARCH, .arch_cost_function = cost_us, .symbol = "test"};
	struct starpu_codelet reads = anywhere;
	static char bytes[100000];

	(void)state;
	reads.model = &model;
	reads.nbuffers = 1;
	reads.modes[0] = STARPU_R;
	for (int i = 0; i < 2; i++) {
		starpu_data_handle_t handle;

		one_open(1, 1, names[i]);
		fake_machine()->link_bytes_per_s = 1e8; /* 1 ms */
		starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes,
					    sizeof(bytes), 1);
		assert_int_equal(starpu_task_insert(&reads, STARPU_R, handle, 0), 0);
		assert_int_equal(starpu_task_wait_for_all(), 0);
		assert_int_equal(ran_on[0], i);
		starpu_data_unregister(handle);
		one_close();
	}
}

/* Weights are dmda's. */
static void dm_gives_to_who_ends_first(void **state)
{
	struct starpu_perfmodel model = {
		.type = STARPU_PER_ARCH, .arch_cost_function = cost_us, .symbol = "test"};
	struct starpu_codelet known = anywhere;

	(void)state;
	setenv("STARPU_SCHED_ALPHA", "0", 1);
	by_hand("dm", 1, 1);
	known.model = &model;
	assert_int_equal(push(&known, 0, 0)->id, 0);
	assert_int_equal(push(&known, 1, 9)->id, 0);
	assert_int_equal(push(&known, 2, 0)->id, 1);
	assert_int_equal(push(&known, 3, 5)->id, 0);
	assert_int_equal(pop(0), 0);
	assert_int_equal(pop(0), 1);
	assert_int_equal(pop(0), 3);
	assert_int_equal(pop(0), -1);
	assert_int_equal(pop(1), 2);
	one_close();
	unsetenv("STARPU_SCHED_ALPHA");
}

static void dmda_deals_what_nobody_knows(void **state)
{
	int count[NWORKERS] = {0};

	(void)state;
	by_hand("dmda", NWORKERS, 0);
	for (int i = 0; i < 3 * NWORKERS; i++)
		count[push(&on_cpu, i, 0)->id]++;
	for (int w = 0; w < NWORKERS; w++) {
		assert_int_equal(count[w], 3);
		for (int i = 0; i < 3; i++)
			assert_true(pop(w) >= 0);
		assert_int_equal(pop(w), -1);
	}
	/* Who makes a task ready runs it, unless others have fewer. */
	push_from(2, &on_cpu, 1, 0);
	push_from(2, &on_cpu, 2, 0);
	assert_int_equal(pop(2), 1);
	assert_int_equal(pop(0), 2);
	one_close();
}

/* ---- the choice ------------------------------------------------------- */

static void names_choose(void **state)
{
	struct starpu_sched_policy object = {.policy_name = "prio"};
	struct starpu_conf conf;

	(void)state;
	one_open(1, 0, NULL);
	assert_string_equal(one.node->scheds[0]->ops->object.policy_name, "lws");
	one_close();
	fake_start(1, 1e-6, 1e9);
	starpu_conf_init(&conf);
	conf.sched_policy = &object;
	assert_int_equal(starpu_init(&conf), 0);
	assert_string_equal(
		((struct node *)plat_self())->scheds[0]->ops->object.policy_name, "prio");
	starpu_shutdown();
	fake_stop();
}

/* ---- whole runs ------------------------------------------------------- */

static void submit(struct starpu_codelet *cl, int number, int priority)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = (void *)(intptr_t)number;
	task->priority = priority;
	assert_int_equal(starpu_task_submit(task), 0);
}

static void all_kinds_run_once_where_they_may(void **state)
{
	static uint32_t first_two[1] = {3u};

	(void)state;
	for (int i = 0; sched_at(i); i++) {
		int times[MAX_NUMBER] = {0};

		one_open(3, 1, sched_at(i)->object.policy_name); /* worker 0: a GPU */
		for (int k = 1; k <= NTASKS; k++) {
			struct starpu_task *task = starpu_task_create();

			task->cl = k % 4 == 0 ? &picky : k % 4 == 1 ? &on_cpu : &anywhere;
			task->cl_arg = (void *)(intptr_t)k;
			task->priority = k * 7 % 5;
			if (k % 4 == 2) {
				task->workerids = first_two;
				task->workerids_len = 1;
			}
			if (k % 4 == 3) {
				task->execute_on_a_specific_worker = 1;
				task->workerid = (unsigned)(k / 4 % 4);
			}
			assert_int_equal(starpu_task_submit(task), 0);
			if (k % 10 == 0)
				fake_run();
		}
		assert_int_equal(starpu_task_wait_for_all(), 0);
		for (int k = 0; k < one.nlog; k++)
			times[one.log[k]]++;
		for (int k = 1; k <= NTASKS; k++) {
			assert_int_equal(times[k], 1);
			if (k % 4 == 0)
				assert_true(ran_on[k] > 0 && k % ran_on[k] == 0);
			if (k % 4 == 1)
				assert_true(ran_on[k] > 0);
			if (k % 4 == 2)
				assert_true(ran_on[k] < 2);
			if (k % 4 == 3)
				assert_int_equal(ran_on[k], k / 4 % 4);
		}
		one_close();
	}
}

/* Submitted while paused, so that all are there when the worker begins. */
static void priorities_hold_in_a_run(void **state)
{
	(void)state;
	for (int i = NMODULARS; sched_at(i); i++) {
		int last = -1;

		one_open(1, 0, sched_at(i)->object.policy_name);
		starpu_pause();
		for (int k = 0; k < NTASKS; k++)
			submit(k % 2 ? &on_cpu : &anywhere, k, k % 3);
		starpu_resume();
		assert_int_equal(starpu_task_wait_for_all(), 0);
		assert_int_equal(one.nlog, NTASKS);
		for (int k = 0; k < NTASKS; k++) {
			int most = sched_at(i)->most, priority = one.log[k] % 3;
			int rank = (2 - (priority < most ? priority : most)) * NTASKS +
				   one.log[k];

			assert_true(rank > last);
			last = rank;
		}
		one_close();
	}
}

static void bound_tasks_go_by_priority(void **state)
{
	(void)state;
	for (int i = 0; sched_at(i); i++) {
		one_open(1, 0, sched_at(i)->object.policy_name);
		starpu_pause();
		submit(&on_cpu, 9, 9);
		for (int k = 0; k < 6; k++) {
			struct starpu_task *task = starpu_task_create();

			task->cl = &on_cpu;
			task->cl_arg = (void *)(intptr_t)k;
			task->priority = k / 2;
			task->execute_on_a_specific_worker = 1;
			assert_int_equal(starpu_task_submit(task), 0);
		}
		starpu_resume();
		assert_int_equal(starpu_task_wait_for_all(), 0);
		if (sched_at(i)->most > 1)
			ONE_EXPECT(4, 5, 2, 3, 0, 1, 9);
		else if (sched_at(i)->most == 1)
			ONE_EXPECT(2, 3, 4, 5, 0, 1, 9);
		else
			ONE_EXPECT(0, 1, 2, 3, 4, 5, 9);
		one_close();
	}
}

/* Priorities outside the range that was asked for are as its ends. */
static void priorities_are_bounded(void **state)
{
	struct starpu_conf conf;
	unsigned context;

	(void)state;
	fake_start(1, 1e-6, 1e9);
	fake_machine()->ncpus = 1;
	starpu_conf_init(&conf);
	conf.sched_policy_name = "prio";
	conf.global_sched_ctx_min_priority = -2;
	conf.global_sched_ctx_max_priority = 5;
	setenv("STARPU_MIN_PRIO", "2", 1);
	assert_int_equal(starpu_init(&conf), 0);
	unsetenv("STARPU_MIN_PRIO");
	one.node = plat_self();
	one.nlog = 0;
	assert_int_equal(starpu_sched_get_min_priority(), -2);
	assert_int_equal(starpu_sched_get_max_priority(), 5);
	assert_true(starpu_sched_ctx_min_priority_is_set(0));
	context = starpu_sched_ctx_create(NULL, 0, "other", STARPU_SCHED_CTX_POLICY_NAME,
					  "prio", 0);
	assert_int_equal(starpu_sched_ctx_get_min_priority(context), INT_MIN);
	assert_false(starpu_sched_ctx_min_priority_is_set(context));
	starpu_sched_ctx_delete(context);
	starpu_pause();
	submit(&on_cpu, 1, -9);
	submit(&on_cpu, 2, -2);
	submit(&on_cpu, 3, 5);
	submit(&on_cpu, 4, 100);
	starpu_resume();
	starpu_task_wait_for_all();
	ONE_EXPECT(3, 4, 1, 2);
	one_close();
}

/* All workers are woken for a task of which only it can say who may run it. */
static void the_one_who_can_is_woken(void **state)
{
	(void)state;
	for (int i = 0; sched_at(i); i++) {
		one_open(NWORKERS, 0, sched_at(i)->object.policy_name);
		fake_run();
		for (unsigned w = 0; w < NWORKERS; w++) {
			uint32_t only = 1u << w;
			struct starpu_task *task = make(&on_cpu, (int)w, 0);

			task->workerids = &only;
			task->workerids_len = 1;
			assert_int_equal(starpu_task_submit(task), 0);
			starpu_do_schedule();
			fake_run();
			ONE_EXPECT((int)w);
		}
		one_close();
	}
}

static int ninside, nmost;

static void use_alone(void *buffers[], void *arg)
{
	assert_int_equal(++ninside, 1);
	nmost++;
	one_kernel(buffers, arg);
	ninside--;
}

/* Popped while others hold its data, a task comes back; its worker does another. */
static void who_gets_no_data_comes_back(void **state)
{
	struct starpu_codelet codelet = {
		.cpu_funcs = {use_alone}, .nbuffers = 1, .modes = {STARPU_RW}};
	starpu_data_handle_t handle;

	(void)state;
	for (int i = 0; sched_at(i); i++) {
		one_open(2, 0, sched_at(i)->object.policy_name);
		starpu_void_data_register(&handle);
		starpu_data_set_sequential_consistency_flag(handle, 0);
		starpu_pause();
		for (int k = 0; k < 10; k++) {
			struct starpu_task *task = starpu_task_create();

			task->cl = &codelet;
			task->cl_arg = (void *)(intptr_t)k;
			task->handles[0] = handle;
			assert_int_equal(starpu_task_submit(task), 0);
		}
		submit(&on_cpu, 100, -1);
		starpu_resume();
		starpu_do_schedule();
		fake_run_until(fake_now_s() + 3.5 * fake_machine()->task_s);
		nmost = 0;
		for (int k = 0; k < one.nlog; k++)
			nmost += one.log[k] == 100;
		assert_int_equal(nmost, 1); /* on the second worker, at once */
		assert_int_equal(starpu_task_wait_for_all(), 0);
		assert_int_equal(one.nlog, 11);
		starpu_data_unregister(handle);
		one_close();
	}
}

/* ---- nobody sleeps beside a task -------------------------------------- */

/* As if somebody else had woken whom it chose, for another task. */
static struct worker *push_and_be_late(struct sched *sched, struct job *job)
{
	struct worker *chosen = policy->push(sched, job);

	assert_non_null(chosen);
	plat_worker_wake(chosen);
	return chosen;
}

static int count_parked(void)
{
	int n = 0;

	for (int i = 0; i < one.node->nworkers; i++)
		n += one.node->workers[i].parked != 0;
	return n;
}

/* Any may take the task: another one is woken, who has nothing to do. */
static void who_was_woken_for_another_is_not_relied_on(void **state)
{
	static const char *const names[] = {"lws", "ws", "heteroprio"};
	struct plat_machine *machine;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct starpu_task *task;
		struct sched_ops late;
		struct sched *sched;

		by_hand(names[i], 4, 0);
		fake_run();
		assert_int_equal(count_parked(), 4);
		sched = one.node->scheds[0];
		late = *policy;
		late.push = push_and_be_late;
		sched->ops = &late;
		task = make(&on_cpu, 0, 0);
		task_job(one.node, task)->sched = sched;
		/* Where threads take turns, nobody comes between. */
		machine = (struct plat_machine *)(uintptr_t)one.node->machine;
		machine->takes_turns = 0;
		sched_push(task_job(one.node, task));
		machine->takes_turns = 1;
		sched->ops = policy;
		assert_int_equal(count_parked(), 2);
		assert_int_equal(pop(3), 0);
		one_close();
	}
}

static struct starpu_task *make_for(struct starpu_codelet *cl, int number, uint32_t *mask)
{
	struct starpu_task *task = make(cl, number, 0);

	task_job(one.node, task)->sched = one.node->scheds[0];
	task->workerids = mask;
	task->workerids_len = 1;
	return task;
}

/* Each is for workers of its own, and only these come back for it. */
static void peager_gives_what_was_passed_to_whom_it_is_for(void **state)
{
	static struct starpu_codelet wide = {.type = STARPU_FORKJOIN,
					     .max_parallelism = 2,
					     .cpu_funcs = {note_worker}};
	static uint32_t low = 1 | 2, high = 4 | 8, first = 1, third = 4;
	struct starpu_task *passed[2];
	struct worker *workers;

	(void)state;
	by_hand("peager", 4, 0);
	workers = one.node->workers;
	push_task(passed[0] = make_for(&wide, 0, &low));
	push_task(make_for(&on_cpu, 10, &first));
	push_task(passed[1] = make_for(&wide, 1, &high));
	push_task(make_for(&on_cpu, 11, &third));
	workers[1].npipeline = workers[3].npipeline = 1;
	assert_int_equal(pop(0), 10);
	assert_int_equal(pop(2), 11);
	assert_int_equal(pop(0), -1);
	assert_non_null(workers[0].gangs);
	assert_ptr_equal(workers[0].gangs, workers[1].gangs);
	assert_int_equal(pop(2), -1);
	assert_non_null(workers[2].gangs);
	assert_ptr_equal(workers[2].gangs, workers[3].gangs);
	workers[1].npipeline = workers[3].npipeline = 0;
	for (int i = 0; i < 2; i++) {
		gang_disband(&workers[2 * i]);
		task_destroy(passed[i]);
	}
	one_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policies_are_found_by_name),
		cmocka_unit_test(best_first_then_oldest),
		cmocka_unit_test(nothing_that_fits_is_nothing),
		cmocka_unit_test(lws_deals_round),
		cmocka_unit_test(lws_keeps_what_a_worker_made_ready),
		cmocka_unit_test(lws_steals_from_the_nearest),
		cmocka_unit_test(lws_says_whom_to_wake),
		cmocka_unit_test(dmdap_gives_to_who_ends_first),
		cmocka_unit_test(ws_steals_from_who_has_most),
		cmocka_unit_test(ws_steals_what_fits),
		cmocka_unit_test(random_follows_the_speeds),
		cmocka_unit_test(random_runs_repeat),
		cmocka_unit_test(dm_ignores_transfers),
		cmocka_unit_test(dm_gives_to_who_ends_first),
		cmocka_unit_test(dmda_deals_what_nobody_knows),
		cmocka_unit_test(names_choose),
		cmocka_unit_test(all_kinds_run_once_where_they_may),
		cmocka_unit_test(priorities_hold_in_a_run),
		cmocka_unit_test(bound_tasks_go_by_priority),
		cmocka_unit_test(priorities_are_bounded),
		cmocka_unit_test(the_one_who_can_is_woken),
		cmocka_unit_test(who_gets_no_data_comes_back),
		cmocka_unit_test(who_was_woken_for_another_is_not_relied_on),
		cmocka_unit_test(peager_gives_what_was_passed_to_whom_it_is_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
