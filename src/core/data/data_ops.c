/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/data_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/outside.h"
#include "core/task/callback.h"
#include "core/data/ahead.h"
#include "core/data/coherency.h"
#include "core/data/copies.h"
#include "core/data/duplicate.h"
#include "core/data/room.h"
#include "core/data/spread.h"
#include "core/data/views.h"
#include "core/task/deps.h"
#include "core/wait.h"

/* An acquisition by the application, from its start to its release. */
struct held {
	struct acquire acquire; /* first */
	struct held *next;      /* on the datum */
	starpu_data_handle_t handle;
	struct plat_gate *gate; /* of a blocking caller */
	void (*callback)(void *);
	void (*granted)(void *arg, int *memory, enum starpu_data_access_mode mode);
	void *arg;
};

static void held_acquired(struct acquire *acquire)
{
	struct held *held = ORR_CONTAINER(acquire, struct held, acquire);
	starpu_data_handle_t handle = held->handle;
	struct node *node = handle->node;
	struct plat_gate *gate = held->gate;
	void (*callback)(void *) = held->callback;
	void *arg = held->arg;

	orr_lock(&handle->lock);
	held->next = data_body(handle)->held;
	data_body(handle)->held = held;
	orr_unlock(&handle->lock);
	if (callback)
		callback_call(node, NULL, callback, arg);
	if (gate)
		plat_gate_open(node->plat, gate);
}

static void held_granted(struct acquire *acquire)
{
	struct held *held = ORR_CONTAINER(acquire, struct held, acquire);
	OUTSIDE(outside);

	outside_enter(&outside, held->handle->node, "a callback");
	held->granted(held->arg, &acquire->memory,
		      (enum starpu_data_access_mode)(acquire->access.mode & STARPU_RW));
	outside_end(&outside);
}

static struct held *held_new(starpu_data_handle_t handle, int memory)
{
	static const struct acquirer by = {.acquired = held_acquired,
					   .what = "starpu_data_acquire()"};
	struct held *held = orr_alloc(sizeof(*held));

	held->handle = handle;
	held->acquire.memory = memory;
	held->acquire.by = &by;
	held->acquire.counted = 1;
	return held;
}

/* kind: what the thread waits for, as it is told. */
static int acquire_for(struct node *node, starpu_data_handle_t handle, int memory,
		       unsigned mode, enum wait_kind kind)
{
	struct held *held = held_new(handle, memory);
	struct plat_gate gate;

	plat_gate_init(&gate);
	held->gate = &gate;
	acquire_start(node, &held->acquire, handle, mode, 1);
	return wait_at(node, &gate, kind, handle);
}

int data_acquire(struct node *node, starpu_data_handle_t handle, int memory,
		 unsigned mode)
{
	return acquire_for(node, handle, memory, mode, WAIT_ACQUIRE);
}

void data_acquire_cb(struct node *node, starpu_data_handle_t handle,
		     const struct data_wish *wish)
{
	static const struct acquirer by = {.acquired = held_acquired,
					   .granted = held_granted,
					   .what = "starpu_data_acquire()"};
	struct held *held = held_new(handle, wish->memory);

	held->callback = wish->callback;
	held->arg = wish->arg;
	held->granted = wish->granted;
	if (wish->granted)
		held->acquire.by = &by;
	acquire_start(node, &held->acquire, handle, wish->mode, wish->sequential);
}

int data_acquire_try(struct node *node, starpu_data_handle_t handle, int memory,
		     unsigned mode)
{
	struct held *held = held_new(handle, memory);
	struct plat_gate gate;

	plat_gate_init(&gate);
	held->gate = &gate;
	if (acquire_try(node, &held->acquire, handle, mode)) {
		/* Only a copy between memories may still be on its way. */
		wait_at(node, &gate, WAIT_ACQUIRE, handle);
		return 0;
	}
	free(held);
	return -EAGAIN;
}

/* The newest acquisition of the datum at memory, else the newest; taken off. */
static struct held *take_held(starpu_data_handle_t handle, int memory, int keep)
{
	struct data_body *body = data_body(handle);
	struct held **at, *held;

