/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/coop.h"

#include "base/check.h"
#include "mpi/finish.h"
#include "mpi/mpi.h"

/* So many times the smallest value that is shared are all its copies together. */
enum { ENOUGH = 32 };

/* A receiver that keeps a value for others. */
struct keeper {
	struct keeper *next; /* that has nothing to do */
	int peer;
	uint64_t name; /* its request, there */
};

/* The sends of one datum. */
struct group {
	starpu_data_handle_t handle;
	int nposted;         /* not over */
	int nexpected;       /* as the application says */
	int nunserved;       /* announced as shared, without a source */
	int nsources;        /* that keep it or will, and this node */
	struct heap waiting; /* granted, without a source */
	struct keeper *idle;
};

/*
 * A send's part in its group, from when it is announced as shared.  All that a simulation
 * will ever send may be posted long before, so until then, and of one that is not shared,
 * the request knows nothing but the group: request->share is its address, and one more.
 */
struct share {
	struct group *group;
	unsigned char is_kept;
	int nawaited;          /* what is missing to its end */
	struct keeper *keeper; /* who serves it; NULL: this node */
	struct large_target to;
	struct half *half;       /* its put, while it waits */
	struct heap_entry order; /* in waiting */
	struct request *request;
};

/* A receive that keeps its value. */
struct kept {
	struct kept *next; /* to be given back */
	struct request *request;
	int nforwards; /* that have not left */
	unsigned char is_reading, is_let_go;
};

/* ---- life ------------------------------------------------------------ */

void coop_init(struct coop *coop, struct pool_commons *commons)
{
	pool_init_among(&coop->group_pool, sizeof(struct group), commons);
	pool_init_among(&coop->share_pool, sizeof(struct share), commons);
	pool_init_among(&coop->keeper_pool, sizeof(struct keeper), commons);
	pool_init_among(&coop->kept_pool, sizeof(struct kept), commons);
}

void coop_free(struct coop *coop)
{
	table_free(&coop->groups);
	pool_free(&coop->group_pool);
	pool_free(&coop->share_pool);
	pool_free(&coop->keeper_pool);
	pool_free(&coop->kept_pool);
}

static struct group *group_of(struct coop *coop, const void *handle)
{
	uint64_t key = (uintptr_t)handle;
	struct group *group = table_get(&coop->groups, key);

	if (!group) {
		group = pool_get(&coop->group_pool);
		*group = (struct group){.handle = (starpu_data_handle_t)(uintptr_t)handle,
					.nsources = 1};
		table_put(&coop->groups, key, group);
	}
	return group;
}

static void expect(struct coop *coop, struct group *group, int nsends)
{
	orr_add(&coop->nexpecting, (nsends > 0) - (group->nexpected > 0));
	group->nexpected = nsends;
}

static void drop(struct coop *coop, struct group *group)
{
	ORR_ASSERT(group->waiting.count == 0 && !group->idle);
	expect(coop, group, 0);
	table_remove(&coop->groups, (uintptr_t)group->handle);
	heap_free(&group->waiting);
	pool_put(&coop->group_pool, group);
}

void coop_expect(struct mpi *mpi, const void *handle, int nsends)
{
	struct coop *coop = &mpi->engine.coop;
	struct group *group;

	engine_lock(&mpi->engine);
	group = group_of(coop, handle);
	expect(coop, group, nsends);
	if (nsends <= 0 && group->nposted == 0)
		drop(coop, group);
	engine_unlock(&mpi->engine);
}

void coop_forget(struct mpi *mpi, const void *handle)
{
	struct coop *coop = &mpi->engine.coop;
	struct group *group;

	if (orr_load(&coop->nexpecting) == 0)
		return;
	engine_lock(&mpi->engine);
	group = table_get(&coop->groups, (uintptr_t)handle);
	if (group && group->nposted == 0)
		drop(coop, group);
	engine_unlock(&mpi->engine);
}

/* ---- the owner ------------------------------------------------------- */

int coop_wants(struct mpi *mpi, starpu_data_handle_t handle)
{
	long agreed;

	if (mpi->size <= 2 || !orr_load(&mpi->lasting->use_coop_sends))
		return 0;
	agreed = data_agreed_bytes(handle);
	return agreed < 0 || (size_t)agreed >= mpi->engine.coop.least_bytes;
}

static void set_group(struct request *request, const struct group *group)
{
	request->share = (struct share *)((uintptr_t)group + 1);
}

/* NULL: it is not shared. */
static struct share *share_of(const struct request *request)
{
	return (uintptr_t)request->share & 1 ? NULL : request->share;
}

/* NULL: it has none. */
static struct group *group_of_request(const struct request *request)
{
	uintptr_t at = (uintptr_t)request->share;

	if (at & 1)
		return (struct group *)(at - 1);
	return at ? request->share->group : NULL;
}

