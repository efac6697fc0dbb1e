/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/finish.h"

#include "base/check.h"
#include "core/sched/contexts.h"
#include "core/task/callback.h"
#include "core/wait.h"
#include "mpi/mpi.h"

/* A thread in finish_wait_all(), on its stack. */
struct pending_waiter {
	struct pending_waiter *next;
	struct plat_gate gate;
};

/* Others look at the first without the lock, to see whether there is one. */
static void append(struct request **first, struct request **last, struct request *request)
{
	struct request *older = *first ? *last : NULL;

	request->next = NULL;
	*last = request;
	if (older)
		older->next = request;
	else
		orr_swap_ptr((void **)(void *)first, request);
}

static struct request *take_all(struct engine *engine, struct request **list)
{
	struct request *first;

	if (!orr_load_ptr((void **)(void *)list))
		return NULL;
	engine_lock(engine);
	first = orr_swap_ptr((void **)(void *)list, NULL);
	engine_unlock(engine);
	return first;
}

static void leave(struct mpi *mpi, struct request *request)
{
	request_move(request, REQUEST_MOVED);
	raise_forget(mpi, request);
	coop_moved(mpi, request);
}

void finish_moved(struct mpi *mpi, struct request *request)
{
	leave(mpi, request);
	/* What came with it is taken in before it is released. */
	orr_bring(request_handle(request));
	append(&mpi->engine.moved, &mpi->engine.moved_last, request);
}

/* A release may call the application back.  Who is in its code may hold its locks; not a
 * worker between kernels, nor who releases others. */
static int may_release(struct mpi *mpi)
{
	const struct plat_caller *caller = plat_caller(mpi->node->plat);

	return caller->depth == 0 && !caller->hook &&
	       (caller->nending > 0 || (caller->worker && !caller->task));
}

int finish_copied(struct mpi *mpi, struct request *request)
{
	if (!may_release(mpi) && (request->callback || request->payload.is_packed)) {
		finish_moved(mpi, request);
		return 0;
	}
	leave(mpi, request);
	return 1;
}

/* ---- the end of one request ------------------------------------------ */

/* Nobody holds it; the engine is locked. */
static void forget(struct engine *engine, struct request *request)
{
	list_remove(&request->link);
	request->mpi = NULL; /* Who kept it is told so, until it is taken for another. */
	pool_put(&engine->requests, request);
}

/* mark: of the same word, set in the same step. */
static void drop(struct request *request, int mark)
{
	struct engine *engine = &request->mpi->engine;

	if ((orr_add(&request->holders, mark - REQUEST_HOLDER) & REQUEST_HOLDERS) > 0)
		return;
	payload_free(&request->payload);
	engine_lock(engine);
	forget(engine, request);
	engine_unlock(engine);
}

/* One less is pending; the engine is locked.  Returns whom to wake. */
static struct pending_waiter *count_down(struct engine *engine)
{
	int npending = orr_load(&engine->npending) - 1;
	struct pending_waiter *waiters = engine->waiters;

	orr_store(&engine->npending, npending);
	if (npending > 0 || !waiters)
		return NULL;
	engine->waiters = NULL;
	return waiters;
}

static void wake(struct mpi *mpi, struct pending_waiter *waiter)
{
	struct pending_waiter *next;

	for (; waiter; waiter = next) {
		next = waiter->next;
		plat_gate_open(mpi->node->plat, &waiter->gate);
	}
}

void finish_let_go(struct request *request)
{
	struct mpi *mpi = request->mpi;
	struct pending_waiter *waiters;

	drop(request, 0);
	engine_lock(&mpi->engine);
	waiters = count_down(&mpi->engine);
	engine_unlock(&mpi->engine);
	wake(mpi, waiters);
}

/* The callback has run.  The count comes before the gate, so that who waited for the
 * last request finds that nothing is pending. */
static void end(struct request *request)
{
	struct mpi *mpi = request->mpi;
	struct engine *engine = &mpi->engine;
	/* Others come to hold it before it is released, and nobody for the application.
	 */
	int is_ours =
		!request->is_waited && orr_load(&request->holders) == REQUEST_HOLDER;
	struct pending_waiter *waiters;

	request_end(request);
	if (is_ours)
		payload_free(&request->payload);
	engine_lock(engine);
	waiters = count_down(engine);
	if (is_ours)
		forget(engine, request);
	engine_unlock(engine);
	if (!is_ours && request->is_waited) {
		orr_add(&request->holders, REQUEST_IS_ENDED);
		plat_gate_open(mpi->node->plat, &request->gate);
	}
	if (!is_ours)
		drop(request, 0);
	wake(mpi, waiters);
}

