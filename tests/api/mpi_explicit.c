/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * ORRERY_MPI_EXPLICIT: messages move in calls of the program's threads, and with
 * MPI_THREAD_FUNNELED one thread calls MPI.  The calls of the library come by here.
 */
#include <pthread.h>
#include <string.h>

#include <orrery_mpi.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

enum { NROUNDS = 60 };

static pthread_t first_thread;
/* Of threads other than the first; and polls of any.  Atomic. */
static int nsent_elsewhere, npolled_elsewhere, npolls;
static int nhandled, nexecuted; /* atomic */
static int nsent;               /* of any; atomic */

/* Of the thread's last send. */
static __thread const MPI_Request *sending;

static int is_elsewhere(void)
{
	return !pthread_equal(pthread_self(), first_thread);
}

static void count(int *counter, int more)
{
	__atomic_add_fetch(counter, more, __ATOMIC_SEQ_CST);
}

static int seen(const int *counter)
{
	return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

/* What the library calls to send, and to look for messages. */
int MPI_Isend(const void *buffer, int n, MPI_Datatype type, int to, int tag,
	      MPI_Comm comm, MPI_Request *request)
{
	count(&nsent, 1);
	count(&nsent_elsewhere, is_elsewhere());
	sending = request;
	return PMPI_Isend(buffer, n, type, to, tag, comm, request);
}

int MPI_Irecv(void *buffer, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	      MPI_Request *request)
{
	count(&nsent_elsewhere, is_elsewhere());
	return PMPI_Irecv(buffer, n, type, from, tag, comm, request);
}

int MPI_Testsome(int n, MPI_Request requests[], int *nended, int indices[],
		 MPI_Status statuses[])
{
	count(&npolls, 1);
	count(&npolled_elsewhere, is_elsewhere());
	return PMPI_Testsome(n, requests, nended, indices, statuses);
}

/* Of a receive; whoever sends asks whether that has left. */
int MPI_Test(MPI_Request *request, int *has_ended, MPI_Status *status)
{
	if (request != sending) {
		count(&npolls, 1);
		count(&npolled_elsewhere, is_elsewhere());
	}
	return PMPI_Test(request, has_ended, status);
}

static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	++*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
	count(&nexecuted, 1);
}

static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};

static void handled(void *arg)
{
	(void)arg;
	count(&nhandled, 1);
}

static void begin(void)
{
	first_thread = pthread_self();
	nsent_elsewhere = npolled_elsewhere = npolls = nhandled = nexecuted = 0;
	claim_init(2);
}

static void end(void)
{
	stop();
	CLAIM(seen(&npolls) > 0);
	CLAIM_EQ(npolled_elsewhere, 0);
	if (claim_level() == MPI_THREAD_FUNNELED)
		CLAIM_EQ(nsent_elsewhere, 0);
}

/* A value goes round: what a worker has made is sent, whoever calls MPI for it. */
static starpu_data_handle_t go_round(long *x)
{
	starpu_data_handle_t handle = variable(x);
	int next = (RANK + 1) % claim_size, last = (RANK + claim_size - 1) % claim_size;

	for (int round = 0; round < NROUNDS; round++) {
		if (RANK > 0 || round > 0)
			starpu_mpi_irecv_detached(handle, last, round, WORLD, handled,
						  NULL);
		starpu_task_insert(&add, STARPU_RW, handle, 0);
		if (RANK < claim_size - 1 || round < NROUNDS - 1)
			starpu_mpi_isend_detached(handle, next,
						  round + (RANK == claim_size - 1), WORLD,
						  NULL, NULL);
	}
	return handle;
}

static void end_round(starpu_data_handle_t handle, const long *x)
{
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(handle);
	CLAIM_EQ(*x, NROUNDS * (claim_size - 1) + RANK + NROUNDS - (claim_size - 1));
}

static void waiting_moves_messages(void)
{
	long x = 0;
	starpu_data_handle_t handle;

	begin();
	handle = go_round(&x);
	end_round(handle, &x);
	end();
}

static void progress_moves_messages(void)
{
	long x = 0;
	int nothing = 0;
	starpu_data_handle_t handle;

	begin();
	handle = go_round(&x);
	while (seen(&nexecuted) < NROUNDS || seen(&nhandled) < NROUNDS - (RANK == 0))
		nothing += !orrery_mpi_progress();
	CLAIM(nothing >= 0);
	end_round(handle, &x);
	end();
}

