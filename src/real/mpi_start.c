/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <orrery.h>

#include "base/check.h"
#include "base/ranks.h"
#include "base/table.h"
#include "real/lines.h"

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
 *
 * The library meets the other ranks here first: a call of MPI that all ranks make says
 * nothing while it waits for one that never comes.
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
	starting_begin();
	return threads_note_alone(seen);
}

static void join(struct joined *joined)
{
	PMPI_Comm_rank(MPI_COMM_WORLD, &joined->rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &joined->size);
	joined->process = getpid();
}

static void after_start(const struct thread_ids *seen, int nours, int ret)
{
	const struct node *node = plat_self();

	threads_add_of_mpi(seen, nours);
	starting_end();
	if (node)
		leave_watch_faults(orr_load(&node->catch_signals));
	if (ret == MPI_SUCCESS)
		join(&real_get()->joined);
}

static int start(int *argc, char ***argv)
{
	struct thread_ids seen;
	int nours = before_start(&seen), ret = NEXT(MPI_Init)(argc, argv);

	after_start(&seen, nours, ret);
	return ret;
}

static int start_thread(int *argc, char ***argv, int required, int *provided)
{
	struct thread_ids seen;
	int nours = before_start(&seen);
	int ret = NEXT(MPI_Init_thread)(argc, argv, required, provided);

	after_start(&seen, nours, ret);
	return ret;
}

static int end(void)
{
	const struct node *node = plat_self();

	if (node && node->mpi)
		orr_die(node->rank,
			"MPI_Finalize: the MPI layer of the library still runs; call "
			"starpu_mpi_shutdown() first");
	real_get()->joined.size = 0;
	vigil_end();
	lines_end();
	return NEXT(MPI_Finalize)();
}

/* Launchers may lose what they say of it.  It ends the process by _exit(). */
static int abort_all(MPI_Comm comm, int status)
{
	struct joined *joined = &real_get()->joined;

	if (joined->size > 1 && orr_cas(&joined->is_aborting, 0, 1))
		orr_complain(joined->rank,
			     "MPI_Abort: the program asks to end the run, with status %d",
			     status);
	return NEXT(MPI_Abort)(comm, status);
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

int MPI_Abort(MPI_Comm comm, int status)
{
	return abort_all(comm, status);
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

int PMPI_Abort(MPI_Comm comm, int status)
{
	return abort_all(comm, status);
}

#endif

/* ---- all ranks of a communicator --------------------------------------- */

enum { SPIN_S_INVERSE = 1000, MISSING_BYTES = 192, PATIENCE = 12 };

/* To be raised when what ranks tell each other changes within a version. */
enum { PROTOCOL = 1 };

/* Ranks of one version say the same, which is not 0; others hardly ever. */
static char own_version(void)
{
	uint64_t sum = PROTOCOL;

	for (const char *at = ORRERY_VERSION; *at; at++)
		sum = table_mix(sum + (unsigned char)*at);
	return (char)(1 + sum % 127);
}

struct versions {
	const char *of; /* of each rank */
	char expected;
};

static int is_other(const void *arg, int rank)
{
	const struct versions *versions = arg;

	return versions->of[rank] != versions->expected;
}

/* That of rank 0 counts; who has another one speaks, too, since rank 0 may be of a
 * version that does not look. */
static int check_versions(const struct net_config *config, const char *of)
{
	struct versions versions = {of, of[0]};
	char text[MISSING_BYTES];

	if (ranks_name(text, sizeof(text), config->size, is_other, &versions) == 0)
		return 0;
	if (config->rank == 0 || is_other(&versions, config->rank))
		orr_complain(config->rank,
			     "starpu_mpi_init: this rank has version %s of the library, "
			     "and rank 0 another one than %s: their messages do not fit; "
			     "let all hosts have the same library (\"ldd PROGRAM\" says "
			     "which, \"mpirun -x LD_LIBRARY_PATH\" gives all the path)",
			     ORRERY_VERSION, text);
	return -EINVAL;
}

static int is_missing(const void *has_come, int rank)
{
	return !((const char *)has_come)[rank];
}

/* The first of those that have come speaks for them.  Others come meanwhile. */
static void say_missing(const struct net_config *config, const char *has_come,
			double for_s)
{
	char text[MISSING_BYTES], *seen = orr_alloc((size_t)config->size);
	int first = 0;

	memcpy(seen, has_come, (size_t)config->size);
	seen[config->rank] = 1;
	while (!seen[first])
		first++;
	if (first == config->rank &&
	    ranks_name(text, sizeof(text), config->size, is_missing, seen) > 0)
		orr_complain(config->rank,
			     "starpu_mpi_init: has waited for %.3g s for %s: "
			     "starpu_mpi_init_conf() or the like must be called by all "
			     "ranks of the communicator, with the same communicator; "
			     "the run goes on",
			     for_s, text);
	free(seen);
}

/* The time that the process is stopped is no waiting. */
static double step_s(struct plat *plat, double *last_s)
{
	double now_s = plat_now_s(plat), gone_s = now_s - *last_s;

	*last_s = now_s;
	return gone_s < 0.1 ? gone_s : 0.1;
}

/*
 * What the ranks gather shows, before it is complete, who has come.  It may be looked at
 * only then, says MPI; it is a byte each, and no more than a message depends on it.
 */
int real_mpi_meet(struct plat *plat, const struct net_config *config)
{
	double limit_s = node_knobs(plat->node)->watchdog_s, last_s = plat_now_s(plat);
	double waited_s = 0;
	char *has_come = orr_alloc((size_t)config->size), own = own_version();
	MPI_Request request;
	int is_done = 0, ret;

	MPI_Iallgather(&own, 1, MPI_BYTE, has_come, 1, MPI_BYTE,
		       *(const MPI_Comm *)config->comm, &request);
	for (;;) {
		MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
		if (is_done)
			break;
		waited_s += step_s(plat, &last_s);
		if (limit_s > 0 && waited_s >= limit_s) {
			say_missing(config, has_come, waited_s);
			limit_s = PATIENCE * waited_s;
		}
		if (waited_s * SPIN_S_INVERSE > 1)
			plat_sleep(plat, 1e-4);
	}
	ret = check_versions(config, has_come);
	free(has_come);
	return ret;
}

int *real_mpi_world(const struct net_config *config, int *nworld)
{
	int n = config->size, *ranks = orr_alloc((size_t)n * sizeof(int));
	int *world = orr_alloc((size_t)n * sizeof(int));
	MPI_Group own, all;

	for (int i = 0; i < n; i++)
		ranks[i] = i;
	MPI_Comm_size(MPI_COMM_WORLD, nworld);
	MPI_Comm_group(*(const MPI_Comm *)config->comm, &own);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_translate_ranks(own, n, ranks, all, world);
	MPI_Group_free(&own);
	MPI_Group_free(&all);
	free(ranks);
	for (int i = 0; i < n; i++)
		world[i] = world[i] == MPI_UNDEFINED ? -1 : world[i];
	return world;
}

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

void real_mpi_gather(const void *comm, const void *own, size_t bytes, void *all)
{
	MPI_Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
		      *(const MPI_Comm *)comm);
}

int real_mpi_reads_devices(void)
{
#ifdef MPIX_CUDA_AWARE_SUPPORT
	return MPIX_Query_cuda_support() == 1;
#else
	return 0;
#endif
}
