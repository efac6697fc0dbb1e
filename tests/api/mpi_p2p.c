/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Messages between two ranks, all forms and sizes, on two ranks or more. */
#include <stdint.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	++*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};

static void copy_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]) =
		*(long *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static struct starpu_codelet copy = {.cpu_funcs = {copy_cpu},
				     .nbuffers = 2,
				     .modes = {STARPU_W, STARPU_R},
				     .model = &starpu_perfmodel_nop,
				     .name = "copy"};

static void count(void *arg)
{
	__atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

static int count_of(int *counter)
{
	return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

/* A little later, in real or in virtual time. */
static void pause_shortly(void)
{
	starpu_sleep(0.01f);
}

/* ---- blocking and non-blocking --------------------------------------- */

static void ping_pong_counts(void)
{
	long x = 0;
	starpu_data_handle_t handle;
	MPI_Status status;

	start();
	handle = variable(&x);
	for (int i = 0; RANK < 2 && i < 20; i++) {
		if (i % 2 == RANK) {
			starpu_task_insert(&add, STARPU_RW, handle, 0);
			CLAIM_EQ(starpu_mpi_send(handle, 1 - RANK, TAG, WORLD), 0);
		} else {
			CLAIM_EQ(starpu_mpi_recv(handle, 1 - RANK, TAG, WORLD, &status),
				 0);
			CLAIM_EQ(status.MPI_SOURCE, 1 - RANK);
		}
	}
	starpu_data_unregister(handle);
	CLAIM_EQ(x, RANK < 2 ? 20 : 0);
	stop();
}

static void requests_are_waited_and_tested(void)
{
	long x[2] = {RANK + 10, -1};
	starpu_data_handle_t mine, theirs;
	starpu_mpi_req send, receive;
	int flag = 0;

	start();
	mine = variable(&x[0]);
	theirs = variable(&x[1]);
	for (int i = 0; RANK < 2 && i < 20; i++) {
		starpu_mpi_isend_prio(mine, &send, 1 - RANK, TAG + i, i % 3, WORLD);
		starpu_mpi_irecv(theirs, &receive, 1 - RANK, TAG + i, WORLD);
		for (flag = 0; !flag;)
			CLAIM_EQ(starpu_mpi_test(&receive, &flag, MPI_STATUS_IGNORE), 0);
		CLAIM(receive == NULL);
		CLAIM_EQ(starpu_mpi_wait(&send, MPI_STATUS_IGNORE), 0);
		CLAIM(send == NULL);
		CLAIM_EQ(starpu_data_acquire(theirs, STARPU_R), 0);
		CLAIM_EQ(x[1], 11 - RANK);
		starpu_data_release(theirs);
	}
	starpu_data_unregister(mine);
	starpu_data_unregister(theirs);
	stop();
}

/* A receive posted first does not complete by itself. */
static void test_tells_the_truth(void)
{
	long x = RANK;
	starpu_data_handle_t handle;
	starpu_mpi_req req;
	int flag = 0;

	start();
	handle = variable(&x);
	if (RANK == 1) {
		starpu_mpi_irecv(handle, &req, 0, TAG, WORLD);
		for (int i = 0; i < 10; i++) {
			starpu_mpi_test(&req, &flag, MPI_STATUS_IGNORE);
			CLAIM_EQ(flag, 0);
			CLAIM(req != NULL);
		}
	}
	starpu_mpi_barrier(WORLD);
	if (RANK == 0)
		starpu_mpi_send(handle, 1, TAG, WORLD);
	if (RANK == 1)
		starpu_mpi_wait(&req, MPI_STATUS_IGNORE);
	starpu_data_unregister(handle);
	CLAIM_EQ(x, RANK == 1 ? 0 : RANK);
	stop();
}

/* A synchronous send ends when it is received; a small standard one before. */
static void synchronous_sends_wait(void)
{
	long x[3] = {1, 2, 3};
	starpu_data_handle_t handles[3];
	starpu_mpi_req req[2];
	int flag = 0, ended = 0;

	start();
	for (int i = 0; i < 3; i++)
		handles[i] = variable(&x[i]);
	if (RANK == 0) {
		starpu_mpi_issend(handles[0], &req[0], 1, TAG, WORLD);
		starpu_mpi_isend(handles[1], &req[1], 1, TAG + 1, WORLD);
		starpu_mpi_issend_detached_prio(handles[2], 1, TAG + 2, 3, WORLD, count,
						&ended);
		if (starpu_getenv_number_default("ORRERY_MPI_EAGER", EAGER) > 0)
			starpu_mpi_wait(&req[1], MPI_STATUS_IGNORE);
		pause_shortly();
		starpu_mpi_test(&req[0], &flag, MPI_STATUS_IGNORE);
		CLAIM_EQ(flag, 0);
		CLAIM_EQ(count_of(&ended), 0);
	}
	starpu_mpi_barrier(WORLD);
	for (int i = 0; RANK == 1 && i < 3; i++)
		starpu_mpi_recv(handles[i], 0, TAG + i, WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; RANK == 0 && i < 2; i++)
		starpu_mpi_wait(&req[i], MPI_STATUS_IGNORE); /* done if it is NULL */
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(count_of(&ended), RANK == 0);
	for (int i = 0; i < 3; i++)
		starpu_data_unregister(handles[i]);
	stop();
}

/* ---- detached -------------------------------------------------------- */

enum { NCHAIN = 20 };

struct chain {
	starpu_data_handle_t handle;
	int nleft, nruns, nreleased;
};

static void released(void *arg)
{
	struct chain *chain = arg;

	count(&chain->nreleased);
	starpu_data_release(chain->handle);
}

static void next_of_chain(void *arg);

static void go_on(struct chain *chain)
{
	if (chain->nleft-- == 0)
		return;
	if ((chain->nleft + RANK) % 2)
		starpu_mpi_isend_detached(chain->handle, 1 - RANK, TAG, WORLD,
					  next_of_chain, chain);
	else
		starpu_mpi_irecv_detached(chain->handle, 1 - RANK, TAG, WORLD,
					  next_of_chain, chain);
}

/* The datum has been released, so that a task, an acquisition and the next message can
 * be submitted from here. */
static void next_of_chain(void *arg)
{
	struct chain *chain = arg;

	count(&chain->nruns);
	starpu_data_acquire_cb(chain->handle, STARPU_R, released, chain);
	if ((chain->nleft + RANK) % 2 == 0)
		starpu_task_insert(&add, STARPU_RW, chain->handle, 0);
	go_on(chain);
}

static void callbacks_continue(void)
{
	long x = 0;
	struct chain chain = {.nleft = NCHAIN};

	start();
	chain.handle = variable(&x);
	if (RANK < 2)
		go_on(&chain);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(chain.nruns, RANK < 2 ? NCHAIN : 0);
	CLAIM_EQ(chain.nreleased, RANK < 2 ? NCHAIN : 0);
	starpu_data_unregister(chain.handle);
	if (RANK < 2)
		CLAIM(x == NCHAIN || x == NCHAIN - 1);
	stop();
}

static void wait_for_all_covers_callbacks(void)
{
	enum { N = 300 };
	static long x[N];
	starpu_data_handle_t handles[N];
	int ncalls = 0;

	start();
	for (int i = 0; i < N; i++) {
		x[i] = RANK ? -1 : i;
		handles[i] = variable(&x[i]);
		if (RANK == 0)
			starpu_mpi_isend_detached(handles[i], 1, i, WORLD, count,
						  &ncalls);
		else if (RANK == 1)
			starpu_mpi_irecv_detached(handles[i], 0, i, WORLD, count,
						  &ncalls);
	}
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(count_of(&ncalls), RANK < 2 ? N : 0);
	for (int i = 0; i < N; i++) {
		starpu_data_unregister(handles[i]);
		if (RANK == 1)
			CLAIM_EQ(x[i], i);
	}
	stop();
}

/* Unregistering waits for the message by itself; a datum can go at once. */
static void unregister_waits_for_messages(void)
{
	start();
	for (int i = 0; i < 50; i++) {
		size_t bytes = i % 5 ? 100 : 100000;
		unsigned char *at = filled(bytes, RANK ? 99u : (unsigned)i);
		starpu_data_handle_t handle = vector(at, bytes);

		if (RANK == 0)
			starpu_mpi_isend_detached(handle, 1, TAG, WORLD, NULL, NULL);
		else if (RANK == 1)
			starpu_mpi_irecv_detached_prio(handle, 0, TAG, i % 4, WORLD, NULL,
						       NULL);
		starpu_data_unregister(handle);
		if (RANK == 1)
			CLAIM(is_filled(at, bytes, (unsigned)i));
		free(at);
	}
	stop();
}

/* write, send, write, send: each message takes the value of its turn. */
static void messages_keep_their_turn(void)
{
	enum { N = 50 };
	long x = 0, y[N];
	starpu_data_handle_t handle, theirs[N];

	start();
	handle = variable(&x);
	for (int i = 0; i < N; i++)
		theirs[i] = variable(&y[i]);
	for (int i = 0; RANK == 0 && i < N; i++) {
		starpu_task_insert(&add, STARPU_RW, handle, 0);
		starpu_mpi_isend_detached(handle, 1, TAG, WORLD, NULL, NULL);
	}
	for (int i = 0; RANK == 1 && i < N; i++) {
		starpu_mpi_irecv_detached(handle, 0, TAG, WORLD, NULL, NULL);
		starpu_task_insert(&copy, STARPU_W, theirs[i], STARPU_R, handle, 0);
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(handle);
	for (int i = 0; i < N; i++) {
		starpu_data_unregister(theirs[i]);
		if (RANK == 1)
			CLAIM_EQ(y[i], i + 1);
	}
	stop();
}

enum { LET_GO = 5, HELD = 6 };

static void let_go(void *arg)
{
	count(arg);
	starpu_tag_notify_from_apps(LET_GO);
}

/* Without sequential consistency, the receive passes a task that came before it and
 * that only its end lets go. */
static void unordered_receive_arrives(void)
{
	long x = RANK ? -1 : 77;
	starpu_data_handle_t handle;
	int ncalls = 0;

	start();
	handle = variable(&x);
	if (RANK == 0) {
		starpu_mpi_isend_detached(handle, 1, TAG, WORLD, count, &ncalls);
	} else if (RANK == 1) {
		starpu_tag_declare_deps(HELD, 1, (starpu_tag_t)LET_GO);
		starpu_task_insert(&add, STARPU_RW, handle, STARPU_TAG,
				   (starpu_tag_t)HELD, 0);
		starpu_mpi_irecv_detached_sequential_consistency(handle, 0, TAG, WORLD,
								 let_go, &ncalls, 0);
	}
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(ncalls, RANK < 2);
	starpu_data_unregister(handle);
	if (RANK == 1)
		CLAIM_EQ(x, 78);
	stop();
}

/* ---- sizes and shapes ------------------------------------------------ */

static void any_size_arrives(void)
{
	static const size_t sizes[] = {1,     2,         1000,   EAGER - 1,
				       EAGER, EAGER + 1, 100000, LARGE};

	start();
	for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		unsigned char *at = filled(sizes[i], RANK ? 200 : i);
		starpu_data_handle_t handle = vector(at, sizes[i]);

		if (RANK == 0)
			starpu_mpi_send(handle, 1, TAG, WORLD);
		else if (RANK == 1)
			starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
		starpu_data_unregister(handle);
		if (RANK < 2)
			CLAIM(is_filled(at, sizes[i], i));
		free(at);
	}
	stop();
}

static void nothing_arrives_too(void)
{
	starpu_data_handle_t handle;
	int ncalls = 0;

	start();
	starpu_void_data_register(&handle);
	if (RANK == 0) {
		starpu_mpi_send(handle, 1, TAG, WORLD);
		starpu_mpi_isend_detached(handle, 1, TAG, WORLD, count, &ncalls);
	} else if (RANK == 1) {
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
		starpu_mpi_irecv_detached(handle, 0, TAG, WORLD, count, &ncalls);
	}
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(ncalls, RANK < 2);
	starpu_data_unregister(handle);
	stop();
}

/* A part of a matrix into one with another leading dimension; the rest stays. */
static void exchange_matrix(unsigned nx, unsigned ny)
{
	unsigned ld = RANK ? nx + 5 : nx + 1;
	int *at = malloc((size_t)ld * ny * sizeof *at);
	starpu_data_handle_t handle;

	for (unsigned i = 0; i < ld * ny; i++)
		at[i] = RANK ? -1 : (int)(i / ld * nx + i % ld);
	starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)at, ld, nx, ny,
				    sizeof *at);
	if (RANK == 0)
		starpu_mpi_send(handle, 1, TAG, WORLD);
	else if (RANK == 1)
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	starpu_data_unregister(handle);
	for (unsigned i = 0; RANK == 1 && i < ld * ny; i++)
		CLAIM_EQ(at[i], i % ld < nx ? (int)(i / ld * nx + i % ld) : -1);
	free(at);
}

static void matrices_may_differ_in_stride(void)
{
	start();
	exchange_matrix(1, 1);
	exchange_matrix(3, 7);
	exchange_matrix(64, 65);
	exchange_matrix(500, 300);
	stop();
}

/* A part of an array of three dimensions into a part of another one. */
static void exchange_block(unsigned nx, unsigned ny, unsigned nz)
{
	unsigned ldy = RANK ? nx + 2 : nx + 1, ldz = RANK ? ldy * ny : ldy * (ny + 3);
	int *at = malloc((size_t)ldz * nz * sizeof *at);
	starpu_data_handle_t handle;

	for (unsigned i = 0; i < ldz * nz; i++)
		at[i] = RANK ? -1 : (int)i;
	starpu_block_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)at, ldy, ldz, nx,
				   ny, nz, sizeof *at);
	if (RANK == 0)
		starpu_mpi_send(handle, 1, TAG, WORLD);
	else if (RANK == 1)
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	starpu_data_unregister(handle);
	for (unsigned i = 0; RANK == 1 && i < ldz * nz; i++) {
		unsigned x = i % ldy, y = i % ldz / ldy, z = i / ldz;
		unsigned sent = x + (nx + 1) * (y + (ny + 3) * z);

		CLAIM_EQ(at[i], x < nx ? (int)sent : -1);
	}
	free(at);
}