	orr_lock(&handle->lock);
	for (at = &body->held; *at && (*at)->acquire.memory != memory;)
		at = &(*at)->next;
	if (!*at)
		at = &body->held;
	held = *at;
	if (held && !keep)
		*at = held->next;
	orr_unlock(&handle->lock);
	return held;
}

int data_held(starpu_data_handle_t handle, unsigned *mode)
{
	int n = 0;

	*mode = 0;
	for (const struct held *held = handle->body->held; held; held = held->next, n++)
		*mode |= held->acquire.access.mode & STARPU_RW;
	return n;
}

/* The list is linked by next, up to last or NULL. */
static int each_job(const struct access *first, const struct access *last,
		    void (*one)(void *arg, const struct job *job), void *arg)
{
	int n = 0;

	for (const struct access *access = first; access; n++) {
		one(arg, access->job);
		access = access == last ? NULL : access->next;
	}
	return n;
}

int data_each_waiter(starpu_data_handle_t handle,
		     void (*one)(void *arg, const struct job *job), void *arg)
{
	const struct data_body *body = handle->body;
	int n;

	deps_line_up(handle);
	n = each_job(body->waiting, NULL, one, arg);
	for (int i = 0; i < 2; i++) {
		const struct access *last = body->outside[i];

		n += each_job(last ? last->next : NULL, last, one, arg);
	}
	if (body->gate)
		one(arg, NULL);
	return n + (body->gate != NULL);
}

unsigned data_memory_at_hand(starpu_data_handle_t handle, unsigned local)
{
	const struct held *held;

	if (handle->node->nmains == 1 || !handle->body)
		return local;
	orr_lock(&handle->lock);
	held = handle->body->held;
	if (held && held->acquire.memory >= 0 &&
	    memory_is_main(handle->node, (unsigned)held->acquire.memory))
		local = (unsigned)held->acquire.memory;
	orr_unlock(&handle->lock);
	return local;
}

static void downgrade(struct held *held)
{
	starpu_data_handle_t handle = held->handle;

	orr_lock(&handle->lock);
	if ((data_flags(handle) & DATUM_WRITES_THROUGH) &&
	    (held->acquire.access.mode & STARPU_W))
		spread_value(handle);
	orr_unlock(&handle->lock);
	acquire_downgrade(&held->acquire);
}

/* Who reads may not go on writing: others read beside it. */
static void check_downgrade(const struct held *held, unsigned down_to)
{
	unsigned mode = held->acquire.access.mode & STARPU_RW;
	char what[128];

	if (down_to == STARPU_R || ((down_to & STARPU_W) && (mode & STARPU_W)))
		return;
	orr_die(held->handle->node->rank,
		"starpu_data_release_to: %s was acquired with mode %#x, which cannot "
		"become %#x; expected STARPU_NONE, the same mode, or STARPU_R",
		data_describe(held->handle, what, sizeof(what)), mode, down_to);
}

void data_release(starpu_data_handle_t handle, int memory, unsigned down_to)
{
	int keep = down_to != STARPU_NONE;
	struct held *held = take_held(handle, memory, keep);
	char what[128];

	if (!held)
		orr_die(handle->node->rank,
			"starpu_data_release: %s is not acquired; each release needs a "
			"starpu_data_acquire before it",
			data_describe(handle, what, sizeof(what)));
	if (keep) {
		check_downgrade(held, down_to);
		if (down_to == STARPU_R)
			downgrade(held);
		return;
	}
	acquire_release(&held->acquire);
	free(held);
}

/* ---- operations that need no value ----------------------------------- */

enum { MAX_SPARE_WIPINGS = 64 };

struct wiping {
	struct acquire acquire; /* first */
	int release;            /* the runtime's memory too */
	int free_datum;
};

static void free_idle(starpu_data_handle_t handle)
{
	data_free(handle->node, handle);
}

/* A few are kept: a loop of small tasks wants one for each message, and a program that
 * has inserted everything wants all at once, and none again.  Simulated nodes keep none:
 * what one gives back is for all of them. */
