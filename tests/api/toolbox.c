/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Policies of the application's made of the queues of starpu_scheduler_toolbox.h. */
#include <schedulers/starpu_scheduler_toolbox.h>
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

enum { NTASKS = 200, NLISTED = 6 };

static int nran;

static void work(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	(void)STARPU_ATOMIC_ADD(&nran, 1);
}

static struct starpu_codelet codelet = {.cpu_funcs = {work}, .cpu_funcs_name = {"work"}};

/* ---- a fifo of each worker ------------------------------------------- */

struct fifos {
	starpu_st_fifo_taskq_t queue[STARPU_NMAXWORKERS];
	starpu_pthread_mutex_t mutex[STARPU_NMAXWORKERS];
	unsigned next;
};

static void fifos_init(unsigned ctx)
{
	struct fifos *fifos = calloc(1, sizeof(*fifos));

	starpu_sched_ctx_set_policy_data(ctx, fifos);
}

static void fifos_add(unsigned ctx, int *ids, unsigned n)
{
	struct fifos *fifos = starpu_sched_ctx_get_policy_data(ctx);

	for (unsigned i = 0; i < n; i++) {
		fifos->queue[ids[i]] = starpu_st_fifo_taskq_create();
		STARPU_PTHREAD_MUTEX_INIT(&fifos->mutex[ids[i]], NULL);
	}
}

static void fifos_remove(unsigned ctx, int *ids, unsigned n)
{
	struct fifos *fifos = starpu_sched_ctx_get_policy_data(ctx);

	for (unsigned i = 0; i < n; i++) {
		CLAIM(starpu_st_fifo_taskq_empty(fifos->queue[ids[i]]));
		CLAIM_EQ(starpu_st_fifo_ntasks_get(fifos->queue[ids[i]]), 0);
		starpu_st_fifo_taskq_destroy(fifos->queue[ids[i]]);
		STARPU_PTHREAD_MUTEX_DESTROY(&fifos->mutex[ids[i]]);
	}
}

static void fifos_deinit(unsigned ctx)
{
	free(starpu_sched_ctx_get_policy_data(ctx));
}

static int fifos_push(struct starpu_task *task)
{
	struct fifos *fifos = starpu_sched_ctx_get_policy_data(task->sched_ctx);
	struct starpu_worker_collection *workers =
		starpu_sched_ctx_get_worker_collection(task->sched_ctx);
	unsigned turn = STARPU_ATOMIC_ADD(&fifos->next, 1) % workers->nworkers;
	int id = workers->workerids[turn];

	STARPU_PTHREAD_MUTEX_LOCK(&fifos->mutex[id]);
	starpu_st_fifo_taskq_push_sorted_task(fifos->queue[id], task);
	starpu_st_fifo_exp_len_inc(fifos->queue[id], 1.5);
	starpu_push_task_end(task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&fifos->mutex[id]);
	starpu_wake_worker_relax_light(id);
	return 0;
}

static struct starpu_task *fifos_pop(unsigned ctx)
{
	struct fifos *fifos = starpu_sched_ctx_get_policy_data(ctx);
	int id = starpu_worker_get_id_check();
	struct starpu_task *task;

	if (starpu_st_fifo_taskq_empty(fifos->queue[id]))
		return NULL;
	STARPU_PTHREAD_MUTEX_LOCK(&fifos->mutex[id]);
	task = starpu_st_fifo_taskq_pop_first_ready_task(fifos->queue[id], (unsigned)id,
							 -1);
	if (task)
		starpu_st_fifo_exp_len_inc(fifos->queue[id], -1.5);
	STARPU_PTHREAD_MUTEX_UNLOCK(&fifos->mutex[id]);
	return task;
}

static struct starpu_sched_policy fifos_policy = {.init_sched = fifos_init,
						  .deinit_sched = fifos_deinit,
						  .add_workers = fifos_add,
						  .remove_workers = fifos_remove,
						  .push_task = fifos_push,
						  .pop_task = fifos_pop,
						  .policy_name = "fifos",
						  .worker_type = STARPU_WORKER_LIST};

/* ---- one deque of all ------------------------------------------------ */

struct deque {
	struct starpu_st_prio_deque tasks;
	starpu_pthread_mutex_t mutex;
};

static void deque_init(unsigned ctx)
{
	struct deque *deque = malloc(sizeof(*deque));

	starpu_st_prio_deque_init(&deque->tasks);
	STARPU_PTHREAD_MUTEX_INIT(&deque->mutex, NULL);
	starpu_sched_ctx_set_policy_data(ctx, deque);
}

