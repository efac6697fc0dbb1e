/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/stuck.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/symbols.h"
#include "core/data/data_ops.h"
#include "core/data/room.h"
#include "core/drive.h"
#include "core/sched/aliases.h"
#include "core/sched/sched.h"
#include "core/task/links.h"
#include "core/task/tags.h"
#include "core/task/task.h"
#include "core/wait.h"
#include "core/worker.h"

/*
 * Lines are collected first and said when no lock is held: to print may block.  At most
 * so many of each kind, and then how many more there are.
 */
enum { LINES_OF_A_KIND = 20, LINE_BYTES = 480, LIST_BYTES = 256 };

struct lines {
	char *text; /* nlines of LINE_BYTES each */
	int nlines, capacity;
	int nkind, ndropped; /* of the kind being collected */
};

__attribute__((format(printf, 2, 3))) static void line(struct lines *lines,
						       const char *format, ...)
{
	va_list args;

	if (lines->nkind >= LINES_OF_A_KIND) {
		lines->ndropped++;
		return;
	}
	lines->nkind++;
	if (lines->nlines == lines->capacity) {
		lines->capacity += LINES_OF_A_KIND + 1;
		lines->text =
			orr_realloc(lines->text, (size_t)lines->capacity * LINE_BYTES);
	}
	va_start(args, format);
	vsnprintf(lines->text + (size_t)lines->nlines++ * LINE_BYTES, LINE_BYTES, format,
		  args);
	va_end(args);
}

static void end_kind(struct lines *lines, const char *what)
{
	int ndropped = lines->ndropped;

	lines->nkind = lines->ndropped = 0;
	if (ndropped > 0)
		line(lines, "and %d more %s", ndropped, what);
	lines->nkind = 0;
}

/* A list of names in one line: some, then their number. */
struct names {
	char text[LIST_BYTES];
	int n, nshown;
};

static void add_name(struct names *names, const char *name)
{
	size_t used = strlen(names->text);

	names->n++;
	if (used + strlen(name) + 32 > sizeof(names->text))
		return;
	names->nshown++;
	snprintf(names->text + used, sizeof(names->text) - used, "%s%s", used ? ", " : "",
		 name);
}

static const char *end_names(struct names *names)
{
	size_t used = strlen(names->text);

	if (names->n > names->nshown)
		snprintf(names->text + used, sizeof(names->text) - used, " and %d more",
			 names->n - names->nshown);
	return names->text;
}

/* ---- names ----------------------------------------------------------- */

static const char *name_job(const struct job *job, char *text)
{
	job->ops->describe(job, text, JOB_NAME_BYTES);
	return text;
}

static const char *mode_name(unsigned mode)
{
	switch (mode & STARPU_RW) {
	case STARPU_R:
		return "STARPU_R";
	case STARPU_W:
		return "STARPU_W";
	default:
		return "STARPU_RW";
	}
}

/* A policy's post_exec_hook() has seen it finished already; whoever terminates it takes
 * its worker away. */
static int has_ended_but_for_others(const struct job *job)
{
	return job->state == JOB_DONE &&
	       (job->task->status != STARPU_TASK_FINISHED || job->worker) &&
	       orr_load(&job->end_deps) > 0;
}

/* A parallel task has teams for workers. */
static int has_no_worker(const struct job *job)
{
	if (!job->sched || (job->task->cl && job->task->cl->type != STARPU_SEQ))
		return 0;
	SCHED_EACH_WORKER(worker, job->sched)
	{
		if (worker_can_run_job(worker, job))
			return 0;
	}
	return 1;
}

static const char *state_of(const struct job *job)
{
	switch ((enum job_state)job->state) {
	case JOB_NEW:
		return "has not been submitted";
	case JOB_BLOCKED:
		return "waits itself";
	case JOB_READY:
		if (aliases_wanted(job->node, job))
			return "is ready, and not all workers that are to run it have "
			       "been given their aliases of it, see "
			       "starpu_parallel_task_barrier_init()";
		return has_no_worker(job) ? "is ready, and no worker of its scheduling "
					    "context can run it: see "
					    "starpu_sched_ctx_add_workers()"
					  : "is ready, no worker has taken it";
	case JOB_FETCHING:
		return "waits for room or copies of its data";
	case JOB_RUNNING:
		return "runs";
	default:
		return has_ended_but_for_others(job)
			       ? "has run, an end dependency of it is not released"
			       : "has ended";
	}
}

/* ---- data and their holders ------------------------------------------ */

/* Others wait for it: it holds its datum, or it is its turn. */
static int has_turn(const struct access *access)
{
	return access->state == ACCESS_GRANTED ||
	       (access->state == ACCESS_ORDERED && !(access->mode & ACCESS_UNORDERED));
}

/* Tasks that have their turn on the datum. */
static void add_task_holders(struct node *node, starpu_data_handle_t datum,
			     struct names *names)
{
	struct task_walk walk = {0};
	const struct job *job;
	char name[JOB_NAME_BYTES], text[JOB_NAME_BYTES + 64];

