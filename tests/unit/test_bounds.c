/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Bounds of random graphs, against all their schedules: the bound with whole numbers is
 * the best one, the relaxed one is between that and what area and longest chain say.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <starpu_bound.h>

#include "one_node.h"

#include "core/bound/bound.h"

enum { NSEEDS = 200, MAX_TASKS = 5, NDATA = 3, NCPUS = 2, NGPUS = 1, NWORKERS = 3 };

/* Workers: GPUs first. */
struct scene {
	int n, ms[MAX_TASKS][2]; /* on a CPU, on a GPU; 0: cannot */
	int priority[MAX_TASKS];
	unsigned modes[MAX_TASKS][NDATA]; /* 0: does not use it */
	int after[MAX_TASKS];             /* declared: bits of earlier tasks */
	int waits[MAX_TASKS];             /* for which, in all */
};

static unsigned next(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % n;
}

static struct scene draw(unsigned seed)
{
	struct scene scene = {.n = 2 + (int)next(&seed, MAX_TASKS - 1)};
	static const unsigned modes[] = {0, 0, STARPU_R, STARPU_R, STARPU_RW, STARPU_W};

	for (int i = 0; i < scene.n; i++) {
		scene.ms[i][0] = (int)next(&seed, 6);
		scene.ms[i][1] = (int)next(&seed, 4);
		if (!scene.ms[i][0] && !scene.ms[i][1])
			scene.ms[i][0] = 3;
		scene.priority[i] = (int)next(&seed, 3);
		for (int d = 0; d < NDATA; d++)
			scene.modes[i][d] = modes[next(&seed, 6)];
		for (int j = 0; j < i; j++)
			if (next(&seed, 5) == 0)
				scene.after[i] |= 1 << j;
	}
	return scene;
}

/* The order that sequential consistency asks for. */
static void find_waits(struct scene *scene)
{
	for (int i = 0; i < scene->n; i++) {
		scene->waits[i] = scene->after[i];
		for (int d = 0; d < NDATA; d++)
			for (int j = 0; j < i && scene->modes[i][d]; j++)
				if (scene->modes[j][d] &&
				    ((scene->modes[i][d] | scene->modes[j][d]) &
				     STARPU_W))
					scene->waits[i] |= 1 << j;
	}
}

/* ---- all schedules ----------------------------------------------------- */

struct schedule {
	const struct scene *scene;
	int done, end[MAX_TASKS], free_at[NWORKERS], best;
};

static void look(struct schedule schedule, int *best)
{
	const struct scene *scene = schedule.scene;
	int last = 0;

	for (int i = 0; i < scene->n; i++)
		last = schedule.done >> i & 1 && schedule.end[i] > last ? schedule.end[i]
									: last;
	if (last >= *best)
		return;
	if (schedule.done == (1 << scene->n) - 1) {
		*best = last;
		return;
	}
	for (int i = 0; i < scene->n; i++)
		for (int w = 0; w < NWORKERS; w++) {
			struct schedule with = schedule;
			int ms = scene->ms[i][w < NGPUS], start = with.free_at[w];

			if (schedule.done >> i & 1 || !ms ||
			    (scene->waits[i] & ~schedule.done))
				continue;
			for (int j = 0; j < scene->n; j++)
				if (scene->waits[i] >> j & 1 && with.end[j] > start)
					start = with.end[j];
			with.done |= 1 << i;
			with.end[i] = with.free_at[w] = start + ms;
			look(with, best);
		}
}

static int best_ms(const struct scene *scene)
{
	struct schedule schedule = {.scene = scene};
	int best = 1000;

	look(schedule, &best);
	return best;
}

static int longest_ms(const struct scene *scene)
{
	int end[MAX_TASKS], longest = 0;

	for (int i = 0; i < scene->n; i++) {
		int cpu = scene->ms[i][0], gpu = scene->ms[i][1];

		end[i] = 0;
		for (int j = 0; j < i; j++)
			if (scene->waits[i] >> j & 1 && end[j] > end[i])
				end[i] = end[j];
		end[i] += !gpu || (cpu && cpu < gpu) ? cpu : gpu;
		longest = end[i] > longest ? end[i] : longest;
	}
	return longest;
}

/* ---- the library ------------------------------------------------------- */

static const struct scene *playing;

static double cost_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		      unsigned implementation)
{
	(void)implementation;
	return 1e3 * playing->ms[(intptr_t)task->cl_arg]
				[arch->devices[0].type == STARPU_CUDA_WORKER];
}

static struct starpu_perfmodel model = {
	.type = STARPU_PER_ARCH, .arch_cost_function = cost_us, .symbol = "test_bounds"};
static struct starpu_codelet cl = {.cpu_funcs = {one_kernel},
				   .cuda_funcs = {one_kernel},
				   .nbuffers = STARPU_VARIABLE_NBUFFERS,
				   .model = &model};

