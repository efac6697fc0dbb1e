/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/task.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/bound/bound.h"
#include "core/task/blocked.h"
#include "core/task/bundle.h"
#include "core/task/callback.h"
#include "core/task/codelet.h"
#include "core/data/coherency.h"
#include "core/data/redux.h"
#include "core/data/views.h"
#include "core/task/deps.h"
#include "core/task/expect.h"
#include "core/task/exclusion.h"
#include "core/task/fold.h"
#include "core/lasting.h"
#include "core/task/links.h"
#include "core/sched/contexts.h"
#include "core/sched/observer.h"
#include "core/wait.h"

enum { TASK_MAGIC = 42 };

const char *task_name(const struct starpu_task *task)
{
	if (task->name)
		return task->name;
	if (task->cl && task->cl->name)
		return task->cl->name;
	if (task->cl && task->cl->model && task->cl->model->symbol)
		return task->cl->model->symbol;
	return "unknown";
}

static void task_start(struct job *job, struct ready *ready);

static void task_fetched(struct job *job, struct worker *worker)
{
	(void)job;
	plat_worker_wake(worker);
}

static void task_describe(const struct job *job, char *text, size_t bytes)
{
	struct starpu_task folded;
	const struct starpu_task *task = job->task;

	if (job->is_folded) {
		fold_look(job, &folded);
		task = &folded;
	}
	snprintf(text, bytes, "task \"%.80s\" (%lu)", task_name(task), job->id);
}

const struct job_ops task_ops = {
	.start = task_start, .fetched = task_fetched, .describe = task_describe};

/* ---- creation -------------------------------------------------------- */

struct job *task_job(struct node *node, struct starpu_task *task)
{
	struct job *job = task->starpu_private;

	if (!job) {
		job = job_new(node, &task_ops, 0);
		job->task = task;
		task->starpu_private = job;
	}
	return job;
}

static void free_arguments(struct starpu_task *task)
{
	if (task->cl_arg_free)
		free(task->cl_arg);
	if (task->cl_ret_free)
		free(task->cl_ret);
	if (task->callback_arg_free)
		free(task->callback_arg);
	if (task->epilogue_callback_arg_free)
		free(task->epilogue_callback_arg);
	if (task->prologue_callback_arg_free)
		free(task->prologue_callback_arg);
	if (task->prologue_callback_pop_arg_free)
		free(task->prologue_callback_pop_arg);
	free(task->profiling_info);
}

void task_destroy(struct starpu_task *task)
{
	struct job *job = task->starpu_private;

	if (orr_load_ptr((void **)&task->bundle))
		bundle_leave(task);
	free_arguments(task);
	free(task->dyn_handles);
	free(task->dyn_interfaces);
	free(task->dyn_modes);
	free(task->dyn_nodes);
	if (!job || !job->block) {
		if (job)
			job_free(job);
		free(task);
		return;
	}
	task_free(job);
}

/* ---- submission ------------------------------------------------------ */

/* kinds: where the codelet has implementations. */
static int can_run_somewhere(struct node *node, struct starpu_task *task, unsigned where,
			     unsigned kinds)
{
	unsigned implementation;

	if (where == STARPU_NOWHERE)
		return 1;
	if (!task->cl->can_execute && !task->execute_on_a_specific_worker &&
	    !task->workerids)
		return (where & node->arch_mask & kinds) != 0;
	for (int i = 0; i < node->nworkers; i++)
		if (worker_can_run(&node->workers[i], task, &implementation))
			return 1;
	return 0;
}

static void refuse_mode(struct job *job, int i, unsigned mode) __attribute__((noreturn));

static void refuse_mode(struct job *job, int i, unsigned mode)
{
	orr_die(job->node->rank,
		"task \"%s\": buffer %d has access mode %#x: expected STARPU_R, "
		"STARPU_W, STARPU_RW, STARPU_SCRATCH or STARPU_REDUX in the codelet's "
		"modes[]",
		task_name(job->task), i, mode);
}

