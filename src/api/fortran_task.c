/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* For Fortran: codelets, performance models, tasks in one call. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/fortran.h"
#include "base/check.h"
#include "core/task/args.h"
#include "core/task/codelet.h"

/* ---- codelets -------------------------------------------------------- */

struct starpu_codelet *fstarpu_codelet_allocate(void)
{
	struct starpu_codelet *cl = orr_alloc(sizeof(*cl));

	starpu_codelet_init(cl);
	return cl;
}

void fstarpu_codelet_free(struct starpu_codelet *cl)
{
	if (cl) {
		free((char *)(uintptr_t)cl->name);
		free(cl->dyn_modes);
	}
	free(cl);
}

void fstarpu_codelet_set_name(struct starpu_codelet *cl, const char *name)
{
	api_given(__func__, "cl", cl);
	free((char *)(uintptr_t)cl->name);
	cl->name = fortran_keep_name(__func__, name);
}

void fstarpu_codelet_set_model(struct starpu_codelet *cl, struct starpu_perfmodel *model)
{
	api_given(__func__, "cl", cl);
	cl->model = model;
}

void fstarpu_codelet_set_energy_model(struct starpu_codelet *cl,
				      struct starpu_perfmodel *model)
{
	api_given(__func__, "cl", cl);
	cl->energy_model = model;
}

static void die_full(const char *func) __attribute__((noreturn));

static void die_full(const char *func)
{
	orr_die(api_rank(), "%s: the codelet has %d implementations already: expected %d",
		func, STARPU_MAXIMPLEMENTATIONS, STARPU_MAXIMPLEMENTATIONS);
}

/* The next implementation goes to the first free place, its flags as well. */
#define IMPLEMENTATIONS(kind)                                                            \
	void fstarpu_codelet_add_##kind##_func(struct starpu_codelet *cl,                \
					       starpu_##kind##_func_t func)              \
	{                                                                                \
		api_given(__func__, "cl", cl);                                           \
		for (int i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)                      \
			if (!cl->kind##_funcs[i]) {                                      \
				cl->kind##_funcs[i] = func;                              \
				return;                                                  \
			}                                                                \
		die_full(__func__);                                                      \
	}

#define FLAGS_OF(kind)                                                                   \
	void fstarpu_codelet_add_##kind##_flags(struct starpu_codelet *cl, void *flags)  \
	{                                                                                \
		api_given(__func__, "cl", cl);                                           \
		for (int i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)                      \
			if (!cl->kind##_flags[i]) {                                      \
				cl->kind##_flags[i] = (char)fortran_value(flags);        \
				return;                                                  \
			}                                                                \
		die_full(__func__);                                                      \
	}

IMPLEMENTATIONS(cpu)
IMPLEMENTATIONS(cuda)
IMPLEMENTATIONS(hip)
IMPLEMENTATIONS(opencl)
FLAGS_OF(cuda)
FLAGS_OF(hip)
FLAGS_OF(opencl)

/*
 * Modes are in the codelet up to STARPU_NMAXBUFS, and in an array of its own above, which
 * has room for nbuffers of them at least.  Those that nobody has said yet are 0.
 */
static void make_room_for_modes(struct starpu_codelet *cl, int n)
{
	int had = cl->dyn_modes && cl->nbuffers > 0 ? cl->nbuffers : 0;

	cl->dyn_modes = orr_realloc(cl->dyn_modes, (size_t)n * sizeof(*cl->dyn_modes));
	if (!had) {
		memcpy(cl->dyn_modes, cl->modes, sizeof(cl->modes));
		had = STARPU_NMAXBUFS;
	}
	if (n > had)
		memset(cl->dyn_modes + had, 0,
		       (size_t)(n - had) * sizeof(*cl->dyn_modes));
}

void fstarpu_codelet_add_buffer(struct starpu_codelet *cl, void *mode)
{
	enum starpu_data_access_mode access =
		(enum starpu_data_access_mode)fortran_value(mode);
	int n;

	api_given(__func__, "cl", cl);
	n = cl->nbuffers;
	if (n < 0)
		orr_die(api_rank(),
			"%s: the codelet takes any number of buffers "
			"(fstarpu_codelet_set_variable_nbuffers()), whose modes come "
			"with each task",
			__func__);
	if (n >= STARPU_NMAXBUFS)
		make_room_for_modes(cl, n + 1);
	if (cl->dyn_modes)
		cl->dyn_modes[n] = access;
	else
		cl->modes[n] = access;
	cl->nbuffers = n + 1;
}

void fstarpu_codelet_set_variable_nbuffers(struct starpu_codelet *cl)
{
	fstarpu_codelet_set_nbuffers(cl, STARPU_VARIABLE_NBUFFERS);
}

