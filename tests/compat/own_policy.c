/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A policy of the program's own: each worker has a list by priority, the shortest of them
 * gets a task, and who has none takes from another. */
#include <starpu.h>
#include <starpu_scheduler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCHAINS 12
#define LENGTH  25
#define LEAST   (-5)
#define MOST    5
#define ROWS    (MOST - LEAST + 1)

struct shelf {
	starpu_pthread_mutex_t mutex;
	struct starpu_task_list rows[ROWS]; /* the most urgent first */
	double load;
	unsigned ntasks;
};

struct library {
	struct shelf shelves[STARPU_NMAXWORKERS];
	unsigned nborrowed;
};

static unsigned npushed, npopped, nstarted, nended, njoined, nleft, ninits, ndeinits;

/* A relaxed worker lets others lock it while it waits for a mutex. */
static void shelf_lock(struct shelf *shelf)
{
	starpu_worker_relax_on();
	STARPU_PTHREAD_MUTEX_LOCK(&shelf->mutex);
	starpu_worker_relax_off();
}

static void library_init(unsigned ctx)
{
	struct library *library = calloc(1, sizeof(*library));
	unsigned i, row;

	for (i = 0; i < STARPU_NMAXWORKERS; i++) {
		STARPU_PTHREAD_MUTEX_INIT(&library->shelves[i].mutex, NULL);
		for (row = 0; row < ROWS; row++)
			starpu_task_list_init(&library->shelves[i].rows[row]);
	}
	starpu_sched_ctx_set_policy_data(ctx, library);
	starpu_sched_ctx_set_min_priority(ctx, LEAST);
	starpu_sched_ctx_set_max_priority(ctx, MOST);
	ninits++;
}

static void library_deinit(unsigned ctx)
{
	struct library *library = starpu_sched_ctx_get_policy_data(ctx);
	unsigned i;

	for (i = 0; i < STARPU_NMAXWORKERS; i++) {
		STARPU_ASSERT(library->shelves[i].ntasks == 0);
		STARPU_PTHREAD_MUTEX_DESTROY(&library->shelves[i].mutex);
	}
	free(library);
	ndeinits++;
}

static double length_on(struct starpu_task *task, unsigned worker, unsigned ctx)
{
	struct starpu_perfmodel_arch *arch = starpu_worker_get_perf_archtype(worker, ctx);
	double length = starpu_task_expected_length(task, arch, 0);

	return length > 0 ? length : 1;
}

static int library_push(struct starpu_task *task)
{
	unsigned ctx = task->sched_ctx, impl;
	struct library *library = starpu_sched_ctx_get_policy_data(ctx);
	struct starpu_worker_collection *workers =
		starpu_sched_ctx_get_worker_collection(ctx);
	struct starpu_sched_ctx_iterator it;
	struct shelf *shelf;
	double least = 0;
	int best = -1;

	workers->init_iterator_for_parallel_tasks(workers, &it, task);
	while (workers->has_next(workers, &it)) {
		int worker = workers->get_next(workers, &it);
		double load;

		if (!starpu_worker_can_execute_task_first_impl(worker, task, &impl))
			continue;
		starpu_task_set_implementation(task, impl);
		load = library->shelves[worker].load + length_on(task, worker, ctx);
		if (best < 0 || load < least) {
			best = worker;
			least = load;
		}
	}
	STARPU_ASSERT(best >= 0);
	shelf = &library->shelves[best];
	shelf_lock(shelf);
	starpu_task_list_push_back(&shelf->rows[MOST - task->priority], task);
	shelf->load += length_on(task, best, ctx);
	shelf->ntasks++;
	starpu_push_task_end(task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&shelf->mutex);
	(void)STARPU_ATOMIC_ADD(&npushed, 1);
	starpu_wake_worker_relax_light(best);
	return 0;
}

static struct starpu_task *find(struct shelf *shelf, unsigned reader)
{
	struct starpu_task *task;
	unsigned row, impl;

	for (row = 0; row < ROWS; row++)
		for (task = starpu_task_list_begin(&shelf->rows[row]);
		     task != starpu_task_list_end(&shelf->rows[row]);
		     task = starpu_task_list_next(task))
			if (starpu_worker_can_execute_task_first_impl(reader, task,
								      &impl)) {
				starpu_task_set_implementation(task, impl);
				starpu_task_list_erase(&shelf->rows[row], task);
				return task;
			}
	return NULL;
}

static struct starpu_task *take(struct shelf *shelf, unsigned owner, unsigned reader,
				unsigned ctx)
{
	struct starpu_task *task;

	shelf_lock(shelf);
	task = find(shelf, reader);
	if (task) {
		shelf->load -= length_on(task, owner, ctx);
		shelf->ntasks--;
	}
	STARPU_PTHREAD_MUTEX_UNLOCK(&shelf->mutex);
	return task;
}

