/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What goes on side by side: both ends of a pair, threads, calls that are made again, and
 * the program's own use of MPI. */
#include <stdint.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

enum { THREADS = 4, TIMES = 5, TEMPLATES = 40 };

/* The other one of two ranks that are neighbours; the last of an odd number has none. */
static int partner(void)
{
	int other = RANK ^ 1;

	return other < claim_size ? other : -1;
}

static void count(void *arg)
{
	__atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

static int counted(const int *ncalls)
{
	return __atomic_load_n(ncalls, __ATOMIC_SEQ_CST);
}

/* ---- both ends ------------------------------------------------------------- */

/* Who announces a synchronous send may not take it for the other's. */
static void cross(size_t bytes)
{
	unsigned char *out = filled(bytes, (unsigned)RANK);
	unsigned char *in = filled(bytes, 99);
	starpu_data_handle_t sent = vector(out, bytes), received = vector(in, bytes);
	starpu_mpi_req send, receive;
	int nended = 0;

	if (partner() >= 0) {
		starpu_mpi_issend(sent, &send, partner(), TAG, WORLD);
		starpu_mpi_issend_detached(sent, partner(), TAG, WORLD, count, &nended);
	}
	starpu_mpi_barrier(WORLD);
	for (int i = 0; partner() >= 0 && i < 2; i++) {
		if (i == 0)
			CLAIM_EQ(counted(&nended), 0);
		starpu_mpi_irecv(received, &receive, partner(), TAG, WORLD);
		starpu_mpi_wait(&receive, MPI_STATUS_IGNORE);
		if (i == 0)
			starpu_mpi_wait(&send, MPI_STATUS_IGNORE);
		starpu_data_acquire(received, STARPU_RW);
		CLAIM(is_filled(in, bytes, (unsigned)partner()));
		memset(in, 0, bytes);
		starpu_data_release(received);
		if (i > 0)
			continue;
		CLAIM_EQ(counted(&nended), 0); /* Neither has received again. */
		MPI_Sendrecv(NULL, 0, MPI_BYTE, partner(), 0, NULL, 0, MPI_BYTE,
			     partner(), 0, WORLD, MPI_STATUS_IGNORE);
	}
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nended, partner() >= 0);
	starpu_data_unregister(sent);
	starpu_data_unregister(received);
	free(out);
	free(in);
}

static void synchronous_sends_cross(void)
{
	start();
	cross(8);
	cross(LARGE);
	stop();
}

/* One value, the same rank and tag: each call sends. */
static void each_call_sends_once(void)
{
	unsigned char *at = filled(LARGE, (unsigned)RANK);
	starpu_data_handle_t handle;
	int nsent = 0, nreceived = 0;

	start();
	handle = vector(at, LARGE);
	for (int i = 0; i < TIMES && RANK < 2; i++) {
		if (RANK == 0)
			starpu_mpi_isend_detached(handle, 1, TAG, WORLD, count, &nsent);
		else
			starpu_mpi_irecv_detached(handle, 0, TAG, WORLD, count,
						  &nreceived);
	}
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nsent, RANK == 0 ? TIMES : 0);
	CLAIM_EQ(nreceived, RANK == 1 ? TIMES : 0);
	starpu_data_unregister(handle);
	CLAIM(is_filled(at, LARGE, RANK == 1 ? 0 : (unsigned)RANK));
	free(at);
	stop();
}

/* ---- threads ---------------------------------------------------------------- */

struct talker {
	starpu_pthread_t thread;
	unsigned char *out, *in;
	starpu_data_handle_t sent, received;
	int number;
};

/* All send first: each is larger than what travels before its receive is there. */
static void *talks(void *arg)
{
	struct talker *talker = arg;

	for (int i = 0; i < TIMES; i++) {
		starpu_mpi_send(talker->sent, partner(), TAG + talker->number, WORLD);
		starpu_mpi_recv(talker->received, partner(), TAG + talker->number, WORLD,
				MPI_STATUS_IGNORE);
	}
	return NULL;
}

