/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_ROOFLINE_H
#define ORR_CORE_MODEL_ROOFLINE_H

/*
 * roofline.h - how long a kernel takes on a machine where nobody measured it.
 *
 *	seconds = flops / (peak * efficiency(flops))
 *	efficiency(flops) = e_max * flops / (flops + f_half),  f_half = peak * start_s
 *
 * that is, a start-up time of start_s / e_max, then a constant rate of e_max times
 * the declared peak.  It suits kernels bound by arithmetic, like matrix products;
 * it is a declaration, not a calibration, and counted as such.
 *
 * Factorisations of a block and triangular solves go column by column, and a GPU takes
 * much longer for them.  A machine may name such kernels by a word in the name of their
 * model (struct plat_kernel), with an efficiency in place of e_max and seconds for each
 * cube root of an operation, as a block of n columns has about n^3 of them:
 *
 *	seconds = start_s / e_max + flops / (peak * efficiency) + root_s * cbrt(flops)
 */
#include "core/worker.h"
#include "plat/plat.h"

/* Bytes of an element of the first buffer; 0 when it does not say. */
size_t roofline_element_bytes(struct starpu_task *task);
/* The first of these whose word is in the name of the task's model, or without one of
 * its codelet; NULL: none, or there are none. */
const struct plat_kernel *roofline_named(const struct plat_kernels *kernels,
					 const struct starpu_task *task);
/* Seconds of task on worker; 0: no flops are given, or no peak is declared. */
double roofline_seconds(const struct worker *worker, struct starpu_task *task);
/* The law itself, for an architecture, a peak and a number of flops above 0.  kernel:
 * what the machine says of such kernels, or NULL. */
double roofline_law_s(enum starpu_worker_archtype type, double peak_flops_per_s,
		      double flops, const struct plat_kernel *kernel);

#endif
