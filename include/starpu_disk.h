/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Memory nodes on disks, for data that do not fit in main memory. */

#ifndef STARPU_DISK_H
#define STARPU_DISK_H

#include <stddef.h>
#include <sys/types.h>

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How bytes get to a disk and back: the predefined tables below, or the application's.
 * base is what plug returned, obj what alloc or open returned.  Operations are called on
 * threads of the library, several at once, but never two that write the same bytes.
 * Those that may be NULL say so; read or async_read, write or async_write must be there.
 * In simulation they are called when kernels are executed (ORRERY_EXECUTE); else there
 * are no bytes, and none is called.
 */
struct starpu_disk_ops {
	/* Take the disk that parameter names into use, size bytes of it (-1: all); NULL:
	 * refused. */
	void *(*plug)(void *parameter, starpu_ssize_t size);
	void (*unplug)(void *base);
	/* Measure it, once; 0: it does not work.  NULL: not measured. */
	int (*bandwidth)(unsigned node, void *base);
	/* A new object of size bytes, NULL when there is no room; and its end. */
	void *(*alloc)(void *base, size_t size);
	void (*free)(void *base, void *obj, size_t size);
	/* An object that exists, and its end here; NULL: starpu_disk_open() is refused.
	 */
	void *(*open)(void *base, void *pos, size_t size);
	void (*close)(void *base, void *obj, size_t size);
	/* Bytes of an object: 0, or, in read, the number of bytes; else an error. */
	int (*read)(void *base, void *obj, void *buf, off_t offset, size_t size);
	int (*write)(void *base, void *obj, const void *buf, off_t offset, size_t size);
	/* A whole object, to memory that it allocates on dst_node, and from bytes that
	 * become the object.  Not called by the library, may be NULL. */
	int (*full_read)(void *base, void *obj, void **ptr, size_t *size,
			 unsigned dst_node);
	int (*full_write)(void *base, void *obj, void *ptr, size_t size);
	/* The same without waiting: a request, NULL when it cannot be started;
	 * wait_request, else test_request (1: done), and free_request belong to them. May
	 * be NULL. */
	void *(*async_write)(void *base, void *obj, void *buf, off_t offset, size_t size);
	void *(*async_read)(void *base, void *obj, void *buf, off_t offset, size_t size);
	void *(*async_full_read)(void *base, void *obj, void **ptr, size_t *size,
				 unsigned dst_node);
	void *(*async_full_write)(void *base, void *obj, void *ptr, size_t size);
	/* Between two disks of this table; not called by the library, may be NULL. */
	void *(*copy)(void *base_src, void *obj_src, off_t offset_src, void *base_dst,
		      void *obj_dst, off_t offset_dst, size_t size);
	void (*wait_request)(void *async_channel);
	int (*test_request)(void *async_channel);
	void (*free_request)(void *async_channel);
};

/*
 * A file per object in the directory that the parameter names, which is made when it does
 * not exist: with the C library's streams, with read() and write(), and the same past the
 * system's cache (O_DIRECT).
 */
extern struct starpu_disk_ops starpu_disk_stdio_ops;
extern struct starpu_disk_ops starpu_disk_unistd_ops;
extern struct starpu_disk_ops starpu_disk_unistd_o_direct_ops;

/* The least size of a disk, in bytes. */
#define STARPU_DISK_SIZE_MIN (16 * 1024 * 1024)

/**
 * Make a memory node (STARPU_DISK_RAM) of a disk.
 *
 * @param func       its operations, borrowed to the end of the library
 * @param parameter  for plug; of predefined tables the path of a directory
 * @param size       bytes that may be used, at least STARPU_DISK_SIZE_MIN; -1: no limit
 * @return the number of the node; -ENOENT when plug or bandwidth refuses, or a simulated
 *         machine has no such disk; -ENOSPC when there are too many memory nodes
 *
 * Any thread, between starpu_init() and starpu_shutdown(), one at a time.  Data that do
 * not fit in a limited main memory (STARPU_LIMIT_CPU_MEM) go there.
 */
int starpu_disk_register(struct starpu_disk_ops *func, void *parameter,
			 starpu_ssize_t size);

/**
 * The memory node of the disk that STARPU_DISK_SWAP names, -1: there is none, or it
 * cannot be used.  Of the calling rank; any thread.
 */
int orrery_disk_swap_node(void);
#define starpu_disk_swap_node (orrery_disk_swap_node())

/**
 * Use an object that exists: of predefined tables the file pos, relative to the
 * directory.
 *
 * @return what stands for its address when data are registered with this home node, also
 *         with an offset; NULL, with a message, when it cannot be used
 */
void *starpu_disk_open(unsigned node, void *pos, size_t size);

/* The end of that, with the arguments and the result of starpu_disk_open(): data that lie
 * there have been unregistered.  The object stays. */
void starpu_disk_close(unsigned node, void *obj, size_t size);

#ifdef __cplusplus
}
#endif

#endif
