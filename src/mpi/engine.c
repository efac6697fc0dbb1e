/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "mpi/ahead.h"
#include "mpi/barrier.h"
#include "mpi/datatype.h"
#include "mpi/direct.h"
#include "mpi/engine_messages.h"
#include "mpi/finish.h"
#include "mpi/mpi.h"

_Static_assert(sizeof(struct request) <= 320,
	       "two for each message that a large simulation has inserted");

/* ---- life ------------------------------------------------------------ */

void engine_init(struct mpi *mpi)
{
	struct engine *engine = &mpi->engine;

	orr_lock_init(&engine->lock);
	outbox_init(&engine->outbox, &engine->lock, engine_messages_left);
	engine->sender.sent = parcels_sent;
	list_init(&engine->all);
	pool_init_among(&engine->requests, sizeof(struct request), mpi->node->commons);
	request_match_lines(&engine->posted);
	pool_init_among(&engine->parcels, sizeof(struct parcel), mpi->node->commons);
	earlies_init(mpi);
	large_init(&engine->large, mpi->node->commons);
	coop_init(&engine->coop, mpi->node->commons);
	engine->flying_s = -1;
}

void engine_set_limits(struct mpi *mpi, const struct knobs *knobs)
{
	struct engine *engine = &mpi->engine;

	engine->large.max_puts = knobs->mpi_ndetached_send;
	engine->large.max_put_bytes = (size_t)knobs->mpi_put_bytes;
	engine->large.beside_bytes = (size_t)knobs->mpi_beside_bytes;
	engine->large.max_moving = knobs->mpi_window;
	engine->large.max_moving_bytes = (size_t)knobs->mpi_window_bytes;
	engine->coop.least_bytes = (size_t)knobs->mpi_coop_bytes;
	engine->earlies.max_bytes = (size_t)knobs->mpi_early_bytes;
}

void engine_free(struct mpi *mpi)
{
	struct engine *engine = &mpi->engine;

	table_free(&engine->sent_to);
	match_free(&engine->posted);
	earlies_free(mpi);
	large_free(&engine->large);
	coop_free(&engine->coop);
	raising_free(&engine->raising);
	outbox_free(&engine->outbox);
	pool_free(&engine->requests);
	pool_free(&engine->parcels);
}

void engine_note(struct mpi *mpi, struct outgoing *item)
{
	outbox_note(&mpi->engine.outbox, item);
}

/* What the carrier has left needs somebody who polls. */
static void kick_if(struct mpi *mpi, int is_left)
{
	if (is_left)
		plat_poll_kick(mpi->node->plat);
}

void engine_unlock_noted(struct engine *engine)
{
	kick_if(ORR_CONTAINER(engine, struct mpi, engine),
		outbox_unlock(&engine->outbox));
}

void engine_unlock_called_back(struct mpi *mpi)
{
	struct outbox *outbox = &mpi->engine.outbox;

	if (mpi->net->has_more) { /* The last one hands over what all of them noted. */
		outbox_unlock_deferring(outbox);
		return;
	}
	if (outbox->is_polling) {
		outbox_unlock_polling(outbox);
		return;
	}
	engine_unlock(&mpi->engine);
	finish_drain(mpi);
}

void engine_hold_mpi(struct mpi *mpi)
{
	outbox_hold(&mpi->engine.outbox, mpi->node->plat);
}

void engine_let_go_mpi(struct mpi *mpi)
{
	kick_if(mpi, outbox_let_go(&mpi->engine.outbox));
}

/* ---- what is told ---------------------------------------------------- */

static void carried(struct net *net, double since_s)
{
	struct mpi *mpi = net->owner;

	event_tell(mpi->node, NULL,
		   (struct event){.kind = EVENT_NET_BUSY, .value = event_bits(since_s)});
}

/* Nothing flew, or nothing flies. */
static void tell_flying(struct mpi *mpi, int flies)
{
	struct engine *engine = &mpi->engine;

	if (mpi->net->knows_busy)
		return;
	if (flies)
		engine->flying_s = plat_now_s(mpi->node->plat);
	else if (engine->flying_s >= 0)
		carried(mpi->net, engine->flying_s);
	if (!flies)
		engine->flying_s = -1;
}

void engine_flies(struct mpi *mpi, int more)
{
	struct engine *engine = &mpi->engine;
	int before = engine->nflying;

	orr_store(&engine->nflying, before + more);
	if ((before == 0 || before + more == 0) && events_on(&mpi->node->events))
		tell_flying(mpi, before == 0);
}

