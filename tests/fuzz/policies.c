/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include "run.h"

/*
 * policies.c - scheduling policies of the program's, for the contexts of lanes: one line
 * for all, a line for each worker and stealing, the workers' own lines, and aliases of
 * parallel tasks.  Workers come and go, so each keeps what is for nobody yet.
 *
 * A worker that waits for the mutex is relaxed, and who has another's lock does not ask
 * for the mutex.
 */
struct own {
	starpu_pthread_mutex_t mutex;
	struct starpu_task_list shared;                    /* under the mutex */
	struct starpu_task_list lists[STARPU_NMAXWORKERS]; /* under the worker's lock */
	unsigned char is_here[STARPU_NMAXWORKERS];         /* so, too */
	unsigned next;                                     /* atomic */
	int least, most;
};

static struct own *own_of(unsigned ctx)
{
	return starpu_sched_ctx_get_policy_data(ctx);
}

static void lock(struct own *own)
{
	starpu_worker_relax_on();
	STARPU_PTHREAD_MUTEX_LOCK(&own->mutex);
	starpu_worker_relax_off();
}

static void unlock(struct own *own)
{
	STARPU_PTHREAD_MUTEX_UNLOCK(&own->mutex);
}

static void init(unsigned ctx)
{
	struct own *own = calloc(1, sizeof(*own));

	STARPU_PTHREAD_MUTEX_INIT(&own->mutex, NULL);
	starpu_task_list_init(&own->shared);
	for (int i = 0; i < STARPU_NMAXWORKERS; i++)
		starpu_task_list_init(&own->lists[i]);
	starpu_sched_ctx_set_policy_data(ctx, own);
	own->least = starpu_sched_ctx_get_min_priority(ctx);
	own->most = starpu_sched_ctx_get_max_priority(ctx);
}

static void deinit(unsigned ctx)
{
	struct own *own = own_of(ctx);

	/* What the context was given is there when the policy begins. */
	if (own->least != POLICIES_LEAST || own->most != POLICIES_MOST)
		abort();
	if (!starpu_task_list_empty(&own->shared))
		abort();
	for (int i = 0; i < STARPU_NMAXWORKERS; i++)
		if (!starpu_task_list_empty(&own->lists[i]))
			abort();
	STARPU_PTHREAD_MUTEX_DESTROY(&own->mutex);
	free(own);
}

/* The n-th of the context's workers that can run the task, going round; -1: none. */
static int choose(unsigned ctx, struct starpu_task *task, unsigned n)
{
	struct starpu_worker_collection *workers =
		starpu_sched_ctx_get_worker_collection(ctx);
	struct starpu_sched_ctx_iterator it;
	int ids[STARPU_NMAXWORKERS];
	unsigned found = 0;

	workers->init_iterator_for_parallel_tasks(workers, &it, task);
	while (workers->has_next(workers, &it)) {
		int worker = workers->get_next(workers, &it);

		if (starpu_worker_can_execute_task((unsigned)worker, task, 0))
			ids[found++] = worker;
	}
	return found ? ids[n % found] : -1;
}

static void wake_all(unsigned ctx)
{
	struct starpu_worker_collection *workers =
		starpu_sched_ctx_get_worker_collection(ctx);
	struct starpu_sched_ctx_iterator it;

	workers->init_iterator(workers, &it);
	while (workers->has_next(workers, &it))
		starpu_wake_worker_relax_light((unsigned)workers->get_next(workers, &it));
}

/* ---- one line for all ------------------------------------------------ */

static void share(struct own *own, struct starpu_task *task)
{
	lock(own);
	starpu_task_list_push_back(&own->shared, task);
	unlock(own);
}

static struct starpu_task *take_shared(struct own *own)
{
	unsigned worker = (unsigned)starpu_worker_get_id_check(), implementation;
	struct starpu_task *task;

	lock(own);
	for (task = starpu_task_list_begin(&own->shared);
	     task != starpu_task_list_end(&own->shared);
	     task = starpu_task_list_next(task))
		if (starpu_worker_can_execute_task_first_impl(worker, task,
							      &implementation)) {
			starpu_task_set_implementation(task, implementation);
			starpu_task_list_erase(&own->shared, task);
			break;
		}
	unlock(own);
	return task;
}

static int line_push(struct starpu_task *task)
{
	unsigned ctx = task->sched_ctx;

	share(own_of(ctx), task);
	starpu_push_task_end(task);
	wake_all(ctx);
	return 0;
}

static struct starpu_task *line_pop(unsigned ctx)
{
	return take_shared(own_of(ctx));
}

/* ---- a line for each, and stealing ----------------------------------- */

static int put(struct own *own, int worker, struct starpu_task *task)
{
	int is_here;

	starpu_worker_lock(worker);
	is_here = own->is_here[worker];
	if (is_here) {
		starpu_task_list_push_back(&own->lists[worker], task);
		starpu_wake_worker_locked(worker);
	}
	starpu_worker_unlock(worker);
	return is_here;
}

static int lines_push(struct starpu_task *task)
{
	unsigned ctx = task->sched_ctx;
	struct own *own = own_of(ctx);
	int worker =
		choose(ctx, task, __atomic_fetch_add(&own->next, 1, __ATOMIC_RELAXED));

	starpu_push_task_end(task);
	if (worker >= 0 && put(own, worker, task))
		return 0;
	share(own, task);
	wake_all(ctx);
	return 0;
}

static struct starpu_task *steal(struct own *own, int thief, int victim)
{
	struct starpu_task *task;

