/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/redux.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/data/data_ops.h"
#include "core/data/duplicate.h"
#include "core/data/partition.h"
#include "core/task/codelet.h"
#include "core/task/deps.h"
#include "core/task/fold.h"
#include "core/task/task.h"
#include "core/task/turns.h"

struct redux {
	starpu_data_handle_t datum;
	struct redux_methods methods;
	starpu_data_handle_t *own; /* by worker; NULL: no contribution since combined */
	struct job work;           /* between two groups */
	int priority;              /* of what waits for it */
	/* For tasks of the work, whose first datum is ours. */
	unsigned char out_of_order[2];
};

static struct redux *redux_of(starpu_data_handle_t handle)
{
	const struct data_extra *extra = data_find_extra(handle);

	return extra ? extra->redux : NULL;
}

const struct redux_methods *redux_methods(starpu_data_handle_t handle)
{
	struct redux *redux = redux_of(handle);

	return redux ? &redux->methods : NULL;
}

void redux_free(struct redux *redux)
{
	if (redux)
		free(redux->own);
	free(redux);
}

/* ---- the work between groups ----------------------------------------- */

/* The last task of the work has ended. */
static void go_on(void *arg)
{
	struct redux *redux = arg;
	struct node *node = redux->datum->node;
	struct ready ready = {0};

	deps_resume(redux->datum, &ready);
	ready_run(node, &ready);
}

/* The datum is locked. */
static void begin_work(struct redux *redux, const struct job_ops *ops,
		       const struct access *next, struct ready *ready)
{
	const struct starpu_task *task;

	job_unfold(next->job);
	task = next->job->task;
	redux->priority = task ? task->priority : STARPU_DEFAULT_PRIO;
	job_init(&redux->work, redux->datum->node, ops, NULL, 0);
	ready_append(ready, &redux->work);
}

static void describe_work(const struct job *job, char *text, size_t bytes)
{
	const struct redux *redux = ORR_CONTAINER(job, struct redux, work);
	char what[128];

	snprintf(text, bytes, "the reduction of %s",
		 data_describe(redux->datum, what, sizeof(what)));
}

/* A task of the work: its first datum, if it is ours, without a turn. */
static struct starpu_task *new_task(struct redux *redux, struct starpu_codelet *cl,
				    starpu_data_handle_t first)
{
	struct starpu_task *task = task_create(redux->datum->node);

	task->cl = cl;
	task->priority = redux->priority;
	task->handles[0] = first;
	if (first == redux->datum)
		task->handles_sequential_consistency = redux->out_of_order;
	return task;
}

static void submit(struct redux *redux, struct starpu_task *task)
{
	struct node *node = redux->datum->node;
	char what[128];

	if (task_submit_inside(node, task) < 0)
		orr_die(node->rank,
			"the reduction of %s: no worker can execute codelet \"%s\"; give "
			"the codelets of starpu_data_set_reduction_methods() an "
			"implementation for the workers there are",
			data_describe(redux->datum, what, sizeof(what)), task_name(task));
}

/* ---- combining ------------------------------------------------------- */

starpu_data_handle_t redux_give_scratch(struct starpu_task *task,
					starpu_data_handle_t like)
{
	if (task->cl->nbuffers < 3)
		return NULL;
	task->handles[2] = data_register(like->node, -1, like->interface, like->ops);
	task->handles[2]->flags |= DATUM_SEQUENTIAL;
	return task->handles[2];
}

static struct starpu_task *new_combination(struct redux *redux, starpu_data_handle_t into,
					   starpu_data_handle_t from)
{
	struct starpu_task *task = new_task(redux, redux->methods.combine, into);

	task->name = "redux_task_between_replicates";
	task->cl_arg = redux->methods.combine_arg;
	task->handles[1] = from;
	/* Not commuting, whatever the codelet says: the tree decides about the order. */
	task->dyn_modes = orr_alloc(3 * sizeof(*task->dyn_modes));
	task->dyn_modes[0] = STARPU_RW;
	task->dyn_modes[1] = STARPU_R;
	task->dyn_modes[2] = STARPU_SCRATCH;
	return task;
}

