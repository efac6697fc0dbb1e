/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/deps.h"

#include "base/check.h"

enum { DEPS_MAX_SORTED = 64 };

static int writes(const struct access *access)
{
	return (access->mode & STARPU_W) != 0;
}

static enum turn turn_of(const struct access *access)
{
	if (!writes(access))
		return TURN_READ;
	return access->mode & STARPU_COMMUTE ? TURN_COMMUTE : TURN_WRITE;
}

static int takes_turn(const struct access *access)
{
	return !(access->mode & ACCESS_UNORDERED);
}

/* ---- exclusion: readers together, or one writer ---------------------- */

static int can_hold(const struct access *access)
{
	return writes(access) ? data_body(access->datum)->nholders == 0
			      : data_body(access->datum)->nholders >= 0;
}

static void hold(struct access *access)
{
	if (writes(access))
		data_body(access->datum)->nholders = -1;
	else
		data_body(access->datum)->nholders++;
	access->state = ACCESS_GRANTED;
}

/* ---- turns ----------------------------------------------------------- */

/* The access joins the active group; the datum is locked. */
static void join(struct access *access, enum turn turn)
{
	struct data_body *body = data_body(access->datum);

	body->turn = (unsigned char)turn;
	body->nactive++;
	if (turn != TURN_COMMUTE && can_hold(access)) {
		hold(access);
	} else {
		access->state = ACCESS_ORDERED;
		access->job->exclusive = 1;
	}
}

static void enqueue(struct access *access)
{
	struct data_body *body = data_body(access->datum);
	enum turn turn = turn_of(access);

	body->npending++;
	if (!takes_turn(access)) {
		access->state = ACCESS_ORDERED;
		access->job->exclusive = 1;
	} else if (!body->waiting && (body->turn == TURN_NONE ||
				      (body->turn == turn && turn != TURN_WRITE))) {
		join(access, turn);
	} else {
		access->state = ACCESS_WAITING;
		orr_add(&access->job->missing, 1);
		access->next = NULL;
		if (body->waiting)
			body->waiting_last->next = access;
		else
			body->waiting = access;
		body->waiting_last = access;
	}
}

/* The head of the queue joins, with all that may join with it; datum locked. */
static void grant_next(struct data_body *body, struct ready *ready)
{
	struct access *access;

	while ((access = body->waiting)) {
		enum turn turn = turn_of(access);

		if (body->turn != TURN_NONE && (body->turn != turn || turn == TURN_WRITE))
			break;
		body->waiting = access->next;
		join(access, turn);
		job_satisfy(access->job, ready);
	}
}

/* ---- locking several data -------------------------------------------- */

struct sorted {
	int n;
	struct access *access[DEPS_MAX_SORTED];
};

/* The accesses in the given state, by address of their data. */
static void sort_accesses(struct sorted *sorted, struct job *job, int state)
{
	sorted->n = 0;
	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];
		int k;

		if (access->state != state)
			continue;
		if (sorted->n == DEPS_MAX_SORTED)
			orr_die(job->node->rank,
				"a task accesses more than %d data: split it",
				DEPS_MAX_SORTED);
		for (k = sorted->n++; k > 0; k--) {
			if (sorted->access[k - 1]->datum < access->datum)
				break;
			sorted->access[k] = sorted->access[k - 1];
		}
		sorted->access[k] = access;
	}
}

static void lock_all(const struct sorted *sorted)
{
	for (int i = 0; i < sorted->n; i++)
		orr_lock(&sorted->access[i]->datum->lock);
}

static void unlock_all(const struct sorted *sorted)
{
	for (int i = sorted->n - 1; i >= 0; i--)
		orr_unlock(&sorted->access[i]->datum->lock);
}

/* ---- what others call ------------------------------------------------ */

void deps_merge(struct job *job)
{
	for (int i = 1; i < job->naccesses; i++) {
		for (int k = 0; k < i; k++) {
			struct access *first = &job->accesses[k];
			struct access *again = &job->accesses[i];

			if (first->datum != again->datum ||
			    first->state == ACCESS_SKIPPED ||
			    again->state == ACCESS_SKIPPED)
				continue;
			/* Commuting counts only when all writes commute. */
			if (writes(again) && !(again->mode & STARPU_COMMUTE))
				first->mode &= (unsigned short)~STARPU_COMMUTE;
			if (!writes(first))
				first->mode |= again->mode & STARPU_COMMUTE;
			first->mode |= again->mode & STARPU_RW;
			again->state = ACCESS_SKIPPED;
			break;
		}
	}
}

