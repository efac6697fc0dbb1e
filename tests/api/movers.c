/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * A policy of the application's with a queue per worker, made in add_workers() and freed
 * in remove_workers(), whose workers come and go while threads, kernels and callbacks
 * submit: no queue is used by a worker that has left.
 */
#include <sched.h>
#include <string.h>

#include <starpu.h>
#include <starpu_scheduler.h>

#include "claim.h"

int claim_failures;

enum { NWORKERS = 4, NTHREADS = 2, NTASKS = 300, NMOVES = 150, NLIVES = 12 };

static int leaver, is_lingering, is_removing; /* atomic */
static int nran, npops_of_absent, nremoved_in_pop, nbooked_twice;

#define COUNT(counter) (void)__atomic_add_fetch(&(counter), 1, __ATOMIC_RELAXED)

/* ---- the policy ---------------------------------------------------------- */

struct queue {
	struct starpu_task_list list;
	int n;
	int npopping; /* atomic */
};

struct queues {
	starpu_pthread_mutex_t mutex;
	struct starpu_task_list shared;       /* for which no queue was there */
	struct queue *of[STARPU_NMAXWORKERS]; /* atomic */
};

static void queues_init(unsigned ctx)
{
	struct queues *queues = calloc(1, sizeof *queues);

	STARPU_PTHREAD_MUTEX_INIT(&queues->mutex, NULL);
	starpu_task_list_init(&queues->shared);
	starpu_sched_ctx_set_policy_data(ctx, queues);
}

static void queues_deinit(unsigned ctx)
{
	struct queues *queues = starpu_sched_ctx_get_policy_data(ctx);

	CLAIM(starpu_task_list_empty(&queues->shared));
	for (int i = 0; i < STARPU_NMAXWORKERS; i++)
		free(queues->of[i]);
	STARPU_PTHREAD_MUTEX_DESTROY(&queues->mutex);
	free(queues);
}

static void lock(struct queues *queues)
{
	starpu_worker_relax_on();
	STARPU_PTHREAD_MUTEX_LOCK(&queues->mutex);
	starpu_worker_relax_off();
}

static void queues_add(unsigned ctx, int *ids, unsigned n)
{
	struct queues *queues = starpu_sched_ctx_get_policy_data(ctx);

	for (unsigned i = 0; i < n; i++) {
		struct queue *queue = calloc(1, sizeof *queue);

		starpu_task_list_init(&queue->list);
		lock(queues);
		if (queues->of[ids[i]])
			COUNT(nbooked_twice);
		__atomic_store_n(&queues->of[ids[i]], queue, __ATOMIC_RELEASE);
		STARPU_PTHREAD_MUTEX_UNLOCK(&queues->mutex);
	}
}

static void queues_remove(unsigned ctx, int *ids, unsigned n)
{
	struct queues *queues = starpu_sched_ctx_get_policy_data(ctx);

	for (unsigned i = 0; i < n; i++) {
		struct queue *queue;

		lock(queues);
		queue = queues->of[ids[i]];
		__atomic_store_n(&queues->of[ids[i]], NULL, __ATOMIC_RELEASE);
		while (!starpu_task_list_empty(&queue->list))
			starpu_task_list_push_back(
				&queues->shared,
				starpu_task_list_pop_front(&queue->list));
		if (__atomic_load_n(&queue->npopping, __ATOMIC_ACQUIRE))
			COUNT(nremoved_in_pop);
		STARPU_PTHREAD_MUTEX_UNLOCK(&queues->mutex);
		free(queue);
	}
}

/* NULL: none of a worker that can run the task. */
static struct queue *shortest(struct queues *queues, struct starpu_task *task)
{
	struct starpu_worker_collection *workers =
		starpu_sched_ctx_get_worker_collection(task->sched_ctx);
	struct starpu_sched_ctx_iterator it;
	struct queue *best = NULL;

	workers->init_iterator(workers, &it);
	while (workers->has_next(workers, &it)) {
		int id = workers->get_next(workers, &it);
		struct queue *queue = queues->of[id];

		if (queue && starpu_worker_can_execute_task((unsigned)id, task, 0) &&
		    (!best || queue->n < best->n))
			best = queue;
	}
	return best;
}

static int queues_push(struct starpu_task *task)
{
	struct queues *queues = starpu_sched_ctx_get_policy_data(task->sched_ctx);
	struct queue *queue;

	lock(queues);
	queue = shortest(queues, task);
	if (queue)
		queue->n++;
	starpu_task_list_push_back(queue ? &queue->list : &queues->shared, task);
	starpu_push_task_end(task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&queues->mutex);
	return 0;
}

