/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/api.h"
#include "api/bindings.h"
#include "api/data_print.h"
#include "api/mpi_slaves.h"
#include "api/prof_tool.h"
#include "api/profiling.h"
#include "api/trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <orrery.h>

#include "base/check.h"
#include "base/process.h"
#include "core/model/bus.h"
#include "core/data/data.h"
#include "core/lasting.h"
#include "core/outside.h"
#include "core/worker.h"

enum { CONF_MAGIC = 42 };

struct node *api_node(const char *func)
{
	struct node *node = plat_self();

	if (!node)
		orr_die(ORR_NO_RANK,
			"%s: the library is not initialised; call starpu_init() or "
			"starpu_mpi_init_conf() first, in this process (a child of "
			"fork() starts without it), and the function before "
			"starpu_shutdown() (in simulation also: this thread belongs to "
			"no rank: a library, a kernel or a callback made it, it calls a "
			"handler of atexit() or a destructor after the end of all mains, "
			"ORRERY_REAL_THREADS is set, or it has a sanitizer)",
			func);
	return node;
}

struct node *api_blocking_node(const char *func)
{
	struct node *node = api_node(func);
	struct worker *worker = plat_current_worker(node->plat);

	if (!worker)
		return node;
	outside_look(plat_caller(node->plat));
	orr_die(node->rank,
		"%s: called from a task or its callback, where it would block "
		"worker %d for ever; call it from the application's threads, or "
		"use the form with a callback",
		func, worker->id);
}

int api_rank(void)
{
	const struct node *node = plat_self();

	return node ? node->rank : ORR_NO_RANK;
}

void api_given(const char *func, const char *argument, const void *pointer)
{
	if (!pointer)
		orr_die(api_rank(),
			"%s: the argument \"%s\" is NULL; give a pointer to an object of "
			"yours",
			func, argument);
}

void api_check_registered(const struct node *node, const char *func,
			  starpu_data_handle_t handle)
{
	if (!data_is_registered(node, handle))
		orr_die(node->rank,
			"%s: the handle is %s; give one that starpu_*_data_register() "
			"returned and that has not been unregistered",
			func, handle ? "no longer registered" : "NULL");
}

void api_check_handle(const struct node *node, const char *func,
		      starpu_data_handle_t handle)
{
	char what[128];

	api_check_registered(node, func, handle);
	if (data_flags(handle) & DATUM_DYING)
		orr_die(node->rank,
			"%s: %s has been given to starpu_data_unregister_submit(), which "
			"ends it; use it before that call only",
			func, data_describe(handle, what, sizeof(what)));
}

void starpu_get_version(int *major, int *minor, int *release)
{
	*major = STARPU_MAJOR_VERSION;
	*minor = STARPU_MINOR_VERSION;
	*release = STARPU_RELEASE_VERSION;
}

static int set_or_0(int knob)
{
	return knob == -1 ? 0 : knob;
}

int starpu_conf_init(struct starpu_conf *conf)
{
	struct knobs knobs;
	const struct knobs_copies *copies = &knobs.disabled_copies;

	if (!conf)
		return -EINVAL;
	knobs_read(&knobs);
	*conf = (struct starpu_conf){.magic = CONF_MAGIC};
	conf->sched_policy_name = knobs_raw("STARPU_SCHED");
	conf->ncpus = knobs.ncpu;
	conf->reserve_ncpus = knobs.reserve_ncpu;
	conf->ncuda = knobs.ncuda;
	conf->nhip = conf->nopencl = conf->nmax_fpga = -1;
	conf->nmpi_ms = knobs.nmpi_ms;
	conf->ntcpip_ms = -1;
	conf->calibrate = set_or_0(knobs.calibrate);
	conf->single_combined_worker = knobs.single_combined;
	conf->bus_calibrate = set_or_0(knobs.bus_calibrate);
	conf->disable_asynchronous_copy = set_or_0(copies->all);
	conf->disable_asynchronous_cuda_copy = set_or_0(copies->cuda);
	conf->disable_asynchronous_hip_copy = set_or_0(copies->hip);
	conf->disable_asynchronous_opencl_copy = set_or_0(copies->opencl);
	conf->disable_asynchronous_max_fpga_copy = set_or_0(copies->max_fpga);
	conf->disable_asynchronous_mpi_ms_copy = set_or_0(copies->mpi_ms);
	conf->disable_asynchronous_tcpip_ms_copy = set_or_0(copies->tcpip_ms);
	conf->enable_map = set_or_0(knobs.enable_map);
	conf->trace_buffer_size = (uint64_t)64 << 20;
	conf->global_sched_ctx_min_priority = knobs.min_prio;
	conf->global_sched_ctx_max_priority = knobs.max_prio;
	conf->catch_signals = knobs.catch_signals == -1 ? 1 : knobs.catch_signals;
	conf->driver_spinning_backoff_min = 1;
	conf->driver_spinning_backoff_max = 32;
	knobs_free(&knobs);
	return 0;
}

