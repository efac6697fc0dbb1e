/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "sim.h"
#include "sim/spin.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <xbt/config.h>

/* SimGrid may take dates that differ by less for one. */
#define SHORTEST_REST_S 1e-9

enum { MAX_SLEEPS = 10 * 1000 * 1000 };

struct sim *the_sim;

_Static_assert(offsetof(struct sim, in_kernel) == offsetof(struct sim_asked, in_kernel) &&
		       offsetof(struct sim, asking_page) ==
			       offsetof(struct sim_asked, page) &&
		       offsetof(struct sim, asking_rank) ==
			       offsetof(struct sim_asked, node) &&
		       offsetof(struct sim_rank, node) == 0,
	       "plat_self_at_once() reads the head of struct sim");

/* The most frequent first. */
static const struct scout_kind *const scouted[] = {&scout_flow_ends,
						   &scout_flow_enters,
						   &scout_packet_sent,
						   &scout_packet_received,
						   &scout_task_end,
						   &scout_worker_step,
						   NULL};

struct sim *sim_get(void)
{
	if (!the_sim) {
		the_sim = orr_alloc(sizeof(*the_sim));
		the_sim->process = getpid();
		the_sim->scout.kinds = scouted;
	}
	return the_sim;
}

int sim_is_child(void)
{
	return sim_get()->process != getpid();
}

struct world **plat_world(void)
{
	return &sim_get()->world;
}

static struct node *ask_simgrid(struct sim *sim)
{
	struct sim_thread *thread;

	if (!sg_actor_self())
		return NULL;
	thread = sg_actor_self_get_data();
	if (!thread)
		return NULL;
	sim->asking_page = sim_stack_page();
	sim->asking = thread;
	sim->asking_rank = thread->rank;
	return thread->rank->node;
}

/* Programs ask for each task, and SimGrid takes longer than the rest of what a task
 * costs that concerns others. */
struct node *plat_self(void)
{
	struct sim *sim = the_sim;

	if (!sim)
		return NULL;
	if (sim->in_kernel) {
		stack_check(sim);
		return sim->current ? sim->current->node : NULL;
	}
	if (sim->asking_page == sim_stack_page())
		return sim->asking_rank->node;
	return ask_simgrid(sim);
}

void plat_set_self(struct node *node)
{
	sim_thread_self()->rank->node = node;
}

/* ---- blocking -------------------------------------------------------- */

static void release(void *sem)
{
	SIM_YIELDS(kernel_release(sem));
}

/* Whoever is woken may wake others. */
static void wake_all(struct sim *sim)
{
	sg_sem_t *woken = sim->woken;
	int n = sim->nwoken;

	sim->woken = NULL;
	sim->nwoken = sim->woken_capacity = 0;
	for (int i = 0; i < n; i++)
		calendar_reach(sim, release, woken[i]);
	free(woken);
}

static void on_waking(struct plat_timer *timer)
{
	(void)timer;
	wake_all(the_sim);
}

static int is_polling(const struct plat *plat, const struct sim_thread *thread)
{
	return plat && plat->polls && plat->poll && thread->is_main;
}

/* As a thread of communication would, which takes no time from the main. */
static int poll_beside(struct plat *plat)
{
	double debt_s = plat->debt.debt_s;
	int was_in_poll = plat->in_poll, n;

	plat->debt.debt_s = 0;
	plat->in_poll = 1;
	n = plat->poll(plat->poll_arg);
	plat->in_poll = was_in_poll;
	plat->debt.debt_s = debt_s;
	return n;
}

/* Until a kick, for a time at most, or for ever when it is negative. */
static void idle(struct plat *plat, struct sim_thread *thread, double timeout_s)
{
	plat->sim->npolling++;
	plat->idle = thread;
	plat->kicked = 0;
	if (timeout_s < 0)
		SIM_YIELDS(sg_sem_acquire(thread->sem));
	else
		SIM_YIELDS(sg_sem_acquire_timeout(thread->sem, timeout_s));
	plat->idle = NULL;
	plat->sim->npolling--;
}

/* Messages advance only while the main looks for them. */
static void block_polling(struct plat *plat, struct sim_thread *thread, const int *flag,
			  double until_s)
{
	while (!*flag) {
		double left_s = until_s - simgrid_get_clock();

		if (until_s >= 0 && left_s <= SHORTEST_REST_S)
			return;
		if (poll_beside(plat) > 0)
			plat->has_looked = 0;
		else if (!*flag)
			idle(plat, thread, until_s >= 0 ? left_s : -1);
	}
}