/* From a send of this node, which is over then. */
static void take_from(struct request *request, struct request *send)
{
	struct mpi *mpi = request->mpi;
	struct layout to, from;

	payload_layout(&request->payload, &to);
	payload_layout(&send->payload, &from);
	layout_copy(&to, &from);
	engine_lock(&mpi->engine);
	finish_moved(mpi, send);
	engine_unlock(&mpi->engine);
}

void finish_release(struct request *request)
{
	struct mpi *mpi = request->mpi;
	struct engine *engine = &mpi->engine;

	if (request->kind == REQUEST_RECEIVE && request->local)
		take_from(request, request->local);
	if (request->kind == REQUEST_SEND)
		payload_sent(&request->payload, request_handle(request));
	else
		payload_received(&request->payload, request_handle(request));
	if (!coop_keep(request))
		acquire_release(&request->acquire);
	if (request->is_waited || !request->callback) {
		end(request);
		return;
	}
	engine_lock(engine);
	append(&engine->callbacks, &engine->callbacks_last, request);
	engine_unlock(engine);
}

void finish_release_copied(struct request *request)
{
	struct mpi *mpi = request->mpi;
	struct engine *engine = &mpi->engine;

	if (may_release(mpi)) {
		finish_release(request);
	} else if (acquire_release_unheard(&request->acquire)) {
		end(request);
	} else {
		engine_lock(engine);
		append(&engine->moved, &engine->moved_last, request);
		engine_unlock(engine);
	}
}

/* ---- working off ----------------------------------------------------- */

enum { RELEASES_AHEAD = 4 };

/* What no part of the cache has kept when many are pending: the data of one of those that
 * follow, and the handle of the one behind it.  Returns that one. */
static const struct request *bring_near(const struct request *ahead)
{
	const struct data_body *body;

	if (!ahead)
		return NULL;
	body = request_handle(ahead)->body;
	orr_bring(&body->waiting);
	orr_bring(&body->valid);
	orr_bring(&body->main.refs);
	if (ahead->next)
		orr_bring(request_handle(ahead->next));
	return ahead->next;
}

static int run_releases(struct mpi *mpi)
{
	struct request *request, *next;
	int count = 0;

	while ((request = take_all(&mpi->engine, &mpi->engine.moved))) {
		const struct request *ahead = request->next;

		for (int i = 1; i < RELEASES_AHEAD; i++)
			ahead = bring_near(ahead);
		for (; request; request = next) {
			next = request->next;
			ahead = bring_near(ahead);
			finish_release(request);
			count++;
		}
	}
	return count;
}

static struct request *next_callback(struct engine *engine)
{
	struct request *request = NULL;

	engine_lock(engine);
	if (!engine->is_calling) {
		request = engine->callbacks;
		if (request) {
			orr_swap_ptr((void **)(void *)&engine->callbacks, request->next);
			engine->is_calling = 1;
		}
	}
	engine_unlock(engine);
	return request;
}

static int run_callbacks(struct mpi *mpi)
{
	struct engine *engine = &mpi->engine;
	struct request *request;
	int count = 0;

	while (orr_load_ptr((void **)(void *)&engine->callbacks) &&
	       (request = next_callback(engine))) {
		callback_call(mpi->node, NULL, request->callback, request->arg);
		engine_lock(engine);
		engine->is_calling = 0;
		engine_unlock(engine);
		end(request);
		count++;
	}
	return count;
}

/* As long as the thread has come to this again from inside, it counts more than once. */
static void count_drain(struct mpi *mpi, int more)
{
	plat_caller(mpi->node->plat)->nending += more;
	orr_add(&mpi->engine.ndraining, more);
}

int finish_drain(struct mpi *mpi)
{
	struct engine *engine = &mpi->engine;
	int count, total = 0;

	if (!orr_load_ptr((void **)(void *)&engine->moved) &&
	    !orr_load_ptr((void **)(void *)&engine->callbacks) &&
	    !orr_load_ptr((void **)(void *)&engine->coop.let_go))
		return 0;
	count_drain(mpi, 1);
	do {
		count = run_releases(mpi);
		count += run_callbacks(mpi);
		count += coop_drain(mpi);
		total += count;
	} while (count > 0);
	count_drain(mpi, -1);
	return total;
}

static void drain_timer_fired(struct plat_timer *timer)
{
	struct engine *engine = ORR_CONTAINER(timer, struct engine, drain_timer);
	struct mpi *mpi = ORR_CONTAINER(engine, struct mpi, engine);

	/* The engine stays until both are 0. */
	count_drain(mpi, 1);
	orr_store(&engine->is_timer_set, 0);
	finish_drain(mpi);
	count_drain(mpi, -1);
}

