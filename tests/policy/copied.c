/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A policy that is a copy of a predefined one: as it is, with a push_task() of its own
 * that calls the other's, or with a hook; or with an init_sched() that forgets the
 * other's, or calls those of two. */
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_scheduler.h>

static struct starpu_sched_policy *original;
static int ncalls;

static int push(struct starpu_task *task)
{
	ncalls++;
	return original->push_task(task);
}

static void forget(unsigned ctx)
{
	(void)ctx;
}

static void call_two(unsigned ctx)
{
	original->init_sched(ctx);
	starpu_sched_get_predefined_policies()[0]->init_sched(ctx);
}

static void hook(struct starpu_task *task, unsigned ctx)
{
	(void)task;
	(void)ctx;
	__atomic_add_fetch(&ncalls, 1, __ATOMIC_SEQ_CST);
}

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
	struct starpu_sched_policy copy, **at = starpu_sched_get_predefined_policies();
	const char *how = argc > 1 ? argv[1] : "";
	struct starpu_conf conf;

	while (*at && strcmp((*at)->policy_name, "prio") != 0)
		at++;
	if (!*at)
		return 1;
	original = *at;
	copy = *original;
	if (strcmp(how, "push") == 0)
		copy.push_task = push;
	else if (strcmp(how, "hook") == 0)
		copy.pre_exec_hook = hook;
	else if (strcmp(how, "forget") == 0)
		copy.init_sched = forget;
	else if (strcmp(how, "two") == 0)
		copy.init_sched = call_two;
	else
		copy.policy_name = "copy";
	starpu_conf_init(&conf);
	conf.sched_policy = &copy;
	if (starpu_init(&conf) != 0)
		return 77;
	for (int i = 0; i < 20; i++)
		if (starpu_task_insert(&cl, 0) != 0)
			return 1;
	starpu_task_wait_for_all();
	printf("policy %s\n", starpu_sched_get_sched_policy()->policy_name);
	printf("%d calls\n", ncalls);
	starpu_shutdown();
	return 0;
}
