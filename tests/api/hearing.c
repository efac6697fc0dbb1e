/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What the application's policy hears of its workers, when, and what it sees meanwhile.
 */
#include <stdio.h>
#include <string.h>

#include "claim.h"

int claim_failures;

enum { NWORKERS = 3 };

static struct {
	int ncalls;
	unsigned nworkers, nseen, nlisted;
} coming, leaving, ending;

struct heard {
	struct starpu_task_list list;
	starpu_pthread_mutex_t lock;
	int knows[STARPU_NMAXWORKERS];
};

static unsigned count_seen(unsigned ctx)
{
	struct starpu_worker_collection *workers =
		starpu_sched_ctx_get_worker_collection(ctx);
	struct starpu_sched_ctx_iterator it;
	unsigned n = 0;

	workers->init_iterator(workers, &it);
	while (workers->has_next(workers, &it)) {
		CLAIM(starpu_sched_ctx_contains_worker(workers->get_next(workers, &it),
						       ctx));
		n++;
	}
	CLAIM_EQ(starpu_sched_ctx_get_nworkers(ctx), n);
	return n;
}

static unsigned count_listed(unsigned ctx)
{
	int *ids, *raw;
	unsigned n = starpu_sched_ctx_get_workers_list(ctx, &ids);

	CLAIM_EQ(starpu_sched_ctx_get_workers_list_raw(ctx, &raw), n);
	free(ids);
	return n;
}

#define HEAR(what, n, ctx)                                                               \
	do {                                                                             \
		(what).ncalls++;                                                         \
		(what).nworkers = (n);                                                   \
		(what).nseen = count_seen(ctx);                                          \
		(what).nlisted = count_listed(ctx);                                      \
	} while (0)

static void init(unsigned ctx)
{
	struct heard *heard = calloc(1, sizeof(*heard));

	starpu_task_list_init(&heard->list);
	STARPU_PTHREAD_MUTEX_INIT(&heard->lock, NULL);
	starpu_sched_ctx_set_policy_data(ctx, heard);
}

static void deinit(unsigned ctx)
{
	struct heard *heard = starpu_sched_ctx_get_policy_data(ctx);

	HEAR(ending, 0, ctx);
	for (int i = 0; i < STARPU_NMAXWORKERS; i++)
		CLAIM_EQ(heard->knows[i], 0);
	CLAIM(starpu_task_list_empty(&heard->list));
	STARPU_PTHREAD_MUTEX_DESTROY(&heard->lock);
	memset(heard, 0xee, sizeof(*heard));
	free(heard);
}

static void add(unsigned ctx, int *ids, unsigned n)
{
	struct heard *heard = starpu_sched_ctx_get_policy_data(ctx);

	HEAR(coming, n, ctx);
	for (unsigned i = 0; i < n; i++)
		CLAIM_EQ(heard->knows[ids[i]]++, 0);
}

static void take_out(unsigned ctx, int *ids, unsigned n)
{
	struct heard *heard = starpu_sched_ctx_get_policy_data(ctx);

	HEAR(leaving, n, ctx);
	for (unsigned i = 0; i < n; i++)
		CLAIM_EQ(heard->knows[ids[i]]--, 1);
}

static int push(struct starpu_task *task)
{
	struct heard *heard = starpu_sched_ctx_get_policy_data(task->sched_ctx);

	STARPU_PTHREAD_MUTEX_LOCK(&heard->lock);
	starpu_task_list_push_back(&heard->list, task);
	starpu_push_task_end(task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&heard->lock);
	return 0;
}

static struct starpu_task *pop(unsigned ctx)
{
	struct heard *heard = starpu_sched_ctx_get_policy_data(ctx);
	struct starpu_task *task = NULL;

	CLAIM_EQ(heard->knows[starpu_worker_get_id()], 1);
	starpu_worker_relax_on();
	STARPU_PTHREAD_MUTEX_LOCK(&heard->lock);
	starpu_worker_relax_off();
	if (!starpu_task_list_empty(&heard->list))
		task = starpu_task_list_pop_front(&heard->list);
	STARPU_PTHREAD_MUTEX_UNLOCK(&heard->lock);
	return task;
}

