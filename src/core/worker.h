/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_WORKER_H
#define ORR_CORE_WORKER_H

/*
 * worker.h - a worker is a state machine that a backend runs, not a thread.
 *
 * worker_step() does what can be done now: take tasks from the scheduler, start
 * fetching their data, run the first whose data are there, finish it.  It never
 * blocks.  An accelerator keeps depth tasks with the running one, so that the data of
 * the others travel meanwhile; a core two where the policy has placed them.
 */
#include "core/task/job.h"
#include "core/sched/levels.h"

/* Who takes more tasks at a time has its pipeline apart. */
enum { WORKER_OWN_PIPELINE = 4 };

/* What the worker said last that a task of this kind would take, and of which it runs. */
struct expectation {
	const struct starpu_perfmodel *model;
	uint32_t footprint, now;
	int nchanges, implementation;
	float us;
};

/* In groups, as struct node. */
struct worker {
	/* Set when it opens, or when it changes its scheduler. */
	struct node *node;
	/* Whose tasks it is to take, by number, and how often that changed; atomic.  What
	 * it belongs to, and why it is held, as bits.  See contexts.h. */
	struct sched *scheds[STARPU_NMAX_SCHED_CTXS];
	int nchanges, belongs, held;
	int njoined;                       /* whose tasks it takes: joined, below */
	int nfollowed;                     /* changes; atomic */
	int ranks[STARPU_NMAX_SCHED_CTXS]; /* atomic: which of them go first */
	int id;
	enum starpu_worker_archtype type;
	uint32_t told_executed;         /* of executed, when a program asked last */
	const struct device_type *kind; /* its row */
	const struct worker_driver *driver;
	/* Of its device, of which it is worker number index: the others are near.  Cores
	 * are numbered from 0. */
	int devid, index;
	/* Tasks last as they do there: itself, or a worker of another node. */
	struct worker *like;
	unsigned memory;
	int depth;             /* tasks in the pipeline, the running one included, */
	struct job **pipeline; /* in the order they were taken */
	void *backend;         /* the backend's */
	struct starpu_perfmodel_arch arch;
	struct starpu_perfmodel_device device;
	int driven; /* atomic: not 0: the application runs it, see core/drive.c */
	/* Atomic: its cores and others' as one device, while it leads those of a context
	 * without a policy; else NULL. */
	struct starpu_perfmodel_arch *leads_as;

	/* Its own; some of it others look at: orr_note(). */
	ORR_OWN_LINE int npipeline;
	int idle; /* the last step found nothing to do; see node->nidle */
	struct sched *joined[STARPU_NMAX_SCHED_CTXS];
	int next_turn;
	int nholds;     /* of its turn; see core/sched/relax.h, */
	short nrelaxed; /* as of this */
	/* Of gangs: it leads that to which it has come; it waits for calls of others. */
	unsigned char leads, awaits;
	unsigned char told_idle; /* has told that it has no task */
	unsigned char told_rest; /* and that it sleeps */
	unsigned char told_end;  /* to a policy, of the alias that it has run */
	/* May it have a second task?  A core that did under a policy with one line for
	 * all would keep it from a device that is idle. */
	unsigned char takes_ahead;
	struct job *own_pipeline[WORKER_OWN_PIPELINE];
	/* No other may be started; of those that the driver has queued the last one, or
	 * NULL while it takes more. */
	struct job *running;
	uint64_t executed;
	/* Tasks of the codelet counted since the table was written; see codelet.h. */
	const struct starpu_codelet *counted;
	uint64_t ncounted;
	unsigned long *shown; /* the worker's count in the codelet itself; NULL: none */
	double busy_s;
	double began_s;            /* when its task began to run, while events are told */
	double idle_since_s;       /* told so far, see core/sched/observer.h; 0: is not */
	uint64_t expected_end;     /* see core/task/foresee.h; orr_count() */
	struct expectation told;   /* see core/task/stamp.c */
	double task_j;             /* of the task that it has run, if that is measured */
	struct plat_caller caller; /* what its thread does */