static void deque_deinit(unsigned ctx)
{
	struct deque *deque = starpu_sched_ctx_get_policy_data(ctx);

	CLAIM(starpu_st_prio_deque_is_empty(&deque->tasks));
	starpu_st_prio_deque_destroy(&deque->tasks);
	STARPU_PTHREAD_MUTEX_DESTROY(&deque->mutex);
	free(deque);
}

static int deque_push(struct starpu_task *task)
{
	struct deque *deque = starpu_sched_ctx_get_policy_data(task->sched_ctx);

	STARPU_PTHREAD_MUTEX_LOCK(&deque->mutex);
	starpu_st_prio_deque_push_back_task(&deque->tasks, task);
	starpu_push_task_end(task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&deque->mutex);
	return 0;
}

static struct starpu_task *deque_pop(unsigned ctx)
{
	struct deque *deque = starpu_sched_ctx_get_policy_data(ctx);
	struct starpu_task *task, *skipped;

	/* Without the mutex, as is usual: who pushes wakes workers afterwards. */
	if (starpu_st_prio_deque_is_empty(&deque->tasks))
		return NULL;
	STARPU_PTHREAD_MUTEX_LOCK(&deque->mutex);
	task = starpu_st_prio_deque_pop_task_for_worker(
		&deque->tasks, starpu_worker_get_id_check(), &skipped);
	STARPU_PTHREAD_MUTEX_UNLOCK(&deque->mutex);
	return task;
}

static struct starpu_sched_policy deque_policy = {.init_sched = deque_init,
						  .deinit_sched = deque_deinit,
						  .push_task = deque_push,
						  .pop_task = deque_pop,
						  .policy_name = "deque",
						  .worker_type = STARPU_WORKER_LIST};

static void run(struct starpu_sched_policy *policy)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.sched_policy = policy;
	conf.precedence_over_environment_variables = 1;
	if (starpu_init(&conf) != 0)
		exit(77);
	nran = 0;
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&codelet, STARPU_PRIORITY, i % 5, 0), 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(nran, NTASKS);
	CLAIM(starpu_sched_get_sched_policy() == policy);
	starpu_shutdown();
}

/* ---- the orders ------------------------------------------------------ */

/* Priorities 0 2 1 2 0 1. */
static struct starpu_task listed[NLISTED];

static void list_tasks(void)
{
	static const int priorities[NLISTED] = {0, 2, 1, 2, 0, 1};

	for (int i = 0; i < NLISTED; i++) {
		starpu_task_init(&listed[i]);
		listed[i].cl = &codelet;
		listed[i].sched_ctx = 0;
		listed[i].priority = priorities[i];
	}
}

static void unlist_tasks(void)
{
	for (int i = 0; i < NLISTED; i++)
		starpu_task_clean(&listed[i]);
}

static void check_fifo_order(void)
{
	static const int sorted[NLISTED] = {1, 3, 2, 5, 0, 4};
	starpu_st_fifo_taskq_t fifo = starpu_st_fifo_taskq_create();
	int nbefore = 0;

	for (int i = 0; i < NLISTED; i++)
		starpu_st_fifo_taskq_push_sorted_task(fifo, &listed[i]);
	CLAIM_EQ(starpu_st_fifo_ntasks_get(fifo), NLISTED);
	starpu_st_fifo_taskq_get_exp_len_prev_task_list(fifo, &listed[2], 0, 0, &nbefore);
	CLAIM_EQ(nbefore, 4);
	for (int i = 0; i < NLISTED; i++)
		CLAIM(starpu_st_fifo_taskq_pop_task(fifo, 0) == &listed[sorted[i]]);
	CLAIM(starpu_st_fifo_taskq_pop_local_task(fifo) == NULL);
	for (int i = 0; i < NLISTED; i++)
		starpu_st_fifo_taskq_push_task(fifo, &listed[i]);
	CLAIM_EQ(starpu_st_fifo_taskq_pop_this_task(fifo, -1, &listed[3]), 1);
	for (int i = 0; i < NLISTED; i++)
		if (i != 3)
			CLAIM(starpu_st_fifo_taskq_pop_local_task(fifo) == &listed[i]);
	CLAIM(starpu_st_fifo_taskq_empty(fifo));
	CLAIM_EQ(starpu_st_fifo_nprocessed_get(fifo), 2 * NLISTED);
	starpu_st_fifo_taskq_destroy(fifo);
}

