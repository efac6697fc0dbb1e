/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/table.h"
#include "core/data/data.h"
#include "core/data/duplicate.h"
#include "core/model/model_query.h"
#include "core/model/model_store.h"
#include "core/model/roofline.h"
#include "core/outside.h"
#include "core/sched/sched.h"
#include "core/sched/teams.h"
#include "core/task/expect.h"
#include "core/task/task.h"
#include "core/task/transaction.h"
#include "core/tool.h"
#include "core/wait.h"
#include "plat/places.h"
#include "sim.h"

/*
 * workers.c - a worker is at most two events: its next step, and the end of the task
 * that it runs.
 *
 * A worker is marked parked while it could take another task: not while it runs one
 * and has no room, since the end of the task steps it, and not while its pipeline is
 * full of tasks whose data are on their way, so that the wake-up for a new task goes to
 * somebody else; the arrival of the data wakes it all the same.
 *
 * It is made when the worker is first wanted: most of a large machine may never be.
 */
struct sim_worker {
	struct plat_timer step, end;
	struct worker *worker;
	struct job *job;                 /* running, or NULL */
	struct job *ended, **last_ended; /* of a remote driver, to be told */
	double late_s;                   /* worked in callbacks; delays the next task */
	double ended_s;                  /* when the last task did */
	double began_s;                  /* the running one did */
	double end_s;                    /* it will */
	double lent_until_s;             /* its core is another thread's */
	double spent_j, job_j;           /* by energy models: all of its tasks; job */
	unsigned begun;                  /* of sim->nbegun: job */
	int calls;                       /* the kernel is to be called at the end */
	/* Of a worker that the application runs: the gate of its thread in
	 * plat_worker_drive(), and does that end after one task? */
	struct plat_gate *driver;
	int once;
	struct specifics specifics;
	struct launches *launches;
};

static int launches_count(const struct worker *worker)
{
	const struct plat_gpu_kernels *kernels;

	if (!device_has_memory(worker->kind))
		return 0;
	kernels = device_pace(worker->node->machine, &worker->device)->kernels;
	return kernels && kernels->launch_s > 0;
}

/* Of what waits behind a kernel that runs. */
static void launch_more(struct sim_worker *sim_worker)
{
	if (sim_worker->job && launches_count(sim_worker->worker))
		launch_ahead(&sim_worker->launches, sim_worker->worker, sim_worker->job);
}

/* Its driver goes on, and it stands still. */
static void let_driver_go(struct sim_worker *sim_worker)
{
	struct plat_gate *driver = sim_worker->driver;

	sim_worker->driver = NULL;
	sim_worker->worker->parked = 0;
	plat_gate_open(sim_worker->worker->node->plat, driver);
}

/* After a step, or instead of one after a task. */
static void look_for_end(struct sim_worker *sim_worker)
{
	if (sim_worker->driver && !sim_worker->job &&
	    (sim_worker->once || worker_is_dismissed(sim_worker->worker)))
		let_driver_go(sim_worker);
}

static void step_until_idle(struct sim_worker *sim_worker)
{
	struct worker *worker = sim_worker->worker;
	struct sim *sim = worker->node->plat->sim;

	sim->worker = NULL;
	if (worker->driven && !sim_worker->driver)
		return;
	sim->worker = worker;
	worker_tell_rest(worker, 0);
	while (worker_step(worker))
		;
	launch_more(sim_worker);
	worker->parked = !calendar_has(&sim_worker->step) && worker_has_room(worker);
	if (worker->parked && worker->npipeline == 0)
		worker_tell_rest(worker, 1);
	sim->worker = NULL;
	if (sim_worker->driver && sim_worker->once)
		worker->parked = 0;
	look_for_end(sim_worker);
}

static void on_step(struct plat_timer *timer)
{
	step_until_idle(ORR_CONTAINER(timer, struct sim_worker, step));
}