/*
 * Neighbours are combined, then neighbours of these, as StarPU does it: n - 1 tasks in
 * the order of a legal execution, the result in operands[0].  Turns on the workers' data
 * order the tasks; those on ours, which take none, follow each other.
 */
static void plan_tree(struct redux *redux, starpu_data_handle_t *operands, int n,
		      struct starpu_task **tasks)
{
	struct starpu_task *previous = NULL;
	int ntasks = 0;

	for (int step = 1; step < n; step *= 2) {
		for (int i = 0; i + step < n; i += 2 * step) {
			struct starpu_task *task =
				new_combination(redux, operands[i], operands[i + step]);

			tasks[ntasks++] = task;
			if (operands[i] != redux->datum)
				continue;
			if (previous)
				task_declare_deps(redux->datum->node, task, 1, &previous);
			previous = task;
		}
	}
}

/* Who has contributed; the datum itself first, if it has a value.  Gives the workers'
 * data up: the next contribution makes new ones. */
static int take_operands(struct redux *redux, starpu_data_handle_t *operands)
{
	starpu_data_handle_t datum = redux->datum;
	int n = 0;

	orr_lock(&datum->lock);
	if (datum->body->has_value)
		operands[n++] = datum;
	orr_unlock(&datum->lock);
	for (int i = 0; i < datum->node->nworkers; i++)
		if (redux->own[i])
			operands[n++] = redux->own[i];
	free(redux->own);
	redux->own = NULL;
	return n;
}

/* Events: who waits for the contributions waits for the last task that combines them. */
static void tell_last(const struct redux *redux, struct starpu_task *last)
{
	struct node *node = redux->datum->node;

	event_tell(node, NULL,
		   (struct event){.kind = EVENT_COMBINED,
				  .id = last ? (uintptr_t)task_job(node, last) : 0,
				  .value = (uintptr_t)redux->datum});
}

static void combine(struct redux *redux, starpu_data_handle_t *operands, int n)
{
	starpu_data_handle_t datum = redux->datum;
	struct node *node = datum->node;
	struct starpu_task **tasks = orr_alloc((size_t)n * sizeof(struct starpu_task *));
	int is_there = operands[0] == datum;
	struct copy_wish wish = {.asynchronous = 1,
				 .priority = redux->priority,
				 .out_of_order = redux->out_of_order,
				 .callback = go_on,
				 .arg = redux};

	plan_tree(redux, operands, n, tasks);
	tell_last(redux, n > 1 ? tasks[n - 2] : NULL);
	if (is_there) {
		tasks[n - 2]->callback_func = go_on;
		tasks[n - 2]->callback_arg = redux;
	}
	for (int i = 0; i < n - 1; i++) {
		starpu_data_handle_t scratch = redux_give_scratch(tasks[i], datum);

		submit(redux, tasks[i]);
		if (scratch)
			data_unregister_submit(node, scratch);
	}
	if (!is_there && duplicate_copy(node, datum, operands[0], &wish) < 0)
		orr_die(node->rank, "a reduction: no worker can copy its result");
	/* From here on redux may be gone. */
	for (int i = is_there; i < n; i++)
		data_unregister_submit(node, operands[i]);
	free(tasks);
}

static void combining_start(struct job *job, struct ready *ready)
{
	struct redux *redux = ORR_CONTAINER(job, struct redux, work);
	starpu_data_handle_t *operands = orr_alloc(((size_t)job->node->nworkers + 1) *
						   sizeof(starpu_data_handle_t));
	int n = take_operands(redux, operands);

	if (n == 0 || (n == 1 && operands[0] == redux->datum)) {
		tell_last(redux, NULL);
		deps_resume(redux->datum, ready);
	} else {
		combine(redux, operands, n);
	}
	free(operands);
}

static const struct job_ops combining_ops = {.start = combining_start,
					     .describe = describe_work};

/* The group counts as a user of the datum until it is combined. */
static int contributions_open(starpu_data_handle_t datum, struct access *first,
			      struct ready *ready)
{
	struct redux *redux = datum->body->extra->redux;

