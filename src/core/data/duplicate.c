/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/duplicate.h"

#include <errno.h>

#include "base/check.h"
#include "core/interface/interface.h"
#include "core/interface/methods.h"

/* ---- copies ---------------------------------------------------------- */

/* What would go over the end of the destination, when both lie as a layout says. */
static void check_room(const struct plat_copy *copy, starpu_data_handle_t dst)
{
	struct layout from, to, own, same;
	size_t room;
	char what[2][128];

	if (!interface_layouts(copy->methods, copy->from_interface, copy->to_interface,
			       &from, &to) ||
	    !interface_layouts(copy->methods, copy->to_interface, copy->to_interface,
			       &own, &same))
		return;
	room = layout_extent_bytes(&own);
	if (room < data_alloc_bytes(dst))
		room = data_alloc_bytes(dst);
	if (layout_extent_bytes(&to) <= room)
		return;
	orr_die(dst->node->rank,
		"starpu_data_cpy: %s does not fit into %s: it would take %zu bytes of "
		"%zu; expected data of the same shape",
		data_describe(copy->owner, what[0], sizeof(what[0])),
		data_describe(dst, what[1], sizeof(what[1])), layout_extent_bytes(&to),
		room);
}

/* Where no kernel is called there may be no memory either. */
static int has_places(const struct plat_copy *copy)
{
	struct layout from, to;

	return interface_layouts(copy->methods, copy->from_interface, copy->to_interface,
				 &from, &to) &&
	       from.base && to.base;
}

static void copy_kernel(void *buffers[], void *arg)
{
	starpu_data_handle_t source = arg;
	struct node *node = source->node;
	unsigned memory = (unsigned)plat_current_worker(node->plat)->memory;
	struct plat_copy copy = {.from = memory,
				 .to = memory,
				 .from_interface = buffers[1],
				 .to_interface = buffers[0],
				 .methods = source->ops->copy_methods,
				 .owner = source};

	if (!node->machine->executes && !has_places(&copy))
		return;
	check_room(&copy, STARPU_TASK_GET_HANDLE(plat_caller(node->plat)->task, 0));
	methods_copy(node, &copy);
}

/* Declared, not measured: a core moves 10 GB/s, reading and writing. */
static double copy_us(struct starpu_task *task, unsigned implementation)
{
	(void)implementation;
	return (double)data_bytes(STARPU_TASK_GET_HANDLE(task, 0)) / 10e3;
}

static struct starpu_perfmodel copy_model __attribute__((section(".data.rel.ro"))) = {
	.type = STARPU_COMMON, .cost_function = copy_us, .symbol = "starpu_data_cpy"};

static struct starpu_codelet copy_codelet
	__attribute__((section(".data.rel.ro"))) = {.where = STARPU_CPU | STARPU_CUDA,
						    .cpu_funcs = {copy_kernel},
						    .cuda_funcs = {copy_kernel},
						    .nbuffers = 2,
						    .modes = {STARPU_W, STARPU_R},
						    .model = &copy_model,
						    .name = "data_cpy"};

int duplicate_is_carried(const struct job *job)
{
	return job->task->cl == &copy_codelet &&
	       data_bytes(STARPU_TASK_GET_HANDLE(job->task, 1)) <= DATA_CARRIED_BYTES;
}

int duplicate_copy(struct node *node, starpu_data_handle_t dst, starpu_data_handle_t src,
		   const struct copy_wish *wish)
{
	struct starpu_task *task = task_create(node);
	int ret;

	task->cl = &copy_codelet;
	task->cl_arg = src;
	task->handles[0] = dst;
	task->handles[1] = src;
	task->priority = wish->priority;
	task->callback_func = wish->callback;
	task->callback_arg = wish->arg;
	task->synchronous = !wish->asynchronous;
	task->handles_sequential_consistency = wish->out_of_order;
	ret = wish->out_of_order ? task_submit_inside(node, task)
				 : task_submit(node, task);
	if (ret < 0)
		task_destroy(task);
	return ret;
}

/* ---- read-only duplicates -------------------------------------------- */

