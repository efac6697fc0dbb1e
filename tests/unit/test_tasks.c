/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Tasks for policies of the application's: random pushes, looks and takes against a plain
 * list in order; and who looks for a task is not asked about those for other kinds. */
#include <stdlib.h>
#include <string.h>

#include "core/sched/tasks.h"
#include "core/task/job.h"
#include "seeds.h"

enum { MOST = 60, NSTEPS = 300, NLOOKS = 3 };
/* How often a task has no number: never, seldom. */
enum { NEVER, SELDOM };

static struct seeds seeds;
static struct tasks tasks;
static struct starpu_task task[MOST];
static struct job job[MOST];
static int wants[MOST]; /* does() says so */
static int nasked_of_others;

/* All that is there, in order. */
static struct {
	int64_t key;
	int task;
} order[MOST];
static int norder;

static struct {
	int unnumbered, nkinds, nkeys;
} shape;

static unsigned where_of(int i)
{
	return task[i].starpu_private == &job[i] ? job[i].where : ~0u;
}

/* ---- the plain model -------------------------------------------------- */

static void model_push(int i, int64_t key, int is_first)
{
	int at = 0;

	while (at < norder &&
	       (order[at].key > key || (!is_first && order[at].key == key)))
		at++;
	memmove(&order[at + 1], &order[at], (size_t)(norder++ - at) * sizeof(order[0]));
	order[at].key = key;
	order[at].task = i;
}

static void model_take(int i)
{
	int at = 0;

	while (order[at].task != i)
		at++;
	memmove(&order[at], &order[at + 1], (size_t)(--norder - at) * sizeof(order[0]));
}

/* Its place, or -1. */
static int model_find(unsigned kinds, int from_last)
{
	for (int k = 0; k < norder; k++) {
		int i = order[from_last ? norder - 1 - k : k].task;

		if (wants[i] && (kinds == TASKS_OF_ALL || (job[i].where & kinds)))
			return i;
	}
	return -1;
}

/* ---- both -------------------------------------------------------------- */

static int does(struct starpu_task *asked, void *kinds)
{
	int i = (int)(asked - task);
	unsigned wanted = *(unsigned *)kinds;

	nasked_of_others += !(where_of(i) & wanted);
	return wants[i] && (wanted == TASKS_OF_ALL || (job[i].where & wanted));
}

static unsigned kinds_of(void *kinds)
{
	return *(unsigned *)kinds;
}

/* The number of the task, or -1. */
static int number_of(const struct starpu_task *found)
{
	return found ? (int)(found - task) : -1;
}

static void expect(const char *what, int seen, int expected)
{
	if (seen != expected)
		seeds_bad(&seeds, what, (uint64_t)seen, (uint64_t)expected);
}

/* Ready, as a rule; else without a job, with that of another, or not submitted. */
static void begin(int i)
{
	task[i] = (struct starpu_task){.starpu_private = &job[i]};
	job[i] = (struct job){.task = &task[i], .state = JOB_READY};
	job[i].where = (unsigned short)(2 + 2 * (rand() % shape.nkinds));
	wants[i] = rand() % 3 > 0;
	if (shape.unnumbered == NEVER || rand() % 30 > 0)
		return;
	switch (rand() % 3) {
	case 0:
		task[i].starpu_private = NULL;
		break;
	case 1:
		task[i].starpu_private = &job[(i + 1) % MOST];
		break;
	default:
		job[i].state = JOB_NEW;
	}
}

static void look(void)
{
	unsigned kinds = rand() % 4 ? 2u << (rand() % 3) : TASKS_OF_ALL;
	int from_last = rand() % 2;
	int expected = model_find(kinds, from_last);

	nasked_of_others = 0;
	expect("the task that is found",
	       number_of(tasks_find(&tasks, from_last, does, kinds_of, &kinds)),
	       expected);
	if (shape.unnumbered == NEVER && shape.nkinds <= TASKS_LANES &&
	    nasked_of_others > 1)
		seeds_bad(&seeds, "how often it is asked about tasks for others",
			  (uint64_t)nasked_of_others, 1);
	expect("the first", number_of(tasks_first(&tasks)), norder ? order[0].task : -1);
	expect("the last", number_of(tasks_last(&tasks)),
	       norder ? order[norder - 1].task : -1);
	expect("how many there are", tasks.ntasks, norder);
}

static void step(int *is_in)
{
	int i = rand() % MOST;

	if (is_in[i]) {
		/* Its priority says nothing, nor does the job that it may have got. */
		if (!task[i].starpu_private)
			task[i].starpu_private = &job[i];
		tasks_take(&tasks, &task[i]);
		model_take(i);
	} else {
		int64_t key = rand() % shape.nkeys - 1;
		int is_first = rand() % 3 == 0;

		begin(i);
		tasks_push(&tasks, &task[i], key, is_first);
		model_push(i, key, is_first);
	}
	is_in[i] = !is_in[i];
}

static void run(void)
{
	int is_in[MOST] = {0};

	srand((unsigned)seeds.seed);
	shape.unnumbered = rand() % 2 ? SELDOM : NEVER;
	shape.nkinds = 1 + rand() % 7;
	shape.nkeys = 1 + rand() % 5;
	norder = 0;
	for (int k = 0; k < NSTEPS; k++) {
		step(is_in);
		for (int n = 0; n < NLOOKS; n++)
			look();
	}
	while (norder > 0) {
		int first = order[0].task;

		expect("the task that is popped", number_of(tasks_pop(&tasks)), first);
		model_take(first);
	}
	expect("one more", number_of(tasks_pop(&tasks)), -1);
	tasks_free(&tasks);
}

int main(int argc, char **argv)
{
	return seeds_run(&seeds, argc, argv, run,
			 "tasks are found as in a plain list, and those for others are "
			 "not asked about");
}
