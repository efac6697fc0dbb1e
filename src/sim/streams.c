/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include "base/heap.h"
#include "solver_parts.h"

/*
 * streams.c - in which order the flows of a stream end.
 *
 * What a stream's work is now follows from what its first flow has left, so that a flow
 * alone has the same dates as if it knew of no others.
 */

static struct heap *others_of(struct stream *stream)
{
	if (!stream->others) {
		stream->others = orr_alloc(sizeof(*stream->others));
		stream->others->next_order = 1;
	}
	return stream->others;
}

/* Of those with its work it is the oldest. */
static void put_first_back(struct stream *stream)
{
	heap_push_ordered(others_of(stream), &stream->first->event.entry,
			  stream->first_work, 0);
}

static void set_first(struct stream *stream, struct flow *flow, double work)
{
	stream->first = flow;
	stream->first_order = flow->order;
	stream->first_work = work;
}

int stream_put(struct stream *stream, struct flow *flow)
{
	double work = stream->first_work - stream->left_bytes + flow->left_bytes;

	if (stream->first && work >= stream->first_work) {
		heap_push(others_of(stream), &flow->event.entry, work);
		return 0;
	}
	if (stream->first)
		put_first_back(stream);
	set_first(stream, flow, work);
	stream->left_bytes = flow->left_bytes;
	return 1;
}

static struct flow *pop(struct stream *stream)
{
	return ORR_CONTAINER(heap_pop(stream->others), struct flow, event.entry);
}

static int has_others(const struct stream *stream)
{
	return stream->others && stream->others->count > 0;
}

struct flow *stream_pop_companion(struct stream *stream)
{
	if (!has_others(stream) || heap_first_date_s(stream->others) > stream->first_work)
		return NULL;
	return pop(stream);
}

void stream_next(struct stream *stream, double now_s)
{
	struct flow *flow = pop(stream);
	double work = flow->event.entry.date_s;

	stream->left_bytes = work - stream->first_work;
	set_first(stream, flow, work);
	stream->updated_s = now_s;
}

void stream_close(struct stream *stream)
{
	if (!stream->others)
		return;
	heap_free(stream->others);
	free(stream->others);
}
