/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/bound/graph.h"
#include "core/data/coherency.h"
#include "core/data/duplicate.h"
#include "core/data/mapped.h"
#include "core/data/redux.h"
#include "core/data/shapes.h"
#include "core/interface/interface.h"
#include "core/lasting.h"
#include "core/task/turns.h"
#include "core/outside.h"

/* Sizes of interfaces served by pools, in steps; larger ones come from orr_alloc(). */
enum { DATA_POOL_STEP = 32, DATA_POOLS = 8 };
/* Handles that have ended are kept so many ends longer. */
enum { DATA_MAX_RETIRED = 256 };

static int pool_index(size_t bytes)
{
	size_t index = (bytes + DATA_POOL_STEP - 1) / DATA_POOL_STEP;

	return index < DATA_POOLS ? (int)index : -1;
}

/* Between two lines: by that data_has_gist() knows it. */
static starpu_data_handle_t new_large(size_t bytes)
{
	const size_t half = CHUNK_STORE_LINE_BYTES / 2;
	size_t all = half + sizeof(struct _starpu_data_state) + bytes;
	char *memory;

	all = (all + CHUNK_STORE_LINE_BYTES - 1) & ~(size_t)(CHUNK_STORE_LINE_BYTES - 1);
	memory = aligned_alloc(CHUNK_STORE_LINE_BYTES, all);
	if (!memory)
		orr_die(ORR_NO_RANK, "out of memory: %zu bytes refused", all);
	return (starpu_data_handle_t)(void *)(memory + half);
}

static void free_large(starpu_data_handle_t handle)
{
	if (handle)
		free((char *)handle - CHUNK_STORE_LINE_BYTES / 2);
}

/* For handles with that much behind them.  The pools are locked. */
static struct pool *datum_pool(struct node *node, int index)
{
	struct pool *pool = &node->datum_pools[index];

	if (!pool->object_bytes)
		pool_init_stored(pool,
				 sizeof(struct _starpu_data_state) +
					 (size_t)index * DATA_POOL_STEP,
				 &node->world->store);
	return pool;
}

static starpu_data_handle_t new_state(struct node *node, int index, size_t bytes)
{
	starpu_data_handle_t handle;

	if (index < 0)
		return new_large(bytes);
	orr_lock(&node->pool_lock);
	handle = pool_get(datum_pool(node, index));
	orr_unlock(&node->pool_lock);
	return handle;
}

/* ---- structs that were shared: see shapes.h -------------------------- */

/* The pool whose objects have the lines that a struct needs.  The pools are locked. */
static struct pool *struct_pool(starpu_data_handle_t handle)
{
	const size_t line = CHUNK_STORE_LINE_BYTES;
	size_t lines = (handle->ops->interface_size + line - 1) / line;

	return datum_pool(handle->node, (int)((lines - 1) * line / DATA_POOL_STEP));
}

_Static_assert(sizeof(struct _starpu_data_state) == CHUNK_STORE_LINE_BYTES,
	       "what has no struct behind it is a line");

/* From now on the datum has memory, or may get some.  The pools are locked. */
static void own_struct(starpu_data_handle_t handle)
{
	void *own;

	if (!shapes_have(handle->node->world, handle->interface))
		return;
	own = pool_get(struct_pool(handle));
	memcpy(own, handle->interface, handle->ops->interface_size);
	handle->interface = own;
}

/* It has a body.  The pools are locked. */
static void free_own_struct(starpu_data_handle_t handle)
{
	if (handle->interface != handle + 1)
		pool_put(struct_pool(handle), handle->interface);
}

/* ---- gists ----------------------------------------------------------- */