static void call_kernel(struct worker *worker, struct job *job)
{
	struct starpu_task *previous = worker->caller.task;
	kernel_t kernel = worker_kernel(worker, job);
	OUTSIDE(outside);

	/* Programs made for simulation declare kernels as (void *)1. */
	if ((uintptr_t)kernel <= 1)
		return;
	worker->caller.task = job->task;
	outside_begin(&outside, worker->node, &worker->caller, "the kernel");
	gang_call_kernel(worker, job, kernel);
	outside_end(&outside);
	worker->caller.task = previous;
}

static void tell_ended(struct sim_worker *sim_worker)
{
	struct job *job = sim_worker->ended, *next;

	sim_worker->ended = NULL;
	for (; job; job = next) {
		next = job->next;
		worker_executed(sim_worker->worker, job);
	}
}

static void end_at(struct sim_worker *sim_worker, double date_s)
{
	sim_worker->end_s = date_s;
	calendar_add(sim_worker->step.plat->sim, &sim_worker->end, date_s);
}

/* A worker looks for messages between tasks that take less, and between others when
 * nobody has for so long (real/helper.c). */
static const double short_task_s = 20e-6, still_s = 40e-6;

static void look_between(struct sim_worker *sim_worker, double lasted_s)
{
	struct plat *plat = sim_worker->worker->node->plat;

	if (!plat->lends_cores || (sim_worker->job && lasted_s >= short_task_s &&
				   plat->sim->now_s - plat->looked_s < still_s))
		return;
	plat->looked_s = plat->sim->now_s;
	look_now(plat);
}

/* What expect_begun() brought has left the cache when so many others have begun since. */
enum { MANY_BEGUN = 100 };

/* Of a node's fields those that the end of a task looks at. */
enum { NODE_BYTES = 8 * ORR_LINE_BYTES };

/* Before its end touches one line after the other, of a node that is far away. */
static void expect_end(const struct plat *plat, const struct sim_worker *sim_worker)
{
	orr_bring_lines(sim_worker->worker, sizeof(*sim_worker->worker));
	if (sim_worker->job)
		orr_bring_lines(sim_worker->job, sizeof(*sim_worker->job));
	orr_bring_lines(plat->node, NODE_BYTES);
}

/* What its end releases, and whose turn that is then. */
static void expect_release(const struct sim *sim, const struct sim_worker *sim_worker)
{
	unsigned nbegun = sim->nbegun - sim_worker->begun;

	if (nbegun > MANY_BEGUN)
		deps_expect_release(sim_worker->job);
	else if (nbegun <= 1)
		deps_expect_ready(sim_worker->job);
}

/* After a task: who yields steps behind those whom its end has woken. */
static void step_again(struct sim_worker *sim_worker)
{
	const struct worker *worker = sim_worker->worker;
	struct sim *sim = sim_worker->step.plat->sim;

	if (!device_has_memory(worker->kind) || worker->njoined == 0 ||
	    !worker->joined[0]->yields)
		step_until_idle(sim_worker);
	else if (!calendar_has(&sim_worker->step))
		calendar_add(sim, &sim_worker->step, sim->now_s);
}

static void on_end(struct plat_timer *timer)
{
	struct sim_worker *sim_worker = ORR_CONTAINER(timer, struct sim_worker, end);
	struct worker *worker = sim_worker->worker;
	struct plat *plat = timer->plat;
	struct job *job = sim_worker->job;
	double lasted_s;

	expect_end(plat, sim_worker);
	plat->sim->worker = worker;
	worker->parked = 0;
	if (job)
		expect_release(plat->sim, sim_worker);
	if (sim_worker->calls) {
		sim_worker->calls = 0;
		call_kernel(worker, job);
		/* It slept, or worked in the runtime: the task takes longer. */
		if (sim_worker->late_s > 0) {
			end_at(sim_worker, plat->sim->now_s + sim_worker->late_s);
			job->duration_s += sim_worker->late_s;
			sim_worker->late_s = 0;
			plat->sim->worker = NULL;
			return;
		}
	}
	sim_worker->job = NULL;
	lasted_s = plat->sim->now_s - sim_worker->began_s;
	sim_worker->ended_s = plat->sim->now_s;
	if (worker->driver->is_remote)
		tell_ended(sim_worker);
	else
		worker_executed(worker, job);
	look_for_end(sim_worker);
	step_again(sim_worker);
	look_between(sim_worker, lasted_s);
}

