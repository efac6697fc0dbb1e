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
#include "core/energy.h"
#include "core/lasting.h"
#include "core/outside.h"
#include "core/tool.h"
#include "real/real.h"

int plat_worker_wake(struct worker *worker)
{
	struct plat *plat = worker->backend;
	int parked;

	/* Whatever was pushed for the worker is visible before its mark is read. */
	orr_fence();
	if (!orr_load(&worker->parked))
		return 0;
	orr_store(&plat->is_woken, 1);
	parked = __atomic_exchange_n(&worker->parked, 0, __ATOMIC_SEQ_CST);
	if (parked == PARKED_ASLEEP)
		real_futex_wake(&worker->parked, 1);
	else if (parked == PARKED_POLLING)
		progress_wake(plat);
	else if (parked == PARKED_IN_CREW)
		crew_wake(worker);
	return parked != 0;
}

/* The jobs of a remote driver that have ended meanwhile, the first one first. */
static int take_ended(struct worker *worker)
{
	struct job *job, *next, *first = NULL;

	if (!orr_load_ptr(&worker->ended))
		return -1;
	for (job = orr_swap_ptr(&worker->ended, NULL); job; job = next) {
		next = job->next;
		job->next = first;
		first = job;
	}
	for (; first; first = next) {
		next = first->next;
		worker_executed(worker, first);
	}
	return 1;
}

void plat_worker_ended(struct worker *worker, struct job *job)
{
	do
		job->next = orr_load_ptr(&worker->ended);
	while (!orr_cas_ptr(&worker->ended, job->next, job));
	plat_worker_wake(worker);
}

/* See struct worker_driver's poll. */
static int poll_driver(struct worker *worker)
{
	const struct worker_driver *driver = worker->driver;

	if (driver->is_remote)
		return take_ended(worker);
	return driver->poll ? driver->poll(worker) : -1;
}

int worker_turn(struct worker *worker)
{
	int advanced = worker_step(worker);

	return poll_driver(worker) > 0 || advanced;
}

static int must_leave(struct plat *plat, const struct worker *worker)
{
	return orr_load(&plat->workers_stopping) || worker_is_dismissed(worker);
}

/* The worker found nothing to do: sleep until it is woken. */
static void rest(struct plat *plat, struct worker *worker, struct helping *helping)
{
	if (!worker->driver->poll && helper_rest(plat, worker, helping))
		return;
	__atomic_store_n(&worker->parked, PARKED_AWAKE, __ATOMIC_SEQ_CST);
	orr_fence();
	if (worker_turn(worker) || must_leave(plat, worker)) {
		orr_cas(&worker->parked, PARKED_AWAKE, 0);
		return;
	}
	for (int i = 0; i < REST_YIELDS && orr_load(&worker->parked); i++)
		sched_yield();
	if (orr_cas(&worker->parked, PARKED_AWAKE, PARKED_ASLEEP)) {
		worker_tell_rest(worker, 1);
		while (orr_load(&worker->parked) == PARKED_ASLEEP)
			real_futex_wait(&worker->parked, PARKED_ASLEEP, 0);
		worker_tell_rest(worker, 0);
	}
	orr_store(&plat->is_woken, 0);
	helper_woke(plat, worker, helping);
}

/*
 * Kernels run, and there is nothing else to do: look for their ends, at first between
 * yields, then between naps that grow with the silence, and that a wake-up ends.  While
 * its pipeline is full the worker can take nothing, so it is not to be woken instead of
 * another.
 */
static void rest_beside_kernels(struct plat *plat, struct worker *worker,
				double silence_s)
{
	double nap_s = wait_nap_s(silence_s, KERNEL_BUSY_S);

	if (nap_s <= 0) {
		sched_yield();
		return;
	}
	if (!worker_has_room(worker)) {
		plat_sleep(plat, nap_s);
		return;
	}
	__atomic_store_n(&worker->parked, PARKED_AWAKE, __ATOMIC_SEQ_CST);
	orr_fence();
	if (!worker_step(worker) && orr_cas(&worker->parked, PARKED_AWAKE, PARKED_ASLEEP))
		real_futex_wait(&worker->parked, PARKED_ASLEEP, nap_s);
	__atomic_store_n(&worker->parked, 0, __ATOMIC_SEQ_CST);
}

/* All that can be done at once.  0: kernels run beside; < 0: none does. */
static int step_all(struct worker *worker, struct helping *helping, double *heard_s)
{
	int advanced, found;

	do {
		advanced = worker_step(worker);
		if (advanced)
			helper_look(worker->backend, worker, helping);
		found = poll_driver(worker);
		if (worker->driver->poll && (advanced || found > 0))
			*heard_s = plat_now_s(worker->backend);
	} while ((advanced || found > 0) && !worker_is_dismissed(worker));
	return found;
}

