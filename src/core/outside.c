/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/outside.h"

#include "base/check.h"
#include "base/process.h"
#include "core/node.h"
#include "core/task/task.h"

/* Of the C library since its version 2.2.5, and in no header any more; NULL in others. */
extern void _pthread_cleanup_push(struct outside_jump *buffer, void (*routine)(void *),
				  void *arg) __attribute__((weak));
extern void _pthread_cleanup_pop(struct outside_jump *buffer, int execute)
	__attribute__((weak));

__attribute__((noreturn)) static void refuse(const struct outside *outside,
					     const char *how)
{
	const struct starpu_task *task = outside->caller->task;

	orr_die(outside->node->rank,
		"%s%s%s%s is left by %s: the functions of the library that have called "
		"it would never go on.  Let it return: a jump or an exception must end "
		"inside of it, and may leave a note for who waits in main",
		outside->what, task ? " of task \"" : "", task ? task_name(task) : "",
		task ? "\"" : "", how);
}

static void on_jump(void *arg)
{
	const struct outside *outside = arg;

	if (outside->what)
		refuse(outside, "longjmp() or the end of its thread");
}

void outside_begin(struct outside *outside, const struct node *node,
		   struct plat_caller *caller, const char *what)
{
	outside->outer = caller->outside;
	outside->caller = caller;
	outside->node = node;
	outside->what = what;
	caller->outside = outside;
	if (_pthread_cleanup_push)
		_pthread_cleanup_push(&outside->jump, on_jump, outside);
}

/* Programs with several stacks for one thread may leave a call before a later one has
 * ended on another stack. */
static void unlink_below(struct outside *outside)
{
	struct outside *later = outside->caller->outside;

	while (later && later->outer != outside)
		later = later->outer;
	if (!later)
		return;
	later->outer = outside->outer;
	if (later->jump.outer == &outside->jump)
		later->jump.outer = outside->jump.outer;
}

void outside_enter(struct outside *outside, const struct node *node, const char *what)
{
	/* Before there is a machine nobody waits. */
	if (node && node->plat)
		outside_begin(outside, node, plat_caller(node->plat), what);
}

void outside_end(struct outside *outside)
{
	if (!outside->what)
		return;
	outside->what = NULL;
	if (outside->caller->outside != outside) {
		unlink_below(outside);
		return;
	}
	outside->caller->outside = outside->outer;
	if (_pthread_cleanup_pop)
		_pthread_cleanup_pop(&outside->jump, 0);
}

void outside_check(struct outside *outside)
{
	if (outside->what)
		refuse(outside, "an exception of C++");
}

void outside_refuse(const struct plat_caller *caller, const char *how)
{
	if (caller && caller->outside)
		refuse(caller->outside, how);
}

void outside_look(const struct plat_caller *caller)
{
	if (caller->outside && process_is_first_stack(__builtin_frame_address(0)) &&
	    !process_is_first_stack(caller->outside))
		refuse(caller->outside, "longjmp()");
}

void outside_forget(struct plat_caller *caller)
{
	for (; caller->outside; caller->outside = caller->outside->outer)
		caller->outside->what = NULL;
}

struct outside_jump *outside_put_aside(void)
{
	struct outside_jump first = {.outer = NULL};
	struct outside_jump *list;

	if (!_pthread_cleanup_push)
		return NULL;
	_pthread_cleanup_push(&first, on_jump, NULL);
	list = first.outer;
	first.outer = NULL;
	_pthread_cleanup_pop(&first, 0);
	return list;
}

void outside_put_back(struct outside_jump *list)
{
	struct outside_jump first = {.outer = list};

	if (list)
		_pthread_cleanup_pop(&first, 0);
}
