/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * queues.c - threads wait for queues, which only the simulated flavour has.
 */
#include <starpu.h>

#include "../api/claim.h"

enum { NTHREADS = 4 };

int claim_failures;

static int counter, nleft;
static starpu_pthread_queue_t queue;

static void *leave_queue_when_woken(void *arg)
{
	starpu_pthread_wait_t wait;

	starpu_pthread_wait_init(&wait);
	starpu_pthread_wait_reset(&wait);
	starpu_pthread_queue_register(&wait, &queue);
	counter++;
	starpu_pthread_wait_wait(&wait);
	nleft++;
	starpu_pthread_queue_unregister(&wait, &queue);
	starpu_pthread_wait_destroy(&wait);
	return arg;
}

static void queues_wake_all_that_wait(void)
{
	starpu_pthread_t threads[NTHREADS];

	claim_start(1);
	starpu_pthread_queue_init(&queue);
	counter = 0;
	for (int i = 0; i < NTHREADS; i++)
		STARPU_PTHREAD_CREATE(&threads[i], NULL, leave_queue_when_woken, NULL);
	starpu_usleep(1000);
	CLAIM_EQ(counter, NTHREADS);
	CLAIM_EQ(starpu_pthread_queue_broadcast(&queue), 0);
	for (int i = 0; i < NTHREADS; i++)
		STARPU_PTHREAD_JOIN(threads[i], NULL);
	CLAIM_EQ(starpu_pthread_queue_destroy(&queue), 0);
	starpu_shutdown();
}

static void a_signal_wakes_one(void)
{
	starpu_pthread_t threads[NTHREADS];

	claim_start(1);
	starpu_pthread_queue_init(&queue);
	CLAIM_EQ(starpu_pthread_queue_signal(&queue), 0);
	counter = nleft = 0;
	for (int i = 0; i < NTHREADS; i++)
		STARPU_PTHREAD_CREATE(&threads[i], NULL, leave_queue_when_woken, NULL);
	starpu_usleep(1000);
	CLAIM_EQ(counter, NTHREADS);
	for (int n = 1; n < NTHREADS; n++) {
		CLAIM_EQ(starpu_pthread_queue_signal(&queue), 0);
		starpu_usleep(1000);
		CLAIM_EQ(nleft, n);
	}
	/* Of two at once the second finds nobody. */
	starpu_pthread_queue_signal(&queue);
	starpu_pthread_queue_signal(&queue);
	for (int i = 0; i < NTHREADS; i++)
		STARPU_PTHREAD_JOIN(threads[i], NULL);
	CLAIM_EQ(nleft, NTHREADS);
	CLAIM_EQ(starpu_pthread_queue_destroy(&queue), 0);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"a_signal_wakes_one", a_signal_wakes_one},
	{"queues_wake_all_that_wait", queues_wake_all_that_wait},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
