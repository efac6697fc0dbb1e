/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Mistakes between nodes, one for each name; run.py says what must come of it.
 * usage: nodes CASE, on two ranks or three.
 */
#include "pair.h"
#include "wrong.h"

static void receive(starpu_data_handle_t handle, int source, starpu_mpi_tag_t tag)
{
	starpu_mpi_recv(handle, source, tag, WORLD, MPI_STATUS_IGNORE);
}

/* ---- transfers that do not meet ---------------------------------------- */

static void other_tag(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 0)
		starpu_mpi_issend_detached(handle, 1, 5, WORLD, NULL, NULL);
	else
		receive(handle, 0, 6);
	starpu_mpi_wait_for_all(WORLD);
}

static void other_communicator(void)
{
	starpu_data_handle_t handle = variable(&value);
	MPI_Comm comm;

	MPI_Comm_dup(WORLD, &comm);
	starpu_mpi_comm_register(comm);
	if (rank == 0)
		starpu_mpi_issend_detached(handle, 1, TAG, WORLD, NULL, NULL);
	else
		starpu_mpi_recv(handle, 0, TAG, comm, MPI_STATUS_IGNORE);
	starpu_mpi_wait_for_all(WORLD);
}

/* Rank 0 sends to rank 2, which expects it from rank 1. */
static void other_source(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 0)
		starpu_mpi_issend_detached(handle, 2, TAG, WORLD, NULL, NULL);
	else if (rank == 2)
		receive(handle, 1, TAG);
	starpu_mpi_wait_for_all(WORLD);
}

static void one_receive_too_many(void)
{
	starpu_data_handle_t handle = variable(&value);

	for (int i = 0; i < 3 + rank; i++)
		if (rank == 0)
			starpu_mpi_send(handle, 1, TAG, WORLD);
		else
			receive(handle, 0, TAG);
}

static void receive_from_itself(void)
{
	receive(variable(&value), rank, TAG);
}

static void synchronous_to_itself(void)
{
	starpu_mpi_req req;

	starpu_mpi_issend(variable(&value), &req, rank, TAG, WORLD);
	starpu_mpi_wait(&req, MPI_STATUS_IGNORE);
}

static void large_to_itself(void)
{
	starpu_mpi_send(many_bytes(), rank, TAG, WORLD);
}

/* Each waits for its neighbour before it sends. */
static void ring_of_receives(void)
{
	starpu_data_handle_t handle = variable(&value);

	receive(handle, (rank + size - 1) % size, TAG);
	starpu_mpi_send(handle, (rank + 1) % size, TAG, WORLD);
}

static void receive_into_acquired(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 0) {
		starpu_mpi_issend_detached(handle, 1, TAG, WORLD, NULL, NULL);
	} else {
		starpu_data_acquire(handle, STARPU_R);
		receive(handle, 0, TAG);
	}
	starpu_mpi_wait_for_all(WORLD);
}

static void unregistered_while_receiving(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 1)
		starpu_mpi_irecv_detached(handle, 0, TAG, WORLD, NULL, NULL);
	starpu_data_unregister(handle);
}

/* ---- what is sent and received ------------------------------------------ */

static void receive_into_readonly(void)
{
	starpu_data_handle_t handle = variable(&value), duplicate;

	starpu_data_dup_ro(&duplicate, handle, 0);
	if (rank == 0)
		starpu_mpi_send(handle, 1, TAG, WORLD);
	else
		receive(duplicate, 0, TAG);
}

static void send_no_value(void)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, -1, 0, sizeof value);
	if (rank == 0)
		starpu_mpi_send(handle, 1, TAG, WORLD);
}

static void send_ended(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_data_unregister(handle);
	starpu_mpi_send(handle, 1 - rank, TAG, WORLD);
}

static void receive_ended(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_data_unregister(handle);
	starpu_mpi_irecv_detached(handle, 1 - rank, TAG, WORLD, NULL, NULL);
}

static void register_ended(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_data_unregister(handle);
	starpu_mpi_data_register(handle, TAG, 0);
}

static void insert_ended(void)
{
	starpu_data_handle_t handle = owned(&value, TAG, 0);

	starpu_data_unregister(handle);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handle, 0);
}

static void send_negative_tag(void)
{
	starpu_mpi_send(variable(&value), 1 - rank, -4, WORLD);
}

