/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_COPIES_H
#define ORR_CORE_DATA_COPIES_H

/*
 * copies.h - one copy of a datum: who uses it, and whether it has the value.
 *
 * Where room.c counts, it knows the users.  In the first main memory without a limit, and
 * where memory there is the application's, the copy counts them itself: nobody asks for
 * room, and nothing leaves.  The datum is locked.
 */
#include "core/data/data.h"

/* Does the copy count its users itself? */
static inline int copy_is_own(const struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;

	return copy->memory == STARPU_MAIN_RAM &&
	       (datum->node->memories[STARPU_MAIN_RAM].is_booked ||
		(copy == &datum->body->main && (data_flags(datum) & DATUM_USER_MEMORY)));
}

static inline int copy_is_valid(const struct copy_state *copy)
{
	return (copy->datum->body->valid & memory_bit(copy->memory)) != 0;
}

static inline int copy_is_valid_elsewhere(const struct copy_state *copy)
{
	return (copy->datum->body->valid & ~memory_bit(copy->memory)) != 0;
}

/* Tell room.c how large it is, unless it has room. */
void copy_measure(struct copy_state *copy);
/* One more user of a copy that has room, or one less; access NULL: a transfer. */
void copy_use(struct copy_state *copy);
void copy_unuse_room(struct copy_state *copy, const struct access *access);
static inline void copy_unuse(struct copy_state *copy, const struct access *access)
{
	if (copy_is_own(copy))
		copy->refs--;
	else
		copy_unuse_room(copy, access);
}
/* Use a copy for a transfer to it: 1; 0: it has no room without waiting, or is being
 * written to. */
int copy_reserve(struct copy_state *copy);
/* It was reserved, and has got no buffer. */
void copy_give_back(struct copy_state *copy);
int copy_is_in_use(struct copy_state *copy);
/* Its room is its own no more (room_let_go(), room_take()): free it, give that back. */
void copy_free_going(struct copy_state *copy);
/* Free what the runtime allocated for it, unless something still uses it. */
void copy_release(struct copy_state *copy);

/* What is in flight from now on is of another epoch. */
void copies_forget_value(struct data_body *body);
/* Copies in a set of memories are stale: they leave first. */
void copies_demote(starpu_data_handle_t datum, uint64_t memories);

#endif
