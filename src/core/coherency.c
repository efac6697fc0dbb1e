/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/coherency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/interfaces.h"
#include "core/task.h"

/*
 * Locks: a datum's, then a memory's.  Eviction holds the datum that asks for room
 * and only tries the lock of the one it evicts.
 */

static void start_copy(struct node *node, struct copy_state *from, struct copy_state *to);

static int needs_value(const struct access *access)
{
	return (access->mode & STARPU_R) != 0;
}

static size_t alloc_bytes(starpu_data_handle_t datum)
{
	return datum->ops->get_alloc_size ? datum->ops->get_alloc_size(datum)
					  : datum->ops->get_size(datum);
}

/* The datum is locked.  A pinned copy stays where it is. */
static void pin(struct node *node, struct copy_state *copy)
{
	struct memory *memory = &node->memories[copy->memory];

	if (copy->refs++ > 0 || copy->memory == STARPU_MAIN_RAM)
		return;
	orr_lock(&memory->lock);
	memory->pinned_bytes += alloc_bytes(copy->datum);
	orr_unlock(&memory->lock);
}

/* The datum is locked.  1 when nobody pins the copy any more. */
static int unpin(struct node *node, struct copy_state *copy)
{
	struct memory *memory = &node->memories[copy->memory];

	if (--copy->refs > 0)
		return 0;
	if (copy->memory == STARPU_MAIN_RAM)
		return 1;
	orr_lock(&memory->lock);
	memory->pinned_bytes -= alloc_bytes(copy->datum);
	orr_unlock(&memory->lock);
	return 1;
}

/* ---- room in a memory ------------------------------------------------ */

static void list_copy(struct memory *memory, struct copy_state *copy)
{
	orr_lock(&memory->lock);
	copy->listed = 1;
	copy->newer = NULL;
	copy->older = memory->newest;
	if (memory->newest)
		memory->newest->newer = copy;
	else
		memory->oldest = copy;
	memory->newest = copy;
	orr_unlock(&memory->lock);
}

/* The memory is locked. */
static void unlink_copy(struct memory *memory, struct copy_state *copy)
{
	if (copy->older)
		copy->older->newer = copy->newer;
	else
		memory->oldest = copy->newer;
	if (copy->newer)
		copy->newer->older = copy->older;
	else
		memory->newest = copy->older;
	copy->listed = 0;
}

static void unlist_copy(struct memory *memory, struct copy_state *copy)
{
	orr_lock(&memory->lock);
	if (copy->listed)
		unlink_copy(memory, copy);
	orr_unlock(&memory->lock);
}

/* Free what the runtime allocated for this copy. */
static void release_memory(struct node *node, struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;

	datum->body->valid &= ~memory_bit(copy->memory);
	if (!copy->allocated)
		return;
	if (copy->memory == STARPU_MAIN_RAM && (datum->flags & DATUM_USER_MEMORY))
		return;
	if (copy->memory != STARPU_MAIN_RAM) {
		struct memory *memory = &node->memories[copy->memory];

		unlist_copy(memory, copy);
		orr_lock(&memory->lock);
		memory->used_bytes -= alloc_bytes(datum);
		orr_unlock(&memory->lock);
	}
	datum->ops->free_data_on_node(copy->interface, copy->memory);
	copy->allocated = 0;
}

static int reserve(struct memory *memory, size_t bytes)
{
	int fits;

	orr_lock(&memory->lock);
	fits = !memory->capacity_bytes ||
	       memory->used_bytes + bytes <= memory->capacity_bytes;
	if (fits)
		memory->used_bytes += bytes;
	orr_unlock(&memory->lock);
	return fits;
}

static int is_valid(const struct copy_state *copy)
{
	return (copy->datum->body->valid & memory_bit(copy->memory)) != 0;
}

static int is_valid_elsewhere(const struct copy_state *copy)
{
	return (copy->datum->body->valid & ~memory_bit(copy->memory)) != 0;
}

/* Throw out the least recently used copy of a memory, after sending its value to
 * main memory when it is the only one.  1: tried one, 0: nothing to throw out. */
static int evict_one(struct node *node, struct memory *memory)
{
	struct copy_state *copy;
	starpu_data_handle_t datum;
	struct data_body *body;

	orr_lock(&memory->lock);
	copy = memory->oldest;
	if (copy)
		unlink_copy(memory, copy);
	orr_unlock(&memory->lock);
	if (!copy)
		return 0;
	datum = copy->datum;
	body = data_body(datum);
	if (!orr_trylock(&datum->lock)) {
		list_copy(memory, copy);
		return 0;
	}
	if (copy->refs == 0 && copy->allocated) {
		if (!is_valid(copy) || is_valid_elsewhere(copy)) {
			release_memory(node, copy);
		} else if (!(body->arriving & memory_bit(STARPU_MAIN_RAM))) {
			pin(node, copy); /* Until its value has left: see arrived(). */
			start_copy(node, copy, &body->main);
		}
	}
	orr_unlock(&datum->lock);
	return 1;
}

