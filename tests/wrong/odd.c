/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Programs that look wrong and are not, one for each name: they end well, with the right
 * values, and without a word.
 * usage: odd CASE, on two ranks or more.
 */
#include <unistd.h>

#include "wrong.h"

enum { MANY_MESSAGES = 50, MANY_PARCELS = 4, PARCEL = 3000 };

static void expect(long found, long expected)
{
	if (found == expected)
		return;
	printf("rank %d found %ld, expected %ld\n", rank, found, expected);
	exit(1);
}

static void add_one(starpu_data_handle_t handle, int node)
{
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handle, STARPU_EXECUTE_ON_NODE,
			       node, 0);
}

/* Ends handle; its owner found this. */
static void end_with(starpu_data_handle_t handle, int owner, const long *at,
		     long expected)
{
	starpu_data_unregister(handle);
	if (rank == owner)
		expect(*at, expected);
}

static void to_itself(void)
{
	starpu_data_handle_t from = variable(&value), to = variable(&other_value);

	value = 7;
	starpu_mpi_isend_detached(from, rank, TAG, WORLD, NULL, NULL);
	starpu_mpi_recv(to, rank, TAG, WORLD, MPI_STATUS_IGNORE);
	starpu_data_unregister(from);
	starpu_data_unregister(to);
	expect(other_value, 7);
}

/* One message has come long before its receive, the other's receive was there first. */
static void early_and_late(void)
{
	starpu_data_handle_t one = variable(&value), two = variable(&other_value);

	if (rank == 0) {
		starpu_mpi_isend_detached(one, 1, 1, WORLD, NULL, NULL);
		starpu_mpi_barrier(WORLD);
		starpu_mpi_isend_detached(two, 1, 2, WORLD, NULL, NULL);
	} else if (rank == 1) {
		starpu_mpi_irecv_detached(two, 0, 2, WORLD, NULL, NULL);
		starpu_mpi_barrier(WORLD);
		starpu_mpi_irecv_detached(one, 0, 1, WORLD, NULL, NULL);
	} else {
		starpu_mpi_barrier(WORLD);
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(one);
	starpu_data_unregister(two);
}

/* All that rank 0 sends has come before rank 1 asks, backwards. */
static void backwards(void)
{
	static long numbers[MANY_MESSAGES];
	starpu_data_handle_t handles[MANY_MESSAGES];

	for (int i = 0; i < MANY_MESSAGES; i++) {
		numbers[i] = rank == 0 ? i : -1;
		handles[i] = variable(&numbers[i]);
		if (rank == 0)
			starpu_mpi_isend_detached(handles[i], 1, i, WORLD, NULL, NULL);
	}
	starpu_mpi_barrier(WORLD);
	for (int i = MANY_MESSAGES - 1; rank == 1 && i >= 0; i--)
		starpu_mpi_irecv_detached(handles[i], 0, i, WORLD, NULL, NULL);
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 0; i < MANY_MESSAGES; i++) {
		starpu_data_unregister(handles[i]);
		if (rank == 1)
			expect(numbers[i], i);
	}
}

/* Each sends all to the next rank before it receives: temporary memory takes that in. */
static void all_sent_first(void)
{
	static long parcels[2 * MANY_PARCELS][PARCEL];
	starpu_data_handle_t handles[2 * MANY_PARCELS];

	for (int i = 0; i < 2 * MANY_PARCELS; i++) {
		parcels[i][PARCEL - 1] = i < MANY_PARCELS ? i : -1;
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)parcels[i], PARCEL, sizeof(long));
	}
	for (int i = 0; i < MANY_PARCELS; i++)
		starpu_mpi_send(handles[i], (rank + 1) % size, i, WORLD);
	for (int i = 0; i < MANY_PARCELS; i++)
		starpu_mpi_recv(handles[MANY_PARCELS + i], (rank + size - 1) % size, i,
				WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < 2 * MANY_PARCELS; i++) {
		starpu_data_unregister(handles[i]);
		expect(parcels[i][PARCEL - 1], i % MANY_PARCELS);
	}
}

static void tag_used_again(void)
{
	for (int i = 0; i < 3; i++) {
		starpu_data_handle_t handle = owned(&value, TAG, 0);

		value = i;
		starpu_mpi_data_register(handle, TAG, 0);
		add_one(handle, 1);
		end_with(handle, 0, &value, i + 1);
	}
}