static struct starpu_task *library_pop(unsigned ctx)
{
	struct library *library = starpu_sched_ctx_get_policy_data(ctx);
	struct starpu_worker_collection *workers =
		starpu_sched_ctx_get_worker_collection(ctx);
	unsigned self = starpu_worker_get_id_check();
	struct starpu_sched_ctx_iterator it;
	struct starpu_task *task;

	task = take(&library->shelves[self], self, self, ctx);
	workers->init_iterator(workers, &it);
	while (!task && workers->has_next(workers, &it)) {
		unsigned owner = workers->get_next(workers, &it);

		if (owner == self || library->shelves[owner].ntasks == 0)
			continue;
		task = take(&library->shelves[owner], owner, self, ctx);
		if (task)
			(void)STARPU_ATOMIC_ADD(&library->nborrowed, 1);
	}
	if (task)
		(void)STARPU_ATOMIC_ADD(&npopped, 1);
	return task;
}

static void library_pre_exec(struct starpu_task *task, unsigned ctx)
{
	STARPU_ASSERT(task->sched_ctx == ctx);
	(void)STARPU_ATOMIC_ADD(&nstarted, 1);
}

static void library_post_exec(struct starpu_task *task, unsigned ctx)
{
	STARPU_ASSERT(task->sched_ctx == ctx);
	(void)STARPU_ATOMIC_ADD(&nended, 1);
}

static void library_add(unsigned ctx, int *ids, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		STARPU_ASSERT(starpu_sched_ctx_contains_worker(ids[i], ctx));
	njoined += n;
}

static void library_remove(unsigned ctx, int *ids, unsigned n)
{
	(void)ctx;
	(void)ids;
	nleft += n;
}

static struct starpu_sched_policy library_policy = {
	.init_sched = library_init,
	.deinit_sched = library_deinit,
	.push_task = library_push,
	.pop_task = library_pop,
	.pre_exec_hook = library_pre_exec,
	.post_exec_hook = library_post_exec,
	.add_workers = library_add,
	.remove_workers = library_remove,
	.policy_name = "library",
	.policy_description = "a shelf for each worker",
	.worker_type = STARPU_WORKER_LIST,
};

static void step_cpu(void *buffers[], void *arg)
{
	unsigned *value = (unsigned *)STARPU_VARIABLE_GET_PTR(buffers[0]);
	unsigned i = (unsigned)(uintptr_t)arg;

	*value = *value * 31 + i;
}

static double step_cost(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
			unsigned nimpl)
{
	(void)task;
	(void)arch;
	(void)nimpl;
	return 20;
}

static struct starpu_perfmodel step_model = {.type = STARPU_PER_ARCH,
					     .arch_cost_function = step_cost,
					     .symbol = "compat_library_step"};
static struct starpu_codelet step_cl = {.cpu_funcs = {step_cpu},
					.cpu_funcs_name = {"step_cpu"},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.model = &step_model,
					.name = "step"};

static void submit_all(starpu_data_handle_t *handles)
{
	unsigned i, k;

	for (i = 0; i < LENGTH; i++)
		for (k = 0; k < NCHAINS; k++) {
			struct starpu_task *task = starpu_task_create();
			int ret;

			task->cl = &step_cl;
			task->handles[0] = handles[k];
			task->cl_arg = (void *)(uintptr_t)i;
			task->priority = (int)k % ROWS + LEAST;
			ret = starpu_task_submit(task);
			STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
		}
}

static int wrong(const unsigned *values)
{
	unsigned want = 1, i, bad = 0;

#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES"))
		return 0;
#endif
	for (i = 0; i < LENGTH; i++)
		want = want * 31 + i;
	for (i = 0; i < NCHAINS; i++)
		bad += values[i] != want;
	return bad != 0;
}

int main(void)
{
	starpu_data_handle_t handles[NCHAINS];
	unsigned values[NCHAINS], i, nworkers;
	struct starpu_conf conf;
	int ret;

	starpu_conf_init(&conf);
	conf.sched_policy_name = NULL;
	conf.sched_policy = &library_policy;
	ret = starpu_init(&conf);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_init");
	nworkers = starpu_worker_get_count();
	if (starpu_sched_ctx_get_sched_policy(0)->push_task != library_push)
		return 1;
	for (i = 0; i < NCHAINS; i++) {
		values[i] = 1;
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(values[i]));
	}
	submit_all(handles);
	starpu_task_wait_for_all();
	for (i = 0; i < NCHAINS; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
	printf("pushed %u, popped %u, started %u, ended %u, workers %d, "
	       "left %d, lives %u %u\n",
	       npushed, npopped, nstarted, nended, njoined == nworkers, (int)nleft,
	       ninits, ndeinits);
	if (npushed != NCHAINS * LENGTH || npopped != npushed || nstarted != npushed ||
	    nended != npushed || njoined != nworkers || ninits != 1 || ndeinits != 1)
		return 1;
	return wrong(values);
}
