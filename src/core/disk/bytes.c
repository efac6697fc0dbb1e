/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/check.h"
#include "base/layout.h"
#include "core/disk/disk.h"
#include "core/interface/interface.h"
#include "core/interface/methods.h"

/*
 * bytes.c - how the bytes of a copy get to a disk and back.
 *
 * Where both ends are layouts, what lies in one piece on the disk is one operation, from
 * or to main memory itself when it lies in one piece there, too.  All other interfaces
 * copy with their own methods, which see memory: for that time there is some at the
 * addresses of the objects.
 */

/* What is gathered from several pieces goes this much at a time. */
enum { BOUNCE_BYTES = 4 << 20 };

/* One end of a copy. */
struct end {
	struct disk *disk; /* NULL: main memory */
	struct layout layout;
	int error; /* -errno of what could not be written; what follows is not */
};

/* ---- pieces ---------------------------------------------------------- */

static struct disk_object *object_of(struct disk *disk, const char *address)
{
	struct disk_object *object = disk_object_at(disk, address);

	if (!object)
		orr_die(disk->node->rank,
			"%p is no address in memory node %u (Disk); expected one of what "
			"starpu_disk_open() returned for data registered there",
			(const void *)address, disk->memory);
	return object;
}

typedef void move_func(struct end *end, char *place, char *bytes, size_t n);

static void move_in(struct end *end, char *place, char *bytes, size_t n)
{
	struct disk_object *object = object_of(end->disk, place);

	disk_object_read(object, (size_t)(place - object->address), bytes, n);
}

static void move_out(struct end *end, char *place, char *bytes, size_t n)
{
	struct disk_object *object = object_of(end->disk, place);

	if (!end->error)
		end->error = disk_object_write(object, (size_t)(place - object->address),
					       bytes, n);
}

/* The blocks of a layout on a disk, with bytes in their order; returns what follows. */
static char *move_blocks(struct end *end, const struct layout *layout, char *bytes,
			 move_func *move)
{
	struct layout inner = *layout;
	const struct layout_dim *outer;

	if (layout_is_flat(layout)) {
		move(end, layout->base, bytes, layout->block_bytes);
		return bytes + layout->block_bytes;
	}
	outer = &layout->dims[--inner.ndims];
	for (size_t i = 0; i < outer->count; i++) {
		bytes = move_blocks(end, &inner, bytes, move);
		inner.base += outer->stride_bytes;
	}
	return bytes;
}

/* Bytes [at, at + n) of the value. */
static void get(struct end *end, size_t at, char *bytes, size_t n)
{
	struct layout parts[LAYOUT_MAX_PARTS];
	int nparts = layout_cut(&end->layout, at, n, parts);

	for (int i = 0; i < nparts; i++) {
		if (end->disk)
			move_blocks(end, &parts[i], bytes, move_in);
		else
			layout_gather(bytes, &parts[i]);
		bytes += layout_bytes(&parts[i]);
	}
}

static void put(struct end *end, size_t at, char *bytes, size_t n)
{
	struct layout parts[LAYOUT_MAX_PARTS];
	int nparts = layout_cut(&end->layout, at, n, parts);

	for (int i = 0; i < nparts; i++) {
		if (end->disk)
			move_blocks(end, &parts[i], bytes, move_out);
		else
			layout_scatter(&parts[i], bytes);
		bytes += layout_bytes(&parts[i]);
	}
}

static int is_direct(const struct end *end)
{
	return !end->disk && layout_is_flat(&end->layout);
}

static void copy_layouts(struct end *from, struct end *to)
{
	size_t total = layout_bytes(&from->layout), at;
	char *bounce;

	if (is_direct(from)) {
		put(to, 0, from->layout.base, total);
		return;
	}
	if (is_direct(to)) {
		get(from, 0, to->layout.base, total);
		return;
	}
	bounce = orr_alloc(total < BOUNCE_BYTES ? total : BOUNCE_BYTES);
	for (at = 0; at < total; at += BOUNCE_BYTES) {
		size_t n = total - at < BOUNCE_BYTES ? total - at : BOUNCE_BYTES;

		get(from, at, bounce, n);
		put(to, at, bounce, n);
	}
	free(bounce);
}

/* The value is safe where it comes from, or the run ends. */
static void note_error(struct node *node, struct plat_copy *copy, int error)
{
	if (!error)
		return;
	if (!copy->may_fail)
		disk_fail(disk_at(node, copy->to), error);
	copy->error = error;
}

