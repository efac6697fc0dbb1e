/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/sched/teams.h"
#include "core/wait.h"
#include "fake_impl.h"
#include "plat/places.h"

/* A worker is at most two events: its next steps, and the end of its task. */
struct fake_worker {
	struct plat_timer step, end;
	struct worker *worker;
	struct job *job;                 /* running, or NULL */
	struct job *ended, **last_ended; /* of a remote driver, to be told */
	int is_telling;
	/* Of a worker that the application runs: the gate of who drives it, and does
	 * that end after one task? */
	struct plat_gate *driver;
	int once;
};

/* After a step, or instead of one after a task: its driver may go on. */
static void look_for_end(struct fake_worker *fake_worker)
{
	struct worker *worker = fake_worker->worker;
	struct plat_gate *driver = fake_worker->driver;

	if (!driver || fake_worker->job ||
	    !(fake_worker->once || worker_is_dismissed(worker)))
		return;
	fake_worker->driver = NULL;
	worker->parked = 0;
	plat_gate_open(worker->node->plat, driver);
}

/*
 * Parked: no step is due, and another task could be taken.  Nothing happens between
 * the last step and the mark, so the step after the mark is not needed here.
 */
static void step_until_idle(struct fake_worker *fake_worker)
{
	struct worker *worker = fake_worker->worker;
	struct fake *fake = fake_get();

	fake->worker = NULL;
	if (worker->driven && !fake_worker->driver)
		return;
	fake->worker = worker;
	worker->parked = 0;
	worker_tell_rest(worker, 0);
	while (worker_step(worker))
		continue;
	worker->parked = !fake_worker->step.entry.place &&
			 (!fake_worker->job || worker_has_room(worker));
	if (worker->parked && worker->npipeline == 0)
		worker_tell_rest(worker, 1);
	fake->worker = NULL;
	if (fake_worker->driver && fake_worker->once)
		worker->parked = 0;
	look_for_end(fake_worker);
}

static void on_step(struct plat_timer *timer)
{
	step_until_idle(ORR_CONTAINER(timer, struct fake_worker, step));
}

static void call_kernel(struct worker *worker, struct job *job)
{
	struct starpu_task *previous = worker->caller.task;
	kernel_t kernel = worker_kernel(worker, job);

	if (!kernel || node_knobs(worker->node)->disable_kernels)
		return;
	worker->caller.task = job->task;
	gang_call_kernel(worker, job, kernel);
	worker->caller.task = previous;
}

/* What this brings about may take time, in which others end.  0: it is done already. */
static int tell_ended(struct fake_worker *fake_worker)
{
	struct job *job;

	if (fake_worker->is_telling)
		return 0;
	fake_worker->is_telling = 1;
	fake_worker->worker->parked = 0;
	while ((job = fake_worker->ended)) {
		fake_worker->ended = job->next;
		worker_executed(fake_worker->worker, job);
	}
	fake_worker->is_telling = 0;
	return 1;
}

/* The kernel, and all that its end brings about. */
static void run_job(void *arg)
{
	struct fake_worker *fake_worker = arg;
	struct worker *worker = fake_worker->worker;
	struct job *job = fake_worker->job;

	fake_get()->worker = worker;
	if (worker->driver->is_remote) {
		if (!tell_ended(fake_worker))
			return;
	} else {
		call_kernel(worker, job);
		fake_worker->job = NULL;
		worker_executed(worker, job);
	}
	look_for_end(fake_worker);
	step_until_idle(fake_worker);
}

static void on_end(struct plat_timer *timer)
{
	struct fake_worker *fake_worker = ORR_CONTAINER(timer, struct fake_worker, end);

	if (fake_get()->chance)
		fake_spawn_kernel(fake_worker->worker, run_job, fake_worker);
	else
		run_job(fake_worker);
}

int plat_workers_start(struct plat *plat, struct worker *workers, int nworkers)
{
	plat->workers = orr_alloc((size_t)nworkers * sizeof(*plat->workers));
	plat->nworkers = nworkers;
	for (int i = 0; i < nworkers; i++) {
		struct fake_worker *fake_worker = &plat->workers[i];

		fake_worker->worker = &workers[i];
		fake_worker->step.fire = on_step;
		fake_worker->end.fire = on_end;
		workers[i].backend = fake_worker;
		if (!workers[i].driven)
			plat_after(plat, &fake_worker->step, 0);
	}
	return 0;
}