static void check_deque_order(void)
{
	static const int order[] = {3, 1, 5, 2};
	struct starpu_st_prio_deque deque;

	starpu_st_prio_deque_init(&deque);
	for (int i = 0; i < NLISTED; i++)
		starpu_st_prio_deque_push_front_task(&deque, &listed[i]);
	CLAIM(starpu_st_prio_deque_highest_task(&deque) == &listed[3]);
	CLAIM(starpu_st_prio_deque_pop_back_task(&deque) == &listed[0]);
	starpu_st_prio_deque_erase(&deque, &listed[4]);
	for (int i = 0; i < 4; i++)
		CLAIM(starpu_st_prio_deque_pop_task(&deque) == &listed[order[i]]);
	CLAIM(starpu_st_prio_deque_is_empty(&deque));
	starpu_st_prio_deque_destroy(&deque);
}

/* The second task can run nowhere. */
static void check_skipping(void)
{
	struct starpu_st_prio_deque deque;
	struct starpu_task *skipped = NULL;
	int32_t where = listed[1].where;

	starpu_st_prio_deque_init(&deque);
	listed[1].where = STARPU_NOWHERE;
	for (int i = 0; i < NLISTED; i++)
		starpu_st_prio_deque_push_back_task(&deque, &listed[i]);
	CLAIM(starpu_st_prio_deque_pop_task_for_worker(&deque, 0, &skipped) ==
	      &listed[3]);
	CLAIM(skipped == &listed[1]);
	CLAIM(starpu_st_prio_deque_deque_task_for_worker(&deque, 0, &skipped) ==
	      &listed[4]);
	CLAIM(skipped == NULL);
	CLAIM_EQ(starpu_st_prio_deque_pop_this_task(&deque, 0, &listed[1]), 0);
	CLAIM_EQ(starpu_st_prio_deque_pop_this_task(&deque, -1, &listed[1]), 1);
	listed[1].where = where;
	starpu_st_prio_deque_destroy(&deque);
}

static void check_orders(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.sched_policy_name = "prio";
	conf.precedence_over_environment_variables = 1;
	if (starpu_init(&conf) != 0)
		exit(77);
	list_tasks();
	check_fifo_order();
	check_deque_order();
	check_skipping();
	unlist_tasks();
	starpu_sched_ctx_set_min_priority(0, -10);
	starpu_sched_ctx_set_max_priority(0, 10);
	CLAIM_EQ(starpu_st_normalize_prio(-10, 21, 0), 0);
	CLAIM_EQ(starpu_st_normalize_prio(0, 21, 0), 10);
	CLAIM_EQ(starpu_st_normalize_prio(10, 21, 0), 20);
	starpu_shutdown();
}

static void check_bitmap(void)
{
	struct starpu_bitmap *a = starpu_bitmap_create(), b, c;
	int last = STARPU_NMAXWORKERS - 1;

	starpu_bitmap_init(&b);
	CLAIM_EQ(starpu_bitmap_first(a), -1);
	CLAIM_EQ(starpu_bitmap_last(a), -1);
	starpu_bitmap_set(a, 3);
	starpu_bitmap_set(a, last);
	starpu_bitmap_set(a, 3);
	CLAIM_EQ(starpu_bitmap_cardinal(a), 2);
	CLAIM_EQ(starpu_bitmap_next(a, 3), last);
	CLAIM_EQ(starpu_bitmap_next(a, last), -1);
	CLAIM_EQ(starpu_bitmap_last(a), last);
	starpu_bitmap_set(&b, 3);
	starpu_bitmap_unset_and(&c, a, &b);
	CLAIM_EQ(starpu_bitmap_cardinal(&c), 1);
	CLAIM(starpu_bitmap_and_get(a, &b, 3) && !starpu_bitmap_get(&b, last));
	starpu_bitmap_unset(a, 3);
	CLAIM(!starpu_bitmap_has_next(a, last) && starpu_bitmap_has_next(a, -1));
	starpu_bitmap_or(a, &b);
	CLAIM_EQ(starpu_bitmap_cardinal(a), 2);
	starpu_bitmap_destroy(a);
}

static void a_fifo_for_each_worker(void)
{
	run(&fifos_policy);
}

static void a_deque_for_all(void)
{
	run(&deque_policy);
}

int main(void)
{
	static const struct claim claims[] = {
		{"bitmaps_are_sets", check_bitmap},
		{"queues_keep_their_order", check_orders},
		{"a_fifo_for_each_worker", a_fifo_for_each_worker},
		{"a_deque_for_all", a_deque_for_all},
		{NULL, NULL}};

	return claims_run(claims, 0);
}
