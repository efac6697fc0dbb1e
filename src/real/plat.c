/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/check.h"
#include "plat/net.h"
#include "real/cuda.h"
#include "core/task/task.h"
#include "core/watchdog.h"
#include "real/lines.h"

enum { TIMER_SLACK_NS = 1000 };

/* The only writable state of the library; see struct real. */
static struct real *the_real;

/* A thread ends.  A worker takes leave of its caller before, and has no other end. */
static void end_caller(void *arg)
{
	struct plat_caller *caller = arg;

	if (caller->worker)
		orr_die(caller->worker->node->rank,
			"the thread of worker %d has been ended by pthread_exit() or "
			"pthread_cancel(), in task \"%s\" or a callback: a kernel or a "
			"callback must return",
			caller->worker->id,
			caller->task ? task_name(caller->task) : "none");
	free(caller);
}

struct real *real_get(void)
{
	struct real *real = real_known(), *none = NULL;

	if (real)
		return real;
	real = orr_alloc(sizeof(*real));
	orr_lock_init(&real->placed_lock);
	orr_lock_init(&real->vigil.lock);
	orr_lock_init(&real->lines_lock);
	if (pthread_key_create(&real->caller, end_caller) != 0)
		orr_die(ORR_NO_RANK, "no thread-specific key is left to this process");
	if (__atomic_compare_exchange_n(&the_real, &none, real, 0, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		leave_watch();
		return real;
	}
	pthread_key_delete(real->caller);
	free(real);
	return none;
}

void real_forget(void)
{
	if (the_real)
		lines_forget(the_real->lines);
	the_real = NULL;
}

struct real *real_known(void)
{
	return __atomic_load_n(&the_real, __ATOMIC_ACQUIRE);
}

struct node *plat_self(void)
{
	const struct real *real = real_known();

	/* Who sees the node sees what it was opened with. */
	return real ? __atomic_load_n(&real->self, __ATOMIC_ACQUIRE) : NULL;
}

void plat_set_self(struct node *node)
{
	__atomic_store_n(&real_get()->self, node, __ATOMIC_RELEASE);
}

struct world **plat_world(void)
{
	return &real_get()->world;
}

int plat_may_open(void)
{
	return 0;
}

int plat_open(struct plat **plat_out, struct node *node)
{
	struct plat *plat = orr_alloc(sizeof(*plat));
	const char *hostname = node_knobs(node)->hostname;
	int ret;

	plat->node = node;
	plat->process = getpid();
	plat->machine.executes = 1;
	plat->machine.polls_itself = 1;
	/* MPI may tell another one, in a communicator of fewer. */
	node->rank = peers_own_rank();
	plat->machine.is_first = node->rank == 0;
	plat->machine.kernels_wait = 1;
	plat->machine.devices[STARPU_CPU_WORKER].worker = &cpu_driver;
	plat->machine.devices[STARPU_CPU_WORKER].memory = plat_main_memory();
	if (*hostname)
		snprintf(plat->machine.hostname, sizeof(plat->machine.hostname), "%.127s",
			 hostname);
	else
		gethostname(plat->machine.hostname, sizeof(plat->machine.hostname) - 1);
	real_clock_name(plat->clock, sizeof(plat->clock));
	plat->machine.clock = plat->clock;
	/* Naps of 10 us must not last 60; threads made from here on inherit this. */
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
	ret = cores_open(plat);
	if (ret < 0) {
		free(plat);
		return ret;
	}
	numas_open(plat);
	copiers_open(plat);
	bell_open(plat);
	timers_init(plat);
	disks_init(plat);
	cuda_open(plat);
	leave_watch_faults(orr_load(&node->catch_signals));
	*plat_out = plat;
	return 0;
}

void plat_close(struct plat *plat)
{
	vigil_leave(plat);
	if (plat->progress.poll)
		plat_set_poll(plat, NULL, NULL);
	real_summary_write(plat->node);
	cuda_close(plat);
	disks_close(plat);
	timers_close(plat);
	free(plat->asleep);
	free(plat->progress.unpolled.asleep);
	bell_close(plat);
	copiers_close(plat);
	cores_close(plat);
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
	exit(code);
}

void plat_sleep(struct plat *plat, double seconds)
{
	struct timespec rest = {.tv_sec = (time_t)seconds};

	(void)plat;
	rest.tv_nsec = (long)((seconds - (double)rest.tv_sec) * 1e9);
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR)
		continue;
}

void plat_yield(struct plat *plat)
{
	(void)plat;
	sched_yield();
}

