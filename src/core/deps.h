/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DEPS_H
#define ORR_CORE_DEPS_H

/*
 * deps.h - turns on data: implicit dependencies and mutual exclusion.
 *
 * Two stages.  First each access takes its turn, in submission order per datum.
 * Then, when all turns have come, a job with exclusive accesses (COMMUTE, or without
 * sequential consistency) takes all its exclusions at once or none, and tries
 * again when one is given back; holding none while it waits, it cannot deadlock.
 */
#include "core/data.h"

/*
 * Queue the accesses of job (modes set, duplicates merged by deps_merge()).  Locks
 * all data of the job together, in address order, so that two threads' submissions
 * cannot cross.  Counts into job->missing; the caller still holds its own count.
 */
void deps_submit(struct job *job, int sequential);
/* Merge accesses to one datum into the first of them. */
void deps_merge(struct job *job);
/* All turns have come: 1 when the job may start, 0 when it will be retried. */
int deps_exclude(struct job *job);
/* Give the accesses back; jobs that may start now are appended to ready. */
void deps_release(struct job *job, struct ready *ready);
/* As above, one access; or downgrade a write to a read. */
void deps_release_access(struct access *access, struct ready *ready);
void deps_downgrade_access(struct access *access, struct ready *ready);

#endif