	(void)first;
	(void)ready;
	datum->body->npending++;
	redux->own = orr_alloc((size_t)datum->node->nworkers * sizeof(*redux->own));
	return 0;
}

static int contributions_close(starpu_data_handle_t datum, struct access *next,
			       struct ready *ready)
{
	datum->body->npending--; /* To be held back counts, too. */
	begin_work(datum->body->extra->redux, &combining_ops, next, ready);
	return 1;
}

/* ---- reading what nobody wrote --------------------------------------- */

static void init_start(struct job *job, struct ready *ready)
{
	struct redux *redux = ORR_CONTAINER(job, struct redux, work);
	struct starpu_task *task = new_task(redux, redux->methods.init, redux->datum);

	(void)ready;
	task->cl_arg = redux->methods.init_arg;
	task->dyn_modes = orr_alloc(sizeof(*task->dyn_modes));
	task->dyn_modes[0] = STARPU_W;
	task->callback_func = go_on;
	task->callback_arg = redux;
	task_job(job->node, task)->may_be_timeless = 1;
	submit(redux, task);
}

static const struct job_ops init_ops = {.start = init_start, .describe = describe_work};

static int readers_open(starpu_data_handle_t datum, struct access *first,
			struct ready *ready)
{
	struct data_body *body = datum->body;
	struct redux *redux = body->extra->redux;

	if (body->has_value || !redux->methods.init)
		return 0;
	begin_work(redux, &init_ops, first, ready);
	return 1;
}

static const struct turn_kind contributing = {
	.shares = 1, .opens = contributions_open, .closes = contributions_close};
static const struct turn_kind reading = {.shares = 1, .opens = readers_open};
static const struct turn_kind updating = {.shares = 0, .opens = readers_open};
static const struct turn_kind commuting = {
	.shares = 1, .excludes = 1, .opens = readers_open};

static const struct turn_kinds kinds = {{
	[STARPU_R] = &reading,
	[STARPU_R | STARPU_COMMUTE] = &reading,
	[STARPU_W] = &turn_write,
	[STARPU_RW] = &updating,
	[STARPU_W | STARPU_COMMUTE] = &commuting,
	[STARPU_RW | STARPU_COMMUTE] = &commuting,
	[STARPU_REDUX] = &contributing,
	/* Contributions out of order. */
	[STARPU_REDUX | STARPU_RW | STARPU_COMMUTE] = &commuting,
}};

static void set_one(starpu_data_handle_t handle, const struct redux_methods *methods)
{
	struct data_extra *extra = data_extra(handle);

	orr_lock(&handle->lock);
	if (!extra->redux) {
		extra->redux = orr_alloc(sizeof(*extra->redux));
		extra->redux->datum = handle;
		extra->redux->out_of_order[1] = 1;
	}
	extra->redux->methods = *methods;
	deps_line_up(handle);
	handle->body->kinds = &kinds;
	orr_unlock(&handle->lock);
}

static void set_all(starpu_data_handle_t handle, const struct redux_methods *methods)
{
	set_one(handle, methods);
	for (struct partition *partition = partition_first(handle); partition;
	     partition = partition->next)
		for (unsigned i = 0; i < partition->nparts; i++)
			set_all(partition->parts[i], methods);
}

void redux_set(starpu_data_handle_t handle, const struct redux_methods *methods)
{
	orr_lock(&handle->node->views_lock);
	set_all(handle, methods);
	orr_unlock(&handle->node->views_lock);
}

void redux_inherit(starpu_data_handle_t parent, starpu_data_handle_t part)
{
	const struct redux_methods *methods = redux_methods(parent);

	if (methods)
		set_one(part, methods);
}

/* ---- contributions --------------------------------------------------- */

static void refuse_mixture(const struct access *access)
{
	char what[128];

	orr_die(access->job->node->rank,
		"task \"%s\" contributes (STARPU_REDUX) to %s and accesses it otherwise, "
		"too; one task can only do one of both",
		task_name(access->job->task),
		data_describe(access->datum, what, sizeof(what)));
}

