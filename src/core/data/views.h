/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_VIEWS_H
#define ORR_CORE_DATA_VIEWS_H

/*
 * views.h - which of a datum and its parts may be used, and the way from one to another.
 *
 * A part may be read when its partition's view is VIEW_READ or VIEW_WRITE, and written in
 * the latter; a datum may be read unless a partition of it is in VIEW_WRITE, and written
 * when all are closed.  So a partition in VIEW_WRITE is the only open one of its parent,
 * and then the parent, if it is a part, could be written itself.
 *
 * Who submits a use in order has the views changed for it: views_submit() does that, and
 * submits the job before anybody else can change them again.
 */
#include "core/data/handover.h"

/* deps_submit() of a job that uses data with DATUM_VIEWS. */
void views_submit(struct job *job, int sequential, struct ready *ready);
/* Have the views changed for an attempt to acquire, which may fail until they are. */
void views_prepare(starpu_data_handle_t handle, unsigned mode, struct ready *ready);
/* May the datum be read as things are?  Nothing changes hands because of a hint. */
int views_allow_reading(starpu_data_handle_t handle);

/* ---- starpu_data_partition() and its opposite; they block -------------- */

void views_partition(struct node *node, starpu_data_handle_t handle,
		     struct starpu_data_filter *filter);
/* The value is brought to memory. */
void views_unpartition(struct node *node, starpu_data_handle_t handle, unsigned memory);

/* ---- planned partitions ---------------------------------------------- */

struct partition *views_plan(starpu_data_handle_t handle,
			     struct starpu_data_filter *filter);
/*
 * wish->kind is one of those that open, change or close; what has to come before, of
 * parents, of other partitions and of parts, is submitted, too.  0, or -EINVAL when the
 * partition's view is none that this begins with: *view says which one it is.
 */
int views_change(struct partition *partition, const struct handover_wish *wish,
		 enum view *view);
/* The parent can be read, if that has to be done. */
void views_share(struct partition *partition);
/* Close and drop it, with its parts, none of which has a partition: else -EBUSY. */
int views_clean(struct partition *partition);

#endif
