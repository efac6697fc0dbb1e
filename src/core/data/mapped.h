/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_MAPPED_H
#define ORR_CORE_DATA_MAPPED_H

/*
 * mapped.h - copies in further main memories that are the application's own memory.
 *
 * With starpu_conf.enable_map the copy of a datum in a main memory that has none is not
 * allocated there, but mapped: its bytes are those of the first main memory's copy, which
 * the application gave.  A mapped copy needs no room and stays until the datum ends.
 *
 * Each copy is valid or stale as ever; going from one to the other among those of the
 * same bytes is update_map() instead of a transfer.  Others write to these bytes in the
 * first main memory only, and who uses a mapped copy waits for that.
 */
#include "core/data/data.h"

/* Are the datum's copies in a memory mapped there, as long as its interface can? */
int mapped_may_be(const struct _starpu_data_state *datum, unsigned memory);
/* Map the copy, if that is wanted and it has neither memory nor room; the datum is
 * locked. */
void mapped_try(struct copy_state *copy);
/* The copy that transfers to these bytes go to. */
static inline struct copy_state *mapped_bytes(struct copy_state *copy)
{
	return copy->mapped ? &copy->datum->body->main : copy;
}

/* Where a value of these bytes is valid already, among the memories in valid; NULL: they
 * have none, or it is not mapped. */
struct copy_state *mapped_source(struct copy_state *to, uint64_t valid);
/* Do both have the same bytes?  Then to has from's value from now on: 1. */
int mapped_update(struct copy_state *from, struct copy_state *to);
/* Nothing uses the datum any more: unmap its copies. */
void mapped_end(starpu_data_handle_t datum);

/* Can a memory's bytes be seen from another one? */
int mapped_is_possible(const struct node *node, unsigned from, unsigned to);

#endif