/* ---- checks at the match --------------------------------------------- */

/* Remember the first transfer that sender and receiver count differently. */
static void compare_ordinals(const struct request *request, const struct wire_head *head)
{
	struct suspect *suspect = &request->mpi->engine.suspect;

	if (!request->ordinal || !head->ordinal || request->ordinal == head->ordinal ||
	    suspect->is_set)
		return;
	suspect->is_set = 1;
	suspect->peer = request->match.source;
	suspect->tag = request->match.tag;
	suspect->sent = head->ordinal;
	suspect->received = request->ordinal;
	snprintf(suspect->what, sizeof(suspect->what), "%s",
		 request->what ? request->what : "without name");
}

const char *engine_suspicion(struct mpi *mpi, char *text, size_t bytes)
{
	const struct suspect *suspect = &mpi->engine.suspect;

	if (!suspect->is_set)
		return NULL;
	snprintf(
		text, bytes,
		"perhaps the ranks submitted different task graphs: the first transfer "
		"that two ranks count differently has tag %lld, it is number %u of those "
		"that rank %d inserted for rank %d, and number %u (for %s) of those that "
		"rank %d expects; all ranks must insert the tasks that concern them, in "
		"one order for each datum%s",
		(long long)suspect->tag, suspect->sent, suspect->peer, mpi->rank,
		suspect->received, suspect->what, mpi->rank, insert_more_words(mpi));
	return text;
}

/* The message is for this receive, which has its datum: what is sent must fit. */
static void accept_message(struct request *request, const struct wire_head *head)
{
	struct payload *payload = &request->payload;
	char text[128], suspicion[1000];
	const char *more;

	compare_ordinals(request, head);
	stats_moves(request, head->bytes);
	if (payload->is_packed) {
		payload_expect(payload, request_handle(request), head->bytes);
		return;
	}
	if (payload->bytes == head->bytes)
		return;
	more = engine_suspicion(request->mpi, suspicion, sizeof(suspicion));
	orr_die(request->mpi->rank,
		"tag %lld: rank %d sends %llu bytes, rank %d receives %zu bytes into %s; "
		"sender and receiver must register data of the same size%s%s",
		(long long)request->match.tag, request->match.source,
		(unsigned long long)head->bytes, request->mpi->rank,
		(size_t)payload->bytes,
		data_describe(request_handle(request), text, sizeof(text)),
		more ? "; " : "", more ? more : "");
}

/* ---- receives -------------------------------------------------------- */

void engine_consume(struct request *request)
{
	struct mpi *mpi = request->mpi;
	struct early *early = request->early;

	if (early->state == EARLY_MOVING)
		return; /* Its arrival calls again. */
	accept_message(request, &early->head);
	if (early->state != EARLY_HERE && !early->local) {
		early_go_direct(mpi, early);
		large_want(mpi, early);
		return;
	}
	if (early->local) /* Copied outside of the lock, at the end. */
		request->local = early->local;
	else
		payload_fill(&request->payload, early->body);
	early_free(mpi, early);
	request->early = NULL;
	finish_moved(mpi, request);
}

/* The oldest receive that waits for it, or NULL. */
static struct request *take_posted(struct engine *engine, int peer,
				   const struct wire_head *head)
{
	struct match_entry *entry =
		match_take(&engine->posted, head->comm, peer, head->tag);
	struct request *request =
		entry ? ORR_CONTAINER(entry, struct request, match) : NULL;

	if (!request)
		return NULL;
	/* The rest of it is needed soon; its match is here. */
	orr_bring(&request->payload);
	orr_bring(&request->acquire.access);
	orr_bring(request);
	request->is_posted = 0;
	request->next = NULL;
	request->early = NULL;
	request->local = NULL;
	request->kept = NULL;
	return request;
}

/* A transfer arrives.  local: the send, when it is of this node. */
static void arrive(struct mpi *mpi, int peer, const struct wire_head *head,
		   const void *body, struct request *local)
{
	struct engine *engine = &mpi->engine;
	struct request *request = take_posted(engine, peer, head);
	struct early *early;
	struct layout layout;

	if (request && request->state == REQUEST_READY && head->kind == WIRE_EAGER) {
		accept_message(request, head);
		payload_layout(&request->payload, &layout);
		layout_scatter(&layout, body);
		finish_moved(mpi, request);
		return;
	}
	early = early_new(mpi, peer, head, local);
	if (head->kind == WIRE_EAGER)
		early_keep_body(mpi, early, body);
	if (!request) {
		match_add(&engine->earlies.unmatched, &early->match);
		return;
	}
	request->early = early;
	early->receive = request;
	if (request->state == REQUEST_READY)
		engine_consume(request);
	else
		request_move(request, REQUEST_MATCHED);
}

