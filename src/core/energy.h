/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_ENERGY_H
#define ORR_CORE_ENERGY_H

/*
 * energy.h - what each task used of what the packages of cores have used
 * (STARPU_ENERGY_PROFILING).
 *
 * The counters are those of whole packages, so what they count between two looks is
 * shared equally among the kernels that ran meanwhile; when none ran, it is nobody's.
 * There is a look when a kernel begins and when one ends.
 */
struct job;
struct node;
struct worker;

/* Embedded in the node; guarded by its energy_lock. */
struct energy {
	int nsharing;   /* kernels that run now */
	double seen_j;  /* the counters at the last look */
	double share_j; /* what a kernel would have had that ran since the first look */
};

/* Are the tasks of the node measured?  Says once why they cannot be. */
int energy_open(struct node *node);
/* The worker is about to call a kernel on a core.  Returns what energy_end() asks for. */
double energy_begin(struct worker *worker);
/* The kernel has returned: notes the joules for its task. */
void energy_end(struct worker *worker, struct job *job, double begun_j);
/* Joules of a task that has run, as its kernel or energy_end() has noted; 0: unknown. */
double energy_of(const struct job *job);
/* The task has ended: what was measured, by its kernel itself or by energy_end(), goes
 * into the energy model of its codelet where that is calibrated. */
void energy_learn(struct worker *worker, struct job *job);

#endif