static void set_flag(starpu_data_handle_t handle, unsigned flag, int on)
{
	orr_lock(&handle->lock);
	data_change_flags(handle, on ? flag : 0, on ? 0 : flag);
	orr_unlock(&handle->lock);
}

/* One more holder of a read-only datum; links are locked. */
static void share(starpu_data_handle_t *dst, starpu_data_handle_t handle)
{
	data_extra(handle)->nshares++;
	*dst = handle;
}

/* 1 when there is one that is current. */
static int find_current(struct node *node, starpu_data_handle_t *dst,
			starpu_data_handle_t src)
{
	struct data_extra *extra = data_extra(src);
	int found = 1;

	orr_lock(&node->duplicates_lock);
	if (data_flags(src) & DATUM_READ_ONLY)
		share(dst, src);
	else if (extra->duplicate)
		share(dst, extra->duplicate);
	else
		found = 0;
	orr_unlock(&node->duplicates_lock);
	return found;
}

int duplicate_read_only(struct node *node, starpu_data_handle_t *dst,
			starpu_data_handle_t src, int asynchronous)
{
	struct copy_wish wish = {.asynchronous = asynchronous};
	starpu_data_handle_t duplicate;
	struct data_extra *extra;
	int ret;

	if (find_current(node, dst, src))
		return 0;
	duplicate = data_register(node, -1, src->interface, src->ops);
	extra = data_extra(duplicate);
	/* A write from here on takes the flag away, so that what we copy is not current.
	 */
	set_flag(src, DATUM_DUPLICATED, 1);
	ret = duplicate_copy(node, duplicate, src, &wish);
	if (ret < 0) {
		data_free(node, duplicate);
		return ret;
	}
	set_flag(duplicate, DATUM_READ_ONLY, 1);
	orr_lock(&src->lock);
	orr_lock(&node->duplicates_lock);
	if ((data_flags(src) & DATUM_DUPLICATED) && !data_extra(src)->duplicate) {
		data_extra(src)->duplicate = duplicate;
		extra->duplicate_of = src;
	}
	orr_unlock(&node->duplicates_lock);
	orr_unlock(&src->lock);
	*dst = duplicate;
	return 0;
}

static void unlink_duplicate(struct data_extra *extra)
{
	if (extra->duplicate)
		data_extra(extra->duplicate)->duplicate_of = NULL;
	extra->duplicate = NULL;
}

void duplicate_on_write_slow(starpu_data_handle_t handle)
{
	struct node *node = handle->node;
	char what[128];

	/* Unregistering takes its turn as a writer. */
	if (data_flags(handle) & DATUM_DYING)
		return;
	if (data_flags(handle) & DATUM_READ_ONLY)
		orr_die(node->rank,
			"%s is a read-only duplicate (starpu_data_dup_ro) and cannot be "
			"written; write to the original, or to a copy made with "
			"starpu_data_cpy",
			data_describe(handle, what, sizeof(what)));
	data_change_flags(handle, 0, DATUM_DUPLICATED);
	orr_lock(&node->duplicates_lock);
	unlink_duplicate(data_extra(handle));
	orr_unlock(&node->duplicates_lock);
}

static void leave_source(struct data_extra *extra)
{
	if (extra->duplicate_of)
		data_extra(extra->duplicate_of)->duplicate = NULL;
	extra->duplicate_of = NULL;
}

int duplicate_drop(starpu_data_handle_t handle)
{
	struct node *node = handle->node;
	int stays;

	if (!(data_flags(handle) & DATUM_READ_ONLY))
		return 0;
	orr_lock(&node->duplicates_lock);
	stays = data_extra(handle)->nshares > 0;
	if (stays)
		data_extra(handle)->nshares--;
	else
		leave_source(data_extra(handle)); /* Nobody is to share it any more. */
	orr_unlock(&node->duplicates_lock);
	return stays;
}

void duplicate_forget(starpu_data_handle_t handle)
{
	struct node *node = handle->node;
	struct data_extra *extra = data_find_extra(handle);

	if (!extra)
		return;
	orr_lock(&node->duplicates_lock);
	unlink_duplicate(extra);
	leave_source(extra);
	orr_unlock(&node->duplicates_lock);
}
