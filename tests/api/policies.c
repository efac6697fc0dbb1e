/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Scheduling policies of the application's, written as for StarPU: one list for all, a
 * list per worker and stealing, and the worker that is expected to end first.
 */
#include <math.h>
#include <string.h>

#include <starpu.h>
#include <starpu_scheduler.h>

#include "claim.h"

int claim_failures;

enum { NTASKS = 500, NCHAINS = 8 };

static int ninits, ndeinits, nadded, nremoved, nsubmitted, npre, npost, nnotified;
static int nscheduled, nran, sum;

/* ---- hooks that count -------------------------------------------------- */

#define COUNT(counter) (void)__atomic_add_fetch(&(counter), 1, __ATOMIC_RELAXED)

static int nepilogues;

static void epilogue(void *arg)
{
	(void)arg;
	CLAIM_EQ(starpu_task_get_current()->status, STARPU_TASK_RUNNING);
	nepilogues++;
}

static void submit_hook(struct starpu_task *task)
{
	(void)task;
	COUNT(nsubmitted);
}

static void pre_exec(struct starpu_task *task, unsigned ctx)
{
	CLAIM_EQ(task->sched_ctx, ctx);
	CLAIM_EQ(task->status, STARPU_TASK_READY);
	CLAIM(starpu_task_get_current() == task);
	COUNT(npre);
}

static void post_exec(struct starpu_task *task, unsigned ctx)
{
	(void)ctx;
	CLAIM_EQ(task->status, STARPU_TASK_FINISHED);
	CLAIM_EQ(nepilogues, task->epilogue_callback_func != NULL);
	COUNT(npost);
}

static void notify(struct starpu_task *task, int worker, int perf_worker, unsigned ctx)
{
	(void)task;
	(void)ctx;
	CLAIM_EQ(worker, perf_worker);
	COUNT(nnotified);
}

static void do_schedule(unsigned ctx)
{
	(void)ctx;
	COUNT(nscheduled);
}

static void remove_workers(unsigned ctx, int *ids, unsigned n)
{
	(void)ctx;
	(void)ids;
	nremoved += (int)n;
}

#define HOOKS_THAT_COUNT                                                                 \
	.remove_workers = remove_workers, .submit_hook = submit_hook,                    \
	.pre_exec_hook = pre_exec, .post_exec_hook = post_exec,                          \
	.push_task_notify = notify, .do_schedule = do_schedule

/* ---- one list under a mutex --------------------------------------------- */

struct fifo {
	struct starpu_task_list list;
	starpu_pthread_mutex_t mutex;
};

static void fifo_init(unsigned ctx)
{
	struct fifo *fifo = malloc(sizeof *fifo);

	starpu_task_list_init(&fifo->list);
	STARPU_PTHREAD_MUTEX_INIT(&fifo->mutex, NULL);
	starpu_sched_ctx_set_policy_data(ctx, fifo);
	CLAIM_EQ(starpu_sched_ctx_get_nworkers(ctx), starpu_worker_get_count());
	ninits++;
}

static void fifo_deinit(unsigned ctx)
{
	struct fifo *fifo = starpu_sched_ctx_get_policy_data(ctx);

	CLAIM(starpu_task_list_empty(&fifo->list));
	STARPU_PTHREAD_MUTEX_DESTROY(&fifo->mutex);
	free(fifo);
	ndeinits++;
}

static int fifo_push(struct starpu_task *task)
{
	unsigned ctx = task->sched_ctx;
	struct fifo *fifo = starpu_sched_ctx_get_policy_data(ctx);
	struct starpu_worker_collection *workers =
		starpu_sched_ctx_get_worker_collection(ctx);
	struct starpu_sched_ctx_iterator it;

	starpu_worker_relax_on();
	STARPU_PTHREAD_MUTEX_LOCK(&fifo->mutex);
	starpu_worker_relax_off();
	starpu_task_list_push_back(&fifo->list, task);
	starpu_push_task_end(task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&fifo->mutex);
	workers->init_iterator(workers, &it);
	while (workers->has_next(workers, &it))
		if (starpu_wake_worker_relax_light(workers->get_next(workers, &it)))
			break;
	return 0;
}

static struct starpu_task *fifo_pop(unsigned ctx)
{
	struct fifo *fifo = starpu_sched_ctx_get_policy_data(ctx);
	unsigned worker = starpu_worker_get_id_check();
	struct starpu_task *task;