static void blocks_may_differ_in_strides(void)
{
	start();
	exchange_block(1, 1, 1);
	exchange_block(3, 1, 4);
	exchange_block(2, 5, 7);
	exchange_block(40, 30, 20);
	stop();
}

/* A strided matrix is received as a plain vector of as many bytes. */
static void shapes_may_differ(void)
{
	int matrix[6 * 4], line[5 * 4];
	starpu_data_handle_t handle;

	start();
	for (int i = 0; i < 24; i++)
		matrix[i] = i;
	if (RANK == 0)
		starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)matrix,
					    6, 5, 4, sizeof(int));
	else
		starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)line, 20,
					    sizeof(int));
	if (RANK == 0)
		starpu_mpi_send(handle, 1, TAG, WORLD);
	else if (RANK == 1)
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	starpu_data_unregister(handle);
	for (int i = 0; RANK == 1 && i < 20; i++)
		CLAIM_EQ(line[i], i / 5 * 6 + i % 5);
	stop();
}

static void self_sends_work(void)
{
	start();
	for (int i = 0; i < 8; i++) {
		size_t bytes = i % 2 ? 50000 : 50;
		unsigned char *from = filled(bytes, (unsigned)i), *to = filled(bytes, 99);
		starpu_data_handle_t source = vector(from, bytes),
				     target = vector(to, bytes);
		starpu_mpi_req send, receive;

		if (i / 2 % 2)
			starpu_mpi_irecv(target, &receive, RANK, TAG, WORLD);
		if (i / 4 % 2)
			starpu_mpi_issend(source, &send, RANK, TAG, WORLD);
		else
			starpu_mpi_isend(source, &send, RANK, TAG, WORLD);
		if (i / 2 % 2 == 0)
			starpu_mpi_irecv(target, &receive, RANK, TAG, WORLD);
		starpu_mpi_wait(&send, MPI_STATUS_IGNORE);
		starpu_mpi_wait(&receive, MPI_STATUS_IGNORE);
		starpu_data_unregister(source);
		starpu_data_unregister(target);
		CLAIM(is_filled(to, bytes, (unsigned)i));
		free(from);
		free(to);
	}
	stop();
}

