/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * parallel_worker.c - the cores of a part of the machine as one worker: a context without
 * a policy for each, and if there is a policy one context with all workers.
 */
/* Its types, which the simulated flavour does not know. */
#define STARPU_HAVE_HWLOC 1

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>
#include <starpu_parallel_worker.h>

#include "api/api.h"
#include "base/check.h"
#include "core/sched/contexts.h"
#include "plat/places.h"

enum { MAX_PARTS = STARPU_NMAX_SCHED_CTXS, NOBODY = -1 };

/* What is asked of one object: a number of cores for each part; 0: its share. */
struct partition {
	int nparts;
	int ncores[MAX_PARTS];
};

struct starpu_parallel_worker_config {
	int n;
	unsigned ids[MAX_PARTS]; /* contexts */
	unsigned all; /* the context with the policy, or STARPU_NMAX_SCHED_CTXS */

	/* As it was asked for, by func. */
	const char *func;
	int least, most, wants_least, is_even, is_awake;
	const char *policy_name;
	struct starpu_sched_policy *policy;
	void (*create)(void *arg);
	void *create_arg;
	int nobjects; /* described */
	struct partition objects[MAX_PARTS];
};

/* ---- threads of kernels ------------------------------------------------ */

/* Of the program's OpenMP, which the library does not need. */
struct openmp {
	void (*set_threads)(int n);
	int (*thread)(void);
	void (*parallel)(void (*function)(void *data), void *data, unsigned nthreads,
			 unsigned flags);
};

/* Symbols are functions here. */
static void find_function(void *pointer, const char *name)
{
	*(void **)pointer = dlsym(RTLD_DEFAULT, name);
}

struct binding {
	const struct openmp *openmp;
	const int *cores;
	int n;
};

static void bind_one(void *data)
{
	const struct binding *binding = data;
	int core = binding->cores[binding->openmp->thread() % binding->n];

	if (core >= 0)
		starpu_sched_ctx_bind_current_thread_to_cpuid((unsigned)core);
}

/* Returns how many cores there are for the calling worker's kernels; 0: it leads none. */
static int prepare_openmp(const char *func)
{
	struct node *node = api_node(func);
	const struct worker *self = plat_current_worker(node->plat);
	struct openmp openmp;
	struct binding binding = {.openmp = &openmp};
	unsigned ctx;
	int *cores;

	if (!self)
		return 0;
	ctx = starpu_sched_ctx_master_get_context(self->id);
	if (ctx == STARPU_NMAX_SCHED_CTXS)
		return 0;
	starpu_sched_ctx_get_available_cpuids(ctx, &cores, &binding.n);
	find_function(&openmp.set_threads, "omp_set_num_threads");
	find_function(&openmp.thread, "omp_get_thread_num");
	find_function(&openmp.parallel, "GOMP_parallel");
	binding.cores = cores;
	/* Where kernels only last, no thread is to be started. */
	if (openmp.set_threads && !node->machine->predicts) {
		openmp.set_threads(binding.n);
		if (openmp.thread && openmp.parallel)
			openmp.parallel(bind_one, &binding, (unsigned)binding.n, 0);
	}
	free(cores);
	return binding.n;
}

void starpu_parallel_worker_openmp_prologue(void *arg)
{
	(void)arg;
	prepare_openmp(__func__);
}

void starpu_parallel_worker_gnu_openmp_mkl_prologue(void *arg);
void starpu_parallel_worker_gnu_openmp_mkl_prologue(void *arg)
{
	int n = prepare_openmp(__func__);
	void (*set_threads)(int n);

	(void)arg;
	find_function(&set_threads, "MKL_Set_Num_Threads");
	if (n > 0 && set_threads)
		set_threads(n);
}

/* ---- what is asked for ------------------------------------------------- */

static struct partition *object_of(struct starpu_parallel_worker_config *config)
{
	if (config->nobjects == 0)
		config->nobjects = 1;
	return &config->objects[config->nobjects - 1];
}

static void too_many(const char *func) __attribute__((noreturn));

static void too_many(const char *func)
{
	orr_die(api_rank(),
		"%s: describes more than %d parallel workers; expected at most "
		"as many as there are contexts",
		func, MAX_PARTS);
}