	/* Others': who wakes it, and who has tasks for it alone. */
	ORR_OWN_LINE int parked; /* atomic; the backend's, see plat_workers_start() */
	int is_full;             /* atomic: its last step left no room for another task */
	int nbound;              /* atomic: in the queue of tasks bound to it */
	int nexpected;           /* atomic: not started, and of known duration, */
	double expected_s;       /* in sum */
	struct orr_lock lock;    /* of these tasks, of the counts, of told_executed */
	struct orr_lock turn;    /* of what a policy of the application's keeps for it */
	struct levels bound;
	struct job *ordered; /* bound, not yet at their turn, first the next */
	unsigned next_order; /* workerorder of the task whose turn it is */
	int is_waiting;      /* its kernel waits for something; atomic */
	struct gang *gangs;  /* its line; atomic.  See core/sched/teams.h; */
	int has_come;        /* to the first of them; atomic */
	int is_called;       /* to call the kernel of its job; atomic */
	/* To what it has popped an alias of, see core/sched/aliases.h; atomic. */
	struct gathering *gathers;
	struct job *aside; /* to be run before all others, first in first out; atomic */
	void *ended;       /* the backend's, of a remote driver: jobs that have; atomic */
	struct table counts; /* by address of the codelet */
};

/* All that are parked look again for what they can do. */
void workers_rouse(struct node *node);
/* 1: it advanced, call again; 0: nothing to do before a wake-up. */
int worker_step(struct worker *worker);
/* The application runs it, and has been asked to stop. */
int worker_is_dismissed(const struct worker *worker);
/* The backend: the worker is about to sleep until it is woken, and has been.  Tells the
 * application; calls that change nothing have no effect. */
void worker_tell_rest(struct worker *worker, int is_asleep);
/* The backend: an asynchronous execute() of the driver has ended. */
void worker_executed(struct worker *worker, struct job *job);
/* Tasks that the node's workers have executed; and has a worker taken any that it has not
 * ended, but for one whose kernel waits (sleep: who is in one does)?  Any thread; both
 * may change at once. */
uint64_t workers_executed(const struct node *node);
int workers_have_taken(const struct node *node, int sleep);
/* May it take a task beside those that it has? */
int worker_has_room(const struct worker *worker);
/* Does it wait for a wake-up, and takes tasks then?  Who is not where it belongs looks
 * for tasks when it comes there. */
static inline int worker_sleeps(struct worker *worker)
{
	return orr_load(&worker->parked) && !orr_load(&worker->is_full) &&
	       !orr_load(&worker->has_come) &&
	       orr_load(&worker->nfollowed) == orr_load(&worker->nchanges);
}

/* A task that runs where the mask says was pushed: wake a worker of the scheduler for it;
 * all of them when only the task, which may be gone by now, could say which. */
void workers_wake(const struct sched *sched, unsigned where, int all);
/* Can this worker run the task, and with which implementation first?  1 or 0. */
int worker_can_run(const struct worker *worker, struct starpu_task *task,
		   unsigned *implementation);
/* The first implementation from number i on, STARPU_MAXIMPLEMENTATIONS when there is
 * none. */
unsigned worker_next_implementation(const struct worker *worker, struct starpu_task *task,
				    unsigned i);
/* Do the task's workerids name this worker?  So they do where there are none. */
int worker_is_listed(const struct worker *worker, const struct starpu_task *task);
/* The same as worker_can_run() of a submitted task's job, whatever implementation. */
int worker_can_run_job(const struct worker *worker, const struct job *job);
/* The job has come to this worker, who can run it: choose how. */
void worker_choose_implementation(const struct worker *worker, struct job *job);
/* A task that this worker must run waits for it; expected_s: it is reckoned with, and its
 * implementation is chosen; negative: not. */
void worker_bind(struct worker *worker, struct job *job, double expected_s);
/* A policy of the application's has chosen the worker: whatever its priority it is the
 * next one (is_next), or comes behind those that came like it. */
void worker_bind_local(struct worker *worker, struct job *job, int is_next);
/* Of tasks with a workerorder: that for which others wait here; 0: nobody waits. */
unsigned worker_missing_order(struct worker *worker);
/* The worker itself: the next of these, or NULL. */
struct job *worker_next_bound(struct worker *worker);
/* Run it before any other, beside the tasks that the worker has taken; when it has been
 * run, convert.c is told.  Any thread, data may be locked. */
void worker_run_aside(struct worker *worker, struct job *job);
/* What those that have not started will take, as far as known. */
double worker_bound_s(struct worker *worker);
/* The kernel of the task's chosen implementation for this worker; NULL: it has none, or a
 * transaction skips the task. */
kernel_t worker_kernel(const struct worker *worker, const struct job *job);

#endif
