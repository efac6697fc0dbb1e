/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_COHERENCY_H
#define ORR_CORE_DATA_COHERENCY_H

/*
 * coherency.h - where the current value of a datum is, and how it gets elsewhere.
 *
 * The caller holds granted accesses, so readers never meet a writer here; several
 * readers may fetch at once.  Only what nobody waits for, evictions for instance, goes on
 * beside a writer: what it brings is of an earlier epoch then, and counts for nothing.
 * Who writes to the copy that it reads from waits for its end, where threads do not take
 * turns.
 */
#include "core/data/data.h"

/*
 * Make the data of job usable in memory as its accesses say: room for all of them, and
 * their values where they are read.  Returns 1 when all is there, 0 when fetched() of
 * the job's kind will be called.  Nothing is locked.
 */
int coherency_fetch(struct job *job, unsigned memory);
/* In a process of one thread: that may be called soon.  The values are near. */
void coherency_expect(const struct job *job, unsigned memory);
/*
 * The same of the one datum of a job, which is locked, where the first main memory has no
 * limit.  0: a transfer is to come, and one count of job->nfetching is the caller's, who
 * takes it away with nothing locked, and then calls fetched() when that was the last.
 * Behind either coherency_serve(), with nothing locked.
 */
int coherency_fetch_home(struct job *job);
void coherency_serve(struct node *node);
/* Its accesses are over: their copies may leave. */
void coherency_unpin(struct job *job);
/* The same of the one datum of a job, which is locked: 1; 0, and nothing is done: more
 * has to happen than that one user less is counted. */
int coherency_unpin_home(struct job *job);
/* Forget the value; free what the runtime allocated when release is set. */
void coherency_invalidate(starpu_data_handle_t handle, int release);
/*
 * Nobody will use the datum any more: forget the value, free all copies.  1: nothing is
 * left; 0: an eviction still uses it.  At its end gate is opened, or without one
 * data_free_now() is called.
 */
int coherency_retire(starpu_data_handle_t handle, struct plat_gate *gate);
/*
 * Of a datum whose bytes in a memory are another one's, too (see partition.h): that
 * memory is allocated and stays, until let() has been called as often.
 */
void coherency_hold(starpu_data_handle_t handle, unsigned memory);
void coherency_let(starpu_data_handle_t handle, unsigned memory);
/* Its value, if it has one, is what lies there in that memory, and nowhere else. */
void coherency_place(starpu_data_handle_t handle, unsigned memory, int has_value);
/* Its value is no longer its own. */
void coherency_displace(starpu_data_handle_t handle);
/* The main memory where the value is at hand, if there is one: it, and else its haven. */
unsigned coherency_main_memory(starpu_data_handle_t handle);
/* One of these memories of devices where the value is, and in no main memory; or, where
 * it is to be replaced, where there is memory for it.  -1: none. */
int coherency_device_memory(starpu_data_handle_t handle, uint64_t memories, int replaces);
/*
 * Bring the value, which is somewhere else, one hop towards a memory, if there is room;
 * nobody waits for it, as with evictions.  The datum is locked.
 */
void coherency_send(starpu_data_handle_t handle, unsigned memory);

/* The node closes: block the user thread until nothing travels any more.  Of data that
 * have ended, evictions may. */
void coherency_settle_all(struct node *node);

/* ---- what room.c calls, with nothing locked -------------------------- */

/* The copy, which is leaving, has to go: its value is sent elsewhere if it is the only
 * one, and stays if it finds no place. */
void coherency_evict(struct copy_state *copy);
/* The same, unless it is the only one. */
void coherency_drop(struct copy_state *copy);
/* There is room for all copies of a job that waited for it. */
void coherency_admitted(struct job *job);
/* There is no room for the copies of a hint. */
void coherency_refused(struct job *job);

/* ---- what coherency.c calls ------------------------------------------ */

/* Unlock a datum of which a transfer or an eviction has ended. */
void coherency_unlock_used(starpu_data_handle_t datum);
/* Of all memories whose room may have changed; nothing is locked. */
void coherency_serve_all(struct node *node);

/* ---- what coherency_fetch.c calls ------------------------------------- */

/* The access's copy has room and is used, the datum is locked: bring the value.  1 when
 * it is there, 0 when the access waits for a transfer, after which to try again. */
int coherency_bring(struct access *access);
/* And called by coherency.c: of a job with job->booking, all values in one memory are
 * there. */
void coherency_fetched_in(struct job *job);

/* ---- what spill.c calls, with nothing locked ------------------------- */

/* There is room for copy, which is used once for it: a stop, or where leaving goes. */
void coherency_pass(struct copy_state *copy, struct copy_state *leaving);

#endif
