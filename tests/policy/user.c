/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Runs 20 tasks under whatever policy, then 10 in a context whose policy is named by the
 * argument. */
#include <starpu.h>
#include <starpu_scheduler.h>

static void work(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet cl = {.cpu_funcs = {work},
				   .cpu_funcs_name = {"work"},
				   .flags = STARPU_CODELET_SIMGRID_EXECUTE};

int main(int argc, char **argv)
{
	int worker = 0;
	unsigned id;

	if (starpu_init(NULL) != 0)
		return 77;
	printf("policy %s\n", starpu_sched_get_sched_policy()->policy_name);
	for (int i = 0; i < 20; i++)
		if (starpu_task_insert(&cl, 0) != 0)
			return 1;
	starpu_task_wait_for_all();
	if (argc > 1) {
		id = starpu_sched_ctx_create(&worker, 1, "ours",
					     STARPU_SCHED_CTX_POLICY_NAME, argv[1], 0);
		for (int i = 0; i < 10; i++)
			if (starpu_task_insert(&cl, STARPU_SCHED_CTX, id, 0) != 0)
				return 1;
		starpu_task_wait_for_all();
		starpu_sched_ctx_delete(id);
	}
	starpu_shutdown();
	return 0;
}
