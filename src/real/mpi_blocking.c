/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <mpi.h>

#include "base/check.h"
#include "real/real.h"

/*
 * mpi_blocking.c - calls of MPI that wait for another rank come by here, through MPI's
 * profiling interface, so that a rank that waits in vain for this one can be told where
 * its program is.  Nothing else shows whether a thread computes or waits in MPI.
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

static int leave(struct blocking *blocking, int status)
{
	if (blocking)
		orr_add(&blocking->nthreads, -1);
	return status;
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

/* A call with its parameters, and their names. */
#define BLOCKING(name, parameters, arguments)                                            \
	int MPI_##name parameters                                                        \
	{                                                                                \
		struct blocking *blocking = enter(PLAT_MPI_##name);                      \
                                                                                         \
		return leave(blocking, PMPI_##name arguments);                           \
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