int starpu_conf_noworker(struct starpu_conf *conf)
{
	if (!conf)
		return -EINVAL;
	conf->ncpus = conf->ncuda = conf->nhip = conf->nopencl = 0;
	conf->nmax_fpga = conf->nmpi_ms = conf->ntcpip_ms = 0;
	return 0;
}

/* STARPU_SIMGRID=1 asks for a simulation: a real run would be a mistake. */
static int check_flavour(void)
{
	struct knobs knobs;
	int simgrid;

	knobs_read(&knobs);
	simgrid = knobs.simgrid;
	knobs_free(&knobs);
	if (simgrid != 1 || plat_is_simulated())
		return 0;
	orr_complain(
		ORR_NO_RANK,
		"STARPU_SIMGRID is 1, but this program is linked with the real library; "
		"unset it, or build with pkg-config orrery-sim");
	return -EINVAL;
}

/* Lives begin and end one at a time, whoever asks; who comes meanwhile waits. */
static struct lasting *lock_life(void)
{
	struct lasting *lasting = lasting_get();

	while (!orr_cas(&lasting->is_changing, 0, 1))
		plat_sleep(NULL, 1e-4);
	return lasting;
}

static void unlock_life(struct lasting *lasting)
{
	orr_store(&lasting->is_changing, 0);
}

/* ---- master and slaves ----------------------------------------------- */

/* As node_open() will merge it: no slaves unless they are asked for. */
static int wants_slaves(struct starpu_conf *conf)
{
	struct knobs knobs;

	knobs_read(&knobs);
	if (knobs.nmpi_ms != -1 &&
	    !(conf->precedence_over_environment_variables && conf->nmpi_ms != -1))
		conf->nmpi_ms = knobs.nmpi_ms;
	knobs_free(&knobs);
	if (conf->nmpi_ms <= 0)
		return 0;
	if (conf->will_use_mpi != 1)
		return 1;
	orr_complain(ORR_NO_RANK,
		     "starpu_init: %d slaves are asked for (STARPU_NMPI_MS, "
		     "conf.nmpi_ms), but a program that uses starpu_mpi has none: it "
		     "runs without",
		     conf->nmpi_ms);
	return 0;
}

static void begin_records(struct node *node, const struct starpu_conf *conf);

/* STARPU_NCPU is the master's. */
static int take_cores(struct node *node, void *ncpus)
{
	node_want_cpus(node, *(const int *)ncpus);
	return 0;
}

/* The whole life of a slave; it does not return to its program. */
static int serve(struct starpu_conf *conf, const struct ms_config *config)
{
	struct node *node;
	int ncpus = conf->ncpus;
	int ret = node_open_extended(&node, conf, take_cores, &ncpus);

	if (ret < 0)
		orr_die(config->net.rank, "a slave cannot open its node (%d)", ret);
	begin_records(node, conf);
	ret = ms_serve(node, config);
	if (ret < 0)
		orr_die(config->net.rank, "a slave cannot serve its master (%d)", ret);
	profiling_end(node);
	trace_end(node);
	node_close(node);
	unlock_life(lasting_get());
	ms_end_mpi(1);
	plat_leave(0);
	return -ENODEV; /* Only a test comes here: no node is open. */
}

static int open_with_slaves(struct node **node, struct starpu_conf *conf, int *argc,
			    char ***argv)
{
	struct ms_config config = {0};
	int role = ms_role(conf, argc, argv, &config);

	if (role == MS_SLAVE)
		return serve(conf, &config);
	if (role == MS_MASTER)
		return node_open_extended(node, conf, ms_master_open, &config);
	return role < 0 ? role : node_open(node, conf);
}

/* ---- a life ---------------------------------------------------------- */

