/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_JOB_H
#define ORR_CORE_TASK_JOB_H

/*
 * job.h - the runtime's half of a task, and of anything that takes its turn on data.
 *
 * A job names its accesses, waits until all are granted and all explicit
 * predecessors have ended, then start() is called once.  A task's job is pushed to
 * the scheduler; an acquisition's fetches the data and calls its owner.  What differs
 * between kinds of jobs is in struct job_ops, and nowhere else.
 *
 * missing counts what the job still waits for, plus one from its creation until its
 * submission is over; who takes it to zero starts it.  It stays zero until the data are
 * released: exclusion.c tells by it who has started.
 */
#include <stddef.h>

#include "base/check.h"
#include "core/node.h"

/* In the order in which others look while it waits: of those of a small block (fold.h),
 * what they touch then lies in one line each. */
struct access {
	struct job *job;
	/* Waiting for its turn, outside, then for a copy to arrive; of a merged access,
	 * the one that stands for it. */
	struct access *next;
	/* Among those that hold the datum; of one that waits for its turn, who is two
	 * places behind, to be brought into the cache in time. */
	union {
		struct access *beside, *skips;
	};
	struct access **at;
	unsigned short mode;  /* enum starpu_data_access_mode, merged per datum */
	unsigned char state;  /* enum access_state */
	unsigned char memory; /* where it was fetched to */
	/* It was ACCESS_SKIPPED when its job was submitted.  Readers lock nothing, while
	 * the state of an access that is not skipped may change under its datum's lock.
	 */
	unsigned char skipped;
	unsigned char expected; /* enum job_block: how to bring its job; or 0: do not */
	starpu_data_handle_t datum;
	struct copy_state *copy; /* pinned from fetch to unpin */
};

enum access_state {
	ACCESS_NEW,     /* not submitted */
	ACCESS_SKIPPED, /* takes no turn: scratch, or merged into an earlier one */
	ACCESS_WAITING, /* in the queue */
	ACCESS_ORDERED, /* its turn has come; exclusion is still to be taken */
	ACCESS_GRANTED,
	ACCESS_RELEASED
};

/* Before its job is submitted. */
static inline void access_skip(struct access *access)
{
	access->state = ACCESS_SKIPPED;
	access->skipped = 1;
}

/* In access->mode, beside StarPU's bits: takes exclusion but no turn. */
enum { ACCESS_UNORDERED = 1 << 15 };
/* The same: reads where it runs, but not the value: a buffer is enough. */
enum { ACCESS_NO_VALUE = 1 << 14 };

enum { JOB_INLINE_ACCESSES = 4, JOB_NAME_BYTES = 160 };

/* Where a task and its job lie. */
enum job_block {
	BLOCK_NONE,  /* the task is the application's, or there is none */
	BLOCK_WHOLE, /* both in a task_block of the node's pool */
	BLOCK_SMALL, /* apart: see fold.h */
	BLOCK_LARGE
};

enum job_state {
	JOB_NEW,      /* not submitted */
	JOB_BLOCKED,  /* missing > 0 */
	JOB_READY,    /* in the scheduler, or about to be, or waiting for exclusion */
	JOB_FETCHING, /* a worker wants its data */
	JOB_RUNNING,
	JOB_DONE, /* executed, its data are released */
	JOB_NSTATES
};

/* Where a task is in the eyes of who submits, waits for, links to or destroys it. */
enum job_life {
	LIFE_NEW,       /* never submitted */
	LIFE_SUBMITTED, /* until its successors are told */
	LIFE_ENDING,    /* its callback runs; whoever terminates it still needs it */
	LIFE_ENDED      /* at rest: it can be waited for, destroyed, submitted again */
};

/* How a submission during LIFE_ENDING, by the task's own callback for instance, takes
 * the job from who terminates it; on his stack. */
struct ending {
	int state; /* atomic enum ending_state */
};

enum ending_state { ENDING_OPEN, ENDING_TAKEN, ENDING_CLOSED };

/*
 * Jobs made ready by a release, so that chains need no recursion: to start, or in state
 * JOB_DONE to terminate.
 */
