/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Memory, limits of memory, and sleep.  Any thread may call these functions. */

#ifndef STARPU_STDLIB_H
#define STARPU_STDLIB_H

#include <stddef.h>
#include <stdint.h>

#include <starpu_config.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Fast for transfers to devices. */
#define STARPU_MALLOC_PINNED ((1ULL) << 1)
/** Count against the limit of the node (STARPU_LIMIT_CPU_MEM for main memory). */
#define STARPU_MALLOC_COUNT ((1ULL) << 2)
/** With COUNT: make no room first, and go over the limit when there is none. */
#define STARPU_MALLOC_NORECLAIM ((1ULL) << 3)
/** With COUNT: wait until there is room; not from tasks and callbacks. */
#define STARPU_MEMORY_WAIT ((1ULL) << 4)
/** With COUNT: go over the limit. */
#define STARPU_MEMORY_OVERFLOW ((1ULL) << 5)
/** Simulation that does not execute kernels: a buffer larger than
 * STARPU_MALLOC_SIMULATION_FOLD is that much memory again and again, so that its content
 * means nothing; to be freed while the library is initialised. */
#define STARPU_MALLOC_SIMULATION_FOLDED ((1ULL) << 6)
/** The same simulation: all buffers of one size are the same buffer. */
#define STARPU_MALLOC_SIMULATION_UNIQUE ((1ULL) << 7)

#define starpu_data_malloc_pinned_if_possible starpu_malloc
#define starpu_data_free_pinned_if_possible   starpu_free

/**
 * Allocate dim bytes of main memory, as starpu_malloc_flags does with
 * STARPU_MALLOC_PINNED.  Works before initialisation too.
 *
 * @return 0; -ENOMEM, and *A is NULL
 */
int starpu_malloc(void **A, size_t dim);

/** Free what starpu_malloc gave, without telling its size; NULL is allowed. */
int starpu_free(void *A) STARPU_DEPRECATED;

/** Free what starpu_malloc gave; dim must be its size. */
int starpu_free_noflag(void *A, size_t dim);

/**
 * Allocate dim bytes of main memory; 0, or -ENOMEM with *A NULL: the system has none, or
 * they are counted and do not fit.
 */
int starpu_malloc_flags(void **A, size_t dim, int flags);

/** Align what starpu_malloc gives from now on at least to a power of two; any time. */
void starpu_malloc_set_align(size_t align);

/** Allocates dim bytes of main memory, a memory node, to *A; 0 or -ENOMEM. */
typedef int (*starpu_malloc_hook)(unsigned dst_node, void **A, size_t dim, int flags);
/** Frees what a starpu_malloc_hook gave, told the same; 0. */
typedef int (*starpu_free_hook)(unsigned dst_node, void *A, size_t dim, int flags);

/**
 * Let functions of the application allocate and free all main memory that the library
 * gives to it: buffers of data, starpu_malloc(), starpu_malloc_on_node().  Counting stays
 * the library's.  Any time, for all lives of the library, while nothing is allocated;
 * NULL twice goes back to the library's own.
 */
void starpu_malloc_set_hooks(starpu_malloc_hook malloc_hook, starpu_free_hook free_hook);

/** Free what starpu_malloc_flags gave; size and flags must be the same. */
int starpu_free_flags(void *A, size_t dim, int flags);

/** Make an existing area fast for transfers to devices; 0, or a negative errno. */
int starpu_memory_pin(void *addr, size_t size);

/** Undo starpu_memory_pin; 0, or a negative errno. */
int starpu_memory_unpin(void *addr, size_t size);

/** Limit of a memory node in bytes, -1 when there is none; any time. */
starpu_ssize_t starpu_memory_get_total(unsigned node);

/** Bytes left under the limit of a memory node, -1 when there is none.  Buffers that are
 * kept for other data count as left. */
starpu_ssize_t starpu_memory_get_available(unsigned node);

/** Bytes counted on a memory node; more than the limit when it was overrun. */
size_t starpu_memory_get_used(unsigned node);

/** The same over all memory nodes; -1 when one of them has no limit. */
starpu_ssize_t starpu_memory_get_total_all_nodes(void);

/** The same over all memory nodes; -1 when one of them has no limit. */
starpu_ssize_t starpu_memory_get_available_all_nodes(void);

/** The same over all memory nodes. */
size_t starpu_memory_get_used_all_nodes(void);

/**
 * Count size bytes on a memory node, without allocating them.
 *
 * @param flags  STARPU_MEMORY_WAIT: block until they fit; STARPU_MEMORY_OVERFLOW: count
 *               them anyway; 0: neither
 * @return 0; -ENOMEM: they do not fit, and are not counted
 */
int starpu_memory_allocate(unsigned node, size_t size, int flags);

/** Count size bytes less on a memory node; those who wait for room may go on. */
void starpu_memory_deallocate(unsigned node, size_t size);

/** Block until size bytes would fit on a memory node. */
void starpu_memory_wait_available(unsigned node, size_t size);

/** Let the calling thread sleep, in seconds; virtual time in simulation;
 * any time. */
void starpu_sleep(float nb_sec);

/** The same in microseconds. */
void starpu_usleep(float nb_micro_sec);

/** Say that joules were used, by a kernel for instance; any thread. */
void starpu_energy_use(float joules);

/** All that was said so since starpu_init(), in joules. */
double starpu_energy_used(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_STDLIB_H */
