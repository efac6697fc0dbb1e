/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* StarPU started and stopped several times, configured by the environment. */
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>

static void count_cpu(void *descr[], void *arg)
{
	(void)arg;
	++*(int *)STARPU_VARIABLE_GET_PTR(descr[0]);
}

static struct starpu_codelet count_cl = {
	.cpu_func = STARPU_MULTIPLE_CPU_IMPLEMENTATIONS,
	.cpu_funcs = {count_cpu, NULL},
	.nbuffers = 1,
	.modes = {STARPU_RW},
	.model = &starpu_perfmodel_nop,
};

static const struct {
	const char *sched, *ncpu;
} rounds[] = {
	{"eager", "1"}, {"prio", "2"}, {"lws", "1"}, {"dmda", "2"}, {NULL, "1"},
};

static int one_round(int i)
{
	starpu_data_handle_t handle;
	int value = 0, ret, j;

	if (rounds[i].sched)
		setenv("STARPU_SCHED", rounds[i].sched, 1);
	else
		unsetenv("STARPU_SCHED");
	setenv("STARPU_NCPU", rounds[i].ncpu, 1);
	setenv("STARPU_NCPUS", rounds[i].ncpu, 1);
	if (starpu_is_initialized())
		return 1;
	ret = starpu_init(NULL);
	if (ret == -ENODEV)
		exit(77);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_init");
	if (!starpu_is_initialized() ||
	    starpu_worker_get_count_by_type(STARPU_CPU_WORKER) != atoi(rounds[i].ncpu) ||
	    starpu_cpu_worker_get_count() != (unsigned)atoi(rounds[i].ncpu))
		return 2;
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (j = 0; j < 30; j++) {
		if (j == 10)
			starpu_pause();
		ret = starpu_task_insert(&count_cl, STARPU_RW, handle, 0);
		if (ret == -ENODEV)
			exit(77);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
		if (j == 20)
			starpu_resume();
	}
	starpu_data_unregister(handle);
	starpu_shutdown();
#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES"))
		return 0;
#endif
	return value == 30 ? 0 : 3;
}

int main(void)
{
	unsigned i;
	int ret;

	for (i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		ret = one_round(i);
		if (ret) {
			fprintf(stderr, "round %u: %d\n", i, ret);
			return 1;
		}
	}
	return 0;
}