/* Of one that will end soon, and of a worker that will be stepped: see scout.h. */
static int expect_task_end(const struct plat_timer *timer, unsigned step)
{
	const struct sim_worker *sim_worker =
		ORR_CONTAINER(timer, const struct sim_worker, end);
	const struct job *job = sim_worker->job;

	if (step == 0) {
		orr_bring_lines(sim_worker->worker, sizeof(*sim_worker->worker));
		orr_bring(timer->plat);
		if (job)
			orr_bring_lines(job, sizeof(*job));
	} else if (step == 1) {
		orr_bring_lines(timer->plat->node, NODE_BYTES);
		if (job)
			orr_bring_lines(job->accesses,
					(size_t)job->naccesses * sizeof(struct access));
		if (job && job->task)
			task_expect(job->task);
	} else if (job) {
		if (step == 2 && job->task)
			orr_bring(job->task->cl);
		deps_expect_step(job, step - 2);
	}
	return step < 6;
}

const struct scout_kind scout_task_end = {on_end, expect_task_end};

static int expect_worker_step(const struct plat_timer *timer, unsigned step)
{
	const struct sim_worker *sim_worker =
		ORR_CONTAINER(timer, const struct sim_worker, step);

	if (step == 0) {
		orr_bring_lines(sim_worker->worker, sizeof(*sim_worker->worker));
		orr_bring(timer->plat);
	} else {
		orr_bring_lines(timer->plat->node, NODE_BYTES);
	}
	return step < 1;
}

const struct scout_kind scout_worker_step = {on_step, expect_worker_step};

int plat_workers_start(struct plat *plat, struct worker *workers, int nworkers)
{
	pool_init_stored(&plat->workers, sizeof(struct sim_worker),
			 &plat->node->world->store);
	for (int i = 0; i < nworkers; i++)
		workers[i].parked = !workers[i].driven;
	for (int i = 0; i < nworkers; i++)
		if (!workers[i].driven)
			tool_worker_begins(&workers[i]);
	return 0;
}

static struct sim_worker *new_sim_worker(struct worker *worker)
{
	struct plat *plat = worker->node->plat;
	struct sim_worker *sim_worker = pool_get(&plat->workers);

	*sim_worker = (struct sim_worker){.worker = worker,
					  .step = {.fire = on_step, .plat = plat},
					  .end = {.fire = on_end, .plat = plat}};
	worker->backend = sim_worker;
	return sim_worker;
}

static inline struct sim_worker *sim_worker_of(struct worker *worker)
{
	return worker->backend ? worker->backend : new_sim_worker(worker);
}

/* What a look for tasks takes that finds none. */
static const double look_s = 1e-6;

int plat_worker_drive(struct worker *worker, int once)
{
	struct sim_worker *sim_worker = sim_worker_of(worker);
	struct plat *plat = worker->node->plat;
	uint64_t executed = worker->executed;
	struct plat_gate gate;
	int ret;

	plat_gate_init(&gate);
	sim_worker->driver = &gate;
	sim_worker->once = once;
	if (!calendar_has(&sim_worker->step))
		calendar_add(plat->sim, &sim_worker->step, plat_now_s(plat));
	ret = wait_at(worker->node, &gate, WAIT_THREAD, "starpu_driver_run");
	if (ret < 0)
		sim_worker->driver = NULL; /* Nothing can go on. */
	if (ret == 0 && once && worker->executed == executed)
		plat_sleep(plat, look_s);
	return ret;
}

