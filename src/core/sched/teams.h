/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_TEAMS_H
#define ORR_CORE_SCHED_TEAMS_H

/*
 * teams.h - several processors that run one task together (StarPU: combined workers).
 *
 * Who gives a job to a team makes a gang of its members: an entry in the line of each.
 * All lines are extended at once, so that members meet in the same order everywhere.  A
 * member that comes to the gang takes no other task; when all are there, the first one,
 * the gang's lead, executes the job as its own.  A kernel of the kind STARPU_SPMD is
 * called by each member, where workers have threads of their own, else by the lead for
 * all ranks, one after the other; the end of the last call is the job's.
 *
 * A gang whose members have aliases (core/sched/aliases.h) also tells the policy of each
 * of them when it begins and ends its part.
 */
#include "base/table.h"
#include "core/worker.h"

struct team {
	struct team *next; /* of those without a number */
	int number;        /* behind those of the workers; -1: none */
	struct starpu_perfmodel_device device;
	struct starpu_perfmodel_arch arch;
	int size, ids[]; /* ascending */
};

struct teams {
	struct orr_lock lock; /* of the members' lines; and who adds a team has it */
	int n;                /* atomic */
	struct team *at[STARPU_NMAX_COMBINEDWORKERS];
	int ngatherings;         /* atomic */
	struct team *unnumbered; /* under the lock, as: */
	struct table gatherings; /* of aliases.h: members that come one by one, by job */
};

struct gang {
	const struct team *team;
	struct job *job;
	int is_spmd;
	int narrived, nparts; /* atomic: who are there; calls that have not ended */
	int rank;             /* of the call, where the lead makes all */
	double since_s;       /* it runs */
	struct starpu_task **aliases; /* of the job's task, by rank, some NULL; or NULL */
	struct gang *next[];          /* in the lines, by rank */
};

/* The node opens, closes. */
void teams_open(struct node *node);
void teams_close(struct node *node);
/* The one with these members (numbers of processors, any order): made if it is new.
 * NULL: there are as many as there may be.  Any thread. */
const struct team *teams_declare(struct node *node, const int *ids, int n);
/* The one with these members, perhaps without a number; the teams are locked. */
const struct team *teams_of(struct node *node, const int *ids, int n);
/* By number; NULL: none. */
const struct team *teams_find(const struct node *node, unsigned number);
/* Those that the order of the processors suggests, of a scheduler's processors: all of
 * them, then parts, down to STARPU_MIN_WORKERSIZE. */
void teams_declare_usual(struct sched *sched);
int team_has(const struct team *team, const struct worker *worker);
/* Do all belong to the scheduler, and can run the job? */
int team_can_run(const struct team *team, struct sched *sched, struct job *job);

/* ---- gangs ----------------------------------------------------------- */

/* The job, of which nobody else knows, goes to a team.  Any thread. */
void gang_start(const struct team *team, struct job *job);
/* The same with aliases, or NULL, which are the gang's from now on. */
void gang_start_with(const struct team *team, struct job *job,
		     struct starpu_task **aliases);
/* The task has ended, and the gang is about to: say so of its members. */
void gang_tell_end(struct worker *lead, struct gang *gang);
/* The worker, which has no task, stands in the line of a gang: its job if all are there
 * and it leads, else NULL. */
struct job *gang_come(struct worker *worker);
/* The job that the lead was given cannot run now: all may go. */
void gang_disband(struct worker *lead);
/* The gang in which the worker runs this job, or NULL; for who runs it: a gang ends with
 * its job. */
static inline struct gang *gang_of(const struct worker *worker, const struct job *job)
{
	struct gang *gang = orr_load_ptr((void **)(uintptr_t)&worker->gangs);

	return gang && worker->has_come && gang->job == job ? gang : NULL;
}
/* Has the worker come to a gang that another one leads?  Any thread. */
static inline int gang_follows(struct worker *worker)
{
	return orr_load(&worker->has_come) && !worker->leads;
}
/* The lead begins to run the job: others call the kernel, too. */
void gang_run(struct worker *lead, struct gang *gang);
/* One call has ended: 1 when it was the last. */
int gang_part_ended(struct gang *gang);
/* A member: call the kernel if it is time.  1 when it did. */
int gang_step(struct worker *worker);
/* The architecture on which the worker runs the task. */
struct starpu_perfmodel_arch *gang_arch(struct worker *worker,
					const struct starpu_task *task);
/* Which of how many calls of the task's kernel is that of the calling worker, or of the
 * team's number; 0 of 1, -1: it runs alone. */
struct gang_place {
	int rank, size, number;
};
struct gang_place gang_place(const struct worker *worker, const struct job *job);
/* The task as the policy knows it that gave the worker this job. */
struct starpu_task *gang_task(const struct worker *worker, const struct job *job);
/* Call the kernel, where workers have no threads of their own: of a gang, for all ranks.
 */
void gang_call_kernel(struct worker *worker, struct job *job, kernel_t kernel);

#endif