static void packed_sizes_differ(void)
{
	static long many[100];

	if (rank == 0)
		starpu_vector_data_register(&from, STARPU_MAIN_RAM, (uintptr_t)many, 100,
					    sizeof(long));
	else
		starpu_vector_data_register(&from, -1, 0, 50, sizeof(long));
	starpu_mpi_data_register(from, 1, 0);
	to = owned(&other_value, 2, 1);
	insert_copy();
	end_both();
}

/* ---- requests -------------------------------------------------------------- */

static void wait_null(void)
{
	starpu_mpi_wait(NULL, MPI_STATUS_IGNORE);
}

static void test_null(void)
{
	int flag;

	starpu_mpi_test(NULL, &flag, MPI_STATUS_IGNORE);
}

/* Each tests for what the other one has not sent, for 4 s. */
static void tests_in_vain(void)
{
	int peer = 1 - rank, flag = 0;
	struct span span = {0};
	starpu_data_handle_t sent = owned(&value, 1, rank);
	starpu_data_handle_t got = owned(&other_value, 2, rank);
	starpu_mpi_req request;

	starpu_mpi_irecv(got, &request, peer, TAG, WORLD);
	while (!flag && span_lasts(&span))
		starpu_mpi_test(&request, &flag, MPI_STATUS_IGNORE);
	starpu_mpi_send(sent, peer, TAG, WORLD);
	if (!flag)
		starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
	starpu_data_unregister(sent);
	starpu_data_unregister(got);
}

/* In MPI, for what comes behind what the other one waits for. */
static void waits_in_mpi(void)
{
	struct span span = {0};
	starpu_data_handle_t handle = owned(&value, 1, rank);
	starpu_mpi_req request;
	int flag = 0;

	if (rank == 1) {
		starpu_mpi_irecv(handle, &request, 0, TAG, WORLD);
		while (!flag && span_lasts(&span))
			starpu_mpi_test(&request, &flag, MPI_STATUS_IGNORE);
		MPI_Send(&flag, 1, MPI_INT, 0, TAG, WORLD);
		starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(&flag, 1, MPI_INT, 1, TAG, WORLD, MPI_STATUS_IGNORE);
		starpu_mpi_send(handle, 1, TAG, WORLD);
	}
	starpu_data_unregister(handle);
}

/* In MPI while a message of its own has still to leave. */
static void sends_and_waits_in_mpi(void)
{
	starpu_data_handle_t handle = many_bytes();

	if (rank == 0)
		starpu_mpi_isend_detached(handle, 1, TAG, WORLD, NULL, NULL);
	else
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(WORLD);
	starpu_data_unregister(handle);
}

/* For what nobody sends, until it comes. */
static void tests_for_ever(void)
{
	starpu_data_handle_t handle = owned(&value, 1, rank);
	starpu_mpi_req request;
	int flag = 0;

	starpu_mpi_irecv(handle, &request, (rank + 1) % size, TAG, WORLD);
	while (!flag)
		starpu_mpi_test(&request, &flag, MPI_STATUS_IGNORE);
	starpu_data_unregister(handle);
}

/* The other ranks wait in the library, and in MPI. */
static void tests_alone(void)
{
	if (rank == 0)
		tests_for_ever();
	else if (rank == 1)
		receive(variable(&value), 0, TAG + 1);
	else
		MPI_Barrier(WORLD);
}

static void wait_again(void)
{
	starpu_mpi_req req, same;

	if (rank == 0)
		starpu_mpi_isend(variable(&value), &req, 1, TAG, WORLD);
	else
		starpu_mpi_irecv(variable(&value), &req, 0, TAG, WORLD);
	same = req;
	starpu_mpi_wait(&req, MPI_STATUS_IGNORE);
	starpu_mpi_wait(&same, MPI_STATUS_IGNORE);
}

/* ---- communicators ------------------------------------------------------------ */

static void send_in_null(void)
{
	starpu_mpi_send(variable(&value), 1 - rank, TAG, MPI_COMM_NULL);
}

static void insert_in_null(void)
{
	register_both();
	starpu_mpi_task_insert(MPI_COMM_NULL, &copy, STARPU_R, from, STARPU_RW, to, 0);
}

static void register_in_null(void)
{
	starpu_mpi_data_register_comm(variable(&value), TAG, 0, MPI_COMM_NULL);
}

static void comm_register_null(void)
{
	starpu_mpi_comm_register(MPI_COMM_NULL);
}

static void barrier_in_null(void)
{
	starpu_mpi_barrier(MPI_COMM_NULL);
}