/* Of a contribution; one between nodes is an update in the node. */
static unsigned short reducing_mode(struct job *job, int i, unsigned mode)
{
	if (mode & STARPU_MPI_REDUX)
		return STARPU_RW | STARPU_COMMUTE;
	if (mode & (STARPU_RW | STARPU_SCRATCH))
		refuse_mode(job, i, mode);
	job->contributes = 1;
	return STARPU_REDUX;
}

static unsigned short checked_mode(struct job *job, int i, unsigned mode)
{
	mode &= ~(unsigned)(STARPU_SSEND | STARPU_MPI_SAME | STARPU_LOCALITY |
			    STARPU_NOFOOTPRINT | STARPU_UNMAP);
	if (mode & (STARPU_REDUX | STARPU_MPI_REDUX))
		return reducing_mode(job, i, mode);
	if (!(mode & (STARPU_RW | STARPU_SCRATCH)))
		refuse_mode(job, i, mode);
	return (unsigned short)mode;
}

static void refuse_handle(struct node *node, struct starpu_task *task, int i,
			  int nbuffers)
{
	starpu_data_handle_t datum = STARPU_TASK_GET_HANDLE(task, i);

	orr_die(node->rank,
		"task \"%s\": buffer %d is %s; register it first "
		"(starpu_*_data_register) and give the codelet's %d buffers",
		task_name(task), i,
		!datum                            ? "NULL"
		: data_is_registered(node, datum) ? "a handle that was given to "
						    "starpu_data_unregister_submit()"
						  : "a handle that was unregistered",
		nbuffers);
}

/* The handle is unusual, or wrong. */
static void check_handle(struct job *job, int i, int nbuffers)
{
	starpu_data_handle_t datum = STARPU_TASK_GET_HANDLE(job->task, i);

	if (!data_is_registered(job->node, datum) ||
	    ((data_flags(datum) & DATUM_DYING) && !job->is_inside))
		refuse_handle(job->node, job->task, i, nbuffers);
	job->uses_views = job->is_inside != INSIDE_HELD;
}

/* Returns the flags of all data together. */
static unsigned fill_accesses(struct job *job, struct starpu_task *task, int nbuffers)
{
	struct node *node = job->node;
	const starpu_data_handle_t *handles = STARPU_TASK_GET_HANDLES(task);
	const enum starpu_data_access_mode *modes = task_modes(task);
	const unsigned char *sequential = task->handles_sequential_consistency;
	unsigned char expected = node->machine->takes_turns ? job->block : BLOCK_NONE;
	unsigned all = 0;

	job->is_specific = task->cl && (task->specific_nodes || task->cl->specific_nodes);
	job_reserve(job, (unsigned)nbuffers);
	for (int i = 0; i < nbuffers; i++) {
		starpu_data_handle_t datum = handles[i];
		struct access *access = &job->accesses[i];
		unsigned flags =
			data_is_registered(node, datum) ? data_flags(datum) : DATUM_DYING;

		if (flags & (DATUM_DYING | DATUM_VIEWS))
			check_handle(job, i, nbuffers);
		*access = (struct access){.job = job,
					  .datum = datum,
					  .mode = checked_mode(job, i, modes[i]),
					  .expected = expected};
		orr_bring(orr_load_ptr((void **)&datum->body));
		if (access->mode & STARPU_SCRATCH)
			access_skip(access);
		else if (!(flags & DATUM_SEQUENTIAL) || (sequential && !sequential[i]))
			access->mode |= ACCESS_UNORDERED;
		all |= flags;
	}
	if (node->machine->takes_turns)
		deps_expect_last(job);
	if (job->contributes)
		redux_admit(job);
	if (nbuffers > 1)
		deps_merge(job);
	if (nbuffers > STARPU_NMAXBUFS && !task->dyn_interfaces)
		task->dyn_interfaces = orr_alloc((size_t)nbuffers * sizeof(void *));
	return all;
}