/* What a look for tasks takes that finds none. */
static const double look_s = 1e-6;

int plat_worker_drive(struct worker *worker, int once)
{
	struct fake_worker *fake_worker = worker->backend;
	struct plat *plat = worker->node->plat;
	uint64_t executed = worker->executed;
	struct plat_gate gate;
	int ret;

	plat_gate_init(&gate);
	fake_worker->driver = &gate;
	fake_worker->once = once;
	if (!fake_worker->step.entry.place)
		plat_after(plat, &fake_worker->step, 0);
	ret = wait_at(worker->node, &gate, WAIT_THREAD, "starpu_driver_run");
	if (ret < 0)
		fake_worker->driver = NULL; /* Nothing can go on. */
	if (ret == 0 && once && worker->executed == executed)
		plat_sleep(plat, look_s);
	return ret;
}

void plat_workers_stop(struct plat *plat)
{
	for (int i = 0; i < plat->nworkers; i++) {
		ORR_ASSERT(!plat->workers[i].job);
		heap_remove(&fake_get()->calendar, &plat->workers[i].step.entry);
	}
	free(plat->workers);
	plat->workers = NULL;
	plat->nworkers = 0;
}

int plat_worker_wake(struct worker *worker)
{
	struct fake_worker *fake_worker = worker->backend;

	if (!worker->parked)
		return 0;
	worker->parked = 0;
	if (!fake_worker->step.entry.place)
		plat_after(worker->node->plat, &fake_worker->step, 0);
	return 1;
}

void plat_worker_ended(struct worker *worker, struct job *job)
{
	struct fake_worker *fake_worker = worker->backend;

	job->next = NULL;
	*(fake_worker->ended ? fake_worker->last_ended : &fake_worker->ended) = job;
	fake_worker->last_ended = &job->next;
	if (!fake_worker->end.entry.place)
		plat_after(worker->node->plat, &fake_worker->end, 0);
}

struct worker *plat_current_worker(struct plat *plat)
{
	struct worker *worker = fake_get()->worker;

	return worker && worker->node->plat == plat ? worker : NULL;
}

struct plat_caller *plat_caller(struct plat *plat)
{
	struct worker *worker = plat_current_worker(plat);
	struct plat_caller *caller = fake_main_caller(plat);

	if (worker)
		return &worker->caller;
	return caller ? caller : &plat->caller;
}

int plat_bind_thread(struct plat *plat, int core)
{
	(void)plat;
	return core >= PLAT_MAIN_CORE ? 0 : -1;
}

int plat_core_os_index(struct plat *plat, int core)
{
	(void)plat;
	return core;
}

int plat_worker_bindid(struct plat *plat, int cpu_worker)
{
	(void)plat;
	(void)cpu_worker;
	return -1;
}

int plat_energy_j(struct plat *plat, const struct worker *of, double *joules)
{
	(void)plat;
	(void)of;
	(void)joules;
	return -ENODEV;
}

int plat_worker_place(struct plat *plat, int cpu_worker, enum plat_level level)
{
	return places_by_memory(plat, cpu_worker, level);
}

unsigned plat_worker_memory(struct plat *plat, int cpu_worker)
{
	return (unsigned)(cpu_worker % plat->machine.nnumas);
}

long plat_memory_location(struct plat *plat, const void *ptr, size_t bytes)
{
	(void)plat;
	(void)ptr;
	(void)bytes;
	return -1;
}

static int execute(struct worker *worker, struct job *job)
{
	struct fake_worker *fake_worker = worker->backend;
	const struct fake_machine *machine = fake_machine();

	ORR_ASSERT(!fake_worker->job);
	fake_worker->job = job;
	job->duration_s =
		machine->duration_s ? machine->duration_s(worker, job) : machine->task_s;
	plat_after(worker->node->plat, &fake_worker->end, job->duration_s);
	return 0;
}

const struct worker_driver fake_worker_driver = {.execute = execute};