	if (starpu_worker_trylock(victim) != 0)
		return NULL;
	task = starpu_task_list_back(&own->lists[victim]);
	if (task && starpu_worker_can_execute_task((unsigned)thief, task, 0))
		starpu_task_list_erase(&own->lists[victim], task);
	else
		task = NULL;
	starpu_worker_unlock(victim);
	return task;
}

static struct starpu_task *lines_pop(unsigned ctx)
{
	struct own *own = own_of(ctx);
	int self = starpu_worker_get_id_check(), n = (int)starpu_worker_get_count();
	struct starpu_task *task = NULL;

	if (!starpu_task_list_empty(&own->lists[self]))
		return starpu_task_list_pop_front(&own->lists[self]);
	for (int i = 1; i < n && !task; i++)
		task = steal(own, self, (self + i) % n);
	return task ? task : take_shared(own);
}

static void lines_add(unsigned ctx, int *ids, unsigned n)
{
	struct own *own = own_of(ctx);

	for (unsigned i = 0; i < n; i++) {
		starpu_worker_lock(ids[i]);
		own->is_here[ids[i]] = 1;
		starpu_worker_unlock(ids[i]);
	}
}

static void lines_remove(unsigned ctx, int *ids, unsigned n)
{
	struct own *own = own_of(ctx);
	struct starpu_task_list left;

	starpu_task_list_init(&left);
	for (unsigned i = 0; i < n; i++) {
		starpu_worker_lock(ids[i]);
		own->is_here[ids[i]] = 0;
		while (!starpu_task_list_empty(&own->lists[ids[i]]))
			starpu_task_list_push_back(
				&left, starpu_task_list_pop_front(&own->lists[ids[i]]));
		starpu_worker_unlock(ids[i]);
	}
	lock(own);
	while (!starpu_task_list_empty(&left))
		starpu_task_list_push_back(&own->shared,
					   starpu_task_list_pop_front(&left));
	unlock(own);
	wake_all(ctx);
}

/* ---- the workers' own lines ------------------------------------------ */

static int local_push(struct starpu_task *task)
{
	unsigned ctx = task->sched_ctx;
	struct own *own = own_of(ctx);
	int worker =
		choose(ctx, task, __atomic_fetch_add(&own->next, 1, __ATOMIC_RELAXED));

	if (worker >= 0)
		return starpu_push_local_task(worker, task, 1);
	share(own, task);
	return 0;
}

/* ---- aliases --------------------------------------------------------- */

/* Those that take part stay: these contexts are not changed. */
static int members_of(unsigned ctx, const struct starpu_task *task, int *ids)
{
	int n = (int)starpu_sched_ctx_get_nworkers(ctx), *all;

	if (task->cl->type == STARPU_SEQ || n < 2)
		return 1;
	if (n > task->cl->max_parallelism)
		n = task->cl->max_parallelism;
	starpu_sched_ctx_get_workers_list(ctx, &all);
	for (int i = 0; i < n; i++)
		ids[i] = all[i];
	free(all);
	return n;
}

/* Under the mutex, so that all members find aliases in the same order. */
static void hand_over(unsigned ctx, struct starpu_task *task, int is_local)
{
	struct own *own = own_of(ctx);
	int ids[STARPU_NMAXWORKERS], n = members_of(ctx, task, ids);

	if (n > 1)
		starpu_parallel_task_barrier_init_n(task, n);
	lock(own);
	for (int i = 0; n > 1 && i < n; i++) {
		struct starpu_task *alias = starpu_task_dup(task);

		alias->destroy = 1;
		if (is_local)
			starpu_push_local_task(ids[i], alias, 0);
		else
			starpu_task_list_push_back(&own->lists[ids[i]], alias);
	}
	if (n == 1)
		starpu_task_list_push_back(&own->shared, task);
	unlock(own);
	wake_all(ctx);
}

static int aliases_push(struct starpu_task *task)
{
	hand_over(task->sched_ctx, task, 0);
	return 0;
}

static int called_push(struct starpu_task *task)
{
	hand_over(task->sched_ctx, task, 1);
	return 0;
}

static struct starpu_task *aliases_pop(unsigned ctx)
{
	struct own *own = own_of(ctx);
	int self = starpu_worker_get_id_check();
	struct starpu_task *task = NULL;

	lock(own);
	if (!starpu_task_list_empty(&own->lists[self]))
		task = starpu_task_list_pop_front(&own->lists[self]);
	unlock(own);
	return task ? task : take_shared(own);
}

/* ---- which there are ------------------------------------------------- */

#define POLICY(name, type, push, pop, ...)                                               \
	{                                                                                \
		.init_sched = init, .deinit_sched = deinit, .push_task = (push),         \
		.pop_task = (pop), .policy_name = (name), .policy_description = (name),  \
		.worker_type = (type), __VA_ARGS__                                       \
	}

struct starpu_sched_policy *policies_own(unsigned draw)
{
	static struct starpu_sched_policy policies[] = {
		POLICY("line", STARPU_WORKER_LIST, line_push, line_pop, ),
		POLICY("tree", STARPU_WORKER_TREE, line_push, line_pop, ),
		POLICY("lines", STARPU_WORKER_LIST, lines_push, lines_pop,
		       .add_workers = lines_add, .remove_workers = lines_remove),
		POLICY("local", STARPU_WORKER_TREE, local_push, line_pop, ),
	};

	return &policies[draw % (sizeof(policies) / sizeof(policies[0]))];
}

struct starpu_sched_policy *policies_aliases(unsigned draw)
{
	static struct starpu_sched_policy policies[] = {
		POLICY("aliases", STARPU_WORKER_LIST, aliases_push, aliases_pop, ),
		POLICY("called", STARPU_WORKER_LIST, called_push, aliases_pop, ),
	};

	return &policies[draw % 2];
}
