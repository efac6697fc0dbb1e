/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "base/check.h"
#include "real/real.h"

/*
 * mpi_start.c - learns which threads MPI starts for itself, through MPI's profiling
 * interface: the program's call of MPI_Init() comes by here, and the library's own.
 *
 * They are known only when no other thread could have started one meanwhile, that is
 * when the process had no thread but the caller and the library's, which have no task.
 * Where another profiling tool is in front they are not known, and the watchdog never
 * ends a run.  Fortran's calls come by PMPI_*, as in mpi_blocking.c.
 * MPI_Finalize() comes by as well: before the MPI layer has shut down it is a mistake
 * that would hang all ranks.
 */
#if defined(OPEN_MPI) && defined(PIC)
#define NEXT(name) ((__typeof__(&(P##name)))real_mpi_hidden(HIDDEN_##name, "P" #name))
#else
#define NEXT(name) P##name
#endif

/* Open MPI complains when it finds handlers of signals. */
static int before_start(struct thread_ids *seen)
{
	signals_unwatch(&real_get()->signals);
	return threads_note_alone(seen);
}

static void after_start(const struct thread_ids *seen, int nours)
{
	const struct node *node = plat_self();

	threads_add_of_mpi(seen, nours);
	if (node)
		leave_watch_faults(orr_load(&node->catch_signals));
}

static int start(int *argc, char ***argv)
{
	struct thread_ids seen;
	int nours = before_start(&seen), ret = NEXT(MPI_Init)(argc, argv);

	after_start(&seen, nours);
	return ret;
}

static int start_thread(int *argc, char ***argv, int required, int *provided)
{
	struct thread_ids seen;
	int nours = before_start(&seen);
	int ret = NEXT(MPI_Init_thread)(argc, argv, required, provided);

	after_start(&seen, nours);
	return ret;
}

static int end(void)
{
	const struct node *node = plat_self();

	if (node && node->mpi)
		orr_die(node->rank,
			"MPI_Finalize: the MPI layer of the library still runs; call "
			"starpu_mpi_shutdown() first");
	return NEXT(MPI_Finalize)();
}

int MPI_Init(int *argc, char ***argv)
{
	return start(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	return start_thread(argc, argv, required, provided);
}

int MPI_Finalize(void)
{
	return end();
}

#if defined(OPEN_MPI) && defined(PIC)

int PMPI_Init(int *argc, char ***argv)
{
	return start(argc, argv);
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	return start_thread(argc, argv, required, provided);
}

int PMPI_Finalize(void)
{
	return end();
}

#endif

int real_mpi_near(const void *comm, const void *own, size_t bytes, void **all, int *place)
{
	MPI_Comm near;
	int n;

	MPI_Comm_split_type(*(const MPI_Comm *)comm, MPI_COMM_TYPE_SHARED, 0,
			    MPI_INFO_NULL, &near);
	MPI_Comm_size(near, &n);
	MPI_Comm_rank(near, place);
	*all = orr_alloc((size_t)n * bytes);
	MPI_Allgather(own, (int)bytes, MPI_BYTE, *all, (int)bytes, MPI_BYTE, near);
	MPI_Comm_free(&near);
	return n;
}

int real_mpi_reads_devices(void)
{
#ifdef MPIX_CUDA_AWARE_SUPPORT
	return MPIX_Query_cuda_support() == 1;
#else
	return 0;
#endif
}
