/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DISK_DISK_H
#define ORR_CORE_DISK_DISK_H

/*
 * disk.h - memories that are objects of a disk, such as files.
 *
 * An object has addresses where there is no memory (base/arena.h), so that interfaces
 * can do with them what they do with others: shift, cut, compare.  Only who copies finds
 * the object at an address.  The backend's driver of a disk decides when and on which
 * thread bytes move; disk_copy() and what it needs block, and know how.
 *
 * A new object is made on the disk when it is first written, and removed by who may
 * block, so that memory of a disk can be had and given back with data locked.
 */
#include "core/node.h"

struct disk_object;

struct disk {
	struct node *node; /* borrowed */
	unsigned memory;
	struct starpu_disk_ops *ops; /* the application's */
	void *base;                  /* what plug() returned */
	struct orr_lock lock;        /* of the objects */
	void *objects;               /* a tree of struct disk_object, by address */
};

/* See starpu_disk_register(). */
int disk_register(struct node *node, struct starpu_disk_ops *ops, void *parameter,
		  starpu_ssize_t size);
/* The disk of a memory, NULL: it is none. */
struct disk *disk_at(const struct node *node, unsigned memory);
/* See starpu_disk_open() and starpu_disk_close(). */
void *disk_open(struct disk *disk, void *pos, size_t size);
void disk_close(struct disk *disk, void *address, size_t size);
/* No driver uses the disks any more. */
void disks_end(struct node *node);

/* ---- for drivers ----------------------------------------------------- */

/* Never block. */
void *disk_allocate(struct node *node, unsigned memory, size_t bytes);
/* The object at an address is no more: what is to be given to disk_remove(), or NULL. */
struct disk_object *disk_forget(struct node *node, unsigned memory, void *address);

/* Block, with nothing locked.  Removed objects are linked by next. */
void disk_remove(struct disk *disk, struct disk_object *object);
/*
 * Move the bytes of a copy that has at least one end on a disk.  1, or 0: it must be done
 * by disk_copy_alone(), one at a time on a node.  Sets copy->error when the disk does not
 * take them and the copy may fail; ends the program when it may not, or when bytes cannot
 * be read.
 */
int disk_copy(struct node *node, struct plat_copy *copy);
void disk_copy_alone(struct node *node, struct plat_copy *copy);

/* ---- objects.c: addresses and what is there -------------------------- */

struct disk_object {
	char *address;
	size_t bytes;
	void *object;            /* the driver's; NULL: it is not on the disk yet */
	unsigned char is_opened; /* it was there before, and stays */
	struct disk *disk;
	struct disk_object *next;
};

struct disk_object *disk_object_new(struct disk *disk, size_t bytes);
/* The object that has the address, or NULL. */
struct disk_object *disk_object_at(struct disk *disk, const void *address);
/* Take it out of the tree; give its addresses back. */
void disk_object_drop(struct disk_object *object);
void disk_object_drop_all(struct disk *disk, void (*last)(struct disk_object *object));
/* Bytes of an object.  Ends the program when the disk fails. */
void disk_object_read(struct disk_object *object, size_t offset, void *to, size_t bytes);
/* 0, or -errno, told. */
int disk_object_write(struct disk_object *object, size_t offset, const void *from,
		      size_t bytes);
/* End the program: what nobody else has could not be written. */
void disk_fail(const struct disk *disk, int error) __attribute__((noreturn));

/* Is it one of the addresses of disks? */
int disk_has(const struct node *node, const void *address);

#endif