void data_note_gist(starpu_data_handle_t handle)
{
	const unsigned readers = DATUM_CONTRIBUTED | DATUM_KIN | DATUM_SOURCED,
		       writers = readers | DATUM_SENT | DATUM_RECEIVED;
	unsigned gist = 0;

	if (!data_has_gist(handle))
		return;
	if ((data_flags(handle) & DATUM_MPI) && handle->owner >= 0 &&
	    handle->owner < GIST_MOST_RANKS) {
		gist = ((unsigned)handle->owner + 1) << GIST_OWNER_SHIFT;
		if (handle->flags & readers)
			gist |= GIST_READERS;
		if (handle->flags & writers)
			gist |= GIST_WRITERS;
	}
	orr_store_short(chunk_word(handle), (uint16_t)gist);
}

void data_set_owner(starpu_data_handle_t handle, int owner)
{
	orr_lock(&handle->lock);
	handle->owner = owner;
	data_note_gist(handle);
	orr_unlock(&handle->lock);
}

void data_set_flags(starpu_data_handle_t handle, unsigned set, unsigned clear)
{
	orr_lock(&handle->lock);
	data_change_flags(handle, set, clear);
	data_note_gist(handle);
	orr_unlock(&handle->lock);
}

/* ---- structs of the application's interfaces ------------------------- */

/* From one struct to the next, as strict as memory from malloc(). */
static size_t slot_bytes(const struct starpu_data_interface_ops *ops)
{
	return (ops->interface_size + 15) & ~(size_t)15;
}

static char *image_of(starpu_data_handle_t handle)
{
	return (char *)(handle + 1) + slot_bytes(handle->ops);
}

/*
 * Keep what register_data_handle() wrote: slots has a struct for each memory.  Those of
 * memories that do not exist are for unregister_data_handle(), which may have to free
 * what they point to.
 */
static void keep_slots(starpu_data_handle_t handle, const char *slots)
{
	size_t bytes = handle->ops->interface_size, step = slot_bytes(handle->ops);
	unsigned other = NODE_MAX_MEMORIES - 1, nkept = NODE_MAX_MEMORIES;

	memcpy(handle + 1, slots, bytes);
	if ((int)other == handle->home)
		other--;
	memcpy(image_of(handle), slots + other * step, bytes);
	if (!handle->ops->unregister_data_handle)
		nkept = (unsigned)node_nmemories(handle->node);
	for (unsigned i = 1; i < nkept; i++)
		if ((int)i == handle->home ||
		    memcmp(slots + i * step, image_of(handle), bytes) != 0)
			memcpy(data_copy(handle, i)->interface, slots + i * step, bytes);
}

static void register_slots(starpu_data_handle_t handle, int home, void *interface)
{
	struct starpu_data_interface_ops *ops = handle->ops;
	char *slots = orr_alloc(NODE_MAX_MEMORIES * slot_bytes(ops));
	OUTSIDE(outside);

	outside_enter_ops(&outside, handle->node, ops,
			  "init or register_data_handle of an interface");
	if (ops->init)
		for (unsigned i = 0; i < NODE_MAX_MEMORIES; i++)
			ops->init(slots + i * slot_bytes(ops));
	handle->interface = slots;
	handle->flags |= DATUM_REGISTERING;
	ops->register_data_handle(handle, home, interface);
	outside_end(&outside);
	handle->flags &= ~(unsigned)DATUM_REGISTERING;
	handle->flags |= DATUM_IMAGE;
	handle->interface = handle + 1;
	keep_slots(handle, slots);
	free(slots);
}

void *data_interface(starpu_data_handle_t handle, unsigned memory)
{
	ORR_ASSERT(memory < NODE_MAX_MEMORIES);
	if (data_flags(handle) & DATUM_REGISTERING)
		return (char *)handle->interface + memory * slot_bytes(handle->ops);
	return data_copy(handle, memory)->interface;
}

void data_fill_interface(starpu_data_handle_t handle, void *to)
{
	size_t bytes = handle->ops->interface_size;

	if (data_flags(handle) & DATUM_IMAGE)
		memcpy(to, image_of(handle), bytes);
	else
		interface_copy_shape(to, handle->interface, bytes);
}

/* ---- life ------------------------------------------------------------ */

