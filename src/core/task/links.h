/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_LINKS_H
#define ORR_CORE_TASK_LINKS_H

/*
 * links.h - explicit dependencies: tasks after tasks, ends after ends, tags after tags.
 *
 * A point is what happens again and again: the end of a task, or a tag.  A link carries
 * each occurrence of one point to another, so the k-th run of a task waits for the k-th
 * occurrence, since the declaration, of each point before it.  What nobody waits for yet
 * is kept in the link.  Links last as long as their points: they hold again when tasks
 * are submitted again or regenerated.
 *
 * All links of a node are under node->links_lock; the fast path is implicit
 * dependencies, and a job without links never takes it.
 */
#include "base/list.h"
#include "core/task/job.h"

struct point {
	struct list in, out; /* links that end, that begin here */
	int missing;         /* links whose next occurrence a submitted task waits for */
	unsigned char is_tag;
	unsigned char done; /* has happened since it was last submitted or restarted */
};

struct link {
	struct list in, out; /* in the point where it ends, in the one where it begins */
	struct point *from, *to;
	uint64_t arrivals; /* occurrences, only counted for tags without a task */
	unsigned spare;    /* those that no run has waited for yet, as far as it goes */
	unsigned char awaited; /* a submitted task waits for the next occurrence */
	unsigned char past;    /* from was done when the link was made, and not since */
	unsigned char at_end;  /* holds back the end of the task, not its start */
};

/* The point of a job: the end of its task. */
struct job_point {
	struct point point; /* first */
	struct job *job;
	struct tag *tag;      /* that the task carries, or NULL */
	struct list attached; /* in tag->jobs */
	unsigned char gated;  /* job->missing counts the tag, once */
};

/* after starts, or with at_end ends, after the coming ends of before. */
void links_declare(struct job *after, struct job *before, int at_end);
/* The job is submitted: make it wait for what it must.  again: it regenerates. */
void links_arm(struct job *job, int again);
/* The run of a job with a point has ended: whoever links to it may go on.  Enters
 * LIFE_ENDING, which without a point needs the job's lock only. */
void links_fire(struct job *job, struct ready *ready);
/* A job with a point goes away, and its links with it. */
void links_forget(struct job *job);
/* Up to n of the tasks that wait for the end of job; returns how many there are. */
unsigned links_successors(struct job *job, unsigned n, struct starpu_task **tasks,
			  int submitted_only);
/* Tell who waits for the coming end of job; links are locked meanwhile. */
void links_describe(struct job *job, void (*say)(void *arg, struct job *after),
		    void *arg);

/* Tell the jobs that wait for one explicit dependency only, which the coming end of job
 * will satisfy; links are locked meanwhile. */
void links_followers(struct job *job, void (*say)(void *arg, struct job *after),
		     void *arg);

/* ---- for tags.c: links are locked ------------------------------------- */

void point_init(struct point *point, int is_tag);
struct job_point *job_point_of(struct job *job);
struct link *link_new(struct node *node, struct point *from, struct point *to);
/* A submitted task waits for the links that end here; returns how many hold it back. */
int point_arm(struct point *point);
/* Tell the jobs that wait for this point, and for no other. */
void point_followers(const struct point *point, void (*say)(void *arg, struct job *after),
		     void *arg);
/* The point happens. */
void point_fire(struct point *point, struct ready *ready);
/* Take all links off the point; who waited for it need not any more. */
void point_clear(struct node *node, struct point *point, struct ready *ready);

#endif
