/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/early.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "core/wait.h"
#include "mpi/finish.h"
#include "mpi/mpi.h"

/*
 * How long an announcement waits on a real machine: not long when this node waits and
 * has nothing to run, since it may be for that sender; else the receive is likely to be
 * on its way, and receiving in place is cheaper.
 */
#define PATIENCE_IDLE_S 5e-3
#define PATIENCE_BUSY_S 1.0

/* A loop of tests in which nothing happened so often, and for so long, is a wait. */
#define TESTS_ARE_A_WAIT_S 0.1

enum { TESTS_ARE_A_WAIT = 1000 };

/* ---- life ------------------------------------------------------------ */

void earlies_init(struct mpi *mpi)
{
	struct earlies *earlies = &mpi->engine.earlies;

	pool_init_among(&earlies->pool, sizeof(struct early), mpi->node->commons);
	list_init(&earlies->announced);
}

void earlies_free(struct mpi *mpi)
{
	match_free(&mpi->engine.earlies.unmatched);
	heap_free(&mpi->engine.earlies.without_room);
	store_free(&mpi->engine.earlies.bodies);
	pool_free(&mpi->engine.earlies.pool);
}

struct early *early_new(struct mpi *mpi, int peer, const struct wire_head *head,
			struct request *local)
{
	struct earlies *earlies = &mpi->engine.earlies;
	struct early *early = pool_get(&earlies->pool);

	memset(early, 0, sizeof(*early));
	early->match.comm = head->comm;
	early->match.source = peer;
	early->match.tag = head->tag;
	early->head = *head;
	early->local = local;
	early->state = head->kind == WIRE_ANNOUNCE ? EARLY_ANNOUNCED : EARLY_HERE;
	if (early->state == EARLY_ANNOUNCED && !(head->flags & WIRE_SYNCHRONOUS)) {
		early->since_s = plat_now_s(mpi->node->plat);
		list_push_back(&earlies->announced, &early->link);
		orr_store(&earlies->nannounced, earlies->nannounced + 1);
	}
	return early;
}

static void leave_announced(struct mpi *mpi, struct early *early)
{
	struct earlies *earlies = &mpi->engine.earlies;

	if (early->state != EARLY_ANNOUNCED)
		return;
	early->state = EARLY_WANTED;
	if (early->head.flags & WIRE_SYNCHRONOUS)
		return;
	if (early->order.place)
		heap_remove(&earlies->without_room, &early->order);
	else
		list_remove(&early->link);
	orr_store(&earlies->nannounced, earlies->nannounced - 1);
}

void early_keep_body(struct mpi *mpi, struct early *early, const void *body)
{
	if (!body || early->head.bytes == 0)
		return;
	early->body = store_get(&mpi->engine.earlies.bodies, early->head.bytes);
	if (!early->body)
		orr_die(mpi->rank,
			"no memory for an early message of %llu bytes: post receives "
			"sooner",
			(unsigned long long)early->head.bytes);
	memcpy(early->body, body, early->head.bytes);
}

static void give_room(struct mpi *mpi, struct early *early)
{
	if (early->is_taken_in)
		mpi->engine.earlies.bytes -= early->head.bytes;
	early->is_taken_in = 0;
	if (early->body)
		store_put(&mpi->engine.earlies.bodies, early->body, early->head.bytes);
	early->body = NULL;
}

void early_free(struct mpi *mpi, struct early *early)
{
	give_room(mpi, early);
	leave_announced(mpi, early);
	pool_put(&mpi->engine.earlies.pool, early);
}

void early_go_direct(struct mpi *mpi, struct early *early)
{
	leave_announced(mpi, early);
	give_room(mpi, early);
}

void early_arrived(struct early *early)
{
	early->state = EARLY_HERE;
	if (early->receive && early->receive->state == REQUEST_READY)
		engine_consume(early->receive);
}

static const char *where(const struct mpi *mpi, const struct early *early)
{
	const struct earlies *earlies = &mpi->engine.earlies;

	if (early->head.kind != WIRE_ANNOUNCE || early->state == EARLY_HERE)
		return "";
	if (early->state != EARLY_ANNOUNCED)
		return ", it is coming into temporary memory";
	if (early->head.flags & WIRE_SYNCHRONOUS)
		return ", the sender waits for the match";
	if (early->head.bytes > earlies->max_bytes - earlies->bytes)
		return ", the sender waits: no temporary memory is left for it "
		       "(ORRERY_MPI_EARLY_BYTES)";
	return ", the sender waits";
}

const char *early_describe(const struct mpi *mpi, const struct early *early, char *text,
			   size_t bytes)
{
	struct comm_table *comms = (struct comm_table *)&mpi->comms;
	char comm[48];

	snprintf(text, bytes,
		 "tag %lld%s came from rank %d (%llu bytes)%s: nobody receives it",
		 (long long)early->match.tag,
		 comm_describe(comms, comm_with_id(comms, early->match.comm), comm,
			       sizeof(comm)),
		 early->match.source, (unsigned long long)early->head.bytes,
		 where(mpi, early));
	return text;
}

struct early *early_next(struct mpi *mpi, size_t *cursor, struct match_entry **entry)
{
	if (!match_next(&mpi->engine.earlies.unmatched, cursor, entry))
		return NULL;
	return ORR_CONTAINER(*entry, struct early, match);
}

size_t early_nunmatched(const struct mpi *mpi)
{
	return mpi->engine.earlies.unmatched.nentries;
}

