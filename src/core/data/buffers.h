/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_BUFFERS_H
#define ORR_CORE_DATA_BUFFERS_H

/*
 * buffers.h - the bytes of copies: allocated, or kept from another copy (kept.h).
 *
 * The datum is locked, its copy has room (room.h) where that is asked for.
 */
#include "core/data/data.h"

/* Give the copy a buffer unless it has one: 1, or 0 when there is none. */
int buffers_try(struct copy_state *copy);
/* The same; ends the program when there is none. */
void buffers_allocate(struct copy_state *copy);
/* Take it away, if it has one. */
void buffers_free(struct copy_state *copy);
/* A copy without a buffer has one that nothing counts, until buffers_end_loan() with what
 * is returned; NULL: it has its own, or gets none. */
void *buffers_lend(struct copy_state *copy);
void buffers_end_loan(struct copy_state *copy, void *loan);
/* Each scratch access has a copy of its own, as long as it lasts; without a buffer yet.
 */
struct copy_state *buffers_scratch(starpu_data_handle_t datum, unsigned memory);
/* Its buffer and room, too, with nothing locked. */
void buffers_end_scratch(struct copy_state *copy);
/* An event about the bytes of a copy. */
void buffers_tell(const struct copy_state *copy, enum event_kind kind);

#endif
