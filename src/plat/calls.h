/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_PLAT_CALLS_H
#define ORR_PLAT_CALLS_H

/*
 * calls.h - calls of MPI that wait for another rank, for plat_in_mpi().
 */
#define PLAT_MPI_CALLS(X)                                                                \
	X(Barrier)                                                                       \
	X(Recv)                                                                          \
	X(Send)                                                                          \
	X(Ssend)                                                                         \
	X(Sendrecv)                                                                      \
	X(Probe)                                                                         \
	X(Wait)                                                                          \
	X(Waitall)                                                                       \
	X(Waitany)                                                                       \
	X(Bcast)                                                                         \
	X(Reduce)                                                                        \
	X(Allreduce)                                                                     \
	X(Gather)                                                                        \
	X(Allgather)                                                                     \
	X(Scatter)                                                                       \
	X(Alltoall)                                                                      \
	X(Gatherv)                                                                       \
	X(Scatterv)                                                                      \
	X(Allgatherv)                                                                    \
	X(Alltoallv)                                                                     \
	X(Scan)                                                                          \
	X(Mprobe)                                                                        \
	X(Waitsome)                                                                      \
	X(Comm_dup)                                                                      \
	X(Comm_split)                                                                    \
	X(Comm_create)                                                                   \
	X(Comm_split_type)                                                               \
	X(Comm_dup_with_info)                                                            \
	X(Cart_create)                                                                   \
	X(Cart_sub)                                                                      \
	X(Comm_free)                                                                     \
	X(Comm_disconnect)                                                               \
	X(Comm_create_group)                                                             \
	X(Comm_idup)                                                                     \
	X(Graph_create)                                                                  \
	X(Dist_graph_create)                                                             \
	X(Dist_graph_create_adjacent)                                                    \
	X(Intercomm_create)                                                              \
	X(Intercomm_merge)                                                               \
	X(Comm_accept)                                                                   \
	X(Comm_connect)                                                                  \
	X(Comm_join)                                                                     \
	X(Comm_spawn)                                                                    \
	X(Comm_spawn_multiple)

enum plat_mpi_call {
	PLAT_NO_CALL,
#define PLAT_MPI_CALL(name) PLAT_MPI_##name,
	PLAT_MPI_CALLS(PLAT_MPI_CALL)
#undef PLAT_MPI_CALL
		PLAT_NMPI_CALLS
};

#endif