/* ---- matching -------------------------------------------------------- */

/* One tag, small and large messages mixed: the order of posting decides. */
static void exchange_in_order(int late)
{
	enum { N = 40 };
	unsigned char *at[N];
	starpu_data_handle_t handles[N];

	start();
	for (unsigned i = 0; i < N; i++) {
		size_t bytes = i % 3 ? 40 + i : 30000 + i;

		at[i] = filled(bytes, RANK ? 99 : i);
		handles[i] = vector(at[i], bytes);
		if (RANK == 0)
			starpu_mpi_isend_detached(handles[i], 1, TAG, WORLD, NULL, NULL);
		else if (RANK == 1 && !late)
			starpu_mpi_irecv_detached(handles[i], 0, TAG, WORLD, NULL, NULL);
	}
	if (late) {
		pause_shortly();
		starpu_mpi_barrier(WORLD);
	}
	for (int i = 0; RANK == 1 && late && i < N; i++)
		starpu_mpi_irecv_detached(handles[i], 0, TAG, WORLD, NULL, NULL);
	for (unsigned i = 0; i < N; i++) {
		starpu_data_unregister(handles[i]);
		if (RANK == 1)
			CLAIM(is_filled(at[i], i % 3 ? 40 + i : 30000 + i, i));
		free(at[i]);
	}
	stop();
}

