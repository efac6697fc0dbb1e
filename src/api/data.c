/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/check.h"
#include "core/data/budget.h"
#include "core/data/coherency.h"
#include "core/data/copies.h"
#include "core/data/data_ops.h"
#include "core/data/partition.h"
#include "core/data/room.h"
#include "core/lasting.h"
#include "mpi/reduce.h"

/* ---- turns on data --------------------------------------------------- */

/* Where an acquisition without a node goes: the home, or main memory. */
static int default_memory(starpu_data_handle_t handle)
{
	return handle->home >= 0 ? handle->home : STARPU_MAIN_RAM;
}

static unsigned acquire_mode(const struct node *node, const char *func,
			     enum starpu_data_access_mode mode)
{
	unsigned wanted = (unsigned)mode & (STARPU_RW | STARPU_COMMUTE);

	if (!(wanted & STARPU_RW) || (mode & STARPU_REDUX))
		orr_die(node->rank,
			"%s: access mode %#x; expected STARPU_R, STARPU_W or STARPU_RW",
			func, (unsigned)mode);
	return wanted;
}

/* Memories that exist, or one of the two pseudo-nodes that mean "nowhere". */
static int check_memory(const struct node *node, const char *func, int memory)
{
	if (memory < STARPU_ACQUIRE_NO_NODE_LOCK_ALL || memory >= node_nmemories(node))
		orr_die(node->rank, "%s: memory node %d; expected 0 to %d", func, memory,
			node_nmemories(node) - 1);
	return memory < 0 ? STARPU_ACQUIRE_NO_NODE : memory;
}

/* Programs ask about all that there may be. */
static void check_number(const struct node *node, const char *func, int memory)
{
	if (memory < 0 || memory >= NODE_MAX_MEMORIES)
		orr_die(node->rank, "%s: memory node %d; expected 0 to %d", func, memory,
			NODE_MAX_MEMORIES - 1);
}

/* Is there enough of the memory for the datum, if it were alone there? */
static int could_be(starpu_data_handle_t handle, unsigned memory)
{
	const struct memory *of = &handle->node->memories[memory];
	size_t bytes = data_alloc_bytes(handle);

	if (memory != STARPU_MAIN_RAM)
		return room_fits(handle->node, memory, bytes);
	return of->capacity_bytes == 0 || bytes <= of->capacity_bytes ||
	       handle->home == STARPU_MAIN_RAM ||
	       (handle->body && handle->body->main.allocated) ||
	       !(of->default_flags & (int)STARPU_MALLOC_COUNT);
}

/* 0, or -ENOMEM with a message when the datum can never be in the memory. */
static int check_size(const char *func, starpu_data_handle_t handle, int memory)
{
	struct node *node = handle->node;
	size_t bytes = data_alloc_bytes(handle);
	char what[128];

	if (memory < 0 || could_be(handle, (unsigned)memory))
		return 0;
	orr_complain(node->rank,
		     "%s: %s needs %zu bytes in memory node %d, which has %zu: use "
		     "smaller pieces, or raise the limit (%s)",
		     func, data_describe(handle, what, sizeof(what)), bytes, memory,
		     room_capacity(&node->memories[memory]),
		     budget_limit_name(&node->memories[memory]));
	return -ENOMEM;
}

/* The owner counts as one of those that contribute. */
static void check_reduced(struct node *node, starpu_data_handle_t handle, unsigned mode)
{
	char what[128];
	int n = 0;

	if ((mode & STARPU_R) && (data_flags(handle) & DATUM_CONTRIBUTED) && node->mpi)
		n = reduce_nwaiting(node->mpi, handle);
	if (n > 1)
		orr_complain(
			node->rank,
			"starpu_data_acquire() reads %s, to which %d ranks contribute "
			"(STARPU_REDUX), and which has not been reduced: the parts of "
			"other ranks are missing; call starpu_mpi_redux_data() on all "
			"ranks before, or starpu_mpi_wait_for_all()",
			data_describe(handle, what, sizeof(what)), n);
}

int starpu_data_acquire_on_node(starpu_data_handle_t handle, int memory,
				enum starpu_data_access_mode mode)
{
	struct node *node = api_blocking_node(__func__);

