/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A slave, or its master, is killed, where the launcher lets the others live.
 * usage: lost_slaves a_slave|the_master, with STARPU_NMPI_MS
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <starpu.h>

enum { NTASKS = 200, FATAL = 100 };

void lost_slaves_kernel(void *buffers[], void *arg);

void lost_slaves_kernel(void *buffers[], void *arg)
{
	int task, dies;

	(void)buffers;
	starpu_codelet_unpack_args(arg, &task, &dies);
	if (dies && task >= FATAL)
		raise(SIGKILL);
}

static struct starpu_codelet kernel = {.cpu_funcs = {lost_slaves_kernel},
				       .cpu_funcs_name = {"lost_slaves_kernel"},
				       .model = &starpu_perfmodel_nop,
				       .name = "kernel"};

int main(int argc, char **argv)
{
	int dies = argc == 2 && strcmp(argv[1], "a_slave") == 0;

	/* The master has no workers of its own. */
	if (starpu_initialize(NULL, &argc, &argv))
		return 77;
	for (int i = 0; i < NTASKS; i++) {
		starpu_task_insert(&kernel, STARPU_VALUE, &i, sizeof(i), STARPU_VALUE,
				   &dies, sizeof(dies), 0);
		if (!dies && i == FATAL) {
			starpu_task_wait_for_all();
			raise(SIGKILL);
		}
	}
	starpu_task_wait_for_all();
	printf("ends well\n");
	starpu_shutdown();
	return 0;
}