/* What can run nowhere else was refused. */
static int is_kernel_task(const struct job *job)
{
	return job->task->cl && job->where != STARPU_NOWHERE;
}

static void task_terminate(struct job *job, struct ready *ready);

/*
 * All turns and predecessors have come; or, again, exclusion has, see sched_pop(); or
 * all that the end waited for.
 */
static void task_start(struct job *job, struct ready *ready)
{
	struct starpu_task *task;
	struct node *node = job->node;
	int runs_kernel;

	job_unfold(job);
	task = job->task;
	runs_kernel = is_kernel_task(job);
	if (job->nests) {
		if (callback_later(node, job))
			return;
		if (job->state == JOB_DONE) {
			task_terminate(job, ready);
			return;
		}
	}
	if (!runs_kernel && orr_load(&job->exclusive) && !exclusion_take(job, ready))
		return;
	job_unblocked(job);
	if (job->state == JOB_READY) {
		sched_push(job);
		return;
	}
	deps_expect_data(job);
	job_move(job, JOB_READY);
	task->status = STARPU_TASK_READY;
	if (task->prologue_callback_func)
		callback_call(node, task, task->prologue_callback_func,
			      task->prologue_callback_arg);
	/* It may have become a task whose tries run: api/task_ft.c. */
	if (runs_kernel && job->where != STARPU_NOWHERE) {
		sched_push(job);
		return;
	}
	if (task->prologue_callback_pop_func)
		callback_call(node, task, task->prologue_callback_pop_func,
			      task->prologue_callback_pop_arg);
	task_finish(NULL, job, ready);
}

static void throttle(struct node *node)
{
	int limit = orr_load(&node->limit_max), least = orr_load(&node->limit_min);

	if (limit > 0 && node_nsubmitted(node) >= limit && callback_is_outside(node))
		node_wait_submitted(node, least > 0 ? least : limit - 1);
}

static void take_callers_context(struct starpu_task *task,
				 const struct plat_caller *caller)
{
	if (caller->context)
		task->sched_ctx = caller->context - 1u;
}

static inline void clamp_priority(struct starpu_task *task, int least, int most)
{
	if (task->priority < least)
		task->priority = least;
	if (task->priority > most)
		task->priority = most;
}

static void choose_sched(struct job *job, struct starpu_task *task)
{
	struct node *node = job->node;
	struct sched *sched;

	if (task->sched_ctx >= STARPU_NMAX_SCHED_CTXS && orr_load(&node->callers_choose))
		take_callers_context(task, plat_caller(node->plat));
	job->sched = sched = sched_of_task(node, task);
	task->sched_ctx = (unsigned)sched->id;
	if (sched->is_told) {
		if (sched->id != 0) {
			orr_add(&node->submitted_elsewhere, 1);
			contexts_job_submitted(sched);
		}
		if (sched->ops->submitted)
			sched->ops->submitted(sched, task);
	}
	clamp_priority(task, orr_load(&sched->min_priority),
		       orr_load(&sched->max_priority));
}

/* Returns the flags of its data together. */
static unsigned prepare_job(struct job *job, struct starpu_task *task, unsigned where)
{
	struct node *node = job->node;
	int nbuffers = task->cl ? (int)STARPU_TASK_GET_NBUFFERS(task) : task->nbuffers;
	unsigned flags;

	job->where = (unsigned short)where;
	orr_store(&job->exclusive, 0);
	job->nests = task->prologue_callback_func || !is_kernel_task(job);
	/* Before its scheduler counts it: see count_jobs() in core/node.c. */
	job->id = orr_next(&node->tasks_submitted);
	job_move(job, JOB_BLOCKED);
	job->shape = 0;
	task->status = STARPU_TASK_BLOCKED;
	flags = fill_accesses(job, task, nbuffers);
	choose_sched(job, task);
	if (orr_load(&node->lasting->profiling) && !task->profiling_info)
		task->profiling_info = orr_alloc(sizeof(*task->profiling_info));
	if (task->profiling_info)
		events_want_stamps(&node->events);
	observer_submitted(job);
	task_event(node, job, EVENT_TASK_SUBMITTED);
	return flags;
}

