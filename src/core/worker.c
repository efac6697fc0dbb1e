/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/worker.h"

#include <limits.h>

#include "base/check.h"
#include "core/task/callback.h"
#include "core/task/codelet.h"
#include "core/data/coherency.h"
#include "core/data/convert.h"
#include "core/data/redux.h"
#include "core/energy.h"
#include "core/hooks.h"
#include "core/lasting.h"
#include "core/outside.h"
#include "core/sched/observer.h"
#include "core/sched/sched.h"
#include "core/sched/teams.h"
#include "core/task/task.h"
#include "core/task/transaction.h"

/* ---- who can run what ------------------------------------------------ */

static int has_implementation(const struct worker *worker,
			      const struct starpu_codelet *cl, unsigned i)
{
	return codelet_kernel(cl, worker->kind, i) != NULL;
}

int worker_is_listed(const struct worker *worker, const struct starpu_task *task)
{
	unsigned id = (unsigned)worker->id;

	return !task->workerids || (id / 32 < task->workerids_len &&
				    (task->workerids[id / 32] >> (id % 32)) & 1);
}

static int is_allowed(const struct worker *worker, const struct starpu_task *task)
{
	if (task->execute_on_a_specific_worker) {
		const struct team *team = teams_find(worker->node, task->workerid);

		return team ? team_has(team, worker)
			    : task->workerid == (unsigned)worker->id;
	}
	return worker_is_listed(worker, task);
}

static int can_execute(const struct worker *worker, struct starpu_task *task, unsigned i)
{
	OUTSIDE(outside);
	int can;

	outside_enter(&outside, worker->node, "can_execute of a codelet");
	can = task->cl->can_execute((unsigned)worker->id, task, i);
	outside_end(&outside);
	return can;
}

unsigned worker_next_implementation(const struct worker *worker, struct starpu_task *task,
				    unsigned i)
{
	struct starpu_codelet *cl = task->cl;

	for (; i < STARPU_MAXIMPLEMENTATIONS; i++)
		if (has_implementation(worker, cl, i) &&
		    (!cl->can_execute || can_execute(worker, task, i)))
			break;
	return i;
}

int worker_can_run(const struct worker *worker, struct starpu_task *task,
		   unsigned *implementation)
{
	struct starpu_codelet *cl = task->cl;
	unsigned where =
		task->where != -1 ? (unsigned)task->where : codelet_stated_where(cl);

	/* Without a word of theirs, the implementations say where. */
	if ((where || task->where != -1) &&
	    !(where & STARPU_WORKER_TO_MASK(worker->type)))
		return 0;
	if (!is_allowed(worker, task))
		return 0;
	*implementation = worker_next_implementation(worker, task, 0);
	return *implementation < STARPU_MAXIMPLEMENTATIONS;
}

int worker_can_run_job(const struct worker *worker, const struct job *job)
{
	struct starpu_task *task = job->task;
	unsigned implementation;

	if (!(job->where & STARPU_WORKER_TO_MASK(worker->type)))
		return 0;
	/* The usual task: nobody else is to be asked. */
	if (!task->cl->can_execute && !task->workerids &&
	    !task->execute_on_a_specific_worker &&
	    has_implementation(worker, task->cl, 0))
		return 1;
	return worker_can_run(worker, task, &implementation);
}

void worker_choose_implementation(const struct worker *worker, struct job *job)
{
	struct starpu_codelet *cl = job->task->cl;
	unsigned implementation = 0;

	/* can_execute may have changed its mind since: then the first one. */
	if ((cl->can_execute || !has_implementation(worker, cl, 0)) &&
	    !worker_can_run(worker, job->task, &implementation))
		implementation = 0;
	job->implementation = (unsigned char)implementation;
}

kernel_t worker_kernel(const struct worker *worker, const struct job *job)
{
	if (transaction_skips(job->task))
		return NULL;
	return codelet_kernel(job->task->cl, worker->kind, job->implementation);
}