void plat_pause(struct plat *plat)
{
	plat_sleep(plat, 1e-6);
}

void plat_looked(struct plat *plat)
{
	/* Threads of the program alone: MPI may allow one at a time. */
	if (plat->progress.is_explicit && !plat_current_worker(plat))
		progress_poll(plat);
}

void plat_unstick(struct plat *plat)
{
	struct node *node = plat->node;

	if (node->on_stuck)
		node->on_stuck(node);
	if (watchdog_period_s(node) > 0)
		threads_look(plat, plat_now_s(plat), 0);
}

/* ---- net ------------------------------------------------------------- */

/* Builds without MPI have no transport. */
#pragma weak transport_mpi_open
#pragma weak transport_mpi_agree
#pragma weak real_mpi_reads_devices
#pragma weak real_mpi_near
#pragma weak real_mpi_meet
#pragma weak transport_ucx_open

int plat_net_agree(struct plat *plat, const struct net_config *config,
		   struct net_agreement *items, int n)
{
	struct guard *guard;
	int ret;

	if (!transport_mpi_agree)
		return -ENODEV;
	guard = guard_start(plat, config);
	ret = real_mpi_meet(plat, config);
	if (ret == 0)
		ret = transport_mpi_agree(config, items, n);
	guard_end(guard);
	return ret;
}

enum { WANTS_UNKNOWN = -1, WANTS_MPI, WANTS_UCX };

static int wanted(const struct net_config *config)
{
	if (!*config->name || strcmp(config->name, "mpi") == 0)
		return WANTS_MPI;
	if (strcmp(config->name, "ucx") == 0)
		return WANTS_UCX;
	orr_complain(config->rank,
		     "ORRERY_TRANSPORT is \"%s\": on a real machine \"mpi\" and \"ucx\" "
		     "are known",
		     config->name);
	return WANTS_UNKNOWN;
}

static int open_ucx(struct plat *plat, const struct net_config *config, struct net **net)
{
	struct thread_ids seen;
	int ret;

	if (!transport_ucx_open) {
		if (config->rank == 0)
			orr_complain(config->rank,
				     "ORRERY_TRANSPORT is ucx, which this library was "
				     "built without: all ranks use \"mpi\"; install the "
				     "Debian package libucx-dev and configure again");
		return -ENODEV;
	}
	threads_note(&seen);
	ret = transport_ucx_open(config, node_knobs(plat->node)->ucx_library,
				 &plat->progress.bell, net);
	if (ret == 0)
		threads_add_new(&seen, "async");
	if (ret == 0 && plat->cuda && node_knobs(plat->node)->mpi_gpudirect > 0)
		orr_complain(
			plat->node->rank,
			"STARPU_MPI_GPUDIRECT is 1, and transport ucx carries main "
			"memory only: values on GPUs go by main memory; for messages "
			"from and to GPUs take transport mpi");
	return ret;
}

/* All ranks or none, or their messages would not meet. */
static int open_net(struct plat *plat, const struct net_config *config, struct net **net)
{
	struct net_agreement wants = {.own = wanted(config)};
	int ret = transport_mpi_agree ? transport_mpi_agree(config, &wants, 1) : -ENODEV;

	if (ret < 0)
		return ret;
	if (wants.least == WANTS_UNKNOWN)
		return -EINVAL;
	if (wants.least != wants.most && config->rank == 0)
		orr_complain(config->rank,
			     "ORRERY_TRANSPORT is ucx on some ranks only: all ranks use "
			     "\"mpi\"; set it alike for all");
	cuda_share(plat, config);
	peers_meet(plat, config);
	if (wants.least == WANTS_UCX) {
		ret = open_ucx(plat, config, net);
		if (ret != -ENODEV)
			return ret;
	}
	ret = transport_mpi_open(plat, config,
				 NET_MPI_SHOWS_LATE | NET_MPI_SENDS_NOW | NET_MPI_PUSHES |
					 NET_MPI_COMPARES,
				 net);
	if (ret == 0)
		onehost_open(plat, config, *net);
	if (ret == 0)
		(*net)->memories = cuda_memories_of_mpi(plat, real_mpi_reads_devices());
	return ret;
}

int plat_net_open(struct plat *plat, const struct net_config *config, struct net **net)
{
	struct guard *guard;
	int ret;

	peers_forget(plat);
	guard = guard_start(plat, config);
	ret = open_net(plat, config, net);
	guard_end(guard);
	if (plat->peers)
		vigil_begin(plat, config->rank, plat->peers);
	return ret;
}
