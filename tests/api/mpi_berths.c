/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Large receives that are ready before they are announced, between ranks of one host: a
 * sender that waits writes where they wait.  Messages move in calls of the program
 * (ORRERY_MPI_EXPLICIT), so that it says who looks when.  This program stands before the
 * system.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "mpi_claim.h"

int claim_failures, claim_rank, claim_size;

enum { BYTES = 300007, ROUNDS = 20, MANY = 150, TAG = 5, LD = 1300, NX = 1000, NY = 300 };

/* Of this rank; atomic. */
static int refuses, nreads, nwrites, nrefused;

static int count(int *calls)
{
	return __atomic_load_n(calls, __ATOMIC_SEQ_CST);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long nhere,
			 const struct iovec *there, unsigned long nthere,
			 unsigned long flags)
{
	__atomic_add_fetch(&nreads, 1, __ATOMIC_SEQ_CST);
	return syscall(SYS_process_vm_readv, pid, here, nhere, there, nthere, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *here, unsigned long nhere,
			  const struct iovec *there, unsigned long nthere,
			  unsigned long flags)
{
	if (count(&refuses)) {
		__atomic_add_fetch(&nrefused, 1, __ATOMIC_SEQ_CST);
		errno = EPERM;
		return -1;
	}
	__atomic_add_fetch(&nwrites, 1, __ATOMIC_SEQ_CST);
	return syscall(SYS_process_vm_writev, pid, here, nhere, there, nthere, flags);
}

static void open_explicit(void)
{
	setenv("ORRERY_MPI_EXPLICIT", "1", 1);
	claim_init(1);
	unsetenv("ORRERY_MPI_EXPLICIT");
	__atomic_store_n(&nreads, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&nwrites, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&nrefused, 0, __ATOMIC_SEQ_CST);
}

/* ---- values ---------------------------------------------------------- */

static unsigned char value_at(size_t i, int seed)
{
	return (unsigned char)(i * 7 + i / 251 + (size_t)seed);
}

static void fill(unsigned char *bytes, size_t n, int seed)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = value_at(i, seed);
}

static size_t count_wrong(const volatile unsigned char *bytes, size_t n, int seed)
{
	size_t wrong = 0;

	for (size_t i = 0; i < n; i++)
		wrong += bytes[i] != value_at(i, seed);
	return wrong;
}

static starpu_data_handle_t vector(unsigned char *bytes, size_t n)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes,
				    (uint32_t)n, 1);
	return handle;
}

/* Without a call of the library. */
static int comes(const unsigned char *bytes, size_t n, int seed)
{
	enum { MOST_S = 60 };
	time_t end = time(NULL) + (claim_failures ? 0 : MOST_S);
	size_t wrong;

	do {
		wrong = count_wrong(bytes, n, seed);
	} while (wrong > 0 && time(NULL) < end);
	return wrong == 0;
}

/* ---- one at a time --------------------------------------------------- */

static void start(starpu_data_handle_t handle, int tag, starpu_mpi_req *request)
{
	if (claim_rank == 0)
		starpu_mpi_isend(handle, request, 1, tag, MPI_COMM_WORLD);
	else
		starpu_mpi_irecv(handle, request, 0, tag, MPI_COMM_WORLD);
}

/* The receive is posted, the send follows, the sender waits, and the receiver looks at
 * its memory only. */
static void comes_meanwhile(unsigned char *bytes, int seed, int tag)
{
	starpu_data_handle_t handle;
	starpu_mpi_req request;

	fill(bytes, BYTES, claim_rank == 0 ? seed : seed + 1);
	handle = vector(bytes, BYTES);
	if (claim_rank == 1)
		start(handle, tag, &request);
	MPI_Barrier(MPI_COMM_WORLD);
	if (claim_rank == 0)
		start(handle, tag, &request);
	else
		CLAIM(comes(bytes, BYTES, seed));
	starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
	starpu_data_unregister(handle);
	if (claim_rank == 1)
		CLAIM_EQ(count_wrong(bytes, BYTES, seed), 0);
}

