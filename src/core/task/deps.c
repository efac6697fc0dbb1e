/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/deps.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/bound/graph.h"
#include "core/data/coherency.h"
#include "core/data/copies.h"
#include "core/data/data_ops.h"
#include "core/data/duplicate.h"
#include "core/task/exclusion.h"
#include "core/task/task.h"
#include "core/task/turns.h"

/* Hooks are few: the others' path need not save registers for them. */
#define COLD __attribute__((cold, noinline))

enum { DEPS_FEW = 16 }; /* so many are sorted by insertion */

static int takes_turn(const struct access *access)
{
	return !(access->mode & ACCESS_UNORDERED);
}

/* Scratch takes no turn and excludes nobody, but its datum must outlive it. */
static int is_scratch(const struct access *access)
{
	return (access->mode & STARPU_SCRATCH) != 0;
}

/* ---- turns ----------------------------------------------------------- */

/* An open group that has no members, until an access of another kind comes. */
static int lingers(const struct data_body *body)
{
	return body->nactive == 0 && body->group && body->group->closes;
}

/* May an access of this kind, with nobody before it in the queue, join the active group
 * or begin one?  The datum is locked. */
static inline int may_join(const struct data_body *body, const struct turn_kind *kind)
{
	return body->group ? body->group == kind && kind->shares : !kind->opens;
}

/* Nobody's turn before deps_resume(); counts as a user of the datum until then. */
static void hold_back(struct data_body *body)
{
	body->group = &turn_held;
	body->npending++;
}

/* The same where a hook is to be asked first. */
COLD static int may_open(struct data_body *body, struct access *access,
			 const struct turn_kind *kind, struct ready *ready)
{
	if (!kind->opens(access->datum, access, ready))
		return 1;
	hold_back(body);
	return 0;
}

/* Its turn has come, and the datum is still to be taken. */
static void must_exclude(struct access *access)
{
	access->state = ACCESS_ORDERED;
	orr_store(&access->job->exclusive, 1);
}

/* The access joins the active group; the datum is locked. */
static inline void join(struct data_body *body, struct access *access,
			const struct turn_kind *kind)
{
	body->group = kind;
	body->nactive++;
	if (!kind->excludes && !exclusion_is_awaited(body) &&
	    exclusion_allows(body, access)) {
		exclusion_hold(body, &body->granted, access);
		access->state = ACCESS_GRANTED;
	} else {
		must_exclude(access);
	}
}

static void append_waiting(struct data_body *body, struct access *access)
{
	access->state = ACCESS_WAITING;
	access->next = NULL;
	access->skips = NULL;
	if (body->waiting) {
		body->waiting_last->next = access;
		if (body->waiting_before)
			body->waiting_before->skips = access;
		body->waiting_before = body->waiting_last;
	} else {
		body->waiting = access;
		body->waiting_before = NULL;
	}
	body->waiting_last = access;
}

void deps_line_up(starpu_data_handle_t datum)
{
	struct data_body *body = datum->body;

	if (!body->is_wiped_last)
		return;
	body->is_wiped_last = 0;
	append_waiting(body, data_make_wiping(datum));
}

/* The head of the queue joins, with all that may join with it; datum locked. */
static void grant_next(starpu_data_handle_t datum, struct data_body *body,
		       struct ready *ready)
{
	struct access *access;
	struct job *job;
	unsigned expected;

	if (!body->waiting && !body->group)
		deps_line_up(datum);
	while ((access = body->waiting)) {
		const struct turn_kind *kind = turn_of(body, access);

		if (!may_join(body, kind) &&
		    (body->group || !may_open(body, access, kind, ready)))
			break;
		body->waiting = access->next;
		/* Each was submitted long ago: while one joins, the next two come, and
		 * the job of the next one. */
		orr_bring(access->skips);
		if (access->next)
			orr_bring(access->next->job);
		if (body->waiting_before == access)
			body->waiting_before = NULL;
		join(body, access, kind);
		/* After this another thread may end it, unless it is ours to start. */
		expected = access->expected;
		job = access->job;
		job_satisfy(job, ready);
		/* Those that start after the first two come later: ready_run_all(). */
		if (expected && ready->last == job &&
		    (ready->first == job || ready->first->next == job))
			job_expect_as(job, expected);
	}
}

