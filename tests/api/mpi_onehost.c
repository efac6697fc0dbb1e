/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Large messages between ranks of one host, copied by both ranks, by the receiver alone,
 * or by MPI, where the system refuses the rest.  This program stands before the system.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mpi_claim.h"

int claim_failures, claim_rank, claim_size;

enum { LARGEST = 3000001, N = 16, STREAM_BYTES = 300007, MANY = 20000, TAG = 5 };

enum refusal { NOTHING, READS, WRITES };

/* Of this rank: what is refused, and calls that were not; messages by MPI. */
static enum refusal refused;
static int nreads, nwrites, nrefused, nsent;

int MPI_Isend(const void *bytes, int n, MPI_Datatype type, int peer, int tag,
	      MPI_Comm comm, MPI_Request *request)
{
	__atomic_add_fetch(&nsent, 1, __ATOMIC_SEQ_CST);
	return PMPI_Isend(bytes, n, type, peer, tag, comm, request);
}

static int is_refused(enum refusal what, int *ncalls)
{
	int is = __atomic_load_n(&refused, __ATOMIC_SEQ_CST) == what;

	__atomic_add_fetch(is ? &nrefused : ncalls, 1, __ATOMIC_SEQ_CST);
	if (is)
		errno = EPERM;
	return is;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long nhere,
			 const struct iovec *there, unsigned long nthere,
			 unsigned long flags)
{
	if (is_refused(READS, &nreads))
		return -1;
	return syscall(SYS_process_vm_readv, pid, here, nhere, there, nthere, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *here, unsigned long nhere,
			  const struct iovec *there, unsigned long nthere,
			  unsigned long flags)
{
	if (is_refused(WRITES, &nwrites))
		return -1;
	return syscall(SYS_process_vm_writev, pid, here, nhere, there, nthere, flags);
}

static int count(int *calls)
{
	return __atomic_load_n(calls, __ATOMIC_SEQ_CST);
}

static void refuse(enum refusal what)
{
	__atomic_store_n(&refused, what, __ATOMIC_SEQ_CST);
	__atomic_store_n(&nreads, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&nwrites, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&nrefused, 0, __ATOMIC_SEQ_CST);
}

/* ---- transfers ------------------------------------------------------- */

static unsigned char value_at(size_t i, int seed)
{
	return (unsigned char)(i * 7 + i / 251 + (size_t)seed);
}

static void fill(unsigned char *bytes, size_t n, int seed)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = value_at(i, seed);
}

static size_t count_wrong(const unsigned char *bytes, size_t n, int seed)
{
	size_t wrong = 0;

	for (size_t i = 0; i < n; i++)
		wrong += bytes[i] != value_at(i, seed);
	return wrong;
}

/* From rank 0 to rank 1. */
static void one(starpu_data_handle_t handle)
{
	if (claim_rank == 0)
		starpu_mpi_send(handle, 1, TAG, MPI_COMM_WORLD);
	else if (claim_rank == 1)
		starpu_mpi_recv(handle, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void of_bytes(unsigned char *bytes, size_t n, int seed)
{
	starpu_data_handle_t handle;

	fill(bytes, n, claim_rank == 0 ? seed : seed + 1);
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes,
				    (uint32_t)n, 1);
	one(handle);
	starpu_data_unregister(handle);
	if (claim_rank < 2)
		CLAIM_EQ(count_wrong(bytes, n, seed), 0);
}

/* Rows of a matrix, apart at that rank. */
static void rows(unsigned char *bytes, int apart, int seed)
{
	enum { NX = 1000, NY = 700, LD = 1300 };
	uint32_t ld = claim_rank == apart ? LD : NX;
	starpu_data_handle_t handle;

	for (size_t i = 0; i < NY; i++)
		fill(bytes + i * ld, NX, claim_rank == 0 ? seed + (int)i : seed - 1);
	starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes, ld, NX,
				    NY, 1);
	one(handle);
	starpu_data_unregister(handle);
	for (size_t i = 0; i < NY && claim_rank < 2; i++)
		CLAIM_EQ(count_wrong(bytes + i * ld, NX, seed + (int)i), 0);
}

/* Many at a time, between all pairs, both ways. */
static void streams(unsigned char *bytes)
{
	int other = claim_rank ^ 1, has_other = other < claim_size;
	starpu_data_handle_t handles[2 * N];
	starpu_mpi_req requests[2 * N];

	for (int i = 0; i < 2 * N && has_other; i++) {
		unsigned char *at = bytes + (size_t)i * STREAM_BYTES;

		fill(at, STREAM_BYTES, i < N ? claim_rank + i : 200);
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)at,
					    STREAM_BYTES, 1);
		if (i < N)
			starpu_mpi_isend(handles[i], &requests[i], other, TAG + i,
					 MPI_COMM_WORLD);
		else
			starpu_mpi_irecv(handles[i], &requests[i], other, TAG + i - N,
					 MPI_COMM_WORLD);
	}
	for (int i = 0; i < 2 * N && has_other; i++) {
		starpu_mpi_wait(&requests[i], MPI_STATUS_IGNORE);
		starpu_data_unregister(handles[i]);
	}
	for (int i = N; i < 2 * N && has_other; i++)
		CLAIM_EQ(count_wrong(bytes + (size_t)i * STREAM_BYTES, STREAM_BYTES,
				     other + i - N),
			 0);
}

static void all_kinds(void)
{
	static const size_t sizes[] = {20000, 65536, 65537, 131072, 500000, LARGEST};
	unsigned char *bytes = malloc((size_t)2 * N * STREAM_BYTES);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		of_bytes(bytes, sizes[i], (int)i);
	rows(bytes, 0, 3);
	rows(bytes, 1, 4);
	streams(bytes);
	free(bytes);
}

