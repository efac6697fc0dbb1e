/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_ROOM_H
#define ORR_CORE_DATA_ROOM_H

/*
 * room.h - who may use how much of a memory: reserve, evict, wait.
 *
 * Knows copies by their size and by who uses them, and nothing of values.  A job asks
 * for all its data at once and gets all or nothing, so that no two jobs hold half of
 * what they need each.  Those that wait stand in line; the first decides what has to
 * leave, and what is leaving already counts as room to come.  Only copies in use by the
 * application, of which nobody knows the end, let others pass.
 *
 * In main memories the application and messages wait for nobody, since who they belong to
 * may wait for what comes after: they go over the limit, then others leave.  So does one
 * task at a time when nobody else is left there.
 *
 * All of it is about memories that have a limit or are not the first main memory, under
 * the memory's lock, which is taken under a datum's lock or under none.
 */
#include "core/data/data.h"
#include "core/node.h"

/* The copy's bytes, unless it has room already; the datum is locked. */
void room_measure(struct copy_state *copy, size_t bytes);
/* Can bytes ever be in the memory together? */
int room_fits(struct node *node, unsigned memory, size_t bytes);
/*
 * Room for the copies of all of the job's accesses in memory, set by the caller, who
 * has no datum locked.  1: reserved, each copy in use; 0: coherency_admitted() or
 * coherency_refused() will be called once.  Ends the program when a task is larger than
 * the memory.
 */
int room_reserve(struct job *job, unsigned memory);
/* Would a copy of so many bytes, which has neither memory nor room, be given room by
 * room_try()? */
int room_is_free(struct node *node, unsigned memory, size_t bytes);
/* Has the copy neither? */
static inline int room_is_unmade(const struct copy_state *copy)
{
	return copy->room == ROOM_NONE && !copy->is_users;
}
/* Room for one copy, which is in use then: 1; 0: nobody waits for such a one, and there
 * is none without waiting. */
int room_try(struct copy_state *copy);
/* Use the copy, which has room: it stays, also when it was about to leave. */
void room_use(struct copy_state *copy);
/* The opposite; stale: nobody will miss the copy.  access is NULL for a transfer's. */
void room_unuse(struct copy_state *copy, const struct access *access, int stale);
/* It has got no buffer: one user less, and no room when it was the last. */
void room_abandon(struct copy_state *copy);
/* The copy's value is stale from now on: of those not in use, it goes first. */
void room_demote(struct copy_state *copy);
/* 1: the copy is on its way out and nobody can use it before room_gone(); 0: somebody
 * uses it.  room_take() is for copies that nobody evicts. */
int room_let_go(struct copy_state *copy);
int room_take(struct copy_state *copy);
/* The same for a copy that only the caller uses and that nobody else knows. */
void room_close(struct copy_state *copy);
/* Its memory has been freed. */
void room_gone(struct copy_state *copy);
/* Let an idle copy leave: 1, and coherency_evict() is the caller's to call, with nothing
 * locked; 0: it is in use, or not there. */
int room_expel(struct copy_state *copy);
/* It was leaving, and is idle again, not to be asked to leave before something changes:
 * 1; 0: somebody uses it. */
int room_stay(struct copy_state *copy);
/* Use it on behalf of the application, room or not, and the opposite. */
void room_hold(struct copy_state *copy);
void room_let(struct copy_state *copy, int stale);
/*
 * What was reserved for the job has no bytes: refused, of these copies, got none.  All is
 * given back, the memory's limit is what could be had, and the job stands in line again.
 * Ends the program when it needs more than that.
 */
void room_retreat(struct job *job, unsigned memory, const struct copy_state *refused);
/* From now on the memory has no more than so many bytes; and how many it has, 0: no
 * limit. */
void room_limit(struct node *node, unsigned memory, size_t bytes);
size_t room_capacity(const struct memory *memory);
/* A job that needs no answer at once; coherency_admitted() will be called. */
void room_stand_in_line(struct job *job, unsigned memory);
/* Are so many bytes free? */
int room_has(struct node *node, unsigned memory, size_t bytes);
/* The same, after idle copies whose value is elsewhere have left.  Nothing is locked. */
int room_clear(struct node *node, unsigned memory, size_t bytes);
int room_is_idle(struct copy_state *copy);
/* Idle, and its value had nowhere to go? */
int room_is_stuck(struct copy_state *copy);
/* Is it leaving, with nobody using it?  Has it room of ours at all? */
int room_is_leaving(struct copy_state *copy);
int room_is_taken(struct copy_state *copy);
/*
 * Let idle copies leave until the memory's target is available; with nothing locked.
 * Happens by itself when less than its minimum is: see STARPU_MINIMUM_AVAILABLE_MEM.
 */
void room_tidy(struct node *node, unsigned memory);
/* The same until so many bytes are, or will be when what leaves has left. */
void room_reclaim(struct node *node, unsigned memory, size_t bytes);
/* What the first in line waits for, in words: 1; 0: nobody waits. */
int room_describe(struct node *node, unsigned memory, char *text, size_t bytes);
/* As room_serve(), once there may be somebody. */
void room_serve_line(struct node *node, unsigned memory);

/* Something was given back: see who may go on.  Called with nothing locked. */
static inline void room_serve(struct node *node, unsigned memory)
{
	struct memory *of = &node->memories[memory];

	if (!of->is_booked || orr_load_ptr((void **)&of->budget_waiters) ||
	    orr_load_ptr((void **)&of->waiting))
		room_serve_line(node, memory);
}

#endif