	starpu_worker_relax_on();
	STARPU_PTHREAD_MUTEX_LOCK(&fifo->mutex);
	starpu_worker_relax_off();
	for (task = starpu_task_list_begin(&fifo->list);
	     task != starpu_task_list_end(&fifo->list);
	     task = starpu_task_list_next(task)) {
		unsigned nimpl;

		if (!starpu_worker_can_execute_task_first_impl(worker, task, &nimpl))
			continue;
		starpu_task_set_implementation(task, nimpl);
		starpu_task_list_erase(&fifo->list, task);
		break;
	}
	STARPU_PTHREAD_MUTEX_UNLOCK(&fifo->mutex);
	return task;
}

static void fifo_add(unsigned ctx, int *ids, unsigned n)
{
	(void)ctx;
	for (unsigned i = 0; i < n; i++)
		nadded += ids[i] >= 0;
}

static struct starpu_sched_policy fifo_policy = {
	.init_sched = fifo_init,
	.deinit_sched = fifo_deinit,
	.add_workers = fifo_add,
	.push_task = fifo_push,
	.pop_task = fifo_pop,
	HOOKS_THAT_COUNT,
	.policy_name = "fifo",
	.policy_description = "one list",
	.worker_type = STARPU_WORKER_LIST,
};

/* ---- a list per worker, under the worker's lock -------------------------- */

struct stealing {
	struct starpu_task_list lists[STARPU_NMAXWORKERS];
	unsigned next;
};

static void stealing_init(unsigned ctx)
{
	starpu_sched_ctx_set_policy_data(ctx, calloc(1, sizeof(struct stealing)));
	ninits++;
}

static void stealing_deinit(unsigned ctx)
{
	free(starpu_sched_ctx_get_policy_data(ctx));
	ndeinits++;
}

static void stealing_add(unsigned ctx, int *ids, unsigned n)
{
	struct stealing *data = starpu_sched_ctx_get_policy_data(ctx);

	for (unsigned i = 0; i < n; i++) {
		starpu_task_list_init(&data->lists[ids[i]]);
		starpu_sched_ctx_worker_shares_tasks_lists(ids[i], (int)ctx);
	}
	nadded += (int)n;
}

static int stealing_push(struct starpu_task *task)
{
	struct stealing *data = starpu_sched_ctx_get_policy_data(task->sched_ctx);
	unsigned n = starpu_worker_get_count();
	int worker = starpu_worker_get_id();

	while (worker < 0 || !starpu_worker_can_execute_task((unsigned)worker, task, 0))
		worker = (int)(__atomic_fetch_add(&data->next, 1, __ATOMIC_RELAXED) % n);
	starpu_worker_lock(worker);
	starpu_task_list_push_front(&data->lists[worker], task);
	starpu_push_task_end(task);
	starpu_wake_worker_locked(worker);
	starpu_worker_unlock(worker);
	return 0;
}

static struct starpu_task *steal(struct stealing *data, int thief, int victim)
{
	struct starpu_task *task;

	starpu_worker_relax_on();
	starpu_worker_lock(victim);
	starpu_worker_relax_off();
	task = starpu_task_list_back(&data->lists[victim]);
	if (task && starpu_worker_can_execute_task((unsigned)thief, task, 0))
		starpu_task_list_erase(&data->lists[victim], task);
	else
		task = NULL;
	starpu_worker_unlock(victim);
	return task;
}

static struct starpu_task *stealing_pop(unsigned ctx)
{
	struct stealing *data = starpu_sched_ctx_get_policy_data(ctx);
	int self = starpu_worker_get_id(), n = (int)starpu_worker_get_count();
	struct starpu_task *task = NULL;

	CLAIM(starpu_worker_sched_op_pending());
	if (!starpu_task_list_empty(&data->lists[self]))
		return starpu_task_list_pop_front(&data->lists[self]);
	for (int i = 1; i < n && !task; i++)
		task = steal(data, self, (self + i) % n);
	return task;
}

static struct starpu_sched_policy stealing_policy = {
	.init_sched = stealing_init,
	.deinit_sched = stealing_deinit,
	.add_workers = stealing_add,
	.push_task = stealing_push,
	.pop_task = stealing_pop,
	HOOKS_THAT_COUNT,
	.policy_name = "stealing",
	.policy_description = "a list per worker",
	.worker_type = STARPU_WORKER_TREE,
};

