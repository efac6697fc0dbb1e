/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_TURNS_H
#define ORR_CORE_TASK_TURNS_H

/*
 * turns.h - the kinds of groups that accesses to a datum form, and their hooks.
 *
 * Neighbours in the queue of a datum whose accesses are of one kind share a turn, if the
 * kind says so.  A kind may want work done before its group opens, or when the group is
 * over and another is next.  For that time the datum is held back: it is nobody's turn,
 * until deps_resume().  Hooks are called with the datum locked, so they do nothing but
 * look, take note and append a job that does the work to ready; tasks that this job
 * submits take no turn on the datum, as these would wait for the resumption.
 */
#include "core/data/data.h"

struct turn_kind {
	unsigned char shares;   /* neighbours of this kind have their turn together */
	unsigned char excludes; /* and then hold the datum one at a time */
	/* The datum is free, and an access of this kind is the first of those whose turn
	 * it is.  0: its group opens; 1: held back, and asked again on resumption. */
	int (*opens)(starpu_data_handle_t datum, struct access *first,
		     struct ready *ready);
	/* A group of a kind with this hook stays open without members, until an access
	 * of another kind is next.  0: it is over; 1: held back. */
	int (*closes)(starpu_data_handle_t datum, struct access *next,
		      struct ready *ready);
};

/* The kind of an access by the bits of its mode from STARPU_R to STARPU_COMMUTE. */
enum { TURN_MODES = 2 * STARPU_COMMUTE };
struct turn_kinds {
	const struct turn_kind *of[TURN_MODES];
};

extern const struct turn_kind turn_read, turn_write, turn_commute;
/* Those of data of which nobody said otherwise: without hooks. */
extern const struct turn_kinds turns_plain;
/* While the datum is held back. */
extern const struct turn_kind turn_held;

static inline const struct turn_kind *turn_of(const struct data_body *body,
					      const struct access *access)
{
	return body->kinds->of[access->mode & (TURN_MODES - 1)];
}

#endif