	api_check_handle(node, __func__, handle);
	memory = check_memory(node, __func__, memory);
	if (check_size(__func__, handle, memory) != 0)
		return -ENOMEM;
	check_reduced(node, handle, (unsigned)mode);
	return data_acquire(node, handle, memory, acquire_mode(node, __func__, mode));
}

int starpu_data_acquire(starpu_data_handle_t handle, enum starpu_data_access_mode mode)
{
	api_check_handle(api_node(__func__), __func__, handle);
	return starpu_data_acquire_on_node(handle, default_memory(handle), mode);
}

int starpu_data_acquire_on_node_cb_sequential_consistency(
	starpu_data_handle_t handle, int memory, enum starpu_data_access_mode mode,
	void (*callback)(void *), void *arg, int sequential_consistency)
{
	struct node *node = api_node(__func__);
	struct data_wish wish = {
		.memory = check_memory(node, __func__, memory),
		.mode = acquire_mode(node, __func__, mode),
		.callback = callback,
		.arg = arg,
		.sequential = sequential_consistency,
	};

	api_check_handle(node, __func__, handle);
	if (check_size(__func__, handle, wish.memory) != 0)
		return -ENOMEM;
	data_acquire_cb(node, handle, &wish);
	return 0;
}

int starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(
	starpu_data_handle_t handle, int memory, enum starpu_data_access_mode mode,
	void (*callback_acquired)(void *arg, int *node,
				  enum starpu_data_access_mode mode),
	void (*callback)(void *arg), void *arg, int sequential_consistency, int quick,
	long *pre_sync_jobid, long *post_sync_jobid, int prio)
{
	struct node *node = api_node(__func__);
	struct data_wish wish = {
		.memory = check_memory(node, __func__, memory),
		.mode = acquire_mode(node, __func__, mode),
		.callback = callback,
		.arg = arg,
		.sequential = sequential_consistency,
		.granted = callback_acquired,
	};

	(void)quick;
	(void)prio;
	api_check_handle(node, __func__, handle);
	if (check_size(__func__, handle, wish.memory) != 0)
		return -ENOMEM;
	/* An acquisition is no task. */
	if (pre_sync_jobid)
		*pre_sync_jobid = -1;
	if (post_sync_jobid)
		*post_sync_jobid = -1;
	data_acquire_cb(node, handle, &wish);
	return 0;
}

int starpu_data_acquire_cb_sequential_consistency(starpu_data_handle_t handle,
						  enum starpu_data_access_mode mode,
						  void (*callback)(void *), void *arg,
						  int sequential_consistency)
{
	api_check_handle(api_node(__func__), __func__, handle);
	return starpu_data_acquire_on_node_cb_sequential_consistency(
		handle, default_memory(handle), mode, callback, arg,
		sequential_consistency);
}

int starpu_data_acquire_on_node_cb(starpu_data_handle_t handle, int memory,
				   enum starpu_data_access_mode mode,
				   void (*callback)(void *), void *arg)
{
	return starpu_data_acquire_on_node_cb_sequential_consistency(handle, memory, mode,
								     callback, arg, 1);
}

int starpu_data_acquire_cb(starpu_data_handle_t handle, enum starpu_data_access_mode mode,
			   void (*callback)(void *), void *arg)
{
	return starpu_data_acquire_cb_sequential_consistency(handle, mode, callback, arg,
							     1);
}

int starpu_data_acquire_on_node_try(starpu_data_handle_t handle, int memory,
				    enum starpu_data_access_mode mode)
{
	struct node *node = api_blocking_node(__func__);
	int ret;

	api_check_handle(node, __func__, handle);
	memory = check_memory(node, __func__, memory);
	if (check_size(__func__, handle, memory) != 0)
		return -ENOMEM;
	ret = data_acquire_try(node, handle, memory, acquire_mode(node, __func__, mode));
	if (ret == -EAGAIN)
		plat_looked(node->plat);
	return ret;
}

int starpu_data_acquire_try(starpu_data_handle_t handle,
			    enum starpu_data_access_mode mode)
{
	api_check_handle(api_node(__func__), __func__, handle);
	return starpu_data_acquire_on_node_try(handle, default_memory(handle), mode);
}

void starpu_data_release_to_on_node(starpu_data_handle_t handle,
				    enum starpu_data_access_mode down_to_mode, int memory)
{
	struct node *node = api_node(__func__);