/* The active group, which has no members and a hook, makes room for the next if there
 * is one; datum locked. */
COLD static void close_group(starpu_data_handle_t datum, struct data_body *body,
			     struct ready *ready)
{
	if (!body->waiting)
		return;
	if (body->group->closes(datum, body->waiting, ready)) {
		hold_back(body);
		return;
	}
	body->group = NULL;
	grant_next(datum, body, ready);
}

/* At the end of the queue; the datum is locked. */
static inline void wait_for_turn(struct data_body *body, struct access *access)
{
	orr_add(&access->job->missing, 1);
	append_waiting(body, access);
}

/* What a group does when it is over concerns also those that would take no turn. */
COLD static int stays_unordered(const struct data_body *body, struct access *access)
{
	if (!body->group || !body->group->closes)
		return 1;
	access->mode &= (unsigned short)~ACCESS_UNORDERED;
	return 0;
}

/* The only one in the queue: of a datum with hooks, or behind a group. */
COLD static void wait_or_open(struct data_body *body, struct access *access,
			      struct ready *ready)
{
	const struct turn_kind *kind = turn_of(body, access);

	if (!body->group && may_open(body, access, kind, ready)) {
		join(body, access, kind);
		return;
	}
	wait_for_turn(body, access);
	if (lingers(body))
		close_group(access->datum, body, ready);
}

static void enqueue(struct access *access, struct ready *ready)
{
	struct data_body *body = data_body(access->datum);

	if (access->mode & (STARPU_W | STARPU_REDUX))
		duplicate_on_write(access->datum);
	body->npending++;
	if (body->is_wiped_last)
		deps_line_up(access->datum);
	if (!takes_turn(access) && stays_unordered(body, access)) {
		must_exclude(access);
	} else if (body->waiting) {
		wait_for_turn(body, access);
	} else {
		const struct turn_kind *kind = turn_of(body, access);

		if (may_join(body, kind))
			join(body, access, kind);
		else
			wait_or_open(body, access, ready);
	}
}

/* It would wait behind others, and nobody is to be told of it. */
static int may_put_off(starpu_data_handle_t datum, const struct data_body *body)
{
	struct node *node = datum->node;

	return !body->is_wiped_last && (body->waiting || body->group) &&
	       body->kinds == &turns_plain && !orr_load(&node->is_bounding) &&
	       !events_want(&node->events, EVENT_TASK_USES);
}

int deps_put_off_wiping(starpu_data_handle_t datum)
{
	const unsigned special = DATUM_SEQUENTIAL | DATUM_OUTDATED | DATUM_VIEWS;
	struct node *node = datum->node;
	struct data_body *body;
	int is_put_off;

	if (!node->machine->takes_turns ||
	    (data_flags(datum) & special) != DATUM_SEQUENTIAL)
		return 0;
	body = data_body(datum);
	orr_lock(&datum->lock);
	is_put_off = may_put_off(datum, body);
	if (is_put_off) {
		duplicate_on_write(datum);
		body->is_wiped_last = 1;
		body->npending++;
	}
	orr_unlock(&datum->lock);
	if (!is_put_off)
		return 0;
	orr_add(&node->others_submitted, 1);
	orr_add(&node->nblocked, 1);
	node_blocked(node);
	return 1;
}

/* ---- merging --------------------------------------------------------- */

static int is_before(const struct access *a, const struct access *b)
{
	return a->datum < b->datum || (a->datum == b->datum && a < b);
}

static int compare(const void *left, const void *right)
{
	const struct access *a = *(struct access *const *)left;
	const struct access *b = *(struct access *const *)right;

	return is_before(b, a) - is_before(a, b);
}

