/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

#include "base/check.h"
#include "real/real.h"

/*
 * mpi_blocking.c - calls of MPI that wait for another rank come by here, through MPI's
 * profiling interface, so that a rank that waits in vain for this one can be told where
 * its program is.  Nothing else shows whether a thread computes or waits in MPI.
 *
 * Fortran programs call entries of their own, by which Open MPI's C functions are called
 * under their names for profiling tools, PMPI_*.  So these are here, too, and call those
 * that come next; not in a static library, where none may come next.
 */
static struct blocking *enter(enum plat_mpi_call call)
{
	struct node *node = plat_self();
	struct blocking *blocking;

	if (!node)
		return NULL;
	blocking = &real_get()->blocking;
	if (orr_add(&blocking->nthreads, 1) == 1) {
		orr_note(&blocking->since_ns, (uint64_t)(plat_now_s(node->plat) * 1e9));
		orr_store(&blocking->call, (int)call);
	}
	return blocking;
}

static void leave(struct blocking *blocking)
{
	if (blocking)
		orr_add(&blocking->nthreads, -1);
}

enum plat_mpi_call plat_in_mpi(struct plat *plat, double *for_s)
{
	struct blocking *blocking = &real_get()->blocking;

	*for_s = 0;
	if (orr_load(&blocking->nthreads) <= 0 || threads_are_busy(plat))
		return PLAT_NO_CALL;
	*for_s = plat_now_s(plat) - (double)orr_count(&blocking->since_ns) * 1e-9;
	return (enum plat_mpi_call)orr_load(&blocking->call);
}

#if defined(OPEN_MPI) && defined(PIC)

void *real_mpi_hidden(int index, const char *name)
{
	void **next = &real_get()->mpi_functions[index];
	void *found = __atomic_load_n(next, __ATOMIC_RELAXED);

	if (found)
		return found;
	found = dlsym(RTLD_NEXT, name);
	if (!found)
		orr_die(ORR_NO_RANK,
			"%s: the MPI library that the program was linked with has no "
			"such function; link the program with its shared library",
			name);
	__atomic_store_n(next, found, __ATOMIC_RELAXED);
	return found;
}

#define PROFILED(name, parameters, arguments)                                            \
	int PMPI_##name parameters                                                       \
	{                                                                                \
		__typeof__(&PMPI_##name) next =                                          \
			(__typeof__(&PMPI_##name))real_mpi_hidden(PLAT_MPI_##name,       \
								  "PMPI_" #name);        \
		struct blocking *blocking = enter(PLAT_MPI_##name);                      \
		int ret = next arguments;                                                \
                                                                                         \
		leave(blocking);                                                         \
		return ret;                                                              \
	}

#else

#define PROFILED(name, parameters, arguments)

#endif

/* A call with its parameters, and their names. */
#define BLOCKING(name, parameters, arguments)                                            \
	PROFILED(name, parameters, arguments)                                            \
	int MPI_##name parameters                                                        \
	{                                                                                \
		struct blocking *blocking = enter(PLAT_MPI_##name);                      \
		int ret = PMPI_##name arguments;                                         \
                                                                                         \
		leave(blocking);                                                         \
		return ret;                                                              \
	}
BLOCKING(Barrier, (MPI_Comm comm), (comm))
BLOCKING(Recv,
	 (void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
	  MPI_Status *status),
	 (buffer, count, type, source, tag, comm, status))
BLOCKING(Send,
	 (const void *buffer, int count, MPI_Datatype type, int target, int tag,
	  MPI_Comm comm),
	 (buffer, count, type, target, tag, comm))
BLOCKING(Ssend,
	 (const void *buffer, int count, MPI_Datatype type, int target, int tag,
	  MPI_Comm comm),
	 (buffer, count, type, target, tag, comm))
BLOCKING(Sendrecv,
	 (const void *sent, int nsent, MPI_Datatype type, int target, int tag,
	  void *buffer, int count, MPI_Datatype received, int source, int from,
	  MPI_Comm comm, MPI_Status *status),
	 (sent, nsent, type, target, tag, buffer, count, received, source, from, comm,
	  status))
BLOCKING(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status),
	 (source, tag, comm, status))
BLOCKING(Wait, (MPI_Request * request, MPI_Status *status), (request, status))
BLOCKING(Waitall, (int count, MPI_Request *requests, MPI_Status *statuses),
	 (count, requests, statuses))
BLOCKING(Waitany, (int count, MPI_Request *requests, int *index, MPI_Status *status),
	 (count, requests, index, status))
BLOCKING(Bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
	 (buffer, count, type, root, comm))
BLOCKING(Reduce,
	 (const void *sent, void *buffer, int count, MPI_Datatype type, MPI_Op op,
	  int root, MPI_Comm comm),
	 (sent, buffer, count, type, op, root, comm))
BLOCKING(Allreduce,
	 (const void *sent, void *buffer, int count, MPI_Datatype type, MPI_Op op,
	  MPI_Comm comm),
	 (sent, buffer, count, type, op, comm))
BLOCKING(Gather,
	 (const void *sent, int nsent, MPI_Datatype type, void *buffer, int count,
	  MPI_Datatype received, int root, MPI_Comm comm),
	 (sent, nsent, type, buffer, count, received, root, comm))
BLOCKING(Allgather,
	 (const void *sent, int nsent, MPI_Datatype type, void *buffer, int count,
	  MPI_Datatype received, MPI_Comm comm),
	 (sent, nsent, type, buffer, count, received, comm))
BLOCKING(Scatter,
	 (const void *sent, int nsent, MPI_Datatype type, void *buffer, int count,
	  MPI_Datatype received, int root, MPI_Comm comm),
	 (sent, nsent, type, buffer, count, received, root, comm))
BLOCKING(Alltoall,
	 (const void *sent, int nsent, MPI_Datatype type, void *buffer, int count,
	  MPI_Datatype received, MPI_Comm comm),
	 (sent, nsent, type, buffer, count, received, comm))
BLOCKING(Gatherv,
	 (const void *sent, int nsent, MPI_Datatype type, void *buffer,
	  const int counts[], const int places[], MPI_Datatype received, int root,
	  MPI_Comm comm),
	 (sent, nsent, type, buffer, counts, places, received, root, comm))
BLOCKING(Scatterv,
	 (const void *sent, const int counts[], const int places[], MPI_Datatype type,
	  void *buffer, int count, MPI_Datatype received, int root, MPI_Comm comm),
	 (sent, counts, places, type, buffer, count, received, root, comm))
BLOCKING(Allgatherv,
	 (const void *sent, int nsent, MPI_Datatype type, void *buffer,
	  const int counts[], const int places[], MPI_Datatype received, MPI_Comm comm),
	 (sent, nsent, type, buffer, counts, places, received, comm))
BLOCKING(Alltoallv,
	 (const void *sent, const int nsent[], const int from[], MPI_Datatype type,
	  void *buffer, const int counts[], const int places[], MPI_Datatype received,
	  MPI_Comm comm),
	 (sent, nsent, from, type, buffer, counts, places, received, comm))
BLOCKING(Scan,
	 (const void *sent, void *buffer, int count, MPI_Datatype type, MPI_Op op,
	  MPI_Comm comm),
	 (sent, buffer, count, type, op, comm))
BLOCKING(Mprobe,
	 (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
	 (source, tag, comm, message, status))
BLOCKING(Waitsome,
	 (int count, MPI_Request *requests, int *ndone, int *indices,
	  MPI_Status *statuses),
	 (count, requests, ndone, indices, statuses))
BLOCKING(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
BLOCKING(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made),
	 (comm, color, key, made))
