/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_RELATIVES_H
#define ORR_CORE_DATA_RELATIVES_H

/*
 * relatives.h - data that share bytes with another one: its parts, what it is a part of,
 * and the parts of other partitions of that.  Parts of one partition are no relatives.
 *
 * The MPI layer notes what ranks have of a datum, as flags of it, and asks for what was
 * noted of its relatives.  A partition lists the parts that may have notes, or data below
 * them, and a datum lists its partitions with such parts, so that an answer takes the
 * time of what is in it: notes that have gone are found once, and leave the lists then.
 */
#include "core/data/partition.h"

struct relatives {
	starpu_data_handle_t *list;
	unsigned n, capacity;
};

/* Something is noted of the datum: DATUM_KIN is set at its relatives, also at those that
 * it will have.  Locks the views. */
void relatives_note(starpu_data_handle_t handle, enum note note);
/* Those with notes of the kind.  Locks the views.  To be freed. */
void relatives_find(starpu_data_handle_t handle, enum note note,
		    struct relatives *relatives);
void relatives_free(struct relatives *relatives);

/* The views are locked: a partition comes, beside another one of its parent's or as the
 * first; or goes. */
void relatives_link(struct partition *partition, struct partition *other);
void relatives_unlink(struct partition *partition);

#endif