	api_check_registered(node, __func__, handle);
	data_release(handle, check_memory(node, __func__, memory), down_to_mode);
}

void starpu_data_release_to(starpu_data_handle_t handle,
			    enum starpu_data_access_mode down_to_mode)
{
	api_check_registered(api_node(__func__), __func__, handle);
	starpu_data_release_to_on_node(handle, down_to_mode, default_memory(handle));
}

void starpu_data_release_on_node(starpu_data_handle_t handle, int memory)
{
	starpu_data_release_to_on_node(handle, STARPU_NONE, memory);
}

void starpu_data_release(starpu_data_handle_t handle)
{
	starpu_data_release_to(handle, STARPU_NONE);
}

/* ---- the end of data ------------------------------------------------- */

/* The parts of a partition end together, and before what they are parts of. */
static void check_whole(const struct node *node, const char *func,
			starpu_data_handle_t handle)
{
	const struct partition *own = partition_first(handle);
	char what[128];

	if (data_flags(handle) & DATUM_PART)
		orr_die(node->rank,
			"%s: %s is a part of another datum: end the partition instead, "
			"with starpu_data_unpartition() or starpu_data_partition_clean()",
			func, data_describe(handle, what, sizeof(what)));
	if (own)
		orr_die(node->rank, "%s: %s has a partition into %u parts: call %s first",
			func, data_describe(handle, what, sizeof(what)), own->nparts,
			own->is_planned ? "starpu_data_partition_clean()"
					: "starpu_data_unpartition()");
}

void starpu_data_unregister(starpu_data_handle_t handle)
{
	struct node *node = api_blocking_node(__func__);

	api_check_handle(node, __func__, handle);
	check_whole(node, __func__, handle);
	data_unregister(node, handle, 1);
}

void starpu_data_unregister_no_coherency(starpu_data_handle_t handle)
{
	struct node *node = api_blocking_node(__func__);

	api_check_handle(node, __func__, handle);
	check_whole(node, __func__, handle);
	data_unregister(node, handle, 0);
}

void starpu_data_unregister_submit(starpu_data_handle_t handle)
{
	struct node *node = api_node(__func__);

	api_check_handle(node, __func__, handle);
	check_whole(node, __func__, handle);
	data_unregister_submit(node, handle);
}

void starpu_data_deinitialize_submit(starpu_data_handle_t handle)
{
	struct node *node = api_node(__func__);

	api_check_handle(node, __func__, handle);
	data_deinitialize_submit(node, handle);
}

void starpu_data_deinitialize(starpu_data_handle_t handle)
{
	starpu_data_acquire_on_node(handle, STARPU_ACQUIRE_NO_NODE, STARPU_W);
	coherency_invalidate(handle, 0);
	starpu_data_release_on_node(handle, STARPU_ACQUIRE_NO_NODE);
}

void starpu_data_invalidate(starpu_data_handle_t handle)
{
	starpu_data_acquire_on_node(handle, STARPU_ACQUIRE_NO_NODE, STARPU_W);
	coherency_invalidate(handle, 1);
	starpu_data_release_on_node(handle, STARPU_ACQUIRE_NO_NODE);
}

void starpu_data_invalidate_submit(starpu_data_handle_t handle)
{
	struct node *node = api_node(__func__);

	api_check_handle(node, __func__, handle);
	data_invalidate_submit(node, handle);
}

/* ---- where data are -------------------------------------------------- */

/* 0 or -ENOMEM. */
static int fetch_on_node(const char *func, starpu_data_handle_t handle,
			 struct data_target target)
{
	struct node *node =
		target.asynchronous ? api_node(func) : api_blocking_node(func);

	api_check_handle(node, func, handle);
	check_memory(node, func, (int)target.memory);
	if (!target.is_hint && check_size(func, handle, (int)target.memory) != 0)
		return -ENOMEM;
	return data_fetch(node, handle, &target);
}

int starpu_data_fetch_on_node(starpu_data_handle_t handle, unsigned memory,
			      unsigned async)
{
	return fetch_on_node(
		__func__, handle,
		(struct data_target){.memory = memory, .asynchronous = async != 0});
}

