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
 */
#include "core/worker.h"

/* Bytes of an element of the first buffer; 0 when it does not say. */
size_t roofline_element_bytes(struct starpu_task *task);
/* Seconds of task on worker; 0: no flops are given, or no peak is declared. */
double roofline_seconds(const struct worker *worker, struct starpu_task *task);
/* The law itself, for an architecture, a peak and a number of flops above 0. */
double roofline_law_s(enum starpu_worker_archtype type, double peak_flops_per_s,
		      double flops);

#endif