static void one_tag_keeps_its_order(void)
{
	exchange_in_order(0);
}

static void early_ones_keep_their_order(void)
{
	exchange_in_order(1);
}

/* Many tags in a pseudo-random order, different on the two sides. */
static void many_pending_find_each_other(void)
{
	enum { N = 2000 };
	static long x[N];
	static starpu_data_handle_t handles[N];
	unsigned step = RANK ? 7 : 1237; /* both prime to N */

	start();
	for (unsigned i = 0; i < N; i++) {
		x[i] = RANK ? -1 : (long)i * 3;
		handles[i] = variable(&x[i]);
	}
	for (unsigned i = 0, k = 0; RANK < 2 && i < N; i++, k = (k + step) % N) {
		starpu_mpi_tag_t tag = ((starpu_mpi_tag_t)k << 40) + k % 3;

		if (RANK == 0)
			starpu_mpi_isend_detached_prio(handles[k], 1, tag, (int)k % 7,
						       WORLD, NULL, NULL);
		else
			starpu_mpi_irecv_detached(handles[k], 0, tag, WORLD, NULL, NULL);
	}
	starpu_mpi_wait_for_all(WORLD);
	for (unsigned i = 0; i < N; i++) {
		starpu_data_unregister(handles[i]);
		if (RANK == 1)
			CLAIM_EQ(x[i], i * 3);
	}
	stop();
}