static void sort(struct access **sorted, int n)
{
	if (n > DEPS_FEW) {
		qsort(sorted, (size_t)n, sizeof(struct access *), compare);
		return;
	}
	for (int i = 1; i < n; i++) {
		struct access *access = sorted[i];
		int k;

		for (k = i; k > 0 && is_before(access, sorted[k - 1]); k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = access;
	}
}

static void merge(struct access *first, struct access *again)
{
	/* Commuting counts only when all writes commute. */
	if (access_writes(again) && !(again->mode & STARPU_COMMUTE))
		first->mode &= (unsigned short)~STARPU_COMMUTE;
	if (!access_writes(first))
		first->mode |= again->mode & STARPU_COMMUTE;
	first->mode |= again->mode & STARPU_RW;
	access_skip(again);
	again->next = first;
}

/* Of a few accesses: not worth sorting before they are submitted. */
static void merge_few(struct job *job)
{
	struct access *access = job->accesses;

	for (int i = 1; i < job->naccesses; i++)
		for (int k = 0; k < i && access[i].state != ACCESS_SKIPPED; k++)
			if (access[k].datum == access[i].datum &&
			    access[k].state != ACCESS_SKIPPED)
				merge(&access[k], &access[i]);
}

void deps_merge(struct job *job)
{
	struct access **sorted;
	int n = 0, kept = 0;

	if (!job->own_accesses) {
		merge_few(job);
		return;
	}
	sorted = job->sorted;
	for (int i = 0; i < job->naccesses; i++)
		if (job->accesses[i].state != ACCESS_SKIPPED)
			sorted[n++] = &job->accesses[i];
	sort(sorted, n);
	for (int i = 0; i < n; i++) {
		if (kept && sorted[kept - 1]->datum == sorted[i]->datum)
			merge(sorted[kept - 1], sorted[i]);
		else
			sorted[kept++] = sorted[i];
	}
	job->nsorted = kept;
}

/* ---- submission ------------------------------------------------------ */

static void submit_scratch(struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];

		if (!is_scratch(access))
			continue;
		orr_lock(&access->datum->lock);
		data_body(access->datum)->npending++;
		orr_unlock(&access->datum->lock);
	}
}

static void submit_all(struct job *job, struct ready *ready)
{
	struct sorted sorted;

	sorted_fill(&sorted, job);
	sorted_lock(&sorted);
	for (int i = 0; i < sorted.n; i++)
		if (sorted.access[i]->state == ACCESS_NEW)
			enqueue(sorted.access[i], ready);
	sorted_unlock(&sorted);
	if (sorted.n < job->naccesses)
		submit_scratch(job);
}

void deps_settle(const struct job *job, int sequential)
{
	for (int i = 0; i < job->naccesses; i++) {
		const struct access *access = &job->accesses[i];

		if (data_flags(access->datum) & DATUM_OUTDATED)
			data_settle_outdated(access->datum,
					     access->mode |
						     (sequential ? 0 : ACCESS_UNORDERED));
	}
}

static inline void tell_submission(struct job *job)
{
	if (orr_load(&job->node->is_bounding))
		graph_accesses(job);
	if (events_want(&job->node->events, EVENT_TASK_USES))
		task_tell_uses(job);
}

void deps_submit(struct job *job, int sequential, struct ready *ready)
{
	struct access *access = &job->accesses[0];

	if (!sequential)
		for (int i = 0; i < job->naccesses; i++)
			job->accesses[i].mode |= ACCESS_UNORDERED;
	tell_submission(job);
	if (job->naccesses != 1 || access->state != ACCESS_NEW) {
		submit_all(job, ready);
		return;
	}
	/* Most often: nothing to sort. */
	orr_lock(&access->datum->lock);
	enqueue(access, ready);
	orr_unlock(&access->datum->lock);
}

enum deps_begun deps_submit_home(struct job *job, struct ready *ready)
{
	struct access *access = &job->accesses[0];
	enum deps_begun begun = DEPS_WAITS;

	tell_submission(job);
	orr_lock(&access->datum->lock);
	enqueue(access, ready);
	/* The datum is all that it can wait for: with that locked the count is ours. */
	if (access->state == ACCESS_GRANTED && orr_load(&job->missing) == 1) {
		orr_store(&job->missing, 0);
		begun = coherency_fetch_home(job) ? DEPS_IS_THERE : DEPS_FETCHES;
	}
	orr_unlock(&access->datum->lock);
	if (begun != DEPS_WAITS)
		coherency_serve(job->node);
	return begun;
}