/* Hints: what has no room stays where it is. */
int starpu_data_prefetch_on_node(starpu_data_handle_t handle, unsigned memory,
				 unsigned async)
{
	return starpu_data_prefetch_on_node_prio(handle, memory, async, 0);
}

int starpu_data_prefetch_on_node_prio(starpu_data_handle_t handle, unsigned memory,
				      unsigned async, int prio)
{
	fetch_on_node(__func__, handle,
		      (struct data_target){.memory = memory,
					   .asynchronous = async != 0,
					   .is_hint = 1,
					   .prio = prio});
	return 0;
}

int starpu_data_idle_prefetch_on_node(starpu_data_handle_t handle, unsigned memory,
				      unsigned async)
{
	return starpu_data_idle_prefetch_on_node_prio(handle, memory, async, 0);
}

int starpu_data_idle_prefetch_on_node_prio(starpu_data_handle_t handle, unsigned memory,
					   unsigned async, int prio)
{
	fetch_on_node(__func__, handle,
		      (struct data_target){.memory = memory,
					   .asynchronous = async != 0,
					   .is_hint = 1,
					   .is_idle = 1,
					   .prio = prio});
	return 0;
}

void starpu_data_wont_use(starpu_data_handle_t handle)
{
	struct node *node = api_node(__func__);

	api_check_handle(node, __func__, handle);
	data_wont_use(node, handle);
}

int starpu_data_evict_from_node(starpu_data_handle_t handle, unsigned memory)
{
	struct node *node = api_node(__func__);

	api_check_handle(node, __func__, handle);
	check_memory(node, __func__, (int)memory);
	return data_evict(handle, memory) ? 0 : -1;
}

int starpu_data_can_evict(starpu_data_handle_t handle, unsigned memory,
			  enum starpu_is_prefetch is_prefetch)
{
	struct node *node = api_node(__func__);
	struct copy_state *copy;
	int idle;

	(void)is_prefetch;
	api_check_handle(node, __func__, handle);
	check_memory(node, __func__, (int)memory);
	orr_lock(&handle->lock);
	copy = data_find_copy(handle, memory);
	idle = copy && !copy_is_own(copy) && room_is_idle(copy);
	orr_unlock(&handle->lock);
	return idle;
}

unsigned starpu_data_test_if_mapped_on_node(starpu_data_handle_t handle,
					    unsigned memory_node)
{
	struct node *node = api_node(__func__);
	const struct copy_state *copy;

	api_check_handle(node, __func__, handle);
	check_memory(node, __func__, (int)memory_node);
	copy = data_find_copy(handle, memory_node);
	return copy && copy->mapped;
}

void starpu_data_query_status2(starpu_data_handle_t handle, int memory_node,
			       int *is_allocated, int *is_valid, int *is_loading,
			       int *is_requested)
{
	struct node *node = api_node(__func__);

	api_check_handle(node, __func__, handle);
	check_number(node, __func__, memory_node);

	unsigned memory = (unsigned)memory_node;
	struct data_body *body = data_body(handle);
	struct copy_state *copy;
	int allocated, valid, arriving;

	if (data_flags(handle) & DATUM_OUTDATED)
		data_settle_outdated(handle, STARPU_NONE);
	orr_lock(&handle->lock);
	copy = data_find_copy(handle, memory);
	allocated = copy && copy->allocated;
	valid = (body->valid & memory_bit(memory)) != 0;
	arriving = (body->arriving & memory_bit(memory)) != 0;
	orr_unlock(&handle->lock);
	if (is_allocated)
		*is_allocated = allocated;
	if (is_valid)
		*is_valid = valid;
	if (is_loading)
		*is_loading = arriving;
	if (is_requested)
		*is_requested = arriving;
}

void starpu_data_query_status(starpu_data_handle_t handle, int memory_node,
			      int *is_allocated, int *is_valid, int *is_requested)
{
	starpu_data_query_status2(handle, memory_node, is_allocated, is_valid, NULL,
				  is_requested);
}

unsigned starpu_data_is_on_node(starpu_data_handle_t handle, unsigned memory)
{
	int is_valid, is_loading;

	starpu_data_query_status2(handle, (int)memory, NULL, &is_valid, &is_loading,
				  NULL);
	return is_valid || is_loading;
}

