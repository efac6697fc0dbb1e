/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_DEPS_H
#define ORR_CORE_TASK_DEPS_H

/*
 * deps.h - turns on data: implicit dependencies and mutual exclusion.
 *
 * Two stages.  First each access takes its turn, in submission order per datum.
 * Then, when nothing else is missing, a job with accesses that need more than their turn
 * (COMMUTE, or without sequential consistency, or beside such ones) takes all its
 * exclusions at once or none: see exclusion.h.
 */
#include "core/data/data.h"

/* Before them, with nothing locked: data_settle_outdated() for the job's data. */
void deps_settle(const struct job *job, int sequential);

/*
 * Queue the accesses of job (modes set, duplicates merged by deps_merge()).  Locks
 * all data of the job together, in address order, so that two threads' submissions
 * cannot cross.  Counts into job->missing; the caller still holds its own count.
 * Jobs that may start now are appended to ready: what a group's end began, see turns.h.
 */
void deps_submit(struct job *job, int sequential, struct ready *ready);
/*
 * An invalidation of a datum that others use waits for them, mostly for a long time and
 * with nobody behind it: a simulation that has inserted everything has one for each
 * message that a node will get.  So where a process has one thread, it is a bit of the
 * datum, and is made when its turn comes or somebody queues behind it.  Returns 0 where
 * it cannot be put off.
 */
int deps_put_off_wiping(starpu_data_handle_t datum);
/* It is made, for who is to see all that wait.  The datum is locked. */
void deps_line_up(starpu_data_handle_t datum);
/*
 * With job_satisfy() and coherency_fetch(), in one hold of the lock, of a job with one
 * access that waits for nothing besides, and fetches to the first main memory, which has
 * no limit.  DEPS_WAITS: not its turn, and that is all that has happened.
 */
enum deps_begun { DEPS_WAITS, DEPS_FETCHES, DEPS_IS_THERE };
enum deps_begun deps_submit_home(struct job *job, struct ready *ready);
/* For a job with one access: 1 when it has turn and datum at once, else nothing is left
 * behind.  Jobs that may start now are appended to ready. */
int deps_try(struct job *job, struct ready *ready);
/* Sort the accesses, and merge those to one datum into the first of them. */
void deps_merge(struct job *job);
/* Give the accesses back; jobs that may start now are appended to ready. */
void deps_release(struct job *job, struct ready *ready);
/* With coherency_unpin(), of one datum in one hold of its lock: 1; 0, and nothing is
 * done: that is not all there is to do. */
int deps_release_home(struct job *job, struct ready *ready);
/* Give back the one datum that job reads, unless somebody waits for that, or copies are
 * to be seen to: 1, else 0.  Nothing else starts, and nothing is called. */
int deps_release_unheard(struct job *job);
/* The datum was held back (turns.h), and what that was for is over. */
void deps_resume(starpu_data_handle_t datum, struct ready *ready);
/* One more user of the datum, which holds nothing but its end; and one less. */
void deps_pend(starpu_data_handle_t datum);
void deps_unpend(starpu_data_handle_t datum);
/* A writer becomes a reader. */
void deps_downgrade_access(struct access *access, struct ready *ready);

#endif