/* A value that is still to be written, even if no writer stands before us in the queue.
 */
static int lacks_value(const struct data_body *body, const struct access *access)
{
	return (access->mode & STARPU_R) && !body->has_value && body->npending > 0;
}

/* The datum, locked, can be the access's at once, or could be but for others that hold
 * it provisionally; what has to happen before is begun. */
static int is_next(struct access *access, struct ready *ready)
{
	struct data_body *body = access->datum->body;
	const struct turn_kind *kind;

	if (!takes_turn(access) && stays_unordered(body, access))
		return 1;
	if (lingers(body) && body->group != turn_of(body, access)) {
		if (body->group->closes(access->datum, access, ready))
			hold_back(body);
		else
			body->group = NULL;
	}
	kind = turn_of(body, access);
	return !body->waiting && (may_join(body, kind) ||
				  (!body->group && may_open(body, access, kind, ready)));
}

int deps_try(struct job *job, struct ready *ready)
{
	struct access *access = &job->accesses[0];
	struct data_body *body = data_body(access->datum);
	int free = 0;

	orr_lock(&access->datum->lock);
	deps_line_up(access->datum);
	if (access_writes(access))
		duplicate_on_write(access->datum);
	/* Who reads opens the turn with the neutral element of a reduction: a hint must
	 * not, since the bytes may be another datum's by now. */
	if (!(job->is_hint && !body->has_value) && is_next(access, ready)) {
		if (!exclusion_allows(body, access))
			exclusion_settle(body, ready);
		free = exclusion_allows(body, access) && !lacks_value(body, access);
	}
	if (free) {
		if (takes_turn(access)) {
			body->group = turn_of(body, access);
			body->nactive++;
		}
		body->npending++;
		exclusion_hold(body, &body->holding, access);
		access->state = ACCESS_GRANTED;
	}
	orr_unlock(&access->datum->lock);
	return free;
}

/* ---- release --------------------------------------------------------- */

/* Who waits for the last user of a datum. */
struct idle {
	struct plat *plat;
	struct plat_gate *gate;
	void (*call)(starpu_data_handle_t datum);
};

/* One user less; the datum is locked. */
static void leave(starpu_data_handle_t datum, struct data_body *body, struct idle *idle)
{
	if (--body->npending > 0)
		return;
	*idle = (struct idle){datum->node->plat, body->gate, body->idle};
	body->gate = NULL;
}

/* Nothing is locked: others may free the datum, unless we are to do it. */
static void tell_idle(starpu_data_handle_t datum, const struct idle *idle)
{
	if (idle->gate)
		plat_gate_open(idle->plat, idle->gate);
	else if (idle->call)
		idle->call(datum);
}

/* The datum is locked. */
static inline void give_back(struct access *access, struct data_body *body,
			     struct access **woken, struct ready *ready)
{
	starpu_data_handle_t datum = access->datum;

	if (access->state == ACCESS_GRANTED) {
		exclusion_drop(body, access);
		if (takes_turn(access) && --body->nactive == 0) {
			if (body->group->closes) {
				close_group(datum, body, ready);
			} else {
				body->group = NULL;
				if (body->waiting || body->is_wiped_last)
					grant_next(datum, body, ready);
			}
		}
		/* Who has waited outside goes before those whose turn begins now. */
		if (exclusion_is_awaited(body))
			exclusion_wake(body, woken);
	}
	access->state = ACCESS_RELEASED;
}

static void release(struct access *access, struct access **woken, struct ready *ready)
{
	starpu_data_handle_t datum = access->datum;
	struct data_body *body;
	struct idle idle = {0};

	if (access->state == ACCESS_RELEASED ||
	    (access->state == ACCESS_SKIPPED && !is_scratch(access)))
		return;
	body = data_body(datum);
	orr_lock(&datum->lock);
	give_back(access, body, woken, ready);
	leave(datum, body, &idle);
	orr_unlock(&datum->lock);
	tell_idle(datum, &idle);
}