static void read_partition(struct starpu_parallel_worker_config *config, const char *func,
			   int kind, int n)
{
	struct partition *object;

	if (kind == STARPU_PARALLEL_WORKER_PARTITION_ONE) {
		if (config->nobjects == MAX_PARTS)
			too_many(func);
		config->nobjects++;
		return;
	}
	object = object_of(config);
	if (kind == STARPU_PARALLEL_WORKER_NEW) {
		if (object->nparts == MAX_PARTS)
			too_many(func);
		object->ncores[object->nparts++] = 0;
	} else if (object->nparts == 0) {
		orr_die(api_rank(),
			"%s: STARPU_PARALLEL_WORKER_NCORES comes before "
			"STARPU_PARALLEL_WORKER_NEW, expected behind it",
			func);
	} else {
		object->ncores[object->nparts - 1] = n;
	}
}

static void read_type(struct starpu_parallel_worker_config *config, const char *func,
		      int type)
{
	if (type == STARPU_PARALLEL_WORKER_GNU_OPENMP_MKL)
		config->create = starpu_parallel_worker_gnu_openmp_mkl_prologue;
	else if (type != STARPU_PARALLEL_WORKER_OPENMP &&
		 type != STARPU_PARALLEL_WORKER_INTEL_OPENMP_MKL)
		orr_die(api_rank(),
			"%s: there is no type %d of parallel workers; expected "
			"one of enum starpu_parallel_worker_types",
			func, type);
}

/* Of those with a number. */
static int read_number(struct starpu_parallel_worker_config *config, int kind, int n)
{
	switch (kind) {
	case STARPU_PARALLEL_WORKER_MIN_NB:
		config->least = n;
		return 1;
	case STARPU_PARALLEL_WORKER_MAX_NB:
		config->most = n;
		return 1;
	case STARPU_PARALLEL_WORKER_NB:
		config->least = config->most = n;
		return 1;
	case STARPU_PARALLEL_WORKER_PREFERE_MIN:
		config->wants_least = n;
		return 1;
	case STARPU_PARALLEL_WORKER_KEEP_HOMOGENEOUS:
		config->is_even = n;
		return 1;
	case STARPU_PARALLEL_WORKER_AWAKE_WORKERS:
		config->is_awake = n;
		return 1;
	default:
		return 0;
	}
}

static void read_number_or_die(struct starpu_parallel_worker_config *config,
			       const char *func, int kind, int n)
{
	if (kind == STARPU_PARALLEL_WORKER_NCORES)
		read_partition(config, func, kind, n);
	else if (kind == STARPU_PARALLEL_WORKER_TYPE)
		read_type(config, func, n);
	else if (!read_number(config, kind, n))
		orr_die(api_rank(),
			"%s: is given the argument %d, which is none of "
			"STARPU_PARALLEL_WORKER_*; is the 0 at the end missing?",
			func, kind);
}

static void read_wish(struct starpu_parallel_worker_config *config, const char *func,
		      va_list args)
{
	int kind;

	while ((kind = va_arg(args, int))) {
		switch (kind) {
		case STARPU_PARALLEL_WORKER_POLICY_NAME:
			config->policy_name = va_arg(args, const char *);
			break;
		case STARPU_PARALLEL_WORKER_POLICY_STRUCT:
			config->policy = va_arg(args, struct starpu_sched_policy *);
			break;
		case STARPU_PARALLEL_WORKER_CREATE_FUNC:
			config->create = va_arg(args, void (*)(void *));
			break;
		case STARPU_PARALLEL_WORKER_CREATE_FUNC_ARG:
			config->create_arg = va_arg(args, void *);
			break;
		case STARPU_PARALLEL_WORKER_PARTITION_ONE:
		case STARPU_PARALLEL_WORKER_NEW:
			read_partition(config, func, kind, 0);
			break;
		default:
			read_number_or_die(config, func, kind, va_arg(args, int));
		}
	}
}

/* ---- which cores ------------------------------------------------------- */

/* Workers by context to be: part[i] of worker i, or NOBODY. */
struct cut {
	int nparts;
	int part[STARPU_NMAXWORKERS];
};

/* How many parts an object of n cores has, that nobody described. */
static int usual_parts(const struct starpu_parallel_worker_config *config, int n)
{
	int least = config->least > 0 ? config->least : 1;
	int most = config->most > 0 ? config->most : least;
	int nparts = config->wants_least ? least : most;

	return nparts < n ? nparts : n;
}

/* The number of cores of each part of an object with n: as described, then shares. */
static int divide(const struct starpu_parallel_worker_config *config, int object, int n,
		  int ncores[])
{
	const struct partition *described =
		object < config->nobjects ? &config->objects[object] : NULL;
	int nparts, left = n, nshares = 0, given = 0;

	nparts = described && described->nparts > 0 ? described->nparts
						    : usual_parts(config, n);
	for (int i = 0; i < nparts; i++) {
		ncores[i] = described && described->nparts > 0 ? described->ncores[i] : 0;
		left -= ncores[i];
		nshares += ncores[i] == 0;
	}
	if (left < nshares)
		return -1;
	for (int i = 0; i < nparts; i++) {
		if (ncores[i] > 0)
			continue;
		ncores[i] = left / nshares;
		if (!config->is_even && given++ < left % nshares)
			ncores[i]++;
	}
	return nparts;
}