void sim_block(struct plat *plat, const int *flag, double until_s)
{
	struct sim_thread *thread = sim_thread_self();

	if (plat)
		sim_pay(plat);
	if (is_polling(plat, thread))
		block_polling(plat, thread, flag, until_s);
	while (!*flag) {
		double left_s = until_s - simgrid_get_clock();

		int is_late = until_s >= 0 && left_s <= 0;

		if (until_s < 0)
			SIM_YIELDS(sg_sem_acquire(thread->sem));
		else if (!is_late)
			SIM_YIELDS(is_late = sg_sem_acquire_timeout(thread->sem, left_s));
		if (is_late)
			return;
	}
}

/* ---- transport "mpi" ------------------------------------------------- */

void sim_kick(struct plat *plat)
{
	if (!plat->idle || plat->kicked)
		return;
	plat->kicked = 1;
	/* A thread may be about to poll itself, in whose place nobody else may. */
	if (!plat->sim->in_kernel) {
		sim_wake_later(plat->idle);
		return;
	}
	kernel_hold(plat->idle->sem);
	calendar_reach(plat->sim, release, plat->idle->sem);
}

static void on_kick(struct plat_timer *timer)
{
	(void)timer;
	for (struct plat *plat = the_sim->first; plat; plat = plat->next)
		sim_kick(plat);
}

/* Whose communication it was SimGrid does not say. */
static void on_arrival(void)
{
	struct sim *sim = the_sim;

	if (sim->npolling == 0 || calendar_has(&sim->kick))
		return;
	sim->kick.fire = on_kick;
	calendar_add(sim, &sim->kick, simgrid_get_clock());
}

/* Does a node know something when no event is left? */
static int ask_nodes(struct sim *sim)
{
	int count = 0;

	for (struct plat *plat = sim->first; plat; plat = plat->next) {
		sim->current = plat;
		if (plat->node->on_stuck)
			count += plat->node->on_stuck(plat->node);
	}
	return count;
}

/* Nothing can make progress.  In case that the end of a communication was missed, idle
 * mains look once; then the nodes may know something. */
static int on_stuck(void)
{
	struct sim *sim = the_sim;
	int count = 0;

	calendar_enter(sim);
	for (struct plat *plat = sim->first; plat; plat = plat->next) {
		if (!plat->idle || plat->has_looked)
			continue;
		plat->has_looked = 1;
		sim_kick(plat);
		count++;
	}
	if (count == 0)
		count = ask_nodes(sim);
	calendar_leave(sim);
	return count > 0;
}

static double on_step(double others_s)
{
	double step_s;

	the_sim->nsteps++;
	pages_look(the_sim);
	quiet_look(the_sim, others_s);
	step_s = calendar_go_ahead(the_sim, others_s);
	return step_s < 0 && others_s < 0 && on_stuck() ? 0 : step_s;
}

/* ---- life ------------------------------------------------------------ */

static void on_end(void)
{
	the_sim->has_ended = 1;
	report_left_open(the_sim);
	summary_write(the_sim);
}

void sim_watch(void)
{
	struct sim *sim = sim_get();

	if (sim->kernel)
		return;
	sim->kernel = kernel_new(report_deadlock, on_arrival, on_step, on_end);
	report_faults(sim, 1);
}

static void sim_start(struct sim *sim, const struct knobs *knobs)
{
	/* Host time would make runs differ; submission has its own costs. */
	sg_cfg_set_boolean("smpi/simulate-computation", "no");
	sim_watch();
	spin_watch(sim, knobs->watchdog_s);
	if (knobs->progress)
		sim->progress = progress_new();
}

static void sim_stop(struct sim *sim)
{
	net_close_all(sim);
	calendar_remove(sim, &sim->unstick);
	while (sim->nwoken > 0)
		wake_all(sim);
	calendar_remove(sim, &sim->waking);
	calendar_close(sim);
	sim->is_bound = 0;
	progress_free(sim->progress, sim);
	sim->progress = NULL;
}

static void link_plat(struct sim *sim, struct plat *plat)
{
	plat->prev = sim->last;
	*(sim->last ? &sim->last->next : &sim->first) = plat;
	sim->last = plat;
	sim->nplats++;
}

static void unlink_plat(struct sim *sim, struct plat *plat)
{
	*(plat->prev ? &plat->prev->next : &sim->first) = plat->next;
	*(plat->next ? &plat->next->prev : &sim->last) = plat->prev;
	sim->nplats--;
}

int plat_may_open(void)
{
	const char *why;

	if (!sim_is_stranger())
		return 0;
	why = kernel_is_there()
		      ? "this thread belongs to no rank: a library, a kernel or "
			"a callback made it, ORRERY_REAL_THREADS is set, or it "
			"has a sanitizer; let main, or a thread that main makes, "
			"call it"
		      : "this program is linked with liborrery-sim, the "
			"simulated flavour: start it with smpirun or orrery "
			"run --sim";
	orr_complain(ORR_NO_RANK, "starpu_init: %s", why);
	return -ENODEV;
}