void deps_submit(struct job *job, int sequential)
{
	struct sorted sorted;

	if (!sequential)
		for (int i = 0; i < job->naccesses; i++)
			job->accesses[i].mode |= ACCESS_UNORDERED;
	if (job->naccesses == 1) {
		struct access *access = &job->accesses[0];

		if (access->state != ACCESS_NEW)
			return;
		orr_lock(&access->datum->lock);
		enqueue(access);
		orr_unlock(&access->datum->lock);
		return;
	}
	sort_accesses(&sorted, job, ACCESS_NEW);
	lock_all(&sorted);
	for (int i = 0; i < sorted.n; i++)
		enqueue(sorted.access[i]);
	unlock_all(&sorted);
}

/* job waits for the datum of access to be given back; datum locked. */
static void wait_for_exclusion(struct job *job, starpu_data_handle_t datum)
{
	struct data_body *body = data_body(datum);

	job->retry_next = NULL;
	if (body->retry)
		body->retry_last->retry_next = job;
	else
		body->retry = job;
	body->retry_last = job;
}

int deps_exclude(struct job *job)
{
	struct sorted sorted;

	sort_accesses(&sorted, job, ACCESS_ORDERED);
	lock_all(&sorted);
	for (int i = 0; i < sorted.n; i++) {
		if (can_hold(sorted.access[i]))
			continue;
		wait_for_exclusion(job, sorted.access[i]->datum);
		unlock_all(&sorted);
		return 0;
	}
	for (int i = 0; i < sorted.n; i++)
		hold(sorted.access[i]);
	unlock_all(&sorted);
	return 1;
}

/* The exclusion of datum was given back: let those waiting for it try again. */
static void retry_waiting(starpu_data_handle_t datum, struct ready *ready)
{
	struct data_body *body = data_body(datum);
	struct job *last = NULL; /* Who comes back stands behind it. */

	for (;;) {
		struct job *job = NULL;

		orr_lock(&datum->lock);
		if (!last)
			last = body->retry_last;
		if (body->nholders >= 0 && body->retry) {
			job = body->retry;
			body->retry = job->retry_next;
		}
		orr_unlock(&datum->lock);
		if (!job)
			return;
		if (deps_exclude(job)) {
			/* Its start() would try to exclude again: all is granted. */
			ready_append(ready, job);
		} else if (job == last) {
			return; /* All that waited have tried. */
		}
	}
}

void deps_release_access(struct access *access, struct ready *ready)
{
	starpu_data_handle_t datum = access->datum;
	struct data_body *body;
	struct plat *plat;
	struct plat_gate *gate = NULL;
	int retry;

	if (access->state == ACCESS_SKIPPED || access->state == ACCESS_RELEASED)
		return;
	ORR_ASSERT(access->state == ACCESS_GRANTED);
	access->state = ACCESS_RELEASED;
	plat = datum->node->plat;
	body = data_body(datum);
	orr_lock(&datum->lock);
	body->nholders = writes(access) ? 0 : body->nholders - 1;
	if (takes_turn(access) && --body->nactive == 0) {
		body->turn = TURN_NONE;
		if (body->waiting)
			grant_next(body, ready);
	}
	if (--body->npending == 0) {
		gate = body->gate;
		body->gate = NULL;
	}
	retry = body->retry != NULL;
	orr_unlock(&datum->lock);
	if (retry)
		retry_waiting(datum, ready);
	if (gate)
		plat_gate_open(plat, gate); /* The datum may be gone by now. */
}

void deps_downgrade_access(struct access *access, struct ready *ready)
{
	starpu_data_handle_t datum = access->datum;
	struct data_body *body = data_body(datum);

	ORR_ASSERT(access->state == ACCESS_GRANTED);
	if (!writes(access))
		return;
	orr_lock(&datum->lock);
	access->mode = (unsigned short)((access->mode & ~(STARPU_RW | STARPU_COMMUTE)) |
					STARPU_R);
	body->nholders = 1;
	/* Alone in its group: a writer, or the holder among commuting ones, whose
	 * fellows stay and keep readers out. */
	if (takes_turn(access) && body->turn == TURN_WRITE) {
		body->turn = TURN_READ;
		grant_next(body, ready);
	}
	orr_unlock(&datum->lock);
}

void deps_release(struct job *job, struct ready *ready)
{
	for (int i = 0; i < job->naccesses; i++)
		deps_release_access(&job->accesses[i], ready);
}