void fstarpu_codelet_set_nbuffers(struct starpu_codelet *cl, int nbuffers)
{
	api_given(__func__, "cl", cl);
	/* An array that is there stays as long as it was, for later additions. */
	if (cl->dyn_modes && nbuffers > cl->nbuffers && nbuffers > STARPU_NMAXBUFS)
		make_room_for_modes(cl, nbuffers);
	cl->nbuffers = nbuffers;
}

void fstarpu_codelet_set_flags(struct starpu_codelet *cl, void *flags)
{
	api_given(__func__, "cl", cl);
	cl->flags = (int)fortran_value(flags);
}

void fstarpu_codelet_set_where(struct starpu_codelet *cl, void *where)
{
	api_given(__func__, "cl", cl);
	cl->where = (uint32_t)fortran_value(where);
}

/* ---- models ---------------------------------------------------------- */

struct starpu_perfmodel *fstarpu_perfmodel_allocate(void)
{
	return orr_alloc(sizeof(struct starpu_perfmodel));
}

/* The library keeps what it has measured until it shuts down. */
void fstarpu_perfmodel_free(struct starpu_perfmodel *model)
{
	if (model) {
		char *symbol = (char *)(uintptr_t)model->symbol;

		if (plat_self())
			starpu_perfmodel_unload_model(model);
		free(symbol);
	}
	free(model);
}

void fstarpu_perfmodel_set_symbol(struct starpu_perfmodel *model, const char *symbol)
{
	api_given(__func__, "model", model);
	free((char *)(uintptr_t)model->symbol);
	model->symbol = fortran_keep_name(__func__, symbol);
}

void fstarpu_perfmodel_set_type(struct starpu_perfmodel *model, void *type)
{
	api_given(__func__, "model", model);
	model->type = (enum starpu_perfmodel_type)fortran_value(type);
}

/* ---- tasks ----------------------------------------------------------- */

/* The list goes on in an array, see args.h. */
static int insert(struct starpu_codelet *cl, ...)
{
	struct node *node = api_node("fstarpu_task_insert");
	struct starpu_task *task;
	va_list list;
	int ret;

	va_start(list, cl);
	ret = task_build_v(node, cl, list, NULL, &task);
	va_end(list);
	if (ret < 0)
		return ret;
	ret = task_submit_inserted(node, task);
	if (ret < 0) {
		codelet_say_refused(node, task, "fstarpu_task_insert");
		task_destroy(task);
	}
	return ret;
}

void fstarpu_task_insert(void **arglist)
{
	api_given(__func__, "arglist", arglist);
	if (insert(arglist[0], ARGS_IN_ARRAY, arglist + 1, 0) < 0)
		orr_die(api_rank(), "%s: the task could not be inserted", __func__);
}

void fstarpu_unpack_arg(void *cl_arg, void **bufferlist)
{
	struct starpu_codelet_pack_arg_data state;

	api_given(__func__, "cl_arg", cl_arg);
	starpu_codelet_unpack_arg_init(&state, cl_arg, 0);
	for (int i = 0; state.nargs > 0; i++) {
		void *where;
		size_t bytes;

		starpu_codelet_pick_arg(&state, &where, &bytes);
		if (bufferlist[i])
			memcpy(bufferlist[i], where, bytes);
	}
}

void fstarpu_tag_declare_deps_array(int id, int ndeps, starpu_tag_t *tags)
{
	starpu_tag_declare_deps_array((starpu_tag_t)id, (unsigned)ndeps, tags);
}

int fstarpu_sched_ctx_create(int *workers, int nworkers, const char *name, void **arglist)
{
	api_given(__func__, "arglist", arglist);
	return (int)starpu_sched_ctx_create(workers, nworkers, name, ARGS_IN_ARRAY,
					    arglist, 0);
}

void fstarpu_sched_ctx_display_workers(int ctx)
{
	starpu_sched_ctx_display_workers((unsigned)ctx, stderr);
}

/* ---- tasks by hand, which Fortran cannot look into --------------------- */

void fstarpu_task_set_codelet(struct starpu_task *task, struct starpu_codelet *cl)
{
	api_given(__func__, "task", task);
	task->cl = cl;
}

void fstarpu_task_set_handle(struct starpu_task *task, int i, starpu_data_handle_t handle)
{
	api_given(__func__, "task", task);
	if (i < 0 || (!task->dyn_handles && i >= STARPU_NMAXBUFS))
		orr_die(ORR_NO_RANK, "%s: buffer %d: expected 0 to %d", __func__, i,
			STARPU_NMAXBUFS - 1);
	STARPU_TASK_SET_HANDLE(task, handle, i);
}

void fstarpu_task_set_detach(struct starpu_task *task, int detach)
{
	api_given(__func__, "task", task);
	task->detach = detach != 0;
}

void fstarpu_task_set_destroy(struct starpu_task *task, int destroy)
{
	api_given(__func__, "task", task);
	task->destroy = destroy != 0;
}