struct ready {
	struct job *first, *last;
	int is_running; /* a ready_run() further up the stack takes what is appended */
};

/* A kind of job; constant. */
struct job_ops {
	/* The job is JOB_BLOCKED and nothing is missing; or JOB_READY, and exclusion has
	 * come; or JOB_DONE, and all that its end waited for has happened. */
	void (*start)(struct job *job, struct ready *ready);
	/* All copies are there.  worker: who fetches for it, or NULL; with a worker the
	 * job may be gone already. */
	void (*fetched)(struct job *job, struct worker *worker);
	/* What the application knows it by, as in: task "potrf" (17). */
	void (*describe)(const struct job *job, char *text, size_t bytes);
	/* The application holds its data, for as long as it likes. */
	unsigned char is_held;
	/* What it fetches is to be written by who uses other data: not beside those who
	 * copy it. */
	unsigned char gives_bytes;
};

/* Who submits tasks of the runtime's own: task_submit_inside(), task_submit_ours(). */
enum { INSIDE_HELD = 1, INSIDE_OURS = 2 };

struct job {
	struct node *node;
	const struct job_ops *ops;
	struct starpu_task *task; /* that it is the half of; NULL: none, or folded */
	struct job
		*next; /* ready, in a queue, waiting for room, or ended at a driver's */
	int missing;   /* atomic */
	int nfetching; /* atomic: copies on their way, plus one while starting */
	int exclusive; /* atomic: exclusion is to be taken before it can run */
	int naccesses;
	/* To reductions, see core/data/redux.h.  The runtime's own: may use data that are
	 * ending.  Simulated without a known duration: takes no time. */
	unsigned char contributes, is_inside, may_be_timeless;
	/* Under the lock: as task->destroy, said when workers may read the flags beside
	 * it. */
	unsigned char is_dropped;
	unsigned char state; /* enum job_state; see job_move() */
	unsigned char implementation;
	unsigned char own_accesses; /* accesses were allocated apart */
	unsigned char life;     /* enum job_life; changes under lock but for the first */
	unsigned char nests;    /* start() may call the application back */
	unsigned char observed; /* what core/sched/observer.c has told and counted */
	unsigned short where;   /* STARPU_CPU | ...: who may run it */
	/* The memory to which it fetches, plus one; 0: all its data go to one. */
	unsigned char booking;
	unsigned char block : 2;     /* enum job_block */
	unsigned char may_fold : 1;  /* nobody but the job knows the task */
	unsigned char is_folded : 1; /* see fold.h; then task is NULL */
	unsigned char is_built : 1;  /* starpu_mpi_task_build() has made its task */
	unsigned char
		is_specific : 1;   /* it or its codelet has specific_nodes: specific.h */
	unsigned char was_blocked; /* counted in node->nblocked */
	unsigned char no_turns;    /* starpu_task_submit_nodeps() */
	unsigned char uses_views;  /* some datum has DATUM_VIEWS */
	unsigned char is_hint;     /* its fetch may be dropped for want of room */
	unsigned char is_expected; /* predicted_s counts in worker->expected_s */
	unsigned char nroom;       /* of room */
	int end_deps;              /* atomic: what termination still waits for */
	struct sched *sched;       /* of a submitted task */
	struct worker *worker;     /* chosen or running */
	struct access *accesses;
	/* Its owner's, beside the job: most jobs have one access, and many wait. */
	struct access *room;
	/* From here on a task's; an acquisition has its own things there: acquire.h. */
	struct orr_lock lock;    /* of life and the three fields below */
	int nsorted;             /* of sorted */
	struct job_point *point; /* its explicit dependencies, see links.h; or NULL */
	struct plat_gate *gate;  /* of the thread that waits for this task */
	struct ending *ending;   /* in LIFE_ENDING */
	struct heap_entry place; /* in a scheduler's queue by priority */
	uint64_t id;
	double duration_s; /* measured or simulated */
	uint64_t shape;    /* what models ask of it, mixed; 0: nobody has looked */
	/* By the scheduler, for the worker that it counts the job on until it starts. */
	struct worker *counted_on;
	double predicted_s, predicted_transfer_s; /* 0: unknown, or none */
	/* own_accesses: those that take turns, by address of their data. */
	struct access **sorted;
};

