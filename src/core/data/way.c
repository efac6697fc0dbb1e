/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/way.h"

#include "core/data/mapped.h"
#include "core/data/routes.h"
#include "core/interface/methods.h"

static struct copy_state *nearest(struct copy_state *to, uint64_t valid)
{
	struct copy_state *shared = mapped_source(to, valid);
	starpu_data_handle_t datum = to->datum;

	return shared ? shared
		      : data_find_copy(datum,
				       routes_nearest(datum->node, valid, to->memory,
						      data_moved_bytes(datum)));
}

struct copy_state *way_source(struct copy_state *to)
{
	starpu_data_handle_t datum = to->datum;
	uint64_t valid = data_body(datum)->valid;
	unsigned first;

	if (!valid)
		return NULL;
	if (routes_differ(datum->node))
		return nearest(to, valid);
	first = (unsigned)__builtin_ctzll(valid);
	for (uint64_t left = valid; left; left &= left - 1) {
		unsigned from = (unsigned)__builtin_ctzll(left);

		if (route(datum->node, from, to->memory)->next == to->memory) {
			first = from;
			break;
		}
	}
	return data_find_copy(datum, first);
}

unsigned way_next(struct copy_state *from, struct copy_state *to)
{
	unsigned next;

	if (mapped_bytes(from) != mapped_bytes(to))
		to = mapped_bytes(to);
	next = route(to->datum->node, from->memory, to->memory)->next;
	if (from->memory != STARPU_MAIN_RAM && next != STARPU_MAIN_RAM &&
	    !methods_can_copy(from, to))
		return STARPU_MAIN_RAM;
	return next;
}
