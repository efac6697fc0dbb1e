/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Explicit dependencies, between tasks and through tags.  Any thread may call
 * these functions; those that wait must not be called from a task or a callback.
 *
 * A dependency lasts as long as both sides exist, and holds again each time they are
 * submitted again or regenerated: the n-th run of a task, counted from the declaration,
 * waits for the n-th end of each task or tag that it depends on.
 */

#ifndef STARPU_TASK_DEP_H
#define STARPU_TASK_DEP_H

#include <stdint.h>

#include <starpu_config.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_task;

/** A number, chosen by the application, that tasks carry and wait for. */
typedef uint64_t starpu_tag_t;

/**
 * Let task, which must not be submitted yet, start only after the ndeps tasks
 * of task_array.  Those must still exist; ended ones count as satisfied.
 */
void starpu_task_declare_deps_array(struct starpu_task *task, unsigned ndeps,
				    struct starpu_task *task_array[]);

/** The same; the arguments are ndeps pointers to tasks. */
void starpu_task_declare_deps(struct starpu_task *task, unsigned ndeps, ...);

/**
 * Let task end, for those who wait for it or depend on it, only after the ends of
 * the ndeps tasks of task_array.  May be called until task's end, by its kernel for
 * instance.
 */
void starpu_task_declare_end_deps_array(struct starpu_task *task, unsigned ndeps,
					struct starpu_task *task_array[]);

/** The same; the arguments are ndeps pointers to tasks. */
void starpu_task_declare_end_deps(struct starpu_task *task, unsigned ndeps, ...);

/**
 * Store in task_array, up to ndeps of them, the tasks that were declared to start
 * after task; successors through data or tags are not among them.
 *
 * @return how many there are, which may be more than ndeps
 */
int starpu_task_get_task_succs(struct starpu_task *task, unsigned ndeps,
			       struct starpu_task *task_array[]);

/** The same for those that are submitted and have not ended. */
int starpu_task_get_task_scheduled_succs(struct starpu_task *task, unsigned ndeps,
					 struct starpu_task *task_array[]);

/**
 * Let the task end, for those who wait for it, only after nb_deps more calls of
 * starpu_task_end_dep_release.  Must be called before the task's end.
 */
void starpu_task_end_dep_add(struct starpu_task *t, int nb_deps);

/** Release one of the counted end dependencies. */
void starpu_task_end_dep_release(struct starpu_task *t);

/**
 * Let tag id be reached only after the ndeps others, each a starpu_tag_t.  Must
 * be called before the task that carries id is submitted; several calls add up.
 * What is declared or notified while the library is not initialised holds when it is.
 */
void starpu_tag_declare_deps(starpu_tag_t id, unsigned ndeps, ...);

/** The same with the others in an array. */
void starpu_tag_declare_deps_array(starpu_tag_t id, unsigned ndeps, starpu_tag_t *array);

/** Wait until the tag is reached; blocking; returns 0. */
int starpu_tag_wait(starpu_tag_t id);

/** Wait until all ntags tags are reached; blocking; returns 0. */
int starpu_tag_wait_array(unsigned ntags, starpu_tag_t *id);

/** Make a tag unreached again, keeping those who depend on it. */
void starpu_tag_restart(starpu_tag_t id);

/**
 * Free what the library keeps about a tag, dependencies included, any time: tasks
 * that wait for the tag need not any more, threads that do return.
 */
void starpu_tag_remove(starpu_tag_t id);

/** Reach a tag on behalf of the application; nothing when it is reached already. */
void starpu_tag_notify_from_apps(starpu_tag_t id);

/**
 * The same, and the tag can be reached again: call it once for each round of a
 * repeated graph.  A tag that is reached already only becomes unreached.
 */
void starpu_tag_notify_restart_from_apps(starpu_tag_t id);

/** The task that carries the tag, NULL when there is none. */
struct starpu_task *starpu_tag_get_task(starpu_tag_t id);

/** Free what the library keeps about all tags. */
void starpu_tag_clear(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_TASK_DEP_H */