enum { JOB_COMMON_BYTES = offsetof(struct job, lock) };

/* One that may have several. */
struct roomy_job {
	struct job job;
	struct access room[JOB_INLINE_ACCESSES]; /* last: not zeroed */
};

/* From where a job may come to a state, in one place.  DONE to BLOCKED: the task is
 * submitted again. */
static inline unsigned job_may_leave(enum job_state state)
{
	switch (state) {
	case JOB_NEW:
		return 1u << JOB_DONE;
	case JOB_BLOCKED:
		return 1u << JOB_NEW | 1u << JOB_DONE;
	case JOB_READY:
		return 1u << JOB_BLOCKED;
	case JOB_FETCHING:
		return 1u << JOB_READY;
	case JOB_RUNNING:
		return 1u << JOB_READY | 1u << JOB_FETCHING;
	case JOB_DONE:
		return 1u << JOB_READY | 1u << JOB_RUNNING;
	default:
		return 0;
	}
}

/* Every change of state goes through here. */
static inline void job_move(struct job *job, enum job_state state)
{
	ORR_ASSERT(job_may_leave(state) >> job->state & 1);
	job->state = (unsigned char)state;
}

/* Somebody is about to take the job, whose lines another core wrote last, as a rule. */
static inline void job_expect(const struct job *job)
{
	orr_bring_lines(job, sizeof(struct roomy_job));
}

/* Of a task of the pool, the job begins the line behind the task. */
enum {
	TASK_LINES_BYTES = (sizeof(struct starpu_task) + ORR_LINE_BYTES - 1) /
			   ORR_LINE_BYTES * ORR_LINE_BYTES
};

/* The same with the task before it, without a look at either. */
static inline void job_expect_block(const struct job *job)
{
	orr_bring_lines((const char *)job - TASK_LINES_BYTES, TASK_LINES_BYTES);
	job_expect(job);
}

/* Of a job that is near already. */
static inline void task_expect(const struct starpu_task *task)
{
	orr_bring_lines(task, TASK_LINES_BYTES);
}

/* As much of a job and its task as its block has. */
static inline void job_expect_as(const struct job *job, unsigned block)
{
	if (block == BLOCK_WHOLE)
		job_expect_block(job);
	else
		job_expect(job);
}

/* The job is near, its data may not be. */
static inline void job_expect_data(const struct job *job)
{
	for (int i = 0; i < job->naccesses; i++)
		orr_bring(job->accesses[i].datum);
}

/* A zeroed job with room for naccesses accesses. */
struct job *job_new(struct node *node, const struct job_ops *ops, unsigned naccesses);
/* room: for nroom accesses, as long as the job; NULL: more are allocated.  The first one
 * leaves alone what is behind JOB_COMMON_BYTES. */
void job_init_common(struct job *job, struct node *node, const struct job_ops *ops,
		     struct access *room, unsigned nroom);
void job_init(struct job *job, struct node *node, const struct job_ops *ops,
	      struct access *room, unsigned nroom);
void job_reserve_many(struct job *job, unsigned naccesses);
void job_free(struct job *job);

static inline void job_reserve(struct job *job, unsigned naccesses)
{
	if (job->own_accesses || naccesses > job->nroom)
		job_reserve_many(job, naccesses);
	else
		job->naccesses = (int)naccesses;
}

/* One reason to wait is gone; appends the job to ready when it was the last. */
void job_satisfy(struct job *job, struct ready *ready);
void ready_append(struct ready *ready, struct job *job);
void ready_run_all(struct ready *ready);

/*
 * Start the jobs in ready, and those that they make ready, until there is none.  Does
 * nothing inside a job's start(), which it called itself.  Deep inside callbacks, jobs
 * that would call back put themselves off with callback_later().
 */
static inline void ready_run(struct node *node, struct ready *ready)
{
	(void)node;
	if (ready->first)
		ready_run_all(ready);
}

/* One of the things that termination waits for has happened. */
void job_end_dep_release(struct job *job, struct ready *ready);

#endif