	while ((job = task_next_job(node, &walk))) {
		for (int i = 0; i < job->naccesses; i++) {
			const struct access *access = &job->accesses[i];

			if (access->datum != datum || !has_turn(access))
				continue;
			snprintf(text, sizeof(text), "%s, which %s", name_job(job, name),
				 state_of(job));
			add_name(names, text);
			break;
		}
	}
}

static void add_holders(struct node *node, starpu_data_handle_t datum,
			struct names *names)
{
	unsigned mode;
	int nheld = data_held(datum, &mode);
	char text[JOB_NAME_BYTES];

	if (nheld > 0) {
		snprintf(text, sizeof(text),
			 "the application since starpu_data_acquire(%s), "
			 "starpu_data_release() is missing",
			 mode_name(mode));
		add_name(names, text);
	}
	add_task_holders(node, datum, names);
	if (names->n == 0)
		add_name(names, "a transfer or an operation on it");
}

static void add_waiter(void *arg, const struct job *job)
{
	char name[JOB_NAME_BYTES];

	add_name(arg, job ? name_job(job, name) : "starpu_data_unregister()");
}

struct data_lines {
	struct node *node;
	struct lines *lines;
};

/* The node's pools and the datum are locked. */
static void describe_datum(void *arg, starpu_data_handle_t datum)
{
	const struct data_lines *to = arg;
	struct names holders = {0}, waiters = {0};
	char what[JOB_NAME_BYTES];

	if (!data_each_waiter(datum, add_waiter, &waiters))
		return;
	add_holders(to->node, datum, &holders);
	line(to->lines, "%s is held by %s; waiting for it: %s",
	     data_describe(datum, what, sizeof(what)), end_names(&holders),
	     end_names(&waiters));
}

static void describe_data(struct node *node, struct lines *lines)
{
	data_each(node, describe_datum, &(struct data_lines){node, lines});
	end_kind(lines, "data with waiting tasks");
}

/* ---- tasks ----------------------------------------------------------- */

struct successors {
	struct job *before;
	struct lines *lines;
};

static void describe_successor(void *arg, struct job *after)
{
	const struct successors *successors = arg;
	char name[JOB_NAME_BYTES], other[JOB_NAME_BYTES];

	line(successors->lines, "%s waits for %s, which %s", name_job(after, name),
	     name_job(successors->before, other), state_of(successors->before));
}

/* What else than data keeps tasks: first the causes, then who waits for the waiting. */
static void describe_tasks(struct node *node, struct lines *lines)
{
	char name[JOB_NAME_BYTES];
	struct job *job;

	tasks_lock(node);
	for (int pass = 0; pass < 2; pass++) {
		struct task_walk walk = {0};

		while ((job = task_next_job(node, &walk))) {
			if (pass == 0 && has_ended_but_for_others(job))
				line(lines,
				     "%s has run, %d end dependencies of it are not "
				     "released (starpu_task_end_dep_release())",
				     name_job(job, name), orr_load(&job->end_deps));
			if (pass == 0 && job->state == JOB_READY)
				line(lines, "%s %s", name_job(job, name), state_of(job));
			if (job->point && (job->state == JOB_BLOCKED) == pass)
				links_describe(job, describe_successor,
					       &(struct successors){job, lines});
		}
	}
	tasks_unlock(node);
	end_kind(lines, "tasks that wait for others");
}

/* ---- threads --------------------------------------------------------- */

static void describe_wait_for_task(const struct starpu_task *task, struct lines *lines)
{
	const struct job *job = task->starpu_private;
	char name[JOB_NAME_BYTES];

	line(lines, "a thread is in starpu_task_wait(): %s %s", name_job(job, name),
	     job->state == JOB_NEW ? "has not been submitted (starpu_task_submit())"
				   : state_of(job));
}

struct threads {
	struct node *node;
	struct lines *lines;
};

