/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/api.h"
#include "base/check.h"
#include "core/disk/disk.h"

int starpu_disk_register(struct starpu_disk_ops *func, void *parameter,
			 starpu_ssize_t size)
{
	struct node *node = api_node(__func__);

	api_given(__func__, "func", func);
	if (size >= 0 && size < STARPU_DISK_SIZE_MIN)
		orr_die(node->rank,
			"%s: %zd bytes; expected at least %d (STARPU_DISK_SIZE_MIN), or "
			"-1: no limit",
			__func__, size, STARPU_DISK_SIZE_MIN);
	return disk_register(node, func, parameter, size);
}

int orrery_disk_swap_node(void)
{
	const struct node *node = plat_self();

	return node ? node->swap_node : -1;
}

static struct disk *disk_given(const char *func, unsigned memory)
{
	struct node *node = api_node(func);
	struct disk *disk = disk_at(node, memory);

	if (!disk)
		orr_die(node->rank,
			"%s: memory node %u is no disk; expected a number that "
			"starpu_disk_register() returned",
			func, memory);
	return disk;
}

void *starpu_disk_open(unsigned node, void *pos, size_t size)
{
	return disk_open(disk_given(__func__, node), pos, size);
}

void starpu_disk_close(unsigned node, void *obj, size_t size)
{
	disk_close(disk_given(__func__, node), obj, size);
}