void plat_workers_stop(struct plat *plat)
{
	for (int i = 0; i < plat->node->nworkers; i++) {
		struct sim_worker *sim_worker = plat->node->workers[i].backend;

		if (!plat->node->workers[i].driven)
			tool_worker(&plat->node->workers[i],
				    starpu_prof_tool_event_driver_deinit);
		if (!sim_worker)
			continue;
		ORR_ASSERT(!sim_worker->job);
		specifics_clear(sim_rank_self(), &sim_worker->specifics);
		launches_free(sim_worker->launches);
		calendar_remove(plat->sim, &sim_worker->step);
	}
	memset(plat->sim->begun, 0, sizeof(plat->sim->begun));
	pool_free(&plat->workers);
}

int plat_worker_wake(struct worker *worker)
{
	struct sim_worker *sim_worker = sim_worker_of(worker);
	struct plat *plat = sim_worker->step.plat;

	int was_parked = worker->parked;

	launch_more(sim_worker);
	if (calendar_has(&sim_worker->step) || (!was_parked && sim_worker->job) ||
	    (worker->driven && !sim_worker->driver))
		return 0;
	worker->parked = 0;
	calendar_add(plat->sim, &sim_worker->step, plat_now_s(plat));
	return was_parked;
}

struct worker *plat_current_worker(struct plat *plat)
{
	struct sim *sim = plat->sim;

	return sim->in_kernel && sim->current == plat ? sim->worker : NULL;
}

struct plat_caller *plat_caller(struct plat *plat)
{
	struct worker *worker = plat_current_worker(plat);

	if (worker)
		return &worker->caller;
	/* There is no actor where a simulation that has stopped is reported on. */
	return plat->sim->in_kernel || !sg_actor_self() ? &plat->events
							: &sim_thread_self()->caller;
}

void sim_charge_worker(struct plat *plat, double seconds)
{
	struct worker *worker = plat_current_worker(plat);

	plat->sim->spent_s += seconds;
	if (worker)
		sim_worker_of(worker)->late_s += seconds;
}

/* The CPU worker that has been idle, or will be, first; NULL: all run tasks. */
static struct sim_worker *idle_one(struct plat *plat)
{
	struct sim_worker *first = NULL;

	for (int i = 0; i < plat->node->nworkers; i++) {
		struct worker *worker = &plat->node->workers[i];
		struct sim_worker *sim_worker;

		if (worker->type != STARPU_CPU_WORKER)
			continue;
		sim_worker = sim_worker_of(worker);
		if (!sim_worker->job &&
		    (!first || sim_worker->lent_until_s < first->lent_until_s))
			first = sim_worker;
	}
	return first;
}

int sim_all_run(struct plat *plat)
{
	return plat->machine.devices[STARPU_CPU_WORKER].count > 0 && !idle_one(plat);
}

int sim_any_runs(struct plat *plat)
{
	for (int i = 0; i < plat->node->nworkers; i++) {
		const struct sim_worker *sim_worker = plat->node->workers[i].backend;

		if (sim_worker && sim_worker->job)
			return 1;
	}
	return 0;
}

/* In turns; NULL: there is none. */
static struct sim_worker *next_lender(struct plat *plat)
{
	int n = plat->node->nworkers;

	for (int i = 1; i <= n; i++) {
		int id = (plat->next_lender + i) % n;
		struct worker *worker = &plat->node->workers[id];

		if (worker->type != STARPU_CPU_WORKER)
			continue;
		plat->next_lender = id;
		return sim_worker_of(worker);
	}
	return NULL;
}

static void prolong(struct sim_worker *sim_worker, double seconds)
{
	struct sim *sim = sim_worker->step.plat->sim;

	sim_worker->end_s += seconds;
	sim_worker->job->duration_s += seconds;
	calendar_move(sim, &sim_worker->end, sim_worker->end_s);
}

void sim_lend(struct plat *plat, double seconds, int is_past)
{
	struct sim_worker *sim_worker;

	if (!plat->lends_cores || seconds <= 0)
		return;
	sim_worker = idle_one(plat);
	if (!sim_worker) {
		sim_worker = next_lender(plat);
		if (sim_worker && calendar_has(&sim_worker->end))
			prolong(sim_worker, seconds);
	} else if (!is_past) {
		sim_worker->lent_until_s =
			fmax(sim_worker->lent_until_s, plat_now_s(plat)) + seconds;
	}
}