static void admit(struct access *access, int in_order)
{
	starpu_data_handle_t datum = access->datum;
	struct redux *redux = redux_of(datum);
	struct job *job = access->job;
	char what[128];

	if (!redux || !redux->methods.combine || !redux->methods.init)
		orr_die(job->node->rank,
			"task \"%s\" contributes (STARPU_REDUX) to %s, of which nobody "
			"said how to reduce it: call starpu_data_set_reduction_methods() "
			"with both codelets first",
			task_name(job->task), data_describe(datum, what, sizeof(what)));
	if (!in_order)
		access->mode |= STARPU_RW | STARPU_COMMUTE;
}

void redux_admit(struct job *job)
{
	int in_order = job->task->sequential_consistency && !job->no_turns;

	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];

		if (!(access->mode & STARPU_REDUX))
			continue;
		for (int k = 0; k < job->naccesses; k++)
			if (job->accesses[k].datum == access->datum &&
			    !(job->accesses[k].mode & STARPU_REDUX))
				refuse_mixture(access);
		admit(access, in_order && !(access->mode & ACCESS_UNORDERED));
	}
}

/* Events: the tasks that combine will wait for this one. */
static void tell_contribution(const struct job *job, starpu_data_handle_t own)
{
	event_tell(job->node, NULL,
		   (struct event){.kind = EVENT_TASK_USES,
				  .flag = EVENT_REDUCES | EVENT_OWN,
				  .id = job->id,
				  .value = (uintptr_t)own});
}

starpu_data_handle_t redux_target(const struct access *access)
{
	starpu_data_handle_t datum = access->datum, *own;

	if (access->mode & STARPU_RW)
		return datum;
	own = &redux_of(datum)->own[access->job->worker->id];
	if (!*own) {
		*own = data_register(datum->node, -1, datum->interface, datum->ops);
		(*own)->flags |= DATUM_SEQUENTIAL;
	}
	tell_contribution(access->job, *own);
	return *own;
}

/* ---- the neutral element --------------------------------------------- */

/* Links of a job that runs are its driver's. */
static struct job *contributor(const struct job *prelude)
{
	return prelude->task->callback_arg;
}

static void prelude_describe(const struct job *job, char *text, size_t bytes)
{
	snprintf(text, bytes, "the neutral element for task \"%.80s\"",
		 task_name(contributor(job)->task));
}

static const struct job_ops prelude_ops = {.describe = prelude_describe};

int redux_is_prelude(const struct job *job)
{
	return job->ops == &prelude_ops;
}

static struct job *new_prelude(struct worker *worker, const struct access *access)
{
	struct node *node = worker->node;
	const struct redux_methods *methods = redux_methods(access->datum);
	struct starpu_task *task;
	struct job *prelude;
	char what[128];

	if (!codelet_kernel(methods->init, worker->kind, 0))
		orr_die(node->rank,
			"task \"%s\" contributes to %s on a worker of type %s, for which "
			"the codelet that sets the neutral element has no "
			"implementation: give it one, or keep the task from there "
			"(where)",
			task_name(access->job->task),
			data_describe(access->datum, what, sizeof(what)),
			worker->kind->name);
	task = task_create(node);
	prelude = task_job(node, task);
	prelude->ops = &prelude_ops;
	task->callback_arg = access->job;
	prelude->worker = worker;
	prelude->may_be_timeless = 1;
	task->cl = methods->init;
	task->handles[0] = access->copy->datum;
	task->interfaces[0] = access->copy->interface;
	return prelude;
}

struct job *redux_prelude(struct worker *worker, struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];
		struct data_body *body;

		if (!(access->mode & STARPU_REDUX) || !access->copy)
			continue;
		body = access->copy->datum->body;
		if (!body->awaits_neutral)
			continue;
		body->awaits_neutral = 0;
		return new_prelude(worker, access);
	}
	return NULL;
}

struct job *redux_executed(struct job *prelude)
{
	struct job *job = contributor(prelude);

	prelude->worker->busy_s += prelude->duration_s;
	task_destroy(prelude->task);
	return job;
}
