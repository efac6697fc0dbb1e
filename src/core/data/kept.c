/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/outside.h"

enum { KEPT_BUCKETS = 64 };

/* One buffer, in a struct of its interface. */
struct kept_buffer {
	struct list alike; /* first; of one bucket, the newest first */
	struct list age;
	struct starpu_data_interface_ops *ops;
	size_t bytes;
	uint32_t footprint;
	_Alignas(16) char interface[];
};

/* Of one memory; made with the first buffer. */
struct kept {
	size_t bytes;
	size_t most_bytes; /* that were in use together with what was kept */
	struct list ages;  /* the oldest first */
	struct list buckets[KEPT_BUCKETS];
};

/* What a copy's buffer must be like. */
struct shape {
	struct starpu_data_interface_ops *ops;
	size_t bytes;
	uint32_t footprint;
	void *interface;
};

static struct memory *memory_of(const struct copy_state *copy)
{
	return &copy->datum->node->memories[copy->memory];
}

/* NULL before the first buffer. */
static struct kept *table_of(struct memory *memory)
{
	return orr_load_ptr((void **)&memory->kept);
}

size_t kept_bytes(const struct memory *memory)
{
	return memory->kept ? memory->kept->bytes : 0;
}

static size_t buffer_bytes(const struct starpu_data_interface_ops *ops)
{
	return sizeof(struct kept_buffer) + ops->interface_size;
}

static void free_buffer(struct node *node, struct kept_buffer *buffer)
{
	pool_commons_put(node->commons, buffer, buffer_bytes(buffer->ops));
}

/* ---- which buffers, and for whom ------------------------------------- */

/*
 * What belongs to one datum may end with it, unless the interface says how a buffer is
 * taken out of a struct.
 */
static int can_be_kept(const struct starpu_data_interface_ops *ops)
{
	return !ops->dontcache && (ops->alloc_footprint || ops->footprint) &&
	       (ops->cache_data_on_node || !ops->unregister_data_handle);
}

static int keeps(const struct memory *memory)
{
	switch (memory->kind) {
	case STARPU_CPU_RAM:
		return memory->capacity_bytes > 0;
	case STARPU_DISK_RAM:
		return 0;
	default:
		return 1;
	}
}

static struct shape shape_of(const struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;
	struct shape shape = {.ops = datum->ops,
			      .bytes = data_alloc_bytes(datum),
			      .interface = copy->interface};
	OUTSIDE(outside);

	outside_enter_ops(&outside, datum->node, shape.ops, "footprint of an interface");
	shape.footprint = shape.ops->alloc_footprint ? shape.ops->alloc_footprint(datum)
						     : shape.ops->footprint(datum);
	outside_end(&outside);
	return shape;
}

static int is_like(const struct kept_buffer *buffer, const struct shape *shape)
{
	const struct starpu_data_interface_ops *ops = shape->ops;
	int (*compare)(void *a, void *b) =
		ops->alloc_compare ? ops->alloc_compare : ops->compare;

	return buffer->ops == ops && buffer->bytes == shape->bytes &&
	       buffer->footprint == shape->footprint &&
	       (!compare || compare((void *)buffer->interface, shape->interface));
}

/* ---- the table; the memory is locked --------------------------------- */

static struct kept *make_table(struct memory *memory)
{
	struct kept *kept = memory->kept;

	if (kept)
		return kept;
	kept = orr_alloc(sizeof(*kept));
	list_init(&kept->ages);
	for (int i = 0; i < KEPT_BUCKETS; i++)
		list_init(&kept->buckets[i]);
	orr_swap_ptr((void **)&memory->kept, kept);
	return kept;
}

static struct list *bucket_of(struct kept *kept, uint32_t footprint)
{
	return &kept->buckets[footprint % KEPT_BUCKETS];
}

static void insert(struct memory *memory, struct kept_buffer *buffer)
{
	struct kept *kept = make_table(memory);

	if (kept->most_bytes < memory->used_bytes + kept->bytes)
		kept->most_bytes = memory->used_bytes + kept->bytes;
	list_push_front(bucket_of(kept, buffer->footprint), &buffer->alike);
	list_push_back(&kept->ages, &buffer->age);
	kept->bytes += buffer->bytes;
}

static void take_out(struct kept *kept, struct kept_buffer *buffer)
{
	list_remove(&buffer->alike);
	list_remove(&buffer->age);
	kept->bytes -= buffer->bytes;
}

static struct kept_buffer *find(struct kept *kept, const struct shape *shape)
{
	struct list *bucket = bucket_of(kept, shape->footprint);

	for (struct list *at = bucket->next; at != bucket; at = at->next) {
		struct kept_buffer *buffer = ORR_CONTAINER(at, struct kept_buffer, alike);

		if (is_like(buffer, shape))
			return buffer;
	}
	return NULL;
}

/*
 * How much is used, at most, before somebody has to wait for it.  Where nobody told a
 * limit, as much as ever was.
 */
static size_t limit_of(const struct memory *memory)
{
	return memory->capacity_bytes ? memory->capacity_bytes : memory->kept->most_bytes;
}

/* What was booked goes on being counted where it is kept, until it is freed. */
static size_t counted_bytes(const struct memory *memory)
{
	return memory->used_bytes + (memory->is_booked ? 0 : memory->kept->bytes);
}

