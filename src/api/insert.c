/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/check.h"
#include "core/task/args.h"
#include "core/task/codelet.h"

/* ---- tasks in one call ----------------------------------------------- */

int starpu_task_set(struct starpu_task *task, struct starpu_codelet *cl, ...)
{
	api_given(__func__, "task", task);

	va_list list;
	int ret;

	va_start(list, cl);
	ret = args_fill_task(api_node(__func__), task, cl, list);
	va_end(list);
	return ret;
}

struct starpu_task *starpu_task_build(struct starpu_codelet *cl, ...)
{
	struct starpu_task *task = NULL;
	va_list list;
	int ret;

	va_start(list, cl);
	ret = task_build_v(api_node(__func__), cl, list, "task_build", &task);
	va_end(list);
	return ret < 0 ? NULL : task;
}

static int insert(struct starpu_codelet *cl, va_list list)
{
	struct node *node = api_node("starpu_task_insert");
	const struct knobs *knobs = node_knobs(node);
	struct starpu_task *task;
	int ret = task_build_v(node, cl, list, NULL, &task);

	if (ret < 0)
		return ret;
	if (knobs->submit_cost)
		api_charge_task(node, task);
	ret = task_submit_inserted(node, task);
	if (ret < 0) {
		codelet_say_refused(node, task, "starpu_task_insert");
		task_destroy(task);
	}
	return ret;
}

int starpu_task_insert(struct starpu_codelet *cl, ...)
{
	va_list list;
	int ret;

	va_start(list, cl);
	ret = insert(cl, list);
	va_end(list);
	return ret;
}

/* The older name. */
int starpu_insert_task(struct starpu_codelet *cl, ...)
	__attribute__((alias("starpu_task_insert")));

void starpu_task_insert_data_make_room(struct starpu_codelet *cl,
				       struct starpu_task *task, int *allocated_buffers,
				       int current_buffer, int room)
{
	args_make_room(cl, task, allocated_buffers, current_buffer, room);
}

void starpu_task_insert_data_process_arg(struct starpu_codelet *cl,
					 struct starpu_task *task, int *allocated_buffers,
					 int *current_buffer, int arg_type,
					 starpu_data_handle_t handle)
{
	args_add_buffer(cl, task, allocated_buffers, current_buffer, (unsigned)arg_type,
			handle);
}

void starpu_task_insert_data_process_array_arg(struct starpu_codelet *cl,
					       struct starpu_task *task,
					       int *allocated_buffers,
					       int *current_buffer, int nb_handles,
					       starpu_data_handle_t *handles)
{
	for (int i = 0; i < nb_handles; i++)
		args_add_buffer(cl, task, allocated_buffers, current_buffer,
				STARPU_CODELET_GET_MODE(cl, *current_buffer), handles[i]);
}

void starpu_task_insert_data_process_mode_array_arg(struct starpu_codelet *cl,
						    struct starpu_task *task,
						    int *allocated_buffers,
						    int *current_buffer, int nb_descrs,
						    struct starpu_data_descr *descrs)
{
	for (int i = 0; i < nb_descrs; i++)
		args_add_buffer(cl, task, allocated_buffers, current_buffer,
				descrs[i].mode, descrs[i].handle);
}

/* ---- packed arguments ------------------------------------------------ */

void starpu_codelet_pack_arg_init(struct starpu_codelet_pack_arg_data *state)
{
	api_given(__func__, "state", state);

	*state = (struct starpu_codelet_pack_arg_data){0};
}

/* The public state is a struct packer under other names. */
static struct packer to_packer(const struct starpu_codelet_pack_arg_data *state)
{
	return (struct packer){state->arg_buffer, state->current_offset,
			       state->arg_buffer_size, state->nargs};
}

void starpu_codelet_pack_arg(struct starpu_codelet_pack_arg_data *state, const void *ptr,
			     size_t ptr_size)
{
	api_given(__func__, "state", state);

	struct packer packer = to_packer(state);

	packer_add(&packer, ptr, ptr_size);
	state->arg_buffer = packer.buffer;
	state->arg_buffer_size = packer.capacity;
	state->current_offset = state->arg_buffer_used = packer.used;
	state->nargs = packer.count;
}

void starpu_codelet_pack_arg_fini(struct starpu_codelet_pack_arg_data *state,
				  void **cl_arg, size_t *cl_arg_size)
{
	api_given(__func__, "state", state);

	struct packer packer = to_packer(state);

	packer_end(&packer, cl_arg, cl_arg_size);
	starpu_codelet_pack_arg_init(state);
}

