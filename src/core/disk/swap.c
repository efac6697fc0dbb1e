/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/disk/swap.h"

#include <string.h>

#include "base/check.h"
#include "core/disk/disk.h"

static struct starpu_disk_ops *ops_named(const char *name)
{
	if (!name[0] || !strcmp(name, "unistd"))
		return &starpu_disk_unistd_ops;
	if (!strcmp(name, "unistd_o_direct"))
		return &starpu_disk_unistd_o_direct_ops;
	if (!strcmp(name, "stdio"))
		return &starpu_disk_stdio_ops;
	return NULL;
}

static struct starpu_disk_ops *ops_wanted(const struct node *node)
{
	const char *name = node_knobs(node)->disk_swap_backend;
	struct starpu_disk_ops *ops = ops_named(name);

	if (ops)
		return ops;
	orr_complain(node->rank,
		     "STARPU_DISK_SWAP_BACKEND is \"%s\"; expected unistd, "
		     "unistd_o_direct or stdio; using unistd",
		     name);
	return &starpu_disk_unistd_ops;
}

static starpu_ssize_t bytes_wanted(const struct node *node)
{
	int mib = node_knobs(node)->disk_swap_mib;

	if (mib < 0)
		return -1;
	if (mib >= STARPU_DISK_SIZE_MIN >> 20)
		return (starpu_ssize_t)mib << 20;
	orr_complain(node->rank,
		     "STARPU_DISK_SWAP_SIZE is %d MiB; expected at least %d, or none: as "
		     "much as there is; using %d",
		     mib, STARPU_DISK_SIZE_MIN >> 20, STARPU_DISK_SIZE_MIN >> 20);
	return STARPU_DISK_SIZE_MIN;
}

void swap_open(struct node *node)
{
	const char *path = node_knobs(node)->disk_swap;

	node->swap_node = -1;
	if (!path[0])
		return;
	node->swap_node =
		disk_register(node, ops_wanted(node), (void *)path, bytes_wanted(node));
	if (node->swap_node >= 0)
		return;
	node->swap_node = -1;
	orr_complain(node->rank,
		     "STARPU_DISK_SWAP is \"%s\", which cannot be used: no value will go "
		     "there; expected a directory that may be read and written, or made",
		     path);
}
