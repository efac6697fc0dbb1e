/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/disk/disk.h"

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/outside.h"

struct disk *disk_at(const struct node *node, unsigned memory)
{
	return memory < (unsigned)node_nmemories(node) ? node->memories[memory].disk
						       : NULL;
}

static int count_disks(const struct node *node)
{
	int n = 0;

	for (int i = 0; i < node_nmemories(node); i++)
		n += node->memories[i].kind == STARPU_DISK_RAM;
	return n;
}

static void check_ops(const struct node *node, const struct starpu_disk_ops *ops)
{
	const char *missing = NULL;

	if (!ops->plug || !ops->alloc)
		missing = "plug and alloc";
	else if (!ops->read &&
		 !(ops->async_read && (ops->wait_request || ops->test_request)))
		missing = "read, or async_read with wait_request or test_request";
	else if (!ops->write &&
		 !(ops->async_write && (ops->wait_request || ops->test_request)))
		missing = "write, or async_write with wait_request or test_request";
	if (missing)
		orr_die(node->rank,
			"starpu_disk_register: the struct starpu_disk_ops has "
			"not all operations; expected %s",
			missing);
}

static void unplug(const struct disk *disk)
{
	OUTSIDE(outside);

	if (!disk->base || !disk->ops->unplug)
		return;
	outside_enter(&outside, disk->node, "unplug of a disk");
	disk->ops->unplug(disk->base);
	outside_end(&outside);
}

static int works(const struct disk *disk)
{
	OUTSIDE(outside);
	int ret;

	if (!disk->ops->bandwidth)
		return 1;
	outside_enter(&outside, disk->node, "bandwidth of a disk");
	ret = disk->ops->bandwidth(disk->memory, disk->base);
	outside_end(&outside);
	return ret;
}

/* The disk works, as the application's operations say. */
static int plug(struct disk *disk, void *parameter, starpu_ssize_t size)
{
	const struct starpu_disk_ops *ops = disk->ops;
	int rank = disk->node->rank;
	OUTSIDE(outside);

	outside_enter(&outside, disk->node, "plug of a disk");
	disk->base = ops->plug(parameter, size);
	outside_end(&outside);
	if (!disk->base) {
		orr_complain(rank, "starpu_disk_register: the disk's plug() refuses; no "
				   "memory node is made of it");
		return -ENOENT;
	}
	if (works(disk))
		return 0;
	orr_complain(rank, "starpu_disk_register: the disk's bandwidth() says 0, that it "
			   "does not work; no memory node is made of it");
	unplug(disk);
	return -ENOENT;
}

int disk_register(struct node *node, struct starpu_disk_ops *ops, void *parameter,
		  starpu_ssize_t size)
{
	struct plat_memory memory = {.kind = STARPU_DISK_RAM, .name = "Disk"};
	struct disk *disk;
	int ret;

	check_ops(node, ops);
	memory.bytes = size < 0 ? 0 : (double)size;
	if (plat_find_disk(node->plat, count_disks(node), &memory) < 0)
		return -ENOENT;
	disk = orr_alloc(sizeof(*disk));
	disk->node = node;
	disk->ops = ops;
	disk->memory = (unsigned)node_nmemories(node);
	memory.disk = disk;
	orr_lock_init(&disk->lock);
	/* Else there are no bytes. */
	ret = node->machine->executes ? plug(disk, parameter, size) : 0;
	if (ret < 0)
		goto free_disk;
	ret = node_add_memory(node, &memory);
	if (ret < 0)
		goto unplug;
	return ret;

unplug:
	unplug(disk);
free_disk:
	free(disk);
	return ret;
}

static void end_object(struct disk_object *object)
{
	disk_remove(object->disk, object);
}

void disks_end(struct node *node)
{
	for (int i = 0; i < node_nmemories(node); i++) {
		struct disk *disk = node->memories[i].disk;

		if (!disk)
			continue;
		disk_object_drop_all(disk, end_object);
		unplug(disk);
		free(disk);
	}
}

/* ---- objects --------------------------------------------------------- */

void *disk_open(struct disk *disk, void *pos, size_t size)
{
	int executes = disk->node->machine->executes;
	struct disk_object *object;
	void *opened = NULL;

	if (executes) {
		opened = disk->ops->open ? disk->ops->open(disk->base, pos, size) : NULL;
		if (!opened) {
			orr_complain(disk->node->rank,
				     "starpu_disk_open: memory node %u (Disk) has no "
				     "such object; expected one that exists",
				     disk->memory);
			return NULL;
		}
	}
	object = disk_object_new(disk, size);
	if (!object)
		return NULL;
	object->object = opened;
	object->is_opened = 1;
	return object->address;
}

void disk_close(struct disk *disk, void *address, size_t size)
{
	struct disk_object *object = disk_object_at(disk, address);

	(void)size;
	if (!object || !object->is_opened || object->address != address)
		orr_die(disk->node->rank,
			"starpu_disk_close: %p is no object of memory node %u; expected "
			"what starpu_disk_open() returned, once",
			address, disk->memory);
	disk_object_drop(object);
	disk_remove(disk, object);
}

void *disk_allocate(struct node *node, unsigned memory, size_t bytes)
{
	struct disk_object *object = disk_object_new(node->memories[memory].disk, bytes);

	return object ? object->address : NULL;
}

struct disk_object *disk_forget(struct node *node, unsigned memory, void *address)
{
	struct disk *disk = node->memories[memory].disk;
	struct disk_object *object;

	if (!address)
		return NULL;
	object = disk_object_at(disk, address);
	ORR_ASSERT(object && !object->is_opened && object->address == address);
	disk_object_drop(object);
	if (object->object)
		return object;
	free(object);
	return NULL;
}

void disk_remove(struct disk *disk, struct disk_object *object)
{
	const struct starpu_disk_ops *ops = disk->ops;

	if (object->object && object->is_opened && ops->close)
		ops->close(disk->base, object->object, object->bytes);
	else if (object->object && !object->is_opened && ops->free)
		ops->free(disk->base, object->object, object->bytes);
	free(object);
}
