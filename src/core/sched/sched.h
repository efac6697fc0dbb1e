/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_SCHED_H
#define ORR_CORE_SCHED_SCHED_H

/*
 * sched.h - policies decide which worker runs a ready task, and in what order.
 *
 * A policy is a table, struct sched_ops; a scheduler (StarPU says: a context) is a policy
 * at work for a set of workers, see contexts.h.  push() may be called by any thread,
 * pop(), started() and ended() by the worker itself, and the set may change under them.
 * After push() the caller of sched_push() wakes a worker.  A job whose data are not free
 * when it is popped is pushed again when it has them.
 */
#include "core/worker.h"

/* One row for each policy; STARPU_SCHED=help lists them in this order. */
#define SCHED_POLICIES(ROW)                                                              \
	ROW(eager)                                                                       \
	ROW(prio)                                                                        \
	ROW(random)                                                                      \
	ROW(lws)                                                                         \
	ROW(ws)                                                                          \
	ROW(dm)                                                                          \
	ROW(dmda)                                                                        \
	ROW(dmdap)                                                                       \
	ROW(dmdar)                                                                       \
	ROW(dmdas)                                                                       \
	ROW(dmdasd)                                                                      \
	ROW(pheft)                                                                       \
	ROW(peager)                                                                      \
	ROW(heteroprio)                                                                  \
	ROW(graph_test)

/* Of what a policy weighs, in the units of STARPU_SCHED_ALPHA and its kind. */
enum sched_weight { SCHED_ALPHA, SCHED_BETA, SCHED_GAMMA, SCHED_IDLE_POWER };

struct sched_ops {
	/* What the application sees of it: policy_name and policy_description. */
	struct starpu_sched_policy object;
	int least, most; /* priorities, unless the user says others */
	/* One of its workers runs all tasks, the others keep their cores free. */
	int has_master;
	int takes_ranks; /* of its tasks, see ranks.h */
	int places;      /* push() says who runs a task: it is taken from nobody */
	/* Without workers; the rest of struct sched is the caller's to fill. */
	struct sched *(*open)(struct node *node);
	void (*close)(struct sched *sched);
	/* Returns the worker it chose, or NULL: any may take it.  Without places it is
	 * one that sleeps, and that others may come before.  A job that no worker of the
	 * set can run goes to sched_put_aside(). */
	struct worker *(*push)(struct sched *sched, struct job *job);
	struct job *(*pop)(struct sched *sched, struct worker *worker);

	/* The others are NULL where a policy does not want to know. */

	/* It has its place, and no workers yet; nothing is locked. */
	void (*opened)(struct sched *sched);
	/* A task is submitted to it, before anybody looks at it. */
	void (*submitted)(struct sched *sched, struct starpu_task *task);
	/* The application asks for decisions that were put off. */
	void (*schedule)(struct sched *sched);
	/* Nothing travels to or from a memory any more: node->nquiet schedulers want to
	 * know.  Nothing is locked. */
	void (*quiet)(struct sched *sched, unsigned memory);
	/* The kernel of a task begins, or has ended, on worker; of each task, also of
	 * those that are bound to a worker and were never pushed. */
	void (*started)(struct sched *sched, struct worker *worker, struct job *job);
	void (*ended)(struct sched *sched, struct worker *worker, struct job *job);
	/* Later than that: its data are released, its epilogue has been called. */
	void (*finished)(struct sched *sched, struct worker *worker, struct job *job);
	/* Give a weight, or set it: 0, or -1 when it weighs no such thing.
	 */
	int (*weigh)(struct sched *sched, enum sched_weight weight, double *value,
		     int is_set);
	/* A task is bound to the worker: choose its implementation, and say how long it
	 * is expected to run there; worker_bound_s() tells the sum. */
	double (*expect)(struct worker *worker, struct job *job);
	/* Before the first push or pop that concerns the worker. */
	void (*add_worker)(struct sched *sched, struct worker *worker);
	/* The same for who must not be called with anything locked, see telling.h. */
	void (*workers_come)(struct sched *sched, int *ids, unsigned n);
	/* They have left: push again what waits for one of them alone. */
	void (*workers_leave)(struct sched *sched, int *ids, unsigned n);
	/* Who has workers_come() is told, after the last call of any of the others, that
	 * the application has deleted the scheduler, or learns it by close(). */
	void (*closing)(struct sched *sched);
	/* The worker is not of the set: append to left what waits for it alone.  Called
	 * again whenever a push may have crossed its leave; not of who has
	 * workers_come(). */
	void (*remove_worker)(struct sched *sched, struct worker *worker,
			      struct ready *left);
};

