/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_ACQUIRE_H
#define ORR_CORE_TASK_ACQUIRE_H

/*
 * acquire.h - take a turn on one datum without a task: the application's
 * starpu_data_acquire(), and each message of the MPI layer.
 *
 * The owner embeds struct acquire, zeroed, and sets by.  acquired may be called from
 * inside acquire_start() when the datum is available at once.
 */
#include "core/data/data.h"

/* For struct acquire: in whichever main memory the value is when the turn has come; its
 * number replaces this. */
enum { ACQUIRE_MAIN_MEMORY = -3 };

struct acquire;

/* Who acquires; constant. */
struct acquirer {
	void (*acquired)(struct acquire *acquire);
	/* Its turn has come, the copy not yet: may change memory.  Of a quiet one that
	 * asks for the first main memory it may be left out.  NULL: nothing. */
	void (*granted)(struct acquire *acquire);
	const char *what; /* for messages; or NULL */
	int is_quiet;     /* neither calls anything of the application's */
	/* The same with what only the acquirer knows; or NULL. */
	void (*describe)(const struct acquire *acquire, char *text, size_t bytes);
};

/* The first part of a job, and less than the whole of it: many requests wait for their
 * turn in large simulations. */
struct acquire {
	_Alignas(struct job) char common[JOB_COMMON_BYTES]; /* first: acquire_job() */
	struct access access;
	const struct acquirer *by;
	/* Where the data is wanted; STARPU_ACQUIRE_NO_NODE: nowhere. */
	int memory;
	unsigned char is_hint; /* the copy need not come: see struct job */
	/* Counts as submitted until acquired() returns. */
	unsigned char counted;
};

static inline struct job *acquire_job(struct acquire *acquire)
{
	return (struct job *)(void *)acquire;
}

/* mode: STARPU_R, W or RW, with COMMUTE allowed.  sequential 0: no turn, only
 * exclusion.  Any thread. */
void acquire_start(struct node *node, struct acquire *acquire,
		   starpu_data_handle_t handle, unsigned mode, int sequential);
/* In place of acquire_start(): as if it had been, and waits for its turn, for a caller
 * that has counted it as blocked, and puts it in its place.  The datum is locked. */
void acquire_wait(struct node *node, struct acquire *acquire, starpu_data_handle_t handle,
		  unsigned mode);
/* 1: taken, acquired is called when the copy has come, maybe from inside; 0: not
 * available now, nothing is left behind. */
int acquire_try(struct node *node, struct acquire *acquire, starpu_data_handle_t handle,
		unsigned mode);
/* Give the datum back; the struct may be freed or used again on return.  May be called
 * from inside acquired(). */
void acquire_release(struct acquire *acquire);
/* The same, of a reader, unless somebody waits for that: 1; 0: it has kept the datum.
 * Calls nothing of the application's, and nothing else starts. */
int acquire_release_unheard(struct acquire *acquire);
/* A writer becomes a reader: other readers may start. */
void acquire_downgrade(struct acquire *acquire);

#endif