static void *listens(void *arg)
{
	struct talker *talker = arg;

	for (int i = 0; i < TIMES; i++) {
		starpu_mpi_recv(talker->received, partner(), TAG + talker->number, WORLD,
				MPI_STATUS_IGNORE);
		starpu_mpi_send(talker->sent, partner(), TAG + talker->number, WORLD);
	}
	return NULL;
}

static void threads_block_at_once(void)
{
	struct talker talkers[THREADS];

	start();
	for (int i = 0; i < THREADS; i++) {
		struct talker *talker = &talkers[i];

		talker->number = i;
		talker->out = filled(LARGE / 8, (unsigned)(10 * RANK + i));
		talker->in = filled(LARGE / 8, 99);
		talker->sent = vector(talker->out, LARGE / 8);
		talker->received = vector(talker->in, LARGE / 8);
		if (partner() >= 0)
			starpu_pthread_create(&talker->thread, NULL,
					      RANK % 2 ? listens : talks, talker);
	}
	for (int i = 0; i < THREADS; i++) {
		struct talker *talker = &talkers[i];

		if (partner() >= 0)
			starpu_pthread_join(talker->thread, NULL);
		starpu_data_unregister(talker->sent);
		starpu_data_unregister(talker->received);
		if (partner() >= 0)
			CLAIM(is_filled(talker->in, LARGE / 8,
					(unsigned)(10 * partner() + i)));
		free(talker->out);
		free(talker->in);
	}
	stop();
}

static void *waits_for_all(void *arg)
{
	starpu_mpi_wait_for_all(WORLD);
	CLAIM(__atomic_load_n((int *)arg, __ATOMIC_SEQ_CST) >= TIMES);
	return NULL;
}

/* StarPU allows one at a time. */
static void threads_wait_for_all_at_once(void)
{
	unsigned char *at = filled(LARGE, 1);
	starpu_pthread_t threads[THREADS];
	starpu_data_handle_t handle;
	int nended = partner() >= 0 ? 0 : TIMES;

	start();
	handle = vector(at, LARGE);
	for (int i = 0; i < TIMES && partner() >= 0; i++) {
		if (RANK % 2)
			starpu_mpi_irecv_detached(handle, partner(), TAG, WORLD, count,
						  &nended);
		else
			starpu_mpi_isend_detached(handle, partner(), TAG, WORLD, count,
						  &nended);
	}
	for (int i = 0; i < THREADS; i++)
		starpu_pthread_create(&threads[i], NULL, waits_for_all, &nended);
	for (int i = 0; i < THREADS; i++)
		starpu_pthread_join(threads[i], NULL);
	starpu_data_unregister(handle);
	free(at);
	stop();
}

enum { FLUSHES = 20000, ENDS = 4000, PARTS = 4 };

static void *flushes_all(void *arg)
{
	(void)arg;
	for (int i = 0; i < FLUSHES; i++)
		starpu_mpi_cache_flush_all_data(WORLD);
	return NULL;
}

/* With the note that this rank has received it: flushing will look at it. */
static void note_received(starpu_data_handle_t handle, starpu_mpi_tag_t tag)
{
	starpu_mpi_data_register(handle, tag, (RANK + 1) % claim_size);
	starpu_mpi_cached_receive_set(handle);
}

static void end_some(int i)
{
	struct starpu_data_filter filter = {.filter_func = starpu_vector_filter_block,
					    .nchildren = PARTS};
	starpu_data_handle_t handle, parts[PARTS];
	starpu_mpi_tag_t tag = TAG + i * PARTS; /* Ends may take their time. */
	long values[PARTS] = {0};

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values, PARTS,
				    sizeof values[0]);
	if (i % 4 == 1) {
		starpu_data_partition(handle, &filter);
		for (int j = 0; j < PARTS; j++)
			note_received(starpu_data_get_sub_data(handle, 1, j), tag + j);
		starpu_data_unpartition(handle, STARPU_MAIN_RAM);
	} else if (i % 4 == 2) {
		starpu_data_partition_plan(handle, &filter, parts);
		for (int j = 0; j < PARTS; j++)
			note_received(parts[j], tag + j);
		starpu_data_partition_clean(handle, PARTS, parts);
	} else {
		note_received(handle, tag);
	}
	if (i % 4 == 3)
		starpu_data_unregister_no_coherency(handle);
	else
		starpu_data_unregister(handle);
}

