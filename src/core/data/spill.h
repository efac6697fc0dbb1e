/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_SPILL_H
#define ORR_CORE_DATA_SPILL_H

/*
 * spill.h - where a value goes that has to leave a memory, and how it waits for room on
 * its way.
 *
 * From a device it goes to main memory; from a main memory with a limit to another one
 * that has room, or to a disk.  A value for which there is room nowhere stays.
 *
 * A passage is a job that stands in the line of a main memory for the room of one copy
 * that no task asks for: a stop on the way between two memories, or a value that leaves a
 * device.  Who holds room in a main memory never waits for a passage, so that the line
 * moves.
 */
#include "core/data/data.h"

enum spill_way {
	SPILL_GOES,  /* to a copy that is used for it now */
	SPILL_WAITS, /* until another value has arrived where it goes */
	SPILL_LINES, /* by a passage */
	SPILL_STAYS
};

/* Where the value of copy, which is the only one, goes; to is set but when it stays.  The
 * datum is locked. */
enum spill_way spill_choose(struct copy_state *copy, struct copy_state **to);
/* What disks have twice, or no longer need, leaves them, if else they have no room for
 * the copy.  Nothing is locked. */
void spill_make_way(struct copy_state *copy);
/* The disk could not take a value: not to be tried again before something leaves it. */
void spill_disk_refused(struct node *node, unsigned memory);

/*
 * Stand in line for room for copy: a stop, or where leaving goes.  The datum is locked;
 * room_serve() of the copy's memory has to follow when it is not.
 */
void spill_stand_in_line(struct copy_state *copy, struct copy_state *leaving);
int spill_is_passage(const struct job *job);
/* There is room for the passage's copy, which is used once: coherency_pass(). */
void spill_admitted(struct job *job);

#endif