/* A long look by the worker that is about to be removed. */
static void linger(unsigned ctx, int self)
{
	if (ctx == 0 || __atomic_load_n(&leaver, __ATOMIC_ACQUIRE) != self ||
	    __atomic_exchange_n(&is_lingering, 1, __ATOMIC_ACQ_REL))
		return;
	for (int i = 0; i < 300 && !__atomic_load_n(&is_removing, __ATOMIC_ACQUIRE); i++)
		sched_yield();
	for (int i = 0; i < 20; i++)
		sched_yield();
}

/* Whose queue it is holds still while its worker looks. */
static struct starpu_task *queues_pop(unsigned ctx)
{
	struct queues *queues = starpu_sched_ctx_get_policy_data(ctx);
	int self = starpu_worker_get_id_check();
	struct queue *queue = __atomic_load_n(&queues->of[self], __ATOMIC_ACQUIRE);
	struct starpu_task *task = NULL;

	if (!queue) {
		COUNT(npops_of_absent);
		return NULL;
	}
	(void)__atomic_add_fetch(&queue->npopping, 1, __ATOMIC_ACQ_REL);
	linger(ctx, self);
	STARPU_PTHREAD_MUTEX_LOCK(&queues->mutex);
	if (queue->n > 0 && queue->n--)
		task = starpu_task_list_pop_front(&queue->list);
	else if (!starpu_task_list_empty(&queues->shared))
		task = starpu_task_list_pop_front(&queues->shared);
	STARPU_PTHREAD_MUTEX_UNLOCK(&queues->mutex);
	(void)__atomic_add_fetch(&queue->npopping, -1, __ATOMIC_ACQ_REL);
	return task;
}

static struct starpu_sched_policy queues_policy = {
	.init_sched = queues_init,
	.deinit_sched = queues_deinit,
	.add_workers = queues_add,
	.remove_workers = queues_remove,
	.push_task = queues_push,
	.pop_task = queues_pop,
	.policy_name = "queues",
	.policy_description = "a queue per worker",
	.worker_type = STARPU_WORKER_LIST,
};

/* ---- work ------------------------------------------------------------------ */

static void kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	COUNT(nran);
}

static double cost(struct starpu_task *task, unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	return 2.;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = cost};
static struct starpu_codelet codelet = {
	.cpu_funcs = {kernel}, .model = &model, .name = "kernel"};

static void submit_to(unsigned ctx)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &codelet;
	task->sched_ctx = ctx;
	CLAIM_EQ(starpu_task_submit(task), 0);
}

static unsigned create(const char *name, int *ids, int n)
{
	return starpu_sched_ctx_create(ids, n, name, STARPU_SCHED_CTX_POLICY_STRUCT,
				       &queues_policy, 0);
}

static void begin(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = NWORKERS;
	conf.precedence_over_environment_variables = 1;
	conf.sched_policy = &queues_policy;
	if (starpu_init(&conf) != 0)
		exit(77);
	leaver = -1;
	is_lingering = is_removing = 0;
	nran = npops_of_absent = nremoved_in_pop = nbooked_twice = 0;
}

static void end(int nexpected)
{
	starpu_shutdown();
	CLAIM_EQ(nran, nexpected);
	CLAIM_EQ(npops_of_absent, 0);
	CLAIM_EQ(nremoved_in_pop, 0);
	CLAIM_EQ(nbooked_twice, 0);
}

/* ---- claims ---------------------------------------------------------------- */

static void *submit_many(void *arg)
{
	unsigned ctx = *(unsigned *)arg;

	for (int i = 0; i < NTASKS; i++)
		submit_to(i % 2 ? ctx : 0);
	return NULL;
}

/* Worker 0 stays in both. */
static void move(unsigned ctx)
{
	unsigned seed = 3;

	for (int i = 0; i < NMOVES; i++) {
		int ids[2] = {1 + (int)(rand_r(&seed) / 8 % (NWORKERS - 1)), 0};

		if (rand_r(&seed) / 8 % 2)
			starpu_sched_ctx_add_workers(ids, 1, ctx);
		else
			starpu_sched_ctx_remove_workers(ids, 1, ctx);
	}
}

