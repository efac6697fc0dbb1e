/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_PARTITION_H
#define ORR_CORE_DATA_PARTITION_H

/*
 * partition.h - a datum cut into parts, which are data of their own.
 *
 * A datum may have several partitions, and parts may have partitions.  Who has the value,
 * the parent or the parts of one of its partitions, is said by the partition's view: a
 * property of the moment of submission, guarded by node->views_lock, that changes with
 * the submission of a handover (handover.h).  It is as true for a task submitted now as
 * the order of the turns.
 *
 * In one memory, data_base_memory(), the bytes of a part are those of the parent: there a
 * value changes hands without being copied.  Elsewhere parts have memory of their own.
 */
#include "base/table.h"
#include "core/data/data.h"

enum view {
	VIEW_CLOSED, /* the parent has the value */
	VIEW_READ,   /* so have the parts, and nobody writes */
	VIEW_WRITE   /* the parts have it, the parent has not */
};

/* What may be noted of a datum between ranks: that some hold copies, or contributed. */
enum note { NOTE_COPIES, NOTE_CONTRIBUTIONS, NNOTES };

/* Of a partition: parts of which something was noted, or of what they are cut into. */
struct noted {
	struct partition *next, **at; /* of the same parent that have some; or NULL */
	unsigned *parts, nlisted;     /* their numbers */
	unsigned char *is_listed;     /* of each part */
};

/* What the partitions of one datum have in common; see relatives.h. */
struct family {
	struct partition *noted[NNOTES]; /* those that have such parts */
	int npartitions;
	unsigned char has_told; /* the relatives of the datum */
};

struct partition {
	struct partition *next, **at; /* of the same parent; the pointer to this one */
	/* The same for those that are not closed: the views of a datum with thousands of
	 * plans change without a look at the others. */
	struct partition *next_open, **at_open;
	unsigned long number; /* in the order of planning */
	int nplans;           /* of the parent, if this is the first of its partitions */
	starpu_data_handle_t parent;
	int users;   /* atomic: the parent's list, and each handover that has not ended */
	int nnested; /* partitions of the parts */
	uintptr_t base;     /* where the parent was when the parts' structs were made */
	unsigned char view; /* enum view */
	unsigned char is_planned; /* else starpu_data_partition() */
	unsigned char is_fixed;   /* base is not known to us: the parent's memory stays */
	unsigned char is_partial; /* elements of the parent are in no part */
	unsigned char keeps;      /* and have a value since it was opened */
	unsigned char overlaps;   /* parts share bytes, which nobody was told yet */
	unsigned overlapping[2];  /* two that do */
	unsigned char has_told;   /* the relatives of its parts: see relatives.c */
	unsigned nparts;
	struct family *family; /* of a parent; see relatives.h for it and for these */
	struct noted noted[NNOTES];
	struct table numbers; /* of the parts, plus 1; from the first note on */
	starpu_data_handle_t parts[];
};

/* Cut; the filter is the application's, and nothing may be locked. */
struct partition *partition_new(starpu_data_handle_t parent,
				struct starpu_data_filter *filter, int is_planned);
/* The views are locked. */
void partition_link(struct partition *partition);
void partition_unlink(struct partition *partition);
void partition_set_view(struct partition *partition, enum view view);
/* The first of those that are not closed; one of VIEW_WRITE is alone among them. */
struct partition *partition_first_open(starpu_data_handle_t handle);
/* Order them: the newest is first. */
void partition_sort_open(starpu_data_handle_t handle);
/* One user less; the last one frees it, without its parts. */
void partition_drop(struct partition *partition);
/* The parent's memory may be another one than when it was cut: nobody uses the parts. */
void partition_follow(struct partition *partition);

/* Of a datum: the first of its partitions, the one that is not planned; or NULL. */
struct partition *partition_first(starpu_data_handle_t handle);
struct partition *partition_synchronous(starpu_data_handle_t handle);
int partition_nplans(starpu_data_handle_t handle);
/* That it is a part of, or NULL. */
struct partition *partition_of(starpu_data_handle_t handle);

#endif
