/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdio.h>

#include <starpu.h>

#include "base/check.h"
#include "core/node.h"
#include "real/real.h"

/*
 * A worker that has one long task after the other polls between them: where workers have
 * all cores, nobody else may for milliseconds.
 */
enum { NTASKS = 200, FIRST = 20 }; /* that count: before, it may be the helper */

#define TASK_US 150

struct play {
	int nexecuted; /* by the only worker */
	int nlooks;    /* polls by it, meanwhile */
};

static int look(void *arg)
{
	struct play *play = arg;

	if (starpu_worker_get_id() >= 0 && play->nexecuted >= FIRST &&
	    play->nexecuted < NTASKS)
		play->nlooks++;
	return 0; /* The network is active, and nothing has come. */
}

static void work(void *buffers[], void *arg)
{
	struct play *play = arg;
	double until_us = starpu_timing_now() + TASK_US;

	(void)buffers;
	while (starpu_timing_now() < until_us)
		orr_fence();
	play->nexecuted++;
}

int main(void)
{
	static struct starpu_codelet codelet = {.cpu_funcs = {work}, .name = "work"};
	struct play play = {0};
	struct starpu_conf conf;
	struct plat *plat;

	starpu_conf_init(&conf);
	conf.ncpus = 1;
	if (starpu_init(&conf) != 0)
		return 77;
	plat = plat_self()->plat;
	plat_set_poll(plat, look, &play);
	starpu_pause();
	for (int i = 0; i < NTASKS; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &codelet;
		task->cl_arg = &play;
		if (starpu_task_submit(task) != 0)
			return 1;
	}
	starpu_resume();
	starpu_task_wait_for_all();
	plat_set_poll(plat, NULL, NULL);
	starpu_shutdown();
	printf("%s a worker polls between long tasks\n",
	       play.nlooks > 0 ? "PASS" : "FAIL");
	return play.nlooks > 0 ? 0 : 1;
}