/* ---- tasks bound to a worker ------------------------------------------ */

static int is_ordered(const struct job *job)
{
	return job->task->workerorder && job->task->execute_on_a_specific_worker;
}

/* Whose turn it is goes before all others; the worker is locked. */
static void bring_ordered(struct worker *worker)
{
	struct job *job = worker->ordered;

	if (!job || job->task->workerorder != worker->next_order)
		return;
	worker->ordered = job->next;
	levels_push(&worker->bound, job, INT_MAX);
	orr_store(&worker->nbound, worker->nbound + 1);
}

static void refuse_order(const struct worker *worker, const struct job *job)
	__attribute__((noreturn));

static void refuse_order(const struct worker *worker, const struct job *job)
{
	orr_die(worker->node->rank,
		"task \"%s\" has workerorder %u on worker %d, where another task had it "
		"already; expected each number from 1 on once, and now at least %u",
		task_name(job->task), job->task->workerorder, worker->id,
		worker->next_order);
}

static void bind_in_order(struct worker *worker, struct job *job)
{
	struct job **at = &worker->ordered;
	unsigned order = job->task->workerorder;

	while (*at && (*at)->task->workerorder < order)
		at = &(*at)->next;
	if (order < worker->next_order || (*at && (*at)->task->workerorder == order))
		refuse_order(worker, job);
	job->next = *at;
	*at = job;
	bring_ordered(worker);
}

/* It starts: now it is the next one's turn. */
static void pass_turn(struct worker *worker)
{
	orr_lock(&worker->lock);
	worker->next_order++;
	bring_ordered(worker);
	orr_unlock(&worker->lock);
}

unsigned worker_missing_order(struct worker *worker)
{
	unsigned missing;

	orr_lock(&worker->lock);
	missing = worker->ordered ? worker->next_order : 0;
	orr_unlock(&worker->lock);
	return missing;
}

void worker_bind(struct worker *worker, struct job *job, double expected_s)
{
	orr_lock(&worker->lock);
	if (is_ordered(job)) {
		bind_in_order(worker, job);
	} else {
		levels_push(&worker->bound, job, job->task->priority);
		orr_store(&worker->nbound, worker->nbound + 1);
	}
	/* It may come again, when its data were not free at its first turn. */
	if (expected_s >= 0 && !job->is_expected) {
		job->is_expected = 1;
		job->predicted_s = expected_s;
		worker->expected_s += expected_s;
		orr_store(&worker->nexpected, worker->nexpected + 1);
	}
	orr_unlock(&worker->lock);
}

void worker_bind_local(struct worker *worker, struct job *job, int is_next)
{
	orr_lock(&worker->lock);
	if (is_ordered(job)) {
		bind_in_order(worker, job);
	} else {
		if (is_next)
			levels_push_first(&worker->bound, job, INT_MAX);
		else
			levels_push(&worker->bound, job, STARPU_DEFAULT_PRIO);
		orr_store(&worker->nbound, worker->nbound + 1);
	}
	orr_unlock(&worker->lock);
}

struct job *worker_next_bound(struct worker *worker)
{
	struct job *job;

	if (!orr_load(&worker->nbound))
		return NULL;
	orr_lock(&worker->lock);
	job = levels_pop(&worker->bound);
	if (job)
		orr_store(&worker->nbound, worker->nbound - 1);
	orr_unlock(&worker->lock);
	if (job && !job->is_expected)
		worker_choose_implementation(worker, job);
	return job;
}

double worker_bound_s(struct worker *worker)
{
	double expected_s;

	if (orr_load(&worker->nexpected) == 0)
		return 0;
	orr_lock(&worker->lock);
	expected_s = worker->expected_s;
	orr_unlock(&worker->lock);
	return expected_s;
}