int workers_awake(struct plat *plat, const struct worker *except)
{
	int n = 0;

	/* Who is not driven does nothing. */
	for (int i = 0; i < plat->nworkers; i++)
		n += &plat->workers[i] != except &&
		     orr_load(&plat->workers[i].parked) < PARKED_ASLEEP &&
		     !orr_load(&plat->workers[i].is_waiting) &&
		     !drive_is_missed(&plat->workers[i]);
	return n;
}

void worker_thread_name(const struct worker *worker, char *name, size_t bytes)
{
	snprintf(name, bytes, "orr-worker-%u", (unsigned)worker->id % 1000);
}

static void name_thread(struct worker *worker)
{
	char name[16];

	worker_thread_name(worker, name, sizeof(name));
	prctl(PR_SET_NAME, name, 0, 0, 0);
}

static void run_worker(struct plat *plat, struct worker *worker)
{
	double heard_s = plat_now_s(plat);
	struct helping helping = {0};

	for (;;) {
		int found = step_all(worker, &helping, &heard_s);

		if (worker_is_dismissed(worker))
			break;
		if (found == 0)
			rest_beside_kernels(plat, worker, plat_now_s(plat) - heard_s);
		else if (orr_load(&plat->workers_stopping))
			break;
		else
			rest(plat, worker, &helping);
	}
	helper_quit(plat, worker, &helping);
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct plat *plat = worker->backend;
	void *stack = signals_take_stack();

	pthread_setspecific(real_get()->caller, &worker->caller);
	name_thread(worker);
	tool_worker(worker, starpu_prof_tool_event_driver_init_start);
	if (worker->driver->begin)
		worker->driver->begin(worker);
	tool_worker(worker, starpu_prof_tool_event_driver_init_end);
	tool_worker(worker, starpu_prof_tool_event_driver_init);
	if (plat->progress.worker == worker)
		interleaved_run(plat, worker);
	else
		run_worker(plat, worker);
	tool_worker(worker, starpu_prof_tool_event_driver_deinit);
	pthread_setspecific(real_get()->caller, NULL); /* It is the worker's. */
	signals_drop_stack(stack);
	return NULL;
}

static void run_once(struct plat *plat, struct worker *worker)
{
	uint64_t executed = worker->executed;

	while (worker->executed == executed && worker_turn(worker))
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

/* Its own, or that of its crew.  0, or an error of the system's. */
static int start_thread(struct plat *plat, int number)
{
	struct worker *worker = &plat->workers[number];
	pthread_t *shared = crew_thread(plat, worker);

	if (shared && !crew_leads(plat, worker)) {
		plat->threads[number] = *shared;
		return 0;
	}
	return pthread_create(&plat->threads[number], NULL,
			      shared ? crew_main : worker_main, worker);
}

int plat_workers_start(struct plat *plat, struct worker *workers, int nworkers)
{
	plat->workers = workers;
	plat->workers_stopping = 0;
	interleaved_choose(plat, workers, nworkers);
	crews_choose(plat, nworkers);
	plat->threads = orr_alloc((size_t)nworkers * sizeof(*plat->threads));
	for (int i = 0; i < nworkers; i++)
		workers[i].backend = plat;
	for (plat->nworkers = 0; plat->nworkers < nworkers; plat->nworkers++) {
		if (orr_load(&workers[plat->nworkers].driven))
			continue;
		if (start_thread(plat, plat->nworkers) != 0) {
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

static int has_thread(const struct plat *plat, struct worker *worker)
{
	if (orr_load(&worker->driven))
		return 0;
	return !crew_thread((struct plat *)plat, worker) || crew_leads(plat, worker);
}

void plat_workers_stop(struct plat *plat)
{
	orr_store(&plat->workers_stopping, 1);
	orr_fence();
	for (int i = 0; i < plat->nworkers; i++)
		plat_worker_wake(&plat->workers[i]);
	for (int i = 0; i < plat->nworkers; i++)
		if (has_thread(plat, &plat->workers[i]))
			pthread_join(plat->threads[i], NULL);
	crews_close(plat);
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
	double begun_j = 0;
	int metered = worker->node->measures_energy && counts;
	OUTSIDE(outside);

	if (metered)
		begun_j = energy_begin(worker);
	worker->caller.task = task;
	outside_begin(&outside, worker->node, &worker->caller, "the kernel");
	if (kernel && !knobs->disable_kernels)
		kernel(task->dyn_interfaces ? task->dyn_interfaces : task->interfaces,
		       task->cl_arg);
	outside_end(&outside);
	worker->caller.task = previous;
	if (counts)
		job->duration_s = timed ? plat_now_s(plat) - start_s : 0;
	if (metered)
		energy_end(worker, job, begun_j);
	if (counts && task->cl->model && kernel && !knobs->disable_kernels)
		model_record(worker, task, job->implementation, job->duration_s);
	return 1;
}

const struct worker_driver cpu_driver = {.begin = begin_on_core, .execute = call_kernel};
