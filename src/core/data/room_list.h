/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_ROOM_LIST_H
#define ORR_CORE_DATA_ROOM_LIST_H

/*
 * room_list.h - what room.c asks of single copies.  The memory is locked.
 */
#include "core/data/room.h"

/* One more user; there is room for the copy. */
void room_list_use(struct memory *memory, struct copy_state *copy);
/* The opposite; without a buffer it has no room any more.  access is NULL for a
 * transfer's. */
void room_list_unuse(struct memory *memory, struct copy_state *copy,
		     const struct access *access, int stale);
/* It is idle, and leaves. */
void room_list_let_leave(struct memory *memory, struct copy_state *copy);
/* Of what had nowhere to go, the first most may be asked again. */
void room_list_unstick(struct memory *memory, unsigned most);
/* Is the application, not a task, the user?  NULL: no. */
int room_is_held(const struct access *access);

#endif
