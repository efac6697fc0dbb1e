/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Jobs with random accesses and predecessors, submitted, taken and ended in a random
 * order, against a model that looks at all of them again after each step:
 * who runs beside whom, who overtook whom, and who should run and does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <starpu.h>
#include <stdio.h>

#include "core/task/deps.h"
#include "core/task/exclusion.h"
#include "core/task/links.h"
#include "fake.h"

enum { MAX_DATA = 8, MAX_JOBS = 80, MAX_BEFORE = 3, MAX_ACCESSES = 6 };

enum state { CREATED, SUBMITTED, TAKEABLE, RUNNING, ENDED };

struct use {
	int datum;
	unsigned mode;
	int unordered;
};

struct trial {
	struct job *job;
	enum state state;
	int naccesses, nbefore;
	struct use uses[MAX_ACCESSES];
	int before[MAX_BEFORE];
};

static struct scene {
	unsigned seed, random;
	int ndata, njobs, nsubmitted, nrunning, late;
	struct node *node;
	starpu_data_handle_t data[MAX_DATA];
	struct trial jobs[MAX_JOBS];
} scene;

static unsigned draw(unsigned n)
{
	scene.random = scene.random * 1103515245u + 12345u;
	return (scene.random >> 8) % n;
}

static void show(int i)
{
	const struct trial *trial = &scene.jobs[i];

	printf("job %d, state %d, missing %d:", i, trial->state, trial->job->missing);
	for (int k = 0; k < trial->naccesses; k++)
		printf(" %s%d%s", trial->uses[k].unordered ? "~" : "",
		       trial->uses[k].datum,
		       trial->uses[k].mode & STARPU_SCRATCH   ? "s"
		       : trial->uses[k].mode & STARPU_COMMUTE ? "c"
		       : trial->uses[k].mode & STARPU_W       ? "w"
							      : "r");
	for (int k = 0; k < trial->nbefore; k++)
		printf(" after %d", trial->before[k]);
	printf("\n");
}

static void complain(const char *what, int a, int b)
{
	for (int i = 0; i < scene.nsubmitted; i++)
		show(i);
	fail_msg("seed %u: %s: job %d, job %d", scene.seed, what, a, b);
}

/* ---- the model ------------------------------------------------------- */

static int is_write(const struct use *use)
{
	return (use->mode & STARPU_W) != 0;
}

static int commutes(const struct use *use)
{
	return is_write(use) && (use->mode & STARPU_COMMUTE);
}

/* May not be inside at once. */
static int excludes(const struct use *a, const struct use *b)
{
	if ((a->mode | b->mode) & STARPU_SCRATCH)
		return 0;
	return is_write(a) || is_write(b);
}

/* The later one waits for the end of the earlier one. */
static int follows(const struct use *a, const struct use *b)
{
	return excludes(a, b) && !a->unordered && !b->unordered &&
	       !(commutes(a) && commutes(b));
}

static int any(const struct trial *a, const struct trial *b,
	       int (*relation)(const struct use *, const struct use *))
{
	for (int i = 0; i < a->naccesses; i++)
		for (int k = 0; k < b->naccesses; k++)
			if (a->uses[i].datum == b->uses[k].datum &&
			    relation(&a->uses[i], &b->uses[k]))
				return 1;
	return 0;
}

/* A job that job n has to wait for, or -1. */
static int hindrance(int n)
{
	const struct trial *trial = &scene.jobs[n];

	for (int i = 0; i < trial->nbefore; i++)
		if (scene.jobs[trial->before[i]].state != ENDED)
			return trial->before[i];
	for (int i = 0; i < scene.nsubmitted; i++) {
		const struct trial *other = &scene.jobs[i];

		if (i == n || other->state == ENDED)
			continue;
		if (i < n && any(other, trial, follows))
			return i;
		if (other->state == RUNNING && any(other, trial, excludes))
			return i;
	}
	return -1;
}

