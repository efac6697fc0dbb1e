/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Scheduling policies of the application's that schedule parallel tasks, written as for
 * StarPU: they make an alias of the task for each worker that is to run it.
 */
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include <starpu.h>
#include <starpu_scheduler.h>

#include "claim.h"

int claim_failures;

enum { NWORKERS = 4, NTASKS = 120, NDATA = 8, PREDICTED = 1000 };

/* How the policy hands aliases over. */
enum route { EACH_POPS, ANY_POPS, LOCAL, MASTER_POPS };

static enum route route;
static int combined[3]; /* workers 0 and 1, 2 and 3, all */
static struct starpu_task_list lists[NWORKERS], shared;
static starpu_pthread_mutex_t mutex;
static int npushed, npre, npost, npre_alias, npost_alias, nkept;
static struct starpu_task *kept[NWORKERS * NTASKS];

static int calls[NTASKS], sizes[NTASKS], ranks[NTASKS], ids[NTASKS], ncallbacks;
static unsigned ran_on[NTASKS];
static double values[NDATA];

#define COUNT(counter) (void)__atomic_add_fetch(&(counter), 1, __ATOMIC_RELAXED)

/* ---- the policy -------------------------------------------------------- */

static void init(unsigned ctx)
{
	(void)ctx;
	STARPU_PTHREAD_MUTEX_INIT(&mutex, NULL);
	starpu_task_list_init(&shared);
	for (int i = 0; i < NWORKERS; i++)
		starpu_task_list_init(&lists[i]);
	npushed = npre = npost = npre_alias = npost_alias = nkept = 0;
}

static void deinit(unsigned ctx)
{
	(void)ctx;
	CLAIM(starpu_task_list_empty(&shared));
	for (int i = 0; i < NWORKERS; i++)
		CLAIM(starpu_task_list_empty(&lists[i]));
	STARPU_PTHREAD_MUTEX_DESTROY(&mutex);
}