static struct starpu_sched_policy policy = {.init_sched = init,
					    .deinit_sched = deinit,
					    .push_task = push,
					    .pop_task = pop,
					    .add_workers = add,
					    .remove_workers = take_out,
					    .policy_name = "hearing",
					    .worker_type = STARPU_WORKER_LIST};

static void begin(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = NWORKERS;
	conf.ncuda = 0;
	conf.sched_policy_name = "lws";
	CLAIM_EQ(starpu_init(&conf), 0);
	memset(&coming, 0, sizeof(coming));
	memset(&leaving, 0, sizeof(leaving));
	memset(&ending, 0, sizeof(ending));
}

static unsigned create(int *ids, int n)
{
	return starpu_sched_ctx_create(ids, n, "heard", STARPU_SCHED_CTX_POLICY_STRUCT,
				       &policy, 0);
}

#define CLAIM_HEARD(what, calls, n, seen)                                                \
	do {                                                                             \
		CLAIM_EQ((what).ncalls, calls);                                          \
		CLAIM_EQ((what).nworkers, n);                                            \
		CLAIM_EQ((what).nseen, seen);                                            \
		CLAIM_EQ((what).nlisted, seen);                                          \
	} while (0)

static void it_hears_of_all_together_and_sees_them(void)
{
	int ids[NWORKERS] = {0, 1, 2};
	unsigned ctx;

	begin();
	ctx = create(ids, 1);
	CLAIM_HEARD(coming, 1, 1, 1);
	starpu_sched_ctx_add_workers(ids + 1, 2, ctx);
	CLAIM_HEARD(coming, 2, 2, 3);
	starpu_sched_ctx_add_workers(ids, 3, ctx);
	CLAIM_HEARD(coming, 2, 2, 3);
	starpu_sched_ctx_remove_workers(ids, 2, ctx);
	CLAIM_HEARD(leaving, 1, 2, 3);
	CLAIM_EQ(count_seen(ctx), 1);
	starpu_sched_ctx_add_workers(ids, 2, ctx);
	CLAIM_HEARD(coming, 3, 2, 3);
	starpu_sched_ctx_delete(ctx);
	CLAIM_HEARD(leaving, 2, 3, 3);
	CLAIM_HEARD(ending, 1, 0, 3);
	starpu_shutdown();
}

/* ---- it has ended when its context is deleted ------------------------ */

static int is_running, may_end;

static void long_kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	__atomic_store_n(&is_running, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 5000 && !__atomic_load_n(&may_end, __ATOMIC_SEQ_CST); i++)
		starpu_usleep(1000);
}