/* It waits no longer. */
static void forget_expected(struct worker *worker, struct job *job)
{
	orr_lock(&worker->lock);
	job->is_expected = 0;
	worker->expected_s -= job->predicted_s;
	orr_store(&worker->nexpected, worker->nexpected - 1);
	if (worker->nexpected == 0)
		worker->expected_s = 0; /* No rounding stays. */
	orr_unlock(&worker->lock);
}

/* ---- what is run beside tasks ----------------------------------------- */

void worker_run_aside(struct worker *worker, struct job *job)
{
	struct job **last = &worker->aside;

	job->next = NULL;
	orr_lock(&worker->lock);
	while (*last)
		last = &(*last)->next;
	orr_swap_ptr((void **)last, job);
	orr_unlock(&worker->lock);
	plat_worker_wake(worker);
}

static void run_aside(struct worker *worker)
{
	struct job *job;

	orr_lock(&worker->lock);
	job = worker->aside;
	orr_swap_ptr((void **)&worker->aside, job->next);
	orr_unlock(&worker->lock);
	worker->running = job;
	if (!worker->driver->execute(worker, job))
		return;
	worker->running = NULL;
	convert_executed(worker, job);
}

/* ---- waking ---------------------------------------------------------- */

void workers_wake(const struct sched *sched, unsigned where, int all)
{
	SCHED_EACH_WORKER(worker, sched)
	{
		if (worker_sleeps(worker) &&
		    (where & STARPU_WORKER_TO_MASK(worker->type)) &&
		    plat_worker_wake(worker) && !all)
			return;
	}
}

void workers_rouse(struct node *node)
{
	orr_fence();
	for (int i = 0; i < node->nworkers; i++)
		plat_worker_wake(&node->workers[i]);
}

void worker_tell_rest(struct worker *worker, int is_asleep)
{
	struct rest_calls *calls = &worker->node->rest_calls;
	void (*call)(unsigned worker);
	OUTSIDE(outside);

	if (worker->told_rest == is_asleep)
		return;
	worker->told_rest = (unsigned char)is_asleep;
	orr_lock(&calls->lock);
	call = is_asleep ? calls->going_to_sleep : calls->waking_up;
	orr_unlock(&calls->lock);
	if (!call)
		return;
	outside_begin(&outside, worker->node, &worker->caller,
		      "the function told that a worker sleeps or wakes up");
	call((unsigned)worker->id);
	outside_end(&outside);
}

/* ---- one step -------------------------------------------------------- */

static void fill_interfaces(struct job *job)
{
	struct starpu_task *task = job->task;
	void **interfaces = task_interfaces(task);

	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];

		/* Merged into an earlier access to the same datum. */
		if (!access->copy && access->skipped && !(access->mode & STARPU_SCRATCH))
			access = access->next;
		/* Without a copy: STARPU_SPECIFIC_NODE_NONE. */
		interfaces[i] = access->copy ? access->copy->interface : NULL;
	}
}

/* Idle is who has no task, also none that runs or waits for its data. */
static void tell_idle(struct worker *worker, int is_idle)
{
	if (worker->told_idle == is_idle)
		return;
	worker->told_idle = (unsigned char)is_idle;
	node_event(worker->node, worker, is_idle ? EVENT_WORKER_IDLE : EVENT_WORKER_BUSY);
}

/* Take the job into the pipeline and have its data brought. */
static void take(struct worker *worker, struct job *job)
{
	worker->pipeline[worker->npipeline] = job;
	orr_store(&worker->npipeline, worker->npipeline + 1);
	job->worker = worker;
	observer_taken(worker, job);
	if (events_on(&worker->node->events)) {
		tell_idle(worker, 0);
		task_tell(job, EVENT_TASK_TAKEN);
	}
	job_move(job, JOB_FETCHING);
	if (job->task->prologue_callback_pop_func)
		callback_call(worker->node, job->task,
			      job->task->prologue_callback_pop_func,
			      job->task->prologue_callback_pop_arg);
	task_event(worker->node, job, EVENT_TASK_FETCHING);
	coherency_fetch(job, worker->memory);
}