/*
 * From here on the job is the new run's.  While the task's callback runs, who terminates
 * it leaves the job to us; once he has begun to put it to rest, he needs it for a moment.
 */
static void begin_again(struct job *job)
{
	orr_lock(&job->lock);
	while (job->life == LIFE_ENDING &&
	       !orr_cas(&job->ending->state, ENDING_OPEN, ENDING_TAKEN)) {
		orr_unlock(&job->lock);
		orr_lock(&job->lock);
	}
	if (job->life == LIFE_SUBMITTED)
		orr_die(job->node->rank,
			"starpu_task_submit: task \"%s\" is submitted already and has "
			"not ended; submit it again after its end",
			task_name(job->task));
	job->life = LIFE_SUBMITTED;
	orr_unlock(&job->lock);
}

/* Take the data as they are: another task holds them for this one. */
static void give_up_turns(struct job *job)
{
	for (int i = 0; i < job->naccesses; i++)
		if (job->accesses[i].state == ACCESS_NEW)
			job->accesses[i].state = ACCESS_RELEASED;
	job->no_turns = 0;
}

/* The job's life has begun; where: who may run it.  again: it regenerates. */
static void submit_job(struct job *job, unsigned where, int again, struct ready *ready)
{
	struct starpu_task *task = job->task;
	struct node *node = job->node;
	unsigned flags = prepare_job(job, task, where);

	if (job->no_turns)
		give_up_turns(job);
	if (orr_load(&node->is_bounding))
		bound_task(job);
	if (job->point || task->use_tag)
		links_arm(job, again);
	if (flags & DATUM_OUTDATED)
		deps_settle(job, task->sequential_consistency);
	if (job->uses_views)
		views_submit(job, task->sequential_consistency, ready);
	else if (job->naccesses)
		deps_submit(job, task->sequential_consistency, ready);
	if (orr_load(&job->missing) > 1) {
		job_blocked(job);
		node_blocked(node);
		if (job->may_fold)
			fold_away(job);
	}
	job_satisfy(job, ready);
}

static void submit(struct node *node, struct starpu_task *task, unsigned where)
{
	struct ready ready = {0};
	struct job *job = task_job(node, task);

	if (job->life == LIFE_NEW)
		job->life = LIFE_SUBMITTED;
	else
		begin_again(job);
	submit_job(job, where, 0, &ready);
	ready_run(node, &ready);
}

/* As a task that is not detached, for the time of its run.  Who drops it meanwhile, its
 * callback for example, sees by the gate that it is waited for. */
static void submit_and_wait(struct node *node, struct starpu_task *task, unsigned where)
{
	int detach = task->detach, destroy = task->destroy, is_dropped;
	struct job *job = task_job(node, task);
	struct plat_gate gate;

	/* Before the submission: workers read the flags beside these. */
	task->detach = 0;
	task->destroy = 0;
	task->synchronous = 0;
	plat_gate_init(&gate);
	orr_lock(&job->lock);
	job->gate = &gate;
	orr_unlock(&job->lock);
	submit(node, task, where);
	if (!plat_gate_is_open(&gate))
		wait_at(node, &gate, WAIT_TASK, task);
	orr_lock(&job->lock);
	job->gate = NULL;
	is_dropped = job->is_dropped;
	orr_unlock(&job->lock);
	task->synchronous = 1;
	task->detach = detach != 0;
	if (destroy || is_dropped)
		task_destroy(task);
}

/* 0, and who may run it; or -ENODEV. */
static int check_task(struct node *node, struct starpu_task *task, unsigned *where)
{
	unsigned kinds;

	if (task->magic != TASK_MAGIC)
		orr_die(node->rank,
			"starpu_task_submit: task %p is not initialised; use "
			"starpu_task_create() or starpu_task_init()",
			(void *)task);
	*where = 0;
	if (!task->cl)
		return 0;
	kinds = codelet_kinds(task->cl);
	*where = task_where_of(task, kinds);
	return can_run_somewhere(node, task, *where, kinds) ? 0 : -ENODEV;
}