/* A rank that has no part in a task knows nothing of its data. */
static void null_where_not_concerned(void)
{
	starpu_data_handle_t handle = NULL;

	if (rank == 0)
		handle = owned(&value, TAG, 0);
	add_one(handle, 0);
	if (rank == 0)
		end_with(handle, 0, &value, 2);
}

/* Ranks insert only what concerns them, and tasks of their own between. */
static void pruned(void)
{
	starpu_data_handle_t mine = owned(&value, rank, rank);
	starpu_data_handle_t shared = owned(&other_value, 100, 0);

	for (int i = 0; i < 5; i++) {
		if (rank < 2)
			add_one(shared, 1);
		for (int n = 0; n <= rank; n++)
			starpu_task_insert(&add, STARPU_RW, mine, 0);
	}
	end_with(mine, rank, &value, 1 + 5 * (rank + 1));
	end_with(shared, 0, &other_value, 7);
}

/* All know all data, and each rank inserts its own tasks only. */
static void pruned_and_known(void)
{
	static long at[8];
	starpu_data_handle_t all[8];

	for (int i = 0; i < size; i++)
		all[i] = owned(&at[i], i, i);
	for (int i = 0; i < 3; i++)
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, all[rank], 0);
	for (int i = 0; i < size; i++)
		end_with(all[i], i, &at[i], 3);
}

/* The same tag is another datum in another communicator. */
static void same_tag_in_parts(void)
{
	starpu_data_handle_t mine = variable(&value);
	MPI_Comm part;

	MPI_Comm_split(WORLD, rank, 0, &part);
	starpu_mpi_comm_register(part);
	starpu_mpi_data_register_comm(mine, 1, 0, part);
	starpu_mpi_task_insert(part, &add, STARPU_RW, mine, 0);
	end_with(mine, rank, &value, 2);
	MPI_Comm_free(&part);
}

/* Each has one, which never travels. */
static void own_without_tag(void)
{
	starpu_data_handle_t mine = variable(&value);

	starpu_mpi_data_register(mine, -1, rank);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, mine, 0);
	end_with(mine, rank, &value, 2);
}

/* Of letters each rank says that they are its own; no inserted task writes them. */
static void letters_are_ones_own(void)
{
	starpu_data_handle_t letter = owned(&other_value, 1, rank);
	starpu_data_handle_t shared = owned(&value, 2, 0);

	if (rank < 2) {
		starpu_mpi_isend_detached(letter, 1 - rank, TAG, WORLD, NULL, NULL);
		starpu_mpi_recv(letter, 1 - rank, TAG, WORLD, MPI_STATUS_IGNORE);
	}
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, shared, 0);
	end_with(letter, rank, &other_value, 2);
	end_with(shared, 0, &value, 2);
}

/* Who has got a copy calls it its own, and reads it as often as it likes. */
static void each_owns_its_copy(void)
{
	starpu_data_handle_t shared = owned(&value, 1, 0);
	starpu_data_handle_t sums[2] = {owned(&other_value, 2, 0),
					owned(&other_value, 3, 1)};

	starpu_mpi_get_data_on_all_nodes_detached(WORLD, shared);
	starpu_mpi_data_set_rank(shared, rank);
	for (int i = 0; i < 2; i++)
		if (rank == i)
			starpu_mpi_task_insert(WORLD, &copy, STARPU_R, shared, STARPU_RW,
					       sums[i], 0);
		else
			starpu_mpi_task_insert(WORLD, &add, STARPU_RW, sums[i], 0);
	starpu_data_unregister(shared);
	end_with(sums[0], 0, &other_value, 2);
	end_with(sums[1], 1, &other_value, 2);
}

static void insert_in_callback(void *handle)
{
	add_one(handle, rank);
}

/* What callbacks insert comes in another order on each rank. */
static void callbacks_insert(void)
{
	starpu_data_handle_t mine = owned(&value, 10 + rank, rank);
	starpu_data_handle_t letter = variable(&other_value);

	for (int i = 0; i < 10; i++) {
		if (rank == 0)
			starpu_mpi_isend_detached(letter, 1, i, WORLD, insert_in_callback,
						  mine);
		else if (rank == 1)
			starpu_mpi_irecv_detached(letter, 0, i, WORLD, insert_in_callback,
						  mine);
	}
	starpu_mpi_wait_for_all(WORLD);
	end_with(mine, rank, &value, rank < 2 ? 11 : 1);
	starpu_data_unregister(letter);
}