/* 0; -EAGAIN: the fetch was put aside until there is room. */
static int allocate(struct node *node, struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;
	starpu_ssize_t got;

	if (copy->allocated)
		return 0;
	if (copy->memory != STARPU_MAIN_RAM) {
		struct memory *memory = &node->memories[copy->memory];

		while (!reserve(memory, alloc_bytes(datum)))
			if (!evict_one(node, memory))
				return -EAGAIN;
	}
	got = datum->ops->allocate_data_on_node(copy->interface, copy->memory);
	if (got < 0) {
		char what[128];

		orr_die(node->rank, "no memory for %s: %zu bytes refused",
			data_describe(datum, what, sizeof(what)), alloc_bytes(datum));
	}
	copy->allocated = 1;
	return 0;
}

/* ---- values on their way --------------------------------------------- */

static void access_fetched(struct access *access)
{
	struct job *job = access->job;

	if (orr_add(&job->nfetching, -1) == 0)
		job_fetched(job);
}

/* access has its copy, whose value is there when it is needed; datum locked. */
static void settle(struct access *access)
{
	starpu_data_handle_t datum = access->datum;
	struct data_body *body = data_body(datum);
	struct copy_state *copy = access->copy;

	if (!(access->mode & STARPU_W))
		return;
	body->valid = memory_bit(copy->memory);
	body->has_value = 1;
}

/* Some memory became evictable or free: try the fetches that wait for room. */
static void feed_starved(struct node *node, struct memory *memory)
{
	struct access *access;

	orr_lock(&memory->lock);
	access = memory->starved;
	memory->starved = NULL;
	orr_unlock(&memory->lock);
	(void)node;
	while (access) {
		struct access *next = access->next;

		if (coherency_fetch(access, access->memory))
			access_fetched(access);
		access = next;
	}
}

static void arrived(struct plat_copy *transfer)
{
	struct copy_state *to = transfer->owner;
	starpu_data_handle_t datum = to->datum;
	struct node *node = datum->node;
	unsigned from_memory = transfer->from;
	struct copy_state *from = data_find_copy(datum, from_memory);
	struct access *access, *waiters;

	free(transfer);
	orr_lock(&datum->lock);
	datum->body->valid |= memory_bit(to->memory);
	datum->body->arriving &= ~memory_bit(to->memory);
	waiters = to->waiters;
	to->waiters = NULL;
	for (access = waiters; access; access = access->next)
		settle(access);
	if (unpin(node, from) && from_memory != STARPU_MAIN_RAM && from->allocated)
		list_copy(&node->memories[from_memory], from);
	orr_unlock(&datum->lock);
	while ((access = waiters)) {
		waiters = access->next;
		access_fetched(access);
	}
	if (from_memory != STARPU_MAIN_RAM && node->memories[from_memory].starved)
		feed_starved(node, &node->memories[from_memory]);
}

/* The datum is locked and from is pinned once for the time of the transfer. */
static void start_copy(struct node *node, struct copy_state *from, struct copy_state *to)
{
	struct plat_copy *transfer = orr_alloc(sizeof(*transfer));
	starpu_data_handle_t datum = from->datum;

	if (to->memory == STARPU_MAIN_RAM)
		allocate(node, to);
	*transfer = (struct plat_copy){.from = from->memory,
				       .to = to->memory,
				       .bytes = data_bytes(datum),
				       .from_interface = from->interface,
				       .to_interface = to->interface,
				       .methods = datum->ops->copy_methods,
				       .done = arrived,
				       .owner = to};
	datum->body->arriving |= memory_bit(to->memory);
	if (plat_copy(node->plat, transfer)) {
		/* Done at once: the same as arriving, under the lock we hold. */
		datum->body->valid |= memory_bit(to->memory);
		datum->body->arriving &= ~memory_bit(to->memory);
		unpin(node, from);
		free(transfer);
	}
}

/* A memory that holds the value: main memory if it does, else the first GPU. */
static struct copy_state *find_source(starpu_data_handle_t datum)
{
	unsigned valid = data_body(datum)->valid;

	return valid ? data_find_copy(datum, (unsigned)__builtin_ctz(valid)) : NULL;
}

static void complain_no_value(struct access *access)
{
	struct job *job = access->job;
	char what[128];

	orr_die(job->node->rank,
		"task \"%s\" reads %s, which has no value: it was registered without "
		"one (home node -1) and nothing has written it. Write it first, or "
		"register it with its memory.",
		job->task && job->task->name ? job->task->name
		: job->task && job->task->cl && job->task->cl->name
			? job->task->cl->name
			: "(acquisition or communication)",
		data_describe(access->datum, what, sizeof(what)));
}

/* The copy is pinned and the datum locked: bring the value.  1 when it is there. */
static int bring(struct access *access, struct copy_state *copy)
{
	struct node *node = access->job->node;
	struct copy_state *source;

	if (!(access->datum->body->arriving & memory_bit(copy->memory))) {
		if (allocate(node, copy) != 0) {
			struct memory *memory = &node->memories[copy->memory];

			orr_lock(&memory->lock);
			access->next = memory->starved;
			memory->starved = access;
			orr_unlock(&memory->lock);
			return -EAGAIN;
		}
		if (!needs_value(access) || is_valid(copy))
			return 1;
		source = find_source(access->datum);
		if (!source)
			complain_no_value(access);
		if (source->memory != STARPU_MAIN_RAM)
			unlist_copy(&node->memories[source->memory], source);
		pin(node, source);
		start_copy(node, source, copy);
		if (is_valid(copy))
			return 1;
	}
	access->next = copy->waiters;
	copy->waiters = access;
	return 0;
}