/* A handle with nothing in its structs, or with a shared one. */
static starpu_data_handle_t register_bare(struct node *node, int home,
					  struct starpu_data_interface_ops *ops,
					  void *shape)
{
	size_t all = interface_is_plain(ops) ? ops->interface_size : 2 * slot_bytes(ops);
	size_t bytes = shape ? 0 : all;
	int pool = pool_index(bytes);
	starpu_data_handle_t handle = new_state(node, pool, bytes);

	event_unname(&node->events, handle, EVENT_NAMES_OTHER);
	*handle = (struct _starpu_data_state){.ops = ops,
					      .tag = -1,
					      .owner = -1,
					      .home = (signed char)home,
					      .pool = (signed char)pool,
					      .node = node};
	handle->flags =
		orr_load(&node->lasting->default_sequential) ? DATUM_SEQUENTIAL : 0;
	handle->interface = shape ? shape : handle + 1;
	if (home == STARPU_MAIN_RAM)
		handle->flags |= DATUM_USER_MEMORY;
	orr_lock_init(&handle->lock);
	data_note_gist(handle);
	return handle;
}

starpu_data_handle_t data_register(struct node *node, int home, const void *interface,
				   struct starpu_data_interface_ops *ops)
{
	size_t bytes = ops->interface_size;
	void *shape = home < 0 && interface_is_plain(ops)
			      ? shapes_get(node->world, interface, bytes)
			      : NULL;
	starpu_data_handle_t handle = register_bare(node, home, ops, shape);

	if (shape)
		return handle;
	if (!interface_is_plain(ops))
		register_slots(handle, home, (void *)interface);
	else if (home < 0)
		interface_copy_shape(handle + 1, interface, bytes);
	else if (bytes)
		memcpy(handle + 1, interface, bytes);
	return handle;
}

starpu_data_handle_t data_register_part(starpu_data_handle_t parent,
					struct starpu_data_interface_ops *ops,
					const void *there, const void *elsewhere)
{
	starpu_data_handle_t handle =
		register_bare(parent->node, parent->home, ops, NULL);
	unsigned memory = data_base_memory(parent);
	size_t bytes = ops->interface_size;

	/* Its memory is the parent's. */
	handle->flags = DATUM_PART | (data_flags(parent) & DATUM_SEQUENTIAL);
	if (memory == STARPU_MAIN_RAM)
		handle->flags |= DATUM_USER_MEMORY;
	if (interface_is_plain(ops)) {
		if (bytes)
			memcpy(handle + 1, there, bytes);
		return handle;
	}
	handle->flags |= DATUM_IMAGE;
	memcpy(image_of(handle), elsewhere, bytes);
	memcpy(handle + 1, memory == STARPU_MAIN_RAM ? there : elsewhere, bytes);
	if (memory != STARPU_MAIN_RAM)
		memcpy(data_copy(handle, memory)->interface, there, bytes);
	return handle;
}

/* As registered: nobody uses it, its value is at home if it has one. */
static void init_body(struct data_body *body, starpu_data_handle_t handle)
{
	int has_value = handle->home >= 0 && !(data_flags(handle) & DATUM_PART);

	*body = (struct data_body){.kinds = &turns_plain};
	body->main.datum = handle;
	body->main.interface = handle->interface;
	body->has_value = (unsigned char)has_value;
	body->main.allocated = (data_flags(handle) & DATUM_USER_MEMORY) != 0;
	if (body->main.allocated)
		body->main.is_users = 1;
	body->valid = has_value ? memory_bit((unsigned)handle->home) : 0;
}

static size_t copy_bytes(starpu_data_handle_t handle)
{
	return sizeof(struct copy_state) + handle->ops->interface_size;
}

/* Nobody knows it yet. */
static struct copy_state *make_copy(starpu_data_handle_t handle, unsigned memory)
{
	struct copy_state *copy =
		pool_commons_get(handle->node->commons, copy_bytes(handle));