static void leave_pipeline(struct worker *worker, struct job *job)
{
	int i = 0;

	while (worker->pipeline[i] != job)
		i++;
	orr_store(&worker->npipeline, worker->npipeline - 1);
	for (; i < worker->npipeline; i++)
		worker->pipeline[i] = worker->pipeline[i + 1];
}

static void finish(struct worker *worker, struct job *job)
{
	struct ready ready = {0};

	leave_pipeline(worker, job);
	sched_ended(worker, job);
	if (gang_of(worker, job)) {
		gang_tell_end(worker, gang_of(worker, job));
		gang_disband(worker);
	}
	observer_executed(job);
	task_event(worker->node, job, EVENT_TASK_ENDED);
	if (events_on(&worker->node->events))
		task_tell_work(job);
	if (job->task->cl && job->task->cl->energy_model)
		energy_learn(worker, job);
	orr_note(&worker->executed, worker->executed + 1);
	worker->busy_s += job->duration_s;
	if (orr_load(&worker->node->tells_executed))
		worker->node->on_executed(worker->node, job);
	task_finish(worker, job, &ready);
	ready_run(worker->node, &ready);
}

/* The kernel has ended here; of a gang, perhaps not elsewhere. */
static void ended(struct worker *worker, struct job *job)
{
	struct gang *gang = gang_of(worker, job);

	if (gang && !gang_part_ended(gang)) {
		worker->running = job;
		worker->awaits = 1;
		return;
	}
	if (worker->running == job)
		worker->running = NULL;
	finish(worker, job);
}

static inline void execute(struct worker *worker, struct job *job)
{
	worker->running = job;
	if (gang_of(worker, job))
		gang_run(worker, gang_of(worker, job));
	if (worker->driver->execute(worker, job))
		ended(worker, job);
	else if (worker->driver->may_queue && worker->driver->may_queue(worker))
		worker->running = NULL; /* The next may be started beside it. */
}

/* Of a gang: call the kernel with the others, or go on when all have. */
static int go_on_with_gang(struct worker *worker)
{
	struct job *job;

	if (gang_step(worker))
		return 1;
	if (!worker->awaits)
		return 0;
	job = worker->running;
	if (orr_load(&gang_of(worker, job)->nparts) > 0)
		return 0;
	worker->awaits = 0;
	worker->running = NULL;
	finish(worker, job);
	return 1;
}

/* The same for a job that contributes to reductions; before it what these want. */
static void contribute(struct worker *worker, struct job *job)
{
	struct job *prelude;

	while ((prelude = redux_prelude(worker, job))) {
		worker->running = prelude;
		if (!worker->driver->execute(worker, prelude))
			return;
		redux_executed(prelude);
	}
	execute(worker, job);
}

/* Run the first job of the pipeline whose data are there. */
static int run_one(struct worker *worker)
{
	for (int i = 0; i < worker->npipeline; i++) {
		struct job *job = worker->pipeline[i];

		if (orr_load(&job->nfetching) != 0 || job->state == JOB_RUNNING)
			continue;
		job_move(job, JOB_RUNNING);
		job->task->workerid = (unsigned)worker->id;
		fill_interfaces(job);
		task_event(worker->node, job, EVENT_TASK_STARTED);
		if (job->is_expected)
			forget_expected(worker, job);
		sched_started(worker, job);
		job->task->status = STARPU_TASK_RUNNING;
		if (is_ordered(job))
			pass_turn(worker);
		if (job->contributes)
			contribute(worker, job);
		else
			execute(worker, job);
		return 1;
	}
	return 0;
}

/* One of those that were started has ended: there may be room for the next one beside
 * the last one, which had taken the last place. */