static MPI_Comm another(void)
{
	MPI_Comm comm;

	MPI_Comm_dup(WORLD, &comm);
	return comm;
}

static void insert_in_unregistered(void)
{
	register_both();
	starpu_mpi_task_insert(another(), &copy, STARPU_R, from, STARPU_RW, to, 0);
}

static void rank_in_unregistered(void)
{
	starpu_mpi_comm_rank(another(), &rank);
}

/* ---- life ------------------------------------------------------------------------ */

static void initialised_twice(void)
{
	starpu_mpi_init_comm(NULL, NULL, 0, WORLD);
}

static void shut_down_twice(void)
{
	starpu_mpi_shutdown();
}

static void shut_down_below(void)
{
	if (rank == 1)
		starpu_shutdown();
	starpu_mpi_barrier(WORLD);
}

static void insert_after_shutdown(void)
{
	starpu_mpi_shutdown();
	starpu_mpi_task_insert(WORLD, &nothing, STARPU_EXECUTE_ON_NODE, 0, 0);
}

static void returns_early(void)
{
	if (rank == 1)
		exit(0);
	starpu_mpi_barrier(WORLD);
}

static void never_inserts(void)
{
	register_both();
	if (rank == 0)
		insert_copy();
	end_both();
}

static void never_fetches(void)
{
	register_both();
	if (rank == 1)
		starpu_mpi_get_data_on_node(WORLD, from, 1);
	end_both();
}

static void shutdown_in_callback_cb(void *arg)
{
	(void)arg;
	starpu_mpi_shutdown();
}

static void shutdown_in_callback(void)
{
	starpu_task_insert(&nothing, STARPU_CALLBACK, shutdown_in_callback_cb, 0);
	starpu_task_wait_for_all();
}

static void wait_in_callback_cb(void *arg)
{
	(void)arg;
	starpu_mpi_wait_for_all(WORLD);
}

static void wait_in_callback(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 0)
		starpu_mpi_isend_detached(handle, 1, TAG, WORLD, wait_in_callback_cb,
					  NULL);
	else
		starpu_mpi_irecv_detached(handle, 0, TAG, WORLD, wait_in_callback_cb,
					  NULL);
	starpu_mpi_wait_for_all(WORLD);
}

/* ---- insertion --------------------------------------------------------------------- */

static void on_unowned_data(void)
{
	starpu_mpi_task_insert(WORLD, &nothing, STARPU_EXECUTE_ON_DATA, variable(&value),
			       0);
}

static void null_handle_on_its_executor(void)
{
	register_both();
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, rank == 1 ? NULL : from, STARPU_RW,
			       to, 0);
	end_both();
}

static void on_no_worker(void)
{
	starpu_mpi_task_insert(WORLD, &nothing, STARPU_EXECUTE_ON_NODE, 0,
			       STARPU_EXECUTE_ON_WORKER, 99, 0);
	starpu_mpi_wait_for_all(WORLD);
}

static void one_task_more(void)
{
	register_both();
	for (int i = 0; i < 6 - rank; i++)
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, from,
				       STARPU_EXECUTE_ON_NODE, i % 2, 0);
	end_both();
}

static void modes_differ(void)
{
	register_both();
	if (rank == 0)
		insert_copy();
	else
		starpu_mpi_task_insert(WORLD, &copy, STARPU_R, to, STARPU_RW, to, 0);
	end_both();
}

static void tags_differ(void)
{
	from = owned(&value, 3 + rank, 0);
	to = owned(&other_value, 2, 1);
	starpu_mpi_get_data_on_all_nodes_detached(WORLD, from);
	end_both();
}

static void tag_on_one_only(void)
{
	register_both();
	starpu_data_unregister(from);
	starpu_variable_data_register(&from, rank ? -1 : STARPU_MAIN_RAM,
				      rank ? 0 : (uintptr_t)&value, sizeof value);
	starpu_mpi_data_register(from, rank ? -1 : 3, 0);
	starpu_mpi_get_data_on_all_nodes_detached(WORLD, from);
	end_both();
}

static void cache_on_one_only(void)
{
	register_both();
	if (rank == 0)
		starpu_mpi_cache_set(0);
	for (int i = 0; i < 4; i++)
		insert_copy();
	end_both();
}

static void flushed_on_one_only(void)
{
	register_both();
	insert_copy();
	if (rank == 1)
		starpu_mpi_cache_flush(WORLD, from);
	insert_copy();
	end_both();
}

