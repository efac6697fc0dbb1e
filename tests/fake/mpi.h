/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_FAKE_MPI_H
#define ORR_FAKE_MPI_H

/*
 * mpi.h of the fake: what the interface's layer calls of MPI, among mains that take
 * turns (fake_spawn()).  Messages are the fake network's.
 */
typedef struct fake_comm *MPI_Comm;
typedef struct fake_comm *MPI_Group;
typedef int MPI_Datatype;
typedef int MPI_Fint;

typedef struct {
	int MPI_SOURCE, MPI_TAG, MPI_ERROR;
} MPI_Status;

typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void *, void *);

MPI_Comm fake_mpi_world(void);

#define MPI_COMM_WORLD         fake_mpi_world()
#define MPI_COMM_NULL          ((MPI_Comm)0)
#define MPI_STATUS_IGNORE      ((MPI_Status *)0)
#define MPI_COMM_NULL_COPY_FN  ((MPI_Comm_copy_attr_function *)0)
#define MPI_SUCCESS            0
#define MPI_DATATYPE_NULL      0
#define MPI_BYTE               1
#define MPI_UNDEFINED          (-32766)
#define MPI_TAG_UB             1000000
#define MPI_THREAD_SINGLE      0
#define MPI_THREAD_FUNNELED    1
#define MPI_THREAD_SERIALIZED  2
#define MPI_THREAD_MULTIPLE    3
#define MPI_MAX_PROCESSOR_NAME 256

/* Fortran's numbers of communicators: there is the world only. */
#define MPI_Comm_f2c(number) ((number) == 0 ? MPI_COMM_WORLD : MPI_COMM_NULL)
#define MPI_Comm_c2f(comm)   ((comm) == MPI_COMM_WORLD ? 0 : -1)

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Initialized(int *flag);
int MPI_Finalized(int *flag);
int MPI_Finalize(void);
int MPI_Query_thread(int *provided);
int MPI_Is_thread_main(int *is_main);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
/* None joins two groups. */
int MPI_Comm_test_inter(MPI_Comm comm, int *joins_groups);
int MPI_Comm_group(MPI_Comm comm, MPI_Group *group);
int MPI_Group_free(MPI_Group *group);
int MPI_Group_translate_ranks(MPI_Group from, int n, const int *ranks, MPI_Group to,
			      int *translated);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *out);
int MPI_Comm_free(MPI_Comm *comm);
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
			   MPI_Comm_delete_attr_function *remove, int *keyval,
			   void *extra_state);
int MPI_Comm_free_keyval(int *keyval);
int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value);
int MPI_Comm_delete_attr(MPI_Comm comm, int keyval);
/* Never called: nodes of the fake are one process, and have nothing to gather. */
int MPI_Gather(const void *from, int nfrom, MPI_Datatype from_type, void *to, int nto,
	       MPI_Datatype to_type, int root, MPI_Comm comm);

#endif