static struct wiping *wiping_get(struct node *node)
{
	void *spare;

	if (node->commons)
		return pool_commons_get(node->commons, sizeof(struct wiping));
	orr_lock(&node->pool_lock);
	spare = node->spare_wipings;
	if (spare) {
		node->spare_wipings = *(void **)spare;
		node->nspare_wipings--;
	}
	orr_unlock(&node->pool_lock);
	if (!spare)
		return orr_alloc(sizeof(struct wiping));
	return memset(spare, 0, sizeof(struct wiping));
}

static void wiping_put(struct node *node, struct wiping *wiping)
{
	int is_kept;

	if (node->commons) {
		pool_commons_put(node->commons, wiping, sizeof(*wiping));
		return;
	}
	orr_lock(&node->pool_lock);
	is_kept = node->nspare_wipings < MAX_SPARE_WIPINGS;
	if (is_kept) {
		*(void **)(void *)wiping = node->spare_wipings;
		node->spare_wipings = wiping;
		node->nspare_wipings++;
	}
	orr_unlock(&node->pool_lock);
	if (!is_kept)
		free(wiping);
}

static void wipe_acquired(struct acquire *acquire)
{
	struct wiping *wiping = ORR_CONTAINER(acquire, struct wiping, acquire);
	struct node *node = acquire_job(acquire)->node;
	starpu_data_handle_t handle = acquire->access.datum;

	if (wiping->free_datum) {
		/* Users without a turn may be left: the last one frees it. */
		orr_lock(&handle->lock);
		data_body(handle)->idle = free_idle;
		orr_unlock(&handle->lock);
	} else {
		coherency_invalidate(handle, wiping->release);
	}
	acquire_release(acquire);
	wiping_put(node, wiping);
}

static struct acquire *new_wiping(struct node *node, int release, int free_datum)
{
	static const struct acquirer frees = {.acquired = wipe_acquired,
					      .what = "starpu_data_unregister_submit()"};
	static const struct acquirer wipes = {.acquired = wipe_acquired,
					      .what = "starpu_data_invalidate_submit()"};
	struct wiping *wiping = wiping_get(node);

	wiping->release = release;
	wiping->free_datum = free_datum;
	wiping->acquire.memory = STARPU_ACQUIRE_NO_NODE;
	wiping->acquire.by = free_datum ? &frees : &wipes;
	wiping->acquire.counted = 1;
	return &wiping->acquire;
}

static void wipe(struct node *node, starpu_data_handle_t handle, int release,
		 int free_datum)
{
	acquire_start(node, new_wiping(node, release, free_datum), handle, STARPU_W, 1);
}

void data_invalidate_submit(struct node *node, starpu_data_handle_t handle)
{
	if (!deps_put_off_wiping(handle))
		wipe(node, handle, 1, 0);
}

struct access *data_make_wiping(starpu_data_handle_t handle)
{
	struct acquire *acquire = new_wiping(handle->node, 1, 0);

	acquire_wait(handle->node, acquire, handle, STARPU_W);
	return &acquire->access;
}

void data_deinitialize_submit(struct node *node, starpu_data_handle_t handle)
{
	wipe(node, handle, 0, 0);
}

static int overwrites(unsigned mode)
{
	const unsigned kinds = STARPU_RW | STARPU_SCRATCH | STARPU_REDUX;

	return (mode & (kinds | ACCESS_UNORDERED)) == STARPU_W;
}

void data_settle_outdated(starpu_data_handle_t handle, unsigned mode)
{
	unsigned before;

	orr_lock(&handle->lock);
	before = handle->flags;
	data_change_flags(handle, 0, DATUM_OUTDATED);
	orr_unlock(&handle->lock);
	if ((before & DATUM_OUTDATED) && !overwrites(mode))
		data_deinitialize_submit(handle->node, handle);
}