void coop_post(struct mpi *mpi, struct request *request)
{
	struct group *group;

	if (request->match.source == mpi->net->rank)
		return;
	group = group_of(&mpi->engine.coop, request_handle(request));
	group->nposted++;
	set_group(request, group);
}

/* A few copies of a short value have left before somebody could be asked to help. */
static int is_worth_it(const struct group *group, const struct request *request)
{
	int nsends =
		group->nposted > group->nexpected ? group->nposted : group->nexpected;

	return nsends > 1 && (uint64_t)nsends * request->payload.bytes >=
				     ENOUGH * request->mpi->engine.coop.least_bytes;
}

int coop_announce(struct request *request)
{
	struct group *group = group_of_request(request);
	struct share *share;

	if (!group || request->payload.is_packed || !is_worth_it(group, request))
		return 0;
	share = pool_get(&request->mpi->engine.coop.share_pool);
	*share = (struct share){.group = group, .request = request};
	request->share = share;
	group->nunserved++;
	return WIRE_SHARED;
}

static void let_go(struct mpi *mpi, struct group *group, struct keeper *keeper)
{
	struct wire_head head = {.kind = WIRE_LET_GO, .sender = keeper->name};

	group->nsources--;
	engine_send_about(mpi, keeper->peer, 0, &head, WIRE_ANNOUNCE_BYTES);
	pool_put(&mpi->engine.coop.keeper_pool, keeper);
}

/* An idle one that is not the receiver itself, taken out. */
static struct keeper *take_keeper(struct group *group, int receiver)
{
	for (struct keeper **at = &group->idle; *at; at = &(*at)->next) {
		struct keeper *keeper = *at;

		if (keeper->peer == receiver)
			continue;
		*at = keeper->next;
		return keeper;
	}
	return NULL;
}

/* It waits no more: who serves it is known, so how many will have the value is, too. */
static void serve(struct mpi *mpi, struct share *share)
{
	struct group *group = share->group;
	struct wire_head head = {.kind = WIRE_KEEP,
				 .sender = (uintptr_t)share->request,
				 .key = share->to.key};

	heap_remove(&group->waiting, &share->order);
	group->nunserved--;
	/* As many as will have it are enough for those that are left. */
	if (group->nunserved <= group->nsources)
		return;
	share->is_kept = 1;
	group->nsources++;
	engine_send_about(mpi, share->to.peer, share->to.priority, &head,
			  WIRE_GRANT_BYTES);
}

static void forward(struct mpi *mpi, struct share *share, struct keeper *keeper)
{
	struct wire_head head = {.kind = WIRE_FORWARD,
				 .ordinal = (uint32_t)share->to.peer,
				 .tag = share->to.priority,
				 .sender = keeper->name,
				 .key = share->to.key};

	large_take_back(mpi, share->half);
	serve(mpi, share);
	share->keeper = keeper;
	share->nawaited = 1; /* it is there */
	/* First: it may arrive before this thread goes on. */
	request_move(share->request, REQUEST_MOVING);
	engine_send_about(mpi, keeper->peer, share->to.priority, &head, WIRE_GRANT_BYTES);
}

/* Have those that keep the value serve those that wait; let them go when nobody does. */
static void pump(struct mpi *mpi, struct group *group)
{
	while (group->waiting.count > 0) {
		struct heap_entry *entry = group->waiting.keys[0].entry;
		struct share *share = ORR_CONTAINER(entry, struct share, order);
		struct keeper *keeper = take_keeper(group, share->to.peer);

		if (!keeper)
			return;
		forward(mpi, share, keeper);
	}
	while (group->idle) {
		struct keeper *keeper = group->idle;

		group->idle = keeper->next;
		let_go(mpi, group, keeper);
	}
}

void coop_leaves(struct mpi *mpi, struct request *request)
{
	struct share *share = share_of(request);

	if (!share)
		return;
	serve(mpi, share);
	share->nawaited = 1 + share->is_kept; /* it has left, it is there */
	/* Who idled could not serve this one, its receiver: those behind it, or none. */
	if (share->group->idle)
		pump(mpi, share->group);
}

void coop_on_grant(struct request *request, const struct large_target *to,
		   struct half *half)
{
	struct share *share = share_of(request);

	if (!share)
		return;
	share->to = *to;
	share->half = half;
	heap_push(&share->group->waiting, &share->order, -(double)to->priority);
}

void coop_raise(struct request *request)
{
	struct share *share;
	struct heap *waiting;

	if (request->kind != REQUEST_SEND)
		return;
	share = share_of(request);
	if (!share || !share->order.place)
		return;
	waiting = &share->group->waiting;
	share->to.priority = request->priority;
	heap_remove(waiting, &share->order);
	heap_push_ordered(waiting, &share->order, -(double)request->priority,
			  share->order.order);
}

void coop_granted(struct mpi *mpi, struct request *request)
{
	if (share_of(request))
		pump(mpi, request->share->group);
}

