/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <starpu.h>

#include "core/sched/contexts.h"

/*
 * Threads submit tasks to two schedulers while workers move between them: each task runs
 * once, whatever the policies are.  For ThreadSanitizer, too.
 */
enum { NWORKERS = 3, NTHREADS = 3, NTASKS = 400, NMOVES = 200 };

struct submitter {
	pthread_t thread;
	struct sched *scheds[2];
	unsigned seed;
	int times[NTASKS]; /* atomic */
	unsigned nrefused;
};

static void note(void *buffers[], void *arg)
{
	(void)buffers;
	orr_add((int *)arg, 1);
}

static struct starpu_codelet codelet = {.cpu_funcs = {note}, .name = "note"};

static void *submit(void *arg)
{
	struct submitter *submitter = arg;

	for (int i = 0; i < NTASKS; i++) {
		struct starpu_task *task = starpu_task_create();
		unsigned draw = (unsigned)rand_r(&submitter->seed);

		task->cl = &codelet;
		task->cl_arg = &submitter->times[i];
		task->priority = (int)(draw / 2 % 5) - 2;
		task->sched_ctx = (unsigned)submitter->scheds[draw % 2]->id;
		submitter->nrefused += starpu_task_submit(task) != 0;
	}
	return NULL;
}

/* Each scheduler keeps worker 0 or 1 at the end, so that nothing waits for ever. */
static void move_workers(struct node *node, struct sched *scheds[2])
{
	unsigned seed = 7;

	for (int i = 0; i < NMOVES; i++) {
		unsigned draw = (unsigned)rand_r(&seed);

		struct worker *worker = &node->workers[draw % NWORKERS];
		struct sched *sched = scheds[draw / 8 % 2];

		if (draw % 3 == 0)
			contexts_move(worker, sched);
		else if (draw % 3 == 1)
			contexts_add(sched, &worker->id, 1);
		else
			contexts_remove(sched, &worker->id, 1);
		starpu_usleep((float)(draw / 16 % 50));
	}
	contexts_move(&node->workers[0], scheds[0]);
	contexts_move(&node->workers[1], scheds[1]);
}

static int play(const struct sched_ops *first, const struct sched_ops *second)
{
	struct submitter *submitters = calloc(NTHREADS, sizeof(*submitters));
	struct starpu_conf conf;
	struct sched *scheds[2];
	int nwrong = 0;

	starpu_conf_init(&conf);
	conf.ncpus = NWORKERS;
	conf.sched_policy_name = first->object.policy_name;
	if (starpu_init(&conf) != 0)
		exit(77);
	scheds[0] = plat_self()->scheds[0];
	scheds[1] = contexts_create(plat_self(), second,
				    (struct starpu_sched_policy *)&second->object);
	contexts_start(scheds[1]);
	for (int i = 0; i < NTHREADS; i++) {
		submitters[i].scheds[0] = scheds[0];
		submitters[i].scheds[1] = scheds[1];
		submitters[i].seed = (unsigned)i + 1;
		pthread_create(&submitters[i].thread, NULL, submit, &submitters[i]);
	}
	move_workers(plat_self(), scheds);
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(submitters[i].thread, NULL);
	starpu_task_wait_for_all();
	nwrong += contexts_delete(scheds[1], scheds[0]) != 0;
	starpu_shutdown();
	for (int i = 0; i < NTHREADS; i++) {
		nwrong += (int)submitters[i].nrefused;
		for (int k = 0; k < NTASKS; k++)
			nwrong += submitters[i].times[k] != 1;
	}
	free(submitters);
	return nwrong;
}

int main(void)
{
	int nfailed = 0;

	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	for (int i = 0; sched_at(i); i++) {
		const struct sched_ops *second =
			sched_at(i + 1) ? sched_at(i + 1) : sched_at(0);
		int nwrong = play(sched_at(i), second);

		printf("%s %s_and_%s_share_workers_that_move%s\n",
		       nwrong ? "FAIL" : "PASS", sched_at(i)->object.policy_name,
		       second->object.policy_name,
		       nwrong ? ": a task did not run once" : "");
		nfailed += nwrong != 0;
	}
	return nfailed != 0;
}