void data_unregister_submit(struct node *node, starpu_data_handle_t handle)
{
	if (duplicate_drop(handle))
		return;
	orr_lock(&handle->lock);
	data_change_flags(handle, DATUM_DYING, 0);
	orr_unlock(&handle->lock);
	if (node->on_unregister)
		node->on_unregister(node, handle, 0);
	ahead_forget(handle);
	wipe(node, handle, 1, 1);
}

static void settle_for(struct node *node, starpu_data_handle_t handle, int memory,
		       enum wait_kind kind)
{
	struct data_body *body = orr_load_ptr((void **)&handle->body);
	int pending, there, bring;

	orr_lock(&handle->lock);
	pending = body && body->npending;
	there = !body || memory < 0 || !body->has_value ||
		(body->valid & memory_bit((unsigned)memory));
	orr_unlock(&handle->lock);
	if (!pending && there)
		return;
	/* Whether there is a value is known when the writers are done. */
	acquire_for(node, handle, STARPU_ACQUIRE_NO_NODE, STARPU_R, kind);
	bring = memory >= 0 && data_body(handle)->has_value;
	data_release(handle, STARPU_ACQUIRE_NO_NODE, STARPU_NONE);
	if (!bring)
		return;
	acquire_for(node, handle, memory, STARPU_R, kind);
	data_release(handle, memory, STARPU_NONE);
}

void data_settle(struct node *node, starpu_data_handle_t handle, int memory)
{
	settle_for(node, handle, memory, WAIT_ACQUIRE);
}

void data_wait_idle(struct node *node, starpu_data_handle_t handle)
{
	struct data_body *body;
	struct plat_gate gate;
	int pending;

	if (node->on_unregister)
		node->on_unregister(node, handle, 0);
	plat_gate_init(&gate);
	orr_lock(&handle->lock);
	body = handle->body;
	pending = body && body->npending;
	if (pending)
		body->gate = &gate;
	orr_unlock(&handle->lock);
	if (!pending)
		return;
	ahead_forget(handle);
	wait_at(node, &gate, WAIT_UNREGISTER, handle);
}

void data_end(struct node *node, starpu_data_handle_t handle)
{
	struct data_body *body;
	struct plat_gate gate;

	/* Readers of the same turn may still be inside. */
	data_wait_idle(node, handle);
	body = handle->body;
	/* An eviction may still bring its value to the application's memory. */
	plat_gate_init(&gate);
	if (body && !coherency_retire(handle, &gate))
		wait_at(node, &gate, WAIT_UNREGISTER, handle);
	data_free(node, handle);
}

/* Most data have not been used for long when they go. */
static void expect_body(starpu_data_handle_t handle)
{
	const struct data_body *body = orr_load_ptr((void **)&handle->body);

	if (body)
		orr_bring_lines(body, sizeof(*body));
}

void data_unregister(struct node *node, starpu_data_handle_t handle, int with_value)
{
	expect_body(handle);
	if (duplicate_drop(handle))
		return;
	if ((data_flags(handle) & DATUM_CONTRIBUTED) && with_value)
		node->on_last_use(node, handle);
	settle_for(node, handle, with_value ? handle->home : -1, WAIT_UNREGISTER);
	data_end(node, handle);
}

/* ---- fetching ahead -------------------------------------------------- */

struct fetching {
	struct acquire acquire; /* first */
	struct plat_gate *gate;
};

static void fetch_acquired(struct acquire *acquire)
{
	struct fetching *fetching = ORR_CONTAINER(acquire, struct fetching, acquire);
	struct plat *plat = acquire_job(acquire)->node->plat;
	struct plat_gate *gate = fetching->gate;

	acquire_release(acquire);
	free(fetching);
	if (gate)
		plat_gate_open(plat, gate);
}

static struct fetching *fetching_new(unsigned memory, int is_hint)
{
	static const struct acquirer by = {.acquired = fetch_acquired,
					   .what = "starpu_data_fetch_on_node()"};
	struct fetching *fetching = orr_alloc(sizeof(*fetching));

	fetching->acquire.memory = (int)memory;
	fetching->acquire.by = &by;
	fetching->acquire.counted = 1;
	fetching->acquire.is_hint = is_hint != 0;
	return fetching;
}

