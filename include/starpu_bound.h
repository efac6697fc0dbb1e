/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A lower bound of the time that tasks take on the workers of this node, whatever the
 * scheduler: a linear program over the tasks that are submitted between a start and a
 * stop.  Durations are those that the performance models expect, in milliseconds; what
 * moves between memories and nodes takes no time in it.  Of the linear programs: Agullo,
 * Beaumont, Eyraud-Dubois, Kumar, "Are Static Schedules so Bad?" (IPDPS 2016).
 *
 * Between starpu_init() and starpu_shutdown(); starpu_bound_start() and _stop() and what
 * is printed and computed by one thread at a time, while other threads may submit.  In
 * simulation, and with MPI, each rank records its own tasks.
 */

/* Programs that include this file first rely on it for all the others. */
#include <starpu.h>

#ifndef STARPU_BOUND_H
#define STARPU_BOUND_H

#include <stdio.h>

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Forget what was recorded, and record the tasks submitted from now on.  deps: also what
 * they wait for, through data, tags and declarations made from now on; prio (only with
 * deps): also their priorities.  Without deps only numbers of tasks are kept.
 */
void starpu_bound_start(int deps, int prio);
/** Record no more.  Without a start: nothing happens. */
void starpu_bound_stop(void);

/** The recorded graph in the language of Graphviz; complains when it was started without
 * deps. */
void starpu_bound_print_dot(FILE *output);
/**
 * The bound.  *res: with tasks that may be divided (relaxed), in ms; with integer != 0
 * *integer_res: with whole tasks, no smaller.  With deps, integer != 0 says also that a
 * worker runs one task at a time, and with prio that urgent tasks go first; its solution
 * takes long for more than some tens of tasks.  Either may be NULL.
 *
 * Both are 0 when nothing was recorded, when a task's model is not calibrated (a message
 * names it; set STARPU_CALIBRATE=1), and in a library that was not configured with
 * --with-glpk (a message says so).  Tasks without a model take no time.  Codelets and
 * models of the recorded tasks must still be there.
 */
void starpu_bound_compute(double *res, double *integer_res, int integer);
/** The linear program, for lp_solve. */
void starpu_bound_print_lp(FILE *output);
/** The same in the fixed format of MPS, which glpsol and others read. */
void starpu_bound_print_mps(FILE *output);
/** The recorded tasks, the bound, how long it was recorded, and where tasks are to run
 * for the bound. */
void starpu_bound_print(FILE *output, int integer);

#ifdef __cplusplus
}
#endif

#endif