static void describe_wait(void *arg, const struct wait *wait)
{
	struct node *node = ((struct threads *)arg)->node;
	struct lines *lines = ((struct threads *)arg)->lines;
	/* The object of a wait lives as long as the wait. */
	starpu_data_handle_t datum = (starpu_data_handle_t)wait->object;
	int nleft = node_nsubmitted(node);
	char what[JOB_NAME_BYTES];

	switch (wait->kind) {
	case WAIT_ENDED:
		line(lines,
		     "a thread waits until tasks have ended "
		     "(starpu_task_wait_for_all() or the like): %d tasks and "
		     "acquisitions have not",
		     nleft);
		break;
	case WAIT_READY:
		line(lines,
		     "a thread waits until no task is ready (starpu_shutdown() or the "
		     "like): %d are",
		     nleft - orr_load(&node->nblocked));
		break;
	case WAIT_TASK:
		describe_wait_for_task(wait->object, lines);
		break;
	case WAIT_TAG:
		tags_name(node, *(const starpu_tag_t *)wait->object, what, sizeof(what));
		line(lines, "a thread is in starpu_tag_wait(): %s", what);
		break;
	case WAIT_ACQUIRE:
	case WAIT_UNREGISTER:
	case WAIT_FETCH:
	case WAIT_PARTITION:
		line(lines, "a thread is in %s of %s",
		     wait->kind == WAIT_ACQUIRE      ? "starpu_data_acquire()"
		     : wait->kind == WAIT_UNREGISTER ? "starpu_data_unregister()"
		     : wait->kind == WAIT_PARTITION
			     ? "starpu_data_partition() or starpu_data_unpartition()"
			     : "starpu_data_fetch_on_node()",
		     data_describe(datum, what, sizeof(what)));
		break;
	case WAIT_TRANSFER:
		line(lines, "a thread waits for %s", (const char *)wait->object);
		break;
	case WAIT_BARRIER: /* The MPI layer says it. */
		break;
	case WAIT_THREAD:
		line(lines, "a thread is in %s()", (const char *)wait->object);
		break;
	}
}

static void describe_threads(struct node *node, struct lines *lines)
{
	wait_each(node, describe_wait, &(struct threads){node, lines});
	end_kind(lines, "threads that wait");
}

/* ---- workers --------------------------------------------------------- */

static void describe_run(struct lines *lines, const struct worker *worker,
			 const struct job *job)
{
	char name[JOB_NAME_BYTES], function[JOB_NAME_BYTES] = "";

	if (job->state != JOB_RUNNING || !job->task->cl) {
		line(lines, "%s on worker %d: its callback has not returned",
		     name_job(job, name), worker->id);
		return;
	}
	symbols_name((const void *)(uintptr_t)worker_kernel(worker, job), function,
		     sizeof(function));
	line(lines, "%s runs on worker %d: its kernel, %s, has not returned",
	     name_job(job, name), worker->id, function);
}

/* Of kernels and callbacks; who else has a task's job at hand may be giving it back. */
static void describe_running(struct node *node, struct lines *lines)
{
	struct task_walk walk = {0};
	const struct job *job;

	tasks_lock(node);
	while ((job = task_next_job(node, &walk))) {
		for (int i = 0; i < node->nworkers; i++) {
			const struct worker *worker = &node->workers[i];

			if (job->task &&
			    orr_load_ptr((void *const *)&worker->caller.task) ==
				    job->task)
				describe_run(lines, worker, job);
		}
	}
	tasks_unlock(node);
	end_kind(lines, "kernels and callbacks");
	if (node->watchdog.nasleep > 0)
		line(lines,
		     "%d kernels or threads of the program sleep in locks, conditions or "
		     "semaphores of its own (sem_wait(), pthread_cond_wait() or the "
		     "like), or join one another (pthread_join()), and no thread is left "
		     "that could open one",
		     node->watchdog.nasleep);
	end_kind(lines, "threads that sleep");
}

static void describe_workers(struct node *node, struct lines *lines)
{
	for (int i = 0; i < node->nworkers; i++)
		if (drive_is_missed(&node->workers[i]))
			line(lines,
			     "worker %d is the application's to run "
			     "(conf.not_launched_drivers), and no thread is in "
			     "starpu_driver_run() or the like for it",
			     i);
	end_kind(lines, "workers that nobody runs");
	for (int i = 0; i < node->nworkers; i++) {
		unsigned order = worker_missing_order(&node->workers[i]);

		if (order > 0)
			line(lines,
			     "worker %d has tasks that wait for the one with "
			     "workerorder %u, which is not ready or was not submitted",
			     i, order);
	}
	end_kind(lines, "workers that wait for a workerorder");
}

/* ---- memories -------------------------------------------------------- */

static void describe_memories(struct node *node, struct lines *lines)
{
	char text[LINE_BYTES];

	for (int i = 0; i < node_nmemories(node); i++)
		if (room_describe(node, (unsigned)i, text, sizeof(text)))
			line(lines, "%s", text);
	end_kind(lines, "memories");
}

/* ---- all of it ------------------------------------------------------- */

static void collect(void *arg, const char *text)
{
	line(arg, "%s", text);
}

void stuck_describe(struct node *node, void (*say)(void *arg, const char *line),
		    void *arg)
{
	struct lines lines = {0};

	if (orr_load(&node->npaused) > 0)
		line(&lines, "the library is paused: nothing runs before "
			     "starpu_resume() follows starpu_pause()");
	describe_workers(node, &lines);
	describe_threads(node, &lines);
	describe_running(node, &lines);
	describe_data(node, &lines);
	describe_tasks(node, &lines);
	describe_memories(node, &lines);
	tags_describe(node, collect, &lines);
	end_kind(&lines, "tags that wait");
	for (int i = 0; i < lines.nlines; i++)
		say(arg, lines.text + (size_t)i * LINE_BYTES);
	free(lines.text);
	if (node->on_describe)
		node->on_describe(node, say, arg);
}
