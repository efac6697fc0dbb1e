/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/energy.h"

#include "base/check.h"
#include "core/model/model.h"
#include "core/node.h"
#include "core/task/job.h"
#include "core/worker.h"

int energy_open(struct node *node)
{
	double joules;

	if (!node_knobs(node)->energy_profiling || node->machine->predicts)
		return 0;
	if (plat_energy_j(node->plat, NULL, &joules) == 0) {
		node->energy.seen_j = joules;
		return 1;
	}
	if (!node_knobs(node)->silent)
		orr_complain(node->rank,
			     "STARPU_ENERGY_PROFILING: no counters of energy can be read "
			     "here, expected Linux's of RAPL in ORRERY_POWERCAP, else "
			     "/sys/class/powercap, which most systems show to root "
			     "only; tasks have no energy but what their kernels note");
	return 0;
}

/* The energy is locked. */
static void look(struct node *node)
{
	struct energy *energy = &node->energy;
	double now_j;

	if (plat_energy_j(node->plat, NULL, &now_j) != 0)
		return;
	if (energy->nsharing > 0)
		energy->share_j += (now_j - energy->seen_j) / energy->nsharing;
	energy->seen_j = now_j;
}

double energy_begin(struct worker *worker)
{
	struct node *node = worker->node;
	double begun_j;

	orr_lock(&node->energy_lock);
	look(node);
	node->energy.nsharing++;
	begun_j = node->energy.share_j;
	orr_unlock(&node->energy_lock);
	return begun_j;
}

void energy_end(struct worker *worker, struct job *job, double begun_j)
{
	struct node *node = worker->node;
	struct starpu_profiling_task_info *info = job->task->profiling_info;

	orr_lock(&node->energy_lock);
	look(node);
	node->energy.nsharing--;
	worker->task_j = node->energy.share_j - begun_j;
	orr_unlock(&node->energy_lock);
	if (info && info->energy_consumed == 0)
		info->energy_consumed = worker->task_j;
}

double energy_of(const struct job *job)
{
	const struct starpu_profiling_task_info *info = job->task->profiling_info;

	return info && info->energy_consumed != 0 ? info->energy_consumed
						  : job->worker->task_j;
}

void energy_learn(struct worker *worker, struct job *job)
{
	double joules = energy_of(job);
	/* Where no kernel has run, it used nothing. */
	int has_run =
		worker_kernel(worker, job) && !node_knobs(worker->node)->disable_kernels;

	if (joules > 0 && has_run && !worker->node->machine->predicts)
		model_record_energy(worker, job->task, job->implementation, joules);
}