/* 0, or -1 when that cannot be done. */
static int cut_object(const struct starpu_parallel_worker_config *config,
		      struct node *node, struct cut *cut, const int *ids, int n,
		      int object)
{
	int ncores[STARPU_NMAXWORKERS], at = 0;
	int nparts = divide(config, object, n, ncores);

	if (nparts < 0) {
		orr_complain(
			node->rank,
			"%s: object %d of the level has %d CPU workers, fewer than its "
			"parallel workers are to have",
			config->func, object, n);
		return -1;
	}
	for (int i = 0; i < nparts; i++)
		for (int k = 0; k < ncores[i]; k++)
			cut->part[ids[at++]] = cut->nparts + i;
	cut->nparts += nparts;
	return 0;
}

/* PLAT_NLEVELS: the library knows of none such. */
static enum plat_level level_of(hwloc_obj_type_t type)
{
	switch (type) {
	case HWLOC_OBJ_MACHINE:
		return PLAT_MACHINE;
	case HWLOC_OBJ_PACKAGE:
		return PLAT_PACKAGE;
	case HWLOC_OBJ_NUMANODE:
		return PLAT_NUMA_NODE;
	case HWLOC_OBJ_L3CACHE:
		return PLAT_L3;
	case HWLOC_OBJ_L2CACHE:
		return PLAT_L2;
	case HWLOC_OBJ_L1CACHE:
		return PLAT_L1;
	case HWLOC_OBJ_CORE:
		return PLAT_CORE;
	case HWLOC_OBJ_PU:
		return PLAT_PU;
	default:
		return PLAT_NLEVELS;
	}
}

static int place_of(struct node *node, const struct worker *worker, int type)
{
	enum plat_level level = level_of((hwloc_obj_type_t)type);

	if (worker->type != STARPU_CPU_WORKER || level == PLAT_NLEVELS)
		return -1;
	return plat_worker_place(node->plat, worker->devid, level);
}

/* The objects in the order of their first workers. */
static int cut_all(const struct starpu_parallel_worker_config *config, struct node *node,
		   int level, struct cut *cut)
{
	char is_done[STARPU_NMAXWORKERS] = {0};
	int ids[STARPU_NMAXWORKERS], nobjects = 0;

	cut->nparts = 0;
	for (int i = 0; i < node->nworkers; i++)
		cut->part[i] = NOBODY;
	for (int i = 0; i < node->nworkers; i++) {
		int place = place_of(node, &node->workers[i], level), n = 0;

		if (is_done[i] || place < 0)
			continue;
		for (int k = i; k < node->nworkers; k++)
			if (place_of(node, &node->workers[k], level) == place) {
				ids[n++] = k;
				is_done[k] = 1;
			}
		if (cut_object(config, node, cut, ids, n, nobjects++) != 0)
			return -1;
	}
	if (nobjects == 0)
		orr_complain(node->rank,
			     "%s: no CPU worker is known to lie in an object of hwloc's "
			     "type %d; take one that the machine has, as "
			     "HWLOC_OBJ_MACHINE",
			     config->func, level);
	return nobjects > 0 ? 0 : -1;
}

/* ---- contexts ---------------------------------------------------------- */

static int free_contexts(struct node *node)
{
	int n = 0;

	for (unsigned i = 0; i < STARPU_NMAX_SCHED_CTXS; i++)
		n += contexts_find(node, i) == NULL;
	return n;
}

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static double no_time(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 0;
}

/* The master of the context calls the create function. */
static void call_create(const struct starpu_parallel_worker_config *config, unsigned ctx)
{
	struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = no_time};
	struct starpu_codelet cl = {
		.cpu_funcs = {nothing}, .model = &model, .name = "parallel worker"};
	struct starpu_task *task = starpu_task_create();

	task->cl = &cl;
	task->prologue_callback_pop_func = config->create;
	task->prologue_callback_pop_arg = config->create_arg;
	task->synchronous = 1;
	/* The master can run it. */
	ORR_ASSERT(starpu_task_submit_to_ctx(task, ctx) == 0);
}