/*
 * Callbacks must not run inside the caller, who may hold locks of the application.
 * A poller drains, where the library has one.  Elsewhere a timer does; there, one thread
 * exists, so who drains now sees what was added.
 */
void finish_drain_later(struct mpi *mpi)
{
	struct engine *engine = &mpi->engine;
	struct plat *plat = mpi->node->plat;
	int is_polled;

	if (!orr_load_ptr((void **)(void *)&engine->moved))
		return;
	/* One look: a first poll between two might neither drain nor be kicked. */
	is_polled = orr_load(&engine->is_polled);
	if (is_polled)
		plat_poll_kick(plat);
	if (is_polled && mpi->node->machine->polls_itself)
		return;
	if (orr_load(&engine->ndraining) > 0 || !orr_cas(&engine->is_timer_set, 0, 1))
		return;
	engine->drain_timer = (struct plat_timer){.fire = drain_timer_fired};
	plat_after(plat, &engine->drain_timer, 0);
}

/* ---- waiting --------------------------------------------------------- */

int finish_wait(struct request *request)
{
	struct mpi *mpi = request->mpi;
	int ret;

	ret = wait_at(mpi->node, &request->gate, WAIT_TRANSFER,
		      request->kind == REQUEST_SEND ? "a send to a rank"
						    : "a receive from a rank");
	if (ret == 0)
		drop(request, REQUEST_IS_TAKEN);
	return ret;
}

/* Polls do nothing, and a loop of them must let virtual time advance. */
static int is_driven(struct mpi *mpi)
{
	const struct plat_machine *machine = mpi->node->machine;

	return machine->leaps || (!machine->polls_itself && !engine_is_polled(mpi));
}

int finish_poll(struct mpi *mpi)
{
	/* A loop of them waits, whatever it waits for. */
	contexts_schedule(mpi->node);
	if (!is_driven(mpi))
		return engine_poll(mpi) > 0;
	plat_pause(mpi->node->plat);
	return 0;
}

int finish_progress(struct mpi *mpi)
{
	int has_advanced = finish_poll(mpi);

	/* In a loop, it waits. */
	if (!has_advanced && engine_npending(mpi) > 0)
		early_test_failed(mpi);
	return has_advanced;
}

int finish_test(struct request *request)
{
	struct mpi *mpi = request->mpi;

	if (!request_has_ended(request))
		finish_poll(mpi);
	if (!request_has_ended(request)) {
		if (!is_driven(mpi))
			plat_yield(mpi->node->plat);
		early_test_failed(mpi);
		return 0;
	}
	drop(request, REQUEST_IS_TAKEN);
	return 1;
}

/* It has given up. */
static void forget_waiter(struct engine *engine, const struct pending_waiter *waiter)
{
	struct pending_waiter **at = &engine->waiters;

	engine_lock(engine);
	while (*at && *at != waiter)
		at = &(*at)->next;
	if (*at)
		*at = waiter->next;
	engine_unlock(engine);
}

static int wait_pending(struct mpi *mpi)
{
	struct engine *engine = &mpi->engine;
	struct pending_waiter waiter;
	int must_wait, ret;

	plat_gate_init(&waiter.gate);
	engine_lock(engine);
	must_wait = orr_load(&engine->npending) > 0;
	if (must_wait) {
		waiter.next = engine->waiters;
		engine->waiters = &waiter;
	}
	engine_unlock(engine);
	if (!must_wait)
		return 0;
	ret = wait_at(mpi->node, &waiter.gate, WAIT_TRANSFER,
		      "all transfers (starpu_mpi_wait_for_all() or "
		      "starpu_mpi_shutdown())");
	if (ret < 0)
		forget_waiter(engine, &waiter);
	return ret;
}

static unsigned long count_posted(struct mpi *mpi)
{
	unsigned long nposted;

	engine_lock(&mpi->engine);
	nposted = mpi->engine.nposted;
	engine_unlock(&mpi->engine);
	return nposted;
}

int finish_wait_all(struct mpi *mpi, struct sched *sched)
{
	struct node *node = mpi->node;
	unsigned long nposted;
	int ret;

	do {
		ret = sched ? node_wait_context(node, sched, 0)
			    : node_wait_submitted(node, 0);
		if (ret < 0)
			break;
		nposted = count_posted(mpi);
		ret = wait_pending(mpi);
		if (ret < 0)
			break;
		/* Nothing was posted since no task was left, and nothing is pending: a
		 * task could only come from a callback that ran meanwhile. */
	} while ((!sched && node_nsubmitted(node) > 0) || count_posted(mpi) != nposted);
	return ret;
}