/* ---- the earliest end, into the workers' own lists ----------------------- */

struct earliest {
	starpu_pthread_mutex_t mutex;
	double until[STARPU_NMAXWORKERS];
};

static void earliest_init(unsigned ctx)
{
	struct earliest *data = calloc(1, sizeof *data);

	STARPU_PTHREAD_MUTEX_INIT(&data->mutex, NULL);
	starpu_sched_ctx_set_policy_data(ctx, data);
	if (starpu_sched_ctx_min_priority_is_set(ctx) == 0)
		starpu_sched_ctx_set_min_priority(ctx, -5);
	if (starpu_sched_ctx_max_priority_is_set(ctx) == 0)
		starpu_sched_ctx_set_max_priority(ctx, 5);
	ninits++;
}

static void earliest_deinit(unsigned ctx)
{
	struct earliest *data = starpu_sched_ctx_get_policy_data(ctx);

	STARPU_PTHREAD_MUTEX_DESTROY(&data->mutex);
	free(data);
	ndeinits++;
}

static int earliest_push(struct starpu_task *task)
{
	unsigned ctx = task->sched_ctx;
	struct earliest *data = starpu_sched_ctx_get_policy_data(ctx);
	struct starpu_worker_collection *workers =
		starpu_sched_ctx_get_worker_collection(ctx);
	struct starpu_sched_ctx_iterator it;
	double best_end = INFINITY, now = starpu_timing_now();
	int best = -1;

	STARPU_PTHREAD_MUTEX_LOCK(&data->mutex);
	workers->init_iterator_for_parallel_tasks(workers, &it, task);
	while (workers->has_next(workers, &it)) {
		int worker = workers->get_next(workers, &it);
		unsigned mask;
		double end;

		if (!starpu_worker_can_execute_task_impl((unsigned)worker, task, &mask))
			continue;
		end = fmax(now, data->until[worker]) +
		      starpu_task_worker_expected_length(task, (unsigned)worker, ctx, 0) +
		      starpu_task_expected_data_transfer_time_for(task, (unsigned)worker);
		if (best < 0 || end < best_end) {
			best = worker;
			best_end = end;
		}
	}
	data->until[best] = best_end;
	STARPU_PTHREAD_MUTEX_UNLOCK(&data->mutex);
	if (starpu_get_prefetch_flag())
		starpu_prefetch_task_input_for(task, (unsigned)best);
	starpu_task_set_implementation(task, 0);
	return starpu_push_local_task(best, task, 1);
}

static struct starpu_sched_policy earliest_policy = {
	.init_sched = earliest_init,
	.deinit_sched = earliest_deinit,
	.add_workers = fifo_add,
	.push_task = earliest_push,
	HOOKS_THAT_COUNT,
	.policy_name = "earliest",
	.policy_description = "the earliest end",
	.worker_type = STARPU_WORKER_LIST,
};

static struct starpu_sched_policy *const policies[] = {&fifo_policy, &stealing_policy,
						       &earliest_policy};

/* ---- programs that they schedule ----------------------------------------- */

static double cost(struct starpu_task *task, unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	return 10;
}

static void kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	COUNT(nran);
}

static void add_one(void *buffers[], void *arg)
{
	(void)arg;
	++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
	COUNT(nran);
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost, .symbol = "policies"};
static struct starpu_codelet alone = {.cpu_funcs = {kernel}, .model = &model};
static const struct starpu_codelet constant = {.cpu_funcs = {kernel}, .model = &model};
static struct starpu_codelet chained = {
	.cpu_funcs = {add_one}, .nbuffers = 1, .modes = {STARPU_RW}, .model = &model};

static void begin(struct starpu_sched_policy *policy)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.sched_policy_name = NULL;
	conf.sched_policy = policy;
	conf.ncpus = 3;
	conf.precedence_over_environment_variables = 1;
	ninits = ndeinits = nadded = nremoved = nsubmitted = npre = npost = nnotified = 0;
	nscheduled = nran = sum = 0;
	CLAIM_EQ(starpu_init(&conf), 0);
}