struct specifics *sim_worker_specifics(struct worker *worker)
{
	return &sim_worker_of(worker)->specifics;
}

/* What its tasks have used by their models, and itself, waiting.  Within a task the power
 * is the same. */
static double used_j(const struct worker *worker, double now_s)
{
	const struct sim_worker *sim_worker = worker->backend;
	double idle_s = now_s - worker->node->start_s - worker->busy_s, spent_j = 0;

	if (sim_worker)
		spent_j = sim_worker->spent_j;
	if (sim_worker && sim_worker->job) {
		double length_s = sim_worker->job->duration_s;
		double ran_s = fmin(fmax(now_s - sim_worker->began_s, 0), length_s);

		idle_s -= ran_s;
		if (length_s > 0)
			spent_j -= sim_worker->job_j * (1 - ran_s / length_s);
	}
	return spent_j + node_knobs(worker->node)->idle_power * fmax(idle_s, 0);
}

int plat_energy_j(struct plat *plat, const struct worker *of, double *joules)
{
	double now_s = plat_now_s(plat);

	*joules = 0;
	for (int i = 0; i < plat->node->nworkers; i++) {
		const struct worker *worker = &plat->node->workers[i];

		if (of ? worker->type == of->type && worker->devid == of->devid
		       : worker->type == STARPU_CPU_WORKER)
			*joules += used_j(worker, now_s);
	}
	return 0;
}

long plat_memory_location(struct plat *plat, const void *ptr, size_t bytes)
{
	(void)plat;
	(void)ptr;
	(void)bytes;
	return -1; /* Addresses say nothing. */
}

void plat_worker_ended(struct worker *worker, struct job *job)
{
	struct sim_worker *sim_worker = sim_worker_of(worker);
	struct plat *plat = sim_worker->end.plat;

	job->next = NULL;
	*(sim_worker->ended ? sim_worker->last_ended : &sim_worker->ended) = job;
	sim_worker->last_ended = &job->next;
	if (!calendar_has(&sim_worker->end))
		calendar_add(plat->sim, &sim_worker->end, plat_now_s(plat));
}

/* ---- execution ------------------------------------------------------- */

/* What would give a task a duration that its model does not know. */
static void describe_remedy(const struct worker *worker, struct starpu_task *task,
			    char *text, size_t bytes)
{
	const char *device = worker->type == STARPU_CUDA_WORKER ? "gpu" : "cpu";
	const char *precision = roofline_element_bytes(task) == 8 ? "dp" : "sp";

	if (task->flops > 0)
		snprintf(text, bytes,
			 "or give the hosts of the platform %s_peak_%s_gflops, in a "
			 "description %s_%s, for a roofline",
			 device, precision, device, precision);
	else
		snprintf(text, bytes,
			 "or say the task's operations (STARPU_FLOPS), for a roofline");
}

/* The run cannot go on: a simulated task has no duration. */
static void refuse(struct worker *worker, struct job *job) __attribute__((noreturn));