static void tests_move_messages(void)
{
	unsigned char *sent = filled(LARGE, (unsigned)RANK), *got = filled(LARGE, 99);
	int next = (RANK + 1) % claim_size, last = (RANK + claim_size - 1) % claim_size;
	starpu_mpi_req requests[2];

	begin();
	starpu_data_handle_t from = vector(sent, LARGE), to = vector(got, LARGE);

	starpu_mpi_isend(from, &requests[0], next, TAG, WORLD);
	starpu_mpi_irecv(to, &requests[1], last, TAG, WORLD);
	for (int i = 0; i < 2; i++)
		for (int flag = 0; !flag;)
			starpu_mpi_test(&requests[i], &flag, MPI_STATUS_IGNORE);
	starpu_data_unregister(from);
	starpu_data_unregister(to);
	CLAIM(is_filled(got, LARGE, (unsigned)last));
	free(sent);
	free(got);
	end();
}

static void *wait_in_thread(void *arg)
{
	starpu_mpi_wait(arg, MPI_STATUS_IGNORE);
	return NULL;
}

/* Another thread of the program waits; the first one's calls serve it. */
static void another_thread_waits(void)
{
	long x = 0, y = 5 + RANK, z = 0;
	int next = (RANK + 1) % claim_size, last = (RANK + claim_size - 1) % claim_size;
	starpu_data_handle_t handle, sent, got;
	starpu_mpi_req request;
	pthread_t thread;

	if (claim_level() != MPI_THREAD_FUNNELED)
		return; /* The other thread polls as well. */
	begin();
	sent = variable(&y);
	got = variable(&z);
	starpu_mpi_irecv(got, &request, last, 5000, WORLD);
	CLAIM_EQ(pthread_create(&thread, NULL, wait_in_thread, &request), 0);
	starpu_mpi_isend_detached(sent, next, 5000, WORLD, NULL, NULL);
	handle = go_round(&x);
	end_round(handle, &x);
	pthread_join(thread, NULL);
	starpu_data_unregister(sent);
	starpu_data_unregister(got);
	CLAIM_EQ(z, 5 + last);
	end();
}

enum { NLARGE = 12, NBYTES = 100000 };

/* What a rank has to say to announcements that have come leaves as few messages, before
 * the payloads are looked for.  Not what the receiver copies itself. */
static void grants_travel_together(void)
{
	unsigned char *bytes = filled(NLARGE * NBYTES, (unsigned)RANK);
	starpu_data_handle_t handles[NLARGE];
	starpu_mpi_req requests[NLARGE];

	setenv("ORRERY_MPI_DIRECT", "0", 1);
	begin();
	unsetenv("ORRERY_MPI_DIRECT");
	for (int i = 0; i < NLARGE; i++)
		handles[i] = vector(bytes + (size_t)i * NBYTES, NBYTES);
	for (int i = 0; RANK == 1 && i < NLARGE; i++)
		starpu_mpi_irecv(handles[i], &requests[i], 0, TAG, WORLD);
	MPI_Barrier(WORLD);
	for (int i = 0; RANK == 0 && i < NLARGE; i++)
		starpu_mpi_isend(handles[i], &requests[i], 1, TAG, WORLD);
	__atomic_store_n(&nsent, 0, __ATOMIC_SEQ_CST);
	MPI_Barrier(WORLD); /* The announcements have come, and nobody has looked. */
	for (int i = 0; RANK < 2 && i < NLARGE; i++)
		starpu_mpi_wait(&requests[i], MPI_STATUS_IGNORE);
	if (RANK == 1) {
		CLAIM(seen(&nsent) <= 3);
		CLAIM(is_filled(bytes, NLARGE * NBYTES, 0));
	}
	for (int i = 0; i < NLARGE; i++)
		starpu_data_unregister(handles[i]);
	free(bytes);
	end();
}

int main(int argc, char **argv)
{
	static const struct claim claims[] = {
		{"waiting moves messages", waiting_moves_messages},
		{"orrery_mpi_progress() moves messages", progress_moves_messages},
		{"tests move messages", tests_move_messages},
		{"another thread waits", another_thread_waits},
		{"grants travel together", grants_travel_together},
		{NULL, NULL},
	};

	setenv("ORRERY_MPI_EXPLICIT", "1", 1);
	return mpi_claims_run(argc, argv, claims);
}