/* Of a node that is far away. */
static void engine_expect_message(const void *owner, int peer, const void *head, int step)
{
	const struct mpi *mpi = owner;
	const struct engine *engine = &mpi->engine;
	const struct wire_head *wire = head;

	if (step == 0) {
		engine_bring(engine);
		if (wire->kind == WIRE_GRANT || wire->kind == WIRE_TAKEN ||
		    wire->kind == WIRE_HAVE)
			orr_bring_lines((const void *)(uintptr_t)wire->sender,
					sizeof(struct request));
		return;
	}
	if (step == 1) {
		orr_bring(mpi->node);
		table_expect(&engine->outbox.queues, (uint64_t)peer);
		if (wire->kind == WIRE_KEEP)
			table_expect(&engine->large.shared, wire->key);
	}
	if (wire->kind == WIRE_EAGER || wire->kind == WIRE_ANNOUNCE)
		match_expect(&engine->posted, wire->comm, peer, wire->tag, step - 1);
}

static void engine_deliver(struct net *net, int peer, const void *head, size_t head_bytes,
			   const void *body, size_t body_bytes)
{
	struct mpi *mpi = net->owner;
	struct wire_head wire = {0};

	ORR_ASSERT(head_bytes <= sizeof(wire));
	memcpy(&wire, head, head_bytes);
	engine_tell_message(mpi, EVENT_MESSAGE_RECEIVED, peer, wire.kind, body_bytes);
	engine_lock(&mpi->engine);
	if (standstill_receives(&mpi->standstill, wire.kind))
		engine_happened(&mpi->engine);
	switch ((enum wire_kind)wire.kind) {
	case WIRE_EAGER:
		ORR_ASSERT(body_bytes == wire.bytes);
		arrive(mpi, peer, &wire, body, NULL);
		break;
	case WIRE_ANNOUNCE:
		ahead_announced(mpi, peer, &wire);
		arrive(mpi, peer, &wire, NULL, NULL);
		break;
	case WIRE_GRANT:
		large_on_grant(mpi, &wire);
		break;
	case WIRE_TAKEN:
		large_on_taken(mpi, &wire);
		break;
	case WIRE_BARRIER:
		barrier_step_arrived(mpi, wire.comm, wire.round);
		break;
	case WIRE_FLUSH:
	case WIRE_FLUSHED:
		barrier_flush_arrived(mpi, peer, wire.kind == WIRE_FLUSHED);
		break;
	case WIRE_LEAVING:
		barrier_peer_leaves(mpi, peer, wire.ordinal);
		break;
	case WIRE_KEEP:
		large_on_keep(mpi, peer, &wire);
		break;
	case WIRE_HAVE:
		coop_on_have(mpi, &wire);
		break;
	case WIRE_FORWARD:
		coop_on_forward(mpi, &wire);
		break;
	case WIRE_LET_GO:
		coop_on_let_go(mpi, &wire);
		break;
	case WIRE_TALLY:
	case WIRE_PROBE:
	case WIRE_GONE:
	case WIRE_STATE:
	case WIRE_LIST:
	case WIRE_LISTED:
		standstill_heard(mpi, peer, &wire);
		break;
	case WIRE_COMPARE:
	case WIRE_COMPARED:
		compare_heard(mpi, peer, &wire);
		break;
	}
	engine_unlock_called_back(mpi);
}

void engine_connect(struct mpi *mpi, struct net *net)
{
	const struct knobs *knobs = node_knobs(mpi->node);

	mpi->net = net;
	mpi->engine.outbox.net = net;
	net->owner = mpi;
	mpi->engine.copies_small = net->may_copy && !knobs->mpi_explicit &&
				   knobs->mpi_driver_call_frequency == 0;
	net->deliver = engine_deliver;
	net->expect = engine_expect_message;
	net->expect_end = large_expect_end;
	net->carried = carried;
}

void engine_funnel(struct mpi *mpi)
{
	mpi->engine.only_thread = plat_thread();
	mpi->engine.outbox.by_poll = 1;
}

/* ---- sends ----------------------------------------------------------- */