int plat_open(struct plat **plat, struct node *node)
{
	struct sim *sim = sim_get();
	struct plat *opened;
	int status = plat_may_open();

	if (status < 0)
		return status;
	opened = orr_alloc(sizeof(*opened));
	opened->sim = sim;
	opened->node = node;
	opened->host = sg_host_self();
	opened->debt.quantum_s = node_knobs(node)->quantum_s;
	opened->debt.in_kernel = &sim->in_kernel;
	status = machine_read(opened);
	if (status < 0) {
		free(opened);
		return status;
	}
	if (sim->nplats == 0)
		sim_start(sim, node_knobs(node));
	report_faults(sim, orr_load(&node->catch_signals));
	report_watch_end(sim);
	link_plat(sim, opened);
	pages_look(sim);
	summary_open(sim, node_knobs(node));
	opened->opener = sim_thread_self();
	opened->events.is_runtime = 1;
	opened->pcie = pcie_new(opened);
	*plat = opened;
	return 0;
}

void plat_close(struct plat *plat)
{
	struct sim *sim;

	if (!plat)
		return;
	sim = plat->sim;
	sim_pay(plat);
	unlink_plat(sim, plat);
	summary_add(sim->summary, plat->node);
	if (sim->progress)
		progress_leave(sim->progress, plat->node);
	pcie_free(plat->pcie);
	disks_close(plat);
	costs_close(plat);
	gpus_close(plat);
	sim_cores_close(plat);
	memory_close(plat);
	specifics_clear(sim_rank_self(), &plat->specifics);
	if (sim->nplats == 0)
		sim_stop(sim);
	free(plat);
}

const struct plat_machine *plat_machine(const struct plat *plat)
{
	return &plat->machine;
}

struct node *plat_node(const struct plat *plat)
{
	return plat->node;
}

void plat_leave(int code)
{
	smpi_exit(code);
}

/* ---- time ------------------------------------------------------------ */

double plat_now_s(struct plat *plat)
{
	if (plat->sim->in_kernel)
		return plat->sim->now_s;
	return simgrid_get_clock() + plat->debt.debt_s;
}

/* Messages go on while the main works. */
static void sleep_polling(struct plat *plat, struct sim_thread *thread, double seconds)
{
	double until_s = simgrid_get_clock() + seconds, left_s = seconds;

	for (; left_s > SHORTEST_REST_S; left_s = until_s - simgrid_get_clock()) {
		idle(plat, thread, left_s);
		if (plat->kicked)
			poll_beside(plat);
	}
	if (simgrid_get_clock() < until_s)
		SIM_YIELDS(sg_actor_sleep_until(until_s));
	poll_beside(plat);
}

void sim_looked(struct sim_thread *thread, int found)
{
	double look_s = sim_get()->look_s;
	struct node *node = thread && thread->rank ? thread->rank->node : NULL;

	if (found || look_s <= 0 || (thread && thread->is_transport))
		return;
	if (node && is_polling(node->plat, thread) && !node->plat->in_poll)
		sleep_polling(node->plat, thread, look_s);
	else if (sg_actor_self())
		SIM_YIELDS(sg_actor_sleep_for(look_s));
}

void sim_pay(struct plat *plat)
{
	double debt_s = plat->debt.debt_s;

	ORR_ASSERT(!plat->sim->in_kernel);
	if (debt_s <= 0 || plat->in_poll)
		return;
	plat->debt.debt_s = 0;
	sim_lend(plat, debt_s, 0);
	if (plat->polls && is_polling(plat, sim_thread_self()))
		sleep_polling(plat, sim_thread_self(), debt_s);
	else
		SIM_YIELDS(sg_actor_sleep_for(debt_s));
	if (plat->sim->progress)
		progress_show(plat->sim->progress, plat->sim);
}

void plat_after(struct plat *plat, struct plat_timer *timer, double delay_s)
{
	timer->plat = plat;
	calendar_add(plat->sim, timer, plat_now_s(plat) + delay_s);
}

/* Nothing else happens until it returns: it waits for what cannot come. */
static void sleep_in_kernel(struct plat *plat, double seconds)
{
	const struct worker *worker = plat_current_worker(plat);
	struct sim *sim = plat->sim;

	char who[32] = "of no worker";

	sim_charge_worker(plat, seconds);
	if (++sim->nslept < MAX_SLEEPS)
		return;
	if (worker)
		snprintf(who, sizeof(who), "of worker %d", worker->id);
	orr_die(plat->node->rank,
		"a kernel, callback or call of a scheduling policy %s has slept %d "
		"times, %g s of simulated time, and not returned: in simulation nothing "
		"else happens meanwhile, so what it waits for cannot come; expected one "
		"that returns: pop_task() is called again when a task has been pushed, "
		"and by starpu_wake_worker_relax_light()",
		who, sim->nslept, sim->spent_s);
}

