/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* The public header declares these functions for programs of this flavour. */
#define STARPU_SIMGRID 1

#include <errno.h>
#include <stdlib.h>

#include <starpu_thread.h>

#include "base/check.h"
#include "sim/waiters.h"

/* queues.c - a thread waits for a signal of any of the queues it is registered with. */

int starpu_pthread_queue_init(starpu_pthread_queue_t *q)
{
	*q = (starpu_pthread_queue_t){0};
	return 0;
}

static void wake(starpu_pthread_wait_t *w)
{
	w->block = 0;
	starpu_pthread_cond_broadcast(&w->cond);
}

int starpu_pthread_queue_signal(starpu_pthread_queue_t *q)
{
	for (unsigned i = 0; i < q->nqueue; i++)
		if (q->queue[i]->block) {
			wake(q->queue[i]);
			break;
		}
	return 0;
}

/* Who is woken runs at once, and may leave the queue, or wait again. */
int starpu_pthread_queue_broadcast(starpu_pthread_queue_t *q)
{
	for (unsigned i = 0; i < q->nqueue; i++)
		q->queue[i]->block = 0;
	for (unsigned i = 0; i < q->nqueue;) {
		starpu_pthread_wait_t *w = q->queue[i++];

		if (!w->block && cond_has_waiters(&w->cond)) {
			wake(w);
			i = 0;
		}
	}
	return 0;
}

int starpu_pthread_queue_destroy(starpu_pthread_queue_t *q)
{
	if (q->nqueue)
		return EBUSY;
	free(q->queue);
	q->queue = NULL;
	return 0;
}

void starpu_pthread_queue_register(starpu_pthread_wait_t *w, starpu_pthread_queue_t *q)
{
	if (q->nqueue == q->allocqueue) {
		q->allocqueue = q->allocqueue ? 2 * q->allocqueue : 1;
		q->queue = orr_realloc(q->queue, q->allocqueue * sizeof(*q->queue));
	}
	q->queue[q->nqueue++] = w;
}

void starpu_pthread_queue_unregister(starpu_pthread_wait_t *w, starpu_pthread_queue_t *q)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < q->nqueue; i++)
		if (q->queue[i] != w)
			q->queue[kept++] = q->queue[i];
	q->nqueue = kept;
}

int starpu_pthread_wait_init(starpu_pthread_wait_t *w)
{
	w->block = 1;
	starpu_pthread_mutex_init(&w->mutex, NULL);
	return starpu_pthread_cond_init(&w->cond, NULL);
}

void starpu_pthread_wait_reset(starpu_pthread_wait_t *w)
{
	w->block = 1;
}

int starpu_pthread_wait_wait(starpu_pthread_wait_t *w)
{
	starpu_pthread_mutex_lock(&w->mutex);
	while (w->block)
		starpu_pthread_cond_wait(&w->cond, &w->mutex);
	return starpu_pthread_mutex_unlock(&w->mutex);
}

int starpu_pthread_wait_timedwait(starpu_pthread_wait_t *w, const struct timespec *date)
{
	int status = 0;

	starpu_pthread_mutex_lock(&w->mutex);
	while (w->block && status == 0)
		status = starpu_pthread_cond_timedwait(&w->cond, &w->mutex, date);
	starpu_pthread_mutex_unlock(&w->mutex);
	return w->block ? status : 0;
}

int starpu_pthread_wait_destroy(starpu_pthread_wait_t *w)
{
	starpu_pthread_mutex_destroy(&w->mutex);
	return starpu_pthread_cond_destroy(&w->cond);
}