static void end(int ntasks)
{
	starpu_task_wait_for_all();
	CLAIM_EQ(nsubmitted, ntasks);
	CLAIM_EQ(npre, ntasks);
	CLAIM_EQ(npost, ntasks);
	CLAIM_EQ(ndeinits, 0);
	CLAIM_EQ(nremoved, 0);
	starpu_shutdown();
	CLAIM_EQ(nremoved, nadded); /* Those that never left. */
	CLAIM_EQ(ninits, 1);
	CLAIM_EQ(ndeinits, 1);
}

static void all_tasks_run(void)
{
	for (int p = 0; p < 3; p++) {
		begin(policies[p]);
		CLAIM_EQ(nadded, starpu_worker_get_count());
		for (int i = 0; i < NTASKS; i++)
			CLAIM_EQ(starpu_task_insert(&alone, 0), 0);
		end(NTASKS);
		CLAIM_EQ(nran, NTASKS);
		CLAIM_EQ(alone.where, STARPU_CPU);
		alone.where = 0;
		begin(policies[p]);
		CLAIM_EQ(
			starpu_task_insert(&alone, STARPU_EPILOGUE_CALLBACK, epilogue, 0),
			0);
		end(1);
		CLAIM_EQ(nepilogues, 1);
		nepilogues = 0;
	}
}

static void constants_are_not_written(void)
{
	begin(&fifo_policy);
	CLAIM_EQ(starpu_task_insert((struct starpu_codelet *)&constant, 0), 0);
	end(1);
	CLAIM_EQ(nran, 1);
}

static void chains_keep_their_order(void)
{
	for (int p = 0; p < 3; p++) {
		starpu_data_handle_t handles[NCHAINS];
		int values[NCHAINS] = {0};

		begin(policies[p]);
		for (int i = 0; i < NCHAINS; i++)
			starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
						      (uintptr_t)&values[i],
						      sizeof(values[i]));
		for (int i = 0; i < NTASKS; i++)
			starpu_task_insert(&chained, STARPU_RW, handles[i % NCHAINS], 0);
		for (int i = 0; i < NCHAINS; i++)
			starpu_data_unregister(handles[i]);
		for (int i = 0; i < NCHAINS; i++)
			sum += values[i];
		CLAIM_EQ(sum, NTASKS);
		end(NTASKS);
	}
}

static void bound_tasks_are_told(void)
{
	for (int p = 0; p < 3; p++) {
		begin(policies[p]);
		for (int i = 0; i < 20; i++)
			starpu_task_insert(&alone, STARPU_EXECUTE_ON_WORKER, i % 3, 0);
		starpu_task_wait_for_all();
		CLAIM_EQ(nnotified, 20);
		CLAIM_EQ(nscheduled, 1);
		starpu_do_schedule();
		CLAIM_EQ(nscheduled, 2);
		starpu_task_wait_for_no_ready();
		CLAIM_EQ(nscheduled, 3);
		end(20);
	}
}

/* Another thread may wait, which asks all policies, while a context is being made. */
static int early_is_ready, nearly_asked;

static void early_init(unsigned ctx)
{
	(void)ctx;
	starpu_do_schedule();
	early_is_ready = 1;
}

static void early_schedule(unsigned ctx)
{
	(void)ctx;
	CLAIM(early_is_ready);
	nearly_asked++;
}

static void a_policy_that_is_not_ready_is_not_asked(void)
{
	struct starpu_sched_policy early = fifo_policy;
	unsigned id;

	early.init_sched = early_init;
	early.deinit_sched = NULL;
	early.do_schedule = early_schedule;
	early.policy_name = "early";
	early_is_ready = nearly_asked = 0;
	begin(&fifo_policy);
	id = starpu_sched_ctx_create(NULL, 0, "early", STARPU_SCHED_CTX_POLICY_STRUCT,
				     &early, 0);
	starpu_do_schedule();
	CLAIM_EQ(nearly_asked, 1);
	starpu_sched_ctx_delete(id);
	end(0);
}

/* Some make a row for each priority. */
static int found[5];

static void given_init(unsigned ctx)
{
	found[0] = starpu_sched_ctx_get_min_priority(ctx);
	found[1] = starpu_sched_ctx_get_max_priority(ctx);
	found[2] = starpu_sched_ctx_min_priority_is_set(ctx) &&
		   starpu_sched_ctx_max_priority_is_set(ctx);
	found[3] = starpu_sched_ctx_get_user_data(ctx) == found;
	found[4] = (int)starpu_sched_ctx_get_hierarchy_level(ctx);
}