/* What is being flushed does not go meanwhile. */
static void data_end_beside_flushes(void)
{
	starpu_pthread_t thread;

	start();
	starpu_mpi_cache_set(1);
	starpu_pthread_create(&thread, NULL, flushes_all, NULL);
	for (int i = 0; i < ENDS; i++)
		end_some(i);
	starpu_pthread_join(thread, NULL);
	stop();
}

/* ---- again -------------------------------------------------------------------- */

/* While messages are under way in it, and from several threads. */
static void *registers_again(void *arg)
{
	for (int i = 0; i < TIMES; i++)
		starpu_mpi_comm_register(*(MPI_Comm *)arg);
	return NULL;
}

static void communicators_are_registered_again(void)
{
	unsigned char *at = filled(LARGE, 1 + (unsigned)RANK);
	starpu_pthread_t threads[THREADS];
	starpu_data_handle_t handle;
	MPI_Comm comm;
	int n = 0, rank = -1;

	MPI_Comm_dup(WORLD, &comm);
	start();
	starpu_mpi_comm_register(comm);
	handle = vector(at, LARGE);
	if (RANK == 0)
		starpu_mpi_isend_detached(handle, 1, TAG, comm, NULL, NULL);
	else if (RANK == 1)
		starpu_mpi_irecv_detached(handle, 0, TAG, comm, NULL, NULL);
	for (int i = 0; i < THREADS; i++)
		starpu_pthread_create(&threads[i], NULL, registers_again, &comm);
	for (int i = 0; i < THREADS; i++)
		starpu_pthread_join(threads[i], NULL);
	starpu_mpi_comm_size(comm, &n);
	starpu_mpi_comm_rank(comm, &rank);
	CLAIM_EQ(n, claim_size);
	CLAIM_EQ(rank, RANK);
	starpu_mpi_wait_for_all(comm);
	starpu_data_unregister(handle);
	CLAIM(is_filled(at, LARGE, RANK == 1 ? 1 : 1 + (unsigned)RANK));
	free(at);
	stop();
	MPI_Comm_free(&comm);
}

/* What was sent in another life of the library does not count in this one. */
static void counts_begin_anew(void)
{
	size_t *sent = calloc((size_t)claim_size, sizeof *sent);
	long x = RANK;

	for (int life = 0; life < 3; life++) {
		starpu_data_handle_t handle;

		start();
		starpu_mpi_comm_stats_enable();
		handle = variable(&x);
		if (RANK == 0)
			starpu_mpi_send(handle, 1, TAG, WORLD);
		else if (RANK == 1)
			starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
		starpu_mpi_comm_stats_retrieve(sent);
		CLAIM_EQ(sent[1], RANK == 0 ? sizeof x : 0);
		starpu_data_unregister(handle);
		stop();
	}
	free(sent);
}

/* The rank that held a copy owns the value from now on, and writes it. */
static void a_holder_becomes_the_owner(int cache)
{
	long x = 7;
	starpu_data_handle_t handle;
	int before;

	start();
	before = starpu_mpi_cache_is_enabled();
	starpu_mpi_cache_set(cache);
	starpu_variable_data_register(&handle, RANK ? -1 : STARPU_MAIN_RAM,
				      RANK ? 0 : (uintptr_t)&x, sizeof x);
	starpu_mpi_data_register(handle, TAG, 0);
	starpu_mpi_get_data_on_node(WORLD, handle, 1);
	starpu_mpi_data_set_rank(handle, 1);
	for (int i = 0; i < TIMES; i++) {
		/* The mark of the copy must not take the value from its owner. */
		starpu_mpi_cache_flush(WORLD, handle);
		starpu_mpi_get_data_on_node(WORLD, handle, 0);
		if (RANK < 2) {
			starpu_data_acquire(handle, STARPU_R);
			CLAIM_EQ(*(long *)starpu_data_get_local_ptr(handle), 7 + i);
			starpu_data_release(handle);
		}
		starpu_mpi_barrier(WORLD);
		if (RANK == 1) {
			starpu_data_acquire(handle, STARPU_RW);
			++*(long *)starpu_data_get_local_ptr(handle);
			starpu_data_release(handle);
		}
	}
	starpu_mpi_cache_set(before);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(handle);
	stop();
}

