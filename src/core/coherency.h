/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_COHERENCY_H
#define ORR_CORE_COHERENCY_H

/*
 * coherency.h - where the current value of a datum is, and how it gets elsewhere.
 *
 * The caller holds a granted access, so readers never meet a writer here; several
 * readers may fetch at once.  A fetch pins the copy (refs) until coherency_unpin().
 */
#include "core/data.h"

/*
 * Make the datum usable in memory as access->mode says: room for it, and its value
 * when it is read.  Returns 1 when it is there, 0 when access->job will hear of it
 * through job->nfetching (job_fetched() when it comes to zero).
 */
int coherency_fetch(struct access *access, unsigned memory);
/* The access is over; a written copy becomes the only valid one at fetch already. */
void coherency_unpin(struct access *access);
/* All fetches of job have ended; in worker.c for tasks, in acquire.c otherwise. */
void job_fetched(struct job *job);
/* Forget the value; free what the runtime allocated when release is set. */
void coherency_invalidate(starpu_data_handle_t handle, int release);
/* Is there room for all data of job beside what is in use?  Ends the program when there
 * could never be. */
int coherency_fits(struct job *job, unsigned memory);
/* Bytes that would have to move for job to run in memory, in expected seconds. */
double coherency_expected_s(struct job *job, unsigned memory);

#endif
