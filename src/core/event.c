/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/node.h"
#include "core/worker.h"

/* Texts of records that are told once are no others'. */
#define ONCE 0x8000000000000000ull

enum { USUAL_RING = 8192, SMALL_RING = 512, TEXT_MAX_BYTES = 256, MODELS_MAX = 255 };

void events_open(struct node *node)
{
	struct events *events = &node->events;

	events->is_direct = node->machine->takes_turns;
	events->ring_size = events->is_direct ? SMALL_RING : USUAL_RING;
	events->nrings = events->is_direct ? 1 : node->nworkers + 1;
	events->rings = orr_alloc((size_t)events->nrings * sizeof(*events->rings));
	orr_lock_init(&events->lock);
	for (int i = 0; i < events->nrings; i++)
		orr_lock_init(&events->rings[i].lock);
}

struct event_names {
	struct table of; /* by address */
	uintptr_t n;
};

void events_free(struct events *events)
{
	for (int i = 0; i < events->nrings; i++) {
		table_free(&events->rings[i].texts);
		table_free(&events->rings[i].models);
		free(events->rings[i].records);
	}
	table_free(&events->models);
	if (events->names)
		table_free(&events->names->of);
	free(events->names);
	events->names = NULL;
	free(events->rings);
	events->rings = NULL;
	events->nrings = 0;
}

/* ---- rings ----------------------------------------------------------- */

/* Does the sink hear anything now? */
static int listens(const struct events *events, const struct event_sink *sink)
{
	return sink->goes_on || !events->is_paused;
}

static void give(struct events *events, int ring, const struct event *records, unsigned n)
{
	for (struct event_sink *sink = events->sinks; sink; sink = sink->next)
		if (listens(events, sink) && (!sink->is_prompt || !events->is_direct))
			sink->take(sink, ring, records, n);
}

/* The events are locked. */
static void drain_ring(struct events *events, int index)
{
	struct event_ring *ring = &events->rings[index];
	unsigned written = (unsigned)orr_load(&ring->nwritten);

	while (ring->ntaken != written) {
		unsigned at = ring->ntaken & (events->ring_size - 1);
		unsigned n = written - ring->ntaken;

		if (n > events->ring_size - at)
			n = events->ring_size - at;
		give(events, index, &ring->records[at], n);
		ring->ntaken += n;
	}
}

static void drain(struct events *events)
{
	for (int i = 0; i < events->nrings; i++)
		drain_ring(events, i);
}

static void make_room(struct events *events, struct event_ring *ring)
{
	if (!ring->records)
		ring->records = orr_alloc(events->ring_size * sizeof(*ring->records));
	orr_lock(&events->lock);
	drain_ring(events, (int)(ring - events->rings));
	ring->limit = ring->ntaken + events->ring_size;
	orr_unlock(&events->lock);
}

/* By the one who owns the ring now. */
static void write_record(struct events *events, struct event_ring *ring,
			 const struct event *record)
{
	unsigned at = (unsigned)ring->nwritten;

	if (at == ring->limit)
		make_room(events, ring);
	ring->records[at & (events->ring_size - 1)] = *record;
	/* Who drains sees the record before the number. */
	orr_store(&ring->nwritten, (int)(at + 1));
}

static void tell_prompt(struct events *events, const struct event *record)
{
	for (struct event_sink *sink = events->sinks; sink; sink = sink->next)
		if (sink->is_prompt && listens(events, sink) &&
		    (sink->kinds & EVENT_BIT(record->kind)))
			sink->take(sink, 0, record, 1);
}

/* The ring of the calling thread, a worker or not, which is its own until let_go(). */
static struct event_ring *own(struct events *events, const struct worker *caller)
{
	struct event_ring *ring = &events->rings[events->nrings - 1];

	if (caller && !events->is_direct)
		return &events->rings[caller->id];
	orr_lock(&ring->lock);
	return ring;
}

static void let_go(struct events *events, struct event_ring *ring)
{
	if (ring == &events->rings[events->nrings - 1])
		orr_unlock(&ring->lock);
}

/* Which of a record's fields are addresses. */
enum { NAMED_ID = 1, NAMED_VALUE = 2 };