static void a_holder_becomes_the_owner_with_cache(void)
{
	a_holder_becomes_the_owner(1);
}

static void a_holder_becomes_the_owner_without(void)
{
	a_holder_becomes_the_owner(0);
}

static int next_rank(int rank)
{
	return (rank + 1) % claim_size;
}

/* StarPU has room for 32. */
static void templates_are_many(void)
{
	starpu_mpi_checkpoint_template_t templates[TEMPLATES];
	long x = RANK, step = 0;
	starpu_data_handle_t handle;

	start();
	handle = variable(&x);
	starpu_mpi_data_register(handle, TAG, 0);
	CLAIM_EQ(starpu_mpi_checkpoint_init(), 0);
	for (int i = 0; i < TEMPLATES; i++)
		CLAIM_EQ(starpu_mpi_checkpoint_template_register(
				 &templates[i], i, 0, STARPU_R, handle, next_rank(0),
				 STARPU_VALUE, &step, (int)sizeof(step),
				 (starpu_mpi_tag_t)(TAG + 1 + i), next_rank, 0),
			 0);
	for (int i = 0; i < TEMPLATES; i++)
		CLAIM_EQ(starpu_mpi_checkpoint_template_submit(templates[i], 0), 0);
	CLAIM_EQ(starpu_mpi_checkpoint_shutdown(), 0);
	starpu_data_unregister(handle);
	stop();
}

/* ---- the program's own ------------------------------------------------------------ */

/* The library leaves the program's communicators as they are. */
static void handlers_of_errors_stay(void)
{
	MPI_Errhandler before, after;

	MPI_Comm_get_errhandler(WORLD, &before);
	/* Under SMPI no rank has one of its own until it sets it, and none at all once
	 * another has. */
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
	start();
	MPI_Comm_get_errhandler(WORLD, &after);
	CLAIM(after == MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	stop();
	MPI_Comm_get_errhandler(WORLD, &after);
	CLAIM(after == MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(WORLD, before);
}

/* StarPU's three tags, and any, from anybody. */
static void own_messages_have_any_tag(void)
{
	unsigned char *at = filled(LARGE, (unsigned)RANK);
	starpu_data_handle_t handle;

	start();
	handle = vector(at, LARGE);
	for (int tag = 42; tag < 45 && RANK < 2; tag++) {
		MPI_Request request;
		int own = RANK ? -1 : tag, size;
		MPI_Status status;

		if (RANK == 0) {
			starpu_mpi_isend_detached(handle, 1, TAG, WORLD, NULL, NULL);
			MPI_Send(&own, 1, MPI_INT, 1, tag, WORLD);
			continue;
		}
		MPI_Irecv(&own, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &request);
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
		MPI_Wait(&request, &status);
		CLAIM_EQ(own, tag);
		CLAIM_EQ(status.MPI_TAG, tag);
		MPI_Get_count(&status, MPI_INT, &size);
		CLAIM_EQ(size, 1);
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(handle);
	free(at);
	stop();
}

static const struct claim claims[] = {
	{"synchronous sends of one tag cross", synchronous_sends_cross},
	{"each call sends once", each_call_sends_once},
	{"threads block at once", threads_block_at_once},
	{"threads wait for all at once", threads_wait_for_all_at_once},
	{"data end beside flushes", data_end_beside_flushes},
	{"communicators are registered again", communicators_are_registered_again},
	{"counts begin anew", counts_begin_anew},
	{"a holder becomes the owner", a_holder_becomes_the_owner_with_cache},
	{"a holder becomes the owner, without cache", a_holder_becomes_the_owner_without},
	{"templates are many", templates_are_many},
	{"handlers of errors stay", handlers_of_errors_stay},
	{"own messages have any tag", own_messages_have_any_tag},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