	copy->datum = handle;
	copy->memory = (unsigned char)memory;
	copy->interface = copy + 1;
	data_fill_interface(handle, copy->interface);
	return copy;
}

/* In another memory than the first. */
static struct copy_state *make_home_copy(starpu_data_handle_t handle)
{
	struct copy_state *copy = make_copy(handle, (unsigned)handle->home);

	if (!(data_flags(handle) & DATUM_IMAGE))
		memcpy(copy->interface, handle->interface, handle->ops->interface_size);
	copy->allocated = 1;
	copy->is_users = 1;
	return copy;
}

struct data_body *data_make_body(starpu_data_handle_t handle)
{
	struct node *node = handle->node;
	struct data_body *body;

	orr_lock(&node->pool_lock);
	own_struct(handle);
	body = pool_get(&node->body_pool);
	body->main.datum = NULL; /* not in use yet, for who walks over the pool */
	orr_unlock(&node->pool_lock);
	init_body(body, handle);
	/* Who finds the body finds the value in it. */
	if (handle->home > STARPU_MAIN_RAM)
		body->first_copy = make_home_copy(handle);
	if (!orr_cas_ptr((void **)&handle->body, NULL, body)) {
		/* Another thread was first. */
		if (body->first_copy)
			pool_commons_put(node->commons, body->first_copy,
					 copy_bytes(handle));
		orr_lock(&node->pool_lock);
		body->main.datum = NULL;
		pool_put(&node->body_pool, body);
		orr_unlock(&node->pool_lock);
		return orr_load_ptr((void **)&handle->body);
	}
	return body;
}

_Static_assert(offsetof(struct data_body, valid) == ORR_LINE_BYTES &&
		       offsetof(struct data_body, main) == 2 * ORR_LINE_BYTES &&
		       sizeof(struct data_body) <= 4 * ORR_LINE_BYTES,
	       "what is used together lies in one line of the cache");

struct data_extra *data_extra(starpu_data_handle_t handle)
{
	struct data_body *body = data_body(handle);
	struct data_extra *extra = orr_load_ptr((void **)&body->extra);

	if (extra)
		return extra;
	extra = orr_alloc(sizeof(*extra));
	if (orr_cas_ptr((void **)&body->extra, NULL, extra))
		return extra;
	free(extra); /* Another thread was first. */
	return orr_load_ptr((void **)&body->extra);
}

struct copy_state *data_find_copy(starpu_data_handle_t handle, unsigned memory)
{
	struct data_body *body = data_body(handle);
	const struct copy_index *index;
	struct copy_state *copy;

	if (memory == STARPU_MAIN_RAM)
		return &body->main;
	index = orr_load_ptr((void **)&body->index);
	if (index && memory <= index->n)
		return orr_load_ptr((void **)&index->copies[memory - 1]);
	if (index)
		return NULL;
	copy = orr_load_ptr((void **)&body->first_copy);
	return copy && copy->memory == memory ? copy : NULL;
}

/* An index that has a place for a memory, with all copies; the datum is locked. */
static struct copy_index *make_index(starpu_data_handle_t handle, unsigned memory)
{
	struct data_body *body = handle->body;
	struct copy_index *older = body->index, *index;
	unsigned n = (unsigned)node_nmemories(handle->node) - 1;

	if (memory > n || body->first_copy->memory > n)
		n = NODE_MAX_MEMORIES - 1;
	index = orr_alloc(sizeof(*index) + n * sizeof(index->copies[0]));
	index->older = older;
	index->n = n;
	if (older)
		memcpy(index->copies, older->copies, older->n * sizeof(older->copies[0]));
	else
		index->copies[body->first_copy->memory - 1] = body->first_copy;
	orr_swap_ptr((void **)&body->index, index);
	return index;
}

