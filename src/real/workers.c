/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/check.h"
#include "core/model/model.h"
#include "core/drive.h"
#include "core/lasting.h"
#include "real/real.h"

enum {
	REST_POLLS = 3,  /* of the network, by a worker out of work */
	REST_YIELDS = 30 /* before the sleep: a chain of small tasks needs no futex */
};

int plat_worker_wake(struct worker *worker)
{
	int parked;

	/* Whatever was pushed for the worker is visible before its mark is read. */
	orr_fence();
	if (!orr_load(&worker->parked))
		return 0;
	parked = __atomic_exchange_n(&worker->parked, 0, __ATOMIC_SEQ_CST);
	if (parked == PARKED_ASLEEP)
		real_futex_wake(&worker->parked, 1);
	else if (parked == PARKED_POLLING)
		progress_wake(worker->backend);
	return parked != 0;
}

/* One of a remote driver: the job that has ended meanwhile, first. */
static int remote_step(struct worker *worker)
{
	struct job *job = orr_swap_ptr(&worker->ended, NULL);

	if (job)
		worker_executed(worker, job);
	return worker_step(worker) || job;
}

void plat_worker_ended(struct worker *worker, struct job *job)
{
	orr_swap_ptr(&worker->ended, job);
	plat_worker_wake(worker);
}

/* How a worker goes on; known where this is compiled, so that it costs nothing. */
typedef int step_func(struct worker *worker);

/* An idle worker lends its core to the network for a moment, if nobody polls. */
static inline int poll_a_little(struct plat *plat, struct worker *worker, step_func *step)
{
	for (int i = 0; i < REST_POLLS; i++) {
		if (orr_load(&plat->progress.npollers) > 0 || progress_poll(plat) < 0)
			return 0;
		if (step(worker))
			return 1;
		sched_yield();
	}
	return 0;
}

static int must_leave(struct plat *plat, const struct worker *worker)
{
	return orr_load(&plat->workers_stopping) || worker_is_dismissed(worker);
}

/* The worker found nothing to do: sleep until it is woken. */
static inline void rest(struct plat *plat, struct worker *worker, step_func *step)
{
	if (poll_a_little(plat, worker, step))
		return;
	__atomic_store_n(&worker->parked, PARKED_AWAKE, __ATOMIC_SEQ_CST);
	orr_fence();
	if (step(worker) || must_leave(plat, worker)) {
		orr_cas(&worker->parked, PARKED_AWAKE, 0);
		return;
	}
	for (int i = 0; i < REST_YIELDS; i++) {
		if (!orr_load(&worker->parked))
			return;
		sched_yield();
	}
	if (!orr_cas(&worker->parked, PARKED_AWAKE, PARKED_ASLEEP))
		return;
	while (orr_load(&worker->parked) == PARKED_ASLEEP)
		real_futex_wait(&worker->parked, PARKED_ASLEEP, 0);
}

int workers_awake(struct plat *plat)
{
	int n = 0;

	/* Who is not driven does nothing. */
	for (int i = 0; i < plat->nworkers; i++)
		n += orr_load(&plat->workers[i].parked) < PARKED_ASLEEP &&
		     !drive_is_missed(&plat->workers[i]);
	return n;
}

static void name_thread(struct worker *worker)
{
	char name[16];

	snprintf(name, sizeof(name), "orr-worker-%u", (unsigned)worker->id % 1000);
	prctl(PR_SET_NAME, name, 0, 0, 0);
}

static inline __attribute__((always_inline)) void
run_steps(struct plat *plat, struct worker *worker, step_func *step)
{
	do {
		while (step(worker) && !worker_is_dismissed(worker))
			continue;
		if (must_leave(plat, worker))
			return;
		rest(plat, worker, step);
	} while (1);
}

static void run_worker(struct plat *plat, struct worker *worker)
{
	if (worker->driver->is_remote)
		run_steps(plat, worker, remote_step);
	else
		run_steps(plat, worker, worker_step);
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct plat *plat = worker->backend;

	pthread_setspecific(real_get()->caller, &worker->caller);
	name_thread(worker);
	if (worker->driver->begin)
		worker->driver->begin(worker);
	if (plat->progress.worker == worker)
		interleaved_run(plat, worker);
	else
		run_worker(plat, worker);
	pthread_setspecific(real_get()->caller, NULL); /* It is the worker's. */
	return NULL;
}