enum { SCHED_WORDS = (STARPU_NMAXWORKERS + 31) / 32 };

struct sched {
	const struct sched_ops *ops;
	struct node *node;
	int id; /* in node->scheds; 0: the initial one, which stays */
	int min_priority, max_priority;
	unsigned char min_is_set, max_is_set; /* when it was created, by the user */
	unsigned char is_told; /* of submissions: it counts them, or ops->submitted() */
	int nwords;            /* in use, of */
	int members[SCHED_WORDS]; /* workers, a bit each; atomic */
	int changes;              /* of these, so far; atomic */
	/* Of which workers the policy knows, and of which it is being told; atomic. */
	int told[SCHED_WORDS], telling[SCHED_WORDS];
	int nviews;      /* atomic: threads that see more workers, see telling.h */
	int nusers;      /* atomic; see contexts.h */
	int njobs;       /* atomic: submitted, not ended; not of the initial one */
	int nblocked;    /* atomic: of these, see core/task/blocked.h */
	int is_finished; /* atomic: 1: no more will be submitted; 2: and all have ended */
	/* Of the application's: who gets its workers, what it is nested in (or -1), how
	 * deep; are the workers of one with a master awake; who is told of the end. */
	int heir, parent; /* atomic; -1: none */
	int level, nsms;
	unsigned char is_awake;
	/* A device that has ended a task looks for the next one after those that the end
	 * has woken; only where nodes take turns. */
	unsigned char yields;
	int is_open;   /* atomic: ops->opened() has returned */
	int is_closed; /* ops->closing() has */
	char name[32];
	void (*init)(unsigned id);
	void (*end)(unsigned id, void *arg);
	void *end_arg;
	struct starpu_sched_policy *policy; /* as the application sees it */
	void *policy_data, *user_data;      /* the policy's, the application's */
	struct tree *tree;                  /* of components, or NULL */
	/* See inner.h: atomic, of ours inside one of the application's, or NULL; and what
	 * this one is inside, else itself. */
	struct sched *inner, *outer;
	/* Of its workers, for the application; NULL until somebody asks. */
	struct starpu_worker_collection *collection;
	struct orr_lock lock; /* of: */
	struct ready aside;   /* jobs that no worker of the set can run */
	/* Ready tasks that have not ended and have flops, and the sum of these. */
	int nwith_flops;
	double ready_flops;
	/* Atomic: of core/sched/observer.h, or NULL. */
	const struct starpu_sched_ctx_performance_counters *observer;
};

#define SCHED_ROW(policy) extern const struct sched_ops sched_##policy;
SCHED_POLICIES(SCHED_ROW)
#undef SCHED_ROW
extern const struct sched_ops sched_none;

/* The policy called name, or NULL. */
const struct sched_ops *sched_find(const char *name);
const struct sched_ops *sched_at(int i); /* NULL after the last */
/* For the application: all of them, then NULL. */
const struct starpu_sched_policy *const *sched_objects(void);
/* The same, also those of STARPU_SCHED_LIB, which come first, and StarPU's names that
 * mean one of ours, which it says; policy: as the application sees it. */
const struct sched_ops *sched_named(struct node *node, const char *name,
				    struct starpu_sched_policy **policy);