/* The datum is locked, and has no such copy. */
static void add_copy(starpu_data_handle_t handle, struct copy_state *copy)
{
	struct data_body *body = data_body(handle);
	struct copy_index *index = body->index;

	if (!body->first_copy) {
		orr_swap_ptr((void **)&body->first_copy, copy);
		return;
	}
	if (!index || copy->memory > index->n)
		index = make_index(handle, copy->memory);
	orr_swap_ptr((void **)&index->copies[copy->memory - 1], copy);
}

struct copy_state *data_copy(starpu_data_handle_t handle, unsigned memory)
{
	struct copy_state *copy = data_find_copy(handle, memory);

	if (copy)
		return copy;
	ORR_ASSERT(memory < NODE_MAX_MEMORIES);
	copy = make_copy(handle, memory);
	add_copy(handle, copy);
	return copy;
}

int data_adopt(starpu_data_handle_t handle, unsigned memory)
{
	struct copy_state *copy;
	int taken;

	orr_lock(&handle->lock);
	copy = data_copy(handle, memory);
	taken = copy->allocated;
	copy->allocated = 1;
	if (!taken && memory == STARPU_MAIN_RAM)
		handle->flags |= DATUM_USER_MEMORY;
	if (!taken)
		copy->is_users = 1;
	orr_unlock(&handle->lock);
	return taken ? -EEXIST : 0;
}

static void free_extra(struct data_extra *extra)
{
	if (!extra)
		return;
	redux_free(extra->redux);
	free(extra->name);
	free(extra);
}

static void free_copies(struct data_body *body)
{
	starpu_data_handle_t handle = body->main.datum;
	struct pool_commons *commons = handle->node->commons;
	struct copy_index *index = body->index, *older;

	if (!index)
		pool_commons_put(commons, body->first_copy, copy_bytes(handle));
	for (unsigned i = 0; index && i < index->n; i++)
		pool_commons_put(commons, index->copies[i], copy_bytes(handle));
	for (; index; index = older) {
		older = index->older;
		free(index);
	}
}

void data_free(struct node *node, starpu_data_handle_t handle)
{
	struct data_body *body = handle->body;

	ORR_ASSERT(!body || body->npending == 0);
	duplicate_forget(handle);
	if (orr_load(&node->is_bounding))
		graph_forget_datum(node, handle);
	if (body)
		event_tell(node, NULL,
			   (struct event){.kind = EVENT_FORGOTTEN,
					  .value = (uintptr_t)handle});
	if (node->on_unregister)
		node->on_unregister(node, handle, 1);
	if (!body || coherency_retire(handle, NULL))
		data_free_now(node, handle);
}

/*
 * The memory of a handle that has ended serves another one late, so that its use is
 * recognised by its node, which is none.  The list is linked by interface; the pools are
 * locked.  Returns a handle whose memory is to be freed, or NULL.
 */
static starpu_data_handle_t retire(struct node *node, starpu_data_handle_t handle)
{
	*handle = (struct _starpu_data_state){
		.tag = -1, .owner = -1, .home = -1, .pool = handle->pool};
	data_note_gist(handle);
	if (node->retired)
		node->retired_last->interface = handle;
	else
		node->retired = handle;
	node->retired_last = handle;
	if (++node->nretired <= DATA_MAX_RETIRED)
		return NULL;
	node->nretired--;
	handle = node->retired;
	node->retired = handle->interface;
	if (handle->pool < 0)
		return handle;
	pool_put(&node->datum_pools[handle->pool], handle);
	return NULL;
}

void data_free_retired(struct node *node)
{
	starpu_data_handle_t handle = node->retired, next;

	for (; handle; handle = next) {
		next = handle->interface;
		if (handle->pool < 0)
			free_large(handle);
	}
	node->retired = NULL;
}