int disk_copy(struct node *node, struct plat_copy *copy)
{
	struct end from = {.disk = disk_at(node, copy->from)},
		   to = {.disk = disk_at(node, copy->to)};

	if (!interface_layouts(copy->methods, copy->from_interface, copy->to_interface,
			       &from.layout, &to.layout))
		return 0;
	if (layout_bytes(&from.layout) > 0)
		copy_layouts(&from, &to);
	note_error(node, copy, to.error);
	return 1;
}

/* ---- with the interface's own methods -------------------------------- */

enum { MAX_SHOWN = 16 };

/* Objects whose bytes are in memory now. */
struct shown {
	int n;
	struct {
		struct disk_object *object;
		char *before; /* what was there, if others may write other bytes of it */
		int is_written;
	} objects[MAX_SHOWN];
};

static size_t page_bytes(const struct disk_object *object)
{
	return (object->bytes + 4095) & ~(size_t)4095;
}

static void show(struct shown *shown, struct disk_object *object, int is_written)
{
	int rank = object->disk->node->rank;

	for (int i = 0; i < shown->n; i++)
		if (shown->objects[i].object == object)
			return;
	if (shown->n == MAX_SHOWN)
		orr_die(rank,
			"the interface of a datum has more than %d pointers to "
			"memory node %u (Disk); use fewer",
			(int)MAX_SHOWN, object->disk->memory);
	if (mprotect(object->address, page_bytes(object), PROT_READ | PROT_WRITE) != 0)
		orr_die(rank,
			"the system refuses %zu bytes to copy a datum from or to "
			"memory node %u (Disk): use smaller pieces",
			object->bytes, object->disk->memory);
	shown->objects[shown->n].object = object;
	shown->objects[shown->n].is_written = is_written;
	shown->objects[shown->n].before = NULL;
	if (object->object && (!is_written || object->is_opened))
		disk_object_read(object, 0, object->address, object->bytes);
	if (is_written && object->is_opened) {
		shown->objects[shown->n].before = orr_alloc(object->bytes);
		memcpy(shown->objects[shown->n].before, object->address, object->bytes);
	}
	shown->n++;
}

/*
 * What the struct of an interface points to.  Its fields are the interface's own, so each
 * word is looked at: no other value is an address of a disk.
 */
static void show_all(struct shown *shown, struct disk *disk, const void *interface,
		     size_t bytes, int is_written)
{
	struct disk_object *object;

	for (size_t at = 0; disk && at + sizeof(void *) <= bytes; at += sizeof(void *)) {
		void *word;

		memcpy(&word, (const char *)interface + at, sizeof(word));
		if (!disk_has(disk->node, word))
			continue;
		object = disk_object_at(disk, word);
		if (object)
			show(shown, object, is_written);
	}
}

/* The bytes of a part of an object, which others may be writing as well elsewhere. */
static int write_changes(struct disk_object *object, const char *before)
{
	const char *now = object->address;
	size_t from, to = 0;
	int error = 0;

	while (!error) {
		for (from = to; from < object->bytes && now[from] == before[from];)
			from++;
		if (from == object->bytes)
			break;
		for (to = from; to < object->bytes && now[to] != before[to];)
			to++;
		error = disk_object_write(object, from, now + from, to - from);
	}
	return error;
}

/* Returns what went wrong first. */
static int hide(struct shown *shown)
{
	int error = 0;

	for (int i = 0; i < shown->n; i++) {
		struct disk_object *object = shown->objects[i].object;
		size_t bytes = page_bytes(object);

		if (shown->objects[i].before && !error)
			error = write_changes(object, shown->objects[i].before);
		else if (shown->objects[i].is_written && !error)
			error = disk_object_write(object, 0, object->address,
						  object->bytes);
		free(shown->objects[i].before);
		madvise(object->address, bytes, MADV_DONTNEED);
		mprotect(object->address, bytes, PROT_NONE);
	}
	return error;
}

void disk_copy_alone(struct node *node, struct plat_copy *copy)
{
	starpu_data_handle_t datum = copy->owner;
	size_t bytes = datum->ops->interface_size;
	struct shown shown = {0};

	show_all(&shown, disk_at(node, copy->from), copy->from_interface, bytes, 0);
	show_all(&shown, disk_at(node, copy->to), copy->to_interface, bytes, 1);
	methods_start(node, copy);
	methods_end(copy);
	note_error(node, copy, hide(&shown));
}
