/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "sched_by_hand.h"

static int is_for_odd_ones(unsigned worker, struct starpu_task *task,
			   unsigned implementation)
{
	(void)task;
	(void)implementation;
	return worker % 2 == 1;
}

static struct starpu_codelet odd = {.cpu_funcs = {note_worker},
				    .can_execute = is_for_odd_ones};

/* Pushed as by a worker, who keeps it. */
static void push_as(int worker, struct starpu_codelet *cl, int number)
{
	fake_get()->worker = &one.node->workers[worker];
	push(cl, number, 0);
	fake_get()->worker = NULL;
}

/* A queue counts as filled as long as anything is in it, for whomever. */
static void who_has_tasks_is_known(void **state)
{
	(void)state;
	by_hand("lws", 70, 0);
	assert_int_equal(pop(0), -1);
	push_as(69, &on_cpu, 1);
	push_as(69, &on_cpu, 2);
	push_as(3, &odd, 3);
	assert_int_equal(pop(0), 1);
	assert_int_equal(pop(66), 2);
	assert_int_equal(pop(66), -1);
	assert_int_equal(pop(1), 3);
	push_as(64, &anywhere, 4);
	assert_int_equal(pop(2), 4);
	assert_int_equal(pop(2), -1);
	one_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(who_has_tasks_is_known)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