/* 1: the value travels as a copy. */
static int copy_beside_head(struct parcel *parcel, const struct request *request,
			    const struct layout *layout)
{
	char *copy = parcel->message.head + WIRE_EAGER_BYTES;

	if (!request->mpi->engine.copies_small || request->is_waited ||
	    parcel->message.body_bytes > NET_HEAD_BYTES - WIRE_EAGER_BYTES)
		return 0;
	if (layout->base) {
		layout_gather(copy, layout);
		parcel->message.body = copy;
	}
	return 1;
}

/* 1: the request has moved, and is the caller's to release. */
static int send_eager(struct request *request, struct wire_head *head)
{
	struct mpi *mpi = request->mpi;
	struct layout layout;
	struct parcel *parcel;
	int is_copied;

	payload_layout(&request->payload, &layout);
	head->kind = WIRE_EAGER;
	parcel = parcel_new(mpi, request->match.source, head, WIRE_EAGER_BYTES);
	parcel_set_priority(parcel, head, mpi_priority(mpi, request));
	parcel->message.body_bytes = head->bytes;
	is_copied = copy_beside_head(parcel, request, &layout);
	if (!is_copied) {
		parcel_completes(parcel, request);
		parcel->message.body = layout.base;
		request->message = &parcel->outgoing;
	}
	if (!is_copied && layout.base && !layout_is_flat(&layout)) {
		parcel->copy = orr_alloc(head->bytes);
		layout_gather(parcel->copy, &layout);
		parcel->message.body = parcel->copy;
	}
	request_move(request, REQUEST_MOVING);
	if (!table_get(&mpi->engine.sent_to, (uint64_t)request->match.source))
		table_put(&mpi->engine.sent_to, (uint64_t)request->match.source,
			  (void *)((uintptr_t)request->match.source + 1));
	parcel_send(mpi, parcel);
	return is_copied && finish_copied(mpi, request);
}

/* To this node itself: small ones are stored when nobody is ready to take them, so
 * that a blocking send ends before its receive is posted, as with MPI. */
static void send_local(struct request *request, struct wire_head *head, int is_small)
{
	struct mpi *mpi = request->mpi;
	struct layout layout;
	void *copy = NULL;

	payload_layout(&request->payload, &layout);
	if (!is_small) {
		head->kind = WIRE_ANNOUNCE;
		request_move(request, REQUEST_ANNOUNCED);
		arrive(mpi, mpi->net->rank, head, NULL, request);
		return;
	}
	head->kind = WIRE_EAGER;
	if (!layout_is_flat(&layout) && layout.base) {
		copy = orr_alloc(head->bytes);
		layout_gather(copy, &layout);
	}
	arrive(mpi, mpi->net->rank, head, copy ? copy : layout.base, NULL);
	free(copy);
	finish_moved(mpi, request);
}

/* The send has its datum.  As send_eager(). */
static int send_ready(struct request *request)
{
	struct mpi *mpi = request->mpi;
	struct node *node = mpi->node;
	struct wire_head head = {.ordinal = request->ordinal, .tag = request->match.tag};
	int is_small;

	head.comm = comm_at(&mpi->comms, request->comm)->id;
	head.bytes = request->payload.bytes;
	head.sender = (uintptr_t)request;
	head.flags = request->is_sync ? WIRE_SYNCHRONOUS : 0;
	is_small = !request->is_sync && head.bytes <= mpi->net->eager_bytes;
	stats_moves(request, head.bytes);
	if (request->match.source == mpi->net->rank) {
		send_local(request, &head, is_small);
		return 0;
	}
	orr_note(&node->messages_sent, node->messages_sent + 1);
	orr_note(&node->bytes_sent, node->bytes_sent + head.bytes);
	if (is_small)
		return send_eager(request, &head);
	head.kind = WIRE_ANNOUNCE;
	head.flags |= (uint16_t)coop_announce(request);
	request_move(request, REQUEST_ANNOUNCED);
	if (!(head.flags & WIRE_SHARED))
		head.flags |= (uint16_t)large_offer(mpi, request, &head.key);
	engine_send_about(mpi, request->match.source, mpi_priority(mpi, request), &head,
			  ahead_announce(mpi, request, &head));
	if (head.flags & WIRE_PUSHED)
		large_push(mpi, request);
	return 0;
}

/* ---- what others ask ------------------------------------------------- */

struct request *engine_next(struct mpi *mpi, const struct request *request)
{
	struct list *all = &mpi->engine.all;
	struct list *link = request ? request->link.next : all->next;

