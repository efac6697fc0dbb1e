/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * A worker that is the thread of communication, too (STARPU_MPI_DRIVER_CALL_FREQUENCY):
 * the only worker executes tasks and polls.
 */
#include <pthread.h>
#include <string.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

enum { NTASKS = 200, NROUNDS = 40, MANY_ROUNDS = 400 };

/* On the side of the node; atomic. */
static int nexecuted, nhandled, nelsewhere;
static pthread_t worker_thread;

static int seen(const int *count)
{
	return __atomic_load_n(count, __ATOMIC_SEQ_CST);
}

/* There is one worker. */
static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	++*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
	if (!seen(&nexecuted))
		worker_thread = pthread_self();
	__atomic_add_fetch(&nexecuted, 1, __ATOMIC_SEQ_CST);
}

static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};

static void handled(void *arg)
{
	(void)arg;
	if (seen(&nexecuted) && !pthread_equal(pthread_self(), worker_thread))
		__atomic_add_fetch(&nelsewhere, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&nhandled, 1, __ATOMIC_SEQ_CST);
}

/* No function of the library that would poll in this thread. */
static void wait_without_help(const int *count, int wanted)
{
	while (seen(count) < wanted)
		starpu_sleep(1e-4);
}

static void begin(void)
{
	nexecuted = nhandled = nelsewhere = 0;
	start();
}

/* Tasks without messages, though nothing is there to poll for. */
static void tasks_are_executed(void)
{
	long x = 0;
	starpu_data_handle_t handle;

	begin();
	handle = variable(&x);
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&add, STARPU_RW, handle, 0);
	wait_without_help(&nexecuted, NTASKS);
	starpu_data_unregister(handle);
	CLAIM_EQ(x, NTASKS);
	stop();
}

/* Messages without tasks: the thread that executes tasks calls back. */
static void messages_arrive(void)
{
	long x = 10 + RANK, y[NTASKS];
	starpu_data_handle_t sent, got[NTASKS];
	int next = (RANK + 1) % claim_size, last = (RANK + claim_size - 1) % claim_size;
	long warm = 0;
	starpu_data_handle_t warming;

	begin();
	sent = variable(&x);
	warming = variable(&warm);
	starpu_task_insert(&add, STARPU_RW, warming, 0);
	wait_without_help(&nexecuted, 1);
	for (int i = 0; i < NTASKS; i++) {
		got[i] = variable(&y[i]);
		starpu_mpi_irecv_detached(got[i], last, i, WORLD, handled, NULL);
	}
	for (int i = 0; i < NTASKS; i++)
		starpu_mpi_isend_detached(sent, next, i, WORLD, NULL, NULL);
	wait_without_help(&nhandled, NTASKS);
	CLAIM_EQ(nelsewhere, 0);
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 0; i < NTASKS; i++) {
		starpu_data_unregister(got[i]);
		CLAIM_EQ(y[i], 10 + last);
	}
	starpu_data_unregister(warming);
	starpu_data_unregister(sent);
	stop();
}

/* A value goes round and each rank adds: tasks and messages wait for each other. */
static void go_round(starpu_data_handle_t handle, int nrounds,
		     void (*received)(void *arg))
{
	int next = (RANK + 1) % claim_size, last = (RANK + claim_size - 1) % claim_size;

	for (int round = 0; round < nrounds; round++) {
		if (RANK > 0 || round > 0)
			starpu_mpi_irecv_detached(handle, last, round, WORLD, received,
						  NULL);
		starpu_task_insert(&add, STARPU_RW, handle, 0);
		if (RANK < claim_size - 1 || round < nrounds - 1)
			starpu_mpi_isend_detached(handle, next,
						  round + (RANK == claim_size - 1), WORLD,
						  NULL, NULL);
	}
}

/* What a rank has in the end when that began with 0. */
static long sum_of(int nrounds)
{
	return nrounds * (claim_size - 1L) + RANK + nrounds - (claim_size - 1);
}

static void both_take_turns(void)
{
	long x = 0;
	starpu_data_handle_t handle;

	begin();
	handle = variable(&x);
	go_round(handle, NROUNDS, NULL);
	wait_without_help(&nexecuted, NROUNDS);
	starpu_data_unregister(handle);
	CLAIM_EQ(x, sum_of(NROUNDS));
	stop();
}

/* A thread that waits leaves it to the worker: with every message from one thread to the
 * other, each would wait for its turn on the core.  Where others want the core the
 * worker is away at times, and then it does not. */
static void waiters_leave_messages_to_it(void)
{
	long x = 0;
	starpu_data_handle_t handle;

	begin();
	handle = variable(&x);
	go_round(handle, MANY_ROUNDS, handled);
	starpu_task_wait_for_all();
	starpu_mpi_wait_for_all(WORLD);
	CLAIM(nelsewhere <= MANY_ROUNDS * 9 / 10);
	starpu_data_unregister(handle);
	CLAIM_EQ(x, sum_of(MANY_ROUNDS));
	stop();
}

int main(int argc, char **argv)
{
	static const struct claim claims[] = {
		{"tasks are executed", tasks_are_executed},
		{"messages arrive", messages_arrive},
		{"both take turns", both_take_turns},
		{"waiters leave messages to it", waiters_leave_messages_to_it},
		{NULL, NULL},
	};

	return mpi_claims_run(argc, argv, claims);
}