static int begin_life(struct starpu_conf *user_conf, int *argc, char ***argv)
{
	struct node *node = plat_self();
	struct starpu_conf conf;
	int ret;

	if (node && node->is_for_models) {
		node_close(node);
		node = NULL;
	}
	if (node) {
		node->ninit++;
		return 0;
	}
	if (user_conf)
		conf = *user_conf;
	else
		starpu_conf_init(&conf);
	prof_tool_begin(&conf);
	ret = wants_slaves(&conf) ? open_with_slaves(&node, &conf, argc, argv)
				  : node_open(&node, &conf);
	if (ret < 0) {
		prof_tool_end();
		return -ENODEV;
	}
	begin_records(node, &conf);
	prof_tool_begun(node, &conf);
	return 0;
}

static void begin_records(struct node *node, const struct starpu_conf *conf)
{
	trace_begin(node);
	bus_files_make(node);
	/* With MPI they are printed rank by rank. */
	if (conf->will_use_mpi != 1)
		bindings_display(node);
}

int starpu_initialize(struct starpu_conf *user_conf, int *argc, char ***argv)
{
	struct lasting *lasting;
	int ret;

	if (user_conf && user_conf->magic != CONF_MAGIC) {
		orr_complain(ORR_NO_RANK,
			     "starpu_init: the configuration's magic is %d, not %d: "
			     "fill it with starpu_conf_init() first",
			     user_conf->magic, CONF_MAGIC);
		return -EINVAL;
	}
	if (!plat_self() && check_flavour() < 0)
		return -EINVAL;
	ret = plat_may_open();
	if (ret < 0)
		return ret;
	lasting = lock_life();
	ret = begin_life(user_conf, argc, argv);
	unlock_life(lasting);
	return ret;
}

int starpu_init(struct starpu_conf *conf)
{
	return starpu_initialize(conf, NULL, NULL);
}

int starpu_is_initialized(void)
{
	const struct node *node = plat_self();

	return node && !node->is_for_models;
}

void starpu_wait_initialized(void)
{
	while (!starpu_is_initialized())
		plat_sleep(NULL, 1e-4);
}

/* ---- models alone ---------------------------------------------------- */

/* A node that nobody else is to see. */
static void open_for_models(void)
{
	struct starpu_conf conf;
	struct node *node;

	starpu_conf_init(&conf);
	starpu_conf_noworker(&conf);
	conf.ncpus = 1;
	conf.sched_policy_name = "eager";
	conf.precedence_over_environment_variables = 1;
	if (node_open(&node, &conf) == 0)
		node->is_for_models = 1;
}

void starpu_perfmodel_initialize(void)
{
	struct lasting *lasting = lock_life();

	if (!plat_self())
		open_for_models();
	unlock_life(lasting);
}

void starpu_perfmodel_free_sampling(void)
{
	struct lasting *lasting = lock_life();
	struct node *node = plat_self();

	if (node && node->is_for_models)
		node_close(node);
	unlock_life(lasting);
}

/* ---- the end of a life ----------------------------------------------- */

static void end_life(struct node *node)
{
	if (node->ninit > 0) {
		node->ninit--;
		return;
	}
	if (node->mpi)
		orr_die(node->rank,
			"starpu_shutdown: the MPI layer of the library still runs, and "
			"other ranks may wait for this one; call starpu_mpi_shutdown() "
			"first, which after starpu_mpi_init_conf() does this as well");
	if (node->npaused)
		orr_die(node->rank,
			"starpu_shutdown: the library is paused %d times; call "
			"starpu_resume() first",
			node->npaused);
	node_wait_ready(node, 0);
	if (node_knobs(node)->memory_stats)
		data_print_all(node, stderr);
	profiling_end(node);
	trace_end(node);
	node_close(node);
	prof_tool_end();
	ms_end_mpi(0);
}

void starpu_shutdown(void)
{
	struct lasting *lasting;

	api_blocking_node(__func__);
	lasting = lock_life();
	end_life(api_node(__func__));
	unlock_life(lasting);
}

void starpu_pause(void)
{
	orr_add(&api_node(__func__)->npaused, 1);
}

void starpu_resume(void)
{
	struct node *node = api_node(__func__);

	if (orr_add(&node->npaused, -1) < 0)
		orr_die(node->rank,
			"starpu_resume: there was no starpu_pause() before it");
	if (orr_load(&node->npaused) > 0)
		return;
	for (int i = 0; i < node->nworkers; i++)
		plat_worker_wake(&node->workers[i]);
}