/* ---- tags of tasks --------------------------------------------------- */

static void tags_are_unlocked(void)
{
	enum { N = 10 };
	long x[N];
	starpu_data_handle_t handles[N];
	int peers[N], prios[N];
	starpu_mpi_tag_t tags[N];
	MPI_Comm comms[N];

	start();
	for (int i = 0; i < N; i++) {
		x[i] = RANK ? -1 : i;
		handles[i] = variable(&x[i]);
		peers[i] = 1 - RANK;
		prios[i] = i;
		tags[i] = TAG + i;
		comms[i] = WORLD;
	}
	if (RANK == 0) {
		starpu_mpi_isend_array_detached_unlock_tag(N, handles, peers, tags, comms,
							   5);
		starpu_tag_wait(5);
		starpu_mpi_isend_array_detached_unlock_tag_prio(N, handles, peers, tags,
								prios, comms, 6);
		starpu_tag_wait(6);
		starpu_mpi_isend_detached_unlock_tag(handles[0], 1, TAG, WORLD, 7);
		starpu_tag_wait(7);
	} else if (RANK == 1) {
		starpu_mpi_irecv_array_detached_unlock_tag(N, handles, peers, tags, comms,
							   5);
		starpu_tag_wait(5);
		starpu_mpi_irecv_array_detached_unlock_tag(N, handles, peers, tags, comms,
							   6);
		starpu_tag_wait(6);
		starpu_mpi_irecv_detached_unlock_tag(handles[9], 0, TAG, WORLD, 7);
		starpu_tag_wait(7);
		for (int i = 0; i < N; i++) {
			starpu_data_acquire(handles[i], STARPU_R);
			CLAIM_EQ(x[i], i == 9 ? 0 : i);
			starpu_data_release(handles[i]);
		}
	}
	for (int i = 0; i < N; i++)
		starpu_data_unregister(handles[i]);
	stop();
}

static const struct claim claims[] = {
	{"a ping-pong counts", ping_pong_counts},
	{"requests are waited for and tested", requests_are_waited_and_tested},
	{"test tells the truth", test_tells_the_truth},
	{"synchronous sends wait for the receive", synchronous_sends_wait},
	{"callbacks submit tasks and messages", callbacks_continue},
	{"wait_for_all waits for callbacks", wait_for_all_covers_callbacks},
	{"unregistering waits for messages", unregister_waits_for_messages},
	{"a message has the value of its turn", messages_keep_their_turn},
	{"a receive without sequential consistency arrives", unordered_receive_arrives},
	{"any size arrives", any_size_arrives},
	{"messages without bytes arrive", nothing_arrives_too},
	{"matrices may differ in their leading dimension", matrices_may_differ_in_stride},
	{"blocks may differ in their leading dimensions", blocks_may_differ_in_strides},
	{"a matrix may be received as a vector", shapes_may_differ},
	{"a rank sends to itself", self_sends_work},
	{"one tag keeps its order", one_tag_keeps_its_order},
	{"early messages keep their order", early_ones_keep_their_order},
	{"2,000 pending messages find each other", many_pending_find_each_other},
	{"messages unlock tags", tags_are_unlocked},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