static void put(struct starpu_task_list *list, struct starpu_task *task)
{
	starpu_worker_relax_on();
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	starpu_worker_relax_off();
	starpu_task_list_push_back(list, task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
}

static struct starpu_task *alias_of(struct starpu_task *task, int worker)
{
	struct starpu_task *alias = starpu_task_dup(task);

	alias->destroy = route != ANY_POPS;
	alias->predicted = PREDICTED + worker;
	CLAIM(alias != task);
	CLAIM_EQ(starpu_task_get_job_id(alias), starpu_task_get_job_id(task));
	return alias;
}

/* At once, so that workers find aliases of several tasks in the same order. */
static void hand_over(struct starpu_task *task, int number)
{
	int *members, size, id = combined[number % 3];

	CLAIM_EQ(starpu_combined_worker_get_description(id, &size, &members), 0);
	if (route == ANY_POPS)
		starpu_parallel_task_barrier_init_n(task, size);
	else
		starpu_parallel_task_barrier_init(task, id);
	starpu_worker_relax_on();
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	starpu_worker_relax_off();
	for (int i = 0; i < size; i++) {
		struct starpu_task *alias = alias_of(task, members[i]);

		if (!alias->destroy)
			kept[nkept++] = alias;
		if (route == LOCAL)
			starpu_push_local_task(members[i], alias, 0);
		else
			starpu_task_list_push_back(
				route == ANY_POPS ? &shared : &lists[members[i]], alias);
	}
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
}

static void wake_all(void)
{
	for (unsigned i = 0; i < NWORKERS; i++)
		starpu_wake_worker_relax_light(i);
}

static int push(struct starpu_task *task)
{
	COUNT(npushed);
	if (task->cl->type == STARPU_SEQ || route == MASTER_POPS)
		put(&shared, task);
	else
		hand_over(task, (int)(intptr_t)task->cl_arg);
	starpu_push_task_end(task);
	wake_all();
	return 0;
}

static struct starpu_task *take(struct starpu_task_list *list)
{
	struct starpu_task *task = NULL;

	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	if (!starpu_task_list_empty(list))
		task = starpu_task_list_pop_front(list);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	return task;
}

/* Whoever finds a parallel task has the workers of its pair run it, too. */
static struct starpu_task *share_out(struct starpu_task *task, int worker)
{
	int *members, size;

	starpu_combined_worker_get_description(combined[worker / 2], &size, &members);
	starpu_parallel_task_barrier_init(task, combined[worker / 2]);
	for (int i = 0; i < size; i++)
		if (members[i] != worker)
			put(&lists[members[i]], alias_of(task, members[i]));
	wake_all();
	return task;
}

static struct starpu_task *pop(unsigned ctx)
{
	int worker = starpu_worker_get_id_check();
	struct starpu_task *task = take(&lists[worker]);

	(void)ctx;
	if (task)
		return task;
	/* Two workers of a pair that each began one would wait for each other. */
	if (route == MASTER_POPS && worker % 2)
		return NULL;
	task = take(&shared);
	if (task && route == MASTER_POPS && task->cl->type != STARPU_SEQ)
		task = share_out(task, worker);
	return task;
}

static void pre_exec(struct starpu_task *task, unsigned ctx)
{
	(void)ctx;
	COUNT(npre);
	if (task->predicted == PREDICTED + starpu_worker_get_id_check())
		COUNT(npre_alias);
}

static void post_exec(struct starpu_task *task, unsigned ctx)
{
	(void)ctx;
	COUNT(npost);
	if (task->predicted == PREDICTED + starpu_worker_get_id_check())
		COUNT(npost_alias);
}

static struct starpu_sched_policy policy = {
	.init_sched = init,
	.deinit_sched = deinit,
	.push_task = push,
	.pop_task = pop,
	.pre_exec_hook = pre_exec,
	.post_exec_hook = post_exec,
	.policy_name = "shares",
	.policy_description = "parallel tasks by aliases",
	.worker_type = STARPU_WORKER_LIST,
};

/* ---- the program ------------------------------------------------------- */

static void note(void *buffers[], void *arg)
{
	int number = (int)(intptr_t)arg, worker = starpu_worker_get_id_check();
	struct starpu_task *task = starpu_task_get_current();

	CLAIM_EQ((intptr_t)task->cl_arg, number);
	CLAIM(!(task->predicted >= PREDICTED)); /* the program's, not an alias */
	COUNT(calls[number]);
	STARPU_ATOMIC_ADD(&ranks[number], 1 << starpu_combined_worker_get_rank());
	__atomic_or_fetch(&ran_on[number], 1u << worker, __ATOMIC_RELAXED);
	__atomic_store_n(&sizes[number], starpu_combined_worker_get_size(),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&ids[number], starpu_combined_worker_get_id(), __ATOMIC_RELAXED);
	if (starpu_combined_worker_get_rank() == 0)
		++*(double *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static void ended(void *arg)
{
	(void)arg;
	COUNT(ncallbacks);
}

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 100;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "aliases"};

#define CODELET(the_type)                                                                \
	{                                                                                \
		.type = (the_type), .max_parallelism = INT_MAX, .cpu_funcs = {note},     \
		.cpu_funcs_name = {"note"}, .nbuffers = 1, .model = &model, .modes = {   \
			STARPU_RW                                                        \
		}                                                                        \
	}
static struct starpu_codelet spmd = CODELET(STARPU_SPMD);
static struct starpu_codelet fork_join = CODELET(STARPU_FORKJOIN);
static struct starpu_codelet sequential = CODELET(STARPU_SEQ);

static void begin(enum route way)
{
	struct starpu_conf conf;
	int all[NWORKERS] = {0, 1, 2, 3};

	starpu_conf_init(&conf);
	conf.precedence_over_environment_variables = 1;
	conf.ncpus = NWORKERS;
	conf.sched_policy = &policy;
	route = way;
	memset(calls, 0, sizeof(calls));
	memset(ranks, 0, sizeof(ranks));
	memset(ran_on, 0, sizeof(ran_on));
	memset(values, 0, sizeof(values));
	ncallbacks = 0;
	if (starpu_init(&conf) != 0 || starpu_cpu_worker_get_count() != NWORKERS)
		exit(77);
	combined[0] = starpu_combined_worker_assign_workerid(2, all);
	combined[1] = starpu_combined_worker_assign_workerid(2, all + 2);
	combined[2] = starpu_combined_worker_assign_workerid(4, all);
}

static struct starpu_codelet *codelet_of(int number)
{
	static struct starpu_codelet *const all[] = {&spmd, &fork_join, &sequential};

	return all[number / 3 % 3];
}

/* Some of them use data out of order. */
static void submit(starpu_data_handle_t *handles)
{
	for (int i = 0; i < NTASKS; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = codelet_of(i);
		task->handles[0] = handles[i % NDATA];
		task->cl_arg = (void *)(intptr_t)i;
		task->callback_func = ended;
		task->callback_arg = NULL;
		CLAIM_EQ(starpu_task_submit(task), 0);
	}
}

static void look_at_task(int number)
{
	int is_seq = codelet_of(number)->type == STARPU_SEQ;
	int is_spmd = codelet_of(number)->type == STARPU_SPMD;
	int size = number % 3 == 2 ? 4 : 2, id = combined[number % 3];

	if (is_seq) {
		size = 1;
		id = -1;
	} else if (route == MASTER_POPS) {
		size = 2;
		id = combined[ran_on[number] > 3];
	} else if (route == ANY_POPS) {
		/* Whoever came: perhaps no combined worker. */
		id = ids[number];
		CLAIM(id >= -1 && (size < 4 || id == combined[2]));
	}
	CLAIM_EQ(calls[number], is_spmd ? size : 1);
	CLAIM_EQ(sizes[number], size);
	CLAIM_EQ(ids[number], id);
	CLAIM_EQ(ranks[number], is_spmd ? (1 << size) - 1 : 1);
}

static void use(enum route way)
{
	starpu_data_handle_t handles[NDATA];
	int nparallel = 0, nmembers = 0, nalone = 0;
	unsigned ncombined;

	begin(way);
	ncombined = starpu_combined_worker_get_count();
	for (int i = 0; i < NDATA; i++)
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(values[i]));
	submit(handles);
	starpu_task_wait_for_all();
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(handles[i]);
	for (int i = 0; i < NTASKS; i++) {
		look_at_task(i);
		nalone += codelet_of(i)->type == STARPU_SEQ;
		nparallel += codelet_of(i)->type != STARPU_SEQ;
		if (codelet_of(i)->type != STARPU_SEQ)
			nmembers += sizes[i];
	}
	for (int i = 0; i < NDATA; i++)
		CLAIM_EQ(values[i], NTASKS / NDATA);
	for (int i = 0; i < nkept; i++)
		starpu_task_destroy(kept[i]);
	CLAIM_EQ(starpu_combined_worker_get_count(), ncombined);
	starpu_shutdown();
	CLAIM_EQ(ncallbacks, NTASKS);
	CLAIM_EQ(npushed, NTASKS);
	CLAIM_EQ(npre, nmembers + nalone);
	CLAIM_EQ(npost, nmembers + nalone);
	/* One of them has the task itself where the master does. */
	if (way != ANY_POPS) {
		CLAIM_EQ(npre_alias, way == MASTER_POPS ? nparallel : nmembers);
		CLAIM_EQ(npost_alias, npre_alias);
	}
}

static void each_pops(void)
{
	use(EACH_POPS);
}

static void any_pops(void)
{
	use(ANY_POPS);
}

static void local(void)
{
	use(LOCAL);
}

static void master_pops(void)
{
	use(MASTER_POPS);
}

/* Tasks that are ready and have to wait for each other's data come to the policy again.
 */
static void commuting(void)
{
	starpu_data_handle_t handle;
	double sum = 0;

	begin(EACH_POPS);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&sum,
				      sizeof(sum));
	spmd.modes[0] = fork_join.modes[0] = STARPU_RW | STARPU_COMMUTE;
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(i % 2 ? &spmd : &fork_join,
					    STARPU_RW | STARPU_COMMUTE, handle,
					    STARPU_CL_ARGS_NFREE, (void *)(intptr_t)i,
					    (size_t)0, STARPU_CALLBACK, ended, 0),
			 0);
	starpu_task_wait_for_all();
	starpu_data_unregister(handle);
	starpu_shutdown();
	spmd.modes[0] = fork_join.modes[0] = STARPU_RW;
	CLAIM_EQ(sum, NTASKS);
	CLAIM(npushed > NTASKS);
	CLAIM_EQ(ncallbacks, NTASKS);
}

int main(void)
{
	static const struct claim claims[] = {
		{"aliases for the workers of a combined worker", each_pops},
		{"aliases for any workers", any_pops},
		{"aliases that are pushed to workers", local},
		{"a worker that shares out what it popped", master_pops},
		{"aliases of tasks that commute", commuting},
		{NULL, NULL},
	};

	return claims_run(claims, 0);
}