static void a_policy_begins_with_what_its_context_was_given(void)
{
	struct starpu_sched_policy given = fifo_policy;
	unsigned id;

	given.init_sched = given_init;
	given.deinit_sched = NULL;
	given.policy_name = "given";
	begin(&fifo_policy);
	id = starpu_sched_ctx_create(
		NULL, 0, "given", STARPU_SCHED_CTX_POLICY_STRUCT, &given,
		STARPU_SCHED_CTX_POLICY_MIN_PRIO, -3, STARPU_SCHED_CTX_POLICY_MAX_PRIO, 9,
		STARPU_SCHED_CTX_USER_DATA, found, STARPU_SCHED_CTX_NESTED, 0u, 0);
	CLAIM_EQ(found[0], -3);
	CLAIM_EQ(found[1], 9);
	CLAIM(found[2]);
	CLAIM(found[3]);
	CLAIM_EQ(found[4], 1);
	starpu_sched_ctx_delete(id);
	end(0);
}

/* While a policy hears of one worker, the set changes otherwise. */
static int knows[2], nforgotten;

static void crossing_add(unsigned ctx, int *ids, unsigned n)
{
	int other = 1;

	for (unsigned i = 0; i < n; i++)
		knows[ids[i]]++;
	if (ids[0] == 0)
		starpu_sched_ctx_add_workers(&other, 1, ctx);
}

static void crossing_remove(unsigned ctx, int *ids, unsigned n)
{
	(void)ctx;
	(void)ids;
	nforgotten += (int)n;
}

static void a_worker_that_comes_is_not_forgotten(void)
{
	struct starpu_sched_policy crossing = fifo_policy;
	int first = 0;
	unsigned id;

	crossing.init_sched = crossing.deinit_sched = NULL;
	crossing.pop_task = NULL; /* There is nothing, not even a list. */
	crossing.add_workers = crossing_add;
	crossing.remove_workers = crossing_remove;
	crossing.policy_name = "crossing";
	knows[0] = knows[1] = nforgotten = 0;
	begin(&fifo_policy);
	id = starpu_sched_ctx_create(NULL, 0, "crossing", STARPU_SCHED_CTX_POLICY_STRUCT,
				     &crossing, 0);
	starpu_sched_ctx_add_workers(&first, 1, id);
	CLAIM_EQ(knows[0], 1);
	CLAIM_EQ(knows[1], 1);
	CLAIM_EQ(nforgotten, 0);
	CLAIM_EQ(starpu_sched_ctx_get_nworkers(id), 2);
	starpu_sched_ctx_delete(id);
	CLAIM_EQ(nforgotten, 2);
	end(0);
}

/* How many workers each call named, a digit each. */
static int batches;

static void batch_add(unsigned ctx, int *ids, unsigned n)
{
	(void)ctx;
	(void)ids;
	batches = 10 * batches + (int)n;
}

/* As by StarPU 1.3.10: of those that are there already it does not hear again. */
static void workers_that_come_together_are_told_together(void)
{
	struct starpu_sched_policy batch = fifo_policy;
	int ids[3] = {1, 0, 2};
	unsigned id, heir;

	batch.init_sched = batch.deinit_sched = NULL;
	batch.pop_task = NULL;
	batch.add_workers = batch_add;
	batch.remove_workers = NULL;
	batch.policy_name = "batch";
	batches = 0;
	begin(&fifo_policy);
	id = starpu_sched_ctx_create(ids, 2, "batch", STARPU_SCHED_CTX_POLICY_STRUCT,
				     &batch, 0);
	CLAIM_EQ(batches, 2);
	starpu_sched_ctx_add_workers(ids, 3, id);
	CLAIM_EQ(batches, 21);
	starpu_sched_ctx_add_workers(ids, 3, id);
	CLAIM_EQ(batches, 21);
	heir = starpu_sched_ctx_create(NULL, 0, "heir", STARPU_SCHED_CTX_POLICY_STRUCT,
				       &batch, 0);
	starpu_sched_ctx_set_inheritor(id, heir);
	starpu_sched_ctx_delete(id);
	CLAIM_EQ(batches, 213);
	CLAIM_EQ(starpu_sched_ctx_get_nworkers(heir), 3);
	starpu_sched_ctx_delete(heir);
	end(0);
}

