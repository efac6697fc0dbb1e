/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* For Fortran: constants, the configuration, workers. */
#include "api/fortran.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/check.h"

/* ---- constants ------------------------------------------------------- */

#define CONSTANT(name)                                                                   \
	{                                                                                \
		"FSTARPU_" #name, (uintptr_t)(STARPU_##name)                             \
	}

/* scripts/make-fortran-modules declares these to Fortran. */
static const struct constant {
	const char *name;
	uintptr_t value;
} constants[] = {
	CONSTANT(R),
	CONSTANT(W),
	CONSTANT(RW),
	CONSTANT(SCRATCH),
	CONSTANT(REDUX),
	CONSTANT(MPI_REDUX),
	CONSTANT(MPI_SAME),
	CONSTANT(COMMUTE),
	CONSTANT(SSEND),
	CONSTANT(LOCALITY),
	CONSTANT(VALUE),
	CONSTANT(DATA_ARRAY),
	CONSTANT(DATA_MODE_ARRAY),
	CONSTANT(NODE_ARRAY),
	CONSTANT(CL_ARGS),
	CONSTANT(CL_ARGS_NFREE),
	CONSTANT(TASK_DEPS_ARRAY),
	CONSTANT(TASK_END_DEPS_ARRAY),
	CONSTANT(TASK_END_DEP),
	CONSTANT(CALLBACK),
	CONSTANT(CALLBACK_WITH_ARG),
	CONSTANT(CALLBACK_WITH_ARG_NFREE),
	CONSTANT(CALLBACK_ARG),
	CONSTANT(CALLBACK_ARG_NFREE),
	CONSTANT(PROLOGUE_CALLBACK),
	CONSTANT(PROLOGUE_CALLBACK_ARG),
	CONSTANT(PROLOGUE_CALLBACK_ARG_NFREE),
	CONSTANT(PROLOGUE_CALLBACK_POP),
	CONSTANT(PROLOGUE_CALLBACK_POP_ARG),
	CONSTANT(PROLOGUE_CALLBACK_POP_ARG_NFREE),
	CONSTANT(EPILOGUE_CALLBACK),
	CONSTANT(EPILOGUE_CALLBACK_ARG),
	CONSTANT(PRIORITY),
	CONSTANT(EXECUTE_ON_NODE),
	CONSTANT(EXECUTE_ON_DATA),
	CONSTANT(EXECUTE_ON_WORKER),
	CONSTANT(EXECUTE_WHERE),
	CONSTANT(WORKER_ORDER),
	CONSTANT(NODE_SELECTION_POLICY),
	CONSTANT(HYPERVISOR_TAG),
	CONSTANT(POSSIBLY_PARALLEL),
	CONSTANT(FLOPS),
	CONSTANT(TAG),
	CONSTANT(TAG_ONLY),
	CONSTANT(NAME),
	CONSTANT(TASK_COLOR),
	CONSTANT(TASK_SYNCHRONOUS),
	CONSTANT(TASK_SCHED_DATA),
	CONSTANT(TASK_NO_SUBMITORDER),
	CONSTANT(TASK_WORKERIDS),
	CONSTANT(SEQUENTIAL_CONSISTENCY),
	CONSTANT(HANDLES_SEQUENTIAL_CONSISTENCY),
	CONSTANT(SCHED_CTX),
	CONSTANT(SCHED_CTX_POLICY_NAME),
	CONSTANT(SCHED_CTX_POLICY_STRUCT),
	CONSTANT(SCHED_CTX_POLICY_MIN_PRIO),
	CONSTANT(SCHED_CTX_POLICY_MAX_PRIO),
	CONSTANT(SCHED_CTX_HIERARCHY_LEVEL),
	CONSTANT(SCHED_CTX_NESTED),
	CONSTANT(SCHED_CTX_AWAKE_WORKERS),
	CONSTANT(SCHED_CTX_POLICY_INIT),
	CONSTANT(SCHED_CTX_USER_DATA),
	CONSTANT(SCHED_CTX_CUDA_NSMS),
	CONSTANT(SCHED_CTX_SUB_CTXS),
	CONSTANT(CPU_WORKER),
	CONSTANT(CUDA_WORKER),
	CONSTANT(HIP_WORKER),
	CONSTANT(OPENCL_WORKER),
	CONSTANT(ANY_WORKER),
	CONSTANT(NOWHERE),
	CONSTANT(CPU),
	CONSTANT(CUDA),
	CONSTANT(HIP),
	CONSTANT(OPENCL),
	CONSTANT(CODELET_SIMGRID_EXECUTE),
	CONSTANT(CODELET_SIMGRID_EXECUTE_AND_INJECT),
	CONSTANT(CUDA_ASYNC),
	CONSTANT(HIP_ASYNC),
	CONSTANT(OPENCL_ASYNC),
	CONSTANT(HISTORY_BASED),
	CONSTANT(REGRESSION_BASED),
	CONSTANT(NL_REGRESSION_BASED),
	CONSTANT(MULTIPLE_REGRESSION_BASED),
	CONSTANT(NMAXBUFS),
};