static void check_all(void)
{
	for (int i = 0; i < scene.nsubmitted; i++)
		if (scene.jobs[i].state == SUBMITTED && hindrance(i) < 0)
			complain("nothing hinders it, and it does not run", i, i);
}

/* ---- playing --------------------------------------------------------- */

static int index_of(const struct job *job)
{
	int i = 0;

	while (scene.jobs[i].job != job)
		i++;
	return i;
}

static void run(int i)
{
	int hinders = hindrance(i);

	if (hinders >= 0)
		complain("it runs before its time", i, hinders);
	scene.jobs[i].state = RUNNING;
	scene.nrunning++;
}

/* As a task's: exclusion is taken later, by who executes it; or as an acquisition's. */
static void start(struct job *job, struct ready *ready)
{
	int i = index_of(job);

	if (orr_load(&job->exclusive)) {
		if (scene.late) {
			scene.jobs[i].state = TAKEABLE;
			return;
		}
		if (!exclusion_take(job, ready))
			return;
	}
	run(i);
}

static const struct job_ops trial_ops = {.start = start};

static void take_one(int i)
{
	struct ready ready = {0};

	scene.jobs[i].state = SUBMITTED;
	if (exclusion_take(scene.jobs[i].job, &ready))
		run(i);
	ready_run(scene.node, &ready);
}

static void end_one(int i)
{
	struct trial *trial = &scene.jobs[i];
	struct ready ready = {0};

	trial->state = ENDED;
	scene.nrunning--;
	deps_release(trial->job, &ready);
	trial->job->life = LIFE_ENDING;
	if (trial->job->point)
		links_fire(trial->job, &ready);
	ready_run(scene.node, &ready);
}

/* The first access that writes and whose job runs becomes a reader. */
static void downgrade_one(int i)
{
	struct trial *trial = &scene.jobs[i];
	struct ready ready = {0};

	for (int k = 0; k < trial->naccesses; k++) {
		struct use *use = &trial->uses[k];

		if (!is_write(use) || (commutes(use) && !use->unordered))
			continue;
		use->mode = STARPU_R;
		deps_downgrade_access(&trial->job->accesses[k], &ready);
		ready_run(scene.node, &ready);
		return;
	}
}

static unsigned draw_mode(void)
{
	static const unsigned modes[] = {STARPU_R,
					 STARPU_R,
					 STARPU_W,
					 STARPU_RW,
					 STARPU_RW | STARPU_COMMUTE,
					 STARPU_RW | STARPU_COMMUTE,
					 STARPU_SCRATCH};

	return modes[draw(7)];
}

static void draw_uses(struct trial *trial, int kind)
{
	int first = (int)draw((unsigned)scene.ndata);
	int most = scene.ndata < MAX_ACCESSES ? scene.ndata : MAX_ACCESSES;

	trial->naccesses = (int)draw((unsigned)most + 1);
	for (int i = 0; i < trial->naccesses; i++)
		trial->uses[i] = (struct use){.datum = (first + i) % scene.ndata,
					      .mode = draw_mode(),
					      .unordered = kind == 0   ? 0
							   : kind == 1 ? 1
								       : (int)draw(2)};
}

static void create(int i)
{
	struct trial *trial = &scene.jobs[i];

	draw_uses(trial, (int)draw(3));
	trial->job = job_new(scene.node, &trial_ops, (unsigned)trial->naccesses);
	for (int k = 0; k < trial->naccesses; k++) {
		struct access *access = &trial->job->accesses[k];

		*access = (struct access){.job = trial->job,
					  .datum = scene.data[trial->uses[k].datum],
					  .mode = (unsigned short)trial->uses[k].mode};
		if (trial->uses[k].mode & STARPU_SCRATCH)
			access_skip(access);
		else if (trial->uses[k].unordered)
			access->mode |= ACCESS_UNORDERED;
	}
	deps_merge(trial->job);
	trial->nbefore = i && draw(3) == 0 ? (int)draw(MAX_BEFORE + 1) : 0;
	for (int k = 0; k < trial->nbefore; k++) {
		trial->before[k] = (int)draw((unsigned)i);
		links_declare(trial->job, scene.jobs[trial->before[k]].job, 0);
	}
}