	return link == all ? NULL : LIST_ENTRY(link, struct request, link);
}

int engine_npending(struct mpi *mpi)
{
	return orr_load(&mpi->engine.npending);
}

int engine_nending(struct mpi *mpi)
{
	struct engine *engine = &mpi->engine;

	return orr_load(&engine->ndraining) + orr_load(&engine->is_timer_set) +
	       (orr_load_ptr((void **)(void *)&engine->moved) != NULL) +
	       (orr_load_ptr((void **)(void *)&engine->coop.let_go) != NULL);
}

int engine_nflying(struct mpi *mpi)
{
	return orr_load(&mpi->engine.nflying);
}

int engine_is_polled(struct mpi *mpi)
{
	return orr_load(&mpi->engine.is_polled);
}

unsigned long engine_signature(struct mpi *mpi)
{
	unsigned long nevents = orr_count(&mpi->engine.nevents) +
				(mpi->net ? orr_count(&mpi->net->npieces) : 0);

	return table_mix(nevents + ((unsigned long)engine_npending(mpi) << 40));
}

/* ---- posting --------------------------------------------------------- */

static void request_acquired(struct acquire *acquire)
{
	struct request *request = (struct request *)(void *)acquire;
	struct mpi *mpi = request->mpi;
	struct engine *engine = &mpi->engine;
	/* A send to another rank is released by who polls, as that one sees it leave. */
	int ends_here = request->kind == REQUEST_RECEIVE ||
			request->match.source == mpi->net->rank;
	/* Who posts it and waits at once polls then. */
	int needs_poll = ends_here && !(orr_load(&request->holders) & REQUEST_IS_BEGUN);
	int is_over = 0;

	if (request->kind == REQUEST_SEND)
		payload_of_send(&request->payload, request_handle(request),
				(unsigned)request->acquire.memory);
	else
		payload_of_receive(&request->payload, request_handle(request),
				   (unsigned)request->acquire.memory);
	engine_lock(engine);
	engine_happened(engine);
	request_move(request, REQUEST_READY);
	if (request->kind == REQUEST_SEND)
		is_over = send_ready(request);
	else if (request_early(request))
		engine_consume(request);
	else
		ahead_await(mpi, request);
	engine_unlock(engine);
	if (is_over)
		finish_release_copied(request);
	else if (needs_poll)
		finish_drain_later(mpi);
}

static void request_tell(const struct acquire *acquire, char *text, size_t bytes)
{
	const struct request *request = (const struct request *)(const void *)acquire;

	snprintf(text, bytes, "%s rank %d tag %lld (%s)",
		 request->kind == REQUEST_SEND ? "a send to" : "a receive from",
		 request->peer, (long long)request->match.tag, request->what);
}

/* What its turn and its value need: after each lock the processor would wait for one of
 * them. */
static void expect_datum(starpu_data_handle_t handle)
{
	const struct data_body *body = orr_load_ptr((void **)&handle->body);

	orr_bring(handle->interface);
	if (!body)
		return;
	orr_bring(&body->waiting);
	orr_bring(&body->valid);
	orr_bring(&body->main);
}

static struct request *request_new(struct mpi *mpi, const struct post *post)
{
	static const struct acquirer by = {request_acquired, direct_choose,
					   .describe = request_tell, .is_quiet = 1};
	const struct mpi_comm *comm = comm_at(&mpi->comms, post->comm);
	struct request *request;

	engine_lock(&mpi->engine);
	request = pool_get(&mpi->engine.requests);
	/* Small sends that nobody waits for take the same one again and again. */
	if (post->kind == REQUEST_RECEIVE || post->is_waited)
		engine_expect(&mpi->engine.requests, sizeof(*request));
	/* acquire_start() sees to the job and its access. */
	memset(&request->match, 0, sizeof(*request) - offsetof(struct request, match));
	request->acquire.is_hint = request->acquire.counted = 0;
	list_push_back(&mpi->engine.all, &request->link);
	event_unname(&mpi->node->events, request, EVENT_NAMES_REQUEST);
	request->mpi = mpi;
	request->acquire.access.datum = post->handle;
	request->kind = (unsigned char)post->kind;
	request->is_sync = post->is_sync != 0;
	request->is_waited = post->is_waited != 0;
	request->comm = (short)post->comm;
	request->peer = post->peer;
	request->match.source = comm_net_rank(comm, post->peer);
	request->priority = post->priority;
	request->holders = (1 + request->is_waited) * REQUEST_HOLDER;
	request->ordinal = post->ordinal;
	request->match.tag = post->tag;
	request->what = post->what;
	ORR_ASSERT(!request->is_waited || !post->callback);
	request->callback = post->callback;
	request->arg = post->arg;
	request->acquire.by = &by;
	request->acquire.memory = mpi->node->nmains > 1 || mpi->net->memories
					  ? ACQUIRE_MAIN_MEMORY
					  : (int)STARPU_MAIN_RAM;
	request_move(request, REQUEST_TURN);
	mpi->engine.nposted++;
	orr_add(&mpi->engine.npending, 1);
	return request; /* with the engine locked */
}