static int named_fields(const struct event *record)
{
	switch (record->kind) {
	case EVENT_TASK_SUBMITTED:
	case EVENT_FORGOTTEN:
		return NAMED_VALUE;
	case EVENT_TASK_LINKED:
	case EVENT_COMBINED:
		return NAMED_ID | NAMED_VALUE;
	case EVENT_TASK_USES:
		return record->flag & EVENT_OTHER ? NAMED_ID | NAMED_VALUE : NAMED_VALUE;
	case EVENT_COPY_BEGINS:
	case EVENT_COPY_ENDS:
	case EVENT_ALLOCATED:
	case EVENT_FREED:
	case EVENT_EVICTED:
		return NAMED_ID;
	default:
		return record->kind >= EVENT_REQUEST_POSTED &&
				       record->kind <= EVENT_REQUEST_DONE
			       ? NAMED_ID
			       : 0;
	}
}

/* What has an address is aligned. */
static uint64_t key_of_name(uint64_t address, enum event_names_of of)
{
	return address | of;
}

static uint64_t name_of(struct event_names *names, uint64_t address,
			enum event_names_of of)
{
	uint64_t key = key_of_name(address, of);
	uintptr_t name;

	if (!address)
		return 0;
	name = (uintptr_t)table_get(&names->of, key);
	if (!name) {
		name = ++names->n;
		table_put(&names->of, key, (void *)name);
	}
	return name;
}

/* A request is told before its job, which is at the same address. */
static enum event_names_of named_as(struct event_names *names, const struct event *record)
{
	switch (record->kind) {
	case EVENT_COPY_BEGINS:
	case EVENT_COPY_ENDS:
		return EVENT_NAMES_COPY;
	case EVENT_TASK_USES:
		return table_get(&names->of, key_of_name(record->id, EVENT_NAMES_REQUEST))
			       ? EVENT_NAMES_REQUEST
			       : EVENT_NAMES_OTHER;
	default:
		return record->kind >= EVENT_REQUEST_POSTED &&
				       record->kind <= EVENT_REQUEST_DONE
			       ? EVENT_NAMES_REQUEST
			       : EVENT_NAMES_OTHER;
	}
}

static struct event with_names(struct event_names *names, const struct event *record)
{
	struct event named = *record;
	int fields = named_fields(record);

	if (fields & NAMED_ID)
		named.id = name_of(names, record->id, named_as(names, record));
	if (fields & NAMED_VALUE)
		named.value = name_of(names, record->value, EVENT_NAMES_OTHER);
	return named;
}

void events_forget(struct events *events, const void *address, enum event_names_of of)
{
	struct event_ring *ring = own(events, NULL);

	table_remove(&events->names->of, key_of_name((uintptr_t)address, of));
	let_go(events, ring);
}

static void put(struct events *events, const struct worker *caller,
		const struct event *record)
{
	struct event_ring *ring = own(events, caller);
	struct event named;

	if (events->is_direct) {
		if (!events->names)
			events->names = orr_alloc(sizeof(*events->names));
		named = with_names(events->names, record);
		record = &named;
		tell_prompt(events, record);
	}
	write_record(events, ring, record);
	let_go(events, ring);
}

/* ---- who tells ------------------------------------------------------- */

void event_tell(struct node *node, const struct worker *worker, struct event record)
{
	const struct worker *caller;

	if (!events_want(&node->events, record.kind))
		return;
	caller = plat_current_worker(node->plat);
	if (!worker)
		worker = caller;
	record.worker = worker ? (uint16_t)worker->id : EVENT_NO_WORKER;
	if (record.date_s == 0)
		record.date_s = plat_now_s(node->plat);
	put(&node->events, caller, &record);
}

/* FNV-1a; of the first bytes, which are all that is told. */
static uint64_t key_of(const char *text, size_t *bytes)
{
	uint64_t key = 14695981039346656037ull;
	size_t n = 0;

	for (; text[n] && n < TEXT_MAX_BYTES - 1; n++)
		key = (key ^ (unsigned char)text[n]) * 1099511628211ull;
	*bytes = n + 1;
	return key & ~ONCE;
}

static void write_text(struct events *events, struct event_ring *ring, double date_s,
		       uint64_t key, const char *text, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
		struct event record = {.date_s = date_s,
				       .kind = EVENT_TEXT,
				       .worker = EVENT_NO_WORKER,
				       .n = (uint32_t)at,
				       .id = key};
		size_t n = bytes - at - 1; /* of the text; the rest is zero */

		if (n > sizeof(record.value))
			n = sizeof(record.value);
		memcpy(&record.value, text + at, n);
		write_record(events, ring, &record);
	}
}