/* Whether it carries a tag is the task's to say. */
static void arm(struct job *job)
{
	struct starpu_task task = {0};

	job->task = &task;
	links_arm(job, 0);
	job->task = NULL;
}

static void submit_next(void)
{
	int i = scene.nsubmitted;
	struct ready ready = {0};

	create(i);
	scene.nsubmitted++;
	scene.jobs[i].state = SUBMITTED;
	scene.jobs[i].job->life = LIFE_SUBMITTED;
	if (scene.jobs[i].job->point)
		arm(scene.jobs[i].job);
	deps_submit(scene.jobs[i].job, 1, &ready);
	job_satisfy(scene.jobs[i].job, &ready);
	ready_run(scene.node, &ready);
}

/* A job in that state, drawn at random, or -1. */
static int draw_in(enum state state)
{
	int from = scene.nsubmitted ? (int)draw((unsigned)scene.nsubmitted) : 0;

	for (int i = 0; i < scene.nsubmitted; i++) {
		int k = (from + i) % scene.nsubmitted;

		if (scene.jobs[k].state == state)
			return k;
	}
	return -1;
}

/* 1: something was done. */
static int play_one(void)
{
	int i;

	switch (draw(5)) {
	case 0:
	case 1:
		if (scene.nsubmitted == scene.njobs)
			return 0;
		submit_next();
		return 1;
	case 2:
		i = draw_in(TAKEABLE);
		if (i >= 0)
			take_one(i);
		return i >= 0;
	case 3:
		i = draw_in(RUNNING);
		if (i >= 0)
			end_one(i);
		return i >= 0;
	default:
		i = draw(4) == 0 ? draw_in(RUNNING) : -1;
		if (i >= 0)
			downgrade_one(i);
		return i >= 0;
	}
}

static void open_scene(unsigned seed)
{
	scene = (struct scene){.seed = seed, .random = seed * 2654435761u + 1};
	scene.node = plat_self();
	scene.ndata = 1 + (int)draw(MAX_DATA);
	scene.njobs = 2 + (int)draw(MAX_JOBS - 2);
	scene.late = (int)draw(2);
	for (int i = 0; i < scene.ndata; i++)
		starpu_void_data_register(&scene.data[i]);
}

static void close_scene(void)
{
	for (int i = 0; i < scene.njobs; i++) {
		if (scene.jobs[i].state != ENDED)
			complain("it never ran", i, hindrance(i));
		job_free(scene.jobs[i].job);
	}
	for (int i = 0; i < scene.ndata; i++) {
		assert_int_equal(data_body(scene.data[i])->npending, 0);
		assert_int_equal(data_body(scene.data[i])->nholders, 0);
		starpu_data_unregister(scene.data[i]);
	}
}

static void play(unsigned seed)
{
	open_scene(seed);
	for (int idle = 0; idle < 200;) {
		idle = play_one() ? 0 : idle + 1;
		check_all();
	}
	close_scene();
}

static void random_jobs(void **state)
{
	const char *first = getenv("DEPS_SEED"), *count = getenv("DEPS_SEEDS");
	unsigned seed = first ? (unsigned)atoi(first) : 1;
	unsigned n = count ? (unsigned)atoi(count) : first ? 1 : 500;
	struct starpu_conf conf;

	(void)state;
	fake_start(1, 1e-6, 1e9);
	starpu_conf_init(&conf);
	assert_int_equal(starpu_init(&conf), 0);
	for (unsigned i = 0; i < n; i++)
		play(seed + i);
	starpu_shutdown();
	fake_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_jobs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