int task_submit(struct node *node, struct starpu_task *task)
{
	unsigned where;

	if (check_task(node, task, &where) < 0)
		return -ENODEV;
	throttle(node);
	if (task->synchronous)
		submit_and_wait(node, task, where);
	else
		submit(node, task, where);
	return 0;
}

int task_submit_inserted(struct node *node, struct starpu_task *task)
{
	struct job *job = task->starpu_private;

	job->may_fold = job->block > BLOCK_WHOLE;
	return task_submit(node, task);
}

static int submit_inside(struct node *node, struct starpu_task *task, int inside)
{
	unsigned where;

	if (check_task(node, task, &where) < 0)
		return -ENODEV;
	task_job(node, task)->is_inside = (unsigned char)inside;
	submit(node, task, where);
	return 0;
}

int task_submit_inside(struct node *node, struct starpu_task *task)
{
	return submit_inside(node, task, INSIDE_HELD);
}

int task_submit_ours(struct node *node, struct starpu_task *task)
{
	return submit_inside(node, task, INSIDE_OURS);
}

int task_submit_nodeps(struct node *node, struct starpu_task *task)
{
	unsigned where;

	if (check_task(node, task, &where) < 0)
		return -ENODEV;
	task_job(node, task)->no_turns = 1;
	submit(node, task, where);
	return 0;
}

/* ---- explicit dependencies ------------------------------------------- */

void task_declare_deps(struct node *node, struct starpu_task *task, unsigned n,
		       struct starpu_task **before)
{
	struct job *job = task_job(node, task);

	for (unsigned i = 0; i < n; i++)
		links_declare(job, task_job(node, before[i]), 0);
}

void task_declare_end_deps(struct node *node, struct starpu_task *task, unsigned n,
			   struct starpu_task **before)
{
	struct job *job = task_job(node, task);

	for (unsigned i = 0; i < n; i++)
		links_declare(job, task_job(node, before[i]), 1);
}

void task_end_dep_release(struct job *job)
{
	struct ready ready = {0};

	job_end_dep_release(job, &ready);
	ready_run(job->node, &ready);
}

/* ---- the end --------------------------------------------------------- */

int task_wait(struct node *node, struct starpu_task *task)
{
	struct job *job = task->starpu_private;
	struct plat_gate gate;
	int has_ended, ret;

	if (task->detach || task->synchronous || !job)
		return -EINVAL;
	plat_gate_init(&gate);
	orr_lock(&job->lock);
	has_ended = job->life == LIFE_ENDED;
	job->gate = has_ended ? NULL : &gate;
	orr_unlock(&job->lock);
	ret = has_ended ? 0 : wait_at(node, &gate, WAIT_TASK, task);
	orr_lock(&job->lock);
	job->gate = NULL;
	orr_unlock(&job->lock);
	if (ret == 0 && (task->destroy || job->is_dropped))
		task_destroy(task);
	return ret;
}

void task_set_destroy(struct starpu_task *task)
{
	struct job *job = task->starpu_private;
	int life = LIFE_NEW;

	if (job) {
		orr_lock(&job->lock);
		life = job->life;
		job->is_dropped = life == LIFE_SUBMITTED || life == LIFE_ENDING;
		orr_unlock(&job->lock);
	}
	if (life == LIFE_NEW)
		task->destroy = 1;
	else if (life == LIFE_ENDED)
		task_destroy(task);
}

int task_destroy_at_end(struct starpu_task *task)
{
	struct job *job = task->starpu_private;
	int is_ending;

	if (!job)
		return 0;
	orr_lock(&job->lock);
	is_ending = job->life == LIFE_ENDING;
	if (is_ending && job->gate)
		job->is_dropped = 1; /* Who waits for it destroys it. */
	else if (is_ending)
		task->destroy = task->detach = 1;
	orr_unlock(&job->lock);
	return is_ending;
}

