/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_CLASSES_H
#define ORR_CORE_SCHED_CLASSES_H

/*
 * classes.h - workers of one device, or cores, at one memory: what is asked of one of
 * them holds for all, but when it is free.
 *
 * Classes are numbered in the order of their first workers, and hold theirs in order.
 * Those of the scheduler's set are members.
 */
#include "core/sched/sched.h"
#include "core/sched/soonest.h"

struct class
{
	int nmembers; /* atomic */
	int first;    /* place of the first member, if there is one */
	unsigned memory;
	struct soonest soonest;
};

/* Where a worker is. */
struct seat {
	int class, place;
	int is_member;
};

struct classes {
	int n;
	int seen_changes; /* atomic: of the set of workers */
	struct class *class;
	struct seat *seats;      /* by number of the worker */
	struct worker **workers; /* of the classes, one after the other */
};

/* Does the task not care which worker of a class it gets?  No: each is asked. */
int classes_hold_for(const struct node *node, const struct starpu_task *task);
int classes_are_like(const struct worker *worker, const struct worker *other);
void classes_init(struct classes *classes, struct node *node);
void classes_free(struct classes *classes);
/* Has the set changed since classes_follow()? */
static inline int classes_are_behind(const struct classes *classes,
				     const struct sched *sched)
{
	return orr_load(&classes->seen_changes) != orr_load(&sched->changes);
}
/* Look who is a member.  Who is not takes no part in the tournament; the caller says of
 * the others what they have to do.  The caller's lock guards it, as classes_note(). */
void classes_follow(struct classes *classes, struct sched *sched);
/* The same, of those that are said to be members. */
void classes_choose(struct classes *classes,
		    int (*is_member)(const void *whose, const struct worker *worker),
		    const void *whose);
/* See soonest_set(). */
void classes_note(struct classes *classes, int worker, double waiting_s, double end_s);

#endif