static void the_policy_can_be_asked_for(void)
{
	struct starpu_worker_collection *workers;
	int *ids, *raw;

	begin(&fifo_policy);
	CLAIM(starpu_sched_get_sched_policy() == &fifo_policy);
	CLAIM(starpu_sched_get_sched_policy_in_ctx(0) == &fifo_policy);
	CLAIM(starpu_sched_ctx_get_sched_policy(0) == &fifo_policy);
	CLAIM(starpu_sched_ctx_get_sched_policy_callback(0) == NULL);
	CLAIM(starpu_sched_ctx_get_user_data(0) == NULL);
	starpu_sched_ctx_set_user_data(0, &sum);
	CLAIM(starpu_sched_ctx_get_user_data(0) == &sum);
	workers = starpu_sched_ctx_get_worker_collection(0);
	CLAIM(workers == starpu_sched_ctx_create_worker_collection(0, workers->type));
	starpu_sched_ctx_delete_worker_collection(0);
	CLAIM_EQ(workers->type, STARPU_WORKER_LIST);
	CLAIM_EQ(starpu_sched_ctx_get_workers_list(0, &ids), 3);
	CLAIM_EQ(starpu_sched_ctx_get_workers_list_raw(0, &raw), 3);
	for (int i = 0; i < 3; i++) {
		CLAIM_EQ(ids[i], i);
		CLAIM_EQ(raw[i], i);
		CLAIM(starpu_sched_ctx_contains_worker(i, 0));
	}
	free(ids);
	CLAIM(!starpu_sched_ctx_contains_worker(3, 0));
	CLAIM_EQ(starpu_sched_ctx_get_nshared_workers(0, 0), 3);
	CLAIM(starpu_sched_ctx_contains_type_of_worker(STARPU_CPU_WORKER, 0));
	CLAIM(!starpu_sched_ctx_contains_type_of_worker(STARPU_CUDA_WORKER, 0));
	CLAIM_EQ(starpu_sched_ctx_get_worker_rank(0), -1);
	CLAIM_EQ(starpu_sched_ctx_worker_get_id(0), (unsigned)-1);
	CLAIM(starpu_sched_ctx_has_starpu_scheduler(0, NULL));
	end(0);
}

static void priorities_are_the_policys(void)
{
	begin(&earliest_policy);
	CLAIM_EQ(starpu_sched_ctx_get_min_priority(0), -5);
	CLAIM_EQ(starpu_sched_get_max_priority(), 5);
	CLAIM(!starpu_sched_ctx_max_priority_is_set(0));
	end(0);
	begin(&fifo_policy);
	CLAIM_EQ(starpu_sched_get_min_priority(), 0);
	CLAIM_EQ(starpu_sched_ctx_get_max_priority(0), 0);
	CLAIM(!starpu_sched_ctx_min_priority_is_set(0));
	starpu_sched_set_max_priority(7);
	CLAIM_EQ(starpu_sched_get_max_priority(), 7);
	CLAIM(!starpu_sched_ctx_max_priority_is_set(0));
	end(0);
}

static void collections_are_walked(void)
{
	struct starpu_worker_collection *const kinds[] = {&starpu_worker_list,
							  &starpu_worker_tree};
	static const int added[] = {4, 1, 3}, orders[2][3] = {{4, 1, 3}, {1, 3, 4}};

	for (int k = 0; k < 2; k++) {
		struct starpu_worker_collection workers = *kinds[k];
		struct starpu_sched_ctx_iterator it;

		workers.init(&workers);
		for (int i = 0; i < 3; i++)
			CLAIM_EQ(workers.add(&workers, added[i]), added[i]);
		CLAIM_EQ(workers.add(&workers, 3), -1);
		workers.init_iterator(&workers, &it);
		for (int i = 0; i < 3; i++) {
			CLAIM(workers.has_next(&workers, &it));
			CLAIM_EQ(workers.get_next(&workers, &it), orders[k][i]);
		}
		CLAIM(!workers.has_next(&workers, &it));
		CLAIM_EQ(workers.remove(&workers, 1), 1);
		CLAIM_EQ(workers.remove(&workers, 1), -1);
		CLAIM_EQ(workers.nworkers, 2);
		workers.deinit(&workers);
	}
}

