/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_MODEL_MERGE_H
#define ORR_CORE_MODEL_MODEL_MERGE_H

/*
 * model_merge.h - several processes measure under one name, as the ranks of a host do.
 *
 * Who writes a file that has changed since it was seen adds what it measured itself to
 * what is there now; without a change it writes what it has.
 */
#include "core/model/model_file.h"

/* One state of a file. */
struct model_version {
	unsigned long long device, inode;
	long long bytes, seconds, nanoseconds; /* of its last change */
};

/* All 0: there is no such file. */
struct model_version model_version_of(const char *path);
int model_version_is(const struct model_version *a, const struct model_version *b);

/*
 * Nobody else of this library adds to the files of this directory until it is unlocked.
 * Returns what model_merge_unlock() takes; -1: the file system has no locks, and of
 * several writers at one moment one may win; -EBUSY: somebody keeps it for limit_s (0:
 * for ever), which has been told.
 */
int model_merge_lock(const char *path, double limit_s, int rank);
void model_merge_unlock(int lock);

/* data is what its file has. */
void model_merge_seen(struct model_data *data);
/*
 * theirs is what the file of ours has become: it is added to what ours was measured
 * since it was seen.  Where the means of both are more than max_error_percent apart, by
 * StarPU's rule, the one of more measurements stays.  minimum: see model_fit_solve().
 */
void model_merge(struct model_data *ours, const struct model_data *theirs,
		 unsigned max_error_percent, unsigned minimum);

#endif
