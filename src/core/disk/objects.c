/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/check.h"
#include "core/disk/disk.h"
#include "core/outside.h"

/* Addresses of the disks of all nodes of a process. */
#define SPACE_BYTES ((size_t)1 << 45)

enum { PAGE_BYTES = 4096 };

/* ---- addresses ------------------------------------------------------- */

static struct arena *space_of(struct world *world)
{
	if (!world->disk_space)
		world->disk_space = arena_new(SPACE_BYTES, PROT_NONE);
	return world->disk_space;
}

/* Whole pages, that can be shown and hidden. */
static size_t space_bytes(size_t bytes)
{
	return (bytes + PAGE_BYTES) & ~(size_t)(PAGE_BYTES - 1);
}

static char *take_space(struct node *node, size_t bytes)
{
	struct world *world = node->world;
	char *address;

	orr_lock(&world->disk_lock);
	address = arena_get(space_of(world), space_bytes(bytes));
	orr_unlock(&world->disk_lock);
	return address;
}

static void give_space(struct node *node, char *address, size_t bytes)
{
	struct world *world = node->world;

	orr_lock(&world->disk_lock);
	arena_put(world->disk_space, address, space_bytes(bytes), 0);
	orr_unlock(&world->disk_lock);
}

int disk_has(const struct node *node, const void *address)
{
	const struct world *world = node->world;

	return world->disk_space && arena_has(world->disk_space, address);
}

/* ---- objects --------------------------------------------------------- */

/* What is searched for has one byte. */
static int compare(const void *a, const void *b)
{
	const struct disk_object *left = a, *right = b;

	if (left->address + left->bytes <= right->address)
		return -1;
	return right->address + right->bytes <= left->address;
}

struct disk_object *disk_object_new(struct disk *disk, size_t bytes)
{
	struct disk_object *object = orr_alloc(sizeof(*object));

	object->disk = disk;
	object->bytes = bytes ? bytes : 1;
	object->address = take_space(disk->node, object->bytes);
	if (!object->address) {
		free(object);
		return NULL;
	}
	orr_lock(&disk->lock);
	if (!tsearch(object, &disk->objects, compare))
		orr_die(disk->node->rank, "no memory for an object of a disk");
	orr_unlock(&disk->lock);
	return object;
}

struct disk_object *disk_object_at(struct disk *disk, const void *address)
{
	const struct disk_object wanted = {.address = (char *)address, .bytes = 1};
	struct disk_object **found, *object;

	orr_lock(&disk->lock);
	found = tfind(&wanted, &disk->objects, compare);
	/* What found leads to moves when another object is dropped. */
	object = found ? *found : NULL;
	orr_unlock(&disk->lock);
	return object;
}

void disk_object_drop(struct disk_object *object)
{
	struct disk *disk = object->disk;

	orr_lock(&disk->lock);
	tdelete(object, &disk->objects, compare);
	orr_unlock(&disk->lock);
	give_space(disk->node, object->address, object->bytes);
}

void disk_object_drop_all(struct disk *disk, void (*last)(struct disk_object *object))
{
	while (disk->objects) {
		struct disk_object *object = *(struct disk_object **)disk->objects;

		disk_object_drop(object);
		last(object);
	}
}

/* ---- their bytes ----------------------------------------------------- */

static void wait_for(const struct starpu_disk_ops *ops, void *request)
{
	if (ops->wait_request)
		ops->wait_request(request);
	else
		while (!ops->test_request(request))
			continue;
	if (ops->free_request)
		ops->free_request(request);
}

static const char *reason(int ret)
{
	return ret < 0 ? strerror(-ret) : "fewer bytes than asked for";
}

static void fail_to_read(const struct disk_object *object, size_t offset, size_t bytes,
			 int ret) __attribute__((noreturn));

static void fail_to_read(const struct disk_object *object, size_t offset, size_t bytes,
			 int ret)
{
	const struct disk *disk = object->disk;

	orr_die(disk->node->rank,
		"memory node %u (Disk %d): %zu bytes at offset %zu of an object of %zu "
		"cannot be read (%s), and nobody else has the value: the run ends; "
		"expected that objects stay as they were written until their data are "
		"unregistered",
		disk->memory, disk->node->memories[disk->memory].devid, bytes, offset,
		object->bytes, reason(ret));
}

static int complain_write(const struct disk_object *object, const char *what,
			  size_t offset, size_t bytes, int ret)
{
	const struct disk *disk = object->disk;

	orr_complain(disk->node->rank,
		     "memory node %u (Disk %d): %zu bytes at offset %zu of an object of "
		     "%zu cannot be %s (%s); give the disk more room, tell how much it "
		     "has (starpu_disk_register(), STARPU_DISK_SWAP_SIZE), or register "
		     "another one",
		     disk->memory, disk->node->memories[disk->memory].devid, bytes,
		     offset, object->bytes, what, reason(ret));
	return ret < 0 ? ret : -EIO;
}

void disk_fail(const struct disk *disk, int error)
{
	orr_die(disk->node->rank,
		"memory node %u (Disk %d) did not take a value that was sent there "
		"(%s), and somebody waits for it there: the run ends",
		disk->memory, disk->node->memories[disk->memory].devid, strerror(-error));
}

void disk_object_read(struct disk_object *object, size_t offset, void *to, size_t bytes)
{
	const struct starpu_disk_ops *ops = object->disk->ops;
	void *base = object->disk->base, *request;
	OUTSIDE(outside);
	int ret;

	if (!bytes)
		return;
	if (!object->object) {
		/* Somebody acquired it there to write, which nobody can. */
		memset(to, 0, bytes);
		return;
	}
	outside_enter(&outside, object->disk->node, "read of a disk");
	if (ops->read) {
		ret = ops->read(base, object->object, to, (off_t)offset, bytes);
		if (ret < 0 || (ret > 0 && (size_t)ret < bytes))
			fail_to_read(object, offset, bytes, ret);
		outside_end(&outside);
		return;
	}
	request = ops->async_read(base, object->object, to, (off_t)offset, bytes);
	if (!request)
		fail_to_read(object, offset, bytes, -EIO);
	wait_for(ops, request);
	outside_end(&outside);
}

static int write_bytes(struct disk_object *object, size_t offset, const void *from,
		       size_t bytes)
{
	const struct starpu_disk_ops *ops = object->disk->ops;
	void *base = object->disk->base, *request;
	int ret;

	if (!bytes)
		return 0;
	if (!object->object)
		object->object = ops->alloc(base, object->bytes);
	if (!object->object)
		return complain_write(object, "allocated", 0, object->bytes, -ENOSPC);
	if (ops->write) {
		ret = ops->write(base, object->object, from, (off_t)offset, bytes);
		if (ret < 0 || (ret > 0 && (size_t)ret < bytes))
			return complain_write(object, "written", offset, bytes, ret);
		return 0;
	}
	request = ops->async_write(base, object->object, (void *)from, (off_t)offset,
				   bytes);
	if (!request)
		return complain_write(object, "written", offset, bytes, -EIO);
	wait_for(ops, request);
	return 0;
}

int disk_object_write(struct disk_object *object, size_t offset, const void *from,
		      size_t bytes)
{
	OUTSIDE(outside);
	int ret;

	outside_enter(&outside, object->disk->node, "alloc or write of a disk");
	ret = write_bytes(object, offset, from, bytes);
	outside_end(&outside);
	return ret;
}
