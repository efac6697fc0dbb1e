/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <starpu.h>

#include "core/node.h"
#include "core/watchdog.h"
#include "fake.h"

/* test_watchdog.c - what is said of a silence that may end by itself. */

enum { LOOKS = 100 };

static int is_busy(struct node *node)
{
	(void)node;
	return 1;
}

static int is_not_busy(struct node *node)
{
	(void)node;
	return 0;
}

/* Looks in vain, for long. */
static void look(int nawake, int (*on_busy)(struct node *node))
{
	struct watchdog_facts facts = {.nawake = nawake};
	struct starpu_conf conf;
	struct node *node;

	fake_start(1, 1e-6, 1e9);
	fake_select(0);
	starpu_conf_init(&conf);
	if (starpu_init(&conf) != 0)
		_exit(1);
	node = plat_self();
	node->on_busy = on_busy;
	for (int i = 1; i <= LOOKS; i++)
		if (watchdog_is_due(node, i * watchdog_period_s(node), 1))
			watchdog_look(node, &facts);
	_exit(0);
}

/* What a process of its own has said on stderr. */
static void said(char *text, size_t bytes, int nawake, int (*on_busy)(struct node *node))
{
	int ends[2], status;
	size_t n = 0;
	ssize_t more;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		look(nawake, on_busy);
	}
	close(ends[1]);
	while (n < bytes - 1 && (more = read(ends[0], text + n, bytes - 1 - n)) > 0)
		n += (size_t)more;
	text[n] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* No kernel runs where values travel. */
static void slow_messages_are_no_kernels(void **state)
{
	char text[2000];

	(void)state;
	said(text, sizeof(text), 0, is_busy);
	assert_non_null(strstr(text, "the run goes on: messages or values are on their "
				     "way between ranks"));
	assert_null(strstr(text, "a kernel"));
}

static void kernels_may_be_long(void **state)
{
	char text[2000];

	(void)state;
	said(text, sizeof(text), 1, is_not_busy);
	assert_non_null(strstr(text, "the run goes on: a kernel or a callback has not "
				     "returned"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_messages_are_no_kernels),
		cmocka_unit_test(kernels_may_be_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
