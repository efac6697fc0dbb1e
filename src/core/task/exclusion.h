/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_EXCLUSION_H
#define ORR_CORE_TASK_EXCLUSION_H

/*
 * exclusion.h - who holds a datum now: readers together, or one writer.
 *
 * Data that are used in order only need none of this: whose turn it is holds the
 * datum at once, whatever else its job still waits for (body->granted).  That hold is
 * provisional: the first job that wants to hold the datum against it confirms those
 * whose jobs have started and takes it from the others, which then take exclusion like
 * everybody: all data of a job at once or none, when nothing else is missing.
 *
 * So only jobs hold that wait for nothing.  Who cannot hold stands at the datum that
 * hinders it (body->outside) and is tried again when that is given back; an access in
 * a chain of woken ones stands nowhere, and who has the chain tries it.  While somebody
 * stands outside nobody holds provisionally.
 *
 * deps.c calls these; data are locked where it says so.
 */
#include "core/data/data.h"

static inline int access_writes(const struct access *access)
{
	return (access->mode & STARPU_W) != 0;
}

/* Is the datum free for the access?  Locked. */
static inline int exclusion_allows(const struct data_body *body,
				   const struct access *access)
{
	return access_writes(access) ? body->nholders == 0 : body->nholders >= 0;
}

static inline int exclusion_is_awaited(const struct data_body *body)
{
	return ((uintptr_t)body->outside[0] | (uintptr_t)body->outside[1]) != 0;
}

/* The access joins a list of those who hold: body->granted or body->holding; the caller
 * sets its state.  Locked. */
static inline void exclusion_hold(struct data_body *body, struct access **list,
				  struct access *access)
{
	if (access_writes(access))
		body->nholders = -1;
	else
		body->nholders++;
	access->beside = *list;
	access->at = list;
	if (access->beside)
		access->beside->at = &access->beside;
	*list = access;
}

/* It holds no more; the caller sets its state.  Locked. */
static inline void exclusion_drop(struct data_body *body, struct access *access)
{
	body->last_wrote = (unsigned char)access_writes(access);
	if (body->last_wrote)
		body->nholders = 0;
	else
		body->nholders--;
	*access->at = access->beside;
	if (access->beside)
		access->beside->at = access->at;
}

/* Confirm or take away what is held provisionally.  Locked. */
void exclusion_settle(struct data_body *body, struct ready *ready);
/* Take those who may now hold from outside into the chain of woken ones.  Locked. */
void exclusion_wake(struct data_body *body, struct access **woken);
/*
 * Nothing is missing to the job, and job->exclusive is set: 1 when it holds all its
 * data.  0: its start() is called when it does, perhaps before this returns.
 */
int exclusion_take(struct job *job, struct ready *ready);
/* Try the woken ones, and whom they wake; jobs that hold are appended to ready. */
void exclusion_retry(struct access *woken, struct ready *ready);

/* The accesses of a job that take turns, by address of their data. */
struct sorted {
	int n;
	struct access **access;
	struct access *few[JOB_INLINE_ACCESSES];
};

void sorted_fill(struct sorted *sorted, struct job *job);

static inline void sorted_lock(const struct sorted *sorted)
{
	for (int i = 0; i < sorted->n; i++)
		orr_lock(&sorted->access[i]->datum->lock);
}

static inline void sorted_unlock(const struct sorted *sorted)
{
	for (int i = sorted->n - 1; i >= 0; i--)
		orr_unlock(&sorted->access[i]->datum->lock);
}

#endif
