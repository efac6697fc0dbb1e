/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Lists of tasks, linked by the fields prev and next: a task is in one list at
 * a time, and in none while the library owns it.  The caller locks.
 */

#ifndef STARPU_TASK_LIST_H
#define STARPU_TASK_LIST_H

#include <starpu_task.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STARPU_TASK_LIST_INLINE static __starpu_inline

struct starpu_task_list {
	struct starpu_task *head;
	struct starpu_task *tail;
};

/** Make the list empty. */
STARPU_TASK_LIST_INLINE void starpu_task_list_init(struct starpu_task_list *list)
{
	list->head = NULL;
	list->tail = NULL;
}

/** Add a task before the first. */
STARPU_TASK_LIST_INLINE void starpu_task_list_push_front(struct starpu_task_list *list,
							 struct starpu_task *task)
{
	task->prev = NULL;
	task->next = list->head;
	if (list->head)
		list->head->prev = task;
	else
		list->tail = task;
	list->head = task;
}

/** Add a task after the last. */
STARPU_TASK_LIST_INLINE void starpu_task_list_push_back(struct starpu_task_list *list,
							struct starpu_task *task)
{
	task->next = NULL;
	task->prev = list->tail;
	if (list->tail)
		list->tail->next = task;
	else
		list->head = task;
	list->tail = task;
}

/** The first task, NULL when there is none. */
STARPU_TASK_LIST_INLINE struct starpu_task *
starpu_task_list_front(const struct starpu_task_list *list)
{
	return list->head;
}

/** The last task, NULL when there is none. */
STARPU_TASK_LIST_INLINE struct starpu_task *
starpu_task_list_back(const struct starpu_task_list *list)
{
	return list->tail;
}

/** Whether the list is empty. */
STARPU_TASK_LIST_INLINE int starpu_task_list_empty(const struct starpu_task_list *list)
{
	return list->head == NULL;
}

/** Take a task, which must be in the list, out of it. */
STARPU_TASK_LIST_INLINE void starpu_task_list_erase(struct starpu_task_list *list,
						    struct starpu_task *task)
{
	if (task->prev)
		task->prev->next = task->next;
	else
		list->head = task->next;
	if (task->next)
		task->next->prev = task->prev;
	else
		list->tail = task->prev;
	task->prev = NULL;
	task->next = NULL;
}

/** Take the first task out; NULL when there is none. */
STARPU_TASK_LIST_INLINE struct starpu_task *
starpu_task_list_pop_front(struct starpu_task_list *list)
{
	struct starpu_task *task = list->head;

	if (task)
		starpu_task_list_erase(list, task);
	return task;
}

/** Take the last task out; NULL when there is none. */
STARPU_TASK_LIST_INLINE struct starpu_task *
starpu_task_list_pop_back(struct starpu_task_list *list)
{
	struct starpu_task *task = list->tail;

	if (task)
		starpu_task_list_erase(list, task);
	return task;
}

/** Where a walk starts. */
STARPU_TASK_LIST_INLINE struct starpu_task *
starpu_task_list_begin(const struct starpu_task_list *list)
{
	return list->head;
}

/** Where a walk ends, behind the last task: NULL. */
STARPU_TASK_LIST_INLINE struct starpu_task *
starpu_task_list_end(const struct starpu_task_list *list STARPU_ATTRIBUTE_UNUSED)
{
	return NULL;
}

/** The task behind this one, NULL behind the last. */
STARPU_TASK_LIST_INLINE struct starpu_task *
starpu_task_list_next(const struct starpu_task *task)
{
	return task->next;
}

/** Whether the task look is in the list; walks it. */
STARPU_TASK_LIST_INLINE int starpu_task_list_ismember(const struct starpu_task_list *list,
						      const struct starpu_task *look)
{
	const struct starpu_task *task;

	for (task = list->head; task; task = task->next)
		if (task == look)
			return 1;
	return 0;
}

/** Append all tasks of lsrc to ldst and leave lsrc empty. */
STARPU_TASK_LIST_INLINE void starpu_task_list_move(struct starpu_task_list *ldst,
						   struct starpu_task_list *lsrc)
{
	if (!lsrc->head)
		return;
	lsrc->head->prev = ldst->tail;
	if (ldst->tail)
		ldst->tail->next = lsrc->head;
	else
		ldst->head = lsrc->head;
	ldst->tail = lsrc->tail;
	starpu_task_list_init(lsrc);
}

#ifdef __cplusplus
}
#endif

#endif /* STARPU_TASK_LIST_H */