/* " (did you mean NAME?)": one of ours, of a name which none has; else nothing. */
void sched_hint(const char *name, char *text, size_t bytes);
/* What a node has when nobody wishes anything. */
const struct sched_ops *sched_usual(struct node *node);
/* The same of an object: the application's own, or one of ours, or a copy of it with
 * another name. */
const struct sched_ops *sched_given(struct node *node,
				    struct starpu_sched_policy **policy);
/* What conf and knobs wish; says so when the name is unknown.  With one of the
 * application's, its object. */
const struct sched_ops *sched_choose(struct node *node,
				     struct starpu_sched_policy **policy);
void sched_push(struct job *job);
struct job *sched_pop(struct worker *worker);
/* Policies: keep the job until the set of workers changes. */
void sched_put_aside(struct sched *sched, struct job *job);

/* ---- the set of workers ---------------------------------------------- */

/* In the order of their numbers: the first from a number on, the last before one; or
 * NULL. */
static inline struct worker *sched_worker_from(const struct sched *sched, int id)
{
	unsigned mask = ~0u << (id % 32);

	for (int i = id / 32; i < sched->nwords; i++) {
		unsigned bits = (unsigned)orr_load(&sched->members[i]) & mask;

		if (bits)
			return &sched->node->workers[32 * i + __builtin_ctz(bits)];
		mask = ~0u;
	}
	return NULL;
}

static inline struct worker *sched_worker_before(const struct sched *sched, int id)
{
	unsigned mask = (1u << (id % 32)) - 1;

	for (int i = id / 32; i >= 0; i--) {
		unsigned bits = 0;

		if (i < sched->nwords)
			bits = (unsigned)orr_load(&sched->members[i]) & mask;
		if (bits)
			return &sched->node->workers[32 * i + 31 - __builtin_clz(bits)];
		mask = ~0u;
	}
	return NULL;
}

#define SCHED_EACH_WORKER(worker, sched)                                                 \
	for (struct worker *worker = sched_worker_from(sched, 0); worker;                \
	     worker = sched_worker_from(sched, worker->id + 1))

/* Of one of the application's, what the policy inside it does. */
static inline const struct sched_ops *sched_ops_inside(const struct sched *sched)
{
	return sched->inner ? sched->inner->ops : sched->ops;
}

/* Is the worker of the set?  It may not have followed yet. */
static inline int sched_has(const struct sched *sched, const struct worker *worker)
{
	return orr_load(&sched->members[worker->id / 32]) >> (worker->id % 32) & 1;
}

/* ---- jobs and workers ------------------------------------------------ */

/* Ends the run: the task is for a scheduler that does not exist. */
__attribute__((noreturn)) void sched_missing(const struct node *node,
					     const struct starpu_task *task);

/* Of a task that is submitted. */
static inline struct sched *sched_of_task(struct node *node,
					  const struct starpu_task *task)
{
	struct sched *sched = NULL;

	if (task->sched_ctx == STARPU_NMAX_SCHED_CTXS)
		return node->scheds[0];
	if (task->sched_ctx < STARPU_NMAX_SCHED_CTXS)
		sched = orr_load_ptr((void **)&node->scheds[task->sched_ctx]);
	if (!sched)
		sched_missing(node, task);
	return sched;
}

static inline void sched_started(struct worker *worker, struct job *job)
{
	struct sched *sched = job->sched;

	if (sched->ops->started)
		sched->ops->started(sched, worker, job);
}

static inline void sched_ended(struct worker *worker, struct job *job)
{
	struct sched *sched = job->sched;

	if (sched->ops->ended)
		sched->ops->ended(sched, worker, job);
}

/* worker: who ran it, or NULL. */
static inline void sched_finished(struct worker *worker, struct job *job)
{
	struct sched *sched = job->sched;

	if (worker && sched->ops->finished)
		sched->ops->finished(sched, worker, job);
}

#endif