/* ---- claims ---------------------------------------------------------- */

static void by_both_or_one(void)
{
	refuse(NOTHING);
	claim_init(1);
	refuse(NOTHING);
	all_kinds();
	if (claim_rank < 2)
		CLAIM(count(&nreads) + count(&nwrites) > 0);
	starpu_mpi_shutdown();
}

/* Sooner or later it is the faster one for some piece. */
static void a_sender_helps(void)
{
	unsigned char *bytes = malloc(LARGEST);
	int has_helped = 0;

	refuse(NOTHING);
	claim_init(1);
	for (int i = 0; i < MANY && !has_helped; i++) {
		of_bytes(bytes, LARGEST, i);
		MPI_Barrier(MPI_COMM_WORLD);
		has_helped = count(&nwrites) > 0;
		MPI_Bcast(&has_helped, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	CLAIM(has_helped);
	starpu_mpi_shutdown();
	free(bytes);
}

static void who_may_not_from_the_start_does_not_try(void)
{
	refuse(READS);
	claim_init(1);
	CLAIM(count(&nrefused) > 0);
	refuse(READS);
	all_kinds();
	CLAIM_EQ(count(&nrefused), 0);
	CLAIM_EQ(count(&nwrites), 0);
	starpu_mpi_shutdown();
}

/* Of one rank is enough, and is known to the other. */
static void if_one_may_not_both_do_not_try(void)
{
	refuse(claim_rank == 1 ? READS : NOTHING);
	claim_init(1);
	refuse(claim_rank == 1 ? READS : NOTHING);
	all_kinds();
	CLAIM_EQ(count(&nrefused), 0);
	if (claim_rank == 1 || claim_size == 2)
		CLAIM_EQ(count(&nwrites) + count(&nreads), 0);
	starpu_mpi_shutdown();
}

static void what_is_refused_later_goes_by_mpi(void)
{
	refuse(NOTHING);
	claim_init(1);
	refuse(READS);
	all_kinds();
	if (claim_rank == 1)
		CLAIM(count(&nrefused) > 0);
	starpu_mpi_shutdown();
}

static void what_the_sender_may_not_the_receiver_does(void)
{
	refuse(NOTHING);
	claim_init(1);
	refuse(WRITES);
	for (int i = 0; i < 5; i++)
		all_kinds();
	starpu_mpi_shutdown();
}

/* Its own are what a watchdog asks, at most. */
static void who_has_taken_it_sends_no_message(void)
{
	unsigned char *bytes = malloc(STREAM_BYTES);
	int before;

	refuse(NOTHING);
	claim_init(1);
	of_bytes(bytes, STREAM_BYTES, 1);
	before = count(&nsent);
	for (int i = 0; i < N; i++)
		of_bytes(bytes, STREAM_BYTES, i);
	if (claim_rank == 1)
		CLAIM(count(&nsent) - before < N / 4);
	starpu_mpi_shutdown();
	free(bytes);
}

/* The sender looks at none of the notes until all are taken: those that found no room
 * are sent. */
static void so_many_are_taken_unheard(void)
{
	enum { NTAKEN = 200, BYTES = 20000, NPOLLS = 1000 };
	unsigned char *bytes = malloc((size_t)NTAKEN * BYTES);
	starpu_data_handle_t handles[NTAKEN];
	starpu_mpi_req requests[NTAKEN];

	setenv("ORRERY_MPI_EXPLICIT", "1", 1);
	refuse(NOTHING);
	claim_init(1);
	unsetenv("ORRERY_MPI_EXPLICIT");
	for (int i = 0; i < NTAKEN && claim_rank < 2; i++) {
		unsigned char *at = bytes + (size_t)i * BYTES;

		fill(at, BYTES, claim_rank == 0 ? i : 100);
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)at,
					    BYTES, 1);
		if (claim_rank == 0)
			starpu_mpi_isend(handles[i], &requests[i], 1, i, MPI_COMM_WORLD);
	}
	/* All announcements leave. */
	for (int i = 0, has_ended; i < NPOLLS && claim_rank == 0; i++)
		starpu_mpi_test(&requests[0], &has_ended, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < NTAKEN && claim_rank == 1; i++)
		starpu_mpi_recv(handles[i], 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < NTAKEN && claim_rank == 0; i++)
		starpu_mpi_wait(&requests[i], MPI_STATUS_IGNORE);
	for (int i = 0; i < NTAKEN && claim_rank < 2; i++) {
		starpu_data_unregister(handles[i]);
		CLAIM_EQ(count_wrong(bytes + (size_t)i * BYTES, BYTES, i), 0);
	}
	starpu_mpi_shutdown();
	free(bytes);
}

static const struct claim claims[] = {
	{"by_both_or_one", by_both_or_one},
	{"a_sender_helps", a_sender_helps},
	{"who_may_not_from_the_start_does_not_try",
	 who_may_not_from_the_start_does_not_try},
	{"if_one_may_not_both_do_not_try", if_one_may_not_both_do_not_try},
	{"what_is_refused_later_goes_by_mpi", what_is_refused_later_goes_by_mpi},
	{"what_the_sender_may_not_the_receiver_does",
	 what_the_sender_may_not_the_receiver_does},
	{"who_has_taken_it_sends_no_message", who_has_taken_it_sends_no_message},
	{"so_many_are_taken_unheard", so_many_are_taken_unheard},
	{NULL, NULL}};

int main(int argc, char **argv)
{
	/* MPI's own copies are not looked at. */
	setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
	return mpi_claims_run(argc, argv, claims);
}