void plat_sleep(struct plat *plat, double seconds)
{
	const int never = 0;
	double end_s;

	/* A worker is never early; NaN is no time, either. */
	if (!(seconds > 0))
		seconds = 0;
	if (!plat && sim_is_stranger()) {
		usleep((useconds_t)(seconds * 1e6));
		return;
	}
	if (!plat) {
		SIM_YIELDS(sg_actor_sleep_for(seconds));
		return;
	}
	/* A kernel or callback cannot block; its worker is late instead. */
	if (plat->sim->in_kernel) {
		sleep_in_kernel(plat, seconds);
		return;
	}
	sim_pay(plat);
	end_s = simgrid_get_clock() + seconds;
	if (is_polling(plat, sim_thread_self()))
		block_polling(plat, sim_thread_self(), &never, end_s);
	if (simgrid_get_clock() < end_s)
		SIM_YIELDS(sg_actor_sleep_until(end_s));
}

static void on_unstick(struct plat_timer *timer)
{
	(void)timer;
	ask_nodes(the_sim);
}

void plat_unstick(struct plat *plat)
{
	struct plat_timer *timer = &plat->sim->unstick;

	if (calendar_has(timer))
		return;
	timer->fire = on_unstick;
	calendar_add(plat->sim, timer, simgrid_get_clock());
}

/* ---- waiting --------------------------------------------------------- */

void plat_gate_init(struct plat_gate *gate)
{
	*gate = (struct plat_gate){0};
}

/* A thread that waits for another one may do so beyond the life of the node. */
static int is_open(const struct plat *plat, const struct sim_thread *thread)
{
	const struct node *node = thread->rank->node;

	return node && node->plat == plat;
}

int plat_gate_wait(struct plat *plat, struct plat_gate *gate)
{
	struct sim_thread *thread;
	double since_s;
	int opened_it;

	/* An event pays nothing, and does not wait (core/wait.c). */
	if (plat->sim->in_kernel && gate->open)
		return 0;
	thread = sim_thread_self();
	opened_it = thread == plat->opener;
	sim_pay(plat);
	if (gate->open)
		return 0;
	since_s = simgrid_get_clock();
	if (opened_it)
		plat->gate = gate;
	gate->waiter = thread;
	sim_block(plat, &gate->open, -1);
	if (!is_open(plat, thread))
		return 0;
	if (opened_it && plat->gate == gate)
		plat->gate = NULL;
	plat_owe(plat, costs_main_wake_s(plat, since_s, simgrid_get_clock()));
	return 0;
}

/* An event of now: when all threads that can run have done so. */
void sim_wake_later(struct sim_thread *waiter)
{
	struct sim *sim = sim_get();

	kernel_hold(waiter->sem);
	if (sim->nwoken == sim->woken_capacity) {
		sim->woken_capacity = sim->woken_capacity ? 2 * sim->woken_capacity : 16;
		sim->woken = orr_realloc(sim->woken, (size_t)sim->woken_capacity *
							     sizeof(*sim->woken));
	}
	sim->woken[sim->nwoken++] = waiter->sem;
	if (calendar_has(&sim->waking))
		return;
	sim->waking.fire = on_waking;
	calendar_add(sim, &sim->waking, simgrid_get_clock());
}

/* SimGrid clears away threads that have ended when no other one can run. */
void sim_let_run(void)
{
	struct sim_thread *thread = sim_thread_self();

	sim_wake_later(thread);
	SIM_YIELDS(sg_sem_acquire(thread->sem));
}

/* A thread that opens a gate of the library may have one of its locks, and must not let
 * others run.  Who gives up a lock of the program's (plat is NULL) has none, and whom it
 * wakes comes first: he might never get it otherwise. */
void plat_gate_open(struct plat *plat, struct plat_gate *gate)
{
	struct sim_thread *waiter = gate->waiter;

	if (gate->open)
		return;
	gate->open = 1;
	if (!waiter)
		return;
	if (plat && !the_sim->in_kernel) {
		sim_wake_later(waiter);
		return;
	}
	kernel_hold(waiter->sem);
	calendar_reach(the_sim, release, waiter->sem);
}

void plat_set_poll(struct plat *plat, int (*poll)(void *arg), void *arg)
{
	plat->poll = poll;
	plat->poll_arg = arg;
}

void plat_poll_kick(struct plat *plat)
{
	/* The calendar drives everything else, and a main that waits polls; it does not
	 * know what a thread has given it to do. */
	if (!plat->idle || plat->kicked || plat->sim->in_kernel)
		return;
	plat->kicked = 1;
	sim_wake_later(plat->idle);
}
