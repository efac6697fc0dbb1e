/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "core/lasting.h"
#include "core/node.h"
#include "core/worker.h"
#include "real/real.h"

/*
 * No kick is lost: whatever was pending at a kick is polled, by a waiting thread, by an
 * idle worker that helps now and then, or by the progress thread, although each sleeps
 * when the poll function finds nothing.
 *
 * With an argument, half of it rings a bell instead of kicking, as a message does that
 * comes by a transport which has one.
 */
enum { NROUNDS = 20000, NKICKERS = 2, NRINGS = 20, LOST_AFTER_S = 20 };

struct play {
	struct settings settings;
	struct starpu_conf conf; /* nothing is asked for */
	struct lasting lasting;  /* the same */
	struct node node;
	struct plat *plat;
	struct plat_gate gate;
	int is_waiting; /* atomic, and all below: the gate is to be opened */
	int wanted;     /* things to be made pending, each with a kick */
	int pending;
	int stopping;
	int nlistened;         /* times that somebody slept until the bell rang */
	struct net_bell *bell; /* NULL: there is none */
	struct worker worker;  /* has nothing to do, ever */
};

struct kicker {
	struct play *play;
	pthread_t thread;
	unsigned seed;
};

/* The sleeper looks at is_armed behind this, who rings behind "pending". */
static void arm(struct play *play)
{
	uint64_t count;

	if (read(play->bell->fd, &count, sizeof(count)) > 0)
		orr_add(&play->nlistened, 1);
	orr_store(&play->bell->is_armed, 1);
	orr_fence();
	if (orr_load(&play->pending) > 0)
		orr_store(&play->bell->is_armed, 0);
}

static void ring(struct play *play)
{
	const uint64_t one = 1;

	orr_fence();
	if (orr_cas(&play->bell->is_armed, 1, 0) &&
	    write(play->bell->fd, &one, sizeof(one)) < 0)
		abort();
}

/* One thing at a time, so that > 0 leaves something to do. */
static int take_one(void *arg)
{
	struct play *play = arg;
	int pending = orr_load(&play->pending);

	if (pending == 0 && play->bell && orr_load(&play->bell->is_wanted))
		arm(play);
	if (pending == 0)
		return play->bell ? 0 : -1;
	if (!orr_cas(&play->pending, pending, pending - 1))
		return 0;
	if (orr_cas(&play->is_waiting, 1, 0))
		plat_gate_open(play->plat, &play->gate);
	return 1;
}

static void *kick_again_and_again(void *arg)
{
	struct kicker *kicker = arg;
	struct play *play = kicker->play;

	while (!orr_load(&play->stopping)) {
		int wanted = orr_load(&play->wanted);

		if (wanted > 0 && orr_cas(&play->wanted, wanted, wanted - 1)) {
			orr_add(&play->pending, 1);
			if (play->bell && wanted % 2)
				ring(play);
			else
				plat_poll_kick(play->plat);
		}
		for (int i = rand_r(&kicker->seed) % 100; i > 0; i--)
			orr_fence();
		if (rand_r(&kicker->seed) % 50 == 0)
			sched_yield();
		if (rand_r(&kicker->seed) % 2000 == 0)
			plat_sleep(play->plat, 1e-4);
	}
	return NULL;
}

/* It has the post again and again, and leaves it in all ways. */
static void *help_now_and_then(void *arg)
{
	static const struct worker_driver idle = {0};
	struct play *play = arg;
	struct helping helping = {0};
	unsigned seed = 9;

	play->worker.driver = &idle;
	while (!orr_load(&play->stopping)) {
		helping.nslow = rand_r(&seed) % 4;
		orr_store(&play->node.others_submitted, rand_r(&seed) % 8 > 0);
		if (helper_rest(play->plat, &play->worker, &helping))
			abort(); /* There is no task. */
		if (rand_r(&seed) % 3 == 0)
			sched_yield();
		if (rand_r(&seed) % 100 == 0)
			plat_sleep(play->plat, 1e-4);
	}
	helper_quit(play->plat, &play->worker, &helping);
	return NULL;
}

/* Nobody waits: the progress thread has to take what is left.  1 when it did. */
static int is_all_taken(struct play *play)
{
	double start_s = plat_now_s(play->plat);

	while (orr_load(&play->pending) > 0 || orr_load(&play->wanted) > 0) {
		if (plat_now_s(play->plat) - start_s > LOST_AFTER_S)
			return 0;
		sched_yield();
	}
	return 1;
}

/* Returns how many rounds went well. */
static int play_rounds(struct play *play)
{
	unsigned seed = 5;

	for (int i = 0; i < NROUNDS; i++) {
		plat_gate_init(&play->gate);
		orr_store(&play->is_waiting, 1);
		orr_add(&play->wanted, 1 + rand_r(&seed) % 3);
		plat_gate_wait(play->plat, &play->gate);
		if (i % 16 == 0 && !is_all_taken(play))
			return i;
	}
	return NROUNDS;
}

/* Nobody else polls: the progress thread sleeps, and only the bell tells it. */
static int rings_wake(struct play *play)
{
	orr_store(&play->wanted, 0); /* Who would make them is gone. */
	for (int i = 0; i < NRINGS; i++) {
		double start_s = plat_now_s(play->plat);

		while (!orr_load(&play->bell->is_armed)) {
			if (plat_now_s(play->plat) - start_s > LOST_AFTER_S)
				return 0;
			sched_yield();
		}
		orr_add(&play->pending, 1);
		ring(play);
		if (!is_all_taken(play))
			return 0;
	}
	return orr_load(&play->nlistened) > 0;
}

int main(int argc, char **argv)
{
	struct play *play = orr_alloc_lines(sizeof(*play));
	struct kicker kickers[NKICKERS];
	pthread_t helper;
	int nrounds, nhelped, is_woken = 0;

	knobs_read(&play->settings.knobs);
	play->node.settings = &play->settings;
	play->node.conf = &play->conf;
	play->node.lasting = &play->lasting;
	if (plat_open(&play->plat, &play->node) < 0)
		return 1;
	play->worker.node = &play->node;
	if (argc > 1) {
		play->bell = &play->plat->progress.bell;
		play->bell->fd = eventfd(0, EFD_NONBLOCK);
	}
	(void)argv;
	plat_set_poll(play->plat, take_one, play);
	pthread_create(&helper, NULL, help_now_and_then, play);
	for (int i = 0; i < NKICKERS; i++) {
		kickers[i] = (struct kicker){.play = play, .seed = (unsigned)i + 1};
		pthread_create(&kickers[i].thread, NULL, kick_again_and_again,
			       &kickers[i]);
	}
	nrounds = play_rounds(play);
	orr_store(&play->stopping, 1);
	for (int i = 0; i < NKICKERS; i++)
		pthread_join(kickers[i].thread, NULL);
	pthread_join(helper, NULL);
	nhelped = orr_load(&play->plat->progress.nhelped);
	if (play->bell && nrounds == NROUNDS)
		is_woken = rings_wake(play);
	plat_set_poll(play->plat, NULL, NULL);
	plat_close(play->plat);
	if (nrounds == NROUNDS)
		printf("PASS no kick is lost\n");
	else
		printf("FAIL no kick is lost: %d things are left in round %d\n",
		       play->pending, nrounds);
	printf("%s an idle worker polls\n", nhelped > 0 ? "PASS" : "FAIL");
	if (argc > 1)
		printf("%s a bell wakes who sleeps\n", is_woken ? "PASS" : "FAIL");
	free(play);
	return nrounds == NROUNDS && nhelped > 0 && (argc == 1 || is_woken) ? 0 : 1;
}