static void owner_set_on_one_only(void)
{
	register_both();
	if (rank == 1)
		starpu_mpi_data_set_rank(from, 1);
	insert_copy();
	end_both();
}

static void too_many_policies(void)
{
	for (int i = 0; i < 100; i++)
		starpu_mpi_node_selection_register_policy(
			(starpu_mpi_select_node_policy_func_t)abort);
}

static void policy_ended(void)
{
	starpu_mpi_node_selection_unregister_policy(12);
}

static void most_data_ended(void)
{
	starpu_mpi_node_selection_unregister_policy(
		STARPU_MPI_NODE_SELECTION_MOST_R_DATA);
}

/* ---- collective calls ---------------------------------------------------------------
 */

static void redux_without_methods(void)
{
	starpu_data_handle_t handle = owned(&value, TAG, 0);
	static struct starpu_codelet contribute = {.cpu_funcs = {add_cpu},
						   .nbuffers = 1,
						   .modes = {STARPU_REDUX},
						   .model = &starpu_perfmodel_nop,
						   .name = "contribute"};

	starpu_mpi_task_insert(WORLD, &contribute, STARPU_REDUX, handle,
			       STARPU_EXECUTE_ON_NODE, 1, 0);
	starpu_mpi_redux_data(WORLD, handle);
	starpu_mpi_wait_for_all(WORLD);
}

static void scatter_from_nowhere(void)
{
	starpu_data_handle_t handle = owned(&value, TAG, 0);

	starpu_mpi_scatter_detached(&handle, 1, 5, WORLD, NULL, NULL, NULL, NULL);
}

static void scatter_unowned(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_mpi_scatter_detached(&handle, 1, 0, WORLD, NULL, NULL, NULL, NULL);
}

static void gather_null_array(void)
{
	starpu_mpi_gather_detached(NULL, 3, 0, WORLD, NULL, NULL, NULL, NULL);
}

static void gather_on_one_only(void)
{
	from = owned(&value, 1, 1);
	to = owned(&other_value, 2, 1);
	if (rank == 0)
		starpu_mpi_gather_detached(&from, 1, 0, WORLD, NULL, NULL, NULL, NULL);
	end_both();
}

/* A vector on its owner's. */
static starpu_data_handle_t vector(int tag, int owner, unsigned n)
{
	static long many[2][100];
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, rank == owner ? STARPU_MAIN_RAM : -1,
				    rank == owner ? (uintptr_t)many[owner] : 0, n,
				    sizeof(long));
	starpu_mpi_data_register(handle, tag, owner);
	return handle;
}

static void copy_of_other_size(void)
{
	to = vector(2, 1, 1);
	from = vector(1, 0, 100);
	starpu_mpi_data_cpy(to, from, WORLD, 1, NULL, NULL);
	end_both();
}

static void copy_of_other_kind(void)
{
	to = owned(&other_value, 2, 1);
	from = vector(1, 0, 1);
	starpu_mpi_data_cpy(to, from, WORLD, 1, NULL, NULL);
	end_both();
}

static void copy_of_null(void)
{
	starpu_mpi_data_cpy(owned(&value, TAG, 0), NULL, WORLD, 1, NULL, NULL);
}

static void fetch_untagged(void)
{
	starpu_mpi_get_data_on_node(WORLD, variable(&value), 1);
}

static void cached_send_nowhere(void)
{
	starpu_mpi_cached_send(owned(&value, TAG, 0), 9);
}

static void cached_send_unowned(void)
{
	starpu_mpi_cached_send(variable(&value), 0);
}

static int no_datatype(starpu_data_handle_t handle, MPI_Datatype *type)
{
	(void)handle;
	(void)type;
	return 1;
}

static void predefined_datatype(void)
{
	starpu_mpi_interface_datatype_register(STARPU_VECTOR_INTERFACE_ID, no_datatype,
					       NULL);
}

static void more_tags_than_there_are(void)
{
	starpu_mpi_tags_allocate(INT64_MAX);
	starpu_mpi_tags_allocate(INT64_MAX);
}

static void negative_number_of_tags(void)
{
	starpu_mpi_tags_allocate(-5);
}

static void tags_freed_twice(void)
{
	int64_t first = starpu_mpi_tags_allocate(10);

	starpu_mpi_tags_free(first);
	starpu_mpi_tags_free(first);
}

