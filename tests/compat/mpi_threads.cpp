/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * A program of several physics: each has a communicator and a thread of its own, which
 * calls MPI while main calls it too and inserts tasks that run on all nodes in turns.
 */
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <starpu_mpi.h>

static int rank, size, next_rank, last_rank;

#define REQUIRE(condition)                                                               \
	do {                                                                             \
		if (!(condition)) {                                                      \
			fprintf(stderr, "line %d: not %s\n", __LINE__, #condition);      \
			exit(1);                                                         \
		}                                                                        \
	} while (0)

/* ---- one physics -------------------------------------------------------- */

static void know_itself(MPI_Comm comm)
{
	MPI_Group group;
	MPI_Datatype three;
	int is_main, started, ended, place, count, in_group, bytes;

	MPI_Is_thread_main(&is_main);
	MPI_Initialized(&started);
	MPI_Finalized(&ended);
	REQUIRE(!is_main && started && !ended);
	MPI_Comm_rank(comm, &place);
	MPI_Comm_size(comm, &count);
	REQUIRE(place == rank && count == size);
	MPI_Comm_group(comm, &group);
	MPI_Group_rank(group, &in_group);
	REQUIRE(in_group == rank);
	MPI_Group_free(&group);
	MPI_Type_contiguous(3, MPI_INT, &three);
	MPI_Type_commit(&three);
	MPI_Type_size(three, &bytes);
	REQUIRE(bytes == 3 * (int)sizeof(int));
	MPI_Type_free(&three);
}

static void exchange(MPI_Comm comm, int number)
{
	std::vector<double> out(100000, rank), in(100000, -1);
	int sent = 1000 * number + rank, got = -1, count = 0;
	MPI_Status status[2];
	MPI_Request requests[2];

	MPI_Irecv(&got, 1, MPI_INT, last_rank, number, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(&sent, 1, MPI_INT, next_rank, number, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, status);
	MPI_Get_count(&status[0], MPI_INT, &count);
	REQUIRE(got == 1000 * number + last_rank);
	REQUIRE(status[0].MPI_SOURCE == last_rank && count == 1);
	MPI_Sendrecv(out.data(), (int)out.size(), MPI_DOUBLE, next_rank, 1, in.data(),
		     (int)in.size(), MPI_DOUBLE, last_rank, 1, comm, status);
	REQUIRE(in.front() == last_rank && in.back() == last_rank);
}

/* By a thread that another one has made. */
static void talk_to_itself(MPI_Comm comm)
{
	int sent = 5, got = 0, there = 0;
	MPI_Request request;

	MPI_Irecv(&got, 1, MPI_INT, rank, 2, comm, &request);
	MPI_Send(&sent, 1, MPI_INT, rank, 2, comm);
	while (!there)
		MPI_Test(&request, &there, MPI_STATUS_IGNORE);
	REQUIRE(got == 5);
}

static void live(MPI_Comm comm, int number)
{
	int sum = 0;

	know_itself(comm);
	for (int i = 0; i < 5; i++) {
		exchange(comm, number);
		MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm);
		REQUIRE(sum == number * size);
	}
	std::thread(talk_to_itself, comm).join();
}

/* ---- what one thread begins and another one ends ------------------------ */

static void share_requests()
{
	int sent = rank, first = -1, second = -1;
	MPI_Request receive, send;
	MPI_Status status;

	MPI_Irecv(&first, 1, MPI_INT, last_rank, 10, MPI_COMM_WORLD, &receive);
	std::thread([&] {
		MPI_Isend(&sent, 1, MPI_INT, next_rank, 10, MPI_COMM_WORLD, &send);
		MPI_Wait(&receive, &status);
		REQUIRE(status.MPI_SOURCE == last_rank);
	}).join();
	MPI_Wait(&send, MPI_STATUS_IGNORE);
	REQUIRE(first == last_rank);
	std::thread([&] {
		MPI_Irecv(&second, 1, MPI_INT, MPI_ANY_SOURCE, 11, MPI_COMM_WORLD,
			  &receive);
	}).join();
	MPI_Send(&sent, 1, MPI_INT, next_rank, 11, MPI_COMM_WORLD);
	MPI_Wait(&receive, MPI_STATUS_IGNORE);
	REQUIRE(second == last_rank);
}

static void look_out()
{
	int few[5], count = 0;
	std::vector<int> many(1 << 18);
	MPI_Status status;

	MPI_Probe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &count);
	REQUIRE(count == 5 && status.MPI_SOURCE == last_rank);
	MPI_Recv(few, 5, MPI_INT, status.MPI_SOURCE, 12, MPI_COMM_WORLD, &status);
	MPI_Recv(many.data(), (int)many.size(), MPI_INT, MPI_ANY_SOURCE, 13,
		 MPI_COMM_WORLD, &status);
	REQUIRE(few[4] == last_rank && many.back() == last_rank);
}

/* Main sends to threads that wait, and its large message waits for them. */
static void answer_main()
{
	std::vector<int> many(1 << 18, rank);
	std::thread receiver(look_out);

	MPI_Send(many.data(), 5, MPI_INT, next_rank, 12, MPI_COMM_WORLD);
	MPI_Ssend(many.data(), (int)many.size(), MPI_INT, next_rank, 13, MPI_COMM_WORLD);
	receiver.join();
}

static void make_communicators()
{
	MPI_Comm half;
	int place;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Comm_rank(half, &place);
	REQUIRE(place == rank / 2);
	MPI_Barrier(half);
	MPI_Comm_free(&half);
}

/* ---- main --------------------------------------------------------------- */

static void count_kernel(void *buffers[], void *arg)
{
	(void)arg;
	*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) += 1;
}

static void run_tasks(int *value)
{
	static struct starpu_codelet count;
	starpu_data_handle_t handle;

	count.cpu_funcs[0] = count_kernel;
	count.cpu_funcs_name[0] = "count_kernel";
	count.nbuffers = 1;
	count.modes[0] = STARPU_RW;
	count.name = "count";
	count.model = &starpu_perfmodel_nop;
	starpu_variable_data_register(&handle, rank == 0 ? STARPU_MAIN_RAM : -1,
				      rank == 0 ? (uintptr_t)value : 0, sizeof(*value));
	starpu_mpi_data_register(handle, 1, 0);
	for (int i = 0; i < 20; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &count, STARPU_RW, handle,
				       STARPU_EXECUTE_ON_NODE, i % size, 0);
	starpu_data_unregister(handle);
}

int main(int argc, char **argv)
{
	enum { PHYSICS = 3 };
	MPI_Comm comms[PHYSICS];
	std::vector<std::thread> threads;
	int level = -1, value = 0, root;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (level < MPI_THREAD_MULTIPLE)
		return 77;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	next_rank = (rank + 1) % size;
	last_rank = (rank + size - 1) % size;
	if (starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL) != 0)
		return 77;
	for (int i = 0; i < PHYSICS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < PHYSICS; i++)
		threads.emplace_back(live, comms[i], i + 1);
	run_tasks(&value);
	root = rank;
	MPI_Bcast(&root, 1, MPI_INT, 0, MPI_COMM_WORLD);
	REQUIRE(root == 0);
	for (auto &thread : threads)
		thread.join();
	share_requests();
	answer_main();
	std::thread(make_communicators).join();
	REQUIRE(rank != 0 || value == 20 || !getenv("CHECK_VALUES"));
	for (auto &comm : comms)
		MPI_Comm_free(&comm);
	starpu_mpi_shutdown();
	MPI_Finalize();
	return 0;
}