static void short_kernel(void *buffers[], void *arg)
{
	(void)buffers;
	__atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

static struct starpu_codelet long_one = {.cpu_funcs = {long_kernel}};
static struct starpu_codelet short_one = {.cpu_funcs = {short_kernel}};

static void it_has_ended_when_its_context_is_deleted(void)
{
	int ids[NWORKERS] = {0, 1, 2}, nran = 0;

	begin();
	for (int i = 1; i <= 200; i++) {
		unsigned ctx = create(ids, NWORKERS);

		for (int k = 0; k < 5; k++)
			CLAIM_EQ(starpu_task_insert(&short_one, STARPU_SCHED_CTX, ctx,
						    STARPU_CL_ARGS_NFREE, &nran,
						    sizeof(nran), 0),
				 0);
		starpu_sched_ctx_delete(ctx);
		CLAIM_EQ(ending.ncalls, i);
		CLAIM_EQ(nran, 5 * i);
	}
	starpu_shutdown();
}

/* Kernels of other contexts are not waited for. */
static void a_worker_that_is_busy_elsewhere_is_not_waited_for(void)
{
	int ids[NWORKERS] = {0, 1, 2};
	unsigned ctx;

	begin();
	is_running = may_end = 0;
	ctx = create(ids, NWORKERS);
	CLAIM_EQ(starpu_task_insert(&long_one, STARPU_EXECUTE_ON_WORKER, 1, 0), 0);
	while (!__atomic_load_n(&is_running, __ATOMIC_SEQ_CST))
		starpu_usleep(1000);
	starpu_sched_ctx_delete(ctx);
	CLAIM_EQ(ending.ncalls, 1);
	CLAIM(!__atomic_load_n(&may_end, __ATOMIC_SEQ_CST));
	CLAIM(starpu_task_nsubmitted() == 1);
	/* The number may be another one's while the worker still has not followed. */
	CLAIM_EQ(create(ids, NWORKERS), ctx);
	__atomic_store_n(&may_end, 1, __ATOMIC_SEQ_CST);
	starpu_sched_ctx_delete(ctx);
	CLAIM_EQ(ending.ncalls, 2);
	starpu_task_wait_for_all();
	starpu_shutdown();
}

#ifndef STARPU_SIMGRID /* There a policy must not wait. */
static int is_popping, may_go_on;

/* For ten seconds at most, so that who waits for it by mistake does not hang. */
static struct starpu_task *pop_slowly(unsigned ctx)
{
	(void)ctx;
	__atomic_store_n(&is_popping, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 10000 && !__atomic_load_n(&may_go_on, __ATOMIC_SEQ_CST); i++)
		starpu_usleep(1000);
	__atomic_store_n(&is_popping, 0, __ATOMIC_SEQ_CST);
	return NULL;
}

static void a_policy_that_waits_elsewhere_is_not_waited_for(void)
{
	static struct starpu_sched_policy slow = {
		.push_task = push, .pop_task = pop_slowly, .policy_name = "slow"};
	int ids[NWORKERS] = {0, 1, 2};
	unsigned ctx, other;

	begin();
	is_popping = may_go_on = 0;
	other = starpu_sched_ctx_create(ids + 2, 1, "slow",
					STARPU_SCHED_CTX_POLICY_STRUCT, &slow, 0);
	while (!__atomic_load_n(&is_popping, __ATOMIC_SEQ_CST))
		starpu_usleep(1000);
	ctx = create(ids, 2);
	starpu_sched_ctx_delete(ctx);
	CLAIM_EQ(ending.ncalls, 1);
	CLAIM(__atomic_load_n(&is_popping, __ATOMIC_SEQ_CST));
	__atomic_store_n(&may_go_on, 1, __ATOMIC_SEQ_CST);
	starpu_sched_ctx_delete(other);
	starpu_shutdown();
}
#endif

static void on_end(unsigned ctx, void *arg)
{
	*(int *)arg = (int)ctx;
	starpu_sched_ctx_delete(ctx);
}

static void a_context_deletes_itself(void)
{
	int ids[NWORKERS] = {0, 1, 2}, which = -1;
	unsigned ctx;

	begin();
	ctx = create(ids, NWORKERS);
	starpu_sched_ctx_set_inheritor(ctx, 0);
	starpu_sched_ctx_register_close_callback(ctx, on_end, &which);
	starpu_sched_ctx_finished_submit(ctx);
	CLAIM_EQ(which, ctx);
	starpu_shutdown();
	CLAIM_EQ(ending.ncalls, 1);
}

static const struct claim claims[] = {
	{"it_hears_of_all_together_and_sees_them",
	 it_hears_of_all_together_and_sees_them},
	{"it_has_ended_when_its_context_is_deleted",
	 it_has_ended_when_its_context_is_deleted},
	{"a_worker_that_is_busy_elsewhere_is_not_waited_for",
	 a_worker_that_is_busy_elsewhere_is_not_waited_for},
#ifndef STARPU_SIMGRID
	{"a_policy_that_waits_elsewhere_is_not_waited_for",
	 a_policy_that_waits_elsewhere_is_not_waited_for},
#endif
	{"a_context_deletes_itself", a_context_deletes_itself},
	{0},
};

int main(void)
{
	return claims_run(claims, 0);
}