static void array_of_null(void)
{
	starpu_data_handle_t handle = NULL;
	int dest = 1 - rank;
	starpu_mpi_tag_t tag = TAG;
	MPI_Comm comm = WORLD;

	starpu_mpi_isend_array_detached_unlock_tag(1, &handle, &dest, &tag, &comm, 42);
}

/* ---- kernels that wait -------------------------------------------------- */

static starpu_data_handle_t waited_for;

static void receives_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	receive(waited_for, 1 - rank, TAG);
}

static struct starpu_codelet receives = {.cpu_funcs = {receives_cpu},
					 .nbuffers = STARPU_VARIABLE_NBUFFERS,
					 .model = &starpu_perfmodel_nop,
					 .flags = STARPU_CODELET_SIMGRID_EXECUTE,
					 .name = "receives"};

static void kernel_receives_its_own(void)
{
	waited_for = variable(&value);
	starpu_task_insert(&receives, STARPU_R, waited_for, 0);
	starpu_mpi_wait_for_all(WORLD);
}

static void kernel_waits_for_nobody(void)
{
	waited_for = variable(&value);
	starpu_task_insert(&receives, 0);
	starpu_mpi_wait_for_all(WORLD);
}

static void receives_in_callback(void *arg)
{
	(void)arg;
	receive(waited_for, 1 - rank, TAG);
}

static void callback_of_a_task_receives(void)
{
	waited_for = variable(&value);
	starpu_task_insert(&add, STARPU_RW, variable(&other_value), STARPU_CALLBACK,
			   receives_in_callback, 0);
	starpu_mpi_wait_for_all(WORLD);
}

static const struct scene scenes[] = {
	SCENE(kernel_receives_its_own),
	SCENE(kernel_waits_for_nobody),
	SCENE(callback_of_a_task_receives),
	SCENE(other_tag),
	SCENE(other_communicator),
	SCENE(other_source),
	SCENE(one_receive_too_many),
	SCENE(receive_from_itself),
	SCENE(synchronous_to_itself),
	SCENE(large_to_itself),
	SCENE(ring_of_receives),
	SCENE(receive_into_acquired),
	SCENE(unregistered_while_receiving),
	SCENE(receive_into_readonly),
	SCENE(send_no_value),
	SCENE(send_ended),
	SCENE(receive_ended),
	SCENE(register_ended),
	SCENE(insert_ended),
	SCENE(send_negative_tag),
	SCENE(packed_sizes_differ),
	SCENE(wait_null),
	SCENE(test_null),
	SCENE(tests_in_vain),
	SCENE(tests_for_ever),
	SCENE(tests_alone),
	SCENE(waits_in_mpi),
	SCENE(sends_and_waits_in_mpi),
	SCENE(wait_again),
	SCENE(send_in_null),
	SCENE(insert_in_null),
	SCENE(register_in_null),
	SCENE(comm_register_null),
	SCENE(barrier_in_null),
	SCENE(insert_in_unregistered),
	SCENE(rank_in_unregistered),
	SCENE(initialised_twice),
	SCENE(shut_down_twice),
	SCENE(shut_down_below),
	SCENE(insert_after_shutdown),
	SCENE(returns_early),
	SCENE(never_inserts),
	SCENE(never_fetches),
	SCENE(shutdown_in_callback),
	SCENE(wait_in_callback),
	SCENE(on_unowned_data),
	SCENE(null_handle_on_its_executor),
	SCENE(on_no_worker),
	SCENE(one_task_more),
	SCENE(modes_differ),
	SCENE(tags_differ),
	SCENE(tag_on_one_only),
	SCENE(cache_on_one_only),
	SCENE(flushed_on_one_only),
	SCENE(owner_set_on_one_only),
	SCENE(too_many_policies),
	SCENE(policy_ended),
	SCENE(most_data_ended),
	SCENE(redux_without_methods),
	SCENE(scatter_from_nowhere),
	SCENE(scatter_unowned),
	SCENE(gather_null_array),
	SCENE(gather_on_one_only),
	SCENE(copy_of_other_size),
	SCENE(copy_of_other_kind),
	SCENE(copy_of_null),
	SCENE(fetch_untagged),
	SCENE(cached_send_nowhere),
	SCENE(cached_send_unowned),
	SCENE(predefined_datatype),
	SCENE(more_tags_than_there_are),
	SCENE(negative_number_of_tags),
	SCENE(tags_freed_twice),
	SCENE(array_of_null),
};

int main(int argc, char **argv)
{
	return wrong_main(argc, argv, scenes, sizeof scenes / sizeof scenes[0]);
}