int starpu_is_paused(void)
{
	return orr_load(&api_node(__func__)->npaused) > 0;
}

/* ---- threads of the application -------------------------------------- */

unsigned starpu_get_next_bindid(unsigned flags, unsigned *preferred, unsigned npreferred)
{
	struct node *node = api_node(__func__);
	int next, core;

	(void)flags;
	if (npreferred > 0)
		return preferred[0];
	next = node->nworkers_of[STARPU_CPU_WORKER] + orr_add(&node->nbound, 1) - 1;
	core = plat_worker_bindid(node->plat, next);
	return (unsigned)(core >= 0 ? core : next);
}

int starpu_bind_thread_on(int cpuid, unsigned flags, const char *name)
{
	struct node *node = api_node(__func__);

	(void)flags;
	if (cpuid >= 0 && plat_bind_thread(node->plat, cpuid) == 0)
		return 0;
	orr_complain(node->rank, "%s: thread \"%s\" is not bound: there is no core %d",
		     __func__, name ? name : "", cpuid);
	return -1;
}

void starpu_bind_thread_on_worker(unsigned workerid)
{
	struct node *node = api_node(__func__);
	int core = starpu_worker_get_bindid((int)workerid);

	if (core >= 0 && bindings_are_made(node))
		plat_bind_thread(node->plat, core);
}

void starpu_bind_thread_on_main(void)
{
	plat_bind_thread(api_node(__func__)->plat, PLAT_MAIN_CORE);
}

void starpu_bind_thread_on_cpu(int cpuid)
{
	starpu_bind_thread_on(cpuid, 0, "");
}

int starpu_cpu_os_index(int cpuid)
{
	return plat_core_os_index(api_node(__func__)->plat, cpuid);
}

long starpu_get_memory_location_bitmap(void *ptr, size_t size)
{
	const struct node *node = api_node(__func__);

	return size > 0 ? plat_memory_location(node->plat, ptr, size) : -1;
}

int starpu_get_pu_os_index(unsigned logical_index)
{
	return plat_core_os_index(api_node(__func__)->plat, (int)logical_index);
}

void starpu_topology_print(FILE *f)
{
	struct node *node = api_node(__func__);
	const struct plat_devices *cores = &node->machine->devices[STARPU_CPU_WORKER],
				  *gpus = &node->machine->devices[STARPU_CUDA_WORKER];

	fprintf(f, "%s: %d cores%s%s%s, %d GPUs%s%s%s\n", node->machine->hostname,
		cores->count, *cores->model ? " (" : "", cores->model,
		*cores->model ? ")" : "", gpus->count, gpus->count ? " (" : "",
		gpus->model, gpus->count ? ")" : "");
	for (int i = 0; i < node->nworkers; i++) {
		char name[64];

		starpu_worker_get_name(i, name, sizeof(name));
		fprintf(f, "  worker %d: %s, core %d, memory %u\n", i, name,
			starpu_worker_get_bindid(i), node->workers[i].memory);
	}
}

int orrery_is_simulated(void)
{
	return plat_is_simulated();
}

double orrery_virtual_time(void)
{
	struct node *node = plat_self();

	/* Nodes of a real run share no origin but their common start. */
	if (!plat_is_simulated())
		return process_wall_s();
	return node ? plat_look_s(node->plat) : plat_clock_s();
}

int orrery_get_stats(struct orrery_stats *stats)
{
	struct node *node = plat_self();

	if (!stats)
		return -EINVAL;
	if (!node)
		return -ENODEV;
	*stats = (struct orrery_stats){
		.tasks_submitted = orr_count(&node->tasks_submitted),
		.tasks_inserted = orr_count(&node->tasks_inserted),
		.tasks_executed = workers_executed(node),
		.messages_sent = orr_count(&node->messages_sent),
		.bytes_sent = orr_count(&node->bytes_sent),
		.early_transfers = orr_count(&node->early_transfers),
		.early_bytes = orr_count(&node->early_bytes),
		.uncalibrated_tasks = node->uncalibrated_tasks};
	stats->makespan_s = plat_now_s(node->plat) - node->start_s;
	stats->host_wall_s = process_wall_s();
	stats->peak_memory_bytes = process_peak_bytes();
	return 0;
}