static void shut_down_with_work_left(void)
{
	static long numbers[MANY_MESSAGES];

	for (int i = 0; i < MANY_MESSAGES; i++) {
		starpu_data_handle_t handle = owned(&numbers[i], i, i % 2);

		add_one(handle, (i + 1) % 2);
		starpu_data_unregister_submit(handle);
	}
}

static void there_and_back(void)
{
	starpu_data_handle_t handle = owned(&value, TAG, 0);

	for (int i = 0; i < 4; i++) {
		starpu_mpi_data_migrate(WORLD, handle, (i + 1) % 2);
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handle, 0);
	}
	end_with(handle, 0, &value, 5);
}

static void flushed_by_all(void)
{
	starpu_data_handle_t handle = owned(&value, TAG, 0);
	static struct starpu_codelet look = {.cpu_funcs = {nothing_cpu},
					     .nbuffers = 1,
					     .modes = {STARPU_R},
					     .model = &starpu_perfmodel_nop,
					     .name = "look"};

	for (int i = 0; i < 4; i++) {
		starpu_mpi_task_insert(WORLD, &look, STARPU_R, handle,
				       STARPU_EXECUTE_ON_NODE, 1, 0);
		if (i % 2)
			starpu_mpi_cache_flush_all_data(WORLD);
		else
			starpu_mpi_cache_flush(WORLD, handle);
	}
	end_with(handle, 0, &value, 1);
}

/* Some ranks are in no communicator but the world. */
static void part_of_the_ranks(void)
{
	starpu_data_handle_t handle = variable(&value);
	MPI_Comm comm;

	MPI_Comm_split(WORLD, rank < 2 ? 0 : MPI_UNDEFINED, -rank, &comm);
	if (rank < 2) {
		starpu_mpi_comm_register(comm);
		starpu_mpi_barrier(comm);
		/* Ranks are the other way round in there. */
		if (rank == 0)
			starpu_mpi_send(handle, 0, TAG, comm);
		else
			starpu_mpi_recv(handle, 1, TAG, comm, MPI_STATUS_IGNORE);
		starpu_mpi_barrier(comm);
	}
	starpu_data_unregister(handle);
}

static void requests_the_other_way_round(void)
{
	starpu_data_handle_t one = variable(&value), two = variable(&other_value);
	starpu_mpi_req requests[2];
	int flag = 0;

	if (rank < 2) {
		starpu_mpi_isend(one, &requests[0], 1 - rank, TAG, WORLD);
		starpu_mpi_irecv(two, &requests[1], 1 - rank, TAG, WORLD);
		while (!flag)
			starpu_mpi_test(&requests[1], &flag, MPI_STATUS_IGNORE);
		starpu_mpi_wait(&requests[0], MPI_STATUS_IGNORE);
		/* Both are NULL by now, which is over. */
		starpu_mpi_wait(&requests[0], MPI_STATUS_IGNORE);
		starpu_mpi_test(&requests[1], &flag, MPI_STATUS_IGNORE);
	}
	starpu_data_unregister(one);
	starpu_data_unregister(two);
}

/* Nothing travels, and nobody executes. */
static void void_and_nothing(void)
{
	starpu_data_handle_t token, handle = owned(&value, TAG, 0);

	starpu_void_data_register(&token);
	if (rank == 0)
		starpu_mpi_send(token, 1, 1, WORLD);
	else if (rank == 1)
		starpu_mpi_recv(token, 0, 1, WORLD, MPI_STATUS_IGNORE);
	starpu_mpi_task_insert(WORLD, NULL, STARPU_R, handle, STARPU_EXECUTE_ON_NODE, 1,
			       0);
	starpu_mpi_task_insert(WORLD, &nothing, 0);
	starpu_mpi_data_cpy(handle, handle, WORLD, 1, NULL, NULL);
	starpu_data_unregister(token);
	end_with(handle, 0, &value, 1);
}

/* The application reads what is being sent. */
static void acquired_while_sending(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 0) {
		starpu_data_acquire(handle, STARPU_R);
		starpu_mpi_send(handle, 1, TAG, WORLD);
		starpu_data_release(handle);
	} else if (rank == 1) {
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	}
	starpu_data_unregister(handle);
}