unsigned starpu_data_test_if_allocated_on_node(starpu_data_handle_t handle,
					       unsigned memory_node)
{
	int is_allocated;

	starpu_data_query_status2(handle, (int)memory_node, &is_allocated, NULL, NULL,
				  NULL);
	return is_allocated != 0;
}

/* ---- attributes ------------------------------------------------------ */

static void set_sequential(starpu_data_handle_t handle, int sequential)
{
	const struct partition *partition = partition_first(handle);

	orr_lock(&handle->lock);
	if (sequential)
		data_change_flags(handle, DATUM_SEQUENTIAL, 0);
	else
		data_change_flags(handle, 0, DATUM_SEQUENTIAL);
	orr_unlock(&handle->lock);
	for (; partition; partition = partition->next)
		for (unsigned i = 0; i < partition->nparts; i++)
			set_sequential(partition->parts[i], sequential);
}

void starpu_data_set_sequential_consistency_flag(starpu_data_handle_t handle,
						 unsigned flag)
{
	api_check_handle(api_node(__func__), __func__, handle);

	set_sequential(handle, flag != 0);
}

unsigned starpu_data_get_sequential_consistency_flag(starpu_data_handle_t handle)
{
	api_check_handle(api_node(__func__), __func__, handle);

	return (data_flags(handle) & DATUM_SEQUENTIAL) != 0;
}

unsigned starpu_data_get_default_sequential_consistency_flag(void)
{
	return (unsigned)orr_load(&lasting_get()->default_sequential);
}

void starpu_data_set_default_sequential_consistency_flag(unsigned flag)
{
	orr_store(&lasting_get()->default_sequential, flag != 0);
}

void starpu_data_set_user_data(starpu_data_handle_t handle, void *user_data)
{
	api_check_handle(api_node(__func__), __func__, handle);

	data_extra(handle)->user_data = user_data;
}

void *starpu_data_get_user_data(starpu_data_handle_t handle)
{
	api_check_handle(api_node(__func__), __func__, handle);

	const struct data_extra *extra = data_find_extra(handle);

	return extra ? extra->user_data : NULL;
}

void starpu_data_set_sched_data(starpu_data_handle_t handle, void *sched_data)
{
	api_check_handle(api_node(__func__), __func__, handle);

	data_extra(handle)->sched_data = sched_data;
}

void *starpu_data_get_sched_data(starpu_data_handle_t handle)
{
	api_check_handle(api_node(__func__), __func__, handle);

	const struct data_extra *extra = data_find_extra(handle);

	return extra ? extra->sched_data : NULL;
}

void starpu_data_set_name(starpu_data_handle_t handle, const char *name)
{
	api_check_handle(api_node(__func__), __func__, handle);

	struct data_extra *extra = data_extra(handle);

	free(extra->name);
	extra->name = name ? orr_strdup(name) : NULL;
}

void starpu_data_set_coordinates_array(starpu_data_handle_t handle, unsigned dimensions,
				       int dims[])
{
	api_check_handle(api_node(__func__), __func__, handle);

	struct data_extra *extra = data_extra(handle);

	extra->ndimensions = dimensions < 5 ? (int)dimensions : 5;
	memcpy(extra->dimensions, dims, (size_t)extra->ndimensions * sizeof(int));
}

void starpu_data_set_coordinates(starpu_data_handle_t handle, unsigned dimensions, ...)
{
	int dims[5];
	va_list list;

	if (dimensions > 5)
		dimensions = 5;
	va_start(list, dimensions);
	for (unsigned i = 0; i < dimensions; i++)
		dims[i] = va_arg(list, int);
	va_end(list);
	starpu_data_set_coordinates_array(handle, dimensions, dims);
}

unsigned starpu_data_get_coordinates_array(starpu_data_handle_t handle,
					   unsigned dimensions, int dims[])
{
	api_check_handle(api_node(__func__), __func__, handle);

	const struct data_extra *extra = data_find_extra(handle);
	unsigned known = extra ? (unsigned)extra->ndimensions : 0;

	if (dimensions > known)
		dimensions = known;
	if (dimensions)
		memcpy(dims, extra->dimensions, dimensions * sizeof(int));
	return dimensions;
}

struct starpu_data_interface_ops *
starpu_data_get_interface_ops(starpu_data_handle_t handle)
{
	api_check_handle(api_node(__func__), __func__, handle);

	return handle->ops;
}
