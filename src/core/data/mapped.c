/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/mapped.h"

#include "base/check.h"
#include "core/outside.h"

int mapped_is_possible(const struct node *node, unsigned from, unsigned to)
{
	return memory_is_main(node, from) && memory_is_main(node, to);
}

int mapped_may_be(const struct _starpu_data_state *datum, unsigned memory)
{
	return datum->node->conf->enable_map > 0 && datum->ops->map_data &&
	       (data_flags(datum) & DATUM_USER_MEMORY) && memory != STARPU_MAIN_RAM &&
	       mapped_is_possible(datum->node, STARPU_MAIN_RAM, memory);
}

static int is_wanted(const struct copy_state *copy)
{
	return mapped_may_be(copy->datum, copy->memory) && !copy->allocated &&
	       copy->room == ROOM_NONE && !copy->is_users;
}

void mapped_try(struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;
	OUTSIDE(outside);
	int ret;

	if (!is_wanted(copy))
		return;
	outside_enter_ops(&outside, datum->node, datum->ops, "map_data of an interface");
	ret = datum->ops->map_data(datum->body->main.interface, STARPU_MAIN_RAM,
				   copy->interface, copy->memory);
	outside_end(&outside);
	if (ret < 0)
		return;
	copy->mapped = 1;
	copy->allocated = 1;
	copy->is_users = 1;
}

struct copy_state *mapped_source(struct copy_state *to, uint64_t valid)
{
	for (; valid; valid &= valid - 1) {
		struct copy_state *from =
			data_find_copy(to->datum, (unsigned)__builtin_ctzll(valid));

		if (mapped_bytes(from) == mapped_bytes(to))
			return from;
	}
	return NULL;
}

static void complain(const struct copy_state *from, const struct copy_state *to, int ret)
	__attribute__((noreturn));

static void complain(const struct copy_state *from, const struct copy_state *to, int ret)
{
	char what[128];

	orr_die(from->datum->node->rank,
		"%s is mapped, and the update_map of its interface refuses (%d) to make "
		"the value of memory node %u that of %u; expected 0",
		data_describe(from->datum, what, sizeof(what)), ret, from->memory,
		to->memory);
}

int mapped_update(struct copy_state *from, struct copy_state *to)
{
	const struct starpu_data_interface_ops *ops = from->datum->ops;
	OUTSIDE(outside);
	int ret;

	if (mapped_bytes(from) != mapped_bytes(to))
		return 0;
	outside_enter_ops(&outside, from->datum->node, ops, "update_map of an interface");
	ret = ops->update_map ? ops->update_map(from->interface, from->memory,
						to->interface, to->memory)
			      : 0;
	outside_end(&outside);
	if (ret < 0)
		complain(from, to, ret);
	data_set_memories(&to->datum->body->valid,
			  to->datum->body->valid | memory_bit(to->memory));
	return 1;
}

void mapped_end(starpu_data_handle_t datum)
{
	const struct starpu_data_interface_ops *ops = datum->ops;
	OUTSIDE(outside);

	outside_enter_ops(&outside, datum->node, ops, "unmap_data of an interface");
	for (int i = 1; datum->body && i < datum->node->nmains; i++) {
		struct copy_state *copy = data_find_copy(datum, (unsigned)i);

		if (!copy || !copy->mapped)
			continue;
		if (ops->unmap_data)
			ops->unmap_data(datum->body->main.interface, STARPU_MAIN_RAM,
					copy->interface, copy->memory);
		copy->mapped = copy->allocated = 0;
	}
	outside_end(&outside);
}