static void a_value_comes_while_its_receiver_does_nothing(void)
{
	unsigned char *bytes = malloc(BYTES);

	open_explicit();
	for (int i = 0; i < ROUNDS && claim_rank < 2; i++)
		comes_meanwhile(bytes, i, TAG + i / 2);
	CLAIM_EQ(count(&nreads), 0);
	if (claim_rank == 0)
		CLAIM(count(&nwrites) >= ROUNDS);
	starpu_mpi_shutdown();
	free(bytes);
}

/* Of two receives with one tag the first is told, though the second one could have a
 * place before its own. */
static void the_second_of_a_tag_is_left_alone(void)
{
	enum { OTHER, FIRST, SECOND, NVALUES };
	unsigned char *bytes = malloc((size_t)NVALUES * BYTES);
	starpu_data_handle_t handles[NVALUES];
	starpu_mpi_req requests[NVALUES];

	open_explicit();
	for (int i = 0; i < NVALUES; i++) {
		fill(bytes + i * BYTES, BYTES, claim_rank == 0 ? i : 100);
		handles[i] = vector(bytes + i * BYTES, BYTES);
		if (claim_rank == 1 && i != SECOND)
			start(handles[i], i == OTHER ? TAG + 1 : TAG, &requests[i]);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (claim_rank == 0)
		start(handles[OTHER], TAG + 1, &requests[OTHER]);
	starpu_mpi_wait(&requests[OTHER], MPI_STATUS_IGNORE);
	if (claim_rank == 1)
		start(handles[SECOND], TAG, &requests[SECOND]);
	MPI_Barrier(MPI_COMM_WORLD);
	if (claim_rank == 0)
		start(handles[FIRST], TAG, &requests[FIRST]);
	else
		CLAIM(comes(bytes + FIRST * BYTES, BYTES, FIRST));
	starpu_mpi_wait(&requests[FIRST], MPI_STATUS_IGNORE);
	if (claim_rank == 1)
		CLAIM_EQ(count_wrong(bytes + SECOND * BYTES, BYTES, 100), 0);
	MPI_Barrier(MPI_COMM_WORLD);
	if (claim_rank == 0)
		start(handles[SECOND], TAG, &requests[SECOND]);
	starpu_mpi_wait(&requests[SECOND], MPI_STATUS_IGNORE);
	for (int i = 0; i < NVALUES; i++) {
		starpu_data_unregister(handles[i]);
		CLAIM_EQ(count_wrong(bytes + i * BYTES, BYTES, i), 0);
	}
	starpu_mpi_shutdown();
	free(bytes);
}

/* What lies apart at the sender goes by MPI, to where it could have been written. */
static void from_apart(unsigned char *bytes, int seed)
{
	unsigned char *run = calloc(1, NX * NY);
	starpu_data_handle_t handle;
	starpu_mpi_req request;

	for (int i = 0; i < NY; i++)
		fill(bytes + (size_t)i * LD, NX, seed + i);
	starpu_matrix_data_register(&handle, STARPU_MAIN_RAM,
				    (uintptr_t)(claim_rank == 0 ? bytes : run),
				    claim_rank == 0 ? LD : NX, NX, NY, 1);
	if (claim_rank == 1)
		starpu_mpi_irecv(handle, &request, 0, TAG, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (claim_rank == 0)
		starpu_mpi_isend(handle, &request, 1, TAG, MPI_COMM_WORLD);
	starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
	starpu_data_unregister(handle);
	for (int i = 0; i < NY && claim_rank == 1; i++)
		CLAIM_EQ(count_wrong(run + (size_t)i * NX, NX, seed + i), 0);
	free(run);
}

/* Those that were told in vain are told no more, and others are. */
static void what_goes_otherwise_leaves_room(void)
{
	unsigned char *bytes = malloc((size_t)LD * NY);

	open_explicit();
	for (int i = 0; i < ROUNDS && claim_rank < 2; i++)
		from_apart(bytes, i);
	CLAIM_EQ(count(&nwrites), 0);
	for (int i = 0; i < ROUNDS && claim_rank < 2; i++)
		comes_meanwhile(bytes, i, TAG);
	starpu_mpi_shutdown();
	free(bytes);
}

static void what_the_sender_may_not_write_is_read(void)
{
	unsigned char *bytes = malloc(BYTES);

	open_explicit();
	__atomic_store_n(&refuses, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < ROUNDS && claim_rank < 2; i++) {
		starpu_data_handle_t handle;
		starpu_mpi_req request;

		fill(bytes, BYTES, claim_rank == 0 ? i : i + 1);
		handle = vector(bytes, BYTES);
		if (claim_rank == 1)
			starpu_mpi_irecv(handle, &request, 0, TAG, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		if (claim_rank == 0)
			starpu_mpi_isend(handle, &request, 1, TAG, MPI_COMM_WORLD);
		starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
		starpu_data_unregister(handle);
		if (claim_rank == 1)
			CLAIM_EQ(count_wrong(bytes, BYTES, i), 0);
	}
	__atomic_store_n(&refuses, 0, __ATOMIC_SEQ_CST);
	starpu_mpi_shutdown();
	free(bytes);
}

/* ---- many at a time -------------------------------------------------- */

/* How many values of one tag follow one another. */
struct exchange {
	int of_each_tag, sends_first, ends_backwards;
};

static size_t size_of(int i)
{
	return (size_t)20000 + (size_t)(i * 7919 % 13) * 9001;
}

static int tag_of(const struct exchange *exchange, int i)
{
	return i / exchange->of_each_tag;
}

static void post(const struct exchange *exchange, starpu_data_handle_t handle, int i,
		 int sends, starpu_mpi_req *request)
{
	int other = claim_rank ^ 1, tag = tag_of(exchange, i);

	if (sends)
		starpu_mpi_isend_prio(handle, request, other, tag, i % 5, MPI_COMM_WORLD);
	else
		starpu_mpi_irecv(handle, request, other, tag, MPI_COMM_WORLD);
}

/* Both ways, with more than are told at a time. */
static void exchange_values(const struct exchange *exchange, unsigned char *bytes)
{
	enum { MOST = 20000 + 12 * 9001 };
	starpu_data_handle_t handles[2][MANY];
	starpu_mpi_req requests[2][MANY];

	for (int turn = 0; turn < 2; turn++) {
		int sends = turn == !exchange->sends_first;

		for (int i = 0; i < MANY; i++) {
			unsigned char *at = bytes + (size_t)(sends * MANY + i) * MOST;

			fill(at, size_of(i), sends ? claim_rank + i : 255);
			handles[sends][i] = vector(at, size_of(i));
			post(exchange, handles[sends][i], i, sends, &requests[sends][i]);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	for (int k = 0; k < 2 * MANY; k++) {
		int at = exchange->ends_backwards ? 2 * MANY - 1 - k : k;
		int i = at % MANY, sends = at / MANY;
		const unsigned char *value = bytes + (size_t)(sends * MANY + i) * MOST;

		starpu_mpi_wait(&requests[sends][i], MPI_STATUS_IGNORE);
		starpu_data_unregister(handles[sends][i]);
		if (!sends)
			CLAIM_EQ(count_wrong(value, size_of(i), (claim_rank ^ 1) + i), 0);
	}
}

/* Each value is where it belongs, however many have its tag, or tags like it. */
static void each_goes_to_its_own_receive(void)
{
	unsigned char *bytes = malloc((size_t)2 * MANY * (20000 + 12 * 9001));

	for (int which = 0; which < 16; which++) {
		struct exchange exchange = {.of_each_tag = which / 4 + 1,
					    .sends_first = which % 2,
					    .ends_backwards = which / 2 % 2};

		if (which % 8 < 4)
			open_explicit();
		else
			claim_init(1);
		if (claim_rank < 2)
			exchange_values(&exchange, bytes);
		starpu_mpi_shutdown();
	}
	free(bytes);
}

static const struct claim claims[] = {
	{"a_value_comes_while_its_receiver_does_nothing",
	 a_value_comes_while_its_receiver_does_nothing},
	{"the_second_of_a_tag_is_left_alone", the_second_of_a_tag_is_left_alone},
	{"what_goes_otherwise_leaves_room", what_goes_otherwise_leaves_room},
	{"what_the_sender_may_not_write_is_read", what_the_sender_may_not_write_is_read},
	{"each_goes_to_its_own_receive", each_goes_to_its_own_receive},
	{NULL, NULL}};

int main(int argc, char **argv)
{
	/* MPI's own copies are not looked at. */
	setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
	return mpi_claims_run(argc, argv, claims);
}
