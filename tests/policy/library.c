/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A library of two policies, for STARPU_SCHED_LIB: last in, first out; and one that is
 * made of prio.  Each says at its end how many tasks it was given. */
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_scheduler.h>

struct stack {
	starpu_pthread_mutex_t mutex;
	struct starpu_task_list tasks;
	int npushed;
};

static void begin(unsigned id)
{
	struct stack *stack = calloc(1, sizeof(*stack));

	STARPU_PTHREAD_MUTEX_INIT(&stack->mutex, NULL);
	starpu_task_list_init(&stack->tasks);
	starpu_sched_ctx_set_policy_data(id, stack);
}

static void end(unsigned id)
{
	struct stack *stack = starpu_sched_ctx_get_policy_data(id);

	fprintf(stderr, "stacked %d tasks\n", stack->npushed);
	STARPU_PTHREAD_MUTEX_DESTROY(&stack->mutex);
	free(stack);
}

static int push(struct starpu_task *task)
{
	struct stack *stack = starpu_sched_ctx_get_policy_data(task->sched_ctx);

	STARPU_PTHREAD_MUTEX_LOCK(&stack->mutex);
	starpu_task_list_push_front(&stack->tasks, task);
	stack->npushed++;
	starpu_push_task_end(task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&stack->mutex);
	return 0;
}

static struct starpu_task *pop(unsigned id)
{
	struct stack *stack = starpu_sched_ctx_get_policy_data(id);
	struct starpu_task *task = NULL;

	STARPU_PTHREAD_MUTEX_LOCK(&stack->mutex);
	if (!starpu_task_list_empty(&stack->tasks))
		task = starpu_task_list_pop_front(&stack->tasks);
	STARPU_PTHREAD_MUTEX_UNLOCK(&stack->mutex);
	return task;
}

static struct starpu_sched_policy policy = {.init_sched = begin,
					    .deinit_sched = end,
					    .push_task = push,
					    .pop_task = pop,
					    .policy_name = "stacked",
					    .policy_description = "last in, first out"};

/* ---- made of prio ---------------------------------------------------- */

static struct starpu_sched_policy *prio;
static int ncounted;

static int push_counted(struct starpu_task *task)
{
	__atomic_add_fetch(&ncounted, 1, __ATOMIC_SEQ_CST);
	return prio->push_task(task);
}

static void end_counted(unsigned id)
{
	fprintf(stderr, "counted %d tasks\n", ncounted);
	prio->deinit_sched(id);
}

static struct starpu_sched_policy counted;

static struct starpu_sched_policy *make_counted(void)
{
	struct starpu_sched_policy **at = starpu_sched_get_predefined_policies();

	while (strcmp((*at)->policy_name, "prio") != 0)
		at++;
	prio = *at;
	counted = *prio;
	counted.push_task = push_counted;
	counted.deinit_sched = end_counted;
	counted.policy_name = "counted";
	counted.policy_description = "prio, counted";
	return &counted;
}

struct starpu_sched_policy *starpu_get_sched_lib_policy(const char *name)
{
	if (strcmp(name, "counted") == 0)
		return make_counted();
	return strcmp(name, policy.policy_name) == 0 ? &policy : NULL;
}

struct starpu_sched_policy **starpu_get_sched_lib_policies(void)
{
	static struct starpu_sched_policy *policies[] = {&policy, NULL};

	return policies;
}