/* ---- freeing --------------------------------------------------------- */

/* The oldest while bytes do not fit, or one more than is used; taken out. */
static struct kept_buffer *pop(struct memory *memory, size_t bytes)
{
	struct kept_buffer *buffer = NULL;
	struct kept *kept;

	orr_lock(&memory->lock);
	kept = memory->kept;
	if (kept && !list_is_empty(&kept->ages) &&
	    (bytes == SIZE_MAX || counted_bytes(memory) + bytes > limit_of(memory))) {
		buffer = ORR_CONTAINER(kept->ages.next, struct kept_buffer, age);
		take_out(kept, buffer);
	}
	orr_unlock(&memory->lock);
	return buffer;
}

int kept_make_way(struct node *node, unsigned memory, size_t bytes)
{
	struct plat_caller *caller;
	struct kept_buffer *buffer;
	unsigned char had_room;
	OUTSIDE(outside);
	int nfreed = 0;

	if (!table_of(&node->memories[memory]))
		return 0;
	caller = plat_caller(node->plat);
	had_room = caller->has_room;
	caller->has_room = !node->memories[memory].is_booked;
	while ((buffer = pop(&node->memories[memory], bytes))) {
		outside_enter_ops(&outside, node, buffer->ops,
				  "free_data_on_node of an interface");
		buffer->ops->free_data_on_node(buffer->interface, memory);
		outside_end(&outside);
		free_buffer(node, buffer);
		nfreed++;
	}
	caller->has_room = had_room;
	return nfreed > 0;
}

int kept_drop(struct node *node, unsigned memory)
{
	return kept_make_way(node, memory, SIZE_MAX);
}

void kept_close(struct node *node)
{
	for (int i = 0; i < node_nmemories(node); i++) {
		kept_drop(node, (unsigned)i);
		free(node->memories[i].kept);
		node->memories[i].kept = NULL;
	}
}

/* ---- a copy gets one, a copy gives one ------------------------------- */

/* Out of the table, or NULL. */
static struct kept_buffer *take_alike(const struct node *node, struct memory *memory,
				      const struct shape *shape)
{
	struct kept_buffer *buffer;
	OUTSIDE(outside);

	outside_enter_ops(&outside, node, shape->ops, "compare of an interface");
	orr_lock(&memory->lock);
	buffer = find(memory->kept, shape);
	outside_end(&outside);
	if (buffer)
		take_out(memory->kept, buffer);
	orr_unlock(&memory->lock);
	return buffer;
}

int kept_take(struct copy_state *copy)
{
	const struct starpu_data_interface_ops *ops = copy->datum->ops;
	struct memory *memory = memory_of(copy);
	struct kept_buffer *buffer;
	struct shape shape;
	OUTSIDE(outside);

	if (!table_of(memory) || !can_be_kept(ops))
		return 0;
	shape = shape_of(copy);
	buffer = take_alike(copy->datum->node, memory, &shape);
	if (!buffer)
		return 0;
	outside_enter_ops(&outside, copy->datum->node, ops,
			  "reuse_data_on_node of an interface");
	if (ops->reuse_data_on_node)
		ops->reuse_data_on_node(copy->interface, buffer->interface, copy->memory);
	else
		memcpy(copy->interface, buffer->interface, ops->interface_size);
	outside_end(&outside);
	free_buffer(copy->datum->node, buffer);
	return 1;
}

/* Does somebody wait for it, or is more used than there should be? */
static int is_awaited(struct memory *memory)
{
	int awaited;

	orr_lock(&memory->lock);
	awaited = memory->budget_waiters != NULL ||
		  (memory->capacity_bytes &&
		   memory->used_bytes + kept_bytes(memory) > memory->capacity_bytes);
	orr_unlock(&memory->lock);
	return awaited;
}

static int has_come(struct memory *memory)
{
	int has;

	orr_lock(&memory->lock);
	has = memory->budget_waiters != NULL;
	orr_unlock(&memory->lock);
	return has;
}

int kept_put(struct copy_state *copy)
{
	struct starpu_data_interface_ops *ops = copy->datum->ops;
	struct memory *memory = memory_of(copy);
	struct kept_buffer *buffer;
	struct shape shape;
	OUTSIDE(outside);

	if (!keeps(memory) || !can_be_kept(ops) || is_awaited(memory))
		return 0;
	shape = shape_of(copy);
	if (shape.bytes == 0)
		return 0;
	buffer = pool_commons_get(copy->datum->node->commons, buffer_bytes(ops));
	buffer->ops = ops;
	buffer->bytes = shape.bytes;
	buffer->footprint = shape.footprint;
	memcpy(buffer->interface, copy->interface, ops->interface_size);
	outside_enter_ops(&outside, copy->datum->node, ops,
			  "cache_data_on_node of an interface");
	if (ops->cache_data_on_node)
		ops->cache_data_on_node(buffer->interface, copy->interface, copy->memory);
	outside_end(&outside);
	orr_lock(&memory->lock);
	insert(memory, buffer);
	orr_unlock(&memory->lock);
	/* Who has come meanwhile does not know of it. */
	if (has_come(memory))
		kept_drop(copy->datum->node, copy->memory);
	return 1;
}