void *fstarpu_get_constant(const char *name)
{
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (strcmp(constants[i].name, name) == 0)
			return fortran_constant(constants[i].value);
	orr_die(api_rank(),
		"fstarpu_get_constant: there is no \"%s\"; fstarpu_mod.f90 is of another "
		"version than the library: compile the one that was installed with it",
		name);
}

char *fortran_keep_name(const char *func, const char *name)
{
	char *kept;

	api_given(func, "name", name);
	kept = strdup(name);
	if (!kept)
		orr_die(api_rank(), "%s: no memory for a name of %zu bytes", func,
			strlen(name));
	return kept;
}

/* ---- configuration --------------------------------------------------- */

struct starpu_conf *fstarpu_conf_allocate(void)
{
	struct starpu_conf *conf = orr_alloc(sizeof(*conf));

	starpu_conf_init(conf);
	return conf;
}

void fstarpu_conf_free(struct starpu_conf *conf)
{
	if (conf)
		free((char *)(uintptr_t)conf->sched_policy_name);
	free(conf);
}

void fstarpu_conf_set_sched_policy_name(struct starpu_conf *conf, const char *name)
{
	api_given(__func__, "conf", conf);
	free((char *)(uintptr_t)conf->sched_policy_name);
	conf->sched_policy_name = fortran_keep_name(__func__, name);
}

#define SETTER(name, field)                                                              \
	void fstarpu_conf_set_##name(struct starpu_conf *conf, int name)                 \
	{                                                                                \
		api_given(__func__, "conf", conf);                                       \
		conf->field = name;                                                      \
	}

SETTER(min_prio, global_sched_ctx_min_priority)
SETTER(max_prio, global_sched_ctx_max_priority)
SETTER(ncpu, ncpus)
SETTER(ncuda, ncuda)
SETTER(nhip, nhip)
SETTER(nopencl, nopencl)

/* ---- workers --------------------------------------------------------- */

void fstarpu_topology_print(void)
{
	starpu_topology_print(stderr);
}

static enum starpu_worker_archtype type_of(const void *constant)
{
	return (enum starpu_worker_archtype)fortran_value(constant);
}

void *fstarpu_worker_get_type(int id)
{
	return fortran_constant((uintptr_t)starpu_worker_get_type(id));
}

int fstarpu_worker_get_count_by_type(void *type)
{
	return starpu_worker_get_count_by_type(type_of(type));
}

int fstarpu_worker_get_ids_by_type(void *type, int *workerids, int maxsize)
{
	return (int)starpu_worker_get_ids_by_type(type_of(type), workerids,
						  (unsigned)maxsize);
}

int fstarpu_worker_get_by_type(void *type, int num)
{
	return starpu_worker_get_by_type(type_of(type), num);
}

int fstarpu_worker_get_by_devid(void *type, int devid)
{
	return starpu_worker_get_by_devid(type_of(type), devid);
}

void fstarpu_worker_get_type_as_string(void *type, char *dst, size_t maxlen)
{
	snprintf(dst, maxlen, "%s", starpu_worker_get_type_as_string(type_of(type)));
}
