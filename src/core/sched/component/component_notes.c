/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Notes of what models say: a task that is refused is offered again and again, and how
 * long it takes does not depend on when it is offered.
 *
 * A note is of one submission of one task, by class of workers; a model that learns makes
 * it void.  Only of tasks that do not tell the workers of a class apart.
 */
#include <stdlib.h>

#include "base/check.h"
#include "core/model/model_query.h"
#include "core/sched/component/component.h"
#include "core/task/task.h"

/* More than queues refuse in a row, however many priorities stand between them. */
enum { NOTES = 256 };

struct notes {
	int nclasses;
	struct note *notes[NOTES]; /* by number of the submission */
	int class_of[];            /* by worker */
};

struct notes *notes_new(const struct node *node)
{
	size_t n = (size_t)node->nworkers;
	struct notes *notes = orr_alloc(sizeof(*notes) + n * sizeof(notes->class_of[0]));
	const struct worker **firsts = orr_alloc((n + 1) * sizeof(*firsts));

	for (int i = 0; i < node->nworkers; i++) {
		int class = 0;

		while (class < notes->nclasses &&
		       !classes_are_like(firsts[class], &node->workers[i]))
			class ++;
		firsts[class] = &node->workers[i];
		if (class == notes->nclasses)
			notes->nclasses++;
		notes->class_of[i] = class;
	}
	free(firsts);
	return notes;
}

void notes_free(struct notes *notes)
{
	for (int i = 0; notes && i < NOTES; i++)
		free(notes->notes[i]);
	free(notes);
}

/* Before a task is submitted anything of it may change; some models learn without
 * counting it. */
static int is_kept(const struct job *job, const struct starpu_perfmodel *model)
{
	return job->state == JOB_READY &&
	       (!model || model->type != STARPU_MULTIPLE_REGRESSION_BASED);
}

struct note *note_of(struct tree *tree, const struct starpu_task *task)
{
	const struct job *job = task->starpu_private;
	unsigned nchanges =
		(unsigned)orr_load((const int *)&tree->node->settings->nmodel_changes);
	struct notes *notes = tree->notes;
	struct note **at, *note;

	if (!notes)
		notes = tree->notes = notes_new(tree->node);
	at = &notes->notes[job->id % NOTES];
	note = *at;
	if (note && note->job == job && note->id == job->id &&
	    note->nmodel_changes == nchanges && is_kept(job, task->cl->model))
		return note;
	if (!note)
		note = *at = orr_alloc(sizeof(*note) + (size_t)notes->nclasses *
							       sizeof(note->answers[0]));
	note->job = job;
	note->id = job->id;
	note->nmodel_changes = nchanges;
	note->asked = NULL;
	note->whole.component = NULL;
	note->class_of = notes->class_of;
	for (int i = 0; i < notes->nclasses; i++)
		note->answers[i].state = ANSWER_NONE;
	return note;
}

static void fill(struct answer *answer, struct worker *worker, struct starpu_task *task)
{
	struct job *job = task->starpu_private;

	answer->state = ANSWER_NO;
	if (!worker_can_run_job(worker, job))
		return;
	answer->us = component_fastest_us(worker, task);
	answer->implementation = job->implementation;
	answer->state = ANSWER_YES;
}

/* What other nodes say is not kept. */
const struct answer *note_fill(struct tree *tree, struct note *note,
			       struct worker *worker, struct starpu_task *task)
{
	struct answer *answer = &note->answers[note->class_of[worker->id]];

	if (worker->like->node != tree->node) {
		fill(&note->passing, worker, task);
		return &note->passing;
	}
	if (note->asked && model_are_alike(worker, note->asked, task))
		*answer = note->answers[note->class_of[note->asked->id]];
	else
		fill(answer, worker, task);
	note->asked = worker;
	return answer;
}
