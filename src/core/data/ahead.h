/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_AHEAD_H
#define ORR_CORE_DATA_AHEAD_H

/*
 * ahead.h - prefetches: wishes that a value be in a memory before somebody needs it.
 *
 * A wish takes its turn as a reader would, so that it comes after the writers submitted
 * before it.  If few prefetches go to its memory then, it fetches; else it gives its turn
 * back and waits in the line of that memory, by patience, priority and age.  In line it
 * holds nothing, so nobody ever waits for it: who needs the value fetches it himself, a
 * writer goes on, and the end of the datum drops it.  When it is its time, it fetches if
 * the datum can be read at once, and is forgotten otherwise.
 *
 * An idle wish goes when nothing travels to or from its memory, and nobody waits there.
 */
#include "core/data/data.h"

struct ahead {
	unsigned memory;
	int prio;
	int is_idle;
	int leaves; /* once its turn has come, ahead_let_leave() */
};

/* Of the idle copies in memories with room.h, the datum's go first from now on, if
 * room is wanted.  It is locked. */
void ahead_let_leave(starpu_data_handle_t handle);

/* Any thread; the datum fits into the memory. */
void ahead_wish(starpu_data_handle_t handle, const struct ahead *ahead);
enum ahead_answer {
	AHEAD_TRAVELS, /* a value */
	AHEAD_THERE,   /* all that it reads, until the memory loses a copy */
	AHEAD_LATER    /* nothing travels now, but may have to */
};

/*
 * A ready task is going to run in memory: begin to bring a value that it lacks there, if
 * one may have the room without waiting.  The task has its turn on its data and keeps it
 * meanwhile; no datum is locked.
 */
enum ahead_answer ahead_bring(struct job *job, unsigned memory);
/* Something has ended in a memory: see whose time it is.  Nothing is locked. */
void ahead_serve(struct node *node, unsigned memory);
/* A transfer between the two begins, or has ended. */
void ahead_count(struct node *node, unsigned from, unsigned to, int change);
/* How many more may begin to what tasks will need, as the memory's driver wants it. */
int ahead_room(const struct memory *memory);
/* The datum, which has a gate or is dying, ends: its wishes are dropped. */
void ahead_forget(starpu_data_handle_t handle);
/* The node closes: all wishes are dropped. */
void ahead_close(struct node *node);

#endif