static void workers_leave_while_threads_submit(void)
{
	starpu_pthread_t threads[NTHREADS];
	int ids[NWORKERS] = {0, 1, 2, 3};
	unsigned ctx;

	begin();
	ctx = create("moves", ids, (int)starpu_worker_get_count());
	for (int i = 0; i < NTHREADS; i++)
		STARPU_PTHREAD_CREATE(&threads[i], NULL, submit_many, &ctx);
	if (starpu_worker_get_count() == NWORKERS)
		move(ctx);
	for (int i = 0; i < NTHREADS; i++)
		STARPU_PTHREAD_JOIN(threads[i], NULL);
	starpu_task_wait_for_all();
	starpu_sched_ctx_delete(ctx);
	end(NTHREADS * NTASKS);
}

/* Worker 1 is in pop_task() while another thread takes it away. */
static void a_worker_is_not_removed_while_it_pops(void)
{
	int ids[2] = {0, 1}, one = 1;
	unsigned ctx;

	begin();
	if (starpu_worker_get_count() > 1) {
		ctx = create("pops", ids, 2);
		__atomic_store_n(&leaver, 1, __ATOMIC_RELEASE);
		for (int i = 0; i < NTASKS; i++)
			submit_to(ctx);
		while (!__atomic_load_n(&is_lingering, __ATOMIC_ACQUIRE))
			starpu_usleep(1);
		__atomic_store_n(&is_removing, 1, __ATOMIC_RELEASE);
		starpu_sched_ctx_remove_workers(&one, 1, ctx);
		__atomic_store_n(&leaver, -1, __ATOMIC_RELEASE);
		starpu_task_wait_for_all();
		starpu_sched_ctx_delete(ctx);
		end(NTASKS);
	} else {
		end(0);
	}
}

static void *live(void *arg)
{
	int ids[2] = {*(int *)arg, *(int *)arg + 1};

	for (int i = 0; i < NLIVES; i++) {
		unsigned ctx = create("short", ids, 2);

		starpu_sched_ctx_set_inheritor(ctx, 0);
		for (int k = 0; k < 10; k++)
			submit_to(ctx);
		starpu_task_wait_for_all_in_ctx(ctx);
		starpu_sched_ctx_finished_submit(ctx);
		starpu_sched_ctx_delete(ctx);
		for (int k = 0; k < 10; k++)
			submit_to(0);
	}
	return NULL;
}

static void threads_make_and_delete_contexts_that_share_workers(void)
{
	int firsts[NTHREADS] = {0, 1};
	starpu_pthread_t threads[NTHREADS];

	begin();
	for (int i = 0; i < NTHREADS; i++)
		STARPU_PTHREAD_CREATE(&threads[i], NULL, live, &firsts[i]);
	for (int i = 0; i < NTHREADS; i++)
		STARPU_PTHREAD_JOIN(threads[i], NULL);
	starpu_task_wait_for_all();
	end(NTHREADS * NLIVES * 20);
}

struct relay {
	unsigned ctx;
	int nleft;
};

/* A callback takes workers away and gives them back, and submits the next task. */
static void go_on(void *arg)
{
	struct relay *relay = arg;
	struct starpu_task *task;
	int id = 1 + relay->nleft % (NWORKERS - 1);

	if (relay->nleft % 2)
		starpu_sched_ctx_remove_workers(&id, 1, relay->ctx);
	else
		starpu_sched_ctx_add_workers(&id, 1, relay->ctx);
	if (--relay->nleft == 0)
		return;
	task = starpu_task_create();
	task->cl = &codelet;
	task->callback_func = go_on;
	task->callback_arg = relay;
	CLAIM_EQ(starpu_task_submit_to_ctx(task, relay->nleft % 3 ? relay->ctx : 0), 0);
}

static void callbacks_move_workers(void)
{
	int ids[NWORKERS] = {0, 1, 2, 3};
	struct relay relays[3];

	begin();
	for (int i = 0; i < 3; i++) {
		relays[i].ctx = create("relay", ids, NWORKERS);
		relays[i].nleft = 60;
	}
	for (int i = 0; i < 3; i++)
		go_on(&relays[i]);
	starpu_task_wait_for_all();
	for (int i = 0; i < 3; i++)
		starpu_sched_ctx_delete(relays[i].ctx);
	end(3 * 59);
}

int main(void)
{
	static const struct claim claims[] = {
		{"workers_leave_while_threads_submit",
		 workers_leave_while_threads_submit},
		{"a_worker_is_not_removed_while_it_pops",
		 a_worker_is_not_removed_while_it_pops},
		{"threads_make_and_delete_contexts_that_share_workers",
		 threads_make_and_delete_contexts_that_share_workers},
		{"callbacks_move_workers", callbacks_move_workers},
		{NULL, NULL}};

	return claims_run(claims, 0);
}
