/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_SCHED_HETEROPRIO_H
#define ORR_CORE_SCHED_SCHED_HETEROPRIO_H

/*
 * sched_heteroprio.h - what the application tells policy heteroprio about its buckets.
 *
 * The scheduler's policy is heteroprio.  All but the last two return 0; -EINVAL for a
 * number out of range; -EBUSY while tasks wait in buckets: what is known of these would
 * not hold any more.
 */
#include <stdio.h>

#include "core/sched/sched.h"

enum { HETEROPRIO_BUCKETS = 100 }; /* and priorities of a type of workers */

/* Workers of the type look at the buckets of their first n priorities. */
int heteroprio_set_npriorities(struct sched *sched, unsigned type, unsigned n);
/* Their priority, 0 the first, is that bucket. */
int heteroprio_set_bucket(struct sched *sched, unsigned type, unsigned priority,
			  unsigned bucket);
/* They are the fastest with the tasks of the bucket. */
int heteroprio_set_fastest(struct sched *sched, unsigned type, unsigned bucket);
/* They take that many times as long as the fastest. */
int heteroprio_set_slowness(struct sched *sched, unsigned type, unsigned bucket,
			    float factor);
/* Tasks wait at the memory where most of their data are. */
void heteroprio_set_locality(struct sched *sched, int is_local);
/* Which workers look at what memory first. */
void heteroprio_print_groups(const struct sched *sched, FILE *out);

#endif