void deps_pend(starpu_data_handle_t datum)
{
	orr_lock(&datum->lock);
	data_body(datum)->npending++;
	orr_unlock(&datum->lock);
}

void deps_unpend(starpu_data_handle_t datum)
{
	struct idle idle = {0};

	orr_lock(&datum->lock);
	leave(datum, datum->body, &idle);
	orr_unlock(&datum->lock);
	tell_idle(datum, &idle);
}

void deps_release(struct job *job, struct ready *ready)
{
	struct access *woken = NULL;

	for (int i = 0, n = job->naccesses; i < n; i++)
		release(&job->accesses[i], &woken, ready);
	if (woken)
		exclusion_retry(woken, ready);
}

int deps_release_home(struct job *job, struct ready *ready)
{
	struct access *access = &job->accesses[0], *woken = NULL;
	starpu_data_handle_t datum = access->datum;
	struct data_body *body = datum->body;
	struct idle idle = {0};

	ORR_ASSERT(job->naccesses == 1);
	if (access->state != ACCESS_GRANTED)
		return 0;
	orr_lock(&datum->lock);
	if (!coherency_unpin_home(job)) {
		orr_unlock(&datum->lock);
		return 0;
	}
	give_back(access, body, &woken, ready);
	leave(datum, body, &idle);
	orr_unlock(&datum->lock);
	coherency_serve(job->node);
	tell_idle(datum, &idle);
	if (woken)
		exclusion_retry(woken, ready);
	return 1;
}

/* Would anybody hear that a reader has gone?  Its datum is locked. */
static int is_heard(const struct data_body *body, const struct access *access)
{
	const struct memory *memory = &access->job->node->memories[STARPU_MAIN_RAM];

	return body->waiting || body->is_wiped_last || exclusion_is_awaited(body) ||
	       body->gate || body->idle || (body->group && body->group->closes) ||
	       !copy_is_own(access->copy) || !memory->is_booked ||
	       orr_load_ptr((void **)&memory->budget_waiters) ||
	       orr_load_ptr((void **)&memory->waiting);
}

int deps_release_unheard(struct job *job)
{
	struct access *access = &job->accesses[0];
	starpu_data_handle_t datum = access->datum;
	struct data_body *body = datum->body;
	int released = 0;

	ORR_ASSERT(job->naccesses == 1 && !access_writes(access));
	orr_lock(&datum->lock);
	if (access->state == ACCESS_GRANTED && access->copy && !is_heard(body, access)) {
		copy_unuse(access->copy, access);
		access->copy = NULL;
		exclusion_drop(body, access);
		if (takes_turn(access) && --body->nactive == 0)
			body->group = NULL;
		access->state = ACCESS_RELEASED;
		body->npending--;
		released = 1;
	}
	orr_unlock(&datum->lock);
	return released;
}

void deps_resume(starpu_data_handle_t datum, struct ready *ready)
{
	struct data_body *body = datum->body;
	struct idle idle = {0};

	orr_lock(&datum->lock);
	ORR_ASSERT(body->group == &turn_held && body->nactive == 0);
	body->group = NULL;
	grant_next(datum, body, ready);
	leave(datum, body, &idle);
	orr_unlock(&datum->lock);
	tell_idle(datum, &idle);
}

void deps_downgrade_access(struct access *access, struct ready *ready)
{
	starpu_data_handle_t datum = access->datum;
	struct data_body *body = data_body(datum);
	struct access *woken = NULL;

	ORR_ASSERT(access->state == ACCESS_GRANTED);
	if (!access_writes(access))
		return;
	orr_lock(&datum->lock);
	access->mode = (unsigned short)((access->mode & ~(STARPU_RW | STARPU_COMMUTE)) |
					STARPU_R);
	body->nholders = 1;
	/* Alone in its group: a writer, or the holder among commuting ones, whose
	 * fellows stay and keep readers out. */
	if (takes_turn(access) && !body->group->shares) {
		body->group = turn_of(body, access);
		grant_next(datum, body, ready);
	}
	exclusion_wake(body, &woken);
	orr_unlock(&datum->lock);
	exclusion_retry(woken, ready);
}
