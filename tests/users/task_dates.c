/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What profiling says of short tasks, some in a row, some alone: no date of a task is
 * before one that comes before it. */
#include <starpu.h>

enum { NTASKS = 20, NCHAINED = 10, NDATES = 12 };

static void work(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet chained = {.cpu_funcs = {work},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.model = &starpu_perfmodel_nop,
					.flags = STARPU_CODELET_SIMGRID_EXECUTE};
static struct starpu_codelet alone = {.cpu_funcs = {work},
				      .model = &starpu_perfmodel_nop,
				      .flags = STARPU_CODELET_SIMGRID_EXECUTE};

static int check(int task, struct starpu_profiling_task_info *info)
{
	struct timespec *dates[NDATES] = {&info->submit_time,
					  &info->push_start_time,
					  &info->push_end_time,
					  &info->pop_start_time,
					  &info->pop_end_time,
					  &info->acquire_data_start_time,
					  &info->acquire_data_end_time,
					  &info->start_time,
					  &info->end_time,
					  &info->release_data_start_time,
					  &info->release_data_end_time,
					  &info->callback_start_time};
	int nwrong = 0;

	for (int i = 1; i < NDATES; i++) {
		double before_us = starpu_timing_timespec_to_us(dates[i - 1]);
		double after_us = starpu_timing_timespec_to_us(dates[i]);

		/* Tasks without callbacks have no date of them. */
		if (after_us != 0 && after_us < before_us) {
			printf("task %d: date %d is %.3f us, the one before %.3f us\n",
			       task, i, after_us, before_us);
			nwrong++;
		}
	}
	return nwrong;
}

int main(void)
{
	struct starpu_task *tasks[NTASKS];
	starpu_data_handle_t handle;
	int ret = starpu_init(NULL), value = 0, nwrong = 0;

	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_init");
	starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int i = 0; i < NTASKS; i++) {
		struct starpu_task *task = tasks[i] = starpu_task_create();

		task->cl = i < NCHAINED ? &chained : &alone;
		if (i < NCHAINED)
			task->handles[0] = handle;
		task->detach = task->destroy = 0;
		ret = starpu_task_submit(task);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
	}
	for (int i = 0; i < NTASKS; i++) {
		ret = starpu_task_wait(tasks[i]);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_wait");
		nwrong += check(i, tasks[i]->profiling_info);
		starpu_task_destroy(tasks[i]);
	}
	starpu_data_unregister(handle);
	starpu_shutdown();
	return nwrong != 0;
}
