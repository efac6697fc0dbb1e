/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

#include "base/check.h"
#include "plat/net.h"
#include "real/real.h"

/*
 * mpi_blocking.c - calls of MPI that wait for another rank come by here, through MPI's
 * profiling interface, so that a rank that waits in vain for this one can be told where
 * its program is.  Nothing else shows whether a thread computes or waits in MPI.  Those
 * that make communicators tell how each was made.
 *
 * Fortran programs call entries of their own, by which Open MPI's C functions are called
 * under their names for profiling tools, PMPI_*.  So these are here, too, and call those
 * that come next; not in a static library, where none may come next.
 */
static struct blocking *enter(enum plat_mpi_call call)
{
	struct real *real = real_known();
	struct node *node = plat_self();
	struct blocking *blocking;

	if (!node && !(real && orr_load(&real->vigil.is_on)))
		return NULL;
	blocking = &real->blocking;
	if (orr_add(&blocking->nthreads, 1) == 1) {
		orr_note(&blocking->since_ns, (uint64_t)(plat_now_s(NULL) * 1e9));
		orr_store(&blocking->call, (int)call);
		vigil_call(node);
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

#define HIDDEN(name, parameters, arguments, before, after)                               \
	int PMPI_##name parameters                                                       \
	{                                                                                \
		__typeof__(&PMPI_##name) next =                                          \
			(__typeof__(&PMPI_##name))real_mpi_hidden(PLAT_MPI_##name,       \
								  "PMPI_" #name);        \
		struct blocking *blocking = enter(PLAT_MPI_##name);                      \
		int ret;                                                                 \
                                                                                         \
		before;                                                                  \
		ret = next arguments;                                                    \
		after;                                                                   \
		leave(blocking);                                                         \
		return ret;                                                              \
	}                                                                                \
	PROFILED(name, parameters, arguments, , )

#else

#define HIDDEN PROFILED

#endif

/* The function that a C program calls. */
#define PROFILED(name, parameters, arguments, before, after)                             \
	int MPI_##name parameters                                                        \
	{                                                                                \
		struct blocking *blocking = enter(PLAT_MPI_##name);                      \
		int ret;                                                                 \
                                                                                         \
		before;                                                                  \
		ret = PMPI_##name arguments;                                             \
		after;                                                                   \
		leave(blocking);                                                         \
		return ret;                                                              \
	}

/* A call with its parameters, and their names; with what is done right before and after
 * it, once. */
#define BLOCKING(name, parameters, arguments) HIDDEN(name, parameters, arguments, , )
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

/* ---- communicators --------------------------------------------------- */

static uint64_t key_of(MPI_Comm comm)
{
	return (uint64_t)(uintptr_t)comm;
}

uint64_t plat_net_birth(const void *comm)
{
	return births_number(&real_get()->births, key_of(*(const MPI_Comm *)comm));
}

int plat_net_has_ended(const void *comm)
{
	return births_has_ended(&real_get()->births, key_of(*(const MPI_Comm *)comm));
}

static void note_made(int ret, MPI_Comm parent, const MPI_Comm *made)
{
	if (ret == MPI_SUCCESS)
		births_note(&real_get()->births, key_of(MPI_COMM_WORLD), key_of(parent),
			    *made == MPI_COMM_NULL ? 0 : key_of(*made));
}

static void note_unknown(int ret, const MPI_Comm *made)
{
	if (ret == MPI_SUCCESS && *made != MPI_COMM_NULL)
		births_note_unknown(&real_get()->births, key_of(*made));
}

/* Some are never freed, whatever the program says. */
static void note_end(MPI_Comm comm)
{
	if (comm != MPI_COMM_NULL && comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF)
		births_end(&real_get()->births, key_of(comm));
}

/* One that makes communicators of comm, and gives this rank its own, or none. */
#define MAKING(name, parameters, arguments)                                              \
	HIDDEN(name, parameters, arguments, , note_made(ret, comm, made))
MAKING(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
MAKING(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made),
       (comm, info, made))
MAKING(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made),
       (comm, color, key, made))
MAKING(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
       (comm, type, key, info, made))
MAKING(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
MAKING(Cart_create,
       (MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
	MPI_Comm *made),
       (comm, ndims, dims, periods, reorder, made))
MAKING(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made),
       (comm, remain, made))
HIDDEN(Comm_free, (MPI_Comm * comm), (comm), note_end(*comm), )
HIDDEN(Comm_disconnect, (MPI_Comm * comm), (comm), note_end(*comm), )

/* One that is not called by all members of a communicator, one after the other, or makes
 * one that few programs send in. */
#define MAKING_SOMEHOW(name, parameters, arguments)                                      \
	HIDDEN(name, parameters, arguments, , note_unknown(ret, made))
MAKING_SOMEHOW(Comm_create_group,
	       (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
	       (comm, group, tag, made))
MAKING_SOMEHOW(Comm_idup, (MPI_Comm comm, MPI_Comm *made, MPI_Request *request),
	       (comm, made, request))
MAKING_SOMEHOW(Graph_create,
	       (MPI_Comm comm, int n, const int index[], const int edges[], int reorder,
		MPI_Comm *made),
	       (comm, n, index, edges, reorder, made))
MAKING_SOMEHOW(Dist_graph_create,
	       (MPI_Comm comm, int n, const int sources[], const int degrees[],
		const int targets[], const int weights[], MPI_Info info, int reorder,
		MPI_Comm *made),
	       (comm, n, sources, degrees, targets, weights, info, reorder, made))
MAKING_SOMEHOW(Dist_graph_create_adjacent,
	       (MPI_Comm comm, int nfrom, const int sources[], const int weights_from[],
		int nto, const int targets[], const int weights_to[], MPI_Info info,
		int reorder, MPI_Comm *made),
	       (comm, nfrom, sources, weights_from, nto, targets, weights_to, info,
		reorder, made))
MAKING_SOMEHOW(Intercomm_create,
	       (MPI_Comm comm, int leader, MPI_Comm peers, int other, int tag,
		MPI_Comm *made),
	       (comm, leader, peers, other, tag, made))
MAKING_SOMEHOW(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made),
	       (comm, high, made))
/* These wait for another program, or for the launcher. */
BLOCKING(Comm_accept,
	 (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
	 (port, info, root, comm, made))
BLOCKING(Comm_connect,
	 (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
	 (port, info, root, comm, made))
BLOCKING(Comm_join, (int fd, MPI_Comm *made), (fd, made))
BLOCKING(Comm_spawn,
	 (const char *command, char *args[], int n, MPI_Info info, int root,
	  MPI_Comm comm, MPI_Comm *made, int errors[]),
	 (command, args, n, info, root, comm, made, errors))
BLOCKING(Comm_spawn_multiple,
	 (int count, char *commands[], char **args[], const int n[],
	  const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *made, int errors[]),
	 (count, commands, args, n, infos, root, comm, made, errors))