/* Those of the same members are told apart by how they were made. */
static void duplicates_in_another_order(void)
{
	starpu_data_handle_t one = variable(&value), two = variable(&other_value);
	MPI_Comm first, second, third;

	MPI_Comm_dup(WORLD, &first);
	MPI_Comm_split(WORLD, 0, rank, &second);
	MPI_Comm_dup(first, &third);
	MPI_Comm_free(&first);
	MPI_Comm_dup(WORLD, &first);
	if (rank == 0) {
		value = 10;
		other_value = 20;
		starpu_mpi_isend_detached(one, 1, TAG, first, NULL, NULL);
		starpu_mpi_isend_detached(two, 1, TAG, second, NULL, NULL);
		starpu_mpi_barrier(third);
	} else if (rank == 1) {
		starpu_mpi_irecv_detached(two, 0, TAG, second, NULL, NULL);
		starpu_mpi_barrier(third);
		starpu_mpi_irecv_detached(one, 0, TAG, first, NULL, NULL);
	} else {
		starpu_mpi_barrier(third);
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(one);
	starpu_data_unregister(two);
	if (rank == 1) {
		expect(value, 10);
		expect(other_value, 20);
	}
	MPI_Comm_free(&first);
	MPI_Comm_free(&second);
	MPI_Comm_free(&third);
}

/* What was started in it ends. */
static void freed_while_under_way(void)
{
	starpu_data_handle_t handle = variable(&value);
	MPI_Comm comm;

	MPI_Comm_dup(WORLD, &comm);
	if (rank == 0)
		starpu_mpi_isend_detached(handle, 1, TAG, comm, NULL, NULL);
	else if (rank == 1)
		starpu_mpi_irecv_detached(handle, 0, TAG, comm, NULL, NULL);
	MPI_Comm_free(&comm);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(handle);
}

/* The library needs its members only. */
static void freed_after_init(void)
{
	MPI_Comm comm, half;

	starpu_mpi_shutdown();
	MPI_Comm_dup(WORLD, &comm);
	if (starpu_mpi_init_conf(NULL, NULL, 0, comm, NULL) != 0)
		exit(70);
	MPI_Comm_free(&comm);
	MPI_Comm_split(WORLD, rank % 2, rank, &half);
	starpu_mpi_comm_register(half);
	starpu_mpi_barrier(half);
	MPI_Comm_free(&half);
}

#ifndef STARPU_SIMGRID

/* Somebody else stops the process for longer than the watchdog waits, and lets it go on
 * some time before what it waits for happens. */
static void *stop_and_notify(void *arg)
{
	char command[100];

	(void)arg;
	snprintf(command, sizeof(command),
		 "sleep 0.6; kill -STOP %d; sleep 3; kill -CONT %d", (int)getpid(),
		 (int)getpid());
	if (system(command) != 0)
		exit(71);
	starpu_sleep(0.1F);
	starpu_tag_notify_from_apps(TAG);
	return NULL;
}

static void stopped_while_it_waits(void)
{
	starpu_data_handle_t handle = variable(&value);
	starpu_pthread_t thread;

	starpu_tag_declare_deps((starpu_tag_t)TAG + 1, 1, (starpu_tag_t)TAG);
	starpu_task_insert(&add, STARPU_RW, handle, STARPU_TAG, (starpu_tag_t)TAG + 1, 0);
	STARPU_PTHREAD_CREATE(&thread, NULL, stop_and_notify, NULL);
	starpu_tag_wait((starpu_tag_t)TAG + 1);
	STARPU_PTHREAD_JOIN(thread, NULL);
	starpu_data_unregister(handle);
	expect(value, 2);
}

#endif

static const struct scene scenes[] = {
	SCENE(to_itself),
	SCENE(early_and_late),
	SCENE(backwards),
	SCENE(all_sent_first),
	SCENE(tag_used_again),
	SCENE(null_where_not_concerned),
	SCENE(pruned),
	SCENE(pruned_and_known),
	SCENE(same_tag_in_parts),
	SCENE(own_without_tag),
	SCENE(letters_are_ones_own),
	SCENE(each_owns_its_copy),
	SCENE(callbacks_insert),
	SCENE(shut_down_with_work_left),
	SCENE(there_and_back),
	SCENE(flushed_by_all),
	SCENE(part_of_the_ranks),
	SCENE(requests_the_other_way_round),
	SCENE(void_and_nothing),
	SCENE(acquired_while_sending),
	SCENE(duplicates_in_another_order),
	SCENE(freed_while_under_way),
	SCENE(freed_after_init),
#ifndef STARPU_SIMGRID
	SCENE(stopped_while_it_waits),
#endif
};

int main(int argc, char **argv)
{
	return wrong_main(argc, argv, scenes, sizeof scenes / sizeof scenes[0]);
}