static uint64_t tell_text(struct node *node, struct event_ring *ring, const char *text)
{
	struct events *events = &node->events;
	size_t bytes;
	uint64_t key = key_of(text, &bytes);

	if (!table_get(&ring->texts, key)) {
		table_put(&ring->texts, key, events);
		write_text(events, ring, plat_now_s(node->plat), key, text, bytes);
	}
	if (bytes <= sizeof(ring->last_text)) {
		memcpy(ring->last_text, text, bytes);
		ring->last_key = key;
	}
	return key;
}

uint64_t event_text(struct node *node, const char *text)
{
	struct events *events = &node->events;
	struct event_ring *ring;
	uint64_t key;

	if (!events_want(events, EVENT_TEXT))
		return 0;
	ring = own(events, plat_current_worker(node->plat));
	/* Most often the task is like the one before. */
	key = ring->last_key && !strcmp(text, ring->last_text)
		      ? ring->last_key
		      : tell_text(node, ring, text);
	let_go(events, ring);
	return key;
}

/* Numbers are the same in all rings; those behind the last flag stand for none. */
static uintptr_t number_model(struct events *events, const struct starpu_perfmodel *model)
{
	uintptr_t number;

	orr_lock(&events->lock);
	number = (uintptr_t)table_get(&events->models, (uintptr_t)model);
	if (!number) {
		number = (uintptr_t)++events->nmodels;
		table_put(&events->models, (uintptr_t)model, (void *)number);
	}
	orr_unlock(&events->lock);
	return number;
}

static uintptr_t tell_model(struct node *node, struct event_ring *ring,
			    const struct starpu_perfmodel *model)
{
	uintptr_t number = number_model(&node->events, model);
	struct event record = {
		.kind = EVENT_MODEL, .worker = EVENT_NO_WORKER, .n = (uint32_t)number};

	table_put(&ring->models, (uintptr_t)model, (void *)number);
	if (number > MODELS_MAX)
		return number;
	record.date_s = plat_now_s(node->plat);
	record.value = tell_text(node, ring, model->symbol);
	write_record(&node->events, ring, &record);
	return number;
}

uint8_t event_model(struct node *node, const struct starpu_perfmodel *model)
{
	struct events *events = &node->events;
	struct event_ring *ring;
	uintptr_t number;

	if (!model->symbol || !events_want(events, EVENT_MODEL))
		return 0;
	ring = own(events, plat_current_worker(node->plat));
	number = (uintptr_t)table_get(&ring->models, (uintptr_t)model);
	if (!number)
		number = tell_model(node, ring, model);
	let_go(events, ring);
	return number > MODELS_MAX ? 0 : (uint8_t)number;
}

void event_tell_text(struct node *node, enum event_kind kind, const char *text)
{
	struct events *events = &node->events;
	struct event_ring *ring;
	size_t bytes;
	uint64_t key = key_of(text, &bytes) | ONCE;

	if (!events_want(events, kind))
		return;
	ring = own(events, plat_current_worker(node->plat));
	write_text(events, ring, plat_now_s(node->plat), key, text, bytes);
	let_go(events, ring);
	event_tell(node, NULL, (struct event){.kind = (uint8_t)kind, .value = key});
}

void events_want_stamps(struct events *events)
{
	if (orr_load(&events->on) & EVENT_STAMPS)
		return;
	orr_lock(&events->lock);
	orr_store(&events->on, orr_load(&events->on) | EVENT_STAMPS);
	orr_unlock(&events->lock);
}

void events_use(struct events *events, enum event_use use, int wanted)
{
	int on;

	orr_lock(&events->lock);
	on = orr_load(&events->on);
	orr_store(&events->on, wanted ? on | (int)use : on & ~(int)use);
	orr_unlock(&events->lock);
}

/* About the node itself, also in a pause, and at once. */
static void tell_node(struct node *node, struct event record)
{
	struct events *events = &node->events;

	record.date_s = plat_now_s(node->plat);
	record.worker = EVENT_NO_WORKER;
	orr_lock(&events->lock);
	drain(events);
	for (struct event_sink *sink = events->sinks; sink; sink = sink->next)
		sink->take(sink, events->nrings - 1, &record, 1);
	orr_unlock(&events->lock);
}

void events_tell_rank(struct node *node, double origin_s)
{
	tell_node(node, (struct event){.kind = EVENT_RANK,
				       .n = (uint32_t)node->size,
				       .id = (uint64_t)node->rank,
				       .value = event_bits(origin_s)});
}

