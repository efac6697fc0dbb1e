/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A program for tests/cli/trace_formats.py: tasks whose names say what they wait for. */
#include <stdint.h>

#include <starpu.h>

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
					.symbol = "graph_of_tasks"};
static struct starpu_codelet on_one = {.cpu_funcs = {nothing},
				       .cpu_funcs_name = {"nothing"},
				       .nbuffers = STARPU_VARIABLE_NBUFFERS,
				       .model = &model,
				       .flags = STARPU_CODELET_SIMGRID_EXECUTE};
static struct starpu_codelet alone = {.cpu_funcs = {nothing},
				      .cpu_funcs_name = {"nothing"},
				      .flags = STARPU_CODELET_SIMGRID_EXECUTE};

static void on(starpu_data_handle_t handle, const char *name, unsigned mode)
{
	starpu_task_insert(&on_one, mode, handle, STARPU_NAME, name, 0);
}

static struct starpu_task *task_of(const char *name)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &alone;
	task->name = name;
	return task;
}

static int submit(struct starpu_task *task)
{
	return starpu_task_submit(task);
}

static int through_data(void)
{
	static int value;
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	on(handle, "a", STARPU_W);
	on(handle, "b<a", STARPU_R);
	on(handle, "c<a", STARPU_R);
	on(handle, "d<b,c", STARPU_RW);
	on(handle, "e<d", STARPU_RW | STARPU_COMMUTE);
	on(handle, "f<d", STARPU_RW | STARPU_COMMUTE);
	on(handle, "g<e,f", STARPU_R);
	starpu_data_unregister(handle);
	return 0;
}

static int declared(void)
{
	struct starpu_task *first = task_of("h"), *last = task_of("i<h");
	struct starpu_task *tagged[3] = {task_of("j"), task_of("k<j"), task_of("l<j,k")};
	int failed = 0;

	starpu_task_declare_deps(last, 1, first);
	failed |= submit(last);
	failed |= submit(first);
	for (int i = 0; i < 3; i++) {
		tagged[i]->use_tag = 1;
		tagged[i]->tag_id = (starpu_tag_t)(100 + i);
	}
	starpu_tag_declare_deps(101, 1, (starpu_tag_t)100);
	starpu_tag_declare_deps(102, 2, (starpu_tag_t)100, (starpu_tag_t)101);
	for (int i = 2; i >= 0; i--)
		failed |= submit(tagged[i]);
	starpu_task_wait_for_all();
	return failed;
}

int main(void)
{
	int failed;

	if (starpu_init(NULL) != 0)
		return 77;
	failed = through_data() | declared();
	starpu_shutdown();
	return failed;
}