int data_fetch(struct node *node, starpu_data_handle_t handle,
	       const struct data_target *target)
{
	struct fetching *fetching;
	struct plat_gate gate;

	if (!room_fits(node, target->memory, data_alloc_bytes(handle)))
		return -ENOMEM;
	if (target->is_hint && (data_flags(handle) & DATUM_VIEWS) &&
	    !views_allow_reading(handle))
		return 0;
	if (target->is_hint && target->asynchronous) {
		ahead_wish(handle, &(struct ahead){.memory = target->memory,
						   .prio = target->prio,
						   .is_idle = target->is_idle});
		return 0;
	}
	fetching = fetching_new(target->memory, target->is_hint);
	plat_gate_init(&gate);
	fetching->gate = target->asynchronous ? NULL : &gate;
	acquire_start(node, &fetching->acquire, handle, STARPU_R, 1);
	return target->asynchronous ? 0 : wait_at(node, &gate, WAIT_FETCH, handle);
}

void data_request_buffer(struct node *node, starpu_data_handle_t handle, unsigned memory)
{
	static const struct acquirer by = {.acquired = fetch_acquired,
					   .what = "starpu_data_request_allocation()"};
	struct fetching *fetching;

	if (!room_fits(node, memory, data_alloc_bytes(handle)) ||
	    ((data_flags(handle) & DATUM_VIEWS) && !views_allow_reading(handle)))
		return;
	fetching = fetching_new(memory, 1);
	fetching->acquire.by = &by;
	acquire_start(node, &fetching->acquire, handle, STARPU_R | ACCESS_NO_VALUE, 1);
}

void data_pretend_written_submit(struct node *node, starpu_data_handle_t handle)
{
	struct fetching *fetching = fetching_new(data_haven(handle), 0);

	acquire_start(node, &fetching->acquire, handle, STARPU_W, 1);
}

/* ---- leaving --------------------------------------------------------- */

void data_advise(starpu_data_handle_t handle, int is_important)
{
	orr_lock(&handle->lock);
	if (is_important) {
		data_change_flags(handle, 0, DATUM_UNIMPORTANT);
	} else {
		data_change_flags(handle, DATUM_UNIMPORTANT, 0);
		if (handle->body)
			ahead_let_leave(handle);
	}
	orr_unlock(&handle->lock);
}

void data_wont_use(struct node *node, starpu_data_handle_t handle)
{
	int has_value;

	if (node_nmemories(node) == 1 || !orr_load_ptr((void **)&handle->body))
		return;
	if ((data_flags(handle) & DATUM_VIEWS) && !views_allow_reading(handle))
		return;
	orr_lock(&handle->lock);
	has_value = handle->body->has_value;
	orr_unlock(&handle->lock);
	if (!has_value)
		return;
	ahead_wish(handle,
		   &(struct ahead){.memory = handle->home > 0 ? (unsigned)handle->home
							      : STARPU_MAIN_RAM,
				   .is_idle = 1,
				   .leaves = 1});
}

int data_evict(starpu_data_handle_t handle, unsigned memory)
{
	struct copy_state *copy = NULL;
	int leaves;

	orr_lock(&handle->lock);
	copy = data_find_copy(handle, memory);
	leaves = copy && !copy_is_own(copy) && room_expel(copy);
	orr_unlock(&handle->lock);
	if (leaves)
		coherency_evict(copy);
	/* A value that finds no place stays. */
	return leaves && !room_is_stuck(copy);
}

void data_set_disks(struct node *node, starpu_data_handle_t handle, int allowed)
{
	orr_lock(&handle->lock);
	if (allowed)
		data_change_flags(handle, 0, DATUM_NO_DISK);
	else
		data_change_flags(handle, DATUM_NO_DISK, 0);
	orr_unlock(&handle->lock);
	if (!allowed)
		return;
	orr_add(&node->nspill_changes, 1);
	for (int i = 0; i < node->nmains; i++)
		room_serve(node, (unsigned)i);
}