void data_free_now(struct node *node, starpu_data_handle_t handle)
{
	struct data_body *body;
	OUTSIDE(outside);

	mapped_end(handle);
	if (handle->ops->unregister_data_handle) {
		outside_enter_ops(&outside, node, handle->ops,
				  "unregister_data_handle of an interface");
		handle->ops->unregister_data_handle(handle);
		outside_end(&outside);
	}
	body = handle->body; /* Perhaps made by that. */
	orr_lock(&node->pool_lock);
	if (body) {
		free_copies(body);
		free_extra(body->extra);
		body->main.datum = NULL;
		pool_put(&node->body_pool, body);
		free_own_struct(handle);
	}
	handle = retire(node, handle);
	orr_unlock(&node->pool_lock);
	free_large(handle);
}

/* A number that a function of its interface tells of it. */
static size_t ask_size(starpu_data_handle_t handle, size_t (*func)(starpu_data_handle_t),
		       const char *what)
{
	OUTSIDE(outside);
	size_t bytes;

	outside_enter_ops(&outside, handle->node, handle->ops, what);
	bytes = func(handle);
	outside_end(&outside);
	return bytes;
}

uint32_t data_footprint(starpu_data_handle_t handle)
{
	const struct starpu_data_interface_ops *ops = handle->ops;
	OUTSIDE(outside);
	uint32_t footprint;

	if (!ops->footprint)
		return 0;
	outside_enter_ops(&outside, handle->node, ops, "footprint of an interface");
	footprint = ops->footprint(handle);
	outside_end(&outside);
	return footprint;
}

size_t data_bytes(starpu_data_handle_t handle)
{
	return ask_size(handle, handle->ops->get_size, "get_size of an interface");
}

size_t data_alloc_bytes(starpu_data_handle_t handle)
{
	const struct starpu_data_interface_ops *ops = handle->ops;

	return ops->get_alloc_size ? ask_size(handle, ops->get_alloc_size,
					      "get_alloc_size of an interface")
				   : data_bytes(handle);
}

long data_agreed_bytes(starpu_data_handle_t handle)
{
	const struct starpu_data_interface_ops *ops = handle->ops;

	if (ops->get_max_size)
		return (long)ask_size(handle, ops->get_max_size,
				      "get_max_size of an interface");
	if ((int)ops->interfaceid >= STARPU_MAX_INTERFACE_ID)
		return -1;
	return (long)data_alloc_bytes(handle);
}

size_t data_moved_bytes(starpu_data_handle_t handle)
{
	size_t bytes = data_bytes(handle), most = data_alloc_bytes(handle);

	return bytes < most ? bytes : most;
}

/* Data are locked under the pool's lock here, against the usual order: only tried. */
void data_each(struct node *node, void (*one)(void *arg, starpu_data_handle_t handle),
	       void *arg)
{
	struct pool_cursor cursor = {0};
	const struct data_body *body;

	orr_lock(&node->pool_lock);
	while ((body = pool_next(&node->body_pool, &cursor))) {
		starpu_data_handle_t handle = body->main.datum;

		if (!handle || !orr_trylock(&handle->lock))
			continue;
		if (handle->body == body)
			one(arg, handle);
		orr_unlock(&handle->lock);
	}
	orr_unlock(&node->pool_lock);
}

const char *data_describe(starpu_data_handle_t handle, char *text, size_t bytes)
{
	const struct data_extra *extra;
	char shape[64] = "?";
	OUTSIDE(outside);

	if (!handle || !handle->node) {
		snprintf(text, bytes, "data %p (not registered)", (void *)handle);
		return text;
	}
	outside_enter_ops(&outside, handle->node, handle->ops,
			  "describe of an interface");
	if (handle->ops->describe)
		handle->ops->describe(handle->interface, shape, sizeof(shape));
	else if (handle->ops->name)
		snprintf(shape, sizeof(shape), "%s", handle->ops->name);
	outside_end(&outside);
	extra = data_find_extra(handle);
	if (extra && extra->name)
		snprintf(text, bytes, "data \"%s\" (%s)", extra->name, shape);
	else if (handle->tag >= 0)
		snprintf(text, bytes, "data with tag %lld (%s)", (long long)handle->tag,
			 shape);
	else
		snprintf(text, bytes, "data %p (%s)", (void *)handle, shape);
	return text;
}