static void run_once(struct plat *plat, struct worker *worker)
{
	uint64_t executed = worker->executed;
	step_func *step = worker->driver->is_remote ? remote_step : worker_step;

	while (worker->executed == executed && step(worker))
		continue;
	if (worker->executed != executed)
		return;
	if (orr_load(&plat->progress.npollers) == 0)
		progress_poll(plat);
	sched_yield();
}

int plat_worker_drive(struct worker *worker, int once)
{
	pthread_key_t key = real_get()->caller;
	struct plat_caller *own = pthread_getspecific(key);

	pthread_setspecific(key, &worker->caller);
	if (once)
		run_once(worker->backend, worker);
	else
		run_worker(worker->backend, worker);
	pthread_setspecific(key, own);
	return 0;
}

int plat_workers_start(struct plat *plat, struct worker *workers, int nworkers)
{
	plat->workers = workers;
	plat->workers_stopping = 0;
	interleaved_choose(plat, workers, nworkers);
	plat->threads = orr_alloc((size_t)nworkers * sizeof(*plat->threads));
	for (plat->nworkers = 0; plat->nworkers < nworkers; plat->nworkers++) {
		struct worker *worker = &workers[plat->nworkers];

		worker->backend = plat;
		if (orr_load(&worker->driven))
			continue;
		if (pthread_create(&plat->threads[plat->nworkers], NULL, worker_main,
				   worker) != 0) {
			orr_complain(plat->node->rank,
				     "the system refuses the thread of worker %d of %d; "
				     "use fewer (STARPU_NCPU) or raise ulimit -u or -v",
				     plat->nworkers, nworkers);
			plat_workers_stop(plat);
			return -EAGAIN;
		}
	}
	return 0;
}

void plat_workers_stop(struct plat *plat)
{
	orr_store(&plat->workers_stopping, 1);
	orr_fence();
	for (int i = 0; i < plat->nworkers; i++)
		plat_worker_wake(&plat->workers[i]);
	for (int i = 0; i < plat->nworkers; i++)
		if (!orr_load(&plat->workers[i].driven))
			pthread_join(plat->threads[i], NULL);
	free(plat->threads);
	plat->threads = NULL;
	plat->nworkers = 0;
}

struct worker *plat_current_worker(struct plat *plat)
{
	const struct plat_caller *caller = pthread_getspecific(real_get()->caller);

	(void)plat;
	return caller ? caller->worker : NULL;
}

struct plat_caller *plat_caller(struct plat *plat)
{
	struct plat_caller *caller = pthread_getspecific(real_get()->caller);

	(void)plat;
	if (caller)
		return caller;
	caller = orr_alloc(sizeof(*caller));
	pthread_setspecific(real_get()->caller, caller);
	return caller;
}

static void begin_on_core(struct worker *worker)
{
	struct plat *plat = worker->backend;

	cores_bind(plat, plat_worker_bindid(plat, worker->devid));
}

static int call_kernel(struct worker *worker, struct job *job)
{
	struct plat *plat = worker->backend;
	const struct knobs *knobs = node_knobs(worker->node);
	struct starpu_task *task = job->task, *previous = worker->caller.task;
	kernel_t kernel = worker_kernel(worker, job);
	/* Of a gang's calls that of its lead counts. */
	int counts = worker == job->worker || !job->worker;
	int timed = counts &&
		    (orr_load(&worker->node->lasting->profiling) || task->cl->model);
	double start_s = timed ? plat_now_s(plat) : 0;

	worker->caller.task = task;
	if (kernel && !knobs->disable_kernels)
		kernel(task->dyn_interfaces ? task->dyn_interfaces : task->interfaces,
		       task->cl_arg);
	worker->caller.task = previous;
	if (counts)
		job->duration_s = timed ? plat_now_s(plat) - start_s : 0;
	if (counts && task->cl->model && kernel && !knobs->disable_kernels)
		model_record(worker, task, job->implementation, job->duration_s);
	return 1;
}

const struct worker_driver cpu_driver = {.begin = begin_on_core, .execute = call_kernel};
