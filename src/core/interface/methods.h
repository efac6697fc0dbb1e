/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_INTERFACE_METHODS_H
#define ORR_CORE_INTERFACE_METHODS_H

/*
 * methods.h - which of an interface's copy methods moves a value between two memories:
 * that for their kinds, else any_to_any.
 *
 * Bytes of memories that processors do not see are moved by the memories' driver.
 *
 * Who has time between the start and the end of a copy calls the method at the start;
 * the pieces that it starts with starpu_interface_copy*() and async_data are moved at
 * the end.  Methods that move the bytes themselves have done so at the start.
 */
#include "base/layout.h"
#include "core/data/data.h"

/* Move the bytes before this returns, copy->owner being the datum.  Ends the program
 * when the interface cannot, or says that it failed. */
void methods_copy(struct node *node, const struct plat_copy *copy);

/* The same in two steps; from methods_start() to methods_end() copy is async_data. */
void methods_start(struct node *node, struct plat_copy *copy);
void methods_end(struct plat_copy *copy);
/* The pieces in their order, to who moves them himself; they are forgotten. */
typedef void methods_piece_func(void *arg, const struct layout *from,
				const struct layout *to);
void methods_take_pieces(struct plat_copy *copy, methods_piece_func *take, void *arg);
/* Of a copy that was started: move it at the end, -EAGAIN; or now, 0, when async_data is
 * NULL or both ends are main memories. */
int methods_start_piece(void *async_data, unsigned from_memory, unsigned to_memory,
			const struct layout *from, const struct layout *to);
/* The same for what is moved now whenever a processor can do it. */
int methods_move(void *async_data, unsigned from_memory, unsigned to_memory,
		 const struct layout *from, const struct layout *to);
/* Does the interface go from one memory to the other without a stop? */
int methods_can_copy(const struct copy_state *from, const struct copy_state *to);

#endif
