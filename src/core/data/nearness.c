/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/nearness.h"

#include "core/data/mapped.h"
#include "core/data/routes.h"
#include "core/data/specific.h"

static int reads(const struct access *access)
{
	return !access->skipped && (access->mode & (STARPU_R | STARPU_REDUX)) == STARPU_R;
}

/* Where the access is to be for a worker with that memory: nowhere is where it is. */
static unsigned place_of(const struct job *job, int i, unsigned memory)
{
	unsigned at = specific_is(job) ? specific_memory(job, i, memory) : memory;

	if (at == SPECIFIC_NOWHERE)
		at = (unsigned)__builtin_ctzll(
			data_glance(&data_body(job->accesses[i].datum)->valid) |
			memory_bit(NODE_MAX_MEMORIES - 1));
	return at;
}

/* Expected seconds of a value of so many bytes that is valid in some memories, to another
 * one. */
static double come_s(starpu_data_handle_t datum, size_t bytes, uint64_t valid,
		     unsigned to)
{
	struct node *node = datum->node;
	unsigned from;

	if (mapped_may_be(datum, to)) {
		if (valid & (memory_bit((unsigned)node->nmains) - 1))
			return 0;
		to = STARPU_MAIN_RAM;
	}
	from = routes_differ(node) ? routes_nearest(node, valid, to, bytes)
				   : (unsigned)__builtin_ctzll(valid);
	return routes_expected_s(node, from, to, bytes);
}

/* The same of the usual node, with one main memory, ways that are alike and nothing
 * mapped, for all memories of a set. */
static void add_all_s(struct node *node, size_t bytes, uint64_t valid, uint64_t to,
		      double seconds[NODE_MAX_MEMORIES])
{
	unsigned from = (unsigned)__builtin_ctzll(valid);

	for (; to; to &= to - 1) {
		unsigned memory = (unsigned)__builtin_ctzll(to);

		seconds[memory] += routes_expected_s(node, from, memory, bytes);
	}
}

void nearness_expected_s(struct job *job, uint64_t memories,
			 double seconds[NODE_MAX_MEMORIES])
{
	struct node *node = job->node;
	int is_specific = specific_is(job);
	int is_usual =
		!is_specific && !routes_differ(node) && node->conf->enable_map <= 0;

	for (uint64_t left = memories; left; left &= left - 1)
		seconds[__builtin_ctzll(left)] = 0;
	if (node_nmemories(node) == 1)
		return;
	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];
		const struct data_body *body;
		uint64_t valid, there, left = memories;
		size_t bytes;

		if (!reads(access))
			continue;
		body = data_body(access->datum);
		valid = data_glance(&body->valid);
		if (!valid)
			continue;
		there = valid | data_glance(&body->arriving) |
			data_glance(&body->promised);
		left &= is_specific ? left : ~there;
		bytes = left ? data_moved_bytes(access->datum) : 0;
		if (is_usual) {
			add_all_s(node, bytes, valid, left, seconds);
			continue;
		}
		for (; left; left &= left - 1) {
			unsigned memory = (unsigned)__builtin_ctzll(left);
			unsigned to = is_specific ? place_of(job, i, memory) : memory;

			if (!(there & memory_bit(to)))
				seconds[memory] +=
					come_s(access->datum, bytes, valid, to);
		}
	}
}

size_t nearness_lacks_bytes(const struct job *job, unsigned memory)
{
	size_t bytes = 0;

	for (int i = 0; i < job->naccesses && node_nmemories(job->node) > 1; i++) {
		const struct access *access = &job->accesses[i];
		const struct data_body *body;

		if (!reads(access))
			continue;
		body = data_body(access->datum);
		if (!((data_glance(&body->valid) | data_glance(&body->arriving)) &
		      memory_bit(place_of(job, i, memory))))
			bytes += data_moved_bytes(access->datum);
	}
	return bytes;
}

void nearness_promise(struct job *job, unsigned memory)
{
	if (node_nmemories(job->node) == 1)
		return;
	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];

		unsigned to;

		if (!reads(access))
			continue;
		to = place_of(job, i, memory);
		orr_lock(&access->datum->lock);
		data_set_memories(&access->datum->body->promised,
				  access->datum->body->promised | memory_bit(to));
		orr_unlock(&access->datum->lock);
	}
}

double nearness_datum_s(starpu_data_handle_t handle, unsigned memory, unsigned mode)
{
	uint64_t valid = data_glance(&data_body(handle)->valid);

	if (!(mode & STARPU_R) || !valid || (valid & memory_bit(memory)))
		return 0;
	return come_s(handle, data_moved_bytes(handle), valid, memory);
}