/* Each scratch access has memory of its own for as long as it lasts. */
static int fetch_scratch(struct access *access, unsigned memory)
{
	starpu_data_handle_t datum = access->datum;
	struct copy_state *copy = orr_alloc(sizeof(*copy) + datum->ops->interface_size);

	copy->datum = datum;
	copy->memory = (unsigned char)memory;
	copy->interface = copy + 1;
	if (interface_is_ours(datum->ops))
		interface_clone(datum->ops, copy->interface, datum->interface);
	else
		memcpy(copy->interface, datum->interface, datum->ops->interface_size);
	if (allocate(access->job->node, copy) != 0) {
		char what[128];

		orr_die(access->job->node->rank,
			"no room for the scratch %s in memory %u",
			data_describe(datum, what, sizeof(what)), memory);
	}
	access->copy = copy;
	return 1;
}

int coherency_fetch(struct access *access, unsigned memory)
{
	starpu_data_handle_t datum = access->datum;
	struct copy_state *copy;
	int there;

	access->memory = (unsigned char)memory;
	if (access->mode & STARPU_SCRATCH)
		return fetch_scratch(access, memory);
	orr_lock(&datum->lock);
	copy = data_copy(datum, memory);
	if (memory != STARPU_MAIN_RAM && copy->listed)
		unlist_copy(&datum->node->memories[memory], copy);
	if (access->copy != copy) {
		access->copy = copy;
		pin(access->job->node, copy);
	}
	there = is_valid(copy) && copy->allocated ? 1 : bring(access, copy);
	if (there == 1)
		settle(access);
	orr_unlock(&datum->lock);
	return there == 1;
}

void coherency_unpin(struct access *access)
{
	struct copy_state *copy = access->copy;
	starpu_data_handle_t datum = access->datum;
	struct node *node = access->job->node;
	struct memory *memory;

	if (!copy)
		return;
	access->copy = NULL;
	if (access->mode & STARPU_SCRATCH) {
		if (copy->memory != STARPU_MAIN_RAM) {
			memory = &node->memories[copy->memory];
			orr_lock(&memory->lock);
			memory->used_bytes -= alloc_bytes(datum);
			orr_unlock(&memory->lock);
		}
		datum->ops->free_data_on_node(copy->interface, copy->memory);
		free(copy);
		return;
	}
	orr_lock(&datum->lock);
	memory = &node->memories[copy->memory];
	if (unpin(node, copy) && copy->memory != STARPU_MAIN_RAM)
		list_copy(memory, copy);
	orr_unlock(&datum->lock);
	if (memory->starved)
		feed_starved(node, memory);
}

void coherency_invalidate(starpu_data_handle_t handle, int release)
{
	struct node *node = handle->node;
	struct data_body *body = data_body(handle);

	orr_lock(&handle->lock);
	body->has_value = 0;
	body->valid = 0;
	if (release)
		release_memory(node, &body->main);
	for (int i = 1; release && body->extra && i < node->nmemories; i++)
		if (body->extra->copies[i])
			release_memory(node, body->extra->copies[i]);
	orr_unlock(&handle->lock);
}

int coherency_fits(struct job *job, unsigned memory)
{
	struct memory *where = &job->node->memories[memory];
	size_t total = 0, more = 0;

	if (!where->capacity_bytes)
		return 1;
	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];
		struct copy_state *copy = data_find_copy(access->datum, memory);

		if (access->state == ACCESS_SKIPPED && !(access->mode & STARPU_SCRATCH))
			continue;
		total += alloc_bytes(access->datum);
		if (!copy || copy->refs == 0 || (access->mode & STARPU_SCRATCH))
			more += alloc_bytes(access->datum);
	}
	if (total > where->capacity_bytes)
		orr_die(job->node->rank,
			"task \"%s\" needs %zu bytes in memory node %u, which has %zu: "
			"use smaller pieces, or run it elsewhere (where, "
			"STARPU_LIMIT_CUDA_MEM)",
			task_name(job->task), total, memory,
			where->capacity_bytes);
	return where->pinned_bytes + more <= where->capacity_bytes;
}

double coherency_expected_s(struct job *job, unsigned memory)
{
	double seconds = 0;

	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];
		const struct data_body *body;

		if (access->state == ACCESS_SKIPPED || !needs_value(access))
			continue;
		body = data_body(access->datum);
		if (!body->valid || ((body->valid | body->arriving) & memory_bit(memory)))
			continue;
		seconds += plat_copy_expected_s(job->node->plat,
						(unsigned)__builtin_ctz(body->valid),
						memory, data_bytes(access->datum));
	}
	return seconds;
}