/* Queue the receive for its message, or give it the oldest one that waits. */
static void match_receive(struct request *request)
{
	struct engine *engine = &request->mpi->engine;
	uint64_t comm = comm_at(&request->mpi->comms, request->comm)->id;
	struct match_entry *entry;

	entry = match_take(&engine->earlies.unmatched, comm, request->match.source,
			   request->match.tag);
	if (entry) {
		request->early = ORR_CONTAINER(entry, struct early, match);
		request->early->receive = request;
		request_move(request, REQUEST_MATCHED);
		return;
	}
	request->match.comm = comm;
	request->is_posted = 1;
	match_add(&engine->posted, &request->match);
}

/* Then nobody has to be woken who polls. */
static int polls_at_once(struct mpi *mpi, const struct post *post)
{
	const void *only_thread = mpi->engine.only_thread;

	return post->is_blocking && mpi->node->machine->polls_itself &&
	       engine_is_polled(mpi) && (!only_thread || only_thread == plat_thread());
}

struct request *engine_post(struct mpi *mpi, const struct post *post)
{
	int is_wanted = post->kind == REQUEST_SEND && coop_wants(mpi, post->handle);
	struct answer *answer = datatype_ask_first(mpi, post->handle);
	unsigned mode = post->kind == REQUEST_SEND ? STARPU_R : STARPU_W;
	struct request *request;
	int is_begun;

	expect_datum(post->handle);
	request = request_new(mpi, post);
	request->payload.answer = answer;
	request->payload.is_answered = answer != NULL;
	if (post->ordinal)
		raise_note(mpi, request);
	if (post->kind == REQUEST_RECEIVE)
		match_receive(request);
	else if (is_wanted)
		coop_post(mpi, request);
	engine_unlock(&mpi->engine);
	if (post->is_waited)
		plat_gate_init(&request->gate);
	is_begun = polls_at_once(mpi, post);
	if (is_begun)
		orr_add(&request->holders, REQUEST_IS_BEGUN);
	else
		engine_wake(mpi);
	/* A request that nobody waits for may be gone when this returns. */
	acquire_start(mpi->node, &request->acquire, post->handle, mode,
		      !post->is_unordered);
	if (is_begun)
		orr_add(&request->holders, -REQUEST_IS_BEGUN);
	return post->is_waited ? request : NULL;
}

/* ---- progress -------------------------------------------------------- */

void engine_wake(struct mpi *mpi)
{
	if (orr_load(&mpi->engine.is_asleep) && orr_cas(&mpi->engine.is_asleep, 1, 0))
		plat_poll_kick(mpi->node->plat);
}

static int is_active(struct mpi *mpi)
{
	struct engine *engine = &mpi->engine;

	return orr_load(&engine->npending) > 0 || orr_load(&engine->nflying) > 0 ||
	       barrier_nentered(mpi) > 0 || orr_load(&engine->earlies.nannounced) > 0 ||
	       standstill_asks(&mpi->standstill);
}

int engine_poll(void *arg)
{
	struct mpi *mpi = arg;
	struct engine *engine = &mpi->engine;
	int nevents;

	if (engine->only_thread && engine->only_thread != plat_thread())
		return -1;
	if (!orr_load(&engine->is_polled))
		orr_store(&engine->is_polled, 1);
	nevents = outbox_poll(&engine->outbox);
	if (nevents >= 0)
		early_look(mpi);
	else
		nevents = 0; /* Somebody else does. */
	nevents += finish_drain(mpi);
	if (nevents > 0)
		return 1;
	if (is_active(mpi))
		return 0;
	/* Who makes it active looks at is_asleep afterwards: one of us sees the other. */
	orr_store(&engine->is_asleep, 1);
	orr_fence();
	return is_active(mpi) ? 0 : -1;
}
