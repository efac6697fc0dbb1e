/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/check.h"
#include "core/wait.h"
#include "real/real.h"

void timers_init(struct plat *plat)
{
	struct timers *timers = &plat->timers;
	pthread_condattr_t attr;

	pthread_mutex_init(&timers->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&timers->changed, &attr);
	pthread_condattr_destroy(&attr);
}

void timers_close(struct plat *plat)
{
	struct timers *timers = &plat->timers;

	if (timers->started) {
		pthread_mutex_lock(&timers->mutex);
		timers->stopping = 1;
		pthread_cond_signal(&timers->changed);
		pthread_mutex_unlock(&timers->mutex);
		pthread_join(timers->thread, NULL);
	}
	heap_free(&timers->calendar);
	pthread_cond_destroy(&timers->changed);
	pthread_mutex_destroy(&timers->mutex);
}

static void wait_until(struct timers *timers, double date_s)
{
	struct timespec date = {.tv_sec = (time_t)date_s};

	/* Rounded up: a timer may be late, never early. */
	date.tv_nsec = (long)((date_s - (double)date.tv_sec) * 1e9) + 1;
	if (date.tv_nsec >= 1000000000) {
		date.tv_sec++;
		date.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(&timers->changed, &timers->mutex, &date);
}

static void *timers_main(void *arg)
{
	struct plat *plat = arg;
	struct timers *timers = &plat->timers;

	pthread_mutex_lock(&timers->mutex);
	while (!timers->stopping) {
		struct plat_timer *timer;
		double date_s;

		if (timers->calendar.count == 0) {
			pthread_cond_wait(&timers->changed, &timers->mutex);
			continue;
		}
		date_s = heap_first_date_s(&timers->calendar);
		if (date_s > plat_now_s(plat)) {
			wait_until(timers, date_s);
			continue;
		}
		timer = ORR_CONTAINER(heap_pop(&timers->calendar), struct plat_timer,
				      entry);
		timers->nfiring = !timer->is_idle;
		timers->nidle -= timer->is_idle;
		pthread_mutex_unlock(&timers->mutex);
		timer->fire(timer);
		pthread_mutex_lock(&timers->mutex);
		timers->nfiring = 0;
	}
	pthread_mutex_unlock(&timers->mutex);
	return NULL;
}

void plat_after(struct plat *plat, struct plat_timer *timer, double delay_s)
{
	struct timers *timers = &plat->timers;
	double date_s = plat_now_s(plat) + (delay_s > 0 ? delay_s : 0);

	timer->plat = plat;
	pthread_mutex_lock(&timers->mutex);
	heap_push(&timers->calendar, &timer->entry, date_s);
	timers->nidle += timer->is_idle;
	if (!timers->started) {
		if (pthread_create(&timers->thread, NULL, timers_main, plat) != 0)
			orr_die(plat->node->rank,
				"no thread for timers: the system refuses more "
				"threads (ulimit -u or -v, cgroup pids.max)");
		timers->started = 1;
	}
	if (heap_first_date_s(&timers->calendar) == date_s)
		pthread_cond_signal(&timers->changed);
	pthread_mutex_unlock(&timers->mutex);
}

int timers_count(struct plat *plat)
{
	struct timers *timers = &plat->timers;
	int n;

	/* None fires while what the last one called waits. */
	if (timers->started && wait_blocks(plat->node, (const void *)timers->thread))
		return 0;
	pthread_mutex_lock(&timers->mutex);
	n = (int)timers->calendar.count - timers->nidle + timers->nfiring;
	pthread_mutex_unlock(&timers->mutex);
	return n;
}