static void make_all(struct starpu_parallel_worker_config *config, struct node *node)
{
	config->all = STARPU_NMAX_SCHED_CTXS;
	if (config->policy)
		config->all = starpu_sched_ctx_create(
			NULL, node->nworkers, "parallel workers",
			STARPU_SCHED_CTX_POLICY_STRUCT, config->policy, 0);
	else if (config->policy_name)
		config->all = starpu_sched_ctx_create(
			NULL, node->nworkers, "parallel workers",
			STARPU_SCHED_CTX_POLICY_NAME, config->policy_name, 0);
	if (config->all != STARPU_NMAX_SCHED_CTXS)
		starpu_sched_ctx_set_context(&config->all);
}

static void make_parts(struct starpu_parallel_worker_config *config, struct node *node,
		       const struct cut *cut)
{
	unsigned around = config->all == STARPU_NMAX_SCHED_CTXS ? 0 : config->all;
	int ids[STARPU_NMAXWORKERS];

	for (config->n = 0; config->n < cut->nparts; config->n++) {
		int n = 0;
		unsigned ctx;

		for (int i = 0; i < node->nworkers; i++)
			if (cut->part[i] == config->n)
				ids[n++] = i;
		ctx = starpu_sched_ctx_create(
			ids, n, "parallel worker", STARPU_SCHED_CTX_NESTED, around,
			config->is_awake ? STARPU_SCHED_CTX_AWAKE_WORKERS : 0, 0);
		config->ids[config->n] = ctx;
		if (config->create)
			call_create(config, ctx);
	}
}

static struct starpu_parallel_worker_config *init(const char *func, int level,
						  va_list args)
{
	struct node *node = api_blocking_node(func);
	struct starpu_parallel_worker_config *config = orr_alloc(sizeof(*config));
	struct cut cut;
	int nwanted, nfree = free_contexts(node);

	config->func = func;
	config->create = starpu_parallel_worker_openmp_prologue;
	read_wish(config, func, args);
	if (cut_all(config, node, level, &cut) != 0)
		goto refused;
	nwanted = cut.nparts + (config->policy || config->policy_name);
	if (nwanted > nfree) {
		orr_complain(
			node->rank,
			"%s: needs %d scheduling contexts, and %d of "
			"STARPU_NMAX_SCHED_CTXS are free; make fewer parallel workers, "
			"or delete contexts",
			func, nwanted, nfree);
		goto refused;
	}
	make_all(config, node);
	make_parts(config, node, &cut);
	return config;
refused:
	free(config);
	return NULL;
}

struct starpu_parallel_worker_config *
starpu_parallel_worker_init(hwloc_obj_type_t parallel_worker_level, ...)
{
	struct starpu_parallel_worker_config *config;
	va_list args;

	va_start(args, parallel_worker_level);
	config = init(__func__, (int)parallel_worker_level, args);
	va_end(args);
	return config;
}

int starpu_parallel_worker_shutdown(
	struct starpu_parallel_worker_config *parallel_workers)
{
	struct starpu_parallel_worker_config *config = parallel_workers;

	if (!config)
		return -EINVAL;
	for (int i = 0; i < config->n; i++)
		starpu_sched_ctx_delete(config->ids[i]);
	if (config->all != STARPU_NMAX_SCHED_CTXS) {
		if (starpu_sched_ctx_get_context() == config->all)
			starpu_sched_ctx_set_context(NULL);
		starpu_sched_ctx_delete(config->all);
	}
	free(config);
	return 0;
}

int starpu_parallel_worker_print(struct starpu_parallel_worker_config *parallel_workers)
{
	const struct starpu_parallel_worker_config *config = parallel_workers;

	if (!config)
		return -EINVAL;
	printf("Number of parallel workers: %d\n", config->n);
	for (int i = 0; i < config->n; i++) {
		printf("Parallel worker %d: ", i);
		fflush(stdout);
		starpu_sched_ctx_display_workers(config->ids[i], stdout);
	}
	return 0;
}

/* ---- old names --------------------------------------------------------- */

struct starpu_cluster_machine *starpu_cluster_machine(hwloc_obj_type_t cluster_level, ...)
{
	struct starpu_parallel_worker_config *config;
	va_list args;

	va_start(args, cluster_level);
	config = init(__func__, (int)cluster_level, args);
	va_end(args);
	return (struct starpu_cluster_machine *)(void *)config;
}

int starpu_uncluster_machine(struct starpu_cluster_machine *clusters)
{
	return starpu_parallel_worker_shutdown(
		(struct starpu_parallel_worker_config *)(void *)clusters);
}

int starpu_cluster_print(struct starpu_cluster_machine *clusters)
{
	return starpu_parallel_worker_print(
		(struct starpu_parallel_worker_config *)(void *)clusters);
}
