/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Combined workers, and what a parallel task asks. */
#include <errno.h>

#include "api/api.h"
#include "base/check.h"
#include "core/sched/aliases.h"
#include "core/sched/sched.h"
#include "core/sched/sched_own.h"
#include "core/sched/teams.h"
#include "core/task/task.h"

unsigned starpu_combined_worker_get_count(void)
{
	const struct node *node = plat_self();

	return node ? (unsigned)orr_load(&node->teams->n) : 0;
}

static const struct team *team_at(int id)
{
	const struct node *node = plat_self();

	return node && id >= 0 ? teams_find(node, (unsigned)id) : NULL;
}

unsigned starpu_worker_is_combined_worker(int id)
{
	return team_at(id) != NULL;
}

/* Of the task that the calling worker runs. */
static struct gang_place place(void)
{
	struct node *node = plat_self();
	const struct worker *worker = node ? plat_current_worker(node->plat) : NULL;
	const struct starpu_task *task = node ? plat_caller(node->plat)->task : NULL;

	if (!worker || !task || !task->cl || !task->starpu_private)
		return (struct gang_place){0, 1, -1};
	return gang_place(worker, task->starpu_private);
}

int starpu_combined_worker_get_id(void)
{
	return place().number;
}

int starpu_combined_worker_get_size(void)
{
	return place().size;
}

int starpu_combined_worker_get_rank(void)
{
	return place().rank;
}

int starpu_combined_worker_assign_workerid(int nworkers, int workerid_array[])
{
	struct node *node = api_node(__func__);
	const struct team *team;

	api_given(__func__, "workerid_array", workerid_array);
	if (nworkers < 1 || nworkers > node->nworkers)
		return -EINVAL;
	for (int i = 0; i < nworkers; i++) {
		int id = workerid_array[i];

		if (id < 0 || id >= node->nworkers ||
		    node->workers[id].type != STARPU_CPU_WORKER)
			return -EINVAL;
		for (int k = 0; k < i; k++)
			if (workerid_array[k] == id)
				return -EINVAL;
	}
	team = teams_declare(node, workerid_array, nworkers);
	return team ? team->number : -ERANGE;
}

int starpu_combined_worker_get_description(int workerid, int *worker_size,
					   int **combined_workerid)
{
	const struct team *team = team_at(workerid);

	if (!team)
		return -EINVAL;
	if (worker_size)
		*worker_size = team->size;
	if (combined_workerid)
		*combined_workerid = (int *)team->ids;
	return 0;
}

int starpu_combined_worker_can_execute_task(unsigned workerid, struct starpu_task *task,
					    unsigned nimpl)
{
	struct node *node = api_node(__func__);
	const struct team *team = teams_find(node, workerid);

	api_given(__func__, "task", task);
	if (!team)
		return starpu_worker_can_execute_task(workerid, task, nimpl);
	if (!task->cl || task->cl->type == STARPU_SEQ ||
	    task->cl->max_parallelism < team->size)
		return 0;
	for (int i = 0; i < team->size; i++)
		if (!starpu_worker_can_execute_task((unsigned)team->ids[i], task, nimpl))
			return 0;
	return 1;
}

unsigned starpu_worker_is_slave_somewhere(int workerid)
{
	struct node *node = plat_self();

	return node && workerid >= 0 && workerid < node->nworkers &&
	       gang_follows(&node->workers[workerid]);
}

unsigned starpu_worker_is_blocked_in_parallel(int workerid)
{
	return starpu_worker_is_slave_somewhere(workerid);
}

void starpu_sched_find_all_worker_combinations(void)
{
	teams_declare_usual(api_node(__func__)->scheds[0]);
}

/* Of a policy's push_task or pop_task. */
static void expect_aliases(const char *func, struct starpu_task *task, int size)
{
	const struct node *node = api_node(func);
	struct job *job = task->starpu_private;
	int ncpus = 0;

	for (int i = 0; i < node->nworkers; i++)
		ncpus += node->workers[i].type == STARPU_CPU_WORKER;
	if (size < 1 || size > ncpus)
		orr_die(node->rank,
			"%s: task \"%s\" for %d workers; expected 1 to %d, the "
			"CPU workers",
			func, task_name(task), size, ncpus);
	if (!job || job->task != task || job->life != LIFE_SUBMITTED ||
	    job->state != JOB_READY || job->sched->ops != &sched_own)
		orr_die(node->rank,
			"%s: task \"%s\" is not one that push_task of a scheduling "
			"policy of the application's has been given and no worker has "
			"run; expected such a task itself, not an alias",
			func, task_name(task));
	aliases_expect(job, size);
}

void starpu_parallel_task_barrier_init(struct starpu_task *task, int workerid)
{
	const struct node *node = api_node(__func__);
	const struct team *team = team_at(workerid);

	api_given(__func__, "task", task);
	if (!team && (workerid < 0 || workerid >= node->nworkers))
		orr_die(node->rank,
			"%s: %d is the number of no worker and of no combined worker; "
			"see starpu_combined_worker_assign_workerid()",
			__func__, workerid);
	expect_aliases(__func__, task, team ? team->size : 1);
}

void starpu_parallel_task_barrier_init_n(struct starpu_task *task, int worker_size)
{
	api_given(__func__, "task", task);
	expect_aliases(__func__, task, worker_size);
}