static void make_room(struct worker *worker)
{
	const struct job *last = worker->running;

	ORR_ASSERT(worker->driver->may_queue);
	if (last && !gang_of(worker, last) && !redux_is_prelude(last) &&
	    !convert_is_job(last) && worker->driver->may_queue(worker))
		worker->running = NULL;
}

void worker_executed(struct worker *worker, struct job *job)
{
	if (worker->running == job)
		worker->running = NULL;
	else
		make_room(worker);
	/* Behind others, it began later than it was started. */
	if (worker->driver->is_remote && events_on(&worker->node->events))
		worker->began_s = plat_now_s(worker->node->plat) - job->duration_s;
	if (redux_is_prelude(job))
		contribute(worker, redux_executed(job));
	else if (convert_is_job(job))
		convert_executed(worker, job);
	else
		ended(worker, job);
}

int worker_is_dismissed(const struct worker *worker)
{
	return orr_load(&worker->driven) &&
	       orr_load(&worker->node->drivers.are_dismissed);
}

uint64_t workers_executed(const struct node *node)
{
	uint64_t n = 0;

	for (int i = 0; i < node->nworkers; i++)
		n += orr_count(&node->workers[i].executed);
	return n;
}

int workers_have_taken(const struct node *node, int sleep)
{
	for (int i = 0; i < node->nworkers; i++) {
		const struct worker *worker = &node->workers[i];
		/* What it has taken waits with it, but for what others execute. */
		int is_held =
			(orr_load(&worker->is_waiting) ||
			 (sleep && orr_load_ptr((void *const *)&worker->caller.task))) &&
			!worker->driver->is_remote;

		if (worker->npipeline > 0 && !is_held)
			return 1;
	}
	return 0;
}

/* Parked workers are idle: workers_wake() need not look at any when none is. */
static void note_idle(struct worker *worker, int is_idle)
{
	if (worker->idle == is_idle)
		return;
	worker->idle = is_idle;
	orr_add(&worker->node->nidle, is_idle ? 1 : -1);
}

int worker_has_room(const struct worker *worker)
{
	if (worker->npipeline >= orr_load(&worker->depth))
		return 0;
	if (worker->npipeline && !worker->takes_ahead)
		return 0;
	return !worker->npipeline || !worker->driver->may_take ||
	       worker->driver->may_take(worker);
}

/* Who is to be woken for a task is another one. */
static void note_full(struct worker *worker)
{
	int is_full = worker->npipeline > 0 && !worker_has_room(worker);

	if (is_full != orr_load(&worker->is_full))
		orr_store(&worker->is_full, is_full);
}

static int advance(struct worker *worker)
{
	struct node *node = worker->node;
	int advanced = 0;

	if (!worker->running && orr_load_ptr((void **)&worker->aside)) {
		run_aside(worker);
		return 1;
	}
	if (orr_load_ptr((void **)&worker->gangs) && go_on_with_gang(worker))
		return 1;
	while (worker_has_room(worker) && !orr_load(&node->npaused)) {
		struct job *job = sched_pop(worker);

		if (!job)
			break;
		note_idle(worker, 0);
		take(worker, job);
		advanced = 1;
		if (!worker->running && orr_load(&job->nfetching) == 0)
			break;
	}
	if (!worker->running && worker->npipeline && run_one(worker))
		return 1;
	return advanced && !worker->running;
}

int worker_step(struct worker *worker)
{
	int advanced = advance(worker);

	/* What they bring about may be for this worker, which is awake. */
	if (__builtin_expect(orr_load_ptr((void **)&worker->node->lasting->hooks) != NULL,
			     0)) {
		hooks_step(worker, advanced);
		advanced = advanced || advance(worker);
	}
	if (!advanced) {
		note_full(worker);
		note_idle(worker, 1);
		if (worker->npipeline == 0)
			observer_idle(worker, 1);
		if (events_on(&worker->node->events))
			tell_idle(worker, worker->npipeline == 0);
	}
	return advanced;
}
