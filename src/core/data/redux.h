/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_REDUX_H
#define ORR_CORE_DATA_REDUX_H

/*
 * redux.h - reductions: tasks contribute to a datum without waiting for each other.
 *
 * Contributions (STARPU_REDUX) are a kind of group (core/task/turns.h).  Each worker that
 * executes some has a datum of its own for them, made when it fetches for the first, and
 * set to the neutral element before the first kernel.  When an access of another kind is
 * next, the datum is held back until tasks have combined its value, if it has one, and
 * the workers' in a tree.  Who reads before anybody wrote or contributed gets the neutral
 * element.
 *
 * A contribution out of order is an update that commutes; only when there is no value
 * yet, it begins with the neutral element.
 */
#include "core/data/data.h"

struct worker;

/* What starpu_data_set_reduction_methods() says; NULL: not needed by the application. */
struct redux_methods {
	struct starpu_codelet *combine, *init;
	void *combine_arg, *init_arg;
};

/* And of its parts.  Any thread; there are no contributions that are not combined. */
void redux_set(starpu_data_handle_t handle, const struct redux_methods *methods);
/* A part is reduced as its parent. */
void redux_inherit(starpu_data_handle_t parent, starpu_data_handle_t part);
/* What was set, or NULL. */
const struct redux_methods *redux_methods(starpu_data_handle_t handle);
void redux_free(struct redux *redux);

/*
 * A task that contributes (job->contributes) is being submitted: its accesses are filled
 * in, but not merged.  Ends the program when a datum has no methods.
 */
void redux_admit(struct job *job);
/*
 * A codelet that combines may want a third buffer, as scratch: give its task a datum of
 * the shape of like.  It is returned, to be unregistered once the task is submitted, or
 * NULL: none is wanted.
 */
starpu_data_handle_t redux_give_scratch(struct starpu_task *task,
					starpu_data_handle_t like);
/* The datum where the access's contribution goes: its worker's own.  The worker calls,
 * or who acts for it. */
starpu_data_handle_t redux_target(const struct access *access);
/*
 * What the worker has to execute before job, whose data are there: the job of setting
 * a datum to the neutral element; NULL: nothing.  Given back by redux_executed(), which
 * returns job.
 */
struct job *redux_prelude(struct worker *worker, struct job *job);
struct job *redux_executed(struct job *prelude);
int redux_is_prelude(const struct job *job);

#endif