static void keeper_idles(struct group *group, struct keeper *keeper)
{
	keeper->next = group->idle;
	group->idle = keeper;
}

/*
 * Who shall keep the value says once that it knows, late when the value came before.  Who
 * got it from another says that it is there, perhaps before it knows.
 */
void coop_on_have(struct mpi *mpi, const struct wire_head *head)
{
	struct request *request = (struct request *)(uintptr_t)head->sender;
	struct share *share = request->share;
	struct group *group = share->group;
	int is_known = (head->flags & WIRE_KNOWN) != 0;

	if (share->keeper)
		keeper_idles(group, share->keeper);
	share->keeper = NULL;
	if (head->comm) {
		struct keeper *keeper = pool_get(&mpi->engine.coop.keeper_pool);

		*keeper = (struct keeper){.peer = share->to.peer, .name = head->comm};
		keeper_idles(group, keeper);
	} else if (is_known) {
		group->nsources--; /* It could not keep it, or has others to send. */
	}
	pump(mpi, group);
	if (is_known == share->is_kept && --share->nawaited == 0)
		finish_moved(mpi, request);
}

void coop_moved(struct mpi *mpi, struct request *request)
{
	struct coop *coop = &mpi->engine.coop;
	struct group *group;

	if (request->kind != REQUEST_SEND)
		return;
	group = group_of_request(request);
	if (!group)
		return;
	if (share_of(request))
		pool_put(&coop->share_pool, request->share);
	request->share = NULL;
	if (--group->nposted == 0)
		drop(coop, group);
}

/* ---- who gets it ----------------------------------------------------- */

void coop_tell(struct mpi *mpi, int owner, uint64_t sender, int flags,
	       struct request *request)
{
	struct wire_head head = {.kind = WIRE_HAVE, .sender = sender};

	head.flags = (uint16_t)flags;
	if (request) {
		request->kept = pool_get(&mpi->engine.coop.kept_pool);
		*request->kept = (struct kept){.request = request};
		orr_add(&request->holders, REQUEST_HOLDER);
		orr_add(&mpi->engine.npending, 1);
		head.comm = (uintptr_t)request;
	}
	engine_send_about(mpi, owner, mpi_priority(mpi, request), &head,
			  WIRE_ANNOUNCE_BYTES);
}

/* Was that the last thing that it was kept for? */
static void look_at(struct mpi *mpi, struct kept *kept)
{
	struct coop *coop = &mpi->engine.coop;

	if (!kept->is_let_go || !kept->is_reading || kept->nforwards > 0)
		return;
	kept->next = coop->let_go;
	orr_swap_ptr((void **)(void *)&coop->let_go, kept);
}

void coop_on_forward(struct mpi *mpi, const struct wire_head *head)
{
	struct request *request = (struct request *)(uintptr_t)head->sender;
	struct large_target to = {.peer = (int)head->ordinal,
				  .key = (uint32_t)head->key,
				  .priority = (int)head->tag};

	request->kept->nforwards++;
	large_put(mpi, request, &to);
	large_start_puts(mpi);
}

void coop_on_let_go(struct mpi *mpi, const struct wire_head *head)
{
	struct kept *kept = ((struct request *)(uintptr_t)head->sender)->kept;

	kept->is_let_go = 1;
	look_at(mpi, kept);
}

int coop_keep(struct request *request)
{
	struct mpi *mpi = request->mpi;

	if (!request->kept)
		return 0;
	acquire_downgrade(&request->acquire);
	engine_lock(&mpi->engine);
	request->kept->is_reading = 1;
	look_at(mpi, request->kept);
	engine_unlock(&mpi->engine);
	return 1;
}

int coop_drain(struct mpi *mpi)
{
	struct coop *coop = &mpi->engine.coop;
	struct kept *kept, *next;
	int count = 0;

	if (!orr_load_ptr((void **)(void *)&coop->let_go))
		return 0;
	engine_lock(&mpi->engine);
	kept = orr_swap_ptr((void **)(void *)&coop->let_go, NULL);
	engine_unlock(&mpi->engine);
	for (; kept; kept = next) {
		struct request *request = kept->request;

		next = kept->next;
		acquire_release(&request->acquire);
		engine_lock(&mpi->engine);
		request->kept = NULL;
		pool_put(&coop->kept_pool, kept);
		engine_unlock(&mpi->engine);
		finish_let_go(request);
		count++;
	}
	return count;
}

/* ---- both ------------------------------------------------------------ */

int coop_put_done(struct mpi *mpi, struct request *request)
{
	struct share *share;

	if (request->kind == REQUEST_RECEIVE) {
		request->kept->nforwards--;
		look_at(mpi, request->kept);
		return 1;
	}
	share = share_of(request);
	if (!share)
		return 0;
	if (--share->nawaited == 0)
		finish_moved(mpi, request);
	return 1;
}