static void refuse(struct worker *worker, struct job *job)
{
	struct starpu_task *task = job->task;
	struct starpu_perfmodel *model = task->cl->model;
	const char *name = task->cl->name ? task->cl->name : task->name;
	const char *named = device_model(worker->node->machine, &worker->device);
	const char *first = "calibrate this size, or choose a size that the file has";
	char path[2048] = "none", remedy[128];
	size_t bytes = 0;

	describe_remedy(worker, task, remedy, sizeof(remedy));
	if (model && model->symbol &&
	    model_path(worker->node, model->symbol, path, sizeof(path)) < 0) {
		model_absent(worker->node, &worker->device, model->symbol, path,
			     sizeof(path));
		first = "set STARPU_PERF_MODEL_PATH to the directory whose codelets/45 "
			"has the file, or calibrate";
	}
	for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++)
		bytes += data_bytes(STARPU_TASK_GET_HANDLE(task, i));
	if (!model)
		orr_complain(
			worker->node->rank,
			"simulation: codelet %s has no performance model, so the "
			"duration of its tasks is unknown: set its .model, or its flag "
			"STARPU_CODELET_SIMGRID_EXECUTE; or run with ORRERY_EXECUTE=1, "
			"where such tasks take no time",
			name ? name : "(unnamed)");
	else
		orr_complain(
			worker->node->rank,
			"simulation: no duration for codelet %s on %s (%s): model "
			"\"%s\" has no entry for footprint %08x, %zu bytes of data, and "
			"no regression or roofline; file: %s. Remedy: %s, %s",
			name ? name : "(unnamed)", worker->kind->name,
			*named ? named : "of a model without name",
			model->symbol ? model->symbol : "(no symbol)",
			model_footprint(model, task), bytes, path, first, remedy);
	report_exit(1);
}

static double host_time_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A run for the sake of values goes on without durations; says so for the first task. */
static void tell_no_duration(struct worker *worker, struct job *job)
{
	struct sim *sim = worker->node->plat->sim;
	const char *name = task_name(job->task);

	if (!sim->timeless_told)
		orr_complain(worker->node->rank,
			     "simulation: tasks of %s, and of all others whose duration "
			     "nothing tells, take no time in this run, which is for "
			     "values (ORRERY_EXECUTE): calibrate models to get dates",
			     name ? name : "a codelet without a name");
	sim->timeless_told = 1;
}

/* How much is known of a duration; a slave's tasks last as models say of its master's. */
static void note_source(struct worker *worker, const struct job *job,
			const struct model_estimate *estimate)
{
	const struct node *node = worker->node;
	const struct job *known = node->stands_for ? node->stands_for(job) : NULL;
	struct model_estimate of_known;

	if (known) {
		of_known = model_expect(worker, known->task, known->implementation);
		estimate = &of_known;
		job = known;
	}
	if (estimate->source == MODEL_ROOFLINE || estimate->source == MODEL_NONE)
		worker->node->uncalibrated_tasks++;
	if (estimate->source != MODEL_NONE)
		summary_duration(node->plat->sim, worker, job->task, estimate);
}

static double expected_s(struct worker *worker, struct job *job)
{
	struct model_estimate estimate =
		model_expect(worker, job->task, job->implementation);

	if (estimate.source == MODEL_NONE) {
		if (job->may_be_timeless)
			return 0;
		if (!worker->node->plat->machine.executes)
			refuse(worker, job);
		tell_no_duration(worker, job);
	}
	note_source(worker, job, &estimate);
	return estimate.source == MODEL_NONE ? 0 : estimate.seconds;
}

static void spend_energy(struct worker *worker, struct job *job)
{
	struct sim_worker *sim_worker = worker->backend;

	sim_worker->job_j = 0;
	if (job->task->cl && job->task->cl->energy_model && !transaction_skips(job->task))
		sim_worker->job_j =
			model_energy_j(worker, job->task, job->implementation);
	sim_worker->spent_j += sim_worker->job_j;
	worker->node->plat->energy_j += sim_worker->job_j;
}

/* What a task takes longer than the least, which is what its model says: the absolute
 * value of a normal variable, by Box and Muller's formula, of a sequence that each node
 * has. */
static double noise(struct plat *plat, const struct knobs *knobs)
{
	uint64_t place = ((uint64_t)knobs->noise_seed << 32) + (uint64_t)plat->node->rank;
	uint64_t draw = table_mix(table_mix(place) + plat->ndraws++);
	double radius = ((double)(draw >> 40) + 1) / (1 << 24);
	double turn = (double)(draw & 0xffffff) / (1 << 24);

	return knobs->noise * sqrt(-2 * log(radius)) * fabs(cos(2 * M_PI * turn));
}