const char *early_lack(const struct mpi *mpi, char *text, size_t bytes)
{
	const struct earlies *earlies = &mpi->engine.earlies;
	const struct heap *without_room = &earlies->without_room;
	size_t needed = earlies->bytes;

	if (without_room->count == 0)
		return NULL;
	for (size_t i = 0; i < without_room->count; i++)
		needed += ORR_CONTAINER(without_room->keys[i].entry, struct early, order)
				  ->head.bytes;
	snprintf(text, bytes,
		 "%zu message%s that nobody receives yet found no room in temporary "
		 "memory (%zu of %zu bytes are used), and the senders wait: receive "
		 "sooner, or set ORRERY_MPI_EARLY_BYTES to at least %zu",
		 without_room->count, without_room->count == 1 ? "" : "s", earlies->bytes,
		 earlies->max_bytes, needed);
	return text;
}

/* ---- taking in ------------------------------------------------------- */

static int make_room(struct mpi *mpi, struct early *early)
{
	struct earlies *earlies = &mpi->engine.earlies;
	struct node *node = mpi->node;
	size_t bytes = early->head.bytes;
	int is_carried = payload_is_carried(node, bytes);

	if (bytes > earlies->max_bytes - earlies->bytes)
		return 0;
	if (is_carried && bytes > 0) {
		early->body = store_get(&earlies->bodies, bytes);
		if (!early->body)
			return 0;
	}
	early->is_taken_in = 1;
	earlies->bytes += bytes;
	orr_note(&node->early_transfers, node->early_transfers + 1);
	orr_note(&node->early_bytes, node->early_bytes + bytes);
	return 1;
}

static int take_in(struct mpi *mpi, struct early *early)
{
	struct request *local = early->local;
	struct layout layout;

	if (!make_room(mpi, early))
		return 0;
	leave_announced(mpi, early);
	if (!local) {
		large_want(mpi, early);
		return 1;
	}
	payload_layout(&local->payload, &layout);
	layout_gather(early->body, &layout);
	early->local = NULL;
	finish_moved(mpi, local);
	early_arrived(early);
	return 1;
}

static int take_all_in(struct mpi *mpi)
{
	struct earlies *earlies = &mpi->engine.earlies;
	struct heap *without_room = &earlies->without_room;
	struct early *early;
	int count = 0;

	/* Who leaves has posted all that it ever will. */
	if (mpi->is_leaving)
		return 0;
	while (without_room->count > 0) {
		early = ORR_CONTAINER(without_room->keys[0].entry, struct early, order);
		if (!take_in(mpi, early))
			break;
		count++;
	}
	while (!list_is_empty(&earlies->announced)) {
		early = LIST_ENTRY(earlies->announced.next, struct early, link);
		if (take_in(mpi, early)) {
			count++;
			continue;
		}
		list_remove(&early->link);
		heap_push(without_room, &early->order, (double)early->head.bytes);
	}
	if (count > 0)
		engine_happened(&mpi->engine);
	return count;
}

int early_on_stuck(struct node *node)
{
	struct mpi *mpi = node->mpi;
	int count;

	if (!mpi || orr_load(&mpi->engine.earlies.nannounced) == 0)
		return 0;
	engine_lock(&mpi->engine);
	count = take_all_in(mpi);
	engine_unlock(&mpi->engine);
	finish_drain(mpi);
	return count > 0;
}

/* How long the oldest announcement has waited; 0: there is none.  What has found no room
 * has waited for long.  The engine is locked. */
static double oldest_age_s(struct mpi *mpi)
{
	const struct list *announced = &mpi->engine.earlies.announced;

	if (mpi->engine.earlies.without_room.count > 0)
		return 2 * PATIENCE_BUSY_S;
	if (list_is_empty(announced))
		return 0;
	return plat_now_s(mpi->node->plat) -
	       LIST_ENTRY(announced->next, struct early, link)->since_s;
}

void early_look(struct mpi *mpi)
{
	struct node *node = mpi->node;
	double age_s;
	int is_idle;

	if (orr_load(&mpi->engine.earlies.nannounced) == 0 ||
	    node->machine->ends_standstills)
		return;
	engine_lock(&mpi->engine);
	age_s = oldest_age_s(mpi);
	is_idle = age_s >= PATIENCE_IDLE_S && wait_is_any(node) &&
		  node_nsubmitted(node) <= orr_load(&node->nblocked);
	if (is_idle || age_s > PATIENCE_BUSY_S)
		take_all_in(mpi);
	engine_unlock(&mpi->engine);
}

/* ---- loops of tests -------------------------------------------------- */

/* Have many tests failed for long with nothing happening?  The engine is locked. */
static int tests_are_a_wait(struct engine *engine, double now_s)
{
	struct earlies *earlies = &engine->earlies;

	if (earlies->ntests == 0 || earlies->ntest_events != engine->nevents) {
		earlies->ntests = 1;
		earlies->ntest_events = engine->nevents;
		earlies->tested_s = now_s;
		return 0;
	}
	if (++earlies->ntests < TESTS_ARE_A_WAIT ||
	    now_s - earlies->tested_s < TESTS_ARE_A_WAIT_S)
		return 0;
	earlies->ntests = 0;
	return 1;
}

void early_test_failed(struct mpi *mpi)
{
	struct engine *engine = &mpi->engine;
	int is_wait;

	/* Who holds the lock moves something: a later test counts. */
	if (!orr_trylock(&engine->lock))
		return;
	is_wait = tests_are_a_wait(engine, plat_now_s(mpi->node->plat));
	engine_unlock(engine);
	if (is_wait)
		plat_unstick(mpi->node->plat);
}
