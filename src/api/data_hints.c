/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Where data are to be, and what it costs to bring them there. */
#include <starpu_scheduler.h>

#include "api/api.h"
#include "base/check.h"
#include "core/data/convert.h"
#include "core/data/data_ops.h"
#include "core/data/kept.h"
#include "core/data/nearness.h"
#include "core/data/partition.h"
#include "core/data/room.h"
#include "core/data/spread.h"
#include "core/device.h"
#include "core/worker.h"

/* Of a datum that exists, on a node that does. */
static struct node *node_with(const char *func, unsigned memory)
{
	struct node *node = api_node(func);

	if (memory >= (unsigned)node_nmemories(node))
		orr_die(node->rank, "%s: memory node %u; expected 0 to %d", func, memory,
			node_nmemories(node) - 1);
	return node;
}

int starpu_data_request_allocation(starpu_data_handle_t handle, unsigned memory)
{
	struct node *node = node_with(__func__, memory);

	api_check_handle(node, __func__, handle);
	data_request_buffer(node, handle, memory);
	return 0;
}

static void write_through(starpu_data_handle_t handle, unsigned mask)
{
	const struct partition *partition = partition_first(handle);

	spread_set_mask(handle, mask);
	for (; partition; partition = partition->next)
		for (unsigned i = 0; i < partition->nparts; i++)
			write_through(partition->parts[i], mask);
}

void starpu_data_set_wt_mask(starpu_data_handle_t handle, uint32_t wt_mask)
{
	struct node *node = api_node(__func__);
	uint64_t all = (memory_bit((unsigned)node_nmemories(node) - 1) << 1) - 1;

	api_check_handle(node, __func__, handle);
	write_through(handle, (uint32_t)(wt_mask & all));
}

void starpu_data_set_ooc_flag(starpu_data_handle_t handle, unsigned flag)
{
	struct node *node = api_node(__func__);

	api_check_handle(node, __func__, handle);
	data_set_disks(node, handle, flag != 0);
}

unsigned starpu_data_get_ooc_flag(starpu_data_handle_t handle)
{
	api_check_handle(api_node(__func__), __func__, handle);
	return !(data_flags(handle) & DATUM_NO_DISK);
}

void starpu_data_advise_as_important(starpu_data_handle_t handle, unsigned is_important)
{
	api_check_handle(api_node(__func__), __func__, handle);
	data_advise(handle, is_important != 0);
}

void starpu_memchunk_tidy(unsigned memory_node)
{
	struct node *node = node_with(__func__, memory_node);

	kept_drop(node, memory_node);
	room_tidy(node, memory_node);
}

/* ---- what it costs --------------------------------------------------- */

double starpu_data_expected_transfer_time(starpu_data_handle_t handle, unsigned memory,
					  enum starpu_data_access_mode mode)
{
	api_check_registered(node_with(__func__, memory), __func__, handle);
	return 1e6 * nearness_datum_s(handle, memory, (unsigned)mode);
}

double starpu_task_expected_data_transfer_time(unsigned memory, struct starpu_task *task)
{
	double seconds = 0;

	node_with(__func__, memory);
	for (unsigned i = 0; task->cl && i < STARPU_TASK_GET_NBUFFERS(task); i++)
		seconds += nearness_datum_s(STARPU_TASK_GET_HANDLE(task, i), memory,
					    (unsigned)STARPU_TASK_GET_MODE(task, i));
	return 1e6 * seconds;
}

double starpu_task_expected_data_transfer_time_for(struct starpu_task *task,
						   unsigned worker)
{
	struct node *node = api_node(__func__);

	if (worker >= (unsigned)node->nworkers)
		orr_die(node->rank, "%s: worker %u; expected 0 to %d", __func__, worker,
			node->nworkers - 1);
	return starpu_task_expected_data_transfer_time(node->workers[worker].memory,
						       task);
}

double starpu_task_expected_conversion_time(struct starpu_task *task,
					    struct starpu_perfmodel_arch *arch,
					    unsigned nimpl)
{
	const struct device_type *device;
	double us = 0;

	api_given(__func__, "task", task);
	api_given(__func__, "arch", arch);
	api_node(__func__);
	device = device_type(arch->devices[0].type);
	for (unsigned i = 0; task->cl && i < STARPU_TASK_GET_NBUFFERS(task); i++) {
		starpu_data_handle_t handle = STARPU_TASK_GET_HANDLE(task, i);
		struct starpu_codelet *cl = convert_expected(handle, device->memory);
		struct starpu_task conversion;

		if (!cl)
			continue;
		starpu_task_init(&conversion);
		conversion.cl = cl;
		conversion.handles[0] = handle;
		us += starpu_task_expected_length(&conversion, arch, nimpl);
		starpu_task_clean(&conversion);
	}
	return us;
}

int starpu_get_prefetch_flag(void)
{
	return node_knobs(api_node(__func__))->prefetch;
}
