/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Tasks of several ranks, values that others than the owner send, contexts. */
#include "mpi_distributed.h"

int claim_failures, claim_rank, claim_size;

/* ---- several ranks execute ------------------------------------------- */

/* All ranks, or those but the owner, compute; nothing travels for the written data but to
 * who needs it. */
static void replicas_execute(void)
{
	long x = RANK == 0 ? 5 : 0, y = RANK == 1 ? 7 : 0;
	int all[16], n = claim_size < 16 ? claim_size : 16;
	starpu_data_handle_t handles[2];
	size_t sent;

	start();
	handles[0] = distributed(&x, 1, 0);
	handles[1] = distributed(&y, 2, 1);
	count_bytes();
	for (int i = 0; i < n; i++)
		all[i] = i;
	/* Each rank gets both, and nobody sends back. */
	starpu_mpi_tasks_insert(WORLD, &sum, n, all, STARPU_RW, handles[0], STARPU_R,
				handles[1], STARPU_PRIORITY, 1, 0);
	sent = bytes_sent();
	CLAIM_EQ(sent, RANK < 2 ? sizeof(long) * (size_t)(n - 1) : 0);
	CLAIM_EQ(nruns, RANK < n);
	if (RANK < n)
		CLAIM_EQ(value_here(handles[0]), 12);
	/* It is on all of them: who reads it next needs no message. */
	starpu_mpi_task_insert(WORLD, &only_read, STARPU_R, handles[0],
			       STARPU_EXECUTE_ON_NODE, n - 1, 0);
	CLAIM_EQ(bytes_sent(), 0);
	CLAIM_EQ(nruns, (RANK < n) + (RANK == n - 1));
	/* Not by the owner: the first one sends it there. */
	starpu_mpi_tasks_insert(WORLD, &add, n - 1, all + 1, STARPU_RW, handles[0], 0);
	CLAIM_EQ(bytes_sent(), RANK == 1 ? sizeof(long) : 0);
	CLAIM_EQ(value_here(handles[0]), RANK < n ? 13 : UNSET);
	/* A write elsewhere makes all of that old. */
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handles[0], 0);
	starpu_mpi_tasks_insert(WORLD, &sum, 1, all + n - 1, STARPU_RW, handles[1],
				STARPU_R, handles[0], 0);
	CLAIM_EQ(bytes_sent(), (RANK == 0 || (n > 2 && RANK == n - 1)) * sizeof(long));
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(handles[i]);
	CLAIM_EQ(x, RANK == 0 ? 14 : 0);
	CLAIM_EQ(y, RANK == 1 ? 21 : 0);
	stop();
}

/* Without cache the values are sent each time, and right. */
static void replicas_need_no_cache(void)
{
	long x = RANK == 0 ? 5 : 0;
	int two[2] = {1, 0};
	starpu_data_handle_t handle;

	start();
	starpu_mpi_cache_set(0);
	handle = distributed(&x, 1, 0);
	count_bytes();
	for (int i = 0; i < 3; i++)
		starpu_mpi_tasks_insert(WORLD, &add, 2, two, STARPU_RW, handle, 0);
	CLAIM_EQ(bytes_sent(), RANK == 0 ? 3 * sizeof(long) : 0);
	CLAIM_EQ(nruns, RANK < 2 ? 3 : 0);
	starpu_data_unregister(handle);
	CLAIM_EQ(x, RANK == 0 ? 8 : 0);
	stop();
}

/* One rank after the other writes the same, in all ways to insert a task: nothing
 * travels, and all keep what they have until somebody writes alone. */
static void same_results_are_kept(void)
{
	const enum starpu_data_access_mode alike = STARPU_RW | STARPU_MPI_SAME;
	struct starpu_mpi_task_exchange_params params = {.xrank = claim_size - 1};
	long x = RANK == 0 ? 5 : 0;
	struct starpu_data_descr descr;
	starpu_data_handle_t handle;
	struct starpu_task *task;

	start();
	handle = distributed(&x, 1, 0);
	starpu_mpi_get_data_on_all_nodes_detached(WORLD, handle);
	count_bytes();
	descr = (struct starpu_data_descr){.handle = handle, .mode = alike};
	for (int i = 0; i < claim_size; i++) {
		starpu_mpi_task_insert(WORLD, &add, alike, handle, STARPU_EXECUTE_ON_NODE,
				       i, 0);
		starpu_mpi_task_insert(WORLD, &add, STARPU_DATA_MODE_ARRAY, &descr, 1,
				       STARPU_EXECUTE_ON_NODE, i, 0);
		task = starpu_mpi_task_build(WORLD, &add, alike, handle,
					     STARPU_EXECUTE_ON_NODE, i, 0);
		if (task)
			CLAIM_EQ(starpu_task_submit(task), 0);
		starpu_mpi_task_post_build(WORLD, &add, alike, handle,
					   STARPU_EXECUTE_ON_NODE, i, 0);
	}
	starpu_mpi_exchange_data_before_execution(WORLD, handle, alike, &params);
	CLAIM_EQ(params.exchange_needed, 0);
	starpu_mpi_exchange_data_after_execution(WORLD, handle, alike, params);
	CLAIM_EQ(bytes_sent(), 0);
	CLAIM_EQ(nruns, 3);
	CLAIM_EQ(value_here(handle), 8);
	CLAIM_EQ(starpu_mpi_cached_receive(handle), RANK != 0);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handle, 0);
	CLAIM_EQ(starpu_mpi_cached_receive(handle), 0);
	starpu_mpi_get_data_on_node_detached(WORLD, handle, 1, NULL, NULL);
	CLAIM_EQ(bytes_sent(), RANK == 0 ? sizeof(long) : 0);
	starpu_data_unregister(handle);
	CLAIM_EQ(x, RANK == 0 ? 9 : 0);
	stop();
}