void starpu_codelet_pack_args(void **arg_buffer, size_t *arg_buffer_size, ...)
{
	struct packer packer = {0};
	va_list list;
	int key;

	va_start(list, arg_buffer_size);
	while ((key = va_arg(list, int)) != 0) {
		void *ptr;

		if (key != STARPU_VALUE)
			orr_die(api_rank(),
				"starpu_codelet_pack_args: argument %d; expected "
				"STARPU_VALUE, a "
				"pointer and a size, and 0 at the end",
				key);
		ptr = va_arg(list, void *);
		packer_add(&packer, ptr, va_arg(list, size_t));
	}
	va_end(list);
	packer_end(&packer, arg_buffer, arg_buffer_size);
}

void starpu_codelet_unpack_arg_init(struct starpu_codelet_pack_arg_data *state,
				    void *cl_arg, size_t cl_arg_size)
{
	api_given(__func__, "state", state);
	api_given(__func__, "cl_arg", cl_arg);

	starpu_codelet_pack_arg_init(state);
	state->arg_buffer = cl_arg;
	state->arg_buffer_size = cl_arg_size;
	memcpy(&state->nargs, cl_arg, sizeof(int));
	state->current_offset = sizeof(int);
}

/* Step over the next argument; returns its size and where it is. */
static size_t next_arg(struct starpu_codelet_pack_arg_data *state, void **where)
{
	size_t bytes;

	if (state->nargs == 0)
		orr_die(api_rank(),
			"starpu_codelet_unpack: more arguments are unpacked than "
			"were packed");
	memcpy(&bytes, state->arg_buffer + state->current_offset, sizeof(bytes));
	*where = state->arg_buffer + state->current_offset + sizeof(bytes);
	state->current_offset += sizeof(bytes) + bytes;
	state->nargs--;
	return bytes;
}

void starpu_codelet_unpack_arg(struct starpu_codelet_pack_arg_data *state, void *ptr,
			       size_t size)
{
	api_given(__func__, "state", state);

	void *where;
	size_t bytes = next_arg(state, &where);

	if (bytes != size)
		orr_die(api_rank(),
			"starpu_codelet_unpack_arg: %zu bytes are asked for, %zu were "
			"packed",
			size, bytes);
	memcpy(ptr, where, bytes);
}

void starpu_codelet_dup_arg(struct starpu_codelet_pack_arg_data *state, void **ptr,
			    size_t *size)
{
	api_given(__func__, "state", state);

	void *where;

	*size = next_arg(state, &where);
	*ptr = orr_alloc(*size);
	memcpy(*ptr, where, *size);
}

void starpu_codelet_pick_arg(struct starpu_codelet_pack_arg_data *state, void **ptr,
			     size_t *size)
{
	api_given(__func__, "state", state);

	*size = next_arg(state, ptr);
}

void starpu_codelet_unpack_discard_arg(struct starpu_codelet_pack_arg_data *state)
{
	api_given(__func__, "state", state);

	void *where;

	next_arg(state, &where);
}

void starpu_codelet_unpack_arg_fini(struct starpu_codelet_pack_arg_data *state)
{
	api_given(__func__, "state", state);

	if (state->nargs > 0)
		orr_die(api_rank(),
			"starpu_codelet_unpack_arg_fini: %d packed arguments were "
			"not unpacked",
			state->nargs);
}

/* Unpack into the pointers of list until they or the arguments end. */
static void unpack_list(struct starpu_codelet_pack_arg_data *state, va_list list)
{
	while (state->nargs > 0) {
		void *target = va_arg(list, void *);
		void *where;
		size_t bytes;

		if (!target)
			return;
		bytes = next_arg(state, &where);
		memcpy(target, where, bytes);
	}
}

void starpu_codelet_unpack_args(void *cl_arg, ...)
{
	struct starpu_codelet_pack_arg_data state;
	va_list list;

	if (!cl_arg)
		orr_die(api_rank(),
			"starpu_codelet_unpack_args: the task has no packed argument; "
			"give it some with STARPU_VALUE");
	starpu_codelet_unpack_arg_init(&state, cl_arg, 0);
	va_start(list, cl_arg);
	unpack_list(&state, list);
	va_end(list);
}

void starpu_codelet_unpack_args_and_copyleft(void *cl_arg, void *buffer,
					     size_t buffer_size, ...)
{
	struct starpu_codelet_pack_arg_data state;
	struct packer rest = {0};
	void *packed;
	size_t bytes;
	va_list list;

	api_given(__func__, "cl_arg", cl_arg);
	starpu_codelet_unpack_arg_init(&state, cl_arg, 0);
	va_start(list, buffer_size);
	unpack_list(&state, list);
	va_end(list);
	if (!buffer)
		return;
	while (state.nargs > 0) {
		void *where;
		size_t size = next_arg(&state, &where);

		packer_add(&rest, where, size);
	}
	packer_end(&rest, &packed, &bytes);
	if (bytes > buffer_size)
		orr_die(api_rank(),
			"starpu_codelet_unpack_args_and_copyleft: %zu bytes are left, "
			"the buffer has %zu",
			bytes, buffer_size);
	memcpy(buffer, packed, bytes);
	free(packed);
}
