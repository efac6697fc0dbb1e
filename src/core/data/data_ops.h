/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_DATA_OPS_H
#define ORR_CORE_DATA_DATA_OPS_H

/*
 * data_ops.h - what the application does to data outside of tasks.
 *
 * An acquisition by the application is kept on the datum until it is released, since
 * starpu_data_release() names the datum only.
 */
#include "core/task/acquire.h"

/* Block until the datum is the caller's in mode at memory (or STARPU_ACQUIRE_NO_NODE). */
int data_acquire(struct node *node, starpu_data_handle_t handle, int memory,
		 unsigned mode);
/* The same with a callback. */
struct data_wish {
	int memory;
	unsigned mode;
	void (*callback)(void *);
	void *arg;
	int sequential;
	/* When the turn has come, before the copy: may change the memory; or NULL. */
	void (*granted)(void *arg, int *memory, enum starpu_data_access_mode mode);
};
void data_acquire_cb(struct node *node, starpu_data_handle_t handle,
		     const struct data_wish *wish);
/* 0, or -EAGAIN. */
int data_acquire_try(struct node *node, starpu_data_handle_t handle, int memory,
		     unsigned mode);
/* Give back, or keep for reading when down_to is STARPU_R. */
void data_release(starpu_data_handle_t handle, int memory, unsigned down_to);

/* How many of the application's acquisitions are not released, and their modes
 * together; the datum has a body and is locked. */
int data_held(starpu_data_handle_t handle, unsigned *mode);
/* The main memory in which the application holds the datum; local where it does not. */
unsigned data_memory_at_hand(starpu_data_handle_t handle, unsigned local);

/* Call one() with each job that waits for the datum, and with NULL when somebody waits to
 * end it; the datum has a body and is locked.  Returns how many wait. */
int data_each_waiter(starpu_data_handle_t handle,
		     void (*one)(void *arg, const struct job *job), void *arg);

/* After all accesses so far: forget the value; free the runtime's memory. */
void data_invalidate_submit(struct node *node, starpu_data_handle_t handle);
/* The access of one that was put off, to be put in its place; the datum is locked. */
struct access *data_make_wiping(starpu_data_handle_t handle);
/* In its turn, the datum is taken to have a value: whatever is in its memory. */
void data_pretend_written_submit(struct node *node, starpu_data_handle_t handle);
/* The same, keeping the memory. */
void data_deinitialize_submit(struct node *node, starpu_data_handle_t handle);
/*
 * A datum with DATUM_OUTDATED has a value of the past: deinitialized it would be when its
 * turn comes, were it not that most often somebody overwrites it first.  Whoever submits
 * an access calls this before: it is deinitialized now, unless mode overwrites it.
 */
void data_settle_outdated(starpu_data_handle_t handle, unsigned mode);
/* Wait for its writers, and bring its value, if it has one, to memory (-1: not at all).
 */
void data_settle(struct node *node, starpu_data_handle_t handle, int memory);
/* Wait for all its users, before it ends: the MPI layer forgets it now. */
void data_wait_idle(struct node *node, starpu_data_handle_t handle);
/* The same, then free it; its value is lost. */
void data_end(struct node *node, starpu_data_handle_t handle);
/* Wait for all users, bring the value home when with_value, free. */
void data_unregister(struct node *node, starpu_data_handle_t handle, int with_value);
/* After all accesses so far, without waiting and without value. */
void data_unregister_submit(struct node *node, starpu_data_handle_t handle);
/* Fetch a copy for reading, once its writers are done.  0, or -ENOMEM when the memory is
 * smaller than the datum. */
struct data_target {
	unsigned memory;
	int asynchronous;
	int is_hint; /* not worth waiting for the data that others use */
	int is_idle; /* not worth anything that others could do */
	int prio;    /* among hints that are not waited for */
};
int data_fetch(struct node *node, starpu_data_handle_t handle,
	       const struct data_target *target);

/* A buffer for it in memory, where its value may come later; a hint, when the writers so
 * far are over. */
void data_request_buffer(struct node *node, starpu_data_handle_t handle, unsigned memory);
/* Its copies leave before others (0), or in their turn. */
void data_advise(starpu_data_handle_t handle, int is_important);
/*
 * Nobody is going to use it for a while: once the accesses so far are over, bring its
 * value home when nothing travels there; of the idle copies it goes first.
 */
void data_wont_use(struct node *node, starpu_data_handle_t handle);
/* Let the copy leave a memory: 1: it goes, or has gone; 0: it is in use, or not there. */
int data_evict(starpu_data_handle_t handle, unsigned memory);
/* May the value leave main memory for a disk? */
void data_set_disks(struct node *node, starpu_data_handle_t handle, int allowed);

#endif