static struct starpu_task *task_of(const struct scene *scene, int i,
				   starpu_data_handle_t handles[NDATA])
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &cl;
	task->cl_arg = (void *)(intptr_t)i;
	task->priority = scene->priority[i];
	task->where =
		(scene->ms[i][0] ? STARPU_CPU : 0) | (scene->ms[i][1] ? STARPU_CUDA : 0);
	for (int d = 0; d < NDATA; d++)
		if (scene->modes[i][d]) {
			task->handles[task->nbuffers] = handles[d];
			task->modes[task->nbuffers++] = scene->modes[i][d];
		}
	return task;
}

static void play(const struct scene *scene, int prio, double *relaxed, double *whole)
{
	static int values[NDATA];
	starpu_data_handle_t handles[NDATA];
	struct starpu_task *tasks[MAX_TASKS], *before[MAX_TASKS];

	playing = scene;
	for (int d = 0; d < NDATA; d++)
		starpu_variable_data_register(&handles[d], STARPU_MAIN_RAM,
					      (uintptr_t)&values[d], sizeof(int));
	starpu_bound_start(1, prio);
	for (int i = 0; i < scene->n; i++) {
		unsigned n = 0;

		tasks[i] = task_of(scene, i, handles);
		for (int j = 0; j < i; j++)
			if (scene->after[i] >> j & 1)
				before[n++] = tasks[j];
		if (n)
			starpu_task_declare_deps_array(tasks[i], n, before);
	}
	for (int i = 0; i < scene->n; i++)
		assert_int_equal(starpu_task_submit(tasks[i]), 0);
	starpu_bound_stop();
	starpu_bound_compute(relaxed, whole, 1);
	fake_run();
	one.nlog = 0;
	for (int d = 0; d < NDATA; d++)
		starpu_data_unregister(handles[d]);
}

static void check(unsigned seed)
{
	struct scene scene = draw(seed);
	double relaxed, whole, urgent_first;
	int best, longest;

	find_waits(&scene);
	best = best_ms(&scene);
	longest = longest_ms(&scene);
	play(&scene, 0, &relaxed, &whole);
	if (fabs(whole - best) > 1e-6 || relaxed > whole + 1e-6 ||
	    relaxed < longest - 1e-6)
		fail_msg("seed %u: relaxed %g, whole %g; best %d, longest chain %d", seed,
			 relaxed, whole, best, longest);
	play(&scene, 1, &relaxed, &urgent_first);
	if (urgent_first < whole - 1e-6)
		fail_msg("seed %u: %g with priorities, %g without", seed, urgent_first,
			 whole);
}

/* Was the library built with GLPK?  tests/cli/bounds.py knows whether it should. */
static int can_solve(void)
{
	struct scene scene = {.n = 1, .ms = {{1, 0}}};
	double relaxed, whole;

	one_open(1, 0, "prio");
	play(&scene, 0, &relaxed, &whole);
	one_close();
	return relaxed > 0;
}

static void bounds_of_random_graphs(void **state)
{
	(void)state;
	if (!can_solve())
		skip();
	one_open(NCPUS, NGPUS, "prio");
	for (unsigned seed = 1; seed <= NSEEDS; seed++)
		check(seed);
	one_close();
}

/* B waits for A; C is more urgent than A, less than B. */
static void urgent_tasks_go_first(void **state)
{
	struct scene scene = {.n = 3,
			      .ms = {{1, 0}, {2, 0}, {5, 0}},
			      .priority = {0, 2, 1},
			      .modes = {{STARPU_RW}, {STARPU_RW}, {0}}};
	double relaxed, whole;

	(void)state;
	if (!can_solve())
		skip();
	find_waits(&scene);
	one_open(2, 0, "prio");
	play(&scene, 0, &relaxed, &whole);
	assert_true(fabs(whole - 5) < 1e-6);
	/* Both A and C begin at once. */
	play(&scene, 1, &relaxed, &whole);
	assert_true(fabs(whole - 5) < 1e-6);
	one_close();
	/* One core: the sum, in any order. */
	one_open(1, 0, "prio");
	play(&scene, 1, &relaxed, &whole);
	assert_true(fabs(whole - 8) < 1e-6);
	one_close();
}

/* Two cores, three tasks: the urgent ones of 1 ms each go first, the long one last. */
static void urgency_costs_time(void **state)
{
	struct scene scene = {
		.n = 3, .ms = {{2, 0}, {2, 0}, {4, 0}}, .priority = {2, 2, 0}};
	double relaxed, whole;

	(void)state;
	if (!can_solve())
		skip();
	one_open(2, 0, "prio");
	play(&scene, 0, &relaxed, &whole);
	assert_true(fabs(whole - 4) < 1e-6);
	play(&scene, 1, &relaxed, &whole);
	assert_true(fabs(whole - 6) < 1e-6);
	one_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_of_random_graphs),
		cmocka_unit_test(urgent_tasks_go_first),
		cmocka_unit_test(urgency_costs_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
