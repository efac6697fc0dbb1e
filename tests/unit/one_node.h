/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_UNIT_ONE_NODE_H
#define ORR_TESTS_UNIT_ONE_NODE_H

/*
 * one_node.h - one node on the fake platform, and tasks that write down their numbers.
 *
 * Included after cmocka.h.
 */
#include <starpu.h>

#include "core/task/task.h"
#include "fake.h"

enum { ONE_MAX_LOG = 1000 };

static struct {
	struct node *node;
	int nlog, log[ONE_MAX_LOG];
} one;

static inline void one_open(int ncpus, int ngpus, const char *policy)
{
	struct starpu_conf conf;

	fake_start(1, 1e-6, 1e9);
	fake_machine()->ncpus = ncpus;
	fake_machine()->ngpus = ngpus;
	starpu_conf_init(&conf);
	conf.sched_policy_name = policy;
	assert_int_equal(starpu_init(&conf), 0);
	one.node = plat_self();
	one.nlog = 0;
}

/* Nothing is left: neither submitted, nor in the pools. */
static inline void one_close(void)
{
	struct task_walk walk = {0};

	fake_run();
	assert_int_equal(node_nsubmitted(one.node), 0);
	assert_int_equal(one.node->nblocked, 0);
	assert_null(task_next_job(one.node, &walk));
	starpu_shutdown();
	fake_stop();
}

/* For cmocka: two cores under eager. */
static inline int one_setup(void **state)
{
	(void)state;
	one_open(2, 0, "eager");
	return 0;
}

static inline int one_teardown(void **state)
{
	(void)state;
	one_close();
	return 0;
}

static inline void one_note(int number)
{
	assert_true(one.nlog < ONE_MAX_LOG);
	one.log[one.nlog++] = number;
}

static inline void one_kernel(void *buffers[], void *arg)
{
	(void)buffers;
	one_note((int)(intptr_t)arg);
}

static inline void one_note_arg(void *arg)
{
	one_note((int)(intptr_t)arg);
}

/* What was written down since the last look, and nothing else. */
static inline void one_expect_log(int n, const int *numbers)
{
	for (int i = 0; i < n && i < one.nlog; i++)
		assert_int_equal(one.log[i], numbers[i]);
	assert_int_equal(one.nlog, n);
	one.nlog = 0;
}

#define ONE_EXPECT(...)                                                                  \
	one_expect_log((int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)),                \
		       (const int[]){__VA_ARGS__})
#define ONE_EXPECT_NOTHING() one_expect_log(0, NULL)

#endif
