/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A pipeline whose stages follow one another by tags only, no data. */
#include <starpu.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ITEMS            16
#define STAGES           4
#define TAG(item, stage) ((starpu_tag_t)(((uint64_t)(stage) << 32) | (unsigned)(item)))

static int reached[ITEMS];
static int disorder;

static void stage_cpu(void *descr[], void *arg)
{
	uintptr_t where = (uintptr_t)arg;
	int item = where / STAGES, stage = where % STAGES;

	(void)descr;
	if (reached[item] != stage)
		disorder = 1;
	/* The last stage of an item comes after those of all items before it. */
	if (stage == STAGES - 1 && item > 0 && reached[item - 1] != STAGES)
		disorder = 1;
	reached[item] = stage + 1;
}

static struct starpu_codelet stage_cl = {
	.cpu_funcs = {stage_cpu},
	.nbuffers = 0,
	.model = &starpu_perfmodel_nop,
};

static int submit(int item, int stage)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &stage_cl;
	task->cl_arg = (void *)(uintptr_t)(item * STAGES + stage);
	task->use_tag = 1;
	task->tag_id = TAG(item, stage);
	if (stage == STAGES - 1 && item > 0)
		starpu_tag_declare_deps(TAG(item, stage), 2, TAG(item, stage - 1),
					TAG(item - 1, stage));
	else if (stage > 0)
		starpu_tag_declare_deps(TAG(item, stage), 1, TAG(item, stage - 1));
	else /* the first stages wait for the start of the application */
		starpu_tag_declare_deps(TAG(item, stage), 1, TAG(0, STAGES));
	return starpu_task_submit(task);
}

static int round_of_items(void)
{
	starpu_tag_t last[ITEMS];
	int item, stage, ret;

	for (item = 0; item < ITEMS; item++) {
		reached[item] = 0;
		last[item] = TAG(item, STAGES - 1);
	}
	/* Late stages first: a task may wait for a tag that is not submitted yet. */
	for (stage = STAGES - 1; stage >= 0; stage--)
		for (item = 0; item < ITEMS; item++) {
			ret = submit(item, stage);
			if (ret == -ENODEV)
				return ret;
			STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
		}
	STARPU_ASSERT(reached[0] == 0);
	starpu_tag_notify_from_apps(TAG(0, STAGES));
	ret = starpu_tag_wait(TAG(ITEMS - 1, STAGES - 1));
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_tag_wait");
	ret = starpu_tag_wait_array(ITEMS, last);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_tag_wait_array");
	ret = starpu_task_wait_for_all();
	for (stage = 0; stage <= STAGES; stage++)
		for (item = 0; item < ITEMS; item++)
			if (stage < STAGES || item == 0)
				starpu_tag_remove(TAG(item, stage));
	return ret;
}

int main(void)
{
	int ret = starpu_init(NULL), i, ok = 1;

	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_init");
	for (i = 0; i < 3 && ret == 0; i++)
		ret = round_of_items();
	starpu_shutdown();
	if (ret == -ENODEV)
		return 77;
	for (i = 0; i < ITEMS; i++)
		ok &= reached[i] == STAGES;
#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES"))
		ok = 1;
#endif
	return ok && !disorder ? 0 : 1;
}
