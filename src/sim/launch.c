/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <math.h>
#include <stdlib.h>

#include "core/model/model.h"
#include "core/model/roofline.h"
#include "core/task/task.h"
#include "base/check.h"
#include "sim.h"

/*
 * launch.c - what the driver of a GPU needs to start kernels.
 *
 * It starts one after the other, each for some time (gpu_launch of the platform), as soon
 * as the task's data are there and the stream has room, which is STARPU_CUDA_PIPELINE
 * kernels with the one that runs.  A kernel begins when it has been launched, and gpu_gap
 * after the one before has ended: so what its launch takes shows where the GPU had
 * nothing to do, and where kernels take less.  Functions that launch many kernels
 * (gpu_launches) keep the driver for longer, while the first of these run.
 */
enum { MOST_AHEAD = 8 };

struct launches {
	int n; /* on the stream behind the one that runs */
	struct {
		const struct job *job;
		double launched_s;
	} ahead[MOST_AHEAD];
	double driver_until_s;
};

static const struct plat_gpu_kernels *kernels_of(const struct worker *worker)
{
	return device_pace(worker->node->machine, &worker->device)->kernels;
}

/* Beyond the first kernel. */
static double more_launches_s(struct worker *worker, const struct job *job)
{
	const struct plat_gpu_kernels *kernels = kernels_of(worker);
	const struct plat_kernel *named =
		job->task->cl ? roofline_named(&kernels->launches, job->task) : NULL;

	if (!named)
		return 0;
	return named->root_s +
	       named->efficiency *
		       model_expect(worker, job->task, job->implementation).seconds;
}

static struct launches *launches_of(struct launches **at)
{
	if (!*at)
		*at = orr_alloc(sizeof(**at));
	return *at;
}

/* When the kernel may begin: after what the driver has to launch already. */
static double launch(struct launches *launches, struct worker *worker,
		     const struct job *job)
{
	double now_s = plat_now_s(worker->node->plat);
	double done_s =
		fmax(launches->driver_until_s, now_s) + kernels_of(worker)->launch_s;

	launches->driver_until_s = done_s + more_launches_s(worker, job);
	return done_s;
}

static int find(const struct launches *launches, const struct job *job)
{
	int i = 0;

	while (i < launches->n && launches->ahead[i].job != job)
		i++;
	return i;
}

/* A job leaves its worker's pipeline only at its end, whatever the worker is told
 * meanwhile; so what was launched has begun. */
void launches_free(struct launches *launches)
{
	ORR_ASSERT(!launches || launches->n == 0);
	free(launches);
}

double launch_begin_s(struct launches **at, struct worker *worker, const struct job *job,
		      double ended_s)
{
	struct launches *launches = launches_of(at);
	double free_s = ended_s + kernels_of(worker)->gap_s, launched_s;
	int i = find(launches, job);

	if (i == launches->n)
		return fmax(launch(launches, worker, job), free_s);
	launched_s = launches->ahead[i].launched_s;
	for (launches->n--; i < launches->n; i++)
		launches->ahead[i] = launches->ahead[i + 1];
	return fmax(launched_s, free_s);
}

static int is_async(const struct job *job)
{
	return job->task->cl &&
	       (job->task->cl->cuda_flags[job->implementation] & STARPU_CUDA_ASYNC) != 0;
}

void launch_ahead(struct launches **at, struct worker *worker, const struct job *running)
{
	struct launches *launches = launches_of(at);
	int room = node_knobs(worker->node)->cuda_pipeline - 1;
	const struct job *last =
		launches->n > 0 ? launches->ahead[launches->n - 1].job : running;

	room = room < MOST_AHEAD ? room : MOST_AHEAD;
	/* Behind a kernel that waits for its work nothing is started. */
	for (int i = 0; i < worker->npipeline && launches->n < room && is_async(last);
	     i++) {
		const struct job *job = worker->pipeline[i];

		if (job == running || orr_load(&job->nfetching) != 0 ||
		    find(launches, job) < launches->n)
			continue;
		launches->ahead[launches->n].job = last = job;
		launches->ahead[launches->n++].launched_s = launch(launches, worker, job);
	}
}