/* ---- who listens ----------------------------------------------------- */

static void append_sink(struct events *events, struct event_sink *sink)
{
	struct event_sink **at = &events->sinks;

	while (*at)
		at = &(*at)->next;
	sink->next = NULL;
	*at = sink;
}

/* What is recorded from now on.  The events are locked. */
static void update_kinds(struct node *node)
{
	struct events *events = &node->events;
	int on = orr_load(&events->on);
	uint64_t kinds = 0;

	for (struct event_sink *sink = events->sinks; sink; sink = sink->next)
		if (events->has_begun && listens(events, sink))
			kinds |= sink->kinds;
	orr_note(&events->kinds, kinds);
	if (kinds && !(on & EVENT_RECORDS))
		events->since_s = plat_now_s(node->plat);
	orr_store(&events->on, kinds ? on | EVENT_RECORDS : on & ~EVENT_RECORDS);
}

void events_add_sink(struct events *events, struct event_sink *sink)
{
	append_sink(events, sink);
}

void events_listen(struct node *node, struct event_sink *sink)
{
	struct events *events = &node->events;

	orr_lock(&events->lock);
	drain(events);
	append_sink(events, sink);
	update_kinds(node);
	orr_unlock(&events->lock);
}

void events_unlisten(struct node *node, struct event_sink *sink)
{
	struct events *events = &node->events;
	struct event_sink **at = &events->sinks;

	orr_lock(&events->lock);
	drain(events);
	while (*at && *at != sink)
		at = &(*at)->next;
	if (*at)
		*at = sink->next;
	update_kinds(node);
	orr_unlock(&events->lock);
}

void events_read(struct node *node, void (*read)(void *arg), void *arg)
{
	orr_lock(&node->events.lock);
	drain(&node->events);
	read(arg);
	orr_unlock(&node->events.lock);
}

static void tell_worker(struct node *node, const struct worker *worker)
{
	char name[64];

	snprintf(name, sizeof(name), "%s %d", worker->kind->name, worker->devid);
	event_tell(node, worker,
		   (struct event){.kind = EVENT_WORKER,
				  .n = (uint32_t)worker->type,
				  .id = worker->memory,
				  .value = event_text(node, name)});
}

void events_begin(struct node *node, double origin_s)
{
	struct events *events = &node->events;

	orr_lock(&events->lock);
	events->has_begun = 1;
	update_kinds(node);
	orr_unlock(&events->lock);
	if (!events->sinks)
		return;
	event_tell(node, NULL,
		   (struct event){.kind = EVENT_OPENED,
				  .n = EVENT_VERSION,
				  .id = EVENT_MAGIC,
				  .value = event_bits(origin_s)});
	event_tell(node, NULL,
		   (struct event){.kind = EVENT_HOST,
				  .value = event_text(node, node->machine->hostname)});
	for (int i = 0; i < node->nworkers; i++)
		tell_worker(node, &node->workers[i]);
	events_drain(node);
}

void events_end(struct node *node)
{
	struct events *events = &node->events;

	orr_lock(&events->lock);
	events->has_begun = 0;
	update_kinds(node);
	orr_unlock(&events->lock);
	if (!events->sinks)
		return;
	tell_node(node, (struct event){.kind = EVENT_CLOSED});
	orr_lock(&events->lock);
	events->sinks = NULL;
	orr_unlock(&events->lock);
}

void events_drain(struct node *node)
{
	orr_lock(&node->events.lock);
	drain(&node->events);
	orr_unlock(&node->events.lock);
}

int events_try_drain(struct node *node)
{
	if (!orr_trylock(&node->events.lock))
		return 0;
	drain(&node->events);
	orr_unlock(&node->events.lock);
	return 1;
}

/* The records of before belong to the time of before. */
static void set_paused(struct node *node, int is_paused)
{
	orr_lock(&node->events.lock);
	drain(&node->events);
	node->events.is_paused = is_paused;
	update_kinds(node);
	orr_unlock(&node->events.lock);
}

void events_pause(struct node *node, int is_paused)
{
	struct events *events = &node->events;
	enum event_kind kind = is_paused ? EVENT_PAUSED : EVENT_RESUMED;

	if (!events->sinks || events->is_paused == is_paused)
		return;
	if (!is_paused)
		set_paused(node, 0);
	event_tell(node, NULL, (struct event){.kind = (uint8_t)kind});
	if (is_paused)
		set_paused(node, 1);
}