static void costs_are_told(void)
{
	static struct starpu_perfmodel energy = {
		.type = STARPU_COMMON, .cost_function = cost, .symbol = "policies_j"};
	struct starpu_codelet codelet = alone;
	struct starpu_task *task;
	starpu_data_handle_t handle;
	int value = 0;

	begin(&fifo_policy);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof value);
	CLAIM(starpu_data_expected_transfer_time(handle, 0, STARPU_R) == 0);
	codelet.energy_model = &energy;
	task = starpu_task_build(&chained, STARPU_RW, handle, 0);
	CLAIM(starpu_task_expected_data_transfer_time(0, task) == 0);
	CLAIM(starpu_task_expected_data_transfer_time_for(task, 0) == 0);
	CLAIM(starpu_task_worker_expected_energy(task, 0, 0, 0) == 0);
	CLAIM_EQ(starpu_prefetch_task_input_on_node(task, 0), 0);
	CLAIM_EQ(starpu_prefetch_task_input_on_node_prio(task, 0, 1), 0);
	CLAIM_EQ(starpu_idle_prefetch_task_input_on_node(task, 0), 0);
	CLAIM_EQ(starpu_idle_prefetch_task_input_on_node_prio(task, 0, 1), 0);
	CLAIM_EQ(starpu_prefetch_task_input_for_prio(task, 0, 1), 0);
	CLAIM_EQ(starpu_idle_prefetch_task_input_for(task, 0), 0);
	CLAIM_EQ(starpu_idle_prefetch_task_input_for_prio(task, 0, 1), 0);
	task->cl = &codelet;
	CLAIM(starpu_task_worker_expected_energy(task, 0, 0, 0) == 10);
	CLAIM(starpu_task_expected_energy(task, starpu_worker_get_perf_archtype(0, 0),
					  0) == 10);
	CLAIM(starpu_worker_get_relative_speedup(starpu_worker_get_perf_archtype(0, 0)) ==
	      1);
	starpu_sched_ctx_list_task_counters_increment_all_ctx_locked(task, 0);
	starpu_sched_ctx_list_task_counters_decrement_all_ctx_locked(task, 0);
	starpu_sched_ctx_list_task_counters_reset_all(task, 0);
	task->cl = &chained;
	CLAIM_EQ(starpu_task_submit(task), 0);
	starpu_data_unregister(handle);
	end(1);
}

static void locks_of_workers_exclude(void)
{
	begin(&fifo_policy);
	starpu_worker_relax_on();
	CLAIM(starpu_worker_get_relax_state());
	starpu_worker_relax_off();
	starpu_worker_lock_self();
	starpu_worker_unlock_self();
	CLAIM(!starpu_worker_sched_op_pending());
	starpu_worker_lock(1);
	CLAIM(starpu_worker_trylock(1) != 0);
	starpu_worker_unlock(1);
	while (starpu_worker_trylock(1) != 0) /* It may look for a task just now. */
		continue;
	starpu_worker_unlock(1);
	for (int i = 0; i < 3; i++) {
		starpu_wake_worker_relax(i);
		starpu_wake_worker_no_relax(i);
	}
	starpu_sched_ctx_list_task_counters_increment(0, 1);
	starpu_sched_ctx_list_task_counters_decrement(0, 1);
	starpu_sched_ctx_list_task_counters_reset(0, 1);
	end(0);
}

static const struct claim claims[] = {
	{"all_tasks_run", all_tasks_run},
	{"constants_are_not_written", constants_are_not_written},
	{"chains_keep_their_order", chains_keep_their_order},
	{"bound_tasks_are_told", bound_tasks_are_told},
	{"a_policy_that_is_not_ready_is_not_asked",
	 a_policy_that_is_not_ready_is_not_asked},
	{"a_policy_begins_with_what_its_context_was_given",
	 a_policy_begins_with_what_its_context_was_given},
	{"a_worker_that_comes_is_not_forgotten", a_worker_that_comes_is_not_forgotten},
	{"workers_that_come_together_are_told_together",
	 workers_that_come_together_are_told_together},
	{"the_policy_can_be_asked_for", the_policy_can_be_asked_for},
	{"priorities_are_the_policys", priorities_are_the_policys},
	{"collections_are_walked", collections_are_walked},
	{"costs_are_told", costs_are_told},
	{"locks_of_workers_exclude", locks_of_workers_exclude},
	{0},
};

int main(void)
{
	return claims_run(claims, 0);
}