static void (*callback_of(const struct starpu_task *task))(void *arg)
{
	return task->callback_func || !task->cl ? task->callback_func
						: task->cl->callback_func;
}

/*
 * The run is over; the job is locked, and no more after.  A task that is neither
 * destroyed here nor regenerates is its owner's from the unlock on: he may be freeing it.
 */
static void put_to_rest(struct job *job, struct ready *ready)
{
	struct starpu_task *task = job->task;
	struct plat *plat = job->node->plat;
	struct plat_gate *gate;
	int destroy, again;

	again = task->regenerate;
	destroy = !again && task->detach && (task->destroy || job->is_dropped);
	job->life = again ? LIFE_SUBMITTED : LIFE_ENDED;
	gate = again || destroy ? NULL : job->gate;
	orr_unlock(&job->lock);
	if (gate)
		plat_gate_open(plat, gate);
	else if (again)
		submit_job(job, task->cl ? task_where(task) : 0, 1, ready);
	else if (destroy)
		task_destroy(task);
}

/* The task can be submitted again as it is. */
static void renew_job(struct job *job, struct ending *ending)
{
	job->missing = 1;
	job->end_deps = 1;
	job->worker = NULL;
	job->ending = ending;
}

/* Who waited for the data or the task goes on, and its callback is called. */
static void tell_end(struct job *job, struct ending *ending, struct ready *ready)
{
	struct starpu_task *task = job->task;
	struct node *node = job->node;
	void (*callback)(void *);

	if (ready->first)
		ready_run(node, ready);
	callback = callback_of(task);
	if (callback)
		callback_call(node, task, callback, task->callback_arg);
	/* From the callback on somebody may have submitted the task again. */
	if (!orr_cas(&ending->state, ENDING_OPEN, ENDING_CLOSED))
		return;
	task_event(node, job, EVENT_TASK_TERMINATED);
	orr_lock(&job->lock);
	put_to_rest(job, ready);
}

static void task_terminate(struct job *job, struct ready *ready)
{
	struct starpu_task *task = job->task;
	struct node *node = job->node;
	struct ending ending = {ENDING_OPEN};
	struct sched *sched = job->sched;
	int has_links, is_over;

	task->status = STARPU_TASK_FINISHED;
	if (orr_load_ptr((void **)&task->bundle))
		bundle_leave(task);
	deps_release(job, ready);
	renew_job(job, &ending);
	task_event(node, job, EVENT_TASK_CALLING);
	orr_lock(&job->lock);
	has_links = job->point != NULL;
	/* Most often: nobody hears of the end. */
	is_over = !has_links && !ready->first && !callback_of(task) &&
		  !events_on(&node->events);
	if (is_over) {
		put_to_rest(job, ready);
	} else {
		if (!has_links)
			job->life = LIFE_ENDING;
		orr_unlock(&job->lock);
		if (has_links)
			links_fire(job, ready);
		tell_end(job, &ending, ready);
	}
	if (sched->id != 0)
		contexts_job_ended(sched);
	node_ended(node);
}

void task_finish(struct worker *worker, struct job *job, struct ready *ready)
{
	struct starpu_task *task = job->task;
	struct node *node = job->node;

	task_event(node, job, EVENT_TASK_RELEASING);
	coherency_unpin(job);
	task_event(node, job, EVENT_TASK_RELEASED);
	if (task->epilogue_callback_func)
		callback_call(node, task, task->epilogue_callback_func,
			      task->epilogue_callback_arg);
	job_move(job, JOB_DONE);
	sched_finished(worker, job);
	if (worker && node_knobs(node)->codelet_profiling)
		codelet_count(worker, task->cl);
	/* Nobody adds to the last one: that would be after the end. */
	if (orr_load(&job->end_deps) == 1 || orr_add(&job->end_deps, -1) == 0)
		task_terminate(job, ready);
}