/* A GPU's kernel begins when its driver has nothing else to do; it has been launched
 * before the last one ended, when both were in the pipeline. */
static double begin_s(struct sim_worker *sim_worker, const struct job *job,
		      const struct knobs *knobs)
{
	struct worker *worker = sim_worker->worker;
	struct plat *plat = worker->node->plat;
	double now_s = plat_now_s(plat);

	if (!device_has_memory(worker->kind))
		return fmax(now_s, sim_worker->lent_until_s) + sim_worker->late_s +
		       costs_wake_s(plat->costs.wake_s, sim_worker->ended_s, now_s);
	if (launches_count(worker))
		now_s = fmax(now_s, launch_begin_s(&sim_worker->launches, worker, job,
						   sim_worker->ended_s));
	else if (knobs->cuda_queue_cost &&
		 (orr_load(&worker->depth) == 1 || sim_worker->ended_s < now_s))
		pcie_work(plat, worker->memory, knobs->cuda_queue_s);
	return fmax(now_s + sim_worker->late_s, pcie_free_s(plat, worker->memory));
}

/*
 * Of each job that begins, what its end will touch is brought into the cache in steps,
 * each by what the one before brought: a step when the job begins, and one with each of
 * the next jobs that do, of whatever worker.  So nobody waits in between, and most is
 * there when the job ends.
 */
static void expect_begun(struct sim *sim, struct sim_worker *sim_worker, struct job *job)
{
	static void (*const steps[SIM_NBEGUN])(const struct job *job) = {
		deps_expect_next, deps_expect_ready, deps_expect_next_job,
		deps_expect_next_data, deps_expect_next_values};

	sim_worker->begun = sim->nbegun;
	sim->begun[sim->nbegun % SIM_NBEGUN] = (struct begun){sim_worker, job};
	for (unsigned i = 0; i < SIM_NBEGUN; i++) {
		const struct begun *begun = &sim->begun[(sim->nbegun - i) % SIM_NBEGUN];

		if (begun->worker && (i == 0 || begun->worker->job == begun->job))
			steps[i](begun->job);
	}
	sim->nbegun++;
}

static int execute(struct worker *worker, struct job *job)
{
	struct sim_worker *sim_worker = sim_worker_of(worker);
	struct plat *plat = worker->node->plat;
	const struct knobs *knobs = node_knobs(worker->node);
	unsigned flags = job->task->cl ? job->task->cl->flags : 0;
	double seconds = 0;

	ORR_ASSERT(!sim_worker->job);
	expect_begun(plat->sim, sim_worker, job);
	sim_worker->calls = 0;
	if (transaction_skips(job->task)) {
		seconds = 0;
	} else if (flags & STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT) {
		double start_s = host_time_s(), late_s = sim_worker->late_s;

		call_kernel(worker, job);
		seconds = host_time_s() - start_s + sim_worker->late_s - late_s;
		sim_worker->late_s = late_s;
	} else if (flags & STARPU_CODELET_SIMGRID_EXECUTE) {
		sim_worker->calls = 1;
	} else {
		seconds = expected_s(worker, job);
		if (knobs->noise > 0)
			seconds *= 1 + noise(plat, knobs);
		sim_worker->calls = !device_has_memory(worker->kind) &&
				    (plat->machine.executes || duplicate_is_carried(job));
	}
	job->duration_s = seconds;
	spend_energy(worker, job);
	seconds = costs_of_task_s(plat, seconds,
				  job->task->cl ? (int)STARPU_TASK_GET_NBUFFERS(job->task)
						: 0);
	if (!device_has_memory(worker->kind)) {
		seconds += costs_cold_s(plat, job->task);
		costs_touch(plat, job->task);
	}
	worker->began_s = sim_worker->began_s = begin_s(sim_worker, job, knobs);
	sim_worker->late_s = 0;
	sim_worker->job = job;
	end_at(sim_worker, worker->began_s + seconds);
	return 0;
}

const struct worker_driver sim_worker_driver = {.execute = execute};