/* ---- who sends ------------------------------------------------------- */

/* From rank to rank, each from the one before; the last rank asks. */
static void sources_pass_values_on(void)
{
	long x = RANK == 0 ? 5 : 0;
	int last = claim_size - 1;
	starpu_data_handle_t handle;

	start();
	handle = distributed(&x, 1, 0);
	CLAIM_EQ(starpu_mpi_data_get_source(handle, last), 0);
	for (int i = 2; i < claim_size; i++)
		starpu_mpi_data_set_source(handle, i, i - 1);
	CLAIM_EQ(starpu_mpi_data_get_source(handle, last), last - 1);
	count_bytes();
	starpu_mpi_task_insert(WORLD, &only_read, STARPU_R, handle,
			       STARPU_EXECUTE_ON_NODE, last, 0);
	CLAIM_EQ(bytes_sent(), RANK < last ? sizeof(long) : 0);
	CLAIM_EQ(value_here(handle), 5);
	/* All have it. */
	for (int i = 0; i < claim_size; i++)
		starpu_mpi_task_insert(WORLD, &only_read, STARPU_R, handle,
				       STARPU_EXECUTE_ON_NODE, i, 0);
	CLAIM_EQ(bytes_sent(), 0);
	/* Until it is written. */
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handle, 0);
	starpu_mpi_get_data_on_node(WORLD, handle, last);
	CLAIM_EQ(bytes_sent(), RANK < last ? sizeof(long) : 0);
	CLAIM_EQ(value_here(handle), 6);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handle, 0);
	starpu_mpi_get_data_on_all_nodes_detached(WORLD, handle);
	CLAIM_EQ(bytes_sent(), RANK < last ? sizeof(long) : 0);
	CLAIM_EQ(value_here(handle), 7);
	/* The owner again. */
	starpu_mpi_data_reset_source(handle, last);
	CLAIM_EQ(starpu_mpi_data_get_source(handle, last), 0);
	starpu_mpi_task_insert(WORLD, &only_read, STARPU_R, handle,
			       STARPU_EXECUTE_ON_NODE, last, 0);
	CLAIM_EQ(bytes_sent(), RANK == 0 ? sizeof(long) : 0);
	starpu_data_unregister(handle);
	stop();
}

static void sources_need_no_cache(void)
{
	long x = RANK == 0 ? 5 : 0, y = RANK == claim_size - 1 ? 1 : 0;
	int last = claim_size - 1;
	starpu_data_handle_t read, written;

	start();
	starpu_mpi_cache_set(0);
	read = distributed(&x, 1, 0);
	written = distributed(&y, 2, last);
	for (int i = 2; i < claim_size; i++)
		starpu_mpi_data_set_source(read, i, i - 1);
	for (int i = 0; i < 3; i++) {
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, read, 0);
		starpu_mpi_task_insert(WORLD, &sum, STARPU_RW, written, STARPU_R, read,
				       0);
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(read);
	starpu_data_unregister(written);
	CLAIM_EQ(y, RANK == last ? 1 + 6 + 7 + 8 : 0);
	stop();
}

/* ---- waiting for a part ---------------------------------------------- */

/* Its tasks have ended, and messages arrived; a task of another context still waits. */
static void a_context_is_waited_for(void)
{
	long x = RANK == 0 ? 5 : 0;
	struct starpu_task *other;
	starpu_tag_t tag = 77;
	unsigned context;
	int worker = 0;
	starpu_data_handle_t handle;

	start();
	other = starpu_task_create();
	other->use_tag = 1;
	other->tag_id = tag + 1;
	starpu_tag_declare_deps_array(tag + 1, 1, &tag);
	CLAIM_EQ(starpu_task_submit(other), 0);
	context = starpu_sched_ctx_create(&worker, 1, "one", STARPU_SCHED_CTX_POLICY_NAME,
					  "eager", 0);
	handle = distributed(&x, 1, 0);
	for (int i = 0; i < 10; i++)
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handle,
				       STARPU_EXECUTE_ON_NODE, i % claim_size,
				       STARPU_SCHED_CTX, context, 0);
	CLAIM_EQ(starpu_mpi_wait_for_all_in_ctx(WORLD, context), 0);
	CLAIM_EQ(nruns, 10 / claim_size + (RANK < 10 % claim_size));
	starpu_tag_notify_from_apps(tag);
	starpu_mpi_barrier(WORLD);
	starpu_data_unregister(handle);
	CLAIM_EQ(x, RANK == 0 ? 15 : 0);
	starpu_sched_ctx_delete(context);
	stop();
}

static const struct claim claims[] = {
	{"several ranks execute a task", replicas_execute},
	{"several ranks need no cache", replicas_need_no_cache},
	{"what ranks write alike is kept", same_results_are_kept},
	{"sources pass values on", sources_pass_values_on},
	{"sources need no cache", sources_need_no_cache},
	{"tasks of a context are waited for", a_context_is_waited_for},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
