/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/interface/interface.h"
#include "core/node.h"

enum { SHAPES = 64, SHAPES_LOOKED_AT = 4, SHAPE_BYTES = 256 };

struct shape {
	_Alignas(16) unsigned char content[SHAPE_BYTES];
};

struct shapes {
	size_t last; /* asked for most recently */
	size_t bytes[SHAPES];
	struct shape shapes[SHAPES];
};

static int is_at(const struct shapes *shapes, size_t at, const struct shape *wanted,
		 size_t bytes)
{
	return shapes->bytes[at] == bytes &&
	       memcmp(&shapes->shapes[at], wanted, bytes) == 0;
}

static size_t home_of(const struct shape *wanted, size_t bytes)
{
	uint64_t hash = bytes, word = 0;

	for (size_t at = 0; at < bytes; at += sizeof(word)) {
		size_t left = bytes - at;

		memcpy(&word, wanted->content + at,
		       left < sizeof(word) ? left : sizeof(word));
		hash = table_mix(hash ^ word);
	}
	return hash % SHAPES;
}

/* The place of a shape, which may be new; SHAPES: there is no place for it. */
static size_t place_of(struct shapes *shapes, const struct shape *wanted, size_t bytes)
{
	size_t home;

	if (is_at(shapes, shapes->last, wanted, bytes))
		return shapes->last;
	home = home_of(wanted, bytes);
	for (size_t i = 0; i < SHAPES_LOOKED_AT; i++) {
		size_t at = (home + i) % SHAPES;

		if (shapes->bytes[at] == 0) {
			shapes->bytes[at] = bytes;
			memcpy(&shapes->shapes[at], wanted, bytes);
			return at;
		}
		if (is_at(shapes, at, wanted, bytes))
			return at;
	}
	return SHAPES;
}

void *shapes_get(struct world *world, const void *interface, size_t bytes)
{
	struct shape wanted;
	size_t at;

	if (world->nnodes < 2 || bytes < sizeof(struct plain_head) || bytes > SHAPE_BYTES)
		return NULL;
	if (!world->shapes)
		world->shapes = orr_alloc(sizeof(*world->shapes));
	interface_copy_shape(&wanted, interface, bytes);
	at = place_of(world->shapes, &wanted, bytes);
	if (at == SHAPES)
		return NULL;
	world->shapes->last = at;
	return &world->shapes->shapes[at];
}

int shapes_have(const struct world *world, const void *interface)
{
	const struct shapes *shapes = world->shapes;

	return shapes && (uintptr_t)interface - (uintptr_t)shapes < sizeof(*shapes);
}

void shapes_free(struct world *world)
{
	free(world->shapes);
	world->shapes = NULL;
}
